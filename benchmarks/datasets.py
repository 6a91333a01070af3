"""The tables that scores are compared on: raw ones, as people bring them, and the paper's."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks.paired import N_FOLDS
from riskslim import ItemEncoder

__all__ = ["NAMES", "TABLES", "Dataset", "RawTable", "encoder_for", "load", "open_dataset"]

# Cut-offs of each column of a raw table.
N_THRESHOLDS = 9


class RawTable(NamedTuple):
    """A raw table: its file, its outcome, codes that are levels, zeros that are no values."""

    file: str
    outcome: str
    categorical: tuple[str, ...] = ()
    zero_is_missing: tuple[str, ...] = ()


TABLES = {
    "adult": RawTable("adult.parquet", "over_50k"),
    "credit_default": RawTable(
        "credit_default.parquet", "default", ("sex", "education", "marriage")
    ),
    "german": RawTable("german.csv", "bad"),
    "pima": RawTable(
        "pima.csv",
        "diabetes",
        zero_is_missing=("glucose", "blood_pressure", "skin", "insulin", "bmi"),
    ),
}


def load(folder: Path, table: RawTable) -> tuple[Any, Any]:
    """Read raw columns and outcome.

    Parameters
    ----------
    folder : Path
    table : RawTable

    Returns
    -------
    X : pandas.DataFrame
    y : ndarray of bool
    """
    import pandas as pd

    path = folder / table.file
    X = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    y = X.pop(table.outcome).to_numpy() == 1
    for name in table.zero_is_missing:
        X[name] = X[name].astype(float).where(X[name] != 0, np.nan)
    return X, y


def encoder_for(table: RawTable, n_thresholds: int | str = N_THRESHOLDS) -> ItemEncoder:
    """The encoder that makes items of a raw table.

    Parameters
    ----------
    table : RawTable
    n_thresholds : int or "all"
        Cut-offs of each column of numbers.

    Returns
    -------
    ItemEncoder
    """
    return ItemEncoder(
        n_thresholds=n_thresholds,
        round_thresholds=True,
        missing="indicator",
        handle_unknown="ignore",
        categorical=table.categorical,
    )


# Raw tables are "raw/adult", tables of the paper "adult": one of each has that name.
_RAW = "raw/"
PAPER = ("adult", "bank", "breastcancer", "mammo", "mushroom", "spambase")
NAMES = (*(f"{_RAW}{name}" for name in TABLES), *PAPER)


class Dataset(NamedTuple):
    """Columns and outcome of a table.

    Attributes
    ----------
    X : pandas.DataFrame
    y : ndarray of bool
    encoder : ItemEncoder or None
        Unfitted; of raw columns.
    """

    X: Any
    y: Any
    encoder: ItemEncoder | None

    def folds(self) -> list[tuple[Any, Any]]:
        """Training rows and test rows of each fold, the same in each call.

        Returns
        -------
        list of (ndarray, ndarray)
        """
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
        return list(folds.split(self.X, self.y))


def open_dataset(folder: Path, name: str) -> Dataset:
    """Read a table.

    Parameters
    ----------
    folder : Path
        With NAME_data.csv for the paper's tables, the outcome in the first column, and a folder
        raw for the others.
    name : str
        One of :data:`NAMES`.

    Returns
    -------
    Dataset
    """
    import pandas as pd

    if name.startswith(_RAW):
        table = TABLES[name.removeprefix(_RAW)]
        return Dataset(*load(folder / "raw", table), encoder_for(table))
    X = pd.read_csv(folder / f"{name}_data.csv")
    y = X.pop(X.columns[0]).to_numpy() > 0
    return Dataset(X, y, None)
