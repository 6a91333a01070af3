"""The threads that all kernels share (pool.h)."""

from riskslim._kernels.threads cimport rs_work


cdef extern from "pool.h" nogil:
    void rs_share(rs_work work, void *rows, Py_ssize_t n_items, int n_workers) noexcept


cdef void share(rs_work work, void *rows, Py_ssize_t n_items, int n_workers) noexcept nogil:
    rs_share(work, rows, n_items, n_workers)
