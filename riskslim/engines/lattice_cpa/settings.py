"""The settings of LCPA."""

from __future__ import annotations

import dataclasses

from riskslim._checks import is_int

__all__ = ["LatticeCPASettings"]


@dataclasses.dataclass(frozen=True)
class LatticeCPASettings:
    """Parts of the algorithm that can be switched off, to measure what each is worth.

    Parameters
    ----------
    initialization : bool, default True
        Find a good score, bounds and first cuts before the tree search.
    native_root : bool, default True
        Do so by the root of :func:`~riskslim.branch_and_bound`: Newton's method on the relaxation
        of the loss, rounding, descent, and ranges of coefficients that shrink to what can be better
        than the result. Otherwise, and without compiled kernels, by the paper's initialization
        procedure: standard CPA on the relaxation, rounding and polishing of its iterates.
    probing : bool, default True
        Let that root be relaxed with every feature used either way, and not used, and with the
        ends of its range, to shrink the ranges further.
    chained_updates : bool, default True
        Tighten bounds on objective, loss and model size whenever one of them improves, and pass
        them to the solver.
    rounding : bool, default True
        Round LP solutions sequentially when the lower bound moves, and polish them.
    polishing : bool, default True
        Polish integer solutions by discrete coordinate descent.
    polishing_margin : float, default 0.1
        Polish integer solutions whose objective is within this share of the upper bound.
    fractional_rounds : int, optional
        Most cuts at fractional LP solutions of one node; 0 for none. None: 1 on CPLEX, 3 on SCIP.
    fractional_threshold : float, default 0.001
        Cut there if the surrogate's loss is too low by more than this share of the open gap.
    cut_pool : int, default 1000
        Cuts that are remembered, and tried before the loss is evaluated; 0 for none.
    sign_split : bool, default False
        State the surrogate with two size indicators for a feature, one per sign, which are 0 where
        the coefficient is.
    branching_priority : bool, optional
        Branch on size indicators before coefficients. None: where the model size is limited and
        most features are 0 or 1; with features of many values it can take fifty times as long.
        With constraints on rates the indicators are those of predicted outcomes, and come first.
    swaps : bool, default True
        Let polishing exchange one feature for another where no single change helps.
    initialization_time_limit : float, default 20.0
        Seconds for probing, or for each of the two steps of the paper's procedure; never more
        than a fifth of the time limit of the run.
    initialization_gap : float, default 1e-3
        Gap of the relaxation at which the initialization's CPA stops.
    initialization_max_iterations : int, default 500
        Most iterations of that CPA.
    subsampling : bool, optional
        Round and polish LP solutions on random rows, and evaluate what is promising there on
        all rows (:mod:`riskslim.heuristics.subsampling`). None: where evaluations read 50,000
        rows or more.
    subsampling_delta : float, default 0.05
        Probability that the loss on all rows exceeds that of a rounding on the random rows by
        more than ``statistics.subsampling_epsilon``.

    Raises
    ------
    ValueError
        A number is negative, a count is no whole number, or ``subsampling_delta`` is not between
        0 and 1.

    Examples
    --------
    >>> from riskslim import LatticeCPASettings
    >>> basic = LatticeCPASettings(
    ...     initialization=False, chained_updates=False, rounding=False, polishing=False
    ... )
    >>> basic.rounding
    False
    """

    initialization: bool = True
    native_root: bool = True
    probing: bool = True
    chained_updates: bool = True
    rounding: bool = True
    polishing: bool = True
    polishing_margin: float = 0.10
    fractional_rounds: int | None = None
    fractional_threshold: float = 0.001
    cut_pool: int = 1000
    sign_split: bool = False
    branching_priority: bool | None = None
    swaps: bool = True
    initialization_time_limit: float = 20.0
    initialization_gap: float = 1e-3
    initialization_max_iterations: int = 500
    subsampling: bool | None = None
    subsampling_delta: float = 0.05

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is not None and not isinstance(value, bool) and not value >= 0:
                raise ValueError(f"{field.name} must be at least 0, got {value!r}")
        for name in ("fractional_rounds", "cut_pool"):
            value = getattr(self, name)
            if name == "fractional_rounds" and value is None:
                continue
            if not is_int(value):
                raise ValueError(f"{name} must be a whole number, got {value!r}")
        if not 0 < self.subsampling_delta < 1:
            raise ValueError(
                "subsampling_delta must be between 0 and 1, both excluded, "
                f"got {self.subsampling_delta!r}"
            )
