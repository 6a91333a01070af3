"""The section on alternatives: other sets of items that are as good, and how they differ.

The figures are those of :func:`riskslim.alternatives` and of what was measured of its scores:
nothing is searched for and nothing is measured here.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from riskslim.metrics.performance import metric_text
from riskslim.report.cells import Cell, ReportTable, finite_or_none
from riskslim.report.matrix import Column, Strip, matrix
from riskslim.report.multiplicity import (
    agreement_diagram,
    agreement_tables,
    price_diagrams,
    price_tables,
    stability_tables,
)
from riskslim.report.svg import Diagram
from riskslim.score.typesetting import typeset
from riskslim.solution import percent

if TYPE_CHECKING:
    from riskslim.near_optimal.alternatives import Alternatives
    from riskslim.risk_score import RiskScore

__all__ = ["CRITERIA", "AlternativesSection", "alternatives_section", "check_alternatives"]

# Scores on a page, and rows of its picture: more can neither be seen nor compared.
MOST_SCORES, MOST_ITEMS = 500, 60
# Second criteria that a page shows, with their headings.
CRITERIA = {
    "auc": "AUC", "cal": "CAL", "sensitivity_gap": "sensitivity gap",
    "specificity_gap": "specificity gap",
}  # fmt: skip
# Shares that differ by less are printed alike.
_PRINTED = 5e-5


def check_alternatives(score: RiskScore, alternatives: Any) -> None:
    """Refuse alternatives of something else.

    Parameters
    ----------
    score : RiskScore
    alternatives : Alternatives

    Raises
    ------
    TypeError, ValueError
        These are no alternatives, there are none, or they are about other features.
    """
    if not hasattr(alternatives, "variable_prices"):  # as Alternatives have, which are above here
        raise TypeError(
            "alternatives must be what riskslim.alternatives returns, got "
            f"{type(alternatives).__name__}"
        )
    names = tuple(alternatives.solution.feature_names)
    if not alternatives.solution.pool:
        raise ValueError("there are no alternatives: no risk score was found")
    if names != tuple(score.feature_names):
        raise ValueError(
            f"the alternatives are about {len(names)} features that are not the "
            f"{len(score.feature_names)} features that the score was chosen from"
        )


@dataclasses.dataclass(frozen=True, eq=False)
class Listing:
    """The scores that a page shows, by numbers of the items that any of them has.

    Parameters
    ----------
    items : tuple of str
        Those of a variable side by side, variables that most scores have first.
    variables : tuple of str
        The variable of each item.
    points : tuple of mappings from int to int
        Of each score the points by item.
    above : tuple of float
        By which share of the best objective that of each score is larger.
    least : tuple of float
        The same of the lower bound on all scores of its set.
    figures : mapping from (str, str) to tuple of float
        Second criteria by what rows are called and name, of each score; NaN where not defined.
    n_all : int
        Scores of the whole list.
    this : int or None
        Rank of the score that the report is about.
    """

    items: tuple[str, ...]
    variables: tuple[str, ...]
    points: tuple[Mapping[int, int], ...]
    above: tuple[float, ...]
    least: tuple[float, ...]
    figures: Mapping[tuple[str, str], tuple[float, ...]]
    n_all: int
    this: int | None

    @classmethod
    def of(cls, score: RiskScore, alternatives: Alternatives) -> Listing:
        """Take from alternatives what a page shows.

        Parameters
        ----------
        score : RiskScore
            That the report is about.
        alternatives : Alternatives

        Returns
        -------
        Listing
        """
        pool = alternatives.pool
        ranks = range(min(len(pool), MOST_SCORES))
        features = {name: k for k, name in enumerate(pool.feature_names)}
        points = [pool.points(rank) for rank in ranks]
        variable = dict(zip(pool.feature_names, alternatives.variables, strict=True))
        asked = Counter(name for one in points for name in {variable[item] for item in one})
        first: dict[str, int] = {}
        for name in pool.feature_names:
            first.setdefault(variable[name], features[name])
        used = {item for one in points for item in one}
        items = sorted(
            used, key=lambda one: (-asked[variable[one]], first[variable[one]], features[one])
        )
        number = {name: k for k, name in enumerate(items)}
        best, bounds = alternatives.objective(0), pool.lower_bounds
        above = [max(alternatives.share(rank), 0.0) for rank in ranks]
        least = above if bounds is None else [max(float(bounds[k]) / best - 1, 0) for k in ranks]
        return cls(
            tuple(items),
            tuple(variable[name] for name in items),
            tuple({number[name]: worth for name, worth in one.items()} for one in points),
            tuple(above),
            tuple(least),
            _figures(alternatives, len(ranks)),
            len(pool),
            next((rank for rank in ranks if _is_listed(score, alternatives, rank)), None),
        )

    def __len__(self) -> int:
        return len(self.points)

    def variables_of(self, rank: int) -> tuple[str, ...]:
        """Variables that a score asks for, in the order of the items."""
        return tuple(dict.fromkeys(self.variables[k] for k in sorted(self.points[rank])))

    @functools.cached_property
    def counts(self) -> Counter[int]:
        """Scores that have each item."""
        return Counter(item for points in self.points for item in points)

    def points_text(self, rank: int) -> str:
        """Items of a score with their points."""
        points = self.points[rank]
        texts = (f"{self.items[k]} ({typeset(str(points[k]))})" for k in sorted(points))
        return ", ".join(texts) or "none"


def _figures(alternatives: Alternatives, n_shown: int) -> dict[tuple[str, str], tuple[float, ...]]:
    """The AUC on all rows, and what else there is on those that say most: the last ones."""
    found = {}
    for measured in alternatives.measures:
        is_last = measured is alternatives.measures[-1]
        for name in CRITERIA if is_last else ("auc",):
            values = tuple(map(float, getattr(measured, name)[:n_shown]))
            if not all(map(math.isnan, values)):
                found[measured.rows, name] = values
    return found


def _is_listed(score: RiskScore, alternatives: Alternatives, rank: int) -> bool:
    pool = alternatives.pool
    listed = (pool.points(rank), pool.intercept(rank), pool.scale(rank))
    return listed == (dict(score.points), score.intercept, score.scale)


class AlternativesSection(NamedTuple):
    """The section as a page has it.

    Attributes
    ----------
    summary : str
        What the list has, and what it may lack.
    picture : Diagram
        Items by scores.
    table : ReportTable
        A row for each score.
    by_variables : ReportTable or None
        A row for each set of variables; None where each has one score.
    items, variables : sequence of (str, int)
        What filters ask for, and how many of the scores have it. No items where each variable has
        one.
    sizes : sequence of int
        Numbers of variables that scores have.
    prices, agreement, stability : sequence of ReportTable
        Empty where they were not computed.
    price_diagrams : sequence of Diagram
    agreement_diagram : Diagram or None
    constants : mapping from str to object
        What the filters know, by the names of constants.
    """

    summary: str
    picture: Diagram
    table: ReportTable
    by_variables: ReportTable | None
    items: Sequence[tuple[str, int]]
    variables: Sequence[tuple[str, int]]
    sizes: Sequence[int]
    prices: Sequence[ReportTable]
    agreement: Sequence[ReportTable]
    stability: Sequence[ReportTable]
    price_diagrams: Sequence[Diagram]
    agreement_diagram: Diagram | None
    constants: Mapping[str, Any]


def alternatives_section(score: RiskScore, alternatives: Alternatives) -> AlternativesSection:
    """Make the section on alternatives.

    Parameters
    ----------
    score : RiskScore
        That the report is about.
    alternatives : Alternatives

    Returns
    -------
    AlternativesSection

    Raises
    ------
    TypeError, ValueError
        As :func:`check_alternatives`.
    """
    check_alternatives(score, alternatives)
    listing = Listing.of(score, alternatives)
    asked = Counter(name for rank in range(len(listing)) for name in listing.variables_of(rank))
    variables = [*dict.fromkeys(listing.variables)]
    has_cutoffs = len(variables) < len(listing.items)
    return AlternativesSection(
        summary=_summary(listing, alternatives),
        picture=_picture(listing),
        table=_table(listing, alternatives),
        by_variables=_by_variables(listing, alternatives) if has_cutoffs else None,
        items=[(name, listing.counts[k]) for k, name in enumerate(listing.items)]
        if has_cutoffs
        else [],
        variables=[(name, asked[name]) for name in variables],
        sizes=sorted({len(listing.variables_of(rank)) for rank in range(len(listing))}),
        prices=price_tables(alternatives),
        agreement=agreement_tables(alternatives),
        stability=stability_tables(alternatives),
        price_diagrams=price_diagrams(alternatives),
        agreement_diagram=agreement_diagram(alternatives),
        constants=_constants(listing, alternatives, variables),
    )


def _summary(listing: Listing, alternatives: Alternatives) -> str:
    text = alternatives.explain().splitlines()[0]
    if len(listing) < listing.n_all:
        text += f" This page has the best {len(listing)} of them."
    if listing.this is None:
        text += " The score of this report is none of these."
    elif listing.this:
        text += f" The score of this report is that of rank {listing.this}."
    return text


# ---------------------------------------------------------------------------------------------
# Picture and tables
# ---------------------------------------------------------------------------------------------


def _picture(listing: Listing) -> Diagram:
    n = len(listing)
    rows = sorted(sorted(range(len(listing.items)), key=lambda k: -listing.counts[k])[:MOST_ITEMS])
    place = {item: row for row, item in enumerate(rows)}
    columns = [
        Column(
            rank,
            {place[k]: worth for k, worth in points.items() if k in place},
            f"Rank {rank}: {percent(listing.above[rank])} above the best. "
            f"{listing.points_text(rank)}",
        )
        for rank, points in enumerate(listing.points)
    ]
    strips = [_strip("above the best", listing.above, percent)]
    strips += [
        _strip(f"{CRITERIA[name]}, {rows_name}", values, functools.partial(metric_text, name))
        for (rows_name, name), values in listing.figures.items()
        if name == "auc"
    ]
    shown = [(listing.items[k], f"{listing.counts[k] / n:.0%}") for k in rows]
    most = ", ".join(f"{name} in {share}" for name, share in shown[:10]) or "none"
    caption = (
        "Items by scores: each column is a score, each field an item with points. Blue raises the "
        "risk, orange lowers it, the darker the more points. On the right, the share of the scores "
        "that have the item. "
    )
    if len(rows) < len(listing.items):
        caption += f"The {len(rows)} items that most scores have are shown. "
    return matrix(
        shown, columns, strips,
        f"Items of {n} {'score' if n == 1 else 'scores'}: {most}. The table has the items and the "
        "points of each.",
        f"{caption}The table below has all numbers.",
    )  # fmt: skip


def _strip(name: str, values: Sequence[float], text: Any) -> Strip:
    known = [value for value in values if not math.isnan(value)]
    return Strip(
        name,
        [None if math.isnan(value) else value for value in values],
        (text(min(known)), text(max(known))),
    )


def _table(listing: Listing, alternatives: Alternatives) -> ReportTable:
    costs, returns = _costs(alternatives), _returns(alternatives)
    heads = ["Rank", "Above the best", "Items with points", "Variables"]
    heads += [f"{CRITERIA[name]}, {rows}" for rows, name in listing.figures]
    heads += [*(["Cost"] if costs else []), *(["Came back"] if returns else [])]
    rows = []
    for rank in range(len(listing)):
        mark = " (this score)" if rank == listing.this else ""
        size = len(listing.variables_of(rank))
        line = [
            Cell(f"{rank}{mark}", rank),
            _above_cell(listing, rank),
            Cell(listing.points_text(rank)),
            Cell(str(size), size),
        ]
        for (_, name), values in listing.figures.items():
            line.append(Cell(metric_text(name, values[rank]), finite_or_none(values[rank])))
        line += [Cell(f"{costs[rank]:.6g}", costs[rank])] if costs else []
        line += [Cell(f"{returns[rank]:.0%}", returns[rank])] if returns else []
        rows.append(line)
    return ReportTable("Scores of the list", heads, rows, _note_on_table(listing, bool(returns)))


def _above_cell(listing: Listing, rank: int) -> Cell:
    above, least = listing.above[rank], listing.least[rank]
    text = percent(above)
    if above - least > _PRINTED:
        text += f" (at least {percent(least)})"
    return Cell(text, above)


def _note_on_table(listing: Listing, has_returns: bool) -> str:
    note = (
        "Above the best: by which share of the best objective that of the score is larger. Each "
        "is the best score with points for exactly these items."
    )
    pairs = zip(listing.above, listing.least, strict=True)
    if n_open := sum(above - least > _PRINTED for above, least in pairs):
        note += (
            f" Of {n_open} of them this is not proven: a better one with the same items may exist, "
            "with an objective that is at least so far above the best."
        )
    if has_returns:
        note += (
            " Came back: the share of the samples of rows in which a score of these items is best."
        )
    return note


def _costs(alternatives: Alternatives) -> list[float]:
    """Cost of measuring what each score asks for; empty where that is not known."""
    if alternatives.costs is None:
        return []
    return [alternatives.cost(rank) for rank in range(min(len(alternatives), MOST_SCORES))]


def _returns(alternatives: Alternatives) -> list[float]:
    """Share of the samples whose best score has the items of each; empty where not computed."""
    stability = alternatives.stability
    if stability is None or not stability.n_samples:
        return []
    return [count / stability.n_samples for count in stability.sets[:MOST_SCORES]]


def _by_variables(listing: Listing, alternatives: Alternatives) -> ReportTable | None:
    """Scores that ask for the same variables, together."""
    rows = []
    for line in alternatives.lines(by="variables"):
        ranks = [rank for rank in line.ranks if rank < len(listing)]
        if not ranks:
            continue
        names = (
            name if n == 1 else f"{name} ({n} items)" for name, n in Counter(line.names).items()
        )
        above = listing.above[ranks[0]]
        rows.append(
            [
                Cell(", ".join(names) or "none"),
                Cell(str(len(ranks)), len(ranks)),
                Cell(str(ranks[0]), ranks[0]),
                Cell(percent(above), above),
            ]
        )
    if len(rows) == len(listing):
        return None
    return ReportTable(
        "Scores by the variables that they ask for",
        ("Variables", "Scores", "Rank of the best", "Above the best"),
        rows,
        "Scores of a line differ in cut-offs or levels of the same variables.",
    )


# ---------------------------------------------------------------------------------------------
# Filters
# ---------------------------------------------------------------------------------------------


def _constants(
    listing: Listing, alternatives: Alternatives, variables: Sequence[str]
) -> dict[str, Any]:
    """Constants of the script."""
    number = {name: k for k, name in enumerate(variables)}
    return {
        "alternativeSets": [sorted(points) for points in listing.points],
        "alternativeVariables": [number[name] for name in listing.variables],
        "alternativeAbove": listing.above,
        "alternativeTexts": [percent(above) for above in listing.above],
        "alternativeKnown": _known_share(listing, alternatives),
    }


def _known_share(listing: Listing, alternatives: Alternatives) -> float | None:
    """Up to which share above the best objective the page has every set; None where it has all."""
    bound = alternatives.pool.bound
    if len(listing) < listing.n_all:
        bound = min(bound, alternatives.objective(len(listing)))
    if math.isinf(bound):
        return None
    # Rounded down to what is printed, but for errors far below the accuracy of the bound itself.
    return max(math.floor(1e4 * (bound / alternatives.objective(0) - 1) + 1e-6) / 1e4, 0.0)
