"""Which kernels are in use: chosen, missing, reported."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest

import riskslim
from paths import PACKAGE, TESTS
from programs import run_code
from riskslim import (
    CoefficientSet,
    RiskScoreProblem,
    RiskSLIMClassifier,
    TrainingData,
    _kernels,
    branch_and_bound,
    discrete_coordinate_descent,
    lattice_cpa,
    show_config,
)
from riskslim import backend as backend_module
from riskslim.cli.arguments import arguments_of_engine
from riskslim.engines.choice import choose_engine, choose_scales, engine_arguments
from riskslim.exceptions import KernelsUnavailableError
from riskslim.heuristics.supports import search_supports

FIT = """
import json, sys
import numpy as np
from riskslim import (
    CoefficientSet, LatticeCPASettings, LogisticLoss, RiskScoreProblem, TrainingData, lattice_cpa,
    show_config,
)

def certificate(X, weights, **options):
    rng = np.random.default_rng(3)
    y = rng.random(len(X)) < 1 / (1 + np.exp(-(X[:, 0] - 2 * X[:, 1] + X[:, 2])))
    data = TrainingData(X, y, weights)
    loss = LogisticLoss(data, CoefficientSet(data.feature_names, -3, 3), **options)
    problem = RiskScoreProblem(data, loss.given_coefficients, **options, max_size=3)
    # The start that both have. On a busy machine numba compiles for longer than the search takes.
    settings = LatticeCPASettings(native_root=False, initialization_time_limit=600.0)
    solution = lattice_cpa(problem, time_limit=1200.0, settings=settings)
    assert solution.certificate.is_optimal
    found = solution.certificate
    return [solution.coef.tolist(), found.objective, found.lower_bound, found.status.value]

rng = np.random.default_rng(0)
integers = rng.integers(0, 3, (300, 5)).astype(float)
mixed = np.where(np.arange(5) % 2, rng.normal(size=(300, 5)).round(2), integers)
weights = rng.exponential(size=300)
results = [certificate(integers, None), certificate(mixed, weights, n_threads=2)]
config = show_config(mode="dict")["kernels"]
print(json.dumps([config["backend"], config["reason"], "numba" in sys.modules, results]))
"""

# What there is where numba's kernels are in use: all but branch and bound.
REST = """
import json
import numpy as np
from riskslim import (
    CoefficientSet, LogisticLoss, RiskScoreProblem, RiskSLIMClassifier, TrainingData, backend,
    branch_and_bound, discrete_coordinate_descent, false_negative_rate_at_most, lattice_cpa,
)
from riskslim.exceptions import KernelsUnavailableError
from riskslim.heuristics.supports import search_supports

rng = np.random.default_rng(1)
X = rng.integers(0, 2, (5000, 4))
y = rng.random(5000) < 1 / (1 + np.exp(1 - X @ [1.5, 1.0, -1.0, 0.0]))
data = TrainingData(X, y)

def stated(*constraints, **options):
    coefficients = CoefficientSet(data.feature_names, -3, 3)
    return RiskScoreProblem(data, coefficients, max_size=2, constraints=constraints, **options)

def message(call):
    try:
        call()
    except KernelsUnavailableError as error:
        return str(error)

problem = stated()
found = discrete_coordinate_descent(stated(scale=(0.5, 10), compress=False), [0] * 5)
limited = lattice_cpa(stated(false_negative_rate_at_most(0.9, 0.5)), time_limit=600.0)
model = RiskSLIMClassifier(max_size=2, time_limit=600.0).fit(X, y)
messages = {
    message(lambda: branch_and_bound(problem)),
    message(lambda: list(search_supports(problem))),
    message(lambda: backend.support_table(np.array([0, 1]), X, y)),
    message(lambda: RiskSLIMClassifier(engine="branch_and_bound").fit(X, y)),
}
certificates = [limited.certificate, model.certificate_]
print(json.dumps([
    sorted(messages), found.objective, [one.engine for one in certificates],
    [one.is_optimal for one in certificates], [one.scale for one in certificates],
]))
"""

# Import machinery in which the extensions do not exist.
WITHOUT_EXTENSIONS = """
import sys
from importlib.machinery import ExtensionFileLoader, PathFinder

class Without:
    def find_spec(name, path=None, target=None):
        if name.startswith("riskslim._kernels."):
            spec = PathFinder.find_spec(name, path, target)
            if spec is not None and isinstance(spec.loader, ExtensionFileLoader):
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None

