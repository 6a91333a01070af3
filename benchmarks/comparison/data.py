"""The paper's data sets, and the rows that each model is fitted to and tested on."""

from __future__ import annotations

import csv
import functools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim import read
from riskslim.model_selection import read_folds, stratified_folds, write_folds

# Names of the paper, and those of the files, NAME_data.csv.
DATASETS = {
    "income": "adult",
    "mammo": "mammo",
    "mushroom": "mushroom",
    "spambase": "spambase",
    "telemarketing": "bank",
}
# Those that the paper has, and that nobody can download.
NOT_AVAILABLE = ("rearrest",)
# The number of the final model, which is fitted to all rows, in place of one of a fold.
ALL_ROWS = -1


class Dataset(NamedTuple):
    """A data set.

    Attributes
    ----------
    X : ndarray of float64, shape (n, d)
    y : ndarray of int8, shape (n,)
        -1 and +1.
    feature_names : tuple of str
    folds : ndarray of int64, shape (n,)
        The outer fold in which a row is tested.
    """

    X: NDArray[np.float64]
    y: NDArray[np.int8]
    feature_names: tuple[str, ...]
    folds: NDArray[np.int64]

    def train(self, fold: int) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        """Rows that the model of a fold is fitted to.

        Parameters
        ----------
        fold : int
            :data:`ALL_ROWS` for the final model.

        Returns
        -------
        X, y : ndarray
        """
        rows = self.folds != fold
        return self.X[rows], self.y[rows]

    def test(self, fold: int) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
        """Rows that the model of a fold is tested on; none for the final model.

        Parameters
        ----------
        fold : int

        Returns
        -------
        X, y : ndarray
        """
        rows = self.folds == fold
        return self.X[rows], self.y[rows]


class Source(NamedTuple):
    """Where data sets and their folds are.

    Attributes
    ----------
    data_folder : Path
        With a file NAME_data.csv for each data set, the outcome in the first column.
    folds_folder : Path
        A file NAME.csv there, with the fold of each row, is used; where there is none it is made.
    n_folds : int
    random_state : int
        Seed of folds that are made.
    """

    data_folder: Path
    folds_folder: Path
    n_folds: int = 5
    random_state: int = 0

    def path(self, name: str) -> Path:
        """The file of a data set."""
        return self.data_folder / f"{DATASETS[name]}_data.csv"

    def write_folds(self, name: str) -> None:
        """Make the folds of a data set, unless there are some."""
        path = self.folds_folder / f"{name}.csv"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            _, y, _ = _read(self.path(name))
            write_folds(path, stratified_folds(y, self.n_folds, random_state=self.random_state))


@functools.lru_cache(maxsize=2)
def load(source: Source, name: str) -> Dataset:
    """Read a data set and its folds, which are made if there is no file of them.

    Parameters
    ----------
    source : Source
    name : str
        The paper's.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        The file of the folds has other folds, or is about another number of rows.
    """
    source.write_folds(name)
    X, y, names = _read(source.path(name))
    path = source.folds_folder / f"{name}.csv"
    folds = read_folds(path)
    if len(folds) != len(y) or not np.array_equal(np.unique(folds), np.arange(source.n_folds)):
        raise ValueError(
            f"{path} has {len(folds)} rows and the folds {np.unique(folds).tolist()}, expected "
            f"{len(y)} rows and {source.n_folds} folds; move it away to make new ones"
        )
    return Dataset(X, y, names, folds)


def _read(path: Path) -> tuple[NDArray[np.float64], NDArray[np.int8], tuple[str, ...]]:
    with path.open(newline="") as file:
        outcome = next(csv.reader(file))[0]
    data = read(path, outcome)
    columns: list[NDArray[Any]] = [data.column(j) for j in range(data.n_features)]
    return np.stack(columns, axis=1).astype(np.float64), data.labels, data.feature_names
