"""Small risk score problems and their optima by brute force.

Nothing here uses the package's loss: scores, losses and penalties are written out once more in
plain NumPy, over all integer vectors, so that the engines have something independent to be
compared with.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import warnings

import numpy as np

from riskslim import (
    CoefficientSet,
    LinearConstraint,
    RiskScoreProblem,
    TrainingData,
    at_least,
    at_most,
    either_or,
    exactly,
    if_then,
)
from riskslim.exceptions import ConstantFeatureWarning

INTERCEPT = "(intercept)"
# Objectives of one vector, added up in two ways, differ by less than this.
SAME = 1e-12
# Slope vectors that one enumeration may have.
MAX_SLOPES = 40_000
# The same where constraints are drawn: there may be an enumeration of intercepts for each.
MAX_CONSTRAINED_SLOPES = 3_000
# Slope vectors whose scores are held at a time (times up to 200 rows: it stays in the cache).
CHUNK = 1024


@dataclasses.dataclass
class SmallProblem:
    """The ingredients of a risk score problem, as a user would state them.

    X is (n, d) float64, y is (n,) in {-1, +1}, weights are (n,) or None. Bounds are those before
    signs and fixed values. A feature penalty of NaN means ``l0_penalty``. An intercept bound of
    None is left to the package; the enumeration then looks much further.
    """

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None
    lower: np.ndarray
    upper: np.ndarray
    sign: list[int]
    fixed: dict[int, int]
    feature_penalty: np.ndarray
    l0_penalty: float
    min_size: int
    max_size: int | None
    intercept: tuple[int | None, int | None]
    constraints: tuple[LinearConstraint, ...] = ()
    scale: float | list[float] | tuple[float, float] = 1.0
    l2_penalty: float | np.ndarray = 0.0  # (d,) or one for all

    @property
    def d(self) -> int:
        return self.X.shape[1]

    @property
    def names(self) -> list[str]:
        return [f"x{j}" for j in range(self.d)]

    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the slopes after signs, fixed values, and constant features left out."""
        low, high = self.lower.copy(), self.upper.copy()
        for j in range(self.d):
            if self.sign[j] > 0:
                low[j] = max(low[j], 0)
            if self.sign[j] < 0:
                high[j] = min(high[j], 0)
            if j in self.fixed:
                low[j] = high[j] = self.fixed[j]
            if np.ptp(self.X[:, j]) == 0:
                low[j] = high[j] = 0
        return low, high

    def prices(self) -> np.ndarray:
        return np.where(np.isnan(self.feature_penalty), self.l0_penalty, self.feature_penalty)

    def squares(self, slopes: np.ndarray) -> np.ndarray:
        """Ridge penalties of slope vectors, (k, d), at the scale 1, (k,)."""
        return np.asarray(slopes, dtype=float) ** 2 @ np.broadcast_to(self.l2_penalty, self.d)

    def intercept_range(self) -> tuple[int, int]:
        """Given bounds; where one is not given, one that is certainly far enough.

        Beyond the largest absolute score plus 60 times the scale every row has the same sign of
        score, and moving on can only help the class whose rows all have losses below exp(-60)
        already.
        """
        low, high = self.box()
        reach = np.maximum(np.abs(low), np.abs(high)) @ np.abs(self.X).max(axis=0)
        far = math.ceil(reach + 60 * self.scale)
        first, last = self.intercept
        # A given bound may lie beyond the far one on the other side.
        first_found = min(-far, last if last is not None else -far) if first is None else first
        last_found = max(far, first if first is not None else far) if last is None else last
        return first_found, last_found

    def build(self) -> RiskScoreProblem:
        """State the same problem to the package."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConstantFeatureWarning)
            data = TrainingData(self.X, self.y, self.weights, feature_names=self.names)
        coefficients = CoefficientSet(
            self.names,
            self.lower,
            self.upper,
            sign=self.sign,
            fixed={self.names[j]: value for j, value in self.fixed.items()},
            l0_penalty=self.feature_penalty,
            intercept_lower=self.intercept[0],
            intercept_upper=self.intercept[1],
        )
        return RiskScoreProblem(
            data,
            coefficients,
            max_size=self.max_size,
            min_size=self.min_size,
            l0_penalty=self.l0_penalty,
            constraints=self.constraints,
            scale=self.scale,
            l2_penalty=self.l2_penalty,
        )


@dataclasses.dataclass
class Enumerated:
    """Result of an enumeration; objective inf and no vectors if nothing is feasible."""

    objective: float
    vectors: np.ndarray  # (k, d + 1), intercept first: all within SAME of the objective
    n_slopes: int

    @property
    def feasible(self) -> bool:
        return len(self.vectors) > 0


def loss(problem: SmallProblem, vector: np.ndarray, scale: float | None = None) -> float:
    """Normalised logistic loss of one vector, all rows, summed without rounding error.

    Without a scale it is the problem's, which must be a single one.
    """
    weights = np.ones(len(problem.y)) if problem.weights is None else problem.weights
    scores = vector[0] + problem.X @ np.asarray(vector[1:], dtype=float)
    margins = problem.y * scores / (problem.scale if scale is None else scale)
    losses = np.maximum(-margins, 0.0) + np.log1p(np.exp(-np.abs(margins)))
    return math.fsum(weights * losses) / math.fsum(weights)


def objective(problem: SmallProblem, vector: np.ndarray, scale: float | None = None) -> float:
    """Loss plus the prices of the features used, and the ridge penalty."""
    slopes = np.asarray(vector[1:])
    ridge = np.broadcast_to(problem.l2_penalty, problem.d) * (
        slopes / (problem.scale if scale is None else scale)
    ) ** 2  # fmt: skip
    prices = problem.prices()[slopes != 0]
    return loss(problem, vector, scale) + math.fsum([*prices, *ridge])


def violations(problem: SmallProblem, vector: np.ndarray) -> list[str]:
    """What a vector breaks of the problem as stated."""
    low, high = problem.box()
    first, last = problem.intercept
    size = np.count_nonzero(vector[1:])
    found = []
    if not np.array_equal(vector, np.rint(vector)):
        found.append("not integer")
    if np.any(vector[1:] < low) or np.any(vector[1:] > high):
        found.append("slopes out of bounds")
    if (first is not None and vector[0] < first) or (last is not None and vector[0] > last):
        found.append("intercept out of bounds")
    if size < problem.min_size or (problem.max_size is not None and size > problem.max_size):
        found.append(f"size {size}")
    if not meets_constraints(problem, np.asarray(vector)[None, :])[0]:
        found.append("a constraint")
    return found


def meets_constraints(problem: SmallProblem, vectors: np.ndarray) -> np.ndarray:
    """Which vectors, (k, d + 1) with the intercept first, meet the constraints, (k,) bool."""
    return meet(problem.constraints, problem.names, vectors)


def meet(
    constraints: tuple[LinearConstraint, ...], names: list[str], vectors: np.ndarray
) -> np.ndarray:
    """Which vectors meet linear constraints and sets of points: term by term, as documented."""
    position = {name: 1 + j for j, name in enumerate(names)} | {"(intercept)": 0}
    good = np.ones(len(vectors), dtype=bool)
    for constraint in constraints:
        if not isinstance(constraint, LinearConstraint):
            for name in constraint.features:
                good &= np.isin(vectors[:, position[name]], constraint.values)
            continue
        total = np.zeros(len(vectors))
        for name, value in constraint.points.items():
            total += value * vectors[:, position[name]]
        for name, value in constraint.used.items():
            total += value * (vectors[:, position[name]] != 0)
        for group, value in constraint.any_used.items():
            members = [position[name] for name in group]
            total += value * (vectors[:, members] != 0).any(axis=1)
        values = [
            *constraint.points.values(), *constraint.used.values(), *constraint.any_used.values()
        ]  # fmt: skip
        exact = all(value == round(value) for value in values)
        allowance = 0.0 if exact else 1e-9 * max(map(abs, values))
        good &= (constraint.lower - allowance <= total) & (total <= constraint.upper + allowance)
    return good


def slopes(problem: SmallProblem) -> np.ndarray:
    """All slope vectors within bounds, of a permitted size, and as constrained, (k, d).

    Constraints that name the intercept are left to :func:`enumerate_optimum`.
    """
    low, high = problem.box()
    grid = np.array(
        list(itertools.product(*(range(a, b + 1) for a, b in zip(low, high, strict=True)))),
        dtype=np.int64,
    ).reshape(-1, problem.d)
    size = np.count_nonzero(grid, axis=1)
    most = problem.d if problem.max_size is None else problem.max_size
    grid = grid[(size >= problem.min_size) & (size <= most)]
    others = tuple(c for c in problem.constraints if INTERCEPT not in c.points)
    return grid[meet(others, problem.names, np.column_stack((np.zeros(len(grid)), grid)))]


def enumerate_optimum(problem: SmallProblem) -> Enumerated:
    """Optimal value, and the vectors that attain it (each with its best intercepts)."""
    grid = slopes(problem)
    if not len(grid):
        return Enumerated(math.inf, np.empty((0, problem.d + 1), dtype=np.int64), 0)
    X, y, weights = _distinct_rows(problem)
    prices = problem.prices()
    first, last = problem.intercept_range()
    vectors, values = [], []
    for start in range(0, len(grid), CHUNK):
        part = grid[start : start + CHUNK]
        if any(INTERCEPT in constraint.points for constraint in problem.constraints):
            intercepts, losses = _best_intercepts_allowed(problem, part, X, y, weights)
        else:
            scores = part @ X.T
            intercepts, losses = _best_intercepts(scores, y, weights, first, last, problem.scale)
        total = losses + (part != 0) @ prices + problem.squares(part) / problem.scale**2
        # Only what can still win is kept; the slack is for the rounding of these sums.
        near = (total <= total.min() + 10 * SAME) & np.isfinite(total)
        vectors.append(np.column_stack((intercepts, part))[near])
        values.append(total[near])
    candidates = np.concatenate(vectors)
    rough = np.concatenate(values)
    if not len(candidates):
        return Enumerated(math.inf, np.empty((0, problem.d + 1), dtype=np.int64), len(grid))
    candidates = candidates[rough <= rough.min() + 10 * SAME]
    exact = np.array([objective(problem, vector) for vector in candidates])
    best = exact.min()
    return Enumerated(float(best), candidates[exact <= best + SAME], len(grid))


def enumerate_completely(problem: SmallProblem) -> float:
    """Optimal value without any shortcut: every intercept with every slope vector."""
    first, last = problem.intercept_range()
    return min(
        (
            objective(problem, np.concatenate(([intercept], slope)))
            for slope in slopes(problem)
            for intercept in range(first, last + 1)
            if meets_constraints(problem, np.concatenate(([[intercept]], [slope]), axis=1))[0]
        ),
        default=math.inf,
    )


def enumerate_over_scales(problem: SmallProblem) -> tuple[np.ndarray, np.ndarray]:
    """All feasible vectors, and the objective of each at its best scale.

    Open bounds of the intercept are put where no scale can want one: at the optimum of one scale m
    the mean risk is that of the data, so that some row's score + intercept is at least, and some
    row's at most, m times its log-odds.
    """
    grid = slopes(problem)
    X, y, weights = _distinct_rows(problem)
    scales = np.atleast_1d(problem.scale)
    share = weights[y > 0].sum()
    far = math.ceil(np.abs(grid @ X.T).max(initial=0.0) + scales.max() * abs(
        math.log(share / (1.0 - share)))) + 2  # fmt: skip
    first, last = problem.intercept
    # A given bound may lie beyond all of that on the other side.
    low = min(-far, last if last is not None else -far) if first is None else first
    high = max(far, first if first is not None else far) if last is None else last
    vectors, values = [], []
    for intercept in range(low, high + 1):
        candidates = np.insert(grid, 0, intercept, axis=1)
        candidates = candidates[meets_constraints(problem, candidates)]
        margins = y * (candidates[:, 1:] @ X.T + intercept)
        squares = problem.squares(candidates[:, 1:])
        losses = _losses_at_best_scale(margins, weights, problem.scale, squares)
        vectors.append(candidates)
        values.append(losses + (candidates[:, 1:] != 0) @ problem.prices())
    return np.concatenate(vectors), np.concatenate(values)


def _losses_at_best_scale(
    margins: np.ndarray,
    weights: np.ndarray,
    scale: float | list[float] | tuple[float, float],
    squares: np.ndarray | float = 0.0,
) -> np.ndarray:
    """Least loss of each row of margins over the scales, with t^2 times its square added.

    Over an interval: the loss is convex in t = 1 / scale. Newton's steps within brackets, and
    halves of them where a step leaves its bracket, until no t of a bracket can have less than 1e-13
    below what was found.
    """
    squares = np.broadcast_to(squares, len(margins))

    def losses(t: np.ndarray, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        scaled = t[:, None] * margins[rows]
        return np.logaddexp(0.0, -scaled) @ weights + squares[rows] * t**2

    def slopes(t: np.ndarray, rows: np.ndarray | slice = slice(None)) -> tuple[np.ndarray, ...]:
        slope, curvature = _slopes(t, margins[rows], weights)
        return slope + 2.0 * squares[rows] * t, curvature + 2.0 * squares[rows]

    if not isinstance(scale, tuple):
        tried = [losses(np.full(len(margins), 1.0 / m)) for m in np.atleast_1d(scale)]
        return np.min(tried, axis=0)
    low, high = (np.full(len(margins), 1.0 / m) for m in (scale[1], scale[0]))
    best = np.minimum(losses(low), losses(high))
    falls, rises = slopes(low)[0] < 0, slopes(high)[0] > 0
    open_ = np.flatnonzero(falls & rises)  # elsewhere an end is best
    low, high = low[open_], high[open_]
    t = 0.5 * (low + high)
    while len(open_):
        slope, curvature = slopes(t, open_)
        low, high = np.where(slope > 0, low, t), np.where(slope > 0, t, high)
        is_met = np.abs(slope) * (high - low) <= 1e-13
        met, left = open_[is_met], ~is_met
        best[met] = np.minimum(best[met], losses(t[is_met], met))
        newton = t - slope / np.maximum(curvature, 1e-30)
        t = np.where((low < newton) & (newton < high), newton, 0.5 * (low + high))
        open_, low, high, t = open_[left], low[left], high[left], t[left]
    return best


def _slopes(
    t: np.ndarray, margins: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """First and second derivative in t of the loss of each row of t times margins."""
    wrong = 1.0 / (1.0 + np.exp(np.minimum(t[:, None] * margins, 700.0)))
    return -(margins * wrong) @ weights, (margins**2 * wrong * (1.0 - wrong)) @ weights


def enumerate_ranked(problem: SmallProblem, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """All feasible vectors with an intercept in first..last, best first, and their objectives."""
    grid = slopes(problem)
    X, y, weights = _distinct_rows(problem)
    scores, prices = grid @ X.T, (grid != 0) @ problem.prices()
    prices = prices + problem.squares(grid) / problem.scale**2
    vectors, values = [], []
    for intercept in range(first, last + 1):
        candidates = np.insert(grid, 0, intercept, axis=1)
        met = meets_constraints(problem, candidates)
        margins = y * (scores[met] + intercept) / problem.scale
        losses = np.log1p(np.exp(-np.abs(margins))) + np.maximum(-margins, 0.0)
        vectors.append(candidates[met])
        values.append(losses @ weights + prices[met])
    objectives = np.concatenate(values)
    order = np.argsort(objectives, kind="stable")
    return np.concatenate(vectors)[order], objectives[order]


def _distinct_rows(problem: SmallProblem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows that differ, with their share of the total weight; rows without weight vanish."""
    weights = np.ones(len(problem.y)) if problem.weights is None else problem.weights
    rows, inverse = np.unique(np.column_stack((problem.y, problem.X)), axis=0, return_inverse=True)
    total = np.bincount(inverse.ravel(), weights, minlength=len(rows)) / weights.sum()
    rows, total = rows[total > 0], total[total > 0]
    return rows[:, 1:], rows[:, 0], total


