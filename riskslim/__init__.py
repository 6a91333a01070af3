"""Risk scores: sparse linear models with small integer coefficients and a certificate.

The public names below are loaded when they are first used, so that importing the package
costs little and brings in neither a solver nor a compiler.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from riskslim._version import __version__ as __version__

# The one list of public names, each with the module that defines it.
_HOMES = {
    "Alternatives": "near_optimal.alternatives",
    "BranchAndBoundSettings": "engines.settings",
    "Certificate": "solution",
    "CoefficientSet": "coefficients",
    "CsvFormat": "data.csv_format",
    "ItemEncoder": "items.encoder",
    "ItemPrice": "near_optimal.prices",
    "LatticeCPASettings": "engines.settings",
    "LinearConstraint": "constraints.linear",
    "LogisticLoss": "loss.logistic",
    "RiskSLIMClassifier": "classifier",
    "RiskSLIMClassifierCV": "model_selection.shrinkage",
    "RiskScore": "risk_score",
    "RiskScoreProblem": "problem.problem",
    "RiskSlimLP": "engines.lattice_cpa.model",
    "RiskSlimMIP": "engines.lattice_cpa.model",
    "Solution": "solution",
    "SolutionPool": "solution",
    "Status": "solution",
    "TrainingData": "data.training_data",
    "alternatives": "near_optimal.alternatives",
    "at_least": "constraints.linear",
    "at_most": "constraints.linear",
    "at_most_variables": "constraints.linear",
    "branch_and_bound": "engines.branch_and_bound.driver",
    "calibration_error": "metrics.calibration",
    "chained_updates": "bounds",
    "cross_validate_risk_score": "model_selection.cross_validation",
    "discrete_coordinate_descent": "heuristics.descent",
    "either_or": "constraints.linear",
    "exactly": "constraints.linear",
    "false_negative_rate_at_most": "constraints.rates",
    "false_positive_rate_at_most": "constraints.rates",
    "fixed_points": "constraints.allowed_points",
    "if_then": "constraints.linear",
    "items_per_variable": "constraints.linear",
    "lattice_cpa": "engines.lattice_cpa.lcpa",
    "minimum_points": "constraints.allowed_points",
    "model_size": "constraints.linear",
    "model_size_path": "model_selection.size_path",
    "monotone": "constraints.allowed_points",
    "not_both": "constraints.linear",
    "operating_point_at_least": "constraints.shares",
    "points_in": "constraints.allowed_points",
    "rate_gap_at_most": "constraints.rates",
    "read": "reader",
    "risk_at_least": "constraints.side_information",
    "risk_at_most": "constraints.side_information",
    "rule_margin": "model_selection.rules",
    "sampled": "rows.subsets",
    "sequential_rounding": "heuristics.descent",
    "show_config": "config",
    "shrinkage_path": "model_selection.shrinkage",
    "variable": "constraints.base",
}

__all__ = list(_HOMES)

if TYPE_CHECKING:  # the same for type checkers, which do not run code
    from riskslim.bounds import chained_updates as chained_updates
    from riskslim.classifier import RiskSLIMClassifier as RiskSLIMClassifier
    from riskslim.coefficients import CoefficientSet as CoefficientSet
    from riskslim.config import show_config as show_config
    from riskslim.constraints.allowed_points import fixed_points as fixed_points
    from riskslim.constraints.allowed_points import minimum_points as minimum_points
    from riskslim.constraints.allowed_points import monotone as monotone
    from riskslim.constraints.allowed_points import points_in as points_in
    from riskslim.constraints.base import variable as variable
    from riskslim.constraints.linear import LinearConstraint as LinearConstraint
    from riskslim.constraints.linear import at_least as at_least
    from riskslim.constraints.linear import at_most as at_most
    from riskslim.constraints.linear import at_most_variables as at_most_variables
    from riskslim.constraints.linear import either_or as either_or
    from riskslim.constraints.linear import exactly as exactly
    from riskslim.constraints.linear import if_then as if_then
    from riskslim.constraints.linear import items_per_variable as items_per_variable
    from riskslim.constraints.linear import model_size as model_size
    from riskslim.constraints.linear import not_both as not_both
    from riskslim.constraints.rates import (
        false_negative_rate_at_most as false_negative_rate_at_most,
    )
    from riskslim.constraints.rates import (
        false_positive_rate_at_most as false_positive_rate_at_most,
    )
    from riskslim.constraints.rates import rate_gap_at_most as rate_gap_at_most
    from riskslim.constraints.shares import (
        operating_point_at_least as operating_point_at_least,
    )
    from riskslim.constraints.side_information import risk_at_least as risk_at_least
    from riskslim.constraints.side_information import risk_at_most as risk_at_most
    from riskslim.data.csv_format import CsvFormat as CsvFormat
    from riskslim.data.training_data import TrainingData as TrainingData
    from riskslim.engines.branch_and_bound.driver import branch_and_bound as branch_and_bound
    from riskslim.engines.lattice_cpa.lcpa import lattice_cpa as lattice_cpa
    from riskslim.engines.lattice_cpa.model import RiskSlimLP as RiskSlimLP
    from riskslim.engines.lattice_cpa.model import RiskSlimMIP as RiskSlimMIP
    from riskslim.engines.settings import (
        BranchAndBoundSettings as BranchAndBoundSettings,
    )
    from riskslim.engines.settings import LatticeCPASettings as LatticeCPASettings
    from riskslim.heuristics.descent import (
        discrete_coordinate_descent as discrete_coordinate_descent,
    )
    from riskslim.heuristics.descent import sequential_rounding as sequential_rounding
    from riskslim.items.encoder import ItemEncoder as ItemEncoder
    from riskslim.loss.logistic import LogisticLoss as LogisticLoss
    from riskslim.metrics.calibration import calibration_error as calibration_error
    from riskslim.model_selection.cross_validation import (
        cross_validate_risk_score as cross_validate_risk_score,
    )
    from riskslim.model_selection.rules import rule_margin as rule_margin
    from riskslim.model_selection.shrinkage import RiskSLIMClassifierCV as RiskSLIMClassifierCV
    from riskslim.model_selection.shrinkage import shrinkage_path as shrinkage_path
    from riskslim.model_selection.size_path import model_size_path as model_size_path
    from riskslim.near_optimal.alternatives import Alternatives as Alternatives
    from riskslim.near_optimal.alternatives import alternatives as alternatives
    from riskslim.near_optimal.prices import ItemPrice as ItemPrice
    from riskslim.problem.problem import RiskScoreProblem as RiskScoreProblem
    from riskslim.reader import read as read
    from riskslim.risk_score import RiskScore as RiskScore
    from riskslim.rows.subsets import sampled as sampled
    from riskslim.solution import Certificate as Certificate
    from riskslim.solution import Solution as Solution
    from riskslim.solution import SolutionPool as SolutionPool
    from riskslim.solution import Status as Status


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
