"""Constraints, paths, cross-validation and items on the command line."""

from __future__ import annotations

import csv
import dataclasses
import functools
import json
import os
import re
import signal
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import riskslim
from command_line import run, shown_by, usage_error
from paths import DOCS
from programs import start_program
from riskslim import (
    CoefficientSet,
    ItemEncoder,
    RiskScore,
    RiskScoreProblem,
    RiskSLIMClassifier,
    TrainingData,
    at_most,
    model_size_path,
    monotone,
    variable,
)
from riskslim.cli.progress import PathProgress
from riskslim.constraints.files import KINDS, read_constraints
from riskslim.exceptions import ProblemSizeError
from riskslim.metrics.performance import METRICS
from riskslim.model_selection import Step, stratified_folds, write_folds
from riskslim.solution import TraceRecord

# Where the command line takes its engines from.
ENGINES = "riskslim.engines"


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def frame(n=200, seed=3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    columns = {f"age >= {t}": rng.integers(0, 2, n) for t in (40, 60)}
    columns |= {"smoker": rng.integers(0, 2, n), "male": rng.integers(0, 2, n)}
    odds = -2.0 + 2 * columns["age >= 60"] + 1.5 * columns["age >= 40"] + columns["smoker"]
    columns["died"] = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    columns["weight"] = rng.integers(1, 4, n) / 2
    return pd.DataFrame(columns)


FIT = ["--outcome", "died", "--exclude", "weight", "--quiet", "--scale", "1"]


@pytest.fixture
def table(tmp_path) -> Path:
    path = tmp_path / "patients.csv"
    frame().to_csv(path, index=False)
    return path


def problem(max_size=5, weights=None, **options) -> RiskScoreProblem:
    """The problem of the command line's defaults, its prior included, for these rows."""
    data = frame()
    training = TrainingData(
        data.drop(columns=["died", "weight"]), data["died"], weights, outcome_name="died"
    )
    coefficients, prior = CoefficientSet(training.feature_names), 1 / training.total_weight
    return RiskScoreProblem(training, coefficients, max_size=max_size, l2_penalty=prior, **options)


# --- constraints ----------------------------------------------------------------------------------


def test_constraints_of_a_file_are_met(table, tmp_path):
    toml, score = tmp_path / "c.toml", tmp_path / "s.json"
    toml.write_text('[[at_most]]\nn = 1\nvariable = "age"\n')
    run("fit", table, *FIT, "--constraints", toml, "--output", score)
    stated = problem(constraints=[at_most(1, variable("age"))])
    solution = riskslim.branch_and_bound(stated)
    assert dict(RiskScore.load(score).points) == solution.points
    assert RiskScore.load(score).certificate == solution.certificate
    assert dict(riskslim.branch_and_bound(problem()).points) != solution.points


def test_errors_of_constraint_files(table, tmp_path):
    toml = tmp_path / "c.toml"
    toml.write_text("\n[[at_mots]]\nn = 1\n")
    message = usage_error("fit", table, *FIT, "--constraints", toml)
    assert "[[at_mots]] (line 2): there is no such constraint (did you mean 'at_most'" in message
    assert message.count("\n") == 1
    toml.write_text('[[at_most]]\nn = 1\nvariable = "agee"\n')
    message = usage_error("fit", table, *FIT, "--constraints", toml)
    assert "names the variable 'agee', of which there is no feature (did you mean 'age'" in message
    assert "none.toml: No such file" in usage_error(
        "fit", table, *FIT, "--constraints", tmp_path / "none.toml"
    )
    toml.write_text('[[at_least]]\nn = 3\nfeatures = ["smoker", "male", "age >= 40"]\n')
    result = run("fit", table, *FIT, "--max-size", 2, "--path", "--constraints", toml, code=3)
    assert result.stdout == ""
    assert result.stderr.startswith("No risk score meets the requirements")


# --- paths and folds ------------------------------------------------------------------------------


def test_a_path_prints_the_largest_size(table, tmp_path):
    output = tmp_path / "s.json"
    result = run("fit", table, *FIT, "--max-size", 3, "--path", "--output", output)
    path = model_size_path(problem(3))
    score = RiskScore.load(output)
    assert dict(score.points) == path.of_size(3).solution.points
    head = f"{path}\n\nSize 3, the largest (--cv 5 chooses by test rows):\n\n"
    assert result.stdout.startswith(f"{head}{score}\n\n{score.certificate.explain()}\n")
    assert shown_by(result).endswith(" seconds.\n")
    assert result.stderr == ""


@functools.cache
def four_folds():
    return model_size_path(problem(3), cv=4, random_state=7)


@pytest.mark.parametrize(("rule", "metric"), [("one_standard_error", "loss"), ("best_mean", "auc")])
def test_folds_choose_a_size(table, tmp_path, rule, metric):
    output = tmp_path / "s.json"
    options = ["--max-size", 3, "--path", "--cv", 4, "--seed", 7, "--rule", rule]
    result = run("fit", table, *FIT, *options, "--metric", metric, "--output", output)
    path = four_folds()
    chosen = path.best(rule, metric)
    assert dict(RiskScore.load(output).points) == chosen.solution.points
    head = f"{path}\n\nSize {chosen.max_size}, by the rule {rule} on the test {metric}:\n\n"
    assert result.stdout.startswith(head + str(chosen.risk_score))
    assert shown_by(result).endswith(f" seconds.\n\n{chosen.cross_validation}\n")


def test_cross_validation_of_one_size(table, tmp_path, monkeypatch):
    path = model_size_path(problem(2, frame()["weight"]), sizes=[2], cv=3)
    expected = path.entries[0].cross_validation
    options = ["--outcome", "died", "--weights", "weight", "--quiet", "--max-size", 2, "--scale", 1]
    # What processes find is what one finds (tests/model_selection): none are started here.
    jobs = []
    monkeypatch.setattr(
        "riskslim.model_selection.size_path.model_size_path",
        lambda *given, n_jobs, **names: jobs.append(n_jobs) or model_size_path(*given, **names),
    )
    result = run("fit", table, *options, "--cv", 3, "--n-jobs", 2)
    assert result.stdout.startswith(f"{path.entries[0].risk_score}\n")
    assert shown_by(result).endswith(f" seconds.\n\n{expected}\n")
    # The same folds of a file.
    write_folds(tmp_path / "folds.csv", stratified_folds(frame()["died"], 3))
    again = run("fit", table, *options, "--folds", tmp_path / "folds.csv")
    assert shown_by(again).endswith(f"\n\n{expected}\n")
    assert jobs == [2, 1]


def test_tables_are_written(table, tmp_path):
    options = ["fit", table, *FIT, "--max-size", 2, "--path", "--cv", 3]
    for kind in ("csv", "json"):
        run(
            *options, "--path-output", tmp_path / f"p.{kind}", "--cv-output", tmp_path / f"c.{kind}"
        )
    path = model_size_path(problem(2), cv=3)
    sizes, folds = (json.loads((tmp_path / f"{name}.json").read_text()) for name in "pc")
    for found, expected in zip(sizes, path.records(), strict=True):
        assert found.keys() == expected.keys()
        assert {**found, "seconds": 0} == {**expected, "seconds": 0}
    expected = [
        {"max_size": entry.max_size, **record}
        for entry in path.entries
        for record in entry.cross_validation.records()
    ]
    assert folds == expected
    assert len(folds) == 2 * (1 + 2 * 3)
    for name, records in (("p", sizes), ("c", folds)):
        rows = rows_of((tmp_path / f"{name}.csv").read_text())
        assert len(rows) == len(records)
        for row, record in zip(rows, records, strict=True):
            assert [*row] == [*record]
            assert [row[key] for key in row if key not in ("points", "seconds")] == [
                "" if value is None else str(value)
                for key, value in record.items()
                if key not in ("points", "seconds")
            ]
    rows = rows_of((tmp_path / "p.csv").read_text())
    assert [json.loads(row["points"]) for row in rows] == [one["points"] for one in sizes]


def test_the_document_has_the_columns_of_the_tables(table, tmp_path):
    text = (DOCS / "command_line.md").read_text(encoding="utf-8")
    files = {"path": tmp_path / "p.csv", "cv": tmp_path / "c.csv"}
    run("fit", table, *FIT, "--max-size", 1, "--path", "--cv", 2, "--path-output", files["path"],
        "--cv-output", files["cv"])  # fmt: skip
    for name, file in files.items():
        section = text.split(f"| columns of `--{name}-output` | |\n")[1].split("\n\n")[0]
        first_cells = " ".join(row.split(" | ")[0] for row in section.splitlines())
        named = re.findall(r"`(\w+)`", first_cells)
        of_loss = [column for column in named if column.startswith("test_loss_")]
        named += [column.replace("loss", metric) for metric in METRICS[1:] for column in of_loss]
        assert rows_of(file.read_text())[0].keys() == {*named}


def test_sizes_that_nothing_meets_stay_in_the_table(table, tmp_path):
    toml = tmp_path / "c.toml"
    toml.write_text('[[at_least]]\nn = 2\nfeatures = ["smoker", "male", "age >= 40"]\n')
    result = run("fit", table, *FIT, "--max-size", 2, "--path", "--constraints", toml,
                 "--path-output", tmp_path / "p.json")  # fmt: skip
    assert re.search(r"\n   1  infeasible\n   2  optimal", result.stdout)
    assert "\nSize 2, the largest" in result.stdout
    sizes = json.loads((tmp_path / "p.json").read_text())
    assert [one["status"] for one in sizes] == ["infeasible", "optimal"]
    assert sizes[0]["objective"] is None


def test_limits_reach_every_search(table, monkeypatch):
    seen = []

    def spy(stated, **limits):
        seen.append(limits)
        return solve(stated, **limits)

    solve = riskslim.branch_and_bound
    monkeypatch.setattr(f"{ENGINES}.branch_and_bound.driver.branch_and_bound", spy)
    run("fit", table, *FIT, "--max-size", 2, "--path", "--cv", 2, "--time-limit", 9,
        "--gap-tolerance", 0.1, "--node-limit", 50, "--threads", 2)  # fmt: skip
    assert len(seen) == 6
    for limits in seen:
        expected = {"time_limit": 9, "gap_tolerance": 0.1, "node_limit": 50, "n_threads": 2}
        assert limits | expected == limits


def test_both_classes_weigh_the_same(table, tmp_path):
    output = tmp_path / "s.json"
    options = ["--outcome", "died", "--weights", "weight", "--class-weight", "balanced", "--quiet"]
    run("fit", table, *options, "--scale", 1, "--output", output)
    data, own = frame(), frame()["weight"]
    factor = own.sum() / 2 / own.groupby(data["died"]).sum()
    expected = riskslim.branch_and_bound(problem(weights=own * data["died"].map(factor)))
    assert RiskScore.load(output).certificate.objective == pytest.approx(
        expected.certificate.objective, rel=1e-12
    )
    message = usage_error("fit", table, *FIT, "--class-weight", "equal")
    assert "--class-weight must be balanced, got 'equal'" in message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cv", "3", "--folds", "f.csv"], "give --cv or --folds, not both"),
        (["--rule", "best_mean"], "--rule needs --path, and --cv or --folds"),
        (["--path", "--metric", "auc"], "--metric needs --path, and --cv or --folds"),
        (["--path", "--n-jobs", "2"], "--n-jobs needs --cv or --folds"),
        (["--cv", "3", "--path-output", "p.csv"], "--path-output needs --path"),
        (["--path", "--cv-output", "c.csv"], "--cv-output needs --cv or --folds"),
        (
            ["--path", "--path-output", "p.txt"],
            "--path-output must end in .csv or .json, got p.txt",
        ),
        (["--path", "--path-output", "no/p.csv"], "there is no folder no to write p.csv to"),
        (["--path", "--cv", "3", "--rule", "best"], "--rule must be one of one_standard_error, be"),
        (
            ["--path", "--cv", "3", "--metric", "gap"],
            "--metric must be one of loss, auc, cal, sensitivity, specificity, got",
        ),
        (["--path", "--within", "0.1"], "--n-solutions and --within list the scores of one search"),
        (["--cv", "3", "--n-solutions", "2"], "list the scores of one search"),
        (["--cv", "1"], "1"),
        (["--cv", "150"], "n_splits=150 cannot be greater than the number of members"),
        (["--folds", "none.csv"], "none.csv: No such file"),
        (["--n-thresholds", "3"], "--n-thresholds needs --items"),
        (["--missing", "indicator"], "--missing needs --items"),
        (["--items", "--n-thresholds", "0"], "--n-thresholds must be at least 1, got 0"),
        (["--items", "--missing", "drop"], "missing must be one of 'error', 'indicator'"),
        (
            ["--items", "--thresholds", "age"],
            "NAME=supervised or NAME=V,V,... with numbers, got 'age'",
        ),
        (["--items", "--thresholds", "male=a"], "NAME=V,V,... with all, supervised or numbers"),
        (["--items", "--thresholds", "mal=1"], "did you mean 'male'"),
    ],
)
def test_options_that_do_not_go_together(table, options, message, monkeypatch):
    monkeypatch.chdir(table.parent)
    assert message in usage_error("fit", table, *FIT, *options)


