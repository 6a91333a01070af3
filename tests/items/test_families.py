"""Conditions on one variable: sheets, rules and explanations leave contradictions out."""

from __future__ import annotations

import itertools
import re

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from sklearn.pipeline import make_pipeline

from riskslim import (
    CoefficientSet,
    ItemEncoder,
    RiskScore,
    RiskScoreProblem,
    RiskSLIMClassifier,
    TrainingData,
    branch_and_bound,
)
from riskslim._wording import percent
from riskslim.data.feature_ranges import FeatureRange
from riskslim.exceptions import CertificateError
from riskslim.items import Item, read_items
from riskslim.items.families import Family, families
from riskslim.items.rules import with_items
from riskslim.score.table import AttainableScores
from riskslim.score.training import check_scores_of_training

# Thresholds in one direction, levels, and single conditions.
ORDERLY = [
    ["a >= 1", "a >= 2", "a > 2", "a >= 4", "a is missing", "smoker"],
    ["a < 1", "a <= 1", "a <= 3", "sex = male", "sex = female", "smoker"],
    ["b = x", "b in {y, z}", "b = u", "b is missing", "smoker", "c > 0.5"],
    ["a >= 3", "a >= 5", "a < 2", "a < 1", "b >= 1", "smoker"],
]
EVERYTHING = sorted({*itertools.chain(*ORDERLY), "b in {x, y}", "b = z", "a <= 4"})


def stated(intercept: int, points: dict[str, int], **others) -> RiskScore:
    """A score whose features are what their names say."""
    return RiskScore(intercept, points, items=read_items(points), **others)


def records(score) -> dict[str, np.ndarray]:
    """All values of the conditions of a score that do not contradict each other."""
    related = families(score.points, score.items)
    names = [name for family in related for name in family.names]
    rows = np.array(
        [sum(row, ()) for row in itertools.product(*(family.patterns for family in related))]
    )
    return dict(zip(names, rows.T, strict=True))


def score_of(draw, names) -> RiskScore:
    chosen = draw(st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True))
    values = st.sampled_from([-3, -2, -1, 1, 2, 3, 5])
    return stated(-1, {name: draw(values) for name in chosen})


@st.composite
def orderly_scores(draw):
    return score_of(draw, draw(st.sampled_from(ORDERLY)))


@st.composite
def scores(draw):
    return score_of(draw, EVERYTHING)


@pytest.mark.parametrize(
    ("names", "patterns"),
    [
        (["age >= 40", "age >= 60"], [(0, 0), (1, 0), (1, 1)]),
        (["age > 40", "age >= 40"], [(0, 0), (0, 1), (1, 1)]),
        (["age>=60.0", "age ≥ 6e1"], [(0, 0), (1, 1)]),
        (["age <= 40", "age >= 60"], [(0, 0), (0, 1), (1, 0)]),
        # A missing value meets neither.
        (["age <= 60", "age > 60"], [(0, 0), (0, 1), (1, 0)]),
        (["age is missing", "age >= 60"], [(0, 0), (0, 1), (1, 0)]),
        (["sex = male", "sex = female"], [(0, 0), (0, 1), (1, 0)]),
        (["x in {A, B}", "x = B"], [(0, 0), (1, 0), (1, 1)]),
        # A text and the number that it reads as are both possible.
        (["x = 1", "x = 1.0"], [(0, 0), (0, 1), (1, 0), (1, 1)]),
        (["x = 7", "x >= 5"], [(0, 0), (0, 1), (1, 0), (1, 1)]),
        (["x >= 1e999", "x >= 3", "x >= " + "9" * 400], [(0, 0, 0), (0, 1, 0), (0, 1, 1)]),
    ],
)
def test_what_can_hold_together(names, patterns):
    assert families(names, read_items(names)) == (Family(tuple(names), tuple(patterns)),)


@pytest.mark.parametrize(
    "names",
    [
        ["age >= 40", "Age >= 60"],
        ["not age >= 40", "not age >= 60"],
        ["male and not age >= 40", "male and not age >= 60"],
        ["x = y >= 3", "x = y >= 5"],
        ["age", "age_group"],
        ["40 <= age < 60", "60 <= age < 75"],
    ],
)
def test_names_that_can_be_read_in_no_way_or_several_state_nothing(names):
    assert families(names, read_items(names)) == tuple(
        Family((name,), ((0,), (1,))) for name in names
    )


