"""Numba counterpart of heuristics.pyx: the same kernels, arguments and results.

What the kernels do, and why, is told there. Structures are named tuples here; those of their
fields that change are arrays of one or a few entries. Constants are cast where they are passed
on, since numba compiles a function anew for every literal. Both kernels run on one thread whatever
``n_threads`` is: the results do not depend on it.
"""

from __future__ import annotations

from math import ceil, exp, floor, inf, log
from typing import Any, NamedTuple

import numpy as np
from numba import boolean, float64, int8, int16, int32, int64, uint8

from riskslim._kernels.numba_backend import blocks, odds
from riskslim._kernels.numba_backend.blocks import BLOCK, stopped
from riskslim._kernels.numba_backend.chunks import CHUNK, n_chunks, n_parts, part_begin
from riskslim._kernels.numba_backend.compiled import helper, kernel, read, write

# Of _RowsAlongLines, as _scratch makes it.
_SCRATCH = (
    *(write(int32), write(float64, 2), write(float64), write(float64, 3)),
    *(write(int64), write(float64, 3), write(int64)),
)


def _scratch(n_lines, n_reals):
    return (
        np.empty(BLOCK, np.int32),
        np.empty((4, BLOCK)),
        np.empty(blocks.LANES),
        np.empty((2, 2 * n_lines + 1, 2)),
        np.empty(n_reals, np.int64),
        np.empty((n_reals, 2, blocks.ROW_TILE_LANES)),
        np.zeros(1, np.int64),
    )


# ---- rows, and the loss along a line ----------------------------------------------------


class _RowsAlongLines(NamedTuple):
    columns: Any  # transposed
    row_tiles: Any
    slot: Any  # of feature j: k for integer column k, -1 - k for real column k
    labels: Any
    weights: Any  # empty: every row counts once
    total_weight: Any
    unit: Any  # what a point adds to a score
    # Integer scores: position = score - low, + width for the positive class.
    integer: Any
    position: Any
    low: Any
    width: Any
    losses: Any  # by position
    slopes: Any  # d loss / d (score times unit), by position
    padded: Any  # losses, with `width` zeros before and after them
    counts: Any  # joint histogram, 2 * width positions per feature value
    mass: Any  # the same in float64, or sums of weights
    # Real-valued scores, times the unit.
    scores: Any
    # Scratch: a block of rows; sums of a chunk and of all rows (loss, derivatives of lines).
    cells: Any
    block: Any
    lane: Any
    sums: Any
    used: Any  # real columns of the wanted lines, and partial sums of their derivatives
    products: Any
    n_evaluations: Any
    stop: Any  # as of stopped; passes leave out chunks then, and mean nothing


class _Line(NamedTuple):
    index: Any  # coefficient (0: the intercept)
    first: Any  # smallest feature value
    n_values: Any  # 0: no joint histogram
    begin: Any  # scores lie in low + begin .. low + end - 1
    end: Any


@helper
def _add_column_moves(rows, line, out, start, step, shift):
    """Positions of a block after a step along a line, left in ``out``."""
    stop = start + out.shape[0]
    position = rows.position[start:stop]
    if line == 0:
        move = np.int32(step + shift)
        for i in range(out.shape[0]):
            out[i] = np.int32(position[i] + move)
    else:
        column = rows.columns[rows.slot[line - 1], start:stop]
        blocks.add_column_positions(out, position, column, np.int32(step), np.int32(shift))


@helper
def _moved_scores(rows, line, out, start, step, shift):
    stop = start + out.shape[0]
    scores = rows.scores[start:stop]
    if line == 0:
        move = step + shift
        for i in range(out.shape[0]):
            out[i] = scores[i] + move
    elif rows.slot[line - 1] >= 0:
        blocks.line(out, scores, rows.columns[rows.slot[line - 1], start:stop], step, shift)
    else:
        x = rows.block[3, : out.shape[0]]
        blocks.unpack_column(x, rows.row_tiles, start, -1 - rows.slot[line - 1])
        blocks.line(out, scores, x, step, shift)


@helper
def _move_scores(rows, line, step):
    """Take a step along a column for good."""
    n = rows.labels.shape[0]
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        if rows.integer:
            _add_column_moves(rows, line, rows.position[start:stop], start, np.int64(step), 0)
        else:
            _moved_scores(rows, line, rows.scores[start:stop], start, step * rows.unit, 0.0)


@helper
def _block_cells(rows, cells, index, first, start):
    """Cells of the joint histogram to which rows belong."""
    stop = start + cells.shape[0]
    position = rows.position[start:stop]
    if index == 0:
        for i in range(cells.shape[0]):
            cells[i] = position[i]
    else:
        column = rows.columns[rows.slot[index - 1], start:stop]
        blocks.joint_cells(cells, position, column, np.int32(first), np.int32(2 * rows.width))


@helper
def _count_line(rows, index, first, n_values, begin, end):
    """Fill the joint histogram by counting."""
    n = rows.labels.shape[0]
    for k in range(2 * n_values):
        for cell in range(k * rows.width + begin, k * rows.width + end):
            rows.counts[cell] = 0
    for start in range(0, n, BLOCK):
        if start % CHUNK == 0 and stopped(rows.stop):
            break
        cells = rows.cells[: min(BLOCK, n - start)]
        _block_cells(rows, cells, index, first, start)
        blocks.count(rows.counts, cells)
    for k in range(2 * n_values):
        for cell in range(k * rows.width + begin, k * rows.width + end):
            rows.mass[cell] = np.float64(rows.counts[cell])


@helper
def _weigh_line(rows, index, first, n_values, begin, end):
    """Fill the joint histogram by adding weights, in parts of the rows that are then added."""
    n, n_cells = rows.labels.shape[0], n_values * 2 * rows.width
    parts = n_parts(n, n_cells)
    for k in range(2 * n_values * parts):
        for cell in range(k * rows.width + begin, k * rows.width + end):
            rows.mass[cell] = 0.0
    for part in range(parts):
        mass, stop = rows.mass[part * n_cells :], part_begin(n, parts, part + 1)
        for start in range(part_begin(n, parts, part), stop, BLOCK):
            if stopped(rows.stop):
                break
            last = min(start + BLOCK, stop)
            cells = rows.cells[: last - start]
            _block_cells(rows, cells, index, first, start)
            blocks.add_weights(mass, rows.weights[start:last], cells)
    for part in range(1, parts):
        for k in range(2 * n_values):
            for cell in range(k * rows.width + begin, k * rows.width + end):
                rows.mass[cell] += rows.mass[part * n_cells + cell]


@helper
def _prepare_line(rows, index, first, last, begin, end):
    """Make a line ready: feature values first..last, scores as in _Line."""
    n_values = last - first + 1
    if not rows.integer or n_values * 2 * rows.width > rows.counts.shape[0]:
        return _Line(index, first, 0, begin, end)
    if rows.weights.shape[0]:
        _weigh_line(rows, index, first, n_values, begin, end)
    else:
        _count_line(rows, index, first, n_values, begin, end)
    return _Line(index, first, n_values, begin, end)


@helper
def _joint_loss(rows, line, step, shift):
    """Cells that hold no rows may be moved out of the table, there by less than its width."""
    length = line.end - line.begin
    high = low = 0.0
    for v in range(line.n_values):
        move = np.int64(step) * (line.first + v) + np.int64(shift)
        for c in range(2):
            cell = c * rows.width + line.begin
            value = blocks.dot(
                rows.mass[v * 2 * rows.width + cell : v * 2 * rows.width + cell + length],
                rows.padded[rows.width + cell + move : rows.width + cell + move + length],
                rows.lane,
            )
            high, low = blocks.add(high, low, value)
    return high + low


