"""Exports are run by what they are for, and predict what the risk score predicts."""

from __future__ import annotations

import json
import math
import random
import re
import shutil
import sqlite3
import subprocess
from fractions import Fraction

import duckdb
import jsonschema
import numpy as np
import pytest

from export_targets import NAMES, Pmml, identifier, run_javascript, run_python, run_sql
from paths import DOCS
from riskslim import Certificate, RiskScore, Status
from riskslim.data.feature_ranges import FeatureRange
from riskslim.exceptions import UnboundCertificateWarning
from riskslim.exports import MAX_TABLED_SCORES, to_javascript, to_pmml, to_python
from riskslim.exports.dialects import _sqlite_literal
from riskslim.exports.sql import to_sql
from riskslim.items.item import Item
from riskslim.items.variables import RawVariable
from riskslim.scale import ScaleSet
from riskslim.score.cutoff_ranges import CutoffRange

# What is odd about values beyond the training data is said elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore::riskslim.exceptions.ExtrapolationWarning")

LABELS = [
    (0, 1),
    (-1, 1),
    (False, True),
    ("no", "yes"),
    ("it's", '"<&>\n日本*/'),
    (0.5, 1.5),
    ("", 1),
]


def a_model(rng, *, real):
    """A risk score and records, most within the ranges of the training data."""
    names = rng.sample(NAMES, rng.randint(0, 6))
    ranges, points = {}, {}
    for name in names:
        points[name] = rng.choice([-1, 1]) * rng.choice([1, 2, 3, 5, 11])
        kind = rng.choice(["binary", "binary", "values", "integer"] + ["real"] * 2 * real)
        if kind == "binary":
            ranges[name] = FeatureRange(0, 1)
        elif kind == "values":
            ranges[name] = FeatureRange.of(rng.sample(range(-5, 15), 4))
        elif kind == "integer":
            ranges[name] = FeatureRange(-2, 9)
        else:
            ranges[name] = FeatureRange(-1.5, 70.25, is_integer=False)
    score = RiskScore(
        rng.randint(-20, 20),
        points,
        outcome_name=rng.choice(["died", *NAMES]),
        classes=rng.choice(LABELS),
        feature_names=rng.sample(NAMES, len(NAMES)),
        feature_ranges=ranges,
        scale=rng.choice([1.0, 1.0, round(rng.uniform(0.05, 20), 2), rng.uniform(0.5, 20)]),
    )
    records = []
    for k in range(4):
        record = {}
        for name, values in ranges.items():
            if not values.is_integer:
                record[name] = rng.uniform(values.minimum, values.maximum)
            elif k == 3:
                record[name] = rng.randint(-300, 300)
            else:
                record[name] = rng.choice(values.values or range(-2, 10))
        records.append(record)
    return score, records


def check(score, records, results):
    """Compare (risk, score) of every record: exactly within the training data of integers."""
    assert len(results) == len(records)
    exact = all(values.is_integer for values in score.feature_ranges.values())
    totals, risks = score.score_samples(records), score.predict_proba(records)[:, 1]
    for k, (risk, total) in enumerate(results):
        assert total == totals[k]
        if exact and k < 3:
            assert risk == risks[k], (score, records[k])
        else:
            assert abs(risk - risks[k]) <= 1e-15, (score, records[k])
    return exact


