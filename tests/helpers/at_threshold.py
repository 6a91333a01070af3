"""Small problems with shares at a free threshold, and an oracle that tries every threshold."""

from __future__ import annotations

import dataclasses

import numpy as np

from rated import Small, draw, draw_items
from riskslim import operating_point_at_least
from riskslim.constraints.rate_checks import TIE_TOLERANCE


@dataclasses.dataclass
class Asked:
    """One constraint, in the words of the oracle."""

    sensitivity: float | None
    specificity: float | None
    rows: np.ndarray | None  # of a group
    named: object = None  # what names it: a feature, a mapping

    def constraint(self):
        rows = self.rows if self.named is None else self.named
        return operating_point_at_least(self.sensitivity, self.specificity, rows=rows)

    def is_met(self, y, weights, scores, threshold, tie):
        """By rows whose scores reach the threshold; those just below count as is worst."""
        rows = np.ones(len(y), bool) if self.rows is None else self.rows
        for share, label, wrong in (
            (self.sensitivity, 1, scores < threshold),
            (self.specificity, -1, scores >= threshold - tie),
        ):
            if share is None:
                continue
            own = rows & (y == label)
            total = weights[own].sum()
            if weights[own & wrong].sum() > (1 - share) * total + 1e-9 * total:
                return False
        return True


def meaning(small: Small, asked: list[Asked]):
    """Of vectors (k, d + 1): whether some threshold meets all that is asked."""
    weights = np.ones(len(small.y)) if small.weights is None else small.weights
    tie = 0.0 if small.is_integer else TIE_TOLERANCE * max(1.0, np.abs(small.X).max())

    def is_met(slopes):
        scores = small.X @ slopes
        thresholds = [*np.unique(scores).tolist(), np.inf]
        return any(
            all(one.is_met(small.y, weights, scores, c, tie) for one in asked) for c in thresholds
        )

    def of_vectors(vectors):
        slopes, place = np.unique(vectors[:, 1:], axis=0, return_inverse=True)
        return np.array([is_met(each) for each in slopes])[place.ravel()]

    return of_vectors


def with_shares(small: Small, rng: np.random.Generator, *, groups: bool = True) -> Small:
    """The problem with one such constraint or several in place of its limits on rates."""
    asked = [
        Asked(float(rng.choice([0.6, 0.8, 0.9, 1.0])), float(rng.choice([0.2, 0.5, 0.7])), None)
    ]
    if rng.random() < 0.3:  # stated apart, in the other order
        asked = [Asked(None, asked[0].specificity, None), Asked(asked[0].sensitivity, None, None)]
    if groups and rng.random() < 0.5:
        chosen = np.zeros(len(small.y), bool)
        chosen[: len(small.y) // 2] = True
        group = Asked(float(rng.choice([0.5, 0.8])), None, chosen)
        column = small.X[:, 0]
        if small.is_integer and (column == 1).any() and rng.random() < 0.5:
            group = Asked(None, float(rng.choice([0.3, 0.5])), column == 1, "x1")
        counted = {1: group.sensitivity, -1: group.specificity}
        if all((group.rows & (small.y == k)).any() for k, share in counted.items() if share):
            asked.append(group)
    of_all = meaning(small, asked)
    first = [(asked[0].constraint(), of_all)]
    rest = [(one.constraint(), lambda vectors: np.ones(len(vectors), bool)) for one in asked[1:]]
    return dataclasses.replace(small, demands=[], others=[*small.others, *first, *rest])


def draw_shared(seed: int, *, real: bool = False) -> Small:
    return with_shares(draw(seed, real=real), np.random.default_rng([seed, 5]))


def draw_shared_items(seed: int) -> Small:
    return with_shares(draw_items(seed), np.random.default_rng([seed, 6]))


def draw_ungrouped_items(seed: int) -> Small:
    return with_shares(draw_items(seed), np.random.default_rng([seed, 7]), groups=False)


DRAW_SHARED = {
    "integers": draw_shared,
    "reals": lambda seed: draw_shared(seed, real=True),
    "items": draw_shared_items,
    "items, no groups": draw_ungrouped_items,
}