@helper
def _weighted_total(values, weights, lane):
    """Sum of values times weights, which are left in ``values``."""
    if weights.shape[0]:
        blocks.multiply(values, weights)
    return blocks.total(values, lane)


@helper
def _line_loss_of_chunk(rows, line, step, shift, begin):
    end = min(begin + CHUNK, rows.labels.shape[0])
    high = low = 0.0
    for start in range(begin, end, BLOCK):
        stop = min(start + BLOCK, end)
        values, weights = rows.block[0, : stop - start], rows.weights[start:stop]
        if rows.integer:
            cells = rows.cells[: stop - start]
            _add_column_moves(rows, line.index, cells, start, np.int64(step), np.int64(shift))
            blocks.lookup(values, rows.losses, cells)
            value = _weighted_total(values, weights, rows.lane)
        else:
            _moved_scores(rows, line.index, values, start, step * rows.unit, shift * rows.unit)
            labels, strip = rows.labels[start:stop], rows.block[1:]
            value = blocks.sum_losses(values, labels, weights, strip, rows.lane)
        high, low = blocks.add(high, low, value)
    return high, low


@helper
def _line_loss(rows, line, step, shift):
    """Loss after ``step`` points along the line and ``shift`` of the intercept."""
    rows.n_evaluations[0] += 1
    if line.n_values:
        return _joint_loss(rows, line, step, shift) / rows.total_weight
    high = low = 0.0
    for begin in range(0, rows.labels.shape[0], CHUNK):
        if stopped(rows.stop):
            break
        part, part_low = _line_loss_of_chunk(rows, line, step, shift, begin)
        high, low = blocks.add(high, low, part)
        low += part_low
    return (high + low) / rows.total_weight


# ---- bounds from one gradient -------------------------------------------------------------


class _Bounds(NamedTuple):
    # One entry per coefficient, intercept first.
    wanted: Any  # lines that are worth a derivative
    gradient: Any
    curvature: Any
    objective: Any  # least objective that the line may hold
    magnitude: Any  # largest change of a score by one point
    slack: Any  # rounding errors of the bounds


@helper
def _measure_lines(rows, bounds):
    """First and second derivatives along the wanted lines; returns the loss."""
    part, whole = rows.sums[0], rows.sums[1]
    rows.n_evaluations[0] += 1
    used = rows.used[: _find_wanted_reals(rows, bounds.wanted)]
    for k in range(whole.shape[0]):
        whole[k, 0] = whole[k, 1] = 0.0
    for begin in range(0, rows.labels.shape[0], CHUNK):
        for k in range(part.shape[0]):
            part[k, 0] = part[k, 1] = 0.0
        if stopped(rows.stop):
            break
        _measure_chunk(rows, bounds.wanted, used, part, begin)
        _add_chunk(whole, part)
    _share_derivatives(rows, bounds)
    return (whole[0, 0] + whole[0, 1]) / rows.total_weight


@helper
def _add_chunk(whole, part):
    for k in range(part.shape[0]):
        blocks.add_to(whole, k, part[k, 0])
        whole[k, 1] += part[k, 1]


@helper
def _share_derivatives(rows, bounds):
    """Derivatives of all rows by points from their sums."""
    whole, unit = rows.sums[1], rows.unit
    square = unit * unit
    for line in range(bounds.wanted.shape[0]):
        first, second = 2 * line + 1, 2 * line + 2
        bounds.gradient[line] = unit * ((whole[first, 0] + whole[first, 1]) / rows.total_weight)
        flattening = (whole[second, 0] + whole[second, 1]) / rows.total_weight
        bounds.curvature[line] = square * flattening


@helper
def _is_real(rows, line):
    return line > 0 and rows.slot[line - 1] < 0


@helper
def _find_wanted_reals(rows, wanted):
    """Leave the real columns of the wanted lines in rows.used, and return their number."""
    n_used = 0
    for line in range(1, wanted.shape[0]):
        if wanted[line] and _is_real(rows, line):
            rows.used[n_used] = -1 - rows.slot[line - 1]
            n_used += 1
    return n_used


@helper
def _measure_chunk(rows, wanted, used, sums, begin):
    end = min(begin + CHUNK, rows.labels.shape[0])
    for start in range(begin, end, BLOCK):
        stop = min(start + BLOCK, end)
        m = stop - start
        slopes, curvatures, weights = rows.block[0, :m], rows.block[1, :m], rows.weights[start:stop]
        if rows.integer:
            losses = rows.block[2, :m]
            blocks.lookup(losses, rows.losses, rows.position[start:stop])
            blocks.lookup(slopes, rows.slopes, rows.position[start:stop])
            value = _weighted_total(losses, weights, rows.lane)
        else:
            scores, labels, strip = rows.scores[start:stop], rows.labels[start:stop], rows.block[2:]
            value = blocks.sum_losses_and_slopes(slopes, scores, labels, weights, strip, rows.lane)
        blocks.add_to(sums, 0, value)
        blocks.curvatures(curvatures, slopes)
        if weights.shape[0]:
            blocks.multiply(slopes, weights)
            blocks.multiply(curvatures, weights)
        for line in range(wanted.shape[0]):
            if wanted[line] and not _is_real(rows, line):
                _add_derivatives(rows, sums, line, slopes, curvatures, start)
        _add_real_derivatives(rows, wanted, used, sums, slopes, curvatures, start)


@helper
def _add_derivatives(rows, sums, line, slopes, curvatures, start):
    """Add a block's first and second derivatives along a line to a chunk's sums.

    The line is that of the intercept or of an integer column.
    """
    if line == 0:
        first = blocks.total(slopes, rows.lane)
        second = blocks.total(curvatures, rows.lane)
    else:
        x = rows.columns[rows.slot[line - 1], start : start + slopes.shape[0]]
        first = blocks.dot(slopes, x, rows.lane)
        second = blocks.dot_square(curvatures, x, rows.lane)
    blocks.add_to(sums, 2 * line + 1, first)
    blocks.add_to(sums, 2 * line + 2, second)


@helper
def _add_real_derivatives(rows, wanted, used, sums, slopes, curvatures, start):
    """The same for the lines of all real columns that are wanted."""
    for k in range(used.shape[0]):
        blocks.clear(rows.products[k])
    blocks.add_row_tile_derivatives(
        rows.products, rows.row_tiles, start, slopes, curvatures, used, rows.lane
    )
    k = 0
    for line in range(1, wanted.shape[0]):
        if wanted[line] and _is_real(rows, line):
            blocks.add_to(sums, 2 * line + 1, blocks.fold_row_tile(rows.products[k, 0]))
            blocks.add_to(sums, 2 * line + 2, blocks.fold_row_tile(rows.products[k, 1]))
            k += 1


@helper
def _curvature_factor(bounds, line, step):
    """Bound what a step along a line costs per curvature, from below."""
    t = bounds.magnitude[line] * abs(step)
    # Without cancellation near 0; still a lower bound of exp(-t) + t - 1.
    omega = t * t * (0.5 - t / 6.0) if t < 1e-2 else exp(-t) + t - 1.0
    return omega / bounds.magnitude[line] / bounds.magnitude[line]


@helper
def _change_bound(bounds, line, step):
    """Lower bound on the change of the loss by a step along a line."""
    factor = _curvature_factor(bounds, line, step)
    return bounds.gradient[line] * step + bounds.curvature[line] * factor


