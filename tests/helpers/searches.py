"""What searches are compared with and stopped by."""

from __future__ import annotations

import inspect
import itertools

import numpy as np


def least_objective(problem):
    """Least objective of all vectors at any scale of a list, without constraints."""
    data = problem.loss.data
    columns = np.column_stack([data.column(j) for j in range(data.n_features)])
    ranges = [np.arange(a, b + 1) for a, b in zip(problem.lower, problem.upper, strict=True)]
    points = np.array(list(itertools.product(*ranges[1:])))
    size = np.count_nonzero(points, axis=1)
    points = points[(problem.min_size <= size) & (size <= problem.max_size)]
    weights = np.ones(data.n_rows) if data.sample_weight is None else data.sample_weight
    weights = weights / weights.sum()
    least = np.inf
    for scale, intercept in itertools.product(problem.scales.values, ranges[0]):
        margins = data.labels * (intercept + points @ columns.T) / scale
        objectives = np.logaddexp(0.0, -margins) @ weights + (points != 0) @ problem.l0_penalty
        objectives += (points / scale) ** 2 @ problem.l2_penalty
        least = min(least, float(objectives.min()))
    return least


def neighbours(problem, coef, directions=None):
    """Every feasible vector that differs in exactly one coefficient."""
    for j in range(len(coef)) if directions is None else directions:
        for value in range(problem.lower[j], problem.upper[j] + 1):
            other = coef.copy()
            other[j] = value
            if value != coef[j] and problem.is_feasible(other):
                yield other


class StopAfter:
    """A wish to stop that comes after so many questions."""

    def __init__(self, calls):
        self.calls = calls
        self.asked = 0

    def __call__(self):
        self.asked += 1
        return self.asked > self.calls


class StopWhen:
    """A wish to stop that comes once a search has the objective and the gap that are asked for."""

    def __init__(self, objective, gap):
        self.objective, self.gap, self.is_enough = objective, gap, False

    def progress(self, record):
        near = record.upper_bound <= self.objective + 1e-10 and record.gap <= self.gap
        self.is_enough = self.is_enough or near

    def __call__(self):
        return self.is_enough


class StopWithin:
    """Kernels, by default those of nodes, of which one call finds the flag set at one of its looks.

    Kernels that do not count their looks find it set at the first one.
    """

    def __init__(self, kernels, call, looks, names=("solve_root", "expand")):
        self.kernels, self.call, self.looks, self.names = kernels, call, looks, names
        self.calls = 0

    def __getattr__(self, name):
        kernel = getattr(self.kernels, name)
        if name not in self.names:
            return kernel

        place = list(inspect.signature(kernel).parameters).index("stop")

        def called(*arguments):
            stop = arguments[place]
            self.calls += 1
            if self.calls == self.call:
                stop[0] = -self.looks
            found = kernel(*arguments)
            if self.calls == self.call:
                stop[0] = 1
            return found

        return called
