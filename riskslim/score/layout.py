"""Layouts of sheets: points by item or by variable, as fitted or none of them negative."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, TypeAlias, get_args

__all__ = ["PointsShown", "SheetLayout", "ShownBy", "checked_points_shown"]

ShownBy: TypeAlias = Literal["item", "variable"]
PointsShown: TypeAlias = Literal["fitted", "non-negative"]


@dataclasses.dataclass(frozen=True)
class SheetLayout:
    """The way in which the sheet of a score lists its points. No risk depends on it.

    Parameters
    ----------
    by : {"item", "variable"}, default "item"
        One line for each item, or one row for each variable with its bands.
    points : {"fitted", "non-negative"}, default "fitted"
        Points as they were fitted; or, where conditions have negative ones, of these conditions
        turned round, so that the least that a condition or variable adds is 0. Scores are those of
        the sheet, in predictions too.

    Raises
    ------
    ValueError
        Something else.

    Examples
    --------
    >>> from riskslim.score.layout import SheetLayout
    >>> SheetLayout("variable", "non-negative")
    SheetLayout(by='variable', points='non-negative')
    """

    by: ShownBy = "item"
    points: PointsShown = "fitted"

    def __post_init__(self) -> None:
        if self.by not in get_args(ShownBy):
            raise ValueError(f"by must be 'item' or 'variable', got {self.by!r}")
        checked_points_shown(self.points)

    def changed(self, by: ShownBy | None, points: PointsShown | None) -> SheetLayout:
        """The same layout with what is given."""
        return SheetLayout(self.by if by is None else by, self.points if points is None else points)

    @classmethod
    def from_plain(cls, plain: Any) -> SheetLayout:
        """Read the layout in a file.

        Parameters
        ----------
        plain : object
            As JSON has it.

        Returns
        -------
        SheetLayout

        Raises
        ------
        ValueError
        """
        if not isinstance(plain, dict):
            raise ValueError(f"must be an object with 'by' and 'points', got {plain!r}")
        return cls(plain.get("by", "item"), plain.get("points", "fitted"))


def checked_points_shown(points: Any) -> PointsShown:
    """A way to show points; ``ValueError`` if it is none."""
    if points not in get_args(PointsShown):
        raise ValueError(f"points must be 'fitted' or 'non-negative', got {points!r}")
    return points  # type: ignore[no-any-return]
