"""Branch and bound on the paper's data sets: time to a gap of 10%, 1% and 0%.

    python -m benchmarks.branch_and_bound DATA_FOLDER OUTPUT_FOLDER [--instances adult:5,...]
        [--time-limit 300] [--repeats 1] [--prototype FOLDER] [--report-only]

DATA_FOLDER has NAME_data.csv, the outcome in the first column. Coefficients are -5..5, the
intercept is -100..100, C0 is 1e-6, and an instance is a name and a largest model size. One thread.

Each run is one row of OUTPUT_FOLDER/branch_and_bound.csv, written when it ends. Rows that are there
already are not computed again; delete the file to start anew. Times of processors are beside those
of the clock, since they say more where other programs are running. Reading a file, and
compilation, are not part of either.

With --prototype, branch_and_bound_prototype.py in that folder, a prototype in numba, takes turns
with the package on the instances that they are compared on. It computes with BLAS: variables that
force other kernels on OpenBLAS than the processor's own must not be set.
"""

from __future__ import annotations

import ast
import csv
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.children import run_python
from benchmarks.commands import command, measured, show
from benchmarks.records import Row, append_row, read_rows
from riskslim import (
    CoefficientSet,
    RiskScoreProblem,
    branch_and_bound,
    read,
)
from riskslim.scale import ScaleLike
from riskslim.solution import TraceRecord


class Instance(NamedTuple):
    """A data set and the largest model size."""

    data: str
    max_size: int

    def __str__(self) -> str:
        return f"{self.data}:{self.max_size}"

    @classmethod
    def parse(cls, text: str) -> Instance:
        """Read what ``str`` writes."""
        data, colon, max_size = text.partition(":")
        if not (data and colon and max_size.isdigit()):
            raise ValueError(f"an instance is a name and a model size, as adult:5, got {text!r}")
        return cls(data, int(max_size))


PACKAGE, PROTOTYPE = "riskslim", "prototype"

INSTANCES = (
    *(
        Instance(name, 5)
        for name in ("adult", "breastcancer", "mammo", "mushroom", "spambase", "bank")
    ),
    *(Instance(name, 8) for name in ("adult", "spambase")),
    *(Instance(name, 10) for name in ("mammo", "spambase", "adult", "mushroom")),
)
# Those on which the package is compared with the prototype.
COMPARED = (
    Instance("adult", 5),
    Instance("spambase", 5),
    Instance("mushroom", 5),
    Instance("spambase", 8),
)

# Gaps in percent, and those that the prototype reports; it ends where it has closed the gap.
GAPS = (10, 1, 0)
_REPORTED_GAPS = (10, 1)

_KEY = ("program", "data", "max_size", "time_limit", "repeat")
FIELDS = (
    *_KEY,
    "n",
    "d",
    "preparation_seconds",
    "wall_seconds",
    "cpu_seconds",
    "nodes",
    "status",
    "objective",
    "lower_bound",
    "gap",
    *(f"wall_seconds_to_{gap}_percent" for gap in GAPS),
    *(f"cpu_seconds_to_{gap}_percent" for gap in GAPS),
)

# They can slow the prototype, which computes with BLAS, and not the package: no fair ratio.
_FORCES_BLAS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")

_ONE_THREAD = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")
}  # fmt: skip


def make_problem(folder: Path, instance: Instance, scale: ScaleLike = 1.0) -> RiskScoreProblem:
    """Read a data set and state the paper's problem on it.

    Parameters
    ----------
    folder : Path
    instance : Instance
    scale : number, list, interval or ScaleSet
        1 in the paper.

    Returns
    -------
    RiskScoreProblem
    """
    path = folder / f"{instance.data}_data.csv"
    with path.open(newline="") as file:
        outcome = next(csv.reader(file))[0]
    data = read(path, outcome)
    coefficients = CoefficientSet(
        data.feature_names, -5, 5, intercept_lower=-100, intercept_upper=100
    )
    return RiskScoreProblem(
        data, coefficients, max_size=instance.max_size, l0_penalty=1e-6, scale=scale
    )


