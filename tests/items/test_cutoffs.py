"""Cut-offs: all of a column, the intervals that split its rows alike, and round numbers in them."""

from __future__ import annotations

import math
from decimal import Context, Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from riskslim import (
    CoefficientSet,
    ItemEncoder,
    RiskScoreProblem,
    TrainingData,
    branch_and_bound,
)
from riskslim.items import Item, RawVariable
from riskslim.items.cutoffs import (
    Neighbours,
    equivalent_cutoffs,
    middle_cutoff,
    note_on_cutoffs,
    placed_cutoff,
    roundest_cutoff,
)
from riskslim.items.item import COMPARISONS, lies_between

KINDS = st.sampled_from([">=", "<="])
# Printed in all ways: short and long ones, large, tiny, negative, whole.
FLOATS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.decimals(-1000, 1000, places=1).map(float),
    st.integers(-200, 200).map(float),
    st.floats(-1e-30, 1e-30),
)
SINGLES = st.floats(allow_nan=False, allow_infinity=False, width=32)


def digits(number: Decimal) -> int:
    """Significant digits, none of 0."""
    return len("".join(map(str, number.as_tuple().digits)).strip("0"))


def has_number(lower: Decimal, upper: Decimal, kind: str, n_digits: int) -> bool:
    """Whether a number of so few digits splits as both ends do: by the neighbours of decimal."""
    context = Context(prec=n_digits)
    if kind == ">=":
        return context.next_plus(lower) <= upper
    return context.next_minus(upper) >= lower


@given(FLOATS, FLOATS, KINDS)
@example(0.0, 5e-324, ">=")
@example(-5e-324, 0.0, "<=")
@example(1.7e308, 1.79e308, ">=")
@example(9.0, 1000.0, "<=")
def test_the_roundest_cutoff_has_the_fewest_digits(one, other, kind):
    lower, upper = sorted([one, other])
    if lower == upper:
        return
    ends = Decimal(repr(lower)), Decimal(repr(upper))
    chosen = roundest_cutoff(lower, upper, kind)
    assert lies_between(chosen, *ends, kind)
    if lies_between(Decimal(0), *ends, kind):
        assert chosen == 0
    elif digits(chosen) > 1:
        assert not has_number(*ends, kind, digits(chosen) - 1)
    # A whole number between whole numbers, and never finer than both ends.
    finest = max(0, *(-int(end.as_tuple().exponent) for end in ends))
    assert chosen == chosen.quantize(Decimal(1).scaleb(-finest), context=Context(prec=2000))


@pytest.mark.parametrize(
    ("lower", "upper", "kind", "wanted"),
    [
        (48, 51, ">=", "50"),
        (48, 50, "<=", "49"),
        (47, 50, "<=", "49"),
        (47, 52, "<=", "50"),
        (49, 50, ">=", "50"),
        (49, 50, "<=", "49"),
        (43, 48, ">=", "45"),
        (0.12, 0.71, ">=", "0.5"),
        (49.37, 49.4, ">=", "49.4"),
        (0, 0.3, ">=", "0.1"),
        (0, 1, ">=", "1"),
        (-3, 12, ">=", "0"),
        (-12, -3, "<=", "-10"),
        (-1240, -1180, ">=", "-1200"),
        (12345678, 12445678, ">=", "12400000"),
        (1.23e-7, 4.9e-7, "<=", "0.0000003"),
        (95, 205, ">=", "100"),
    ],
)
def test_people_write_round_numbers(lower, upper, kind, wanted):
    assert roundest_cutoff(lower, upper, kind) == Decimal(wanted)


@given(FLOATS, FLOATS, KINDS)
def test_the_middle_is_in_the_middle(one, other, kind):
    lower, upper = sorted([one, other])
    if lower == upper:
        return
    middle = Context(prec=2000).create_decimal(middle_cutoff(lower, upper, kind))
    exact = Context(prec=2000)
    twice = exact.add(Decimal(repr(lower)), Decimal(repr(upper)))
    assert exact.multiply(middle, Decimal(2)) == twice


