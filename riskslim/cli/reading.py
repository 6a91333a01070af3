"""The reading of training rows by ``fit``: in memory where they fit, else batch by batch."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import riskslim
from riskslim.cli.faults import identifiers_in, with_options
from riskslim.cli.outputs import DATA_SUFFIXES
from riskslim.cli.progress import ReadingProgress, display
from riskslim.cli.session import logger
from riskslim.data.batches import ParquetFiles, find_files
from riskslim.data.faults import UnusableColumnsError
from riskslim.exceptions import PositiveLabelWarning
from riskslim.items.parameters import is_supervised
from riskslim.rows.reading import default_memory_limit

if TYPE_CHECKING:
    import pyarrow

    from riskslim.data.csv_format import CsvFormat
    from riskslim.data.training_data import TrainingData
    from riskslim.items.encoder import ItemEncoder

__all__ = ["RawColumns", "Source", "bytes_in_memory"]

# Bytes in memory for each byte of a CSV file, and of one that is compressed.
_CSV_BYTES, _GZ_BYTES = 3, 20
# Items for each column of numbers, where as many as usual are made, and for others.
_ITEMS_OF_NUMBERS, _ITEMS_OF_OTHERS = 9, 2
# Text is held as Python objects while items are made of it.
_TEXT_BYTES = 64


@dataclass
class RawColumns:
    """The columns of a file that items are made of, and the encoder that makes them."""

    encoder: ItemEncoder
    columns: pyarrow.Table | None = None

    def fit_items(self, columns: pyarrow.Table, weights: Any, outcome: Any) -> Any:
        """Fit the encoder, and keep the columns: the score is asked how it depends on cut-offs."""
        from riskslim.items.rules import fit_items

        self.columns = columns
        return fit_items(self.encoder, columns, weights, outcome)


@dataclass(frozen=True, kw_only=True)
class Source:
    """The files of training rows, and what of them is used as what."""

    paths: list[Path]
    outcome: str
    positive: str | None
    weights: str | None
    class_weight: str | None
    features: list[str]
    exclude: list[str]
    raw: RawColumns | None
    numeric: list[str]
    categorical: list[str]
    csv_format: CsvFormat | None
    memory_limit: int | None
    scratch: Path | None
    hidden: bool

    def read(self, one_by_one: str | None = None) -> TrainingData:
        """Read the rows; of columns that cannot be used, say which options would help.

        Parameters
        ----------
        one_by_one : str, optional
            An option that needs rows one by one: where equal ones are merged it is refused.

        Returns
        -------
        TrainingData

        Raises
        ------
        OSError, ValueError, TypeError, ImportError
        """
        batches = self._comes_in_batches()
        if batches and one_by_one is not None:
            self._refuse(one_by_one)
        if batches and self.raw is not None and is_supervised(self.raw.encoder):
            raise ValueError(
                "--thresholds supervised needs all rows in memory, but those of "
                f"{self._in_batches()} are read batch by batch. Fit a sample of the rows first, in "
                "one file that fits in memory (--memory-limit), and give the thresholds that it "
                "finds as --thresholds NAME=V,V,..."
            )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PositiveLabelWarning)  # it is said in words of ours
                data = self._batches() if batches else self._file()
        except UnusableColumnsError as error:
            raise type(error)(self._advice(error, look=not batches)) from None
        if self.class_weight is None:
            return data
        if self.class_weight != "balanced":
            raise ValueError(f"--class-weight must be balanced, got {self.class_weight!r}")
        return data.with_class_weight(self.class_weight)

    def _refuse(self, option: str) -> None:
        raise ValueError(
            f"{option} needs rows one by one, but equal rows of {self._in_batches()} are merged "
            f"while they are read. Leave out {option}, or give one file that fits in memory "
            "(--memory-limit), such as a sample of the rows"
        )

    @property
    def _are_several(self) -> bool:
        return len(self.paths) > 1 or self.paths[0].is_dir()

    def _in_batches(self) -> str:
        """Say in words which rows come in batches."""
        if self._are_several:
            return "several files or folders"
        return "a file that is too large for memory"

    def _comes_in_batches(self) -> bool:
        """Say whether the rows are several files, or do not fit in memory as one table."""
        if self._are_several:
            return True
        limit = self.memory_limit or default_memory_limit()
        needed = bytes_in_memory(self.paths[0], items=self.raw is not None)
        if needed > limit:
            logger.info(
                "%s would need about %.1f GB in memory, of %.1f GB: it is read batch by batch",
                self.paths[0], needed / 1e9, limit / 1e9,
            )  # fmt: skip
        return needed > limit

    def _file(self) -> TrainingData:
        return riskslim.TrainingData.from_file(
            self.paths[0],
            self.outcome,
            weights=self.weights,
            positive_label=self.positive,
            features=self.features or None,
            exclude=self.exclude,
            encode=None if self.raw is None else self.raw.fit_items,
            csv_format=self.csv_format,
        )

    def _batches(self) -> TrainingData:
        found = find_files(self.paths, DATA_SUFFIXES)
        kinds = {path.suffix.lower() == ".parquet" for path in found}
        if len(kinds) > 1:
            raise ValueError("the files must be all CSV or all Parquet, got both")
        reader: Callable[..., TrainingData] = riskslim.TrainingData.from_parquet
        options: dict[str, Any] = {}
        if not kinds.pop():
            reader = riskslim.TrainingData.from_csv
            options["csv_format"] = self.csv_format
        with display(ReadingProgress(), hidden=self.hidden) as progress:
            return reader(
                found,
                self.outcome,
                items=None if self.raw is None else self.raw.encoder,
                sample_weight=self.weights,
                positive_label=self.positive,
                features=self.features or None,
                exclude=self.exclude,
                memory_limit=self.memory_limit,
                scratch=self.scratch,
                progress=progress,
                **options,
            )

    def _advice(self, error: UnusableColumnsError, *, look: bool) -> str:
        settled = {
            self.outcome, self.weights, *self.exclude, *self.numeric, *self.categorical
        }  # fmt: skip
        if self.raw is not None:
            given = self.raw.encoder.thresholds
            settled |= given.keys() if isinstance(given, Mapping) else set()
        # Whether the values of a column are all different takes another look at all of them.
        look = look and not self.features
        first, *others = self.paths
        return with_options(
            error,
            f"{first} and {len(others)} more" if others else str(first),
            items=self.raw is not None,
            numeric=self.numeric,
            features=self.features,
            identifiers=identifiers_in(first, settled, self.csv_format) if look else [],
        )


def bytes_in_memory(path: Path, *, items: bool) -> int:
    """Estimate what a file needs as a table in memory, and as items beside it.

    Parameters
    ----------
    path : Path
    items : bool
        Whether items are made of the columns.

    Returns
    -------
    int
        0 for a file that cannot be read; reading says why.
    """
    try:
        (path,) = find_files(path, DATA_SUFFIXES)
        name = path.name.lower()
        if not name.endswith(".parquet"):
            return path.stat().st_size * (_GZ_BYTES if name.endswith(".gz") else _CSV_BYTES)
        files = ParquetFiles([path])
        kinds = files.kinds(files.names)
    except (ValueError, OSError, ImportError, KeyError):
        return 0
    per_row = 0
    for kind in kinds:
        try:
            width, n_items = max(kind.bit_width // 8, 1), _ITEMS_OF_NUMBERS
        except ValueError:
            width, n_items = _TEXT_BYTES, _ITEMS_OF_OTHERS
        per_row += width + (n_items if items and width > 1 else 1)
    return per_row * files.n_rows
