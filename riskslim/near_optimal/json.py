"""Alternatives as JSON: format and versions.

The file has one object with these keys. A set is the items with points of one alternative; sets are
in the order of their objective, and a list "of each set" has one value for each, in this order.
A value that is not defined is ``null``; an infinite bound is the text "inf" or "-inf".

``format``, ``version``, ``created_by``
    "riskslim.alternatives", 1, and the program.
``within``
    The share: objectives are at most (1 + within) times the best.
``feature_names``, ``variables``
    All features that could be chosen, and the variable of each.
``sets``
    Of each set an object: ``objective``, ``penalty`` (its part that is not the loss), ``ridge``,
    ``lower_bound`` (of all scores of exactly this set, or ``null``), ``intercept``, ``scale``, and
    ``points``, an object from features to whole numbers.
``is_complete``, ``bound``, ``intercepts``
    As in :class:`~riskslim.SolutionPool`: no set that is not listed has a score with an objective
    below ``bound``.
``certificate``
    Of the best score, as in the file of a score.
``prices``, ``variable_prices``
    Of each item, or variable, that was asked for an object: ``feature`` (or the variable),
    ``is_used`` (in the best score: the question is "without it", else "with it"), ``objective``,
    ``lower_bound``, ``is_proven``, and ``score``, the one that attains the objective as an object
    with ``intercept`` and ``points``, or ``null``.
``costs``
    An object from names to what it costs to measure them, or ``null``; the cost of a set is the
    sum over its variables.
``measures``
    A list, for the training rows, and for the test rows where there are some, an object: ``rows``
    (what they are called), ``n_rows``, ``threshold``, ``specificity``, ``groups`` (labels, or
    empty), and the lists of each set ``loss``, ``auc``, ``cal``, ``sensitivity`` (at that
    specificity), ``sensitivity_gap``, ``specificity_gap``, ``called_gap`` (largest difference
    between groups).
``agreement``
    A list, for the same rows an object: ``rows``, ``threshold``, ``n_alternatives``, and
    ``groups``, of which the first is that of all rows: ``group`` (its label; ``null`` for all),
    ``n_rows``, ``share``, ``ambiguity``, ``discrepancy``, ``mean_range``, ``median_range``,
    ``largest_range``, and ``range_shares``, the shares of rows whose risks differ by at least 0, 5,
    10, 20, 30 and 50 percentage points and by less than the next of these.
``stability``
    ``null``, or an object: ``n_samples``, ``n_proven``, ``n_asked``, ``seed``, ``is_interrupted``,
    the objects
    ``items`` and ``variables`` from names to the number of samples whose best score has them,
    ``sets``, of each set the number of samples whose best score has it, and ``others``, of sets
    that are not listed a list of objects with ``items`` and ``n_samples``.
``digest``
    Of all of this, which tells a file that was changed.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim._checks import checked_integer, checked_number, checked_points
from riskslim._version import __version__
from riskslim._writing import write_file
from riskslim.near_optimal.agreement import RANGES, Agreement, AgreementInGroup
from riskslim.near_optimal.choice import OF_ROWS, Measures, check_costs
from riskslim.near_optimal.prices import SAME, SAME_OBJECTIVES, ItemPrice
from riskslim.near_optimal.rows import TEST, TRAINING
from riskslim.near_optimal.stability import OtherSet, Stability
from riskslim.scale import checked_scale
from riskslim.score.digest import digest_of_plain
from riskslim.score.json import VERSION as VERSION_OF_SCORES
from riskslim.score.json import (
    certificate_from_plain,
    certificate_to_plain,
    without_repetition,
)
from riskslim.solution import Certificate, Solution, SolutionPool

if TYPE_CHECKING:
    from riskslim.near_optimal.alternatives import Alternatives

__all__ = ["load", "read", "save", "write"]

FORMAT = "riskslim.alternatives"
VERSION = 1
_KEYS = (
    "within", "feature_names", "variables", "sets", "is_complete", "bound", "intercepts",
    "certificate", "prices", "variable_prices", "costs", "measures", "agreement", "stability",
    "digest",
)  # fmt: skip
_INFINITE = {"inf": math.inf, "-inf": -math.inf}
# Rows that are measured.
_ROWS = (TRAINING, TEST)
# Two ways to say an objective differ by no more than this share of it.
_SAME = 1e-9


# ---- written ---------------------------------------------------------------------------------


def save(found: Alternatives, path: str | os.PathLike[str]) -> None:
    """Write alternatives to a JSON file, as :meth:`Alternatives.save` says."""
    write_file(path, write(found))


def write(found: Alternatives) -> str:
    """Write alternatives as JSON text, with all that was computed of them.

    Parameters
    ----------
    found : Alternatives

    Returns
    -------
    str
    """
    pool = found.pool
    body = {
        "within": found.within,
        "feature_names": [*found.solution.feature_names],
        "variables": [*found.variables],
        "sets": [_set_to_plain(found, rank) for rank in range(len(found))],
        "is_complete": bool(pool.complete),
        "bound": _real(pool.bound),
        "intercepts": None if pool.intercepts is None else [int(end) for end in pool.intercepts],
        "certificate": certificate_to_plain(found.solution.certificate),
        "prices": [_price_to_plain(one, found) for one in found.prices],
        "variable_prices": [_price_to_plain(one, found) for one in found.variable_prices],
        "costs": None if found.costs is None else dict(found.costs),
        "measures": [_measures_to_plain(one) for one in found.measures],
        "agreement": [_agreement_to_plain(one) for one in found.agreement],
        "stability": None if found.stability is None else _stability_to_plain(found.stability),
    }
    plain = {
        "format": FORMAT, "version": VERSION, "created_by": f"riskslim {__version__}", **body,
        "digest": digest_of_plain(body),
    }  # fmt: skip
    text = json.dumps(plain, allow_nan=False, ensure_ascii=False, indent=1)
    # Names may hold halves of surrogate pairs, which UTF-8 has as escape sequences only.
    return text.encode("utf-8", "backslashreplace").decode() + "\n"


def _real(value: float) -> float | str | None:
    """A number as JSON has it: null for NaN, text for infinities."""
    value = float(value)
    if math.isnan(value):
        return None
    return str(value) if math.isinf(value) else value


def _points(coef: NDArray[np.int64], names: tuple[str, ...]) -> dict[str, Any]:
    """Intercept and points of a vector."""
    used = np.flatnonzero(coef[1:]).tolist()
    return {"intercept": int(coef[0]), "points": {names[j]: int(coef[1 + j]) for j in used}}


def _set_to_plain(found: Alternatives, rank: int) -> dict[str, Any]:
    pool = found.pool
    bound = None if pool.lower_bounds is None else _real(pool.lower_bounds[rank])
    return {
        "objective": found.objective(rank),
        "penalty": float(found.penalties[rank]),
        "ridge": float(found.ridges[rank]),
        "lower_bound": bound,
        "scale": pool.scale(rank),
        **_points(pool.coefficients[rank], found.solution.feature_names),
    }


def _price_to_plain(price: ItemPrice, found: Alternatives) -> dict[str, Any]:
    names = found.solution.feature_names
    return {
        "feature": price.feature,
        "is_used": price.is_used,
        "objective": _real(price.objective),
        "lower_bound": _real(price.lower_bound),
        "is_proven": price.is_proven,
        "score": None if price.coefficients is None else _points(price.coefficients, names),
    }


def _measures_to_plain(measures: Measures) -> dict[str, Any]:
    return {
        "rows": measures.rows,
        "n_rows": measures.n_rows,
        "threshold": measures.threshold,
        "specificity": measures.specificity,
        "groups": [_label(one) for one in measures.groups],
        **{name: [_real(one) for one in getattr(measures, name)] for name in OF_ROWS},
    }


def _agreement_to_plain(agreement: Agreement) -> dict[str, Any]:
    groups = [one._asdict() for one in agreement.groups]
    for one in groups:
        one["group"] = _label(one["group"])
        one["range_shares"] = [*one["range_shares"]]
    return {
        "rows": agreement.rows,
        "threshold": agreement.threshold,
        "n_alternatives": agreement.n_alternatives,
        "groups": groups,
    }


def _label(label: Any) -> Any:
    """A label of a group: what JSON does not have is written as text."""
    is_plain = isinstance(label, (bool, int, str, type(None)))
    is_finite = isinstance(label, float) and math.isfinite(label)
    return label if is_plain or is_finite else str(label)


def _stability_to_plain(stability: Stability) -> dict[str, Any]:
    return {
        "n_asked": stability.n_asked,
        "n_samples": stability.n_samples,
        "n_proven": stability.n_proven,
        "seed": stability.seed,
        "is_interrupted": stability.is_interrupted,
        "items": dict(stability.items),
        "variables": dict(stability.variables),
        "sets": [*stability.sets],
        "others": [{"items": [*one.items], "n_samples": one.n_samples} for one in stability.others],
    }


# ---- read ------------------------------------------------------------------------------------


def load(kind: type[Alternatives], path: str | os.PathLike[str]) -> Alternatives:
    """Read alternatives from a JSON file, as :meth:`Alternatives.load` says.

    Parameters
    ----------
    kind : type
        Alternatives.
    path : str or path-like

    Returns
    -------
    Alternatives
    """
    try:
        return read(kind, Path(path).read_bytes())
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def read(kind: type[Alternatives], text: str | bytes) -> Alternatives:
    """Read what :func:`write` wrote.

    Parameters
    ----------
    kind : type
        Alternatives.
    text : str or bytes

    Returns
    -------
    Alternatives

    Raises
    ------
    ValueError
        The text is something else, of a newer version, incomplete, was changed, or contradicts
        itself.
    """
    plain = _checked_plain(text)
    body = {name: plain[name] for name in _KEYS if name != "digest"}
    if plain["digest"] != _digest(body):
        raise ValueError(
            "the alternatives were changed after they were written, so that what they say is "
            "proven need not be: write the file anew by riskslim alternatives or Alternatives.save"
        )
    names = _names(plain["feature_names"], "feature_names")
    if len(set(names)) < len(names):
        raise ValueError("'feature_names' names a feature twice")
    variables = _names(plain["variables"], "variables")
    if len(variables) != len(names):
        raise ValueError(
            f"'variables' must have one for each of {len(names)} features, got {len(variables)}"
        )
    sets = _sets_from_plain(plain["sets"], names)
    pool = _pool_from_plain(plain, sets)
    with _About("certificate"):
        certificate = certificate_from_plain(plain["certificate"], VERSION_OF_SCORES)
    _check_certificate(certificate, pool)
    within = _at_least_0(plain["within"], "'within'")
    _check_list(pool, within)
    assert certificate is not None
    best = pool.coefficients[0]
    solution = Solution(
        best[1:].copy(), int(best[0]), certificate, names, pool=pool, scale=pool.scale(0)
    )
    found = kind(
        solution=solution,
        within=within,
        variables=variables,
        penalties=np.array([one["penalty"] for one in sets]),
        ridges=np.array([one["ridge"] for one in sets]),
        prices=_prices_from_plain(plain, "prices", names, names, certificate, best),
        variable_prices=_prices_from_plain(
            plain, "variable_prices", names, variables, certificate, best
        ),
        measures=tuple(_measures_from_plain(one, len(sets)) for one in _entries(plain, "measures")),
        agreement=tuple(_agreement_from_plain(one) for one in _entries(plain, "agreement")),
        stability=_stability_from_plain(plain["stability"], len(sets), names, variables),
    )
    _check_rows(found)
    if plain["costs"] is None:
        return found
    with _About("costs"):
        return found.with_costs(check_costs(found, plain["costs"]))


def _digest(body: Mapping[str, Any]) -> str:
    try:
        return digest_of_plain(body)
    except (ValueError, RecursionError) as error:  # NaN, which is no JSON
        raise ValueError(f"not a list of alternatives: {error}") from None


def _checked_plain(text: str | bytes) -> dict[str, Any]:
    """An object with all keys that its version of the format needs."""
    try:
        plain = json.loads(text, object_pairs_hook=without_repetition)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"not a list of alternatives: the text is no valid JSON ({error})"
        ) from None
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise ValueError(
            f'not a list of alternatives: expected a JSON object with "format": "{FORMAT}", which '
            "riskslim alternatives --output or Alternatives.save writes"
        )
    version = plain.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise ValueError(f"version of the format must be a positive integer, got {version!r}")
    if version > VERSION:
        raise ValueError(
            f"the alternatives are in version {version} of the format, and this riskslim, version "
            f"{__version__}, reads up to version {VERSION}: a newer riskslim is needed"
        )
    missing = [name for name in _KEYS if name not in plain]
    if missing:
        raise ValueError(f"the list of alternatives is incomplete: it lacks {', '.join(missing)}")
    return plain


class _About:
    """Say which key an error is about."""

    def __init__(self, key: str) -> None:
        self.key = key

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if isinstance(error, (KeyError, IndexError)):
            raise ValueError(f"{self.key!r} lacks {error.args[0]!r}") from None
        if isinstance(error, (TypeError, AttributeError, ValueError, OverflowError)):
            raise ValueError(f"{self.key!r}: {error}") from None


def _entries(plain: Mapping[str, Any], key: str) -> list[Any]:
    """The entries of a list of objects."""
    entries = plain[key]
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise ValueError(f"{key!r} must be a list of objects, got {entries!r:.60}")
    return entries


def _names(values: Any, what: str) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(one, str) for one in values):
        raise ValueError(f"{what!r} must be a list of texts, got {values!r:.60}")
    return tuple(values)


def _number(value: Any, what: str) -> float:
    """A number, of which null is none that is defined."""
    if value is None:
        return math.nan
    if isinstance(value, str) and value in _INFINITE:
        return _INFINITE[value]
    return checked_number(value, what)


def _finite(value: Any, what: str) -> float:
    number = _number(value, what)
    if not math.isfinite(number):
        raise ValueError(f"{what} must be a finite number, got {value!r}")
    return number


def _at_least_0(value: Any, what: str) -> float:
    if not (number := _finite(value, what)) >= 0:
        raise ValueError(f"{what} must be at least 0, got {value!r}")
    return number


def _flag(value: Any, what: str) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{what} must be true or false, got {value!r}")
    return value


def _count(value: Any, what: str) -> int:
    if (number := checked_integer(value, what)) < 0:
        raise ValueError(f"{what} must not be negative, got {number}")
    return number


def _vector(plain: Mapping[str, Any], place: Mapping[str, int]) -> NDArray[np.int64]:
    """Intercept and points as a vector."""
    coef = np.zeros(len(place) + 1, np.int64)
    coef[0] = checked_points(plain["intercept"], "intercept")
    if not isinstance(plain["points"], dict):
        raise ValueError(f"'points' must be an object, got {plain['points']!r:.60}")
    for name, value in plain["points"].items():
        if name not in place:
            raise ValueError(f"'points' are of {name!r}, which is none of the features")
        coef[1 + place[name]] = points = checked_points(value, f"points of {name!r}")
        if not points:
            raise ValueError(f"points of {name!r} must not be 0")
    return coef


def _sets_from_plain(entries: Any, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Sets with their vectors, checked one by one and against each other."""
    if not isinstance(entries, list) or not entries:
        raise ValueError("'sets' must be a list of at least one set")
    place = {name: j for j, name in enumerate(names)}
    sets: list[dict[str, Any]] = []
    one: dict[str, Any]
    seen: set[tuple[int, ...]] = set()
    for k, entry in enumerate(entries):
        with _About(f"sets, entry {k}"):
            one = {
                "objective": _finite(entry["objective"], "'objective'"),
                "penalty": _at_least_0(entry["penalty"], "'penalty'"),
                "ridge": _at_least_0(entry["ridge"], "'ridge'"),
                "lower_bound": _number(entry["lower_bound"], "'lower_bound'"),
                "scale": checked_scale(entry["scale"], "'scale'"),
                "coef": _vector(entry, place),
            }
            support = tuple(np.flatnonzero(one["coef"][1:]).tolist())
            if support in seen:
                raise ValueError("it has the items of an earlier one")
            if sets and one["objective"] < sets[-1]["objective"]:
                raise ValueError("its objective is smaller than that of the one before")
            if one["lower_bound"] > one["objective"]:
                raise ValueError("its lower bound is above its objective")
            if not one["ridge"] <= one["penalty"] <= one["objective"]:
                raise ValueError("its penalties are above its objective")
            seen.add(support)
            sets.append(one)
    return sets


