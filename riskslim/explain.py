r"""Why a record has the score that it has, and what a threshold on a score says in words.

A score over conditions that is compared with a threshold is a Boolean function of them, and
:func:`boolean_rule` writes it down (Ustun & Rudin 2019, section 6).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim.feature_ranges import (
    FeatureRange,
    checked_number,
    printed_range,
    short,
)
from riskslim.rendering import score_line
from riskslim.risk_table import RiskScale, logistic, percent
from riskslim.tables import (
    ColumnError,
    Table,
    check_present,
    listing,
    open_records,
    open_table,
    raise_faults,
)

__all__ = [
    "BooleanRule",
    "Change",
    "Contribution",
    "Explanation",
    "Literal",
    "boolean_rule",
    "explanation",
]

_EXTREME = 0.001
_HALF = "50%"


# ---------------------------------------------------------------------------------------------
# One record
# ---------------------------------------------------------------------------------------------


class Contribution(NamedTuple):
    """What an item adds to the score of a record.

    Attributes
    ----------
    feature : str
    value : int or float
        Value of the record.
    points : int
        Points per unit of the value.
    total : int or float
        Points times value.
    worth : str
        The points in words, as on the sheet: "2 points", "x 2 points per Hz".
    unit : str or None
        What the value counts.
    is_condition : bool
        Whether the value is 1 where a condition holds and 0 elsewhere.
    """

    feature: str
    value: float
    points: int
    total: float
    worth: str
    unit: str | None
    is_condition: bool


class Change(NamedTuple):
    """Another value of an item, and the score and risk that the record would have with it.

    Attributes
    ----------
    feature : str
    before, after : int or float
        Value of the record, and the other value.
    score : int or float
    risk : float
    unit : str or None
        What the values count.
    is_condition : bool
        Whether the values are 1 where a condition holds and 0 elsewhere.
    """

    feature: str
    before: float
    after: float
    score: float
    risk: float
    unit: str | None
    is_condition: bool


@dataclasses.dataclass(frozen=True)
class Explanation:
    """The score of one record, by item.

    Parameters
    ----------
    outcome : str
        What the risk is of: "stroke = 1".
    contributions : tuple of Contribution
        One for each item, those that move the score most first.
    score : int or float
        Their sum.
    risk : float
        As predicted.
    changes : tuple of Change
        Each item at another value, all others as they are: a condition the other way round, any
        other item at the ends of its values in the training data. Those that move the score most
        come first.
    target : str
        What ``fewest_changes`` reach: "a risk above 50%", "a score below 4".
    fewest_changes : tuple of Change or None
        As few items as possible that together reach the target, each with the score and risk once
        it and those before it are changed. None where no change of the items does.

    Notes
    -----
    Items change a score independently of each other. Of all sets of k items, the one with the
    k largest moves in the wanted direction moves the score furthest; so the first k for which these
    suffice is the least number of items.
    """

    outcome: str
    contributions: tuple[Contribution, ...]
    score: float
    risk: float
    changes: tuple[Change, ...]
    target: str
    fewest_changes: tuple[Change, ...] | None

    def __str__(self) -> str:
        lines = [
            f"Score {short(self.score)}: the risk of {self.outcome} is {_percent(self.risk)}.",
            "Points by item:",
        ]
        printed = [f"{one.total:+.10g}" for one in self.contributions]
        width = max(map(len, printed), default=0)
        for one, points in zip(self.contributions, printed, strict=True):
            value = _value_in_words(one.value, one)
            lines.append(f"  {points:>{width}}  {one.feature}: {value} ({one.worth})")
        if self.changes:
            lines.append("What would change it, all else equal:")
            lines += [
                f"  {_in_words(change)} (score {short(change.score)}, risk {_percent(change.risk)})"
                for change in self.changes
            ]
        lines.append(self._fewest_in_words())
        return "\n".join(lines)

    def _fewest_in_words(self) -> str:
        if self.fewest_changes is None:
            return f"No change of the items leads to {self.target}."
        last = self.fewest_changes[-1]
        return "\n".join(
            [
                f"Fewest changes that lead to {self.target} "
                f"(score {short(last.score)}, risk {_percent(last.risk)}):",
                *(f"  {_in_words(change)}" for change in self.fewest_changes),
            ]
        )


def _percent(risk: float) -> str:
    return percent(risk, _EXTREME)


def _value_in_words(value: float, item: Contribution | Change) -> str:
    if item.is_condition and value in (0, 1):
        return "yes" if value else "no"
    return short(value) if item.unit is None else f"{short(value)} {item.unit}"


def _in_words(change: Change) -> str:
    after, before = (_value_in_words(value, change) for value in (change.after, change.before))
    return f"{change.feature}: {after} in place of {before}"


def explanation(
    values: Mapping[str, float],
    score: float,
    *,
    points: Mapping[str, int],
    feature_ranges: Mapping[str, FeatureRange],
    risks: RiskScale,
    outcome: str,
    threshold: float | None,
) -> Explanation:
    """Explain the score of one record.

    Parameters
    ----------
    values : mapping from str to int or float
        Values of the features with points.
    score : int or float
    points : mapping from str to int
    feature_ranges : mapping from str to FeatureRange
    risks : RiskScale
    outcome : str
    threshold : float or None
        Changes are looked for that take the score across it; None for a risk of 50%.

    Returns
    -------
    Explanation
    """
    contributions = [
        Contribution(
            name,
            values[name],
            points[name],
            points[name] * values[name],
            score_line(name, points[name], feature_ranges[name]).worth,
            feature_ranges[name].unit,
            feature_ranges[name].is_binary,
        )
        for name in points
    ]

    def changed(name: str, after: float, before_score: float) -> Change:
        moved = before_score + points[name] * (after - values[name])
        known = feature_ranges[name]
        risk = _risk(moved, risks)
        return Change(name, values[name], after, moved, risk, known.unit, known.is_binary)

    changes = [
        changed(name, after, score)
        for name in points
        for after in _other_values(values[name], feature_ranges[name])
    ]
    target, is_reached, direction = _target(score, threshold, -risks.intercept)
    fewest: list[Change] = []
    reached = score
    for change in _best_moves(changes, score, direction):
        if is_reached(reached):
            break
        fewest.append(changed(change.feature, change.after, reached))
        reached = fewest[-1].score
    return Explanation(
        outcome=outcome,
        contributions=tuple(sorted(contributions, key=lambda one: -abs(one.total))),
        score=score,
        risk=_risk(score, risks),
        changes=tuple(sorted(changes, key=lambda change: -abs(change.score - score))),
        target=target,
        fewest_changes=tuple(fewest) if is_reached(reached) else None,
    )


def _risk(score: float, risks: RiskScale) -> float:
    return float(logistic(risks.log_odds(np.array([score], dtype=np.float64)))[0])


def _other_values(value: float, values: FeatureRange) -> list[float]:
    ends = [0, 1] if values.is_binary else [values.minimum, values.maximum]
    return [end for end in dict.fromkeys(ends) if end != value]


def _target(
    score: float, threshold: float | None, even: int
) -> tuple[str, Callable[[float], bool], int]:
    """The other side of the threshold: in words, as a check, and in which direction it lies."""
    if threshold is None:
        if score > even:
            return f"a risk of {_HALF} or less", lambda other: other <= even, -1
        return f"a risk above {_HALF}", lambda other: other > even, 1
    if score >= threshold:
        return f"a score below {short(threshold)}", lambda other: other < threshold, -1
    return f"a score of at least {short(threshold)}", lambda other: other >= threshold, 1


def _best_moves(changes: Sequence[Change], score: float, direction: int) -> list[Change]:
    """For each item the change that goes furthest in a direction, the furthest first."""
    best: dict[str, Change] = {}
    for change in changes:
        gain = direction * (change.score - score)
        known = best.get(change.feature)
        if gain > 0 and (known is None or gain > direction * (known.score - score)):
            best[change.feature] = change
    return sorted(best.values(), key=lambda change: -direction * (change.score - score))


# ---------------------------------------------------------------------------------------------
# One threshold
# ---------------------------------------------------------------------------------------------


class Literal(NamedTuple):
    """A condition, or that it does not hold.

    Attributes
    ----------
    feature : str
    is_true : bool
        False for the negation.
    """

    feature: str
    is_true: bool


@dataclasses.dataclass(frozen=True)
class BooleanRule:
    """A disjunction of conjunctions of conditions.

    Parameters
    ----------
    threshold : float
        The rule holds where the score is at least this.
    terms : tuple of tuples of Literal
        The rule holds where all literals of some term do: never without terms, always with an
        empty one.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> score = RiskScore(-3, {"A": 2, "B": 2, "C": 1, "D": 1})
    >>> print(score.boolean_rule(2))
    A OR B OR (C AND D)
    >>> score.boolean_rule(2).holds({"A": [0, 0], "B": [0, 0], "C": [1, 1], "D": [0, 1]})
    array([False,  True])
    """

    threshold: float
    terms: tuple[tuple[Literal, ...], ...]

    @property
    def features(self) -> tuple[str, ...]:
        """The conditions that matter, in the order in which they are first named."""
        return tuple(dict.fromkeys(one.feature for term in self.terms for one in term))

    def holds(self, X: Any) -> NDArray[np.bool_]:
        """Whether the rule holds in each row.

        Parameters
        ----------
        X : data frame, mapping, or list of mappings
            Anything with names that has the columns in ``features``, with values 0 and 1.

        Returns
        -------
        ndarray of bool, shape (n,)

        Raises
        ------
        ValueError, TypeError
            X has no names, a column is missing, or has other values than 0 and 1.
        """
        table = open_records(X, self.features, "features of the rule") or open_table(X)
        if table.names is None:
            raise ValueError("a rule needs columns with names: pass a data frame or a mapping")
        names = [str(name) for name in table.names]
        check_present(self.features, names, "features of the rule")
        values = {name: _condition(table, names.index(name), name) for name in self.features}
        holds = np.zeros(table.n_samples, dtype=np.bool_)
        for term in self.terms:
            in_term = np.ones_like(holds)
            for literal in term:
                in_term &= values[literal.feature] == literal.is_true
            holds |= in_term
        return holds

    def __str__(self) -> str:
        if not self.terms:
            return "NEVER"
        if not self.terms[0]:
            return "ALWAYS"
        return " OR ".join(_term_text(term, alone=len(self.terms) == 1) for term in self.terms)


def _term_text(term: tuple[Literal, ...], *, alone: bool) -> str:
    text = " AND ".join(
        literal.feature if literal.is_true else f"NOT {literal.feature}" for literal in term
    )
    return text if alone or len(term) == 1 else f"({text})"


def _condition(table: Table, position: int, name: str) -> NDArray[np.bool_]:
    try:
        values = table.column(position)
    except ColumnError as fault:
        raise_faults([(0, fault)], (name,), table.n_samples)
        raise
    wrong = ~np.isin(values, (0, 1))
    if wrong.any():
        raise ValueError(
            f"column {name!r} must have the values 0 and 1 only, but has others in "
            f"{np.count_nonzero(wrong)} of {len(values)} rows, first {values[wrong][0].item()!r} "
            f"at row {np.argmax(wrong)} (rows counted from 0)"
        )
    return values.astype(np.bool_)


def boolean_rule(
    points: Mapping[str, int],
    feature_ranges: Mapping[str, FeatureRange],
    threshold: float,
    *,
    max_terms: int,
) -> BooleanRule:
    r"""Write "the score is at least the threshold" as the minimal disjunctive normal form.

    Parameters
    ----------
    points : mapping from str to int
        Non-zero.
    feature_ranges : mapping from str to FeatureRange
    threshold : float
    max_terms : int

    Returns
    -------
    BooleanRule

    Raises
    ------
    ValueError
        Features that are not 0 or 1; a threshold that is not finite; more terms than
        ``max_terms``.

    Notes
    -----
    Let :math:`z_j = x_j` where the points :math:`\lambda_j` are positive and
    :math:`z_j = 1 - x_j` where they are negative. Then

    .. math::

        \sum_j \lambda_j x_j \ge T
        \quad\Longleftrightarrow\quad
        \sum_j w_j z_j \ge T', \qquad
        w_j = |\lambda_j| > 0, \quad T' = T + \sum_{\lambda_j < 0} |\lambda_j|,

    which is increasing in every z: the function is unate in x.

    *Prime implicants are minimal covers.* A conjunction implies an increasing function if and only
    if the function holds where the positive literals of the conjunction are 1 and everything else
    is 0. So dropping negated literals keeps an implicant, prime implicants have none, and they are
    the sets S with :math:`w(S) \ge T'` of which no proper subset has this.

    *They are found directly.* Take the items in order of decreasing weight. A set S is a minimal
    cover if and only if :math:`w(S) \ge T'` and :math:`w(S) - w_l < T'` for its last item l,
    whose weight is least. So every minimal cover is built in one way by adding items in
    order, stopping as soon as the sum reaches T'. Branches on which all remaining items do not
    suffice are left; every other leads to a cover, so that the work is at most the number of terms
    times the number of items squared.

    *All are needed, and nothing shorter will do.* Let :math:`1_S` be the assignment with
    :math:`z_j = 1` exactly for j in S. The function holds there, so that any disjunctive form
    has an implicant which holds there. It is contained in a prime implicant, which holds at
    :math:`1_S` as well; this is a subset of S and hence S itself. An implicant that served two
    prime implicants S and R would be contained in both, and have all of their literals, and not
    hold at :math:`1_S` unless R is a subset of S, hence S. So any equivalent form has at least as
    many terms as there are prime implicants, each with at least as many literals: the disjunction
    of all prime implicants is irredundant and the only minimal form.
    """
    wanted = checked_number(threshold, "threshold")
    _check_conditions(feature_ranges)
    # Scores are integers.
    needed = math.ceil(wanted) - sum(min(value, 0) for value in points.values())
    order = sorted(points, key=lambda name: -abs(points[name]))
    weights = [abs(points[name]) for name in order]
    position = {name: k for k, name in enumerate(points)}
    covers: list[list[int]] = []
    for cover in _minimal_covers(weights, needed):
        if len(covers) == max_terms:
            raise ValueError(
                f"the rule for a score of at least {short(wanted)} has more than {max_terms} "
                "terms: it is not readable. Choose a threshold closer to an end of the scores, "
                "fewer items, or a larger max_terms"
            )
        covers.append(sorted(position[order[k]] for k in cover))
    names = tuple(points)
    terms = tuple(
        tuple(Literal(names[k], points[names[k]] > 0) for k in cover)
        for cover in sorted(covers, key=lambda cover: (len(cover), cover))
    )
    return BooleanRule(wanted, terms)


def _check_conditions(feature_ranges: Mapping[str, FeatureRange]) -> None:
    others = [
        f"{name!r} [{printed_range(values)}]"
        for name, values in feature_ranges.items()
        if not values.is_binary
    ]
    if others:
        raise ValueError(
            f"a Boolean rule is about items that are 0 or 1, which these are not: "
            f"{listing(others)}. Learn the score on conditions such as 'age >= 60'"
        )


def _minimal_covers(weights: Sequence[int], needed: int) -> Iterable[tuple[int, ...]]:
    """Sets of positions whose weights reach a sum, and of which no proper subset does.

    Weights are positive and decreasing.
    """
    if needed <= 0:
        yield ()
        return
    # What all items from a position on add up to.
    rest = [0] * (len(weights) + 1)
    for k in range(len(weights) - 1, -1, -1):
        rest[k] = rest[k + 1] + weights[k]
    open_sets: list[tuple[tuple[int, ...], int, int]] = [((), 0, needed)]
    while open_sets:
        chosen, start, lacking = open_sets.pop()
        if rest[start] < lacking:
            continue
        open_sets.append((chosen, start + 1, lacking))
        if weights[start] >= lacking:
            yield (*chosen, start)
        else:
            open_sets.append(((*chosen, start), start + 1, lacking - weights[start]))