def _best_intercepts(
    scores: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray,
    first: int,
    last: int,
    scale: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Best integer intercept within first..last for each row of scores, and its loss.

    The loss is convex in the intercept b. With the scale m and z = exp(-y (s + b) / m) the loss of
    a row is log(1 + z) and its slope in b is -y z / (1 + z) / m: the optimum is one of the two
    integers around the sign change of the summed slope, which bisection finds.
    """
    decay = np.exp(-y * scores / scale)  # scores are at most a few hundred: nothing overflows

    def z(intercept: np.ndarray) -> np.ndarray:
        step = np.exp(intercept / scale)[:, None]
        return decay * np.where(y > 0, 1.0 / step, step)

    def rises(intercept: np.ndarray) -> np.ndarray:
        odds = z(intercept)
        return (odds / (1.0 + odds)) @ (-y * weights) > 0.0

    def losses(intercept: np.ndarray) -> np.ndarray:
        return np.log1p(z(intercept)) @ weights

    # Invariant: the loss falls (or is flat) at `low` unless low = first, rises at `high`
    # unless high = last.
    low = np.full(len(scores), first, dtype=np.int64)
    high = np.full(len(scores), last, dtype=np.int64)
    while np.any(high - low > 1):
        middle = (low + high) // 2
        up = rises(middle)
        high = np.where(up, middle, high)
        low = np.where(up, low, middle)
    at_low, at_high = losses(low), losses(high)
    return np.where(at_high < at_low, high, low), np.minimum(at_low, at_high)


def _best_intercepts_allowed(
    problem: SmallProblem, slopes: np.ndarray, X: np.ndarray, y: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Best intercept for each vector of slopes where constraints name it: all are tried."""
    first, last = problem.intercept_range()
    best = np.full(len(slopes), first, dtype=np.int64)
    least = np.full(len(slopes), math.inf)
    decay = np.exp(-y * (slopes @ X.T) / problem.scale)
    for intercept in range(first, last + 1):
        vectors = np.column_stack((np.full(len(slopes), intercept), slopes))
        losses = np.log1p(decay * np.exp(-y * intercept / problem.scale)) @ weights
        losses[~meets_constraints(problem, vectors)] = math.inf
        better = losses < least
        best[better], least[better] = intercept, losses[better]
    return best, least


# ---------------------------------------------------------------------------------------------
# Random problems
# ---------------------------------------------------------------------------------------------


def random_problem(rng: np.random.Generator, max_slopes: int = MAX_SLOPES) -> SmallProblem:
    """Draw a feasible problem with a mixture of everything the package allows."""
    n, d = int(rng.integers(20, 201)), int(rng.choice([2, 3, 4, 4, 5, 5, 6, 6]))
    X = _random_features(rng, n, d)
    lower, upper, sign, fixed = _random_box(rng, np.ptp(X, axis=0) == 0)
    small = SmallProblem(
        X=X,
        y=np.ones(n, dtype=np.int64),
        weights=None,
        lower=lower,
        upper=upper,
        sign=sign,
        fixed=fixed,
        feature_penalty=_random_penalties(rng, d),
        l0_penalty=_log_uniform(rng, 1e-8, 1e-1),
        min_size=0,
        max_size=None,
        intercept=(None, None),
    )
    limit_number_of_slopes(rng, small, max_slopes)
    _limit_size(rng, small)
    small.y, intercept = _random_labels(rng, small)
    small.intercept = _random_intercept(rng, intercept)
    small.weights = _random_weights(rng, small.y)
    return small


def random_scaled_problem(rng: np.random.Generator, max_slopes: int = 1000) -> SmallProblem:
    """A small problem, now and then with constraints, with an interval or a list of scales."""
    draw = random_constrained_problem if rng.random() < 0.25 else random_problem
    small = draw(rng, max_slopes)
    if small.intercept == (-20, 20):
        small.intercept = (-9, 9)  # this enumeration tries all of them
    ends = sorted(float(f"{_log_uniform(rng, 0.3, 8.0):.3g}") for _ in range(3))
    if rng.random() < 0.7 and ends[0] < ends[2]:
        small.scale = (ends[0], ends[2])
    else:
        small.scale = sorted(set(ends))
    return small


def random_constrained_problem(
    rng: np.random.Generator, max_slopes: int = MAX_CONSTRAINED_SLOPES
) -> SmallProblem:
    """Draw a problem with one to four constraints; about one in four is infeasible."""
    small = random_problem(rng)
    limit_number_of_slopes(rng, small, max_slopes)
    names_intercept = rng.random() < 0.2
    if names_intercept:
        small.intercept = (int(rng.integers(-9, 1)), int(rng.integers(1, 9)))
    # Constraints that one vector meets, most of them, can be met together.
    met = rng.integers(*small.box(), endpoint=True)
    met[rng.random(small.d) < 0.3] = 0
    vector = np.concatenate(([rng.integers(-2, 3)], met))
    drawn = [_random_constraint(rng, small, vector) for _ in range(rng.integers(1, 4))]
    if names_intercept:
        drawn.append(_random_row(rng, small, vector, intercept=True))
    small.constraints = tuple(drawn)
    return small


def random_bounded_problem(
    rng: np.random.Generator, max_slopes: int = MAX_CONSTRAINED_SLOPES
) -> SmallProblem:
    """Draw a problem with bounds on the scores of records, and now and then on other sums."""
    small = random_problem(rng)
    limit_number_of_slopes(rng, small, max_slopes)
    small.intercept = (int(rng.integers(-9, 1)), int(rng.integers(1, 9)))
    vector = np.concatenate(
        ([rng.integers(*small.intercept, endpoint=True)],
         rng.integers(*small.box(), endpoint=True))
    )  # fmt: skip
    drawn = []
    for _ in range(rng.integers(1, 5)):
        record = small.X[rng.integers(len(small.X))].astype(float)
        if rng.random() < 0.2:
            record = rng.permutation(record)  # need not be one of the data
        points = dict(zip(small.names, record.tolist(), strict=True))
        factor = float(rng.choice([1, 1, 1, -1, 2, 0]))  # 0: the intercept is not in it
        points = {name: abs(factor or 1.0) * value for name, value in points.items()}
        points[INTERCEPT] = factor
        if not any(points.values()):
            continue
        total = factor * vector[0] + sum(
            value * vector[1 + small.names.index(name)]
            for name, value in points.items()
            if name != INTERCEPT
        )
        total += rng.choice([0.0, 0.25, 1.0, -1.0])
        ends = [(total, math.inf), (-math.inf, total), (total - 1, total + 1)][rng.integers(3)]
        drawn.append(LinearConstraint(points=points, lower=ends[0], upper=ends[1]))
    small.constraints = tuple(drawn)
    return small


def _random_constraint(
    rng: np.random.Generator, small: SmallProblem, vector: np.ndarray
) -> LinearConstraint:
    chosen = rng.permutation(small.names)[: rng.integers(1, small.d + 1)].tolist()
    kind = rng.choice(["row", "row", "row", "most", "least", "exactly", "either", "then"])
    if kind == "row":
        return _random_row(rng, small, vector)
    if kind == "either" or kind == "then":
        a, *others = rng.permutation(small.names).tolist()
        return either_or(a, others[0]) if kind == "either" else if_then(a, others[:2])
    used = sum(vector[1 + small.names.index(name)] != 0 for name in chosen)
    if rng.random() < 0.1:
        used = rng.integers(0, len(chosen) + 1)
    return {"most": at_most, "least": at_least, "exactly": exactly}[kind](int(used), chosen)


def _random_row(
    rng: np.random.Generator, small: SmallProblem, vector: np.ndarray, intercept: bool = False
) -> LinearConstraint:
    """A row on points, on use or on both, with bounds next to what a vector gives."""
    style = rng.choice(["ones", "integer", "decimal", "real"])

    def terms(names: list[str]) -> dict[str, float]:
        n = len(names)
        values = {
            "ones": rng.choice([-1.0, 1.0, 1.0], n),
            "integer": rng.integers(-4, 5, n).astype(float),
            "decimal": rng.integers(-20, 21, n) / 10,
            "real": rng.normal(size=n) * 10.0 ** rng.integers(-2, 3),
        }[style]
        return dict(zip(names, values.tolist(), strict=True))

    chosen = [name for name in small.names if rng.random() < 0.7]
    points = terms(chosen) if rng.random() < 0.7 or intercept else {}
    used = terms(chosen) if rng.random() < 0.5 else {}
    if intercept:
        points[INTERCEPT] = float(rng.choice([-1.0, 0.5, 1.0]))
    if not any(points.values()) and not any(used.values()):
        used = {small.names[0]: 1.0}
    position = {name: 1 + j for j, name in enumerate(small.names)} | {INTERCEPT: 0}
    total = sum(value * vector[position[name]] for name, value in points.items())
    total += sum(value * (vector[position[name]] != 0) for name, value in used.items())
    size = max(map(abs, [*points.values(), *used.values()]))
    low, high = total - size * rng.choice([0, 0, 1, 2.5]), total + size * rng.choice([0, 0, 1, 2.5])
    if rng.random() < 0.07:
        low = high = low + 5 * size
    if rng.random() < 0.6:
        low, high = (-math.inf, high) if rng.random() < 0.5 else (low, math.inf)
    return LinearConstraint(points=points, used=used, lower=low, upper=high)


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _random_features(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    family = rng.choice(["binary", "integer", "real", "mixed"])
    wide = int(rng.integers(d)) if rng.random() < 0.1 else -1
    columns: list[np.ndarray] = []
    for j in range(d):
        kind = rng.choice(["binary", "integer", "real"]) if family == "mixed" else family
        relation = rng.random()
        if columns and relation < 0.08:
            column = columns[int(rng.integers(len(columns)))].copy()
        elif columns and relation < 0.16:
            other = columns[int(rng.integers(len(columns)))]
            column = other.max() + other.min() - other
        elif relation > 0.96:
            column = np.full(n, float(rng.integers(-2, 3)))
        elif j == wide:
            column = rng.integers(0, 21, n).astype(float)
        elif kind == "binary":
            column = (rng.random(n) < rng.uniform(0.1, 0.9)).astype(float)
        elif kind == "integer":
            column = rng.integers(*rng.choice([[-3, 4], [0, 6], [1, 4]]), n).astype(float)
        else:
            column = rng.normal(rng.uniform(-1, 1), rng.uniform(0.2, 1.2), n).clip(-5, 5)
            if rng.random() < 0.5:
                column = column.round(2)
        columns.append(column)
    return np.column_stack(columns)


def _random_labels(rng: np.random.Generator, small: SmallProblem) -> tuple[np.ndarray, int]:
    """Labels from a vector of the box, with more or less noise; and that vector's intercept."""
    n = len(small.X)
    score = small.X @ rng.integers(*small.box(), endpoint=True)
    intercept = -int(np.rint(np.quantile(score, rng.uniform(0.2, 0.8))))
    score = score + intercept
    strength = rng.choice(["separable", "separable", "strong", "weak", "none"])
    if strength == "separable":
        y = np.where(score > 0, 1, -1)
        y = np.where(rng.random(n) < rng.choice([0.0, 0.02]), -y, y)
    else:
        scale = {"strong": 1.0, "weak": 0.2, "none": 0.0}[strength]
        y = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-scale * score)), 1, -1)
    if abs(y.sum()) == n:
        y[: n // 4] = -y[0]
    return y, intercept


def _random_weights(rng: np.random.Generator, y: np.ndarray) -> np.ndarray | None:
    n = len(y)
    kind = rng.choice(["none", "none", "float", "integer", "zeros"])
    if kind == "none":
        return None
    weights = rng.uniform(0.1, 3.0, n) if kind == "float" else rng.integers(0, 6, n).astype(float)
    if kind == "zeros":
        weights = np.where(rng.random(n) < 0.4, 0.0, rng.uniform(0.1, 3.0, n))
    for label in (-1, 1):
        if weights[y == label].sum() == 0:
            weights[np.flatnonzero(y == label)[0]] = 1.0
    return weights


def _random_box(
    rng: np.random.Generator, constant: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[int], dict[int, int]]:
    d = len(constant)
    common = int(rng.choice([1, 2, 3, 3]))
    lower, upper = np.full(d, -common), np.full(d, common)
    sign, fixed = [0] * d, {}
    for j in range(d):
        draw = rng.random()
        if constant[j] or draw < 0.5:
            continue
        if draw < 0.65:
            sign[j] = int(rng.choice([-1, 1]))
        elif draw < 0.75:
            lower[j], upper[j] = sorted(rng.integers(-3, 4, 2))
        elif draw < 0.83:  # zero is excluded
            ends = sorted(rng.integers(1, 4, 2))
            lower[j], upper[j] = ends if rng.random() < 0.5 else (-ends[1], -ends[0])
        elif draw < 0.9:
            fixed[j] = int(rng.integers(lower[j], upper[j] + 1))
    return lower, upper, sign, fixed


def _random_penalties(rng: np.random.Generator, d: int) -> np.ndarray:
    penalties = np.full(d, np.nan)
    if rng.random() < 0.3:
        for j in np.flatnonzero(rng.random(d) < 0.6):
            penalties[j] = 0.0 if rng.random() < 0.2 else _log_uniform(rng, 1e-8, 1e-1)
    return penalties


def random_ridge(rng: np.random.Generator, d: int) -> float | np.ndarray:
    """One ridge penalty, or one per feature, some of which have none; from hardly any to a lot."""
    one = _log_uniform(rng, 1e-5, 1.0)
    if rng.random() < 0.5:
        return one
    each = one * np.exp(rng.normal(0.0, 1.0, d))
    return np.where(rng.random(d) < 0.3, 0.0, np.minimum(each, 1.0))


def _random_intercept(rng: np.random.Generator, near: int) -> tuple[int | None, int | None]:
    kind = rng.choice(["derived", "derived", "wide", "narrow", "one", "half"])
    if kind == "derived":
        return None, None
    if kind == "wide":
        return -20, 20
    a, b = (near + int(end) for end in sorted(rng.integers(-4, 5, 2)))
    if kind == "narrow":
        return a, b
    if kind == "one":
        return a, a
    return (a, None) if rng.random() < 0.5 else (None, b)


def limit_number_of_slopes(
    rng: np.random.Generator, small: SmallProblem, most: int = MAX_SLOPES
) -> None:
    """Narrow bounds at random until an enumeration takes a fraction of a second."""
    while True:
        low, high = small.box()
        if np.prod(high - low + 1) <= most:
            return
        j = int(rng.choice(np.flatnonzero(high - low > 1)))
        if abs(low[j]) > abs(high[j]):
            small.lower[j] = low[j] + 1
        else:
            small.upper[j] = high[j] - 1


def _limit_size(rng: np.random.Generator, small: SmallProblem) -> None:
    low, high = small.box()
    required = int(np.count_nonzero((low > 0) | (high < 0)))
    usable = int(np.count_nonzero((low != 0) | (high != 0)))
    if rng.random() < 0.7:
        small.max_size = int(rng.integers(required, small.d + 1))
    if rng.random() < 0.4:
        most = usable if small.max_size is None else min(usable, small.max_size)
        small.min_size = int(rng.integers(0, most + 1))
