"""The seizure application: simulated patients, the appendix's constraints, a proven optimum.

Nothing here uses the package's constraints to check its result: the appendix is written down a
second time, as plain conditions on the set of variables with points.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import itertools
import re

import numpy as np
import pytest

from paths import DOCS, ROOT
from riskslim import RiskScoreProblem, Status, TrainingData
from riskslim.paper.simulation import simulate_seizure


def words(text):
    return re.findall(r"\S+", text)


UNSIGNED = words("""
Male Female NoReactivityToStimulation
SecondaryDXIncludesMentalStatusFirst SecondaryDXIncludesCNSInfection
SecondaryDXIncludesCNSInflammatoryDisease SecondaryDXIncludesCNSNeoplasm
SecondaryDXIncludesHypoxisIschemicEncephalopathy SecondaryDXIncludesIntracerebralHemorrhage
SecondaryDXIncludesIntraventricularHemorrhage SecondaryDXIncludesMetabolicEncephalopathy
SecondaryDXIncludesIschemicStroke SecondaryDXIncludesSubarachnoidHemmorage
SecondaryDXIncludesSubduralHematoma SecondaryDXIncludesTraumaticBrainInjury
SecondaryDXIncludesHydrocephalus
PatternIsStimulusInducedAny PatternIsStimulusInducedBiPD PatternIsStimulusInducedGPD
PatternIsStimulusInducedGRDA PatternIsStimulusInducedLPD PatternIsStimulusInducedLRDA
""")
RISING = words("""
PriorSeizure BriefRhythmicDischarge EpileptiformDischarges
PatternIsSuperImposedAny PatternIsSuperImposedBiPD PatternIsSuperImposedGPD
PatternIsSuperImposedGRDA PatternIsSuperImposedLPD PatternIsSuperImposedLRDA
PatternsInclude_BiPD PatternsInclude_GPD PatternsInclude_GRDA PatternsInclude_LPD
PatternsInclude_LRDA PatternsInclude_GRDA_or_GPD PatternsInclude_BiPD_or_LRDA_or_LPD
MaxFrequencyAnyPattern MaxFrequencyBiPD MaxFrequencyGPD MaxFrequencyLPD MaxFrequencyLRDA
""")
ZEROS = {
    "AnyPattern": "MaxFrequencyAnyPattern = 0.0Hz",
    **{p: f"MaxFrequency{p} = 0.0" for p in ("BiPD", "GPD", "GRDA", "LPD", "LRDA")},
}
HERTZ = ("0.5", "1.0", "1.5", "2.0", "2.5", "3.0")
ABOVE = {p: [f"MaxFrequency{p} >= {hertz}Hz" for hertz in HERTZ] for p in ZEROS}
SPECIFIC = ("BiPD", "GPD", "GRDA", "LPD", "LRDA")


@pytest.fixture(scope="module")
def patients():
    return simulate_seizure()


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("seizure", ROOT / "examples" / "seizure.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def solved(example):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        problem, solution = example.main()
    return problem, solution, printed.getvalue()


# ---------------------------------------------------------------------------------------------
# Patients
# ---------------------------------------------------------------------------------------------


def test_the_variables_are_those_of_the_table_and_one_more(patients):
    table = [*UNSIGNED, *RISING, "PosteriorDominantRhythmPresent", *ZEROS.values()]
    table += [name for names in ABOVE.values() for name in names]
    assert len(table) == len(set(table)) == 86
    assert set(patients.X) == {*table, "MaxFrequencyGRDA"}
    names = list(patients.X)
    assert names[:3] == ["Male", "Female", "PriorSeizure"]
    assert names[39:46] == [f"MaxFrequency{p}" for p in ZEROS] + [ZEROS["AnyPattern"]]
    assert names[-1] == "MaxFrequencyLRDA >= 3.0Hz"
    rising = {*RISING, "MaxFrequencyGRDA", *itertools.chain(*ABOVE.values())}
    assert patients.signs == {
        **dict.fromkeys(rising, "+"), "PosteriorDominantRhythmPresent": "-",
    }  # fmt: skip


def test_the_values_are_those_of_the_table(patients):
    assert patients.y.shape == (5427,)
    for name, values in patients.X.items():
        if name in {f"MaxFrequency{p}" for p in ZEROS}:
            assert set(values) == {0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0}
        else:
            assert values.dtype == np.int8
            assert set(values) == {0, 1}
    data = TrainingData(patients.X, patients.y)
    assert (data.n_samples, data.n_features) == (5427, 87)


def test_the_variables_hang_together(patients):
    X = patients.X
    np.testing.assert_array_equal(X["Male"] + X["Female"], 1)
    for kind in ("PatternIsStimulusInduced", "PatternIsSuperImposed", "MaxFrequency"):
        largest = np.max([X[f"{kind}{p}"] for p in SPECIFIC], axis=0)
        every = "MaxFrequencyAnyPattern" if kind == "MaxFrequency" else f"{kind}Any"
        np.testing.assert_array_equal(X[every], largest)
    for names in (("GRDA", "GPD"), ("BiPD", "LRDA", "LPD")):
        either = np.any([X[f"PatternsInclude_{name}"] == 1 for name in names], axis=0)
        np.testing.assert_array_equal(X["PatternsInclude_" + "_or_".join(names)], either)
    for p in SPECIFIC:
        present = X[f"PatternsInclude_{p}"] == 1
        np.testing.assert_array_equal(X[f"MaxFrequency{p}"] > 0, present)
        for kind in ("PatternIsStimulusInduced", "PatternIsSuperImposed"):
            assert not X[f"{kind}{p}"][~present].any()
    for p in ZEROS:
        frequency = X[f"MaxFrequency{p}"]
        np.testing.assert_array_equal(X[ZEROS[p]], frequency == 0)
        for hertz, name in zip(HERTZ, ABOVE[p], strict=True):
            np.testing.assert_array_equal(X[name], frequency >= float(hertz))


def test_the_outcome_comes_from_the_published_score():
    X, y, _ = simulate_seizure(300_000, random_state=3)
    assert y.mean() == pytest.approx(0.125, abs=0.003)
    score = (
        X["MaxFrequencyAnyPattern >= 2.0Hz"] + X["EpileptiformDischarges"]
        + X["PatternsInclude_BiPD_or_LRDA_or_LPD"] + X["PatternIsSuperImposedAny"]
        + X["PriorSeizure"] + 2 * X["BriefRhythmicDischarge"]
    )  # fmt: skip
    for total, risk in enumerate((0.047, 0.119, 0.269, 0.5, 0.731, 0.881, 0.953)):
        rows = score == total
        assert y[rows].mean() == pytest.approx(
            risk, abs=4 * np.sqrt(risk * (1 - risk) / rows.sum())
        )
    related = np.corrcoef(X["PatternsInclude_LPD"], X["EpileptiformDischarges"])[0, 1]
    assert related > 0.1  # beyond what both owe to chance


def test_patients_are_those_of_their_seed(patients):
    again, other = simulate_seizure(random_state=0), simulate_seizure(random_state=1)
    np.testing.assert_array_equal(again.y, patients.y)
    assert all((again.X[name] == patients.X[name]).all() for name in patients.X)
    assert (other.y != patients.y).any()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_samples": 0}, ValueError, "n_samples must be at least 1, got 0"),
        ({"n_samples": 10.0}, TypeError, "n_samples must be an int, got 10.0"),
        ({"random_state": -1}, ValueError, "random_state must be at least 0, got -1"),
    ],
)
def test_sizes_and_seeds_that_make_no_sense(arguments, error, message):
    with pytest.raises(error, match=message):
        simulate_seizure(**arguments)


# ---------------------------------------------------------------------------------------------
# Constraints
# ---------------------------------------------------------------------------------------------


def broken(used):
    """Numbers of the appendix's constraints that a set of variables breaks."""

    def both(some, others):
        return any(a in used for a in some) and any(b in used for b in others)

    def include(*patterns):
        return [f"PatternsInclude_{pattern}" for pattern in patterns]

    def encodings(pattern):
        return [f"MaxFrequency{pattern}", ZEROS[pattern], *ABOVE[pattern]]

    conditions = {
        1: both(["Male"], ["Female"]),
        2: both(["PatternsInclude_GRDA_or_GPD"], include("GRDA", "GPD")),
        3: both(["PatternsInclude_BiPD_or_LRDA_or_LPD"], include("BiPD", "LRDA", "LPD")),
    }
    for k, p in enumerate(("AnyPattern", "LPD", "GPD", "GRDA", "BiPD", "LRDA")):
        items = [ZEROS[p], *ABOVE[p]]
        conditions[4 + k] = both([ZEROS[p]], [f"MaxFrequency{p} >= 0.5Hz"])
        conditions[16 + k] = sum(item in used for item in items) > 2
    for k, p in enumerate(("AnyPattern", "GPD", "LPD", "GRDA", "BiPD", "LRDA")):
        conditions[10 + k] = both([f"MaxFrequency{p}"], [ZEROS[p], *ABOVE[p]])
    for k, kind in ((22, "PatternIsStimulusInduced"), (23, "PatternIsSuperImposed")):
        conditions[k] = both([f"{kind}Any"], [f"{kind}{p}" for p in SPECIFIC])
    conditions[24] = both(
        encodings("AnyPattern"), [name for p in SPECIFIC for name in encodings(p)]
    )
    assert len(conditions) == 24
    return {number for number, is_broken in conditions.items() if is_broken}


