"""How much of the package a fit crosses, beside how much code there is.

    python -m benchmarks.crossings            # both fits, and lines of code
    python -m benchmarks.crossings fit        # the functions that one of them crosses, by name
    python -m benchmarks.crossings command

`fit` is `RiskSLIMClassifier(max_size=3).fit(frame, y)` on the 0/1 columns of the demo, as a data
frame; `command` is `riskslim fit --items --report` on ten of its raw columns, in a CSV file. Each
runs once, in a process of its own.

A function is crossed if it is called, in any thread; functions without a name (lambdas,
comprehensions) and compiled ones do not count. A module is crossed if one of its functions is:
importing it is not enough. Lines of code are those of the package: Python without docstrings,
comments and blank lines, Cython (.pyx, .pxd) and C (.h) without comments and blank lines.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import io
import re
import sys
import tempfile
import threading
import tokenize
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple
from unittest import mock

import riskslim
from benchmarks.children import run_python

PACKAGE = Path(riskslim.__file__).resolve().parent
_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip
_COMMENT_OF_C = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


class Function(NamedTuple):
    """A function of the package, by where it is defined."""

    module: str
    line: int
    name: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.name}"


def crossed(run: Callable[[], object]) -> list[Function]:
    """Collect the functions of the package that a call runs, in this thread and in new ones.

    Parameters
    ----------
    run : callable

    Returns
    -------
    list of Function
        In order of modules and lines.
    """
    called: set[tuple[str, int, str]] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and _is_named_function(frame.f_code):
            code = frame.f_code
            called.add((code.co_filename, code.co_firstlineno, code.co_name))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    ours = [one for one in called.copy() if Path(one[0]).is_relative_to(PACKAGE)]
    return sorted(Function(_module(file), line, name) for file, line, name in ours)


def _is_named_function(code: CodeType) -> bool:
    """Neither the body of a module or class, nor a lambda or comprehension."""
    return bool(code.co_flags & inspect.CO_OPTIMIZED) and not code.co_name.startswith("<")


def _module(file: str) -> str:
    parts = Path(file).relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# ---- what is fitted ----------------------------------------------------------------------------


def fit(folder: Path) -> Callable[[], object]:
    """Fit a classifier to a data frame of 0/1 columns."""
    from sklearn.datasets import load_breast_cancer

    table = load_breast_cancer(as_frame=True)
    frame = (table.data > table.data.median()).astype(int)
    return lambda: riskslim.RiskSLIMClassifier(max_size=3).fit(frame, table.target)


def command(folder: Path) -> Callable[[], object]:
    """Fit by the command line to raw columns of a file, with a report."""
    from sklearn.datasets import load_breast_cancer

    from riskslim.__main__ import main

    columns = load_breast_cancer(as_frame=True).frame
    path, report = folder / "rows.csv", folder / "report.html"
    columns.iloc[:, [*range(10), -1]].to_csv(path, index=False)
    line = ["riskslim", "fit", path, "--outcome", "target", "--items", "--report", report]

    def run() -> None:
        with mock.patch.object(sys, "argv", [*map(str, line), "--max-size", "3"]):
            try:
                main()
            except SystemExit as end:
                if end.code:
                    raise

    return run


FITS = {"fit": fit, "command": command}
TITLES = {
    "fit": "RiskSLIMClassifier(max_size=3).fit(frame, y)",
    "command": "riskslim fit --items --report",
}


def crossed_by(name: str) -> list[Function]:
    """Collect what one of :data:`FITS` crosses, in this process, and drop what it prints."""
    with tempfile.TemporaryDirectory() as folder:
        run = FITS[name](Path(folder))
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            return crossed(run)


# ---- lines of code -----------------------------------------------------------------------------


def python_lines(text: str) -> int:
    """Lines of Python that hold code: no docstrings, comments and blank lines."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    left_out = {k for k, line in enumerate(text.splitlines(), 1) if not line.strip()}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            left_out |= _lines(node.body[0].lineno, node.body[0].end_lineno)
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            found |= _lines(token.start[0], token.end[0])
    return len(found - left_out)


def _lines(first: int, last: int | None) -> set[int]:
    return set(range(first, (last or first) + 1))


def cython_lines(text: str) -> int:
    """Lines of Cython without those that are blank or a comment."""
    return sum(not re.match(r"\s*(#|$)", line) for line in text.splitlines())


def c_lines(text: str) -> int:
    """Lines of C without those that are blank or a comment."""
    return sum(bool(line.strip()) for line in _COMMENT_OF_C.sub("", text).splitlines())


COUNTERS = {".py": python_lines, ".pyx": cython_lines, ".pxd": cython_lines, ".h": c_lines}


def lines_of_code(folder: Path) -> Iterator[tuple[Path, int]]:
    """Count the lines of each file in a folder and in those below it.

    Parameters
    ----------
    folder : Path

    Yields
    ------
    path : Path
    lines : int
    """
    for path in sorted(folder.rglob("*")):
        if path.suffix in COUNTERS and path.is_file():
            yield path, COUNTERS[path.suffix](path.read_text(encoding="utf-8"))


# ---- tables ------------------------------------------------------------------------------------


def described() -> str:
    """Run both fits in new processes, count lines, and write both as tables."""
    rows = ["| | functions | modules |", "|---|---|---|"]
    for name, title in TITLES.items():
        found = run_python(["-m", "benchmarks.crossings", name]).splitlines()
        modules = {line.partition(":")[0] for line in found}
        rows.append(f"| `{title}` | {len(found):,} | {len(modules)} |")
    counted = list(lines_of_code(PACKAGE))
    python = [(path, lines) for path, lines in counted if path.suffix == ".py"]
    kernels = sum(lines for path, lines in python if "_kernels" in path.parts)
    total, compiled = (sum(lines for _, lines in some) for some in (python, counted))
    rows += [
        "",
        "| lines of code | |",
        "|---|---|",
        f"| Python | {total:,} |",
        f"| of these in `_kernels` | {kernels:,} |",
        f"| Cython and C | {compiled - total:,} |",
    ]
    return "\n".join(rows) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """Print tables, or what one fit crosses."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.crossings",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="?", choices=FITS, help="print the functions it crosses")
    name = parser.parse_args(arguments).name
    text = described() if name is None else "".join(f"{one}\n" for one in crossed_by(name))
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
