# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Chains of planes each of which holds the next one, and counts of all of a chain's planes at once.

The cut-offs of a variable are such a chain: who is 50 or older is 40 or older. A row that has the
plane t of a chain has all planes before it, so that one number says what it has: its *rank*, the
number of planes. How many rows of a group have plane t is the number of those with a rank above t:
one histogram of the rows, and its sums from the end, count all planes. :mod:`supports` counts the
same, plane by plane, from bits.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t

from riskslim._kernels.pool cimport run
from riskslim._kernels.threads cimport n_workers


cdef extern from "bits.h" nogil:
    int64_t rs_count_and(const uint64_t *a, const uint64_t *b, Py_ssize_t n) noexcept


cdef inline bint is_within(const uint64_t *a, const uint64_t *b, Py_ssize_t n) noexcept nogil:
    """Say if b has all rows of a."""
    cdef Py_ssize_t i
    for i in range(n):
        if a[i] & ~b[i]:
            return False
    return True


cdef Py_ssize_t nearest_holder(
    const uint64_t *planes, Py_ssize_t n_words, Py_ssize_t n_planes, Py_ssize_t p,
    Py_ssize_t reach, int64_t longest, const int64_t *chain, const int64_t *last,
    const int64_t *length,
) noexcept nogil:
    """The chain whose last plane holds plane p and is the nearest within reach; -1: none."""
    cdef Py_ssize_t distance, side, q, c
    for distance in range(1, reach + 1):
        for side in range(2):
            q = p - distance if side == 0 else p + distance
            if q < 0 or q >= n_planes or chain[q] < 0:
                continue
            c = chain[q]
            if last[c] != q or length[c] >= longest:
                continue
            if is_within(planes + p * n_words, planes + q * n_words, n_words):
                return c
    return -1


cdef Py_ssize_t tightest_holder(
    const uint64_t *planes, Py_ssize_t n_words, Py_ssize_t p, Py_ssize_t n_chains,
    int64_t longest, const int64_t *kind, const int64_t *n_rows, const int64_t *last,
    const int64_t *length,
) noexcept nogil:
    """The chain of p's kind whose last plane holds p with the fewest other rows; -1: none."""
    cdef Py_ssize_t c, q, found = -1
    for c in range(n_chains):
        q = last[c]
        if kind[q] != kind[p] or length[c] >= longest:
            continue
        if found >= 0 and n_rows[q] >= n_rows[last[found]]:
            continue
        if is_within(planes + p * n_words, planes + q * n_words, n_words):
            found = c
    return found


def count_rows(const uint64_t[:, ::1] planes, int64_t[::1] n_rows):
    """Fill n_rows[p] with the number of rows of plane p."""
    cdef Py_ssize_t p
    with nogil:
        for p in range(planes.shape[0]):
            n_rows[p] = rs_count_and(&planes[p, 0], &planes[p, 0], planes.shape[1])


def find_nested_thresholds(
    const uint64_t[:, ::1] planes, const int64_t[::1] order, const int64_t[::1] kind,
    const int64_t[::1] n_rows, Py_ssize_t reach, int64_t longest, Py_ssize_t most,
    Py_ssize_t n_chains, int64_t[::1] chain, int64_t[::1] last, int64_t[::1] length,
):
    """Put planes into chains; returns how many there are then, -1 if more than ``most``.

    ``order`` has the planes, those of more rows (``n_rows``) first; another call may go on with the
    next ones, from the ``n_chains`` that there are. Each becomes the last one of a chain of fewer
    than ``longest`` planes whose last plane holds it: of the nearest such plane within ``reach``,
    of two at the same distance the one before it. With a reach of 0 it is the chain whose last
    plane is of the same ``kind`` and has the fewest rows. Where there is none it begins a chain.

    chain[p] is the number of the chain of plane p, in the order in which they begin, and -1 until
    it has one; last[c] and length[c] are the last plane of chain c and how many planes it has. All
    three have room for all planes.
    """
    cdef Py_ssize_t i, p, c
    with nogil:
        for i in range(order.shape[0]):
            p = order[i]
            if reach:
                c = nearest_holder(
                    &planes[0, 0], planes.shape[1], planes.shape[0], p, reach, longest, &chain[0],
                    &last[0], &length[0],
                )  # fmt: skip
            else:
                c = tightest_holder(
                    &planes[0, 0], planes.shape[1], p, n_chains, longest, &kind[0], &n_rows[0],
                    &last[0], &length[0],
                )  # fmt: skip
            if c < 0:
                c = n_chains
                if c == most:
                    n_chains = -1
                    break
                n_chains += 1
                length[c] = 0
            chain[p], last[c] = c, p
            length[c] += 1
    return n_chains


