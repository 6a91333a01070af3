"""Two records: which files differ, and their first lines that do."""

from __future__ import annotations

import fnmatch
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.results.folder import ABOUT

__all__ = ["Comparison", "compared"]

# Lines that are shown of a file, and characters of a line.
_LINES, _WIDTH = 3, 160


class Comparison(NamedTuple):
    """What two records have in common.

    Attributes
    ----------
    same : int
        Files with the same bits.
    left_out : int
        Files that were not compared.
    differences : list of str
        A text for each of the other files.
    notes : list of str
        What may be the reason: other machines or libraries.
    """

    same: int
    left_out: int
    differences: list[str]
    notes: list[str]

    def __str__(self) -> str:
        lines = [*self.notes, *self.differences, f"same bits: {self.same} files"]
        if self.left_out:
            lines.append(f"not compared: {self.left_out} files")
        if self.differences:
            lines.append(f"differences: {len(self.differences)} files")
        return "\n".join(lines)


def compared(one: Path, other: Path, without: Sequence[str] = ()) -> Comparison:
    """Compare two records byte by byte.

    Parameters
    ----------
    one, other : Path
        Their folders.
    without : sequence of str, default ()
        Patterns of names that are not compared: what a change is known to alter.

    Returns
    -------
    Comparison

    Raises
    ------
    FileNotFoundError
        A folder has no record, or one that was not finished.
    """
    found = [_files(folder) for folder in (one, other)]
    names = sorted(found[0] | found[1])
    left_out = [name for name in names if any(fnmatch.fnmatch(name, p) for p in without)]
    same, differences = 0, []
    for name in sorted(set(names) - set(left_out)):
        if name not in found[1]:
            differences.append(f"{name}: only in {one}")
        elif name not in found[0]:
            differences.append(f"{name}: only in {other}")
        elif (one / name).read_bytes() == (other / name).read_bytes():
            same += 1
        else:
            differences.append(f"{name} differs:\n{_first_lines(one / name, other / name)}")
    return Comparison(same, len(left_out), differences, _notes(one, other))


def _files(folder: Path) -> set[str]:
    if not (folder / ABOUT).is_file():
        raise FileNotFoundError(f"{folder} has no {ABOUT}: it is no record, or not a finished one")
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix() for path in paths} - {ABOUT}


def _first_lines(one: Path, other: Path) -> str:
    # A byte that is no UTF-8 is shown as such; line ends are part of the lines.
    texts = (path.read_bytes().decode("utf-8", "backslashreplace") for path in (one, other))
    pairs = itertools.zip_longest(*(text.splitlines(keepends=True) for text in texts))
    differ = [(k, pair) for k, pair in enumerate(pairs, 1) if pair[0] != pair[1]]
    shown = [
        f"  line {k}:\n    - {_shown(before)}\n    + {_shown(after)}"
        for k, (before, after) in differ[:_LINES]
    ]
    if len(differ) > _LINES:
        shown.append(f"  and {len(differ) - _LINES} more lines")
    return "\n".join(shown)


def _shown(line: str | None) -> str:
    if line is None:
        return "(no such line)"
    text = repr(line)[1:-1]
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}..."


def _notes(one: Path, other: Path) -> list[str]:
    """Say where the runs were of another length, machine or library."""
    about: list[dict[str, Any]] = [
        json.loads((folder / ABOUT).read_text(encoding="utf-8")) for folder in (one, other)
    ]
    return [
        f"note: {name} is {about[0].get(name)!r} there and {about[1].get(name)!r} here"
        for name in ("short", "groups", "processor", "numpy", "python", "packages", "environment")
        if about[0].get(name) != about[1].get(name)
    ]
