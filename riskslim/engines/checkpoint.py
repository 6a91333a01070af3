"""Searches that go on where they were: what is found is kept in a file, and checked when read.

The file is a database of SQLite: several processes may write to it, and of what one was writing
when it was killed nothing is in it. Each search is kept under a digest of its problem and settings.
Nothing that is read is taken on trust but lower bounds: objectives are computed anew from the
points, on all rows, and a bound above one is refused as any engine's is.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from riskslim.engines.certify import certify
from riskslim.engines.choice import solve
from riskslim.engines.fingerprint import (
    digest_of,
    fingerprint,
    first_difference,
    without_limits,
)
from riskslim.solution import Solution, SolveStatistics, Status, Trace, TraceRecord

if TYPE_CHECKING:
    from riskslim.problem.problem import RiskScoreProblem

__all__ = ["Checkpoint"]

# How long one process waits for another one that is writing.
PATIENCE = 60.0

_FORMAT = "riskslim checkpoint 4"
_TABLES = """
CREATE TABLE IF NOT EXISTS about (format TEXT, fingerprint TEXT, facts TEXT);
CREATE TABLE IF NOT EXISTS searches (key TEXT PRIMARY KEY, content TEXT, digest TEXT);
"""


class Checkpoint:
    """A file in which the results of searches are kept, of those that were ended early, too.

    Parameters
    ----------
    path : str or path-like
        Created where there is none.
    facts : mapping
        What the run is about, :func:`~riskslim.engines.fingerprint.facts_of`.

    Raises
    ------
    ValueError
        The file is no checkpoint, or that of other data or settings: the first fact that differs is
        named.
    OSError
        It cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], facts: Mapping[str, Any]) -> None:
        self.path, digest = Path(path), digest_of(facts)
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {self.path.parent} for {self.path.name}")
        try:
            with self._opened() as database:
                database.executescript(_TABLES)
                # Checkpoints of other versions have other columns beside the format.
                found = database.execute("SELECT * FROM about").fetchone()
                if found is None:
                    stated = (_FORMAT, digest, json.dumps(dict(facts)))
                    database.execute("INSERT INTO about VALUES (?, ?, ?)", stated)
        except sqlite3.OperationalError as error:
            raise OSError(f"{self.path}: {error}") from error
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{self.path} is no checkpoint of riskslim: {error}") from error
        if found is not None and found[0] != _FORMAT:
            raise ValueError(f"{self.path} is no checkpoint that this version reads")
        if found is not None and found[1] != digest:
            named = first_difference(facts, json.loads(found[2]))
            raise ValueError(
                f"{self.path} is the checkpoint of other data or settings ({named}): name another "
                "file, or delete it to begin anew"
            )

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
        """
        key = _key(key, problem, arguments)
        kept = self._read(key)
        if kept is not None and (kept["finished"] and not (goes_on and not kept["optimal"])):
            return _recalled(problem, kept)
        if kept is not None:
            arguments = {**arguments, "start": _better_start(problem, kept, arguments)}
        solution = solve(problem, **arguments)
        if kept is not None:
            solution = _with_bound(problem, solution, kept["lower_bound"])
        if solution.coefficients is not None and solution.pool is None:
            self._write(key, _content(solution, finished=not solution.is_interrupted))
        return solution

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
        return None if kept is None else float(kept["lower_bound"])

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with contextlib.closing(sqlite3.connect(self.path, timeout=PATIENCE)) as database, database:
            yield database

    def _read(self, key: str) -> dict[str, Any] | None:
        with self._opened() as database:
            found = database.execute(
                "SELECT content, digest FROM searches WHERE key = ?", (key,)
            ).fetchone()
        if found is None:
            return None
        if found[1] != _digest(key + found[0]):
            raise ValueError(f"{self.path} is damaged: what it has of a search was changed")
        content: dict[str, Any] = json.loads(found[0])
        return content

    def _write(self, key: str, content: dict[str, Any]) -> None:
        text = json.dumps(content)
        with self._opened() as database:
            database.execute(
                "INSERT OR REPLACE INTO searches VALUES (?, ?, ?)", (key, text, _digest(key + text))
            )


def _key(key: str, problem: RiskScoreProblem, arguments: dict[str, Any]) -> str:
    # A search that goes on may have other limits. Where it may not, the file's facts have them.
    return f"{key} {fingerprint(problem, without_limits(arguments))}"


def _content(solution: Solution, *, finished: bool) -> dict[str, Any]:
    certificate = solution.certificate
    return {
        "coef": solution.coef.tolist(),
        "scale": solution.scale,
        "lower_bound": certificate.lower_bound,
        "finished": finished,
        "optimal": certificate.is_optimal,
        "gap_tolerance": certificate.gap_tolerance,
        "bound_tolerance": certificate.bound_tolerance,
        "engine": certificate.engine,
        "message": certificate.message,
        "trace": [list(record) for record in solution.trace],
        "statistics": dataclasses.asdict(solution.statistics),
        "settings": {k: v for k, v in solution.settings.items() if _is_plain(v)},
    }


def _recalled(problem: RiskScoreProblem, kept: dict[str, Any]) -> Solution:
    """The result of a finished search, its objective computed anew."""
    coef = np.array(kept["coef"], dtype=np.int64)
    certificate = certify(
        problem,
        coef,
        kept["lower_bound"],
        gap_tolerance=kept["gap_tolerance"],
        bound_tolerance=kept["bound_tolerance"],
        engine=kept["engine"],
        message=kept["message"],
        scale=kept["scale"],
    )
    return Solution(
        coef[1:],
        int(coef[0]),
        certificate,
        tuple(problem.loss.data.feature_names),
        Trace([TraceRecord(*record) for record in kept["trace"]]),
        SolveStatistics(**kept["statistics"]),
        kept["settings"],
        scale=kept["scale"],
    )


def _better_start(
    problem: RiskScoreProblem, kept: dict[str, Any], arguments: dict[str, Any]
) -> Any:
    """The kept score, unless that which was given is better."""
    given, found = arguments.get("start"), np.array(kept["coef"], dtype=np.int64)
    if not problem.is_feasible(found):
        return given
    if given is None or not problem.is_feasible(given):
        return found
    return found if problem.objective(found) < problem.objective(given) else given


def _with_bound(problem: RiskScoreProblem, solution: Solution, bound: float) -> Solution:
    """Certify again where what was proven before is more."""
    certificate = solution.certificate
    if solution.coefficients is None or not bound > certificate.lower_bound:
        return solution
    better = certify(
        problem,
        solution.coef,
        bound,
        gap_tolerance=certificate.gap_tolerance,
        bound_tolerance=certificate.bound_tolerance,
        engine=certificate.engine,
        message=f"{certificate.message}; lower bound from the checkpoint",
        interrupted=certificate.status is Status.INTERRUPTED,
        scale=solution.scale,
    )
    return dataclasses.replace(solution, certificate=better)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
