"""Places that are broken on purpose: what is found, drawn, found again, and noticed by tests."""

from __future__ import annotations

import ast
import textwrap

import pytest

from benchmarks.mutations import __main__ as command
from benchmarks.mutations import compiled_code, python_code, table
from benchmarks.mutations.edits import KINDS, apply
from benchmarks.mutations.places import SHARES, draw, find, places_of, room_of
from benchmarks.mutations.trials import suite_of, users_of
from benchmarks.records import read_rows
from paths import ROOT

pytestmark = pytest.mark.benchmarks


def broken(text: str, found) -> set[str]:
    """Lines of a text as its places are broken, without blanks around them."""
    lines = set()
    for one in found:
        new = apply(text, one.edits).splitlines()
        lines |= {f"{one.kind}: {line.strip()}" for line in new if line not in text.splitlines()}
    return lines


# ---- what is found -------------------------------------------------------------------------------


PYTHON = '''
def f(x: "Literal[1]", i=-1) -> list[1]:
    """Return 1 < 2."""
    if x < 1 and i:
        raise ValueError(f"{i + 1} of {x[0]}")
    log.info("%s", 1 + 1)
    if sys.platform == "linux" or name:
        began = perf_counter() - 1
    name = "ä" + "b"
    y = x // 2 + 1.0
    y -= 1
    z = max(math.floor(y), x[i], x[-1], x[n:], x[:n])
    return math.nextafter(y, math.inf) <= z


def __repr__(x):
    return x + 1


def g(x):
    return True if x else x * "ä" or f(x - 2)
'''


def test_places_of_python():
    assert broken(PYTHON, python_code.candidates(PYTHON)) == {
        'sign: def f(x: "Literal[1]", i=1) -> list[1]:',
        "comparison: if x <= 1 and i:",
        "logic: if x < 1 or i:",
        'logic: if sys.platform == "linux" and name:',
        "rounding: y = -(-(x) // (2)) + 1.0",
        "sign: y = x // 2 - 1.0",
        "one: y = x // 2 + 2",
        "one: y = x // 2 + 0",
        "sign: y += 1",
        "one: y -= 2",
        "one: y -= 0",
        "extreme: z = min(math.floor(y), x[i], x[-1], x[n:], x[:n])",
        "rounding: z = max(math.ceil(y), x[i], x[-1], x[n:], x[:n])",
        "index: z = max(math.floor(y), x[i + 1], x[-1], x[n:], x[:n])",
        "index: z = max(math.floor(y), x[i], x[-2], x[n:], x[:n])",
        "index: z = max(math.floor(y), x[i], x[-1], x[n + 1:], x[:n])",
        "rounding: return math.nextafter(y, -(math.inf)) <= z",
        "comparison: return math.nextafter(y, math.inf) < z",
        "return: return not (math.nextafter(y, math.inf) <= z)",
        'logic: return True if x else x * "ä" and f(x - 2)',
        'sign: return True if x else x * "ä" or f(x + 2)',
    }


C = """
#define MOST (1 + 2)
static const double table[MOST + 1] = {1.0, -1.0};
typedef struct {
    double sums[MOST + 1];
} rs_sums;

/* 1 < 2 */
static int f(const double *x, int n)
{
    double sum[MOST + 1], total = 1.0 - x[n];  // - 1
    double *at = sum + 1;
    for (int i = 0; i < n; i++) total += x[i];
    if (n > 0 && at->size == n) return 1;
    while (x[0] < -total) memcpy(at, x, n + 1);
    return n <= MOST || fmin(total, 1e-9) > 0;
}

RS_INLINE double *rs_at(double *x)
{
    return x + 1;
}

static void rs_prefetch(double *x)
{
    x[1] = 1 + 1;
}
"""


def test_places_of_c():
    assert broken(C, compiled_code.candidates(C, is_c=True)) == {
        "sign: double sum[MOST + 1], total = 1.0 + x[n];  // - 1",
        "one: double sum[MOST + 1], total = 2.0 - x[n];  // - 1",
        "one: double sum[MOST + 1], total = 0.0 - x[n];  // - 1",
        "index: double sum[MOST + 1], total = 1.0 - x[n + 1];  // - 1",
        "comparison: for (int i = 0; i < -1 + n; i++) total += x[i];",
        "sign: for (int i = 0; i < n; i++) total -= x[i];",
        "index: for (int i = 0; i < n; i++) total += x[i + 1];",
        "comparison: if (n >= 0 && at->size == n) return 1;",
        "comparison: if (n > 0 && at->size != n) return 1;",
        "logic: if (n > 0 || at->size == n) return 1;",
        "return: if (n > 0 && at->size == n) return 0;",
        "comparison: return n < MOST || fmin(total, 1e-9) > 0;",
        "comparison: return n <= MOST || fmin(total, 1e-9) >= 0;",
        "logic: return n <= MOST && fmin(total, 1e-9) > 0;",
        "extreme: return n <= MOST || fmax(total, 1e-9) > 0;",
        "return: return !(n <= MOST || fmin(total, 1e-9) > 0);",
        "sign: return x - 1;",
        "one: return x + 2;",
        "one: return x + 0;",
    }


