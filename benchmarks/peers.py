"""Scores of other packages and ours on the same folds: log loss, AUC and CAL on test rows.

    python -m benchmarks.peers DATA_FOLDER OUTPUT_FOLDER [--tables raw/pima,mammo,...]
        [--sizes 5,10] [--peers riskslim,rounded,...] [--time-limit 5]
        [--folds 5] [--fasterrisk PYTHON] [--optbinning PYTHON] [--report-only]
        [--page docs/peers.md]

riskslim     RiskSLIMClassifier, all at its defaults but size and time limit
riskslim_0   the same without a prior
riskslim_cv  RiskSLIMClassifierCV: a prior as strong as three folds of the training rows say
rounded      scikit-learn's logistic regression with the l1 penalty at which so many items are left,
             fitted to these without penalty, and rounded so that the largest coefficient is 5
fasterrisk   the best score of FasterRisk's pool, points from -5 to 5
fasterrisk_cv  the same with the ridge penalty of its search that three folds choose
optbinning   a scorecard of all variables of a raw table, whose bins are as many as it likes

FasterRisk and optbinning run in environments of their own, with the interpreters that --fasterrisk
and --optbinning name; a peer without one is left out. Items are made of raw columns on the training
rows (9 cut-offs), and all but optbinning get the same. A fit is one row of OUTPUT_FOLDER/peers.csv;
rows that are there already are not computed again. --folds 3 leaves out the last two of the five
folds, which a later run can add. --page writes the tables to a page.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from benchmarks.commands import check_known, check_numbers, command, measured, show
from benchmarks.datasets import NAMES, Dataset, open_dataset
from benchmarks.paired import METRICS, N_FOLDS, difference, is_better
from benchmarks.records import Row, append_row, read_rows
from riskslim import RiskSLIMClassifier, RiskSLIMClassifierCV
from riskslim.exceptions import ConstantFeatureWarning, ExtrapolationWarning
from riskslim.metrics import auc, calibration_error, logistic_loss

KEYS = ("peer", "table", "size", "fold", "time_limit")
FIELDS = (*KEYS, *METRICS, "n_items", "cpu_seconds", "points")
# Scorecards have no size that one could ask for.
ANY_SIZE = "any"
MAX_POINTS = 5
N_INNER_FOLDS = 3
# Of columns of norm 1, whose squares are divided by some fifth of the rows.
PENALTIES = (1e-8, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1)


class Rows(NamedTuple):
    """Rows of a fold: items and raw columns of both parts, and their labels."""

    names: list[str]
    train: NDArray[np.float64]
    test: NDArray[np.float64]
    raw: tuple[Any, Any]
    y_train: NDArray[np.bool_]
    y_test: NDArray[np.bool_]


class Found(NamedTuple):
    """Predictions of a peer on the test rows, and its score."""

    log_odds: NDArray[np.float64]
    n_items: int
    cpu_seconds: float
    points: str


def rows_of(dataset: Dataset, fold: int) -> Rows:
    """Make the items of a fold on its training rows.

    Parameters
    ----------
    dataset : Dataset
    fold : int

    Returns
    -------
    Rows
    """
    train, test = dataset.folds()[fold]
    raw = dataset.X.iloc[train], dataset.X.iloc[test]
    tables = raw
    if dataset.encoder is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExtrapolationWarning)
            tables = dataset.encoder.fit_transform(raw[0]), dataset.encoder.transform(raw[1])
    values = [np.asarray(table, dtype=np.float64) for table in tables]
    names = list(map(str, tables[0].columns))
    return Rows(names, values[0], values[1], raw, dataset.y[train], dataset.y[test])


def riskslim(rows: Rows, size: int, time_limit: float, python: str) -> Found:
    """Fit this package's classifier."""
    return _of_classifier(RiskSLIMClassifier(), rows, size, time_limit)


def riskslim_0(rows: Rows, size: int, time_limit: float, python: str) -> Found:
    """Fit this package's classifier without a prior."""
    return _of_classifier(RiskSLIMClassifier(shrinkage=0), rows, size, time_limit)


def riskslim_cv(rows: Rows, size: int, time_limit: float, python: str) -> Found:
    """Fit the classifier that chooses how strong its prior is."""
    return _of_classifier(RiskSLIMClassifierCV(cv=N_INNER_FOLDS), rows, size, time_limit)


def _of_classifier(model: RiskSLIMClassifier, rows: Rows, size: int, time_limit: float) -> Found:
    import pandas as pd

    model.set_params(max_size=size, max_coef=MAX_POINTS, time_limit=time_limit)
    began = time.process_time()
    with warnings.catch_warnings():
        for usual in (ConvergenceWarning, ConstantFeatureWarning):
            warnings.simplefilter("ignore", usual)
        model.fit(pd.DataFrame(rows.train, columns=rows.names), rows.y_train)
    seconds = time.process_time() - began
    score = model.risk_score_
    log_odds = (rows.test @ model.points_[0] + score.intercept) / score.scale
    return _found(rows, log_odds, model.points_[0], seconds)


