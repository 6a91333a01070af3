"""The paper's tables with numbers of ours beside those that it prints, as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks.comparison.data import NOT_AVAILABLE
from benchmarks.comparison.paper import MAX_SIZE, METHODS, PRINTED, TOLERANCES, differs
from benchmarks.comparison.pools import POOLED, REFERENCE, Grid
from benchmarks.comparison.results import RISKSLIM
from benchmarks.comparison.summaries import (
    Pair,
    Results,
    Summary,
    better_than_found,
    false_certificates,
    summary,
)

# Rows of the paper's tables "ExperimentalResults" and "GeneralizationResults".
RESULTS = ("test_cal", "test_auc", "loss", "model_size", "gap")
GENERALIZATION = ("test_cal", "train_cal", "test_auc", "train_auc")
_FEWER = "\n† Baselines are chosen from fewer than the paper's 1,100 elastic nets: see Pools.\n"
_PERCENT = ("test_cal", "train_cal", "gap")


class Difference(NamedTuple):
    """A number that is further from the printed one than its tolerance."""

    dataset: str
    method: str
    metric: str
    ours: float
    printed: float

    def __str__(self) -> str:
        return (
            f"{self.dataset}, {self.method}, {_words(self.metric)}: "
            f"{_text(self.metric, self.ours)}, printed {_text(self.metric, self.printed)}"
        )


class Tables:
    """What has been run, for tables.

    Parameters
    ----------
    results : mapping
    datasets : sequence of str
    sizes : sequence of int
    n_folds : int
    """

    def __init__(
        self, results: Results, datasets: Sequence[str], sizes: Sequence[int], n_folds: int
    ) -> None:
        self.results, self.sizes, self.n_folds = results, sizes, n_folds
        there = {dataset for dataset, *_ in results}
        self.datasets = [name for name in datasets if name in there]
        # The tables are about one size, the paper's if it has been run.
        self.max_size = MAX_SIZE if MAX_SIZE in sizes else max(sizes)

    def summary(self, dataset: str, method: str, max_size: int | None = None) -> Summary:
        """Models of a method, of the size of the tables unless another one is given."""
        size = None if method == REFERENCE else max_size or self.max_size
        return summary(self.results, self.n_folds, dataset, method, size)

    def differences(self) -> list[Difference]:
        """All numbers beyond the tolerances.

        Returns
        -------
        list of Difference
        """
        if self.max_size != MAX_SIZE:
            return []
        found = []
        for dataset in self.datasets:
            for method in METHODS:
                shown = self.summary(dataset, method)
                for metric, printed in PRINTED[dataset][method]._asdict().items():
                    ours = shown.number(metric)
                    if not math.isnan(ours) and differs(metric, ours, printed):
                        found.append(Difference(dataset, method, metric, ours, printed))
        return found

    def beside_the_paper(self, metrics: Sequence[str]) -> str:
        """One of the paper's tables, the printed numbers in parentheses.

        Parameters
        ----------
        metrics : sequence of str
            Rows for each data set.

        Returns
        -------
        str
        """
        rows = [["data", "metric", *(_code(method) for method in METHODS)]]
        for dataset in self.datasets:
            for metric in metrics:
                cells = [self._beside(dataset, method, metric) for method in METHODS]
                rows.append([dataset + self._mark(dataset), _words(metric), *cells])
        rows += [[name, "not available", *("" for _ in METHODS)] for name in NOT_AVAILABLE]
        is_marked = any(self._mark(dataset) for dataset in self.datasets)
        return _markdown(rows) + (_FEWER if is_marked else "")

    def _mark(self, dataset: str) -> str:
        """A mark if pools are smaller than the paper's."""
        shown = self.summary(dataset, REFERENCE)
        models = [*shown.folds, *([shown.final] if shown.final else [])]
        return "" if all(model.grid == str(Grid()) for model in models) else " †"

    def _beside(self, dataset: str, method: str, metric: str) -> str:
        ours = self.summary(dataset, method).number(metric)
        if math.isnan(ours):
            return "-"
        text = _text(metric, ours)
        if self.max_size != MAX_SIZE:
            return text
        printed = getattr(PRINTED[dataset][method], metric)
        if differs(metric, ours, printed):
            text = f"**{text}**"
        return f"{text} ({_text(metric, printed)})"

    def other_methods(self) -> str:
        """Methods that the paper has no numbers of, as one table.

        Returns
        -------
        str
        """
        methods = [REFERENCE, *(name for name in POOLED if name not in METHODS)]
        metrics = ("test_cal", "train_cal", "test_auc", "train_auc", "loss", "model_size")
        rows = [["data", "metric", *(_code(method) for method in methods)]]
        for dataset in self.datasets:
            for metric in metrics:
                cells = [
                    _text(metric, self.summary(dataset, method).number(_of(method, metric)))
                    for method in methods
                ]
                rows.append([dataset, _words(metric), *cells])
        return _markdown(rows)

    def searches(self) -> str:
        """How RiskSLIM's searches ended.

        Returns
        -------
        str
        """
        rows = [
            [
                *("data", "size at most", "objective", "lower bound", "gap", "ended", "seconds"),
                *("CPU seconds", "limit", "folds proven", "largest gap of a fold"),
            ]
        ]
        for dataset in self.datasets:
            for size in self.sizes:
                shown = self.summary(dataset, RISKSLIM, size)
                if (final := shown.final) is None:
                    continue
                proven = sum(fold.status == "optimal" for fold in shown.folds)
                gaps = shown.of_folds("gap")
                rows.append(
                    [
                        dataset, str(size), f"{final.objective:.9f}",
                        f"{final.values['lower_bound']:.9f}", f"{final.values['gap']:.2%}",
                        final.status, f"{final.values['wall_seconds']:.1f}",
                        f"{final.values['cpu_seconds']:.1f}", f"{final.values['time_limit']:g} s",
                        f"{proven} of {len(gaps)}" if gaps else "-",
                        f"{max(gaps):.2%}" if gaps else "-",
                    ]
                )  # fmt: skip
        return _markdown(rows)

    def pools(self) -> str:
        """What pools were made of, and the time that they took.

        Returns
        -------
        str
        """
        rows = [["data", "rows", "elastic nets", "sets of rows", "seconds", "CPU seconds"]]
        for dataset in self.datasets:
            shown = self.summary(dataset, REFERENCE)
            final = [] if shown.final is None else [shown.final]
            for name, models in (("all", final), ("of folds", shown.folds)):
                if models:
                    times = (
                        f"{math.fsum(model.values[time] for model in models):.0f}"
                        for time in ("wall_seconds", "cpu_seconds")
                    )
                    grids = " or ".join(sorted({model.grid for model in models}))
                    rows.append([dataset, name, grids, str(len(models)), *times])
        return _markdown(rows)

    def certificates(self) -> str:
        """Whether any method is better than a certificate allows.

        Returns
        -------
        str
        """
        shown = [result for result in self.results.values() if result.dataset in self.datasets]
        searches = [result for result in shown if result.method == RISKSLIM]
        false = false_certificates(shown)
        lines = [
            f"{len(searches)} searches on {len({r.key[:2] for r in searches})} sets of training "
            "rows are compared with every score of the other methods, and of other sizes, that "
            f"meets their requirements. Scores better than a proven lower bound: {len(false)}."
        ]
        lines += [f"- FALSE CERTIFICATE: {_pair(pair)}" for pair in false]
        beaten = better_than_found(shown)
        if beaten:
            lines += [
                "\nSearches that their limit ended before they had found the best score known:\n",
                *(f"- {_pair(pair)}" for pair in beaten),
            ]
        return "\n".join(lines) + "\n"

    def report(self) -> Iterator[str]:
        """All parts.

        Yields
        ------
        str
            Markdown.
        """
        machines = sorted({result.machine for result in self.results.values()})
        yield (
            f"Model sizes of at most {self.max_size}, {self.n_folds} folds; {'; '.join(machines)}."
        )
        yield f"## Results\n\n{self.beside_the_paper(RESULTS)}"
        yield f"## Training and test\n\n{self.beside_the_paper(GENERALIZATION)}"
        if self.max_size == MAX_SIZE:
            yield f"## Differences\n\n{self._differences()}"
        yield f"## Other methods\n\n{self.other_methods()}"
        yield f"## Searches\n\n{self.searches()}"
        yield f"## Certificates\n\n{self.certificates()}"
        yield f"## Pools\n\n{self.pools()}"

    def _differences(self) -> str:
        allowed = ", ".join(
            f"{_words(metric)} {_text(metric, value)}"
            for metric, value in TOLERANCES._asdict().items()
            if metric != "model_size"
        )
        compared = sum(
            not math.isnan(self.summary(dataset, method).number(metric)) and not math.isnan(printed)
            for dataset in self.datasets
            for method in METHODS
            for metric, printed in PRINTED[dataset][method]._asdict().items()
        )
        found = self.differences()
        lines = [
            "Printed numbers are in parentheses. Bold ones are of another model size, or differ by "
            f"more than: {allowed} (of losses, or 1%).\n\n{len(found)} of {compared} numbers:\n",
            *(f"- {difference}" for difference in found),
        ]
        return "\n".join(lines) + "\n"


