"""Checks that everything a report is given belongs together."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from riskslim.data.tables import Table
from riskslim.data.training_data import TrainingData
from riskslim.exceptions import ConstantFeatureWarning
from riskslim.items.rules import computed_items
from riskslim.report.rows import Rows, is_same_loss

if TYPE_CHECKING:
    from riskslim.problem.problem import RiskScoreProblem
    from riskslim.risk_score import RiskScore

__all__ = ["check_path", "check_same_score", "is_of_strengths", "is_same_score", "stated_problem"]


def check_same_score(score: RiskScore, cv: Any, rows: Rows) -> None:
    """Refuse a cross-validation of something else.

    Parameters
    ----------
    score : RiskScore
    cv : CrossValidation
    rows : Rows
        Those that it is said to be about.

    Raises
    ------
    TypeError, ValueError
        ``cv`` is no cross-validation, not of this score, or not of these rows.
    """
    if not hasattr(cv, "final_score"):  # as a CrossValidation has, which is above this module
        raise TypeError(
            "cv must be what cross_validate_risk_score returns, or cross_validation of an entry "
            f"of a ModelSizePath, got {type(cv).__name__}"
        )
    if not cv.folds:
        raise ValueError("cv has no finished fold")
    final = cv.final_score
    if final is None or not is_same_score(final, score):
        raise ValueError(
            f"cv is about another model than this score: its final model is {final!r}; report "
            "that one, or leave cv out"
        )
    if not np.array_equal(cv.positive, rows.positive):
        raise ValueError(
            f"cv is about {len(cv.positive)} rows that are not the {len(rows.positive)} rows of X: "
            "pass the X and y that were cross-validated"
        )
    measured_then, now = cv.train, rows.performance
    if measured_then is not None and not is_same_loss(measured_then.loss, now.loss):
        raise ValueError(
            "cv is about other rows, weights or risks than this score's here: its final model has "
            f"a loss of {measured_then.loss:.6g}, the score one of {now.loss:.6g}; pass the X, y "
            "and sample_weight that were cross-validated (Platt scaling changes risks)"
        )


def check_path(path: Any) -> None:
    """Refuse a path of sizes that is none, or has nothing to show.

    Parameters
    ----------
    path : ModelSizePath or ShrinkagePath

    Raises
    ------
    TypeError, ValueError
    """
    if is_of_strengths(path):
        if not path.is_tested:
            raise ValueError("size_path has no strength that is finished on all folds")
        return
    if not hasattr(path, "entries"):  # as a ModelSizePath has
        raise TypeError(
            f"size_path must be what model_size_path returns, got {type(path).__name__}"
        )
    if not path.entries:
        raise ValueError("size_path has no finished size")


def is_of_strengths(path: Any) -> bool:
    """True if it is a path of strengths, each with all sizes.

    Parameters
    ----------
    path : ModelSizePath or ShrinkagePath

    Returns
    -------
    bool
    """
    return hasattr(path, "shrinkages")


def is_same_score(one: RiskScore, other: RiskScore) -> bool:
    """True if two scores predict the same.

    Parameters
    ----------
    one, other : RiskScore

    Returns
    -------
    bool
    """
    same = (one.intercept, dict(one.points), one.scale, one.recalibration)
    return same == (other.intercept, dict(other.points), other.scale, other.recalibration)


def stated_problem(score: RiskScore, problem: Any, rows: Rows) -> RiskScoreProblem:
    """The problem whose requirements are checked.

    Parameters
    ----------
    score : RiskScore
    problem : RiskScoreProblem or RiskSLIMClassifier
    rows : Rows
        What a classifier's problem is stated on.

    Returns
    -------
    RiskScoreProblem
        At the scale of the score.

    Raises
    ------
    TypeError, ValueError
        Something else, or a problem with other features or without this scale.
    """
    from riskslim.problem.problem import RiskScoreProblem

    stated = problem
    if hasattr(problem, "problem_on"):  # as a RiskSLIMClassifier has
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConstantFeatureWarning)
            X, y, weight = rows.given
            data = X
            if not isinstance(X, TrainingData):  # in the words of the score
                data = TrainingData(
                    _all_features(score, X), y, weight,
                    outcome_name=score.outcome_name, positive_label=score.classes[1],
                )  # fmt: skip
            stated = problem.problem_on(data)
    if not isinstance(stated, RiskScoreProblem):
        raise TypeError(
            "problem must be a RiskScoreProblem or a RiskSLIMClassifier, got "
            f"{type(problem).__name__}"
        )
    if stated.coefficients.feature_names != tuple(score.feature_names):
        raise ValueError(
            f"the problem is about {stated.n_features} features that are not the "
            f"{len(score.feature_names)} features that the score was chosen from"
        )
    return stated.at_scale(score.scale)


def _all_features(score: RiskScore, X: Any) -> Any:
    """Rows with the features that a score was chosen from, computed where X has raw columns."""
    features = score.feature_names
    table, _ = computed_items(X, features, features, {}, score.items, handle_unknown="ignore")
    names = [str(name) for name in table.names or ()]
    if not set(features) <= set(names):
        return X
    positions = [names.index(name) for name in features]
    return Table(table.n_samples, len(positions), features, lambda k: table.values(positions[k]))
