"""Risk scores: sparse linear models with small integer coefficients and a certificate.

The public names below are loaded when they are first used, so that importing the package
costs little and brings in neither a solver nor a compiler.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "BranchAndBoundSettings": "_branch_and_bound",
    "Certificate": "solution",
    "CoefficientSet": "coefficients",
    "ItemEncoder": "item_encoder",
    "LatticeCPASettings": "_lattice_cpa",
    "LinearConstraint": "constraints",
    "LogisticLoss": "loss",
    "RiskSLIMClassifier": "classifier",
    "RiskScore": "risk_score",
    "RiskScoreProblem": "problem",
    "RiskSlimLP": "_lattice_cpa",
    "RiskSlimMIP": "_lattice_cpa",
    "Solution": "solution",
    "SolutionPool": "solution",
    "Status": "solution",
    "TrainingData": "data",
    "at_least": "constraints",
    "at_most": "constraints",
    "at_most_variables": "constraints",
    "branch_and_bound": "_branch_and_bound",
    "calibration_error": "metrics",
    "chained_updates": "bounds",
    "cross_validate_risk_score": "cross_validation",
    "discrete_coordinate_descent": "heuristics",
    "either_or": "constraints",
    "exactly": "constraints",
    "false_negative_rate_at_most": "rates",
    "false_positive_rate_at_most": "rates",
    "fixed_points": "allowed_points",
    "if_then": "constraints",
    "lattice_cpa": "_lattice_cpa",
    "model_size_path": "model_selection",
    "minimum_points": "allowed_points",
    "model_size": "constraints",
    "monotone": "allowed_points",
    "not_both": "constraints",
    "points_in": "allowed_points",
    "rate_gap_at_most": "rates",
    "risk_at_least": "side_information",
    "risk_at_most": "side_information",
    "sequential_rounding": "heuristics",
    "show_config": "config",
    "standard_cpa": "_lattice_cpa",
    "variable": "constraint_base",
}

__all__ = [
    "BranchAndBoundSettings",
    "Certificate",
    "CoefficientSet",
    "ItemEncoder",
    "LatticeCPASettings",
    "LinearConstraint",
    "LogisticLoss",
    "RiskSLIMClassifier",
    "RiskScore",
    "RiskScoreProblem",
    "RiskSlimLP",
    "RiskSlimMIP",
    "Solution",
    "SolutionPool",
    "Status",
    "TrainingData",
    "at_least",
    "at_most",
    "at_most_variables",
    "branch_and_bound",
    "calibration_error",
    "chained_updates",
    "cross_validate_risk_score",
    "discrete_coordinate_descent",
    "either_or",
    "exactly",
    "false_negative_rate_at_most",
    "false_positive_rate_at_most",
    "fixed_points",
    "if_then",
    "lattice_cpa",
    "minimum_points",
    "model_size",
    "model_size_path",
    "monotone",
    "not_both",
    "points_in",
    "rate_gap_at_most",
    "risk_at_least",
    "risk_at_most",
    "sequential_rounding",
    "show_config",
    "standard_cpa",
    "variable",
]

if TYPE_CHECKING:
    from riskslim._branch_and_bound import BranchAndBoundSettings, branch_and_bound
    from riskslim._lattice_cpa import (
        LatticeCPASettings,
        RiskSlimLP,
        RiskSlimMIP,
        lattice_cpa,
        standard_cpa,
    )
    from riskslim.allowed_points import fixed_points, minimum_points, monotone, points_in
    from riskslim.bounds import chained_updates
    from riskslim.classifier import RiskSLIMClassifier
    from riskslim.coefficients import CoefficientSet
    from riskslim.config import show_config
    from riskslim.constraint_base import variable
    from riskslim.constraints import (
        LinearConstraint,
        at_least,
        at_most,
        at_most_variables,
        either_or,
        exactly,
        if_then,
        model_size,
        not_both,
    )
    from riskslim.cross_validation import cross_validate_risk_score
    from riskslim.data import TrainingData
    from riskslim.heuristics import discrete_coordinate_descent, sequential_rounding
    from riskslim.item_encoder import ItemEncoder
    from riskslim.loss import LogisticLoss
    from riskslim.metrics import calibration_error
    from riskslim.model_selection import model_size_path
    from riskslim.problem import RiskScoreProblem
    from riskslim.rates import (
        false_negative_rate_at_most,
        false_positive_rate_at_most,
        rate_gap_at_most,
    )
    from riskslim.risk_score import RiskScore
    from riskslim.side_information import risk_at_least, risk_at_most
    from riskslim.solution import Certificate, Solution, SolutionPool, Status


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
