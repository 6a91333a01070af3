"""Numba counterpart of real.pyx: the same kernels, arguments and results."""

from __future__ import annotations

import numpy as np
from numba import float64, int8, int64

from riskslim._kernels.numba_backend import blocks
from riskslim._kernels.numba_backend.blocks import BLOCK
from riskslim._kernels.numba_backend.chunks import (
    CHUNK,
    add_chunks,
    n_chunks,
    n_parts,
    part_begin,
    run,
)
from riskslim._kernels.numba_backend.compiled import helper, kernel, read, write

# Columns of integers, their coefficients, the non-zero ones of these; columns of reals, the indices
# and coefficients of those to be added; the intercept. As _model gives them.
_MODEL = (
    *(read(int8, 2), read(float64), read(int64)),
    *(read(float64, 2), read(int64), read(float64), float64),
)
_NO_SCORES = np.empty(0)


def _model(columns, coef, real_columns, real_coef, intercept):
    real_used = np.flatnonzero(real_coef)
    factors = real_coef[real_used]
    rest = len(real_used) % 8
    if rest > 1:  # the first column of the rest once more, zero times, fills up the eight
        real_used = np.append(real_used, np.repeat(real_used[-rest], 8 - rest))
        factors = np.append(factors, np.zeros(8 - rest))
    used = np.flatnonzero(coef)
    return columns.T, coef, used, real_columns.T, real_used, factors, intercept


@helper
def _block_scores(scores, columns, coef, used, real_columns, real_used, factors, intercept, start):
    stop = start + scores.shape[0]
    for i in range(scores.shape[0]):
        scores[i] = intercept
    whole = used.shape[0] // 4 * 4
    for k in range(0, whole, 4):
        j0, j1, j2, j3 = used[k], used[k + 1], used[k + 2], used[k + 3]
        blocks.add_4_columns_i8(
            scores,
            columns[j0, start:stop],
            columns[j1, start:stop],
            columns[j2, start:stop],
            columns[j3, start:stop],
            coef[j0],
            coef[j1],
            coef[j2],
            coef[j3],
        )
    for k in range(whole, used.shape[0]):
        blocks.add_column_i8(scores, columns[used[k], start:stop], coef[used[k]])
    _add_real_columns(scores, real_columns, real_used, factors, start)


@helper
def _add_real_columns(scores, columns, used, c, start):
    stop = start + scores.shape[0]
    whole = used.shape[0] // 8 * 8
    for k in range(0, whole, 8):
        blocks.add_8_columns_f64(
            scores,
            columns[used[k], start:stop],
            columns[used[k + 1], start:stop],
            columns[used[k + 2], start:stop],
            columns[used[k + 3], start:stop],
            columns[used[k + 4], start:stop],
            columns[used[k + 5], start:stop],
            columns[used[k + 6], start:stop],
            columns[used[k + 7], start:stop],
            c[k],
            c[k + 1],
            c[k + 2],
            c[k + 3],
            c[k + 4],
            c[k + 5],
            c[k + 6],
            c[k + 7],
        )
    for k in range(whole, used.shape[0]):
        blocks.add_column_f64(scores, columns[used[k], start:stop], c[k])


@kernel(*_MODEL, write(float64), int64, int64)
def _scores(columns, coef, used, real_columns, real_used, factors, intercept, out, begin, end):
    for start in range(begin, end, BLOCK):
        part = out[start : min(start + BLOCK, end)]
        _block_scores(part, columns, coef, used, real_columns, real_used, factors, intercept, start)


def scores(columns, coef, real_columns, real_coef, intercept, out, n_threads):
    model = _model(columns, coef, real_columns, real_coef, intercept)
    run(
        lambda first, end, _: _scores(*model, out, first * CHUNK, min(end * CHUNK, len(out))),
        n_chunks(len(out)),
        n_threads,
    )


# Labels, weights, scores that need not be computed (or none).
@kernel(
    *(*_MODEL, read(int8), read(float64), read(float64), write(float64, 3), write(float64, 2)),
    *(write(float64), int64, int64),
)
def _loss(
    columns, coef, used, real_columns, real_used, factors, intercept, labels, weights,
    given, sums, room, lane, first, last,
):  # fmt: skip
    for chunk in range(first, last):
        end = min((chunk + 1) * CHUNK, labels.shape[0])
        for start in range(chunk * CHUNK, end, BLOCK):
            stop = min(start + BLOCK, end)
            scores, strip = room[0, : stop - start], room[1:]
            if given.shape[0]:
                for i in range(stop - start):
                    scores[i] = given[start + i]
            else:
                _block_scores(
                    scores, columns, coef, used, real_columns, real_used, factors, intercept, start
                )
            value = blocks.sum_losses(scores, labels[start:stop], weights[start:stop], strip, lane)
            blocks.add_to(sums[chunk], 0, value)


def _summed_loss(model, labels, weights, given, n_threads):
    sums, total = np.zeros((n_chunks(len(labels)), 1, 2)), np.zeros((1, 2))

    def work(first, end, _):
        scratch = np.empty((3, BLOCK)), np.empty(blocks.LANES)
        _loss(*model, labels, weights, given, sums, *scratch, first, end)

    run(work, len(sums), n_threads)
    add_chunks(sums, total)
    return float(total[0, 0] + total[0, 1])


