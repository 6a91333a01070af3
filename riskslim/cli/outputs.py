"""Outputs of a command: looked at before the work, and each written whatever becomes of the others.

What was found is saved before anything is printed, and a score that can go neither to its file nor
to standard output goes to a recovery file.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from riskslim._writing import check_writable, same_file, write_file
from riskslim.cli.exit_codes import EXIT_INTERNAL, EXIT_OUTPUT
from riskslim.cli.messages import explained
from riskslim.cli.signals import comes_of_ctrl_c, held_signals
from riskslim.cli.streams import emit, emit_data, print_failure
from riskslim.data.batches import DATA_SUFFIXES
from riskslim.exceptions import CertificateError

if TYPE_CHECKING:
    from riskslim.risk_score import RiskScore

__all__ = ["Delivery", "check_outputs", "write_text", "writing"]

# Of files of rows.


def check_outputs(
    outputs: Mapping[str, Path | None], sources: Iterable[tuple[str, Path | None]]
) -> None:
    """Find out before the work that its results cannot be written.

    Parameters
    ----------
    outputs : mapping from option to Path or None
        To be written, where they are given.
    sources : iterable of (kind, Path or None)
        Files that are read, such as ("data", path), and must not be replaced.

    Raises
    ------
    ValueError
        A file cannot be written, or is one that is read, or that another option writes.
    """
    read = [(kind, path) for kind, path in sources if path is not None]
    checked: list[tuple[str, Path]] = []
    for option, path in outputs.items():
        if path is None:
            continue
        for kind, source in read:
            if any(same_file(path, file) for file in _files_of(source)):
                raise ValueError(f"{option} {path} would replace the {kind}")
            if _would_be_read(path, source):
                raise ValueError(
                    f"{option} {path} would be read as {kind} the next time: it is in the folder "
                    f"{source}"
                )
        for other, earlier in checked:
            if same_file(path, earlier):
                raise ValueError(f"{other} and {option} both name the file {path}")
        check_writable(path)
        checked.append((option, path))


def _files_of(source: Path) -> Iterator[Path]:
    """A file itself; all files of a folder, those of its folders included."""
    yield source
    if source.is_dir():
        yield from (path for path in source.rglob("*") if not path.is_dir())


def _would_be_read(path: Path, source: Path) -> bool:
    """True if a file would be one of the rows of a folder."""
    is_inside = source.is_dir() and path.resolve().is_relative_to(source.resolve())
    return is_inside and path.name.lower().endswith(DATA_SUFFIXES)


@contextmanager
def writing() -> Iterator[None]:
    """Leave with the exit code of outputs where a file cannot be written.

    Yields
    ------
    None

    Raises
    ------
    typer.Exit
    """
    try:
        yield
    except OSError as error:
        emit(f"Error: {explained(error)}", err=True)
        raise typer.Exit(EXIT_OUTPUT) from None


def write_text(text: str, path: Path | None) -> None:
    """Write a text to a file, or to standard output where there is none."""
    if path is None:
        emit_data(text)
        return
    with writing():
        write_file(path, text)


class Delivery:
    """The files and the text of a result, and what failed of them.

    Parameters
    ----------
    output : Path, optional
        File for the score.

    Attributes
    ----------
    failures : list of str
        One for each output that could not be written.
    is_kept : bool
        The score is where it was asked for: in its file, or printed where there is none.
    """

    def __init__(self, output: Path | None) -> None:
        self.output = output
        self.failures: list[str] = []
        self.is_kept = False
        self._is_internal = False

    def save(self, score: RiskScore) -> None:
        """Save the score, if that is wanted; Ctrl-C waits until it is done.

        Parameters
        ----------
        score : RiskScore

        Raises
        ------
        KeyboardInterrupt
            Afterwards.
        """
        output = self.output
        if output is not None:
            with held_signals():
                self.is_kept = self.file(output, lambda: score.save(output))

    def file(self, path: Path, write: Callable[[], None]) -> bool:
        """Write a file; a failure is kept, and ends nothing.

        Parameters
        ----------
        path : Path
        write : callable

        Returns
        -------
        bool
            False where it failed.

        Raises
        ------
        KeyboardInterrupt
            Also in place of what it became on its way.
        """
        try:
            write()
        except Exception as error:
            if comes_of_ctrl_c(error):  # within a class that is being made, for example
                raise KeyboardInterrupt from error
            # Whatever it is, the other outputs do not depend on it.
            self._is_internal |= isinstance(error, CertificateError)
            reason = explained(error) or type(error).__name__
            self.failures.append(reason if str(path) in reason else f"{path}: {reason}")
            return False
        return True

    def show(self, text: Callable[[], str]) -> None:
        """Print the result.

        Parameters
        ----------
        text : callable
            Makes the text, which may fail, too.
        """
        try:
            emit(text())
        except Exception as error:
            self.failures.append(f"the result cannot be printed: {explained(error)}")
            return
        reason = print_failure()
        if reason is None:
            self.is_kept |= self.output is None
        elif reason:
            self.failures.append(reason)
        elif self.output is None:  # nobody has seen it, nothing keeps it
            self.failures.append("standard output was closed by its reader")

    def recover(self, score: RiskScore) -> None:
        """Save a score that is kept nowhere to a file with a name of its own, and name it.

        Parameters
        ----------
        score : RiskScore
        """
        text = score.to_json()
        name = f"riskslim-recovered-{secrets.token_hex(4)}.json"
        folders = [".", "~", tempfile.gettempdir()]
        # Not beside a device, such as /dev/full.
        if self.output is not None and (self.output.is_file() or not self.output.exists()):
            folders.insert(0, str(self.output.parent))
        for folder in dict.fromkeys(folders):
            try:
                path = Path(folder).expanduser().resolve() / name
                write_file(path, text)
            except (OSError, RuntimeError):  # RuntimeError: there is no home
                continue
            self.failures.append(f"the risk score is saved in {path}")
            return
        self.failures.append(f"no file can be written; the risk score as JSON is\n{text}")

    def finish(self) -> None:
        """Say what failed.

        Raises
        ------
        typer.Exit
            Something did.
        """
        if self.failures:
            emit(f"Error: {'; '.join(self.failures)}", err=True)
            raise typer.Exit(EXIT_INTERNAL if self._is_internal else EXIT_OUTPUT)