def models(seed, count):
    rng = random.Random(seed)
    found = []
    for k in range(count):
        score, records = a_model(rng, real=k % 3 == 0)
        layout = {"points": "non-negative", "by": ("item", "variable")[k // 2 % 2]} if k % 2 else {}
        found.append((score.with_layout(**layout), records))
    return found


def fill(database, score, records, kind):
    """A table with the records, and a column on which the order depends."""
    database.execute("DROP TABLE IF EXISTS patients")
    columns = "".join(f", {identifier(name)} {kind}" for name in score.points)
    database.execute(f"CREATE TABLE patients (position INTEGER{columns})")
    marks = ", ?" * len(score.points)
    for k, record in enumerate(records):
        values = [k, *(record[name] for name in score.points)]
        database.execute(f"INSERT INTO patients VALUES (?{marks})", values)


# ---------------------------------------------------------------------------------------------
# Hundreds of models
# ---------------------------------------------------------------------------------------------


def test_python_predicts_the_same():
    exact = 0
    for score, records in models(1, 250):
        function = run_python(score)
        exact += check(score, records, [function(record) for record in records])
    assert exact > 150


def test_javascript_predicts_the_same(javascript):
    for score, records in models(2, 250):
        check(score, records, run_javascript(javascript, score, records))


def test_sqlite_predicts_the_same(sqlite):
    for score, records in models(3, 250):
        fill(sqlite, score, records, "")
        check(score, records, run_sql(sqlite, score, "sqlite"))


@pytest.mark.slow
def test_duckdb_predicts_the_same(duck):
    # Standard SQL and PostgreSQL are written in words that DuckDB understands.
    for k, (score, records) in enumerate(models(4, 75)):
        fill(duck, score, records, "DOUBLE")
        check(score, records, run_sql(duck, score, ("duckdb", "ansi", "postgresql")[k % 3]))


def test_pmml_predicts_the_same():
    for score, records in models(5, 250):
        model = Pmml(to_pmml(score))
        results = [model.predict(record) for record in records]
        check(score, records, [(result["risk"], result["score"]) for result in results])
        is_mixed = len({type(label) for label in score.classes}) > 1
        for record, result in zip(records, results, strict=True):
            (label,) = score.predict(record)
            assert result["label"] == (str(label) if is_mixed else label)


def test_javascript_runs_in_node(tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    for k, (score, records) in enumerate(models(6, 30)):
        tmp_path.joinpath(f"score{k}.js").write_text(to_javascript(score), encoding="ascii")
        tmp_path.joinpath(f"records{k}.json").write_text(json.dumps(records), encoding="utf-8")
    program = (
        "for (let k = 0; k < 30; k++) {"
        "  const { predictRisk } = require(`./score${k}.js`);"
        "  console.log(JSON.stringify(require(`./records${k}.json`).map(predictRisk)));"
        "}"
    )
    run = subprocess.run(
        [node, "-e", program], cwd=tmp_path, capture_output=True, encoding="utf-8", check=True
    )
    for (score, records), line in zip(models(6, 30), run.stdout.splitlines(), strict=True):
        check(score, records, [(one["risk"], one["score"]) for one in json.loads(line)])


# ---------------------------------------------------------------------------------------------
# Risks
# ---------------------------------------------------------------------------------------------


def everywhere(score, record, sqlite, duck, javascript):
    """The results for a record, by target."""
    fill(sqlite, score, [record], "")
    fill(duck, score, [record], "DOUBLE")
    pmml = Pmml(to_pmml(score)).predict(record)
    return {
        "python": run_python(score)(record),
        "javascript": run_javascript(javascript, score, [record])[0],
        "sqlite": run_sql(sqlite, score, "sqlite")[0],
        "duckdb": run_sql(duck, score, "duckdb")[0],
        "pmml": (pmml["risk"], pmml["score"]),
    }


@pytest.mark.parametrize("value", [-1000, -746, -745, -720, -709, -708, -40, 40, 709, 746, 1000])
@pytest.mark.parametrize("is_tabled", [True, False])
def test_extreme_risks(value, is_tabled, sqlite, duck, javascript):
    values = FeatureRange(value - 1, value) if is_tabled else FeatureRange(0, 0.5, is_integer=False)
    score = RiskScore(0, {"x": 1}, feature_ranges={"x": values})
    expected = score.predict_proba({"x": value})[0, 1]
    for risk, total in everywhere(score, {"x": value}, sqlite, duck, javascript).values():
        assert total == value
        if is_tabled:
            assert risk == expected
        else:
            assert abs(risk - expected) <= 1e-15
            assert expected < 1e-307 or risk == pytest.approx(expected, rel=1e-12, abs=0)


def test_sums_are_added_in_the_order_of_predictions(sqlite, duck, javascript):
    names = ["a", "b", "c", "d"]
    ranges = {name: FeatureRange(0, 1.5, is_integer=False) for name in names}
    score = RiskScore(-7, dict.fromkeys(names, 3), feature_ranges=ranges, scale=0.3)
    rng = random.Random(0)
    orders = set()
    for _ in range(20):
        record = {name: rng.uniform(-1, 1) * 10.0 ** rng.randint(-3, 3) for name in names}
        total = score.score_samples(record)[0]
        orders.add(
            total == 3 * record["a"] + (3 * record["b"] + (3 * record["c"] + 3 * record["d"]))
        )
        for risk, found in everywhere(score, record, sqlite, duck, javascript).values():
            assert found == total
            assert abs(risk - score.predict_proba(record)[0, 1]) <= 1e-15
    assert orders == {True, False}  # another order would be seen


def test_the_table_ends_where_it_would_be_long():
    def tabled(values, points=1):
        score = RiskScore(0, {"x": points}, feature_ranges={"x": values})
        return to_javascript(score).count("    case ")

    assert tabled(FeatureRange(1, MAX_TABLED_SCORES)) == MAX_TABLED_SCORES
    assert tabled(FeatureRange(0, MAX_TABLED_SCORES)) == 0
    assert tabled(FeatureRange(0, 4, values=(0, 4)), 1000) == 2
    assert tabled(FeatureRange(0, 1), 2_000_000_000) == 2
    assert tabled(FeatureRange(0, 10_000_000)) == 0
    assert tabled(FeatureRange(2**53, 2**53 + 4)) == 0
    assert tabled(FeatureRange(0, 3.5, is_integer=False)) == 0


def test_scores_are_tabled_by_how_many_they_are(javascript):
    # 2**9 sums of nine features are below the limit, twice as many above it.
    for size, n_tabled in ((9, 512), (10, 0)):
        points = {f"x{k}": 3**k for k in range(size)}
        script = to_javascript(RiskScore(-100, points, scale=50.0))
        assert script.count("    case ") == n_tabled
    # Without a list of values, all integers from the smallest to the largest are taken.
    ranges = {"visits": FeatureRange(-2, 7)}
    score = RiskScore(-3, {"visits": 2, "smoker": 1}, feature_ranges=ranges)
    assert to_javascript(score).count("    case ") == 20


@pytest.mark.slow
def test_scores_with_many_features(sqlite, duck, javascript):
    names = [f"x{k}" for k in range(80)]
    score = RiskScore(-3, dict.fromkeys(names, 1))
    record = {name: k % 16 == 0 for k, name in enumerate(names)}
    results = everywhere(score, record, sqlite, duck, javascript)
    assert set(results.values()) == {(score.predict_proba(record)[0, 1], 5)}


def test_a_score_without_points(sqlite, duck, javascript):
    score = RiskScore(-2, {})
    risk = 1 / (1 + math.exp(2))
    for result in everywhere(score, {}, sqlite, duck, javascript).values():
        assert result == (pytest.approx(risk, rel=1e-15), 0)


# ---------------------------------------------------------------------------------------------
# Values that predictions refuse
# ---------------------------------------------------------------------------------------------

SCORE = RiskScore(-3, {"smoker": 2, "it's": -1}, outcome_name="died")


@pytest.mark.parametrize(
    "value",
    [None, math.nan, math.inf, -math.inf, "1", b"1", "x", 2**53, -(2**60), 10**400, [1], 1j,
     np.float64("nan"), np.int64(2**60)],
    ids=repr,
)  # fmt: skip
def test_python_refuses_what_predictions_refuse(value):
    with pytest.raises((ValueError, TypeError)):
        SCORE.predict_proba([{"smoker": value, "it's": 0}])
    with pytest.raises(ValueError, match="'smoker' must be "):
        run_python(SCORE)({"smoker": value, "it's": 0})


@pytest.mark.parametrize(
    "value",
    [True, False, 1, 0.0, 2.0**60, -0.0, np.int8(1), np.bool_(True), Fraction(1, 4)],
    ids=repr,
)
def test_python_takes_what_predictions_take(value):
    record = {"smoker": value, "it's": 1}
    risk, total = run_python(SCORE)(record)
    expected = SCORE.score_samples(record)[0]
    assert total == expected
    assert isinstance(total, int) is isinstance(expected, np.int64)
    assert abs(risk - SCORE.predict_proba(record)[0, 1]) <= 1e-15


def test_python_names_what_is_missing_or_too_large():
    with pytest.raises(ValueError, match='the record lacks "it\'s"'):
        run_python(SCORE)({"smoker": 1})
    with pytest.raises(ValueError, match="the score overflows"):
        run_python(SCORE)({"smoker": 1.7e308, "it's": 0})


@pytest.mark.parametrize(
    "value", ["null", "NaN", "'1'", "Infinity", "undefined", "2n ** 53n", "[1]", "1e308", "{}"]
)
def test_javascript_refuses_what_predictions_refuse(javascript, value):
    javascript.eval(to_javascript(SCORE))
    record = f'{{smoker: {value}, "it\'s": 0}}'
    message = javascript.eval(f"try {{ predictRisk({record}); 'none' }} catch (e) {{ e.message }}")
    assert re.match('"smoker" must be a finite number|the score overflows', message)


def test_javascript_takes_booleans_and_integers_of_any_size(javascript):
    javascript.eval(to_javascript(SCORE))
    assert javascript.eval("predictRisk({smoker: true, 'it\\'s': 1n}).score") == 1


def test_javascript_reads_own_properties_only(javascript):
    javascript.eval(to_javascript(RiskScore(0, {"constructor": 1, "__proto__": 2})))
    caught = "try { predictRisk({}); 'none' } catch (error) { error.message }"
    assert 'the record lacks "__proto__"' in javascript.eval(caught)


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_null_and_what_is_not_finite_give_null(dialect, sqlite, duck):
    database, kind = {"sqlite": (sqlite, ""), "duckdb": (duck, "DOUBLE")}[dialect]
    values = [None, math.inf, -math.inf] + ([math.nan] if dialect == "duckdb" else ["1", "x", b"1"])
    fill(database, SCORE, [{"smoker": value, "it's": 0} for value in values], kind)
    assert [risk for risk, _ in run_sql(database, SCORE, dialect)] == [None] * len(values)


def test_a_column_that_sqlite_lacks_is_an_error(sqlite):
    sqlite.execute("CREATE TABLE patients (smoker)")
    sqlite.execute("INSERT INTO patients VALUES (1)")
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        sqlite.execute(f"SELECT {to_sql(SCORE, 'sqlite')} FROM patients")


def test_numbers_in_sqlite_are_exact(sqlite):
    rng = random.Random(0)
    values = [rng.random() ** rng.choice([1, 30, 300]) for _ in range(400)] + [5e-324, 1.0, 0.0]
    literals = ", ".join(f"({_sqlite_literal(value)})" for value in values)
    assert [found for (found,) in sqlite.execute(f"VALUES {literals}")] == values


def test_boolean_columns(sqlite, duck):
    records = [{"smoker": smoker, "it's": 1} for smoker in (False, True, None)]
    for database, dialect in ((sqlite, "sqlite"), (duck, "duckdb"), (duck, "postgresql")):
        fill(database, SCORE, records, "BOOLEAN")
        risks = run_sql(database, SCORE, dialect, boolean_columns=["smoker", "it's"])
        assert risks.pop() == (None, None)
        check(SCORE, records[:2], risks)


def test_pmml_gives_no_result_for_what_predictions_refuse():
    model = Pmml(to_pmml(SCORE))
    for value in (None, math.nan, math.inf, -math.inf):
        assert model.predict({"smoker": value, "it's": 0}) is None


# ---------------------------------------------------------------------------------------------
# What is written
# ---------------------------------------------------------------------------------------------


def test_exports_do_not_depend_on_anything_but_the_score():
    for export in (to_python, to_javascript, to_sql, to_pmml):
        assert export(SCORE) == export(RiskScore.from_json(SCORE.to_json()))
    assert SCORE.to_python(function_name="f") == to_python(SCORE, function_name="f")
    assert SCORE.to_javascript(function_name="f") == to_javascript(SCORE, function_name="f")
    options = {"table": "t", "boolean_columns": ["smoker"]}
    assert SCORE.to_sql("sqlite", **options) == to_sql(SCORE, "sqlite", **options)
    assert SCORE.to_pmml() == to_pmml(SCORE)


def test_python_imports_math_alone():
    text = to_python(SCORE)
    assert re.findall(r"^\s*(?:import|from) .*", text, re.M) == ["import math"]


def test_javascript_can_stand_in_a_page():
    hostile = "</script><!--\u2028"
    text = to_javascript(RiskScore(0, {hostile: 1}, outcome_name=hostile, classes=(0, hostile)))
    assert text.isascii()
    assert not re.search("</script|<!--", text)


def test_names_of_functions(javascript):
    namespace = {}
    exec(to_python(SCORE, function_name="chads"), namespace)
    assert namespace["chads"]({"smoker": 1, "it's": 0})[1] == 2
    javascript.eval(to_javascript(SCORE, function_name="$chads"))
    assert javascript.eval("$chads({smoker: 1, 'it\\'s': 0}).score") == 2
    for name in ("", "a b", "class", "float", "math", "a;b", "1a"):
        with pytest.raises(ValueError, match="function_name must be an identifier that Python"):
            to_python(SCORE, function_name=name)
    for name in ("", "a b", "class", "Number", "a;b", "1a", "é", "a\n"):
        with pytest.raises(ValueError, match="function_name must be an identifier that JavaScript"):
            to_javascript(SCORE, function_name=name)


def test_qualified_tables(sqlite, duck):
    sqlite.execute("ATTACH ':memory:' AS [the clinic]")
    duck.execute('CREATE SCHEMA "the clinic"')
    for database, dialect in ((sqlite, "sqlite"), (duck, "duckdb")):
        database.execute("""CREATE TABLE "the clinic"."pa`t" (smoker DOUBLE, "it's" DOUBLE)""")
        database.execute('INSERT INTO "the clinic"."pa`t" VALUES (1, 0)')
        (row,) = database.execute(to_sql(SCORE, dialect, table=("the clinic", "pa`t"))).fetchall()
        assert row[:3] == (2, 1, 0)


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
@pytest.mark.parametrize("name", ["score", "Score", "risk", "RISK"])
def test_tables_with_columns_of_the_names_of_the_outputs_are_refused(name, dialect, sqlite, duck):
    """No reader can take the table's column for ours: not by its name, and not by its place."""
    database = {"sqlite": sqlite, "duckdb": duck}[dialect]
    database.execute(f"""CREATE TABLE patients ("{name}" DOUBLE, smoker DOUBLE, "it's" DOUBLE)""")
    database.execute("INSERT INTO patients VALUES (0.123, 1, 0)")
    query = SCORE.to_sql(dialect, table="patients")
    assert "of its own is refused" in query
    with pytest.raises((sqlite3.OperationalError, duckdb.BinderException), match=r"(?i)ambiguous"):
        database.execute(query)
    names = {f"{name.lower()}_column": "ours"}
    query = SCORE.to_sql(dialect, table="patients", **names)
    found = database.execute(query)
    (row,) = found.fetchall()
    columns = [column for column, *_ in found.description]
    assert len(set(columns)) == len(columns) == 5
    row = dict(zip(columns, row, strict=True))
    risk = SCORE.predict_proba({"smoker": 1, "it's": 0})[0, 1]
    score, risk_name = ("ours", "risk") if "score_column" in names else ("score", "ours")
    assert (row[name], row[score], row[risk_name]) == (0.123, 2, risk)


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_tables_with_a_column_named_as_the_decision_are_refused(dialect, sqlite, duck):
    database = {"sqlite": sqlite, "duckdb": duck}[dialect]
    database.execute("""CREATE TABLE patients (Positive DOUBLE, smoker DOUBLE, "it's" DOUBLE)""")
    database.execute("INSERT INTO patients VALUES (0, 1, 0)")
    (row,) = database.execute(SCORE.to_sql(dialect, table="patients")).fetchall()
    assert len(row) == 5  # without a threshold nothing else has the name
    query = SCORE.with_operating_point(threshold=2).to_sql(dialect, table="patients")
    assert '"score" or "risk" or "positive" of its own is refused' in query
    with pytest.raises((sqlite3.OperationalError, duckdb.BinderException), match=r"(?i)ambiguous"):
        database.execute(query)


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
@pytest.mark.parametrize("name", ["s", "t", "o", "score_"])
def test_tables_with_columns_of_other_names_of_the_query(name, dialect, sqlite, duck):
    database = {"sqlite": sqlite, "duckdb": duck}[dialect]
    database.execute(f"""CREATE TABLE patients ("{name}" DOUBLE, smoker DOUBLE, "it's" DOUBLE)""")
    database.execute("INSERT INTO patients VALUES (7, 1, 0)")
    (row,) = database.execute(to_sql(SCORE, dialect, table="patients")).fetchall()
    assert row == (2, 7, 1, 0, SCORE.predict_proba({"smoker": 1, "it's": 0})[0, 1])


def test_what_records_have_beside_the_inputs_is_left_alone(javascript):
    """Functions return our outputs alone, whatever a record calls its own values."""
    record = {"smoker": 1, "it's": 0, "risk": 0.123, "score": 9, "label": 9, "died": 0}
    given = dict(record)
    expected = [(SCORE.predict_proba(record)[0, 1], 2)]
    assert [run_python(SCORE)(given)] == expected
    assert given == record
    assert run_javascript(javascript, SCORE, [record]) == expected
    result = Pmml(to_pmml(SCORE)).predict(record)
    assert [(result["risk"], result["score"])] == expected


def test_names_of_the_outputs():
    query = SCORE.to_sql(table="t", score_column="Punkte */", risk_column='r"')
    assert query.endswith('WHERE "Punkte */" = "r"""\n) AS s')
    assert query.index("*/") == query.index(" */\nSELECT") + 1
    for names, message in (
        ({"risk_column": "it's"}, "risk_column must not be the name of another column, got \"it's"),
        ({"score_column": "x", "risk_column": "X"}, "risk_column must not be .* got 'X'"),
        ({"risk_column": ""}, "can have the name ''"),
    ):
        with pytest.raises(ValueError, match=message):
            SCORE.to_sql("duckdb", table="t", **names)
    with pytest.raises(ValueError, match="are for queries: pass table as well"):
        SCORE.to_sql(risk_column="x")


def test_names_that_sql_cannot_tell_apart():
    both = {"Age": 1, "age": 2}
    for dialect in ("sqlite", "duckdb"):
        with pytest.raises(ValueError, match="does not tell columns named 'Age', 'age' apart"):
            to_sql(RiskScore(0, both), dialect)
        # The other feature has no points, but a table may have its column.
        with pytest.raises(ValueError, match="rename these features"):
            to_sql(RiskScore(0, {"Age": 1}, feature_names=["Age", "age"]), dialect)
    assert to_sql(RiskScore(0, both), "postgresql").count('"Age"') > 0
    long = "é" * 31  # 62 octets, after which one more is kept
    with pytest.raises(ValueError, match="postgresql does not tell"):
        to_sql(RiskScore(0, {long + "ab": 1, long + "ac": 1}), "postgresql")
    assert to_sql(RiskScore(0, {long + "a": 1, long + "b": 1}), "postgresql")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"dialect": "postgres"},
            r"ansi, .*, sqlserver, got 'postgres' \(did you mean",
        ),
        (
            {"boolean_columns": ["Smoker"]},
            r"features with points, got 'Smoker' \(did you mean 'smoker'",
        ),
        ({"table": ""}, "no table or column of a database can have the name ''"),
        ({"table": "a\0"}, "no table or column"),
        ({"table": "caf\udce9"}, "no table or column"),
    ],
)
def test_sql_says_what_is_wrong(options, message):
    with pytest.raises(ValueError, match=message):
        to_sql(SCORE, **options)


