"""Rows on the workers of a Dask cluster.

A part of the rows is a future: Dask's scheduler knows where it is and how it was made, and makes
it again where a worker dies. Nothing here decides what runs where.
"""

from __future__ import annotations

import logging
import secrets
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from riskslim.exceptions import RowsLostError
from riskslim.rows.base import PartitionedRows, RowsSchema
from riskslim.rows.functions import PartSummary

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["RETRIES", "Cluster", "DaskRows", "current_client", "is_lost"]

logger = logging.getLogger("riskslim.rows.cluster")

_Result = TypeVar("_Result")

# How often a task is handed out again whose workers died with it, or whose rows were lost; Dask
# itself counts three dead workers before it gives a task up.
RETRIES = 3

# Seconds between looks at the limits, between a lost connection and its loss for good, and without
# a worker before that is said.
_POLL_SECONDS = 0.1
_CONNECTION_SECONDS = 20.0
_LONELY_SECONDS = 10.0

# Seconds before lost rows are computed again; twice as many each time.
_CALM_SECONDS = 1.0

# What is not there yet; where a worker died, the scheduler is about to compute it again.
_COMING = ("pending", "lost")

# States of a client that has ended.
_GONE = ("closed", "closing")

# Tasks per thread of the cluster that are handed out before the first one has been answered.
_TASKS_PER_THREAD = 2


def current_client() -> Client | None:
    """Return the client of the Dask cluster that is connected; None without any.

    Returns
    -------
    distributed.Client or None

    Raises
    ------
    TypeError
        It is an asynchronous one.
    """
    # Whoever has a client has imported it.
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        client: Client = distributed.default_client()
    except ValueError:
        return None
    if client.asynchronous:
        raise TypeError(
            "the Dask client is an asynchronous one: give a Client without asynchronous=True"
        )
    return client


def is_lost(future: Future) -> bool:
    """True if a future never will have a result.

    Parameters
    ----------
    future : distributed.Future

    Returns
    -------
    bool
    """
    return future.status not in (*_COMING, "finished")


