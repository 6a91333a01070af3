"""Run FasterRisk on packed items: `python fasterrisk_worker.py ITEMS.npz SIZE [L2]`.

In its own environment: it needs an older NumPy than riskslim, so that it cannot be imported beside
it. L2 is the ridge penalty of its search on columns of norm 1 (its default is 1e-8; its rounding
has none), or several with commas between: then the one with the least mean log loss on three folds
of the rows. Prints JSON: CPU seconds of the search alone, every score of its pool with its
multiplier, and the penalty.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time
from functools import partial

import fasterrisk.fasterrisk as package
import numpy as np
from sklearn.model_selection import StratifiedKFold

# Its searches, whose constructors alone know the penalty.
SEARCHES = {
    name: getattr(package, name) for name in ("sparseLogRegModel", "sparseDiversePoolLogRegModel")
}
N_FOLDS = 3
DEFAULT = "1e-8"


def pool(X, y, size, penalty):
    """Multipliers, intercepts and points of the scores that it finds."""
    for name, search in SEARCHES.items():
        setattr(package, name, partial(search, lambda2=penalty))
    with contextlib.redirect_stdout(io.StringIO()):
        optimizer = package.RiskScoreOptimizer(X=X, y=y, k=size, lb=-5, ub=5)
        optimizer.optimize()
        return optimizer.get_models()


def test_loss(X, y, size, penalty):
    """Mean log loss of its best scores on the folds."""
    losses = []
    for train, test in StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y):
        multipliers, intercepts, points = pool(X[train], y[train], size, penalty)
        log_odds = (X[test] @ points[0] + intercepts[0]) / multipliers[0]
        losses.append(np.logaddexp(0.0, -y[test] * log_odds).mean())
    return np.mean(losses)


def main(path: str, size: int, penalties: list[float]) -> None:
    items = np.load(path)
    X = items["X"].astype(np.float64)
    y = np.where(items["y"] > 0, 1.0, -1.0)
    began = time.process_time()
    penalty = penalties[0]
    if len(penalties) > 1:
        penalty = min(penalties, key=lambda one: test_loss(X, y, size, one))
    multipliers, intercepts, points = pool(X, y, size, penalty)
    seconds = time.process_time() - began
    scores = [
        {"multiplier": float(m), "intercept": float(b), "points": np.asarray(p).tolist()}
        for m, b, p in zip(multipliers, intercepts, points, strict=True)
    ]
    print(json.dumps({"cpu_seconds": seconds, "scores": scores, "penalty": penalty}))


if __name__ == "__main__":
    given = sys.argv[3] if len(sys.argv) > 3 else DEFAULT
    main(sys.argv[1], int(sys.argv[2]), [float(one) for one in given.split(",")])
