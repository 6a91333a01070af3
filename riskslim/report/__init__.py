"""The report: all about a risk score on one page of HTML that needs nothing else.

The page has its styles, diagrams and calculator within it, and a content security policy that lets
nothing else be loaded or run. Its numbers are those of the rest of the package: the sheet is from
:mod:`riskslim.rendering`, metrics from :mod:`riskslim.metrics`, the calculator from
:func:`riskslim.exports.to_javascript`.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Template

    from riskslim.classifier import RiskSLIMClassifier
    from riskslim.cross_validation import CrossValidation
    from riskslim.model_selection import ModelSizePath
    from riskslim.problem import RiskScoreProblem
    from riskslim.report.content import Rows
    from riskslim.risk_score import RiskScore

__all__ = ["check_packages", "render"]


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
    size_path: ModelSizePath | None = None,
    bins: Any = None,
    n_resamples: int | None = None,
    title: str | None = None,
) -> str:
    """Write the report on a risk score as a text; :meth:`riskslim.RiskScore.report` saves it.

    Parameters
    ----------
    score : RiskScore
    X, y, sample_weight, X_test, y_test, sample_weight_test
        As in :meth:`riskslim.RiskScore.report`.
    cv, problem, size_path, bins, n_resamples, title
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
    from riskslim.report import content, diagrams

    content.check_resamples(n_resamples)
    if size_path is not None:
        content.check_path(size_path)
    settings: dict[str, Any] = {"bins": bins, "n_resamples": n_resamples}
    rows = [content.rows_of(score, X, y, sample_weight, key="given", **settings)]
    if any(given is not None for given in (X_test, y_test, sample_weight_test)):
        test = (X_test, y_test, sample_weight_test)
        with _about("test data (X_test, y_test, sample_weight_test)"):
            rows.append(content.rows_of(score, *test, key="test", **settings))
    if cv is not None:
        content.check_same_score(score, cv, rows[0])
    stated = None if problem is None else content.stated_problem(score, problem, rows[0])
    drifts = content.drifts_of(score, rows)
    script = _script(score)
    thresholds = diagrams.thresholds(rows)
    return _template().render(
        title=title or f"Risk score: {score.sheet().outcome}",
        score=score,
        # What is observed on test rows says more.
        sheet=score.sheet(*_labelled(score, rows[-1])).to_html(),
        sheet_rows=rows[-1].name,
        items=content.calculator_items(score),
        families=content.calculator_families(score),
        certificate=content.certificate_table(score),
        metrics=content.metrics_table(rows, cv),
        intervals=content.note_on_intervals(rows),
        diagrams=[
            diagrams.diagrams(score, one, thresholds, None if k else cv)
            for k, one in enumerate(rows)
        ],
        operating=[content.operating_table(score, one) for one in rows],
        requirements=None if stated is None else content.requirements(score, stated),
        sizes=None if size_path is None else content.path_tables(score, size_path),
        path_diagram=None if size_path is None else diagrams.path_diagram(size_path),
        data=content.data_table(score, rows),
        features=content.feature_table(score, rows),
        variables=content.variable_table(score, rows),
        software=content.software_table(score),
        drift=content.drift_table(rows, drifts),
        remarks=content.remarks(score, rows, stated, drifts),
        date=datetime.date.today().isoformat(),
        style=_file("report.css"),
        script=script,
        digest=base64.b64encode(hashlib.sha256(script.encode("ascii")).digest()).decode(),
    )


@contextmanager
def _about(what: str) -> Iterator[None]:
    """Say which of the given rows an error is about."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from error
    except TypeError as error:
        raise TypeError(f"{what}: {error}") from error


def check_packages() -> None:
    """Refuse to work where a package is missing, before anything is computed.

    Raises
    ------
    ImportError
        jinja2 or matplotlib is not installed.
    """
    missing = [name for name in ("jinja2", "matplotlib") if importlib.util.find_spec(name) is None]
    if missing:
        are = "is" if len(missing) == 1 else "are"
        raise ImportError(
            f"a report needs {' and '.join(missing)}, which {are} not installed: "
            "pip install 'riskslim[report]'"
        )


def _labelled(score: RiskScore, rows: Rows) -> tuple[Any, Any, Any]:
    """Rows with labels and weights of their own, whatever they were given as."""
    from riskslim.risk_score import class_labels

    return rows.X, class_labels(score.classes)[rows.positive.astype(int)], rows.weight


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

    from riskslim.rendering import one_line

    return one_line(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _script(score: RiskScore) -> str:
    """The calculator: the exported score, what it asks for, and what happens on a page."""
    from riskslim.exports import javascript_text
    from riskslim.report.content import calculator_families, calculator_items

    items, related = map(javascript_text, (calculator_items(score), calculator_families(score)))
    program = score.to_javascript(inputs="items")
    return (
        f"{program}const calculatorItems = {items};\nconst calculatorFamilies = {related};\n"
        f"{_file('report.js')}"
    )


def _file(name: str) -> str:
    return files("riskslim.report").joinpath(name).read_text(encoding="utf-8")
