"""The choice of a score: folds, cross-validation, and scores of all sizes."""

from riskslim.engines.parallel import Step
from riskslim.model_selection.cross_validation import (
    CrossValidation,
    Fold,
    cross_validate_risk_score,
)
from riskslim.model_selection.folds import Split, read_folds, stratified_folds, write_folds
from riskslim.model_selection.rules import AimedRule, RuleMargin, rule_margin
from riskslim.model_selection.shrinkage import SHRINKAGES, ShrinkagePath, shrinkage_path
from riskslim.model_selection.size_path import RULES, ModelSizePath, SizeOnPath, model_size_path

__all__ = [
    "RULES",
    "SHRINKAGES",
    "AimedRule",
    "CrossValidation",
    "Fold",
    "ModelSizePath",
    "RuleMargin",
    "ShrinkagePath",
    "SizeOnPath",
    "Split",
    "Step",
    "cross_validate_risk_score",
    "model_size_path",
    "read_folds",
    "rule_margin",
    "shrinkage_path",
    "stratified_folds",
    "write_folds",
]
