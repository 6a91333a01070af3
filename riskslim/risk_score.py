r"""The risk score: what people take away, print, and compute with by hand.

A :class:`RiskScore` holds the points of a few features and an intercept :math:`\lambda_0`.
A row with feature values :math:`x_j` has the

.. math::

    \text{score} = \sum_j \lambda_j x_j, \qquad
    \text{risk} = \frac{1}{1 + \exp(-(\lambda_0 + \text{score}) / m)}

with the scale m, which is 1 in the paper.
It knows nothing of the engine that found it: it can be built by hand, saved, loaded and printed
with NumPy alone.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim.data import TrainingData
from riskslim.scale import PAPER_SCALE, ScaleSet, checked_scale, scale_text
from riskslim.solution import Certificate
from riskslim.tables import (
    ColumnError,
    Table,
    check_numeric,
    listing,
    near,
    open_table,
    raise_faults,
    real_faults,
)

if TYPE_CHECKING:
    from riskslim.solution import Solution

__all__ = ["FeatureRange", "RiskRow", "RiskScore"]

_FORMAT = "riskslim.risk_score"
# Scores with the scale 1 are written in version 1, which has no other scale.
_FORMAT_VERSION = 2

# Points and intercept: sums of a few thousand of these are exact in float64.
_MAX_POINTS = 2**31 - 1
# Distinct values of a feature that are kept to enumerate the attainable scores.
_MAX_VALUES = 256
# Attainable scores are enumerated as a bit set of at most this length.
_MAX_SPAN = 2**20
# Columns of a risk table whose scores are chosen, not enumerated.
_MAX_COLUMNS = 20
_MAX_WIDTH = 80
# Longer names of features are wrapped.
_MAX_NAME_WIDTH = 64
# Rows whose values are looked at together when the range of a feature is collected.
_BLOCK_ROWS = 65536

# Risks beyond these are printed as bounds.
_LOWEST_RISK, _HIGHEST_RISK = 0.001, 0.999
_BELOW, _ABOVE = "<0.1%", ">99.9%"

# Units of log-odds per point for which it is said what the point does to the odds.
_LEAST_POINT, _MOST_POINT = 0.001, 10.0


@dataclasses.dataclass(frozen=True)
class FeatureRange:
    """The values of a feature in the training data.

    They decide how the feature is printed and which scores the risk table lists. They do not
    limit predictions.

    Parameters
    ----------
    minimum, maximum : float
        Smallest and largest value.
    is_integer : bool, default True
        Whether all values are integers.
    values : sequence of int, optional
        All values in increasing order, where they are integers and few. By default both
        values of a feature that is 0 or 1, else unknown.

    Raises
    ------
    ValueError
        Values that are not finite, out of order, or contradict each other.

    Examples
    --------
    >>> from riskslim.risk_score import FeatureRange
    >>> FeatureRange(0, 1).is_binary, FeatureRange(1, 10).is_binary
    (True, False)
    >>> FeatureRange.of([3, 1, 3, 2])
    FeatureRange(minimum=1, maximum=3, is_integer=True, values=(1, 2, 3))
    """

    minimum: float
    maximum: float
    is_integer: bool = True
    values: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        ends = [_number(self.minimum, "minimum"), _number(self.maximum, "maximum")]
        if ends[0] > ends[1]:
            raise ValueError(f"minimum {ends[0]} exceeds maximum {ends[1]}")
        values = self.values
        if self.is_integer:
            ends = [_integer(end, "the end of an integer range") for end in ends]
            if values is None and ends[0] >= 0 and ends[1] <= 1:
                values = tuple(range(int(ends[0]), int(ends[1]) + 1))
        if values is not None:
            if not self.is_integer:
                raise ValueError("values are listed for integer features only")
            values = tuple(_integer(value, "a value of an integer feature") for value in values)
            if list(values) != sorted(set(values)) or [*values[:1], *values[-1:]] != ends:
                raise ValueError(
                    f"values must increase from the minimum {ends[0]} to the maximum {ends[1]}, "
                    f"got {listing(map(str, values))}"
                )
        _set(self, minimum=ends[0], maximum=ends[1], values=values)

    @property
    def is_binary(self) -> bool:
        """Whether the feature is a condition, 1 where it holds and 0 elsewhere."""
        return self.is_integer and self.minimum >= 0 and self.maximum <= 1

    @classmethod
    def of(cls, column: Any) -> FeatureRange:
        """Collect the range of a column.

        Parameters
        ----------
        column : array-like of shape (n,)
            Finite numbers, n at least 1.

        Returns
        -------
        FeatureRange
        """
        values = np.asarray(column)
        low, high = values.min().item(), values.max().item()
        distinct: set[float] | None = set()
        for start in range(0, len(values), _BLOCK_ROWS):
            block = values[start : start + _BLOCK_ROWS]
            if block.dtype.kind == "f" and not np.array_equal(block, np.rint(block)):
                return cls(low, high, is_integer=False)
            if distinct is not None:
                distinct.update(np.unique(block).tolist())
                if len(distinct) > _MAX_VALUES:
                    distinct = None
        if distinct is None:
            return cls(int(low), int(high))
        return cls(int(low), int(high), values=tuple(sorted(map(int, distinct))))


class RiskRow(NamedTuple):
    """One entry of a risk table.

    Attributes
    ----------
    score : str
        The score as printed: one number, or "<= -4" and ">= 9" at the ends.
    risk : str
        The risk as printed, for example "11.9%", "<0.1%" or ">99.9%".
    lowest, highest : float
        The scores that the entry is for, -inf and inf at open ends.
    """

    score: str
    risk: str
    lowest: float
    highest: float


@dataclasses.dataclass(frozen=True, repr=False)
class RiskScore:
    r"""A risk score: points per feature, an intercept, and the risk of every score.

    Parameters
    ----------
    intercept : int
        :math:`\lambda_0`. It is no part of the score: it says which score has a risk of 50%.
    points : mapping from str to int
        Points :math:`\lambda_j` per feature. Features with 0 points are left out. Kept with the
        largest points first and ties in the order of ``feature_names``.
    outcome_name : str, default "outcome"
        What is predicted.
    classes : (negative label, positive label), default (0, 1)
        The risk is the probability of the positive label.
    feature_names : sequence of str, optional
        All features that the score was chosen from, in the order of the columns that the
        prediction methods expect of arrays. Default: the features in ``points``.
    feature_ranges : mapping from str to FeatureRange, optional
        Values of the features in the training data. Features left out are taken to be 0 or 1.
    certificate : Certificate, optional
        What is proven about the score. None for a score made by hand.
    scale : float, default 1.0
        The scale m: a point is worth 1 / m units of log-odds.

    Attributes
    ----------
    intercept : int
    points : mapping from str to int
        Read-only, non-zero.
    outcome_name : str
    classes : tuple
    feature_names : tuple of str
    feature_ranges : mapping from str to FeatureRange
        Read-only, one for each feature in ``points``.
    certificate : Certificate or None
    scale : float

    Raises
    ------
    TypeError, ValueError
        Points or intercept that are no integers, names that are unknown, empty or given twice,
        anything but two different classes, a scale that is not between 1e-6 and 1e9.

    Notes
    -----
    With the scale 1, score and risk are those of Ustun & Rudin (2019), section 2. Predictions for
    values outside of ``feature_ranges`` follow the same formula.

    Examples
    --------
    The points of the CHADS2 score; the intercept is made up:

    >>> from riskslim import RiskScore
    >>> score = RiskScore(
    ...     -4,
    ...     {
    ...         "congestive heart failure": 1,
    ...         "hypertension": 1,
    ...         "age >= 75": 1,
    ...         "diabetes mellitus": 1,
    ...         "prior stroke": 2,
    ...     },
    ...     outcome_name="stroke",
    ... )
    >>> print(score)
    RISK SCORE: probability that stroke = 1
    +-----------------------------+----------+-------+
    | 1. prior stroke             | 2 points |   ... |
    | 2. congestive heart failure | 1 point  | + ... |
    | 3. hypertension             | 1 point  | + ... |
    | 4. age >= 75                | 1 point  | + ... |
    | 5. diabetes mellitus        | 1 point  | + ... |
    +-----------------------------+----------+-------+
    |    ADD THE POINTS OF ROWS 1 TO 5 SCORE | = ... |
    +-----------------------------+----------+-------+
    <BLANKLINE>
    +-------+------+------+-------+-------+-------+-------+-------+
    | SCORE |    0 |    1 |     2 |     3 |     4 |     5 |     6 |
    | RISK  | 1.8% | 4.7% | 11.9% | 26.9% | 50.0% | 73.1% | 88.1% |
    +-------+------+------+-------+-------+-------+-------+-------+
    risk = 1 / (1 + exp(4 - score))
    >>> row = {
    ...     "congestive heart failure": 0,
    ...     "hypertension": 1,
    ...     "age >= 75": 1,
    ...     "diabetes mellitus": 0,
    ...     "prior stroke": 1,
    ... }
    >>> score.score_samples(row), score.predict(row)
    (array([4]), array([0]))
    >>> score.predict_proba(row)
    array([[0.5, 0.5]])

    With another scale the points are added up as before; the table has other risks:

    >>> print(RiskScore(-4, {"smoker": 3, "age >= 60": 2}, scale=2.5))
    RISK SCORE: probability that outcome = 1
    +-----------------------------+----------+-------+
    | 1. smoker                   | 3 points |   ... |
    | 2. age >= 60                | 2 points | + ... |
    +-----------------------------+----------+-------+
    |    ADD THE POINTS OF ROWS 1 TO 2 SCORE | = ... |
    +-----------------------------+----------+-------+
    <BLANKLINE>
    +-------+-------+-------+-------+-------+
    | SCORE |     0 |     2 |     3 |     5 |
    | RISK  | 16.8% | 31.0% | 40.1% | 59.9% |
    +-------+-------+-------+-------+-------+
    risk = 1 / (1 + exp(-(score - 4) / 2.5))
    Scale 2.5: one point adds 0.4 to the log-odds and multiplies the odds by 1.492.
    """

    intercept: int
    points: Mapping[str, int]
    _: dataclasses.KW_ONLY
    outcome_name: str = "outcome"
    classes: tuple[Any, Any] = (0, 1)
    feature_names: Sequence[str] = ()
    feature_ranges: Mapping[str, FeatureRange] = dataclasses.field(default_factory=dict)
    certificate: Certificate | None = None
    scale: float = 1.0

    def __post_init__(self) -> None:
        names = tuple(self.feature_names) or tuple(self.points)
        _check_names(names)
        _check_known(self.points, names, "points")
        points = {
            name: _points(self.points[name], f"points of {name!r}")
            for name in names
            if name in self.points
        }
        used = sorted((name for name in points if points[name]), key=lambda name: -points[name])
        ranges = dict(self.feature_ranges)
        _check_known(ranges, names, "feature_ranges")
        for name, value in ranges.items():
            if not isinstance(value, FeatureRange):
                raise TypeError(f"feature_ranges[{name!r}] must be a FeatureRange, got {value!r}")
        if not isinstance(self.certificate, Certificate | None):
            raise TypeError(f"certificate must be a Certificate, got {self.certificate!r}")
        _set(
            self,
            intercept=_points(self.intercept, "intercept"),
            points=MappingProxyType({name: points[name] for name in used}),
            outcome_name=str(self.outcome_name),
            classes=_checked_classes(self.classes),
            feature_names=names,
            feature_ranges=MappingProxyType(
                {name: ranges.get(name, FeatureRange(0, 1)) for name in used}
            ),
            scale=checked_scale(self.scale),
        )

    @classmethod
    def from_solution(cls, solution: Solution, data: TrainingData, *, rank: int = 0) -> RiskScore:
        """Build the risk score of an engine's solution.

        Parameters
        ----------
        solution : Solution
        data : TrainingData
            The data that the problem was stated on.
        rank : int, default 0
            Which score of ``solution.pool``, 0 for the best. The certificate is about the best
            one: others have none.

        Returns
        -------
        RiskScore

        Raises
        ------
        TypeError
            ``data`` is no TrainingData.
        ValueError
            The problem was infeasible, so that there is no score; the solution has no score of
            this rank; its features are not those of the data; its scale is not the one that its
            certificate is about; or the scale of the score of this rank is not known.

        Examples
        --------
        >>> import numpy as np
        >>> from riskslim import Certificate, RiskScore, Solution, Status, TrainingData
        >>> data = TrainingData({"age": [40, 62, 55, 71], "smoker": [0, 1, 0, 1]}, [0, 1, 0, 1])
        >>> certificate = Certificate(Status.FEASIBLE, 0.3, 0.3, 1, 0.1, 0.0, 0.0, "example", 4)
        >>> solution = Solution(np.array([0, 3]), -2, certificate, data.feature_names)
        >>> RiskScore.from_solution(solution, data)
        RiskScore(intercept=-2, points={'smoker': 3}, outcome_name='outcome', classes=(0, 1))
        """
        if not isinstance(data, TrainingData):
            raise TypeError(
                f"data must be the TrainingData that the problem was stated on, got "
                f"{type(data).__name__}"
            )
        if solution.feature_names != data.feature_names:
            raise ValueError(
                f"the solution is for {len(solution.feature_names)} features that are not the "
                f"{data.n_features} features of the data; pass the data that it was fitted to"
            )
        coef, scale = _ranked(solution, rank)
        used = np.flatnonzero(coef[1:]).tolist()
        names = data.feature_names
        return cls(
            int(coef[0]),
            {names[j]: int(coef[1 + j]) for j in used},
            outcome_name=data.outcome_name,
            classes=data.classes,
            feature_names=names,
            feature_ranges={names[j]: FeatureRange.of(data.column(j)) for j in used},
            certificate=None if rank else solution.certificate,
            scale=scale,
        )

    # -----------------------------------------------------------------------------------------
    # Predictions
    # -----------------------------------------------------------------------------------------

    def score_samples(self, X: Any) -> NDArray[Any]:
        r"""Compute the score, the sum of the points, of each row.

        Parameters
        ----------
        X : array-like of shape (n, d), data frame, mapping, or list of mappings
            An array or nested lists with all features in the order of ``feature_names``; or
            anything with names, of which only the features with points are read: any data frame
            that narwhals understands, :class:`~riskslim.TrainingData`, a mapping from names to
            columns, a mapping or a pandas series from names to the values of one row, or a list
            of such rows.

        Returns
        -------
        ndarray of shape (n,)
            int64 where all values that were read are integers, else float64.

        Raises
        ------
        ValueError, TypeError
            Features are missing, the number of columns is wrong, or values are missing, infinite
            or no numbers; columns are named, rows counted.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> RiskScore(-3, {"smoker": 2, "exercise": -1}).score_samples([[1, 0], [1, 1], [0, 1]])
        array([ 2,  1, -1])
        """
        table = _open_rows(X, tuple(self.points))
        positions = self._positions(table)
        total = np.zeros(table.n_samples)
        faults: list[tuple[int, ColumnError]] = []
        integral = True
        # Infinities are looked for below.
        with np.errstate(over="ignore", invalid="ignore"):
            for k, (name, points) in enumerate(self.points.items()):
                try:
                    column = table.column(positions[name])
                except ColumnError as fault:
                    faults.append((k, fault))
                    continue
                values = np.asarray(column, dtype=np.float64)
                faults.extend((k, fault) for fault in real_faults(values, column.dtype.kind))
                if column.dtype.kind not in "biu":
                    integral = integral and np.array_equal(values, np.rint(values))
                total += points * values
        raise_faults(faults, tuple(self.points), table.n_samples)
        _check_totals(total)
        # Beyond 2**53 float64 does not hold every integer.
        if integral and np.abs(total).max(initial=0.0) < 2.0**53:
            return total.astype(np.int64)
        return total

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        r"""Compute the log-odds :math:`(\lambda_0 + \sum_j \lambda_j x_j) / m` of each row.

        Parameters
        ----------
        X
            As in :meth:`score_samples`.

        Returns
        -------
        ndarray of float64, shape (n,)
            Natural logarithm of risk / (1 - risk): positive where the positive class is more
            likely. Of a score with the scale 1 these are points, intercept included; with another
            scale m, points divided by m.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> RiskScore(-3, {"smoker": 5}, scale=2.5).decision_function([[0], [1]])
        array([-1.2,  0.8])
        """
        return self._log_odds(self.score_samples(X).astype(np.float64))

    def _log_odds(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        # Beyond float64 the risk is 0 or 1. Division by a scale of 1 changes no bit.
        with np.errstate(over="ignore"):
            return np.asarray((self.intercept + scores) / self.scale)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        r"""Compute the probability of each class.

        Parameters
        ----------
        X
            As in :meth:`score_samples`.

        Returns
        -------
        ndarray of float64, shape (n, 2)
            Columns in the order of ``classes``: the second one is the risk. With the scale 1 both
            columns are accurate to a few units in the last place, however small they are; with
            another one, to a few units of it times the log-odds, which are rounded.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> RiskScore(-3, {"smoker": 2}).predict_proba([[0], [1]]).round(4)
        array([[0.9526, 0.0474],
               [0.7311, 0.2689]])
        """
        log_odds = self.decision_function(X)
        return np.column_stack((_logistic(-log_odds), _logistic(log_odds)))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label of each row.

        Parameters
        ----------
        X
            As in :meth:`score_samples`.

        Returns
        -------
        ndarray of shape (n,)
            The positive label where the risk is above 50%, else the negative one.
        """
        kinds = {type(label) for label in self.classes}
        labels = np.array(self.classes, dtype=None if len(kinds) == 1 else object)
        return np.asarray(labels[(self.decision_function(X) > 0).astype(np.intp)])

    def remarks(self, X: Any) -> tuple[str, ...]:
        """What is worth knowing before the predictions for some rows are used, in words.

        Parameters
        ----------
        X
            As in :meth:`score_samples`.

        Returns
        -------
        tuple of str
            One sentence for each feature with points that has values outside of its range in
            the training data: predictions for these rows extrapolate. Empty if there is none.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> from riskslim.risk_score import FeatureRange
        >>> score = RiskScore(-5, {"visits": 2}, feature_ranges={"visits": FeatureRange(0, 7)})
        >>> for remark in score.remarks({"visits": [3, 0, 12]}):
        ...     print(remark)
        1 of 3 rows have values outside of the training range of 'visits' (0 to 7), first at row 2
        (rows counted from 0).
        """
        table = _open_rows(X, tuple(self.points))
        positions = self._positions(table)
        found = []
        for name, values in self.feature_ranges.items():
            column = np.asarray(table.column(positions[name]), dtype=np.float64)
            outside = (column < values.minimum) | (column > values.maximum)
            if count := np.count_nonzero(outside):
                have = "row has a value" if table.n_samples == 1 else "rows have values"
                found.append(
                    f"{count} of {table.n_samples} {have} outside of the training range of "
                    f"{name!r} ({_short(values.minimum)} to {_short(values.maximum)}), first at "
                    f"row {np.argmax(outside)} (rows counted from 0)."
                )
        return tuple(found)

    def _positions(self, table: Table) -> dict[str, int]:
        """Where the features with points are among the columns of a table."""
        if table.names is None:
            if table.n_features != len(self.feature_names):
                raise ValueError(
                    f"X has {table.n_features} features, but RiskScore is expecting "
                    f"{len(self.feature_names)} features as input: all features of the training "
                    "data in their order. To give only those with points, pass a data frame or "
                    "mappings with their names."
                )
            return {name: self.feature_names.index(name) for name in self.points}
        names = [str(name) for name in table.names]
        _check_present(tuple(self.points), names)
        twice = [name for name in self.points if names.count(name) > 1]
        if twice:
            raise ValueError(f"X has several columns named {listing(map(repr, twice))}.")
        return {name: names.index(name) for name in self.points}

    # -----------------------------------------------------------------------------------------
    # Tables
    # -----------------------------------------------------------------------------------------

    def risk_table(self) -> tuple[RiskRow, ...]:
        """List the risk of every attainable score.

        Where all features with points are integers with few values, the scores are all sums that
        their values in the training data allow; those with a risk below 0.1% share one entry, and
        so do those above 99.9%. With other features the
        entries are for scores at equal steps, from a risk of 0.1% to one of 99.9% or
        to the ends of what the training data allow. The larger the scale, the further apart
        are these scores.

        Returns
        -------
        tuple of RiskRow
            In order of the score.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> for row in RiskScore(-3, {"smoker": 2, "exercise": -1}).risk_table():
        ...     print(row.score, row.risk)
        -1 1.8%
        0 4.7%
        1 11.9%
        2 26.9%
        """
        totals = self._attainable_totals()
        if totals is None:
            labels = self._grid_of_scores()
            return _grouped(labels, self._risks(labels), open_ended=True)
        labels = [str(total) for total in totals.tolist()]
        return _grouped(labels, self._risks(labels), open_ended=False)

    def _risks(self, labels: list[str]) -> list[str]:
        """Risks as printed, of scores as printed."""
        scores = np.array([float(label) for label in labels])
        return [_percent(risk) for risk in _logistic(self._log_odds(scores)).tolist()]

    @property
    def _total_range(self) -> tuple[float, float]:
        """Smallest and largest score that the values in the training data allow."""
        low = high = 0.0
        for name, points in self.points.items():
            values = self.feature_ranges[name]
            ends = sorted((points * values.minimum, points * values.maximum))
            low, high = low + ends[0], high + ends[1]
        return low, high

    def _attainable_totals(self) -> NDArray[np.int64] | None:
        """All sums of points times a value; None if they are not enumerated.

        Bit k of a Python integer stands for the k-th integer from the smallest sum on; a feature
        shifts the set by each of its contributions.
        """
        low, high = self._total_range
        if not high - low <= _MAX_SPAN:
            return None
        reached = 1
        for name, points in self.points.items():
            values = self.feature_ranges[name].values
            if values is None:
                return None
            contributions = [points * value for value in values]
            first = min(contributions)
            shifted = 0
            for contribution in contributions:
                shifted |= reached << (contribution - first)
            reached = shifted
        octets = np.frombuffer(
            reached.to_bytes(reached.bit_length() // 8 + 1, "little"), dtype=np.uint8
        )
        return np.flatnonzero(np.unpackbits(octets, bitorder="little")) + int(low)

    @property
    def _is_integer(self) -> bool:
        return all(values.is_integer for values in self.feature_ranges.values())

    def _grid_of_scores(self) -> list[str]:
        """Scores at equal steps over the range in which the risk is neither 0 nor 1."""
        low, high = self._total_range
        margin = self.scale * math.log(_HIGHEST_RISK / _LOWEST_RISK)
        # The whole range may lie where the risk is below 0.1% or above 99.9%.
        start = min(max(low, -self.intercept - margin), high)
        end = max(min(high, -self.intercept + margin), low)
        step = _nice_step((end - start) / (_MAX_COLUMNS - 4))
        if self._is_integer:
            step = max(step, Decimal(1))
        # One step beyond where the risk gets extreme: the entry for all that lies further out.
        first = math.floor(start / float(step)) if start > low else math.ceil(start / float(step))
        last = math.ceil(end / float(step)) if end < high else math.floor(end / float(step))
        if last < first:  # less than a step wide
            first = last = round(start / float(step))
        return [f"{k * step:f}" for k in range(first, last + 1)]

    def __str__(self) -> str:
        head = f"RISK SCORE: probability that {self.outcome_name} = {self.classes[1]}"
        parts = [_one_line(head), self._points_text(), "", self._risk_text(), self._formula()]
        chosen = self.certificate is not None and self.certificate.scales != PAPER_SCALE
        if chosen or self.scale != 1.0:
            parts.append(self._worth_of_a_point())
        if self._attainable_totals() is None and not self._is_integer:
            parts.append("The table shows some of the scores: between them, use the formula.")
        if not all(values.is_binary for values in self.feature_ranges.values()):
            parts.append("[a to b]: the values of the feature in the training data.")
        if self.certificate is not None:
            parts.append(str(self.certificate))
        return "\n".join(parts)

    def __repr__(self) -> str:
        scale = "" if self.scale == 1.0 else f", scale={self.scale!r}"
        return (
            f"RiskScore(intercept={self.intercept}, points={dict(self.points)}, "
            f"outcome_name={self.outcome_name!r}, classes={self.classes!r}{scale})"
        )

    def _points_text(self) -> str:
        if not self.points:
            return "No feature has points: the score of every row is 0."
        digits = max(len(str(points)) for points in self.points.values())
        lines = []
        for k, (name, points) in enumerate(self.points.items(), start=1):
            values = self.feature_ranges[name]
            unit = "point" if abs(points) == 1 else "points"
            label = f"{k:>{len(str(len(self.points)))}}. {_one_line(name)}"
            if not values.is_binary:
                label += f" [{_short(values.minimum)} to {_short(values.maximum)}]"
                unit += " x value"
            blank = "  ..." if k == 1 else "+ ..."
            indent = " " * (label.index(". ") + 2)
            first, *others = textwrap.wrap(label, _MAX_NAME_WIDTH, subsequent_indent=indent)
            lines.append((first, f"{points:>{digits}} {unit}", blank))
            lines.extend((other, "", "") for other in others)
        return _boxed_points(lines, len(self.points))

    def _risk_text(self) -> str:
        rows = self.risk_table()
        return "\n".join(_boxed_risks(block) for block in _blocks(rows))

    def _formula(self) -> str:
        if self.scale != 1.0:
            sign = "-" if self.intercept < 0 else "+"
            sum_of_all = f"(score {sign} {abs(self.intercept)})" if self.intercept else "score"
            return f"risk = 1 / (1 + exp(-{sum_of_all} / {scale_text(self.scale)}))"
        if self.intercept == 0:
            return "risk = 1 / (1 + exp(-score))"
        return f"risk = 1 / (1 + exp({-self.intercept} - score))"

    def _worth_of_a_point(self) -> str:
        worth = 1.0 / self.scale
        text = f"Scale {scale_text(self.scale)}: one point adds {worth:.4g} to the log-odds"
        if _LEAST_POINT <= worth <= _MOST_POINT:
            text += f" and multiplies the odds by {math.exp(worth):.4g}"
        return f"{text}."

    # -----------------------------------------------------------------------------------------
    # Files
    # -----------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """Write the score as JSON text.

        Returns
        -------
        str
            Everything that the score holds, the certificate included. :meth:`from_json` reads it
            back without any loss.

        Raises
        ------
        TypeError
            The classes are neither bool, int, float nor str.
        """
        return json.dumps(_to_plain(self), indent=2, allow_nan=False, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> RiskScore:
        """Read what :meth:`to_json` wrote.

        Parameters
        ----------
        text : str or bytes

        Returns
        -------
        RiskScore
            Equal to the one that was written; predictions are the same to the last bit.

        Raises
        ------
        ValueError
            The text is no JSON, no risk score, from a newer version of the format, or
            incomplete, or a value in it is out of range.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> score = RiskScore(-3, {"smoker": 2}, classes=("no", "yes"))
        >>> RiskScore.from_json(score.to_json()) == score
        True
        """
        try:
            plain = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _NotAScoreError(
                f"not a risk score: the text is no valid JSON ({error})"
            ) from None
        return _from_plain(plain)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the score to a JSON file.

        The file is replaced as a whole: whoever reads it sees the old or the new content.

        Parameters
        ----------
        path : str or path-like

        Raises
        ------
        OSError
            The file cannot be written.
        TypeError
            As in :meth:`to_json`.
        """
        _write_atomically(Path(path), self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RiskScore:
        """Read a score from a JSON file.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        RiskScore

        Raises
        ------
        OSError
            The file cannot be read.
        ValueError
            As in :meth:`from_json`; the message names the file.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from riskslim import RiskScore
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "score.json")
        ...     RiskScore(-3, {"smoker": 2}).save(path)
        ...     RiskScore.load(path)
        RiskScore(intercept=-3, points={'smoker': 2}, outcome_name='outcome', classes=(0, 1))
        """
        octets = Path(path).read_bytes()
        try:
            return cls.from_json(octets)
        except _NotAScoreError as error:
            raise ValueError(
                f"{path}: {error}; expected a file that riskslim fit --output or RiskScore.save "
                "wrote"
            ) from None
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    # -----------------------------------------------------------------------------------------
    # Being a value
    # -----------------------------------------------------------------------------------------

    def __hash__(self) -> int:
        return hash((self.intercept, tuple(self.points.items()), self.classes, self.scale))

    def __reduce__(self) -> tuple[Any, ...]:
        # Read-only mappings cannot be pickled.
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        for name in ("points", "feature_ranges"):
            fields[name] = dict(fields[name])
        return _rebuilt, (fields,)


def _rebuilt(fields: dict[str, Any]) -> RiskScore:
    return RiskScore(**fields)


class _NotAScoreError(ValueError):
    """The text is something else than a risk score, not one with a mistake in it."""


def _ranked(solution: Solution, rank: int) -> tuple[NDArray[np.int64], float]:
    """Coefficient vector and scale of one of a solution's scores."""
    best = solution.coef  # raises where there is no score
    count = 1 if solution.pool is None else len(solution.pool)
    if not 0 <= rank < count:
        raise ValueError(
            f"rank must be between 0 and {count - 1}, got {rank}: the solution has {count} risk "
            f"score{'s' if count > 1 else ''}; branch_and_bound(problem, n_solutions=...) finds "
            "several"
        )
    if rank and solution.pool is not None:
        if solution.pool.scales is None and solution.certificate.scales != PAPER_SCALE:
            raise ValueError(
                "the scores of the pool were chosen with scales of "
                f"{solution.certificate.scales.describe()}, but it does not say which each has"
            )
        return solution.pool.coefficients[rank], solution.pool.scale(rank)
    if solution.scale != solution.certificate.scale:
        raise ValueError(
            f"the solution has the scale {solution.scale!r}, but its certificate is about the "
            f"scale {solution.certificate.scale!r}"
        )
    return best, solution.scale


# ---------------------------------------------------------------------------------------------
# Checks
# ---------------------------------------------------------------------------------------------


def _set(instance: Any, **values: Any) -> None:
    """Set fields of a frozen dataclass while it is built."""
    for name, value in values.items():
        object.__setattr__(instance, name, value)


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ValueError(f"{what} must be a number, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{what} must be finite and within float64, got {value!r}")
    return number


def _integer(value: Any, what: str) -> int:
    if _number(value, what) != math.floor(value):
        raise ValueError(f"{what} must be an integer, got {value!r}")
    return int(value)


def _points(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{what} must be an integer, got {value!r}")
    if abs(int(value)) > _MAX_POINTS:
        raise ValueError(f"{what} must be at most {_MAX_POINTS} in absolute value, got {value}")
    return int(value)


def _check_names(names: tuple[Any, ...]) -> None:
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str) or not name:
            raise ValueError(f"feature names must be non-empty str, got {name!r}")
        if name in seen:
            raise ValueError(f"feature name {name!r} is given more than once")
        seen.add(name)


def _check_known(given: Iterable[str], names: tuple[str, ...], what: str) -> None:
    known = set(names)
    unknown = [name for name in given if name not in known]
    if unknown:
        raise ValueError(f"{what} names features that are not among feature_names: {unknown}")


def _checked_classes(classes: Any) -> tuple[Any, Any]:
    labels = tuple(
        label.item() if isinstance(label, np.generic) else label
        for label in (classes if not isinstance(classes, str) else ())
    )
    if len(labels) != 2 or labels[0] == labels[1]:
        raise ValueError(
            f"classes must be two different labels, the negative one first, got {classes!r}"
        )
    return labels


def _check_present(wanted: tuple[str, ...], names: Sequence[str]) -> None:
    present = set(names)
    missing = [name for name in wanted if name not in present]
    if missing:
        raise ValueError(
            f"X lacks {len(missing)} of the {len(wanted)} features with points: "
            f"{listing(repr(name) + near(name, names) for name in missing)}."
        )


def _check_totals(total: NDArray[np.float64]) -> None:
    wrong = ~np.isfinite(total)
    if wrong.any():
        raise ValueError(
            f"The score overflows float64 in {np.count_nonzero(wrong)} of {len(total)} rows, first "
            f"at row {np.argmax(wrong)} (rows counted from 0): values are too large."
        )


# ---------------------------------------------------------------------------------------------
# Input of predictions
# ---------------------------------------------------------------------------------------------


def _open_rows(X: Any, wanted: tuple[str, ...]) -> Table:
    """Open what the prediction methods take, which is more than training data may be."""
    if isinstance(X, TrainingData):
        return Table(X.n_samples, X.n_features, X.feature_names, X.column)
    if _is_record(X):
        X = X.to_dict()
    if isinstance(X, Mapping) and all(_is_scalar(value) for value in X.values()):
        return _table_from_rows([X], wanted)
    if isinstance(X, (list, tuple)) and any(isinstance(row, Mapping) for row in X):
        return _table_from_rows(X, wanted)
    return open_table(X)


def _is_record(X: Any) -> bool:
    """Whether X is one row as a pandas series, as ``frame.iloc[0]`` is: its index has the names."""
    index: Any = getattr(X, "index", None)
    return (
        hasattr(X, "to_dict")
        and getattr(X, "ndim", None) == 1
        and getattr(index, "is_unique", False) is True
        and all(isinstance(name, str) for name in index)
    )


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (str, bytes)) or not hasattr(value, "__len__")


def _table_from_rows(rows: Sequence[Any], wanted: tuple[str, ...]) -> Table:
    named: list[dict[str, Any]] = []
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise TypeError(
                f"X is a list of mappings, but row {i} (rows counted from 0) is of type "
                f"{type(row).__name__!r}."
            )
        named.append({str(name): value for name, value in row.items()})
        try:
            _check_present(wanted, list(named[-1]))
        except ValueError as error:
            if len(rows) == 1:
                raise
            raise ValueError(f"Row {i} (rows counted from 0): {error}") from None

    def column(j: int) -> NDArray[Any]:
        values = np.empty(len(named), dtype=object)
        for i, row in enumerate(named):
            values[i] = row[wanted[j]]
        return check_numeric(values)

    return Table(len(named), len(wanted), wanted, column)


def _logistic(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / (1 + exp(-z)) without overflow, accurate in both tails."""
    small = np.exp(-np.abs(log_odds))
    return np.asarray(np.where(log_odds >= 0, 1.0, small) / (1.0 + small))


# ---------------------------------------------------------------------------------------------
# Text
# ---------------------------------------------------------------------------------------------


def _percent(risk: float) -> str:
    if risk < _LOWEST_RISK:
        return _BELOW
    if risk > _HIGHEST_RISK:
        return _ABOVE
    return f"{risk:.1%}"


def _grouped(labels: list[str], risks: list[str], *, open_ended: bool) -> tuple[RiskRow, ...]:
    """One entry per score, but one for all with a risk below 0.1%, and one for all above 99.9%.

    With ``open_ended`` the outermost scores stand for everything beyond them.
    """
    n_below, n_above = risks.count(_BELOW), risks.count(_ABOVE)
    least = 1 if open_ended else 2
    rows = []
    start, end = 0, len(labels)
    if n_below >= least:
        start = n_below
        label = labels[start - 1]
        rows.append(RiskRow(f"<= {label}", _BELOW, -math.inf, float(label)))
    if n_above >= least:
        end -= n_above
    rows += [
        RiskRow(labels[k], risks[k], float(labels[k]), float(labels[k])) for k in range(start, end)
    ]
    if n_above >= least:
        rows.append(RiskRow(f">= {labels[end]}", _ABOVE, float(labels[end]), math.inf))
    return tuple(rows)


def _nice_step(least: float) -> Decimal:
    """Smallest of 1, 2, 5, 10, 20, ... times a power of ten that is at least this."""
    if not least > 0:
        return Decimal(1)
    power = Decimal(10) ** math.floor(math.log10(least))
    # Without trailing zeros, because they would be printed.
    return next(step for k in (1, 2, 5, 10, 20) if (step := k * power) >= least).normalize()


def _short(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:g}"


def _one_line(text: str) -> str:
    """A name as it can stand in a table: without line breaks and other control characters."""
    return "".join(c if c.isprintable() else " " for c in text)


def _boxed_points(lines: list[tuple[str, str, str]], n_rows: int) -> str:
    total = "   ADD THE POINTS OF ROWS 1 TO " + str(n_rows) if n_rows > 1 else "   "
    widths = [max(len(line[k]) for line in lines) for k in range(3)]
    # The line below the features spans two cells.
    widths[0] = max(widths[0], len(total) + len(" SCORE") - 3 - widths[1])
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    spanned = widths[0] + 3 + widths[1]
    body = [
        f"| {name:<{widths[0]}} | {points:<{widths[1]}} | {blank:<{widths[2]}} |"
        for name, points, blank in lines
    ]
    return "\n".join(
        [rule, *body, rule, f"| {total}{'SCORE':>{spanned - len(total)}} | = ... |", rule]
    )


def _blocks(rows: tuple[RiskRow, ...]) -> list[tuple[RiskRow, ...]]:
    """Parts of a risk table that fit the page, of equal length."""
    width = max(max(len(row.score), len(row.risk)) for row in rows) + 3
    per_block = max((_MAX_WIDTH - len("| SCORE |")) // width, 1)
    n_blocks = math.ceil(len(rows) / per_block)
    per_block = math.ceil(len(rows) / n_blocks)
    return [rows[k : k + per_block] for k in range(0, len(rows), per_block)]


def _boxed_risks(rows: tuple[RiskRow, ...]) -> str:
    widths = [max(len(row.score), len(row.risk)) for row in rows]
    rule = "+-------+" + "+".join("-" * (width + 2) for width in widths) + "+"
    scores, risks = (
        " | ".join(f"{row[k]:>{width}}" for row, width in zip(rows, widths, strict=True))
        for k in (0, 1)
    )
    return "\n".join([rule, f"| SCORE | {scores} |", f"| RISK  | {risks} |", rule])


# ---------------------------------------------------------------------------------------------
# JSON
# ---------------------------------------------------------------------------------------------


def _to_plain(score: RiskScore) -> dict[str, Any]:
    from riskslim import __version__

    for label in score.classes:
        if not isinstance(label, (bool, int, float, str)):
            raise TypeError(
                f"classes of type {type(label).__name__!r} cannot be saved; "
                "fit with labels that are bool, int, float or str"
            )
    certificate = score.certificate
    return {
        "format": _FORMAT,
        "version": 1 if score.scale == 1.0 else _FORMAT_VERSION,
        "created_by": f"riskslim {__version__}",
        "outcome_name": score.outcome_name,
        "classes": list(score.classes),
        "intercept": score.intercept,
        **({} if score.scale == 1.0 else {"scale": score.scale}),
        "points": [
            {"feature": name, "points": points, **dataclasses.asdict(score.feature_ranges[name])}
            for name, points in score.points.items()
        ],
        "feature_names": list(score.feature_names),
        "certificate": None if certificate is None else _certificate_to_plain(certificate),
    }


def _certificate_to_plain(certificate: Certificate) -> dict[str, Any]:
    # JSON has no infinity: "inf" is text there.
    return {
        name: str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in certificate.to_dict().items()
    }


def _certificate_from_plain(plain: Any) -> Certificate | None:
    if plain is None:
        return None
    if not isinstance(plain, dict):
        raise ValueError(f"'certificate' must be an object, got {plain!r}")
    values = dict(plain)
    for name in ("objective", "loss", "lower_bound", "gap_tolerance", "bound_tolerance"):
        if values.get(name) in ("inf", "-inf", "nan"):
            values[name] = float(values[name])
        elif name in values:
            values[name] = _number(values[name], f"{name!r} of the certificate")
    for name in ("model_size", "n_samples"):
        if name in values:
            values[name] = _integer(values[name], f"{name!r} of the certificate")
    if "scale" in values:
        values["scale"] = checked_scale(values["scale"], "'scale' of the certificate")
    if "scales" in values:
        try:
            ScaleSet.from_plain(values["scales"])
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"'scales' of the certificate: {error}") from None
    return Certificate.from_dict(values)


def _from_plain(plain: Any) -> RiskScore:
    if not isinstance(plain, dict) or plain.get("format") != _FORMAT:
        raise _NotAScoreError(
            f'not a risk score: expected a JSON object with "format": "{_FORMAT}"'
        )
    version = plain.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise ValueError(f"version of the format must be a positive integer, got {version!r}")
    if version > _FORMAT_VERSION:
        raise ValueError(
            f"the risk score is in version {version} of the format, this riskslim reads up to "
            f"version {_FORMAT_VERSION}: update it with `pip install --upgrade riskslim`"
        )
    wanted = ["outcome_name", "classes", "intercept", "points", "feature_names", "certificate"]
    if version > 1:
        wanted.append("scale")
    missing = [name for name in wanted if name not in plain]
    if missing:
        raise ValueError(f"the risk score is incomplete: it lacks {', '.join(missing)}")
    for name, kind in (("outcome_name", str), ("classes", list), ("feature_names", list)):
        if not isinstance(plain[name], kind):
            raise ValueError(f"{name!r} must be a {kind.__name__}, got {plain[name]!r}")
    scale = checked_scale(plain.get("scale", 1.0))
    if version == 1 and scale != 1.0:
        raise ValueError(
            f"version 1 of the format has no scale, got {scale!r}: readers of version 1 would "
            "ignore it and predict other risks"
        )
    points, ranges = _points_from_plain(plain["points"])
    return RiskScore(
        plain["intercept"],
        points,
        outcome_name=plain["outcome_name"],
        classes=_classes_from_plain(plain["classes"]),
        feature_names=plain["feature_names"],
        feature_ranges=ranges,
        certificate=_certificate_from_plain(plain["certificate"]),
        scale=scale,
    )


def _classes_from_plain(labels: list[Any]) -> tuple[Any, ...]:
    for label in labels:
        if not isinstance(label, (bool, int, float, str)):
            raise ValueError(f"classes must be true or false, numbers or text, got {label!r}")
    return tuple(labels)


def _points_from_plain(entries: Any) -> tuple[dict[str, int], dict[str, FeatureRange]]:
    wanted = ("feature", "points", "minimum", "maximum", "is_integer", "values")
    if not isinstance(entries, list):
        raise ValueError(f"'points' must be a list, got {entries!r}")
    points: dict[str, int] = {}
    ranges: dict[str, FeatureRange] = {}
    for k, entry in enumerate(entries):
        missing = [name for name in wanted if not isinstance(entry, dict) or name not in entry]
        if missing:
            raise ValueError(f"entry {k} of 'points' lacks {', '.join(missing)}")
        name = entry["feature"]
        if not isinstance(name, str) or name in points:
            raise ValueError(f"entry {k} of 'points' has no name of its own, got {name!r}")
        points[name] = _points(entry["points"], f"points of {name!r}")
        values = entry["values"]
        if not isinstance(entry["is_integer"], bool) or not isinstance(values, list | None):
            raise ValueError(f"entry {k} of 'points', {name!r}, has no valid range")
        try:
            ranges[name] = FeatureRange(
                entry["minimum"],
                entry["maximum"],
                is_integer=entry["is_integer"],
                values=None if values is None else tuple(values),
            )
        except ValueError as error:
            raise ValueError(f"entry {k} of 'points', {name!r}: {error}") from None
    return points, ranges


def _write_atomically(path: Path, text: str) -> None:
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")  # a device or a pipe cannot be replaced
        return
    path = path.resolve()  # a link stays a link
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