sys.meta_path.insert(0, Without)
"""


def run(code: str, kernels: str | None) -> subprocess.CompletedProcess[str]:
    home = PACKAGE.parent
    environment = {**os.environ, "PYTHONPATH": str(home)}
    environment.pop(_kernels.VARIABLE, None)
    if kernels is not None:
        environment[_kernels.VARIABLE] = kernels
    code = f"import warnings; warnings.simplefilter('error')\n{code}"
    return run_code(code, folder=home, environment=environment)


def fit(code: str, kernels: str | None) -> tuple[list, str]:
    done = run(code, kernels)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def problem_of(n, *, scale=1, **options):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (n, 4))
    y = rng.random(n) < 1 / (1 + np.exp(1 - X @ [1.5, 1.0, -1.0, 0.0]))
    data = TrainingData(X, y)
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    return RiskScoreProblem(data, coefficients, **options, max_size=2, scale=scale)


@pytest.fixture(scope="module")
def results() -> list:
    """Certificates of the default backend, without numba."""
    (*facts, found), messages = fit(FIT, None)
    assert (facts, messages) == (["cython", "default", False], "")
    return found


@pytest.mark.numba
def test_backends_give_the_same_certificates(results):
    (backend, reason, numba, found), messages = fit(FIT, "numba")
    assert (backend, numba, messages) == ("numba", True, "")
    assert "RISKSLIM_KERNELS=numba" in reason
    assert found == results


@pytest.mark.numba
def test_numba_steps_in_for_missing_extensions(results):
    (backend, reason, _, found), messages = fit(WITHOUT_EXTENSIONS + FIT, None)
    assert backend == "numba"
    assert "No module named 'riskslim._kernels.distinct'" in reason
    assert messages.count("using numba") == 1
    assert len(messages.splitlines()) == 1
    assert found == results


@pytest.fixture
def incomplete(use_kernels):
    """Kernels as numba has them, but compiled: those of Cython alone are missing."""
    missing = _kernels._none("they were not compiled")[1]
    there = _kernels.load("cython")
    use_kernels({name: there[name] for name in _kernels.BOTH} | {
        name: missing[name] for name in _kernels.CYTHON_ALONE
    })  # fmt: skip


@pytest.mark.usefixtures("incomplete")
def test_engine_and_scale_without_all_kernels():
    assert not _kernels.are_complete()
    problem = problem_of(300)
    choice = choose_engine(problem)
    assert choice.name == "lattice_cpa"
    assert choice.reason.startswith("since branch_and_bound needs the compiled kernels, which are")
    assert choose_engine(problem, "branch_and_bound").name == "branch_and_bound"
    with pytest.raises(ValueError, match=r"finds one risk score \(lattice_cpa was chosen since"):
        engine_arguments(choice, n_solutions=3)
    with pytest.raises(ValueError, match=r"finds one risk score \(lattice_cpa was chosen since"):
        arguments_of_engine(3, None, None, "auto")
    assert arguments_of_engine(None, None, "cplex", "auto") == {"solver": "cplex"}
    assert choose_scales("auto").describe() == choose_scales(1).describe()
    assert not choose_scales("auto", "branch_and_bound").is_single
    assert choose_scales([1, 2]).values == (1.0, 2.0)


@pytest.mark.usefixtures("incomplete")
def test_what_works_without_all_kernels():
    complete = problem_of(6000)
    found = lattice_cpa(complete, time_limit=600.0).certificate
    assert found.is_optimal
    for options in ({}, {"compress": False}, {"scale": (0.5, 8)}):
        problem = problem_of(6000, **options)
        assert problem.loss.bits is None  # cells are not counted
        polished = discrete_coordinate_descent(problem, [0] * 5)
        assert polished.objective == pytest.approx(problem.objective(polished.coefficients))
        if not options:
            assert found.objective <= polished.objective
    X = np.column_stack([problem.loss.data.column(j) for j in range(4)])
    model = RiskSLIMClassifier(max_size=2, l0_penalty=1e-6, time_limit=600.0)
    model.fit(X, problem.loss.data.labels)
    assert model.certificate_.objective == pytest.approx(found.objective)
    assert model.certificate_.engine.startswith("lattice_cpa")
    assert model.risk_score_.scale == 1


@pytest.mark.usefixtures("incomplete")
def test_what_needs_all_kernels_says_so():
    problem = problem_of(300)
    X, y = np.array([[0, 1], [1, 0], [1, 1], [0, 0]]), np.array([0, 1, 1, 0])
    for call in (
        lambda: branch_and_bound(problem),
        lambda: list(search_supports(problem)),
        lambda: backend_module.support_table(np.array([0]), X, y),
        lambda: backend_module.joint_counts(np.array([0, 1, 1]), X, y),
        lambda: RiskSLIMClassifier(engine="branch_and_bound").fit(X, y),
        lambda: _kernels.require_all(),
    ):
        with pytest.raises(KernelsUnavailableError, match="they were not compiled"):
            call()
    assert not hasattr(_kernels.nodes, "__path__")  # whoever looks at modules may do so


@pytest.mark.numba
@pytest.mark.parametrize("code", ["", WITHOUT_EXTENSIONS], ids=["asked for", "stepped in"])
def test_what_needs_compiled_kernels_says_so_and_all_else_works(code):
    (messages, objective, engines, optimal, scales), _ = fit(code + REST, None if code else "numba")
    (message,) = messages
    assert message.startswith("branch_and_bound, searches of supports and counts of cells need")
    if code:
        assert "(the compiled extensions cannot be imported (No module named" in message
        assert "build riskslim where there is a C compiler" in message
    else:
        assert "(RISKSLIM_KERNELS=numba): unset RISKSLIM_KERNELS." in message
    assert message.endswith(" lattice_cpa works without")
    assert 0.3 < objective < 0.69
    assert all(engine.startswith("lattice_cpa (CPLEX") for engine in engines)
    assert optimal == [True, True]
    assert scales == [1.0, 1.0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "kernels", "message"),
    [
        ("", "c", "RISKSLIM_KERNELS must be 'cython' or 'numba', got 'c'"),
        (WITHOUT_EXTENSIONS, "cython", "or use RISKSLIM_KERNELS=numba"),
        ("import sys; sys.modules['numba'] = None\n", "numba", "or use RISKSLIM_KERNELS=cython"),
        (
            f"{WITHOUT_EXTENSIONS}sys.modules['numba'] = None\n",
            None,
            "and neither can the numba kernels",
        ),
    ],
)
def test_unusable_choices_are_refused(code, kernels, message):
    done = run(f"{code}import riskslim.loss.logistic as m; m.real.loss", kernels)
    assert done.returncode != 0
    assert message in done.stderr.splitlines()[-1]


def test_modules_are_imported_without_any_kernels():
    """A kernel that is missing is missed where it is used, not where its users are imported."""
    code = f"""{WITHOUT_EXTENSIONS}
