"""Sheets by variable: every rendering has the bands, and the risks are those by item."""

from __future__ import annotations

import re
from decimal import Decimal

import html5lib
import hypothesis.strategies as st
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt

from riskslim import RiskScore
from riskslim.data.feature_ranges import FeatureRange
from riskslim.items import Item, read_items
from riskslim.score.table import moved_rows

mpl.use("Agg")

HOSTILE = r"""<b>5 & "6"</b> | a*b*_c_ `d` [e](f) #1 50% {x}^~\y $z$ & &amp;"""


def score() -> RiskScore:
    points = {"age >= 66": 1, "age >= 71": 2, f"w = {HOSTILE}": 2, HOSTILE: -1, "visits": 1}
    ranges = {"visits": FeatureRange(0, 3, is_integer=False, unit="times")}
    items = read_items([f"w = {HOSTILE}", "age >= 66", "age >= 71"])
    return RiskScore(-3, points, feature_ranges=ranges, items=items)


def expected(sheet) -> list[list[str]]:
    rows = []
    for k, variable in enumerate(sheet.variables, start=1):
        for j, band in enumerate(variable.bands):
            name = ["", ""] if j else [f"{k}.", variable.label]
            rows.append([*name, band.condition, band.printed_points])
    return rows


def ascii_signs(text: str) -> str:
    for sign, plain in (("\u2264", "<="), ("\u2265", ">="), ("\u2212", "-"), ("\u00d7", "x")):
        text = text.replace(sign, plain)
    return text


def rows_in_html(text: str) -> list[list[str]]:
    """Rows of the first table, with nothing where a cell spans several rows."""
    table = next(html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
                 .parseFragment(text).iter("table"))  # fmt: skip
    found = []
    for body in table.iter("tbody"):
        spanned = 0
        for row in body.iter("tr"):
            cells = ["".join(cell.itertext()) for cell in row]
            if spanned:
                cells = ["", "", *cells, ""]
            else:
                spanned = int(row[0].get("rowspan"))
                assert row[1].get("scope") == "rowgroup"
                assert [cell.get("rowspan") for cell in row] == [
                    str(spanned), str(spanned), None, None, str(spanned),
                ]  # fmt: skip
            spanned -= 1
            found.append([ascii_signs(cell) for cell in cells[:4]])
        assert spanned == 0
    return found


def rows_in_markdown(text: str) -> list[list[str]]:
    root = html5lib.parseFragment(
        MarkdownIt("commonmark").enable("table").render(text), namespaceHTMLElements=False
    )
    table = next(root.iter("table"))
    rows = [["".join(cell.itertext()) for cell in row] for row in table.iter("tr")]
    assert {len(row) for row in rows} == {5}
    return [row[:4] for row in rows[1:-1]]


@pytest.mark.parametrize("points", ["fitted", "non-negative"])
def test_every_rendering_has_every_band(points):
    sheet = score().sheet(by="variable", points=points)
    assert sheet.lines == ()
    rows = expected(sheet)
    assert [row[2] for row in rows][:3] == ["< 66", "66 to < 71", ">= 71"]
    assert rows_in_html(sheet.to_html()) == rows
    assert rows_in_markdown(sheet.to_markdown()) == rows
    body = sheet.to_latex().partition(r"\toprule")[2].partition(r"\midrule")[0]
    in_latex = [
        line for line in body.splitlines() if line.endswith(r"\\") and line != r"\addlinespace"
    ]
    assert len(in_latex) == len(rows)
    for line, row in zip(in_latex, rows, strict=True):
        cells = re.split(r"(?<!\\)&", line)
        assert len(cells) == 5
        assert cells[0].strip() == row[0]
    text = str(sheet)
    for _, _, condition, worth in rows:
        start = re.escape(condition[:20])
        assert re.search(rf"\| {start}.*\| +{re.escape(worth)} \|", text), (condition, worth)
    lengths = {len(line) for line in text.partition("\n\n")[0].splitlines()[1:]}
    assert len(lengths) == 1
    drawn = [one.get_text() for one in sheet.plot().texts]
    for _, label, condition, worth in rows:
        for part in (ascii_signs(label)[:9], ascii_signs(condition)[:9], ascii_signs(worth)):
            assert any(part in ascii_signs(one) for one in drawn), part
    mpl.pyplot.close("all")


@pytest.mark.parametrize("by", ["item", "variable"])
def test_a_score_without_points(by):
    sheet = RiskScore(-2, {}).sheet(by=by, points="non-negative")
    for text in (str(sheet), sheet.to_html(), sheet.to_markdown(), sheet.to_latex()):
        assert "No feature has points" in text


