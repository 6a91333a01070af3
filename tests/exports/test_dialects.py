"""SQL of every dialect: parsed by another program, and run in databases of several kinds."""

from __future__ import annotations

import dataclasses
import math
import random

import pytest
import sqlglot
from sqlglot import expressions

from export_targets import NAMES
from raw_models import LEVELS, models
from riskslim import RiskScore
from riskslim.data.feature_ranges import FeatureRange
from riskslim.exports import SQL_DIALECTS
from riskslim.exports.dialects import DIALECTS
from riskslim.items.variables import RawVariable
from riskslim.score.recalibration import Recalibration

pytestmark = pytest.mark.filterwarnings("ignore::riskslim.exceptions.ExtrapolationWarning")

# What the parser calls dialects.
PARSERS = {"ansi": "", "postgresql": "postgres", "mariadb": "mysql", "sqlserver": "tsql"}
# Written for other databases, run in DuckDB after translation by the parser.
TRANSLATED = ("bigquery", "databricks", "snowflake", "spark", "sqlserver")


def names_for(dialect):
    """Names that columns can have, no two of them alike to the database."""
    known = DIALECTS[dialect]
    named = {known.key(name): name for name in NAMES if known.is_name(name)}
    return tuple(sorted(named.values()))


def parsed(text, dialect):
    return sqlglot.parse_one(text, read=PARSERS.get(dialect, dialect))


def in_duckdb(text, dialect):
    """SQL of a dialect as DuckDB understands it; text is compared by octets there anyway."""

    def simpler(node):
        if isinstance(node, expressions.DataType) and node.this == expressions.DataType.Type.FLOAT:
            return expressions.DataType.build("double")  # all of these databases mean float64
        if isinstance(node, expressions.Cast) and isinstance(node.this, expressions.HexString):
            return expressions.Literal.string(bytes.fromhex(node.this.this).decode())
        while isinstance(node, expressions.Cast) and "VAR" in node.to.sql("tsql"):
            node = node.this
        return node

    return parsed(text, dialect).transform(simpler).sql("duckdb")


def booleans_in(kinds, dialect, records):
    if DIALECTS[dialect].booleans_are_numbers:
        return []
    return [name for name, kind in kinds.items() if kind == "boolean"]


def expected_of(score, records):
    """Risk and score of each record."""
    risks = score.predict_proba(records)[:, 1].tolist()
    return list(zip(risks, score.score_samples(records).tolist(), strict=True))


# ---------------------------------------------------------------------------------------------
# Another program reads what is meant
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", SQL_DIALECTS)
def test_the_parser_reads_the_names_that_are_meant(dialect):
    for score, kinds, records in models(21, 5, names_for(dialect)):
        booleans = booleans_in(kinds, dialect, records)
        expression = parsed(score.to_sql(dialect, boolean_columns=booleans), dialect)
        query = parsed(score.to_sql(dialect, table=("a b", "t"), boolean_columns=booleans), dialect)
        names = {column.name for column in expression.find_all(expressions.Column)}
        assert names == set(kinds)
        of_table = query.find_all(expressions.Column)
        assert {one.name for one in of_table if one.table == "t"} == {*kinds, "*"}
        (table,) = query.find_all(expressions.Table)
        assert (table.name, table.db) == ("t", "a b")


@pytest.mark.parametrize("dialect", SQL_DIALECTS)
def test_the_parser_reads_the_levels_that_are_meant(dialect):
    text = RawVariable("text", "categorical", levels=tuple(LEVELS))
    score = RiskScore(
        0, {f"text = {level}": 1 for level in LEVELS if level}, variables={"text": text}
    )
    expression = parsed(score.to_sql(dialect), dialect)
    found = {one.this for one in expression.find_all(expressions.Literal) if one.is_string}
    found |= {one.this for one in expression.find_all(expressions.National)}
    found |= {
        bytes.fromhex(one.this).decode() for one in expression.find_all(expressions.HexString)
    }
    assert found >= set(LEVELS)


@pytest.mark.parametrize("dialect", TRANSLATED)
def test_other_databases_mean_the_same(dialect, duck):
    for score, kinds, records in models(21, 5, names_for(dialect)):
        booleans = booleans_in(kinds, dialect, records)
        fill_duck(duck, kinds, records, are_bits=not booleans)
        query = score.to_sql(dialect, table="patients", boolean_columns=booleans)
        expression = score.to_sql(dialect, boolean_columns=booleans)
        translated = in_duckdb(query, dialect)
        found = duck.execute(f"SELECT * FROM ({translated}) ORDER BY position").fetchall()
        assert [(row[-1], row[0]) for row in found] == expected_of(score, records)
        alone = in_duckdb(expression, dialect)
        found = duck.execute(f"SELECT {alone} FROM patients ORDER BY position").fetchall()
        assert [risk for (risk,) in found] == [risk for risk, _ in expected_of(score, records)]


