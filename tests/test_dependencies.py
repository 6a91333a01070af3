"""Nothing is imported unless it is used; what needs a package that is missing says so."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from hidden import run_without
from paths import ROOT
from riskslim import config, show_config

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

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
    return RiskScoreProblem(data, coefficients, max_size=2, constraints=constraints)
"""
SCORE = (
    f"{STATED}"
    "from riskslim import RiskScore\n"
    "score = RiskScore.from_solution(branch_and_bound(stated()), data)\n"
)
MAIN = "from riskslim.__main__ import main; main()"


def in_turn(*commands: list[str]) -> str:
    """Code that runs commands one after the other: what all do without, each does without."""
    return f"""
import sys
from riskslim.__main__ import main
for command in {commands!r}:
    sys.argv[1:] = command
    try:
        main()
    except SystemExit as end:
        assert not end.code, command
"""


def output(hidden: set[str], code: str) -> str:
    done = run_without(hidden, code)
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- a solver and a just-in-time compiler -------------------------------------------------------

OPTIONAL = {"cplex", "numba", "llvmlite"}
DOT = "(the dot stands for riskslim's source folder or wheel file)"
WITHOUT_CPLEX = (
    "the lattice cutting plane algorithm needs the package cplex, which cannot be imported (No "
    f"module named 'cplex'): `pip install \".[cplex]\"` {DOT}. It is not needed by "
    "branch_and_bound, nor with solver='scip', which is free: `pip install \".[scip]\"`"
)


def test_scores_are_the_same_without_solver_and_just_in_time_compiler():
    code = f"""{STATED}
from riskslim import RiskScore, RiskSLIMClassifier
first, second = data.feature_names[:2]
scores = [RiskSLIMClassifier(max_size=2).fit(X, y).risk_score_]
for problem in (stated(), stated(at_most(1, [first, second]))):
    scores.append(RiskScore.from_solution(branch_and_bound(problem), data))
for score in scores:
    print(score.to_json().replace("\\n", " "))
print(show_config("dict")["kernels"]["backend"])
"""
    *found, backend = output(OPTIONAL, code).splitlines()
    assert [*found, backend] == output(set(), code).splitlines()
    assert backend == "cython"
    certificates = [json.loads(one)["certificate"] for one in found]
    assert [one["status"] for one in certificates] == ["optimal"] * 3


@pytest.mark.slow
def test_the_command_line_without_solver_and_just_in_time_compiler(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.integers(20, 90, (80, 3))
    rows = np.column_stack([rows, rows[:, 0] + rng.integers(0, 40, 80) > 80])
    table = tmp_path / "rows.csv"
    np.savetxt(table, rows, "%d", ",", header="age,weight,pulse,died", comments="")
    kept, path = [], tmp_path / "score.json"
    fit = ["fit", str(table), "--outcome", "died", "--items", "--max-size", "3"]
    fit += ["--output", str(path)]
    for hidden, others in ((OPTIONAL, [["demo"]]), (set(), [])):
        printed = output(hidden, in_turn(fit, *others))
        assert ("0.204553972" in printed) == bool(others)  # the objective that README.md has
        kept.append(path.read_text(encoding="utf-8"))
    assert kept[0] == kept[1]
    assert json.loads(kept[0])["certificate"]["status"] == "optimal"


def test_a_missing_solver_is_named_and_another_one_stands_in():
    """By all that need it, before data are read and before rates are searched without."""
    code = f"""{STATED}
from riskslim import RiskSLIMClassifier, RiskSlimLP, RiskSlimMIP
from riskslim.paper import standard_cpa
from riskslim.engines.lattice_cpa.start import best_possible_bounds
problem = stated(false_negative_rate_at_most(0.5, 0.5))
before = problem.loss.n_evaluations
for call in (
    lambda: lattice_cpa(problem),
    lambda: RiskSLIMClassifier(engine="lattice_cpa").fit("no table", None),
):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, error)
assert problem.loss.n_evaluations == before
problem = stated()
for call in (
    lambda: standard_cpa(problem),
    lambda: RiskSlimMIP(problem, best_possible_bounds(problem)),
    lambda: RiskSlimLP(problem, best_possible_bounds(problem)),
):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, error)
if {importlib.util.find_spec("pyscipopt") is not None}:
    rates = stated(false_negative_rate_at_most(0.5, 0.5))
    assert lattice_cpa(rates, solver="scip").certificate.is_optimal
    assert lattice_cpa(stated(), solver="scip").certificate.engine.startswith("lattice_cpa (SCIP ")
"""
    assert output({"cplex"}, code).splitlines() == [f"SolverUnavailableError {WITHOUT_CPLEX}"] * 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "command", "message"),
    [
        ("cplex", ["fit", "no_such_file.csv", "--outcome", "y"], WITHOUT_CPLEX),
        (
            "pyscipopt",
            ["demo", "--solver", "scip"],
            "solver='scip' needs the package pyscipopt, which cannot be imported (No module named "
            f"'pyscipopt'): `pip install \".[scip]\"` {DOT}",
        ),
    ],
)
def test_the_command_line_names_a_missing_solver_before_it_reads(package, command, message):
    done = run_without({package}, MAIN, *command, "--engine", "lattice_cpa")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"Error: {message}\n"


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
    assert "backend                 none\n" in shown
    assert message in shown