def test_characters_that_xml_cannot_hold():
    for wrong in ("\0", "\x1b", "\ufffe", "\ud800"):
        for score in (RiskScore(0, {f"a{wrong}": 1}), RiskScore(0, {}, outcome_name=wrong),
                      RiskScore(0, {}, classes=(0, wrong))):  # fmt: skip
            with pytest.raises(ValueError, match="XML cannot hold the character"):
                to_pmml(score)
    with pytest.raises(ValueError, match="PMML does not tell the classes"):
        to_pmml(RiskScore(0, {}, classes=(1, "1")))


def test_a_tie_is_negative_in_every_evaluator_that_reads_the_label():
    score = RiskScore(-2, {"x": 2}, classes=("no", "yes"))
    result = Pmml(to_pmml(score)).predict({"x": 1})
    assert (result["risk"], result["label"], score.predict({"x": 1})[0]) == (0.5, "no", "no")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("java") is None, reason="the evaluator needs Java")
def test_an_evaluator_of_pmml_predicts_the_same():
    from pypmml import Model

    try:
        for score, records in models(7, 60):
            model = Model.fromString(to_pmml(score))
            results = [model.predict(record) for record in records]
            named = [
                {name.rstrip("_"): value for name, value in result.items()} for result in results
            ]
            check(score, records, [(result["risk"], result["score"]) for result in named])
    finally:
        Model.close()