def test_names_alone_state_nothing():
    names = ["symptom = cough", "symptom = fever"]
    assert families(names, {}) == tuple(Family((name,), ((0,), (1,))) for name in names)
    score = RiskScore(-3, dict.fromkeys(names, 2))
    assert [row.score for row in score.risk_table()] == ["0", "2", "4"]
    assert str(score.boolean_rule(4)) == "symptom = cough AND symptom = fever"
    assert score.explain(dict.fromkeys(names, 0), 4).fewest_changes is not None
    assert "add up" not in str(score)


@pytest.mark.parametrize("as_frame", [pd.DataFrame, dict])
def test_a_question_with_several_answers_is_learned_as_it_is(as_frame):
    rng = np.random.default_rng(0)
    names = ["symptom = cough", "symptom = fever"]
    X = {name: rng.integers(0, 2, 400) for name in names}
    y = (rng.random(400) < 1 / (1 + np.exp(3 - 2 * sum(X.values())))).astype(int)
    data = TrainingData(as_frame(X), y)
    coefficients = CoefficientSet(data.feature_names)
    problem = RiskScoreProblem(data, coefficients, max_size=2)
    score = RiskScore.from_solution(branch_and_bound(problem), data)
    reached = set(score.score_samples(X).tolist())
    assert len(reached) > 2
    assert {int(row.lowest) for row in score.risk_table(extreme=1e-9)} == reached
    top = max(reached)
    assert score.boolean_rule(top).holds(X).any()


def as_arrow(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas, as_arrow, "pandas", "polars"])
def test_items_travel_from_the_encoder_to_the_file_of_the_score(kind):
    rng = np.random.default_rng(2)
    age, sex = rng.integers(20, 90, 500), rng.choice(["f", "m", "x"], 500)
    raw = pd.DataFrame({"age": age, "sex": sex})
    y = (rng.random(500) < 1 / (1 + np.exp(3 - (age >= 40) - (age >= 60) - (sex == "f")))) * 1
    encoder = ItemEncoder(thresholds={"age": [40, 60]}, drop=None)
    if isinstance(kind, str):
        encoder.set_output(transform=kind)
    pipeline = make_pipeline(encoder, RiskSLIMClassifier(min_size=4, max_size=4))
    pipeline.fit(raw if isinstance(kind, str) else kind(raw), y)
    assert not pipeline[-1].risk_score_.items  # its columns were plain ones to the classifier
    score = pipeline[-1].risk_score_.with_variables(pipeline[0])
    assert dict(score.items) == {
        item.name: item for item in pipeline[0].items_ if item.name in score.points
    }
    by_items = RiskSLIMClassifier(min_size=4, max_size=4, items=encoder).fit(raw, y).risk_score_
    assert dict(by_items.items) == dict(score.items)
    assert len(score.items) == 4
    again = RiskScore.from_json(score.to_json())
    assert again.items == score.items
    totals = set(score.score_samples(pipeline[0].transform(raw)).tolist())
    assert {int(row.lowest) for row in again.risk_table(extreme=1e-9)} >= totals
    assert len(families(score.points, score.items)) == 2  # of age, and of sex


def test_nothing_is_known_of_a_frame_but_its_names_and_numbers():
    rng = np.random.default_rng(3)
    raw = pd.DataFrame({"age": rng.integers(20, 90, 100)})
    encoder = ItemEncoder(thresholds={"age": [40, 60]})
    items = encoder.fit_transform(raw)
    y = np.arange(100) % 2
    assert TrainingData(items, y).items == {}
    data = TrainingData(items, y, items=encoder.items_)
    assert data.items == {item.name: item for item in encoder.items_}
    assert data.reweighted(np.ones(100)).items == data.items
    for wrong in ([1], ["age >= 40"]):
        with pytest.raises(TypeError, match=r"items must be riskslim\.items\.Item, got"):
            TrainingData(items, y, items=wrong)


def test_an_encoders_frame_may_be_changed_in_place():
    # Its columns were remembered as the encoder's conditions, whatever had become of them.
    rng = np.random.default_rng(4)
    raw = pd.DataFrame({"age": rng.integers(20, 90, 300)})
    items = ItemEncoder(thresholds={"age": [56]}).fit_transform(raw)
    items["age >= 56"] = (raw["age"] < 30).astype(np.int8)
    y = (rng.random(300) < np.where(raw["age"] < 30, 0.8, 0.2)).astype(int)
    score = RiskSLIMClassifier(min_size=1, max_size=1).fit(items, y).risk_score_
    assert not score.items
    assert not score.variables
    with pytest.raises(ValueError, match="'age >= 56'"):
        score.predict_proba(raw)  # of raw rows it says that it lacks the column


