"""Files of alternatives: everything comes back, and what is not valid is refused in words."""

from __future__ import annotations

import dataclasses
import json
import math
import re

import numpy as np
import pytest

from found_sets import example
from riskslim import Alternatives, CoefficientSet, RiskScoreProblem, TrainingData, alternatives
from riskslim.near_optimal import compare
from riskslim.near_optimal import json as files
from riskslim.score.digest import digest_of_plain


@pytest.fixture(scope="module")
def whole():
    """Alternatives with everything that can be known of them."""
    one = example(50, scale="free", l2_penalty=0.002, within=0.3)
    assert len(one.found) > 3
    groups = np.array(["f", "m"])[np.arange(80) % 2]
    choice = compare(
        one.found, one.data, groups=groups, X_test=one.columns, y_test=one.y,
        groups_test=np.arange(80) % 2 == 0, threshold=0.4, costs={"v0": 2, "v1 >= 1": 0.5},
    )  # fmt: skip
    found = choice.found.with_stability(one.problem, 3)
    priced = alternatives(one.problem, 0.3, prices="all")
    used = [price for price in priced.prices if price.is_used]
    others = [price for price in priced.prices if not price.is_used]
    assert len(used) > 0
    assert len(others) > 1
    # None is known, and there is none.
    nothing = {"objective": math.inf, "coefficients": None}
    others[0] = dataclasses.replace(
        others[0], lower_bound=others[0].best * 1.05, is_proven=False, **nothing
    )
    others[1] = dataclasses.replace(others[1], lower_bound=math.inf, is_proven=True, **nothing)
    return dataclasses.replace(
        found, prices=(*used, *others), variable_prices=priced.variable_prices
    )


def assert_equal(one, other, path=""):
    """Equal in everything that a file keeps."""
    if dataclasses.is_dataclass(one) and type(one).__eq__ is object.__eq__:
        assert type(one) is type(other)
        for field in dataclasses.fields(one):
            if field.name not in ("trace", "statistics", "settings"):
                name = f"{path}.{field.name}"
                assert_equal(getattr(one, field.name), getattr(other, field.name), name)
    elif isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other, err_msg=path)
        assert one.dtype == other.dtype, path
    elif isinstance(one, tuple) and not hasattr(one, "_fields"):
        assert len(one) == len(other), path
        for k, (left, right) in enumerate(zip(one, other, strict=True)):
            assert_equal(left, right, f"{path}[{k}]")
    else:
        assert one == other, path


def test_everything_comes_back(whole, tmp_path):
    path = tmp_path / "alternatives.json"
    whole.save(path)
    found = Alternatives.load(path)
    assert_equal(found, whole)
    assert found.to_json() == path.read_text(encoding="utf-8")
    assert str(found) == str(whole)
    assert found.stability.explain() == whole.stability.explain()
    assert Alternatives.from_json(whole.to_json().encode()).to_json() == whole.to_json()
    plain = json.loads(whole.to_json())
    assert (plain["format"], plain["version"]) == ("riskslim.alternatives", 1)
    assert len(plain["sets"]) == len(whole)
    assert plain["measures"][0]["auc"] == whole.measures[0].auc.tolist()
    assert [one["group"] for one in plain["agreement"][0]["groups"]] == [None, "f", "m"]
    assert [one["group"] for one in plain["agreement"][1]["groups"]] == [None, False, True]


def test_a_file_can_be_chosen_from():
    one = example(51, scale="free", l2_penalty=0.002)
    found = Alternatives.from_json(one.found.to_json())
    for rank in range(len(found)):
        assert found.score(one.data, rank) == one.found.score(one.data, rank)
    compared, wanted = (repr(compare(one_, one.data).records()) for one_ in (found, one.found))
    assert compared == wanted  # as text, in which NaN is NaN


def test_little_is_known_of_a_bare_list():
    one = example(52)
    found = Alternatives.from_json(one.found.to_json())
    assert_equal(found, dataclasses.replace(one.found, solution=found.solution))
    assert (found.measures, found.agreement, found.stability, found.costs) == ((), (), None, None)
    assert found.solution.points == one.found.solution.points
    assert found.solution.certificate == one.found.solution.certificate


def test_names_and_values_that_json_lacks(whole):
    measures = dataclasses.replace(whole.measures[0], auc=np.full(len(whole), math.nan))
    found = Alternatives.from_json(dataclasses.replace(whole, measures=(measures,)).to_json())
    assert np.isnan(found.measures[0].auc).all()
    assert "NaN" not in found.to_json()
    odd = TrainingData({"\ud800 >= 1": [0, 1, 1, 0], 'a "b"\n': [1, 0, 1, 1]}, [0, 1, 0, 1])
    problem = RiskScoreProblem(odd, CoefficientSet(odd.feature_names, -2, 2))
    strange = alternatives(problem, within=0.5)
    again = Alternatives.from_json(strange.to_json())
    assert again.solution.feature_names == odd.feature_names


