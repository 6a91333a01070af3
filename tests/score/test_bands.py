"""Points by variable: bands say of every raw value what the conditions on it add up to."""

from __future__ import annotations

import itertools
import math
import pickle
import re

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from riskslim import ItemEncoder, RiskScore
from riskslim.data.feature_ranges import FeatureRange
from riskslim.items import Item, read_items
from riskslim.items.variables import RawVariable
from riskslim.score.bands import bands_of
from riskslim.score.layout import SheetLayout
from riskslim.score.lines import item_lines, shift_of
from riskslim.score.naming import turned_text

CUTOFFS = [-7, -0.1, 0, 0.1, 0.3, 0.1 + 0.2, 1e-9, 66, 70.5, 71, 1e300, math.inf, -math.inf]


def meets(text: str, value: float) -> bool:
    """Read a band as a person does."""
    if text == "missing" or math.isnan(value):
        return text == "missing" and math.isnan(value)
    if text == "any number":
        return True
    sign = re.fullmatch(r"(<=|>=|<|>) (\S+)", text)
    if sign:
        number = float(sign[2])
        return {"<": value < number, "<=": value <= number, ">": value > number,
                ">=": value >= number}[sign[1]]  # fmt: skip
    ends = re.fullmatch(r"(> )?(\S+) to (< )?(\S+)", text)
    if ends is None:
        return value == float(text)
    low, high = float(ends[2]), float(ends[4])
    return (value > low if ends[1] else value >= low) and (
        value < high if ends[3] else value <= high
    )


def numeric_score(cutoffs, points, *, may_lack, with_missing=False):
    items = [Item.of("x", kind, value) for kind, value in cutoffs]
    if with_missing:
        items.append(Item.of("x", "missing"))
    named = {item.name: item for item in items}
    worths = dict(zip(named, points, strict=False))
    variable = RawVariable("x", "numeric", -10, 100, (), int(may_lack), 10)
    return RiskScore(-1, worths, items=named.values(), variables={"x": variable})


@st.composite
def numeric_scores(draw):
    kinds = st.sampled_from([">=", "<=", ">", "<"])
    cutoffs = draw(
        st.lists(st.tuples(kinds, st.sampled_from(CUTOFFS)), min_size=1, max_size=5, unique=True)
    )
    points = draw(st.lists(st.integers(-5, 5).filter(bool), min_size=6, max_size=6))
    may_lack = draw(st.booleans())
    return numeric_score(
        cutoffs, points, may_lack=may_lack, with_missing=may_lack and draw(st.booleans())
    )


def values_around(score: RiskScore) -> list[float]:
    ends = [float(item.value) for item in score.items.values() if item.value is not None]
    ends = [end for end in ends if math.isfinite(end)] or [0.0]
    around = [math.nextafter(end, side) for end in ends for side in (-math.inf, math.inf)]
    between = [low / 2 + high / 2 for low, high in itertools.pairwise(sorted(ends))]
    values = [*ends, *around, *between, min(ends) - 1, max(ends) * 2 + 1, 70.0, -1e308, 1e308]
    return [*values, math.nan] if score.variables["x"].may_lack else values


def printed_points(bands, value: float) -> int:
    found = [band.points for band in bands if meets(band.condition, value)]
    assert len(found) == 1, (value, bands)
    return found[0]


@pytest.mark.filterwarnings("ignore::riskslim.exceptions.ExtrapolationWarning")
@settings(max_examples=75, deadline=None)
@given(numeric_scores())
def test_bands_of_numbers_add_up_to_the_score(score):
    """Every value lies in one printed band, which has the points that are predicted."""
    values = values_around(score)
    X = {"x": np.array(values)}
    totals = score.score_samples(X)
    (one,) = score.bands()
    assert one.features == tuple(score.points)
    assert [printed_points(one.bands, value) for value in values] == totals.tolist()
    # Neighbouring bands differ, or they were one.
    shown = [band.points for band in one.bands if band.condition != "missing"]
    assert all(a != b for a, b in itertools.pairwise(shown))
    rows = score.with_items(X)
    for k, total in enumerate(totals.tolist()):
        band = one.band_of({name: int(rows[name][k]) for name in score.points})
        assert band is not None
        assert band.points == total
    moved, shift = bands_of(score, "non-negative")
    assert min(band.points for band in moved[0].bands) == 0
    assert [printed_points(moved[0].bands, value) - shift for value in values] == totals.tolist()


