r"""The risk of a score, and the scores that a table of risks lists.

A score s, the total of a sheet, has the risk :math:`1 / (1 + \exp(-(\lambda_0 + s - t) / m))`, with
the intercept :math:`\lambda_0`, the scale m and the shift t by which totals exceed the sums of the
fitted points. Predictions and tables take it from here, so that they agree.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import operator
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._checks import checked_integer, checked_number
from riskslim._wording import percent
from riskslim.items.families import Family, Pattern, condition_families

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = [
    "AttainableScores",
    "Observations",
    "RiskRow",
    "RiskScale",
    "checked_extreme",
    "checked_max_rows",
    "logistic",
    "moved_rows",
    "risk_rows",
]

# Attainable scores are enumerated as a bit set of at most this length.
_MAX_SPAN = 2**20
# Entries of a risk table whose scores are chosen, not enumerated.
_MAX_CHOSEN = 20
# With fewer, a table has no room for scores between those with extreme risks.
_FEWEST_ROWS = 5
_SMALLEST_EXTREME = 1e-9
# Numbers of an entry, and comparisons as they read where scores are in the reverse order.
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_REVERSED = str.maketrans("<>", "><")


class RiskRow(NamedTuple):
    """One entry of a risk table.

    Attributes
    ----------
    score : str
        The score as printed: one number, several as "2 to 5", or "<= -4" and ">= 9" at the ends.
    risk : str
        The risk as printed, for example "11.9%", "11.9% to 50.0%", "<0.1%" or ">99.9%".
    lowest, highest : float
        The scores that the entry is for, both included, -inf and inf at open ends.
    n_samples : int, optional
        Rows of the data with such a score; None in a table without data.
    n_positive : int, optional
        How many of them have the positive label.
    observed : float, optional
        Share of the positive label among them, by weight where rows have weights. None without
        data, or without rows of positive weight.
    """

    score: str
    risk: str
    lowest: float
    highest: float
    n_samples: int | None = None
    n_positive: int | None = None
    observed: float | None = None


def logistic(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute 1 / (1 + exp(-z)) without overflow, accurate in both tails.

    Parameters
    ----------
    log_odds : ndarray of float64, shape (n,)

    Returns
    -------
    ndarray of float64, shape (n,)
    """
    small = np.exp(-np.abs(log_odds))
    return np.asarray(np.where(log_odds >= 0, 1.0, small) / (1.0 + small))