@given(st.integers(-1000, 1000), st.integers(1, 50), KINDS, st.sampled_from([int, float]))
def test_the_middle_of_whole_numbers_is_whole(lower, width, kind, number):
    lower, width = number(lower), number(width)
    middle = middle_cutoff(lower, lower + width, kind, integers=True)
    assert middle == int(middle)
    assert lies_between(middle, lower, lower + width, kind)
    assert abs(2 * int(middle) - (2 * lower + width)) <= 1


@given(
    st.one_of(
        st.tuples(st.just(np.float64), st.lists(FLOATS, min_size=2, max_size=2, unique=True)),
        st.tuples(st.just(np.float32), st.lists(SINGLES, min_size=2, max_size=2, unique=True)),
        st.tuples(
            st.just(np.int64),
            st.lists(st.integers(-(2**53), 2**53), min_size=2, max_size=2, unique=True),
        ),
    ),
    KINDS,
    st.sampled_from(["value", "middle", "round"]),
)
def test_no_cutoff_splits_other_rows(typed, kind, placement):
    kind_of_number, ends = typed
    column = np.sort(np.array(ends, kind_of_number))
    between = Neighbours(column[0], column[1], kind)
    integers = bool((column == np.rint(column)).all())
    cutoff = placed_cutoff(between, placement, integers=integers)
    wanted = [False, True] if kind == ">=" else [True, False]
    assert COMPARISONS[kind](column, cutoff).tolist() == wanted
    if placement != "value" and cutoff != placed_cutoff(between, "value", integers=integers):
        # Also where a column of float32 is read as float64.
        assert COMPARISONS[kind](column.astype(object), cutoff).tolist() == wanted


# ---------------------------------------------------------------------------------------------
# Of the encoder
# ---------------------------------------------------------------------------------------------

COLUMNS = st.one_of(
    st.tuples(st.just("float64"), st.lists(FLOATS | st.just(math.nan), min_size=3, max_size=12)),
    st.tuples(st.just("float32"), st.lists(SINGLES | st.just(math.nan), min_size=3, max_size=12)),
    st.tuples(st.just("int64"), st.lists(st.integers(-300, 300), min_size=3, max_size=12)),
)


def encoders(**parameters):
    """The encoders that differ in where cut-offs lie."""
    return [
        ItemEncoder(missing="indicator", **parameters, **placement)
        for placement in ({}, {"threshold_position": "middle"}, {"round_thresholds": True})
    ]


@pytest.mark.slow
@settings(max_examples=75)
@given(COLUMNS, KINDS, st.sampled_from(["all", 1, 3]), st.data())
def test_where_cutoffs_lie_changes_no_item(typed, direction, n_thresholds, data):
    kind, values = typed
    column = np.array(values, kind)
    weights = np.array(
        data.draw(st.lists(st.integers(0, 2), min_size=len(column), max_size=len(column))), float
    )
    known = np.unique(column[(weights > 0) & (column == column)])
    if len(known) < 3:
        return
    X = pd.DataFrame({"v": column})
    every = [
        one.fit(X, sample_weight=weights)
        for one in encoders(n_thresholds=n_thresholds, direction=direction)
    ]
    counted = X[weights > 0]
    wanted = every[0].transform(counted).to_numpy()
    for encoder in every:
        np.testing.assert_array_equal(encoder.transform(counted).to_numpy(), wanted)
        names = [item.name for item in encoder.items_]
        assert len(set(names)) == len(names)
        values_of = [item.value for item in encoder.items_ if item.kind == direction]
        assert values_of == sorted(values_of)
        # Rows of weight 0 do not count: intervals are between values of the others.
        for item in encoder.items_:
            if item.kind == direction:
                low, high = np.array(item.interval, kind)
                assert low in known
                assert high in known
                assert not ((known > low) & (known < high)).any()
    if n_thresholds == "all":
        assert sum(item.kind == direction for item in every[0].items_) == len(known) - 1