sys.modules["numba"] = None
import pkgutil
import riskslim
from importlib import import_module

for module in pkgutil.walk_packages(riskslim.__path__, "riskslim."):
    if not module.name.startswith(("riskslim._kernels.", "riskslim.__main__")):
        import_module(module.name)
"""
    done = run(code, None)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "kernels", "message"),
    [
        (WITHOUT_EXTENSIONS, None, "python setup.py build_ext --inplace"),
        ("", "numba", "unset RISKSLIM_KERNELS"),
    ],
)
def test_tests_do_not_start_on_kernels_that_are_not_compiled(code, kernels, message):
    options = ["-q", "-p", "no:cacheprovider", "--collect-only"]
    arguments = [*options, str(TESTS / "items" / "test_encoder.py")]
    code += f"import pytest, sys; sys.exit(pytest.main({arguments!r}))"
    done = run(code, kernels)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert message in done.stderr
    if kernels is None:
        home = PACKAGE.parent
        assert f"ERROR: riskslim is imported from {home}, where the compiled ext" in done.stderr


def test_kernels_of_both_backends_have_the_same_names():
    pytest.importorskip("numba")
    cython, numba = (_kernels.load(name) for name in _kernels.BACKENDS)
    for module in _kernels.BOTH:
        names = {name for name, value in vars(cython[module]).items() if callable(value)}
        public = {name for name in names if not name.startswith("_")}
        assert public
        assert not {name for name in public if not callable(getattr(numba[module], name, None))}


def test_tests_of_a_backend_run_on_it_everywhere(backend):
    """What the fixture misses would run on the default kernels, and the tests would not see it."""
    found = [
        (user, value is getattr(_kernels, value.__name__.rpartition(".")[2]))
        for user, module in sys.modules.items()
        if user.startswith("riskslim.") and not user.startswith("riskslim._kernels")
        for value in vars(module).values()
        if isinstance(value, ModuleType) and value.__name__.startswith("riskslim._kernels.")
    ]
    assert all(is_home for _, is_home in found), found
    assert _kernels.are_complete() == (backend == "cython")
    assert _kernels.real is _kernels.load(backend)["real"]
    users = {user.removeprefix("riskslim.") for user, _ in found}
    assert users >= {
        "data.distinct", "engines.branch_and_bound.node_rows", "engines.branch_and_bound.boxes",
        "heuristics.constrained", "heuristics.descent", "loss.form", "loss.logistic", "loss.ranges",
    }  # fmt: skip


# ---- show_config ---------------------------------------------------------------------------


def test_configuration_as_dict():
    config = show_config(mode="dict")
    assert list(config) == ["version", "kernels", "machine", "packages"]
    assert config["version"] == riskslim.__version__
    assert (config["kernels"]["backend"], config["kernels"]["reason"]) == _kernels.CHOICE
    assert config["kernels"]["compiler"]
    assert config["kernels"]["instructions"]
    assert config["machine"]["cores for this process"] >= 1
    assert config["packages"]["numpy"]


def test_configuration_is_printed(capsys):
    assert show_config() is None
    printed = capsys.readouterr().out
    assert printed.startswith(f"riskslim {riskslim.__version__}\n")
    config = show_config(mode="dict")
    for part in ("kernels", "machine", "packages"):
        assert f"\n{part}\n" in printed
        for name in config[part]:
            assert name in printed


@pytest.mark.slow
def test_configuration_of_numba():
    done = run("from riskslim import show_config; show_config()", "numba")
    assert done.returncode == 0, done.stderr
    for expected in ("numba ", "LLVM", "cache", "RISKSLIM_KERNELS=numba"):
        assert expected in done.stdout


# ---- when numba compiles ---------------------------------------------------------------------

WITHOUT_CACHE = """
import logging
from numba.core.caching import CacheImpl
CacheImpl._locator_classes = []
from riskslim._kernels.numba_backend import compiled, ranges
assert compiled.cache_folder() is None
from numba import int64
added = compiled.kernel(int64, int64)(lambda a, b: a + b)
assert added(2, 3) == 5
"""


@pytest.mark.slow
def test_without_a_folder_for_the_cache_there_is_one_warning():
    done = run(WITHOUT_CACHE, "numba")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("no folder for compiled kernels can be written to") == 1


PREPARED = """
import logging, time
logging.basicConfig(level=logging.INFO)
from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData, lattice_cpa
from riskslim._kernels.numba_backend import compiled
from riskslim.engines.lattice_cpa import lcpa as driver

