"""What a free scale gains on the paper's data sets, and what it costs.

    python -m benchmarks.scales DATA_FOLDER OUTPUT_FOLDER [--instances adult:5,...]
        [--interval 0.5:12] [--time-limit 300] [--report-only]

The problems are those of benchmarks.branch_and_bound: coefficients -5..5, intercept -100..100, C0
is 1e-6, one thread. Each is solved at scale 1 and over the interval. A run is one row of
OUTPUT_FOLDER/scales.csv, written when it ends; rows that are there already are not computed again.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.branch_and_bound import INSTANCES, Instance, make_problem
from benchmarks.commands import command, measured, show
from benchmarks.records import Row, append_row, read_rows
from riskslim import RiskScoreProblem, branch_and_bound
from riskslim.scale import ScaleSet

FIELDS = (
    *("data", "max_size", "scales", "time_limit", "scale", "objective", "loss", "lower_bound"),
    *("gap", "status", "nodes", "wall_seconds", "cpu_seconds", "intercept", "points"),
)


def solve(problem: RiskScoreProblem, instance: Instance, time_limit: float) -> dict[str, object]:
    """Solve an instance over the scales of its problem.

    Parameters
    ----------
    problem : RiskScoreProblem
    instance : Instance
    time_limit : float
        Seconds by the clock.

    Returns
    -------
    dict
        A row.
    """
    wall, cpu = time.perf_counter(), time.process_time()
    solution = branch_and_bound(problem, time_limit=time_limit)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    certificate = solution.certificate
    return {
        **instance._asdict(),
        "scales": problem.scales.describe(),
        "time_limit": time_limit,
        "scale": solution.scale,
        "objective": certificate.objective,
        "loss": certificate.loss,
        "lower_bound": certificate.lower_bound,
        "gap": certificate.optimality_gap,
        "status": str(certificate.status),
        "nodes": solution.statistics.nodes,
        "wall_seconds": wall,
        "cpu_seconds": cpu,
        "intercept": solution.intercept,
        "points": "; ".join(f"{name}: {value}" for name, value in solution.points.items()),
    }


def run(
    path: Path, folder: Path, instances: Iterable[Instance], interval: ScaleSet, time_limit: float
) -> int:
    """Append the runs that the file lacks.

    Parameters
    ----------
    path : Path
        CSV file.
    folder : Path
        Of the data.
    instances : iterable of Instance
    interval : ScaleSet
    time_limit : float
        Seconds per run.

    Returns
    -------
    int
        Number of runs that were made.
    """
    there = {(row["data"], row["max_size"], row["scales"]) for row in read_rows(path, FIELDS)}
    n_made = 0
    for instance in instances:
        for scales in (ScaleSet.of(1), interval):
            if (instance.data, str(instance.max_size), scales.describe()) in there:
                continue
            row = solve(make_problem(folder, instance, scales), instance, time_limit)
            append_row(path, FIELDS, row)
            sys.stderr.write(f"{instance} at {scales.describe()}: {row['cpu_seconds']:.2f} s\n")
            n_made += 1
    return n_made


def write_table(rows: Sequence[Row]) -> str:
    """Objectives at scale 1 and at the best scale, and times, as Markdown.

    Parameters
    ----------
    rows : sequence of mappings
        Of the file.

    Returns
    -------
    str
    """
    fixed = {(row["data"], row["max_size"]): row for row in rows if row["scales"] == "1"}
    lines = [
        "| data | k | m = 1 | best m | objective | gain | proven to within | CPU at m = 1 "
        "| CPU over all m |",
        "|" + "---|" * 9,
    ]
    for row in rows:
        one = fixed.get((row["data"], row["max_size"]))
        if one is None or row is one:
            continue
        before, after = float(one["objective"]), float(row["objective"])
        lines.append(
            f"| {row['data']} | {row['max_size']} | {before:.6f} | {float(row['scale']):g} "
            f"| {after:.6f} | {(before - after) / before:.1%} | {float(row['gap']):.1e} "
            f"| {float(one['cpu_seconds']):.2f} s | {float(row['cpu_seconds']):.2f} s |"
        )
    return "\n".join(lines) + "\n"


def parse_interval(text: str) -> ScaleSet:
    """Read an interval that is written as 0.5:12.

    Parameters
    ----------
    text : str

    Returns
    -------
    ScaleSet

    Raises
    ------
    ValueError
        It is none.
    """
    low, _, high = text.partition(":")
    return ScaleSet.of((float(low), float(high)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = command("benchmarks.scales", __doc__)
    default = ",".join(str(instance) for instance in INSTANCES if instance.max_size == 5)
    parser.add_argument("--instances", default=default, help="name:size,...")
    parser.add_argument("--interval", default="0.5:12", help="smallest and largest scale")
    parser.add_argument("--time-limit", type=float, default=300.0, help="seconds per run")
    options = parser.parse_args(arguments)
    try:
        instances = [Instance.parse(text) for text in options.instances.split(",")]
        interval = parse_interval(options.interval)
    except ValueError as error:
        parser.error(str(error))
    rows = measured(
        options,
        "scales.csv",
        FIELDS,
        lambda path: run(path, options.data_folder, instances, interval, options.time_limit),
    )
    show(write_table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