def changed(whole, change):
    """The text of a file in which something was changed, with a digest that fits."""
    plain = json.loads(whole.to_json())
    change(plain)
    plain["digest"] = digest_of_plain(
        {name: plain.get(name) for name in files._KEYS if name != "digest"}
    )
    return json.dumps(plain)


def test_a_changed_file_is_refused(whole, tmp_path):
    path = tmp_path / "alternatives.json"
    path.write_text(whole.to_json().replace('"is_complete": true', '"is_complete": false'))
    with pytest.raises(ValueError, match=r"alternatives\.json: the alternatives were changed"):
        Alternatives.load(path)
    # Formatting is no change.
    assert Alternatives.from_json(changed(whole, lambda plain: None)).to_json() == whole.to_json()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the text is no valid JSON"),
        ("[1]", 'expected a JSON object with "format": "riskslim.alternatives"'),
        ('{"format": "riskslim.risk_score"}', "not a list of alternatives"),
        ('{"format": "riskslim.alternatives"}', "version of the format must be a positive integer"),
        ('{"format": "riskslim.alternatives", "version": true}', "must be a positive integer"),
        ('{"format": "riskslim.alternatives", "version": 2}', "a newer riskslim is needed"),
        ('{"format": "riskslim.alternatives", "version": 1}', "it lacks within, feature_names"),
        ('{"format": "a", "format": "a"}', "the key 'format' is given more than once"),
        (b"\xff\xfe", "no valid JSON"),
        ("[" * 100_000, "no valid JSON"),
    ],
)
def test_what_is_something_else_is_refused(text, said):
    with pytest.raises(ValueError, match=said):
        Alternatives.from_json(text)


def _set(path, value):
    """Put a value where a path of keys leads."""

    def change(plain):
        for key in path[:-1]:
            plain = plain[key]
        plain[path[-1]] = value

    return change


def _without(path):
    def change(plain):
        for key in path[:-1]:
            plain = plain[key]
        del plain[path[-1]]

    return change


WRONG = [
    (("within",), "much", "'within' must be a"),
    (("within",), -0.1, "'within' must be at least 0"),
    (("within",), "inf", "'within' must be a finite number"),
    (("feature_names",), "v0", "'feature_names' must be a list of texts"),
    (("feature_names", 1), "v0 >= 1", "'feature_names' names a feature twice"),
    (("variables",), ["v0"], "'variables' must have one for each of 6 features, got 1"),
    (("sets",), [], "'sets' must be a list of at least one set"),
    (("sets", 0), 3, "'sets, entry 0'"),
    (("sets", 1, "objective"), 0.0, "entry 1': its objective is smaller than that of the one"),
    (("sets", 1, "objective"), None, "'objective' must be a finite number"),
    (("sets", 1, "penalty"), -1, "'penalty' must be at least 0"),
    (("sets", 1, "scale"), 0, "scale"),
    (("sets", 1, "intercept"), 1.5, "intercept"),
    (("sets", 1, "points"), [1], "'points' must be an object"),
    (("sets", 1, "points"), {"v9 >= 1": 2}, "'points' are of 'v9 >= 1', which is none of"),
    (("sets", 1, "points"), {"v0 >= 1": 0}, "points of 'v0 >= 1' must not be 0"),
    (("sets", 1, "points"), {"v0 >= 1": 0.5}, "points of 'v0 >= 1'"),
    (("sets", 1, "lower_bound"), 99.0, "its lower bound is above its objective"),
    (("sets", 1, "penalty"), 9.0, "its penalties are above its objective"),
    (("sets", 1, "ridge"), 0.5, "its penalties are above its objective"),
    (("within",), 1e-6, "the last set is not within 1e-06 of the best one"),
    (("bound",), 0.1, "said to be complete, but others can be better"),
    (("bound",), "-inf", "said to be complete, but others can be better"),
    (("intercepts",), [5, -5], "'intercepts' are no ends"),
    (("is_complete",), 1, "'is_complete' must be true or false"),
    (("bound",), None, "'bound' must be a number"),
    (("intercepts",), [1], "'intercepts': expected two ends"),
    (("intercepts",), 3, "'intercepts'"),
    (("certificate",), None, "'certificate' must be an object, got null"),
    (("certificate", "lower_bound"), 99.0, "'optimality_gap' of the certificate is"),
    (("certificate", "model_size"), 1, "the certificate is about another score: its model_size"),
    (("certificate", "status"), "perfect", "'certificate': 'perfect' is not a valid Status"),
    (("prices",), {}, "'prices' must be a list of objects"),
    (("prices", 0, "feature"), "v0", "'prices, entry 0': there is no 'v0'"),
    (("variable_prices", 0, "feature"), "v0 >= 1", "there is no 'v0 >= 1'"),
    (("prices", 0, "is_used"), "yes", "'is_used' must be true or false"),
    (("prices", 0, "lower_bound"), 99.0, "the lower bound must be at most the objective"),
    (("prices", 0, "objective"), None, "the lower bound must be at most the objective"),
    (("prices", 0, "score"), 3, "'prices, entry 0'"),
    (("prices", 0, "is_used"), False, "whether it is used is not what the best score says"),
    (("prices", 0, "lower_bound"), 0.01, "said to be proven, but its bound is below"),
    (("costs",), {"v9": 1}, "'costs': there is no item and no variable 'v9'"),
    (("costs",), {"v0": -1}, "'costs': the cost of 'v0' must be at least 0"),
    (("costs",), [1], "'costs': costs must be a mapping"),
    (("measures", 0, "auc"), [0.5], "'auc' must be a list with a value for each"),
    (("measures", 0, "auc", 0), 7, "'auc' has values that it cannot have"),
    (("measures", 0, "loss", 0), -1, "'loss' has values that it cannot have"),
    (("agreement", 0, "n_alternatives"), 2, "the agreement is of 2 alternatives"),
    (("measures", 0, "rows"), 3, "'rows' must be text"),
    (("measures", 0, "threshold"), 1.5, "'threshold' must be between 0 and 1"),
    (("measures", 0, "groups"), [None], "a label of a group"),
    (("measures", 0, "n_rows"), -1, "'n_rows' must not be negative"),
    (("agreement", 0, "groups"), [], "'groups' is empty"),
    (("agreement", 0, "groups", 1, "group"), None, "'group' is null for the first one"),
    (("agreement", 0, "groups", 0, "ambiguity"), 1.5, "'ambiguity' must be between 0 and 1"),
    (("agreement", 0, "groups", 0, "range_shares"), [1.0], "must be a list of 6 shares"),
    (("stability", "sets"), [1], "'sets' must have a number for each"),
    (("stability", "n_samples"), 7, "the numbers of samples contradict each other"),
    (("stability", "n_asked"), 1, "there are more samples than were asked for"),
    (("stability", "items"), {"v9 >= 1": 1}, "'items' has names or numbers that there cannot be"),
    (("stability", "variables"), {"v0": 4}, "'variables' has names or numbers"),
    (("stability", "n_proven"), 9, "the numbers of samples contradict each other"),
    (("stability", "items"), 3, "'stability'"),
    (("stability", "items"), {"v0 >= 1": "often"}, "'stability': 'v0 >= 1'"),
    (("stability",), "stable", "'stability'"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "said"), WRONG, ids=[str(one[0]) for one in WRONG])
