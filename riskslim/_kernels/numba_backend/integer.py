"""Numba counterpart of integer.pyx: the same kernels, arguments and results."""

from __future__ import annotations

import numpy as np
from numba import float64, int8, int16, int32, int64, uint16, uint64

from riskslim._kernels.numba_backend import blocks
from riskslim._kernels.numba_backend.blocks import BLOCK, COPIES, DIGIT_BASE, DIGIT_SCALE
from riskslim._kernels.numba_backend.chunks import (
    CHUNK,
    add_chunks,
    n_chunks,
    n_parts,
    n_workers,
    part_begin,
    run,
)
from riskslim._kernels.numba_backend.compiled import helper, kernel, read, write


def has_threads():
    return True


def n_copies():
    return COPIES


# ---- tables ---------------------------------------------------------------------------------


@kernel(int64, float64, write(float64), write(float64, 2))
def fill_tables(low, scale, tail, slope):
    for k in range(tail.shape[0]):
        s = np.float64(low + k) / scale
        tail[k] = blocks.loss(s if s > 0 else -s)
        slope[0, k] = -blocks.slope(-s)
        slope[1, k] = blocks.slope(s)


@kernel(read(float64, 2), write(uint64, 2))
def fill_digits(slope, digits):
    for c in range(2):
        for k in range(digits.shape[1]):
            digits[c, k] = blocks.pack_digits(slope[c, k])


@kernel(read(float64, 2), write(uint64, 2))
def fill_fixed_point(slope, fixed_point):
    for c in range(2):
        for k in range(fixed_point.shape[1]):
            fixed_point[c, k] = np.uint64(blocks.fixed_point(slope[c, k]))


# ---- rows that count once, or a number of times; positions of 16 bits ---------------------------

# Columns, coefficients, the non-zero ones of these, intercept - low, labels, numbers (none: every
# row counts once), width; as _rows gives them.
_ROWS = (read(int8, 2), read(int32), read(int64), int64, read(int8), read(uint16), int64)
_NO_NUMBERS = np.empty(0, np.uint16)


def _rows(columns, coef, intercept, labels, numbers, low, width):
    return columns.T, coef, np.flatnonzero(coef), intercept - low, labels, numbers, width


@helper
def _block_positions_u16(position, columns, coef, used, offset, labels, width, start):
    stop = start + position.shape[0]
    for i in range(position.shape[0]):
        position[i] = np.uint16(offset)
    whole = used.shape[0] // 4 * 4
    for k in range(0, whole, 4):
        j0, j1, j2, j3 = used[k], used[k + 1], used[k + 2], used[k + 3]
        blocks.add_4_columns_u16(
            position,
            columns[j0, start:stop],
            columns[j1, start:stop],
            columns[j2, start:stop],
            columns[j3, start:stop],
            np.int16(coef[j0]),
            np.int16(coef[j1]),
            np.int16(coef[j2]),
            np.int16(coef[j3]),
        )
    for k in range(whole, used.shape[0]):
        blocks.add_column_u16(position, columns[used[k], start:stop], np.int16(coef[used[k]]))
    blocks.split_classes_u16(position, labels[start:stop], np.uint16(width))


@helper
def _count_block(counts, numbers, position, start):
    if numbers.shape[0]:
        blocks.count_numbers(counts[0], numbers[start : start + position.shape[0]], position)
    else:
        blocks.count_u16(counts[0], counts[1], counts[2], counts[3], position)


@kernel(*_ROWS, write(int64, 2), write(uint16), int64, int64)
def _count(columns, coef, used, offset, labels, numbers, width, counts, positions, begin, end):
    for start in range(begin, end, BLOCK):
        position = positions[: min(BLOCK, end - start)]
        _block_positions_u16(position, columns, coef, used, offset, labels, width, start)
        _count_block(counts, numbers, position, start)


@kernel(
    *(*_ROWS, read(uint64), write(int64, 2), write(int64, 2), write(uint16), write(int16, 2)),
    *(int64, int64),
)
def _count_and_slopes(
    columns, coef, used, offset, labels, numbers, width, table, counts, sums, positions, digits,
    begin, end,
):  # fmt: skip
    for start in range(begin, end, BLOCK):
        m = min(BLOCK, end - start)
        stop, position, wide = start + m, positions[:m], digits[4]
        d0, d1, d2, d3 = digits[0, :m], digits[1, :m], digits[2, :m], digits[3, :m]
        _block_positions_u16(position, columns, coef, used, offset, labels, width, start)
        _count_block(counts, numbers, position, start)
        if numbers.shape[0]:
            blocks.lookup_products(d0, d1, d2, d3, table, numbers[start:stop], position)
            for j in range(columns.shape[0]):
                blocks.dot_products(sums[j], d0, d1, d2, d3, columns[j, start:stop], wide)
        else:
            blocks.lookup_digits(d0, d1, d2, table, position)
            for j in range(columns.shape[0]):
                blocks.dot_digits(sums[j], d0, d1, d2, columns[j, start:stop], wide)


