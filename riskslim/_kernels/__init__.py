"""Compiled kernels: arrays in, results into arrays that the caller passes.

Kernels validate nothing, allocate no results and touch no Python objects in loops; they
run with the GIL released. :mod:`riskslim.loss`, :mod:`riskslim.heuristics`, the engines,
:mod:`riskslim.rows` and :mod:`riskslim.backend` own validation, dtypes and layout.
Integers (int8) come as Fortran-ordered columns, reals (float64) in row tiles
(:mod:`riskslim.data.row_tiles`); an empty weight array means that every row counts once.

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
``nested_thresholds``
    Planes each of which holds the next one, as cut-offs are: counts of all of them at once.
``nodes``
    Nodes of the branch and bound: relaxation, bound, branching, each node compiled as a whole.
``support_enumeration``
    Bounds of all scores of given 0/1 items, for many sets of items at once.
``rules``
    Cells of a support, and the points of the best rule on them.
``cutoffs``
    Bounds of all scores that use one of each of several ranges of nested items.
``additive``
    Additive models of families of features, as the items of one variable are.

The Cython modules drive blocks of rows through the loops of ``blocks.h``, which compilers
vectorise; ``row_tiles.h`` has those over real columns, ``numerics.h`` the scalar functions that
these loops inline.

``numba_backend`` has the modules of :data:`BOTH` with the same arguments and results, compiled by
numba when they are first called: losses, distinct rows, descent and rounding, which are all that
``lattice_cpa`` needs. The environment variable ``RISKSLIM_KERNELS`` chooses between ``cython`` (the
default) and ``numba``; without compiled extensions numba steps in. A choice is one of backends as a
whole: where numba's kernels are in use, those of Cython alone are not, even if they are there.

The rest of the package imports the modules from here and does not know which ones they are:
``from riskslim._kernels import real``. A module that is not there has a stand-in, which raises
:class:`~riskslim.exceptions.KernelsUnavailableError` when a kernel of it is used.
"""

from __future__ import annotations

import logging
import os
from importlib import import_module
from types import ModuleType
from typing import NamedTuple, NoReturn

from riskslim.exceptions import KernelsUnavailableError

# Modules of both backends, and of Cython alone.
BOTH = ("distinct", "heuristics", "integer", "ranges", "real")
CYTHON_ALONE = (
    "additive",
    "nested_thresholds",
    "cutoffs",
    "nodes",
    "supports",
    "support_enumeration",
    "rules",
)
MODULES = (*BOTH, *CYTHON_ALONE)
BACKENDS = ("cython", "numba")
VARIABLE = "RISKSLIM_KERNELS"

# The way to kernels that could not be compiled where riskslim was built.
_REMEDY = "build riskslim where there is a C compiler, or install a wheel built there"

logger = logging.getLogger("riskslim.kernels")


class Choice(NamedTuple):
    """The kernels in use, and why these; a backend of None where there are none."""

    backend: str | None
    reason: str


class _StandIn(ModuleType):
    """Stands for a module of kernels that is not in use, and says why when a kernel is asked for.

    Parameters
    ----------
    name : str
    message : str
        Of the error.
    """

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"{__name__}.{name}")
        self.message = message

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # asked for by whatever looks at modules
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        raise KernelsUnavailableError(self.message)


def load(backend: str, reason: str = "asked for") -> dict[str, ModuleType]:
    """Import the modules of one backend, by name; what it does not have are stand-ins.

    Parameters
    ----------
    backend : {"cython", "numba"}
    reason : str
        Why it is used, which stand-ins tell.

    Returns
    -------
    dict
        By the names in :data:`MODULES`.

    Raises
    ------
    ImportError
        The extensions are not built, or numba is not installed.
    """
    if backend == "cython":
        modules = {name: import_module(f"{__name__}.{name}") for name in MODULES}
    else:
        modules = {name: import_module(f"{__name__}.numba_backend.{name}") for name in BOTH}
        way = f"unset {VARIABLE}" if VARIABLE in reason else _REMEDY
        message = (
            "branch_and_bound, searches of supports and counts of cells need compiled kernels, but "
            f"numba's are in use ({reason}): {way}. lattice_cpa works without"
        )
        modules |= {name: _StandIn(name, message) for name in CYTHON_ALONE}
    globals().update(_in_use)  # to import a module of this folder has set its name here
    return modules


def _choose() -> tuple[Choice, dict[str, ModuleType]]:
    wanted = os.environ.get(VARIABLE, "")
    if wanted not in ("", *BACKENDS):
        raise ValueError(f"{VARIABLE} must be 'cython' or 'numba', got {wanted!r}")
    if wanted:
        reason = f"{VARIABLE}={wanted}"
        try:
            return Choice(wanted, reason), load(wanted, reason)
        except ImportError as error:
            other = "numba" if wanted == "cython" else "cython"
            return _none(
                f"{reason}, but these kernels cannot be imported ({error}); unset it, or use "
                f"{VARIABLE}={other}"
            )
    try:
        return Choice("cython", "default"), load("cython")
    except ImportError as error:
        reason = f"the compiled extensions cannot be imported ({error})"
    try:
        modules = load("numba", reason)
    except ImportError as error:
        return _none(
            f"{reason}, and neither can the numba kernels ({error}): {_REMEDY}; or install numba "
            "with `pip install numba`, on which lattice_cpa works"
        )
    logger.warning(
        "%s: using numba, which compiles the kernels at their first call; branch_and_bound needs "
        "the extensions", reason,
    )  # fmt: skip
    return Choice("numba", reason), modules


def _none(reason: str) -> tuple[Choice, dict[str, ModuleType]]:
    return Choice(None, reason), {name: _StandIn(name, reason) for name in MODULES}


def are_complete() -> bool:
    """True if the kernels of Cython alone are in use, too."""
    return not isinstance(globals()["nodes"], _StandIn)


def require_all() -> None:
    """Check that all kernels are in use, before work is begun that needs them.

    Raises
    ------
    KernelsUnavailableError
        Those of Cython alone are not, or none are.
    """
    nodes = globals()["nodes"]
    if isinstance(nodes, _StandIn):
        raise KernelsUnavailableError(nodes.message)


def prepare() -> None:
    """Compile what is compiled at run time, lest a search's limit pays for it."""
    if CHOICE.backend == "numba":
        import_module(f"{__name__}.numba_backend.compiled").prepare()


_in_use: dict[str, ModuleType] = {}
CHOICE, _modules = _choose()
_in_use.update(_modules)
# Over the submodules of the same names, which importing the Cython backend has set here.
globals().update(_in_use)
