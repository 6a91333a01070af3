r"""Predicted outcomes of records as variables, for constraints on rates.

A record with the score :math:`s_i = \lambda_0 + \sum_j \lambda_j x_{ij}` has the variable
:math:`z_i`, 1 if it is predicted positive. With the largest score u of a record that is predicted
negative, the least one l of a record that is predicted positive, and the range of :math:`s_i` over
the box,

.. math::

    s_i \le u + (s_i^{\max} - u) z_i, \qquad s_i \ge l - (l - s_i^{\min}) (1 - z_i).

Where scores are integers l = u + 1, and both rows are exact. Elsewhere l = u: at that very score
either value is allowed, and a solver may accept what the constraint forbids. That makes its bound
no larger. Only rows that a constraint needs are stated, for records whose outcome is open.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim.constraints.rate_checks import SCORE_ERROR

if TYPE_CHECKING:
    from riskslim.constraints.rate_checks import RateCheck

__all__ = ["OutcomeSum", "Outcomes"]


class OutcomeSum(NamedTuple):
    """A demand of a constraint on rates on the variables: low <= sum of shares <= high."""

    variables: list[int]
    shares: list[float]
    low: float
    high: float


class _Link(NamedTuple):
    """Variables of the open records of a check."""

    check: RateCheck
    records: NDArray[np.intp]
    variables: list[int]


class Outcomes:
    """Variables and rows of predicted outcomes in a formulation.

    Parameters
    ----------
    lower, upper : ndarray of int64, shape (d + 1,)
        The box.
    columns : ndarray of intp
        Positions in the coefficient vector of the first variables.
    max_size : int
        Most features that are used.
    add_variable : callable
        Adds a 0/1 variable of a name, and returns its index.
    add_row : callable
        Adds a row of indices, values and two bounds.
    """

    def __init__(
        self,
        lower: NDArray[np.int64],
        upper: NDArray[np.int64],
        columns: NDArray[np.intp],
        max_size: int,
        add_variable: Callable[[str], int],
        add_row: Callable[[list[int], list[float], float, float], None],
    ) -> None:
        self.lower, self.upper = lower, upper
        self.max_size = max_size
        self._variable_of = {int(j): variable for variable, j in enumerate(columns)}
        self._add_variable = add_variable
        self._add_row = add_row
        self._known: dict[tuple[bytes, float], int] = {}
        self._stated: set[tuple[int, bool]] = set()
        self._links: list[_Link] = []

    def __len__(self) -> int:
        """Number of variables: of different records whose outcome is open."""
        return len(self._known)

    @property
    def variables(self) -> list[int]:
        """Their indices."""
        return list(self._known.values())

    def add(self, check: RateCheck) -> OutcomeSum:
        """Add what a check needs.

        Parameters
        ----------
        check : RateCheck

        Returns
        -------
        OutcomeSum
            Of the open records, those that are settled subtracted from the bounds.
        """
        least, most = check.ranges(self.lower, self.upper, self.max_size)
        matters = check.shares != 0
        positive, negative = least >= check.positive_from, most < check.positive_from
        settled = float(check.shares[matters & positive].sum())
        records = np.flatnonzero(matters & ~positive & ~negative)
        variables = [self._variable(check, i) for i in records.tolist()]
        self._links.append(_Link(check, records, variables))
        for i, variable in zip(records.tolist(), variables, strict=True):
            rising = check.shares[i] > 0
            for is_above in (True, False):
                # A sum bounded from above gains by z that are too small, and the other way.
                needed = check.high if rising == is_above else check.low
                if math.isfinite(needed) and (variable, is_above) not in self._stated:
                    self._stated.add((variable, is_above))
                    self._link(check, i, variable, is_above, float(least[i]), float(most[i]))
        return OutcomeSum(
            variables, check.shares[records].tolist(), check.low - settled, check.high - settled
        )

    def _variable(self, check: RateCheck, i: int) -> int:
        """The variable of a record, the same in all checks with the same threshold."""
        key = check.records[i].tobytes(), float(check.positive_from[i])
        if key not in self._known:
            self._known[key] = self._add_variable(f"z_{len(self._known)}")
        return self._known[key]

    def _link(
        self, check: RateCheck, i: int, variable: int, is_above: bool, least: float, most: float
    ) -> None:
        """State one of the two rows of a record: that its score is high enough, or low enough."""
        record = check.records[i]
        used = np.flatnonzero(record)
        indices = [0, *(self._variable_of[j] for j in check.columns[used].tolist()), variable]
        values = [1.0, *record[used].tolist()]
        room = 0.0 if check.is_integer[i] else SCORE_ERROR * max(1.0, float(np.abs(record).max()))
        if is_above:  # z = 0 only where the score is low
            high = float(check.negative_to[i]) + room
            self._add_row(indices, [*values, high - most], -math.inf, high)
        else:  # z = 1 only where the score is high
            low = float(check.positive_from[i]) - room
            self._add_row(indices, [*values, least - low], least, math.inf)

    def fill(self, values: list[float], coef: NDArray[np.int64]) -> None:
        """Set the variables to what an integer vector predicts.

        Parameters
        ----------
        values : list of float
            Of all variables; changed in place.
        coef : ndarray of int64, shape (d + 1,)
        """
        for link in self._links:
            positive = link.check.positive(coef)[link.records]
            for variable, outcome in zip(link.variables, positive.tolist(), strict=True):
                values[variable] = float(outcome)
