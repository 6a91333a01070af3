"""Risk scores as JSON: format and versions."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riskslim._checks import as_float, checked_integer, checked_number, checked_points
from riskslim._version import __version__
from riskslim._wording import listing
from riskslim.data.class_weights import ClassWeighting
from riskslim.data.csv_format import CsvFormat
from riskslim.data.feature_ranges import FeatureRange
from riskslim.exceptions import UnboundCertificateWarning
from riskslim.items.item import COMPARISONS, Item
from riskslim.items.variables import RawVariable
from riskslim.operating_point import DecisionThreshold, RuleCertificate
from riskslim.scale import ScaleSet, checked_scale
from riskslim.score.cutoff_ranges import CutoffRange
from riskslim.score.digest import digest_of
from riskslim.score.fit_remarks import remarks_from_plain
from riskslim.score.labels import labels_from_plain
from riskslim.score.layout import SheetLayout
from riskslim.score.recalibration import Recalibration, checked_prevalence
from riskslim.score.requirements import (
    Requirement,
    requirements_from_plain,
    requirements_to_plain,
)
from riskslim.solution import Certificate

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = [
    "NotAScoreError", "certificate_from_plain", "certificate_to_plain", "load", "read",
    "without_repetition", "write",
]  # fmt: skip

FORMAT = "riskslim.risk_score"
# The oldest version that holds a score is written: 1 knows no scale but 1, 2 no items, 3 no
# recalibration, 4 no digest that binds a certificate to the points, 5 no special values. Readers of
# 6 add up the fitted points, whatever the layout shows; those of 7 know no ridge penalty, and those
# of 8 no threshold: they would call rows positive from a risk of 50% on.
VERSION = 9
_RECALIBRATED, _BOUND, _SPECIAL, _LAID_OUT, _RIDGE, _RULE = 4, 5, 6, 7, 8, 9


# Of a certificate.
_REALS = ("objective", "loss", "lower_bound", "gap_tolerance", "bound_tolerance", "ridge")
# Of an item: they change no prediction, and may be left out, in any version.
_NOTES = ("interval", "order")


class NotAScoreError(ValueError):
    """The text is something else than a risk score, not one with a mistake in it."""


def write(score: RiskScore) -> str:
    """Write a score as JSON text, without any loss.

    Parameters
    ----------
    score : RiskScore

    Returns
    -------
    str

    Raises
    ------
    TypeError
        The classes, or levels of variables, are neither bool, int, float nor str.
    ValueError
        One of the classes is infinite or NaN; the certificate is about another score.
    """
    text = json.dumps(_to_plain(score), indent=2, allow_nan=False, ensure_ascii=False)
    # Names may hold halves of surrogate pairs, which UTF-8 has as escape sequences only.
    return text.encode("utf-8", "backslashreplace").decode() + "\n"


def _to_plain(score: RiskScore) -> dict[str, Any]:
    for label in score.classes:
        if not isinstance(label, (bool, int, float, str)):
            raise TypeError(
                f"classes of type {type(label).__name__!r} cannot be saved; "
                "fit with labels that are bool, int, float or str"
            )
    certificate = score.certificate
    _check_certificate(certificate, score.points.values(), score.scale)
    variables = [variable.to_plain() for variable in score.variables.values()]
    version = 3 if score.items else 1 if score.scale == 1.0 else 2
    if score.recalibration is not None:
        version = _RECALIBRATED
    if certificate is not None:
        version = _BOUND
    special = any(item.special for item in score.items.values())
    if special or any(variable.special for variable in score.variables.values()):
        version = _SPECIAL
    if score.layout.points != "fitted":
        version = _LAID_OUT
    if certificate is not None and certificate.ridge:
        version = _RIDGE
    if score.operating_point is not None or (certificate is not None and certificate.rule):
        version = _RULE
    return {
        "format": FORMAT,
        "version": version,
        "created_by": f"riskslim {__version__}",
        "outcome_name": score.outcome_name,
        "classes": list(score.classes),
        "intercept": score.intercept,
        **({"scale": score.scale} if version > 1 else {}),
        "points": [
            {
                "feature": name,
                "points": points,
                **_range_to_plain(score.feature_ranges[name]),
                **_item_to_plain(score.items.get(name)),
                **_cutoffs_to_plain(score.cutoff_ranges.get(name)),
            }
            for name, points in score.points.items()
        ],
        "feature_names": list(score.feature_names),
        # They change no prediction from features: readers may ignore them, in any version.
        **({"variables": variables} if variables else {}),
        **_weighting_to_plain(score.class_weighting),
        **({} if score.csv_format is None else {"csv_format": score.csv_format.to_plain()}),
        # No prediction depends on it.
        **({} if score.prevalence is None else {"prevalence": score.prevalence}),
        **_recalibration_to_plain(score.recalibration),
        **(
            {}
            if score.operating_point is None
            else {"operating_point": score.operating_point.to_dict()}
        ),
        **(
            {"requirements": requirements_to_plain(score.requirements)}
            if score.requirements
            else {}
        ),
        # Nor on these; a score without a certificate has none.
        **({"fit_remarks": [*score.fit_remarks]} if score.fit_remarks else {}),
        # No risk depends on words and layout; scores do, where points are not the fitted ones.
        **_words_to_plain(score),
        "certificate": None if certificate is None else certificate_to_plain(certificate),
        **(
            {}
            if certificate is None
            else {
                "digest": _digest(
                    score.points,
                    score.items,
                    score.intercept,
                    score.scale,
                    score.classes,
                    score.requirements,
                    score.fit_remarks,
                    certificate,
                )
            }
        ),
    }


def _words_to_plain(score: RiskScore) -> dict[str, Any]:
    """The labels of a score and the layout of its sheet, where there is something to say."""
    plain: dict[str, Any] = {}
    if score.labels:
        plain["labels"] = {name: label.to_plain() for name, label in score.labels.items()}
    if score.layout != SheetLayout():
        plain["layout"] = dataclasses.asdict(score.layout)
    return plain


def _layout_from_plain(plain: Any) -> SheetLayout:
    if plain is None:
        return SheetLayout()
    try:
        return SheetLayout.from_plain(plain)
    except ValueError as error:
        raise ValueError(f"'layout': {error}") from None


def _digest(
    points: Mapping[str, int],
    items: Mapping[str, Item],
    intercept: Any,
    scale: float,
    classes: Iterable[Any],
    requirements: Iterable[Requirement],
    fit_remarks: Iterable[str],
    certificate: Certificate,
) -> str:
    """The digest of a score and of its certificate."""
    stated = {name: _item_to_plain(item)["item"] for name, item in items.items()}
    return digest_of(
        points=points,
        # Neighbouring values of the training rows change no prediction.
        items={
            name: {key: value for key, value in item.items() if key not in _NOTES}
            for name, item in stated.items()
        },
        intercept=intercept,
        scale=scale,
        classes=tuple(classes),
        certificate=certificate_to_plain(certificate),
        requirements=requirements_to_plain(tuple(requirements)),
        fit_remarks=tuple(fit_remarks),
    )


def _range_to_plain(values: FeatureRange) -> dict[str, Any]:
    # A unit changes no prediction: readers that know none may leave it out, in any version.
    plain = dataclasses.asdict(values)
    if plain["unit"] is None:
        del plain["unit"]
    return plain


def _item_to_plain(item: Item | None) -> dict[str, Any]:
    if item is None:
        return {}
    for level in item.value if isinstance(item.value, tuple) else (item.value,):
        if not isinstance(level, (bool, int, float, str, type(None))):
            raise TypeError(
                f"levels of type {type(level).__name__!r} of the item {item.name!r} cannot be "
                "saved; make them text or numbers"
            )
    value = list(item.value) if isinstance(item.value, tuple) else item.value
    if isinstance(value, float) and not math.isfinite(value):
        value = str(value)  # a threshold that no number reaches; JSON has no infinity
    plain: dict[str, Any] = {"variable": item.variable, "kind": item.kind}
    if value is not None:
        plain["value"] = value
    if item.interval is not None:
        plain["interval"] = list(item.interval)
    if item.order is not None:
        plain["order"] = item.order
    if item.special:
        plain["special"] = list(item.special)
    return {"item": plain}


def _cutoffs_to_plain(cutoffs: CutoffRange | None) -> dict[str, Any]:
    return {} if cutoffs is None else {"cutoff_range": dataclasses.asdict(cutoffs)}


def _cutoffs_from_plain(plain: Any) -> CutoffRange:
    names = [field.name for field in dataclasses.fields(CutoffRange)]
    if not isinstance(plain, dict) or not set(names) <= set(plain):
        raise ValueError(f"'cutoff_range' must have {', '.join(names)}, got {plain!r}")
    try:
        return CutoffRange(**{name: plain[name] for name in names})
    except ValueError as error:
        raise ValueError(f"'cutoff_range': {error}") from None


def _item_from_plain(name: str, plain: Any, version: int) -> Item:
    if not isinstance(plain, dict) or not {"variable", "kind"} <= set(plain):
        raise ValueError(f"an item must be an object with variable and kind, got {plain!r}")
    value = plain.get("value")
    if isinstance(value, list):
        value = tuple(value)
    elif plain["kind"] in COMPARISONS and value in ("inf", "-inf"):
        value = float(value)
    for level in value if isinstance(value, tuple) else (value,):
        if not isinstance(level, (bool, int, float, str, type(None))):
            raise ValueError(f"levels must be true or false, numbers or text, got {level!r}")
    interval = plain.get("interval")
    if isinstance(interval, list):
        interval = tuple(interval)
    special = plain.get("special", [])
    if special and version < _SPECIAL:
        raise ValueError(
            f"version {version} of the format has no 'special' values: readers of it would take "
            "them for numbers and predict other risks"
        )
    if not isinstance(special, list):
        raise ValueError(f"'special' of an item must be a list, got {special!r}")
    order = plain.get("order")
    return Item(name, plain["variable"], plain["kind"], value, interval, tuple(special), order)


def _weighting_to_plain(weighting: ClassWeighting | None) -> dict[str, Any]:
    # Like a unit, it changes no prediction, and may be left out in any version.
    return {} if weighting is None else {"class_weighting": dataclasses.asdict(weighting)}


def _weighting_from_plain(plain: Any) -> ClassWeighting | None:
    if plain is None:
        return None
    names = [field.name for field in dataclasses.fields(ClassWeighting)]
    if not isinstance(plain, dict) or not set(names) <= set(plain):
        raise ValueError(f"'class_weighting' must have {' and '.join(names)}, got {plain!r}")
    try:
        return ClassWeighting(*(plain[name] for name in names))
    except ValueError as error:
        raise ValueError(f"'class_weighting': {error}") from None


def _csv_format_from_plain(plain: Any) -> CsvFormat | None:
    if plain is None:
        return None
    try:
        return CsvFormat.from_plain(plain)
    except ValueError as error:
        raise ValueError(f"'csv_format': {error}") from None


def _recalibration_to_plain(recalibration: Recalibration | None) -> dict[str, Any]:
    if recalibration is None:
        return {}
    plain = dataclasses.asdict(recalibration)
    if plain["n_positive"] is None:  # what earlier versions do not know
        del plain["n_positive"]
    return {"recalibration": plain}


def _recalibration_from_plain(plain: Any, version: int) -> Recalibration | None:
    if plain is None:
        return None
    if version < _RECALIBRATED:
        raise ValueError(
            f"version {version} of the format has no 'recalibration': readers of it would ignore "
            "it and predict other risks"
        )
    wanted = [field.name for field in dataclasses.fields(Recalibration)]
    needed = [name for name in wanted if not name.startswith("n_")]
    if not isinstance(plain, dict) or not set(needed) <= set(plain):
        raise ValueError(f"'recalibration' must have {listing(needed)}, got {plain!r}")
    try:
        return Recalibration(**{name: plain[name] for name in wanted if name in plain})
    except (TypeError, ValueError) as error:
        raise ValueError(f"'recalibration': {error}") from None


def _operating_point_from_plain(plain: Any, version: int) -> DecisionThreshold | None:
    if plain is None:
        return None
    if version < _RULE:
        raise ValueError(
            f"version {version} of the format has no 'operating_point': readers of it would ignore "
            "it and call other rows positive"
        )
    try:
        return DecisionThreshold.from_dict(plain)
    except ValueError as error:
        raise ValueError(f"'operating_point': {error}") from None


def _prevalence_from_plain(plain: Any) -> float | None:
    if plain is None:
        return None
    try:
        return checked_prevalence(plain, "'prevalence'")
    except TypeError as error:
        raise ValueError(str(error)) from None


def certificate_to_plain(certificate: Certificate) -> dict[str, Any]:
    """Return a certificate as values of JSON.

    Parameters
    ----------
    certificate : Certificate

    Returns
    -------
    dict
    """
    # JSON has no infinity: "inf" is text there.
    return {
        name: str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in certificate.to_dict().items()
    }


def certificate_from_plain(plain: Any, version: int) -> Certificate | None:
    """Read what :func:`certificate_to_plain` returned.

    Parameters
    ----------
    plain : object
    version : int
        Of the format of scores that it is in.

    Returns
    -------
    Certificate or None
        None for null.

    Raises
    ------
    ValueError
        It is no certificate.
    """
    if plain is None:
        return None
    if not isinstance(plain, dict):
        raise ValueError(f"'certificate' must be an object, got {plain!r}")
    values = dict(plain)
    for name in _REALS:
        if values.get(name) in ("inf", "-inf", "nan"):
            values[name] = float(values[name])
        elif name in values:
            values[name] = checked_number(values[name], f"{name!r} of the certificate")
    for name in ("model_size", "n_samples"):
        if name in values:
            values[name] = checked_integer(values[name], f"{name!r} of the certificate")
            if values[name] < 0:
                raise ValueError(
                    f"{name!r} of the certificate must not be negative, got {values[name]}"
                )
    for name in ("engine", "message"):
        if not isinstance(values.get(name, ""), str):
            raise ValueError(f"{name!r} of the certificate must be text, got {values[name]!r}")
    if "scale" in values:
        values["scale"] = checked_scale(values["scale"], "'scale' of the certificate")
    if "scales" in values:
        try:
            ScaleSet.from_plain(values["scales"])
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"'scales' of the certificate: {error}") from None
    if values.get("ridge") and version < _RIDGE:
        raise ValueError(
            f"version {version} of the format has no 'ridge': readers of it would take the ridge "
            "penalty in the objective for prices of features"
        )
    if values.get("rule") is not None:
        if version < _RULE:
            raise ValueError(
                f"version {version} of the format has no 'rule': readers of it would take the "
                "certificate for one about all scores"
            )
        _check_rule(values["rule"])
    certificate = Certificate.from_dict(values)
    gap = values.get("optimality_gap")
    if isinstance(gap, (int, float)) and not math.isclose(
        as_float(gap), certificate.optimality_gap, rel_tol=1e-9, abs_tol=1e-12
    ):
        raise ValueError(
            f"'optimality_gap' of the certificate is {gap!r}, but its objective and bound have a "
            f"gap of {certificate.optimality_gap!r}"
        )
    return certificate


def _check_rule(plain: Any) -> None:
    """Refuse what is no certificate of a rule."""
    try:
        for name in ("threshold", "bound"):
            checked_number(plain[name], f"{name!r} of the rule")
        for name, value in plain["shares"].items():
            checked_number(value, f"{name!r} of the rule")
        RuleCertificate.from_dict(plain)
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise ValueError(f"'rule' of the certificate: {error}") from None


def load(kind: type[RiskScore], path: str | os.PathLike[str]) -> RiskScore:
    """Read a score from a JSON file, as :meth:`riskslim.RiskScore.load` says.

    Parameters
    ----------
    kind : type
        RiskScore.
    path : str or path-like

    Returns
    -------
    RiskScore
    """
    octets = Path(path).read_bytes()
    try:
        return kind(**read(octets, str(path), stacklevel=4))
    except NotAScoreError as error:
        raise ValueError(
            f"{path}: {error}; expected a file that riskslim fit --output or RiskScore.save wrote"
        ) from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def read(text: str | bytes, source: str = "the text", *, stacklevel: int = 3) -> dict[str, Any]:
    """Read what :func:`write` wrote.

    A certificate that is not bound to the points by the digest is left out, with a warning.

    Parameters
    ----------
    text : str or bytes
    source : str, default "the text"
        How a warning calls it.
    stacklevel : int, default 3
        Of the warning: the caller of who calls this.

    Returns
    -------
    dict
        Arguments of :class:`~riskslim.RiskScore`.

    Raises
    ------
    NotAScoreError
        The text is something else.
    ValueError
        It is of a newer version, incomplete, a value in it is out of range, or the certificate
        contradicts itself or the score.
    """
    plain = _checked_plain(text)
    version = plain["version"]
    scale = checked_scale(plain.get("scale", 1.0))
    if version == 1 and scale != 1.0:
        raise ValueError(
            f"version 1 of the format has no scale, got {scale!r}: readers of version 1 would "
            "ignore it and predict other risks"
        )
    points, ranges, items, cutoffs = _points_from_plain(plain["points"], version)
    if points and not plain["feature_names"]:
        raise ValueError("'feature_names' is empty: it must have the features in 'points' at least")
    classes = _classes_from_plain(plain["classes"])
    certificate = certificate_from_plain(plain["certificate"], version)
    remarks = remarks_from_plain(plain.get("fit_remarks", []))
    if certificate is not None:
        intercept = checked_points(plain["intercept"], "intercept")
        requirements = requirements_from_plain(plain.get("requirements", []))
        about = (points, items, intercept, scale, classes, requirements, remarks)
        if version < _BOUND:
            _check_certificate(certificate, points.values(), scale)
            reason = f"version {version} of the format does not bind it to the points"
        elif plain["digest"] != _digest(*about, certificate):
            reason = "it, or the score that it is about, was changed since"
        else:
            _check_certificate(certificate, points.values(), scale)
            reason = ""
        if reason:
            warnings.warn(
                f"the certificate in {source} is left out: {reason}",
                UnboundCertificateWarning,
                stacklevel=stacklevel,
            )
            certificate = None
            if version >= _BOUND:  # these, too, were said of the score that it was about
                plain = {**plain, "requirements": []}
                cutoffs = {}
    return {
        "intercept": plain["intercept"],
        "points": points,
        "outcome_name": plain["outcome_name"],
        "classes": classes,
        "feature_names": plain["feature_names"],
        "feature_ranges": ranges,
        "certificate": certificate,
        "scale": scale,
        "variables": _variables_from_plain(plain.get("variables", [])),
        "class_weighting": _weighting_from_plain(plain.get("class_weighting")),
        "items": items,
        "csv_format": _csv_format_from_plain(plain.get("csv_format")),
        "cutoff_ranges": cutoffs,
        "requirements": requirements_from_plain(plain.get("requirements", [])),
        "fit_remarks": remarks,
        "prevalence": _prevalence_from_plain(plain.get("prevalence")),
        "recalibration": _recalibration_from_plain(plain.get("recalibration"), version),
        "labels": labels_from_plain(plain.get("labels", {})),
        "layout": _layout_from_plain(plain.get("layout")),
        "operating_point": _operating_point_from_plain(plain.get("operating_point"), version),
    }


def _checked_plain(text: str | bytes) -> dict[str, Any]:
    """An object with all keys that its version of the format needs."""
    try:
        plain = json.loads(text, object_pairs_hook=without_repetition)
    except (ValueError, RecursionError) as error:
        raise NotAScoreError(f"not a risk score: the text is no valid JSON ({error})") from None
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise NotAScoreError(f'not a risk score: expected a JSON object with "format": "{FORMAT}"')
    version = plain.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise ValueError(f"version of the format must be a positive integer, got {version!r}")
    if version > VERSION:
        raise ValueError(
            f"the risk score is in version {version} of the format, and this riskslim, version "
            f"{__version__}, reads up to version {VERSION}: a newer riskslim is needed"
        )
    wanted = ["outcome_name", "classes", "intercept", "points", "feature_names", "certificate"]
    if version > 1:
        wanted.append("scale")
    if version >= _BOUND and plain.get("certificate") is not None:
        wanted.append("digest")
    missing = [name for name in wanted if name not in plain]
    if missing:
        raise ValueError(f"the risk score is incomplete: it lacks {', '.join(missing)}")
    for name, kind in (("outcome_name", str), ("classes", list), ("feature_names", list)):
        if not isinstance(plain[name], kind):
            raise ValueError(f"{name!r} must be a {kind.__name__}, got {plain[name]!r}")
    return plain


def without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of JSON; of a key that is given twice, a parser would drop one value silently.

    Parameters
    ----------
    pairs : list of (key, value)

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        A key is given twice.
    """
    plain = dict(pairs)
    if len(plain) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} is given more than once in an object")
    return plain


