"""A threshold on a score as a minimal Boolean rule (section 6)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riskslim._checks import checked_integer, checked_number
from riskslim._wording import listing
from riskslim.data.faults import ColumnError, raise_faults
from riskslim.data.feature_ranges import FeatureRange, printed_range, short
from riskslim.data.tables import Table, check_present, open_records, open_table
from riskslim.items.families import Family, families
from riskslim.score.lines import shift_of
from riskslim.score.operating_point import shown_threshold

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = ["BooleanRule", "Literal", "boolean_rule"]


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
        """True if the rule holds in each row.

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
        table = open_records(X, self.features, "features of the rule")
        table = table or open_table(X, may_be_empty=True)
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


def boolean_rule(score: RiskScore, threshold: float | None, *, max_terms: int) -> BooleanRule:
    r"""Write "the score is at least the threshold" as the minimal disjunctive normal form.

    Parameters
    ----------
    score : RiskScore
    threshold : float or None
        None for that of the score's operating point.
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
    Conditions on one variable v form a family with a set :math:`P_v` of patterns, the values that
    they can have together (:func:`~riskslim.items.families.families`); a condition on its own has
    the patterns 0 and 1. A score is a sum :math:`\sum_v c_v(p_v)`, and a conjunction of literals is
    a product of cubes: for each family the patterns on which its literals hold.

    *Implicants.* The rule holds everywhere in a product of cubes :math:`K_v` if and only if

    .. math::

        \sum_v \min_{p \in K_v} c_v(p) \ge T.

    Let :math:`K_v^m(p)` be the largest cube that contains p and on which :math:`c_v \ge m`. There
    is one for all m and p if the family is a single condition, thresholds in one direction,
    which cut a line into intervals, or levels of which at most one holds. Prime implicants
    are products of such cubes in which no cube can be replaced by the next larger one,
    :math:`K_v^{m'}(p)` with :math:`m' < m`, without falling below T. (A family without this
    property is taken apart, and its parts count as unrelated. Then the form is minimal among those
    that are right about contradictions between the parts as well; terms that never hold, or only
    where another does, are left out of it.)

    *All are needed, and nothing shorter will do.* Let p be the record with the least :math:`c_v` in
    every cube of a prime implicant S, and let R be a prime implicant that holds at p. Its
    cubes have minima :math:`m_v(R) \le c_v(p_v) = m_v(S)`, so that
    :math:`K_v^{m_v(R)}(p_v) \supseteq K_v^{m_v(S)}(p_v)`: R contains S, hence is S. The rule holds
    at p, and every implicant that holds there is contained in S alone of all prime ones. So any
    equivalent form has at least as many terms as there are prime implicants, and the disjunction
    of these is the only form with so few whose terms are prime.
    """
    if threshold is None:
        threshold = shown_threshold(score)
        if threshold is None:
            raise ValueError(
                "threshold must be a score from which on the rule holds: this risk score has no "
                "operating point"
            )
    wanted = checked_number(threshold, "threshold")
    if checked_integer(max_terms, "max_terms") < 1:
        raise ValueError(f"max_terms must be at least 1, got {max_terms!r}")
    _check_conditions(score.feature_ranges)
    points = score.points
    whole = families(points, score.items)
    parts = [part for family in whole for part in _with_largest_cubes(points, family)]
    # Scores are integers, and exceed the sums of the points by the shift.
    needed = (
        math.ceil(wanted) - shift_of(score) - sum(min(_sums(points, family)) for family, _ in parts)
    )
    terms: list[tuple[Literal, ...]] = []
    for cubes in _prime_implicants([cubes for _, cubes in parts], needed):
        if len(terms) == max_terms:
            raise ValueError(
                f"the rule for a score of at least {short(wanted)} has more than {max_terms} "
                "terms: it is not readable. Choose a threshold closer to an end of the scores, "
                "fewer items, or a larger max_terms"
            )
        terms.append(tuple(literal for cube in cubes for literal in cube.literals))
    if len(parts) > len(whole):
        terms = _without_contradictions(terms, whole)
    position = {name: k for k, name in enumerate(points)}

    def place(literal: Literal) -> tuple[int, bool]:
        return position[literal.feature], not literal.is_true

    terms = [tuple(sorted(term, key=place)) for term in terms]
    return BooleanRule(
        wanted, tuple(sorted(terms, key=lambda term: (len(term), [*map(place, term)])))
    )


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


class _Cube(NamedTuple):
    """Patterns of a family, as the literals that hold on them.

    Compared with the least that the family adds to a score, its patterns add ``weight`` at
    least, and those of the next larger cube ``drop`` less.
    """

    literals: tuple[Literal, ...]
    weight: int
    drop: int


def _sums(points: Mapping[str, int], family: Family) -> list[int]:
    """Return what each pattern of a family adds to the score."""
    return [
        sum(points[name] * value for name, value in zip(family.names, pattern, strict=True))
        for pattern in family.patterns
    ]


