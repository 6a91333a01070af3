r"""Rates of predicted outcomes on training records: what a constraint on them is to the engines.

A record is predicted positive where its score reaches a threshold. With :math:`z_i` for that, every
constraint on rates is a row :math:`\text{low} \le \sum_i c_i z_i \le \text{high}` over records that
are merged where they are equal.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "RATE_TOLERANCE",
    "SCORE_ERROR",
    "TIE_TOLERANCE",
    "Rate",
    "RateCheck",
    "ScoreLevel",
    "ranges_over",
    "score_ranges",
]

# Rates that differ by less are equal: far more than rounding errors, far less than one record.
RATE_TOLERANCE = 1e-9
# Scores of records with values other than integers reach a threshold if they fall short of it by no
# more than this share of the largest value: more than rounding errors of theirs and of a solver's.
TIE_TOLERANCE = 1e-6
# Numbers of records that a solver tells apart.
MAX_COUNT = 1e6
# Share of the size of a score that its rounding errors, and those of its range, stay below.
SCORE_ERROR = 1e-9
# Integers of a size that float64 adds up without rounding errors, however many of them there are.
MAX_EXACT = 2.0**48


class Rate(NamedTuple):
    """Share of some records whose outcome is predicted in one way.

    Parameters
    ----------
    label : str
        How messages call it.
    weights : ndarray of float64, shape (m,)
        Weight of each merged record; some are positive.
    of_negative : bool
        Whether records that are predicted negative are counted.
    """

    label: str
    weights: NDArray[np.float64]
    of_negative: bool

    def value(self, positive: NDArray[np.bool_]) -> float:
        """The rate of given predictions.

        Parameters
        ----------
        positive : ndarray of bool, shape (m,)

        Returns
        -------
        float
        """
        counted = ~positive if self.of_negative else positive
        return float(self.weights[counted].sum() / self.weights.sum())


class ScoreLevel(NamedTuple):
    """From which score on records are predicted positive.

    Parameters
    ----------
    first_integer : int
        The smallest integer score that is.
    exact : float
        The threshold itself, which is what other scores are compared with.
    """

    first_integer: int
    exact: float


@dataclasses.dataclass(frozen=True, eq=False)
class RateCheck:
    """A bound on one rate, or on the difference of two.

    Parameters
    ----------
    records : ndarray of float64, shape (m, k)
        Distinct records, of features that can be used.
    columns : ndarray of intp, shape (k,)
        Positions of these features in the vector, the intercept's being 0.
    level : ScoreLevel
    rates : tuple of Rate
        One, which is at most ``limit``, or two that differ by at most that.
    limit : float

    Attributes
    ----------
    positive_from : ndarray of float64, shape (m,)
        Scores from which on each record is predicted positive.
    negative_to : ndarray of float64, shape (m,)
        The largest integer below, or the same where scores need not be integers.
    is_integer : ndarray of bool, shape (m,)
        Records with integer scores.
    shares : ndarray of float64, shape (m,)
        Coefficients of the row.
    low, high : float
        Its bounds; with coefficients that are integers, integers.
    has_integer_shares : bool
    has_intercept : bool
        Whether the intercept matters.
    """

    has_intercept: ClassVar[bool] = True

    records: NDArray[np.float64]
    columns: NDArray[np.intp]
    level: ScoreLevel
    rates: tuple[Rate, ...]
    limit: float

    def __post_init__(self) -> None:
        integral = np.asarray((self.records == np.rint(self.records)).all(axis=1))
        largest = max(1.0, float(np.abs(self.records).max(initial=0.0)))
        real = self.level.exact - TIE_TOLERANCE * largest
        shares, low, high = self._row()
        for name, value in (
            ("is_integer", integral),
            ("positive_from", np.where(integral, self.level.first_integer, real)),
            ("negative_to", np.where(integral, self.level.first_integer - 1, real)),
            ("shares", shares), ("low", low), ("high", high),
            ("has_integer_shares", bool(np.all(shares == np.rint(shares)))),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    is_integer: NDArray[np.bool_] = dataclasses.field(init=False)
    positive_from: NDArray[np.float64] = dataclasses.field(init=False)
    negative_to: NDArray[np.float64] = dataclasses.field(init=False)
    shares: NDArray[np.float64] = dataclasses.field(init=False)
    low: float = dataclasses.field(init=False)
    high: float = dataclasses.field(init=False)
    has_integer_shares: bool = dataclasses.field(init=False)

    def _row(self) -> tuple[NDArray[np.float64], float, float]:
        """Coefficients and bounds of the row, integers where weights are."""
        limit = self.limit + RATE_TOLERANCE
        totals = [float(rate.weights.sum()) for rate in self.rates]
        whole = all(np.array_equal(rate.weights, np.rint(rate.weights)) for rate in self.rates)
        if len(self.rates) == 1:
            (rate,), (total,) = self.rates, totals
            shares, size = rate.weights, total
        else:
            one, other = self.rates
            divisor = math.gcd(*map(int, totals)) if whole else 1.0
            shares = (one.weights * totals[1] - other.weights * totals[0]) / divisor
            size = totals[0] * totals[1] / divisor
        if not whole or np.abs(shares).max(initial=0.0) > MAX_COUNT:
            whole, shares, size = False, shares / size, 1.0
        high = math.floor(limit * size) if whole else limit * size
        if len(self.rates) == 2:
            return shares, -high, high
        if self.rates[0].of_negative:
            return shares, (size if whole else float(shares.sum())) - high, math.inf
        return shares, -math.inf, high

    def positive(self, coef: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say which records are predicted positive.

        Parameters
        ----------
        coef : ndarray of int64, shape (d + 1,)
            Intercept first.

        Returns
        -------
        ndarray of bool, shape (m,)
        """
        points = coef[self.columns]
        used = np.flatnonzero(points)
        scores = self.records[:, used] @ points[used] + coef[0]
        return np.asarray(scores >= self.positive_from)

    def violation(self, coef: NDArray[np.int64]) -> str | None:
        """Say in words how a vector breaks the requirement.

        Parameters
        ----------
        coef : ndarray of int64, shape (d + 1,)
            Intercept first.

        Returns
        -------
        str or None
            With the rates that it has; None if it meets the requirement.
        """
        positive = self.positive(coef)
        total = float(self.shares[positive].sum())
        if self.low <= total <= self.high:
            return None
        values = [rate.value(positive) for rate in self.rates]
        if len(values) == 1:
            return f"it is {_text(values[0])}"
        named = " and ".join(
            f"{_text(value)} ({rate.label})" for value, rate in zip(values, self.rates, strict=True)
        )
        return f"the rates are {named}"

    @property
    def room(self) -> float:
        """Rounding error that sums of shares may have, in any order."""
        if self.has_integer_shares:
            return 0.0
        return float(len(self.shares) * np.finfo(np.float64).eps * np.abs(self.shares).sum())

    def ranges(
        self, lower: NDArray[np.int64], upper: NDArray[np.int64], max_size: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Least and largest score of each record over a box, with room for rounding errors.

        Parameters
        ----------
        lower, upper : ndarray of int64, shape (d + 1,)
            Intercept first.
        max_size : int
            Most points that are not zero.

        Returns
        -------
        least, most : ndarray of float64, shape (m,)
        """
        return ranges_over(self.records, self.columns, self.is_integer, lower, upper, max_size)

    def is_possible(
        self, lower: NDArray[np.int64], upper: NDArray[np.int64], max_size: int
    ) -> bool:
        """True if some predictions that a box leaves open meet the requirement.

        Parameters
        ----------
        lower, upper : ndarray of int64, shape (d + 1,)
            The box, intercept first.
        max_size : int
            Most points that are not zero.

        Returns
        -------
        bool
            False is a proof that no vector of the box meets it: records whose scores reach the
            threshold everywhere in the box are positive, those whose scores do nowhere are
            negative, and the others are taken as suits the requirement best.
        """
        least, most = self.ranges(lower, upper, max_size)
        positive, is_open = least >= self.positive_from, most >= self.positive_from
        is_open &= ~positive
        settled, open_shares = self.shares[positive].sum(), self.shares[is_open]
        return bool(
            settled + np.minimum(open_shares, 0.0).sum() <= self.high + self.room
            and settled + np.maximum(open_shares, 0.0).sum() >= self.low - self.room
        )

    def intercept_levels(
        self, lower: NDArray[np.int64], upper: NDArray[np.int64], max_size: int
    ) -> tuple[float, float]:
        r"""Intercepts between which all that matters to the requirement happens.

        Parameters
        ----------
        lower, upper : ndarray of int64, shape (d,)
            Bounds of the points.
        max_size : int

        Returns
        -------
        least, most : float
            With the least intercept every record is predicted negative whatever the points, with
            the most every one positive. Infinity and minus infinity for an end at which the
            requirement asks for no intercept beyond.
        """
        if not self.shares.any():
            return math.inf, -math.inf
        least, most = score_ranges(self.records, lower[self.columns - 1], upper[self.columns - 1],
                                   max_size)  # fmt: skip
        # One more on each side than rounding errors could matter.
        first = math.floor(float((self.negative_to - most).min())) - 1.0
        last = math.ceil(float((self.positive_from - least).max())) + 1.0
        # Fewer positive predictions help where they are bounded from above, and the other way.
        return (
            first if math.isfinite(self.high) else math.inf,
            last if math.isfinite(self.low) else -math.inf,
        )

    def marks(self) -> tuple[list[Any], list[NDArray[Any]]]:
        """Name what tells it from others: plain values, and arrays.

        Returns
        -------
        plain : list
        arrays : list of ndarray
        """
        plain = [*self.level, self.limit, *(rate.of_negative for rate in self.rates)]
        return plain, [self.records, self.columns, *(rate.weights for rate in self.rates)]


def ranges_over(
    records: NDArray[np.float64],
    columns: NDArray[np.intp],
    is_integer: NDArray[np.bool_],
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    max_size: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Least and largest score of each record over a box, with room for rounding errors.

    Parameters
    ----------
    records : ndarray of float64, shape (m, k)
    columns : ndarray of intp, shape (k,)
        Positions of their features in the vector.
    is_integer : ndarray of bool, shape (m,)
        Records with integer scores.
    lower, upper : ndarray of int64, shape (d + 1,)
        Intercept first.
    max_size : int
        Most points that are not zero.

    Returns
    -------
    least, most : ndarray of float64, shape (m,)
    """
    low, high = lower[columns], upper[columns]
    live = np.flatnonzero((low != 0) | (high != 0))
    least, most = score_ranges(records[:, live], low[live], high[live], max_size)
    least, most = least + lower[0], most + upper[0]
    # Sums can be far smaller than their terms.
    reach = np.maximum(np.abs(low[live]), np.abs(high[live])).astype(np.float64)
    size = np.abs(records[:, live]) @ reach + max(abs(lower[0]), abs(upper[0]), 1)
    error = np.where(is_integer & (size <= MAX_EXACT), 0.0, SCORE_ERROR * size)
    return least - error, most + error


def score_ranges(
    records: NDArray[np.float64],
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    max_size: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Least and largest score of each record over a box, intercept left out.

    Parameters
    ----------
    records : ndarray of float64, shape (m, k)
    lower, upper : ndarray of int64, shape (k,)
        Bounds of the points.
    max_size : int
        Most points that are not zero.

    Returns
    -------
    least, most : ndarray of float64, shape (m,)

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.constraints.rate_checks import score_ranges
    >>> score_ranges(np.array([[1.0, 3.0], [0.0, 2.0]]), np.array([-1, -2]), np.array([5, 1]), 1)
    (array([-6., -4.]), array([5., 2.]))
    """
    one, other = records * lower, records * upper
    required = (lower > 0) | (upper < 0)
    n_free = max(max_size - int(np.count_nonzero(required)), 0)
    free = ~required
    least = np.minimum(one, other)[:, required].sum(axis=1)
    least += _smallest_sum(np.minimum(one, other)[:, free], n_free)
    most = np.maximum(one, other)[:, required].sum(axis=1)
    most -= _smallest_sum(-np.maximum(one, other)[:, free], n_free)
    return least, most


def _smallest_sum(terms: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Sum of at most n negative terms of each row, the smallest ones."""
    negative = np.minimum(terms, 0.0)
    if 0 < n < negative.shape[1]:
        negative = np.partition(negative, n - 1, axis=1)
    return np.asarray(negative[:, :n].sum(axis=1))


def _text(rate: float) -> str:
    return f"{rate:.6g}"
