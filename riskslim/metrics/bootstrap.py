"""Bootstrap intervals of metrics.

Both functions draw the same resamples (:class:`_Resampler`): of rows with the same label,
prediction and weight it matters how many are drawn, not which. :func:`bootstrap_interval` shows the
drawn rows to any metric, :func:`bootstrap_intervals` computes four metrics from their numbers.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim.metrics.calibration import (
    calibration_consistency,
    calibration_error,
    maximum_calibration_error,
)
from riskslim.metrics.rows import (
    check_both_classes,
    check_resamples,
    check_same_length,
    checked_level,
    checked_rows,
    equal_bins,
    number_of_bins,
    unmasked,
)

__all__ = ["Interval", "bootstrap_interval", "bootstrap_intervals"]

BootstrapMethod = Literal["percentile", "basic"]


# ---------------------------------------------------------------------------------------------
# Intervals
# ---------------------------------------------------------------------------------------------


class Metric(Protocol):
    """A number that is computed from labels and predictions."""

    def __call__(
        self, y_true: NDArray[Any], prediction: NDArray[Any], /, sample_weight: NDArray[Any] | None
    ) -> float:
        """Compute the metric."""


class Interval(NamedTuple):
    """A value and the ends of its confidence interval.

    Examples
    --------
    >>> from riskslim.metrics import auc, bootstrap_interval
    >>> y, risk = [0, 0, 1, 1] * 5, [0.1, 0.6, 0.4, 0.9] * 5
    >>> interval = bootstrap_interval(auc, y, risk, n_resamples=200)
    >>> interval.value, interval.lower <= interval.value <= interval.upper
    (0.75, True)
    """

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
    stratified: bool = False,
    random_state: int = 0,
) -> Interval:
    r"""Compute a bootstrap interval of any metric, from resampled rows.

    Parameters
    ----------
    metric : callable
        Called as ``metric(y_true, prediction, sample_weight=...)``: :func:`auc`, or one of
        scikit-learn's. It must not depend on the order of rows: equal ones stand side by side.
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
    stratified : bool, default False
        True: each resample has as many rows of each label as ``y_true``. By default rows are drawn
        without regard to labels; where there are two, a resample without both is drawn anew.
    random_state : int, default 0
        Seed of NumPy's default generator: the same seed gives the same interval, and the same
        resamples of log-odds as in :func:`bootstrap_intervals`, if the positive label is the last
        one in order.

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
    The interval is about these predictions on other rows, not about a model fitted anew.

    With percentiles :math:`q` of the resamples and the value v of all rows, the interval is
    :math:`[q_{2.5\%}, q_{97.5\%}]` by "percentile", and :math:`[2 v - q_{97.5\%},
    2 v - q_{2.5\%}]` by "basic" (Davison & Hinkley, 1997, section 5.2), extended to the value
    where all of it would lie on one side.

    Calibration errors need the latter. Observed risks scatter, so that the CAL of n rows is above
    the one that all rows of their kind would have together; on a resample they scatter
    twice, and the error is too large by about as much again. The basic interval takes that off: it
    estimates the calibration error that any number of rows would show. An error that calibrated
    risks show by chance (:func:`calibration_consistency`) may be 0: the interval begins at 0 then.
    Stratified resamples are for rows that were sampled by label. Of others they leave out that the
    share of cases varies: 95% intervals of a CAL of 0.1 then held it in 74% of samples, not 94%.

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
    level = checked_level(level)
    check_resamples(n_resamples)
    method, bounds = _checked_interval(metric, method, bounds)
    y_true, prediction, sample_weight = unmasked(y_true, prediction, sample_weight)
    labels, predictions = np.asarray(y_true), np.asarray(prediction)
    weight = None if sample_weight is None else np.asarray(sample_weight)
    check_same_length(labels, predictions, weight)
    if weight is not None:  # a resample of rows without weight alone has no metric
        labels, predictions, weight = (a[weight != 0] for a in (labels, predictions, weight))
    resampler = _Resampler.of(labels, predictions, weight, stratified=stratified)
    generator = np.random.default_rng(random_state)

    def of_rows(rows: Any) -> float:
        chosen = None if weight is None else weight[rows]
        return float(metric(labels[rows], predictions[rows], sample_weight=chosen))

    values = np.array([of_rows(resampler.rows(generator)) for _ in range(n_resamples)])
    _check_defined(values)
    value = of_rows(slice(None))
    if method == "basic":
        options = {"n_resamples": n_resamples, "level": level, "random_state": random_state}
        is_chance = _is_chance(metric, value, predictions, weight, **options)
        return _mirrored(value, values, level, bounds, may_be_none=is_chance)
    interval = _percentiles(value, values, level)
    if not interval.lower <= interval.value <= interval.upper:
        warnings.warn(
            f"the value {interval.value:.6g} is outside of its percentile interval, "
            f"{interval.lower:.6g} to {interval.upper:.6g}: resampling changes this metric on "
            "average; method='basic' allows for that",
            stacklevel=2,
        )
    return interval


