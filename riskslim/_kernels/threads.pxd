"""Passes over the rows on several threads (threads.h)."""


cdef extern from "threads.h" nogil:
    enum:
        RS_BLOCK
        RS_CHUNK
        RS_CHUNK_BLOCKS
        RS_HAS_THREADS
    ctypedef void (*rs_work)(void *rows, Py_ssize_t item, int worker) noexcept nogil
    Py_ssize_t n_blocks "rs_n_blocks" (Py_ssize_t n) noexcept
    Py_ssize_t n_chunks "rs_n_chunks" (Py_ssize_t n) noexcept
    Py_ssize_t n_parts "rs_n_parts" (Py_ssize_t n, Py_ssize_t cells) noexcept
    Py_ssize_t part_begin "rs_part_begin" (Py_ssize_t n, Py_ssize_t parts,
                                           Py_ssize_t part) noexcept
    int n_workers "rs_n_workers" (Py_ssize_t n_items, int n_threads) noexcept