def _check_certificate(
    certificate: Certificate | None, points: Iterable[int], scale: float
) -> None:
    """Check that a certificate is consistent, and can be about a score."""
    if certificate is None:
        return
    if faults := certificate.faults():
        raise ValueError(f"the certificate contradicts itself: {'; '.join(faults)}")
    n_points = sum(value != 0 for value in points)
    for name, has, what in (
        ("model_size", n_points, f"{n_points} features with points"),
        ("scale", scale, f"the scale {scale!r}"),
    ):
        about = getattr(certificate, name)
        if about != has:
            raise ValueError(
                f"the certificate is about another score: its {name} is {about!r}, but this score "
                f"has {what}. A score that was changed by hand has no certificate (None, in JSON "
                "null)"
            )


def _variables_from_plain(entries: Any) -> dict[str, RawVariable]:
    if not isinstance(entries, list):
        raise ValueError(f"'variables' must be a list, got {entries!r}")
    variables: dict[str, RawVariable] = {}
    for k, entry in enumerate(entries):
        try:
            variable = RawVariable.from_plain(entry)
        except (TypeError, ValueError) as error:
            raise ValueError(f"entry {k} of 'variables': {error}") from None
        if variable.name in variables:
            raise ValueError(f"entry {k} of 'variables' repeats the name {variable.name!r}")
        variables[variable.name] = variable
    return variables


