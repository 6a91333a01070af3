"""How late calls end that are interrupted at random moments, phase by phase.

    python -m benchmarks.interrupts                        # 10^6 rows, some twenty minutes
    python -m benchmarks.interrupts --rows 1e5 --only "descent,rounding" --repeats 20

Each phase is what one public call does: items, reading, merging, descents, the parts of the
engines, paths, reports. It is run as a whole once; then it is begun again and again, and ended at a
moment drawn at random within that time: by Ctrl-C (a signal of the system's timer that does what
SIGINT does), by ``should_stop``, or by a time limit. *Late* is the time from that moment until the
call has returned or raised: by the clock, and of the processor, which other work on the machine
adds nothing to.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import importlib.util
import itertools
import math
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from benchmarks.machine import describe_machine
from riskslim import (
    CoefficientSet,
    ItemEncoder,
    LogisticLoss,
    RiskScore,
    RiskScoreProblem,
    RiskSLIMClassifier,
    TrainingData,
    at_most,
    branch_and_bound,
    cross_validate_risk_score,
    discrete_coordinate_descent,
    false_positive_rate_at_most,
    lattice_cpa,
    model_size_path,
    read,
    sequential_rounding,
)
from riskslim.engines.settings import TunedSettings
from riskslim.exceptions import RiskSLIMError

CTRL_C, STOP, LIMIT = "Ctrl-C", "should_stop", "time limit"
# No phase is run as a whole for longer: it is ended by a time limit, or by Ctrl-C.
LONGEST = 12.0


@dataclasses.dataclass(frozen=True)
class Phase:
    """A call that is interrupted.

    ``run`` takes keyword arguments of the call, those of the ways in which it can be ended.
    """

    name: str
    run: Callable[..., Any]
    ways: tuple[str, ...] = (CTRL_C,)


# --- data -----------------------------------------------------------------------------------------


class Data:
    """What phases work on, made once, for a number of rows."""

    def __init__(self, n: int, folder: Path) -> None:
        self.n, self.folder = n, folder
        rng = np.random.default_rng(0)
        self.reals = rng.normal(size=(n, 20))
        self.y = _labels(rng, self.reals)
        self.small = rng.integers(0, 3, (n, 20)).astype(np.int8)
        self.weights = rng.uniform(0.5, 2.0, n)

    def problem(
        self, X: np.ndarray, y: np.ndarray | None = None, size: int = 5, **options: Any
    ) -> RiskScoreProblem:
        rng = np.random.default_rng(1)
        y = _labels(rng, X) if y is None else y
        data = TrainingData(X, y)
        coefficients = CoefficientSet(data.feature_names, -5, 5)
        return RiskScoreProblem(data, coefficients, max_size=size, **options)

    def items(self, n: int, d: int) -> np.ndarray:
        rng = np.random.default_rng(2)
        return (rng.random((n, d)) < rng.uniform(0.1, 0.6, d)).astype(np.int8)


def _labels(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    odds = (X - X.mean(axis=0)) @ rng.normal(0, 0.6, X.shape[1]) - 1.0
    return (rng.random(len(X)) < 1 / (1 + np.exp(-odds))).astype(int)


# --- phases ---------------------------------------------------------------------------------------


def reading(data: Data) -> Iterator[Phase]:
    """Items, files, and what becomes of columns."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    raw = pd.DataFrame({f"x{j}": data.reals[:, j] for j in range(4)})
    raw["level"] = np.random.default_rng(3).choice(list("abcdefgh"), data.n)
    raw["few"] = data.small[:, 0]
    for name, options in (
        ("items, nine cut-offs", {}),
        ("items, all cut-offs", {"n_thresholds": "all", "max_thresholds": 100}),
        (
            "items, rounded",
            {"n_thresholds": "all", "max_thresholds": 100, "round_thresholds": True},
        ),
        ("items, supervised", {"thresholds": "supervised"}),
    ):
        encoder = ItemEncoder(**options)
        yield Phase(name, lambda encoder=encoder, raw=raw: encoder.fit(raw, data.y).transform(raw))
    part = {f"x{j}": data.reals[:, j] for j in range(8)} | {
        f"s{j}": data.small[:, j] for j in range(8)
    }
    table = pa.table(part | {"y": data.y})
    csv, parquet = data.folder / "rows.csv", data.folder / "rows.parquet"
    pd.DataFrame(part | {"y": data.y}).to_csv(csv, index=False, float_format="%.5g")
    pq.write_table(table, parquet, row_group_size=100_000)
    yield Phase("reading CSV", lambda: read(csv, "y"))
    yield Phase("reading Parquet", lambda: read(parquet, "y"))
    small = {"memory_limit": 30 * 2**20, "scratch": data.folder}
    yield Phase("CSV in batches", lambda: read(csv, "y", **small))
    yield Phase("Parquet in batches", lambda: read(parquet, "y", **small))
    encoder = ItemEncoder()
    yield Phase(
        "Parquet in batches, items",
        lambda: read(parquet, "y", items=encoder, scratch=data.folder),
    )
    yield Phase("TrainingData, reals", lambda: TrainingData(data.reals, data.y))
    yield Phase("TrainingData, small integers", lambda: TrainingData(data.small, data.y))
    reals, small = TrainingData(data.reals, data.y), TrainingData(data.small, data.y)
    few = TrainingData(data.small[:, :9], data.y)
    for name, one in (("reals", reals), ("small integers", small), ("few distinct rows", few)):
        box = CoefficientSet(one.feature_names, -5, 5)
        yield Phase(f"merging, {name}", lambda one=one, box=box: LogisticLoss(one, box))