def test_items_of_training_data_are_checked():
    X, y = {"age >= 40": [0, 1, 1, 0], "senior": [0, 0, 1, 0]}, [0, 1, 1, 0]
    senior = Item("senior", "age", ">=", 65)
    assert TrainingData(X, y, items=read_items(X)).items.keys() == {"age >= 40"}
    assert TrainingData(X, y, items=[senior]).items == {"senior": senior}
    with pytest.raises(ValueError, match="items state what features are that X does not have: 'se"):
        TrainingData(X, y, items=[Item("seniors", "age", ">=", 65)])
    with pytest.raises(ValueError, match="items state twice what 'senior' is"):
        TrainingData(X, y, items=[senior, senior])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("a", "v", "~"), ValueError, "kind of an item must be one of '>=', "),
        (("a", "v", ">=", "3"), ValueError, "of kind '>=' must be a finite number, got '3'"),
        (("a", "v", ">=", True), ValueError, "must be a finite number, got True"),
        (("a", "v", ">=", float("nan")), ValueError, "must be a finite number, got nan"),
        (("a", "v", "="), ValueError, "of kind '=' must be a level, got None"),
        (("a", "v", "in", "xy"), ValueError, "of kind 'in' must be a tuple of levels, got 'xy'"),
        (("a", "v", "missing", 1), ValueError, "of kind 'missing' must be None, got 1"),
        ((1, "v", "="), TypeError, "the name of an item must be a str, got 1"),
        (("a", None, "="), TypeError, "the variable of an item must be a str, got None"),
    ],
)
def test_statements_that_are_none(arguments, error, message):
    with pytest.raises(error, match=re.escape(message)):
        Item(*arguments)


@pytest.mark.parametrize("name", ["smoker", "not age >= 40", "x = y >= 3", "40 <= age < 60"])
def test_names_that_cannot_be_parsed(name):
    with pytest.raises(ValueError, match=re.escape(f"{name!r} ")):
        Item.parse(name)


def test_items_of_scores_are_checked():
    item = Item("senior", "age", ">=", 65)
    score = RiskScore(0, {"senior": 1, "age >= 40": 2}, items=[item])
    assert dict(score.items) == {"senior": item}
    assert RiskScore(0, {"senior": 1}, items={"senior": item}).items == {"senior": item}
    related = [item, Item("adult", "age", ">=", 18)]
    assert [row.score for row in RiskScore(0, {"senior": 1, "adult": 2}, items=related).risk_table()
            ] == ["0", "2", "3"]  # fmt: skip
    for wrong, error, message in (
        (["senior"], TypeError, "items must be riskslim.items.Item"),
        ([item, item], ValueError, "items state twice what 'senior' is"),
        ({"x": item}, ValueError, "items must be by their names"),
        ([Item("x", "x", "boolean")], ValueError, "items names features that are not"),
    ):
        with pytest.raises(error, match=message):
            RiskScore(0, {"senior": 1}, items=wrong)


def test_what_the_rows_contradict_is_not_assumed(caplog):
    rng = np.random.default_rng(1)
    names = ["symptom = cough", "symptom = fever", "age >= 40", "age >= 60"]
    age = rng.integers(20, 90, 400)
    X = {name: rng.integers(0, 2, 400) for name in names[:2]}
    X |= {"age >= 40": (age >= 40).astype(int), "age >= 60": (age >= 60).astype(int)}
    y = (rng.random(400) < 1 / (1 + np.exp(4 - 2 * sum(X.values())))).astype(int)
    data = TrainingData(X, y, items=read_items(names).values())
    coefficients = CoefficientSet(data.feature_names, fixed=dict.fromkeys(names, 2))
    problem = RiskScoreProblem(data, coefficients)
    score = RiskScore.from_solution(branch_and_bound(problem), data)
    assert set(score.items) == set(names[2:])  # of age it is so
    assert "contradict what is stated of 'symptom = cough', 'symptom = fever'" in caplog.text
    shown = {int(row.lowest) for row in score.risk_table(extreme=1e-9)}
    assert shown == set(score.score_samples(X).tolist()) == {0, 2, 4, 6, 8}


