"""
A search of one's own on the fast backend
=========================================

``riskslim.backend`` has the passes over the rows alone, on plain arrays: the loss, its derivatives,
the best step of every coordinate. Here a beam search of 20 lines is built on them, and compared
with rounding the coefficients of a logistic regression. The data are made up.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

from riskslim import backend

rng = np.random.default_rng(1)
n, d, most = 100_000, 25, 5
X = (rng.random((n, d)) < rng.uniform(0.1, 0.6, d)).astype(np.int8)
X[:, 1::5] |= X[:, ::5] & (rng.random((n, d // 5)) < 0.8)  # some findings go together
truth = np.concatenate((rng.normal(0, 1.2, 8), np.zeros(d - 8)))
y = (rng.random(n) < 1 / (1 + np.exp(2.5 - X @ truth))).astype(np.int8)

# %%
# Arrays are checked and packed once: findings of 0 and 1 as bytes, equal rows merged where that
# pays. The handle takes the place of ``X, y`` in every function.

rows = backend.prepare(X, y)
print(rows)

# %%
# The passes beside plain NumPy on float64, the same loss to the last digits:

matrix, sign = X.astype(np.float64), 2.0 * y - 1.0
coef = np.concatenate(([-2.0], np.resize([1.0, -1.0, 2.0, 0.0, 0.5], d)))


def by_numpy():
    """Return the mean logistic loss."""
    return np.logaddexp(0, -sign * (coef[0] + matrix @ coef[1:])).mean()


def seconds(call, times=20):
    """Return the CPU seconds of a call."""
    start = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - start) / times


print(f"difference {abs(by_numpy() - backend.loss(coef, rows)):.0e}")
measured = {"NumPy": seconds(by_numpy), "riskslim": seconds(lambda: backend.loss(coef, rows))}
for name, value in measured.items():
    print(f"{name:9} {1e3 * value:7.2f} ms of a processor")

# %%
# The search: of every score in the beam, take the best step of each unused feature, keep the best
# ten of all, and polish their points. ``best_steps`` looks at all features in one pass.

box = {"lower": -most, "upper": most, "intercept_lower": -30, "intercept_upper": 30}


def grown(largest, width=10):
    """Return the best score of each size up to the largest."""
    beam, best = [np.zeros(d + 1, np.int64)], []
    for size in range(1, largest + 1):
        found = {}
        for start in beam:
            steps = backend.best_steps(start, rows, **box)
            for j in np.argsort(steps.loss)[:width]:
                if np.isfinite(steps.loss[j]) and not start[j + 1]:
                    score = start.copy()
                    score[0], score[j + 1] = steps.intercept[j], steps.value[j]
                    found[score.tobytes()] = (steps.loss[j], score)
        chosen = sorted(found.values(), key=lambda pair: pair[0])[:width]
        polished = [
            backend.coordinate_descent(score, rows, max_size=size, **box) for _, score in chosen
        ]
        polished.sort(key=lambda one: one.objective)
        beam = [one.coef for one in polished]
        best.append(polished[0])
    return best


scores = grown(7)
for score in scores:
    print(np.count_nonzero(score.coef[1:]), "features, loss", round(score.objective, 6))

# %%
# Rounding: a logistic regression on the same passes, whose largest coefficients are kept and
# rounded one after the other.

fitted = minimize(
    lambda coef: backend.loss_and_gradient(coef, rows), np.zeros(d + 1), jac=True, method="L-BFGS-B"
)
rounded = []
for size in range(1, 8):
    kept = np.concatenate(([0], 1 + np.argsort(-np.abs(fitted.x[1:]))[:size]))
    start = np.zeros(d + 1)
    start[kept] = fitted.x[kept]
    rounded.append(backend.sequential_rounding(start, rows, max_size=size, **box).objective)

figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
axes.plot(range(1, 8), rounded, "s--", label="logistic regression, rounded")
axes.plot(range(1, 8), [score.objective for score in scores], "o-", label="beam search")
axes.axhline(fitted.fun, color="grey", lw=1, label="all 25 features, real coefficients")
axes.set(xlabel="features of the score", ylabel="mean logistic loss")
axes.legend()
plt.show()
