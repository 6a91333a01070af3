"""Problems that the benchmarks run on: simulated data, packed, stated, and their references."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.reference import ReferenceLoss
from riskslim import CoefficientSet, RiskScoreProblem, TrainingData
from riskslim.paper.simulation import simulate

# integer: 0..10. binary: 0/1. real: all features real. mixed: every second feature real.
# weighted: integer, with a weight per row.
KINDS = ("integer", "binary", "real", "mixed", "weighted")

# Role of benchmarks of the package on two threads, beside "riskslim" and "reference".
TWO_THREADS = "riskslim, 2 threads"

_SIMULATED: dict[str, Literal["integer", "binary", "real"]] = {
    "integer": "integer",
    "binary": "binary",
    "real": "real",
    "mixed": "real",
    "weighted": "integer",
}

# Rows on which the relaxed problem is solved; it only has to give a realistic vector.
_RELAXATION_ROWS = 20_000


class Case(NamedTuple):
    """Kind and size of a data set."""

    kind: str
    n: int
    d: int

    def __str__(self) -> str:
        return f"{self.kind}-n{self.n:.0e}-d{self.d}".replace("e+0", "e")


class Table(NamedTuple):
    """Arrays of a case before any package has touched them."""

    X: NDArray[Any]
    y: NDArray[np.int8]
    sample_weight: NDArray[np.float64] | None


def make_table(case: Case) -> Table:
    """Simulate the data of a case."""
    data = simulate(case.n, case.d, kind=_SIMULATED[case.kind])
    weights = None
    if case.kind == "mixed":
        for column in data.X.T[::2]:
            np.rint(column, out=column)
    if case.kind == "weighted":
        weights = np.random.default_rng(0).uniform(0.5, 2.0, case.n)
    return Table(data.X, data.y, weights)


class Instance:
    """A case with its problem, its reference, and the vectors at which both are evaluated.

    The box is -5..5 per feature, with the intercept's bounds derived from the data, and no limit
    of the model size.
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        X, y, weights = make_table(case)
        self.data = TrainingData(X, y, weights)
        coefficients = CoefficientSet(self.data.feature_names, -5, 5)
        # Kernels are compared row by row; merged rows would be an advantage of another kind.
        self.problem = RiskScoreProblem(self.data, coefficients, compress=False)
        self.loss = self.problem.loss
        largest = None
        if self.loss.form == "lookup_table":
            largest = max(map(abs, map(int, self.loss.score_range)))
        self._reference: Callable[[], ReferenceLoss] = functools.partial(
            ReferenceLoss, X, y, weights, largest_score=largest
        )
        self._results: dict[str, Any] = {}

    def use_threads(self, role: str) -> None:
        """Let the package's passes over the rows run on as many threads as a role says."""
        self.loss.n_threads = 2 if role == TWO_THREADS else 1

    @functools.cached_property
    def reference(self) -> ReferenceLoss:
        """The plain evaluation; it takes the memory of a float64 matrix."""
        built = self._reference()
        del self._reference
        return built

    def point(self, name: str) -> NDArray[np.float64]:
        """Coefficient vector to evaluate.

        Parameters
        ----------
        name : {"five", "all", "fractional"}
            Five non-zero integers, the size of a typical risk score; as many non-zero integers
            as there are features; or the optimum of the relaxed problem, as an LP solver meets it.
        """
        return {"five": self._five, "all": self._all, "fractional": self._relaxed}[name]

    @functools.cached_property
    def _five(self) -> NDArray[np.float64]:
        vector = np.zeros(self.case.d + 1)
        vector[0] = -5.0
        used = np.linspace(1, self.case.d, min(5, self.case.d)).astype(int)
        vector[used] = np.resize([1.0, -1.0, 2.0, 1.0, -2.0], len(used))
        return vector

    @functools.cached_property
    def _all(self) -> NDArray[np.float64]:
        pattern = [1.0, -2.0, 3.0, -1.0, 2.0, -3.0, 5.0, -4.0, 4.0, -5.0]
        return np.concatenate(([-2.0], np.resize(pattern, self.case.d)))

    @functools.cached_property
    def _relaxed(self) -> NDArray[np.float64]:
        from scipy.optimize import minimize

        rows = slice(0, _RELAXATION_ROWS)
        matrix = np.asfortranarray(self.reference.matrix[rows, 1:])
        weights = self.reference.weights
        small = ReferenceLoss(
            matrix,
            (self.reference.labels[rows] > 0).astype(np.int8),
            None if weights is None else weights[rows],
        )
        box = np.stack((self.problem.lower, self.problem.upper), axis=1)
        found = minimize(
            small.value_and_gradient, np.zeros(len(box)), jac=True, bounds=box, method="L-BFGS-B"
        )
        return np.asarray(found.x, dtype=np.float64)

    def expected(self, what: str, compute: Callable[[], Any]) -> Any:
        """Result of the reference, computed once, to compare the package's with."""
        if what not in self._results:
            self._results[what] = compute()
        return self._results[what]

    def bytes_per_row(self, coef: NDArray[np.float64] | None = None) -> int:
        """Fewest bytes of a row that a pass over the packed data has to read.

        Parameters
        ----------
        coef : array of shape (d + 1,), optional
            Count only the columns of non-zero coefficients. None: all columns.
        """
        used = np.ones(self.case.d, dtype=bool) if coef is None else coef[1:] != 0
        columns = int(np.where(self.data.is_integer[used], 1, 8).sum())
        return columns + 1 + (0 if self.data.sample_weight is None else 8)
