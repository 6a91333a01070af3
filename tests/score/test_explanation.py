"""Explanations: rules equal the score and cannot be shorter; changes do what they say."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, settings

from riskslim import ItemEncoder, RiskScore
from riskslim._wording import percent
from riskslim.data.feature_ranges import FeatureRange
from riskslim.items import read_items
from riskslim.score.boolean_rule import BooleanRule, Literal

# What is odd about values beyond the training data is said elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore::riskslim.exceptions.ExtrapolationWarning")

POINTS = st.lists(st.integers(-6, 6).filter(bool), max_size=10)


def score_of(points, **keywords) -> RiskScore:
    return RiskScore(-1, {f"f{j}": value for j, value in enumerate(points)}, **keywords)


def assignments(score) -> dict[str, np.ndarray]:
    names = list(score.points)
    rows = np.array(list(itertools.product((0, 1), repeat=len(names)))).reshape(2 ** len(names), -1)
    return {name: rows[:, k] for k, name in enumerate(names)}


# --- rules ----------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(POINTS, st.integers(-30, 30) | st.floats(-10, 10))
@example([2, 2, 1, 1], 2)
@example([-1], -0.5)
@example([], 0)
@example([], 1)
def test_a_rule_equals_the_score_on_all_assignments(points, threshold):
    score = score_of(points)
    rule = score.boolean_rule(threshold)
    columns = assignments(score)
    columns["unused"] = np.zeros(2 ** len(points))  # a table has columns
    assert np.array_equal(rule.holds(columns), score.score_samples(columns) >= threshold)
    for term in rule.terms:
        assert all(literal.is_true == (score.points[literal.feature] > 0) for literal in term)


def implicants(truth: np.ndarray, n: int) -> list[frozenset[tuple[int, int]]]:
    """Conjunctions of literals (position, value) under which a function always holds."""
    rows = list(itertools.product((0, 1), repeat=n))
    found = []
    for cube in itertools.product((0, 1, None), repeat=n):
        inside = [
            all(want is None or want == bit for want, bit in zip(cube, row, strict=True))
            for row in rows
        ]
        if truth[inside].all():
            found.append(frozenset((k, want) for k, want in enumerate(cube) if want is not None))
    return found


def fewest_cubes(truth: np.ndarray, cubes: list[frozenset[tuple[int, int]]], n: int) -> int:
    """Least number of implicants that cover a function, by trying all sets of prime ones."""
    rows = list(itertools.product((0, 1), repeat=n))
    covered = [
        sum(1 << i for i, row in enumerate(rows) if all(row[k] == bit for k, bit in cube))
        for cube in cubes
    ]
    wanted = sum(1 << i for i, value in enumerate(truth) if value)
    for size in range(len(cubes) + 1):
        for chosen in itertools.combinations(covered, size):
            union = 0
            for one in chosen:
                union |= one
            if union == wanted:
                return size
    raise AssertionError("the cubes do not cover the function")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-4, 4).filter(bool), min_size=1, max_size=4), st.integers(-8, 8))
@example([2, 2, 1, 1], 2)
@example([1, 1, 1, 1], 2)
@example([3, -2, 2, -1], 1)
def test_no_disjunctive_form_is_shorter(points, threshold):
    score = score_of(points)
    names, n = list(score.points), len(points)
    columns = assignments(score)
    truth = score.score_samples(columns) >= threshold
    rule = score.boolean_rule(threshold)
    found = implicants(truth, n)
    prime = {one for one in found if not any(other < one for other in found)}
    position = {name: k for k, name in enumerate(names)}
    terms = [
        frozenset((position[one.feature], int(one.is_true)) for one in term) for term in rule.terms
    ]
    assert len(terms) == len(set(terms))
    assert set(terms) == prime
    assert fewest_cubes(truth, sorted(prime, key=sorted), n) == len(terms)


def test_a_rule_as_printed():
    score = RiskScore(-3, {"A": 2, "B": 2, "C": 1, "D": 1})
    shown = {threshold: str(score.boolean_rule(threshold)) for threshold in range(8)}
    assert shown == {
        0: "ALWAYS",
        1: "A OR B OR C OR D",
        2: "A OR B OR (C AND D)",
        3: "(A AND B) OR (A AND C) OR (A AND D) OR (B AND C) OR (B AND D)",
        4: "(A AND B) OR (A AND C AND D) OR (B AND C AND D)",
        5: "(A AND B AND C) OR (A AND B AND D)",
        6: "A AND B AND C AND D",
        7: "NEVER",
    }
    negative = RiskScore(0, {"smoker": 2, "exercise": -1})
    assert str(negative.boolean_rule(1)) == "smoker"
    assert str(negative.boolean_rule(2)) == "smoker AND NOT exercise"
    assert str(negative.boolean_rule(0)) == "smoker OR NOT exercise"
    assert str(RiskScore(0, {"a": -1}).boolean_rule(0)) == "NOT a"
    assert str(score.boolean_rule(1.01)) == shown[2]


def test_rules_are_about_conditions():
    ranges = {"age": FeatureRange(2, 9), "weight": FeatureRange(50, 99, unit="kg")}
    score = RiskScore(-3, {"age": 2, "smoker": 1, "weight": 1}, feature_ranges=ranges)
    with pytest.raises(ValueError, match=r"are not: 'age' \[2 to 9\], 'weight' \[50 to 99 kg\]\."):
        score.boolean_rule(2)


@pytest.mark.parametrize("threshold", [math.nan, math.inf, True, "2", None])
def test_thresholds_are_numbers(threshold):
    with pytest.raises(ValueError, match="threshold must be"):
        score_of([1]).boolean_rule(threshold)
    if threshold is not None:
        with pytest.raises(ValueError, match="threshold must be"):
            score_of([1]).explain({"f0": 1}, threshold)


def test_long_rules_are_refused_or_allowed():
    score = score_of([1] * 14)
    with pytest.raises(ValueError, match="at least 7 has more than 1000 terms"):
        score.boolean_rule(7)
    rule = score.boolean_rule(7, max_terms=3432)
    assert len(rule.terms) == math.comb(14, 7) == 3432
    # Size alone is no obstacle.
    assert len(score_of([1] * 400).boolean_rule(1).terms) == 400
    assert len(score_of([1] * 400).boolean_rule(400).terms[0]) == 400


@pytest.mark.parametrize("max_terms", [0, -1, 2.5, "9", None, math.nan])
def test_the_most_terms_are_a_number(max_terms):
    with pytest.raises(ValueError, match="max_terms must be"):
        score_of([1, 1]).boolean_rule(1, max_terms=max_terms)


@pytest.mark.parametrize("library", [dict, pd.DataFrame, pl.DataFrame])
def test_rules_on_tables(library):
    rule = BooleanRule(1, ((Literal("a", True),), (Literal("b", True), Literal("c", False))))
    table = library({"a": [0, 1, 0], "b": [1, 0, 1], "c": [0, 0, 1], "d": [7, 8, 9]})
    assert rule.holds(table).tolist() == [True, True, False]
    assert rule.features == ("a", "b", "c")
    never = BooleanRule(9, ())
    assert never.holds(table).tolist() == [False] * 3
    with pytest.raises(ValueError, match=r"X lacks 1 of the 1 features of the rule: 'e'\."):
        rule_of("e").holds(table)
    with pytest.raises(ValueError, match=r"'d' must have the values 0 and 1 only.* in 3 of 3 rows"):
        rule_of("d").holds(table)


def rule_of(name: str) -> BooleanRule:
    return BooleanRule(1, ((Literal(name, True),),))


def test_rules_on_other_things():
    assert rule_of("a").holds({"a": 1}).tolist() == [True]
    assert rule_of("a").holds([{"a": 1}, {"a": 0}]).tolist() == [True, False]
    with pytest.raises(ValueError, match="a rule needs columns with names"):
        rule_of("a").holds(np.ones((2, 1)))
    with pytest.raises(ValueError, match="could not convert string to float"):
        rule_of("a").holds({"a": ["yes", "no"]})


# --- explanations ---------------------------------------------------------------------------------


@st.composite
def cases(draw):
    n = draw(st.integers(0, 5))
    points = draw(st.lists(st.integers(-5, 5).filter(bool), min_size=n, max_size=n))
    ranges, record = {}, {}
    for j in range(n):
        name = f"f{j}"
        kind = draw(st.sampled_from(["binary", "whole", "real"]))
        if kind == "binary":
            record[name] = draw(st.integers(0, 1))
        elif kind == "whole":
            low = draw(st.integers(-3, 3))
            ranges[name] = FeatureRange(low, low + draw(st.integers(1, 4)))
            record[name] = draw(st.integers(low - 1, low + 5))
        else:
            ranges[name] = FeatureRange(-0.5, 2.25, is_integer=False)
            record[name] = draw(st.sampled_from([-0.5, 0.1, 0.7, 1.0, 2.25]))
    names = [f"f{j}" for j in range(n)]
    score = RiskScore(
        draw(st.integers(-9, 9)),
        dict(zip(names, points, strict=True)),
        feature_names=[*names, "unused"],
        feature_ranges=ranges,
        scale=draw(st.sampled_from([1.0, 2.5])),
    )
    return score, {**record, "unused": 0}


def others(score, record, name) -> list[float]:
    values = score.feature_ranges[name]
    ends = {0, 1} if values.is_binary else {values.minimum, values.maximum}
    return sorted(ends - {record[name]})


def changes_something(score, record, changed, threshold) -> bool:
    """The score, and the risk as printed or the side of the threshold."""
    risks = [percent(score.predict_proba(one)[0, 1], 0.001) for one in (record, changed)]
    return score.score_samples(record)[0] != score.score_samples(changed)[0] and (
        risks[0] != risks[1] or side(score, record, threshold) != side(score, changed, threshold)
    )


@settings(max_examples=60)
@given(cases(), st.none() | st.integers(-20, 20))
def test_explanations_are_what_the_score_says(case, threshold):
    score, record = case
    found = score.explain(record, threshold)
    assert found.score == score.score_samples(record)[0]
    assert found.risk == score.predict_proba(record)[0, 1]
    assert {one.feature: one.total for one in found.contributions} == {
        name: score.points[name] * record[name] for name in score.points
    }
    sizes = [abs(one.total) for one in found.contributions]
    assert sizes == sorted(sizes, reverse=True)
    assert {(one.feature, one.after) for one in found.changes} == {
        (name, after)
        for name in score.points
        for after in others(score, record, name)
        if changes_something(score, record, {**record, name: after}, threshold)
    }
    for one in found.changes:
        changed = {**record, one.feature: one.after}
        assert one.before == record[one.feature]
        assert one.score == score.score_samples(changed)[0]
        assert one.risk == score.predict_proba(changed)[0, 1]
    moves = [abs(one.score - found.score) for one in found.changes]
    assert moves == sorted(moves, reverse=True)
    assert f"is {percent(found.risk, 0.001)}." in str(found).splitlines()[0]


def side(score, record, threshold) -> bool:
    if threshold is None:
        return bool(score.predict(record)[0] == score.classes[1])
    return bool(score.score_samples(record)[0] >= threshold)


@settings(max_examples=60, deadline=None)
@given(cases(), st.none() | st.integers(-20, 20))
def test_no_fewer_changes_lead_to_the_other_side(case, threshold):
    score, record = case
    found = score.explain(record, threshold)
    here = side(score, record, threshold)
    reachable = [
        size
        for size in range(len(score.points) + 1)
        for chosen in itertools.combinations(score.points, size)
        for values in itertools.product(*(others(score, record, name) for name in chosen))
        if side(score, {**record, **dict(zip(chosen, values, strict=True))}, threshold) != here
    ]
    if found.fewest_changes is None:
        assert not reachable
        assert str(found).splitlines()[-1] == f"No change of the items leads to {found.target}."
        return
    assert len(found.fewest_changes) == min(reachable)
    moved = min(
        abs(sum(
            Fraction(value) * score.points[name] - Fraction(record[name]) * score.points[name]
            for name, value in zip(chosen, values, strict=True)
        ))
        for chosen in itertools.combinations(score.points, min(reachable))
        for values in itertools.product(*(others(score, record, name) for name in chosen))
        if side(score, {**record, **dict(zip(chosen, values, strict=True))}, threshold) != here
    )  # fmt: skip
    assert abs(found.fewest_changes[-1].score - found.score) == pytest.approx(float(moved))
    changed = dict(record)
    for one in found.fewest_changes:
        changed[one.feature] = one.after
        assert one.score == score.score_samples(changed)[0]
        assert one.risk == score.predict_proba(changed)[0, 1]
    assert side(score, changed, threshold) != here


def test_an_explanation_as_printed():
    ranges = {"frequency": FeatureRange(0, 3, is_integer=False, unit="Hz")}
    points = {"prior seizure": 2, "frequency": 1, "sedated": -1, "fever": 1}
    score = RiskScore(-3, points, outcome_name="seizure", feature_ranges=ranges)
    record = {"prior seizure": 0, "frequency": 2.5, "sedated": 1, "fever": 0}
    assert (
        str(score.explain(record, 4))
        == """\
