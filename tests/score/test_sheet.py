"""Score sheets: every rendering says what the sheet says, and the sheet what is predicted.

``pytest tests/score/test_sheet.py --write-golden`` writes the golden files anew; look at the
difference.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import re
import shutil
import subprocess
import sys

import html5lib
import hypothesis.strategies as st
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from markdown_it import MarkdownIt

from paths import GOLDEN
from riskslim import Certificate, RiskScore, Status
from riskslim._wording import percent
from riskslim.data.feature_ranges import FeatureRange
from riskslim.items import read_items
from riskslim.items.variables import RawVariable
from riskslim.score.typesetting import wrapped

mpl.use("Agg")

HOSTILE = r"""<b>5 & "6"</b> | a*b*_c_ `d` [e](f) #1 50% {x}^~\y $z$ a--b & &amp;"""
LONG = "any pattern with a frequency above 2 Hz that is seen at least twice within an hour"


def plain() -> RiskScore:
    points = {
        "brief rhythmic discharges": 2,
        "patterns include LPD": 2,
        "prior seizure": 1,
        "epileptiform discharges": 1,
    }
    return RiskScore(-3, points, outcome_name="seizure", classes=("no", "yes"))


def observed():
    ranges = {"frequency": FeatureRange(0, 3, is_integer=False, unit="Hz")}
    ranges["age group"] = FeatureRange(-1, 2)
    certificate = Certificate(
        Status.FEASIBLE, 0.4, 0.3999, 4, 0.38, 0.0, 1e-12, "example 1.0", 961, "time limit reached"
    )
    points = {HOSTILE: -2, "frequency": 3, LONG: 1, "age group": 2}
    score = RiskScore(
        -9,
        points,
        outcome_name="seizure & more",
        feature_ranges=ranges,
        certificate=dataclasses.replace(certificate, scale=2.5, scales=scales(2.5)),
        scale=2.5,
    )
    rng = np.random.default_rng(7)
    X = pd.DataFrame(
        {
            HOSTILE: rng.integers(0, 2, 400),
            "frequency": rng.uniform(0, 3, 400).round(1),
            LONG: rng.integers(0, 2, 400),
            "age group": rng.integers(-1, 3, 400),
        }
    )
    y = (rng.random(400) < score.predict_proba(X)[:, 1]).astype(int)
    return score, X, y


def scales(value: float):
    from riskslim.scale import ScaleSet

    return ScaleSet.of(value)


def grouped() -> RiskScore:
    return RiskScore(
        -60, {f"item {k}": k % 7 + 1 for k in range(24)}, scale=7, outcome_name="death"
    )


def of_raw_columns() -> RiskScore:
    """Values were missing in two columns: one has two conditions besides, the other has one."""
    known = [
        RawVariable("creatinine", "numeric", 0.3, 5.1, n_missing=223, n_samples=1800),
        RawVariable(HOSTILE, "categorical", levels=("a", "b & c"), n_missing=1, n_samples=1800),
        RawVariable("smoker", "boolean", n_samples=1800),
    ]
    points = {"creatinine >= 1.2": 1, "creatinine >= 2": 3, "creatinine is missing": 1}
    return RiskScore(
        -4,
        {**points, f"{HOSTILE} = b & c": -2, "smoker": 1},
        variables={one.name: one for one in known},
    )


def stacked() -> RiskScore:
    cutoffs = {"age >= 45": 5, "age >= 75": 5, "age >= 60": 2}
    others = {"lactate > 2": 3, "lactate <= 4": 1, "sex = male": 1, "sex = female": -1}
    points = cutoffs | others
    return RiskScore(-8, points, scale=2, outcome_name="death", items=read_items(points))


def sheets():
    score, X, y = observed()
    return {
        "plain": plain().sheet(),
        "five_percent": plain().sheet(extreme=0.05),
        "observed": score.sheet(X, y, np.where(y == 1, 2.0, 1.0), max_rows=12),
        "grouped": grouped().sheet(max_rows=15),
        "stacked": stacked().sheet(),
        "empty": RiskScore(-2, {}).sheet(),
        "raw_columns": of_raw_columns().sheet(),
    }