def _literals(family: Family) -> dict[Literal, int]:
    """The literals of a family, with the patterns on which each holds as bits."""
    return {
        Literal(name, is_true): sum(
            1 << i for i, pattern in enumerate(family.patterns) if pattern[k] == is_true
        )
        for k, name in enumerate(family.names)
        for is_true in (True, False)
    }


def _with_largest_cubes(
    points: Mapping[str, int], family: Family
) -> list[tuple[Family, list[_Cube]]]:
    """A family with its cubes; parts of it, if some pattern has no largest one."""
    cubes = _largest_cubes(points, family)
    if cubes is not None:
        return [(family, cubes)]
    parts: list[tuple[Family, list[_Cube]]] = []
    for name in family.names:
        for k, (part, _) in enumerate(parts):
            joined = family.restricted([*part.names, name])
            cubes = _largest_cubes(points, joined)
            if cubes is not None:
                parts[k] = (joined, cubes)
                break
        else:
            parts += _with_largest_cubes(points, family.restricted([name]))
    return parts


def _largest_cubes(points: Mapping[str, int], family: Family) -> list[_Cube] | None:
    """The largest cube at every level around every pattern, but for the one that has all."""
    sums = _sums(points, family)
    literals = _literals(family)
    n_patterns = len(sums)

    def closure(patterns: int) -> int:
        """The least cube with these patterns."""
        cube = (1 << n_patterns) - 1
        for mask in literals.values():
            if not patterns & ~mask:
                cube &= mask
        return cube

    pairs = [[closure(1 << i | 1 << j) for j in range(n_patterns)] for i in range(n_patterns)]
    found: dict[int, _Cube] = {}
    for i in range(n_patterns):
        larger = min(sums)
        for level in sorted({one for one in sums if one <= sums[i]}):
            below = sum(1 << j for j, one in enumerate(sums) if one < level)
            union = 0
            for cube in pairs[i]:
                if not cube & below:
                    union |= cube
            cube = closure(union)
            if cube & below:
                return None
            weight = min(one for j, one in enumerate(sums) if cube >> j & 1)
            if weight > larger:
                chosen = _defining(cube, literals)
                found[cube] = _Cube(chosen, weight - min(sums), weight - larger)
                larger = weight
    return list(found.values())


def _defining(cube: int, literals: Mapping[Literal, int]) -> tuple[Literal, ...]:
    """Literals none of which can be left out, that hold together on a cube and nowhere else."""
    chosen = [literal for literal, mask in literals.items() if not cube & ~mask]
    # Those that say least are the first to go.
    for literal in sorted(chosen, key=lambda one: -literals[one].bit_count()):
        others = [one for one in chosen if one != literal]
        common = -1
        for one in others:
            common &= literals[one]
        if others and common == cube:
            chosen = others
    return tuple(chosen)


def _without_contradictions(
    terms: Sequence[tuple[Literal, ...]], whole: Sequence[Family]
) -> list[tuple[Literal, ...]]:
    """The terms that can hold, and not only where others do, in as few literals as it takes."""
    masks = [_literals(family) for family in whole]
    products: dict[tuple[int, ...], None] = {}
    for term in terms:
        product = []
        for family, known in zip(whole, masks, strict=True):
            cube = (1 << len(family.patterns)) - 1
            for literal in term:
                cube &= known.get(literal, -1)
            product.append(cube)
        if all(product):
            products[tuple(product)] = None

    def is_within(product: tuple[int, ...], other: tuple[int, ...]) -> bool:
        return all(not a & ~b for a, b in zip(product, other, strict=True))

    return [
        tuple(
            literal
            for cube, known in zip(product, masks, strict=True)
            for literal in _defining(cube, known)
        )
        for product in products
        if not any(is_within(product, other) for other in products if other != product)
    ]


def _prime_implicants(
    families_of_cubes: Iterable[list[_Cube]], needed: int
) -> Iterator[tuple[_Cube, ...]]:
    """Sets of cubes, one of a family at most, whose weights reach a sum, but only just.

    No cube can be replaced by the next larger one. A set of single conditions that reaches the sum
    with its last cube, of least weight, is one; so no path is followed in vain among these.
    """
    if needed <= 0:
        yield ()
        return
    choices = sorted(
        (cubes for cubes in families_of_cubes if cubes),
        key=lambda cubes: (
            -min(cube.drop for cube in cubes),
            -max(cube.weight for cube in cubes),
        ),
    )
    # What all families from a position on add up to at most.
    rest = [0]
    for cubes in reversed(choices):
        rest.append(rest[-1] + max(cube.weight for cube in cubes))
    rest.reverse()
    open_sets: list[tuple[tuple[_Cube, ...], int, int]] = [((), 0, needed)]
    while open_sets:
        chosen, start, lacking = open_sets.pop()
        if rest[start] < lacking:
            continue
        open_sets.append((chosen, start + 1, lacking))
        for cube in choices[start]:
            extended = (*chosen, cube)
            if cube.weight < lacking:
                open_sets.append((extended, start + 1, lacking - cube.weight))
            elif all(cube.weight - lacking < one.drop for one in extended):
                yield extended
