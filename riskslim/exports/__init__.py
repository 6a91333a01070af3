r"""Exports of a risk score that predict the same where this package is not installed.

:func:`to_python`, :func:`to_javascript`, :func:`to_sql` and :func:`to_pmml` write a
:class:`~riskslim.RiskScore` as source text. A row has the

.. math::

    \text{score} = \sum_j \lambda_j x_j, \qquad
    \text{risk} = \frac{1}{1 + \exp(-(\lambda_0 + \text{score}) / m)}.

The score is the same everywhere: the same products, added in the same order in float64. The
exponential is not: libraries differ in its last bit. So the risks of the scores that the training
data allow are written as a table of numbers, each with all its digits, and the formula is for
other scores only: those of values outside of the training range, and all scores of risk scores
with features that are no integers or with more than :data:`MAX_TABLED_SCORES` scores.

The inputs are the features with points; or, where the score knows its variables, the raw columns,
of which the export computes the items itself (``inputs``).
"""

from __future__ import annotations

from riskslim.exports.common import MAX_TABLED_SCORES
from riskslim.exports.dialects import SQL_DIALECTS
from riskslim.exports.javascript import to_javascript
from riskslim.exports.pmml import to_pmml
from riskslim.exports.python import to_python
from riskslim.exports.sql import to_sql

__all__ = ["MAX_TABLED_SCORES", "SQL_DIALECTS", "to_javascript", "to_pmml", "to_python", "to_sql"]