class Slow:
    name, overloads, began = "slow", None, []
    dispatcher = property(lambda self: self)

    def compile(self):
        time.sleep(2.1)
        Slow.overloads = time.perf_counter()

del compiled._kernels[:]
compiled._kernels.append(Slow())
data = TrainingData({"a": [0, 1, 0, 1]}, [0, 1, 1, 0])
loss = LogisticLoss(data, CoefficientSet(data.feature_names, -1, 1))

class Run(driver.LatticeCPARun):
    def solve(self):
        assert Slow.overloads
        print(self.began >= Slow.overloads, flush=True)
        raise SystemExit

driver.LatticeCPARun = Run
lattice_cpa(RiskScoreProblem(data, loss.given_coefficients), time_limit=1.0)
"""


@pytest.mark.numba
def test_compilation_is_done_before_the_clock_of_a_search_starts():
    done = run(PREPARED, "numba")
    assert re.search(r"compiling kernels: 1 of 1 after \d+ s", done.stderr)
    assert done.stdout == "True\n", done.stderr


def test_packages_that_are_missing_are_said_to_be(monkeypatch, capsys):
    from riskslim import config

    monkeypatch.setattr(config, "_PACKAGES", {"numpy": "", "no-such-package": "cli"})
    assert show_config(mode="dict")["packages"]["no-such-package"] is None
    show_config()
    shown = capsys.readouterr().out
    assert 'no-such-package         not installed: `pip install ".[cli]"`' in shown


def test_unknown_mode():
    with pytest.raises(ValueError, match="'stdout' or 'dict', got 'dicts'"):
        show_config(mode="dicts")
