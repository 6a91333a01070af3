"""What each improvement of LCPA does alone (section 4 and the appendix on improvements).

Every row of the figure has one improvement that is switched on beside LCPA with all of them
off: upper bound, lower bound and gap against nodes of the search tree. Points mark better scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.experiments.figures import markdown, note, pyplot, save
from benchmarks.experiments.methods import IMPROVEMENTS, LABELS
from benchmarks.experiments.runs import Case, Run
from benchmarks.experiments.sizes import Sizes

# Rows of the figure, each with the methods that are drawn beside basic LCPA.
ROWS = (
    ("lcpa_polishing",),
    ("lcpa_rounding", "lcpa_rounding_polishing"),
    ("lcpa_chained_updates",),
    ("lcpa_initialization",),
    ("lcpa_fractional_cuts", "lcpa_branching_priority"),
    ("lcpa",),
)
METHODS = ("lcpa_basic", *IMPROVEMENTS, "lcpa")

_BASIC = {"color": "#000000", "linestyle": "-"}
_IMPROVED = (
    {"color": "#D55E00", "linestyle": "-"},
    {"color": "#0072B2", "linestyle": "--"},
)


def cases(sizes: Sizes) -> list[Case]:
    """Runs that the figure needs."""
    return [Case(method, sizes.n, sizes.improvements_d) for method in METHODS]


def plot(runs: Mapping[Case, Run], sizes: Sizes, path: Path) -> None:
    """Draw one row per improvement.

    Parameters
    ----------
    runs : mapping
        Those that have ended; what is missing is left out.
    sizes : Sizes
    path : Path
    """
    plt = pyplot()
    from matplotlib.ticker import LogLocator

    figure, axes = plt.subplots(
        len(ROWS), 3, figsize=(10, 2.1 * len(ROWS) + 0.8), layout="constrained", sharex=True,
        sharey="col",
    )  # fmt: skip
    for row, methods in zip(axes, ROWS, strict=True):
        for method, style in zip(("lcpa_basic", *methods), (_BASIC, *_IMPROVED), strict=False):
            run = runs.get(Case(method, sizes.n, sizes.improvements_d))
            if run is not None:
                label = "all improvements" if method == "lcpa" else LABELS[method]
                _draw(row, run, {**style, "label": label})
        row[0].set(yscale="log", ylabel="upper bound")
        row[1].set(ylabel="lower bound")
        row[2].set(ylabel="optimality gap, %", ylim=(-3, 103))
        row[0].legend(frameon=False, fontsize=8, loc="upper right")
        row[0].yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        row[0].yaxis.set_major_formatter("{x:g}")
        row[0].yaxis.set_minor_formatter("")
        for axis in row:
            axis.set_xscale("log")
            axis.grid(alpha=0.3)
    for axis in axes[-1]:
        axis.set_xlabel("nodes + 1")
    figure.suptitle(
        f"Improvements of LCPA, n = {sizes.n:,}, d = {sizes.improvements_d}", fontsize=11
    )
    note(figure, (run for case, run in runs.items() if case in cases(sizes)))
    save(figure, path)


def _draw(row: Any, run: Run, style: dict[str, str]) -> None:
    nodes = [record.nodes + 1 for record in run.trace]
    better = [i for i, record in enumerate(run.trace)
              if i == 0 or record.upper_bound < run.trace[i - 1].upper_bound]  # fmt: skip
    for axis, values in zip(
        row,
        (
            [record.upper_bound for record in run.trace],
            [max(record.lower_bound, 0.0) for record in run.trace],
            [100 * min(record.gap, 1.0) for record in run.trace],
        ),
        strict=True,
    ):
        axis.step(nodes, values, where="post", linewidth=1.3, **style)
        axis.plot(
            [nodes[i] for i in better], [values[i] for i in better], ".", color=style["color"]
        )


def table(runs: Mapping[Case, Run], sizes: Sizes) -> str:
    """Bounds at the end, as Markdown.

    Parameters
    ----------
    runs : mapping
    sizes : Sizes

    Returns
    -------
    str
    """
    head = ("n", "d", "switched on", "upper bound", "lower bound", "gap", "nodes", "cuts",
            "better scores")  # fmt: skip

    def cells(case: Case, run: Run) -> tuple[Any, ...]:
        name = {"lcpa_basic": "nothing", "lcpa": "everything"}.get(case.method, LABELS[case.method])
        values = run.values
        return (
            case.n, case.d, name, f"{values['objective']:.6f}", f"{values['lower_bound']:.6f}",
            f"{values['gap']:.2%}", f"{values['nodes']:.0f}", f"{values['cuts']:.0f}",
            run.trace[-1].incumbent_updates,
        )  # fmt: skip

    return markdown(head, runs, cases(sizes), cells)
