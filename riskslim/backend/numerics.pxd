"""Scalar functions of the logistic loss, for `cimport`.

    from riskslim.backend.numerics cimport logistic_loss, logistic_slope

Compile with `include_dirs=[riskslim.backend.get_include()]`. All are inline, need no GIL, and have
an error below 1 ulp of their largest term. Margins are finite.
"""


cdef extern from "numerics.h" nogil:
    # log(1 + exp(-margin))
    double logistic_loss "rs_loss" (double margin) noexcept
    # Its derivative, -1 / (1 + exp(margin))
    double logistic_slope "rs_slope" (double margin) noexcept

    # A sum in twice the working precision: begin with high = low = 0; the sum is high + low.
    ctypedef struct compensated "rs_sum":
        double high
        double low
    void add "rs_add" (compensated *sum, double value) noexcept
    void add_product "rs_add_product" (compensated *sum, double a, double b) noexcept