def fill_ranks(
    const uint64_t[:, ::1] planes, const int64_t[::1] members, uint16_t[::1] rank,
):
    """Fill rank[i] with the number of planes that have row i, of a chain from the largest on."""
    cdef Py_ssize_t t, w, i, n = members.shape[0]
    cdef uint64_t only
    with nogil:
        rank[:] = 0
        for t in range(n):
            for w in range(planes.shape[1]):
                only = planes[members[t], w]
                if t + 1 < n:
                    only &= ~planes[members[t + 1], w]
                i = 64 * w
                while only:
                    if only & 1:
                        rank[i] = <uint16_t>(t + 1)
                    only >>= 1
                    i += 1


def fill_groups(const uint64_t[:, ::1] masks, uint8_t[::1] group):
    """Fill group[i] with the mask that has row i, and 0 where none has it."""
    cdef Py_ssize_t r, w, i
    cdef uint64_t word
    cdef uint8_t *at
    with nogil:
        group[:] = 0
        for r in range(1, masks.shape[0]):
            for w in range(masks.shape[1]):
                word = masks[r, w]
                at = &group[64 * w]
                # Every row is in one mask at most: what is added to 0 stays below 256.
                while word:
                    for i in range(8):
                        at[i] += <uint8_t>r * <uint8_t>(word >> i & 1)
                    word >>= 8
                    at += 8


cdef struct Sweep:
    # What a pass over chains counts.
    const uint16_t *ranks
    Py_ssize_t n_rows
    const uint8_t *group
    Py_ssize_t n_groups
    const int64_t *chosen
    const int64_t *first
    const int64_t *members
    const int64_t *first_word
    const int64_t *side
    const double *weight
    Py_ssize_t n_segments
    int32_t *scratch
    Py_ssize_t room              # of scratch, per worker
    double *out
    const int64_t *stop


cdef void sweep_chain(void *argument, Py_ssize_t item, int worker) noexcept nogil:
    cdef Sweep *s = <Sweep *>argument
    cdef Py_ssize_t c = s.chosen[item], n = s.n_groups
    cdef const uint16_t *rank = s.ranks + c * s.n_rows
    cdef const int64_t *members = s.members + s.first[c]
    cdef Py_ssize_t length = s.first[c + 1] - s.first[c]
    cdef int32_t *count = s.scratch + worker * s.room
    cdef int32_t *here
    cdef double *out
    cdef double weight
    cdef Py_ssize_t g, t, r, i
    if s.stop[0]:
        return
    for t in range(length):
        out = s.out + 2 * n * members[t]
        for r in range(2 * n):
            out[r] = 0.0
    for g in range(s.n_segments):
        for i in range((length + 1) * n):
            count[i] = 0
        for i in range(64 * s.first_word[g], 64 * s.first_word[g + 1]):
            count[rank[i] * n + s.group[i]] += 1
        weight = s.weight[g]
        for t in range(length, 0, -1):
            here = count + t * n
            if t < length:
                for r in range(n):
                    here[r] += here[n + r]
            out = s.out + 2 * n * members[t - 1] + n * s.side[g]
            for r in range(n):
                out[r] += weight * <double>here[r]


def sweep_chains(
    const uint16_t[:, ::1] ranks, const uint8_t[::1] group, const int64_t[::1] chosen,
    const int64_t[::1] first, const int64_t[::1] members, const int64_t[::1] first_word,
    const int64_t[::1] side, const double[::1] weight, int32_t[:, ::1] scratch,
    double[:, :, ::1] out, const int64_t[::1] stop, int n_threads,
):
    """Fill out[p, l, r] with the weight of the rows of plane p, side l and group r.

    Of all planes of the chosen chains: chain c has members[first[c]] .. members[first[c + 1] - 1],
    from the largest on. The same numbers as those that supports.count_joint finds, bit by bit.
    ``scratch`` has, for each thread, (planes of the longest chain + 1) * groups entries. Nothing is
    said of chains that are not reached before stop[0] is set.
    """
    cdef Sweep s
    s.ranks = &ranks[0, 0]
    s.n_rows = ranks.shape[1]
    s.group = &group[0]
    s.n_groups = out.shape[2]
    s.chosen = &chosen[0]
    s.first = &first[0]
    s.members = &members[0]
    s.first_word = &first_word[0]
    s.side = &side[0]
    s.weight = &weight[0]
    s.n_segments = side.shape[0]
    s.scratch = &scratch[0, 0]
    s.room = scratch.shape[1]
    s.out = &out[0, 0, 0]
    s.stop = &stop[0]
    with nogil:
        run(sweep_chain, &s, chosen.shape[0], n_workers(chosen.shape[0], n_threads))
