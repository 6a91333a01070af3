r"""Explanations of the score of one record: its parts, and the changes that would matter.

A score over conditions that is compared with a threshold is a Boolean function of them, and
:func:`boolean_rule` writes it down (Ustun & Rudin 2019, section 6).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from riskslim._wording import listing, near, percent
from riskslim.data.feature_ranges import FeatureRange, short
from riskslim.items.families import Family, Pattern, condition_families
from riskslim.items.item import Item, variable_of
from riskslim.score.bands import says_nothing_is_known
from riskslim.score.link import link_of, prevalence_of
from riskslim.score.naming import outcome_text
from riskslim.score.operating_point import shown_threshold
from riskslim.score.reason_codes import Reason
from riskslim.score.record_words import RecordWords, ShownPoints
from riskslim.score.table import RiskScale, logistic
from riskslim.score.typesetting import one_line, score_line

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore
    from riskslim.score.layout import ShownBy

__all__ = ["Change", "Contribution", "Explanation", "explanation", "fixed_features"]

_EXTREME = 0.001
_HALF = "50%"
# Sums of as many changes that are compared to find the one that moves the score least.
_MOST_SUMS = 1000


# ---------------------------------------------------------------------------------------------
# One record
# ---------------------------------------------------------------------------------------------


class Contribution(NamedTuple):
    """The part of the score of a record that an item adds.

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
    along : tuple of (str, int)
        Other conditions on the same variable that change with it, with their other values:
        with "age >= 60" true, "age >= 40" is.
    text : str
        The same in the words of the sheet: "age: >= 60 in place of < 40".
    """

    feature: str
    before: float
    after: float
    score: float
    risk: float
    unit: str | None
    is_condition: bool
    along: tuple[tuple[str, int], ...] = ()
    text: str = ""


@dataclasses.dataclass(frozen=True)
class Explanation:
    """The score of one record, by item.

    It has the scores, the rows, the words and the points of the sheet: by variable, or with
    conditions turned round, where the ``layout`` of the score is such.

    Parameters
    ----------
    outcome : str
        What the risk is of: "stroke = 1".
    contributions : tuple of Contribution
        One for each item, with its fitted points, those that move the score most first.
    score : int or float
        As :meth:`RiskScore.score_samples` computes it, the total of the sheet.
    risk : float
        As predicted.
    changes : tuple of Change
        Each item at another value: a condition the other way round, any other item at the ends of
        its values in the training data. All others stay as they are, but for conditions on the same
        variable that would contradict it. Those that move the score most come first. Left out are
        those that leave the score as it is, where points of one variable cancel out, and those that
        leave the printed risk as it is, such as ">99.9%", unless they reach the target. Items that
        are fixed do not change, and no value becomes missing or a special one, which is no
        measurement; one that is missing may become known.
    target : str
        What ``fewest_changes`` reach: "a risk above 50%", "a score below 4".
    fewest_changes : tuple of Change or None
        As few variables as possible that together reach the target; among those, as few conditions
        as possible; among those, the ones that move the score least. Each has the score and risk
        once it and those before it are changed. None where no change of the items does.
    missing : tuple of str, default ()
        Raw columns in which the record has no value: their conditions, but "is missing", count as
        not met.
    reasons : tuple of Reason, default ()
        The variables that cost the record points against the best that a record can have, those
        that cost most first.
    reasons_against_average : tuple of Reason or None, default None
        The same against the points that rows have on average, where those are given.
    rows : tuple of ShownPoints, default ()
        What each row of the sheet adds to the score, those that add most first.
    by : {"item", "variable"}, default "item"
        What the rows are.
    missing_in_words : str, default ""
        Of ``missing``, how it counts; empty where nothing is missing.
    unstated : tuple of tuple of str, default ()
        Features that change here and are about one variable by their names alone: nothing states
        how they go together. A change of one leaves the others as they are, and may contradict
        them.
    unstated_in_words : tuple of str, default ()
        The same, a sentence for each variable.
    is_positive : bool or None, default None
        Whether the score is at least the threshold of the score's operating point; None where it
        has none.
    decision : str, default ""
        The same in words.

    Notes
    -----
    Variables change a score independently of each other. Of all sets of k variables, the one with
    the k largest moves in the wanted direction moves the score furthest; so the first k for which
    these suffice is the least number. Sets of k moves are then built up variable by variable, one
    for each number of conditions and each sum, of which the largest 1000 are kept: all there are,
    but for scores of many features that are no conditions.
    """

    outcome: str
    contributions: tuple[Contribution, ...]
    score: float
    risk: float
    changes: tuple[Change, ...]
    target: str
    fewest_changes: tuple[Change, ...] | None
    missing: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()
    reasons_against_average: tuple[Reason, ...] | None = None
    rows: tuple[ShownPoints, ...] = ()
    by: ShownBy = "item"
    missing_in_words: str = ""
    unstated: tuple[tuple[str, ...], ...] = ()
    unstated_in_words: tuple[str, ...] = ()
    is_positive: bool | None = None
    decision: str = ""

    def __str__(self) -> str:
        lines = [f"Score {short(self.score)}: the risk of {self.outcome} is {_percent(self.risk)}."]
        if self.decision:
            lines.append(self.decision)
        if self.rows:
            lines.append(f"Points by {self.by}:")
        printed = [f"{row.points:+.10g}" for row in self.rows]
        width = max(map(len, printed), default=0)
        lines += [
            f"  {points:>{width}}  {row}" for row, points in zip(self.rows, printed, strict=True)
        ]
        if self.missing_in_words:
            lines.append(self.missing_in_words)
        if self.reasons_against_average is not None:
            lines += [
                _ranked("Points above the least", self.reasons),
                _ranked("Points above the average", self.reasons_against_average),
            ]
        if self.changes:
            lines.append("What would change it, all else equal:")
            # Items of one variable may lead to the same band.
            lines += dict.fromkeys(
                f"  {change.text} ({_reached(change)})" for change in self.changes
            )
        elif self.contributions:
            lines.append("No change of one item alone changes the risk as printed.")
        lines += self._fewest_in_words()
        lines += self.unstated_in_words
        return "\n".join(map(one_line, lines))

    def records(self) -> list[dict[str, Any]]:
        """List the rows of the sheet as records, as a table of many explanations holds them.

        Returns
        -------
        list of dict
            One for each of ``rows``, with the keys ``item`` and ``value``, in words; ``points``, as
            on the sheet; ``reason``, the rank of its variable among ``reasons``, from 1 on, and
            ``cost``, what that reason costs; both None where the variable costs nothing. Items of
            one variable share its reason. With reasons against the average, also
            ``reason_against_average`` and ``cost_against_average``.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> explained = RiskScore(-3, {"smoker": 2, "exercise": -1}).explain([1, 1])
        >>> for record in explained.records():
        ...     print(*record.values())
        smoker yes 2 1 2
        exercise yes -1 None None
        """
        ranked = {"": self.reasons}
        if self.reasons_against_average is not None:
            ranked["_against_average"] = self.reasons_against_average
        found = []
        for row in self.rows:
            record: dict[str, Any] = {"item": row.item, "value": row.value, "points": row.points}
            for ending, reasons in ranked.items():
                record |= {f"reason{ending}": None, f"cost{ending}": None}
                for rank, reason in enumerate(reasons, 1):
                    if {*row.features} <= {*reason.features}:
                        record |= {f"reason{ending}": rank, f"cost{ending}": reason.cost}
            found.append(record)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values, as JSON holds them.

        Returns
        -------
        dict
            ``score`` and ``risk``, as predicted; ``positive`` of a score with an operating point;
            ``items``, the :meth:`records`; ``missing``, the
            raw columns without a value; ``reasons``, and ``reasons_against_average`` where there
            are some, each with ``variable``, ``condition``, ``points`` and ``cost``; ``changes``,
            each with ``change``, in words, and the ``score`` and ``risk`` that it leads to;
            ``target``, and ``fewest_changes`` that reach it, None where none does; ``unstated``,
            lists of features whose changes may contradict each other.

        Examples
        --------
        >>> from riskslim import RiskScore
        >>> explained = RiskScore(-3, {"smoker": 2}).explain([0])
        >>> change = explained.to_dict()["changes"][0]
        >>> change["change"], change["score"], round(change["risk"], 3)
        ('smoker: yes in place of no', 2, 0.269)
        """
        against, fewest = self.reasons_against_average, self.fewest_changes
        found: dict[str, Any] = {
            "score": self.score,
            "risk": self.risk,
            **({} if self.is_positive is None else {"positive": self.is_positive}),
            "items": self.records(),
            "missing": list(self.missing),
            "reasons": [_reason_values(one) for one in self.reasons],
        }
        if against is not None:
            found["reasons_against_average"] = [_reason_values(one) for one in against]
        return found | {
            "changes": _change_values(self.changes),
            "target": self.target,
            "fewest_changes": None if fewest is None else _change_values(fewest),
            "unstated": [list(names) for names in self.unstated],
        }

    def _fewest_in_words(self) -> list[str]:
        if self.fewest_changes is None:
            return [f"No change of the items leads to {self.target}."]
        reached = _reached(self.fewest_changes[-1])
        return [
            f"Fewest changes that lead to {self.target} ({reached}):",
            *(f"  {change.text}" for change in self.fewest_changes),
        ]


