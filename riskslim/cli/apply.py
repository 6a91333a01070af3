"""The commands on a risk score that is there, from ``predict`` to ``export``."""

from __future__ import annotations

import functools
import io
import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import riskslim
from riskslim._writing import csv_text, write_file
from riskslim.cli.applying import Applied, files_of, naming
from riskslim.cli.arguments import (
    EXPORTS,
    arguments_of_export,
    checked_word,
    span_of,
)
from riskslim.cli.export_options import (
    PDO,
    BaseOdds,
    BasePoints,
    BooleanColumns,
    CardFormat,
    Dialect,
    FunctionName,
    HigherIs,
    Inputs,
    QueriedTable,
    Reasons,
    RiskColumn,
    ScoreColumn,
    Span,
    Target,
    TextOutput,
)
from riskslim.cli.layout import shown_of
from riskslim.cli.options import (
    AlternativesFile,
    AverageOf,
    Best,
    By,
    DataFiles,
    Decimal,
    Encoding,
    Fixed,
    FromPrevalence,
    GroupColumns,
    GroupThreshold,
    Identifier,
    LabelsFile,
    MemoryLimitOfRows,
    MetricsOutput,
    MissingText,
    NoFormulas,
    OutcomeOfRows,
    PageOutput,
    PointsShown,
    PositiveOfRows,
    PredictionsOutput,
    Prevalence,
    Rename,
    Resamples,
    RowsFiles,
    ScoreFile,
    ScoreOutput,
    Separator,
    TestFiles,
    UnknownLevels,
    Weights,
    WithScale,
)
from riskslim.cli.outputs import check_outputs, write_text, writing
from riskslim.cli.session import check_report, print_remarks, session
from riskslim.cli.streams import emit
from riskslim.score.lines import note_on_layout

if TYPE_CHECKING:
    import pyarrow

    from riskslim.cli.applying import RowsOfFile
    from riskslim.near_optimal.alternatives import Alternatives
    from riskslim.report.grouped import GroupedRows
    from riskslim.report.rows import Rows
    from riskslim.risk_score import RiskScore

__all__ = ["export", "predict", "recalibrate", "report", "scorecard", "show"]

# Forms of a scorecard; but for text, there is a method that writes each.
_CARDS = ("text", "markdown", "html", "latex", "csv")