def test_the_configuration_says_how_to_install_what_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(config, "_version", lambda package: None)
    show_config()
    shown = capsys.readouterr().out
    assert 'cplex                   not installed: `pip install ".[cplex]"`\n' in shown
    assert "scipy                   not installed: `pip install .`\n" in shown


@pytest.mark.slow
def test_what_a_score_does_needs_no_kernels(tmp_path):
    """Scores that were found elsewhere are read, printed, applied and judged."""
    path, table = tmp_path / "score.json", tmp_path / "rows.csv"
    commands = [
        ["show", str(path)],
        ["predict", str(path), str(table)],
        ["report", str(path), str(table), "--outcome", "y", "-o", str(tmp_path / "report.html")],
        ["export", str(path), "--format", "sql"],
    ]
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
        "print(model.predict_proba(X).tolist())\n"
    )
    done = run_without({"numba"}, read + in_turn(*commands), RISKSLIM_KERNELS="numba")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(expected)
    assert (tmp_path / "report.html").exists()


@pytest.mark.slow
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
        f"Error: riskslim requires the package {package}, which is not installed: `pip install .` "
        f"{DOT} installs what is missing\n"
    )


# --- optional -------------------------------------------------------------------------------------


EXTRAS_OF_CODE = (
        (
            "pyarrow",
            "import pathlib\n"
            "import riskslim\n"
            "path = pathlib.Path(__import__('tempfile').mkdtemp(), 'd.csv')\n"
            "path.write_text('a,y\\n0,1\\n1,0\\n')\n"
            "riskslim.read(path, 'y')",
            f'reading files needs pyarrow, which is not installed: `pip install ".[cli]"` {DOT}',
        ),
        (
            "matplotlib",
            f"{SCORE}score.plot()",
            f'drawing needs matplotlib, which is not installed: `pip install ".[report]"` {DOT}',
        ),
        (
            "matplotlib",
            "from riskslim.plots import plot_score_histogram\n"
            "plot_score_histogram([0, 1, 1], [0, 1, 2])",
            f'drawing needs matplotlib, which is not installed: `pip install ".[report]"` {DOT}',
        ),
        (
            "jinja2",
            f"{SCORE}score.report('never.html', data)",
            f'a report needs jinja2, which is not installed: `pip install ".[report]"` {DOT}',
        ),
        (
            "pyscipopt",
            f"{STATED}lattice_cpa(stated(), solver='scip')",
            "solver='scip' needs the package pyscipopt, which cannot be imported (No module named "
            f"'pyscipopt'): `pip install \".[scip]\"` {DOT}",
        ),
        *(
            (
                package,
                "from riskslim.paper.baselines import PenalizedLogisticRegression\n"
                "PenalizedLogisticRegression().fit([[0], [1], [0], [1]] * 9, [0, 1, 1, 1] * 9)",
                f"the baselines need {package}, which is not installed: "
                f'`pip install ".[baselines]"` {DOT}',
            )
            for package in ("glum", "pandas")  # which glum needs, and nothing else here
        ),
)  # fmt: skip


