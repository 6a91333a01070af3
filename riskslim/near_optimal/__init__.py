r"""Other scores that are as good: by the items that they use, and what the choice depends on.

:func:`riskslim.alternatives` lists the sets of items that have a score within a share of the best
objective. What else speaks for one of them is here: second criteria and filters (:func:`compare`),
whether decisions depend on the choice (:func:`agreement`, :func:`risk_ranges`), and whether other
rows would have led to the same items (:func:`stability`).
"""

from __future__ import annotations

from riskslim.near_optimal.agreement import (
    Agreement,
    AgreementInGroup,
    RiskRanges,
    agreement,
    risk_ranges,
)
from riskslim.near_optimal.choice import Choice, Measures, compare
from riskslim.near_optimal.stability import OtherSet, Stability, stability

__all__ = [
    "Agreement",
    "AgreementInGroup",
    "Choice",
    "Measures",
    "OtherSet",
    "RiskRanges",
    "Stability",
    "agreement",
    "compare",
    "risk_ranges",
    "stability",
]
