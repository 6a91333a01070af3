"""All experiments by one command.

    python -m benchmarks.experiments OUTPUT_FOLDER [--only stalling,improvements,grid,rows]
        [--quick | --large] [--time-limit SECONDS] [--report-only]

Each run is one row of OUTPUT_FOLDER/runs.csv, written when it ends; its bounds over time are in
traces.csv, and the machine is described in machine.json. Runs that are there already, with the same
time limit, are not made again: an interrupted command goes on where it was, and experiments share
runs. Figures are OUTPUT_FOLDER/NAME.svg, tables report.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from benchmarks.experiments import grid, improvements, rows, stalling
from benchmarks.experiments.figures import conditions
from benchmarks.experiments.runs import Runs
from benchmarks.experiments.sizes import LARGE, MINUTES, QUICK, Sizes

EXPERIMENTS: dict[str, ModuleType] = {
    "stalling": stalling,
    "improvements": improvements,
    "grid": grid,
    "rows": rows,
}


def report(
    runs: Runs, names: Sequence[str], sizes: Sizes, time_limit: float, suffix: str = ".svg"
) -> str:
    """Draw the figures and write the tables of what has been run.

    Parameters
    ----------
    runs : Runs
    names : sequence of str
        Experiments.
    sizes : Sizes
    time_limit : float
        Of the runs to show.
    suffix : str, default ".svg"
        Format of the figures.

    Returns
    -------
    str
        Markdown.
    """
    there = {run.case: run for run in runs.read() if run.time_limit == time_limit}
    parts = []
    for name in names:
        experiment = EXPERIMENTS[name]
        shown = [there[case] for case in experiment.cases(sizes) if case in there]
        if not shown:
            continue
        experiment.plot(there, sizes, runs.path.with_name(name + suffix))
        parts.append(f"## {name}\n\n{conditions(shown)}\n\n{experiment.table(there, sizes)}")
    return "\n".join(parts)


def _names(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in EXPERIMENTS]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"no experiment {unknown[0]!r}; there are {', '.join(EXPERIMENTS)}"
        )
    return names


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.experiments",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("output_folder", type=Path)
    parser.add_argument("--only", type=_names, default=list(EXPERIMENTS), help="name,...")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_const", dest="sizes", const=QUICK)
    size.add_argument("--large", action="store_const", dest="sizes", const=LARGE)
    parser.add_argument("--time-limit", type=float, help="seconds per run")
    parser.add_argument("--report-only", action="store_true", help="draw what the files have")
    parser.add_argument("--png", action="store_true", help="figures as PNG")
    options = parser.parse_args(arguments)
    sizes: Sizes = options.sizes or MINUTES
    limit = sizes.time_limit if options.time_limit is None else options.time_limit
    if not limit > 0:
        parser.error(f"--time-limit must be positive, got {limit}")
    runs = Runs(options.output_folder)
    if not options.report_only:
        cases = [case for name in options.only for case in EXPERIMENTS[name].cases(sizes)]
        runs.make(cases, limit)
    text = report(runs, options.only, sizes, limit, ".png" if options.png else ".svg")
    if not text:
        limits = sorted({run.time_limit for run in runs.read()})
        parser.error(
            f"{runs.path} has no runs of these sizes with a limit of {limit:g} s; "
            f"limits in it: {', '.join(f'{other:g}' for other in limits) or 'none'}"
        )
    runs.path.with_name("report.md").write_text(text)
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
