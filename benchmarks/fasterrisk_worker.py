"""Run FasterRisk on packed items: `python fasterrisk_worker.py ITEMS.npz SIZE`, in its environment.

It needs an older NumPy than riskslim, so that it cannot be imported beside it. Prints JSON: CPU
seconds of the search alone, and every score of its pool with its multiplier.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time

import numpy as np
from fasterrisk.fasterrisk import RiskScoreOptimizer


def main(path: str, size: int) -> None:
    items = np.load(path)
    X = items["X"].astype(np.float64)
    y = np.where(items["y"] > 0, 1.0, -1.0)
    began = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        optimizer = RiskScoreOptimizer(X=X, y=y, k=size, lb=-5, ub=5)
        optimizer.optimize()
        multipliers, intercepts, points = optimizer.get_models()
    seconds = time.process_time() - began
    scores = [
        {"multiplier": float(m), "intercept": float(b), "points": np.asarray(p).tolist()}
        for m, b, p in zip(multipliers, intercepts, points, strict=True)
    ]
    print(json.dumps({"cpu_seconds": seconds, "scores": scores}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
