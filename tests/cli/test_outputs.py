"""Outputs that fail: nothing that was found is lost, and the exit code says what happened."""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
import json
import os
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command_line import run, usage_error
from programs import program
from riskslim import RiskScore, Solution
from riskslim.cli import fit as fit_module
from riskslim.cli import selection as selection_module
from riskslim.cli.exit_codes import EXIT_INTERNAL, EXIT_MEMORY, EXIT_OUTPUT, EXIT_USAGE
from riskslim.cli.outputs import Delivery, check_outputs
from riskslim.cli.streams import TolerantStream, emit, emit_data, print_failure, tolerant_streams
from riskslim.exceptions import CertificateError, WorkMemoryError

pytestmark = pytest.mark.faults
POSIX = pytest.mark.skipif(os.name != "posix", reason="closes and fills what POSIX has")
LINUX = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")

FIT = ["--outcome", "died", "--max-size", "2"]


@pytest.fixture
def table(tmp_path) -> Path:
    rng = np.random.default_rng(3)
    columns = {name: rng.integers(0, 2, 120) for name in ("age \u2265 60", "smoker", "male")}
    odds = -1.0 + 2 * columns["age \u2265 60"] + columns["smoker"]
    columns["died"] = (rng.random(120) < 1 / (1 + np.exp(-odds))).astype(int)
    path = tmp_path / "rows.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The working directory, empty, and the only place where a recovery file can go."""
    path = tmp_path / "here"
    path.mkdir()
    monkeypatch.chdir(path)
    monkeypatch.setenv("HOME", str(tmp_path / "no home"))
    return path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def recovered(folder: Path, message: str) -> RiskScore:
    """The score of the recovery file that a message names; it is the only one."""
    (path,) = folder.glob("riskslim-recovered-*.json")
    assert message.rstrip().endswith(f"the risk score is saved in {path.resolve()}")
    return RiskScore.load(path)


# --- streams --------------------------------------------------------------------------------------


class Broken(io.StringIO):
    """A stream that fails at the n-th call of one of its methods."""

    def __init__(self, call: str, error: Exception, at: int) -> None:
        super().__init__()
        self.call, self.error, self.left = call, error, at

    def tick(self, call: str) -> None:
        self.left -= call == self.call
        if not self.left and call == self.call:
            raise self.error

    def write(self, text):
        self.tick("write")
        return super().write(text)

    def flush(self):
        self.tick("flush")


FAILURES = [
    OSError(number, os.strerror(number))
    for number in (errno.EIO, errno.ENOSPC, errno.EPIPE, errno.EBADF, errno.EAGAIN, errno.ENXIO)
] + [ValueError("I/O operation on closed file")]


@pytest.mark.parametrize("at", range(1, 6))
@pytest.mark.parametrize("call", ["write", "flush"])
@pytest.mark.parametrize("error", FAILURES, ids=repr)
def test_no_failure_of_a_stream_is_raised(call, error, at, monkeypatch):
    below = Broken(call, error, at)
    monkeypatch.setattr(sys, "stdout", below)
    monkeypatch.setattr(sys, "stderr", Broken(call, error, at))
    with tolerant_streams():
        seen = [emit(f"line {k}") for k in range(7)]
        assert [emit(f"line {k}", err=True) for k in range(7)] == seen
        assert seen == [k < at - 1 for k in range(7)]
        reason = print_failure()
        assert reason == (
            "" if error.args[0] == errno.EPIPE else f"standard output: {error.args[-1]}"
        )
        assert sys.stdout.isatty() is False
        emit_data("more")
    assert sys.stdout is below
    lines = below.getvalue().splitlines()
    assert lines == [f"line {k}" for k in range(at - (call == "write"))]


