"""How fast the best specificity at a required sensitivity is proven.

    python -m benchmarks.operating_points DATA_FOLDER OUTPUT_FOLDER [--cases german-5,pima-5,...]
        [--threads 1] [--report-only]

DATA_FOLDER has a folder raw with the raw tables of benchmarks.datasets. Items are 0/1: so many
cut-offs of each column of numbers, levels, and one for values that are missing; zeros are values.
Each case is searched once at each sensitivity, and is one row of
OUTPUT_FOLDER/operating_points.csv, written when it ends; rows that are there already are not
computed again.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.commands import check_known, command, measured, show
from benchmarks.datasets import TABLES, load
from benchmarks.records import Records, Row
from riskslim import CoefficientSet, ItemEncoder, RiskScoreProblem, TrainingData
from riskslim.engines.operating_points.best_rule import best_rule
from riskslim.exceptions import ConstantFeatureWarning
from riskslim.operating_point import RequiredShare

KEYS = ("case", "sensitivity", "threads")
FIELDS = (
    *KEYS, "rows", "items", "size", "points", "supports", "left", "searched", "found",
    "specificity", "bound", "tie_proven", "share", "cpu_seconds", "seconds", "rule",
)  # fmt: skip


class Case(NamedTuple):
    """A table, its items, the scores that are allowed, and how long is searched."""

    table: str
    n_thresholds: int
    size: int
    most: int
    sensitivities: tuple[float, ...]
    time_limit: float


THREE = (0.95, 0.9, 0.8)
CASES = {
    "german-2": Case("german", 3, 5, 2, THREE, 60),
    "german-5": Case("german", 3, 5, 5, THREE, 60),
    "pima-2": Case("pima", 3, 5, 2, THREE, 60),
    "pima-5": Case("pima", 3, 5, 5, THREE, 60),
    "adult-5": Case("adult", 3, 4, 5, (0.9,), 120),
    "credit-5": Case("credit_default", 3, 4, 5, (0.9,), 120),
    "adult-nine": Case("adult", 9, 5, 5, (0.9,), 120),
    "credit-nine": Case("credit_default", 9, 5, 5, (0.9,), 120),
    "german-ten": Case("german", 3, 10, 5, (0.95,), 120),
}


def data_of(folder: Path, name: str, n_thresholds: int) -> TrainingData:
    """The rows of a raw table, with 0/1 items.

    Parameters
    ----------
    folder : Path
        Of the data.
    name : str
        Of the table.
    n_thresholds : int
        Cut-offs of each column of numbers.

    Returns
    -------
    TrainingData
    """
    table = TABLES[name]._replace(zero_is_missing=())
    X, y = load(folder / "raw", table)
    encoder = ItemEncoder(
        n_thresholds=n_thresholds, missing="indicator", categorical=table.categorical
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantFeatureWarning)
        return TrainingData(encoder.fit(X, y).transform(X), y)


def problem_of(folder: Path, case: Case) -> RiskScoreProblem:
    """The problem of a case.

    Parameters
    ----------
    folder : Path
        Of the data.
    case : Case

    Returns
    -------
    RiskScoreProblem
    """
    data = data_of(folder, case.table, case.n_thresholds)
    coefficients = CoefficientSet(data.feature_names, -case.most, case.most)
    return RiskScoreProblem(data, coefficients, max_size=case.size)


def measure(folder: Path, case: Case, share: float, threads: int) -> dict[str, object]:
    """Search once.

    Parameters
    ----------
    folder : Path
        Of the data.
    case : Case
    share : float
        Required sensitivity.
    threads : int

    Returns
    -------
    dict
        The part of a row that is measured.
    """
    problem = problem_of(folder, case)
    began, clock = time.process_time(), time.perf_counter()
    solution = best_rule(
        problem, RequiredShare("sensitivity", share), time_limit=case.time_limit, n_threads=threads
    )
    rule, statistics = solution.certificate.rule, solution.statistics
    assert rule is not None
    assert statistics is not None
    return {
        "rows": problem.loss.data.n_counted,
        "items": problem.n_features,
        "size": case.size,
        "points": case.most,
        "supports": statistics.table_supports,
        "left": statistics.table_left,
        "searched": statistics.nodes,
        "found": rule.shares.sensitivity,
        "specificity": rule.shares.specificity,
        "bound": rule.bound / rule.shares.negatives,
        "tie_proven": int(rule.is_tie_proven),
        "share": statistics.table_share,
        "cpu_seconds": time.process_time() - began,
        "seconds": time.perf_counter() - clock,
        "rule": f"{solution.points} from {rule.threshold:g}",
    }


def run(path: Path, folder: Path, names: Iterable[str], threads: int) -> int:
    """Append the searches that the file lacks.

    Parameters
    ----------
    path : Path
        CSV file.
    folder : Path
        Of the data.
    names : iterable of str
        Of cases.
    threads : int

    Returns
    -------
    int
        Number of searches that were made.
    """
    records = Records(path, FIELDS, KEYS)
    for name in names:
        case = CASES[name]
        for share in case.sensitivities:
            row = records.add((name, share, threads), measure, folder, case, share, threads)
            if row is not None:
                sys.stderr.write(
                    f"{name} at {share}: specificity {row['specificity']:.4f}, at most "
                    f"{row['bound']:.4f}, {row['cpu_seconds']:.1f} s\n"
                )
    return records.n_made


def write_tables(rows: Sequence[Row]) -> str:
    """All searches as Markdown.

    Parameters
    ----------
    rows : sequence of mappings
        Of the file.

    Returns
    -------
    str
    """
    lines = [
        "| case | items | k | points up to | sensitivity | supports | left | points looked at "
        "| specificity | at most | CPU seconds |",
        "|---|---:|---:|" + "---:|" * 8,
    ]
    lines += [
        f"| {row['case']} | {row['items']} | {row['size']} | {row['points']} "
        f"| {float(row['sensitivity']):.0%} | {int(row['supports']):,} | {int(row['left']):,} "
        f"| {int(row['searched']):,} | {float(row['specificity']):.4f} "
        f"| {float(row['bound']):.4f} | {float(row['cpu_seconds']):.1f} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = command("benchmarks.operating_points", __doc__)
    parser.add_argument("--cases", default=",".join(CASES), help="names, with commas between")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args(arguments)
    names = options.cases.split(",")
    check_known(parser, names, CASES, "case")
    rows = measured(
        options, "operating_points.csv", FIELDS,
        lambda path: run(path, options.data_folder, names, options.threads),
    )  # fmt: skip
    show(write_tables(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
