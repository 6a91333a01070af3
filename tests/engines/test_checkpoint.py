"""Checkpoints: searches that are found again, that go on, and files that are refused."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import signal
import sqlite3
import time
from contextlib import closing

import numpy as np
import pytest

from partitions import in_parts, on_disk, random_data, rows_of
from problems import make_problem
from riskslim import (
    BranchAndBoundSettings,
    CoefficientSet,
    RiskScoreProblem,
    Status,
    TrainingData,
    at_most,
    branch_and_bound,
    rate_gap_at_most,
    risk_at_most,
)
from riskslim.data.distinct import distinct_rows
from riskslim.engines import checkpoint as module
from riskslim.engines import fingerprint as facts_module
from riskslim.engines import kept as kept_module
from riskslim.engines.certify import certify
from riskslim.engines.checkpoint import Checkpoint
from riskslim.engines.fingerprint import digest_of, facts_of, fingerprint, first_difference
from riskslim.rows import functions


@pytest.fixture
def problem():
    return make_problem(seed=4, n=300, d=9, max_size=4)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "search.checkpoint"


@pytest.fixture
def calls(monkeypatch):
    """Arguments of the searches that are really done."""
    done = []

    def solve(problem, **arguments):
        done.append(arguments)
        return original(problem, **arguments)

    original = module.solve
    monkeypatch.setattr(module, "solve", solve)
    return done


def found(solution):
    certificate = solution.certificate
    return solution.coef.tolist(), dataclasses.replace(certificate, message="")


def test_a_finished_search_is_not_done_again(problem, file, calls):
    first = Checkpoint(file, {"run": "x"}).solve("a", problem)
    again = Checkpoint(file, {"run": "x"}).solve("a", problem)
    assert len(calls) == 1
    assert found(again) == found(first) == found(branch_and_bound(problem))
    assert list(again.trace) == list(first.trace)
    assert again.statistics == first.statistics
    assert again.certificate.message == first.certificate.message


@pytest.mark.parametrize("scale", [2.5, (0.5, 4.0), [1.0, 2.0]])
def test_scales_are_kept(file, calls, scale):
    base = make_problem(seed=5, n=120, d=4, max_size=2)
    coefficients = base.loss.given_coefficients
    problem = RiskScoreProblem(base.loss.data, coefficients, max_size=2, scale=scale)
    first = Checkpoint(file, {"run": "x"}).solve("a", problem)
    again = Checkpoint(file, {"run": "x"}).solve("a", problem)
    assert len(calls) == 1
    assert (again.scale, found(again)) == (first.scale, found(first))


def test_searches_that_differ_are_others(problem, file, calls):
    kept = Checkpoint(file, {"run": "x"})
    kept.solve("a", problem)
    kept.solve("b", problem)
    kept.solve("a", problem.restated(max_size=3))
    kept.solve("a", problem, gap_tolerance=0.1)
    assert len(calls) == 4
    kept.solve("a", problem, n_threads=2)  # the result is the same
    assert len(calls) == 4


def test_a_search_that_a_limit_ended_goes_on(problem, file, calls):
    limits = {"node_limit": 1, "settings": BranchAndBoundSettings(tables="never")}
    stopped = Checkpoint(file, {"run": "x"}).solve("a", problem, goes_on=True, **limits)
    assert stopped.certificate.status is Status.FEASIBLE
    # Without being asked to go on it is finished: the limit was stated.
    assert found(Checkpoint(file, {"run": "x"}).solve("a", problem, **limits)) == found(stopped)
    assert len(calls) == 1
    again = Checkpoint(file, {"run": "x"}).solve("a", problem, goes_on=True, **limits)
    assert len(calls) == 2
    assert problem.objective(calls[1]["start"]) == stopped.certificate.objective
    assert again.certificate.objective <= stopped.certificate.objective
    assert again.certificate.lower_bound >= stopped.certificate.lower_bound


def test_a_better_bound_of_before_is_stated(problem, file):
    limits = {"node_limit": 1, "settings": BranchAndBoundSettings(tables="never")}
    optimum = branch_and_bound(problem).certificate.objective
    stopped = Checkpoint(file, {"run": "x"}).solve("a", problem, **limits)
    bound = (optimum + stopped.certificate.lower_bound) / 2
    _change(file, lambda content: {**content, "lower_bound": bound}, sealed=True)
    again = Checkpoint(file, {"run": "x"}).solve("a", problem, goes_on=True, **limits).certificate
    assert again.lower_bound >= bound
    assert again.lower_bound <= optimum + 1e-12


def test_an_interrupted_search_is_not_finished(problem, file, calls):
    settings = BranchAndBoundSettings(tables="never")
    first = Checkpoint(file, {"run": "x"}).solve(
        "a", problem, settings=settings, should_stop=lambda: True
    )
    assert first.is_interrupted
    again = Checkpoint(file, {"run": "x"}).solve("a", problem, settings=settings)
    assert len(calls) == 2
    assert again.certificate.is_optimal


# --- what happens to the file while a search goes on ---------------------------------------------


def _deleted(file):
    file.unlink()


def _is_folder(file):
    file.unlink()
    file.mkdir()


def _no_folder(file):
    file.unlink()
    file.parent.rmdir()


def _garbage(file):
    file.write_bytes(b"nothing that SQLite knows" * 400)


def _cut_off(file):
    file.write_bytes(file.read_bytes()[:5000])


def _other_database(file):
    file.unlink()
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("CREATE TABLE patients (name TEXT)")


def _other_run(file):
    file.unlink()
    Checkpoint(file, {"run": "another"})


def _changed_row(file):
    _change(file, lambda content: {**content, "lower_bound": 0.3}, sealed=False)


def _while_searching(monkeypatch, happens):
    original = module.solve

    def solve(problem, **arguments):
        solution = original(problem, **arguments)
        happens()
        return solution

    monkeypatch.setattr(module, "solve", solve)


@pytest.mark.parametrize("begun", [False, True], ids=["new", "goes on"])
@pytest.mark.parametrize(
    "damage", [_is_folder, _no_folder, _garbage, _cut_off, _other_database, _other_run]
)
def test_what_becomes_of_the_file_costs_no_score(problem, tmp_path, monkeypatch, damage, begun):
    file = tmp_path / "folder" / "search.checkpoint"
    file.parent.mkdir()
    expected = branch_and_bound(problem)
    limits = {"node_limit": 1, "settings": BranchAndBoundSettings(tables="never")}
    if begun:
        Checkpoint(file, {"run": "x"}).solve("a", problem, goes_on=True, **limits)
    kept = Checkpoint(file, {"run": "x"})
    _while_searching(monkeypatch, lambda: damage(file))
    settings = {"settings": limits["settings"]} if begun else {}
    solution = kept.solve("a", problem, goes_on=True, **settings)
    assert solution.certificate.is_optimal
    assert solution.certificate.objective == expected.certificate.objective
    assert str(file) in kept.failure
    assert "what was found is not kept there" in kept.failure


@pytest.mark.parametrize("begun", [False, True], ids=["new", "goes on"])
def test_a_deleted_file_is_made_again(problem, file, monkeypatch, calls, begun):
    limits = {"node_limit": 1, "settings": BranchAndBoundSettings(tables="never")}
    if begun:
        Checkpoint(file, {"run": "x"}).solve("a", problem, goes_on=True, **limits)
    kept = Checkpoint(file, {"run": "x"})
    _while_searching(monkeypatch, file.unlink)
    settings = {"settings": limits["settings"]} if begun else {}
    solution = kept.solve("a", problem, goes_on=True, **settings)
    assert kept.failure == ""
    n_calls = len(calls)
    again = Checkpoint(file, {"run": "x"}).solve("a", problem, goes_on=True, **settings)
    assert len(calls) == n_calls
    assert found(again) == found(solution)


def test_a_row_that_was_changed_is_searched_anew_in_the_middle_of_a_run(problem, file):
    first = Checkpoint(file, {"run": "x"}).solve("a", problem)
    kept = Checkpoint(file, {"run": "x"})
    _changed_row(file)
    assert found(kept.solve("a", problem)) == found(first)
    assert "is damaged: what it has of a search was changed (searching without it)" in kept.failure


@pytest.mark.slow
def test_nobody_waits_long_for_a_file_that_stays_locked(problem, file, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.5)
    kept = Checkpoint(file, {"run": "x"})
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        _while_searching(monkeypatch, lambda: other.execute("BEGIN EXCLUSIVE"))
        began = time.monotonic()
        assert kept.solve("a", problem).certificate.is_optimal
        assert time.monotonic() - began < 5
        assert "database is locked" in kept.failure
        monkeypatch.setattr(module, "PATIENCE", 1000.0)  # but once
        monkeypatch.setattr(module, "solve", branch_and_bound)
        assert kept.solve("b", problem.restated(max_size=2)).certificate.is_optimal
    with pytest.raises(ValueError, match=r"is no checkpoint|is the checkpoint"):
        Checkpoint(file, {"run": "y"})


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer that sends a signal")
def test_ctrl_c_while_waiting_for_others_costs_no_score(problem, file, monkeypatch):
    kept = Checkpoint(file, {"run": "x"})
    monkeypatch.setattr(module, "PATIENCE", 1000.0)
    before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    with closing(sqlite3.connect(file, isolation_level=None)) as other:

        def happens():
            other.execute("BEGIN EXCLUSIVE")
            signal.setitimer(signal.ITIMER_REAL, 0.4)

        _while_searching(monkeypatch, happens)
        try:
            solution = kept.solve("a", problem)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
    assert solution.certificate.is_optimal
    assert solution.is_interrupted  # whoever has more to search must not go on
    assert "database is locked" in kept.failure


def test_a_weaker_run_erases_no_proof(problem, file, monkeypatch, calls):
    """Found by two runs that shared a file: the one that ended last had the last word."""
    limits = {"settings": BranchAndBoundSettings(tables="never")}

    def other_run():
        monkeypatch.setattr(module, "solve", branch_and_bound)
        assert Checkpoint(file, {"run": "x"}).solve("a", problem, **limits).certificate.is_optimal

    kept = Checkpoint(file, {"run": "x"})
    _while_searching(monkeypatch, other_run)
    weak = kept.solve("a", problem, goes_on=True, node_limit=1, **limits)
    assert (kept.failure, weak.certificate.is_optimal) == ("", True)
    assert "lower bound from the checkpoint" in weak.certificate.message
    done = len(calls)
    again = Checkpoint(file, {"run": "x"}).solve("a", problem, goes_on=True, **limits)
    assert again.certificate.is_optimal
    assert len(calls) == done


def test_the_better_score_is_kept_with_the_better_bound(problem, file, monkeypatch):
    """One run has the better score and no bound, the other one the opposite."""
    best = branch_and_bound(problem)
    start = np.zeros_like(best.coef)
    worse = dataclasses.replace(
        best,
        coefficients=start[1:],
        intercept=0,
        certificate=certify(
            problem, start, best.certificate.lower_bound, gap_tolerance=0.0,
            bound_tolerance=1e-9, engine="x", message="m",
        ),
    )  # fmt: skip
    unproven = dataclasses.replace(
        best,
        certificate=certify(
            problem, best.coef, 0.0, gap_tolerance=0.0, bound_tolerance=1e-10, engine="x",
            message="m",
        ),
    )  # fmt: skip

    def run(solution, happens=lambda: None):
        def solve(*_, **__):
            happens()
            return solution

        monkeypatch.setattr(module, "solve", solve)
        return Checkpoint(file, {"run": "x"}).solve("a", problem, goes_on=True)

    for first, second in ((worse, unproven), (unproven, worse)):
        file.unlink(missing_ok=True)
        merged = run(first, functools.partial(run, second))
        assert merged.certificate.is_optimal
        assert merged.coef.tolist() == best.coef.tolist()
        assert merged.certificate.bound_tolerance == 1e-9  # that of the bound, not of the score
        assert found(Checkpoint(file, {"run": "x"}).solve("a", problem)) == found(merged)


def test_lists_are_not_kept(problem, file, calls):
    for _ in range(2):
        assert len(Checkpoint(file, {"run": "x"}).solve("a", problem, n_solutions=3).pool) == 3
    assert len(calls) == 2


def _change(file, change, *, sealed):
    with closing(sqlite3.connect(file)) as database, database:
        key, text = database.execute("SELECT key, content FROM searches").fetchone()
        text = json.dumps(change(json.loads(text)))
        digest = module._digest(key + text) if sealed else "0"
        database.execute("UPDATE searches SET content = ?, digest = ?", (text, digest))


def test_what_was_changed_is_refused(problem, file):
    Checkpoint(file, {"run": "x"}).solve("a", problem)
    _change(file, lambda content: {**content, "lower_bound": 0.1}, sealed=False)
    with pytest.raises(ValueError, match=r"search\.checkpoint is damaged"):
        Checkpoint(file, {"run": "x"}).solve("a", problem)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lower_bound": 99.0}, "claims a lower bound of 99.0, above the objective"),
        ({"coef": [0] + [9] * 9}, "an infeasible vector"),
        ({"scale": 3.0}, "returned the scale 3.0"),
    ],
)
def test_nothing_false_is_certified(problem, file, change, message):
    Checkpoint(file, {"run": "x"}).solve("a", problem)
    _change(file, lambda content: {**content, **change}, sealed=True)
    with pytest.raises(ValueError, match=r"search\.checkpoint is damaged: .*" + message):
        Checkpoint(file, {"run": "x"}).solve("a", problem)


@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"coef": [10**400] * 10}, "an entry of coef"),
        ({"coef": [0.5] * 10}, "an entry of coef"),
        ({"coef": [1, 2]}, "coef must be a list of 10 integers"),
        ({"coef": None}, "coef must be"),
        ({"lower_bound": 10**400}, "lower_bound is 1000000"),
        ({"lower_bound": "0.1"}, "lower_bound is"),
        ({"lower_bound": math.nan}, "lower_bound is NaN"),
        ({"bound_tolerance": -1.0}, "bound_tolerance is -1.0"),
        ({"scale": 10**400}, "scale is 1000000"),
        ({"scale": None}, "scale is null"),
        ({"optimal": 1}, "optimal must be true or false"),
        ({"engine": 3}, "engine must be text"),
        ({"message": ["x"]}, "message must be text"),
        ({"trace": [[1.0]]}, "trace must be"),
        ({"trace": [[10**400] * 8]}, "trace must be"),
        ({"trace": 5}, "trace must be"),
        ({"statistics": {"nodes": "x"}}, "statistics must be"),
        ({"statistics": {"x": 1}}, "statistics must be"),
        ({"settings": {"a": [1]}}, "settings must be"),
    ],
)
def test_hostile_values_are_named_with_their_file(problem, file, change, named, finished):
    Checkpoint(file, {"run": "x"}).solve("a", problem)
    _change(file, lambda content: {**content, "finished": finished, **change}, sealed=True)
    with pytest.raises(ValueError, match=r"search\.checkpoint is damaged: .*" + named):
        Checkpoint(file, {"run": "x"}).solve("a", problem, goes_on=True)


def test_stated_tolerances_are_not_trusted(problem, file):
    limits = {"node_limit": 1, "settings": BranchAndBoundSettings(tables="never")}
    first = Checkpoint(file, {"run": "x"}).solve("a", problem, **limits).certificate
    assert first.optimality_gap > 0.01
    false = {"bound_tolerance": 1.0, "gap_tolerance": 0.9, "optimal": True}
    _change(file, lambda content: {**content, **false}, sealed=True)
    again = Checkpoint(file, {"run": "x"}).solve("a", problem, **limits).certificate
    assert (again.status, again.optimality_gap) == (Status.FEASIBLE, first.optimality_gap)
    assert again.gap_tolerance == first.gap_tolerance
    assert again.bound_tolerance < 1e-7


def test_no_tolerance_of_an_engine_is_taken_for_a_false_one(file):
    """Features of hundreds of thousands make bounds of lattice_cpa inexact."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 900_000, (60, 3)).astype(float)
    data = TrainingData(X, rng.random(60) < 0.5)
    large = RiskScoreProblem(data, CoefficientSet(data.feature_names, -100, 100), max_size=2)
    coef = np.zeros(4, np.int64)
    for stated in (2 * (5e-10 + 1e-12 * 2e2 * 9e5), 1e-10):
        assert kept_module._tolerance(large, coef, stated) == stated