def _classes_from_plain(labels: list[Any]) -> tuple[Any, ...]:
    for label in labels:
        if not isinstance(label, (bool, int, float, str)):
            raise ValueError(f"classes must be true or false, numbers or text, got {label!r}")
        if isinstance(label, float) and not math.isfinite(label):
            raise ValueError(f"classes must be finite, got {label!r}")
    return tuple(labels)


def _points_from_plain(
    entries: Any, version: int
) -> tuple[dict[str, int], dict[str, FeatureRange], dict[str, Item], dict[str, CutoffRange]]:
    wanted = ("feature", "points", "minimum", "maximum", "is_integer", "values")
    if not isinstance(entries, list):
        raise ValueError(f"'points' must be a list, got {entries!r}")
    points: dict[str, int] = {}
    ranges: dict[str, FeatureRange] = {}
    items: dict[str, Item] = {}
    cutoffs: dict[str, CutoffRange] = {}
    for k, entry in enumerate(entries):
        missing = [name for name in wanted if not isinstance(entry, dict) or name not in entry]
        if missing:
            raise ValueError(f"entry {k} of 'points' lacks {', '.join(missing)}")
        name = entry["feature"]
        if not isinstance(name, str) or name in points:
            raise ValueError(f"entry {k} of 'points' has no name of its own, got {name!r}")
        points[name] = checked_points(entry["points"], f"points of {name!r}")
        values = entry["values"]
        if not isinstance(entry["is_integer"], bool) or not isinstance(values, list | None):
            raise ValueError(f"entry {k} of 'points', {name!r}, has no valid range")
        try:
            ranges[name] = FeatureRange(
                entry["minimum"],
                entry["maximum"],
                is_integer=entry["is_integer"],
                values=None if values is None else tuple(values),
                unit=entry.get("unit"),
            )
            if entry.get("item") is not None:
                items[name] = _item_from_plain(name, entry["item"], version)
            if entry.get("cutoff_range") is not None:
                cutoffs[name] = _cutoffs_from_plain(entry["cutoff_range"])
        except (TypeError, ValueError) as error:
            raise ValueError(f"entry {k} of 'points', {name!r}: {error}") from None
    return points, ranges, items, cutoffs
