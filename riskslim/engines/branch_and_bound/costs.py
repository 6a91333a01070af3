"""Predicted seconds of the ways of dividing a search: all constants, and formulas of sizes alone.

``python -m benchmarks.costs`` measures what constants stand for, and prints the values that fit
best beside those here. docs/ways_of_dividing.md has its table, and a picture of the formulas.
"""

from __future__ import annotations

import math

from riskslim._kernels import support_enumeration as kernels

__all__ = [
    "count_supports", "cutoff_preparation", "cutoff_search", "families", "relaxation", "sorting",
    "supports", "union_counts", "unions",
]  # fmt: skip

# Seconds of a node's relaxations: of each pair of features, of which working sets and quadratic
# programs have up to so many; of each value in its rows, and of each beyond so many rows as second
# derivatives are computed from; and beside. Over an interval of scales it takes so many times as
# long.
PAIR_SECONDS, PAIRED = 3e-7, 100
VALUE_SECONDS, FURTHER_SECONDS, SAMPLED_ROWS = 8e-9, 3e-9, 32_768
BESIDE_SECONDS = 1e-4
INTERVAL_FACTOR = 2.5
# Nanoseconds of each support, of each of its cells, of each word that is counted (by level of
# instructions), and what it takes beside where planes are so many bytes that they come from far
# away; of each word that is sorted by another item.
SUPPORT_NS = 2.0
CELL_NS = 1.9
WORD_NS = (1.6, 0.38, 0.26, 0.07)
FAR_WORD_NS, FAR_BYTES = 0.35, 3e6
SORTED_NS = 9.5
# Seconds of completing a node whatever it has.
COMPLETION_SECONDS = 4e-4
# Seconds of a second derivative of a cell of a box, and all that is beside it: where h does not
# exclude a support, it is bounded by the convex loss and branching on its points. How many boxes
# there are shows only when some supports have been looked at.
TERM_SECONDS = 4e-9
# Seconds of bounding a node of a search over cut-offs: whatever it has, and for each row and
# element; nodes for each combination of chains that there is, as a rule, by the square of the size.
NODE_SECONDS, ELEMENT_SECONDS = 1.2e-5, 1e-9
NODES_PER_ROOT = 1.2
# Seconds of preparing it: with the root of the number of items, and for each row and item.
PREPARATION_SECONDS, PREPARED_SECONDS = 5e-3, 6e-9
# Seconds per row and family of a pass over additive models, of a pair of families of second
# derivatives, and per squared number of effects of a step; passes and steps of a fit.
PASS_SECONDS, FAMILY_PAIR_SECONDS, STEP_SECONDS = 4e-9, 2e-9, 2e-8
PASSES = 5
# Nanoseconds of counting a row in a union of features, and nodes of a union, on average.
ROW_NS = 6.0
UNION_NODES = 5.0


def relaxation(n_rows: int, n_live: int, *, over_interval: bool = False) -> float:
    """Predict the time of a node of the search by relaxations.

    Parameters
    ----------
    n_rows : int
        Rows that it reads, which are merged in subtrees.
    n_live : int
        Features that are not out.
    over_interval : bool, default False
        The scale may be any of an interval.

    Returns
    -------
    float
    """
    further = max(n_rows - SAMPLED_ROWS, 0)
    of_rows = VALUE_SECONDS * (n_rows - further) + FURTHER_SECONDS * further
    of_feature = PAIR_SECONDS * min(n_live, PAIRED) + of_rows
    factor = INTERVAL_FACTOR if over_interval else 1.0
    return factor * (BESIDE_SECONDS + (n_live + 1) * of_feature)


def count_supports(n_free: int, more: int) -> int:
    """Number of sets of up to ``more`` of ``n_free`` items.

    Parameters
    ----------
    n_free, more : int

    Returns
    -------
    int

    Examples
    --------
    >>> from riskslim.engines.branch_and_bound.costs import count_supports
    >>> count_supports(4, 2)
    11
    """
    return sum(math.comb(n_free, k) for k in range(max(min(more, n_free), 0) + 1))