def test_notes_by_variable_leave_out_what_the_bands_say():
    points = {"age >= 45": 1, "age >= 75": 1}
    stacked = RiskScore(-1, points, items=read_items(points))
    assert "add up: where" in str(stacked)
    assert "add up: where" not in str(stacked.sheet(by="variable"))
    turned = RiskScore(-1, {"age >= 45": -1, "age >= 75": 1}, items=read_items(points))
    # Of turned conditions others hold together: "age < 45" never with "age >= 75".
    assert "add up." in str(turned.sheet(points="non-negative"))
    assert "counts as well" not in str(turned.sheet(points="non-negative"))


def test_observed_risks_stay_with_their_scores():
    fitted = RiskScore(1, {"a": -2, "b": 1})
    X = {"a": [0, 0, 1, 1, 1], "b": [0, 1, 0, 1, 1]}
    y = [1, 1, 0, 1, 0]
    before, after = fitted.sheet(X, y), fitted.sheet(X, y, by="variable", points="non-negative")
    assert [int(row.score) + 2 for row in before.risks] == [int(row.score) for row in after.risks]
    for one, other in zip(before.risks, after.risks, strict=True):
        assert one[1] == other[1]
        assert one[4:] == other[4:]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-9, 9).filter(bool), min_size=1, max_size=8),
    st.integers(-8, 8),
    st.sampled_from([1, -1, 7, -29]),
    st.integers(-700, 700),
    st.sampled_from([None, 5, 7]),
    st.sampled_from([0.5, 1.0, 13.0]),
)
def test_moved_rows_are_for_the_scores_that_they_name(
    points, intercept, factor, shift, max_rows, scale
):
    fitted = RiskScore(intercept, {f"x{k}": value for k, value in enumerate(points)}, scale=scale)
    rows = fitted.risk_table(max_rows=max_rows)
    moved = moved_rows(rows, factor, shift)
    assert len(moved) == len(rows)
    back = moved if factor > 0 else moved[::-1]
    for one, other in zip(rows, back, strict=True):
        ends = sorted(factor * end + shift for end in (one.lowest, one.highest))
        assert [other.lowest, other.highest] == ends
        named = sorted(int(number) for number in re.findall(r"-?\d+", other.score))
        assert named == [end for end in dict.fromkeys(ends) if np.isfinite(end)]
        assert ("<=" in other.score, ">=" in other.score) == (
            np.isneginf(ends[0]), np.isposinf(ends[1]),
        )  # fmt: skip
        assert sorted(one.risk.split(" to ")) == sorted(other.risk.split(" to "))
    assert moved_rows(moved, 1, 0) == moved


def test_moved_rows_of_real_scores():
    ranges = {"dose": FeatureRange(0, 3.5, is_integer=False)}
    fitted = RiskScore(-3, {"dose": 2, "old": -1}, feature_ranges=ranges)
    rows, sheet = fitted.risk_table(), fitted.sheet(points="non-negative")
    assert [Decimal(row.score) + 1 for row in rows] == [Decimal(row.score) for row in sheet.risks]
    assert [row.risk for row in rows] == [row.risk for row in sheet.risks]


@pytest.mark.parametrize("by", ["item", "variable"])
def test_line_breaks_and_signs_break_no_rendering(by):
    """Control characters are blanks in every form; other signs stay what they are."""
    texts = []
    for end in ("\n\t", "  "):
        name = f"<b>|_%\u2265{end}x"
        items = [Item(f"{name} >= 5", name, ">=", 5), Item(f"{name} = 9", name, "=", 9)]
        points = {items[0].name: -2, items[1].name: 3, f"other{end}{name}": 1}
        fitted = RiskScore(-1, points, items={one.name: one for one in items})
        fitted = fitted.with_labels({name: {"levels": {"9": f"never{end}</td>"}}})
        fitted = fitted.with_layout(by=by, points="non-negative")
        sheet = fitted.sheet()
        explained = str(fitted.explain(dict.fromkeys(points, 0)))
        texts.append(
            [str(sheet), sheet.to_markdown(), sheet.to_html(), sheet.to_latex(), explained]
        )
        drawn = sheet.plot()
        drawn.figure.canvas.draw()
        plt.close(drawn.figure)
    assert texts[0] == texts[1]
    assert "\u2265" in texts[0][0]
    assert "<b>" not in texts[0][2]