def _pool_from_plain(plain: Mapping[str, Any], sets: list[dict[str, Any]]) -> SolutionPool:
    ends = plain["intercepts"]
    with _About("intercepts"):
        intercepts = None if ends is None else tuple(checked_points(end, "an end") for end in ends)
        if intercepts is not None and len(intercepts) != 2:
            raise ValueError(f"expected two ends, got {ends!r}")
    bounds = np.array([one["lower_bound"] for one in sets])
    bound = _number(plain["bound"], "'bound'")
    if math.isnan(bound):
        raise ValueError("'bound' must be a number, got null")
    return SolutionPool(
        np.array([one["coef"] for one in sets]),
        np.array([one["objective"] for one in sets]),
        tuple(plain["feature_names"]),
        complete=_flag(plain["is_complete"], "'is_complete'"),
        bound=bound,
        scales=np.array([one["scale"] for one in sets]),
        intercepts=intercepts,
        distinct="items",
        lower_bounds=None if np.isnan(bounds).all() else bounds,
    )


def _check_certificate(certificate: Certificate | None, pool: SolutionPool) -> None:
    """Check that a certificate is consistent, and is about the best of the sets."""
    if certificate is None:
        raise ValueError("'certificate' must be an object, got null")
    if faults := certificate.faults():
        raise ValueError(f"the certificate contradicts itself: {'; '.join(faults)}")
    size = int(np.count_nonzero(pool.coefficients[0, 1:]))
    best = float(pool.objectives[0])
    for name, has in (("model_size", size), ("scale", pool.scale(0))):
        if getattr(certificate, name) != has:
            raise ValueError(
                f"the certificate is about another score: its {name} is "
                f"{getattr(certificate, name)!r}, but that of the first set is {has!r}"
            )
    if abs(certificate.objective - best) > _SAME * max(abs(best), 1.0):
        raise ValueError(
            f"the certificate is about another score: its objective is {certificate.objective!r}, "
            f"but that of the first set is {best!r}"
        )