def scores_loss(scores, labels, weights, n_threads):
    nothing = np.empty((0, 0), np.int8), np.empty(0), np.empty((0, 0)), np.empty(0)
    return _summed_loss(_model(*nothing, 0.0), labels, weights, scores, n_threads)


def loss(columns, coef, real_columns, real_coef, intercept, labels, weights, n_threads):
    model = _model(columns, coef, real_columns, real_coef, intercept)
    return _summed_loss(model, labels, weights, _NO_SCORES, n_threads)


@kernel(
    *(*_MODEL, read(int8), read(float64), write(float64, 3), write(float64, 2), write(float64)),
    *(int64, int64),
)
def _loss_and_gradient(
    columns, coef, used, real_columns, real_used, factors, intercept, labels, weights,
    sums, room, lane, first, last,
):  # fmt: skip
    d = coef.shape[0]
    for chunk in range(first, last):
        end, own = min((chunk + 1) * CHUNK, labels.shape[0]), sums[chunk]
        for start in range(chunk * CHUNK, end, BLOCK):
            stop = min(start + BLOCK, end)
            m = stop - start
            scores, slopes, strip = room[0, :m], room[1, :m], room[2:]
            _block_scores(
                scores, columns, coef, used, real_columns, real_used, factors, intercept, start
            )
            value = blocks.sum_losses_and_slopes(
                slopes, scores, labels[start:stop], weights[start:stop], strip, lane
            )
            blocks.add_to(own, 0, value)
            if weights.shape[0]:
                blocks.multiply(slopes, weights[start:stop])
            blocks.add_to(own, 1, blocks.total(slopes, lane))
            for j in range(d):
                blocks.add_to(own, 2 + j, blocks.dot(slopes, columns[j, start:stop], lane))
            for j in range(real_columns.shape[0]):
                value = blocks.dot(slopes, real_columns[j, start:stop], lane)
                blocks.add_to(own, 2 + d + j, value)


def loss_and_gradient(
    columns, coef, real_columns, real_coef, intercept, labels, weights, gradient, error, n_threads
):
    model = _model(columns, coef, real_columns, real_coef, intercept)
    sums, total = np.zeros((n_chunks(len(labels)), 1 + len(gradient), 2)), np.zeros((1, 2))

    def work(first, end, _):
        scratch = np.empty((4, BLOCK)), np.empty(blocks.LANES)
        _loss_and_gradient(*model, labels, weights, sums, *scratch, first, end)

    run(work, len(sums), n_threads)
    total = np.concatenate(([[0.0, 0.0]], np.stack((gradient, error), axis=1)))
    add_chunks(sums, total)
    gradient[:], error[:] = total[1:].T
    return float(total[0, 0] + total[0, 1])


@kernel(
    *(*_MODEL, read(float64), read(int64), write(float64, 3), write(float64, 2), write(float64, 2)),
    *(write(float64), int64, int64),
)
def _hessian(
    columns, coef, used, real_columns, real_used, factors, intercept, weights, slot,
    sums, room, tile, lane, first, last,
):  # fmt: skip
    n = columns.shape[1]
    for part in range(first, last):
        end, own = part_begin(n, sums.shape[0], part + 1), sums[part]
        for start in range(part_begin(n, sums.shape[0], part), end, BLOCK):
            stop = min(start + BLOCK, end)
            m = stop - start
            scores, curvatures, weighted = room[0, :m], room[1, :m], room[2, :m]
            _block_scores(
                scores, columns, coef, used, real_columns, real_used, factors, intercept, start
            )
            blocks.score_curvatures(curvatures, scores)
            if weights.shape[0]:
                blocks.multiply(curvatures, weights[start:stop])
            for j in range(slot.shape[0]):
                if slot[j] >= 0:
                    for i in range(m):
                        tile[j + 1, i] = columns[slot[j], start + i]
                else:
                    for i in range(m):
                        tile[j + 1, i] = real_columns[-1 - slot[j], start + i]
            product = 0
            for j in range(slot.shape[0] + 1):
                for i in range(m):
                    weighted[i] = curvatures[i] * tile[j, i]
                for k in range(j, slot.shape[0] + 1):
                    blocks.add_to(own, product, blocks.dot(weighted, tile[k, :m], lane))
                    product += 1


def hessian(columns, coef, real_columns, real_coef, intercept, weights, slot, out, n_threads):
    model = _model(columns, coef, real_columns, real_coef, intercept)
    upper = np.triu_indices(len(out))
    products = len(upper[0])
    sums = np.zeros((n_parts.py_func(len(columns), products), products, 2))

    def work(first, end, _):
        scratch = np.empty((3, BLOCK)), np.ones((len(out), BLOCK)), np.empty(blocks.LANES)
        _hessian(*model, weights, slot, sums, *scratch, first, end)

    run(work, len(sums), n_threads)
    total = np.zeros((products, 2))
    add_chunks(sums, total)
    out[upper] = total.sum(axis=1)
    out.T[upper] = out[upper]
