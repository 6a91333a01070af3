"""The reading of training rows by ``fit``, with errors that name its options."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import riskslim
from riskslim.cli.faults import identifiers_in, with_options
from riskslim.cli.progress import ReadingProgress, display
from riskslim.data.faults import UnusableColumnsError
from riskslim.exceptions import PositiveLabelWarning

if TYPE_CHECKING:
    from riskslim.data.csv_format import CsvFormat
    from riskslim.data.training_data import TrainingData
    from riskslim.items.encoder import ItemEncoder

__all__ = ["Source"]


@dataclass(frozen=True, kw_only=True)
class Source:
    """The files of training rows, and what of them is used as what."""

    paths: list[Path]
    outcome: str
    positive: str | None
    weights: str | None
    features: list[str]
    exclude: list[str]
    encoder: ItemEncoder | None
    numeric: list[str]
    categorical: list[str]
    csv_format: CsvFormat | None
    memory_limit: int | None
    scratch: Path | None
    hidden: bool

    def read(self) -> TrainingData:
        """Read the rows; of columns that cannot be used, say which options would help.

        Returns
        -------
        TrainingData

        Raises
        ------
        OSError, ValueError, TypeError, ImportError
        """
        from riskslim.reader import are_held  # scikit-learn, which help does not need

        held = are_held(self.paths, self.memory_limit, encoded=self.encoder is not None)
        try:
            with (
                warnings.catch_warnings(),
                display(ReadingProgress(), hidden=self.hidden or held) as progress,
            ):
                warnings.simplefilter("ignore", PositiveLabelWarning)  # it is said in words of ours
                data = riskslim.read(
                    self.paths,
                    self.outcome,
                    self.weights,
                    items=self.encoder,
                    positive_label=self.positive,
                    features=self.features or None,
                    exclude=self.exclude,
                    csv_format=self.csv_format,
                    memory_limit=self.memory_limit,
                    scratch=self.scratch,
                    progress=progress,
                )
        except UnusableColumnsError as error:
            raise type(error)(self._advice(error, look=held)) from None
        return data

    def _advice(self, error: UnusableColumnsError, *, look: bool) -> str:
        settled = {
            self.outcome, self.weights, *self.exclude, *self.numeric, *self.categorical
        }  # fmt: skip
        if self.encoder is not None:
            given = self.encoder.thresholds
            settled |= given.keys() if isinstance(given, Mapping) else set()
        # Whether the values of a column are all different takes another look at all of them.
        look = look and not self.features
        first, *others = self.paths
        return with_options(
            error,
            f"{first} and {len(others)} more" if others else str(first),
            items=self.encoder is not None,
            numeric=self.numeric,
            features=self.features,
            identifiers=identifiers_in(first, settled, self.csv_format) if look else [],
        )
