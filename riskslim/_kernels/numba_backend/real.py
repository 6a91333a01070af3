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

# Columns of integers, their coefficients, the non-zero ones of these; row tiles of reals, the
# indices and coefficients of the columns to be added; the intercept. As _model gives them.
_MODEL = (
    *(read(int8, 2), read(float64), read(int64)),
    *(read(float64, 3), read(int64), read(float64), float64),
)
_NO_SCORES = np.empty(0)


def _model(columns, coef, row_tiles, real_coef, intercept):
    real_used = np.flatnonzero(real_coef)
    used = np.flatnonzero(coef)
    return columns.T, coef, used, row_tiles, real_used, real_coef[real_used], intercept


@helper
def _block_scores(scores, columns, coef, used, row_tiles, real_used, factors, intercept, start):
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
    blocks.add_row_tiles(scores, row_tiles, start, real_used, factors)


@kernel(*_MODEL, write(float64), int64, int64)
def _scores(columns, coef, used, row_tiles, real_used, factors, intercept, out, begin, end):
    for start in range(begin, end, BLOCK):
        part = out[start : min(start + BLOCK, end)]
        _block_scores(part, columns, coef, used, row_tiles, real_used, factors, intercept, start)


def scores(columns, coef, row_tiles, real_coef, intercept, out, n_threads):
    model = _model(columns, coef, row_tiles, real_coef, intercept)
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
    columns, coef, used, row_tiles, real_used, factors, intercept, labels, weights,
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
                    scores, columns, coef, used, row_tiles, real_used, factors, intercept, start
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
    nothing = np.empty((0, 0), np.int8), np.empty(0), np.empty((0, 0, 16)), np.empty(0)
    return _summed_loss(_model(*nothing, 0.0), labels, weights, scores, n_threads)


def loss(columns, coef, row_tiles, real_coef, intercept, labels, weights, n_threads):
    model = _model(columns, coef, row_tiles, real_coef, intercept)
    return _summed_loss(model, labels, weights, _NO_SCORES, n_threads)


@kernel(
    *(*_MODEL, read(int8), read(float64), write(float64, 3), write(float64, 2), write(float64)),
    *(write(float64, 2), int64, int64),
)
def _loss_and_gradient(
    columns, coef, used, row_tiles, real_used, factors, intercept, labels, weights,
    sums, room, lane, products, first, last,
):  # fmt: skip
    d = coef.shape[0]
    for chunk in range(first, last):
        end, own = min((chunk + 1) * CHUNK, labels.shape[0]), sums[chunk]
        for start in range(chunk * CHUNK, end, BLOCK):
            stop = min(start + BLOCK, end)
            m = stop - start
            scores, slopes, strip = room[0, :m], room[1, :m], room[2:]
            _block_scores(
                scores, columns, coef, used, row_tiles, real_used, factors, intercept, start
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
            blocks.clear(products)
            blocks.add_row_tile_products(products, row_tiles, start, slopes, lane)
            for j in range(products.shape[0]):
                blocks.add_to(own, 2 + d + j, blocks.fold_row_tile(products[j]))


def loss_and_gradient(
    columns, coef, row_tiles, real_coef, intercept, labels, weights, gradient, error, n_threads
):
    model = _model(columns, coef, row_tiles, real_coef, intercept)
    sums, total = np.zeros((n_chunks(len(labels)), 1 + len(gradient), 2)), np.zeros((1, 2))

    def work(first, end, _):
        products = np.empty((row_tiles.shape[1], blocks.ROW_TILE_LANES))
        scratch = np.empty((4, BLOCK)), np.empty(blocks.LANES), products
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
    columns, coef, used, row_tiles, real_used, factors, intercept, weights, slot,
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
                scores, columns, coef, used, row_tiles, real_used, factors, intercept, start
            )
            blocks.score_curvatures(curvatures, scores)
            if weights.shape[0]:
                blocks.multiply(curvatures, weights[start:stop])
            for j in range(slot.shape[0]):
                if slot[j] >= 0:
                    for i in range(m):
                        tile[j + 1, i] = columns[slot[j], start + i]
                else:
                    blocks.unpack_column(tile[j + 1, :m], row_tiles, start, -1 - slot[j])
            product = 0
            for j in range(slot.shape[0] + 1):
                for i in range(m):
                    weighted[i] = curvatures[i] * tile[j, i]
                for k in range(j, slot.shape[0] + 1):
                    blocks.add_to(own, product, blocks.dot(weighted, tile[k, :m], lane))
                    product += 1


def hessian(columns, coef, row_tiles, real_coef, intercept, weights, slot, out, n_threads):
    model = _model(columns, coef, row_tiles, real_coef, intercept)
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


@kernel(
    *(read(float64), read(float64), read(float64), float64, write(float64, 2), write(float64, 2)),
    write(float64),
)
def _scale_derivatives(scores, positive, negative, t, room, sums, lane):
    for start in range(0, scores.shape[0], BLOCK):
        stop = min(start + BLOCK, scores.shape[0])
        m = stop - start
        s, losses, slopes, curvatures = room[0, :m], room[1, :m], room[2, :m], room[3, :m]
        for i in range(m):
            s[i] = t * scores[start + i]
        blocks.class_losses(
            losses, slopes, curvatures, s, positive[start:stop], negative[start:stop]
        )
        blocks.add_to(sums, 0, blocks.total(losses, lane))
        blocks.add_to(sums, 1, blocks.dot(slopes, scores[start:stop], lane))
        for i in range(m):
            s[i] = scores[start + i] * scores[start + i]
        blocks.add_to(sums, 2, blocks.dot(curvatures, s, lane))


def scale_derivatives(scores, positive, negative, t):
    sums = np.zeros((3, 2))
    scratch = np.empty((4, BLOCK)), sums, np.empty(blocks.LANES)
    _scale_derivatives(scores, positive, negative, t, *scratch)
    return tuple(sums.sum(axis=1).tolist())
