"""Rules that must not miss a case: what becomes of both shares on new rows.

    python -m benchmarks.rules DATA_FOLDER OUTPUT_FOLDER [--tables raw/german,raw/pima]
        [--sizes 5] [--sensitivity 0.95] [--methods rule,loss,logistic,tree] [--time-limit 60]
        [--report-only] [--page docs/rules_that_must_not_miss.md]

DATA_FOLDER is that of benchmarks.default_scale. On the training rows of each of 5 stratified folds,
with 3 cut-offs of each raw column:

- rule: the best rule, RiskSLIMClassifier(sensitivity=...)
- aimed: the same, aimed as high as rule_margin says by 5 inner folds
- loss: the score with the least loss
- logistic: logistic regression on all items
- tree: a decision tree on all items, pruned by the cost complexity that 5 inner folds choose by AUC

All but the first two get the threshold with the most specificity of those that reach the
sensitivity on the training rows. One thread. A fit is one row of OUTPUT_FOLDER/rules.csv, written
when it ends; rows that are there already are not computed again. Shares are those of the test rows
of all folds together, with Wilson's 95% intervals; differences of specificity to that of the rule
are paired by fold.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from benchmarks.commands import check_known, check_numbers, command, measured, show
from benchmarks.datasets import TABLES, Dataset, encoder_for, open_dataset
from benchmarks.paired import differences, interval
from benchmarks.records import Records, Row
from riskslim import RiskSLIMClassifier, rule_margin
from riskslim.exceptions import ConstantFeatureWarning, ExtrapolationWarning
from riskslim.metrics import operating_points
from riskslim.operating_point import Shares
from riskslim.score.operating_point import share_intervals

N_THRESHOLDS = 3
N_INNER_FOLDS = 5
# Of the cost complexities at which a tree loses a branch, so many are tried.
N_COMPLEXITIES = 25
METHODS = ("rule", "loss", "logistic", "tree")
KNOWN = (*METHODS, "aimed")
NAMES_OF_METHODS = {
    "rule": "best rule",
    "aimed": "best rule, aimed by inner folds",
    "loss": "score with the least loss",
    "logistic": "logistic regression, all items",
    "tree": "decision tree, pruned",
}
COUNTS = ("true_positives", "positives", "true_negatives", "negatives")
KEYS = ("table", "size", "sensitivity", "method", "fold", "time_limit")
FIELDS = (
    *KEYS, *(f"train_{name}" for name in COUNTS), *COUNTS, "specificity", "aim", "gap",
    "model_size", "cpu_seconds", "rule",
)  # fmt: skip

# Scores of any rows, and what is said of the model.
Scored = tuple[Callable[[Any], Any], float | None, dict[str, object]]


def measure(
    dataset: Dataset,
    fold: int,
    method: str,
    size: int,
    sensitivity: float,
    time_limit: float,
) -> dict[str, object]:
    """Fit to the training rows of a fold, choose the threshold there, and measure on the others.

    Parameters
    ----------
    dataset : Dataset
    fold : int
    method : str
    size : int
        Most items of a score.
    sensitivity : float
    time_limit : float
        Seconds of a search.

    Returns
    -------
    dict
        The part of a row that is measured.
    """
    train, test = dataset.folds()[fold]
    X, y = dataset.X.iloc[train], dataset.y[train]
    began = time.process_time()
    with warnings.catch_warnings():
        for usual in (ConvergenceWarning, ConstantFeatureWarning, ExtrapolationWarning):
            warnings.simplefilter("ignore", usual)
        scores, threshold, said = _FITTED[method](dataset, X, y, size, sensitivity, time_limit)
        seconds = time.process_time() - began
        if threshold is None:
            points = operating_points(y, scores(X))
            threshold = points.at(sensitivity=sensitivity).threshold
        found = {
            "train_": _shares(scores(X) >= threshold, y),
            "": _shares(scores(dataset.X.iloc[test]) >= threshold, dataset.y[test]),
        }
    counts = {
        f"{start}{name}": getattr(shares, name)
        for start, shares in found.items()
        for name in COUNTS
    }
    other = found[""].specificity
    return {**counts, "specificity": other, "cpu_seconds": seconds, **said}


def _shares(called: Any, y: Any) -> Shares:
    return Shares(int((called & y).sum()), int(y.sum()), int((~called & ~y).sum()), int((~y).sum()))


def _classifier(dataset: Dataset, size: int, time_limit: float, **asked: Any) -> RiskSLIMClassifier:
    return RiskSLIMClassifier(items=dataset.encoder, max_size=size, time_limit=time_limit, **asked)


def _scored(classifier: RiskSLIMClassifier, aim: float | None) -> Scored:
    """Scores of a fitted classifier, and its threshold if it has one."""
    score, certificate = classifier.risk_score_, classifier.certificate_
    point, rule = score.operating_point, certificate.rule
    said: dict[str, object] = {
        "aim": "" if aim is None else aim,
        "gap": certificate.optimality_gap if rule is None else rule.gap,
        "model_size": len(score.points),
        "rule": "; ".join(f"{name}: {points}" for name, points in score.points.items()),
    }
    return classifier.score_samples, None if point is None else point.threshold, said


def _rule(
    dataset: Dataset, X: Any, y: Any, size: int, sensitivity: float, time_limit: float
) -> Scored:
    fitted = _classifier(dataset, size, time_limit, sensitivity=sensitivity).fit(X, y)
    return _scored(fitted, sensitivity)


def _aimed(
    dataset: Dataset, X: Any, y: Any, size: int, sensitivity: float, time_limit: float
) -> Scored:
    classifier = _classifier(dataset, size, time_limit, sensitivity=sensitivity)
    aim = rule_margin(classifier, X, y, cv=N_INNER_FOLDS).aim or 1.0
    return _scored(clone(classifier).set_params(sensitivity=aim).fit(X, y), aim)


def _loss(
    dataset: Dataset, X: Any, y: Any, size: int, sensitivity: float, time_limit: float
) -> Scored:
    return _scored(_classifier(dataset, size, time_limit).fit(X, y), None)


def _logistic(
    dataset: Dataset, X: Any, y: Any, size: int, sensitivity: float, time_limit: float
) -> Scored:
    encoder = clone(dataset.encoder).fit(X, y)
    model = LogisticRegression(max_iter=10_000).fit(encoder.transform(X), y)
    said: dict[str, object] = {"model_size": int(np.count_nonzero(model.coef_))}
    return lambda rows: model.decision_function(encoder.transform(rows)), None, said


def _tree(
    dataset: Dataset, X: Any, y: Any, size: int, sensitivity: float, time_limit: float
) -> Scored:
    encoder = clone(dataset.encoder).fit(X, y)
    items = encoder.transform(X)
    tree = DecisionTreeClassifier(random_state=0)
    path = np.unique(tree.cost_complexity_pruning_path(items, y).ccp_alphas.clip(min=0))
    places = np.linspace(0, len(path) - 1, min(N_COMPLEXITIES, len(path))).round().astype(int)
    search = GridSearchCV(tree, {"ccp_alpha": path[places]}, scoring="roc_auc", cv=N_INNER_FOLDS)
    model = search.fit(items, y).best_estimator_
    said: dict[str, object] = {"model_size": int(model.get_n_leaves() - 1)}
    return lambda rows: model.predict_proba(encoder.transform(rows))[:, 1], None, said


_FITTED = {"rule": _rule, "aimed": _aimed, "loss": _loss, "logistic": _logistic, "tree": _tree}


def run(
    path: Path,
    folder: Path,
    tables: Iterable[str],
    sizes: Iterable[int],
    sensitivity: float,
    methods: Sequence[str],
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
    sizes : iterable of int
    sensitivity : float
    methods : sequence of str
    time_limit : float
        Seconds per search.

    Returns
    -------
    int
        Number of fits that were made.
    """
    records, sizes = Records(path, FIELDS, KEYS), list(sizes)
    for name in tables:
        raw = TABLES[name.removeprefix("raw/")]
        dataset = open_dataset(folder, name)._replace(encoder=encoder_for(raw, N_THRESHOLDS))
        for size in sizes:
            for fold in range(len(dataset.folds())):
                for method in methods:  # in turn: a stopped run has whole pairs
                    found = records.add(
                        (name, size, sensitivity, method, fold, time_limit),
                        measure, dataset, fold, method, size, sensitivity, time_limit,
                    )  # fmt: skip
                    if found is None:
                        continue
                    sys.stderr.write(
                        f"{name}, k = {size}, fold {fold}, {method}: found "
                        f"{found['true_positives']} of {found['positives']}, left out "
                        f"{found['true_negatives']} of {found['negatives']}, "
                        f"{found['cpu_seconds']:.1f} s\n"
                    )
    return records.n_made