def _check_defined(values: NDArray[np.float64]) -> None:
    if np.isnan(values).any():
        raise ValueError(
            f"the metric is undefined (NaN) on {np.count_nonzero(np.isnan(values))} of "
            f"{len(values)} resamples; stratified=True keeps the numbers of rows of each class"
        )


def _checked_interval(
    metric: Any, method: BootstrapMethod | None, bounds: tuple[float, float] | None
) -> tuple[BootstrapMethod, tuple[float, float]]:
    """Check how an interval is made; calibration errors have defaults of their own."""
    is_error = _is_calibration_error(metric)
    if method is None:
        method = "basic" if is_error else "percentile"
    if method not in ("percentile", "basic"):
        raise ValueError(f"method must be 'percentile' or 'basic', got {method!r}")
    if bounds is None:
        bounds = (0.0, 1.0) if is_error else (-np.inf, np.inf)
    if len(bounds) != 2 or not bounds[0] < bounds[1]:
        raise ValueError(f"bounds must be the smallest and the largest value, got {bounds!r}")
    return method, bounds


def _is_calibration_error(metric: Any) -> bool:
    return _unwrapped(metric)[0] in (calibration_error, maximum_calibration_error)


def _unwrapped(metric: Any) -> tuple[Any, dict[str, Any]]:
    """Return the function behind partial ones, and the parameters that these set."""
    keywords: dict[str, Any] = {}
    while isinstance(metric, functools.partial):
        keywords = {**metric.keywords, **keywords}
        metric = metric.func
    return metric, keywords


def _is_chance(
    metric: Any,
    value: float,
    risk: NDArray[Any],
    weight: NDArray[Any] | None,
    **options: Any,
) -> bool:
    """True if calibrated risks show such a calibration error by chance."""
    if not _is_calibration_error(metric):
        return False
    function, keywords = _unwrapped(metric)
    chance = calibration_consistency(risk, weight, bins=keywords.get("bins"), **options)
    return value <= chance["cal" if function is calibration_error else "mcal"].upper


def bootstrap_intervals(
    y_true: ArrayLike,
    log_odds: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    bins: int | Literal["auto"] | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    stratified: bool = False,
    random_state: int = 0,
    pos_label: Any = None,
) -> dict[str, Interval]:
    r"""Compute bootstrap intervals of loss, AUC, CAL and MCAL, all from the same resamples.

    Rows are drawn by :func:`bootstrap_interval`'s resampling, with equal probabilities, and keep
    their weights: with the same seed its intervals of these metrics are the same but for
    rounding. What is drawn are the numbers of rows with the same score, label and
    weight, from their multinomial distribution: the time of a resample depends on how many of these
    differ, not on the number of rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    log_odds : array-like of shape (n,)
        For example ``risk_score.log_odds(X)``; the risks are theirs.
    sample_weight : array-like of shape (n,), optional
        A row counts as one observation, however large its weight; rows of weight 0 count as none.
    bins : int or "auto" or None
        As in :func:`calibration_error`; each resample has bins of its own.
    n_resamples, level, stratified, random_state
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
    on one side. They estimate the errors that any number of such rows would show, and begin at 0
    where calibrated risks show such errors by chance, see :func:`bootstrap_interval`.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.metrics import bootstrap_intervals
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.integers(-3, 4, 500)
    >>> y = rng.random(500) < 1 / (1 + np.exp(-scores))
    >>> intervals = bootstrap_intervals(y, scores)
    >>> [f"{end:.3f}" for end in intervals["auc"]]
    ['0.897', '0.871', '0.922']
    >>> [f"{end:.3f}" for end in intervals["cal"]]
    ['0.036', '0.000', '0.045']
    """
    level = checked_level(level)
    check_resamples(n_resamples)
    positive, z, weight = checked_rows(y_true, log_odds, sample_weight, pos_label, "log_odds")
    check_both_classes(positive, weight, "ROC AUC score")
    table = _ScoreTable(positive, z, weight, bins, stratified=stratified)
    generator = np.random.default_rng(random_state)
    values = [table.metrics(table.resampled(generator)) for _ in range(n_resamples)]
    found = table.metrics(table.rows())
    loss, auc_, cal, mcal = zip(found, np.transpose(values), strict=True)
    chance = calibration_consistency(
        np.exp(-np.logaddexp(0.0, -z)), weight, z,
        bins=bins, n_resamples=n_resamples, level=level, random_state=random_state,
    )  # fmt: skip
    return {
        "loss": _percentiles(*loss, level),
        "auc": _percentiles(*auc_, level),
        "cal": _mirrored(*cal, level, (0.0, 1.0), may_be_none=cal[0] <= chance["cal"].upper),
        "mcal": _mirrored(*mcal, level, (0.0, 1.0), may_be_none=mcal[0] <= chance["mcal"].upper),
    }


