"""Searches that go on where they were: what is found is kept in a file, and checked when read.

The file is a database of SQLite: several processes may write to it, and of what one was writing
when it was killed nothing is in it. Each search is kept under a digest of its problem and settings;
of two runs that search for the same the better score and the better bound are kept. What a file
says of a search is read as :mod:`riskslim.engines.kept` has it.

A checkpoint costs no more than itself: where it cannot be read or written any more, the search is
done and its result returned all the same, and ``failure`` says why.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from riskslim._checks import as_float, is_number
from riskslim.engines.choice import solve
from riskslim.engines.fingerprint import (
    digest_of,
    fingerprint,
    first_difference,
    without_limits,
)
from riskslim.engines.kept import (
    better_of,
    better_start,
    check,
    recalled,
    rule_of,
    to_plain,
    unchecked_to_plain,
    with_bound,
)
from riskslim.engines.runs import run_interruptibly
from riskslim.exceptions import RowsLostError

if TYPE_CHECKING:
    from riskslim.problem.problem import RiskScoreProblem
    from riskslim.solution import Solution

__all__ = ["Checkpoint"]

logger = logging.getLogger("riskslim")

_Result = TypeVar("_Result")

# Seconds that one process waits for others that write, and between two looks at what the user
# wants.
PATIENCE = 10.0
LOOKS_EVERY = 0.1

_FORMAT = "riskslim checkpoint 4"
_TABLES = {"about": "(format TEXT, fingerprint TEXT, facts TEXT)",
           "searches": "(key TEXT PRIMARY KEY, content TEXT, digest TEXT)"}  # fmt: skip


# What is known of the optimum, and to within what it is valid.
_BOUND = ("lower_bound", "bound_tolerance")


class _Kept(NamedTuple):
    """A search as the file has it."""

    content: dict[str, Any]
    digest: str


class Checkpoint:
    """A file in which the results of searches are kept, of those that were ended early, too.

    Parameters
    ----------
    path : str or path-like
        Created where there is none.
    facts : mapping
        What the run is about, :func:`~riskslim.engines.fingerprint.facts_of`.

    Attributes
    ----------
    failure : str
        Why something could not be read or written later on; empty while all is well.

    Raises
    ------
    ValueError
        The file is no checkpoint, a damaged one, or that of other data or settings: the first fact
        that differs is named.
    OSError
        It cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], facts: Mapping[str, Any]) -> None:
        self.path, self.failure = Path(path), ""
        self._facts, self._digest = dict(facts), digest_of(facts)
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {self.path.parent} for {self.path.name}")
        try:
            rows = self._done(
                lambda file: file.execute("SELECT key, content, digest FROM searches").fetchall()
            )
        except sqlite3.OperationalError as error:
            raise OSError(f"{self.path}: {error}") from error
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{self.path} is no checkpoint of riskslim: {error}") from error
        for row in rows:  # before there is anything to lose
            self._checked(*row)

    def solve(
        self,
        key: str,
        problem: RiskScoreProblem,
        *,
        goes_on: bool = False,
        **arguments: Any,
    ) -> Solution:
        """Solve a problem, or recall what was found before.

        Parameters
        ----------
        key : str
            Name of the search within the run.
        problem : RiskScoreProblem
        goes_on : bool, default False
            Search on from a result that was not optimal, whatever its limits were; otherwise a
            search that reached a limit is finished.
        **arguments
            As in :func:`~riskslim.engines.choice.solve`.

        Returns
        -------
        Solution

        Raises
        ------
        ValueError
            The file has something of the search that cannot be true.
        """
        key = _key(key, problem, arguments)
        kept = self._read(key)
        if kept is not None and kept.content.get("finished"):
            solution = self._recalled(problem, kept, arguments)
            if solution.certificate.is_optimal or not goes_on:
                return solution
        if kept is not None:
            with self._blamed():
                check(problem, kept.content)
                arguments = {**arguments, "start": better_start(problem, kept.content, arguments)}
        try:
            solution = solve(problem, **arguments)
        except RowsLostError as lost:
            self._keep_lost(key, lost, kept)
            raise
        if solution.coefficients is None or solution.pool is not None:
            return solution
        return run_interruptibly(_Keeping(self, key, problem, arguments, solution, kept))

    def bound(self, key: str, problem: RiskScoreProblem, **arguments: Any) -> float | None:
        """Tell what is proven of a search that goes on.

        Parameters
        ----------
        key, problem, **arguments
            As for :meth:`solve`.

        Returns
        -------
        float or None
            The lower bound that was kept; None where nothing was.
        """
        kept = self._read(_key(key, problem, arguments))
        bound = None if kept is None else kept.content.get("lower_bound")
        return as_float(bound) if is_number(bound) else None

    def _done(
        self,
        work: Callable[[sqlite3.Connection], _Result],
        gives_up: threading.Event | None = None,
    ) -> _Result:
        """Do something with the file, once no other process writes to it.

        It is made anew where it is gone. Waiting is ours: Ctrl-C is not seen within that of SQLite.
        """
        until = time.monotonic() + (LOOKS_EVERY if self.failure else PATIENCE)
        while True:
            try:
                with closing(
                    sqlite3.connect(self.path, timeout=LOOKS_EVERY, isolation_level=None)
                ) as database:
                    # What is no UTF-8 is not what was written.
                    database.text_factory = lambda octets: octets.decode("utf-8", "replace")
                    self._check(database)
                    return work(database)
            except sqlite3.OperationalError as error:
                is_over = time.monotonic() > until or (gives_up is not None and gives_up.is_set())
                if is_over or "locked" not in str(error):
                    raise
            except UnicodeDecodeError as error:  # of a name in it that SQLite complains about
                raise ValueError(f"{self.path} is damaged: {error}") from error

    def _check(self, database: sqlite3.Connection) -> None:
        """Refuse what is no checkpoint of this run; state in a new file what it is about."""
        found = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        names = {name for (name,) in found}
        if names and not names >= _TABLES.keys():
            raise ValueError(
                f"{self.path} is no checkpoint of riskslim, but a database of something else"
            )
        about = _about(database) if names else None
        if about is None:
            database.execute("BEGIN IMMEDIATE")
            for name, columns in _TABLES.items():
                database.execute(f"CREATE TABLE IF NOT EXISTS {name} {columns}")
            database.execute(
                "INSERT INTO about SELECT ?, ?, ? WHERE NOT EXISTS (SELECT * FROM about)",
                (_FORMAT, self._digest, json.dumps(self._facts)),
            )
            database.execute("COMMIT")
            about = _about(database)
        # Checkpoints of other versions have other columns beside the format.
        form, *stated = about
        if form != _FORMAT:
            raise ValueError(f"{self.path} is no checkpoint that this version reads")
        if stated[0] != self._digest:
            raise ValueError(
                f"{self.path} is the checkpoint of other data or settings "
                f"({self._first_difference(stated[1])}): name another file, or delete it to begin "
                "anew"
            )

    def _first_difference(self, text: Any) -> str:
        try:
            return first_difference(self._facts, json.loads(text))
        except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError):
            return "what it says of them is damaged"

    def _read(self, key: str) -> _Kept | None:
        """Read what the file has of a search; None, too, where it cannot be read any more."""
        try:
            return self._found(key)
        except (sqlite3.Error, OSError, ValueError) as error:
            self._note(error, "searching without it")
            return None

    def _found(self, key: str, gives_up: threading.Event | None = None) -> _Kept | None:
        statement = "SELECT key, content, digest FROM searches WHERE key = ?"
        rows = self._done(lambda file: file.execute(statement, (key,)).fetchall(), gives_up)
        return self._checked(*rows[0]) if rows else None

    def _checked(self, key: Any, content: Any, digest: Any) -> _Kept:
        """Read a row that is as it was written, byte for byte."""
        try:
            is_whole = digest == _digest(key + content)
            plain = json.loads(content) if is_whole else None
        except (RecursionError, TypeError, ValueError):
            plain = None
        if not isinstance(plain, dict):
            raise ValueError(f"{self.path} is damaged: what it has of a search was changed")
        return _Kept(plain, digest)

    def _write(
        self, key: str, content: dict[str, Any], before: str | None, gives_up: threading.Event
    ) -> bool:
        """Put a result in place of one with this digest; False where another one is there."""
        text = json.dumps(content)
        digest = _digest(key + text)
        statement, values = (
            ("INSERT OR IGNORE INTO searches VALUES (?, ?, ?)", (key, text, digest))
            if before is None
            else ("UPDATE searches SET content = ?, digest = ? WHERE key = ? AND digest = ?",
                  (text, digest, key, before))
        )  # fmt: skip
        return self._done(lambda file: file.execute(statement, values).rowcount == 1, gives_up)

    def _keep_lost(self, key: str, lost: RowsLostError, kept: _Kept | None) -> None:
        """Keep the best score of a search whose rows are lost: it is checked when it is read."""
        if lost.coef is None:
            return
        content = unchecked_to_plain(lost)
        if kept is not None:
            content["lower_bound"] = max(content["lower_bound"], kept.content["lower_bound"])
        before = None if kept is None else kept.digest
        try:
            self._write(key, content, before, threading.Event())
        except (sqlite3.Error, OSError, ValueError) as error:
            self._note(error, "what was found is not kept there")

    def _recalled(
        self, problem: RiskScoreProblem, kept: _Kept, arguments: Mapping[str, Any]
    ) -> Solution:
        with self._blamed():
            return recalled(problem, kept.content, arguments)

    @contextmanager
    def _blamed(self) -> Iterator[None]:
        """Say of which file it is that something in it cannot be true."""
        try:
            yield
        except ValueError as error:
            raise ValueError(
                f"{self.path} is damaged: what it has of a search is false ({error})"
            ) from error

    def _note(self, error: Exception, costs: str) -> None:
        if not self.failure:
            self.failure = f"checkpoint {self.path}: {error} ({costs})"
            logger.info("%s", self.failure)


