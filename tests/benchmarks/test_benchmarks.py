"""Benchmarks compare like with like: references agree with the package, reports with results."""

from __future__ import annotations

import itertools
import json
import re
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import riskslim
from benchmarks import (
    ablation,
    alternatives,
    branch_and_bound,
    costs,
    cutoffs,
    default_scale,
    large,
    memory,
    nested,
    operating_points,
    peers,
    report,
    rules,
    scales,
    scaling,
    shrinkage,
)
from benchmarks.children import run_python
from benchmarks.instances import KINDS, TWO_THREADS, Case, Instance, make_table
from benchmarks.machine import describe_machine
from benchmarks.records import read_rows
from benchmarks.reference import (
    ReferenceLoss,
    StreamRead,
    coordinate_descent,
    golden_section,
    sequential_rounding,
)
from benchmarks.tables import SOURCES, make_source
from paths import DOCS, ROOT
from riskslim import CoefficientSet, RiskScoreProblem, discrete_coordinate_descent

pytestmark = pytest.mark.benchmarks


@pytest.fixture(scope="module", params=KINDS)
def instance(request) -> Instance:
    return Instance(Case(request.param, 700, 6))


def limited(instance: Instance, **limits) -> RiskScoreProblem:
    coefficients = CoefficientSet(instance.data.feature_names, -3, 4)
    return RiskScoreProblem(instance.loss.data, coefficients, **limits)


@pytest.mark.parametrize("point", ["five", "all", "fractional"])
def test_reference_loss_agrees_with_the_package(instance, point):
    coef, reference = instance.point(point), instance.reference
    value, gradient = instance.loss.value_and_gradient(coef)
    found, found_gradient = reference.value_and_gradient(coef)
    # The oracle of the package, with exactly rounded sums.
    assert found == pytest.approx(instance.loss.reference_value(coef), rel=1e-13)
    assert value == pytest.approx(found, rel=1e-13)
    np.testing.assert_allclose(found_gradient, gradient, rtol=1e-11, atol=1e-14)
    assert reference.value(coef) == pytest.approx(found, rel=1e-14)
    assert reference.value_nonzero(coef) == pytest.approx(found, rel=1e-13)
    by_table = reference.has_table and point != "fractional"
    chosen = [4, 0]
    np.testing.assert_allclose(
        reference.hessian(coef, chosen), instance.loss.hessian(coef, chosen), rtol=1e-11
    )
    of_scores = reference.value_of_scores(reference.scores(coef), by_table=by_table)
    assert of_scores == pytest.approx(found, rel=1e-14)


def test_table_agrees_with_exponentials():
    X, y, _ = make_table(Case("integer", 500, 4))
    by_table, by_exp = ReferenceLoss(X, y, largest_score=2000), ReferenceLoss(X, y)
    for coef in ([0, 0, 0, 0, 0], [-7, 1, 2, -1, 0], [1000, -50, 30, 2, 9]):
        value, gradient = by_table.value_and_gradient(coef)
        assert value == pytest.approx(by_exp.value(coef), rel=1e-14)
        np.testing.assert_allclose(gradient, by_exp.value_and_gradient(coef)[1], atol=1e-15)


def test_gradient_agrees_with_differences():
    X, y, weights = make_table(Case("weighted", 400, 3))
    loss = ReferenceLoss(X, y, weights)
    coef = np.array([-1.0, 0.3, -0.2, 0.1])
    gradient = loss.value_and_gradient(coef)[1]
    for j, step in enumerate(np.eye(4) * 1e-6):
        slope = (loss.value(coef + step) - loss.value(coef - step)) / 2e-6
        assert gradient[j] == pytest.approx(slope, rel=1e-6)


@given(
    low=st.integers(-200, 0),
    width=st.integers(0, 300),
    start=st.integers(0, 300),
    minimum=st.floats(-300, 300),
    slopes=st.tuples(st.floats(0.1, 10), st.floats(0.1, 10)),
)
def test_golden_section_finds_the_minimum(low, width, start, minimum, slopes):
    high = low + width
    start = low + start % (width + 1)
    tried = []

    def function(point: int) -> float:
        assert low <= point <= high
        tried.append(point)
        return slopes[0] * max(minimum - point, 0) + slopes[1] * max(point - minimum, 0)

    point, value = golden_section(function, low, high, start, function(start))
    assert value == min(function(k) for k in range(low, high + 1))
    assert value == function(point)
    # log_1.618 of 300 is 12; integers and a start that is off balance cost a few more.
    assert len(tried) - (width + 2) <= 20


@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"max_size": 2},
        {"min_size": 4},
        {"max_size": 3, "min_size": 3, "l0_penalty": 0.01},
        {"l0_penalty": 0.05},
        {"l0_penalty": 0.0},
        {"max_size": 3, "l2_penalty": [0.01, 0.0, 0.002, 0.03, 0.0, 0.2]},
        {"min_size": 4, "l2_penalty": 0.02},
    ],
)
def test_reference_descent_agrees_with_the_package(instance, limits):
    problem = limited(instance, **limits)
    for used in itertools.combinations(range(1, 7), min(problem.max_size, 4)):
        if used[0] > 2:
            continue
        start = np.zeros(7, dtype=np.int64)
        start[list(used)] = np.resize([1, -1, 2], len(used))
        coef, objective, n_moves = coordinate_descent(instance.reference, problem, start)
        result = discrete_coordinate_descent(problem, start)
        np.testing.assert_array_equal(coef, result.coefficients)
        assert objective == pytest.approx(result.objective, rel=1e-13)
        assert n_moves == result.n_iterations


def test_reference_descent_ends_where_no_change_helps(instance):
    problem = limited(instance, max_size=3, l0_penalty=0.002)
    coef, objective, _ = coordinate_descent(instance.reference, problem, np.zeros(7))
    for j, target in itertools.product(range(7), range(-20, 21)):
        changed = coef.copy()
        changed[j] = target
        if problem.is_feasible(changed):
            assert problem.objective(changed) >= objective * (1 - 1e-13)


