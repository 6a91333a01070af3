"""Scorecards: totals are added up of bands, and have the risks of the scores, bit by bit."""

from __future__ import annotations

import itertools
import math
import re

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from riskslim import RiskScore
from riskslim.data.feature_ranges import FeatureRange
from riskslim.items import read_items

NAMES = ["age < 25", "age < 35", "income >= 4", "moved", "sex = m"]


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.integers(-5, 5).filter(bool), min_size=5, max_size=5),
    st.integers(-9, 9),
    st.sampled_from([1.0, 0.37, 4.0, 30.0]),
    st.sampled_from([(600, 50, 20), (0, 1, 100), (512.5, 0.2, 25.5), (-10, 19, 21)]),
    st.sampled_from(["safer", "riskier"]),
    st.booleans(),
)
def test_totals_have_the_risks_of_scores(points, intercept, scale, card, higher_is, recalibrate):
    items = read_items(NAMES)
    score = RiskScore(
        intercept, dict(zip(NAMES, points, strict=True)), items=items, scale=scale, prevalence=0.3
    )
    if recalibrate:
        score = score.recalibrated(prevalence=0.1)
    base_points, base_odds, pdo = card
    if pdo < 0.5 * scale * math.log(2):
        return
    found = score.scorecard(
        base_points=base_points, base_odds=base_odds, pdo=pdo, higher_is=higher_is
    )
    base, *variables = found.variables
    assert base.label == "Base points"
    assert all(isinstance(band.points, int) for one in found.variables for band in one.bands)
    assert all(min(band.points for band in one.bands) == 0 for one in variables)
    rows = [dict(zip(NAMES, values, strict=True)) for values in itertools.product((0, 1), repeat=5)]
    rows = [row for row in rows if row["age < 25"] <= row["age < 35"]]
    scores, risks = score.score_samples(rows), score.predict_proba(rows)[:, 1]
    totals = found.totals(scores)
    added = [found.base + sum(one.band_of(row).points for one in variables) for row in rows]
    assert added == totals.tolist()
    np.testing.assert_array_equal(found.risk(totals), risks)
    # In the order of risks, without a tie that the scores do not have.
    order = np.argsort(totals)
    steps = np.diff(scores[order]) * (1 if higher_is == "riskier" else -1)
    assert (steps[np.diff(totals[order]) > 0] > 0).all()
    assert len(set(totals.tolist())) == len(set(scores.tolist()))
    # Each row of the table is the risk of its totals.
    printed = {row.score: row.risk for row in found.risks}
    own = score.risk_table()
    assert sorted(row.risk for row in own) == sorted(printed.values())
    for total, value in set(zip(totals.tolist(), scores.tolist(), strict=True)):
        entry = next(row for row in found.risks if row.lowest <= total <= row.highest)
        assert entry.risk == next(r.risk for r in own if r.lowest <= value <= r.highest)


@pytest.mark.parametrize("higher_is", ["safer", "riskier"])
@pytest.mark.parametrize("scale", [0.2, 1.0, 3.0, 25.0])
def test_odds_and_points_that_double_them_are_as_stated(higher_is, scale):
    score = RiskScore(-5, {"a": 2, "b": 1}, scale=scale)
    card = score.scorecard(base_points=600, base_odds=50, pdo=20, higher_is=higher_is)
    sign = -1 if higher_is == "safer" else 1

    def odds(total: float) -> float:
        fitted = (total - card.offset) / card.factor
        return math.exp(sign * (score.intercept + fitted) / scale)

    assert odds(600) == pytest.approx(card.odds_at_base)
    assert odds(600 + card.pdo) == pytest.approx(2 * card.odds_at_base)
    # As near as whole points allow: half a point beside the odds, half a point for each fitted one.
    worth = abs(card.factor)
    assert abs(math.log(card.odds_at_base / 50)) <= 0.5 / (worth * scale) + 1e-12
    assert abs(worth - 20 / (scale * math.log(2))) <= 0.5
    assert card.pdo == pytest.approx(worth * scale * math.log(2))
    side = "against" if higher_is == "safer" else "for"
    assert f"odds of {card.odds_at_base:.4g} to 1 {side} the outcome" in str(card)
    assert f"{card.pdo:.4g} points more double them" in str(card)
    # The formula is that of the totals.
    inner = re.search(r"exp\(\((.*)\) / (.*)\)\)", card.formula)
    assert inner is not None
    for total in card.totals([0, 1, 2, 3]):
        exponent = eval(inner[1], {"score": int(total)}) / float(inner[2])
        assert 1 / (1 + math.exp(exponent)) == pytest.approx(card.risk([total])[0], rel=1e-4)


