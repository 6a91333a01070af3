"""What each setting of LCPA is worth on the paper's data sets.

    python -m benchmarks.ablation DATA_FOLDER OUTPUT_FOLDER [--instances adult:5,...]
        [--variants default,sign_split=True,...] [--seeds 2] [--cpu-limit 30] [--solver cplex]
        [--report-only]

The problems are those of benchmarks.branch_and_bound: coefficients -5..5, intercept -100..100, C0
is 1e-6, one thread. The limit is one of CPU time, so that a busy machine makes no difference but
for its caches. A run is one row of OUTPUT_FOLDER/variants.csv, written when it ends; rows that are
there already are not computed again.
"""

from __future__ import annotations

import ast
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.branch_and_bound import INSTANCES, Instance, make_problem
from benchmarks.commands import command, measured, show
from benchmarks.records import Row, append_row, read_rows
from riskslim import LatticeCPASettings, RiskScoreProblem, lattice_cpa
from riskslim.scale import ScaleSet

# Settings other than the defaults, written as arguments; several at once are joined by "+".
VARIANTS = (
    *("default", "fractional_rounds=0", "fractional_rounds=3", "fractional_rounds=10"),
    *("fractional_threshold=1e-4", "fractional_threshold=1e-2", "branching_priority=False"),
    *("native_root=False", "probing=False", "cut_pool=0", "cut_pool=100", "cut_pool=10000"),
    "sign_split=True",
    "fractional_rounds=0+branching_priority=False+native_root=False+cut_pool=0",
)
FIELDS = (
    *("data", "max_size", "solver", "variant", "seed", "cpu_limit", "objective", "lower_bound"),
    *("gap", "status", "nodes", "cuts", "wall_seconds", "cpu_seconds"),
)


def settings_of(variant: str) -> LatticeCPASettings:
    """Read settings that are written as arguments.

    Parameters
    ----------
    variant : str
        "default", or such as "cut_pool=0+sign_split=True".

    Returns
    -------
    LatticeCPASettings

    Raises
    ------
    ValueError, TypeError
        No such setting, or a value that it does not take.
    """
    pairs = [] if variant == "default" else [part.partition("=") for part in variant.split("+")]
    given = {name: ast.literal_eval(value) for name, _, value in pairs}
    # The root's own limit is one by the clock: on a busy machine it would cut the work short.
    return LatticeCPASettings(**{"initialization_time_limit": 1e6, **given})


def solve(
    problem: RiskScoreProblem, variant: str, *, solver: str, seed: int, cpu_limit: float
) -> dict[str, Any]:
    """Solve a problem with some settings within a limit of CPU time.

    Parameters
    ----------
    problem : RiskScoreProblem
    variant : str
    solver : {"cplex", "scip"}
    seed : int
    cpu_limit : float
        Seconds of CPU time, at which the search is told to stop.

    Returns
    -------
    dict
        Part of a row.
    """
    wall, cpu = time.perf_counter(), time.process_time()
    solution = lattice_cpa(
        problem,
        time_limit=100 * cpu_limit,
        random_state=seed,
        solver=solver,
        settings=settings_of(variant),
        should_stop=lambda: time.process_time() - cpu >= cpu_limit,
    )
    certificate = solution.certificate
    return {
        "solver": solver,
        "variant": variant,
        "seed": seed,
        "cpu_limit": cpu_limit,
        "objective": certificate.objective,
        "lower_bound": certificate.lower_bound,
        "gap": certificate.optimality_gap,
        "status": str(certificate.status),
        "nodes": solution.statistics.nodes,
        "cuts": solution.statistics.cuts,
        "wall_seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
    }


