"""How flat the objective is around cut-offs, against trying each of them, and how it is said."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from riskslim import ItemEncoder, RiskScore, RiskSLIMClassifier
from riskslim.items import Item
from riskslim.items.cutoffs import texts_within
from riskslim.report import render
from riskslim.score.cutoff_ranges import CutoffRange, remark_on_ranges_of_cutoffs
from riskslim.score.cutoff_sweep import ranges_with_other_points

pytestmark = pytest.mark.usefixtures("no_diagrams")

KINDS = ("<=", ">=", "<", ">")


def objective(score, values, other, y, weights, item):
    """The weighted mean loss, with another condition in place of that on `v`."""
    met = {
        ">=": values >= item.value, "<=": values <= item.value,
        ">": values > item.value, "<": values < item.value,
    }[item.kind]  # fmt: skip
    points = score.points["v"] * met + score.points["other"] * other
    margin = np.where(y, 1, -1) * (points + score.intercept) / score.scale
    return float((weights * np.logaddexp(0, -margin)).sum() / weights.sum())


@settings(max_examples=100)
# A cut-off that all rows meet, or none: the next one differs, and ones beyond that do not.
@example("<=", 17, 851968, 0.01, 1.0, True)
@given(
    st.sampled_from(KINDS),
    st.integers(6, 25),
    st.integers(0, 10**6),
    st.sampled_from([0.01, 0.05, 0.3]),
    st.sampled_from([1.0, 2.5]),
    st.booleans(),
)
def test_ranges_are_those_of_trying_each_cutoff(kind, n, seed, share, scale, gaps):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 8, n).astype(float)
    if gaps:
        values[rng.random(n) < 0.3] = np.nan
    weights = rng.integers(0, 3, n).astype(float)
    y = rng.random(n) < 0.5
    other = rng.integers(0, 2, n)
    known = np.unique(values[(weights > 0) & (values == values)])
    if len(known) < 2 or not 0 < y[weights > 0].sum() < (weights > 0).sum():
        return
    cutoff = float(rng.integers(0, 8))
    item = Item("v", "x", kind, cutoff)
    points = {"v": int(rng.integers(1, 5)), "other": -2}
    score = RiskScore(-1, points, items=[item], scale=scale)
    own = objective(score, values, other, y, weights, item)

    X = {"x": values, "v": (np.nan_to_num(values, nan=np.inf) >= 0) & False, "other": other}
    X["v"] = np.array([
        one == one and {">=": one >= cutoff, "<=": one <= cutoff, ">": one > cutoff,
                        "<": one < cutoff}[kind] for one in values
    ], dtype=int)  # fmt: skip
    ranges = score.with_cutoff_ranges(X, y.astype(int), weights, share=share).cutoff_ranges
    (found,) = ranges.values()

    def change(at):
        return objective(score, values, other, y, weights, dataclasses.replace(item, value=at)) / (
            own
        ) - 1  # fmt: skip

    candidates = known[1:] if kind in (">=", "<") else known[:-1]
    changes = {float(at): change(at) for at in candidates}
    slack = 1e-9
    assert found.lower <= cutoff <= found.upper
    assert found.lower in {*changes, cutoff}
    assert found.upper in {*changes, cutoff}
    for at, by in changes.items():
        if found.lower <= at <= found.upper:
            assert abs(by) <= share + slack
    below = [at for at in changes if at < found.lower]
    above = [at for at in changes if at > found.upper]
    # The next cut-off beyond an end is no longer as good, if the range reaches any at all.
    if found.lower < found.upper or cutoff in changes:
        for at in below[-1:] + above[:1]:
            assert abs(changes[at]) > share - slack
    assert found.change == pytest.approx(min(0.0, *changes.values()), abs=1e-9)
    assert change(found.best) == pytest.approx(found.change, abs=1e-9)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(5)
    n = 400
    raw = pd.DataFrame(
        {"age": rng.integers(20, 90, n), "crp": rng.exponential(8, n).round(1),
         "sex": rng.choice(["f", "m"], n)}
    )  # fmt: skip
    raw.loc[::17, "crp"] = np.nan
    odds = -2 + 2 * (raw["age"] >= 60) + 1.5 * (raw["crp"] >= 10)
    died = rng.random(n) < 1 / (1 + np.exp(-odds))
    encoder = ItemEncoder(n_thresholds=15, round_thresholds=True, missing="indicator")
    classifier = RiskSLIMClassifier(max_size=2, items=encoder, time_limit=60)
    return classifier.fit(raw, died), raw, died


def test_a_fit_to_raw_columns_knows_the_ranges(fitted):
    classifier, raw, died = fitted
    score = classifier.risk_score_
    assert set(score.cutoff_ranges) == {
        name for name, item in score.items.items() if item.kind == ">="
    }
    assert len(score.cutoff_ranges) == 2
    (remark,) = score.remarks()
    assert remark in classifier.remarks_
    assert remark.startswith("Other cut-offs that give an objective within 0.1%")
    # The objective counts the price of items, which the loss alone lacks; it is tiny here.
    by_hand = score.with_cutoff_ranges(raw, died)
    for name, one in score.cutoff_ranges.items():
        other = by_hand.cutoff_ranges[name]
        assert (one.lower, one.upper, one.best) == (other.lower, other.upper, other.best)
        assert one.change == pytest.approx(other.change, abs=1e-9)
    assert score.remarks(raw) == ()  # of rows there is nothing to say


def test_a_list_of_scores_widens_ranges():
    share, widened = 0.03, 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        raw = pd.DataFrame({"age": rng.integers(0, 12, 120), "flag": rng.integers(0, 2, 120)})
        y = rng.random(120) < 1 / (1 + np.exp(2 - raw["age"] / 3 - raw["flag"]))
        encoder = ItemEncoder(n_thresholds="all")
        classifier = RiskSLIMClassifier(
            max_size=2, items=encoder, within=share, scale=1, l2_penalty=0, time_limit=120
        )
        score = classifier.fit(raw, y).risk_score_
        pool, items = classifier.solution_.pool, classifier.encoder_.items_
        assert pool.complete
        ranges = score.with_cutoff_ranges(raw, y, share=share).cutoff_ranges
        items = {item.name: item for item in items}
        found = ranges_with_other_points(ranges, score, pool, items)
        for name, one in found.items():
            assert one.refitted
            plain = ranges[name]
            assert one.lower <= plain.lower <= plain.upper <= one.upper
            widened += (one.lower, one.upper) != (plain.lower, plain.upper)
            # By hand: the cut-offs of scores in the list with the same other features.
            others = set(score.points) - {name}
            listed = {
                int(extra.split()[-1])
                for rank in range(len(pool))
                if len(pool.points(rank)) == len(score.points) and others < set(pool.points(rank))
                for extra in set(pool.points(rank)) - others
                if extra.startswith("age >= ")
            }
            assert set(range(int(one.lower), int(one.upper) + 1)) <= listed
            assert not {int(one.lower) - 1, int(one.upper) + 1} & listed
        # A list that ends before the share says nothing of cut-offs, one beyond it says the same.
        short = dataclasses.replace(pool, bound=pool.objectives[0] * (1 + share / 2))
        assert ranges_with_other_points(ranges, score, short, items) == ranges
        # Where values lie between cut-offs, those are not known to be as good.
        few = {name: items[name] for name in [*items][::2]} | dict(score.items)
        for name, one in ranges_with_other_points(ranges, score, pool, few).items():
            assert (one.lower, one.upper) == (ranges[name].lower, ranges[name].upper) or (
                one.lower >= found[name].lower and one.upper <= found[name].upper
            )
        # At 0.1%, the fit has asked the list by itself.
        assert all(one.refitted for one in score.cutoff_ranges.values())
        (remark,) = score.remarks()
        assert "with other points where need be" in remark
    assert widened


def test_ranges_are_saved(fitted):
    score = fitted[0].risk_score_
    again = RiskScore.from_json(score.to_json())
    assert again == score
    assert again.cutoff_ranges == score.cutoff_ranges
    intervals = {name: item.interval for name, item in score.items.items()}
    assert {name: item.interval for name, item in again.items.items()} == intervals
    assert any(intervals.values())
    assert pickle.loads(pickle.dumps(score)).cutoff_ranges == score.cutoff_ranges
    # Files of before have neither, and are read.
    plain = json.loads(score.to_json())
    for entry in plain["points"]:
        entry.pop("cutoff_range", None)
        entry.get("item", {}).pop("interval", None)
    old = RiskScore.from_json(json.dumps(plain))
    assert old.cutoff_ranges == {}
    assert old.points == score.points
    assert all(item.interval is None for item in old.items.values())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda entry: entry["cutoff_range"].pop("best"), "'cutoff_range' must have"),
        (lambda entry: entry["cutoff_range"].update(lower=1e9), "lower must be at most upper"),
        (lambda entry: entry["cutoff_range"].update(share=2), "share must be between 0 and 1"),
        (lambda entry: entry["cutoff_range"].update(change=1), "change must be at most 0"),
        (lambda entry: entry["cutoff_range"].update(upper="high"), "upper must be a number"),
        (lambda entry: entry["item"].update(interval=[0, 0]), "interval"),
        (lambda entry: entry["item"].update(interval="wide"), "interval"),
    ],
)
def test_files_that_are_refused(fitted, change, message):
    plain = json.loads(fitted[0].risk_score_.to_json())
    change(plain["points"][0])
    with pytest.raises(ValueError, match=message):
        RiskScore.from_json(json.dumps(plain))


def test_the_report_says_it_once(fitted):
    classifier, raw, died = fitted
    page = render(classifier.risk_score_, raw, died, n_resamples=0)
    assert page.count("Other cut-offs that give an objective within 0.1%") == 1


def test_sheets_say_which_cutoffs_are_equivalent():
    items = [Item("age >= 50", "age", ">=", 50, (48, 51)), Item("BMI <= 18.5", "BMI", "<=", 18.5)]
    score = RiskScore(-1, {"age >= 50": 2, "BMI <= 18.5": 1}, items=items)
    note = "age >= 50: any cut-off above 48 and up to 51 splits the training rows alike."
    assert note in str(score)
    assert note.replace(">=", r"&gt;=") in score.to_html()
    assert note in score.to_markdown()
    assert "any cut-off above 48 and up to 51 splits the training rows alike." in score.to_latex()
    assert note in "".join(text.get_text() for text in score.plot().texts).replace("\n", " ") or (
        "any cut-off above 48" in " ".join(text.get_text() for text in score.plot().texts)
    )
    trivial = RiskScore(-1, {"age >= 50": 2}, items=[Item("age >= 50", "age", ">=", 50, (49, 50))])
    assert "any cut-off" not in str(trivial)


def test_words():
    flat = CutoffRange(47, 54, 51, -0.0004)
    sharp = CutoffRange(30, 30, 28, -0.004)
    assert flat.describe("age >= 50") == (
        "age >= 50: any cut-off from 47 to 54 gives an objective within 0.1%, all else as it is."
    )
    assert sharp.describe("BMI >= 30") == (
        "BMI >= 30: no other cut-off nearby gives an objective within 0.1%, all else as it is; 28 "
        "would lower it by 0.4%."
    )
    assert remark_on_ranges_of_cutoffs({}) == ""
    assert remark_on_ranges_of_cutoffs({"age >= 50": flat}) == flat.describe("age >= 50")


def test_what_is_refused(fitted):
    classifier, raw, died = fitted
    score = classifier.risk_score_
    with pytest.raises(ValueError, match="rows and labels are needed"):
        score.with_cutoff_ranges(raw, None)
    for share in (0, 1, math.nan, "much"):
        with pytest.raises(ValueError, match="share must be"):
            score.with_cutoff_ranges(raw, died, share=share)
    with pytest.raises(ValueError, match="not among feature_names"):
        RiskScore(-1, {"a": 1}, cutoff_ranges={"b": CutoffRange(1, 2, 1, 0)})
    with pytest.raises(TypeError, match="must be a CutoffRange"):
        RiskScore(-1, {"a": 1}, cutoff_ranges={"a": (1, 2)})


def test_scores_without_raw_columns_have_no_ranges():
    score = RiskScore(-1, {"age >= 50": 2, "smoker": 1}, items=[Item.parse("age >= 50")])
    X = {"age >= 50": [0, 1, 1, 0], "smoker": [0, 1, 0, 1]}
    assert score.with_cutoff_ranges(X, [0, 1, 1, 0]).cutoff_ranges == {}
    assert RiskScore(-1, {}).with_cutoff_ranges({"age": [1, 2]}, [0, 1]).cutoff_ranges == {}


def test_ranges_are_said_as_on_the_sheet():
    """A range that ends at the cut-off of a score goes on to where rows are split otherwise."""
    own = Item("crp >= 50", "crp", ">=", 50.0, (48.123456789, 51.987654321))
    one = CutoffRange(50.0, 61.123456789012, best=50.0, change=0.0)
    assert one.describe("crp >= 50", own) == (
        "crp >= 50: any cut-off above 48.2 and up to 61.1 gives an objective within 0.1%, all else "
        "as it is."
    )
    assert "from 50 to 61.1 gives" in one.describe("crp >= 50")
    below = CutoffRange(40.25, 51.987654321, best=33.333333333333336, change=-0.01)
    assert below.describe("crp >= 50", own).split(": ")[1] == (
        "any cut-off from 40.3 to 51.9 gives an objective within 0.1%, all else as it is; one of "
        "about 33.3333 would lower it by 1%."
    )
    other = dataclasses.replace(own, name="crp <= 50", kind="<=")
    assert "from 40.3 to below 51.9" in CutoffRange(40.25, 50.0, 50.0, 0.0).describe("", other)
    # Nothing but what splits the rows alike.
    for item, ends in ((own, (50.0, 51.987654321)), (other, (48.123456789, 50.0))):
        alone = CutoffRange(*ends, best=50.0, change=0.0)
        assert "no other cut-off nearby gives" in alone.describe(item.name, item)
        assert (
            remark_on_ranges_of_cutoffs({"a": alone, "b": alone}, {"a": item}).count("none nearby")
            == 1
        )


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_printed_ends_lie_within(lower, width):
    upper = lower + width
    if lower < upper:
        first, last = map(float, texts_within(lower, upper))
        assert lower <= first <= last <= upper
        assert last - first >= 0.97 * (upper - lower)
