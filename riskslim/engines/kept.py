"""The result of a search as plain values that a checkpoint keeps, and what is made of them again.

Nothing that is read is taken on trust but lower bounds: objectives are computed anew from the
points, on all rows, a bound above one is refused as any engine's is, and tolerances are those that
an engine states of such rows at most.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim._checks import as_float, checked_points, is_int, is_number
from riskslim.engines.certify import certify
from riskslim.engines.operating_points.shares import shares_at
from riskslim.engines.runs import DEFAULT_GAP_TOLERANCE
from riskslim.exceptions import CertificateError, RowsLostError
from riskslim.operating_point import TOLERANCE, RuleCertificate
from riskslim.solution import Certificate, Solution, SolveStatistics, Status, Trace, TraceRecord

if TYPE_CHECKING:
    from collections.abc import Mapping

    from riskslim.problem.problem import RiskScoreProblem

__all__ = [
    "better_of",
    "better_start",
    "check",
    "recalled",
    "rule_of",
    "to_plain",
    "unchecked_to_plain",
    "with_bound",
]

# The most that an engine states of the accuracy of a bound: where features are small, and for each
# unit of a feature times a point. Both are some ten times of what was seen.
MOST_TOLERANCE = 1e-8
MOST_ROW_ERROR = 1e-11


def to_plain(solution: Solution, *, finished: bool) -> dict[str, Any]:
    """Plain values of a solution that has coefficients.

    Parameters
    ----------
    solution : Solution
    finished : bool
        Whether the search got as far as its limits allow.

    Returns
    -------
    dict
    """
    certificate = solution.certificate
    return {
        "coef": solution.coef.tolist(),
        "scale": solution.scale,
        "lower_bound": certificate.lower_bound,
        "finished": finished or certificate.is_optimal,
        "optimal": certificate.is_optimal,
        "gap_tolerance": certificate.gap_tolerance,
        "bound_tolerance": certificate.bound_tolerance,
        "engine": certificate.engine,
        "message": certificate.message,
        "trace": [list(record) for record in solution.trace],
        "statistics": dataclasses.asdict(solution.statistics),
        "settings": {k: v for k, v in solution.settings.items() if _is_plain(v)},
        **({} if certificate.rule is None else {"rule": certificate.rule.to_dict()}),
    }


def unchecked_to_plain(lost: RowsLostError) -> dict[str, Any]:
    """Plain values of the best score of a search whose rows were lost: not finished.

    Parameters
    ----------
    lost : RowsLostError
        With coefficients.

    Returns
    -------
    dict
    """
    assert lost.coef is not None
    return {
        "coef": lost.coef.tolist(),
        "scale": 1.0 if lost.scale is None else lost.scale,
        "lower_bound": lost.lower_bound or 0.0,
        "finished": False,
        "optimal": False,
        "gap_tolerance": DEFAULT_GAP_TOLERANCE,
        # Nothing is known of it: what is read back is the most that an engine states.
        "bound_tolerance": sys.float_info.max,
        "engine": "",
        "message": lost.reason,
        "trace": [],
        "statistics": {},
        "settings": {},
    }


def check(problem: RiskScoreProblem, kept: Mapping[str, Any]) -> None:
    """Refuse values that are of another kind, or out of range.

    Parameters
    ----------
    problem, kept
        As of :func:`recalled`.

    Raises
    ------
    ValueError
        The first one is named.
    """
    _coef_of(problem, kept)
    for name, least in (("lower_bound", -np.inf), ("bound_tolerance", 0.0), ("scale", 0.0)):
        value = kept.get(name)
        if not is_number(value) or not least <= as_float(value) < np.inf:
            raise ValueError(f"{name} is {_shown(value)}, which it cannot be")
    for name in ("engine", "message"):
        if not isinstance(kept.get(name), str):
            raise ValueError(f"{name} must be text, got {_shown(kept.get(name))}")
    for name in ("finished", "optimal"):
        if not isinstance(kept.get(name), bool):
            raise ValueError(f"{name} must be true or false, got {_shown(kept.get(name))}")
    trace, statistics, settings = (kept.get(name) for name in ("trace", "statistics", "settings"))
    n_columns = len(TraceRecord._fields)
    if not isinstance(trace, list) or not all(
        isinstance(record, list) and len(record) == n_columns and all(map(_is_value, record))
        for record in trace
    ):
        raise ValueError(f"trace must be records of {n_columns} numbers")
    known = {field.name for field in dataclasses.fields(SolveStatistics)}
    if not isinstance(statistics, dict) or not (
        known.issuperset(statistics) and all(map(_is_value, statistics.values()))
    ):
        raise ValueError("statistics must be numbers with the names that they have")
    if not isinstance(settings, dict) or not all(map(_is_plain, settings.values())):
        raise ValueError("settings must be plain values")
    rule_of(kept)


def rule_of(kept: Mapping[str, Any]) -> RuleCertificate | None:
    """Read what is kept of a rule; None where the search was not for one.

    Parameters
    ----------
    kept : mapping

    Returns
    -------
    RuleCertificate or None

    Raises
    ------
    ValueError
        It is none.
    """
    if kept.get("rule") is None:
        return None
    try:
        rule = RuleCertificate.from_dict(kept["rule"])
        faults = rule.faults()
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"rule is {_shown(kept['rule'])}, which it cannot be") from error
    if faults:
        raise ValueError(f"rule: {faults[0]}")
    return rule


def recalled(
    problem: RiskScoreProblem, kept: Mapping[str, Any], arguments: Mapping[str, Any]
) -> Solution:
    """The result of an earlier search, its objective computed anew.

    Parameters
    ----------
    problem : RiskScoreProblem
    kept : mapping
        Of :func:`to_plain`, after whatever became of it in a file.
    arguments : mapping
        Of the search.

    Returns
    -------
    Solution

    Raises
    ------
    ValueError
        A value is none, or a claim is false; it is named.
    """
    check(problem, kept)
    coef = _coef_of(problem, kept)
    asked = arguments.get("gap_tolerance", DEFAULT_GAP_TOLERANCE)
    rule = rule_of(kept)
    if rule is not None:  # its intercept need not be one that the least loss can have
        problem = problem.reaching(int(coef[0]), int(coef[0]))
    try:
        certificate = certify(
            problem,
            coef,
            as_float(kept["lower_bound"]),
            gap_tolerance=max(asked, problem.scales.tolerance),
            bound_tolerance=_tolerance(problem, coef, kept["bound_tolerance"]),
            engine=kept["engine"],
            message=kept["message"],
            scale=kept["scale"],
        )
    except CertificateError as error:
        raise ValueError(str(error)) from error
    if rule is not None:
        certificate = _about_rule(certificate, problem, coef, rule, asked)
    return Solution(
        coef[1:],
        int(coef[0]),
        certificate,
        tuple(problem.loss.data.feature_names),
        Trace([TraceRecord(*record) for record in kept["trace"]]),
        SolveStatistics(**kept["statistics"]),
        kept["settings"],
        scale=kept["scale"],
    )


def _about_rule(
    certificate: Certificate,
    problem: RiskScoreProblem,
    coef: NDArray[np.int64],
    rule: RuleCertificate,
    gap_tolerance: float,
) -> Certificate:
    """A certificate with a rule, whose shares are counted anew on all rows."""
    counted = shares_at(problem.loss.data, coef, rule.threshold)
    for now, then in zip(
        dataclasses.astuple(counted), dataclasses.astuple(rule.shares), strict=True
    ):
        if not abs(now - then) <= TOLERANCE * max(now, then):
            raise ValueError(f"the rule calls the weight {now!r} right, not {then!r}")
    return _with_status(certificate, dataclasses.replace(rule, shares=counted), gap_tolerance)


def _with_status(
    certificate: Certificate, rule: RuleCertificate, gap_tolerance: float
) -> Certificate:
    """A certificate about a rule: optimal where none is better by more than the tolerance."""
    status = certificate.status
    if rule.gap <= max(gap_tolerance, TOLERANCE):
        status = Status.OPTIMAL
    elif status is Status.OPTIMAL:
        status = Status.FEASIBLE
    return dataclasses.replace(certificate, status=status, rule=rule)


def _with_bound_of_rule(solution: Solution, known: RuleCertificate | None) -> Solution:
    """A rule with what was proven of others before, where that is more.

    Raises
    ------
    CertificateError
        The rule is better than that allows.
    """
    certificate, own = solution.certificate, solution.certificate.rule
    if own is None or known is None or known.required != own.required or known.bound >= own.bound:
        return solution
    name = own.required.other
    right, whole = own.shares.right(name), own.shares.total(name)
    if known.bound < right - TOLERANCE * whole:
        raise CertificateError(
            f"no rule was to call more than {known.bound!r} right, but one calls {right!r} right"
        )
    better = dataclasses.replace(own, bound=max(known.bound, right))
    found = _with_status(certificate, better, certificate.gap_tolerance)
    return dataclasses.replace(solution, certificate=found)


def better_start(
    problem: RiskScoreProblem, kept: Mapping[str, Any], arguments: Mapping[str, Any]
) -> Any:
    """The kept score, unless that which was given is better.

    Parameters
    ----------
    problem, kept, arguments
        As of :func:`recalled`.

    Returns
    -------
    array-like of shape (d + 1,), or None

    Raises
    ------
    ValueError
        The kept coefficients are none.
    """
    given, found = arguments.get("start"), _coef_of(problem, kept)
    if not problem.is_feasible(found):
        return given
    if given is None or not problem.is_feasible(given):
        return found
    return found if problem.objective(found) < problem.objective(given) else given


def better_of(problem: RiskScoreProblem, solution: Solution, other: Solution) -> Solution:
    """The better score of two searches, with the better bound.

    Parameters
    ----------
    problem : RiskScoreProblem
    solution : Solution
        Of this run: the better one of equals, and what says whether it was interrupted.
    other : Solution

    Returns
    -------
    Solution

    Raises
    ------
    CertificateError
        The bound of one is above the objective of the other.
    """
    if solution.certificate.rule is not None:
        return _better_rule(solution, other)
    # A bound goes with its own tolerance, whichever search found the score.
    better, known = solution, other.certificate
    if other.certificate.objective < solution.certificate.objective:
        better = dataclasses.replace(other, is_interrupted=solution.is_interrupted)
        known = solution.certificate
    return with_bound(problem, better, known.lower_bound, known.bound_tolerance)


def _better_rule(solution: Solution, other: Solution) -> Solution:
    """The better rule of two searches; of equals that of the smaller objective."""

    def merit(one: Solution) -> tuple[float, float]:
        rule = one.certificate.rule
        assert rule is not None
        return rule.shares.right(rule.required.other), -one.certificate.objective

    better, worse = solution, other
    if merit(other) > merit(solution):
        better, worse = dataclasses.replace(other, is_interrupted=solution.is_interrupted), solution
    return _with_bound_of_rule(better, worse.certificate.rule)


def with_bound(
    problem: RiskScoreProblem,
    solution: Solution,
    bound: float,
    tolerance: float,
    rule: RuleCertificate | None = None,
) -> Solution:
    """Certify again where what was proven before is more.

    Parameters
    ----------
    problem : RiskScoreProblem
    solution : Solution
    bound : float
    tolerance : float
        To within which the bound is valid, as far as an engine can state it.
    rule : RuleCertificate, optional
        What was proven of rules: the bound of the objective is about those that were best then.

    Returns
    -------
    Solution

    Raises
    ------
    CertificateError
        The bound is above the objective.
    """
    certificate = solution.certificate
    if certificate.rule is not None:
        return _with_bound_of_rule(solution, rule)
    if solution.coefficients is None or not bound > certificate.lower_bound:
        return solution
    better = certify(
        problem,
        solution.coef,
        bound,
        gap_tolerance=certificate.gap_tolerance,
        bound_tolerance=max(
            certificate.bound_tolerance, _tolerance(problem, solution.coef, tolerance)
        ),
        engine=certificate.engine,
        message=f"{certificate.message}; lower bound from the checkpoint",
        interrupted=certificate.status is Status.INTERRUPTED,
        scale=solution.scale,
    )
    return dataclasses.replace(solution, certificate=better)


def _tolerance(problem: RiskScoreProblem, coef: NDArray[np.int64], stated: float) -> float:
    """The accuracy of a bound: what is stated, as far as an engine can state it."""
    data = problem.loss.data
    largest = np.maximum(np.abs(data.feature_min), np.abs(data.feature_max))
    ranges = (problem.upper[1:] - problem.lower[1:]).astype(np.float64)
    size = float(np.max(largest * ranges, initial=0.0)) / problem.scales.low
    most = MOST_TOLERANCE + MOST_ROW_ERROR * size
    if stated > most and problem.is_feasible(coef):  # it grows with the objective, too
        most *= max(1.0, problem.objective(coef))
    return min(stated, most)


def _coef_of(problem: RiskScoreProblem, kept: Mapping[str, Any]) -> NDArray[np.int64]:
    values, expected = kept.get("coef"), 1 + problem.n_features
    if not isinstance(values, list) or len(values) != expected:
        raise ValueError(f"coef must be a list of {expected} integers")
    return np.array([checked_points(value, "an entry of coef") for value in values], np.int64)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _is_value(value: Any) -> bool:
    return is_number(value) and not (is_int(value) and abs(value) >= 2**63)


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
