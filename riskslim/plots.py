"""Diagrams of a risk score: reliability, ROC curve, decision curve, histogram of scores.

Each function draws what :mod:`riskslim.metrics` has computed on one pair of axes, and returns
the axes. All need matplotlib, which the extra ``report`` brings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim.metrics.calibration import ReliabilityCurve
from riskslim.metrics.decision import DecisionCurve
from riskslim.metrics.discrimination import OperatingPoints
from riskslim.metrics.rows import MOST_DISTINCT_SCORES, checked_rows
from riskslim.score.drawing import pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.ticker import FixedLocator

__all__ = [
    "plot_decision_curve",
    "plot_reliability",
    "plot_risk_by_score",
    "plot_roc",
    "plot_score_histogram",
]

# From the palette of Okabe and Ito, which people with any kind of colour vision can tell apart.
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
COLOURS = (BLUE, ORANGE, GREEN, PURPLE)
GREY = "#9A9A9A"
# From here on there are no numbers between integers in double precision.
_NO_HALVES = 2**52
# A net benefit below this share of the largest one is not told apart from 0.
_LEAST_BENEFIT = 0.02
# Size of a label in shares of an axis: height, and width per character.
_LABEL_HEIGHT, _CHARACTER_WIDTH = 0.045, 0.024
# Labels of scores: steps between them, and widths in letters' heights, of a digit, of the least
# distance of two middles, and of a label in matplotlib's own count of those that there is room for.
_STEPS = (1, 2, 5, 10)
_DIGIT_WIDTH, _LEAST_DISTANCE, _TICK_SPACE = 0.65, 2.0, 3.0


def plot_reliability(
    curve: ReliabilityCurve,
    *,
    folds: Iterable[ReliabilityCurve] = (),
    label: str = "all rows",
    fold_label: str = "folds, test rows",
    intervals: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw a reliability diagram: observed against predicted risk.

    Parameters
    ----------
    curve : ReliabilityCurve
    folds : iterable of ReliabilityCurve, optional
        Drawn in grey beneath, as in Ustun & Rudin (2019), figure 7.
    label, fold_label : str
        What the legend says of them.
    intervals : bool, default True
        Whether to draw the confidence intervals of the observed risks.
    ax : matplotlib axes, optional
        Default: a new figure.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ImportError
        matplotlib is not installed.

    Examples
    --------
    >>> from riskslim.metrics import reliability_curve
    >>> from riskslim.plots import plot_reliability
    >>> curve = reliability_curve([0, 0, 1, 0, 1, 1], [0.2, 0.2, 0.2, 0.6, 0.6, 0.6])
    >>> plot_reliability(curve).get_xlabel()
    'Predicted risk'
    """
    ax = _axes(ax, (5.0, 5.0))
    ax.plot([0, 1], [0, 1], color="black", linestyle=":", linewidth=1, zorder=1)
    for k, fold in enumerate(folds):
        ax.plot(
            fold.predicted, fold.observed, color=GREY, linewidth=1, marker="o", markersize=3,
            alpha=0.8, zorder=2, label=None if k else fold_label,
        )  # fmt: skip
    if intervals:
        ends = np.abs(np.stack([curve.lower, curve.upper]) - curve.observed)
        ax.errorbar(
            curve.predicted, curve.observed, ends, fmt="none", ecolor=BLUE, elinewidth=1,
            capsize=2.5, alpha=0.7, zorder=3,
        )  # fmt: skip
    ax.plot(
        curve.predicted, curve.observed, color=BLUE, linewidth=1.5, marker="o", markersize=5,
        zorder=4, label=f"{label}: CAL {curve.calibration_error:.1%}",
    )  # fmt: skip
    _unit_square(ax, "Predicted risk", "Observed risk", percent=True)
    _legend_above(ax, 1)
    return ax


