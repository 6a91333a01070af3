"""``riskslim validate``: a score on the rows of another place or time."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import riskslim
from riskslim._writing import csv_text
from riskslim.cli.applying import Applied
from riskslim.cli.options import (
    DataFiles,
    Decimal,
    Encoding,
    MemoryLimitOfRows,
    MetricsOutput,
    MissingText,
    OutcomeOfRows,
    PositiveOfRows,
    Rename,
    Resamples,
    RisksOfDecisions,
    ScoreFile,
    Separator,
    UnknownLevels,
    Weights,
)
from riskslim.cli.outputs import check_outputs, write_text
from riskslim.cli.session import print_remarks, session
from riskslim.cli.streams import emit

if TYPE_CHECKING:
    import pyarrow

    from riskslim.risk_score import RiskScore

__all__ = ["validate"]

# Of missing values, so much more than in training is remarked on.
_MANY_MISSING = 0.2


def validate(
    *,
    score: ScoreFile,
    data: DataFiles,
    outcome: OutcomeOfRows = None,
    positive: PositiveOfRows = None,
    rename: Rename = None,
    weights: Weights = None,
    thresholds: RisksOfDecisions = None,
    resamples: Resamples = None,
    metrics_output: MetricsOutput = None,
    unknown_levels: UnknownLevels = "error",
    missing_text: MissingText = None,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    memory_limit: MemoryLimitOfRows = None,
) -> None:
    """Judge a risk score on the rows of another place or time.

    Prints discrimination, calibration and net benefit with 95% intervals, whether risks should be
    recalibrated for such rows, and the commands that write the report and do that.
    """
    with session():
        check_outputs(
            {"--metrics-output": metrics_output},
            [("risk score", score), *(("data", one) for one in data)],
        )
        risk_score = riskslim.RiskScore.load(score)
        applied = Applied.of(
            risk_score, unknown_levels, (missing_text, separator, decimal, encoding),
            memory_limit=memory_limit, what="validate", rename=rename, positive=positive,
        )  # fmt: skip
        rows = applied.all_rows(data, outcome=outcome, weights=weights, kept=risk_score.variables)
        found = risk_score.validate(
            *rows[:3], thresholds=_risks_of(thresholds), n_resamples=resamples
        )
        if metrics_output is not None:
            records = found.records()
            lines = [["" if cell != cell else cell for cell in one.values()] for one in records]
            write_text(csv_text([records[0], *lines]), metrics_output)
        emit(str(found))
        given = {
            "--outcome": outcome, "--positive": positive, "--weights": weights,
            "--separator": separator, "--decimal": decimal, "--encoding": encoding,
            "--memory-limit": memory_limit,
            "--unknown-levels": None if unknown_levels == "error" else unknown_levels,
        }  # fmt: skip
        texts = [word for one in missing_text or () for word in ("--missing-text", one)]
        for command in _next_commands(score, data, rename or [], given, texts, found.advised):
            emit(f"\n    {command}")
        print_remarks((*rows.remarks, *_remarks_on_missing(risk_score, rows.X)))


def _remarks_on_missing(score: RiskScore, rows: pyarrow.Table) -> list[str]:
    """Variables that are missing far more often than in training: the score may mean less here."""
    import pyarrow.compute as pc

    found = []
    for name, variable in score.variables.items():
        if name not in rows.column_names or not (variable.n_samples or 0):
            continue
        share = pc.sum(pc.is_null(rows[name], nan_is_null=True)).as_py() / rows.num_rows
        usual = (variable.n_missing or 0) / (variable.n_samples or 1)
        if share > usual + _MANY_MISSING:
            found.append(
                f"{name!r} is missing in {share:.0%} of these rows, in training it was in "
                f"{usual:.0%}: the score knows less of them than its figures there say."
            )
    return found


def _risks_of(text: str | None) -> list[float] | None:
    """Read --thresholds: risks with commas."""
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(
            f"--thresholds must be risks between 0 and 1, such as 0.05,0.1, got {text!r}"
        ) from None


def _next_commands(
    score: Path,
    data: list[Path],
    rename: list[str],
    given: dict[str, str | None],
    texts: list[str],
    advised: str | None,
) -> list[str]:
    """The commands that report on these rows and, if that is advised, recalibrate the score."""
    options = [word for name, value in given.items() if value for word in (name, value)]
    options += [word for one in rename for word in ("--rename", one)] + texts
    rows = [str(score), *map(str, data), *options]
    commands = [["report", *rows, "--output", f"{score.stem}_validation.html"]]
    if advised:
        scale = ["--with-scale"] if advised != "intercept" else []
        output = str(score.with_name(f"{score.stem}_recalibrated.json"))
        commands.append(["recalibrate", *rows, *scale, "--output", output])
    return [shlex.join(["riskslim", *command]) for command in commands]