def test_the_example_states_the_constraints_of_the_appendix(example, patients):
    _, problem = example.seizure_problem(patients)
    names = list(patients.X)
    assert len(problem.constraints) == 24
    # Each constraint alone, since several of them forbid some of the same pairs.
    data, coefficients = problem.loss.data, problem.coefficients
    single = [
        RiskScoreProblem(data, coefficients, max_size=4, constraints=[one])
        for one in problem.constraints
    ]
    rng = np.random.default_rng(0)
    families = [[*range(39), 39, *range(40, 45)], *([j for j, name in enumerate(names) if p in name]
                for p in ("AnyPattern", *SPECIFIC)), range(26, 39), range(39, 87)]  # fmt: skip
    sign = np.array([-1 if patients.signs.get(name) == "-" else 1 for name in names])
    seen = set()
    for trial in range(400):
        family = families[trial % len(families)]
        chosen = rng.choice(
            list(family), size=min(int(rng.integers(1, 5)), len(family)), replace=False
        )
        coef = np.zeros(88, dtype=np.int64)
        coef[1 + chosen] = sign[chosen]
        expected = broken({names[j] for j in chosen})
        found = {k for k, one in enumerate(single, start=1) if not one.is_feasible(coef)}
        assert found == expected, [names[j] for j in chosen]
        assert problem.is_feasible(coef) == (not expected)
        seen |= expected
    assert seen >= {2, 3, *range(10, 25)}
    for pair, number in ((("Male", "Female"), 1), *(
        ((ZEROS[p], ABOVE[p][0]), 4 + k)
        for k, p in enumerate(("AnyPattern", "LPD", "GPD", "GRDA", "BiPD", "LRDA"))
    )):  # fmt: skip
        coef = np.zeros(88, dtype=np.int64)
        coef[[1 + names.index(name) for name in pair]] = 1
        assert [k for k, one in enumerate(single, 1) if not one.is_feasible(coef)] == [number]
        assert broken(set(pair)) == {number}