LEVELS = ["A", "B", "C", 7, "x to y", "< 3"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sets(st.sampled_from(range(6)), min_size=1, max_size=3), min_size=1, max_size=4),
    st.lists(st.integers(-4, 4).filter(bool), min_size=5, max_size=5),
    st.booleans(),
    st.booleans(),
)
def test_bands_of_levels_add_up_to_the_score(groups, points, may_lack, known):
    """Each level stands in one band; those that no item names are others."""
    items = {}
    for group in groups:
        levels = tuple(LEVELS[k] for k in sorted(group))
        item = Item.of("w", "=", levels[0]) if len(levels) == 1 else Item.of("w", "in", levels)
        items[item.name] = item
    if may_lack:
        items["w is missing"] = Item.of("w", "missing")
    variable = RawVariable("w", "categorical", levels=tuple(LEVELS), n_missing=int(may_lack),
                           n_samples=9)  # fmt: skip
    worths = dict(zip(items, points, strict=False))
    score = RiskScore(
        0, worths, items=items, variables={"w": variable} if known else {},
        feature_names=tuple(items),
    )  # fmt: skip
    full = RiskScore(0, worths, items=items, variables={"w": variable})
    (one,) = score.bands()
    texts = {text: band for band in one.bands for text in band.condition.split(", ")}
    assert len(texts) == sum(len(band.condition.split(", ")) for band in one.bands)
    for level in [*LEVELS, *([None] if may_lack else [])]:
        total = full.score_samples({"w": np.array([level], dtype=object)})[0]
        name = "missing" if level is None else str(level)
        band = texts.get(name, texts.get("other"))
        assert band is not None
        assert band.points == total


def test_turned_conditions_say_that_special_values_meet_them():
    raw = pd.DataFrame({"months": [1, 5, 20, 40, 999], "age": [30, 40, 50, 60, 70]})
    encoder = ItemEncoder(
        thresholds={"months": [12], "age": [50]}, special_values={"months": [999, -0.5]}
    ).fit(raw)
    score = RiskScore(-1, {"months >= 12": -2, "age >= 50": 1}).with_variables(encoder)
    (first, second), shift = item_lines(score, "non-negative")
    assert (first.label, first.worth) == ("months < 12 or 999 or -0.5", "2 points")
    assert second.label == "age >= 50"
    for months in (5, 20, 999, -0.5):
        total = score.score_samples({"months": months, "age": 40})[0] + shift
        assert total == (0 if months == 20 else 2)
    named = score.with_labels({"months": {"levels": {"999": "not asked"}}})
    assert item_lines(named, "non-negative")[0][0].label == "months < 12 or not asked or -0.5"
    assert "months < 12 or 999 or -0.5" in str(score.sheet(points="non-negative"))


def lacking_score(**options) -> RiskScore:
    raw = pd.DataFrame({"age": [30, 40, 70, 80, 999, np.nan]})
    encoder = ItemEncoder(
        thresholds={"age": [60]}, special_values={"age": [999]}, missing="indicator"
    ).fit(raw)
    return RiskScore(-1, {"age >= 60": -2}, **options).with_variables(encoder)


