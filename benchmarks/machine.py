"""Describe the machine and the numerical libraries, so that figures can be judged."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import numpy as np

# Environment variables that change what is measured.
_VARIABLES = (
    "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "RISKSLIM_KERNELS",
)


def describe_machine() -> dict[str, Any]:
    """Return processor, caches, memory, BLAS kernels and versions as plain values for JSON."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "caches": _caches(),
        "memory_bytes": _memory_bytes(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numpy_simd": _numpy_simd(),
        "blas": blas_libraries(),
        "environment": {name: os.environ[name] for name in _VARIABLES if name in os.environ},
    }


def blas_libraries() -> list[str]:
    """Return one line per loaded BLAS: name, version, kernel and threads.

    OpenBLAS chooses its kernels by processor; its own variables can force slower ones on it,
    which would flatter every ratio to a reference that uses BLAS.
    """
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return ["unknown: threadpoolctl is not installed"]
    return [
        f"{pool['internal_api']} {pool['version']}, kernel {pool.get('architecture', 'unknown')}, "
        f"{pool['num_threads']} thread(s), {Path(pool['filepath']).name}"
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    ]


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        fields: dict[str, str] = {}
        for line in cpuinfo.read_text().splitlines():
            name, _, value = line.partition(":")
            fields.setdefault(name.strip(), value.strip())
        if "model name" in fields:
            family = f"family {fields.get('cpu family', '?')}, model {fields.get('model', '?')}"
            return f"{fields['model name']} ({family})"
    return platform.processor() or platform.machine()


def _caches() -> list[str]:
    found = []
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (
            (index / name).read_text().strip() for name in ("level", "type", "size")
        )
        if kind != "Instruction":
            found.append(f"L{level} {size}")
    return found


def _memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _numpy_simd() -> list[str]:
    found = np.show_config(mode="dicts").get("SIMD Extensions", {})
    return list(found.get("found", []))