RENDERED = {
    "txt": lambda sheet: f"{sheet}\n",
    "md": lambda sheet: sheet.to_markdown(),
    "html": lambda sheet: sheet.to_html(),
    "tex": lambda sheet: sheet.to_latex(),
}


@pytest.mark.parametrize("suffix", RENDERED)
@pytest.mark.parametrize("name", sheets())
def test_golden(name, suffix, pytestconfig):
    rendered, path = RENDERED[suffix](sheets()[name]), GOLDEN / f"score_sheet_{name}.{suffix}"
    if pytestconfig.getoption("write_golden"):
        path.write_text(rendered, encoding="utf-8")
    assert rendered == path.read_text(encoding="utf-8")


def test_sheets_say_that_points_of_several_cutoffs_add_up():
    start = "Points of several conditions on"
    notes = [note for note in stacked().sheet().notes if note.startswith(start)]
    assert notes == [
        f"{start} age add up: where age >= 75 holds, age >= 45 and age >= 60 count as well.",
        f"{start} lactate add up: lactate > 2 and lactate <= 4 can hold together, and then both "
        "count.",
    ]
    # Nobody can have the points of several of these; a number is no condition.
    sexes = {"sex = male": 1, "sex = female": 2, "sex is missing": 1, "smoker": 1}
    assert start not in str(RiskScore(0, sexes, items=read_items(sexes)))
    ranges = {"age": FeatureRange(18, 90)}
    points = {"age": 1, "age >= 60": 2}
    assert start not in str(RiskScore(0, points, feature_ranges=ranges, items=read_items(points)))


def test_html_tables_are_folded_to_the_width_of_a_page():
    for sheet in (grouped().sheet(), stacked().sheet()):
        tables = html_tables(sheet.to_html())[1:]
        assert len(tables) > 1
        assert len({len(table[0]) for table in tables[:-1]}) == 1
        # Characters of 0.62 em and a padding of 0.8 em in each cell: 43 em are 18.2 cm of A4.
        widest = max(len(cell) for table in tables for row in table for cell in row[1:])
        assert len(tables[0][0][1:]) * (0.62 * widest + 0.8) + 0.62 * len("Score") + 0.8 <= 43
        count = len(tables)
        captions = re.findall(r"<caption[^>]*>(Risk of.*?)</caption>", sheet.to_html())
        captions = [re.sub("<.*?>", "", caption) for caption in captions]
        assert captions == [f"Risk of each score, {k + 1} of {count}" for k in range(count)]


def test_methods_of_the_score_render_its_sheet():
    score, sheet = plain(), plain().sheet()
    assert score.to_markdown() == sheet.to_markdown()
    assert score.to_html() == score._repr_html_() == sheet._repr_html_() == sheet.to_html()
    assert score.to_latex() == sheet.to_latex()
    assert str(score) == str(sheet)


# --- what a reader of each rendering finds --------------------------------------------------------


def ascii_signs(text: str) -> str:
    for sign, plain in (("\u2264", "<="), ("\u2265", ">="), ("\u2212", "-"), ("\u00d7", "x")):
        text = text.replace(sign, plain)
    return text


def html_tables(text: str) -> list[list[list[str]]]:
    """Cells of each table, row by row; errors of syntax raise."""
    root = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parseFragment(text)
    found = []
    for table in root.iter("table"):
        assert table[0].tag == "caption"
        assert table[0].text
        assert all(cell.get("scope") in ("row", "col") for cell in table.iter("th"))
        rows = [["".join(cell.itertext()).strip() for cell in row] for row in table.iter("tr")]
        assert len(set(map(len, rows))) == 1
        assert all(sum(cell.tag == "th" for cell in row) >= 1 for row in table.iter("tr"))
        found.append(rows)
    return found


