"""Final models and their folds together, and what certificates say of the other methods."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from benchmarks.comparison.data import ALL_ROWS
from benchmarks.comparison.results import RISKSLIM, Key, Result

Results = Mapping[Key, Result]

# Objectives that differ by less are equal: the rest is the order of a sum.
_ACCURACY = 1e-9


class Summary(NamedTuple):
    """The models of a method on a data set, for one limit of the model size.

    Attributes
    ----------
    final : Result or None
        Fitted to all rows.
    folds : list of Result
        All of them, or none.
    """

    final: Result | None
    folds: list[Result]

    def of_folds(self, metric: str) -> list[float]:
        """Values of a metric, one for each fold."""
        return [fold.values[metric] for fold in self.folds]

    def number(self, metric: str) -> float:
        """A number of the paper's tables; NaN where there is none.

        Parameters
        ----------
        metric : str
            A field of :class:`benchmarks.comparison.paper.Printed`.

        Returns
        -------
        float
            Of test metrics the mean over folds, else the one of the final model.
        """
        if metric.startswith("test_"):
            values = self.of_folds(metric)
            return math.fsum(values) / len(values) if values else math.nan
        if self.final is None:
            return math.nan
        if metric == "model_size":
            return self.final.model_size
        return self.final.values["train_loss" if metric == "loss" else metric]


def summary(
    results: Results, n_folds: int, dataset: str, method: str, max_size: int | None
) -> Summary:
    """Take together what belongs together.

    Parameters
    ----------
    results : mapping
    n_folds : int
        All that there are to be.
    dataset, method : str
    max_size : int or None

    Returns
    -------
    Summary
    """
    keys = [(dataset, fold, method, max_size) for fold in range(n_folds)]
    folds = [results[key] for key in keys if key in results]
    return Summary(
        results.get((dataset, ALL_ROWS, method, max_size)), folds if len(folds) == n_folds else []
    )


class Pair(NamedTuple):
    """A search, and another model that it could have found."""

    search: Result
    other: Result


def false_certificates(results: Collection[Result]) -> list[Pair]:
    """Models that are better than what a search has proven to be possible.

    Parameters
    ----------
    results : collection of Result

    Returns
    -------
    list of Pair
        Empty, unless a certificate is false.
    """
    return [
        pair
        for pair in _permitted(results)
        if pair.other.objective < pair.search.values["lower_bound"] - _ACCURACY
    ]


def better_than_found(results: Collection[Result]) -> list[Pair]:
    """Baselines that are better on the training rows than what a search has found.

    Parameters
    ----------
    results : collection of Result

    Returns
    -------
    list of Pair
        The best one for each search that its limit has ended too early.
    """
    best: dict[Key, Pair] = {}
    for pair in _permitted(results):
        known = best.get(pair.search.key, Pair(pair.search, pair.search)).other
        if pair.other.objective < known.objective - _ACCURACY:
            best[pair.search.key] = pair
    return list(best.values())


def _permitted(results: Collection[Result]) -> Iterator[Pair]:
    """Searches, and all scores on the same rows that meet their requirements."""
    by_rows: dict[tuple[str, int], list[Result]] = {}
    for result in results:
        if result.is_in_the_box:
            by_rows.setdefault((result.dataset, result.fold), []).append(result)
    for group in by_rows.values():
        for search in _searches(group):
            assert search.max_size is not None
            for other in group:
                if other.key != search.key and other.model_size <= search.max_size:
                    yield Pair(search, other)


def _searches(results: Sequence[Result]) -> list[Result]:
    return [result for result in results if result.method == RISKSLIM]