def _change_values(changes: Iterable[Change]) -> list[dict[str, Any]]:
    return [{"change": one.text, "score": one.score, "risk": one.risk} for one in changes]


def _reached(change: Change) -> str:
    return f"score {short(change.score)}, risk {_percent(change.risk)}"


def _reason_values(reason: Reason) -> dict[str, Any]:
    values = reason._asdict()
    del values["features"]
    return values


def _ranked(what: str, reasons: tuple[Reason, ...]) -> str:
    return f"{what}: {', '.join(map(str, reasons)) or 'none'}."


def _percent(risk: float) -> str:
    return percent(risk, _EXTREME)


def explanation(
    score: RiskScore,
    values: Mapping[str, float],
    sum_of_points: float,
    *,
    threshold: float | None,
    missing: tuple[str, ...] = (),
    fixed: Collection[str] = (),
    special: Mapping[str, Collection[float]] = MappingProxyType({}),
    measured: Collection[str] = (),
) -> Explanation:
    """Explain the score of one record.

    Parameters
    ----------
    score : RiskScore
    values : mapping from str to int or float
        Values of the features with points.
    sum_of_points : int or float
        Of its fitted points.
    threshold : float or None
        Changes are looked for that take the score across it; None for that of the score's
        operating point, else the share of rows with the outcome that the risks are for, or a risk
        of 50% where that is not known.
    missing : tuple of str, default ()
        Raw columns in which the record has no value.
    fixed : collection of str, default ()
        Features with points that cannot change.
    special : mapping from str to collection of float, optional
        Values of raw columns that are no measurements: no known one becomes one of these.
    measured : collection of str, default ()
        Raw columns in which the record has a number that is none of these.

    Returns
    -------
    Explanation
    """
    points, feature_ranges, items = score.points, score.feature_ranges, score.items
    link, words = link_of(score), RecordWords(score, values, measured)
    total = sum_of_points + link.shift

    def changed(name: str, after: Mapping[str, float], before: Mapping[str, float]) -> Change:
        moved = _sum(points, {**before, **after})
        known = feature_ranges[name]
        along = tuple((one, int(after[one])) for one in after if one != name)
        text = words.change({name: after[name], **dict(along)})
        return Change(
            name, values[name], after[name], moved + link.shift, _risk(moved, link), known.unit,
            known.is_binary, along, text,
        )  # fmt: skip

    stated = condition_families(points, feature_ranges, items)
    conditions = [_changeable(family, values, fixed, items, special) for family in stated]
    related = {name: family for family in conditions for name in family.names}
    changes = [
        changed(name, after, values)
        for name in points
        if name not in fixed
        for end in _other_values(values[name], feature_ranges[name])
        for after in _with_relatives(name, end, values, related.get(name))
    ]
    risk = _risk(sum_of_points, link)
    limit = shown_threshold(score)
    if threshold is None:
        threshold = limit
    is_positive = None if limit is None else bool(total >= limit)
    target, is_reached, direction = _target(total, threshold, link, prevalence_of(score))
    moves = [
        changed(max(after, key=lambda one: abs(points[one])), after, values)
        for family in conditions
        for after in _other_patterns(family, values)
    ]
    moves += [change for change in changes if not change.is_condition]
    variable = {name: family.names[0] for name, family in related.items()}
    fewest: list[Change] = []
    reached, present = total, dict(values)
    for change in _fewest_moves(
        moves,
        variable,
        lambda one: direction * _gain(one, points, values),
        lambda after: is_reached(_sum(points, {**values, **after}) + link.shift),
    ):
        after = _afterwards(change)
        fewest.append(changed(change.feature, after, present))
        reached, present = fewest[-1].score, {**present, **after}
    shown = tuple(
        one
        for one in sorted(changes, key=lambda change: -abs(change.score - total))
        if one.score != total and (_percent(one.risk) != _percent(risk) or is_reached(one.score))
    )
    unstated = _unstated(points, items, stated, {one.feature for one in (*shown, *fewest)})
    return Explanation(
        outcome=outcome_text(score),
        contributions=_contributions(score, values),
        score=total,
        risk=risk,
        changes=shown,
        target=target,
        fewest_changes=tuple(fewest) if is_reached(reached) else None,
        missing=missing,
        rows=words.rows(),
        by=words.by,
        missing_in_words=words.missing(missing) if missing else "",
        unstated=unstated,
        unstated_in_words=tuple(map(words.unstated, unstated)),
        is_positive=is_positive,
        decision="" if limit is None else _decision(total, limit),
    )


