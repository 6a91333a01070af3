"""Standard output and standard error that end nothing when they fail.

A terminal may be gone, a pipe's reader may have closed it, a disk may be full, an encoding may lack
a character. None of these may end a search or lose what it found: the first failure of a stream is
kept, everything after it is dropped, and whoever printed asks whether the text has arrived.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterator
from typing import TextIO, cast

from riskslim._wording import printable

__all__ = ["TolerantStream", "emit", "emit_data", "print_failure", "tolerant_streams"]

# How signs are written where an encoding lacks them; other characters as escape sequences.
_PLAIN = str.maketrans({"\u2264": "<=", "\u2265": ">=", "\u2212": "-", "\u00d7": "x"})


class TolerantStream(io.TextIOBase):
    """A text stream that keeps its first failure instead of raising it.

    Parameters
    ----------
    stream : text stream or None
        None where the process was started without it.

    Attributes
    ----------
    failure : Exception or None
    """

    def __init__(self, stream: TextIO | None) -> None:
        self.stream = stream
        self.failure: Exception | None = None
        if stream is None:
            self.failure = OSError(errno.EBADF, os.strerror(errno.EBADF))

    def write(self, text: str) -> int:
        """Write a text, in words that the stream's encoding has."""
        if not isinstance(text, str):
            raise TypeError(f"text must be str, got {type(text).__name__}")
        if self.stream is not None and self.failure is None:
            try:
                self.stream.write(self._encodable(text))
            except RuntimeError:  # a signal came while the stream was being written to
                return 0
            except (OSError, ValueError) as error:  # ValueError: closed
                self._fail(error)
        return len(text)

    def flush(self) -> None:
        """Send what was written on its way."""
        if self.stream is not None and self.failure is None:
            try:
                self.stream.flush()
            except RuntimeError:
                return
            except (OSError, ValueError) as error:
                self._fail(error)

    def lacks(self, text: str) -> str:
        """Return the first character of a text that the encoding does not have, or nothing."""
        try:
            text.encode(self.encoding, self.errors)
        except UnicodeEncodeError as error:
            return text[error.start]
        return ""

    def isatty(self) -> bool:
        """True if a person looks at it."""
        try:
            return self.stream is not None and self.failure is None and self.stream.isatty()
        except ValueError:
            return False

    def fileno(self) -> int:
        """Return the descriptor; OSError where there is none."""
        if self.stream is None:
            raise io.UnsupportedOperation("fileno")
        return self.stream.fileno()

    def writable(self) -> bool:
        """Say that it can be written to: failures are kept."""
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]  # an attribute there
        """Name of the encoding."""
        return getattr(self.stream, "encoding", None) or "utf-8"

    @property
    def errors(self) -> str:  # type: ignore[override]
        """Treatment of characters that the encoding lacks."""
        return getattr(self.stream, "errors", None) or "strict"

    def _encodable(self, text: str) -> str:
        if not self.lacks(text):
            return text
        octets = text.translate(_PLAIN).encode(self.encoding, "backslashreplace")
        return octets.decode(self.encoding)

    def _fail(self, error: Exception) -> None:
        self.failure = error
        # What is left in the stream's buffer would fail again when the interpreter ends.
        with contextlib.suppress(OSError, ValueError):
            descriptor = self.fileno()
            if descriptor in (1, 2):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, descriptor)
                os.close(nowhere)


@contextlib.contextmanager
def tolerant_streams() -> Iterator[None]:
    """Let failures of standard output and standard error end nothing; within another, do nothing.

    Yields
    ------
    None
    """
    if isinstance(sys.stdout, TolerantStream):
        yield
        return
    before = sys.stdout, sys.stderr
    out, err = (TolerantStream(stream) for stream in before)
    sys.stdout, sys.stderr = cast(TextIO, out), cast(TextIO, err)
    try:
        yield
    finally:
        out.flush()
        err.flush()
        sys.stdout, sys.stderr = before


def emit(text: str, *, err: bool = False) -> bool:
    """Print a text for people, and a line break; control characters of names are spelt out.

    Parameters
    ----------
    text : str
    err : bool, default False
        To standard error.

    Returns
    -------
    bool
        Whether it has been written.
    """
    stream = sys.stderr if err else sys.stdout
    with contextlib.suppress(OSError, ValueError):
        stream.write(f"{printable(text)}\n")
        stream.flush()
        return getattr(stream, "failure", None) is None
    return False


def emit_data(text: str) -> None:
    """Print a text for programs: all its characters as they are, or nothing.

    Parameters
    ----------
    text : str

    Raises
    ------
    ValueError
        The encoding of standard output lacks one of its characters.
    """
    stream = sys.stdout
    if isinstance(stream, TolerantStream) and (character := stream.lacks(text)):
        raise ValueError(
            f"standard output is in the encoding {stream.encoding}, which has no {character!a}: "
            "name a file by --output, which is written in UTF-8, or set PYTHONIOENCODING=utf-8"
        )
    stream.write(text)
    stream.flush()


def print_failure() -> str | None:
    """Say why standard output did not take what was printed.

    Returns
    -------
    str or None
        None where it did; empty where its reader closed it, who had seen enough.
    """
    sys.stdout.flush()
    failure = getattr(sys.stdout, "failure", None)
    if failure is None:
        return None
    if isinstance(failure, BrokenPipeError):
        return ""
    return f"standard output: {getattr(failure, 'strerror', None) or failure}"
