"""Names for people: what variables, levels and features are called on sheets, and their units."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from riskslim._wording import listing, near

__all__ = ["Label", "LabelLike", "check_labelled", "labels_from_plain", "labels_of"]


@dataclasses.dataclass(frozen=True)
class Label:
    """The words of a variable or feature on sheets.

    Parameters
    ----------
    text : str, optional
        In place of its name.
    unit : str, optional
        What its values count: "years".
    levels : mapping from str to str, optional
        Words in place of levels, by the text of the level; "no" and "yes" of a feature that is
        0 or 1.

    Raises
    ------
    TypeError, ValueError
        Anything but text, or text that is empty.

    Examples
    --------
    >>> from riskslim.score.labels import Label
    >>> Label("Age", unit="years").unit
    'years'
    >>> Label("Sex", levels={"f": "female", "m": "male"}).level("f")
    'female'
    """

    text: str | None = None
    unit: str | None = None
    levels: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        for what in ("text", "unit"):
            _check_text(getattr(self, what), f"the {what} of a label", may_lack=True)
        if not isinstance(self.levels, Mapping):
            raise TypeError(f"levels must be a mapping from levels to text, got {self.levels!r}")
        for level, text in self.levels.items():
            _check_text(level, "a level of a label")
            _check_text(text, f"the label of the level {level!r}")
        object.__setattr__(self, "levels", MappingProxyType(dict(self.levels)))

    def __hash__(self) -> int:
        return hash((self.text, self.unit, tuple(self.levels.items())))

    def __reduce__(self) -> tuple[Any, ...]:
        # Read-only mappings cannot be pickled.
        return type(self), (self.text, self.unit, dict(self.levels))

    def level(self, text: str) -> str:
        """Return what a level is called."""
        return self.levels.get(text, text)

    def to_plain(self) -> dict[str, Any]:
        """Return what JSON can hold of it.

        Returns
        -------
        dict
        """
        plain = {"text": self.text, "unit": self.unit, "levels": dict(self.levels)}
        return {name: value for name, value in plain.items() if value}


LabelLike: TypeAlias = "str | Label | Mapping[str, Any]"


def labels_of(given: Mapping[str, LabelLike]) -> dict[str, Label]:
    """Return labels by name; a text is the label of a name, a mapping has the fields of a Label.

    Parameters
    ----------
    given : mapping from str to str, Label or mapping

    Returns
    -------
    dict from str to Label

    Raises
    ------
    TypeError, ValueError
        As :class:`Label`; the message names the variable.

    Examples
    --------
    >>> from riskslim.score.labels import labels_of
    >>> labels_of({"bmi": "Body mass index", "age": {"unit": "years"}})["age"].unit
    'years'
    """
    if not isinstance(given, Mapping):
        raise TypeError(f"labels must be a mapping from names to labels, got {given!r}")
    found = {}
    for name, one in given.items():
        if not isinstance(name, str):
            raise TypeError(f"labels must be by the names of variables or features, got {name!r}")
        try:
            found[name] = _label_of(one)
        except (TypeError, ValueError) as error:
            raise type(error)(f"labels[{name!r}]: {error}") from None
    return found


def _label_of(one: Any) -> Label:
    if isinstance(one, Label):
        return one
    if isinstance(one, Mapping):
        known = [field.name for field in dataclasses.fields(Label)]
        unknown = [key for key in one if key not in known]
        if unknown:
            raise ValueError(
                f"a label has {listing(known)}, got "
                f"{listing(repr(key) + near(str(key), known) for key in unknown)}"
            )
        return Label(**one)
    return Label(one)


def check_labelled(labels: Iterable[str], known: Iterable[str]) -> None:
    """Refuse labels of what a score does not have.

    Parameters
    ----------
    labels : iterable of str
    known : iterable of str
        Features and variables of the score.

    Raises
    ------
    ValueError
    """
    names = [*dict.fromkeys(known)]
    among = set(names)
    unknown = [name for name in labels if name not in among]
    if unknown:
        raise ValueError(
            "labels name what the score does not have: "
            f"{listing(repr(name) + near(name, names) for name in unknown)}"
        )


def labels_from_plain(plain: Any) -> dict[str, Label]:
    """Read the labels in a file.

    Parameters
    ----------
    plain : object
        As JSON has it.

    Returns
    -------
    dict from str to Label

    Raises
    ------
    ValueError
    """
    try:
        return labels_of(plain)
    except TypeError as error:
        raise ValueError(str(error)) from None


def _check_text(text: Any, what: str, *, may_lack: bool = False) -> None:
    if text is None and may_lack:
        return
    if not isinstance(text, str):
        raise TypeError(f"{what} must be a str, got {text!r}")
    if not text.strip():
        raise ValueError(f"{what} must not be empty, got {text!r}")
