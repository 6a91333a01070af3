r"""Quality of a risk score: calibration, discrimination, and what is decided with it.

Rows i = 1, ..., n have a label :math:`y_i`, a score :math:`s_i`, a predicted risk :math:`p_i` and
a weight :math:`w_i`, 1 unless given. All rows with the score s share a predicted risk
:math:`p_s`; the observed risk is the share of positive rows among them,

.. math::

    \bar{p}_s = \frac{\sum_{i: s_i = s} w_i \mathbb{1}[y_i = +1]}{\sum_{i: s_i = s} w_i}.

Calibration is what these two say of each other (:func:`calibration_error`,
:func:`maximum_calibration_error`, :func:`reliability_curve`, :func:`calibration_consistency`,
:func:`calibration_line`, :func:`integrated_calibration_index`, :func:`risk_groups`),
discrimination how well scores order the rows (:func:`auc`, :func:`gini`,
:func:`kolmogorov_smirnov`, :func:`operating_points`), and net
benefit (:func:`decision_curve`) what a decision by the risk is worth. See Ustun & Rudin (2019),
section 5.1. Rows of which a label, a prediction or a weight is masked (:mod:`numpy.ma`) are left
out. Whether rows are still of the kind that the score was learned on needs no labels
(:func:`population_stability_index`).
"""

from __future__ import annotations

from riskslim.metrics.agreement import (
    CalibrationLine,
    brier_score,
    brier_skill,
    calibration_line,
    integrated_calibration_index,
)
from riskslim.metrics.bootstrap import Interval, bootstrap_interval, bootstrap_intervals
from riskslim.metrics.calibration import (
    ConsistencyRange,
    ReliabilityCurve,
    calibration_consistency,
    calibration_error,
    maximum_calibration_error,
    reliability_curve,
)
from riskslim.metrics.decision import DecisionCurve, decision_curve
from riskslim.metrics.discrimination import (
    OperatingPoint,
    OperatingPoints,
    auc,
    log_loss,
    logistic_loss,
    operating_points,
)
from riskslim.metrics.drift import population_stability_index
from riskslim.metrics.groups import GroupMetrics, RiskGroup, metrics_by_group, risk_groups
from riskslim.metrics.scorecards import gini, information_value, kolmogorov_smirnov

__all__ = [
    "CalibrationLine",
    "ConsistencyRange",
    "DecisionCurve",
    "GroupMetrics",
    "Interval",
    "OperatingPoint",
    "OperatingPoints",
    "ReliabilityCurve",
    "RiskGroup",
    "auc",
    "bootstrap_interval",
    "bootstrap_intervals",
    "brier_score",
    "brier_skill",
    "calibration_consistency",
    "calibration_error",
    "calibration_line",
    "decision_curve",
    "gini",
    "information_value",
    "integrated_calibration_index",
    "kolmogorov_smirnov",
    "log_loss",
    "logistic_loss",
    "maximum_calibration_error",
    "metrics_by_group",
    "operating_points",
    "population_stability_index",
    "reliability_curve",
    "risk_groups",
]
