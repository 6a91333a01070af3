"""Rows that are too many for memory: made in pieces, read batch by batch, and fitted.

    python -m benchmarks.large make FOLDER --rows 100000000 [--spread 3.4]
    python -m benchmarks.large run FOLDER --memory-limit 4e9 --max-size 5
    python -m benchmarks.large items --rows 1e7 --threads 2

``make`` writes Parquet files of a million rows each, with 30 columns of 0 and 1 and an outcome.
``run`` reads them by ``riskslim.read`` and finds the best score in a process of its
own; ``--files 1`` takes the first file alone, and ``--in-memory`` holds its rows
one by one: both have the same certificate. Each run prints one JSON object: wall
and CPU seconds of both steps, the peak of the resident memory, and the certificate.

``--dask`` does so on a cluster of two worker processes of this
machine; ``--kill reading`` or ``--kill searching`` kills one of them half-way, ``--kill both`` in
both steps. ``--on-workers`` leaves the rows there, whatever room there is in this process. CPU
seconds and memory are then those of this process, and of the workers beside.

Rows come from 48 profiles of patients, each with a probability of its own for every item, so that
some rows are equal and most are not: of 10^7 rows some 2.4 million are distinct, of 10^8 some 11
million. The outcome depends on six of the items. With ``--spread 0.3`` probabilities are near 1/2,
and hardly any rows are equal.

``items`` needs no files: ten normal variables, each of which is cut at -0.7, 0 and 0.7 to an item
of 0 and 1, and an outcome that depends on six of them, are made in memory. One JSON object says how
long it takes to take the rows over, to state the problem and to prove the best score.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
from numpy.typing import NDArray

from benchmarks.children import run_python
from riskslim import (
    BranchAndBoundSettings,
    CoefficientSet,
    RiskScoreProblem,
    TrainingData,
    branch_and_bound,
    read,
)

N_ITEMS = 30
ROWS_PER_FILE = 10**6
SEED = 20
OUTCOME = "died"

_N_PROFILES = 48
# How far probabilities of a profile are from 1/2: the larger, the more rows are equal.
_SPREAD = 3.4
# Points of the outcome's log-odds for some of the items.
_EFFECTS = {0: 1.2, 3: 0.9, 8: -0.8, 13: 0.7, 21: 0.6, 27: -0.5}
_INTERCEPT = -2.0

# Of variables that are cut to items.
_N_VARIABLES, _CUT_OFFS = 10, (-0.7, 0.0, 0.7)
_EFFECTS_OF_VARIABLES = (1.1, -0.8, 0.7, 0.5, -0.4, 0.3)


def profiles(spread: float) -> NDArray[np.uint8]:
    """Probability of each item in each profile, in 256ths, with log-odds of this deviation."""
    random = np.random.default_rng(SEED)
    log_odds = spread * random.standard_normal((_N_PROFILES, N_ITEMS))
    return np.clip(256 / (1 + np.exp(-log_odds)), 1, 255).astype(np.uint8)


def make_file(number: int, n_rows: int, spread: float = _SPREAD) -> pa.Table:
    """Rows of one file; each file has its own seed."""
    random = np.random.default_rng([SEED, number])
    # A few profiles have most of the rows.
    shares = 1.0 / np.arange(1, _N_PROFILES + 1)
    profile = random.choice(_N_PROFILES, n_rows, p=shares / shares.sum())
    probability = profiles(spread)[profile]
    noise = np.frombuffer(random.bytes(n_rows * N_ITEMS), np.uint8).reshape(n_rows, N_ITEMS)
    items = np.asfortranarray(noise < probability)
    log_odds = np.full(n_rows, _INTERCEPT)
    for j, effect in _EFFECTS.items():
        log_odds += effect * items[:, j]
    died = random.random(n_rows) < 1 / (1 + np.exp(-log_odds))
    columns = {f"item_{j + 1:02d}": items[:, j].view(np.int8) for j in range(N_ITEMS)}
    return pa.table({**columns, OUTCOME: died.view(np.int8)})


def make(folder: Path, n_rows: int, spread: float) -> None:
    """Write the files."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, n_rows, ROWS_PER_FILE)):
        table = make_file(number, min(ROWS_PER_FILE, n_rows - start), spread)
        parquet.write_table(table, folder / f"part-{number:04d}.parquet", compression="zstd")