@pytest.mark.parametrize("l0_penalty", [0.0, 1e-6, 0.01])
@pytest.mark.parametrize("l2_penalty", [0.0, [0.01, 0.0, 0.002, 0.03, 0.0, 0.2]])
def test_reference_rounding_agrees_with_the_package(instance, l0_penalty, l2_penalty):
    problem = limited(instance, l0_penalty=l0_penalty, l2_penalty=l2_penalty)
    random = np.random.default_rng(1)
    starts = [instance.point("fractional"), *random.uniform(-3, 4, size=(8, 7))]
    for start in starts:
        start = np.clip(start, problem.lower, problem.upper)
        coef, objective, n_rounded = sequential_rounding(instance.reference, problem, start)
        result = riskslim.sequential_rounding(problem, start)
        np.testing.assert_array_equal(coef, result.coefficients)
        assert objective == pytest.approx(result.objective, rel=1e-13)
        assert n_rounded == result.n_iterations
        assert (np.abs(coef - start) < 1).all()


def test_reference_rounding_refuses_sizes(instance):
    for limits in ({"max_size": 2}, {"min_size": 1}):
        with pytest.raises(ValueError, match="no limits of the model size"):
            sequential_rounding(instance.reference, limited(instance, **limits), np.zeros(7))


def test_points_are_what_they_are_called(instance):
    assert np.count_nonzero(instance.point("five")[1:]) == 5
    assert np.count_nonzero(instance.point("all")[1:]) == 6
    fractional = instance.point("fractional")
    assert (fractional != np.rint(fractional)).all()
    gradient = instance.reference.value_and_gradient(fractional)[1]
    assert np.abs(gradient).max() < 1e-3


def test_bytes_per_row(instance):
    features = {"integer": 6, "binary": 6, "real": 48, "mixed": 3 + 24, "weighted": 6 + 8}
    assert instance.bytes_per_row() == features[instance.case.kind] + 1
    first = np.eye(7)[2]  # the second feature, real in mixed data
    one = {"integer": 1, "binary": 1, "real": 8, "mixed": 8, "weighted": 1 + 8}
    assert instance.bytes_per_row(first) == one[instance.case.kind] + 1


def test_stream_read():
    read = StreamRead(2**16)
    assert read.n_bytes == 2**16
    assert read() == 2**16 / 16


@pytest.mark.parametrize("source", SOURCES)
def test_sources_hold_the_same_table(source, tmp_path):
    table = make_table(Case("integer", 300, 4))
    made = make_source(source, table, tmp_path)
    matrix, labels = made.plain()
    data = made.build()
    np.testing.assert_array_equal(matrix[:, 0], 1.0)
    np.testing.assert_array_equal(matrix[:, 1:], table.X)
    np.testing.assert_array_equal(data.integer_columns, table.X)
    np.testing.assert_array_equal(labels, data.labels)
    assert matrix.flags.f_contiguous
    assert made.n_bytes > 0


@pytest.mark.skipif(not memory.is_supported(), reason="needs /proc/self/clear_refs")
def test_memory_is_that_of_the_packed_columns():
    case = Case("integer", 10**6, 8)
    found = memory.measure_memory("float64 array, columns", case)
    assert found["input_bytes"] == 8 * case.n * case.d
    packing = found["steps"]["TrainingData"]
    cells = case.n * case.d
    slack = 2**20
    assert 0.95 * cells < packing["held"] <= 1.1 * cells + 10 * case.n + slack
    page = 2**16  # both are read from the system, one after the other
    assert (
        packing["held"] - page <= packing["peak"] <= 1.1 * cells + 10 * case.n + 8 * case.n + slack
    )
    assert set(found["steps"]) >= {"value and gradient", "sequential rounding"}


def test_large_data_has_one_certificate_however_it_is_read(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "rows"
    monkeypatch.setattr(large, "ROWS_PER_FILE", 3000)
    assert large.main(["make", str(folder), "--rows", "6e3"]) == 0
    assert large.make_file(1, 3000).equals(large.make_file(1, 3000))
    found = []
    for more in (["--in-memory", "--files", "1"], ["--files", "1"], [], ["--memory-limit", "1e6"]):
        assert large.main(["run-here", str(folder), "--max-size", "2", *more]) == 0
        found.append(json.loads(capsys.readouterr().out))
    one, same, two, in_files = [[run["objective"], run["coef"]] for run in found]
    assert one == same
    assert two == in_files
    assert all(run["status"] == "optimal" for run in found)
    assert found[0]["lower_bound"] == found[1]["lower_bound"]
    assert found[3]["lower_bound"] == pytest.approx(found[2]["lower_bound"], rel=1e-12)
    assert all(run["fit"]["peak_bytes"] > 0 for run in found)
    by_child = large.main(["run", str(folder), "--max-size", "2", "--read-only"])
    assert by_child == 0
    assert "objective" not in json.loads(capsys.readouterr().out)


def test_items_made_in_memory_are_searched(capsys):
    arguments = ["--rows", "2e3", "--max-size", "2", "--threads", "1"]
    assert large.main(["items", *arguments]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["rows"], found["status"], found["gap"]) == (2000, "optimal", 0.0)
    with pytest.raises(SystemExit):
        large.main(["run", *arguments])


def test_failing_child_tells_why():
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        run_python(["-c", "1 / 0"])


# ---------------------------------------------------------------------------------------------
# Report
# ---------------------------------------------------------------------------------------------


def results(*benchmarks: dict) -> dict:
    return {
        "machine_info": {"riskslim": describe_machine()},
        "benchmarks": [
            {"extra_info": info, "stats": {"median": seconds, "min": seconds / 2, "rounds": 7}}
            for info, seconds in benchmarks
        ],
    }


READ = {"family": "bandwidth", "kernel": "read 512 MiB", "role": "riskslim", "n_bytes": 10**9}
KERNEL = {
    "family": "loss", "kernel": "value, 5 non-zero", "kind": "integer", "n": 10**6, "d": 30,
    "bytes_per_row": 6,
}  # fmt: skip
STEPS = {"TrainingData": {"peak": 3 * 2**20, "held": 2**20}}
MEMORY = {
    "family": "memory", "kernel": "from pandas", "role": "riskslim", "kind": "integer",
    "n": 2**18, "d": 4, "input_bytes": 8 * 2**20, "steps": STEPS,
}  # fmt: skip
FIT = {
    "family": "fits", "kernel": "lattice_cpa", "role": "riskslim", "kind": "integer", "n": 1000,
    "d": 10, "total_seconds": 4.0, "packing_seconds": 0.0005, "data_seconds": 1.0,
    "solver_seconds": 2.995, "status": "optimal", "gap": 0.0, "nodes": 1234, "cuts": 5,
    "loss_evaluations": 67890,
}  # fmt: skip
STARTUP = {"family": "startup", "kernel": "import x", "role": "riskslim", "seconds": 0.02}


def write_results(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content))
    return path


