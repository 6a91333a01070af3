"""How many cut-offs help on new rows: 9, 49, or all of them, by nested cross-validation.

    python -m benchmarks.cutoffs DATA_FOLDER OUTPUT_FOLDER [--tables pima,german,...]
        [--cutoffs 9,49,all] [--time-limit 5] [--report-only] [--page docs/cutoffs.md]

DATA_FOLDER has raw tables: adult.parquet, credit_default.parquet, german.csv, pima.csv. For each
table, each number of cut-offs per column ("all": up to 1,000) and each of 5 stratified folds, a
score of at most 5 items, at most 2 of each variable, is fitted to the other rows, at scale 1 or at
the best scale, whichever has the lower mean log loss on 3 inner folds of these rows. Cut-offs are
chosen on training rows alone, and are round. One thread, a few seconds per fit: on a slower machine
searches get less far. A fold is one row of OUTPUT_FOLDER/cutoffs.csv, written when it ends; rows
that are there already are not computed again. --page writes the tables between two marks of a page.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from benchmarks.commands import check_known, check_numbers, command, measured, show
from benchmarks.datasets import TABLES, RawTable, encoder_for, load
from benchmarks.paired import METRICS, N_FOLDS, difference
from benchmarks.records import Row, append_row, read_rows
from riskslim import RiskSLIMClassifier
from riskslim.exceptions import ConstantFeatureWarning, ExtrapolationWarning
from riskslim.metrics.performance import performance

N_INNER_FOLDS = 3
MAX_SIZE, PER_VARIABLE = 5, 2
SCALES = (1.0, "free")

KEYS = ("table", "cutoffs", "fold", "time_limit")
FIELDS = (
    *KEYS, "n_train", "n_items", "scale", "auc", "loss", "cal", "train_loss", "gap", "seconds",
    "points",
)  # fmt: skip


def classifier_for(table: RawTable, cutoffs: str, time_limit: float) -> RiskSLIMClassifier:
    """The estimator whose cut-offs are compared.

    Parameters
    ----------
    table : RawTable
    cutoffs : str
        A number per column, or "all".
    time_limit : float
        Seconds per fit.

    Returns
    -------
    RiskSLIMClassifier
    """
    encoder = encoder_for(table, "all" if cutoffs == "all" else int(cutoffs))
    return RiskSLIMClassifier(
        max_size=MAX_SIZE, items=encoder, items_per_variable=PER_VARIABLE, time_limit=time_limit
    )


def measure(
    table: RawTable, X: Any, y: Any, rows: tuple[Any, Any], cutoffs: str, time_limit: float
) -> dict[str, object]:
    """Fit to the training rows of a fold, and measure on the others.

    Parameters
    ----------
    table : RawTable
    X, y
        Of :func:`load`.
    rows : (ndarray, ndarray)
        Training rows and test rows.
    cutoffs : str
    time_limit : float

    Returns
    -------
    dict
        The part of a row that is measured.
    """
    train, test = rows
    start = time.perf_counter()
    inner = StratifiedKFold(N_INNER_FOLDS, shuffle=True, random_state=0)
    search = GridSearchCV(
        classifier_for(table, cutoffs, time_limit),
        {"scale": list(SCALES)},
        scoring="neg_log_loss",
        cv=inner,
    )
    with warnings.catch_warnings():
        for usual in (ConvergenceWarning, ConstantFeatureWarning, ExtrapolationWarning):
            warnings.simplefilter("ignore", usual)
        model = search.fit(X.iloc[train], y[train]).best_estimator_
        risk = model.predict_proba(X.iloc[test])[:, 1]
        log_odds = model.decision_function(X.iloc[test])
    score, certificate = model.risk_score_, model.certificate_
    found = performance(
        y[test], risk, log_odds, None, len(score.points), certificate.optimality_gap, None
    )
    return {
        "n_train": len(train),
        "n_items": len(model.encoder_.items_),
        "scale": search.best_params_["scale"],
        **{metric: getattr(found, metric) for metric in METRICS},
        "train_loss": certificate.loss,
        "gap": certificate.optimality_gap,
        "seconds": time.perf_counter() - start,
        "points": "; ".join(f"{name}: {points}" for name, points in score.points.items()),
    }


def run(
    path: Path, folder: Path, tables: Iterable[str], cutoffs: Iterable[str], time_limit: float
) -> int:
    """Append the folds that the file lacks.

    Parameters
    ----------
    path : Path
        CSV file.
    folder : Path
        Of the data.
    tables, cutoffs : iterable of str
    time_limit : float
        Seconds per fit.

    Returns
    -------
    int
        Number of folds that were computed.
    """
    there = {tuple(row[key] for key in KEYS) for row in read_rows(path, FIELDS)}
    cutoffs, n_made = list(cutoffs), 0
    for name in tables:
        X, y = load(folder, TABLES[name])
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y)
        for fold, rows in enumerate(folds):
            for count in cutoffs:  # of a fold one after the other: a stopped run has whole pairs
                keys = dict(zip(KEYS, (name, count, fold, time_limit), strict=True))
                if tuple(map(str, keys.values())) in there:
                    continue
                row = {**keys, **measure(TABLES[name], X, y, rows, count, time_limit)}
                append_row(path, FIELDS, row)
                sys.stderr.write(
                    f"{name}, fold {fold}, {count}: AUC {row['auc']:.4f}, loss {row['loss']:.4f}, "
                    f"{row['seconds']:.0f} s\n"
                )
                n_made += 1
    return n_made


def _folds(rows: Iterable[Row]) -> dict[tuple[str, str], dict[str, Row]]:
    """Rows by table and cut-offs, and by fold."""
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        found.setdefault((row["table"], row["cutoffs"]), {})[row["fold"]] = row
    return found


def write_tables(rows: Sequence[Row]) -> str:
    """Means over folds, and paired differences to the fewest cut-offs, as Markdown.

    Parameters
    ----------
    rows : sequence of mappings
        Of the file.

    Returns
    -------
    str
    """
    every = _folds(rows)
    means = [
        "| table | cut-offs per column | items | AUC | log loss | CAL | training loss | gap | "
        "seconds per fold |",
        "|---|" + "---:|" * 8,
    ]
    for (table, count), folds in every.items():
        mean = {
            field: np.mean([float(row[field]) for row in folds.values()])
            for field in ("n_items", *METRICS, "train_loss", "gap", "seconds")
        }
        means.append(
            f"| {table} | {count} | {mean['n_items']:.0f} | {mean['auc']:.4f} "
            f"| {mean['loss']:.4f} | {mean['cal']:.2%} | {mean['train_loss']:.4f} "
            f"| {mean['gap']:.1%} | {mean['seconds']:.0f} |"
        )
    pairs = [
        "| table | cut-offs | AUC | log loss | CAL |",
        "|---|---|" + "---:|" * 3,
    ]
    for table in dict.fromkeys(table for table, _ in every):
        counts = [count for name, count in every if name == table]
        for k, more in enumerate(counts):
            for fewer in counts[:k]:
                cells = [
                    difference(every[table, more], every[table, fewer], metric)
                    for metric in METRICS
                ]
                pairs.append(f"| {table} | {more} less {fewer} | {' | '.join(cells)} |")
    return "\n".join([*means, "", *pairs]) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = command("benchmarks.cutoffs", __doc__, page=True)
    parser.add_argument("--tables", default=",".join(TABLES), help="names, with commas between")
    parser.add_argument("--cutoffs", default="9,49,all", help="numbers per column, or all")
    parser.add_argument("--time-limit", type=float, default=5.0, help="seconds per fit")
    options = parser.parse_args(arguments)
    tables, cutoffs = options.tables.split(","), options.cutoffs.split(",")
    check_known(parser, tables, TABLES, "table")
    check_numbers(parser, "--cutoffs", cutoffs, ["all"])
    rows = measured(
        options,
        "cutoffs.csv",
        FIELDS,
        lambda path: run(path, options.data_folder, tables, cutoffs, options.time_limit),
    )
    show(write_tables(rows), options.page, "benchmarks.cutoffs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