def markdown_tables(text: str) -> list[list[list[str]]]:
    found, is_cell = [], False
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type == "inline" and is_cell:
            kinds = {child.type for child in token.children}
            assert kinds <= {"text", "strong_open", "strong_close", "text_special"}, token.content
            found[-1][-1].append("".join(child.content for child in token.children))
        is_cell = token.type in ("th_open", "td_open")
    return found


LATEX = {
    r"\textbackslash{}": "\\", r"\textasciicircum{}": "^", r"\textasciitilde{}": "~",
    r"\textless{}": "<", r"\textgreater{}": ">", r"\textbar{}": "|", r"\textasciigrave{}": "`",
    r"$\leq$": "<=", r"$\geq$": ">=", "$-$": "-", r"$\times$": "x", "-{}-": "--",
    r"\bfseries ": "",
}  # fmt: skip


def latex_tables(text: str) -> list[list[list[str]]]:
    found = []
    for body in re.findall(r"\\begin\{tabular\}(.*?)\\end\{tabular\}", text, re.S):
        rows = [line[:-2].strip() for line in body.splitlines() if line.endswith(r"\\")]
        cells = [re.split(r"(?<!\\)&", row) for row in rows]
        found.append([[latex_text(cell.strip()) for cell in row] for row in cells])
    return found


def latex_text(text: str) -> str:
    for command, character in LATEX.items():
        text = text.replace(command, character)
    return re.sub(r"\\([{}$&#%_])", r"\1", text)


def text_risks(text: str) -> list[list[str]]:
    columns: list[list[str]] = []
    block: list[list[str]] = []
    is_risks = False
    for line in [*text.splitlines(), ""]:
        is_risks = is_risks or line.startswith("| SCORE")
        if is_risks and line.startswith("| "):
            block.append([cell.strip() for cell in line.strip("|").split("|")[1:]])
        elif block:
            columns += zip(*block, strict=True)
            block = []
    return [list(row) for row in zip(*columns, strict=True)]


def risks_everywhere(sheet) -> dict[str, list[list[str]]]:
    """Lines of the risk table as a reader of each rendering finds them."""
    in_html = html_tables(sheet.to_html())[1 if sheet.lines else 0 :]
    in_markdown = markdown_tables(sheet.to_markdown())[-1]
    blocks = latex_tables(sheet.to_latex())[1 if sheet.lines else 0 :]
    return {
        "text": text_risks(str(sheet)),
        "html": [
            [ascii_signs(cell) for block in in_html for cell in block[k][1:]]
            for k in range(len(in_html[0]))
        ],
        "markdown": [list(column) for column in zip(*in_markdown[1:], strict=True)],
        "latex": [
            [cell for block in blocks for cell in block[k][1:]] for k in range(len(blocks[0]))
        ],
    }


@pytest.mark.parametrize("name", sheets())
def test_all_renderings_have_the_same_tables(name):
    sheet = sheets()[name]
    expected = [list(cells) for _, cells in sheet.risk_lines]
    for kind, found in risks_everywhere(sheet).items():
        assert found == expected, kind
    if not sheet.lines:
        return
    items = [(line.label, line.worth) for line in sheet.lines]
    in_html = html_tables(sheet.to_html())[0][1:-1]
    assert [(row[1], ascii_signs(row[2])) for row in in_html] == items
    assert [tuple(row[1:3]) for row in markdown_tables(sheet.to_markdown())[0][1:-1]] == items
    assert [tuple(row[1:3]) for row in latex_tables(sheet.to_latex())[0][1:-1]] == items
    for line in sheet.lines:
        first = line.label.split()[0]
        assert re.search(rf"^\| +\d+\. {re.escape(first)}", str(sheet), re.M)


NAMES = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Zs", "Cf", "Cn", "Co"])
    | st.sampled_from(" <>&|*_`[]\\$#{}^~%\"'-!&;()."),
    min_size=1,
).filter(str.strip)


