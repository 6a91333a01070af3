"""Constraints in TOML files: equal to those made in Python, and errors that say where."""

from __future__ import annotations

import inspect

import pytest

import riskslim
from riskslim import (
    LinearConstraint,
    at_least,
    at_most,
    at_most_variables,
    either_or,
    exactly,
    false_negative_rate_at_most,
    false_positive_rate_at_most,
    fixed_points,
    if_then,
    items_per_variable,
    minimum_points,
    model_size,
    monotone,
    not_both,
    operating_point_at_least,
    points_in,
    rate_gap_at_most,
    risk_at_least,
    risk_at_most,
    variable,
)
from riskslim.constraints.base import Constraint
from riskslim.constraints.files import KINDS, read_constraints

EXAMPLES = {
    "at_most": [
        ('n = 2\nfeatures = ["age >= 40", "age >= 60"]', at_most(2, ["age >= 40", "age >= 60"])),
        ('n = 1\nvariable = "age"', at_most(1, variable("age"))),
        (
            'n = 1\nfeatures = ["BMI", {variable = "age"}]\nname = "one"',
            at_most(1, ["BMI", variable("age")], name="one"),
        ),
    ],
    "at_least": [('n = 1\nfeatures = ["a", "b"]', at_least(1, ["a", "b"]))],
    "exactly": [('n = 2\nfeatures = ["a", "b", "c"]', exactly(2, ["a", "b", "c"]))],
    "model_size": [
        ("least = 2\nmost = 4", model_size(2, 4)),
        ('most = 4\nname = "size"', model_size(0, 4, name="size")),
        ("least = 2", model_size(2)),
    ],
    "either_or": [('a = "weight"\nb = "BMI"', either_or("weight", "BMI"))],
    "not_both": [
        ('a = "age"\nb = ["age >= 40", "x"]', not_both("age", ["age >= 40", "x"])),
        (
            'a = {variable = "age"}\nb = [{variable = "BMI"}, "x"]',
            not_both(variable("age"), [variable("BMI"), "x"]),
        ),
    ],
    "if_then": [
        ('if = "male"\nthen = ["a", "BMI >= 30"]', if_then("male", ["a", "BMI >= 30"])),
        ('if = ["a", "b"]\nthen = {variable = "age"}', if_then(["a", "b"], variable("age"))),
    ],
    "at_most_variables": [
        ("n = 3", at_most_variables(3)),
        (
            'n = 1\ngroups = {age = ["age >= 40", "decades"], BMI = "BMI", c = {variable = "c"}}',
            at_most_variables(
                1, {"age": ["age >= 40", "decades"], "BMI": ["BMI"], "c": [variable("c")]}
            ),
        ),
        (
            'n = 1\ngroups = [{variable = "age"}, ["LDL", "HDL"]]',
            at_most_variables(1, [variable("age"), ["LDL", "HDL"]]),
        ),
    ],
    "monotone": [
        ('variable = "age"\nsign = "+"', monotone(variable("age"), "+")),
        ('features = "exercise"\nsign = "-"', monotone("exercise", "-")),
        ('sign = "auto"', monotone()),
        ('variable = "age"\nsign = "auto"', monotone(variable("age"), "auto")),
    ],
    "items_per_variable": [("n = 2", items_per_variable(2))],
    "points_in": [('features = "age"\nvalues = [0, 2, 5]', points_in("age", [0, 2, 5]))],
    "minimum_points": [('features = ["a", "b"]\nn = 2', minimum_points(["a", "b"], 2))],
    "fixed_points": [('features = "age"\nn = 3', fixed_points("age", 3))],
    "risk_at_least": [
        (
            "risk = 0.9\nwhere = {male = 1, hypertension = true}",
            risk_at_least(0.9, where={"male": 1, "hypertension": 1}),
        ),
        (
            'risk = 0.9\nwhere = {age = [">=", 60]}\nname = "old"',
            risk_at_least(0.9, where={"age": (">=", 60)}, name="old"),
        ),
    ],
    "risk_at_most": [
        ("risk = 0.05\nprofile = {}", risk_at_most(0.05, profile={})),
        ('risk = 0.05\nprofile = {"age >= 60" = 1}', risk_at_most(0.05, profile={"age >= 60": 1})),
        ("risk = 0.2\nwhere = {male = 0}", risk_at_most(0.2, where={"male": 0})),
    ],
    "linear": [
        (
            'points = {"age >= 60" = 1, "age >= 40" = -1, "(intercept)" = 2}\nlower = 0',
            LinearConstraint(points={"age >= 60": 1, "age >= 40": -1, "(intercept)": 2}, lower=0),
        ),
        (
            'used = [{variable = "age", coefficient = 3}, {feature = "b", coefficient = 0.5}]\n'
            'upper = 4\nname = "budget"',
            LinearConstraint(used={variable("age"): 3, "b": 0.5}, upper=4, name="budget"),
        ),
        (
            "lower = -1.5\nupper = 10\n"
            'any_used = [{features = ["LDL", "HDL"], coefficient = 9},'
            ' {variable = "glucose", coefficient = 4}]',
            LinearConstraint(
                any_used={("LDL", "HDL"): 9, variable("glucose"): 4}, lower=-1.5, upper=10
            ),
        ),
    ],
    "false_positive_rate_at_most": [
        ("rate = 0.1\nthreshold = 0.3", false_positive_rate_at_most(0.1, 0.3)),
        ("rate = 0.1\nlog_odds = -1", false_positive_rate_at_most(0.1, log_odds=-1)),
    ],
    "false_negative_rate_at_most": [
        ("rate = 0.2\nthreshold = 0.5", false_negative_rate_at_most(0.2, 0.5)),
    ],
    "operating_point_at_least": [
        (
            "sensitivity = 0.95\nspecificity = 0.4",
            operating_point_at_least(sensitivity=0.95, specificity=0.4),
        ),
        (
            'sensitivity = 0.9\nrows = "male"\nname = "men"',
            operating_point_at_least(sensitivity=0.9, rows="male", name="men"),
        ),
        (
            "specificity = 0.3\nrows = {male = 0}",
            operating_point_at_least(specificity=0.3, rows={"male": 0}),
        ),
    ],
    "rate_gap_at_most": [
        (
            'gap = 0.05\nrate = "positive"\ngroups = "male"\nthreshold = 0.5\nname = "fair"',
            rate_gap_at_most(0.05, "positive", groups="male", threshold=0.5, name="fair"),
        ),
    ],
}


