"""Work arrays that are larger than needed, and hold anything, change no result.

What an earlier call left behind serves the next one. A kernel that took the number of its groups
from such an array once missed a score of a list that was then called complete.
"""

from __future__ import annotations

import ast
from collections import Counter
from types import ModuleType

import numpy as np
import pytest

from paths import PACKAGE
from riskslim import (
    CoefficientSet,
    RiskScoreProblem,
    TrainingData,
    _kernels,
    branch_and_bound,
    discrete_coordinate_descent,
    sequential_rounding,
)
from riskslim.data import nested_thresholds, packed
from riskslim.engines.branch_and_bound import additive, elimination
from riskslim.engines.operating_points.best_rule import best_rule
from riskslim.engines.settings import TunedSettings
from riskslim.heuristics.mixed import MixedSearch
from riskslim.heuristics.supports import search_supports
from riskslim.operating_point import RequiredShare

# Arrays that kernels work in, which hold nothing before and after.
WORK = {
    "additive": {"linearise": ["work"], "fit": ["work"]},
    "nested_thresholds": {"sweep_chains": ["scratch"]},
    "cutoffs": {"search": ["room64"]},
    "distinct": {"group_rows": ["plane"]},
    "heuristics": {
        "coordinate_descent": ["wanted", "workspace", "mass"],
        "best_line_steps": ["mass"],
        "sequential_rounding": ["odds", "workspace", "bound"],
    },
    "nodes": {
        "solve_root": ["work", "index"], "expand": ["work", "index"], "apply_cut": ["work", "index"]
    },
    "ranges": {"row_ranges": ["workspace"]},
    "supports": {
        "count_cells": ["first_share", "scratch"], "fill_masks": ["scratch"],
        "best_steps": ["work", "work_values"], "polish": ["position"],
    },
    "support_enumeration": {"scan": ["room64", "room32", "room_float"]},
    "rules": {"count": ["parts"], "best_points": ["room", "room32"]},
}  # fmt: skip
# Their rows are blocks of as many entries as a kernel says.
OF_BLOCKS = {("distinct", "plane"), ("ranges", "workspace")}


