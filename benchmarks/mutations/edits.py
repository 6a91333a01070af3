"""Changes of a text that break one place of a program."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

__all__ = [
    "CLOCKS",
    "COMPARISONS",
    "EXTREMES",
    "KINDS",
    "ROUNDINGS",
    "WORK_ALONE",
    "Candidate",
    "Edit",
    "apply",
    "line_at",
]

# Kinds of places, in the order in which they are drawn in turn.
KINDS = ("comparison", "sign", "one", "rounding", "extreme", "index", "return", "logic")
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ROUNDINGS = {"floor": "ceil", "ceil": "floor"}
EXTREMES = {
    "min": "max", "minimum": "maximum", "fmin": "fmax",
    "max": "min", "maximum": "minimum", "fmax": "fmin",
}  # fmt: skip
# Functions that say how much room work takes, share it out, measure its time or fetch data early
# show faults in speed alone, or in memory that is not theirs; those of words in words.
WORK_ALONE = re.compile(r"room|scratch|thread|prefetch|seconds|__repr__|__str__")
# The same of lines that read a clock.
CLOCKS = re.compile(r"perf_counter|process_time|monotonic|rs_seconds")


class Edit(NamedTuple):
    """Characters of a text, and what comes in their place."""

    start: int
    end: int
    new: str


class Candidate(NamedTuple):
    """A way to break one place: a kind, what is done in words, and the edits in order."""

    kind: str
    operator: str
    edits: tuple[Edit, ...]


def apply(text: str, edits: Sequence[Edit]) -> str:
    """Make changes of a text.

    Parameters
    ----------
    text : str
    edits : sequence of Edit
        In order; they do not overlap.

    Returns
    -------
    str
    """
    for start, end, new in reversed(edits):
        text = text[:start] + new + text[end:]
    return text


def line_at(text: str, at: int) -> str:
    """Line of a text around one of its characters."""
    end = text.find("\n", at)
    return text[text.rfind("\n", 0, at) + 1 : end if end >= 0 else len(text)]
