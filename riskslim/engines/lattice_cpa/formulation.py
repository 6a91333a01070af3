r"""The surrogate problem RiskSlimMIP as variables and rows, for any solver.

.. math::

    \min \; V \quad \text{s.t.} \quad
    V = L + \sum_j C_{0,j} \alpha_j + \sum_j Q_j, \;
    R = \sum_j \alpha_j, \;
    \lambda_j^{\min} \alpha_j \le \lambda_j \le \lambda_j^{\max} \alpha_j, \;
    L \ge l(\lambda^t) + \nabla l(\lambda^t) \cdot (\lambda - \lambda^t)

(Ustun & Rudin 2019, Definitions RiskSlimMIP and RiskSlimLP) with bounds on V, L, R and on every
:math:`\lambda_j`, and with the problem's linear constraints, in which :math:`\alpha_j` stands for
:math:`1[\lambda_j \ne 0]`. A group of features of which any is used has an indicator
:math:`\gamma_g` with :math:`\alpha_j \le \gamma_g \le \sum_{k \in g} \alpha_k`; a coefficient
whose allowed points have gaps has an indicator for each interval of them. Constraints on rates
have variables of predicted outcomes (:mod:`riskslim.engines.lattice_cpa.outcomes`). Features that
cannot be used get no variables. The variables Q of a ridge penalty, of the features that have one,
come with a few rows (:mod:`riskslim.engines.lattice_cpa.ridge`). L, V and Q are held in units of
1 / :data:`OBJECTIVE_SCALE`, so that a feasibility tolerance of 1e-9 means 1e-12 of loss.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim.engines.lattice_cpa.outcomes import Outcomes, OutcomeSum
from riskslim.engines.lattice_cpa.ridge import RidgeRows, shrunk_box

if TYPE_CHECKING:
    from riskslim.bounds import ObjectiveBounds
    from riskslim.constraints.base import Intervals
    from riskslim.problem.problem import RiskScoreProblem

__all__ = [
    "INFINITY",
    "OBJECTIVE_SCALE",
    "ROWS_BETWEEN_STOPS",
    "Accuracy",
    "BuildStoppedError",
    "Cut",
    "Formulation",
    "Row",
    "Variable",
    "accuracy_of",
]

OBJECTIVE_SCALE = 1000.0
# Rows that are added between two looks at whether a model is still wanted.
ROWS_BETWEEN_STOPS = 256
# CPLEX satisfies rows and compares objectives to within 1e-9 in its own units, 1e-12 of loss;
# solutions after presolve and sums of such errors were seen to be off by a few 1e-10.
BOUND_TOLERANCE = 5e-10
# Coefficients of a cut are means of feature values. The error of a row grows with them and with
# the range of the coefficients; this share of their product covers what was seen.
ROW_ERROR = 1e-12
# From here on CPLEX gets no presolve, no scaling of its own and numerical caution ...
CAUTION_FROM = 2e4
# ... and from here on even that returned false optima: such features have to be rescaled.
LARGEST_FEATURE = 1e6
# Cuts are lowered by this much, so that rounding errors cannot lift one above the loss.
CUT_SLACK = 1e-13
# Room that constraints with coefficients other than integers get, beside the room that the problem
# itself allows them.
EXTRA_ROOM = 1e-9
# Rows of the ridge penalty that a surrogate begins with, unless there are more: they make bounds
# better from the beginning, and every LP larger.
MOST_FIRST_ROWS = 300
# As CPLEX and SCIP have it.
INFINITY = 1e20


@dataclasses.dataclass(frozen=True)
class Cut:
    r"""A supporting hyperplane of the loss: its value and gradient at one point.

    Parameters
    ----------
    point : ndarray of float64, shape (d + 1,)
    loss : float
    gradient : ndarray of float64, shape (d + 1,)
    """

    point: NDArray[np.float64]
    loss: float
    gradient: NDArray[np.float64]

    @property
    def constant(self) -> float:
        """Value of the hyperplane at the origin, rounded down."""
        terms = self.gradient * self.point
        size = abs(self.loss) + float(np.sum(np.abs(terms)))
        return self.loss - float(np.sum(terms)) - CUT_SLACK * max(1.0, size)

    def at(self, coef: NDArray[Any]) -> float:
        """Value of the hyperplane at a coefficient vector, shape (d + 1,)."""
        return self.constant + float(self.gradient @ coef)


@dataclasses.dataclass(frozen=True)
class Accuracy:
    """Accuracy of a solver's arithmetic on one problem.

    Parameters
    ----------
    row_error : float
        Absolute error of a bound that comes from the size of the features' values.
    caution : bool
        Whether the values are so large that the solver must not transform the model.
    """

    row_error: float
    caution: bool

    def bound_tolerance(self, objective: float) -> float:
        """Absolute accuracy of a bound near an objective.

        Parameters
        ----------
        objective : float

        Returns
        -------
        float
        """
        size = max(1.0, abs(objective)) if math.isfinite(objective) else 1.0
        return BOUND_TOLERANCE * size + self.row_error


def accuracy_of(problem: RiskScoreProblem, solver: str = "the solver") -> Accuracy:
    """Find out how far a solver can be trusted on a problem.

    Parameters
    ----------
    problem : RiskScoreProblem
    solver : str, default "the solver"
        How the refusal calls it.

    Returns
    -------
    Accuracy

    Raises
    ------
    ValueError
        A usable feature has values beyond 1e6 times the scale: in double precision a solver would
        cut off optimal solutions, and return a false certificate.
    """
    data, usable = problem.loss.data, problem.usable
    # Cuts of a loss of score / scale are those of features that are divided by it.
    scale = problem.loss.scale
    largest = np.maximum(np.abs(data.feature_min), np.abs(data.feature_max)) / scale
    largest = np.where(usable, largest, 0.0)
    too_large = np.flatnonzero(largest > LARGEST_FEATURE)
    if too_large.size:
        named = ", ".join(
            f"{data.feature_names[j]!r} (up to {scale * largest[j]:.6g})" for j in too_large[:5]
        )
        more = f" and {too_large.size - 5} more" if too_large.size > 5 else ""
        raise ValueError(
            f"the values of {named}{more} are too large for {solver}, which would return a false "
            f"certificate: the largest allowed is {scale * LARGEST_FEATURE:.0f}. Divide these "
            "features (points count per unit), cut them at thresholds, or leave them out (fixed at "
            "0)"
        )
    ranges = (problem.upper[1:] - problem.lower[1:]).astype(np.float64)
    row_error = ROW_ERROR * float(np.max(largest * ranges, initial=0.0))
    return Accuracy(row_error, bool(np.max(largest, initial=0.0) > CAUTION_FROM))


class BuildStoppedError(Exception):
    """A model is not wanted any more before it is built."""


class Variable(NamedTuple):
    """A variable: name, bounds, kind ("C" continuous, "I" integer, "B" binary), price."""

    name: str
    low: float
    high: float
    kind: str
    price: float


class Row(NamedTuple):
    """low <= sum of values times variables <= high; either end may be infinite."""

    indices: list[int]
    values: list[float]
    low: float
    high: float


class _Part(NamedTuple):
    """Meaning of an indicator of an interval: coefficient j lies between two ends."""

    j: int
    low: float
    high: float


class Formulation:
    """Variables and rows of the surrogate problem without any cut.

    Parameters
    ----------
    problem : RiskScoreProblem
        Must be feasible, with one scale.
    bounds : ObjectiveBounds
        Valid bounds on objective, loss and model size.
    relaxed : bool, default False
        Drop integrality: RiskSlimLP.
    box : (lower, upper), optional
        Bounds of coefficients, within those of the problem.
    sign_split : bool, default False
        Give every feature an indicator of use per sign, 0 while its coefficient is 0.
    accuracy : Accuracy, optional
        None: that of the problem (:func:`accuracy_of`).
    should_stop : callable, optional
        Asked now and then while rows are added, of which there can be two for each record.

    Attributes
    ----------
    objective_scale : float
        L and V are the loss and the objective times this.
    accuracy : Accuracy
    lower, upper : ndarray of int64, shape (d + 1,)
        Bounds of coefficients.
    variables : list of Variable
    rows : list of Row
    columns : ndarray of intp, shape (m + 1,)
        Positions in the coefficient vector (0 = intercept) of the first m + 1 variables.
    loss, objective, size : int
        Indices of the variables L, V and R; L follows the last coefficient.
    alpha : dict from feature index to variable index
        Size indicators of the features that can be used.
    groups : list of int
        Indicators of the groups in ``problem.constraint_rows``: whether any of their features is
        used; -1 where none can be.
    ridge : RidgeRows
        Variables of the ridge penalty, none without one.
    value_range : tuple of int
        First and last of the variables that say of a point what loss and penalty it claims.
    constraint_rows : list of lists of int
        Rows that each of the problem's constraints became.

    Raises
    ------
    ValueError
        A feature's values are too large (:func:`accuracy_of`), or the problem has several scales.
    BuildStoppedError
        ``should_stop`` said so.
    """

    objective_scale = OBJECTIVE_SCALE

    def __init__(
        self,
        problem: RiskScoreProblem,
        bounds: ObjectiveBounds,
        *,
        relaxed: bool = False,
        box: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
        sign_split: bool = False,
        accuracy: Accuracy | None = None,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        if not problem.scales.is_single:
            raise ValueError(
                f"the problem has several scales ({problem.scales.describe()}): choose one with "
                "problem.at_scale(m)"
            )
        self.problem = problem
        self.relaxed = relaxed
        self._should_stop = should_stop
        self.accuracy = accuracy_of(problem) if accuracy is None else accuracy
        self.lower, self.upper = (problem.lower, problem.upper) if box is None else box
        if problem.has_ridge:
            most = bounds.objective_max + self._slack(bounds.objective_max)
            self.lower, self.upper = shrunk_box(self.lower, self.upper, problem.point_ridge, most)
        self.variables: list[Variable] = []
        self.rows: list[Row] = []
        self.columns = np.concatenate(([0], 1 + np.flatnonzero(problem.usable))).astype(np.intp)
        m = len(self.columns) - 1
        self.loss = m + 1
        self._tied = _tied_indicators(problem) | sign_split
        for j in self.columns.tolist():
            self._add_variable(f"lambda_{j}", self.lower[j], self.upper[j], "I")
        self._add_variable("L", 0.0, INFINITY, "C")
        self._add_indicators()
        self.ridge = self._added_ridge()
        self.value_range = (0, max([self.loss, *self.ridge.variables.tolist()]))
        self.objective = self._add_variable("V", 0.0, INFINITY, "C", price=1.0)
        self.size = self._add_variable("R", 0.0, m, "I")
        self._add_definitions()
        self._add_groups()
        self._parts: dict[int, _Part] = {}
        self.outcomes = Outcomes(
            self.lower,
            self.upper,
            self.columns,
            bounds.size_max,
            lambda name: self._add_variable(name, 0.0, 1.0, "B"),
            self._add_row,
        )
        first = self.ridge.first()
        for row in first if len(first) <= MOST_FIRST_ROWS else ():
            self._add_row(row.indices, row.values, 0.0, math.inf)
        self.constraint_rows = self._add_constraints()
        for variable, ends in self.bounds_of_variables(bounds).items():
            self.variables[variable] = self.variables[variable]._replace(low=ends[0], high=ends[1])
        self._cut_indices = [self.loss, *range(m + 1)]

    def should_prefer_indicators(self, wanted: bool | None) -> bool:
        """True if to branch on :attr:`indicators` before coefficients.

        Parameters
        ----------
        wanted : bool, optional
            None: where rates are constrained; and where fewer features can be used than there are,
            and most of them are 0 or 1. There it matters which ones are used; with features of
            many values it matters more how many points they have.

        Returns
        -------
        bool
        """
        if wanted is not None:
            return wanted
        if len(self.outcomes):
            return True
        data, usable = self.problem.loss.data, self.problem.usable
        binary = data.is_integer & (data.feature_max - data.feature_min == 1.0)
        limited = self.problem.max_size < len(self.alpha)
        return limited and bool(2 * np.count_nonzero(binary & usable) > len(self.alpha))

    @property
    def indicators(self) -> list[int]:
        """Variables to be settled first: predicted outcomes if there are any, else those of use.

        A sign of a score bounds many coefficients together, which no single coefficient does.
        """
        return self.outcomes.variables or [*self.alpha.values(), *self._negative.values()]

    def _add_variable(
        self, name: str, low: float, high: float, kind: str, price: float = 0.0
    ) -> int:
        kind = "C" if self.relaxed else kind
        self.variables.append(Variable(name, float(low), float(high), kind, price))
        return len(self.variables) - 1

    def _add_indicators(self) -> None:
        """Indicators of use; one per sign where they must imply a value other than zero."""
        self.alpha: dict[int, int] = {}
        self._negative: dict[int, int] = {}
        for j in self.columns[1:]:
            feature = int(j) - 1
            low, high = self.lower[j], self.upper[j]
            is_used, can_be_used = low > 0 or high < 0, low != 0 or high != 0
            self.alpha[feature] = self._add_variable(f"alpha_{j}", is_used, can_be_used, "B")
            if self._tied[feature] and low < 0 < high:
                self._negative[feature] = self._add_variable(f"beta_{j}", 0.0, 1.0, "B")

    def _added_ridge(self) -> RidgeRows:
        """Variables of the ridge penalty of the features that have one."""
        price = self.problem.point_ridge * self.objective_scale
        features = np.array([j for j in self.alpha if price[j] > 0.0], dtype=np.intp)
        ridge = RidgeRows(
            price[features],
            self.lower[1:][features],
            self.upper[1:][features],
            np.searchsorted(self.columns, features + 1),
            np.array([self.alpha[j] for j in features.tolist()], dtype=np.intp),
            np.arange(len(self.variables), len(self.variables) + len(features)),
            self.objective_scale,
        )
        for j, least in zip(features.tolist(), ridge.least().tolist(), strict=True):
            self._add_variable(f"Q_{j + 1}", least, INFINITY, "C")
        return ridge

    def _add_definitions(self) -> None:
        penalty = self.problem.l0_penalty * self.objective_scale
        alpha = list(self.alpha.values())
        prices = [-float(penalty[feature]) for feature in self.alpha]
        ridge = self.ridge.variables.tolist()
        self._add_row(
            [self.objective, self.loss, *alpha, *ridge],
            [1.0, -1.0, *prices, *[-1.0] * len(ridge)],
            0.0,
            0.0,
        )
        self._add_row([self.size, *alpha], [1.0] + [-1.0] * len(alpha), 0.0, 0.0)
        for variable, j in enumerate(self.columns):
            if variable:
                self._add_links(variable, int(j))

    def _add_links(self, variable: int, j: int) -> None:
        """Tie coefficient j to its indicator: zero unless used."""
        low, high = float(self.lower[j]), float(self.upper[j])
        alpha = self.alpha[j - 1]
        if low > 0 or high < 0 or low == high == 0:
            return  # always used or never: its indicator is fixed
        if j - 1 in self._negative:
            # alpha = positive part used or negative part used, never both.
            negative = self._negative[j - 1]
            indices = [variable, alpha, negative]
            self._add_row([alpha, negative], [1.0, -1.0], 0.0, math.inf)
            # lambda <= high (alpha - beta) - beta  and  lambda >= (alpha - beta) + low beta
            self._add_row(indices, [1.0, -high, high + 1.0], -math.inf, 0.0)
            self._add_row(indices, [1.0, -1.0, 1.0 - low], 0.0, math.inf)
            return
        if high > 0:
            self._add_row([variable, alpha], [1.0, -high], -math.inf, 0.0)
        if low < 0:
            self._add_row([variable, alpha], [1.0, -low], 0.0, math.inf)
        if self._tied[j - 1]:
            sign = 1.0 if high > 0 else -1.0
            self._add_row([variable, alpha], [sign, -1.0], 0.0, math.inf)

    def _add_groups(self) -> None:
        """Indicators of groups: at least that of each member, at most all of these together."""
        rows = self.problem.constraint_rows
        self.groups: list[int] = []
        for g, features in enumerate(() if rows is None else rows.groups):
            members = [self.alpha[j] for j in features.tolist() if j in self.alpha]
            if not members:
                self.groups.append(-1)
                continue
            group = self._add_variable(f"gamma_{g}", 0.0, 1.0, "B")
            self.groups.append(group)
            for alpha in members:
                self._add_row([group, alpha], [1.0, -1.0], 0.0, math.inf)
            self._add_row([*members, group], [1.0] * len(members) + [-1.0], 0.0, math.inf)

    def _add_constraints(self) -> list[list[int]]:
        """Add the problem's constraints; returns the rows that each of them became."""
        rows = self.problem.constraint_rows
        if rows is None:
            return []
        added: list[list[int]] = [[] for _ in rows.constraints]
        for i in range(len(rows)):
            first = len(self.rows)
            self._add_constraint(i)
            added[rows.owner[i]].extend(range(first, len(self.rows)))
        for owner, j, intervals in rows.allowed_points:
            first = len(self.rows)
            self._add_allowed_points(j, intervals)
            added[owner].extend(range(first, len(self.rows)))
        for owner, check in rows.owned_checks:
            # Rows that tie outcomes to points are definitions, which constraints share.
            demanded = self.outcomes.add(check)
            first = len(self.rows)
            self._add_rate(demanded, 0.0 if check.has_integer_shares else EXTRA_ROOM)
            added[owner].extend(range(first, len(self.rows)))
        return added

    def _add_rate(self, demanded: OutcomeSum, room: float) -> None:
        """Add a constraint on rates, unless it holds in the whole box."""
        variables, shares, low, high = demanded
        least, most = sum(min(share, 0.0) for share in shares), sum(max(s, 0.0) for s in shares)
        if low <= least and most <= high:
            return
        if most < low or high < least:
            # No points meet it, and there may be no variable that could say so.
            self._add_row([0], [1.0], self.upper[0] + 1.0, math.inf)
            return
        scale = _to_unit(shares)
        values = [scale * share for share in shares]
        self._add_row(variables, values, scale * low - room, scale * high + room)

    def _add_allowed_points(self, j: int, intervals: Intervals) -> None:
        """Keep a coefficient to disjoint intervals, by an indicator for each if there are several.

        Just one indicator is 1, and its interval bounds the coefficient.
        """
        if j - 1 not in self.alpha:
            return  # fixed at 0: the problem is feasible
        variable = int(np.searchsorted(self.columns, j))
        low, high = float(self.lower[j]), float(self.upper[j])
        within = [(max(a, low), min(b, high)) for a, b in intervals]
        within = [ends for ends in within if ends[0] <= ends[1]]
        if len(within) < 2:
            first, last = within[0] if within else (high + 1.0, high + 1.0)
            self._add_row([variable], [1.0], first, last)
            return
        name = f"delta_{j}_{len(self._parts)}"
        parts = [self._add_variable(f"{name}_{k}", 0.0, 1.0, "B") for k in range(len(within))]
        self._parts.update(
            {part: _Part(j, *ends) for part, ends in zip(parts, within, strict=True)}
        )
        self._add_row(parts, [1.0] * len(parts), 1.0, 1.0)
        lows, highs = ([-ends[side] for ends in within] for side in (0, 1))
        self._add_row([variable, *parts], [1.0, *lows], 0.0, math.inf)
        self._add_row([variable, *parts], [1.0, *highs], -math.inf, 0.0)

    def _add_constraint(self, i: int) -> None:
        """Add one constraint, without sides that hold in the whole box.

        A solver satisfies a row to within an absolute tolerance, so that its largest coefficient is
        scaled to about 1. Sums of integers cannot come near to their bounds without meeting
        them. Others can, and get some more room: what it accepts beyond the constraint is
        no incumbent, and makes its bound no larger.
        """
        rows = self.problem.constraint_rows
        assert rows is not None
        variables = np.array([*range(self.loss), *self.alpha.values(), *self.groups], dtype=int)
        terms = np.concatenate(
            (rows.points[i, self.columns], rows.used[i, list(self.alpha)], rows.any_used[i])
        )
        terms[variables < 0] = 0.0  # groups that cannot be used
        indices = variables[terms != 0].tolist()
        if not indices:
            return  # features that are fixed at 0: the problem is feasible
        scale = _to_unit(terms)
        values = scale * terms[terms != 0]
        ends = np.array([[self.variables[i].low for i in indices],
                         [self.variables[i].high for i in indices]])  # fmt: skip
        room = 0.0 if rows.is_integer[i] else EXTRA_ROOM
        low, high = scale * float(rows.lower[i]) - room, scale * float(rows.upper[i]) + room
        if (values * ends).min(axis=0).sum() >= low:
            low = -math.inf
        if (values * ends).max(axis=0).sum() <= high:
            high = math.inf
        self._add_row(indices, values.tolist(), low, high)

    def _add_row(self, indices: list[int], values: list[float], low: float, high: float) -> None:
        """Add a row, unless it has no end."""
        if math.isfinite(low) or math.isfinite(high):
            self.check_stop(len(self.rows))
            self.rows.append(Row(indices, values, low, high))

    def check_stop(self, n_rows: int) -> None:
        """Stop if that is wanted; at some numbers of rows it is asked.

        Parameters
        ----------
        n_rows : int
            How many were added so far.

        Raises
        ------
        BuildStoppedError
            It is.
        """
        should_stop = self._should_stop
        if should_stop is not None and n_rows % ROWS_BETWEEN_STOPS == 0 and should_stop():
            raise BuildStoppedError

    def bounds_of_variables(self, bounds: ObjectiveBounds) -> dict[int, tuple[float, float]]:
        """Bounds of the variables V, L and R in their units.

        Parameters
        ----------
        bounds : ObjectiveBounds

        Returns
        -------
        dict from variable index to (lower, upper)
        """

        def scaled(low: float, high: float) -> tuple[float, float]:
            slack = self._slack(high)
            low = max(0.0, low - slack) * self.objective_scale
            high = (high + slack) * self.objective_scale
            return low, min(high, INFINITY)

        return {
            self.objective: scaled(bounds.objective_min, bounds.objective_max),
            self.loss: scaled(bounds.loss_min, bounds.loss_max),
            self.size: (float(bounds.size_min), float(bounds.size_max)),
        }

    def _slack(self, value: float) -> float:
        """Room that a bound on a value of the objective gets."""
        return 10 * self.accuracy.bound_tolerance(value)

    def cut_terms(self, cut: Cut) -> tuple[list[int], list[float], float]:
        """A cut as indices, values and the lower bound of their sum.

        Parameters
        ----------
        cut : Cut

        Returns
        -------
        tuple
        """
        gradient = cut.gradient[self.columns]
        # Features without a variable are zero: their terms vanish from the constant too,
        # because every point that is cut has a zero there.
        values = [1.0, *(-self.objective_scale * gradient).tolist()]
        return self._cut_indices, values, self.objective_scale * cut.constant

    def coef_and_loss(self, values: list[float]) -> tuple[NDArray[np.float64], float]:
        """Coefficient vector and loss from the values of the first variables.

        Parameters
        ----------
        values : list of float
            Values of the variables in ``value_range``.

        Returns
        -------
        coef : ndarray of float64, shape (d + 1,)
        loss : float
            In units of the loss.
        """
        coef = np.zeros(self.problem.n_features + 1)
        coef[self.columns] = values[: self.loss]
        # Solvers keep to bounds within their tolerance only.
        np.clip(coef, self.problem.lower, self.problem.upper, out=coef)
        return coef, values[self.loss] / self.objective_scale

    def solution_vector(
        self, coef: NDArray[np.int64], loss: float
    ) -> tuple[list[int], list[float], float]:
        """Values of all variables at an integer point, and its objective.

        Parameters
        ----------
        coef : ndarray of int64, shape (d + 1,)
            Feasible.
        loss : float
            Its loss.

        Returns
        -------
        indices, values : lists of equal length
        objective : float
            In units of V.
        """
        values = [0.0] * len(self.variables)
        for variable, j in enumerate(self.columns):
            values[variable] = float(coef[j])
        for feature, variable in self.alpha.items():
            values[variable] = float(coef[feature + 1] != 0)
        for feature, variable in self._negative.items():
            values[variable] = float(coef[feature + 1] < 0)
        points = coef[self.columns[self.ridge.coefficients]]
        for variable, penalty in zip(self.ridge.variables, self.ridge.at(points), strict=True):
            values[variable] = float(penalty)
        self.outcomes.fill(values, coef)
        for part, (j, low, high) in self._parts.items():
            values[part] = float(low <= coef[j] <= high)
        rows = self.problem.constraint_rows
        for group, features in zip(self.groups, () if rows is None else rows.groups, strict=True):
            if group >= 0:
                values[group] = float((coef[1 + features] != 0).any())
        objective = (loss + self.problem.penalty(coef)) * self.objective_scale
        values[self.loss] = loss * self.objective_scale
        values[self.objective] = objective
        values[self.size] = float(self.problem.model_size(coef))
        return list(range(len(values))), values, objective


