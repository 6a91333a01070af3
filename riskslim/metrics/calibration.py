"""Calibration: CAL, MCAL, reliability diagrams (section 5.1)."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim.metrics.rows import (
    check_resamples,
    check_risks,
    checked_level,
    checked_rows,
    checked_values,
    checked_weights,
    equal_bins,
    number_of_bins,
    records_of,
    unmasked,
)

__all__ = [
    "ConsistencyRange",
    "ReliabilityCurve",
    "calibration_consistency",
    "calibration_error",
    "maximum_calibration_error",
    "reliability_curve",
]

# Simulated outcomes that are held at once.
_MOST_DRAWS = 2**20

IntervalKind = Literal["wilson", "exact"]


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
        The scores whose rows are taken together. Default: the risks, which are as distinct. Each
        row counts with its own distance, should rows of one score differ in their risk.
    bins : int or "auto", optional
        None: each distinct score by itself, which is the paper's CAL. A number: that many bins of
        about equally many rows, with the mean risk of each bin in place of :math:`p_i`.
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
    larger one the fewer rows there are, and
    :func:`~riskslim.metrics.calibration_consistency` says how large.

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
    groups = _checked_groups(y_true, risk, sample_weight, scores, bins, pos_label)
    return _mean_error(groups.errors, groups.weights)


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

    Should rows of one score differ in their risk, it is the mean distance of the score's rows.

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
    groups = _checked_groups(y_true, risk, sample_weight, scores, bins, pos_label)
    return float(groups.errors.max())


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
    errors : ndarray of float64, shape (m,)
        Weighted mean distance of the predicted risks of the rows from the observed one; of bins,
        the distance of the mean predicted risk.
    lower, upper : ndarray of float64, shape (m,)
        Ends of the confidence interval of the observed risk.
    level : float
        Of the intervals, for example 0.95.
    is_binned : bool
        Whether scores were put into bins.

    Examples
    --------
    >>> from riskslim.metrics import reliability_curve
    >>> curve = reliability_curve([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9], bins=None)
    >>> curve.predicted, curve.observed, curve.counts
    (array([0.1, 0.4, 0.9]), array([0. , 0.5, 1. ]), array([1, 2, 1]))
    """

    scores: NDArray[np.float64]
    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]
    counts: NDArray[np.int64]
    weights: NDArray[np.float64]
    predicted: NDArray[np.float64]
    observed: NDArray[np.float64]
    errors: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    level: float
    is_binned: bool

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def calibration_error(self) -> float:
        """Weighted mean of the distance of predicted and observed risk."""
        return _mean_error(self.errors, self.weights)

    @property
    def maximum_calibration_error(self) -> float:
        """Largest distance of predicted and observed risk."""
        return float(self.errors.max())

    def records(self) -> list[dict[str, Any]]:
        """List one mapping for each score: a table for any data frame library.

        Returns
        -------
        list of dict
        """
        return records_of(self)


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
    level = checked_level(level)
    found = _checked_groups(y_true, risk, sample_weight, scores, bins, pos_label)
    group, total, m = found.group, found.weights, len(found.weights)
    # Shares of each group, whose squares do not vanish where its weights are small.
    effective = 1 / np.bincount(group, (found.row_weights / total[group]) ** 2, m)
    lower, upper = _INTERVALS[interval](found.observed, effective, level)
    lowest, highest = np.full(m, np.inf), np.full(m, -np.inf)
    np.minimum.at(lowest, group, found.scores)
    np.maximum.at(highest, group, found.scores)
    means = np.bincount(group, found.row_weights * found.scores, m) / total
    return ReliabilityCurve(
        scores=np.clip(means, lowest, highest),
        lowest=lowest,
        highest=highest,
        counts=np.bincount(group, minlength=m),
        weights=total,
        predicted=found.predicted,
        observed=found.observed,
        errors=found.errors,
        lower=lower,
        upper=upper,
        level=level,
        is_binned=found.is_binned,
    )


class _Groups(NamedTuple):
    """Rows with weight by their score, or bin, and what CAL needs to know of each group."""

    # By row.
    group: NDArray[np.intp]
    scores: NDArray[np.float64]
    row_weights: NDArray[np.float64]
    # By group.
    weights: NDArray[np.float64]
    observed: NDArray[np.float64]
    predicted: NDArray[np.float64]
    errors: NDArray[np.float64]
    is_binned: bool