# ---------------------------------------------------------------------------------------------
# What the documents say
# ---------------------------------------------------------------------------------------------


def test_the_document_prints_what_is_shown(capsys):
    text = (DOCS / "exports.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```python(?: continued)?\n(.*?)^```$", text, re.M | re.S)
    shown = re.findall(r"^```text\n(.*?)^```$", text, re.M | re.S)
    assert len(examples) == len(shown) == 5

    def rounded(output):
        # The last digit of a risk depends on the processor.
        return re.sub(r"0\.\d{9,}", lambda digits: f"{float(digits[0]):.12g}", output)

    namespace = {}
    for example, output in zip(examples, shown, strict=True):
        exec(compile(example, "docs/exports.md", "exec"), namespace)
        assert rounded(capsys.readouterr().out) == rounded(output)
    assert f"more than {MAX_TABLED_SCORES}\n" in text


def certified(**changes):
    certificate = Certificate(
        **{"status": Status.OPTIMAL, "objective": 0.25, "loss": 0.24, "model_size": 1,
           "lower_bound": 0.25, "gap_tolerance": 0.0, "bound_tolerance": 1e-9,
           "engine": "branch_and_bound", "n_samples": 100, **changes}
    )  # fmt: skip
    return RiskScore(-1, {"x": 2}, certificate=certificate, scale=certificate.scale)


