"""The tables of the report."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riskslim.config import show_config
from riskslim.data.feature_ranges import FeatureRange, printed_range, short
from riskslim.metrics.bootstrap import Interval
from riskslim.metrics.calibration import ConsistencyRange
from riskslim.metrics.discrimination import operating_points
from riskslim.metrics.performance import METRICS, SHARES, metric_text
from riskslim.metrics.rows import MOST_DISTINCT_SCORES
from riskslim.report.cells import Cell, ReportTable, finite_or_none, number_cell
from riskslim.report.inputs import is_of_strengths, is_same_score
from riskslim.report.rows import (
    EXTREME,
    METRIC_NAMES,
    OF_ROWS,
    SEED,
    Rows,
    feature_values,
    share_or_metric_text,
    vector_of,
    weighted_mean,
)
from riskslim.score.link import link_of
from riskslim.score.requirements import Requirement
from riskslim.score.typesetting import typeset
from riskslim.solution import percent

if TYPE_CHECKING:
    from riskslim.metrics.discrimination import OperatingPoints, RateName
    from riskslim.model_selection.cross_validation import CrossValidation
    from riskslim.model_selection.shrinkage import ShrinkagePath
    from riskslim.model_selection.size_path import SizeOnPath
    from riskslim.problem.problem import RiskScoreProblem
    from riskslim.risk_score import RiskScore

__all__ = [
    "called_positive",
    "certificate_table",
    "data_table",
    "feature_means",
    "feature_table",
    "glance",
    "metrics_table",
    "note_on_intervals",
    "operating_table",
    "path_tables",
    "requirements",
    "software_table",
    "weights_of",
]

# With fewer rows of a class than this, its resamples hardly differ.
_FEW_ROWS = 20


def certificate_table(score: RiskScore) -> ReportTable | None:
    """The certificate in numbers.

    Parameters
    ----------
    score : RiskScore

    Returns
    -------
    ReportTable or None
        None for a score that has none.
    """
    certificate = score.certificate
    if certificate is None:
        return None
    loss = [Cell("Loss"), number_cell(certificate.loss, ".9g")]
    ridge = [Cell("Ridge penalty"), number_cell(certificate.ridge, ".9g")]
    rows = [
        [Cell("Status"), Cell(str(certificate.status))],
        *([loss, ridge] if certificate.ridge else []),
        [Cell("Objective"), number_cell(certificate.objective, ".9g")],
        [Cell("Lower bound"), number_cell(certificate.lower_bound, ".9g")],
        [
            Cell("Optimality gap"),
            Cell(percent(certificate.optimality_gap), certificate.optimality_gap),
        ],
        *([] if certificate.ridge else [loss]),
        [Cell("Rows"), Cell(str(certificate.n_samples), certificate.n_samples)],
        [Cell("Scales that it is about"), Cell(certificate.scales.describe())],
        [Cell("Accuracy of the lower bound"), number_cell(certificate.bound_tolerance, ".2g")],
        [Cell("Engine"), Cell(certificate.engine)],
    ]
    if certificate.message:
        rows.append([Cell("How the search ended"), Cell(certificate.message)])
    note = ""
    if score.recalibration is not None:
        note = score.recalibration.note_on_certificate()
    return ReportTable("Certificate in numbers", ("What", "Value"), rows, note)


def metrics_table(rows: Sequence[Rows], cv: CrossValidation | None) -> ReportTable:
    """Metrics of all data side by side.

    Parameters
    ----------
    rows : sequence of Rows
    cv : CrossValidation or None

    Returns
    -------
    ReportTable
    """
    columns = [[Cell(name) for name in METRIC_NAMES.values()], _metrics(rows[0])]
    heads = ["Metric", rows[0].name]
    missing = [f"{one.name}: {why}." for one in rows if (why := one.why_undefined)]
    note = " ".join(filter(None, [*missing, _note_on_calibration(rows)]))
    if cv is not None:
        columns.append([_over_folds(cv, name, rows[0].bins) for name in METRIC_NAMES])
        heads.append(f"cross-validation, {len(cv.folds)} folds")
        note += (
            f" Cross-validation: mean (smallest - largest) over the test rows of {len(cv.folds)} "
            "folds, whose scores were chosen without these rows."
        )
        note = " ".join(filter(None, [note, cv.note_on_auc(), cv.note_on_weights()]))
        if not cv.is_complete:
            note += f" It was stopped: {cv.n_folds} folds were planned."
    columns += [_metrics(one) for one in rows[1:]]
    heads += [one.name for one in rows[1:]]
    return ReportTable("Metrics", heads, list(zip(*columns, strict=True)), note.strip())


def glance(rows: Rows) -> list[tuple[str, Cell]]:
    """The three figures of the first screen.

    Parameters
    ----------
    rows : Rows

    Returns
    -------
    list of (str, Cell)
        AUC, observed risk and calibration error, each with its name and its interval.
    """
    return [
        (name, _metric_cell(key, rows.metric(key), rows.intervals.get(key)))
        for key, name in (
            ("auc", "AUC"),
            ("observed", "Observed risk"),
            ("cal", "Calibration error"),
        )
    ]


def note_on_intervals(rows: Sequence[Rows]) -> list[str]:
    """Return what the intervals of the metrics are, and what they are not, in words.

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
        f"{times} times, whatever their class{weights} (bootstrap, seed {SEED}).",
        "What \u201ca perfectly calibrated score\u201d says: observed risks scatter, so that CAL "
        "and MCAL are above 0 even where every risk is true. In 95% of cases they would then be in "
        "this range, and so would the observed risk: outcomes were drawn from the predicted risks "
        f"{times} times (consistency resampling, seed {SEED}). A value within the range is no "
        "evidence against the risks; one above it says that risks are off by more than chance. On "
        "rows by which the score was chosen, calibration errors are often below.",
        _note_on_optimism(rows),
    ]
    counts = [int(np.count_nonzero(one.positive == sign)) for one in rows for sign in (0, 1)]
    n_fewest = min(filter(None, counts))  # of none there is no interval
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
    """True if calibration errors are about scores that many rows have, or about bins."""
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
    known = METRIC_NAMES if rows.key == "given" else OF_ROWS
    values = {name: rows.metric(name) for name in known}
    return [
        _metric_cell(name, values[name], rows.intervals.get(name)) if name in values else Cell("-")
        for name in METRIC_NAMES
    ]