def _to_unit(terms: Sequence[float] | NDArray[np.float64]) -> float:
    """A power of two that scales the largest coefficient of a row to about 1."""
    return 2.0 ** -math.ceil(math.log2(max(map(abs, terms))))


def _tied_indicators(problem: RiskScoreProblem) -> NDArray[np.bool_]:
    """Features whose indicator must not be 1 while the coefficient is 0, shape (d,).

    The big-M links allow for that. It does no good but where a row is easier to meet with more
    features: a minimum size, or a constraint that features help to meet.
    """
    if problem.min_size > int(np.count_nonzero(problem.required)):
        return np.ones(problem.n_features, dtype=bool)
    rows = problem.constraint_rows
    if rows is None:
        return np.zeros(problem.n_features, dtype=bool)
    helps_up = (rows.used > 0) & np.isfinite(rows.lower)[:, None]
    helps_down = (rows.used < 0) & np.isfinite(rows.upper)[:, None]
    tied: NDArray[np.bool_] = np.any(helps_up | helps_down, axis=0)
    bounded = np.isfinite(rows.lower)[:, None], np.isfinite(rows.upper)[:, None]
    helping = ((rows.any_used > 0) & bounded[0]) | ((rows.any_used < 0) & bounded[1])
    for g in np.flatnonzero(helping.any(axis=0)):
        tied[rows.groups[g]] = True
    return tied
