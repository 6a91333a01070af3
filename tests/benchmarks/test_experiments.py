"""The experiments of the paper, on tiny data: runs are kept, figures drawn, models correct."""

from __future__ import annotations

import dataclasses
import math
import sys

import numpy as np
import pytest

from benchmarks.experiments import __main__ as command
from benchmarks.experiments import grid, improvements, methods, minlp, runs, stalling
from benchmarks.experiments.sizes import LARGE, MINUTES, QUICK, Sizes
from riskslim import (
    CoefficientSet,
    LatticeCPASettings,
    RiskScoreProblem,
    TrainingData,
    branch_and_bound,
)
from riskslim.solution import TraceRecord

pytestmark = pytest.mark.benchmarks

TINY = Sizes(
    time_limit=0.4,
    n=150,
    stalling_d=(3,),
    improvements_d=3,
    grid_n=(80, 150),
    grid_d=(2, 3),
    scip_max_n=80,
    rows_n=(150, 300),
    rows_d=3,
)


def tiny_problem(weighted: bool = False, **limits) -> RiskScoreProblem:
    random = np.random.default_rng(3)
    X = random.integers(0, 3, size=(60, 3))
    y = (X @ [1, -1, 0] + random.normal(0, 1.5, 60) > 0.5).astype(int)
    weights = random.uniform(0.5, 2.0, 60) if weighted else None
    data = TrainingData(X, y, weights, feature_names=["a", "b", "c"])
    coefficients = CoefficientSet(data.feature_names, -3, 3, intercept_lower=-5, intercept_upper=5)
    return RiskScoreProblem(data, coefficients, **limits)


# ---------------------------------------------------------------------------------------------
# Methods
# ---------------------------------------------------------------------------------------------


def test_basic_lcpa_has_every_switch_off():
    settings = methods.basic_settings()
    for field in dataclasses.fields(LatticeCPASettings):
        if field.name in ("fractional_rounds", "cut_pool"):
            assert getattr(settings, field.name) == 0
        elif isinstance(field.default, bool) or field.default is None:
            assert getattr(settings, field.name) is False
        else:
            assert getattr(settings, field.name) == field.default
    one = methods.basic_settings(chained_updates=True)
    assert one == dataclasses.replace(settings, chained_updates=True)
    names = {name for switched_on in methods.IMPROVEMENTS.values() for name in switched_on}
    assert names == {
        *("polishing", "rounding", "chained_updates", "initialization"),
        *("fractional_rounds", "cut_pool", "branching_priority"),
    }


@pytest.mark.parametrize("method", [name for name in methods.METHODS if "scip" not in name])
def test_methods_find_the_optimum(method):
    problem = methods.make_problem(150, 3)
    best = branch_and_bound(problem).certificate
    assert best.is_optimal
    found = methods.solve(method, problem, 10.0)
    assert found.summary["status"] == "optimal"
    assert found.summary["objective"] == pytest.approx(best.objective, rel=1e-9)
    assert 0 < found.summary["data_seconds"] < found.summary["total_seconds"]
    assert set(found.summary) <= set(runs.FIELDS)
    last = found.trace[-1]
    assert last.upper_bound == pytest.approx(best.objective, rel=1e-9)
    for column in ("time", "nodes", "cuts", "lower_bound"):
        values = [getattr(record, column) for record in found.trace]
        assert values == sorted(values)


def test_cpa_that_is_stopped_has_its_last_iteration_in_the_trace():
    problem = methods.make_problem(300, 12)
    found = methods.solve("cpa", problem, 0.5)
    assert found.summary["status"] == "feasible"
    assert found.trace[-1].time >= 0.4
    numbers = [record.cuts for record in found.trace]
    assert numbers == list(range(1, len(numbers) + 1))


def test_problem_is_the_papers():
    problem = methods.make_problem(100, 4)
    assert problem.lower.tolist() == [-100, -10, -10, -10, -10]
    assert problem.upper.tolist() == [100, 10, 10, 10, 10]
    assert problem.l0_penalty.tolist() == [1e-8] * 4
    assert problem.max_size == 4


def test_thinned_trace_keeps_better_scores_and_ends():
    records = [
        TraceRecord(t, upper, 0.4 + 0.0001 * t, 1 - (0.4 + 0.0001 * t) / upper, t, t, t)
        for t, upper in enumerate([1.0, 1.0, 0.9, 0.9, 0.9, 0.8, 0.8])
    ]
    kept = methods.thinned(records)
    assert [record.time for record in kept] == [0, 2, 5, 6]
    assert methods.thinned([]) == []
    assert methods.thinned(records[:1]) == records[:1]


