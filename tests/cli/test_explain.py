"""``riskslim explain``: what it prints and writes is what :meth:`RiskScore.explain` says."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command_line import run, usage_error
from riskslim import RiskScore
from riskslim.items import read_items

POINTS = {"age >= 60": 3, "age >= 40": 1, "sex = male": 1, "smoker": -2}


@pytest.fixture
def rows(tmp_path, monkeypatch) -> pd.DataFrame:
    monkeypatch.chdir(tmp_path)
    score = RiskScore(-3, POINTS, outcome_name="died", items=read_items(POINTS))
    score.save("s.json")
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({
        "patient": [f"{k:03}" for k in range(120)],
        "age": rng.integers(20, 90, 120),
        "sex": rng.choice(["male", "female"], 120),
        "smoker": rng.integers(0, 2, 120),
    })  # fmt: skip
    rows[:60].to_csv("a.csv", index=False)
    rows[60:].to_csv("b.csv", index=False)
    return rows


def explained(rows: pd.DataFrame, *places: int, **options) -> list:
    score = RiskScore.load("s.json")
    return [score.explain(score.with_items(rows.iloc[[k]]), **options) for k in places]


def test_rows_are_printed_as_python_explains_them(rows):
    one, other = explained(rows, 3, 7)
    assert run("explain", "s.json", "a.csv", "--row", 3, "--row", 7).stdout == (
        f"Row 3\n{one}\n\nRow 7\n{other}\n"
    )
    by_name = run("explain", "s.json", "a.csv", "b.csv", "--id", "patient", "--row", "061")
    assert by_name.stdout == f"patient = 061\n{explained(rows, 61)[0]}\n"
    average = RiskScore.load("s.json").average_points(RiskScore.load("s.json").with_items(rows))
    asked = run(
        "explain", "s.json", "a.csv", "--row", 3, "--fixed", "age", "--threshold", 2,
        "--average-of", "a.csv", "--average-of", "b.csv",
    )  # fmt: skip
    (one,) = explained(rows, 3, fixed=["age"], threshold=2, average=average)
    assert asked.stdout == f"Row 3\n{one}\n"
    shown = run("explain", "s.json", "a.csv", "--row", 3, "--by", "variable", "--points",
                "non-negative").stdout  # fmt: skip
    assert "Points by variable:" in shown
    assert "above those of the fitted points" not in shown


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_has_a_line_for_each_row_and_item(rows, suffix):
    file = f"e.{suffix}"
    run("explain", "s.json", "a.csv", "b.csv", "--id", "patient", "--output", file)
    table = pd.read_csv(file, dtype={"patient": str}) if suffix == "csv" else pd.read_parquet(file)
    assert list(table) == [
        "patient", "score", "risk", "item", "value", "points", "reason", "cost",
    ]  # fmt: skip
    assert len(table) == len(rows) * len(POINTS)
    score = RiskScore.load("s.json")
    X = score.with_items(rows)
    each = table.groupby("patient")
    assert np.array_equal(each["score"].first(), score.score_samples(X))
    assert np.array_equal(each["risk"].first(), score.predict_proba(X)[:, 1])
    assert np.array_equal(each["points"].sum(), each["score"].first())
    for k in (0, 77):
        (one,) = explained(rows, k)
        lines = table[table["patient"] == f"{k:03}"].drop(columns="patient")
        ranked = {feature: (rank, reason.cost) for rank, reason in enumerate(one.reasons, 1)
                  for feature in reason.features}  # fmt: skip
        assert [
            (item, value, points) for item, value, points in
            lines[["item", "value", "points"]].itertuples(index=False)
        ] == [(row.item, row.value, row.points) for row in one.rows]  # fmt: skip
        assert {
            item: (reason, cost) for item, reason, cost in
            lines[["item", "reason", "cost"]].dropna().itertuples(index=False)
        } == ranked  # fmt: skip


def test_json_has_the_changes_as_well(rows):
    run("explain", "s.json", "a.csv", "--row", 5, "--average-of", "b.csv", "--output", "e.json")
    (found,) = json.loads(Path("e.json").read_text())
    score = RiskScore.load("s.json")
    average = score.average_points(score.with_items(rows[60:]))
    (one,) = explained(rows, 5, average=average)
    assert found == json.loads(json.dumps({"row": 5} | one.to_dict()))
    assert {change["change"] for change in found["changes"]} == {c.text for c in one.changes}
    assert len(found["reasons_against_average"]) == len(one.reasons_against_average)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a.csv", "--row", "60"], "a.csv has 60 rows"),
        (["a.csv", "--row", "x"], "counted from 0, got 'x'"),
        (["a.csv", "b.csv", "--row", "1"], "counts the rows of one file, but DATA are 2"),
        (["a.csv", "--id", "patient", "--row", "1", "--row", "002"], "no row has '1'"),
        (["a.csv", "--id", "risk"], "has a column of this name already"),
        (["a.csv", "--id", "patients"], "did you mean 'patient'?"),
        (["a.csv", "--output", "e.txt"], "must end in .csv, .json or .parquet"),
        (["a.csv", "--output", "a.csv"], "would replace the data"),
        (["a.csv", "--row", "0", "--fixed", "ages"], "did you mean 'age'?"),
        (["a.csv", "b.csv"], "120 rows are too many to be read"),
    ],
)
def test_what_cannot_be_explained_is_said_in_one_line(rows, arguments, words):
    assert words in usage_error("explain", "s.json", *arguments)


def test_equal_rows_share_their_explanation(rows):
    score = RiskScore.load("s.json")
    found = score.explain_rows(score.with_items(rows))
    assert [one.score for one in found] == score.score_samples(score.with_items(rows)).tolist()
    assert len({id(one) for one in found}) == len({str(one) for one in found}) < len(rows)


FORMULA = '=HYPERLINK("http://x","y")'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "output"),
    [
        (["predict", "s.json", "c.csv", "--id", "patient"], "p.csv"),
        (["explain", "s.json", "c.csv", "--id", "patient"], "e.csv"),
        (["report", "s.json", "c.csv", "--group", "ward", "-o", "r.html", "--resamples", "0"], ""),
    ],
)
def test_text_that_spreadsheets_would_compute(rows, command, output):
    """Identifiers and levels of the data that begin with = were formulas in every CSV file."""
    rows = rows[:4].assign(patient=[FORMULA, "-3", "@a", "-2+3"], died=[0, 1, 0, 1], ward=FORMULA)
    rows.to_csv("c.csv", index=False)
    command = [*command, *(["--output", output] if output else ["--metrics-output", "m.csv"])]
    cells = []
    for options in ([], ["--no-formulas"]):
        run(*command, *options)
        table = pd.read_csv(output or "m.csv", dtype=object, keep_default_na=False)
        cells.append({cell for cell in table.to_numpy().ravel() if isinstance(cell, str)})
    began = {cell for cell in cells[0] if cell[:1] in ("=", "@")}
    assert FORMULA in began
    assert {f"'{cell}" for cell in began} <= cells[1]
    assert not {cell for cell in cells[1] if cell[:1] in ("=", "@")}
    # Numbers stay numbers.
    assert {cell for cell in cells[1] if cell[:2] == "'-"} <= {"'-2+3"}


def test_rows_that_were_not_asked_for_are_not_checked(rows):
    """One row of a large table is explained, whatever is wrong with another one."""
    expected = run("explain", "s.json", "a.csv", "--row", 3).stdout
    damaged = rows[:60].astype({"age": object, "smoker": object})
    damaged.loc[9, "age"] = None
    damaged.loc[11, "smoker"] = None
    damaged.to_csv("a.csv", index=False)
    assert run("explain", "s.json", "a.csv", "--row", 3).stdout == expected
    by_name = run("explain", "s.json", "a.csv", "--id", "patient", "--row", "003").stdout
    assert by_name.partition("\n")[2] == expected.partition("\n")[2]
    assert "'smoker'" in usage_error("explain", "s.json", "a.csv", "--row", 11)
    assert "missing values" in usage_error("explain", "s.json", "a.csv")
