"""Prices of items, agreement of scores and stability: the tables and diagrams of a report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from riskslim.items.item import value_text
from riskslim.plots import BLUE, GREY, ORANGE
from riskslim.report.cells import Cell, ReportTable, finite_or_none
from riskslim.report.svg import Diagram, drawn
from riskslim.score.typesetting import one_line
from riskslim.solution import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from riskslim.near_optimal.agreement import Agreement
    from riskslim.near_optimal.alternatives import Alternatives
    from riskslim.near_optimal.prices import ItemPrice

__all__ = [
    "agreement_diagram",
    "agreement_tables",
    "price_diagrams",
    "price_tables",
    "stability_tables",
]

# Bars of a diagram, and letters of a name there.
_MOST_BARS, _MOST_LETTERS = 25, 36
# Lines of a table of other sets of items.
_MOST_SETS = 10


# ---------------------------------------------------------------------------------------------
# Prices
# ---------------------------------------------------------------------------------------------


def price_tables(alternatives: Alternatives) -> list[ReportTable]:
    """List what each item costs, and each variable where these have several items.

    Parameters
    ----------
    alternatives : Alternatives

    Returns
    -------
    list of ReportTable
    """
    kinds = (("item", alternatives.prices), ("variable", _of_variables(alternatives)))
    return [_price_table(kind, prices) for kind, prices in kinds if prices]


def _of_variables(alternatives: Alternatives) -> Sequence[ItemPrice]:
    """Prices of variables, but where each of them is an item."""
    names = {price.feature for price in alternatives.prices}
    prices = alternatives.variable_prices
    return [] if {price.feature for price in prices} <= names else prices


def _price_table(kind: str, prices: Sequence[ItemPrice]) -> ReportTable:
    rows = [
        [
            Cell(price.feature),
            Cell("without it" if price.is_used else "with it"),
            _price_cell(price.price, price.objective),
            _price_cell(price.lowest_price, price.lower_bound),
            Cell(_proof_text(price)),
        ]
        for price in _sorted(prices)
    ]
    note = f"By which share the best score without the {kind} is above the best of all"
    if not all(price.is_used for price in prices):
        note += "; of one that the best of all does not have, by which share the best with it is"
    note += ": what was found, and what it is at least."
    if kind == "item":
        note += (
            " A small price says that other items do the same work, not that the outcome has "
            "nothing to do with this one."
        )
    heads = (kind.capitalize(), "Best score", "Above the best", "At least", "Proof")
    return ReportTable(f"Price of each {kind}", heads, rows, note)


def _sorted(prices: Sequence[ItemPrice]) -> list[ItemPrice]:
    """Those of the best score first, dearest first; then the others, cheapest first."""
    return sorted(
        prices, key=lambda one: (not one.is_used, -one.price if one.is_used else one.price)
    )


def _price_cell(share: float, objective: float) -> Cell:
    if math.isinf(objective):
        return Cell("-")
    return Cell(percent(max(share, 0.0)), finite_or_none(share))


def _proof_text(price: ItemPrice) -> str:
    if math.isinf(price.lower_bound):
        return "proven: no score meets the requirements"
    if price.is_proven:
        return "proven"
    if math.isinf(price.objective):
        return "open: none was found"
    return "open: the price is between the two"


def price_diagrams(alternatives: Alternatives) -> list[Diagram]:
    """Draw prices as bars: up to what is proven, and from there to what was found.

    Parameters
    ----------
    alternatives : Alternatives

    Returns
    -------
    list of Diagram
        Of items and variables of the best score, and of the cheapest others.
    """
    prices = [*alternatives.prices]
    kinds = [
        ("without", "item", [one for one in prices if one.is_used]),
        ("with", "item", [one for one in prices if not one.is_used]),
    ]
    of_variables = [one for one in _of_variables(alternatives) if one.is_used]
    if len(of_variables) > 0:
        kinds.insert(1, ("without", "variable", of_variables))
    return [_price_diagram(word, kind, _sorted(one)) for word, kind, one in kinds if _drawable(one)]


def _drawable(prices: Sequence[ItemPrice]) -> bool:
    return any(math.isfinite(one.lower_bound) for one in prices)


def _price_diagram(word: str, kind: str, prices: Sequence[ItemPrice]) -> Diagram:
    prices = [one for one in prices if math.isfinite(one.lower_bound)]
    shown = prices[:_MOST_BARS]
    texts = ", ".join(f"{one_line(one.feature)} {_span_text(one)}" for one in shown)
    caption = f"How far the best score {word} the {kind} is above the best of all."
    if any(not one.is_proven for one in shown):
        caption += " Blue is proven; where orange follows, its end was found: the price is between."
    if len(shown) < len(prices):
        caption += f" The first {len(shown)} of {len(prices)}; the table has all."
    return drawn(
        lambda ax: _draw_prices(ax, shown),
        f"prices-{word}-{kind}",
        f"Prices, best score {word} each {kind}: {texts}.",
        caption,
        (6.0, 1.1 + 0.3 * len(shown)),
    )


def _span_text(price: ItemPrice) -> str:
    least = percent(price.lowest_price)
    if price.is_proven:
        return percent(max(price.price, 0.0))
    if math.isinf(price.objective):
        return f"at least {least}"
    return f"{least} to {percent(max(price.price, 0.0))}"


def _draw_prices(ax: Axes, prices: Sequence[ItemPrice]) -> None:
    places = range(len(prices))
    least = [100 * one.lowest_price for one in prices]
    most = [
        100 * max(one.price, one.lowest_price) if math.isfinite(one.objective) else low
        for one, low in zip(prices, least, strict=True)
    ]
    proven = [
        high if one.is_proven else low for one, low, high in zip(prices, least, most, strict=True)
    ]
    ax.barh(places, proven, color=BLUE, height=0.7)
    for place, low, high in zip(places, proven, most, strict=True):
        if high > low:
            ax.barh(place, high - low, left=low, color=ORANGE, alpha=0.5, height=0.7)
    for place, price, high in zip(places, prices, most, strict=True):
        ax.annotate(
            _span_text(price), (high, place), (4, 0), textcoords="offset points", va="center"
        )
    ax.set_yticks(places, [_shortened(one.feature) for one in prices])
    ax.invert_yaxis()
    # Room for the texts behind the bars.
    ax.set_xlim(0, max(1.35 * max(most), 1e-3))
    ax.set_xlabel("Above the best objective (%)")
    ax.spines[["top", "right"]].set_visible(False)


def _shortened(name: str) -> str:
    name = one_line(name)
    return name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - 1]}\u2026"


# ---------------------------------------------------------------------------------------------
# Agreement
# ---------------------------------------------------------------------------------------------


def agreement_tables(alternatives: Alternatives) -> list[ReportTable]:
    """Say for all rows, and for each group, how far the scores agree.

    Parameters
    ----------
    alternatives : Alternatives

    Returns
    -------
    list of ReportTable
        One for each set of rows; empty where that was not computed.
    """
    return [_agreement_table(one) for one in alternatives.agreement]


def _agreement_table(agreement: Agreement) -> ReportTable:
    heads = (
        "Rows", "Number", "Decision depends on the choice", "Most that one score changes",
        "Mean range of risks", "Largest range",
    )  # fmt: skip
    rows = [
        [
            Cell("all rows" if group.group is None else value_text(group.group)),
            Cell(str(group.n_rows), group.n_rows),
            *(
                _share_cell(value)
                for value in (
                    group.ambiguity, group.discrepancy, group.mean_range, group.largest_range,
                )
            ),
        ]
        for group in agreement.groups
    ]  # fmt: skip
    note = (
        f"{agreement.explain()} The range of a row is its largest risk by any of the scores less "
        "its smallest."
    )
    return ReportTable(f"Do the scores agree? {agreement.rows}", heads, rows, note)


def _share_cell(value: float) -> Cell:
    return Cell("-" if math.isnan(value) else f"{value:.1%}", finite_or_none(value))


def agreement_diagram(alternatives: Alternatives) -> Diagram | None:
    """Draw how the ranges of risk are distributed.

    Parameters
    ----------
    alternatives : Alternatives

    Returns
    -------
    Diagram or None
        None where that was not computed.
    """
    found = alternatives.agreement
    if not found:
        return None
    shown = "; ".join(
        f"{one.rows}: "
        + ", ".join(
            f"{share:.1%} of {name}" for name, share in zip(_NAMES, _shares(one), strict=True)
        )
        for one in found
    )
    return drawn(
        lambda ax: _draw_ranges(ax, found),
        "ranges",
        f"Range of the risk of a row over all scores, in percentage points: {shown}.",
        "How far the risk of a row depends on the choice: shares of the rows by the difference "
        "between the largest and the smallest of its risks, in percentage points.",
        (6.0, 3.6),
    )


# Classes of ranges, in percentage points.
_NAMES = ("under 5", "5 to 10", "10 to 20", "20 to 30", "30 to 50", "50 or more")


def _shares(agreement: Agreement) -> tuple[float, ...]:
    return agreement.groups[0].range_shares


def _draw_ranges(ax: Axes, found: Sequence[Agreement]) -> None:
    width = 0.8 / len(found)
    for k, (one, colour) in enumerate(zip(found, (BLUE, GREY), strict=False)):
        places = [j - 0.4 + (k + 0.5) * width for j in range(len(_NAMES))]
        heights = [100 * share for share in _shares(one)]
        ax.bar(places, heights, width, color=colour, label=one.rows)
        for place, height in zip(places, heights, strict=True):
            ax.annotate(
                f"{height:.0f}" if height >= 1 or not height else "<1", (place, height), (0, 2),
                textcoords="offset points", ha="center", fontsize=8,
            )  # fmt: skip
    ax.set_xticks(range(len(_NAMES)), _NAMES)
    ax.set_xlabel("Range of the risk (percentage points)")
    ax.set_ylabel("Rows (%)")
    if len(found) > 1:
        ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)


# ---------------------------------------------------------------------------------------------
# Stability
# ---------------------------------------------------------------------------------------------


def stability_tables(alternatives: Alternatives) -> list[ReportTable]:
    """Say how often items, and sets of items, are those of the best score of other samples.

    Parameters
    ----------
    alternatives : Alternatives

    Returns
    -------
    list of ReportTable
        Empty where that was not computed.
    """
    stability: Any = alternatives.stability
    if stability is None or not stability.n_samples:
        return []
    n = stability.n_samples
    tables = [
        ReportTable(
            f"How often the best score has each {kind}",
            (kind.capitalize(), "Samples", "Share"),
            [[Cell(name), Cell(str(count), count), _share_cell(count / n)] for name, count in
             counts.items()],
            stability.explain() if kind == "item" else "",
        )
        for kind, counts in (("item", stability.items), ("variable", stability.variables))
        if kind == "item" or set(counts) != set(stability.items)
    ]  # fmt: skip
    others = stability.others[:_MOST_SETS]
    if others:
        rows = [
            [Cell(", ".join(one.items) or "none"), Cell(str(one.n_samples), one.n_samples),
             _share_cell(one.n_samples / n)]
            for one in others
        ]  # fmt: skip
        note = "These are best on samples of the rows, and none of them is listed."
        if len(stability.others) > len(others):
            note += f" The first {len(others)} of {len(stability.others)}."
        tables.append(
            ReportTable("Sets of items that are not in the list", ("Items", "Samples", "Share"),
                        rows, note)
        )  # fmt: skip
    return tables