def test_renderings_of_a_scorecard():
    card = RiskScore(-5, {"a": 2, "b": -1}).scorecard({"a": [0, 1], "b": [1, 0]}, [0, 1])
    for text in (str(card), card.to_html(), card.to_markdown(), card.to_latex()):
        assert "Base points" in text
        assert str(card.base) in text
    assert {row.n_samples for row in card.risks} == {0, 1}
    assert "Base points" in [one.get_text() for one in card.plot().texts]
    assert RiskScore(-2, {}).scorecard().variables[0].label == "Base points"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pdo": 0.3}, "pdo=0.3 is too small: .* double with 0.6931 points or more"),
        ({"pdo": 0}, "pdo must be a positive number, got 0"),
        ({"pdo": 1e12}, "pdo=1000000000000.0 gives totals beyond"),
        ({"pdo": math.nan}, "pdo must be"),
        ({"base_odds": -1}, "base_odds must be a positive number, got -1"),
        ({"base_points": math.inf}, "base_points"),
        ({"base_points": 1e12}, "totals beyond 1,000,000,000"),
        ({"higher_is": "better"}, "higher_is must be 'safer' or 'riskier', got 'better'"),
        ({"max_rows": 2}, "max_rows must be at least 5"),
    ],
)
def test_scorecards_that_cannot_be(arguments, message):
    with pytest.raises(ValueError, match=message):
        RiskScore(-5, {"a": 2}).scorecard(**arguments)


def test_scorecards_are_for_conditions():
    ranges = {"visits": FeatureRange(0, 7)}
    score = RiskScore(-5, {"visits": 2}, feature_ranges=ranges)
    with pytest.raises(ValueError, match="'visits' is multiplied by points"):
        score.scorecard()
    with pytest.raises(TypeError, match="scores must be integers"):
        RiskScore(-5, {"a": 2}).scorecard().totals([0.5])


@pytest.mark.parametrize("higher_is", ["safer", "riskier"])
@pytest.mark.parametrize("points", ["fitted", "non-negative"])
def test_totals_from_a_lowest_to_a_highest_one(higher_is, points):
    names = ["age < 25", "age < 35", "defaulted before", "owner"]
    score = RiskScore(-5, dict(zip(names, (2, 1, 3, -2), strict=True)), items=read_items(names))
    score = score.with_layout(points=points)
    X = pd.DataFrame(itertools.product((0, 1), repeat=4), columns=names)
    X = X[X["age < 25"] <= X["age < 35"]]
    card = score.scorecard(span=(300, 850), higher_is=higher_is)
    totals = card.totals(score.score_samples(X))
    # Nine scores, -2 to 6: 68 points each.
    assert (abs(card.factor), totals.min(), totals.max()) == (68, 300, 844)
    risks = score.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(card.risk(totals), risks)
    assert (np.diff(totals[np.argsort(risks)]) >= 0).all() == (higher_is == "riskier")
    by_hand = [
        sum(one.band_of(record).points for one in card.variables if one.features) + card.base
        for record in X.to_dict("records")
    ]
    assert by_hand == totals.tolist()
    assert min(band.points for one in card.variables for band in one.bands) == 0
    assert {float(row.score) for row in card.risks} == set(totals.tolist())
    assert card.pdo == pytest.approx(68 * np.log(2))
    lowest = risks[totals.argmin()]
    odds = lowest / (1 - lowest) if higher_is == "riskier" else (1 - lowest) / lowest
    assert card.odds_at_base == pytest.approx(odds)
    assert card.notes[0].startswith("Totals are from 300 to 844 (asked for: 300 to 850; points are")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"span": (300, 303)},
            ValueError,
            "3 points is too narrow for scores that differ by up to 5",
        ),
        ({"span": (850, 300)}, ValueError, "from a lower to a higher total"),
        ({"span": (300, 850.5)}, ValueError, "an end of span must be an integer"),
        ({"span": 850}, TypeError, "span must be two whole numbers"),
        ({"span": (1, 2, 3)}, TypeError, "span must be two whole numbers"),
        ({"span": (300, 850), "pdo": 40}, ValueError, "takes the place of base_points, base_odds"),
    ],
)
def test_spans_that_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        RiskScore(0, {"a": 2, "b": 3}).scorecard(**arguments)


def test_text_that_spreadsheets_would_compute():
    """A level of the data, "=HYPERLINK(...)", was a formula in a spreadsheet."""
    names = ["=1+1", "@b", "c"]
    score = RiskScore(0, dict(zip(names, (1, 2, 3), strict=True)))
    lines = score.scorecard().to_csv(formulas=False).splitlines()
    assert [line for line in lines if line.startswith(("=", "@", "+", "-"))] == []
    assert "'=1+1,'=1+1,no,29" in lines
    assert score.scorecard().to_csv().replace("'", "") == "\n".join(lines).replace("'", "") + "\n"