@pytest.mark.parametrize("finished", [0, 1, 2])
def test_an_interruption_prints_what_is_finished(table, tmp_path, monkeypatch, finished):
    solve, calls = riskslim.branch_and_bound, []

    def interrupted(stated, **limits):
        calls.append(stated)
        if len(calls) > 2 * finished:
            raise KeyboardInterrupt
        return solve(stated, **limits)

    monkeypatch.setattr(f"{ENGINES}.branch_and_bound.driver.branch_and_bound", interrupted)
    output = tmp_path / "s.json"
    result = run("fit", table, *FIT, "--max-size", 2, "--path", "--cv", 3, "--output", output,
                 "--cv-output", tmp_path / "c.json", code=130)  # fmt: skip
    if not finished:
        assert (result.stdout, result.stderr) == ("", "Interrupted.\n")
        assert not output.exists()
        return
    assert "The run was stopped: not all sizes and folds are finished." in result.stdout
    assert "\nSize 2, the largest (no size has scores in all folds):\n" in result.stdout
    assert f"\n{finished - 1} of 3 folds: mean (min - max)\n" in result.stdout
    assert len(RiskScore.load(output).points) == 2
    assert len(json.loads((tmp_path / "c.json").read_text())) == 2 * (1 + 2 * (finished - 1))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_an_interrupted_size_is_not_saved_where_smaller_ones_are_finished(
    table, tmp_path, monkeypatch, size
):
    solve = riskslim.branch_and_bound

    def interrupted(stated, **limits):
        broken_off = stated.max_size >= size
        limits["should_stop"] = lambda: broken_off
        found = solve(stated, **limits)
        if broken_off:  # however far the search came until it was stopped
            status = riskslim.Status.INTERRUPTED
            certificate = dataclasses.replace(found.certificate, status=status)
            found = dataclasses.replace(found, certificate=certificate)
        return found

    monkeypatch.setattr(f"{ENGINES}.branch_and_bound.driver.branch_and_bound", interrupted)
    output = tmp_path / "s.json"
    result = run("fit", table, *FIT, "--max-size", 3, "--path", "--cv", 3, "--output", output,
                 code=130)  # fmt: skip
    score = RiskScore.load(output)
    if size == 1:
        assert "\nSize 1, whose search was interrupted; none is finished:\n" in result.stdout
        assert score.certificate.status is riskslim.Status.INTERRUPTED
        return
    assert (
        f"\nSize {size - 1}, the largest that is finished: the search for size {size} was "
        "interrupted (no size has scores in all folds):\n"
    ) in result.stdout
    assert score.certificate.status is riskslim.Status.OPTIMAL
    assert len(score.points) <= size - 1


