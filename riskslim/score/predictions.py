"""Rows to scores, risks and labels, and what is odd about rows.

Functions with the names of methods of :class:`~riskslim.RiskScore` are what these call: they say
what is taken, returned and refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim.data.extrapolation import far_values, warn_of_far_values
from riskslim.data.faults import ColumnError
from riskslim.data.lazy import is_collection, of_rows
from riskslim.data.tables import Table
from riskslim.items.rules import HandleUnknown, computed_items, in_kind_of
from riskslim.score.cutoff_ranges import remark_on_ranges_of_cutoffs
from riskslim.score.lines import shift_of
from riskslim.score.link import link_of
from riskslim.score.naming import outcome_text
from riskslim.score.observations import class_labels
from riskslim.score.operating_point import margins
from riskslim.score.rows import ScoredRows, named_rows, numbers_of, remarks_on_ranges
from riskslim.score.table import logistic

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = [
    "decision_function", "log_odds", "predict", "predict_proba", "remarks", "remarks_on_risks",
    "rows_of", "score_samples", "table_with_items", "with_items",
]  # fmt: skip


def score_samples(score: RiskScore, X: Any) -> NDArray[Any]:
    """Compute the score of each row."""
    if is_collection(X):
        return _later(score, X, score_samples, np.float64)
    return _sums(score, X) + shift_of(score)


def log_odds(score: RiskScore, X: Any) -> NDArray[np.float64]:
    """Compute the log-odds of each row."""
    if is_collection(X):
        return _later(score, X, log_odds, np.float64)
    return link_of(score).log_odds_of_sums(_sums(score, X).astype(np.float64))


def decision_function(score: RiskScore, X: Any) -> NDArray[np.float64]:
    """Compute the log-odds of each row in excess of those of the threshold."""
    if score.operating_point is None:
        return log_odds(score, X)
    if is_collection(X):
        return _later(score, X, decision_function, np.float64)
    return margins(score, _sums(score, X))


def predict_proba(score: RiskScore, X: Any) -> NDArray[np.float64]:
    """Compute the probability of each class."""
    if is_collection(X):
        return _later(score, X, predict_proba, np.float64, 2)
    odds = log_odds(score, X)
    return np.column_stack((logistic(-odds), logistic(odds)))


def predict(score: RiskScore, X: Any) -> NDArray[Any]:
    """Predict the label of each row."""
    labels = class_labels(score.classes)
    if is_collection(X):
        return _later(score, X, predict, labels.dtype)
    return np.asarray(labels[(decision_function(score, X) > 0).astype(np.intp)])


def _sums(score: RiskScore, X: Any) -> NDArray[Any]:
    """The sums of the fitted points of each row."""
    return rows_of(score, X).scores(score.points)


def _later(
    score: RiskScore, X: Any, call: Callable[..., Any], dtype: Any, n_columns: int | None = None
) -> NDArray[Any]:
    """Return the results of a function for the rows of a Dask collection, as a Dask array."""
    names = () if score.variables else tuple(score.points)
    # To type checkers it is the array that it will be.
    found: NDArray[Any] = of_rows(
        X, partial(call, score), dtype=dtype, n_columns=n_columns, names=names
    )
    return found


def remarks(score: RiskScore, X: Any = None) -> tuple[str, ...]:
    """Return what is worth knowing about the score, or about predictions for some rows."""
    if X is None:
        of_cutoffs = remark_on_ranges_of_cutoffs(score.cutoff_ranges, score.items)
        return (*remarks_on_risks(score), *filter(None, [of_cutoffs]))
    if score.variables:
        X, _ = _computed(score, X, "error")
    rows = _opened(score, X)
    # Variables that are features themselves are among these already.
    raw = [one for name, one in score.variables.items() if name not in score.points]
    return (
        *remarks_on_risks(score),
        *rows.remarks(score.feature_ranges, score.items),
        *remarks_on_ranges(rows.table, raw),
    )


def remarks_on_risks(score: RiskScore) -> tuple[str, ...]:
    """Say which rows the risks are for, where that is not rows like the training rows."""
    if score.recalibration is not None:
        return (score.recalibration.describe(outcome_text(score), score.scale),)
    if score.class_weighting is None:
        return ()
    return (score.class_weighting.describe(outcome_text(score)),)


# ---- rows, and the items that they lack ----------------------------------------------------------


def with_items(score: RiskScore, X: Any, *, handle_unknown: HandleUnknown = "error") -> Any:
    """Add the conditions that raw records lack, computed from their columns by name."""
    return in_kind_of(X, table_with_items(score, X, handle_unknown), score.points)


def table_with_items(score: RiskScore, X: Any, handle_unknown: HandleUnknown = "error") -> Table:
    """As :func:`with_items`, as columns that are read one at a time."""
    table, sources = _computed(score, X, handle_unknown)
    warn_of_far_values(_far_columns(score, table, sources))
    return table


def rows_of(score: RiskScore, X: Any) -> ScoredRows:
    """Open rows with the features that have points; warn of values far outside of their range.

    Parameters
    ----------
    score : RiskScore
    X
        As in :meth:`RiskScore.score_samples`.

    Returns
    -------
    ScoredRows
    """
    table: Any = X
    sources: dict[str, str] = {}
    if score.variables:
        table, sources = _computed(score, X, "error")
    rows = _opened(score, table)
    far = [] if not sources else [*_far_columns(score, rows.table, sources)]
    try:
        far += _far_features(score, rows)
    except ColumnError:
        return rows  # whoever adds up the scores says what is wrong, and in which rows
    warn_of_far_values(far)
    return rows


def _opened(score: RiskScore, X: Any) -> ScoredRows:
    return ScoredRows.open(X, tuple(score.points), score.feature_names, score.items)


def _computed(
    score: RiskScore, X: Any, handle_unknown: HandleUnknown
) -> tuple[Table, dict[str, str]]:
    """Rows with the items that they lacked, and the raw column that each is computed from."""
    return computed_items(
        named_rows(score, X),
        tuple(score.points),
        score.feature_names,
        score.variables,
        score.items,
        handle_unknown=handle_unknown,
    )


def _far_columns(score: RiskScore, table: Table, sources: Mapping[str, str]) -> Iterator[str]:
    """Say which raw columns that items are computed from have values far outside."""
    computed_from = set(sources.values())
    used = [one for name, one in score.variables.items() if name in computed_from]
    for variable, values in numbers_of(table, used):
        yield variable.far(values)


def _far_features(score: RiskScore, rows: ScoredRows) -> Iterator[str]:
    """Say which features have values far outside of their range in training."""
    for name, known in score.feature_ranges.items():
        variable = score.variables.get(name)
        has_range = variable is not None and bool(variable.range_text)
        if known.is_binary and not has_range:
            continue
        values = np.asarray(rows.table.column(rows.positions[name]), dtype=np.float64)
        if variable is not None and has_range:
            yield variable.far(values)
        else:
            yield far_values(name, known.minimum, known.maximum, values)
