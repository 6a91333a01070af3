"""`riskslim alternatives`: what it prints and saves, how it ends, what it refuses."""

from __future__ import annotations

import inspect
import json

import numpy as np
import pandas as pd
import pytest

import riskslim
from command_line import run, usage_error
from riskslim import Alternatives, ItemEncoder, RiskScore, RiskSLIMClassifier
from riskslim.cli import alternatives as command
from riskslim.cli.fit import fit
from riskslim.near_optimal import agreement, compare

OPTIONS = ("--outcome", "died", "--exclude", "sex", "--items", "--n-thresholds", "3",
           "--max-size", "2", "--within", "0.03", "--positive", "yes")  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("alternatives")
    rng = np.random.default_rng(0)
    n = 420
    frame = pd.DataFrame({
        "age": rng.integers(20, 95, n), "bmi": rng.normal(27, 5, n).round(1),
        "pulse": rng.integers(50, 110, n), "sex": rng.choice(["f", "m"], n),
    })  # fmt: skip
    odds = 3 - 1.4 * (frame["age"] >= 60) - 0.9 * (frame["bmi"] > 29) - 0.6 * (frame["pulse"] > 90)
    frame["died"] = np.where(rng.random(n) < 1 / (1 + np.exp(odds)), "yes", "no")
    frame[:300].to_csv(path / "train.csv", index=False)
    frame[300:].to_csv(path / "test.csv", index=False)
    return path


@pytest.fixture(scope="module")
def data(folder):
    frame = pd.read_csv(folder / "train.csv")
    return riskslim.read(
        frame[["age", "bmi", "pulse"]], frame["died"], items=ItemEncoder(n_thresholds=3)
    )


@pytest.fixture(scope="module")
def found(data):
    return RiskSLIMClassifier(max_size=2).alternatives(data, within=0.03)


def test_a_list_with_what_is_proven(folder, data, found):
    result = run("alternatives", folder / "train.csv", *OPTIONS)
    assert result.stderr == ""
    table, explained, agreed = result.stdout.split("\n\n")
    head, *lines = table.splitlines()
    assert head.split() == ["Rank", "Above", "best", "AUC", "CAL", "Variables", "Items"]
    assert table == compare(found, data).table(10)
    assert len(lines) == min(len(found), 11) > 3
    assert explained == found.explain()
    assert "The list is complete: no other set of items has a score with an objective below" in (
        explained
    )
    assert agreed == f"{agreement(found, data).explain()}\n"
    shorter = run("alternatives", folder / "train.csv", *OPTIONS, "--most", 2).stdout
    assert f"... and {len(found) - 2} more" in shorter


def test_a_file_has_all_of_it(folder, data, found, tmp_path):
    output = tmp_path / "alternatives.json"
    result = run(
        "alternatives", folder / "train.csv", *OPTIONS, "--prices", "used", "--group", "sex",
        "--threshold", 0.3, "--cost", "bmi=2", "--cost", "age=0.5", "--test", folder / "test.csv",
        "--bootstrap", 3, "--output", output,
    )  # fmt: skip
    saved = Alternatives.load(output)
    train, test = (pd.read_csv(folder / name) for name in ("train.csv", "test.csv"))
    choice = compare(
        found, data, groups=train["sex"], X_test=test, y_test=test["died"],
        groups_test=test["sex"], threshold=0.3, costs={"bmi": 2, "age": 0.5},
    )  # fmt: skip
    assert saved.to_json().count('"group": "f"') == 2
    assert saved.agreement == choice.found.agreement
    for one, other in zip(saved.measures, choice.found.measures, strict=True):
        assert (one.rows, one.n_rows, one.groups) == (other.rows, other.n_rows, ("f", "m"))
        np.testing.assert_array_equal(one.auc, other.auc)
        np.testing.assert_array_equal(one.called_gap, other.called_gap)
    assert saved.costs == {"bmi": 2, "age": 0.5}
    assert {price.feature for price in saved.prices} == set(found.items(0))
    assert saved.stability.n_samples == 3
    for price in (*saved.prices, *saved.variable_prices):
        assert price.explain() in result.stdout
    for one in saved.agreement:
        assert one.explain() in result.stdout
    assert str(saved.stability) in result.stdout
    assert "Test AUC" in result.stdout