def test_report(tmp_path, capsys):
    path = write_results(
        tmp_path / "results.json",
        results(
            (READ, 0.05),
            ({**KERNEL, "role": "reference"}, 0.045),
            ({**KERNEL, "role": "riskslim"}, 0.0015),
            ({**KERNEL, "role": "reference, non-zero columns"}, 0.015),
            ({**KERNEL, "role": TWO_THREADS}, 0.0008),
            ({**KERNEL, "role": "riskslim", "kind": "real", "bytes_per_row": 41}, 0.0041),
            (MEMORY, 1.0),
            (FIT, 4.0),
            (STARTUP, 0.05),
        ),
    )
    assert report.main([str(path)]) == 0
    text = capsys.readouterr().out
    lines = text.splitlines()
    assert "| read 512 MiB | 20.0 |" in lines
    # 6 bytes of 10^6 rows in 1.5 ms are 4 GB/s of 20 GB/s; 45 ms are 30 times 1.5 ms.
    assert (
        "| value, 5 non-zero | integer | 1,000,000 | 30 | 1.5 ms | 45 ms | 30.0 | 20 / 40 | 10.0 "
        "| 1.88 | 6 | 4.0 | 20% | 7 |"
    ) in lines
    # Without a reference there is no ratio.
    assert (
        "| value, 5 non-zero | real | 1,000,000 | 30 | 4.1 ms |  |  |  |  |  | 41 | 10.0 | 50% "
        "| 7 |"
    ) in lines
    assert (
        "| from pandas | integer | 262,144 | 4 | 8.0 MiB | 3.0 MiB / 1.0 MiB | 1.00 | 3.00 |"
    ) in lines
    assert (
        "| lattice_cpa | integer | 1,000 | 10 | 4 s | 500 µs | 1 s | 3 s | 25% | optimal | 0.00% "
        "| 1,234 | 5 | 67,890 |"
    ) in lines
    assert "| import x | 20 ms | 50 ms |" in lines
    assert "- Processor: " in text
    assert f"NumPy {np.__version__}" in text
    assert "- BLAS: " in text
    # Every table is rectangular.
    for above, below in itertools.pairwise(lines):
        if above.startswith("|") and below.startswith("|"):
            assert above.count("|") == below.count("|")


def test_summary_in_the_terminal():
    measured = results(
        (READ, 0.05),
        ({**KERNEL, "role": "reference"}, 0.045),
        ({**KERNEL, "role": "riskslim"}, 0.0015),
        (STARTUP, 0.05),
        ({**MEMORY, "bytes_per_row": 5}, 1.0),
    )["benchmarks"]
    head, line = report.write_summary(report.entries_of(measured))
    assert " ".join(head.split()) == "kernel data n d time ratio GB/s of bandwidth"
    assert " ".join(line.split()) == "value, 5 non-zero integer 1,000,000 30 1.5 ms 30.0 4.0 20%"
    *_, last = report.write_summary(report.entries_of(measured[1:]))
    assert "needs test_bandwidth.py" in last
    assert report.write_summary(report.entries_of(measured[:1])) == []


def test_report_of_the_fastest_rounds(tmp_path, capsys):
    path = write_results(tmp_path / "results.json", results((READ, 0.05)))
    assert report.main([str(path), "--statistic", "min"]) == 0
    assert "| read 512 MiB | 40.0 |" in capsys.readouterr().out.splitlines()


def test_report_warns_of_a_forced_blas(tmp_path):
    content = results((READ, 0.05))
    content["machine_info"]["riskslim"]["environment"] = {"OPENBLAS_CORETYPE": "Haswell"}
    path, output = write_results(tmp_path / "results.json", content), tmp_path / "report.md"
    assert report.main([str(path), "--output", str(output)]) == 0
    assert "OPENBLAS_CORETYPE forces a kernel" in output.read_text()
    content["machine_info"]["riskslim"]["environment"] = {}
    write_results(path, content)
    report.main([str(path), "--output", str(output)])
    assert "forces" not in output.read_text()


@pytest.mark.parametrize(
    "content",
    [
        {"machine_info": {}, "benchmarks": []},
        {**results(), "benchmarks": [{"extra_info": {}, "stats": {"median": 1, "rounds": 1}}]},
        [],
    ],
)
def test_report_refuses_other_files(tmp_path, content):
    path = write_results(tmp_path / "results.json", content)
    with pytest.raises(ValueError, match="is not the JSON of these benchmarks"):
        report.read_results(path)


def test_targets_name_benchmarks_that_exist():
    """A renamed kernel must not lose its target silently."""
    from benchmarks import test_heuristics, test_loss

    names = {
        *(f"value, {label}" for label in test_loss.POINTS.values()),
        *(f"value and gradient, {label}" for label in test_loss.POINTS.values()),
        "loss of given scores", "coordinate descent", "sequential rounding",
    }  # fmt: skip
    cases = {*test_loss.FULL_CASES, *test_heuristics.FULL_CASES}
    for kernel, *case in report.TARGETS:
        assert kernel in names
        assert Case(*case) in cases


def test_suite_runs_and_is_reported(tmp_path, monkeypatch):
    """One run of the suite on small data, from the command line to the report."""
    # By this pytest-benchmark would take the suite for a part of these tests, and measure nothing.
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    path = tmp_path / "results.json"
    shown = run_python(
        [
            "-m", "pytest", f"{ROOT}/benchmarks", f"--rootdir={ROOT}", "--import-mode=append",
            "-p", "no:cacheprovider", "-q", "--sizes=300", "--features=3", "--kinds=integer",
            "-k", "test_value or test_loss or test_build or test_coordinate or test_sequential",
            f"--benchmark-json={path}", "--benchmark-timer=time.process_time",
        ]
    )  # fmt: skip
    assert "beside the reference" in shown
    machine, entries = report.read_results(path)
    kernels = {entry.info["kernel"] for entry in entries}
    assert {"value, 5 non-zero", "coordinate descent", "from parquet", "LogisticLoss"} <= kernels
    paired = {entry.case for entry in entries if entry.info["role"] == "reference"}
    assert paired <= {entry.case for entry in entries if entry.info["role"] == "riskslim"}
    text = report.write_report(machine, entries)
    assert "| sequential rounding | integer | 300 | 3 |" in text


