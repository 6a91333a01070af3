"""What searches are compared with and stopped by."""

from __future__ import annotations


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