def test_filters_and_the_choice(folder, found, tmp_path):
    score, rank = tmp_path / "score.json", 0
    while "bmi" in {name.split()[0] for name in found.items(rank)} or (
        "age" not in {name.split()[0] for name in found.items(rank)}
    ):
        rank += 1
    result = run(
        "alternatives", folder / "train.csv", *OPTIONS, "--without", "bmi", "--with", "age",
        "--at-most-variables", 2, "--choose", rank, score,
    )  # fmt: skip
    assert f"of {len(found)} alternatives (without 'bmi', with 'age', at most 2 variables)." in (
        result.stdout
    )
    saved = RiskScore.load(score)
    assert saved.points == found.pool.points(rank)
    assert saved.certificate.objective == pytest.approx(found.objective(rank))
    assert saved.requirements
    raw = pd.read_csv(folder / "test.csv")
    assert saved.predict_proba(raw).shape == (120, 2)
    if rank:
        assert "of the best score" in saved.certificate.message
    # A rank that the filters leave out cannot be chosen.
    out = next(k for k in range(len(found)) if any("bmi" in name for name in found.items(k)))
    result = run(
        "alternatives", folder / "train.csv", *OPTIONS, "--without", "bmi", "--choose", out, score,
        code=2,
    )  # fmt: skip
    assert f"{out} is none of the ranks that are left" in result.stderr
    assert RiskScore.load(score) == saved


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--choose", "999", "x.json"), "999 is none of the ranks"),
        (("--without", "age", "--with", "age"), "no alternative is left: none of"),
        (("--without", "age", "--without", "bmi", "--without", "pulse"), "no alternative is left"),
    ],
)
def test_a_wrong_choice_does_not_lose_the_list(folder, found, tmp_path, monkeypatch, options, said):
    monkeypatch.chdir(tmp_path)
    output = tmp_path / "sets.json"
    result = run(
        "alternatives", folder / "train.csv", *OPTIONS, "--output", output, *options, code=2
    )
    assert said in result.stderr
    assert found.explain() in result.stdout
    assert Alternatives.load(output).explain() == found.explain()
    assert not (tmp_path / "x.json").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--without", "weight"), "there is no item and no variable 'weight'"),
        (("--with", "weight"), "there is no item and no variable 'weight'"),
        (("--cost", "weight=2"), "there is no item and no variable 'weight'"),
        (("--cost", "bmi=-1"), "the cost of 'bmi' must be at least 0"),
    ],
)
def test_names_and_costs_are_checked_before_the_search(folder, monkeypatch, options, said):
    monkeypatch.setattr(riskslim, "alternatives", lambda *_, **__: pytest.fail("searched"))
    error = usage_error("alternatives", folder / "train.csv", *OPTIONS, *options)
    assert said in error


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--without", "weight"), "there is no item and no variable 'weight'"),
        (("--with", "ages"), "'ages' (did you mean 'age'"),
        (("--within", "-0.1"), "--within must be at least 0, got -0.1"),
        (("--prices", "some"), "--prices must be used or all, got 'some'"),
        (("--engine", "lattice_cpa"), "alternatives need --engine branch_and_bound"),
        (("--engine", "simplex"), "simplex"),
        (("--shrinkage", "cv"), "--shrinkage cv chooses a prior by folds"),
        (("--bootstrap", "0"), "--bootstrap must be at least 1"),
        (("--n-sets", "0"), "--n-sets must be at least 1"),
        (("--n-jobs", "2"), "--n-jobs needs --bootstrap"),
        (("--threshold", "1"), "--threshold must be a risk between 0 and 1"),
        (("--choose", "-1", "x.json"), "--choose RANK must be at least 0"),
        (("--cost", "bmi"), "--cost must be NAME=C with a number C, got 'bmi'"),
        (("--cost", "bmi=-1"), "the cost of 'bmi' must be at least 0"),
        (("--cost", "weight=1"), "there is no item and no variable 'weight'"),
        (("--group", "sexx"), "has no column 'sexx' (did you mean 'sex'?) (--group)"),
    ],
)
def test_what_is_refused(folder, options, said):
    assert said in usage_error("alternatives", folder / "train.csv", *OPTIONS, *options)


def test_outputs_are_looked_at_before_the_work(folder, tmp_path):
    train = folder / "train.csv"
    before = train.read_bytes()
    for options, said in (
        (("--output", train), f"--output {train} would replace the data"),
        (("--choose", "0", train), f"--choose {train} would replace the data"),
        (("--output", tmp_path / "a", "--choose", "0", tmp_path / "a"), "both name the file"),
        (("--output", tmp_path / "none" / "a.json"), "there is no folder"),
    ):
        assert said in usage_error("alternatives", train, *OPTIONS, *options)
    assert train.read_bytes() == before


def test_too_few_rows(tmp_path):
    path = tmp_path / "few.csv"
    pd.DataFrame({"a": [0, 1, 1, 0], "y": [0, 1, 1, 1]}).to_csv(path, index=False)
    said = usage_error("alternatives", path, "--outcome", "y", "--bootstrap", 5, "--within", 0.5)
    assert "too few rows for bootstrap samples: 1 of class 0" in said


def test_nothing_meets_the_requirements(folder):
    result = run(
        "alternatives", folder / "train.csv", "--outcome", "died", "--exclude", "sex", "--positive",
        "yes", "--lower", "age=1", "--max-size", 0, code=3,
    )  # fmt: skip
    assert result.stdout == ""
    assert result.stderr.startswith("No risk score meets the requirements: ")


def test_ctrl_c_keeps_what_is_done(folder, tmp_path, monkeypatch):
    """In the bootstrap samples, and before any of them."""
    output = tmp_path / "alternatives.json"
    given = ("alternatives", folder / "train.csv", *OPTIONS, "--bootstrap", 3, "--output", output)
    monkeypatch.setattr(Alternatives, "with_stability", lambda *_, **__: _interrupted())
    result = run(*given, code=130)
    assert "The list is complete" in result.stdout
    assert Alternatives.load(output).stability is None


def _interrupted():
    raise KeyboardInterrupt


def test_a_search_that_is_interrupted_is_told_by_the_exit_code(folder, tmp_path, monkeypatch):
    output = tmp_path / "alternatives.json"
    search = riskslim.alternatives

    def interrupted(problem, within, **options):
        return search(problem, within, **options, should_stop=lambda: True)

    monkeypatch.setattr(riskslim, "alternatives", interrupted)
    result = run(
        "alternatives", folder / "train.csv", *OPTIONS, "--bootstrap", 3, "--output", output,
        code=130,
    )  # fmt: skip
    assert "The list is incomplete: the search ended early." in result.stdout
    assert not json.loads(output.read_text())["is_complete"]
    assert "bootstrap" not in result.stdout


def test_options_are_those_of_fit():
    of_fit = inspect.signature(fit).parameters
    own = inspect.signature(command.alternatives).parameters
    assert set(of_fit) - set(own) == command._NOT_OF_SETS - set(command._OWN)
    assert set(own) - set(of_fit) == set(command._OWN) - set(of_fit)
    for name in set(own) & set(of_fit) - set(command._OWN):
        assert own[name].default == of_fit[name].default
