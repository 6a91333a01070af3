"""What a report says in words and tables, computed by the rest of the package."""

from __future__ import annotations

import dataclasses
import math
import platform
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from riskslim.class_weights import share
from riskslim.config import show_config
from riskslim.constraints import model_size
from riskslim.cross_validation import METRICS, CrossValidation, Performance, metric_text
from riskslim.cross_validation import performance as measured
from riskslim.data import TrainingData
from riskslim.exceptions import ConstantFeatureWarning
from riskslim.feature_ranges import FeatureRange, printed_range, short
from riskslim.item_columns import missing_in
from riskslim.item_rules import computed_items, raw_table
from riskslim.metrics import (
    MOST_DISTINCT_SCORES,
    N_BINS,
    ConsistencyRange,
    Interval,
    bootstrap_intervals,
    calibration_consistency,
    maximum_calibration_error,
    operating_points,
    population_stability_index,
)
from riskslim.raw_variables import RawVariable
from riskslim.related_items import condition_families
from riskslim.rendering import score_line, typeset
from riskslim.risk_score import observations_of
from riskslim.risk_table import AttainableScores, Observations, RiskScale, risk_rows
from riskslim.solution import percent
from riskslim.tables import Table as OpenTable
from riskslim.tables import listing

if TYPE_CHECKING:
    from riskslim.metrics import OperatingPoints
    from riskslim.model_selection import ModelSizePath, SizeOnPath
    from riskslim.problem import RiskScoreProblem
    from riskslim.risk_score import RiskScore

__all__ = [
    "Cell",
    "Drift",
    "Requirement",
    "Rows",
    "Table",
    "calculator_families",
    "calculator_items",
    "certificate_table",
    "check_path",
    "check_resamples",
    "check_same_score",
    "data_table",
    "drift_table",
    "drifts_of",
    "feature_table",
    "is_same_score",
    "metrics_table",
    "note_on_intervals",
    "operating_table",
    "path_tables",
    "remarks",
    "requirements",
    "rows_of",
    "software_table",
    "stated_problem",
    "variable_table",
    "weighted_mean",
]

METRIC_NAMES = {
    "loss": "Loss (normalised logistic)",
    "auc": "AUC",
    "cal": "CAL (expected calibration error)",
    "mcal": "MCAL (largest calibration error)",
    "predicted": "Mean predicted risk",
    "observed": "Observed risk",
    "model_size": "Features with points",
    "optimality_gap": "Optimality gap",
}
_OF_ROWS = ("loss", "auc", "cal", "mcal", "predicted", "observed")
_SHARES = ("predicted", "observed")
# Losses that differ by no more than this share are those of the same rows and weights.
_SAME_LOSS = 1e-9
_EXTREME = 0.001
# Bootstrap resamples, and how many where rows of so many kinds make each one take long.
N_RESAMPLES, MANY_KINDS, FEWER_RESAMPLES = 1000, 100_000, 200
SEED = 0
# With fewer rows of a class than this, its resamples hardly differ.
_FEW_ROWS = 20
# Shares that differ by no more are the same: sums are rounded.
_SAME_SHARE = 1e-12
# The usual reading of population stability indices, and the level of what chance makes of them.
_SOME_SHIFT, _LARGE_SHIFT, _CHANCE_OF_SHIFT = 0.1, 0.25, 0.05


class Cell(NamedTuple):
    """An entry of a table: its text, and the number with all its digits and its interval."""

    text: str
    value: float | None = None
    interval: Interval | ConsistencyRange | None = None
    interval_text: str = ""


