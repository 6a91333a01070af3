"""A variable of a score with the points of its values, as data."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from riskslim.items.families import Pattern

__all__ = ["Band", "VariableBands"]


class Band(NamedTuple):
    """Values of a variable that have the same points.

    Attributes
    ----------
    condition : str
        The values in words: "66 to 70", "A, B", "missing", "yes"; empty of a variable whose values
        are multiplied by points.
    points : int
        What the conditions that hold for these values add up to; points per unit of the value
        where ``worth`` says so.
    patterns : tuple of tuples of int
        What can be true of the features of the variable within the band, 1 where one holds.
    worth : str
        The points in words where they are multiplied by a value: "x 2 points per Hz"; else empty.
    is_text : bool
        Whether the condition has words of the data, which are printed as they are.
    is_measured : bool
        False where the value is missing, or a special one, which is no measurement.
    """

    condition: str
    points: int
    patterns: tuple[Pattern, ...] = ()
    worth: str = ""
    is_text: bool = True
    is_measured: bool = True

    @property
    def printed_points(self) -> str:
        """The points, with their factor where there is one."""
        return self.worth or str(self.points)


@dataclasses.dataclass(frozen=True)
class VariableBands:
    """A variable of a score, and the points of its values.

    Parameters
    ----------
    variable : str
        The raw column, or a feature that belongs to none.
    label : str
        Its name for people, with its unit: "Age (years)".
    unit : str or None
        What its values count.
    features : tuple of str
        The features with points that are conditions on it.
    bands : tuple of Band
        In the order of the values; what is missing comes last.
    """

    variable: str
    label: str
    unit: str | None
    features: tuple[str, ...]
    bands: tuple[Band, ...]

    @property
    def is_factor(self) -> bool:
        """True if values are multiplied by points, so that there are no bands."""
        return bool(self.bands[0].worth)

    @property
    def least(self) -> int:
        """The least points of a band; 0 where values are multiplied."""
        return 0 if self.is_factor else min(band.points for band in self.bands)

    @property
    def most(self) -> int:
        """The most points of a band; 0 where values are multiplied."""
        return 0 if self.is_factor else max(band.points for band in self.bands)

    @property
    def least_measured(self) -> int:
        """The same of measured values alone, where there are any."""
        measured = [band.points for band in self.bands if band.is_measured]
        return self.least if self.is_factor or not measured else min(measured)

    def band_of(self, values: Mapping[str, float]) -> Band | None:
        """Return the band of a record.

        Parameters
        ----------
        values : mapping from str to int or float
            Values of the features.

        Returns
        -------
        Band or None
            None where the conditions contradict each other: no value has them.
        """
        pattern = tuple(values[name] for name in self.features)
        return next((band for band in self.bands if pattern in band.patterns), None)

    def moved(self, factor: int, shift: int) -> VariableBands:
        """The same bands with points times a factor, plus a shift."""
        bands = [band._replace(points=factor * band.points + shift) for band in self.bands]
        return dataclasses.replace(self, bands=tuple(bands))

    def __str__(self) -> str:
        bands = ", ".join(
            f"{band.condition}: {band.printed_points}" if band.condition else band.printed_points
            for band in self.bands
        )
        return f"{self.label}: {bands}"