@helper
def _least_change(bounds, line, a, b):
    """Least change bound over the steps from a to b, which have one sign."""
    g = abs(bounds.gradient[line])
    steepest = bounds.curvature[line] / bounds.magnitude[line]
    if (bounds.gradient[line] > 0.0) == (a > 0.0) or g == 0.0:
        size = 0.0  # it costs from the first step on
    elif g >= steepest:
        size = inf
    else:
        size = -log(1.0 - g / steepest) / bounds.magnitude[line]
    if a > 0.0:
        return _change_bound(bounds, line, min(max(size, a), b))
    return _change_bound(bounds, line, max(min(-size, b), a))


_NEWTON_STEPS = 4


@helper
def _least_with_ridge(bounds, line, a, b, now, ridge):
    """Lower bound on _change_bound plus the ridge penalty of a coefficient that was ``now``."""
    if ridge == 0.0:
        return _least_change(bounds, line, a, b)
    g, h, magnitude = bounds.gradient[line], bounds.curvature[line], bounds.magnitude[line]
    side = 1.0 if a > 0.0 else -1.0
    step = a if a > 0.0 else b
    slope = 0.0
    for k in range(_NEWTON_STEPS + 1):
        flat = exp(-magnitude * abs(step))
        slope = g + side * (h / magnitude) * (1.0 - flat)
        if k < _NEWTON_STEPS:
            step -= (slope + 2.0 * ridge * (now + step)) / (h * flat + 2.0 * ridge)
            step = min(max(step, a), b)
    vertex = min(max(-slope / (2.0 * ridge) - now, a), b)
    change = _change_bound(bounds, line, step) + slope * (vertex - step)
    return change + ridge * (now + vertex) * (now + vertex)


# ---- line search ----------------------------------------------------------------------------

_REMEMBERED = 8


class _LineSearch(NamedTuple):
    # One of the line's coefficient and the intercept is searched, the other one kept.
    rows: Any
    line: Any
    ridge: Any  # of the line
    along_intercept: Any
    at: Any  # present value of what is searched
    kept: Any  # step of the line, or shift of the intercept
    exhaustive: Any
    value: Any
    loss: Any
    n_remembered: Any


@helper
def _search_loss(search, v):
    """Loss at value v, and the line's ridge penalty; golden section returns to its last points."""
    for k in range(min(search.n_remembered[0], _REMEMBERED)):
        if search.value[k] == v:
            return search.loss[k]
    if stopped(search.rows.stop):  # searches end at once, and no value of theirs is taken
        return inf
    moved = np.float64(v - search.at)
    if search.along_intercept:
        step, shift = search.kept, moved
    else:
        step, shift = moved, search.kept
    loss = _line_loss(search.rows, search.line, step, shift)
    if stopped(search.rows.stop):
        return inf
    points = search.kept if search.along_intercept else np.float64(v)
    loss += search.ridge * points * points
    k = search.n_remembered[0] % _REMEMBERED
    search.value[k] = v
    search.loss[k] = loss
    search.n_remembered[0] += 1
    return loss


@helper
def _golden_section(search, a, b):
    """Smallest minimiser of _search_loss over the integers a..b."""
    while b > a:
        p = a + np.int64(0.3819660112501051 * np.float64(b - a))
        q = b - (p - a)
        if q == p:
            q = p + 1
        if _search_loss(search, p) <= _search_loss(search, q):
            b = q - 1
        else:
            a = p + 1
    return a


@helper
def _line_minimum(search, a, b):
    """Smallest minimiser of _search_loss over a..b, which contains the present value."""
    best, near, step = a, search.at, 1
    if search.exhaustive:
        for v in range(a + 1, b + 1):
            if _search_loss(search, v) < _search_loss(search, best):
                best = v
        return best
    if near < b and _search_loss(search, near + 1) < _search_loss(search, near):
        while near + step <= b and _search_loss(search, near + step) < _search_loss(search, near):
            a = near + 1
            near += step
            step *= 2
        return _golden_section(search, a, min(b, near + step - 1))
    b = near
    while near - step >= a and _search_loss(search, near - step) <= _search_loss(search, near):
        b = near - 1
        near -= step
        step *= 2
    return _golden_section(search, max(a, near - step + 1), b)


# ---- discrete coordinate descent --------------------------------------------------------------


class _Vector(NamedTuple):
    coef: Any  # (d + 1,), intercept first, as lower and upper
    lower: Any
    upper: Any
    penalty: Any  # (d,)
    ridge: Any  # (d,): penalty of a point, which grows with its square
    direction: Any  # (d + 1,): may this coefficient change
    feature_min: Any  # (d,), integer scores only
    feature_max: Any
    min_size: Any
    max_size: Any
    size: Any
    # Of the searches.
    exhaustive: Any
    value: Any
    loss: Any
    n_remembered: Any


class _Move(NamedTuple):
    objective: Any
    out: Any  # feature that leaves (-1: none)
    line: Any
    value: Any
    intercept: Any


@helper
def _ridge_of(vector, line, value):
    return vector.ridge[line - 1] * value * value if line > 0 else 0.0


@helper
def _open_search(rows, vector, line, along_intercept, at, kept):
    vector.n_remembered[0] = 0
    return _LineSearch(
        rows, line, _ridge_of(vector, line.index, 1.0), along_intercept, at, np.float64(kept),
        vector.exhaustive,
        vector.value, vector.loss, vector.n_remembered,
    )  # fmt: skip


@helper
def _penalty_without(vector, line):
    """Penalty of all features but one, added in their order whatever the path here."""
    total = 0.0
    for j in range(1, vector.coef.shape[0]):
        if j != line and vector.coef[j] != 0:
            total += vector.penalty[j - 1] + _ridge_of(vector, j, np.float64(vector.coef[j]))
    return total


@helper
def _open_line(rows, vector, line):
    """Prepare a line; the scores' range follows from the coefficients at hand."""
    if not rows.integer:
        return _Line(line, 0, 0, 0, 0)
    low = high = vector.coef[0] - rows.low
    for j in range(1, vector.coef.shape[0]):
        if vector.coef[j] != 0:
            a = vector.coef[j] * vector.feature_min[j - 1]
            b = vector.coef[j] * vector.feature_max[j - 1]
            low += min(a, b)
            high += max(a, b)
    first = last = 1
    if line > 0:
        first, last = vector.feature_min[line - 1], vector.feature_max[line - 1]
    return _prepare_line(rows, line, first, last, low, high + 1)


@helper
def _consider(best, objective, line, value):
    """Keep the better move; of equal ones that of the first line, whatever the order here."""
    if objective < best.objective or (objective == best.objective and line < best.line):
        return _Move(objective, -1, line, value, best.intercept)
    return best


@helper
def _bound_lines(vector, bounds, loss):
    """Least objective that a change of each coefficient may reach."""
    reach = 0.0
    for line in range(vector.coef.shape[0]):
        bounds.objective[line] = inf
        if not bounds.wanted[line]:
            continue
        now = np.float64(vector.coef[line])
        a = np.float64(vector.lower[line]) - now
        b = np.float64(vector.upper[line]) - now
        price, ridge = vector.penalty[line - 1] if line > 0 else 0.0, _ridge_of(vector, line, 1.0)
        most = _ridge_of(vector, line, max(abs(now + a), abs(now + b)))
        reach = max(reach, bounds.magnitude[line] * max(-a, b) + most)
        least = inf
        if a < 0.0:
            least = _least_with_ridge(bounds, line, a, -1.0, now, ridge) + price
        if b > 0.0:
            change = _least_with_ridge(bounds, line, 1.0, b, now, ridge)
            least = min(least, change + price)
        if now != 0.0 and a <= -now <= b:
            least = min(least, _change_bound(bounds, line, -now))
        bounds.objective[line] = least + (loss + _penalty_without(vector, line))
    bounds.slack[0] = 1e-13 * (1.0 + loss + reach)


