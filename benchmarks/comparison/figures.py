"""Loss, CAL and AUC against the model size, and reliability diagrams."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scipy.special import expit

from benchmarks.comparison.data import ALL_ROWS, Source, load
from benchmarks.comparison.paper import METHODS, POOLED, TRADITIONAL
from benchmarks.comparison.pools import REFERENCE
from benchmarks.comparison.results import RISKSLIM, Result
from benchmarks.comparison.tables import Tables
from benchmarks.experiments.figures import pyplot, save
from riskslim.metrics import ReliabilityCurve, reliability_curve
from riskslim.plots import plot_reliability

# The palette of Okabe and Ito. Lines differ in style and marker as well.
_BLUE = {"color": "#0072B2", "linestyle": "--", "marker": "^"}
_ORANGE = {"color": "#D55E00", "linestyle": "-.", "marker": "s"}
_PURPLE = {"color": "#CC79A7", "linestyle": ":", "marker": "D"}
_GREEN = {"color": "#009E73", "linestyle": "-", "marker": "o"}
FIGURES: dict[str, dict[str, dict[str, Any]]] = {
    "traditional": dict(zip(TRADITIONAL, (_BLUE, _ORANGE, _PURPLE), strict=True)),
    "pooled": dict(zip(POOLED, (_BLUE, _ORANGE, _PURPLE), strict=True)),
}
_PANELS = (
    ("train_loss", "training loss"),
    ("test_cal", "test CAL, mean of folds"),
    ("test_auc", "test AUC, mean of folds"),
)


def plot_sizes(tables: Tables, kind: str, path: Path) -> bool:
    """Draw three panels per data set: training loss, test CAL and test AUC.

    Parameters
    ----------
    tables : Tables
    kind : {"traditional", "pooled"}
        Methods beside RiskSLIM.
    path : Path

    Returns
    -------
    bool
        False if there are not two sizes to draw.
    """
    styles = {**FIGURES[kind], RISKSLIM: _GREEN}
    datasets = [name for name in tables.datasets if len(_sizes(tables, name, styles)) > 1]
    if not datasets:
        return False
    plt = pyplot()
    figure, axes = plt.subplots(
        len(datasets), 3, figsize=(9.5, 0.9 + 2.1 * len(datasets)), squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for row, dataset in zip(axes, datasets, strict=True):
        sizes = _sizes(tables, dataset, styles)
        for axis, (metric, title) in zip(row, _PANELS, strict=True):
            for method, style in styles.items():
                _draw_line(axis, tables, dataset, method, sizes, metric, style)
            _draw_reference(axis, tables, dataset, metric)
            _finish(axis, metric, sizes)
            if axis in axes[0]:
                axis.set_title(title, fontsize=10)
            if axis in axes[-1]:
                axis.set_xlabel("model size at most", fontsize=9)
        row[0].set_ylabel(dataset, fontsize=10)
    handles: dict[str, Any] = {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(
        handles.values(), handles.keys(), ncols=len(handles), frameon=False, fontsize=9,
        loc="outside upper center",
    )  # fmt: skip
    save(figure, path)
    return True


def _sizes(tables: Tables, dataset: str, methods: Any) -> list[int]:
    return [
        size
        for size in tables.sizes
        if any(tables.summary(dataset, method, size).final for method in methods)
    ]


def _draw_line(
    axis: Any, tables: Tables, dataset: str, method: str, sizes: Sequence[int], metric: str,
    style: dict[str, Any],
) -> None:  # fmt: skip
    x, y, low, high = [], [], [], []
    for size in sizes:
        shown = tables.summary(dataset, method, size)
        if metric.startswith("test_"):
            values = shown.of_folds(metric)
        else:
            values = [shown.final.values[metric]] if shown.final else []
        if values:
            x.append(size)
            y.append(sum(values) / len(values))
            low.append(min(values))
            high.append(max(values))
    order = 3 if method == RISKSLIM else 2
    axis.plot(x, y, **style, markersize=4, linewidth=1.5, label=method, zorder=order)
    if len(x) > 1:
        axis.fill_between(x, low, high, color=style["color"], alpha=0.12, linewidth=0, zorder=1)


def _draw_reference(axis: Any, tables: Tables, dataset: str, metric: str) -> None:
    """A line for the elastic net with as many features as it likes."""
    shown = tables.summary(dataset, REFERENCE)
    if metric == "train_loss":
        values = [shown.final.values[metric]] if shown.final else []
    else:
        values = shown.of_folds("test_cal_bins" if metric == "test_cal" else metric)
    lowest = min((min(line.get_ydata()) for line in axis.lines if len(line.get_ydata())), default=0)
    # A loss far below those of all risk scores would make their differences invisible.
    if values and (metric != "train_loss" or values[0] > lowest / 5):
        axis.axhline(sum(values) / len(values), color="black", linewidth=1, label="PLR, any size")


def _finish(axis: Any, metric: str, sizes: Sequence[int]) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter, PercentFormatter

    if metric == "train_loss":
        # Rescaled coefficients can lose many times as much as the others.
        axis.set_yscale("log")
        low, high = axis.get_ylim()
        few, many = (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8)
        axis.yaxis.set_major_locator(LogLocator(subs=few if high > 8 * low else many))
        axis.yaxis.set_major_formatter("{x:g}")
        axis.yaxis.set_minor_formatter(NullFormatter())
    elif metric == "test_cal":
        axis.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axis.set_ylim(bottom=0)
    axis.set_xticks(sizes)
    axis.tick_params(labelsize=8)
    axis.grid(alpha=0.3)
    axis.spines[["top", "right"]].set_visible(False)


def plot_reliabilities(tables: Tables, source: Source, path: Path) -> None:
    """Draw a reliability diagram per data set and method, the folds in grey.

    Parameters
    ----------
    tables : Tables
    source : Source
        Of the data: risks are predicted anew.
    path : Path
    """
    plt = pyplot()
    n_rows = len(tables.datasets)
    handles: list[Any] = []
    figure, axes = plt.subplots(
        n_rows, len(METHODS), figsize=(1.75 * len(METHODS) + 0.6, 1.75 * n_rows + 0.8),
        sharex=True, sharey=True, squeeze=False, layout="constrained",
    )  # fmt: skip
    for row, dataset in zip(axes, tables.datasets, strict=True):
        for axis, method in zip(row, METHODS, strict=True):
            shown = tables.summary(dataset, method)
            if shown.final is None:
                axis.set_axis_off()
                continue
            final = _curve(source, shown.final)
            folds = [_curve(source, fold) for fold in shown.folds]
            plot_reliability(final, folds=folds, intervals=False, ax=axis)
            handles = axis.get_legend_handles_labels()[0]
            axis.get_legend().remove()
            axis.set(xlabel="", ylabel="", xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
            axis.tick_params(labelsize=8)
            for line in axis.lines:
                line.set_markersize(3)
        row[0].set_ylabel(dataset, fontsize=10)
    for axis, method in zip(axes[0], METHODS, strict=True):
        axis.set_title(method, fontsize=10)
    labels = ("folds, test rows", "final model, training rows")[-len(handles) :]
    figure.legend(handles, labels, ncols=2, frameon=False, fontsize=10, loc="outside upper center")
    figure.supxlabel("predicted risk", fontsize=10)
    figure.supylabel("observed risk", fontsize=10)
    save(figure, path)


def _curve(source: Source, result: Result) -> ReliabilityCurve:
    data = load(source, result.dataset)
    X, y = data.train(ALL_ROWS) if result.fold == ALL_ROWS else data.test(result.fold)
    scores = X @ result.coefficients(data.feature_names) + result.intercept
    return reliability_curve(y, expit(scores), scores=scores)
