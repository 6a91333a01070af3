"""Records of a risk score, explained: what each consists of, and what would change it.

Functions have the names of the methods of :class:`~riskslim.RiskScore` that call them.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim._checks import checked_number
from riskslim.data.weights import checked_weights
from riskslim.items.columns import missing_in
from riskslim.items.rules import raw_table
from riskslim.score.explanation import Explanation, explanation, fixed_features
from riskslim.score.predictions import rows_of
from riskslim.score.reason_codes import Best, Reason, checked_average, reasons_of, references
from riskslim.score.rows import ScoredRows, as_row, named_rows, numbers_of

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = ["average_points", "explain", "explain_rows"]


def explain(
    score: RiskScore,
    record: Any,
    threshold: float | None = None,
    *,
    fixed: Sequence[str] = (),
    average: Mapping[str, float] | None = None,
    best: Best = "measured",
) -> Explanation:
    """Explain the score of one record: what it is made of, and what would change it."""
    X = as_row(record)
    rows = rows_of(score, X)
    if rows.n_samples != 1:
        raise ValueError(f"one record is explained at a time, got {rows.n_samples} rows")
    return _explained(score, rows, X, threshold, fixed, average, best)[0]


def explain_rows(
    score: RiskScore,
    X: Any,
    threshold: float | None = None,
    *,
    fixed: Sequence[str] = (),
    average: Mapping[str, float] | None = None,
    best: Best = "measured",
) -> list[Explanation]:
    """Explain the scores of several records."""
    return _explained(score, rows_of(score, X), X, threshold, fixed, average, best)


def _explained(
    score: RiskScore,
    rows: ScoredRows,
    X: Any,
    threshold: float | None,
    fixed: Sequence[str],
    average: Mapping[str, float] | None,
    best: Best,
) -> list[Explanation]:
    """Explain rows that were opened; each kind of them once."""
    stays = fixed_features(score, fixed)
    against = None
    if average is not None:
        checked = checked_average(average, tuple(score.points))
        against = references(score, checked, fixed=stays)
    least = references(score, best=best, fixed=stays)
    limit = None if threshold is None else checked_number(threshold, "threshold")
    special = _special_values(score)
    names, columns = list(score.points), rows.values()
    lacking = _missing_in(score, X)
    measured = _measured_in(score, X, lacking)
    lists = [
        rows.scores(score.points), *(columns[name] for name in names),
        *lacking.values(), *measured.values(),
    ]  # fmt: skip
    known: dict[tuple[float, ...], Explanation] = {}
    found = []
    for kind in zip(*(one.tolist() for one in lists), strict=True):
        if kind not in known:
            total, parts = kind[0], kind[1 : 1 + len(names)]
            gaps, values_there = np.split(np.array(kind[1 + len(names) :], np.bool_), 2)
            values = dict(zip(names, map(_plain_number, parts), strict=True))
            explained = explanation(
                score, values, total, threshold=limit, fixed=stays, special=special,
                missing=tuple(name for name, gap in zip(lacking, gaps, strict=True) if gap),
                measured=frozenset(itertools.compress(measured, values_there)),
            )  # fmt: skip
            known[kind] = dataclasses.replace(
                explained,
                reasons=_as_shown(score, reasons_of(score, values, least), explained),
                reasons_against_average=None
                if against is None
                else _as_shown(score, reasons_of(score, values, against), explained),
            )
        found.append(known[kind])
    return found


def _as_shown(
    score: RiskScore, reasons: tuple[Reason, ...], explained: Explanation
) -> tuple[Reason, ...]:
    """Reasons with the points that the rows of the sheet add."""
    if score.layout.points == "fitted":
        return reasons
    return tuple(
        one._replace(
            points=sum(row.points for row in explained.rows if {*row.features} <= {*one.features})
        )
        for one in reasons
    )


def average_points(score: RiskScore, X: Any, sample_weight: Any = None) -> dict[str, float]:
    """Compute the points that rows get on average, by feature."""
    rows = rows_of(score, X)
    weights = None
    if not rows.n_samples:
        raise ValueError("there are no rows, and no average")
    if sample_weight is not None:
        weights = checked_weights(sample_weight, rows.n_samples)
        if not weights.sum() > 0:
            raise ValueError("no row has a positive weight: there is no average")
    return {
        name: float(np.average(score.points[name] * values, weights=weights))
        for name, values in rows.values().items()
    }


def _plain_number(value: float) -> float:
    return int(value) if value.is_integer() else value


def _special_values(score: RiskScore) -> dict[str, set[float]]:
    """Values of raw columns that are no measurements, as items and columns state them."""
    special = {name: {*variable.special} for name, variable in score.variables.items()}
    for item in score.items.values():
        special.setdefault(item.variable, set()).update(item.special)
    return special


def _missing_in(score: RiskScore, X: Any) -> dict[str, NDArray[np.bool_]]:
    """Rows in which raw columns have no value, by column."""
    if not score.variables:
        return {}
    table = raw_table(named_rows(score, X), score.variables)
    names = [str(name) for name in table.names or ()]
    there = [name for name in score.variables if name in names]
    return {name: missing_in(table.values(names.index(name))) for name in there}


def _measured_in(
    score: RiskScore, X: Any, lacking: Mapping[str, NDArray[np.bool_]]
) -> dict[str, NDArray[np.bool_]]:
    """Rows in which columns of numbers have one that is no special value, by column."""
    found = {name: np.zeros_like(gaps) for name, gaps in lacking.items()}
    if found:
        table = raw_table(named_rows(score, X), score.variables)
        for one, values in numbers_of(table, score.variables.values()):
            found[one.name] = np.isfinite(values) & ~np.isin(values, one.special)
    return found
