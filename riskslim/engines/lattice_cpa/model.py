"""RiskSlimMIP and RiskSlimLP on CPLEX: formulation, parameters, limits of its licence."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim._wording import how_to_install
from riskslim.engines.lattice_cpa.formulation import Cut, Formulation, Row
from riskslim.engines.lattice_cpa.ridge import RidgeRow
from riskslim.engines.lattice_cpa.solvers import import_cplex
from riskslim.exceptions import ProblemSizeError, SolverUnavailableError

if TYPE_CHECKING:
    from riskslim.bounds import ObjectiveBounds
    from riskslim.problem.problem import RiskScoreProblem

__all__ = [
    "COMMUNITY_EDITION_LIMIT",
    "RiskSlimLP",
    "RiskSlimMIP",
    "check_size",
    "has_limited_size",
    "new_cplex",
    "translated_errors",
]

COMMUNITY_EDITION_LIMIT = 1000
_CPXERR_RESTRICTED_VERSION = 1016


class RiskSlimMIP(Formulation):
    r"""The surrogate mixed-integer program, with an empty approximation to begin with.

    Parameters
    ----------
    problem : RiskScoreProblem
        Must be feasible.
    bounds : ObjectiveBounds
        Valid bounds on objective, loss and model size.
    relaxed : bool, default False
        Drop integrality: RiskSlimLP.
    box : (lower, upper), optional
        Bounds of coefficients, within those of the problem.
    sign_split : bool, default False
        Give every feature an indicator of use per sign, 0 while its coefficient is 0.
    should_stop : callable, optional
        As in :class:`Formulation`.

    Attributes
    ----------
    cpx : cplex.Cplex
    accuracy : Accuracy
    columns : ndarray of intp, shape (m + 1,)
        Positions in the coefficient vector (0 = intercept) of CPLEX's first m + 1 variables.
    loss, objective, size : int
        Indices of the variables L, V and R; L follows the last coefficient.
    alpha : dict from feature index to variable index
        Size indicators of the features that can be used.

    Raises
    ------
    ValueError
        A feature's values are too large.
    SolverUnavailableError
        The package cplex cannot be imported.
    ProblemSizeError
        The installed licence does not allow a model of this size.

    Examples
    --------
    >>> from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData
    >>> from riskslim import RiskSlimMIP
    >>> from riskslim.engines.lattice_cpa.initialization import best_possible_bounds
    >>> data = TrainingData([[0, 1], [1, 0], [1, 1], [0, 0]], [0, 1, 1, 0])
    >>> coefficients = CoefficientSet(data.feature_names, -3, 3)
    >>> problem = RiskScoreProblem(data, coefficients)
    >>> mip = RiskSlimMIP(problem, best_possible_bounds(problem))
    >>> mip.cpx.variables.get_num()
    8
    """

    def __init__(
        self,
        problem: RiskScoreProblem,
        bounds: ObjectiveBounds,
        *,
        relaxed: bool = False,
        box: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
        sign_split: bool = False,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        super().__init__(
            problem,
            bounds,
            relaxed=relaxed,
            box=box,
            sign_split=sign_split,
            should_stop=should_stop,
        )
        self.cpx = new_cplex()
        if self.accuracy.caution:
            self.cpx.parameters.preprocessing.presolve.set(0)
            self.cpx.parameters.read.scale.set(-1)
            self.cpx.parameters.emphasis.numerical.set(1)
        names, low, high, kinds, prices = map(list, zip(*self.variables, strict=True))
        self.cpx.variables.add(
            names=names, lb=low, ub=high, obj=prices, types="" if relaxed else "".join(kinds)
        )
        if (
            max(len(self.variables), len(self.rows)) > COMMUNITY_EDITION_LIMIT
            and has_limited_size()
        ):
            raise ProblemSizeError(_model_too_large(self))
        for i, row in enumerate(self.rows):
            self.check_stop(i)
            self._add_to_cplex(row)
        self.n_fixed_rows = len(self.rows)

    @property
    def max_cuts(self) -> int:
        """Cuts that fit beside the other rows into the Community Edition's limit."""
        return max(10, COMMUNITY_EDITION_LIMIT - self.n_fixed_rows)

    def _add_to_cplex(self, row: Row) -> None:
        expression, add = [[row.indices, row.values]], self.cpx.linear_constraints.add
        if row.low == row.high:
            add(lin_expr=expression, senses="E", rhs=[row.low])
        elif math.isinf(row.low):
            add(lin_expr=expression, senses="L", rhs=[row.high])
        elif math.isinf(row.high):
            add(lin_expr=expression, senses="G", rhs=[row.low])
        else:
            add(lin_expr=expression, senses="R", rhs=[row.low], range_values=[row.high - row.low])

    def prefer_indicators(self) -> None:
        """Branch on indicators before coefficients."""
        order = self.cpx.order
        if self.indicators:
            order.set([(i, 1, order.branch_direction.default) for i in self.indicators])

    def cut_row(self, cut: Cut) -> tuple[list[list[Any]], str, float]:
        """A cut as a row: sparse pair, sense, right-hand side.

        Parameters
        ----------
        cut : Cut

        Returns
        -------
        tuple
        """
        indices, values, low = self.cut_terms(cut)
        return [indices, values], "G", low

    def add_cuts(self, cuts: list[Cut], *, lazy: bool = False) -> None:
        """Add cuts as rows of the model.

        Parameters
        ----------
        cuts : list of Cut
        lazy : bool, default False
            Check them at integer solutions only.
        """
        rows = [self.cut_row(cut) for cut in cuts]
        if not rows:
            return
        constraints = self.cpx.linear_constraints
        add = constraints.advanced.add_lazy_constraints if lazy else constraints.add
        add(
            lin_expr=[row for row, _, _ in rows],
            senses="".join(sense for _, sense, _ in rows),
            rhs=[rhs for _, _, rhs in rows],
        )

    def add_ridge_rows(self, rows: list[RidgeRow]) -> None:
        """Add rows of the ridge penalty.

        Parameters
        ----------
        rows : list of RidgeRow
        """
        if rows:
            self.cpx.linear_constraints.add(
                lin_expr=[[row.indices, row.values] for row in rows],
                senses="G" * len(rows),
                rhs=[0.0] * len(rows),
            )