def test_files_that_are_refused(file, tmp_path):
    Checkpoint(file, {"run": "one"})
    with pytest.raises(
        ValueError, match=r"other data or settings \(run is another, kept: one\): name"
    ):
        Checkpoint(file, {"run": "another"})
    (tmp_path / "score.json").write_text("{}" * 1000)
    with pytest.raises(ValueError, match=r"score\.json is no checkpoint of riskslim"):
        Checkpoint(tmp_path / "score.json", {"run": "one"})
    assert (tmp_path / "score.json").read_text() == "{}" * 1000
    _other_database(file)
    octets = file.read_bytes()
    with pytest.raises(ValueError, match="is no checkpoint of riskslim, but a database of"):
        Checkpoint(file, {"run": "one"})
    assert file.read_bytes() == octets
    file.unlink()
    Checkpoint(file, {"run": "one"})
    with pytest.raises(FileNotFoundError, match=r"no folder .*nowhere"):
        Checkpoint(tmp_path / "nowhere" / "x", {"run": "one"})
    with pytest.raises(OSError, match=str(tmp_path)):
        Checkpoint(tmp_path, {"run": "one"})
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE about SET format = 'of next year'")
    with pytest.raises(ValueError, match="no checkpoint that this version reads"):
        Checkpoint(file, {"run": "one"})


