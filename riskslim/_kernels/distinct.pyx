# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Groups of equal rows.

They are found with a hash table of open addressing. Rows are compared word by word
(rows.h), so that rows of one hash are merged only if they are equal. Group numbers follow
the order in which the groups first appear.
"""

from libc.stdint cimport int8_t, int64_t, uint64_t

from riskslim._kernels.row_tiles cimport rs_row_tiles, rs_unpack_column


cdef extern from "rows.h" nogil:
    enum:
        RS_ROWS
    uint64_t RS_GROUP_MASK
    void RS_PREFETCH(const void *address) noexcept
    void rs_clear_words(uint64_t *word, Py_ssize_t n) noexcept
    void rs_put_bytes(uint64_t *word, const int8_t *x, int shift, Py_ssize_t n) noexcept
    void rs_put_reals(uint64_t *word, const double *x, Py_ssize_t n) noexcept
    uint64_t rs_mix(uint64_t hash, uint64_t word) noexcept
    uint64_t rs_finish(uint64_t hash) noexcept
    void rs_mix_words(uint64_t *hash, const uint64_t *word, Py_ssize_t n) noexcept
    void rs_finish_words(uint64_t *hash, Py_ssize_t n) noexcept
    uint64_t rs_slot(uint64_t hash, Py_ssize_t group) noexcept
    bint rs_same_hash(uint64_t slot, uint64_t hash) noexcept
    bint rs_same_words(const uint64_t *key, const uint64_t *plane, Py_ssize_t n_words) noexcept


cdef extern from "numerics.h" nogil:
    ctypedef struct rs_sum:
        double high
        double low
    void rs_add(rs_sum *sum, double value) noexcept


def block_rows():
    """Rows that group_rows handles at a time: the room it needs before it starts on them."""
    return RS_ROWS


cdef void read_rows(
    uint64_t *plane, uint64_t *hash, const int8_t[::1, :] columns,
    const rs_row_tiles *row_tiles, const int8_t[::1] labels, const int64_t[::1] places,
    Py_ssize_t n_packed, Py_ssize_t start, Py_ssize_t n,
) noexcept nogil:
    """Words and hashes of n rows; the first one begins a row tile."""
    cdef Py_ssize_t j, k
    cdef double[RS_ROWS] reals
    for k in range(n_packed):
        rs_clear_words(plane + k * RS_ROWS, n)
    rs_put_bytes(plane, &labels[start], 0, n)
    for j in range(columns.shape[1]):
        k = <Py_ssize_t>(places[j] >> 6)
        rs_put_bytes(plane + k * RS_ROWS, &columns[start, j], <int>(places[j] & 63), n)
    for j in range(row_tiles.d):
        rs_unpack_column(reals, row_tiles, start, j, n, False)
        rs_put_reals(plane + (n_packed + j) * RS_ROWS, reals, n)
    rs_clear_words(hash, n)
    for k in range(n_packed + row_tiles.d):
        rs_mix_words(hash, plane + k * RS_ROWS, n)
    rs_finish_words(hash, n)


def group_rows(
    const int8_t[::1, :] columns, const double[:, :, ::1] row_tiles, const int8_t[::1] labels,
    const double[:, ::1] weights, const int64_t[::1] places, Py_ssize_t first_row,
    Py_ssize_t n_groups, uint64_t[:, ::1] plane, uint64_t[::1] slots, uint64_t[:, ::1] keys,
    int64_t[::1] first, int64_t[::1] counts, double[:, ::1] sums,
):
    """Group rows first_row, first_row + 1, ... as long as there is room for new groups.

    Parameters besides the rows: ``places`` says at which bit of a row's words each integer
    begins (riskslim.data.layout); the label is the first byte, a real is a word of its own behind
    the integers. ``plane`` is workspace (n_words, block_rows()); ``slots`` is the hash table, a
    power of two in size and zero at first; groups are held by ``keys`` (words), ``first`` (first
    row; where it has no room it is not noted), ``counts`` (rows), and ``sums`` (room, 2 kinds): for
    each kind of weights their sum, and its rounding error.

    Returns the next row and the number of groups. The table is never more than half full.
    """
    cdef Py_ssize_t n = labels.shape[0], row = first_row, words = keys.shape[1]
    cdef Py_ssize_t capacity = min(keys.shape[0], slots.shape[0] // 2)
    cdef Py_ssize_t i, k, m, group, w, kinds = weights.shape[0]
    cdef Py_ssize_t n_packed = words - row_tiles.shape[1]
    cdef uint64_t mask = slots.shape[0] - 1, slot, at
    cdef uint64_t[RS_ROWS] hash
    cdef rs_sum total
    cdef bint noted = first.shape[0] > 0
    cdef rs_row_tiles reals
    reals.x = &row_tiles[0, 0, 0]
    reals.d = row_tiles.shape[1]
    with nogil:
        while row < n and n_groups + RS_ROWS <= capacity:
            m = min(RS_ROWS, n - row)
            read_rows(
                &plane[0, 0], hash, columns, &reals, labels, places, n_packed, row, m)
            for i in range(m):
                RS_PREFETCH(&slots[hash[i] & mask])
            for i in range(m):
                slot = slots[hash[i] & mask]
                if slot != 0:
                    group = <Py_ssize_t>((slot & RS_GROUP_MASK) - 1)
                    RS_PREFETCH(&keys[group, 0])
                    RS_PREFETCH(&counts[group])
                    if kinds:
                        RS_PREFETCH(&sums[group, 0])
            for i in range(m):
                at = hash[i] & mask
                while True:
                    slot = slots[at]
                    if slot == 0:
                        group = n_groups
                        n_groups += 1
                        slots[at] = rs_slot(hash[i], group)
                        for k in range(words):
                            keys[group, k] = plane[k, i]
                        if noted:
                            first[group] = row + i
                        counts[group] = 0
                        for w in range(2 * kinds):
                            sums[group, w] = 0.0
                        break
                    group = <Py_ssize_t>((slot & RS_GROUP_MASK) - 1)
                    if rs_same_hash(slot, hash[i]) and rs_same_words(
                            &keys[group, 0], &plane[0, i], words):
                        break
                    at = (at + 1) & mask
                counts[group] += 1
                for w in range(kinds):
                    total.high = sums[group, 2 * w]
                    total.low = sums[group, 2 * w + 1]
                    rs_add(&total, weights[w, row + i])
                    sums[group, 2 * w] = total.high
                    sums[group, 2 * w + 1] = total.low
            row += m
    return row, n_groups


def merge_groups(
    const uint64_t[:, ::1] from_keys, const int64_t[::1] from_first,
    const int64_t[::1] from_counts, const double[:, ::1] from_sums, Py_ssize_t group,
    Py_ssize_t end, Py_ssize_t n_groups, uint64_t[::1] slots, uint64_t[:, ::1] keys,
    int64_t[::1] first, int64_t[::1] counts, double[:, ::1] sums,
):
    """Add groups group, group + 1, ... end - 1 of later rows to those that :func:`group_rows` has.

    Returns the next group and the number of groups, once there is no room for new ones.
    """
    cdef Py_ssize_t words = keys.shape[1], kinds = sums.shape[1] // 2
    cdef Py_ssize_t capacity = min(keys.shape[0], slots.shape[0] // 2)
    cdef Py_ssize_t i, k, m, own, w
    cdef uint64_t mask = slots.shape[0] - 1, slot, at
    cdef uint64_t[RS_ROWS] hash
    cdef rs_sum total
    with nogil:
        while group < end and n_groups + RS_ROWS <= capacity:
            m = min(RS_ROWS, end - group)
            for i in range(m):
                hash[i] = 0
                for k in range(words):
                    hash[i] = rs_mix(hash[i], from_keys[group + i, k])
                hash[i] = rs_finish(hash[i])
                RS_PREFETCH(&slots[hash[i] & mask])
            for i in range(m):
                slot = slots[hash[i] & mask]
                if slot != 0:
                    own = <Py_ssize_t>((slot & RS_GROUP_MASK) - 1)
                    RS_PREFETCH(&keys[own, 0])
                    RS_PREFETCH(&counts[own])
            for i in range(m):
                at = hash[i] & mask
                while True:
                    slot = slots[at]
                    if slot == 0:
                        own = n_groups
                        n_groups += 1
                        slots[at] = rs_slot(hash[i], own)
                        for k in range(words):
                            keys[own, k] = from_keys[group + i, k]
                        first[own] = from_first[group + i]
                        counts[own] = 0
                        for w in range(2 * kinds):
                            sums[own, w] = 0.0
                        break
                    own = <Py_ssize_t>((slot & RS_GROUP_MASK) - 1)
                    if rs_same_hash(slot, hash[i]):
                        for k in range(words):
                            if keys[own, k] != from_keys[group + i, k]:
                                break
                        else:
                            break
                    at = (at + 1) & mask
                counts[own] += from_counts[group + i]
                for w in range(kinds):
                    total.high = sums[own, 2 * w]
                    total.low = sums[own, 2 * w + 1]
                    rs_add(&total, from_sums[group + i, 2 * w])
                    sums[own, 2 * w] = total.high
                    sums[own, 2 * w + 1] = total.low + from_sums[group + i, 2 * w + 1]
            group += m
    return group, n_groups


def fill_slots(const uint64_t[:, ::1] keys, Py_ssize_t n_groups, uint64_t[::1] slots):
    """Enter the groups into an empty table."""
    cdef Py_ssize_t group, k
    cdef uint64_t hash, at, mask = slots.shape[0] - 1
    with nogil:
        for group in range(n_groups):
            hash = 0
            for k in range(keys.shape[1]):
                hash = rs_mix(hash, keys[group, k])
            hash = rs_finish(hash)
            at = hash & mask
            while slots[at] != 0:
                at = (at + 1) & mask
            slots[at] = rs_slot(hash, group)