@helper
def _try_lines(rows, vector, bounds, best):
    """Best change of one coefficient."""
    for line in range(vector.coef.shape[0]):
        bounds.wanted[line] = (
            vector.direction[line] != 0
            and vector.lower[line] < vector.upper[line]
            and (line == 0 or vector.coef[line] != 0 or vector.size[0] < vector.max_size)
        )
    loss = _measure_lines(rows, bounds)
    _bound_lines(vector, bounds, loss)
    while True:
        if stopped(rows.stop):
            return best
        line = np.int64(-1)
        for j in range(vector.coef.shape[0]):
            if bounds.wanted[j] and (line < 0 or bounds.objective[j] < bounds.objective[line]):
                line = j
        if line < 0 or bounds.objective[line] - bounds.slack[0] > best.objective:
            return best
        best = _try_coordinate(rows, vector, bounds, line, best)
        bounds.wanted[line] = 0


@helper
def _searched_minimum(search, vector, bounds, line):
    """Best value of a coefficient by the loss and its ridge penalty."""
    a, b, now = vector.lower[line], vector.upper[line], vector.coef[line]
    slope = bounds.gradient[line] + 2.0 * _ridge_of(vector, line, 1.0) * np.float64(now)
    # The slope at the present value tells on which side the minimum lies.
    if not vector.exhaustive:
        if slope > bounds.slack[0]:
            b = now
        elif slope < -bounds.slack[0]:
            a = now
    return _line_minimum(search, a, b)


@helper
def _try_coordinate(rows, vector, bounds, line, best):
    """Best value of one coefficient, the others kept."""
    now, rest = vector.coef[line], _penalty_without(vector, line)
    search = _open_search(rows, vector, _open_line(rows, vector, line), False, now, np.int64(0))
    v = _searched_minimum(search, vector, bounds, line)
    if line == 0:
        if v != now:
            best = _consider(best, _search_loss(search, v) + rest, line, v)
        return best
    price = vector.penalty[line - 1]
    may_be_zero = vector.lower[line] <= 0 <= vector.upper[line] and (
        now == 0 or vector.size[0] > vector.min_size
    )
    if v == 0 and not may_be_zero:
        # What is searched is convex: next to a minimum at zero are the best non-zero values.
        if vector.lower[line] < 0:
            best = _consider(
                best, _search_loss(search, np.int64(-1)) + price + rest, line, np.int64(-1)
            )
        if vector.upper[line] > 0:
            best = _consider(
                best, _search_loss(search, np.int64(1)) + price + rest, line, np.int64(1)
            )
    elif v != 0 and v != now:
        best = _consider(best, _search_loss(search, v) + price + rest, line, v)
    if may_be_zero and now != 0:
        best = _consider(best, _search_loss(search, np.int64(0)) + rest, line, np.int64(0))
    return best


@helper
def _try_swaps(rows, vector, out, best):
    """Best exchange of feature ``out`` for another one, with the intercept adapted."""
    now, intercept = vector.coef[out], vector.coef[0]
    without = intercept
    if now == 0 or not vector.direction[out] or vector.lower[out] > 0 or vector.upper[out] < 0:
        return best
    _move_scores(rows, out, np.float64(-now))
    vector.coef[out] = 0
    rest = _penalty_without(vector, 0)
    if vector.direction[0]:
        search = _open_search(
            rows, vector, _open_line(rows, vector, np.int64(0)), False, intercept, np.int64(0)
        )
        without = _line_minimum(search, vector.lower[0], vector.upper[0])
    for line in range(1, vector.coef.shape[0]):
        if stopped(rows.stop):
            break
        if (
            line == out
            or vector.coef[line] != 0
            or not vector.direction[line]
            or vector.lower[line] == vector.upper[line]
        ):
            continue
        opened = _open_line(rows, vector, line)
        search = _open_search(rows, vector, opened, False, np.int64(0), without - intercept)
        v = _line_minimum(search, vector.lower[line], vector.upper[line])
        if v != 0:
            best = _consider_swap(rows, vector, opened, out, v, without, rest, best)
            continue
        # Zero is no exchange; beside it the neighbours are best (convexity).
        if vector.lower[line] < 0:
            best = _consider_swap(rows, vector, opened, out, np.int64(-1), without, rest, best)
        if vector.upper[line] > 0:
            best = _consider_swap(rows, vector, opened, out, np.int64(1), without, rest, best)
    _move_scores(rows, out, np.float64(now))
    vector.coef[out] = now
    return best


@helper
def _consider_swap(rows, vector, line, out, value, intercept, rest, best):
    search = _open_search(rows, vector, line, True, vector.coef[0], value)
    if vector.direction[0]:
        intercept = _line_minimum(search, vector.lower[0], vector.upper[0])
    objective = _search_loss(search, intercept) + vector.penalty[line.index - 1] + rest
    if objective < best.objective:
        return _Move(objective, out, line.index, value, intercept)
    return best


@helper
def _take(rows, vector, line, value):
    if value == vector.coef[line]:
        return
    _move_scores(rows, line, np.float64(value - vector.coef[line]))
    if line > 0:
        vector.size[0] += int(value != 0) - int(vector.coef[line] != 0)
    vector.coef[line] = value


@kernel(
    *(read(int8, 2), read(float64, 3), read(int64), read(int8), read(float64), float64),
    *(
        float64,
        boolean,
        int64,
        read(float64),
        read(float64),
        read(float64),
        read(int64),
        read(int64),
    ),
    *(write(int32), write(float64), write(int64), write(float64), write(int64), read(int64)),
    *(read(int64), read(float64), read(float64), read(float64), read(uint8)),
    *(write(uint8), write(float64, 2)),
    *(int64, int64, boolean, boolean, int64, float64, write(int64), *_SCRATCH),
    *(write(int64), write(int64), write(float64), write(int64), write(float64)),
)
def _coordinate_descent(
    columns, row_tiles, slot, labels, weights, total_weight, unit,
    integer, low, losses, slopes, padded, feature_min, feature_max,
    position, scores, counts, mass, coef, lower, upper, penalty, ridge, magnitude,
    direction, wanted, workspace, min_size, max_size, exhaustive, swaps, max_iterations, tolerance,
    stop,
    cells, block, lane, sums, used, products, n_evaluations, size, value, loss, n_remembered, slack,
):  # fmt: skip
    rows = _RowsAlongLines(
        columns, row_tiles, slot, labels, weights, total_weight, unit,
        integer, position, low, losses.shape[0] // 2, losses, slopes, padded,
        counts, mass, scores, cells, block, lane, sums, used, products, n_evaluations, stop,
    )  # fmt: skip
    for line in range(1, coef.shape[0]):
        size[0] += int(coef[line] != 0)
    vector = _Vector(
        coef, lower, upper, penalty, ridge, direction, feature_min, feature_max,
        min_size, max_size, size, exhaustive, value, loss, n_remembered,
    )  # fmt: skip
    # Sizes are those of the coefficients: scratch may be larger.
    bounds = _Bounds(
        wanted[: coef.shape[0]], workspace[0], workspace[1], workspace[2], magnitude, slack
    )
    objective = _line_loss(rows, _open_line(rows, vector, np.int64(0)), 0.0, 0.0)
    objective += _penalty_without(vector, 0)
    n_moves, none = 0, np.int64(-1)
    while n_moves < max_iterations:
        best = _try_lines(rows, vector, bounds, _Move(objective, none, none, none, none))
        if swaps and not best.objective < objective - tolerance * objective:
            for out in range(1, coef.shape[0]):
                if stopped(stop):
                    break
                best = _try_swaps(rows, vector, out, best)
        if stopped(stop) or not best.objective < objective - tolerance * objective:
            break
        if best.out >= 0:
            _take(rows, vector, best.out, np.int64(0))
            _take(rows, vector, np.int64(0), best.intercept)
        _take(rows, vector, best.line, best.value)
        objective = best.objective
        n_moves += 1
    return n_moves


