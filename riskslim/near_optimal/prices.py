"""Prices of items: the best objective without one, or with it, and bounds of that."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._wording import printable
from riskslim.engines.branch_and_bound.driver import branch_and_bound
from riskslim.exceptions import RiskSLIMError, RowsLostError, SearchInterruptedError
from riskslim.solution import Solution, percent

if TYPE_CHECKING:
    from riskslim.engines.settings import BranchAndBoundSettings
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["PRICES", "ItemPrice", "Priced"]

# Items whose prices can be asked for.
PRICES = ("used", "all")
# Objectives that are not told apart: by a share of them, and in any case.
SAME, SAME_OBJECTIVES = 1e-9, 2e-10
# Searches of an item, each with an equal share of the time that is left.
ROUNDS = 3


@dataclasses.dataclass(frozen=True, eq=False)
class ItemPrice:
    """Price of doing without an item of the best score, or of using another one.

    Parameters
    ----------
    feature : str
        The item, or a variable.
    is_used : bool
        Whether the best score uses it. The question is then what is best without it; otherwise,
        what is best with it.
    objective : float
        The best that was found; infinite where nothing was.
    lower_bound : float
        No score that answers the question has a smaller one.
    best : float
        Objective of the best score of all.
    coefficients : ndarray of int64, shape (d + 1,), optional
        The score with this objective, intercept first.
    is_proven : bool
        Whether there is no better one, to within the accuracy of the search.

    Examples
    --------
    >>> from riskslim.near_optimal.prices import ItemPrice
    >>> price = ItemPrice("glucose >= 140", True, 0.4332, 0.4332, 0.42, None, True)
    >>> round(price.price, 4)
    0.0314
    >>> print(price.explain())
    Without 'glucose >= 140' the best score loses 3.14%.
    """

    feature: str
    is_used: bool
    objective: float
    lower_bound: float
    best: float
    coefficients: NDArray[np.int64] | None
    is_proven: bool

    @property
    def price(self) -> float:
        """Share by which the objective is above the best one; infinite where nothing was found."""
        return self.objective / self.best - 1.0

    @property
    def lowest_price(self) -> float:
        """Share by which it is above the best one in any case."""
        return max(self.lower_bound / self.best - 1.0, 0.0)

    def explain(self) -> str:
        """Say what it costs in one sentence.

        Returns
        -------
        str
        """
        with_it = f"{'Without' if self.is_used else 'With'} {printable(self.feature)!r}"
        if math.isinf(self.lower_bound):
            return f"{with_it} no score meets the requirements."
        least = f"at least {percent(self.lowest_price)}"
        if math.isinf(self.objective):
            return f"{with_it} the best score loses {least}; none was found."
        loses = percent(max(self.price, 0.0))
        if self.is_proven:
            return f"{with_it} the best score loses {loses}."
        return f"{with_it} the best score loses {least} and at most {loses}."


class _Question(NamedTuple):
    """Scores that are asked about: those with none of some features, or with at least one."""

    name: str
    features: tuple[int, ...]
    is_used: bool

    @property
    def key(self) -> tuple[tuple[int, ...], bool]:
        """The question itself, whatever it is called."""
        return self.features, self.is_used

    def holds(self, vectors: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say of vectors whether it asks about them."""
        uses: NDArray[np.bool_] = (vectors[:, [1 + j for j in self.features]] != 0).any(axis=1)
        return ~uses if self.is_used else uses


class _Answer(NamedTuple):
    """Knowledge of the best score that a question asks about."""

    objective: float
    lower_bound: float
    coefficients: NDArray[np.int64] | None

    def and_also(self, other: _Answer) -> _Answer:
        """The best of two sets of scores."""
        better = min(self, other, key=lambda one: one.objective)
        return better._replace(lower_bound=min(self.lower_bound, other.lower_bound))

    def known_better(self, other: _Answer) -> _Answer:
        """Join what is known of one set of scores in two ways."""
        better = min(self, other, key=lambda one: one.objective)
        bound = max(self.lower_bound, other.lower_bound)
        return better._replace(lower_bound=min(bound, better.objective))


