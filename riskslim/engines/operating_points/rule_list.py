"""Lists of rules: the best one of each set of items, counted again on all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from riskslim.engines.operating_points.shares import best_threshold, shares_at
from riskslim.engines.operating_points.ties import Fit, fitted, least_objective
from riskslim.exceptions import CertificateError
from riskslim.operating_point import TOLERANCE, RuleCertificate
from riskslim.solution import RulePool

if TYPE_CHECKING:
    from riskslim.engines.operating_points.rule_search import RuleSearch
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["fits_of_list", "rule_pool"]


def fits_of_list(search: RuleSearch, best: Fit) -> list[Fit]:
    """The rules of a list with their intercepts, each of the least objective that is met.

    Parameters
    ----------
    search : RuleSearch
        With a list, at its end.
    best : Fit
        The best rule, of which ties were looked for.

    Returns
    -------
    list of Fit
        The best one first. Sets whose rule could not be fitted before a stop are left out, and
        unsettled from then on.
    """
    rules, measure, listed = search.rules, search.measure, search.listed
    assert listed is not None
    own = np.flatnonzero(best.coef[1:]).tobytes()
    found = [
        one
        for one in listed.chosen(search.best.wrong, measure)
        if one.features.astype(np.intp).tobytes() != own
    ]
    fits = [fitted(rules, one) for one in found]
    for k, one in enumerate(found):
        if fits[k] is None:
            listed.unsettled = min(listed.unsettled, float(one.wrong[0]))
            continue
        equal = measure.as_good_as(float(one.wrong[0]))
        fits[k] = least_objective(rules, [one.features], equal, fits[k]).best
    room = len(fits) if listed.n_rules is None else listed.n_rules - 1
    return [best, *[fit for fit in fits if fit is not None][:room]]


def rule_pool(
    problem: RiskScoreProblem,
    certificate: RuleCertificate,
    fits: list[Fit],
    search: RuleSearch | None,
) -> RulePool:
    """The list of rules, whose shares and objectives are counted again on all rows.

    Parameters
    ----------
    problem : RiskScoreProblem
    certificate : RuleCertificate
        Of the best one.
    fits : list of Fit
        Of :func:`fits_of_list`.
    search : RuleSearch or None
        None: sets of items were not looked at one by one.

    Returns
    -------
    RulePool

    Raises
    ------
    CertificateError
        A rule does not reach the required share, or is better than the proven best one.
    """
    required, data = certificate.required, problem.loss.data
    rows = []
    for fit in fits:
        threshold = best_threshold(data.rows, fit.coef, required).threshold
        shares = shares_at(data, fit.coef, threshold)
        right = shares.right(required.other)
        if not required.is_met_by(shares) or right > certificate.bound * (1.0 + TOLERANCE):
            raise CertificateError(
                f"a listed rule has {shares.describe()} That contradicts the certificate: "
                f"{certificate.proven()}"
            )
        own = problem.reaching(int(fit.coef[0]), int(fit.coef[0]))
        scale = own.reported_scale(fit.coef)
        objective = own.at_scale(scale).objective(fit.coef)
        rows.append((-right, objective, fit.coef, scale, threshold, shares))
    # The first one is the solution's, whatever is as good.
    rows[1:] = sorted(rows[1:], key=lambda row: row[:2])
    complete, bound = _what_is_left(certificate, search, problem)
    return RulePool(
        np.array([row[2] for row in rows]), np.array([row[1] for row in rows]),
        problem.coefficients.feature_names, complete, bound,
        np.array([row[3] for row in rows]), distinct="items", required=required,
        thresholds=np.array([row[4] for row in rows]), shares=tuple(row[5] for row in rows),
    )  # fmt: skip


def _what_is_left(
    certificate: RuleCertificate, search: RuleSearch | None, problem: RiskScoreProblem
) -> tuple[bool, float]:
    """Say whether a list is complete, and the most that rules of other sets call right."""
    if search is None:
        return False, certificate.bound
    required, shares = certificate.required, certificate.shares
    factor = problem.loss.data.class_factors[int(required.other == "sensitivity")]
    worse = search.measure.weight(search.unlisted - search.best.wrong) / factor
    bound = shares.right(required.other) - worse
    return search.is_list_complete, min(max(bound, 0.0), certificate.bound)
