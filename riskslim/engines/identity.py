"""The identity of a search: its problem, rows and settings, as a digest, and in words what differs.

A digest says that two searches are not the same one, not why. So the facts behind it are kept as
well; where digests differ, they are compared one by one.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from riskslim._version import __version__
from riskslim._wording import listing
from riskslim.rows.functions import row_marks

if TYPE_CHECKING:
    from riskslim.data.training_data import TrainingData
    from riskslim.loss.logistic import LogisticLoss
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["differences", "facts_of", "facts_of_path", "fingerprint", "without_limits"]

# What does not change the result of a search.
_NO_SETTING = ("n_threads", "progress", "should_stop", "start")
# What changes only how far one search gets: it may go on with other limits.
_LIMITS = ("time_limit", "node_limit")
# Facts that need words of their own; any other is named with both values.
_OF_DATA = (
    "rows",
    "weighted",
    "class_weight",
    "weight",
    "positive",
    "marks",
    "columns",
    "features",
)
_OF_POINTS = ("lower", "upper", "l0_penalty")
_OF_PATHS = ("sizes", "n_folds", "folds")
# What a search for one score and one for scores of several sizes state in different ways.
_OF_EITHER = (*_OF_PATHS, *_LIMITS, "max_size", "random_state")


def without_limits(settings: dict[str, Any]) -> dict[str, Any]:
    """Leave out the limits of a search that goes on where it was.

    Parameters
    ----------
    settings : dict
        Arguments of the search.

    Returns
    -------
    dict
    """
    return {name: value for name, value in settings.items() if name not in _LIMITS}


def fingerprint(problem: RiskScoreProblem, settings: dict[str, Any]) -> str:
    """Digest of a problem, its rows included, of the settings of a search, and of the version.

    The digest is the same wherever rows are held, in which order, and whether equal ones are
    merged.

    Parameters
    ----------
    problem : RiskScoreProblem
    settings : dict
        Arguments of an engine; those that change no result are left out.

    Returns
    -------
    str
    """
    data = problem.loss.data
    stated = {
        "version": __version__,  # whose bounds they are
        "rows": [data.n_samples, data.is_weighted, _marks(problem).text],
        "features": list(data.feature_names),
        "outcome": [data.outcome_name, *map(repr, data.classes)],
        "bounds": [problem.lower.tolist(), problem.upper.tolist()],
        "penalties": problem.l0_penalty.tolist(),
        "sizes": [problem.min_size, problem.max_size],
        "scales": repr(problem.scales.to_plain()),
        "constraints": _resolved_constraints(problem),
        "settings": {k: repr(v) for k, v in sorted(settings.items()) if k not in _NO_SETTING},
    }
    return hashlib.sha256(json.dumps(stated).encode("utf-8")).hexdigest()


class _Marks(NamedTuple):
    """The sum of the marks of all rows, exact unless they have weights, and marks of columns.

    Losses of a few vectors would not do: rows that these are sure of add next to nothing.
    """

    text: str
    columns: list[str]


# Of data that live, lest every search of a run reads them once more.
_MARKED: WeakKeyDictionary[TrainingData, _Marks] = WeakKeyDictionary()


def _marks(problem: RiskScoreProblem) -> _Marks:
    data = problem.loss.data
    if data not in _MARKED:
        _MARKED[data] = _marks_of(problem.loss)
    return _MARKED[data]


def _marks_of(loss: LogisticLoss) -> _Marks:
    found = list(loss.data.rows.used_by(loss.n_threads).map(row_marks))
    weight = loss.data.total_weight
    total = sum(one.exact for one in found) % 2**64
    text = f"{total} {math.fsum(one.weighted for one in found) / weight:.11g}"
    if loss.data.is_weighted:
        shares = np.sum([one.shares for one in found], axis=0) / weight
        return _Marks(text, [f"{share:.9g}" for share in shares.tolist()])
    sums = [sum(int(one.columns[j]) for one in found) % 2**64 for j in range(len(found[0].columns))]
    return _Marks(text, [*map(str, sums)])


def _resolved_constraints(problem: RiskScoreProblem) -> str:
    """Digest of what constraints mean for the features and rows of a problem.

    Their words would not do: they leave out names of long lists, and which rows are in a group.
    """
    digest = hashlib.sha256()
    per_scale = problem.scales.values if problem.is_constrained_per_scale else None
    for one in [problem] if per_scale is None else map(problem.at_scale, per_scale):
        rows = one.constraint_rows
        if rows is None:
            continue
        plain = [[j, repr(points)] for _, j, points in rows.allowed_points]
        arrays = [rows.points, rows.used, rows.any_used, rows.lower, rows.upper, *rows.groups]
        for check in rows.checks:
            plain.append([*check.level, check.limit, *(rate.of_negative for rate in check.rates)])
            arrays += [check.records, check.columns, *(rate.weights for rate in check.rates)]
        digest.update(repr([plain, [array.shape for array in arrays]]).encode("utf-8"))
        for array in arrays:
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


# ---------------------------------------------------------------------------------------------
# Facts
# ---------------------------------------------------------------------------------------------


def facts_of(problem: RiskScoreProblem, settings: dict[str, Any]) -> dict[str, Any]:
    """State what a search is about, fact by fact.

    Parameters
    ----------
    problem : RiskScoreProblem
    settings : dict
        As in :func:`fingerprint`.

    Returns
    -------
    dict
        Values that JSON has. What differs between two of them, :func:`differences` says.
    """
    data, marks = problem.loss.data, _marks(problem)
    constraints = problem.constraint_rows
    described = [] if constraints is None else [one.describe() for one in constraints.constraints]
    facts: dict[str, Any] = {
        "version": __version__,
        "features": list(data.feature_names),
        "rows": data.n_samples,
        "weighted": data.is_weighted,
        "class_weight": f"{data.class_factors[1] / data.class_factors[0]:.6g}",
        "weight": f"{data.total_weight:.9g}",
        "positive": f"{data.class_weights[1]:.9g}",
        "marks": marks.text,
        "columns": marks.columns[1:],
        "outcome": data.outcome_name,
        "classes": repr(tuple(data.classes)),
        # Bounds that are derived differ where what they are derived from does.
        "intercept": "derived"
        if problem.intercept_is_derived
        else f"from {problem.lower[0]} to {problem.upper[0]}",
        "lower": problem.lower[1:].tolist(),
        "upper": problem.upper[1:].tolist(),
        "l0_penalty": np.broadcast_to(problem.l0_penalty, data.n_features).tolist(),
        "min_size": problem.min_size,
        "max_size": problem.max_size,
        "scale": problem.scales.describe(),
        "constraints": described,
        "resolved": _resolved_constraints(problem),
    }
    for name, value in sorted(settings.items()):
        if name in _NO_SETTING:
            continue
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            for field in dataclasses.fields(value):
                facts[f"{name}.{field.name}"] = repr(getattr(value, field.name))
        else:
            facts[name] = repr(value)
    plain: dict[str, Any] = json.loads(json.dumps(facts))
    return plain


def facts_of_path(
    problem: RiskScoreProblem,
    settings: dict[str, Any],
    sizes: list[int],
    n_folds: int,
    folds: str,
) -> dict[str, Any]:
    """State what a search for scores of several sizes is about, fact by fact.

    Parameters
    ----------
    problem, settings
        As in :func:`facts_of`.
    sizes : list of int
        Which take the place of ``max_size``.
    n_folds : int
    folds : str
        Digest of their rows.

    Returns
    -------
    dict
    """
    facts = facts_of(problem, settings)
    del facts["max_size"]
    return {**facts, "sizes": listing(map(str, sizes)), "n_folds": n_folds, "folds": folds}


def differences(now: Mapping[str, Any], kept: Mapping[str, Any]) -> list[str]:
    """Name the facts of two searches that differ, with both values.

    Parameters
    ----------
    now, kept : mapping
        Of :func:`facts_of`, and those that were kept.

    Returns
    -------
    list of str
        The data first. "max_size is 3, kept: 2". Empty where one of them is not known.
    """
    if not now or not kept:
        return []
    found = [
        *_of_runs(now, kept), *_of_data(now, kept), *_of_points(now, kept),
        *_of_constraints(now, kept),
    ]  # fmt: skip
    special = {*_OF_DATA, *_OF_POINTS, *_OF_PATHS, "constraints", "resolved"}
    if ("sizes" in now) != ("sizes" in kept):
        special |= {*_OF_EITHER}
    others = [name for name in dict.fromkeys([*now, *kept]) if name not in special]
    return found + [
        _both(name, now.get(name), kept.get(name))
        for name in others
        if now.get(name) != kept.get(name)
    ]


def _both(what: str, now: Any, kept: Any) -> str:
    texts = ("not stated" if one is None else one for one in (now, kept))
    return "{} is {}, kept: {}".format(what, *texts)


def _of_runs(now: Mapping[str, Any], kept: Mapping[str, Any]) -> Iterator[str]:
    """Differences of what is searched for: one score, or scores of several sizes and on folds."""
    if ("sizes" in now) != ("sizes" in kept):
        yield "a search for {}, kept: for {}".format(*map(_aim, (now, kept)))
        return
    if now.get("sizes") != kept.get("sizes"):
        yield _both("sizes", now["sizes"], kept["sizes"])
    if now.get("n_folds") != kept.get("n_folds"):
        yield _both("number of folds", now["n_folds"], kept["n_folds"])
    elif now.get("folds") != kept.get("folds"):
        yield "other rows in the folds (cv, random_state)"


def _aim(facts: Mapping[str, Any]) -> str:
    if "sizes" not in facts:
        return "one score"
    folds = f"on {facts['n_folds']} folds" if facts["n_folds"] else "without folds"
    return f"the scores of a path (sizes {facts['sizes']}; {folds})"


def _of_data(now: Mapping[str, Any], kept: Mapping[str, Any]) -> Iterator[str]:
    """Differences of the rows: the least that explains them all."""
    features, before = now["features"], kept["features"]
    if features != before:
        added = [repr(name) for name in features if name not in {*before}]
        gone = [repr(name) for name in before if name not in {*features}]
        parts = [f"new: {listing(added)}"] * bool(added) + [f"kept: {listing(gone)}"] * bool(gone)
        yield f"columns ({'; '.join(parts) or 'in another order'})"
    if now["rows"] != kept["rows"]:
        yield _both("the number of rows", now["rows"], kept["rows"])
    elif now["class_weight"] != kept.get("class_weight"):
        values = (now["class_weight"], kept.get("class_weight"))
        yield _both("class_weight (a row with the outcome to one without)", *values)
    elif now["weighted"] != kept["weighted"]:
        texts = ("given" if one else "none" for one in (now["weighted"], kept["weighted"]))
        yield "weights of rows: {}, kept: {}".format(*texts)
    elif now["marks"] != kept["marks"] and features == before:
        yield from _of_values(now, kept)


def _of_values(now: Mapping[str, Any], kept: Mapping[str, Any]) -> Iterator[str]:
    """Differences of as many rows with the same columns."""
    if now["weight"] != kept["weight"]:
        yield _both("the sum of the weights", now["weight"], kept["weight"])
        return
    changed = [
        repr(name)
        for name, one, other in zip(now["features"], now["columns"], kept["columns"], strict=True)
        if one != other
    ]
    has_labels = now["positive"] != kept["positive"]
    # Other weights change the sums of nearly all columns.
    if now["weighted"] and 2 * len(changed) > len(now["features"]):
        yield "weights of rows, or the rows that have them"
        return
    if has_labels:
        what = "weight of rows" if now["weighted"] else "number of rows"
        yield _both(f"labels: the {what} with the outcome", now["positive"], kept["positive"])
    if changed:
        yield f"values of {listing(changed)}"
    if not (changed or has_labels):
        yield "labels or values of rows: as many of each kind, but in other rows"


def _of_points(now: Mapping[str, Any], kept: Mapping[str, Any]) -> Iterator[str]:
    """Differences of the points that features may have, and of their prices."""
    if now["features"] != kept["features"]:
        return
    ends = [list(zip(one["lower"], one["upper"], strict=True)) for one in (now, kept)]
    yield from _by_feature("points of {} from {} to {}, kept: {} to {}", now["features"], *ends)
    prices = [[(price,) for price in one["l0_penalty"]] for one in (now, kept)]
    yield from _by_feature("l0_penalty of {} is {}, kept: {}", now["features"], *prices)


def _by_feature(
    text: str, names: list[str], now: list[tuple[Any, ...]], kept: list[tuple[Any, ...]]
) -> Iterator[str]:
    """Values of features that differ, those with the same ones together."""
    alike: dict[tuple[Any, ...], list[str]] = {}
    for name, one, other in zip(names, now, kept, strict=True):
        if one != other:
            alike.setdefault((*one, *other), []).append(repr(name))
    for values, found in alike.items():
        which = "every feature" if len(found) == len(names) > 1 else listing(found)
        yield text.format(which, *values)


def _of_constraints(now: Mapping[str, Any], kept: Mapping[str, Any]) -> Iterator[str]:
    texts, before = now["constraints"], kept["constraints"]
    added = [text for text in texts if text not in before]
    gone = [text for text in before if text not in texts]
    if added:
        yield f"constraints that are new: {'; '.join(added)}"
    if gone:
        yield f"constraints that are gone: {'; '.join(gone)}"
    same = now["features"] == kept["features"] and not added and not gone
    if same and now["resolved"] != kept["resolved"]:
        yield "features, rows or order of constraints"