class Priced:
    """Searches for the prices of items.

    Parameters
    ----------
    problem : RiskScoreProblem
    time_limit : float
        Seconds from now on, for all that is done.
    n_threads, settings, should_stop
        As of the search.
    """

    def __init__(
        self,
        problem: RiskScoreProblem,
        time_limit: float,
        n_threads: int,
        settings: BranchAndBoundSettings | None,
        should_stop: Callable[[], bool] | None,
    ) -> None:
        self.problem = problem
        self.n_threads, self.settings, self.should_stop = n_threads, settings, should_stop
        self.deadline = time.perf_counter() + time_limit
        self.is_stopped = False

    def prices(
        self, solution: Solution, variables: Sequence[str], wanted: str | None
    ) -> tuple[tuple[ItemPrice, ...], tuple[ItemPrice, ...]]:
        """Prices of items and of variables.

        Parameters
        ----------
        solution : Solution
            The best score, with the list by items.
        variables : sequence of str, length d
        wanted : {"used", "all"}, optional

        Returns
        -------
        pair of tuples of ItemPrice
        """
        if wanted is None:
            return (), ()
        self.is_stopped = solution.is_interrupted
        of_items = list(self._of_items(solution, wanted))
        of_variables = list(self._of_variables(solution, variables, wanted))
        answers = {one.key: self._listed(one, solution) for one in (*of_items, *of_variables)}
        open_ = [one for one in of_items if not self._is_proven(answers[one.key])]
        # Scores with an item of a variable are those with any of its items.
        joint = [one for one in of_variables if len(one.features) > 1]
        of_parts = [one for one in joint if not one.is_used]
        open_ += [one for one in joint if one.is_used and not self._is_proven(answers[one.key])]
        # What some of them leave of their time is for the others.
        for _ in range(ROUNDS):
            for k, question in enumerate(open_):
                known = answers[question.key]
                answers[question.key] = self._searched(question, known, solution, len(open_) - k)
            open_ = [one for one in open_ if not self._is_proven(answers[one.key])]
        for question in of_parts:
            parts = [answers[(j,), False] for j in question.features if ((j,), False) in answers]
            known = answers[question.key]
            answers[question.key] = known.known_better(functools.reduce(_Answer.and_also, parts))
        return tuple(
            tuple(self._price(one, answers[one.key], solution) for one in questions)
            for questions in (of_items, of_variables)
        )  # type: ignore[return-value]

    def _of_items(self, solution: Solution, wanted: str) -> Iterator[_Question]:
        used = solution.coef[1:] != 0
        for j, name in enumerate(solution.feature_names):
            if used[j] or (wanted == "all" and self.problem.usable[j]):
                yield _Question(name, (j,), bool(used[j]))

    def _of_variables(
        self, solution: Solution, variables: Sequence[str], wanted: str
    ) -> Iterator[_Question]:
        used, features = solution.coef[1:] != 0, dict[str, list[int]]()
        for j in np.flatnonzero(self.problem.usable).tolist():
            features.setdefault(variables[j], []).append(j)
        for name, own in features.items():
            is_used = bool(used[own].any())
            if is_used or wanted == "all":
                yield _Question(name, tuple(own), is_used)

    def _is_proven(self, answer: _Answer) -> bool:
        """True if no better score than the one that was found answers the question."""
        if math.isinf(answer.lower_bound):
            return True
        same = max(self.problem.scales.tolerance, SAME) * abs(answer.objective) + SAME_OBJECTIVES
        return answer.lower_bound >= answer.objective - same

    def _listed(self, question: _Question, solution: Solution) -> _Answer:
        """Answer by the list alone."""
        pool = solution.pool
        assert pool is not None
        assert pool.lower_bounds is not None
        ranks = np.flatnonzero(question.holds(pool.coefficients))
        if not len(ranks):
            return _Answer(math.inf, pool.bound, None)
        bound = min(pool.bound, float(pool.lower_bounds[ranks].min()))
        best = int(ranks[0])
        return _Answer(float(pool.objectives[best]), bound, pool.coefficients[best].copy())

    def _searched(
        self, question: _Question, known: _Answer, solution: Solution, n_left: int
    ) -> _Answer:
        """Answer by a search of its own beside."""
        parts = list(self._parts(question))
        found = _Answer(math.inf, math.inf, None)
        for k, part in enumerate(parts):
            seconds = (self.deadline - time.perf_counter()) / (n_left + 1 - (k + 1) / len(parts))
            found = found.and_also(self._solved(part, known, solution, seconds))
        return known.known_better(found)

    def _parts(self, question: _Question) -> Iterator[RiskScoreProblem]:
        """Divide the scores that a question asks about among problems."""
        problem, names = self.problem, self.problem.coefficients.feature_names
        own = [names[j] for j in question.features]
        every: list[dict[str, tuple[int, int]]] = [dict.fromkeys(own, (0, 0))]
        if not question.is_used:
            (j,) = question.features
            low, high = int(problem.lower[1 + j]), int(problem.upper[1 + j])
            every = [{own[0]: ends} for ends in ((max(low, 1), high), (low, min(high, -1)))]
        for points in every:
            if all(low <= high for low, high in points.values()):
                with contextlib.suppress(ValueError):  # an item has to have other points
                    yield problem.restated(points=points)

    def _solved(
        self, part: RiskScoreProblem, known: _Answer, solution: Solution, seconds: float
    ) -> _Answer:
        unknown = _Answer(math.inf, known.lower_bound, None)
        if self.is_stopped or seconds <= 0:
            return unknown
        starts = (known.coefficients, np.clip(solution.coef, part.lower, part.upper))
        start = next((one for one in starts if one is not None and part.is_feasible(one)), None)
        try:
            found = branch_and_bound(
                part, start=start, time_limit=seconds, n_threads=self.n_threads,
                settings=self.settings, should_stop=self.should_stop,
            )  # fmt: skip
        except RowsLostError:
            raise
        except SearchInterruptedError:
            self.is_stopped = True
            return unknown
        except RiskSLIMError:  # a limit came before any score was found
            return unknown
        self.is_stopped = self.is_stopped or found.is_interrupted
        if found.coefficients is None:
            return _Answer(math.inf, math.inf, None)
        certificate = found.certificate
        return _Answer(certificate.objective, certificate.lower_bound, found.coef)

    def _price(self, question: _Question, answer: _Answer, solution: Solution) -> ItemPrice:
        return ItemPrice(
            question.name, question.is_used, answer.objective, answer.lower_bound,
            solution.certificate.objective, answer.coefficients, self._is_proven(answer),
        )  # fmt: skip
