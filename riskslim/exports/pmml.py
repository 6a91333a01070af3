"""A score as a PMML document."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from riskslim._version import __version__
from riskslim.exports.common import LARGEST_NUMBER, free_name, headline_of, tabled_risks
from riskslim.exports.terms import Term, chosen_inputs, is_truth_value, terms_of
from riskslim.score.lines import shift_of
from riskslim.score.link import link_of

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = ["to_pmml"]

# ---------------------------------------------------------------------------------------------
# PMML
# ---------------------------------------------------------------------------------------------

_NUMBER = {"optype": "continuous", "dataType": "double"}
# Features that are added up one after the other.
_SUMMANDS = 100

_NAMESPACE = "http://www.dmg.org/PMML-4_4"

# What XML 1.0 cannot hold, escaped or not.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_PMML_COMPARISONS = {
    ">=": "greaterOrEqual", "<=": "lessOrEqual", ">": "greaterThan", "<": "lessThan",
}  # fmt: skip

# Texts of what evaluators make of False and True. As truth values some would read 1 and True alike.
_TRUTH_TEXTS = ("false", "False", "FALSE"), ("true", "True", "TRUE")

# Below this, whole numbers have two texts in all evaluators: "12" and "12.0".
_PLAIN_TEXT_LIMIT = 10**7

# Of text this is a missing value: evaluators get it where records have NaN, as pandas does.
_NAN = "NaN"

# What is finite, in the sense of the fields of PMML.
_FINITE_INTERVAL = {
    "closure": "closedClosed",
    "leftMargin": f"-{LARGEST_NUMBER}",
    "rightMargin": LARGEST_NUMBER,
}


def to_pmml(score: RiskScore, *, inputs: str | None = None) -> str:
    """Write a risk score as PMML 4.4.

    Parameters
    ----------
    score : RiskScore
    inputs : {"raw", "items"}, optional
        As in :func:`to_python`.

    Returns
    -------
    str
        A document with a RegressionModel for classification. Its inputs are the features with
        points, or the raw columns; its outputs are `risk`, `score`, `label`, and the target field,
        which is named after the outcome. A name that is taken gets underscores at its end. An
        evaluator refuses records whose values are missing, infinite or no numbers, or gives no
        result for them; of raw columns also unknown levels, while missing values are taken where
        the training data had some. Raw columns of 0 and 1, or of True and False, are fields of
        text, so that evaluators that take a truth value in a field of numbers for a missing one
        read them as they are; pass numbers or truth values all the same.

    Raises
    ------
    ValueError
        A name, level or label has characters that XML cannot hold, both labels read the same, or
        ``inputs`` as in :func:`to_python`.

    Notes
    -----
    A Scorecard would give the score but neither classes nor probabilities; coefficients divided by
    the scale, with ``normalizationMethod="logit"``, would round every one of them. Here fields that
    are derived from the inputs hold the score, a Discretize that lists the risks of the scores of
    the training data, and the formula for others. The regression takes the risk that results
    as it is: ``normalizationMethod="none"``. `label` is as
    :meth:`~riskslim.RiskScore.predict` says, at the threshold of the score's operating point if it
    has one; the target field is what evaluators make of the risk, the label that is more likely.
    Where the risk is exactly 50% evaluators may give the
    target field either label.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> from riskslim.exports import to_pmml
    >>> document = to_pmml(RiskScore(-3, {"smoker": 2}))
    >>> for line in document.splitlines():
    ...     if "DataField" in line or "Table" in line:
    ...         print(line.strip())
    <DataField name="outcome" optype="categorical" dataType="integer">
    </DataField>
    <DataField name="smoker" optype="continuous" dataType="double">
    </DataField>
    <RegressionTable intercept="0" targetCategory="1">
    </RegressionTable>
    <RegressionTable intercept="0" targetCategory="0" />
    """
    kind, labels = _pmml_labels(score.classes)
    terms = terms_of(score, chosen_inputs(score, inputs))
    columns = {term.column: term for term in terms}
    levels = [str(level) for term in columns.values() for level in term.levels]
    for text in (score.outcome_name, *labels, *score.points, *columns, *levels):
        if wrong := _NOT_XML.search(text):
            raise ValueError(f"XML cannot hold the character {wrong.group()!r} of {text!r}")
    taken = {*columns, *score.points}
    target, *outputs = (
        free_name(name, taken) for name in (score.outcome_name, "risk", "score", "label")
    )
    fields = [free_name(f"riskslim {what}", taken) for what in ("score", "risk")]

    root = ET.Element("PMML", xmlns=_NAMESPACE, version="4.4")
    header = _add(root, "Header", description=headline_of(score))
    _add(header, "Application", name="riskslim", version=__version__)
    dictionary = _add(root, "DataDictionary", numberOfFields=len(columns) + 1)
    field = _add(dictionary, "DataField", name=target, optype="categorical", dataType=kind)
    for label in labels:
        _add(field, "Value", value=label)
    model = _add(root, "RegressionModel", functionName="classification", normalizationMethod="none")
    schema = _add(model, "MiningSchema")
    _add(schema, "MiningField", name=target, usageType="target")
    for name, term in columns.items():
        _add_input(dictionary, term)
        treatment = "asIs" if term.may_lack else "returnInvalid"
        _add(schema, "MiningField", name=name, missingValueTreatment=treatment)
    _add_outputs(_add(model, "Output"), outputs, fields, kind, labels, score)
    derived = _add(model, "LocalTransformations")
    products = _add_conditions(derived, score, terms, taken)
    _add_derived_fields(derived, score, products, fields, taken)
    predicted = _add(model, "RegressionTable", intercept=0, targetCategory=labels[1])
    _add(predicted, "NumericPredictor", name=fields[1], coefficient=1)
    _add(model, "RegressionTable", intercept=0, targetCategory=labels[0])
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add(parent: ET.Element, tag: str, **attributes: object) -> ET.Element:
    return ET.SubElement(parent, tag, {name: str(value) for name, value in attributes.items()})


def _apply(parent: ET.Element, function: str, *arguments: float | str) -> ET.Element:
    """Add a function of numbers and fields; more arguments may be added to it."""
    call = _add(parent, "Apply", function=function)
    for argument in arguments:
        if isinstance(argument, str):
            _add(call, "FieldRef", field=argument)
        else:
            _add_constants(call, argument)
    return call


def _add_constants(parent: ET.Element, *values: float) -> None:
    for value in values:
        _add(parent, "Constant", dataType="double").text = repr(float(value))


def _pmml_labels(classes: tuple[Any, Any]) -> tuple[str, list[str]]:
    """Type and text of the labels."""
    kind, texts = _pmml_values(classes)
    if texts[0] == texts[1]:
        raise ValueError(f"PMML does not tell the classes {classes!r} apart: rename one of them")
    return kind, texts


def _pmml_levels(term: Term, levels: tuple[Any, ...]) -> tuple[str, list[str]]:
    """Type of the levels of a column, and texts of some of them."""
    kinds = {type(level) for level in term.levels}
    if kinds == {bool}:
        return "string", [text for level in levels for text in _TRUTH_TEXTS[level]]
    if kinds <= {int, float}:
        # In a field of numbers some evaluators take True for a missing value, and NaN for 0.
        if all(level == int(level) and abs(level) < _PLAIN_TEXT_LIMIT for level in term.levels):
            texts = [text for level in levels for text in (f"{int(level)}", f"{int(level)}.0")]
            if is_truth_value(term):
                texts += [text for level in levels for text in _TRUTH_TEXTS[level]]
            return "string", texts
        if kinds != {int}:
            return "double", [repr(float(level)) for level in levels]
    return _pmml_values(levels)


def _pmml_values(values: tuple[Any, ...]) -> tuple[str, list[str]]:
    """Type and texts of values."""
    kinds = {type(value) for value in values}
    names = {bool: "boolean", int: "integer", float: "double"}
    kind = names.get(next(iter(kinds)), "string") if len(kinds) == 1 else "string"
    return kind, [str(one).lower() if isinstance(one, bool) else str(one) for one in values]


def _add_input(dictionary: ET.Element, term: Term) -> None:
    """Add a field with the values that it may have."""
    if not term.levels:
        field = _add(dictionary, "DataField", name=term.column, **_NUMBER)
        _add(field, "Interval", **_FINITE_INTERVAL)
        return
    kind, texts = _pmml_levels(term, term.levels)
    field = _add(dictionary, "DataField", name=term.column, optype="categorical", dataType=kind)
    for text in texts:
        _add(field, "Value", value=text)
    if kind == "string" and _NAN not in texts:
        _add(field, "Value", value=_NAN, property="missing")


def _add_conditions(
    parent: ET.Element, score: RiskScore, terms: Iterable[Term], taken: set[str]
) -> list[tuple[str, int]]:
    """Add a field for each condition; what is summed up: fields, and the points of each."""
    products = []
    for name, term in zip(score.points, terms, strict=True):
        if term.kind == "number":
            products.append((term.column, term.points))
            continue
        field = free_name(f"riskslim {name}", taken)
        products.append((field, term.points))
        derived = _add(parent, "DerivedField", name=field, **_NUMBER)
        if term.levels and term.kind != "missing":
            _add_indicators(derived, term.column, _pmml_levels(term, term.value)[1])
        else:
            _add_condition(derived, term)
    return products


def _add_indicators(parent: ET.Element, column: str, levels: list[str]) -> None:
    """Add 1 where a column has one of some levels, 0 elsewhere and where it is missing."""
    *earlier, level = levels
    if earlier:
        parent = _add(parent, "Apply", function="+")
        _add_indicators(parent, column, earlier)
    # In the text of a constant evaluators lose line breaks and what is escaped.
    _add(parent, "NormDiscrete", field=column, value=level, mapMissingTo=0)


def _add_condition(parent: ET.Element, term: Term) -> None:
    """Add 1 where a condition on a number, or on whether there is one, is met, and 0 elsewhere."""
    if term.kind == "missing":
        choice = _choice(parent, "isMissing", term.column)
        _add_constants(choice, 1.0, 0.0)
        return
    if term.may_lack:
        # Not an "and": some evaluators compute all of its arguments, and compare no missing value.
        parent = _choice(parent, "isMissing", term.column)
        _add_constants(parent, 0.0)
    if term.kind == "numbers":
        _add_constants(_add_among(parent, term.column, term.value, 1.0), 0.0)
        return
    parent = _add_among(parent, term.column, term.exceptions, 0.0)
    function, value = _PMML_COMPARISONS[term.operator], float(term.value)
    _add_constants(_choice(parent, function, term.column, value), 1.0, 0.0)


def _add_among(
    parent: ET.Element, column: str, values: Iterable[float], result: float
) -> ET.Element:
    """Add a result where a column has one of some numbers; the element where it has not."""
    for value in values:
        parent = _choice(parent, "equal", column, float(value))
        _add_constants(parent, result)
    return parent


def _choice(parent: ET.Element, function: str, *arguments: float | str) -> ET.Element:
    choice = _add(parent, "Apply", function="if")
    _apply(choice, function, *arguments)
    return choice


def _add_outputs(
    output: ET.Element,
    names: list[str],
    fields: list[str],
    kind: str,
    labels: list[str],
    score: RiskScore,
) -> None:
    (total, risk), shift = fields, shift_of(score)
    for name, field in zip(names, (risk, total), strict=False):
        derived = _add(output, "OutputField", name=name, feature="transformedValue", **_NUMBER)
        if field == total and shift:  # as on the sheet
            _apply(derived, "+", total, shift)
        else:
            _add(derived, "FieldRef", field=field)
    categorical = {"optype": "categorical", "dataType": kind}
    derived = _add(output, "OutputField", name=names[2], feature="transformedValue", **categorical)
    if score.operating_point is not None:
        limit = score.operating_point.threshold
        choice = _add(derived, "Discretize", field=total, dataType=kind)
        entry = _add(choice, "DiscretizeBin", binValue=labels[0])
        _add(entry, "Interval", closure="closedOpen", leftMargin=f"-{LARGEST_NUMBER}",
             rightMargin=limit)  # fmt: skip
        entry = _add(choice, "DiscretizeBin", binValue=labels[1])
        _add(entry, "Interval", closure="closedClosed", leftMargin=limit,
             rightMargin=LARGEST_NUMBER)  # fmt: skip
        return
    choice = _add(derived, "Discretize", field=risk, dataType=kind)
    entry = _add(choice, "DiscretizeBin", binValue=labels[0])
    _add(entry, "Interval", closure="closedClosed", leftMargin=0, rightMargin=0.5)
    entry = _add(choice, "DiscretizeBin", binValue=labels[1])
    _add(entry, "Interval", closure="openClosed", leftMargin=0.5, rightMargin=1)


def _add_derived_fields(
    parent: ET.Element,
    score: RiskScore,
    products: list[tuple[str, int]],
    fields: list[str],
    taken: set[str],
) -> None:
    def field(name: str) -> ET.Element:
        return _add(parent, "DerivedField", name=name, **_NUMBER)

    total, risk = fields
    _add_sum(field(total), products)
    tabled = tabled_risks(score)
    formula = free_name("riskslim formula", taken) if tabled else risk
    quotient = _apply(field(formula), "/", 1.0)
    exponential = _apply(_apply(quotient, "+", 1.0), "exp")
    # Divided by -scale: one rounding, as in predictions.
    log_odds = _add(exponential, "Apply", function="/")
    link = link_of(score)
    _apply(log_odds, "+", link.intercept, total)
    _add_constants(log_odds, -link.scale)
    if not tabled:
        return
    known = free_name("riskslim risk of known score", taken)
    bins = _add(field(known), "Discretize", field=total, dataType="double")
    for value, probability in tabled.items():
        entry = _add(bins, "DiscretizeBin", binValue=repr(probability))
        _add(entry, "Interval", closure="closedClosed", leftMargin=value, rightMargin=value)
    choice = _apply(field(risk), "if")
    _apply(choice, "isMissing", known)
    _add(choice, "FieldRef", field=formula)
    _add(choice, "FieldRef", field=known)


def _add_sum(parent: ET.Element, items: list[tuple[str, int]]) -> None:
    """Add points times values, from the first to the last feature, as predictions do.

    Sums of sums where there are many: elements within elements without end are more than readers
    of XML, and recursion here, can take.
    """
    if len(items) > _SUMMANDS:
        half = len(items) // 2
        parent = _add(parent, "Apply", function="+")
        _add_sum(parent, items[:half])
        _add_sum(parent, items[half:])
        return
    if not items:
        _add_constants(parent, 0.0)
        return
    *earlier, (name, points) = items
    if earlier:
        parent = _add(parent, "Apply", function="+")
        _add_sum(parent, earlier)
    _apply(parent, "*", points, name)