def test_files_that_cannot_be_written_lose_no_score(table, tmp_path, monkeypatch):
    def full(path, _):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("riskslim.cli.selection._write_records", full)
    result = run("fit", table, *FIT, "--path", "--path-output", tmp_path / "p.csv",
                 "--output", tmp_path / "s.json", code=4)  # fmt: skip
    assert "RISK SCORE" in result.stdout
    assert result.stderr == f"Error: {tmp_path / 'p.csv'}: No space left on device\n"
    assert (tmp_path / "s.json").exists()


def test_failures_of_an_engine_are_errors(table, monkeypatch):
    def fail(*_, **__):
        raise ProblemSizeError("too large")

    monkeypatch.setattr(f"{ENGINES}.branch_and_bound.driver.branch_and_bound", fail)
    assert usage_error("fit", table, *FIT, "--cv", 3) == "Error: too large\n"


def test_the_progress_line():
    progress = PathProgress()
    assert progress.__rich__().plain.endswith(" s  searching")
    record = TraceRecord(63.9, 0.161602877, 0.15999999, 0.00991859, 153856, 1176, 7)
    progress.follow("all rows", 3, record)
    assert " s  all rows, size 3  objective 0.16160  bound 0.16000" in progress.__rich__().plain
    progress.step(Step(2, 6, "fold 0"))
    assert progress.__rich__().plain.endswith(" s  2 of 6 done  searching")
    progress.follow("fold 1", 1, record)
    assert " s  2 of 6 done  fold 1, size 1  objective 0.16160" in progress.__rich__().plain


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_on_a_terminal(tmp_path):
    import pty

    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (2000, 40))
    odds = X @ rng.normal(0, 0.6, 40) - 1
    columns = {f"x{j}": X[:, j] for j in range(40)}
    columns["y"] = (rng.random(2000) < 1 / (1 + np.exp(-odds))).astype(int)
    pd.DataFrame(columns).to_csv(tmp_path / "hard.csv", index=False)
    ours, theirs = pty.openpty()
    options = ["--outcome", "y", "--max-size", 12, "--path", "--cv", 3, "--time-limit", 600]
    process = start_program("fit", "hard.csv", *options, cwd=tmp_path, stderr=theirs)
    os.close(theirs)
    give_up = threading.Timer(120, process.kill)
    give_up.start()
    shown, sent = b"", False
    try:
        while chunk := os.read(ours, 4096):
            shown += chunk
            if not sent and re.search(rb"all rows, size [3-9]", shown):
                process.send_signal(signal.SIGINT)
                sent = True
    except OSError:
        pass  # the other end is closed
    finally:
        os.close(ours)
        out, _ = process.communicate()
        give_up.cancel()
    assert process.returncode == 130
    assert re.match(r"size  status .*\n   1  optimal ", out)
    assert "The run was stopped" in out
    assert "RISK SCORE: risk of y" in out


