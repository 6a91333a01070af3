"""Settings of branch and bound that lead through another tree to the same score."""

from __future__ import annotations

from riskslim import BranchAndBoundSettings
from riskslim.engines.settings import TunedSettings

# Beside the defaults: other ways through the same tree, which must end at the same score.
VARIANTS = (
    {},
    {"branching": "curvature", "rounding_interval": 1},
    {"order_duplicates": False, "batch_size": 1},
    {"merge_rows": False, "swaps": False, "rounding_interval": 1000},
    {"memory_limit": 1, "batch_size": 2},
    {"node_tolerance": 1.0, "max_node_tolerance": 1.0},
    {"node_tolerance": 1e-6},
)


def variant(seed: int) -> BranchAndBoundSettings:
    return TunedSettings(**VARIANTS[seed % len(VARIANTS)])
