"""Fields of a risk score, for the classes that its methods come from."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from typing_extensions import Self

    from riskslim.data.class_weights import ClassWeighting
    from riskslim.data.csv_format import CsvFormat
    from riskslim.data.feature_ranges import FeatureRange
    from riskslim.items.item import Item
    from riskslim.items.variables import RawVariable
    from riskslim.score.cutoff_ranges import CutoffRange
    from riskslim.score.labels import Label
    from riskslim.score.layout import SheetLayout
    from riskslim.score.recalibration import Recalibration
    from riskslim.score.requirements import Requirement
    from riskslim.solution import Certificate

__all__ = ["ScoreFields", "check_known", "check_names", "checked_classes"]


def check_known(given: Iterable[str], names: Iterable[str], what: str) -> None:
    """Refuse names that are none of a score's features.

    Parameters
    ----------
    given, names : iterable of str
    what : str
        The parameter that they were given by.

    Raises
    ------
    ValueError
    """
    known = set(names)
    unknown = [name for name in given if name not in known]
    if unknown:
        raise ValueError(f"{what} names features that are not among feature_names: {unknown}")


def check_names(names: tuple[Any, ...]) -> None:
    """Refuse names of features that are empty, no text, or given twice.

    Parameters
    ----------
    names : tuple

    Raises
    ------
    ValueError
    """
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str) or not name:
            raise ValueError(f"feature names must be non-empty str, got {name!r}")
        if name in seen:
            raise ValueError(f"feature name {name!r} is given more than once")
        seen.add(name)


def checked_classes(classes: Any) -> tuple[Any, Any]:
    """Return two different labels, as values of Python.

    Parameters
    ----------
    classes : sequence of two labels

    Returns
    -------
    tuple

    Raises
    ------
    ValueError
    """
    labels = tuple(
        label.item() if isinstance(label, np.generic) else label
        for label in (classes if not isinstance(classes, str) else ())
    )
    # NaN is no label: no label is equal to it.
    if len(labels) != 2 or labels[0] == labels[1] or any(label != label for label in labels):
        raise ValueError(
            f"classes must be two different labels, the negative one first, got {classes!r}"
        )
    return labels


class ScoreFields:
    """The fields of :class:`~riskslim.RiskScore`, which sets them and says what they are."""

    intercept: int
    points: Mapping[str, int]
    outcome_name: str
    classes: tuple[Any, Any]
    feature_names: Sequence[str]
    feature_ranges: Mapping[str, FeatureRange]
    certificate: Certificate | None
    scale: float
    variables: Mapping[str, RawVariable]
    class_weighting: ClassWeighting | None
    items: Mapping[str, Item]
    csv_format: CsvFormat | None
    cutoff_ranges: Mapping[str, CutoffRange]
    prevalence: float | None
    recalibration: Recalibration | None
    requirements: Sequence[Requirement]
    fit_remarks: Sequence[str]
    labels: Mapping[str, Label]
    layout: SheetLayout

    def _replaced(self, **changes: Any) -> Self:
        """The same score with other fields."""
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]  # RiskScore is one
