"""Lines of an estimator with ``verbose`` above 0 while it is fitted."""

from __future__ import annotations

import logging
import math
import time
from typing import Any

__all__ = ["VerboseLog"]

logger = logging.getLogger("riskslim")

# Seconds between two lines of progress with verbose=1.
_LINE_EVERY = 1.0


class VerboseLog:
    """Lines of an estimator, for whom they are wanted.

    The logger is one of our own, below the package's: nothing about logging is changed for others.
    Where nobody listens, lines go to standard error.

    Parameters
    ----------
    logger : str
        Name of the logger, for example "riskslim.classifier".
    estimator : str
        What lines on standard error begin with.
    verbose : int
        0: nothing is said. 1: a line of progress per second at most. 2: all of them.

    Attributes
    ----------
    is_alone : bool
        Whether nobody hears the loggers of the package, those of the engines for example.
    """

    def __init__(self, logger: str, estimator: str, verbose: int) -> None:
        self.is_alone = False
        self._log = logging.Logger(logger, logging.INFO)
        self._log.disabled = not verbose
        self._every = _LINE_EVERY if verbose == 1 else 0.0
        self._started, self._last = time.perf_counter(), -math.inf
        if not verbose:
            return
        package = self._log.parent = logging.getLogger("riskslim")
        self.is_alone = not package.isEnabledFor(logging.INFO)
        if not self._log.hasHandlers():
            handler = logging.StreamHandler()
            handler.setFormatter(logging.Formatter(f"[{estimator}] %(message)s"))
            self._log.addHandler(handler)
            self.is_alone = True

    def write(self, message: str, *values: Any) -> None:
        """Log a line."""
        self._log.info(message, *values)

    def progress(self, message: str, *values: Any) -> None:
        """Log a line on what is done by now, unless the last one was just before."""
        seconds = time.perf_counter() - self._started
        if seconds - self._last >= self._every:
            self._last = seconds
            self.write(f"%8.1f s  {message}", seconds, *values)
