"""Running time against the number of rows (section 3, "Runtime of CPA on synthetic datasets").

For a fixed number of features the solver's part does not depend on the number of rows, and the
passes over the data are linear in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.experiments.figures import markdown, note, pyplot, save
from benchmarks.experiments.methods import LABELS
from benchmarks.experiments.runs import Case, Run
from benchmarks.experiments.sizes import Sizes

METHODS = ("cpa", "lcpa", "branch_and_bound")


def cases(sizes: Sizes) -> list[Case]:
    """Runs that the figure needs."""
    return [Case(method, n, sizes.rows_d) for n in sizes.rows_n for method in METHODS]


def plot(runs: Mapping[Case, Run], sizes: Sizes, path: Path) -> None:
    """Draw a panel per method: total time, passes over the data, and the rest.

    Parameters
    ----------
    runs : mapping
        Those that have ended; what is missing is left out.
    sizes : Sizes
    path : Path
    """
    plt = pyplot()
    figure, axes = plt.subplots(
        1, len(METHODS), figsize=(10, 3.4), sharex=True, sharey=True, layout="constrained"
    )
    for axis, method in zip(axes, METHODS, strict=True):
        there = [
            run
            for n in sizes.rows_n
            if (run := runs.get(Case(method, n, sizes.rows_d))) is not None
        ]
        n = [run.case.n for run in there]
        total = [run.values["total_seconds"] for run in there]
        data = [run.values["data_seconds"] for run in there]
        rest = [max(t - x, 1e-4) for t, x in zip(total, data, strict=True)]
        axis.plot(n, total, "o-", color="#000000", markersize=4, label="total")
        axis.plot(n, data, "s--", color="#0072B2", markersize=4, label="passes over the data")
        axis.plot(n, rest, "^:", color="#7F7F7F", markersize=4, label="the rest")
        stopped = [i for i, run in enumerate(there) if run.status != "optimal"]
        if stopped:
            # A limit is no time of a run: these would have taken longer.
            axis.plot(
                [n[i] for i in stopped], [total[i] for i in stopped], "o", markersize=10,
                markerfacecolor="none", color="#D55E00", label="stopped, gap open",
            )  # fmt: skip
        axis.set(xscale="log", yscale="log", xlabel="rows", title=LABELS[method])
        axis.xaxis.set_minor_formatter("")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("seconds")
    handles = {
        label: handle
        for axis in axes
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        handles.values(), handles.keys(), frameon=False, fontsize=8, loc="outside right center"
    )
    figure.suptitle(f"Time to an optimal score against the number of rows, d = {sizes.rows_d}",
                    fontsize=11)  # fmt: skip
    note(figure, (run for case, run in runs.items() if case in cases(sizes)))
    save(figure, path)


def table(runs: Mapping[Case, Run], sizes: Sizes) -> str:
    """Times, as Markdown.

    Parameters
    ----------
    runs : mapping
    sizes : Sizes

    Returns
    -------
    str
    """
    head = ("n", "d", "method", "seconds", "passes over the data", "evaluations", "gap", "ended")

    def cells(case: Case, run: Run) -> tuple[Any, ...]:
        values = run.values
        return (
            case.n, case.d, LABELS[case.method], f"{values['total_seconds']:.2f}",
            f"{values['data_seconds']:.2f}", f"{values['loss_evaluations']:.0f}",
            f"{values['gap']:.2%}", run.status,
        )  # fmt: skip

    return markdown(head, runs, cases(sizes), cells)