def _decision(total: float, limit: float) -> str:
    shown = short(limit)
    if total >= limit:
        return f"Positive: the score is {shown} or more."
    return f"Negative: the score is below {shown}."


def _contributions(score: RiskScore, values: Mapping[str, float]) -> tuple[Contribution, ...]:
    found = []
    for name, points in score.points.items():
        value, known = values[name], score.feature_ranges[name]
        worth = score_line(name, points, known).worth
        found.append(
            Contribution(name, value, points, points * value, worth, known.unit, known.is_binary)
        )
    return tuple(sorted(found, key=lambda one: -abs(one.total)))


def _unstated(
    points: Iterable[str],
    items: Mapping[str, Item],
    families: Iterable[Family],
    changed: set[str],
) -> tuple[tuple[str, ...], ...]:
    """Features that change, and others that their names say are about the same variable.

    Where what is stated puts all of them together, their changes go together.
    """
    together = {name: family.names for family in families for name in family.names}
    by_variable: dict[str, list[str]] = {}
    for name in points:
        by_variable.setdefault(variable_of(name, items), []).append(name)
    return tuple(
        tuple(names)
        for names in by_variable.values()
        if len({together.get(name, (name,)) for name in names}) > 1
        and not changed.isdisjoint(names)
    )


def fixed_features(score: RiskScore, fixed: Sequence[str]) -> frozenset[str]:
    """Features with points that cannot change, by their names or those of their variables.

    Parameters
    ----------
    score : RiskScore
        The variables of features of which nothing is stated are read from their names.
    fixed : sequence of str
        Features without points, and raw columns, may be named as well.

    Returns
    -------
    frozenset of str

    Raises
    ------
    ValueError
        A name that is none of a feature or variable; text in place of a sequence of names.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> from riskslim.score.explanation import fixed_features
    >>> score = RiskScore(-3, {"age >= 40": 1, "smoker": 1, "age >= 60": 1})
    >>> sorted(fixed_features(score, ["age"]))
    ['age >= 40', 'age >= 60']
    """
    if isinstance(fixed, str):
        raise ValueError(f"fixed must be a sequence of names, got the text {fixed!r}")
    known = (*score.points, *score.feature_names, *score.variables)
    names = dict.fromkeys([*known, *(variable_of(name, score.items) for name in known)])
    unknown = [name for name in fixed if name not in names]
    if unknown:
        named = listing(repr(name) + near(name, names) for name in unknown)
        raise ValueError(f"fixed names what the score does not have: {named}.")
    wanted = set(fixed)
    return frozenset(
        name for name in score.points if {name, variable_of(name, score.items)} & wanted
    )


