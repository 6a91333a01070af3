"""Cut-offs that the outcome chooses: the splits of a shallow tree of one column.

A tree looks at the ranks of the distinct values, so that it splits between the same two values
whatever their unit; rounding and types of numbers play no part. What it is fitted to is one row per
distinct value and class, with the weight of the rows that have them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["DEFAULT_SHARE", "splits_with_enough", "supervised_splits"]

# Rows between neighbouring cut-offs where nothing is asked for, as a share of all.
DEFAULT_SHARE = 0.05

# Relative error of a sum of weights, so that tenths add up as integers do.
_WEIGHT_SLACK = 1e-9


def supervised_splits(
    weight: NDArray[np.float64], events: NDArray[np.float64], most: int, least: float
) -> list[int]:
    """Choose the splits of a column that tell the classes apart best.

    Parameters
    ----------
    weight, events : ndarray of float64, shape (n_distinct,)
        Weight of the rows with each of the distinct values, in ascending order of these; and of
        those rows among them that have the outcome.
    most : int
        Splits, at least 1.
    least : float
        Weight of the rows between neighbouring splits, below the first and above the last one.

    Returns
    -------
    list of int
        In ascending order; k splits the values before position k from those from there on. Empty
        where no split tells the classes apart.

    Notes
    -----
    They are the splits of scikit-learn's ``DecisionTreeClassifier`` with the criterion "log_loss",
    which makes the best split first, with at most ``most`` + 1 leaves.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.items.supervised import supervised_splits
    >>> weight, events = np.full(6, 10.0), np.array([1, 0, 2, 8, 9, 10.0])
    >>> supervised_splits(weight, events, most=1, least=5)
    [3]
    """
    from sklearn.tree import DecisionTreeClassifier

    total = float(weight.sum())
    share = least / total * (1 - _WEIGHT_SLACK)
    if len(weight) < 2 or share > 0.5:
        return []
    ranks = np.repeat(np.arange(len(weight), dtype=np.float32), 2)[:, np.newaxis]
    classes = np.tile([False, True], len(weight))
    weights = np.column_stack((weight - events, events)).ravel()
    there = weights > 0
    tree = DecisionTreeClassifier(
        criterion="log_loss",
        max_leaf_nodes=most + 1,
        min_weight_fraction_leaf=share,
        random_state=0,
    )
    tree.fit(ranks[there], classes[there], sample_weight=weights[there])
    inner = tree.tree_.children_left >= 0
    return sorted({int(np.ceil(rank)) for rank in tree.tree_.threshold[inner]})


def splits_with_enough(
    splits: list[int],
    weight: NDArray[np.float64],
    events: NDArray[np.float64],
    least: float,
    least_of_class: float,
) -> list[int]:
    """Leave out splits until there are enough rows, and enough of each class, between them.

    Parameters
    ----------
    splits : list of int
        In ascending order, as of :func:`supervised_splits`.
    weight, events : ndarray of float64, shape (n_distinct,)
    least, least_of_class : float

    Returns
    -------
    list of int
        Bands with too few rows are put together with the neighbour whose share of rows with the
        outcome is closer to theirs.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.items.supervised import splits_with_enough
    >>> weight, events = np.array([20.0, 2, 20, 20]), np.array([2.0, 1, 10, 15])
    >>> splits_with_enough([1, 2, 3], weight, events, least=5, least_of_class=1)
    [1, 3]
    """
    kept = list(splits)
    while kept:
        starts = [0, *kept]
        rows, with_event = np.add.reduceat(weight, starts), np.add.reduceat(events, starts)
        few = rows < least * (1 - _WEIGHT_SLACK)
        few |= np.minimum(with_event, rows - with_event) < least_of_class * (1 - _WEIGHT_SLACK)
        if not few.any():
            break
        band = int(np.argmax(few))
        rates = with_event / np.maximum(rows, np.finfo(np.float64).tiny)
        neighbours = [k for k in (band - 1, band) if 0 <= k < len(kept)]  # splits around the band
        del kept[min(neighbours, key=lambda k: abs(rates[k + 1] - rates[k]))]
    return kept
