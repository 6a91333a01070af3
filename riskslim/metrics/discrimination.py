"""Discrimination, how well scores tell the classes apart: AUC, losses, operating points."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._wording import aligned, percent
from riskslim.metrics.calibration import wilson_interval
from riskslim.metrics.rows import (
    MOST_DISTINCT_SCORES,
    check_both_classes,
    checked_level,
    checked_rows,
    records_of,
)

__all__ = [
    "OperatingPoint",
    "OperatingPoints",
    "auc",
    "log_loss",
    "logistic_loss",
    "operating_points",
]

# Risks below it, and above 1 minus it, are printed as bounds, as on the sheet.
EXTREME = 0.001

# The rows that a rate is a share of.
RateName = Literal["sensitivity", "specificity", "ppv", "npv"]
_RATES: dict[str, tuple[str, str]] = {
    "sensitivity": ("true_positives", "false_negatives"),
    "specificity": ("true_negatives", "false_positives"),
    "ppv": ("true_positives", "false_positives"),
    "npv": ("true_negatives", "false_negatives"),
}

# Rates within it are taken to be the same.
_RATE_TOLERANCE = 1e-12
_OTHER_RATE = {"sensitivity": "specificity", "specificity": "sensitivity"}


# ---------------------------------------------------------------------------------------------
# Discrimination and loss
# ---------------------------------------------------------------------------------------------


def auc(
    y_true: ArrayLike,
    scores: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    pos_label: Any = None,
) -> float:
    """Compute the area under the ROC curve by :func:`sklearn.metrics.roc_auc_score`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    scores : array-like of shape (n,)
        Scores, log-odds or risks: only their order counts.
    sample_weight : array-like of shape (n,), optional
    pos_label : optional
        As in :func:`calibration_error`.

    Returns
    -------
    float
        Probability that a positive row has a larger score than a negative one, ties counted half.

    Raises
    ------
    ValueError
        Only one class has rows with weight; shapes or values as in :func:`calibration_error`.

    Examples
    --------
    >>> from riskslim.metrics import auc
    >>> auc([0, 1, 0, 1], [-1, 2, 0, 0])
    0.875
    """
    from sklearn.metrics import roc_auc_score

    positive, s, weight = checked_rows(y_true, scores, sample_weight, pos_label, "scores")
    check_both_classes(positive, weight, "ROC AUC score")
    return float(roc_auc_score(positive, s, sample_weight=weight))


def log_loss(
    y_true: ArrayLike,
    risk: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    pos_label: Any = None,
) -> float:
    """Compute the logistic loss of predicted risks by :func:`sklearn.metrics.log_loss`.

    Parameters
    ----------
    y_true, risk, sample_weight, pos_label
        As in :func:`calibration_error`. Risks closer to 0 or 1 than float64 can tell are moved
        away from them by scikit-learn; :func:`logistic_loss` needs no such step.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        As in :func:`calibration_error`.

    Examples
    --------
    >>> from riskslim.metrics import log_loss
    >>> round(log_loss([1, 0], [0.9, 0.2]), 6)
    0.164252
    """
    from sklearn.metrics import log_loss as loss_of_risks

    positive, p, weight = checked_rows(y_true, risk, sample_weight, pos_label, "risk")
    return float(loss_of_risks(positive, p, sample_weight=weight, labels=[False, True]))


def logistic_loss(
    y_true: ArrayLike,
    log_odds: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    pos_label: Any = None,
) -> float:
    r"""Compute :math:`\sum_i w_i \log(1 + e^{-y_i z_i}) / \sum_i w_i` with the log-odds z.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    log_odds : array-like of shape (n,)
        For example ``risk_score.log_odds(X)``; with the scale 1 these are scores, the
        intercept included.
    sample_weight : array-like of shape (n,), optional
    pos_label : optional
        As in :func:`calibration_error`.

    Returns
    -------
    float
        The loss of the risk score problem, whatever the size of the log-odds.

    Raises
    ------
    ValueError
        As in :func:`calibration_error`.

    Examples
    --------
    >>> from riskslim.metrics import logistic_loss
    >>> round(logistic_loss([1, 0], [3, -800]), 6)
    0.024294
    """
    positive, z, weight = checked_rows(y_true, log_odds, sample_weight, pos_label, "log_odds")
    return float(np.average(np.logaddexp(0.0, np.where(positive, -z, z)), weights=weight))


@dataclasses.dataclass(frozen=True)
class OperatingPoint:
    """Predictions at one threshold: rows whose score is at least it are called positive.

    Parameters
    ----------
    threshold : float
        Infinity if no row is called positive.
    risk : float or None
        Predicted risk of a row with this score; None if the risks of the scores are not known.
    sensitivity, specificity, fpr, ppv, npv : float
        As in :class:`OperatingPoints`.
    true_positives, false_positives, true_negatives, false_negatives : int or float
        Rows, or their weights if there are weights.
    note : str
        Where no negative row is called negative, although a sensitivity was asked for: that this is
        so, and the operating points on either side. Empty otherwise.

    Notes
    -----
    ``str`` of it is a sentence, with the note after it.

    Examples
    --------
    >>> from riskslim.metrics import operating_points
    >>> point = operating_points([0, 0, 1, 1], [0, 1, 1, 2]).at(threshold=1)
    >>> point.sensitivity, point.specificity
    (1.0, 0.5)
    >>> print(point)
    Positive from a score of 1: sensitivity 100.0%, specificity 50.0%, PPV 66.7%, NPV 100.0%;
    2 true and 1 false positives, 1 true and 0 false negatives
    """

    threshold: float
    risk: float | None
    sensitivity: float
    specificity: float
    fpr: float
    ppv: float
    npv: float
    true_positives: float
    false_positives: float
    true_negatives: float
    false_negatives: float
    note: str = ""

    def __str__(self) -> str:
        text = self._in_words()
        return f"{text}. {self.note}" if self.note else text

    def _in_words(self) -> str:
        called = "No row positive"
        if self.threshold < np.inf:
            called = f"Positive from a score of {self.threshold:.6g}"
            if self.risk is not None:
                called += f" (risk {percent(self.risk, EXTREME)})"
        return (
            f"{called}: sensitivity {_share_text(self.sensitivity)}, "
            f"specificity {_share_text(self.specificity)}, PPV {_share_text(self.ppv)}, "
            f"NPV {_share_text(self.npv)}; {self.true_positives:.10g} true and "
            f"{self.false_positives:.10g} false positives, {self.true_negatives:.10g} true and "
            f"{self.false_negatives:.10g} false negatives"
        )


@dataclasses.dataclass(frozen=True, eq=False)
class OperatingPoints:
    """Predictions at each threshold: rows whose score is at least the threshold are positive.

    Parameters
    ----------
    thresholds : ndarray of float64, shape (m + 1,)
        Infinity, at which no row is positive, and the m distinct scores, decreasing.
    sensitivity : ndarray of float64, shape (m + 1,)
        Share of the positive rows that are called positive, the true positive rate.
    specificity : ndarray of float64, shape (m + 1,)
        Share of the negative rows that are called negative.
    fpr : ndarray of float64, shape (m + 1,)
        False positive rate, 1 - specificity.
    ppv, npv : ndarray of float64, shape (m + 1,)
        Share of positive rows among those called positive, and of negative rows among those
        called negative. NaN where there is none.
    true_positives, false_positives, true_negatives, false_negatives : ndarray, shape (m + 1,)
        Numbers of rows, as int64, or their weights, as float64.
    auc : float
        Area under the curve that joins the points.
    risk : ndarray of float64, shape (m + 1,), optional
        Predicted risk of a row whose score is the threshold, NaN for infinity. None if it is not
        known, as for scores without a :class:`~riskslim.RiskScore`.

    Notes
    -----
    ``str`` of it is a table, without the threshold at which no row is positive.

    Examples
    --------
    >>> from riskslim.metrics import operating_points
    >>> points = operating_points([0, 0, 1, 1], [0, 1, 1, 2])
    >>> points.thresholds, points.sensitivity, points.auc
    (array([inf,  2.,  1.,  0.]), array([0. , 0.5, 1. , 1. ]), 0.875)
    >>> print(points)
    Score  Sensitivity  Specificity     PPV     NPV  TP  FP  TN  FN
     >= 2        50.0%       100.0%  100.0%   66.7%   1   0   2   1
     >= 1       100.0%        50.0%   66.7%  100.0%   2   1   1   0
     >= 0       100.0%         0.0%   50.0%       -   2   2   0   0
    """

    thresholds: NDArray[np.float64]
    sensitivity: NDArray[np.float64]
    specificity: NDArray[np.float64]
    fpr: NDArray[np.float64]
    ppv: NDArray[np.float64]
    npv: NDArray[np.float64]
    true_positives: NDArray[Any]
    false_positives: NDArray[Any]
    true_negatives: NDArray[Any]
    false_negatives: NDArray[Any]
    auc: float
    risk: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.thresholds)

    def __str__(self) -> str:
        counts = ("true_positives", "false_positives", "true_negatives", "false_negatives")
        heads = [
            "Score",
            "Risk",
            "Sensitivity",
            "Specificity",
            "PPV",
            "NPV",
            "TP",
            "FP",
            "TN",
            "FN",
        ]
        if self.risk is None:
            heads.remove("Risk")
        chosen = self.selection(MOST_DISTINCT_SCORES)
        lines = [heads]
        for k in chosen.tolist():
            cells = [f">= {self.thresholds[k]:.6g}"]
            if self.risk is not None:
                cells.append(percent(float(self.risk[k]), EXTREME))
            rates = (self.sensitivity, self.specificity, self.ppv, self.npv)
            cells += [_share_text(float(rate[k])) for rate in rates]
            cells += [f"{getattr(self, name)[k]:.10g}" for name in counts]
            lines.append(cells)
        text = aligned(lines)
        if len(chosen) < len(self) - 1:
            text += f"\n{len(self) - 1} scores occur; the table has {len(chosen)} of them."
        return text

    def intervals(
        self, rate: RateName, level: float = 0.95
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Wilson's intervals of a rate at every threshold.

        Parameters
        ----------
        rate : {"sensitivity", "specificity", "ppv", "npv"}
        level : float, default 0.95

        Returns
        -------
        lower, upper : ndarray of float64, shape (m + 1,)
            NaN where no row is in question. Weights count as numbers of rows.

        Raises
        ------
        ValueError
            There is no such rate; a level that is not between 0 and 1.

        Examples
        --------
        >>> from riskslim.metrics import operating_points
        >>> points = operating_points([0, 0, 1, 0, 1, 1], [0, 0, 0, 2, 2, 3])
        >>> lower, upper = points.intervals("sensitivity")
        >>> points.sensitivity[2].round(3), lower[2].round(3), upper[2].round(3)
        (np.float64(0.667), np.float64(0.208), np.float64(0.939))
        """
        if rate not in _RATES:
            raise ValueError(f"rate must be one of {', '.join(map(repr, _RATES))}, got {rate!r}")
        right, wrong = (getattr(self, name).astype(np.float64) for name in _RATES[rate])
        n = right + wrong
        lower, upper = np.full((2, len(self)), np.nan)
        some = n > 0
        found = wilson_interval(getattr(self, rate)[some], n[some], checked_level(level))
        lower[some], upper[some] = found
        return lower, upper

    def selection(self, most: int) -> NDArray[np.intp]:
        """Choose the thresholds that a table can show.

        Parameters
        ----------
        most : int
            How many, at most.

        Returns
        -------
        ndarray of intp
            All but infinity; of more than ``most`` those at equal steps of the share of rows that
            are called positive.
        """
        finite = np.arange(1, len(self))
        if len(finite) <= most:
            return finite
        called = (self.true_positives + self.false_positives)[1:]
        nearest = np.searchsorted(called, np.linspace(called[0], called[-1], most))
        return np.asarray(finite[np.unique(nearest.clip(max=len(finite) - 1))])

    def at(
        self,
        *,
        sensitivity: float | None = None,
        specificity: float | None = None,
        threshold: float | None = None,
    ) -> OperatingPoint:
        """Choose an operating point by what is asked of it; exactly one thing is given.

        Parameters
        ----------
        sensitivity : float, optional
            The point with the largest specificity of those with at least this sensitivity. Where
            that leaves out no negative row, its ``note`` says so.
        specificity : float, optional
            The point with the largest sensitivity of those with at least this specificity.
        threshold : float, optional
            Calling rows positive from this score on, which need not occur.

        Returns
        -------
        OperatingPoint
            Of points with the same rates the one with more of what was asked for.

        Raises
        ------
        TypeError
            None of them is given, or more than one.
        ValueError
            A rate that is not between 0 and 1, or a specificity that no score reaches; a
            threshold that is NaN.

        Examples
        --------
        >>> from riskslim.metrics import operating_points
        >>> points = operating_points([0, 0, 1, 0, 1, 1], [0, 0, 0, 2, 2, 3])
        >>> print(points.at(sensitivity=0.6))  # doctest: +NORMALIZE_WHITESPACE
        Positive from a score of 2: sensitivity 66.7%, specificity 66.7%, PPV 66.7%, NPV 66.7%;
        2 true and 1 false positives, 2 true and 1 false negatives
        >>> points.at(specificity=0.9).threshold, points.at(threshold=1).threshold
        (3.0, 2.0)
        >>> print(points.at(sensitivity=0.9))  # doctest: +NORMALIZE_WHITESPACE
        Positive from a score of 0: sensitivity 100.0%, specificity 0.0%, PPV 50.0%, NPV -;
        3 true and 3 false positives, 0 true and 0 false negatives. All rows are positive: no
        threshold with a sensitivity of at least 90.0% leaves out any negative row. Next to it: a
        sensitivity of 66.7% with a specificity of 66.7% from a score of 2.
        """
        asked = {"sensitivity": sensitivity, "specificity": specificity, "threshold": threshold}
        given = {name: value for name, value in asked.items() if value is not None}
        if len(given) != 1:
            raise TypeError(
                "at() takes exactly one of sensitivity, specificity and threshold, got "
                f"{' and '.join(given) or 'none of them'}"
            )
        if threshold is not None:
            return self._point(self._first_from(threshold))
        ((name, rate),) = given.items()
        k = self._best_with(name, rate)
        point = self._point(k)
        if name == "specificity" or self.true_negatives[k] > 0:
            return point
        return dataclasses.replace(point, note=self._without_use(k, rate))

    def _without_use(self, k: int, rate: float) -> str:
        """Say that a sensitivity is had by leaving out nobody, and what there is beside it."""
        is_all = self.false_negatives[k] == 0
        whom = "All rows are positive" if is_all else "All negative rows are called positive"
        beside = [j for j in (k - 1, k + 1) if 0 < j < len(self)]
        text = (
            f"{whom}: no threshold with a sensitivity of at least {_share_text(rate)} leaves out "
            "any negative row"
        )
        if not beside:
            return f"{text}."
        listed = " and ".join(
            f"{_share_text(float(self.sensitivity[j]))} with a specificity of "
            f"{_share_text(float(self.specificity[j]))} from a score of {self.thresholds[j]:.6g}"
            for j in beside
        )
        return f"{text}. Next to it: a sensitivity of {listed}."

    def _first_from(self, threshold: float) -> int:
        """The point with the same rows as a threshold: that of the smallest score from it on."""
        if not threshold == threshold:
            raise ValueError("threshold must be a number, got NaN")
        return int(np.count_nonzero(self.thresholds[1:] >= threshold))

    def _best_with(self, name: str, rate: float) -> int:
        if not 0 <= rate <= 1:
            raise ValueError(f"{name} must be between 0 and 1, got {rate!r}")
        wanted = getattr(self, name)
        other = self.specificity if name == "sensitivity" else self.sensitivity
        # Sums of weights are rounded.
        enough = wanted >= rate - _RATE_TOLERANCE
        enough[0] = False  # no threshold at all
        if not enough.any():
            raise ValueError(
                f"no score has a {name} of {rate:.6g}: the largest is {wanted[1:].max():.6g}, from "
                f"a score of {self.thresholds[1]:.6g} on, with a {_OTHER_RATE[name]} of "
                f"{other[1]:.6g}"
            )
        found = np.flatnonzero(enough)
        return int(found[np.lexsort((wanted[found], other[found]))[-1]])

    def _point(self, k: int) -> OperatingPoint:
        values = {
            field.name: getattr(self, field.name)[k].item()
            for field in dataclasses.fields(OperatingPoint)
            if field.name not in ("threshold", "risk", "note")
        }
        risk = None if self.risk is None else float(self.risk[k])
        return OperatingPoint(threshold=float(self.thresholds[k]), risk=risk, **values)

    def records(self) -> list[dict[str, Any]]:
        """List one mapping for each threshold: a table for any data frame library.

        Returns
        -------
        list of dict
        """
        return records_of(self)