def run(
    paths: list[Path], options: argparse.Namespace, workers: Workers | None = None
) -> dict[str, Any]:
    """Read and fit in this process, or on workers."""
    found: dict[str, Any] = {"files": len(paths), "memory_limit": int(options.memory_limit)}
    clock = Clock()
    if options.in_memory:
        (path,) = paths
        data = read(path, OUTCOME)
    elif workers is not None:
        data = workers.read(paths, options)
        found["workers"] = workers.figures()
    else:
        data = read(paths, OUTCOME, memory_limit=int(options.memory_limit), scratch=options.scratch)
    found |= {"data": repr(data), "read": clock.lap()}
    if not options.read_only:
        coefficients = CoefficientSet(data.feature_names, -5, 5)
        problem = RiskScoreProblem(
            data, coefficients, n_threads=options.threads, max_size=options.max_size
        )
        share = 4 if data.rows.is_block else 1
        memory = min(int(options.memory_limit) // share, BranchAndBoundSettings().memory_limit)
        solution = branch_and_bound(
            problem,
            time_limit=options.time_limit,
            n_threads=options.threads,
            progress=None if workers is None else workers.while_searching,
            settings=BranchAndBoundSettings(memory_limit=memory),
        )
        certificate = solution.certificate
        found |= {
            "fit": clock.lap(),
            "objective": certificate.objective,
            "lower_bound": certificate.lower_bound,
            "status": certificate.status.value,
            "coef": solution.coef.tolist(),
        }
        if workers is not None:
            found["workers"] = workers.figures()
    return found


def cut_variables(n: int) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Items of independent normal variables, and an outcome that depends on some."""
    rng = np.random.default_rng(0)
    X = np.empty((n, _N_VARIABLES * len(_CUT_OFFS)), np.int8, order="F")
    y = np.empty(n, np.int8)
    for begin in range(0, n, ROWS_PER_FILE):
        rows = slice(begin, min(begin + ROWS_PER_FILE, n))
        variables = rng.normal(size=(rows.stop - begin, _N_VARIABLES))
        for k, (j, cut_off) in enumerate(itertools.product(range(_N_VARIABLES), _CUT_OFFS)):
            X[rows, k] = variables[:, j] > cut_off
        effects = np.array(_EFFECTS_OF_VARIABLES)
        odds = _INTERCEPT + variables[:, : len(effects)] @ effects
        y[rows] = rng.random(len(odds)) < 1.0 / (1.0 + np.exp(-odds))
    return X, y


def run_items(options: argparse.Namespace) -> dict[str, Any]:
    """Find the best score of such items, and say how long that takes."""
    X, y = cut_variables(int(options.rows))
    clock = Clock()
    data = TrainingData(X, y)
    found: dict[str, Any] = {"rows": len(y), "threads": options.threads, "data": clock.lap()}
    problem = RiskScoreProblem(
        data, CoefficientSet(data.feature_names, -5, 5), n_threads=options.threads,
        max_size=options.max_size, l0_penalty=1e-6,
    )  # fmt: skip
    found["problem"] = clock.lap()
    solution = branch_and_bound(problem, time_limit=options.time_limit, n_threads=options.threads)
    certificate, statistics = solution.certificate, solution.statistics
    return found | {
        "search": clock.lap(),
        "status": certificate.status.value,
        "objective": certificate.objective,
        "gap": certificate.optimality_gap,
        "nodes": statistics.nodes,
        "supports": statistics.table_supports,
    }


class Workers:
    """Two worker processes, one of which may be killed half-way."""

    def __init__(self, kill: str) -> None:
        from distributed import Client, LocalCluster

        self._cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
        self._client = Client(self._cluster)
        self._to_kill = {"reading", "searching"} if kill == "both" else {kill}
        self._killed: list[str] = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()
        self._cluster.close()

    def read(self, paths: list[Path], options: argparse.Namespace) -> TrainingData:
        """Read the files, each a partition."""
        import dask.dataframe as dd

        frame = dd.read_parquet(paths, aggregate_files=False, split_row_groups=False)
        return read(
            frame.drop(columns=OUTCOME),
            frame[OUTCOME],
            memory_limit=1 if options.on_workers else int(options.memory_limit),
            progress=lambda state: self._while_reading(state, len(paths)),
        )

    def _while_reading(self, state: Any, n_files: int) -> None:
        if state.step == 2 and state.n_rows >= n_files * ROWS_PER_FILE // 2:
            self._kill("reading")

    def while_searching(self, record: Any) -> None:
        """Kill one as soon as there is a score."""
        self._kill("searching")

    def _kill(self, step: str) -> None:
        if step not in self._to_kill:
            return
        self._to_kill.remove(step)
        worker = next(iter(self._cluster.workers.values()))
        os.kill(worker.pid, signal.SIGKILL)
        self._killed.append(step)

    def figures(self) -> dict[str, Any]:
        """CPU seconds and peak memory of the workers that live, and when one was killed."""
        return {
            "killed": list(self._killed),
            "living": list(self._client.run(_figures_of_process).values()),
        }


def _figures_of_process() -> dict[str, float]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 2),
        "peak_bytes": 1024 * used.ru_maxrss,
    }


class Clock:
    """Wall and CPU seconds, and the peak of the resident memory so far."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def lap(self) -> dict[str, float]:
        """Figures since the last lap."""
        wall, cpu = time.perf_counter(), time.process_time()
        figures = {
            "wall_seconds": round(wall - self._wall, 2),
            "cpu_seconds": round(cpu - self._cpu, 2),
            "peak_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        }
        self._wall, self._cpu = wall, cpu
        return figures


def _arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large")
    parser.add_argument("command", choices=["make", "run", "run-here", "items"])
    parser.add_argument("folder", nargs="?", type=lambda text: Path(text).resolve())
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--spread", type=float, default=_SPREAD,
                        help="how far probabilities are from 1/2: the larger, the more rows are "
                        "equal")  # fmt: skip
    parser.add_argument("--files", type=int, help="the first files only")
    parser.add_argument("--in-memory", action="store_true")
    parser.add_argument("--read-only", action="store_true")
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("--kill", choices=["nobody", "reading", "searching", "both"],
                        default="nobody")  # fmt: skip
    parser.add_argument("--on-workers", action="store_true")
    parser.add_argument("--memory-limit", type=float, default=4e9)
    parser.add_argument("--scratch")
    parser.add_argument("--max-size", type=int, default=5)
    parser.add_argument("--time-limit", type=float, default=1200.0)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(arguments)
    if options.folder is None and options.command != "items":
        parser.error("a folder is needed")
    return options


def main(arguments: list[str]) -> int:
    """Make files, or measure in a new process."""
    options = _arguments(arguments)
    if options.command == "items":
        sys.stdout.write(json.dumps(run_items(options)) + "\n")
        return 0
    if options.command == "make":
        make(options.folder, int(options.rows), options.spread)
        return 0
    if options.command == "run":
        # A process of its own: the peak is that of reading and fitting alone.
        sys.stdout.write(run_python(["-m", "benchmarks.large", "run-here", str(options.folder),
                                     *arguments[2:]]))  # fmt: skip
        return 0
    paths = sorted(options.folder.glob("part-*.parquet"))[: options.files]
    if options.dask:
        with Workers(options.kill) as workers:
            found = run(paths, options, workers)
    else:
        found = run(paths, options)
    sys.stdout.write(json.dumps(found) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
