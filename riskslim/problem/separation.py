"""Remarks on features that tell the training rows of both classes apart, or nearly all of them."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._wording import MAX_LISTED
from riskslim.data.store import KernelRows

if TYPE_CHECKING:
    from riskslim.data.training_data import TrainingData

__all__ = ["Separation", "remark_on", "separations"]


class Separation(NamedTuple):
    """A feature of which some rows, or all, have one outcome.

    Attributes
    ----------
    feature : str
    text : str
        In words, without a full stop.
    is_copy : bool
        Whether it says the outcome of every row, or of nearly every one.
    is_exact : bool, default True
        False of the latter: no number of points is too large for others.
    """

    feature: str
    text: str
    is_copy: bool
    is_exact: bool = True


# A condition is nearly a copy of the outcome if so few rows are exceptions, as a share of all rows
# and, on average, of either class: of rare outcomes they are few of all rows in any case.
_MOST_EXCEPTIONS = 0.01
_MOST_OF_A_CLASS = 0.05
# Rows of either class, in a block, of which the values are kept; and in all blocks together.
_KEPT_ROWS, _MOST_KEPT = 20_000, 100_000


class ColumnFacts(NamedTuple):
    """Values of either class in a column; entries are without and with the outcome.

    Attributes
    ----------
    least, most : ndarray of float64, shape (2,)
        Infinite where the class has no rows.
    counts : ndarray of int64, shape (2, 3)
        Rows of each class with the values 0, 1 and others; none of rows that have values beyond 0
        and 1, which say that the column is not one of 0 and 1.
    totals : ndarray of int64, shape (2,)
        Rows of each class.
    kept : tuple of two arrays of float64, shape (m, 2)
        Of columns of other values than 0 and 1: values of each class, evenly chosen of the rows
        where these are many, and how many rows have each.
    """

    least: NDArray[np.float64]
    most: NDArray[np.float64]
    counts: NDArray[np.int64]
    totals: NDArray[np.int64]
    kept: tuple[NDArray[np.float64], NDArray[np.float64]]

    def joined(self, other: ColumnFacts) -> ColumnFacts:
        """The same of the rows of both."""
        return ColumnFacts(
            np.minimum(self.least, other.least),
            np.maximum(self.most, other.most),
            self.counts + other.counts,
            self.totals + other.totals,
            (_both(self.kept[0], other.kept[0]), _both(self.kept[1], other.kept[1])),
        )


def _both(some: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values of both, every second one where that were too many."""
    both = np.concatenate((some, others))
    return both if len(both) <= _MOST_KEPT else both[::2]


def column_facts(part: KernelRows, features: tuple[int, ...]) -> list[ColumnFacts]:
    """Look at some columns of rows of positive weight.

    Parameters
    ----------
    part : KernelRows
    features : tuple of int

    Returns
    -------
    list of ColumnFacts
    """
    chosen = part.counted
    positive = part.labels[chosen] > 0
    sides = np.flatnonzero(~positive), np.flatnonzero(positive)
    numbers = part.numbers[chosen] if len(part.numbers) else np.ones(len(positive), np.uint16)
    return [_facts_of(part.values_of(j)[chosen], sides, numbers) for j in features]


