"""Stability of items: how often they come back on bootstrap samples of the rows.

A sample has as many rows as there are, drawn with replacement: rows get the number of times that
they were drawn as a weight. Items and their cut-offs, the loaded rows and their bits stay as they
are, and each search starts from the alternative that is best on its sample.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._checks import as_number, int_between, is_int
from riskslim._wording import aligned, printable
from riskslim.engines.branch_and_bound.driver import branch_and_bound
from riskslim.engines.parallel import Step, in_parallel
from riskslim.engines.runs import DEFAULT_TIME_LIMIT, MAX_SEED, checked_limits
from riskslim.exceptions import RiskSLIMError, SearchInterruptedError
from riskslim.metrics.bootstrap import drawn_numbers
from riskslim.near_optimal.rows import check_losses, pool_of, training_kinds
from riskslim.solution import Status

if TYPE_CHECKING:
    from riskslim.engines.settings import BranchAndBoundSettings
    from riskslim.near_optimal.alternatives import Alternatives
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["OtherSet", "Stability", "stability"]

# Alternatives that a search may start from, the best ones on its sample.
_STARTS = 5
_MOST_SAMPLES = 100_000
_SHOWN = 10
# Rows of a class of which a sample can be without one, nearly always.
_FEWEST_ROWS = 2


class OtherSet(NamedTuple):
    """A set of items that is best on samples, and is none of the alternatives.

    Attributes
    ----------
    items : tuple of str
    n_samples : int

    Examples
    --------
    >>> from riskslim.near_optimal import OtherSet
    >>> OtherSet(("age >= 60",), 3).n_samples
    3
    """

    items: tuple[str, ...]
    n_samples: int


@dataclasses.dataclass(frozen=True, eq=False)
class Stability:
    """Counts of items, and of sets of items, that are those of the best score on bootstrap samples.

    Parameters
    ----------
    n_asked, n_samples, n_proven : int
        Samples that were asked for, those on which a search has ended, and those of them whose best
        score is proven to be the best.
    seed : int
    items, variables : mapping from str to int
        Samples whose best score has the item, or an item of the variable; those of none are left
        out, most frequent first.
    sets : tuple of int
        For each alternative the samples whose best score has exactly its items.
    others : tuple of OtherSet
        Sets that are none of the alternatives, most frequent first.
    is_interrupted : bool, default False
        Whether the user ended the searches.

    Examples
    --------
    >>> from riskslim.near_optimal import OtherSet, Stability
    >>> items, variables = {"age >= 60": 3, "male": 1}, {"age": 3, "male": 1}
    >>> others = (OtherSet(("male",), 1),)
    >>> found = Stability(4, 4, 4, 0, items, variables, (3,), others)
    >>> found.share("age >= 60"), found.share("smoker")
    (0.75, 0.0)
    """

    n_asked: int
    n_samples: int
    n_proven: int
    seed: int
    items: Mapping[str, int]
    variables: Mapping[str, int]
    sets: tuple[int, ...]
    others: tuple[OtherSet, ...]
    is_interrupted: bool = False

    def share(self, name: str) -> float:
        """Share of the samples whose best score has an item, or a variable.

        Parameters
        ----------
        name : str

        Returns
        -------
        float
            0 for names that never came; NaN without samples.
        """
        count = self.items.get(name, self.variables.get(name, 0))
        return count / self.n_samples if self.n_samples else math.nan

    def explain(self) -> str:
        """Say in plain words what the samples say, and what they do not.

        Returns
        -------
        str
        """
        if not self.n_samples:
            return (
                f"No search on the {self.n_asked} bootstrap samples ended in time: nothing is "
                "known of how the choice depends on the rows."
            )
        n = self.n_samples
        ended = "" if n == self.n_asked else f" of {self.n_asked} that were asked for"
        listed = sum(self.sets)
        proven = {n: "all of them are", 0: "none of them is", 1: "1 of them is"}.get(
            self.n_proven, f"{self.n_proven} of them are"
        )
        text = (
            f"On {n} bootstrap samples of the rows{ended} a best score was searched for; {proven} "
            f"proven to be the best there. Its items were those of the best score of all rows on "
            f"{self.sets[0] / n:.0%} of the samples, and those of one of the {len(self.sets)} "
            f"alternatives on {listed / n:.0%}."
        )
        if self.n_proven < n:
            text += " Where nothing is proven, another set may be the best one."
        text += " A score that is proven best is best on the rows that there are."
        if self.sets[0] < n:
            text += (
                " This is not to say that its items are sure: with other rows of the same kind "
                "others would often have been chosen."
            )
        return text

    def table(self, most: int = _SHOWN) -> str:
        """Write how often items came back as a table.

        Parameters
        ----------
        most : int, default 10
            Items to show; a last line counts the others.

        Returns
        -------
        str
        """
        lines = [["Item", "Samples", "Share"]]
        for name, count in [*self.items.items()][:most]:
            lines.append([printable(name, lines=False), str(count), f"{self.share(name):.0%}"])
        more = len(self.items) - most
        text = aligned(lines, 1)
        return f"{text}\n... and {more} more" if more > 0 else text

    def __str__(self) -> str:
        return f"{self.table()}\n{self.explain()}"


def stability(
    found: Alternatives,
    problem: RiskScoreProblem,
    n_samples: int = 100,
    *,
    random_state: int = 0,
    n_jobs: int | None = 1,
    time_limit: float = DEFAULT_TIME_LIMIT,
    n_threads: int = 1,
    settings: BranchAndBoundSettings | None = None,
    progress: Callable[[Step], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Stability:
    """Find how often items come back when the best score is searched for on bootstrap samples.

    Parameters
    ----------
    found : Alternatives
    problem : RiskScoreProblem
        That they are of, on rows in memory.
    n_samples : int, default 100
    random_state : int, default 0
        Seed: each sample has its own, so that the samples do not depend on ``n_jobs``.
    n_jobs : int or None, default 1
        Searches at once, as in joblib; -1: all cores.
    time_limit : float, default 60.0
        Seconds for all samples together. Each search has an equal share of what is left; one that
        needs less leaves it to the others.
    n_threads : int, default 1
        Of each search.
    settings : BranchAndBoundSettings, optional
    progress : callable, optional
        Called with a :class:`~riskslim.model_selection.Step` after each sample.
    should_stop : callable, optional
        Asked several times a second; True ends the searches.

    Returns
    -------
    Stability
        Of the samples that are finished: Ctrl-C keeps them.

    Raises
    ------
    TypeError, ValueError
        Arguments out of range; another problem; a class with fewer than two rows; rows that are
        not in memory one by one.
    KeyboardInterrupt
        Ctrl-C before the first sample was finished; a second one.

    Examples
    --------
    >>> from riskslim import CoefficientSet, RiskScoreProblem, TrainingData, alternatives
    >>> from riskslim.near_optimal import stability
    >>> X = {"a": [0, 0, 1, 1, 1, 0] * 5, "b": [0, 1, 1, 1, 0, 0] * 5}
    >>> data = TrainingData(X, [0, 1, 1, 1, 0, 0] * 4 + [0, 0, 1, 1, 1, 0])
    >>> problem = RiskScoreProblem(data, CoefficientSet(data.feature_names), max_size=1)
    >>> kept = stability(alternatives(problem, within=1.0), problem, 5)
    >>> kept.n_samples, kept.n_proven, sum(kept.sets) + sum(one.n_samples for one in kept.others)
    (5, 5, 5)
    """
    int_between(n_samples, "n_samples", 1, _MOST_SAMPLES)
    int_between(random_state, "random_state", 0, MAX_SEED)
    as_number(time_limit, "time_limit")
    checked_limits(time_limit, 0.0, None, n_threads, 0)
    if n_jobs is not None and (not is_int(n_jobs) or n_jobs == 0):
        raise ValueError(f"n_jobs must be an int other than 0, or None, got {n_jobs!r}")
    engine = {"n_threads": n_threads, "settings": settings}
    plan = _Plan.of(found, problem, n_samples, random_state, n_jobs, time_limit, engine)
    tasks = [(f"sample {k}", (plan, k)) for k in range(n_samples)]
    finished = in_parallel(
        _on_sample, tasks, n_jobs=n_jobs, progress=progress, should_stop=should_stop
    )
    results = [one for _, one in sorted(finished.results.items()) if one.items is not None]
    kept = _added(found, results, n_samples, random_state)
    is_interrupted = len(finished.results) + len(finished.lost) < n_samples
    return dataclasses.replace(kept, is_interrupted=is_interrupted)


class _Sample(NamedTuple):
    """The items of the best score on a sample; None where there was no time for a search."""

    items: tuple[int, ...] | None
    is_proven: bool = False


@dataclasses.dataclass(frozen=True, eq=False)
class _Plan:
    """The work that is done on each sample."""

    problem: RiskScoreProblem
    numbers: NDArray[np.int64]  # rows with weight: how many each is
    starts: NDArray[np.int64]
    losses: NDArray[np.float64]  # (m, 2k) of a row of each kind and class, by each alternative
    place: NDArray[np.intp]  # (n,) the column of each row there
    n_samples: int
    seed: int
    at_once: int
    until: float
    engine: dict[str, Any]

    @classmethod
    def of(
        cls,
        found: Alternatives,
        problem: RiskScoreProblem,
        n_samples: int,
        seed: int,
        n_jobs: int | None,
        time_limit: float,
        engine: dict[str, Any],
    ) -> _Plan:
        from joblib import effective_n_jobs

        data = problem.loss.data
        kinds = training_kinds(found, data)
        if data.counts is not None:
            raise ValueError(
                "samples are drawn of rows one by one, but equal rows of these data were merged "
                "while they were read: use a sample, riskslim.sampled(data, n)"
            )
        pool = pool_of(found)
        positive = data.labels > 0
        weight = data.sample_weight
        counted = np.ones(data.n_rows, np.bool_) if weight is None else weight > 0
        for label, rows in zip(data.classes, (~positive, positive), strict=True):
            if (n := np.count_nonzero(rows & counted)) < _FEWEST_ROWS:
                raise ValueError(
                    f"there are too few rows for bootstrap samples: {n} of class {label!r}, and at "
                    f"least {_FEWEST_ROWS} are needed"
                )
        odds = np.concatenate([one for _, one in kinds.log_odds(pool)])
        losses = np.concatenate((np.logaddexp(0.0, odds), np.logaddexp(0.0, -odds)), axis=1)
        place = kinds.place + len(kinds) * positive
        own = np.bincount(place, weight, losses.shape[1])
        check_losses(found, losses @ (own / own.sum()))
        best = pool.coefficients[0]
        if not problem.is_feasible(best):
            raise ValueError(
                "the problem is another one than the alternatives are of: the best of them breaks "
                f"it: {'; '.join(problem.violations(best))}"
            )
        until = time.time() + time_limit
        return cls(
            problem, counted.astype(np.int64), pool.coefficients, losses, place, n_samples, seed,
            max(1, min(effective_n_jobs(n_jobs), n_samples)), until, engine,
        )  # fmt: skip

    def weights(self, k: int) -> NDArray[np.float64]:
        """The weights of the rows on a sample, with rows of both classes."""
        data = self.problem.loss.data
        own = np.flatnonzero(self.numbers)
        generator = np.random.default_rng([self.seed, k])
        each = np.ones(data.n_rows) if data.sample_weight is None else data.sample_weight
        while True:
            drawn = np.zeros(data.n_rows)
            drawn[own] = drawn_numbers(self.numbers[own], generator)
            positive = data.labels[drawn > 0] > 0
            if positive.any() and not positive.all():
                return drawn * each

    def start(self, problem: RiskScoreProblem, weight: NDArray[np.float64]) -> Any:
        """The best alternative on a sample that the problem there allows."""
        by_kind = np.bincount(self.place, weight, self.losses.shape[1])
        order = np.argsort(self.losses @ by_kind, kind="stable")[:_STARTS]
        return next((self.starts[k] for k in order if problem.is_feasible(self.starts[k])), None)


def _on_sample(plan: _Plan, k: int) -> _Sample | None:
    """Search on one sample; None where the user ended that."""
    seconds = (plan.until - time.time()) * plan.at_once / (plan.n_samples - k)
    seconds = min(seconds, plan.until - time.time())
    if seconds <= 0:
        return _Sample(None)
    weight = plan.weights(k)
    problem = plan.problem.restated(plan.problem.loss.data.reweighted(weight))
    try:
        solution = branch_and_bound(
            problem, start=plan.start(problem, weight), time_limit=seconds, **plan.engine
        )
    except SearchInterruptedError:
        return None
    except RiskSLIMError as error:
        if type(error) is not RiskSLIMError:
            raise
        return _Sample(None)  # no score met the constraints in time
    if solution.is_interrupted:
        return None
    if solution.coefficients is None:
        return _Sample(None)
    items = tuple(np.flatnonzero(solution.coefficients).tolist())
    return _Sample(items, solution.certificate.status is Status.OPTIMAL)


def _added(found: Alternatives, results: list[_Sample], n_asked: int, seed: int) -> Stability:
    """Count what came back."""
    names, variables = found.solution.feature_names, found.variables
    rank = {
        tuple(np.flatnonzero(coef[1:]).tolist()): k
        for k, coef in enumerate(pool_of(found).coefficients)
    }
    sets, others = [0] * len(rank), Counter[tuple[int, ...]]()
    of_items, of_variables = Counter[str](), Counter[str]()
    for one in results:
        assert one.items is not None
        of_items.update(names[j] for j in one.items)
        of_variables.update({variables[j] for j in one.items})
        if one.items in rank:
            sets[rank[one.items]] += 1
        else:
            others[one.items] += 1
    return Stability(
        n_asked, len(results), sum(one.is_proven for one in results), seed,
        MappingProxyType(_by_number(of_items, names)),
        MappingProxyType(_by_number(of_variables, variables)), tuple(sets),
        tuple(
            OtherSet(tuple(names[j] for j in items), count)
            for items, count in sorted(others.items(), key=lambda one: (-one[1], one[0]))
        ),
    )  # fmt: skip


def _by_number(counts: Mapping[str, int], order: tuple[str, ...]) -> dict[str, int]:
    """Names with their numbers, most frequent first, then in the order of the features."""
    place = {name: k for k, name in reversed([*enumerate(order)])}
    return dict(sorted(counts.items(), key=lambda one: (-one[1], place[one[0]])))
