"""The same rows in one piece, in parts, and in files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from riskslim.data.distinct import distinct_rows, take_rows
from riskslim.data.row_tiles import as_columns
from riskslim.data.store import KernelRows
from riskslim.data.training_data import TrainingData
from riskslim.rows.base import PartitionedRows
from riskslim.rows.disk import BlockWriter, DiskRows, ScratchFolder
from riskslim.rows.memory import MemoryRows, schema_of

KINDS = ("zero_one", "integers", "reals", "mixed")


def random_data(
    seed: int, *, kind: str = "mixed", n: int = 300, d: int = 6, weighted: bool = False
) -> TrainingData:
    """Few distinct values, so that rows merge."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, d)).astype(float)
    if kind in ("integers", "mixed"):
        X[:, : d // 2] = rng.integers(-3, 4, (n, d // 2))
    if kind == "reals":
        X = rng.choice([0.5, -1.25, 3.75, 1e3], (n, d))
    elif kind == "mixed":
        X[:, -1] = rng.choice(np.array([0.5, -1.25, 3.75]), n)
    y = rng.random(n) < 1 / (1 + np.exp(-(X[:, 0] - 0.5)))
    y[:2] = False, True
    weights = rng.choice([0.0, 0.5, 1.0, 2.25, 1 / 3], n) if weighted else None
    if weights is not None:
        weights[:2] = 1.0
    return TrainingData(X, y, weights)


def rows_of(data: TrainingData, *, merged: bool) -> KernelRows:
    if not merged:
        return data.rows
    found = distinct_rows(data, always=True)
    assert found is not None
    return found


def in_parts(rows: KernelRows, n_parts: int) -> MemoryRows:
    """Consecutive rows in so many parts of unequal lengths."""
    n = rows.n_rows
    rng = np.random.default_rng(n_parts)
    cuts = np.sort(rng.choice(np.arange(1, n), n_parts - 1, replace=False)) if n_parts > 1 else []
    parts = []
    for index in np.split(np.arange(n), cuts):
        weights = rows.weights[index] if len(rows.weights) else rows.weights
        numbers = rows.numbers[index] if len(rows.numbers) else rows.numbers
        total = float(weights.sum() if len(weights) else len(index))
        n = int(numbers.sum() if len(numbers) else len(index))
        part = take_rows(
            rows, index, weights=weights, numbers=numbers, total_weight=total, n_samples=n
        )
        parts.append(part)
    return MemoryRows(parts)


def on_disk(
    rows: KernelRows, block_rows: int, parent: Path | None = None, batch: int = 37
) -> DiskRows:
    """The same in files, appended in batches."""
    reals = as_columns(rows.real_row_tiles, rows.n_rows)
    writer = BlockWriter(ScratchFolder(parent), schema_of(rows), block_rows=block_rows)
    for begin in range(0, rows.n_rows, batch):
        part = slice(begin, begin + batch)
        writer.append(
            np.ascontiguousarray(rows.integer_columns[part]),
            reals[part],
            rows.labels[part],
            rows.weights[part] if len(rows.weights) else None,
        )
    return writer.finish()


def partitions(rows: KernelRows, which: slice = slice(None)) -> list[PartitionedRows]:
    """One, two and seven parts, in memory and in files, and files of few rows; or some of them."""
    makers: list[Callable[[], PartitionedRows]] = [
        *(partial(in_parts, rows, n) for n in (1, 2, 7)),
        *(partial(on_disk, rows, -(-rows.n_rows // n)) for n in (1, 2, 7)),
        lambda: on_disk(rows, max(5, rows.n_rows // 24)),
        lambda: in_parts(rows, 7).used_by(n_threads=2),
        lambda: on_disk(rows, -(-rows.n_rows // 7)).used_by(n_threads=3),
    ]
    return [make() for make in makers[which]]


def elsewhere(problem, seed=0):
    """The same problem, its rows in four files or in memory in up to seven parts."""
    rows = rows_of(problem.loss.data, merged=seed % 4 == 1)
    n_parts = min(2 + seed // 4 % 6, rows.n_rows)
    held = in_parts(rows, n_parts) if seed % 2 else on_disk(rows, max(5, -(-rows.n_rows // 4)))
    names = problem.loss.data.feature_names
    return problem.restated(TrainingData.from_rows(held, feature_names=names))
