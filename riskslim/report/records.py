"""The figures of a report's tables as rows of one long table, for a CSV file."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from riskslim.items.item import value_text
from riskslim.metrics.bootstrap import Interval
from riskslim.metrics.discrimination import operating_points
from riskslim.metrics.groups import risk_groups
from riskslim.report.alternatives import CRITERIA
from riskslim.report.drift import Drift, drifts_of
from riskslim.report.grouped import GroupedRows, group_name
from riskslim.report.recalibrated import links_of, metrics_of, risk_ends
from riskslim.report.rows import METRIC_NAMES, OF_ROWS, Rows, labelled
from riskslim.report.rule import shares_of_rows
from riskslim.report.statistics import cut_points, statistics_of, variable_information
from riskslim.report.tables import called_positive, feature_means, weights_of
from riskslim.report.variables import found_in
from riskslim.score.link import link_of
from riskslim.score.operating_point import share_intervals, shown_threshold
from riskslim.score.table import logistic

if TYPE_CHECKING:
    from riskslim.near_optimal.alternatives import Alternatives
    from riskslim.risk_score import RiskScore

__all__ = ["RECORD", "records"]

# Columns of the records.
RECORD = ("data", "part", "column", "name", "statistic", "value", "lower", "upper")

# Part, column of groups, name, statistic and value.
_Line: TypeAlias = tuple[str, str, Any, str, "float | Interval"]

_AGREEMENT = (
    "n_rows", "ambiguity", "discrepancy", "mean_range", "median_range", "largest_range",
)  # fmt: skip
_CERTIFIED = (
    "objective", "lower_bound", "optimality_gap", "loss", "n_samples", "bound_tolerance",
)  # fmt: skip


def records(
    score: RiskScore,
    rows: Sequence[Rows],
    groups: Sequence[GroupedRows] = (),
    alternatives: Alternatives | None = None,
) -> list[dict[str, Any]]:
    """All figures of a report on rows.

    Parameters
    ----------
    score : RiskScore
    rows : sequence of Rows
        Given rows, and test rows if there are any.
    groups : sequence of GroupedRows, optional
        Of :func:`~riskslim.report.grouped.grouped_rows`.
    alternatives : Alternatives, optional
        Other sets of items that are as good.

    Returns
    -------
    list of dict
        With the keys :data:`RECORD`. ``data`` is empty of what is known of the score itself, of its
        training. ``part`` says what a record is about, and ``name`` which one:

        ============  ============================================================================
        certificate   of the score
        rows          numbers of rows, and weights
        metric        all rows; ``..._by_chance`` are what a perfectly calibrated score would have
        original      all rows, by the risks before a recalibration
        score         an entry of the risk table; a record without a name is about all scores
        threshold     a score, as the sheet adds it up, from which on rows are called positive
        rule          the threshold that the score itself has: what it finds, shares and counts
        risk group    the lower end of a group of risk
        item          a feature with points
        variable      a variable, or a raw column
        group         the rows with this value in ``column``
        alternative   a set of items by its rank, 0 for the best
        price         an item, or a variable: the best score ``without`` it or ``with`` it
        agreement     the rows of a group, or all rows, by all alternatives
        ============  ============================================================================

        NaN where there is no value or no interval.
    """
    found = [_record("", *line) for line in _of_score(score)]
    cuts = cut_points(rows[0])
    for one in rows:
        lines = itertools.chain(
            _of_rows(one), _metrics(score, one), _original(score, one), _risks(score, one),
            _thresholds(score, one), _rule(score, one), _risk_groups(one, cuts),
            _items(score, one), _variables(score, one),
        )  # fmt: skip
        found += [_record(one.name, *line) for line in lines]
    for drift in drifts_of(score, rows):
        for one, line in _drifts(drift, rows):
            found.append(_record(one.name, *line))
    for grouped in groups:
        found += [_record(grouped.data, *line) for line in _groups(grouped)]
    if alternatives is not None:
        found += [_record(data, *line) for data, line in _alternatives(alternatives)]
    return found


def _record(data: str, *line: Any) -> dict[str, Any]:
    *keys, value = line
    if not isinstance(value, tuple):
        value = Interval(float(value), math.nan, math.nan)
    return dict(zip(RECORD, (data, *keys, *value), strict=True))


def _of_score(score: RiskScore) -> Iterator[_Line]:
    """Figures that no rows are needed for."""
    if score.certificate is not None:
        for name in (*_CERTIFIED, *(["ridge"] if score.certificate.ridge else [])):
            yield "certificate", "", "", name, getattr(score.certificate, name)
    for name, points in score.points.items():
        values = score.feature_ranges[name]
        yield "item", "", name, "points", points
        yield "item", "", name, "minimum", values.minimum
        yield "item", "", name, "maximum", values.maximum
    for name, variable in score.variables.items():
        for what in ("minimum", "maximum", "n_missing", "n_samples"):
            if (value := getattr(variable, what)) is not None:
                yield "variable", "", name, what, value


def _of_rows(rows: Rows) -> Iterator[_Line]:
    n = len(rows.positive)
    counts = {"n": n, "n_positive": int(np.count_nonzero(rows.positive))}
    counts["n_negative"] = n - counts["n_positive"]
    for name, value in {**counts, **weights_of(rows)}.items():
        yield "rows", "", "", name, value


def _metrics(score: RiskScore, rows: Rows) -> Iterator[_Line]:
    # Size and gap are those of the search, which had no test rows.
    for name in METRIC_NAMES if rows.key == "given" else OF_ROWS:
        interval = rows.intervals.get(name)
        if isinstance(interval, Interval):
            yield "metric", "", "", name, interval
            continue
        yield "metric", "", "", name, rows.metric(name)
        if interval is not None:
            by_chance = Interval(interval.mean, interval.lower, interval.upper)
            yield "metric", "", "", f"{name}_by_chance", by_chance
    for name, value in statistics_of(score, rows).items():
        yield "metric", "", "", name, value


def _original(score: RiskScore, rows: Rows) -> Iterator[_Line]:
    if score.recalibration is None:
        return
    for name, value in metrics_of(links_of(score)["original"], rows).items():
        yield "original", "", "", name, value


def _risks(score: RiskScore, rows: Rows) -> Iterator[_Line]:
    """The risk table, with what was observed."""
    links = {"risk": link_of(score)}
    if score.recalibration is not None:
        links["original_risk"] = links_of(score)["original"]
    for entry in score.risk_table(*labelled(score, rows)):
        for what, link in links.items():
            low, high = risk_ends(link, entry, rows.scores)
            between = Interval(low if low == high else math.nan, low, high)
            yield "score", "", entry.score, what, between
        counts = {"n": entry.n_samples, "n_positive": entry.n_positive, "observed": entry.observed}
        for what, value in counts.items():
            yield "score", "", entry.score, what, math.nan if value is None else value


def _thresholds(score: RiskScore, rows: Rows) -> Iterator[_Line]:
    """Rates at all thresholds on the score."""
    if not rows.has_both_classes:
        return
    points = operating_points(rows.positive, rows.scores, rows.weight)
    finite = np.flatnonzero(points.thresholds < math.inf)
    scores = points.thresholds[finite]
    names = [float(at) for at in scores]
    risks = logistic(link_of(score).log_odds(scores.astype(np.float64)))
    values = {"risk": risks.tolist(), "called_positive": called_positive(points)[finite].tolist()}
    for statistic, column in values.items():
        for name, value in zip(names, column, strict=True):
            yield "threshold", "", name, statistic, value
    for rate in ("sensitivity", "specificity", "ppv", "npv"):
        ends = (getattr(points, rate), *points.intervals(rate))
        for name, value in zip(names, np.column_stack(ends)[finite].tolist(), strict=True):
            yield "threshold", "", name, rate, Interval(*value)


def _rule(score: RiskScore, rows: Rows) -> Iterator[_Line]:
    """Shares and counts at the threshold of the score, where it has one."""
    shares = shares_of_rows(score, rows)
    if shares is None:
        return
    values = {"threshold": shown_threshold(score), **share_intervals(shares)}
    for statistic, value in {**values, **dataclasses.asdict(shares)}.items():
        yield "rule", "", "", statistic, value


def _risk_groups(rows: Rows, cuts: Sequence[float]) -> Iterator[_Line]:
    for group in risk_groups(rows.positive, rows.risk, cuts, rows.weight, pos_label=True):
        for statistic in ("upper", "n", "share", "predicted", "observed"):
            yield "risk group", "", group.lower, statistic, getattr(group, statistic)


def _items(score: RiskScore, rows: Rows) -> Iterator[_Line]:
    for name in score.points:
        values, positive, negative = feature_means(score, name, rows)
        figures = {
            "minimum": values.minimum, "maximum": values.maximum,
            "mean_positive": positive, "mean_negative": negative,
        }  # fmt: skip
        for statistic, value in figures.items():
            yield "item", "", name, statistic, value


def _variables(score: RiskScore, rows: Rows) -> Iterator[_Line]:
    for name, value in variable_information(score, rows).items():
        yield "variable", "", name, "iv", value
    for name, found in found_in(score, rows).items():
        for statistic, value in found.figures().items():
            yield "variable", "", name, statistic, value


def _drifts(drift: Drift, rows: Sequence[Rows]) -> Iterator[tuple[Rows, _Line]]:
    """Stability indices, and what they are of, of both sets of rows."""
    part, name = ("score", "") if drift.name is None else ("item", drift.name)
    yield rows[1], (part, "", name, "psi", drift.psi)
    yield rows[1], (part, "", name, "psi_by_chance", drift.by_chance)
    for line in drift.lines:
        for one, value in zip(rows, line.values, strict=True):
            yield one, (part, "", line.entry or name, "share" if line.is_share else "mean", value)


def _groups(grouped: GroupedRows) -> Iterator[_Line]:
    for group in grouped.found:
        for statistic, value in group._asdict().items():
            if statistic != "group":
                yield "group", grouped.column, group_name(group), statistic, value


def _alternatives(alternatives: Alternatives) -> Iterator[tuple[str, _Line]]:
    """Figures of alternatives, with what the rows are called."""
    for rank in range(len(alternatives)):
        yield "", ("alternative", "", rank, "above_best", alternatives.share(rank))
        for measured in alternatives.measures:
            for statistic in CRITERIA:
                value = float(getattr(measured, statistic)[rank])
                yield measured.rows, ("alternative", "", rank, statistic, value)
    for one in (*alternatives.prices, *alternatives.variable_prices):
        statistic = "without" if one.is_used else "with"
        yield (
            "",
            ("price", "", one.feature, statistic, Interval(one.price, one.lowest_price, one.price)),
        )
    for agreement in alternatives.agreement:
        for group in agreement.groups:
            name = "" if group.group is None else value_text(group.group)
            for statistic in _AGREEMENT:
                yield agreement.rows, ("agreement", "", name, statistic, getattr(group, statistic))
