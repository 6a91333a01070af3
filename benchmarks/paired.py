"""Differences of two methods on the same folds, with intervals, and the page that has them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.special import stdtrit

from benchmarks.records import Row

__all__ = ["METRICS", "N_FOLDS", "difference", "interval", "is_better", "write_page"]

N_FOLDS = 5
METRICS = ("auc", "loss", "cal")
# Quantile of Student's t, with one degree of freedom less than there are folds, for 95%.
_QUANTILE = 0.975


def interval(differences: Sequence[float], n_compared: int = 1) -> tuple[float, float]:
    """Mean of paired differences over folds, and half the width of its 95% interval.

    Parameters
    ----------
    differences : sequence of float
        One per fold.
    n_compared : int, default 1
        Comparisons of which all intervals together are to hold the truth with 95% (Bonferroni).

    Returns
    -------
    (float, float)
        Folds share most of their training rows, so that the variance of the mean of k folds is
        taken to be (1 / k + n_test / n_train) times that of a fold (Nadeau and Bengio, 2003). NaN
        for half the width of one fold alone.
    """
    values = np.asarray(differences, dtype=np.float64)
    if len(values) < 2:
        return float(values.mean()) if len(values) else math.nan, math.nan
    factor = 1 / len(values) + 1 / (N_FOLDS - 1)
    quantile = 1 - (1 - _QUANTILE) / max(n_compared, 1)
    t_value = float(stdtrit(len(values) - 1, quantile))
    return float(values.mean()), float(t_value * math.sqrt(factor * values.var(ddof=1)))


def differences(one: Mapping[str, Row], other: Mapping[str, Row], metric: str) -> list[float]:
    """A metric of one method less that of another, on each fold that both have.

    Parameters
    ----------
    one, other : mapping
        Rows by fold.
    metric : str

    Returns
    -------
    list of float
    """
    return [float(one[fold][metric]) - float(other[fold][metric]) for fold in one if fold in other]


def difference(one: Mapping[str, Row], other: Mapping[str, Row], metric: str) -> str:
    """A metric of one method less that of another, with its interval, in words.

    Parameters
    ----------
    one, other : mapping
        Rows by fold.
    metric : str

    Returns
    -------
    str
    """
    values = differences(one, other, metric)
    mean, half = interval(values)
    form = "+.2%" if metric.startswith("cal") else "+.4f"
    folds = "" if len(values) == N_FOLDS else f", {len(values)} of {N_FOLDS} folds"
    if math.isnan(half):
        return f"{mean:{form}}{folds}"
    return f"{mean:{form}} ({mean - half:{form}} to {mean + half:{form}}{folds})"


def is_better(one: Mapping[str, Row], other: Mapping[str, Row], metric: str = "loss") -> bool:
    """Say that one method has a smaller loss than another, by more than the interval.

    Parameters
    ----------
    one, other : mapping
        Rows by fold.
    metric : str, default "loss"
        One that is to be small.

    Returns
    -------
    bool
    """
    mean, half = interval(differences(one, other, metric))
    return mean + half < 0.0


def write_page(page: Path, command: str, text: str) -> None:
    """Put tables between the two marks of a command on a page.

    Parameters
    ----------
    page : Path
    command : str
        Such as "benchmarks.cutoffs".
    text : str

    Raises
    ------
    ValueError
        The page has no such marks.
    """
    first, last = f"<!-- {command}: begin -->", f"<!-- {command}: end -->"
    before = page.read_text(encoding="utf-8")
    head, begin, rest = before.partition(first)
    _, end, tail = rest.partition(last)
    if not (begin and end):
        raise ValueError(f"{page} lacks the marks {first} and {last}")
    page.write_text(f"{head}{first}\n\n{text}\n{last}{tail}", encoding="utf-8")
