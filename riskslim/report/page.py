"""The report: all about a risk score on one page of HTML that needs nothing else.

The page has its styles, diagrams and calculator within it, and a content security policy that lets
nothing else be loaded or run. Its numbers are those of the rest of the package: the sheet is from
:mod:`riskslim.score.sheet`, metrics from :mod:`riskslim.metrics`, the calculator from
:func:`riskslim.exports.to_javascript`.
"""

from __future__ import annotations

import base64
import datetime
import functools
import hashlib
import importlib.util
import warnings
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from riskslim._wording import not_installed
from riskslim.exceptions import ExtrapolationWarning

if TYPE_CHECKING:
    from jinja2 import Template

    from riskslim.classifier import RiskSLIMClassifier
    from riskslim.model_selection.cross_validation import CrossValidation
    from riskslim.model_selection.shrinkage import ShrinkagePath
    from riskslim.model_selection.size_path import ModelSizePath
    from riskslim.near_optimal.alternatives import Alternatives
    from riskslim.problem.problem import RiskScoreProblem
    from riskslim.report.alternatives import AlternativesSection
    from riskslim.report.grouped import GroupedRows
    from riskslim.report.rows import Rows
    from riskslim.risk_score import RiskScore
    from riskslim.score.typesetting import SheetContent

__all__ = ["check_packages", "render"]

# What the calculator asks for: names in the template, and those of constants of the script.
_ASKED = {
    "items": "calculatorItems",
    "families": "calculatorFamilies",
    "variables_asked": "calculatorVariables",
    "numbers_asked": "calculatorNumbers",
}


def render(
    score: RiskScore,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    X_test: Any = None,
    y_test: Any = None,
    sample_weight_test: Any = None,
    cv: CrossValidation | None = None,
    problem: RiskScoreProblem | RiskSLIMClassifier | None = None,
    size_path: ModelSizePath | ShrinkagePath | None = None,
    bins: Any = None,
    n_resamples: int | None = None,
    groups: Sequence[str] = (),
    group_threshold: float | None = None,
    alternatives: Alternatives | None = None,
    title: str | None = None,
) -> str:
    """Write the report on a risk score as a text; :meth:`riskslim.RiskScore.report` saves it.

    Parameters
    ----------
    score : RiskScore
    X, y, sample_weight, X_test, y_test, sample_weight_test
        As in :meth:`riskslim.RiskScore.report`.
    cv, problem, size_path, bins, n_resamples, groups, group_threshold, alternatives, title
        As in :meth:`riskslim.RiskScore.report`.

    Returns
    -------
    str
        A document of HTML 5.

    Raises
    ------
    ImportError
        jinja2 or matplotlib is not installed.
    TypeError, ValueError
        As in :meth:`riskslim.RiskScore.report`.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> from riskslim.report import render
    >>> page = render(RiskScore(-1, {"smoker": 2}), {"smoker": [0, 1, 1, 0]}, [0, 1, 0, 0])
    >>> page.startswith("<!DOCTYPE html>"), "https:" in page
    (True, False)
    """
    check_packages()
    from riskslim.report.alternatives import check_alternatives
    from riskslim.report.grouped import grouped_rows
    from riskslim.report.inputs import check_path
    from riskslim.report.rows import judged_rows

    if size_path is not None:
        check_path(size_path)
    if alternatives is not None:
        check_alternatives(score, alternatives)
    rows = judged_rows(
        score, (X, y, sample_weight), (X_test, y_test, sample_weight_test), bins=bins,
        n_resamples=n_resamples,
    )  # fmt: skip
    grouped = grouped_rows(score, rows, groups, group_threshold)
    return page_of(
        score, rows, cv=cv, problem=problem, size_path=size_path, groups=grouped,
        alternatives=alternatives, title=title,
    )  # fmt: skip