def _metric_cell(name: str, value: float, interval: Interval | ConsistencyRange | None) -> Cell:
    text = share_or_metric_text(name, value)
    if interval is None:
        return Cell(text, finite_or_none(value))
    low, high = (share_or_metric_text(name, end) for end in (interval.lower, interval.upper))
    of = "95%" if isinstance(interval, Interval) else "a perfectly calibrated score"
    return Cell(text, finite_or_none(value), interval, f"{of}: {low} to {high}")


def _over_folds(cv: CrossValidation, name: str, bins: Any) -> Cell:
    if name in METRICS:
        return Cell(cv.summary(name), finite_or_none(cv.mean(name)))
    curves = [cv.reliability_curve(fold, bins=bins) for fold in cv.folds]
    if name == "mcal":
        values = [curve.maximum_calibration_error for curve in curves]
    else:
        values = [weighted_mean(getattr(curve, name), curve.weights) for curve in curves]
    mean = float(np.mean(values))
    low, high = (share_or_metric_text(name, value) for value in (min(values), max(values)))
    return Cell(f"{share_or_metric_text(name, mean)} ({low} - {high})", mean)


def operating_table(score: RiskScore, rows: Rows) -> ReportTable:
    """List what happens at thresholds on the score.

    Parameters
    ----------
    score : RiskScore
    rows : Rows

    Returns
    -------
    ReportTable
        With at most 30 thresholds.
    """
    points = operating_points(rows.positive, rows.scores, rows.weight)
    finite = points.selection(MOST_DISTINCT_SCORES)
    note = (
        "Rows whose score is at least the threshold are called positive. Rates have Wilson's 95% "
    )
    note += "intervals" + ("." if rows.weight is None else ", for which weights count as rows.")
    rates: tuple[RateName, ...] = ("sensitivity", "specificity", "ppv", "npv")
    intervals = {rate: points.intervals(rate) for rate in rates}
    if len(finite) < len(points) - 1:
        note += f" {len(points) - 1} scores occur; the table has some of them."
    shares = called_positive(points)
    risks = link_of(score).printed(points.thresholds[finite].tolist(), EXTREME)
    table = [
        [
            Cell(f"\u2265 {typeset(f'{points.thresholds[k]:.6g}')}", float(points.thresholds[k])),
            Cell(risk),
            _rate_cell(float(shares[k])),
            *(
                _rate_cell(float(getattr(points, rate)[k]), float(lower[k]), float(upper[k]))
                for rate, (lower, upper) in intervals.items()
            ),
        ]
        for k, risk in zip(finite.tolist(), risks, strict=True)
    ]
    heads = (
        "Score",
        "Risk there",
        "Rows called positive",
        "Sensitivity",
        "Specificity",
        "PPV",
        "NPV",
    )
    return ReportTable(f"Operating points, {rows.name}", heads, table, note)