def _facts_of(
    values: NDArray[np.generic],
    sides: tuple[NDArray[np.intp], NDArray[np.intp]],
    numbers: NDArray[np.unsignedinteger],
) -> ColumnFacts:
    """Facts of a column: the rows of either class, and how many rows each of them stands for."""
    least, most, counts = np.full(2, np.inf), np.full(2, -np.inf), np.zeros((2, 3), np.int64)
    of_sides = [values[own] for own in sides]
    for side, own_values in enumerate(of_sides):
        if own_values.size:
            least[side], most[side] = own_values.min(), own_values.max()
    totals = np.array([numbers[own].sum(dtype=np.int64) for own in sides])
    is_within = least.min() >= 0 and most.max() <= 1
    if is_within:
        for side, own_values in enumerate(of_sides):
            own_numbers = numbers[sides[side]]
            for value in (0, 1):
                counts[side, value] = own_numbers.sum(where=own_values == value, dtype=np.int64)
            counts[side, 2] = totals[side] - counts[side, :2].sum()
    if is_within and not counts[:, 2].any():
        nothing = np.empty((0, 2))
        return ColumnFacts(least, most, counts, totals, (nothing, nothing))
    negative, positive = (
        np.column_stack((own_values[::step], numbers[own][::step])).astype(np.float64)
        for own_values, own in zip(of_sides, sides, strict=True)
        for step in [max(1, -(-len(own) // _KEPT_ROWS))]
    )
    return ColumnFacts(least, most, counts, totals, (negative, positive))


def separations(data: TrainingData, vector: NDArray[np.int64]) -> list[Separation]:
    """Find features with points of which all rows with one value have the same outcome.

    The loss falls with every further point of such a feature: without a ridge penalty the best
    points are at a bound, or as large as what else the score has to say allows. Conditions that are
    nearly a copy of the outcome are found, too. Rows of weight 0 do not count.

    Parameters
    ----------
    data : TrainingData
    vector : ndarray of int64, shape (d + 1,)
        Intercept first.

    Returns
    -------
    list of Separation
        In the order of the features.
    """
    used = tuple(np.flatnonzero(vector[1:]).tolist())
    if not used:
        return []
    facts, *others = data.rows.map(column_facts, used)
    for other in others:
        facts = [one.joined(more) for one, more in zip(facts, other, strict=True)]
    found = []
    for j, of_column in zip(used, facts, strict=True):
        name = data.feature_names[j]
        text, is_copy = _separated(name, of_column)
        nearly = "" if is_copy else _nearly_copied(name, of_column) or _ranked(name, of_column)
        if nearly:
            found.append(Separation(name, nearly, is_copy=True, is_exact=False))
        elif text:
            found.append(Separation(name, text, is_copy))
    return found


def _nearly_copied(name: str, facts: ColumnFacts) -> str:
    """Say of how few rows a condition does not say the outcome, where it is nearly a copy of it."""
    counts = facts.counts
    of_class = counts.sum(axis=1)
    if counts[:, 2].any() or not of_class.all():  # no condition
        return ""
    for having in (1, 0):
        wrong = np.array([counts[0, having], counts[1, 1 - having]])
        is_rare = wrong.sum() <= _MOST_EXCEPTIONS * of_class.sum()
        if is_rare and np.mean(wrong / of_class) <= _MOST_OF_A_CLASS:
            rows = f"{wrong.sum()} of {of_class.sum()} rows"
            return f"{name!r} alone tells the outcome of all but {rows}"
    return ""


def _ranked(name: str, facts: ColumnFacts) -> str:
    """Say of how few rows a cut-off of a column does not say the outcome, where they are so few."""
    if not all(map(len, facts.kept)):
        return ""
    places = np.unique(np.concatenate([kept[:, 0] for kept in facts.kept]))
    upto = np.stack([_share_up_to(kept, places) for kept in facts.kept])
    wrong = np.concatenate(  # of those with the outcome above the place, and below it
        [np.stack((1 - upto[0], upto[1]), axis=1), np.stack((upto[0], 1 - upto[1]), axis=1)]
    )
    exceptions = wrong @ facts.totals
    k = int(np.argmin(exceptions))
    n = facts.totals.sum()
    if exceptions[k] > _MOST_EXCEPTIONS * n or wrong[k].mean() > _MOST_OF_A_CLASS:
        return ""
    is_whole = all(
        kept[:, 1].sum() == total for kept, total in zip(facts.kept, facts.totals, strict=True)
    )
    rows = f"{round(exceptions[k])} of {n} rows" if is_whole else f"{exceptions[k] / n:.2%} of rows"
    return f"a cut-off of {name!r} tells the outcome of all but {rows}"


def _share_up_to(kept: NDArray[np.float64], places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of the rows with values up to each place."""
    order = np.argsort(kept[:, 0])
    below = np.concatenate(([0.0], np.cumsum(kept[order, 1])))
    shares: NDArray[np.float64] = (
        below[np.searchsorted(kept[order, 0], places, side="right")] / below[-1]
    )
    return shares


def _separated(name: str, facts: ColumnFacts) -> tuple[str, bool]:
    """Return what is separated, and whether all rows are."""
    (without_min, with_min), (without_max, with_max) = facts.least, facts.most
    counts = facts.counts
    if not np.isfinite(facts.least).all():
        return "", False
    is_binary = facts.least.min() == 0 and facts.most.max() == 1 and not counts[:, 2].any()
    if with_min > without_max or with_max < without_min:
        if not is_binary:
            return f"{name!r} alone tells all rows with the outcome from those without", True
        have = "with" if with_min == 1 else "without"
        return f"all rows {have} {name!r}, and no others, have the outcome", True
    if not is_binary:
        return "", False
    parts = []
    for value, word in ((1, "with"), (0, "without")):
        n_without, n_with = counts[:, value].tolist()
        n = n_without + n_with
        count = "the one row" if n == 1 else f"all {n} rows"
        none = "the one row" if n == 1 else f"none of the {n} rows"
        if not n_without:
            have = "has" if n == 1 else "have"
            parts.append(f"{count} {word} {name!r} {have} the outcome")
        elif not n_with:
            negated = "has not" if n == 1 else "has"
            parts.append(f"{none} {word} {name!r} {negated} the outcome")
    return "; ".join(parts), False


def remark_on(found: list[Separation], outcome: str, shrunken: Container[str] = frozenset()) -> str:
    """Say what is separated, what it means for the points, and what to do; empty if nothing is.

    Parameters
    ----------
    found : list of Separation
    outcome : str
        What the risk is of: "died = yes".
    shrunken : container of str, optional
        Features with a ridge penalty, which limits their points.

    Returns
    -------
    str
    """
    exact = " ".join(
        _remark_on_exact(
            [one for one in found if one.is_exact and (one.feature in shrunken) is has_ridge],
            outcome, has_ridge,
        )
        for has_ridge in (False, True)
    ).strip()  # fmt: skip
    nearly = [one.text for one in found if not one.is_exact]
    if not nearly:
        return exact
    text = (
        f"{'; '.join(nearly[:MAX_LISTED])} ({outcome}): nearly a copy of it. Is it known before "
        "the outcome is? If not, leave it out."
    )
    return f"{exact} {text}".lstrip()


def _remark_on_exact(found: list[Separation], outcome: str, has_ridge: bool) -> str:
    if not found:
        return ""
    texts = [one.text for one in found[:MAX_LISTED]]
    if len(found) > MAX_LISTED:
        texts.append(f"the same of {len(found) - MAX_LISTED} other features")
    listed = "; ".join(texts)
    says = "how strong the ridge penalty is" if has_ridge else "what is allowed"
    text = (
        f"{listed[0].upper()}{listed[1:]} ({outcome}). More points would always lower the loss: "
        f"their number says {says}, not how much the feature counts."
    )
    if any(one.is_copy for one in found):
        return f"{text} Is it known before the outcome is? If not, leave it out."
    return f"{text} From few rows that can be chance: allow fewer points, or leave the feature out."
