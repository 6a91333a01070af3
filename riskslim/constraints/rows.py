r"""Constraints resolved against the features of a problem.

:class:`ConstraintRows` serves everything that has to respect constraints: the check of a vector,
the heuristics, and the bounds of a node of a search tree.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._wording import listing
from riskslim.bounds import SLACK
from riskslim.constraints.base import INTERCEPT, Constraint, Intervals, Resolved, Setting
from riskslim.constraints.linear import MAX_TERM
from riskslim.constraints.share_checks import OperatingPointCheck

if TYPE_CHECKING:
    from riskslim.constraints.rate_checks import RateCheck

__all__ = ["ConstraintRows", "checked_constraints", "clash"]

# Share of a row's largest coefficient by which a sum of real-valued terms may leave its bounds:
# far more than rounding errors, far less than anything that somebody means.
ROW_TOLERANCE = 1e-9
# Factors that make integers of decimals and simple fractions, and the relative error of a
# coefficient that is one of them.
FACTORS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 9.0, 10.0, 12.0, 20.0, 25.0, 40.0, 50.0, 100.0, 200.0,
           500.0, 1e3, 1e4)  # fmt: skip

FACTOR_TOLERANCE = 1e-15
# Rounds of propagation: bounds that creep by 1 per round are left to the search.
MAX_ROUNDS = 50
# Constraints that a sentence names.
MAX_NAMED = 5

_State: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]


class ConstraintRows:
    r"""Constraints resolved against the features of a problem.

    Parameters
    ----------
    constraints : iterable of Constraint
    features : sequence of str, length d, or Setting
        Names of the features, the intercept not among them, or all that constraints may refer to.

    Attributes
    ----------
    constraints : tuple of Constraint, length n
    names : tuple of str, length n
        Names or descriptions.
    points : ndarray of float64, shape (m, d + 1)
        Coefficients of the points in each of the rows that the constraints became, that of the
        intercept first.
    used : ndarray of float64, shape (m, d)
        Coefficients of features being used.
    groups : tuple of ndarray of intp
        Positions among the features of each group of which a row asks whether any is used.
    any_used : ndarray of float64, shape (m, number of groups)
        Coefficients of these.
    lower, upper : ndarray of float64, shape (m,)
        Bounds. Those of rows with integer coefficients are rounded to integers within, the
        others widened by 1e-9 of the row's largest coefficient. A vector is feasible if its sums
        lie within them, and no comparison allows for more than rounding errors.
    is_integer : ndarray of bool, shape (m,)
        Rows whose coefficients are integers. Coefficients such as 0.5 or 12.75 are multiplied by
        what makes integers of the whole row, and divided by what they have in common; the
        bounds with them.
    owner : ndarray of intp, shape (m,)
        Constraint that each row belongs to.
    allowed_points : tuple of (constraint, position in the vector, Intervals)
        Points that constraints allow single features.

    Raises
    ------
    TypeError, ValueError
        Something else than a Constraint, or names of features that do not exist.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import at_most, if_then
    >>> from riskslim.constraints.rows import ConstraintRows
    >>> rows = ConstraintRows([at_most(1, ["a", "b"]), if_then("c", "b")], ["a", "b", "c"])
    >>> rows.violations([-1, 2, 0, 3])
    ["if 'c' is used, 'b' is used: broken by 'c' (3)"]
    >>> lower, upper = np.array([-9, 1, -5, -5]), np.array([9, 5, 5, 5])
    >>> rows.propagate(lower, upper)  # 'a' is in: 'b' has to be out, and therefore 'c'
    True
    >>> lower, upper
    (array([-9,  1,  0,  0]), array([9, 5, 0, 0]))
    """

    def __init__(
        self, constraints: Iterable[Constraint], features: Sequence[str] | Setting
    ) -> None:
        setting = features if isinstance(features, Setting) else Setting(tuple(features))
        checked = checked_constraints(constraints)
        self._assemble(setting.feature_names, checked, [c.resolve(setting) for c in checked])

    def _assemble(
        self,
        feature_names: tuple[str, ...],
        constraints: tuple[Constraint, ...],
        resolved: list[Resolved],
    ) -> None:
        self.feature_names = feature_names
        self.constraints = constraints
        self.names = tuple(constraint.label for constraint in constraints)
        self._resolved = resolved
        position = {name: j for j, name in enumerate((INTERCEPT, *feature_names))}
        self._fill_rows(position)
        self.allowed_points = tuple(
            (i, position[name], intervals)
            for i, one in enumerate(resolved)
            for name, intervals in one.points
        )
        shares = [share for one in resolved for share in one.shares]
        self._at_threshold = OperatingPointCheck(shares) if shares else None
        self._find_columns()

    def _fill_rows(self, position: dict[str, int]) -> None:
        """State coefficients and bounds of all rows, as integers where possible."""
        stated = [(i, row) for i, one in enumerate(self._resolved) for row in one.rows]
        self.owner = np.array([i for i, _ in stated], dtype=np.intp)
        found: dict[frozenset[int], int] = {}
        for _, row in stated:
            for names in row.any_used:
                found.setdefault(frozenset(position[str(name)] for name in names), len(found))
        self.groups = tuple(np.array(sorted(group), dtype=np.intp) - 1 for group in found)
        m, d = len(stated), len(self.feature_names)
        self.points, terms = np.zeros((m, d + 1)), np.zeros((m, d + 1))
        self.any_used = np.zeros((m, len(found)))
        for i, (_, row) in enumerate(stated):
            for name, value in row.points.items():
                self.points[i, position[str(name)]] = value
            for name, value in row.used.items():
                terms[i, position[str(name)]] = value
            for names, value in row.any_used.items():
                group = found[frozenset(position[str(name)] for name in names)]
                self.any_used[i, group] += value
        ends = np.array([(row.lower, row.upper) for _, row in stated]).reshape(-1, 2)
        self._scale(terms, *ends.T)
        self.used = terms[:, 1:]

    def _scale(
        self, terms: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
    ) -> None:
        """Make integers of the coefficients where possible, and set the bounds."""
        every = np.hstack((self.points, terms, self.any_used))
        factors = np.array([_factor(row) for row in every])
        self.is_integer = factors > 0
        scale = np.where(self.is_integer, factors, 1.0)
        largest = scale * np.max(np.abs(every), axis=1, initial=0.0)
        allowance = np.where(factors == 1, 0.0, ROW_TOLERANCE * largest)
        for rows in (self.points, terms, self.any_used):
            rows *= scale[:, None]
            rows[self.is_integer] = np.rint(rows[self.is_integer])
        lower, upper = scale * low - allowance, scale * high + allowance
        # A sum of multiples of 2 that is at least 1 is at least 2.
        divisor = np.where(self.is_integer, _common_divisors(self.points, terms, self.any_used), 1)
        for rows in (self.points, terms, self.any_used):
            rows /= divisor[:, None]
        self.lower = np.where(self.is_integer, np.ceil(np.ceil(lower) / divisor), lower)
        self.upper = np.where(self.is_integer, np.floor(np.floor(upper) / divisor), upper)
        ends = np.abs(np.vstack((self.lower, self.upper)))
        self._bound_size = np.max(np.where(np.isfinite(ends), ends, 1.0), axis=0, initial=1.0)

    def _find_columns(self) -> None:
        """Propagation looks at columns that a constraint names alone: most name a few features.

        After them comes a column for each group, a feature of its own that is used or not.
        """
        named = (self.points != 0).any(axis=0)
        named[1:] |= (self.used != 0).any(axis=0)
        for group in self.groups:
            named[1 + group] = True
        for _, j, _ in self.allowed_points:
            named[j] = True
        for check in self.checks:
            named[check.columns] = True
            named[0] |= check.has_intercept
        self._columns = np.flatnonzero(named)
        column = {int(j): k for k, j in enumerate(self._columns)}
        self._members = np.zeros((len(self.groups), len(column)), dtype=bool)
        for g, group in enumerate(self.groups):
            self._members[g, [column[int(j)] for j in 1 + group]] = True
        self._values: dict[int, _Values] = {}  # by column
        for _, j, intervals in self.allowed_points:
            known = self._values.get(column[j])
            self._values[column[j]] = _Values(intervals) if known is None else known & intervals
        m = len(self.points)
        terms = np.hstack((np.zeros((m, 1)), self.used))
        self._points = np.hstack((self.points[:, self._columns], np.zeros_like(self.any_used)))
        self._used = np.hstack((terms[:, self._columns], self.any_used))
        self._rising, self._sloping = self._points > 0, self._points != 0
        self._any_points = bool(self._sloping.any())
        self._divisors = np.where(self._sloping, self._points, 1.0)
        for array in (self.points, self.used, self.any_used, self.lower, self.upper,
                      self.is_integer, self.owner):  # fmt: skip
            array.setflags(write=False)

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"ConstraintRows({len(self)} rows, {len(self.feature_names)} features)"

    @property
    def columns(self) -> NDArray[np.intp]:
        """Positions in the vector of coefficients that constraints name, shape (n,)."""
        return self._columns

    @property
    def members(self) -> NDArray[np.bool_]:
        """Membership of each of :attr:`columns` in each group, shape (number of groups, n)."""
        return self._members

    @property
    def column_points(self) -> NDArray[np.float64]:
        """Coefficients of the points in each row, by column; then 0 for each group."""
        return self._points

    @property
    def column_used(self) -> NDArray[np.float64]:
        """Coefficients of use in each row, by column, then by group."""
        return self._used

    @property
    def checks(self) -> tuple[RateCheck | OperatingPointCheck, ...]:
        """Checks on the records, of all constraints; those at a free threshold are one."""
        found: tuple[RateCheck | OperatingPointCheck, ...] = self.rate_checks
        return found if self._at_threshold is None else (*found, self._at_threshold)

    @property
    def rate_checks(self) -> tuple[RateCheck, ...]:
        """Checks at stated thresholds."""
        return tuple(check for _, check in self.owned_checks)

    @property
    def owned_checks(self) -> tuple[tuple[int, RateCheck], ...]:
        """Checks at stated thresholds, each with the constraint that it belongs to."""
        return tuple((i, check) for i, one in enumerate(self._resolved) for check in one.on_data)

    @property
    def about_records(self) -> tuple[int, ...]:
        """Constraints that have to be checked on the records."""
        return tuple(i for i, one in enumerate(self._resolved) if one.on_data or one.shares)

    def sums(self, coef: ArrayLike) -> NDArray[np.float64]:
        """Value of each row.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)
            Intercept first.

        Returns
        -------
        ndarray of float64, shape (m,)
        """
        values = np.asarray(coef)[self._columns]
        used = values != 0
        together = np.concatenate((used, (self._members & used).any(axis=1)))
        total: NDArray[np.float64] = self._points[:, : len(values)] @ values + self._used @ together
        return total

    def broken(self, coef: ArrayLike) -> NDArray[np.intp]:
        """Constraints that a vector breaks.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)

        Returns
        -------
        ndarray of intp
            Their indices.
        """
        vector = np.asarray(coef)
        found = set(self.owner[self._broken_rows(vector)].tolist())
        found.update(i for i, j, ends in self.allowed_points if not _lies_in(ends, vector[j]))
        found.update([i for i, _ in self._violated_checks(vector, found)])
        return np.array(sorted(found), dtype=np.intp)

    def _broken_rows(self, vector: NDArray[Any]) -> NDArray[np.intp]:
        sums = self.sums(vector)
        return np.flatnonzero((sums < self.lower) | (sums > self.upper))

    def _violated_checks(
        self, vector: NDArray[Any], without: Iterable[int] = ()
    ) -> Iterable[tuple[int, str]]:
        """Checks on the records, which cost more than the rest, that a vector does not pass."""
        without = set(without)
        for i, one in enumerate(self._resolved):
            for check in one.on_data if i not in without else ():
                words = check.violation(vector)
                if words is not None:
                    yield i, words
        # At the one threshold they hold together or not at all.
        together = [i for i, one in enumerate(self._resolved) if one.shares and i not in without]
        if self._at_threshold is not None and together:
            words = self._at_threshold.violation(vector)
            yield from ((i, words) for i in together if words is not None)

    def violations(self, coef: ArrayLike) -> list[str]:
        """Every constraint that a vector breaks, in words.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)

        Returns
        -------
        list of str
            Empty if the vector meets all of them.
        """
        culprits = self.culprits(coef)
        return [f"{self.names[i]}: {culprits[i]}" for i in sorted(culprits)]

    def culprits(self, coef: ArrayLike) -> dict[int, str]:
        """Say in words what breaks constraints.

        Parameters
        ----------
        coef : array-like of shape (d + 1,)

        Returns
        -------
        dict from int to str
            By index of the constraint; those that are met are not in it.
        """
        vector = np.asarray(coef)
        culprits = dict(self._violated_checks(vector))
        for i, j, intervals in self.allowed_points:
            if not _lies_in(intervals, vector[j]):
                culprits.setdefault(i, f"broken by {self.feature_names[j - 1]!r} ({vector[j]})")
        for row in self._broken_rows(vector).tolist():
            culprits.setdefault(int(self.owner[row]), self._named_in(row, vector))
        return culprits

    def _named_in(self, row: int, vector: NDArray[Any]) -> str:
        """Say which points break a row."""
        names = (INTERCEPT, *self.feature_names)
        named = self.points[row] != 0
        counted = self.used[row] != 0
        for group in np.flatnonzero(self.any_used[row]):
            counted[self.groups[group]] = True
        named[1:] |= counted & (vector[1:] != 0)
        values = [f"{names[j]!r} ({vector[j]})" for j in np.flatnonzero(named)]
        return f"broken by {listing(values)}" if values else "broken, none has points"

    def nearest(self, j: int, value: int) -> list[int]:
        """Points that a coefficient may have next to a value: that one, or one on each side.

        Parameters
        ----------
        j : int
            Position in the vector, 0 for the intercept.
        value : int

        Returns
        -------
        list of int
            Some of them may lie outside of the bounds.
        """
        for column, values in self._values.items():
            if self._columns[column] == j:
                return values.nearest(value)
        return [value]

    def propagate(
        self,
        lower: NDArray[np.int64],
        upper: NDArray[np.int64],
        used: Sequence[int] | NDArray[np.int64] = (),
    ) -> bool:
        r"""Tighten a box of integers to what the constraints leave of it.

        A feature is *in* if its interval excludes 0, *out* if it is 0 alone, and *free*
        otherwise. The least and the largest value of every row over the box bound what is left
        for each of its terms; from that follow bounds of the points, and features that must be
        in or out. A group is in if a member is, out if all are; the members of one that must be out
        are out, and the last member that can be in is in where the group must be. Ends of intervals
        move to the next points that are allowed.

        Parameters
        ----------
        lower, upper : ndarray of int64, shape (d + 1,)
            The box, intercept first. Changed in place; of no use once False is returned.
        used : sequence of int, optional
            Positions in the vector of coefficients that are not to be 0, though their intervals may
            hold it: a box cannot exclude 0 between the signs.

        Returns
        -------
        bool
            False if no integer vector in the box meets all constraints, with what is to be used.
            True does not promise that there is one; checks on the records are not looked at.

        Notes
        -----
        No feasible integer vector is ever cut off. With the least contribution
        :math:`c_{ik}^{\min}` of each term to row i, term j may contribute at most
        :math:`\text{upper}_i - \sum_{k \ne j} c_{ik}^{\min}`, and correspondingly at least; both
        are widened by the slack of :func:`~riskslim.bounds.safe_floor`. Zero and the values other
        than zero are looked at apart, since a feature's term jumps between them. Rounds of this
        go on until nothing changes, 50 at the most.
        """
        none, one = np.zeros(len(self.groups)), np.ones(len(self.groups))
        low: NDArray[np.float64] = np.concatenate((lower[self._columns], none))
        high: NDArray[np.float64] = np.concatenate((upper[self._columns], one))
        # Between the signs a box cannot exclude zero: that is remembered here from round to round.
        state: _State = low, high, (low <= 0) & (high >= 0)
        if len(used):
            is_used = np.zeros(len(lower), np.bool_)
            is_used[np.asarray(used)] = True
            state[2][: len(self._columns)] &= ~is_used[self._columns]
        for _ in range(MAX_ROUNDS if len(low) else 0):
            tighter = self._tightened(*state)
            if tighter is None:
                return False
            state, before = tighter, state
            if all(map(np.array_equal, state, before)):
                break
        n = len(self._columns)
        lower[self._columns], upper[self._columns] = state[0][:n], state[1][:n]
        return True

    def contradiction(
        self, lower: NDArray[np.int64], upper: NDArray[np.int64]
    ) -> tuple[str, ...] | None:
        """Constraints that propagation finds to be impossible together, none superfluous.

        Parameters
        ----------
        lower, upper : ndarray of int64, shape (d + 1,)
            The box, which is left as it is.

        Returns
        -------
        tuple of str or None
            Their names; None if propagation finds no contradiction.
        """
        if self.propagate(lower.copy(), upper.copy()):
            return None
        kept = list(range(len(self.constraints)))
        for i in range(len(self.constraints)):
            others = [k for k in kept if k != i]
            if not self.taking(others).propagate(lower.copy(), upper.copy()):
                kept = others
        return tuple(self.names[i] for i in kept)

    def including(self, constraint: Constraint) -> ConstraintRows:
        """These constraints and one more, which refers to features alone.

        Parameters
        ----------
        constraint : Constraint

        Returns
        -------
        ConstraintRows
        """
        more = ConstraintRows.__new__(ConstraintRows)
        resolved = constraint.resolve(Setting(self.feature_names))
        constraints = (*self.constraints, constraint)
        more._assemble(self.feature_names, constraints, [*self._resolved, resolved])
        return more

    def taking(self, index: list[int]) -> ConstraintRows:
        """Some of the constraints.

        Parameters
        ----------
        index : list of int
            Which ones.

        Returns
        -------
        ConstraintRows
        """
        part = ConstraintRows.__new__(ConstraintRows)
        constraints = tuple(self.constraints[i] for i in index)
        part._assemble(self.feature_names, constraints, [self._resolved[i] for i in index])
        return part

    def intercept_levels(
        self, lower: NDArray[np.int64], upper: NDArray[np.int64], max_size: int
    ) -> tuple[float, float]:
        r"""Intercepts that constraints can push a free intercept to.

        Parameters
        ----------
        lower, upper : ndarray of int64, shape (d,)
            Bounds of the points.
        max_size : int

        Returns
        -------
        least, most : float
            Infinity and minus infinity where no row bounds the intercept.

        Notes
        -----
        Let :math:`[b_0, b_1]` hold, for all points :math:`\lambda`, an integer :math:`b^{*}` that
        minimises the loss over the intercept b alone, and let the rows allow the intercepts
        :math:`[e(\lambda), f(\lambda)]`. Because the loss is convex in b, the best one of these is
        :math:`b^{*}` if it is among them, the integer next to :math:`e(\lambda)` if
        :math:`b^{*} < e(\lambda)`, the one next to :math:`f(\lambda)` if
        :math:`b^{*} > f(\lambda)`. So :math:`\min(b_0, \min_\lambda f(\lambda))` to
        :math:`\max(b_1, \max_\lambda e(\lambda))` hold an optimal feasible intercept for all
        :math:`\lambda` for which there is a feasible one. A row :math:`L \le a b + s(\lambda) \le
        U` with a > 0 has the ends :math:`(L - s)/a` and :math:`(U - s)/a`; the extreme values
        of s over the box, with at most ``max_size`` features, and over all rows give the result.

        Checks on the records allow a union of intervals. Beyond the intercepts that they name
        (:meth:`~riskslim.constraints.rate_checks.RateCheck.intercept_levels`) a step towards
        :math:`b^{*}` makes no check that is passed fail, so that the best intercept is within
        these, too.
        """
        reached = [check.intercept_levels(lower, upper, max_size) for check in self.checks]
        reached.append(self._pushed_by_rows(lower, upper, max_size))
        return min(least for least, _ in reached), max(most for _, most in reached)

    def _pushed_by_rows(
        self, lower: NDArray[np.int64], upper: NDArray[np.int64], max_size: int
    ) -> tuple[float, float]:
        named = np.flatnonzero(self.points[:, 0])
        if not named.size:
            return math.inf, -math.inf
        least_sum, most_sum = self._ranges(named, lower, upper, max_size)
        slope, floor, ceiling = self.points[named, 0], self.lower[named], self.upper[named]
        rising = slope > 0
        highest_low = np.where(rising, floor - least_sum, most_sum - ceiling) / np.abs(slope)
        lowest_high = np.where(rising, ceiling - most_sum, least_sum - floor) / np.abs(slope)
        # One more on each side than rounding errors could matter.
        return float(np.floor(lowest_high.min()) - 1), float(np.ceil(highest_low.max()) + 1)

    def _ranges(
        self,
        index: NDArray[np.intp],
        lower: NDArray[np.int64],
        upper: NDArray[np.int64],
        max_size: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Least and largest sums of rows without the intercept, shape (len(index),) each."""
        low, high = lower.astype(np.float64), upper.astype(np.float64)
        required = (low > 0) | (high < 0)
        least, most = _without_zero(low, 1.0), _without_zero(high, -1.0)
        one, other = self.points[index, 1:] * least, self.points[index, 1:] * most
        ends = np.stack((np.minimum(one, other), np.maximum(one, other))) + self.used[index]
        ends[:, :, (low == 0) & (high == 0)] = 0.0
        size = max(max_size - int(np.count_nonzero(required)), 0)
        free = np.sort(ends[:, :, ~required], axis=2)
        sums = ends[:, :, required].sum(axis=2)
        sums[0] += np.minimum(free[0, :, :size], 0.0).sum(axis=1)
        sums[1] += np.maximum(free[1, :, free.shape[2] - min(size, free.shape[2]) :], 0.0).sum(
            axis=1
        )
        groups = self.any_used[index]
        return (
            sums[0] + np.minimum(groups, 0.0).sum(axis=1),
            sums[1] + np.maximum(groups, 0.0).sum(axis=1),
        )

    def allowed(
        self, coef: NDArray[np.int64], lower: NDArray[np.int64], upper: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """Values that each coefficient may take while the others keep theirs.

        Parameters
        ----------
        coef : ndarray of int64, shape (d + 1,)
        lower, upper : ndarray of int64, shape (d + 1,)
            Bounds of the coefficients.

        Returns
        -------
        least, most : ndarray of int64, shape (d + 1,)
            Interval of the values other than zero; empty where ``least`` exceeds ``most``. Zero
            may lie within, and is not meant. Nor are points that are not allowed
            (:meth:`nearest`).
        zero : ndarray of bool, shape (d + 1,)
            Whether the value zero is allowed.
        """
        columns, n = self._columns, len(self._columns)
        values = coef[columns].astype(np.float64)
        is_used = values != 0
        # A feature whose group has no other member in use counts for the group as well.
        members = self._members & is_used
        alone = self._members & (members.sum(axis=1)[:, None] - members == 0)
        used = self._used[:, :n] + self.any_used @ alone
        own = self._points[:, :n] * values + used * is_used
        total = self.sums(coef)
        slack = self._slack(np.abs(own).sum(axis=1) + np.abs(self.any_used).sum(axis=1))
        ceiling, floor = self.upper - total + slack, self.lower - total - slack
        left = self._left_by(ceiling[:, None] + own, floor[:, None] + own, used)
        least, most, zero = lower.copy(), upper.copy(), (lower <= 0) & (upper >= 0)
        # Beyond the box by 1 is as empty as beyond it by infinitely much, and an integer.
        low, high = lower[columns] - 1, upper[columns] + 1
        first, last, none = left.combined()
        for k, allowed in self._values.items():
            first[k] = allowed.up(max(first[k], low[k] + 1.0))
            last[k] = allowed.down(min(last[k], high[k] - 1.0))
            none[k] &= allowed.zero
        least[columns] = np.maximum(lower[columns], np.clip(first, low, high))
        most[columns] = np.minimum(upper[columns], np.clip(last, low, high))
        zero[columns] &= none
        for j in self._hopeless(coef, (ceiling < 0) | (floor > 0)):
            least[j], most[j], zero[j] = upper[j] + 1, lower[j] - 1, False
        return _without_zero(least, 1), _without_zero(most, -1), zero

    def _hopeless(self, coef: NDArray[np.int64], is_broken: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Coefficients of which no change can help: other ones break a constraint."""
        hopeless = np.zeros(len(coef), dtype=bool)
        if is_broken.any():
            hopeless[:] = True
            hopeless[self._columns] = False
        for _, j, intervals in self.allowed_points:
            if not _lies_in(intervals, coef[j]):
                before, hopeless = hopeless, np.ones_like(hopeless)
                hopeless[j] = before[j]
        return np.flatnonzero(hopeless)

    def _tightened(
        self, low: NDArray[np.float64], high: NDArray[np.float64], droppable: NDArray[np.bool_]
    ) -> _State | None:
        """One round of propagation: what is left of the box and of its zeros; None if nothing."""
        smallest, largest = self._contributions(low, high, droppable)
        slack = self._slack(np.maximum(np.abs(smallest), np.abs(largest)).sum(axis=1))
        below = self.upper - smallest.sum(axis=1) + slack
        above = self.lower - largest.sum(axis=1) - slack
        if np.any((below < 0) | (above > 0) | (self.lower > self.upper)):
            return None
        left = self._left_by(below[:, None] + smallest, above[:, None] + largest, self._used)
        first, last, none = left.combined()
        least = _without_zero(np.maximum(low, first), 1.0)
        most = _without_zero(np.minimum(high, last), -1.0)
        can_drop = droppable & none
        for k, values in self._values.items():
            least[k], most[k] = values.up(least[k]), values.down(most[k])
            can_drop[k] &= values.zero
        can_use = least <= most
        if self.groups:
            can_use, can_drop = self._linked(can_use, can_drop)
        if not np.all(can_use | can_drop):
            return None
        new_low = np.where(can_drop, np.minimum(least, 0.0), least)
        new_high = np.where(can_drop, np.maximum(most, 0.0), most)
        return np.where(can_use, new_low, 0.0), np.where(can_use, new_high, 0.0), can_drop

    def _linked(
        self, can_use: NDArray[np.bool_], can_drop: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Conclude from members to their groups, and from groups to their members."""
        n, members = len(self._columns), self._members
        use, drop = can_use[:n].copy(), can_drop[:n].copy()
        group_use = can_use[n:] & (members & use).any(axis=1)
        group_drop = can_drop[n:] & ~(members & ~drop).any(axis=1)
        use &= ~members[~group_use].any(axis=0)
        left = members & use
        last = left[~group_drop & (left.sum(axis=1) == 1)]
        drop &= ~last.any(axis=0)
        return np.concatenate((use, group_use)), np.concatenate((drop, group_drop))

    def _contributions(
        self, low: NDArray[np.float64], high: NDArray[np.float64], droppable: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Least and largest value of each term over a box, shape (m, columns and groups)."""
        least, most = _without_zero(low, 1.0), _without_zero(high, -1.0)
        one, other = self._points * least, self._points * most
        smallest = np.minimum(one, other) + self._used
        largest = np.maximum(one, other) + self._used
        out = least > most
        smallest[:, out] = largest[:, out] = 0.0
        smallest[:, droppable] = np.minimum(smallest[:, droppable], 0.0)
        largest[:, droppable] = np.maximum(largest[:, droppable], 0.0)
        return smallest, largest

    def _left_by(
        self,
        ceiling: NDArray[np.float64],
        floor: NDArray[np.float64],
        used: NDArray[np.float64],
    ) -> _Left:
        """Bound each coefficient by the bounds on its terms, shape (m, columns).

        ``used`` is what each term has beside points times coefficient where it is not zero.
        """
        zero_fits = (ceiling >= 0) & (floor <= 0)
        room, need = ceiling - used, floor - used
        n = used.shape[1]
        # Without a coefficient of the points it is a matter of use alone.
        first = np.full_like(room, -np.inf)
        last = np.where((room >= 0) & (need <= 0), np.inf, -np.inf)
        if self._any_points:
            divisors, rising = self._divisors[:, :n], self._rising[:, :n]
            with np.errstate(over="ignore"):
                one, other = room / divisors, need / divisors
            sloping = self._sloping[:, :n]
            np.ceil(np.where(rising, other, one), out=first, where=sloping)
            np.floor(np.where(rising, one, other), out=last, where=sloping)
        return _Left(first, last, zero_fits)

    def _slack(self, size: NDArray[np.float64]) -> NDArray[np.float64]:
        """Bound the rounding errors of sums of a given size, from far above."""
        slack: NDArray[np.float64] = SLACK * np.maximum(self._bound_size, size)
        return slack


class _Values:
    """Points that a feature may have: disjoint intervals of integers, in ascending order."""

    def __init__(self, intervals: Intervals) -> None:
        self.intervals = intervals
        self.zero = _lies_in(intervals, 0)
        apart = [
            (first, last)
            for low, high in intervals
            for first, last in ((low, min(high, -1.0)), (max(low, 1.0), high))
            if first <= last
        ]
        self._first, self._last = np.array(apart).reshape(-1, 2).T

    def __and__(self, intervals: Intervals) -> _Values:
        both = [
            (max(low, first), min(high, last))
            for low, high in self.intervals
            for first, last in intervals
        ]
        return _Values(tuple(sorted(part for part in both if part[0] <= part[1])))

    def up(self, value: float) -> float:
        """The smallest of the points other than zero that is not below a value; or infinity."""
        k = int(np.searchsorted(self._last, value))
        return math.inf if k == len(self._last) else max(value, float(self._first[k]))

    def down(self, value: float) -> float:
        """The largest of the points other than zero that is not above a value; or -infinity."""
        k = int(np.searchsorted(self._first, value, side="right")) - 1
        return -math.inf if k < 0 else min(value, float(self._last[k]))

    def nearest(self, value: int) -> list[int]:
        """A value if it is one of the points, otherwise the next ones, zero among them."""
        if _lies_in(self.intervals, value):
            return [value]
        below = [high for _, high in self.intervals if high < value]
        above = [low for low, _ in self.intervals if low > value]
        return [int(end) for end in (*below[-1:], *above[:1])]


def _common_divisors(*terms: NDArray[np.float64]) -> NDArray[np.int64]:
    """Greatest common divisor of each row's coefficients, 1 if there are none."""
    every = np.abs(np.hstack(terms)).astype(np.int64)
    divisors: NDArray[np.int64] = np.gcd.reduce(every, axis=1)
    return np.maximum(divisors, 1)


def _factor(row: NDArray[np.float64]) -> float:
    """Smallest factor that makes a row's coefficients integers, 0 if there is none."""
    for factor in FACTORS:
        scaled = factor * row
        nearest = np.rint(scaled)
        if np.max(np.abs(scaled), initial=0.0) > MAX_TERM:
            break
        if np.all(np.abs(scaled - nearest) <= FACTOR_TOLERANCE * np.abs(scaled)):
            return factor
    return 0.0


def clash(names: Sequence[str]) -> str:
    """Say that constraints cannot be met, in a sentence without a full stop.

    Parameters
    ----------
    names : sequence of str
        Those that contradict each other, or one alone.

    Returns
    -------
    str
    """
    if len(names) == 1:
        return f"no points within their bounds meet the constraint ({names[0]})"
    more = len(names) - MAX_NAMED
    ending = f" and {more} more" if more > 0 else ""
    named = " and ".join(f"({name})" for name in names[:MAX_NAMED])
    return f"these constraints contradict each other: {named}{ending}"


class _Left(NamedTuple):
    """Values left to each coefficient by each row, shapes (m, columns).

    ``first`` to ``last`` are those other than zero, ``zero`` tells whether it is left.
    """

    first: NDArray[np.float64]
    last: NDArray[np.float64]
    zero: NDArray[np.bool_]

    def combined(self) -> _State:
        """Intersect what all rows leave."""
        return (
            self.first.max(axis=0, initial=-np.inf),
            self.last.min(axis=0, initial=np.inf),
            np.asarray(self.zero.all(axis=0)),
        )


def _without_zero(values: NDArray[Any], instead: float) -> NDArray[Any]:
    """Move ends of intervals away from zero, into the interval."""
    moved: NDArray[Any] = np.where(values == 0, np.asarray(instead, dtype=values.dtype), values)
    return moved


def _lies_in(intervals: Intervals, value: float) -> bool:
    return any(low <= value <= high for low, high in intervals)


def checked_constraints(constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
    """Check what a user gives for a list of constraints.

    Parameters
    ----------
    constraints : iterable of Constraint

    Returns
    -------
    tuple of Constraint

    Raises
    ------
    TypeError
        Something else, or one constraint alone.
    """
    given: Any = constraints
    if isinstance(given, Constraint) or not isinstance(given, Iterable):
        one = "one " if isinstance(given, Constraint) else ""
        kind = type(given).__name__
        raise TypeError(f"constraints must be a list, got {one}{kind}: write constraints=[...]")
    checked = tuple(given)
    for constraint in checked:
        if not isinstance(constraint, Constraint):
            raise TypeError(
                "constraints must be objects such as at_most(1, features), got "
                f"{type(constraint).__name__}"
            )
    return checked