def run(
    path: Path,
    folder: Path,
    instances: Sequence[Instance],
    variants: Sequence[str],
    *,
    solver: str,
    seeds: int,
    cpu_limit: float,
) -> int:
    """Append the runs that the file lacks, seed by seed.

    Parameters
    ----------
    path : Path
        CSV file.
    folder : Path
        Of the data.
    instances : sequence of Instance
    variants : sequence of str
    solver : {"cplex", "scip"}
    seeds : int
        Number of seeds, from 0.
    cpu_limit : float
        Seconds of CPU time per run.

    Returns
    -------
    int
        Number of runs that were made.
    """
    key = ("data", "max_size", "solver", "variant", "seed", "cpu_limit")
    there = {tuple(row[name] for name in key) for row in read_rows(path, FIELDS)}
    n_made = 0
    for seed in range(seeds):
        for instance in instances:
            problem = None
            for variant in variants:
                name = (instance.data, instance.max_size, solver, variant, seed, cpu_limit)
                if tuple(map(str, name)) in there:
                    continue
                problem = problem or make_problem(folder, instance, ScaleSet.of(1))
                row = solve(problem, variant, solver=solver, seed=seed, cpu_limit=cpu_limit)
                append_row(path, FIELDS, {**instance._asdict(), **row})
                sys.stderr.write(
                    f"{instance} {variant} seed {seed}: "
                    f"{row['gap']:.2%}, {row['cpu_seconds']:.1f} s\n"
                )
                n_made += 1
    return n_made


def write_table(rows: Sequence[Row]) -> str:
    """Seconds to a proof, or gaps, of every variant on every data set, as Markdown.

    Parameters
    ----------
    rows : sequence of mappings
        Of the file.

    Returns
    -------
    str
        Medians over seeds; a star where a run had a worse objective than the best one.
    """
    names = list(dict.fromkeys(f"{row['data']}:{row['max_size']}" for row in rows))
    variants = list(dict.fromkeys((row["solver"], row["variant"]) for row in rows))
    best = {
        name: min(float(row["objective"]) for row in rows if _name(row) == name) for name in names
    }
    lines = [f"| solver | settings | {' | '.join(names)} |", "|" + "---|" * (2 + len(names))]
    for solver, variant in variants:
        cells = []
        for name in names:
            of_cell = [
                row
                for row in rows
                if (_name(row), row["solver"], row["variant"]) == (name, solver, variant)
            ]
            cells.append(_cell(of_cell, best[name]))
        lines.append(f"| {solver} | {variant} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _name(row: Row) -> str:
    return f"{row['data']}:{row['max_size']}"


def _cell(rows: Sequence[Row], best: float) -> str:
    if not rows:
        return ""
    star = "*" if any(float(row["objective"]) > best + 1e-9 for row in rows) else ""
    if all(row["status"] == "optimal" for row in rows):
        return f"{statistics.median(float(row['cpu_seconds']) for row in rows):.1f} s{star}"
    return f"{statistics.median(float(row['gap']) for row in rows):.1%}{star}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = command("benchmarks.ablation", __doc__)
    default = ",".join(str(instance) for instance in INSTANCES if instance.max_size == 5)
    parser.add_argument("--instances", default=default, help="name:size,...")
    parser.add_argument("--variants", default=",".join(VARIANTS), help="default,name=value,...")
    parser.add_argument("--seeds", type=int, default=2, help="runs of each")
    parser.add_argument("--cpu-limit", type=float, default=30.0, help="CPU seconds per run")
    parser.add_argument("--solver", choices=("cplex", "scip"), default="cplex")
    options = parser.parse_args(arguments)
    variants = options.variants.split(",")
    try:
        instances = [Instance.parse(text) for text in options.instances.split(",")]
        for variant in variants:
            settings_of(variant)
    except (ValueError, TypeError, SyntaxError) as error:
        parser.error(str(error))
    rows = measured(
        options,
        "variants.csv",
        FIELDS,
        lambda path: run(
            path,
            options.data_folder,
            instances,
            variants,
            solver=options.solver,
            seeds=options.seeds,
            cpu_limit=options.cpu_limit,
        ),
    )
    show(write_table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
