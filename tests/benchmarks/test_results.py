"""A record of results: made of public names, the same twice, and compared to the bit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import riskslim
from benchmarks.results import drawn, searches
from benchmarks.results.__main__ import GROUPS, main
from benchmarks.results.commands import COMMANDS, FAULTS
from benchmarks.results.folder import ABOUT, Record, normalised, plain

pytestmark = pytest.mark.benchmarks


def written(folder: Path, files: dict[str, str], **about) -> Path:
    """A folder as a record writes it."""
    record = Record(folder, Path("data"), short=True)
    for name, text in files.items():
        record.write(name, text)
    (folder / ABOUT).write_text(json.dumps({"short": True, **about}))
    return folder


@pytest.fixture
def before(tmp_path) -> Path:
    return written(tmp_path / "before", {"a/one.json": '{"x": "0x1.8p+0"}\n', "b.txt": "1\n2\n"})


def test_two_records_are_the_same(before, tmp_path, capsys):
    after = written(tmp_path / "after", {"b.txt": "1\n2\n", "a/one.json": '{"x": "0x1.8p+0"}\n'})
    assert main(["compare", str(before), str(after)]) == 0
    assert capsys.readouterr().out == "same bits: 2 files\n"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a/one.json", '{"x": "0x1.8000000000001p+0"}\n', "0x1.8000000000001p+0"),
        ("b.txt", "1\n3\n", "line 2:\n    - 2\\n\n    + 3\\n"),
        ("b.txt", "1\n2", "+ 2\n"),  # the end of a line is a bit of it
        ("b.txt", "1\r\n2\n", "+ 1\\r\\n"),
        ("b.txt", "1\n2\n3\n", "- (no such line)"),
        ("b.txt", "1\n2 \n", "+ 2 \\n"),
    ],
)
def test_a_changed_bit_is_found(before, tmp_path, capsys, name, text, said):
    files = {"a/one.json": '{"x": "0x1.8p+0"}\n', "b.txt": "1\n2\n"}
    after = written(tmp_path / "after", {**files, name: text})
    assert main(["compare", str(before), str(after)]) == 1
    printed = capsys.readouterr().out
    assert f"{name} differs:" in printed
    assert said in printed
    assert printed.endswith("same bits: 1 files\ndifferences: 1 files\n")
    # Only what is named is left out, and it is said how much that is.
    assert main(["compare", str(before), str(after), "--without", name]) == 0
    assert capsys.readouterr().out == "same bits: 1 files\nnot compared: 1 files\n"


def test_files_of_one_record_alone_are_found(before, tmp_path, capsys):
    after = written(tmp_path / "after", {"b.txt": "1\n2\n", "c.txt": "1\n"}, numpy="0.1")
    assert main(["compare", str(before), str(after)]) == 1
    printed = capsys.readouterr().out
    assert f"a/one.json: only in {before}" in printed
    assert f"c.txt: only in {after}" in printed
    assert "note: numpy is None there and '0.1' here" in printed


def test_what_is_no_record_is_not_compared(before, tmp_path, capsys):
    (tmp_path / "unfinished").mkdir()
    (tmp_path / "unfinished" / "b.txt").write_text("1\n2\n")
    assert main(["compare", str(before), str(tmp_path / "unfinished")]) == 2
    assert "not a finished one" in capsys.readouterr().err


def test_numbers_keep_all_their_bits():
    one = {"a": 0.1 + 0.2, "b": np.float64(0.3), "c": [np.int8(3), True, None], "d": -0.0}
    assert plain(one) == {
        "a": "0x1.3333333333334p-2", "b": "0x1.3333333333333p-2", "c": [3, True, None],
        "d": "-0x0.0p+0",
    }  # fmt: skip
    assert plain(float("nan")) == "nan"
    long = np.linspace(0, 1, 1000)
    changed = long.copy()
    changed[700] = np.nextafter(changed[700], 2)
    assert plain(long) == plain(long.copy())
    assert plain(long) != plain(changed)
    assert plain(long) != plain(long.reshape(10, 100))


VERSION = riskslim.__version__


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Search completed after 12.3 seconds.", "Search completed after SECONDS."),
        ("     0.4s  objective 0.5  nodes 3", "SECONDS  objective 0.5  nodes 3"),
        ("    12.4 s  objective 0.5", "SECONDS  objective 0.5"),
        (f"by riskslim {VERSION} (engine)", "by riskslim VERSION (engine)"),
        (f'name="riskslim" version="{VERSION}"', 'name="riskslim" version=""'),
        ("Written on 2026-01-31 by riskslim.", "Written on DATE by riskslim."),
        ("is in riskslim-recovered-0a1b2c3d.json", "is in riskslim-recovered-NUMBER.json"),
        ("no file /tmp/xyz/a.csv", "no file FOLDER/a.csv"),
    ],
)
def test_what_no_two_runs_share_is_left_out(text, expected):
    assert normalised(text, Path("/tmp/xyz")) == expected


@pytest.mark.parametrize(
    "text",
    [
        "after 3 rows", "after 12.3 minutes", "0.4 seconds", "objective 0.4s", "2026-01-31",
        f"numpy {VERSION}", f"riskslim {VERSION}7", "risk 12.3%", "/tmp/xy/a.csv",
        "<script>1</script> sha256-AAAA",
    ],
)  # fmt: skip
def test_nothing_else_of_a_text_is_changed(text):
    assert normalised(text, Path("/tmp/xyz")) == text


def test_the_digest_of_a_script_is_left_out_where_it_is_right():
    right = "sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s="
    assert normalised(f"{right}<script>1</script>") == "sha256-OF-THE-SCRIPT<script>1</script>"
    assert normalised(f"{right}<script>2</script>") == f"{right}<script>2</script>"


def test_errors_and_warnings_of_a_case_are_results(tmp_path):
    import warnings

    record = Record(tmp_path, tmp_path, short=True)
    with record.case("one"):
        warnings.warn("mind the gap", UserWarning, stacklevel=1)
        raise ValueError("no such thing")
    assert (tmp_path / "one.error.txt").read_text() == "ValueError: no such thing\n"
    assert (tmp_path / "one.warnings.txt").read_text() == "UserWarning: mind the gap\n"
    assert record.errors == ["one: ValueError: no such thing"]
    with pytest.raises(FileExistsError):
        record.write("one.error.txt", "two results of one name")


def test_a_record_of_the_demo_is_the_same_twice(tmp_path, capsys):
    folders = [tmp_path / "one", tmp_path / "other"]
    for folder in folders:
        arguments = ["record", str(tmp_path), str(folder), "--short", "--groups", "demo"]
        assert main(arguments) == 0
        assert main(arguments) == 2  # never into a record that is there
    assert main(["compare", *map(str, folders)]) == 0
    result = json.loads((folders[0] / "demo" / "k5.json").read_text())
    assert float.fromhex(result["certificate"]["objective"]) == pytest.approx(0.1616028777778)
    assert result["coefficients"].count(0) == 25
    sheet = (folders[0] / "demo" / "k5.sheet.txt").read_text()
    assert "worst radius" in sheet
    # A coefficient of a sheet, and nothing else.
    path = folders[1] / "demo" / "k5.sheet.txt"
    path.write_text(sheet.replace("-4 points", "-3 points"))
    capsys.readouterr()
    assert main(["compare", *map(str, folders)]) == 1
    assert "demo/k5.sheet.txt differs" in capsys.readouterr().out


def test_a_problem_is_drawn_from_its_number_alone(tmp_path):
    one, again = drawn.draw(7), drawn.draw(7)
    assert one.words == again.words
    assert all((one.columns[name] == again.columns[name]).all() for name in one.columns)
    assert {problem.words["place"] for problem in map(drawn.draw, range(drawn.PROBLEMS))} == {
        "memory", "classifier", "classifier with labels", "merged", "files", "csv", "dask", "path",
    }  # fmt: skip


@pytest.mark.parametrize("problems", [drawn.PROBLEMS, drawn.PROBLEMS_SHORT])
def test_constraints_weights_and_engines_of_each_kind_are_drawn(problems):
    words = [drawn.draw(number).words for number in range(problems)]
    engines = {one["engine"] for one in words}
    assert engines >= {"branch_and_bound", "cplex"}
    if problems == drawn.PROBLEMS:
        kinds = {one[which] for one in words for which in ("first", "second")}
        assert kinds == {*drawn.CONSTRAINTS, "none"}
        assert engines == {"branch_and_bound", "cplex", "scip"}
        assert {one["bounds"] for one in words} == set(drawn.BOUNDS)
        assert {one["weights"] for one in words} == set(drawn.WEIGHTS)


def test_each_case_has_a_name_of_its_own():
    for commands in (COMMANDS, FAULTS):
        names = [command.name for command in commands]
        assert len(set(names)) == len(names)
        assert any(command.in_short for command in commands)
    assert searches.write_demo in GROUPS.values()
