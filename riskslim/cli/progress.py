"""Progress on the command line: one line on standard error, if a person looks at it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.text import Text

    from riskslim.engines.parallel import Step
    from riskslim.rows.reading import ReadProgress
    from riskslim.solution import TraceRecord

__all__ = ["PathProgress", "ReadingProgress", "SearchProgress", "display"]


class SearchProgress:
    """The state of a search in one line."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.record: TraceRecord | None = None

    def __call__(self, record: TraceRecord) -> None:
        """Note the state of the search."""
        self.record = record

    def state(self) -> str:
        """Return what is known, without the time."""
        if self.record is None:
            return "looking for a first risk score"
        return self.record.summary()

    def __rich__(self) -> Text:
        from rich.text import Text

        line = f"{time.perf_counter() - self.began:6.1f} s  {self.state()}"
        return Text(line, no_wrap=True, overflow="ellipsis")


class ReadingProgress(SearchProgress):
    """The state of the reading of files in one line."""

    def __init__(self) -> None:
        super().__init__()
        self.read: ReadProgress | None = None

    def __call__(self, read: ReadProgress) -> None:  # type: ignore[override]
        """Note the state of the reading."""
        self.read = read

    def state(self) -> str:
        """Return how far it is, without the time."""
        return "reading" if self.read is None else self.read.summary()


class PathProgress(SearchProgress):
    """The state of the searches of several sizes and folds in one line."""

    def __init__(self) -> None:
        super().__init__()
        self.done = ""
        self.search = ""

    def step(self, step: Step) -> None:
        """Count a set of rows that is finished."""
        self.done = f"{step.done} of {step.total} done  "
        self.search, self.record = "", None

    def follow(self, rows: str, size: int, record: TraceRecord) -> None:
        """Note the state of a search."""
        self.search = f"{rows}, size {size}  "
        self.record = record

    def state(self) -> str:
        """Return what is finished, and what is searched."""
        # Other processes do not say how far they are.
        now = "searching" if self.record is None else self.record.summary()
        return f"{self.done}{self.search}{now}"


_Shown = TypeVar("_Shown", bound=SearchProgress)


@contextmanager
def display(progress: _Shown, *, hidden: bool) -> Iterator[_Shown | None]:
    """Show the progress while something runs, refreshed several times per second.

    Parameters
    ----------
    progress : SearchProgress
    hidden : bool
        Show nothing, as where standard error is no terminal.

    Yields
    ------
    SearchProgress or None
        None where it is not shown.
    """
    if hidden or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.live import Live

    try:
        live = Live(progress, console=Console(stderr=True), refresh_per_second=4, transient=True)
        live.start(refresh=True)
    except Exception:  # whatever the terminal is: the search goes on without it
        yield None
        return
    try:
        yield progress
    finally:
        with suppress(Exception):
            live.stop()