def test_values_that_cannot_be_are_refused(whole, path, value, said):
    text = changed(whole, _set(path, value))
    with pytest.raises(ValueError, match=re.escape(said)):
        Alternatives.from_json(text)


def test_what_is_missing_is_named(whole):
    plain = json.loads(whole.to_json())
    for key in files._KEYS:
        with pytest.raises(ValueError, match=f"it lacks {key}"):
            Alternatives.from_json(json.dumps({k: v for k, v in plain.items() if k != key}))
    paths = [
        *((("sets", 0, name), name) for name in plain["sets"][0]),
        *((("prices", 0, name), name) for name in plain["prices"][0]),
        *((("measures", 0, name), name) for name in plain["measures"][0]),
        *((("agreement", 0, name), name) for name in plain["agreement"][0]),
        *((("agreement", 0, "groups", 0, one), one) for one in plain["agreement"][0]["groups"][0]),
        *((("stability", name), name) for name in plain["stability"]),
    ]
    assert len(paths) > 40
    for path, name in paths:
        with pytest.raises(ValueError, match=f"lacks '{name}'"):
            Alternatives.from_json(changed(whole, _without(path)))


def test_scores_that_answer_other_questions_are_refused(whole):
    def other(plain):
        best = plain["sets"][0]
        plain["prices"][0]["score"] = {key: best[key] for key in ("intercept", "points")}

    with pytest.raises(ValueError, match="entry 0': its score answers another question"):
        Alternatives.from_json(changed(whole, other))


def test_rows_that_are_measured_too_often_are_refused(whole):
    def often(plain):
        plain["measures"] = 2 * plain["measures"]

    with pytest.raises(ValueError, match="at most 2 kinds of rows: training rows and test rows"):
        Alternatives.from_json(changed(whole, often))


def test_sets_that_are_listed_twice_are_refused(whole):
    def twice(plain):
        plain["sets"][2]["points"] = plain["sets"][1]["points"]

    with pytest.raises(ValueError, match="entry 2': it has the items of an earlier one"):
        Alternatives.from_json(changed(whole, twice))


def test_a_file_that_is_there_stays_where_writing_fails(whole, tmp_path):
    path = tmp_path / "alternatives.json"
    path.write_text("kept")
    with pytest.raises(IsADirectoryError):
        whole.save(tmp_path)
    with pytest.raises(FileNotFoundError):
        whole.save(tmp_path / "none" / "alternatives.json")
    assert path.read_text() == "kept"
    with pytest.raises(FileNotFoundError):
        Alternatives.load(tmp_path / "nothing.json")
