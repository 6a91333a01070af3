"""Facts about each column of a table, found in one pass over its batches.

A :class:`ColumnSummary` counts the distinct values of a column while they are few, and knows its
range and its faults in any case. A :class:`TableSummary` has one of each column, and a sample of
the rows for columns of numbers with too many values to count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim.data.faults import EXACT_INTEGER_LIMIT, Column, ColumnError, check_not_mixed
from riskslim.data.tables import series_values

if TYPE_CHECKING:
    import pyarrow

__all__ = [
    "MAX_DISTINCT",
    "SAMPLE_ROWS",
    "ColumnSummary",
    "RowSample",
    "TableSummary",
    "numbers_of",
]

# Distinct values of a column that are counted; columns with more are sampled.
MAX_DISTINCT = 2**16
# Rows of the sample of columns that have more.
SAMPLE_ROWS = 200_000

# A batch of integers within a range as narrow as this is counted by a table of the range.
_NARROW = 4096

# Weight of a value that a sample lacks, beside those of its rows.
_NEXT_TO_NOTHING = 1e-200


@dataclass
class _Fault:
    """Rows with one kind of fault: how many, and the first of all."""

    count: int = 0
    first: int = 0

    def add(self, where: NDArray[np.bool_], first_row: int) -> None:
        count = int(np.count_nonzero(where))
        if count and not self.count:
            self.first = first_row + int(np.argmax(where))
        self.count += count

    def take_over(self, other: _Fault, first_row: int) -> None:
        if other.count and not self.count:
            self.first = first_row + other.first
        self.count += other.count


class _Counts(NamedTuple):
    """Rows that have each value, those of positive weight among them, weights, and events."""

    rows: NDArray[np.int64]
    counted: NDArray[np.int64]
    weights: NDArray[np.float64]
    events: NDArray[np.float64] | None = None  # weights of the rows with the outcome

    @classmethod
    def of_rows(cls, rows: NDArray[np.int64]) -> _Counts:
        return cls(rows, rows, rows.astype(np.float64))

    @classmethod
    def of(
        cls,
        codes: Column,
        n: int,
        weights: NDArray[np.float64] | None,
        events: NDArray[np.float64] | None,
    ) -> _Counts:
        """Count codes 0 .. n - 1."""
        counts = cls.of_rows(np.bincount(codes, minlength=n))
        if weights is not None:
            counted = np.bincount(codes[weights > 0], minlength=n)
            sums = np.asarray(np.bincount(codes, weights, minlength=n), np.float64)
            counts = counts._replace(counted=counted, weights=sums)
        if events is None:
            return counts
        return counts._replace(events=np.asarray(np.bincount(codes, events, n), np.float64))

    def at(self, chosen: NDArray[np.intp]) -> _Counts:
        events = None if self.events is None else self.events[chosen]
        return _Counts(self.rows[chosen], self.counted[chosen], self.weights[chosen], events)


class ColumnSummary:
    """Facts about one column.

    Parameters
    ----------
    name : str
    kind : pyarrow.DataType
    most : int
        Distinct values that are counted; 0: none.
    special : tuple of float, default ()
        Numbers that are no measurements: the range is without them.

    Attributes
    ----------
    is_categorical : bool
        Whether the type of the column says that its values are levels.
    is_numeric : bool
        Whether it has numbers.
    is_counted : bool
        Whether all of its distinct values are known.
    n_rows, n_counted : int
        All rows, and those with a positive weight.
    minimum, maximum : float
        Of the numbers in all rows, without special ones.
    are_integers : bool
        Whether all of the numbers are whole.
    faults : dict from str to faults
        Rows with missing, infinite and inexact values.
    """

    def __init__(
        self, name: str, kind: pyarrow.DataType, most: int, special: tuple[float, ...] = ()
    ) -> None:
        from pyarrow import types

        self.name = name
        self.is_categorical = types.is_dictionary(kind)
        self.kind = kind.value_type if self.is_categorical else kind
        self.most = most
        self.is_text = types.is_string(self.kind) or types.is_large_string(self.kind)
        self.is_boolean = types.is_boolean(self.kind)
        self.is_integer = types.is_integer(self.kind)
        self.is_numeric = (
            self.is_boolean
            or self.is_integer
            or types.is_floating(self.kind)
            or types.is_decimal(self.kind)
        )
        self.is_temporal = types.is_temporal(self.kind)
        self.can_count = self.is_numeric or self.is_text or self.is_temporal
        self.is_counted = most > 0 and self.can_count
        if self.is_text and not most:  # what is text, and why, is to be said of columns of numbers
            self.most, self.is_counted = MAX_DISTINCT, True
        self.special = special if self.is_numeric and not self.is_categorical else ()
        self._special_rows = dict.fromkeys(self.special, 0)  # those with a positive weight
        self.n_rows = self.n_counted = 0
        self.n_missing_counted = 0
        self.minimum, self.maximum, self.are_integers = np.inf, -np.inf, True
        self.faults = {kind: _Fault() for kind in ("missing", "infinite", "inexact")}
        self._values: Any = None  # distinct values, an Arrow array
        self._all = self._counted = self._first = np.empty(0, np.int64)
        self._weights = self._events = np.empty(0)
        self._missing_weight = 0.0
        self._shown = np.empty(0, np.intp)  # positions of the values in the short column

    @property
    def n_missing(self) -> int:
        """Rows without a value."""
        return self.faults["missing"].count

    @property
    def special_found(self) -> list[float]:
        """Special values that rows with a positive weight have."""
        return [value for value, count in self._special_rows.items() if count]

    def add(
        self,
        batch: pyarrow.Array,
        weights: NDArray[np.float64] | None,
        first_row: int,
        events: NDArray[np.float64] | None = None,
    ) -> None:
        """Take over the column of a batch of rows.

        Parameters
        ----------
        batch : pyarrow.Array
        weights : float64 array, optional
            Not negative.
        first_row : int
            Number of the first row among those of all batches.
        events : float64 array, optional
            Weights of the rows with the outcome, 0 of others; of all batches or of none.
        """
        if self.is_categorical:
            batch = batch.dictionary_decode()
        self.n_rows += len(batch)
        counted = None if weights is None else weights > 0
        self.n_counted += len(batch) if counted is None else int(np.count_nonzero(counted))
        if self.is_boolean:
            batch = batch.cast("uint8")
        missing = self._missing(batch)
        if missing is not None:
            self.faults["missing"].add(missing, first_row)
            of_those = missing if counted is None else missing & counted
            self.n_missing_counted += int(np.count_nonzero(of_those))
            self._missing_weight += float(
                np.count_nonzero(missing) if weights is None else weights.sum(where=missing)
            )
        numbers = numbers_of(batch) if self.is_numeric else None
        apart = missing
        if numbers is not None and self.special:
            apart = self._special_or_missing(numbers, missing, counted)
        if numbers is not None and self._count_narrow(
            numbers, missing, apart, weights, events, first_row
        ):
            return
        if numbers is not None:
            self._note_range(numbers, apart, first_row)
        if self.is_counted:
            self._count(batch, missing, weights, events, first_row)

    def _missing(self, batch: Any) -> NDArray[np.bool_] | None:
        import pyarrow.compute as compute

        if not batch.null_count and (self.is_integer or self.is_boolean or not self.is_numeric):
            return None
        missing = compute.is_null(batch, nan_is_null=True).to_numpy(zero_copy_only=False)
        return missing if missing.any() else None

    def _special_or_missing(
        self,
        numbers: Column,
        missing: NDArray[np.bool_] | None,
        counted: NDArray[np.bool_] | None,
    ) -> NDArray[np.bool_] | None:
        """Count special values, and say which rows have no measurement."""
        apart = np.zeros(len(numbers), np.bool_) if missing is None else missing.copy()
        for value in self.special:
            found = numbers == (np.float64(value) if numbers.dtype.kind == "f" else value)
            if missing is not None:
                found &= ~missing
            apart |= found
            self._special_rows[value] += int(
                np.count_nonzero(found if counted is None else found & counted)
            )
        return apart if apart.any() else None

    def _count_narrow(
        self,
        numbers: Column,
        missing: NDArray[np.bool_] | None,
        apart: NDArray[np.bool_] | None,
        weights: NDArray[np.float64] | None,
        events: NDArray[np.float64] | None,
        first_row: int,
    ) -> bool:
        """Count integers of a narrow range, which needs no hashing; False if they are none."""
        if numbers.dtype.kind not in "iu" or not len(numbers):
            return False
        measured = numbers if apart is None else numbers[~apart]
        if missing is not None:
            numbers = numbers[~missing]
            weights = None if weights is None else weights[~missing]
            events = None if events is None else events[~missing]
            if not len(numbers):
                return True
        low, high = int(numbers.min()), int(numbers.max())
        if high - low >= _NARROW:
            return False
        if len(measured):
            self.minimum = min(self.minimum, int(measured.min()))
            self.maximum = max(self.maximum, int(measured.max()))
            self._check_exact(numbers, first_row)
        if not self.is_counted:
            return True
        if numbers.dtype.itemsize == 1:
            codes = numbers.view(np.uint8)
            values = np.arange(256, dtype=np.uint8).view(numbers.dtype)
        else:
            codes, values = numbers - low, np.arange(low, high + 1).astype(numbers.dtype)
        if weights is None and events is None and (low, high) == (0, 1):
            n_ones = int(np.count_nonzero(codes))
            counts = _Counts.of_rows(np.array([len(codes) - n_ones, n_ones]))
            values = values[:2]
        else:
            counts = _Counts.of(codes, len(values), weights, events)
        there = np.flatnonzero(counts.rows)
        self._enter(
            _as_arrow(values[there]), lambda: np.full(len(there), first_row), counts.at(there)
        )
        return True

    def _note_range(self, numbers: Column, apart: NDArray[np.bool_] | None, first_row: int) -> None:
        values = np.asarray(numbers, dtype=np.float64)
        known = values if apart is None else values[~apart]
        if not len(known):
            return
        self.minimum = min(self.minimum, float(known.min()))
        self.maximum = max(self.maximum, float(known.max()))
        if numbers.dtype.kind in "iu":
            self._check_exact(values, first_row)
            return
        if self.are_integers:
            self.are_integers = bool(np.array_equal(known, np.rint(known)))
        if not np.isfinite(self.minimum) or not np.isfinite(self.maximum):
            self.faults["infinite"].add(np.isinf(values), first_row)

    def _check_exact(self, numbers: Column, first_row: int) -> None:
        if max(abs(self.minimum), abs(self.maximum)) >= EXACT_INTEGER_LIMIT:
            values = np.asarray(numbers, dtype=np.float64)
            self.faults["inexact"].add(np.abs(values) >= EXACT_INTEGER_LIMIT, first_row)

    def _count(
        self,
        batch: Any,
        missing: NDArray[np.bool_] | None,
        weights: NDArray[np.float64] | None,
        events: NDArray[np.float64] | None,
        first_row: int,
    ) -> None:
        rows = None
        if missing is not None:
            rows = np.flatnonzero(~missing)
            batch = batch.take(_as_arrow(rows))
            weights = None if weights is None else weights[rows]
            events = None if events is None else events[rows]
        coded = batch.dictionary_encode()
        values, codes = coded.dictionary, np.asarray(coded.indices)

        def first() -> NDArray[np.int64]:
            at = np.empty(len(values), np.int64)
            backwards = np.arange(len(codes) - 1, -1, -1)
            at[codes[backwards]] = backwards if rows is None else rows[backwards]
            return first_row + at

        self._enter(values, first, _Counts.of(codes, len(values), weights, events))

    def _enter(self, values: Any, first: Callable[[], NDArray[np.int64]], counts: _Counts) -> None:
        """Add distinct values of a batch to those that are known."""
        import pyarrow
        import pyarrow.compute as compute

        if self._values is None:
            self._values = values.slice(0, 0)
        known = compute.index_in(values, value_set=self._values)
        at = np.asarray(known.fill_null(-1)).astype(np.int64)
        new = np.flatnonzero(at < 0)
        if len(new):
            if len(self._values) + len(new) > self.most:
                self._values, self.is_counted = None, False
                return
            at[new] = len(self._values) + np.arange(len(new))
            added = values.take(_as_arrow(new))
            self._values = pyarrow.concat_arrays([self._values, added])
            self._first = np.concatenate([self._first, first()[new]])
            room = np.zeros(len(new), np.int64)
            self._all = np.concatenate([self._all, room])
            self._counted = np.concatenate([self._counted, room])
            self._weights = np.concatenate([self._weights, room])
            self._events = np.concatenate([self._events, room])
        self._all[at] += counts.rows
        self._counted[at] += counts.counted
        self._weights[at] += counts.weights
        if counts.events is not None:
            self._events[at] += counts.events

    def take_over(self, other: ColumnSummary) -> None:
        """Add what a summary of the rows that come next has found out.

        Parameters
        ----------
        other : ColumnSummary
            Of the same column. Its values are of a type that becomes that of this one without
            loss, or there are none.
        """
        from pyarrow import types

        first_row = self.n_rows
        self.n_rows += other.n_rows
        self.n_counted += other.n_counted
        self.n_missing_counted += other.n_missing_counted
        self._missing_weight += other._missing_weight
        for value, count in other._special_rows.items():
            self._special_rows[value] += count
        self.minimum = min(self.minimum, other.minimum)
        self.maximum = max(self.maximum, other.maximum)
        self.are_integers = self.are_integers and other.are_integers
        for kind, fault in other.faults.items():
            self.faults[kind].take_over(fault, first_row)
        if not self.is_counted or types.is_null(other.kind):
            return
        if not other.is_counted:
            self._values, self.is_counted = None, False
        elif other._values is not None:
            self._enter(
                other._values.cast("uint8" if self.is_boolean else self.kind),
                lambda: first_row + other._first,
                _Counts(other._all, other._counted, other._weights, other._events),
            )

    def values(self, *, counted: bool) -> tuple[Column, NDArray[np.float64], NDArray[np.int64]]:
        """Return the distinct values as a short column, with a missing one if there is any.

        Parameters
        ----------
        counted : bool
            Without those that only rows of weight zero have.

        Returns
        -------
        values : ndarray of shape (m,)
            As all rows together would come from a table.
        weights : ndarray of float64, shape (m,)
            Sums of the weights of their rows.
        counts : ndarray of int64, shape (m,)
        """
        import pyarrow

        kind = self.kind
        if self._values is None:
            self._values = pyarrow.array([], "uint8" if self.is_boolean else kind)
        n = self._counted if counted else self._all
        there = np.flatnonzero(n)
        parts = [self._values.take(_as_arrow(there)).cast(kind)]
        weights, counts = self._weights[there], n[there]
        n_missing = self.n_missing_counted if counted else self.n_missing
        if n_missing:
            parts.append(pyarrow.nulls(1, kind))
            weights, counts = np.append(weights, self._missing_weight), np.append(counts, n_missing)
        self._shown = there
        return series_values(pyarrow.chunked_array(parts, type=kind)), weights, counts

    def events(self) -> NDArray[np.float64]:
        """Weights of the rows with the outcome, of each value that :meth:`values` counted.

        Returns
        -------
        ndarray of float64, shape (m,)
            0 of a missing value.
        """
        events = self._events[np.flatnonzero(self._counted)]
        return np.append(events, 0.0) if self.n_missing_counted else events

    def located(self, fault: ColumnError) -> ColumnError:
        """Return a fault of the short column as one of all rows."""
        known = self.faults.get(fault.kind)
        if known is not None and known.count:
            return ColumnError(fault.kind, known.count, known.first, fault.example)
        if fault.mask is not None and len(fault.mask) >= len(self._shown):
            chosen = self._shown[fault.mask[: len(self._shown)]]
            if len(chosen):
                count, first = int(self._all[chosen].sum()), int(self._first[chosen].min())
                return ColumnError(fault.kind, count, first, fault.example)
        return ColumnError(fault.kind, self.n_rows, 0, fault.example)


class TableSummary:
    """Facts about all columns of a table that comes in batches.

    Parameters
    ----------
    names : sequence of str
    kinds : sequence of pyarrow.DataType
    most : int, default MAX_DISTINCT
        Distinct values of a column that are counted; 0: none.
    sample_rows : int, default SAMPLE_ROWS
        Rows that are drawn of columns with more.
    seed : int, default 0
        Of that sample.
    special : mapping from str to tuple of float, optional
        Numbers that are no measurements, by column.

    Attributes
    ----------
    columns : list of ColumnSummary
    n_rows, n_counted : int
        All rows, and those with a positive weight.
    has_events : bool
        Whether it is known which rows have the outcome.
    place : callable or None
        Says of a row, counted from 0 in all batches, where it is.
    """

    def __init__(
        self,
        names: Sequence[str],
        kinds: Sequence[pyarrow.DataType],
        *,
        most: int = MAX_DISTINCT,
        sample_rows: int = SAMPLE_ROWS,
        seed: int = 0,
        special: Mapping[str, tuple[float, ...]] = MappingProxyType({}),
    ) -> None:
        self.columns = [
            ColumnSummary(name, kind, most, special.get(name, ()))
            for name, kind in zip(names, kinds, strict=True)
        ]
        self.n_rows = self.n_counted = 0
        self.has_events = False
        self.place: Callable[[int], str] | None = None
        # A column of bytes or truth values cannot have so many values.
        drawn = [
            j
            for j, column in enumerate(self.columns)
            if column.is_counted and column.is_numeric and not column.is_categorical
            and not column.is_boolean and not (column.is_integer and kinds[j].bit_width == 8)
        ]  # fmt: skip
        self._sample = RowSample(drawn, sample_rows, seed)

    def add(
        self,
        batch: pyarrow.RecordBatch,
        weights: NDArray[np.float64] | None = None,
        events: NDArray[np.float64] | None = None,
    ) -> None:
        """Take over a batch of rows.

        Parameters
        ----------
        batch : pyarrow.RecordBatch
            With the columns in the order of the names.
        weights : float64 array, optional
            Not negative.
        events : float64 array, optional
            Weights of the rows with the outcome, 0 of others.
        """
        self.has_events = events is not None
        for j, column in enumerate(self.columns):
            column.add(batch.column(j), weights, self.n_rows, events)
        self._sample.add(batch, weights, self.n_rows, events)
        self.n_rows += batch.num_rows
        self.n_counted += batch.num_rows if weights is None else int(np.count_nonzero(weights > 0))

    def take_over(self, other: TableSummary) -> None:
        """Add what a summary of the rows that come next has found out, but for its sample.

        Parameters
        ----------
        other : TableSummary
            Of the same columns; see :meth:`ColumnSummary.take_over`.
        """
        for own, of_other in zip(self.columns, other.columns, strict=True):
            own.take_over(of_other)
        self.n_rows += other.n_rows
        self.n_counted += other.n_counted
        self.has_events = other.has_events

    @property
    def sampled(self) -> list[int]:
        """Columns of numbers that have too many values to count."""
        return [j for j in self._sample.columns if not self.columns[j].is_counted]

    def set_sample(self, sample: RowSample) -> None:
        """Use a sample of the rows that was drawn apart.

        Parameters
        ----------
        sample : RowSample
            Of the columns that are :attr:`sampled`.
        """
        self._sample = sample

    def short_column(
        self, j: int
    ) -> tuple[Column, NDArray[np.float64], NDArray[np.int64] | None, NDArray[np.float64] | None]:
        """Return values of a column that stand for those of all rows with a positive weight.

        Parameters
        ----------
        j : int

        Returns
        -------
        values : ndarray of shape (m,)
        weights : ndarray of float64, shape (m,)
            Positive.
        counts : ndarray of int64, shape (m,), or None
            How many rows have each value; None: the values are a sample of rows, to which the
            extreme ones, special ones and a missing one are added.
        events : ndarray of float64, shape (m,), or None
            Weights of the rows with the outcome, if it is known which these are.

        Raises
        ------
        ColumnError
            Values that cannot be used, or too many texts.
        """
        column = self.columns[j]
        if not column.can_count:
            raise ColumnError("object", column.n_rows, 0, repr(str(column.kind)))
        if column.is_counted:
            found = column.values(counted=True)
            return *found, column.events() if self.has_events else None
        if column.is_temporal:
            raise ColumnError("date", column.n_rows, 0)
        if not column.is_numeric:
            raise ColumnError("levels", column.n_rows, 0, f"{column.most:,}")
        for kind in ("infinite", "inexact"):
            if (fault := column.faults[kind]).count:
                raise ColumnError(kind, fault.count, fault.first)
        values, weights, events = self._sample.column(j)
        added = [column.minimum, column.maximum, *column.special_found]
        if column.n_missing_counted and not np.isnan(np.asarray(values, np.float64)).any():
            added.append(np.nan)
        if column.n_missing_counted:
            values = values.astype(np.float64, copy=False)
        values = np.concatenate([values, np.array(added).astype(values.dtype)])
        if events is not None:
            events = np.append(events, np.zeros(len(added)))
        return values, np.append(weights, np.full(len(added), _NEXT_TO_NOTHING)), None, events

    def text_fault(self, j: int) -> ColumnError:
        """Say what speaks against a column of text, or of something else, as numbers.

        Parameters
        ----------
        j : int

        Returns
        -------
        ColumnError
        """
        column = self.columns[j]
        fault = ColumnError("object", column.n_rows, 0, repr(str(column.kind)))
        try:
            values, _, counts, _ = self.short_column(j)
            check_not_mixed(values, counts)
            if column.is_text:
                known = [value for value in values.tolist() if isinstance(value, str)]
                fault = ColumnError("text", column.n_rows, 0, repr(known[0] if known else ""))
            elif values.dtype.kind in "Mm":
                fault = ColumnError("date", column.n_rows, 0)
        except ColumnError as found:
            fault = column.located(found)
        return self.placed(fault)

    def placed(self, fault: ColumnError) -> ColumnError:
        """Return a fault with the file in which its first row is."""
        if self.place is not None:
            fault.place = self.place(fault.first)
        return fault


class RowSample:
    """Rows drawn without replacement, whatever the batches are.

    Each row has a random number, made of its own number and the seed; the rows with the smallest
    ones are the sample.

    Parameters
    ----------
    columns : sequence of int
        Of which values are kept.
    most : int
        Rows to draw.
    seed : int
    """

    def __init__(self, columns: Sequence[int], most: int, seed: int) -> None:
        self.columns, self.most = list(columns), most
        self._key = _mixed(np.array([seed], np.uint64) + np.uint64(0x9E3779B97F4A7C15))[0]
        self._random = np.empty(0, np.uint64)
        self._weights = np.empty(0)
        self._events: NDArray[np.float64] | None = None
        self._parts: list[Any] = []
        self._limit = np.uint64(2**64 - 1)

    def add(
        self,
        batch: pyarrow.RecordBatch,
        weights: NDArray[np.float64] | None,
        first_row: int,
        events: NDArray[np.float64] | None = None,
    ) -> None:
        """Draw from a batch of rows.

        Parameters
        ----------
        batch : pyarrow.RecordBatch
        weights : float64 array, optional
            Rows without weight are not drawn.
        first_row : int
            Number of its first row among all.
        events : float64 array, optional
            Weights of the rows with the outcome, 0 of others.
        """
        if not self.columns or not self.most:
            return
        numbers = np.arange(first_row, first_row + batch.num_rows).astype(np.uint64)
        random = _mixed(numbers ^ self._key)
        chosen = random <= self._limit
        if weights is not None:
            chosen &= weights > 0
        rows = np.flatnonzero(chosen)
        if not len(rows):
            return
        self._random = np.concatenate([self._random, random[rows]])
        weights = np.ones(len(rows)) if weights is None else weights[rows]
        self._weights = np.concatenate([self._weights, weights])
        self._add_events(None if events is None else events[rows])
        self._parts.append(batch.select(self.columns).take(_as_arrow(rows)))
        if len(self._random) > 2 * self.most:
            self._cut()

    def take_over(self, other: RowSample, kinds: Sequence[pyarrow.DataType]) -> None:
        """Add a sample of the rows that come next.

        Parameters
        ----------
        other : RowSample
            Of the same columns.
        kinds : sequence of pyarrow.DataType
            Types of these columns in all rows.
        """
        import pyarrow

        self._random = np.concatenate([self._random, other._random])
        self._weights = np.concatenate([self._weights, other._weights])
        self._add_events(other._events)
        for part in other._parts:
            columns = [column.cast(kind) for column, kind in zip(part.columns, kinds, strict=True)]
            self._parts.append(pyarrow.RecordBatch.from_arrays(columns, part.schema.names))
        if len(self._random) > 2 * self.most:
            self._cut()

    def _add_events(self, events: NDArray[np.float64] | None) -> None:
        if events is not None:
            before = np.empty(0) if self._events is None else self._events
            self._events = np.concatenate([before, events])

    def _cut(self) -> None:
        """Keep the rows with the smallest numbers, in the order of the rows."""
        import pyarrow

        if not self._parts:
            return
        table = pyarrow.Table.from_batches(self._parts)
        if len(self._random) > self.most:
            kept = np.sort(np.argpartition(self._random, self.most - 1)[: self.most])
            self._random, self._weights = self._random[kept], self._weights[kept]
            self._events = None if self._events is None else self._events[kept]
            self._limit = self._random.max()
            table = table.take(_as_arrow(kept))
        self._parts = table.combine_chunks().to_batches()

    def column(self, j: int) -> tuple[Column, NDArray[np.float64], NDArray[np.float64] | None]:
        """Values of a column, the weights of the rows, and those of rows with the outcome."""
        import pyarrow

        self._cut()
        table = pyarrow.Table.from_batches(self._parts)
        values = series_values(table.column(self.columns.index(j)))
        return values, self._weights, self._events


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers that look random, by the finaliser of SplitMix64."""
    with np.errstate(over="ignore"):
        mixed = numbers.copy()
        mixed ^= mixed >> np.uint64(30)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(27)
        mixed *= np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return mixed


def numbers_of(batch: pyarrow.Array, missing: float = 0) -> Column:
    """Return a batch of a column of numbers as an array of their own type.

    Parameters
    ----------
    batch : pyarrow.Array
        Decimals become float64, truth values 0 and 1.
    missing : float, default 0
        Stands where there is no value; NaN makes float64 of integers.

    Returns
    -------
    ndarray of shape (n,)
    """
    from pyarrow import types

    if types.is_boolean(batch.type):
        batch = batch.cast("uint8")
    if types.is_decimal(batch.type) or (batch.null_count and missing != missing):
        batch = batch.cast("float64")
    if batch.null_count:
        batch = batch.fill_null(missing)
    return np.asarray(batch.to_numpy(zero_copy_only=False))


def _as_arrow(values: NDArray[Any]) -> Any:
    import pyarrow

    return pyarrow.array(values)