@pytest.mark.parametrize("direction", [">=", "<="])
def test_intervals_hold_exactly_what_splits_alike(direction):
    ages = np.array([38.0, 48.0, 51.0, 51.0, 72.5])
    X = pd.DataFrame({"age": ages})
    for encoder in (
        ItemEncoder(n_thresholds="all", direction=direction),
        ItemEncoder(thresholds={"age": [40, 50, 60]}, direction=direction),
    ):
        encoder.fit(X)
        assert [item.interval for item in encoder.items_] == [(38, 48), (48, 51), (51, 72.5)]
        items = encoder.transform(X).to_numpy()
        for k, item in enumerate(encoder.items_):
            low, high = item.interval
            same = np.nextafter(low, high) if direction == ">=" else low
            last = high if direction == ">=" else np.nextafter(high, low)
            beyond = low if direction == ">=" else high
            for cutoff in (same, last):
                assert COMPARISONS[direction](ages, cutoff).tolist() == items[:, k].tolist()
            assert COMPARISONS[direction](ages, beyond).tolist() != items[:, k].tolist()


@given(st.lists(st.integers(0, 9), min_size=2, max_size=9), st.floats(-1, 10),
       st.sampled_from([*COMPARISONS]))  # fmt: skip
def test_equivalent_cutoffs_are_the_neighbours(values, cutoff, kind):
    distinct = np.unique(values)
    met = COMPARISONS[kind](distinct, cutoff)
    found = equivalent_cutoffs(distinct, kind, cutoff)
    if met.all() or not met.any():
        assert found is None
        return
    low, high = found
    assert lies_between(cutoff, low, high, kind)
    assert (COMPARISONS[kind](np.array(found), cutoff)).sum() == 1


def test_intervals_of_float32_are_those_of_the_numbers_themselves():
    column = np.array([0.5, 0.7, 0.9], np.float32)  # 0.699999988 and 0.899999976
    exact = tuple(column[1:].astype(float).tolist())
    assert equivalent_cutoffs(column, ">=", 0.7) == exact
    assert equivalent_cutoffs(column, ">=", 0.7000000001) == (0.7, 0.9)
    assert equivalent_cutoffs(column, ">=", exact[0]) == (0.5, 0.7)
    X = pd.DataFrame({"v": column})
    assert len(ItemEncoder(thresholds={"v": [0.7000000001]}).fit(X).items_) == 1


def test_round_cutoffs_of_a_column():
    X = pd.DataFrame({"age": [31.0, 38.0, 48.0, 51.0, 72.0], "crp": [0.0, 0.07, 0.31, 4.4, 88.2]})
    every = [[item.name for item in one.fit(X).items_] for one in encoders(n_thresholds="all")]
    assert every == [
        ["age >= 38", "age >= 48", "age >= 51", "age >= 72",
         "crp >= 0.07", "crp >= 0.31", "crp >= 4.4", "crp >= 88.2"],
        ["age >= 35", "age >= 43", "age >= 50", "age >= 62",
         "crp >= 0.035", "crp >= 0.19", "crp >= 2.355", "crp >= 46.3"],
        ["age >= 35", "age >= 40", "age >= 50", "age >= 60",
         "crp >= 0.05", "crp >= 0.2", "crp >= 2", "crp >= 50"],
    ]  # fmt: skip


def test_given_thresholds_are_left_as_they_are():
    X = pd.DataFrame({"age": [31, 38, 48, 51, 72]})
    encoder = ItemEncoder(thresholds={"age": [49.37]}, round_thresholds=True).fit(X)
    assert [item.name for item in encoder.items_] == ["age >= 49.37"]
    assert encoder.items_[0].interval == (48, 51)


