"""Compiled extensions; everything else about the package is in pyproject.toml.

Without a compiler the package is built all the same: numba steps in for kernels that are missing.
RISKSLIM_REQUIRE_KERNELS=1 in the environment, as for a release, makes it an error.
"""

import os
import sys

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, OptionError

KERNELS = [
    "build", "pool", "chains", "distinct", "integer", "real", "ranges", "heuristics", "nodes",
    "supports", "tables", "cutoffs",
]  # fmt: skip
HEADERS = [
    "bits", "numerics", "blocks", "panels", "odds", "threads", "pool", "rows", "build", "nodes",
    "tables", "cutoffs",
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

VARIABLE = "RISKSLIM_REQUIRE_KERNELS"


def kernels_are_required():
    """Whether the build is to fail where a kernel cannot be compiled."""
    value = os.environ.get(VARIABLE, "")
    if value not in ("", "0", "1"):
        raise OptionError(f"{VARIABLE} must be 0 or 1, got {value!r}")
    return value == "1"


class BuildKernels(build_ext):
    """Leaves out kernels that cannot be compiled, unless all are required."""

    def build_extensions(self):
        self.failed = []
        required = kernels_are_required()
        for extension in self.extensions:
            extension.optional = not required
        super().build_extensions()
        if not self.failed:
            return
        what = f"{', '.join(self.failed)} could not be compiled (the errors are above)"
        if required:
            raise CompileError(f"{what}, and {VARIABLE}=1 requires all kernels")
        self.warn(f"{what}: riskslim will compile its kernels with numba when it is used")

    def build_extension(self, extension):
        try:
            super().build_extension(extension)
        except Exception as error:  # no compiler, or one that refuses; each has its own errors
            self.warn(f"{extension.name}: {error}")
            self.failed.append(extension.name)


setup(
    cmdclass={"build_ext": BuildKernels},
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