def test_a_label_of_its_own_keeps_what_a_turned_condition_says():
    score = lacking_score().with_labels({"age >= 60": "Elderly"})
    (line,), _ = item_lines(score, "non-negative")
    assert (line.label, line.worth) == ("Elderly: no or 999 or missing", "2 points")
    (by_variable,) = score.bands("non-negative")
    assert [band.condition for band in by_variable.bands] == ["no or 999 or missing", "yes"]


def test_cutoffs_that_disagree_about_special_values_are_refused():
    items = [Item("m >= 12", "m", ">=", 12, special=(999,)), Item("m >= 20", "m", ">=", 20)]
    with pytest.raises(ValueError, match="different special values of 'm': 'm >= 12' has"):
        RiskScore(0, {"m >= 12": 1, "m >= 20": 1}, items=items)


def test_layouts_that_are_none_are_refused_though_they_are_empty():
    score = RiskScore(-1, {"smoker": 1})
    with pytest.raises(ValueError, match="by must be 'item' or 'variable', got ''"):
        score.sheet(by="")
    with pytest.raises(ValueError, match="points must be"):
        score.with_layout(points="")


@pytest.mark.parametrize("shown", ["fitted", "non-negative"])
@pytest.mark.parametrize("seed", range(12))
def test_special_values_have_bands_of_their_own(seed, shown):
    rng = np.random.default_rng(seed)
    values = rng.integers(-3, 9, 80).astype(float)
    special = [[-3.0, 2.0, 99.0], [[2.0, 99.0], -3.0], [99.0]][seed % 3]
    values[rng.random(80) < 0.3] = 99.0
    table = pd.DataFrame({"months": values})
    encoder = ItemEncoder(n_thresholds=3, special_values={"months": special})
    items = encoder.fit_transform(table)
    names = [*encoder.get_feature_names_out()]
    points = {name: int(rng.choice([-2, -1, 1, 3])) for name in names}
    score = RiskScore(0, points, items=encoder.items_).with_variables(encoder)
    (variable,) = score.bands(shown)
    assert shown == "fitted" or min(band.points for band in variable.bands) == 0
    flat = {f"{one:g}" for group in special for one in np.atleast_1d(group)}
    totals = np.asarray(items) @ np.array([points[name] for name in names])
    shifts = set()
    for value, total in zip(values, totals, strict=True):
        texts = [(band, band.condition.partition(" (not ")[0]) for band in variable.bands]
        (band,) = (
            band
            for band, text in texts
            if (
                f"{value:g}" in text.split(", ")
                if f"{value:g}" in flat
                else flat.isdisjoint(text.split(", ")) and meets(text, value)
            )
        )
        shifts.add(band.points - total)
    assert len(shifts) == 1
    assert shown == "non-negative" or shifts == {0}


def test_bands_in_the_digits_that_a_variable_is_measured_with():
    """Cut-offs between values of few digits are printed as bands of such values, and split them."""
    age = np.repeat(np.arange(18, 96), 2)
    bmi = (180 + np.arange(len(age))) / 10
    raw = pd.DataFrame({"age": age, "bmi": bmi})
    encoder = ItemEncoder(thresholds={"age": [65.5, 71], "bmi": [25, 29.95]}).fit(raw)
    points = dict(zip([item.name for item in encoder.items_], (1, 2, 1, 1), strict=True))
    score = RiskScore(-3, points).with_variables(encoder)
    by_name = {one.variable: one for one in score.bands()}
    assert [band.condition for band in by_name["age"].bands] == ["< 66", "66 to 70", ">= 71"]
    assert [band.condition for band in by_name["bmi"].bands] == ["< 25", "25 to 29.9", ">= 30"]
    for k in range(len(raw)):
        total = sum(
            printed_points(by_name[name].bands, float(raw[name][k])) for name in ("age", "bmi")
        )
        assert total == score.score_samples(raw.iloc[[k]])[0]