def write_tables(rows: Sequence[Row]) -> str:
    """Shares on test rows by table and method, as Markdown.

    Parameters
    ----------
    rows : sequence of mappings
        Of the file.

    Returns
    -------
    str
    """
    found: dict[tuple[str, ...], dict[str, dict[str, Row]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        about = (row["table"], row["size"], row["sensitivity"])
        found[about][row["method"]][row["fold"]] = row
    lines = [
        "| table | k | wanted | method | sensitivity, training | specificity, training "
        "| sensitivity, test | specificity, test | specificity less that of the rule "
        "| CPU seconds per fit |",
        "|---|---:|---:|---|" + "---:|" * 6,
    ]
    for (table, size, wanted), by_method in found.items():
        for method in (one for one in NAMES_OF_METHODS if one in by_method):
            folds = by_method[method]
            lines.append(
                f"| {table} | {size} | {float(wanted):.0%} | {NAMES_OF_METHODS[method]} "
                f"| {_cells(folds, by_method.get('rule', {}))} |"
            )
    return "\n".join(lines) + "\n"


def _cells(folds: Mapping[str, Row], rule: Mapping[str, Row]) -> str:
    rows = list(folds.values())
    train, test = (
        Shares(*(sum(float(row[f"{start}{name}"]) for row in rows) for name in COUNTS))
        for start in ("train_", "")
    )
    intervals = [
        f"{one.value:.1%} ({one.lower:.1%} to {one.upper:.1%})"
        for one in share_intervals(test).values()
    ]
    seconds = float(np.mean([float(row["cpu_seconds"]) for row in rows]))
    change = ""
    if folds is not rule and rule:
        mean, half = interval(differences(folds, rule, "specificity"))
        change = f"{mean:+.1%} ({mean - half:+.1%} to {mean + half:+.1%})"
    return (
        f"{train.sensitivity:.1%} | {train.specificity:.1%} | {' | '.join(intervals)} | {change} "
        f"| {seconds:.1f}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = command("benchmarks.rules", __doc__, page=True)
    known = [f"raw/{name}" for name in TABLES]
    parser.add_argument(
        "--tables", default="raw/german,raw/pima", help="names, with commas between"
    )
    parser.add_argument("--sizes", default="5", help="most items, with commas between")
    parser.add_argument("--sensitivity", type=float, default=0.95, help="share that is wanted")
    parser.add_argument("--methods", default=",".join(METHODS), help="with commas between")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds per search")
    options = parser.parse_args(arguments)
    tables, sizes = options.tables.split(","), options.sizes.split(",")
    methods = options.methods.split(",")
    check_known(parser, tables, known, "table")
    check_known(parser, methods, KNOWN, "method")
    check_numbers(parser, "--sizes", sizes)
    if not 0 < options.sensitivity <= 1:
        parser.error(f"--sensitivity must be a share, got {options.sensitivity:g}")
    rows = measured(
        options, "rules.csv", FIELDS,
        lambda path: run(
            path, options.data_folder, tables, list(map(int, sizes)), options.sensitivity, methods,
            options.time_limit,
        ),
    )  # fmt: skip
    show(write_tables(rows), options.page, "benchmarks.rules")
    return 0


if __name__ == "__main__":
    sys.exit(main())