def heuristics(data: Data) -> Iterator[Phase]:
    """Descents, with exchanges, and rounding."""
    zero = np.zeros(21, np.int64)
    for name, X in (("reals", data.reals), ("small integers", data.small)):
        problem = data.problem(X)
        yield Phase(
            f"descent with exchanges, {name}",
            lambda problem=problem, **ends: discrete_coordinate_descent(
                problem, zero, swaps=True, **ends
            ),
            (CTRL_C, STOP),
        )
        point = np.random.default_rng(4).normal(size=21)
        yield Phase(
            f"rounding, {name}",
            lambda problem=problem, point=point, **ends: sequential_rounding(
                problem, point, **ends
            ),
            (CTRL_C, STOP),
        )
    names = [f"x{j}" for j in range(1, 21)]
    limited = data.problem(data.reals, constraints=(at_most(2, names[:10]),))
    yield Phase(
        "descent under constraints",
        lambda **ends: discrete_coordinate_descent(
            limited, np.zeros(21, np.int64), swaps=True, **ends
        ),
        (CTRL_C, STOP),
    )


def searches(data: Data) -> Iterator[Phase]:
    """Both engines, in the ways that they search."""
    every = (CTRL_C, STOP, LIMIT)
    n = data.n

    def native(problem: RiskScoreProblem, **settings: Any) -> Callable[..., Any]:
        chosen = TunedSettings(**settings)
        return lambda **ends: branch_and_bound(
            problem, settings=chosen, **{"time_limit": LONGEST, **ends}
        )

    yield Phase("branch and bound, reals", native(data.problem(data.reals)), every)
    yield Phase(
        "branch and bound, scales", native(data.problem(data.reals, scale=(0.5, 5.0))), every
    )
    yield Phase("branch and bound, small integers", native(data.problem(data.small)), every)
    yield Phase("search of supports", native(data.problem(data.items(n // 5, 300), size=6)), every)
    few = data.problem(data.items(n // 50, 40), size=5)
    yield Phase("tables", native(few, tables="always", cutoffs="never"), every)
    yield Phase(
        "elimination", native(few, elimination="always", tables="auto", cutoffs="never"), every
    )
    cuts = np.quantile(data.reals[: n // 50, :3], np.linspace(0.02, 0.98, 30), axis=0)
    nested = np.column_stack(
        [data.reals[: n // 50, j] >= cut for j in range(3) for cut in cuts[:, j]]
    ).astype(np.int8)
    yield Phase(
        "cut-offs", native(data.problem(nested, data.y[: n // 50], size=4), cutoffs="always"), every
    )
    rated = data.problem(
        data.small[: n // 10], constraints=(false_positive_rate_at_most(0.02, 0.5),)
    )
    yield Phase("rates", native(rated), every)
    yield Phase("list of scores", _listed(data.problem(data.small[: n // 20], size=3)), every)
    solvers = ["cplex"] + ["scip"] * (importlib.util.find_spec("pyscipopt") is not None)
    small = data.problem(data.small)
    for solver in solvers:
        yield Phase(
            f"LCPA, {solver}",
            lambda solver=solver, **ends: lattice_cpa(
                small, solver=solver, **{"time_limit": LONGEST, **ends}
            ),
            every,
        )
    path = data.folder / "parts.parquet"
    _write(path, data.reals, data.y)
    elsewhere = read(path, "y", memory_limit=30 * 2**20, scratch=data.folder)
    yield Phase("rows in files", native(_of(elsewhere)), every)
    path = data.folder / "items.parquet"
    _write(path, data.items(n, 40), data.y)
    unions = read(path, "y", memory_limit=8 * 2**20, scratch=data.folder)
    yield Phase("rows in files, items", native(_of(unions)), every)


def _listed(problem: RiskScoreProblem) -> Callable[..., Any]:
    return lambda **ends: branch_and_bound(
        problem, n_solutions=500, **{"time_limit": LONGEST, **ends}
    )


def _write(path: Path, X: np.ndarray, y: np.ndarray) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])} | {"y": y}
    pq.write_table(pa.table(columns), path, row_group_size=50_000)


def _of(data: TrainingData) -> RiskScoreProblem:
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    return RiskScoreProblem(data, coefficients, max_size=4)


def models(data: Data) -> Iterator[Phase]:
    """Classifiers, folds and paths."""
    n = data.n // 5
    X, y = data.reals[:n], data.y[:n]
    yield Phase("classifier", lambda: RiskSLIMClassifier().fit(X, y))
    estimator = RiskSLIMClassifier(max_size=3, time_limit=2)
    yield Phase(
        "cross-validation",
        lambda **ends: cross_validate_risk_score(estimator, X, y, cv=5, **ends),
        (CTRL_C, STOP),
    )
    problem = data.problem(data.small[:n])
    for n_jobs in (1, 2):
        yield Phase(
            f"path with folds, n_jobs={n_jobs}",
            lambda n_jobs=n_jobs, **ends: model_size_path(
                problem, cv=3, n_jobs=n_jobs, time_limit=2, **ends
            ),
            (CTRL_C, STOP),
        )

    def kept(**ends: Any) -> None:
        file = data.folder / "path.checkpoint"
        file.unlink(missing_ok=True)
        model_size_path(problem, cv=3, time_limit=2, checkpoint=file, **ends)
        # Whatever ended it, the same call reads what it has kept.
        found = model_size_path(problem, cv=3, time_limit=2, checkpoint=file, should_stop=_at_once)
        assert not found.checkpoint_failure

    yield Phase("path in a checkpoint", kept, (CTRL_C, STOP))


def _at_once() -> bool:
    return True


def results(data: Data) -> Iterator[Phase]:
    """What is done with a score."""
    from riskslim.metrics import bootstrap_intervals

    rows = TrainingData(data.reals, data.y)
    coef = np.zeros(21, np.int64)
    coef[:6] = -1, 2, -1, 1, 3, -2
    score = RiskScore.from_coefficients(coef, rows)
    target = data.folder / "page.html"
    yield Phase(
        "report, 1000 resamples",
        lambda: score.report(target, data.reals, data.y, n_resamples=1000),
    )
    yield Phase(
        "bootstrap", lambda: bootstrap_intervals(data.y, score.decision_function(data.reals))
    )
    yield Phase("risks", lambda: score.predict_proba(data.reals))
    yield Phase("risk table", lambda: score.risk_table(data.reals, data.y))
    yield Phase("recalibration", lambda: score.recalibrated(data.reals, data.y))
    yield Phase("operating points", lambda: score.operating_points(data.reals, data.y))
    items = RiskScore(-1, {f"x{j} >= {j / 10}": 1 for j in range(1, 9)}, outcome_name="y")

    def export() -> None:
        for make in (items.to_python, items.to_javascript, items.to_sql, items.to_pmml):
            make()
        items.boolean_rule(0.5)

    yield Phase("exports", export)
    raw = {f"x{j}": data.reals[:, j] for j in range(4)}
    fitted = RiskSLIMClassifier(max_size=3, time_limit=2, items=ItemEncoder()).fit(
        _frame({k: v[:20_000] for k, v in raw.items()}), data.y[:20_000]
    )
    frame = _frame(raw)
    yield Phase(
        "ranges of cut-offs",
        lambda: fitted.risk_score_.with_cutoff_ranges(frame, data.y),
    )


def _frame(columns: dict[str, np.ndarray]) -> Any:
    import pandas as pd

    return pd.DataFrame(columns)


GROUPS = (reading, heuristics, searches, models, results)


# --- interrupting ---------------------------------------------------------------------------------


@contextlib.contextmanager
def ctrl_c_after(seconds: float) -> Iterator[None]:
    """Let the system's timer do at that moment what Ctrl-C does."""

    def handle(signum: int, frame: FrameType | None) -> None:
        handler = signal.getsignal(signal.SIGINT)
        assert callable(handler)
        handler(signal.SIGINT, frame)

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def whole_time(phase: Phase) -> float:
    """Seconds of a phase that nobody interrupts, or :data:`LONGEST`."""
    began = time.perf_counter()
    with contextlib.suppress(KeyboardInterrupt), ctrl_c_after(LONGEST):
        phase.run()
    return min(time.perf_counter() - began, LONGEST)


def late(phase: Phase, way: str, moment: float) -> tuple[float, float] | None:
    """Seconds, by the clock and of the processor, from a moment to the end of the call.

    None where it ended before the moment.
    """
    ends: dict[str, Any] = {}
    began = time.perf_counter()
    due = began + moment
    used: list[float] = []

    if way == STOP:
        ends["should_stop"] = lambda: time.perf_counter() >= due
    if way == LIMIT:
        ends["time_limit"] = moment
    watch = contextlib.nullcontext() if way != CTRL_C else ctrl_c_after(moment)
    timer = threading.Timer(moment, lambda: used.append(time.process_time()))
    timer.daemon = True
    before = time.process_time()
    timer.start()
    # A search that ends before it has any score says so.
    with contextlib.suppress(KeyboardInterrupt, RiskSLIMError), watch:
        phase.run(**ends)
    end, processor = time.perf_counter(), time.process_time()
    timer.cancel()
    if end < due:
        return None
    # Without the mark, which waits for the interpreter's lock: as much as in all of the call.
    share = (processor - before) * (end - due) / (end - began)
    return end - due, min(processor - used[0], share) if used else share


def measure(phase: Phase, repeats: int, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Interrupt a phase in each of its ways."""
    seconds = whole_time(phase)
    for way in phase.ways:
        found = []
        for _ in range(repeats):
            # A time limit is over when it is over: the whole time says nothing of it.
            one = late(phase, way, float(rng.uniform(0.02, 0.98)) * seconds)
            if one is not None:
                found.append(one)
        clock, processor = (np.array(found).reshape(-1, 2)).T
        yield {
            "phase": phase.name,
            "way": way,
            "seconds": seconds,
            "interrupted": len(found),
            "median": float(np.median(clock)) if len(clock) else math.nan,
            "most": float(clock.max(initial=0.0)),
            "processor": float(processor.max(initial=0.0)),
        }


def line(one: dict[str, Any]) -> str:
    return (
        f"| {one['phase']} | {one['seconds']:.2f} | {one['way']} | {one['interrupted']} | "
        f"{one['median']:.3f} | {one['most']:.3f} | {one['processor']:.3f} |"
    )


HEAD = (
    "| phase | seconds | ended by | times | late: median | most | most, of the processor |\n"
    "|---|---|---|---|---|---|---|"
)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--repeats", type=int, default=8, help="of each phase and way")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="parts of the names of phases, with commas")
    parser.add_argument("--groups", default="", help="of " + ",".join(g.__name__ for g in GROUPS))
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    # In the background of a script it is ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rng = np.random.default_rng(given.seed)
    wanted = [part for part in given.only.split(",") if part]
    groups = [g for g in GROUPS if not given.groups or g.__name__ in given.groups.split(",")]
    print(f"{given.rows:g} rows, seed {given.seed}, {describe_machine()['processor']}\n\n{HEAD}")
    with tempfile.TemporaryDirectory() as folder:
        data = Data(int(given.rows), Path(folder))
        for phase in itertools.chain.from_iterable(group(data) for group in groups):
            if wanted and not any(part in phase.name for part in wanted):
                continue
            for one in measure(phase, given.repeats, rng):
                print(line(one), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
