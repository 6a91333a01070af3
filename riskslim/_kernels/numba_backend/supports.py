"""Numba counterpart of supports.pyx: the same kernels, arguments and results."""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int8, int32, int64, uint64

from riskslim._kernels.numba_backend import chunks
from riskslim._kernels.numba_backend.compiled import helper, inlined, kernel, read, write

_WORDS = 512
_MOST_PLANES = 16
_FAR = 1e300
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_M1, _M2 = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_M4, _H01 = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
_S1, _S2, _S4, _S56 = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)


def most_planes():
    return _MOST_PLANES


@inlined
def _bits(x):
    """Number of bits of a word; LLVM knows this pattern for a population count."""
    x = x - ((x >> _S1) & _M1)
    x = (x & _M2) + ((x >> _S2) & _M2)
    x = (x + (x >> _S4)) & _M4
    return np.int64((x * _H01) >> _S56)


@kernel(
    read(int8, 2), read(int64), read(int8), read(int64), write(uint64, 2)
)  # columns come transposed: rows of a C-ordered array
def _pack_planes(columns, column, value, order, planes):
    for p in range(planes.shape[0]):
        x = columns[column[p]]
        for w in range(planes.shape[1]):
            word = _ZERO
            for i in range(64):
                row = order[64 * w + i]
                if row >= 0 and x[row] == value[p]:
                    word |= _ONE << np.uint64(i)
            planes[p, w] = word


def pack_planes(columns, column, value, order, planes):
    _pack_planes(columns.T, column, value, order, planes)


@helper
def _count_and(a, b):
    total = 0
    for i in range(a.shape[0]):
        total += _bits(a[i] & b[i])
    return total


@helper
def _and_count(out, a, b):
    total = 0
    for i in range(a.shape[0]):
        both = a[i] & b[i]
        out[i] = both
        total += _bits(both)
    return total


@helper
def _and_not(out, a, b):
    left = _ZERO
    for i in range(a.shape[0]):
        out[i] = a[i] & ~b[i]
        left |= out[i]
    return left != _ZERO


@helper
def _count_sets(planes, chosen, begin, end, scratch, counts):
    """Rows that have every plane of a set, depth first over the sets: masks of each depth.

    A set is followed by itself and its next plane, else by the next one in the place of its last.
    """
    k, n = chosen.shape[0], end - begin
    top = np.int64(0)  # number of planes in the present set
    path = 0  # the set
    a = 0  # the plane that is tried next
    while True:
        if a < k:
            plane = planes[chosen[a], begin:end]
            out = scratch[a * _WORDS : a * _WORDS + n]
            if top == 0:
                count = _and_count(out, plane, plane)
            else:
                last = 0
                for b in range(a):
                    if path >> b & 1:
                        last = b
                mask = scratch[last * _WORDS : last * _WORDS + n]
                count = _and_count(out, mask, plane)
            counts[path | 1 << a] += count
            if count and a + 1 < k:
                path |= 1 << a
                top += 1
            a += 1
        else:
            if top == 0:
                return
            last = 0
            for b in range(k):
                if path >> b & 1:
                    last = b
            path ^= 1 << last
            top -= 1
            a = last + 1


@kernel(
    read(uint64, 2), read(int64), read(int64), read(int64), write(int64), write(uint64, 2),
    write(int64, 3),
)  # fmt: skip
def count_cells(planes, chosen, first_word, n_rows, first_share, scratch, counts):
    k = chosen.shape[0]
    counts[:, :, :] = 0
    for g in range(n_rows.shape[0]):
        own = counts[0, g]
        own[0] = n_rows[g]
        begin = first_word[g]
        while begin < first_word[g + 1]:
            end = min(begin + _WORDS, first_word[g + 1])
            if k:
                _count_sets(planes, chosen, begin, end, scratch[0], own)
            begin = end
        for a in range(k):
            for s in range(1 << k):
                if not s >> a & 1:
                    own[s] -= own[s | 1 << a]


@kernel(read(uint64, 2), read(int64), read(uint64), read(int32), write(uint64, 2), write(uint64, 2))
def fill_masks(planes, chosen, valid, group, room, masks):
    k, n_words, scratch = chosen.shape[0], planes.shape[1], room[0]
    masks[:, :] = _ZERO
    for begin in range(0, n_words, _WORDS):
        n = min(_WORDS, n_words - begin)
        # The path from the root: which side of each plane is looked at. 0 with the plane, 1
        # without it, 2 neither any more.
        cell, a = 0, 0
        side = 0  # two bits per plane
        rows = valid[begin : begin + n]
        while True:
            if a == k:
                if group[cell] >= 0:
                    out = masks[group[cell], begin : begin + n]
                    rows = (
                        scratch[(k - 1) * _WORDS : (k - 1) * _WORDS + n]
                        if k
                        else valid[begin : begin + n]
                    )
                    for i in range(n):
                        out[i] |= rows[i]
                a -= 1
                if a < 0:
                    break
                continue
            state = side >> (2 * a) & 3
            if state == 2:
                side &= ~(3 << (2 * a))
                a -= 1
                if a < 0:
                    break
                continue
            side += 1 << (2 * a)
            plane = planes[chosen[a], begin : begin + n]
            out = scratch[a * _WORDS : a * _WORDS + n]
            above = (
                scratch[(a - 1) * _WORDS : (a - 1) * _WORDS + n] if a else valid[begin : begin + n]
            )
            if state == 0:
                some = _and_count(out, above, plane) > 0
                cell |= 1 << a
            else:
                some = _and_not(out, above, plane)
                cell &= ~(1 << a)
            if some:
                a += 1


