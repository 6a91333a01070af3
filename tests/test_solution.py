"""Solution, Certificate, Trace, and the re-check that no result escapes."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskslim import (
    Certificate,
    CoefficientSet,
    RiskScoreProblem,
    Solution,
    SolutionPool,
    Status,
    TrainingData,
)
from riskslim.engines.certify import RECHECK_TOLERANCE, certify
from riskslim.exceptions import CertificateError, RiskSLIMError
from riskslim.scale import ScaleSet, checked_scale, scale_text
from riskslim.solution import SolveStatistics, Trace, TraceRecord, optimality_gap

CERTIFICATE = Certificate(
    status=Status.FEASIBLE,
    objective=0.40,
    loss=0.39,
    model_size=2,
    lower_bound=0.38,
    gap_tolerance=0.0,
    bound_tolerance=1e-9,
    engine="example 1.0",
    n_samples=100,
    message="time limit reached",
)


@pytest.fixture
def problem() -> RiskScoreProblem:
    X = np.array([[0, 1], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1]])
    data = TrainingData(X, [0, 1, 1, 0, 0, 0], feature_names=["age", "smoker"])
    coefficients = CoefficientSet(data.feature_names, -3, 3, intercept_lower=-5, intercept_upper=5)
    return RiskScoreProblem(data, coefficients, max_size=1, l0_penalty=0.01)


def certified(problem, coef=(-1, 2, 0), lower_bound=0.0, **changes) -> Certificate:
    arguments = {
        "gap_tolerance": 0.0, "bound_tolerance": 1e-9, "engine": "example", "message": "done",
    }  # fmt: skip
    return certify(problem, np.array(coef), lower_bound, **{**arguments, **changes})


# ---------------------------------------------------------------------------------------------
# optimality gap
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("objective", "lower_bound", "gap"),
    [
        (0.40, 0.38, 0.05),
        (0.4, 0.4, 0.0),
        (0.4, 0.0, 1.0),
        (0.0, 0.0, 0.0),
        (0.4, -math.inf, math.inf),
        (0.4, 0.5, -0.25),
        (0.0, 0.1, -math.inf),
    ],
)
def test_optimality_gap(objective, lower_bound, gap):
    assert optimality_gap(objective, lower_bound) == pytest.approx(gap, abs=1e-15)
    certificate = dataclasses.replace(CERTIFICATE, objective=objective, lower_bound=lower_bound)
    assert certificate.optimality_gap == optimality_gap(objective, lower_bound)


@pytest.mark.parametrize("objective", [math.inf, math.nan])
def test_no_gap_without_a_score(objective):
    assert math.isnan(optimality_gap(objective, 0.1))


@given(st.floats(1e-9, 1e3), st.floats(0.0, 1.0))
def test_gap_is_zero_only_at_equality(objective, share):
    lower_bound = objective * share
    gap = optimality_gap(objective, lower_bound)
    assert 0.0 <= gap <= 1.0
    assert (gap == 0.0) == (lower_bound == objective)


# ---------------------------------------------------------------------------------------------
# certify
# ---------------------------------------------------------------------------------------------


def test_certificate_states_what_was_recomputed(problem):
    certificate = certified(problem)
    margins = np.array([1, 1, 1, 1, -1, 1])
    loss = float(np.mean(np.log1p(np.exp(-margins))))
    assert certificate.loss == pytest.approx(loss, abs=1e-15)
    assert certificate.objective == certificate.loss + 0.01
    assert certificate.model_size == 1
    assert certificate.lower_bound == 0.0
    assert certificate.status is Status.FEASIBLE
    assert certificate.n_samples == 6
    assert (certificate.engine, certificate.message) == ("example", "done")
    assert (certificate.gap_tolerance, certificate.bound_tolerance) == (0.0, 1e-9)
    assert not certificate.is_optimal


@pytest.mark.parametrize(
    ("below", "gap_tolerance", "status"),
    [
        (0.0, 0.0, Status.OPTIMAL),
        (5e-10, 0.0, Status.OPTIMAL),  # within the tolerance of the bound
        (-5e-10, 0.0, Status.OPTIMAL),  # above the objective, within it as well
        (1e-8, 0.0, Status.FEASIBLE),
        (1e-8, 1e-6, Status.OPTIMAL),
        (0.1, 0.05, Status.FEASIBLE),
        (0.1, 0.5, Status.OPTIMAL),
    ],
)
def test_status_follows_from_the_gap(problem, below, gap_tolerance, status):
    objective = problem.objective([-1, 2, 0])
    certificate = certified(problem, lower_bound=objective - below, gap_tolerance=gap_tolerance)
    assert certificate.status is status
    assert certificate.is_optimal == (status is Status.OPTIMAL)
    assert certificate.lower_bound <= certificate.objective
    if abs(below) <= 1e-9:
        assert certificate.lower_bound == certificate.objective
        assert certificate.optimality_gap == 0.0
    else:
        assert certificate.lower_bound == objective - below
        assert certificate.optimality_gap == pytest.approx(below / objective)


def test_an_interrupted_run_is_interrupted_unless_it_had_finished(problem):
    objective = problem.objective([-1, 2, 0])
    assert certified(problem, interrupted=True).status is Status.INTERRUPTED
    finished = certified(problem, lower_bound=objective, interrupted=True)
    assert finished.status is Status.OPTIMAL


@pytest.mark.parametrize(
    ("coef", "message"),
    [
        ([-1, 2, 1], r"infeasible vector: model size is 2, outside of 0\.\.1"),
        ([-1, 4, 0], r"infeasible vector: coefficient of 'age' is 4"),
        ([-6, 2, 0], r"infeasible vector: coefficient of '\(intercept\)' is -6"),
        ([-1, 2], "infeasible vector"),
    ],
)
def test_infeasible_vectors_raise(problem, coef, message):
    with pytest.raises(CertificateError, match=message):
        certified(problem, coef)


def test_a_bound_above_the_objective_raises(problem):
    objective = problem.objective([-1, 2, 0])
    with pytest.raises(CertificateError, match=r"above the objective .* the bound is not valid"):
        certified(problem, lower_bound=objective + 1e-8)
    with pytest.raises(CertificateError, match="bound is not valid"):
        certified(problem, lower_bound=objective + 1e-15, bound_tolerance=0.0)
    with pytest.raises(CertificateError, match="bound is not valid"):
        certified(problem, lower_bound=math.nan)


@pytest.mark.parametrize("error", [1e-9, -1e-9, math.nan])
def test_a_loss_that_fails_its_recomputation_raises(problem, monkeypatch, error):
    reference = problem.loss.reference_value([-1, 2, 0])
    monkeypatch.setattr(problem.loss, "reference_value", lambda coef: reference * (1 + error))
    with pytest.raises(CertificateError, match="differs from its recomputation"):
        certified(problem)
    monkeypatch.setattr(
        problem.loss, "reference_value", lambda coef: reference * (1 + RECHECK_TOLERANCE / 2)
    )
    assert certified(problem).loss == problem.loss.value([-1, 2, 0])


def test_certificate_error_is_the_packages_own():
    assert issubclass(CertificateError, RiskSLIMError)


# ---------------------------------------------------------------------------------------------
# Certificate
# ---------------------------------------------------------------------------------------------


def test_certificates_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        CERTIFICATE.lower_bound = 0.4


def test_dict_round_trip():
    values = json.loads(json.dumps(CERTIFICATE.to_dict()))
    assert values["status"] == "feasible"
    assert values["optimality_gap"] == pytest.approx(0.05)
    assert Certificate.from_dict(values) == CERTIFICATE
    del values["message"]
    assert Certificate.from_dict(values) == dataclasses.replace(CERTIFICATE, message="")


def test_dict_round_trip_of_an_infeasible_problem():
    none = dataclasses.replace(
        CERTIFICATE, status=Status.INFEASIBLE, objective=math.inf, lower_bound=math.inf
    )
    assert Certificate.from_dict(json.loads(json.dumps(none.to_dict()))) == none


def test_dict_with_missing_or_unknown_values():
    values = CERTIFICATE.to_dict()
    with pytest.raises(ValueError, match="certificate lacks loss, engine"):
        Certificate.from_dict({k: v for k, v in values.items() if k not in ("loss", "engine")})
    with pytest.raises(ValueError, match="'solved' is not a valid Status"):
        Certificate.from_dict({**values, "status": "solved"})


def test_explanations():
    assert CERTIFICATE.explain() == (
        "Objective 0.4 on 100 rows. No risk score that meets the requirements can have an "
        "objective below 0.38, which is 5.00% lower than this one's."
    )
    optimal = dataclasses.replace(CERTIFICATE, status=Status.OPTIMAL, lower_bound=0.4)
    assert optimal.explain().endswith("meets the requirements has a lower objective.")
    infeasible = dataclasses.replace(CERTIFICATE, status=Status.INFEASIBLE, message="no feature")
    assert infeasible.explain() == "No risk score meets the requirements: no feature."


def test_a_trivial_bound_proves_nothing():
    early = dataclasses.replace(CERTIFICATE, lower_bound=1e-4)
    assert "no useful lower bound yet" in early.explain()
    assert "%" not in early.explain()
    accepted = dataclasses.replace(early, status=Status.OPTIMAL, gap_tolerance=0.9999)
    assert "can have an objective below 0.0001" in accepted.explain()


def test_certificates_read_as_a_line():
    assert str(CERTIFICATE) == (
        f"feasible ({CERTIFICATE.message}): objective 0.4, lower bound 0.38, gap 5.00%, 100 rows"
    )
    unexplained = dataclasses.replace(CERTIFICATE, message="")
    assert str(unexplained).startswith("feasible: objective")
    accepted = dataclasses.replace(CERTIFICATE, status=Status.OPTIMAL, gap_tolerance=0.1)
    assert str(accepted).startswith("optimal to within 10.00%: objective 0.4")
    optimal = dataclasses.replace(accepted, lower_bound=0.4)
    assert str(optimal).startswith("optimal: objective 0.4, lower bound 0.4, gap 0.00%")
    infeasible = dataclasses.replace(CERTIFICATE, status=Status.INFEASIBLE, message="no feature")
    assert str(infeasible) == "infeasible: no feature"


def test_statuses_read_as_words():
    assert [str(status) for status in Status] == [
        "optimal", "feasible", "infeasible", "interrupted",
    ]  # fmt: skip
    assert f"{Status.OPTIMAL}" == "optimal"
    assert Status("optimal") is Status.OPTIMAL


# ---------------------------------------------------------------------------------------------
# Trace
# ---------------------------------------------------------------------------------------------


def test_trace():
    records = [TraceRecord(0.0, 0.5, 0.1, 0.8, 0, 3, 1), TraceRecord(1.5, 0.4, 0.3, 0.25, 7, 9, 2)]
    trace = Trace(records[:1])
    trace.append(records[1])
    assert len(trace) == 2
    assert list(trace) == records
    np.testing.assert_array_equal(trace["upper_bound"], [0.5, 0.4])
    np.testing.assert_array_equal(trace["nodes"], [0, 7])
    assert trace.to_dict() == {
        "time": [0.0, 1.5], "upper_bound": [0.5, 0.4], "lower_bound": [0.1, 0.3],
        "gap": [0.8, 0.25], "nodes": [0, 7], "cuts": [3, 9], "incumbent_updates": [1, 2],
        "table_share": [0.0, 0.0],
    }  # fmt: skip
    assert json.loads(json.dumps(trace.to_dict())) == trace.to_dict()
    assert repr(trace) == "Trace(2 records)"
    with pytest.raises(KeyError, match="no column 'bound'; there are time, upper_bound"):
        trace["bound"]


def test_a_trace_does_not_share_its_list():
    records = []
    trace = Trace(records)
    trace.append(TraceRecord(0.0, 0.5, 0.1, 0.8, 0, 3, 1))
    assert records == []
    assert len(Trace()) == 0
    assert Trace()["time"].shape == (0,)


# ---------------------------------------------------------------------------------------------
# Solution
# ---------------------------------------------------------------------------------------------

SOLUTION = Solution(np.array([2, 0, -1]), -3, CERTIFICATE, ("age", "smoker", "bmi"))


def test_solution():
    np.testing.assert_array_equal(SOLUTION.coef, [-3, 2, 0, -1])
    assert SOLUTION.coef.dtype == np.int64
    assert SOLUTION.points == {"age": 2, "bmi": -1}
    assert all(type(points) is int for points in SOLUTION.points.values())
    assert repr(SOLUTION) == (
        "Solution(feasible, objective=0.4, lower_bound=0.38, gap=5.00%, intercept=-3, "
        "points={'age': 2, 'bmi': -1})"
    )
    assert SOLUTION.statistics == SolveStatistics()
    assert len(SOLUTION.trace) == 0


def test_solutions_do_not_share_their_defaults():
    other = dataclasses.replace(SOLUTION, trace=Trace())
    first = Solution(None, None, CERTIFICATE, ())
    second = Solution(None, None, CERTIFICATE, ())
    assert first.trace is not second.trace
    assert first.statistics is not second.statistics
    assert first.settings is not second.settings
    assert other.trace is not SOLUTION.trace


def test_no_solution():
    none = Solution(None, None, dataclasses.replace(CERTIFICATE, message="no feature"), ("age",))
    assert none.points == {}
    with pytest.raises(ValueError, match="there is no risk score: no feature"):
        none.coef  # noqa: B018


def test_solutions_can_be_pickled():
    again = pickle.loads(pickle.dumps(SOLUTION))
    np.testing.assert_array_equal(again.coef, SOLUTION.coef)
    assert again.certificate == CERTIFICATE


@pytest.mark.parametrize(
    ("bound_tolerance", "words"),
    [
        (0.0, "has a lower objective."),
        (1e-9, "has a lower objective."),
        (2e-5, "has a lower objective by more than 2e-05, the accuracy of the bound."),
    ],
)
def test_explain_claims_no_more_than_the_bound_is_accurate_to(bound_tolerance, words):
    certificate = Certificate(
        Status.OPTIMAL, 0.4, 0.39, 2, 0.4, 0.0, bound_tolerance, "example", 100
    )
    assert certificate.explain().endswith(words)


# --- several scores -------------------------------------------------------------------------------


def pool_of(m=3, *, complete=True, bound=0.5) -> SolutionPool:
    vectors = np.column_stack((np.arange(m) - 12, np.full(m, 2), np.arange(m)))
    return SolutionPool(
        vectors, 0.4 + 0.01 * np.arange(m), ("age >= 60", "smoker"), complete, bound
    )


def test_scores_of_a_pool():
    pool = pool_of()
    assert [pool.intercept(rank) for rank in range(3)] == [-12, -11, -10]
    assert type(pool.intercept(0)) is int
    assert pool.points(1) == {"age >= 60": 2, "smoker": 1}


def test_a_pool_is_printed_as_a_table():
    lines = str(pool_of()).splitlines()
    assert lines == [
        "rank   objective  intercept  points",
        "   0  0.40000000        -12  age >= 60: 2",
        "   1  0.41000000        -11  age >= 60: 2, smoker: 1",
        "   2  0.42000000        -10  age >= 60: 2, smoker: 2",
        "The list is complete: no other risk score that meets the requirements has an objective "
        "below 0.5.",
    ]
    assert repr(pool_of()) == str(pool_of())
    lines = str(pool_of(14)).splitlines()
    assert (lines[10].split()[0], lines[11], len(lines)) == ("9", "... and 4 more", 13)
    assert pool_of(14).table(20).count("\n") == 14
    nothing = SolutionPool(np.array([[3, 0]]), np.array([0.4]), ("a",), True, math.inf)
    assert nothing.table().endswith("  none")


def test_a_list_states_which_intercepts_it_holds():
    pool = dataclasses.replace(pool_of(complete=False, bound=0.415), intercepts=(-12, -10))
    assert pool.explain() == (
        "The list is incomplete: it has all scores with an intercept from -12 to -10, and others "
        "may meet the requirements as well, because no bounds of the intercept were given. It has "
        "every risk score with an objective below 0.415, of which there are 2; from there on "
        "others may be missing."
    )


@pytest.mark.parametrize(
    ("complete", "bound", "expected"),
    [
        (True, math.inf, "The list is complete: no other risk score meets the requirements."),
        (False, 0.3, "meets the requirements has an objective below 0.3, but from there on better"),
        (False, 0.405, "every risk score with an objective below 0.405, of which there is 1; from"),
        (False, 0.415, "every risk score with an objective below 0.415, of which there are 2; fr"),
    ],
)
def test_a_pool_says_what_it_may_lack(complete, bound, expected):
    text = pool_of(complete=complete, bound=bound).explain()
    assert expected in text
    assert text.startswith("The list is complete" if complete else "The list is incomplete: the s")


def test_scales_of_a_pool():
    assert [pool_of().scale(rank) for rank in range(3)] == [1.0] * 3
    ones = dataclasses.replace(pool_of(), scales=np.ones(3))
    assert str(ones) == str(pool_of())
    pool = dataclasses.replace(pool_of(), scales=np.array([2.5, 1.0, 1 / 3]))
    assert [pool.scale(rank) for rank in range(3)] == [2.5, 1.0, 1 / 3]
    assert type(pool.scale(0)) is float
    assert pool.table().splitlines() == [
        "rank   objective               scale  intercept  points",
        "   0  0.40000000                 2.5        -12  age >= 60: 2",
        "   1  0.41000000                   1        -11  age >= 60: 2, smoker: 1",
        "   2  0.42000000  0.3333333333333333        -10  age >= 60: 2, smoker: 2",
    ]
    # The column is there for those shown, and as wide as they need.
    assert pool.table(2).splitlines()[1] == "   0  0.40000000    2.5        -12  age >= 60: 2"
    assert pool.table(2).endswith("\n... and 1 more")
    assert pool.table(0) == "rank   objective  scale  intercept  points\n... and 3 more"


@pytest.mark.parametrize("scale", [1.0, 2.5, [1, 2, 4], (0.5, 12)])
def test_dict_round_trip_of_scales(scale):
    scales = ScaleSet.of(scale)
    certificate = dataclasses.replace(CERTIFICATE, scale=scales.high, scales=scales)
    values = json.loads(json.dumps(certificate.to_dict()))
    assert Certificate.from_dict(values) == certificate
    # Those of before had one scale, 1.
    del values["scale"], values["scales"]
    assert Certificate.from_dict(values) == CERTIFICATE


@given(st.floats(1e-6, 1e9))
def test_scales_are_written_exactly(scale):
    assert float(scale_text(scale)) == scale
    assert scale_text(float(f"{scale:.3g}")) == f"{float(f'{scale:.3g}'):.10g}"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0, "m must be between 1e-06 and 1e+09, got 0"),
        (-2.5, "m must be between 1e-06 and 1e+09, got -2.5"),
        (math.nan, "m must be between 1e-06 and 1e+09, got nan"),
        (math.inf, "m must be between 1e-06 and 1e+09, got inf"),
        ("2", "m must be a number, got '2'"),
        (True, "m must be a number, got True"),
        (None, "m must be a number, got None"),
    ],
)
def test_one_scale_is_checked(value, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        checked_scale(value, "m")
