"""Random fits, paths, reports and exports for an hour: what a process keeps of them.

    python -m benchmarks.soak --minutes 60                  # in one process
    python -m benchmarks.soak --minutes 60 --processes 4    # in four at once

Each process draws jobs one after the other and does them in a folder of its own: searches on rows
in memory and in files, lists, rates, classifiers on raw columns, cross-validation, paths (now and
then by worker processes), saved and loaded scores, exports, predictions and reports; one search in
five is stopped at a random moment. Memory, threads, open descriptors, children and files are noted
after each job. What is there at the end must be what was there after the warm-up: the command says
so, and returns 1 where something was left.

Memory is noted once allocators have been asked to give back what they keep for later: bytes in use,
as the allocators count them; blocks in use of small Python objects; and what is resident, of files
and anonymous. Pages of files (libraries) come when they are first read, and the system takes them
back when it needs room: they are no leak. Medians over sixths of the jobs are compared: that of the
last one with that of the third. What is in use may grow by what caches of a bounded size take.

Two allocators keep what nobody can ask them for, each up to a limit of its own: pyarrow's pool
(mimalloc) some tens of MiB in the heaps of its threads, in pages of 2 MiB; and glibc the free end
of each thread's arena. Hence the processes are told to have one arena and to let glibc serve
pyarrow (``PLAIN``), so that what is anonymous grows by what is not freed and by little else. With
``--allocators usual`` they have what a process has of itself: what is anonymous is then shown by
kind, and not judged.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import dataclasses
import gc
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import describe_machine
from riskslim import (
    BranchAndBoundSettings,
    CoefficientSet,
    ItemEncoder,
    RiskScore,
    RiskScoreProblem,
    RiskSLIMClassifier,
    TrainingData,
    at_most,
    branch_and_bound,
    cross_validate_risk_score,
    false_positive_rate_at_most,
    model_size_path,
    read,
)
from riskslim.exceptions import RiskSLIMError

# More than this between two windows is a leak: anonymous bytes, or bytes in use, and a share of
# what the process has. NumPy keeps up to seven blocks of each size below 1 KiB, which is 3.5 MiB in
# all, and glibc as many of every 16 bytes for each thread, which is 0.25 MiB.
GROWTH_BYTES, GROWTH_IN_USE, GROWTH_SHARE = 8 * 2**20, 5 * 2**20, 0.03
# Windows over whose states memory is compared: the third, as the first are a warm-up, and the last.
N_WINDOWS, EARLY = 6, 2
# Allocators that give back what is freed: one arena of glibc, which serves pyarrow, too, and no
# pages of 2 MiB, of which one that is needed for a few bytes is all resident.
PLAIN = {
    "MALLOC_ARENA_MAX": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "NUMPY_MADVISE_HUGEPAGE": "0",
}
# Memory of a thread's arena begins at a multiple of this; pools reserve addresses from so many on.
ARENA_BYTES, POOL_BYTES = 64 * 2**20, 2**30


@dataclasses.dataclass(frozen=True)
class State:
    """What a process has.

    Bytes that are resident; of these, anonymous ones, which no file backs, and where those are: in
    the heap, in arenas of threads, in pools (see :func:`anonymous_by_kind`); bytes in use of C's
    allocator and of pyarrow's (None where C's library does not tell); blocks in use of Python's
    allocator of small objects; threads, descriptors, children; files of its own, those that are
    removed and still mapped among them.
    """

    resident: int
    anonymous: int
    heap: int
    arenas: int
    pools: int
    in_use: int | None
    blocks: int
    threads: int
    descriptors: int
    children: int
    files: int

    @classmethod
    def now(cls, folder: Path) -> State:
        _give_back()
        status = Path("/proc/self/status").read_text().splitlines()
        fields = dict(line.split(":", 1) for line in status)
        task = Path(f"/proc/self/task/{os.getpid()}/children")
        return cls(
            resident=int(fields["VmRSS"].split()[0]) * 1024,
            anonymous=int(fields["RssAnon"].split()[0]) * 1024,
            **anonymous_by_kind(Path("/proc/self/smaps").read_text()),
            in_use=in_use(),
            blocks=sys.getallocatedblocks(),
            threads=int(fields["Threads"]),
            descriptors=sum(1 for _ in Path("/proc/self/fd").iterdir()),
            children=len(task.read_text().split()) if task.exists() else 0,
            files=sum(1 for _ in folder.rglob("*")) + _mapped(folder),
        )


def anonymous_by_kind(smaps: str) -> dict[str, int]:
    """Add up anonymous bytes by what has them.

    Parameters
    ----------
    smaps : str
        What ``/proc/self/smaps`` says.

    Returns
    -------
    dict
        Bytes: ``heap``, what C's allocator has at the end of the program's data; ``arenas``, what
        glibc has mapped for threads, each from a multiple of 64 MiB on; ``pools``, what is in use
        of mappings of 1 GiB and more, which pyarrow's allocator reserves. The rest, which is not
        named, is Python's small objects, large blocks, stacks, and data of libraries.
    """
    found = dict.fromkeys(("heap", "arenas", "pools"), 0)
    kind, end, is_arena = "", 0, False
    for line in smaps.splitlines():
        first, *rest = line.split()
        if not first.endswith(":"):
            bounds = first.split("-")
            begin, before, end = int(bounds[0], 16), end, int(bounds[1], 16)
            # An arena goes on where the last mapping ended, if a part of it was marked.
            goes_on = is_arena and begin == before and begin % ARENA_BYTES > 0
            is_nameless, kind = len(rest) == 4, ""
            is_arena = is_nameless and (begin % ARENA_BYTES == 0 or goes_on)
            is_arena = is_arena and end - begin <= ARENA_BYTES
            if rest[-1] == "[heap]":
                kind = "heap"
            elif is_arena:
                kind = "arenas"
            elif is_nameless and end - begin >= POOL_BYTES:
                kind = "pools"
        elif kind and first == "Anonymous:":
            found[kind] += int(rest[0]) * 1024
    return found


def _mapped(folder: Path) -> int:
    """Count the files of a folder that are removed, and mapped all the same."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    ours = {line.split(maxsplit=4)[4] for line in lines if str(folder) in line}
    return sum(1 for one in ours if one.endswith("(deleted)"))


