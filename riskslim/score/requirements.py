"""Requirements that a score was found under, in words, each with a mark: met or not."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from typing import Any, NamedTuple

__all__ = [
    "Requirement",
    "alike",
    "checked_requirements",
    "of_names",
    "requirements_from_plain",
    "requirements_to_plain",
]


class Requirement(NamedTuple):
    """A requirement on a score.

    Attributes
    ----------
    text : str
        In words.
    violation : str or None
        How the score breaks it; None if it meets it.
    """

    text: str
    violation: str | None = None

    @property
    def is_met(self) -> bool:
        """True if the score meets it."""
        return self.violation is None

    @property
    def mark(self) -> str:
        """The mark that stands beside it."""
        return "\u2713 met" if self.is_met else "\u2717 not met"

    def __str__(self) -> str:
        broken = "" if self.violation is None else f" ({self.violation})"
        return f"{self.mark}: {self.text}{broken}"


# What `items_per_variable` and `monotone="auto"` ask of every variable.
_OF_EACH = re.compile(
    r"at most \d+ of the features of '([^']*)' (?:is|are) used"
    r"|more of '([^']*)' never (?:lowers|raises) the risk, as its trend in the training rows"
)
# A name in quotation marks.
_NAME = re.compile(r"'([^']*)'")


def alike(texts: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Put texts together that differ in the name of a feature or a variable alone.

    Parameters
    ----------
    texts : iterable of str

    Returns
    -------
    list of (str, list of str)
        By the first of them: the text, with '' in place of the name where it has one name, and
        the names.

    Examples
    --------
    >>> from riskslim.score.requirements import alike
    >>> alike(["points of 'a' are odd", "size 0 to 5", "points of 'b' are odd"])
    [("points of '' are odd", ['a', 'b']), ('size 0 to 5', [])]
    """
    groups: dict[str, list[str]] = {}
    for text in texts:
        names = _NAME.findall(text)
        if len(names) == 1:
            groups.setdefault(_NAME.sub("''", text), []).append(names[0])
        else:
            groups.setdefault(text, [])
    return [*groups.items()]


def of_names(requirements: Iterable[Requirement], names: Container[str]) -> tuple[Requirement, ...]:
    """Leave out what is asked of every variable, and met, of those that have other names.

    Parameters
    ----------
    requirements : iterable of Requirement
    names : container of str
        Variables and features that a score uses: of others such a requirement says nothing.

    Returns
    -------
    tuple of Requirement

    Examples
    --------
    >>> from riskslim.score.requirements import Requirement, of_names
    >>> texts = [f"at most 1 of the features of '{name}' is used" for name in ("age", "sex")]
    >>> [one.text for one in of_names(map(Requirement, texts), {"sex"})]
    ["at most 1 of the features of 'sex' is used"]
    """
    found = [(one, _OF_EACH.fullmatch(one.text)) for one in requirements]
    return tuple(
        one
        for one, of_each in found
        if of_each is None or not one.is_met or (of_each[1] or of_each[2]) in names
    )


def checked_requirements(given: Iterable[Requirement]) -> tuple[Requirement, ...]:
    """Refuse what are no requirements.

    Parameters
    ----------
    given : iterable of Requirement

    Returns
    -------
    tuple of Requirement

    Raises
    ------
    TypeError
    """
    found = tuple(given)
    wrong = next((one for one in found if not isinstance(one, Requirement)), None)
    if wrong is not None:
        raise TypeError(f"requirements must be Requirement, got {wrong!r}")
    return found


def requirements_to_plain(requirements: Sequence[Requirement]) -> list[dict[str, Any]]:
    """Values that JSON has: text, is_met and violation of each."""
    return [
        {"text": one.text, "is_met": one.is_met, "violation": one.violation} for one in requirements
    ]


def requirements_from_plain(plain: Any) -> tuple[Requirement, ...]:
    """The inverse of :func:`requirements_to_plain`.

    Raises
    ------
    ValueError
        Something else.
    """
    if not isinstance(plain, list):
        raise ValueError(f"'requirements' must be a list, got {plain!r}")
    found = []
    for k, one in enumerate(plain):
        text, violation = (
            (one.get("text"), one.get("violation")) if isinstance(one, dict) else (None, None)
        )
        if not isinstance(text, str) or not isinstance(violation, str | None):
            raise ValueError(f"entry {k} of 'requirements' must have a text, got {one!r}")
        if one.get("is_met", violation is None) is not (violation is None):
            raise ValueError(f"entry {k} of 'requirements' contradicts itself, got {one!r}")
        found.append(Requirement(text, violation))
    return tuple(found)
