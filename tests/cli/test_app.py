"""The command line: what it prints where, what it writes, and its exit codes."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import riskslim
from command_line import run, shown_by, usage_error
from paths import PACKAGE
from programs import start_program
from riskslim import (
    CoefficientSet,
    ItemEncoder,
    RiskScore,
    RiskScoreProblem,
    RiskSLIMClassifier,
    Solution,
    SolutionPool,
    TrainingData,
    read,
)
from riskslim.cli.progress import SearchProgress
from riskslim.data.feature_ranges import FeatureRange
from riskslim.engines.certify import certify
from riskslim.exceptions import CertificateError, ProblemSizeError
from riskslim.scale import ScaleSet
from riskslim.score.json import VERSION
from riskslim.solution import TraceRecord

# Where the command line takes its engines from.
ENGINES = "riskslim.engines"

# Which engine "auto" has chosen, and why.
ENGINE = (
    "Engine: branch_and_bound, which supports all requirements of this problem and needs no "
    "solver.\n"
)


def frame(n=300, seed=3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    columns = {
        "patient id": np.arange(n),
        "age >= 60": rng.integers(0, 2, n),
        "body mass index": rng.normal(26, 4, n).round(2),
        "visits": rng.integers(0, 7, n),
        "smoker": rng.integers(0, 2, n),
    }
    odds = -1.5 + 2 * columns["age >= 60"] - 0.8 * columns["visits"] + 1.2 * columns["smoker"]
    columns["died"] = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "yes", "no")
    columns["case weight"] = rng.integers(1, 4, n) / 2
    return pd.DataFrame(columns)


# The paper's scale and no prior, with which problems are stated here.
FIT = [
    "--outcome", "died", "--exclude", "patient id", "--exclude", "case weight", "--scale", "1",
    "--l2-penalty", "0",
]  # fmt: skip


@pytest.fixture
def table(tmp_path) -> Path:
    path = tmp_path / "the patients.csv"
    frame().to_csv(path, index=False)
    return path


@pytest.fixture
def hard(tmp_path) -> Path:
    """Data whose search tree does not end within a minute for scores of 8 features and more."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (2000, 40))
    odds = X @ rng.normal(0, 0.6, 40) - 1
    columns = {f"x{j}": X[:, j] for j in range(40)}
    columns["y"] = (rng.random(2000) < 1 / (1 + np.exp(-odds))).astype(int)
    path = tmp_path / "hard.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def remark(text: str) -> str:
    return f"Remark: {text}\n"


def best(data: TrainingData, max_size=5, **bounds):
    """The same problem through the library."""
    coefficients = CoefficientSet(data.feature_names, **{"lower": -5, "upper": 5, **bounds})
    return riskslim.branch_and_bound(RiskScoreProblem(data, coefficients, max_size=max_size))


# --- fit ------------------------------------------------------------------------------------------


def test_fit(table, tmp_path):
    result = run("fit", table, *FIT, "--output", tmp_path / "score.json")
    data = frame().drop(columns=["patient id", "case weight"])
    solution = best(TrainingData(data.drop(columns="died"), data["died"]))
    score = RiskScore.load(tmp_path / "score.json")
    assert (score.intercept, dict(score.points)) == (solution.intercept, solution.points)
    assert score.certificate == solution.certificate
    assert score.certificate.status == "optimal"
    assert (score.outcome_name, score.classes) == ("died", ("no", "yes"))
    assert score.feature_names == ("age >= 60", "body mass index", "visits", "smoker")
    # Nothing but the result is printed, and nothing else is written.
    before, after = shown_by(result).split(f"{score}\n\n{score.certificate.explain()}\n")
    assert before == ""
    assert after.startswith("Search completed after ")
    assert after.endswith(" seconds.\n")
    assert result.stderr == "Predicting died = yes; for no: --positive no\n" + ENGINE + remark(
        "One point per unit spans 23.9 units of log-odds for 'body mass index' (13.77 to 37.66, "
        "divide it by 5). That is too coarse: divide, or use cut-offs such as 'body mass index >= "
        "26.4'."
    ) + remark(
        "The scale is fixed at 1. With other points at the scale 1.95, these 3 features would have "
        "a loss of 0.296069 in place of 0.298833, 0.9% less: a free scale gives a score at "
        "least as good."
    )
    assert {file.name for file in tmp_path.iterdir()} == {"the patients.csv", "score.json"}


def test_fit_reads_parquet_and_weights(tmp_path):
    path = tmp_path / "patients.parquet"
    frame().to_parquet(path, index=False)
    run("fit", path, "--outcome", "died", "--positive", "no", "--weights", "case weight",
        "--scale", 1, "--l2-penalty", 0, "--exclude", "patient id", "--output", tmp_path / "s.json",
        "--quiet")  # fmt: skip
    data = frame().drop(columns="patient id")
    X, y, weights = data.drop(columns=["died", "case weight"]), data["died"], data["case weight"]
    solution = best(TrainingData(X, y, weights, positive_label="no"))
    score = RiskScore.load(tmp_path / "s.json")
    assert score.classes == ("yes", "no")
    assert score.certificate == solution.certificate
    assert dict(score.points) == solution.points


def test_fit_passes_the_requirements_on(table, tmp_path, monkeypatch):
    seen = {}

    def spy(problem, **limits):
        seen.update(limits, problem=problem)
        return solve(problem, **limits)

    solve = riskslim.branch_and_bound
    monkeypatch.setattr(f"{ENGINES}.branch_and_bound.driver.branch_and_bound", spy)
    run("fit", table, *FIT, "--max-size", 2, "--min-size", 1, "--max-coef", 3,
        "--max-intercept", 7, "--l0-penalty", 0.01, "--sign", "age >= 60=-", "--sign", "visits=+",
        "--lower", "age >= 60=-9", "--upper", "visits=8", "--fix", "smoker=2",
        "--time-limit", 30, "--gap-tolerance", 0.25, "--node-limit", 1000, "--threads", 2,
        "--seed", 5)  # fmt: skip
    problem = seen.pop("problem")
    assert seen.pop("progress") is None
    assert seen == {
        "time_limit": 30, "gap_tolerance": 0.25, "node_limit": 1000, "n_threads": 2,
        "random_state": 5,
    }  # fmt: skip
    assert (problem.max_size, problem.min_size) == (2, 1)
    assert problem.l0_penalty.tolist() == [0.01] * 4
    assert problem.lower.tolist() == [-7, -9, -3, 0, 2]
    assert problem.upper.tolist() == [7, 0, 3, 8, 2]


