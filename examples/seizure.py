"""A customised risk score: ICU seizure prediction with all of its constraints.

The application of section 6 of Ustun & Rudin (2019), on simulated patients, since the paper's are
not public. Run `python examples/seizure.py`; docs/seizure.md explains it.
"""

from __future__ import annotations

import time

from riskslim import (
    CoefficientSet,
    LinearConstraint,
    RiskScore,
    RiskScoreProblem,
    Solution,
    TrainingData,
    at_most,
    branch_and_bound,
    either_or,
    not_both,
)
from riskslim.paper.simulation import SeizureData, simulate_seizure

PATTERNS = ("BiPD", "GPD", "GRDA", "LPD", "LRDA")


def thresholds(pattern: str) -> list[str]:
    """Names of the items of a pattern's frequency: the one of 0.0 first, then from 0.5 to 3.0."""
    zero = f"MaxFrequency{pattern} = 0.0" + ("Hz" if pattern == "AnyPattern" else "")
    return [zero, *(f"MaxFrequency{pattern} >= {halves / 2}Hz" for halves in range(1, 7))]


def frequencies(pattern: str) -> list[str]:
    """All encodings of a pattern's frequency."""
    return [f"MaxFrequency{pattern}", *thresholds(pattern)]


def operational_constraints() -> list[LinearConstraint]:
    """The 24 operational constraints of the appendix, in its order."""
    constraints: list[LinearConstraint] = []

    # 1-9: no redundant categorical variables
    constraints.append(either_or("Male", "Female"))
    for names in (("GRDA", "GPD"), ("BiPD", "LRDA", "LPD")):
        either = f"PatternsInclude_{'_or_'.join(names)}"
        constraints.append(not_both(either, [f"PatternsInclude_{name}" for name in names]))
    for pattern in ("AnyPattern", "LPD", "GPD", "GRDA", "BiPD", "LRDA"):
        zero, positive, *_ = thresholds(pattern)
        constraints.append(either_or(zero, positive))

    # 10-15: frequency in continuous encoding or thresholded encoding
    for pattern in ("AnyPattern", "GPD", "LPD", "GRDA", "BiPD", "LRDA"):
        constraints.append(not_both(f"MaxFrequency{pattern}", thresholds(pattern)))

    # 16-21: limited number of thresholds for thresholded variables
    for pattern in ("AnyPattern", "LPD", "GPD", "GRDA", "BiPD", "LRDA"):
        constraints.append(at_most(2, thresholds(pattern)))

    # 22-24: any cEEG pattern or specific cEEG patterns
    for what in ("PatternIsStimulusInduced", "PatternIsSuperImposed"):
        constraints.append(not_both(f"{what}Any", [f"{what}{name}" for name in PATTERNS]))
    specific = [encoding for name in PATTERNS for encoding in frequencies(name)]
    constraints.append(not_both(frequencies("AnyPattern"), specific))
    return constraints


def seizure_problem(patients: SeizureData) -> tuple[TrainingData, RiskScoreProblem]:
    """At most 4 variables with points -5..5, the table's signs, and all constraints."""
    data = TrainingData(patients.X, patients.y, outcome_name="seizure within 24 hours")
    coefficients = CoefficientSet(data.feature_names, lower=-5, upper=5, sign=patients.signs)
    problem = RiskScoreProblem(
        data,
        coefficients,
        max_size=4,
        constraints=operational_constraints(),
    )
    return data, problem


def main() -> tuple[RiskScoreProblem, Solution]:
    """Solve the problem and print the score."""
    data, problem = seizure_problem(simulate_seizure())
    start = time.perf_counter()
    solution = branch_and_bound(problem, time_limit=1200)
    seconds = time.perf_counter() - start
    print(RiskScore.from_solution(solution, data))
    print(
        f"{data.n_features} variables, {len(problem.constraints)} operational constraints: "
        f"solved in {seconds:.1f} seconds"
    )
    return problem, solution


if __name__ == "__main__":
    main()
