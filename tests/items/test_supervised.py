"""Cut-offs that the outcome chooses, and levels in an order."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from riskslim import (
    ItemEncoder,
    RiskScore,
    RiskSLIMClassifier,
    cross_validate_risk_score,
)
from riskslim.items import Item
from riskslim.items.supervised import splits_with_enough, supervised_splits


def table(n=600, seed=0):
    rng = np.random.default_rng(seed)
    raw = pd.DataFrame({"x": rng.normal(50, 10, n), "k": rng.integers(0, 30, n)})
    risk = np.where(raw["x"] > 57, 0.8, 0.2) + 0.15 * (raw["k"] > 20)
    return raw, (rng.random(n) < risk).astype(int)


def names(encoder):
    return [item.name for item in encoder.items_]


def entropy(splits, weight, events):
    starts = [0, *splits]
    rows, ones = np.add.reduceat(weight, starts), np.add.reduceat(events, starts)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [np.where(part > 0, part * np.log(part / rows), 0) for part in (ones, rows - ones)]
    return -float(sum(part.sum() for part in parts))


@st.composite
def groups(draw):
    """Numbers of rows of up to twelve values, and of positive ones among them."""
    weight = draw(st.lists(st.integers(1, 8), min_size=2, max_size=12))
    events = [draw(st.integers(0, n)) for n in weight]
    return np.array(weight, np.float64), np.array(events, np.float64)


@settings(max_examples=60)
@given(table=groups(), least=st.integers(1, 5))
def test_the_first_split_is_the_best_one(table, least):
    weight, events = table
    m = len(weight)
    splits = supervised_splits(weight, events, 1, least)
    total = weight.sum()
    allowed = [k for k in range(1, m) if min(weight[:k].sum(), total - weight[:k].sum()) >= least]
    if not splits:
        assert (
            not allowed
            or events.sum() in (0, total)
            or all(
                entropy([k], weight, events) == pytest.approx(entropy([], weight, events))
                for k in allowed
            )
        )
        return
    assert splits[0] in allowed
    best = min(entropy([k], weight, events) for k in allowed)
    assert entropy(splits, weight, events) == pytest.approx(best)


@given(table=groups(), least=st.integers(0, 11), of_class=st.integers(0, 3), data=st.data())
def test_bands_have_enough(table, least, of_class, data):
    weight, events = table
    splits = sorted(data.draw(st.sets(st.integers(1, len(weight) - 1), min_size=1)))

    def is_enough(some):
        starts = [0, *some]
        rows, ones = np.add.reduceat(weight, starts), np.add.reduceat(events, starts)
        return not some or (
            rows.min() >= least and min(ones.min(), (rows - ones).min()) >= of_class
        )

    kept = splits_with_enough(splits, weight, events, least, of_class)
    assert set(kept) <= set(splits)
    assert is_enough(kept)
    if is_enough(splits):
        assert kept == splits


def test_they_are_those_of_a_tree_of_each_column():
    raw, y = table()
    encoder = ItemEncoder(thresholds="supervised", n_thresholds=3).fit(raw, y)
    for name in raw:
        values = raw[[name]].to_numpy(dtype=np.float32)
        tree = DecisionTreeClassifier(
            criterion="log_loss",
            max_leaf_nodes=4,
            min_weight_fraction_leaf=0.05 * (1 - 1e-9),
            random_state=0,
        ).fit(values, y)
        cuts = sorted(tree.tree_.threshold[tree.tree_.children_left >= 0])
        items = [item for item in encoder.items_ if item.variable == name]
        assert len(items) == len(cuts)
        for item, cut in zip(items, cuts, strict=True):
            assert np.array_equal(raw[name] >= item.value, values[:, 0] > cut)
            assert item.interval[0] < cut < item.interval[1]


@pytest.mark.parametrize("direction", [">=", "<="])
def test_least_rows_and_events_and_digits(direction):
    raw, y = table()
    options = {
        "thresholds": "supervised",
        "direction": direction,
        "min_frequency": 60,
        "min_events": 20,
    }
    encoder = ItemEncoder(**options, threshold_digits=2).fit(raw, y)
    assert encoder.items_
    items = encoder.transform(raw)
    for name in raw:
        own = [item for item in encoder.items_ if item.variable == name]
        bands = items[[item.name for item in own]].sum(axis=1)
        counts = pd.crosstab(bands, y)
        assert len(counts) == len(own) + 1
        assert counts.to_numpy().min() >= 20
        assert counts.sum(axis=1).min() >= 60
        assert all(float(f"{item.value:.2g}") == item.value for item in own)


def test_columns_of_their_own_and_no_split():
    raw, y = table()
    encoder = ItemEncoder(thresholds={"x": "supervised", "k": [15]}, n_thresholds=2).fit(raw, y)
    assert names(encoder)[-1] == "k >= 15"
    assert 1 <= len(names(encoder)) - 1 <= 2
    with pytest.raises(ValueError, match="no threshold of any column tells the classes apart"):
        ItemEncoder(thresholds="supervised", min_frequency=400).fit(raw, y)


def test_digits_of_quantiles():
    raw, _ = table()
    encoder = ItemEncoder(threshold_digits=1).fit(raw)
    assert names(encoder) == ["x >= 40", "x >= 50", "x >= 60", "k >= 3", "k >= 6", "k >= 9",
                              "k >= 10", "k >= 20"]  # fmt: skip
    for item in encoder.items_:
        lower, upper = item.interval
        assert lower < item.value <= upper


def test_weights_are_repeated_rows():
    raw, y = table(200)
    weights = np.random.default_rng(1).integers(0, 4, 200)
    rows = np.repeat(np.arange(200), weights)
    options = {"thresholds": "supervised", "min_frequency": 20}
    one = ItemEncoder(**options).fit(raw, y, sample_weight=weights)
    assert one.items_ == ItemEncoder(**options).fit(raw.iloc[rows], y[rows]).items_


def test_the_outcome_is_needed():
    raw, y = table(100)
    encoder = ItemEncoder(thresholds="supervised")
    with pytest.raises(ValueError, match=r"requires y to be passed.*the outcome chooses"):
        encoder.fit(raw)
    with pytest.raises(ValueError, match="samples"):
        encoder.fit(raw, y[:-1])
    with pytest.raises(ValueError, match="3 distinct labels"):
        encoder.fit(raw, np.arange(100) % 3)
    assert encoder.__sklearn_tags__().target_tags.required
    assert not ItemEncoder().__sklearn_tags__().target_tags.required
    text = np.where(y, "yes", "no")
    assert ItemEncoder(thresholds="supervised").fit(raw, text).items_ == encoder.fit(raw, y).items_


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"thresholds": "tree"}, ValueError, "thresholds must be one of 'supervised'"),
        ({"thresholds": {"x": "tree"}}, ValueError, "'all', or 'supervised'"),
        ({"threshold_digits": 0}, ValueError, "threshold_digits must be at least 1"),
        ({"threshold_digits": 1.5}, TypeError, "threshold_digits must be an int"),
        ({"min_events": -1}, ValueError, "min_events must be at least 0"),
    ],
)
def test_bad_calls(options, error, message):
    raw, y = table(50)
    with pytest.raises(error, match=message):
        ItemEncoder(**options).fit(raw, y)


def test_folds_choose_on_their_training_rows(monkeypatch):
    raw, y = table(300)
    seen = []
    original = ItemEncoder.fit

    def fit(self, X, y=None, sample_weight=None):
        seen.append(len(X))
        assert len(y) == len(X)
        return original(self, X, y, sample_weight)

    monkeypatch.setattr(ItemEncoder, "fit", fit)
    encoder = ItemEncoder(thresholds="supervised", n_thresholds=3)
    for model in (
        make_pipeline(encoder, RiskSLIMClassifier(max_size=2)),
        RiskSLIMClassifier(max_size=2, items=encoder),
    ):
        cross_validate_risk_score(model, raw, y, cv=3)
    assert sorted(seen) == [200] * 6 + [300] * 2


# ---------------------------------------------------------------------------------------------
# Levels in an order
# ---------------------------------------------------------------------------------------------

STAGES = ["0", "I", "II", "III", "IV"]
GIVEN = ["II", "I", "III", "II", "I", "III", "I"]


def in_kind(kind, values=GIVEN):
    if kind == "pandas":
        return pd.DataFrame({"stage": pd.Categorical(values, categories=STAGES, ordered=True)})
    if kind == "polars":
        return pl.DataFrame({"stage": values}, schema={"stage": pl.Enum(STAGES)})
    codes = pa.array([STAGES.index(value) for value in values], pa.int8())
    stages = pa.DictionaryArray.from_arrays(codes, pa.array(STAGES), ordered=True)
    return pa.table({"stage": stages})


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("direction", [">=", "<="])
def test_levels_in_an_order_are_cutoffs(kind, direction):
    raw = in_kind(kind)
    encoder = ItemEncoder(direction=direction).fit(raw)
    ranks = [STAGES.index(value) for value in GIVEN]
    ends = ["II", "III"] if direction == ">=" else ["I", "II"]
    assert names(encoder) == [f"stage {direction} {end}" for end in ends]
    items = np.column_stack(
        [*map(np.asarray, (encoder.transform(raw)[name] for name in names(encoder)))]
    )
    for column, end in zip(items.T, ends, strict=True):
        limit = STAGES.index(end)
        assert column.tolist() == [
            int(r >= limit if direction == ">=" else r <= limit) for r in ranks
        ]
    assert encoder.variables_["stage"].levels == tuple(STAGES)
    later = encoder.transform(in_kind(kind, ["0", "IV"]))
    expected = [[0, 0], [1, 1]] if direction == ">=" else [[1, 1], [0, 0]]
    assert (
        np.column_stack([*map(np.asarray, (later[name] for name in names(encoder)))]).tolist()
        == expected
    )


def test_levels_in_an_order_that_are_numbers_or_missing():
    raw = pd.DataFrame(
        {"grade": pd.Categorical([1, 3, 2, None, 1], categories=[3, 2, 1], ordered=True)}
    )
    encoder = ItemEncoder(missing="indicator").fit(raw)
    assert names(encoder) == ["grade >= 2", "grade >= 1", "grade is missing"]
    assert encoder.transform(raw).to_numpy().tolist() == [
        [1, 1, 0], [0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 1, 0],
    ]  # fmt: skip


def test_levels_in_an_order_as_levels_all_the_same():
    assert names(ItemEncoder(categorical=["stage"]).fit(in_kind("pandas"))) == [
        "stage = I", "stage = II", "stage = III",
    ]  # fmt: skip


def test_at_most_so_many_and_by_the_outcome():
    values = np.tile(np.arange(20), 20)
    raw = pd.DataFrame({"rank": pd.Categorical(values, categories=range(20), ordered=True)})
    assert len(names(ItemEncoder(n_thresholds=4).fit(raw))) == 4
    encoder = ItemEncoder(thresholds="supervised", n_thresholds=1)
    assert names(encoder.fit(raw, values >= 13)) == ["rank >= 13"]


def test_a_score_of_levels_in_an_order():
    rng = np.random.default_rng(0)
    stages = rng.choice(STAGES, 400)
    ranks = np.array([STAGES.index(stage) for stage in stages])
    y = (rng.random(400) < 0.15 + 0.17 * ranks).astype(int)
    raw = in_kind("pandas", stages)
    for sign, is_possible in (("+", True), ("-", False)):
        model = RiskSLIMClassifier(items=ItemEncoder(), max_size=3, monotone={"stage": sign}).fit(
            raw, y
        )
        assert bool(model.risk_score_.points) == is_possible
        assert all(points > 0 for points in model.risk_score_.points.values())
        score = RiskScore.from_json(model.risk_score_.to_json())
        assert score == model.risk_score_
        assert [item.order for item in score.items.values()] == [">="] * len(score.points)
        assert np.array_equal(score.predict_proba(raw), model.predict_proba(raw))
        assert score.certificate is not None  # the order is no part of what it is bound to


def test_items_state_an_order():
    for wrong in ({"kind": ">=", "value": 3}, {"kind": "in", "value": ("a",), "order": ">"}):
        with pytest.raises(ValueError, match="the order of an item must be"):
            Item(**{"name": "x", "variable": "x", "order": ">=", **wrong})
    pairs = itertools.product([None, ">=", "<="], repeat=2)
    assert all(
        Item("x", "x", "in", ("a",), order=a) == Item("x", "x", "in", ("a",), order=b)
        for a, b in pairs
    )
