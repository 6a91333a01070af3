"""Lists of points on the command line, and the names in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from riskslim.score.labels import Label, check_labelled, labels_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from riskslim.risk_score import RiskScore

__all__ = ["Shown", "shown_of"]


@dataclass(frozen=True)
class Shown:
    """Options about the sheet; None and no labels leave it as it is."""

    by: str | None = None
    points: str | None = None
    labels: Mapping[str, Label] = field(default_factory=dict)

    def check(self, feature_names: Sequence[str]) -> None:
        """Refuse labels of what the data do not have, before a search."""
        from riskslim.items.item import source_variable

        check_labelled(self.labels, [*feature_names, *map(source_variable, feature_names)])

    def of(self, score: RiskScore) -> RiskScore:
        """The score with this layout and these labels."""
        if self.labels:
            score = score.with_labels(self.labels)
        return score.with_layout(by=self.by, points=self.points)  # type: ignore[arg-type]  # checked


def shown_of(by: str | None, points: str | None, labels: Path | None) -> Shown:
    """Read the options on the sheet of a score.

    Parameters
    ----------
    by, points : str or None
        Values of ``--by`` and ``--points``.
    labels : Path or None
        TOML file: a text or a table (text, unit, levels) by variable or feature.

    Returns
    -------
    Shown

    Raises
    ------
    OSError, ValueError, ImportError
        The file cannot be read; a value that is none; labels that are no text.
    """
    for option, value, known in (
        ("--by", by, ("item", "variable")),
        ("--points", points, ("fitted", "non-negative")),
    ):
        if value is not None and value not in known:
            raise ValueError(f"{option} must be {' or '.join(known)}, got {value!r}")
    if labels is None:
        return Shown(by, points)
    from riskslim.constraints.files import read_toml

    try:
        found = labels_of(read_toml(labels)[0])
    except TypeError as error:
        raise ValueError(f"{labels}: {error}") from None
    except ValueError as error:
        text = str(error)
        raise ValueError(text if str(labels) in text else f"{labels}: {text}") from None
    return Shown(by, points, found)