def _check_list(pool: SolutionPool, within: float) -> None:
    """Check that what a list says of sets that are not listed fits those that are."""
    best, worst = float(pool.objectives[0]), float(pool.objectives[-1])
    if worst > best * (1.0 + within) * (1.0 + _SAME):
        raise ValueError(f"the last set is not within {within:g} of the best one")
    if pool.complete and pool.bound < worst * (1.0 - _SAME):
        raise ValueError(
            f"the list is said to be complete, but others can be better than {worst!r}: the bound "
            f"is {pool.bound!r}"
        )
    if pool.intercepts is not None and pool.intercepts[0] > pool.intercepts[1]:
        raise ValueError(f"'intercepts' are no ends: {pool.intercepts!r}")


def _check_rows(found: Alternatives) -> None:
    """Check that what is said of rows is of the same rows, and of all sets."""
    if len(found.measures) > len(_ROWS) or len(found.agreement) > len(_ROWS):
        raise ValueError(f"there are at most {len(_ROWS)} kinds of rows: {' and '.join(_ROWS)}")
    for one in found.agreement:
        if one.n_alternatives != len(found):
            raise ValueError(
                f"the agreement is of {one.n_alternatives} alternatives, and there are {len(found)}"
            )


def _prices_from_plain(
    plain: Mapping[str, Any],
    key: str,
    names: tuple[str, ...],
    of: tuple[str, ...],
    certificate: Certificate,
    best: NDArray[np.int64],
) -> tuple[ItemPrice, ...]:
    """Prices of items, or of variables: ``of`` has the one of each feature."""
    place = {name: j for j, name in enumerate(names)}
    own: dict[str, list[int]] = {}
    for j, name in enumerate(of):
        own.setdefault(name, []).append(1 + j)
    prices = []
    for k, entry in enumerate(_entries(plain, key)):
        with _About(f"{key}, entry {k}"):
            if entry["feature"] not in own:
                raise ValueError(f"there is no {entry['feature']!r}")
            columns = own[entry["feature"]]
            price = ItemPrice(
                entry["feature"],
                _flag(entry["is_used"], "'is_used'"),
                _number(entry["objective"], "'objective'"),
                _number(entry["lower_bound"], "'lower_bound'"),
                certificate.objective,
                None if entry["score"] is None else _vector(entry["score"], place),
                _flag(entry["is_proven"], "'is_proven'"),
            )
            if not price.lower_bound <= price.objective:
                raise ValueError("the lower bound must be at most the objective")
            if price.is_used != best[columns].any():
                raise ValueError("whether it is used is not what the best score says")
            score = price.coefficients
            if score is not None and price.is_used == score[columns].any():
                raise ValueError("its score answers another question")
            if price.is_proven and not _is_closed(price, certificate):
                raise ValueError("it is said to be proven, but its bound is below its objective")
            prices.append(price)
    return tuple(prices)


