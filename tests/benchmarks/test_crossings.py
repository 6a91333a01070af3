"""What a fit crosses is what is called, in all threads; lines of code are those with code."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from benchmarks import crossings
from benchmarks.children import run_python
from riskslim import _checks, _wording

pytestmark = pytest.mark.benchmarks


def test_what_is_called_is_found_in_every_thread():
    def run():
        _wording.listing(["a"])
        thread = threading.Thread(target=_wording.percent, args=(0.5, 0.01))
        thread.start()
        thread.join()
        (lambda: None)()

    found = crossings.crossed(run)
    assert [(one.module, one.name) for one in found] == [
        ("riskslim._wording", "percent"), ("riskslim._wording", "listing"),
    ]  # fmt: skip
    assert found[1].line == _wording.listing.__code__.co_firstlineno


def test_nothing_is_found_after_an_error():
    with pytest.raises(ValueError, match="n_threads"):
        crossings.crossed(lambda: _checks.checked_threads(0))
    assert crossings.crossed(lambda: None) == []


def test_fits_cross_the_layers_that_they_need():
    by_fit = run_python(["-m", "benchmarks.crossings", "fit"]).splitlines()
    by_command = run_python(["-m", "benchmarks.crossings", "command"]).splitlines()
    for found in (by_fit, by_command):
        assert len(set(found)) == len(found)
        assert all(re.fullmatch(r"riskslim[\w.]*:\d+ \w+", line) for line in found)
    modules, more = ({line.partition(":")[0] for line in some} for some in (by_fit, by_command))
    shared = {"riskslim.classifier", "riskslim.loss.logistic"}
    assert {*shared, "riskslim.engines.branch_and_bound.driver"} <= modules & more
    assert {"riskslim.cli.fit", "riskslim.report.page", "riskslim.items.encoder"} <= more - modules
    assert len(modules) < len(by_fit) < len(by_command)


PYTHON = '''"""Of the module.

Two lines."""

import os  # a comment


class A:
    """Of a class."""

    # a comment
    text = """a text,

    three lines"""


def f():
    """Of a function."""
    return """no docstring"""
'''
CYTHON = '# a comment\ncdef int f(int a):\n\n    """Kept."""\n    return a  # a comment\n'
C = "/* a comment\n   of two lines */\nint a; // one\n\n// another\n/* before */ int b;\n"


def test_lines_of_code(tmp_path):
    assert crossings.python_lines(PYTHON) == 6
    assert crossings.cython_lines(CYTHON) == 3
    assert crossings.c_lines(C) == 2
    (tmp_path / "inner").mkdir()
    for name, text in {"a.py": PYTHON, "inner/b.pyx": CYTHON, "inner/c.h": C, "d.md": C}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = {path.name: lines for path, lines in crossings.lines_of_code(tmp_path)}
    assert found == {"a.py": 6, "b.pyx": 3, "c.h": 2}


def test_tables(tmp_path, monkeypatch, capsys):
    (tmp_path / "_kernels").mkdir()
    for name, text in {"a.py": PYTHON, "_kernels/b.py": "a = 1\n", "_kernels/c.h": C}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(crossings, "PACKAGE", Path(tmp_path))
    monkeypatch.setattr(crossings, "run_python", lambda arguments: "a:1 f\na:2 g\nb:1 f\n")
    crossings.main([])
    shown = capsys.readouterr().out
    assert "| `RiskSLIMClassifier(max_size=3).fit(frame, y)` | 3 | 2 |\n" in shown
    assert "| `riskslim fit --items --report` | 3 | 2 |\n" in shown
    assert "| Python | 7 |\n| of these in `_kernels` | 1 |\n| Cython and C | 2 |\n" in shown
