"""setup.py: kernels that cannot be compiled, the limited API, what package indexes are told."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import riskslim
from paths import ROOT

pytest.importorskip("setuptools", minversion="77")

# setup.py with one kernel that takes no time to compile, and without Cython, which a build brings.
_BUILD = """
import sys, types

cython = types.ModuleType("Cython.Build")
cython.cythonize = lambda extensions, **_: extensions[:1]
sys.modules |= {"Cython": types.ModuleType("Cython"), "Cython.Build": cython}
sys.argv[0] = "setup.py"
source = open("setup.py").read().replace(".pyx\\"", ".c\\"")
exec(compile(source, "setup.py", "exec"), {"__name__": "__main__"})
"""


COMPILE = ("build_ext", "--build-lib", "built", "--build-temp", "objects")


def build(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kernels = folder / "riskslim" / "_kernels"
    kernels.mkdir(parents=True, exist_ok=True)
    for name in ("setup.py", "README.md", "riskslim/_version.py"):
        shutil.copy(ROOT / name, folder / name)
    (kernels / "build.c").write_text("int nothing;\n")
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("RISKSLIM_")}
    return subprocess.run(
        [sys.executable, "-c", _BUILD, *(command or COMPILE)],
        capture_output=True, text=True, check=False, cwd=folder, env=inherited | environment,
    )  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="CC names the compiler elsewhere")
@pytest.mark.parametrize("required", ["", "0", "1"])
def test_kernels_that_cannot_be_compiled(tmp_path, required):
    done = build(tmp_path, CC="false", RISKSLIM_REQUIRE_KERNELS=required)
    text = done.stdout + done.stderr
    assert "the kernels could not be compiled (the errors are above)" in text
    assert "lattice_cpa works with numba (`pip install numba`), branch_and_bound does not" in text
    assert not [*tmp_path.glob("built/**/*.so")]
    if required == "0":
        assert done.returncode == 0, text
        return
    assert done.returncode != 0
    package = "xcode-select --install" if sys.platform == "darwin" else "build-essential"
    assert re.search(rf"They need a C compiler: install [^.]*{package}", text)
    assert "RISKSLIM_REQUIRE_KERNELS=0 in the environment builds riskslim without them" in text


def test_an_unknown_value_is_refused(tmp_path):
    done = build(tmp_path, RISKSLIM_REQUIRE_KERNELS="yes")
    assert done.returncode != 0
    assert "RISKSLIM_REQUIRE_KERNELS must be 0 or 1, got 'yes'" in done.stderr


@pytest.mark.skipif(
    shutil.which(os.environ.get("CC", "cc")) is None, reason="there is no C compiler"
)
@pytest.mark.parametrize("in_place", [False, True])
def test_files_of_the_limited_api(tmp_path, in_place):
    # One library for all versions of Python in wheels; in a clone never, where it would be hidden
    # by those that lie there.
    where = ("--inplace", "--build-temp", "objects") if in_place else COMPILE[1:]
    done = build(tmp_path, "build_ext", *where)
    assert done.returncode == 0, done.stderr
    home = tmp_path / ("." if in_place else "built") / "riskslim" / "_kernels"
    (library,) = [*home.glob("build.*so"), *home.glob("build*.pyd")]
    is_limited = library.name in ("build.abi3.so", "build.pyd")
    assert is_limited == (not in_place and sys.version_info >= (3, 11))


@pytest.mark.parametrize("address", ["", "https://example.org/a/b"])
def test_links_work_on_a_package_index(tmp_path, address):
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "riskslim"\nversion = "1"\ndynamic = ["readme", "urls"]\n'
        "[tool.setuptools]\npackages = []\n"
    )
    done = build(tmp_path, "egg_info", RISKSLIM_REPOSITORY=address)
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob("*.egg-info/PKG-INFO")
    text = path.read_text(encoding="utf-8")
    assert "Description-Content-Type: text/markdown" in text
    links = re.findall(r"\]\(([^)]*)\)", text)
    given = re.findall(r"\]\(([^)]*)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(given) > 10
    if not address:
        assert links == []
        assert "see docs/score_sheet.md." in text
        assert "Project-URL" not in text
    else:
        assert links == [f"{address}/blob/v{riskslim.__version__}/{link}" for link in given]
        assert f"Project-URL: Source, {address}\n" in text