def test_all_cutoffs_up_to_a_limit(caplog):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"age": rng.integers(20, 60, 300), "marker": rng.normal(size=300), "flag": [0, 1] * 150}
    )
    encoder = ItemEncoder(n_thresholds="all").fit(X)
    counts = {name: len(items) for name, items in encoder.groups_.items()}
    assert counts == {"age": X["age"].nunique() - 1, "marker": 299, "flag": 1}
    assert encoder.limited_ == {}
    assert not caplog.records
    limited = ItemEncoder(n_thresholds="all", max_thresholds=50).fit(X)
    assert limited.limited_ == {"marker": 299}
    assert "took 50 thresholds at quantiles, max_thresholds" in caplog.text
    assert "'marker' (299)" in caplog.text
    same = ItemEncoder(n_thresholds=50).fit(X)
    assert limited.items_ == same.items_
    assert same.limited_ == {}


def test_all_cutoffs_of_one_column():
    X = pd.DataFrame({"age": range(30), "marker": np.arange(30) / 7})
    encoder = ItemEncoder(n_thresholds=2, thresholds={"marker": "all"}).fit(X)
    assert {name: len(items) for name, items in encoder.groups_.items()} == {"age": 2, "marker": 29}


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        (
            {"n_thresholds": "every"},
            ValueError,
            "n_thresholds must be an int or 'all'",
        ),
        ({"thresholds": {"age": "every"}}, ValueError, "thresholds of 'age' must be a sequence"),
        ({"max_thresholds": 0}, ValueError, "max_thresholds must be at least 1"),
        ({"max_thresholds": "all"}, TypeError, "max_thresholds must be an int"),
        ({"round_thresholds": "yes"}, TypeError, "round_thresholds must be True or False"),
        ({"threshold_position": "round"}, ValueError, "threshold_position must be one of"),
    ],
)
def test_parameters_that_make_no_sense(parameters, error, message):
    with pytest.raises(error, match=message):
        ItemEncoder(**parameters).fit(pd.DataFrame({"age": [1, 2, 3]}))


def test_rounding_changes_no_objective():
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"age": rng.normal(50, 15, 200), "crp": rng.exponential(9.0, 200)})
    y = rng.random(200) < 1 / (1 + np.exp(-(X["age"] - 55) / 8 - (X["crp"] > 10)))
    found = []
    for encoder in encoders(n_thresholds=12):
        data = TrainingData(encoder.fit_transform(X), y)
        coefficients = CoefficientSet(data.feature_names, -5, 5)
        problem = RiskScoreProblem(data, coefficients, max_size=2)
        found.append(branch_and_bound(problem, time_limit=60))
    first, *others = found
    assert first.certificate.is_optimal
    for one in others:
        assert one.certificate.objective == first.certificate.objective
        assert one.coef.tolist() == first.coef.tolist()
    assert len({tuple(one.points) for one in found}) > 1


# ---------------------------------------------------------------------------------------------
# Items and notes
# ---------------------------------------------------------------------------------------------


def test_items_are_equal_whatever_their_interval():
    item = Item("age >= 50", "age", ">=", 50, (48, 51))
    assert item == Item.parse("age >= 50")
    assert hash(item) == hash(Item.parse("age >= 50"))
    assert repr(item) == repr(Item.parse("age >= 50"))


@pytest.mark.parametrize(
    ("kind", "value", "interval"),
    [
        (">=", 50, (50, 51)), (">=", 50, (48, 49)), ("<=", 50, (48, 50)), ("<=", 50, (51, 52)),
        (">", 50, (48, 50)), ("<", 50, (50, 51)), (">=", 50, (48,)), (">=", 50, [48, 51]),
        (">=", 50, ("48", "51")), ("=", "a", (48, 51)), ("missing", None, (48, 51)),
        (">=", 50, (math.nan, 51)), (">=", 50, (-math.inf, 51)), (">=", 50, (48, True)),
    ],
)  # fmt: skip
def test_intervals_that_are_none(kind, value, interval):
    with pytest.raises(ValueError, match="interval"):
        Item("x", "age", kind, value, interval)


def note(low, high, value=None, kind=">=", variable=None):
    value = value if value is not None else (high if kind == ">=" else low)
    return note_on_cutoffs([Item("age", "age", kind, value, (low, high))], [variable])


