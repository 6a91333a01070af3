"""What the figures share: colours that the colour-blind can tell apart, markers, and files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.experiments.runs import Case, Run

# The palette of Okabe and Ito. Lines differ in style as well.
STYLES: dict[str, dict[str, Any]] = {
    "cpa": {"color": "#000000", "linestyle": "-", "marker": "s"},
    "lcpa_basic": {"color": "#D55E00", "linestyle": "-", "marker": "o"},
    "lcpa": {"color": "#0072B2", "linestyle": "--", "marker": "^"},
    "branch_and_bound": {"color": "#009E73", "linestyle": "-.", "marker": "D"},
    "scip_minlp": {"color": "#CC79A7", "linestyle": ":", "marker": "v"},
}


def pyplot() -> Any:
    """Matplotlib's pyplot, without a screen.

    Returns
    -------
    module
    """
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def save(figure: Any, path: Path) -> None:
    """Write a figure, so that the same data give the same file, and close it.

    Parameters
    ----------
    figure : matplotlib Figure
    path : Path
        Its suffix decides the format.
    """
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": "riskslim"}):
        svg = path.suffix == ".svg"
        figure.savefig(path, metadata={"Date": None} if svg else None, dpi=None if svg else 110)
    pyplot().close(figure)


def conditions(runs: Iterable[Run]) -> str:
    """Machine and time limit of runs, to be stated below a figure.

    Parameters
    ----------
    runs : iterable of Run

    Returns
    -------
    str
    """
    runs = list(runs)
    limits = sorted({run.time_limit for run in runs})
    machines = sorted({run.machine for run in runs})
    text = " or ".join(f"{limit:g} s" for limit in limits)
    return f"one thread, at most {text} per run; {'; '.join(machines)}"


def markdown(
    head: Sequence[str],
    runs: Mapping[Case, Run],
    cases: Iterable[Case],
    cells: Callable[[Case, Run], Sequence[Any]],
) -> str:
    """Write a table of the runs that have ended.

    Parameters
    ----------
    head : sequence of str
        Columns.
    runs : mapping
    cases : iterable of Case
        Rows; those without a run are left out.
    cells : callable
        Makes the cells of one row.

    Returns
    -------
    str
    """
    rows = [cells(case, runs[case]) for case in cases if case in runs]
    lines = [" | ".join(map(str, row)) for row in (head, *rows)]
    lines.insert(1, " | ".join("---" for _ in head))
    return "".join(f"| {line} |\n" for line in lines)


def note(figure: Any, runs: Iterable[Run]) -> None:
    """State machine and limit below a figure.

    Parameters
    ----------
    figure : matplotlib Figure
    runs : iterable of Run
        Those that it shows.
    """
    figure.supxlabel(conditions(runs), fontsize=7, color="0.35")