# --- items ----------------------------------------------------------------------------------------


def raw(n=300, seed=0, lacking=True) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(20, 90, n), rng.choice(["female", "male"], n)
    odds = age / 12 + 1.5 * (sex == "male") - 6
    data = pd.DataFrame({"age": age.astype(float), "sex": sex, "BMI": rng.normal(27, 4, n).round()})
    data["died"] = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    if lacking:
        data.loc[rng.random(n) < 0.15, "age"] = None
    return data


@pytest.mark.parametrize(("weighted", "classes"), [(False, None), (True, None), (True, "balanced")])
def test_folds_choose_cut_offs_of_their_own(tmp_path, weighted, classes):
    data = raw(lacking=False)
    data["weight"] = np.random.default_rng(2).integers(1, 4, len(data)) / 2
    data.to_csv(tmp_path / "d.csv", index=False)
    options = ["--outcome", "died", "--items", "--thresholds", "supervised", "--quiet"]
    options += ["--weights", "weight"] if weighted else ["--exclude", "weight"]
    options += [] if classes is None else ["--class-weight", classes]
    text = shown_by(run("fit", tmp_path / "d.csv", *options, "--max-size", 2, "--cv", 3))
    (tmp_path / "parts").mkdir()  # files of a folder are read batch by batch, and merged
    for k in range(2):
        data.iloc[150 * k : 150 * (k + 1)].to_csv(tmp_path / "parts" / f"{k}.csv", index=False)
    parts = shown_by(run("fit", tmp_path / "parts", *options, "--max-size", 2, "--cv", 3))
    assert parts.split(" seconds.")[1] == text.split(" seconds.")[1]
    items = ItemEncoder(thresholds="supervised")
    classifier = RiskSLIMClassifier(max_size=2, items=items, class_weight=classes)
    X, weights = data.drop(columns=["died", "weight"]), data["weight"] if weighted else None
    path = model_size_path(classifier, X, data["died"], weights, sizes=[2], cv=3)
    assert text.endswith(f" seconds.\n\n{path.entries[0].cross_validation}\n")
    assert ("by the weights of their classes" in text) == (classes is not None)
    if weighted:  # a path is read by the classifier, too
        named = model_size_path(classifier, tmp_path / "d.csv", "died", "weight", sizes=[2], cv=3)
        assert str(named.entries[0].cross_validation) == str(path.entries[0].cross_validation)
    items = {tuple(fold.model.feature_names) for fold in path.entries[0].cross_validation.folds}
    assert len(items) > 1