class RiskSlimLP(RiskSlimMIP):
    r"""The linear relaxation of :class:`RiskSlimMIP` over the whole box.

    Parameters
    ----------
    problem : RiskScoreProblem
    bounds : ObjectiveBounds

    Examples
    --------
    >>> from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData
    >>> from riskslim import RiskSlimLP
    >>> from riskslim.engines.lattice_cpa.initialization import best_possible_bounds
    >>> data = TrainingData([[0, 1], [1, 0], [1, 1], [0, 0]], [0, 1, 1, 0])
    >>> coefficients = CoefficientSet(data.feature_names, -3, 3)
    >>> problem = RiskScoreProblem(data, coefficients)
    >>> lp = RiskSlimLP(problem, best_possible_bounds(problem))
    >>> lp.cpx.variables.get_num()
    8
    """

    def __init__(self, problem: RiskScoreProblem, bounds: ObjectiveBounds) -> None:
        super().__init__(problem, bounds, relaxed=True)


def new_cplex() -> Any:
    """Make an empty CPLEX problem that prints nothing and has no slack tolerances.

    Returns
    -------
    cplex.Cplex

    Raises
    ------
    SolverUnavailableError
        The package cplex is missing, or its library cannot be started.
    """
    cplex = import_cplex()
    try:
        cpx = cplex.Cplex()
    except cplex.exceptions.CplexError as error:
        raise SolverUnavailableError(f"CPLEX does not start: {error}") from error
    for set_stream in (
        cpx.set_log_stream,
        cpx.set_results_stream,
        cpx.set_warning_stream,
        cpx.set_error_stream,
    ):
        set_stream(None)
    # The defaults (1e-4, 1e-6, 1e-5, 1e-6) would let CPLEX ignore the l0 penalty.
    cpx.parameters.mip.tolerances.mipgap.set(0.0)
    cpx.parameters.mip.tolerances.absmipgap.set(0.0)
    cpx.parameters.mip.tolerances.integrality.set(0.0)
    cpx.parameters.simplex.tolerances.feasibility.set(1e-9)
    cpx.parameters.simplex.tolerances.optimality.set(1e-9)
    return cpx