def test_cutoffs_without_a_printed_value_between_them_keep_their_digits():
    items = [Item("a", "x", ">=", 70.2, (70, 71)), Item("b", "x", ">=", 70.7, (70, 71))]
    (one,) = RiskScore(0, {"a": 1, "b": 1}, items=items).bands()
    assert [band.condition for band in one.bands] == ["< 70.2", "70.2 to < 70.7", ">= 70.7"]


def test_equal_cutoffs_on_both_sides_leave_one_value():
    points = {"x >= 3": 1, "x <= 3": 1, "x > 5": 1}
    (one,) = RiskScore(0, points, items=read_items(points)).bands()
    assert str(one) == "x: < 3: 1, 3: 2, > 3 to 5: 1, > 5: 2"


def test_features_that_state_nothing():
    """A name is taken at its word for the feature itself, and says nothing of others."""
    ranges = {"visits": FeatureRange(0, 7)}
    points = {"age >= 60": 2, "age >= 75": 1, "BMI >= 30": 1, "smoker": -1, "visits": 3}
    found = [str(one) for one in RiskScore(0, points, feature_ranges=ranges).bands()]
    assert sorted(found) == [
        "BMI: < 30: 0, >= 30: 1",
        "age >= 60: no: 0, yes: 2",
        "age >= 75: no: 0, yes: 1",
        "smoker: no: 0, yes: -1",
        "visits [0 to 7]: 3 points x value",
    ]


def test_missing_values_of_features_that_may_lack():
    points = {"x is missing": 2, "s": 1}
    variables = {"x": RawVariable("x", "numeric", 0, 9, (), 2, 9),
                 "s": RawVariable("s", "boolean", n_missing=1, n_samples=9)}  # fmt: skip
    score = RiskScore(0, points, variables=variables)
    assert [str(one) for one in score.bands()] == [
        "x: known: 0, missing: 2",
        "s: no or missing: 0, yes: 1",
    ]


# ---------------------------------------------------------------------------------------------
# None negative
# ---------------------------------------------------------------------------------------------


def holds(text: str, record: dict) -> bool:
    """Read a condition of the sheet below as a person does."""
    condition = text.partition(" or missing")[0]
    variable = next(name for name in record if condition.startswith(name))
    value = record[variable]
    rest = condition[len(variable) :].strip()
    if value is None:
        return rest == "is missing" or text.endswith("or missing")
    if rest in (": no", ""):
        return (value == 0) == (rest == ": no")
    if rest in ("is known", "is missing"):
        return rest == "is known"
    if rest.startswith("is not "):
        return value != rest.removeprefix("is not ")
    if rest.startswith("= "):
        return value == rest.removeprefix("= ")
    inside = re.fullmatch(r"(not )?in \{(.*)\}", rest)
    if inside:
        return (value in inside[2].split(", ")) != bool(inside[1])
    return meets(rest, value)


def mixed(points) -> RiskScore:
    names = ["age >= 60", "age < 40", "age is missing", "w = A", "w in {B, C}", "sex = m", "smoker"]
    variables = [
        RawVariable("age", "numeric", 18, 90, (), 3, 99),
        RawVariable("w", "categorical", levels=("A", "B", "C", "D"), n_missing=1, n_samples=99),
        RawVariable("sex", "categorical", levels=("f", "m"), n_samples=99),
        RawVariable("smoker", "boolean", n_samples=99),
    ]
    return RiskScore(
        2, dict(zip(names, points, strict=True)), variables={one.name: one for one in variables}
    )