@given(NAMES)
@example(HOSTILE)
@example("![x](y) ![][]")
@example("</th><script>")
def test_names_are_never_markup(name):
    sheet = RiskScore(-1, {name: 1}).sheet()
    shown = " ".join(name.split())
    assert " ".join(html_tables(sheet.to_html())[0][1][1].split()) == shown
    assert " ".join(markdown_tables(sheet.to_markdown())[0][1][1].split()) == shown
    assert " ".join(latex_tables(sheet.to_latex())[0][1][1].split()) == ascii_signs(shown)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("name", [*sheets(), "long title"])
def test_latex_compiles(name, tmp_path):
    known = {**sheets(), "long title": dataclasses.replace(plain(), outcome_name=LONG * 2).sheet()}
    document = (
        "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{booktabs}\n"
        f"\\begin{{document}}\n{known[name].to_latex()}\\end{{document}}\n"
    )
    (tmp_path / "sheet.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "sheet.tex"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    assert "Overfull" not in run.stdout


@pytest.mark.parametrize("label", ["yes ", "no\n", "yes.", "*", "\u2003"])
def test_titles_in_markdown_are_strong(label):
    text = dataclasses.replace(plain(), classes=("other", label)).to_markdown()
    root = html5lib.parseFragment(MarkdownIt().render(text), namespaceHTMLElements=False)
    strong = next(root.iter("strong"))
    assert " ".join("".join(strong.itertext()).split()).startswith("Risk score: probability that")


def test_wide_and_combining_characters_keep_the_frame_straight():
    ideographs, hertz = "\u5e74\u9f62", "\u30d8\u30eb\u30c4"
    score = RiskScore(
        -3,
        {f"{ideographs} >= 60": 2, "e\u0301tude": 1, "rate": 1},
        feature_ranges={"rate": FeatureRange(0, 3, unit=hertz)},
    )
    # An ideograph takes two columns, a combining accent none.
    assert str(score).splitlines()[1:6] == [
        "+-------------------------+----------------------+-------+",
        f"| 1. {ideographs} >= 60           |   2 points           |   ... |",
        "| 2. e\u0301tude                |   1 point            | + ... |",
        f"| 3. rate [0 to 3 {hertz}] | x 1 point per {hertz} | + ... |",
        "+-------------------------+----------------------+-------+",
    ]


# --- risks ----------------------------------------------------------------------------------------


def features(*, whole: bool):
    points = st.integers(-9, 9).filter(bool)
    if whole:
        few = st.lists(st.integers(-12, 12), min_size=1, max_size=6, unique=True).map(sorted)
        return st.lists(st.tuples(points, few), min_size=1, max_size=4)
    reals = st.lists(st.floats(-40, 40, allow_subnormal=False), min_size=2, max_size=6)
    return st.lists(st.tuples(points, reals.map(sorted)), min_size=1, max_size=3)


def score_of(intercept, scale, columns, *, whole) -> RiskScore:
    ranges = {
        f"f{j}": FeatureRange(
            values[0], values[-1], is_integer=whole, values=tuple(values) if whole else None
        )
        for j, (_, values) in enumerate(columns)
    }
    points = {f"f{j}": points for j, (points, _) in enumerate(columns)}
    return RiskScore(intercept, points, feature_ranges=ranges, scale=scale)


def rows_of(columns) -> dict[str, np.ndarray]:
    rows = np.array(list(itertools.islice(itertools.product(*(v for _, v in columns)), 300)))
    return {f"f{j}": rows[:, j] for j in range(len(columns))}


def bounds(printed: str, extreme: float) -> tuple[float, float]:
    """Between what a printed risk says that the risk is, up to half a unit of the last place."""
    low, high = 0.0, 1.0
    half = 10 ** -(max(math.ceil(-math.log10(extreme)) - 2, 1) + 2) / 2 * 1.0001
    ends = printed.split(" to ")
    for end, at_low in ((ends[0], True), (ends[-1], False)):
        number = float(end.strip("<>%")) / 100
        if at_low:
            low = 0.0 if end.startswith("<") else number - half
        else:
            high = 1.0 if end.startswith(">") else number + half
    return low, high


@settings(max_examples=75)
@given(
    st.data(), st.booleans(), st.sampled_from([0.001, 0.05, 1e-5]), st.none() | st.integers(5, 40)
)
def test_observed_risks_are_counted_and_predicted_risks_are_printed(data, whole, extreme, max_rows):
    columns = data.draw(features(whole=whole))
    score = score_of(
        data.draw(st.integers(-60, 60)),
        data.draw(st.just(1.0) | st.floats(0.1, 30)),
        columns,
        whole=whole,
    )
    X = rows_of(columns)
    n = len(X["f0"])
    rng = np.random.default_rng(n)
    y, weights = rng.integers(0, 2, n), rng.integers(0, 4, n) / 4
    weights[0] = 1
    table = score.risk_table(X, y, weights, extreme=extreme, max_rows=max_rows)
    assert max_rows is None or len(table) <= max_rows
    totals, risks = score.score_samples(X), score.predict_proba(X)[:, 1]
    seen = np.zeros(n, dtype=int)
    for row in table:
        here = (row.lowest <= totals) & (totals <= row.highest) & (weights > 0)
        seen += here
        assert (row.n_samples, row.n_positive) == (here.sum(), y[here].sum())
        if weights[here].sum() > 0:
            assert row.observed == pytest.approx(np.average(y[here], weights=weights[here]))
        else:
            assert row.observed is None
        low, high = bounds(row.risk, extreme)
        assert np.all((low <= risks[here]) & (risks[here] <= high)), row
        if row.lowest == row.highest and here.any():
            assert row.risk == percent(risks[here][0], extreme)
    assert (seen == (weights > 0)).all()  # rows of weight 0 do not count


@settings(max_examples=60)
@given(st.integers(-40, 40), st.just(1.0) | st.floats(0.1, 30), features(whole=True))
def test_renderings_print_what_predict_proba_says(intercept, scale, columns):
    score = score_of(intercept, scale, columns, whole=True)
    X = rows_of(columns)
    totals, risks = score.score_samples(X), score.predict_proba(X)[:, 1]
    for kind, (labels, printed, *_) in risks_everywhere(score.sheet(max_rows=None)).items():
        shown = dict(zip(labels, printed, strict=True))
        for total, risk in zip(totals.tolist(), risks.tolist(), strict=True):
            (label,) = (one for one in shown if covers(one, total))
            assert shown[label] == percent(risk, 0.001), kind


def covers(label: str, total: float) -> bool:
    if label.startswith(("<= ", ">= ")):
        end = float(label[3:])
        return total <= end if label[0] == "<" else total >= end
    low, _, high = label.partition(" to ")
    return float(low) <= total <= float(high or low)


@pytest.mark.parametrize("max_rows", [5, 6, 9, 15, 30, 200])
def test_groups_cover_every_score_once(max_rows):
    score = grouped()
    table = score.risk_table(max_rows=max_rows)
    assert len(table) <= max_rows
    assert len(table) >= max_rows / 2 or max_rows > 50
    for row in score.risk_table():
        (entry,) = (one for one in table if one.lowest <= row.lowest and row.highest <= one.highest)
        low, high = bounds(entry.risk, 0.001)
        assert low <= bounds(row.risk, 0.001)[1]
        assert bounds(row.risk, 0.001)[0] <= high


def test_groups_as_printed():
    shown = [(row.score, row.risk) for row in plain().risk_table(extreme=0.06, max_rows=5)]
    assert shown[0] == ("0 to 1", "<6% to 11.9%")
    assert [score for score, _ in shown] == ["0 to 1", "2 to 3", "4 to 5", "6"]
    ends = [(row.score, row.risk) for row in grouped().risk_table(extreme=0.05, max_rows=8)]
    assert ends[0] == ("<= 39", "<5%")
    assert ends[-1] == (">= 81", ">95%")


@pytest.mark.filterwarnings("ignore::riskslim.exceptions.ExtrapolationWarning")
def test_scores_beyond_the_training_range_have_entries():
    score = RiskScore(-3, {"a": 2}, feature_ranges={"a": FeatureRange(0, 2)})
    table = score.risk_table({"a": [0, 9, 2]}, [0, 1, 1])
    assert [(row.score, row.n_positive, row.n_samples) for row in table] == [
        ("<= -1", 0, 0), ("0", 0, 1), ("1", 0, 0), ("2", 0, 0), ("3", 0, 0), ("4", 1, 1),
        ("5", 0, 0), ("6", 0, 0), ("7", 0, 0), ("8", 0, 0), ("9", 0, 0), (">= 10", 1, 1),
    ][1:]  # fmt: skip
    real = score.risk_table({"a": [0.25, 9, 2]}, [0, 1, 1])
    assert sum(row.n_samples for row in real) == 3
    assert real[-1].highest == math.inf


def test_labels_are_those_of_the_classes():
    X = {name: [0, 1, 1] for name in plain().points}
    table = plain().risk_table(X, pd.Series(["no", "yes", "no"]))
    assert [(row.n_positive, row.n_samples) for row in table] == [(0, 1), *[(0, 0)] * 5, (1, 2)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": [[1, 0]]}, "y is None, but rows and labels are needed"),
        ({"y": [1]}, "X is None, but rows and labels are needed"),
        ({"sample_weight": [1]}, "X is None"),
        ({"X": [[1, 0]], "y": [0, 1]}, r"inconsistent numbers of samples: \[1, 2\]"),
        (
            {"X": [[1, 0]] * 3, "y": [0, 2, 2]},
            "neither 0 nor 1.* in 2 of 3 rows, first 2 at row 1",
        ),
        (
            {"X": [[1, 0]], "y": [1], "sample_weight": [-1]},
            "Negative values in data passed to `sam",
        ),
        ({"X": [[1, 0]], "y": [1], "sample_weight": [1, 1]}, "inconsistent numbers of samples"),
        ({"X": [[1, 0]], "y": [[1, 0]]}, "y should be a 1d array"),
        ({"X": np.empty((0, 2)), "y": []}, "0 sample"),
        ({"extreme": 0.5}, "extreme must be a risk from 1e-09 on and below 0.5, got 0.5"),
        ({"extreme": 0}, "extreme must be a risk"),
        ({"extreme": math.nan}, "extreme must be finite"),
        ({"max_rows": 4}, "max_rows must be at least 5 or None, got 4"),
    ],
)
def test_bad_requests(arguments, message):
    score = RiskScore(-1, {"a": 1, "b": 1})
    with pytest.raises(ValueError, match=message):
        score.risk_table(**arguments)
    with pytest.raises(ValueError, match=message):
        score.sheet(**arguments)