def test_chosen_features(table, tmp_path):
    chosen = ["--features", "visits", "--features", "age >= 60", "--output", tmp_path / "s.json"]
    run("fit", table, "--outcome", "died", *chosen)
    assert RiskScore.load(tmp_path / "s.json").feature_names == ("age >= 60", "visits")


def warned(predicted, choice) -> str:
    return (
        f"Warning: the risk predicted is that of died = {predicted}, the last of both values in "
        f"sorted order; for {choice}\n"
    )


@pytest.mark.parametrize(
    ("labels", "options", "expected"),
    [
        (["No", "Yes"], [], "Predicting died = Yes; for No: --positive No\n"),
        (["No", "Yes"], ["--quiet"], ""),
        (["sick", "well"], [], warned("well", "sick: --positive sick")),
        (["sick", "well"], ["--quiet"], warned("well", "sick: --positive sick")),
        (["is sick", "well"], [], warned("well", "is sick: --positive 'is sick'")),
        ([1, 2], [], warned("2", "1: --positive 1")),
        (["sick", "well"], ["--positive", "sick"], ""),
        ([0, 1], [], ""),
        ([-1, 1], [], ""),
        (["False", "True"], [], ""),
    ],
)
def test_the_predicted_label_is_named_where_it_is_a_choice(tmp_path, labels, options, expected):
    data = frame()[["smoker", "died"]]
    data["died"] = np.where(data["died"] == "yes", *labels[::-1])
    data.to_csv(tmp_path / "d.csv", index=False)
    # With 30 points at most, no remark about bounds follows.
    result = run("fit", tmp_path / "d.csv", "--outcome", "died", "--max-coef", 30, *options)
    assert result.stderr == expected + ("" if "--quiet" in options else ENGINE)


def test_remarks_follow_the_result(tmp_path):
    rng = np.random.default_rng(0)
    age = rng.integers(20, 90, 200)
    pd.DataFrame({"age": age, "y": rng.integers(0, 2, 200)}).to_csv(tmp_path / "a.csv", index=False)
    result = run("fit", tmp_path / "a.csv", "--outcome", "y", "--scale", 1)
    assert "No feature has points" in result.stdout
    chosen, empty, coarse = result.stderr.splitlines()
    assert f"{chosen}\n" == ENGINE
    assert empty.startswith("Remark: No feature has points")
    assert coarse.startswith("Remark: One point per unit spans")
    assert run("fit", tmp_path / "a.csv", "--outcome", "y", "--quiet").stderr == ""


@pytest.mark.slow
def test_a_limit_is_no_failure(hard, tmp_path):
    options = [
        "--outcome",
        "y",
        "--max-size",
        8,
        "--node-limit",
        20,
        "--scale",
        1,
        "--output",
        tmp_path / "s.json",
    ]
    result = run("fit", hard, *options, "--trace", tmp_path / "trace.csv")
    score = RiskScore.load(tmp_path / "s.json")
    assert score.certificate.status == "feasible"
    assert "No risk score that meets the requirements can have an objective below" in result.stdout
    assert "\nNode limit reached after " in result.stdout
    with (tmp_path / "trace.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert tuple(rows[0]) == TraceRecord._fields
    assert float(rows[-1][1]) == score.certificate.objective
    assert float(rows[-1][2]) == score.certificate.lower_bound


def test_verbose_logs_to_standard_error(table):
    result = run("fit", table, *FIT, "--verbose")
    assert result.stdout.startswith("RISK SCORE: probability that died = yes\n")
    lines = result.stderr.splitlines()
    assert any("objective" in line and "bound" in line and "gap" in line for line in lines)
    # The handler is gone with the command.
    assert "bound " not in run("fit", table, *FIT).stderr


def test_constant_features_are_reported(tmp_path):
    data = frame()[["smoker", "visits", "died"]].assign(country="1")
    data.to_csv(tmp_path / "c.csv", index=False)
    options = ["fit", tmp_path / "c.csv", "--outcome", "died"]
    stderr = run(*options, "--positive", "yes").stderr
    assert stderr.startswith("Warning: 1 of 3 features have the same value in all 300 rows")
    assert "'country'" in stderr
    assert run(*options, "--quiet").stderr == ""


def test_infeasible_requirements(tmp_path):
    data = frame()[["smoker", "died"]].assign(country="1")
    data.to_csv(tmp_path / "c.csv", index=False)
    result = run("fit", tmp_path / "c.csv", "--outcome", "died", "--min-size", 2, "--quiet",
                 "--output", tmp_path / "s.json", code=3)  # fmt: skip
    assert result.stdout == ""
    assert result.stderr.startswith("No risk score meets the requirements: min_size is 2")
    assert not (tmp_path / "s.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--outcome", "dead"], "'dead'"),
        (["--outcome", "visits"], "Only binary classification is supported"),
        (["--outcome", "died", "--positive", "maybe"], "'maybe' is not a label"),
        (["--outcome", "died", "--weights", "weight"], "'weight'"),
        (["--outcome", "died", "--exclude", "name"], "'name'"),
        ([*FIT, "--sign", "smoker"], "--sign must be NAME=+ or NAME=-, got 'smoker'"),
        ([*FIT, "--sign", "smoker=positive"], "--sign must be NAME=+ or NAME=-"),
        ([*FIT, "--sign", "smokes=+"], "'smokes' (did you mean 'smoker'?)"),
        ([*FIT, "--lower", "Visits=1"], "'Visits' (did you mean 'visits'?)"),
        ([*FIT, "--fix", "smokes=1"], "'smokes' (did you mean 'smoker'?)"),
        ([*FIT, "--fix", "smoker"], "--fix must be NAME=N with a whole number N, got 'smoker'"),
        ([*FIT, "--upper", "smoker=1.5"], "--upper must be NAME=N with a whole number N, got"),
        ([*FIT, "--fix", "smoker=1", "--fix", "smoker=2"], "--fix is given twice for 'smoker'"),
        ([*FIT, "--fix", "smoker=7"], "outside of its bounds"),
        ([*FIT, "--features", "smokes"], "'smokes' (did you mean 'smoker'?), given as features"),
        ([*FIT, "--min-size", "4", "--max-size", "3"], "--max-size 3 is smaller than --min-size 4"),
        ([*FIT, "--min-size", "9"], "--min-size must be between 0 and the 4 features, got 9"),
        ([*FIT, "-q", "--time-limit", "0"], "--time-limit must be positive"),
        ([*FIT, "-q", "--gap-tolerance", "1"], "--gap-tolerance must be at least 0 and below 1"),
        ([*FIT, "-q", "--n-solutions", "0"], "--n-solutions must be between 1 and"),
        ([*FIT, "-q", "--within", "-0.1"], "within must be at least 0"),
        (
            [*FIT, "--scale", "0"],
            "--scale 0: scales must be positive, from 1e-06 to 1e+09, got 0.0",
        ),
        ([*FIT, "--scale", "-2"], "--scale -2: scales must be positive"),
        ([*FIT, "--scale", "inf"], "--scale inf: scales must be finite"),
        ([*FIT, "--scale", "nan:2"], "--scale nan:2: scales must be positive"),
        ([*FIT, "--scale", "12:0.5"], "--scale 12:0.5: an interval of scales must increase"),
        ([*FIT, "--scale", "1,0"], "--scale 1,0: scales must be positive"),
        ([*FIT, "--scale", "any"], "--scale must be a positive number, several such as 1,2,4, an"),
        ([*FIT, "--scale", "1,,2"], "interval such as 0.5:12, free or auto, got '1,,2'"),
        ([*FIT, "--scale", "1:2:3"], "interval such as 0.5:12, free or auto, got '1:2:3'"),
        ([*FIT, "--scale", "1:2,3"], "interval such as 0.5:12, free or auto, got '1:2,3'"),
        ([*FIT, "--scale", ""], "interval such as 0.5:12, free or auto, got ''"),
        ([*FIT, "--output", "nowhere/s.json"], "there is no folder nowhere to write s.json to"),
        ([*FIT, "--trace", "."], "is a folder"),
    ],
)
def test_bad_arguments(table, arguments, message, monkeypatch):
    monkeypatch.chdir(table.parent)
    assert message in usage_error("fit", table, *arguments)