def loss_of(X, y, intercept, points):
    score = intercept + sum(value * X[name].astype(float) for name, value in points.items())
    return np.logaddexp(0, np.where(y == 1, -score, score)).mean()


@pytest.mark.slow
def test_the_score_is_a_proven_optimum_that_keeps_every_rule(solved, patients):
    _, solution, _ = solved
    certificate, points = solution.certificate, solution.points
    assert certificate.status is Status.OPTIMAL
    assert certificate.optimality_gap == 0
    assert 1 <= len(points) <= 4
    assert all(value == int(value) and -5 <= value <= 5 for value in points.values())
    assert broken(set(points)) == set()
    for name, value in points.items():
        assert {"+": value > 0, "-": value < 0}.get(patients.signs.get(name), True), name
    expected = loss_of(*patients[:2], solution.intercept, points)
    assert certificate.loss == pytest.approx(expected, rel=1e-12)
    assert certificate.objective == pytest.approx(expected + 1e-6 * len(points), rel=1e-12)


def test_no_other_fourth_variable_and_no_other_points_are_better(solved, patients):
    _, solution, _ = solved
    best, points = solution.certificate.objective, solution.points
    X, y, signs = patients
    others = [points | {name: value + step} for name, value in points.items() for step in (-1, 1)]
    for dropped, name in itertools.product(points, X):
        kept = {known: value for known, value in points.items() if known != dropped}
        if name not in points:
            others += [kept | {name: value} for value in (-2, -1, 1, 2)]
    checked = 0
    for other in others:
        other = {name: value for name, value in other.items() if value}
        allowed = all(value * {"+": 1, "-": -1}[signs[name]] > 0
                      for name, value in other.items() if name in signs)  # fmt: skip
        if allowed and not broken(set(other)):
            losses = [loss_of(X, y, solution.intercept + step, other) for step in (-1, 0, 1)]
            assert min(losses) + 1e-6 * len(other) >= best - 1e-12
            checked += 1
    assert checked > 300


def test_the_document_shows_what_the_example_prints(solved):
    _, _, printed = solved
    text = (DOCS / "seizure.md").read_text(encoding="utf-8")
    shown = re.search(r"^```text\n(.*?)^```$", text, re.M | re.S)[1]
    without_time = r"solved in \d+\.\d seconds\n"
    assert re.sub(without_time, "", printed) == re.sub(without_time, "", shown)
    assert re.search(without_time, printed)
    assert "24 constraints" in text
