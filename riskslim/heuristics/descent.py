r"""Heuristics of the risk score problem: polish integer vectors, round real-valued ones.

Discrete coordinate descent (Ustun & Rudin 2019, Section 4.1) and sequential rounding
(Section 4.2). Both run compiled as a whole: they keep the scores of all rows and update them by
one column at a time. Where what they find breaks a constraint, heuristics of their own take over
(:mod:`riskslim.heuristics.constrained`). The time they spend counts in ``problem.loss.seconds``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._kernels import heuristics as kernels
from riskslim._kernels import integer
from riskslim.data.threads import watched
from riskslim.heuristics.constrained import Move, descend, round_sequentially
from riskslim.loss.form import choose_form, tables_by_score
from riskslim.loss.ranges import score_range
from riskslim.loss.sharing import real_scores, take_over_work
from riskslim.problem.problem import RiskScoreProblem

__all__ = [
    "HeuristicResult",
    "LineSteps",
    "best_line_steps",
    "discrete_coordinate_descent",
    "polished_within",
    "round_and_polish",
    "sequential_rounding",
]

# Objectives along different paths agree to about 1e-15; a smaller gain is no improvement.
_TOLERANCE = 2.0**-46

# LP solvers return integers with this much noise; rounding 3.0000000001 up to 4 is not meant.
_INTEGRALITY_TOLERANCE = 1e-9

# LP solvers leave their bounds by this much.
_BOX_TOLERANCE = 1e-6

# A joint histogram of a few cells is cheaper than a pass over the rows, however few they are.
_MIN_JOINT_CELLS = 4096


@dataclass(frozen=True)
class HeuristicResult:
    """The outcome of a heuristic.

    Attributes
    ----------
    coefficients : ndarray of int64, shape (d + 1,), or None
        Intercept first. None if the heuristic gave up; ``reason`` says why.
    objective : float
        Objective of the coefficients on all rows, at their best scale; infinite if there are
        none.
    n_iterations : int
        Moves made, or coefficients rounded.
    n_evaluations : int
        Losses computed on the way.
    reason : str
        Why the heuristic ended.
    """

    coefficients: NDArray[np.int64] | None
    objective: float
    n_iterations: int
    n_evaluations: int
    reason: str


def discrete_coordinate_descent(
    problem: RiskScoreProblem,
    coef: ArrayLike,
    *,
    directions: Iterable[int] | None = None,
    line_search: Literal["golden_section", "exhaustive"] = "golden_section",
    swaps: bool = False,
    max_iterations: int | None = None,
    should_stop: Callable[[], bool] | None = None,
    stop: NDArray[np.int64] | None = None,
) -> HeuristicResult:
    r"""Improve a feasible integer vector until no single coefficient can improve it.

    Every iteration finds the best value of each coefficient with the others kept,

    .. math::

        \delta_j \in \operatorname{argmin}_{\delta} V(\lambda + \delta e_j)
        \quad \text{over} \quad \lambda + \delta e_j \text{ feasible},

    and makes the move of the coefficient that gives the best objective; equal objectives go to
    the lowest index. It ends when no move improves the objective by more than its rounding
    error (relatively 1.4e-14). The result is *1-opt*: no change of one coefficient in
    ``directions`` improves it.

    Parameters
    ----------
    problem : RiskScoreProblem
    coef : array-like of shape (d + 1,)
        A feasible vector, intercept first.
    directions : iterable of int, optional
        Coefficients that may change (0: the intercept, j: feature j of 1..d). None: all.
    line_search : {"golden_section", "exhaustive"}
        How the minimum along a coefficient is found, of the loss with the ridge penalty. That is
        convex, so that both find the same one: golden section within an interval that doubling
        steps from the present value have found, or "exhaustive", by every value.
    swaps : bool, default False
        Where no single change improves, also try to exchange one used feature for an unused
        one: the old coefficient becomes 0, the best intercept is searched (if it is among the
        directions), then the new coefficient, then the intercept again. The best exchange is
        made, and the descent goes on.
    max_iterations : int, optional
        Most moves, at all scales together. None: until 1-opt.
    should_stop : callable, optional
        Asked between compiled descents, under constraints between the moves and exchanges
        that are tried, and without ``stop`` some times a second by another thread meanwhile; once
        it returns True, the best vector so far is the result.
    stop : int64 array of shape (1,), optional
        Not zero: the same. Compiled descents look at it within each pass over the rows. Ctrl-C
        does not end a compiled descent then: it is whoever has the array who watches.

    Returns
    -------
    HeuristicResult

    Raises
    ------
    ValueError
        The vector is not feasible, or a direction does not exist.

    Notes
    -----
    Algorithm "Discrete Coordinate Descent" of Ustun & Rudin (2019), Section 4.1. The
    :math:`\ell_0` penalty makes the objective discontinuous at 0, therefore the best non-zero
    value and 0 are compared. A zero coefficient stays zero while the model has ``max_size``
    features, and none becomes zero while it has ``min_size``.

    With constraints, the descent first runs without them, within the box that they leave; what
    it ends at is the result if it meets them. Otherwise each coefficient is searched among the
    values that meet them while the others are kept, and an exchange goes to the best of the eight
    most promising features, without a search of the intercept in between.

    Where the problem has several scales, descents at one scale alternate with the choice of the
    best scale, :meth:`~riskslim.RiskScoreProblem.best_scale` of the vector found, until no move at
    this scale improves the objective. The result is 1-opt at its own best scale; a change
    of one coefficient together with the scale may still improve it.

    Coefficients are searched in the order of a lower bound on the objective that they can
    reach, from first and second derivatives of the loss and from the ridge penalty, until the
    next bound exceeds the best objective found. The move is the same as if all of them had been
    searched.

    Examples
    --------
    >>> from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData
    >>> from riskslim import discrete_coordinate_descent
    >>> data = TrainingData({"a": [0, 1, 1, 0, 1], "b": [1, 0, 1, 0, 1]}, [0, 1, 1, 0, 0])
    >>> coefficients = CoefficientSet(data.feature_names, -3, 3)
    >>> problem = RiskScoreProblem(data, coefficients)
    >>> result = discrete_coordinate_descent(problem, [0, 0, 0])
    >>> result.coefficients
    array([-1,  2, -1])
    """
    if line_search not in ("golden_section", "exhaustive"):
        raise ValueError(
            f"line_search must be 'golden_section' or 'exhaustive', got {line_search!r}"
        )
    if max_iterations is not None and max_iterations < 0:
        raise ValueError(f"max_iterations must be at least 0, got {max_iterations}")
    violations = problem.violations(coef)
    if violations:
        raise ValueError(f"the vector to be improved is not feasible: {'; '.join(violations)}")
    vector = np.array(coef, dtype=np.int64)
    direction = _checked_directions(problem, directions)
    limits = line_search == "exhaustive", swaps, max_iterations

    def descend_until(flag: NDArray[np.int64]) -> HeuristicResult:
        return _result_of_descent(
            problem, vector, direction, *limits, _Stop(should_stop or _never, flag)
        )

    return watched(descend_until, should_stop) if stop is None else descend_until(stop)


def _result_of_descent(
    problem: RiskScoreProblem,
    vector: NDArray[np.int64],
    direction: NDArray[np.uint8],
    exhaustive: bool,
    swaps: bool,
    max_iterations: int | None,
    should_stop: _Stop,
) -> HeuristicResult:
    most = sys.maxsize if max_iterations is None else max_iterations
    arguments = direction, exhaustive, swaps, most, should_stop
    if problem.scales.is_single:
        vector, n_moves, n_evaluations = _descent(problem, vector, *arguments)
        objective = problem.objective(vector)
    else:
        vector, objective, n_moves, n_evaluations = _descent_at_best_scales(
            problem, vector, *arguments
        )
    reason = "no move improves the objective"
    if max_iterations is not None and n_moves == max_iterations:
        reason = "iteration limit"
    elif should_stop():
        reason = "stopped"
    return HeuristicResult(
        coefficients=vector,
        objective=objective,
        n_iterations=n_moves,
        n_evaluations=n_evaluations,
        reason=reason,
    )


@dataclass(frozen=True, eq=False)
class _Stop:
    """Both ways to be told to stop, as a function."""

    asked: Callable[[], bool]
    flag: NDArray[np.int64]

    def __call__(self) -> bool:
        return bool(self.flag[0]) or self.asked()


def _descent_at_best_scales(
    problem: RiskScoreProblem,
    vector: NDArray[np.int64],
    direction: NDArray[np.uint8],
    exhaustive: bool,
    swaps: bool,
    max_iterations: int,
    should_stop: _Stop,
) -> tuple[NDArray[np.int64], float, int, int]:
    """Descents, each at the best scale of the vector that the one before it has found.

    Returns the vector, its objective, and the numbers of moves and of losses computed.
    """
    before, n_moves = problem.loss.n_evaluations, 0
    best, least = vector, np.inf
    while True:
        scaled = problem.at_scale(problem.best_scale(vector))
        objective = scaled.objective(vector)
        improved = objective < least
        if improved:
            best, least = vector, objective
            vector, moves, _ = _descent(
                scaled, vector.copy(), direction, exhaustive, swaps, max_iterations - n_moves,
                should_stop,
            )  # fmt: skip
            n_moves += moves
        take_over_work(problem.loss, scaled.loss)
        if not improved or np.array_equal(vector, best) or should_stop():
            return best, least, n_moves, problem.loss.n_evaluations - before


def _descent(
    problem: RiskScoreProblem,
    vector: NDArray[np.int64],
    direction: NDArray[np.uint8],
    exhaustive: bool,
    swaps: bool,
    max_iterations: int,
    should_stop: _Stop,
) -> tuple[NDArray[np.int64], int, int]:
    """Descent at one scale; returns the vector, the numbers of moves and of losses computed."""
    if should_stop():
        return vector, 0, 0
    if problem.constraint_rows is not None:
        return _constrained_descent(
            problem, vector, direction, exhaustive, swaps, max_iterations, should_stop
        )
    return _compiled_descent(
        problem, vector, problem.lower, problem.upper, direction, exhaustive, swaps, max_iterations,
        should_stop.flag,
    )  # fmt: skip


def _constrained_descent(
    problem: RiskScoreProblem,
    vector: NDArray[np.int64],
    direction: NDArray[np.uint8],
    exhaustive: bool,
    swaps: bool,
    max_iterations: int,
    should_stop: _Stop,
) -> tuple[NDArray[np.int64], int, int]:
    """Compiled descents as long as they meet the constraints, then the one that looks at them.

    A descent without constraints gets at least as far, and costs a small part of the other one.
    """
    before = problem.loss.n_evaluations
    lower, upper = problem.lower.copy(), problem.upper.copy()
    assert problem.rows_with_size is not None
    problem.rows_with_size.propagate(lower, upper)  # the vector is feasible: it lies within
    n_moves = 0
    # Exchanges, which cost most, only where the moves alone meet the constraints.
    for exchanging in (False, True) if swaps else (False,):
        free, moves, _ = _compiled_descent(
            problem, vector.copy(), lower, upper, direction, exhaustive, exchanging,
            max_iterations - n_moves, should_stop.flag,
        )  # fmt: skip
        if not problem.is_feasible(free):
            break
        vector, n_moves = free, n_moves + moves
        if should_stop():
            break
    else:
        return vector, n_moves, problem.loss.n_evaluations - before
    vector, moves = descend(
        problem,
        vector,
        direction.astype(bool),
        exhaustive=exhaustive,
        swaps=swaps,
        max_iterations=max_iterations - n_moves,
        tolerance=_TOLERANCE,
        compiled_move=compiled_move(problem, exhaustive, should_stop.flag),
        should_stop=should_stop,
    )
    return vector, n_moves + moves, problem.loss.n_evaluations - before


def compiled_move(problem: RiskScoreProblem, exhaustive: bool, stop: NDArray[np.int64]) -> Move:
    """The best move of one coefficient, each within an interval of its own, constraints aside.

    Parameters
    ----------
    problem : RiskScoreProblem
        With one scale.
    exhaustive : bool
        Evaluate every value of a coefficient.
    stop : int64 array of shape (1,)
        Not zero: make no move.

    Returns
    -------
    callable
        As :func:`~riskslim.heuristics.constrained.descend` needs it.
    """

    def move(
        coef: NDArray[np.int64],
        lower: NDArray[np.int64],
        upper: NDArray[np.int64],
        directions: NDArray[np.bool_],
    ) -> NDArray[np.int64]:
        moving = directions.astype(np.uint8)
        return _compiled_descent(
            problem, coef.copy(), lower, upper, moving, exhaustive, False, 1, stop
        )[0]

    return move


def _compiled_descent(
    problem: RiskScoreProblem,
    vector: NDArray[np.int64],
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    direction: NDArray[np.uint8],
    exhaustive: bool,
    swaps: bool,
    max_iterations: int,
    stop: NDArray[np.int64],
) -> tuple[NDArray[np.int64], int, int]:
    loss = problem.loss
    start = perf_counter()
    arguments = (*_rows(problem), *_scores(problem, vector))
    n_moves, n_evaluations = kernels.coordinate_descent(
        *arguments,
        vector,
        lower,
        upper,
        problem.l0_penalty,
        problem.point_ridge,
        _magnitude(problem),
        direction,
        np.empty_like(direction),
        np.empty((3, vector.size)),
        problem.min_size,
        problem.max_size,
        exhaustive,
        swaps,
        max_iterations,
        _TOLERANCE,
        stop,
        loss.n_threads,
    )
    loss.seconds += perf_counter() - start
    loss.n_evaluations += n_evaluations
    return vector, n_moves, n_evaluations


class LineSteps(NamedTuple):
    """The best step of every feature that a vector does not use.

    Attributes
    ----------
    objective : ndarray of float64, shape (d + 1,)
        With the step; infinite where there is none. The first entry is the intercept's.
    value, intercept : ndarray of int64, shape (d + 1,)
        Points of the feature, and of the intercept with it.
    n_evaluations : int
        Losses computed.
    """

    objective: NDArray[np.float64]
    value: NDArray[np.int64]
    intercept: NDArray[np.int64]
    n_evaluations: int


def best_line_steps(
    problem: RiskScoreProblem,
    vector: NDArray[np.int64],
    wanted: NDArray[np.bool_],
    stop: NDArray[np.int64],
) -> LineSteps:
    """Find the best points of unused features, with the best intercept to them.

    All other points are kept, and constraints are not looked at.

    Parameters
    ----------
    problem : RiskScoreProblem
        With one scale.
    vector : ndarray of int64, shape (d + 1,)
        Within the box, with less than ``max_size`` features. Features that must be used are.
    wanted : ndarray of bool, shape (d,)
        Features that are looked at.
    stop : int64 array of shape (1,)
        Not zero: look at no more features.

    Returns
    -------
    LineSteps

    Notes
    -----
    Loss and ridge penalty are convex in points and intercept; these are searched in turns, the
    other one kept, three times at most.
    """
    loss, p = problem.loss, len(vector)
    start = perf_counter()
    objective, value, intercept = np.empty(p), np.empty(p, np.int64), np.empty(p, np.int64)
    arguments = (*_rows(problem), *_scores(problem, vector))
    n_evaluations = kernels.best_line_steps(
        *arguments,
        vector.copy(),
        problem.lower,
        problem.upper,
        problem.l0_penalty,
        problem.point_ridge,
        np.concatenate(([True], wanted)).astype(np.uint8),
        objective,
        value,
        intercept,
        stop,
        loss.n_threads,
    )
    loss.seconds += perf_counter() - start
    loss.n_evaluations += n_evaluations
    return LineSteps(objective, value, intercept, n_evaluations)


def polished_within(
    problem: RiskScoreProblem,
    vector: NDArray[np.int64],
    features: NDArray[np.intp],
    stop: NDArray[np.int64],
    *,
    intercept: bool = True,
) -> tuple[NDArray[np.int64], int]:
    """Improve the points of some features and of the intercept, all others kept.

    Constraints are not looked at.

    Parameters
    ----------
    problem : RiskScoreProblem
        With one scale.
    vector : ndarray of int64, shape (d + 1,)
        Within the box, with at most ``max_size`` features.
    features : ndarray of intp
        From 0 on.
    stop : int64 array of shape (1,)
    intercept : bool, default True
        Whether the intercept may change.

    Returns
    -------
    vector : ndarray of int64, shape (d + 1,)
    n_evaluations : int
    """
    direction = np.zeros(len(vector), np.uint8)
    direction[0] = intercept
    direction[1 + features] = 1
    found, _, n_evaluations = _compiled_descent(
        problem, vector.copy(), problem.lower, problem.upper, direction, False, False,
        sys.maxsize, stop,
    )  # fmt: skip
    return found, n_evaluations


def sequential_rounding(
    problem: RiskScoreProblem,
    coef: ArrayLike,
    *,
    cutoff: float = np.inf,
    should_stop: Callable[[], bool] | None = None,
    stop: NDArray[np.int64] | None = None,
) -> HeuristicResult:
    r"""Round a real-valued vector one coefficient at a time.

    Every iteration computes the objective of rounding each of the remaining coefficients up or
    down, and makes the best of these roundings. Equal objectives prefer down, then the lowest
    index. The result is integer, within the box, and of a permitted size.

    Where the problem has several scales, objectives are those at ``problem.loss.scale``, which is
    the scale that ``coef`` should be meant for; ``sequential_rounding(problem.at_scale(m), coef)``
    rounds at another one. The objective of the result is that at its best scale.

    Parameters
    ----------
    problem : RiskScoreProblem
    coef : array-like of shape (d + 1,)
        Intercept first, within the box (to 1e-6; within 1e-9 of an integer counts as integer).
        Its number of non-zero coefficients may exceed ``max_size``.
    cutoff : float, default infinity
        Give up as soon as no rounding of the remaining coefficients can have an objective
        below this value (at ``problem.loss.scale``).
    should_stop : callable, optional
        Asked between the candidates of a rounding under constraints, and without ``stop`` some
        times a second by another thread; once it returns True, what is left is rounded to the
        nearest integers that meet the constraints. Without constraints rounding gives up.
    stop : int64 array of shape (1,), optional
        Not zero: the same. Compiled rounding looks at it before each pass over the rows. Ctrl-C
        does not end it then: it is whoever has the array who watches.

    Returns
    -------
    HeuristicResult
        Without coefficients if the cutoff or, without constraints, a stop ended it, or if no
        rounding has a permitted size and meets the constraints; ``reason`` says which.

    Raises
    ------
    ValueError
        Wrong length, values that are not finite, or outside of the box.

    Notes
    -----
    Algorithm "Sequential Rounding" of Ustun & Rudin (2019), Section 4.2, with two additions.

    *Size.* Coefficients that cannot become zero any more (integers other than zero, and
    remaining ones beyond 1 in absolute value) count as used. A remaining coefficient between
    -1 and 1 is only rounded away from zero while the number of used ones is below
    ``max_size``, and only to zero while at least ``min_size`` can still be reached.

    *Convexity.* First and second derivatives at the current vector bound the loss of every
    candidate from below (see ``riskslim/_kernels/heuristics.pyx``). Candidates are evaluated in
    the order of their bounds until the next bound exceeds the best value, which saves most
    evaluations and changes no choice. Losses of candidates are computed quickly first, and in
    full accuracy only where that leaves more than one. With the gradient g any rounding of all
    remaining coefficients has a loss of at least
    :math:`l(\lambda) + \sum_j \min(g_j \delta_j^{up}, g_j \delta_j^{down})`; this bound,
    with the penalties added, each with the ridge of its own rounding, is compared with the cutoff.

    With constraints, the point is first rounded without them, within the box that they leave; that
    is the result if it meets them. Otherwise
    a rounding is made only if propagation finds that the others can still meet them
    (:meth:`~riskslim.constraints.rows.ConstraintRows.propagate`). At the end integers are
    changed as well, where without that no rounding would do.

    Examples
    --------
    >>> from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData
    >>> from riskslim import sequential_rounding
    >>> data = TrainingData({"a": [0, 1, 1, 0, 1], "b": [1, 0, 1, 0, 1]}, [0, 1, 1, 0, 0])
    >>> coefficients = CoefficientSet(data.feature_names, -3, 3)
    >>> problem = RiskScoreProblem(data, coefficients, max_size=1)
    >>> sequential_rounding(problem, [-0.6, 1.3, -0.2]).coefficients
    array([-1,  2,  0])
    """
    vector = within_box(problem, coef)
    scaled = problem.at_scale(problem.loss.scale)

    def round_until(flag: NDArray[np.int64]) -> HeuristicResult:
        ends = _Stop(should_stop or _never, flag)
        if scaled.constraint_rows is None:
            found = _compiled_rounding(scaled, vector, cutoff, flag)
        else:
            found = _constrained_rounding(scaled, vector, cutoff, ends)
        rounded, n_rounded, n_evaluations, reason = found
        take_over_work(problem.loss, scaled.loss)
        return HeuristicResult(
            coefficients=rounded,
            objective=np.inf if rounded is None else problem.objective(rounded),
            n_iterations=n_rounded,
            n_evaluations=n_evaluations,
            reason=reason,
        )

    return watched(round_until, should_stop) if stop is None else round_until(stop)


def _never() -> bool:
    return False


def _constrained_rounding(
    problem: RiskScoreProblem,
    vector: NDArray[np.float64],
    cutoff: float,
    should_stop: _Stop,
) -> tuple[NDArray[np.int64] | None, int, int, str]:
    """The compiled rounding where it meets the constraints, otherwise the one that looks."""
    before = problem.loss.n_evaluations
    lower, upper = problem.lower.copy(), problem.upper.copy()
    assert problem.rows_with_size is not None
    if problem.rows_with_size.propagate(lower, upper) and not should_stop():
        point = np.clip(vector, lower, upper)
        free = _compiled_rounding(problem, point, cutoff, should_stop.flag)
        if free[3] == "cutoff" or (free[0] is not None and problem.is_feasible(free[0])):
            return free
    rounded, n_rounded, reason = round_sequentially(problem, vector, cutoff, should_stop)
    return rounded, n_rounded, problem.loss.n_evaluations - before, reason


def _compiled_rounding(
    problem: RiskScoreProblem,
    vector: NDArray[np.float64],
    cutoff: float,
    stop: NDArray[np.int64],
) -> tuple[NDArray[np.int64] | None, int, int, str]:
    loss = problem.loss
    pending = (vector != np.rint(vector)).astype(np.uint8)
    n_pending = int(pending.sum())
    start = perf_counter()
    scores = real_scores(loss, vector)
    outcome, n_evaluations = kernels.sequential_rounding(
        *_rows(problem),
        *_integer_ranges(problem),
        scores,
        np.empty_like(scores),
        vector,
        problem.l0_penalty,
        problem.point_ridge,
        _magnitude(problem),
        problem.min_size,
        problem.max_size,
        cutoff,
        pending,
        np.empty((3, vector.size)),
        np.empty((4, vector.size)),
        stop,
        loss.n_threads,
    )
    loss.seconds += perf_counter() - start
    loss.n_evaluations += n_evaluations
    rounded = np.rint(vector).astype(np.int64) if outcome == 0 else None
    reason = ("all rounded", "cutoff", "no rounding has a permitted size", "stopped")[outcome]
    return rounded, n_pending - int(pending.sum()), n_evaluations, reason


def _checked_directions(
    problem: RiskScoreProblem, directions: Iterable[int] | None
) -> NDArray[np.uint8]:
    n = len(problem.lower)
    if directions is None:
        return np.ones(n, dtype=np.uint8)
    chosen = np.zeros(n, dtype=np.uint8)
    for j in directions:
        if not 0 <= j < n:
            raise ValueError(
                f"direction {j} does not exist: 0 is the intercept, 1..{n - 1} are the features"
            )
        chosen[j] = 1
    return chosen


def within_box(problem: RiskScoreProblem, coef: ArrayLike) -> NDArray[np.float64]:
    """Copy of a vector, with integers and bounds freed of the noise of an LP solver.

    Parameters
    ----------
    problem : RiskScoreProblem
    coef : array-like of shape (d + 1,)
        Intercept first, within the box to 1e-6.

    Returns
    -------
    ndarray of float64, shape (d + 1,)
        Within the box; coefficients within 1e-9 of an integer are that integer.

    Raises
    ------
    ValueError
        Wrong length, values that are not finite, or outside of the box.
    """
    vector = np.array(coef, dtype=np.float64)
    lower, upper = problem.lower, problem.upper
    if vector.shape != lower.shape:
        raise ValueError(
            f"coef has shape {vector.shape}, expected {lower.shape}: "
            "the intercept, then one coefficient per feature"
        )
    outside = ~((vector >= lower - _BOX_TOLERANCE) & (vector <= upper + _BOX_TOLERANCE))
    if outside.any():
        names = ("(intercept)", *problem.coefficients.feature_names)
        j = int(np.flatnonzero(outside)[0])
        raise ValueError(
            f"{np.count_nonzero(outside)} coefficients are not within their bounds, the first "
            f"one is {names[j]!r} with {vector[j]}, outside of {lower[j]}..{upper[j]}"
        )
    nearest = np.rint(vector)
    vector = np.where(np.abs(vector - nearest) <= _INTEGRALITY_TOLERANCE, nearest, vector)
    return np.clip(vector, lower, upper)


def _magnitude(problem: RiskScoreProblem) -> NDArray[np.float64]:
    """Most by which a point for the intercept or for each feature changes a score / scale."""
    data = problem.loss.data
    largest = np.maximum(np.abs(data.feature_min), np.abs(data.feature_max))
    return _unit(problem) * np.concatenate(([1.0], np.where(largest > 0, largest, 1.0)))


def _unit(problem: RiskScoreProblem) -> float:
    """Return what a point adds to a score / scale."""
    return 1.0 / problem.loss.scale


class _RowArguments(NamedTuple):
    """Arguments of the kernels that describe the rows, and what a point is worth."""

    integer_columns: NDArray[np.int8]
    real_row_tiles: NDArray[np.float64]
    slot: NDArray[np.int64]
    labels: NDArray[np.int8]
    weights: NDArray[np.float64]
    total_weight: float
    unit: float


def _rows(problem: RiskScoreProblem) -> _RowArguments:
    rows = problem.loss.rows
    return _RowArguments(
        rows.integer_columns,
        rows.real_row_tiles,
        rows.slots,
        rows.labels,
        rows.weights,
        rows.total_weight,
        _unit(problem),
    )


def _integer_ranges(problem: RiskScoreProblem) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Smallest and largest value of each feature of integers; zeros for the others."""
    data = problem.loss.data
    return (
        np.where(data.is_integer, data.feature_min, 0).astype(np.int64),
        np.where(data.is_integer, data.feature_max, 0).astype(np.int64),
    )


