"""The rows of files that a saved risk score is applied to."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from riskslim._wording import listing, near
from riskslim.cli.arguments import by_name, bytes_of, checked_unknown_levels, csv_format_of
from riskslim.data.batches import DATA_SUFFIXES, common_schema, find_files, in_schema
from riskslim.data.faults import UnusableColumnsError
from riskslim.data.files import (
    check_one_column,
    hint_on_separator,
    import_pyarrow,
    read_table,
    read_verbatim,
)
from riskslim.data.labels import encode_labels
from riskslim.items.item import source_variable
from riskslim.rows.reading import default_memory_limit
from riskslim.score.observations import class_labels

if TYPE_CHECKING:
    import pyarrow

    from riskslim.data.csv_format import CsvFormat
    from riskslim.items.rules import HandleUnknown
    from riskslim.risk_score import RiskScore

__all__ = ["Applied", "RowsOfFile", "RowsOfFiles", "files_of", "naming"]

# A table of several files is made of those of each, and columns are copied once more from there.
_COPIES = 3


class RowsOfFile(NamedTuple):
    """The rows of one file.

    Attributes
    ----------
    path : Path
    table : pyarrow.Table
        Its columns, by the names that the score knows them by, and the items that it lacks.
    read : pyarrow.Table
        Its columns as they are.
    """

    path: Path
    table: pyarrow.Table
    read: pyarrow.Table


class RowsOfFiles(NamedTuple):
    """The rows of all files, with their labels and weights.

    Attributes
    ----------
    X : pyarrow.Table
    y, sample_weight : pyarrow.ChunkedArray or None
    remarks : tuple of str
        On the rows of each file, with its name where there are several.
    """

    X: pyarrow.Table
    y: Any
    sample_weight: Any
    remarks: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Applied:
    """A saved score, and how files are read that it is applied to.

    Parameters
    ----------
    score : RiskScore
    unknown : {"error", "ignore"}
    csv_format : CsvFormat or None
    memory_limit : int, optional
        Bytes that rows of several files may take. Default: half of the machine's memory.
    what : str, default "this command"
        Who needs the rows, for errors.
    renamed : mapping from str to str, optional
        Columns of the files by the names that the score knows them by.
    positive : str, optional
        The label of rows with the outcome, where files have other labels than the score.
    several : bool, default False
        Rows of other files are read as well, of which only some may have columns to be renamed.
    """

    score: RiskScore
    unknown: HandleUnknown
    csv_format: CsvFormat | None
    memory_limit: int | None = None
    what: str = field(default="this command")
    renamed: Mapping[str, str] = field(default_factory=dict)
    positive: str | None = None
    several: bool = False

    @classmethod
    def of(
        cls,
        score: RiskScore,
        unknown_levels: str,
        csv_options: tuple[list[str] | None, str | None, str | None, str | None],
        *,
        memory_limit: str | None = None,
        what: str = "this command",
        rename: list[str] | None = None,
        positive: str | None = None,
        several: bool = False,
    ) -> Applied:
        """Read the options of a command.

        Parameters
        ----------
        score : RiskScore
        unknown_levels : str
        csv_options : tuple
            Text that means missing, separator, decimal mark, encoding; None where not given.
        memory_limit : str, optional
        what : str, default "this command"
        rename : list of str, optional
            As NAME=COLUMN.
        positive : str, optional
        several : bool, default False

        Returns
        -------
        Applied

        Raises
        ------
        ValueError
            An option cannot be used.
        """
        return cls(
            score=score,
            unknown=checked_unknown_levels(unknown_levels),
            csv_format=csv_format_of(*csv_options, score.csv_format),
            memory_limit=bytes_of(memory_limit),
            what=what,
            renamed=by_name(rename, "--rename", lambda column: column or None, "a column COLUMN"),
            positive=positive,
            several=several,
        )

    def read(self, path: Path, *, several: bool = False) -> RowsOfFile:
        """Read a file, and compute the items that it lacks: :meth:`opened`, :meth:`completed`."""
        return self.completed(self.opened(path, several=several))

    def opened(self, path: Path, *, several: bool = False) -> RowsOfFile:
        """Read a file; its table has no items yet.

        Parameters
        ----------
        path : Path
        several : bool, default False
            It is one of several, of which only some may have columns to be renamed.

        Returns
        -------
        RowsOfFile

        Raises
        ------
        OSError, ValueError, TypeError
            It cannot be read, or has not the columns that are to be renamed.
        """
        read = read_table(path, self.csv_format)
        renamed, names = self.renamed, read.column_names
        if several or self.several:
            renamed = {
                name: column
                for name, column in renamed.items()
                if column in names or name not in names
            }
        return RowsOfFile(path, _renamed(read, path, renamed), read)

    def completed(self, rows: RowsOfFile) -> RowsOfFile:
        """Compute the items that rows lack.

        Parameters
        ----------
        rows : RowsOfFile
            Of :meth:`opened`; its table may have some of the rows alone.

        Returns
        -------
        RowsOfFile

        Raises
        ------
        ValueError, TypeError
            The rows lack columns that the score needs, which are named, or have values of which no
            items can be made.
        """
        with naming(rows.path):
            table = self.score.with_items(rows.table, handle_unknown=self.unknown)
        _check_features(table, rows.table.column_names, self.score, rows.path)
        return rows._replace(table=table)

    def identifiers(self, rows: RowsOfFile, name: str) -> pyarrow.ChunkedArray:
        """Return a column as it stands in the file.

        Parameters
        ----------
        rows : RowsOfFile
        name : str

        Returns
        -------
        pyarrow.ChunkedArray

        Raises
        ------
        ValueError
            There is no such column, or there are several.
        """
        known = self.known_as(name, "--id")
        column = self.renamed.get(known, known)
        if column not in rows.read.column_names:  # one of several files that has the name already
            column = known
        check_one_column(rows.path, rows.read.column_names, column, " (--id)")
        return read_verbatim(rows.path, rows.read, column, self.csv_format)

    def known_as(self, name: str, option: str) -> str:
        """Return the name that a column has once columns are renamed; options may give either.

        Parameters
        ----------
        name : str
            That name, or the one in the files.
        option : str
            Which names it, for errors.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            It is the new name of one column, and the name in the files of another.
        """
        new = {column: name for name, column in self.renamed.items()}.get(name, name)
        if new != name and name in self.renamed:
            raise ValueError(
                f"{option} {name}: by --rename this is a column of the files, {new!r} in the "
                f"score, and what the score calls {self.renamed[name]!r} of the files: rename one "
                "in the files"
            )
        return new

    def remarks(self, rows: RowsOfFile, *, named: bool) -> tuple[str, ...]:
        """Remarks on the rows of a file, with its name if that is wanted."""
        with naming(rows.path):
            found = self.score.remarks(rows.table)
        return tuple(f"{rows.path}: {one}" if named else one for one in found)

    def all_rows(
        self,
        paths: Sequence[Path],
        *,
        outcome: str | None,
        weights: str | None,
        labelled: bool = True,
        named: bool = False,
        kept: Iterable[str] = (),
        check: Callable[[Path, list[str]], None] = lambda path, names: None,
    ) -> RowsOfFiles:
        """Read all files into one table, one after the other.

        Parameters
        ----------
        paths : sequence of Path
            Files and folders.
        outcome, weights : str or None
            Columns, as in :meth:`known_as`; without an outcome that of the score, if there have to
            be labels.
        labelled : bool, default True
        named : bool, default False
            Remarks have the name of the file, even if it is the only one.
        kept : iterable of str, default ()
            Columns that are needed beside the features with points; of one file all are kept.
        check : callable, optional
            Is given each file and the names of its columns.

        Returns
        -------
        RowsOfFiles

        Raises
        ------
        OSError, ValueError, TypeError
            As :meth:`read`; columns that differ between files; rows that do not fit in memory.
        """
        files = files_of(paths)
        if outcome is not None:
            outcome = self.known_as(outcome, "--outcome")
        elif labelled:
            outcome = self.score.outcome_name
        if weights is not None:
            weights = self.known_as(weights, "--weights")
        others = [name for name in (outcome, weights) if name is not None]
        wanted = {*self.score.points, *kept, *others}
        parts: list[tuple[Path, pyarrow.Table]] = []
        remarks: list[str] = []
        for path in files:
            if path.is_file():  # of others, reading says what is wrong
                self._check_memory(path, sum(part.nbytes for _, part in parts))
            rows = self.read(path, several=len(files) > 1)
            own = _named(rows.read.column_names, self.renamed)
            for name in others:
                hint = " (--outcome)" if name == outcome else " (--weights)"
                check_one_column(path, own, name, hint)
            check(path, rows.table.column_names)
            remarks += self.remarks(rows, named=named or len(files) > 1)
            table = rows.table
            if len(files) > 1:
                table = table.select([name for name in table.column_names if name in wanted])
            parts.append((path, table))
        table = parts[0][1] if len(parts) == 1 else _joined(parts)
        if not table.num_rows:
            raise ValueError(
                f"{listing(map(str, paths))}: no rows, of which {self.what} needs some"
            )
        y, sample_weight = (None if one is None else table[one] for one in (outcome, weights))
        if y is not None:
            y = self._labels(y, str(outcome))
        return RowsOfFiles(table, y, sample_weight, tuple(dict.fromkeys(remarks)))

    def _labels(self, y: Any, outcome: str) -> Any:
        """Labels as the score has them."""
        if self.positive is not None:
            try:
                labels, _ = encode_labels(y, len(y), self.positive)
            except ValueError as error:
                raise ValueError(str(error).replace("positive_label=", "--positive ")) from None
            return class_labels(self.score.classes)[(labels > 0).astype(np.intp)]
        found = y.unique().to_pylist()
        if not any(label in self.score.classes for label in found):
            raise ValueError(
                f"{outcome!r} has the labels {listing(map(repr, found))}, the score has "
                f"{listing(map(repr, self.score.classes))}: state by --positive which label has "
                "the outcome"
            )
        return y

    def _check_memory(self, path: Path, so_far: int) -> None:
        """Refuse files that have no room in memory, before the next one is read."""
        from riskslim.reader import bytes_in_memory  # scikit-learn, which help does not need

        limit = self.memory_limit or default_memory_limit()
        needed = bytes_in_memory(path, encoded=False) + _COPIES * so_far
        if needed > limit:
            raise ValueError(
                f"{self.what} needs all rows in memory: with {path} they would take about "
                f"{needed / 1e9:.2g} GB, of {limit / 1e9:.2g} GB that they may take. Give fewer "
                "files, or a sample of the rows in one; or more memory by --memory-limit"
            )


def files_of(paths: Sequence[Path]) -> list[Path]:
    """List the files that are meant; one that is given by its name is taken as it is.

    Parameters
    ----------
    paths : sequence of Path
        Files and folders.

    Returns
    -------
    list of Path

    Raises
    ------
    OSError, ValueError
        As :func:`~riskslim.data.batches.find_files`.
    """
    if len(paths) == 1 and not paths[0].is_dir():
        return list(paths)
    return find_files(paths, DATA_SUFFIXES)


def _joined(parts: Sequence[tuple[Path, pyarrow.Table]]) -> pyarrow.Table:
    """One table of several with the same columns, of types that hold all of their values."""
    names = parts[0][1].column_names
    schema = common_schema([(path, part.schema) for path, part in parts], names)
    batches = [
        in_schema(batch, schema, path) for path, part in parts for batch in part.to_batches()
    ]
    return import_pyarrow().Table.from_batches(batches, schema)


def _renamed(read: pyarrow.Table, path: Path, renamed: Mapping[str, str]) -> pyarrow.Table:
    """The table whose columns have the names that a score knows them by."""
    names = read.column_names
    for name, column in renamed.items():
        if column not in names:
            raise ValueError(f"{path} has no column {column!r}{near(column, names)} (--rename)")
        if name in names and name not in renamed.values():
            raise ValueError(
                f"{path} has a column {name!r} already: --rename {name}={column} would make two"
            )
    return read.rename_columns(_named(names, renamed))


def _named(names: Sequence[str], renamed: Mapping[str, str]) -> list[str]:
    """Columns of a file by the names that the score knows them by."""
    by_column = {column: name for name, column in renamed.items()}
    return [by_column.get(name, name) for name in names]


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let what is wrong with the rows of a file be said with its name.

    Parameters
    ----------
    path : Path

    Yields
    ------
    None
    """
    try:
        yield
    except UnusableColumnsError as error:
        raise type(error)(f"{path}: {error}") from None


def _check_features(
    table: pyarrow.Table, names: Sequence[str], score: RiskScore, path: Path
) -> None:
    """Refuse a file that neither has nor allows to compute all features with points."""
    lacking: dict[str, list[str]] = {}  # items by raw column
    for name in score.points:
        if name not in table.column_names:
            lacking.setdefault(source_variable(name), []).append(name)
    if not lacking:
        return
    wanted = []
    for column, items in lacking.items():
        listed = listing(f"{item!r}{near(item, names)}" for item in items)
        if column in names:
            wanted.append(f"{listed}, which cannot be computed from {column!r}")
        elif items == [column]:
            wanted.append(listed)
        else:
            raw = [name for name in names if source_variable(name) == name]
            wanted.append(f"{column!r}{near(column, raw)} to compute {listed}")
    raise ValueError(
        f"{path} lacks columns that the risk score needs: {'; '.join(wanted)}. Its {len(names)} "
        f"columns are {listing(map(repr, names))}."
        + (
            hint_on_separator(names)
            or " A column of another name is stated by --rename NAME=COLUMN."
        )
    )