def test_scores_of_training_rows_that_a_table_would_lack_are_an_error():
    X = {"age >= 40": [1, 0, 1, 0], "age >= 60": [0, 0, 1, 1]}
    data = TrainingData(X, [0, 1, 1, 0])
    score = stated(-1, {"age >= 40": 1, "age >= 60": 4})
    with pytest.raises(CertificateError, match="have the scores 4, which the table"):
        check_scores_of_training(score, data)
    check_scores_of_training(RiskScore(-1, score.points), data)


@given(st.lists(st.sampled_from(["a >= 1", "a > 2", "a <= 3", "a < 1", "a >= 2.5"]), unique=True))
def test_patterns_are_those_of_data(names):
    raw = pd.DataFrame({"a": np.arange(-1, 5, 0.25)})
    table = with_items(raw, names, [])
    rows = {
        tuple(int(table.values(list(table.names).index(name))[i]) for name in names)
        for i in range(len(raw))
    }
    found = {
        sum(parts, ())
        for parts in itertools.product(*(f.patterns for f in families(names, read_items(names))))
    }
    assert found == rows | {(0,) * len(names)}


@settings(max_examples=60, deadline=None)
@given(scores())
def test_tables_list_the_scores_that_records_can_have(score):
    reached = np.unique(score.score_samples(records(score)))
    assert [row.lowest for row in score.risk_table(extreme=1e-9)] == reached.tolist()


def test_the_range_of_a_sheet():
    points = {"age >= 60": 2, "age >= 40": 1, "sex = male": 1, "sex = female": -1}
    score = stated(-1, points)
    assert [row.score for row in score.risk_table()] == ["-1", "0", "1", "2", "3", "4"]
    # Constant in the training data.
    ranges = {"age >= 40": FeatureRange(1, 1)}
    fixed = stated(-1, {"age >= 40": 1, "age >= 60": 4}, feature_ranges=ranges)
    assert [row.score for row in fixed.risk_table()] == ["1", "5"]
    # The training data itself were contradictory.
    odd = RiskScore(
        -1,
        {"age >= 40": 1, "age >= 60": 4},
        feature_ranges={"age >= 40": FeatureRange(0, 0), "age >= 60": FeatureRange(1, 1)},
    )
    assert [row.score for row in odd.risk_table()] == ["4"]
    # Data with contradictions: every row is counted.
    X = {"age >= 60": [1, 1], "age >= 40": [1, 0], "sex = male": [0, 1], "sex = female": [0, 0]}
    assert sum(row.n_samples for row in score.risk_table(X, [0, 1])) == 2
    assert score.remarks(X) == (
        "1 of 2 rows have conditions that contradict each other ('age >= 60', 'age >= 40'), "
        "first at row 1 (rows counted from 0).",
    )


@settings(max_examples=75, deadline=None)
@given(scores() | orderly_scores())
def test_a_rule_equals_the_score_where_nothing_contradicts(score):
    X = records(score)
    reached = score.score_samples(X)
    X["unused"] = np.zeros(len(reached))
    for threshold in range(reached.min(), reached.max() + 2):
        rule = score.boolean_rule(threshold)
        assert np.array_equal(rule.holds(X), reached >= threshold)


def shortest(score, threshold) -> tuple[int, int]:
    """Least number of terms, and of literals in so many, by trying all sets of implicants."""
    X = records(score)
    truth = score.score_samples(X) >= threshold
    cubes: dict[frozenset[int], int] = {}
    for wanted in itertools.product((0, 1, None), repeat=len(X)):
        inside = np.ones_like(truth)
        for name, one in zip(X, wanted, strict=True):
            inside &= one is None or X[name] == one
        if inside.any() and truth[inside].all():
            rows = frozenset(np.flatnonzero(inside).tolist())
            n_literals = sum(one is not None for one in wanted)
            cubes[rows] = min(cubes.get(rows, n_literals), n_literals)
    prime = [rows for rows in cubes if not any(rows < other for other in cubes)]
    for size in range(len(prime) + 1):
        lengths = [
            sum(cubes[rows] for rows in chosen)
            for chosen in itertools.combinations(prime, size)
            if frozenset().union(*chosen) == set(np.flatnonzero(truth).tolist())
        ]
        if lengths:
            return size, min(lengths)
    raise AssertionError("the implicants do not cover the function")


