"""Many cases of one test: a failure names its case."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable
from typing import Any


def for_each(**grid: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for each combination of some arguments, as one test.

    Where cases are many and each takes next to no time, pytest's own parameters take longer than
    the test.

    Parameters
    ----------
    **grid : iterable
        Values of each argument.
    """

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(*others: Any, **fixtures: Any) -> None:
            for values in itertools.product(*(list(each) for each in grid.values())):
                case = dict(zip(grid, values, strict=True))
                try:
                    test(*others, **fixtures, **case)
                except Exception as error:
                    stated = ", ".join(f"{name}={value!r}" for name, value in case.items())
                    raise AssertionError(f"with {stated}: {error!r}") from error

        own = inspect.signature(test)
        left = [one for name, one in own.parameters.items() if name not in grid]
        run.__signature__ = own.replace(parameters=left)  # the rest are fixtures
        return run

    return decorate