CYTHON = '''
cdef extern from "nodes.h":
    enum:
        MOST = 1 + 1
DEF FEW = 1 + 1
LATER = 1 + 1

cdef double f(double[::1] x, double *y, Py_ssize_t n) noexcept nogil:
    """1 < 2"""
    cdef Py_ssize_t i, m = n - 1, half = n // 2
    cdef double *at = y + 1
    for i in range(n + 1):  # 1 + 1
        at[0] = <double>x[i] if -n < <double>m else floor(
            x[m])
    return x[i] * 2

def room(n):
    return n + 1

cdef int *g(int *x):
    return x + 3
'''


def test_places_of_cython():
    assert broken(CYTHON, compiled_code.candidates(CYTHON, is_c=False)) == {
        "sign: cdef Py_ssize_t i, m = n + 1, half = n // 2",
        "one: cdef Py_ssize_t i, m = n - 2, half = n // 2",
        "one: cdef Py_ssize_t i, m = n - 0, half = n // 2",
        "rounding: cdef Py_ssize_t i, m = n - 1, half = ((n + 2 - 1) // 2)",
        "sign: for i in range(n - 1):  # 1 + 1",
        "one: for i in range(n + 2):  # 1 + 1",
        "one: for i in range(n + 0):  # 1 + 1",
        "index: at[0] = <double>x[i + 1] if -n < <double>m else floor(",
        "sign: at[0] = <double>x[i] if n < <double>m else floor(",
        "comparison: at[0] = <double>x[i] if -n <= <double>m else floor(",
        "rounding: at[0] = <double>x[i] if -n < <double>m else ceil(",
        "index: x[m + 1])",
        "index: return x[i + 1] * 2",
        "return: return -(x[i] * 2)",
        "sign: return x - 3",
    }


# ---- drawing, and finding again ------------------------------------------------------------------


@pytest.fixture(scope="module")
def places():
    return places_of(ROOT)


def test_drawing(places):
    drawn = draw(places, 40, 0)
    assert drawn == draw(places, 40, 0) != draw(places, 40, 1)
    assert len({(one.key.file, one.key.line) for one in drawn}) == 40
    for part, number in SHARES.items():
        those = [one for one in drawn if room_of(one.key.file) == part]
        assert len(those) == number
        assert {one.kind for one in those} == set(KINDS)
    assert len({one.key for one in places}) == len(places)


def test_broken_python_is_python(places):
    of_python = [one for one in places if one.key.file.endswith(".py")]
    for one in draw(of_python, 100, 2):
        text = (ROOT / one.key.file).read_text(encoding="utf-8")
        new = one.broken(text)
        assert ast.dump(ast.parse(new)) != ast.dump(ast.parse(text)), one.key


FORM = """
def is_small(x):
    return x < 3 or x < 3


def first(x):
    return x[0] + 0


def goes_on(x):
    while x > 0 and x != 0.5:
        x -= 1
    return x
"""
TESTS = """
from riskslim.loss.form import first, goes_on, is_small

def test_small():
    assert is_small(2) and not is_small(3)

def test_first():
    assert first([7, 8]) == 7

def test_end():
    assert goes_on(3) == 0
"""


