# cython: language_level=3, boundscheck=False, wraparound=False
"""The mean loss of a score on one column, with riskslim's scalar functions.

Build it in this folder by `python setup.py build_ext --inplace`.
"""

from riskslim.backend.numerics cimport add, compensated, logistic_loss, logistic_slope


def mean_loss(const double[::1] x, const signed char[::1] labels, double intercept, double points):
    """Mean of log(1 + exp(-y (intercept + points * x))), and its derivative by the points.

    x has shape (n,), labels are -1 and +1. The sums are added up in twice the working precision.
    """
    cdef Py_ssize_t i, n = x.shape[0]
    cdef compensated loss, slope
    cdef double margin
    if n == 0 or labels.shape[0] != n:
        raise ValueError("x and labels need the same length, at least 1")
    loss.high = loss.low = slope.high = slope.low = 0.0
    with nogil:
        for i in range(n):
            margin = labels[i] * (intercept + points * x[i])
            add(&loss, logistic_loss(margin))
            add(&slope, logistic_slope(margin) * labels[i] * x[i])
    return (loss.high + loss.low) / n, (slope.high + slope.low) / n
