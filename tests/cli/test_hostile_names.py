"""Names of columns, labels and files that hold line breaks, escape sequences and directions."""

from __future__ import annotations

import gzip
import random
import re
import shlex
import shutil
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command_line import run
from riskslim import RiskScore, SolutionPool
from riskslim._wording import printable
from riskslim.cli.messages import explained, shell_word
from riskslim.constraints.files import read_constraints

pytestmark = pytest.mark.faults

NAME = "x\nError: fake\x1b[31m\u202e"
OTHER = "b\r\nRemark: fake"
REAL = "wide\nRemark: fake"
LEVELS = "level\x9b2J\u2028Warning: fake"
OUTCOME = "y\nError: fake"
UNKNOWN = "q\nError: fake\x07"
FILE = "rows\nError: fake.csv"


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            NAME: rng.integers(0, 2, 150),
            OTHER: rng.integers(0, 2, 150),
            REAL: rng.normal(50, 20, 150),
            "constant\nRemark: fake": np.ones(150),
        }
    )
    risk = 1 / (1 + np.exp(1 - 2 * table[NAME] + table[OTHER]))
    table[OUTCOME] = np.where(rng.random(150) < risk, "ja\nError: fake", "nein\x1b[0m")
    table.to_csv(FILE, index=False)
    table[LEVELS] = rng.choice(["m\nError: fake", "f\x1b[1m"], 150)
    table.to_csv("raw.csv", index=False)
    table.loc[3, LEVELS] = "d\nError: fake"
    table.loc[4, NAME] = 2
    table.to_csv("other.csv", index=False)
    table.loc[5, REAL] = np.nan
    table.to_csv("unusable.csv", index=False)
    Path("clash.toml").write_text(
        '[[at_most]]\nn = 0\nname="a\\nError: fake"\nfeatures = ["b\\r\\nRemark: fake"]\n'
        '[[at_least]]\nn = 1\nname="b\\nError: fake"\nfeatures = ["b\\r\\nRemark: fake"]\n'
    )
    Path("unknown.toml").write_text('[[q]]\n"a\\nError: fake" = 1\n')
    return tmp_path


def clean(result) -> bool:
    """Nothing that a terminal would obey, and no line that a name has made."""
    text = result.stdout + result.stderr
    assert [c for c in text if not c.isprintable() and c != "\n"] == []
    assert re.findall(r"^(?:Error|Remark|Warning): fake.*$", text, re.MULTILINE) == []
    return True


FIT = ["fit", FILE, "--outcome", OUTCOME]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([*FIT, "--n-solutions", "5"], 0),
        ([*FIT, "--path", "--cv", "2", "--max-size", "2"], 0),
        ([*FIT, "--verbose"], 0),
        (["fit", "raw.csv", "--outcome", OUTCOME, "--items"], 0),
        (["fit", "unusable.csv", "--outcome", OUTCOME], 2),
        (["fit", FILE, "--outcome", UNKNOWN], 2),
        ([*FIT, "--sign", f"{UNKNOWN}=+"], 2),
        ([*FIT, "--sign", NAME], 2),
        ([*FIT, "--fix", f"{NAME}=3", "--upper", f"{NAME}=1"], 2),
        ([*FIT, "--exclude", UNKNOWN], 2),
        ([*FIT, "--features", UNKNOWN], 2),
        ([*FIT, "--positive", UNKNOWN], 2),
        ([*FIT, "--weights", UNKNOWN], 2),
        ([*FIT, "--constraints", "clash.toml"], 3),
        ([*FIT, "--constraints", "unknown.toml"], 2),
        ([*FIT, "--lower", f"{NAME}=1", "--max-size", "0"], 3),
        ([*FIT, "--output", "no\nError: fake/s.json"], 2),
        (["fit", UNKNOWN, "--outcome", OUTCOME], 2),
        (["show", FILE], 2),
    ],
)
def test_fits(folder, arguments, code):
    assert clean(run(*arguments, code=code))