class _Keeping:
    """A result on its way into the file; Ctrl-C ends the waiting for others that write.

    Parameters
    ----------
    checkpoint : Checkpoint
    key, problem, arguments
        Of the search.
    solution : Solution
        What was found.
    kept : _Kept or None
        What the search began with.
    """

    name = "checkpoint"

    def __init__(
        self,
        checkpoint: Checkpoint,
        key: str,
        problem: RiskScoreProblem,
        arguments: Mapping[str, Any],
        solution: Solution,
        kept: _Kept | None,
    ) -> None:
        self.checkpoint, self.key = checkpoint, key
        self.problem, self.arguments = problem, arguments
        self.solution, self.kept = solution, kept
        self.interrupted = threading.Event()

    def interrupt(self) -> None:
        self.interrupted.set()

    def solve(self) -> Solution:
        """Keep what was found, and return it with what is known beside it; whatever fails."""
        try:
            if self.kept is not None:
                bound, tolerance = (float(self.kept.content[name]) for name in _BOUND)
                rule = rule_of(self.kept.content)
                self.solution = with_bound(self.problem, self.solution, bound, tolerance, rule)
            self._keep()
        except Exception as error:
            self.checkpoint._note(error, "what was found is not kept there")
        return self.solution

    def _keep(self) -> None:
        """Write it, together with what another run has written since."""
        checkpoint, key, kept = self.checkpoint, self.key, self.kept
        finished = not self.solution.is_interrupted
        while True:
            content = to_plain(self.solution, finished=finished)
            before = None if kept is None else kept.digest
            if checkpoint._write(key, content, before, self.interrupted):
                return
            kept = checkpoint._found(key, self.interrupted)
            if kept is not None:
                other = checkpoint._recalled(self.problem, kept, self.arguments)
                self.solution = better_of(self.problem, self.solution, other)
                finished = finished or kept.content["finished"]


def _key(key: str, problem: RiskScoreProblem, arguments: Mapping[str, Any]) -> str:
    # A search that goes on may have other limits. Where it may not, the file's facts have them.
    return f"{key} {fingerprint(problem, without_limits(arguments))}"


def _about(database: sqlite3.Connection) -> Any:
    return database.execute("SELECT * FROM about").fetchone()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
