"""Which elastic net the traditional approaches begin with, and how that hangs on the folds.

    python -m benchmarks.comparison.choices DATA_FOLDER [--datasets mushroom,...] [--seeds 10]

The net of at most five features with the best AUC of five inner folds is chosen, and rounded in
three ways. This command makes the choice from all rows with one seed of the folds after the other,
and shows the losses of the three scores beside the printed ones. Where a data set has columns that
say the same (copies and complements of one another), it makes the choice a second time, with nets
that use one of them counted as users of all: which copies have a coefficient of exactly 0 is not a
property of the elastic net, but of the program that fits it.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from benchmarks.comparison.data import DATASETS, Source, load
from benchmarks.comparison.paper import MAX_SIZE, PRINTED
from benchmarks.comparison.paper import TRADITIONAL as COLUMNS
from benchmarks.comparison.pools import TRADITIONAL, narrowed
from riskslim.metrics import logistic_loss
from riskslim.paper.baselines import PenalizedLogisticRegression, Pool

# The beginning of the paths of 100 penalties, where all nets of a few features are.
N_PENALTIES, MIN_RATIO = 30, 1e-4 ** (29 / 99)
# Columns with a larger correlation, in absolute value, count as copies of one another.
COPY = 0.999


def copies(X: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which columns say the same.

    Parameters
    ----------
    X : ndarray of float64, shape (n, d)

    Returns
    -------
    ndarray of bool, shape (d, d)
        True on the diagonal.
    """
    with np.errstate(invalid="ignore"):  # constant columns have no correlation
        same = np.abs(np.corrcoef(X, rowvar=False)) > COPY
    np.fill_diagonal(same, True)
    return np.asarray(same)


def with_copies_counted(pool: Pool, same: NDArray[np.bool_]) -> Pool:
    """The same pool, where a net that uses one of several copies has the size of all of them.

    Parameters
    ----------
    pool : Pool
    same : ndarray of bool, shape (d, d)
        Of :func:`copies`.

    Returns
    -------
    Pool
    """
    used = pool.coefficients[:, 1:] != 0
    return dataclasses.replace(pool, sizes=np.count_nonzero(used @ same, axis=1))


def chosen(pool: Pool, X: NDArray[np.float64], y: NDArray[np.int8]) -> tuple[str, ...]:
    """The net that is chosen and the scores that it is rounded to, in words.

    Parameters
    ----------
    pool : Pool
    X : ndarray of float64, shape (n, d)
    y : ndarray of int8, shape (n,)

    Returns
    -------
    tuple of str
        Mixing value and penalty of the net, loss and model size of each score.
    """
    index = pool.best()
    scores = [convert(pool.coefficients[index]) for convert in TRADITIONAL.values()]
    return (
        f"{pool.l1_ratios[index]:.1f}, {pool.penalties[index]:.4f}",
        *(f"{_loss(score, X, y):.3f} ({np.count_nonzero(score[1:])})" for score in scores),
    )


def _loss(score: NDArray[np.int64], X: NDArray[np.float64], y: NDArray[np.int8]) -> float:
    return logistic_loss(y, score[0] + X @ score[1:])


def choices(
    X: NDArray[np.float64], y: NDArray[np.int8], seeds: Sequence[int]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is chosen with each seed of the inner folds.

    Parameters
    ----------
    X : ndarray of float64, shape (n, d)
    y : ndarray of int8, shape (n,)
    seeds : sequence of int

    Yields
    ------
    counted : str
        How features are counted.
    row : tuple of str
        Of :func:`chosen`.
    """
    same = copies(X)
    for seed in seeds:
        model = PenalizedLogisticRegression(
            max_size=MAX_SIZE, n_penalties=N_PENALTIES, min_penalty_ratio=MIN_RATIO,
            random_state=seed,
        )  # fmt: skip
        pool = model.fit(X, y).pool_
        yield "as fitted", chosen(pool, X, y)
        if np.count_nonzero(same) > len(same):
            strict = narrowed(with_copies_counted(pool, same), MAX_SIZE)
            yield "with all copies", chosen(strict, X, y)


def table(source: Source, dataset: str, seeds: Sequence[int]) -> str:
    """A row per net that is chosen, the most frequent ones first.

    Parameters
    ----------
    source : Source
    dataset : str
    seeds : sequence of int

    Returns
    -------
    str
        Markdown.
    """
    data = load(source, dataset)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        counts = Counter(choices(data.X, data.y.astype(np.int8), seeds))
    head = ("data", "features", "seeds", "net", *COLUMNS)
    rows: list[tuple[Any, ...]] = [head, ("---",) * len(head)]
    rows += [
        (dataset, counted, count, *row)
        for (counted, row), count in sorted(counts.items(), key=lambda item: (item[0][0], -item[1]))
    ]
    printed = [PRINTED[dataset][method] for method in COLUMNS]
    rows.append((dataset, "printed", "", "", *(f"{p.loss:.3f} ({p.model_size})" for p in printed)))
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line.

    Returns
    -------
    int
        0.
    """
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.comparison.choices",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data_folder", type=Path)
    parser.add_argument("--datasets", default=",".join(DATASETS), help="name,...; all by default")
    parser.add_argument("--seeds", type=int, default=10, help="number of seeds, 10 by default")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        source = Source(options.data_folder, Path(folder))
        for dataset in options.datasets.split(","):
            sys.stdout.write(table(source, dataset, range(options.seeds)) + "\n\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