class Table(NamedTuple):
    """A table whose rows begin with a heading."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


class Drift(NamedTuple):
    """How differently scores, or values of a feature, are distributed in test rows.

    Attributes
    ----------
    name : str
        "scores", or that of the feature.
    lines : sequence of (str, sequence of two floats, bool)
        What is compared, its value in both sets of rows, and whether that is a share of rows.
    psi : float
        The population stability index.
    by_chance : float
        Below this it is in 95% of cases where both are samples of the same rows.
    """

    name: str
    lines: Sequence[tuple[str, Sequence[float], bool]]
    psi: float
    by_chance: float


class Requirement(NamedTuple):
    """What was asked of the score, and how it breaks it; None if it does not."""

    text: str
    violation: str | None


@dataclasses.dataclass(frozen=True, eq=False)
class Rows:
    """Rows that the score is judged by, and what it predicts for them.

    Parameters
    ----------
    name : str
        What the report calls them, for example "training data".
    key : str
        The same in one word.
    X : array-like or data frame
    positive : ndarray of bool, shape (n,)
    weight : ndarray of float64, shape (n,), or None
    scores : ndarray of int64 or float64, shape (n,)
    risk : ndarray of float64, shape (n,)
    performance : Performance
    mcal : float
    bins : int or "auto" or None
        Of calibration errors.
    intervals : mapping from str to Interval or ConsistencyRange
        By the name of the metric: bootstrap intervals of loss and AUC, and what CAL, MCAL and
        observed risk of a perfectly calibrated score would be; empty without resamples.
    n_resamples : int
        How many they are from.
    """

    name: str
    key: str
    X: Any
    positive: NDArray[np.bool_]
    weight: NDArray[np.float64] | None
    scores: NDArray[Any]
    risk: NDArray[np.float64]
    performance: Performance
    mcal: float
    bins: Any
    intervals: Mapping[str, Interval | ConsistencyRange]
    n_resamples: int

    def metric(self, name: str) -> float:
        """One of :data:`METRIC_NAMES`."""
        if name in _SHARES:
            of = self.risk if name == "predicted" else self.positive
            return weighted_mean(of, self.weight)
        return self.mcal if name == "mcal" else float(getattr(self.performance, name))


# ---------------------------------------------------------------------------------------------
# What is given
# ---------------------------------------------------------------------------------------------


def rows_of(
    score: RiskScore,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    key: str,
    bins: Any,
    n_resamples: int | None,
) -> Rows:
    """Check rows and labels, and judge the score by them.

    Parameters
    ----------
    score : RiskScore
    X, y, sample_weight
        As in :meth:`~riskslim.RiskScore.report`.
    key : {"given", "test"}
        Given rows are called training data if the certificate is about them.
    bins : int or "auto" or None
        Of calibration errors.
    n_resamples : int or None
        Of the bootstrap intervals.

    Returns
    -------
    Rows

    Raises
    ------
    ValueError, TypeError
        Rows, labels or weights that cannot be used.
    """
    if isinstance(X, TrainingData):
        if y is not None or sample_weight is not None:
            raise ValueError("TrainingData has its labels and weights: leave y and weights out")
        y = np.array(X.classes, dtype=object)[(X.labels > 0).astype(np.intp)]
        sample_weight = X.sample_weight
    observed = observations_of(score, X, y, sample_weight)
    if observed is None:
        raise ValueError("X is None, but a report needs rows and labels: report(path, X, y)")
    log_odds, risk = score.decision_function(X), score.predict_proba(X)[:, 1]
    positive, weight = observed.is_positive, observed.weights
    certificate = score.certificate
    gap = math.nan if certificate is None else certificate.optimality_gap
    found = measured(positive, risk, log_odds, weight, len(score.points), gap, bins)
    name = "test data"
    if key == "given":
        name = "training data" if _is_certified(score, found) else "given data"
    if n_resamples is None:
        n_resamples = _default_resamples(log_odds, weight)
    intervals: dict[str, Interval | ConsistencyRange] = {}
    if n_resamples:
        options: dict[str, Any] = {
            "bins": bins, "n_resamples": n_resamples, "random_state": SEED,
        }  # fmt: skip
        intervals.update(bootstrap_intervals(positive, log_odds, weight, **options))
        intervals.update(calibration_consistency(risk, weight, log_odds, **options))
    return Rows(
        name, key, X, positive, weight, observed.scores, risk, found,
        maximum_calibration_error(positive, risk, weight, log_odds, bins=bins), bins,
        intervals, n_resamples,
    )  # fmt: skip


def check_resamples(n_resamples: Any) -> None:
    """Refuse a number of resamples that is none.

    Parameters
    ----------
    n_resamples : int or None

    Raises
    ------
    ValueError
    """
    is_number = isinstance(n_resamples, int) and not isinstance(n_resamples, bool)
    if n_resamples is not None and not (is_number and n_resamples >= 0):
        raise ValueError(
            f"n_resamples must be an int of at least 0, or None, got {n_resamples!r}; 0 leaves the "
            "intervals out"
        )


def _default_resamples(log_odds: NDArray[Any], weight: NDArray[np.float64] | None) -> int:
    """As many as take little time: a resample draws one number for each kind of rows."""
    n_kinds = len(np.unique(log_odds))
    if weight is not None and n_kinds <= MANY_KINDS:
        n_kinds = len(np.unique(log_odds + 1j * weight))
    return FEWER_RESAMPLES if n_kinds > MANY_KINDS else N_RESAMPLES


def _is_certified(score: RiskScore, found: Performance) -> bool:
    """Whether the certificate is about these rows and weights."""
    certificate = score.certificate
    return (
        certificate is not None
        and certificate.n_samples == found.n_samples
        and _is_same_loss(certificate.loss, found.loss)
    )


def _is_same_loss(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_SAME_LOSS, abs_tol=1e-15)


def check_same_score(score: RiskScore, cv: Any, rows: Rows) -> None:
    """Refuse a cross-validation of something else.

    Parameters
    ----------
    score : RiskScore
    cv : CrossValidation
    rows : Rows
        Those that it is said to be about.

    Raises
    ------
    TypeError, ValueError
        ``cv`` is no cross-validation, not of this score, or not of these rows.
    """
    if not isinstance(cv, CrossValidation):
        raise TypeError(
            "cv must be what cross_validate_risk_score returns, or cross_validation of an entry "
            f"of a ModelSizePath, got {type(cv).__name__}"
        )
    if not cv.folds:
        raise ValueError("cv has no finished fold")
    final = cv.final_score
    if final is None or not is_same_score(final, score):
        raise ValueError(
            f"cv is about another model than this score: its final model is {final!r}; report "
            "that one, or leave cv out"
        )
    if not np.array_equal(cv.positive, rows.positive):
        raise ValueError(
            f"cv is about {len(cv.positive)} rows that are not the {len(rows.positive)} rows of X: "
            "pass the X and y that were cross-validated"
        )
    measured_then, now = cv.train, rows.performance
    if measured_then is not None and not _is_same_loss(measured_then.loss, now.loss):
        raise ValueError(
            "cv is about other rows, weights or risks than this score's here: its final model has "
            f"a loss of {measured_then.loss:.6g}, the score one of {now.loss:.6g}; pass the X, y "
            "and sample_weight that were cross-validated (Platt scaling changes risks)"
        )


def check_path(path: Any) -> None:
    """Refuse a path of sizes that is none, or has nothing to show.

    Parameters
    ----------
    path : ModelSizePath

    Raises
    ------
    TypeError, ValueError
    """
    from riskslim.model_selection import ModelSizePath

    if not isinstance(path, ModelSizePath):
        raise TypeError(
            f"size_path must be what model_size_path returns, got {type(path).__name__}"
        )
    if not path.entries:
        raise ValueError("size_path has no finished size")


def is_same_score(one: RiskScore, other: RiskScore) -> bool:
    """Whether two scores predict the same.

    Parameters
    ----------
    one, other : RiskScore

    Returns
    -------
    bool
    """
    same = (one.intercept, dict(one.points), one.scale)
    return same == (other.intercept, dict(other.points), other.scale)


def stated_problem(score: RiskScore, problem: Any, rows: Rows) -> RiskScoreProblem:
    """The problem whose requirements are checked.

    Parameters
    ----------
    score : RiskScore
    problem : RiskScoreProblem or RiskSLIMClassifier
    rows : Rows
        What a classifier's problem is stated on.

    Returns
    -------
    RiskScoreProblem
        At the scale of the score.

    Raises
    ------
    TypeError, ValueError
        Something else, or a problem with other features or without this scale.
    """
    from riskslim.classifier import RiskSLIMClassifier, stated_by
    from riskslim.problem import RiskScoreProblem

    stated = problem
    if isinstance(problem, RiskSLIMClassifier):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConstantFeatureWarning)
            labels = rows.positive.astype(np.int8)
            given = isinstance(rows.X, TrainingData)
            X = rows.X if given else _all_features(score, rows.X)
            data = X if given else TrainingData(X, labels, rows.weight)
            stated, _ = stated_by(problem, data)
    if not isinstance(stated, RiskScoreProblem):
        raise TypeError(
            "problem must be a RiskScoreProblem or a RiskSLIMClassifier, got "
            f"{type(problem).__name__}"
        )
    if stated.coefficients.feature_names != tuple(score.feature_names):
        raise ValueError(
            f"the problem is about {stated.n_features} features that are not the "
            f"{len(score.feature_names)} features that the score was chosen from"
        )
    return stated.at_scale(score.scale)


def _all_features(score: RiskScore, X: Any) -> Any:
    """Rows with the features that a score was chosen from, computed where X has raw columns."""
    features = score.feature_names
    table, _ = computed_items(X, features, features, {}, handle_unknown="ignore")
    names = [str(name) for name in table.names or ()]
    if not set(features) <= set(names):
        return X
    positions = [names.index(name) for name in features]
    return OpenTable(
        table.n_samples, len(positions), features, lambda k: table.values(positions[k])
    )


# ---------------------------------------------------------------------------------------------
# Words and tables
# ---------------------------------------------------------------------------------------------


def remarks(
    score: RiskScore,
    rows: Sequence[Rows],
    problem: RiskScoreProblem | None,
    drifts: Sequence[Drift],
) -> list[str]:
    """What is worth knowing before the report is used, in words.

    Parameters
    ----------
    score : RiskScore
    rows : sequence of Rows
    problem : RiskScoreProblem or None
    drifts : sequence of Drift
        Of :func:`drifts_of`.

    Returns
    -------
    list of str
    """
    weighting, certificate = score.class_weighting, score.certificate
    of_score = []
    if weighting is not None:
        of_score.append(weighting.describe(f"{score.outcome_name} = {score.classes[1]}"))
    found = [] if problem is None else list(problem.remarks(_vector(score)))
    if certificate is not None and rows[0].name != "training data":
        found.append(
            f"The certificate is about other rows or weights than these: {certificate.n_samples} "
            f"rows with a loss of {certificate.loss:.6g}, and not {rows[0].performance.n_samples} "
            f"rows with a loss of {rows[0].performance.loss:.6g}."
        )
    found += _remarks_on_calibration(score, rows)
    found += _remarks_on_drift(rows, drifts)
    for one in rows:
        found += [
            f"{_title(one)}: {remark}" for remark in score.remarks(one.X) if remark not in of_score
        ]
    return of_score + [remark for remark in found if remark not in of_score]


def _title(rows: Rows) -> str:
    return rows.name[0].upper() + rows.name[1:]


def _remarks_on_calibration(score: RiskScore, rows: Sequence[Rows]) -> list[str]:
    """Where risks are off by more than chance, on rows that the score was not chosen by."""
    trained = rows[0] if rows[0].name == "training data" else None
    found = [
        f"{_title(one)}: {remark}"
        for one in rows
        if one is not trained and (remark := _remark_on_calibration(one, trained)) is not None
    ]
    if found and score.certificate is not None:
        found.append(
            "The certificate is about the training rows only: it says how close the score is to "
            "the best one there, and not that risks are true for other rows."
        )
    return found


def _remark_on_calibration(rows: Rows, trained: Rows | None) -> str | None:
    if not rows.intervals:
        return None
    predicted, observed = (rows.metric(name) for name in _SHARES)
    chance, cal_chance = rows.intervals["observed"], rows.intervals["cal"]
    is_low = observed > chance.upper + _SAME_SHARE
    is_high = observed < chance.lower - _SAME_SHARE
    is_uneven = rows.metric("cal") > cal_chance.upper + _SAME_SHARE
    if not (is_low or is_high or is_uneven):
        return None
    of_outcome, of_mean, low, high = _told_apart(observed, predicted, chance.lower, chance.upper)
    cal, *ends = (
        _metric_text("cal", value)
        for value in (rows.metric("cal"), cal_chance.lower, cal_chance.upper)
    )
    of_cal = (
        f"CAL is {cal}, where a perfectly calibrated score has {ends[0]} to {ends[1]} by chance"
    )
    means = f"the mean predicted risk is {of_mean}, the observed risk {of_outcome}"
    if not (is_low or is_high):
        return (
            f"risks are off by more than chance, though not on average: {of_cal}; {means}. The "
            "reliability diagram shows where they are too low and where too high."
        )
    times = f", {observed / predicted:.2g} times as much" if predicted > 0 else ""
    then = ""
    if trained is not None:
        then = " (training data: {} predicted, {} observed)".format(
            *(share(trained.metric(name)) for name in _SHARES)
        )
    return (
        f"risks are too {'low' if is_low else 'high'}: {means}, "
        f"{100 * abs(observed - predicted):.2g} percentage points "
        f"{'more' if is_low else 'less'}{times}{then}. With true risks it would by chance be "
        f"{low} to {high}. {of_cal}."
    )


def _told_apart(observed: float, *others: float) -> list[str]:
    """Shares with as many decimals as it takes to tell the first from the others."""
    for digits in range(1, 7):
        first, *rest = (f"{value:.{digits}%}" for value in (observed, *others))
        if first not in rest:
            break
    return [first, *rest]


def _remarks_on_drift(rows: Sequence[Rows], drifts: Sequence[Drift]) -> list[str]:
    shifted = [
        f"{_index_text(one.psi)} of {one.name if one is drifts[0] else repr(one.name)}"
        for one in drifts
        if one.psi >= max(_SOME_SHIFT, one.by_chance)
    ]
    if not shifted:
        return []
    return [
        f"{_title(rows[1])}: rows are of another kind than the {rows[0].name}. Population "
        f"stability index: {listing(shifted)}."
    ]


def _index_text(index: float) -> str:
    if index < _SOME_SHIFT:
        return f"{index:.3f}"
    return f"{index:.3f} ({'large' if index > _LARGE_SHIFT else 'some'} shift)"


def drifts_of(score: RiskScore, rows: Sequence[Rows]) -> list[Drift]:
    """Compare scores and features of training and test rows.

    Parameters
    ----------
    score : RiskScore
    rows : sequence of Rows

    Returns
    -------
    list of Drift
        Of the scores, then of each feature with points; none without test rows.
    """
    if len(rows) < 2:
        return []
    return [_drift_of_scores(score, rows), *(_drift_of(score, name, rows) for name in score.points)]


def _drift_of_scores(score: RiskScore, rows: Sequence[Rows]) -> Drift:
    """Scores in the groups that a risk table of all rows has."""
    scores, positive = (
        np.concatenate([getattr(one, name) for one in rows]) for name in ("scores", "positive")
    )
    entries = risk_rows(
        AttainableScores(score.points, score.feature_ranges),
        RiskScale(score.intercept, score.scale),
        extreme=_EXTREME,
        max_rows=MOST_DISTINCT_SCORES,
        observations=Observations(scores, positive),
    )
    starts = np.array([entry.lowest for entry in entries])
    groups = [
        np.searchsorted(starts, one.scores.astype(np.float64), side="right") - 1 for one in rows
    ]
    means = [weighted_mean(one.scores, one.weight) for one in rows]
    shares = np.array(
        [
            np.bincount(group, one.weight, len(entries)) / np.bincount(group, one.weight).sum()
            for group, one in zip(groups, rows, strict=True)
        ]
    )
    lines: list[tuple[str, Sequence[float], bool]] = [("Score: mean", means, False)]
    lines += [
        (f"Score {typeset(entry.score)}", shares[:, k].tolist(), True)
        for k, entry in enumerate(entries)
        if shares[:, k].any()
    ]
    return Drift("scores", lines, *_index_of(groups, rows))


def _drift_of(score: RiskScore, name: str, rows: Sequence[Rows]) -> Drift:
    values = [_feature_values(score, name, one.X) for one in rows]
    means = [weighted_mean(v, one.weight) for v, one in zip(values, rows, strict=True)]
    is_condition = all(FeatureRange.of(one).is_binary for one in values)
    line = (name if is_condition else f"{name}: mean", means, is_condition)
    return Drift(name, [line], *_index_of(values, rows))


def _index_of(values: Sequence[NDArray[Any]], rows: Sequence[Rows]) -> tuple[float, float]:
    """The population stability index of values of training and test rows, and by chance."""
    weights = [one.weight for one in rows]
    index = population_stability_index(*values, *weights, bins="auto")
    n_cells = len(np.unique(np.concatenate(values)))
    if n_cells < 2:
        return index, 0.0
    if n_cells > MOST_DISTINCT_SCORES:
        n_cells = N_BINS
    spread = sum(
        1 / len(one.positive)
        if one.weight is None
        else (one.weight**2).sum() / one.weight.sum() ** 2
        for one in rows
    )
    return index, float(chdtri(n_cells - 1, _CHANCE_OF_SHIFT) * spread)


def drift_table(rows: Sequence[Rows], drifts: Sequence[Drift]) -> Table | None:
    """Scores and features of training and test rows side by side.

    Parameters
    ----------
    rows : sequence of Rows
    drifts : sequence of Drift
        Of :func:`drifts_of`.

    Returns
    -------
    Table or None
        None without test rows.
    """
    if not drifts:
        return None
    lines = []
    for drift in drifts:
        for k, (what, values, is_share) in enumerate(drift.lines):
            cells = [Cell(share(v) if is_share else f"{v:.4g}", v) for v in values]
            index = Cell("") if k else Cell(_index_text(drift.psi), drift.psi)
            lines.append([Cell(what), *cells, index])
    given = rows[0].name.removesuffix(" data")
    by_weight = ", by weight" if any(one.weight is not None for one in rows) else ""
    note = (
        f"Shares of rows{by_weight}; for a condition, of those where it holds. PSI is the "
        "population stability index, the sum of (a \u2212 e) log(a / e) over all scores, or over "
        f"the values of a condition, where e is the share of {given} rows and a that of test rows. "
        f"Read it as: below {_SOME_SHIFT} little has changed, {_SOME_SHIFT} to {_LARGE_SHIFT} some "
        f"shift, above {_LARGE_SHIFT} a large shift. A score that is missing in one set counts as "
        "half a row there. With so many rows, chance alone makes up to "
        f"{drifts[0].by_chance:.2g} for the scores (in 95% of cases)."
    )
    return Table(
        f"Scores and conditions, {given} and test rows",
        ["Score or condition", *(one.name for one in rows), "PSI"],
        lines,
        note,
    )


def certificate_table(score: RiskScore) -> Table | None:
    """The certificate in numbers.

    Parameters
    ----------
    score : RiskScore

    Returns
    -------
    Table or None
        None for a score that has none.
    """
    certificate = score.certificate
    if certificate is None:
        return None
    rows = [
        [Cell("Status"), Cell(str(certificate.status))],
        [Cell("Objective"), _number(certificate.objective, ".9g")],
        [Cell("Lower bound"), _number(certificate.lower_bound, ".9g")],
        [
            Cell("Optimality gap"),
            Cell(percent(certificate.optimality_gap), certificate.optimality_gap),
        ],
        [Cell("Loss"), _number(certificate.loss, ".9g")],
        [Cell("Rows"), Cell(str(certificate.n_samples), certificate.n_samples)],
        [Cell("Scales that it is about"), Cell(certificate.scales.describe())],
        [Cell("Accuracy of the lower bound"), _number(certificate.bound_tolerance, ".2g")],
        [Cell("Engine"), Cell(certificate.engine)],
    ]
    if certificate.message:
        rows.append([Cell("How the search ended"), Cell(certificate.message)])
    return Table("Certificate in numbers", ("What", "Value"), rows)


def metrics_table(rows: Sequence[Rows], cv: CrossValidation | None) -> Table:
    """Metrics of all data side by side.

    Parameters
    ----------
    rows : sequence of Rows
    cv : CrossValidation or None

    Returns
    -------
    Table
    """
    columns = [[Cell(name) for name in METRIC_NAMES.values()], _metrics(rows[0])]
    heads = ["Metric", rows[0].name]
    note = _note_on_calibration(rows)
    if cv is not None:
        columns.append([_over_folds(cv, name, rows[0].bins) for name in METRIC_NAMES])
        heads.append(f"cross-validation, {len(cv.folds)} folds")
        note += (
            f" Cross-validation: mean (smallest - largest) over the test rows of {len(cv.folds)} "
            "folds, whose scores were chosen without these rows."
        )
        if not cv.is_complete:
            note += f" It was stopped: {cv.n_folds} folds were planned."
    columns += [_metrics(one) for one in rows[1:]]
    heads += [one.name for one in rows[1:]]
    return Table("Metrics", heads, list(zip(*columns, strict=True)), note.strip())


def note_on_intervals(rows: Sequence[Rows]) -> list[str]:
    """What the intervals of the metrics are, and what they are not, in words.

    Parameters
    ----------
    rows : sequence of Rows

    Returns
    -------
    list of str
        Paragraphs; none where there are no intervals.
    """
    if not rows[0].intervals:
        return []
    times = " and ".join(dict.fromkeys(f"{one.n_resamples}" for one in rows))
    weights = ""
    if any(one.weight is not None for one in rows):
        weights = ", each row with its weight and counted as one observation"
    found = [
        "What \u201c95%\u201d says: how far loss and AUC may be off by chance, because only so "
        "many rows were seen. With other rows of the same kind, this same score would most often "
        "have a value in about this range. For that, rows were drawn anew with replacement "
        f"{times} times, as many of each class as there are{weights} (bootstrap, seed {SEED}).",
        "What \u201ca perfectly calibrated score\u201d says: observed risks scatter, so that CAL "
        "and MCAL are above 0 even where every risk is true. In 95% of cases they would then be in "
        "this range, and so would the observed risk: outcomes were drawn from the predicted risks "
        f"{times} times (consistency resampling, seed {SEED}). A value within the range is no "
        "evidence against the risks; one above it says that risks are off by more than chance. On "
        "rows by which the score was chosen, calibration errors are often below.",
        _note_on_optimism(rows),
    ]
    n_fewest = min(int(np.count_nonzero(one.positive == sign)) for one in rows for sign in (0, 1))
    if n_fewest < _FEW_ROWS:
        found.append(
            f"One class has {n_fewest} {'row' if n_fewest == 1 else 'rows'} only: from so few, "
            "intervals are too short."
        )
    return found


def _note_on_optimism(rows: Sequence[Rows]) -> str:
    given = rows[0].name
    chosen = f"The score was chosen by how well it does on the {given}"
    if given != "training data":
        chosen = "If the score was chosen on these rows"
    note = (
        f"What neither says: how good the score is on new rows. {chosen}, so that its values "
        "there are better than they will be elsewhere, and the intervals with them."
    )
    return f"{note} Cross-validation and test rows show that."


def _has_calibration_at_scores(rows: Rows) -> bool:
    """Whether calibration errors are about scores that many rows have, or about bins."""
    return rows.bins is not None or len(np.unique(rows.scores)) <= MOST_DISTINCT_SCORES


def _note_on_calibration(rows: Sequence[Rows]) -> str:
    if all(map(_has_calibration_at_scores, rows)):
        return ""
    n_scores = max(len(np.unique(one.scores)) for one in rows)
    return (
        f"CAL and MCAL compare risks at each of {n_scores} distinct scores, many of which few rows "
        "have: they are large for any score of this kind. The diagrams put scores into groups."
    )


def _metrics(rows: Rows) -> list[Cell]:
    # Size and gap are those of the search, which had no test rows.
    known = METRIC_NAMES if rows.key == "given" else _OF_ROWS
    values = {name: rows.metric(name) for name in known}
    return [
        _metric_cell(name, values[name], rows.intervals.get(name)) if name in values else Cell("-")
        for name in METRIC_NAMES
    ]


def _metric_cell(name: str, value: float, interval: Interval | ConsistencyRange | None) -> Cell:
    text = _metric_text(name, value)
    if interval is None:
        return Cell(text, _finite(value))
    low, high = (_metric_text(name, end) for end in (interval.lower, interval.upper))
    of = "95%" if isinstance(interval, Interval) else "a perfectly calibrated score"
    return Cell(text, _finite(value), interval, f"{of}: {low} to {high}")


def _metric_text(name: str, value: float) -> str:
    if name in _SHARES:
        return share(value)
    return metric_text("cal" if name == "mcal" else name, value)


def _over_folds(cv: CrossValidation, name: str, bins: Any) -> Cell:
    if name in METRICS:
        return Cell(cv.summary(name), _finite(cv.mean(name)))
    curves = [cv.reliability_curve(fold, bins=bins) for fold in cv.folds]
    if name == "mcal":
        values = [curve.maximum_calibration_error for curve in curves]
    else:
        values = [weighted_mean(getattr(curve, name), curve.weights) for curve in curves]
    mean = float(np.mean(values))
    low, high = (_metric_text(name, value) for value in (min(values), max(values)))
    return Cell(f"{_metric_text(name, mean)} ({low} - {high})", mean)


def operating_table(score: RiskScore, rows: Rows) -> Table:
    """What happens at thresholds on the score.

    Parameters
    ----------
    score : RiskScore
    rows : Rows

    Returns
    -------
    Table
        With at most 30 thresholds.
    """
    points = operating_points(rows.positive, rows.scores, rows.weight)
    finite = points.selection(MOST_DISTINCT_SCORES)
    note = "Rows whose score is at least the threshold are called positive."
    if len(finite) < len(points) - 1:
        note += f" {len(points) - 1} scores occur; the table has some of them."
    shares = _called_positive(points)
    risks = RiskScale(score.intercept, score.scale).printed(
        points.thresholds[finite].tolist(), _EXTREME
    )
    table = [
        [
            Cell(f"\u2265 {typeset(f'{points.thresholds[k]:.6g}')}", float(points.thresholds[k])),
            Cell(risk),
            *(
                Cell("-" if math.isnan(value) else f"{value:.1%}", _finite(value))
                for value in (
                    float(column[k])
                    for column in (
                        shares, points.sensitivity, points.specificity, points.ppv, points.npv,
                    )
                )
            ),
        ]
        for k, risk in zip(finite.tolist(), risks, strict=True)
    ]  # fmt: skip
    heads = (
        "Score",
        "Risk there",
        "Rows called positive",
        "Sensitivity",
        "Specificity",
        "PPV",
        "NPV",
    )
    return Table(f"Operating points, {rows.name}", heads, table, note)


def _called_positive(points: OperatingPoints) -> NDArray[np.float64]:
    """Share of rows, by weight, whose score is at least each threshold."""
    called = points.true_positives + points.false_positives
    return np.asarray(called / called[-1])


def requirements(score: RiskScore, problem: RiskScoreProblem) -> list[Requirement]:
    """What was asked of the score, each checked on its points.

    Parameters
    ----------
    score : RiskScore
    problem : RiskScoreProblem

    Returns
    -------
    list of Requirement
        Limits of the size and bounds first, then constraints in their order.
    """
    vector = _vector(score)
    size = problem.model_size(vector)
    found = [
        Requirement(
            model_size(problem.min_size, problem.max_size).describe(),
            None if problem.min_size <= size <= problem.max_size else f"model size is {size}",
        ),
        _bounds(problem, vector),
    ]
    rows = problem.constraint_rows
    if rows is None:
        return found
    culprits = rows.culprits(vector)
    for k, constraint in enumerate(rows.constraints):
        name = "" if constraint.name is None else f"{constraint.name}: "
        found.append(Requirement(f"{name}{constraint.describe()}", culprits.get(k)))
    return found


def _bounds(problem: RiskScoreProblem, vector: NDArray[np.int64]) -> Requirement:
    lower, upper = problem.lower, problem.upper
    ends = sorted({(lower[1 + j], upper[1 + j]) for j in np.flatnonzero(problem.usable)})
    if len(ends) == 1:
        text = f"points of every feature from {ends[0][0]} to {ends[0][1]}"
    else:
        text = (
            "points of every feature within bounds of its own, from "
            f"{min((low for low, _ in ends), default=0)} to "
            f"{max((high for _, high in ends), default=0)} at most"
        )
    derived = " (derived from the data)" if problem.intercept_is_derived else ""
    text += f"; intercept from {lower[0]} to {upper[0]}{derived}"
    outside = np.flatnonzero((vector < lower) | (vector > upper))
    names = ("(intercept)", *problem.coefficients.feature_names)
    broken = ", ".join(f"{names[j]!r} ({vector[j]})" for j in outside)
    return Requirement(text, f"broken by {broken}" if broken else None)


def _vector(score: RiskScore) -> NDArray[np.int64]:
    points = [score.points.get(name, 0) for name in score.feature_names]
    return np.array([score.intercept, *points], dtype=np.int64)


def path_tables(score: RiskScore, path: ModelSizePath) -> list[Table]:
    """The best scores of all sizes: how good they are, and their points.

    Parameters
    ----------
    score : RiskScore
    path : ModelSizePath

    Returns
    -------
    list of Table
    """
    tested = any(entry.cross_validation is not None for entry in path.entries)
    heads = ["Largest size", "Status", "Gap", "Loss", "AUC", "CAL"]
    if tested:
        heads += ["Test loss", "Test AUC", "Test CAL"]
    sizes = [_size_cell(score, entry) for entry in path.entries]
    rows = [
        [size, *_size_metrics(entry, tested)]
        for size, entry in zip(sizes, path.entries, strict=True)
    ]
    note = "" if path.is_complete else "The run was stopped: not all sizes and folds are finished."
    points = [
        [size, Cell(_points_text(entry.risk_score))]
        for size, entry in zip(sizes, path.entries, strict=True)
    ]
    return [
        Table("Best risk score of each size", heads, rows, note),
        Table("Points of each size", ["Largest size", "Points"], points),
    ]


def _size_cell(score: RiskScore, entry: SizeOnPath) -> Cell:
    found = entry.risk_score
    is_this = found is not None and is_same_score(found, score)
    return Cell(f"{entry.max_size} (this score)" if is_this else f"{entry.max_size}")


def _size_metrics(entry: SizeOnPath, tested: bool) -> list[Cell]:
    certificate = entry.solution.certificate
    gap = certificate.optimality_gap
    row = [
        Cell(str(certificate.status)),
        Cell("-") if math.isnan(gap) else Cell(percent(gap), gap),
    ]
    for name in METRICS[:3]:
        value = math.nan if entry.train is None else float(getattr(entry.train, name))
        row.append(Cell(metric_text(name, value), _finite(value)))
    cv = entry.cross_validation
    if tested and cv is not None:
        row += [Cell(cv.summary(name), _finite(cv.mean(name))) for name in METRICS[:3]]
    return row


def _points_text(score: RiskScore | None) -> str:
    points = {} if score is None else score.points
    return ", ".join(f"{name} ({typeset(str(worth))})" for name, worth in points.items()) or "-"


def data_table(score: RiskScore, rows: Sequence[Rows]) -> Table:
    """Rows, classes and weights.

    Parameters
    ----------
    score : RiskScore
    rows : sequence of Rows

    Returns
    -------
    Table
    """
    columns = [[Cell("Rows")], *([Cell(f"{len(one.positive)}", len(one.positive))] for one in rows)]
    for label, sign in zip(reversed(score.classes), (True, False), strict=True):
        columns[0].append(Cell(f"with {score.outcome_name} = {label}"))
        for column, one in zip(columns[1:], rows, strict=True):
            count = int(np.count_nonzero(one.positive == sign))
            column.append(Cell(f"{count} ({count / len(one.positive):.1%})", count))
    if any(one.weight is not None for one in rows):
        columns[0] += [Cell("Weights"), Cell(f"share of {score.outcome_name} by weight")]
        for column, one in zip(columns[1:], rows, strict=True):
            column += _weight_cells(one)
    return Table(
        "Rows and classes", ["What", *(one.name for one in rows)], list(zip(*columns, strict=True))
    )


def _weight_cells(rows: Rows) -> list[Cell]:
    share = weighted_mean(rows.positive, rows.weight)
    if rows.weight is None:
        return [Cell("none"), Cell(f"{share:.1%}", share)]
    low, high, total = rows.weight.min(), rows.weight.max(), rows.weight.sum()
    text = f"{low:.4g} to {high:.4g}, {total:.6g} in all"
    return [Cell(text, float(total)), Cell(f"{share:.1%}", share)]


def feature_table(score: RiskScore, rows: Sequence[Rows]) -> Table:
    """The features with points, and their values.

    Parameters
    ----------
    score : RiskScore
    rows : sequence of Rows

    Returns
    -------
    Table
    """
    heads = ["Feature", "Points", "Values it was learned on"]
    for one in rows:
        heads += [f"{one.name}: values", f"mean, {score.outcome_name} = {score.classes[1]}",
                  f"mean, {score.outcome_name} = {score.classes[0]}"]  # fmt: skip
    table = []
    for name, points in score.points.items():
        line = [
            Cell(name),
            Cell(typeset(str(points)), points),
            Cell(_values_text(score.feature_ranges[name])),
        ]
        for one in rows:
            line += _feature_cells(score, name, one)
        table.append(line)
    note = f"{len(score.points)} of {len(score.feature_names)} features have points."
    if any(values.is_binary for values in score.feature_ranges.values()):
        note += " The mean of a condition is the share of rows where it holds."
    return Table("Features with points", heads, table, note)


def variable_table(score: RiskScore, rows: Sequence[Rows]) -> Table | None:
    """The raw columns that features with points are computed from, and where values are missing.

    Parameters
    ----------
    score : RiskScore
    rows : sequence of Rows

    Returns
    -------
    Table or None
        None where the score does not know them.
    """
    if not score.variables:
        return None
    heads = ["Column", "Values it was learned on", "missing"]
    for one in rows:
        heads += [f"{one.name}: values", "missing"]
    tables = [raw_table(one.X) for one in rows]
    lines = []
    for name, variable in score.variables.items():
        known = {"boolean": "no, yes", "numeric": variable.range_text}.get(
            variable.kind, listing(map(str, variable.levels))
        )
        line = [Cell(name), Cell(known), _missing_cell(variable.n_missing, variable.n_samples)]
        for table in tables:
            line += _variable_cells(variable, table)
        lines.append(line)
    note = "Features with points are computed from these columns."
    return Table("Raw columns", heads, lines, note)


def _variable_cells(variable: RawVariable, table: OpenTable) -> list[Cell]:
    names = [str(name) for name in table.names or ()]
    if variable.name not in names:
        return [Cell("not given"), Cell("")]
    raw = table.values(names.index(variable.name))
    missing = missing_in(raw)
    there = raw[~missing]
    if variable.kind == "numeric":
        ends = [short(end(there).item()) for end in (np.min, np.max)] if len(there) else []
        found = " to ".join(ends)
    elif variable.kind == "boolean":
        found = ", ".join("yes" if value else "no" for value in sorted(set(there.tolist())))
    else:
        found = listing(sorted(map(str, set(there.tolist()))))
    return [Cell(found), _missing_cell(int(np.count_nonzero(missing)), len(raw))]


def _missing_cell(count: int, n_samples: int) -> Cell:
    share = f" ({count / n_samples:.1%})" if count else ""
    return Cell(f"{count}{share}", count)


def _feature_cells(score: RiskScore, name: str, rows: Rows) -> list[Cell]:
    values = _feature_values(score, name, rows.X)
    found = FeatureRange.of(values)
    cells = [Cell(_values_text(found))]
    for positive in (rows.positive, ~rows.positive):
        weight = None if rows.weight is None else rows.weight[positive]
        mean = weighted_mean(values[positive], weight)
        cells.append(Cell(f"{mean:.1%}" if found.is_binary else f"{mean:.4g}", mean))
    return cells


def _feature_values(score: RiskScore, name: str, X: Any) -> NDArray[Any]:
    # The score of one point for a feature is its value.
    return dataclasses.replace(score, points={name: 1}).score_samples(X)


def _values_text(values: FeatureRange) -> str:
    if values.is_binary and values.minimum < values.maximum:
        return "0 or 1"
    if values.minimum == values.maximum:
        return f"{short(values.minimum)} only"
    return typeset(printed_range(values))


def weighted_mean(values: NDArray[Any], weight: NDArray[np.float64] | None) -> float:
    """Mean of values, by weight if there are weights.

    Parameters
    ----------
    values : ndarray of shape (n,)
    weight : ndarray of float64, shape (n,), or None

    Returns
    -------
    float
    """
    return float(np.average(values, weights=weight))


def software_table(score: RiskScore) -> Table:
    """What the report was written with, and the solver that the score was found with.

    Parameters
    ----------
    score : RiskScore

    Returns
    -------
    Table
    """
    config = show_config(mode="dict")
    kernels, machine = config["kernels"], config["machine"]
    packages = {**config["packages"]}
    # Installed is not used: the certificate names the solver, if there was one.
    del packages["cplex"]
    if kernels["backend"] != "numba":
        del packages["numba"]
    engine = "" if score.certificate is None else score.certificate.engine
    solver = engine.partition("(")[2].rstrip(")")
    facts = {
        "riskslim": config["version"],
        **({"solver": solver} if solver else {}),
        "kernels": f"{kernels['backend']}, {kernels['compiler']}",
        "Python": platform.python_version(),
        **{name: version or "not installed" for name, version in packages.items()},
        "system": f"{machine['system']}, {machine['processor']}",
    }
    rows = [[Cell(name), Cell(value)] for name, value in facts.items()]
    return Table("Versions", ("What", "Version"), rows)


def calculator_items(score: RiskScore) -> list[dict[str, Any]]:
    """What the calculator asks for.

    Parameters
    ----------
    score : RiskScore

    Returns
    -------
    list of dict
        One for each feature with points, of values that JSON has.
    """
    return [
        {
            "name": name,
            "points": points,
            "isCondition": values.is_binary,
            "isInteger": values.is_integer,
            "minimum": values.minimum,
            "maximum": values.maximum,
            "range": typeset(printed_range(values)),
            "worth": typeset(score_line(name, points, values).worth),
        }
        for (name, points), values in zip(
            score.points.items(), score.feature_ranges.values(), strict=True
        )
    ]


def calculator_families(score: RiskScore) -> list[dict[str, Any]]:
    """Which ticks of the calculator can be together.

    Parameters
    ----------
    score : RiskScore

    Returns
    -------
    list of dict
        For conditions on one variable, of which not all can hold together: the numbers of the
        items, and all that can be true of them.
    """
    number = {name: k for k, name in enumerate(score.points)}
    return [
        {"items": [number[name] for name in family.names], "patterns": family.patterns}
        for family in condition_families(score.points, score.feature_ranges)
        if not family.is_free
    ]


def _number(value: float, form: str) -> Cell:
    return Cell(f"{value:{form}}", _finite(value))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
