"""Trials: one place broken in a copy of a checkout, and tests run on it up to the first failure."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import functools
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.mutations import watch
from benchmarks.mutations.places import Place

__all__ = ["CAUGHT", "CONTRACT", "MARKERS", "Limits", "Result", "Trials", "suite_of"]

CONTRACT = ("tests/engines/test_contract.py", "tests/engines/test_contract_rates.py")
MARKERS = "not slow and not numba and not benchmarks"
_NOT_COPIED = (".git", "__pycache__", "build", "site", ".hypothesis", ".*_cache", "*.c")
_PLUGIN = "mutation_watch"
# Compile some extensions, as setup.py says, but quickly; their results do not depend on it.
_BUILD = """
import sys
import Cython.Build

names = sys.argv.pop(1).split(",")
whole = Cython.Build.cythonize

def some(extensions, **options):
    chosen = [one for one in extensions if one.name.rpartition(".")[2] in names]
    for one in chosen:
        one.extra_compile_args = [*one.extra_compile_args, "-O1"]
    return whole(chosen, force=True, **options)

Cython.Build.cythonize = some
sys.argv[0] = "setup.py"
exec(compile(open("setup.py", encoding="utf-8").read(), "setup.py", "exec"))
"""
_USES = re.compile(r'(?:#include|extern from) "(\w+)\.h"|_kernels\.(\w+) cimport')


@dataclasses.dataclass(frozen=True)
class Limits:
    """Seconds after which tests are ended.

    Attributes
    ----------
    test : float
        CPU seconds of one test, after which it counts as an endless loop.
    whole : float
        CPU seconds of all tests of one trial.
    silent : float
        Seconds by the clock in which no test begins or ends: a process that waits for ever.
    """

    test: float = 120.0
    whole: float = 400.0
    silent: float = 1200.0


@dataclasses.dataclass(frozen=True)
class Result:
    """What came of a trial.

    Attributes
    ----------
    caught : str
        "yes", "timeout" (of one test), "no", "limit" (of all tests together, none failed) or
        "not compiled".
    by : str
        Test that noticed.
    n_tests : int
        Tests that were begun.
    seconds : float
        CPU seconds of tests, without those of compilation.
    """

    caught: str
    by: str = ""
    n_tests: int = 0
    seconds: float = 0.0


NOT_TRIED = Result("")
CAUGHT = ("yes", "timeout")
_CRASH = " (crash)"
_PAUSE = 0.5


def suite_of(checkout: Path, file: str, contract: Sequence[str]) -> list[str]:
    """Files of tests for a module: those of its folder, and the contract of engines that use it.

    Parameters
    ----------
    checkout : Path
    file : str
        Of the module, such as "riskslim/loss/form.py".
    contract : sequence of str
        Files of the contract.

    Returns
    -------
    list of str
        Those that bear the module's name come first, then others that name it, then, for engines,
        the contract; for all others it comes last.
    """
    if file.endswith(".py") and file not in _used_by_engines(checkout):
        contract = ()
    _, *folders, name = Path(file).parts
    stem = name.partition(".")[0]
    if folders:
        found = sorted((checkout / "tests" / folders[0].removeprefix("_")).rglob("test_*.py"))
        names = re.compile(rf"\b{stem}\b")
    else:
        names = re.compile(rf"\briskslim\.{stem}\b")
        found = [
            path
            for path in sorted((checkout / "tests").rglob("test_*.py"))
            if path.stem == f"test_{stem}" or names.search(path.read_text(encoding="utf-8"))
        ]

    def rank(path: Path) -> tuple[bool, bool, bool]:
        is_near = path.parent.name == folders[-1].removeprefix("_") if folders else True
        is_named = names.search(path.read_text(encoding="utf-8")) is not None
        return path.stem != f"test_{stem}", not is_near, not is_named

    files = [path.relative_to(checkout).as_posix() for path in sorted(found, key=rank)]
    first = [file for file in files if rank(checkout / file) < (True, False, True)]
    rest = [file for file in files if file not in first]
    is_engine = folders[:1] == ["engines"]
    ordered = [*first, *contract, *rest] if is_engine else [*files, *contract]
    return list(dict.fromkeys(ordered))


@functools.cache
def _used_by_engines(checkout: Path) -> frozenset[str]:
    """Modules of the package that engines import, themselves or by way of others."""
    waiting = list((checkout / "riskslim" / "engines").rglob("*.py"))
    found = set(waiting)
    while waiting:
        for node in ast.walk(ast.parse(waiting.pop().read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names] + [node.module]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            paths = {checkout / f"{str(name).replace('.', '/')}.py" for name in names}
            new = {path for path in paths - found if path.is_file()}
            found |= new
            waiting += new
    return frozenset(path.relative_to(checkout).as_posix() for path in found)


class Trials:
    """Two copies of a checkout, of which one is broken.

    Parameters
    ----------
    checkout : Path
        With compiled kernels in place.
    folder : Path
        For the copies.
    contract : sequence of str
    markers : str
        pytest's expression of what is run.
    limits : Limits
    """

    def __init__(
        self,
        checkout: Path,
        folder: Path,
        contract: Sequence[str] = CONTRACT,
        markers: str = MARKERS,
        limits: Limits = Limits(),
    ) -> None:
        self.contract, self.markers, self.limits = contract, markers, limits
        self._whole, self._broken = folder / "whole", folder / "broken"
        self._folder = folder
        self._left_out: list[str] = []  # tests that fail on what is not broken, or at times
        for copy in (self._whole, self._broken):
            if not copy.exists():
                shutil.copytree(checkout, copy, ignore=shutil.ignore_patterns(*_NOT_COPIED))
        shared = checkout.parent / "shared"  # data sets that tests look for beside the checkout
        if shared.exists() and not (folder / "shared").exists():
            (folder / "shared").symlink_to(shared.resolve())
        plugin = folder / "plugin"
        plugin.mkdir(exist_ok=True)
        shutil.copy(watch.__file__, plugin / f"{_PLUGIN}.py")
        for copy in (self._whole, self._broken):
            self._check_import(copy)

    def _environment(self, copy: Path) -> dict[str, str]:
        return {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, (copy, self._folder / "plugin"))),
            watch.EVENTS: str(self._folder / "events"),
            watch.LIMIT: str(self.limits.test),
        }

    def _check_import(self, copy: Path) -> None:
        run = subprocess.run(
            [sys.executable, "-c", "import riskslim; print(riskslim.__file__)"],
            cwd=copy, env=self._environment(copy), capture_output=True, text=True, check=False,
        )  # fmt: skip
        if Path(run.stdout.strip()) != copy / "riskslim" / "__init__.py":
            raise RuntimeError(f"{copy} is not what is imported: {run.stdout}{run.stderr}")

    def run(self, place: Place, before: Result = NOT_TRIED) -> Result:
        """Break a place, run its tests, and mend it.

        Parameters
        ----------
        place : Place
        before : Result, optional
            Of a trial that reached its limit: this one goes on with the file of tests in which
            that one ended, and its numbers are those of both.

        Returns
        -------
        Result

        Raises
        ------
        RuntimeError
            If tests cannot be collected where nothing is broken.
        """
        with self._break(place) as is_built:
            if not is_built:
                return Result("not compiled")
            files = suite_of(self._whole, place.key.file, self.contract)
            last = before.by.partition("::")[0]
            files = files[files.index(last) :] if last in files else files
            while True:
                result = self._tests(self._broken, files, self.limits.whole - before.seconds)
                if result.caught not in CAUGHT or self._holds(result, files):
                    n_tests = before.n_tests + result.n_tests
                    seconds = round(before.seconds + result.seconds, 1)
                    return dataclasses.replace(result, n_tests=n_tests, seconds=seconds)
                if not result.by:
                    raise RuntimeError(f"the tests of {self._whole} do not begin: {files}")
                sys.stdout.write(f"left out, since it fails at times: {result.by}\n")
                self._left_out.append(result.by.removesuffix(_CRASH))

    def _holds(self, result: Result, files: Sequence[str]) -> bool:
        """True if a test fails because of what is broken: again there, and nowhere else.

        A collection that fails without a name is repeated as a whole.
        """
        test = result.by.removesuffix(_CRASH)
        asked = [test] if test else [*files, "--collect-only"]
        if (
            result.caught == "yes"
            and test == result.by
            and self._tests(self._broken, asked).caught == "no"
        ):
            return False
        return self._tests(self._whole, asked).caught == "no"

    @contextlib.contextmanager
    def _break(self, place: Place) -> Iterator[bool]:
        path = self._broken / place.key.file
        text = path.read_text(encoding="utf-8")
        built = users_of(path) if path.suffix in (".pyx", ".h") else []
        try:
            _write(path, place.broken(text))
            yield not built or self._build(built)
        finally:
            _write(path, text)
            kernels = Path("riskslim") / "_kernels"
            for name in built:
                for old in (self._broken / kernels).glob(f"{name}.*.so"):
                    old.unlink()
                for whole in (self._whole / kernels).glob(f"{name}.*.so"):
                    shutil.copy2(whole, self._broken / kernels)

    def _build(self, names: Sequence[str]) -> bool:
        run = subprocess.run(
            [sys.executable, "-c", _BUILD, ",".join(names), "-q", "build_ext", "--inplace"],
            cwd=self._broken, capture_output=True, text=True, check=False,
            env={**os.environ, "RISKSLIM_REQUIRE_KERNELS": "1"},
        )  # fmt: skip
        return run.returncode == 0

    def _tests(self, copy: Path, asked: Sequence[str], most: float | None = None) -> Result:
        """Run tests on a copy up to the first failure, or for so many CPU seconds."""
        whole = round(self.limits.whole if most is None else most)
        events = self._folder / "events"
        events.write_text("")
        home = self._folder / "temporary"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        left_out = [f"--deselect={test}" for test in self._left_out]
        command = [
            *(sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", _PLUGIN),
            *("-p", "no:cacheprovider", "-m", self.markers, *left_out, *asked),
        ]
        before = _children_seconds()
        with (self._folder / "output.txt").open("w") as output:
            process = subprocess.Popen(
                command, cwd=copy, stdout=output, stderr=subprocess.STDOUT,
                env={**self._environment(copy), "TMPDIR": str(home)}, start_new_session=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 10)),
            )  # fmt: skip
            is_silent = self._wait(process, events)
        seconds = _children_seconds() - before
        return self._judge(process.returncode, events.read_text().splitlines(), is_silent, seconds)

    def _wait(self, process: subprocess.Popen[bytes], events: Path) -> bool:
        """Wait for an end; true if it had to be made, as nothing happened any more."""
        last, silent = 0, 0.0
        try:
            while process.poll() is None and silent <= self.limits.silent:
                # Pauses are counted, not read off a clock: all of this may be stopped for a while.
                time.sleep(_PAUSE)
                size = events.stat().st_size
                last, silent = size, silent + _PAUSE if size == last else 0.0
        finally:
            with contextlib.suppress(ProcessLookupError):  # what tests have left, too
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return silent > self.limits.silent

    @staticmethod
    def _judge(code: int, events: Sequence[str], is_silent: bool, seconds: float) -> Result:
        starts = [line.partition(" ")[2] for line in events if line.startswith("start")]
        failed = [line.partition(" ")[2] for line in events if line.startswith("failed")]
        now = starts[-1] if starts else ""
        numbers = len(starts), round(seconds, 1)
        if code in (0, 5) and not failed:
            return Result("no", "", *numbers)
        if failed:
            return Result("yes", failed[0], *numbers)
        if code == -signal.SIGXCPU:
            return Result("limit", now, *numbers)
        if is_silent or code == -signal.SIGPROF:
            return Result("timeout", now, *numbers)
        return Result("yes", f"{now}{_CRASH}" if now else "", *numbers)


def users_of(path: Path) -> list[str]:
    """Extensions that a source of kernels is compiled into.

    Parameters
    ----------
    path : Path
        Of a module or a header.

    Returns
    -------
    list of str
    """
    folder = path.parent
    uses: dict[str, set[str]] = {}
    for source in (*folder.glob("*.pyx"), *folder.glob("*.pxd"), *folder.glob("*.h")):
        found = {header or module for header, module in _USES.findall(source.read_text("utf-8"))}
        uses.setdefault(source.stem, set()).update(found)

    def reaches(name: str, seen: frozenset[str] = frozenset()) -> bool:
        others = uses.get(name, set()) - seen - {name}
        return name == path.stem or any(reaches(one, seen | {name}) for one in others)

    if path.suffix == ".pyx":
        return [path.stem]
    return sorted(one.stem for one in folder.glob("*.pyx") if reaches(one.stem))


def _write(path: Path, text: str) -> None:
    """Write a module so that no compiled form of an earlier text is taken for its own."""
    path.write_text(text, encoding="utf-8")
    for old in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        old.unlink()


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
