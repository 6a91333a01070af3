"""Hundreds of 0/1 items: time to good scores, beside FasterRisk where it is installed.

Run::

    python -m benchmarks.wide DATA --fasterrisk PYTHON --output docs/wide.csv

DATA is a folder of raw tables (adult, credit_default, german, pima), PYTHON the interpreter of an
environment that has fasterrisk 0.1.10. Both programs get the same items, one thread, points from
-5 to 5. Times are CPU seconds from the items on: imports and the encoding of tables do not count.
FasterRisk says nothing until it ends, so that its time is that of its best score. Rows of the
output that are there already are kept: an interrupted run is started again, and goes on. With
--fasterrisk-rows FasterRisk's figures are read from the rows of another run, where it has them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
import warnings
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.records import Row, append_row, read_rows
from riskslim import (
    CoefficientSet,
    ItemEncoder,
    RiskScoreProblem,
    TrainingData,
    branch_and_bound,
)

OUTCOMES = {
    "adult": "over_50k", "credit_default": "default", "german": "bad", "pima": "diabetes",
}  # fmt: skip
CASES = [
    ("german", 9), ("pima", 9), ("pima", 1000), ("adult", 9), ("adult", 49),
    ("credit_default", 9), ("credit_default", 49),
]  # fmt: skip
SIZES = (3, 5, 8, 10)
# Losses that differ by less are equal: scales are rounded to as much.
SAME = 1e-6


@dataclass(frozen=True)
class Measured:
    """What both programs did with one problem; NaN where there is nothing to say."""

    items: str
    n: int
    d: int
    size: int
    scale: str
    loss: float
    gap: float
    cpu_seconds: float
    cpu_to_first: float
    cpu_to_best: float
    fasterrisk_loss: float = float("nan")
    fasterrisk_cpu_seconds: float = float("nan")
    loss_at_equal_time: float = float("nan")
    cpu_to_equal: float = float("nan")
    cpu_to_better: float = float("nan")


def items_of(
    folder: Path, name: str, n_thresholds: int
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    path = folder / f"{name}.csv"
    table = pd.read_csv(path) if path.exists() else pd.read_parquet(folder / f"{name}.parquet")
    y = table.pop(OUTCOMES[name]).to_numpy()
    encoder = ItemEncoder(n_thresholds=n_thresholds, missing="indicator")
    X = np.asarray(encoder.fit_transform(table, y), dtype=np.int8)
    return X, np.where(y > 0, 1, 0).astype(np.int8), list(map(str, encoder.get_feature_names_out()))


def solved(
    X: np.ndarray, y: np.ndarray, names: list[str], size: int, scale: str, time_limit: float
) -> tuple[list[tuple[float, float]], float, float, float]:
    """CPU seconds and loss of each better score; loss, gap and CPU seconds at the end."""
    data = TrainingData(X, y, feature_names=names)
    began = time.process_time()
    coefficients = CoefficientSet(names, -5, 5)
    problem = RiskScoreProblem(
        data, coefficients, scale="free" if scale == "free" else 1.0, max_size=size, l0_penalty=1e-6
    )
    found: list[tuple[float, float]] = []

    def progress(record) -> None:
        # The penalty of a full score; one of fewer items has a loss that is larger by less than
        # SAME.
        value = record.upper_bound - size * 1e-6
        if not found or value < found[-1][1]:
            found.append((time.process_time() - began, value))

    solution = branch_and_bound(problem, time_limit=time_limit, progress=progress)
    seconds = time.process_time() - began
    certificate = solution.certificate
    penalty = problem.penalty(solution.coef)
    return found, certificate.objective - penalty, certificate.optimality_gap, seconds


def fasterrisk_loss(python: str, X: np.ndarray, y: np.ndarray, size: int) -> tuple[float, float]:
    """Least loss of FasterRisk's pool, computed here, and its CPU seconds."""
    worker = Path(__file__).with_name("fasterrisk_worker.py")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "items.npz")
        np.savez(path, X=X, y=y)
        run = subprocess.run(
            [python, str(worker), str(path), str(size)], check=True, capture_output=True, text=True,
            env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )  # fmt: skip
    result = json.loads(run.stdout.splitlines()[-1])
    sign = np.where(y > 0, 1.0, -1.0)
    losses = []
    for score in result["scores"]:
        logits = (score["intercept"] + X @ np.array(score["points"])) / score["multiplier"]
        losses.append(float(np.logaddexp(0.0, -sign * logits).mean()))
    return min(losses), float(result["cpu_seconds"])


def figures_of(rows: list[Row]) -> dict[tuple[str, str], tuple[float, float]]:
    """Loss and CPU seconds of FasterRisk, by items and size, where rows have them."""
    return {
        (row["items"], row["size"]): (
            float(row["fasterrisk_loss"]), float(row["fasterrisk_cpu_seconds"])
        )
        for row in rows if row["fasterrisk_loss"] != "nan"
    }  # fmt: skip


