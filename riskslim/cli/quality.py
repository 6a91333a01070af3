"""The last lines of a fit: how good the score is on which rows, and the command that says more."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import riskslim
from riskslim.cli.session import logger

if TYPE_CHECKING:
    from riskslim.cli.reading import Source
    from riskslim.data.training_data import TrainingData
    from riskslim.risk_score import RiskScore

__all__ = ["is_sample", "last_lines", "rows_apart"]

# Of more rows than can be looked at one by one in little time, so many are drawn.
SAMPLED_ROWS = 200_000
_MANY_ROWS = 1_000_000


def rows_apart(data: TrainingData, most: int) -> TrainingData:
    """Rows each for itself, all of them or a sample.

    Parameters
    ----------
    data : TrainingData
    most : int
        Rows of which all are taken, if they are apart already.

    Returns
    -------
    TrainingData
    """
    if data.has_each_row and data.n_samples <= most:
        return data
    return riskslim.sampled(data, SAMPLED_ROWS)


def is_sample(rows: TrainingData, data: TrainingData) -> bool:
    """True if rows apart, of :func:`rows_apart`, are not all that the data stand for.

    Parameters
    ----------
    rows, data : TrainingData

    Returns
    -------
    bool
    """
    return SAMPLED_ROWS <= rows.n_samples < data.n_samples


def last_lines(
    score: RiskScore, data: TrainingData, source: Source, output: Path | None, *, is_tested: bool
) -> str:
    """AUC and calibration on the training rows, and the command that makes the report.

    Parameters
    ----------
    score : RiskScore
    data : TrainingData
    source : Source
        The files.
    output : Path or None
        Where the score was saved.
    is_tested : bool
        A cross-validation has been printed.

    Returns
    -------
    str
        Without figures where they cannot be computed: the score is found, and comes first.
    """
    try:
        figures = _figures(score, data, is_tested=is_tested)
    except (MemoryError, ValueError, OSError) as error:
        logger.warning("the score is shown without AUC and calibration: %r", error)
        figures = ""
    if output is None:
        return figures
    if is_tested:
        return f"{figures}\nA report with these folds: the same command with --report FILE".lstrip(
            "\n"
        )
    command = ["riskslim", "report", str(output), *map(str, source.paths)]
    if source.weights is not None:
        command += ["--weights", source.weights]
    command += ["--output", f"{output.stem}.html"]
    return f"{figures}\nReport: {shlex.join(command)}".lstrip("\n")


def _figures(score: RiskScore, data: TrainingData, *, is_tested: bool) -> str:
    from riskslim.metrics.performance import metric_text
    from riskslim.report.rows import judged_rows

    rows = rows_apart(data, _MANY_ROWS)
    which = "a sample of the training rows" if is_sample(rows, data) else "the training rows"
    (judged,) = judged_rows(score, (rows, None, None), n_resamples=0)
    auc, cal = (metric_text(name, judged.metric(name)) for name in ("auc", "cal"))
    new = (
        "the cross-validation above is about new rows" if is_tested else "--cv 5 tests on new rows"
    )
    return f"On {which}, by which the score was chosen: AUC {auc}, CAL {cal}; {new}."
