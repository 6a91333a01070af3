"""
Other packages on riskslim.backend
==================================

Three ways to use the compiled passes from other packages, on plain arrays. Each adapter does what
its own package does, with the passes over the rows made by riskslim; :doc:`/backend` has what they
gain.

- `fitted_by_scipy`: an objective for scipy.optimize.minimize, with its second derivatives;
- `fitted_as_scikit_learn`: the coefficients of LogisticRegression(C);
- `grown`: a greedy search of integer scores, with the steps that FasterRisk's search takes: the
  best step of every coordinate, then all points polished.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from riskslim import backend


def fitted_by_scipy(rows: backend.Prepared, ridge: float = 0.0) -> NDArray[np.float64]:
    """Minimise the loss, and ridge / 2 times the squares of all coefficients but the intercept.

    Newton's method needs few passes, and the second derivatives cost about as much as some of them.
    """
    penalised = np.concatenate(([0.0], np.full(rows.n_features, ridge)))

    def value_and_gradient(coef):
        value, gradient = backend.loss_and_gradient(coef, rows)
        return value + 0.5 * penalised @ coef**2, gradient + penalised * coef

    def second_derivatives(coef):
        return backend.hessian(coef, rows) + np.diag(penalised)

    start = np.zeros(rows.n_features + 1)
    found = minimize(
        value_and_gradient, start, jac=True, hess=second_derivatives, method="trust-exact",
        options={"gtol": 1e-8},
    )  # fmt: skip
    return found.x


def fitted_as_scikit_learn(
    rows: backend.Prepared, C: float = 1.0, tol: float = 1e-4, max_iter: int = 100
) -> tuple[NDArray[np.float64], float]:
    """Coefficients and intercept of LogisticRegression(C=C, tol=tol, max_iter=max_iter).

    scikit-learn minimises the mean loss plus the squares of the coefficients / (2 C n), by L-BFGS
    with these options; its vectors have the intercept last.
    """
    penalty = 1.0 / (C * rows.n_samples)

    def value_and_gradient(vector):
        value, gradient = backend.loss_and_gradient(np.roll(vector, 1), rows)
        slopes = np.roll(gradient, -1)
        slopes[:-1] += penalty * vector[:-1]
        return value + 0.5 * penalty * vector[:-1] @ vector[:-1], slopes

    found = minimize(
        value_and_gradient, np.zeros(rows.n_features + 1), jac=True, method="L-BFGS-B",
        options={"maxiter": max_iter, "maxls": 50, "gtol": tol, "ftol": 64 * np.finfo(float).eps},
    )  # fmt: skip
    return found.x[:-1], float(found.x[-1])


def grown(rows: backend.Prepared, size: int, most: int = 5) -> backend.Descent:
    """Add the column whose best step lowers the loss most, polish all points, and so on."""
    box = {"lower": -most, "upper": most, "intercept_lower": -50, "intercept_upper": 50}
    coef = np.zeros(rows.n_features + 1, np.int64)
    found = backend.Descent(coef, backend.loss(coef, rows))
    for length in range(1, size + 1):
        steps = backend.best_steps(found.coef, rows, **box)
        j = int(np.argmin(steps.loss))
        if not steps.loss[j] < found.objective:
            break
        coef = found.coef.copy()
        coef[0], coef[j + 1] = steps.intercept[j], steps.value[j]
        found = backend.coordinate_descent(coef, rows, max_size=length, **box)
    return found


def main() -> None:
    """Run all three on small data."""
    random = np.random.default_rng(0)
    X = random.integers(0, 2, (20_000, 12)).astype(np.int8)
    risk = 1.0 / (1.0 + np.exp(-(X[:, :4] @ np.array([2.0, -1.0, 1.0, 3.0]) - 3.0)))
    y = (random.random(len(X)) < risk).astype(np.int8)
    rows = backend.prepare(X, y)
    print(rows)
    print("scipy.optimize:", fitted_by_scipy(rows).round(2))
    coef, intercept = fitted_as_scikit_learn(rows)
    print("as scikit-learn:", round(intercept, 2), coef.round(2))
    score = grown(rows, 4)
    print("grown score:", score.coef, "loss", round(score.objective, 6))


if __name__ == "__main__":
    main()
