r"""The methods that the paper compares RiskSLIM with, as scikit-learn estimators.

All of them start from *penalized logistic regression* (PLR): 1,100 elastic nets, 11 mixing values
times 100 penalties. What follows turns real-valued coefficients into a risk score (Ustun & Rudin
2019, Sections 5.1 and 6):

=========== ==================================== ===============================================
paper       estimator                            rule
=========== ==================================== ===============================================
PLR         :class:`PenalizedLogisticRegression` the elastic net with the best AUC
Rd          :class:`Rounding`                    its coefficients, rounded
RsRd        :class:`RescaledRounding`            the same, once the largest one has been made 5
Unit        :class:`UnitWeighting`               the signs of its coefficients
PooledRd    :class:`PooledRounding`              all elastic nets rounded, of these the best AUC
PooledRsRd  :class:`PooledRescaledRounding`      all elastic nets rescaled and rounded
PooledSeqRd :class:`PooledSequentialRounding`    all elastic nets rounded sequentially
=========== ==================================== ===============================================

A star (PooledRd*, PooledRsRd*, PooledSeqRd*) means that every score of the pool is polished by
discrete coordinate descent: ``polish=True``. :func:`fit_baselines` fits several methods to the
same elastic nets. The package glum is needed (``pip install ".[baselines]"``).
"""

from __future__ import annotations

from riskslim.paper.baselines.estimators import (
    METHODS,
    PenalizedLogisticRegression,
    PooledRescaledRounding,
    PooledRounding,
    PooledSequentialRounding,
    RescaledRounding,
    Rounding,
    UnitWeighting,
    fit_baselines,
)
from riskslim.paper.baselines.pool import Pool
from riskslim.paper.baselines.rounding import rescaled_rounding, rounding, unit_weights

__all__ = [
    "METHODS",
    "PenalizedLogisticRegression",
    "Pool",
    "PooledRescaledRounding",
    "PooledRounding",
    "PooledSequentialRounding",
    "RescaledRounding",
    "Rounding",
    "UnitWeighting",
    "fit_baselines",
    "rescaled_rounding",
    "rounding",
    "unit_weights",
]