def _is_closed(price: ItemPrice, certificate: Certificate) -> bool:
    """True if bound and objective are as near as a search tells them apart."""
    if math.isinf(price.lower_bound):
        return price.lower_bound > 0
    same = max(certificate.scales.tolerance, SAME) * abs(price.objective) + SAME_OBJECTIVES
    return price.lower_bound >= price.objective - 2.0 * same


def _measures_from_plain(entry: dict[str, Any], n_sets: int) -> Measures:
    with _About("measures"):
        columns = {name: _column(entry[name], name, n_sets) for name in OF_ROWS}
        for name in OF_ROWS:
            most = math.inf if name == "loss" else 1.0 + _SAME
            if not all(math.isnan(one) or 0 <= one <= most for one in columns[name].tolist()):
                raise ValueError(f"{name!r} has values that it cannot have")
        return Measures(
            rows=_text(entry["rows"], "'rows'"),
            n_rows=_count(entry["n_rows"], "'n_rows'"),
            threshold=_share(entry["threshold"], "'threshold'"),
            specificity=_share(entry["specificity"], "'specificity'"),
            groups=tuple(_checked_label(one) for one in entry["groups"]),
            **columns,
        )


def _column(values: Any, name: str, n_sets: int) -> NDArray[np.float64]:
    if not isinstance(values, list) or len(values) != n_sets:
        raise ValueError(f"{name!r} must be a list with a value for each of {n_sets} sets")
    return np.array([_number(one, name) for one in values], dtype=np.float64)


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{what} must be text, got {value!r}")
    return value


