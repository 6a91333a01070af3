"""The re-check behind every certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riskslim.exceptions import CertificateError
from riskslim.solution import Certificate, Status, optimality_gap

if TYPE_CHECKING:
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["certify", "loss_accuracy"]

# Two ways of computing one loss in double precision may differ by this much, relatively.
RECHECK_TOLERANCE = 1e-11


def loss_accuracy(problem: RiskScoreProblem, coef: NDArray[np.int64], loss: float) -> float:
    r"""Bound how much two ways of computing one loss in double precision may differ.

    Points on features of 1e7 make scores of which the last digits are lost in their sums. The
    loss :math:`\log(1 + e^{-m})` of a margin changes by at most the smaller of one and of itself
    for each unit of m.

    Parameters
    ----------
    problem : RiskScoreProblem
    coef : ndarray of int64, shape (d + 1,)
    loss : float
        Loss of ``coef``.

    Returns
    -------
    float
    """
    data = problem.loss.data
    largest = np.maximum(np.abs(data.feature_min), np.abs(data.feature_max))
    sizes = np.abs(coef * np.concatenate(([1.0], largest)))
    terms = 1 + np.count_nonzero(coef[1:])
    score_error = float(np.finfo(np.float64).eps * terms * sizes.sum()) / problem.loss.scale
    return RECHECK_TOLERANCE * loss + score_error * min(1.0, loss)


def certify(
    problem: RiskScoreProblem,
    coef: NDArray[np.int64],
    lower_bound: float,
    *,
    gap_tolerance: float,
    bound_tolerance: float,
    engine: str,
    message: str,
    interrupted: bool = False,
    scale: float | None = None,
) -> Certificate:
    """Re-check a result from its coefficients alone and state what is proven.

    The objective is computed twice on every row of the data by independent code (lookup table or
    real-valued kernel, and plain accumulation in float64); a solver's word is not taken for it.
    On merged rows, which the search has read, it must be the same. Rows in scratch files may have
    become others there: what is proven of them is compared with the files that they are from.

    Parameters
    ----------
    problem : RiskScoreProblem
    coef : ndarray of int64, shape (d + 1,)
    lower_bound : float
        Bound on the optimal value, valid to within ``bound_tolerance``.
    gap_tolerance, bound_tolerance, engine, message
        As in :class:`Certificate`.
    interrupted : bool, default False
        The user stopped the run.
    scale : float, optional
        Scale of the score. None: the only one that the problem has.

    Returns
    -------
    Certificate
        OPTIMAL if the gap is within ``gap_tolerance``, else INTERRUPTED or FEASIBLE.

    Raises
    ------
    CertificateError
        The vector is infeasible, the two objectives differ, or the bound exceeds the
        objective: the result must not be used.
    """
    scales = problem.scales
    if scale is None:
        scale = problem.loss.scale
    if scale not in scales:
        raise CertificateError(f"{engine} returned the scale {scale!r}, not {scales.describe()}")
    if not scales.is_single:
        problem = problem.at_scale(scale)
    violations = problem.violations(coef)
    if violations:
        raise CertificateError(f"{engine} returned an infeasible vector: {'; '.join(violations)}")
    loss = problem.loss.value(coef, every_row=True)
    reference = problem.loss.reference_value(coef)
    accuracy = loss_accuracy(problem, coef, reference)
    for searched in (loss, problem.loss.value(coef)):
        if not abs(searched - reference) <= accuracy:
            raise CertificateError(
                f"loss {searched!r} of the returned vector differs from its recomputation "
                f"{reference!r}"
            )
    objective = loss + problem.penalty(coef)
    _compare_ridge(problem, coef)
    if not lower_bound <= objective + bound_tolerance:
        raise CertificateError(
            f"{engine} claims a lower bound of {lower_bound!r}, above the objective "
            f"{objective!r} of a feasible vector; the bound is not valid"
        )
    # Within the tolerance of the bound the two are equal.
    if lower_bound >= objective - bound_tolerance:
        lower_bound = objective
    gap = optimality_gap(objective, lower_bound)
    status = Status.INTERRUPTED if interrupted else Status.FEASIBLE
    if gap <= gap_tolerance:
        status = Status.OPTIMAL
        if not interrupted:
            _compare_with_files(problem, coef, reference, accuracy)
    return Certificate(
        status=status,
        objective=objective,
        loss=loss,
        model_size=problem.model_size(coef),
        lower_bound=lower_bound,
        gap_tolerance=gap_tolerance,
        bound_tolerance=bound_tolerance,
        engine=engine,
        n_samples=problem.loss.data.n_counted,
        message=message,
        scale=scale,
        scales=scales,
        ridge=problem.ridge(coef),
    )


def _compare_ridge(problem: RiskScoreProblem, coef: NDArray[np.int64]) -> None:
    """Refuse a ridge penalty that is not the one of the weights, added up in another way."""
    weights = coef[1:].astype(np.longdouble) / problem.loss.scale
    found, ridge = float(problem.l2_penalty @ weights**2), problem.ridge(coef)
    if not abs(found - ridge) <= RECHECK_TOLERANCE * found:
        raise CertificateError(
            f"ridge penalty {ridge!r} of the returned vector differs from its recomputation "
            f"{found!r}"
        )


def _compare_with_files(
    problem: RiskScoreProblem, coef: NDArray[np.int64], loss: float, accuracy: float
) -> None:
    """Refuse a loss on rows in scratch files that is not the one on the files they are from."""
    data = problem.loss.data
    if data.files is None or data.rows.is_block:  # what is in memory has not been on a disk
        return
    files = data.files.weighted(data.class_factors)
    found = files.mean_loss(coef.astype(np.float64), problem.loss.scale)
    if found is not None and not abs(found - loss) <= accuracy:
        raise CertificateError(
            f"loss {loss!r} of the returned vector on rows in scratch files differs from that on "
            f"the files that were read, {found!r}: the scratch files are damaged"
        )