RECORDS = [
    dict(zip(("age", "w", "sex", "smoker"), values, strict=True))
    for values in itertools.product(
        (None, 30, 39.9, 40, 59, 60, 80), (None, "A", "B", "D"), ("f", "m"), (0, 1)
    )
]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-3, 3).filter(bool), min_size=7, max_size=7))
def test_points_that_are_not_negative_add_up_to_the_same_risks(points):
    """Read off and added up, the turned conditions give the score plus one number, for all."""
    score = mixed(points)
    lines, shift = item_lines(score, "non-negative")
    assert all(line.points > 0 for line in lines)
    totals = [sum(line.points for line in lines if holds(line.label, one)) for one in RECORDS]
    scores = score.score_samples(pd.DataFrame(RECORDS))
    assert [total - shift for total in totals] == scores.tolist()
    turned = score.with_layout(points="non-negative")
    assert turned.score_samples(pd.DataFrame(RECORDS)).tolist() == totals
    assert (shift_of(turned), shift_of(score)) == (shift, 0)
    sheet, fitted = turned.sheet(), score.sheet()
    assert [row.risk for row in sheet.risks] == [row.risk for row in fitted.risks]
    assert [row.lowest - shift for row in sheet.risks] == [row.lowest for row in fitted.risks]
    # The formula on the sheet is about the scores on the sheet.
    number = re.search(r"exp\((?:(-?\d+) )?-", sheet.formula)
    assert number is not None
    assert int(number[1] or 0) == shift - score.intercept


def test_turned_conditions_by_kind():
    score = mixed([-1] * 7)
    assert [turned_text(score, name) for name in score.points] == [
        "age < 60 or missing",
        "age >= 40 or missing",
        "age is known",
        "w is not A or missing",
        "w not in {B, C} or missing",
        "sex = f",
        "smoker: no",
    ]


def test_points_that_are_multiplied_keep_their_sign():
    ranges = {"visits": FeatureRange(0, 3, is_integer=False, unit="times")}
    score = RiskScore(1, {"visits": -2, "old": -1}, feature_ranges=ranges)
    text = str(score.sheet(points="non-negative"))
    assert "x -2 points per times" in text
    assert "old: no" in text
    assert "Scores here are 1 above" in text


def test_recalibrated_score_keeps_its_risks():
    score = RiskScore(-2, {"a": 2, "b": -1}, prevalence=0.2).recalibrated(prevalence=0.05)
    sheet = score.sheet(points="non-negative")
    assert [row.risk for row in sheet.risks] == [row.risk for row in score.risk_table()]
    assert sheet.formula == f"risk = 1 / (1 + exp({1 - score.recalibration.intercept:.6g} - score))"


def test_classifier_shows_points_that_are_not_negative():
    from riskslim import RiskSLIMClassifier

    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.integers(0, 2, (300, 4)), columns=list("abcd"))
    y = (rng.random(300) < 1 / (1 + np.exp(2 * X["a"] - X["b"]))).astype(int)
    fitted = RiskSLIMClassifier(max_size=3).fit(X, y)
    turned = RiskSLIMClassifier(max_size=3, points="non-negative").fit(X, y)
    assert min(fitted.coef_[0]) < 0
    np.testing.assert_array_equal(turned.coef_, fitted.coef_)
    np.testing.assert_array_equal(turned.predict_proba(X), fitted.predict_proba(X))
    assert turned.certificate_.objective == fitted.certificate_.objective
    assert turned.risk_score_.layout == SheetLayout(points="non-negative")
    assert "a: no" in str(turned.risk_score_)
    assert "a: no" not in str(fitted.risk_score_)
    # The certificate is bound to coefficients that have not changed: it is read back.
    again = RiskScore.from_json(turned.risk_score_.to_json())
    assert again == turned.risk_score_
    assert again.certificate is not None
    with pytest.raises(ValueError, match="points must be 'fitted' or 'non-negative', got 'all'"):
        RiskSLIMClassifier(points="all").fit(X, y)


# ---------------------------------------------------------------------------------------------
# Labels, groups, files
# ---------------------------------------------------------------------------------------------