def written(tmp_path, text):
    path = tmp_path / "constraints.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", EXAMPLES)
def test_tables_are_what_python_makes(tmp_path, kind):
    text = "\n".join(f"[[{kind}]]\n{table}" for table, _ in EXAMPLES[kind])
    expected = [constraint for _, constraint in EXAMPLES[kind]]
    found = read_constraints(written(tmp_path, text))
    assert found == expected
    assert [one.name for one in found] == [one.name for one in expected]


def test_every_kind_of_constraint_has_a_table():
    assert set(EXAMPLES) == set(KINDS)
    functions = set()
    for name in set(riskslim.__all__) - {"RiskScoreProblem"}:
        returns = str(getattr(getattr(riskslim, name), "__annotations__", {}).get("return", ""))
        if "Constraint" in returns or returns == "_SizeLimit":
            functions.add(name)
    assert {"at_most", "model_size", "at_most_variables", "monotone"} <= functions
    assert functions <= set(KINDS)


def test_every_argument_has_a_key():
    for kind in KINDS.values():
        arguments = {key.argument for key in kind.keys.values()}
        assert arguments == set(inspect.signature(kind.function).parameters)


def test_the_order_is_that_of_the_file(tmp_path):
    text = """# requirements of the ward
[[at_most]]
n = 1
variable = "age"

  [[ "model_size" ]]
most = 3

[[at_most]]  # again
n = 1
variable = "BMI"
"""
    found = read_constraints(written(tmp_path, text))
    assert found == [at_most(1, variable("age")), model_size(0, 3), at_most(1, variable("BMI"))]
    assert all(isinstance(one, Constraint) for one in found)


