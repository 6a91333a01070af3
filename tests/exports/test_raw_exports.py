"""Exports that compute the items from raw columns: they predict what the score predicts."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import warnings

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from export_targets import NAMES, Pmml, identifier, run_javascript, run_python, run_sql
from riskslim import ItemEncoder, RiskScore
from riskslim.cli.app import application
from riskslim.exceptions import ExtrapolationWarning
from riskslim.exports.terms import terms_of
from riskslim.items.variables import RawVariable

pytestmark = pytest.mark.filterwarnings("ignore::riskslim.exceptions.ExtrapolationWarning")

LEVELS = ["", "a", "A", "it's", 'say "hi"', "back\\slash", "é", "日本", "line\nbreak", "</script>",
          "--", "1", "null", "{x}", "x, y", "%s"]  # fmt: skip
KINDS = ("integer", "real", "boolean", "binary", "text", "code", "flag", "real code")
CODES = ("code", "flag", "real code")
SQL_TYPES = {
    "integer": "BIGINT", "real": "DOUBLE", "boolean": "BOOLEAN", "binary": "INTEGER",
    "text": "VARCHAR", "code": "INTEGER", "flag": "BOOLEAN", "real code": "DOUBLE",
}  # fmt: skip


def column(rng, kind, n):
    if kind == "integer":
        return rng.integers(-3, 12, n).tolist()
    if kind == "real":
        return (rng.normal(0, 10.0 ** int(rng.integers(-2, 5)), 9)[rng.integers(0, 9, n)]).tolist()
    if kind in ("boolean", "flag"):
        return (rng.random(n) < 0.4).tolist()
    if kind == "binary":
        return rng.integers(0, 2, n).tolist()
    if kind == "code":
        return rng.choice([1, 2, 7, -4], n).tolist()
    if kind == "real code":
        return rng.choice([1.0, 2.5, 0.1], n).tolist()
    return rng.choice(rng.choice(LEVELS, 5, replace=False), n).tolist()


def a_model(rng):
    """A score of an encoder's items, the kinds of its columns, and records."""
    while True:
        n = 40
        kinds = {str(name): str(rng.choice(KINDS)) for name in rng.choice(NAMES, 4, replace=False)}
        frame = pd.DataFrame({name: column(rng, kind, n) for name, kind in kinds.items()})
        for name in kinds:
            if rng.random() < 0.5:
                frame[name] = frame[name].astype(object).where(rng.random(n) > 0.2, None)
        encoder = ItemEncoder(
            n_thresholds=3,
            direction=str(rng.choice([">=", "<="])),
            missing="indicator",
            min_frequency=int(rng.integers(1, 6)),
            categorical=[name for name, kind in kinds.items() if kind in CODES],
        )  # fmt: skip
        names = [item.name for item in encoder.fit(frame).items_]
        chosen = rng.choice(names, min(len(names), int(rng.integers(1, 7))), replace=False)
        points = {str(name): int(rng.choice([-5, -2, -1, 1, 2, 3])) for name in chosen}
        scale = float(rng.choice([1.0, 1.7]))
        try:
            score = RiskScore(int(rng.integers(-5, 6)), points, feature_names=names, scale=scale)
            score = score.with_variables(encoder)
        except ValueError:
            continue  # names that do not say what they are
        kinds = {name: kinds[name] for name in score.variables}
        records = frame[list(kinds)].to_dict("records")[:8]
        for record in records[:2]:
            for name, kind in kinds.items():
                if kind in ("integer", "real") and record[name] is not None:
                    record[name] = record[name] * 3  # outside of the training data
        return (
            score,
            kinds,
            [{name: plain(value) for name, value in one.items()} for one in records],
        )


def plain(value):
    return None if value is None or value != value else value


def models(seed, count):
    rng = np.random.default_rng(seed)
    return [a_model(rng) for _ in range(count)]


