"""Rules in checkpoints: kept, gone on with, counted again when they are read."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from riskslim import CoefficientSet, RiskScoreProblem, Status, TrainingData, model_size_path
from riskslim.engines import choice
from riskslim.engines.checkpoint import Checkpoint
from riskslim.engines.choice import solve
from riskslim.engines.fingerprint import facts_of, without_limits
from riskslim.engines.kept import better_of, recalled, to_plain, with_bound
from riskslim.exceptions import CertificateError
from riskslim.operating_point import RequiredShare

REQUIRED = RequiredShare("sensitivity", 0.9)


def problem(n=300, d=10, size=3):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (n, d))
    risk = 1 / (1 + np.exp(1.5 - X[:, 0] - X[:, 1] + X[:, 2] - 0.5 * X[:, 3]))
    data = TrainingData(X, (rng.random(n) < risk).astype(int))
    coefficients = CoefficientSet(data.feature_names, -2, 2)
    return RiskScoreProblem(data, coefficients, max_size=size, scale="free")


def arguments(**limits):
    return {"engine": "branch_and_bound", "required": REQUIRED, "time_limit": 60.0, **limits}


def test_a_rule_is_kept_and_not_searched_again(tmp_path, monkeypatch):
    stated, asked = problem(), arguments()
    kept = Checkpoint(tmp_path / "rules", facts_of(stated, without_limits(asked)))
    early = kept.solve("search", stated, goes_on=True, **{**asked, "node_limit": 1})
    assert early.certificate.status is Status.FEASIBLE
    whole = kept.solve("search", stated, goes_on=True, **asked)
    direct = solve(stated, **asked)
    assert whole.certificate.is_optimal
    assert whole.certificate.rule == direct.certificate.rule
    assert not kept.failure

    def no_search(*_, **__):
        raise AssertionError

    monkeypatch.setattr(choice, "choose_engine", no_search)
    again = kept.solve("search", stated, goes_on=True, **asked)
    assert again.certificate.rule == direct.certificate.rule
    assert again.certificate.is_optimal
    assert again.points == whole.points


def test_what_was_proven_before_is_not_lost():
    stated = problem()
    early = solve(stated, **arguments(node_limit=1))
    whole = solve(stated, **arguments())
    bound = early.certificate.rule.bound
    assert bound > whole.certificate.rule.bound
    for better in (better_of(stated, early, whole), better_of(stated, whole, early)):
        assert better.certificate.rule == whole.certificate.rule
        assert better.certificate.is_optimal
    found = with_bound(stated, early, 0.9, 0.0, whole.certificate.rule)
    assert found.certificate.lower_bound == early.certificate.lower_bound
    rule = found.certificate.rule
    right = rule.shares.true_negatives
    assert rule.bound == max(whole.certificate.rule.bound, right)
    assert found.certificate.is_optimal == (right == whole.certificate.rule.bound)
    lower = dataclasses.replace(whole.certificate.rule, bound=right - 5)
    with pytest.raises(CertificateError, match="no rule was to call more than"):
        with_bound(stated, whole, 0.9, 0.0, lower)
    other = dataclasses.replace(
        whole.certificate.rule, required=RequiredShare("sensitivity", 0.8), bound=0.0
    )
    assert with_bound(stated, early, 0.9, 0.0, other) is early


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"threshold": 99.0}, "the rule calls the weight"),
        ({"bound": 0.0}, "the rule is better than its bound"),
        ({"bound": None}, "rule is"),
        ({"shares": {}}, "rule is"),
        ({"required": {"name": "ppv", "share": 0.9}}, "rule is"),
    ],
    ids=repr,
)
def test_rules_that_are_read_are_looked_at(change, message):
    stated, asked = problem(), arguments()
    content = to_plain(solve(stated, **asked), finished=True)
    assert recalled(stated, content, asked).certificate.rule.is_best
    with pytest.raises(ValueError, match=message):
        recalled(stated, {**content, "rule": {**content["rule"], **change}}, asked)


def test_paths_of_rules_go_on_where_they_were(tmp_path):
    stated = problem(150, 5)
    asked = {"required": REQUIRED, "time_limit": 60.0}
    first = model_size_path(stated, cv=2, checkpoint=tmp_path / "path", **asked)
    again = model_size_path(stated, cv=2, checkpoint=tmp_path / "path", **asked)
    assert again.checkpoint_failure == ""
    for one, other in zip(first.entries, again.entries, strict=True):
        assert one.solution.certificate.rule == other.solution.certificate.rule
        assert one.risk_score == other.risk_score
        assert one.cross_validation.values("sensitivity").tolist() == (
            other.cross_validation.values("sensitivity").tolist()
        )
