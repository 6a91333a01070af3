"""Sizes of the data in the experiments: for a smoke test, for minutes, and those of the paper."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Sizes:
    """What the experiments run on, and for how long.

    Parameters
    ----------
    time_limit : float
        Seconds per run.
    n : int
        Rows of the experiments "stalling" and "improvements".
    stalling_d : tuple of int
    improvements_d : int
    grid_n, grid_d : tuples of int
    scip_max_n : int
        Most rows that SCIP is given.
    rows_n : tuple of int
    rows_d : int
    """

    time_limit: float
    n: int
    stalling_d: tuple[int, ...]
    improvements_d: int
    grid_n: tuple[int, ...]
    grid_d: tuple[int, ...]
    scip_max_n: int
    rows_n: tuple[int, ...]
    rows_d: int


QUICK = Sizes(
    time_limit=2.0,
    n=1000,
    stalling_d=(6, 10),
    improvements_d=10,
    grid_n=(300, 1000),
    grid_d=(3, 6, 10),
    scip_max_n=300,
    rows_n=(300, 1000, 3000),
    rows_d=6,
)

MINUTES = Sizes(
    time_limit=12.0,
    n=50_000,
    stalling_d=(10, 20, 30),
    improvements_d=30,
    grid_n=(500, 5000, 50_000),
    grid_d=(5, 10, 20, 30),
    scip_max_n=5000,
    rows_n=(1000, 10_000, 100_000, 1_000_000),
    rows_d=8,
)

# The paper's sizes. At its limit of six hours they would take weeks, at this one half a day.
LARGE = Sizes(
    time_limit=300.0,
    n=50_000,
    stalling_d=(10, 20, 30),
    improvements_d=30,
    grid_n=(1000, 10_000, 50_000, 500_000, 5_000_000),
    grid_d=(5, 10, 15, 20, 25, 30),
    scip_max_n=10_000,
    rows_n=(1000, 10_000, 100_000, 1_000_000, 10_000_000),
    rows_d=10,
)
