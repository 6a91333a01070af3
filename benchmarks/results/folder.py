"""The files of a record: values with all their bits, texts without what no two runs share."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import enum
import hashlib
import json
import re
import resource
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import riskslim

__all__ = ["ABOUT", "Record", "normalised", "plain"]

# What a record says about its run: not compared.
ABOUT = "about.json"

# Longer arrays are written as their digest and first values.
_MOST_VALUES = 200
_FIRST = 3

# Whatever no two runs share, and what stands in its place; nothing else of a text is changed.
_RULES: tuple[tuple[str, str], ...] = (
    # The version of the package, where it is named as that.
    (rf"\briskslim {re.escape(riskslim.__version__)}(?![\w.])", "riskslim VERSION"),
    (rf'name="riskslim" version="{re.escape(riskslim.__version__)}"', 'name="riskslim" version=""'),
    # The end of a search, and lines of progress of --verbose.
    (r"\bafter \d+\.\d seconds\b", "after SECONDS"),
    (r"(?m)^ *\d+\.\d ?s  (?=objective )", "SECONDS  "),
    # The day on which a report was written.
    (r"\bWritten on \d{4}-\d\d-\d\d by riskslim\b", "Written on DATE by riskslim"),
    # Files that keep a score which could not be written where it was asked for.
    (r"\briskslim-recovered-[0-9a-f]{8}\.json", "riskslim-recovered-NUMBER.json"),
)  # fmt: skip
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def normalised(text: str, *folders: Path) -> str:
    """Leave out of a text what no two runs share.

    Parameters
    ----------
    text : str
    *folders : Path
        Temporary ones, whose names it may have.

    Returns
    -------
    str
    """
    for folder in folders:
        text = text.replace(str(folder), "FOLDER")
    text = _without_digest_of_script(text)
    for pattern, put in _RULES:
        text = re.sub(pattern, put, text)
    return text


def _without_digest_of_script(text: str) -> str:
    """A page names the digest of its script, which has the version: left out where it is right."""
    for script in _SCRIPT.findall(text):
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        text = text.replace(f"sha256-{digest}", "sha256-OF-THE-SCRIPT")
    return text


def plain(value: Any) -> Any:
    """Write a value in JSON without losing a bit: numbers that are not whole in hexadecimal.

    Parameters
    ----------
    value : object

    Returns
    -------
    object
    """
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    return [plain(one) for one in value]


def _array(values: NDArray[Any]) -> Any:
    if values.size <= _MOST_VALUES or values.dtype.kind not in "biuf":
        return plain(values.tolist())
    exact = np.ascontiguousarray(values, dtype=np.float64 if values.dtype.kind == "f" else np.int64)
    return {
        "shape": list(values.shape),
        "sha256": hashlib.sha256(exact.tobytes()).hexdigest(),
        "first": plain(exact.ravel()[:_FIRST].tolist()),
    }


def _cpu_seconds() -> float:
    """Of this process and of those that it waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


class Record:
    """A folder of results, one file for each.

    Parameters
    ----------
    folder : Path
    data : Path
        The paper's data sets, and raw tables in a folder within.
    short : bool
        Whether only a part of each kind is wanted.

    Attributes
    ----------
    seconds : dict
        Of the processor, by case.
    errors : list of str
        Cases that ended with an error, which is their result.
    n_files : int
        Files that were written.
    """

    def __init__(self, folder: Path, data: Path, *, short: bool) -> None:
        self.folder, self.data, self.short = folder, data, short
        self.seconds: dict[str, float] = {}
        self.errors: list[str] = []
        self.n_files = 0

    def write(self, name: str, what: Any, *folders: Path) -> None:
        """Write a text, or values.

        Parameters
        ----------
        name : str
            Of the file, with the folders that it is in.
        what : str or object
            Anything but a text becomes JSON.
        *folders : Path
            Temporary ones, which a text may name.

        Raises
        ------
        FileExistsError
            Two results have one name.
        """
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = what if isinstance(what, str) else json.dumps(plain(what), indent=1) + "\n"
        with path.open("x", encoding="utf-8", newline="") as file:
            file.write(normalised(text, *folders))
        self.n_files += 1

    @contextlib.contextmanager
    def case(self, name: str) -> Iterator[str]:
        """Take what happens within as a result: an error, and warnings, are files as well.

        Parameters
        ----------
        name : str
            What the names of its files begin with.

        Yields
        ------
        str
            The name.
        """
        began = _cpu_seconds()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                yield name
            except Exception as error:
                self.errors.append(f"{name}: {type(error).__name__}: {error}")
                self.write(f"{name}.error.txt", f"{type(error).__name__}: {error}\n")
        if caught:
            said = (f"{one.category.__name__}: {one.message}\n" for one in caught)
            self.write(f"{name}.warnings.txt", "".join(said))
        self.seconds[name] = round(_cpu_seconds() - began, 2)
