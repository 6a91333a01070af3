"""Fit what a file of results lacks, several models at a time."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from benchmarks.comparison.data import ALL_ROWS, Source, load
from benchmarks.comparison.pools import (
    L0_PENALTY,
    MAX_COEF,
    MAX_INTERCEPT,
    POOLED,
    REFERENCE,
    TRADITIONAL,
    Grid,
    Pools,
    fit_pools,
    read_pools,
    write_pools,
)
from benchmarks.comparison.results import RISKSLIM, Key, Result, measured, read_results
from benchmarks.machine import describe_machine
from riskslim import RiskSLIMClassifier
from riskslim.exceptions import ConstantFeatureWarning
from riskslim.paper.baselines import Pool

BASELINES = "baselines"


class Task(NamedTuple):
    """Models that are fitted together.

    Attributes
    ----------
    dataset : str
    fold : int
    method : str
        :data:`RISKSLIM`, or :data:`BASELINES` for all of these.
    sizes : tuple of int
        Limits of the model size.
    """

    dataset: str
    fold: int
    method: str
    sizes: tuple[int, ...]

    def __str__(self) -> str:
        rows = "all rows" if self.fold == ALL_ROWS else f"fold {self.fold}"
        sizes = ", ".join(map(str, self.sizes))
        return f"{self.dataset}, {rows}, {self.method}, size {sizes}"


class Plan(NamedTuple):
    """What is to be there in the end.

    Attributes
    ----------
    source : Source
    folder : Path
        Of results and pools.
    datasets : tuple of str
    sizes : tuple of int
        Limits of the model size.
    grid, fold_grid : Grid
        Pools of the final model, and of those of the folds.
    time_limit : float
        Seconds of each search of RiskSLIM.
    """

    source: Source
    folder: Path
    datasets: tuple[str, ...]
    sizes: tuple[int, ...]
    grid: Grid
    fold_grid: Grid
    time_limit: float

    @property
    def path(self) -> Path:
        """File of results."""
        return self.folder / "results.csv"

    def grid_of(self, fold: int) -> Grid:
        """Which pools a model of a fold, or the final one, is chosen from."""
        return self.grid if fold == ALL_ROWS else self.fold_grid

    def pool_path(self, dataset: str, fold: int) -> Path:
        """File of the pools of some training rows."""
        rows = "all" if fold == ALL_ROWS else fold
        return self.folder / "pools" / f"{dataset}-{rows}.npz"


def missing(plan: Plan) -> list[Task]:
    """What is not yet in the file, the final models first.

    Parameters
    ----------
    plan : Plan

    Returns
    -------
    list of Task
    """
    there = read_results(plan.path)
    tasks = []
    for dataset in plan.datasets:
        for fold in (ALL_ROWS, *range(plan.source.n_folds)):
            lacking = tuple(
                size for size in plan.sizes if not _has_baselines(there, plan, dataset, fold, size)
            )
            if lacking:
                tasks.append(Task(dataset, fold, BASELINES, lacking))
            tasks += [
                Task(dataset, fold, RISKSLIM, (size,))
                for size in plan.sizes
                if not _is_searched(there.get((dataset, fold, RISKSLIM, size)), plan.time_limit)
            ]
    return tasks


def _has_baselines(
    there: Mapping[Key, Result],
    plan: Plan,
    dataset: str,
    fold: int,
    size: int,
) -> bool:
    keys: list[Key] = [(dataset, fold, method, size) for method in (*TRADITIONAL, *POOLED)]
    keys.append((dataset, fold, REFERENCE, None))
    return all(key in there and there[key].grid == str(plan.grid_of(fold)) for key in keys)


def _is_searched(result: Result | None, time_limit: float) -> bool:
    """Whether a search has ended by itself, or had as much time as is wanted."""
    return result is not None and (
        result.status == "optimal" or result.values["time_limit"] >= time_limit
    )


def make(plan: Plan, n_jobs: int) -> int:
    """Fit the models that the file lacks.

    Parameters
    ----------
    plan : Plan
    n_jobs : int
        Processes.

    Returns
    -------
    int
        Number of models.
    """
    plan.folder.mkdir(parents=True, exist_ok=True)
    for dataset in plan.datasets:
        plan.source.write_folds(dataset)
    tasks = missing(plan)
    if not tasks:
        return 0
    described = describe_machine()
    (plan.folder / "machine.json").write_text(json.dumps(described, indent=2) + "\n")
    machine = f"{described['processor']}, {described['cores']} cores"
    finished: Iterable[tuple[Task, list[Result]]] = Parallel(
        n_jobs=n_jobs, return_as="generator_unordered"
    )(delayed(_done)(plan, task, machine) for task in tasks)
    n_models = 0
    for number, (task, results) in enumerate(finished, start=1):
        for result in results:
            result.write(plan.path)
        n_models += len(results)
        seconds = results[0].values["wall_seconds"]
        sys.stderr.write(f"{number}/{len(tasks)} {task}: {seconds:.1f} s\n")
    return n_models


def _done(plan: Plan, task: Task, machine: str) -> tuple[Task, list[Result]]:
    with warnings.catch_warnings():
        # Rare values are missing in some folds; results say which searches ended early.
        warnings.simplefilter("ignore", ConstantFeatureWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        if task.method == RISKSLIM:
            return task, [_riskslim(plan, task, machine)]
        return task, list(_baselines(plan, task, machine))


def _riskslim(plan: Plan, task: Task, machine: str) -> Result:
    data = load(plan.source, task.dataset)
    X, y = data.train(task.fold)
    (size,) = task.sizes
    classifier = RiskSLIMClassifier(
        max_size=size, max_coef=MAX_COEF, max_intercept=MAX_INTERCEPT, l0_penalty=L0_PENALTY,
        time_limit=plan.time_limit, engine="branch_and_bound", scale=1, l2_penalty=0,  # the paper's
    )  # fmt: skip
    wall, cpu = time.perf_counter(), time.process_time()
    classifier.fit(X, y)
    certificate = classifier.certificate_
    numbers = {
        "time_limit": plan.time_limit,
        "wall_seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
        "lower_bound": certificate.lower_bound,
        "gap": certificate.optimality_gap,
    }
    return measured(
        data, task.fold, classifier.solution_.coef, numbers,
        dataset=task.dataset, method=RISKSLIM, max_size=size, grid="",
        status=str(certificate.status), n_feasible=0, machine=machine,
    )  # fmt: skip


def _baselines(plan: Plan, task: Task, machine: str) -> Iterator[Result]:
    data = load(plan.source, task.dataset)
    path, grid = plan.pool_path(task.dataset, task.fold), plan.grid_of(task.fold)
    pools = read_pools(path, grid)
    if pools is None:
        pools = fit_pools(*data.train(task.fold), grid)
        write_pools(path, pools, grid)
    for max_size, method, coef, pool, index in _chosen(pools, task.sizes):
        numbers = {
            "l1_ratio": float(pool.l1_ratios[index]),
            "penalty": float(pool.penalties[index]),
            "wall_seconds": pools.wall_seconds,
            "cpu_seconds": pools.cpu_seconds,
        }
        yield measured(
            data, task.fold, coef, numbers, dataset=task.dataset, method=method,
            max_size=max_size, grid=str(grid), status="",
            n_feasible=int(pool.is_feasible.sum()), machine=machine,
        )  # fmt: skip


def _chosen(
    pools: Pools, sizes: Sequence[int]
) -> Iterator[tuple[int | None, str, NDArray[Any], Pool, int]]:
    reference = pools.pools[REFERENCE]
    index = reference.best()
    yield None, REFERENCE, reference.coefficients[index], reference, index
    for size in sizes:
        for method, coef, pool, index in pools.chosen(size):
            yield size, method, coef, pool, index