def test_items_of_folds_cannot_be_named(tmp_path):
    raw(lacking=False).to_csv(tmp_path / "d.csv", index=False)
    options = ["--outcome", "died", "--items", "--thresholds", "supervised", "--cv", 3]
    for given in (["--fix", "sex = male=1"], ["--sign", "age=+"]):
        message = usage_error("fit", tmp_path / "d.csv", *options, "--quiet", *given)
        assert "the training rows of each fold have items of their own" in message


def test_a_score_of_items_applies_to_raw_records(tmp_path):
    raw().to_csv(tmp_path / "d.csv", index=False)
    raw(50, seed=1).to_csv(tmp_path / "new.csv", index=False)
    score = tmp_path / "s.json"
    run("fit", tmp_path / "d.csv", "--outcome", "died", "--quiet", "--items", "--missing",
        "indicator", "--n-thresholds", 4, "--thresholds", "age=45,60,75", "--cv", 2,
        "--scale", 1, "--output", score)  # fmt: skip
    encoder = ItemEncoder(n_thresholds=4, thresholds={"age": [45, 60, 75]}, missing="indicator")
    items = encoder.fit_transform(raw().drop(columns="died"))
    loaded = RiskScore.load(score)
    assert list(loaded.feature_names) == list(items.columns)
    assert {"sex = male", "age >= 60", "age is missing"} <= set(items.columns)
    data = TrainingData(items, raw()["died"], outcome_name="died")
    stated = RiskScoreProblem(
        data, CoefficientSet(data.feature_names), max_size=5, l2_penalty=1 / data.total_weight
    )
    assert loaded.certificate == riskslim.branch_and_bound(stated).certificate
    for name, rows in (("d.csv", raw()), ("new.csv", raw(50, seed=1))):
        text = run("predict", score, tmp_path / name).stdout
        risks = [float(row["risk"]) for row in rows_of(text)]
        expected = loaded.predict_proba(encoder.transform(rows.drop(columns="died")))[:, 1]
        assert risks == expected.tolist()


