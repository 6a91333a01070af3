"""The ground that the package runs on: kernels, machine, packages."""

from __future__ import annotations

import os
import platform
from importlib import import_module, metadata
from typing import Any, Literal, overload

import numpy as np

from riskslim._checks import checked_threads
from riskslim._version import __version__
from riskslim._wording import pip_install

__all__ = ["physical_memory", "show_config"]

# Packages that results or times depend on, each with the extra that brings it; "": required.
_PACKAGES = {
    "numpy": "", "scipy": "", "scikit-learn": "", "narwhals": "", "pyarrow": "cli",
    "numba": "numba", "cplex": "cplex", "pyscipopt": "scip",
}  # fmt: skip


@overload
def show_config(mode: Literal["stdout"] = "stdout") -> None: ...


@overload
def show_config(mode: Literal["dict"]) -> dict[str, Any]: ...


def show_config(mode: str = "stdout") -> dict[str, Any] | None:
    """Show which kernels are in use and why, what this machine has, and versions of packages.

    Parameters
    ----------
    mode : {"stdout", "dict"}
        Print the configuration, or return it.

    Returns
    -------
    dict or None
        ``version``; ``kernels``: the backend, why it is used, and how it was compiled; a backend of
        None where there are no kernels;
        ``machine``; ``packages``: versions, None for what is not installed.

    Raises
    ------
    ValueError
        Another mode.

    Notes
    -----
    The environment variable ``RISKSLIM_KERNELS`` chooses the kernels, ``cython`` or ``numba``, of
    which both give the same results. With numba's,
    :func:`~riskslim.branch_and_bound` is not available.

    Examples
    --------
    >>> from riskslim import show_config
    >>> show_config(mode="dict")["kernels"]["backend"] in ("cython", "numba")
    True
    """
    if mode not in ("stdout", "dict"):
        raise ValueError(f"mode must be 'stdout' or 'dict', got {mode!r}")
    config = {
        "version": __version__,
        "kernels": _kernel_facts(),
        "machine": _machine_facts(),
        "packages": {name: _version(name) for name in _PACKAGES},
    }
    if mode == "dict":
        return config
    print(_described(config))
    return None


def _kernel_facts() -> dict[str, Any]:
    from riskslim._kernels import CHOICE

    backend, reason = CHOICE
    facts: dict[str, Any] = {"backend": backend, "reason": reason}
    if backend is None:
        return facts
    if backend == "cython":
        from riskslim._kernels import build, integer

        return {
            **facts,
            "compiler": build.compiler(),
            "instructions": build.vector_level(),
            "threads": "yes" if integer.has_threads() else "none: built without threads",
        }
    compiled: Any = import_module("riskslim._kernels.numba_backend.compiled")
    return {
        **facts,
        "compiler": compiled.compiler(),
        "instructions": compiled.processor(),
        "threads": "Python's own; one for coordinate descent and rounding",
        "cache": compiled.cache_folder(),
    }


def physical_memory() -> int | None:
    """Memory of the machine in bytes, None where it cannot be found out."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    return int(total) if total > 0 else None


def _machine_facts() -> dict[str, Any]:
    # NumPy looks at the processor when it is imported, on every architecture.
    vectors: Any = np.show_config(mode="dicts")
    extensions = vectors.get("SIMD Extensions", {})
    return {
        "system": platform.platform(),
        "processor": platform.machine(),
        "vector extensions": [*extensions.get("baseline", []), *extensions.get("found", [])],
        "cores": os.cpu_count(),
        "cores for this process": checked_threads(-1),
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _described(config: dict[str, Any]) -> str:
    lines = [f"riskslim {config['version']}"]
    for heading in ("kernels", "machine", "packages"):
        lines += ["", heading]
        for name, value in config[heading].items():
            if value is None:
                is_package = heading == "packages"
                text = f"not installed: {pip_install(_PACKAGES[name])}" if is_package else "none"
            else:
                text = ", ".join(value) if isinstance(value, list) else value
            lines.append(f"  {name:<24}{text}")
    return "\n".join(lines)
