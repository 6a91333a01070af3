r"""The search for the best rule over all sets of items.

Every set of items (support) is bounded on its cells by a fractional knapsack, many at a time, by
the kernel of tables of supports. Those that could hold a better rule wait; then their points are
looked at, the most promising support first. A good rule is known before that, from exchanges of
items: it leaves few supports to wait.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim.data.threads import in_threads
from riskslim.engines.branch_and_bound.support_enumeration import (
    Completion,
    Scanned,
    SupportEnumeration,
    Task,
)
from riskslim.engines.operating_points.shares import best_threshold
from riskslim.engines.operating_points.support_rules import Found, Measure, SupportRules
from riskslim.engines.operating_points.ties import Fit, fitted, fitted_on_rows

if TYPE_CHECKING:
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["BestRule", "RuleList", "RuleSearch"]

# Tasks that are scanned, and supports whose points are looked at, with one limit.
TASKS_AT_A_TIME, SUPPORTS_AT_A_TIME = 16, 16
# Supports that wait; then the points of all of them are looked at before others are scanned.
MOST_WAITING = 200_000
# Supports that may hold a rule as good as the best one; if there are more, rules that are equally
# good are not compared.
MOST_TIED = 50_000
# Pairs of items that exchanges begin with, and supports of each exchange that are looked at.
STARTS, LOOKED_AT = 12, 6
# So few supports are looked at without exchanges.
FEW_SUPPORTS = 40
# Points of one support that are looked at there.
EXCHANGE_NODES = 300_000


class BestRule(NamedTuple):
    """The best rule that is known.

    Attributes
    ----------
    fit : Fit
    wrong : float
        Rows or weight of the other class that it calls wrong.
    features : int64 array of shape (k,)
    """

    fit: Fit
    wrong: float
    features: NDArray[np.int64]


class RuleList:
    """The best rule of each set of items, as far as it is wanted.

    Parameters
    ----------
    n_rules : int or None
        How many sets are wanted; None: all within the allowance.
    allowance : float
        In rows or weight: what rules may call wrong beyond what the best one does.

    Attributes
    ----------
    unsettled : float
        A bound of sets of which the best rule is not known; infinite if there are none.
    """

    def __init__(self, n_rules: int | None, allowance: float) -> None:
        self.n_rules, self.allowance = n_rules, allowance
        self.unsettled = math.inf
        self._found: dict[bytes, Found] = {}

    def kept(self, best: float, measure: Measure) -> float:
        """The most that a rule may call wrong that is looked for.

        Parameters
        ----------
        best : float
            What the best rule calls wrong.
        measure : Measure

        Returns
        -------
        float
        """
        limit = measure.as_good_as(best + self.allowance)
        if self.n_rules is not None and len(self._found) >= self.n_rules:
            wrong = sorted(float(one.wrong[0]) for one in self._found.values())
            limit = min(limit, wrong[self.n_rules - 1] - measure.step)
        return limit

    def add(self, found: Found) -> None:
        """Take over the best rule of a set.

        Parameters
        ----------
        found : Found
        """
        self._found[found.features.tobytes()] = found

    def chosen(self, best: float, measure: Measure) -> list[Found]:
        """Rules that are wanted, the best one first.

        Parameters
        ----------
        best, measure
            As :meth:`kept` has them.

        Returns
        -------
        list of Found
        """
        limit = measure.as_good_as(best + self.allowance)
        found = sorted(self._found.values(), key=lambda one: float(one.wrong[0]))
        return [one for one in found if one.wrong[0] <= limit][: self.n_rules]


class _Waiting(NamedTuple):
    bound: float
    features: NDArray[np.int64]


class RuleSearch:
    """Supports of a problem, and the best rule of them.

    Parameters
    ----------
    problem : RiskScoreProblem
    rules : SupportRules
    tables : SupportEnumeration
    completion : Completion
        All supports that are looked at.
    best : BestRule
        A rule to begin with.
    gap : float
        In rows or weight: rules that are better by no more are not looked for.
    n_threads : int
    on_change : callable
        Told of each step of the search.
    listed : RuleList, optional
        Takes the best rule of each set of items.

    Attributes
    ----------
    best : BestRule
    tied : list of int64 arrays
        Supports that may have a rule as good as the best one.
    keeps_ties : bool
        Whether ``tied`` has all of them that were looked at.
    unsettled : float
        A bound of supports of which not all points were looked at; infinite if there are none.
    is_scanned : bool
        Whether every support was bounded.
    least : float
        No rule calls less wrong, as far as is known of supports that were not bounded.
    unscanned : int64 array of shape (k,)
        Features that these have.
    share : float
        Of the supports that were scanned.
    n_scanned, n_left, n_searched, n_updates : int
        Supports that were bounded, that the bound left, and whose points were looked at; times that
        the best rule changed.
    """

    def __init__(
        self,
        problem: RiskScoreProblem,
        rules: SupportRules,
        tables: SupportEnumeration,
        completion: Completion,
        best: BestRule,
        *,
        gap: float = 0.0,
        node_limit: float = math.inf,
        n_threads: int = 1,
        on_change: Callable[[], None] = lambda: None,
        listed: RuleList | None = None,
    ) -> None:
        self.problem, self.rules, self.tables, self.best = problem, rules, tables, best
        self.measure = rules.measure
        self.completion = self._for_rules(completion, problem.min_size)
        self.gap, self.node_limit, self.n_threads = gap, node_limit, n_threads
        self.on_change, self.listed = on_change, listed
        self.tied: list[_Waiting] = []
        self.keeps_ties = gap == 0.0
        self.unsettled = math.inf
        self.least, self.unscanned = 0.0, completion.packed.features
        self.is_scanned = False
        self.share = 0.0
        self.n_scanned = self.n_left = self.n_searched = self.n_updates = 0
        self._waiting: list[_Waiting] = []

    def consider(self, coef: NDArray[np.int64]) -> None:
        """Take over a rule that another search has found, if it is better.

        Parameters
        ----------
        coef : ndarray of int64, shape (d + 1,)
            Feasible.
        """
        rows = self.problem.loss.store
        rule = best_threshold(rows, coef, self.measure.required)
        wrong = self.measure.counted(rule.wrong)
        if wrong <= self.better:
            fit = fitted_on_rows(self.problem, coef)
            self.best = BestRule(fit, wrong, np.flatnonzero(coef[1:]))
            self.n_updates += 1
            self.on_change()

    def _for_rules(self, completion: Completion, min_size: int) -> Completion:
        return completion.for_rules(self.measure.side, self.measure.most_rows, min_size)

    @property
    def is_over(self) -> bool:
        """True if a limit is reached."""
        return bool(self.rules.stop[0]) or self.n_searched >= self.node_limit

    @property
    def better(self) -> float:
        """The most that a rule may call wrong that is looked for."""
        return self.best.wrong - max(self.measure.step, self.gap)

    @property
    def kept(self) -> float:
        """The same of rules that are kept: those that are as good are, too, and a list has more."""
        kept = self.measure.as_good_as(self.best.wrong) if self.keeps_ties else self.better
        if self.listed is not None:
            kept = max(kept, self.listed.kept(self.best.wrong, self.measure))
        return kept

    @property
    def bound(self) -> float:
        """No rule calls less wrong, in rows or weight."""
        least = self.better + (self.measure.step if self.measure.is_exact else 0.0)
        if not self.is_scanned:
            least = min(least, self.least)
        waiting = min((one.bound for one in self._waiting), default=math.inf)
        return max(min(least, self.unsettled, waiting, self.best.wrong), 0.0)

    @property
    def is_complete(self) -> bool:
        """True if nothing is left to look at."""
        return self.is_scanned and not self._waiting

    @property
    def unlisted(self) -> float:
        """No set of items that is not listed has a rule that calls less wrong."""
        assert self.listed is not None
        least = self.listed.kept(self.best.wrong, self.measure)
        least += self.measure.step if self.measure.is_exact else 0.0
        least = min(least, self.listed.unsettled)
        if not self.is_scanned:
            least = min(least, self.least)
        return max(min([least, *(one.bound for one in self._waiting)]), 0.0)

    @property
    def is_list_complete(self) -> bool:
        """True if no set is missing in the list."""
        assert self.listed is not None
        limit = self.listed.kept(self.best.wrong, self.measure)
        return self.is_complete and self.listed.unsettled > limit

    @property
    def equals(self) -> list[NDArray[np.int64]]:
        """Supports that may have a rule as good as the best one, that one's included."""
        kept = self.measure.as_good_as(self.best.wrong)
        found = [one.features for one in self.tied if one.bound <= kept]
        own = self.best.features.tobytes()
        return [self.best.features, *(each for each in found if each.tobytes() != own)]

    # ---- points of supports --------------------------------------------------------------

    def _consider(self, waiting: list[_Waiting], most_nodes: int | None = None) -> bool:
        """Look at the points of some supports, with one limit; True if a rule is better."""
        kept = self.kept
        limit = self.better if self.listed is None else kept
        waiting = [one for one in waiting if one.bound <= kept]
        found: list[Found | None] = [None] * len(waiting)

        def look_at(k: int) -> None:
            found[k] = self.rules.best(waiting[k].features, limit, most_nodes)

        chosen = [k for k, one in enumerate(waiting) if one.bound <= limit]
        in_threads(lambda i: look_at(chosen[i]), len(chosen), self.n_threads)
        self.n_searched += len(chosen)
        improved = False
        for k, one in enumerate(waiting):
            self._tie(one)
            if one.bound > limit:
                continue
            own = found[k]
            if own is None or not own.is_all:
                self._leave(one)
            if own is None or not len(own.points):
                continue
            if self.listed is not None and own.is_all:
                self.listed.add(own)
            if own.wrong[0] <= self.better:
                fit = fitted(self.rules, own)
                if fit is None:
                    self._leave(one)
                    continue
                self.best = BestRule(fit, float(own.wrong[0]), own.features)
                self.n_updates += 1
                improved = True
        if improved:
            self.tied = [one for one in self.tied if one.bound <= self._tied_at]
            self.on_change()
        return improved

    @property
    def _tied_at(self) -> float:
        return self.measure.as_good_as(self.best.wrong)

    def _leave(self, one: _Waiting) -> None:
        """Remember the bound of a support of which not all points were looked at."""
        self.unsettled = min(self.unsettled, one.bound)
        if self.listed is not None:
            self.listed.unsettled = min(self.listed.unsettled, one.bound)

    def _tie(self, one: _Waiting) -> None:
        """Remember a support that may hold a rule as good as the best one."""
        if not self.keeps_ties or one.bound > self._tied_at:
            return
        self.tied.append(one)
        if len(self.tied) > MOST_TIED:
            self.tied, self.keeps_ties = [], False

    def _search_waiting(self) -> None:
        """Look at the points of all supports that wait, the most promising ones first."""
        self._waiting.sort(key=lambda one: one.bound)
        at = 0
        while at < len(self._waiting) and self._waiting[at].bound <= self.kept:
            if self.is_over:
                self._waiting = self._waiting[at:]
                return
            self._consider(self._waiting[at : at + SUPPORTS_AT_A_TIME])
            at += SUPPORTS_AT_A_TIME
        self._waiting = []

    # ---- exchanges -----------------------------------------------------------------------

    def exchange(self, is_late: Callable[[], bool]) -> None:
        """Look for a good rule: supports that differ from good ones in two items or fewer.

        Parameters
        ----------
        is_late : callable
            Asked between exchanges; True ends them.
        """
        if self.completion.n_supports <= FEW_SUPPORTS:
            return
        keeps, self.keeps_ties = self.keeps_ties, False  # all supports are scanned later
        unsettled = self.unsettled
        for pair in self._more([], math.inf, STARTS):
            if self.is_over or is_late():
                break
            support = pair.features
            while len(support) < self.problem.max_size:
                longer = self._more(support.tolist(), math.inf, 1)
                if not longer or len(longer[0].features) <= len(support):
                    break
                support = longer[0].features
                self._offer(longer)
            self._offer([pair._replace(features=support, bound=0.0)])
            self._exchange_items(support, is_late)
        self._exchange_items(self.best.features, is_late)
        self.tied, self.keeps_ties, self.unsettled = [], keeps, unsettled
        if self.listed is not None:
            self.listed.unsettled = math.inf

    def _offer(self, supports: list[_Waiting]) -> bool:
        size = self.problem.min_size
        return self._consider(
            [one for one in supports if len(one.features) >= size], EXCHANGE_NODES
        )

    def _exchange_items(self, support: NDArray[np.int64], is_late: Callable[[], bool]) -> None:
        """Exchange up to two items of a support for others as long as that helps."""
        tried: set[tuple[int, ...]] = set()
        while True:
            used = support.tolist()
            for kept in itertools.combinations(used, max(len(used) - 2, 0)):
                if self.is_over or is_late():
                    return
                if kept in tried:
                    continue
                tried.add(kept)
                if self._offer(self._more(list(kept), self.measure.cutoff(self.kept), LOOKED_AT)):
                    break
            else:
                return
            support = self.best.features

    def _more(self, kept: list[int], cutoff: float, n: int) -> list[_Waiting]:
        """The most promising supports of some items and up to two others."""
        box = np.array([self.problem.lower, self.problem.upper], np.float64)
        box[:, 1:][:, self.tables.planes == 0] = 0.0
        completion = self.tables.completion(box, 1.0, 1.0, kept)
        if completion is None:
            return []
        completion = self._for_rules(completion, 0)
        size = min(completion.n_in + 2, completion.max_size)
        task = Task(tuple(range(completion.n_in)), completion.n_in, size, 0.0)
        found = list(self._scanned([(completion, task)], cutoff))
        found.sort(key=lambda one: (one.bound, -len(one.features)))
        return found[:n]

    # ---- all supports --------------------------------------------------------------------

    def scan(self) -> None:
        """Bound all supports, and look at the points of those that are left."""
        completion = self.completion
        n_all = max(completion.n_supports, 1)
        tasks: Iterator[Task] = completion.tasks()
        self.n_scanned = self.n_left = 0  # without those of exchanges
        while True:
            batch = list(itertools.islice(tasks, TASKS_AT_A_TIME))
            if not batch:
                break
            # Tasks come in the order of their items: all that are left are from here on.
            n_in, prefix = completion.n_in, batch[0].prefix
            first = prefix[n_in] if len(prefix) > n_in else n_in
            features = completion.packed.features
            self.unscanned = np.concatenate((features[:n_in], features[first:]))
            before = self.share
            self._waiting += self._scanned(
                [(completion, task) for task in batch], self.measure.cutoff(self.kept)
            )
            if self.is_over:
                self._search_waiting()
                return
            self.share = min(self.n_scanned / n_all, 1.0)
            if len(self._waiting) > MOST_WAITING:
                self._search_waiting()
            if self.share - before > 0.0:
                self.on_change()
        self.share, self.is_scanned = 1.0, True
        self._search_waiting()

    def _scanned(self, tasks: list[tuple[Completion, Task]], cutoff: float) -> list[_Waiting]:
        """Supports that tasks leave; tasks that leave too many are divided."""
        found: list[_Waiting] = []
        queue = deque(tasks)
        while queue and not self.rules.stop[0]:
            now = [queue.popleft() for _ in range(min(len(queue), TASKS_AT_A_TIME))]
            results = self._in_threads(now, cutoff)
            for (completion, task), scanned in zip(now, results, strict=True):
                if scanned is None:
                    if not self.rules.stop[0]:
                        queue.extendleft((completion, part) for part in _parts(completion, task))
                    continue
                self.n_scanned += int(scanned.counted[0])
                self.n_left += len(scanned.supports)
                found += [
                    _Waiting(self.measure.least(bound), np.sort(support))
                    for bound, support in zip(
                        scanned.bounds.tolist(), scanned.supports, strict=True
                    )
                ]
        return found

    def _in_threads(
        self, tasks: list[tuple[Completion, Task]], cutoff: float
    ) -> list[Scanned | None]:
        results: list[Scanned | None] = [None] * len(tasks)

        def scan(k: int) -> None:
            completion, task = tasks[k]
            results[k] = completion.scan(task, cutoff, self.rules.stop)

        in_threads(scan, len(tasks), self.n_threads)
        return results


def _parts(completion: Completion, task: Task) -> Iterator[Task]:
    """Divide a task by the next item."""
    size = len(task.prefix)
    yield Task(task.prefix, completion.n_items, size, 0.0)
    for item in range(task.first, completion.n_items):
        if not completion.apart[list(task.prefix), item].any():
            yield Task((*task.prefix, item), item + 1, task.max_size, 0.0)
