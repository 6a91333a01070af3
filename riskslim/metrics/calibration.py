r"""How good a risk score is: calibration, discrimination, and what is decided with it.

Rows i = 1, ..., n have a label :math:`y_i`, a score :math:`s_i`, a predicted risk :math:`p_i` and
a weight :math:`w_i`, 1 unless given. All rows with the score s share a predicted risk
:math:`p_s`; the observed risk is the share of positive rows among them,

.. math::

    \bar{p}_s = \frac{\sum_{i: s_i = s} w_i \mathbb{1}[y_i = +1]}{\sum_{i: s_i = s} w_i}.

Calibration is what these two say of each other (:func:`calibration_error`,
:func:`maximum_calibration_error`, :func:`reliability_curve`, :func:`calibration_consistency`),
discrimination how well scores order the rows (:func:`auc`, :func:`operating_points`), and net
benefit (:func:`decision_curve`) what a decision by the risk is worth. See Ustun & Rudin (2019),
section 5.1. Whether rows are still of the kind that the score was learned on needs no labels
(:func:`population_stability_index`).
"""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim.data import check_size_of_weights
from riskslim.risk_table import percent
from riskslim.tables import listing, missing_among

__all__ = [
    "ConsistencyRange",
    "DecisionCurve",
    "Interval",
    "OperatingPoint",
    "OperatingPoints",
    "ReliabilityCurve",
    "auc",
    "bootstrap_interval",
    "bootstrap_intervals",
    "calibration_consistency",
    "calibration_error",
    "decision_curve",
    "log_loss",
    "logistic_loss",
    "maximum_calibration_error",
    "operating_points",
    "population_stability_index",
    "reliability_curve",
]

# The paper's rule for diagrams: with more distinct scores than this, scores are put into bins.
MOST_DISTINCT_SCORES = 30
N_BINS = 10

# Risks below it, and above 1 minus it, are printed as bounds, as on the sheet.
_EXTREME = 0.001
# Rates within it are taken to be the same.
_RATE_TOLERANCE = 1e-12
# Simulated outcomes that are held at once.
_MOST_DRAWS = 2**20

IntervalKind = Literal["wilson", "exact"]
BootstrapMethod = Literal["percentile", "basic"]


# ---------------------------------------------------------------------------------------------
# Calibration
# ---------------------------------------------------------------------------------------------


