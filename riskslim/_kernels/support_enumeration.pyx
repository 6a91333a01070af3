# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Tables of supports: bounds of all scores that use a given set of items, for many sets at once.

The method, the layout of the words, and the rounding errors are those of support_enumeration.h.
"""

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint64_t, uintptr_t

cdef extern from "support_enumeration.h" nogil:
    enum:
        RS_MOST_ITEMS
        RS_DEEPEST
        RS_FULL
        RS_STOPPED
        RS_MOST_RATES
        RS_EACH
    ctypedef struct rs_rate:
        double direction
        double bad
        double good
        double limit
    ctypedef struct rs_priced:
        double price
    ctypedef struct rs_shares:
        double missed
        double called
        int is_whole
    ctypedef struct rs_knapsack:
        int side
        double capacity
        double price
    ctypedef struct rs_segment:
        int64_t bits
        int64_t word
        int32_t cell
        int16_t label
        int16_t shift
        int64_t ones
        int64_t ones_at
    ctypedef struct rs_level:
        uint64_t *words
        int64_t n_words
        rs_segment *segment
        int32_t n_segments
        int32_t n_cells
        int32_t *pattern
        int32_t *total
        int32_t *single
    ctypedef struct rs_cells:
        int32_t n
        double[4096] positive
        double[4096] negative
    ctypedef struct rs_box:
        double[13] low
        double[13] high
        double[13] z
    ctypedef void (*rs_counter)(int32_t *count, const uint64_t *one, const uint64_t *eight,
                                int64_t n) noexcept
    ctypedef struct rs_scan:
        int64_t n_items
        int64_t n_groups
        int64_t width
        int bits
        const int64_t *plane
        int64_t pairs_from
        int64_t shift
        const double *value
        const double *low
        const double *high
        const double *price
        const double *fee
        const double *ridge
        const uint8_t *apart
        double[2] unit
        double t_low
        double t_high
        double cutoff
        int64_t min_size
        int64_t max_size
        const rs_rate *rates
        int n_rates
        const rs_shares *shares
        int settles
        rs_knapsack *knapsack
        int64_t *stop
        rs_counter counter
        int64_t capacity
        int64_t n_found
        int64_t *found
        double *bound
        int64_t *vector
        int64_t *counted
        rs_level *level
        int32_t *both
        float *test
        uint64_t *chosen
        rs_cells *cells
        rs_box *stack
        rs_priced *priced
        int64_t[12] item
        int64_t unlooked
    int rs_best_level() noexcept
    int rs_shares_are_out_of_reach(const rs_cells *cells, const rs_shares *shares) noexcept
    double rs_saturated(const rs_cells *cells) noexcept
    rs_counter rs_counter_of(int level) noexcept
    int rs_sort(rs_scan *scan, int size, int depth, int64_t item, int is_last) noexcept
    int rs_scan_prefix(rs_scan *scan, int size, int depth, int64_t first) noexcept


MOST_ITEMS = RS_MOST_ITEMS
FULL = RS_FULL
STOPPED = RS_STOPPED
MOST_RATES = RS_MOST_RATES
EACH = RS_EACH
DEF MOST_LEVELS = 13
DEF SEGMENT_WORDS = 5  # sizeof(rs_segment) / 8
DEF MOST_LIMITS = 8  # RS_MOST_RATES


def best_level():
    """Fastest way of counting on this machine: 0 portable, 1 popcnt, 2 AVX2, 3 AVX-512."""
    return rs_best_level()


cdef Py_ssize_t most_segments(Py_ssize_t n_segments, Py_ssize_t n_bits, Py_ssize_t size) noexcept:
    """Segments that rows can be in after so many splits; each has a row."""
    cdef Py_ssize_t most = n_segments << size
    return most if most < n_bits else n_bits


def saturated(const double[::1] positive, const double[::1] negative):
    """h of some cells, less what rounding can amount to; at most 2^MOST_ITEMS cells."""
    cdef rs_cells cells
    cdef Py_ssize_t c
    cells.n = positive.shape[0]
    for c in range(positive.shape[0]):
        cells.positive[c], cells.negative[c] = positive[c], negative[c]
    return rs_saturated(&cells)


def out_of_reach(const double[::1] positive, const double[::1] negative, double missed, double called):
    """True if cells cannot be called positive and negative with at most so much of either wrong.

    At most 2^MOST_ITEMS cells.
    """
    cdef rs_cells cells
    cdef rs_shares shares
    cdef Py_ssize_t c
    cells.n = positive.shape[0]
    for c in range(positive.shape[0]):
        cells.positive[c], cells.negative[c] = positive[c], negative[c]
    shares.missed, shares.called, shares.is_whole = missed, called, 1
    return bool(rs_shares_are_out_of_reach(&cells, &shares))


def room(Py_ssize_t n_groups, Py_ssize_t n_words, Py_ssize_t n_segments, Py_ssize_t n_bits,
         Py_ssize_t depth):
    """Workspace of a scan: numbers of uint64, of int32, and of float32.

    Rows are sorted by at most ``depth`` planes.
    """
    cdef Py_ssize_t size, segments, cells
    cdef Py_ssize_t words64 = 0, words32 = 0, stride = n_words
    for size in range(depth + 1):
        segments = most_segments(n_segments, n_bits, size)
        cells = min(segments, 1 << size)
        words64 += SEGMENT_WORDS * segments
        if size:
            stride += most_segments(n_segments, n_bits, size - 1)
            words64 += 8 * n_groups * stride + 8
        words32 += 3 * cells
    cells = min(most_segments(n_segments, n_bits, depth), 1 << depth)
    words64 += stride + 8 + (1 << RS_MOST_ITEMS) * 20 // 8 + 16 + RS_DEEPEST * 39
    words32 += 4 * cells * 8 * n_groups
    return words64, words32, 8 * n_groups


def scan(
    const uint64_t[:, :, ::1] words, const int64_t[::1] bits, const int64_t[::1] labels,
    const int64_t[::1] shifts, const double[::1] unit, const double[:, ::1] value,
    const int64_t[::1] plane, const double[::1] low, const double[::1] high, double t_low,
    double t_high, const double[::1] price, const double[::1] fee, const double[::1] ridge,
    const uint8_t[:, ::1] apart, const int64_t[::1] prefix, Py_ssize_t first, Py_ssize_t min_size,
    Py_ssize_t max_size, Py_ssize_t depth, double cutoff, int level, const double[:, ::1] rates,
    const double[::1] shares, int settles, const double[::1] knapsack, int64_t[::1] stop,
    int64_t[:, ::1] found, double[::1] bound, int64_t[:, ::1] vector, int64_t[::1] counted,
    uint64_t[::1] room64, int32_t[::1] room32,
    float[::1] room_float,
):
    """Find the supports that may hold a score with an objective below ``cutoff``.

    All supports of ``min_size`` to ``max_size`` items that consist of ``prefix`` (ascending) and of
    items from ``first`` on, which is beyond those of the prefix. Items that are ``apart`` are not
    in one support.

    ``words`` (groups of eight planes, words, 8) has the rows; row segments have ``bits`` rows of the
    class ``labels`` (1 or 0), each of which stands for 2^``shifts`` rows of the weight ``unit`` of
    its class. Item i has the planes ``plane[i]`` to ``plane[i + 1] - 1``, the bits of the number of
    its value in a row; ``value`` has two columns, or eight where an item has more than one plane.
    Supports have at most MOST_ITEMS planes (and ten items where one has more than one plane), and
    rows are sorted by at most ``depth`` of them. Items of several planes come before those of one
    among the items from ``first`` on. An item's coefficient lies between ``low`` and ``high``, which
    begin with those of the intercept. They are in log-odds: t times points, and t lies between
    ``t_low`` and ``t_high``. An item has the penalty ``fee`` and ``ridge`` times its squared
    coefficient, which is at least ``price``; ``ridge`` is empty where there is none, and ``fee`` is
    ``price`` then.

    ``rates`` are limits that scores keep, at most MOST_RATES: direction, bad, good and limit of each
    as rated.h has them, in log-odds and weights. With ``settles`` 1 the best vector of a support that
    keeps them is all that is wanted of it, and nothing that is no better than one that was found: row
    i of ``vector`` then has the points of found[i], intercept first, and ``bound`` is infinite where
    nothing else is left. With ``EACH`` the best vector of each support is wanted, whether there are
    limits or not. With 0 a vector is one that keeps the limits. Its first number is the least int64
    where there is none. Values and points are whole numbers where there are rates.

    ``shares`` has what a score may call wrong at some threshold, as shares.h has it: weights of the
    positive class and of the negative one, and whether all values are whole numbers, without which
    no vectors are found; it is empty where nothing is asked.

    With a ``knapsack`` (the class of which a share is required, and how many of its rows may be
    called wrong; empty for none) supports are looked for that may hold a rule that calls fewer rows
    of the other class wrong than ``cutoff``. ``bound`` is of these; units are 1, and there are no prices
    and rates.

    Rows of ``found`` are items, in ascending order and -1 after them; ``bound`` is a bound of the
    objective; ``counted`` has the numbers of supports looked at, past the test in single precision,
    past h, and found, and the second derivatives of all boxes. Returns the number found,
    ``FULL`` or ``STOPPED``: what is found then is not all. stop[0] above 0 ends the scan; below 0 it is counted up by each look.
    """
    cdef rs_scan s
    cdef rs_level[MOST_LEVELS] levels
    cdef Py_ssize_t size, segments, cells, k, n_bits = 0
    cdef Py_ssize_t n_prefix = prefix.shape[0]
    cdef uint64_t *at = &room64[0]
    cdef int32_t *at32 = &room32[0]
    cdef int64_t word = 0
    cdef int status = 0, sorted_by = 0
    cdef rs_rate[MOST_LIMITS] limits
    cdef rs_priced priced
    cdef rs_shares asked
    cdef rs_knapsack of_rules
    for k in range(bits.shape[0]):
        n_bits += bits[k]
    s.n_items, s.n_groups, s.width = price.shape[0], words.shape[0], 8 * words.shape[0]
    s.value, s.low, s.high, s.price = &value[0, 0], &low[0], &high[0], &price[0]
    s.bits, s.plane, s.unlooked = 1 if value.shape[1] == 2 else 3, &plane[0], 0
    s.pairs_from = s.n_items
    while s.pairs_from > 0 and plane[s.pairs_from] - plane[s.pairs_from - 1] == 1:
        s.pairs_from -= 1
    s.shift = plane[s.pairs_from] - s.pairs_from
    s.fee, s.ridge = &fee[0], &ridge[0] if ridge.shape[0] else NULL
    s.apart = &apart[0, 0]
    s.unit[0], s.unit[1] = unit[0], unit[1]
    s.t_low, s.t_high = t_low, t_high
    s.cutoff, s.min_size, s.max_size, s.stop = cutoff, min_size, max_size, &stop[0]
    s.counter = rs_counter_of(min(level, rs_best_level()))
    s.capacity, s.n_found = found.shape[0], 0
    s.found, s.bound, s.counted = &found[0, 0], &bound[0], &counted[0]
    s.rates, s.n_rates, s.settles, s.priced = limits, rates.shape[0], settles, &priced
    s.vector = &vector[0, 0]
    s.shares = NULL
    if shares.shape[0]:
        asked.missed, asked.called, asked.is_whole = shares[0], shares[1], shares[2] != 0
        s.shares = &asked
    s.knapsack = NULL
    if knapsack.shape[0]:
        of_rules.side, of_rules.capacity, of_rules.price = <int>knapsack[0], knapsack[1], 0.0
        s.knapsack = &of_rules
    for k in range(rates.shape[0]):
        limits[k].direction, limits[k].bad = rates[k, 0], rates[k, 1]
        limits[k].good, limits[k].limit = rates[k, 2], rates[k, 3]
    s.level = levels
    for size in range(depth + 1):
        segments = most_segments(bits.shape[0], n_bits, size)
        cells = min(segments, 1 << size)
        levels[size].segment = <rs_segment *>at
        at += SEGMENT_WORDS * segments
        if size == 0:
            levels[0].words, levels[0].n_words = <uint64_t *>&words[0, 0, 0], words.shape[1]
        else:
            levels[size].n_words = levels[size - 1].n_words + most_segments(
                bits.shape[0], n_bits, size - 1)
            at = <uint64_t *>((<uintptr_t>at + 63) & ~<uintptr_t>63)  # a cache line for eight items
            levels[size].words = at
            at += 8 * s.n_groups * levels[size].n_words
        levels[size].pattern = at32
        levels[size].total = at32 + cells
        at32 += 3 * cells
    for size in range(depth + 1):
        levels[size].single = at32
    cells = min(most_segments(bits.shape[0], n_bits, depth), 1 << depth)
    s.both = at32 + 2 * cells * s.width
    s.test = &room_float[0]
    s.chosen = at
    s.cells = <rs_cells *>(at + levels[depth].n_words + 8)
    s.stack = <rs_box *>(<uint64_t *>s.cells + (1 << RS_MOST_ITEMS) * 20 // 8 + 8)
    levels[0].n_segments = bits.shape[0]
    for k in range(bits.shape[0]):
        levels[0].segment[k].bits, levels[0].segment[k].word = bits[k], word
        levels[0].segment[k].cell = 0
        levels[0].segment[k].label, levels[0].segment[k].shift = labels[k], shifts[k]
        word += (bits[k] + 63) // 64
    with nogil:
        for k in range(n_prefix):
            s.item[k] = prefix[k]
            status = rs_sort(&s, k, sorted_by, prefix[k], 0)
            if status:
                break
            sorted_by += plane[prefix[k] + 1] - plane[prefix[k]]
        if not status:
            status = rs_scan_prefix(&s, n_prefix, sorted_by, first)
    return status if status < 0 else s.n_found
