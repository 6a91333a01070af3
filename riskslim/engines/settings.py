"""Settings of the engines."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

from riskslim._checks import is_int

__all__ = [
    "BRANCHING",
    "CUTOFFS",
    "ELIMINATION",
    "TABLES",
    "BranchAndBoundSettings",
    "LatticeCPASettings",
    "TunedSettings",
]

BRANCHING = {"curvature": 0, "look_ahead": 2}
TABLES = ("auto", "always", "nodes", "never")
CUTOFFS = ("auto", "always", "never")
ELIMINATION = ("auto", "always", "never")


@dataclasses.dataclass(frozen=True)
class BranchAndBoundSettings:
    """Settings of the search; every one of them leaves the result a certified one.

    Parameters
    ----------
    branching : {"look_ahead", "curvature"}
        How the feature to branch on is chosen: by what a quadratic model of the loss predicts for
        the children of the most promising ones, or the one with the largest squared points
        times curvature.
    memory_limit : int, default 2**31
        Bytes of open nodes beyond which the search dives: it finishes the subtree of the best
        node before it takes another one. A node whose tables would need more is left to
        relaxations; threads wait for each other rather than need more together.
    tables : {"auto", "always", "nodes", "never"}
        Where all sets of items (features of at most eight values) of a node are looked at one by
        one, by their counts, instead of by relaxations: "nodes" of which that is predicted to
        take less time than a few relaxations; "auto": all open nodes, too, once that is predicted
        to take less time than the rest of the search; "always": all nodes, where it is possible.
    cutoffs : {"auto", "always", "never"}
        Where many items are nested, as cut-offs of one measurement are, search over ranges of them
        and of their points together: "auto": once that is predicted to take less time than the
        rest of the search and than tables; "always": where it is possible, with 0/1 items alone
        and up to 6 of them in a score.
    elimination : {"auto", "always", "never"}
        Where all features are items, divide supports by the variables (where supports are very
        many) and the items that they use, those that relaxations rely on most first, and look at
        parts of few supports by tables: "auto": once the rest of the search is predicted to take
        more than minutes; "always": where it is possible, with 3 to 6 items in a score.

    Raises
    ------
    ValueError
        A value is out of range.

    Examples
    --------
    >>> from riskslim import BranchAndBoundSettings
    >>> BranchAndBoundSettings(tables="never").cutoffs
    'auto'
    """

    branching: str = "look_ahead"
    memory_limit: int = 2**31
    tables: str = "auto"
    cutoffs: str = "auto"
    elimination: str = "auto"

    # What nobody can judge from outside; see TunedSettings.
    node_tolerance: ClassVar[float] = 0.05
    max_node_tolerance: ClassVar[float] = 1e-3
    merge_rows: ClassVar[bool] = True
    order_duplicates: ClassVar[bool] = True
    swaps: ClassVar[bool] = True
    rounding_interval: ClassVar[int] = 20
    batch_size: ClassVar[int] = 16
    table_cost: ClassVar[float] = 1.0
    sample_rows: ClassVar[int] = 2**15

    def __post_init__(self) -> None:
        if self.branching not in BRANCHING:
            raise ValueError(
                f"branching must be one of {', '.join(map(repr, BRANCHING))}, "
                f"got {self.branching!r}"
            )
        if self.tables not in TABLES:
            raise ValueError(
                f"tables must be one of {', '.join(map(repr, TABLES))}, got {self.tables!r}"
            )
        if self.cutoffs not in CUTOFFS:
            raise ValueError(
                f"cutoffs must be one of {', '.join(map(repr, CUTOFFS))}, got {self.cutoffs!r}"
            )
        if self.elimination not in ELIMINATION:
            raise ValueError(
                f"elimination must be one of {', '.join(map(repr, ELIMINATION))}, "
                f"got {self.elimination!r}"
            )
        for name in ("node_tolerance", "max_node_tolerance", "table_cost"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)!r}")
        for name in ("rounding_interval", "batch_size", "memory_limit", "sample_rows"):
            if not getattr(self, name) >= 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)!r}")


@dataclasses.dataclass(frozen=True)
class TunedSettings(BranchAndBoundSettings):
    """Settings with those that only tests and benchmarks change.

    Parameters
    ----------
    node_tolerance : float, default 0.05
        A node's relaxation is solved to within this share of the open gap.
    max_node_tolerance : float, default 1e-3
        And to within this, in units of the loss.
    merge_rows : bool, default True
        Merge rows in subtrees that their features no longer tell apart.
    order_duplicates : bool, default True
        Use the later of two equal or complementary features only where the earlier is at the
        end of its box.
    swaps : bool, default True
        Let polishing exchange one feature for another where no single change helps.
    rounding_interval : int, default 20
        Round and polish every so many relaxations.
    batch_size : int, default 16
        Nodes that are taken at a time, whatever the number of threads.
    table_cost : float, default 1.0
        Factor of the predicted time of tables. The prediction was fitted on one machine.
    sample_rows : int, default 2**15
        Relaxations of nodes that need more than three times as many rows are solved on a sample of
        so many; bounds come from a few passes over all rows.
    **others
        Of :class:`BranchAndBoundSettings`.

    Examples
    --------
    >>> from riskslim.engines.settings import TunedSettings
    >>> TunedSettings(branching="curvature").batch_size
    16
    """

    node_tolerance: float = 0.05  # type: ignore[misc]
    max_node_tolerance: float = 1e-3  # type: ignore[misc]
    merge_rows: bool = True  # type: ignore[misc]
    order_duplicates: bool = True  # type: ignore[misc]
    swaps: bool = True  # type: ignore[misc]
    rounding_interval: int = 20  # type: ignore[misc]
    batch_size: int = 16  # type: ignore[misc]
    table_cost: float = 1.0  # type: ignore[misc]
    sample_rows: int = 2**15  # type: ignore[misc]


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