class Cluster:
    """A Dask cluster that computes tasks, for callers who wait for them in order.

    Parameters
    ----------
    client : distributed.Client

    Attributes
    ----------
    client : distributed.Client
    n_threads : int
        Threads of the workers when it was made, at least one.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.n_threads = max(1, sum(client.nthreads().values()))

    def compute(self, delayed: Sequence[Any]) -> list[Future]:
        """Begin to compute delayed objects, all at once.

        Parameters
        ----------
        delayed : sequence of dask.delayed.Delayed

        Returns
        -------
        list of distributed.Future

        Raises
        ------
        RowsLostError
            The cluster is gone.
        """
        return self._asked(lambda: list(self.client.compute(list(delayed))))

    def compute_again(self, recipe: Any) -> Future:
        """Begin to compute a delayed object whose future has been lost.

        Parameters
        ----------
        recipe : dask.delayed.Delayed

        Returns
        -------
        distributed.Future

        Raises
        ------
        RowsLostError
            The cluster is gone.

        Notes
        -----
        All tasks get new keys. Of old ones the scheduler may know that they failed, for as long as
        anything holds them or what needs them: it would not run them again, but say so at once.
        """
        return self.compute([_renamed(recipe)])[0]

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future:
        """Begin to compute a function of futures and of other arguments.

        Parameters
        ----------
        function : callable
            Of a module.
        *arguments

        Returns
        -------
        distributed.Future

        Raises
        ------
        RowsLostError
            The cluster is gone.
        """
        return self._asked(lambda: self.client.submit(function, *arguments, pure=False))

    def _asked(self, ask: Callable[[], _Result]) -> _Result:
        try:
            return ask()
        except Exception as error:
            if self.client.status in _GONE:
                raise self._gone(str(error)) from error
            raise

    def _gone(self, reason: str) -> RowsLostError:
        return RowsLostError(f"the Dask cluster that holds the rows is gone ({reason})")

    def results(
        self,
        starts: Iterator[Callable[[], Future]],
        repair: Callable[[int], None],
        check: Callable[[], None],
    ) -> Iterator[Any]:
        """Run tasks, not too many at a time, and yield what they return in their order.

        Parameters
        ----------
        starts : iterator of callable
            Each hands out one task, and once more where that was lost.
        repair : callable
            Called with the number of a task that was lost, before it is handed out again.
        check : callable
            Called now and then; may raise.

        Yields
        ------
        object

        Raises
        ------
        RowsLostError
            The cluster is gone, or a task was lost more often than :data:`RETRIES`.
        """
        running: deque[_Task] = deque()
        most = _TASKS_PER_THREAD * self.n_threads
        number, more = 0, True
        try:
            while True:
                while more and len(running) < most:
                    check()
                    start = next(starts, None)
                    if start is None:
                        more = False
                    else:
                        running.append(_Task(number, start, start()))
                        number += 1
                if not running:
                    return
                self._wait(running[0], repair, check)
                done = [running.popleft()]
                while running and running[0].future.status == "finished":
                    done.append(running.popleft())
                yield from self._gathered(done, repair, check)
        finally:
            # What was not waited for is not needed: the scheduler forgets it with the futures.
            for task in running:
                task.future.release()

    def _gathered(
        self, done: list[_Task], repair: Callable[[int], None], check: Callable[[], None]
    ) -> Iterator[Any]:
        """Fetch results that are there, all in one go; a worker may die with them even now."""
        while True:
            try:
                yield from self.client.gather([task.future for task in done])
                return
            except Exception as error:
                # Nothing has been yielded: gathering raises before it returns.
                if self.client.status in _GONE:
                    raise self._gone(str(error)) from error
                if all(task.future.status == "finished" for task in done):
                    raise
                for task in done:
                    self._wait(task, repair, check)

    def _wait(self, task: _Task, repair: Callable[[int], None], check: Callable[[], None]) -> None:
        """Wait until a task is done, and hand it out again where it was lost."""
        watch = _Watch(self)
        while task.future.status != "finished":
            status = task.future.status
            if status in _COMING:
                self._pause(task.future)
                check()
                watch.look()
                continue
            watch.look()
            reason = self._reason_of_loss(task.future)
            if task.losses == RETRIES:
                raise RowsLostError(
                    f"a part of the rows was lost {RETRIES + 1} times ({reason}): do its workers "
                    "run out of memory? Smaller partitions, or more memory for each worker, help"
                )
            task.losses += 1
            logger.warning("a part of the rows was lost (%s) and is computed again", reason)
            self._calm(task.losses, check, watch)
            repair(task.number)
            task.future = task.start()

    def _calm(self, losses: int, check: Callable[[], None], watch: _Watch) -> None:
        """Give a cluster that lost something, and may be starting again, a moment."""
        until = time.monotonic() + _CALM_SECONDS * 2 ** (losses - 1)
        while time.monotonic() < until:
            check()
            watch.look()
            time.sleep(_POLL_SECONDS)

    @staticmethod
    def _pause(future: Future) -> None:
        import distributed

        try:
            distributed.wait([future], timeout=_POLL_SECONDS)
        except TimeoutError:
            return
        except Exception:
            # It was cancelled meanwhile: its status says so.
            if future.status in _COMING:
                time.sleep(_POLL_SECONDS)

    def _reason_of_loss(self, future: Future) -> str:
        """Say why a future has no result; raise the error of its task, if that is why."""
        if future.status == "error":
            error = future.exception()
            if not isinstance(error, _lost_errors()):
                raise error
            return f"{type(error).__name__}: {error}".partition("\n")[0]
        return f"it was {future.status}"


def _renamed(recipe: Any) -> Any:
    """Give all tasks of a delayed object new keys; what has been persisted keeps its own."""
    # dask.graph_manipulation.clone renames tasks, but not what they need.
    from dask._task_spec import convert_legacy_graph
    from dask.base import clone_key
    from dask.delayed import Delayed

    graph = convert_legacy_graph(dict(recipe.__dask_graph__()))
    seed, renamed, needed = secrets.token_hex(16), {}, [recipe.key]
    while needed:
        key = needed.pop()
        if key in graph and key not in renamed:
            renamed[key] = clone_key(key, seed)
            needed.extend(graph[key].dependencies)
    tasks = {new: graph[old].substitute(renamed, key=new) for old, new in renamed.items()}
    return Delayed(renamed[recipe.key], tasks)


class _Task:
    """A task that was handed out."""

    def __init__(self, number: int, start: Callable[[], Future], future: Future) -> None:
        self.number, self.start, self.future = number, start, future
        self.losses = 0


class _Watch:
    """Looks whether there still is a cluster while a task is waited for."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._began = time.monotonic()
        self._cut: float | None = None
        self._said = False

    def look(self) -> None:
        """Raise :class:`RowsLostError` if the cluster is gone."""
        client = self._cluster.client
        now = time.monotonic()
        if client.status in _GONE:
            raise self._cluster._gone("it was closed")
        if client.status == "running":
            self._cut = None
        elif self._cut is None:
            self._cut = now
        elif now - self._cut > _CONNECTION_SECONDS:
            raise self._cluster._gone(f"no connection for {_CONNECTION_SECONDS:.0f} s")
        if not self._said and now - self._began > _LONELY_SECONDS:
            self._said = True
            if client.status == "running" and not client.scheduler_info()["workers"]:
                logger.warning("the Dask cluster has no workers at the moment: waiting for some")


