"""The requirements of a risk score problem in words, each checked on a score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riskslim.constraints.linear import model_size
from riskslim.scale import PAPER_SCALE
from riskslim.score.requirements import Requirement

if TYPE_CHECKING:
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["requirements_of"]

# A price that decides among scores of equal loss only, which is no requirement.
_TIE_BREAK = 1e-6


def requirements_of(
    problem: RiskScoreProblem, vector: NDArray[np.int64]
) -> tuple[Requirement, ...]:
    """Say in words what was asked of a score, and whether it meets it.

    Parameters
    ----------
    problem : RiskScoreProblem
        At the scale of the score.
    vector : ndarray of int64, shape (d + 1,)
        Its points, intercept first.

    Returns
    -------
    tuple of Requirement
        Limits of the size and bounds first, then what holds for single features, prices and
        scales, and constraints in their order.
    """
    size = problem.model_size(vector)
    found = [
        Requirement(
            model_size(problem.min_size, problem.max_size).describe(),
            None if problem.min_size <= size <= problem.max_size else f"model size is {size}",
        ),
        *_bounds(problem, vector),
        *_prices(problem),
        *_ridge(problem),
    ]
    if problem.stated_scales != PAPER_SCALE:
        found.append(Requirement(f"scale: {problem.stated_scales.describe()}"))
    rows = problem.constraint_rows
    if rows is None:
        return tuple(found)
    culprits = rows.culprits(vector)
    for k, constraint in enumerate(rows.constraints):
        name = "" if constraint.name is None else f"{constraint.name}: "
        found.append(Requirement(f"{name}{constraint.describe()}", culprits.get(k)))
    return tuple(found)


def _bounds(problem: RiskScoreProblem, vector: NDArray[np.int64]) -> Iterator[Requirement]:
    """Bounds that most features share, those of others by name, and those of the intercept."""
    names = problem.coefficients.feature_names
    lower, upper = problem.coefficients.lower.tolist(), problem.coefficients.upper.tolist()
    ends = list(zip(lower, upper, strict=True))
    free = [pair for pair in ends if pair[0] < pair[1]]
    derived = " (derived from the data)" if problem.intercept_is_derived else ""
    intercept = f"intercept from {problem.lower[0]} to {problem.upper[0]}{derived}"
    outside = not problem.lower[0] <= vector[0] <= problem.upper[0]
    broken = [f"'(intercept)' ({vector[0]})"] if outside else []
    usual = _usual(free) if free else None
    if usual is None or (free.count(usual) == 1 and len(set(ends)) > 1):  # all by their names
        usual = None
        yield Requirement(intercept, _broken(broken))
    else:
        which = "every feature" if len(set(ends)) == 1 else "every feature not named below"
        broken += _outside(names, vector, [j for j, pair in enumerate(ends) if pair == usual], ends)
        text = f"points of {which} from {usual[0]} to {usual[1]}; {intercept}"
        yield Requirement(text, _broken(broken))
    groups: dict[str, list[int]] = {}
    for j, pair in enumerate(ends):
        if pair != usual:
            groups.setdefault(_in_words(pair), []).append(j)
    for text, members in groups.items():
        listed = ", ".join(repr(names[j]) for j in members)
        yield Requirement(text.format(listed), _broken(_outside(names, vector, members, ends)))


def _usual(free: list[tuple[int, int]]) -> tuple[int, int]:
    """The bounds that most features have; of equally many the widest."""
    counts = Counter(free)
    return max(counts, key=lambda pair: (counts[pair], pair[1] - pair[0], pair[1]))


def _in_words(pair: tuple[int, int]) -> str:
    """Bounds of a feature, with a place for its name."""
    low, high = pair
    if low == high:
        return "left out (0 points): {}" if low == 0 else f"points fixed at {low}: {{}}"
    if low == 0:
        return f"sign +, points from 0 to {high}: {{}}"
    if high == 0:
        return f"sign -, points from {low} to 0: {{}}"
    forced = ", always used" if low > 0 or high < 0 else ""
    return f"points from {low} to {high}{forced}: {{}}"


def _outside(
    names: tuple[str, ...],
    vector: NDArray[np.int64],
    members: list[int],
    ends: list[tuple[int, int]],
) -> list[str]:
    return [
        f"{names[j]!r} ({vector[1 + j]})"
        for j in members
        if not ends[j][0] <= vector[1 + j] <= ends[j][1]
    ]


def _broken(features: list[str]) -> str | None:
    return f"broken by {', '.join(features)}" if features else None


def _prices(problem: RiskScoreProblem) -> Iterator[Requirement]:
    """Prices of features: the one that most have, and others by name."""
    by_price = _by_amount(problem, problem.l0_penalty)
    if len(by_price) == 1 and max(by_price) <= _TIE_BREAK:
        return
    for price, listed in by_price.items():
        which = listed or ("each other feature" if len(by_price) > 1 else "each feature")
        yield Requirement(f"price of {which}: {price:.4g} of the loss")


def _ridge(problem: RiskScoreProblem) -> Iterator[Requirement]:
    """Ridge penalties, where there are any, and how strong a prior they are."""
    if not problem.has_ridge:
        return
    data = problem.loss.data
    n = data.total_weight
    rows = f"rows of total weight {n:.10g}" if data.is_weighted else f"{data.n_samples} rows"
    by_penalty = _by_amount(problem, problem.l2_penalty)
    for penalty, listed in by_penalty.items():
        if not penalty and not listed:
            continue
        which = listed or ("each other weight" if len(by_penalty) > 1 else "the weights")
        strength = f"shrinkage {penalty * n:.4g} on {rows}"
        yield Requirement(f"ridge penalty of {which}: {penalty:.4g} ({strength})")


def _by_amount(problem: RiskScoreProblem, amounts: NDArray[np.float64]) -> dict[float, str]:
    """Names of features that can be used by what each costs; none for what most of them cost."""
    usable = np.flatnonzero(problem.usable).tolist()
    costs = {j: float(amounts[j]) for j in usable}
    if not costs:
        return {}
    usual = Counter(costs.values()).most_common(1)[0][0]
    names = problem.coefficients.feature_names
    others: dict[float, list[str]] = {}
    for j, cost in costs.items():
        if cost != usual:
            others.setdefault(cost, []).append(repr(names[j]))
    return {usual: "", **{cost: ", ".join(listed) for cost, listed in others.items()}}