Score 1.5: the risk of seizure = 1 is 18.2%.
Points by item:
  +2.5  frequency: 2.5 Hz (x 1 point per Hz)
    -1  sedated: yes (-1 point)
    +0  prior seizure: no (2 points)
    +0  fever: no (1 point)
What would change it, all else equal:
  frequency: 0 Hz in place of 2.5 Hz (score -1, risk 1.8%)
  prior seizure: yes in place of no (score 3.5, risk 62.2%)
  fever: yes in place of no (score 2.5, risk 37.8%)
  sedated: no in place of yes (score 2.5, risk 37.8%)
  frequency: 3 Hz in place of 2.5 Hz (score 2, risk 26.9%)
Fewest changes that lead to a score of at least 4 (score 4, risk 73.1%):
  prior seizure: yes in place of no
  frequency: 3 Hz in place of 2.5 Hz"""
    )


def test_changes_that_change_nothing_are_left_out():
    points = {"age >= 40": 2, "age >= 60": -2, "smoker": 1}
    score = RiskScore(-1, points, items=read_items(points))
    found = score.explain({"age >= 40": 0, "age >= 60": 0, "smoker": 0})
    # From 60 on the points of age cancel out.
    assert [(one.feature, one.score) for one in found.changes] == [("age >= 40", 2), ("smoker", 1)]
    # All risks are printed alike; only what leads to the other side is worth a line.
    certain = RiskScore(20, {"smoker": 2, "BMI": 1})
    none = "No change of one item alone changes the risk as printed."
    found = certain.explain({"smoker": 1, "BMI": 0})
    assert found.changes == ()
    assert none in str(found).splitlines()
    found = certain.explain({"smoker": 1, "BMI": 0}, 2)
    assert [one.feature for one in found.changes] == ["smoker"]
    assert none not in str(found)
    # Nor does what is fixed change anything; a score without points has nothing to say of it.
    assert none in str(score.explain({"age >= 40": 0, "age >= 60": 0, "smoker": 0}, fixed=points))
    assert none not in str(RiskScore(0, {}, feature_names=["a"]).explain({"a": 1}))


def test_large_values_hide_no_others():
    ranges = {"dose": FeatureRange(0, 2.5, is_integer=False), "count": FeatureRange(0, 9)}
    score = RiskScore(-3, {"dose": 5, "count": 1}, feature_ranges=ranges)
    found = score.explain({"dose": 1e300, "count": 7}, 1)
    assert [(one.after, one.score) for one in found.changes] == [(0, 7)]  # others print one risk
    # The dose alone does not lead to a score of 0.
    assert [(one.feature, one.score) for one in found.fewest_changes] == [("dose", 7), ("count", 0)]
    assert "dose: 1e+300 (5 points x value)" in str(found)


def test_ties_are_broken_by_fewer_conditions_and_then_by_the_smaller_move():
    points = {"late >= 2": 2, "late >= 4": 2, "own": -1}
    score = RiskScore(-3, points, items=read_items(points))
    record = {"late >= 2": 1, "late >= 4": 1, "own": 0}
    (change,) = score.explain(record, 3).fewest_changes
    assert (change.feature, change.along, change.score) == ("late >= 4", (), 2)
    (change,) = score.explain(record, 4).fewest_changes
    assert (change.feature, change.score) == ("own", 3)
    (change,) = score.explain(record, 2).fewest_changes
    assert (change.feature, change.along) == ("late >= 2", (("late >= 4", 0),))


@pytest.mark.slow
def test_many_features_take_no_time():
    ranges = {f"x{j}": FeatureRange(0, 1 + j / 64, is_integer=False) for j in range(40)}
    score = RiskScore(0, dict.fromkeys(ranges, 1), feature_ranges=ranges)
    found = score.explain(dict.fromkeys(ranges, 0), 20)
    furthest = sorted((one.maximum for one in ranges.values()), reverse=True)
    n_needed = next(k for k in range(40) if sum(furthest[:k]) >= 20)
    assert len(found.fewest_changes) == n_needed
    assert 20 <= found.fewest_changes[-1].score <= sum(furthest[:n_needed])


def test_what_is_fixed_does_not_change():
    points = {"age >= 40": 1, "age >= 60": 2, "smoker": 2, "BMI": 1}
    score = RiskScore(-3, points, feature_names=[*points, "sex = male"], feature_ranges={
        "BMI": FeatureRange(0, 4)}, items=read_items(points))  # fmt: skip
    record = {"age >= 40": 1, "age >= 60": 1, "smoker": 1, "BMI": 2}
    for fixed, changing in (
        (["age"], {"smoker", "BMI"}), (["BMI", "age >= 60", "sex"], {"smoker"}),
        (["sex = male"], set(points)), (["age", "smoker", "BMI"], set()),
    ):  # fmt: skip
        found = score.explain(record, 4, fixed=fixed)
        assert {one.feature for one in found.changes} == changing
        assert {one.feature for one in found.fewest_changes or ()} <= changing
        assert len(found.contributions) == 4
    assert found.fewest_changes is None
    assert [one.feature for one in score.explain(record, 5, fixed=["age"]).fewest_changes] == [
        "smoker", "BMI"]  # fmt: skip
    with pytest.raises(ValueError, match=r"fixed names .*: 'agee' \(did you mean 'age'\?\)"):
        score.explain(record, fixed=["agee"])
    with pytest.raises(ValueError, match="must be a sequence of names, got the text 'age'"):
        score.explain(record, fixed="age")


def test_no_change_makes_a_value_missing_but_it_may_become_known():
    points = {"income is missing": -3, "income >= 9": -1}
    score = RiskScore(-1, points, items=read_items(points))
    found = score.explain({"income is missing": 0, "income >= 9": 0}, 0)
    assert [one.feature for one in found.changes] == ["income >= 9"]
    (change,) = found.fewest_changes
    assert (change.feature, change.along, change.score) == ("income >= 9", (), -1)
    found = score.explain({"income is missing": 1, "income >= 9": 0}, 0)
    (change,) = found.fewest_changes
    assert (change.feature, change.after, change.score) == ("income is missing", 0, 0)


def test_kinds_of_records():
    score = RiskScore(-3, {"a": 2, "b": 1}, feature_names=["a", "unused", "b"])
    expected = score.explain({"a": 1, "b": 0})
    frame = pd.DataFrame({"a": [1, 0], "b": [0, 1]})
    for record in (
        [1, 0, 0], (1, 0, 0), np.array([1, 0, 0]), np.array([[1, 0, 0]]), [[1, 0, 0]],
        frame.iloc[0], frame.iloc[:1], [{"a": 1, "b": 0}], {"a": [1], "b": [0]},
    ):  # fmt: skip
        assert score.explain(record) == expected
    with pytest.raises(ValueError, match="one record is explained at a time, got 2 rows"):
        score.explain(frame)
    with pytest.raises(ValueError, match="lacks 1 of the 2 features with points: 'b'"):
        score.explain({"a": 1})
    with pytest.raises(ValueError, match="NaN"):
        score.explain({"a": 1, "b": math.nan})


def test_a_score_without_points_cannot_be_changed():
    found = RiskScore(-3, {}, feature_names=["a"]).explain({"a": 1})
    assert (found.score, found.contributions, found.changes) == (0, (), ())
    assert str(found).splitlines() == [
        "Score 0: the risk of outcome = 1 is 4.7%.",
        "No change of the items leads to a risk above 50%.",
    ]


# --- thresholds on data ---------------------------------------------------------------------------


def test_operating_points_are_those_of_the_rules():
    score = RiskScore(-3, {"a": 2, "b": -1, "c": 1}, classes=("no", "yes"))
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.integers(0, 2, (200, 3)), columns=list("abc"))
    positive = rng.random(200) < score.predict_proba(X)[:, 1]
    weights = rng.integers(0, 4, 200) / 2
    found = score.operating_points(X, np.where(positive, "yes", "no"), weights)
    assert found.thresholds.tolist() == [math.inf, 3, 2, 1, 0, -1]
    assert math.isnan(found.risk[0])
    assert found.risk[1:] == pytest.approx(1 / (1 + np.exp([0, 1, 2, 3, 4])))
    for k, threshold in enumerate(found.thresholds[1:], start=1):
        called = score.boolean_rule(threshold).holds(X)
        assert found.sensitivity[k] == pytest.approx(
            np.average(called[positive], weights=weights[positive])
        )
        assert found.specificity[k] == pytest.approx(
            np.average(~called[~positive], weights=weights[~positive])
        )
        assert found.ppv[k] == pytest.approx(np.average(positive[called], weights=weights[called]))
        if not called.all():
            assert found.npv[k] == pytest.approx(
                np.average(~positive[~called], weights=weights[~called])
            )


def test_operating_points_need_both_classes():
    score = RiskScore(-3, {"a": 2}, classes=("no", "yes"))
    with pytest.raises(ValueError, match="class"):
        score.operating_points({"a": [0, 1]}, ["no", "no"])
    with pytest.raises(ValueError, match="neither 'no' nor 'yes'"):
        score.operating_points({"a": [0, 1]}, ["no", "maybe"])
    with pytest.raises(ValueError, match="rows and labels are needed"):
        score.operating_points(None, None)


@pytest.mark.parametrize("with_cutoff", [True, False])
def test_no_change_makes_a_known_value_a_special_one(with_cutoff):
    raw = pd.DataFrame({"months": [1, 5, 20, 40, 999], "age": [30, 40, 50, 60, 70]})
    encoder = ItemEncoder(
        thresholds={"months": [12], "age": [50]}, special_values={"months": [999]}
    ).fit(raw)
    points = {"months = 999": -3, "age >= 50": 1, **({"months >= 12": 2} if with_cutoff else {})}
    score = RiskScore(-1, points).with_variables(encoder)
    known = score.explain({"months": 20, "age": 60}, -2)
    assert "months = 999" not in {change.feature for change in known.changes}
    assert known.fewest_changes is None  # which only 999 would reach
    unknown = score.explain({"months": 999, "age": 60})
    assert "months = 999" in {change.feature for change in unknown.changes}


NOTE = (
    "Changes of 'age >= 70', 'age >= 60' are looked at one by one: nothing states how these go "
    "together, so that some may be impossible."
)


def test_changes_that_may_contradict_each_other_are_said_to():
    points = {"age >= 70": 2, "age >= 60": 1, "smoker": 1, "sex = male": 1}
    record = {"age >= 70": 1, "age >= 60": 1, "smoker": 0, "sex = male": 1}
    bare = RiskScore(-2, points)
    explained = bare.explain(record)
    assert explained.unstated == (("age >= 70", "age >= 60"),)
    assert str(explained).splitlines()[-1] == NOTE
    assert explained.to_dict()["unstated"] == [["age >= 70", "age >= 60"]]
    # Where it is stated, they change together, and there is nothing to say.
    stated = RiskScore(-2, points, items=read_items(points)).explain(record)
    assert stated.unstated == ()
    assert "looked at one by one" not in str(stated)
    assert stated.to_dict()["unstated"] == []
    # So it is where they do not change,
    assert bare.explain(record, fixed=["age"]).unstated == ()
    assert bare.explain(record, fixed=["age >= 60"]).unstated == explained.unstated
    # and names that are about different variables say nothing.
    assert RiskScore(-2, {"smoker": 1, "old": 2}).explain([1, 0]).unstated == ()


def test_a_number_and_its_condition_may_contradict_each_other():
    ranges = {"age": FeatureRange(20, 90)}
    points = {"age >= 60": 2, "age": 1}
    score = RiskScore(-60, points, feature_ranges=ranges, items=read_items(["age >= 60"]))
    assert score.explain({"age >= 60": 1, "age": 61}).unstated == (("age >= 60", "age"),)


def test_such_changes_have_the_names_of_the_sheet():
    score = RiskScore(-2, {"age >= 70": 2, "age >= 60": 1}).with_labels(
        {"age >= 70": "70 or older"}
    )
    (said,) = score.explain([1, 1]).unstated_in_words
    assert said.startswith("Changes of '70 or older', 'age >= 60' are")


@pytest.mark.parametrize("stated", [[], ["age >= 60"], ["age >= 60", "age >= 70"]])
def test_only_conditions_that_are_all_stated_go_together(stated):
    score = RiskScore(-2, {"age >= 70": 2, "age >= 60": 1}, items=read_items(stated))
    for record in itertools.product((0, 1), repeat=2):
        explained = score.explain(record)
        assert bool(explained.unstated) == (len(stated) < 2)
        if len(stated) == 2 and record != (1, 0):  # then every change is one that can be
            for change in explained.changes:
                after = dict(zip(score.feature_names, record, strict=True))
                after |= {change.feature: change.after, **dict(change.along)}
                assert after["age >= 70"] <= after["age >= 60"]
