"""Compiled kernels: arrays in, results into arrays that the caller passes.

Kernels validate nothing, allocate no results and touch no Python objects in loops; they
run with the GIL released. :mod:`riskslim.loss` and :mod:`riskslim.heuristics` own
validation, dtypes and layout. Data come as Fortran-ordered columns, integers (int8) and
reals (float64) apart; an empty weight array means that every row counts once.

``integer``
    Scores that are integers: exact histogram of scores times a table of losses.
``real``
    Real-valued coefficients or features: stable exponentials, compensated sums.
``distinct``
    Groups of equal rows.
``ranges``
    Smallest and largest score of each row over a coefficient set.
``heuristics``
    Discrete coordinate descent and sequential rounding, each compiled as a whole.

The Cython modules drive blocks of rows through the loops of ``blocks.h``, which compilers
vectorise; ``numerics.h`` has the scalar functions that these loops inline.
"""