def calibration_error(
    y_true: ArrayLike,
    risk: ArrayLike,
    sample_weight: ArrayLike | None = None,
    scores: ArrayLike | None = None,
    *,
    bins: int | Literal["auto"] | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the expected calibration error CAL at distinct scores.

    .. math::

        \text{CAL} = \frac{1}{\sum_i w_i} \sum_s \sum_{i: s_i = s} w_i |p_i - \bar{p}_s|

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels of two classes.
    risk : array-like of shape (n,)
        Predicted probability of the positive class.
    sample_weight : array-like of shape (n,), optional
        Non-negative.
    scores : array-like of shape (n,), optional
        The scores whose rows are taken together. Default: the risks, which are as distinct.
    bins : int or "auto", optional
        None: each distinct score by itself, which is the paper's CAL. A number: that many bins of
        about equally many rows, with the mean risk of each bin in the place of :math:`p_i`.
        "auto": 10 bins if there are more than 30 distinct scores.
    pos_label : optional
        Label of the positive class. Default: 1 where the labels are 0/1 or -1/+1, else the
        larger one in sorted order.

    Returns
    -------
    float
        Between 0 and 1; the paper prints it in percent.

    Raises
    ------
    ValueError
        Shapes that differ, values that are missing or infinite, risks outside of 0..1, negative
        weights or none above zero, labels of more than two classes.

    Notes
    -----
    Where the scores are real numbers and nearly all distinct, each observed risk is 0 or 1 and
    the CAL at distinct scores says little: compare such models by ``bins=10``. A constant
    prediction of the share of positive rows has the CAL 0, so that CAL alone is no measure of
    quality.

    Observed risks scatter, so that risks which are all true have a CAL above 0 as well, and the
    larger one the fewer rows there are: :func:`calibration_consistency` says how large.

    References
    ----------
    Ustun & Rudin (2019), section 5.1.

    Examples
    --------
    Three of four rows with a risk of 0.5 are positive, and none of the four with 0.25:

    >>> from riskslim import calibration_error
    >>> y = [1, 1, 1, 0, 0, 0, 0, 0]
    >>> risk = [0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25]
    >>> calibration_error(y, risk)
    0.25
    """
    curve = reliability_curve(y_true, risk, sample_weight, scores, bins=bins, pos_label=pos_label)
    return curve.calibration_error


def maximum_calibration_error(
    y_true: ArrayLike,
    risk: ArrayLike,
    sample_weight: ArrayLike | None = None,
    scores: ArrayLike | None = None,
    *,
    bins: int | Literal["auto"] | None = None,
    pos_label: Any = None,
) -> float:
    r"""Compute the maximum calibration error MCAL, :math:`\max_s |p_s - \bar{p}_s|`.

    Parameters
    ----------
    y_true, risk, sample_weight, scores, bins, pos_label
        As in :func:`calibration_error`. Scores whose rows all have the weight 0 do not count.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        As in :func:`calibration_error`.

    Examples
    --------
    >>> from riskslim.metrics import maximum_calibration_error
    >>> maximum_calibration_error([1, 0, 0, 0], [0.75, 0.75, 0.125, 0.125])
    0.25
    """
    curve = reliability_curve(y_true, risk, sample_weight, scores, bins=bins, pos_label=pos_label)
    return curve.maximum_calibration_error


@dataclasses.dataclass(frozen=True, eq=False)
class ReliabilityCurve:
    """Predicted and observed risk of each distinct score, or of each bin of scores.

    Parameters
    ----------
    scores : ndarray of float64, shape (m,)
        The score, or the mean score of a bin; increasing.
    lowest, highest : ndarray of float64, shape (m,)
        Scores at the ends of each bin; the score itself where there are no bins.
    counts : ndarray of int64, shape (m,)
        Rows.
    weights : ndarray of float64, shape (m,)
        Their weights together, positive.
    predicted, observed : ndarray of float64, shape (m,)
        Mean predicted risk and share of positive rows, weighted.
    lower, upper : ndarray of float64, shape (m,)
        Ends of the confidence interval of the observed risk.
    level : float
        Of the intervals, for example 0.95.
    is_binned : bool
        Whether scores were put into bins.
    """

    scores: NDArray[np.float64]
    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]
    counts: NDArray[np.int64]
    weights: NDArray[np.float64]
    predicted: NDArray[np.float64]
    observed: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    level: float
    is_binned: bool

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def calibration_error(self) -> float:
        """Weighted mean of the distance of predicted and observed risk."""
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.weights))

    @property
    def maximum_calibration_error(self) -> float:
        """Largest distance of predicted and observed risk."""
        return float(np.abs(self.predicted - self.observed).max())

    def records(self) -> list[dict[str, Any]]:
        """List one mapping for each score: a table for any data frame library.

        Returns
        -------
        list of dict
        """
        return _records(self)


def reliability_curve(
    y_true: ArrayLike,
    risk: ArrayLike,
    sample_weight: ArrayLike | None = None,
    scores: ArrayLike | None = None,
    *,
    bins: int | Literal["auto"] | None = "auto",
    interval: IntervalKind = "wilson",
    level: float = 0.95,
    pos_label: Any = None,
) -> ReliabilityCurve:
    r"""Compare predicted and observed risk at each distinct score.

    Parameters
    ----------
    y_true, risk, sample_weight, scores, pos_label
        As in :func:`calibration_error`.
    bins : int or "auto" or None, default "auto"
        As in :func:`calibration_error`. "auto" is the paper's rule for diagrams.
    interval : {"wilson", "exact"}, default "wilson"
        Wilson's score interval, or that of Clopper and Pearson, which is never too short.
    level : float, default 0.95
        Confidence level of each interval.

    Returns
    -------
    ReliabilityCurve
        Scores whose rows all have the weight 0 are left out.

    Raises
    ------
    ValueError
        As in :func:`calibration_error`; unknown kinds of intervals, levels not between 0 and 1.

    Notes
    -----
    With weights an interval is that of :math:`(\sum w_i)^2 / \sum w_i^2` rows, the effective number
    of rows at the score. Equal scores are never put into different bins, so that there can be
    fewer bins than asked for.

    Examples
    --------
    >>> from riskslim.metrics import reliability_curve
    >>> curve = reliability_curve([0, 0, 1, 0, 1, 1], [0.2, 0.2, 0.2, 0.6, 0.6, 0.6])
    >>> curve.counts, curve.predicted, curve.observed.round(3)
    (array([3, 3]), array([0.2, 0.6]), array([0.333, 0.667]))
    >>> curve.lower.round(3), curve.upper.round(3)
    (array([0.061, 0.208]), array([0.792, 0.939]))
    """
    if interval not in ("wilson", "exact"):
        raise ValueError(f"interval must be 'wilson' or 'exact', got {interval!r}")
    level = _checked_level(level)
    positive, p, weight = checked_rows(y_true, risk, sample_weight, pos_label, "risk")
    _check_risks(p)
    s = p if scores is None else _checked_values(scores, "scores", len(p))
    rows = weight > 0
    positive, p, s, weight = positive[rows], p[rows], s[rows], weight[rows]
    group, n_bins = _groups(s, weight, bins)
    m = int(group.max()) + 1
    total: NDArray[np.float64] = np.bincount(group, weight, m).astype(np.float64, copy=False)
    observed = np.bincount(group, weight * positive, m) / total
    # Shares of each group, whose squares do not vanish where its weights are small.
    effective = 1 / np.bincount(group, (weight / total[group]) ** 2, m)
    lower, upper = _INTERVALS[interval](observed, effective, level)
    lowest, highest = np.full(m, np.inf), np.full(m, -np.inf)
    np.minimum.at(lowest, group, s)
    np.maximum.at(highest, group, s)
    return ReliabilityCurve(
        scores=np.clip(np.bincount(group, weight * s, m) / total, lowest, highest),
        lowest=lowest,
        highest=highest,
        counts=np.bincount(group, minlength=m),
        weights=total,
        predicted=np.bincount(group, weight * p, m) / total,
        observed=observed,
        lower=lower,
        upper=upper,
        level=level,
        is_binned=n_bins is not None,
    )


def _groups(
    scores: NDArray[np.float64], weight: NDArray[np.float64], bins: Any
) -> tuple[NDArray[np.intp], int | None]:
    """Number of the distinct score, or of the bin, of each row; bins that were asked for."""
    distinct, group = np.unique(scores, return_inverse=True)
    n_bins = _number_of_bins(bins, len(distinct))
    return group if n_bins is None else _equal_bins(group, weight, n_bins), n_bins


def _number_of_bins(bins: Any, n_distinct: int) -> int | None:
    if bins is None:
        return None
    if isinstance(bins, str) and bins == "auto":
        return N_BINS if n_distinct > MOST_DISTINCT_SCORES else None
    if isinstance(bins, bool) or not isinstance(bins, (int, np.integer)) or bins < 1:
        raise ValueError(f"bins must be 'auto', None or a positive int, got {bins!r}")
    return int(bins)


def _equal_bins(
    group: NDArray[np.intp], weight: NDArray[np.float64], n_bins: int
) -> NDArray[np.intp]:
    """Put groups in the order of their scores into bins of about the same weight."""
    per_score = np.bincount(group, weight)
    middle = np.cumsum(per_score) - 0.5 * per_score
    bin_of_score = np.minimum((middle / per_score.sum() * n_bins).astype(np.intp), n_bins - 1)
    # Bins that no score falls into are left out.
    return np.asarray(np.unique(bin_of_score, return_inverse=True)[1][group])


def _wilson(
    observed: NDArray[np.float64], n: NDArray[np.float64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from scipy.special import ndtri

    z2 = float(ndtri(0.5 + 0.5 * level)) ** 2
    centre = (observed + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (observed * (1 - observed) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    # The ends at shares of 0 and 1 are these exactly, whatever rounding makes of them.
    lower = np.where(observed == 0, 0.0, np.maximum(centre - half, 0.0))
    return lower, np.where(observed == 1, 1.0, np.minimum(centre + half, 1.0))


def _clopper_pearson(
    observed: NDArray[np.float64], n: NDArray[np.float64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from scipy.special import betaincinv

    tail, successes = 0.5 - 0.5 * level, observed * n
    failures = n - successes
    none, all_ = observed == 0, observed == 1
    # The distribution has no parameter 0: there the end is that of the scale.
    lower = betaincinv(np.where(none, 1.0, successes), failures + 1, tail)
    upper = betaincinv(successes + 1, np.where(all_, 1.0, failures), 1 - tail)
    return np.where(none, 0.0, lower), np.where(all_, 1.0, upper)


_INTERVALS = {"wilson": _wilson, "exact": _clopper_pearson}


class ConsistencyRange(NamedTuple):
    """What a metric of calibration is by chance where all risks are true.

    Attributes
    ----------
    mean : float
        Over all simulations.
    lower, upper : float
        Ends of the range that most simulations lie in.
    """

    mean: float
    lower: float
    upper: float


def calibration_consistency(
    risk: ArrayLike,
    sample_weight: ArrayLike | None = None,
    scores: ArrayLike | None = None,
    *,
    bins: int | Literal["auto"] | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    random_state: int = 0,
) -> dict[str, ConsistencyRange]:
    r"""Simulate the CAL and MCAL that a perfectly calibrated score would show on as many rows.

    No sample has a CAL of 0, because observed risks scatter around true ones. Here outcomes
    are drawn from the predicted risks themselves, :math:`\Pr[y_i = +1] = p_i`, and judged by
    :func:`calibration_error` and :func:`maximum_calibration_error`. An error within the range
    is no evidence against the risks, one above it says that they are off by more than chance.
    The share of all rows that are positive is simulated as well: one above its range says that
    risks are too low on average, one below it that they are too high.

    Parameters
    ----------
    risk : array-like of shape (n,)
        Predicted probability of the positive class.
    sample_weight : array-like of shape (n,), optional
        Non-negative. A row is one outcome, however large its weight.
    scores : array-like of shape (n,), optional
        As in :func:`calibration_error`.
    bins : int or "auto" or None
        As in :func:`calibration_error`.
    n_resamples : int, default 1000
        Simulations.
    level : float, default 0.95
        Share of the simulations in each range, with equally many below and above.
    random_state : int, default 0
        Seed of NumPy's default generator: the same seed gives the same ranges.

    Returns
    -------
    dict from str to ConsistencyRange
        "cal", "mcal", and "observed", the weighted share of positive rows.

    Raises
    ------
    ValueError
        As in :func:`calibration_error`; no resamples, a level that is not between 0 and 1.

    Notes
    -----
    This is the consistency resampling of Bröcker & Smith (2007), with the predictions as they are
    instead of drawn anew: the range is about these rows. It is about risks that were not
    chosen by these rows. On training data calibration errors are on average smaller, which makes a
    value above the range say all the more, and one within it less.

    References
    ----------
    Bröcker & Smith (2007), Increasing the reliability of reliability diagrams. Weather and
    Forecasting 22(3).

    Examples
    --------
    Four rows with a risk of 0.5 have 0 to 4 positive ones among them, and a CAL of 0, 0.25 or 0.5
    with probabilities of 3/8, 1/2 and 1/8:

    >>> from riskslim.metrics import calibration_consistency
    >>> found = calibration_consistency([0.5, 0.5, 0.5, 0.5], n_resamples=10_000)["cal"]
    >>> found.lower, round(found.mean, 2), found.upper
    (0.0, 0.19, 0.5)
    """
    level = _checked_level(level)
    _check_resamples(n_resamples)
    p = _checked_values(risk, "risk", None)
    if not len(p):
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    _check_risks(p)
    weight = _checked_weights(sample_weight, len(p), "risk")
    s = p if scores is None else _checked_values(scores, "scores", len(p), "risk")
    rows = weight > 0
    simulation = _Simulation(p[rows], s[rows], weight[rows] / weight.max(), bins)
    errors = simulation.errors(n_resamples, np.random.default_rng(random_state))
    ends = (0.5 - 0.5 * level, 0.5 + 0.5 * level)
    return {
        name: ConsistencyRange(float(values.mean()), *np.quantile(values, ends).tolist())
        for name, values in zip(("cal", "mcal", "observed"), errors, strict=True)
    }


class _Simulation:
    """Calibration errors of outcomes that are drawn from the risks."""

    def __init__(
        self,
        risk: NDArray[np.float64],
        scores: NDArray[np.float64],
        weight: NDArray[np.float64],
        bins: Any,
    ) -> None:
        group, _ = _groups(scores, weight, bins)
        self._total = np.bincount(group, weight)
        self._predicted = np.bincount(group, weight * risk)
        # Rows of one group, risk and weight differ in nothing: how many are positive is drawn.
        order = np.lexsort((weight, risk, group))
        rows = np.stack([group, risk, weight])[:, order]
        first = np.flatnonzero((rows[:, 1:] != rows[:, :-1]).any(axis=0)) + 1
        first = np.concatenate(([0], first))
        self._counts = np.diff(np.append(first, len(group)))
        self._risk, self._weight = rows[1, first], rows[2, first]
        # Cells are in the order of their groups.
        self._starts = np.searchsorted(rows[0, first], np.arange(len(self._total)))

    def errors(
        self, n_resamples: int, generator: np.random.Generator
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """CAL, MCAL and share of positive rows of each simulation."""
        cal, mcal, observed = (np.empty(n_resamples) for _ in range(3))
        n_at_once = max(_MOST_DRAWS // len(self._counts), 1)
        for k in range(0, n_resamples, n_at_once):
            part = slice(k, min(k + n_at_once, n_resamples))
            drawn = self._drawn(part.stop - k, generator) * self._weight
            positive = np.add.reduceat(drawn, self._starts, axis=1)
            error = np.abs(positive - self._predicted)
            cal[part] = error.sum(axis=1) / self._total.sum()
            mcal[part] = (error / self._total).max(axis=1)
            observed[part] = positive.sum(axis=1) / self._total.sum()
        return cal, mcal, observed

    def _drawn(self, n: int, generator: np.random.Generator) -> NDArray[Any]:
        """Positive rows of each cell, n times."""
        shape = (n, len(self._counts))
        if self._counts.max() == 1:
            return np.asarray(
                generator.random(shape) < self._risk
            )  # the same distribution, drawn faster
        return np.asarray(generator.binomial(self._counts, self._risk, shape))


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
    _check_both_classes(positive, weight, "ROC AUC score")
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
        For example ``risk_score.decision_function(X)``; with the scale 1 these are scores, the
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
    """What happens at one threshold: rows whose score is at least it are called positive.

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

    Notes
    -----
    ``str`` of it is a sentence.
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

    def __str__(self) -> str:
        called = "No row positive"
        if self.threshold < np.inf:
            called = f"Positive from a score of {self.threshold:.6g}"
            if self.risk is not None:
                called += f" (risk {percent(self.risk, _EXTREME)})"
        return (
            f"{called}: sensitivity {_share_text(self.sensitivity)}, "
            f"specificity {_share_text(self.specificity)}, PPV {_share_text(self.ppv)}, "
            f"NPV {_share_text(self.npv)}; {self.true_positives:.10g} true and "
            f"{self.false_positives:.10g} false positives, {self.true_negatives:.10g} true and "
            f"{self.false_negatives:.10g} false negatives"
        )


@dataclasses.dataclass(frozen=True, eq=False)
class OperatingPoints:
    """What happens at each threshold: rows whose score is at least the threshold are positive.

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
                cells.append(percent(float(self.risk[k]), _EXTREME))
            rates = (self.sensitivity, self.specificity, self.ppv, self.npv)
            cells += [_share_text(float(rate[k])) for rate in rates]
            cells += [f"{getattr(self, name)[k]:.10g}" for name in counts]
            lines.append(cells)
        text = _aligned(lines)
        if len(chosen) < len(self) - 1:
            text += f"\n{len(self) - 1} scores occur; the table has {len(chosen)} of them."
        return text

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
            The point with the largest specificity of those with at least this sensitivity.
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
        return self._point(self._best_with(name, rate))

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
                f"a score of {self.thresholds[1]:.6g} on"
            )
        found = np.flatnonzero(enough)
        return int(found[np.lexsort((wanted[found], other[found]))[-1]])

    def _point(self, k: int) -> OperatingPoint:
        values = {
            field.name: getattr(self, field.name)[k].item()
            for field in dataclasses.fields(OperatingPoint)
            if field.name not in ("threshold", "risk")
        }
        risk = None if self.risk is None else float(self.risk[k])
        return OperatingPoint(threshold=float(self.thresholds[k]), risk=risk, **values)

    def records(self) -> list[dict[str, Any]]:
        """List one mapping for each threshold: a table for any data frame library.

        Returns
        -------
        list of dict
        """
        return _records(self)


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
    _check_both_classes(positive, weight, "The ROC curve")
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


def _aligned(lines: list[list[str]]) -> str:
    """Cells below each other, aligned on the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(f"{cell:>{width}}" for cell, width in zip(line, widths, strict=True))
        for line in lines
    )