def _of(method: str, metric: str) -> str:
    """Scores of an elastic net are nearly all distinct: its CAL is one of ten bins."""
    return f"{metric}_bins" if method == REFERENCE and metric.endswith("_cal") else metric


def _pair(pair: Pair) -> str:
    search, other = pair
    rows = "all rows" if search.fold < 0 else f"fold {search.fold}"
    return (
        f"{search.dataset}, {rows}, size {search.max_size}: {search.objective:.9f} "
        f"({search.status}, lower bound {search.values['lower_bound']:.9f}), "
        f"{_code(other.method)} {other.objective:.9f}"
    )


def _words(metric: str) -> str:
    words = {"loss": "loss", "model_size": "model size", "gap": "gap"}
    rows, _, name = metric.partition("_")
    return words.get(metric) or f"{rows} {name.upper()}"


def _text(metric: str, value: float) -> str:
    if math.isnan(value):
        return "-"
    if metric in _PERCENT:
        return f"{value:.2%}" if 0 < value < 0.001 else f"{value:.1%}"
    return f"{value:.0f}" if metric == "model_size" else f"{value:.3f}"


def _code(name: str) -> str:
    """A name with a star, which is not to be read as emphasis."""
    return f"`{name}`"


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    lines = [" | ".join(row) for row in rows]
    lines.insert(1, " | ".join("---" for _ in rows[0]))
    return "".join(f"| {line} |\n" for line in lines)