@settings(max_examples=60, deadline=None)
@given(orderly_scores())
@example(stated(-1, {"a >= 1": 2, "a >= 2": -1, "a >= 4": 2, "smoker": 1}))
@example(stated(-1, {"b = x": 2, "b in {y, z}": 1, "b = u": -1, "smoker": 1}))
def test_no_disjunctive_form_is_shorter(score):
    reached = score.score_samples(records(score))
    for threshold in range(reached.min(), reached.max() + 2):
        rule = score.boolean_rule(threshold)
        length = len(rule.terms), sum(map(len, rule.terms))
        assert length == shortest(score, threshold)


def test_rules_as_printed():
    score = stated(-3, {"age >= 40": 1, "age >= 60": 1, "age >= 75": 2, "smoker": 2})
    assert {threshold: str(score.boolean_rule(threshold)) for threshold in range(1, 7)} == {
        1: "smoker OR age >= 40",
        2: "smoker OR age >= 60",
        3: "age >= 75 OR (smoker AND age >= 40)",
        4: "age >= 75 OR (smoker AND age >= 60)",
        5: "age >= 75 AND smoker",
        6: "age >= 75 AND smoker",
    }
    middle = stated(0, {"age >= 40": 2, "age >= 60": -2})
    assert str(middle.boolean_rule(1)) == "age >= 40 AND NOT age >= 60"
    # Both directions, of which not all that is known can be used.
    both = stated(0, {"a >= 1": 1, "a <= 4": 1, "a >= 9": 1, "b": 3})
    assert str(both.boolean_rule(4)) == "(b AND a >= 1) OR (b AND a <= 4)"
    assert str(both.boolean_rule(6)) == "NEVER"


def test_long_rules_of_related_conditions_are_found_at_once():
    names = [f"v{k} >= {j}" for k in range(5) for j in range(6)]
    score = stated(0, {name: (-1) ** j * (j + 1) for j, name in enumerate(names)})
    low, high = (int(end) for end in AttainableScores(score).ends)
    for threshold in range(low, high + 1, 5):
        assert len(score.boolean_rule(threshold, max_terms=10**5).terms) < 1000


def test_explanations_keep_related_conditions_together():
    score = stated(-4, {"age >= 60": 3, "smoker": 2, "age >= 40": 1}, outcome_name="stroke")
    young = {"age >= 60": 0, "smoker": 0, "age >= 40": 0}
    assert (
        str(score.explain(young, 4))
        == """\
Score 0: the risk of stroke = 1 is 1.8%.
Points by item:
  +0  age >= 60: no (3 points)
  +0  smoker: no (2 points)
  +0  age >= 40: no (1 point)
What would change it, all else equal:
  age >= 60: yes in place of no, and with it age >= 40: yes (score 4, risk 50.0%)
  smoker: yes in place of no (score 2, risk 11.9%)
  age >= 40: yes in place of no (score 1, risk 4.7%)
Fewest changes that lead to a score of at least 4 (score 4, risk 50.0%):
  age >= 60: yes in place of no, and with it age >= 40: yes"""
    )


@settings(max_examples=60, deadline=None)
@given(scores(), st.integers(-8, 8), st.randoms(use_true_random=False))
def test_explained_changes_contradict_nothing_and_are_the_fewest(score, threshold, random):
    X = records(score)
    totals = score.score_samples(X)
    i = random.randrange(len(totals))
    record = {name: int(X[name][i]) for name in X}
    rows = {tuple(row) for row in np.array(list(X.values())).T.tolist()}
    found = score.explain(record, threshold)
    # No change makes a value missing.
    possible = np.all(
        [
            X[name] <= record[name] if name.endswith(" is missing") else X[name] >= 0
            for name in record
        ],
        axis=0,
    )
    risks = [percent(risk, 0.001) for risk in score.predict_proba(X)[:, 1]]

    def changes_something(j):
        other_side = (totals[j] >= threshold) != (totals[i] >= threshold)
        return totals[j] != totals[i] and (risks[j] != risks[i] or other_side)

    listed = {one.feature for one in found.changes}
    for name in set(record) - listed:  # nothing can be changed, or that changes nothing
        distances = {
            j: sum(X[other][j] != record[other] for other in record)
            for j in np.flatnonzero(possible & (X[name] != record[name]))
        }
        nearest = [j for j, n in distances.items() if n == min(distances.values())]
        assert not nearest or not all(map(changes_something, nearest))
    assert len(listed) == len(found.changes)
    for one in found.changes:
        changed = {**record, one.feature: one.after, **dict(one.along)}
        assert one.after == 1 - record[one.feature]
        assert tuple(changed.values()) in rows
        assert one.score == score.score_samples(changed)[0]
        same = [all(X[name][j] == changed[name] for name in record) for j in range(len(totals))]
        assert changes_something(same.index(True))
    related = families(score.points, score.items)
    distances = [
        (
            sum(any(X[name][j] != record[name] for name in family.names) for family in related),
            sum(X[name][j] != record[name] for name in record),
            abs(totals[j] - totals[i]),
        )
        for j in range(len(totals))
        if possible[j] and (totals[j] >= threshold) != (totals[i] >= threshold)
    ]
    if found.fewest_changes is None:
        assert not distances
        return
    assert min(distances) == (
        len(found.fewest_changes),
        sum(1 + len(one.along) for one in found.fewest_changes),
        abs(found.fewest_changes[-1].score - totals[i]),
    )
    changed = dict(record)
    for one in found.fewest_changes:
        changed |= {one.feature: one.after, **dict(one.along)}
        assert one.score == score.score_samples(changed)[0]
        assert tuple(changed.values()) in rows
    assert (found.fewest_changes[-1].score >= threshold) != (totals[i] >= threshold)