# ---------------------------------------------------------------------------------------------
# The general solver
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_distinct_rows_give_the_loss(weighted):
    problem = tiny_problem(weighted)
    rows, shares = minlp.distinct_rows(problem)
    assert len(rows) < 60
    assert shares.sum() == pytest.approx(1.0)
    coef = np.array([-2, 3, -1, 1])
    loss = shares @ np.log1p(np.exp(-(rows @ coef)))
    assert loss == pytest.approx(problem.loss.value(coef), rel=1e-12)


@pytest.mark.parametrize("form", minlp.FORMS)
@pytest.mark.parametrize(
    "limits", [{"l0_penalty": 1e-3}, {"max_size": 1}, {"weighted": True, "l0_penalty": 0.02}]
)
def test_scip_agrees_with_branch_and_bound(form, limits):
    pytest.importorskip("pyscipopt")
    problem = tiny_problem(**limits)
    best = branch_and_bound(problem).certificate
    assert best.is_optimal
    result = minlp.solve_by_scip(problem, time_limit=60.0, form=form)
    # SCIP satisfies a row to within 1e-6.
    assert problem.is_feasible(result.coef)
    assert problem.objective(result.coef) == pytest.approx(best.objective, abs=3e-6)
    assert result.lower_bound <= best.objective + 1e-9
    if form == "exponential":
        assert result.status == "optimal"
        assert result.lower_bound == pytest.approx(best.objective, abs=3e-6)
    times = [record.time for record in result.records]
    assert times == sorted(times)
    assert times[-1] <= result.seconds
    assert 0 <= result.nonlinear_seconds <= result.seconds


def test_scip_as_a_method():
    pytest.importorskip("pyscipopt")
    found = methods.solve("scip_minlp", tiny_problem(), 20.0)
    assert found.summary["status"] == "optimal"
    best = branch_and_bound(tiny_problem()).certificate
    assert found.summary["objective"] == pytest.approx(best.objective, abs=3e-6)
    assert found.trace[-1].upper_bound == found.summary["objective"]
    assert found.summary["gap"] < 1e-4


@pytest.mark.parametrize("limits", [{"min_size": 1}, {"scale": 2.0}])
def test_scip_refuses_what_the_model_lacks(limits):
    with pytest.raises(ValueError, match="no constraints, no smallest size"):
        minlp.solve_by_scip(tiny_problem(**limits), time_limit=1.0)
    with pytest.raises(ValueError, match="form must be one of exponential, logarithm"):
        minlp.solve_by_scip(tiny_problem(), time_limit=1.0, form="cone")


def test_without_scip_the_others_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "\.\[scip\]"'):
        minlp.load_scip()
    assert not methods.is_available("scip_minlp")
    made = runs.Runs(tmp_path).make(
        [runs.Case("scip_minlp", 80, 2), runs.Case("branch_and_bound", 80, 2)], 1.0
    )
    assert made == 1
    assert 'left out: scip_minlp (pip install ".[scip]")' in capsys.readouterr().err
    assert [run.case.method for run in runs.Runs(tmp_path).read()] == ["branch_and_bound"]


# ---------------------------------------------------------------------------------------------
# Files, figures, tables
# ---------------------------------------------------------------------------------------------


def test_runs_go_on_where_they_were(tmp_path):
    files = runs.Runs(tmp_path / "new")
    cases = [runs.Case("lcpa", 80, 2), runs.Case("cpa", 80, 2)]
    assert files.make(cases[:1], 2) == 1
    first, first_trace = files.path.read_text(), files.trace_path.read_text()
    assert files.make(cases[:1], 2.0) == 0
    assert files.make(cases, 2) == 1
    assert files.path.read_text().startswith(first)
    assert files.trace_path.read_text().startswith(first_trace)
    # Another limit is another run.
    assert files.make(cases[:1], 3) == 1
    # The trace of a run that was interrupted before its row was written does not count.
    with files.trace_path.open("a") as file:
        file.write("interrupted,0.1,0.6,0.1,0.8,0,1,1\n")
    read = files.read()
    assert [(run.case, run.time_limit) for run in read] == [
        (cases[0], 2), (cases[1], 2), (cases[0], 3),
    ]  # fmt: skip
    for run in read:
        assert run.status == "optimal"
        assert run.values["total_seconds"] > 0
        assert "cores" in run.machine
        assert run.trace[-1].upper_bound == pytest.approx(run.values["objective"], rel=1e-6)
    assert math.isnan(read[1].values["nodes"])
    assert '"processor"' in files.machine_path.read_text()