def test_labels_by_item_and_by_variable():
    points = {"age >= 66": 1, "sex = m": -1, "smoker": 2, "visits": 1}
    ranges = {"visits": FeatureRange(0, 7)}
    score = RiskScore(-3, points, items=read_items(points), feature_ranges=ranges).with_labels(
        {
            "age": {"text": "Age", "unit": "years"},
            "sex": {"text": "Sex", "levels": {"m": "male", "other": "female"}},
            "smoker": {"text": "Smokes", "levels": {"no": "never", "yes": "now"}},
            "visits": {"text": "Visits", "unit": "year"},
        }
    )
    labels = [line.label for line in score.sheet().lines]
    assert labels == ["Smokes", "Age >= 66 years", "Visits [0 to 7 year]", "Sex = male"]
    assert [str(one) for one in score.bands()] == [
        "Smokes: never: 0, now: 2",
        "Age (years): < 66: 0, >= 66: 1",
        "Sex: male: -1, female: 0",
        "Visits [0 to 7 year]: x 1 point per year",
    ]
    assert [line.label for line in score.sheet(points="non-negative").lines][-1] == (
        "Sex is not male"
    )
    # A label of the feature itself goes before that of its variable.
    own = score.with_labels({"age >= 66": "Senior"})
    assert "Senior" in str(own.sheet())
    assert "Senior: no: 0, yes: 1" in [str(one) for one in own.bands()]
    assert own.score_samples({"age >= 66": 1, "sex = m": 0, "smoker": 0, "visits": 2}) == [3]
    again = RiskScore.from_json(own.to_json())
    assert again == own
    assert again.labels == own.labels
    assert pickle.loads(pickle.dumps(own)) == own


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ({"agee": "Age"}, ValueError, r"labels name what the score does not have: 'agee'"),
        ({"age": 3}, TypeError, r"labels\['age'\]: the text of a label must be a str, got 3"),
        ({"age": " "}, ValueError, r"labels\['age'\]: the text of a label must not be empty"),
        ({"age": {"unitt": "y"}}, ValueError, r"labels\['age'\]: .*did you mean 'unit'"),
        ({"age": {"levels": ["a"]}}, TypeError, "levels must be a mapping"),
        ({"age": {"levels": {"a": ""}}}, ValueError, "the label of the level 'a' must not be"),
        (["age"], TypeError, "labels must be a mapping from names"),
    ],
)
def test_labels_that_are_none(labels, error, message):
    points = {"age >= 66": 1}
    score = RiskScore(-3, points, items=read_items(points))
    with pytest.raises(error, match=message):
        score.with_labels(labels)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("layout", {"by": "row"}, "'layout': by must be"),
        ("layout", 3, "'layout': must be an object"),
        ("labels", {"a": {"text": 3}}, "labels"),
        ("labels", 3, "labels must be a mapping"),
    ],
)
def test_files_with_labels_or_layout_that_are_none(key, value, message):
    import json

    plain = json.loads(RiskScore(-3, {"a": 1}).to_json()) | {key: value}
    with pytest.raises(ValueError, match=message):
        RiskScore.from_json(json.dumps(plain))


def test_groups_of_dummies():
    score = RiskScore(-2, {"ward_icu": 2, "ward_er": 1, "n": 1}, feature_names=(
        "ward_icu", "ward_er", "ward_x", "n"))  # fmt: skip
    groups = {"ward": {"ward_icu": "ICU", "ward_er": "ER", "ward_x": "X"}}
    grouped = score.with_dummies(groups)
    assert [str(one) for one in grouped.bands()] == [
        "ward: ICU: 2, ER: 1, other: 0",
        "n: no: 0, yes: 1",
    ]
    X = {"ward_icu": [1, 0, 0], "ward_er": [0, 1, 0], "n": [1, 0, 0]}
    assert grouped.score_samples(X).tolist() == score.score_samples(X).tolist()
    raw = grouped.with_items({"ward": ["ICU", "ER", "Z"], "n": [1, 0, 0]})
    assert grouped.score_samples(raw).tolist() == [3, 1, 0]
    with pytest.raises(ValueError, match="stated already what 'ward_icu' is"):
        grouped.with_dummies(groups)
    with pytest.raises(ValueError, match=r"groups\['ward'\] names features .*'ward_z'"):
        score.with_dummies({"ward": {"ward_z": "Z"}})
    ranges = {"n": FeatureRange(0, 9)}
    with pytest.raises(ValueError, match="'n' is not 0 or 1"):
        RiskScore(0, {"n": 1}, feature_ranges=ranges).with_dummies({"w": {"n": "N"}})


