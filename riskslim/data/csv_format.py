"""The ways in which CSV files are written: what is read as missing, separator, encoding."""

from __future__ import annotations

import codecs
import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["MISSING_TEXTS", "CsvFormat"]

# Read as missing where nothing else is said, beside the empty cell.
MISSING_TEXTS = (
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "N/A",
    "NA", "NULL", "NaN", "n/a", "nan", "null",
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class CsvFormat:
    r"""The way in which a CSV file is written.

    A score that was fitted to a file keeps it, so that others are read in the same way.

    Parameters
    ----------
    missing : iterable of str, default MISSING_TEXTS
        Texts that stand for a missing value, in all columns; the empty cell always does. ``()``
        reads every other text as it is: "NA" may be a continent or a country.
    separator : str, default ","
        One character between the cells of a row.
    decimal : {".", ","}, default "."
        Mark of decimals.
    encoding : str, default "utf-8"
        A name that Python knows, such as "cp1252" or "utf-16".

    Raises
    ------
    TypeError, ValueError
        Missing texts that are no texts, or one str in place of several; a separator that is not
        one character, or is the decimal mark; another decimal mark; an encoding that Python does
        not know.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from riskslim import CsvFormat, read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "patients.csv")
    ...     _ = path.write_text("alter;mmHg;tot\n60;1,5;1\n41;0,5;0\n")
    ...     csv_format = CsvFormat(separator=";", decimal=",")
    ...     data = read(path, "tot", csv_format=csv_format)
    >>> data.column(1)
    array([1.5, 0.5])
    """

    missing: Iterable[str] = MISSING_TEXTS
    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        if isinstance(self.missing, str):
            raise TypeError(f"missing must be texts, not one str: pass [{self.missing!r}]")
        missing = tuple(dict.fromkeys(self.missing))
        for text in missing:
            if not isinstance(text, str):
                raise TypeError(f"texts that mean missing must be str, got {text!r}")
        object.__setattr__(self, "missing", tuple(text for text in missing if text))
        if not isinstance(self.separator, str) or len(self.separator) != 1:
            raise ValueError(f"the separator must be one character, got {self.separator!r}")
        if not self.separator.isascii() or self.separator in '"\r\n':
            raise ValueError(
                "the separator must be a character of ASCII that is no quote and no line break, "
                f"got {self.separator!r}"
            )
        if self.decimal not in (".", ","):
            raise ValueError(f"the decimal mark must be '.' or ',', got {self.decimal!r}")
        if self.decimal == self.separator:
            raise ValueError(
                f"{self.decimal!r} cannot be both separator and decimal mark: files with decimal "
                "commas have another separator, ';' most often"
            )
        try:
            codecs.lookup(self.encoding)
        except (LookupError, TypeError):
            raise ValueError(f"no encoding is called {self.encoding!r}") from None

    @property
    def is_utf8(self) -> bool:
        """True if the encoding is UTF-8."""
        return codecs.lookup(self.encoding).name == "utf-8"

    def to_plain(self) -> dict[str, Any]:
        """Return what JSON can hold of it.

        Returns
        -------
        dict
        """
        return {**dataclasses.asdict(self), "missing": list(self.missing)}

    @classmethod
    def from_plain(cls, plain: Any) -> CsvFormat:
        """The inverse of :meth:`to_plain`; what is left out has its default.

        Parameters
        ----------
        plain : dict

        Returns
        -------
        CsvFormat

        Raises
        ------
        ValueError
            Something is not as it should be.
        """
        if not isinstance(plain, Mapping):
            raise ValueError(f"a CSV format must be an object, got {plain!r}")
        names = [field.name for field in dataclasses.fields(cls)]
        given = {name: plain[name] for name in names if name in plain}
        if not isinstance(given.get("missing", []), list):
            raise ValueError(f"'missing' must be a list, got {given['missing']!r}")
        try:
            return cls(**given)
        except TypeError as error:
            raise ValueError(str(error)) from None
