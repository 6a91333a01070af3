"""Methods on data of many sizes (section 3, figure on LCPA, CPA and a commercial MINLP solver).

For each number of rows and of features: time until a method has a score whose objective is within
10% of the best one that is known, its gap when it ends, and the share of its time that it spends
on data. SCIP, a general solver of nonlinear programs with integers, has the place of the
commercial one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.experiments.figures import markdown, note, pyplot, save
from benchmarks.experiments.methods import LABELS
from benchmarks.experiments.runs import Case, Run
from benchmarks.experiments.sizes import Sizes

METHODS = ("lcpa", "lcpa_basic", "cpa", "branch_and_bound", "scip_minlp")

# A good score's objective is at most this much above the best one's.
GOOD = 0.10


def cases(sizes: Sizes) -> list[Case]:
    """Runs that the figure needs; SCIP has one row per distinct row of the data, so few of them."""
    return [
        Case(method, n, d)
        for n in sizes.grid_n
        for d in sizes.grid_d
        for method in METHODS
        if method != "scip_minlp" or n <= sizes.scip_max_n
    ]


def best_known(runs: Iterable[Run], n: int, d: int) -> float:
    """Objective of the best score that any run has found on these data.

    Parameters
    ----------
    runs : iterable of Run
        Of any method and limit.
    n, d : int

    Returns
    -------
    float
        Data with fewer features are nested in those with more, so that their scores count, too;
        infinite without any.
    """
    return min(
        (run.values["objective"] for run in runs if run.case.n == n and run.case.d <= d),
        default=math.inf,
    )


def seconds_to_good(run: Run, best: float) -> float:
    """Time until a run had a good score.

    Parameters
    ----------
    run : Run
    best : float
        From :func:`best_known`.

    Returns
    -------
    float
        Infinite if it never had one.
    """
    limit = (1.0 + GOOD) * best
    return next((r.time for r in run.trace if r.upper_bound <= limit), math.inf)


def measures(run: Run, best: float) -> tuple[float, float, float]:
    """Seconds to a good score, gap in percent, and percent of time spent on data.

    Parameters
    ----------
    run : Run
    best : float

    Returns
    -------
    tuple of float
        Infinite if there is no such time, NaN if it is not known.
    """
    gap = run.values["gap"]
    share = 100 * run.values["data_seconds"] / run.values["total_seconds"]
    return seconds_to_good(run, best), 100 * (1.0 if math.isnan(gap) else min(gap, 1.0)), share


_TITLES = ("seconds to a\ngood score", "gap at the\nend, %", "time spent on\ndata, %")


def plot(runs: Mapping[Case, Run], sizes: Sizes, path: Path) -> None:
    """Draw a map of cells per method and measure.

    Parameters
    ----------
    runs : mapping
        Those that have ended; what is missing is left white.
    sizes : Sizes
    path : Path
    """
    plt = pyplot()
    from matplotlib.colors import LogNorm, Normalize

    shown = [run for case, run in runs.items() if case in cases(sizes)]
    limit = max(run.time_limit for run in shown)
    norms = (LogNorm(limit / 1000, limit, clip=True), Normalize(0, 100), Normalize(0, 100))
    # Dark is bad for time and gap; a share of time is neither.
    maps = ("cividis_r", "cividis_r", "Blues")
    width = 1.1 + len(METHODS) * (0.48 * len(sizes.grid_n) + 0.35)
    figure, axes = plt.subplots(
        3, len(METHODS), figsize=(max(width, 7.5), 1.0 + 3 * (0.30 * len(sizes.grid_d) + 0.45)),
        sharex=True, sharey=True, layout="constrained",
    )  # fmt: skip
    for k, (title, norm, colours) in enumerate(zip(_TITLES, norms, maps, strict=True)):
        for axis, method in zip(axes[k], METHODS, strict=True):
            _draw(axis, _cells(runs, sizes, method, k), norm, colours, is_time=k == 0)
            axis.set_xticks(range(len(sizes.grid_n)), [_short(n) for n in sizes.grid_n])
            axis.set_yticks(range(len(sizes.grid_d)), sizes.grid_d)
        axes[k][0].set_ylabel(f"{title}\n\nd", fontsize=8)
    for axis, method in zip(axes[0], METHODS, strict=True):
        axis.set_title(LABELS[method], fontsize=9)
    for axis in axes[-1]:
        axis.set_xlabel("n", fontsize=8)
    note(figure, shown)
    save(figure, path)


def _cells(runs: Mapping[Case, Run], sizes: Sizes, method: str, k: int) -> list[list[float | None]]:
    return [
        [
            measures(runs[case], best_known(runs.values(), case.n, case.d))[k]
            if (case := Case(method, n, d)) in runs
            else None
            for n in sizes.grid_n
        ]
        for d in sizes.grid_d
    ]


def _draw(
    axis: Any, cells: list[list[float | None]], norm: Any, colours: str, *, is_time: bool
) -> None:
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    for i, row in enumerate(cells):
        for j, value in enumerate(row):
            if value is None or math.isnan(value):
                face, text = "white", "" if value is None else "?"
            else:
                face = colormaps[colours](float(norm(min(value, norm.vmax))))
                text = "never" if math.isinf(value) else _number(value, is_time)
            hatch = "///" if value is None else None
            axis.add_patch(
                Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor=face, edgecolor="0.8", hatch=hatch)
            )
            axis.text(j, i, text, ha="center", va="center", fontsize=7, color=_ink(face))
    axis.set(xlim=(-0.5, len(cells[0]) - 0.5), ylim=(-0.5, len(cells) - 0.5))
    axis.tick_params(length=0, labelsize=8)


def _ink(face: Any) -> str:
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(face)
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"


def _number(value: float, is_time: bool) -> str:
    if is_time:
        if value < 0.01:
            return "<.01"
        return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 10 else f"{value:.0f}"
    return f"{value:.1f}" if 0 < value < 10 else f"{value:.0f}"


def _short(n: int) -> str:
    return f"{n / 1e6:g}M" if n >= 10**6 else f"{n / 1000:g}k" if n >= 1000 else str(n)


def table(runs: Mapping[Case, Run], sizes: Sizes) -> str:
    """All measures, as Markdown.

    Parameters
    ----------
    runs : mapping
    sizes : Sizes

    Returns
    -------
    str
    """
    head = ("n", "d", "best known", "method", "objective", "to a good score", "gap", "on data",
            "seconds")  # fmt: skip

    def cells(case: Case, run: Run) -> tuple[Any, ...]:
        best = best_known(runs.values(), case.n, case.d)
        seconds, gap, share = measures(run, best)
        return (
            case.n, case.d, f"{best:.6f}", LABELS[case.method], f"{run.values['objective']:.6f}",
            "never" if math.isinf(seconds) else f"{seconds:.2f} s", f"{gap:.2f}%",
            f"{share:.0f}%", f"{run.values['total_seconds']:.1f}",
        )  # fmt: skip

    return markdown(head, runs, cases(sizes), cells)
