"""Compiled extensions; everything else about the package is in pyproject.toml."""

import sys

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup

KERNELS = ["integer", "real", "ranges", "heuristics"]

# Results must not depend on which instructions a machine has: no fast-math, no
# architecture flags, and no contraction of a * b + c into one rounding.
if sys.platform == "win32":
    compile_args = ["/O2", "/fp:precise"]
else:
    # The last two change no value; they tell the compiler that nobody watches floating-point
    # traps and errno, without which loops that contain a comparison are not vectorised.
    compile_args = ["-O3", "-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno"]

setup(
    ext_modules=cythonize(
        [
            Extension(
                f"riskslim._kernels.{name}",
                [f"riskslim/_kernels/{name}.pyx"],
                depends=["riskslim/_kernels/numerics.h", "riskslim/_kernels/blocks.h"],
                include_dirs=["riskslim/_kernels", np.get_include()],
                define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
                extra_compile_args=compile_args,
            )
            for name in KERNELS
        ],
        compiler_directives={"language_level": 3},
    )
)