# ---------------------------------------------------------------------------------------------
# Scaling
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["lattice_cpa", "branch_and_bound"])
def test_scaling_goes_on_where_it_was(tmp_path, engine):
    path = tmp_path / "scaling.csv"
    settings = {"max_size": 2, "time_limit": 30.0, "engine": engine}
    assert scaling.run(path, "integer", [200, 400], 3, repeats=1, **settings) == 2
    first = path.read_text()
    assert scaling.run(path, "integer", [200, 400], 3, repeats=1, **settings) == 0
    assert scaling.run(path, "integer", [200, 800], 3, repeats=2, **settings) == 3
    assert path.read_text().startswith(first)
    rows = scaling.read_rows(path)
    assert [(row["n"], row["repeat"]) for row in rows] == [
        ("200", "0"), ("400", "0"), ("200", "1"), ("800", "0"), ("800", "1"),
    ]  # fmt: skip
    for row in rows:
        parts = sum(float(row[f"{part}_seconds"]) for part in ("packing", "data", "solver"))
        assert parts == pytest.approx(float(row["total_seconds"]))
        assert float(row["cpu_seconds"]) > 0
        assert row["status"] == "optimal"
    points = scaling.medians(rows, "integer", 3, 2, engine)
    assert [point["n"] for point in points] == [200, 400, 800]
    assert scaling.medians(rows, "integer", 3, 5, engine) == []
    assert scaling.medians(rows, "integer", 3, 2, "another") == []


def test_scaling_of_both_engines_is_kept_apart(tmp_path):
    path = tmp_path / "scaling.csv"
    settings = {"max_size": 2, "time_limit": 30.0, "repeats": 1}
    engines = ("lattice_cpa", "branch_and_bound")
    for engine in engines:
        assert scaling.run(path, "integer", [300], 3, engine=engine, **settings) == 1
    rows = scaling.read_rows(path)
    assert tuple(row["engine"] for row in rows) == engines
    assert float(rows[0]["objective"]) == pytest.approx(float(rows[1]["objective"]), rel=1e-12)


@pytest.mark.parametrize(
    ("engine", "name"),
    [("lattice_cpa", "scaling.svg"), ("branch_and_bound", "branch_and_bound_scaling.svg")],
)
def test_scaling_plot(tmp_path, engine, name):
    pytest.importorskip("matplotlib")
    arguments = [
        str(tmp_path), "--sizes", "2e2,4e2", "--features", "3", "--repeats", "1",
        "--engine", engine,
    ]  # fmt: skip
    assert scaling.main(arguments) == 0
    svg = (tmp_path / name).read_text()
    assert "</svg>" in svg
    assert scaling.main([*arguments, "--plot-only"]) == 0
    assert (tmp_path / name).read_text() == svg
    # What a time limit stopped is no time of a fit.
    assert "stopped" not in svg
    path = tmp_path / name.replace(".svg", ".csv")
    path.write_text(path.read_text().replace(",optimal,", ",feasible,"))
    assert scaling.main([*arguments, "--plot-only"]) == 0
    assert "stopped" in (tmp_path / name).read_text()


@pytest.mark.parametrize("name", ["scaling.csv", "branch_and_bound_scaling.csv"])
def test_published_scaling_has_the_columns_of_today(name):
    assert scaling.read_rows(DOCS / name)


def test_scaling_refuses_another_file(tmp_path):
    path = tmp_path / "scaling.csv"
    path.write_text("n,seconds\n100,1.5\n")
    with pytest.raises(ValueError, match="has columns n, seconds, expected engine, kind, n, d"):
        scaling.read_rows(path)


# ---------------------------------------------------------------------------------------------
# Branch and bound on the paper's data, and a prototype beside it
# ---------------------------------------------------------------------------------------------

# Prints what the prototype does, heads of columns included, and where it was told to compile to.
STAND_IN = """
import os, sys
assert "NUMBA_CACHE_DIR" in os.environ and os.environ["OMP_NUM_THREADS"] == "1"
print("RESULT {'UB': 1.0}")
print("  [0.0s] UB 0.5", {1: -1})
print("RESULT", "{'name': %r, 'UB': np.float64(0.5), 'LB': 0.5, 'gap': 0.0, 'time': 3.25, "
      "'nodes': 7, 'open': 0, 'thresholds': {10: (np.float64(1.5), 2), 1: (2.5, 5)}}" % sys.argv[1])
"""


@pytest.fixture
def data_folder(tmp_path) -> Path:
    """Data with the names of two of the paper's sets."""
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("adult", "mammo"):
        X, y, _ = make_table(Case("binary", 300, 4))
        np.savetxt(
            folder / f"{name}_data.csv", np.column_stack((y, X)), fmt="%d", delimiter=",",
            header="outcome,a,b,c,d", comments="",
        )  # fmt: skip
    return folder


def test_branch_and_bound_goes_on_where_it_was(tmp_path, data_folder):
    path = tmp_path / "branch_and_bound.csv"
    instances = [branch_and_bound.Instance("adult", 2), branch_and_bound.Instance("mammo", 3)]
    settings = {"time_limit": 30.0, "repeats": 1}
    assert branch_and_bound.run(path, data_folder, instances[:1], **settings) == 1
    first = path.read_text()
    assert branch_and_bound.run(path, data_folder, instances[:1], **settings) == 0
    assert branch_and_bound.run(path, data_folder, instances, **settings) == 1
    assert path.read_text().startswith(first)
    for row in branch_and_bound.read_rows(path, branch_and_bound.FIELDS):
        assert (row["program"], row["n"], row["d"], row["status"]) == (
            "riskslim", "300", "4", "optimal",
        )  # fmt: skip
        assert float(row["gap"]) == 0
        for clock in ("wall", "cpu"):
            times = [
                float(row[f"{clock}_seconds{name}"])
                for name in ("_to_10_percent", "_to_1_percent", "_to_0_percent", "")
            ]
            assert times == sorted(times)