@pytest.mark.parametrize("sign", ["+", "-"])
def test_the_sign_of_a_variable(tmp_path, sign):
    raw().to_csv(tmp_path / "d.csv", index=False)
    fit = ["fit", tmp_path / "d.csv", "--outcome", "died", "--quiet", "--items", "--missing",
           "indicator", "--thresholds", "age=45,60,75", "--exclude", "BMI",
           "--scale", 1]  # fmt: skip
    run(*fit, "--sign", f"age={sign}", "--sign", "sex = male=+", "--output", tmp_path / "s.json")
    encoder = ItemEncoder(thresholds={"age": [45, 60, 75]}, missing="indicator")
    items = encoder.fit_transform(raw().drop(columns=["died", "BMI"]))
    data = TrainingData(items, raw()["died"], outcome_name="died")
    coefficients = CoefficientSet(data.feature_names, sign={"sex = male": "+"})
    problem = RiskScoreProblem(
        data, coefficients, max_size=5,
        constraints=[monotone(variable("age"), sign)],
    )  # fmt: skip
    expected = riskslim.branch_and_bound(problem)
    found = RiskScore.load(tmp_path / "s.json")
    assert dict(found.points) == expected.points
    wrong = -1 if sign == "+" else 1
    assert all(wrong * found.points.get(f"age >= {age}", 0) <= 0 for age in (45, 60, 75))
    message = usage_error(*fit, "--sign", "sex=+")
    assert "'sex', and none of its features grows or falls with it" in message
    assert "name those that are meant, of 'sex = male'" in message
    message = usage_error(*fit, "--lower", "age=1")
    assert "'age' (a variable, with features 'age >= 45', 'age >= 60', 'age >= 75'" in message
    assert "'age >= 46' (did you mean 'age >= 60'" in usage_error(*fit, "--sign", "age >= 46=+")