@pytest.mark.slow
def test_one_command_runs_all(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(command, "QUICK", dataclasses.replace(TINY, time_limit=0.2))
    arguments = [str(tmp_path), "--quick"]
    assert command.main(arguments) == 0
    text = capsys.readouterr().out
    assert (tmp_path / "report.md").read_text() == text
    svg = {}
    for name in command.EXPERIMENTS:
        assert f"## {name}\n\none thread, at most 0.2 s per run; " in text
        svg[name] = (tmp_path / f"{name}.svg").read_text()
        assert "</svg>" in svg[name]
    n_rows = len(runs.Runs(tmp_path).read())
    # Nothing is left to run, and the same data give the same figures.
    assert command.main([*arguments, "--report-only"]) == 0
    assert command.main(arguments) == 0
    assert len(runs.Runs(tmp_path).read()) == n_rows
    for name in command.EXPERIMENTS:
        assert (tmp_path / f"{name}.svg").read_text() == svg[name]
    # A part of the runs is enough for figures.
    files = runs.Runs(tmp_path / "part")
    files.make(improvements.cases(TINY)[:1], 0.2)
    assert command.main([str(tmp_path / "part"), "--quick", "--report-only"]) == 0
    assert {path.name for path in (tmp_path / "part").glob("*.svg")} == {
        "stalling.svg", "improvements.svg", "grid.svg",
    }  # fmt: skip


def test_report_names_the_limits_there_are(tmp_path, capsys):
    runs.Runs(tmp_path).make([runs.Case("lcpa", 150, 3)], 2.0)
    with pytest.raises(SystemExit):
        command.main([str(tmp_path), "--quick", "--time-limit", "7", "--report-only"])
    assert "with a limit of 7 s; limits in it: 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "grid,heat"], "no experiment 'heat'; there are stalling, improvements"),
        (["--time-limit", "0"], "--time-limit must be positive"),
        (["--quick", "--large"], "not allowed with"),
    ],
)
def test_arguments_are_checked(tmp_path, arguments, message, capsys):
    with pytest.raises(SystemExit):
        command.main([str(tmp_path / "output"), *arguments])
    assert message in capsys.readouterr().err
    assert not (tmp_path / "output").exists()


@pytest.mark.parametrize("sizes", [QUICK, MINUTES, LARGE])
def test_cases_have_known_methods_and_scip_few_rows(sizes):
    for experiment in command.EXPERIMENTS.values():
        cases = experiment.cases(sizes)
        assert len(cases) == len(set(cases))
        assert {case.method for case in cases} <= set(methods.METHODS) & set(methods.LABELS)
        assert all(case.n <= sizes.scip_max_n for case in cases if case.method == "scip_minlp")


def as_run(method: str, n: int, d: int, trace: list[TraceRecord], **values) -> runs.Run:
    objective = trace[-1].upper_bound
    numbers = {"objective": objective, "gap": 0.5, "total_seconds": 8.0, "data_seconds": 2.0}
    return runs.Run(
        runs.Case(method, n, d), 10.0, {**numbers, **values}, "feasible", "", "here", trace
    )


def test_good_scores_are_within_ten_percent_of_the_best_one_known():
    def trace(*bounds: float) -> list[TraceRecord]:
        return [TraceRecord(t, b, 0.1, 0.5, 0, t, 0) for t, b in enumerate(bounds, start=1)]

    few = as_run("lcpa", 100, 3, trace(0.5, 0.30))
    many = as_run("lcpa", 100, 6, trace(0.6, 0.34, 0.32), gap=math.nan, data_seconds=math.nan)
    other = as_run("cpa", 500, 3, trace(0.1))
    everything = [few, many, other]
    # Fewer features are nested in more of them.
    assert grid.best_known(everything, 100, 6) == 0.30
    assert grid.best_known(everything[1:], 100, 6) == 0.32
    assert grid.best_known(everything, 100, 2) == math.inf
    assert grid.measures(few, 0.30) == (2, 50.0, 25.0)
    seconds, gap, share = grid.measures(many, 0.30)
    assert (seconds, gap) == (3, 100.0)
    assert math.isnan(share)
    assert grid.seconds_to_good(many, 0.28) == math.inf


def test_seconds_per_cut_are_means_between_records():
    trace = [TraceRecord(t, 1.0, 0.1, 0.9, 0, cuts, 0)
             for t, cuts in ((0.5, 0), (1.0, 4), (1.5, 4), (2.0, 5), (4.0, 15))]  # fmt: skip
    assert stalling.seconds_per_cut(trace) == ([4, 5, 15], [0.25, 1.0, 0.2])
    assert stalling.seconds_per_cut(trace, 1.0) == ([4, 15], [0.25, 3.0 / 11])
