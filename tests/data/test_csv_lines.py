"""Lines of CSV files: long ones, the one that says the separator, those that are no rows."""

from __future__ import annotations

import gzip

import pandas as pd
import pytest

from command_line import run, usage_error
from riskslim import CsvFormat, ItemEncoder, RiskScore, TrainingData, read
from riskslim.data.files import read_table

HEADER = "age,b,y\n"
ROWS = "".join(f"{20 + k % 60},{k % 3},{k % 60 > 30:d}\n" for k in range(300))


def _written(folder, text, encoding="utf-8"):
    """One file, and a folder with two of which one is packed; how often they have the rows."""
    (folder / "parts").mkdir()
    octets = text.encode(encoding)
    for path in (folder / "one.csv", folder / "parts" / "b.csv"):
        path.write_bytes(octets)
    (folder / "parts" / "a.csv.gz").write_bytes(gzip.compress(octets))
    return (folder / "one.csv", 1), (folder / "parts", 2)


@pytest.mark.slow
@pytest.mark.parametrize("length", [1_300_000, 5_000_000])
def test_long_headers_and_cells(length, tmp_path):
    long = "z" * length
    sources = _written(
        tmp_path, f"age,b,y,{long}\n{ROWS}".replace("\n", ",1\n").replace(",1\n", "\n", 1)
    )
    for path, times in sources:
        data = read(path, "y", exclude=[long])
        assert (data.n_samples, data.feature_names) == (300 * times, ("age", "b"))
    (tmp_path / "cells").mkdir()
    rows = ROWS.replace("\n", ",x\n")
    text = f"age,b,y,note\n{rows}30,1,1,{long}\n31,1,1,{2 * long}\n{rows}"
    for path, times in _written(tmp_path / "cells", text):
        assert read(path, "y", exclude=["note"]).n_samples == 602 * times
    assert read_table(tmp_path / "cells" / "one.csv").num_rows == 602


@pytest.mark.parametrize(("line", "separator", "encoding"), [
    ("sep=;\n", ";", "utf-8"), ("sep=;\r\n", ";", "utf-8"), ('"sep=;"\n', ";", "utf-8"),
    ("\ufeffSEP=;\n", ";", "utf-8"), ("sep=\t\n", "\t", "utf-8"), ("sep=;;;\n", ";", "utf-8"),
    ("sep=,\n", ",", "utf-8"), ("sep=;\n", ";", "utf-16"),
])  # fmt: skip
def test_the_first_line_may_say_the_separator(line, separator, encoding, tmp_path):
    text = line + (HEADER + ROWS).replace(",", separator)
    given = None if encoding == "utf-8" else CsvFormat(encoding=encoding)
    expected = CsvFormat(separator=separator, encoding=encoding)
    for path, times in _written(tmp_path, text, encoding):
        data = read(path, "y", csv_format=given)
        assert (data.n_samples, data.feature_names) == (300 * times, ("age", "b"))
        assert data.csv_format == expected  # others of the same origin may lack the line
    assert read_table(tmp_path / "one.csv", given).column_names == ["age", "b", "y"]


def test_a_separator_that_is_the_decimal_mark(tmp_path):
    for path, _ in _written(tmp_path, "sep=,\n" + HEADER + ROWS):
        with pytest.raises(ValueError, match=r"(one|a|b)\.csv.*first line says.*cannot be both"):
            read(path, "y", csv_format=CsvFormat(separator=";", decimal=","))


@pytest.mark.parametrize(("text", "expected"), [
    (f"# made in 2024\n{HEADER}{ROWS}",
     "line 2 has 3 columns, 'age,b,y', but the header has 1, '# made in 2024'"),
    (f"{HEADER}{ROWS}# a note\n{ROWS}",
     "line 302 has 1 column, '# a note', but the header has 3, 'age,b,y'"),
    (f"{HEADER}{ROWS}Total: 300 rows\n", "line 302 has 1 column, 'Total: 300 rows', but the"),
    (f"{HEADER}{ROWS}\n\nSource, x\n", "line 304 has 2 columns, 'Source, x', but the header"),
    (f"sep=,\n{HEADER}{ROWS}footer\n", "line 303 has 1 column, 'footer', but the header has 3"),
    (f"{HEADER}{ROWS}" + "long " * 99, "line 302 has 1 column, 'long long "),
    ("", "it is empty, without a header"), ("\n\n", "it is empty, without a header"),
    (HEADER, "has no rows"),
])  # fmt: skip
def test_lines_that_are_no_rows_are_named(text, expected, tmp_path):
    for path, _ in _written(tmp_path, text):
        with pytest.raises(ValueError, match=r"(one|a|b)\.csv") as error:
            read(path, "y", items=ItemEncoder())
        assert expected in str(error.value)
        assert "another separator" not in str(error.value)


def test_another_separator_is_thought_of(tmp_path):
    for path, _ in _written(tmp_path, "age;b;y\n1,5;2;0\n"):
        with pytest.raises(ValueError, match=r"line 2 has 2 columns.*separator than ','\?"):
            read(path, "y")


@pytest.mark.parametrize("header", [
    "a,a ,y", "a,b,y , y", "\u00a0a,b,a,y", "a b,a  b,y", "a b,c,a\u00a0b,y", "a b,\ta\tb,c,y",
])  # fmt: skip
def test_names_that_differ_in_blanks_alone_are_refused(header, tmp_path):
    names = header.split(",")
    rows = pd.DataFrame([[k % 5 + j for j in range(len(names))] for k in range(40)], columns=names)
    outcome = next(name for name in names if name.strip() == "y")
    rows[outcome] = [0, 1] * 20
    for path, _ in _written(tmp_path, rows.to_csv(index=False)):
        with pytest.raises(
            ValueError, match=r"columns '.*' and '.*', whose names differ in blanks"
        ):
            read(path, outcome)
        plain = {"a", "b", "c", "a b"}
        left_out = next(one for one in names if one != outcome and one not in plain)
        assert read(path, outcome, exclude=[left_out]).n_features == len(names) - 2
    features = rows.drop(columns=outcome) if header.count("y") == 1 else rows
    for call in (
        lambda: TrainingData(features, rows[outcome]),
        lambda: ItemEncoder().fit(features),
    ):
        with pytest.raises(ValueError, match="differ in blanks alone"):
            call()


def test_scores_are_applied_to_files_with_such_lines(tmp_path):
    text = ("sep=;\n" + HEADER + ROWS).replace(",", ";")
    (path, _), _ = _written(tmp_path, text)
    score = RiskScore(-1, {"age": 1})
    assert score.score_samples(read_table(path)).shape == (300,)


def test_a_separator_that_a_score_remembers_is_asked_about(tmp_path, monkeypatch):
    """A file with commas has one column for a score that was fitted to a file with sep=;."""
    monkeypatch.chdir(tmp_path)
    rows = pd.DataFrame({"age": [30, 70] * 20, "died": [0, 1, 1, 1] * 10})
    (tmp_path / "semicolons.csv").write_text("sep=;\n" + rows.to_csv(index=False, sep=";"))
    rows.to_csv("commas.csv", index=False)
    fit = ["fit", "semicolons.csv", "--outcome", "died", "--items", "--quiet", "--max-size", 1]
    run(*fit, "--output", "s.json")
    for command in ("predict", "validate"):
        message = usage_error(command, "s.json", "commas.csv")
        assert "Its 1 columns are 'age,died'. Is its separator ','?" in message
        assert "--separator" in message
        assert "--rename" not in message
    assert run("predict", "s.json", "commas.csv", "--separator", ",").stdout