@kernel(
    read(uint64, 2), read(int64), read(uint64, 2), read(int64), read(int64), read(float64),
    write(float64, 3), read(int64), int64, int64,
)  # fmt: skip
def _count_joint(planes, chosen, masks, first_word, side, weight, out, stop, begin, end):
    for item in range(begin, end):
        if stop[0]:
            return
        p = chosen[item]
        out[p] = 0.0
        for g in range(side.shape[0]):
            plane = planes[p, first_word[g] : first_word[g + 1]]
            for r in range(masks.shape[0]):
                count = _count_and(plane, masks[r, first_word[g] : first_word[g + 1]])
                out[p, side[g], r] += weight[g] * np.float64(count)


def count_joint(planes, chosen, masks, first_word, side, weight, out, stop, n_threads):
    def work(begin, end, worker):
        _count_joint(planes, chosen, masks, first_word, side, weight, out, stop, begin, end)

    chunks.run(work, len(chosen), n_threads)


# ---- the best step of every item ------------------------------------------------------------


@helper
def _sum(weights, position, table, part, shift):
    a = b = 0.0
    for r in range(position.shape[0]):
        at = position[r] + shift
        a += weights[part, 0, r] * table[0, at]
        b += weights[part, 1, r] * table[1, at]
    return a + b


@helper
def _loss_of(weights, values, position, losses, shift, step):
    total = 0.0
    for q in range(values.shape[0]):
        total += _sum(weights, position, losses, q, shift + step * values[q])
    return total


@helper
def _slope_of(weights, values, position, slopes, shift, step, by_step):
    total = 0.0
    for q in range(values.shape[0]):
        if by_step and values[q] == 0:
            continue
        slope = _sum(weights, position, slopes, q, shift + step * values[q])
        total += np.float64(values[q]) * slope if by_step else slope
    return total


@helper
def _best_part_shift(weights, position, losses, slopes, part, low, high):
    first = low
    while low < high:
        middle = low + (high - low) // 2
        if _sum(weights, position, slopes, part, middle) < 0.0:
            low = middle + 1
        else:
            high = middle
    if low > first and (
        _sum(weights, position, losses, part, low - 1) <= _sum(weights, position, losses, part, low)
    ):
        low -= 1
    return low


@helper
def _best_shift(weights, values, position, losses, slopes, step, low, high):
    first = low
    while low < high:
        middle = low + (high - low) // 2
        if _slope_of(weights, values, position, slopes, middle, step, False) < 0.0:
            low = middle + 1
        else:
            high = middle
    if low > first and (
        _loss_of(weights, values, position, losses, low - 1, step)
        <= _loss_of(weights, values, position, losses, low, step)
    ):
        low -= 1
    return low


@helper
def _best_step_at(weights, values, position, losses, slopes, shift, low, high):
    first = low
    while low < high:
        middle = low + (high - low) // 2
        if _slope_of(weights, values, position, slopes, shift, middle, True) < 0.0:
            low = middle + 1
        else:
            high = middle
    if low > first and (
        _loss_of(weights, values, position, losses, shift, low - 1)
        <= _loss_of(weights, values, position, losses, shift, low)
    ):
        low -= 1
    return low


@helper
def _settle(weights, values, position, losses, slopes, step, low, high, i, loss, best, shift):
    at = _best_shift(weights, values, position, losses, slopes, step, low, high)
    value = _loss_of(weights, values, position, losses, at, step)
    if value < loss[i]:
        loss[i] = value
        best[i] = step
        shift[i] = at