def _lost_errors() -> tuple[type[BaseException], ...]:
    """Errors of tasks whose inputs were lost."""
    from concurrent.futures import CancelledError

    from distributed.client import FutureCancelledError
    from distributed.scheduler import KilledWorker

    return CancelledError, FutureCancelledError, KilledWorker


class DaskRows(PartitionedRows):
    """Rows on the workers of a Dask cluster.

    Parameters
    ----------
    cluster : Cluster
    schema : RowsSchema
    summaries : sequence of PartSummary
    parts : sequence of distributed.Future
        Of :class:`~riskslim.data.store.KernelRows`, none without rows.
    recipes : sequence of dask.delayed.Delayed
        What computes each of them from the source, should the scheduler not know it any more.

    Notes
    -----
    ``n_threads`` has no effect: workers have threads of their own. While it exists, its futures
    keep the parts in the memory of the workers.
    """

    def __init__(
        self,
        cluster: Cluster,
        schema: RowsSchema,
        summaries: Sequence[PartSummary],
        parts: Sequence[Future],
        recipes: Sequence[Any],
    ) -> None:
        super().__init__(schema, summaries)
        if not len(summaries) == len(parts) == len(recipes):
            raise ValueError(
                f"{len(summaries)} summaries, {len(parts)} parts and {len(recipes)} recipes"
            )
        self.cluster = cluster
        # Copies share them, so that what one finds lost is there for all.
        self._parts, self._recipes = list(parts), tuple(recipes)

    def __copy__(self) -> DaskRows:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("rows on a Dask cluster cannot be pickled: they are where its workers are")

    def map(
        self,
        function: Callable[..., _Result],
        *arguments: Any,
        each: Sequence[tuple[Any, ...] | None] | None = None,
    ) -> Iterator[_Result]:
        """Call a function with each part where it is; see :meth:`PartitionedRows.map`."""
        own: Sequence[tuple[Any, ...] | None] = [()] * self.n_parts if each is None else each
        chosen = [number for number, before in enumerate(own) if before is not None]

        def start(number: int) -> Callable[[], Future]:
            before = own[number]
            assert before is not None
            return lambda: self.cluster.submit(
                _called, function, self._part(number), (*before, *arguments)
            )

        return self.cluster.results(
            (start(number) for number in chosen),
            lambda task: self._repair(chosen[task]),
            self.check_stop,
        )

    def _part(self, number: int) -> Future:
        if self._parts[number].status == "cancelled":
            self._repair(number)
        return self._parts[number]

    def _repair(self, number: int) -> None:
        """Compute a part from its source again, where its future has been lost."""
        if not is_lost(self._parts[number]):
            return
        self._parts[number] = self.cluster.compute_again(self._recipes[number])


def _called(function: Callable[..., _Result], part: Any, arguments: tuple[Any, ...]) -> _Result:
    return function(part, *arguments)