def _share(right: NDArray[np.float64], wrong: NDArray[np.float64]) -> NDArray[np.float64]:
    total = right + wrong
    shares = np.full(len(total), np.nan)
    np.divide(right, total, out=shares, where=total > 0)
    return shares


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
        return _records(self)


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
    t = _checked_values(thresholds, "thresholds", None)
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


# ---------------------------------------------------------------------------------------------
# Intervals
# ---------------------------------------------------------------------------------------------


class Metric(Protocol):
    """What can be computed of labels and predictions."""

    def __call__(
        self, y_true: NDArray[Any], prediction: NDArray[Any], /, sample_weight: NDArray[Any] | None
    ) -> float:
        """Compute the metric."""


class Interval(NamedTuple):
    """A value and the ends of its confidence interval."""

    value: float
    lower: float
    upper: float


def bootstrap_interval(
    metric: Metric | Callable[..., float],
    y_true: ArrayLike,
    prediction: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    method: BootstrapMethod | None = None,
    bounds: tuple[float, float] | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    stratified: bool = True,
    random_state: int = 0,
) -> Interval:
    r"""Compute a bootstrap interval of any metric, from resampled rows.

    Parameters
    ----------
    metric : callable
        Called as ``metric(y_true, prediction, sample_weight=...)``: :func:`calibration_error`,
        :func:`auc`, or one of scikit-learn's.
    y_true : array-like of shape (n,)
    prediction : array-like of shape (n,) or (n, m)
        Whatever the metric takes: risks, scores.
    sample_weight : array-like of shape (n,), optional
        Rows are drawn with equal probabilities and keep their weights; those of weight 0 are none.
    method : {"percentile", "basic"}, optional
        What the interval is made of. Default: "basic" for :func:`calibration_error` and
        :func:`maximum_calibration_error`, also within :func:`functools.partial`; else "percentile".
    bounds : (smallest, largest), optional
        What values the metric can have; ends of the basic interval beyond are cut off. Default: 0
        and 1 for the two calibration errors, else none.
    n_resamples : int, default 1000
    level : float, default 0.95
    stratified : bool, default True
        Whether each resample has as many rows of each label as ``y_true``.
    random_state : int, default 0
        Seed of NumPy's default generator: the same seed gives the same interval.

    Returns
    -------
    Interval
        Value on all rows, lower and upper end.

    Raises
    ------
    ValueError
        Shapes that differ, no resamples, a level that is not between 0 and 1, another method,
        bounds that are not in order, or a resample on which the metric is undefined.

    Warns
    -----
    UserWarning
        The value is outside of its percentiles, because the metric is larger, or smaller, on
        resamples than it is on the rows. A "basic" interval allows for that.

    Notes
    -----
    The interval is about these predictions on other rows, not about a model that is fitted anew.

    With percentiles :math:`q` of the resamples and the value v of all rows, the interval is
    :math:`[q_{2.5\%}, q_{97.5\%}]` by "percentile", and :math:`[2 v - q_{97.5\%},
    2 v - q_{2.5\%}]` by "basic" (Davison & Hinkley, 1997, section 5.2), extended to the value
    where all of it would lie on one side.

    Calibration errors need the latter. Observed risks scatter, so that the CAL of n rows is above
    the one that all rows of their kind would have together; on a resample they scatter
    twice, and the error is too large by about as much again. The basic interval takes that off: it
    estimates the calibration error that any number of rows would show. Where that is close to
    0 the interval is too short, and often ends at the value: whether an error is more than chance
    is said by :func:`calibration_consistency`.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.metrics import auc, bootstrap_interval, calibration_error
    >>> rng = np.random.default_rng(0)
    >>> risk = rng.choice([0.1, 0.3, 0.6], 400)
    >>> y = rng.random(400) < risk + 0.1
    >>> value, lower, upper = bootstrap_interval(auc, y, risk, n_resamples=200)
    >>> lower < value < upper
    True
    >>> value, lower, upper = bootstrap_interval(calibration_error, y, risk, n_resamples=200)
    >>> lower < 0.1 < upper
    True
    """
    level = _checked_level(level)
    _check_resamples(n_resamples)
    is_error = _is_calibration_error(metric)
    if method is None:
        method = "basic" if is_error else "percentile"
    if method not in ("percentile", "basic"):
        raise ValueError(f"method must be 'percentile' or 'basic', got {method!r}")
    if bounds is None:
        bounds = (0.0, 1.0) if is_error else (-np.inf, np.inf)
    if len(bounds) != 2 or not bounds[0] < bounds[1]:
        raise ValueError(f"bounds must be the smallest and the largest value, got {bounds!r}")
    labels, predictions = np.asarray(y_true), np.asarray(prediction)
    weight = None if sample_weight is None else np.asarray(sample_weight)
    _check_same_length(labels, predictions, weight)
    if weight is not None:  # a resample of rows without weight alone has no metric
        labels, predictions, weight = (a[weight != 0] for a in (labels, predictions, weight))
    strata = [np.arange(len(labels))]
    if stratified:
        strata = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    generator = np.random.default_rng(random_state)

    def of_rows(rows: Any) -> float:
        chosen = None if weight is None else weight[rows]
        return float(metric(labels[rows], predictions[rows], sample_weight=chosen))

    values = np.empty(n_resamples)
    for k in range(n_resamples):
        rows = np.concatenate([generator.choice(stratum, len(stratum)) for stratum in strata])
        values[k] = of_rows(rows)
    if np.isnan(values).any():
        raise ValueError(
            f"the metric is undefined (NaN) on {np.count_nonzero(np.isnan(values))} of "
            f"{n_resamples} resamples; stratified=True keeps the classes as they are"
        )
    value = of_rows(slice(None))
    if method == "basic":
        return _mirrored(value, values, level, bounds)
    interval = _percentiles(value, values, level)
    if not interval.lower <= interval.value <= interval.upper:
        warnings.warn(
            f"the value {interval.value:.6g} is outside of its percentile interval, "
            f"{interval.lower:.6g} to {interval.upper:.6g}: resampling changes this metric on "
            "average; method='basic' allows for that",
            stacklevel=2,
        )
    return interval