def page_of(
    score: RiskScore,
    rows: Sequence[Rows],
    *,
    cv: CrossValidation | None = None,
    problem: RiskScoreProblem | RiskSLIMClassifier | None = None,
    size_path: ModelSizePath | ShrinkagePath | None = None,
    groups: Sequence[GroupedRows] = (),
    alternatives: Alternatives | None = None,
    title: str | None = None,
) -> str:
    """Write the report on rows that were judged.

    Parameters
    ----------
    score : RiskScore
    rows : sequence of Rows
        Of :func:`~riskslim.report.rows.judged_rows`.
    cv, problem, size_path, alternatives, title
        As in :func:`render`.
    groups : sequence of GroupedRows, optional
        Of :func:`~riskslim.report.grouped.grouped_rows`.

    Returns
    -------
    str
        A document of HTML 5.

    Raises
    ------
    TypeError, ValueError
        ``cv``, ``problem`` or ``alternatives`` is about another score, other rows or other
        features.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)  # remarks say it, of each column
        return _page(score, rows, cv, problem, size_path, groups, alternatives, title)


def _page(
    score: RiskScore,
    rows: Sequence[Rows],
    cv: CrossValidation | None,
    problem: RiskScoreProblem | RiskSLIMClassifier | None,
    size_path: ModelSizePath | ShrinkagePath | None,
    groups: Sequence[GroupedRows],
    alternatives: Alternatives | None,
    title: str | None,
) -> str:
    from riskslim.report import diagrams
    from riskslim.report.drift import drift_table, drifts_of
    from riskslim.report.grouped import grouped_tables
    from riskslim.report.inputs import check_same_score, stated_problem
    from riskslim.report.methods import methods_text, tripod_table
    from riskslim.report.recalibrated import recalibration_tables
    from riskslim.report.remarks import remarks
    from riskslim.report.rows import labelled
    from riskslim.report.rule import rule_parts
    from riskslim.report.statistics import group_table, information_table, statistics_table
    from riskslim.report.tables import (
        certificate_table,
        data_table,
        feature_table,
        glance,
        metrics_table,
        note_on_intervals,
        operating_table,
        requirements,
        software_table,
    )
    from riskslim.report.variables import variable_table
    from riskslim.score.html import PAGE_LINE, sheet_html

    if cv is not None:
        check_same_score(score, cv, rows[0])
    stated = None if problem is None else stated_problem(score, problem, rows[0])
    drifts = drifts_of(score, rows)
    # What is observed on test rows says more.
    sheet = score.sheet(*labelled(score, rows[-1]))
    asked, thresholds = _asked(score), diagrams.thresholds(rows)
    section = _alternatives(score, alternatives)
    script = _script(score, asked, sheet, rows[-1].name, section)
    said = remarks(score, rows, stated, drifts)
    return _template().render(
        title=title or sheet.title,
        score=score,
        sheet=sheet_html(sheet, line=PAGE_LINE),
        sheet_rows=rows[-1].name,
        glance=glance(rows[-1]),
        **{part: asked[name] for part, name in _ASKED.items()},
        certificate=certificate_table(score),
        **rule_parts(score, rows, cv),
        metrics=metrics_table(rows, cv),
        intervals=note_on_intervals(rows),
        statistics=[
            *filter(None, (statistics_table(score, rows), information_table(score, rows))),
            *recalibration_tables(score, rows),
        ],
        risk_groups=group_table(score, rows),
        diagrams=[
            diagrams.diagrams(score, one, thresholds, None if k else cv)
            for k, one in enumerate(rows)
        ],
        groups=grouped_tables(groups),
        operating=[operating_table(score, one) if one.has_both_classes else None for one in rows],
        requirements=requirements(score, stated) or None,
        **_path_parts(score, size_path),
        alternatives=section,
        data=data_table(score, rows),
        features=feature_table(score, rows),
        variables=variable_table(score, rows),
        software=software_table(score),
        drift=drift_table(rows, drifts),
        remarks=said,
        methods=methods_text(score, cv),
        tripod=tripod_table(_sections(said, drifts, groups)),
        date=datetime.date.today().isoformat(),
        style=_file("report.css"),
        script=script,
        digest=_digest(script),
    )


def _path_parts(
    score: RiskScore, size_path: ModelSizePath | ShrinkagePath | None
) -> dict[str, Any]:
    """Tables and diagram of a path; None where there is none."""
    from riskslim.report.diagrams import path_diagram
    from riskslim.report.tables import path_tables

    if size_path is None:
        return {"sizes": None, "path_diagram": None}
    return {"sizes": path_tables(score, size_path), "path_diagram": path_diagram(size_path)}


def _alternatives(
    score: RiskScore, alternatives: Alternatives | None
) -> AlternativesSection | None:
    from riskslim.report.alternatives import alternatives_section

    return None if alternatives is None else alternatives_section(score, alternatives)


def _digest(script: str) -> str:
    """The script as the page's policy names it."""
    return base64.b64encode(hashlib.sha256(script.encode("ascii")).digest()).decode()