def supports(
    n_free: int,
    n_in: int,
    max_size: int,
    n_words: int,
    n_segments: int,
    wide: list[int] | None = None,
    beyond: int = 0,
) -> float:
    """Predict the time of counting the rows of all supports.

    Parameters
    ----------
    n_free : int
        Items that may be added to those that are in.
    n_in : int
        Items that are in.
    max_size : int
        Most items of a support.
    n_words : int
        Words of the rows.
    n_segments : int
    wide : list of int, optional
        Planes of the free items that have more than one.
    beyond : int
        Planes of the items that are in, beyond one for each.

    Returns
    -------
    float
    """
    wide = wide or []
    more = max(min(max_size - n_in, n_free), 0)
    mean = sum(wide) / max(len(wide), 1)
    n_two = n_free - len(wide)
    n_groups = math.ceil((n_two + sum(wide)) / 8)
    total = 0.0
    for n_wide in range(min(len(wide), more) + 1):
        # Supports with so many items of more than two values, which are sorted by one by one.
        planes = beyond + n_wide * (mean - 1.0)
        others = max(min(max_size - n_in - n_wide, n_two), 0)
        n_supports = count_supports(n_two, others)
        cells = 2.0 ** min(max(max_size - 2, n_in + n_wide) + planes, 30)
        # Segments begin new words: half a word is lost for each that has rows.
        n_counted = n_words + 0.5 * min(cells * n_segments, 64.0 * n_words)
        is_far = 64 * n_groups * n_words > FAR_BYTES
        word = WORD_NS[kernels.best_level()] + FAR_WORD_NS * is_far
        each = SUPPORT_NS + CELL_NS * 2.0 ** min(max_size + planes, 30) + word * n_counted
        prefixes = count_supports(n_two, others - 2) if others > 2 else 1
        sorting = SORTED_NS * n_counted * n_groups * (1.0 + mean if n_wide else 1.0)
        total += math.comb(len(wide), n_wide) * (n_supports * each + prefixes * sorting)
    return 1e-9 * total


def sorting(n_words: int, n_groups: int) -> float:
    """Predict the time of sorting the rows by one more item.

    Parameters
    ----------
    n_words, n_groups : int
        Words of the rows of a plane, and groups of eight planes.

    Returns
    -------
    float
    """
    return 1e-9 * SORTED_NS * n_words * n_groups


def cutoff_preparation(n_rows: int, n_items: int) -> tuple[float, float]:
    """Predict the time of finding chains of nested items, and of sorting the rows by them.

    Parameters
    ----------
    n_rows, n_items : int

    Returns
    -------
    chains, rows : float
    """
    return PREPARATION_SECONDS * n_items**0.5, PREPARED_SECONDS * n_rows * n_items


def cutoff_search(n_roots: int, n_rows: int, max_size: int) -> float:
    """Predict the time of a search over cut-offs.

    Parameters
    ----------
    n_roots : int
        Combinations of chains and signs.
    n_rows : int
    max_size : int

    Returns
    -------
    float
    """
    of_node = NODE_SECONDS + ELEMENT_SECONDS * n_rows * max_size
    return NODES_PER_ROOT * max_size**2 * n_roots * of_node


def families(n_rows: int, n_families: int, n_effects: int) -> float:
    """Predict the time of fitting an additive model.

    Parameters
    ----------
    n_rows, n_families, n_effects : int

    Returns
    -------
    float
    """
    row = PASSES * n_families * PASS_SECONDS + n_families * n_families * FAMILY_PAIR_SECONDS
    return n_rows * row + PASSES * n_effects * n_effects * STEP_SECONDS


def union_counts(n_rows: int, n_unions: int) -> float:
    """Predict the time of counting the cells of unions of features.

    Parameters
    ----------
    n_rows, n_unions : int

    Returns
    -------
    float
    """
    return 1e-9 * ROW_NS * n_rows * n_unions


def unions(n_rows: int, n_unions: int, n_cells: int, n_live: int) -> float:
    """Predict the time of searches of unions, and of counting their cells before.

    Parameters
    ----------
    n_rows, n_unions : int
    n_cells, n_live : int
        Of one of them: rows that its nodes read, at most, and features.

    Returns
    -------
    float
    """
    return union_counts(n_rows, n_unions) + UNION_NODES * n_unions * relaxation(n_cells, n_live)
