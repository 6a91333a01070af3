"""Weights of classes, and what they make of the risks of a score.

Weights of classes change how common the outcome is among the rows that a score is fitted to, and
so every risk that it predicts. A score that was fitted so says it, by its
:class:`ClassWeighting`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from riskslim._checks import checked_number
from riskslim._wording import listing

__all__ = ["ClassWeighting", "class_factors", "share"]


@dataclasses.dataclass(frozen=True)
class ClassWeighting:
    """The prevalence of the outcome in training, without and with the weights of the classes.

    Parameters
    ----------
    prevalence : float
        Share of the training rows that had the outcome, by their own weights if they had some.
    weighted_prevalence : float
        The same by the weights that the score was fitted with. Its risks are those of rows of
        which this share has the outcome.

    Raises
    ------
    ValueError
        Anything but numbers between 0 and 1, both excluded.

    Examples
    --------
    >>> from riskslim.risk_score import ClassWeighting
    >>> print(ClassWeighting(0.048, 0.5).describe("died = yes"))  # doctest: +NORMALIZE_WHITESPACE
    Not calibrated: the classes were weighted. died = yes in 4.8% of the training rows, by weight in
    50.0%: these risks are too high for rows like the training rows.
    """

    prevalence: float
    weighted_prevalence: float

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = checked_number(getattr(self, field.name), field.name)
            if not 0 < value < 1:
                raise ValueError(f"{field.name} must be between 0 and 1, got {value!r}")
            object.__setattr__(self, field.name, value)

    def describe(self, outcome: str) -> str:
        """Say in words what the risks of the score are not.

        Parameters
        ----------
        outcome : str
            What the risk is of: "died = yes".

        Returns
        -------
        str
        """
        direction = "high" if self.weighted_prevalence > self.prevalence else "low"
        return (
            f"Not calibrated: the classes were weighted. {outcome} in {share(self.prevalence)} of "
            f"the training rows, by weight in {share(self.weighted_prevalence)}: these risks are "
            f"too {direction} for rows like the training rows."
        )


def share(value: float) -> str:
    """A share in percent, with two significant digits at least.

    Parameters
    ----------
    value : float

    Returns
    -------
    str

    Examples
    --------
    >>> from riskslim.data.class_weights import share
    >>> share(0.25), share(0.00123)
    ('25.0%', '0.12%')
    """
    return f"{value:.1%}" if 0.01 <= value <= 0.99 else f"{100 * value:.2g}%"


def class_factors(
    class_weight: Any, classes: tuple[Any, Any], totals: tuple[float, float]
) -> tuple[float, float]:
    """By what the weights of the rows of each class are to be multiplied.

    Parameters
    ----------
    class_weight : mapping from labels to weights, or "balanced"
        As for :class:`~riskslim.RiskSLIMClassifier`.
    classes : (negative label, positive label)
    totals : (float, float)
        Weights of all rows of each class.

    Returns
    -------
    (float, float)
        Of the negative and of the positive class.

    Raises
    ------
    ValueError
        Something else, labels that there are not, weights that are not positive.

    Examples
    --------
    >>> from riskslim.data.class_weights import class_factors
    >>> class_factors("balanced", ("no", "yes"), (6.0, 2.0))
    (0.6666666666666666, 2.0)
    """
    if isinstance(class_weight, str) and class_weight == "balanced":
        negative, positive = (sum(totals) / (2.0 * total) for total in totals)
        return negative, positive
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            "class_weight must be a mapping from labels to weights, 'balanced' or None, got "
            f"{class_weight!r}."
        )
    unknown = [repr(label) for label in class_weight if label not in classes]
    if unknown:
        raise ValueError(
            f"class_weight names {listing(unknown)}, but the labels in y are "
            f"{classes[0]!r} and {classes[1]!r}."
        )
    negative, positive = (class_weight.get(label, 1.0) for label in classes)
    for label, factor in zip(classes, (negative, positive), strict=True):
        if not isinstance(factor, (int, float, np.integer, np.floating)) or not (
            0 < factor < math.inf
        ):
            raise ValueError(f"class_weight of {label!r} must be positive, got {factor!r}.")
    return negative, positive
