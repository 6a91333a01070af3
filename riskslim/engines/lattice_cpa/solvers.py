"""The packages of the solvers: imported at the first call that needs one of them."""

from __future__ import annotations

import os
from typing import Any

from riskslim._wording import how_to_install, pip_install
from riskslim.exceptions import SolverUnavailableError

__all__ = ["import_cplex", "import_pyscipopt", "import_solver"]


def import_solver(solver: str) -> None:
    """Import the package of a solver, so that a missing one is reported before any work.

    Parameters
    ----------
    solver : {"cplex", "scip"}

    Raises
    ------
    SolverUnavailableError
        The package cannot be imported.
    """
    if solver == "scip":
        import_pyscipopt()
    else:
        import_cplex()


def import_cplex() -> Any:
    """Import cplex such that Ctrl-C stays with Python.

    By default cplex takes SIGINT for itself during every solve, and a signal that arrives at the
    end of one is lost. It reads this variable when it is imported; where somebody has imported it
    before, an interrupted solve is recognised by its status.

    Returns
    -------
    module

    Raises
    ------
    SolverUnavailableError
        The package cannot be imported.
    """
    variable = "CPLEX_PY_DISABLE_SIGHANDLER"
    before = os.environ.get(variable)
    os.environ[variable] = "1"
    try:
        import cplex
    except ImportError as error:
        raise SolverUnavailableError(
            "the lattice cutting plane algorithm needs the package cplex, which cannot be "
            f"imported ({error}): {how_to_install('cplex')}. It is not needed by branch_and_bound, "
            f"nor with solver='scip', which is free: {pip_install('scip')}"
        ) from error
    finally:
        if before is None:
            del os.environ[variable]
        else:
            os.environ[variable] = before
    return cplex


def import_pyscipopt() -> Any:
    """Import pyscipopt.

    Returns
    -------
    module

    Raises
    ------
    SolverUnavailableError
        The package cannot be imported.
    """
    try:
        import pyscipopt
    except ImportError as error:
        raise SolverUnavailableError(
            "solver='scip' needs the package pyscipopt, which cannot be imported "
            f"({error}): {how_to_install('scip')}"
        ) from error
    return pyscipopt
