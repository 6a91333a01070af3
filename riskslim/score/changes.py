"""The same risk score with other words, layout, or knowledge of its raw columns.

Functions have the names of the methods of :class:`~riskslim.RiskScore` that call them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from riskslim._wording import listing
from riskslim.items.item import Item
from riskslim.items.rules import check_names
from riskslim.items.variables import RawVariable
from riskslim.score.checks import check_known
from riskslim.score.labels import LabelLike, labels_of

if TYPE_CHECKING:
    from riskslim.items.encoder import ItemEncoder
    from riskslim.risk_score import RiskScore

__all__ = ["with_dummies", "with_labels", "with_units", "with_variables"]


def with_variables(score: RiskScore, encoder: ItemEncoder | Iterable[RawVariable]) -> RiskScore:
    """Take over what is known of the raw columns that items were made of."""
    known = getattr(encoder, "variables_", encoder)
    if not isinstance(known, Iterable) or hasattr(encoder, "steps"):
        raise TypeError(
            "pass the fitted ItemEncoder that made the items, such as pipeline[0], got "
            f"{type(encoder).__name__}{'' if hasattr(encoder, 'steps') else ', not fitted'}"
        )
    listed = tuple(known.values() if isinstance(known, Mapping) else known)
    strange = next((one for one in listed if not isinstance(one, RawVariable)), None)
    if strange is not None:
        raise TypeError(
            "pass the fitted ItemEncoder that made the items, or RawVariables, got "
            f"{type(encoder).__name__} with {strange!r}"
        )
    known = {one.name: one for one in listed}
    items = {item.name: item for item in getattr(encoder, "items_", ())}
    items = {name: items[name] for name in score.points if name in items}
    check_names(items.values(), known)
    informed = dataclasses.replace(score, variables=known, items={**score.items, **items})
    if score.points and not informed.variables:
        raise ValueError(
            f"no feature with points ({listing(map(repr, score.points))}) is made of the "
            f"columns {listing(map(repr, known))}: pass the encoder whose items they are"
        )
    return informed


def with_units(score: RiskScore, units: Mapping[str, str | None]) -> RiskScore:
    """Say what the values of features count."""
    check_known(units, score.feature_names, "units")
    ranges = dict(score.feature_ranges)
    for name in units:
        if name in ranges:
            try:
                ranges[name] = dataclasses.replace(ranges[name], unit=units[name])
            except (TypeError, ValueError) as error:
                raise type(error)(f"units[{name!r}]: {error}") from None
    return dataclasses.replace(score, feature_ranges=ranges)


def with_labels(score: RiskScore, labels: Mapping[str, LabelLike]) -> RiskScore:
    """Say what variables, features and levels are called on sheets, and what they count."""
    return dataclasses.replace(score, labels={**score.labels, **labels_of(labels)})


def with_dummies(score: RiskScore, groups: Mapping[str, Mapping[str, Any]]) -> RiskScore:
    """State that features are levels of a variable, so that one row shows them together."""
    found = {}
    for variable, levels in groups.items():
        check_known(levels, score.feature_names, f"groups[{variable!r}]")
        for name, level in levels.items():
            known = score.feature_ranges.get(name)
            if name in found or (name in score.items and score.items[name].is_condition):
                raise ValueError(f"groups[{variable!r}]: it is stated already what {name!r} is")
            if known is None:
                continue  # without points
            if not known.is_binary:
                raise ValueError(f"groups[{variable!r}]: {name!r} is not 0 or 1")
            found[name] = Item(name, variable, "=", level)
    return dataclasses.replace(score, items={**score.items, **found})
