"""Things that all commands share: messages, signals, exit codes."""

from __future__ import annotations

import logging
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from riskslim._wording import printable
from riskslim.cli.exit_codes import (
    EXIT_INTERNAL,
    EXIT_INTERRUPTED,
    EXIT_MEMORY,
    EXIT_OUTPUT,
    EXIT_USAGE,
)
from riskslim.cli.limits import naming_limits
from riskslim.cli.messages import explained
from riskslim.cli.signals import breaks_import, comes_of_ctrl_c, ending_like_ctrl_c
from riskslim.cli.streams import emit, print_failure, tolerant_streams
from riskslim.data.faults import UnusableColumnsError
from riskslim.exceptions import (
    CertificateError,
    ConstantFeatureWarning,
    ExtrapolationWarning,
    RiskSLIMError,
    SearchInterruptedError,
    UnboundCertificateWarning,
)

__all__ = ["check_report", "logger", "print_remarks", "session"]

logger = logging.getLogger("riskslim.cli")

# A page under such a name is not what was meant.
_OF_FIGURES = (".csv", ".json", ".parquet")


class _Messages(logging.Handler):
    """Writes to what standard error is at the moment: above a live display, not into it."""

    def emit(self, record: logging.LogRecord) -> None:
        emit(self.format(record), err=True)


@contextmanager
def session(*, quiet: bool = False, verbose: bool = False) -> Iterator[None]:
    """Show messages on standard error, errors in one line without traceback, set exit codes.

    Parameters
    ----------
    quiet : bool
        Show errors only.
    verbose : bool
        Show what the library logs.
    """
    handler = _Messages()
    handler.setFormatter(logging.Formatter("%(message)s"))
    package = logging.getLogger("riskslim")
    before = package.level
    package.addHandler(handler)
    package.setLevel(logging.INFO if verbose else logging.ERROR if quiet else logging.WARNING)
    try:
        with (
            tolerant_streams(),
            ending_like_ctrl_c() as is_told_to_end,
            _exit_codes(is_told_to_end, verbose=verbose),
            naming_limits(),
        ):
            with warnings.catch_warnings():
                for wanted in (ConstantFeatureWarning, UnboundCertificateWarning):
                    warnings.simplefilter("always", wanted)
                warnings.simplefilter("ignore", ExtrapolationWarning)  # a remark says it
                warnings.showwarning = lambda message, *_, **__: logger.warning(
                    "Warning: %s", printable(str(message), lines=False)
                )
                yield
            # Where the reader of a pipe has closed it, he has seen enough.
            if reason := print_failure():
                emit(f"Error: {reason}", err=True)
                raise typer.Exit(EXIT_OUTPUT)
    finally:
        package.removeHandler(handler)
        package.setLevel(before)


@contextmanager
def _exit_codes(is_told_to_end: Callable[[], bool], *, verbose: bool) -> Iterator[None]:
    """Say what went wrong in one line, and leave with the exit code that stands for it."""
    try:
        yield
    except (KeyboardInterrupt, SearchInterruptedError):
        emit("Interrupted.", err=True)
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except MemoryError as error:
        needed = f" ({explained(error)})" if str(error) else ""
        reason = f"out of memory{needed}: use fewer rows, columns, threads or jobs"
        emit(f"Error: {error if isinstance(error, RiskSLIMError) else reason}", err=True)
        raise typer.Exit(EXIT_MEMORY) from None
    except (ValueError, TypeError, OSError, ImportError, RiskSLIMError) as error:
        # Compiled modules that are told to end while they are imported raise what they like.
        if isinstance(error, ImportError) and (is_told_to_end() or comes_of_ctrl_c(error)):
            emit("Interrupted.", err=True)
            raise typer.Exit(EXIT_INTERRUPTED) from None
        internal = isinstance(error, CertificateError)
        if verbose and internal:
            emit(traceback.format_exc().rstrip(), err=True)
        # Of columns that cannot be used there is a line for each kind of fault.
        text = str(error) if isinstance(error, UnusableColumnsError) else explained(error)
        emit(f"Error: {text}", err=True)
        raise typer.Exit(EXIT_INTERNAL if internal else EXIT_USAGE) from None
    except (typer.Exit, typer.Abort):
        raise
    except Exception as error:
        # A compiled module that was told to end at its import may lose the reason.
        is_broken = breaks_import(error) and (is_told_to_end() or isinstance(error, SystemError))
        if is_broken or comes_of_ctrl_c(error):
            emit("Interrupted.", err=True)
            raise typer.Exit(EXIT_INTERRUPTED) from None
        emit(traceback.format_exc().rstrip(), err=True)
        emit(
            f"Error: {type(error).__name__}: {explained(error)}. This is a fault of riskslim, "
            "please report it with the lines above",
            err=True,
        )
        raise typer.Exit(EXIT_INTERNAL) from None


def print_remarks(remarks: tuple[str, ...]) -> None:
    """Print remarks on a risk score or on rows, each on a line of standard error."""
    for remark in remarks:
        emit(f"Remark: {printable(remark, lines=False)}", err=True)


def check_report(path: Path | None, option: str) -> None:
    """Find out before the work that a report cannot be written.

    Parameters
    ----------
    path : Path or None
        None where there is to be none.
    option : str
        The option that names the file.

    Raises
    ------
    ValueError
        The file ends as one of figures does.
    ImportError
        What it needs is not installed.
    """
    if path is None:
        return
    if path.suffix.lower() in _OF_FIGURES:
        raise ValueError(
            f"{option} is a page of HTML and cannot end in {path.suffix}, got {path}. All of its "
            "figures are written as CSV by riskslim report --metrics-output"
        )
    from riskslim.report import check_packages

    check_packages()
