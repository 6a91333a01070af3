"""CSV files that are written in other ways, and scores that remember in which."""

from __future__ import annotations

import gzip
import json
import shlex

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from command_line import run
from paths import DOCS
from riskslim import (
    CoefficientSet,
    CsvFormat,
    ItemEncoder,
    RiskScore,
    RiskScoreProblem,
    TrainingData,
    branch_and_bound,
    read,
)
from riskslim.data.csv_format import MISSING_TEXTS
from riskslim.data.files import read_table, read_verbatim

GERMAN = CsvFormat(missing=["k. A."], separator=";", decimal=",", encoding="cp1252")
N = 120


def rows():
    """Columns of a German file: numbers with commas, the continent NA, an outcome."""
    rng = np.random.default_rng(5)
    dose = [f"{value:.1f}".replace(".", ",") for value in rng.uniform(0, 9, N)]
    dose[3] = "k. A."
    place = rng.choice(["NA", "EU", "Südamerika"], N).tolist()
    risky = np.array([one == "NA" for one in place])
    return dose, place, (rng.random(N) < np.where(risky, 0.9, 0.2)).astype(int).tolist()


@pytest.fixture
def german(tmp_path):
    path = tmp_path / "daten.csv"
    lines = ["größe;ort;tot", *(f"{a};{b};{c}" for a, b, c in zip(*rows(), strict=True))]
    path.write_text("\n".join(lines), encoding="cp1252")
    return path


def test_the_defaults_are_those_of_the_reader():
    assert {"", *MISSING_TEXTS} == set(pyarrow.csv.ConvertOptions().null_values)
    assert CsvFormat() == CsvFormat.from_plain({})


def test_files_in_another_format(german):
    table = read_table(german, GERMAN)
    assert table.column_names == ["größe", "ort", "tot"]
    assert table["größe"].type == pa.float64()
    expected = [None if one == "k. A." else float(one.replace(",", ".")) for one in rows()[0]]
    assert table["größe"].to_pylist() == expected
    assert table["ort"].to_pylist() == rows()[1]
    assert read_verbatim(german, table, "größe", GERMAN).to_pylist() == rows()[0]
    zipped = german.with_name("daten.csv.gz")
    zipped.write_bytes(gzip.compress(german.read_bytes()))
    assert read_table(zipped, GERMAN).equals(table)
    utf16 = german.with_name("utf16.csv")
    utf16.write_text(german.read_text("cp1252"), encoding="utf-16")
    assert read_table(utf16, CsvFormat(["k. A."], ";", ",", "utf-16")).equals(table)


def test_text_that_is_missing_and_text_that_is_not(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\nNA,1\n?,\nx,?\n,NA\n")

    def read(missing):
        table = read_table(path, CsvFormat(missing))
        return table["a"].to_pylist(), table["b"].to_pylist()

    assert read(MISSING_TEXTS) == ([None, "?", "x", None], ["1", None, "?", None])
    assert read([]) == (["NA", "?", "x", None], ["1", None, "?", "NA"])
    assert read(["?", "NA"]) == ([None, None, "x", None], [1, None, None, None])


def test_wrong_formats_are_said(german, tmp_path):
    with pytest.raises(ValueError, match=r"--encoding cp1252 on the command line"):
        read_table(german, CsvFormat(separator=";"))
    with pytest.raises(ValueError, match=r"daten.csv is not encoded in utf-16"):
        read_table(german, CsvFormat(separator=";", encoding="utf-16"))
    with pytest.raises(ValueError, match=r"separator than ','\? CsvFormat\(separator=...\) in Pyt"):
        read_table(german, CsvFormat(encoding="cp1252"))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"missing": "NA"}, TypeError, r"not one str: pass \['NA'\]"),
        ({"missing": [1]}, TypeError, "must be str, got 1"),
        ({"separator": ";;"}, ValueError, "must be one character, got ';;'"),
        ({"separator": '"'}, ValueError, "no quote and no line break"),
        ({"separator": "§"}, ValueError, "ASCII"),
        ({"decimal": "·"}, ValueError, "decimal mark must be '.' or ',', got '·'"),
        ({"decimal": ","}, ValueError, "',' cannot be both separator and decimal mark"),
        ({"encoding": "utf-99"}, ValueError, "no encoding is called 'utf-99'"),
        ({"encoding": None}, ValueError, "no encoding is called None"),
    ],
)
def test_formats_that_cannot_be(options, error, message):
    with pytest.raises(error, match=message):
        CsvFormat(**options)


# ---------------------------------------------------------------------------------------------
# Scores
# ---------------------------------------------------------------------------------------------