def test_a_process_without_streams(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    with tolerant_streams():
        assert not emit("text")
        assert not emit("text", err=True)
        assert print_failure() == f"standard output: {os.strerror(errno.EBADF)}"
        assert not sys.stdout.isatty()
        with pytest.raises(io.UnsupportedOperation):
            sys.stdout.fileno()
    assert sys.stdout is None


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("utf-8", "age \u2265 60, \u00e4, \u2212\u00d7, \U0001f600\n"),
        ("utf-16", "age \u2265 60, \u00e4, \u2212\u00d7, \U0001f600\n"),
        ("cp1252", "age >= 60, \u00e4, -x, \\U0001f600\n"),
        ("latin-1", "age >= 60, \u00e4, -x, \\U0001f600\n"),
        ("cp437", "age >= 60, \u00e4, -x, \\U0001f600\n"),
        ("ascii", "age >= 60, \\xe4, -x, \\U0001f600\n"),
        ("shift_jis", "age >= 60, \\xe4, -x, \\U0001f600\n"),
    ],
)
def test_texts_for_people_are_printed_in_any_encoding(encoding, expected, monkeypatch):
    octets = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(octets, encoding=encoding, newline="\n"))
    text = "age \u2265 60, \u00e4, \u2212\u00d7, \U0001f600"
    with tolerant_streams():
        assert emit(text)
        assert print_failure() is None
        assert octets.getvalue().decode(encoding) == expected
        # Data are printed as they are, or not at all.
        if encoding.startswith("utf"):
            emit_data(text)
        else:
            with pytest.raises(ValueError, match=f"the encoding {encoding}, which has no '.u"):
                emit_data(text)
            assert octets.getvalue().decode(encoding) == expected


def test_bytes_are_no_text():
    with pytest.raises(TypeError, match="text must be str, got bytes"):
        TolerantStream(io.StringIO()).write(b"")


def test_control_characters_never_reach_a_terminal(monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    emit("a\x1b]0;title\x07b\r\x9b2J\u202ec\td\u2028e\nf\x00")
    assert out.getvalue() == ("a\\x1b]0;title\\x07b\\r\\x9b2J\\u202ec\\td\\u2028e\nf\\x00\n")


@pytest.mark.parametrize("call", ["start", "stop", "__init__"])
@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), RuntimeError("a fault")])
def test_progress_that_fails_ends_no_search(table, folder, call, error, monkeypatch):
    from rich.live import Live

    calls = []
    before = getattr(Live, call)

    def fail(self, *arguments, **keywords):
        calls.append(call)
        if call == "stop":  # its thread ends
            before(self, *arguments, **keywords)
        raise error

    monkeypatch.setattr(Live, call, fail)
    monkeypatch.setattr(TolerantStream, "isatty", lambda self: True)
    result = run("fit", table, *FIT, "--output", "s.json")
    assert str(RiskScore.load("s.json")) in result.stdout
    assert calls


# --- before the work ------------------------------------------------------------------------------


OUTPUTS = ("--output", "--trace", "--report", "--path-output", "--cv-output")


@pytest.mark.parametrize(("first", "second"), [*itertools.permutations(OUTPUTS, 2)])
def test_no_output_is_another_one(table, folder, first, second):
    table.write_text("")  # which would be an error, if it were read
    options = [first, "x.csv", second, "./x.csv", "--path", "--cv", "2"]
    message = usage_error("fit", table, *FIT, *options)
    assert re.search(r"--\S+ and --\S+ both name the file x.csv", message)
    assert {first, second} == set(re.findall(r"--\S+", message))
    assert names(folder) == set()


@pytest.mark.parametrize("option", OUTPUTS)
@pytest.mark.parametrize("kind", ["data", "constraints", "folds"])
def test_no_output_is_an_input(table, folder, option, kind):
    table.write_text("")
    for name in ("c.csv", "f.csv"):
        Path(name).write_text("fold\n")
    Path("link.csv").symlink_to({"data": table, "constraints": "c.csv", "folds": "f.csv"}[kind])
    options = ["--constraints", "c.csv", "--folds", "f.csv", "--path", option, "link.csv"]
    message = usage_error("fit", table, *FIT, *options)
    assert message == f"Error: {option} link.csv would replace the {kind}\n"


@pytest.mark.parametrize("option", OUTPUTS)
@pytest.mark.parametrize("name", ["no/x.csv", "x" * 300 + ".csv", "folder.csv"])
def test_what_cannot_be_written_is_said_before_the_data_are_read(table, folder, option, name):
    table.write_text("")
    Path("folder.csv").mkdir()
    message = usage_error("fit", table, *FIT, "--path", "--cv", "2", option, name)
    assert name.rpartition("/")[2] in message
    assert names(folder) == {"folder.csv"}


def test_inputs_of_the_other_commands_are_no_outputs(table, folder):
    RiskScore(-3, {"smoker": 2}, outcome_name="died").save("s.json")
    before = Path("s.json").read_bytes()
    for arguments in (
        ("predict", "s.json", table, "--output", table),
        ("report", "s.json", table, "--output", "s.json"),
        ("report", "s.json", table, "--output", table),
        ("export", "s.json", "--format", "sql", "--output", "s.json"),
    ):
        assert "would replace the" in usage_error(*arguments)
    assert Path("s.json").read_bytes() == before


