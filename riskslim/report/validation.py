"""External validation: a score on rows of another place or time, and what would help there."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from riskslim._wording import aligned
from riskslim.metrics.agreement import CalibrationLine, calibration_line
from riskslim.metrics.bootstrap import Interval
from riskslim.metrics.decision import DecisionCurve, decision_curve
from riskslim.report.recalibrated import metrics_of
from riskslim.report.rows import METRIC_NAMES, judged_rows, share_or_metric_text
from riskslim.report.rule import shares_of_rows
from riskslim.score.link import link_of
from riskslim.score.operating_point import share_intervals, threshold_text
from riskslim.score.recalibration import to_observations
from riskslim.score.table import Observations, RiskScale

if TYPE_CHECKING:
    from riskslim.metrics.calibration import ConsistencyRange
    from riskslim.report.rows import Rows
    from riskslim.risk_score import RiskScore

__all__ = ["Validation", "validated"]

# Thresholds of the decision curve, as multiples of the observed risk.
_AROUND = (0.25, 0.5, 1.0, 2.0, 4.0)
_METRICS = ("auc", "loss", "cal", "predicted", "observed")
# A slope is not estimated from fewer rows of a class: only the intercept is advised then.
_FEWEST = 20


@dataclasses.dataclass(frozen=True, eq=False)
class Validation:
    """The quality of a score on rows that it was not learned on.

    Parameters
    ----------
    outcome : str
        What the risk is of.
    n_samples, n_positive : int
        Rows of positive weight, and those of them that have the outcome.
    metrics : dict from str to float
        ``auc``, ``loss``, ``cal``, mean ``predicted`` and ``observed`` risk.
    intervals : mapping from str to Interval or ConsistencyRange
        By the same names: 95% bootstrap intervals of AUC and loss; of the others the range that a
        perfectly calibrated score would have by chance. Empty without resamples.
    line : CalibrationLine
        Calibration intercept and slope, with 95% intervals.
    curve : DecisionCurve
        Net benefit at some risks.
    recalibrated : dict from str to dict from str to float
        Metrics after a recalibration on these rows, by what it fits: "intercept", or "intercept and
        slope" where both classes have twenty rows or more. They are better here than they will be
        on the next rows.
    shares : mapping from str to Interval
        Sensitivity and specificity at the threshold of the score, with Wilson's 95% intervals;
        empty where it has none.
    rule : str
        The same in words.

    Examples
    --------
    >>> import numpy as np
    >>> from riskslim import RiskScore
    >>> score = RiskScore(-1, {"x": 2})
    >>> X = {"x": np.repeat([0, 1], 50)}
    >>> y = np.r_[np.repeat([0, 1], [30, 20]), np.repeat([0, 1], [10, 40])]
    >>> found = score.validate(X, y, n_resamples=0)
    >>> found.n_positive, round(found.metrics["auc"], 3), round(found.line.slope.value, 2)
    (60, 0.708, 0.9)
    >>> found.advised
    'intercept'
    """

    outcome: str
    n_samples: int
    n_positive: int
    metrics: dict[str, float]
    intervals: Mapping[str, Interval | ConsistencyRange]
    line: CalibrationLine
    curve: DecisionCurve
    recalibrated: dict[str, dict[str, float]]
    shares: Mapping[str, Interval] = dataclasses.field(default_factory=dict)
    rule: str = ""

    @property
    def advised(self) -> str | None:
        """The recalibration that is advised: a key of ``recalibrated``, or None."""
        if self.line.slope.value <= 0:
            return None
        if "intercept and slope" in self.recalibrated and _excludes(self.line.slope, 1.0):
            return "intercept and slope"
        if _excludes(self.line.intercept, 0.0):
            return "intercept"
        return None

    def advice(self) -> str:
        """Say in words whether risks should be recalibrated, and what that changes here.

        Returns
        -------
        str
        """
        if self.line.slope.value <= 0:
            return (
                "A higher score does not go with a higher risk in these rows: the score is of no "
                "use for them, or their labels are turned round."
            )
        if self.advised is None:
            return "The risks agree with these rows: no recalibration is needed."
        predicted, observed = (
            share_or_metric_text(name, self.metrics[name]) for name in ("predicted", "observed")
        )
        found = f"The mean risk is {predicted}, observed are {observed}."
        if self.advised == "intercept and slope":
            extreme = "too extreme" if self.line.slope.value < 1 else "not extreme enough"
            found += f" Risks are {extreme}: the interval of the slope does not contain 1."
        after = self.recalibrated[self.advised]
        changes = ", ".join(
            f"{name} {share_or_metric_text(key, self.metrics[key])} -> "
            f"{share_or_metric_text(key, after[key])}"
            for key, name in (("loss", "loss"), ("cal", "CAL"))
        )
        return (
            f"{found} Recalibration of {self.advised} is advised. On these rows: {changes}. The "
            "points, and the AUC with them, stay as they are."
        )

    def records(self) -> list[dict[str, Any]]:
        """List one mapping for each figure: a table for any data frame library.

        Returns
        -------
        list of dict
            With the keys ``part``, ``name``, ``value``, ``lower`` and ``upper``; the ends are NaN
            where there is no interval.
        """
        return [
            {"part": part, "name": name, "value": value, "lower": lower, "upper": upper}
            for part, name, (value, lower, upper) in self._figures()
        ]

    def _figures(self) -> Iterator[tuple[str, str, tuple[float, float, float]]]:
        for name in ("n_samples", "n_positive"):
            yield "rows", name, (getattr(self, name), np.nan, np.nan)
        for name, value in self.metrics.items():
            ends = self.intervals.get(name)
            bounds = (np.nan, np.nan) if ends is None else (ends.lower, ends.upper)
            yield "metric", name, (value, *bounds)
        for name, share in self.shares.items():
            yield "rule", name, (share.value, share.lower, share.upper)
        for name, interval in self.line._asdict().items():
            yield "calibration", name, tuple(interval)
        for one in self.curve.records():
            for name in ("net_benefit", "treat_all"):
                yield "decision", f"{name} from {one['thresholds']:.4g}", (
                    one[name], np.nan, np.nan,
                )  # fmt: skip
        for what, values in self.recalibrated.items():
            for name, value in values.items():
                yield f"recalibrated {what}", name, (value, np.nan, np.nan)

    def __str__(self) -> str:
        share = self.n_positive / self.n_samples
        lines = [
            f"Validation of the risk of {self.outcome}: {self.n_samples} rows, "
            f"{self.n_positive} with the outcome ({share:.1%})",
            "",
            aligned(list(self._lines()), n_left=1),
            *(["", self.rule] if self.rule else []),
            "",
            "Net benefit of acting from a risk on",
            aligned([
                ["risk", "by the score", "on all rows"],
                *(
                    [f"{one['thresholds']:.1%}", *(f"{one[key]:.4f}" for key in _BENEFITS)]
                    for one in self.curve.records()
                ),
            ]),
            "",
            self.advice(),
        ]  # fmt: skip
        return "\n".join(lines)

    def _lines(self) -> Iterator[list[str]]:
        for name in _METRICS:
            range_text = ""
            if (ends := self.intervals.get(name)) is not None:
                low, high = (share_or_metric_text(name, end) for end in (ends.lower, ends.upper))
                of = "95%" if isinstance(ends, Interval) else "by chance, if calibrated"
                range_text = f"{of}: {low} to {high}"
            yield [METRIC_NAMES[name], share_or_metric_text(name, self.metrics[name]), range_text]
        for best, (what, one) in enumerate(self.line._asdict().items()):
            yield [
                f"Calibration {what} ({best} is perfect)", f"{one.value:.2f}",
                f"95%: {one.lower:.2f} to {one.upper:.2f}",
            ]  # fmt: skip
        for name, share in self.shares.items():
            yield [
                f"{name.capitalize()} of the rule", f"{share.value:.1%}",
                f"95%: {share.lower:.1%} to {share.upper:.1%}",
            ]  # fmt: skip


_BENEFITS = ("net_benefit", "treat_all")


def validated(
    score: RiskScore,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    thresholds: Sequence[float] | None = None,
    n_resamples: int | None = None,
) -> Validation:
    """Judge a score on other rows, as :meth:`riskslim.RiskScore.validate` says."""
    (rows,) = judged_rows(score, (X, y, sample_weight), n_resamples=n_resamples)
    observed = rows.metric("observed")
    if thresholds is None:
        thresholds = [round(factor * observed, 4) for factor in _AROUND if factor * observed < 0.95]
    log_odds = link_of(score).log_odds(rows.scores.astype(np.float64))
    shares = shares_of_rows(score, rows)
    return Validation(
        outcome=score.outcome_name, n_samples=len(rows.positive),
        n_positive=int(rows.positive.sum()),
        metrics={name: rows.metric(name) for name in _METRICS}, intervals=rows.intervals,
        line=calibration_line(rows.positive, log_odds, rows.weight),
        curve=decision_curve(rows.positive, rows.risk, rows.weight, thresholds=thresholds),
        recalibrated=_recalibrated(score, rows),
        shares={} if shares is None else share_intervals(shares),
        rule="" if shares is None else f"{threshold_text(score)} {shares.describe()}",
    )  # fmt: skip


def _recalibrated(score: RiskScore, rows: Rows) -> dict[str, dict[str, float]]:
    """Metrics after a recalibration on the same rows, by what it fits."""
    observed = Observations(rows.scores, rows.positive, rows.weight)
    n_positive = int(rows.positive.sum())
    found: dict[str, dict[str, float]] = {}
    for what, with_scale in (("intercept", False), ("intercept and slope", True)):
        if with_scale and min(n_positive, len(rows.positive) - n_positive) < _FEWEST:
            continue
        try:
            fitted = to_observations(link_of(score), observed, with_scale=with_scale)
        except ValueError:  # no scale is the best one
            continue
        values = metrics_of(RiskScale(fitted.intercept, fitted.scale), rows)
        found[what] = {name: values[name] for name in ("loss", "cal", "brier")}
    return found


def _excludes(interval: Interval, value: float) -> bool:
    return not interval.lower <= value <= interval.upper