def plot_risk_by_score(
    curve: ReliabilityCurve, *, label: str = "observed", ax: Axes | None = None
) -> Axes:
    """Draw predicted and observed risk against the score.

    Parameters
    ----------
    curve : ReliabilityCurve
        Of scores as people add them up, not of risks.
    label : str
        What the legend says of the observed risks.
    ax : matplotlib axes, optional
        Default: a new figure.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ImportError
        matplotlib is not installed.

    Examples
    --------
    >>> from riskslim.metrics import reliability_curve
    >>> from riskslim.plots import plot_risk_by_score
    >>> curve = reliability_curve([0, 0, 1, 1], [0.2, 0.2, 0.2, 0.6], scores=[0, 0, 0, 3])
    >>> plot_risk_by_score(curve).get_ylabel()
    'Risk'
    """
    ax = _axes(ax, (6.0, 4.2))
    ends = np.abs(np.stack([curve.lower, curve.upper]) - curve.observed)
    ax.plot(curve.scores, curve.predicted, color=ORANGE, linewidth=1.5, label="predicted", zorder=2)
    ax.errorbar(
        curve.scores, curve.observed, ends, fmt="o", color=BLUE, markersize=5, elinewidth=1,
        capsize=2.5, label=f"{label}, {curve.level:.0%} interval", zorder=3,
    )  # fmt: skip
    ax.set(xlabel="Score", ylabel="Risk", ylim=(0, None))
    _in_percent(ax.yaxis)
    _plain_frame(ax)
    _legend_above(ax, 2)
    return ax


