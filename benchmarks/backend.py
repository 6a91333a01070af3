"""riskslim.backend beside NumPy, SciPy and scikit-learn, on the same rows in the same run.

    python -m benchmarks.backend [--rows 1000000] [--columns 20] [--kinds binary,integer,real]

Prints Markdown: CPU seconds on one thread, BLAS included, the least of three rounds (one round of
whole fits). Peers get X as float64, riskslim as int8 where the values are integers. Every pair of
results is compared before its times are reported.
"""

from __future__ import annotations

import argparse
import contextlib
import runpy
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from benchmarks.machine import describe_machine
from riskslim import backend

KINDS = ("binary", "integer", "real")
EXAMPLE = Path(__file__).parent.parent / "examples" / "backend.py"


class Line(NamedTuple):
    """One comparison: CPU seconds of the peer and of riskslim."""

    kind: str
    what: str
    peer: float
    own: float


def make_rows(kind: str, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns of one kind, and labels that half of them bear on.

    Parameters
    ----------
    kind : str
    n, d : int

    Returns
    -------
    X : ndarray of shape (n, d)
        int8 or float64, C order.
    y : ndarray of int8, shape (n,)
    """
    random = np.random.default_rng(d)
    if kind == "real":
        X, spread = random.normal(size=(n, d)), 1.0
    else:
        high = 2 if kind == "binary" else 10
        X, spread = random.integers(0, high, (n, d)).astype(np.int8), (high - 1) / 2
    points = np.where(np.arange(d) % 2, 0.0, np.where(np.arange(d) % 4, -1.0, 1.0) / spread)
    score = X @ points
    return X, (random.random(n) < expit(score - np.median(score))).astype(np.int8)


def cpu(run: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """Least CPU seconds of some rounds, and the result."""
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        found = run()
        seconds.append(time.process_time() - start)
    return min(seconds), found


class NumPyLoss:
    """The same mathematics with BLAS and SciPy's ``expit``."""

    def __init__(self, X: np.ndarray, y: np.ndarray) -> None:
        self.z = np.column_stack((np.ones(len(X)), X.astype(np.float64)))
        self.sign = 2.0 * y - 1.0

    def value(self, coef: np.ndarray) -> float:
        return float(np.logaddexp(0.0, -self.sign * (self.z @ coef)).mean())

    def value_and_gradient(self, coef: np.ndarray) -> tuple[float, np.ndarray]:
        margin = self.sign * (self.z @ coef)
        slope = -self.sign * expit(-margin)
        return float(np.logaddexp(0.0, -margin).mean()), slope @ self.z / len(self.z)

    def hessian(self, coef: np.ndarray) -> np.ndarray:
        risk = expit(self.z @ coef)
        return (self.z * (risk * (1.0 - risk))[:, None]).T @ self.z / len(self.z)

    def best_steps(self, coef: np.ndarray, most: int) -> np.ndarray:
        """Least loss of every column without points, the intercept kept.

        The loss is convex along a column: integers are tried from 0 on in the direction of
        descent until they get worse. Rows where the column is zero are not looked at again.
        """
        margin = self.sign * (self.z @ coef)
        loss = np.logaddexp(0.0, -margin)
        slope = (-self.sign * expit(-margin)) @ self.z
        found = np.full(len(coef) - 1, np.inf)
        for j in np.flatnonzero(coef[1:] == 0):
            rows = np.flatnonzero(self.z[:, 1 + j])
            x, here = self.z[rows, 1 + j] * self.sign[rows], margin[rows]
            rest = loss.sum() - loss[rows].sum()
            direction = -np.sign(slope[1 + j])
            for size in range(1, most + 1):
                value = rest + np.logaddexp(0.0, -(here + direction * size * x)).sum()
                if value >= found[j]:
                    break
                found[j] = value
        return found / len(self.z)


def passes(kind: str, rows: backend.Prepared, peer: NumPyLoss) -> Iterator[Line]:
    """Single passes over the rows."""
    d = rows.n_features
    whole = np.zeros(d + 1, np.int64)
    whole[[0, 1, 3, 5]] = -1, 1, -1, 1
    fractional = np.linspace(-0.3, 0.3, d + 1)
    for name, coef in (("4 integers", whole), ("all reals", fractional)):
        theirs, expected = cpu(lambda coef=coef: peer.value(coef), 3)
        own, found = cpu(lambda coef=coef: backend.loss(coef, rows), 3)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        yield Line(kind, f"loss, {name}", theirs, own)
        theirs, expected = cpu(lambda coef=coef: peer.value_and_gradient(coef), 3)
        own, found = cpu(lambda coef=coef: backend.loss_and_gradient(coef, rows), 3)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-8, atol=1e-12)
        yield Line(kind, f"loss and gradient, {name}", theirs, own)
    theirs, expected = cpu(lambda: peer.hessian(fractional), 3)
    own, found = cpu(lambda: backend.hessian(fractional, rows), 3)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-12)
    yield Line(kind, "second derivatives", theirs, own)
    if kind == "real":
        return
    theirs, expected = cpu(lambda: peer.best_steps(whole, 5), 1)
    own, steps = cpu(
        lambda: backend.best_steps(whole, rows, intercept_lower=-50, intercept_upper=50), 3
    )
    # The package searches the intercept as well: it is never worse.
    assert (steps.loss <= expected * (1 + 1e-9)).all()
    yield Line(kind, "best step of every coordinate", theirs, own)


