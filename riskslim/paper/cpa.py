"""The standard cutting plane algorithm (CPA), which the lattice version improves."""

from __future__ import annotations

from collections.abc import Callable

from riskslim.bounds import ObjectiveBounds
from riskslim.engines.lattice_cpa.cutting_planes import CPAResult, cutting_planes
from riskslim.engines.lattice_cpa.feasibility import feasible_start
from riskslim.engines.lattice_cpa.start import below, best_possible_bounds, require_feasible
from riskslim.problem.problem import RiskScoreProblem

__all__ = ["standard_cpa"]


def standard_cpa(
    problem: RiskScoreProblem,
    *,
    relaxation: bool = False,
    gap_tolerance: float = 0.0,
    time_limit: float = 60.0,
    max_iterations: int = 10_000,
    bounds: ObjectiveBounds | None = None,
    stop: Callable[[], bool] | None = None,
) -> CPAResult:
    r"""Standard cutting plane algorithm (CPA) on RiskSlimMIP or RiskSlimLP.

    Each iteration solves the surrogate to optimality, evaluates the loss at its solution and
    adds the cut there. Its optimal value is a lower bound; the best objective of any iterate
    is the upper bound.

    Parameters
    ----------
    problem : RiskScoreProblem
        Must be feasible.
    relaxation : bool, default False
        Solve the linear relaxation (RiskSlimLP): real-valued coefficients, and
        :math:`\alpha_j \in [0, 1]` in place of the count of features.
    gap_tolerance : float, default 0.0
        Stop when 1 - lower/upper bound is at most this (:math:`\varepsilon^{stop}`).
    time_limit : float, default 60.0
        Seconds.
    max_iterations : int, default 10000
    bounds : ObjectiveBounds, optional
        Valid bounds to start from; computed from the data if None.
    stop : callable, optional
        Asked before each iteration; True ends the run.

    Returns
    -------
    CPAResult

    Raises
    ------
    InfeasibleProblemError
        No vector meets the requirements.
    ValueError
        A limit is negative, or a feature's values are too large.
    SolverUnavailableError, ProblemSizeError
        CPLEX is missing, or its licence too small.

    Notes
    -----
    Ustun & Rudin (2019), Algorithm *CPA*. The surrogate holds at most as many cuts as fit into
    CPLEX's Community Edition; beyond that the slackest cuts leave it. They remain in the
    result, and the lower bound never falls.

    Examples
    --------
    >>> from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData
    >>> from riskslim.paper import standard_cpa
    >>> data = TrainingData([[0, 1], [1, 0], [1, 1], [0, 0]], [0, 1, 1, 0])
    >>> coefficients = CoefficientSet(data.feature_names, -3, 3)
    >>> problem = RiskScoreProblem(data, coefficients)
    >>> standard_cpa(problem).converged
    True
    """
    require_feasible(problem)
    if time_limit < 0 or max_iterations < 0 or gap_tolerance < 0:
        raise ValueError("time_limit, max_iterations and gap_tolerance must be at least 0")
    known = None
    if problem.constraint_rows is not None or problem.has_ridge:
        known, _ = feasible_start(problem, time_limit=time_limit, stop=stop)
    if bounds is None:
        bounds = best_possible_bounds(problem)
        if problem.has_ridge and known is not None:
            bounds = below(bounds, problem.objective(known))
    return cutting_planes(
        problem, relaxation, gap_tolerance, time_limit, max_iterations, bounds, stop
    )
