"""Things that all commands share: messages, exit codes, files that can be written."""

from __future__ import annotations

import logging
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from riskslim.cli.exit_codes import EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_USAGE
from riskslim.cli.messages import explained
from riskslim.data.faults import UnusableColumnsError
from riskslim.exceptions import (
    CertificateError,
    ConstantFeatureWarning,
    ExtrapolationWarning,
    RiskSLIMError,
)

__all__ = ["check_report", "check_target", "logger", "print_remarks", "session", "write_text"]

logger = logging.getLogger("riskslim.cli")


class _Messages(logging.Handler):
    """Writes to what standard error is at the moment: above a live display, not into it."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(f"{self.format(record)}\n")
        sys.stderr.flush()


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
        with warnings.catch_warnings():
            warnings.simplefilter("always", ConstantFeatureWarning)
            warnings.simplefilter("ignore", ExtrapolationWarning)  # a remark says it
            warnings.showwarning = lambda message, *_, **__: logger.warning("Warning: %s", message)
            yield
    except KeyboardInterrupt:
        typer.echo("Interrupted.", err=True)
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except BrokenPipeError:
        raise  # whoever read the output has seen enough
    except (ValueError, TypeError, OSError, ImportError, RiskSLIMError) as error:
        internal = isinstance(error, CertificateError)
        if verbose and internal:
            traceback.print_exc()
        # Of columns that cannot be used there is a line for each kind of fault.
        text = str(error) if isinstance(error, UnusableColumnsError) else explained(error)
        typer.echo(f"Error: {text}", err=True)
        raise typer.Exit(EXIT_INTERNAL if internal else EXIT_USAGE) from None
    finally:
        package.removeHandler(handler)
        package.setLevel(before)


def print_remarks(remarks: tuple[str, ...]) -> None:
    """Print remarks on a risk score or on rows, each on a line of standard error."""
    for remark in remarks:
        typer.echo(f"Remark: {remark}", err=True)


def write_text(text: str, path: Path | None) -> None:
    """Write a text to a file, or to standard output where there is none."""
    if path is None:
        typer.echo(text, nl=False)
    else:
        path.write_text(text, encoding="utf-8", newline="\n")


def check_target(path: Path | None, source: Path, what: str = "data") -> None:
    """Find out before the work that its result cannot be written.

    Parameters
    ----------
    path : Path or None
        To be written.
    source : Path
        That is read, and must not be replaced.
    what : str
        Is in it.

    Raises
    ------
    ValueError
    """
    if path is None:
        return
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent} to write {path.name} to")
    if path.is_dir():
        raise ValueError(f"{path} is a folder, not a file to write to")
    if path.resolve() == source.resolve():
        raise ValueError(f"{path} would replace the {what}")


def check_report(path: Path | None) -> None:
    """Find out before the work that a report cannot be written.

    Raises
    ------
    ImportError
        What it needs is not installed.
    """
    if path is not None:
        from riskslim.report import check_packages

        check_packages()
