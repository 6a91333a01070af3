"""Readers of rows that need not fit in memory, handed down from above this folder.

:class:`~riskslim.TrainingData` is where users look for them (``from_parquet``, ``from_dask``,
``sampled``), but they rest on :mod:`riskslim.rows`, which rests on this folder. The package itself,
which is imported before any of its modules, hands them down; they are loaded when they are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["Readers", "hand_down", "readers"]


class Readers(NamedTuple):
    """Modules that do the reading.

    Parameters
    ----------
    files, collections, excerpts : module
        :mod:`riskslim.rows.reading`, :mod:`riskslim.rows.collections` and
        :mod:`riskslim.rows.excerpts`.
    """

    files: Any
    collections: Any
    excerpts: Any


_loaders: list[Callable[[], Readers]] = []


def hand_down(load: Callable[[], Readers]) -> None:
    """Say how the readers are loaded.

    Parameters
    ----------
    load : callable
        Called at each use; imports them at the first one.
    """
    _loaders[:] = [load]


def readers() -> Readers:
    """Load the readers.

    Returns
    -------
    Readers
    """
    return _loaders[0]()