SCALED = certified(scale=2.0, scales=ScaleSet.of(2))
SCHEMA = json.loads((DOCS / "risk_score.schema.json").read_text(encoding="utf-8"))


VARIABLES = {
    "age": RawVariable("age", "numeric", 18, 95.5, n_missing=3, n_samples=40),
    "sex": RawVariable("sex", "categorical", levels=("f", "m"), n_samples=40),
    "smoker": RawVariable("smoker", "boolean", n_samples=40),
}


def test_what_is_saved_is_as_the_schema_says():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    validator = jsonschema.Draft202012Validator(SCHEMA)
    scores = [score for score, _ in models(8, 60)]
    scores += [certified(), certified(lower_bound=-math.inf, status=Status.FEASIBLE)]
    scores += [certified(scale=2.0, scales=ScaleSet.of(scales)) for scales in (2, [1, 2], (1, 3))]
    scores.append(RiskScore(0, {"x": 1}, feature_ranges={"x": FeatureRange(0, 9, unit="Hz")}))
    scores.append(RiskScore(0, {"age >= 60": 1, "sex = m": 1, "smoker": 1}, variables=VARIABLES))
    item = Item("age >= 60", "age", ">=", 60, (57.5, 61))
    ranges = {"age >= 60": CutoffRange(55, 61, best=58, change=-0.0002)}
    scores.append(RiskScore(0, {"age >= 60": 1}, items=[item], cutoff_ranges=ranges))
    described = {
        "": SCHEMA["properties"],
        "points": SCHEMA["$defs"]["feature"]["properties"],
        "certificate": SCHEMA["$defs"]["certificate"]["properties"],
    }
    for score in scores:
        document = json.loads(score.to_json())
        validator.validate(document)
        assert set(document) <= set(described[""])
        assert all(set(entry) <= set(described["points"]) for entry in document["points"])
        for entry in document.get("variables", ()):
            assert set(entry) <= set(SCHEMA["$defs"]["variable"]["properties"])
        assert set(document["certificate"] or ()) <= set(described["certificate"])
        assert RiskScore.from_json(score.to_json()) == score