def test_large_steps_of_integers_are_said_to_skip_scores():
    score = RiskScore(-30, {"a": 3}, feature_ranges={"a": FeatureRange(-3000, 15841)}, scale=50)
    assert "The table shows some of the scores" in str(score)
    X = {"a": np.arange(-3000, 15842, 7)}
    sheet = score.sheet(X, np.arange(2692) % 2)
    assert "The table shows some of the scores" not in str(sheet)
    assert all(row.lowest <= row.highest for row in sheet.risks)
    assert sum(row.n_samples for row in sheet.risks) == 2692


# --- units ----------------------------------------------------------------------------------------


def test_units_are_printed_and_kept(tmp_path):
    score = RiskScore(
        -3,
        {"frequency": -2, "LPD": 1, "visits": 1},
        feature_ranges={
            "frequency": FeatureRange(0, 3, is_integer=False),
            "visits": FeatureRange(0, 7),
        },
        feature_names=["visits", "frequency", "LPD", "unused"],
    )
    named = score.with_units({"frequency": "Hz", "unused": "kg"})
    assert str(named).splitlines()[2:5] == [
        "| 1. visits [0 to 7]       |    1 point x value |   ... |",
        "| 2. LPD                   |    1 point         | + ... |",
        "| 3. frequency [0 to 3 Hz] | x -2 points per Hz | + ... |",
    ]
    assert named != score
    assert named.with_units({"frequency": None}) == score
    named.save(tmp_path / "score.json")
    assert RiskScore.load(tmp_path / "score.json") == named
    plain, before = json.loads(named.to_json()), json.loads(score.to_json())
    # A reader that knows no units reads the same score: the version stays.
    assert plain["version"] == before["version"] == 1
    assert [entry.pop("unit", None) for entry in plain["points"]] == [None, None, "Hz"]
    assert plain == before