def fits(
    kind: str, X: np.ndarray, y: np.ndarray, rows: backend.Prepared, peer: NumPyLoss
) -> Iterator[Line]:
    """Whole minimisations; packing is counted where the peer gets the raw array, too."""
    adapters = runpy.run_path(str(EXAMPLE))
    start = np.zeros(rows.n_features + 1)
    theirs, expected = cpu(
        lambda: minimize(
            peer.value_and_gradient, start, jac=True, hess=peer.hessian, method="trust-exact",
            options={"gtol": 1e-8},
        ).x, 1,
    )  # fmt: skip
    own, found = cpu(lambda: adapters["fitted_by_scipy"](rows), 1)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    yield Line(kind, "scipy.optimize, trust-exact", theirs, own)
    as_float = X.astype(np.float64)
    theirs, model = cpu(lambda: LogisticRegression(tol=1e-6).fit(as_float, y), 1)
    own, found = cpu(lambda: adapters["fitted_as_scikit_learn"](backend.prepare(X, y), tol=1e-6), 1)
    np.testing.assert_allclose(found[0], model.coef_[0], atol=1e-3)
    yield Line(kind, "LogisticRegression.fit, packing included", theirs, own)


def compare(kinds: Sequence[str], n: int, d: int) -> Iterator[Line]:
    """All comparisons.

    Parameters
    ----------
    kinds : sequence of str
    n, d : int
        Rows and columns.

    Yields
    ------
    Line
    """
    for kind in kinds:
        X, y = make_rows(kind, n, d)
        peer = NumPyLoss(X, y)
        packing, rows = cpu(lambda X=X, y=y: backend.prepare(X, y), 3)
        yield Line(kind, "prepare (the peer: a float64 copy)",
                   cpu(lambda X=X, y=y: NumPyLoss(X, y), 3)[0], packing)  # fmt: skip
        yield from passes(kind, rows, peer)
        yield from fits(kind, X, y, rows, peer)


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.backend",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--kinds", default=",".join(KINDS), help="binary, integer, real")
    options = parser.parse_args(arguments)
    kinds = options.kinds.split(",")
    if unknown := set(kinds) - set(KINDS):
        parser.error(f"unknown kinds: {', '.join(sorted(unknown))}")
    sys.stdout.write(
        f"{options.rows} rows, {options.columns} columns; {describe_machine()['processor']}\n\n"
        "| columns | what | peer | riskslim | ratio |\n|---|---|---|---|---|\n"
    )
    with contextlib.ExitStack() as stack:
        stack.enter_context(threadpool_limits(1))
        for line in compare(kinds, options.rows, options.columns):
            ratio = line.peer / max(line.own, 1e-9)
            sys.stdout.write(
                f"| {line.kind} | {line.what} | {line.peer:.4f} s | {line.own:.4f} s "
                f"| {ratio:.1f} |\n"
            )
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
