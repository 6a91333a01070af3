"""Time of a fit against the number of rows, split into data and solver.

    python -m benchmarks.scaling FOLDER [--engine lattice_cpa] [--features 10]
        [--sizes 1e3,1e4,...] [--plot-only]

For a fixed number of features the time of cutting plane algorithms grows linearly with the number
of rows, all of it in passes over the data, while the solver's part stays what it is (Ustun & Rudin
2019, Section 3, Figure "Runtime of CPA on synthetic datasets with d = 10 and n in [10^3, 10^7]").
Here an engine is run on nested data of these sizes.

Each fit is one row of FOLDER/scaling.csv, or FOLDER/branch_and_bound_scaling.csv for that engine,
written when it ends. Rows that are there already are not computed again, so that an interrupted run
goes on where it was; delete the file to start anew. The SVG beside it shows the medians, and marks
those of fits that a time limit stopped.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.fits import ENGINES, fit
from benchmarks.instances import KINDS, Case, make_table
from benchmarks.records import Row, append_row
from benchmarks.records import read_rows as read_file

SIZES = (*(factor * 10**power for power in range(3, 7) for factor in (1, 3)), 10**7)

_KEY = ("engine", "kind", "n", "d", "max_size", "time_limit", "repeat")
_FIELDS = (
    *_KEY,
    "total_seconds",
    "cpu_seconds",  # empty in rows that are older than the column
    "packing_seconds",
    "data_seconds",
    "solver_seconds",
    "status",
    "objective",
    "gap",
    "nodes",
    "cuts",
    "loss_evaluations",
)

# Files are named after the engine, the paper's own one apart.
_NAMES = {"lattice_cpa": "scaling", "branch_and_bound": "branch_and_bound_scaling"}


def read_rows(path: Path) -> list[Row]:
    """Fits that are in the file, none if there is no file."""
    return read_file(path, _FIELDS)


def run(
    path: Path,
    kind: str,
    sizes: Iterable[int],
    d: int,
    *,
    max_size: int,
    time_limit: float,
    repeats: int,
    engine: str = "lattice_cpa",
) -> int:
    """Append the fits that the file lacks.

    Parameters
    ----------
    path : Path
        CSV file.
    kind : str
        Kind of data, see :mod:`benchmarks.instances`.
    sizes : iterable of int
        Numbers of rows.
    d, max_size : int
        Number of features, and largest model size.
    time_limit : float
        Seconds per fit.
    repeats : int
        Fits per size.
    engine : str, default "lattice_cpa"

    Returns
    -------
    int
        Number of fits that were made.
    """
    limits: dict[str, Any] = {"engine": engine, "max_size": max_size, "time_limit": time_limit}
    there = {tuple(row[name] for name in _KEY) for row in read_rows(path)}
    n_made = 0
    for n in sizes:
        case = Case(kind, n, d)
        settings = (engine, kind, str(n), str(d), str(max_size), str(time_limit))
        missing = [r for r in range(repeats) if (*settings, str(r)) not in there]
        if not missing:
            continue
        table = make_table(case)
        for repeat in missing:
            if n_made == 0:
                # Imports are not part of any fit.
                small = Case(kind, 1000, d)
                fit(small, make_table(small), **{**limits, "max_size": 1})
            found = fit(case, table, **limits)
            append_row(path, _FIELDS, {**found, "repeat": repeat})
            sys.stderr.write(
                f"{engine} {case} {repeat}: {found['total_seconds']:.2f} s, of it data "
                f"{found['data_seconds']:.2f} s, {found['status']}\n"
            )
            n_made += 1
    return n_made


def medians(
    rows: Iterable[Row], kind: str, d: int, max_size: int, engine: str = "lattice_cpa"
) -> list[dict[str, float]]:
    """Median times per number of rows, increasing, and how many fits proved no optimum."""
    wanted = (engine, kind, str(d), str(max_size))
    by_n: dict[int, list[Row]] = {}
    for row in rows:
        if (row["engine"], row["kind"], row["d"], row["max_size"]) == wanted:
            by_n.setdefault(int(row["n"]), []).append(row)
    parts = ("total_seconds", "packing_seconds", "data_seconds", "solver_seconds")
    return [
        {
            "n": n,
            **{p: statistics.median(float(row[p]) for row in by_n[n]) for p in parts},
            "open": sum(row["status"] != "optimal" for row in by_n[n]),
        }
        for n in sorted(by_n)
    ]


def plot(
    points: Sequence[Mapping[str, float]], title: str, path: Path, rest: str = "solver"
) -> None:
    """Draw the times on logarithmic axes, and the share of the data below.

    Parameters
    ----------
    points : sequence of mappings
        From :func:`medians`.
    title : str
    path : Path
        Its suffix decides the format.
    rest : str, default "solver"
        What takes the time that is not spent on data.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    n = [point["n"] for point in points]
    figure, (times, shares) = plt.subplots(
        2, 1, figsize=(5.5, 5.5), sharex=True, height_ratios=(3, 1), layout="constrained"
    )
    for part, label, style in (
        ("total_seconds", "total", "o-k"),
        ("data_seconds", "passes over the data", "s--C0"),
        ("solver_seconds", rest, "^-C7"),
        ("packing_seconds", "packing", "v:C2"),
    ):
        times.plot(n, [point[part] for point in points], style, label=label, markersize=4)
    stopped = [point for point in points if point["open"]]
    if stopped:
        # A limit is no time of a fit: these would have taken longer.
        times.plot(
            [point["n"] for point in stopped], [point["total_seconds"] for point in stopped], "o",
            markersize=10, markerfacecolor="none", color="C3", label="stopped, gap open",
        )  # fmt: skip
    times.set(xscale="log", yscale="log", ylabel="seconds", title=title)
    times.legend(frameon=False)
    times.grid(alpha=0.3)
    shares.plot(
        n, [100 * point["data_seconds"] / point["total_seconds"] for point in points], "s--C0",
        markersize=4,
    )  # fmt: skip
    shares.set(xlabel="rows", ylabel="% on data", ylim=(0, 100))
    shares.grid(alpha=0.3)
    # A fixed salt and no date: the same figures give the same file.
    with mpl.rc_context({"svg.hashsalt": "riskslim"}):
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(figure)


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scaling",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--engine", choices=ENGINES, default="lattice_cpa")
    parser.add_argument("--kind", choices=KINDS, default="integer")
    parser.add_argument("--features", type=int, default=10, help="number of features")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of rows")
    parser.add_argument("--max-size", type=int, default=5, help="largest model size")
    parser.add_argument("--time-limit", type=float, default=600.0, help="seconds per fit")
    parser.add_argument("--repeats", type=int, default=3, help="fits per size")
    parser.add_argument("--plot-only", action="store_true", help="draw what the file has")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder / f"{_NAMES[options.engine]}.csv"
    if not options.plot_only:
        run(
            path,
            options.kind,
            [int(float(size)) for size in options.sizes.split(",")],
            options.features,
            max_size=options.max_size,
            time_limit=options.time_limit,
            repeats=options.repeats,
            engine=options.engine,
        )
    points = medians(
        read_rows(path), options.kind, options.features, options.max_size, options.engine
    )
    if not points:
        parser.error(f"{path} has no fits of {options.kind} data with d = {options.features}")
    title = f"{options.engine}, {options.kind} features, d = {options.features}"
    rest = "solver" if options.engine == "lattice_cpa" else "search"
    plot(points, title, path.with_suffix(".svg"), rest)
    return 0


if __name__ == "__main__":
    sys.exit(main())