@pytest.mark.slow
def test_what_is_done_with_a_score(folder):
    names = [NAME, OTHER, REAL]
    score = RiskScore(-1, dict.fromkeys(names, 1), outcome_name=OUTCOME,
                      classes=("nein\x1b[0m", "ja\nError: fake"))  # fmt: skip
    score.save("s\nError: fake.json")
    for arguments, code in (
        (["show", "s\nError: fake.json"], 0),
        (["predict", "s\nError: fake.json", "other.csv"], 0),
        (["predict", "s\nError: fake.json", "unusable.csv"], 2),
        (["predict", "s\nError: fake.json", "other.csv", "--id", UNKNOWN], 2),
        (["report", "s\nError: fake.json", "other.csv", "--output", "r\nError: fake.html"], 0),
        (["export", "s\nError: fake.json", "--format", UNKNOWN], 2),
    ):
        assert clean(run(*arguments, code=code)), arguments


def test_the_list_of_scores_has_one_line_for_each():
    vectors = np.array([[-3, 2, 0], [-2, 0, 1]])
    pool = SolutionPool(vectors, np.array([0.4, 0.5]), (NAME, OTHER), complete=True, bound=0.6)
    assert pool.table().splitlines()[1:] == [
        "   0  0.40000000         -3  x\\nError: fake\\x1b[31m\\u202e: 2",
        "   1  0.50000000         -2  b\\r\\nRemark: fake: 1",
    ]


@pytest.mark.parametrize("text", ["", "age", "a\tb", "\x00", "\u200f", "\xa0", "\ud800", "a\nb"])
def test_what_is_spelt_out(text):
    shown = printable(text, lines=False)
    assert shown.isprintable()
    assert shown == text or text.encode("utf-8", "surrogatepass") == shown.encode().decode(
        "unicode_escape"
    ).encode("utf-8", "surrogatepass")
    assert printable("a\nb") == "a\nb"


@pytest.mark.parametrize("name", [NAME, OTHER, "it's\n\\n", "a b", "$HOME", "\x07", "-x", "a'\t"])
def test_suggested_options_are_read_by_a_shell(name):
    word = shell_word(name)
    assert word.isprintable()
    if name.isprintable():
        assert shlex.split(word) == [name]
    if shutil.which("bash") is not None:
        printed = subprocess.run(
            ["bash", "-c", f"printf %s {word}"], capture_output=True, check=True,
            env={"LC_ALL": "C.UTF-8"},
        )  # fmt: skip
        assert printed.stdout.decode() == name


def test_blanks_that_are_the_fault_are_shown(folder):
    Path("blanks.csv").write_text("a  b,died\n0,1\n1,0\n")
    message = run("fit", "blanks.csv", "--outcome", "died", "--features", "a b", code=2).stderr
    assert "'a b'" in message
    assert "'a  b'" in message
    Path("lead.csv").write_text(" died,a\n0,1\n1,0\n")
    message = run("fit", "lead.csv", "--outcome", "died", code=2).stderr
    assert "no column 'died' (did you mean ' died'?)" in message
    assert explained(ValueError("'a  b'\n  and '\xa0c'")) == "'a  b' and '\xa0c'"


# --- Markdown -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["http://x.org", "https://x.org/a_b", "www.x.org", "WWW.x.org", "a@x.org", "mailto:a@x.org",
     "[x](y)", "![x](y)", "<http://x.org>", "<b>x</b>", "> quoted", "- item", "+ item", "* item",
     "1. item", "1) item", "# head", "===", "---", "~~~", "```", "    code", "a | b", "&lt;",
     "$x$", "_x_", "**x**", "\\*x*", "[^1]", "==x==", "x\n\n> quoted"],
)  # fmt: skip
def test_names_are_no_markup_in_markdown(name):
    from markdown_it import MarkdownIt

    score = RiskScore(-3, {name: 2, "b": 1}, outcome_name=name, classes=("no", name))
    sheet = score.sheet()
    text = sheet.to_markdown()
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    flat = [inner for token in tokens for inner in (token, *(token.children or ()))]
    kinds = {token.type for token in flat}
    assert not kinds & {
        "link_open", "image", "html_inline", "html_block", "code_inline", "code_block", "fence",
        "blockquote_open", "bullet_list_open", "ordered_list_open", "heading_open", "hr", "em_open",
        "s_open",
    }  # fmt: skip
    assert "table_open" in kinds
    # Addresses that readers make links of, without any markup.
    assert not re.search(r"(?i)https?://|www\.|\w@\w", text)
    shown = "".join(token.content for token in flat if token.type in ("text", "text_special"))
    assert "".join(name.split()) in "".join(shown.split())