def test_bounds_of_another_version_are_not_taken_over(problem, file, monkeypatch):
    monkeypatch.setattr(facts_module, "__version__", "0.0.1")
    Checkpoint(file, facts_of(problem, {}))
    monkeypatch.undo()
    with pytest.raises(
        ValueError, match=rf"\(version is {facts_module.__version__}, kept: 0.0.1\)"
    ):
        Checkpoint(file, facts_of(problem, {}))


def test_the_fingerprint_is_about_all_rows_and_settings(problem):
    data = problem.loss.data
    base = fingerprint(problem, {})
    assert base == fingerprint(problem.restated(), {"n_threads": 4, "progress": print})
    X = np.column_stack([data.column(j) for j in range(data.n_features)])
    order = np.random.default_rng(0).permutation(len(X))

    def of(X, y):
        return fingerprint(
            problem.restated(TrainingData(X, y, feature_names=data.feature_names)), {}
        )

    assert of(X[order], data.labels[order]) == of(X, data.labels)
    changed = X.copy()
    changed[17, 3] = 1 - changed[17, 3]
    assert of(changed, data.labels) != of(X, data.labels)
    flipped = data.labels.copy()
    flipped[5] *= -1
    assert of(X, flipped) != of(X, data.labels)
    others = [
        fingerprint(problem, {"time_limit": 3}), fingerprint(problem.restated(max_size=2), {})
    ]  # fmt: skip
    assert len({base, *others}) == 3