def _sections(
    remarks: Sequence[object], drifts: Sequence[object], groups: Sequence[object]
) -> list[str]:
    """Headings of a report that answer items of checklists."""
    there = {"Remarks": remarks, "Drift": drifts, "Groups": groups}
    always = ["Score sheet", "Performance", "Data", "Methods"]
    return always + [heading for heading, what in there.items() if what]


def check_packages() -> None:
    """Refuse to work where a package is missing, before anything is computed.

    Raises
    ------
    ImportError
        jinja2 or matplotlib is not installed.

    Examples
    --------
    >>> from riskslim.report import check_packages
    >>> check_packages()  # an error where jinja2 or matplotlib is missing
    """
    missing = [name for name in ("jinja2", "matplotlib") if importlib.util.find_spec(name) is None]
    if missing:
        raise ImportError(not_installed("a report needs", *missing, extra="report"))


@functools.cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("riskslim.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalized,
    )
    return environment.get_template("report.html.jinja")


def _finalized(value: Any) -> Any:
    """Names as they can stand in a page; markup stays as it is."""
    from markupsafe import Markup

    from riskslim.score.typesetting import one_line

    return one_line(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _asked(score: RiskScore) -> dict[str, Any]:
    """Return what the calculator asks for, by the names of its constants."""
    from riskslim.report.calculator import (
        calculator_families,
        calculator_items,
        calculator_numbers,
        calculator_variables,
    )

    return {
        "calculatorItems": calculator_items(score),
        "calculatorFamilies": calculator_families(score),
        "calculatorVariables": calculator_variables(score),
        "calculatorNumbers": calculator_numbers(score),
    }


def _script(
    score: RiskScore,
    asked: dict[str, Any],
    sheet: SheetContent,
    rows_name: str,
    alternatives: AlternativesSection | None,
) -> str:
    """The calculator: the exported score, what it asks for, and what happens on a page."""
    from riskslim.exports.javascript import to_javascript
    from riskslim.report.calculator import calculator_risks
    from riskslim.report.rule import decision_words

    constants = {
        **asked,
        "calculatorRisks": calculator_risks(sheet, rows_name),
        "calculatorDecision": decision_words(score),
    }
    program = to_javascript(score, inputs="items")
    text = f"{program}{_stated(constants)}{_file('report.js')}"
    if alternatives is None:
        return text
    return f"{text}{_stated(alternatives.constants)}{_file('alternatives.js')}"


def _stated(constants: Mapping[str, Any]) -> str:
    """Constants as statements of JavaScript."""
    from riskslim.exports.javascript import javascript_text

    return "".join(
        f"const {name} = {javascript_text(value)};\n" for name, value in constants.items()
    )


def _file(name: str) -> str:
    return files("riskslim.report").joinpath(name).read_text(encoding="utf-8")
