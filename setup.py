"""Compiled extensions; everything else about the package is in pyproject.toml.

A kernel that cannot be compiled ends the build, unless RISKSLIM_REQUIRE_KERNELS=0 is in the
environment: then the package is built without extensions, and works with numba as far as it can.
"""

import os
import re
import sys
import sysconfig
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, OptionError

KERNELS = [
    "build", "pool", "nested_thresholds", "distinct", "integer", "real", "ranges", "heuristics",
    "nodes", "supports", "support_enumeration", "rules", "cutoffs", "additive",
]  # fmt: skip
HEADERS = [
    "bits", "numerics", "blocks", "row_tiles", "odds", "threads", "pool", "rows", "build", "nodes",
    "ridge", "cells", "knapsack", "rated", "best_points", "support_enumeration", "rules", "cutoffs",
]  # fmt: skip

# Results must not depend on which instructions a machine has: no fast-math, no
# architecture flags, and no contraction of a * b + c into one rounding.
if sys.platform == "win32":
    compile_args = ["/O2", "/fp:precise"]
    link_args = []
else:
    # The last two change no value; they tell the compiler that nobody watches floating-point
    # traps and errno, without which loops that contain a comparison are not vectorised.
    compile_args = ["-O3", "-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno", "-pthread"]
    link_args = ["-pthread"]

# One wheel serves all versions of Python from this one on: memoryviews have needed nothing outside
# of the limited API since then. Builds without the GIL have no limited API.
LIMITED_SINCE = (3, 11)
LIMITED = (
    sys.implementation.name == "cpython"
    and sys.version_info >= LIMITED_SINCE
    and not sysconfig.get_config_var("Py_GIL_DISABLED")
)

VARIABLE = "RISKSLIM_REQUIRE_KERNELS"
TO_INSTALL = {
    "win32": "the Build Tools for Visual Studio with the workload for C++ on the desktop (MSVC)",
    "darwin": "the command line tools of Xcode (xcode-select --install)",
}
TO_INSTALL_ELSEWHERE = (
    "gcc and Python's headers (packages build-essential and python3-dev on Debian and Ubuntu, gcc "
    "and python3-devel on Fedora)"
)
REPOSITORY = "RISKSLIM_REPOSITORY"


def description():
    """README.md for package indexes, where no files lie beside it.

    Its links lead to the repository, if its address is in the environment, as in a release.
    Otherwise their texts stay, which name the files of the source distribution.
    """
    address = os.environ.get(REPOSITORY, "")
    version = re.search('__version__ = "(.+)"', Path("riskslim/_version.py").read_text("utf-8"))[1]
    target = rf"[\1]({address}/blob/v{version}/\2)" if address else r"\1"
    text = Path("README.md").read_text(encoding="utf-8")
    return re.sub(r"\[([^]]+)\]\((?!https?:|#)([^)\s]+)\)", target, text)


def addresses():
    """Links of the package's page on an index, as far as the build knows them."""
    address = os.environ.get(REPOSITORY, "")
    if not address:
        return {}
    return {"Source": address, "Issues": f"{address}/issues"}


def kernels_are_required():
    """True if the build is to fail where a kernel cannot be compiled."""
    value = os.environ.get(VARIABLE, "")
    if value not in ("", "0", "1"):
        raise OptionError(f"{VARIABLE} must be 0 or 1, got {value!r}")
    return value != "0"


class BuildKernels(build_ext):
    """Ends where a kernel cannot be compiled, or leaves it out where that is allowed."""

    def finalize_options(self):
        super().finalize_options()
        if self.parallel is None:
            self.parallel = True  # one compiler per core

    def run(self):
        # In a clone, kernels have the names of one version of Python: Python prefers them to those
        # of the limited API, so that old ones would hide new ones. (setuptools resets `inplace`.)
        self.limited = LIMITED and not (self.inplace or self.editable_mode)
        super().run()

    def build_extensions(self):
        self.failed = []
        required = kernels_are_required()
        for extension in self.extensions:
            extension.optional = not required
            if self.limited:
                extension.py_limited_api = True
                major, minor = LIMITED_SINCE
                extension.define_macros.append(("Py_LIMITED_API", f"0x{major:02X}{minor:02X}0000"))
        super().build_extensions()
        if not self.failed:
            return
        is_all = len(self.failed) == len(self.extensions)
        which = "the kernels" if is_all else ", ".join(sorted(self.failed))
        what = f"{which} could not be compiled (the errors are above)"
        without = "lattice_cpa works with numba (`pip install numba`), branch_and_bound does not"
        if required:
            raise CompileError(
                f"{what}. They need a C compiler: install "
                f"{TO_INSTALL.get(sys.platform, TO_INSTALL_ELSEWHERE)}. {VARIABLE}=0 in the "
                f"environment builds riskslim without them: then {without}"
            )
        self.warn(f"{what}: {without}")

    def build_extension(self, extension):
        try:
            super().build_extension(extension)
        except Exception as error:  # no compiler, or one that refuses; each has its own errors
            self.warn(f"{extension.name}: {error}")
            self.failed.append(extension.name)


setup(
    long_description=description(),
    long_description_content_type="text/markdown",
    project_urls=addresses(),
    cmdclass={"build_ext": BuildKernels},
    options={"bdist_wheel": {"py_limited_api": "cp{}{}".format(*LIMITED_SINCE)}} if LIMITED else {},
    ext_modules=cythonize(
        [
            Extension(
                f"riskslim._kernels.{name}",
                [f"riskslim/_kernels/{name}.pyx"],
                depends=[f"riskslim/_kernels/{header}.h" for header in HEADERS],
                include_dirs=["riskslim/_kernels"],
                extra_compile_args=compile_args,
                extra_link_args=link_args,
            )
            for name in KERNELS
        ],
        # None for an array is a TypeError; without it a kernel would read from address 0.
        compiler_directives={"language_level": 3, "allow_none_for_extension_args": False},
    ),
)
