"""Certificates in files: bound to the score that they are about, and checked in themselves."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import random
import warnings

import pytest

from command_line import run
from riskslim import Certificate, RiskScore, Status
from riskslim.exceptions import UnboundCertificateWarning
from riskslim.items.item import Item
from riskslim.scale import ScaleSet
from riskslim.score.digest import digest_of
from riskslim.score.requirements import Requirement

pytestmark = pytest.mark.faults

CERTIFICATE = Certificate(
    Status.OPTIMAL, 0.4, 0.39, 2, 0.4, 0.0, 1e-10, "example 1.0", 961, "search completed"
)
SCORE = RiskScore(
    -3, {"age >= 60": 2, "smoker": 1}, classes=("no", "yes"), certificate=CERTIFICATE,
    items=[Item("age >= 60", "age", ">=", 60, (57.0, 61.0))],
    feature_names=("age >= 60", "smoker", "bmi"),
)  # fmt: skip


def plain(score=SCORE) -> dict:
    return json.loads(score.to_json())


def read(document) -> tuple[RiskScore, list[str]]:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        score = RiskScore.from_json(json.dumps(document))
    assert {one.category for one in seen} <= {UnboundCertificateWarning}
    return score, [str(one.message) for one in seen]


def test_what_was_written_is_read_with_its_certificate():
    assert read(plain()) == (SCORE, [])
    # Other programs write numbers and keys in other ways.
    document = plain()
    document["scale"], document["certificate"]["gap_tolerance"] = 1, 0
    document["points"].reverse()
    document["points"][-1]["item"]["value"] = 60.0
    document["certificate"] = dict(reversed(document["certificate"].items()))
    score, seen = read(dict(reversed(document.items())))
    assert seen == []
    assert score.certificate == CERTIFICATE


def changes(document):
    """Each single change of what a certificate is about, or of what it says."""
    for path, value in (
        (("intercept",), -2),
        (("scale",), 2.0),
        (("classes",), ["yes", "no"]),
        (("classes",), [0, 1]),
        (("points", 0, "points"), 3),
        (("points", 0, "points"), 0),
        (("points", 1, "points"), -1),
        (("points", 1, "feature"), "bmi"),
        (("points", 0, "item", "value"), 59),
        (("points", 0, "item", "kind"), ">"),
        (("points", 0, "item", "variable"), "smoker"),
        (("certificate", "objective"), 0.3),
        (("certificate", "loss"), 0.3),
        (("certificate", "lower_bound"), 0.399999),
        (("certificate", "lower_bound"), "-inf"),
        (("certificate", "status"), "feasible"),
        (("certificate", "n_samples"), 962),
        (("certificate", "model_size"), 3),
        (("certificate", "message"), "proven by hand"),
        (("certificate", "engine"), "branch_and_bound"),
        (("certificate", "gap_tolerance"), 0.5),
        (("certificate", "bound_tolerance"), 0.1),
        (("digest",), "sha256:" + "0" * 64),
        (("digest",), None),
        (("digest",), 5),
    ):
        edited = copy.deepcopy(document)
        *parents, last = path
        inner = edited
        for key in parents:
            inner = inner[key]
        assert inner[last] != value
        inner[last] = value
        if path[0] == "certificate":
            edited["certificate"].pop("optimality_gap")
        yield path, edited


@pytest.mark.parametrize(
    ("path", "document"),
    [*changes(plain())],
    ids=lambda one: str(one) if type(one) is tuple else "",
)
def test_an_edited_score_loses_its_certificate(path, document):
    score, seen = read(document)
    assert score.certificate is None
    (message,) = seen
    assert message == (
        "the certificate in the text is left out: it, or the score that it is about, was changed "
        "since"
    )
    assert score.intercept == document["intercept"]
    # What is written then is a score made by hand.
    assert "digest" not in plain(score)


def test_what_it_is_not_about_may_be_changed():
    document = plain()
    document["outcome_name"], document["created_by"] = "stroke", "another program"
    document["feature_names"].append("visits")
    del document["points"][0]["item"]["interval"]
    assert read(document)[0].certificate == CERTIFICATE
    recalibrated = dataclasses.replace(SCORE, prevalence=0.3).recalibrated(prevalence=0.1)
    assert recalibrated.certificate == CERTIFICATE
    assert read(plain(recalibrated)) == (recalibrated, [])


def test_random_edits_never_leave_a_false_certificate():
    """Whatever is changed: the certificate is left out, or it is about the same score as before."""
    seed, rng = 4_711, random.Random(4_711)
    values = [0, 1, -1, 2, 99, 0.5, 1e300, -0.1, "", "nan", "inf", "x", None, True, [], {}, 10**40]
    kept = dropped = refused = 0
    for k in range(600):
        document = plain()
        places = [
            (inner, key)
            for inner in (document, document["certificate"], *document["points"],
                          document["points"][0]["item"])
            for key in inner
        ]  # fmt: skip
        for _ in range(rng.choice((1, 1, 2))):
            inner, key = rng.choice(places)
            if rng.random() < 0.2:
                inner.pop(key, None)
            else:
                inner[key] = rng.choice(values)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UnboundCertificateWarning)
                score = RiskScore.from_json(json.dumps(document))
        except ValueError:
            refused += 1
            continue
        if score.certificate is None:
            dropped += 1
            continue
        kept += 1
        same = ("intercept", "points", "scale", "classes", "certificate", "items")
        for name in same:
            assert getattr(score, name) == getattr(SCORE, name), (seed, k, document)
    assert min(kept, dropped, refused) > 20, (kept, dropped, refused)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"lower_bound": 99.0}, "the lower bound 99.0 is above the objective 0.4"),
        ({"lower_bound": math.nan}, "the lower bound nan is none"),
        ({"lower_bound": math.inf}, "the lower bound inf is none"),
        ({"objective": math.nan}, "the objective nan is none"),
        ({"objective": math.inf}, "the objective inf is none"),
        ({"objective": 0.1, "lower_bound": 0.1}, "the objective 0.1 is below the loss 0.39"),
        ({"loss": -0.1}, "the loss -0.1 is none"),
        ({"loss": math.nan}, "the loss nan is none"),
        ({"lower_bound": 0.3}, "of an optimal score is above 0.0"),
        ({"lower_bound": -math.inf}, "the gap inf of an optimal score is above 0.0"),
        ({"gap_tolerance": 1.0}, "the tolerances 1.0 and 1e-10 are none"),
        ({"gap_tolerance": math.nan}, "the tolerances nan and 1e-10 are none"),
        ({"bound_tolerance": -1.0}, "the tolerances 0.0 and -1.0 are none"),
        ({"bound_tolerance": math.inf}, "the tolerances 0.0 and inf are none"),
        ({"n_samples": 0}, "it is about 0 rows"),
        ({"status": Status.INFEASIBLE}, "it is about no score"),
        ({"scales": ScaleSet.of([2, 3])}, "the scale 1.0 is not among"),
    ],
)
def test_a_certificate_that_contradicts_itself(changed, message):
    false = dataclasses.replace(CERTIFICATE, **changed)
    assert any(message in fault for fault in false.faults())
    # It is not written,
    with pytest.raises(ValueError, match="the certificate contradicts itself"):
        dataclasses.replace(SCORE, certificate=false).to_json()
    # nor is it read, be its digest right or be there none.
    document = plain()
    document["certificate"] = {
        name: str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in false.to_dict().items()
    }
    document["digest"] = digest_of(
        points=SCORE.points,
        items={"age >= 60": {"variable": "age", "kind": ">=", "value": 60}},
        intercept=-3,
        scale=1.0,
        classes=("no", "yes"),
        certificate=document["certificate"],
    )
    del document["certificate"]["optimality_gap"]
    for version in (5, 4):
        with pytest.raises(ValueError, match="contradicts itself"):
            RiskScore.from_json(json.dumps({**document, "version": version}))


def test_the_gap_is_that_of_objective_and_bound():
    document = plain()
    document["certificate"]["optimality_gap"] = 0.1
    with pytest.raises(ValueError, match=r"'optimality_gap' of the certificate is 0\.1, but"):
        RiskScore.from_json(json.dumps(document))


def test_the_certificates_of_engines_have_no_faults():
    assert CERTIFICATE.faults() == ()
    for bound, status in ((-math.inf, Status.FEASIBLE), (0.3, Status.INTERRUPTED)):
        assert dataclasses.replace(CERTIFICATE, lower_bound=bound, status=status).faults() == ()


def test_the_command_line_claims_nothing_that_is_not_bound(tmp_path):
    path = tmp_path / "score.json"
    SCORE.save(path)
    assert CERTIFICATE.explain() in run("show", path).stdout
    document = plain()
    document["points"][0]["points"] = 5
    path.write_text(json.dumps(document))
    result = run("show", path)
    for claim in ("optimal", "objective", "lower bound", "No risk score"):
        assert claim not in result.stdout
    assert result.stderr == (
        f"Warning: the certificate in {path} is left out: it, or the score that it is about, was "
        "changed since\n"
    )
    (tmp_path / "rows.csv").write_text("age,smoker\n61,1\n")
    assert "6,0." in run("predict", path, tmp_path / "rows.csv").stdout


def test_requirements_that_were_changed_cost_the_certificate():
    """It says that no score that meets them is better."""
    document = plain(dataclasses.replace(SCORE, requirements=(Requirement("at most 2 points"),)))
    for changed in ([], [{**document["requirements"][0], "text": "at most 50 points"}]):
        edited, messages = read({**document, "requirements": changed})
        assert edited.certificate is None
        assert messages


def test_what_was_said_of_the_score_goes_with_its_certificate():
    stated = dataclasses.replace(SCORE, requirements=(Requirement("points from -5 to 5"),))
    document = plain(stated)
    assert read(document) == (stated, [])
    document["points"][0]["points"] += 1
    edited, messages = read(document)
    assert edited.certificate is None
    assert messages
    assert not edited.requirements
    assert not edited.cutoff_ranges