def test_missing_values_that_a_score_does_not_know_are_refused(tmp_path):
    raw(lacking=False).to_csv(tmp_path / "d.csv", index=False)
    raw().to_csv(tmp_path / "lacking.csv", index=False)
    fit = ["--outcome", "died", "--quiet", "--items", "--output", tmp_path / "s.json"]
    assert "'age' (" in usage_error("fit", tmp_path / "lacking.csv", *fit, n_lines=3)
    run("fit", tmp_path / "d.csv", *fit)
    message = usage_error("predict", tmp_path / "s.json", tmp_path / "lacking.csv")
    assert "Input X contains NaN" in message
    assert "'age' (" in message


@pytest.mark.parametrize("command", ["predict", "report"])
def test_raw_columns_that_a_file_lacks_are_named(tmp_path, command):
    points = {"age >= 60": 2, "age >= 75": 1, "sex = male": 1, "smoker": 1, "BMI != 0": 1}
    score = RiskScore(-2, points, outcome_name="died")
    score.save(tmp_path / "s.json")
    columns = {"age": "Age (years)", "sex": "Sex"}
    raw().rename(columns=columns).assign(smokers=1).to_csv(tmp_path / "d.csv", index=False)
    output = ["--output", tmp_path / "r.html"] if command == "report" else []
    assert usage_error(command, tmp_path / "s.json", tmp_path / "d.csv", *output) == (
        f"Error: {tmp_path / 'd.csv'} lacks columns that the risk score needs: 'age' (did you mean "
        "'Age (years)'?) to compute 'age >= 60', 'age >= 75'; 'sex' (did you mean 'Sex'?) to "
        "compute 'sex = male'; 'smoker' (did you mean 'smokers'?); 'BMI != 0', which cannot be "
        "computed from 'BMI'. Its 5 columns are 'Age (years)', 'Sex', 'BMI', 'died', 'smokers'. A "
        "column of another name is stated by --rename NAME=COLUMN.\n"
    )
    items = raw().assign(**dict.fromkeys([*points][1:], 1), **{"Age >= 60": 1})
    items.drop(columns="age").to_csv(tmp_path / "i.csv", index=False)
    message = usage_error(command, tmp_path / "s.json", tmp_path / "i.csv", *output)
    assert "needs: 'age' to compute 'age >= 60' (did you mean 'Age >= 60'" in message


def test_items_keep_weights_numbers_and_levels_apart(tmp_path):
    data = raw(lacking=False).assign(code=lambda d: d["BMI"] % 3, w=1 + raw()["died"])
    data.to_csv(tmp_path / "d.csv", index=False)
    run("fit", tmp_path / "d.csv", "--outcome", "died", "--weights", "w", "--items", "--quiet",
        "--numeric", "age", "--categorical", "code", "--exclude", "BMI",
        "--output", tmp_path / "s.json")  # fmt: skip
    score = RiskScore.load(tmp_path / "s.json")
    assert set(score.feature_names) == {"age", "sex = male", "code = 0", "code = 1", "code = 2"}