def names_of(module: str) -> dict[str, list[str]]:
    """Arguments of the functions of a module of kernels, as its stub has them."""
    tree = ast.parse((PACKAGE / "_kernels" / f"{module}.pyi").read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {one.name: [argument.arg for argument in one.args.args] for one in functions}


def larger(array: np.ndarray, of_blocks: bool) -> np.ndarray:
    """More room, all bits set: no number for floats, and -1 for integers."""
    shape = [2 * n + 3 for n in array.shape]
    if of_blocks:
        shape[-1] = array.shape[-1]
    room = np.empty(shape, array.dtype)
    room.view(np.uint8)[...] = 255
    return room


class Roomy(ModuleType):
    """Kernels that are called with more room than their callers have made."""

    def __init__(self, name: str, kernels: ModuleType, met: Counter[tuple[str, str]]) -> None:
        super().__init__(kernels.__name__)
        self._name, self._kernels, self._met = name, kernels, met
        self._arguments = names_of(name)

    def __getattr__(self, name):
        kernel, work = getattr(self._kernels, name), WORK.get(self._name, {}).get(name)
        if work is None:
            return kernel

        def called(*arguments):
            given = list(arguments)
            for argument in work:
                at = self._arguments[name].index(argument)
                given[at] = larger(given[at], (self._name, argument) in OF_BLOCKS)
            self._met[self._name, name] += 1
            return kernel(*given)

        return called


def roomy(backend: str) -> tuple[dict[str, ModuleType], Counter[tuple[str, str]]]:
    met: Counter[tuple[str, str]] = Counter()
    kernels = _kernels.load(backend)
    names = _kernels.MODULES if backend == "cython" else _kernels.BOTH
    return kernels | {name: Roomy(name, kernels[name], met) for name in names}, met


def problem_of(X, *, weights=None, max_size=3, seed=0, compress="auto", scale=1.0):
    rng = np.random.default_rng(seed)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    y = rng.random(len(X)) < 1 / (1 + np.exp(0.5 - z @ rng.normal(0, 0.8, X.shape[1])))
    data = TrainingData(X, y, weights)
    coefficients = CoefficientSet(data.feature_names, -3, 3)
    return RiskScoreProblem(
        data, coefficients, compress=compress, max_size=max_size, l0_penalty=1e-4, scale=scale
    )


def items(seed, n, d):
    return (np.random.default_rng([seed, 1]).random((n, d)) < 0.4).astype(float)


def cut_offs(seed, n, n_variables, n_thresholds):
    values = np.random.default_rng([seed, 2]).normal(size=(n, n_variables))
    cuts = np.linspace(-1.8, 1.8, n_thresholds)
    return np.concatenate([v[:, None] >= cuts for v in values.T], axis=1).astype(float)


def mixed(seed, n, d=6):
    rng = np.random.default_rng([seed, 3])
    X = rng.integers(-2, 12, (n, d)).astype(float)
    X[:, ::3] = np.exp(rng.normal(-1, 1.5, (n, len(X[0, ::3]))))
    X[:, 1] = rng.random(n) < 0.4
    return X


def stated(solution):
    found = solution.certificate
    pool = solution.pool
    return (
        solution.coef.tolist(), found.objective, found.lower_bound, found.status,
        None if pool is None else (pool.coefficients.tolist(), pool.bound, pool.complete),
    )  # fmt: skip


def of_heuristics():
    """What descents, roundings and ranges find."""
    for seed, (X, weighted) in enumerate(
        [(mixed(1, 700), False), (mixed(2, 700), True), (items(3, 900, 8), False)]
    ):
        rng = np.random.default_rng(seed)
        weights = rng.uniform(0.5, 2, len(X)) if weighted else None
        problem = problem_of(X, weights=weights, scale=6.0)
        point = np.clip(rng.normal(size=X.shape[1] + 1), problem.lower, problem.upper)
        point[1:][np.argsort(-np.abs(point[1:]))[3:]] = 0.0
        rounded = sequential_rounding(problem, point)
        yield rounded.coefficients.tolist(), rounded.objective
        for swaps in (False, True):
            polished = discrete_coordinate_descent(problem, rounded.coefficients, swaps=swaps)
            yield polished.coefficients.tolist(), polished.objective
        yield [vector.tolist() for vector in MixedSearch.of(problem).run(effort=2)]
        yield problem.loss.bounds(), problem.loss.score_range
        yield problem_of(X[:, 1:2].repeat(2, axis=1), compress=True).loss.n_rows


def of_searches():
    """What searches find, by nodes, tables, ranges of cut-offs, and items in turn."""
    always, never = {"tables": "always"}, {"tables": "never"}
    for X, settings, options, arguments in (
        (items(4, 40, 11), always, {}, {"n_solutions": 30}),
        (items(5, 300, 11), always, {}, {"n_solutions": 30}),
        (items(6, 300, 9), never, {"scale": (0.5, 4)}, {}),
        (mixed(7, 200), never, {"scale": 6.0}, {}),
        (items(6, 300, 9), never | {"cutoffs": "never", "sample_rows": 20}, {}, {}),
        (cut_offs(8, 250, 2, 20), {"cutoffs": "always"}, {"max_size": 2}, {}),
        (
            cut_offs(9, 250, 5, 3),
            {"cutoffs": "never", "elimination": "always"},
            {"max_size": 2},
            {},
        ),
    ):
        problem = problem_of(X, **options)
        given = TunedSettings(**settings)
        yield stated(branch_and_bound(problem, settings=given, time_limit=600.0, **arguments))
    rule = best_rule(problem_of(items(11, 200, 9)), RequiredShare("sensitivity", 0.9))
    yield stated(rule), rule.certificate.rule
    problem = problem_of(cut_offs(10, 400, 2, 30))
    yield [vector.tolist() for vector in search_supports(problem, effort=1)]


@pytest.mark.parametrize("backend", ["cython", pytest.param("numba", marks=pytest.mark.numba)])
def test_heuristics(use_kernels, backend):
    expected = list(of_heuristics())
    kernels, met = roomy(backend)
    use_kernels(kernels)
    found = list(of_heuristics())
    if backend == "cython":
        assert found == expected
    else:
        use_kernels(_kernels.load(backend))
        assert found == list(of_heuristics())
    assert not missing(met, "distinct", "heuristics", "ranges")


@pytest.mark.slow
def test_searches(use_kernels, monkeypatch):
    # Problems this small have ways of their own.
    monkeypatch.setattr(nested_thresholds, "WORTHWHILE", 0)
    monkeypatch.setattr(packed, "_WORDS_OF_A_THREAD", 1)
    monkeypatch.setattr(elimination, "LEAST_USED", 1)
    monkeypatch.setattr(elimination, "RELAXATIONS", 0.0)
    monkeypatch.setattr(elimination, "FAMILIES_SECONDS", 0.0)
    monkeypatch.setattr(elimination, "PROMISING", 0.0)
    monkeypatch.setattr(additive, "FEATURES_PER_FAMILY", 1.0)
    expected = list(of_searches())
    kernels, met = roomy("cython")
    use_kernels(kernels)
    assert list(of_searches()) == expected
    assert not missing(met, *(set(WORK) - {"heuristics"}))


def missing(met, *modules):
    """Kernels with work arrays that were not called."""
    return [f"{name}.{each}" for name in modules for each in WORK[name] if not met[name, each]]