def test_bad_data(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b,y\n1,x,0\n,2,1\n3,4,1\n")
    assert "There is no file" in usage_error("fit", tmp_path / "none.csv", "--outcome", "y")
    assert "unknown type" in usage_error("fit", tmp_path / "data.txt", "--outcome", "y")
    path.write_bytes(b"")
    assert "cannot be read as csv" in usage_error("fit", path, "--outcome", "y")


def test_what_is_wrong_with_columns_is_said_line_by_line(tmp_path):
    path = tmp_path / "data.csv"
    rows = "2020-01-01,A,1,3,0\n2020-01-02,B,,4,1\n" * 9
    path.write_text(f"first seen,ward no,lab,age,y\n{rows}")
    fit = ["fit", str(path), "--outcome", "y"]
    head, *problems, last = run(*fit, code=2).stderr.splitlines()
    assert head == (f"Error: 3 columns of {path} cannot be used as features (rows counted from 0):")
    starts = [
        "  text in 'ward no' (18 of 18 rows, first at row 0): --items makes items of it, such as "
        "'ward no = A'",
        "  dates or times in 'first seen' (18 of 18 rows, first at row 0): leave them out",
        "  missing values in 'lab' (9 of 18 rows, first at row 1): --missing indicator makes items "
        "of them, such as 'lab is missing'",
    ]
    assert len(problems) == 3
    for problem, start in zip(problems, starts, strict=True):
        assert problem.startswith(start)
    lead, _, options = last.partition(": ")
    assert lead == "To leave out or encode all of them, add"
    assert options == "--items --exclude 'first seen' --missing indicator"
    assert "RISK SCORE" in run(*fit, *shlex.split(options)).stdout


def test_options_leave_out_numbers_of_rows(tmp_path):
    path = tmp_path / "data.parquet"
    n = np.arange(1200)
    columns = {"id": 10_000_000 + n, "no": n, "seen": n.astype("M8[D]"), "age": n % 70, "y": n % 2}
    pd.DataFrame(columns).to_parquet(path)
    fit = ["fit", path, "--outcome", "y", "--items"]
    text = run(*fit, code=2).stderr
    assert "another integer in every row of 'id', 'no': leave them out if they say who" in text
    assert "encode all of them, add: --exclude seen --exclude id --exclude no" in text
    for given, offered in (
        (["--thresholds", "no=600"], ["id"]), (["--numeric", "id"], ["no"]),
        (["--categorical", "no"], ["id"]), (["--exclude", "id"], ["no"]),
        (["--weights", "no"], ["id"]),
        (["--features", "id", "--features", "no", "--features", "seen"], []),
    ):  # fmt: skip
        text = run(*fit, *given, code=2).stderr
        assert [name for name in ("id", "no") if f"--exclude {name}" in text] == offered
    left_out = ["--exclude", "seen", "--exclude", "no", "--max-size", "0"]
    text = run(*fit, *left_out).stderr
    assert "column 'id' has different integers in nearly all of 1200 rows" in text
    assert "--exclude on the command line" in text


def test_nothing_is_said_of_float_where_a_column_to_score_has_dates(tmp_path):
    RiskScore(-1, {"age >= 60": 2}).save(tmp_path / "score.json")
    pd.DataFrame({"age": np.arange(5).astype("M8[us]")}).to_parquet(tmp_path / "new.parquet")
    message = usage_error("predict", tmp_path / "score.json", tmp_path / "new.parquet")
    assert "Columns with dates or times (rows counted from 0): 'age' (5 of 5 rows" in message
    assert "float()" not in message


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--items"], "add: --missing indicator"),
        (["--items", "--numeric", "lab"], "or impute the values; without --numeric lab"),
        (
            ["--features", "day", "--features", "age"],
            "such as days since a date; without --features day",
        ),
        (
            ["--items", "--numeric", "ward", "--features", "ward"],
            "so that --items makes items of them; without --numeric ward",
        ),
        (
            ["--features", "id", "--features", "age"],
            "otherwise subtract a number or divide; without --features id",
        ),
    ],
)
def test_options_that_help_are_those_that_were_not_given(tmp_path, options, expected):
    path = tmp_path / "data.csv"
    rows = [f"{2**53 + i},2020-01-0{i},A,{'' if i == 2 else i},{i},{i % 2}" for i in range(1, 9)]
    path.write_text("\n".join(["id,day,ward,lab,age,y", *rows]))
    left_out = [] if "--features" in options else ["--exclude", "day", "--exclude", "id"]
    *_, last = run("fit", path, "--outcome", "y", *options, *left_out, code=2).stderr.splitlines()
    assert last.endswith(expected) or expected in last


