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

import argparse
import math
import sys
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from benchmarks.records import Row, append_row, read_rows
from riskslim import ItemEncoder, RiskSLIMClassifier
from riskslim.exceptions import ConstantFeatureWarning, ExtrapolationWarning
from riskslim.metrics.performance import performance

N_FOLDS, N_INNER_FOLDS = 5, 3
MAX_SIZE, PER_VARIABLE = 5, 2
SCALES = (1.0, "free")
# Student's t for 95%, with one degree of freedom less than there are folds.
T_VALUE = 2.776
BEGIN, END = "<!-- benchmarks.cutoffs: begin -->", "<!-- benchmarks.cutoffs: end -->"

KEYS = ("table", "cutoffs", "fold", "time_limit")
METRICS = ("auc", "loss", "cal")
FIELDS = (
    *KEYS, "n_train", "n_items", "scale", "auc", "loss", "cal", "train_loss", "gap", "seconds",
    "points",
)  # fmt: skip


class RawTable(NamedTuple):
    """A raw table: its file, its outcome, codes that are levels, zeros that are no values."""

    file: str
    outcome: str
    categorical: tuple[str, ...] = ()
    zero_is_missing: tuple[str, ...] = ()


TABLES = {
    "adult": RawTable("adult.parquet", "over_50k"),
    "credit_default": RawTable(
        "credit_default.parquet", "default", ("sex", "education", "marriage")
    ),
    "german": RawTable("german.csv", "bad"),
    "pima": RawTable(
        "pima.csv",
        "diabetes",
        zero_is_missing=("glucose", "blood_pressure", "skin", "insulin", "bmi"),
    ),
}


def load(folder: Path, table: RawTable) -> tuple[Any, Any]:
    """Read raw columns and outcome.

    Parameters
    ----------
    folder : Path
    table : RawTable

    Returns
    -------
    X : pandas.DataFrame
    y : ndarray of bool
    """
    import pandas as pd

    path = folder / table.file
    X = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    y = X.pop(table.outcome).to_numpy() == 1
    for name in table.zero_is_missing:
        X[name] = X[name].astype(float).where(X[name] != 0, np.nan)
    return X, y


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
    encoder = ItemEncoder(
        n_thresholds="all" if cutoffs == "all" else int(cutoffs),
        round_thresholds=True,
        missing="indicator",
        handle_unknown="ignore",
        categorical=table.categorical,
    )
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


def interval(differences: Sequence[float]) -> tuple[float, float]:
    """Mean of paired differences over folds, and half the width of its 95% interval.

    Parameters
    ----------
    differences : sequence of float
        One per fold.

    Returns
    -------
    (float, float)
        Folds share most of their training rows, so that the variance of the mean is taken to be
        (1 / k + n_test / n_train) times that of a fold (Nadeau and Bengio, 2003). NaN for half the
        width unless all folds are there.
    """
    values = np.asarray(differences, dtype=np.float64)
    if len(values) != N_FOLDS:
        return float(values.mean()) if len(values) else math.nan, math.nan
    factor = 1 / N_FOLDS + 1 / (N_FOLDS - 1)
    return float(values.mean()), float(T_VALUE * math.sqrt(factor * values.var(ddof=1)))


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
                    _difference(every[table, more], every[table, fewer], metric)
                    for metric in METRICS
                ]
                pairs.append(f"| {table} | {more} less {fewer} | {' | '.join(cells)} |")
    return "\n".join([*means, "", *pairs]) + "\n"


def _difference(more: Mapping[str, Row], fewer: Mapping[str, Row], metric: str) -> str:
    both = [fold for fold in more if fold in fewer]
    mean, half = interval([float(more[k][metric]) - float(fewer[k][metric]) for k in both])
    form = "+.2%" if metric == "cal" else "+.4f"
    if math.isnan(half):
        return f"{mean:{form}} ({len(both)} folds)"
    return f"{mean:{form}} ({mean - half:{form}} to {mean + half:{form}})"


def write_page(page: Path, text: str) -> None:
    """Put the tables between the marks of a page.

    Parameters
    ----------
    page : Path
    text : str

    Raises
    ------
    ValueError
        It has no such marks.
    """
    before = page.read_text(encoding="utf-8")
    head, begin, rest = before.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{page} lacks the marks {BEGIN} and {END}")
    page.write_text(f"{head}{BEGIN}\n\n{text}\n{END}{tail}", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cutoffs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data_folder", type=Path)
    parser.add_argument("output_folder", type=Path)
    parser.add_argument("--tables", default=",".join(TABLES), help="names, with commas between")
    parser.add_argument("--cutoffs", default="9,49,all", help="numbers per column, or all")
    parser.add_argument("--time-limit", type=float, default=5.0, help="seconds per fit")
    parser.add_argument("--report-only", action="store_true", help="print what the file has")
    parser.add_argument("--page", type=Path, help="page to write the tables to")
    options = parser.parse_args(arguments)
    tables, cutoffs = options.tables.split(","), options.cutoffs.split(",")
    if unknown := [name for name in tables if name not in TABLES]:
        parser.error(f"there is no table {unknown[0]!r}: {', '.join(TABLES)}")
    if wrong := [one for one in cutoffs if one != "all" and not one.isdigit()]:
        parser.error(f"--cutoffs must be numbers or all, got {wrong[0]!r}")
    options.output_folder.mkdir(parents=True, exist_ok=True)
    path = options.output_folder / "cutoffs.csv"
    if not options.report_only:
        run(path, options.data_folder, tables, cutoffs, options.time_limit)
    text = write_tables(read_rows(path, FIELDS))
    sys.stdout.write(text)
    if options.page is not None:
        write_page(options.page, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
