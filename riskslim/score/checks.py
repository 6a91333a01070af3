"""Fields of a risk score, checked and put in order."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from riskslim._checks import as_float, checked_points
from riskslim._wording import listing
from riskslim.data.class_weights import ClassWeighting
from riskslim.data.csv_format import CsvFormat
from riskslim.data.feature_ranges import FeatureRange
from riskslim.items.item import COMPARISONS, Item, read_item, source_variable
from riskslim.items.rules import is_level
from riskslim.items.variables import RawVariable
from riskslim.operating_point import DecisionThreshold
from riskslim.scale import checked_scale
from riskslim.score.cutoff_ranges import CutoffRange
from riskslim.score.fit_remarks import checked_remarks
from riskslim.score.labels import check_labelled, labels_of
from riskslim.score.layout import SheetLayout
from riskslim.score.recalibration import Recalibration, checked_prevalence
from riskslim.score.requirements import checked_requirements
from riskslim.solution import Certificate

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = ["check_known", "check_names", "checked_classes", "checked_fields"]

# Fields that may be None, and what they are else.
_OPTIONAL = {
    "certificate": Certificate,
    "class_weighting": ClassWeighting,
    "csv_format": CsvFormat,
    "recalibration": Recalibration,
    "operating_point": DecisionThreshold,
}

# Scores beyond this could not be added up any more.
_MOST_SCORE = 1e300


def checked_fields(score: RiskScore) -> dict[str, Any]:
    """Check the fields of a score as they were given.

    Parameters
    ----------
    score : RiskScore

    Returns
    -------
    dict from str to object
        Fields as :class:`~riskslim.RiskScore` describes them, but for those that stay.

    Raises
    ------
    TypeError, ValueError
        As :class:`~riskslim.RiskScore` says.
    """
    if isinstance(score.feature_names, str):
        raise TypeError(f"feature_names must be names, not one str, got {score.feature_names!r}")
    names = tuple(score.feature_names) or tuple(score.points)
    check_names(names)
    check_known(score.points, names, "points")
    points = {
        name: checked_points(score.points[name], f"points of {name!r}")
        for name in names
        if name in score.points
    }
    used = sorted((name for name in points if points[name]), key=lambda name: -points[name])
    ranges = dict(score.feature_ranges)
    check_known(ranges, names, "feature_ranges")
    _check_kinds(ranges, FeatureRange, "feature_ranges")
    for name, kind in _OPTIONAL.items():
        value = getattr(score, name)
        if not isinstance(value, kind | None):
            raise TypeError(f"{name} must be a {kind.__name__}, got {value!r}")
    said = checked_remarks(score.fit_remarks)
    fields: dict[str, Any] = {
        "fit_remarks": () if score.certificate is None else said,
        "requirements": checked_requirements(score.requirements),
        "prevalence": None
        if score.prevalence is None
        else checked_prevalence(score.prevalence, "prevalence"),
        "intercept": checked_points(score.intercept, "intercept"),
        "points": MappingProxyType({name: points[name] for name in used}),
        "outcome_name": str(score.outcome_name),
        "classes": checked_classes(score.classes),
        "feature_names": names,
        "feature_ranges": MappingProxyType(
            {name: ranges.get(name, FeatureRange(0, 1)) for name in used}
        ),
        "scale": checked_scale(score.scale),
    }
    _check_sizes(fields["points"], fields["feature_ranges"], fields["scale"])
    items = _used_items(used, score.items, names, score.variables)
    variables = _used_variables(used, score.variables, items)
    check_known(score.cutoff_ranges, names, "cutoff_ranges")
    _check_kinds(score.cutoff_ranges, CutoffRange, "cutoff_ranges")
    cutoffs = {name: score.cutoff_ranges[name] for name in used if name in score.cutoff_ranges}
    labels = labels_of(score.labels)
    raw = [item.variable for item in items.values()]
    # Those of features without points: their variables may have labels as well.
    raw += [source_variable(name) for name in names]
    check_labelled(labels, [*names, *variables, *raw])
    if not isinstance(score.layout, SheetLayout):
        raise TypeError(f"layout must be a SheetLayout, got {score.layout!r}")
    return fields | {
        "items": MappingProxyType(items),
        "variables": MappingProxyType(variables),
        "cutoff_ranges": MappingProxyType(cutoffs),
        "labels": MappingProxyType(labels),
    }


def _check_sizes(
    points: Mapping[str, int], ranges: Mapping[str, FeatureRange], scale: float
) -> None:
    """Refuse values of features with which scores or log-odds would be beyond all numbers."""
    for name, value in points.items():
        largest = max(abs(as_float(ranges[name].minimum)), abs(as_float(ranges[name].maximum)))
        if not largest * abs(value) / min(scale, 1.0) <= _MOST_SCORE:
            raise ValueError(
                f"values of {name!r} up to {largest:g}, with {value} points for each unit, make "
                f"scores beyond {_MOST_SCORE:g}"
            )


def _check_kinds(given: Mapping[str, Any], kind: type, what: str) -> None:
    for name, value in given.items():
        if not isinstance(value, kind):
            raise TypeError(f"{what}[{name!r}] must be a {kind.__name__}, got {value!r}")


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


def _used_items(
    features: Sequence[str],
    items: Mapping[str, Item] | Iterable[Item],
    known: Sequence[str],
    variables: Mapping[str, RawVariable],
) -> dict[str, Item]:
    """Return what is stated of features with points; of raw columns, names say it."""
    stated: dict[str, Item] = {}
    for item in items.values() if isinstance(items, Mapping) else items:
        if not isinstance(item, Item):
            raise TypeError(f"items must be riskslim.items.Item, got {item!r}")
        if item.name in stated:
            raise ValueError(f"items state twice what {item.name!r} is")
        stated[item.name] = item
    if isinstance(items, Mapping) and [*items] != [*stated]:
        raise ValueError(f"items must be by their names, got the keys {listing(map(repr, items))}")
    check_known(stated, known, "items")
    used = {}
    for name in features:
        item = stated.get(name)
        if item is None and variables and name not in variables:
            item = read_item(name, variables)
            special = () if item is None else variables[item.variable].special
            if item is not None and special and item.kind in COMPARISONS:
                item = dataclasses.replace(item, special=special)
        if item is not None:
            used[name] = item
    _check_special(used.values())
    return used


def _check_special(items: Iterable[Item]) -> None:
    """Refuse cut-offs on one variable that disagree about what is no number of it."""
    first: dict[str, Item] = {}
    for item in items:
        if item.kind in COMPARISONS:
            other = first.setdefault(item.variable, item)
            if {*item.special} != {*other.special}:
                raise ValueError(
                    f"items state different special values of {item.variable!r}: {other.name!r} "
                    f"has {list(other.special)}, {item.name!r} has {list(item.special)}"
                )


def _used_variables(
    features: Iterable[str], variables: Mapping[str, RawVariable], items: Mapping[str, Item]
) -> dict[str, RawVariable]:
    """Those of which features are made, in the order in which they are given: that of the table."""
    for name, variable in variables.items():
        if not isinstance(variable, RawVariable) or variable.name != name:
            raise TypeError(f"variables[{name!r}] must be its RawVariable, got {variable!r}")
    used = set()
    for feature in features:
        item = items.get(feature)
        name = feature if item is None or not item.is_condition else item.variable
        if name not in variables:
            continue
        if item is not None and item.is_condition:
            _check_condition(item, variables[name])
        used.add(name)
    return {name: variable for name, variable in variables.items() if name in used}


def _check_condition(item: Item, variable: RawVariable) -> None:
    if item.kind == "missing":
        return
    if item.kind in COMPARISONS and {*item.special} != {*variable.special}:
        raise ValueError(
            f"{item.name!r} has the special values {item.special!r}, but the variable "
            f"{variable.name!r} has {variable.special!r}: state the same of both"
        )
    if item.levels and variable.kind == "numeric":
        possible = len(item.numbers) == len(item.levels) and set(item.numbers) <= {
            *variable.special
        }
    elif item.levels:
        possible = any(is_level(level, item.levels) for level in variable.levels)
    else:
        possible = variable.kind == "numeric"
    if not possible:
        has = f"the levels {listing(map(repr, variable.levels))}" if variable.levels else "numbers"
        if variable.kind == "boolean":
            has = "0 and 1, so that it is a feature itself"
        raise ValueError(
            f"{item.name!r} cannot be computed from the variable {variable.name!r}, which has {has}"
        )
