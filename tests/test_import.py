"""`import riskslim` costs little: heavy packages wait until they are needed."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.resources import files

import pytest

import riskslim
from paths import PACKAGE

HEAVY = [
    "cplex", "numba", "sklearn", "pandas", "polars", "pyarrow", "matplotlib", "scipy", "dask",
    "distributed",
]  # fmt: skip

# Times and lists are taken in a fresh interpreter; this one has imported everything already.
_LIST_MODULES = """
import sys, time
start = time.perf_counter()
import riskslim
seconds = time.perf_counter() - start
roots = {name.partition(".")[0] for name in sys.modules}
print(seconds, *sorted(roots))
"""


def fresh(code: str) -> str:
    # The package under test, wherever the tests are started: python -c looks in its working
    # directory first, and a source tree there has no compiled kernels.
    home = PACKAGE.parent
    environment = {**os.environ, "PYTHONPATH": str(home)}
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=False, env=environment, cwd=home,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def imported() -> tuple[float, set[str]]:
    fresh("import riskslim")  # byte-compiles once, so that the time below is the usual one
    seconds, *roots = fresh(_LIST_MODULES).split()
    return float(seconds), set(roots)


@pytest.mark.parametrize("package", HEAVY)
def test_import_leaves_out(imported, package):
    assert package not in imported[1]
    assert "riskslim" in imported[1]


def test_the_command_line_is_built_without_heavy_packages():
    """Whatever a command needs is imported when it runs: help, show and export are quick."""
    built = "from riskslim.cli.app import application; application()"
    names = fresh(f"import sys; {built}; print(*sys.modules)").split()
    loaded = {name.partition(".")[0] for name in names}
    assert "typer" in loaded
    assert not loaded & {*HEAVY}


def test_reading_needs_no_scikit_learn(tmp_path):
    """Nor its memory: some 100 MB, as much as millions of rows."""
    path = tmp_path / "rows.csv"
    path.write_text("a,b,died\n" + "0,1,0\n1,1,1\n1,0,1\n" * 20)
    code = f"import sys, riskslim; riskslim.read({str(path)!r}, 'died'); print(*sys.modules)"
    roots = {name.partition(".")[0] for name in fresh(code).split()}
    assert "pyarrow" in roots
    assert not roots & {"sklearn", "scipy", "matplotlib", "numba", "cplex"}


def test_import_time_is_reported(imported, record_property, capsys):
    # No time is asserted in a test: a busy machine is not a defect.
    record_property("import_seconds", imported[0])
    with capsys.disabled():
        print(f"\nimport riskslim: {imported[0]:.3f} s")


@pytest.mark.parametrize(
    "statement",
    [
        "from riskslim import CoefficientSet; CoefficientSet(['a'], -5, 5)",
        "from riskslim import chained_updates",
        "from riskslim import Solution, Certificate, Status",
        "from riskslim import TrainingData, LogisticLoss, RiskScoreProblem, CoefficientSet\n"
        "data = TrainingData([[0, 1], [1, 0], [1, 1]], [0, 1, 1])\n"
        "c = CoefficientSet(data.feature_names)\n"
        "RiskScoreProblem(data, c).objective([0, 1, 0])",
    ],
)
def test_stating_a_problem_needs_no_solver(statement):
    code = f"{statement}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    assert not set(HEAVY) & set(fresh(code).split())


def test_names_are_listed_and_unknown_ones_refused():
    assert set(riskslim.__all__) <= set(dir(riskslim))
    with pytest.raises(AttributeError, match="no attribute 'RiskScores'"):
        riskslim.RiskScores  # noqa: B018


def test_package_is_typed():
    assert files("riskslim").joinpath("py.typed").is_file()