@kernel(
    *(read(int32), read(int8), int64, int64, write(int64, 2), write(int64), write(uint16)),
    *(int64, int64),
)
def _count_given(scores, labels, low, width, counts, outside, positions, begin, end):
    for start in range(begin, end, BLOCK):
        stop = min(start + BLOCK, end)
        position = positions[: stop - start]
        n_outside = blocks.given_positions_u16(
            position, scores[start:stop], labels[start:stop], low, width
        )
        if n_outside == 0:
            blocks.count_u16(counts[0], counts[1], counts[2], counts[3], position)
        else:
            outside[0] += n_outside


def _run_counting(work, n, results, n_threads):
    """Run work(begin, end, *own); more workers than one have results of their own to add up."""
    chunks = n_chunks(n)
    if n_workers(chunks, n_threads) == 1:
        work(0, n, *results)
        return
    own = [
        [np.zeros_like(result) for result in results] for _ in range(n_workers(chunks, n_threads))
    ]
    run(
        lambda first, end, worker: work(first * CHUNK, min(end * CHUNK, n), *own[worker]),
        chunks,
        n_threads,
    )
    for mine in own:
        for result, part in zip(results, mine, strict=True):
            result += part


def _run_count(rows, counts, n_threads):
    _run_counting(
        lambda begin, end, counts: _count(*rows, counts, np.empty(BLOCK, np.uint16), begin, end),
        len(rows[4]),
        [counts.reshape(len(counts), -1)],
        n_threads,
    )


def _run_count_and_slopes(rows, table, counts, sums, n_threads):
    def work(begin, end, counts, sums):
        positions, digits = np.empty(BLOCK, np.uint16), np.empty((5, BLOCK), np.int16)
        _count_and_slopes(*rows, table.reshape(-1), counts, sums, positions, digits, begin, end)

    _run_counting(work, len(rows[4]), [counts.reshape(len(counts), -1), sums], n_threads)


def count_scores(columns, coef, intercept, labels, low, counts, n_threads):
    rows = _rows(columns, coef, intercept, labels, _NO_NUMBERS, low, counts.shape[2])
    _run_count(rows, counts, n_threads)


def count_given(scores, labels, low, counts, outside, n_threads):
    def work(begin, end, counts, outside):
        room = np.empty(BLOCK, np.uint16)
        _count_given(scores, labels, low, width, counts, outside, room, begin, end)

    width = counts.shape[2]
    _run_counting(work, len(labels), [counts.reshape(len(counts), -1), outside], n_threads)


def count_scores_and_slopes(columns, coef, intercept, labels, low, digits, counts, sums, n_threads):
    rows = _rows(columns, coef, intercept, labels, _NO_NUMBERS, low, counts.shape[2])
    _run_count_and_slopes(rows, digits, counts, sums, n_threads)


def count_numbers(columns, coef, intercept, labels, numbers, low, counts, n_threads):
    rows = _rows(columns, coef, intercept, labels, numbers, low, counts.shape[2])
    _run_count(rows, counts, n_threads)


def count_numbers_and_slopes(
    columns, coef, intercept, labels, numbers, low, fixed_point, counts, sums, n_threads
):
    rows = _rows(columns, coef, intercept, labels, numbers, low, counts.shape[2])
    _run_count_and_slopes(rows, fixed_point, counts, sums, n_threads)


@kernel(read(int64, 2), write(float64))
def digits_gradient(sums, gradient):
    base = np.float64(DIGIT_BASE)
    for j in range(sums.shape[0]):
        high, low = blocks.add_product(0.0, 0.0, np.float64(sums[j, 2]), base * base)
        high, low = blocks.add_product(high, low, np.float64(sums[j, 1]), base)
        high, low = blocks.add(high, low, np.float64(sums[j, 0]))
        gradient[j] = (high + low) / DIGIT_SCALE


@kernel(read(int64, 2), write(float64))
def products_gradient(sums, gradient):
    for j in range(sums.shape[0]):
        high = low = 0.0
        for k in range(3, -1, -1):
            high, low = blocks.add(high * 65536.0, low * 65536.0, np.float64(sums[j, k]))
        gradient[j] = (high + low) / DIGIT_SCALE


# ---- rows with weights, wider scores ------------------------------------------------------------

# Columns, coefficients, intercept.
_MODEL = (read(int8, 2), read(int32), int64)