@pytest.mark.parametrize("first", ["labels", "dummies"])
@pytest.mark.parametrize("alone", [True, False])
def test_groups_of_dummies_that_have_labels(first, alone):
    """One column with points and a label had stayed a row of its own, without a word."""
    points = {"ward_icu": 2, "n": 1} if alone else {"ward_icu": 2, "ward_er": 1, "n": 1}
    plain = RiskScore(-2, points, feature_names=["ward_icu", "ward_er", "n"])
    groups = {"ward": {"ward_icu": "ICU", "ward_er": "ER"}}

    def ward(labels):
        if first == "dummies":
            return str(plain.with_dummies(groups).with_labels(labels).bands()[0])
        return str(plain.with_labels(labels).with_dummies(groups).bands()[0])

    er = "" if alone else "ER: 1, "
    assert ward({"ward_icu": "Intensive care"}) == f"ward: Intensive care: 2, {er}other: 0"
    assert ward({"ward_icu": {"unit": "%"}}) == f"ward: ICU: 2, {er}other: 0"
    assert ward({"ward_icu": {"levels": {"yes": "there"}}}) == f"ward: ICU: 2, {er}other: 0"
    if first == "dummies":  # the label of the level comes first
        labels = {"ward": {"text": "Ward", "levels": {"ICU": "icu"}}, "ward_icu": "Intensive"}
        assert ward(labels) == f"Ward: icu: 2, {er}other: 0"


def test_conditions_with_labels_stay_rows_of_their_own():
    points = {"ward = ICU": 2, "age >= 60": 1}
    score = RiskScore(-2, points, items=read_items(points))
    labelled = score.with_labels({"ward = ICU": "Intensive care", "age >= 60": "Elderly"})
    assert [str(one) for one in labelled.bands()] == [
        "Intensive care: no: 0, yes: 2",
        "Elderly: no: 0, yes: 1",
    ]


def test_layout_is_checked_and_kept():
    score = RiskScore(-3, {"a": 1})
    for arguments, message in (
        ({"by": "row"}, "by must be 'item' or 'variable', got 'row'"),
        ({"points": "positive"}, "points must be 'fitted' or 'non-negative', got 'positive'"),
    ):
        with pytest.raises(ValueError, match=message):
            score.sheet(**arguments)
        with pytest.raises(ValueError, match=message):
            score.with_layout(**arguments)
    with pytest.raises(TypeError, match="layout must be a SheetLayout, got 'variable'"):
        RiskScore(-3, {"a": 1}, layout="variable")
    kept = score.with_layout(by="variable")
    assert str(kept) == str(score.sheet(by="variable")) != str(score)
    assert RiskScore.from_json(kept.to_json()).layout == SheetLayout("variable")
    assert '"layout"' not in score.to_json()


def test_numbers_of_a_band_that_are_special_values_of_other_points_are_named():
    """Who reads "< 9" finds -9 there, too, and its points are others."""
    items = [
        Item("m >= 9", "m", ">=", 9, special=(-9, -8, 99)),
        Item("m = -9", "m", "=", -9),
        Item("m = 99", "m", "=", 99),
    ]
    score = RiskScore(-3, {"m >= 9": 4, "m = -9": 2, "m = 99": 4}, items=items)
    (variable,) = score.bands()
    found = {band.condition: band.points for band in variable.bands}
    # -8 has the points of the band in which it lies, and so has 99.
    assert found == {"< 9 (not -9)": 0, ">= 9": 4, "-9": 2, "-8": 0, "99": 4}