def check(score, records, results):
    """Compare (risk, score): both are exact."""
    expected = zip(
        score.predict_proba(records)[:, 1].tolist(), score.score_samples(records), strict=True
    )
    assert list(results) == list(expected)


def fill(database, kinds, records, *, typed):
    database.execute("DROP TABLE IF EXISTS patients")
    columns = "".join(
        f", {identifier(name)} {SQL_TYPES[kind] if typed else ''}" for name, kind in kinds.items()
    )
    database.execute(f"CREATE TABLE patients (position INTEGER{columns})")
    for k, record in enumerate(records):
        marks = ", ?" * len(kinds)
        database.execute(f"INSERT INTO patients VALUES (?{marks})", [k, *record.values()])


# ---------------------------------------------------------------------------------------------
# Hundreds of models
# ---------------------------------------------------------------------------------------------


def test_the_models_have_all_kinds_of_terms():
    found = {
        (kinds[term.column], term.kind, term.operator, term.may_lack)
        for score, kinds, _ in models(0, 150)
        for term in terms_of(score, "raw")
    }
    for lacks in (True, False):
        assert {
            ("integer", "comparison", ">=", lacks),
            ("real", "comparison", "<=", lacks),
        } <= found
        assert {(kind, "levels", "", lacks) for kind in KINDS[2:]} <= found
    assert {(kind, "missing", "", True) for kind in KINDS} <= found


def test_python_predicts_the_same():
    for score, _, records in models(1, 120):
        check(score, records, map(run_python(score), records))
        nan = [{name: math.nan if one is None else one for name, one in record.items()}
               for record in records]  # fmt: skip
        check(score, records, map(run_python(score), nan))


def test_javascript_predicts_the_same(javascript):
    for score, _, records in models(2, 120):
        check(score, records, run_javascript(javascript, score, records))


