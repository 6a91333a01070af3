"""What setup.py does where a kernel cannot be compiled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paths import ROOT

pytest.importorskip("setuptools", minversion="77")

# setup.py with one kernel that takes no time to compile, and without Cython, which a build brings.
_BUILD = """
import sys, types

cython = types.ModuleType("Cython.Build")
cython.cythonize = lambda extensions, **_: extensions[:1]
sys.modules |= {"Cython": types.ModuleType("Cython"), "Cython.Build": cython}
sys.argv = ["setup.py", "build_ext", "--build-lib", "built", "--build-temp", "objects"]
source = open("setup.py").read().replace(".pyx\\"", ".c\\"")
exec(compile(source, "setup.py", "exec"), {"__name__": "__main__"})
"""


def build(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    shutil.copy(ROOT / "setup.py", folder)
    kernels = folder / "riskslim" / "_kernels"
    kernels.mkdir(parents=True)
    (kernels / "build.c").write_text("int nothing;\n")
    inherited = {k: v for k, v in os.environ.items() if k != "RISKSLIM_REQUIRE_KERNELS"}
    return subprocess.run(
        [sys.executable, "-c", _BUILD],
        capture_output=True, text=True, check=False, cwd=folder, env=inherited | environment,
    )  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="CC names the compiler elsewhere")
@pytest.mark.parametrize("required", ["", "0", "1"])
def test_kernels_that_cannot_be_compiled(tmp_path, required):
    done = build(tmp_path, CC="false", RISKSLIM_REQUIRE_KERNELS=required)
    text = done.stdout + done.stderr
    assert "riskslim._kernels.build could not be compiled (the errors are above)" in text
    assert not [*tmp_path.glob("built/**/*.so")]
    if required == "1":
        assert done.returncode != 0
        assert "and RISKSLIM_REQUIRE_KERNELS=1 requires all kernels" in text
    else:
        assert done.returncode == 0, text
        assert "riskslim will compile its kernels with numba when it is used" in text


def test_an_unknown_value_is_refused(tmp_path):
    done = build(tmp_path, RISKSLIM_REQUIRE_KERNELS="yes")
    assert done.returncode != 0
    assert "RISKSLIM_REQUIRE_KERNELS must be 0 or 1, got 'yes'" in done.stderr