def _give_back() -> None:
    """Collect garbage, and have allocators return to the system what they keep for later."""
    gc.collect()
    if pyarrow := sys.modules.get("pyarrow"):
        pyarrow.default_memory_pool().release_unused()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


class _MallInfo(ctypes.Structure):
    """What ``mallinfo2`` of the GNU C library returns."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
            "fordblks", "keepcost",
        )
    )  # fmt: skip


def in_use() -> int | None:
    """Bytes that were asked for and not freed yet: of C's allocator and of pyarrow's.

    None where C's library does not count them. What allocators keep for later is not among them,
    nor are small Python objects, whose allocator counts blocks.
    """
    try:
        ask = ctypes.CDLL("libc.so.6").mallinfo2
    except (OSError, AttributeError):
        return None
    ask.restype = _MallInfo
    info = ask()
    found = int(info.uordblks) + int(info.hblkhd)
    if pyarrow := sys.modules.get("pyarrow"):
        pool = pyarrow.default_memory_pool()
        if pool.backend_name != "system":
            found += int(pool.bytes_allocated())
    return found


class Jobs:
    """What is drawn from a generator of random numbers and done in a folder."""

    def __init__(self, rng: np.random.Generator, folder: Path) -> None:
        self.rng, self.folder = rng, folder
        self.kinds: dict[str, tuple[float, Callable[[], None]]] = {
            "search": (8, self.search),
            "search of rows in files": (2, self.on_disk),
            "list": (2, self.listed),
            "rates": (1, self.rates),
            "classifier of raw columns": (3, self.classifier),
            "cross-validation": (1, self.cross_validation),
            "path": (1, self.path),
            "path by workers": (0.1, self.path_by_workers),
            "report": (1, self.report),
            "exports": (3, self.exports),
            "saved and loaded": (2, self.saved),
        }

    def draw(self) -> str:
        names = list(self.kinds)
        shares = np.array([self.kinds[name][0] for name in names])
        return str(self.rng.choice(names, p=shares / shares.sum()))

    # --- what jobs are made of ------------------------------------------------------------------

    def table(self, n: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        rng = self.rng
        n = n or int(np.exp(rng.uniform(np.log(100), np.log(20_000))))
        d = int(rng.integers(3, 14))
        kind = rng.choice(["items", "integers", "reals", "mixed"])
        X = rng.integers(0, 2 if kind == "items" else 5, (n, d)).astype(float)
        if kind == "reals":
            X = rng.normal(size=(n, d))
        elif kind == "mixed":
            X[:, : d // 2] = rng.normal(size=(n, d // 2)).round(2)
        odds = (X - X.mean(axis=0)) @ rng.normal(size=d)
        y = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
        y[:2] = 0, 1
        weights = rng.uniform(0.5, 2.0, n) if rng.random() < 0.2 else None
        return X, y, weights

    def problem(self, n: int | None = None, **options: Any) -> RiskScoreProblem:
        data = TrainingData(*self.table(n))
        coefficients = CoefficientSet(data.feature_names, -3, 3)
        constraints = options.pop("constraints", ())
        if self.rng.random() < 0.2:
            constraints = (*constraints, at_most(1, data.feature_names[:3]))
        return RiskScoreProblem(
            data, coefficients, n_threads=int(self.rng.integers(1, 3)),
            max_size=int(self.rng.integers(1, 4)), constraints=constraints, **options,
        )  # fmt: skip

    def limits(self) -> dict[str, Any]:
        """Of one search: seconds, threads, and now and then a wish to stop at a random moment."""
        rng = self.rng
        found: dict[str, Any] = {"time_limit": 1.5, "n_threads": int(rng.integers(1, 3))}
        if rng.random() < 0.2:
            end = time.monotonic() + float(rng.uniform(0, 0.3))
            found["should_stop"] = lambda: time.monotonic() > end
        return found

    def settings(self) -> BranchAndBoundSettings:
        rng = self.rng
        return BranchAndBoundSettings(
            tables=str(rng.choice(["auto", "always", "never"])),
            cutoffs=str(rng.choice(["auto", "always"])),
            elimination=str(rng.choice(["auto", "always"])),
        )

    def score(self) -> tuple[RiskScore, np.ndarray, np.ndarray]:
        X, y, _ = self.table(int(self.rng.integers(100, 2000)))
        classifier = RiskSLIMClassifier(max_size=3, time_limit=1, scale=1.0).fit(X, y)
        return classifier.risk_score_, X, y

    # --- jobs -----------------------------------------------------------------------------------

    def search(self) -> None:
        scale = [1.0, 1.0, 2.0, (0.5, 4.0)][self.rng.integers(4)]
        branch_and_bound(self.problem(scale=scale), settings=self.settings(), **self.limits())

    def on_disk(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        X, y, _ = self.table(int(self.rng.integers(1000, 20_000)))
        columns = {f"x{j}": X[:, j] for j in range(X.shape[1])} | {"y": y}
        path = self.folder / "rows.parquet"
        pq.write_table(pa.table(columns), path, row_group_size=2000)
        data = read(path, "y", memory_limit=2**20, scratch=self.folder)
        coefficients = CoefficientSet(data.feature_names, -3, 3)
        problem = RiskScoreProblem(data, coefficients, max_size=2)
        path.unlink()
        branch_and_bound(problem, **self.limits())

    def listed(self) -> None:
        branch_and_bound(self.problem(n=300), n_solutions=30, **self.limits())

    def rates(self) -> None:
        constraint = false_positive_rate_at_most(0.2, 0.5)
        branch_and_bound(self.problem(n=300, constraints=(constraint,)), **self.limits())

    def classifier(self) -> None:
        X, y, _ = self.table()
        encoder = ItemEncoder(n_thresholds=int(self.rng.integers(2, 6)))
        classifier = RiskSLIMClassifier(max_size=2, time_limit=1, items=encoder).fit(X, y)
        classifier.predict_proba(X)
        str(classifier.risk_score_)

    def cross_validation(self) -> None:
        X, y, _ = self.table(500)
        y[:10], y[10:20] = 0, 1
        estimator = RiskSLIMClassifier(max_size=2, time_limit=0.3, scale=1.0)
        cross_validate_risk_score(estimator, X, y, cv=3)

    def path(self, n_jobs: int = 1) -> None:
        path = model_size_path(self.problem(n=500), cv=2, n_jobs=n_jobs, time_limit=0.5)
        str(path)

    def path_by_workers(self) -> None:
        self.path(n_jobs=2)

    def report(self) -> None:
        score, X, y = self.score()
        score.report(self.folder / "report.html", X, y, n_resamples=200)
        (self.folder / "report.html").unlink()

    def exports(self) -> None:
        score, X, _ = self.score()
        for text in (
            score.to_python(), score.to_javascript(), score.to_sql(), score.to_pmml(),
            score.to_markdown(), score.to_html(), score.to_latex(),
        ):  # fmt: skip
            (self.folder / "export.txt").write_text(text, encoding="utf-8")
        (self.folder / "export.txt").unlink()
        score.predict(X)
        score.explain(X[0])

    def saved(self) -> None:
        score, X, _ = self.score()
        score.save(self.folder / "score.json")
        loaded = RiskScore.load(self.folder / "score.json")
        assert loaded == score
        np.testing.assert_array_equal(loaded.predict_proba(X), score.predict_proba(X))
        (self.folder / "score.json").unlink()


def run(
    minutes: float, seed: int, folder: Path, notes: Path | None = None, *, plain: bool = True
) -> dict[str, Any]:
    """Do jobs for so long, and return what was noted; write it to a file as it is noted."""
    warnings.simplefilter("ignore")
    jobs = Jobs(np.random.default_rng(seed), folder)
    failed: list[str] = []

    def do(name: str) -> None:
        try:
            jobs.kinds[name][1]()
        except RiskSLIMError as error:  # a search that was stopped before it had a score
            if "before" not in str(error):
                failed.append(f"{name}: {error}")
        except Exception as error:
            failed.append(f"{name}: {type(error).__name__}: {error}")

    for name in jobs.kinds:  # the warm-up: imports, caches, threads
        do(name)
    began, done, states = time.monotonic(), Counter[str](), [State.now(folder)]
    while time.monotonic() < began + 60 * minutes:
        name = jobs.draw()
        do(name)
        done[name] += 1
        states.append(State.now(folder))
        if notes is not None:
            with notes.open("a") as file:
                print(json.dumps([name, dataclasses.asdict(states[-1])]), file=file)
    found = {"seed": seed, "jobs": dict(done), **verdict(states, plain=plain)}
    return {**found, "left": found["left"] + failed[:5]}


def verdict(states: list[State], *, plain: bool = True) -> dict[str, Any]:
    """Compare the states of a run: figures, and what was left, in words.

    Anonymous memory is judged where allocators give back what is freed (``plain``).
    """
    first, last = states[0], states[-1]
    windows = np.array_split(np.arange(len(states)), min(N_WINDOWS, len(states)))

    def medians(what: str) -> list[float] | None:
        values = [getattr(state, what) for state in states]
        if None in values:
            return None
        return [float(np.median([values[k] for k in window])) for window in windows]

    def mib(what: str) -> list[float] | None:
        found = medians(what)
        return None if found is None else [round(v / 2**20, 1) for v in found]

    blocks = medians("blocks") or [0.0]
    left = [
        *(_grown("anonymous", medians("anonymous"), GROWTH_BYTES, 2**20, "MiB") if plain else ()),
        *_grown("in use", medians("in_use"), GROWTH_IN_USE, 2**20, "MiB"),
        *_grown("small objects", blocks, 0, 1, "blocks"),
    ]
    for what in ("threads", "descriptors", "children", "files"):
        # A thread of the kernels, or a library's, that is begun once and waits is no leak: the
        # most is reached early, or it goes on growing.
        before = max(getattr(s, what) for s in states[: max(1, len(states) // 2)])
        if getattr(last, what) > before:
            left.append(f"{getattr(last, what) - before} {what} more")
    return {
        "in_use_mib": mib("in_use"),
        "thousand_blocks": [round(v / 1000) for v in blocks],
        "anonymous_mib": mib("anonymous"),
        "kinds_mib": {kind: mib(kind) for kind in ("heap", "arenas", "pools")},
        "resident_mib": mib("resident"),
        "threads": [first.threads, last.threads],
        "descriptors": [first.descriptors, last.descriptors],
        "children": [first.children, last.children],
        "files": [first.files, last.files],
        "left": left,
    }


def _grown(what: str, medians: list[float] | None, most: float, unit: int, name: str) -> list[str]:
    """Say that the last median is larger than an early one by more than it may be."""
    if medians is None:
        return []
    early, late = medians[min(EARLY, len(medians) - 1)], medians[-1]
    if late - early <= max(most, GROWTH_SHARE * early):
        return []
    return [f"{what}: {(late - early) / unit:.1f} {name} more"]


def _in_processes(count: int, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    command = [
        sys.executable,
        "-m",
        "benchmarks.soak",
        "--minutes",
        str(arguments.minutes),
        "--allocators",
        arguments.allocators,
        "--json",
        *(["--notes", str(arguments.notes)] if arguments.notes else []),
    ]
    environment = {**os.environ, **(PLAIN if arguments.allocators == "plain" else {})}
    running = [
        subprocess.Popen(
            [*command, "--seed", str(arguments.seed + k)], stdout=subprocess.PIPE, env=environment
        )
        for k in range(count)
    ]
    found = []
    for k, process in enumerate(running):
        out, _ = process.communicate()
        try:
            found.append(json.loads(out))
        except json.JSONDecodeError:
            found.append(
                {"seed": arguments.seed + k, "jobs": {}, "left": [f"exit {process.returncode}"]}
            )
    return found


COLUMNS = {
    "MiB in use, by sixths of the jobs": "in_use_mib",
    "anonymous MiB": "anonymous_mib",
    "resident MiB": "resident_mib",
    "thousand small objects": "thousand_blocks",
    "threads": "threads",
    "descriptors": "descriptors",
    "children": "children",
}


def table(found: list[dict[str, Any]]) -> str:
    """The results in Markdown, a line per process."""
    lines = [
        f"| seed | jobs | {' | '.join(COLUMNS)} | left |",
        "|---" * (len(COLUMNS) + 3) + "|",
    ]
    for one in found:
        pairs = (" -> ".join(map(str, one.get(name) or ())) for name in COLUMNS.values())
        lines.append(
            f"| {one['seed']} | {sum(one['jobs'].values()):,} | {' | '.join(pairs)} | "
            f"{'; '.join(one['left']) or 'nothing'} |"
        )
    lines += ["", "Anonymous MiB, by sixths of the jobs:", ""]
    for one in found:
        for kind, values in one.get("kinds_mib", {}).items():
            lines.append(f"- seed {one['seed']}, {kind}: {' -> '.join(map(str, values))}")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--allocators",
        choices=("plain", "usual"),
        default="plain",
        help="plain: such as give back what is freed; usual: those that a process has of itself",
    )
    parser.add_argument(
        "--notes",
        type=Path,
        help="folder for what each process notes after each job, in JSON lines",
    )
    # What the command calls itself with, in each process.
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if not Path("/proc/self/fd").is_dir():
        parser.error("it counts what /proc tells of a process, which is there on Linux")
    if given.json:
        notes = given.notes and given.notes / f"{given.seed}.jsonl"
        before = threading.active_count()
        with tempfile.TemporaryDirectory() as name:
            os.environ["TMPDIR"], tempfile.tempdir = name, name
            plain = given.allocators == "plain"
            one = run(given.minutes, given.seed, Path(name), notes, plain=plain)
        one["python_threads"] = [before, threading.active_count()]
        print(json.dumps(one))
        return int(bool(one["left"]))
    found = _in_processes(given.processes, given)
    print(f"{given.minutes:g} minutes, {describe_machine()['processor']}\n\n{table(found)}")
    kinds = Counter[str]()
    for one in found:
        kinds.update(one["jobs"])
    print("\njobs: " + ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common()))
    return int(any(one["left"] for one in found))


if __name__ == "__main__":
    sys.exit(main())
