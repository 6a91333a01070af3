"""What exports are written for: names that languages take amiss, and whatever runs them."""

from __future__ import annotations

import json
import math
import operator
import re
import xml.etree.ElementTree as ET

NAMES = [
    "age >= 75", "O'Brien", 'say "hi"', "back`tick", "back\\slash", "new\nline", "tab\t", "cr\rlf",
    "select", "order", "constructor", "__proto__", "score", "risk", "label", "outcome", "t",
    "é ≥ 3", "日本", "💊", "</script><!--", "*/ /* --", "{braces}", "%s %(x)d", "$1 :name ?",
    "points", "record", "math", "&lt;<>&", "]]>", " leading", "\u2028", "'''", '"""', "\\",
    "null", "a;b", "[brackets]", "riskslim score", "riskslim risk", "rowid", "true", "0",
]  # fmt: skip


def identifier(name):
    return '"' + name.replace('"', '""') + '"'


def run_python(score):
    namespace = {}
    exec(compile(score.to_python(), "exported.py", "exec"), namespace)
    return namespace["predict_risk"]


def run_javascript(context, score, records):
    context.eval(score.to_javascript())
    argument = json.dumps(json.dumps(records))
    results = context.eval(f"JSON.stringify(JSON.parse({argument}).map(predictRisk))")
    return [(result["risk"], result["score"]) for result in json.loads(results)]


def run_sql(database, score, dialect, **options):
    query = score.to_sql(dialect, table="patients", **options)
    rows = database.execute(f"{query} ORDER BY position").fetchall()
    expression = score.to_sql(dialect, **options)
    alone = database.execute(f"SELECT {expression} FROM patients ORDER BY position").fetchall()
    assert [row[-1] for row in rows] == [risk for (risk,) in alone]
    return [(row[-1], row[0]) for row in rows]


class Pmml:
    """Strict about the order of elements: it is that of the schema of PMML 4.4."""

    def __init__(self, text):
        root = ET.fromstring(text)
        for element in root.iter():
            prefix, element.tag = element.tag[1:].split("}")
            assert prefix == "http://www.dmg.org/PMML-4_4"
        assert (root.tag, root.get("version")) == ("PMML", "4.4")
        header, dictionary, self.model = root
        assert (header.tag, dictionary.tag) == ("Header", "DataDictionary")
        fields = dictionary.findall("DataField")
        assert len(fields) == len(dictionary) == int(dictionary.get("numberOfFields"))
        self.types = {field.get("name"): field.get("dataType") for field in fields}
        assert len(self.types) == len(fields)
        self.inputs = {field.get("name"): field for field in fields[1:]}
        tags = [element.tag for element in self.model]
        parts = ["MiningSchema", "Output", "LocalTransformations", *["RegressionTable"] * 2]
        assert tags == parts
        schema, self.output, self.derived, *self.tables = self.model
        (target,) = (field for field in schema if field.get("usageType") == "target")
        self.target = target.get("name")
        assert self.target == fields[0].get("name")
        self.treatments = {one.get("name"): one.get("missingValueTreatment") for one in schema}
        assert {field.get("name") for field in schema} == set(self.types)
        labels = [value.get("value") for value in fields[0].iter("Value")]
        assert {table.get("targetCategory") for table in self.tables} == set(labels)
        named = [*self.types, *(one.get("name") for one in [*self.output, *self.derived])]
        assert len(named) == len(set(named))

    def predict(self, record):
        fields = {}
        for name, field in self.inputs.items():
            value = record.get(name)
            if value is None or value != value:
                if self.treatments[name] != "asIs":
                    return None
                fields[name] = None
                continue
            parse = PARSERS[field.get("dataType")]
            if parse is str and not isinstance(value, str):
                value = str(value).lower() if isinstance(value, bool) else str(value)
            known = [parse(one.get("value")) for one in field.iter("Value")
                     if one.get("property", "valid") == "valid"]  # fmt: skip
            if not (value in known or any(inside(one, value) for one in field.iter("Interval"))):
                return None
            fields[name] = parse(value)
        for field in self.derived:
            (expression,) = field
            fields[field.get("name")] = value_of(expression, fields)
        assert self.model.get("normalizationMethod") == "none"
        predicted, other = self.tables
        (predictor,) = predicted
        assert (predicted.get("intercept"), predictor.get("coefficient")) == ("0", "1")
        assert (other.get("intercept"), len(other)) == ("0", 0)
        risk = fields[predictor.get("name")]
        results = {}
        for field in self.output:
            assert field.get("feature") == "transformedValue"
            (expression,) = field
            results[field.get("name").rstrip("_")] = value_of(expression, fields)
        assert results["risk"] == risk
        return results


def inside(interval, value):
    left, right = (float(interval.get(side)) for side in ("leftMargin", "rightMargin"))
    above = {"closed": value >= left, "open": value > left}
    below = {"Closed": value <= right, "Open": value < right}
    side, other = re.fullmatch("(open|closed)(Open|Closed)", interval.get("closure")).groups()
    return above[side] and below[other]


PARSERS = {
    "double": float,
    "integer": int,
    "string": str,
    "boolean": lambda text: {"true": True, "false": False}[text],
}


PMML_TYPES = {float: "double", int: "integer", str: "string", bool: "boolean"}


def value_of(expression, fields):
    if expression.tag == "Constant":
        return PARSERS[expression.get("dataType")](expression.text or "")
    if expression.tag == "FieldRef":
        return fields[expression.get("field")]
    if expression.tag == "Discretize":
        value, parse = fields[expression.get("field")], PARSERS[expression.get("dataType")]
        found = [one.get("binValue") for one in expression if inside(one.find("Interval"), value)]
        assert len(found) <= 1
        return parse(found[0]) if found else None
    if expression.tag == "NormDiscrete":
        value, text = fields[expression.get("field")], expression.get("value")
        if value is None:
            return float(expression.get("mapMissingTo"))
        return float(value == type(value)(PARSERS[PMML_TYPES[type(value)]](text)))
    assert expression.tag == "Apply"
    if expression.get("function") == "if":
        condition, then, otherwise = expression
        return value_of(then if value_of(condition, fields) else otherwise, fields)
    values = [value_of(argument, fields) for argument in expression]
    return FUNCTIONS[expression.get("function")](*values)


def exponential(value):
    return math.exp(value) if value < 709 else math.inf


def comparison(compare):
    def compared(a, b):
        assert a is not None, "some evaluators compare no missing value"
        return compare(a, b)

    return compared


FUNCTIONS = {
    "greaterOrEqual": comparison(operator.ge),
    "lessOrEqual": comparison(operator.le),
    "greaterThan": comparison(operator.gt),
    "lessThan": comparison(operator.lt),
    "equal": comparison(operator.eq),
    "+": lambda a, b: a + b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "exp": exponential,
    "isMissing": lambda value: value is None,
}