def _of_data(data, **stated):
    coefficients = CoefficientSet(data.feature_names, -3, 3)
    return RiskScoreProblem(data, coefficients, max_size=3, **stated)


def _sixteen_items():
    rng = np.random.default_rng(0)
    X = (rng.random((200, 16)) < 0.5).astype(float)
    z = 2 * X[:, 10] - 2 * X[:, 11] + 1.5 * X[:, 12] - 0.5
    return TrainingData(X, rng.random(200) < 1 / (1 + np.exp(-z)))


def test_lists_of_features_that_read_alike_are_others(file):
    """Words about a constraint name ten features and count the others."""
    data = _sixteen_items()
    names = list(data.feature_names)
    first = _of_data(data, constraints=[at_most(1, names[:13])])
    other = _of_data(data, constraints=[at_most(1, names[:10] + names[13:])])
    alike = [problem.constraints[0].describe() for problem in (first, other)]
    assert alike[0] == alike[1]
    kept = Checkpoint(file, {"run": "x"})
    assert kept.solve("a", first).certificate.is_optimal
    optimum = branch_and_bound(other).certificate.objective
    certificate = kept.solve("a", other).certificate
    assert certificate.lower_bound <= optimum + 1e-10
    assert certificate.objective == pytest.approx(optimum, abs=1e-10)