@helper
def _block_scores(scores, columns, coef, intercept, start):
    for i in range(scores.shape[0]):
        scores[i] = np.int32(intercept)
    for j in range(coef.shape[0]):
        if coef[j] != 0:
            blocks.add_column_i32(scores, columns[j, start : start + scores.shape[0]], coef[j])


@helper
def _block_positions(position, columns, coef, intercept, labels, low, width, start):
    _block_scores(position, columns, coef, intercept, start)
    blocks.split_classes(position, labels[start : start + position.shape[0]], low, width)


@kernel(*_MODEL, write(int32), int64, int64)
def _scores(columns, coef, intercept, out, begin, end):
    for start in range(begin, end, BLOCK):
        _block_scores(out[start : min(start + BLOCK, end)], columns, coef, intercept, start)


def scores(columns, coef, intercept, out, n_threads):
    def work(first, end, _):
        _scores(columns.T, coef, intercept, out, first * CHUNK, min(end * CHUNK, len(out)))

    run(work, n_chunks(len(out)), n_threads)


@kernel(*_MODEL, read(int8), int64, int64, write(int32), int64, int64)
def _positions(columns, coef, intercept, labels, low, width, out, begin, end):
    for start in range(begin, end, BLOCK):
        part = out[start : min(start + BLOCK, end)]
        _block_positions(part, columns, coef, intercept, labels, low, width, start)


def positions(columns, coef, intercept, labels, low, width, out, n_threads):
    arguments = (columns.T, coef, intercept, labels, low, width, out)
    run(
        lambda first, end, _: _positions(*arguments, first * CHUNK, min(end * CHUNK, len(out))),
        n_chunks(len(out)),
        n_threads,
    )


@kernel(*_MODEL, read(int8), int64, int64, write(int64), write(int32), int64, int64)
def _histogram(columns, coef, intercept, labels, low, width, counts, room, begin, end):
    for start in range(begin, end, BLOCK):
        position = room[: min(BLOCK, end - start)]
        _block_positions(position, columns, coef, intercept, labels, low, width, start)
        blocks.count(counts, position)


def histogram(columns, coef, intercept, labels, low, counts, n_threads):
    arguments = (columns.T, coef, intercept, labels, low, counts.shape[2])
    _run_counting(
        lambda begin, end, counts: _histogram(
            *arguments, counts, np.empty(BLOCK, np.int32), begin, end
        ),
        len(labels),
        [counts[0].reshape(-1)],
        n_threads,
    )


@kernel(
    *(*_MODEL, read(int8), read(float64), int64, int64, write(float64, 3), write(int32)),
    *(int64, int64),
)
def _weighted_histogram(
    columns, coef, intercept, labels, weights, low, width, sums, room, first, last
):
    n, parts = labels.shape[0], sums.shape[0]
    for part in range(first, last):
        end = part_begin(n, parts, part + 1)
        for start in range(part_begin(n, parts, part), end, BLOCK):
            stop = min(start + BLOCK, end)
            position = room[: stop - start]
            _block_positions(position, columns, coef, intercept, labels, low, width, start)
            blocks.count_weights(sums[part], weights[start:stop], position)


def weighted_histogram(columns, coef, intercept, labels, weights, low, total, error, n_threads):
    sums = np.zeros((n_parts.py_func(len(labels), total.size), total.size, 2))
    arguments = (columns.T, coef, intercept, labels, weights, low, total.shape[1], sums)
    run(
        lambda first, end, _: _weighted_histogram(
            *arguments, np.empty(BLOCK, np.int32), first, end
        ),
        len(sums),
        n_threads,
    )
    _add_to(total.reshape(-1), error.reshape(-1), sums)


def _add_to(total, error, sums):
    """Add sums by chunk to total + error."""
    both = np.stack((total, error), axis=1)
    add_chunks(sums, both)
    total[:], error[:] = both.T


@kernel(
    *(read(int32), read(int8), read(float64), int64, int64, read(float64), write(float64, 3)),
    *(write(int64), write(int32), write(float64), int64, int64),
)
def _given_loss(
    scores, labels, weights, low, width, losses, sums, outside, positions, lane, first, last
):
    for chunk in range(first, last):
        end = min((chunk + 1) * CHUNK, labels.shape[0])
        for start in range(chunk * CHUNK, end, BLOCK):
            stop = min(start + BLOCK, end)
            position = positions[: stop - start]
            n_outside = blocks.given_positions(
                position, scores[start:stop], labels[start:stop], low, width
            )
            outside[chunk] += n_outside
            if n_outside == 0:
                value = blocks.dot_table(weights[start:stop], losses, position, lane)
                blocks.add_to(sums[chunk], 0, value)


