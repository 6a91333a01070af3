"""The threads that all kernels share (pool.h)."""

from riskslim._kernels.threads cimport rs_work


cdef void share(rs_work work, void *rows, Py_ssize_t n_items, int n_workers) noexcept nogil


cdef inline void run(
    rs_work work, void *rows, Py_ssize_t n_items, int n_workers
) noexcept nogil:
    """Call work(rows, item, worker) for every item; worker is 0 .. n_workers - 1."""
    cdef Py_ssize_t item
    if n_workers > 1:
        share(work, rows, n_items, n_workers)
        return
    for item in range(n_items):
        work(rows, item, 0)
