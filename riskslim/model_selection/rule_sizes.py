"""Sizes of a path whose scores are rules: what is measured, printed and drawn of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from riskslim.metrics.performance import METRICS, SHARES
from riskslim.solution import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from riskslim.model_selection.size_path import SizeOnPath

__all__ = ["HEAD", "draw", "free_share", "is_rule", "line", "measured_of"]

HEAD = (
    "size  status          loss     gap  sensitivity  specificity  test sensitivity  "
    "test specificity"
)


def is_rule(entry: SizeOnPath) -> bool:
    """True if the score of a size is the best rule that reaches a share, not the least loss."""
    return entry.risk_score is not None and entry.risk_score.operating_point is not None


def measured_of(entry: SizeOnPath) -> tuple[str, ...]:
    """The metrics of an entry: those of a rule have shares as well."""
    return (*METRICS, *SHARES) if is_rule(entry) else METRICS


def free_share(entries: Sequence[SizeOnPath]) -> str:
    """The share that rules have as much of as is possible.

    Parameters
    ----------
    entries : sequence of SizeOnPath
        Some of which are rules.

    Returns
    -------
    str
    """
    points = [one.risk_score.operating_point for one in entries if one.risk_score is not None]
    required = next(filter(None, (point.required for point in points if point is not None)))
    return required.other


def line(start: str, entry: SizeOnPath) -> str:
    """The line of a size whose score is a rule.

    Parameters
    ----------
    start : str
        Size and status.
    entry : SizeOnPath

    Returns
    -------
    str
    """
    train, found = entry.train, entry.cross_validation
    assert train is not None
    start += (
        f"{train.loss:>8.5f} {percent(train.optimality_gap):>7}  {train.sensitivity:>11.1%}  "
        f"{train.specificity:>11.1%}"
    )
    if found is None or not found.folds:
        return start
    return f"{start}  {found.mean('sensitivity'):>16.1%}  {found.mean('specificity'):>16.1%}"


def draw(entries: Sequence[SizeOnPath], ax: Axes | None) -> Axes:
    """Draw sensitivity against specificity of rules, as ModelSizePath.plot_rules says."""
    from riskslim.plots import plot_rules

    trained, means, dots = [], [], []
    for entry in entries:
        if entry.train is not None:
            shares = (entry.train.specificity, entry.train.sensitivity)
            trained.append((str(entry.max_size), *shares))
        found = entry.cross_validation
        if found is not None and found.folds:
            mean = (found.mean("specificity"), found.mean("sensitivity"))
            means.append((str(entry.max_size), *mean))
            values = (found.values("specificity"), found.values("sensitivity"))
            dots += [*zip(*(one.tolist() for one in values), strict=True)]
    return plot_rules(trained, means, dots, ax=ax)