def test_other_ways_of_writing_tables(tmp_path):
    text = 'at_most = [{n = 1, features = ["a", "b"]}]\n'
    assert read_constraints(written(tmp_path, text)) == [at_most(1, ["a", "b"])]
    # A text that looks like the head of a table: lines are not known then, the tables are.
    text = '[[model_size]]\nmost = 3\nname = """\n[[model_size]]\n"""\n'
    assert read_constraints(written(tmp_path, text)) == [model_size(0, 3, name="[[model_size]]\n")]
    assert read_constraints(written(tmp_path, "\ufeff# nothing\n")) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[at_most]\n", "cannot be read as TOML: .*line 1"),
        ("[at_most]\nn = 1", r"at_most must be written as \[\[at_most\]\], with two brackets"),
        ("at_most = 3", r"must be written as \[\[at_most\]\].* got int"),
        (
            "\n[[atmost]]\nn = 1",
            r"\[\[atmost\]\] \(line 2\): there is no such constraint \(did you mean 'at_most'",
        ),
        (
            "[[model_size]]\nmost = 2\n[[at_most]]\nn = 1\nfeature = ['a']",
            r"\[\[at_most\]\] \(line 3\): unknown key 'feature' \(did you mean 'features'\?\); "
            "expected n, features, name, variable",
        ),
        ("at_most = [{n = 1}]", r"\[\[at_most\]\] \(table 1\): lacks 'features'"),
        ("[[if_then]]\nname = 'x'", r"\(line 1\): lacks 'if' and 'then'"),
        ("[[at_most]]\nn = 1\nvariable = 'a'\nfeatures = ['b']", "features or variable, not both"),
        ("[[at_most]]\nn = 'two'\nvariable = 'age'", "must be an int, got 'two'"),
        (
            "[[at_most]]\nn = 1\nvariable = 3",
            "key 'features': the name of a variable",
        ),
        ("[[at_most]]\nn = 1\nfeatures = [{var = 'a'}]", "key 'features': unknown key 'var'"),
        ("[[at_most]]\nn = 1\nfeatures = 'a'", "expected several names of features"),
        ("[[at_most]]\nn = 1\nfeatures = [{}]", "key 'features': {} lacks variable"),
        ("[[points_in]]\nfeatures = 'a'\nvalues = 3", "key 'values': expected a list"),
        ("[[risk_at_least]]\nrisk = 2\nwhere = {a = 1}", r"\(line 1\): the risk must be between"),
        ("[[risk_at_least]]\nrisk = 0.5", "give conditions"),
        ("[[risk_at_least]]\nrisk = 0.5\nwhere = 3", "where and profile must map"),
        ("[[risk_at_least]]\nrisk = 0.5\nwhere = {a = ['~', 1]}", "the operator for 'a'"),
        ("[[linear]]\nupper = 1\nany_used = {a = 1}", "key 'any_used': expected a list such as"),
        ("[[linear]]\nupper = 1\nused = ['a']", "key 'used': expected tables with feature and"),
        ("[[linear]]\nupper = 1\nused = [{feature = 'a'}]", "lacks coefficient"),
        ("[[linear]]\nupper = 1\nused = [{coefficient = 1}]", "must have one of feature, variable"),
        (
            "[[linear]]\nupper = 1\nused = [{feature = 'a', coefficient = 1},"
            " {feature = 'a', coefficient = 2}]",
            "key 'used': 'a' is given twice",
        ),
        ("[[linear]]\npoints = {a = 1}", "needs a finite lower or upper bound"),
        ("[[at_most_variables]]\nn = 1\ngroups = 3", "key 'groups': expected {age = "),
    ],
)
def test_errors_say_where(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(ValueError, match=message) as caught:
        read_constraints(path)
    assert str(caught.value).startswith(str(path))


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_constraints(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes("name = 'é'".encode("latin-1"))
    with pytest.raises(ValueError, match=r"latin\.toml is not encoded in UTF-8"):
        read_constraints(tmp_path / "latin.toml")


def test_rates_without_a_threshold_are_refused_by_table(tmp_path):
    path = written(tmp_path, "[[false_positive_rate_at_most]]\nrate = 0.1\n")
    with pytest.raises(ValueError, match=r"constraints\.toml.*needs the threshold"):
        read_constraints(path)
