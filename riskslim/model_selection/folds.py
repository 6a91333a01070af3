"""Folds: which rows a model is tested on, as numbers, files or scikit-learn's splitters."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._checks import as_int, is_int
from riskslim._writing import write_file
from riskslim.data.faults import missing_among
from riskslim.data.tables import values_of
from riskslim.metrics.rows import check_same_length, positive_rows

__all__ = ["Split", "read_folds", "splits_of", "stratified_folds", "write_folds"]

_HEADER = "fold"


class Split(NamedTuple):
    """Rows to fit a model to, and rows to test it on.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.model_selection import Split
    >>> split = Split(train=np.array([0, 1, 2]), test=np.array([3]))
    >>> len(split.train), len(split.test)
    (3, 1)
    """

    train: NDArray[np.intp]
    test: NDArray[np.intp]


def stratified_folds(
    y: ArrayLike, n_folds: int = 5, *, groups: ArrayLike | None = None, random_state: int = 0
) -> NDArray[np.int64]:
    """Number the rows by folds, each with about the same share of positive rows.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of two classes.
    n_folds : int, default 5
        At least 2.
    groups : array-like of shape (n,), optional
        Rows with the same label, such as the visits of one patient, are in the same fold.
    random_state : int, default 0
        The same seed gives the same folds.

    Returns
    -------
    ndarray of int64, shape (n,)
        0, ..., ``n_folds`` - 1: the fold in which a row is tested, from
        :class:`sklearn.model_selection.StratifiedKFold`, or with groups from
        :class:`sklearn.model_selection.StratifiedGroupKFold`.

    Raises
    ------
    TypeError, ValueError
        ``n_folds`` is no int; labels are missing; one class has fewer rows, or is in fewer groups,
        than there are folds.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim.model_selection import stratified_folds
    >>> y = np.repeat([0, 1], [6, 3])
    >>> folds = stratified_folds(y, 3)
    >>> np.bincount(folds), np.bincount(folds[y == 1])
    (array([3, 3, 3]), array([1, 1, 1]))
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    positive = positive_rows(y)
    n_folds = as_int(n_folds, "n_folds")
    group = np.arange(len(positive)) if groups is None else _numbers_of(groups, positive)
    smaller = min(len(np.unique(group[rows])) for rows in (positive, ~positive))
    if smaller < n_folds:
        what = "has" if groups is None else "is in"
        kind = "rows" if groups is None else "groups"
        raise ValueError(
            f"n_splits={n_folds} cannot be greater than the number of members in each class: the "
            f"smaller class {what} {smaller} of {len(np.unique(group))} {kind}"
        )
    X = np.zeros((len(positive), 1))
    if groups is None:
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
        pairs = splitter.split(X, positive)
    else:
        # Equal groups are taken in the order of their numbers, which are drawn here: the
        # shuffling of StratifiedGroupKFold counts labels for other groups than their own in some
        # versions.
        drawn = np.random.default_rng(random_state).permutation(group.max() + 1)
        pairs = StratifiedGroupKFold(n_folds).split(X, positive, drawn[group])
    folds = np.empty(len(positive), np.int64)
    for k, (_, test) in enumerate(pairs):
        folds[test] = k
    return folds


