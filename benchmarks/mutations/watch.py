"""A plugin of pytest: writes down which test runs and what fails, and ends one that does not end.

It is copied beside a broken package and loaded as ``mutation_watch``.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

EVENTS, LIMIT = "MUTATION_EVENTS", "MUTATION_TEST_SECONDS"


def _note(event: str, name: str) -> None:
    with Path(os.environ[EVENTS]).open("a", encoding="utf-8") as file:
        file.write(f"{event} {name}\n")


def pytest_runtest_logstart(nodeid: str) -> None:
    _note("start", nodeid)
    # CPU time of all threads; the signal ends the process, whatever code is running.
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, float(os.environ[LIMIT]))


def pytest_runtest_logreport(report) -> None:
    if report.failed:
        _note("failed", report.nodeid)


def pytest_collectreport(report) -> None:
    if report.failed:
        _note("failed", report.nodeid)