class _Course:
    """Times at which a search reached each gap, by the clock and of the processor."""

    def __init__(self) -> None:
        self.reached: dict[str, float] = {}
        self._start = time.process_time()

    @property
    def cpu_seconds(self) -> float:
        return time.process_time() - self._start

    def __call__(self, record: TraceRecord) -> None:
        for gap in GAPS:
            if record.gap <= gap / 100:
                self.reached.setdefault(f"wall_seconds_to_{gap}_percent", record.time)
                self.reached.setdefault(f"cpu_seconds_to_{gap}_percent", self.cpu_seconds)


def run_package(folder: Path, instance: Instance, time_limit: float) -> dict[str, Any]:
    """Solve an instance.

    Parameters
    ----------
    folder : Path
        Of the data.
    instance : Instance
    time_limit : float
        Seconds by the clock.

    Returns
    -------
    dict
        A row, but for ``repeat``.
    """
    start = time.perf_counter()
    problem = make_problem(folder, instance)
    stated = time.perf_counter()
    course = _Course()
    solution = branch_and_bound(problem, time_limit=time_limit, progress=course)
    cpu_seconds, end = course.cpu_seconds, time.perf_counter()
    data, certificate = problem.loss.data, solution.certificate
    return {
        **_described(PACKAGE, instance, time_limit),
        "n": data.n_samples,
        "d": len(data.feature_names),
        "preparation_seconds": stated - start,
        "wall_seconds": end - stated,
        "cpu_seconds": cpu_seconds,
        "nodes": solution.statistics.nodes,
        "status": str(certificate.status),
        "objective": certificate.objective,
        "lower_bound": certificate.lower_bound,
        "gap": certificate.optimality_gap,
        **course.reached,
    }


def run_prototype(
    folder: Path, instance: Instance, time_limit: float, cache: Path
) -> dict[str, Any]:
    """Let the prototype solve an instance, in a process of its own.

    Parameters
    ----------
    folder : Path
        Of the prototype, which knows where its data are. Nothing is written there.
    instance : Instance
    time_limit : float
        Seconds of the processor.
    cache : Path
        Folder for what numba compiles.

    Returns
    -------
    dict
        A row, but for ``repeat``. It tells no time by the clock, and where the gap is still
        open no time to 0%.
    """
    text = run_python(
        [
            str(folder.resolve() / "branch_and_bound_prototype.py"),
            instance.data, str(time_limit), f"k={instance.max_size}",
        ],
        {**_ONE_THREAD, "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": str(cache)},
    )  # fmt: skip
    found = parse_result(text)
    is_optimal = not found["open"]
    reached = {gap: found["thresholds"][gap][0] for gap in _REPORTED_GAPS
               if gap in found["thresholds"]}  # fmt: skip
    if is_optimal:
        reached = {gap: reached.get(gap, found["time"]) for gap in GAPS}
    return {
        **_described(PROTOTYPE, instance, time_limit),
        "cpu_seconds": found["time"],
        "nodes": found["nodes"],
        "status": "optimal" if is_optimal else "feasible",
        "objective": found["UB"],
        "lower_bound": found["LB"],
        "gap": found["gap"] / 100,
        **{f"cpu_seconds_to_{gap}_percent": seconds for gap, seconds in reached.items()},
    }


def parse_result(text: str) -> dict[str, Any]:
    """Read the last ``RESULT {...}`` that the prototype has printed.

    Parameters
    ----------
    text : str

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        There is none.
    """
    results = [line for line in text.splitlines() if line.startswith("RESULT ")]
    if not results:
        raise ValueError(f"the prototype printed no RESULT:\n{text}")
    # NumPy writes its numbers as np.float64(0.5).
    plain = re.sub(r"np\.\w+\(([^()]*)\)", r"\1", results[-1].removeprefix("RESULT "))
    found: dict[str, Any] = ast.literal_eval(plain)
    return found


def _described(program: str, instance: Instance, time_limit: float) -> dict[str, Any]:
    return {"program": program, **instance._asdict(), "time_limit": time_limit}