def recalibrated(score):
    """With other risks: an intercept and a scale of many digits."""
    intercept = score.intercept / 3 - 2.3456789012345
    return dataclasses.replace(score, recalibration=Recalibration(intercept, 1.3700000001, 0.05))


@pytest.mark.parametrize("dialect", ["duckdb", *TRANSLATED])
def test_recalibrated_risks_of_raw_columns(dialect, duck):
    for score, kinds, records in models(21, 5, names_for(dialect)):
        found = recalibrated(score)
        booleans = booleans_in(kinds, dialect, records)
        fill_duck(duck, kinds, records, are_bits=not booleans)
        query = found.to_sql(dialect, table="patients", boolean_columns=booleans)
        if dialect in TRANSLATED:
            query = in_duckdb(query, dialect)
        rows = duck.execute(f"SELECT * FROM ({query}) ORDER BY position").fetchall()
        assert [(row[-1], row[0]) for row in rows] == expected_of(found, records)
        assert expected_of(found, records) != expected_of(score, records)


@pytest.mark.parametrize("dialect", ["duckdb", *TRANSLATED])
def test_recalibrated_risks_beyond_the_training_data(dialect, duck):
    rng = random.Random(29)
    for _ in range(8):
        score, kinds, records = of_items(rng, names_for(dialect))
        kinds = {name: kinds[name] for name in score.points}
        score = recalibrated(score)
        booleans = [name for name in booleans_in(kinds, dialect, records) if name in score.points]
        fill_duck(duck, kinds, records, are_bits=not booleans)
        query = score.to_sql(dialect, table="patients", boolean_columns=booleans)
        if dialect in TRANSLATED:
            query = in_duckdb(query, dialect)
        rows = duck.execute(f"SELECT * FROM ({query}) ORDER BY position").fetchall()
        check_items(score, records, [(row[-1], row[0]) for row in rows])


DUCK_TYPES = {
    "integer": "BIGINT", "real": "DOUBLE", "boolean": "BOOLEAN", "binary": "INTEGER",
    "text": "VARCHAR", "code": "INTEGER", "flag": "BOOLEAN", "real code": "DOUBLE",
}  # fmt: skip


def fill_duck(duck, kinds, records, *, are_bits):
    types = {**DUCK_TYPES, **({"boolean": "TINYINT"} if are_bits else {})}
    columns = "".join(
        ', "' + name.replace('"', '""') + f'" {types[kind]}' for name, kind in kinds.items()
    )
    duck.execute("DROP TABLE IF EXISTS patients")
    duck.execute(f"CREATE TABLE patients (position INTEGER{columns})")
    for k, record in enumerate(records):
        duck.execute(f"INSERT INTO patients VALUES (?{', ?' * len(record)})", [k, *record.values()])


# ---------------------------------------------------------------------------------------------
# MariaDB
# ---------------------------------------------------------------------------------------------

MARIADB_TYPES = {
    "integer": "BIGINT", "real": "DOUBLE", "boolean": "BOOLEAN", "binary": "TINYINT",
    "text": "VARCHAR(40)", "code": "INT", "flag": "BOOLEAN", "real code": "DOUBLE",
}  # fmt: skip


@pytest.fixture(params=["utf8mb4", "latin1", "NO_BACKSLASH_ESCAPES,ANSI_QUOTES"])
def patients(mariadb, request):
    """A cursor, a function that fills a table, and one that runs a query with the settings."""
    cursor = mariadb.cursor()
    cursor.execute("DROP DATABASE IF EXISTS clinic")
    cursor.execute("CREATE DATABASE clinic CHARACTER SET utf8mb4")
    cursor.execute("USE clinic")

    def fill(kinds, records, types=MARIADB_TYPES):
        cursor.execute("SET SESSION sql_mode = 'STRICT_ALL_TABLES'")
        mariadb.set_character_set("utf8mb4")
        cursor.execute("DROP TABLE IF EXISTS patients")
        columns = "".join(
            f", `{name.replace('`', '``')}` {types[kind]}" for name, kind in kinds.items()
        )
        cursor.execute(f"CREATE TABLE patients (position INT{columns})".replace("%", "%%"), ())
        for k, record in enumerate(records):
            marks = ", %s" * len(record)
            cursor.execute(f"INSERT INTO patients VALUES (%s{marks})", [k, *record.values()])

    def run(query):
        if request.param == "latin1":
            pytest.importorskip("pymysql")
            if not query.isascii():
                return None  # names: levels are ASCII in any case
            mariadb.set_character_set("latin1")
        elif "," in request.param:
            cursor.execute(f"SET SESSION sql_mode = '{request.param}'")
        cursor.execute(query)
        return cursor.fetchall()

    yield fill, run
    cursor.execute("SET SESSION sql_mode = 'STRICT_ALL_TABLES'")
    mariadb.set_character_set("utf8mb4")


