"""Containers of rows that encoders read and fill, and the rows of a fit that have a weight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from riskslim.data.faults import Column, ColumnError
from riskslim.items.columns import plain_rows

__all__ = ["Container", "WeightedRows"]


@dataclass(frozen=True)
class Container:
    """A kind of data frame and the labels of its rows; an array if the backend is None."""

    backend: Any = None  # what narwhals calls it
    index: Any = None
    categorical: frozenset[str] = frozenset()  # columns of a categorical type
    ordered: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)  # levels in their order

    @classmethod
    def of(cls, X: Any) -> Container:
        """Say what rows come in."""
        if isinstance(X, (np.ndarray, list, tuple, Mapping)):
            return cls()
        frame = nw.from_native(X, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            return cls("pyarrow" if hasattr(X, "__arrow_c_stream__") else None)
        types = frame.schema.items()
        categorical = {name for name, kind in types if kind in (nw.Categorical, nw.Enum)}
        backend = frame.implementation.value
        ordered = {
            name: tuple(plain_rows(np.array([*kind.categories, None], object))[:-1])
            for name, kind in types
            if isinstance(kind, nw.Enum)
        }
        if backend == "pyarrow":
            ordered = _ordered_in_arrow(frame.to_native())
        return cls(backend, nw.maybe_get_index(frame), frozenset(categorical), ordered)

    def filled(self, columns: dict[str, Column]) -> Any:
        """A data frame of columns."""
        return self._indexed(nw.from_dict(columns, backend=self.backend).to_native())

    def holding(self, block: NDArray[np.int8], names: list[str]) -> Any:
        """A data frame of a block, which need not be copied for it."""
        return self._indexed(nw.from_numpy(block, names, backend=self.backend).to_native())

    def _indexed(self, frame: Any) -> Any:
        if self.index is not None:
            frame.index = self.index
        return frame


def _ordered_in_arrow(table: Any) -> dict[str, tuple[Any, ...]]:
    """Columns of dictionaries that are said to be in order, and their levels."""
    from pyarrow import types

    found = {}
    for field_ in table.schema:
        if types.is_dictionary(field_.type) and field_.type.ordered:
            unified = table.column(field_.name).unify_dictionaries()
            chunk = unified.chunk(0) if unified.num_chunks else None
            found[field_.name] = () if chunk is None else tuple(chunk.dictionary.to_pylist())
    return {name: levels for name, levels in found.items() if levels}


class WeightedRows:
    """The rows of fit that have a weight."""

    def __init__(self, n_samples: int, weights: NDArray[Any] | None) -> None:
        self.weights = np.ones(n_samples) if weights is None else weights.astype(np.float64)
        self._rows = None if self.weights.all() else np.flatnonzero(self.weights)
        if self._rows is not None:
            self.weights = self.weights[self._rows]
        self.n = len(self.weights)

    def take(self, values: Column) -> Column:
        """Values of these rows."""
        return values if self._rows is None else values[self._rows]

    def located(self, fault: ColumnError) -> ColumnError:
        """The fault with its row counted among all rows."""
        if self._rows is not None:
            fault.first = int(self._rows[fault.first])
        return fault
