"""All sets of items that have a score about as good as the best one, and the price of each item."""

from __future__ import annotations

import dataclasses
import math
import os
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskslim._checks import as_number
from riskslim._wording import printable
from riskslim.engines.branch_and_bound.driver import branch_and_bound
from riskslim.engines.runs import DEFAULT_TIME_LIMIT, checked_limits
from riskslim.engines.settings import BranchAndBoundSettings
from riskslim.exceptions import InfeasibleProblemError
from riskslim.items.item import variable_of
from riskslim.near_optimal import json as files
from riskslim.near_optimal.choice import check_costs, compare, members_of
from riskslim.near_optimal.prices import PRICES, ItemPrice, Priced
from riskslim.near_optimal.stability import stability as stability_of
from riskslim.risk_score import RiskScore
from riskslim.solution import Certificate, Solution, SolutionPool, Status, percent

if TYPE_CHECKING:
    from riskslim.data.training_data import TrainingData
    from riskslim.near_optimal.agreement import Agreement
    from riskslim.near_optimal.choice import Choice, Measures
    from riskslim.near_optimal.stability import Stability
    from riskslim.problem.problem import RiskScoreProblem
    from riskslim.solution import TraceRecord

__all__ = ["Alternatives", "AlternativesLine", "alternatives"]

# Of the time limit, what the list may take where prices are asked for as well.
LIST_SHARE = 0.5
# Lines of a table, and prices in words.
SHOWN = 10


