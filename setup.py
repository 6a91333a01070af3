"""Compiled extensions; everything else about the package is in pyproject.toml.

Without a compiler the package is built all the same: numba steps in for kernels that are missing.
RISKSLIM_REQUIRE_KERNELS=1 in the environment, as for a release, makes it an error.
"""

import os
import sys
import tempfile
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, OptionError

KERNELS = [
    "build", "chains", "distinct", "integer", "real", "ranges", "heuristics", "nodes", "supports",
    "tables", "cutoffs",
]  # fmt: skip
HEADERS = [
    "bits", "numerics", "blocks", "panels", "odds", "threads", "rows", "build", "nodes", "tables",
    "cutoffs",
]  # fmt: skip

# Results must not depend on which instructions a machine has: no fast-math, no
# architecture flags, and no contraction of a * b + c into one rounding.
if sys.platform == "win32":
    compile_args = ["/O2", "/fp:precise"]
else:
    # The last two change no value; they tell the compiler that nobody watches floating-point
    # traps and errno, without which loops that contain a comparison are not vectorised.
    compile_args = ["-O3", "-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno"]

# Ways to ask for threads: flags of the compiler, flags of the linker.
OPENMP_FLAGS = {
    "win32": [(["/openmp"], [])],
    "darwin": [(["-fopenmp"], ["-fopenmp"]), (["-Xpreprocessor", "-fopenmp"], ["-lomp"])],
}.get(sys.platform, [(["-fopenmp"], ["-fopenmp"])])

OPENMP_PROGRAM = """
#include <omp.h>
int main(void)
{
    int i, sum = 0;
#pragma omp parallel for num_threads(2) reduction(+ : sum)
    for (i = 0; i < 4; i++) sum += i + 0 * omp_get_thread_num();
    return sum != 6;
}
"""


VARIABLE = "RISKSLIM_REQUIRE_KERNELS"


def kernels_are_required():
    """Whether the build is to fail where a kernel cannot be compiled."""
    value = os.environ.get(VARIABLE, "")
    if value not in ("", "0", "1"):
        raise OptionError(f"{VARIABLE} must be 0 or 1, got {value!r}")
    return value == "1"


class BuildKernels(build_ext):
    """Builds with threads where the compiler has OpenMP, and without them elsewhere."""

    def build_extensions(self):
        self.failed = []
        required = kernels_are_required()
        compiling, linking = self.openmp_flags()
        for extension in self.extensions:
            extension.extra_compile_args += compiling
            extension.extra_link_args += linking
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

    def openmp_flags(self):
        for compiling, linking in OPENMP_FLAGS:
            with tempfile.TemporaryDirectory() as folder:
                source = Path(folder, "openmp.c")
                source.write_text(OPENMP_PROGRAM)
                try:
                    objects = self.compiler.compile(
                        [str(source)], output_dir=folder, extra_postargs=compiling
                    )
                    self.compiler.link_executable(
                        objects, "openmp", output_dir=folder, extra_postargs=linking
                    )
                except Exception as error:  # every compiler has errors of its own
                    self.announce(f"{compiling} does not work: {error}", level=3)
                else:
                    return compiling, linking
        self.warn("the compiler has no OpenMP: the kernels are built for one thread")
        return [], []


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
            )
            for name in KERNELS
        ],
        # None for an array is a TypeError; without it a kernel would read from address 0.
        compiler_directives={"language_level": 3, "allow_none_for_extension_args": False},
    ),
)