@pytest.mark.parametrize(
    ("units", "exception", "message"),
    [
        ({"speed": "Hz"}, ValueError, "units names features that are not among feature_names"),
        ({"a": "Hz"}, ValueError, r"units\['a'\]: a feature that is 0 or 1 has no unit, got 'Hz'"),
        ({"b": " "}, ValueError, r"units\['b'\]: unit must not be empty"),
        ({"b": 3}, TypeError, r"units\['b'\]: unit must be a str or None, got 3"),
    ],
)
def test_units_are_checked(units, exception, message):
    score = RiskScore(-1, {"a": 1, "b": 1}, feature_ranges={"b": FeatureRange(0, 9)})
    with pytest.raises(exception, match=message):
        score.with_units(units)


def test_units_in_files_are_checked():
    score = RiskScore(-1, {"b": 1}, feature_ranges={"b": FeatureRange(0, 9, unit="kg")})
    text = score.to_json().replace('"kg"', "7")
    with pytest.raises(
        ValueError, match="entry 0 of 'points', 'b': unit must be a str or None, got 7"
    ):
        RiskScore.from_json(text)


# --- the picture ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sheets())
def test_the_picture_shows_all_and_cuts_off_nothing(name):
    sheet = sheets()[name]
    ax = sheet.plot()
    figure = ax.figure
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    texts = [text for text in ax.texts if text.get_text()]
    boxes = [text.get_window_extent(renderer) for text in texts]
    for box in boxes:
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0
        assert box.y1 <= figure.bbox.y1
    for one, other in itertools.combinations(boxes, 2):
        # Lines of text may touch, not overlap.
        assert not one.expanded(1, 0.7).overlaps(other.expanded(1, 0.7))
    shown = [ascii_signs(text.get_text()) for text in texts]
    for _, cells in sheet.risk_lines:
        remaining = list(shown)
        for cell in cells:
            remaining.remove(cell)  # raises where it is missing
    joined = " ".join(shown).replace(" ", "")
    for line in sheet.lines:
        assert line.worth.replace(" ", "") in joined
        assert all(word in joined for word in line.label.split())
    assert ascii_signs(sheet.formula).replace(" ", "") in joined
    mpl.pyplot.close(figure)


