"""Exit codes of the program; 0 where a risk score was found, also when a limit ended the search."""

from __future__ import annotations

__all__ = [
    "EXIT_INFEASIBLE",
    "EXIT_INTERNAL",
    "EXIT_INTERRUPTED",
    "EXIT_MEMORY",
    "EXIT_OUTPUT",
    "EXIT_USAGE",
]

EXIT_INTERNAL = 1  # an internal check failed, or something that must not happen
EXIT_USAGE = 2  # bad arguments or data
EXIT_INFEASIBLE = 3  # no risk score meets the requirements
EXIT_OUTPUT = 4  # the work is done, but an output could not be written
EXIT_MEMORY = 5  # memory, threads or processes ran out, here or in the process of a model
EXIT_INTERRUPTED = 130  # by Ctrl-C, SIGTERM, SIGHUP, or as rows cannot be read any more
