"""Ways of solving the paper's problem, each with its bounds over time."""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from benchmarks.experiments.minlp import load_scip, solve_by_scip
from riskslim import (
    CoefficientSet,
    LatticeCPASettings,
    RiskScoreProblem,
    TrainingData,
    branch_and_bound,
    lattice_cpa,
)
from riskslim.paper import standard_cpa
from riskslim.paper.simulation import simulate
from riskslim.solution import TraceRecord, optimality_gap

# Numbers of LatticeCPASettings that mean "none" where they are 0.
_ZERO_IS_OFF = ("fractional_rounds", "cut_pool")

# A record in which only the lower bound moved is kept if the gap fell by this since the last one.
_KEPT_CHANGE = 5e-3


class Found(NamedTuple):
    """What a method found.

    Attributes
    ----------
    summary : dict
        Status, bounds, times and counts.
    trace : list of TraceRecord
        Bounds over time; of standard CPA one record per iteration, numbered by its cuts.
    """

    summary: dict[str, Any]
    trace: list[TraceRecord]


def make_problem(n: int, d: int) -> RiskScoreProblem:
    """State the paper's problem on simulated data.

    Coefficients are -10..10, the intercept is -100..100, C0 is 1e-8, and there is no limit of
    the model size (appendix "Setup on the Performance Comparison").

    Parameters
    ----------
    n, d : int
        Numbers of rows and of features.

    Returns
    -------
    RiskScoreProblem
    """
    simulated = simulate(n, d)
    data = TrainingData(simulated.X, simulated.y, feature_names=simulated.feature_names)
    coefficients = CoefficientSet(
        data.feature_names, -10, 10, intercept_lower=-100, intercept_upper=100
    )
    return RiskScoreProblem(data, coefficients, l0_penalty=1e-8)


def basic_settings(**switched_on: Any) -> LatticeCPASettings:
    """LCPA without any improvement, apart from those that are named.

    Parameters
    ----------
    **switched_on
        Fields of LatticeCPASettings with their values.

    Returns
    -------
    LatticeCPASettings
        Every switch that it has is off, whatever switches there are.
    """
    off: dict[str, Any] = {}
    for field in dataclasses.fields(LatticeCPASettings):
        if field.name in _ZERO_IS_OFF:
            off[field.name] = 0
        elif isinstance(field.default, bool) or field.default is None:
            off[field.name] = False
    return LatticeCPASettings(**{**off, **switched_on})


# Improvements of LCPA, each alone; the paper's rounding is followed by polishing, and the last two
# are not the paper's.
IMPROVEMENTS: dict[str, dict[str, Any]] = {
    "lcpa_polishing": {"polishing": True},
    "lcpa_rounding": {"rounding": True},
    "lcpa_rounding_polishing": {"rounding": True, "polishing": True},
    "lcpa_chained_updates": {"chained_updates": True},
    "lcpa_initialization": {"initialization": True},
    "lcpa_fractional_cuts": {
        name: getattr(LatticeCPASettings, name) for name in ("fractional_rounds", "cut_pool")
    },
    "lcpa_branching_priority": {"branching_priority": True},
}


def _of_engine(
    engine: Callable[..., Any],
    settings: Callable[[], Any],
    problem: RiskScoreProblem,
    time_limit: float,
) -> Found:
    solution = engine(problem, time_limit=time_limit, settings=settings())
    certificate, statistics = solution.certificate, solution.statistics
    summary = {
        "status": str(certificate.status),
        "message": certificate.message,
        "objective": certificate.objective,
        "lower_bound": certificate.lower_bound,
        "gap": certificate.optimality_gap,
        "model_size": certificate.model_size,
        "data_seconds": statistics.data_seconds,
        "nodes": statistics.nodes,
        "cuts": statistics.cuts,
        "loss_evaluations": statistics.loss_evaluations,
    }
    return Found(summary, list(solution.trace))


def _standard_cpa(problem: RiskScoreProblem, time_limit: float) -> Found:
    problem = copy.copy(problem)
    problem.loss = copy.copy(problem.loss)  # with counters of its own
    problem.loss.seconds, problem.loss.n_evaluations = 0.0, 0
    start = time.perf_counter()
    result = standard_cpa(problem, time_limit=time_limit)
    end = time.perf_counter() - start
    trace, updates, best = [], 0, math.inf
    for k, iteration in enumerate(result.iterations, start=1):
        updates += iteration.upper_bound < best
        best = iteration.upper_bound
        trace.append(
            TraceRecord(iteration.time, best, iteration.lower_bound, iteration.gap, 0, k, updates)
        )
    if not result.converged:
        # The surrogate that was not solved, up to where the limit ended it.
        last = TraceRecord(end, best, result.lower_bound, result.gap, 0, len(trace) + 1, updates)
        exact = trace and result.message.startswith("a surrogate problem")
        trace = [*trace[:-1], last._replace(cuts=len(trace))] if exact else [*trace, last]
    summary = {
        "status": "optimal" if result.converged else "feasible",
        "message": result.message,
        "objective": result.upper_bound,
        "lower_bound": result.lower_bound,
        "gap": result.gap,
        "model_size": None if result.coef is None else problem.model_size(result.coef),
        "data_seconds": problem.loss.seconds,
        "nodes": None,
        "cuts": len(result.cuts),
        "loss_evaluations": problem.loss.n_evaluations,
    }
    return Found(summary, trace)