def test_scales_are_compared(tmp_path, data_folder, capsys):
    arguments = [
        str(data_folder), str(tmp_path), "--instances", "adult:2,mammo:3", "--interval", "0.7:5",
    ]  # fmt: skip
    assert scales.main(arguments) == 0
    rows = scales.read_rows(tmp_path / "scales.csv", scales.FIELDS)
    assert [row["scales"] for row in rows] == ["1", "0.7 to 5"] * 2
    for one, free in zip(rows[::2], rows[1::2], strict=True):
        assert float(free["objective"]) <= float(one["objective"]) * (1 + 1e-5)
        assert one["status"] == free["status"] == "optimal"
    table = capsys.readouterr().out
    assert table.count("\n") == 4
    assert f"| adult | 2 | {float(rows[0]['objective']):.6f} |" in table
    assert scales.main([*arguments, "--report-only"]) == 0
    assert capsys.readouterr().out == table
    with pytest.raises(SystemExit):
        scales.main([*arguments, "--interval", "5"])


def marked(command: str) -> str:
    name = f"benchmarks.{command}"
    return f"<!-- {name}: begin -->\nformer tables\n<!-- {name}: end -->"


def small_tables(folder):
    """A raw table and one of the paper's, made up, where the benchmarks look for them."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (150, 4))
    y = (rng.random(150) < 1 / (1 + np.exp(1.5 - X @ [2, 1, 1, 0]))).astype(int)
    header = "outcome,a,b,c,d\n"
    lines = [",".join(map(str, row)) + "\n" for row in np.column_stack((y, X)).tolist()]
    (folder / "mammo_data.csv").write_text(header + "".join(lines))
    (folder / "raw").mkdir()
    heads = ["diabetes", "glucose", "blood_pressure", "skin", "insulin", "bmi"]
    values = np.column_stack((y, 60 + 20 * X + rng.integers(0, 9, X.shape), y * 3 + 20))
    values[::5, 1] = 0  # not measured
    text = ",".join(heads) + "\n" + "\n".join(",".join(map(str, row)) for row in values.tolist())
    (folder / "raw" / "pima.csv").write_text(text + "\n")


def test_the_default_of_the_scale_is_measured(tmp_path, capsys):
    small_tables(tmp_path)
    page = tmp_path / "page.md"
    page.write_text(f"before\n{marked('default_scale')}\nafter\n")
    arguments = [
        str(tmp_path), str(tmp_path), "--tables", "raw/pima,mammo", "--sizes", "1",
        "--time-limit", "2", "--page", str(page),
    ]  # fmt: skip
    assert default_scale.main(arguments) == 0
    shown = capsys.readouterr().out
    rows = read_rows(tmp_path / "default_scale.csv", default_scale.FIELDS)
    assert [row["scale"] for row in rows] == ["1", "free"] * 10
    for one, free in zip(rows[::2], rows[1::2], strict=True):
        assert one["best_scale"] == "1.0"
        assert float(free["train_loss"]) <= float(one["train_loss"]) + 1e-5
    own = [row for row in rows if row["table"] == "mammo"]
    change = np.array(
        [float(b["loss"]) - float(a["loss"]) for a, b in zip(own[::2], own[1::2], strict=True)]
    )
    half = 2.776 * np.sqrt(0.45 * change.var(ddof=1))
    mean = change.mean()
    assert f"| {mean:+.4f} ({mean - half:+.4f} to {mean + half:+.4f}) |" in shown
    assert shown.strip() in page.read_text()
    # What is there is not computed again.
    (tmp_path / "mammo_data.csv").write_text("outcome,a\n")
    assert default_scale.main([*arguments, "--report-only"]) == 0
    assert capsys.readouterr().out == shown
    for wrong in (["--tables", "other"], ["--sizes", "few"]):
        with pytest.raises(SystemExit):
            default_scale.main([*arguments, *wrong])


def test_strengths_of_the_prior_are_measured(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(shrinkage, "GRID", (0.0, 4.0))
    small_tables(tmp_path)
    arguments = [
        str(tmp_path), str(tmp_path), "--tables", "mammo", "--sizes", "2", "--strengths",
        "0,4,cv", "--time-limit", "2",
    ]  # fmt: skip
    assert shrinkage.main(arguments) == 0
    shown = capsys.readouterr().out
    rows = read_rows(tmp_path / "shrinkage.csv", shrinkage.FIELDS)
    assert [row["strength"] for row in rows] == ["0", "4", "cv"] * 5
    for without, strong, chosen in zip(rows[::3], rows[1::3], rows[2::3], strict=True):
        assert float(strong["objective"]) > float(strong["train_loss"])
        assert float(without["train_loss"]) <= float(strong["train_loss"])
        assert chosen["chosen_strength"] in {"0.0", "4.0"}
    change = np.array(
        [float(b["loss"]) - float(a["loss"]) for a, b in zip(rows[::3], rows[1::3], strict=True)]
    )
    half = 2.776 * np.sqrt(0.45 * change.var(ddof=1))
    mean = change.mean()
    assert f"| {mean:+.4f} ({mean - half:+.4f} to {mean + half:+.4f}) |" in shown
    assert shrinkage.main([*arguments[:-4], "--strengths", "0,4", "--proofs", "2"]) == 0
    proofs = read_rows(tmp_path / "proofs.csv", shrinkage.PROOF_FIELDS)
    assert all(float(row["gap"]) < 1e-4 for row in proofs)
    assert len(capsys.readouterr().out.splitlines()) == 4
    with pytest.raises(SystemExit):
        shrinkage.main([*arguments, "--strengths", "strong"])


def test_alternatives_and_rules_are_found_on_raw_tables(tmp_path, capsys, monkeypatch):
    small_tables(tmp_path)
    monkeypatch.setattr(alternatives, "N_THRESHOLDS", 2)
    monkeypatch.setattr(alternatives, "SIZE", 2)
    arguments = [str(tmp_path), str(tmp_path)]
    assert alternatives.main([*arguments, "--cases", "pima-3", "--kinds", "one,both"]) == 0
    shown = capsys.readouterr().out
    rows = read_rows(tmp_path / "alternatives.csv", alternatives.FIELDS)
    assert [row["kind"] for row in rows] == ["one", "both"]
    for row in rows:
        assert int(row["complete"]) == 1
        assert int(row["lines"]) <= int(row["sets"])
        assert row["proven"] == row["prices"] != "0"
        assert 0 < float(row["least_price"]) <= float(row["largest_price"])
        assert f"| pima-3 | {row['kind']} | " in shown
    case = operating_points.Case("pima", 2, 2, 2, (0.9,), 60)
    monkeypatch.setitem(operating_points.CASES, "pima-2", case)
    assert operating_points.main([*arguments, "--cases", "pima-2"]) == 0
    (row,) = read_rows(tmp_path / "operating_points.csv", operating_points.FIELDS)
    assert float(row["found"]) >= 0.9
    assert row["specificity"] == row["bound"]
    assert "pima-2" in capsys.readouterr().out
    # What is there is not measured again.
    assert alternatives.main([*arguments, "--cases", "pima-3", "--kinds", "one,both"]) == 0
    assert capsys.readouterr().out == shown
    for module in (alternatives, operating_points):
        with pytest.raises(SystemExit):
            module.main([*arguments, "--cases", "other"])


def test_rules_are_compared_on_new_rows(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(rules, "rule_margin", lambda *_, **__: SimpleNamespace(aim=0.9))
    small_tables(tmp_path)
    page = tmp_path / "page.md"
    page.write_text(f"before\n{marked('rules')}\nafter\n")
    arguments = [
        str(tmp_path), str(tmp_path), "--tables", "raw/pima", "--sizes", "1", "--sensitivity",
        "0.8", "--methods", "tree,rule,aimed,loss,logistic", "--time-limit", "5",
    ]  # fmt: skip
    assert rules.main([*arguments, "--page", str(page)]) == 0
    shown = capsys.readouterr().out
    rows = read_rows(tmp_path / "rules.csv", rules.FIELDS)
    assert [row["method"] for row in rows] == ["tree", "rule", "aimed", "loss", "logistic"] * 5
    for row in rows:
        found, cases = int(row["train_true_positives"]), int(row["train_positives"])
        assert found >= 0.8 * cases
        others, left_out = int(row["negatives"]), int(row["true_negatives"])
        assert float(row["specificity"]) == left_out / others
    by_method = [[row for row in rows if row["method"] == one] for one in ("rule", "loss")]
    for rule, loss in zip(*by_method, strict=True):
        assert int(rule["train_true_negatives"]) >= int(loss["train_true_negatives"])
    lines = shown.splitlines()[2:]
    assert [line.split("|")[4].strip() for line in lines] == [*rules.NAMES_OF_METHODS.values()]
    cases = [
        sum(int(row[name]) for row in by_method[0]) for name in ("true_positives", "positives")
    ]
    assert f"| {cases[0] / cases[1]:.1%} (" in lines[0]
    assert shown.strip() in page.read_text()
    assert rules.main([*arguments, "--report-only"]) == 0
    assert capsys.readouterr().out == shown
    for wrong in (["--methods", "other"], ["--sensitivity", "95"], ["--tables", "mammo"]):
        with pytest.raises(SystemExit):
            rules.main([*arguments, *wrong])


WORKER = """
import json, sys
import numpy as np
X = np.load(sys.argv[1], allow_pickle=True)["X"]
points = [2] + [0] * (X.shape[1] - 1)
scores = [{"multiplier": 2.0, "intercept": -1.0, "points": points}]
print("chatter"); print(json.dumps({"cpu_seconds": 1.5, "scores": scores}))
"""


def test_peers_are_compared(tmp_path, capsys, monkeypatch):
    small_tables(tmp_path)
    # A peer in another environment is a program that answers in JSON.
    worker = tmp_path / "worker.py"
    worker.write_text(WORKER)
    answer = peers._answer
    monkeypatch.setattr(
        peers, "_answer", lambda python, _, *rest: answer(python, str(worker), *rest)
    )
    arguments = [
        str(tmp_path), str(tmp_path), "--tables", "raw/pima,mammo", "--sizes", "2",
        "--time-limit", "2", "--fasterrisk", sys.executable,
    ]  # fmt: skip
    assert peers.main(arguments) == 0
    output = capsys.readouterr()
    assert "without optbinning: no interpreter is named" in output.err
    rows = peers.read_rows(tmp_path / "peers.csv", peers.FIELDS)
    assert {row["peer"] for row in rows} == peers.PEERS.keys() - {"optbinning"}
    assert len(rows) == 2 * 5 * (len(peers.PEERS) - 1)
    assert all(int(row["n_items"]) <= 2 for row in rows)
    fold = [row for row in rows if row["table"] == "mammo" and row["fold"] == "0"]
    data = peers.rows_of(peers.open_dataset(tmp_path, "mammo"), 0)
    theirs = next(row for row in fold if row["peer"] == "fasterrisk")
    log_odds = data.test[:, 0] - 0.5
    loss = np.logaddexp(0, np.where(data.y_test, -log_odds, log_odds)).mean()
    assert float(theirs["loss"]) == pytest.approx(loss)
    assert theirs["points"] == "a: 2"
    assert "| mammo | 2 | fasterrisk | " in output.out
    assert peers.main([*arguments, "--report-only"]) == 0
    assert capsys.readouterr().out == output.out
    for wrong in (["--tables", "other"], ["--sizes", "few"], ["--peers", "autoscore"]):
        with pytest.raises(SystemExit):
            peers.main([*arguments, *wrong])
    worker.write_text("raise SystemExit(3)")
    (tmp_path / "peers.csv").unlink()
    with pytest.raises(RuntimeError, match="failed"):
        peers.main(arguments)


def test_cutoffs_are_compared(tmp_path, capsys, monkeypatch):
    rng = np.random.default_rng(0)
    age, sugar = rng.integers(20, 80, 120), rng.integers(0, 3, 120) * 50
    bad = (rng.random(120) < 1 / (1 + np.exp(4 - age / 15))).astype(int)
    table = "age,sugar,bad\n" + "".join(
        f"{a},{s},{b}\n" for a, s, b in zip(age, sugar, bad, strict=True)
    )
    (tmp_path / "made_up.csv").write_text(table)
    made_up = cutoffs.RawTable("made_up.csv", "bad", zero_is_missing=("sugar",))
    monkeypatch.setattr(cutoffs, "TABLES", {"made_up": made_up})
    page = tmp_path / "page.md"
    page.write_text(f"before\n{marked('cutoffs')}\nafter\n")
    arguments = [
        str(tmp_path), str(tmp_path), "--cutoffs", "1,all", "--sizes", "1", "--time-limit", "2",
        "--page", str(page),
    ]  # fmt: skip
    assert cutoffs.main(arguments) == 0
    rows = read_rows(tmp_path / "cutoffs.csv", cutoffs.FIELDS)
    assert [row["cutoffs"] for row in rows] == ["1", "all"] * 5
    for one, every in zip(rows[::2], rows[1::2], strict=True):
        assert int(one["n_items"]) < int(every["n_items"])
        assert one["n_train"] == every["n_train"] == "96"
        if one["scale"] == every["scale"]:  # one cut-off of each column is one of all, rounded
            assert float(every["train_loss"]) <= float(one["train_loss"]) + 1e-9
    shown = capsys.readouterr().out
    loss = np.array([float(row["loss"]) for row in rows])
    change = loss[1::2] - loss[::2]
    half = 2.776 * np.sqrt(0.45 * change.var(ddof=1))
    mean = change.mean()
    assert f"| {mean:+.4f} ({mean - half:+.4f} to {mean + half:+.4f}) |" in shown
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert shown.strip() in text
    assert "former" not in text
    # What is there is not computed again.
    (tmp_path / "made_up.csv").write_text("age,sugar,bad\n")
    assert cutoffs.main([*arguments, "--report-only"]) == 0
    assert page.read_text() == text
    page.write_text("no marks")
    with pytest.raises(ValueError, match="lacks the marks"):
        cutoffs.main([*arguments, "--report-only"])
    for wrong in (["--tables", "other"], ["--cutoffs", "most"]):
        with pytest.raises(SystemExit):
            cutoffs.main([*arguments, *wrong])


def test_variants_are_compared(tmp_path, data_folder, capsys):
    arguments = [
        str(data_folder), str(tmp_path), "--instances", "adult:2,mammo:3", "--seeds", "2",
        "--variants", "default,fractional_rounds=0+cut_pool=0",
    ]  # fmt: skip
    assert ablation.main(arguments) == 0
    rows = ablation.read_rows(tmp_path / "variants.csv", ablation.FIELDS)
    assert [row["variant"] for row in rows[:2]] == ["default", "fractional_rounds=0+cut_pool=0"]
    assert [row["seed"] for row in rows] == ["0"] * 4 + ["1"] * 4
    for data in ("adult", "mammo"):
        objectives = [float(row["objective"]) for row in rows if row["data"] == data]
        assert max(objectives) - min(objectives) <= 1e-12
    table = capsys.readouterr().out
    assert table.count("\n") == 4
    assert " s |" in table
    assert ablation.main([*arguments, "--report-only"]) == 0
    assert capsys.readouterr().out == table
    for bad in ("no_such_setting=1", "cut_pool=-1"):
        with pytest.raises(SystemExit):
            ablation.main([*arguments, "--variants", bad])


@pytest.fixture
def blas_as_it_is(monkeypatch) -> None:
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        monkeypatch.delenv(name, raising=False)


def test_forced_blas_is_refused(tmp_path, blas_as_it_is, monkeypatch, capsys):
    """The ratio to a prototype that may be slowed down says nothing."""
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    with pytest.raises(SystemExit):
        branch_and_bound.main([str(tmp_path), str(tmp_path / "output"), "--prototype", "."])
    assert "unset OPENBLAS_CORETYPE: the prototype may be slower" in capsys.readouterr().err
    assert not (tmp_path / "output").exists()


def test_prototype_takes_turns(tmp_path, data_folder, blas_as_it_is, capsys):
    prototype = tmp_path / "prototype"
    prototype.mkdir()
    (prototype / "branch_and_bound_prototype.py").write_text(STAND_IN)
    arguments = [
        str(data_folder), str(tmp_path / "output"), "--prototype", str(prototype),
        "--instances", "adult:5,mammo:2", "--repeats", "2", "--time-limit", "20",
    ]  # fmt: skip
    assert branch_and_bound.main(arguments) == 0
    assert sorted(path.name for path in prototype.iterdir()) == ["branch_and_bound_prototype.py"]
    path = tmp_path / "output" / "branch_and_bound.csv"
    rows = branch_and_bound.read_rows(path, branch_and_bound.FIELDS)
    # It is not compared on mammo.
    assert [(row["program"], row["data"], row["repeat"]) for row in rows] == [
        ("riskslim", "adult", "0"), ("prototype", "adult", "0"),
        ("riskslim", "adult", "1"), ("prototype", "adult", "1"),
        ("riskslim", "mammo", "0"), ("riskslim", "mammo", "1"),
    ]  # fmt: skip
    assert [rows[1][f"cpu_seconds_to_{gap}_percent"] for gap in (10, 1, 0)] == [
        "1.5",
        "2.5",
        "3.25",
    ]
    assert (rows[1]["status"], rows[1]["objective"], rows[1]["nodes"]) == ("optimal", "0.5", "7")
    table = capsys.readouterr().out
    assert branch_and_bound.main([*arguments, "--report-only"]) == 0
    assert capsys.readouterr().out == table
    _, _, adult, mammo = table.splitlines()
    ratio = 3.25 / np.mean([float(rows[i]["cpu_seconds"]) for i in (0, 2)])
    assert adult.startswith("| adult | 5 | 20 | ")
    assert adult.endswith(f"| 3.25 | {ratio:.1f} |")
    assert mammo.endswith("|  |  |")


def test_open_gap_of_the_prototype_has_no_time(tmp_path):
    (tmp_path / "branch_and_bound_prototype.py").write_text(
        "print(\"RESULT {'UB': 0.5, 'LB': 0.48, 'gap': 4.0, 'time': 9.0, 'nodes': 3, 'open': 2, "
        "'thresholds': {10: (1.5, 2)}}\")"
    )
    instance = branch_and_bound.Instance("adult", 5)
    found = branch_and_bound.run_prototype(tmp_path, instance, 9.0, tmp_path)
    assert (found["status"], found["gap"]) == ("feasible", 0.04)
    reached = {name: value for name, value in found.items() if "_to_" in name}
    assert reached == {"cpu_seconds_to_10_percent": 1.5}


def test_published_runs_have_the_columns_of_today():
    rows = branch_and_bound.read_rows(DOCS / "branch_and_bound.csv", branch_and_bound.FIELDS)
    instances = {(row["data"], int(row["max_size"])) for row in rows}
    assert instances >= set(branch_and_bound.INSTANCES)


def test_prototype_without_a_result_is_an_error():
    with pytest.raises(ValueError, match="printed no RESULT"):
        branch_and_bound.parse_result("root LB 0.4")


@pytest.mark.parametrize("text", ["adult", "adult:", ":5", "adult:five"])
def test_instances_are_checked(text, tmp_path, capsys):
    with pytest.raises(SystemExit):
        branch_and_bound.main([str(tmp_path), str(tmp_path / "output"), "--instances", text])
    assert "a name and a model size" in capsys.readouterr().err


def test_inner_folds_that_cannot_be_judged_choose_nothing():
    scores = {
        "split0_test_score": [np.nan] * 3,
        "split1_test_score": [-0.5, -0.4, -0.6],
        "split2_test_score": [-0.5, -0.5, -0.5],
    }
    assert nested._of_the_lowest_loss(scores) == 1
    # One that some parameters fail on is left out for all.
    scores["split1_test_score"] = [-0.5, -0.4, np.nan]
    scores["split2_test_score"] = [-0.5, -0.5, -0.3]
    assert nested._of_the_lowest_loss(scores) == 2
    scores["split2_test_score"] = [np.nan] * 3
    with pytest.raises(ValueError, match="no inner fold"):
        nested._of_the_lowest_loss(scores)


def test_parameters_are_chosen_where_a_fold_lacks_missing_values():
    """Of a column with one missing value, one inner fold has none in training."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"a": rng.integers(0, 9, 120).astype(float), "b": rng.integers(0, 9, 120)})
    y = (rng.random(120) < 1 / (1 + np.exp(4 - X["a"] - 0.1 * X["b"]))).astype(int)
    X.loc[5, "a"] = np.nan
    model = riskslim.RiskSLIMClassifier(
        items=riskslim.ItemEncoder(n_thresholds=3, missing="indicator"),
        scale=1,
        time_limit=5,
        l2_penalty=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of the fold that could not be judged
        found = nested.fitted(model, {"max_size": [3, 1]}, X, y.to_numpy())
    assert found.max_size == 1  # 3 is the first, and no better on the others


def test_constants_of_costs_are_found_again(monkeypatch):
    """Times of three times or half a constant lead to that constant."""
    sizes = [(n, d) for n in (1_000, 30_000, 200_000) for d in (5, 50, 500)]

    def relaxed(n, d):
        wrong = {"PAIR_SECONDS": 3 * 3e-7, "VALUE_SECONDS": 0.5 * 8e-9}
        with costs.constants(wrong):
            seconds = costs.costs.relaxation(n, d)
        yield costs.Timed(seconds, lambda: costs.costs.relaxation(n, d))

    monkeypatch.setattr(costs, "PRIOR", 0.01)
    names = ("BESIDE_SECONDS", "PAIR_SECONDS", "VALUE_SECONDS", "FURTHER_SECONDS")
    found = costs.fit(costs.Family("relaxations", names, relaxed, sizes), True, {})
    factors = {name: value / costs.value_of(name) for name, value in found.values.items()}
    assert factors == pytest.approx(dict(zip(names, (1.0, 3.0, 0.5, 1.0), strict=True)), rel=0.05)
    assert len(found.ratios) == len(sizes)
    assert costs.value_of("PAIR_SECONDS") == 3e-7
    # A constant that no time says anything of stays as it is.
    unknown = costs.Family("few rows", names, relaxed, [(1_000, 5), (1_000, 500)])
    assert costs.fit(unknown, True, {}).values["FURTHER_SECONDS"] == pytest.approx(3e-9)
    rows = costs.constants_of([found])
    assert [row["is_wrong"] for row in rows] == ["", "", "", ""]


def test_costs_are_measured(tmp_path, capsys, monkeypatch):
    smallest = [family._replace(sizes=family.sizes[:1]) for family in costs.FAMILIES]
    monkeypatch.setattr(costs, "FAMILIES", smallest)
    page = tmp_path / "page.md"
    page.write_text(f"before\n{marked('costs')}\nafter\n")
    assert costs.main(["--quick", "--page", str(page)]) == 0
    text, printed = page.read_text(), capsys.readouterr().out
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert all(f"| {family.title} | " in text for family in smallest)
    named = {each for family in smallest for name in family.names for each in costs.each_of(name)}
    rows = page.with_suffix(".csv").read_text().splitlines()
    assert {row.split(",")[0] for row in rows} == {"constant"} | named
    assert all(name in printed for name in named)
    # All constants of the package are among them, but for sizes at which formulas bend.
    of_sizes = {"PAIRED", "SAMPLED_ROWS", "FAR_BYTES", "PASSES", "UNION_NODES"}
    fitted = {name for family in smallest for name in family.names}
    assert {name for name in vars(costs.costs) if name.isupper()} == fitted | of_sizes


def test_the_picture_of_costs_is_theirs(tmp_path):
    costs.main(["--picture", str(tmp_path / "ways.svg")])
    pattern = r'<g id="(curve-.*?)">\s*<path d="(.*?)"'
    now, shown = (
        dict(re.findall(pattern, path.read_text(), re.S))
        for path in (tmp_path / "ways.svg", DOCS / "ways_of_dividing.svg")
    )
    assert len(now) == 8
    assert now.keys() == shown.keys()
    for name, line in now.items():
        places = [np.array(re.findall(r"-?[\d.]+", one), float) for one in (line, shown[name])]
        np.testing.assert_allclose(*places, rtol=1e-3, err_msg=name)
