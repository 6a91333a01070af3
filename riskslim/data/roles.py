"""Columns of files by what they are used as: outcome, weights, features."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from typing import Any

from riskslim._wording import listing, near
from riskslim.data.tables import check_blanks

__all__ = ["Columns"]


@dataclasses.dataclass(frozen=True)
class Columns:
    """Columns of the files, by what they are used as.

    Attributes
    ----------
    outcome : str
    weights : str or None
    positive_label : object
        As in :class:`~riskslim.TrainingData`.
    features : tuple of str or None
        None: all others.
    exclude : tuple of str
    """

    outcome: str
    weights: str | None = None
    positive_label: Any = None
    features: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        outcome: Any,
        weights: Any,
        positive_label: Any,
        features: Iterable[str] | None,
        exclude: Iterable[str],
    ) -> Columns:
        """Columns as a user names them.

        Parameters
        ----------
        outcome, weights, positive_label
        features, exclude : iterable of str, or str

        Returns
        -------
        Columns

        Raises
        ------
        TypeError
            The outcome or the weights are no name.
        """
        for name, what in ((outcome, "y"), (weights, "sample_weight")):
            if not isinstance(name, str) and not (name is None and what == "sample_weight"):
                raise TypeError(
                    f"X names files, so that {what} is the name of a column, got "
                    f"{type(name).__name__}"
                )
        wanted = (features,) if isinstance(features, str) else features
        return cls(
            outcome,
            weights,
            positive_label,
            None if wanted is None else tuple(wanted),
            (exclude,) if isinstance(exclude, str) else tuple(exclude),
        )

    def chosen(self, names: list[str], path: str | os.PathLike[str]) -> list[str]:
        """Names of the features, after checking all names.

        Parameters
        ----------
        names : list of str
            Of the columns of the files.
        path : path-like
            Of the first file, for errors.

        Returns
        -------
        list of str
        """
        roles = {
            "outcome": (self.outcome,),
            "weights": () if self.weights is None else (self.weights,),
            "exclude": self.exclude,
            "features": self.features or (),
        }
        _check_names(names, roles, path)
        others = [name for name in names if name not in {self.outcome, self.weights, *self.exclude}]
        chosen = [name for name in others if self.features is None or name in self.features]
        if not chosen:
            raise ValueError(f"{path} has no column that is left as a feature.")
        used = {*chosen, self.outcome, self.weights} - {None}
        check_blanks([name for name in names if name in used], f"{path} has")
        return chosen


def _check_names(
    names: list[str], roles: dict[str, tuple[str, ...]], path: str | os.PathLike[str]
) -> None:
    """Refuse names of columns that are none, or not unique."""
    named = {name for given in roles.values() for name in given}
    # Where the features are named, what else is in the file does not matter.
    left_out = "" in roles["exclude"] or (bool(roles["features"]) and "" not in named)
    if "" in names and not left_out:
        raise ValueError(
            f"{path} has no name for column {names.index('') + 1} of {len(names)}; pandas writes "
            "its index like that. Write the file with to_csv(..., index=False), name the column, "
            "or exclude it by its empty name, ''."
        )
    if len(set(names)) != len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(
            f"Column names must be unique: {path} has {listing(map(repr, twice))} more than once."
        )
    taken: dict[str, str] = {}
    for role, given in roles.items():
        for name in given:
            if name not in names:
                hint = ""
                if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
                    hint = " The values must be separated by commas."
                raise ValueError(
                    f"{path} has no column {name!r}{near(name, names)}, given as {role}.{hint} "
                    f"Its {len(names)} columns are {listing(map(repr, names))}."
                )
            if taken.setdefault(name, role) != role:
                raise ValueError(f"Column {name!r} is given as {taken[name]} and as {role}.")
