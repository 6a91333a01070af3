"""The fingerprint of a search: its problem, rows and settings, fact by fact and as a digest.

A digest says that two searches are not the same one, not why: where digests differ, the first fact
that does is named.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
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

__all__ = ["digest_of", "facts_of", "fingerprint", "first_difference", "without_limits"]

# What does not change the result of a search.
_NO_SETTING = ("n_threads", "progress", "should_stop", "start")
# What changes only how far one search gets: it may go on with other limits.
_LIMITS = ("time_limit", "node_limit")
# Facts that say where rows differ, rounded; the digest is of their exact marks.
_ROUNDED = ("sum of the weights", "weight of the outcome", "values")
# Facts whose values say nothing to a reader.
_DIGESTS = ("rows of the folds (cv, random_state)", "labels or rows", "rows of constraints")


def without_limits(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the limits of a search that goes on where it was.

    Parameters
    ----------
    settings : mapping
        Arguments of the search.

    Returns
    -------
    dict
    """
    return {name: value for name, value in settings.items() if name not in _LIMITS}


def fingerprint(problem: RiskScoreProblem, settings: Mapping[str, Any]) -> str:
    """Digest of a problem, its rows included, of the settings of a search, and of the version.

    Parameters
    ----------
    problem : RiskScoreProblem
    settings : mapping
        Arguments of an engine; those that change no result are left out.

    Returns
    -------
    str
        The same wherever rows are held, in which order, and whether equal ones are merged.
    """
    return digest_of(facts_of(problem, settings))


def digest_of(facts: Mapping[str, Any]) -> str:
    """Digest of facts.

    Parameters
    ----------
    facts : mapping
        Of :func:`facts_of`.

    Returns
    -------
    str
    """
    exact = {name: value for name, value in facts.items() if name not in _ROUNDED}
    return hashlib.sha256(json.dumps(exact).encode("utf-8")).hexdigest()


def facts_of(
    problem: RiskScoreProblem,
    settings: Mapping[str, Any],
    *,
    sizes: Sequence[int] = (),
    n_folds: int = 0,
    folds: str = "",
) -> dict[str, Any]:
    """State what a search is about, fact by fact.

    Parameters
    ----------
    problem : RiskScoreProblem
    settings : mapping
        As in :func:`fingerprint`.
    sizes : sequence of int, optional
        Of a path, in place of ``max_size``. Default: a search for one score.
    n_folds : int, default 0
    folds : str, optional
        Digest of their rows.

    Returns
    -------
    dict
        Values that JSON has, the most telling ones first.
    """
    data, marks, constraints = problem.loss.data, _marks(problem), problem.constraint_rows
    search: dict[str, Any] = {"max_size": problem.max_size}
    if sizes:
        search = {
            "sizes": ", ".join(map(str, sizes)),
            "number of folds": n_folds,
            _DIGESTS[0]: folds,
        }
    described = [] if constraints is None else [one.describe() for one in constraints.constraints]
    facts: dict[str, Any] = {
        "version": __version__,  # whose bounds they are
        "search": "a path of sizes" if sizes else "one score",
        **search,
        "columns": list(data.feature_names),
        "number of rows": data.n_samples,
        "class_weight (a row with the outcome to one without)":
            f"{data.class_factors[1] / data.class_factors[0]:.6g}",
        "weights of rows": "given" if data.is_weighted else "none",
        "sum of the weights": f"{data.total_weight:.9g}",
        "weight of the outcome": f"{data.class_weights[1]:.9g}",
        "values": marks.columns[1:],
        _DIGESTS[1]: marks.text,
        "outcome": data.outcome_name,
        "classes": repr(tuple(data.classes)),
        # Bounds that are derived differ where what they are derived from does.
        "intercept": "derived"
        if problem.intercept_is_derived
        else f"from {problem.lower[0]} to {problem.upper[0]}",
        "points": np.column_stack((problem.lower[1:], problem.upper[1:])).tolist(),
        "l0_penalty": np.broadcast_to(problem.l0_penalty, data.n_features).tolist(),
        **({"l2_penalty": problem.l2_penalty.tolist()} if problem.has_ridge else {}),
        "min_size": problem.min_size,
        "scale": repr(problem.scales.to_plain()),
        "constraints": described,
        _DIGESTS[2]: _resolved_constraints(problem),
        **{name: repr(value) for name, value in _settings(settings)},
    }  # fmt: skip
    plain: dict[str, Any] = json.loads(json.dumps(facts))
    return plain


def _settings(settings: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Settings that may change results, each field of one that has some."""
    found: list[tuple[str, Any]] = []
    for name, value in sorted(settings.items()):
        if name in _NO_SETTING or value is None:
            continue
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = dataclasses.fields(value)
            found += [(f"{name}.{one.name}", getattr(value, one.name)) for one in fields]
        else:
            found.append((name, value))
    return found


def first_difference(now: Mapping[str, Any], kept: Mapping[str, Any]) -> str:
    """Name the first fact in which two searches differ.

    Parameters
    ----------
    now, kept : mapping
        Of :func:`facts_of`, and those that were kept.

    Returns
    -------
    str
        "max_size is 3, kept: 2". Empty where they are the same.
    """
    for name in dict.fromkeys([*now, *kept]):
        if now.get(name) != kept.get(name):
            return _difference(name, now.get(name), kept.get(name), now.get("columns", []))
    return ""


def _difference(name: str, now: Any, kept: Any, columns: list[str]) -> str:
    if name in _DIGESTS:
        return f"other {name}"
    if not (isinstance(now, list) and isinstance(kept, list)):
        return f"{name} is {_shown(now)}, kept: {_shown(kept)}"
    if name in ("columns", "constraints"):
        new = [one for one in now if one not in kept]
        gone = [one for one in kept if one not in now]
        parts = [f"{what}: {listing(map(repr, some))}" for what, some in
                 (("new", new), ("gone", gone)) if some]  # fmt: skip
        return f"{name} ({'; '.join(parts) or 'in another order'})"
    differ = [k for k in range(len(columns)) if now[k] != kept[k]]
    which = f"{name} of {listing(repr(columns[k]) for k in differ)}"
    if name == "values":
        return which
    return f"{which}: {_shown(now[differ[0]])}, kept: {_shown(kept[differ[0]])}"


def _shown(value: Any) -> str:
    if value is None:
        return "not stated"
    if not isinstance(value, list):
        return str(value)
    values = list(map(str, value))
    if len(values) > 2:  # one for each feature: no interval
        return values[0] if len(set(values)) == 1 else ", ".join(values)
    return " to ".join(values)


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
            told, own = check.marks()
            plain.append(told)
            arrays += own
        digest.update(repr([plain, [array.shape for array in arrays]]).encode("utf-8"))
        for array in arrays:
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
