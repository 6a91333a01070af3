"""The section of the report on the threshold of a score: whom it finds on which rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from riskslim.metrics.bootstrap import Interval
from riskslim.metrics.performance import SHARES
from riskslim.report.cells import Cell, ReportTable
from riskslim.report.rows import Rows
from riskslim.score.lines import shift_of
from riskslim.score.operating_point import (
    number_text,
    share_intervals,
    shares_at,
    threshold_text,
    words_of,
)
from riskslim.score.table import Observations

if TYPE_CHECKING:
    from riskslim.model_selection.cross_validation import CrossValidation
    from riskslim.operating_point import Shares
    from riskslim.risk_score import RiskScore

__all__ = ["decision_words", "rule_parts", "rule_table", "shares_of_rows"]

_HEADS = (
    "Rows", "Sensitivity", "Specificity", "Found", "Missed", "Left out", "Called positive",
)  # fmt: skip


def rule_parts(
    score: RiskScore, rows: Sequence[Rows], cv: CrossValidation | None
) -> dict[str, Any]:
    """Return what the section shows: the rule in words, and its table.

    Parameters
    ----------
    score : RiskScore
    rows : sequence of Rows
    cv : CrossValidation or None

    Returns
    -------
    dict
        Both None without an operating point.
    """
    words = words_of(score)
    return {
        "rule": (words[0], " ".join(words[1:])) if words else None,
        "rule_table": rule_table(score, rows, cv),
    }


def decision_words(score: RiskScore) -> dict[str, str] | None:
    """Return what the calculator says of a record on either side of the threshold.

    Parameters
    ----------
    score : RiskScore

    Returns
    -------
    dict from str to str, or None
    """
    if score.operating_point is None:
        return None
    limit = number_text(score.operating_point.threshold + shift_of(score))
    return {
        "positive": f"Positive: the score is {limit} or more.",
        "negative": f"Negative: the score is below {limit}.",
    }


def shares_of_rows(score: RiskScore, rows: Rows) -> Shares | None:
    """Whom the threshold of a score finds among some rows.

    Parameters
    ----------
    score : RiskScore
    rows : Rows

    Returns
    -------
    Shares or None
        None without a threshold, and of rows of one class.
    """
    return shares_at(score, Observations(rows.scores, rows.positive, rows.weight))


def rule_table(
    score: RiskScore, rows: Sequence[Rows], cv: CrossValidation | None
) -> ReportTable | None:
    """Shares and counts at the threshold, on all rows that the report has.

    Parameters
    ----------
    score : RiskScore
    rows : sequence of Rows
    cv : CrossValidation or None
        Scores of folds, each at its own threshold on its test rows.

    Returns
    -------
    ReportTable or None
        None without an operating point.
    """
    point = score.operating_point
    if point is None:
        return None
    found = [(one.name, shares) for one in rows if (shares := shares_of_rows(score, one))]
    known = [shares for _, shares in found]
    kept = (("rows that the threshold was chosen on", point.training), ("other rows", point.test))
    found += [(name, shares) for name, shares in kept if shares and shares not in known]
    table = [_line(name, shares) for name, shares in found]
    note = f"{threshold_text(score)} Shares have Wilson's 95% intervals"
    weighted = any(one.weight is not None for one in rows)
    note += ", for which weights count as rows." if weighted else "."
    if cv is not None and cv.has_shares:
        table.append(_line_of_folds(cv))
        note += " Folds: mean (min - max) of the scores of the folds, each at its own threshold."
    return ReportTable("The rule on rows", _HEADS, table, note)


def _line(name: str, shares: Shares) -> list[Cell]:
    intervals = share_intervals(shares)
    counts = (
        shares.true_positives,
        shares.positives - shares.true_positives,
        shares.true_negatives,
        shares.true_positives + shares.negatives - shares.true_negatives,
    )
    return [
        Cell(name),
        *(_share_cell(intervals[share]) for share in SHARES),
        *(Cell(f"{count:,.10g}", float(count)) for count in counts),
    ]


def _share_cell(share: Interval) -> Cell:
    return Cell(f"{share.value:.1%}", share.value, share, f"{share.lower:.1%} to {share.upper:.1%}")


def _line_of_folds(cv: CrossValidation) -> list[Cell]:
    cells = [Cell(f"test rows of {len(cv.folds)} folds")]
    for share in SHARES:
        mean = cv.mean(share)
        cells.append(Cell(cv.summary(share), None if math.isnan(mean) else mean))
    return [*cells, *[Cell("-")] * 4]
