"""Independent fits side by side, with progress."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple

__all__ = ["Step", "in_parallel"]

logger = logging.getLogger("riskslim.model_selection.size_path")


class Step(NamedTuple):
    """The progress so far, for a callback.

    Attributes
    ----------
    done, total : int
        Models that are finished, and all of them.
    what : str
        The last one, for example "fold 3" or "all rows".
    """

    done: int
    total: int
    what: str


def in_parallel(
    work: Callable[..., Any],
    tasks: Sequence[tuple[str, tuple[Any, ...]]],
    *,
    n_jobs: int | None,
    progress: Callable[[Step], None] | None,
    should_stop: Callable[[], bool] | None,
) -> dict[int, Any]:
    """Do pieces of work, some at a time, until all are done or the user stops it.

    Parameters
    ----------
    work : callable
        Its result is None where the user interrupted it, or has a true ``interrupted`` if what was
        done until then is of use. Nothing else is done then.
    tasks : sequence of (name, arguments)
    n_jobs : int or None
    progress : callable, optional
        Called with a :class:`Step` after each.
    should_stop : callable, optional

    Returns
    -------
    dict
        Results of finished tasks by position.

    Raises
    ------
    KeyboardInterrupt
        Ctrl-C before any result.
    """
    from joblib import Parallel, delayed

    finished: dict[int, Any] = {}
    if should_stop is not None and should_stop():
        return finished
    results: Generator[tuple[int, Any], None, None] = Parallel(
        n_jobs=n_jobs, return_as="generator_unordered"
    )(delayed(_numbered)(work, k, arguments) for k, (_, arguments) in enumerate(tasks))
    try:
        for k, result in results:
            if result is None:
                break
            finished[k] = result
            if progress is not None:
                progress(Step(len(finished), len(tasks), tasks[k][0]))
            if getattr(result, "interrupted", False) or (should_stop and should_stop()):
                break
    except KeyboardInterrupt:
        if not finished:
            raise
    finally:
        with warnings.catch_warnings():  # that work which was begun is given up: it is meant to be
            warnings.simplefilter("ignore", UserWarning)
            results.close()
    if len(finished) < len(tasks):
        logger.warning("stopped: %d of %d models are finished", len(finished), len(tasks))
    return finished


def _numbered(work: Callable[..., Any], k: int, arguments: tuple[Any, ...]) -> tuple[int, Any]:
    return k, work(*arguments)
