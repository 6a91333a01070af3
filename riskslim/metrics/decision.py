"""Decision curves: the net benefit of acting on a risk."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim.metrics.rows import checked_rows, checked_values, records_of

__all__ = ["DecisionCurve", "decision_curve"]


# ---------------------------------------------------------------------------------------------
# Decisions
# ---------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, eq=False)
class DecisionCurve:
    """Net benefit of deciding by the risk, and of deciding the same for all.

    Parameters
    ----------
    thresholds : ndarray of float64, shape (m,)
        Risks from which on one acts.
    net_benefit : ndarray of float64, shape (m,)
        Of acting where the risk is at least the threshold.
    treat_all : ndarray of float64, shape (m,)
        Of acting on every row. That of acting on none is 0.

    Examples
    --------
    >>> from riskslim.metrics import decision_curve
    >>> curve = decision_curve([0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9], thresholds=[0.2, 0.5])
    >>> curve.net_benefit, curve.treat_all
    (array([0.4375, 0.5   ]), array([0.375, 0.   ]))
    """

    thresholds: NDArray[np.float64]
    net_benefit: NDArray[np.float64]
    treat_all: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.thresholds)

    def records(self) -> list[dict[str, Any]]:
        """List one mapping for each threshold: a table for any data frame library.

        Returns
        -------
        list of dict
        """
        return records_of(self)


def decision_curve(
    y_true: ArrayLike,
    risk: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    thresholds: ArrayLike | None = None,
    pos_label: Any = None,
) -> DecisionCurve:
    r"""Compute the net benefit of acting on risks of at least a threshold t.

    .. math::

        \text{NB}(t) = \frac{\text{TP}_t}{n} - \frac{\text{FP}_t}{n} \, \frac{t}{1 - t}

    Who acts from a risk of t on takes one false alarm to weigh t / (1 - t) of a case that is found.

    Parameters
    ----------
    y_true, risk, sample_weight, pos_label
        As in :func:`calibration_error`.
    thresholds : array-like of shape (m,), optional
        Between 0 and 1, 1 excluded. Default: 0.01, 0.02, ..., 0.99.

    Returns
    -------
    DecisionCurve

    Raises
    ------
    ValueError
        As in :func:`calibration_error`; thresholds out of range.

    References
    ----------
    Vickers & Elkin (2006), Decision curve analysis: a novel method for evaluating prediction
    models. Medical Decision Making 26(6).

    Examples
    --------
    >>> from riskslim.metrics import decision_curve
    >>> curve = decision_curve([1, 0, 0, 1], [0.8, 0.8, 0.2, 0.2], thresholds=[0.1, 0.5])
    >>> curve.net_benefit.round(4), curve.treat_all.round(4)
    (array([0.4444, 0.    ]), array([0.4444, 0.    ]))
    """
    positive, p, weight = checked_rows(y_true, risk, sample_weight, pos_label, "risk")
    if thresholds is None:
        thresholds = np.arange(1, 100) / 100
    t = checked_values(thresholds, "thresholds", None)
    if not len(t):
        raise ValueError("thresholds must hold at least one number, got none")
    if not ((t >= 0) & (t < 1)).all():
        raise ValueError(f"thresholds must be at least 0 and below 1, got {t.min()} to {t.max()}")
    total = weight.sum()
    tp, fp = (_weight_from(p[rows], weight[rows], t) / total for rows in (positive, ~positive))
    odds = t / (1 - t)
    share = weight[positive].sum() / total
    return DecisionCurve(t, tp - fp * odds, share - (1 - share) * odds)


def _weight_from(
    values: NDArray[np.float64], weight: NDArray[np.float64], thresholds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weight of the values that are at least each threshold."""
    order = np.argsort(values, kind="stable")
    below = np.concatenate(([0.0], np.cumsum(weight[order])))
    return np.asarray(below[-1] - below[np.searchsorted(values[order], thresholds, side="left")])