def _is_calibration_error(metric: Any) -> bool:
    while isinstance(metric, functools.partial):
        metric = metric.func
    return metric in (calibration_error, maximum_calibration_error)


def bootstrap_intervals(
    y_true: ArrayLike,
    log_odds: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    bins: int | Literal["auto"] | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    random_state: int = 0,
    pos_label: Any = None,
) -> dict[str, Interval]:
    r"""Compute bootstrap intervals of loss, AUC, CAL and MCAL, all from the same resamples.

    Rows are drawn as by :func:`bootstrap_interval`, within each class and with equal
    probabilities, and keep their weights. What is drawn are the numbers of rows with the same
    score, label and weight, from their multinomial distribution: the time of a resample depends
    on how many of these differ, not on the number of rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    log_odds : array-like of shape (n,)
        For example ``risk_score.decision_function(X)``; the risks are theirs.
    sample_weight : array-like of shape (n,), optional
        A row counts as one observation, however large its weight; rows of weight 0 count as none.
    bins : int or "auto" or None
        As in :func:`calibration_error`; each resample has bins of its own.
    n_resamples, level, random_state
        As in :func:`bootstrap_interval`.
    pos_label : optional
        As in :func:`calibration_error`.

    Returns
    -------
    dict from str to Interval
        "loss" (:func:`logistic_loss`), "auc" (:func:`auc`), "cal" (:func:`calibration_error`) and
        "mcal" (:func:`maximum_calibration_error`), the latter two at distinct log-odds.

    Raises
    ------
    ValueError
        As in :func:`auc` and :func:`bootstrap_interval`.

    Notes
    -----
    Intervals of loss and AUC are from percentiles :math:`q` of the resamples. Observed risks
    scatter twice in a resample, so that its CAL and MCAL are too large by about as much as those
    of the rows already are. Their intervals are therefore mirrored at the value of all rows,
    :math:`[2 v - q_{97.5\%}, 2 v - q_{2.5\%}]` (the basic bootstrap, Davison & Hinkley, 1997,
    section 5.2), cut off at 0 and 1, and extended to the value itself where all of it would lie
    on one side. They estimate the errors that any number of such rows would show, and are too short
    where these are close to 0, see :func:`bootstrap_interval`.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.metrics import bootstrap_intervals
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.integers(-3, 4, 500)
    >>> y = rng.random(500) < 1 / (1 + np.exp(-scores))
    >>> intervals = bootstrap_intervals(y, scores)
    >>> [f"{end:.3f}" for end in intervals["auc"]]
    ['0.897', '0.870', '0.924']
    >>> [f"{end:.3f}" for end in intervals["cal"]]
    ['0.036', '0.007', '0.043']
    """
    level = _checked_level(level)
    _check_resamples(n_resamples)
    positive, z, weight = checked_rows(y_true, log_odds, sample_weight, pos_label, "log_odds")
    _check_both_classes(positive, weight, "ROC AUC score")
    table = _ScoreTable(positive, z, weight, bins)
    generator = np.random.default_rng(random_state)
    values = [table.metrics(table.resampled(generator)) for _ in range(n_resamples)]
    found = table.metrics(table.rows())
    loss, auc_, cal, mcal = zip(found, np.transpose(values), strict=True)
    return {
        "loss": _percentiles(*loss, level),
        "auc": _percentiles(*auc_, level),
        "cal": _mirrored(*cal, level, (0.0, 1.0)),
        "mcal": _mirrored(*mcal, level, (0.0, 1.0)),
    }


