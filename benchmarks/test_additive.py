"""Loss of an additive model of ten variables, and its slopes by all of their effects."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.instances import Case
from riskslim._kernels import additive

# The reference needs 1,920 bytes per row.
DEFAULT_CASES = [Case("binary", 10**5, 30)]
FULL_CASES = [Case("binary", n, 30) for n in (10**5, 5 * 10**5)]

VARIABLES, CUT_OFFS = 10, 48


def plain_loss(X, y, coef):
    """Loss and slopes by the coefficients of all items, as columns of NumPy give them."""
    scores = X @ coef
    margins = np.where(y, scores, -scores)
    slopes = np.where(y, -1.0, 1.0) / (1.0 + np.exp(margins)) / len(y)
    return np.logaddexp(0.0, -margins).mean(), slopes @ X


@pytest.mark.parametrize("role", ["reference", "riskslim"])
def test_loss_and_slopes_of_an_additive_model(case, measure, role):
    """The reference has float32 columns of the items."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, CUT_OFFS + 1, (VARIABLES, case.n)).astype(np.uint16)
    y = rng.random(case.n) < 0.3
    coef = rng.normal(size=(VARIABLES, CUT_OFFS)) / 20
    effects = np.zeros((VARIABLES, CUT_OFFS + 1))
    effects[:, 1:] = coef.cumsum(axis=1)
    first = np.arange(0, effects.size + 1, CUT_OFFS + 1)
    n = case.n
    positive, negative = y / n, ~y / n
    sums, out = np.empty(effects.size), np.empty(2)
    work = np.empty(additive.scratch_size(n, effects.size, CUT_OFFS + 1))
    live, stop = np.arange(VARIABLES), np.zeros(1, np.int64)
    X = np.empty((0, 0), np.float32)
    if role == "reference":
        X = (codes[:, None, :] > np.arange(CUT_OFFS)[None, :, None]).reshape(-1, n).T
        X = np.asfortranarray(X, dtype=np.float32)

    def call():
        if role == "reference":
            return plain_loss(X, y, coef.ravel().astype(np.float32))[0]
        additive.linearise(
            codes, live, first, effects.ravel(), positive, negative, sums, out, stop, work
        )
        return out[0]

    found = measure(
        call, family="branch and bound", kernel="additive model", role=role, case=case,
        slow=role == "reference",
    )  # fmt: skip
    margins = np.where(y, 1, -1) * effects[live[:, None], codes].sum(axis=0)
    assert abs(found - np.logaddexp(0.0, -margins).mean()) < (1e-5 if len(X) else 1e-12)
