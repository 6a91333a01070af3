"""Passes over all rows that prove the bounds of nodes, alone and in whole searches.

    python -m benchmarks.passes [--rows 1e6] [--features 20] [--search] [--in-files]
                                [--time-limit 600]

The first table has the milliseconds of processor time that a point takes in a pass of one or of
three points over integers 0..10: its loss and gradient alone, and with the intercept polished
before, for rows of equal weights and of many. With --search, the simulated problem of the paper
(k = 5, -5..5) is solved with relaxations on a sample, and on all rows; each search is a row of the
second table. With --in-files, it is solved once more with its rows in the files of a folder, and
room in memory for few of them. One thread.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from time import process_time
from typing import NamedTuple

import numpy as np

from benchmarks.instances import Case, make_table
from riskslim import (
    BranchAndBoundSettings,
    CoefficientSet,
    RiskScoreProblem,
    TrainingData,
    branch_and_bound,
)
from riskslim.engines.branch_and_bound.node_rows import NodeRows
from riskslim.engines.branch_and_bound.passes import LinearisationPoints, SampledNodes
from riskslim.engines.branch_and_bound.workspace import Worker
from riskslim.engines.settings import TunedSettings
from riskslim.rows.disk import BlockWriter, ScratchFolder
from riskslim.rows.memory import schema_of

# Coefficients that a relaxation leaves in play, and features that can still change.
N_USED, N_WANTED = 10, 14
REPEATS = 3
# More rows than there are: nothing is sampled.
NO_SAMPLE = 2**62
# Bytes that a search may take where rows are in files.
IN_FILES_MEMORY = 2 * 10**7


class Pass(NamedTuple):
    """Milliseconds for each point of a pass."""

    rows: str
    points: int
    alone: float
    polished: float


def time_passes(n: int, d: int) -> Iterator[Pass]:
    """Time passes over random rows.

    Parameters
    ----------
    n, d : int
        Rows and features.

    Yields
    ------
    Pass
    """
    rng = np.random.default_rng(0)
    columns = np.asfortranarray(rng.integers(0, 11, (n, d)).astype(np.int8))
    label = rng.choice([-1, 1], n).astype(np.int8)
    classes = (label > 0) / n, (label < 0) / n
    weights = rng.dirichlet([1.0, 1.0], n).T / n
    wanted = (np.arange(d + 1) <= N_WANTED).astype(np.int64)
    slot, features = np.arange(d, dtype=np.int64), np.ones(d, np.bool_)
    worker = Worker(1, d + 1)
    for kind, (positive, negative) in (
        ("equal weights", classes),
        ("many weights", np.ascontiguousarray(weights)),
    ):
        rows = NodeRows(columns, np.zeros((1, 1), order="F"), slot, positive, negative, features)
        sampled = SampledNodes(rows, rows.first(1))
        for b in (1, 3):
            points = np.zeros((b, d + 1))
            points[:, 1 : 1 + N_USED] = 0.3 * rng.normal(size=(b, min(N_USED, d)))
            asked = LinearisationPoints(rows, points, np.tile([-100.0, 100.0], (b, 1)), wanted)
            seconds = []
            for polish in (False, True):
                best = np.inf
                for _ in range(REPEATS):
                    began = process_time()
                    sampled.answer(
                        asked._replace(points=points.copy()), np.zeros(1, np.int64), worker,
                        polish=polish,
                    )  # fmt: skip
                    best = min(best, process_time() - began)
                seconds.append(1e3 * best / b)
            yield Pass(kind, b, *seconds)


def in_files(data: TrainingData) -> TrainingData:
    """Write rows of small integers into files of a scratch folder.

    Parameters
    ----------
    data : TrainingData

    Returns
    -------
    TrainingData
    """
    rows = data.block
    writer = BlockWriter(ScratchFolder(), schema_of(rows))
    for begin in range(0, rows.n_rows, writer.block_rows):
        part = slice(begin, begin + writer.block_rows)
        writer.append(np.ascontiguousarray(rows.integer_columns[part]), None, rows.labels[part])
    return TrainingData.from_rows(writer.finish(), feature_names=data.feature_names)


def time_searches(n: int, d: int, time_limit: float, *, files: bool) -> Iterator[str]:
    """Solve the simulated problem with relaxations on a sample, and on all rows.

    Parameters
    ----------
    n, d : int
    time_limit : float
        Seconds by the clock, of each.
    files : bool
        Solve it with its rows in files instead.

    Yields
    ------
    str
        A row of Markdown.
    """
    data = TrainingData(*make_table(Case("integer", n, d)))
    kinds = {
        "a sample": BranchAndBoundSettings(),
        "all rows": TunedSettings(sample_rows=NO_SAMPLE),
    }
    if files:
        data = in_files(data)
        kinds = {"a sample, rows in files": BranchAndBoundSettings(memory_limit=IN_FILES_MEMORY)}
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    for name, settings in kinds.items():
        problem = RiskScoreProblem(data, coefficients, max_size=5)
        began = process_time()
        solution = branch_and_bound(problem, time_limit=time_limit, settings=settings)
        seconds, certificate = process_time() - began, solution.certificate
        yield (
            f"| {name} | {seconds:.1f} s | {solution.statistics.nodes} | "
            f"{solution.statistics.cuts} | {certificate.objective:.9f} | "
            f"{certificate.optimality_gap:.2%} |"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.passes",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--search", action="store_true", help="solve the problem, too")
    parser.add_argument("--in-files", action="store_true", help="solve it with rows in files")
    parser.add_argument("--time-limit", type=float, default=600.0, help="seconds per search")
    options = parser.parse_args(arguments)
    n, d = int(options.rows), options.features
    write = sys.stdout.write
    write("| rows | points | ms per point | with its intercept polished |\n" + "|---" * 4 + "|\n")
    for found in time_passes(n, d):
        write(f"| {found.rows} | {found.points} | {found.alone:.2f} | {found.polished:.2f} |\n")
    wanted = [files for files in (False, True) if (options.search, options.in_files)[files]]
    if wanted:
        names = "relaxations on", "CPU", "nodes", "gradients", "objective", "gap"
        write("\n| " + " | ".join(names) + " |\n" + "|---" * len(names) + "|\n")
    for files in wanted:
        for row in time_searches(n, d, options.time_limit, files=files):
            write(row + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
