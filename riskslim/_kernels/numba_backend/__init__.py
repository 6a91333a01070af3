"""Just-in-time backend: kernels of some of the Cython modules, compiled by numba at first call.

Names, arguments and results are those of the Cython modules, whose stubs (``*.pyi``) hold for
both; what a kernel computes is documented there. Compiled code is kept in numba's cache.
"""