def given_loss(scores, labels, weights, low, losses, outside, n_threads):
    chunks, total = n_chunks(len(labels)), np.zeros((1, 2))
    sums, beyond = np.zeros((chunks, 1, 2)), np.zeros(chunks, np.int64)
    arguments = (scores, labels, weights, low, losses.shape[1], losses.reshape(-1), sums, beyond)

    def work(first, end, _):
        _given_loss(*arguments, np.empty(BLOCK, np.int32), np.empty(blocks.LANES), first, end)

    run(work, chunks, n_threads)
    add_chunks(sums, total)
    outside[0] += beyond.sum()
    return float(total[0, 0] + total[0, 1])


@kernel(read(int64, 3), int64, float64, read(float64), read(float64, 2))
def histogram_loss(counts, low, scale, tail, slope):
    hinge = 0
    value = value_low = first = first_low = second = second_low = 0.0
    for k in range(counts.shape[2]):
        negative = positive = 0
        for i in range(counts.shape[0]):
            negative += counts[i, 0, k]
            positive += counts[i, 1, k]
        s = low + k
        hinge += s * negative if s > 0 else -s * positive
        both = np.float64(negative + positive)
        value, value_low = blocks.add_product(value, value_low, both, tail[k])
        first, first_low = blocks.add_product(first, first_low, np.float64(negative), slope[0, k])
        second, second_low = blocks.add_product(
            second, second_low, np.float64(positive), slope[1, k]
        )
    value, value_low = blocks.add(value, value_low, np.float64(hinge) / scale)
    return value + value_low, first + first_low, second + second_low


@kernel(
    read(float64, 2), read(float64, 2), int64, float64, read(float64), read(float64, 2),
    write(float64, 2)
)  # fmt: skip
def _weighted_histogram_loss(total, error, low, scale, tail, slope, sums):
    for k in range(total.shape[1]):
        s = np.float64(low + k) / scale
        for c in range(2):
            hinge = max(s, 0.0) if c == 0 else max(-s, 0.0)
            for factor in (tail[k], hinge):
                sums[2, 0], sums[2, 1] = blocks.add_product(
                    sums[2, 0], sums[2, 1], total[c, k], factor
                )
            sums[2, 1] += error[c, k] * (tail[k] + hinge)
            sums[c, 0], sums[c, 1] = blocks.add_product(
                sums[c, 0], sums[c, 1], total[c, k], slope[c, k]
            )
            sums[c, 1] += error[c, k] * slope[c, k]


def weighted_histogram_loss(total, error, low, scale, tail, slope):
    sums = np.zeros((3, 2))
    _weighted_histogram_loss(total, error, low, scale, tail, slope, sums)
    negative, positive, loss = sums.sum(axis=1).tolist()
    return loss, negative, positive


@kernel(
    *(*_MODEL, read(float64, 3), read(int8), read(float64), int64, int64, read(float64)),
    *(write(float64, 3), write(int32), write(float64), write(float64), write(float64, 2)),
    *(int64, int64),
)
def _gradient(
    columns, coef, intercept, row_tiles, labels, weights, low, width, table, sums,
    positions, values, lane, products, first, last,
):  # fmt: skip
    n, d = labels.shape[0], coef.shape[0]
    for chunk in range(first, last):
        end = min((chunk + 1) * CHUNK, n)
        for start in range(chunk * CHUNK, end, BLOCK):
            stop = min(start + BLOCK, end)
            position, slopes = positions[: stop - start], values[: stop - start]
            _block_positions(position, columns, coef, intercept, labels, low, width, start)
            blocks.lookup(slopes, table, position)
            if weights.shape[0]:
                blocks.multiply(slopes, weights[start:stop])
            for j in range(d):
                value = blocks.dot(slopes, columns[j, start:stop], lane)
                blocks.add_to(sums[chunk], j, value)
            blocks.clear(products)
            blocks.add_row_tile_products(products, row_tiles, start, slopes, lane)
            for j in range(products.shape[0]):
                blocks.add_to(sums[chunk], d + j, blocks.fold_row_tile(products[j]))


def gradient(
    columns, coef, intercept, row_tiles, labels, weights, low, slope, total, error, n_threads
):
    sums = np.zeros((n_chunks(len(labels)), len(total), 2))
    arguments = (columns.T, coef, intercept, row_tiles, labels, weights, low)

    def work(first, end, _):
        products = np.empty((row_tiles.shape[1], blocks.ROW_TILE_LANES))
        scratch = np.empty(BLOCK, np.int32), np.empty(BLOCK), np.empty(blocks.LANES), products
        _gradient(*arguments, slope.shape[1], slope.reshape(-1), sums, *scratch, first, end)

    run(work, len(sums), n_threads)
    _add_to(total, error, sums)