@pytest.mark.parametrize(
    ("names", "scores"),
    [
        (("a < 1e999", "a >= -1e999"), ["0", "3"]),
        (("a < -1e999", "a >= 1e999"), ["0"]),
        (("a >= -1e999", "a is missing"), ["1", "2"]),
        (("a < 1e999", "a >= 5"), ["0", "2", "3"]),
    ],
)
def test_thresholds_that_all_numbers_or_none_reach(names, scores):
    score = stated(0, dict(zip(names, (2, 1), strict=True)))
    assert [row.score for row in score.risk_table()] == scores


def column_that_lacks_values() -> RiskScore:
    """A score with a raw column of 0 and 1, and of its missing values."""
    column = Item.of("smoker", "boolean")
    missing = Item.of("smoker", "missing")
    items = {**read_items(["age >= 60"]), column.name: column, missing.name: missing}
    return RiskScore(-3, {"smoker": 3, "smoker is missing": 5, "age >= 60": 1}, items=items)


def test_a_raw_column_and_its_missing_values_are_one_variable():
    """Who smokes is known to: no table, rule or calculator has both."""
    score = column_that_lacks_values()
    (family, _) = families(score.points, score.items)
    assert family == Family(("smoker is missing", "smoker"), ((0, 0), (0, 1), (1, 0)))
    assert [row.score for row in score.risk_table()] == ["0", "1", "3", "4", "5", "6"]
    (bands, _) = score.bands()
    assert str(bands) == "smoker: no: 0, yes: 3, missing: 5"
    assert {*bands.features} == {"smoker", "smoker is missing"}
    # Six points need the age as well: smoker and missing together would be eight without it.
    assert str(score.boolean_rule(6)) == "smoker is missing AND age >= 60"
    remarks = score.remarks({"smoker": [1], "smoker is missing": [1], "age >= 60": [0]})
    assert "contradict each other" in " ".join(remarks)


def test_an_explanation_changes_a_raw_column_and_its_missing_value_together():
    score = column_that_lacks_values()
    explanation = score.explain({"smoker": 0, "smoker is missing": 1, "age >= 60": 0})
    (change,) = [one for one in explanation.changes if one.feature == "smoker"]
    assert change.along == (("smoker is missing", 0),)
    assert change.score == 3
    assert explanation.unstated == ()
    by_variable = score.with_layout(by="variable")
    assert "smoker: missing" in str(by_variable.explain({"smoker": 0, "smoker is missing": 1,
                                                         "age >= 60": 0}))  # fmt: skip


def test_a_fit_of_a_raw_column_with_missing_values_shows_one_variable():
    """Through the encoder and JSON as well."""
    smoker = np.array([0, 1, np.nan] * 40)
    y = np.array([0, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1] * 10)
    encoder = ItemEncoder(missing="indicator")
    classifier = RiskSLIMClassifier(items=encoder, max_size=2)
    score = classifier.fit(pd.DataFrame({"smoker": smoker}), y).risk_score_
    assert set(score.points) == {"smoker", "smoker is missing"}
    for one in (score, RiskScore.from_json(score.to_json())):
        assert [bands.variable for bands in one.bands()] == ["smoker"]
        possible = {0, *score.points.values()}  # never the sum of both
        assert {row.lowest for row in one.risk_table()} == possible
