"""Compile the kernels with sanitizers and make random calls of riskslim.backend.

    python tests/sanitize.py [--calls 10000] [--folder DIR] [--tests tests/kernels ...]

Needs GCC with libasan and libubsan, on Linux, and takes some minutes: it is no part of the tests. A
copy of the package is compiled in a folder of its own with AddressSanitizer and UBSan. Findings of
either are errors, and so are exceptions of calls that are neither TypeError nor ValueError. With
``--tests``, tests run under both as well.
"""

from __future__ import annotations

import argparse
import collections
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
# Writes 5000 scores into an array of 10: sanitizers that do not see that see nothing else.
FAULT = """
import numpy as np
from riskslim._kernels import integer

columns, coef = np.ones((5000, 2), np.int8, order="F"), np.ones(2, np.int32)
integer.positions(columns, coef, 0, np.ones(5000, np.int8), 0, 3, np.empty(10, np.int32), 1)
"""
FLAGS = "-fsanitize=address,undefined -fno-omit-frame-pointer -g"


def library(name: str) -> str:
    """Path of a library of the compiler."""
    return subprocess.run(
        ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
    ).stdout.strip()


def build(folder: Path) -> None:
    """Compile a copy of the package; of one that is there, what has changed."""
    leave = shutil.ignore_patterns("*.so", "*.c", "__pycache__")
    for name in ("riskslim", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=leave, dirs_exist_ok=True)
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, folder)
    flags = {"CFLAGS": FLAGS, "LDFLAGS": FLAGS}
    subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        check=True, cwd=folder, env=os.environ | flags,
    )  # fmt: skip


class Run(NamedTuple):
    """What came of Python on the copy."""

    findings: int  # of both sanitizers, in any of its processes
    exit_code: int
    text: str  # reports of the sanitizers, and what else was written to stderr


def under_sanitizers(folder: Path, arguments: Sequence[str]) -> Run:
    """Run Python on the copy."""
    reports = folder / "reports"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir()
    # A file for each process: tests keep what processes of theirs write to stderr.
    own = f"log_path={reports / 'of'}"
    environment = os.environ | {
        "LD_PRELOAD": f"{library('libasan.so')} {library('libubsan.so')}",
        # Python itself leaves memory when it ends; its own allocator would hide what lies beside
        # an array.
        "ASAN_OPTIONS": f"detect_leaks=0:abort_on_error=0:halt_on_error=1:{own}",
        "UBSAN_OPTIONS": f"print_stacktrace=1:halt_on_error=1:{own}",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": f"{folder}{os.pathsep}{folder / 'tests' / 'helpers'}",
        "RISKSLIM_KERNELS": "cython",
        "OPENBLAS_NUM_THREADS": "1",
    }
    log = folder / "findings.txt"
    with log.open("w+", encoding="utf-8") as errors:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=folder, env=environment, stderr=errors, check=False
        )
        errors.seek(0)
        texts = [errors.read()]
    texts += [path.read_text(errors="replace") for path in sorted(reports.iterdir())]
    text = "".join(texts)
    found = text.count("runtime error:") + text.count("ERROR: AddressSanitizer")
    return Run(found, done.returncode, text)


def checked(folder: Path, arguments: Sequence[str]) -> int:
    """Run Python on the copy, and show what was found; returns 1 if there is something."""
    run = under_sanitizers(folder, arguments)
    is_wrong = run.findings > 0 or run.exit_code != 0
    if is_wrong:
        sys.stdout.write(run.text[-20_000:])
    sys.stdout.write(f"{run.findings} findings, exit code {run.exit_code}: {arguments}\n")
    return int(is_wrong)


def call(first: int, calls: int) -> int:
    """Make the calls in this process, and count what came of them."""
    from backend_calls import random_call

    outcomes: collections.Counter[str] = collections.Counter()
    for seed in range(first, first + calls):
        try:
            outcomes[random_call(seed)] += 1
        except Exception as error:
            sys.stderr.write(f"call {seed}: {error!r}\n")
            return 1
    sys.stdout.write(
        f"{calls} calls, of which {outcomes['done']} were done and the others refused\n"
    )
    for message, number in outcomes.most_common():
        sys.stdout.write(f"{number:7}  {message}\n")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python tests/sanitize.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="first of the calls")
    parser.add_argument("--folder", type=Path, help="keep the compiled copy, and use it again")
    parser.add_argument("--tests", nargs="*", default=[], help="run these tests as well")
    parser.add_argument("--here", action="store_true", help="make the calls without sanitizers")
    options = parser.parse_args(arguments)
    if options.here:
        return call(options.first, options.calls)
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        build(folder)
        if "AddressSanitizer" not in under_sanitizers(folder, ["-c", FAULT]).text:
            sys.stdout.write("the sanitizers do not see a plain fault: nothing was checked\n")
            return 1
        script = [str(folder / "tests" / "sanitize.py"), "--here"]
        numbers = ["--calls", str(options.calls), "--first", str(options.first)]
        found = checked(folder, [*script, *numbers])
        if options.tests:
            pytest = ["-m", "pytest", "-q", "-s", "-n", "0", "-p", "no:cacheprovider"]
            found |= checked(folder, [*pytest, *options.tests])
    return found


if __name__ == "__main__":
    sys.exit(main())
