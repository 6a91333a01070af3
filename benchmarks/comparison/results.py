"""What is kept of each model: a row of a CSV file, with its points and how it does."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from benchmarks.comparison.data import ALL_ROWS, Dataset
from benchmarks.comparison.pools import L0_PENALTY, MAX_COEF, MAX_INTERCEPT, REFERENCE
from benchmarks.records import append_row, read_rows
from riskslim.metrics import auc, calibration_error, logistic_loss

RISKSLIM = "RiskSLIM"

_METRICS = (
    *("train_loss", "train_cal", "train_cal_bins", "train_auc"),
    *("test_loss", "test_cal", "test_cal_bins", "test_auc"),
)
_NUMBERS = (
    *("time_limit", "wall_seconds", "cpu_seconds", "lower_bound", "gap", "l1_ratio", "penalty"),
    *_METRICS,
)
_WORDS = ("grid", "status", "machine")
FIELDS = (
    *("dataset", "fold", "method", "max_size", "model_size", *_METRICS, "lower_bound", "gap"),
    *("status", "time_limit", "wall_seconds", "cpu_seconds", "grid", "n_feasible", "l1_ratio"),
    *("penalty", "machine", "intercept", "points"),
)


# Data set, fold, method, and limit of the model size.
Key = tuple[str, int, str, int | None]


@dataclasses.dataclass(frozen=True)
class Result:
    """A model that is fitted, and how it does.

    Attributes
    ----------
    dataset : str
    fold : int
        :data:`ALL_ROWS` for the final model.
    method : str
    max_size : int or None
        Limit of the model size; None for none.
    model_size : int
    intercept : float
    points : mapping from str to float
        Non-zero coefficients by the names of features. Empty for elastic nets.
    grid : str
        Of the pool; "" for RiskSLIM.
    status : str
        Of the certificate; "" without one.
    n_feasible : int
        Models of the pool to choose from; 0 without a pool.
    machine : str
    values : mapping from str to float
        Metrics and times; NaN where there are none, as on test rows of the final model.
    """

    dataset: str
    fold: int
    method: str
    max_size: int | None
    model_size: int
    intercept: float
    points: Mapping[str, float]
    grid: str
    status: str
    n_feasible: int
    machine: str
    values: Mapping[str, float]

    @property
    def key(self) -> Key:
        """What one model is known by."""
        return self.dataset, self.fold, self.method, self.max_size

    @property
    def objective(self) -> float:
        """Loss on the training rows and the price of the features."""
        return self.values["train_loss"] + L0_PENALTY * self.model_size

    @property
    def is_in_the_box(self) -> bool:
        """Whether a risk score has points and an intercept that RiskSLIM may choose, too."""
        return (
            self.method != REFERENCE
            and abs(self.intercept) <= MAX_INTERCEPT
            and all(abs(value) <= MAX_COEF for value in self.points.values())
        )

    def coefficients(self, feature_names: Sequence[str]) -> NDArray[np.float64]:
        """The vector of points, without the intercept.

        Parameters
        ----------
        feature_names : sequence of str

        Returns
        -------
        ndarray of float64, shape (d,)
        """
        return np.array([self.points.get(name, 0.0) for name in feature_names])

    def write(self, path: Path) -> None:
        """Append the row to a file."""
        row: dict[str, Any] = dataclasses.asdict(self)
        numbers = row.pop("values")
        row["fold"] = "all" if self.fold == ALL_ROWS else self.fold
        row["points"] = json.dumps(dict(self.points), separators=(",", ":"))
        row |= {name: _text(name, value) for name, value in numbers.items()}
        append_row(path, FIELDS, row)

    @classmethod
    def read(cls, row: Mapping[str, str]) -> Result:
        """Read what :meth:`write` has written."""
        return cls(
            dataset=row["dataset"],
            fold=ALL_ROWS if row["fold"] == "all" else int(row["fold"]),
            method=row["method"],
            max_size=int(row["max_size"]) if row["max_size"] else None,
            model_size=int(row["model_size"]),
            intercept=float(row["intercept"]),
            points=json.loads(row["points"]),
            n_feasible=int(row["n_feasible"]),
            values={name: float(row[name] or "nan") for name in _NUMBERS},
            **{name: row[name] for name in _WORDS},
        )


def _text(name: str, value: float) -> str:
    """Nothing for NaN, and enough digits of what certificates are compared by."""
    digits = 12 if name in ("train_loss", "lower_bound") else 7
    return "" if math.isnan(value) else f"{value:.{digits}g}"


def read_results(path: Path) -> dict[Key, Result]:
    """Read a file of results.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict
        The last result of each key.
    """
    results = [Result.read(row) for row in read_rows(path, FIELDS)]
    return {result.key: result for result in results}


def measured(
    data: Dataset, fold: int, coef: NDArray[Any], numbers: Mapping[str, float], **described: Any
) -> Result:
    """Measure a model on its training and its test rows.

    Parameters
    ----------
    data : Dataset
    fold : int
    coef : ndarray, shape (d + 1,)
        Intercept first.
    numbers : mapping
        Values that do not come from predictions.
    **described
        Further fields of :class:`Result`.

    Returns
    -------
    Result
    """
    used = np.flatnonzero(coef[1:]).tolist()
    metrics = _performance("train", *data.train(fold), coef)
    if fold != ALL_ROWS:
        metrics |= _performance("test", *data.test(fold), coef)
    is_real = described["method"] == REFERENCE
    return Result(
        fold=fold,
        model_size=len(used),
        intercept=float(coef[0]),
        points={} if is_real else {data.feature_names[j]: int(coef[1 + j]) for j in used},
        values={**dict.fromkeys(_NUMBERS, math.nan), **metrics, **numbers},
        **described,
    )


def _performance(
    rows: str, X: NDArray[np.float64], y: NDArray[np.int8], coef: NDArray[Any]
) -> dict[str, float]:
    scores = X @ coef[1:].astype(np.float64) + float(coef[0])
    risk = expit(scores)
    return {
        f"{rows}_loss": logistic_loss(y, scores),
        f"{rows}_cal": calibration_error(y, risk, scores=scores),
        f"{rows}_cal_bins": calibration_error(y, risk, scores=scores, bins="auto"),
        f"{rows}_auc": auc(y, scores),
    }
