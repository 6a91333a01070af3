"""What a user waits for before the first row is read: imports and first calls."""

from __future__ import annotations

import pytest

from benchmarks.children import run_python

_PROBLEM = """
from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData
from riskslim.paper.simulation import simulate
source = simulate(1000, 10)
data = TrainingData(source.X, source.y)
coefficients = CoefficientSet(data.feature_names, -5, 5)
problem = RiskScoreProblem(data, coefficients, max_size=3)
"""

# Each prints the seconds that it took from `start`, in a new interpreter.
STATEMENTS = {
    "import numpy": "import numpy",
    "import riskslim": "import riskslim",
    "import numpy and scikit-learn's LogisticRegression": (
        "import numpy; from sklearn.linear_model import LogisticRegression"
    ),
    "import, first loss and gradient, n = 1000, d = 10": (
        f"{_PROBLEM}\nproblem.loss.value_and_gradient([0] * 11)"
    ),
    "import, first coordinate descent, n = 1000, d = 10": (
        f"{_PROBLEM}\nfrom riskslim import discrete_coordinate_descent\n"
        "discrete_coordinate_descent(problem, [0] * 11)"
    ),
    "import, first lattice_cpa, n = 1000, d = 10": (
        f"{_PROBLEM}\nfrom riskslim import lattice_cpa\nlattice_cpa(problem, time_limit=60)"
    ),
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_first_call(benchmark, statement):
    code = (
        f"import time\nstart = time.perf_counter()\n{STATEMENTS[statement]}\n"
        "print(time.perf_counter() - start)"
    )
    seconds = []

    def run():
        seconds.append(float(run_python(["-c", code])))

    benchmark.group = "startup"
    run()  # byte-compiles, and brings files into the cache
    benchmark.pedantic(run, rounds=5)
    benchmark.extra_info.update(
        family="startup", kernel=statement, role="riskslim", seconds=sorted(seconds[1:])[2]
    )