def rounded(rows: Rows, size: int, time_limit: float, python: str) -> Found:
    """Fit logistic regression to as many items as the size says, and round it."""
    began = time.process_time()
    used = _items_by_penalty(rows, size)
    if not used.size:
        share = rows.y_train.mean()
        log_odds = np.full(len(rows.y_test), np.log(share / (1 - share)))
        return _found(rows, log_odds, np.zeros(len(rows.names)), time.process_time() - began)
    plain = LogisticRegression(C=1e6, max_iter=2000).fit(rows.train[:, used], rows.y_train)
    scale = MAX_POINTS / np.abs(plain.coef_).max()
    points = np.zeros(len(rows.names))
    points[used] = np.rint(plain.coef_[0] * scale)
    intercept = round(float(plain.intercept_[0]) * scale)
    seconds = time.process_time() - began
    return _found(rows, (rows.test @ points + intercept) / scale, points, seconds)


def _items_by_penalty(rows: Rows, size: int) -> NDArray[np.intp]:
    """Items that are left at the smallest l1 penalty that leaves no more than the size."""
    spread = rows.train.std(axis=0)
    scaled = rows.train / np.where(spread > 0, spread, 1.0)
    low, high = 1e-5, 10.0
    best = np.array([], np.intp)
    for _ in range(14):
        middle = float(np.sqrt(low * high))
        # The intercept of liblinear is penalised: its column is large, and the penalty on it small.
        model = LogisticRegression(
            C=middle, l1_ratio=1, solver="liblinear", intercept_scaling=100, max_iter=200
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            used = np.flatnonzero(model.fit(scaled, rows.y_train).coef_[0])
        if len(used) <= size:
            low, best = middle, max(best, used, key=len)
        else:
            high = middle
    return best


def fasterrisk(rows: Rows, size: int, time_limit: float, python: str) -> Found:
    """Run FasterRisk in its environment, and take the best score of its pool."""
    return _of_fasterrisk(rows, size, python)


def fasterrisk_cv(rows: Rows, size: int, time_limit: float, python: str) -> Found:
    """Run FasterRisk with the penalty that folds choose."""
    return _of_fasterrisk(rows, size, python, ",".join(map(str, PENALTIES)))


def _of_fasterrisk(rows: Rows, size: int, python: str, *penalties: str) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "items.npz"
        np.savez(path, X=rows.train, y=rows.y_train)
        result = _answer(python, "fasterrisk_worker.py", str(path), str(size), *penalties)
    score = result["scores"][0]
    points = np.array(score["points"])
    log_odds = (rows.test @ points + score["intercept"]) / score["multiplier"]
    return _found(rows, log_odds, points, result["cpu_seconds"])


def optbinning(rows: Rows, size: int, time_limit: float, python: str) -> Found:
    """Run optbinning in its environment, on raw columns."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tables.npz"
        train, test = (table.to_numpy(dtype=object) for table in rows.raw)
        np.savez(path, names=list(rows.raw[0].columns), train=train, test=test, y=rows.y_train)
        result = _answer(python, "optbinning_worker.py", str(path))
    return Found(np.array(result["log_odds"]), result["n_items"], result["cpu_seconds"], "")


def _answer(python: str, worker: str, *arguments: str) -> Any:
    command = [python, str(Path(__file__).parent / worker), *arguments]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"{worker} failed:\n{run.stderr[-2000:]}")
    return json.loads(run.stdout.splitlines()[-1])


def _found(
    rows: Rows, log_odds: NDArray[np.float64], points: NDArray[Any], seconds: float
) -> Found:
    used = np.flatnonzero(points)
    text = "; ".join(f"{rows.names[j]}: {points[j]:g}" for j in used.tolist())
    return Found(log_odds, len(used), seconds, text)


PEERS: dict[str, Callable[[Rows, int, float, str], Found]] = {
    "riskslim": riskslim,
    "riskslim_0": riskslim_0,
    "riskslim_cv": riskslim_cv,
    "rounded": rounded,
    "fasterrisk": fasterrisk,
    "fasterrisk_cv": fasterrisk_cv,
    "optbinning": optbinning,
}


class Plan(NamedTuple):
    """The fits that are wanted, and interpreters of peers that need one."""

    peers: list[str]
    tables: list[str]
    sizes: list[int]
    n_folds: int
    time_limit: float
    interpreters: Mapping[str, str]


def run(path: Path, folder: Path, plan: Plan) -> int:
    """Append the fits that the file lacks.

    Parameters
    ----------
    path : Path
        CSV file.
    folder : Path
        Of the data.
    plan : Plan

    Returns
    -------
    int
        Number of fits that were made.
    """
    there = {tuple(row[key] for key in KEYS) for row in read_rows(path, FIELDS)}
    n_made = 0
    for name in plan.tables:
        dataset = open_dataset(folder, name)
        for fold in range(plan.n_folds):
            rows = None
            for peer, size in _wanted(plan, name):
                keys = dict(zip(KEYS, (peer, name, size, fold, plan.time_limit), strict=True))
                if tuple(map(str, keys.values())) in there:
                    continue
                rows = rows or rows_of(dataset, fold)
                fit, python = PEERS[peer], plan.interpreters.get(peer, "")
                found = fit(rows, 0 if size == ANY_SIZE else int(size), plan.time_limit, python)
                append_row(path, FIELDS, {**keys, **_measured(rows, found)})
                sys.stderr.write(
                    f"{name}, fold {fold}, {peer}, {size}: {found.cpu_seconds:.1f} s\n"
                )
                n_made += 1
    return n_made


def _wanted(plan: Plan, table: str) -> list[tuple[str, int | str]]:
    """Peers and sizes on a table: scorecards are made of raw columns alone, once."""
    wanted: list[tuple[str, int | str]] = []
    for peer in plan.peers:
        if peer != "optbinning":
            wanted += [(peer, size) for size in plan.sizes]
        elif table.startswith("raw/"):
            wanted.append((peer, ANY_SIZE))
    return wanted


def _measured(rows: Rows, found: Found) -> dict[str, object]:
    risk = 1 / (1 + np.exp(-np.clip(found.log_odds, -500, 500)))
    return {
        "auc": auc(rows.y_test, found.log_odds),
        "loss": logistic_loss(rows.y_test, found.log_odds),
        "cal": calibration_error(rows.y_test, risk, bins=10),
        "n_items": found.n_items,
        "cpu_seconds": found.cpu_seconds,
        "points": found.points,
    }


def write_tables(rows: Sequence[Row]) -> str:
    """Means over folds, and paired differences of ours to each peer, as Markdown.

    Parameters
    ----------
    rows : sequence of mappings
        Of the file.

    Returns
    -------
    str
    """
    found: dict[tuple[str, str, str], dict[str, Row]] = {}
    for row in rows:
        found.setdefault((row["table"], row["size"], row["peer"]), {})[row["fold"]] = row
    means = [
        "| table | items at most | score of | items | AUC | log loss | CAL, 10 bins "
        "| CPU seconds |",
        "|---|---|---|" + "---:|" * 5,
    ]
    for (table, size, peer), folds in found.items():
        fields = ("n_items", *METRICS, "cpu_seconds")
        mean = {field: np.mean([float(row[field]) for row in folds.values()]) for field in fields}
        means.append(
            f"| {table} | {size} | {peer} | {mean['n_items']:.1f} | {mean['auc']:.4f} "
            f"| {mean['loss']:.4f} | {mean['cal']:.2%} | {mean['cpu_seconds']:.1f} |"
        )
    pairs = [
        "| table | items at most | riskslim less | AUC | log loss | CAL, 10 bins | better |",
        "|---|---|---|" + "---:|" * 3 + "---|",
    ]
    for table, size, peer in found:
        ours, theirs = found.get((table, size, "riskslim")), found[table, size, peer]
        if peer == "riskslim" or ours is None:
            continue
        cells = [difference(ours, theirs, metric) for metric in METRICS]
        better = "riskslim" if is_better(ours, theirs) else ""
        better = peer if is_better(theirs, ours) else better
        pairs.append(f"| {table} | {size} | {peer} | {' | '.join(cells)} | {better} |")
    return "\n".join([*means, "", *pairs]) + "\n"


def _plan(options: argparse.Namespace, parser: argparse.ArgumentParser) -> Plan:
    """What the options ask for."""
    interpreters = {
        "fasterrisk": options.fasterrisk, "fasterrisk_cv": options.fasterrisk,
        "optbinning": options.optbinning,
    }  # fmt: skip
    peers, tables = options.peers.split(","), options.tables.split(",")
    sizes = options.sizes.split(",")
    check_known(parser, peers, PEERS, "peer")
    check_known(parser, tables, NAMES, "table")
    check_numbers(parser, "--sizes", sizes)
    left_out = [peer for peer in peers if interpreters.get(peer, "python") is None]
    if left_out:
        sys.stderr.write(f"without {', '.join(left_out)}: no interpreter is named\n")
    peers = [peer for peer in peers if peer not in left_out]
    given = {peer: python for peer, python in interpreters.items() if python is not None}
    return Plan(peers, tables, list(map(int, sizes)), options.folds, options.time_limit, given)


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = command("benchmarks.peers", __doc__, page=True)
    parser.add_argument("--tables", default=",".join(NAMES), help="names, with commas between")
    parser.add_argument("--sizes", default="5,10", help="most items, with commas between")
    parser.add_argument("--peers", default=",".join(PEERS), help="names, with commas between")
    parser.add_argument(
        "--folds", type=int, default=N_FOLDS, choices=range(1, N_FOLDS + 1), help="so many of five"
    )
    parser.add_argument("--time-limit", type=float, default=5.0, help="seconds per fit of ours")
    parser.add_argument("--fasterrisk", metavar="PYTHON", help="interpreter that has FasterRisk")
    parser.add_argument("--optbinning", metavar="PYTHON", help="interpreter that has optbinning")
    options = parser.parse_args(arguments)
    plan = _plan(options, parser)
    rows = measured(options, "peers.csv", FIELDS, lambda path: run(path, options.data_folder, plan))
    show(write_tables(rows), options.page, "benchmarks.peers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