def _sum(points: Mapping[str, int], values: Mapping[str, float]) -> float:
    """The same products, added in the same order in float64, as in predictions."""
    total = 0.0
    for name, worth in points.items():
        total += worth * float(values[name])
    is_integer = all(float(values[name]).is_integer() for name in points)
    return int(total) if is_integer and abs(total) < 2.0**53 else total


def _risk(sum_of_points: float, link: RiskScale) -> float:
    log_odds = link.log_odds_of_sums(np.array([sum_of_points], dtype=np.float64))
    return float(logistic(log_odds)[0])


def _other_values(value: float, values: FeatureRange) -> list[float]:
    ends = [0, 1] if values.is_binary else [values.minimum, values.maximum]
    return [end for end in dict.fromkeys(ends) if end != value]


def _changeable(
    family: Family,
    values: Mapping[str, float],
    fixed: Collection[str],
    items: Mapping[str, Item],
    special: Mapping[str, Collection[float]],
) -> Family:
    """Say what conditions can become: fixed ones stay, and nobody loses what is known."""
    kept = {name: values[name] for name in family.names if name in fixed}
    for name in family.names:
        item = items.get(name)
        if values[name] or item is None:
            continue
        if says_nothing_is_known(item, special.get(item.variable, ())):
            kept[name] = 0
    patterns = tuple(
        pattern
        for pattern in family.patterns
        if kept.items() <= dict(zip(family.names, pattern, strict=True)).items()
    )
    return Family(family.names, patterns)


