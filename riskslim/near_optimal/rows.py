r"""Rows that differ for alternatives: what many scores predict is computed for each kind once.

The log-odds of m scores on k kinds of rows are one product of matrices,
:math:`(X_{k \times q} C_{q \times m} + b) / s`, with the q items that some score has points for.
Sums of whole points are exact: for 0/1 items these are the log-odds of
:class:`~riskslim.RiskScore` to the last bit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim.data.tables import values_of
from riskslim.data.training_data import TrainingData
from riskslim.data.weights import check_length, checked_weights
from riskslim.metrics.groups import MISSING, group_labels
from riskslim.risk_score import RiskScore
from riskslim.score.predictions import rows_of
from riskslim.score.rows import is_positive, named_rows
from riskslim.solution import SolutionPool

if TYPE_CHECKING:
    from riskslim.near_optimal.alternatives import Alternatives

__all__ = [
    "TEST",
    "TRAINING",
    "RowKinds",
    "check_losses",
    "held_out_kinds",
    "kinds_of",
    "pool_of",
    "reader_of",
    "training_kinds",
]

# What rows are called.
TRAINING, TEST = "training rows", "test rows"

# Log-odds that are held at once.
_AT_ONCE = 2**22
# Losses of the same rows, added up in another order, are closer.
_SAME_LOSS = 1e-6


@dataclasses.dataclass(frozen=True, eq=False)
class RowKinds:
    """Rows, those that do not differ for any of the scores taken together.

    Parameters
    ----------
    name : str
        What the rows are called.
    features : ndarray of intp, shape (q,)
        Features that some score has points for.
    values : ndarray of float64, shape (k, q)
        Of each kind of rows.
    group : ndarray of intp, shape (k,)
        Place among ``groups``; 0 where there are none.
    groups : tuple
        Labels, as in :func:`~riskslim.metrics.metrics_by_group`; empty where none are given.
    place : ndarray of intp, shape (n,)
        The kind of each row.
    positive, negative : ndarray of float64, shape (k,), or None
        Weights of the rows of each class; None where labels are not known.
    weight : ndarray of float64, shape (k,)
        Of all rows.
    numbers : ndarray of int64, shape (k,)
        Rows with weight.
    """

    name: str
    features: NDArray[np.intp]
    values: NDArray[np.float64]
    group: NDArray[np.intp]
    groups: tuple[Any, ...]
    place: NDArray[np.intp]
    positive: NDArray[np.float64] | None
    negative: NDArray[np.float64] | None
    weight: NDArray[np.float64]
    numbers: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def n_rows(self) -> int:
        """Number of rows with weight."""
        return int(self.numbers.sum())

    def members(self) -> Iterator[tuple[Any, NDArray[np.bool_]]]:
        """Each group with its kinds: None for all rows, and then one for each label.

        Yields
        ------
        label : object
        kinds : ndarray of bool, shape (k,)
        """
        yield None, np.ones(len(self), np.bool_)
        for place, label in enumerate(self.groups):
            yield label, self.group == place

    def log_odds(self, pool: SolutionPool) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Compute the log-odds of the rows by each score.

        Parameters
        ----------
        pool : SolutionPool

        Yields
        ------
        first : int
            Rank of the first score of a block.
        log_odds : ndarray of float64, shape (block, k)
        """
        step = max(1, _AT_ONCE // max(1, len(self)))
        columns = 1 + self.features
        scales = np.ones(len(pool)) if pool.scales is None else pool.scales
        for first in range(0, len(pool), step):
            coef = pool.coefficients[first : first + step].astype(np.float64)
            sums = coef[:, columns] @ self.values.T
            yield first, (coef[:, :1] + sums) / scales[first : first + step, np.newaxis]


def pool_of(found: Alternatives) -> SolutionPool:
    """Return the list of scores.

    Parameters
    ----------
    found : Alternatives

    Returns
    -------
    SolutionPool

    Raises
    ------
    ValueError
        There is none.
    """
    pool = found.solution.pool
    if pool is None or not len(pool):
        raise ValueError("there are no alternatives: no risk score was found")
    return pool


def kinds_of(
    name: str,
    features: NDArray[np.intp],
    columns: list[NDArray[Any]],
    *,
    positive: NDArray[np.bool_] | None,
    weight: NDArray[np.float64] | None,
    groups: Any,
    numbers: NDArray[np.int64] | None = None,
    n_rows: int,
) -> RowKinds:
    """Take rows together that have the same values and the same group.

    Parameters
    ----------
    name : str
    features : ndarray of intp, shape (q,)
    columns : list of q arrays of shape (n,)
    positive : ndarray of bool, shape (n,), or None
    weight : ndarray of float64, shape (n,), or None
    groups : array-like of shape (n,), or None
    numbers : ndarray of int64, shape (n,), optional
        Rows that each row stands for.
    n_rows : int
        The number n, which must not be 0.

    Returns
    -------
    RowKinds

    Raises
    ------
    ValueError
        No rows, or groups of another number of rows, or too many of them.
    """
    if not n_rows:
        raise ValueError(f"there are no {name}: at least one is needed")
    each = np.ones(n_rows) if weight is None else np.asarray(weight, dtype=np.float64)
    labels, code = _coded(groups, n_rows, each > 0)
    # A byte for each value where that is enough: rows are compared as strings of bytes.
    small = all(_are_small(column) for column in columns)
    table = np.empty((n_rows, len(columns) + 1), np.int8 if small else np.float64)
    for j, column in enumerate([*columns, code]):
        table[:, j] = column
    if not small:
        table += 0.0  # -0.0 is 0.0
    keys = np.ascontiguousarray(table).view(np.dtype((np.void, table.itemsize * table.shape[1])))
    _, first, place = np.unique(keys.ravel(), return_index=True, return_inverse=True)
    place = place.ravel()
    stands_for = np.ones(n_rows, np.int64) if numbers is None else numbers

    def added(values: NDArray[Any]) -> NDArray[np.float64]:
        return np.bincount(place, values, len(first)).astype(np.float64, copy=False)

    return RowKinds(
        name, features, table[first, :-1].astype(np.float64), code[first], labels, place,
        None if positive is None else added(each * positive),
        None if positive is None else added(each * ~positive),
        added(each), np.rint(added(stands_for * (each > 0))).astype(np.int64),
    )  # fmt: skip


def training_kinds(
    found: Alternatives, data: TrainingData, groups: Any = None, name: str = TRAINING
) -> RowKinds:
    """Take the rows that the alternatives were found on together.

    Parameters
    ----------
    found : Alternatives
    data : TrainingData
        In memory.
    groups : array-like of shape (n,), optional
    name : str
        What the rows are called.

    Returns
    -------
    RowKinds

    Raises
    ------
    TypeError, ValueError
        Other data, rows that are not in memory, or groups of another number of rows.
    """
    _check_data(found, data)
    used = _used(found)
    if groups is not None and data.counts is not None:
        raise ValueError(
            "groups are of rows one by one, but equal rows of these data were merged while they "
            "were read: leave groups out, or read fewer rows"
        )
    return kinds_of(
        name, used, [data.column(j) for j in used.tolist()],
        positive=data.labels > 0, weight=data.sample_weight, groups=groups, numbers=data.counts,
        n_rows=data.n_rows,
    )  # fmt: skip


def check_losses(found: Alternatives, losses: NDArray[np.float64]) -> None:
    """Make sure that rows are those that alternatives were found on.

    Parameters
    ----------
    found : Alternatives
    losses : ndarray of float64, shape (m,)
        Of each alternative on the rows.

    Raises
    ------
    ValueError
        They are others.
    """
    expected = pool_of(found).objectives - found.penalties
    if not np.allclose(losses, expected, rtol=_SAME_LOSS, atol=_SAME_LOSS):
        raise ValueError(
            "data has other rows, labels or weights than the alternatives were found on: the "
            f"loss of the best score is {losses[0]:.6g} here, and {expected[0]:.6g} there. Give "
            "these rows as X_test and y_test, or another name to a sample"
        )


def held_out_kinds(
    found: Alternatives,
    data: TrainingData,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    name: str = TEST,
) -> RowKinds:
    """Take other rows together, given as features or as raw columns.

    Parameters
    ----------
    found : Alternatives
    data : TrainingData
        That the alternatives were found on, which know how features are made of raw columns.
    X : array-like, data frame, mapping, list of records, or TrainingData
        As in :meth:`RiskScore.score_samples`.
    y : array-like of shape (n,), optional
    sample_weight, groups : array-like of shape (n,), optional
    name : str
        What the rows are called.

    Returns
    -------
    RowKinds

    Raises
    ------
    TypeError, ValueError
        As in :meth:`RiskScore.report`.
    """
    _check_data(found, data, needs_rows=False)
    if isinstance(X, TrainingData):
        if y is not None or sample_weight is not None:
            raise ValueError("TrainingData has its labels and weights: leave y and weights out")
        _check_data(found, X)
        return training_kinds(found, X, groups, name)
    reader = reader_of(found, data)
    used = _used(found)
    names = [data.feature_names[j] for j in used.tolist()]
    rows = rows_of(reader, named_rows(reader, X))
    values = rows.values()
    positive = None if y is None else is_positive(y, data.classes, rows.n_samples)
    weight = None if sample_weight is None else checked_weights(sample_weight, rows.n_samples)
    if weight is not None and not weight.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return kinds_of(
        name, used, [values[one] for one in names],
        positive=positive, weight=weight, groups=groups, n_rows=rows.n_samples,
    )  # fmt: skip


def reader_of(found: Alternatives, data: TrainingData) -> RiskScore:
    """Return a score of all items, which reads rows as each of the alternatives would.

    Parameters
    ----------
    found : Alternatives
    data : TrainingData
        That they were found on.

    Returns
    -------
    RiskScore
        Its risks mean nothing.
    """
    used = _used(found)
    coef = np.zeros(data.n_features + 1, np.int64)
    coef[1 + used] = 1
    reader = RiskScore.from_coefficients(coef, data)
    return reader if data.encoder is None or not len(used) else reader.with_variables(data.encoder)


def _are_small(column: NDArray[Any]) -> bool:
    """True if values are whole numbers of a byte."""
    if column.dtype == np.int8:
        return True
    is_within = column.min() >= -128 and column.max() <= 127
    return bool(is_within and (column == np.rint(column)).all())


def _used(found: Alternatives) -> NDArray[np.intp]:
    return np.flatnonzero(pool_of(found).coefficients[:, 1:].any(axis=0))


def _check_data(found: Alternatives, data: Any, *, needs_rows: bool = True) -> None:
    if not isinstance(data, TrainingData):
        raise TypeError(
            "data must be the TrainingData that the alternatives were found on "
            f"(riskslim.read(X, y)), got {type(data).__name__}"
        )
    if found.solution.feature_names != data.feature_names:
        raise ValueError(
            f"the alternatives are of {len(found.solution.feature_names)} features that are not "
            f"the {data.n_features} features of the data; pass the data that they were found on"
        )
    if needs_rows and not data.rows.is_block:
        raise ValueError(
            "the rows of these data are not in memory: pass a sample of them, "
            "riskslim.sampled(data, 200_000)"
        )


def _coded(
    groups: Any, n_rows: int, counted: NDArray[np.bool_]
) -> tuple[tuple[Any, ...], NDArray[np.intp]]:
    """Labels of groups in sorted order, those without one last, and the place of each row."""
    if groups is None:
        return (), np.zeros(n_rows, np.intp)
    labels = values_of(groups, "groups")
    check_length("groups", len(labels), n_rows)
    labels, missing = group_labels(labels)
    known = np.unique(labels[counted & ~missing])
    names, place = known.tolist(), np.zeros(n_rows, np.intp)
    is_other = missing.copy()
    if names:
        place = np.searchsorted(known, labels).clip(max=len(names) - 1)
        is_other |= known[place] != labels  # rows without weight alone have this label
    if (missing & counted).any():
        names.append(MISSING)
    return tuple(names), np.where(is_other, len(known), place).astype(np.intp)