@pytest.mark.parametrize(
    "note",
    ["> quoted", "- item", "+ item", "1. item", "12) item", "=====", "-----", "    code", "# head",
     "http://x.org", "2.5 is no list"],
)  # fmt: skip
def test_notes_are_paragraphs(note):
    import dataclasses

    from markdown_it import MarkdownIt

    sheet = dataclasses.replace(RiskScore(-3, {"a": 2}).sheet(), notes=(note,))
    tokens = MarkdownIt("commonmark").enable("table").parse(sheet.to_markdown())
    *_, opened, last, closed = tokens
    assert (opened.type, closed.type) == ("paragraph_open", "paragraph_close")
    assert "".join(t.content for t in last.children) == note.strip()


# --- damaged and odd files ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["parquet", pytest.param("csv.gz", marks=pytest.mark.slow)])
def test_damaged_files_are_named(folder, kind):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.integers(0, 2, (60, 3)), columns=["a", "b", "died"])
    table.to_parquet("d.parquet")
    Path("d.csv.gz").write_bytes(gzip.compress(table.to_csv(index=False).encode()))
    good = Path(f"d.{kind}").read_bytes()
    damaged = random.Random(2)
    refused = 0
    for _ in range(40):
        octets = bytearray(good)
        if damaged.random() < 0.3:
            del octets[damaged.randrange(len(octets)) :]
        else:
            for _ in range(damaged.choice((1, 5, 50))):
                octets[damaged.randrange(len(octets))] = damaged.randrange(256)
        path = Path(f"damaged.{kind}")
        path.write_bytes(octets)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                run("fit", path, "--outcome", "died", "--max-size", "1", "--quiet")
        except AssertionError:
            message = run("fit", path, "--outcome", "died", "--max-size", "1", code=2).stderr
            refused += 1
            assert "damaged" in message, message
            assert "Traceback" not in message
    assert refused > 20


def test_deep_and_long_files_give_errors_of_ours(tmp_path):
    path = tmp_path / "deep.toml"
    for text in ("x = " + "[" * 5000 + "]" * 5000, "x = " + "{a=" * 5000 + "1" + "}" * 5000):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"deep\.toml cannot be read as TOML: it is nested to"):
            read_constraints(path)
    with pytest.raises(ValueError, match="not a risk score: the text is no valid JSON"):
        RiskScore.from_json("[" * 100_000)
    (tmp_path / "d.csv").write_text("a,died\n0,1\n1,0\n0,0\n1,1\n")
    folds = tmp_path / "folds.csv"
    for octets in (b"fold\n" + b"1" * 200_000, b"fold\n\xff\n", b"fold\n0\n\x00\n"):
        folds.write_bytes(octets)
        message = run("fit", tmp_path / "d.csv", "--outcome", "died", "--folds", folds, "--quiet",
                      code=2).stderr  # fmt: skip
        assert message.startswith(f"Error: {folds}")
    (tmp_path / "long.csv").write_text("a,died\n" + "x" * 3_000_000 + ",1\n0,0\n")
    message = run("fit", tmp_path / "long.csv", "--outcome", "died", code=2).stderr
    assert "text in 'a' (2 of 2 rows" in message
    assert len(message) < 2000


def test_pmml_of_very_many_features():
    import xml.etree.ElementTree as ET

    text = RiskScore(0, {f"x{k}": 1 + k % 5 for k in range(3000)}).to_pmml()
    root = ET.fromstring(text)
    deepest, level = 0, [root]
    while level:
        deepest, level = deepest + 1, [child for node in level for child in node]
    assert deepest < 150
    used = [node.get("field") for node in root.iter() if node.tag.endswith("}FieldRef")]
    assert len({name for name in used if name and name.startswith("x")}) == 3000