def operating_points(
    y_true: ArrayLike,
    scores: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    pos_label: Any = None,
) -> OperatingPoints:
    """List sensitivity, specificity and predictive values of every threshold on the score.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    scores : array-like of shape (n,)
        Larger ones for rows that are more likely positive: scores, log-odds or risks.
    sample_weight : array-like of shape (n,), optional
    pos_label : optional
        As in :func:`calibration_error`.

    Returns
    -------
    OperatingPoints
        One entry for each distinct score, of rows with weight: the points of
        :func:`sklearn.metrics.roc_curve`.

    Raises
    ------
    ValueError
        As in :func:`auc`.

    Examples
    --------
    >>> from riskslim.metrics import operating_points
    >>> points = operating_points([0, 0, 1, 0, 1, 1], [0, 0, 0, 2, 2, 3])
    >>> points.thresholds, points.sensitivity.round(2), points.specificity.round(2)
    (array([inf,  3.,  2.,  0.]), array([0.  , 0.33, 0.67, 1.  ]), array([1.  , 1.  , 0.67, 0.  ]))
    >>> points.ppv.round(2), points.npv.round(2)
    (array([ nan, 1.  , 0.67, 0.5 ]), array([0.5 , 0.6 , 0.67,  nan]))
    """
    from sklearn.metrics import auc as area

    positive, s, weight = checked_rows(y_true, scores, sample_weight, pos_label, "scores")
    check_both_classes(positive, weight, "The ROC curve")
    rows = weight > 0
    distinct, group = np.unique(-s[rows], return_inverse=True)
    (tp, fn), (fp, tn) = (
        _from_both_ends(group, weight[rows] * of_class)
        for of_class in (positive[rows], ~positive[rows])
    )
    sensitivity, fpr = tp / tp[-1], fp / fp[-1]
    count = np.int64 if sample_weight is None else np.float64
    return OperatingPoints(
        thresholds=np.concatenate(([np.inf], -distinct)),
        sensitivity=sensitivity,
        specificity=tn / tn[0],
        fpr=fpr,
        ppv=_share(tp, fp),
        npv=_share(tn, fn),
        true_positives=tp.astype(count),
        false_positives=fp.astype(count),
        true_negatives=tn.astype(count),
        false_negatives=fn.astype(count),
        auc=float(area(fpr, sensitivity)),
    )


def _from_both_ends(
    group: NDArray[np.intp], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weight before and after each threshold; one as total less the other would lose digits."""
    of_score = np.bincount(group, weight)
    before = np.concatenate(([0.0], np.cumsum(of_score)))
    after = np.concatenate((np.cumsum(of_score[::-1])[::-1], [0.0]))
    return before, after


def _share_text(share: float) -> str:
    return "-" if np.isnan(share) else f"{share:.1%}"


def _share(right: NDArray[np.float64], wrong: NDArray[np.float64]) -> NDArray[np.float64]:
    total = right + wrong
    shares = np.full(len(total), np.nan)
    np.divide(right, total, out=shares, where=total > 0)
    return shares