def test_devices_may_be_given_twice():
    check_outputs({"--a": Path(os.devnull), "--b": Path(os.devnull), "--c": None}, [("data", None)])


# --- one output fails -----------------------------------------------------------------------------

FILES = {
    "--output": "score.json", "--trace": "trace.csv", "--report": "report.html",
    "--path-output": "sizes.json", "--cv-output": "folds.csv",
}  # fmt: skip
ERRORS = [
    OSError(errno.ENOSPC, "No space left on device"),
    PermissionError(errno.EACCES, "Permission denied", "elsewhere"),
    MemoryError(),
    ValueError("a value"),
    RuntimeError("a fault"),
    UnicodeEncodeError("utf-8", "\udce9", 0, 1, "surrogates not allowed"),
    KeyError("x"),
]


@contextlib.contextmanager
def failing(option: str, error: Exception):
    """Let the writer of one file fail."""

    def fail(*_, **__):
        raise error

    with pytest.MonkeyPatch.context() as patch:
        if option in ("--output", "--report"):
            patch.setattr(RiskScore, "save" if option == "--output" else "report", fail)
        elif option == "--trace":
            patch.setattr(fit_module, "_write_trace", fail)
        else:
            write, name = selection_module._write_records, FILES[option]
            patch.setattr(
                selection_module, "_write_records",
                lambda file, records: fail() if file.name == name else write(file, records),
            )  # fmt: skip
        yield


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "error"),  # each of the files, and each error at two of them
    [(option, error) for i, option in enumerate(FILES) for k, error in enumerate(ERRORS)
     if (i + k) % 5 in (0, 2)],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)  # fmt: skip
def test_no_failure_of_a_file_is_in_the_way_of_another(table, folder, option, error, monkeypatch):
    monkeypatch.setattr(RiskScore, "report", lambda self, path, *_, **__: path.write_text("page"))
    options = [part for pair in FILES.items() for part in pair]
    with failing(option, error):
        result = run("fit", table, *FIT, "--quiet", "--path", "--cv", "2", *options,
                     code=EXIT_OUTPUT)  # fmt: skip
    wanted = {*FILES.values()} - {FILES[option]}
    assert wanted <= names(folder)
    assert "RISK SCORE" in result.stdout
    assert FILES[option] in result.stderr or "elsewhere" in result.stderr
    assert result.stderr.startswith("Error: ")
    if option == "--output":
        assert str(recovered(folder, result.stderr)) in result.stdout
        assert len(names(folder)) == len(FILES)
    else:
        assert names(folder) == wanted
        assert str(RiskScore.load("score.json")) in result.stdout


def test_a_failed_check_of_an_output_has_its_own_code(table, folder):
    with failing("--report", CertificateError("wrong")):
        result = run("fit", table, *FIT, "--quiet", "--report", "r.html", "--output", "s.json",
                     code=EXIT_INTERNAL)  # fmt: skip
    assert result.stderr == "Error: r.html: wrong\n"
    assert names(folder) == {"s.json"}


def test_a_score_that_no_folder_takes_is_printed_as_json(table, folder, monkeypatch):
    def full(path, _):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr("riskslim.cli.outputs.write_file", full)
    with failing("--output", ERRORS[0]):
        result = run("fit", table, *FIT, "--quiet", "--output", "s.json", code=EXIT_OUTPUT)
    head, _, text = result.stderr.partition("the risk score as JSON is\n")
    assert head == "Error: s.json: No space left on device; no file can be written; "
    score = RiskScore.from_json(text)
    assert str(score) in result.stdout
    assert names(folder) == set()


def test_a_recovery_file_goes_where_it_can(table, folder, monkeypatch):
    from riskslim.cli import outputs

    write = outputs.write_file
    tried = []

    def elsewhere(path, text):
        tried.append(path.parent)
        if path.parent == folder.resolve():
            raise OSError(errno.EROFS, "Read-only file system", str(path))
        write(path, text)

    monkeypatch.setattr(outputs, "write_file", elsewhere)
    monkeypatch.setattr("tempfile.tempdir", str(table.parent))
    with failing("--output", ERRORS[0]):
        result = run("fit", table, *FIT, "--quiet", "--output", "s.json", code=EXIT_OUTPUT)
    assert str(recovered(table.parent, result.stderr)) in result.stdout
    assert names(folder) == set()
    assert tried[-1] == table.parent.resolve()


def test_a_text_that_cannot_be_made_loses_nothing(table, folder, monkeypatch):
    def fail(*_):
        raise RecursionError("too deep")

    monkeypatch.setattr(fit_module, "_described", fail)
    result = run("fit", table, *FIT, "--quiet", code=EXIT_OUTPUT)
    assert result.stderr.startswith("Error: the result cannot be printed: too deep; the risk score")
    assert recovered(folder, result.stderr).certificate.is_optimal