def _with_margins(losses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Copy a table into the middle of zeros.

    A line search moves all cells of a joint histogram, also those without rows, whose losses
    are multiplied by zero. They may leave the table by less than its width.
    """
    width = losses.shape[1]
    padded = np.pad(losses.reshape(-1), width)
    return padded[width : 3 * width].reshape(2, width)


class _ScoreArguments(NamedTuple):
    """Arguments of the descent that hold scores: positions in tables, or real numbers."""

    integer: bool
    low: int
    losses: NDArray[np.float64]
    slopes: NDArray[np.float64]
    feature_min: NDArray[np.int64]
    feature_max: NDArray[np.int64]
    position: NDArray[np.int32]
    scores: NDArray[np.float64]
    counts: NDArray[np.int64]
    mass: NDArray[np.float64]


def _scores(problem: RiskScoreProblem, vector: NDArray[np.int64]) -> _ScoreArguments:
    """Make the arguments of the descent that hold scores, tables and joint histograms.

    The table is the problem's own: it covers every feasible vector, also when the loss has been
    tightened to a smaller model size since.
    """
    data, rows, n_threads = problem.loss.data, problem.loss.rows, problem.loss.n_threads
    span = score_range(data, problem.coefficients, problem.max_size)
    if choose_form(data, problem.coefficients, span).name == "real_valued":
        scores = real_scores(problem.loss, vector.astype(np.float64))
        none, no_table = np.zeros(data.n_features, dtype=np.int64), np.empty((2, 0))
        no_position, no_counts = np.empty(0, dtype=np.int32), np.empty((1, 0), dtype=np.int64)
        return _ScoreArguments(
            False, 0, no_table, no_table, none, none, no_position, scores, no_counts, np.empty(0)
        )
    low = int(span[0])
    losses, slopes = tables_by_score(low, int(span[1]), problem.loss.scale)
    losses = _with_margins(losses)
    feature_min, feature_max = _integer_ranges(problem)
    position = np.empty(rows.n_rows, dtype=np.int32)
    integer.positions(
        rows.integer_columns,
        vector[1 + rows.integer_index].astype(np.int32),
        int(vector[0]),
        rows.labels,
        low,
        losses.shape[1],
        position,
        n_threads,
    )
    cells = losses.size * (feature_max - feature_min + 1)
    # With the number of samples, merging rows changes no choice here, and no rounding error.
    worthwhile = cells[cells <= max(_MIN_JOINT_CELLS, rows.n_samples)]
    capacity = int(max(worthwhile.max(initial=0), losses.size))
    return _ScoreArguments(
        True,
        low,
        losses,
        slopes,
        feature_min,
        feature_max,
        position,
        np.empty(0),
        np.empty((n_threads, capacity), dtype=np.int64),
        np.empty(max(capacity, data.n_rows // 8)),
    )


def round_and_polish(
    problem: RiskScoreProblem,
    point: NDArray[np.float64],
    cutoff: float,
    *,
    polish: bool,
    stop: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.int64], float] | None:
    """Round a real-valued point sequentially, then polish it.

    Parameters
    ----------
    problem : RiskScoreProblem
    point : ndarray of float64, shape (d + 1,)
        Within the box.
    cutoff : float
        Roundings whose objective cannot fall below it are given up.
    polish : bool
        Apply discrete coordinate descent.
    stop : int64 array of shape (1,), optional
        Not zero: end as soon as possible.

    Returns
    -------
    (coef, objective) or None
    """
    found = sequential_rounding(problem, point, cutoff=cutoff, stop=stop)
    if polish and found.coefficients is not None:
        found = discrete_coordinate_descent(problem, found.coefficients, stop=stop)
    return None if found.coefficients is None else (found.coefficients, found.objective)
