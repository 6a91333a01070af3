"""Recalibration as a method of a risk score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from riskslim.data.weights import checked_weights
from riskslim.score.link import link_of, prevalence_of
from riskslim.score.observations import observations_of
from riskslim.score.presentation import Presentation
from riskslim.score.recalibration import (
    Recalibration,
    checked_prevalence,
    moved_to,
    to_mean_risk,
    to_observations,
)

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Recalibrations"]


class Recalibrations(Presentation):
    """The method of a risk score that fits its risks to rows of another kind."""

    def recalibrated(
        self,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        prevalence: float | None = None,
        from_prevalence: float | None = None,
        with_scale: bool = False,
    ) -> Self:
        r"""Fit the risks to rows of another kind: points stay as they are, risks change.

        The intercept, and the scale if it is asked for, get real numbers in their place, which are
        stored with the score (``recalibration``). Predictions, sheets, exports, reports and files
        have the new risks. Three ways lead to them:

        - rows with labels (X, y): the intercept of greatest likelihood, with which the mean risk of
          the rows is the share of them that have the outcome;
        - rows without labels (X) and a prevalence: the intercept with which the mean risk of the
          rows is the prevalence;
        - a prevalence alone: all odds are multiplied by its odds over those of the prevalence that
          the risks are for, which is right where the outcome is rarer or more common,
          but rows with it, and rows without, are as they were (Bayes' rule).

        Parameters
        ----------
        X, optional
            Rows, as in :meth:`score_samples`, that the score was not fitted to.
        y : array-like of shape (n,), optional
            Their labels, both of ``classes``.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights of the rows.
        prevalence : float, optional
            Share of rows with the positive label, where the score will be used. In the place of y.
        from_prevalence : float, optional
            The share that the present risks are for. Default: what is known of it, from the
            training rows (``prevalence``, with weights of classes if there were some) or from an
            earlier recalibration.
        with_scale : bool, default False
            Fit the scale as well, which needs X and y: risks that are too extreme, or too
            much alike, are set right, too (logistic recalibration).

        Returns
        -------
        RiskScore
            The same points with ``recalibration``. The certificate stays: it is about the points
            with the integer intercept on the training data, and sheets say so.

        Raises
        ------
        TypeError, ValueError
            As in :meth:`risk_table`; neither y nor a prevalence, or both; a prevalence alone for a
            score that does not know the one it is for; a share that is not between 0 and 1; rows
            of one class; rows that no scale fits best.

        See Also
        --------
        sklearn.calibration.CalibratedClassifierCV : Puts another model behind the risks.

        Notes
        -----
        The scores from which on something is done are best chosen anew: the same score has
        another risk.

        Examples
        --------
        One of five had the outcome in training, where it will be used one of twenty:

        >>> from riskslim import RiskScore
        >>> score = RiskScore(-2, {"smoker": 2}, prevalence=0.2)
        >>> print(score.recalibrated(prevalence=0.05))
        RISK SCORE: risk of outcome
        +-----------+----------+-------+
        | 1. smoker | 2 points |   ... |
        +-----------+----------+-------+
        |                SCORE | = ... |
        +-----------+----------+-------+
        <BLANKLINE>
        +-------+------+-------+
        | SCORE |    0 |     2 |
        | RISK  | 2.8% | 17.4% |
        +-------+------+-------+
        risk = 1 / (1 + exp(3.55814 - score))
        Recalibrated to rows of which 5.0% have outcome = 1: the risks are new, by a new
        intercept, the points are as they were.
        Risk: the probability that outcome = 1.
        """
        link = link_of(self)
        if prevalence is not None:
            prevalence = checked_prevalence(prevalence, "prevalence")
        if (y is None) == (prevalence is None):
            raise ValueError(
                "give the labels of the rows (X and y), or a prevalence with or without X, "
                f"{'not both' if y is not None else 'got neither'}"
            )
        if from_prevalence is not None and (prevalence is None or X is not None):
            raise ValueError("from_prevalence belongs to a prevalence without rows")
        if with_scale and y is None:
            raise ValueError("with_scale needs rows with labels: X and y")
        if X is None and prevalence is not None:
            if sample_weight is not None:
                raise ValueError("sample_weight needs rows: X")
            return self._recalibrated(moved_to(link, prevalence, self._known(from_prevalence)))
        if prevalence is None:
            observed = observations_of(self, X, y, sample_weight)
            assert observed is not None  # y is given
            return self._recalibrated(to_observations(link, observed, with_scale=with_scale))
        scores = self.score_samples(X)
        weights = None if sample_weight is None else checked_weights(sample_weight, len(scores))
        if not len(scores) or (weights is not None and not weights.any()):
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        intercept = to_mean_risk(link, scores, weights, prevalence)
        n_samples = len(scores) if weights is None else int(np.count_nonzero(weights))
        return self._recalibrated(Recalibration(intercept, link.scale, prevalence, n_samples))

    def _known(self, from_prevalence: float | None) -> float:
        """Share of rows with the outcome that the risks are for."""
        if from_prevalence is not None:
            return checked_prevalence(from_prevalence, "from_prevalence")
        known = prevalence_of(self)
        if known is None:
            raise ValueError(
                "the score does not know which share of its training rows had the outcome: give it "
                "as from_prevalence, or give rows (X)"
            )
        return known

    def _recalibrated(self, recalibration: Recalibration) -> Self:
        return self._replaced(recalibration=recalibration)