def run(
    path: Path,
    folder: Path,
    instances: Iterable[Instance],
    *,
    time_limit: float,
    repeats: int,
    prototype: Path | None = None,
) -> int:
    """Append the runs that the file lacks, package and prototype in turn.

    Parameters
    ----------
    path : Path
        CSV file.
    folder : Path
        Of the data.
    instances : iterable of Instance
    time_limit : float
        Seconds per run.
    repeats : int
        Runs per instance and program.
    prototype : Path, optional
        Folder of the prototype.

    Returns
    -------
    int
        Number of runs that were made.
    """
    there = {tuple(row[name] for name in _KEY) for row in read_rows(path, FIELDS)}
    n_made = 0
    with tempfile.TemporaryDirectory() as cache:
        for program, instance, repeat in _turns(instances, repeats, prototype is not None):
            if tuple(map(str, (program, *instance, time_limit, repeat))) in there:
                continue
            if program == PACKAGE:
                found = run_package(folder, instance, time_limit)
            else:
                assert prototype is not None
                found = run_prototype(prototype, instance, time_limit, Path(cache))
            append_row(path, FIELDS, {**found, "repeat": repeat})
            _tell(found)
            n_made += 1
    return n_made


def _turns(
    instances: Iterable[Instance], repeats: int, with_prototype: bool
) -> Iterator[tuple[str, Instance, int]]:
    """Program, instance and repeat; the programs alternate, so that both meet the same load."""
    for instance in instances:
        compared = with_prototype and instance in COMPARED
        programs = (PACKAGE, PROTOTYPE) if compared else (PACKAGE,)
        for repeat in range(repeats):
            for program in programs:
                yield program, instance, repeat


def _tell(found: Mapping[str, Any]) -> None:
    sys.stderr.write(
        f"{found['program']} {found['data']}:{found['max_size']}: "
        f"{found['cpu_seconds']:.2f} s of the processor, {found['nodes']} nodes, "
        f"{found['status']}, gap {found['gap']:.2%}\n"
    )


def write_table(rows: Sequence[Row]) -> str:
    """Medians per instance, and how much longer the prototype takes, as Markdown.

    Parameters
    ----------
    rows : sequence of mappings
        Of the file.

    Returns
    -------
    str
    """
    groups: dict[tuple[str, str, str], dict[str, list[Row]]] = {}
    for row in rows:
        key = (row["data"], row["max_size"], row["time_limit"])
        groups.setdefault(key, {}).setdefault(row["program"], []).append(row)
    lines = [
        "| data | k | limit | objective | gap | nodes | seconds | CPU | CPU to 10% | to 1% | to 0% "
        "| prototype CPU | ratio |",
        "|" + "---|" * 13,
    ]
    for (data, max_size, time_limit), programs in groups.items():
        ours = programs.get(PACKAGE, [])
        if not ours:
            continue
        seconds, other = _median(ours, "cpu_seconds"), programs.get(PROTOTYPE, [])
        slower = _median(other, "cpu_seconds") if other else None
        cells = (
            data, max_size, f"{float(time_limit):g}", ours[-1]["objective"],
            f"{100 * float(ours[-1]['gap']):.2f}%", ours[-1]["nodes"],
            _seconds(_median(ours, "wall_seconds")), _seconds(seconds),
            *(_seconds(_median(ours, f"cpu_seconds_to_{gap}_percent")) for gap in GAPS),
            _seconds(slower), f"{slower / seconds:.1f}" if slower and seconds else "",
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _median(rows: Sequence[Row], field: str) -> float | None:
    """None where one of the runs did not get there."""
    values = [row[field] for row in rows]
    return statistics.median(map(float, values)) if all(values) else None


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = command("benchmarks.branch_and_bound", __doc__)
    parser.add_argument("--instances", default=",".join(map(str, INSTANCES)), help="name:size,...")
    parser.add_argument("--time-limit", type=float, default=300.0, help="seconds per run")
    parser.add_argument("--repeats", type=int, default=1, help="runs per instance and program")
    parser.add_argument("--prototype", type=Path, help="folder of the prototype")
    options = parser.parse_args(arguments)
    try:
        instances = [Instance.parse(text) for text in options.instances.split(",")]
    except ValueError as error:
        parser.error(str(error))
    forced = [name for name in _FORCES_BLAS if name in os.environ]
    if options.prototype is not None and not options.report_only and forced:
        parser.error(f"unset {' and '.join(forced)}: the prototype may be slower with it")
    rows = measured(
        options,
        "branch_and_bound.csv",
        FIELDS,
        lambda path: run(
            path,
            options.data_folder,
            instances,
            time_limit=options.time_limit,
            repeats=options.repeats,
            prototype=options.prototype,
        ),
    )
    show(write_table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