class _ByScore(NamedTuple):
    """Weights of the negative and the positive rows of each distinct score."""

    negative: NDArray[np.float64]
    positive: NDArray[np.float64]


class _ScoreTable:
    """How many rows of each class have each score and weight, and metrics of such tables."""

    def __init__(
        self,
        positive: NDArray[np.bool_],
        log_odds: NDArray[np.float64],
        weight: NDArray[np.float64],
        bins: Any,
    ) -> None:
        rows = weight > 0
        scores, score = np.unique(log_odds[rows], return_inverse=True)
        # Metrics are ratios: only weights among each other count, and these do not overflow.
        weights, kind = np.unique(weight[rows] / weight.max(), return_inverse=True)
        self._n_scores, self._bins = len(scores), bins
        self._losses = _ByScore(np.logaddexp(0.0, scores), np.logaddexp(0.0, -scores))
        self._risk = np.exp(-self._losses.positive)
        self._classes = []
        for of_class in (~positive[rows], positive[rows]):
            cells, counts = np.unique((score * len(weights) + kind)[of_class], return_counts=True)
            cell_scores, cell_kinds = np.divmod(cells, len(weights))
            self._classes.append((cell_scores, weights[cell_kinds], counts))

    def rows(self) -> _ByScore:
        """The rows themselves."""
        return _ByScore(*(self._by_score(*cells) for cells in self._classes))

    def resampled(self, generator: np.random.Generator) -> _ByScore:
        """As many rows of each class, drawn from it with replacement."""
        return _ByScore(
            *(
                self._by_score(score, weight, _resampled_counts(counts, generator))
                for score, weight, counts in self._classes
            )
        )

    def _by_score(
        self, score: NDArray[np.intp], weight: NDArray[np.float64], counts: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        return np.bincount(score, counts * weight, self._n_scores).astype(np.float64, copy=False)

    def metrics(self, table: _ByScore) -> tuple[float, float, float, float]:
        """Loss, AUC, CAL and MCAL."""
        n_negative, n_positive = table.negative.sum(), table.positive.sum()
        # No products of BLAS: its threads wait for each other, and order sums by their number.
        losses = table.negative * self._losses.negative + table.positive * self._losses.positive
        below = np.cumsum(table.negative) - 0.5 * table.negative
        errors, weight = self._errors(table)
        return (
            losses.sum() / (n_negative + n_positive),
            (table.positive * below).sum() / (n_negative * n_positive),
            errors.sum() / (n_negative + n_positive),
            np.divide(errors, weight, out=np.zeros(len(errors)), where=weight > 0).max(),
        )

    def _errors(self, table: _ByScore) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weight of each score or bin, and its distance of predicted and observed risk times it."""
        weight = table.negative + table.positive
        excess = weight * self._risk - table.positive
        drawn = np.flatnonzero(weight)
        n_bins = _number_of_bins(self._bins, len(drawn))
        if n_bins is None:
            return np.abs(excess), weight
        group = _equal_bins(np.arange(len(drawn)), weight[drawn], n_bins)
        error, total = (np.bincount(group, values[drawn]) for values in (excess, weight))
        return np.abs(error).astype(np.float64, copy=False), total.astype(np.float64, copy=False)


def _resampled_counts(
    counts: NDArray[np.int64], generator: np.random.Generator
) -> NDArray[np.int64]:
    """As many rows as there are, drawn with replacement: how many of each kind."""
    n_rows, n_kinds = int(counts.sum()), len(counts)
    if n_kinds < n_rows:
        return generator.multinomial(n_rows, counts / n_rows)
    # Each row is of its own kind: the same distribution, drawn faster.
    return np.bincount(generator.integers(n_rows, size=n_rows), minlength=n_kinds)


def _percentiles(value: float, values: NDArray[np.float64], level: float) -> Interval:
    lower, upper = np.quantile(values, (0.5 - 0.5 * level, 0.5 + 0.5 * level))
    return Interval(float(value), float(lower), float(upper))


def _mirrored(
    value: float, values: NDArray[np.float64], level: float, bounds: tuple[float, float]
) -> Interval:
    """The basic bootstrap within bounds; the interval holds the value."""
    value, lower, upper = _percentiles(value, values, level)
    return Interval(
        value,
        min(max(2 * value - upper, bounds[0]), value),
        max(min(2 * value - lower, bounds[1]), value),
    )


# ---------------------------------------------------------------------------------------------
# Drift
# ---------------------------------------------------------------------------------------------


def population_stability_index(
    expected: ArrayLike,
    actual: ArrayLike,
    expected_weight: ArrayLike | None = None,
    actual_weight: ArrayLike | None = None,
    *,
    bins: int | Literal["auto"] | None = None,
    empty_rows: float = 0.5,
) -> float:
    r"""Compare how scores, or values of a feature, are distributed in two sets of rows.

    With the shares :math:`e_c` of the expected rows, most often those of training, and
    :math:`a_c` of the actual rows in the cells c,

    .. math::

        \text{PSI} = \sum_c (a_c - e_c) \log \frac{a_c}{e_c}.

    It is usually read so: below 0.1 little has changed, from 0.1 to 0.25 some shift, above 0.25
    a large shift.

    Parameters
    ----------
    expected : array-like of shape (n,)
        Numbers.
    actual : array-like of shape (m,)
        Numbers of the same kind, from other rows.
    expected_weight, actual_weight : array-like of shape (n,) and (m,), optional
        Non-negative. Shares are by weight.
    bins : int or "auto" or None
        None: each distinct value is a cell. A number: that many cells, each with about equally
        many expected rows; actual values beyond the ends are in the outermost cells. "auto": 10
        cells if there are more than 30 distinct values.
    empty_rows : float, default 0.5
        As how many rows of mean weight a cell counts that is empty in one of the two sets, for
        a share of 0 has no logarithm. The other cells stay as they are.

    Returns
    -------
    float
        At least 0; 0 where all shares are equal.

    Raises
    ------
    ValueError
        Values that are missing or infinite, no rows, negative weights or none above zero,
        lengths that differ, ``empty_rows`` that is not above 0 and at most 1.

    Notes
    -----
    The index is symmetric in the two sets, apart from ``bins``. Where both are samples of the
    same rows it is not 0 but about :math:`(k - 1)(1/n + 1/m)` with k cells: of a few hundred rows
    in 20 cells, 0.1 may be chance.

    References
    ----------
    Siddiqi (2006), Credit Risk Scorecards. Yurdakul (2018), Statistical Properties of Population
    Stability Index.

    Examples
    --------
    Half of the rows have the condition in training, and three of four later:
    0.25 log(0.75 / 0.5) - 0.25 log(0.25 / 0.5) = 0.25 log 3.

    >>> from riskslim.metrics import population_stability_index
    >>> round(population_stability_index([0, 0, 1, 1], [0, 1, 1, 1]), 4)
    0.2747
    """
    _check_empty_rows(empty_rows)
    samples = [
        _weighted_values(expected, expected_weight, "expected"),
        _weighted_values(actual, actual_weight, "actual"),
    ]
    cells, n_cells = _common_cells(samples[0], samples[1], bins)
    shares = []
    for cell, (values, weight) in zip(cells, samples, strict=True):
        share = np.bincount(cell, weight / weight.sum(), n_cells)
        share[share == 0] = empty_rows / len(values)
        shares.append(share)
    return float(np.sum((shares[1] - shares[0]) * np.log(shares[1] / shares[0])))


def _weighted_values(
    values: Any, sample_weight: Any, what: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values of the rows that have weight, and these weights, of which the largest is 1."""
    checked = _checked_values(values, what, None)
    if not len(checked):
        raise ValueError(
            f"Found array with 0 sample(s) while a minimum of 1 is required: {what} is empty"
        )
    weight = _checked_weights(sample_weight, len(checked), what)
    rows = weight > 0
    return checked[rows], weight[rows] / weight.max()


def _common_cells(
    expected: tuple[NDArray[np.float64], NDArray[np.float64]],
    actual: tuple[NDArray[np.float64], NDArray[np.float64]],
    bins: Any,
) -> tuple[list[NDArray[np.intp]], int]:
    """Number of the cell of each row in both sets, and how many cells there are."""
    starts = np.unique(np.concatenate([expected[0], actual[0]]))
    n_bins = _number_of_bins(bins, len(starts))
    if n_bins is not None:
        known, group = np.unique(expected[0], return_inverse=True)
        first = np.full(n_bins, np.inf)
        np.minimum.at(first, _equal_bins(group, expected[1], n_bins), known[group])
        starts = first[np.isfinite(first)]
    cells = [
        np.maximum(np.searchsorted(starts, values, side="right") - 1, 0)
        for values, _ in (expected, actual)
    ]
    return cells, len(starts)


def _check_empty_rows(empty_rows: Any) -> None:
    is_number = isinstance(empty_rows, (int, float)) and not isinstance(empty_rows, bool)
    if not (is_number and 0 < empty_rows <= 1):
        raise ValueError(f"empty_rows must be above 0 and at most 1, got {empty_rows!r}")


# ---------------------------------------------------------------------------------------------
# Checks
# ---------------------------------------------------------------------------------------------


def checked_rows(
    y_true: Any, values: Any, sample_weight: Any, pos_label: Any, what: str
) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
    """Check labels, predictions and weights.

    Parameters
    ----------
    y_true, values, sample_weight : array-like of shape (n,)
        No weights: each row has the weight 1.
    pos_label
        As in :func:`calibration_error`.
    what : str
        What errors call the values.

    Returns
    -------
    positive, values, weight : ndarrays of bool, float64 and float64, shape (n,)

    Raises
    ------
    ValueError
        As in :func:`calibration_error`.
    """
    positive = positive_rows(y_true, pos_label)
    checked = _checked_values(values, what, len(positive))
    return positive, checked, _checked_weights(sample_weight, len(positive), "y_true")


def _checked_weights(sample_weight: Any, n_rows: int, of: str) -> NDArray[np.float64]:
    if sample_weight is None:
        return np.ones(n_rows)
    weight = _checked_values(sample_weight, "sample_weight", n_rows, of)
    if (weight < 0).any():
        raise ValueError(
            "Negative values in data passed to `sample_weight`: "
            f"{np.count_nonzero(weight < 0)} of {len(weight)} rows, first at row "
            f"{np.argmax(weight < 0)} (rows counted from 0)"
        )
    if not weight.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    check_size_of_weights(weight)
    return weight


def _check_risks(risk: NDArray[np.float64]) -> None:
    is_outside = (risk < 0) | (risk > 1)
    if is_outside.any():
        row = int(is_outside.argmax())
        raise ValueError(
            f"risk must hold probabilities between 0 and 1, got {risk[row]!r} at row {row} (rows "
            "counted from 0); pass scores as scores="
        )


def positive_rows(y_true: Any, pos_label: Any = None) -> NDArray[np.bool_]:
    """Say which labels are those of the positive class.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    pos_label : optional
        As in :func:`calibration_error`.

    Returns
    -------
    ndarray of bool, shape (n,)

    Raises
    ------
    ValueError
        No rows, more than two classes, or one class that is not among 0, 1 and -1.

    Examples
    --------
    >>> from riskslim.metrics import positive_rows
    >>> positive_rows(["no", "yes", "no"])
    array([False,  True, False])
    """
    from sklearn.utils import assert_all_finite, column_or_1d

    labels = np.asarray(column_or_1d(y_true))
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y_true")
    if labels.dtype.kind == "O" and (missing := missing_among(labels)).any():
        raise ValueError(
            f"Input y_true contains NaN: {missing.sum()} of {len(labels)} labels are missing, "
            f"first at row {missing.argmax()} (rows counted from 0)."
        )
    if not len(labels):
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    distinct = np.unique(labels).tolist()
    if len(distinct) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"y_true has {len(distinct)} distinct labels, {listing(map(repr, distinct))}"
        )
    if pos_label is None:
        usual = set(distinct) <= {0, 1} or set(distinct) <= {-1, 1}
        if len(distinct) == 1 and not usual:
            raise ValueError(
                f"y_true has one class only, {distinct[0]!r}: say which is the positive label by "
                "pos_label="
            )
        pos_label = 1 if usual else distinct[1]
    elif len(distinct) == 2 and pos_label not in distinct:
        raise ValueError(
            f"pos_label={pos_label!r} is not a valid label: it should be one of "
            f"{listing(map(repr, distinct))}"
        )
    return np.asarray(labels == pos_label)


