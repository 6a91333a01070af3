"""Errors and warnings of the package that are neither a ValueError nor a TypeError by nature."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "CertificateError",
    "ConstantFeatureWarning",
    "ExtrapolationWarning",
    "InfeasibleProblemError",
    "KernelsUnavailableError",
    "PositiveLabelWarning",
    "ProblemSizeError",
    "RiskSLIMError",
    "RowsLostError",
    "SearchInterruptedError",
    "SolverUnavailableError",
    "UnboundCertificateWarning",
    "WorkMemoryError",
]


class RiskSLIMError(Exception):
    """Base class of the errors that only this package raises."""


class KernelsUnavailableError(RiskSLIMError, ImportError):
    """A kernel is asked for that is not in use: a compiled one, or any where numba is missing too.

    :func:`~riskslim.show_config` says which ones are in use, and why.
    """


class SolverUnavailableError(RiskSLIMError, ImportError):
    """The mixed-integer solver that an engine needs cannot be imported or started."""


class ProblemSizeError(RiskSLIMError):
    """The problem is larger than the solver's licence allows."""


class WorkMemoryError(ProblemSizeError, MemoryError):
    """A search would need more memory than the machine has; none was allocated."""


class InfeasibleProblemError(RiskSLIMError, ValueError):
    """No risk score meets the requirements.

    Parameters
    ----------
    reason : str
        Which of them contradict each other, a sentence without a full stop.

    Examples
    --------
    >>> from riskslim.exceptions import InfeasibleProblemError
    >>> str(InfeasibleProblemError("at least 2 and at most 1 are to be used"))
    'No risk score meets the requirements: at least 2 and at most 1 are to be used.'
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"No risk score meets the requirements: {self.reason}."


class SearchInterruptedError(RiskSLIMError):
    """A search was interrupted before it had a score to return."""


class RowsLostError(RiskSLIMError):
    """Rows cannot be read any more: the cluster that held them is gone, or a file is.

    Parameters
    ----------
    reason : str
        What happened.

    Attributes
    ----------
    coef : ndarray of int64, shape (d + 1,), or None
        The best score that had been found, intercept first; None if there was none yet.
    objective, lower_bound : float or None
        Its objective, and what was proven by then: no score has a lower one. They were not checked
        once more, as those of a certificate are, for want of rows.
    scale : float or None
        Its scale; where the search was to choose it, the best one for a sample of the rows.
        ``RiskScore.from_coefficients(error.coef, data, scale=error.scale)`` is the risk score.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.coef: NDArray[np.int64] | None = None
        self.objective: float | None = None
        self.lower_bound: float | None = None
        self.scale: float | None = None

    def __str__(self) -> str:
        if self.coef is None or self.objective is None:
            return self.reason
        bound = "" if self.lower_bound is None else f", lower bound {self.lower_bound:.6g}"
        scale = "" if self.scale in (None, 1.0) else f" with the scale {self.scale:.6g}"
        return (
            f"{self.reason}; the best score so far has the objective {self.objective:.6g}{bound}: "
            f"its points are in the attribute coef, {self.coef.tolist()}{scale}"
        )


class CertificateError(RiskSLIMError):
    """A result failed its own re-check: it is raised instead of being returned."""


class ConstantFeatureWarning(UserWarning):
    """A feature has one value in all rows: the intercept carries it, it is never selected.

    Examples
    --------
    >>> import warnings
    >>> from riskslim import TrainingData
    >>> from riskslim.exceptions import ConstantFeatureWarning
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", ConstantFeatureWarning)
    ...     _ = TrainingData([[0, 1], [1, 1]], [0, 1])
    >>> print(caught[0].message)
    1 of 2 features have the same value in all 2 rows and are never selected (the intercept is
    added automatically): 'x2'
    """


class PositiveLabelWarning(UserWarning):
    """The risk is that of the last of two texts in sorted order, which may be the wrong one.

    Examples
    --------
    >>> import warnings
    >>> from riskslim import TrainingData
    >>> from riskslim.exceptions import PositiveLabelWarning
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", PositiveLabelWarning)
    ...     data = TrainingData([[0], [1]] * 2, ["ill", "well"] * 2)
    >>> data.classes, len(caught)
    (('ill', 'well'), 1)
    >>> data = TrainingData([[0], [1]] * 2, ["ill", "well"] * 2, positive_label="ill")
    >>> data.classes
    ('well', 'ill')
    """


class ExtrapolationWarning(UserWarning):
    """Raw records have values outside of their range in the training data, or in another unit.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from riskslim import ItemEncoder, RiskSLIMClassifier
    >>> from riskslim.exceptions import ExtrapolationWarning
    >>> age = np.arange(20, 80.0)[:, None]
    >>> model = RiskSLIMClassifier(items=ItemEncoder(n_thresholds=3), max_size=1)
    >>> _ = model.fit(age, age[:, 0] > 50)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", ExtrapolationWarning)
    ...     _ = model.predict_proba([[900.0]])
    >>> print(caught[0].message)
    Values far outside of those in training, as in another unit: 'x0' (20 to 79 in training;
    here 900). The predictions extrapolate.
    """


class UnboundCertificateWarning(UserWarning):
    """A file's certificate is not bound to the points in it: the score is read without it."""