def test_levels_that_names_do_not_tell_apart(tmp_path):
    data = raw(lacking=False).assign(sex=lambda d: d["sex"].replace("male", " m"))
    data.loc[:99, "sex"] = "m"
    data.to_csv(tmp_path / "d.csv", index=False)
    run("fit", tmp_path / "d.csv", "--outcome", "died", "--items", "--quiet",
        "--output", tmp_path / "s.json")  # fmt: skip
    score = RiskScore.load(tmp_path / "s.json")
    assert {"sex = m", "sex =  m"} <= set(score.feature_names)
    assert len(score.score_samples(data)) == len(data)


# --- the document ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_document_says_what_happens(tmp_path, monkeypatch):
    text = (DOCS / "command_line.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```toml\n(.*?)^```$", text, re.M | re.S)
    monkeypatch.chdir(tmp_path)
    Path("constraints.toml").write_text(example)
    found = read_constraints("constraints.toml")
    assert len(found) == example.count("[[")
    # Every kind is in the table, with all of its keys.
    section = text[text.index("### Files of constraints") : text.index("### All sizes")]
    rows = [line for line in section.splitlines() if line.startswith("| `[[")]
    named = {kind: row for row in rows for kind in re.findall(r"\[\[(\w+)\]\]", row)}
    assert named.keys() == KINDS.keys()
    for name, kind in KINDS.items():
        assert set(kind.keys) - {"name"} <= set(re.findall(r"`(\w+)", named[name])), name
    # The constraints of the example can be met together, by features of these names.
    rng = np.random.default_rng(0)
    names = ["male", "hypertension", "smoker", "former smoker", "BMI >= 30"]
    names += [f"age >= {age}" for age in (40, 60, 75)]
    data = pd.DataFrame({name: rng.integers(0, 2, 200) for name in names})
    data["died"] = rng.integers(0, 2, 200) | (data["hypertension"] & data["age >= 60"])
    data.to_csv("patients.csv", index=False)
    fit = re.search(r"riskslim (fit .* --path .*)", text)[1].split()
    assert "Size" in run(*fit, "--quiet", "--constraints", "constraints.toml").stdout
    # Items, from fit to predict.
    raw().to_csv("patients.csv", index=False)
    raw(20, seed=1).to_csv("others.csv", index=False)
    fit, predict = (
        line.split() for line in re.findall(r"riskslim (.*--items .*|predict .*)", text)[:2]
    )
    run(*fit)
    assert len(rows_of(run(*predict).stdout)) == 20


@pytest.mark.faults
@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills processes")
@pytest.mark.parametrize("lost", ["fold 1", "all rows"])
def test_a_killed_process_has_its_exit_code(table, tmp_path, monkeypatch, lost):
    from riskslim.model_selection import size_path

    original = size_path._path_on_rows

    def killed(plan, name, *arguments):
        import os
        import signal

        if name == lost:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(plan, name, *arguments)

    killed.__module__ = "__main__"  # so that it is sent by value
    monkeypatch.setattr(size_path, "_path_on_rows", killed)
    result = run("fit", table, *FIT, "--path", "--cv", "3", "--n-jobs", "2", "--max-size", "2",
                 "--output", tmp_path / "s.json", "--cv-output", tmp_path / "f.csv",
                 code=5)  # fmt: skip
    last = result.stderr.splitlines()[-1]
    if lost == "all rows":  # there is no score
        assert last.startswith("Error: out of memory (the process that searched on all rows was")
        assert not (tmp_path / "s.json").exists()
        return
    assert last.startswith("Error: without fold 1, whose processes were ended twice from outside")
    assert f"{RiskScore.load(tmp_path / 's.json')}\n" in result.stdout
    folds = {row["fold"] for row in rows_of((tmp_path / "f.csv").read_text())}
    assert folds == {"", "0", "2"}