def test_the_data_are_never_replaced(table):
    before = table.read_bytes()
    assert "would replace the data" in usage_error("fit", table, *FIT, "--output", table)
    assert table.read_bytes() == before


@pytest.mark.parametrize("arguments", [["fit"], ["fit", "x.csv"], ["fit", "x.csv", "--max-size",
                                       "-1", "--outcome", "y"], ["frobnicate"]])  # fmt: skip
def test_usage_errors(arguments):
    result = run(*arguments, code=2)
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--max-coef", "2.5", "expected a whole number of at least 0, got '2.5'"),
        ("--max-size", "-1", "expected a whole number of at least 0, got '-1'"),
        ("--threads", "two", "expected a whole number, got 'two'"),
        ("--time-limit", "1h", "expected a number, got '1h'"),
    ],
)
def test_numbers_that_are_none(option, value, message):
    result = run("fit", "x.csv", "--outcome", "y", option, value, code=2)
    assert f"Invalid value for '{option}': {message}" in result.stderr


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ProblemSizeError("too large:\n use fewer features"), 2),
        (CertificateError("the bound is not valid"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_failures_of_the_engine(table, monkeypatch, error, code):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(f"{ENGINES}.branch_and_bound.driver.branch_and_bound", fail)
    result = run("fit", table, *FIT, "--positive", "yes", code=code)
    assert result.stdout == ""
    expected = "Interrupted." if code == 130 else f"Error: {' '.join(str(error).split())}"
    assert result.stderr == f"{ENGINE}{expected}\n"
    # A traceback is of use where the package itself is wrong.
    verbose = run("fit", table, *FIT, "--verbose", code=code).stderr
    assert ("Traceback" in verbose) == (code == 1)


def test_a_score_that_cannot_be_saved_is_printed(table, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", "s.json")

    monkeypatch.setattr(RiskScore, "save", full)
    result = run("fit", table, *FIT, "--output", tmp_path / "s.json", code=4)
    (path,) = tmp_path.glob("riskslim-recovered-*.json")
    assert result.stderr.endswith(
        f"\nError: {tmp_path / 's.json'}: s.json: No space left on device; the risk score is saved "
        f"in {path.resolve()}\n"
    )
    assert result.stdout.startswith(f"{RiskScore.load(path)}\n")


# --- several scores -------------------------------------------------------------------------------


def test_the_best_scores_are_listed(table, tmp_path):
    result = run("fit", table, *FIT, "--n-solutions", 12, "--output", tmp_path / "s.json")
    data = frame().drop(columns=["patient id", "case weight"])
    training_data = TrainingData(data.drop(columns="died"), data["died"])
    coefficients = CoefficientSet(training_data.feature_names)
    problem = RiskScoreProblem(training_data, coefficients, max_size=5)
    pool = riskslim.branch_and_bound(problem, n_solutions=12).pool
    before, after = shown_by(result).split(" seconds.\n\n")
    assert after == f"{pool.table(12)}\n{pool.explain()}\n"
    assert "The list is complete" in after
    # The score and what is proven are those of the best.
    assert before.startswith(str(RiskScore.load(tmp_path / "s.json")))
    assert dict(RiskScore.load(tmp_path / "s.json").points) == pool.points(0)


def test_scores_within_a_share_are_counted(table):
    text = run("fit", table, *FIT, "--within", 0.1).stdout
    assert re.search(r"\n   9  0\..*\n\.\.\. and \d+ more\nThe list is complete", text)
    text = run("fit", table, *FIT, "--within", 0.1, "--n-solutions", 2).stdout
    assert re.search(r"\n   1  0\..*\nThe list is complete", text)


@pytest.mark.slow
def test_a_list_that_a_limit_cut_short(hard):
    options = ["--max-size", 8, "--node-limit", 20, "--n-solutions", 3]
    result = run("fit", hard, "--outcome", "y", *options)
    assert "\nThe list is incomplete: the search ended early. No risk score that" in result.stdout


@pytest.mark.parametrize("option", ["--n-solutions", "--within"])
def test_one_engine_finds_several_scores(table, option):
    message = usage_error("fit", table, *FIT, "--engine", "lattice_cpa", option, 1)
    assert "need --engine branch_and_bound: lattice_cpa finds one risk score" in message


def test_the_solver_is_chosen(table, tmp_path):
    path = tmp_path / "score.json"
    for solver, name in (("cplex", "CPLEX"), ("scip", "SCIP")):
        pytest.importorskip({"cplex": "cplex", "scip": "pyscipopt"}[solver])
        run("fit", table, *FIT, "--engine", "lattice_cpa", "--solver", solver, "--output", path)
        assert RiskScore.load(path).certificate.engine.startswith(f"lattice_cpa ({name} ")
    message = usage_error("fit", table, *FIT, "--solver", "scip")
    assert "--solver needs --engine lattice_cpa" in message
    message = usage_error("fit", table, *FIT, "--engine", "lattice_cpa", "--solver", "highs")
    assert "solver must be one of 'cplex', 'scip', got 'highs'" in message


def test_rates_need_no_solver(table, tmp_path):
    toml, path = tmp_path / "c.toml", tmp_path / "s.json"
    toml.write_text("[[false_negative_rate_at_most]]\nrate = 0.05\nthreshold = 0.5\n")
    run("fit", table, *FIT, "--constraints", toml, "--max-size", 1, "--output", path)
    assert RiskScore.load(path).certificate.engine == "branch_and_bound"


# --- the scale ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "scales"),
    [
        ([], "free"),
        (["--scale", "auto"], "free"),
        (["--scale", "1"], 1),
        (["--scale", "2.5"], 2.5),
        (["--scale", "4,1,2"], [1, 2, 4]),
        (["--scale", "1, 2"], [1, 2]),
        (["--scale", "0.5:12"], (0.5, 12)),
        (["--scale", "2:2"], 2),
        (["--scale", "free"], (0.5, 20)),
    ],
)
@pytest.mark.parametrize("command", ["fit", "demo"])
def test_scales_are_passed_on(table, monkeypatch, command, options, scales):
    seen = []

    def stop(problem, **_):
        seen.append(problem.scales)
        raise ProblemSizeError("seen enough")

    monkeypatch.setattr(f"{ENGINES}.branch_and_bound.driver.branch_and_bound", stop)
    chosen = [table, "--outcome", "died"] if command == "fit" else []
    run(command, *chosen, *options, code=2)
    assert seen == [ScaleSet.of(scales)]


def test_the_papers_scale_is_the_default_where_an_interval_is_refused(table, tmp_path):
    output = tmp_path / "s.json"
    fit = ["fit", table, "--outcome", "died", "--features", "smoker", "--quiet", "--output", output]
    (tmp_path / "c.toml").write_text("[[risk_at_most]]\nrisk = 0.9\nprofile = {smoker = 1}\n")
    for options in (["--engine", "lattice_cpa"], ["--constraints", tmp_path / "c.toml"]):
        run(*fit, *options)
        assert RiskScore.load(output).scale == 1
        assert RiskScore.load(output).certificate.scales == ScaleSet.of(1)


def found(problem, scale, pool=None, **_) -> Solution:
    """What an engine would return for the data of this file."""
    coef = np.array([-2, 5, 0, -2, 3])
    certificate = certify(
        problem, coef, 0.1, scale=scale, gap_tolerance=0.0, bound_tolerance=0.0, engine="example",
        message="time limit reached",
    )  # fmt: skip
    names = problem.coefficients.feature_names
    settings = {"n_solutions": None}
    return Solution(coef[1:], -2, certificate, names, settings=settings, scale=scale, pool=pool)


def test_a_scale_is_printed_saved_and_predicted_with(table, tmp_path, monkeypatch):
    monkeypatch.setattr(
        f"{ENGINES}.branch_and_bound.driver.branch_and_bound",
        lambda problem, **_: found(problem, 2.5),
    )
    path = tmp_path / "score.json"
    lines = run("fit", table, *FIT, "--scale", "0.5:12", "--output", path).stdout.splitlines()
    assert "risk = 1 / (1 + exp(-(score - 2) / 2.5))" in lines
    worth = "Scale 2.5: one point adds 0.4 to the log-odds and multiplies the odds by 1.492."
    assert worth in lines
    assert any(line.endswith(", 300 rows, scale 2.5 (of 0.5 to 12)") for line in lines)
    assert worth in run("show", path).stdout.splitlines()
    rows = list(csv.DictReader(run("predict", path, table).stdout.splitlines()))
    data = frame()
    totals = 5 * data["age >= 60"] - 2 * data["visits"] + 3 * data["smoker"]
    assert [int(row["score"]) for row in rows] == totals.tolist()
    risks = 1 / (1 + np.exp(-(totals - 2) / 2.5))
    np.testing.assert_allclose([float(row["risk"]) for row in rows], risks, rtol=0, atol=1e-15)
    document = json.loads(path.read_text())
    assert (document["version"], document["scale"]) == (5, 2.5)
    assert document["certificate"]["scales"] == {"low": 0.5, "high": 12.0}


def test_the_list_of_scores_has_their_scales(table, monkeypatch):
    vectors = np.array([[-2, 5, 0, -2, 3], [-3, 5, 0, -2, 3]])

    def several(problem, **_):
        names = problem.coefficients.feature_names
        objectives = np.array([0.4, 0.41])
        pool = SolutionPool(vectors, objectives, names, True, 0.42, np.array([2.5, 12.0]))
        return found(problem, 2.5, pool)

    monkeypatch.setattr(f"{ENGINES}.branch_and_bound.driver.branch_and_bound", several)
    text = run("fit", table, *FIT, "--scale", "0.5:12", "--within", 0.1).stdout
    assert "\nrank   objective  scale  intercept  points\n   0  0.40000000    2.5 " in text
    assert "\n   1  0.41000000     12 " in text


def test_the_scale_1_is_not_spoken_of(table):
    assert "cale" not in run("fit", table, *FIT, "--scale", "1").stdout


def test_what_an_engine_says_about_scales_is_one_line(table, monkeypatch):
    def refuse(*_, **__):
        raise ValueError("lattice_cpa takes one scale,\nnot an interval")

    monkeypatch.setattr(f"{ENGINES}.lattice_cpa.lcpa.lattice_cpa", refuse)
    options = ["--engine", "lattice_cpa", "--scale", "0.5:12", "--quiet"]
    message = usage_error("fit", table, *FIT, *options)
    assert message == "Error: lattice_cpa takes one scale, not an interval\n"


@pytest.mark.parametrize("engine", ["branch_and_bound", "lattice_cpa"])
def test_fit_and_predict_with_a_scale(table, tmp_path, engine):
    if engine == "lattice_cpa":
        pytest.importorskip("cplex")
    path = tmp_path / "score.json"
    options = ["--scale", 2, "--engine", engine, "--exclude", "body mass index"]
    text = run("fit", table, *FIT, *options, "--output", path).stdout
    assert "Scale 2: one point adds 0.5 to the log-odds and multiplies the odds by 1.649." in text
    score = RiskScore.load(path)
    assert score.scale == score.certificate.scale == 2.0
    assert score.certificate.is_optimal
    rows = list(csv.DictReader(run("predict", path, table).stdout.splitlines()))
    risks = np.array([float(row["risk"]) for row in rows])
    log_odds = (score.intercept + np.array([int(row["score"]) for row in rows])) / 2
    np.testing.assert_allclose(risks, 1 / (1 + np.exp(-log_odds)), rtol=0, atol=1e-15)
    # The certificate is about these risks.
    loss = -np.log(np.where(frame()["died"] == "yes", risks, 1 - risks)).mean()
    np.testing.assert_allclose(score.certificate.loss, loss, rtol=1e-12)
    # Half units of log-odds fit better than whole ones.
    whole = best(TrainingData(frame()[list(score.feature_names)], frame()["died"]))
    assert score.certificate.objective < whole.certificate.objective


def test_a_free_scale_from_fit_to_predict(table, tmp_path):
    path = tmp_path / "score.json"
    run("fit", table, *FIT, "--scale", "free", "--output", path)
    score = RiskScore.load(path)
    certificate = score.certificate
    assert 0.5 <= score.scale == certificate.scale <= 20
    assert certificate.is_optimal
    assert certificate.scales == ScaleSet.of("free")
    rows = list(csv.DictReader(run("predict", path, table).stdout.splitlines()))
    risks = np.array([float(row["risk"]) for row in rows])
    loss = -np.log(np.where(frame()["died"] == "yes", risks, 1 - risks)).mean()
    np.testing.assert_allclose(certificate.loss, loss, rtol=1e-12)
    data = frame()
    whole = best(TrainingData(data[list(score.feature_names)], data["died"]))
    assert certificate.objective <= whole.certificate.objective * (1 + 1e-5)


def test_an_interval_needs_the_other_engine(table):
    pytest.importorskip("cplex")
    options = ["--engine", "lattice_cpa", "--scale", "0.5:12", "--quiet"]
    message = usage_error("fit", table, *FIT, *options)
    assert "any number from 0.5 to 12: lattice_cpa takes one scale or a list of them" in message


# --- predict and show -----------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path) -> Path:
    path = tmp_path / "score.json"
    ranges = {"visits": FeatureRange(0, 6)}
    RiskScore(-2, {"age >= 60": 2, "visits": -1, "smoker": 1}, feature_ranges=ranges).save(path)
    return path


def expected_predictions(data: pd.DataFrame):
    totals = 2 * data["age >= 60"] - data["visits"] + data["smoker"]
    return totals.tolist(), [1 / (1 + np.exp(2.0 - total)) for total in totals]


def test_predict_to_standard_output(saved, table):
    result = run("predict", saved, table)
    assert result.stderr == ""
    rows = list(csv.reader(result.stdout.splitlines()))
    assert rows[0] == ["score", "risk"]
    totals, risks = expected_predictions(frame())
    assert [int(row[0]) for row in rows[1:]] == totals
    np.testing.assert_allclose([float(row[1]) for row in rows[1:]], risks, rtol=1e-14)
    # To the last bit.
    again = RiskScore.load(saved).predict_proba(frame())[:, 1]
    assert [float(row[1]) for row in rows[1:]] == again.tolist()


def test_predict_to_files(saved, table, tmp_path):
    text = run("predict", saved, table).stdout
    assert run("predict", saved, table, "--output", tmp_path / "p.csv").stdout == ""
    assert (tmp_path / "p.csv").read_text() == text
    run("predict", saved, table, "--output", tmp_path / "p.parquet")
    columns = pq.read_table(tmp_path / "p.parquet")
    assert columns.schema == pa.schema({"score": pa.int64(), "risk": pa.float64()})
    assert columns["score"].to_pylist() == expected_predictions(frame())[0]


def test_predict_copies_identifiers(saved, tmp_path):
    ids = ["007", 'Smith, "J."', "NA"]
    frame(3).assign(name=ids).to_csv(tmp_path / "d.csv", index=False)
    rows = list(
        csv.reader(run("predict", saved, tmp_path / "d.csv", "--id", "name").stdout.splitlines())
    )
    assert rows[0] == ["name", "score", "risk"]
    assert [row[0] for row in rows[1:]] == ids
    assert [int(row[1]) for row in rows[1:]] == expected_predictions(frame(3))[0]
    frame(3).to_parquet(tmp_path / "d.parquet")
    run("predict", saved, tmp_path / "d.parquet", "--id", "patient id",
        "--output", tmp_path / "p.parquet")  # fmt: skip
    found = pq.read_table(tmp_path / "p.parquet")
    assert found.column_names == ["patient id", "score", "risk"]
    assert found["patient id"].to_pylist() == [0, 1, 2]


def test_predict_remarks_on_values_outside_of_the_training_range(saved, tmp_path):
    data = frame().assign(smoker=lambda d: d["smoker"].where(d.index != 17, 3))
    data.assign(visits=1).to_csv(tmp_path / "d.csv", index=False)
    result = run("predict", saved, tmp_path / "d.csv")
    assert result.stdout.count("\n") == 301
    assert result.stderr == remark(
        "1 of 300 rows have values outside of the training range of 'smoker' (0 to 1), first at "
        "row 17 (rows counted from 0)."
    )


def test_predict_real_scores(tmp_path):
    RiskScore(-52, {"body mass index": 2}).save(tmp_path / "s.json")
    frame().to_parquet(tmp_path / "d.parquet")
    lines = run("predict", tmp_path / "s.json", tmp_path / "d.parquet").stdout.splitlines()
    assert [float(line.split(",")[0]) for line in lines[1:]] == (
        2 * frame()["body mass index"]
    ).tolist()


def test_predict_errors(saved, table, tmp_path):
    frame().drop(columns="smoker").to_csv(tmp_path / "less.csv", index=False)
    message = usage_error("predict", saved, tmp_path / "less.csv")
    assert message == (
        f"Error: {tmp_path / 'less.csv'} lacks columns that the risk score needs: 'smoker'. Its 6 "
        "columns are 'patient id', 'age >= 60', 'body mass index', 'visits', 'died', "
        "'case weight'. A column of another name is stated by --rename NAME=COLUMN.\n"
    )
    assert "must end in .csv or .parquet" in usage_error("predict", saved, table, "--output", "p.x")
    assert "would replace the data" in usage_error("predict", saved, table, "--output", table)
    assert "no.json: No such file" in usage_error("predict", tmp_path / "no.json", table)
    for command in (["predict", table, table], ["show", table]):
        assert "expected a file that riskslim fit --output" in usage_error(*command)
    message = usage_error("predict", saved, table, "--id", "patient")
    assert "has no column 'patient' (did you mean 'patient id'?)" in message
    assert "has a column of this name" in usage_error("predict", saved, table, "--id", "risk")
    frame().assign(smoker=np.nan).to_csv(tmp_path / "nan.csv", index=False)
    assert "'smoker' (300 of 300 rows" in usage_error("predict", saved, tmp_path / "nan.csv")


def test_show(saved, table, tmp_path):
    assert run("show", saved).stdout == f"{RiskScore.load(saved)}\n"
    run("fit", table, *FIT, "--output", tmp_path / "fitted.json")
    score = RiskScore.load(tmp_path / "fitted.json")
    result = run("show", tmp_path / "fitted.json")
    assert result.stdout == f"{score}\n\n{score.certificate.explain()}\n"
    document = json.loads((tmp_path / "fitted.json").read_text())
    (tmp_path / "newer.json").write_text(json.dumps({**document, "version": VERSION + 1}))
    message = usage_error("show", tmp_path / "newer.json")
    assert f"reads up to version {VERSION}: a newer riskslim is needed" in message


# --- export ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target", ["python", "javascript", "sql", "pmml", "markdown", "html", "latex"]
)
def test_export_writes_what_the_score_does(saved, tmp_path, target):
    expected = getattr(RiskScore.load(saved), f"to_{target}")()
    result = run("export", saved, "--format", target)
    assert result.stdout == expected + ("" if expected.endswith("\n") else "\n")
    assert result.stderr == ""
    assert run("export", saved, "--format", target, "--output", tmp_path / "x").stdout == ""
    assert (tmp_path / "x").read_bytes() == result.stdout.encode()


def test_export_options(saved):
    score = RiskScore.load(saved)
    for target in ("python", "javascript"):
        result = run("export", saved, "--format", target, "--function", "f")
        assert result.stdout == getattr(score, f"to_{target}")(function_name="f")
    result = run("export", saved, "--format", "sql", "--dialect", "postgresql", "--table",
                 "ward.patients", "--boolean", "smoker", "--boolean", "age >= 60")  # fmt: skip
    booleans = ["smoker", "age >= 60"]
    query = score.to_sql("postgresql", table=("ward", "patients"), boolean_columns=booleans)
    assert result.stdout == f"{query}\n"


def test_export_errors(saved):
    message = usage_error("export", saved, "--format", "excel")
    assert "--format must be one of python, javascript, sql, pmml, markdown" in message
    message = usage_error("export", saved, "--format", "json")
    assert f"{saved} is the risk score as JSON" in message
    assert "copy it" in message
    message = usage_error("export", saved, "--format", "pmml", "--function", "f")
    assert "--function needs --format python or javascript, got pmml" in message
    for option in (["--dialect", "sqlite"], ["--table", "t"], ["--boolean", "smoker"]):
        message = usage_error("export", saved, "--format", "python", *option)
        assert f"{option[0]} needs --format sql" in message
    assert "dialect must be one of" in usage_error(
        "export", saved, "--format", "sql", "--dialect", "x"
    )
    message = usage_error("export", saved, "--format", "pmml", "--output", saved)
    assert "would replace the risk score" in message


# --- demo, version, help --------------------------------------------------------------------------


def test_demo(monkeypatch):
    seen = []

    def spy(problem, **limits):
        solution = solve(problem, **limits)
        seen.append((problem, limits, solution))
        return solution

    solve = riskslim.branch_and_bound
    monkeypatch.setattr(f"{ENGINES}.branch_and_bound.driver.branch_and_bound", spy)
    result = run("demo", "--scale", 1)
    ((problem, limits, solution),) = seen
    assert (limits["time_limit"], limits["gap_tolerance"], limits["progress"]) == (300.0, 0.0, None)
    assert (problem.max_size, problem.min_size) == (5, 0)
    assert set(zip(problem.lower[1:], problem.upper[1:], strict=True)) == {(-5, 5)}
    assert (problem.lower[0], problem.upper[0]) == (-100, 100)
    # The optimum is known from enumeration.
    optimum = np.zeros(31)
    optimum[[0, 2, 14, 21, 25, 27]] = [9, -2, -3, -4, -2, -3]
    assert problem.objective(optimum) == pytest.approx(0.161602877778, abs=1e-12)
    certificate = solution.certificate
    assert certificate.is_optimal
    assert certificate.optimality_gap == 0.0
    assert certificate.objective == pytest.approx(0.161602877778, abs=1e-12)
    assert result.stdout.startswith("RISK SCORE: risk of benign\n")
    assert f"objective {certificate.objective:.9g}, lower bound" in result.stdout
    assert f"\n{certificate.explain()}\n" in result.stdout
    assert result.stdout.rstrip().endswith(" seconds.")
    assert result.stderr.startswith("Remark: The scale is fixed at 1. With other points at")
    assert run("demo").stderr.count("Remark") == 1  # a bound is reached


def test_version_and_help():
    assert run("--version").stdout == f"riskslim {riskslim.__version__}\n"
    text = run("--help").stdout
    assert all(command in text for command in ("fit", "predict", "show", "demo"))
    assert "--outcome" in run("fit", "--help").stdout
    assert run("fit", "-h").stdout == run("fit", "--help").stdout


# --- as a program ---------------------------------------------------------------------------------


def test_as_a_program(table, tmp_path):
    found = subprocess.run(
        [sys.executable, "-m", "riskslim", "fit", table, *FIT], cwd=tmp_path, text=True,
        capture_output=True, check=True, timeout=60,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
    )  # fmt: skip
    assert found.stderr.startswith("Predicting died = yes; for no: --positive no\n")
    assert found.stdout.startswith("RISK SCORE: probability that died = yes\n")


@pytest.mark.parametrize(
    ("package", "raised"),
    [
        ("numpy", "ImportError('initialization failed') from KeyboardInterrupt()"),
        ("typer", "KeyboardInterrupt"),
        ("sklearn", "ImportError('initialization failed') from KeyboardInterrupt()"),
        ("sklearn", "KeyboardInterrupt"),
    ],
)
def test_ctrl_c_while_packages_are_imported(package, raised, tmp_path):
    """Compiled modules say "initialization failed" where it comes at their import."""
    interrupts = f"""
class Interrupts:
    def find_spec(self, name, *_):
        if name == {package!r}:
            raise {raised}
sys.meta_path.insert(0, Interrupts())
"""
    process = start_program("demo", before=interrupts, cwd=tmp_path)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "Interrupted.\n")


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_the_extra(package, tmp_path):
    process = start_program("demo", before=f"sys.modules[{package!r}] = None", cwd=tmp_path)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert err == (
        f"Error: the command line needs {package}, which is not installed: "
        '`pip install ".[cli]"` (the dot stands for riskslim\'s source folder or wheel file)\n'
    )


