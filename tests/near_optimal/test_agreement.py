"""Ranges of risk and decisions that depend on the choice, against one score after the other."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

import riskslim
from found_sets import example
from riskslim import ItemEncoder, RiskSLIMClassifier, TrainingData
from riskslim.metrics.rows import weighted_quantiles
from riskslim.near_optimal import Agreement, RiskRanges, agreement, risk_ranges, rows
from riskslim.near_optimal.agreement import RANGES

CASES = [
    {"seed": seed, "weights": [None, "integer", "real"][seed % 3], "scale": [1, "free"][seed % 2]}
    for seed in range(6)
]


def expected(risks, weight, threshold):
    """Shares by their definitions, row by row."""
    called = risks >= threshold
    differs = called != called[0]
    width = risks.max(axis=0) - risks.min(axis=0)
    total = weight.sum()
    counted = weight > 0
    return {
        "ambiguity": sum(w for w, any_ in zip(weight, differs.any(axis=0), strict=True) if any_)
        / total,
        "discrepancy": max((weight[one].sum() for one in differs), default=0.0) / total,
        "mean_range": (width * weight).sum() / total,
        "median_range": weighted_quantiles(width[counted], [0.5], weight[counted])[0],
        "largest_range": width[counted].max(),
        "range_shares": [
            weight[(width >= low - 1e-12) & (width < high - 1e-12)].sum() / total
            for low, high in zip(RANGES, [*RANGES[1:], math.inf], strict=True)
        ],
    }


def check(group, risks, weight, threshold):
    for name, value in expected(risks, weight, threshold).items():
        np.testing.assert_allclose(getattr(group, name), value, rtol=1e-12, atol=1e-12)
    assert group.n_rows == np.count_nonzero(weight)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["seed"]))
def test_as_one_score_after_the_other(case):
    one = example(**case)
    assert len(one.found) > 1
    risks = one.risks()
    weight = np.ones(len(one.y)) if one.weight is None else one.weight
    rng = np.random.default_rng(case["seed"])
    sex = rng.choice(["f", "m", None], len(one.y), p=[0.5, 0.4, 0.1])
    for threshold in (0.2, 0.5, 0.61):
        found = agreement(one.found, one.data, groups=sex, threshold=threshold)
        assert (found.n_alternatives, found.rows) == (len(one.found), "training rows")
        everybody, *groups = found.groups
        check(everybody, risks, weight, threshold)
        assert everybody.group is None
        assert everybody.share == pytest.approx(1.0)
        assert [group.group for group in groups] == ["f", "m", "(missing)"]
        for label, group in zip(["f", "m", None], groups, strict=True):
            own = sex == label
            check(group, risks[:, own], weight[own], threshold)
            assert group.share == pytest.approx(weight[own].sum() / weight.sum())
        ranges = risk_ranges(one.found, one.data, threshold=threshold)
        np.testing.assert_array_equal(ranges.best, risks[0])
        np.testing.assert_array_equal(ranges.lowest, risks.min(axis=0))
        np.testing.assert_array_equal(ranges.highest, risks.max(axis=0))
        np.testing.assert_array_equal(ranges.n_positive, (risks >= threshold).sum(axis=0))
        depends = (risks >= threshold).any(axis=0) & ~(risks >= threshold).all(axis=0)
        np.testing.assert_array_equal(ranges.depends, depends)
        assert found.ambiguity == pytest.approx(np.average(depends, weights=weight))


def test_other_rows_are_as_rows_of_training(monkeypatch):
    one = example(3)
    other = example(4)
    weight = np.arange(80) % 3 / 2
    groups = np.arange(80) % 4
    found = agreement(
        one.found, one.data, other.columns, sample_weight=weight, groups=groups, threshold=0.4
    )
    assert found.rows == "test rows"
    risks = one.risks(other.columns)
    check(found.groups[0], risks, weight, 0.4)
    for label, group in enumerate(found.groups[1:]):
        assert group.group == label
        check(group, risks[:, groups == label], weight[groups == label], 0.4)
    # Training data of the same features have weights of their own; arrays, names of features.
    as_data = TrainingData(other.columns, other.y, weight)
    assert agreement(one.found, one.data, as_data, groups=groups, threshold=0.4) == found
    array = np.column_stack([*other.columns.values()])
    again = agreement(
        one.found, one.data, array, sample_weight=weight, groups=groups, threshold=0.4
    )
    assert again == found
    monkeypatch.setattr(rows, "_AT_ONCE", 100)  # blocks of a few scores
    in_blocks = agreement(
        one.found, one.data, other.columns, sample_weight=weight, groups=groups, threshold=0.4
    )
    for name in ("ambiguity", "discrepancy"):
        assert getattr(in_blocks, name) == pytest.approx(getattr(found, name), abs=1e-15)
    assert in_blocks.records() == [
        pytest.approx(record) if record["group"] is None else record for record in found.records()
    ]


def test_raw_records():
    rng = np.random.default_rng(5)
    n = 300
    raw = pd.DataFrame({"age": rng.integers(20, 90, n), "sex": rng.choice(["f", "m"], n)})
    raw["bmi"] = rng.normal(27, 4, n).round(1)
    died = rng.random(n) < 1 / (1 + np.exp(3 - (raw["age"] > 60) * 1.5 - (raw["bmi"] > 29)))
    data = riskslim.read(raw, died, items=ItemEncoder(n_thresholds=3))
    found = RiskSLIMClassifier(max_size=2).alternatives(data, within=0.05)
    assert len(found) > 3
    new = pd.DataFrame({"sex": ["m", "f"], "bmi": [31.0, 20.5], "age": [70, 45]})
    ranges = risk_ranges(found, data, new, threshold=0.3)
    risks = np.array([
        found.score(data, rank, encoder=data.encoder).predict_proba(new)[:, 1]
        for rank in range(len(found))
    ])  # fmt: skip
    np.testing.assert_array_equal(ranges.lowest, risks.min(axis=0))
    np.testing.assert_array_equal(ranges.highest, risks.max(axis=0))
    assert [*ranges.records()[0]] == [
        "risk", "lowest_risk", "highest_risk", "n_positive", "depends",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="age"):
        risk_ranges(found, data, new[["sex"]])
    with pytest.raises(ValueError, match="unknown categories 'x'"):
        risk_ranges(found, data, new.assign(sex="x"))


def test_rows_without_features_and_an_only_alternative():
    """A score without items has one risk; with one alternative nothing depends on the choice."""
    one = example(1, within=1e-9)
    assert len(one.found) == 1
    found = agreement(one.found, one.data)
    assert (found.ambiguity, found.discrepancy, found.groups[0].largest_range) == (0, 0, 0)
    assert found.explain() == (
        "There is one score only: no decision on the training rows depends on the choice."
    )
    assert "by the only score" in risk_ranges(one.found, one.data).explain(0)
    empty = example(1, max_size=0)
    assert empty.found.items(0) == ()
    assert agreement(empty.found, empty.data).groups[0].mean_range == 0
    assert len(risk_ranges(empty.found, empty.data, {"anything": [1, 2]})) == 2


def test_merged_rows_count_as_often_as_they_are(tmp_path):
    one = example(6, n=2000)
    frame = pd.DataFrame(one.columns | {"y": one.y})
    (tmp_path / "rows").mkdir()
    frame.to_csv(tmp_path / "rows" / "all.csv", index=False)
    merged = riskslim.read(tmp_path / "rows", "y", memory_limit=60_000)
    assert merged.counts is not None
    assert merged.n_rows < 200
    found, plain = (agreement(one.found, data) for data in (merged, one.data))
    assert found.groups[0].n_rows == 2000
    for name in plain.groups[0]._fields[1:]:
        assert getattr(found.groups[0], name) == pytest.approx(getattr(plain.groups[0], name))
    with pytest.raises(ValueError, match=r"merged.*leave groups out"):
        agreement(one.found, merged, groups=["f"] * 2000)
    elsewhere = riskslim.read(tmp_path / "rows", "y", memory_limit=1)
    with pytest.raises(ValueError, match=r"not in memory.*riskslim\.sampled"):
        agreement(one.found, elsewhere)
    # They know how features are read all the same.
    assert agreement(one.found, elsewhere, one.columns, name="training rows") == plain


def test_words():
    one = example(2)
    n = len(one.found)
    found = agreement(one.found, one.data, groups=np.arange(80) % 2)
    text = found.explain()
    assert text.startswith(
        f"For {found.ambiguity:.1%} of the training rows the decision (positive from a risk of 50% "
        f"on) depends on which of the {n} scores is used. At most {found.discrepancy:.1%} of "
    )
    assert "By group the share" in text
    (everybody, *_) = found.groups
    same = [everybody, *(everybody._replace(group=label) for label in ("f", "m"))]
    equal = dataclasses.replace(found, groups=tuple(same)).explain()
    assert equal.endswith(f" on the choice is {everybody.ambiguity:.1%} in each.")
    table = str(found).splitlines()
    assert table[0].split() == [
        "Group",
        "Rows",
        "Depends",
        "Largest",
        "change",
        "Mean",
        "range",
        "Largest",
        "range",
    ]
    assert [line.split()[0] for line in table[1:4]] == ["all", "0", "1"]
    ranges = risk_ranges(one.found, one.data)
    for row in range(len(ranges)):
        said = ranges.explain(row)
        assert ("the decision depends on the choice" in said) == ranges.depends[row]
        if not ranges.depends[row]:
            called = "positive" if ranges.best[row] >= 0.5 else "negative"
            assert f"All of them call the row {called} (from a risk of 50% on)." in said
    by_one = RiskRanges(0.5, 3, *np.array([[0.6], [0.2], [0.7]]), np.array([2]))
    assert by_one.explain(0).endswith(
        "2 of them call the row positive (from a risk of 50% on) and 1 does not: the decision "
        "depends on the choice."
    )
    nothing = Agreement("test rows", 0.5, 4, (found.groups[0]._replace(ambiguity=0.0),))
    assert "At most" not in nothing.explain()


def test_what_is_refused():
    one = example(0)
    other = example(0, d=5)
    with pytest.raises(ValueError, match="6 features that are not the 5 features of the data"):
        agreement(one.found, other.data)
    with pytest.raises(TypeError, match="must be the TrainingData"):
        agreement(one.found, one.columns)
    for threshold in (0, 1, -0.5, math.nan, "half"):
        with pytest.raises(ValueError, match="threshold must be a risk between 0 and 1"):
            agreement(one.found, one.data, threshold=threshold)
        with pytest.raises(ValueError, match="threshold must be a risk between 0 and 1"):
            risk_ranges(one.found, one.data, threshold=threshold)
    with pytest.raises(ValueError, match="sample_weight is of X"):
        agreement(one.found, one.data, sample_weight=np.ones(80))
    with pytest.raises(ValueError, match="groups has 3"):
        agreement(one.found, one.data, groups=["f", "m", "f"])
    with pytest.raises(ValueError, match="sample_weight has 3"):
        agreement(one.found, one.data, one.columns, sample_weight=[1, 2, 3])
    with pytest.raises(ValueError, match="at least one non-zero"):
        agreement(one.found, one.data, one.columns, sample_weight=np.zeros(80))
    many = example(0, n=120)
    with pytest.raises(ValueError, match="120 distinct labels, more than 100"):
        agreement(many.found, many.data, groups=np.arange(120))
    with pytest.raises(ValueError, match="there are no test rows"):
        agreement(one.found, one.data, {name: [] for name in one.columns})
    with pytest.raises(ValueError, match="row must be between 0 and 79"):
        risk_ranges(one.found, one.data).explain(80)


def test_groups_that_are_all_missing_are_one_group():
    one = example(0)
    found = agreement(one.found, one.data, groups=np.full(80, np.nan))
    assert [group.group for group in found.groups] == [None, "(missing)"]
    assert found.groups[1][1:] == found.groups[0][1:]


def test_labels_of_rows_without_weight_are_no_groups():
    one = example(9, weights="integer")
    groups = np.where(one.weight > 0, "with", "without")
    found = agreement(one.found, one.data, groups=groups)
    assert [group.group for group in found.groups] == [None, "with"]
    assert found.groups[1][1:-1] == pytest.approx(found.groups[0][1:-1])
