"""Exit codes of the program; 0 where a risk score was found, also when a limit ended the search."""

from __future__ import annotations

__all__ = ["EXIT_INFEASIBLE", "EXIT_INTERNAL", "EXIT_INTERRUPTED", "EXIT_USAGE"]

EXIT_INTERNAL = 1  # an internal check failed
EXIT_USAGE = 2  # bad arguments or data
EXIT_INFEASIBLE = 3  # no risk score meets the requirements
EXIT_INTERRUPTED = 130
