"""Build an extension with the scalar functions of riskslim.backend.numerics."""

from Cython.Build import cythonize
from setuptools import Extension, setup

from riskslim import backend

setup(
    name="mean_loss",
    ext_modules=cythonize(
        [
            Extension(
                "mean_loss",
                ["mean_loss.pyx"],
                include_dirs=[backend.get_include()],
                # Compilers that join a * b + c into one rounding spoil compensated sums.
                extra_compile_args=["-O3", "-ffp-contract=off"],
            )
        ]
    ),
)