def test_javascript_runs_in_node(tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    score, _, records = models(3, 1)[0]
    tmp_path.joinpath("score.js").write_text(score.to_javascript(), encoding="ascii")
    tmp_path.joinpath("records.json").write_text(json.dumps(records), encoding="utf-8")
    program = (
        'const { predictRisk } = require("./score.js");'
        'console.log(JSON.stringify(require("./records.json").map(predictRisk)));'
    )
    run = subprocess.run(
        [node, "-e", program], cwd=tmp_path, capture_output=True, encoding="utf-8", check=True
    )
    check(score, records, [(one["risk"], one["score"]) for one in json.loads(run.stdout)])


def test_sqlite_predicts_the_same(sqlite):
    for k, (score, kinds, records) in enumerate(models(4, 120)):
        fill(sqlite, kinds, records, typed=k % 2)
        check(score, records, run_sql(sqlite, score, "sqlite"))


def test_duckdb_predicts_the_same(duck):
    for k, (score, kinds, records) in enumerate(models(5, 90)):
        fill(duck, kinds, records, typed=True)
        booleans = [name for name, kind in kinds.items() if kind == "boolean"]
        for dialect in (("duckdb", "ansi", "postgresql")[k % 3],):
            check(score, records, run_sql(duck, score, dialect, boolean_columns=booleans))


def test_pmml_predicts_the_same():
    for score, _, records in models(6, 150):
        model = Pmml(score.to_pmml())
        results = [model.predict(record) for record in records]
        check(score, records, [(result["risk"], result["score"]) for result in results])


@pytest.mark.skipif(shutil.which("java") is None, reason="the evaluator needs Java")
def test_an_evaluator_of_pmml_predicts_the_same():
    from pypmml import Model

    try:
        for score, kinds, records in models(7, 40):
            model = Model.fromString(score.to_pmml())
            results = []
            for record in records:
                for name, kind in kinds.items():
                    if kind == "boolean" and record[name] is not None:
                        record[name] = int(record[name])
                found = model.predict(record)
                results.append({name.rstrip("_"): value for name, value in found.items()})
            check(score, records, [(result["risk"], result["score"]) for result in results])
    finally:
        Model.close()


# ---------------------------------------------------------------------------------------------
# What predictions refuse
# ---------------------------------------------------------------------------------------------

VARIABLES = {
    "age": RawVariable("age", "numeric", 18, 95, n_samples=9),
    "creatinine": RawVariable("creatinine", "numeric", 0.2, 5.5, n_missing=2, n_samples=9),
    "sex": RawVariable("sex", "categorical", levels=("female", "male"), n_samples=9),
    "ward": RawVariable("ward", "categorical", levels=("A", "B", "C"), n_missing=1, n_samples=9),
    "smoker": RawVariable("smoker", "boolean", n_samples=9),
}
SCORE = RiskScore(
    -3,
    {"age >= 60": 3, "creatinine >= 1.5": 2, "sex = male": 1, "ward in {A, B}": 1, "smoker": 1},
    variables=VARIABLES,
)
RECORD = {"age": 61, "creatinine": None, "sex": "male", "ward": None, "smoker": 1}


@pytest.mark.parametrize(
    "changed",
    [{"age": None}, {"age": "old"}, {"sex": "Male"}, {"sex": None}, {"sex": 1}, {"ward": "D"},
     {"smoker": 2}, {"smoker": None}, {"smoker": "yes"}, {"creatinine": math.inf},
     {"creatinine": "1.7"}],
    ids=repr,
)  # fmt: skip
def test_exports_refuse_what_predictions_refuse(changed, sqlite, javascript):
    record = {**RECORD, **changed}
    with pytest.raises((ValueError, TypeError)):
        SCORE.predict_proba([record])
    (name,) = changed
    with pytest.raises(ValueError, match=f"'{name}'"):
        run_python(SCORE)(record)
    if changed.get("creatinine") != math.inf:
        javascript.eval(SCORE.to_javascript())
        argument = json.dumps(record)
        caught = f"try {{ predictRisk({argument}); 'none' }} catch (error) {{ error.message }}"
        assert f'"{name}"' in javascript.eval(caught)
    if name in ("sex", "ward") or not isinstance(changed[name], str):
        assert Pmml(SCORE.to_pmml()).predict(record) is None  # text is no number to begin with
    fill(sqlite, dict.fromkeys(record, "text"), [record], typed=False)
    assert run_sql(sqlite, SCORE, "sqlite") == [(None, None)]


def test_exports_say_which_column_is_not_there(javascript):
    lacking = {name: value for name, value in RECORD.items() if name != "creatinine"}
    with pytest.raises(ValueError, match="the record lacks 'creatinine'"):
        run_python(SCORE)(lacking)
    javascript.eval(SCORE.to_javascript())
    caught = f"try {{ predictRisk({json.dumps(lacking)}) }} catch (error) {{ error.message }}"
    assert javascript.eval(caught) == 'the record lacks "creatinine"'
    assert javascript.eval(f"predictRisk({json.dumps({**RECORD, 'smoker': True})}).score") == 5
    check(SCORE, [RECORD], [run_python(SCORE)({**RECORD, "smoker": np.True_})])


def test_numbers_that_are_not_finite_in_a_database(duck):
    fill(duck, {"age": "real", "creatinine": "real", "sex": "text", "ward": "text",
                "smoker": "binary"},
         [{**RECORD, "creatinine": value} for value in (math.nan, math.inf, -math.inf)],
         typed=True)  # fmt: skip
    assert [risk for risk, _ in run_sql(duck, SCORE, "duckdb")] == [None] * 3


# ---------------------------------------------------------------------------------------------
# What is written
# ---------------------------------------------------------------------------------------------


def test_items_are_inputs_where_they_are_asked_for():
    plain = RiskScore(SCORE.intercept, SCORE.points)
    for name, options in (("python", {}), ("javascript", {}), ("pmml", {}),
                          ("sql", {"dialect": "sqlite", "table": "t"})):  # fmt: skip
        export = getattr(SCORE, f"to_{name}")
        assert export(**options) == export(**options, inputs="raw")
        assert export(**options) != export(**options, inputs="items")
        assert export(**options, inputs="items") == getattr(plain, f"to_{name}")(**options)
        with pytest.raises(ValueError, match=r"score does not know: score.with_variables\(enc"):
            getattr(plain, f"to_{name}")(**options, inputs="raw")
        with pytest.raises(ValueError, match="inputs must be 'raw' or 'items', got 'rows'"):
            export(**options, inputs="rows")


def test_features_that_are_no_items_stay_inputs(sqlite, javascript):
    score = RiskScore(-3, {"age >= 60": 3, "visits": 1, "albumin": -1}, variables={
        "age": VARIABLES["age"], "albumin": RawVariable("albumin", "numeric", 1, 6, n_samples=9),
    })  # fmt: skip
    record = {"age": 70, "visits": 1, "albumin": 1}
    kinds = {"age": "integer", "visits": "integer", "albumin": "real"}
    fill(sqlite, kinds, [record], typed=False)
    pmml = Pmml(score.to_pmml()).predict(record)
    for result in (run_python(score)(record), run_javascript(javascript, score, [record])[0],
                   run_sql(sqlite, score, "sqlite")[0], (pmml["risk"], pmml["score"])):  # fmt: skip
        check(score, [record], [result])


def test_sql_says_what_is_wrong():
    with pytest.raises(ValueError, match=r"inputs that are 0 or 1, got 'sex'"):
        SCORE.to_sql(boolean_columns=["sex"])
    nul = RawVariable("x", "categorical", levels=("a", "\0"))
    with pytest.raises(ValueError, match=r"no text in a database can be '\\x00'"):
        RiskScore(0, {"x = a": 1}, variables={"x": nul}).to_sql()
    with pytest.raises(ValueError, match=r"XML cannot hold the character '\\x00'"):
        RiskScore(0, {"x = a": 1}, variables={"x": nul}).to_pmml()
    both = {name: RawVariable(name, "numeric", 1, 2) for name in ("Age", "age")}
    with pytest.raises(ValueError, match="does not tell columns named 'Age', 'age' apart"):
        RiskScore(0, {"Age >= 1": 1, "age >= 2": 1}, variables=both).to_sql("sqlite")
    assert '"Age"' in RiskScore(0, {"Age >= 1": 1, "age >= 2": 1}, variables=both).to_sql()


def test_the_command_line_exports_both(tmp_path):
    SCORE.save(tmp_path / "score.json")

    def run(*options):
        command = ["export", str(tmp_path / "score.json"), "--format", *options]
        return CliRunner().invoke(application(), command)

    assert run("sql").stdout == f"{SCORE.to_sql()}\n"
    assert run("sql", "--inputs", "items").stdout == f"{SCORE.to_sql(inputs='items')}\n"
    assert run("python", "--inputs", "raw").stdout == SCORE.to_python()
    for name, message in (("rows", "--inputs must be raw or items"), ("raw", "--inputs needs")):
        result = run("python" if name == "rows" else "html", "--inputs", name)
        assert result.exit_code == 2
        assert message in result.stderr
    RiskScore(0, {"age >= 60": 1}).save(tmp_path / "score.json")
    result = run("pmml", "--inputs", "raw")
    assert result.exit_code == 2
    assert "does not know" in result.stderr


def test_records_outside_of_the_training_data_are_scored_alike():
    record = {**RECORD, "age": 120}
    with warnings.catch_warnings():
        warnings.simplefilter("error", ExtrapolationWarning)
        with pytest.raises(ExtrapolationWarning, match=r"'age' \(18 to 95 in .*; here 1200\)"):
            SCORE.predict_proba([{**record, "age": 1200}])
    check(SCORE, [record], [run_python(SCORE)(record)])