def _numbers_of(groups: Any, y: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Number the groups of rows in the order in which they appear."""
    labels = values_of(groups, "groups")
    check_same_length(y, labels)
    if (missing := missing_among(labels)).any():
        raise ValueError(
            f"groups has {missing.sum()} missing labels, first at row {missing.argmax()} (rows "
            "counted from 0): give rows that belong to no other ones a group of their own"
        )
    known: dict[Any, int] = {}
    return np.array([known.setdefault(label, len(known)) for label in labels.tolist()], np.intp)


def write_folds(path: str | os.PathLike[str], folds: ArrayLike) -> None:
    """Write the fold of each row to a CSV file with the column "fold".

    Parameters
    ----------
    path : str or path-like
    folds : array-like of int, shape (n,)

    Raises
    ------
    ValueError
        The numbers are no folds.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from riskslim.model_selection import read_folds, stratified_folds, write_folds
    >>> path = Path(tempfile.mkdtemp(), "folds.csv")
    >>> write_folds(path, stratified_folds([0, 1] * 10, 5))
    >>> read_folds(path)[:5]
    array([1, 1, 4, 2, 2])
    """
    numbers = _checked_folds(folds, None)
    write_file(path, "\n".join([_HEADER, *map(str, numbers.tolist()), ""]))


def read_folds(path: str | os.PathLike[str], *, column: str | None = None) -> NDArray[np.int64]:
    """Read the fold of each row from a CSV file.

    Parameters
    ----------
    path : str or path-like
        One line for each row of the data, in their order, beneath a line of names; a file with one
        column may have no line of names.
    column : str, optional
        Which column. Default: "fold", or the only one.

    Returns
    -------
    ndarray of int64, shape (n,)

    Raises
    ------
    OSError
        The file cannot be read.
    ValueError
        There is no such column, or what it holds is no fold; the line is named.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from riskslim.model_selection import read_folds, write_folds
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "folds.csv")
    ...     write_folds(path, [0, 1, 1, 0])
    ...     read_folds(path)
    array([0, 1, 1, 0])
    """
    with Path(path).open(newline="", encoding="utf-8-sig") as file:
        try:
            lines = [(number, line) for number, line in enumerate(csv.reader(file), 1) if line]
        except (csv.Error, UnicodeDecodeError) as error:
            raise ValueError(f"{path} cannot be read as a CSV file of folds: {error}") from None
    if not lines:
        raise ValueError(f"{path} is empty; expected a line with the fold of each row")
    names = [name.strip() for name in lines[0][1]]
    if len(names) == 1 and column is None:
        position = 0
        if not _is_number(names[0]):
            del lines[0]
    else:
        wanted = _HEADER if column is None else column
        if wanted not in names:
            raise ValueError(f"{path} has no column {wanted!r}; its columns are {names}")
        position = names.index(wanted)
        del lines[0]
    folds = []
    for number, line in lines:
        value = _as_integer(line[position]) if position < len(line) else None
        if value is None:
            raise ValueError(
                f"{path}, line {number}: expected a whole number, the fold of the row, got "
                f"{line[position : position + 1]}"
            )
        folds.append(value)
    return _checked_folds(folds, None)


def _as_integer(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _is_number(text: str) -> bool:
    """True if a line of names is none: the fold of a row, or what was meant to be one."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _checked_folds(folds: ArrayLike, n_samples: int | None) -> NDArray[np.int64]:
    numbers = np.asarray(folds)
    if numbers.ndim != 1:
        raise ValueError(f"folds must have one number for each row, got the shape {numbers.shape}")
    if n_samples is not None and len(numbers) != n_samples:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{n_samples}, "
            f"{len(numbers)}] (the data have {n_samples} rows, the folds {len(numbers)})"
        )
    whole = numbers.astype(np.int64) if numbers.dtype.kind in "iufb" else None
    if whole is None or not np.array_equal(whole, numbers) or (whole < 0).any():
        raise ValueError("folds must be whole numbers of at least 0, one for each row")
    if len(np.unique(whole)) < 2:
        raise ValueError("at least two folds are needed, got the same number for all rows")
    return whole


