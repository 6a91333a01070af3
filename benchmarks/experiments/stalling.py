"""CPA stalls and LCPA does not (section 3, figures on stalling in CPA and on LCPA).

CPA has to solve every surrogate problem to optimality, and each is harder than the one before.
Left: seconds per iteration, of which there is one per cut. Right: optimality gap over time.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.experiments.figures import STYLES, markdown, note, pyplot, save
from benchmarks.experiments.methods import LABELS
from benchmarks.experiments.runs import Case, Run
from benchmarks.experiments.sizes import Sizes
from riskslim.solution import TraceRecord

METHODS = ("cpa", "lcpa_basic", "lcpa")

# Growth of the number of cuts between two points of LCPA.
_SMOOTHED = 0.1


def cases(sizes: Sizes) -> list[Case]:
    """Runs that the figure needs."""
    return [Case(method, sizes.n, d) for d in sizes.stalling_d for method in METHODS]


def seconds_per_cut(trace: list[TraceRecord], share: float = 0.0) -> tuple[list[int], list[float]]:
    """Number of cuts so far, and mean time of each of those since the point before.

    Parameters
    ----------
    trace : list of TraceRecord
    share : float, default 0.0
        Smallest growth of the number of cuts from point to point, to smooth the times.

    Returns
    -------
    cuts : list of int
    seconds : list of float
    """
    cuts, seconds = [], []
    time, count = 0.0, 0
    for record in trace:
        if record.cuts >= max(count + 1, (1 + share) * count):
            cuts.append(record.cuts)
            seconds.append((record.time - time) / (record.cuts - count))
            time, count = record.time, record.cuts
    return cuts, seconds


def plot(runs: Mapping[Case, Run], sizes: Sizes, path: Path) -> None:
    """Draw one row per number of features.

    Parameters
    ----------
    runs : mapping
        Those that have ended; what is missing is left out.
    sizes : Sizes
    path : Path
    """
    plt = pyplot()
    figure, axes = plt.subplots(
        len(sizes.stalling_d), 2, figsize=(8, 2.3 * len(sizes.stalling_d) + 0.8),
        squeeze=False, layout="constrained", sharex="col",
    )  # fmt: skip
    for (left, right), d in zip(axes, sizes.stalling_d, strict=True):
        for method in METHODS:
            run = runs.get(Case(method, sizes.n, d))
            if run is None:
                continue
            style = {**STYLES[method], "label": LABELS[method]}
            points = seconds_per_cut(run.trace, 0.0 if method == "cpa" else _SMOOTHED)
            left.plot(*points, **style, markersize=2.5, linewidth=0.9)
            style["marker"] = None
            right.step(*_gap_over_time(run), where="post", **style)
            last = run.trace[-1]
            right.plot(
                last.time, 100 * min(last.gap, 1.0), color=style["color"],
                marker=STYLES[method]["marker"], clip_on=False,
            )  # fmt: skip
        left.set(xscale="log", yscale="log", ylabel=f"d = {d}\nseconds per cut")
        right.set(xscale="log", ylabel="optimality gap, %", ylim=(-3, 103))
        for axis in (left, right):
            axis.grid(alpha=0.3)
    axes[-1][0].set_xlabel("cuts (iterations of CPA)")
    axes[-1][1].set_xlabel("seconds")
    axes[0][0].legend(frameon=False, fontsize=8)
    figure.suptitle(f"CPA and LCPA, n = {sizes.n:,}", fontsize=11)
    note(figure, (run for case, run in runs.items() if case in cases(sizes)))
    save(figure, path)


def _gap_over_time(run: Run) -> tuple[list[float], list[float]]:
    """Nothing is proven before the first record."""
    reached = [record for record in run.trace if record.gap == record.gap]
    first = min((record.time for record in reached if record.time > 0), default=1e-3)
    times = [first / 2, *(max(record.time, first / 2) for record in reached)]
    return times, [100.0, *(100 * min(record.gap, 1.0) for record in reached)]


def table(runs: Mapping[Case, Run], sizes: Sizes) -> str:
    """Iterations, and how the last one of CPA compares with those before, as Markdown.

    Parameters
    ----------
    runs : mapping
    sizes : Sizes

    Returns
    -------
    str
    """
    head = ("n", "d", "method", "cuts", "slowest cut", "median cut", "objective", "gap", "seconds",
            "ended")  # fmt: skip

    def cells(case: Case, run: Run) -> tuple[Any, ...]:
        _, seconds = seconds_per_cut(run.trace)
        return (
            case.n, case.d, LABELS[case.method], run.trace[-1].cuts,
            f"{max(seconds):.2g} s", f"{sorted(seconds)[len(seconds) // 2]:.2g} s",
            f"{run.values['objective']:.6f}", f"{run.values['gap']:.2%}",
            f"{run.values['total_seconds']:.1f}", run.message or run.status,
        )  # fmt: skip

    return markdown(head, runs, cases(sizes), cells)