def _checked_groups(
    y_true: Any, risk: Any, sample_weight: Any, scores: Any, bins: Any, pos_label: Any
) -> _Groups:
    y_true, risk, sample_weight, scores = unmasked(y_true, risk, sample_weight, scores)
    positive, p, weight = checked_rows(y_true, risk, sample_weight, pos_label, "risk")
    check_risks(p)
    s = p if scores is None else checked_values(scores, "scores", len(p))
    rows = weight > 0
    positive, p, s, weight = positive[rows], p[rows], s[rows], weight[rows]
    group, n_bins = _groups(s, weight, bins)
    m = int(group.max()) + 1
    total: NDArray[np.float64] = np.bincount(group, weight, m).astype(np.float64, copy=False)
    observed = np.bincount(group, weight * positive, m) / total
    predicted = np.bincount(group, weight * p, m) / total
    errors = np.abs(predicted - observed)
    if n_bins is None:  # only means of bins hide what rows differ in
        distances = np.bincount(group, weight * np.abs(p - observed[group]), m) / total
        errors = np.where(_differ(p, group, m), distances, errors)
    return _Groups(group, s, weight, total, observed, predicted, errors, n_bins is not None)


def _mean_error(errors: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    return float(np.average(errors, weights=weights))


def _differ(values: NDArray[np.float64], group: NDArray[np.intp], m: int) -> NDArray[np.bool_]:
    """Groups whose rows do not all have the same value."""
    low, high = np.full(m, np.inf), np.full(m, -np.inf)
    np.minimum.at(low, group, values)
    np.maximum.at(high, group, values)
    return np.asarray(low < high)


def _groups(
    scores: NDArray[np.float64], weight: NDArray[np.float64], bins: Any
) -> tuple[NDArray[np.intp], int | None]:
    """Number of the distinct score, or of the bin, of each row; bins that were asked for."""
    distinct, group = np.unique(scores, return_inverse=True)
    n_bins = number_of_bins(bins, len(distinct))
    return group if n_bins is None else equal_bins(group, weight, n_bins), n_bins


def wilson_interval(
    observed: NDArray[np.float64], n: NDArray[np.float64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ends of Wilson's intervals of shares of n rows (Wilson, 1927).

    Parameters
    ----------
    observed : ndarray of float64, shape (m,)
        Shares.
    n : ndarray of float64, shape (m,)
        Numbers of rows, above 0; need not be whole.
    level : float

    Returns
    -------
    lower, upper : ndarray of float64, shape (m,)
    """
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


_INTERVALS = {"wilson": wilson_interval, "exact": _clopper_pearson}


class ConsistencyRange(NamedTuple):
    """Values that a metric of calibration has by chance where all risks are true.

    Attributes
    ----------
    mean : float
        Over all simulations.
    lower, upper : float
        Ends of the range that most simulations lie in.

    Examples
    --------
    >>> from riskslim.metrics import calibration_consistency
    >>> by_chance = calibration_consistency([0.1, 0.2, 0.3, 0.4, 0.6, 0.9] * 20, n_resamples=200)
    >>> cal = by_chance["cal"]
    >>> 0 < cal.lower < cal.mean < cal.upper
    True
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
    level = checked_level(level)
    check_resamples(n_resamples)
    risk, sample_weight, scores = unmasked(risk, sample_weight, scores)
    p = checked_values(risk, "risk", None)
    if not len(p):
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    check_risks(p)
    weight = checked_weights(sample_weight, len(p), "risk")
    s = p if scores is None else checked_values(scores, "scores", len(p), "risk")
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
        group, n_bins = _groups(scores, weight, bins)
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
        self._group = rows[0, first].astype(np.intp)
        differ = _differ(risk, group, len(self._total))
        self._by_row = bool(n_bins is None and differ.any())

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
            error = self._error(positive)
            cal[part] = error.sum(axis=1) / self._total.sum()
            mcal[part] = (error / self._total).max(axis=1)
            observed[part] = positive.sum(axis=1) / self._total.sum()
        return cal, mcal, observed

    def _error(self, positive: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weighted distances of predicted and observed risk, for each simulation and group."""
        if not self._by_row:
            return np.abs(positive - self._predicted)
        observed = (positive / self._total)[:, self._group]
        distances = np.abs(self._risk - observed) * (self._counts * self._weight)
        return np.add.reduceat(distances, self._starts, axis=1)

    def _drawn(self, n: int, generator: np.random.Generator) -> NDArray[Any]:
        """Positive rows of each cell, n times."""
        shape = (n, len(self._counts))
        if self._counts.max() == 1:
            return np.asarray(
                generator.random(shape) < self._risk
            )  # the same distribution, drawn faster
        return np.asarray(generator.binomial(self._counts, self._risk, shape))
