"""How strong the prior of weights should be: loss on new rows, and what is left to prove.

    python -m benchmarks.shrinkage DATA_FOLDER OUTPUT_FOLDER [--tables raw/german,raw/pima,...]
        [--sizes 5,10] [--strengths 0,0.5,1,2,cv] [--repeats 1] [--time-limit 10]
        [--report-only] [--page docs/shrinkage.md] [--picture docs/shrinkage.svg]
    python -m benchmarks.shrinkage DATA_FOLDER OUTPUT_FOLDER --proofs 120 [--tables ...]
        [--sizes 5,10] [--strengths 0,2,8]

DATA_FOLDER is that of benchmarks.default_scale. A score is fitted to the training rows of each of 5
stratified folds, with free scale and 9 cut-offs of each raw column, for every strength of the
prior (``shrinkage``, the l2_penalty times the weight of the training rows). "cv" is what
RiskSLIMClassifierCV chooses of 0, 0.25, ... 8 on 3 inner folds of the training rows. --repeats 3
makes three divisions into folds. Intervals are for so many comparisons at once as the table has of
that strength (Bonferroni). --picture draws the log loss less that at 0 by strength, for each table
of which there are five strengths at least. --proofs fits to all rows instead, for so many seconds,
and writes down the gap that is left. One thread. A fit is one row of OUTPUT_FOLDER/shrinkage.csv or
proofs.csv, written when it ends; rows that are there already are not computed again.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from benchmarks.commands import check_known, check_numbers, command, measured, show
from benchmarks.datasets import NAMES, Dataset, open_dataset
from benchmarks.paired import N_FOLDS, differences, interval
from benchmarks.records import Records, Row
from riskslim import RiskSLIMClassifier, RiskSLIMClassifierCV
from riskslim.exceptions import ConstantFeatureWarning, ExtrapolationWarning
from riskslim.metrics import auc, logistic_loss
from riskslim.model_selection import SHRINKAGES

CHOSEN = "cv"
GRID = SHRINKAGES
N_INNER_FOLDS = 3
STRENGTHS = ("0", "0.5", "1", "2", CHOSEN)
# Strengths of a table that is drawn.
LEAST_DRAWN = 5
KEYS = ("table", "size", "strength", "fold", "time_limit")
FIELDS = (
    *KEYS, "loss", "auc", "chosen_strength", "train_loss", "objective", "gap", "cpu_seconds",
    "points",
)  # fmt: skip
PROOF_KEYS = ("table", "size", "strength", "time_limit")
PROOF_FIELDS = (*PROOF_KEYS, "rows", "objective", "loss", "gap", "nodes", "cpu_seconds")


def measure(
    dataset: Dataset, train: Any, test: Any, size: int, strength: str, time_limit: float
) -> dict[str, object]:
    """Fit to the training rows of a fold, and measure on the others.

    Parameters
    ----------
    dataset : Dataset
    train, test : ndarray of intp
    size : int
        Most items.
    strength : str
        A number, or "cv".
    time_limit : float
        Seconds of a search.

    Returns
    -------
    dict
        The part of a row that is measured.
    """
    asked = {"items": dataset.encoder, "max_size": size, "scale": "free", "time_limit": time_limit}
    classifier: RiskSLIMClassifier
    if strength == CHOSEN:
        classifier = RiskSLIMClassifierCV(shrinkages=GRID, cv=N_INNER_FOLDS, **asked)
    else:
        classifier = RiskSLIMClassifier(shrinkage=float(strength), **asked)
    began = time.process_time()
    with warnings.catch_warnings():
        for usual in (ConvergenceWarning, ConstantFeatureWarning):
            warnings.simplefilter("ignore", usual)
        classifier.fit(dataset.X.iloc[train], dataset.y[train])
    seconds = time.process_time() - began
    chosen = classifier.shrinkage_ if strength == CHOSEN else float(strength)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        log_odds = classifier.decision_function(dataset.X.iloc[test])
    score, certificate, y = classifier.risk_score_, classifier.certificate_, dataset.y[test]
    return {
        "loss": logistic_loss(y, log_odds),
        "auc": auc(y, log_odds),
        "chosen_strength": chosen,
        "train_loss": certificate.loss,
        "objective": certificate.objective,
        "gap": certificate.optimality_gap,
        "cpu_seconds": seconds,
        "points": "; ".join(f"{name}: {points}" for name, points in score.points.items()),
    }


def folds_of(dataset: Dataset, repeats: int) -> list[tuple[str, Any, Any]]:
    """Name, training and test rows of all folds of all divisions.

    Parameters
    ----------
    dataset : Dataset
    repeats : int

    Returns
    -------
    list of (str, ndarray, ndarray)
    """
    return [
        (f"{repeat}.{fold}", train, test)
        for repeat in range(repeats)
        for fold, (train, test) in enumerate(
            StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat).split(dataset.X, dataset.y)
        )
    ]


def run(
    path: Path,
    folder: Path,
    tables: Iterable[str],
    sizes: Iterable[int],
    strengths: Sequence[str],
    repeats: int,
    time_limit: float,
) -> int:
    """Append the fits to folds that the file lacks.

    Parameters
    ----------
    path : Path
        CSV file.
    folder : Path
        Of the data.
    tables : iterable of str
    sizes : iterable of int
    strengths : sequence of str
    repeats : int
    time_limit : float
        Seconds per search.

    Returns
    -------
    int
        Number of fits that were made.
    """
    records, sizes = Records(path, FIELDS, KEYS), list(sizes)
    for name in tables:
        dataset = open_dataset(folder, name)
        for size in sizes:
            for fold, train, test in folds_of(dataset, repeats):
                for strength in strengths:  # in turn: a stopped run has whole pairs
                    row = records.add(
                        (name, size, strength, fold, time_limit),
                        measure, dataset, train, test, size, strength, time_limit,
                    )  # fmt: skip
                    if row is None:
                        continue
                    sys.stderr.write(
                        f"{name}, k = {size}, fold {fold}, {strength}: loss {row['loss']:.4f}, "
                        f"AUC {row['auc']:.4f}, {row['cpu_seconds']:.1f} s\n"
                    )
    return records.n_made


def prove(
    path: Path,
    folder: Path,
    tables: Iterable[str],
    sizes: Iterable[int],
    strengths: Sequence[str],
    time_limit: float,
) -> int:
    """Append the fits to all rows that the file lacks.

    Parameters
    ----------
    path, folder, tables, sizes, strengths, time_limit
        As in :func:`run`; strengths are numbers.

    Returns
    -------
    int
        Number of fits that were made.
    """
    records, sizes = Records(path, PROOF_FIELDS, PROOF_KEYS), list(sizes)
    for name in tables:
        dataset = open_dataset(folder, name)
        for size in sizes:
            for strength in strengths:
                row = records.add(
                    (name, size, strength, time_limit),
                    _proof, dataset, size, float(strength), time_limit,
                )  # fmt: skip
                if row is None:
                    continue
                sys.stderr.write(
                    f"{name}, k = {size}, {strength}: gap {row['gap']:.3%}, "
                    f"{row['cpu_seconds']:.1f} s\n"
                )
    return records.n_made


def _proof(dataset: Dataset, size: int, strength: float, time_limit: float) -> dict[str, object]:
    classifier = RiskSLIMClassifier(
        items=dataset.encoder, max_size=size, scale="free", shrinkage=strength,
        time_limit=time_limit,
    )  # fmt: skip
    began = time.process_time()
    with warnings.catch_warnings():
        for usual in (ConvergenceWarning, ConstantFeatureWarning):
            warnings.simplefilter("ignore", usual)
        classifier.fit(dataset.X, dataset.y)
    certificate = classifier.certificate_
    return {
        "rows": len(dataset.y),
        "objective": certificate.objective,
        "loss": certificate.loss,
        "gap": certificate.optimality_gap,
        "nodes": classifier.solution_.statistics.nodes,
        "cpu_seconds": time.process_time() - began,
    }


def write_tables(rows: Sequence[Row]) -> str:
    """Means over folds, and paired differences to no prior, as Markdown.

    Parameters
    ----------
    rows : sequence of mappings
        Of the file.

    Returns
    -------
    str
    """
    found: dict[tuple[str, str], dict[str, dict[str, Row]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        found[row["table"], row["size"]][row["strength"]][row["fold"]] = row
    lines = [
        "| table | k | strength | folds | log loss | AUC | log loss less that at 0 | chosen | gap "
        "| CPU seconds per fit |",
        "|---|---:|---:|" + "---:|" * 7,
    ]
    n_compared = Counter(strength for one in found.values() for strength in one)
    for (table, size), by_strength in found.items():
        for strength, folds in by_strength.items():
            means = _means(folds, by_strength.get("0", {}), n_compared[strength])
            lines.append(f"| {table} | {size} | {strength} | {means} |")
    return "\n".join(lines) + "\n"


def _means(folds: Mapping[str, Row], without: Mapping[str, Row], n_compared: int) -> str:
    rows = list(folds.values())
    loss, auc_, gap, seconds = (
        float(np.mean([float(row[field]) for row in rows]))
        for field in ("loss", "auc", "gap", "cpu_seconds")
    )
    mean, half = interval(differences(folds, without, "loss"), n_compared)
    cell = "" if folds is without else f"{mean:+.4f} ({mean - half:+.4f} to {mean + half:+.4f})"
    strengths = sorted({float(row["chosen_strength"] or 0) for row in rows})
    between = (
        f"{strengths[0]:g}" if len(strengths) == 1 else f"{strengths[0]:g} to {strengths[-1]:g}"
    )
    return f"{len(rows)} | {loss:.4f} | {auc_:.4f} | {cell} | {between} | {gap:.2%} | {seconds:.1f}"


def draw(rows: Sequence[Row], path: Path) -> None:
    """Draw the log loss less that without a prior by strength, one line for each table.

    Parameters
    ----------
    rows : sequence of mappings
        Of the file.
    path : Path
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    lines: dict[str, dict[str, dict[float, list[float]]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        if row["strength"] != CHOSEN:
            of_table = lines[row["size"]][row["table"]]
            of_table.setdefault(float(row["strength"]), []).append(float(row["loss"]))
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    panels = figure.subplots(1, len(lines), sharey=True, squeeze=False)[0]
    for axes, (size, tables) in zip(panels, lines.items(), strict=True):
        for table, losses in tables.items():
            if len(losses) < LEAST_DRAWN:
                continue
            strengths = sorted(losses)
            change = [np.mean(losses[one]) - np.mean(losses[0.0]) for one in strengths]
            axes.plot(strengths, change, marker="o", markersize=4, label=table)
        axes.axhline(0, color="gray", linewidth=0.8)
        axes.set_xscale("symlog", base=2, linthresh=0.25)
        axes.set_xticks(strengths, [f"{one:g}" for one in strengths])
        axes.minorticks_off()
        axes.set(title=f"scores of {size} items", xlabel="strength of the prior")
    panels[0].set_ylabel("log loss on new rows, less that without a prior")
    panels[-1].legend(frameon=False)
    with mpl.rc_context({"svg.hashsalt": "riskslim", "svg.fonttype": "none"}):
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def write_proofs(rows: Sequence[Row]) -> str:
    """Gaps by table, size and strength, as Markdown.

    Parameters
    ----------
    rows : sequence of mappings

    Returns
    -------
    str
    """
    lines = [
        "| table | rows | k | strength | alpha | objective | loss | gap | nodes | CPU seconds |",
        "|---|---:|---:|" + "---:|" * 7,
    ]
    for row in rows:
        alpha = float(row["strength"]) / float(row["rows"])
        lines.append(
            f"| {row['table']} | {int(row['rows']):,} | {row['size']} | {row['strength']} "
            f"| {alpha:.2g} | {float(row['objective']):.6f} | {float(row['loss']):.6f} "
            f"| {float(row['gap']):.3%} | {int(row['nodes']):,} "
            f"| {float(row['cpu_seconds']):.1f} |"
        )
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = command("benchmarks.shrinkage", __doc__, page=True)
    parser.add_argument("--tables", default=",".join(NAMES), help="names, with commas between")
    parser.add_argument("--sizes", default="5,10", help="most items, with commas between")
    parser.add_argument("--strengths", default=",".join(STRENGTHS), help="with commas between")
    parser.add_argument("--repeats", type=int, default=1, help="divisions into folds")
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds per search")
    parser.add_argument("--proofs", type=float, help="fit to all rows, so many seconds each")
    parser.add_argument("--picture", type=Path, help="file for the losses by strength")
    options = parser.parse_args(arguments)
    tables, sizes = options.tables.split(","), options.sizes.split(",")
    strengths = options.strengths.split(",")
    check_known(parser, tables, NAMES, "table")
    check_numbers(parser, "--sizes", sizes)
    whole = [one.replace(".", "", 1) for one in strengths]
    check_numbers(parser, "--strengths", whole, () if options.proofs else (CHOSEN,))
    given = (options.data_folder, tables, list(map(int, sizes)), strengths)
    if options.proofs:
        rows = measured(
            options, "proofs.csv", PROOF_FIELDS, lambda path: prove(path, *given, options.proofs)
        )
        show(write_proofs(rows))
        return 0
    rows = measured(
        options, "shrinkage.csv", FIELDS,
        lambda path: run(path, *given, options.repeats, options.time_limit),
    )  # fmt: skip
    show(write_tables(rows), options.page, "benchmarks.shrinkage")
    if options.picture:
        draw(rows, options.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