def _share(value: Any, what: str) -> float:
    number = _finite(value, what)
    if not -_SAME <= number <= 1 + _SAME:
        raise ValueError(f"{what} must be between 0 and 1, got {value!r}")
    return number


def _checked_label(label: Any) -> Any:
    if not isinstance(label, (bool, int, float, str)):
        raise ValueError(f"a label of a group must be true or false, a number or text: {label!r}")
    return label


def _agreement_from_plain(entry: dict[str, Any]) -> Agreement:
    with _About("agreement"):
        groups = [_group_from_plain(one, k) for k, one in enumerate(entry["groups"])]
        if not groups:
            raise ValueError("'groups' is empty: that of all rows comes first")
        return Agreement(
            _text(entry["rows"], "'rows'"),
            _share(entry["threshold"], "'threshold'"),
            _count(entry["n_alternatives"], "'n_alternatives'"),
            tuple(groups),
        )


def _group_from_plain(plain: Mapping[str, Any], k: int) -> AgreementInGroup:
    shares = plain["range_shares"]
    if not isinstance(shares, list) or len(shares) != len(RANGES):
        raise ValueError(f"'range_shares' must be a list of {len(RANGES)} shares")
    if (plain["group"] is None) != (k == 0):
        raise ValueError("'group' is null for the first one, which is of all rows, and no other")
    of_rows = {
        name: _share(plain[name], f"{name!r}")
        for name in AgreementInGroup._fields
        if name not in ("group", "n_rows", "range_shares")
    }
    return AgreementInGroup(
        group=None if k == 0 else _checked_label(plain["group"]),
        n_rows=_count(plain["n_rows"], "'n_rows'"),
        range_shares=tuple(_share(one, "'range_shares'") for one in shares),
        **of_rows,
    )


