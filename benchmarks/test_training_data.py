"""Time and peak memory of the steps from a table to a stated problem."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.instances import Case
from benchmarks.memory import is_supported, measure_memory
from benchmarks.tables import SOURCES, make_source
from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData

DEFAULT_CASES = [Case("integer", 10**6, 30), Case("real", 10**5, 30)]
FULL_CASES = [
    *(Case(kind, 10**6, 30) for kind in ("integer", "binary", "real", "mixed")),
    *(Case(kind, 10**7, 30) for kind in ("integer", "real")),
]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("role", ["reference", "riskslim"])
def test_build(case, table, measure, benchmark, tmp_path, source, role):
    skip_impossible(source, case)
    made = make_source(source, table, tmp_path)
    built = measure(
        made.plain if role == "reference" else made.build, family="training data",
        kernel=f"from {source}", role=role, case=case,
    )  # fmt: skip
    for j, column in enumerate(table.X.T):
        found = built[0][:, 1 + j] if role == "reference" else built.column(j)
        np.testing.assert_array_equal(found, column)
    if source != "parquet":
        # Read once, written once.
        is_ours = role == "riskslim"
        columns = (built.integer_columns, built.real_row_tiles) if is_ours else built[:1]
        written = sum(column.nbytes for column in columns)
        benchmark.extra_info["bytes_per_row"] = round((made.n_bytes + written) / case.n)


def test_loss(case, table, measure):
    """Score range, the intercept's bounds, tables."""
    data = TrainingData(*table)
    coefficients = CoefficientSet(data.feature_names, -5, 5)
    loss = measure(
        lambda: LogisticLoss(data, coefficients), family="training data", kernel="LogisticLoss",
        role="riskslim", case=case,
    )  # fmt: skip
    assert loss.coefficients.intercept_lower is not None


def test_problem_and_loss_bounds(case, table, measure):
    """Proposition 1 of the paper with a limit of the model size: sorts contributions per row."""
    data = TrainingData(*table)
    coefficients = CoefficientSet(data.feature_names, -5, 5)

    def state():
        return RiskScoreProblem(data, coefficients, max_size=5).loss.bounds()

    low, high = measure(
        state, family="training data", kernel="RiskScoreProblem and loss bounds, 5 of d",
        role="riskslim", case=case,
    )  # fmt: skip
    assert 0 <= low < high


@pytest.mark.skipif(not is_supported(), reason="needs /proc/self/clear_refs")
@pytest.mark.parametrize("source", SOURCES)
def test_memory(case, benchmark, source):
    skip_impossible(source, case)
    benchmark.group = f"memory from {source} {case}"
    found = benchmark.pedantic(measure_memory, args=(source, case), rounds=1)
    benchmark.extra_info.update(
        family="memory", kernel=f"from {source}", role="riskslim", **case._asdict(), **found
    )
    assert {"TrainingData", "coordinate descent"} <= set(found["steps"])


def skip_impossible(source, case):
    if source.startswith("int8") and case.kind in ("real", "mixed"):
        pytest.skip("real features are not int8")
