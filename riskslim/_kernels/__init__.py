"""Compiled kernels: arrays in, results into arrays that the caller passes.

Kernels validate nothing, allocate no results and touch no Python objects in loops; they
run with the GIL released. :mod:`riskslim.loss`, :mod:`riskslim.heuristics`, the engines,
:mod:`riskslim.rows` and :mod:`riskslim.backend` own validation, dtypes and layout.
Integers (int8) come as Fortran-ordered columns, reals (float64) in panels
(:mod:`riskslim.data.panels`); an empty weight array means that every row counts once.

``pool``
    The threads that all kernels share.
``integer``
    Scores that are integers: exact histogram of scores times a table of losses.
``real``
    Real-valued coefficients or features: stable exponentials, compensated sums.
``distinct``
    Groups of equal rows.
``ranges``
    Smallest and largest score of each row over a coefficient set.
``heuristics``
    Discrete coordinate descent and sequential rounding, each compiled as a whole.
``supports``
    Counts of cells of packed items, the best step of every item, points polished on cells.
``chains``
    Planes each of which holds the next one, as cut-offs are: counts of all of them at once.
``nodes``
    Nodes of the branch and bound: relaxation, bound, branching, each node compiled as a whole.
``tables``
    Bounds of all scores of given 0/1 items, for many sets of items at once.
``cutoffs``
    Bounds of all scores that use one of each of several ranges of nested items.
``additive``
    Additive models of families of features, as the items of one variable are.

The Cython modules drive blocks of rows through the loops of ``blocks.h``, which compilers
vectorise; ``panels.h`` has those over real columns, ``numerics.h`` the scalar functions that these
loops inline.

``numba_backend`` has the same kernels, with the same arguments and results, compiled by numba when
they are first called. The environment variable ``RISKSLIM_KERNELS`` chooses between ``cython`` (the
default) and ``numba``; without compiled extensions numba steps in. The rest of the package imports
the modules from here and does not know which ones they are: ``from riskslim._kernels import real``.
"""

from __future__ import annotations

import logging
import os
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from riskslim.exceptions import KernelsUnavailableError

MODULES = (
    "additive", "chains", "cutoffs", "distinct", "heuristics", "integer", "nodes", "ranges", "real",
    "supports", "tables",
)  # fmt: skip
BACKENDS = ("cython", "numba")
VARIABLE = "RISKSLIM_KERNELS"

logger = logging.getLogger("riskslim.kernels")


class Choice(NamedTuple):
    """The kernels in use, and why these."""

    backend: str
    reason: str


def load(backend: str) -> dict[str, ModuleType]:
    """Import the modules of one backend, by name.

    Raises
    ------
    ImportError
        The extensions are not built, or numba is not installed.
    """
    home = __name__ if backend == "cython" else f"{__name__}.numba_backend"
    return {name: import_module(f"{home}.{name}") for name in MODULES}


def _choose() -> tuple[Choice, dict[str, ModuleType]]:
    wanted = os.environ.get(VARIABLE, "")
    if wanted not in ("", *BACKENDS):
        raise ValueError(f"{VARIABLE} must be 'cython' or 'numba', got {wanted!r}")
    if wanted:
        try:
            return Choice(wanted, f"{VARIABLE}={wanted}"), load(wanted)
        except ImportError as error:
            other = "numba" if wanted == "cython" else "cython"
            raise KernelsUnavailableError(
                f"{VARIABLE}={wanted}, but these kernels cannot be imported ({error}); "
                f"unset it, or use {VARIABLE}={other}"
            ) from error
    try:
        return Choice("cython", "default"), load("cython")
    except ImportError as error:
        reason = f"the compiled extensions cannot be imported ({error})"
    try:
        modules = load("numba")
    except ImportError as error:
        raise KernelsUnavailableError(
            f"{reason}, and neither can the numba kernels ({error}): install numba with `pip "
            "install numba`, or riskslim where there is a C compiler"
        ) from error
    logger.warning("%s: using numba, which compiles the kernels at their first call", reason)
    return Choice("numba", reason), modules


def prepare() -> None:
    """Compile what is compiled at run time, lest a search's limit pays for it."""
    if CHOICE.backend == "numba":
        import_module(f"{__name__}.numba_backend.compiled").prepare()


CHOICE, _modules = _choose()
# Over the submodules of the same names, which importing the Cython backend has set here.
globals().update(_modules)
