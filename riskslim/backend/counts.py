"""Rows counted by the values of columns, from bits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._kernels import supports as kernels
from riskslim.backend.border import checked_integers
from riskslim.backend.losses import checked_columns
from riskslim.backend.prepared import Prepared, handle
from riskslim.data.packed import Cells, PackedItems

__all__ = ["JointCounts", "SupportTable", "joint_counts", "support_table"]

# Scores whose rows are counted apart: as many as ranks of groups have room for.
_MOST_SCORES = 256


class SupportTable(NamedTuple):
    """Cells of a support: combinations of values that rows have.

    Attributes
    ----------
    values : ndarray of int64, shape (m, k)
        Values of the k columns in each of the m cells.
    weights : ndarray of float64, shape (m, 2)
        Weight of the rows with these values, of the negative and of the positive class; numbers of
        rows without weights.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import backend
    >>> X = np.array([[0, 1], [1, 0], [1, 1], [0, 0]] * 5)
    >>> y = np.array([0, 1, 1, 0] * 4 + [1, 0, 1, 0])
    >>> table = backend.support_table(np.array([0]), X, y)
    >>> table.values, table.weights
    (array([[0],
           [1]]), array([[9., 1.],
           [1., 9.]]))
    """

    values: NDArray[np.int64]
    weights: NDArray[np.float64]


class JointCounts(NamedTuple):
    """Rows by score, class, and value of each column.

    Attributes
    ----------
    scores : ndarray of int64, shape (g,)
        Scores that rows have, increasing.
    total : ndarray of float64, shape (2, g)
        Weight of the rows of the negative and of the positive class at each score.
    features, values : ndarray of int64, shape (p,)
        A column, and a value of it: all of its values but one.
    rest : ndarray of int64, shape (p,)
        The value that is left out: 0 where the column has it, else its least value. Its rows are
        those of ``total`` that no other value of the column has.
    weights : ndarray of float64, shape (p, 2, g)
        Weight of the rows with that value, by class and score.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import backend
    >>> X = np.array([[0, 1], [1, 0], [1, 1], [0, 0]] * 5)
    >>> y = np.array([0, 1, 1, 0] * 4 + [1, 0, 1, 0])
    >>> counts = backend.joint_counts(np.array([-1, 2, 0]), X, y)
    >>> counts.scores, counts.total
    (array([-1,  1]), array([[9., 1.],
           [1., 9.]]))
    """

    scores: NDArray[np.int64]
    total: NDArray[np.float64]
    features: NDArray[np.int64]
    values: NDArray[np.int64]
    rest: NDArray[np.int64]
    weights: NDArray[np.float64]


def support_table(
    features: NDArray[Any],
    X: NDArray[Any] | Prepared,
    y: NDArray[Any] | None = None,
    sample_weight: NDArray[Any] | None = None,
    *,
    n_threads: int | None = None,
) -> SupportTable:
    """Weights of the rows of each class by the values of some columns together.

    Whatever a score on these columns is worth follows from the table, without the rows.

    Parameters
    ----------
    features : integer array of shape (k,)
        Columns, each once. Each holds at most 8 different integers within -128..127, and together
        they have at most 16 values besides one of each.
    X : Prepared, or ndarray of shape (n, d)
        As :func:`prepare` takes it.
    y, sample_weight : ndarray of shape (n,), optional
        Rows of a class have at most 48 different weights.
    n_threads : int, optional
        As in :func:`loss`.

    Returns
    -------
    SupportTable

    Raises
    ------
    TypeError
        Something else than arrays of numbers; arrays besides prepared data.
    ValueError
        Wrong shapes, values that are not finite, columns that there are not or that have too many
        values, too many different weights.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import backend
    >>> X, y = np.array([[0, 1], [1, 0], [1, 1], [1, 1]], np.int8), np.array([0, 1, 1, 0])
    >>> table = backend.support_table(np.array([0, 1]), X, y)
    >>> table.values.tolist(), table.weights.tolist()
    ([[1, 0], [0, 1], [1, 1]], [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    """
    rows = handle(X, y, sample_weight, n_threads)
    chosen = checked_columns(features, rows.n_features)
    if len(np.unique(chosen)) < len(chosen):
        raise ValueError(f"features must differ, got {chosen.tolist()}")
    packed = rows.items()
    cells = _cells(rows, packed, _items(packed, chosen))
    total = rows.data.total_weight
    return SupportTable(cells.x[1:].T.copy(), _in_rows(cells.weights.T * total, rows))


def joint_counts(
    coef: NDArray[Any],
    X: NDArray[Any] | Prepared,
    y: NDArray[Any] | None = None,
    sample_weight: NDArray[Any] | None = None,
    *,
    n_threads: int | None = None,
) -> JointCounts:
    """Weights of the rows by score, class, and value of every column of few values.

    With them a search knows what any points for any one column would be worth, without a further
    pass over the rows.

    Parameters
    ----------
    coef : ndarray of shape (d + 1,)
        Integers, intercept first; columns with points as :func:`support_table` takes them, and at
        most 256 scores that rows have.
    X : Prepared, or ndarray of shape (n, d)
        As :func:`prepare` takes it. Columns of more than 8 values are left out of the result.
    y, sample_weight : ndarray of shape (n,), optional
        Rows of a class have at most 48 different weights.
    n_threads : int, optional
        As in :func:`loss`.

    Returns
    -------
    JointCounts

    Raises
    ------
    TypeError
        Something else than arrays of numbers; arrays besides prepared data.
    ValueError
        Wrong shapes, coefficients that are no integers, columns with points that have too many
        values, too many scores or different weights.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import backend
    >>> X, y = np.array([[0, 1], [1, 0], [1, 1], [1, 1]], np.int8), np.array([0, 1, 1, 0])
    >>> counts = backend.joint_counts(np.array([-1, 2, 0]), X, y)
    >>> counts.scores, counts.features, counts.values
    (array([-1,  1]), array([0, 1]), array([1, 1]))
    >>> counts.weights[1].tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    rows = handle(X, y, sample_weight, n_threads)
    vector = checked_integers(coef, rows.n_features)
    packed = rows.items()
    used = np.flatnonzero(vector[1:])
    items = _items(packed, used)
    cells = _cells(rows, packed, items)
    reached = vector[np.concatenate(([0], 1 + used))] @ cells.x
    scores, group = np.unique(reached, return_inverse=True)
    if len(scores) > _MOST_SCORES:
        raise ValueError(f"rows have {len(scores)} scores, more than {_MOST_SCORES}")
    n_planes, n_groups = len(packed.values), len(scores)
    total = np.array([np.bincount(group, side, n_groups) for side in cells.weights])
    weights = np.empty((n_planes, 2, n_groups))
    if n_planes:  # kernels read a first plane
        masks = packed.masks(items, cells, group, rows.n_threads)
        kernels.count_joint(
            packed.planes, np.arange(n_planes), masks, packed.first_word, packed.side,
            packed.weight, weights, np.zeros(1, np.int64), rows.n_threads,
        )  # fmt: skip
    length = np.diff(packed.first)
    return JointCounts(
        scores,
        _in_rows(total * rows.data.total_weight, rows),
        np.repeat(packed.features, length),
        packed.values.copy(),
        np.repeat(packed.base, length),
        _in_rows(weights * rows.data.total_weight, rows),
    )


def _in_rows(weights: NDArray[np.float64], rows: Prepared) -> NDArray[np.float64]:
    """Numbers of rows are whole: shares that were added up are so to a few roundings."""
    return np.ascontiguousarray(weights if rows.data.is_weighted else np.rint(weights))


def _items(packed: PackedItems, features: NDArray[np.intp]) -> tuple[int, ...]:
    position = {int(j): i for i, j in enumerate(packed.features.tolist())}
    for j in features.tolist():
        if j not in position:
            raise ValueError(
                f"column {j} of X has more than 8 different values, or others than integers within "
                "-128..127: its rows cannot be counted by value"
            )
    items = tuple(position[j] for j in features.tolist())
    n_planes = len(packed.planes_of(items))
    if n_planes > kernels.most_planes():
        raise ValueError(
            f"the columns together have {n_planes} values besides one of each, more than "
            f"{kernels.most_planes()}"
        )
    return items


def _cells(rows: Prepared, packed: PackedItems, items: tuple[int, ...]) -> Cells:
    with rows.lock:
        return packed.cells(items, rows.n_threads)
