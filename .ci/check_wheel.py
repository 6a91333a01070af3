"""Look into wheels: all kernels are there, and none needs a newer glibc or processor than stated.

`python .ci/check_wheel.py WHEEL... [--glibc 2.28] [--instructions]`; prints what is wrong, and ends
with 1.

Instructions beyond the baseline of x86-64 may stand only in functions that are called after a look
at the processor. objdump shows them, before symbols are stripped. Where it is missing, or where a
wheel is for other processors, a line says that they were not checked.
"""

from __future__ import annotations

import argparse
import ast
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

SETUP = Path(__file__).resolve().parent.parent / "setup.py"
# What other packages and type checkers need.
OTHERS = ("riskslim/py.typed", "riskslim/backend/numerics.pxd", "riskslim/_kernels/numerics.h")
_SYMBOL = re.compile(rb"GLIBC_(\d+)\.(\d+)(?:\.\d+)?\0")

# Functions that run only where the processor has what they need, by how their names end: versions
# of target_clones among which the loader chooses, and those that a function beside them chooses
# (bits.h, support_enumeration.h). Compilers add endings of their own to parts and copies.
_CHOSEN = re.compile(r"(\.arch_x86[-_]64[-_]v[34]|_popcnt|_avx2|_avx512)(\.[a-z_]*[\d.]*)*")
_FUNCTION = re.compile(r"[\da-f]+ <(.+)>:")
# Beyond SSE2, which every x86-64 has: AVX to AVX-512 and FMA (v..., k... for masks), BMI and ABM,
# SSE3 to SSE4.2. Not TZCNT: older processors read it as BSF, and compilers allow for that.
_SSE4_1 = (
    "addsub[pd]|haddp[sd]|hsubp[sd]|lddqu|movddup|movs[hl]dup|pabs[bwd]|palignr|ph(add|sub)s?[wd]|"
    "pmaddubsw|pmulhrsw|pshufb|psign[bwd]|p?blendv?(p[sd]|b|w)|dpp[sd]|extractps|insertps|movntdqa|"
    "mpsadbw|packusdw|pcmpeqq|pextr[bdq]|phminposuw|pinsr[bdq]|p(max|min)(sb|sd|ud|uw)|"
    "pmov[sz]x[bwd]{1}[wdq]|pmuldq|pmulld|ptest|round[ps][sd]"
)
_NEWER = (
    "v[a-z].*|k(mov|or|and|xor|xnor|not|shift|test|unpck|add).*|pcmpgtq|pcmp[ei]str[im]|crc32.*|"
    "popcnt.?|lzcnt.?|andn.?|bextr.?|bls(i|msk|r).?|bzhi.?|mulx.?|pdep.?|pext.?|rorx.?|s(ar|hl|hr)x.?|"
    "ad[co]x.?|movbe.?|aes.*|sha(1|256).*|pclmul.*"
)
BASELINE = re.compile(f"{_NEWER}|{_SSE4_1}")
BASELINE_OF_MACOS = re.compile(_NEWER)  # the oldest Mac with x86-64 has SSE4.1


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
    """Return how the names of a wheel's extensions end, by its tags."""
    _, _, python, abi, platform = Path(wheel).stem.split("-")
    if platform.startswith("win"):
        return r"\.pyd" if abi == "abi3" else rf"\.{python}-\w+\.pyd"
    return r"\.abi3\.so" if abi == "abi3" else rf"\.cpython-{python[2:]}-[\w-]+\.so"


def disassembled(library: bytes) -> str:
    """All instructions of a library, by objdump."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "library")
        path.write_bytes(library)
        command = ["objdump", "--disassemble", "--no-show-raw-insn", str(path)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def wide_functions(text: str, newer: re.Pattern[str] = BASELINE) -> dict[str, Counter[str]]:
    """Instructions that not every x86-64 has, in functions that are not chosen at run time."""
    found: dict[str, Counter[str]] = {}
    function, is_chosen = "", False
    for line in text.splitlines():
        if head := _FUNCTION.match(line):
            function = head[1]
            is_chosen = _CHOSEN.search(function) is not None
        elif not is_chosen and "\t" in line:
            words = line.split("\t")[1].split()
            if words and newer.fullmatch(words[0]):
                found.setdefault(function, Counter())[words[0]] += 1
    return found


def platform_of(wheel: str) -> str:
    """The last tag of a wheel."""
    return Path(wheel).stem.split("-")[-1]


def without_check(platform: str) -> str:
    """Say why the instructions of a wheel cannot be checked; empty if they can be."""
    if not platform.endswith("x86_64"):
        return f"for {platform}: its compiler makes one version of each function"
    return "" if shutil.which("objdump") else "without objdump"


def instruction_faults(name: str, library: bytes, platform: str) -> list[str]:
    """Name functions of a library that ask for more than the baseline."""
    newer = BASELINE_OF_MACOS if platform.startswith("macosx") else BASELINE
    text = disassembled(library)
    found = [
        f"{name} asks for more than the baseline in {function} ({', '.join(sorted(names))})"
        for function, names in wide_functions(text, newer).items()
    ]
    if not found and not re.search("<_?(rs_|PyInit_).*>:", text):
        found.append(f"{name} has no function that is known: are its symbols stripped?")
    return found


def faults(wheel: str, glibc: tuple[int, ...], instructions: bool) -> list[str]:
    """Say what is wrong with a wheel; an empty list if nothing is."""
    found = []
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        for kernel in kernels(SETUP.read_text(encoding="utf-8")):
            pattern = re.compile(rf"riskslim/_kernels/{kernel}{suffix(wheel)}")
            files = [name for name in names if pattern.fullmatch(name)]
            if len(files) != 1:
                found.append(f"{kernel}: {len(files)} extensions in place of one")
            for name in files:
                library = archive.read(name)
                needed = newest_glibc(library)
                if needed > glibc:
                    found.append(f"{name} needs glibc {'.'.join(map(str, needed))}")
                if instructions:
                    found += instruction_faults(name, library, platform_of(wheel))
        found += [f"no file {name}" for name in OTHERS if name not in names]
        found += [f"{name} belongs to tests" for name in names if name.startswith("tests/")]
    return found


def main(arguments: list[str] | None = None) -> int:
    """Check all wheels that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheels", nargs="+")
    parser.add_argument("--glibc", default="2.28", help="the newest that may be needed")
    parser.add_argument("--instructions", action="store_true", help="which ones kernels ask for")
    options = parser.parse_args(arguments)
    glibc = tuple(map(int, options.glibc.split(".")))
    status = 0
    for wheel in options.wheels:
        reason = without_check(platform_of(wheel)) if options.instructions else ""
        wrong = faults(wheel, glibc, options.instructions and not reason)
        status |= bool(wrong)
        if reason:
            sys.stdout.write(f"{Path(wheel).name}: instructions are not checked {reason}\n")
        sys.stdout.write(f"{Path(wheel).name}: {'; '.join(wrong) or 'all kernels are there'}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