# Together those of which none is looked for by what another one needs.
@pytest.mark.slow
@pytest.mark.parametrize("packages", ["pyarrow pyscipopt glum", "matplotlib", "jinja2 pandas"])
def test_packages_of_extras_that_are_missing(packages):
    hidden = set(packages.split())
    cases = [case for case in EXTRAS_OF_CODE if case[0] in hidden]
    code = f"""
import json
found = []
for code in {[code for _, code, _ in cases]!r}:
    try:
        exec(code, {{"__name__": "__main__"}})
    except Exception as error:
        found.append(str(error))
    else:
        found.append(None)
print(json.dumps(found))
"""
    assert {package for package, *_ in cases} == hidden
    assert json.loads(output(hidden, code)) == [message for *_, message in cases]


def test_tables_of_other_packages_are_optional():
    output({"pandas", "polars", "pyarrow"}, f"{STATED}TrainingData({{'a': [0, 1]}}, [0, 1])")


# --- what is required, and how extras are named ------------------------------------------------

# Beside README.md and the like.
FOLDERS = (".ci", ".github", "benchmarks", "docs", "examples", "riskslim", "tests")
KINDS = {"", ".cff", ".in", ".jinja", ".js", ".md", ".py", ".pyi", ".pyx", ".toml", ".yml"}
# Another project has this name on the public index. An extra is that of a folder (".[cli]") or of a
# wheel's file. Only pyproject.toml refers to its own extras by name.
BY_NAME = re.compile(
    r"\briskslim\[(?=\w)|\bpip install\b[^`\n&;#(]*?(?<![\w./-])riskslim(?![\w./*-])"
)
EXTRAS = re.compile(r"""pip install (?:\S+ )*["']?\.\[([\w,-]+)\]""")


def project() -> dict[str, Any]:
    """The table of pyproject.toml that becomes the metadata of a distribution."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def names_of(requirements: list[str]) -> set[str]:
    """Packages that are required, without versions; those of other extras, as "name[extra]"."""
    found = set()
    for requirement in requirements:
        name, extras = re.match(r"([\w-]+)(?:\[([\w,-]+)\])?", requirement).groups()
        is_own = name == "riskslim"
        found |= {f".[{extra}]" for extra in extras.split(",")} if is_own else {name}
    return found


def texts() -> Iterator[tuple[str, str]]:
    """All texts of the repository, with their paths."""
    paths = [path for path in ROOT.iterdir() if path.is_file()]
    for folder in FOLDERS:
        paths += [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    for path in paths:
        if path.suffix in KINDS and "__pycache__" not in path.parts:
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def test_five_packages_are_required():
    assert names_of(project()["dependencies"]) == {
        "numpy", "scipy", "scikit-learn", "joblib", "narwhals",
    }  # fmt: skip


def test_extras_contain_each_other():
    extras = project()["optional-dependencies"]
    for_users = extras.keys() - {"all", "docs", "test", "test-spark"}
    assert names_of(extras["all"]) == {f".[{extra}]" for extra in for_users}
    assert ".[all]" in names_of(extras["test"])
    assert names_of(extras["cplex"]) == {"cplex"}
    assert names_of(extras["numba"]) == {"numba"}


def test_no_text_installs_the_package_by_its_name():
    found = [
        f"{path}: {line.strip()}"
        for path, text in texts()
        for line in text.splitlines()
        if BY_NAME.search(line) and path != "pyproject.toml"
    ]
    assert not found, "\n".join(found)


def test_extras_that_texts_name_are_there():
    found = {
        (path, extra)
        for path, text in texts()
        for extras in EXTRAS.findall(text)
        for extra in extras.split(",")
    }
    assert {"cplex", "scip", "cli", "report", "docs", "test"} <= {extra for _, extra in found}
    known = project()["optional-dependencies"].keys()
    assert not {(path, extra) for path, extra in found if extra not in known}


@pytest.mark.parametrize(
    ("text", "is_refused"),
    [
        ("pip install NAME", True),
        ("`pip install --upgrade NAME`", True),
        ("run: uv pip install 'numpy' 'NAME'", True),
        ("needs NAME[scip]", True),
        ('`pip install ".[scip]"` (NAME needs it)', False),
        ('pip install ".[cli]" && NAME demo', False),
        ('pip install "$(echo dist/NAME-*.whl)[docs]"', False),
        ('pip install "NAME-0.1.0-cp311-abi3-linux_x86_64.whl[cli]"', False),
    ],
)
def test_names_are_found(text, is_refused):
    assert (BY_NAME.search(text.replace("NAME", "riskslim")) is not None) == is_refused