def test_notes_are_about_wide_intervals():
    assert note(48, 51) == "age: any cut-off above 48 and up to 51 splits the training rows alike."
    assert note(48, 51, kind="<=") == (
        "age: any cut-off from 48 to below 51 splits the training rows alike."
    )
    assert note(48, 49) == note(1.4, 1.5) == note(0, 1) == ""
    assert note(49.1, 49.37) == ""  # less than 1%
    years = RawVariable("age", "numeric", 1990.0, 2020.0)
    assert note(2001, 2004) == ""
    assert "above 2001 and up to 2004" in note(2001, 2004, variable=years)
    assert note_on_cutoffs([Item.parse("age >= 50")]) == ""
    two = [Item("a >= 5", "a", ">=", 5, (2, 5)), Item("b <= 5", "b", "<=", 5, (5, 9))]
    assert note_on_cutoffs(two) == (
        "Cut-offs that split the training rows alike: a >= 5 (above 2, up to 5); b <= 5 (from 5 to "
        "below 9)."
    )


@given(FLOATS, FLOATS, KINDS)
def test_what_a_note_says_is_within_the_interval(one, other, kind):
    low, high = sorted([one, other])
    if low == high or not (text := note(low, high, kind=kind)):
        return
    words = text.removeprefix("age: any cut-off ").split()
    first, last = float(words[1]), float(words[-6])
    assert low <= first < last <= high
    assert last - first >= 0.97 * (high - low)


@pytest.mark.parametrize("direction", [">=", "<="])
@pytest.mark.parametrize("cutoffs", [None, [0.2, 0.7]])
def test_floats_of_32_bits_are_compared_as_others_compare_them(direction, cutoffs):
    """0.7 in 32 bits is less than 0.7: rows at the cut-off had another risk in exports."""
    values = np.array([0.1, 0.2, 0.3, 0.7, 0.9, 0.7, 0.3, 0.1] * 5, np.float32)
    frame = pd.DataFrame({"f": values})
    thresholds = None if cutoffs is None else {"f": cutoffs}
    encoder = ItemEncoder(n_thresholds="all", direction=direction, thresholds=thresholds)
    items = encoder.fit_transform(frame)
    wide = encoder.transform(frame.astype(np.float64))
    np.testing.assert_array_equal(items, wide)
    for item in encoder.items_:
        exact = COMPARISONS[direction](values.astype(np.float64), item.value)
        np.testing.assert_array_equal(items[item.name], exact)
    kept = encoder.variables_["f"]
    assert not kept.outside(values.astype(np.float64)).any()
    assert not kept.outside(np.array([0.1, 0.9])).any()


@pytest.mark.parametrize("threshold", ["all", 3, [1], [0.5]])
@pytest.mark.parametrize("how", ["value", "middle"])
def test_thresholds_of_true_and_false(threshold, how):
    frame = pd.DataFrame({"x": [False, True, True, False], "z": [1, 2, 3, 4]})
    encoder = ItemEncoder(thresholds={"x": threshold}, threshold_position=how)
    items = encoder.fit_transform(frame)
    name = next(item.name for item in encoder.items_ if item.variable == "x")
    assert items[name].tolist() == [0, 1, 1, 0]
    assert (encoder.variables_["x"].minimum, encoder.variables_["x"].maximum) == (0, 1)


def test_a_cutoff_that_a_column_rounds_to_the_other_neighbour_splits_other_rows():
    lower = np.float32(1.0)
    upper = np.nextafter(lower, np.float32(2.0))
    middle = (float(lower) + float(upper)) / 2
    assert float(lower) < middle < float(upper)
    assert np.float32(middle) == lower
    assert not Neighbours(lower, upper, ">=").holds(middle)
    assert Neighbours(lower, upper, "<=").holds(middle)
    cutoff = placed_cutoff(Neighbours(lower, upper, ">="), "middle", integers=False)
    assert (np.array([lower, upper]) >= cutoff).tolist() == [False, True]
