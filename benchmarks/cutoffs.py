"""Which cut-offs help on new rows: 9, 49, all of them, or those that the outcome chooses.

    python -m benchmarks.cutoffs DATA_FOLDER OUTPUT_FOLDER [--tables pima,german,...]
        [--cutoffs 9,49,all] [--sizes 5] [--scales 1,free] [--time-limit 5] [--report-only]
        [--page docs/cutoffs.md]

DATA_FOLDER has raw tables: adult.parquet, credit_default.parquet, german.csv, pima.csv. For each
table, each kind of cut-offs (a number per column at quantiles; "all": up to 1,000; "supervised": up
to 9 splits by the outcome) and each of 5 stratified folds, a score of at most 5 items, at most 2 of
each variable, is fitted to the other rows, at scale 1 or at the best scale, whichever has the lower
mean log loss on 3 inner folds of these rows; with one of --scales nothing is left to choose, and
there are no inner folds. Cut-offs are chosen on training rows alone, and are round. One thread, a
few seconds per fit: on a slower machine searches get less far. A fold is one row of
OUTPUT_FOLDER/cutoffs.csv, written when it ends; rows that are there already are not computed again.
--page writes the tables between two marks of a page.
"""

from __future__ import annotations

import itertools
import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks.commands import check_known, check_numbers, command, measured, show
from benchmarks.datasets import TABLES, RawTable, encoder_for, load
from benchmarks.nested import fitted
from benchmarks.paired import METRICS, N_FOLDS, difference
from benchmarks.records import Records, Row
from riskslim import RiskSLIMClassifier
from riskslim.exceptions import ExtrapolationWarning
from riskslim.metrics.performance import performance

PER_VARIABLE = 2
SCALES = ("1", "free")
ALL, SUPERVISED = "all", "supervised"

KEYS = ("table", "cutoffs", "size", "scales", "fold", "time_limit")
FIELDS = (
    *KEYS, "n_train", "n_items", "scale", "auc", "loss", "cal", "train_loss", "gap", "seconds",
    "points",
)  # fmt: skip


class Kind(NamedTuple):
    """The scores that are fitted: cut-offs of each column, most items, scales to choose from."""

    cutoffs: str
    size: int
    scales: tuple[str, ...]


def classifier_for(table: RawTable, kind: Kind, time_limit: float) -> RiskSLIMClassifier:
    """The estimator whose cut-offs are compared.

    Parameters
    ----------
    table : RawTable
    kind : Kind
    time_limit : float
        Seconds per fit.

    Returns
    -------
    RiskSLIMClassifier
    """
    if kind.cutoffs == SUPERVISED:
        encoder = encoder_for(table).set_params(thresholds=SUPERVISED)
    else:
        encoder = encoder_for(table, ALL if kind.cutoffs == ALL else int(kind.cutoffs))
    return RiskSLIMClassifier(
        max_size=kind.size,
        items=encoder,
        items_per_variable=PER_VARIABLE,
        l2_penalty=0,  # gaps and losses are those of the problem without a prior
        time_limit=time_limit,
    )


def measure(
    table: RawTable, X: Any, y: Any, rows: tuple[Any, Any], kind: Kind, time_limit: float
) -> dict[str, object]:
    """Fit to the training rows of a fold, and measure on the others.

    Parameters
    ----------
    table : RawTable
    X, y
        Of :func:`load`.
    rows : (ndarray, ndarray)
        Training rows and test rows.
    kind : Kind
    time_limit : float

    Returns
    -------
    dict
        The part of a row that is measured.
    """
    train, test = rows
    start = time.perf_counter()
    choices = {"scale": [name if name == "free" else float(name) for name in kind.scales]}
    classifier = classifier_for(table, kind, time_limit)
    model = fitted(classifier, choices, X.iloc[train], y[train])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        risk = model.predict_proba(X.iloc[test])[:, 1]
        log_odds = model.decision_function(X.iloc[test])
    score, certificate = model.risk_score_, model.certificate_
    found = performance(
        y[test], risk, log_odds, None, len(score.points), certificate.optimality_gap, None
    )
    return {
        "n_train": len(train),
        "n_items": len(model.encoder_.items_),
        "scale": model.scale,
        **{metric: getattr(found, metric) for metric in METRICS},
        "train_loss": certificate.loss,
        "gap": certificate.optimality_gap,
        "seconds": time.perf_counter() - start,
        "points": "; ".join(f"{name}: {points}" for name, points in score.points.items()),
    }