def _with_relatives(
    name: str, after: float, values: Mapping[str, float], family: Family | None
) -> list[dict[str, float]]:
    """Another value of an item, and of as few conditions on the same variable as it takes.

    None if the conditions do not allow for it.
    """
    if family is None:
        return [{name: after}]
    position = family.names.index(name)
    possible = [
        changes
        for pattern in family.patterns
        if pattern[position] == after
        for changes in [_differences(family, pattern, values)]
    ]
    fewest = min(possible, key=len, default=None)
    return [] if fewest is None else [{name: after, **fewest}]


def _other_patterns(family: Family, values: Mapping[str, float]) -> list[dict[str, float]]:
    """Return what else can be true of conditions on one variable: the fewest changes first."""
    changes = [_differences(family, pattern, values) for pattern in family.patterns]
    return sorted(filter(None, changes), key=len)


def _differences(family: Family, pattern: Pattern, values: Mapping[str, float]) -> dict[str, float]:
    return {
        name: value
        for name, value in zip(family.names, pattern, strict=True)
        if value != values[name]
    }


def _mean_risk(prevalence: float) -> str:
    return f"{percent(prevalence, _EXTREME)} (the mean)"


def _target(
    score: float, threshold: float | None, link: RiskScale, prevalence: float | None
) -> tuple[str, Callable[[float], bool], int]:
    """The other side of the threshold: in words, as a check, and in which direction it lies."""
    if threshold is None:
        usual, mean = (0.5, _HALF) if prevalence is None else (prevalence, _mean_risk(prevalence))
        level = link.score_of(usual)
        if score > level:
            return f"a risk of {mean} or less", lambda other: other <= level, -1
        return f"a risk above {mean}", lambda other: other > level, 1
    shown = short(threshold)
    if score >= threshold:
        return f"a score below {shown}", lambda other: other < threshold, -1
    return f"a score of at least {shown}", lambda other: other >= threshold, 1


def _afterwards(change: Change) -> dict[str, float]:
    return {change.feature: change.after, **dict(change.along)}


def _gain(change: Change, points: Mapping[str, int], values: Mapping[str, float]) -> Fraction:
    """Return what a change adds, not hidden by rounding where other items add much more."""
    return sum(
        (
            points[name] * (Fraction(after) - Fraction(values[name]))
            for name, after in _afterwards(change).items()
        ),
        Fraction(0),
    )


def _fewest_moves(
    moves: Sequence[Change],
    variable: Mapping[str, str],
    gain: Callable[[Change], Fraction],
    is_reached: Callable[[Mapping[str, float]], bool],
) -> list[Change]:
    """Changes of as few variables as it takes, then of few conditions, that move the score least.

    If none suffice, all that go in the right direction. The largest come first.
    """
    by_variable: dict[str, list[Change]] = {}
    for change in moves:
        if gain(change) > 0:
            name = variable.get(change.feature, change.feature)
            by_variable.setdefault(name, []).append(change)
    choices = sorted(by_variable.values(), key=lambda one: -max(map(gain, one)))
    furthest = [max(choice, key=gain) for choice in choices]
    n_needed = next(
        (k for k in range(len(furthest) + 1) if is_reached(_together(furthest[:k]))), None
    )
    if n_needed is None:
        return furthest
    sums = _sums_of_moves(choices, gain, n_needed)
    for n_items, total in sorted(sums):
        if is_reached(_together(sums[n_items, total])):
            return sorted(sums[n_items, total], key=lambda change: -gain(change))
    return furthest[:n_needed]


def _together(changes: Iterable[Change]) -> dict[str, float]:
    return {name: after for change in changes for name, after in _afterwards(change).items()}


def _sums_of_moves(
    choices: Sequence[Sequence[Change]], gain: Callable[[Change], Fraction], n_moves: int
) -> dict[tuple[int, Fraction], tuple[Change, ...]]:
    """Sets of so many moves of different variables, by their number of items and their sum."""
    found: list[dict[tuple[int, Fraction], tuple[Change, ...]]] = [{} for _ in range(n_moves + 1)]
    found[0] = {(0, Fraction(0)): ()}
    for choice in choices:
        for k in reversed(range(n_moves)):
            for (n_items, total), chosen in found[k].items():
                for change in choice:
                    key = (n_items + 1 + len(change.along), total + gain(change))
                    found[k + 1].setdefault(key, (*chosen, change))
        for k, sums in enumerate(found):
            kept = sorted(sums, key=lambda key: -key[1])[:_MOST_SUMS]
            found[k] = {key: sums[key] for key in kept}
    return found[n_moves]
