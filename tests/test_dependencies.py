"""Nothing is imported unless it is used; what needs a package that is missing says so."""

from __future__ import annotations

import importlib.util
import json

import pytest

from hidden import run_without
from riskslim import _kernels

STATED = """
import numpy as np
from riskslim import (
    CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData, at_most,
    branch_and_bound, false_negative_rate_at_most, lattice_cpa, show_config,
)
rng = np.random.default_rng(0)
X = rng.integers(0, 2, (60, 3))
y = X[:, 0] + 0.3 * X[:, 1] + rng.random(60) > 0.9
data = TrainingData(X, y)
coefficients = CoefficientSet(data.feature_names, -3, 3)
def stated(*constraints):
    loss = LogisticLoss(data, coefficients)
    return RiskScoreProblem(loss, coefficients, max_size=2, constraints=constraints)
"""
SCORE = (
    f"{STATED}"
    "from riskslim import RiskScore\n"
    "score = RiskScore.from_solution(branch_and_bound(stated()), data)\n"
)
MAIN = "from riskslim.__main__ import main; main()"
needs_extensions = pytest.mark.skipif(
    _kernels.CHOICE.backend != "cython", reason="the extensions are not built"
)


def output(hidden: set[str], code: str) -> str:
    done = run_without(hidden, code)
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- required, but used by some alone ---------------------------------------------------------


@needs_extensions
def test_without_solver_and_just_in_time_compiler():
    """Where there are no wheels of cplex and numba, all works that does not call them."""
    code = f"""{STATED}
from riskslim import RiskSLIMClassifier
first, second = data.feature_names[:2]
for problem in (stated(), stated(at_most(1, [first, second]))):
    assert branch_and_bound(problem).certificate.is_optimal
assert RiskSLIMClassifier(max_size=2).fit(X, y).score(X, y) > 0.5
print(show_config("dict")["kernels"]["backend"])
try:
    lattice_cpa(stated())
except Exception as error:
    print(type(error).__name__, error)
"""
    backend, error = output({"cplex", "numba"}, code).splitlines()
    assert backend == "cython"
    assert error == (
        "SolverUnavailableError the lattice cutting plane algorithm needs the package cplex, which "
        "cannot be imported (No module named 'cplex'); install it with `pip install cplex`, or "
        "solve with branch_and_bound or with solver='scip', which do without it"
    )


@needs_extensions
def test_the_demo_without_solver_and_just_in_time_compiler():
    done = run_without({"cplex", "numba"}, MAIN, "demo")
    assert done.returncode == 0, done.stderr
    assert "0.159569226" in done.stdout  # the loss that README.md has


def test_cplex_is_named_by_all_that_needs_it():
    code = f"""{STATED}
from riskslim import RiskSlimLP, RiskSlimMIP, standard_cpa
from riskslim.engines.lattice_cpa.start import best_possible_bounds
problem = stated()
for call in (
    lambda: standard_cpa(problem),
    lambda: RiskSlimMIP(problem, best_possible_bounds(problem)),
    lambda: RiskSlimLP(problem, best_possible_bounds(problem)),
):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, "pip install cplex" in str(error))
"""
    assert output({"cplex"}, code).splitlines() == ["SolverUnavailableError True"] * 3


@pytest.mark.skipif(importlib.util.find_spec("pyscipopt") is None, reason="no pyscipopt")
def test_scip_stands_in_for_cplex():
    code = f"""{STATED}
problem = stated(false_negative_rate_at_most(0.5, 0.5))
print(lattice_cpa(problem, solver="scip").certificate.is_optimal)
print(lattice_cpa(stated(), solver="scip").certificate.engine)
"""
    is_optimal, engine = output({"cplex"}, code).splitlines()
    assert is_optimal == "True"
    assert engine.startswith("lattice_cpa (SCIP ")


def test_without_kernels():
    """Neither extensions, here since numba is asked for, nor numba."""
    message = (
        "RISKSLIM_KERNELS=numba, but these kernels cannot be imported (No module named 'numba')"
    )
    code = f"""{STATED}
import json
from riskslim import RiskSLIMClassifier
from riskslim.exceptions import KernelsUnavailableError
errors = []
for call in (
    stated,
    lambda: RiskSLIMClassifier(max_size=2).fit(X, y),
    lambda: RiskSLIMClassifier(max_size=2, engine="branch_and_bound").fit(X, y),
    lambda: RiskSLIMClassifier(max_size=2, engine="lattice_cpa").fit(X, y),
):
    try:
        call()
    except KernelsUnavailableError as error:
        errors.append(str(error))
print(json.dumps([errors, show_config("dict")["kernels"]]))
show_config()
"""
    done = run_without({"numba"}, code, RISKSLIM_KERNELS="numba")
    assert done.returncode == 0, done.stderr
    first, _, shown = done.stdout.partition("\n")
    (error, *others), kernels = json.loads(first)
    assert error.startswith(message)
    assert others == [error] * 3
    assert kernels == {"backend": None, "reason": error}
    assert "not installed" in shown
    assert message in shown