def test_a_score_keeps_the_format(german):
    encoder = ItemEncoder(n_thresholds=2, missing="indicator")
    data = read(german, "tot", items=encoder, csv_format=GERMAN)
    assert data.csv_format == data.reweighted(None).csv_format == GERMAN
    coefficients = CoefficientSet(data.feature_names, -3, 3)
    problem = RiskScoreProblem(data, coefficients, max_size=1)
    score = RiskScore.from_solution(branch_and_bound(problem), data).with_variables(encoder)
    assert score.csv_format == GERMAN
    assert "ort = NA" in score.points
    again = RiskScore.from_json(score.to_json())
    assert again == score
    assert again.csv_format == GERMAN
    schema = json.loads((DOCS / "risk_score.schema.json").read_text(encoding="utf-8"))
    document = json.loads(score.to_json())
    jsonschema.Draft202012Validator(schema).validate(document)
    assert "csv_format" not in json.loads(RiskScore(0, {"x": 1}).to_json())
    for wrong in ({"decimal": "x"}, {"separator": ""}, {"missing": "NA"}, [], {"missing": [1]}):
        document["csv_format"] = wrong
        assert not jsonschema.Draft202012Validator(schema).is_valid(document)
        with pytest.raises(ValueError, match="csv_format"):
            RiskScore.from_json(json.dumps(document))
    with pytest.raises(TypeError, match="csv_format must be a CsvFormat, got ';'"):
        RiskScore(0, {"x": 1}, csv_format=";")


OPTIONS = ("--separator", ";", "--decimal", ",", "--encoding", "cp1252", "--missing-text", "k. A.")


@pytest.mark.usefixtures("no_diagrams")
def test_predictions_read_files_as_the_fit_did(german, tmp_path):
    """The same table as CSV in two formats and as Parquet gives the same risks."""
    score = tmp_path / "score.json"
    fitted = run(
        "fit", german, "--outcome", "tot", "--items", "--missing", "indicator", "--max-size",
        "2", "--output", str(score), *OPTIONS,
    )  # fmt: skip
    assert "ort = NA" in fitted.stdout
    predicted = run("predict", score, german, "--id", "größe")
    assert predicted.stdout.splitlines()[1].startswith(f'"{rows()[0][0]}",')
    expected = [line.rsplit(",", 2)[1:] for line in predicted.stdout.splitlines()]
    table = read_table(german, GERMAN)
    pyarrow.parquet.write_table(table, tmp_path / "same.parquet")
    pyarrow.csv.write_csv(table, tmp_path / "same.csv")
    usual = ("--separator", ",", "--decimal", ".", "--encoding", "utf-8", "--missing-text", "")
    for name, options in (("same.parquet", ()), ("same.csv", usual)):
        found = run("predict", score, tmp_path / name, *options)
        assert [line.split(",") for line in found.stdout.splitlines()] == expected
    run("report", score, german, "--output", tmp_path / "r.html", "--resamples", 0)


def test_help_prints_the_defaults(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    for command in ("fit", "predict", "report"):
        text = "".join(run(command, "--help").stdout.split())
        for option in ("--missing-text", "--separator", "--decimal", "--encoding"):
            assert option in text
        shown = text.replace("│", "")
        assert "#N/A,#N/AN/A,#NA" in shown
        assert "n/a,nan,null." in shown
        for default in ("Default:thecomma", "Default:thepoint", "Default:utf-8"):
            assert default in shown


# ---------------------------------------------------------------------------------------------
# Text among numbers
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "example"),
    [
        (["0.2", "<0.1", "1.5", "2"], "'<0.1'"),
        (["61", "70", "> 90", "55"], "'> 90'"),
        ([*map(str, range(20)), "unknown"], "'unknown'"),
        ([0.2, 1.5, "<0.1", None], "'<0.1'"),
        (["1,5", "n. b.", "2,5"], "'n. b.'"),
    ],
)
def test_text_among_numbers_is_named(values, example, tmp_path):
    row = values.index(example[1:-1])
    message = rf"\(1 of {len(values)} rows, first {example} at row {row}\)"
    y = [k % 2 for k in range(len(values))]
    with pytest.raises(ValueError, match=message):
        TrainingData({"trop": values}, y)
    for options in ({}, {"numeric": ["trop"]}, {"thresholds": {"trop": [1]}}):
        with pytest.raises(ValueError, match=message) as caught:
            ItemEncoder(missing="indicator", **options).fit({"trop": values})
        assert "categor" not in str(caught.value).split("among numbers", 1)[1]
    path = tmp_path / "a.csv"
    text = ["" if one is None else f'"{one}"' for one in values]
    path.write_text("trop,y\n" + "".join(f"{a},{b}\n" for a, b in zip(text, y, strict=True)))
    for options in ((), ("--items",)):
        result = run("fit", path, "--outcome", "y", *options, code=2)
        assert f"first {example} at row {row}" in result.stderr
        assert f"--missing-text {shlex.quote(example[1:-1])}\n" in result.stderr
        assert "such as 'trop = " not in result.stderr
        assert "add: --items" not in result.stderr


@pytest.mark.parametrize(
    "values", [["0", "1", "2", "3+"], ["1", "2", "other"], ["a", "b", "1.5"], ["1-2", "3-4", "5"]]
)
def test_levels_that_may_be_meant_stay_levels(values):
    encoder = ItemEncoder().fit({"children": values})
    assert set(encoder.variables_["children"].levels) == set(values)


def test_text_among_numbers_can_be_levels_where_that_is_said():
    values = ["0.2", "<0.1", "1.5"]
    encoder = ItemEncoder(categorical=["trop"]).fit({"trop": values})
    assert set(encoder.variables_["trop"].levels) == set(values)


def test_numbers_with_decimal_commas_are_no_levels(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('dose,y\n"1,5",0\n"2,5",1\n"0,5",0\n')
    result = run("fit", path, "--outcome", "y", code=2)
    assert "with decimal commas are read with --decimal ," in result.stderr
    assert "dose = " not in result.stderr
