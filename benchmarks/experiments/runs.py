"""Runs of methods on simulated data, each a row of a CSV file, with its trace in a second one."""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.experiments.methods import Found, is_available, make_problem, solve
from benchmarks.machine import describe_machine
from benchmarks.records import append_row, read_rows
from riskslim.solution import TraceRecord

FIELDS = (
    *("run", "method", "n", "d", "time_limit", "status", "message", "objective", "lower_bound"),
    *("gap", "model_size", "total_seconds", "cpu_seconds", "data_seconds", "nodes", "cuts"),
    *("loss_evaluations", "machine"),
)
TRACE_FIELDS = ("run", *TraceRecord._fields)


class Case(NamedTuple):
    """A method, and the size of the data that it is run on."""

    method: str
    n: int
    d: int


class Run(NamedTuple):
    """A run that has ended.

    Attributes
    ----------
    case : Case
    time_limit : float
    values : mapping
        Numbers of the row, NaN where it has none.
    status, message, machine : str
    trace : list of TraceRecord
    """

    case: Case
    time_limit: float
    values: Mapping[str, float]
    status: str
    message: str
    machine: str
    trace: list[TraceRecord]


class Runs:
    """The files of a folder.

    Parameters
    ----------
    folder : Path
        It is made if there is none.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "runs.csv"
        self.trace_path = folder / "traces.csv"
        self.machine_path = folder / "machine.json"

    def read(self) -> list[Run]:
        """All runs that have ended.

        Returns
        -------
        list of Run
        """
        traces: dict[str, list[TraceRecord]] = {}
        for row in read_rows(self.trace_path, TRACE_FIELDS):
            traces.setdefault(row["run"], []).append(_trace_record(row))
        return [_as_run(row, traces.get(row["run"], [])) for row in read_rows(self.path, FIELDS)]

    def make(self, cases: Iterable[Case], time_limit: float) -> int:
        """Make the runs that the file lacks.

        Runs on the same data follow each other. A method whose packages are not installed is left
        out, with a word on the standard error stream.

        Parameters
        ----------
        cases : iterable of Case
        time_limit : float
            Seconds per run.

        Returns
        -------
        int
            Number of runs that were made.
        """
        there = {(run.case, run.time_limit) for run in self.read()}
        missing = sorted(
            {case for case in cases if (case, float(time_limit)) not in there},
            key=lambda case: (case.n, case.d, case.method),
        )
        absent = sorted({case.method for case in missing if not is_available(case.method)})
        if absent:
            sys.stderr.write(f'left out: {", ".join(absent)} (pip install ".[scip]")\n')
        missing = [case for case in missing if case.method not in absent]
        if not missing:
            return 0
        machine = describe_machine()
        self.machine_path.write_text(json.dumps(machine, indent=2) + "\n")
        # Imports and first calls are not part of any run.
        small = make_problem(100, 3)
        for method in {case.method for case in missing}:
            solve(method, small, 1.0)
        size, problem = None, small
        for number, case in enumerate(missing, start=1):
            if (case.n, case.d) != size:
                size = (case.n, case.d)
                problem = make_problem(*size)
            found = solve(case.method, problem, time_limit)
            self._append(
                case, time_limit, found, f"{machine['processor']}, {machine['cores']} cores"
            )
            sys.stderr.write(
                f"{number}/{len(missing)} {case.method} n={case.n} d={case.d}: "
                f"{found.summary['total_seconds']:.2f} s, {found.summary['status']}, "
                f"gap {found.summary['gap']:.2%}\n"
            )
        return len(missing)

    def _append(self, case: Case, time_limit: float, found: Found, machine: str) -> None:
        """The trace first: a run whose row is missing does not count, whatever its trace."""
        name = uuid.uuid4().hex[:12]
        for record in found.trace:
            append_row(self.trace_path, TRACE_FIELDS, {"run": name, **_rounded(record._asdict())})
        row = {
            "run": name,
            **case._asdict(),
            "time_limit": float(time_limit),
            "machine": machine,
            **found.summary,
        }
        append_row(self.path, FIELDS, row)


def _rounded(values: Mapping[str, Any]) -> dict[str, Any]:
    """As many digits as a figure needs."""
    return {
        name: f"{value:.7g}" if isinstance(value, float) else value
        for name, value in values.items()
    }


def _trace_record(row: Mapping[str, str]) -> TraceRecord:
    return TraceRecord(
        *(float(row[name]) for name in ("time", "upper_bound", "lower_bound", "gap")),
        *(int(row[name]) for name in ("nodes", "cuts", "incumbent_updates")),
    )


_WORDS = ("run", "method", "status", "message", "machine")


def _as_run(row: Mapping[str, str], trace: list[TraceRecord]) -> Run:
    return Run(
        case=Case(row["method"], int(row["n"]), int(row["d"])),
        time_limit=float(row["time_limit"]),
        values={name: float(row[name] or "nan") for name in FIELDS if name not in _WORDS},
        status=row["status"],
        message=row["message"],
        machine=row["machine"],
        trace=trace,
    )
