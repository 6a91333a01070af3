"""Numba counterpart of additive.pyx: the same kernels, arguments and results."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, int64, uint16

from riskslim._kernels.numba_backend import blocks
from riskslim._kernels.numba_backend.blocks import BLOCK, stopped
from riskslim._kernels.numba_backend.compiled import helper, kernel, read, write
from riskslim._kernels.numba_backend.nodes import row_losses

_RESIDUAL = 0.01
_LONGEST = 2.0
_STALE = 0.25
_HALVINGS = 8
_RIDGE = 1e-7


class _Model(NamedTuple):
    codes: np.ndarray
    live: np.ndarray
    first: np.ndarray
    positive: np.ndarray
    negative: np.ndarray
    scores: np.ndarray
    losses: np.ndarray
    slopes: np.ndarray
    sizes: np.ndarray
    curvatures: np.ndarray
    lane: np.ndarray
    totals: np.ndarray
    stop: np.ndarray


@helper
def _look(model, effects, sums):
    """Loss, its slopes by effects, and curvatures of rows; False if work is to end."""
    n, totals = model.positive.shape[0], model.totals
    totals[0, 0] = totals[0, 1] = totals[1, 0] = totals[1, 1] = 0.0
    for i in range(model.first[model.live.shape[0]]):
        sums[i] = 0.0
    for start in range(0, n, BLOCK):
        if stopped(model.stop):
            return False
        stop = min(start + BLOCK, n)
        scores, losses = model.scores[: stop - start], model.losses[: stop - start]
        slopes, sizes = model.slopes[: stop - start], model.sizes[: stop - start]
        for i in range(stop - start):
            scores[i] = 0.0
        for v in range(model.live.shape[0]):
            code, first = model.codes[model.live[v]], model.first[v]
            for i in range(stop - start):
                scores[i] += effects[first + np.int64(code[start + i])]
        row_losses(
            losses, slopes, model.curvatures[start:stop], scores,
            model.positive[start:stop], model.negative[start:stop],
        )  # fmt: skip
        blocks.add_to(totals, 0, blocks.total(losses, model.lane))
        for i in range(stop - start):
            sizes[i] = abs(slopes[i])
        blocks.add_to(totals, 1, blocks.total(sizes, model.lane))
        for v in range(model.live.shape[0]):
            code, first = model.codes[model.live[v]], model.first[v]
            for i in range(stop - start):
                sums[first + np.int64(code[start + i])] += slopes[i]
    return True


@helper
def _fill_hessian(model, hessian, joint):
    """Second derivatives by all pairs of effects; False if work is to end."""
    first, curvatures = model.first, model.curvatures
    p, n = hessian.shape[0], curvatures.shape[0]
    for a in range(p):
        for b in range(p):
            hessian[a, b] = 0.0
    for u in range(model.live.shape[0]):
        one = model.codes[model.live[u]]
        height = first[u + 1] - first[u]
        for i in range(n):
            a = first[u] + np.int64(one[i])
            hessian[a, a] += curvatures[i]
        for v in range(u):
            if stopped(model.stop):
                return False
            other = model.codes[model.live[v]]
            width = first[v + 1] - first[v]
            for k in range(height * width):
                joint[k] = 0.0
            for i in range(n):
                joint[np.int64(one[i]) * width + np.int64(other[i])] += curvatures[i]
            for a in range(height):
                for b in range(width):
                    hessian[first[u] + a, first[v] + b] = joint[a * width + b]
                    hessian[first[v] + b, first[u] + a] = joint[a * width + b]
    return True


@helper
def _solve(hessian, gradient, step, residual, direction, image, inverse):
    """Conjugate gradients for hessian step = gradient, with its diagonal as preconditioner."""
    p, size = hessian.shape[0], 0.0
    for i in range(p):
        step[i] = 0.0
        residual[i] = gradient[i]
        inverse[i] = hessian[i, i]
        inverse[i] = 1.0 / (inverse[i] * (1.0 + _RIDGE)) if inverse[i] > 1e-300 else 0.0
        direction[i] = inverse[i] * residual[i]
        size += residual[i] * direction[i]
    least = _RESIDUAL * _RESIDUAL * size
    for _ in range(p):
        if not size > least:
            return
        for i in range(p):
            image[i] = _RIDGE * hessian[i, i] * direction[i]
        for j in range(p):
            if direction[j] != 0.0:
                a = direction[j]
                for i in range(p):
                    image[i] += a * hessian[j, i]
        length = 0.0
        for i in range(p):
            length += direction[i] * image[i]
        if not length > 0.0:
            return
        alpha = size / length
        before, size = size, 0.0
        for i in range(p):
            step[i] += alpha * direction[i]
            residual[i] -= alpha * image[i]
            size += residual[i] * inverse[i] * residual[i]
        for i in range(p):
            direction[i] = inverse[i] * residual[i] + (size / before) * direction[i]


@helper
def _steepest(model, sums):
    """Largest slope by a run of the first effects of a family, as cut-offs have them."""
    largest = 0.0
    for v in range(model.live.shape[0]):
        run = 0.0
        for i in range(model.first[v], model.first[v + 1]):
            run += sums[i]
            largest = max(largest, max(abs(run), abs(sums[i])))
    return largest


def scratch_size(n: int, p: int, largest: int) -> int:
    """Number of float64 that :func:`linearise` and :func:`fit` work in."""
    return 4 * BLOCK + n + p * p + largest * largest + 7 * p + blocks.LANES + 4


@helper
def _described(codes, live, first, positive, negative, stop, work):
    """The model, and where the room behind it begins."""
    n, at = positive.shape[0], 4 * BLOCK
    lane = at + n
    totals = lane + blocks.LANES
    return _Model(
        codes, live, first, positive, negative, work[:BLOCK], work[BLOCK : 2 * BLOCK],
        work[2 * BLOCK : 3 * BLOCK], work[3 * BLOCK : at], work[at:lane], work[lane:totals],
        work[totals : totals + 4].reshape((2, 2)), stop,
    ), totals + 4  # fmt: skip


_COMMON = (read(uint16, 2), read(int64), read(int64))


@kernel(
    *_COMMON, read(float64), read(float64), read(float64), write(float64), write(float64),
    write(int64), write(float64),
)  # fmt: skip
def linearise(codes, live, first, effects, positive, negative, sums, out, stop, work):
    model, _ = _described(codes, live, first, positive, negative, stop, work)
    is_done = _look(model, effects, sums)
    out[0] = model.totals[0, 0] + model.totals[0, 1]
    out[1] = model.totals[1, 0] + model.totals[1, 1]
    return is_done


@kernel(
    *_COMMON, write(float64), read(float64), read(float64), float64, float64, float64, int64,
    write(float64), write(int64), write(float64),
)  # fmt: skip
def fit(
    codes, live, first, effects, positive, negative, reach, target, tolerance, most, out, stop, work
):
    model, at = _described(codes, live, first, positive, negative, stop, work)
    p = first[live.shape[0]]
    sums, trial, step = work[at : at + p], work[at + p : at + 2 * p], work[at + 2 * p : at + 3 * p]
    at += 3 * p
    residual, direction = work[at : at + p], work[at + p : at + 2 * p]
    image, inverse = work[at + 2 * p : at + 3 * p], work[at + 3 * p : at + 4 * p]
    at += 4 * p
    hessian, joint = work[at : at + p * p].reshape((p, p)), work[at + p * p :]
    passes, loss, bound, before = 1, 0.0, 0.0, 0.0
    totals = model.totals
    goes_on = _look(model, effects, sums)
    if goes_on:
        loss = totals[0, 0] + totals[0, 1]
    taken = 0
    while goes_on and taken < most:
        steepness = _steepest(model, sums)
        bound = loss - reach * steepness
        for i in range(p):
            bound -= sums[i] * effects[i]
        if bound >= target or loss - bound <= tolerance:
            break
        is_stale = taken > 0 and steepness <= _STALE * before
        if not is_stale and not _fill_hessian(model, hessian, joint):
            break
        taken += 1
        before = steepness
        _solve(hessian, sums, step, residual, direction, image, inverse)
        largest = 0.0
        for i in range(p):
            largest = max(largest, abs(step[i]))
        if largest > _LONGEST:
            for i in range(p):
                step[i] *= _LONGEST / largest
        is_better, halving = False, 0
        while not is_better and halving < _HALVINGS:
            for i in range(p):
                trial[i] = effects[i] - step[i]
            passes += 1
            if not _look(model, trial, sums):
                break
            is_better = totals[0, 0] + totals[0, 1] < loss
            if not is_better:
                for i in range(p):
                    step[i] *= 0.5
            halving += 1
        if is_better:
            loss = totals[0, 0] + totals[0, 1]
            for i in range(p):
                effects[i] = trial[i]
        elif is_stale:
            before = 0.0  # the second derivatives were those of another point
            passes += 1
            goes_on = _look(model, effects, sums)
            if goes_on:
                loss = totals[0, 0] + totals[0, 1]
        else:
            break
    out[0], out[1] = loss, bound
    return passes