def drawn_numbers(counts: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
    """Draw as many rows as there are, with replacement.

    Parameters
    ----------
    counts : ndarray of int64, shape (k,)
        Rows of each kind, at least one.
    generator : numpy Generator

    Returns
    -------
    ndarray of int64, shape (k,)
        How many of each kind were drawn.
    """
    n_rows, n_kinds = int(counts.sum()), len(counts)
    if n_kinds < n_rows:
        return generator.multinomial(n_rows, counts / n_rows)
    # Each row is of its own kind: the same distribution, drawn faster.
    return np.bincount(generator.integers(n_rows, size=n_rows), minlength=n_kinds)


class _Kinds(NamedTuple):
    """Rows of a stratum that differ: the first row of each kind, and how many there are of it."""

    rows: NDArray[np.intp]
    counts: NDArray[np.int64]

    def drawn(self, generator: np.random.Generator) -> NDArray[np.int64]:
        """Draw as many rows as there are, with replacement: how many of each kind."""
        return drawn_numbers(self.counts, generator)


class _Resampler:
    """Draw rows with equal probabilities, from each stratum as many as it has.

    Parameters
    ----------
    codes : ndarray of int64, shape (n,)
        Rows of one code differ in nothing.
    strata : sequence of arrays of row numbers
        In the order in which they are drawn from; kinds are drawn in the order of their codes.
    classes : ndarray of int64, shape (n,), optional
        0 or 1 for each row: resamples without rows of both are drawn again.
    """

    def __init__(
        self,
        codes: NDArray[np.intp],
        strata: Sequence[NDArray[np.intp]],
        classes: NDArray[np.intp] | None = None,
    ) -> None:
        self.strata: list[_Kinds] = []
        for rows in strata:
            _, first, counts = np.unique(codes[rows], return_index=True, return_counts=True)
            self.strata.append(_Kinds(rows[first], counts))
        # With strata each resample has the rows of both that there are.
        self._is_second: NDArray[np.bool_] | None = None
        if classes is not None and len(strata) == 1:
            self._is_second = classes[self.strata[0].rows] == 1

    @classmethod
    def of(
        cls,
        labels: NDArray[Any],
        predictions: NDArray[Any],
        weight: NDArray[Any] | None,
        *,
        stratified: bool,
    ) -> _Resampler:
        """Tell rows apart by label, prediction and weight, ordered in this order."""
        n_rows = len(labels)
        distinct, codes = np.unique(labels, return_inverse=True)
        classes = codes if len(distinct) == 2 else None
        strata = [np.arange(n_rows)]
        if stratified:
            strata = [np.flatnonzero(codes == k) for k in range(len(distinct))]
        columns: list[NDArray[Any]] = [] if weight is None else [weight]
        if predictions.ndim == 1 and predictions.dtype.kind != "O":
            columns.insert(0, predictions)
        else:  # nothing says which predictions are equal, nor in which order they are
            columns.insert(0, np.arange(n_rows))
        for column in columns:
            values, code = np.unique(column, return_inverse=True)
            codes = codes * len(values) + code
        return cls(codes, strata, classes)

    def drawn(self, generator: np.random.Generator) -> list[NDArray[np.int64]]:
        """Draw how many rows of each kind, for each stratum."""
        while True:
            drawn = [kinds.drawn(generator) for kinds in self.strata]
            if self._is_second is None or self._are_both(drawn[0]):
                return drawn

    def _are_both(self, drawn: NDArray[np.int64]) -> bool:
        of_second = int(drawn[self._is_second].sum())
        return 0 < of_second < int(drawn.sum())

    def rows(self, generator: np.random.Generator) -> NDArray[np.intp]:
        """Draw rows; of a kind they are all the first one."""
        drawn = zip(self.strata, self.drawn(generator), strict=True)
        return np.concatenate([np.repeat(kinds.rows, counts) for kinds, counts in drawn])


class _ByScore(NamedTuple):
    """Weights of the negative and the positive rows of each distinct score."""

    negative: NDArray[np.float64]
    positive: NDArray[np.float64]


class _ScoreTable:
    """Weights of the rows of each class at each score, and metrics of such tables."""

    def __init__(
        self,
        positive: NDArray[np.bool_],
        log_odds: NDArray[np.float64],
        weight: NDArray[np.float64],
        bins: Any,
        *,
        stratified: bool,
    ) -> None:
        rows = weight > 0
        scores, score = np.unique(log_odds[rows], return_inverse=True)
        # Metrics are ratios: only weights among each other count, and these do not overflow.
        weights, kind = np.unique(weight[rows] / weight.max(), return_inverse=True)
        self._n_scores, self._bins = len(scores), bins
        self._losses = _ByScore(np.logaddexp(0.0, scores), np.logaddexp(0.0, -scores))
        self._risk = np.exp(-self._losses.positive)
        label = positive[rows].astype(np.intp)
        strata = [np.arange(len(label))]
        if stratified:
            strata = [np.flatnonzero(label == k) for k in (0, 1)]
        codes = (label * len(scores) + score) * len(weights) + kind
        self._resampler = _Resampler(codes, strata, label)
        # Of each kind: where it is counted, negative rows before positive ones, and its weight.
        drawn = np.concatenate([kinds.rows for kinds in self._resampler.strata])
        self._cell = label[drawn] * len(scores) + score[drawn]
        self._weight = weights[kind[drawn]]

    def rows(self) -> _ByScore:
        """Add up the rows themselves."""
        return self._added([kinds.counts for kinds in self._resampler.strata])

    def resampled(self, generator: np.random.Generator) -> _ByScore:
        """Add up as many rows, drawn from them with replacement."""
        return self._added(self._resampler.drawn(generator))

    def _added(self, counts: list[NDArray[np.int64]]) -> _ByScore:
        total = np.bincount(
            self._cell, np.concatenate(counts) * self._weight, 2 * self._n_scores
        ).astype(np.float64, copy=False)
        return _ByScore(total[: self._n_scores], total[self._n_scores :])

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
        n_bins = number_of_bins(self._bins, len(drawn))
        if n_bins is None:
            return np.abs(excess), weight
        group = equal_bins(np.arange(len(drawn)), weight[drawn], n_bins)
        error, total = (np.bincount(group, values[drawn]) for values in (excess, weight))
        return np.abs(error).astype(np.float64, copy=False), total.astype(np.float64, copy=False)


def _percentiles(value: float, values: NDArray[np.float64], level: float) -> Interval:
    lower, upper = np.quantile(values, (0.5 - 0.5 * level, 0.5 + 0.5 * level))
    return Interval(float(value), float(lower), float(upper))


def _mirrored(
    value: float,
    values: NDArray[np.float64],
    level: float,
    bounds: tuple[float, float],
    *,
    may_be_none: bool,
) -> Interval:
    """The basic bootstrap within bounds; it holds the value, and 0 where there may be no error."""
    value, lower, upper = _percentiles(value, values, level)
    least = min(max(2 * value - upper, bounds[0]), value)
    return Interval(
        value,
        min(least, max(0.0, bounds[0])) if may_be_none else least,
        max(min(2 * value - lower, bounds[1]), value),
    )