@helper
def _best_of_item(
    weights, values, position, losses, slopes, lower, upper, low, high, i, loss, best, shift
):
    loss[i] = _FAR
    best[i] = shift[i] = 0
    if values.shape[0] == 2 and values[0] == 0 and values[1] == 1:
        at = _best_part_shift(weights, position, losses, slopes, 0, low, high)
        on = _best_part_shift(weights, position, losses, slopes, 1, low + lower, high + upper)
        step = on - at
    else:
        step = at = 0
        for _ in range(8):
            before = step
            step = _best_step_at(weights, values, position, losses, slopes, at, lower, upper)
            at = _best_shift(weights, values, position, losses, slopes, step, low, high)
            if step == before:
                break
    step = max(lower, min(upper, step))
    arguments = weights, values, position, losses, slopes
    if step != 0:
        _settle(*arguments, step, low, high, i, loss, best, shift)
    else:
        if upper >= 1 and lower <= 1:
            _settle(*arguments, 1, low, high, i, loss, best, shift)
        if lower <= -1 and upper >= -1:
            _settle(*arguments, -1, low, high, i, loss, best, shift)


@kernel(
    read(float64, 3), read(float64, 2), read(int64), read(int64), read(int64), read(int64),
    read(float64, 2), read(float64, 2), read(int64), read(int64), int64, int64,
    write(float64), write(int64), read(int64), write(float64), write(int64), write(int64),
    read(int64),
)  # fmt: skip
def best_steps(
    joint, total, first, values, base, position, losses, slopes, lower, upper, low, high,
    work, work_values, chosen, loss, step, shift, stop,
):  # fmt: skip
    n = total.shape[1]
    for i in chosen:
        if stop[0]:
            loss[i] = _FAR
            continue
        n_parts = first[i + 1] - first[i] + 1
        weights = work[: 2 * n * n_parts].reshape((n_parts, 2, n))
        work_values[0] = base[i]
        for r in range(n):
            weights[0, 0, r] = total[0, r]
            weights[0, 1, r] = total[1, r]
        for q in range(first[i], first[i + 1]):
            part = q - first[i] + 1
            work_values[part] = values[q]
            for r in range(n):
                weights[part, 0, r] = joint[q, 0, r]
                weights[part, 1, r] = joint[q, 1, r]
                weights[0, 0, r] -= joint[q, 0, r]
                weights[0, 1, r] -= joint[q, 1, r]
        _best_of_item(
            weights, work_values[:n_parts], position, losses, slopes, lower[i], upper[i], low,
            high, i, loss, step, shift,
        )  # fmt: skip


# ---- points polished on cells ---------------------------------------------------------------


@helper
def _loss_after(x, weights, position, losses, a, by, b, and_by):
    width = losses.shape[1]
    first = second = 0.0
    for i in range(x.shape[1]):
        at = position[i] + by * x[a, i] + and_by * x[b, i]
        if at < 0 or at >= width:
            return _FAR
        first += weights[0, i] * losses[0, at]
        second += weights[1, i] * losses[1, at]
    return first + second


@helper
def _move(x, position, points, a, by, b, and_by):
    for i in range(x.shape[1]):
        position[i] += by * x[a, i] + and_by * x[b, i]
    points[a] += by
    points[b] += and_by


@inlined
def _allowed(points, lower, upper, a, by):
    return lower[a] <= points[a] + by and points[a] + by <= upper[a]


@helper
def _descend(x, weights, position, points, lower, upper, losses, step, pairs, loss):
    p = x.shape[0]
    while True:
        n_moves = 0
        for a in range(p):
            for i in range(2):
                by = -step if i == 0 else step
                while _allowed(points, lower, upper, a, by):
                    after = _loss_after(x, weights, position, losses, a, by, a, 0)
                    if not after < loss - 1e-13:
                        break
                    _move(x, position, points, a, by, a, 0)
                    loss = after
                    n_moves += 1
        if n_moves or not pairs:
            if not n_moves:
                return loss
            continue
        for a in range(p):
            for b in range(a + 1, p):
                for i in range(-2, 3):
                    for j in range(-2, 3):
                        if i * j == 0 or (i * i == 4 and j * j == 4):
                            continue
                        by, and_by = i * step, j * step
                        if not (
                            _allowed(points, lower, upper, a, by)
                            and _allowed(points, lower, upper, b, and_by)
                        ):
                            continue
                        after = _loss_after(x, weights, position, losses, a, by, b, and_by)
                        if after < loss - 1e-13:
                            _move(x, position, points, a, by, b, and_by)
                            loss = after
                            n_moves += 1
        if not n_moves:
            return loss


@kernel(
    read(int64, 2), read(float64, 2), write(int64), read(int64), read(int64), read(float64, 2),
    int64, read(int64), boolean, write(int64),
)  # fmt: skip
def polish(x, weights, points, lower, upper, losses, low, steps, pairs, position):
    for i in range(x.shape[1]):
        position[i] = -low
        for a in range(x.shape[0]):
            position[i] += points[a] * x[a, i]
    loss = _loss_after(x, weights, position, losses, 0, 0, 0, 0)
    if loss < _FAR:
        for i in range(steps.shape[0]):
            loss = _descend(
                x, weights, position, points, lower, upper, losses, steps[i], pairs, loss
            )
    return loss