@pytest.mark.slow
def test_mariadb_predicts_the_same(patients):
    fill, run = patients
    n_run = 0
    for score, kinds, records in models(21, 8, names_for("mariadb")):
        fill(kinds, records)
        found = run(f"{score.to_sql('mariadb', table='patients')} ORDER BY position")
        if found is None:
            continue
        n_run += 1
        assert [(row[-1], row[0]) for row in found] == expected_of(score, records)
        found = run(f"SELECT {score.to_sql('mysql')} FROM patients ORDER BY position")
        assert [risk for (risk,) in found] == [risk for risk, _ in expected_of(score, records)]
        other = recalibrated(score)
        found = run(f"{other.to_sql('mariadb', table='patients')} ORDER BY position")
        assert [(row[-1], row[0]) for row in found] == expected_of(other, records)
    assert n_run >= 4


def of_items(rng, names):
    """A score of features, with records within the training data and beyond them."""
    points = {name: rng.choice([-5, -2, 1, 3]) for name in rng.sample(names, 3)}
    kinds = {name: rng.choice(["integer", "real", "boolean"]) for name in points}
    ranges = {"integer": FeatureRange(-2, 9), "boolean": FeatureRange(0, 1),
              "real": FeatureRange(-1.5, 70.25, is_integer=False)}  # fmt: skip
    score = RiskScore(
        rng.randint(-9, 9), points, scale=rng.choice([1.0, 1.7]),
        feature_ranges={name: ranges[kind] for name, kind in kinds.items()},
    )  # fmt: skip
    values = {
        "integer": lambda: rng.choice([-2, 0, 9, 300, -3000]),
        "boolean": lambda: rng.random() < 0.5,
        "real": lambda: rng.uniform(-2, 900),
    }
    return score, kinds, [{name: values[kinds[name]]() for name in score.points} for _ in range(6)]


def check_items(score, records, found):
    """Beyond the training data, risks come from the database's own exponential."""
    for (risk, total), (expected, score_of_row) in zip(
        found, expected_of(score, records), strict=True
    ):
        assert total == score_of_row
        assert abs(risk - expected) <= 1e-15


def test_features_in_mariadb(patients):
    fill, run = patients
    rng = random.Random(24)
    for _ in range(12):
        score, kinds, records = of_items(rng, names_for("mariadb"))
        kinds = {name: kinds[name] for name in score.points}
        fill(kinds, [*records, dict.fromkeys(score.points)])
        found = run(f"{score.to_sql('mysql', table='patients')} ORDER BY position")
        if found is not None:
            *found, last = [(row[-1], row[0]) for row in found]
            assert last == (None, None)
            check_items(score, records, found)


def test_text_in_mariadb_is_compared_as_it_is(patients):
    fill, run = patients
    sex = RawVariable("sex", "categorical", levels=("male", "é", "a\\b"), n_samples=9)
    score = RiskScore(-3, {"sex = male": 2, "sex = é": 1, "sex = a\\b": 4}, variables={"sex": sex})
    values = ["male", "Male", "male ", "é", "e", "a\\b", "ab"]
    records = [{"sex": value} for value in values]
    for kind in ("VARCHAR(9)", "VARCHAR(9) CHARACTER SET latin1", "TEXT", "VARBINARY(9)"):
        fill({"sex": kind}, records, types={kind: kind})
        found = run(f"{score.to_sql('mariadb', table='patients')} ORDER BY position")
        totals = [row[0] for row in found]
        assert totals == [2, None, None, 1, None, 4, None]


def test_columns_of_the_names_of_the_outputs_in_mariadb(patients):
    fill, run = patients
    fill({"smoker": "binary", "risk": "real"}, [{"smoker": 1, "risk": 0.123}])
    score = RiskScore(-3, {"smoker": 2})
    with pytest.raises(Exception, match="ambiguous"):
        run(score.to_sql("mysql", table="patients"))
    ((total, *others, risk),) = run(score.to_sql("mysql", table="patients", risk_column="ours"))
    assert (total, others) == (2, [0, 1, 0.123])
    assert risk == score.predict_proba({"smoker": 1})[0, 1]


# ---------------------------------------------------------------------------------------------
# Spark
# ---------------------------------------------------------------------------------------------

SPARK_TYPES = {
    "integer": "BIGINT", "real": "DOUBLE", "boolean": "BOOLEAN", "binary": "INT",
    "text": "STRING", "code": "INT", "flag": "BOOLEAN", "real code": "DOUBLE",
}  # fmt: skip


