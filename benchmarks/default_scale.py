"""Which scale is the better default on new rows: the paper's, or a free one.

    python -m benchmarks.default_scale DATA_FOLDER OUTPUT_FOLDER [--tables raw/pima,mammo,...]
        [--sizes 5] [--nested] [--time-limit 5] [--report-only] [--page docs/scale.md]

DATA_FOLDER has the paper's tables, NAME_data.csv, and the folder raw: adult.parquet,
credit_default.parquet, german.csv, pima.csv. A score is fitted to the training rows of each of 5
stratified folds at scale 1 and at the best scale of "free", all other settings left at their
defaults; raw columns get 9 cut-offs each, which are chosen on the training rows. With --nested each
score has the size of those in --sizes that has the lowest mean log loss on 3 inner folds of the
training rows; otherwise nothing else is chosen, and every size has rows. One thread. A fit is one
row of
OUTPUT_FOLDER/default_scale.csv, written when it ends; rows that are there already are not computed
again. --page writes the tables between two marks of a page.

CAL is over the distinct scores. A score with a free scale has more of them, and with more of them
CAL is larger by chance alone: the column "CAL, 10 bins" compares like with like.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.commands import check_known, check_numbers, command, measured, show
from benchmarks.datasets import NAMES, Dataset, open_dataset
from benchmarks.nested import fitted
from benchmarks.paired import METRICS, difference
from benchmarks.records import Records, Row
from riskslim import RiskSLIMClassifier
from riskslim.exceptions import ExtrapolationWarning
from riskslim.metrics import auc, calibration_error, logistic_loss

SCALES = ("1", "free")
KEYS = ("table", "size", "scale", "fold", "time_limit")
FIELDS = (
    *KEYS, *METRICS, "cal10", "chosen_size", "best_scale", "train_loss", "gap",
    "cpu_seconds", "intercept", "points",
)  # fmt: skip


def measure(
    dataset: Dataset, fold: int, sizes: Sequence[int], scale: str, time_limit: float
) -> dict[str, object]:
    """Fit to the training rows of a fold, and measure on the others.

    Parameters
    ----------
    dataset : Dataset
    fold : int
    sizes : sequence of int
        Most items; of several the ones that inner folds choose.
    scale : {"1", "free"}
    time_limit : float
        Seconds of the search.

    Returns
    -------
    dict
        The part of a row that is measured.
    """
    train, test = dataset.folds()[fold]
    classifier = RiskSLIMClassifier(
        items=dataset.encoder,
        scale="free" if scale == "free" else float(scale),
        l2_penalty=0,  # scales alone are compared
        time_limit=time_limit,
    )
    began = time.process_time()
    choices = {"max_size": list(sizes)}
    classifier = fitted(classifier, choices, dataset.X.iloc[train], dataset.y[train])
    seconds = time.process_time() - began
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        log_odds = classifier.decision_function(dataset.X.iloc[test])
        risk = classifier.predict_proba(dataset.X.iloc[test])[:, 1]
    score, certificate, y = classifier.risk_score_, classifier.certificate_, dataset.y[test]
    return {
        "auc": auc(y, log_odds),
        "loss": logistic_loss(y, log_odds),
        "cal": calibration_error(y, risk),
        "cal10": calibration_error(y, risk, bins=10),
        "chosen_size": classifier.max_size,
        "best_scale": score.scale,
        "train_loss": certificate.loss,
        "gap": certificate.optimality_gap,
        "cpu_seconds": seconds,
        "intercept": score.intercept,
        "points": "; ".join(f"{name}: {points}" for name, points in score.points.items()),
    }


def run(
    path: Path,
    folder: Path,
    tables: Iterable[str],
    choices: Iterable[Sequence[int]],
    time_limit: float,
) -> int:
    """Append the fits that the file lacks.

    Parameters
    ----------
    path : Path
        CSV file.
    folder : Path
        Of the data.
    tables : iterable of str
    choices : iterable of sequences of int
        Sizes; of several in one sequence inner folds choose.
    time_limit : float
        Seconds per fit.

    Returns
    -------
    int
        Number of fits that were made.
    """
    records, choices = Records(path, FIELDS, KEYS), list(choices)
    for name in tables:
        dataset = open_dataset(folder, name)
        for sizes in choices:
            size = " or ".join(map(str, sizes))
            for fold in range(len(dataset.folds())):
                for scale in SCALES:  # in turn: a stopped run has whole pairs
                    row = records.add(
                        (name, size, scale, fold, time_limit),
                        measure, dataset, fold, sizes, scale, time_limit,
                    )  # fmt: skip
                    if row is None:
                        continue
                    sys.stderr.write(
                        f"{name}, k = {size}, fold {fold}, scale {scale}: AUC {row['auc']:.4f}, "
                        f"loss {row['loss']:.4f}, {row['cpu_seconds']:.1f} s\n"
                    )
    return records.n_made


def write_tables(rows: Sequence[Row]) -> str:
    """Means over folds, and paired differences to the paper's scale, as Markdown.

    Parameters
    ----------
    rows : sequence of mappings
        Of the file.

    Returns
    -------
    str
    """
    found: dict[tuple[str, str], dict[str, dict[str, Row]]] = {}
    for row in rows:
        both = found.setdefault((row["table"], row["size"]), {scale: {} for scale in SCALES})
        both[row["scale"]][row["fold"]] = row
    means = [
        "| table | k | scale | AUC | log loss | CAL | CAL, 10 bins | items at most | scales "
        "| gap | CPU seconds per fit |",
        "|---|---:|---|" + "---:|" * 8,
    ]
    pairs = ["| table | k | AUC | log loss | CAL | CAL, 10 bins |", "|---|" + "---:|" * 5]
    for (table, size), both in found.items():
        for scale, folds in both.items():
            if folds:
                means.append(f"| {table} | {size} | {scale} | {_means(folds.values())} |")
        cells = [difference(both["free"], both["1"], metric) for metric in (*METRICS, "cal10")]
        pairs.append(f"| {table} | {size} | {' | '.join(cells)} |")
    return "\n".join([*means, "", *pairs]) + "\n"


def _means(rows: Iterable[Row]) -> str:
    rows = list(rows)
    fields = (*METRICS, "cal10", "gap", "cpu_seconds")
    mean = {field: np.mean([float(row[field]) for row in rows]) for field in fields}
    scales = [float(row["best_scale"]) for row in rows]
    sizes = "; ".join(row["chosen_size"] for row in rows)
    sizes = rows[0]["chosen_size"] if len(set(sizes.split("; "))) == 1 else sizes
    between = "1" if set(scales) == {1.0} else f"{min(scales):.3g} to {max(scales):.3g}"
    return (
        f"{mean['auc']:.4f} | {mean['loss']:.4f} | {mean['cal']:.2%} | {mean['cal10']:.2%} "
        f"| {sizes} | {between} | {mean['gap']:.1%} | {mean['cpu_seconds']:.1f}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = command("benchmarks.default_scale", __doc__, page=True)
    parser.add_argument("--tables", default=",".join(NAMES), help="names, with commas between")
    parser.add_argument("--sizes", default="5", help="most items, with commas between")
    parser.add_argument("--nested", action="store_true", help="inner folds choose from --sizes")
    parser.add_argument("--time-limit", type=float, default=5.0, help="seconds per fit")
    options = parser.parse_args(arguments)
    tables, sizes = options.tables.split(","), options.sizes.split(",")
    check_known(parser, tables, NAMES, "table")
    check_numbers(parser, "--sizes", sizes)
    numbers = [int(size) for size in sizes]
    choices = [numbers] if options.nested else [[size] for size in numbers]
    rows = measured(
        options,
        "default_scale.csv",
        FIELDS,
        lambda path: run(path, options.data_folder, tables, choices, options.time_limit),
    )
    show(write_tables(rows), options.page, "benchmarks.default_scale")
    return 0


if __name__ == "__main__":
    sys.exit(main())