@dataclasses.dataclass(frozen=True)
class RiskScale:
    """The link from scores to risks.

    Parameters
    ----------
    intercept : int or float
        An integer unless the score is recalibrated.
    scale : float
    shift : int, default 0
        By how much scores exceed the sums of the fitted points, which the intercept is for.
    """

    intercept: float
    scale: float
    shift: int = 0

    @property
    def even(self) -> float:
        """The score with a risk of 50%."""
        return self.shift - self.intercept

    def score_of(self, risk: float) -> float:
        """The score with a risk between 0 and 1."""
        return self.even + self.scale * math.log(risk / (1.0 - risk))

    def log_odds(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log-odds of scores, of the same shape."""
        return self.log_odds_of_sums(scores - self.shift)

    def log_odds_of_sums(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log-odds of sums of the fitted points: the same bits, whatever the shift is."""
        # Beyond float64 the risk is 0 or 1. Division by a scale of 1 changes no bit.
        with np.errstate(over="ignore"):
            return np.asarray((self.intercept + sums) / self.scale)

    def printed(self, scores: Sequence[float], extreme: float) -> list[str]:
        """Risks of scores as printed."""
        risks = logistic(self.log_odds(np.array(scores, dtype=np.float64)))
        return [percent(risk, extreme) for risk in risks.tolist()]

    def span(self, extreme: float) -> tuple[float, float]:
        """Scores between which the risk is not extreme."""
        margin = self.scale * math.log((1.0 - extreme) / extreme)
        return self.even - margin, self.even + margin


@dataclasses.dataclass(frozen=True)
class Observations:
    """Rows with scores and labels.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        int64 or float64.
    is_positive : ndarray of bool, shape (n,)
    weights : ndarray of float64, shape (n,), optional
    """

    scores: NDArray[np.int64] | NDArray[np.float64]
    is_positive: NDArray[np.bool_]
    weights: NDArray[np.float64] | None = None

    @property
    def are_integers(self) -> bool:
        """True if all scores are integers."""
        return self.scores.dtype.kind == "i"

    @property
    def ends(self) -> tuple[float, float]:
        """Smallest and largest score."""
        return float(self.scores.min()), float(self.scores.max())

    def added_to(self, rows: list[RiskRow]) -> list[RiskRow]:
        """Entries with what was observed of the rows with their scores."""
        starts = np.array([row.lowest for row in rows])
        entry = np.searchsorted(starts, self.scores.astype(np.float64), side="right") - 1
        count = np.bincount(entry, minlength=len(rows)).tolist()
        positive = np.bincount(entry, self.is_positive, minlength=len(rows)).tolist()
        weight = np.bincount(entry, self.weights, minlength=len(rows)).tolist()
        weights = self.is_positive if self.weights is None else self.is_positive * self.weights
        positive_weight = np.bincount(entry, weights, minlength=len(rows)).tolist()
        return [
            row._replace(
                n_samples=count[k],
                n_positive=int(positive[k]),
                observed=positive_weight[k] / weight[k] if weight[k] > 0 else None,
            )
            for k, row in enumerate(rows)
        ]


@dataclasses.dataclass(frozen=True)
class AttainableScores:
    """The scores that the values of the features in the training data allow.

    Parameters
    ----------
    score : RiskScore
        Of which it may be stated what features are: conditions on one variable can contradict each
        other.
    shift : int, default 0
        By how much scores exceed the sums of the fitted points.
    """

    score: RiskScore
    shift: int = 0

    @property
    def ends(self) -> tuple[float, float]:
        """Smallest and largest score."""
        low = high = float(self.shift)
        for lowest, highest, _ in self._contributions():
            low, high = low + lowest, high + highest
        return low, high

    @property
    def are_integers(self) -> bool:
        """True if all scores are integers."""
        return all(values.is_integer for values in self.score.feature_ranges.values())

    def enumerated(self) -> NDArray[np.int64] | None:
        """All sums of points times a value; None if they are not enumerated.

        Bit k of a Python integer stands for the k-th integer from the smallest sum on; a feature
        shifts the set by each of its contributions.
        """
        low, high = self.ends
        if not high - low <= _MAX_SPAN:
            return None
        reached = 1
        for first, _, sums in self._contributions():
            if sums is None:
                return None
            shifted = 0
            for one in sums:
                shifted |= reached << (one - int(first))
            reached = shifted
        octets = np.frombuffer(
            reached.to_bytes(reached.bit_length() // 8 + 1, "little"), dtype=np.uint8
        )
        return np.flatnonzero(np.unpackbits(octets, bitorder="little")) + int(low)

    def _contributions(self) -> Iterator[tuple[float, float, set[int] | None]]:
        """Return what features add to the score: least, most, and all sums, if they are known.

        Conditions on one variable count as one feature: not all can hold together.
        """
        score = self.score
        for family in condition_families(score.points, score.feature_ranges, score.items):
            worth = [score.points[name] for name in family.names]
            sums = {sum(map(operator.mul, worth, pattern)) for pattern in self._patterns(family)}
            yield min(sums), max(sums), sums
        for name, points in score.points.items():
            known = score.feature_ranges[name]
            if not known.is_binary:
                ends = sorted((points * known.minimum, points * known.maximum))
                yield ends[0], ends[1], _multiples(points, known.values)

    def _patterns(self, family: Family) -> Iterable[Pattern]:
        """Return what can be true of conditions whose values are known, by the training data.

        Values that contradict each other do so in the training data as well: then all count.
        """
        values = [self.score.feature_ranges[name].values or () for name in family.names]
        known = [
            pattern
            for pattern in family.patterns
            if all(value in each for value, each in zip(pattern, values, strict=True))
        ]
        return known or itertools.product(*values)


def _multiples(points: int, values: tuple[int, ...] | None) -> set[int] | None:
    return None if values is None else {points * value for value in values}


def checked_extreme(extreme: float) -> float:
    """A risk from which on risks are printed as bounds; ``ValueError`` if it is none."""
    if not _SMALLEST_EXTREME <= checked_number(extreme, "extreme") < 0.5:
        raise ValueError(
            f"extreme must be a risk from {_SMALLEST_EXTREME:g} on and below 0.5, got {extreme!r}"
        )
    return float(extreme)


def checked_max_rows(max_rows: int | None) -> int | None:
    """A number of entries that leaves a table room; ``ValueError`` if it does not."""
    if max_rows is not None and checked_integer(max_rows, "max_rows") < _FEWEST_ROWS:
        raise ValueError(f"max_rows must be at least {_FEWEST_ROWS} or None, got {max_rows!r}")
    return max_rows


def risk_rows(
    attainable: AttainableScores,
    risks: RiskScale,
    *,
    extreme: float,
    max_rows: int | None = None,
    observations: Observations | None = None,
) -> tuple[RiskRow, ...]:
    """List the risks of scores.

    Parameters
    ----------
    attainable : AttainableScores
    risks : RiskScale
    extreme : float
        Scores with a risk below it share one entry, and so do those above 1 minus it.
    max_rows : int, optional
        Most entries.
    observations : Observations, optional
        Data for observed risks. Their scores have entries too, attainable or not.

    Returns
    -------
    tuple of RiskRow
        In order of the score.
    """
    totals = attainable.enumerated()
    if observations is None:
        if totals is None:
            return tuple(_at_grid(attainable, risks, extreme, max_rows))
        return tuple(_of_totals(totals.tolist(), risks, extreme, max_rows))
    if totals is not None and observations.are_integers:
        totals = np.union1d(totals, observations.scores)
        rows = _of_totals(totals.tolist(), risks, extreme, max_rows)
    else:
        rows = _of_intervals(attainable, risks, extreme, max_rows, observations)
    return tuple(observations.added_to(rows))


def moved_rows(rows: Iterable[RiskRow], factor: int, shift: int) -> tuple[RiskRow, ...]:
    """Write the entries of a risk table for scores times a factor plus a shift.

    Parameters
    ----------
    rows : iterable of RiskRow
        In order of the score.
    factor, shift : int
        A negative factor reverses the order.

    Returns
    -------
    tuple of RiskRow
        In order of what scores become. Risks and observations are as they were.

    Examples
    --------
    >>> from riskslim.score.table import RiskRow, moved_rows
    >>> rows = [RiskRow("0", "4.7%", 0, 0), RiskRow("1 to 2", "11.9% to 26.9%", 1, 2)]
    >>> [(row.score, row.risk) for row in moved_rows(rows, -10, 600)]
    [('580 to 590', '26.9% to 11.9%'), ('600', '4.7%')]
    """
    found = [_moved_row(row, factor, shift) for row in rows]
    return tuple(found if factor > 0 else reversed(found))


def _moved_row(row: RiskRow, factor: int, shift: int) -> RiskRow:
    ends = sorted(factor * end + shift for end in (row.lowest, row.highest))
    score = _NUMBER.sub(lambda found: f"{Decimal(found[0]) * factor + shift:f}", row.score)
    risk = row.risk
    if factor < 0:
        score = " to ".join(reversed(score.split(" to "))).translate(_REVERSED)
        risk = " to ".join(reversed(risk.split(" to ")))
    return row._replace(score=score, risk=risk, lowest=ends[0], highest=ends[1])


def _of_totals(
    totals: list[int], risks: RiskScale, extreme: float, max_rows: int | None
) -> list[RiskRow]:
    """Entries for scores, in groups where there are many."""
    rows = _with_shared_ends(_singles(list(map(str, totals)), risks, extreme), least=2)
    if max_rows is None or len(rows) <= max_rows:
        return rows
    first = math.isinf(rows[0].lowest)
    last = len(rows) - math.isinf(rows[-1].highest)
    room = max_rows - first - (len(rows) - last)
    return [*rows[:first], *_in_groups(rows[first:last], room), *rows[last:]]


def _singles(labels: list[str], risks: RiskScale, extreme: float) -> list[RiskRow]:
    printed = risks.printed([float(label) for label in labels], extreme)
    return [
        RiskRow(label, risk, float(label), float(label))
        for label, risk in zip(labels, printed, strict=True)
    ]


def _in_groups(rows: list[RiskRow], room: int) -> list[RiskRow]:
    """Merge entries whose scores lie between the same multiples of the least step that will do."""
    step = _nice_step((rows[-1].highest - rows[0].lowest + 1) / room)
    while len({math.floor(row.lowest / float(step)) for row in rows}) > room:
        step = _nice_step(float(step) * 1.1)
    groups: dict[int, list[RiskRow]] = {}
    for row in rows:
        groups.setdefault(math.floor(row.lowest / float(step)), []).append(row)
    return [_merged(group) for group in groups.values()]


def _merged(group: list[RiskRow]) -> RiskRow:
    first, last = group[0], group[-1]
    if first is last:
        return first
    return RiskRow(
        f"{first.score} to {last.score}",
        _between(first.risk, last.risk),
        first.lowest,
        last.highest,
    )


def _between(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _with_shared_ends(rows: list[RiskRow], *, least: int) -> list[RiskRow]:
    """One entry for all with the lowest risk that is printed, and one for the highest.

    These entries stand for everything beyond them. Fewer than ``least`` are left alone.
    """
    n_below = sum(row.risk.startswith("<") for row in rows)
    n_above = sum(row.risk.startswith(">") for row in rows)
    start, end = 0, len(rows)
    shared_below, shared_above = [], []
    if n_below >= least:
        start = n_below
        last = rows[start - 1]
        shared_below = [RiskRow(f"<= {last.score}", last.risk, -math.inf, last.highest)]
    if n_above >= least:
        end -= n_above
        first = rows[end]
        shared_above = [RiskRow(f">= {first.score}", first.risk, first.lowest, math.inf)]
    return [*shared_below, *rows[start:end], *shared_above]


def _at_grid(
    attainable: AttainableScores, risks: RiskScale, extreme: float, max_rows: int | None
) -> list[RiskRow]:
    """Entries for scores at equal steps where the risk is neither 0 nor 1."""
    low, high = attainable.ends
    start, end = _within(risks.span(extreme), low, high)
    step = _step(start, end, max_rows, whole=attainable.are_integers)
    # One step beyond where the risk gets extreme: the entry for all that lies further out.
    first = math.floor(start / float(step)) if start > low else math.ceil(start / float(step))
    last = math.ceil(end / float(step)) if end < high else math.floor(end / float(step))
    if last < first:  # less than a step wide
        first = last = round(start / float(step))
    labels = [f"{k * step:f}" for k in range(first, last + 1)]
    return _with_shared_ends(_singles(labels, risks, extreme), least=1)


def _within(span: tuple[float, float], low: float, high: float) -> tuple[float, float]:
    """Part of a span between two scores; one score if it lies beyond them."""
    return min(max(low, span[0]), high), max(min(high, span[1]), low)


def _step(start: float, end: float, max_rows: int | None, *, whole: bool) -> Decimal:
    step = _nice_step((end - start) / (min(max_rows or _MAX_CHOSEN, _MAX_CHOSEN) - 4))
    return max(step, Decimal(1)) if whole else step


def _of_intervals(
    attainable: AttainableScores,
    risks: RiskScale,
    extreme: float,
    max_rows: int | None,
    observations: Observations,
) -> list[RiskRow]:
    """Entries that leave no score between them, from one multiple of a step up to the next."""
    whole = attainable.are_integers and observations.are_integers
    low = min(attainable.ends[0], observations.ends[0])
    high = max(attainable.ends[1], observations.ends[1])
    start, end = _within(risks.span(extreme), low, high)
    step = _step(start, end, max_rows, whole=whole)
    first = math.floor(start / float(step))
    last = math.ceil(end / float(step)) if high > end else math.floor(end / float(step)) + 1
    edges = [f"{k * step:f}" for k in range(first, last + 1)]
    printed = risks.printed([float(edge) for edge in edges], extreme)
    # What lies beyond the outermost edges has an entry of its own, where there is any.
    below, above = low < float(edges[0]), high >= float(edges[-1])
    if below and len(edges) > 1 and printed[1].startswith("<"):
        edges, printed = edges[1:], printed[1:]
    if above and len(edges) > 1 and printed[-2].startswith(">"):
        edges, printed = edges[:-1], printed[:-1]
    rows = []
    if below:
        rows.append(_under(edges[0], printed[0], whole=whole))
    for edge, following in itertools.pairwise(edges):
        rows.append(_interval(edge, following, risks, extreme, whole=whole))
    if above:
        rows.append(
            RiskRow(f">= {edges[-1]}", f">{printed[-1].lstrip('>')}", float(edges[-1]), math.inf)
        )
    return rows


def _under(edge: str, printed: str, *, whole: bool) -> RiskRow:
    label = f"<= {int(edge) - 1}" if whole else f"< {edge}"
    return RiskRow(label, f"<{printed.lstrip('<')}", -math.inf, _last_below(edge, whole=whole))


def _interval(
    edge: str, following: str, risks: RiskScale, extreme: float, *, whole: bool
) -> RiskRow:
    highest = _last_below(following, whole=whole)
    label = _between(edge, str(int(highest)) if whole else following)
    low, high = risks.printed([float(edge), highest], extreme)
    return RiskRow(label, _between(low, high), float(edge), highest)


def _last_below(edge: str, *, whole: bool) -> float:
    """Largest score below an edge."""
    return float(int(edge) - 1) if whole else math.nextafter(float(edge), -math.inf)


def _nice_step(least: float) -> Decimal:
    """Smallest of 1, 2, 5, 10, 20, ... times a power of ten that is at least this."""
    if not least > 0:
        return Decimal(1)
    power = Decimal(10) ** math.floor(math.log10(least))
    # Without trailing zeros, because they would be printed.
    return next(step for k in (1, 2, 5, 10, 20) if (step := k * power) >= least).normalize()
