"""The choice of the engine that solves a problem."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from riskslim._kernels import CHOICE, are_complete
from riskslim.constraints.base import Constraint
from riskslim.constraints.rows import checked_constraints
from riskslim.engines.runs import DEFAULT_SOLVER
from riskslim.problem.problem import RiskScoreProblem
from riskslim.scale import FREE_SCALE, PAPER_SCALE, ScaleLike, ScaleSet

if TYPE_CHECKING:
    from riskslim.operating_point import RequiredShare
    from riskslim.solution import Solution

__all__ = [
    "DEFAULT_SCALE",
    "ENGINES",
    "EngineChoice",
    "choose_engine",
    "choose_scales",
    "engine_arguments",
    "engine_named",
    "solve",
]

ENGINES = ("auto", "branch_and_bound", "lattice_cpa")
DEFAULT_SCALE = "auto"


ASKED_FOR = "asked for"


class EngineChoice(NamedTuple):
    """An engine's name, and why this one."""

    name: str
    reason: str

    @property
    def remark(self) -> str:
        """The reason in parentheses, for errors; empty if the engine was asked for."""
        return "" if self.reason == ASKED_FOR else f" ({self.name} was chosen {self.reason})"


def choose_engine(problem: RiskScoreProblem, engine: str = "auto") -> EngineChoice:
    """Say which engine is to solve a problem.

    Parameters
    ----------
    problem : RiskScoreProblem
    engine : {"auto", "branch_and_bound", "lattice_cpa"}
        "auto": branch and bound, which supports all that a problem can ask for; the lattice cutting
        plane algorithm where the compiled kernels are missing that branch and bound needs.

    Returns
    -------
    EngineChoice

    Raises
    ------
    ValueError
        There is no such engine.

    Examples
    --------
    >>> from riskslim import CoefficientSet, LogisticLoss, RiskScoreProblem, TrainingData
    >>> from riskslim.engines.choice import choose_engine
    >>> data = TrainingData({"a": [0, 1, 1, 0]}, [0, 1, 1, 0])
    >>> coefficients = CoefficientSet(data.feature_names)
    >>> problem = RiskScoreProblem(data, coefficients)
    >>> choose_engine(problem).name
    'branch_and_bound'
    """
    if engine not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(map(repr, ENGINES))}, got {engine!r}")
    return engine_named(engine)


def engine_named(engine: str) -> EngineChoice:
    """The engine that a name stands for, whatever the problem is.

    Parameters
    ----------
    engine : str
        As :func:`choose_engine` has it, not checked.

    Returns
    -------
    EngineChoice
    """
    if engine != "auto":
        return EngineChoice(engine, ASKED_FOR)
    # Without any kernels no engine works: whatever is tried first says so.
    if CHOICE.backend is not None and not are_complete():
        return EngineChoice(
            "lattice_cpa",
            "since branch_and_bound needs the compiled kernels, which are not in use: "
            f"{CHOICE.reason}",
        )
    return EngineChoice(
        "branch_and_bound",
        "which supports all requirements of this problem and needs no solver",
    )


def choose_scales(
    scale: ScaleLike, engine: str = "auto", constraints: Iterable[Constraint] = ()
) -> ScaleSet:
    """Read a scale, and choose where that is left open.

    Parameters
    ----------
    scale : number, list of numbers, tuple (low, high), "free", ScaleSet or "auto"
        "auto": a free scale where the engine takes an interval and no constraint is about risks,
        which says another thing at every scale; elsewhere 1, the paper's.
    engine : {"auto", "branch_and_bound", "lattice_cpa"}
        As :func:`choose_engine` has it.
    constraints : iterable of Constraint

    Returns
    -------
    ScaleSet

    Raises
    ------
    TypeError, ValueError
        It is no scale; something else than a constraint is among the constraints.

    Examples
    --------
    >>> from riskslim.engines.choice import choose_scales
    >>> choose_scales("auto"), choose_scales("auto", "lattice_cpa"), choose_scales([1, 2])
    (ScaleSet((0.5, 20)), ScaleSet(1), ScaleSet([1, 2]))
    """
    if not (isinstance(scale, str) and scale == DEFAULT_SCALE):
        return ScaleSet.of(scale)
    about_risks = any(one.depends_on_scale for one in checked_constraints(constraints))
    if engine_named(engine).name == "lattice_cpa" or about_risks:
        return PAPER_SCALE
    return ScaleSet.of(FREE_SCALE)


def engine_arguments(
    choice: EngineChoice,
    *,
    solver: str | None = None,
    n_solutions: int | None = None,
    within: float | None = None,
    required: RequiredShare | None = None,
) -> dict[str, Any]:
    """Collect what only one of the engines knows; it is refused by the other, not ignored.

    Parameters
    ----------
    choice : EngineChoice
    solver : str, optional
        None: the default.
    n_solutions, within : optional
        As in :func:`~riskslim.branch_and_bound`.
    required : RequiredShare, optional
        The score is to be the best rule that reaches this share.

    Returns
    -------
    dict
        By the names of the chosen engine's parameters.

    Raises
    ------
    ValueError
        The chosen engine does not have what is asked for.
    """
    pool = {"n_solutions": n_solutions, "within": within}
    arguments: dict[str, Any] = {name: value for name, value in pool.items() if value is not None}
    if required is not None:
        if choice.name == "lattice_cpa":
            raise ValueError(
                f"{required.name} needs engine='branch_and_bound': lattice_cpa knows no rule that "
                f"has to reach a share, only the loss{choice.remark}"
            )
        arguments["required"] = required
    if choice.name == "lattice_cpa":
        if arguments:
            raise ValueError(
                f"{' and '.join(arguments)} need engine='branch_and_bound': lattice_cpa finds one "
                f"risk score{choice.remark}"
            )
        return {"solver": DEFAULT_SOLVER if solver is None else solver}
    if solver is not None:
        raise ValueError(
            f"solver={solver!r} needs engine='lattice_cpa': branch_and_bound has no solver"
        )
    return arguments


def solve(problem: RiskScoreProblem, engine: str = "auto", **arguments: Any) -> Solution:
    """Solve a problem by the engine that is asked for, or that suits it.

    Parameters
    ----------
    problem : RiskScoreProblem
    engine : {"auto", "branch_and_bound", "lattice_cpa"}
    **arguments
        Passed on: ``time_limit``, ``gap_tolerance`` and so on. With ``required``, a
        :class:`~riskslim.operating_point.RequiredShare`, the best rule is searched for.

    Returns
    -------
    Solution

    Raises
    ------
    ValueError
        There is no such engine.
    RiskSLIMError
        What the engine raises.
    """
    choice = choose_engine(problem, engine)
    if arguments.get("required") is not None:
        from riskslim.engines.operating_points.best_rule import best_rule

        return best_rule(problem, **arguments)
    return _engine(choice.name)(problem, **arguments)


def _engine(name: str) -> Callable[..., Solution]:
    """The function of an engine, imported when it is used: the other one may need a solver."""
    if name == "lattice_cpa":
        from riskslim.engines.lattice_cpa.lcpa import lattice_cpa

        return lattice_cpa
    from riskslim.engines.branch_and_bound.driver import branch_and_bound

    return branch_and_bound
