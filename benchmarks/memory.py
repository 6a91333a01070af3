"""Peak memory of every step from a table to a polished score, in a process of its own.

    python -m benchmarks.memory SOURCE KIND N D

prints one JSON object: bytes of the input, and per step the bytes that the process grew by at most
(``peak``) and at the end (``held``). Both are the operating system's (resident pages), so that
memory of every library counts, whatever allocates it. Allocators are told not to keep what is freed
for later, or a step would use what an earlier one had left and seem to need nothing.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.children import run_python
from benchmarks.instances import Case, make_table
from benchmarks.tables import SOURCES, make_source
from riskslim import (
    CoefficientSet,
    RiskScoreProblem,
    TrainingData,
    discrete_coordinate_descent,
    sequential_rounding,
)

_RETURN_FREED = {
    "MALLOC_MMAP_THRESHOLD_": "65536",
    "MALLOC_TRIM_THRESHOLD_": "65536",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}

_CLEAR, _STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


def is_supported() -> bool:
    """Whether the system can tell the peak of a single step (Linux)."""
    return _CLEAR.exists()


def measure_memory(source: str, case: Case) -> dict[str, Any]:
    """Run :func:`main` in a new process.

    Parameters
    ----------
    source : str
        One of :data:`benchmarks.tables.SOURCES`.
    case : Case

    Returns
    -------
    dict
        "input_bytes", and "steps" with name, "peak" and "held".
    """
    arguments = (source, case.kind, str(case.n), str(case.d))
    result: dict[str, Any] = json.loads(
        run_python(["-m", "benchmarks.memory", *arguments], _RETURN_FREED)
    )
    return result


def run_steps(source: str, case: Case, folder: Path) -> dict[str, Any]:
    """Take the steps one after the other, and note the memory of each.

    Parameters
    ----------
    source : str
    case : Case
    folder : Path
        Where files are written.
    """
    steps: dict[str, dict[str, int]] = {}

    def watched(name: str, call: Callable[[], Any]) -> Any:
        _CLEAR.write_text("5")  # the peak starts again from here
        before = _resident("VmRSS")
        result = call()
        steps[name] = {
            "peak": _resident("VmHWM") - before, "held": _resident("VmRSS") - before,
        }  # fmt: skip
        return result

    warm_up(source, case, folder)
    table = make_table(case)
    made = make_source(source, table, folder)
    del table
    data: TrainingData = watched("TrainingData", made.build)
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    problem = watched("RiskScoreProblem", lambda: RiskScoreProblem(data, coefficients))
    integers = np.resize([1, -1, 0, 0], len(problem.lower))
    watched("value", lambda: problem.loss.value(integers))
    watched("value and gradient", lambda: problem.loss.value_and_gradient(integers))
    watched("coordinate descent", lambda: discrete_coordinate_descent(problem, integers))
    watched("sequential rounding", lambda: sequential_rounding(problem, integers * 0.45))
    return {"input_bytes": made.n_bytes, "steps": steps}


def warm_up(source: str, case: Case, folder: Path) -> None:
    """Import everything: libraries that load in a step are not its memory."""
    made = make_source(source, make_table(case._replace(n=2000)), folder)
    data = made.build()
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    problem = RiskScoreProblem(data, coefficients)
    start = np.zeros(len(problem.lower))
    problem.loss.value_and_gradient(start)
    discrete_coordinate_descent(problem, start)
    sequential_rounding(problem, start + 0.4)


def _resident(field: str) -> int:
    found = re.search(rf"{field}:\s+(\d+) kB", _STATUS.read_text())
    if found is None:
        raise RuntimeError(f"no {field} in {_STATUS}")
    return 1024 * int(found[1])


def main(arguments: list[str]) -> int:
    """Print the figures of one source and case."""
    if len(arguments) != 4 or arguments[0] not in SOURCES:
        sys.stderr.write(f"usage: python -m benchmarks.memory {{{','.join(SOURCES)}}} KIND N D\n")
        return 2
    source, kind, n, d = arguments
    with tempfile.TemporaryDirectory() as folder:
        result = run_steps(source, Case(kind, int(n), int(d)), Path(folder))
    sys.stdout.write(json.dumps(result) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