def test_without_pyarrow(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert 'pip install ".[cli]"' in usage_error("fit", table, *FIT)


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_returns_the_best_score_with_its_certificate(hard, tmp_path):
    process = start_program("fit", hard, "--outcome", "y", "--max-size", 8, "--time-limit", 600,
                    "--verbose", "--output", "s.json", cwd=tmp_path)  # fmt: skip
    give_up = threading.Timer(120, process.kill)
    give_up.start()
    try:
        for line in process.stderr:
            if "objective" in line and "bound 0 " not in line:  # the root is done
                break
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        sent = time.perf_counter()
        out, err = process.communicate()
        assert time.perf_counter() - sent < 30
    finally:
        give_up.cancel()
    assert process.returncode == 130, err
    assert "Traceback" not in err
    score = RiskScore.load(tmp_path / "s.json")
    assert score.certificate.status == "interrupted"
    assert 0 < score.certificate.lower_bound < score.certificate.objective
    assert out.startswith(f"{score}\n")
    assert "Interrupted by the user after" in out
    # The certificate's objective is that of the score in the file.
    data = read(hard, "y")
    risks = score.predict_proba(data)
    loss = -np.log(np.where(data.labels > 0, risks[:, 1], risks[:, 0])).mean()
    np.testing.assert_allclose(score.certificate.loss, loss, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_progress_is_shown_on_a_terminal_only(table, tmp_path):
    import pty

    ours, theirs = pty.openpty()
    process = start_program("fit", table, *FIT, cwd=tmp_path, stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 4096):
            shown += chunk
    except OSError:
        pass  # the other end is closed
    finally:
        os.close(ours)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"looking for a first risk score" in shown
    assert out.startswith("RISK SCORE")
    assert "looking for" not in out


def test_the_progress_line():
    progress = SearchProgress()
    assert "looking for a first risk score" in progress.__rich__().plain
    progress(TraceRecord(63.9, 0.161602877, 0.15999999, 0.00991859, 153856, 1176, 7))
    line = progress.__rich__().plain
    expected = "objective 0.16160  bound 0.16000  gap 0.99%  nodes 153856  cuts 1176"
    assert line.endswith(expected)
    assert len(line) <= 80


# ---------------------------------------------------------------------------------------------
# All cut-offs of raw columns
# ---------------------------------------------------------------------------------------------


@pytest.fixture
def measured(tmp_path):
    rng = np.random.default_rng(2)
    age, crp = rng.integers(20, 90, 200), rng.exponential(9.0, 200).round(2)
    y = rng.random(200) < 1 / (1 + np.exp(2.5 - 2 * (age >= 60) - 1.5 * (crp >= 10)))
    path = tmp_path / "measured.csv"
    pd.DataFrame({"age": age, "crp": crp, "y": y.astype(int)}).to_csv(path, index=False)
    return path


@pytest.mark.slow
def test_all_cutoffs_at_round_numbers(measured, tmp_path):
    fit = ["fit", measured, "--outcome", "y", "--items", "--max-size", "2", "--time-limit", "120"]
    saved, page = tmp_path / "score.json", tmp_path / "report.html"
    result = run(*fit, "--thresholds", "all", "--round-thresholds", "--items-per-variable", "1",
                 "--output", saved, "--report", page)  # fmt: skip
    score = RiskScore.load(saved)
    raw = pd.read_csv(measured)
    encoder = ItemEncoder(n_thresholds="all", round_thresholds=True)
    classifier = RiskSLIMClassifier(max_size=2, items=encoder, items_per_variable=1)
    expected = classifier.fit(raw[["age", "crp"]], raw["y"])
    assert score.points == expected.risk_score_.points
    assert score.cutoff_ranges == expected.risk_score_.cutoff_ranges
    assert len(score.variables) == 2  # one item of each
    (remark,) = score.remarks()
    assert f"Remark: {remark}" in result.stderr
    assert "within 0.1%, all else as it is" in page.read_text()
    assert run("predict", saved, measured).stderr == ""  # of new rows there is nothing to say


def test_all_cutoffs_of_one_column(measured):
    fit = ["fit", measured, "--outcome", "y", "--items", "--max-size", "1"]
    run(*fit, "--thresholds", "crp=all", "--thresholds", "age=60", "--n-thresholds", "2")
    result = run(*fit, "--thresholds", "all", "--max-thresholds", "7")  # of one column, too
    assert "took 7 thresholds at quantiles, max_thresholds, of columns that have more" in (
        result.stderr
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--thresholds", "all"], "--thresholds needs --items"),
        (["--round-thresholds"], "--round-thresholds needs --items"),
        (["--items", "--max-thresholds", "9"], "--max-thresholds needs --thresholds all"),
        (["--items", "--thresholds", "all", "--n-thresholds", "9"], "cannot both be given"),
        (["--items", "--thresholds", "age=most"], "--thresholds must be NAME=V,V,..."),
        (["--items", "--thresholds", "ALL"], "--thresholds must be all, supervised, NAME=all"),
        (
            ["--items", "--thresholds", "all", "--max-thresholds", "0"],
            "--max-thresholds must be at least 1, got 0",
        ),
        (["--items", "--n-thresholds", "0"], "--n-thresholds must be at least 1, got 0"),
        (["--items", "--items-per-variable", "0"], "--items-per-variable must be at least 1"),
    ],
)
def test_options_of_cutoffs_that_make_no_sense(measured, options, message):
    assert message in usage_error("fit", measured, "--outcome", "y", *options)