def coordinate_descent(
    columns, row_tiles, slot, labels, weights, total_weight, unit,
    integer, low, losses, slopes, feature_min, feature_max,
    position, scores, counts, mass, coef, lower, upper, penalty, ridge, magnitude,
    direction, wanted, workspace, min_size, max_size, exhaustive, swaps, max_iterations, tolerance,
    stop, n_threads,
):  # fmt: skip
    scratch = _scratch(len(coef), row_tiles.shape[1])
    n_moves = _coordinate_descent(
        columns.T, row_tiles, slot, labels, weights, total_weight, unit,
        integer, low, losses.reshape(-1), slopes.reshape(-1),
        np.pad(losses.reshape(-1), losses.shape[1]), feature_min, feature_max,
        position, scores, counts[0], mass, coef, lower, upper, penalty, ridge, magnitude,
        direction, wanted, workspace, min_size, max_size, exhaustive, swaps, max_iterations,
        tolerance, stop, *scratch, np.zeros(1, np.int64), np.empty(_REMEMBERED, np.int64),
        np.empty(_REMEMBERED), np.zeros(1, np.int64), np.zeros(1),
    )  # fmt: skip
    return n_moves, int(scratch[-1][0])


# ---- the best step of every feature ------------------------------------------------------------

_TURNS = 3


@helper
def _step_objective(rows, vector, line, value, intercept):
    """Objective, less the prices of the others, with the best intercept to a value; and that."""
    search = _open_search(rows, vector, line, True, vector.coef[0], value)
    if vector.direction[0]:
        intercept = _line_minimum(search, vector.lower[0], vector.upper[0])
    return _search_loss(search, intercept) + vector.penalty[line.index - 1], intercept


@helper
def _best_step(rows, vector, line):
    """Best value of an unused feature and the intercept to it, searched in turns."""
    least, value, intercept = inf, np.int64(0), vector.coef[0]
    opened = _open_line(rows, vector, line)
    for turn in range(_TURNS):
        search = _open_search(
            rows, vector, opened, False, np.int64(0), intercept - vector.coef[0]
        )  # fmt: skip
        v = _line_minimum(search, vector.lower[line], vector.upper[line])
        if v == value and turn > 0:
            break
        if v == 0:
            # Zero is no step; beside it the neighbours are best (convexity).
            if turn > 0:
                break
            for side in range(-1, 2, 2):
                if vector.lower[line] <= side <= vector.upper[line]:
                    objective, at = _step_objective(
                        rows, vector, opened, np.int64(side), vector.coef[0]
                    )
                    if objective < least:
                        least, value, intercept = objective, np.int64(side), at
            continue
        objective, at = _step_objective(rows, vector, opened, v, intercept)
        if not objective < least:
            break
        least, value, intercept = objective, v, at
    return least, value, intercept


@kernel(
    *(read(int8, 2), read(float64, 3), read(int64), read(int8), read(float64), float64),
    *(float64, boolean, int64, read(float64), read(float64), read(float64)),
    *(read(int64), read(int64)),
    *(write(int32), write(float64), write(int64), write(float64), write(int64), read(int64)),
    *(read(int64), read(float64), read(float64), read(uint8)),
    *(write(float64), write(int64), write(int64), write(int64), *_SCRATCH),
    *(write(int64), write(int64), write(float64), write(int64)),
)
def _best_line_steps(
    columns, row_tiles, slot, labels, weights, total_weight, unit,
    integer, low, losses, slopes, padded, feature_min, feature_max,
    position, scores, counts, mass, coef, lower, upper, penalty, ridge, direction,
    objective, step, intercept, stop,
    cells, block, lane, sums, used, products, n_evaluations, size, value, loss, n_remembered,
):  # fmt: skip
    rows = _RowsAlongLines(
        columns, row_tiles, slot, labels, weights, total_weight, unit,
        integer, position, low, losses.shape[0] // 2, losses, slopes, padded,
        counts, mass, scores, cells, block, lane, sums, used, products, n_evaluations, stop,
    )  # fmt: skip
    vector = _Vector(
        coef, lower, upper, penalty, ridge, direction, feature_min, feature_max,
        0, len(penalty), size, False, value, loss, n_remembered,
    )  # fmt: skip
    rest = _penalty_without(vector, 0)
    for line in range(coef.shape[0]):
        objective[line], step[line], intercept[line] = inf, 0, coef[0]
        if (
            line == 0
            or stopped(stop)
            or coef[line] != 0
            or not direction[line]
            or lower[line] == upper[line]
        ):
            continue
        least, step[line], intercept[line] = _best_step(rows, vector, line)
        objective[line] = rest + least


def best_line_steps(
    columns, row_tiles, slot, labels, weights, total_weight, unit,
    integer, low, losses, slopes, feature_min, feature_max,
    position, scores, counts, mass, coef, lower, upper, penalty, ridge, direction,
    objective, value, intercept, stop, n_threads,
):  # fmt: skip
    scratch = _scratch(len(coef), row_tiles.shape[1])
    _best_line_steps(
        columns.T, row_tiles, slot, labels, weights, total_weight, unit,
        integer, low, losses.reshape(-1), slopes.reshape(-1),
        np.pad(losses.reshape(-1), losses.shape[1]), feature_min, feature_max,
        position, scores, counts[0], mass, coef, lower, upper, penalty, ridge, direction,
        objective, value, intercept, stop, *scratch, np.zeros(1, np.int64),
        np.empty(_REMEMBERED, np.int64), np.empty(_REMEMBERED), np.zeros(1, np.int64),
    )  # fmt: skip
    return int(scratch[-1][0])


# ---- sequential rounding: which candidates cannot win ---------------------------------------

_DOWN, _UP = 0, 1
_WAVES, _WAVE = 16, 4

# Entries of _Race.number and _Race.count.
_STEP, _BOTTOM, _TOP, _NOISE, _SCORES, _SCORES_LOW = range(6)
_OPEN, _OUTSIDE, _LINE, _STEPS, _SETTLED = range(5)

_RACE = (
    *(write(float64), write(float64, 2), write(float64), write(float64, 3), write(float64)),
    *(write(int64), write(float64), write(int16, 2), write(float64), write(int64)),
    *(write(int64), write(float64)),
)


class _Race(NamedTuple):
    # Odds of the rows, exp(-score), and sums of log(1 + odds): quick losses.
    feature_min: Any  # of integer columns
    feature_max: Any
    odds: Any
    # By chunk.
    negative: Any  # negative class: sum of each feature, then of the scores
    moved: Any  # sum of log(1 + odds) after a step
    sums: Any  # as in _RowsAlongLines, for each chunk
    # Scratch: a product; factors of the current step; digits of a block.
    lane: Any
    exponent: Any
    factor: Any
    digits: Any
    number: Any
    count: Any
    # Steps taken; the scores lack those from count[_SETTLED] on.
    step_line: Any
    step_size: Any


