r"""The risk score problem as one nonlinear program with integers, for a general solver (SCIP).

The paper hands its problem to a commercial solver of such programs. Here every distinct row of
the data, with score s and label y, has a variable t for its loss, and the objective is the mean of
these plus the penalty. Two ways of writing :math:`t \ge \log(1 + e^{-ys})` are the same for
numbers, and not for a solver:

- "exponential": :math:`e^{-t} + e^{-ys - t} \le 1`, a sum of exponentials of linear terms, which
  SCIP knows to be convex, so that it cuts with tangents;
- "logarithm": as it stands. SCIP does not see that it is convex, and has to branch.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim import RiskScoreProblem

FORMS = ("exponential", "logarithm")

# A dual bound that has moved less than this share of its value makes no record of its own.
_MOVED = 1e-3


class BoundRecord(NamedTuple):
    """State of SCIP's search at one moment.

    Attributes
    ----------
    time : float
        Seconds since the start, the building of the model included.
    coef : ndarray of int64, shape (d + 1,), or None
        Best vector so far.
    lower_bound : float
        SCIP's dual bound.
    nodes : int
    """

    time: float
    coef: NDArray[np.int64] | None
    lower_bound: float
    nodes: int


class MINLPResult(NamedTuple):
    """What SCIP found.

    Attributes
    ----------
    coef : ndarray of int64, shape (d + 1,), or None
    lower_bound : float
        SCIP's dual bound, valid to within its tolerance of 1e-6 per row.
    status : str
        In SCIP's words.
    nodes : int
    seconds : float
        Building the model included.
    nonlinear_seconds : float or None
        Time that SCIP has spent on the nonlinear constraints, by its own account.
    records : list of BoundRecord
    version : str
    """

    coef: NDArray[np.int64] | None
    lower_bound: float
    status: str
    nodes: int
    seconds: float
    nonlinear_seconds: float | None
    records: list[BoundRecord]
    version: str


def load_scip() -> Any:
    """Import pyscipopt, which nothing else here needs.

    Returns
    -------
    module

    Raises
    ------
    ModuleNotFoundError
        It is not installed; the message says what to do.
    """
    try:
        import pyscipopt
    except ImportError as error:
        raise ModuleNotFoundError(
            'the comparison with a general MINLP solver needs SCIP: pip install ".[scip]"',
            name="pyscipopt",
        ) from error
    return pyscipopt


def distinct_rows(
    problem: RiskScoreProblem,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rows times label, the intercept's column first, each once, and their share of the weight.

    Parameters
    ----------
    problem : RiskScoreProblem

    Returns
    -------
    rows : ndarray of float64, shape (m, d + 1)
    shares : ndarray of float64, shape (m,)
        Their sum is 1.
    """
    data = problem.loss.data
    labels = data.labels.astype(np.float64)
    columns = [np.ones(data.n_samples), *(data.column(j) for j in range(data.n_features))]
    rows, place = np.unique(
        np.column_stack([labels * column for column in columns]), axis=0, return_inverse=True
    )
    weights = np.ones(data.n_samples) if data.sample_weight is None else data.sample_weight
    totals = np.bincount(place.ravel(), weights, minlength=len(rows))
    return rows, totals / totals.sum()


def solve_by_scip(
    problem: RiskScoreProblem, *, time_limit: float, form: str = "exponential"
) -> MINLPResult:
    """Solve the explicit nonlinear model, one thread.

    Parameters
    ----------
    problem : RiskScoreProblem
        At scale 1, without linear constraints and without a smallest size.
    time_limit : float
        Seconds by the clock, the building of the model included.
    form : {"exponential", "logarithm"}
        How a row is written, see the module.

    Returns
    -------
    MINLPResult

    Raises
    ------
    ValueError
        The problem has what this model lacks.
    ModuleNotFoundError
        pyscipopt is not installed.
    """
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}, got {form!r}")
    at_scale_one = problem.scales.is_single and problem.loss.scale == 1.0
    if problem.constraint_rows is not None or problem.min_size > 0 or not at_scale_one:
        raise ValueError("the model has no constraints, no smallest size, and the scale 1 only")
    scip = load_scip()
    start = time.perf_counter()
    model = scip.Model()
    model.hideOutput()
    coefficients = _add_variables(scip, model, problem, form)
    records: list[BoundRecord] = []

    def record(bound: float, nodes: int, vector: NDArray[np.int64] | None) -> None:
        records.append(BoundRecord(time.perf_counter() - start, vector, bound, nodes))

    observer = _observer(scip, coefficients, record)
    model.includeEventhdlr(observer, "course", "records when a bound improves")
    model.setParam("parallel/maxnthreads", 1)
    model.setParam("limits/time", max(time_limit - (time.perf_counter() - start), 0.01))
    model.optimize()
    seconds = time.perf_counter() - start
    vector = _vector(model, coefficients) if model.getNSols() else None
    result = MINLPResult(
        coef=vector,
        lower_bound=max(model.getDualbound(), 0.0),
        status=model.getStatus(),
        nodes=int(model.getNTotalNodes()),
        seconds=seconds,
        nonlinear_seconds=_nonlinear_seconds(model),
        records=records,
        version=f"SCIP {model.version():g}",
    )
    model.freeProb()
    return result


