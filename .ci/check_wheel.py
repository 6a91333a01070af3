"""Look into wheels: all kernels have to be there, and none may need a newer glibc than is stated.

`python .ci/check_wheel.py WHEEL... [--glibc 2.28]`; prints what is wrong, and ends with 1.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import zipfile
from pathlib import Path

SETUP = Path(__file__).resolve().parent.parent / "setup.py"
# What other packages and type checkers need.
OTHERS = ("riskslim/py.typed", "riskslim/backend/numerics.pxd", "riskslim/_kernels/numerics.h")
_SYMBOL = re.compile(rb"GLIBC_(\d+)\.(\d+)(?:\.\d+)?\0")


def kernels(setup: str) -> list[str]:
    """The list of kernels in the text of setup.py."""
    for statement in ast.parse(setup).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "KERNELS":
            return list(ast.literal_eval(statement.value))
    raise ValueError("setup.py has no list KERNELS")


def newest_glibc(library: bytes) -> tuple[int, ...]:
    """The newest version of glibc whose symbols a shared library names; (0, 0) if none."""
    return max((tuple(map(int, found)) for found in _SYMBOL.findall(library)), default=(0, 0))


def suffix(wheel: str) -> str:
    """How the names of a wheel's extensions end, by its tags."""
    _, _, python, abi, platform = Path(wheel).stem.split("-")
    if platform.startswith("win"):
        return r"\.pyd" if abi == "abi3" else rf"\.{python}-\w+\.pyd"
    return r"\.abi3\.so" if abi == "abi3" else rf"\.cpython-{python[2:]}-[\w-]+\.so"


def faults(wheel: str, glibc: tuple[int, ...]) -> list[str]:
    """What is wrong with a wheel, in words."""
    found = []
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        for kernel in kernels(SETUP.read_text(encoding="utf-8")):
            pattern = re.compile(rf"riskslim/_kernels/{kernel}{suffix(wheel)}")
            files = [name for name in names if pattern.fullmatch(name)]
            if len(files) != 1:
                found.append(f"{kernel}: {len(files)} extensions in place of one")
            for name in files:
                needed = newest_glibc(archive.read(name))
                if needed > glibc:
                    found.append(f"{name} needs glibc {'.'.join(map(str, needed))}")
        found += [f"no file {name}" for name in OTHERS if name not in names]
        found += [f"{name} belongs to tests" for name in names if name.startswith("tests/")]
    return found


def main(arguments: list[str] | None = None) -> int:
    """Check all wheels that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheels", nargs="+")
    parser.add_argument("--glibc", default="2.28", help="the newest that may be needed")
    options = parser.parse_args(arguments)
    glibc = tuple(map(int, options.glibc.split(".")))
    status = 0
    for wheel in options.wheels:
        wrong = faults(wheel, glibc)
        status |= bool(wrong)
        sys.stdout.write(f"{Path(wheel).name}: {'; '.join(wrong) or 'all kernels are there'}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
