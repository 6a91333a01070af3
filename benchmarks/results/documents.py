"""What is made of a score: sheets, scorecards, explanations, exports, reports, predictions."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.results.doors import NO_LIMIT
from benchmarks.results.folder import Record
from benchmarks.results.people import people
from riskslim import (
    ItemEncoder,
    RiskScore,
    RiskSLIMClassifier,
    at_most,
    cross_validate_risk_score,
    if_then,
    model_size_path,
    variable,
)
from riskslim.datasets import load_breast_cancer_binary
from riskslim.exports import SQL_DIALECTS

__all__ = ["fitted_patients", "write_documents"]

_LABELS = {
    "age": {"text": "Age", "unit": "years"},
    "sex": {"text": "Sex", "levels": {"f": "female", "m": "male"}},
    "smoker": "Smokes",
}


class Scored(NamedTuple):
    """A score, the rows that it was found on, and others."""

    score: RiskScore
    X: Any
    y: Any
    X_test: Any
    y_test: Any
    model: RiskSLIMClassifier | None = None


def _patients(n: int, seed: int) -> tuple[pd.DataFrame, pd.Series]:
    raw = pd.DataFrame(people(np.random.default_rng(seed), n))
    y = raw.pop("died")
    raw.loc[::13, "bmi"] = np.nan
    raw.loc[5::11, "visits"] = -9
    raw["stage"] = pd.Categorical(
        np.array(["I", "II", "III", "IV"])[raw["stage"]], categories=["I", "II", "III", "IV"],
        ordered=True,
    )  # fmt: skip
    return raw, y


def fitted_patients(**options: Any) -> Scored:
    """Fit a score to raw columns with missing values, special ones, and levels in an order.

    Parameters
    ----------
    **options
        Of RiskSLIMClassifier, in place of its defaults.

    Returns
    -------
    Scored
    """
    X, y = _patients(900, 1)
    encoder = ItemEncoder(
        n_thresholds=4, missing="indicator", round_thresholds=True,
        special_values={"visits": [-9]}, handle_unknown="ignore",
    )  # fmt: skip
    asked: dict[str, Any] = {
        "max_size": 5,
        "scale": "free",
        "constraints": [at_most(2, variable("age")), if_then("smoker", variable("marker"))],
        "monotone": "auto",
        **options,
    }
    model = RiskSLIMClassifier(items=encoder, time_limit=NO_LIMIT, **asked).fit(X, y)
    return Scored(model.risk_score_, X, y, *_patients(400, 2), model)


def _demo() -> Scored:
    data = load_breast_cancer_binary()
    X = pd.DataFrame(np.asarray(data.integer_columns), columns=list(data.feature_names))
    y = pd.Series(np.asarray(data.labels) > 0, name="benign").astype(int)
    rows = np.arange(len(y)) % 4 > 0
    model = RiskSLIMClassifier(max_size=4, scale=1, time_limit=NO_LIMIT).fit(X[rows], y[rows])
    return Scored(model.risk_score_, X[rows], y[rows], X[~rows], y[~rows], model)


def _numbers() -> Scored:
    """Features that are multiplied by points, weights, labels that are words."""
    raw = pd.DataFrame(people(np.random.default_rng(3), 500))
    y = np.where(raw["died"] == 1, "dead", "alive")
    X = raw[["visits", "marker", "smoker"]].assign(decades=raw["age"] // 10)
    model = RiskSLIMClassifier(
        max_size=3, scale=[1, 2, 4], positive_label="dead", class_weight="balanced",
        time_limit=NO_LIMIT,
    ).fit(X[:350], y[:350])  # fmt: skip
    score = model.risk_score_.with_units({"decades": "decades"})
    return Scored(score, X[:350], y[:350], X[350:], y[350:], model)


def write_documents(record: Record) -> None:
    """Write all that is made of some scores.

    Parameters
    ----------
    record : Record
    """
    made: dict[str, Callable[[], Scored]] = {
        "demo": _demo, "patients": fitted_patients, "numbers": _numbers,
    }  # fmt: skip
    for name, make in made.items():
        with record.case(f"documents/{name}-fit"):
            scored = make()
            _write_all(record, f"documents/{name}", scored)
    _write_by_hand(record)


def _write_all(record: Record, name: str, scored: Scored) -> None:
    for what in (_sheets, _values, _explanations, _exports, _json, _recalibrated):
        with record.case(f"{name}/{what.__name__.removeprefix('_')}") as case:
            what(record, case, scored)
    if not record.short or not name.endswith("numbers"):
        with record.case(f"{name}/report") as case:
            _reports(record, case, scored)


def _layouts(score: RiskScore) -> dict[str, RiskScore]:
    return {
        "as-it-is": score,
        "by-variable": score.with_layout(by="variable"),
        "non-negative": score.with_layout(points="non-negative"),
        "labelled": score.with_labels(
            {key: label for key, label in _LABELS.items() if _is_known(score, key)}
        ).with_layout(by="variable", points="non-negative"),
    }


def _is_known(score: RiskScore, name: str) -> bool:
    return name in score.variables or name in score.feature_names


def _sheets(record: Record, name: str, scored: Scored) -> None:
    for layout, score in _layouts(scored.score).items():
        observed = score.sheet(scored.X, scored.y, max_rows=12)
        for kind, text in {
            "txt": f"{score}\n\n{observed}\n",
            "md": score.to_markdown(),
            "html": score.to_html(),
            "tex": observed.to_latex(),
        }.items():
            record.write(f"{name}/{layout}.{kind}", text)
    table = scored.score.risk_table(scored.X, scored.y, extreme=0.01)
    record.write(f"{name}/risk_table.json", {"rows": table, "text": str(table)})
    record.write(f"{name}/bands.json", scored.score.bands())
    for higher_is in ("safer", "riskier"):
        for kind in ("txt", "md", "html", "tex", "csv"):
            text = _text_or_error(_scorecard, scored, higher_is, kind)
            record.write(f"{name}/scorecard-{higher_is}.{kind}", text)


def _scorecard(scored: Scored, higher_is: str, kind: str) -> str:
    card = scored.score.scorecard(scored.X, scored.y, higher_is=higher_is, pdo=25)
    forms: dict[str, Callable[[], str]] = {
        "txt": lambda: f"{card}\n", "md": card.to_markdown, "html": card.to_html,
        "tex": card.to_latex, "csv": card.to_csv,
    }  # fmt: skip
    return forms[kind]()


def _values(record: Record, name: str, scored: Scored) -> None:
    score, X = scored.score, scored.X_test
    points = score.operating_points(X, scored.y_test)
    record.write(f"{name}.json", {
        "scores": score.score_samples(X),
        "risk": score.predict_proba(X)[:, 1],
        "log_odds": score.decision_function(X),
        "labels": score.predict(X)[:50],
        "one": score.predict_proba(X.iloc[0]),
        "remarks": score.remarks(X),
        "fit_remarks": score.fit_remarks,
        "requirements": [str(one) for one in score.requirements],
        "average": score.average_points(scored.X),
        "operating_points": points.records(),
        "chosen": str(points.at(sensitivity=0.8)),
        "columns": list(score.with_items(X).columns),
    })  # fmt: skip
    record.write(f"{name}.methods.txt", f"{score.methods_text()}\n")
    record.write(f"{name}.rule.txt", _text_or_error(_rule, score, X))
    ranges = score.with_cutoff_ranges(scored.X, scored.y).cutoff_ranges
    record.write(f"{name}.cutoffs.json", ranges)


def _rule(score: RiskScore, X: pd.DataFrame) -> str:
    rule = score.boolean_rule(2)
    return f"{rule}\n{np.flatnonzero(rule.holds(score.with_items(X))).tolist()}\n"


def _explanations(record: Record, name: str, scored: Scored) -> None:
    score, X = scored.score, scored.X_test.iloc[:12]
    average = score.average_points(scored.X)
    explained = score.explain_rows(X, average=average)
    record.write(f"{name}.txt", "\n\n".join(map(str, explained)) + "\n")
    record.write(f"{name}.json", [one.to_dict() for one in explained])
    layout = score.with_layout(by="variable", points="non-negative")
    fixed = [next(iter(score.points))]
    rows = [layout.explain(X.iloc[k], threshold=1, fixed=fixed) for k in range(4)]
    record.write(f"{name}.layout.txt", "\n\n".join(map(str, rows)) + "\n")
    record.write(f"{name}.layout.json", [one.records() for one in rows])


def _exports(record: Record, name: str, scored: Scored) -> None:
    score, average = scored.score, scored.score.average_points(scored.X)
    inputs: tuple[Any, ...] = ("raw", "items") if score.variables else (None,)
    for kind in inputs:
        which = f"{name}/{kind or 'features'}"
        record.write(f"{which}.py.txt", score.to_python(inputs=kind))
        record.write(f"{which}.js", score.to_javascript(inputs=kind, function_name="f"))
        record.write(f"{which}.pmml", score.to_pmml(inputs=kind))
        for dialect in SQL_DIALECTS:
            made = _text_or_error(score.to_sql, dialect, inputs=kind)
            record.write(f"{which}.{dialect}.sql", made)
    record.write(f"{name}/reasons.py.txt", score.to_python(reasons=2, average=average))
    for dialect in SQL_DIALECTS:
        query = _text_or_error(
            score.to_sql, dialect, table=("ward", "rows"), reasons=2, score_column="total",
            risk_column="p",
        )  # fmt: skip
        record.write(f"{name}/query.{dialect}.sql", query)
    record.write(f"{name}/run.json", _run(score, scored.X_test))


def _text_or_error(make: Callable[..., str], *arguments: Any, **options: Any) -> str:
    """A text; where a target refuses names or a kind of score, what it says."""
    try:
        return make(*arguments, **options)
    except ValueError as error:
        return f"{type(error).__name__}: {error}\n"


def _run(score: RiskScore, X: pd.DataFrame) -> list[Any]:
    """What the Python that is exported predicts."""
    namespace: dict[str, Any] = {}
    exec(score.to_python(), namespace)
    records = X.astype(object).where(X.notna(), None).to_dict("records")
    return [namespace["predict_risk"](one) for one in records[:40]]


def _json(record: Record, name: str, scored: Scored) -> None:
    text = scored.score.to_json()
    record.write(f"{name}.json", text)
    again = RiskScore.from_json(text)
    record.write(f"{name}.again.json", {"same": again == scored.score, "text": again.to_json()})


def _recalibrated(record: Record, name: str, scored: Scored) -> None:
    score, X, y = scored.score, scored.X_test, scored.y_test
    made: Mapping[str, RiskScore] = {
        "rows": score.recalibrated(X, y),
        "scale": score.recalibrated(X, y, with_scale=True),
        "share": score.recalibrated(X, prevalence=0.1),
        "odds": score.recalibrated(prevalence=0.05, from_prevalence=0.3),
    }
    for kind, other in made.items():
        record.write(f"{name}/{kind}.json", other.to_json())
        record.write(f"{name}/{kind}.txt", f"{other}\n")
        record.write(f"{name}/{kind}.risk.json", other.predict_proba(X)[:, 1])


def _reports(record: Record, name: str, scored: Scored) -> None:
    score, model = scored.score, scored.model
    assert model is not None
    more: dict[str, Any] = {}
    if name.startswith("documents/demo"):
        more["problem"] = model
        more["cv"] = cross_validate_risk_score(model, scored.X, scored.y, cv=3)
        more["size_path"] = model_size_path(model, scored.X, scored.y, sizes=[1, 2])
    if name.startswith("documents/patients"):
        more |= {"groups": ["sex"], "group_threshold": 0.3}
        score = _layouts(score)["labelled"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        score.report(
            path, scored.X, scored.y, X_test=scored.X_test, y_test=scored.y_test,
            title="Record", n_resamples=100, **more,
        )  # fmt: skip
        record.write(f"{name}.html", path.read_text(encoding="utf-8"))


def _write_by_hand(record: Record) -> None:
    """Scores without a fit: names that need quotes, and files of earlier versions."""
    points = {'age >= "60"': 2, "smoker's": 1, "sodium, mmol/l >= 145": -3}
    with record.case("documents/by-hand") as name:
        score = RiskScore(-3, points, outcome_name="death & more", scale=2.5)
        record.write(f"{name}.txt", f"{score}\n{score.to_markdown()}\n{score.to_latex()}\n")
        record.write(f"{name}.html", score.to_html())
        record.write(f"{name}.json", score.to_json())
        record.write(f"{name}.js", score.to_javascript())
        record.write(f"{name}.sql", score.to_sql("postgresql", table="t"))
        record.write(f"{name}.pmml", score.to_pmml())
    with record.case("documents/first-version") as name:
        text = (
            '{"format": "riskslim.risk_score", "version": 1, "created_by": "riskslim 0.0.1",'
            ' "outcome_name": "y", "classes": [0, 1], "intercept": -2, "points": [{"feature": "a",'
            ' "points": 3, "minimum": 0, "maximum": 1, "is_integer": true, "values": [0, 1]}],'
            ' "feature_names": ["a", "b"], "certificate": null}'
        )
        score = RiskScore.from_json(text)
        record.write(f"{name}.json", score.to_json())
        record.write(f"{name}.txt", f"{score}\n")
