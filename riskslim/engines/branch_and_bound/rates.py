"""Constraints on the rates of predicted outcomes: scores in order, each with its rates counted.

The search sees a problem without these constraints. A score that breaks them is no incumbent and
leaves no trace, so that the cutoff stays at the best score that meets them, and every score with an
objective below it is met, or excluded by tables of supports, which know limits on single rates
(``rate_limits``). A box in which no predictions that it leaves open meet the constraints is
left. Whatever bound the search has holds for the scores that meet them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._wording import listing
from riskslim.constraints.share_checks import OperatingPointCheck
from riskslim.engines.branch_and_bound.rate_limits import RateLimits
from riskslim.heuristics.descent import discrete_coordinate_descent, sequential_rounding
from riskslim.heuristics.rated import RatedSearch

if TYPE_CHECKING:
    from riskslim.engines.branch_and_bound.incumbents import Incumbents
    from riskslim.engines.branch_and_bound.support_enumeration import SupportEnumeration
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["Rates"]

# Vectors that break the constraints and are kept to start from, each the best one of its features,
# and how many of them are started from at a time.
MOST_KEPT = 200
STARTS = 10
# Predicted seconds of the exchanges of one set of items beyond which they are left out.
MOST_EXCHANGE_SECONDS = 0.2


class Rates:
    """The constraints on rates of a problem, and first scores that meet them.

    Parameters
    ----------
    problem : RiskScoreProblem
        With constraints on rates.

    Attributes
    ----------
    search : RatedSearch or None
        Which knows how near scores have come, once it was made.
    """

    def __init__(self, problem: RiskScoreProblem) -> None:
        self.problem = problem
        self.checks = problem.rates
        self.search: RatedSearch | None = None
        self._best: dict[bytes, tuple[float, NDArray[np.int64]]] = {}
        self._worst = math.inf
        self._tried: set[bytes] = set()

    def accepts(self, coef: NDArray[np.int64]) -> bool:
        """True if a vector meets the constraints.

        Parameters
        ----------
        coef : ndarray of int64, shape (d + 1,)

        Returns
        -------
        bool
        """
        return all(check.violation(coef) is None for check in self.checks)

    def allows(self, lower: NDArray[np.int64], upper: NDArray[np.int64]) -> bool:
        """True if some predictions that a box leaves open meet each constraint.

        Parameters
        ----------
        lower, upper : ndarray of int64, shape (d + 1,)

        Returns
        -------
        bool
        """
        size = self.problem.max_size
        return all(check.is_possible(lower, upper, size) for check in self.checks)

    def limits(self, problem: RiskScoreProblem, incumbents: Incumbents) -> RateLimits | None:
        """Limits that tables of supports are told; None where there are none.

        Parameters
        ----------
        problem : RiskScoreProblem
            Without the constraints on rates.
        incumbents : Incumbents
            Of the search.

        Returns
        -------
        RateLimits or None
        """
        return RateLimits.of(
            self.checks, problem.loss.data.total_weight,
            is_only=(incumbents.is_one or incumbents.has_sets)
            and problem.constraint_rows is None,
            accepts=lambda coef: problem.is_feasible(coef) and self.accepts(coef),
        )  # fmt: skip

    def consider(self, coef: NDArray[np.int64], objective: float) -> None:
        """Keep a vector that meets the other requirements, if it is one of the best ones.

        Parameters
        ----------
        coef : ndarray of int64, shape (d + 1,)
        objective : float
        """
        if not objective < self._worst:
            return
        support = (coef[1:] != 0).tobytes()
        known = self._best.get(support)
        if known is None or objective < known[0]:
            self._best[support] = objective, coef.copy()
        if len(self._best) > 2 * MOST_KEPT:
            kept = sorted(self._best.items(), key=_objective)[:MOST_KEPT]
            self._best, self._worst = dict(kept), _objective(kept[-1])

    def first(
        self, *, stop: NDArray[np.int64], should_stop: Callable[[], bool]
    ) -> Iterator[NDArray[np.int64]]:
        """Vectors that meet the constraints, by exchanges of items that the limits lead.

        Parameters
        ----------
        stop : int64 array of shape (1,)
            Not zero: end as soon as possible.
        should_stop : callable
            The same, asked between supports.

        Yields
        ------
        ndarray of int64, shape (d + 1,)
        """
        if self.search is None:
            self.search = RatedSearch.of(self.problem, stop, should_stop)
        if self.search is not None:
            near = sorted(self._best.values(), key=lambda entry: entry[0])[:STARTS]
            yield from self.search.run((coef for _, coef in near), should_stop)

    def nearest(self) -> str:
        """Say which shares some score has together, where none with those that are asked is known.

        Returns
        -------
        str
            One sentence, and what to change; empty where nothing is known.
        """
        if self.search is None or self.search.nearest is None:
            return ""
        coef, shares = self.search.nearest.coef, []
        for check in self.checks:
            if isinstance(check, OperatingPointCheck):
                shares.append(check.nearest(coef))
            elif len(check.rates) == 1:
                (rate,) = check.rates
                name = "sensitivity" if rate.of_negative else "specificity"
                shares.append(f"{name} {100 * (1.0 - rate.value(check.positive(coef))):.4g}%")
        return (
            f" The nearest score that was found has {listing(dict.fromkeys(shares))} together: ask "
            "for less, or allow more features (max_size) or larger points"
        )

    def found_near(
        self,
        best: NDArray[np.int64] | None,
        *,
        swaps: bool,
        stop: NDArray[np.int64],
        should_stop: Callable[[], bool],
    ) -> Iterator[NDArray[np.int64]]:
        """Vectors that meet all constraints, descended to from roundings that do.

        Parameters
        ----------
        best : ndarray of int64, shape (d + 1,), optional
            The best one that is known to meet them.
        swaps : bool
            Whether features may be exchanged.
        stop : int64 array of shape (1,)
            Not zero: improve nothing any more.
        should_stop : callable
            The same, asked between moves.

        Yields
        ------
        ndarray of int64, shape (d + 1,)
        """
        problem = self.problem
        if not problem.loss.store.is_block:
            return  # descents need the rows in memory
        nearest = [coef for _, (_, coef) in sorted(self._best.items(), key=_objective)]
        nearest = [coef for coef in nearest if coef.tobytes() not in self._tried][:STARTS]
        for near in (best, *nearest, np.zeros(len(problem.lower), np.int64)):
            if near is None or near.tobytes() in self._tried:
                continue
            if stop[0] or should_stop():
                return
            self._tried.add(near.tobytes())
            start = near if near is best else self._rounded(near, stop)
            if start is None or not problem.is_feasible(start):
                continue
            self._tried.add(start.tobytes())
            yield start
            improved = discrete_coordinate_descent(
                problem, start, swaps=swaps, stop=stop, should_stop=should_stop
            ).coefficients
            assert improved is not None
            yield improved

    def exchanged(
        self,
        tables: SupportEnumeration,
        box: NDArray[np.float64],
        incumbents: Incumbents,
        *,
        stop: NDArray[np.int64],
        should_stop: Callable[[], bool],
    ) -> Iterator[NDArray[np.int64]]:
        """Vectors that meet the constraints, of supports that differ little from known ones.

        Supports are those of the best vectors that break the constraints, and of the best one that
        meets them. One item is exchanged, and then two, for the best others, as long as that helps.

        Parameters
        ----------
        tables : SupportEnumeration
            Which keep the limits on rates; without any there is nothing to find.
        box : ndarray of float64, shape (2, d + 1)
            The box that is searched, at one scale.
        incumbents : Incumbents
            Of the search: each vector is to be offered before the next one is asked for.
        stop : int64 array of shape (1,)
            Not zero: end as soon as possible.
        should_stop : callable
            The same, asked between exchanges.

        Yields
        ------
        ndarray of int64, shape (d + 1,)
        """
        if tables.limits is None:
            return
        scan = _Scan(tables, box, 1.0 / self.problem.loss.scale, incumbents, stop)
        for _, near in sorted(self._best.values(), key=lambda entry: entry[0])[:STARTS]:
            if should_stop():
                return
            yield from scan.found((1 + np.flatnonzero(near[1:])).tolist(), near != 0)
        while incumbents.best is not None:
            best = incumbents.best
            used, size = (1 + np.flatnonzero(best[1:])).tolist(), self.problem.max_size
            for n_out in (max(1 - (size - len(used)), 0), 2):
                for kept in itertools.combinations(used, max(len(used) - n_out, 0)):
                    if should_stop() or stop[0]:
                        return
                    yield from scan.found(list(kept))
                if (incumbents.best != best).any():
                    break
            else:
                return

    def _rounded(
        self, near: NDArray[np.int64], stop: NDArray[np.int64]
    ) -> NDArray[np.int64] | None:
        problem, scales = self.problem, self.problem.scales
        if not scales.is_single:
            problem = problem.at_scale(scales.nearest_to_one)
        point = np.clip(near, problem.lower, problem.upper).astype(np.float64)
        return sequential_rounding(problem, point, stop=stop).coefficients


class _Scan(NamedTuple):
    """Looks for vectors of supports that have some items."""

    tables: SupportEnumeration
    box: NDArray[np.float64]
    t: float
    incumbents: Incumbents
    stop: NDArray[np.int64]

    def found(
        self, kept: list[int], live: NDArray[np.bool_] | None = None
    ) -> Sequence[NDArray[np.int64]]:
        """Better vectors than the best one with these features, of all features or some."""
        box = self.box
        if live is not None:
            box = np.where(live | (np.arange(len(live)) == 0), box, 0.0)
        used = [j - 1 for j in kept]
        if self.tables.predicted_seconds(box, used=used) > MOST_EXCHANGE_SECONDS:
            return ()
        completion = self.tables.completion(box, self.t, self.t, used)
        if completion is None:
            return ()
        # Nothing is concluded from what is left out.
        cutoff = self.incumbents.cutoff
        scanned = completion.scan(completion.whole(), cutoff, self.stop, settles=True)
        if scanned is None:
            return ()
        self.tables.counts.vectors += len(scanned.vectors)
        return scanned.vectors[::-1]


def _objective(entry: tuple[bytes, tuple[float, NDArray[np.int64]]]) -> float:
    return entry[1][0]