def _add_variables(scip: Any, model: Any, problem: RiskScoreProblem, form: str) -> list[Any]:
    """Variables, rows and objective of the model; the coefficients, intercept first."""
    lower, upper = problem.lower.tolist(), problem.upper.tolist()
    coefficients = [
        model.addVar(f"coefficient_{j}", "I", lb=lower[j], ub=upper[j]) for j in range(len(lower))
    ]
    used = [model.addVar(f"used_{j}", "B") for j in range(1, len(lower))]
    for j, is_used in enumerate(used, start=1):
        model.addCons(coefficients[j] <= max(upper[j], 0) * is_used)
        model.addCons(coefficients[j] >= min(lower[j], 0) * is_used)
    if problem.max_size < len(used):
        model.addCons(scip.quicksum(used) <= problem.max_size)
    rows, shares = distinct_rows(problem)
    objective = [
        float(price) * is_used
        for price, is_used in zip(problem.l0_penalty, used, strict=True)
        if price
    ]
    for g, (row, share) in enumerate(zip(rows, shares, strict=True)):
        loss = model.addVar(f"loss_{g}", lb=0.0)
        score = scip.quicksum(
            float(value) * coefficient
            for value, coefficient in zip(row, coefficients, strict=True)
            if value
        )
        if form == "exponential":
            model.addCons(scip.exp(-loss) + scip.exp(-score - loss) <= 1.0)
        else:
            model.addCons(loss >= scip.log(1.0 + scip.exp(-score)))
        objective.append(float(share) * loss)
    model.setObjective(scip.quicksum(objective), "minimize")
    return coefficients


def _vector(model: Any, coefficients: list[Any]) -> NDArray[np.int64]:
    best = model.getBestSol()
    values = [model.getSolVal(best, variable) for variable in coefficients]
    return np.rint(values).astype(np.int64)


def _observer(
    scip: Any,
    coefficients: list[Any],
    record: Callable[[float, int, NDArray[np.int64] | None], None],
) -> Any:
    """SCIP's event handler that records new solutions, and the bound where it has moved."""
    kinds = (scip.SCIP_EVENTTYPE.BESTSOLFOUND, scip.SCIP_EVENTTYPE.NODESOLVED)

    class Observer(scip.Eventhdlr):  # type: ignore[misc]
        bound = 0.0
        vector: NDArray[np.int64] | None = None

        def eventinit(self) -> None:
            for kind in kinds:
                self.model.catchEvent(kind, self)

        def eventexit(self) -> None:
            for kind in kinds:
                self.model.dropEvent(kind, self)

        def eventexec(self, event: Any) -> None:
            bound = max(self.model.getDualbound(), self.bound)
            found = event.getType() == kinds[0]
            if not found and bound - self.bound <= _MOVED * bound:
                return
            if found:
                self.vector = _vector(self.model, coefficients)
            self.bound = bound
            record(bound, int(self.model.getNTotalNodes()), self.vector)

    return Observer()


def _nonlinear_seconds(model: Any) -> float | None:
    """Time of SCIP's handler of nonlinear constraints, from its table of statistics."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "statistics.txt"
        model.writeStatistics(str(path))
        lines = path.read_text().splitlines()
    in_timings = False
    for line in lines:
        name, _, values = line.partition(":")
        in_timings = name.startswith("Constraint Timings") or (in_timings and line[:1] == " ")
        if in_timings and name.strip() == "nonlinear":
            return float(values.split()[0])
    return None
