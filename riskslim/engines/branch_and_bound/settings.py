"""Settings of branch and bound."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

__all__ = [
    "BRANCHING",
    "CUTOFFS",
    "ELIMINATION",
    "TABLES",
    "BranchAndBoundSettings",
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
    order_twins: ClassVar[bool] = True
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
    order_twins : bool, default True
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
    >>> from riskslim.engines.branch_and_bound.settings import TunedSettings
    >>> TunedSettings(branching="curvature").batch_size
    16
    """

    node_tolerance: float = 0.05  # type: ignore[misc]
    max_node_tolerance: float = 1e-3  # type: ignore[misc]
    merge_rows: bool = True  # type: ignore[misc]
    order_twins: bool = True  # type: ignore[misc]
    swaps: bool = True  # type: ignore[misc]
    rounding_interval: int = 20  # type: ignore[misc]
    batch_size: int = 16  # type: ignore[misc]
    table_cost: float = 1.0  # type: ignore[misc]
    sample_rows: int = 2**15  # type: ignore[misc]