def fill_spark(spark, kinds, records):
    columns = "".join(
        f", `{name.replace('`', '``')}` {SPARK_TYPES[kind]}" for name, kind in kinds.items()
    )
    rows = [(k, *record.values()) for k, record in enumerate(records)]
    frame = spark.createDataFrame(rows, f"position INT{columns}")
    frame.createOrReplaceTempView("patients")


@pytest.mark.slow
@pytest.mark.parametrize("escaped", ["false", "true"])
def test_spark_predicts_the_same(spark, escaped):
    spark.conf.set("spark.sql.parser.escapedStringLiterals", escaped)
    # Names that its schemas cannot state are left out: line breaks and the like.
    names = tuple(name for name in names_for("spark") if name.isprintable())
    for score, kinds, records in models(25, 3, names):
        fill_spark(spark, kinds, records)
        booleans = booleans_in(kinds, "spark", records)
        query = score.to_sql("spark", table="patients", boolean_columns=booleans)
        found = spark.sql(f"{query} ORDER BY position").collect()
        assert [(row[-1], row[0]) for row in found] == expected_of(score, records)
    rng = random.Random(26)
    for _ in range(2):
        score, kinds, records = of_items(rng, names)
        kinds = {name: kinds[name] for name in score.points}
        fill_spark(spark, kinds, records)
        booleans = [name for name, kind in kinds.items() if kind == "boolean"]
        query = score.to_sql("databricks", table="patients", boolean_columns=booleans)
        found = spark.sql(f"{query} ORDER BY position").collect()
        check_items(score, records, [(row[-1], row[0]) for row in found])


@pytest.mark.slow
def test_levels_and_what_is_not_finite_in_spark(spark):
    text = RawVariable("text", "categorical", levels=tuple(LEVELS), n_samples=9)
    real = RawVariable("real", "numeric", 0, 9, n_missing=1, n_samples=9)
    points = {f"text = {level}": 2**k for k, level in enumerate(LEVELS) if level}
    score = RiskScore(-3, {**points, "real >= 2": 1}, variables={"text": text, "real": real})
    for escaped in ("true", "false"):
        spark.conf.set("spark.sql.parser.escapedStringLiterals", escaped)
        records = [{"text": level, "real": 1.0} for level in LEVELS]
        fill_spark(spark, {"text": "text", "real": "real"}, records)
        query = f"{score.to_sql('spark', table='patients')} ORDER BY position"
        assert [row[0] for row in spark.sql(query).collect()] == score.score_samples(
            records
        ).tolist()
    records = [{"text": "a", "real": value} for value in (math.nan, math.inf, -math.inf, None)]
    fill_spark(spark, {"text": "text", "real": "real"}, records)
    assert [row[-1] is None for row in spark.sql(query).collect()] == [True, True, True, False]
    spark.sql("SELECT 1 AS smoker, 0.123D AS risk").createOrReplaceTempView("patients")
    other = RiskScore(-3, {"smoker": 2})
    with pytest.raises(Exception, match="AMBIGUOUS"):
        spark.sql(other.to_sql("spark", table="patients"))
    (row,) = spark.sql(other.to_sql("spark", table="patients", risk_column="ours")).collect()
    assert (row["risk"], row["ours"]) == (0.123, other.predict_proba({"smoker": 1})[0, 1])


# ---------------------------------------------------------------------------------------------
# What is refused
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dialect", "name"),
    [("mysql", "x" * 65), ("mariadb", "x "), ("mysql", "x\t"), ("mysql", "💊"), ("bigquery", "a.b"),
     ("bigquery", "x" * 301), ("spark", "${x}"), ("snowflake", "x" * 256),
     ("sqlserver", "x" * 129)],
)  # fmt: skip
def test_names_that_a_database_does_not_have(dialect, name):
    with pytest.raises(ValueError, match="no table or column of a database can have the name"):
        RiskScore(0, {name: 1}).to_sql(dialect)
    assert RiskScore(0, {name: 1}).to_sql("ansi")


@pytest.mark.parametrize(
    ("dialect", "names"),
    [("mysql", ("Age", "age")), ("mysql", ("é", "E")), ("bigquery", ("Ä", "ä")),
     ("spark", ("Age", "age")), ("sqlserver", ("Age", "age"))],
)  # fmt: skip
def test_names_that_a_database_does_not_tell_apart(dialect, names):
    with pytest.raises(ValueError, match=f"{dialect} does not tell columns named"):
        RiskScore(0, dict.fromkeys(names, 1)).to_sql(dialect)
    assert RiskScore(0, dict.fromkeys(names, 1)).to_sql("snowflake")