def run(
    path: Path, folder: Path, tables: Iterable[str], kinds: Iterable[Kind], time_limit: float
) -> int:
    """Append the folds that the file lacks.

    Parameters
    ----------
    path : Path
        CSV file.
    folder : Path
        Of the data.
    tables : iterable of str
    kinds : iterable of Kind
    time_limit : float
        Seconds per fit.

    Returns
    -------
    int
        Number of folds that were computed.
    """
    records, kinds = Records(path, FIELDS, KEYS), list(kinds)
    for name in tables:
        X, y = load(folder, TABLES[name])
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y)
        for fold, rows in enumerate(folds):
            for kind in kinds:  # of a fold one after the other: a stopped run has whole pairs
                values = (name, kind.cutoffs, kind.size, _words(kind.scales), fold, time_limit)
                row = records.add(values, measure, TABLES[name], X, y, rows, kind, time_limit)
                if row is None:
                    continue
                sys.stderr.write(
                    f"{name}, fold {fold}, {kind.cutoffs}, {kind.size} items: "
                    f"AUC {row['auc']:.4f}, loss {row['loss']:.4f}, {row['seconds']:.0f} s\n"
                )
    return records.n_made


def _words(scales: Sequence[str]) -> str:
    return " or ".join(scales)


def _folds(rows: Iterable[Row]) -> dict[tuple[str, str, str], dict[str, dict[str, Row]]]:
    """Rows by table, size and scales, by cut-offs, and by fold."""
    found: dict[tuple[str, str, str], dict[str, dict[str, Row]]] = {}
    for row in rows:
        alike = found.setdefault((row["table"], row["size"], row["scales"]), {})
        alike.setdefault(row["cutoffs"], {})[row["fold"]] = row
    return found


def write_tables(rows: Sequence[Row]) -> str:
    """Means over folds, and paired differences of cut-offs, as Markdown.

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
        "| table | items at most | scale | cut-offs per column | items | AUC | log loss | CAL "
        "| training loss | gap | seconds per fold |",
        "|---|---:|---|" + "---:|" * 8,
    ]
    pairs = ["| table | items at most | scale | cut-offs | AUC | log loss | CAL |"]
    pairs.append("|---|---:|---|---|" + "---:|" * 3)
    for (table, size, scales), alike in every.items():
        for count, folds in alike.items():
            mean = {
                field: np.mean([float(row[field]) for row in folds.values()])
                for field in ("n_items", *METRICS, "train_loss", "gap", "seconds")
            }
            means.append(
                f"| {table} | {size} | {scales} | {count} | {mean['n_items']:.0f} "
                f"| {mean['auc']:.4f} | {mean['loss']:.4f} | {mean['cal']:.2%} "
                f"| {mean['train_loss']:.4f} | {mean['gap']:.1%} | {mean['seconds']:.0f} |"
            )
        for fewer, more in itertools.combinations(alike, 2):
            cells = [difference(alike[more], alike[fewer], metric) for metric in METRICS]
            pairs.append(
                f"| {table} | {size} | {scales} | {more} less {fewer} | {' | '.join(cells)} |"
            )
    return "\n".join([*means, "", *pairs]) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = command("benchmarks.cutoffs", __doc__, page=True)
    parser.add_argument("--tables", default=",".join(TABLES), help="names, with commas between")
    parser.add_argument(
        "--cutoffs", default="9,49,all", help="numbers per column, all, or supervised"
    )
    parser.add_argument("--sizes", default="5", help="most items, with commas between")
    parser.add_argument("--scales", default=",".join(SCALES), help="that inner folds choose from")
    parser.add_argument("--time-limit", type=float, default=5.0, help="seconds per fit")
    options = parser.parse_args(arguments)
    tables, cutoffs = options.tables.split(","), options.cutoffs.split(",")
    sizes, scales = options.sizes.split(","), tuple(options.scales.split(","))
    check_known(parser, tables, TABLES, "table")
    check_numbers(parser, "--cutoffs", cutoffs, [ALL, SUPERVISED])
    check_numbers(parser, "--sizes", sizes)
    check_known(parser, scales, SCALES, "scale")
    kinds = [Kind(one, int(size), scales) for size in sizes for one in cutoffs]
    rows = measured(
        options,
        "cutoffs.csv",
        FIELDS,
        lambda path: run(path, options.data_folder, tables, kinds, options.time_limit),
    )
    show(write_tables(rows), options.page, "benchmarks.cutoffs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
