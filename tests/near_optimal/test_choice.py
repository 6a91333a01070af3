"""Second criteria against scikit-learn and the metrics of one score; filters; the choice."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss, roc_auc_score

import riskslim
from found_sets import example
from riskslim import ItemEncoder, RiskSLIMClassifier, calibration_error
from riskslim.metrics import metrics_by_group, operating_points
from riskslim.near_optimal import compare

CASES = [
    {"seed": 20 + k, "weights": [None, "integer", "real"][k % 3], "scale": [1, "free"][k % 2]}
    for k in range(6)
]


def check_measures(measured, log_odds, y, weight, groups, threshold, specificity):
    """Each measure of each score on all rows, as the functions for one score have it."""
    for rank, odds in enumerate(log_odds):
        risk = 1 / (1 + np.exp(-odds))
        assert measured.loss[rank] == pytest.approx(log_loss(y, risk, sample_weight=weight))
        auc = roc_auc_score(y, odds, sample_weight=weight)
        assert measured.auc[rank] == pytest.approx(auc)
        # Rows are taken together by their score: risks of which may differ in the last digit.
        cal = calibration_error(y, risk, weight, np.round(odds, 9))
        assert measured.cal[rank] == pytest.approx(cal, abs=1e-12)
        points = operating_points(y, np.round(odds, 9), weight)
        reached = points.specificity[1:] >= specificity - 1e-12
        if reached.any():
            best = points.sensitivity[1:][reached].max()
            assert measured.sensitivity[rank] == pytest.approx(best)
        else:
            assert math.isnan(measured.sensitivity[rank])
        _, *each = metrics_by_group(y, odds, groups, weight, threshold=threshold, n_resamples=1)
        for name, of in (
            ("sensitivity_gap", "sensitivity"), ("specificity_gap", "specificity"),
            ("called_gap", "called_positive"),
        ):  # fmt: skip
            values = [getattr(group, of).value for group in each]
            values = [value for value in values if not math.isnan(value)]
            gap = max(values) - min(values) if len(values) > 1 else math.nan
            assert getattr(measured, name)[rank] == pytest.approx(gap, nan_ok=True)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["seed"]))
def test_measures_are_those_of_each_score(case):
    one, other = example(**case), example(case["seed"] + 1000)
    rng = np.random.default_rng(case["seed"])
    groups, others = (rng.choice(["a", "b", "c"], 80) for _ in range(2))
    threshold, specificity = 0.45, [0.9, 0.5][case["seed"] % 2]
    choice = compare(
        one.found, one.data, groups=groups, X_test=other.columns, y_test=other.y,
        sample_weight_test=np.arange(80) % 3, groups_test=others,
        threshold=threshold, specificity=specificity,
    )  # fmt: skip
    train, test = choice.found.measures
    assert (train.rows, test.rows) == ("training rows", "test rows")
    assert train.groups == test.groups == ("a", "b", "c")
    weights = np.ones(80) if one.weight is None else one.weight
    assert train.n_rows == np.count_nonzero(weights)
    assert len(train) == len(test) == len(one.found)
    scores = one.scores()
    for measured, X, y, weight, labels in (
        (train, one.columns, one.y, weights, groups),
        (test, other.columns, other.y, np.arange(80.0) % 3, others),
    ):
        odds = np.array([score.log_odds(X) for score in scores])
        check_measures(measured, odds, y, weight, labels, threshold, specificity)
    assert [one.rows for one in choice.found.agreement] == ["training rows", "test rows"]
    assert choice.found.agreement[0].threshold == threshold


def test_criteria_and_records():
    one = example(21)
    costs = {"v0": 5, "v1 >= 2": 0.5}
    choice = compare(one.found, one.data, costs=costs, X_test=one.columns, y_test=one.y)
    for rank, record in enumerate(choice.records()):
        items = one.found.items(rank)
        variables = {name.split()[0] for name in items}
        cost = 5 * ("v0" in variables) + 0.5 * ("v1 >= 2" in items)
        assert record["items"] == items
        assert set(record["variables"]) == variables
        assert choice.value("n_variables", rank) == len(variables)
        assert choice.value("model_size", rank) == len(items)
        assert choice.value("cost", rank) == record["cost"] == cost
        assert choice.value("objective", rank) == one.found.objective(rank)
        assert record["above_best"] == pytest.approx(one.found.share(rank))
        # The same rows were given once more.
        assert record["auc"] == record["test_auc"] == choice.value("test_auc", rank)
        assert not [name for name in record if name.endswith("_gap")]  # no groups
    for by, best in (
        ("auc", max), ("test_auc", max), ("sensitivity", max), ("loss", min), ("cal", min),
        ("cost", min), ("n_variables", min), ("objective", min),
    ):  # fmt: skip
        values = [choice.value(by, rank) for rank in choice.ranks]
        rank = choice.best(by)
        assert values[rank] == pytest.approx(best(values), abs=1e-12)
        assert rank == next(k for k, one in enumerate(values) if abs(one - values[rank]) <= 1e-12)
        assert choice.chosen(by).points == one.scores()[rank].points


def test_the_choice_is_a_score_with_its_certificate():
    one = example(22, scale="free")
    score = compare(one.found, one.data).chosen(1)
    assert score.points == one.found.pool.points(1)
    assert score.scale == one.found.pool.scale(1)
    assert score.certificate.objective == pytest.approx(one.found.objective(1))
    assert "of the best score" in score.certificate.message
    assert riskslim.RiskScore.from_json(score.to_json()) == score
    raw = pd.DataFrame({"age": np.arange(20, 80), "bmi": np.arange(60) % 17 + 18.5})
    died = (raw["age"] > 60) ^ (raw["bmi"] > 33)
    data = riskslim.read(raw, died, items=ItemEncoder(n_thresholds=3))
    found = RiskSLIMClassifier(max_size=2).alternatives(data, within=0.2)
    score = compare(found, data).chosen()
    assert score.predict_proba(raw[:3]).shape == (3, 2)  # from raw columns


@pytest.mark.parametrize("seed", range(30, 34))
def test_filters_leave_what_they_say(seed):
    one = example(seed, within=0.15)
    choice = compare(one.found, one.data)
    used = [one.found.items(rank) for rank in range(len(one.found))]
    variables = [{name.split()[0] for name in items} for items in used]
    ranks = range(len(used))

    def check(wanted, method, *arguments):
        """The ranks that are left; nothing is left where it is refused."""
        wanted = tuple(wanted)
        if wanted:
            assert getattr(choice, method)(*arguments).ranks == wanted
        else:
            with pytest.raises(ValueError, match="no alternative is left: none of"):
                getattr(choice, method)(*arguments)

    for name in one.data.feature_names:
        check([k for k in ranks if name not in used[k]], "without", name)
        check([k for k in ranks if name in used[k]], "with_", name)
    for name in ("v0", "v1"):
        check([k for k in ranks if name not in variables[k]], "without", name)
        check([k for k in ranks if name in variables[k]], "with_", name)
    for n in range(3):
        check([k for k in ranks if len(variables[k]) <= n], "at_most", n)
        check(
            [k for k in ranks if ("v0" in variables[k]) + ("v1 >= 2" in used[k]) <= n],
            "at_most", n, ["v0", "v1 >= 2", "v1 >= 2"],
        )  # fmt: skip
    for share in (0.0, 0.05, 0.1, 1):
        check([k for k in ranks if one.found.share(k) <= share + 1e-12], "within", share)
    both = choice.within(0.1).at_most(2)
    assert both.ranks == tuple(
        k for k in ranks if one.found.share(k) <= 0.1 + 1e-12 and len(variables[k]) <= 2
    )
    assert both.count() == (
        f"{len(both)} of {len(used)} alternatives (at most 10.00% above the best, at most 2 "
        "variables)."
    )


def test_words():
    one = example(31, within=0.15)
    choice = compare(one.found, one.data, costs={"v0": 2.5})
    head, *lines = choice.table(2).splitlines()
    assert head.split() == ["Rank", "Above", "best", "AUC", "CAL", "Cost", "Variables", "Items"]
    assert lines[0].split()[:2] == ["0", "0.00%"]
    assert lines[0].endswith(", ".join(one.found.items(0)))
    assert lines[2] == f"... and {len(one.found) - 2} more"
    assert str(choice).endswith(f"\n{len(one.found)} of {len(one.found)} alternatives.")
    left = choice.with_("v1")
    assert "(with 'v1')" in str(left)
    assert [line.split()[0] for line in left.table(100).splitlines()[1:]] == [
        str(rank) for rank in left.ranks
    ]
    tested = compare(one.found, one.data, X_test=one.columns, y_test=one.y)
    assert "Test AUC  Test CAL" in tested.table()


def test_test_rows_of_one_class_have_no_auc():
    one = example(23)
    choice = compare(one.found, one.data, X_test=one.columns, y_test=np.ones(80))
    assert np.isnan(choice.found.measures[1].auc).all()
    assert np.isfinite(choice.found.measures[1].cal).all()
    with pytest.raises(ValueError, match="no alternative has the criterion 'test_auc'"):
        choice.best("test_auc")


def test_unknown_names_and_what_else_is_refused():
    one = example(20)
    choice = compare(one.found, one.data)
    for filtered in (choice.without, choice.with_, lambda name: choice.at_most(1, [name])):
        with pytest.raises(ValueError, match=r"no item and no variable 'v0 > 1' \(did you mean"):
            filtered("v0 > 1")
        with pytest.raises(ValueError, match="no item and no variable 3"):
            filtered(3)
    with pytest.raises(ValueError, match="names is empty"):
        choice.at_most(1, [])
    with pytest.raises(TypeError, match="got one str, 'v0'"):
        choice.at_most(1, "v0")
    for n in (-1, 1.5, True):
        with pytest.raises(ValueError, match="n must be an int of at least 0"):
            choice.at_most(n)
    with pytest.raises(ValueError, match="share must be at least 0"):
        choice.within(-0.1)
    with pytest.raises(ValueError, match=r"no criterion 'AUC'.*did you mean 'auc'"):
        choice.best("AUC")
    with pytest.raises(ValueError, match="no costs are known"):
        choice.best("cost")
    with pytest.raises(ValueError, match="no test rows to measure 'test_auc' on"):
        choice.best("test_auc")
    for rank in (len(one.found), -1, 0.0, True):
        with pytest.raises(ValueError, match="is none of the ranks that are left: 0"):
            choice.chosen(rank)
    for costs, said in (
        ({"v9": 1}, "no item and no variable 'v9'"),
        ({"v0": -1}, "the cost of 'v0' must be at least 0"),
        ({"v0": math.inf}, "the cost of 'v0' must be at least 0 and finite"),
        ({"v0": math.nan}, "the cost of 'v0' must be at least 0"),
    ):
        with pytest.raises(ValueError, match=said):
            compare(one.found, one.data, costs=costs)
    with pytest.raises(TypeError, match="the cost of 'v0' must be a number"):
        compare(one.found, one.data, costs={"v0": "much"})
    with pytest.raises(TypeError, match="costs must be a mapping"):
        one.found.with_costs(["v0"])
    for specificity in (0, 1, math.nan, None):
        with pytest.raises(ValueError, match="specificity must be between 0 and 1"):
            compare(one.found, one.data, specificity=specificity)
    with pytest.raises(ValueError, match="y_test is None, but test rows need labels"):
        compare(one.found, one.data, X_test=one.columns)
    with pytest.raises(ValueError, match="X_test is None, but labels"):
        compare(one.found, one.data, y_test=one.y)
    with pytest.raises(ValueError, match="neither 0 nor 1"):
        compare(one.found, one.data, X_test=one.columns, y_test=one.y + 1)
    with pytest.raises(ValueError, match="leave y and weights out"):
        compare(one.found, one.data, X_test=one.data, y_test=one.y)


def test_other_rows_under_the_same_names_are_refused():
    rng = np.random.default_rng(7)
    X, others = (pd.DataFrame(rng.integers(0, 2, (80, 2)), columns=["a", "b"]) for _ in range(2))
    y = (X["a"] + rng.integers(0, 2, 80) > 1).astype(int)
    data, other = riskslim.read(X, y), riskslim.read(others, y)
    found = RiskSLIMClassifier(max_size=2).alternatives(data, within=0.5)
    losses = found.pool.objectives - found.penalties
    assert compare(found, data).found.measures[0].loss == pytest.approx(losses)
    with pytest.raises(ValueError, match="has other rows, labels or weights"):
        compare(found, other)
    assert compare(found, other, name="other rows").found.measures[0].rows == "other rows"