def _rate_cell(value: float, lower: float = math.nan, upper: float = math.nan) -> Cell:
    if math.isnan(value):
        return Cell("-")
    if math.isnan(lower):
        return Cell(f"{value:.1%}", value)
    return Cell(f"{value:.1%}", value, Interval(value, lower, upper), f"{lower:.1%} to {upper:.1%}")


def called_positive(points: OperatingPoints) -> NDArray[np.float64]:
    """Share of rows, by weight, whose score is at least each threshold.

    Parameters
    ----------
    points : OperatingPoints
        m of them.

    Returns
    -------
    ndarray of float64, shape (m,)
    """
    called = points.true_positives + points.false_positives
    return np.asarray(called / called[-1])


def requirements(score: RiskScore, problem: RiskScoreProblem | None) -> Sequence[Requirement]:
    """Return what was asked of the score, each checked on its points.

    Parameters
    ----------
    score : RiskScore
    problem : RiskScoreProblem or None
        None: what the score itself knows of it.

    Returns
    -------
    sequence of Requirement
    """
    if problem is None:
        return score.requirements
    return problem.requirements(vector_of(score))


def path_tables(score: RiskScore, path: Any) -> list[ReportTable]:
    """The best scores of all sizes: how good they are, and their points.

    Parameters
    ----------
    score : RiskScore
    path : ModelSizePath or ShrinkagePath

    Returns
    -------
    list of ReportTable
        Of a path of strengths the test losses alone.
    """
    if is_of_strengths(path):
        return [_strength_table(path)]
    tested = any(entry.cross_validation is not None for entry in path.entries)
    names = [*METRICS[:3], *(SHARES if path.has_rules else ())]
    words = ["loss", "AUC", "CAL", "sensitivity", "specificity"][: len(names)]
    heads = ["Largest size", "Status", "Gap", *(f"{one[0].upper()}{one[1:]}" for one in words)]
    if tested:
        heads += [f"Test {one}" for one in words]
    sizes = [_size_cell(score, entry) for entry in path.entries]
    rows = [
        [size, *_size_metrics(entry, names, tested)]
        for size, entry in zip(sizes, path.entries, strict=True)
    ]
    note = "" if path.is_complete else "The run was stopped: not all sizes and folds are finished."
    points = [
        [size, Cell(_points_text(entry.risk_score))]
        for size, entry in zip(sizes, path.entries, strict=True)
    ]
    return [
        ReportTable("Best risk score of each size", heads, rows, note),
        ReportTable(
            "Points of each size",
            ["Largest size", "Points"],
            points,
            _note_on_fitted(score).strip(),
        ),
    ]


def _strength_table(path: ShrinkagePath) -> ReportTable:
    """Mean test losses by strength and size."""
    sizes = sorted({size for one in path.paths for size in one.sizes})
    means = {
        (one["shrinkage"], one["max_size"]): one.get("test_loss_mean", math.nan)
        for one in path.records()
    }
    rows = [
        [Cell(f"{strength:g}", strength)]
        + [number_cell(means.get((strength, size), math.nan), ".5f") for size in sizes]
        for strength in path.shrinkages
    ]
    return ReportTable(
        "Mean test loss by shrinkage and largest size",
        ["Shrinkage", *(f"Size {size}" for size in sizes)],
        rows,
        "" if path.is_complete else "The run was stopped: not all of it is finished.",
    )


def _size_cell(score: RiskScore, entry: SizeOnPath) -> Cell:
    found = entry.risk_score
    is_this = found is not None and is_same_score(found, score)
    return Cell(f"{entry.max_size} (this score)" if is_this else f"{entry.max_size}")


def _size_metrics(entry: SizeOnPath, names: Sequence[str], tested: bool) -> list[Cell]:
    certificate = entry.solution.certificate
    gap = certificate.optimality_gap
    row = [
        Cell(str(certificate.status)),
        Cell("-") if math.isnan(gap) else Cell(percent(gap), gap),
    ]
    for name in names:
        value = math.nan if entry.train is None else float(getattr(entry.train, name))
        row.append(Cell(metric_text(name, value), finite_or_none(value)))
    cv = entry.cross_validation
    if tested and cv is not None:
        row += [Cell(cv.summary(name), finite_or_none(cv.mean(name))) for name in names]
    return row