def test_the_picture_fits_given_axes():
    figure, axes = mpl.pyplot.subplots(1, 2, figsize=(9, 3))
    assert plain().plot(axes[0]) is axes[0]
    figure.canvas.draw()
    frame = axes[0].get_window_extent()
    for text in axes[0].texts:
        if text.get_text():
            box = text.get_window_extent()
            assert frame.x0 <= box.x0 <= box.x1 <= frame.x1
            assert frame.y0 <= box.y0 <= box.y1 <= frame.y1
    assert not axes[1].texts
    mpl.pyplot.close(figure)


@pytest.mark.parametrize("keywords", [{"extreme": "1%"}, {"max_rows": math.nan}, {"max_rows": 9.5}])
def test_limits_of_tables_are_numbers(keywords):
    (name,) = keywords
    with pytest.raises(ValueError, match=f"{name} must be"):
        plain().sheet(**keywords)


def test_bounds_have_no_exponents():
    assert percent(0.0, 1e-9) == "<0.0000001%"
    assert percent(1.0, 1e-9) == ">99.9999999%"
    assert [percent(0.0, extreme) for extreme in (0.3, 0.05, 0.001, 0.00025)] == [
        "<30%", "<5%", "<0.1%", "<0.025%",
    ]  # fmt: skip


def test_drawing_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'needs matplotlib.*pip install "\.\[report\]"'):
        plain().plot()


