"""Places of the package that can be broken: what they are, how they are drawn and found again."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from benchmarks.mutations import compiled_code, python_code
from benchmarks.mutations.edits import KINDS, Candidate, apply, line_at
from benchmarks.records import Row

__all__ = ["SHARES", "Place", "draw", "find", "places_of", "room_of"]

# Places of each part of the package among forty.
SHARES = {"kernels": 10, "engines": 10, "others": 20}
# Modules in which a fault shows in speed or in words alone: they share out work to threads, or
# have the version and the words of messages. Numba's copies of kernels are compared with the others
# by tests of their own, which run where it is installed.
WITHOUT = (
    "riskslim/_kernels/numba_backend/",
    *(f"riskslim/_kernels/{name}" for name in ("build.", "pool.", "threads.")),
    *(f"riskslim/{name}.py" for name in ("_version", "_wording", "data/threads")),
)


class Key(NamedTuple):
    """What a place is known by where lines have moved."""

    file: str
    line: str  # without the blanks around it
    operator: str
    occurrence: int  # among the places of the file with the same line and operator, from 1 on


@dataclasses.dataclass(frozen=True)
class Place:
    """One way to break one place.

    Attributes
    ----------
    key : Key
    kind : str
        One of ``KINDS``.
    candidate : Candidate
    """

    key: Key
    kind: str
    candidate: Candidate

    def broken(self, text: str) -> str:
        """Break the place in the text of its file."""
        return apply(text, self.candidate.edits)


def room_of(file: str) -> str:
    """Part of the package that a file belongs to, of those in ``SHARES``."""
    if file.endswith((".pyx", ".h")):
        return "kernels"
    return "engines" if file.startswith("riskslim/engines/") else "others"


def places_of(checkout: Path) -> list[Place]:
    """All places of the package, by file and position.

    Parameters
    ----------
    checkout : Path

    Returns
    -------
    list of Place
    """
    found = []
    for path in sorted((checkout / "riskslim").rglob("*")):
        file = path.relative_to(checkout).as_posix()
        if path.suffix in (".py", ".pyx", ".h") and not file.startswith(WITHOUT):
            found += _places(file, path.read_text(encoding="utf-8"))
    return found


def _places(file: str, text: str) -> list[Place]:
    if file.endswith(".py"):
        candidates = python_code.candidates(text)
    else:
        candidates = compiled_code.candidates(text, is_c=file.endswith(".h"))
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for one in sorted(candidates, key=lambda one: (one.edits[0].start, one.operator)):
        line = line_at(text, one.edits[0].start).strip()
        seen[line, one.operator] += 1
        key = Key(file, line, one.operator, seen[line, one.operator])
        found.append(Place(key, one.kind, one))
    return found


def draw(places: Iterable[Place], number: int, seed: int) -> list[Place]:
    """Draw places: a half of kernels and engines, kinds in turn, no line twice.

    Parameters
    ----------
    places : iterable of Place
    number : int
    seed : int

    Returns
    -------
    list of Place
    """
    places = list(places)
    drawn: list[Place] = []
    for part, share in SHARES.items():
        those = [place for place in places if room_of(place.key.file) == part]
        wanted = round(number * share / sum(SHARES.values()))
        drawn += _draw(those, wanted, f"{seed} {part}")
    return drawn


def _draw(places: list[Place], number: int, seed: str) -> list[Place]:
    waiting = {kind: [place for place in places if place.kind == kind] for kind in KINDS}
    for kind, those in waiting.items():
        random.Random(f"{seed} {kind}").shuffle(those)
    drawn: list[Place] = []
    while len(drawn) < number and any(waiting.values()):
        for kind in KINDS:
            lines = {(one.key.file, one.key.line) for one in drawn}
            those = waiting[kind]
            while those and (those[-1].key.file, those[-1].key.line) in lines:
                those.pop()
            if those and len(drawn) < number:
                drawn.append(those.pop())
    return drawn


def find(places: Iterable[Place], rows: Mapping[int, Row]) -> dict[int, Place | None]:
    """Find places again that rows of results name.

    Parameters
    ----------
    places : iterable of Place
        Of another checkout.
    rows : mapping
        By number, with the fields of a key.

    Returns
    -------
    dict
        By number; None where there is no such place any more.
    """
    known = {place.key: place for place in places}
    return {
        number: known.get(Key(row["file"], row["line"], row["operator"], int(row["occurrence"])))
        for number, row in rows.items()
    }