def _points_text(score: RiskScore | None) -> str:
    points = {} if score is None else score.points
    return ", ".join(f"{name} ({typeset(str(worth))})" for name, worth in points.items()) or "-"


def data_table(score: RiskScore, rows: Sequence[Rows]) -> ReportTable:
    """Rows, classes and weights.

    Parameters
    ----------
    score : RiskScore
    rows : sequence of Rows

    Returns
    -------
    ReportTable
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
    return ReportTable(
        "Rows and classes", ["What", *(one.name for one in rows)], list(zip(*columns, strict=True))
    )


def _weight_cells(rows: Rows) -> list[Cell]:
    share = weighted_mean(rows.positive, rows.weight)
    found = weights_of(rows)
    if not found:
        return [Cell("none"), Cell(f"{share:.1%}", share)]
    low, high, total = found.values()
    text = f"{low:.4g} to {high:.4g}, {total:.6g} in all"
    return [Cell(text, total), Cell(f"{share:.1%}", share)]


def weights_of(rows: Rows) -> dict[str, float]:
    """Least and largest weight of rows, and their sum; empty without weights."""
    if rows.weight is None:
        return {}
    low, high, total = rows.weight.min(), rows.weight.max(), rows.weight.sum()
    return {"weight_minimum": float(low), "weight_maximum": float(high), "weight": float(total)}


def _note_on_fitted(score: RiskScore) -> str:
    if score.layout.points == "fitted":
        return ""
    return " Points are as they were fitted: the sheet shows none that is negative."


def feature_table(score: RiskScore, rows: Sequence[Rows]) -> ReportTable:
    """The features with points, and their values.

    Parameters
    ----------
    score : RiskScore
    rows : sequence of Rows

    Returns
    -------
    ReportTable
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
    note += _note_on_fitted(score)
    return ReportTable("Features with points", heads, table, note)


def _feature_cells(score: RiskScore, name: str, rows: Rows) -> list[Cell]:
    found, *means = feature_means(score, name, rows)
    form = ".1%" if found.is_binary else ".4g"
    return [
        Cell(_values_text(found)),
        *(Cell("-") if math.isnan(mean) else Cell(f"{mean:{form}}", mean) for mean in means),
    ]


def feature_means(score: RiskScore, name: str, rows: Rows) -> tuple[FeatureRange, float, float]:
    """Values of a feature, and its means in rows with the outcome and in others.

    Parameters
    ----------
    score : RiskScore
    name : str
    rows : Rows

    Returns
    -------
    FeatureRange
    float, float
    """
    values = feature_values(score, name, rows.X)
    positive, negative = (
        weighted_mean(values[kind], None if rows.weight is None else rows.weight[kind])
        for kind in (rows.positive, ~rows.positive)
    )
    return FeatureRange.of(values), positive, negative


def _values_text(values: FeatureRange) -> str:
    if values.is_binary and values.minimum < values.maximum:
        return "0 or 1"
    if values.minimum == values.maximum:
        return f"{short(values.minimum)} only"
    return typeset(printed_range(values))


def software_table(score: RiskScore) -> ReportTable:
    """Return what the report was written with, and the solver that the score was found with.

    Parameters
    ----------
    score : RiskScore

    Returns
    -------
    ReportTable
    """
    config = show_config(mode="dict")
    kernels, machine = config["kernels"], config["machine"]
    packages = {**config["packages"]}
    # Installed is not used: the certificate names the solver, if there was one.
    del packages["cplex"], packages["pyscipopt"]
    if kernels["backend"] != "numba":
        del packages["numba"]
    engine = "" if score.certificate is None else score.certificate.engine
    solver = engine.partition("(")[2].rstrip(")")
    facts = {
        "riskslim": config["version"],
        **({"solver": solver} if solver else {}),
        "kernels": f"{kernels['backend']}, {kernels['compiler']}" if kernels["backend"] else "none",
        "Python": platform.python_version(),
        **{name: version or "not installed" for name, version in packages.items()},
        "system": f"{machine['system']}, {machine['processor']}",
    }
    rows = [[Cell(name), Cell(value)] for name, value in facts.items()]
    return ReportTable("Versions", ("What", "Version"), rows)