def _race(n, d):
    chunks = n_chunks(n)
    return (
        np.zeros((chunks, d + 2)),
        np.empty(chunks),
        np.empty((chunks, 2 * d + 3, 2)),
        np.empty(blocks.LANES),
        np.empty(blocks.LANES, np.int64),
        np.empty(odds.VALUES),
        np.empty((3, BLOCK), np.int16),
        np.zeros(6),
        np.array([1, 0, 0, 0, 0]),
        np.empty(d + 1, np.int64),
        np.empty(d + 1),
    )


@helper
def _begin_race(race, rows, wanted):
    """Odds of all rows, and what the negative class adds to a quick loss."""
    n, last = rows.labels.shape[0], race.negative.shape[1] - 1
    for begin in range(0, n, CHUNK):
        sums, end = race.negative[begin // CHUNK], min(begin + CHUNK, n)
        for start in range(begin, end, BLOCK):
            stop = min(start + BLOCK, end)
            scores, negative = rows.scores[start:stop], rows.block[0, : stop - start]
            odds.of_scores(race.odds[start:stop], scores)
            odds.negative(negative, rows.labels[start:stop])
            if rows.weights.shape[0]:
                blocks.multiply(negative, rows.weights[start:stop])
            sums[last] += blocks.dot(negative, scores, rows.lane)
            for line in range(last):
                if wanted[line]:
                    sums[line] += _line_sum(rows, line, negative, start)
    for chunk in range(race.negative.shape[0]):
        _add_scores(race, race.negative[chunk, last])


@helper
def _line_sum(rows, line, values, start):
    stop = start + values.shape[0]
    if line == 0:
        return blocks.total(values, rows.lane)
    if rows.slot[line - 1] >= 0:
        return blocks.dot(values, rows.columns[rows.slot[line - 1], start:stop], rows.lane)
    x = rows.block[3, : values.shape[0]]
    blocks.unpack_column(x, rows.row_tiles, start, -1 - rows.slot[line - 1])
    return blocks.dot(values, x, rows.lane)


@helper
def _add_scores(race, value):
    """Add to the sum of the scores of the negative class."""
    high, low = blocks.add(race.number[_SCORES], race.number[_SCORES_LOW], value)
    race.number[_SCORES], race.number[_SCORES_LOW] = high, low


@helper
def _prepare_step(race, rows, line, points):
    """Make a step the current one: by what factors it changes the odds."""
    step = points * rows.unit
    race.count[_LINE], race.number[_STEP] = line, step
    if line == 0:
        race.factor[0] = odds.exp_moderate(-step)
    elif rows.slot[line - 1] >= 0:
        low, high = race.feature_min[line - 1], race.feature_max[line - 1]
        first = np.float64(low)
        if high - low < 1 << odds.BITS:
            race.factor[0] = odds.exp_moderate(-(step * first))
            for k in range(odds.BITS):
                race.factor[k + 1] = odds.exp_moderate(-(step * np.float64(1 << k)))
        else:
            for k in range(high - low + 1):
                race.factor[k] = odds.exp_moderate(-(step * (first + np.float64(k))))


@helper
def _moved_odds(race, rows, out, start):
    """Odds of a block after the current step."""
    stop, line = start + out.shape[0], race.count[_LINE]
    now = race.odds[start:stop]
    if line == 0:
        odds.times(out, now, race.factor[0])
    elif rows.slot[line - 1] < 0:
        z = rows.block[3, : out.shape[0]]
        blocks.unpack_column(z, rows.row_tiles, start, -1 - rows.slot[line - 1])
        odds.times_real(out, now, z, race.number[_STEP])
    else:
        x = rows.columns[rows.slot[line - 1], start:stop]
        first, span = race.feature_min[line - 1], race.feature_max[line - 1]
        span -= first
        if span == 1:
            odds.times_bit(out, now, x, first, race.factor)
        elif span < 1 << odds.BITS:
            odds.times_bits(out, now, x, first, race.factor)
        else:
            odds.times_table(out, now, x, first, race.factor)


@helper
def _add_log_odds(race, rows, values, start, high, low):
    """Add log(1 + odds) of a block to the product, or, times the weights, to a sum."""
    if rows.weights.shape[0] == 0:
        odds.product_extend(race.lane, race.exponent, values)
        return high, low
    odds.logs(values)
    blocks.multiply(values, rows.weights[start : start + values.shape[0]])
    return blocks.add(high, low, blocks.total(values, rows.lane))


@helper
def _measure_race(race, rows, bounds):
    """First and second derivatives along the wanted lines after the step taken last.

    Returns the loss; closes the race if odds are out of reach.
    """
    whole = rows.sums[1]
    used = rows.used[: _find_wanted_reals(rows, bounds.wanted)]
    rows.n_evaluations[0] += 1
    race.count[_OUTSIDE] = 0
    for k in range(whole.shape[0]):
        whole[k, 0] = whole[k, 1] = 0.0
    for begin in range(0, rows.labels.shape[0], CHUNK):
        sums = race.sums[begin // CHUNK]
        _measure_odds_of_chunk(race, rows, bounds, used, sums, begin)
        _add_chunk(whole, sums)
    race.number[_STEP] = 0.0
    race.count[_OPEN] = int(race.count[_OUTSIDE] == 0)
    _share_derivatives(rows, bounds)
    scores = race.number[_SCORES] + race.number[_SCORES_LOW]
    return ((whole[0, 0] + whole[0, 1]) + scores) / rows.total_weight


@helper
def _measure_odds_of_chunk(race, rows, bounds, used, sums, begin):
    end = min(begin + CHUNK, rows.labels.shape[0])
    odds.product_open(race.lane, race.exponent)
    for k in range(sums.shape[0]):
        sums[k, 0] = sums[k, 1] = 0.0
    for start in range(begin, end, BLOCK):
        stop = min(start + BLOCK, end)
        m = stop - start
        slopes, curvatures, moved = rows.block[0, :m], rows.block[1, :m], rows.block[2, :m]
        now = race.odds[start:stop]
        if race.number[_STEP] != 0.0:
            _moved_odds(race, rows, now, start)
        race.count[_OUTSIDE] += odds.outside(now, race.number[_BOTTOM], race.number[_TOP])
        odds.slopes(slopes, now, rows.labels[start:stop])
        blocks.curvatures(curvatures, slopes)
        if rows.weights.shape[0]:
            blocks.multiply(slopes, rows.weights[start:stop])
            blocks.multiply(curvatures, rows.weights[start:stop])
            for i in range(m):
                moved[i] = now[i]
            now = moved
        sums[0, 0], sums[0, 1] = _add_log_odds(race, rows, now, start, sums[0, 0], sums[0, 1])
        _add_odds_derivatives(race, rows, bounds, sums, slopes, curvatures, start)
        _add_real_derivatives(rows, bounds.wanted, used, sums, slopes, curvatures, start)
    if rows.weights.shape[0] == 0:
        sums[0, 0] = odds.product_log(race.lane, race.exponent)


@helper
def _has_digits(race, rows, line):
    """True if derivatives along a line come from digits: no weights, small integers."""
    return (
        rows.weights.shape[0] == 0
        and line > 0
        and rows.slot[line - 1] >= 0
        and race.feature_min[line - 1] >= -odds.NARROW
        and race.feature_max[line - 1] <= odds.NARROW
    )


@helper
def _add_odds_derivatives(race, rows, bounds, sums, slopes, curvatures, start):
    """Add a block's first and second derivatives along the wanted lines to a chunk's sums.

    Those of real columns are left out.
    """
    m = slopes.shape[0]
    high, low, flat = race.digits[0, :m], race.digits[1, :m], race.digits[2, :m]
    if rows.weights.shape[0] == 0:
        odds.digits(high, low, flat, slopes, curvatures)
    for line in range(bounds.wanted.shape[0]):
        if not bounds.wanted[line] or _is_real(rows, line):
            continue
        if not _has_digits(race, rows, line):
            _add_derivatives(rows, sums, line, slopes, curvatures, start)
            continue
        x = rows.columns[rows.slot[line - 1], start : start + m]
        first, second = odds.dot_digits(high, low, flat, x)
        blocks.add_to(sums, 2 * line + 1, np.float64(first) * odds.SLOPE_UNIT)
        blocks.add_to(sums, 2 * line + 2, np.float64(second) * odds.CURVATURE_UNIT)


@helper
def _log_odds_of_chunk(race, rows, begin):
    """Sum of log(1 + odds) of a chunk after the current step."""
    end = min(begin + CHUNK, rows.labels.shape[0])
    high = low = 0.0
    odds.product_open(race.lane, race.exponent)
    for start in range(begin, end, BLOCK):
        moved = rows.block[2, : min(BLOCK, end - start)]
        _moved_odds(race, rows, moved, start)
        high, low = _add_log_odds(race, rows, moved, start, high, low)
    if rows.weights.shape[0] == 0:
        return odds.product_log(race.lane, race.exponent)
    return high + low


@helper
def _digits_error(race, rows, bounds, line, step):
    """Most by which digits make the slope along a line, times a step, too large."""
    if race.count[_OPEN] == 0 or not _has_digits(race, rows, line):
        return 0.0
    return odds.SLOPE_UNIT * bounds.magnitude[line] * abs(step)


@helper
def _quick_change(race, rows, bounds, line, step, enough):
    """Change of the loss by a step along a line; infinity once it is seen to exceed ``enough``.

    Of the rows not seen yet the bound from first and second derivatives is added.
    """
    chunks, moved = race.moved.shape[0], step * rows.unit
    flattened = _curvature_factor(bounds, line, step) * rows.unit * rows.unit
    high = low = rest_low = 0.0
    rest = rows.total_weight * (
        _change_bound(bounds, line, step) - _digits_error(race, rows, bounds, line, step)
    )
    rows.n_evaluations[0] += 1
    _prepare_step(race, rows, line, step)
    chunk = 0
    while chunk < chunks:
        wave = min(max(_WAVE, (chunks + _WAVES - 1) // _WAVES), chunks - chunk)
        for k in range(chunk, chunk + wave):
            race.moved[k] = _log_odds_of_chunk(race, rows, k * CHUNK)
            sums = race.sums[k]
            high, low = blocks.add(high, low, race.moved[k] - (sums[0, 0] + sums[0, 1]))
            high, low = blocks.add(high, low, moved * race.negative[k, line])
            rest, rest_low = blocks.add(rest, rest_low, -moved * sums[2 * line + 1, 0])
            rest, rest_low = blocks.add(rest, rest_low, -flattened * sums[2 * line + 2, 0])
        chunk += wave
        least = (high + rest) + (low + rest_low)
        if chunk < chunks and least / rows.total_weight > enough:
            return inf
    return (high + low) / rows.total_weight


@helper
def _settle(race, rows):
    """Bring the scores up to date."""
    while race.count[_SETTLED] < race.count[_STEPS]:
        k = race.count[_SETTLED]
        _move_scores(rows, race.step_line[k], race.step_size[k])
        race.count[_SETTLED] += 1


# ---- sequential rounding --------------------------------------------------------------------


class _Rounding(NamedTuple):
    race: Any
    rows: Any
    bounds: Any
    coef: Any
    penalty: Any
    ridge: Any  # penalty of a point, which grows with its square
    min_size: Any
    max_size: Any
    bound: Any  # of down and up: least objective; infinity if out of question
    value: Any  # of down and up: quick objective
    stop: Any  # as of stopped: look at no more candidates


@helper
def _rounded(coef, direction):
    return np.float64(ceil(coef) if direction == _UP else floor(coef))


@helper
def _step_to(r, line, direction):
    return _rounded(r.coef[line], direction) - r.coef[line]


@helper
def _saved_by(r, line, direction):
    """Penalty that is saved by rounding."""
    value = _rounded(r.coef[line], direction)
    if line == 0:
        return 0.0
    ridge = r.ridge[line - 1] * (r.coef[line] - value) * (r.coef[line] + value)
    return r.penalty[line - 1] + ridge if value == 0.0 else ridge


@helper
def _may_vanish(r, line):
    return line > 0 and (floor(r.coef[line]) == 0.0 or ceil(r.coef[line]) == 0.0)


@helper
def _sizes(r):
    """Features that stay whatever is rounded how, and features that may become zero."""
    used = optional = 0
    for j in range(1, r.coef.shape[0]):
        if r.coef[j] != 0.0:
            if r.bounds.wanted[j] and _may_vanish(r, j):
                optional += 1
            else:
                used += 1
    return used, optional


@helper
def _permitted(r, line, direction, used, optional):
    if not _may_vanish(r, line):
        return True
    if _rounded(r.coef[line], direction) != 0.0:
        return used + 1 <= r.max_size
    return used + optional - 1 >= r.min_size


@helper
def _widest_step(r):
    """Largest change of a score, times the unit, by one rounding."""
    widest = 0.0
    for j in range(r.coef.shape[0]):
        if r.bounds.wanted[j]:
            size = max(_step_to(r, j, _UP), -_step_to(r, j, _DOWN))
            widest = max(widest, r.bounds.magnitude[j] * size)
    return widest


@helper
def _measure(r):
    """Loss and derivatives at the present vector, from odds if they are within reach.

    Returns the loss, and by how much quick losses differ from it.
    """
    race, rows, widest = r.race, r.rows, _widest_step(r)
    if race.count[_OPEN] and widest < odds.REACH:
        race.number[_TOP] = odds.exp_moderate(odds.REACH - widest)
        race.number[_BOTTOM] = 1.0 / race.number[_TOP]
        loss = _measure_race(race, rows, r.bounds)
        if race.count[_OPEN]:
            level = (rows.sums[1, 0, 0] + rows.sums[1, 0, 1]) / rows.total_weight
            return loss, 1e-13 * (
                (1.0 + widest) * np.float64(2 + race.count[_STEPS])
                + level
                + abs(loss - level)
                + abs(loss)
            )
    race.count[_OPEN] = 0
    _settle(race, rows)
    return _measure_lines(rows, r.bounds), 0.0


@helper
def _bound_roundings(r, loss, settled, squares, noise, used, optional):
    """Bound the objective of each rounding into ``bound``.

    Returns the bound of all of them together, and the slack of one.
    """
    common, slack, n_pending = loss + settled, noise, 0
    for j in range(r.coef.shape[0]):
        if not r.bounds.wanted[j]:
            continue
        n_pending += 1
        slack = max(slack, 1e-13 * (1.0 + loss + r.bounds.magnitude[j] + squares))
        least = inf
        for direction in range(2):
            step, price = _step_to(r, j, direction), -_saved_by(r, j, direction)
            error = _digits_error(r.race, r.rows, r.bounds, j, step)
            least = min(least, r.bounds.gradient[j] * step - error + price)
            r.bound[direction, j] = inf
            if _permitted(r, j, direction, used, optional):
                change = _change_bound(r.bounds, j, step) - error
                r.bound[direction, j] = loss + settled + change + price
        common += least
    return common - slack * n_pending, slack


@helper
def _next_candidate(r):
    """The rounding with the least bound: its line, direction and bound."""
    line, side, least = -1, _DOWN, inf
    for direction in range(2):
        for j in range(r.coef.shape[0]):
            if r.bounds.wanted[j] and r.bound[direction, j] < least:
                line, side, least = j, direction, r.bound[direction, j]
    return line, side, least


@helper
def _likely_winner(r):
    """The rounding with the least objective by second derivatives."""
    line, side, least = -1, _DOWN, inf
    for direction in range(2):
        for j in range(r.coef.shape[0]):
            if not r.bounds.wanted[j] or r.bound[direction, j] == inf:
                continue
            step = _step_to(r, j, direction)
            value = (r.bounds.gradient[j] + 0.5 * r.bounds.curvature[j] * step) * step
            value -= _saved_by(r, j, direction)
            if value < least:
                line, side, least = j, direction, value
    return line, side


@helper
def _run_race(r, loss, settled, slack):
    """Leave finite bounds to the roundings that may be best; returns the best by quick losses."""
    best_line, best_side, best = -1, _DOWN, inf
    for direction in range(2):
        for j in range(r.coef.shape[0]):
            r.value[direction, j] = inf
    line, side = _likely_winner(r)
    while line >= 0 and not stopped(r.stop):
        base = loss + settled - _saved_by(r, line, side)
        enough = best + 2.0 * slack - base
        change = _quick_change(r.race, r.rows, r.bounds, line, _step_to(r, line, side), enough)
        r.bound[side, line] = inf
        r.value[side, line] = base + change
        if r.value[side, line] < best:
            best_line, best_side, best = line, side, r.value[side, line]
        line, side, least = _next_candidate(r)
        if least > best + 2.0 * slack:
            break
    n_left = 0
    for direction in range(2):
        for j in range(r.coef.shape[0]):
            r.bound[direction, j] = inf
            if r.value[direction, j] <= best + 2.0 * slack:
                r.bound[direction, j] = r.value[direction, j]
                n_left += 1
    return best_line if n_left == 1 else -1, best_side


@helper
def _exact_best(r, settled, slack):
    """The best rounding among those with finite bounds, by losses in full accuracy."""
    best_line, best_side, best = -1, _DOWN, inf
    while True:
        line, side, least = _next_candidate(r)
        if line < 0 or least - slack > best or stopped(r.stop):
            return best_line, best_side
        r.bound[side, line] = inf
        step = _step_to(r, line, side)
        value = _line_loss(r.rows, _Line(line, 0, 0, 0, 0), step, 0.0) + settled
        value -= _saved_by(r, line, side)
        # Equal values: down before up, then the lowest index, as in the paper.
        if value < best or (
            value == best and (side < best_side or (side == best_side and line < best_line))
        ):
            best, best_line, best_side = value, line, side


@helper
def _best_rounding(r, loss, settled, slack):
    """Line and direction of the best permitted rounding; (-1, 0) if there is none."""
    if r.race.count[_OPEN]:
        line, side = _run_race(r, loss, settled, slack)
        if line >= 0:
            return line, side
        _settle(r.race, r.rows)
    return _exact_best(r, settled, slack)


@helper
def _take_rounding(r, line, side):
    race, k, step = r.race, r.race.count[_STEPS], _step_to(r, line, side)
    race.step_line[k], race.step_size[k] = line, step
    race.count[_STEPS] += 1
    if race.count[_OPEN]:
        _prepare_step(race, r.rows, line, step)
        for chunk in range(race.negative.shape[0]):
            _add_scores(race, step * r.rows.unit * race.negative[chunk, line])
    else:
        _settle(race, r.rows)
    r.coef[line] = _rounded(r.coef[line], side)
    r.bounds.wanted[line] = 0


@kernel(
    *(read(int8, 2), read(float64, 3), read(int64), read(int8), read(float64), float64),
    *(float64, read(int64), read(int64), write(float64)),
    *(write(float64), read(float64), read(float64), read(float64), int64, int64, float64),
    *(write(uint8), write(float64, 2), write(float64, 2), write(float64, 2), *_SCRATCH),
    *(write(float64), read(float64), write(int64), *_RACE, write(int64)),
)
def _sequential_rounding(
    columns, row_tiles, slot, labels, weights, total_weight, unit, feature_min, feature_max,
    scores, coef, penalty, ridge, magnitude, min_size, max_size, cutoff, pending, workspace,
    bound, value, cells, block, lane, sums, reals, products, n_evaluations, slack, none,
    no_counts,
    row_odds, negative, moved, chunk_sums, product, exponent, factor, digits, number, count,
    step_line, step_size, stop,
):  # fmt: skip
    rows = _RowsAlongLines(
        columns, row_tiles, slot, labels, weights, total_weight, unit,
        False, cells, 0, 0, none, none, none, no_counts, lane, scores,
        cells, block, lane, sums, reals, products, n_evaluations, stop,
    )  # fmt: skip
    bounds = _Bounds(
        pending[: coef.shape[0]], workspace[0], workspace[1], workspace[2], magnitude, slack
    )
    race = _Race(
        feature_min, feature_max, row_odds, negative, moved, chunk_sums,
        product, exponent, factor, digits, number, count, step_line, step_size,
    )  # fmt: skip
    r = _Rounding(race, rows, bounds, coef, penalty, ridge, min_size, max_size, bound, value, stop)
    while True:
        used, optional = _sizes(r)
        if used > max_size or used + optional < min_size:
            return 2
        n_pending = 0
        for j in range(coef.shape[0]):
            n_pending += pending[j]
        if n_pending == 0:
            return 0
        settled = squares = 0.0  # penalties of all non-zero coefficients, pending ones included
        for j in range(1, coef.shape[0]):
            if coef[j] != 0.0:
                settled += penalty[j - 1]
                squares += ridge[j - 1] * coef[j] * coef[j]
        settled += squares
        if count[_STEPS] == 0 and not stopped(stop):
            _begin_race(race, rows, pending)
        if stopped(stop):
            return 3
        loss, noise = _measure(r)
        if stopped(stop):
            return 3
        common, noise = _bound_roundings(r, loss, settled, squares, noise, used, optional)
        if common >= cutoff:
            return 1
        line, side = _best_rounding(r, loss, settled, noise)
        if stopped(stop):  # not all candidates may have been looked at
            return 3
        if line < 0:  # scores that overflow compare as nothing
            return 2
        _take_rounding(r, line, side)


def sequential_rounding(
    columns, row_tiles, slot, labels, weights, total_weight, unit, feature_min, feature_max,
    scores, odds, coef, penalty, ridge, magnitude, min_size, max_size, cutoff, pending, workspace,
    bound, stop, n_threads,
):  # fmt: skip
    scratch = _scratch(len(coef), row_tiles.shape[1])
    outcome = _sequential_rounding(
        columns.T, row_tiles, slot, labels, weights, total_weight, unit, feature_min, feature_max,
        scores, coef, penalty, ridge, magnitude, min_size, max_size, cutoff, pending, workspace,
        bound[:2], bound[2:], *scratch, np.zeros(1), np.empty(0), np.empty(0, np.int64),
        odds, *_race(len(labels), len(slot)), stop,
    )  # fmt: skip
    return outcome, int(scratch[-1][0])