def measured(
    folder: Path, name: str, n_thresholds: int, size: int, scale: str, time_limit: float,
    python: str | None, known: tuple[float, float] | None = None,
) -> Measured:  # fmt: skip
    X, y, names = items_of(folder, name, n_thresholds)
    found, loss, gap, seconds = solved(X, y, names, size, scale, time_limit)
    about = {
        "items": f"{name} {n_thresholds}", "n": len(X), "d": X.shape[1], "size": size,
        "scale": scale, "loss": loss, "gap": gap, "cpu_seconds": seconds,
        "cpu_to_first": found[0][0],
        "cpu_to_best": next(t for t, value in found if value <= found[-1][1] + SAME),
    }  # fmt: skip
    if scale != "free":  # FasterRisk's scores are of any scale
        return Measured(**about)
    if known is None and python is not None:
        known = fasterrisk_loss(python, X, y, size)
    if known is None:
        return Measured(**about)
    other, other_seconds = known

    def first_below(limit: float) -> float:
        return next((t for t, value in found if value <= limit), float("nan"))

    by_then = [value for t, value in found if t <= max(other_seconds, 2.0)]
    return Measured(
        **about,
        fasterrisk_loss=other,
        fasterrisk_cpu_seconds=other_seconds,
        loss_at_equal_time=by_then[-1] if by_then else float("nan"),
        cpu_to_equal=first_below(other + SAME),
        cpu_to_better=first_below(other - SAME),
    )


def table_of(rows: list[Row]) -> str:
    """The rows as a table of Markdown."""
    head = [
        "items", "n x d", "k", "scale", "loss", "gap", "first (s)", "best (s)", "FasterRisk: loss",
        "CPU s", "riskslim: equal (s)", "better (s)",
    ]  # fmt: skip
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]

    def number(row: Row, name: str, form: str) -> str:
        return "" if row[name] == "nan" else format(float(row[name]), form)

    for row in rows:
        cells = [
            row["items"], f"{int(row['n']):,} x {int(row['d']):,}", row["size"], row["scale"],
            number(row, "loss", ".6f"), number(row, "gap", ".1%"),
            number(row, "cpu_to_first", ".2f"), number(row, "cpu_to_best", ".2f"),
            number(row, "fasterrisk_loss", ".6f"), number(row, "fasterrisk_cpu_seconds", ".1f"),
            number(row, "cpu_to_equal", ".2f"), number(row, "cpu_to_better", ".2f"),
        ]  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(rows: list[Row], path: Path) -> None:
    """CPU seconds to FasterRisk's loss against FasterRisk's own."""
    from matplotlib.figure import Figure

    with_other = [row for row in rows if row["fasterrisk_loss"] != "nan"]
    if not with_other:
        return
    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.subplots()
    for size in sorted({int(row["size"]) for row in with_other}):
        here = [row for row in with_other if int(row["size"]) == size]
        axes.loglog(
            [float(row["fasterrisk_cpu_seconds"]) for row in here],
            [float(row["cpu_to_equal"]) for row in here], "o", label=f"{size} items",
        )  # fmt: skip
    limits = axes.get_xlim()
    axes.plot(limits, limits, color="grey", linewidth=0.8)
    axes.set_xlabel("FasterRisk, CPU seconds")
    axes.set_ylabel("riskslim, CPU seconds to the same loss")
    axes.legend()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder of the raw tables")
    parser.add_argument("--fasterrisk", help="interpreter of an environment with fasterrisk")
    parser.add_argument("--fasterrisk-rows", type=Path, help="rows that have FasterRisk's figures")
    parser.add_argument("--output", type=Path, default=Path("docs/wide.csv"))
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--cases", nargs="*", help='such as "adult 9"; all if none')
    parser.add_argument("--scales", nargs="*", default=("1", "free"), choices=("1", "free"))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    names = [field.name for field in fields(Measured)]
    rows = read_rows(arguments.output, names)
    done = {(row["items"], row["size"], row["scale"]) for row in rows}
    other = arguments.fasterrisk_rows
    known = figures_of([] if other is None else read_rows(other, names))
    for size in arguments.sizes:
        for name, n_thresholds in CASES:
            case = f"{name} {n_thresholds}"
            if arguments.cases and case not in arguments.cases:
                continue
            for scale in arguments.scales:
                if (case, str(size), scale) in done:
                    continue
                row = measured(
                    arguments.data, name, n_thresholds, size, scale, arguments.time_limit,
                    arguments.fasterrisk, known.get((case, str(size))),
                )  # fmt: skip
                append_row(arguments.output, names, asdict(row))
                print(row, flush=True)
    rows = read_rows(arguments.output, names)
    print(table_of(rows))
    draw(rows, arguments.output.with_suffix(".svg"))


if __name__ == "__main__":
    main()