def test_groups_of_rows_are_told_apart():
    data, found = _sixteen_items(), []
    for seed in (1, 2):
        groups = np.random.default_rng(seed).integers(0, 2, data.n_rows)
        gap = rate_gap_at_most(0.05, "false_positive", groups=groups, threshold=0.5)
        found.append(fingerprint(_of_data(data, constraints=[gap]), {}))
    assert found[0] != found[1]


def test_constraints_at_each_scale_take_part():
    data, found = _sixteen_items(), []
    for p in (0.1, 0.3):
        problem = _of_data(data, scale=[1.0, 2.0], constraints=[risk_at_most(p, profile={})])
        assert problem.is_constrained_per_scale
        found.append(fingerprint(problem, {}))
    assert found[0] != found[1]


def test_every_cell_takes_part():
    """Rows of which every score is sure add nothing to a loss."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(100.0, 15.0, (80, 4)), np.arange(80) % 3 == 0
    X[:, 3] = rng.integers(0, 100, 80)
    found = {fingerprint(_of_data(TrainingData(X, y)), {})}
    for i in range(80):
        for j, more in ((2, 1e-9), (3, 1.0)):
            changed = X.copy()
            changed[i, j] += more
            found.add(fingerprint(_of_data(TrainingData(changed, y)), {}))
    exchanged = X.copy()
    exchanged[[0, 1], 2] = X[[1, 0], 2]
    found.add(fingerprint(_of_data(TrainingData(exchanged, y)), {}))
    assert len(found) == 162


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["zero_one", "mixed"])
def test_it_does_not_matter_where_rows_are(kind, weighted):
    data = random_data(4, kind=kind, weighted=weighted)
    stated = {"outcome_name": data.outcome_name, "feature_names": data.feature_names}
    found = set()
    for merged in (False, True):
        rows = rows_of(data, merged=merged)
        for held in (in_parts(rows, 1), in_parts(rows, 6), on_disk(rows, 7)):
            elsewhere = TrainingData.from_rows(held, **stated)
            found.add(fingerprint(_of_data(elsewhere), {}))
            there, here = (facts_module._marks(_of_data(one)) for one in (elsewhere, data))
            assert there == here
    # Of rows with weights nobody knows how many were merged.
    assert len(found) == 1 + weighted


SETTINGS = {"time_limit": 60.0, "settings": BranchAndBoundSettings(tables="never")}


def _with_problem(**stated):
    return lambda data: (_of_data(data, **stated), {})


def _with_bounds(lower, upper=3, **more):
    def state(data):
        coefficients = CoefficientSet(data.feature_names, lower, upper, **more)
        return RiskScoreProblem(data, coefficients, max_size=3), {}

    return state


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (_with_problem(), ""),
        (lambda data: (_of_data(data).restated(max_size=2), {}), "max_size is 2, kept: 3"),
        (_with_problem(min_size=1), "min_size is 1, kept: 0"),
        (_with_problem(scale=[1.0, 2.0]), "scale is [1.0, 2.0], kept: 1.0"),
        (_with_problem(l0_penalty=0.01), "l0_penalty of 'x1', 'x2', "),
        (_with_bounds(-5), "points of 'x1', 'x2', "),
        (_with_bounds(-3, sign={"x11": "+"}), "points of 'x11': 0 to 3, kept: -3 to 3"),
        (
            _with_bounds(-3, intercept_lower=-9, intercept_upper=4, sign={"x11": "+"}),
            "intercept is from -9 to 4, kept: derived",
        ),
        (
            _with_problem(constraints=[at_most(1, ["x1", "x2"])]),
            'constraints (new: "at most 1 of \'x1\', \'x2\' is used")',
        ),
        (lambda data: (_of_data(data), {"gap_tolerance": 0.1}),
         "gap_tolerance is 0.1, kept: not stated"),
        (lambda data: (_of_data(data), {"n_threads": 4, "start": None}), ""),
    ],
)  # fmt: skip
def test_the_first_setting_that_differs_is_named_with_both_values(state, expected):
    data = _sixteen_items()
    problem, settings = state(data)
    found = first_difference(facts_of(problem, settings), facts_of(_of_data(data), {}))
    assert found[: len(expected)] == expected
    assert bool(found) == bool(expected)
    assert bool(found) == (fingerprint(problem, settings) != fingerprint(_of_data(data), {}))


def test_settings_of_engines_are_named_one_by_one(file):
    problem = _of_data(_sixteen_items())
    Checkpoint(file, facts_of(problem, SETTINGS))
    other = {"time_limit": 30, "settings": BranchAndBoundSettings(tables="always")}
    with pytest.raises(ValueError, match="checkpoint of other data or settings") as error:
        Checkpoint(file, facts_of(problem, other))
    assert str(error.value) == (
        f"{file} is the checkpoint of other data or settings (settings.tables is 'always', kept: "
        "'never'): name another file, or delete it to begin anew"
    )


def _changed(data, *, X=None, y=None, weight=None, names=None):
    columns = np.column_stack([data.column(j) for j in range(data.n_features)])
    if X is not None:
        X(columns)
    labels = data.labels.copy()
    if y is not None:
        y(labels)
    return TrainingData(columns, labels, weight, feature_names=names or data.feature_names)


def _flip(i, j):
    def change(X):
        X[i, j] = 1 - X[i, j]

    return change


def _exchange(X):
    i, k = np.flatnonzero(X[:, 3] == 1)[0], np.flatnonzero(X[:, 3] == 0)[0]
    X[[i, k], 3] = X[[k, i], 3]


def _one_more(labels):
    labels[np.flatnonzero(labels < 0)[0]] = 1


@pytest.mark.parametrize("n_parts", [None, 5])
def test_data_that_differ_are_named(n_parts):
    data = _changed(_sixteen_items())
    names = list(data.feature_names)

    def facts(one):
        if n_parts:
            held = in_parts(rows_of(one, merged=False), n_parts)
            stated = {"outcome_name": one.outcome_name, "feature_names": one.feature_names}
            one = TrainingData.from_rows(held, **stated)
        return facts_of(_of_data(one), {})

    base = facts(data)
    n = int((data.labels > 0).sum())
    rng = np.random.default_rng(3)
    weight = rng.integers(1, 4, len(data.labels)).astype(float)
    cases = [
        (_changed(data, X=_flip(17, 3)), f"values of {names[3]!r}"),
        (
            _changed(data, X=lambda X: (_flip(1, 2)(X), _flip(4, 5)(X))),
            f"values of {names[2]!r}, {names[5]!r}",
        ),
        (_changed(data, y=_one_more), f"weight of the outcome is {n + 1}, kept: {n}"),
        (_changed(data, X=_exchange), "other labels or rows"),
        (_changed(data, weight=weight), "weights of rows is given, kept: none"),
        (
            _changed(data, names=[*names[:-1], "other"]),
            f"columns (new: 'other'; gone: {names[-1]!r})",
        ),
    ]
    for other, expected in cases:
        assert first_difference(facts(other), base) == expected
        assert digest_of(facts(other)) != digest_of(base)
    some = _sixteen_items()
    fewer = TrainingData(
        np.column_stack([some.column(j) for j in range(16)])[:150], some.labels[:150]
    )
    assert first_difference(facts(fewer), base) == "number of rows is 150, kept: 200"
    # With weights.
    weighted = facts(_changed(data, weight=weight))
    total = weight.sum()
    weight[0] += 0.5
    more = facts(_changed(data, weight=weight))
    expected = f"sum of the weights is {total + 0.5:g}, kept: {total:g}"
    assert first_difference(more, weighted) == expected
    weight[0] -= 0.5
    flipped = facts(_changed(data, weight=weight, X=_flip(17, 3)))
    assert first_difference(flipped, weighted) == f"values of {names[3]!r}"


def test_rows_are_marked_once_for_all_searches_of_a_run(problem, file, monkeypatch):
    calls = []
    original = facts_module.row_marks
    monkeypatch.setattr(facts_module, "row_marks", lambda rows: calls.append(1) or original(rows))
    kept = Checkpoint(file, facts_of(problem, {}))
    for size in (1, 2):
        kept.solve("a", problem.restated(max_size=size))
    assert len(calls) == 1


@pytest.mark.parametrize("counting", ["rows", "numbers", "weights"])
def test_marks_of_many_rows_are_sums_over_blocks_of_them(counting, monkeypatch):
    rng = np.random.default_rng(6)
    X, y = rng.integers(0, 4, (700, 5)).astype(float), rng.random(700) < 0.4
    X[:, 4] += 0.25  # a real column
    weights = rng.uniform(1.0, 2.0, 700) if counting == "weights" else None
    data = TrainingData(X, y, weights)
    rows = distinct_rows(data, always=True) if counting == "numbers" else data.rows
    whole = functions.row_marks(rows)
    monkeypatch.setattr(functions, "_MARKED_ROWS", 64)
    parts = functions.row_marks(rows)
    assert parts.exact == whole.exact
    assert parts.weighted == pytest.approx(whole.weighted, rel=1e-14)
    np.testing.assert_array_equal(parts.columns, whole.columns)
    np.testing.assert_allclose(parts.shares, whole.shares, rtol=1e-13)
