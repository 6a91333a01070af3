"""Fit a scorecard of optbinning: `python optbinning_worker.py TABLES.npz`, in its environment.

It needs other versions of NumPy and scikit-learn than riskslim. TABLES.npz has raw columns of the
training rows and the test rows, and training labels. Each variable is binned optimally, a logistic
regression is fitted to the weights of evidence, and points are whole numbers. Prints JSON: CPU
seconds, the log-odds of the test rows and the number of bins with points of their own.
"""

from __future__ import annotations

import json
import sys
import time
import warnings

import numpy as np
import pandas as pd
from optbinning import BinningProcess, Scorecard
from sklearn.linear_model import LogisticRegression

# Even odds at 600 points, and the odds double with every 20, as scorecards have it.
PDO, ODDS, BASE = 20, 1, 600


def main(path: str) -> None:
    given = np.load(path, allow_pickle=True)
    names = [str(name) for name in given["names"]]
    train = pd.DataFrame(given["train"], columns=names).infer_objects()
    test = pd.DataFrame(given["test"], columns=names).infer_objects()
    y = given["y"].astype(int)
    began = time.process_time()
    categorical = [name for name in names if train[name].dtype == object]
    process = BinningProcess(names, categorical_variables=categorical)
    # optbinning has high points for the other class: log-odds are of minus the points.
    card = Scorecard(
        binning_process=process,
        estimator=LogisticRegression(max_iter=1000),
        scaling_method="pdo_odds",
        scaling_method_params={"pdo": PDO, "odds": ODDS, "scorecard_points": BASE},
        rounding=True,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        card.fit(train, y)
        log_odds = (BASE - card.score(test)) * np.log(2) / PDO
    table = card.table()
    n_bins = int((table["Points"].abs() > 0).sum())
    result = {
        "cpu_seconds": time.process_time() - began,
        "log_odds": np.asarray(log_odds, float).tolist(),
        "n_items": n_bins,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1])
