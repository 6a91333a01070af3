"""How fast all sets of items are found that are about as good as the best one, and prices of items.

    python -m benchmarks.alternatives DATA_FOLDER OUTPUT_FOLDER [--cases pima,german,...]
        [--kinds one,ridge,free,both] [--report-only]

DATA_FOLDER has a folder raw with the raw tables of benchmarks.datasets. Items are 0/1, with nine
cut-offs of each column of numbers, five of them in a score, with points from -5 to 5. Scales and
penalties are of four kinds: scale 1 without a ridge penalty, one of shrinkage 2 ("ridge"), any
scale ("free"), and both. Each is one row of OUTPUT_FOLDER/alternatives.csv, written when it ends;
rows that are there already are not computed again.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.commands import check_known, command, measured, show
from benchmarks.operating_points import data_of
from benchmarks.records import Records, Row
from riskslim import CoefficientSet, RiskScoreProblem, alternatives

KEYS = ("case", "kind")
FIELDS = (
    *KEYS, "rows", "items", "within", "sets", "lines", "complete", "objective", "supports",
    "vectors", "cpu_seconds", "prices", "proven", "least_price", "largest_price",
    "cpu_seconds_of_prices",
)  # fmt: skip
TIME_LIMIT = 600.0


class Case(NamedTuple):
    """A table, and by which share sets may be worse than the best one."""

    table: str
    within: float


CASES = {
    "pima": Case("pima", 0.01),
    "pima-3": Case("pima", 0.03),
    "german": Case("german", 0.005),
    "adult": Case("adult", 0.002),
}
SHRINKAGE = 2.0
# Cut-offs of each column, items of a score, and most points of one.
N_THRESHOLDS, SIZE, MOST = 9, 5, 5
KINDS = ("one", "ridge", "free", "both")


def stated(folder: Path, case: Case, kind: str) -> RiskScoreProblem:
    """The problem of a case, with scale and penalty of a kind.

    Parameters
    ----------
    folder : Path
        Of the data.
    case : Case
    kind : str

    Returns
    -------
    RiskScoreProblem
    """
    data = data_of(folder, case.table, N_THRESHOLDS)
    options: dict[str, Any] = {}
    if kind in ("ridge", "both"):
        options["l2_penalty"] = SHRINKAGE / data.n_counted
    if kind in ("free", "both"):
        options["scale"] = "free"
    coefficients = CoefficientSet(data.feature_names, -MOST, MOST)
    return RiskScoreProblem(data, coefficients, max_size=SIZE, **options)


def measure(folder: Path, case: Case, kind: str) -> dict[str, object]:
    """Find the sets, and again with the prices of the items of the best one.

    Parameters
    ----------
    folder, case, kind
        As of :func:`stated`.

    Returns
    -------
    dict
        The part of a row that is measured.
    """
    problem = stated(folder, case, kind)
    began = time.process_time()
    found = alternatives(problem, case.within, time_limit=TIME_LIMIT)
    listed = time.process_time()
    priced = alternatives(problem, case.within, prices="used", time_limit=TIME_LIMIT).prices
    ended = time.process_time()
    statistics = found.solution.statistics
    return {
        "rows": problem.loss.data.n_counted,
        "items": problem.n_features,
        "within": case.within,
        "sets": len(found),
        "lines": len(found.lines()),
        "complete": int(found.pool.complete),
        "objective": found.objective(0),
        "supports": statistics.table_supports,
        "vectors": statistics.table_vectors,
        "cpu_seconds": listed - began,
        "prices": len(priced),
        "proven": sum(one.is_proven for one in priced),
        "least_price": min(one.price for one in priced),
        "largest_price": max(one.price for one in priced),
        "cpu_seconds_of_prices": (ended - listed) - (listed - began),
    }


def run(path: Path, folder: Path, names: Iterable[str], kinds: Sequence[str]) -> int:
    """Append the searches that the file lacks.

    Parameters
    ----------
    path : Path
        CSV file.
    folder : Path
        Of the data.
    names, kinds : iterable of str
        Of cases; of scales and penalties.

    Returns
    -------
    int
        Number of searches that were made.
    """
    records, kinds = Records(path, FIELDS, KEYS), list(kinds)
    for name in names:
        for kind in kinds:
            row = records.add((name, kind), measure, folder, CASES[name], kind)
            if row is not None:
                text = f"{name}, {kind}: {row['sets']} sets, {row['cpu_seconds']:.1f} s\n"
                sys.stderr.write(text)
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
        "| case | kind | rows | items | within | sets | by variables | complete | CPU seconds "
        "| prices proven | of | CPU seconds |",
        "|---|---|---:|---:|---:|---:|---:|---|---:|---:|---|---:|",
    ]
    lines += [
        f"| {row['case']} | {row['kind']} | {int(row['rows']):,} | {row['items']} "
        f"| {float(row['within']):.1%} | {int(row['sets']):,} | {int(row['lines']):,} "
        f"| {'yes' if int(row['complete']) else 'no'} | {float(row['cpu_seconds']):.1f} "
        f"| {row['proven']} of {row['prices']} | {float(row['least_price']):.1%} to "
        f"{float(row['largest_price']):.1%} | {float(row['cpu_seconds_of_prices']):.1f} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = command("benchmarks.alternatives", __doc__)
    parser.add_argument("--cases", default=",".join(CASES), help="names, with commas between")
    parser.add_argument("--kinds", default=",".join(KINDS), help="of scales and penalties")
    options = parser.parse_args(arguments)
    names, kinds = options.cases.split(","), options.kinds.split(",")
    check_known(parser, names, CASES, "case")
    check_known(parser, kinds, KINDS, "kind")
    rows = measured(
        options, "alternatives.csv", FIELDS,
        lambda path: run(path, options.data_folder, names, kinds),
    )  # fmt: skip
    show(write_tables(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