def test_ctrl_c_while_files_are_written_keeps_the_score(table, folder):
    with failing("--report", KeyboardInterrupt()):
        result = run("fit", table, *FIT, "--quiet", "--output", "s.json", "--report", "r.html",
                     code=130)  # fmt: skip
    assert str(RiskScore.load("s.json")) in result.stdout
    assert names(folder) == {"s.json"}


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError()], ids=repr)
@pytest.mark.parametrize(
    "search", ["riskslim.score.training.cutoff_ranges", "riskslim.problem.problem.remarks_on"]
)
def test_the_search_for_what_is_said_of_a_score_may_fail(
    tmp_path, folder, monkeypatch, search, error
):
    def fail(*_, **__):
        raise error

    rng = np.random.default_rng(0)
    ages = rng.integers(20, 90, 150)
    died = (rng.random(150) < 1 / (1 + np.exp(2 - 2 * (ages >= 60)))).astype(int)
    pd.DataFrame({"age": ages, "died": died}).to_csv(tmp_path / "raw.csv", index=False)
    monkeypatch.setattr(search, fail)
    result = run("fit", tmp_path / "raw.csv", "--outcome", "died", "--items", "--output", "s.json",
                 code=130 if isinstance(error, KeyboardInterrupt) else 0)  # fmt: skip
    assert "the score is without remarks on its fit and its cut-offs" in result.stderr
    score = RiskScore.load("s.json")
    assert score.certificate is not None
    assert score.requirements
    assert not score.fit_remarks
    assert score.variables
    assert not score.cutoff_ranges


def test_where_nothing_is_asked_for_and_all_is_printed_nothing_is_written(table, folder):
    run("fit", table, *FIT, "--quiet")
    delivery = Delivery(None)
    assert not delivery.is_kept
    assert names(folder) == set()


# --- the program ----------------------------------------------------------------------------------


CLOSED_PIPE = """
r, w = os.pipe(); os.close(r); os.dup2(w, {0}); os.close(w)
"""
NO_TERMINAL = """
import pty
ours, theirs = pty.openpty(); os.dup2(theirs, {0}); os.close(theirs); os.close(ours)
"""


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize("output", [[], ["--output", "s.json"]], ids=["printed", "saved"])
@pytest.mark.parametrize(
    ("fault", "code", "message"),
    [
        ("os.dup2(os.open('/dev/full', os.O_WRONLY), 1)", EXIT_OUTPUT, "No space left on device"),
        ("os.close(1)\nsys.stdout = None", EXIT_OUTPUT, "Bad file descriptor"),
        (CLOSED_PIPE.format(1), 0, "was closed by its reader"),
        (NO_TERMINAL.format(1), EXIT_OUTPUT, "Input/output error"),
    ],
    ids=["full", "closed", "reader gone", "terminal gone"],
)
def test_standard_output_that_fails_loses_no_score(table, folder, fault, code, message, output):
    found = program("fit", table, *FIT, "--quiet", *output, before=fault)
    assert "Traceback" not in found.stderr
    if output:
        assert found.returncode == code
        assert names(folder) == {"s.json"}
        assert RiskScore.load("s.json").certificate.is_optimal
        if code:
            assert found.stderr == f"Error: standard output: {message}\n"
    else:
        assert found.returncode == EXIT_OUTPUT
        assert message in found.stderr
        assert recovered(folder, found.stderr).certificate.is_optimal


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    ["os.dup2(os.open('/dev/full', os.O_WRONLY), 2)", "os.close(2)\nsys.stderr = None",
     CLOSED_PIPE.format(2), NO_TERMINAL.format(2)],
    ids=["full", "closed", "reader gone", "terminal gone"],
)  # fmt: skip
@pytest.mark.parametrize("verbosity", [[], ["--verbose"]], ids=["usual", "verbose"])
def test_standard_error_that_fails_ends_nothing(table, folder, fault, verbosity):
    found = program("fit", table, *FIT, *verbosity, "--output", "s.json", before=fault)
    assert found.returncode == 0
    assert str(RiskScore.load("s.json")) in found.stdout
    if not verbosity:
        # The fault of arguments has its exit code, though nobody can read what it is.
        assert program("fit", "none.csv", *FIT, before=fault).returncode == EXIT_USAGE


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["show", "s.json"], ["predict", "s.json", "rows.csv"],
                                       ["export", "s.json", "--format", "sql"], ["--help"],
                                       ["fit", "--help"], ["--version"]])  # fmt: skip
