"""Pools of the baselines: fitted once to each set of training rows, kept, and used for all sizes.

A pool has a model per elastic net, its size, its loss and its mean AUC over the inner folds. All
of them are the same whatever the limit of the model size, which only decides among models. So the
pools of the largest limit give the choice of each smaller one.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim.paper.baselines import (
    METHODS,
    Pool,
    fit_baselines,
    rescaled_rounding,
    rounding,
    unit_weights,
)

# Methods that turn the best elastic net into a risk score, after the choice.
TRADITIONAL: Mapping[str, Callable[[NDArray[Any]], NDArray[np.int64]]] = {
    "Rd": rounding,
    "RsRd": rescaled_rounding,
    "Unit": unit_weights,
}
POOLED = tuple(name for name in METHODS if name.startswith("Pooled"))
# The elastic net without a limit of the size, and those with one, which become risk scores.
REFERENCE, NETS = "PLR", "nets"
# Mixing values and penalties of the reference. Its AUC hardly depends on them, and each one is a
# fit with all features.
REFERENCE_L1_RATIOS, REFERENCE_PENALTIES = (0.0, 0.5, 1.0), 20

MAX_COEF, MAX_INTERCEPT, L0_PENALTY = 5, 100, 1e-6


class Grid(NamedTuple):
    """Elastic nets of a pool, and the folds by which one of them is chosen.

    Attributes
    ----------
    n_l1_ratios : int
        Mixing values, evenly from 0 to 1; 1 alone for a single one.
    n_penalties : int
        Penalties for each of them.
    n_folds : int
        Inner folds.
    max_size : int
        Largest limit of the model size that the pools serve.
    """

    n_l1_ratios: int = 11
    n_penalties: int = 100
    n_folds: int = 5
    max_size: int = 10

    def __str__(self) -> str:
        return f"{self.n_l1_ratios} x {self.n_penalties}, {self.n_folds} inner folds"

    @property
    def l1_ratios(self) -> list[float]:
        """Mixing values."""
        return [float(ratio) for ratio in np.linspace(1, 0, self.n_l1_ratios)]


@dataclasses.dataclass(frozen=True, eq=False)
class Pools:
    """Pools of one set of training rows.

    Attributes
    ----------
    pools : mapping from str to Pool
        Those of :data:`POOLED`, and :data:`NETS` and :data:`REFERENCE`.
    wall_seconds, cpu_seconds : float
        Time to fit all of them.
    """

    pools: Mapping[str, Pool]
    wall_seconds: float
    cpu_seconds: float

    def chosen(self, max_size: int) -> Iterator[tuple[str, NDArray[Any], Pool, int]]:
        """What each baseline makes of the pools.

        Parameters
        ----------
        max_size : int
            Limit of the model size. A method without a feasible model is left out.

        Yields
        ------
        method : str
        coef : ndarray, shape (d + 1,)
            Intercept first.
        pool : Pool
        index : int
            Position of the chosen model.
        """
        for name in (NETS, *POOLED):
            pool = narrowed(self.pools[name], max_size)
            if not pool.is_feasible.any():
                continue
            index = pool.best()
            coef = pool.coefficients[index]
            if name != NETS:
                yield name, coef, pool, index
                continue
            for method, convert in TRADITIONAL.items():
                yield method, convert(coef), pool, index


def narrowed(pool: Pool, max_size: int) -> Pool:
    """The same pool with a smaller limit of the model size.

    Parameters
    ----------
    pool : Pool
    max_size : int

    Returns
    -------
    Pool
    """
    obeys = pool.sizes <= max_size
    return dataclasses.replace(
        pool,
        obeys_size=obeys,
        is_feasible=pool.is_feasible & obeys,
        mean_auc=np.where(obeys, pool.mean_auc, np.nan),
    )


def fit_pools(X: NDArray[np.float64], y: NDArray[np.int8], grid: Grid) -> Pools:
    """Fit the elastic nets to training rows and inner folds of them, and make all pools.

    Parameters
    ----------
    X : ndarray of float64, shape (n, d)
    y : ndarray of int8, shape (n,)
    grid : Grid

    Returns
    -------
    Pools
    """
    wall, cpu = time.perf_counter(), time.process_time()
    fitted = fit_baselines(
        X, y, methods=[REFERENCE, *POOLED], max_size=grid.max_size, max_coef=MAX_COEF,
        max_intercept=MAX_INTERCEPT, l0_penalty=L0_PENALTY, l1_ratios=grid.l1_ratios,
        n_penalties=grid.n_penalties, cv=grid.n_folds,
    )  # fmt: skip
    pools = {name: model.pool_ for name, model in fitted.items()}
    pools[NETS] = pools.pop(REFERENCE)
    reference = METHODS[REFERENCE](
        max_size=None, l1_ratios=REFERENCE_L1_RATIOS, n_penalties=REFERENCE_PENALTIES,
        cv=grid.n_folds,
    )  # fmt: skip
    pools[REFERENCE] = reference.fit(X, y).pool_
    return Pools(pools, time.perf_counter() - wall, time.process_time() - cpu)


def write_pools(path: Path, pools: Pools, grid: Grid) -> None:
    """Keep pools in a file; it is there whole or not at all.

    Parameters
    ----------
    path : Path
    pools : Pools
    grid : Grid
    """
    arrays = {
        f"{name}:{field.name}": getattr(pool, field.name)
        for name, pool in pools.pools.items()
        for field in dataclasses.fields(Pool)
    }
    arrays["grid"] = np.array(json.dumps(grid))
    arrays["seconds"] = np.array([pools.wall_seconds, pools.cpu_seconds])
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"unfinished-{path.name}")
    np.savez_compressed(unfinished, **arrays)
    unfinished.replace(path)


def read_pools(path: Path, grid: Grid) -> Pools | None:
    """Read pools that have been kept.

    Parameters
    ----------
    path : Path
    grid : Grid
        What they must have been made with.

    Returns
    -------
    Pools or None
        None if there are none, or they have been made with something else.
    """
    if not path.exists():
        return None
    with np.load(path) as arrays:
        if str(arrays["grid"]) != json.dumps(grid):
            return None
        wall, cpu = arrays["seconds"].tolist()
        pools = {
            name: Pool(
                **{field.name: arrays[f"{name}:{field.name}"] for field in dataclasses.fields(Pool)}
            )
            for name in (NETS, REFERENCE, *POOLED)
        }
    return Pools(pools, wall, cpu)