def _stability_from_plain(
    plain: Any, n_sets: int, names: tuple[str, ...], variables: tuple[str, ...]
) -> Stability | None:
    if plain is None:
        return None
    with _About("stability"):
        counts: dict[str, Any] = {
            name: _count(plain[name], f"{name!r}")
            for name in ("n_asked", "n_samples", "n_proven", "seed")
        }
        sets = tuple(_count(one, "'sets'") for one in plain["sets"])
        if len(sets) != n_sets:
            raise ValueError(f"'sets' must have a number for each of {n_sets} sets")
        others = tuple(
            OtherSet(_names(one["items"], "items"), _count(one["n_samples"], "'n_samples'"))
            for one in plain["others"]
        )
        n = counts["n_samples"]
        if sum(sets) + sum(one.n_samples for one in others) != n or counts["n_proven"] > n:
            raise ValueError("the numbers of samples contradict each other")
        if n > counts["n_asked"]:
            raise ValueError("there are more samples than were asked for")
        found: dict[str, Any] = {
            name: MappingProxyType(
                {one: _count(number, f"{one!r}") for one, number in plain[name].items()}
            )
            for name in ("items", "variables")
        }
        for name, known in (("items", names), ("variables", variables)):
            if not set(found[name]) <= set(known) or max(found[name].values(), default=0) > n:
                raise ValueError(f"{name!r} has names or numbers that there cannot be")
        is_interrupted = _flag(plain["is_interrupted"], "'is_interrupted'")
        return Stability(**counts, **found, sets=sets, others=others, is_interrupted=is_interrupted)
