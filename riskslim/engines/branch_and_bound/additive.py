"""Bounds of all scores that use some variables, by additive models of these.

The items of a variable, its cut-offs or its levels, have one of few patterns of values in a row: n
items have n + 1. Such features are a *family*. A score of a family's features adds the *effect* of
a pattern to a row's total, so that the least loss of all effects bounds all scores of the family's
features, whatever their points, their number and the scale. Effects are fitted by look-ups in place
of columns, in time that does not depend on the number of items.

The point that is found is turned back into coefficients, and what bounds a node is the
linearisation of the loss there, over the integer vectors of its box (:func:`nodes.apply_cut`): it
is valid however well effects were fitted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import additive as kernels
from riskslim._kernels import nodes
from riskslim.engines.branch_and_bound import costs
from riskslim.engines.branch_and_bound.node_rows import NodeRows
from riskslim.engines.branch_and_bound.workspace import KernelArguments, Worker

__all__ = ["AdditiveModel", "Effects", "Families", "Family", "Fitted"]

# Families that are asked whether they take a feature, the latest ones first, and rows of which this
# is asked before it is of all.
REACH = 8
FIRST_ROWS = 8192
# Most effects of all families: second derivatives are of all pairs of them.
MOST_EFFECTS = 2048
MOST_PATTERNS = 2**16
# Part of the memory limit that the patterns of rows may take.
MEMORY_SHARE = 8
# Features of a family, on average, from which families are divided before features.
FEATURES_PER_FAMILY = 2.0
# Newton steps of a fit.
STEPS = 40
# Sums of slopes are plain here; the kernel that bounds expects compensated ones (GRADIENT_ERROR).
PLAIN_ERROR = 2.0**-53 / 2e-14

# Of each family that takes part, by pattern.
Effects: TypeAlias = tuple[NDArray[np.floating] | None, ...]


class Family(NamedTuple):
    """Features with few patterns of values.

    ``patterns`` (shape (m, number of members)) are those of the codes 0 to m - 1. Effects of
    patterns are those of an intercept and of coefficients of the members: ``inverse`` (shape
    (1 + number of members, m)) turns them into these. ``share`` is the weight of each pattern's
    rows.
    """

    members: NDArray[np.int64]
    patterns: NDArray[np.float64]
    inverse: NDArray[np.float64]
    share: NDArray[np.float64]


class Fitted(NamedTuple):
    """An additive model that was fitted, and what it says of a box."""

    bound: float
    effects: Effects
    is_early: bool  # it was left when it had reached the target: more would be to be had


class Families(NamedTuple):
    """Features by family, and the pattern of each row (``codes``, one line for each family)."""

    codes: NDArray[np.uint16]
    families: list[Family]

    @classmethod
    def of(
        cls,
        rows: NodeRows,
        features: NDArray[np.bool_],
        most_bytes: int,
        should_stop: Callable[[], bool],
    ) -> Families | None:
        """Divide features into families.

        Parameters
        ----------
        rows : NodeRows
        features : bool array of shape (d,)
            Those that are divided.
        most_bytes : int
            Memory of the codes.
        should_stop : callable
            Asked at every feature.

        Returns
        -------
        Families or None
            None: a feature has more than two values, families are too many, or work was to end.

        Notes
        -----
        A feature enters a family if it divides the rows of one of its patterns at most: then the
        effects of all patterns are still those of coefficients.
        """
        codes: list[NDArray[np.uint16]] = []
        members: list[list[int]] = []
        most = min(most_bytes // (2 * max(rows.n_rows, 1)), MOST_EFFECTS)
        for j in np.flatnonzero(features).tolist():
            if rows.slot[j] < 0 or should_stop():
                return None
            column = rows.integer_columns[:, rows.slot[j]]
            is_high = column != column.min()
            if len(np.unique(column[is_high])) > 1:
                return None
            for k in range(len(codes) - 1, max(len(codes) - 1 - REACH, -1), -1):
                joined = _joined(codes[k], is_high)
                if joined is not None:
                    codes[k] = joined
                    members[k].append(j)
                    break
            else:
                if len(codes) >= most:
                    return None
                codes.append(is_high.astype(np.uint16))
                members.append([j])
        if not codes or sum(int(code.max()) + 1 for code in codes) > MOST_EFFECTS:
            return None
        families = [
            _family(rows, np.array(own), code) for own, code in zip(members, codes, strict=True)
        ]
        return cls(np.ascontiguousarray(codes), families)


def _joined(code: NDArray[np.uint16], is_high: NDArray[np.bool_]) -> NDArray[np.uint16] | None:
    """Codes of a family with one more feature, None if it divides more than one pattern."""
    for some in (slice(FIRST_ROWS), slice(None)):
        n_patterns = int(code[some].max()) + 1
        counts = np.bincount(2 * code[some].astype(np.int64) + is_high[some])
        if np.count_nonzero(counts) > n_patterns + 1:
            return None
    if np.count_nonzero(counts) > MOST_PATTERNS:
        return None
    # Low comes before high: along a chain, the largest items first, codes are ranks.
    number = np.cumsum(counts > 0) - 1
    return number[2 * code.astype(np.int64) + is_high].astype(np.uint16)


def _family(rows: NodeRows, members: NDArray[np.int64], code: NDArray[np.uint16]) -> Family:
    _, example = np.unique(code, return_index=True)
    patterns = rows.integer_columns[np.ix_(example, rows.slot[members])].astype(np.float64)
    weight = rows.positive + rows.negative
    share = np.bincount(code, weight, len(example)) / weight.sum()
    design = np.column_stack([np.ones(len(example)), patterns])
    return Family(members, patterns, np.linalg.pinv(design), share)


class AdditiveModel:
    """Fits effects of families, and bounds boxes by them.

    Parameters
    ----------
    rows : NodeRows
        All features, two values each.
    families : Families
    """

    def __init__(self, rows: NodeRows, families: Families) -> None:
        self._rows = rows
        self._codes, self.families = families
        self._largest = max(len(family.share) for family in self.families)
        self.family_of = np.full(len(rows.slot), -1, np.int64)
        for v, family in enumerate(self.families):
            self.family_of[family.members] = v

    @classmethod
    def of(
        cls,
        rows: NodeRows,
        boxes: Sequence[NDArray[np.integer]],
        max_size: int,
        memory_limit: int,
        should_stop: Callable[[], bool],
    ) -> AdditiveModel | None:
        """Build the model of the features of some boxes.

        Parameters
        ----------
        rows : NodeRows
        boxes : sequence of integer arrays of shape (2, d + 1)
        max_size : int
            Of a score.
        memory_limit : int
            Bytes, of which the patterns of rows may take a part.
        should_stop : callable
            Asked between passes over the rows: then there is no model.

        Returns
        -------
        AdditiveModel or None
            None where families would not help: they are not more than a score has items, or hardly
            fewer than features, or rows stand for constraints.
        """
        if (rows.positive < 0.0).any() or (rows.negative < 0.0).any():
            return None
        features = np.any([(box[:, 1:] != 0).any(axis=0) for box in boxes], axis=0)
        families = Families.of(rows, features, memory_limit // MEMORY_SHARE, should_stop)
        if families is None:
            return None
        n_families = len(families.families)
        is_few = FEATURES_PER_FAMILY * n_families <= np.count_nonzero(features)
        return cls(rows, families) if max_size < n_families and is_few else None

    def live(self, box: NDArray[np.float64]) -> NDArray[np.int64]:
        """Families of which a box has a feature.

        Parameters
        ----------
        box : float64 array of shape (2, d + 1)

        Returns
        -------
        ndarray of int64
        """
        is_open = (box[0, 1:] != 0.0) | (box[1, 1:] != 0.0)
        return np.unique(self.family_of[is_open & (self.family_of >= 0)])

    def spread(self, v: int, effect: NDArray[np.floating] | None) -> float:
        """Standard deviation of the effects of a family over the rows.

        Parameters
        ----------
        v : int
        effect : array of shape (number of patterns,), or None

        Returns
        -------
        float
        """
        if effect is None:
            return 0.0
        share = self.families[v].share
        return math.sqrt(float(share @ (effect - share @ effect) ** 2))

    def predicted_seconds(self, live: NDArray[np.int64]) -> float:
        """Predict the time of a fit.

        Parameters
        ----------
        live : ndarray of int64
            Families that take part.

        Returns
        -------
        float
        """
        m, p = len(live), sum(len(self.families[v].share) for v in live.tolist())
        return costs.families(self._rows.n_rows, m, p)

    def fit(
        self,
        effects: Effects,
        box: NDArray[np.float64],
        coef: NDArray[np.float64],
        worth: NDArray[np.float64],
        arguments: KernelArguments,
        target: float,
        tolerance: float,
        worker: Worker,
        stop: NDArray[np.int64],
    ) -> Fitted:
        """Fit the effects of the families of a box, and bound and shrink the box by them.

        Parameters
        ----------
        effects : tuple of arrays, or None
            By family, to begin with.
        box : float64 array of shape (2, d + 1)
            In points; changed.
        coef : float64 array of shape (d + 1,)
            Overwritten by points that the fit means, within the box.
        worth : float64 array of shape (3,)
            Of a point, and its interval; changed.
        arguments : KernelArguments
            Of the rows of all features.
        target, tolerance : float
            The fit may end where it bounds by the target, or its bound is as near to its loss.
        worker : Worker
        stop : int64 array of shape (1,)

        Returns
        -------
        Fitted
            Of infinite bound if the box is pruned.
        """
        live = self.live(box)
        if not len(live):  # a constant, which relaxations are quick to bound
            return Fitted(-math.inf, effects, False)
        first, at = self._layout(live)
        values, out = self._begun(effects, live), np.zeros(2)
        needed = kernels.scratch_size(self._rows.n_rows, int(first[-1]), self._largest)
        work = worker.work if len(worker.work) >= needed else np.empty(needed)
        rows = (arguments.positive, arguments.negative)
        reach = arguments.max_size * float(np.abs(box[:, 1:]).max()) * worth[2]
        kernels.fit(
            self._codes, live, first, values, *rows, reach, target, tolerance, STEPS, out, stop,
            work,
        )  # fmt: skip
        is_early = bool(out[1] >= target)
        # The linearisation is that at coefficients: effects are made those of them. Constants are
        # added up first, as in the intercept, lest large ones cancel in every row.
        point = np.zeros(box.shape[1])
        for v, part in zip(live.tolist(), at, strict=True):
            family = self.families[v]
            own = family.inverse @ values[part]
            point[0] += own[0]
            point[1 + family.members] = own[1:]
            values[part] = family.patterns @ own[1:]
        values[at[0]] += point[0]
        fitted: list[NDArray[np.floating] | None] = [None] * len(self.families)
        for v, part in zip(live.tolist(), at, strict=True):
            fitted[v] = values[part].copy()
        sums = np.empty(int(first[-1]))
        if not kernels.linearise(self._codes, live, first, values, *rows, sums, out, stop, work):
            return Fitted(-math.inf, effects, False)
        gradient = np.zeros(box.shape[1])
        gradient[0] = sums[at[0]].sum()
        for v, part in zip(live.tolist(), at, strict=True):
            gradient[1 + self.families[v].members] = self.families[v].patterns.T @ sums[part]
        size = out[1] * (1.0 + PLAIN_ERROR * (self._rows.n_rows + first[-1]))
        known = np.concatenate([point, gradient, np.zeros(box.shape[1]), [out[0], size, 0.0]])
        coef[:] = point / worth[0]
        result = np.array([-math.inf, math.inf, 0.0, 0.0])
        is_over = nodes.apply_cut(
            *arguments._replace(known=known), box, coef, worth, result, stop, worker.counters,
            worker.work, worker.index,
        )  # fmt: skip
        return Fitted(math.inf if is_over else float(result[0]), tuple(fitted), is_early)

    def _layout(self, live: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[slice]]:
        """Places of the effects of families, one after the other."""
        sizes = [len(self.families[v].share) for v in live.tolist()]
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return first, [slice(*ends) for ends in pairwise(first.tolist())]

    def _begun(self, effects: Effects, live: NDArray[np.int64]) -> NDArray[np.float64]:
        """Effects of some families, which take over the mean of the others'."""
        parts, mean = [], 0.0
        for v, (family, effect) in enumerate(zip(self.families, effects, strict=True)):
            if v in live:
                parts.append(np.zeros(len(family.share)) if effect is None else effect)
            elif effect is not None:
                mean += float(family.share @ effect)
        parts[0] = parts[0] + mean
        return np.concatenate(parts).astype(np.float64)
