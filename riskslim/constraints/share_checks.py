r"""Shares at a threshold on the score, whichever it is: what constraints on them are to engines.

Rows whose score reaches a threshold are called positive; the intercept and the scale move all
scores alike, and with them the threshold. Shares that are asked for are to be met at one threshold
c. The more rows are called positive, the fewer positive ones are missed, so that only the largest c
that misses no more of them than is allowed has to be looked at: if negative rows are too often
called positive there, they are at every other one.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from riskslim.constraints.rate_checks import TIE_TOLERANCE, ranges_over
from riskslim.operating_point import RequiredShare

__all__ = ["OperatingPointCheck", "ShareOfRows"]


@dataclasses.dataclass(frozen=True, eq=False)
class ShareOfRows:
    """A share that is asked for, and the rows that it is about.

    Parameters
    ----------
    required : RequiredShare
    records : ndarray of float64, shape (m, k)
        Distinct records of the class, of features that can be used.
    columns : ndarray of intp, shape (k,)
        Positions of these features in the vector, the intercept's being 0.
    weights : ndarray of float64, shape (m,)
    is_all : bool
        Whether all rows of the class are among them, not those of a group.

    Attributes
    ----------
    is_integer : ndarray of bool, shape (m,)
        Records with integer scores.
    most_missed : float
        Most weight of these rows that may be called wrong.
    """

    required: RequiredShare
    records: NDArray[np.float64]
    columns: NDArray[np.intp]
    weights: NDArray[np.float64]
    is_all: bool

    is_integer: NDArray[np.bool_] = dataclasses.field(init=False)
    most_missed: float = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        integral = np.asarray((self.records == np.rint(self.records)).all(axis=1))
        object.__setattr__(self, "is_integer", integral)
        object.__setattr__(self, "most_missed", self.required.most_missed(self.total))

    @property
    def total(self) -> float:
        """Weight of the rows."""
        return float(self.weights.sum())

    @property
    def of_positive(self) -> bool:
        """True if they are positive rows, which a threshold must not be above."""
        return self.required.name == "sensitivity"

    @property
    def room(self) -> float:
        """Rounding error that sums of weights may have, in any order."""
        if np.array_equal(self.weights, np.rint(self.weights)):
            return 0.0
        return float(len(self.weights) * np.finfo(np.float64).eps * self.total)

    def scores(self, coef: NDArray[np.int64]) -> NDArray[np.float64]:
        """Score of each record, the intercept left out.

        Parameters
        ----------
        coef : ndarray of int64, shape (d + 1,)

        Returns
        -------
        ndarray of float64, shape (m,)
        """
        points = coef[self.columns]
        used = np.flatnonzero(points)
        return np.asarray(self.records[:, used] @ points[used], np.float64)

    def largest_threshold(self, scores: NDArray[np.float64], room: float = 0.0) -> float:
        """Find the largest threshold that is not above too much weight.

        Parameters
        ----------
        scores : ndarray of float64, shape (m,)
        room : float
            By which more may be missed.

        Returns
        -------
        float
            Infinite where all may be missed.
        """
        order = np.argsort(scores, kind="stable")
        missed = np.cumsum(self.weights[order]) > self.most_missed + room
        return float(scores[order[missed.argmax()]]) if missed.any() else math.inf

    def wrong(
        self, scores: NDArray[np.float64], thresholds: NDArray[np.float64], tie: float
    ) -> NDArray[np.float64]:
        """Weight that thresholds call wrong.

        Parameters
        ----------
        scores : ndarray of float64, shape (m,)
        thresholds : ndarray of float64, shape (k,)
        tie : float
            By how much less a score of a negative row may be that counts as positive.

        Returns
        -------
        ndarray of float64, shape (k,)
        """
        order = np.argsort(scores, kind="stable")
        below = np.concatenate(([0.0], np.cumsum(self.weights[order])))
        if self.of_positive:
            return np.asarray(below[np.searchsorted(scores[order], thresholds)])
        return np.asarray(below[-1] - below[np.searchsorted(scores[order], thresholds - tie)])

    def called_positive(self, scores: NDArray[np.float64], threshold: float) -> float:
        """Weight of the rows whose scores reach a threshold.

        Parameters
        ----------
        scores : ndarray of float64, shape (m,)
        threshold : float

        Returns
        -------
        float
        """
        return float(self.weights[scores >= threshold].sum())


@dataclasses.dataclass(frozen=True, eq=False)
class OperatingPointCheck:
    """Shares that a score is to have at one threshold.

    Parameters
    ----------
    shares : sequence of ShareOfRows

    Attributes
    ----------
    has_intercept : bool
        Whether the intercept matters: it does not.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.constraints.share_checks import OperatingPointCheck, ShareOfRows
    >>> from riskslim.operating_point import RequiredShare
    >>> records, columns = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([1, 2])
    >>> check = OperatingPointCheck([
    ...     ShareOfRows(
    ...         RequiredShare("sensitivity", 0.9), records, columns, np.array([1.0, 2, 8]), True
    ...     ),
    ...     ShareOfRows(
    ...         RequiredShare("specificity", 0.4), records, columns, np.array([4.0, 3, 2]), True
    ...     ),
    ... ])
    >>> check.violation(np.array([0, 1, 1])), check.violation(np.array([9, 1, 0]))
    (None, 'no threshold has all of it: sensitivity 72.73%, specificity 77.78%')
    """

    shares: Sequence[ShareOfRows]

    has_intercept: ClassVar[bool] = False

    @property
    def columns(self) -> NDArray[np.intp]:
        """Positions in the vector of the features that matter, shape (k,)."""
        return np.unique(np.concatenate([one.columns for one in self.shares]))

    @property
    def tie(self) -> float:
        """By how much less a score may be that is not told apart from a threshold."""
        if all(one.is_integer.all() for one in self.shares):
            return 0.0
        largest = max(float(np.abs(one.records).max(initial=0.0)) for one in self.shares)
        return TIE_TOLERANCE * max(1.0, largest)

    def _of(self, of_positive: bool) -> list[ShareOfRows]:
        return [one for one in self.shares if one.of_positive == of_positive]

    def most_missed(self, name: str) -> float:
        """Weight of a class that may be called wrong, by what is asked of all its rows.

        Parameters
        ----------
        name : {"sensitivity", "specificity"}

        Returns
        -------
        float
            Infinity where nothing is asked.
        """
        own = (one for one in self.shares if one.is_all and one.required.name == name)
        return min((one.most_missed for one in own), default=math.inf)

    @property
    def is_known_by_cells(self) -> bool:
        """True if rows of both classes in each cell of a support are all that has to be known."""
        return all(one.is_all and one.is_integer.all() for one in self.shares)

    def violation(self, coef: NDArray[np.int64]) -> str | None:
        """Say in words how a vector breaks the requirement.

        Parameters
        ----------
        coef : ndarray of int64, shape (d + 1,)
            Intercept first.

        Returns
        -------
        str or None
            None if it has all shares at one threshold.
        """
        positive = [(one, one.scores(coef)) for one in self._of(True)]
        threshold = min((one.largest_threshold(scores) for one, scores in positive),
                        default=math.inf)  # fmt: skip
        negative = [(one, one.scores(coef)) for one in self._of(False)]
        if all(
            one.called_positive(scores, threshold - self.tie) <= one.most_missed
            for one, scores in negative
        ):
            return None
        return f"no threshold has all of it: {self.nearest(coef)}"

    def nearest(self, coef: NDArray[np.int64]) -> str:
        """Say which shares a vector has at the threshold that comes nearest to what is asked.

        Parameters
        ----------
        coef : ndarray of int64, shape (d + 1,)
            Intercept first.

        Returns
        -------
        str
            Such as "sensitivity 95%, specificity 38.4%".
        """
        scores = [one.scores(coef) for one in self.shares]
        thresholds = np.append(np.unique(np.concatenate(scores)), math.inf)
        wrong = np.array(
            [one.wrong(own, thresholds, self.tie) for one, own in zip(self.shares, scores,
                                                                      strict=True)]
        )  # fmt: skip
        totals = np.array([one.total for one in self.shares])[:, None]
        most = np.array([one.most_missed for one in self.shares])[:, None]
        at = int(np.maximum((wrong - most) / totals, 0.0).sum(axis=0).argmin())
        return ", ".join(
            f"{one.required.name} {100 * (1.0 - share):.4g}%{'' if one.is_all else ' of a group'}"
            for one, share in zip(self.shares, (wrong / totals)[:, at].tolist(), strict=True)
        )

    def is_possible(
        self, lower: NDArray[np.int64], upper: NDArray[np.int64], max_size: int
    ) -> bool:
        """True if scores of a box may have the shares.

        Parameters
        ----------
        lower, upper : ndarray of int64, shape (d + 1,)
            The box, intercept first.
        max_size : int
            Most points that are not zero.

        Returns
        -------
        bool
            False is a proof that no vector of the box has them at any threshold: each record has
            the score that suits best, the most it can of positive ones, and the least of negative
            ones.
        """
        low, high = lower.copy(), upper.copy()
        low[0] = high[0] = 0
        threshold = math.inf
        for one in self._of(True):
            most = ranges_over(one.records, one.columns, one.is_integer, low, high, max_size)[1]
            threshold = min(threshold, one.largest_threshold(most, one.room))
        for one in self._of(False):
            least = ranges_over(one.records, one.columns, one.is_integer, low, high, max_size)[0]
            if one.called_positive(least, threshold - self.tie) > one.most_missed + one.room:
                return False
        return True

    def intercept_levels(
        self, lower: NDArray[np.int64], upper: NDArray[np.int64], max_size: int
    ) -> tuple[float, float]:
        """Intercepts that the requirement can push a free intercept to: none.

        Parameters
        ----------
        lower, upper : ndarray of int64, shape (d,)
        max_size : int

        Returns
        -------
        least, most : float
            Infinity and minus infinity.
        """
        return math.inf, -math.inf

    def marks(self) -> tuple[list[Any], list[NDArray[Any]]]:
        """Name what tells it from others: plain values, and arrays.

        Returns
        -------
        plain : list
        arrays : list of ndarray
        """
        plain = [[one.required.name, one.required.share] for one in self.shares]
        arrays = [array for one in self.shares for array in (one.records, one.columns, one.weights)]
        return plain, arrays
