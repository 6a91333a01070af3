"""Warnings about training data that point at code of the user."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from riskslim.exceptions import PositiveLabelWarning

__all__ = ["user_stacklevel", "warn_of_order"]


def warn_of_order(classes: tuple[Any, Any]) -> None:
    """Warn that labels do not say which of them is the positive one.

    Parameters
    ----------
    classes : (negative label, positive label)

    Warns
    -----
    PositiveLabelWarning
    """
    warnings.warn(
        f"The risk is that of {classes[1]!r}, the last of the two labels in sorted order. If that "
        f"of {classes[0]!r} is meant, pass positive_label={classes[0]!r}; "
        f"positive_label={classes[1]!r} leaves it as it is, without this warning.",
        PositiveLabelWarning,
        stacklevel=user_stacklevel(),
    )


def user_stacklevel() -> int:
    """Return the stacklevel with which the caller's warning points at code of the user.

    That is outside of the package, and of scikit-learn, whose pipelines call estimators.
    """
    libraries = {__name__.partition(".")[0], "sklearn"}
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in libraries:
        level, frame = level + 1, frame.f_back
    return level