def alternatives(
    problem: RiskScoreProblem,
    within: float = 0.01,
    *,
    prices: Literal["used", "all"] | None = None,
    n_sets: int | None = None,
    time_limit: float = DEFAULT_TIME_LIMIT,
    start: ArrayLike | None = None,
    n_threads: int = 1,
    settings: BranchAndBoundSettings | None = None,
    progress: Callable[[TraceRecord], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Alternatives:
    """Find every set of items that has a score about as good as the best one.

    Of each set of items (features with points) the best score is listed, with a proof that no other
    set has one within the share.

    Parameters
    ----------
    problem : RiskScoreProblem
    within : float, default 0.01
        Sets are listed whose best score has an objective of at most (1 + within) times the best.
    prices : {"used", "all"}, optional
        What it costs to do without each item of the best score, and without each of its variables;
        "all": also, what it costs to use each other item or variable.
    n_sets : int, optional
        List the best so many sets of them only.
    time_limit : float, default 60.0
        Seconds for everything.
    start : array-like of int, shape (d + 1,), optional
        A feasible vector to start from, intercept first.
    n_threads : int, default 1
        -1 for all cores. The result does not depend on it.
    settings : BranchAndBoundSettings, optional
    progress : callable, optional
        Called with a :class:`~riskslim.solution.TraceRecord` at each change of a bound.
    should_stop : callable, optional
        Asked several times a second; True ends all of it.

    Returns
    -------
    Alternatives
        What is known after a limit or an interruption is valid, and says what is missing.

    Raises
    ------
    ValueError, TypeError
        Arguments out of range.
    InfeasibleProblemError
        No risk score meets the requirements.
    RiskSLIMError
        A limit was reached before any risk score was found.

    Examples
    --------
    >>> from riskslim import CoefficientSet, RiskScoreProblem, TrainingData, alternatives
    >>> X = {"age >= 60": [0, 1, 1, 0, 1, 0, 1, 0], "smoker": [1, 0, 1, 0, 1, 0, 1, 1],
    ...      "male": [0, 0, 1, 1, 1, 0, 0, 1]}
    >>> data = TrainingData(X, [0, 1, 1, 0, 1, 0, 0, 1])
    >>> problem = RiskScoreProblem(data, CoefficientSet(data.feature_names, -3, 3), max_size=2)
    >>> found = alternatives(problem, within=0.6, prices="used")
    >>> len(found), found.items(0)
    (5, ('age >= 60', 'male'))
    >>> print(found.prices[1].explain())
    Without 'male' the best score loses 51.88%.
    """
    checked_limits(time_limit, 0.0, None, n_threads, 0)
    if prices is not None and prices not in PRICES:
        raise ValueError(f"prices must be None, {' or '.join(map(repr, PRICES))}, got {prices!r}")
    if not 0 <= as_number(within, "within") < math.inf:
        raise ValueError(f"within must be at least 0 and finite, got {within!r}")
    priced = Priced(problem, time_limit, n_threads, settings, should_stop)
    solution = branch_and_bound(
        problem, within=float(within), n_solutions=n_sets, distinct="items", start=start,
        time_limit=time_limit if prices is None else LIST_SHARE * time_limit, n_threads=n_threads,
        settings=settings, progress=progress, should_stop=should_stop,
    )  # fmt: skip
    pool = solution.pool
    if solution.coefficients is None or pool is None:
        raise InfeasibleProblemError(solution.certificate.message)
    items = problem.loss.data.items
    variables = tuple(variable_of(name, items) for name in solution.feature_names)
    of_items, of_variables = priced.prices(solution, variables, prices)
    scales = [pool.scale(rank) for rank in range(len(pool))]
    return Alternatives(
        solution=solution,
        within=float(within),
        variables=variables,
        penalties=_over(pool, scales, problem.penalty),
        ridges=_over(pool, scales, problem.ridge),
        prices=of_items,
        variable_prices=of_variables,
    )


def _over(
    pool: SolutionPool, scales: list[float], function: Callable[..., float]
) -> NDArray[np.float64]:
    pairs = zip(pool.coefficients, scales, strict=True)
    return np.array([function(coef, scale=scale) for coef, scale in pairs])


class AlternativesLine(NamedTuple):
    """Sets of items that are shown as one.

    Attributes
    ----------
    ranks : tuple of int
        Their ranks, the best one first.
    names : tuple of str
        Variables of the sets, each as often as it has items; or items of the only set.
    objective : float
        Of the best one.
    """

    ranks: tuple[int, ...]
    names: tuple[str, ...]
    objective: float


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Alternatives:
    """Sets of items with a score within a share of the best objective, each with its best score.

    Printed, it is a table of the first ten with what :meth:`explain` says.

    Parameters
    ----------
    solution : Solution
        The best score, its certificate, and the list: ``solution.pool``.
    within : float
        The share.
    variables : tuple of str, length d
        Variable of each feature, as items name it; a feature without one is its own.
    penalties, ridges : ndarray of float64, shape (m,)
        Prices of the features together with the ridge penalty of each listed score, and the latter
        alone.
    prices : tuple of ItemPrice
        What it costs to do without each item of the best score, or to use another one, where that
        was asked for.
    variable_prices : tuple of ItemPrice
        The same of variables.
    measures : tuple of Measures
        Measures of each score on the training rows, and then on test rows, where
        :func:`~riskslim.near_optimal.compare` made them.
    agreement : tuple of Agreement
        How far the scores agree on the same rows.
    stability : Stability, optional
        How often items come back on bootstrap samples, of :meth:`with_stability`.
    costs : mapping from str to float, optional
        What it costs to measure variables, or items.

    Examples
    --------
    >>> from riskslim import CoefficientSet, RiskScoreProblem, TrainingData, alternatives
    >>> X = {"age >= 40": [0, 1, 1, 0, 1, 0, 1, 0], "age >= 60": [0, 1, 1, 0, 1, 0, 0, 0]}
    >>> data = TrainingData(X, [0, 1, 1, 0, 1, 0, 0, 1])
    >>> problem = RiskScoreProblem(data, CoefficientSet(data.feature_names, -3, 3), max_size=1)
    >>> print(alternatives(problem, within=0.6).table(by="items"))
     objective  from best  sets  items
    0.36838756      0.00%     1  age >= 60
    0.56326269     52.90%     1  age >= 40
    """

    solution: Solution
    within: float
    variables: tuple[str, ...]
    penalties: NDArray[np.float64]
    ridges: NDArray[np.float64]
    prices: tuple[ItemPrice, ...] = ()
    variable_prices: tuple[ItemPrice, ...] = ()
    measures: tuple[Measures, ...] = ()
    agreement: tuple[Agreement, ...] = ()
    stability: Stability | None = None
    costs: Mapping[str, float] | None = None

    @property
    def pool(self) -> SolutionPool:
        """Listed scores, the best one of each set."""
        assert self.solution.pool is not None
        return self.solution.pool

    def __len__(self) -> int:
        return len(self.pool)

    def items(self, rank: int) -> tuple[str, ...]:
        """Items of one set, in the order of the features.

        Parameters
        ----------
        rank : int
            0 for the best.

        Returns
        -------
        tuple of str
        """
        return tuple(self.pool.points(rank))

    def objective(self, rank: int) -> float:
        """Objective of the best score of one set.

        Parameters
        ----------
        rank : int
            0 for the best.

        Returns
        -------
        float
        """
        return float(self.pool.objectives[rank])

    def share(self, rank: int) -> float:
        """By which share of the best objective the one of a set is larger.

        Parameters
        ----------
        rank : int
            0 for the best.

        Returns
        -------
        float
        """
        return self.objective(rank) / self.objective(0) - 1.0

    def score(self, data: TrainingData, rank: int = 0, **options: Any) -> RiskScore:
        """Build the risk score of one set.

        Its certificate has the bound of the best score, and says how far it is from that one.

        Parameters
        ----------
        data : TrainingData
            The data that the problem was stated on.
        rank : int, default 0
            0 for the best.
        **options
            As :meth:`RiskScore.from_solution` has them: ``problem``, ``encoder``, ``raw``.

        Returns
        -------
        RiskScore
        """
        return RiskScore.from_solution(self.chosen(rank), data, **options)

    def chosen(self, rank: int) -> Solution:
        """The solution with one of the sets in place of the best one.

        Parameters
        ----------
        rank : int
            0 for the best.

        Returns
        -------
        Solution
            Without a list, but for the best one.
        """
        if rank == 0:
            return self.solution
        rank = range(len(self))[rank]
        coef = self.pool.coefficients[rank]
        return dataclasses.replace(
            self.solution, coefficients=coef[1:].copy(), intercept=int(coef[0]),
            certificate=self._certificate(rank), pool=None, scale=self.pool.scale(rank),
        )  # fmt: skip

    def _certificate(self, rank: int) -> Certificate:
        best, objective = self.solution.certificate, self.objective(rank)
        return dataclasses.replace(
            best,
            status=Status.FEASIBLE,
            objective=objective,
            loss=objective - float(self.penalties[rank]),
            ridge=float(self.ridges[rank]),
            model_size=int(np.count_nonzero(self.pool.coefficients[rank, 1:])),
            # Of equally good scores, each has an objective with a rounding error of its own.
            lower_bound=min(best.lower_bound, objective),
            message=f"chosen among {len(self)} sets of items, within {percent(self.share(rank))} "
            "of the best score",
            scale=self.pool.scale(rank),
        )  # fmt: skip

    def lines(
        self, by: Literal["variables", "items"] = "variables"
    ) -> tuple[AlternativesLine, ...]:
        """Put sets together that differ in the cut-offs of the same variables.

        Parameters
        ----------
        by : {"variables", "items"}
            "items": each set has its own line.

        Returns
        -------
        tuple of AlternativesLine
            By the objective of the best set of each.

        Raises
        ------
        ValueError
            ``by`` is neither.
        """
        if by not in ("variables", "items"):
            raise ValueError(f"by must be 'variables' or 'items', got {by!r}")
        if by == "items":
            ranks = range(len(self))
            return tuple(AlternativesLine((k,), self.items(k), self.objective(k)) for k in ranks)
        groups: dict[tuple[str, ...], list[int]] = {}
        for rank, coef in enumerate(self.pool.coefficients):
            used = [self.variables[j] for j in np.flatnonzero(coef[1:]).tolist()]
            groups.setdefault(tuple(sorted(used)), []).append(rank)
        return tuple(
            AlternativesLine(tuple(ranks), names, self.objective(ranks[0]))
            for names, ranks in groups.items()
        )

    def table(self, most: int = SHOWN, by: Literal["variables", "items"] = "variables") -> str:
        """Write the best lines as a table: objective, its distance from the best, sets, names.

        Parameters
        ----------
        most : int, default 10
            Lines to show; a last one counts the others.
        by : {"variables", "items"}
            As :meth:`lines` has it.

        Returns
        -------
        str
        """
        lines = self.lines(by)
        rows = [f" objective  from best  sets  {by}"]
        for line in lines[:most]:
            share = percent(line.objective / self.objective(0) - 1.0)
            rows.append(
                f"{line.objective:.8f}  {share:>9}  {len(line.ranks):>4}  {_counted(line.names)}"
            )
        more = len(lines) - most
        return "\n".join([*rows, f"... and {more} more"] if more > 0 else rows)

    def explain(self) -> str:
        """Say in plain words what was found, what is proven, and what items cost.

        Returns
        -------
        str
        """
        n = len(self)
        found = (
            f"{n} {'set' if n == 1 else 'sets'} of items {'has' if n == 1 else 'have'} a score "
            f"with an objective of at most {percent(self.within)} above the best one, "
            f"{self.objective(0):.6g}."
        )
        of_items = {one.feature for one in self.prices}
        others = [one for one in self.variable_prices if one.feature not in of_items]
        priced = [one.explain() for one in (*self.prices, *others) if one.is_used]
        return "\n".join([f"{found} {self.pool.explain()}", *priced[: 2 * SHOWN]])

    def __str__(self) -> str:
        return f"{self.table()}\n{self.explain()}"

    __repr__ = __str__

    # ---- second criteria, and files --------------------------------------------------------------

    def compare(self, data: TrainingData, **options: Any) -> Choice:
        """Measure all scores by what the objective does not say, to choose one of them.

        Parameters
        ----------
        data : TrainingData
            The data that the problem was stated on.
        **options
            As :func:`riskslim.near_optimal.compare` has them: groups, test rows, costs.

        Returns
        -------
        Choice
            ``choice.found`` is this with measures and agreement.
        """
        return compare(self, data, **options)

    def with_stability(
        self, problem: RiskScoreProblem, n_samples: int = 100, **options: Any
    ) -> Alternatives:
        """Search on bootstrap samples of the rows for how often items come back.

        Parameters
        ----------
        problem : RiskScoreProblem
            That was solved.
        n_samples : int, default 100
        **options
            As :func:`riskslim.near_optimal.stability` has them: seed, jobs, time limit.

        Returns
        -------
        Alternatives
            The same with ``stability``.
        """
        found = stability_of(self, problem, n_samples, **options)
        return dataclasses.replace(self, stability=found)

    def with_costs(self, costs: Mapping[str, float]) -> Alternatives:
        """Say what it costs to measure variables, or items; others cost nothing.

        Parameters
        ----------
        costs : mapping from str to float

        Returns
        -------
        Alternatives

        Raises
        ------
        TypeError, ValueError
            Names that there are not; costs that are below 0 or not finite.
        """
        return dataclasses.replace(self, costs=check_costs(self, costs))

    def cost(self, rank: int) -> float:
        """Add up what it costs to measure what one set asks for; a variable costs once.

        Parameters
        ----------
        rank : int
            0 for the best.

        Returns
        -------
        float
            0 where no costs are known.
        """
        used = frozenset(self.items(rank))
        costs = (self.costs or {}).items()
        return math.fsum(cost for name, cost in costs if members_of(self, name) & used)

    def to_json(self) -> str:
        """Write everything that is known as JSON text; data and the course of the search are not.

        Returns
        -------
        str
        """
        return files.write(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> Alternatives:
        """Read what :meth:`to_json` wrote.

        Parameters
        ----------
        text : str or bytes

        Returns
        -------
        Alternatives

        Raises
        ------
        ValueError
            The text is something else, of a newer version, incomplete, was changed, or contradicts
            itself.
        """
        return files.read(cls, text)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file, which :meth:`load` reads.

        Parameters
        ----------
        path : str or path-like

        Raises
        ------
        OSError
            The file cannot be written; a file that was there is as it was.
        """
        files.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Alternatives:
        """Read a file that :meth:`save` or ``riskslim alternatives --output`` wrote.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        Alternatives

        Raises
        ------
        OSError
            The file cannot be read.
        ValueError
            As in :meth:`from_json`.
        """
        return files.load(cls, path)


def _counted(names: tuple[str, ...]) -> str:
    """Names, each once, with how often it comes."""
    return (
        ", ".join(
            f"{printable(name, lines=False)}{f' ({n} items)' if n > 1 else ''}"
            for name, n in Counter(names).items()
        )
        or "none"
    )