def _scip(form: str, problem: RiskScoreProblem, time_limit: float) -> Found:
    result = solve_by_scip(problem, time_limit=time_limit, form=form)

    def evaluated(coef: Any) -> float:
        return math.inf if coef is None else float(problem.objective(coef))

    objective = evaluated(result.coef)
    lower_bound = min(result.lower_bound, objective)
    trace, updates, best = [], 0, math.inf
    for record in result.records:
        value = min(best, evaluated(record.coef))
        updates += value < best
        best = value
        bound = min(record.lower_bound, best)
        trace.append(
            TraceRecord(
                record.time, best, bound, optimality_gap(best, bound), record.nodes, 0, updates
            )
        )
    gap = optimality_gap(objective, lower_bound)
    trace.append(TraceRecord(result.seconds, objective, lower_bound, gap, result.nodes, 0, updates))
    summary = {
        "status": "optimal" if result.status == "optimal" else "feasible",
        "message": f"{result.version}: {result.status}",
        "objective": objective,
        "lower_bound": lower_bound,
        "gap": gap,
        "model_size": None if result.coef is None else problem.model_size(result.coef),
        "data_seconds": result.nonlinear_seconds,
        "nodes": result.nodes,
        "cuts": None,
        "loss_evaluations": None,
    }
    return Found(summary, trace)


METHODS: dict[str, Callable[[RiskScoreProblem, float], Found]] = {
    "cpa": _standard_cpa,
    "lcpa_basic": functools.partial(_of_engine, lattice_cpa, basic_settings),
    **{
        name: functools.partial(
            _of_engine, lattice_cpa, functools.partial(basic_settings, **switched_on)
        )
        for name, switched_on in IMPROVEMENTS.items()
    },
    "lcpa": functools.partial(_of_engine, lattice_cpa, LatticeCPASettings),
    "branch_and_bound": functools.partial(_of_engine, branch_and_bound, lambda: None),
    "scip_minlp": functools.partial(_scip, "exponential"),
    "scip_minlp_logarithm": functools.partial(_scip, "logarithm"),
}

# As figures name them.
LABELS = {
    "cpa": "CPA",
    "lcpa_basic": "basic LCPA",
    "lcpa_polishing": "polishing",
    "lcpa_rounding": "rounding",
    "lcpa_rounding_polishing": "rounding and polishing",
    "lcpa_chained_updates": "chained updates",
    "lcpa_initialization": "initialization",
    "lcpa_fractional_cuts": "fractional cuts",
    "lcpa_branching_priority": "indicators first",
    "lcpa": "LCPA",
    "branch_and_bound": "branch and bound",
    "scip_minlp": "SCIP (MINLP)",
    "scip_minlp_logarithm": "SCIP (logarithm)",
}


def is_available(method: str) -> bool:
    """Whether the packages that a method needs are installed.

    Parameters
    ----------
    method : str

    Returns
    -------
    bool
    """
    if not method.startswith("scip_minlp"):
        return True
    try:
        load_scip()
    except ModuleNotFoundError:
        return False
    return True


def solve(method: str, problem: RiskScoreProblem, time_limit: float) -> Found:
    """Run a method once, on one thread.

    Parameters
    ----------
    method : str
        One of METHODS.
    problem : RiskScoreProblem
        Left as it is.
    time_limit : float
        Seconds by the clock.

    Returns
    -------
    Found
        With ``total_seconds`` by the clock and ``cpu_seconds`` of the processor in its summary.
    """
    wall, cpu = time.perf_counter(), time.process_time()
    found = METHODS[method](problem, time_limit)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    trace = found.trace if method == "cpa" else thinned(found.trace)
    return Found({**found.summary, "total_seconds": wall, "cpu_seconds": cpu}, trace)


def thinned(trace: Iterable[TraceRecord]) -> list[TraceRecord]:
    """Leave out records in which the lower bound alone has moved, by little.

    Parameters
    ----------
    trace : iterable of TraceRecord

    Returns
    -------
    list of TraceRecord
        The first, the last, each better score, and enough of the rest for a figure.
    """
    records = list(trace)
    kept = records[:1]
    for record in records[1:-1]:
        # A gap that is not a number yet compares as no change.
        fell = kept[-1].gap - record.gap > _KEPT_CHANGE
        if record.upper_bound < kept[-1].upper_bound or fell:
            kept.append(record)
    return kept + (records[-1:] if len(records) > 1 else [])