def test_what_a_score_does_needs_no_kernels(tmp_path):
    """Scores that were found elsewhere are read, printed, applied and judged."""
    path, table = tmp_path / "score.json", tmp_path / "rows.csv"
    made = (
        f"{SCORE}score.save({str(path)!r})\n"
        f"rows = np.column_stack((X, y))\n"
        f"np.savetxt({str(table)!r}, rows, '%d', ',', header='x0,x1,x2,y', comments='')\n"
        "import pickle; from riskslim import RiskSLIMClassifier\n"
        "model = RiskSLIMClassifier(max_size=2).fit(X, y)\n"
        f"open({str(tmp_path / 'model')!r}, 'wb').write(pickle.dumps(model))\n"
        "print(model.predict_proba(X).tolist())"
    )
    expected = output(set(), made)
    read = (
        "import pickle\n"
        f"model = pickle.loads(open({str(tmp_path / 'model')!r}, 'rb').read())\n"
        f"X = __import__('numpy').loadtxt({str(table)!r}, delimiter=',', skiprows=1)[:, :3]\n"
        "print(model.predict_proba(X).tolist())"
    )
    none = {"RISKSLIM_KERNELS": "numba"}  # and no numba
    done = run_without({"numba"}, read, **none)
    assert (done.returncode, done.stdout) == (0, expected), done.stderr
    for command in (
        ("show", str(path)),
        ("predict", str(path), str(table)),
        ("report", str(path), str(table), "--outcome", "y", "-o", str(tmp_path / "report.html")),
        ("export", str(path), "sql"),
    ):
        done = run_without({"numba"}, MAIN, *command, **none)
        assert done.returncode == 0, (command, done.stderr)


@pytest.mark.parametrize(
    ("kernels", "message"),
    [
        ("numba", "RISKSLIM_KERNELS=numba, but these kernels cannot be imported ("),
        ("fortran", "RISKSLIM_KERNELS must be 'cython' or 'numba', got 'fortran'"),
    ],
)
def test_the_command_line_without_kernels(kernels, message):
    done = run_without({"numba"}, MAIN, "demo", RISKSLIM_KERNELS=kernels)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Error: {message}")
    assert done.stderr.count("\n") == 1


def test_a_search_needs_numpy_alone():
    """The other required packages are for estimators, tables, constraints and folds."""
    hidden = {"sklearn", "scipy", "joblib", "narwhals", "threadpoolctl", "cplex"}
    output(hidden, f"{STATED}assert branch_and_bound(stated()).certificate.is_optimal")


@pytest.mark.parametrize("package", ["joblib", "scipy", "sklearn"])
def test_required_packages_that_are_missing(package):
    done = run_without({package}, MAIN, "demo")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"Error: riskslim requires the package {package}, which is not installed: `pip install "
        "riskslim` installs what is missing\n"
    )


# --- optional -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("package", "code", "message"),
    [
        (
            "pyarrow",
            "import pathlib\n"
            "from riskslim import TrainingData\n"
            "path = pathlib.Path(__import__('tempfile').mkdtemp(), 'd.csv')\n"
            "path.write_text('a,y\\n0,1\\n1,0\\n')\n"
            "TrainingData.from_file(path, 'y')",
            "Reading files needs pyarrow, which is not installed: pip install 'riskslim[cli]'.",
        ),
        (
            "matplotlib",
            f"{SCORE}score.plot()",
            "drawing needs matplotlib, which is not installed: pip install 'riskslim[report]'",
        ),
        (
            "matplotlib",
            "from riskslim.plots import plot_score_histogram\n"
            "plot_score_histogram([0, 1, 1], [0, 1, 2])",
            "drawing needs matplotlib, which is not installed: pip install 'riskslim[report]'",
        ),
        (
            "jinja2",
            f"{SCORE}score.report('never.html', data)",
            "a report needs jinja2, which is not installed: pip install 'riskslim[report]'",
        ),
        (
            "pyscipopt",
            f"{STATED}lattice_cpa(stated(), solver='scip')",
            "solver='scip' needs the package pyscipopt, which cannot be imported (No module named "
            "'pyscipopt'); install it with `pip install riskslim[scip]`",
        ),
        *(
            (
                package,
                "from riskslim.baselines import PenalizedLogisticRegression\n"
                "PenalizedLogisticRegression().fit([[0], [1], [0], [1]] * 9, [0, 1, 1, 1] * 9)",
                f"the baselines need {package}, which is not installed: pip install "
                "'riskslim[baselines]'",
            )
            for package in ("glum", "pandas")  # which glum needs, and nothing else here
        ),
    ],
)  # fmt: skip
def test_packages_of_extras_that_are_missing(package, code, message):
    done = run_without({package}, code)
    assert done.returncode == 1
    *_, last = done.stderr.splitlines()
    assert last.partition(": ")[2] == message


def test_tables_of_other_packages_are_optional():
    output({"pandas", "polars", "pyarrow"}, f"{STATED}TrainingData({{'a': [0, 1]}}, [0, 1])")