def test_the_other_commands_say_that_nothing_could_be_printed(table, folder, arguments):
    RiskScore(-3, {"smoker": 2}, outcome_name="died").save("s.json")
    Path("rows.csv").write_text(table.read_text(encoding="utf-8"), encoding="utf-8")
    full = program(*arguments, before="os.dup2(os.open('/dev/full', os.O_WRONLY), 1)")
    assert full.stderr == "Error: standard output: No space left on device\n"
    assert full.returncode == EXIT_OUTPUT
    gone = program(*arguments, before=CLOSED_PIPE.format(1))
    assert (gone.returncode, gone.stderr) == (0, "")


def test_an_encoding_that_lacks_what_names_have(table, folder):
    encoded = """
sys.stdout = open(1, "w", encoding={0!r}, closefd=False)
sys.stderr = open(2, "w", encoding={0!r}, errors="backslashreplace", closefd=False)
"""
    fit = program("fit", table, *FIT, "--quiet", "--output", "s.json",
                  before=encoded.format("cp1252"))  # fmt: skip
    assert (fit.returncode, fit.stderr) == (0, "")
    assert "age >= 60" in fit.stdout
    export = program("export", "s.json", "--format", "sql", before=encoded.format("ascii"))
    assert (export.returncode, export.stdout) == (EXIT_USAGE, "")
    assert "in the encoding ascii, which has no '\\u2265': name a file by" in export.stderr


@POSIX
def test_a_full_disk(table, folder):
    """No file may be larger than a kilobyte: neither the score nor its recovery file fits."""
    before = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))"
    Path("s.json").write_text("as it was")
    found = program("fit", table, *FIT, "--quiet", "--output", "s.json", before=before)
    assert found.returncode == EXIT_OUTPUT
    assert found.stderr.startswith("Error: s.json: File too large; no file can be written; ")
    text = found.stderr.partition("the risk score as JSON is\n")[2]
    assert str(RiskScore.from_json(text)) in found.stdout
    assert names(folder) == {"s.json"}
    assert Path("s.json").read_text() == "as it was"
    Path("s.json").unlink()
    RiskScore(-3, {"smoker": 2}, outcome_name="died").save("s.json")
    for arguments in (["predict", "s.json", table, "--output", "p.csv"],
                      ["export", "s.json", "--format", "html", "--output", "p.html"]):  # fmt: skip
        full = program(*arguments, before=before.replace("1000", "100"))
        assert full.returncode == EXIT_OUTPUT
        assert full.stderr == f"Error: {arguments[-1]}: File too large\n"
        assert names(folder) == {"s.json"}


# --- exit codes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (MemoryError(), EXIT_MEMORY, "Error: out of memory: use fewer rows"),
        (MemoryError("8 GiB"), EXIT_MEMORY, "Error: out of memory (8 GiB): use fewer rows"),
        (WorkMemoryError("9 bytes"), EXIT_MEMORY, "Error: 9 bytes"),
        (RecursionError("too deep"), EXIT_INTERNAL, "Error: RecursionError: too deep. This is a"),
        (KeyError("x"), EXIT_INTERNAL, "Error: KeyError: 'x'. This is a fault of riskslim"),
        (ZeroDivisionError("by 0"), EXIT_INTERNAL, "Error: ZeroDivisionError: by 0. This is"),
        (TypeError("a type"), EXIT_USAGE, "Error: a type"),
    ],
    ids=repr,
)
def test_what_ends_a_search_has_its_exit_code(table, monkeypatch, error, code, message):
    def fail(*_, **__) -> Solution:
        raise error

    monkeypatch.setattr(fit_module, "solve", fail)
    result = run("fit", table, *FIT, "--quiet", code=code)
    assert result.stdout == ""
    assert result.stderr.splitlines()[-1].startswith(message)
    assert ("Traceback" in result.stderr) == (code == EXIT_INTERNAL)


def test_records_of_all_outputs_are_complete(table, folder):
    options = [part for pair in FILES.items() if pair[0] != "--report" for part in pair]
    run("fit", table, *FIT, "--quiet", "--path", "--cv", "2", *options)
    assert len(json.loads(Path("sizes.json").read_text())) == 2
    assert len(Path("folds.csv").read_text().splitlines()) == 1 + 2 * 5
    assert Path("trace.csv").read_text().startswith("time,upper_bound,")
    assert RiskScore.load("score.json").certificate.is_optimal