@contextlib.contextmanager
def translated_errors(model: RiskSlimMIP) -> Iterator[None]:
    """Turn the licence's size error into one that says what to do.

    Parameters
    ----------
    model : RiskSlimMIP
        What is being solved.

    Raises
    ------
    ProblemSizeError
        In the place of CPLEX's error 1016.
    """
    try:
        yield
    except import_cplex().exceptions.CplexSolverError as error:
        if not _is_about_size(error):
            raise
        raise ProblemSizeError(_model_too_large(model)) from error


def check_size(problem: RiskScoreProblem) -> None:
    """Refuse a problem whose variables are too many for the licence, before anything is searched.

    Its rows, and other variables than those for each feature, can become fewer within a smaller
    box.

    Parameters
    ----------
    problem : RiskScoreProblem

    Raises
    ------
    ProblemSizeError
        The installed licence does not allow so many variables.
    """
    rows, usable = problem.constraint_rows, problem.usable
    groups = () if rows is None else rows.groups
    n_features = int(usable.sum())
    # Intercept, loss, objective, size; coefficient, indicator and ridge penalty of each feature.
    n_variables = 4 + 2 * n_features + sum(bool(usable[group].any()) for group in groups)
    n_variables += int(np.count_nonzero(usable & (problem.point_ridge > 0)))
    if n_variables > COMMUNITY_EDITION_LIMIT and has_limited_size():
        raise ProblemSizeError(_too_large(n_features, f"at least {n_variables} variables"))


@functools.cache
def has_limited_size() -> bool:
    """True if the installed CPLEX is one that refuses models beyond 1000 variables or rows.

    Returns
    -------
    bool

    Raises
    ------
    SolverUnavailableError
        CPLEX cannot be imported or started.
    """
    cpx = new_cplex()
    cpx.variables.add(obj=[0.0] * (COMMUNITY_EDITION_LIMIT + 1))
    try:
        cpx.solve()
    except import_cplex().exceptions.CplexSolverError as error:
        if not _is_about_size(error):
            raise
        return True
    finally:
        cpx.end()
    return False


def _is_about_size(error: Any) -> bool:
    return len(error.args) > 2 and error.args[2] == _CPXERR_RESTRICTED_VERSION


def _model_too_large(model: RiskSlimMIP) -> str:
    n_rows = max(len(model.rows), model.cpx.linear_constraints.get_num())
    takes = f"{len(model.variables)} variables and {n_rows} rows"
    return _too_large(len(model.columns) - 1, takes, len(model.outcomes))


def _too_large(n_features: int, takes: str, n_records: int = 0) -> str:
    """Say what makes a model too large, and what to do."""
    records = ""
    if n_records:
        records = f" and constraints on rates over {n_records} different records"
    fewer = "rougher features, so that more records are equal, or " if n_records else ""
    return (
        f"the problem has {n_features} usable features{records}, which take {takes}; the "
        "Community Edition of CPLEX, which the extra cplex installs, allows "
        f"{COMMUNITY_EDITION_LIMIT} variables and as many rows. Use the engine branch_and_bound, "
        "which needs no solver and has no limit; or solver='scip', which has none, either: "
        f"{how_to_install('scip')}; or use {fewer}fewer features (fix some coefficients at 0); or "
        "install a full CPLEX licence (free for academic use) and point the package at it with "
        "`docplex config --upgrade`"
    )