@pytest.mark.parametrize(
    "change",
    [{"format": "other"}, {"version": 10}, {"version": 0}, {"version": 1, "scale": 2.0},
     {"scale": -1}, {"scale": -1, "version": 2}, {"classes": [0]}, {"classes": [0, None]},
     {"classes": [1, 1]},
     {"intercept": 0.5}, {"intercept": 2**31}, {"points": {}}, {"points": [{"feature": "x"}]},
     {"feature_names": ["x", "x"]}, {"feature_names": [""]}, {"outcome_name": 3},
     {"certificate": {}}, {"certificate": 1}, {"variables": {}}, {"variables": [{"name": "x"}]},
     {"variables": [{**VARIABLES["sex"].to_plain(), "kind": "text"}]},
     {"variables": [{**VARIABLES["sex"].to_plain(), "levels": [None]}]}],
    ids=repr,
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::riskslim.exceptions.UnboundCertificateWarning")
def test_schema_and_reader_refuse_the_same(change):
    document = {**json.loads(certified().to_json()), **change}
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(document)
    with pytest.raises(ValueError, match=r"\w"):
        RiskScore.from_json(json.dumps(document))


@pytest.mark.parametrize(
    "name", [one for one in json.loads(SCALED.to_json()) if one != "created_by"]
)
def test_schema_and_reader_want_the_same_keys(name):
    document = json.loads(SCALED.to_json())
    del document[name]
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(document)
    with pytest.raises(ValueError, match=r"lacks|expected a JSON object|version of the format"):
        RiskScore.from_json(json.dumps(document))


# As the first releases wrote it: no scale, no unit, no scales in the certificate.
VERSION_1 = """{
  "format": "riskslim.risk_score", "version": 1, "created_by": "riskslim 0.1.0",
  "outcome_name": "died", "classes": ["no", "yes"], "intercept": -3,
  "points": [
    {"feature": "smoker", "points": 2, "minimum": 0, "maximum": 1, "is_integer": true,
     "values": [0, 1]},
    {"feature": "bmi", "points": -1, "minimum": 17.5, "maximum": 41.0, "is_integer": false,
     "values": null}
  ],
  "feature_names": ["age", "bmi", "smoker"],
  "certificate": {
    "status": "feasible", "objective": 0.3, "loss": 0.29, "model_size": 2, "lower_bound": "-inf",
    "gap_tolerance": 0.0, "bound_tolerance": 1e-09, "engine": "lattice_cpa", "n_samples": 40,
    "message": "time limit reached", "optimality_gap": "inf"
  }
}"""
VERSION_2 = VERSION_1.replace('"version": 1', '"version": 2, "scale": 2.5').replace(
    '"engine"', '"scale": 2.5, "scales": {"low": 0.5, "high": 12.0}, "engine"'
)


@pytest.mark.parametrize(("text", "scale"), [(VERSION_1, 1.0), (VERSION_2, 2.5)])
def test_files_of_earlier_versions_load(text, scale):
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(text))
    with pytest.warns(UnboundCertificateWarning, match="does not bind it to the points"):
        score = RiskScore.from_json(text)
    assert (score.intercept, dict(score.points)) == (-3, {"smoker": 2, "bmi": -1})
    assert (score.scale, score.classes, score.outcome_name) == (scale, ("no", "yes"), "died")
    assert score.feature_names == ("age", "bmi", "smoker")
    assert score.feature_ranges["bmi"] == FeatureRange(17.5, 41.0, is_integer=False)
    assert score.certificate is None
    assert RiskScore.from_json(score.to_json()) == score


def test_names_that_utf_8_cannot_hold_are_saved(tmp_path):
    score = RiskScore(0, {"caf\udce9": 1})
    score.save(tmp_path / "score.json")
    assert RiskScore.load(tmp_path / "score.json") == score


def test_labels_that_json_cannot_hold():
    with pytest.raises(TypeError, match="classes of type 'tuple' cannot be saved"):
        RiskScore(0, {}, classes=((1,), (2,))).to_json()
    with pytest.raises(ValueError, match="nan"):
        RiskScore(0, {}, classes=(0.0, math.nan)).to_json()


@pytest.mark.parametrize("table", [(), ("clinic", 3), [None]])
def test_tables_have_names(table):
    with pytest.raises(ValueError, match="table must be a name, or the parts of a qualified one"):
        RiskScore(-3, {"a": 2}).to_sql(table=table)


def test_arguments_of_the_wrong_type():
    score = RiskScore(-3, {"a": 2, "b": 1})
    with pytest.raises(TypeError, match=r"not one str: pass \['ab'\] in place of 'ab'"):
        score.to_sql(boolean_columns="ab")
    for export in (score.to_python, score.to_javascript):
        with pytest.raises(ValueError, match=r"function_name must be an identifier .* got None"):
            export(function_name=None)