@pytest.mark.parametrize(
    ("classes", "title", "statement"),
    [
        ((0, 1), "risk of stroke", "Risk: the probability that stroke = 1."),
        ((False, True), "risk of stroke", "Risk: the probability that stroke = True."),
        ((0.0, 1.0), "risk of stroke", "Risk: the probability that stroke = 1.0."),
        (("no", "yes"), "probability that stroke = yes", None),
        ((1, 2), "probability that stroke = 2", None),
    ],
)
def test_headlines_are_short_and_the_exact_statement_is_beneath(classes, title, statement):
    sheet = RiskScore(-1, {"smoker": 2}, outcome_name="stroke", classes=classes).sheet()
    assert sheet.outcome == title
    said = [note for note in sheet.notes if note.startswith("Risk: ")]
    assert said == ([] if statement is None else [statement])
    for text in (str(sheet), sheet.to_markdown(), sheet.to_html(), sheet.to_latex()):
        assert title in text.replace("$=$", "=")
        assert statement is None or statement in text


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("PatternsInclude_BiPD_or_LRDA_and_frequency >= 3",
         ["PatternsInclude_BiPD_or_", "LRDA_and_frequency >= 3"]),
        ("time from admission, in hours", ["time from admission, in", "hours"]),
        ("lab.creatinine/serum.last_value_of_day", ["lab.creatinine/serum.", "last_value_of_day"]),
        ("a " + "x" * 30, ["a " + "x" * 22, "x" * 8]),
        ("short_name", ["short_name"]),
        ("", [""]),
    ],
)  # fmt: skip
def test_names_are_parted_behind_signs(name, lines):
    assert wrapped(name, 24) == lines
    if len(lines) > 1:
        first, *others = wrapped(name, 24, "   ")
        assert all(line.startswith("   ") and len(line) <= 24 for line in others)
        assert "".join([first, *others]).replace(" ", "") == name.replace(" ", "")


@pytest.mark.parametrize("name", ["rapid_eye_movement_" * 5, "of_a_very_long_name_" * 7])
def test_no_rendering_cuts_names_inside_a_word(name):
    name = name.strip("_")
    score = RiskScore(-1, {name: 2, "short": 1})
    words = set(name.split("_"))
    drawn = [text.get_text() for text in score.plot().texts if "_" in text.get_text()]
    printed = [line for line in str(score).splitlines() if "_" in line]
    assert len(drawn) > 1
    assert len(printed) > 1
    for line in (*drawn, *printed):
        found = set(re.findall(r"[a-z]+", line)) - {"points"}
        assert found <= words


def test_what_is_proven_is_small_print():
    sheet = sheets()["observed"]
    assert sheet.proof
    assert not set(sheet.proof) & set(sheet.notes)
    assert sheet.footnotes[: len(sheet.proof)] == sheet.proof
    assert str(sheet).index(sheet.notes[-1]) < str(sheet).index(sheet.proof[0])
    assert f'font-size:0.85em">{sheet.proof[0]}' in sheet.to_html()
    assert rf"{{\footnotesize {sheet.proof[0].split('%')[0]}" in sheet.to_latex()
    sizes = {text.get_text(): text.get_fontsize() for text in sheet.plot().texts}
    small = [size for text, size in sizes.items() if sheet.proof[0].startswith(text[:20] or "?")]
    assert small
    assert max(small) < max(sizes.values())
