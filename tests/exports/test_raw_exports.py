"""Exports that compute the items from raw columns: they predict what the score predicts."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import warnings

import numpy as np
import pytest

from command_line import invoke
from export_targets import Pmml, identifier, run_javascript, run_python, run_sql
from raw_models import KINDS, models
from riskslim import RiskScore
from riskslim.exceptions import ExtrapolationWarning
from riskslim.exports.terms import terms_of
from riskslim.items import Item
from riskslim.items.variables import RawVariable

pytestmark = pytest.mark.filterwarnings("ignore::riskslim.exceptions.ExtrapolationWarning")

SQL_TYPES = {
    "integer": "BIGINT", "real": "DOUBLE", "boolean": "BOOLEAN", "binary": "INTEGER",
    "text": "VARCHAR", "code": "INTEGER", "flag": "BOOLEAN", "real code": "DOUBLE",
}  # fmt: skip


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
# A hundred models
# ---------------------------------------------------------------------------------------------


def test_the_models_have_all_kinds_of_terms():
    found = {
        (kinds[term.column], term.kind, term.operator, term.may_lack)
        for score, kinds, _ in models(0, 100)
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
    for score, _, records in models(0, 50):
        check(score, records, map(run_python(score), records))
        nan = [{name: math.nan if one is None else one for name, one in record.items()}
               for record in records]  # fmt: skip
        check(score, records, map(run_python(score), nan))


def test_javascript_predicts_the_same(javascript):
    for score, _, records in models(0, 50):
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
    for k, (score, kinds, records) in enumerate(models(0, 50)):
        fill(sqlite, kinds, records, typed=k % 2)
        check(score, records, run_sql(sqlite, score, "sqlite"))


def test_duckdb_predicts_the_same(duck):
    for k, (score, kinds, records) in enumerate(models(0, 50)[:30]):
        fill(duck, kinds, records, typed=True)
        booleans = [name for name, kind in kinds.items() if kind == "boolean"]
        for dialect in (("duckdb", "ansi", "postgresql")[k % 3],):
            check(score, records, run_sql(duck, score, dialect, boolean_columns=booleans))


def test_pmml_predicts_the_same():
    for score, _, records in models(0, 50):
        model = Pmml(score.to_pmml())
        results = [model.predict(record) for record in records]
        check(score, records, [(result["risk"], result["score"]) for result in results])


def outputs(result):
    """Risk and score, whatever the outputs had to be called."""
    named = {name.rstrip("_"): value for name, value in result.items()}
    return named["risk"], named["score"]


def in_all_forms(kinds, records):
    """Records, and the same with other values that stand for the same."""
    yield records
    floats = [name for name, kind in kinds.items() if kind in ("integer", "binary", "code")]
    flags = [name for name, kind in kinds.items() if kind in ("boolean", "binary")]
    for names, convert in ((floats, float), (flags, bool), (flags, int)):
        yield [
            {name: convert(value) if name in names and value is not None else value
             for name, value in record.items()}
            for record in records
        ]  # fmt: skip
    yield [
        {name: math.nan if value is None else value for name, value in record.items()}
        for record in records
    ]


@pytest.mark.slow
def test_pmml4s_predicts_the_same(pmml4s):
    for score, kinds, records in models(0, 50)[:20]:
        model = pmml4s(score.to_pmml())
        for given in in_all_forms(kinds, records):
            check(score, records, [outputs(model.predict(dict(record))) for record in given])


@pytest.mark.slow
def test_jpmml_predicts_the_same(jpmml):
    for score, kinds, records in models(0, 50)[20:40]:
        model = jpmml(score.to_pmml())
        for given in in_all_forms(kinds, records):
            check(score, records, [outputs(model.evaluate(dict(record))) for record in given])


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


@pytest.mark.slow
def test_readers_of_pmml_give_no_result_for_what_predictions_refuse(jpmml, pmml4s):
    code = RawVariable("code", "categorical", levels=(0, 1), n_missing=1, n_samples=9)
    flag = RawVariable("flag", "categorical", levels=(False, True), n_samples=9)
    score = RiskScore(
        SCORE.intercept,
        {**SCORE.points, "code = 0": 1, "flag = True": 1},
        variables={**VARIABLES, "code": code, "flag": flag},
    )
    text = score.to_pmml()
    # A column of an output's name is no input, and changes nothing.
    record = {**RECORD, "code": None, "flag": False, "risk": 0.123, "score": 9}
    one, other = jpmml(text), pmml4s(text)
    assert outputs(one.evaluate(dict(record)))[1] == outputs(other.predict(dict(record)))[1] == 5
    for changed in (
        {"age": None}, {"age": math.nan}, {"sex": "Male"}, {"sex": None}, {"sex": math.nan},
        {"sex": 1}, {"ward": "D"}, {"ward": True}, {"smoker": 2}, {"smoker": None},
        {"smoker": math.nan}, {"smoker": "yes"}, {"creatinine": math.inf}, {"code": True},
        {"code": 2}, {"flag": 1}, {"flag": None},
    ):  # fmt: skip
        with pytest.raises(Exception, match=r"(?i)invalid|missing"):
            one.evaluate({**record, **changed})
        risk, total = outputs(other.predict({**record, **changed}))
        assert math.isnan(risk), changed
        assert math.isnan(total), changed


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
    items = {**SCORE.items, "smoker": Item.of("smoker", "boolean")}
    plain = RiskScore(SCORE.intercept, SCORE.points, items=items)
    nothing_stated = RiskScore(SCORE.intercept, SCORE.points)
    for name, options in (("python", {}), ("javascript", {}), ("pmml", {}),
                          ("sql", {"dialect": "sqlite", "table": "t"})):  # fmt: skip
        export = getattr(SCORE, f"to_{name}")
        assert export(**options) == export(**options, inputs="raw")
        assert export(**options) != export(**options, inputs="items")
        of_items = export(**options, inputs="items")
        assert of_items == getattr(plain, f"to_{name}")(**options)
        assert of_items != getattr(nothing_stated, f"to_{name}")(**options)
        with pytest.raises(ValueError, match=r"score does not know: score.with_variables\(enc"):
            getattr(plain, f"to_{name}")(**options, inputs="raw")
        with pytest.raises(ValueError, match="inputs must be 'raw' or 'items', got 'rows'"):
            export(**options, inputs="rows")


def test_exports_of_items_refuse_what_no_item_can_be(sqlite, javascript):
    score = RiskScore(-3, {"age >= 60": 2, "visits": 1}, items=[Item.of("age", ">=", 60)])
    for value, total in ((1, 4), (True, 4), (0, 2), (30, None), (0.5, None), (None, None)):
        record = {"age >= 60": value, "visits": 2}
        javascript.eval(score.to_javascript())
        caught = f"try {{ predictRisk({json.dumps(record)}).score }} catch (error) {{ null }}"
        fill(sqlite, dict.fromkeys(record, "real"), [record], typed=False)
        pmml = Pmml(score.to_pmml()).predict(record)
        found = [javascript.eval(caught), run_sql(sqlite, score, "sqlite")[0][1],
                 pmml and pmml["score"]]  # fmt: skip
        assert found == [total] * 3
        if total is None:
            for predict in (score.predict_proba, run_python(score)):
                with pytest.raises((ValueError, TypeError)):
                    predict(record)
        else:
            check(score, [record], [run_python(score)(record)])


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
        return invoke("export", tmp_path / "score.json", "--format", *options)

    assert run("sql").stdout == f"{SCORE.to_sql()}\n"
    assert run("sql", "--inputs", "items").stdout == f"{SCORE.to_sql(inputs='items')}\n"
    assert run("python", "--inputs", "raw").stdout == SCORE.to_python()
    names = ("--score-column", "points", "--risk-column", "ours")
    query = SCORE.to_sql("mysql", table="t", score_column="points", risk_column="ours")
    assert run("sql", "--dialect", "mysql", "--table", "t", *names).stdout == f"{query}\n"
    assert "pass table as well" in run("sql", *names).stderr
    assert "--risk-column needs --format sql, got pmml" in run("pmml", *names[2:]).stderr
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
