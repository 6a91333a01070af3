"""Compilation of kernels: at their first call, for one signature, and cached."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

import llvmlite.binding as llvmlite
import numba
from numba import types

# Numba's cache watches the file of a kernel but not the files of what the kernel calls. With
# this digest in its name a kernel is compiled anew after a change to any of them.
_DIGEST = hashlib.sha256(
    b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
).hexdigest()[:12]


def read(dtype: Any, ndim: int = 1) -> Any:
    """Type of a C-ordered array that is only read: takes writable arrays, too."""
    return types.Array(dtype, ndim, "C", readonly=True)


def write(dtype: Any, ndim: int = 1) -> Any:
    """Type of a C-ordered array that is written."""
    return types.Array(dtype, ndim, "C")


# Kernels and what they call allocate nothing and keep no array: without numba's reference
# counts they compile in half of the time. No fast-math, as in the Cython build.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}

_HELPER = {**_OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
helper: Any = numba.njit(**_HELPER)
inlined: Any = numba.njit(forceinline=True, **_HELPER)

logger = logging.getLogger("riskslim.kernels")

_compiling = Lock()
_kernels: list[_Kernel] = []


class _Kernel:
    """A function that is compiled for one signature, from the cache where it is there."""

    def __init__(self, function: Callable[..., Any], signature: tuple[Any, ...]) -> None:
        self.name = function.__name__
        function.__qualname__ = f"{function.__name__}_{_DIGEST}"
        self.signature = signature
        self.dispatcher = _dispatcher_of(function)

    def compile(self) -> None:
        """Compile it unless that is done; one thread at a time."""
        if self.dispatcher.overloads:
            return
        with _compiling:
            if not self.dispatcher.overloads:
                self.dispatcher.compile(self.signature)
                self.dispatcher.disable_compile()


def _dispatcher_of(function: Callable[..., Any]) -> Any:
    try:
        return numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # there is no folder that numba may write to
        if not any(kernel.dispatcher.stats.cache_path is None for kernel in _kernels):
            logger.warning(
                "no folder for compiled kernels can be written to: they are compiled anew in every "
                "process; NUMBA_CACHE_DIR names a folder to keep them in"
            )
        return numba.njit(**_OPTIONS)(function)


def kernel(*signature: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function for one signature when it is first called.

    One signature, instead of one per combination of writable and read-only arguments, keeps
    compile times down. Python's own integers are int64 in it.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        compiled = _Kernel(function, signature)
        _kernels.append(compiled)
        dispatcher = compiled.dispatcher

        def call(*arguments: Any) -> Any:
            if not dispatcher.overloads:
                compiled.compile()
            return dispatcher(*arguments)

        return call

    return decorate


def prepare() -> None:
    """Compile all kernels that are not compiled yet, and say so where it takes long."""
    missing = [kernel for kernel in _kernels if not kernel.dispatcher.overloads]
    began = said = time.perf_counter()
    for done, one in enumerate(missing):
        one.compile()
        now = time.perf_counter()
        if now - said > 2.0:
            said = now
            logger.info(
                "compiling kernels: %d of %d after %.0f s", done + 1, len(missing), now - began
            )


# ---- for riskslim.show_config -----------------------------------------------------------------


def compiler() -> str:
    """Name and version of the compiler."""
    return f"numba {numba.__version__}, LLVM {'.'.join(map(str, llvmlite.llvm_version_info))}"


def processor() -> str:
    """Name of the processor for which LLVM compiles."""
    return str(llvmlite.get_host_cpu_name())


def cache_folder() -> str | None:
    """Return the folder in which compiled kernels are kept, None where there is none."""
    path = _kernels[0].dispatcher.stats.cache_path
    return None if path is None else str(path)