def plot_roc(
    points: OperatingPoints,
    *,
    folds: Iterable[OperatingPoints] = (),
    label: str = "all rows",
    fold_label: str = "folds, test rows",
    mark: bool | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the ROC curve with its operating points, each labelled by its threshold.

    Parameters
    ----------
    points : OperatingPoints
        Those of the score itself, whose thresholds people know, rather than of risks.
    folds : iterable of OperatingPoints, optional
        Drawn in grey beneath.
    label, fold_label : str
        What the legend says of them.
    mark : bool, optional
        Whether to mark and label the operating points. Default: if there are at most 30. Labels
        that would lie on top of another one are left out.
    ax : matplotlib axes, optional
        Default: a new figure.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ImportError
        matplotlib is not installed.

    Examples
    --------
    >>> from riskslim.metrics import operating_points
    >>> from riskslim.plots import plot_roc
    >>> points = operating_points([0, 0, 1, 1], [0, 1, 1, 2])
    >>> plot_roc(points).get_xlabel()
    'False positive rate (1 - specificity)'
    """
    ax = _axes(ax, (5.0, 5.0))
    ax.plot([0, 1], [0, 1], color="black", linestyle=":", linewidth=1, zorder=1)
    for k, fold in enumerate(folds):
        ax.plot(
            fold.fpr, fold.sensitivity, color=GREY, linewidth=1, alpha=0.8, zorder=2,
            label=None if k else fold_label,
        )  # fmt: skip
    ax.plot(
        points.fpr, points.sensitivity, color=BLUE, linewidth=1.5, zorder=3,
        label=f"{label}: AUC {points.auc:.3f}",
    )  # fmt: skip
    if len(points) - 1 <= MOST_DISTINCT_SCORES if mark is None else mark:
        _mark_thresholds(ax, points)
    _unit_square(ax, "False positive rate (1 - specificity)", "Sensitivity")
    ax.legend(loc="lower right", frameon=False)
    return ax


def _mark_thresholds(ax: Axes, points: OperatingPoints) -> None:
    x, y = points.fpr[1:], points.sensitivity[1:]
    ax.plot(x, y, color=BLUE, linestyle="none", marker="o", markersize=5, zorder=4)
    shown: list[NDArray[np.float64]] = []
    for threshold, place in zip(points.thresholds[1:], zip(x, y, strict=True), strict=True):
        text = f"≥ {threshold:.4g}".replace("-", "\N{MINUS SIGN}")
        corner, box = _label_place(text, place)
        if any((box[0] < other[1]).all() and (other[0] < box[1]).all() for other in shown):
            continue
        shown.append(box)
        ax.text(
            *corner, text, va="bottom", fontsize=9, zorder=5,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.8},
        )  # fmt: skip


def _label_place(
    text: str, place: tuple[float, float]
) -> tuple[tuple[float, float], NDArray[np.float64]]:
    """Lower left corner and box of a label: below its point and to the right; not at the ends."""
    width = _CHARACTER_WIDTH * len(text)
    x = place[0] + 0.015
    y = max(place[1] - 0.01 - _LABEL_HEIGHT, -0.01)
    if x + width > 1.02:
        x, y = 1.02 - width, y - 0.025
    return (x, y), np.array([[x, y], [x + width, y + _LABEL_HEIGHT]])


def plot_decision_curve(
    curve: DecisionCurve, *, label: str = "risk score", ax: Axes | None = None
) -> Axes:
    """Draw net benefit against the risk from which on one acts.

    Parameters
    ----------
    curve : DecisionCurve
    label : str
        What the legend says of the curve.
    ax : matplotlib axes, optional
        Default: a new figure.

    Returns
    -------
    matplotlib axes
        Of curves that lie on 0 for more than half of their thresholds the rest is not shown.

    Raises
    ------
    ImportError
        matplotlib is not installed.

    Examples
    --------
    >>> from riskslim.metrics import decision_curve
    >>> from riskslim.plots import plot_decision_curve
    >>> curve = decision_curve([0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9])
    >>> plot_decision_curve(curve).get_xlabel()
    'Risk from which on one acts'
    """
    ax = _axes(ax, (6.0, 4.2))
    ax.plot(curve.thresholds, curve.net_benefit, color=BLUE, linewidth=1.8, label=label)
    ax.plot(curve.thresholds, curve.treat_all, color=ORANGE, linestyle="--", label="act on all")
    ax.axhline(0.0, color="black", linestyle=":", linewidth=1.2, label="act on none")
    # Acting on all has no lower end; the part that can be told apart from 0 is shown.
    top = max(float(curve.net_benefit.max()), float(curve.treat_all.max()), 1e-3)
    end = _last_threshold(curve, _LEAST_BENEFIT * top)
    low = min(float(curve.net_benefit[curve.thresholds <= end].min()), -0.1 * top)
    ax.set_ylim(1.1 * low, 1.08 * top)
    if len(curve) > 1:
        ax.set_xlim(float(curve.thresholds.min()), end)
    _in_percent(ax.xaxis)
    ax.set_xlabel("Risk from which on one acts")
    ax.set_ylabel("Net benefit")
    _plain_frame(ax)
    _legend_above(ax, 3)
    return ax


def _last_threshold(curve: DecisionCurve, least: float) -> float:
    """The end of the axis: where the net benefit is at least so much, if that is far from the end.

    Of a rare outcome all curves are on 0 for most risks, and in a corner of the picture before.
    """
    end = float(curve.thresholds.max())
    useful = curve.thresholds[np.maximum(curve.net_benefit, curve.treat_all) >= least]
    if not len(useful) or 2 * useful.max() >= end:
        return end
    beyond = curve.thresholds[curve.thresholds >= 1.25 * useful.max()]
    return float(beyond.min())


def plot_score_histogram(
    y_true: ArrayLike,
    scores: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    class_names: Sequence[str] = ("negative", "positive"),
    pos_label: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how the scores of each class are distributed.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    scores : array-like of shape (n,)
    sample_weight : array-like of shape (n,), optional
    class_names : (negative, positive)
        What the legend says of the classes.
    pos_label : optional
        As in :func:`~riskslim.metrics.calibration_error`.
    ax : matplotlib axes, optional
        Default: a new figure.

    Returns
    -------
    matplotlib axes
        Bars side by side: the share of each class that has a score; of real-valued scores, and of
        more than 30 distinct ones, that lies in an interval.

    Raises
    ------
    ImportError
        matplotlib is not installed.
    ValueError
        As in :func:`~riskslim.metrics.calibration_error`.

    Examples
    --------
    >>> from riskslim.plots import plot_score_histogram
    >>> y, scores = [0, 0, 1, 1], [0, 1, 1, 2]
    >>> plot_score_histogram(y, scores, class_names=("benign", "malignant")).get_xlabel()
    'Score'
    """
    positive, values, weight = checked_rows(y_true, scores, sample_weight, pos_label, "scores")
    ax = _axes(ax, (6.0, 4.2))
    edges = _edges(values)
    width = float(edges[1] - edges[0])
    middles = 0.5 * (edges[1:] + edges[:-1])
    classes = zip((~positive, positive), class_names, COLOURS, (-1, 1), strict=False)
    for rows, name, colour, side in classes:
        shares = np.histogram(values[rows], edges, weights=weight[rows])[0]
        shares = shares / max(float(weight[rows].sum()), np.finfo(float).tiny)
        ax.bar(
            middles + 0.21 * side * width, shares, 0.4 * width, color=colour, label=name,
            hatch="//" if side > 0 else None, edgecolor="white", linewidth=0.5,
        )  # fmt: skip
    if width == 1.0 and len(middles) <= MOST_DISTINCT_SCORES:
        ax.xaxis.set_major_locator(_score_locator(middles))
        ax.set_xticks(middles, minor=True)
    _in_percent(ax.yaxis)
    ax.set_xlabel("Score")
    ax.set_ylabel("Share of the class")
    ax.margins(y=0.15)
    _plain_frame(ax)
    # Two long names beside each other would be wider than the axes.
    is_long = max(len(line) for name in class_names for line in name.splitlines() or [""]) > 28
    _legend_above(ax, 1 if is_long else 2)
    return ax


def _score_locator(scores: NDArray[np.float64]) -> FixedLocator:
    """Labels of consecutive scores, as many as there is room for.

    Every score has one, or every second, fifth or tenth where the axis is too short when it is
    drawn.
    """
    from matplotlib.axis import Axis
    from matplotlib.ticker import FixedLocator

    class ScoreLocator(FixedLocator):  # here, since its base comes with matplotlib
        def tick_values(self, vmin: Any, vmax: Any) -> Any:
            """Scores that get a label, whatever the limits of the axis."""
            longest = max(len(f"{score:.0f}") for score in scores)
            assert isinstance(self.axis, Axis)
            letters = max(_DIGIT_WIDTH * (longest + 1), _LEAST_DISTANCE)
            room = self.axis.get_tick_space() * _TICK_SPACE / letters
            step = next((k for k in _STEPS if len(scores) <= k * room), _STEPS[-1])
            labelled = scores[scores % step == 0]
            return labelled if len(labelled) else scores[:1]

    return ScoreLocator(scores.tolist())


def _edges(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bars around integers where the scores are few integers, else equal intervals."""
    low, high = float(values.min()), float(values.max())
    are_integers = np.array_equal(values, np.rint(values)) and np.abs(values).max() < _NO_HALVES
    if are_integers and high - low < MOST_DISTINCT_SCORES:
        return np.arange(low - 0.5, high + 1.0)
    if low == high:
        return low + max(abs(low), 1.0) * np.array([-0.5, 0.5])
    return np.asarray(np.histogram_bin_edges(values, bins=20))


# ---------------------------------------------------------------------------------------------
# What the diagrams share
# ---------------------------------------------------------------------------------------------


def _axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    return new_axes(size) if ax is None else ax


def new_axes(size: tuple[float, float], rows: int = 1, columns: int = 1) -> Any:
    """Make a figure.

    Parameters
    ----------
    size : (width, height)
        In inches.
    rows, columns : int

    Returns
    -------
    matplotlib axes, or an array of them

    Raises
    ------
    ImportError
        matplotlib is not installed.
    """
    return pyplot().subplots(rows, columns, figsize=size, layout="constrained")[1]


def shades(n: int) -> list[str]:
    """Colours of lines in an order, from light to dark.

    Parameters
    ----------
    n : int

    Returns
    -------
    list of str
    """
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(colormaps["Blues"](shade)) for shade in np.linspace(1.0, 0.4, n)[::-1]]


def plot_line(
    ax: Axes,
    values: Sequence[tuple[float, float]],
    colour: str,
    label: str,
    *,
    dashed: bool = False,
    percent: bool = False,
) -> None:
    """Draw values at whole numbers, for example of model sizes.

    Parameters
    ----------
    ax : matplotlib axes
    values : sequence of (x, y)
    colour, label : str
    dashed, percent : bool
        Whether the line is dashed, and whether the axis of the values is in percent.
    """
    from matplotlib.ticker import MaxNLocator

    ax.plot(
        [x for x, _ in values], [y for _, y in values], color=colour, label=label, marker="o",
        markersize=4, linestyle="--" if dashed else "-",
    )  # fmt: skip
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if percent:
        _in_percent(ax.yaxis)
    _plain_frame(ax)


def plot_rules(
    trained: Sequence[tuple[str, float, float]],
    tested: Sequence[tuple[str, float, float]] = (),
    folds: Sequence[tuple[float, float]] = (),
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw sensitivity against specificity of several rules.

    Parameters
    ----------
    trained, tested : sequence of (str, float, float)
        Name, specificity and sensitivity of each, on the training rows and, in the mean, on the
        test rows of folds. The same name is joined by a line.
    folds : sequence of (float, float)
        The same of each fold.
    ax : matplotlib axes, optional
        Default: a new figure.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ImportError
        matplotlib is not installed.

    Examples
    --------
    >>> from riskslim.plots import plot_rules
    >>> ax = plot_rules([("1", 0.2, 0.95), ("2", 0.4, 0.95)], [("1", 0.2, 0.94), ("2", 0.4, 0.9)])
    >>> ax.get_ylabel()
    'Sensitivity'
    """
    ax = _axes(ax, (6.0, 4.2))
    if folds:
        ax.scatter(
            [x for x, _ in folds], [y for _, y in folds], color=GREY, s=9, zorder=1,
            label="each fold, test rows",
        )  # fmt: skip
    means = {name: (x, y) for name, x, y in tested}
    for name, x, y in trained:
        if name in means:
            ax.plot([x, means[name][0]], [y, means[name][1]], color=GREY, linewidth=1, zorder=2)
    for rules, colour, label in (
        (trained, BLUE, "training rows"), (tested, ORANGE, "mean of folds, test rows"),
    ):  # fmt: skip
        if rules:
            ax.scatter(
                [x for _, x, _ in rules], [y for _, _, y in rules], color=colour, s=30, zorder=3,
                label=label,
            )  # fmt: skip
        for name, x, y in rules:
            ax.annotate(
                name, (x, y), xytext=(4, 4), textcoords="offset points", color=colour, fontsize=9,
            )  # fmt: skip
    ax.set(xlabel="Specificity", ylabel="Sensitivity")
    _in_percent(ax.xaxis)
    _in_percent(ax.yaxis)
    _plain_frame(ax)
    ax.legend(frameon=False)
    return ax


def _in_percent(axis: Axis) -> None:
    """Ticks in percent: at round steps, each with the decimals that it has."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda share, _: _percent(share)))


def _percent(share: float) -> str:
    return f"{100 * share:.6g}%".replace("-", "\N{MINUS SIGN}")


def _unit_square(ax: Axes, x_label: str, y_label: str, *, percent: bool = False) -> None:
    # A little room, so that markers at the ends are whole.
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal", xlabel=x_label, ylabel=y_label)
    if percent:
        _in_percent(ax.xaxis)
        _in_percent(ax.yaxis)
    _plain_frame(ax)


def _plain_frame(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)


def _legend_above(ax: Axes, columns: int) -> None:
    """Put the legend outside of the axes, since curves and bars can be anywhere."""
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, frameon=False)
