"""The paragraph on methods for a paper, and where a report answers the items of TRIPOD+AI."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from riskslim._version import __version__
from riskslim._wording import MAX_LISTED, fixed_decimals, listing
from riskslim.items.item import variable_of
from riskslim.metrics.performance import SHARES
from riskslim.report.cells import Cell, ReportTable
from riskslim.report.variables import special_texts
from riskslim.score.naming import label_of, outcome_text
from riskslim.score.operating_point import words_of
from riskslim.score.requirements import alike
from riskslim.score.typesetting import likewise, one_line

if TYPE_CHECKING:
    from riskslim.model_selection.cross_validation import CrossValidation
    from riskslim.risk_score import RiskScore

__all__ = ["CITATION", "methods_text", "tripod_table"]

CITATION = (
    "Ustun B, Rudin C. Learning optimized risk scores. Journal of Machine Learning Research. "
    "2019;20(150):1-75."
)
CHECKLIST = (
    "TRIPOD+AI: Collins GS et al. TRIPOD+AI statement: updated guidance for reporting clinical "
    "prediction models that use regression or machine learning methods. BMJ. 2024;385:e078378. "
    "Topics are abridged; the statement has the wording that counts."
)

_SOURCES = {
    "given": "were given",
    "quantiles": "are quantiles of the training rows, or all values where these are few",
    "all": "were chosen with the points, among all that tell the training rows apart",
    "supervised": "were chosen by the outcome of the training rows, as the splits of a shallow "
    "decision tree of the variable alone",
}
# A ridge penalty of the weights, and how strong a prior it is.
_NUMBER = r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
_RIDGE = re.compile(rf"ridge penalty of (.+): {_NUMBER} \(shrinkage {_NUMBER} on .+\)")
# Requirements that are stated of one variable after the other.
_MOST_ITEMS = re.compile(r"at most (\d+) of the features of '' (?:is|are) used")
_TREND = re.compile(r"more of '' never (lowers|raises) the risk, as its trend in the training rows")


def methods_text(score: RiskScore, cv: CrossValidation | None = None) -> str:
    """Write the paragraph on methods that a paper on the score needs.

    Only what the score itself states is said: what was done to the data before is the authors' to
    add.

    Parameters
    ----------
    score : RiskScore
    cv : CrossValidation, optional
        Of :func:`riskslim.cross_validate_risk_score`.

    Returns
    -------
    str
        Sentences in one line, the reference at the end.

    Examples
    --------
    >>> from riskslim import RiskScore
    >>> from riskslim.report import methods_text
    >>> text = methods_text(RiskScore(-1, {"smoker": 2}, outcome_name="death"))
    >>> print(text.partition(" Reference")[0])
    The risk score predicts the probability that death = 1 from 1 of 1 candidate feature. Points
    and intercept are integers that were given, not learned.
    """
    parts = [
        _predictors(score), *_preparation(score), _points(score), _shrinkage(score),
        *_restrictions(score),
        _threshold(score), _search(score), _recalibration(score), _validation(cv),
        f"Reference: {CITATION}",
    ]  # fmt: skip
    return one_line(" ".join(part for part in parts if part))


def _predictors(score: RiskScore) -> str:
    certificate, prevalence = score.certificate, score.prevalence
    text = (
        f"The risk score predicts the probability that {outcome_text(score)} "
        f"from {len(score.points)} of {_count(len(score.feature_names), 'candidate feature')}"
    )
    conditions = [item for item in score.items.values() if item.variable]
    if conditions:
        variables = _count(len({item.variable for item in conditions}), "variable")
        text += f" ({_count(len(conditions), 'condition')} on {variables} among those with points)"
    if certificate is not None and certificate.n_samples:
        text += f". It was learned on {certificate.n_samples:,} rows"
        if prevalence is not None:
            text += f", {fixed_decimals(round(100 * prevalence, 2))}% of which had the outcome"
            if score.class_weighting is not None:
                text += " by the weights of the classes, which do not leave its risks calibrated"
    return f"{text}."


def _preparation(score: RiskScore) -> Iterator[str]:
    """Words for how numbers became conditions, as far as the score knows its raw columns."""
    variables = score.variables.values()
    sources = []
    for source, words in _SOURCES.items():
        names = [_named(score, one.name) for one in variables if one.cutoffs == source]
        if names:
            sources.append(f"those of {_listed(names)} {words}")
    if sources:
        yield f"Of the cut-offs, {'; '.join(sources)}."
    special = [
        f"{_named(score, one.name)} = {_listed([*special_texts(score, one).values()], 'or')}"
        for one in variables
        if one.special
    ]
    if special:
        yield (
            "Special values, which are no measurements, meet no cut-off and have conditions of "
            f"their own: {'; '.join(special)}."
        )
    missing = [
        f"{_named(score, one.name)} ({one.n_missing:,} of {one.n_samples:,} rows)"
        for one in variables
        if one.n_missing
    ]
    if missing:
        yield (
            f"Missing values meet no condition but that the value is missing: {_listed(missing)}."
        )


def _points(score: RiskScore) -> str:
    text = "Points and intercept are integers"
    if score.certificate is None:
        return f"{text} that were given, not learned."
    rule = score.certificate.rule
    has_ridge = score.certificate.ridge > 0 or _penalties(score)
    ridge = " and a ridge penalty on the weights" if has_ridge else ""
    objective = f"mean logistic loss plus a price for each feature with points{ridge}"
    if rule is None:
        text += f" that minimise the {objective}, over all that meet the requirements"
    else:
        text += (
            f", chosen for a rule that {rule.required} from some score on: those with the largest "
            f"{rule.required.other}, and of equals those with the least {objective}, over all that "
            "meet the requirements"
        )
    others = [likewise(*group) for group in _requirements(score) if not _restricts(group[0])]
    if others:
        text += f" ({'; '.join(others)})"
    scales = score.certificate.scales
    if scales.is_single and score.scale == 1.0:
        return f"{text}. A point is worth one unit of log-odds."
    chosen = (
        "" if scales.is_single else f", chosen together with the points from {scales.describe()}"
    )
    return f"{text}. A point is worth 1/{score.scale:.10g} units of log-odds{chosen}."


def _requirements(score: RiskScore) -> list[tuple[str, list[str]]]:
    """Requirements but that of the scale, which is said with the worth of a point."""
    return alike(
        f"{one.text} (not met)" if one.violation else one.text
        for one in score.requirements
        if not one.text.startswith("scale: ")
    )


def _restricts(text: str) -> bool:
    """True if a requirement has a sentence of its own."""
    return any(own.fullmatch(text) for own in (_MOST_ITEMS, _TREND, _RIDGE))


def _penalties(score: RiskScore) -> list[re.Match[str]]:
    """Ridge penalties that are not 0, with their strength."""
    found = [_RIDGE.fullmatch(one.text) for one in score.requirements]
    return [one for one in found if one and float(one[2]) > 0 and float(one[3]) > 0]


def _shrinkage(score: RiskScore) -> str:
    """Say what the ridge penalty is, and which prior it stands for."""
    found = _penalties(score)
    if not found or score.certificate is None:
        return ""
    of = ["" if one[1] == "the weights" else f" for {one[1]}" for one in found]
    times = [f"{one[2]}{which}" for one, which in zip(found, of, strict=True)]
    variances = [
        f"{1 / (2 * float(one[3])):.4g}{which}" for one, which in zip(found, of, strict=True)
    ]
    return (
        "The ridge penalty is the sum of the squared weights (points divided by the scale; the "
        f"intercept has none) times {listing(times)}. It is as strong as a normal prior of the "
        f"weights around 0 with the variance {listing(variances)}."
    )


def _restrictions(score: RiskScore) -> Iterator[str]:
    """Requirements on one variable after the other, as one sentence each."""
    if score.certificate is None:
        return
    by_direction: dict[str, str] = {}
    for text, names in _requirements(score):
        named = [_named(score, name) for name in names]
        if found := _MOST_ITEMS.fullmatch(text):
            which = _listed(named) if len(named) == 1 else f"each of {_listed(named)}"
            if _are_all(score, names, int(found[1])):
                which = "each variable"
            yield f"At most {_count(int(found[1]), 'item')} of {which} may have points."
        elif found := _TREND.fullmatch(text):
            by_direction[found[1]] = _listed(named)
    if by_direction:
        effects = [f"more of {named} never {effect} it" for effect, named in by_direction.items()]
        yield (
            "The risk is monotone in the following variables, in the direction of their trend in "
            f"the training rows: {', and '.join(effects)}."
        )


def _are_all(score: RiskScore, names: list[str], most: int) -> bool:
    """True if these are all variables with more features than may have points."""
    counts = Counter(variable_of(name, score.items) for name in score.feature_names)
    return {one for one, count in counts.items() if count > most} == set(names)


def _search(score: RiskScore) -> str:
    certificate = score.certificate
    if certificate is None:
        return ""
    text = (
        f"The problem was solved by riskslim {__version__} (engine: {certificate.engine}), which "
        "returns a proof of how far a score can be from the best one. "
        f"{certificate.explain(with_scales=False)}"
    )
    if not certificate.is_optimal and certificate.message:
        text += f" The search ended before more was proven: {certificate.message}."
    return text


def _threshold(score: RiskScore) -> str:
    """Say from which score on rows are positive, and what the certificate does not say of that."""
    point, certificate = score.operating_point, score.certificate
    if point is None:
        return ""
    first, *others = words_of(score)
    if certificate is not None and point.is_of(certificate.rule):
        said = certificate.explain()
        others = [sentence for sentence in others if sentence not in said]
    elif point.required is not None:
        others.insert(0, f"The threshold was chosen so that the score {point.required}.")
    return " ".join([first, *others])


def _recalibration(score: RiskScore) -> str:
    if score.recalibration is None:
        return ""
    return score.recalibration.describe(outcome_text(score), score.scale)


def _validation(cv: CrossValidation | None) -> str:
    if cv is None:
        return ""
    metrics: tuple[tuple[str, str], ...] = (
        ("loss", "logistic loss"), ("auc", "AUC"), ("cal", "calibration error (CAL)"),
    )  # fmt: skip
    metrics += tuple((share, share) for share in SHARES if cv.has_shares)
    found = [f"{name} {cv.summary(key)}" for key, name in metrics if not math.isnan(cv.mean(key))]
    done = f"{len(cv.folds)} of {cv.n_folds}" if len(cv.folds) < cv.n_folds else f"{cv.n_folds}"
    with_items = cv.final_score is not None and cv.final_score.variables
    learned = "cut-offs were chosen and the score was learned" if with_items else "it was learned"
    return (
        f"In cross-validation with {done} folds, for each of which {learned} anew on the others, "
        f"the score had on rows not seen before (mean and range over folds): {', '.join(found)}."
    )


def _named(score: RiskScore, name: str) -> str:
    return label_of(score, name).text or name


def _listed(names: list[str], last: str = "and") -> str:
    if len(names) > MAX_LISTED:
        return listing(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}" if len(names) > 1 else names[0]


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


class _Topic(NamedTuple):
    """An item of the checklist: its number, what it is about, and the section that answers it."""

    item: str
    topic: str
    section: str = ""
    part: str = ""


_SUBGROUPS = "in subgroups where the report has the section Groups"

_TOPICS = (
    _Topic("1", "Title: a model is developed or evaluated, for whom, for which outcome"),
    _Topic("2", "Abstract"),
    _Topic("3a to 3c", "Background, target population, health inequalities"),
    _Topic("4", "Objectives"),
    _Topic("5a, 5b", "Sources of data, dates"),
    _Topic("6a to 6c", "Setting, eligibility, treatments"),
    _Topic("7", "Preparation of data", "Data", "cut-offs and levels of the variables with points"),
    _Topic("8a to 8c", "Outcome: definition, assessment"),
    _Topic("9a", "Choice of candidate predictors", "Methods", "their number"),
    _Topic("9b, 9c", "Definition and assessment of predictors", "Data", "values, not how assessed"),
    _Topic("10", "Size of the study", "Data", "rows and classes, not why so many"),
    _Topic("11", "Missing data", "Data", "items that stand for a missing value"),
    _Topic("12a", "Use of data in development and evaluation", "Data"),
    _Topic("12b", "Handling of predictors", "Data"),
    _Topic("12c", "Type of model, steps of building, tuning, internal validation", "Methods"),
    _Topic("12d", "Heterogeneity across clusters"),
    _Topic("12e", "Measures of performance", "Performance"),
    _Topic("12f", "Updating of the model", "Methods", "recalibration, where there was any"),
    _Topic("12g", "How predictions are computed", "Score sheet"),
    _Topic("13", "Class imbalance", "Remarks", "weights of classes, where there were any"),
    _Topic("14", "Fairness", "Groups", "metrics of the groups that were named"),
    _Topic("15", "Output of the model and thresholds", "Score sheet"),
    _Topic("16", "Differences of development and evaluation data", "Drift", "if data are given"),
    _Topic("17", "Ethical approval"),
    _Topic("18a to 18f", "Funding, conflicts, protocol, registration, data and code"),
    _Topic("19", "Involvement of patients and the public"),
    _Topic("20a, 20b", "Participants and their characteristics", "Data", "features with points"),
    _Topic("20c", "Comparison with the development data", "Drift", "if data are given"),
    _Topic("21", "Participants and outcomes in each analysis", "Data"),
    _Topic("22", "The full model, as others can use it", "Score sheet"),
    _Topic("23a", "Performance with intervals, in key subgroups too", "Performance", _SUBGROUPS),
    _Topic("23b", "Heterogeneity of performance"),
    _Topic("24", "Results of updating"),
    _Topic("25", "Interpretation"),
    _Topic("26", "Limitations"),
    _Topic("27a to 27c", "Use in practice: poor input, interaction, next steps"),
)


def tripod_table(sections: Sequence[str]) -> ReportTable:
    """Say where the items of TRIPOD+AI are answered, and which are left to the authors.

    Parameters
    ----------
    sections : sequence of str
        Headings of the report at hand: what it lacks answers nothing.

    Returns
    -------
    ReportTable
    """
    rows = [[Cell(one.item), Cell(one.topic), Cell(_answer(one, sections))] for one in _TOPICS]
    return ReportTable("Items of TRIPOD+AI", ("Item", "Topic", "Answered in"), rows, CHECKLIST)


def _answer(topic: _Topic, sections: Sequence[str]) -> str:
    if topic.section not in sections:
        return "left to the authors"
    return f"{topic.section}: {topic.part}" if topic.part else topic.section