def _checked_values(
    values: Any, what: str, length: int | None, of: str = "y_true"
) -> NDArray[np.float64]:
    from sklearn.utils import assert_all_finite, column_or_1d

    checked: NDArray[np.float64] = np.asarray(column_or_1d(values, dtype=np.float64))
    if length is not None and len(checked) != length:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{length}, "
            f"{len(checked)}] ({of} has {length} rows, {what} has {len(checked)})"
        )
    assert_all_finite(checked, input_name=what)
    return checked


def _check_same_length(*arrays: NDArray[Any] | None) -> None:
    from sklearn.utils import check_consistent_length

    check_consistent_length(*arrays)


def _check_both_classes(
    positive: NDArray[np.bool_], weight: NDArray[np.float64], what: str
) -> None:
    for rows, sign in ((positive, "positive"), (~positive, "negative")):
        if not weight[rows].any():
            raise ValueError(
                f"Only one class is present in y_true. {what} is not defined in that case: no "
                f"{sign} row (with a weight above zero) among {len(positive)}"
            )


def _check_resamples(n_resamples: Any) -> None:
    if isinstance(n_resamples, bool) or not isinstance(n_resamples, int) or n_resamples < 1:
        raise ValueError(f"n_resamples must be a positive int, got {n_resamples!r}")


def _checked_level(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level!r}")
    return float(level)


def _records(curve: Any) -> list[dict[str, Any]]:
    """Rows of the columns that a curve holds."""
    columns = {
        field.name: values.tolist()
        for field in dataclasses.fields(curve)
        if isinstance(values := getattr(curve, field.name), np.ndarray)
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