def splits_of(
    cv: Any,
    X: Any,
    y: NDArray[np.bool_],
    sample_weight: NDArray[np.float64] | None = None,
    *,
    groups: ArrayLike | None = None,
    random_state: int = 0,
) -> list[Split]:
    """Turn any way of stating folds into rows to train on and rows to test on.

    Parameters
    ----------
    cv : int, array-like of int, path, splitter, or iterable of pairs
        A number of stratified folds; the fold of each row, or a file of them; an object of
        scikit-learn with ``split``; or pairs (train, test) of row numbers or masks.
    X
        Passed on to the splitter.
    y : ndarray of bool, shape (n,)
        Which rows are positive.
    sample_weight : ndarray of float64, shape (n,), optional
    groups : array-like of shape (n,), optional
        Rows that no fold may part; passed on to the splitter.
    random_state : int, default 0
        Seed of stratified folds.

    Returns
    -------
    list of Split

    Raises
    ------
    ValueError, TypeError
        Folds that do not fit the data, that have training rows of one class only, or no test rows,
        or that part a group; the fold is named.
    """
    group = None if groups is None else _numbers_of(groups, y)
    splits = _splits(cv, X, y, groups, random_state)
    if len(splits) < 2:
        raise ValueError(f"at least two folds are needed, got {len(splits)}")
    for number, split in enumerate(splits):
        _check_split(number, split, y, sample_weight)
        if group is not None:
            _check_groups(number, split, group)
    return splits


def _splits(
    cv: Any, X: Any, y: NDArray[np.bool_], groups: ArrayLike | None, random_state: int
) -> list[Split]:
    if is_int(cv):
        cv = stratified_folds(y, int(cv), groups=groups, random_state=random_state)
    elif isinstance(cv, (str, os.PathLike)):
        cv = read_folds(cv)
    if hasattr(cv, "split"):
        pairs: Iterable[Any] = cv.split(X, y, groups)
    elif _is_pairs(cv):
        pairs = cv
    else:
        folds = _checked_folds(cv, len(y))
        pairs = [(folds != k, folds == k) for k in np.unique(folds)]
    return [Split(_as_rows(train, len(y)), _as_rows(test, len(y))) for train, test in pairs]


def _is_pairs(cv: Any) -> bool:
    """True if these are pairs of arrays; anything else is the fold of each row."""
    if not isinstance(cv, Iterable):
        raise TypeError(
            "cv must be a number of folds, the fold of each row, a file of them, a splitter of "
            f"scikit-learn, or pairs of rows (train, test), got {cv!r}"
        )
    if isinstance(cv, (list, tuple)):
        return bool(cv) and np.iterable(cv[0])
    return not hasattr(cv, "__len__")  # a generator of pairs


def _as_rows(rows: Any, n_samples: int) -> NDArray[np.intp]:
    array = np.asarray(rows)
    if array.dtype.kind == "b":
        array = np.flatnonzero(array)
    if array.size and (array.min() < 0 or array.max() >= n_samples):
        raise ValueError(
            f"a fold has the row {array.max() if array.max() >= n_samples else array.min()}, but "
            f"rows are numbered 0 to {n_samples - 1}"
        )
    return array.astype(np.intp)


def _check_split(
    number: int, split: Split, y: NDArray[np.bool_], sample_weight: NDArray[np.float64] | None
) -> None:
    is_train = np.zeros(len(y), np.bool_)
    is_train[split.train] = True
    if is_train[split.test].any():
        raise ValueError(f"fold {number} trains on rows that it tests on")
    train, test = (
        rows if sample_weight is None else rows[sample_weight[rows] > 0] for rows in split
    )
    for sign, present in (("positive", y[train].any()), ("negative", (~y[train]).any())):
        if not present:
            raise ValueError(
                f"fold {number} has no {sign} row (with a weight above zero) among its "
                f"{len(split.train)} train rows: a risk score needs both classes there. Use fewer "
                "or stratified folds, as cv=5 does"
            )
    # Of one class alone, as those of a site may be, they have no AUC, and all other metrics.
    if not len(test):
        raise ValueError(f"fold {number} has no test row (with a weight above zero)")


def _check_groups(number: int, split: Split, group: NDArray[np.intp]) -> None:
    """Refuse to test on rows whose group is in the training rows."""
    parted = split.test[np.isin(group[split.test], group[split.train])]
    if len(parted):
        raise ValueError(
            f"fold {number} parts {len(np.unique(group[parted]))} of the groups: it tests on row "
            f"{parted[0]} (rows counted from 0) and trains on others of the same group. Use a "
            "number of folds, cv=5, or a splitter that heeds groups, "
            "cv=StratifiedGroupKFold(n_splits=5)"
        )