def predict(
    *,
    score: ScoreFile,
    data: DataFiles,
    identifier: Identifier = None,
    output: PredictionsOutput = None,
    rename: Rename = None,
    no_formulas: NoFormulas = False,
    unknown_levels: UnknownLevels = "error",
    missing_text: MissingText = None,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Compute score and risk of every row.

    Of a score with a threshold, the column "positive" says which rows reach it.

    Rows are in the order of the file, or of several, one by one, with one file in memory at a time.
    Of folders, all files are taken, in the order of their names.
    Items such as "age >= 60" that are no columns of the file are computed from its column "age".
    CSV files are read as the one that the score was fitted to, unless options say otherwise.
    """
    with session():
        if output is not None and output.suffix not in {".csv", ".parquet"}:
            raise ValueError(f"--output must end in .csv or .parquet, got {output}")
        files = files_of(data)
        check_outputs(
            {"--output": output}, [("risk score", score), *(("data", one) for one in files)]
        )
        risk_score = riskslim.RiskScore.load(score)
        added = {"score", "risk"} | ({"positive"} if risk_score.operating_point else set())
        if identifier in added:
            raise ValueError(f"--id {identifier}: the output has a column of this name already")
        applied = Applied.of(
            risk_score, unknown_levels, (missing_text, separator, decimal, encoding),
            rename=rename,
        )  # fmt: skip
        parts: list[pyarrow.Table] = []
        remarks: list[str] = []
        for path in files:
            rows = applied.read(path)
            with naming(path):
                parts.append(_predicted(applied, rows, identifier))
            remarks += applied.remarks(rows, named=len(files) > 1)
        _write_predictions(parts, output, formulas=not no_formulas)
        print_remarks(tuple(remarks))


def _predicted(applied: Applied, rows: RowsOfFile, identifier: str | None) -> pyarrow.Table:
    """Predictions for the rows of a file."""
    import pyarrow

    columns: dict[str, Any] = {}
    if identifier is not None:
        columns[identifier] = applied.identifiers(rows, identifier)
    columns["score"] = applied.score.score_samples(rows.table)
    columns["risk"] = applied.score.predict_proba(rows.table)[:, 1]
    if applied.score.operating_point is not None:
        columns["positive"] = (applied.score.decision_function(rows.table) > 0).astype("int8")
    return pyarrow.table(columns)


def show(
    *,
    score: ScoreFile,
    by: By = None,
    points: PointsShown = None,
    labels: LabelsFile = None,
    output: ScoreOutput = None,
) -> None:
    """Print the tables and the certificate of a risk score.

    With --output the score is saved with the layout and the labels that are given.
    """
    from riskslim.score.cutoff_ranges import remark_on_ranges_of_cutoffs
    from riskslim.score.fit_remarks import remarks_at_fit

    with session():
        check_outputs({"--output": output}, [("risk score", score), ("labels", labels)])
        loaded = riskslim.RiskScore.load(score)
        risk_score = shown_of(by, points, labels).of(loaded)
        layout = risk_score.layout
        if output is None:  # the sheet says where its scores are others than those of the file
            risk_score = risk_score.with_layout(by=loaded.layout.by, points=loaded.layout.points)
        else:
            with writing():
                risk_score.save(output)
        emit(str(risk_score.sheet(by=layout.by, points=layout.points)))
        if risk_score.certificate is not None:
            emit(f"\n{risk_score.certificate.explain()}")
        # What else remarks say of a score without rows stands on the sheet.
        of_cutoffs = remark_on_ranges_of_cutoffs(risk_score.cutoff_ranges, risk_score.items)
        remarks = remarks_at_fit(risk_score.with_layout(points=layout.points))
        print_remarks((*remarks, *filter(None, [of_cutoffs])))


def scorecard(
    *,
    score: ScoreFile,
    base_points: BasePoints = 600.0,
    base_odds: BaseOdds = 50.0,
    pdo: PDO = 20.0,
    higher_is: HigherIs = "safer",
    span: Span = None,
    form: CardFormat = "text",
    no_formulas: NoFormulas = False,
    labels: LabelsFile = None,
    output: TextOutput = None,
) -> None:
    """Write a risk score in the points of scorecards.

    Each variable has whole points for its bands; risks are those of the score. Odds and points that
    double them are as near to what is asked for as whole points allow, which the scorecard states.
    It goes to standard output unless --output
    names a file.
    """
    with session():
        if form not in _CARDS:
            raise ValueError(f"--format must be one of {', '.join(_CARDS)}, got {form!r}")
        check_outputs({"--output": output}, [("risk score", score), ("labels", labels)])
        risk_score = shown_of(None, None, labels).of(riskslim.RiskScore.load(score))
        card = risk_score.scorecard(
            base_points=base_points,
            base_odds=base_odds,
            pdo=pdo,
            higher_is=higher_is,  # type: ignore[arg-type]  # checked there
            span=None if span is None else span_of(span),
        )
        if form == "csv":
            text = card.to_csv(formulas=not no_formulas)
        else:
            text = str(card) if form == "text" else getattr(card, f"to_{form}")()
        write_text(text if text.endswith("\n") else f"{text}\n", output)


def recalibrate(
    *,
    score: ScoreFile,
    data: RowsFiles = None,
    outcome: OutcomeOfRows = None,
    positive: PositiveOfRows = None,
    rename: Rename = None,
    weights: Weights = None,
    prevalence: Prevalence = None,
    from_prevalence: FromPrevalence = None,
    with_scale: WithScale = False,
    output: ScoreOutput = None,
    unknown_levels: UnknownLevels = "error",
    missing_text: MissingText = None,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    memory_limit: MemoryLimitOfRows = None,
) -> None:
    """Fit the risks to other rows; the points stay as they are.

    With labels, the mean risk of the rows of DATA becomes their share with the outcome. Without, it
    becomes --prevalence; and with no DATA at all, all odds are multiplied alike. Prints the score
    with its new risks, and saves it where --output says.
    """
    with session():
        data = data or []
        check_outputs(
            {"--output": output}, [("risk score", score), *(("data", one) for one in data)]
        )
        _check_recalibration(data, outcome, weights, prevalence, from_prevalence, with_scale)
        risk_score = riskslim.RiskScore.load(score)
        applied = Applied.of(
            risk_score, unknown_levels, (missing_text, separator, decimal, encoding),
            memory_limit=memory_limit, what="recalibrate", rename=rename, positive=positive,
        )  # fmt: skip
        rows = None
        if data:
            rows = applied.all_rows(
                data, outcome=outcome, weights=weights, labelled=prevalence is None
            )
        recalibrated = risk_score.recalibrated(
            *((None, None, None) if rows is None else rows[:3]),
            prevalence=prevalence, from_prevalence=from_prevalence, with_scale=with_scale,
        )  # fmt: skip
        if output is not None:
            with writing():
                recalibrated.save(output)
        emit(str(recalibrated))
        if rows is not None:
            print_remarks(rows.remarks)


def _check_recalibration(
    data: list[Path],
    outcome: str | None,
    weights: str | None,
    prevalence: float | None,
    from_prevalence: float | None,
    with_scale: bool,
) -> None:
    """Refuse options that do not go together, before any file is read."""
    if prevalence is None:
        if not data:
            raise ValueError(
                "recalibrate needs DATA with a column of the outcome, or --prevalence with or "
                "without DATA"
            )
        if from_prevalence is not None:
            raise ValueError("--from-prevalence needs --prevalence, and no DATA")
        return
    if outcome is not None:
        raise ValueError("--outcome and --prevalence cannot both be given: labels say the share")
    if with_scale:
        raise ValueError("--with-scale needs DATA with labels, not --prevalence")
    if not data and weights is not None:
        raise ValueError("--weights needs DATA")
    if data and from_prevalence is not None:
        raise ValueError("--from-prevalence needs --prevalence without DATA")


def report(
    *,
    score: ScoreFile,
    data: DataFiles,
    output: PageOutput,
    outcome: OutcomeOfRows = None,
    positive: PositiveOfRows = None,
    rename: Rename = None,
    weights: Weights = None,
    test: TestFiles = None,
    unknown_levels: UnknownLevels = "error",
    missing_text: MissingText = None,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    resamples: Resamples = None,
    by: By = None,
    points: PointsShown = None,
    labels: LabelsFile = None,
    metrics_output: MetricsOutput = None,
    no_formulas: NoFormulas = False,
    group: GroupColumns = None,
    threshold: GroupThreshold = None,
    alternatives: AlternativesFile = None,
    memory_limit: MemoryLimitOfRows = None,
) -> None:
    """Write a report on a risk score: one page of HTML.

    Metrics and diagrams are about the rows of DATA: of one file, of several or of folders. Items
    such as "age >= 60" that are no columns of the files are computed from their column "age". CSV
    files are read as the one that the score was fitted to, unless options say otherwise.
    """
    with session():
        check_outputs(
            {"--output": output, "--metrics-output": metrics_output},
            [("risk score", score), ("labels", labels), ("alternatives", alternatives),
             *(("data", one) for one in (*data, *(test or [])))],
        )  # fmt: skip
        if threshold is not None and not group:
            raise ValueError("--threshold needs --group")
        if threshold is not None and not 0 < threshold < 1:
            raise ValueError(f"--threshold must be a risk between 0 and 1, got {threshold}")
        check_report(output, "--output")
        from riskslim.report.grouped import grouped_rows
        from riskslim.report.page import page_of
        from riskslim.report.rows import judged_rows

        loaded = riskslim.RiskScore.load(score)
        risk_score = shown_of(by, points, labels).of(loaded)
        listed = None if alternatives is None else _alternatives(alternatives, risk_score)
        applied = Applied.of(
            risk_score, unknown_levels, (missing_text, separator, decimal, encoding),
            memory_limit=memory_limit, what="report", rename=rename, positive=positive,
            several=bool(test),
        )  # fmt: skip
        columns = [applied.known_as(one, "--group") for one in group or []]
        rows = [
            applied.all_rows(
                files, outcome=outcome, weights=weights, named=True,
                kept=[*risk_score.variables, *columns],
                check=functools.partial(_check_groups, columns),
            )
            for files in ([data] if not test else [data, test])
        ]  # fmt: skip
        judged = judged_rows(risk_score, *(one[:3] for one in rows), n_resamples=resamples)
        groups = grouped_rows(risk_score, judged, columns, threshold)
        texts = {output: page_of(risk_score, judged, groups=groups, alternatives=listed)}
        if metrics_output is not None:
            texts[metrics_output] = _metrics_text(
                risk_score, judged, groups, listed, formulas=not no_formulas
            )
        for file, text in texts.items():
            write_text(text, file)
        for one in rows:
            print_remarks(one.remarks)
        print_remarks(tuple(filter(None, [note_on_layout(risk_score, loaded)])))


def _alternatives(path: Path, score: riskslim.RiskScore) -> Alternatives:
    """Read alternatives, before anything is computed."""
    from riskslim.near_optimal.alternatives import Alternatives
    from riskslim.report.alternatives import check_alternatives

    found = Alternatives.load(path)
    try:
        check_alternatives(score, found)
    except ValueError as error:
        raise ValueError(f"{path}: {error} (--alternatives)") from None
    return found


def _check_groups(groups: list[str], path: Path, names: list[str]) -> None:
    """Refuse groups that are no columns of a file, before anything is computed."""
    from riskslim._wording import near

    for group in groups:
        if group not in names:
            raise ValueError(f"{path} has no column {group!r}{near(group, names)} (--group)")


def _metrics_text(
    score: RiskScore,
    rows: list[Rows],
    groups: list[GroupedRows],
    alternatives: Alternatives | None,
    *,
    formulas: bool,
) -> str:
    """All figures of a report as CSV."""
    from riskslim.report.records import RECORD, records

    found = records(score, rows, groups, alternatives)
    lines = ([one.get(name, "") for name in RECORD] for one in found)
    cells = (["" if cell != cell else cell for cell in line] for line in lines)
    return csv_text([RECORD, *cells], formulas=formulas)


def export(
    *,
    score: ScoreFile,
    target: Target,
    dialect: Dialect = None,
    table: QueriedTable = None,
    boolean: BooleanColumns = None,
    function: FunctionName = None,
    inputs: Inputs = None,
    score_column: ScoreColumn = None,
    risk_column: RiskColumn = None,
    reasons: Reasons = None,
    average_of: AverageOf = None,
    best: Best = None,
    fixed: Fixed = None,
    output: TextOutput = None,
) -> None:
    """Write a risk score for another program, or as a document.

    What is written goes to standard output unless --output names a file.
    """
    with session():
        if target == "json":
            raise ValueError(
                f"{score} is the risk score as JSON, in the format of "
                "docs/risk_score.schema.json: copy it. --format must be one of "
                f"{', '.join(EXPORTS)}"
            )
        if target not in EXPORTS:
            raise ValueError(f"--format must be one of {', '.join(EXPORTS)}, got {target!r}")
        others = average_of or []
        checked_word(best, "--best", "any")
        if reasons is None and (others or best or fixed):
            raise ValueError("--average-of, --best and --fixed need --reasons")
        if others and best:
            raise ValueError("--average-of and --best are two ways to compare points: give one")
        check_outputs(
            {"--output": output}, [("risk score", score), *(("data", one) for one in others)]
        )
        options = arguments_of_export(
            target,
            {
                ("--dialect", "dialect"): dialect,
                ("--table", "table"): None if table is None else table.split("."),
                ("--boolean", "boolean_columns"): boolean or None,
                ("--function", "function_name"): function,
                ("--inputs", "inputs"): inputs,
                ("--score-column", "score_column"): score_column,
                ("--risk-column", "risk_column"): risk_column,
                ("--reasons", "reasons"): reasons,
                ("--average-of", "average"): others or None,
                ("--best", "best"): best,
                ("--fixed", "fixed"): fixed or None,
            },
        )
        risk_score = riskslim.RiskScore.load(score)
        if others:
            as_fitted = (None, None, None, None)
            applied = Applied.of(risk_score, "error", as_fitted, what="--average-of")
            rows = applied.all_rows(others, outcome=None, weights=None, labelled=False)
            options["average"] = risk_score.average_points(rows.X)
        text = getattr(risk_score, f"to_{target}")(**options)
        write_text(text if text.endswith("\n") else f"{text}\n", output)


def _write_predictions(
    parts: list[pyarrow.Table], path: Path | None, *, formulas: bool = True
) -> None:
    import pyarrow

    if path is not None and path.suffix == ".parquet":
        import pyarrow.parquet as parquet

        try:
            table = pyarrow.concat_tables(parts, promote_options="permissive")
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError) as error:
            raise ValueError(f"--id: the files have values of different types: {error}") from error
        octets = io.BytesIO()
        parquet.write_table(table, octets)
        with writing():
            write_file(path, octets.getvalue())
        return
    rows = (zip(*(column.to_pylist() for column in table.columns), strict=True) for table in parts)
    lines = [parts[0].column_names, *itertools.chain.from_iterable(rows)]
    write_text(csv_text(lines, formulas=formulas), path)