@pytest.fixture
def checkout(tmp_path):
    """A package of one module, and its tests."""
    folder = tmp_path / "checkout"
    for name, text in {
        "riskslim/__init__.py": "",
        "riskslim/loss/__init__.py": "",
        "riskslim/loss/form.py": FORM,
        "tests/loss/test_form.py": TESTS,
        "tests/loss/test_alone.py": "def test_nothing():\n    pass\n",
        "tests/engines/test_contract.py": "def test_contract():\n    pass\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_places_are_found_again(checkout):
    before = places_of(checkout)
    path = checkout / "riskslim" / "loss" / "form.py"
    moved = FORM.replace("def first", "def other(x):\n    return x + 1\n\n\ndef first", 1)
    path.write_text(moved.replace("x != 0.5", "x != 0.6"))
    rows = {
        number: {key: str(value) for key, value in one.key._asdict().items()}
        for number, one in enumerate(before)
    }
    found = find(places_of(checkout), rows)
    gone = [before[number].key.line for number, place in found.items() if place is None]
    assert set(gone) == {"while x > 0 and x != 0.5:"}
    there = {number: place for number, place in found.items() if place is not None}
    assert {number: place.key for number, place in there.items()} == {
        number: before[number].key for number in there
    }
    # Both halves of the first line, each in its turn.
    new = path.read_text()
    small = [place for place in there.values() if place.key.operator == "< to <="]
    assert [
        next(line[11:] for line in one.broken(new).splitlines() if "<=" in line) for one in small
    ] == ["x <= 3 or x < 3", "x < 3 or x <= 3"]


# ---- trials --------------------------------------------------------------------------------------


def test_suite_of_a_module(checkout):
    contract = ("tests/engines/test_contract.py",)
    files = ["tests/loss/test_form.py", "tests/loss/test_alone.py"]
    assert suite_of(checkout, "riskslim/loss/form.py", contract) == files
    # Where engines use it, their contract is run as well.
    engine = checkout / "riskslim" / "engines" / "driver.py"
    engine.parent.mkdir()
    engine.write_text("def f():\n    from riskslim.loss.form import first\n")
    other = checkout.rename(checkout.with_name("other"))
    assert suite_of(other, "riskslim/loss/form.py", contract) == [*files, *contract]
    assert suite_of(other, "riskslim/engines/driver.py", contract) == [*contract]


def test_extensions_of_a_header():
    kernels = ROOT / "riskslim" / "_kernels"
    assert users_of(kernels / "nodes.pyx") == ["nodes"]
    assert users_of(kernels / "cells.h") == ["cutoffs", "rules", "support_enumeration"]
    assert users_of(kernels / "row_tiles.h") == [
        "distinct",
        "heuristics",
        "integer",
        "ranges",
        "real",
    ]


def test_a_run(checkout, tmp_path, monkeypatch, capsys):
    # Of pytest's plugins the one that is asked for: all others take a second in each trial.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p xdist")
    places = places_of(checkout)
    lines = [one.broken(FORM) for one in places]
    wanted = {
        "return x <= 3 or x < 3": ("yes", "tests/loss/test_form.py::test_small"),
        "return x[0] - 0": ("no", ""),
        "x += 1": ("timeout", "tests/loss/test_form.py::test_end"),
    }
    numbers = {
        next(i for i, text in enumerate(lines, 1) if f" {line}\n" in text): outcome
        for line, outcome in wanted.items()
    }
    given = tmp_path / "given.csv"
    for number, one in enumerate(places, 1):
        row = {"number": number, "kind": one.kind, **one.key._asdict()}
        command.append_row(given, command.FIELDS, row)
    folder = tmp_path / "results"
    arguments = [
        *(str(folder), "--checkout", str(checkout), "--places-from", str(given)),
        *("--test-seconds", "2"),
    ]
    first, *others = numbers
    assert command.main([*arguments, "--only", str(first)]) == 0
    before = (folder / "after.csv").read_text()
    assert command.main([*arguments, "--only", ",".join(map(str, [first, *others]))]) == 0
    assert (folder / "after.csv").read_text().startswith(before)
    rows = read_rows(folder / "after.csv", command.FIELDS)
    assert {int(row["number"]): (row["caught"], row["by"]) for row in rows} == numbers
    assert "| all | 2 of 3 (67%) |" in (folder / "report.md").read_text()
    assert (checkout / "riskslim" / "loss" / "form.py").read_text() == FORM
    # What reached a limit goes on with a larger one, where it ended; what is gone is named.
    again = folder / "again.csv"
    number = next(number for number, (caught, _) in numbers.items() if caught == "no")
    row = next(row for row in rows if int(row["number"]) == number)
    row |= {"caught": "limit", "by": "tests/loss/test_alone.py::test_nothing", "within": "400.0"}
    command.append_row(again, command.FIELDS, row | {"n_tests": "9"})
    command.append_row(again, command.FIELDS, row | {"number": "99", "line": "x = 1"})
    again_from = [*arguments, "--name", "again", "--places-from", str(again)]
    assert command.main(again_from) == 0
    assert [row["caught"] for row in read_rows(again, command.FIELDS)] == ["limit"] * 2
    assert command.main([*again_from, "--seconds", "500"]) == 0
    assert [row["caught"] for row in command.results(again).values()] == ["no", "gone"]
    assert command.results(again)[number]["n_tests"] == "10"
    # A failure of the tests themselves catches nothing.
    (checkout / "tests" / "loss" / "test_form.py").write_text(TESTS.replace("== 7", "== 8"))
    assert command.main([*arguments, "--name", "flawed", "--only", str(number)]) == 0
    (row,) = read_rows(folder / "flawed.csv", command.FIELDS)
    assert row["caught"] == "no"
    assert "1: " in capsys.readouterr().out


def test_the_table():
    place = {"file": "riskslim/engines/choice.py", "line": "a | b < c", "operator": "< to <="}
    row = {**place, "seconds": "60.0", "within": "180", "caught": "yes", "by": "tests/a.py::test_a"}
    gone, missed = {**row, "caught": "gone", "by": ""}, {**row, "caught": "limit"}
    text = table.report({"before": {3: row, 4: gone, 5: missed}, "after": {3: row}}, {3: "why"})
    wanted = """\
        | caught | before | after |
        |---|---|---|
        | kernels | 0 of 0 | 0 of 0 |
        | engines | 1 of 2 (50%) | 1 of 1 (100%) |
        | others | 0 of 0 | 0 of 0 |
        | all | 1 of 2 (50%) | 1 of 1 (100%) |
        | CPU minutes | 3 | 1 |
        """
    assert text.startswith(textwrap.dedent(wanted))
    code = "| 3 | engines/choice.py: `a \\| b < c` | `< to <=` | yes: a.py::test_a (60 s) | "
    assert f"{code}yes: a.py::test_a (60 s) | why |" in text
    assert "| no, within 180 s (60 s) |  |  |" in text
