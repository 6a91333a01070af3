"""SIGINT, SIGTERM and SIGHUP at any moment: what was found is saved, and nobody is left behind."""

from __future__ import annotations

import contextlib
import importlib
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer

from fault_rounds import ROUNDS, seed_of
from programs import program, start_program
from riskslim import Alternatives, RiskScore
from riskslim.cli.exit_codes import EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_USAGE
from riskslim.cli.outputs import Delivery
from riskslim.cli.session import session
from riskslim.cli.signals import ending_like_ctrl_c, held_signals

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(os.name != "posix", reason="sends signals"),
    pytest.mark.usefixtures("ctrl_c"),
]
SIGNALS = [signal.SIGINT] + [
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
]
OTHERS = SIGNALS[1:]


@pytest.fixture
def hard(tmp_path) -> Path:
    """Data whose search tree does not end within minutes for scores of 8 features."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (2000, 40))
    odds = X @ rng.normal(0, 0.6, 40) - 1
    columns = {f"x{j}": X[:, j] for j in range(40)}
    columns["y"] = (rng.random(2000) < 1 / (1 + np.exp(-odds))).astype(int)
    path = tmp_path / "hard.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def wait_for_a_bound(process) -> None:
    """Read what the program logs until the root of the tree is done."""
    for line in process.stderr:
        if "objective" in line and "bound 0 " not in line:
            return
    raise AssertionError("the search ended")


# --- handlers -------------------------------------------------------------------------------------


@pytest.fixture
def usual():
    """The usual handlers of the other signals, here."""
    before = {one: signal.signal(one, signal.SIG_DFL) for one in OTHERS}
    yield
    for one, handler in before.items():
        signal.signal(one, handler)


@pytest.mark.parametrize("signum", OTHERS)
@pytest.mark.usefixtures("usual")
def test_they_do_what_ctrl_c_does_and_count_once(signum):
    with ending_like_ctrl_c():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signum)
        for one in OTHERS:  # a second Ctrl-C would give up what was found
            signal.raise_signal(one)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signum) is signal.SIG_DFL


@pytest.mark.parametrize("signum", OTHERS)
@pytest.mark.usefixtures("usual")
def test_a_later_one_counts_again(signum, monkeypatch):
    """What the first one raised can have been swallowed, for example by an import."""
    with ending_like_ctrl_c():
        for moment in (0.0, 60.0):
            monkeypatch.setattr("riskslim.cli.signals.time.monotonic", lambda now=moment: now)
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signum)


@pytest.mark.parametrize("signum", OTHERS)
@pytest.mark.usefixtures("usual")
def test_an_import_that_one_of_them_breaks_is_no_fault(signum, capsys):
    """Compiled modules say "initialization failed" where they are told to end at their import."""

    def imported(*, signals: bool) -> None:
        with session():
            if signals:
                with contextlib.suppress(KeyboardInterrupt):
                    signal.raise_signal(signum)
            raise ImportError("initialization failed")

    def run(*, signals: bool) -> int:
        with pytest.raises(typer.Exit) as ended:
            imported(signals=signals)
        return ended.value.exit_code

    assert run(signals=True) == EXIT_INTERRUPTED
    assert capsys.readouterr().err == "Interrupted.\n"
    assert run(signals=False) == EXIT_USAGE
    assert capsys.readouterr().err == "Error: initialization failed\n"


def test_an_import_that_ctrl_c_breaks_is_no_fault(capsys):
    with pytest.raises(typer.Exit) as ended, session():
        raise ImportError("initialization failed") from KeyboardInterrupt()
    assert ended.value.exit_code == EXIT_INTERRUPTED
    assert capsys.readouterr().err == "Interrupted.\n"


@pytest.mark.parametrize("kind", ["SystemError", "AttributeError"])
@pytest.mark.usefixtures("usual")
def test_an_import_that_loses_the_reason_is_no_fault(kind, tmp_path, monkeypatch, capsys):
    """As of pandas: "returned a result with an exception set", without the Ctrl-C before it."""
    (tmp_path / f"broken_{kind}.py").write_text(f"raise {kind}('returned a result')")
    monkeypatch.syspath_prepend(tmp_path)

    def imported(*, signals: bool) -> None:
        with session():
            if signals:
                with contextlib.suppress(KeyboardInterrupt):
                    signal.raise_signal(signal.SIGTERM)
            importlib.import_module(f"broken_{kind}")

    def run(*, signals: bool) -> int:
        with pytest.raises(typer.Exit) as ended:
            imported(signals=signals)
        return ended.value.exit_code

    assert run(signals=True) == EXIT_INTERRUPTED
    assert capsys.readouterr().err == "Interrupted.\n"
    assert run(signals=False) == (EXIT_INTERRUPTED if kind == "SystemError" else EXIT_INTERNAL)


def test_the_exit_code_is_ours_wherever_ctrl_c_came(tmp_path):
    """Python ended by SIGINT itself where it came within exec, as when a class is made."""
    script = (
        "import riskslim.cli.app as app\n"
        "def main():\n"
        "    exec('raise KeyboardInterrupt')\n"
        "app.main = main\n"
        "from riskslim.__main__ import main\n"
        "main()\n"
    )
    (tmp_path / "interrupted.py").write_text(script)
    command = [sys.executable, "-m", "interrupted"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (EXIT_INTERRUPTED, "Interrupted.\n")


def test_a_class_that_ctrl_c_breaks_is_no_fault(capsys):
    """Python says that a name cannot be set, and of which attribute."""
    broken = RuntimeError("Error calling __set_name__ on 'Field' instance")
    broken.__cause__ = KeyboardInterrupt()

    def fail() -> None:
        raise broken

    with pytest.raises(typer.Exit) as ended, session():
        fail()
    assert ended.value.exit_code == EXIT_INTERRUPTED
    assert capsys.readouterr().err == "Interrupted.\n"
    delivery = Delivery(None)
    with pytest.raises(KeyboardInterrupt):
        delivery.file(Path("out.html"), fail)
    assert delivery.failures == []


@pytest.mark.parametrize("signum", OTHERS)
@pytest.mark.usefixtures("usual")
def test_they_do_what_the_handler_of_the_moment_does(signum):
    seen = []
    with ending_like_ctrl_c():
        before = signal.signal(signal.SIGINT, lambda number, _: seen.append(number))
        signal.raise_signal(signum)
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT]
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in the background of a script
    try:
        with ending_like_ctrl_c(), pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signum)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("usual")
def test_who_ignores_them_goes_on_ignoring_them():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    with ending_like_ctrl_c():
        signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


@pytest.mark.parametrize("signum", SIGNALS)
@pytest.mark.usefixtures("usual")
def test_they_wait_until_something_short_is_done(signum):
    done = []

    def save():
        with held_signals():
            signal.raise_signal(signum)
            signal.raise_signal(signum)
            done.append(True)

    with ending_like_ctrl_c(), pytest.raises(KeyboardInterrupt):
        save()
    assert done == [True]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with held_signals():
        pass


# --- the program ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("signum", OTHERS)  # Ctrl-C is test_app.py's
def test_a_signal_returns_the_best_score(hard, tmp_path, signum):
    process = start_program("fit", hard, "--outcome", "y", "--max-size", 8, "--time-limit", 600,
                    "--verbose", "--output", "s.json", cwd=tmp_path)  # fmt: skip
    try:
        wait_for_a_bound(process)
        for _ in range(3):
            process.send_signal(signum)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert "Traceback" not in err
    score = RiskScore.load(tmp_path / "s.json")
    assert score.certificate.status == "interrupted"
    assert out.startswith(f"{score}\n")


@pytest.mark.slow
@pytest.mark.parametrize("signum", SIGNALS)
def test_a_signal_returns_the_alternatives_that_are_known(hard, tmp_path, signum):
    process = start_program(
        "alternatives", hard, "--outcome", "y", "--max-size", 8, "--time-limit", 600, "--prices",
        "used", "--bootstrap", 3, "--verbose", "--output", "a.json", cwd=tmp_path,
    )  # fmt: skip
    try:
        wait_for_a_bound(process)
        process.send_signal(signum)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert "Traceback" not in err
    found = Alternatives.load(tmp_path / "a.json")
    assert not found.pool.complete
    assert found.pool.bound <= found.objective(0)
    assert found.stability is None
    assert found.explain() in out


@pytest.mark.slow
def test_a_terminal_that_goes_away_loses_nothing(hard, tmp_path):
    """SIGHUP, and nothing can be printed any more."""
    before = (
        "import pty\nours, theirs = pty.openpty()\n"
        "os.dup2(theirs, 1); os.close(theirs)\n"
        "signal.signal(signal.SIGALRM, lambda *_: (os.close(ours), os.kill(os.getpid(), "
        "signal.SIGHUP)))"
    )
    process = start_program("fit", hard, "--outcome", "y", "--max-size", 8, "--time-limit", 600,
                    "--verbose", before=before, cwd=tmp_path)  # fmt: skip
    try:
        wait_for_a_bound(process)
        process.send_signal(signal.SIGALRM)
        _, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 4, err
    (path,) = tmp_path.glob("riskslim-recovered-*.json")
    assert str(path) in err
    assert RiskScore.load(path).certificate.status == "interrupted"


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "fit",
        "path",
        "demo",
        "report",
        "predict",
        "items",
        "export",
        "show",
        "recalibrate",
        "checkpoint",
        "path in a checkpoint",
        "scratch",
    ],
)
def test_signals_at_random_moments(hard, tmp_path, command):
    """Files are complete or not there, the exit code is one of two, and nothing is left."""
    seed = seed_of(command, 0)
    rng = random.Random(seed)
    RiskScore(-1, {"x1": 2, "x2": 1}, outcome_name="y").save(tmp_path / "s.json")
    arguments = {
        "fit": ["fit", hard, "--outcome", "y", "--max-size", 8, "--time-limit", 1, "--report",
                "out.html", "--output", "out.json", "--trace", "out.csv"],
        "path": ["fit", hard, "--outcome", "y", "--max-size", 2, "--path", "--cv", 2,
                 "--path-output", "out.csv", "--output", "out.json"],
        "demo": ["demo"],
        "report": ["report", "s.json", hard, "--output", "out.html"],
        "predict": ["predict", "s.json", hard, "--output", "out.csv"],
        "items": ["fit", hard, "--outcome", "y", "--max-size", 3, "--time-limit", 1, "--items",
                  "--output", "out.json"],
        "export": ["export", "s.json", "--format", "html", "--output", "out.html"],
        "show": ["show", "s.json"],
        "recalibrate": ["recalibrate", "s.json", hard, "--outcome", "y", "--output", "out.json"],
        "checkpoint": ["fit", hard, "--outcome", "y", "--max-size", 8, "--time-limit", 1,
                       "--checkpoint", "c.db", "--output", "out.json"],
        "path in a checkpoint": [
            "fit", hard, "--outcome", "y", "--max-size", 2, "--path", "--cv", 3, "--n-jobs", 2,
            "--checkpoint", "c.db", "--output", "out.json"],
        "scratch": ["fit", hard, "--outcome", "y", "--max-size", 3, "--time-limit", 2,
                    "--memory-limit", "100kB", "--scratch", ".", "--output", "out.json"],
    }[command]  # fmt: skip
    codes = []
    for k in range(ROUNDS):
        signum, delay = rng.choice(SIGNALS), rng.uniform(0.8, 6)
        process = start_program(*arguments, cwd=tmp_path)
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):  # it may end before
                process.wait(delay)
            process.send_signal(signum)
            out, err = process.communicate(timeout=120)
        finally:
            process.kill()
        about = (seed, k, signum, delay, process.returncode, err)
        # Before it is our program that runs, the system ends it.
        assert process.returncode in (0, 130, -signum), about
        codes.append(process.returncode)
        assert "Traceback" not in err or process.returncode == -signum, about
        left = {path.name for path in tmp_path.iterdir()} - {"hard.csv", "s.json"}
        kept = left & {"c.db", "c.db-journal"}
        left -= kept
        if process.returncode == -signum:  # nothing of ours could tidy up
            for folder in tmp_path.glob("riskslim-*"):
                shutil.rmtree(folder)
                left.remove(folder.name)
        assert left <= {"out.json", "out.html", "out.csv"}, about
        if "out.json" in left:
            score = RiskScore.load(tmp_path / "out.json")
            assert process.returncode in (0, 130), about
            if command != "recalibrate":
                assert score.certificate is not None, about
                assert out.count(str(score)) == 1, about
        if "out.html" in left:
            page = (tmp_path / "out.html").read_text(encoding="utf-8")
            whole = "</figure>" if command == "export" else "</html>"
            assert page.rstrip().endswith(whole), about
        if kept:  # it goes on where it was
            again = program(*arguments, cwd=tmp_path)
            assert again.returncode == 0, (about, again.stderr)
            assert RiskScore.load(tmp_path / "out.json").certificate is not None, about
            left.add("out.json")
            for name in kept:
                (tmp_path / name).unlink(missing_ok=True)
        for name in left:
            (tmp_path / name).unlink()
    assert len(codes) == ROUNDS
