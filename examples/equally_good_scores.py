"""
A list of equally good scores
=============================

One optimum hides how many scores are nearly as good. A search can list all of them, or the best
ones, and prove that none is missing. Then people choose among them: by what is cheap to measure,
or by what they understand.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from riskslim import RiskScore, RiskSLIMClassifier, TrainingData

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
cuts = X.median()
X = (cuts < X).rename(columns=lambda name: f"{name} > {cuts[name]:.4g}")
y = y.rename("benign")

# %%
# All scores of three conditions whose objective is within 5% of the best one, at most 200.

model = RiskSLIMClassifier(max_size=3, n_solutions=200, within=0.05, time_limit=60).fit(X, y)
pool = model.solution_.pool
print(pool.table(5))
print(pool.explain())

# %%
# How their objectives lie, and which conditions they use. One that nearly all of them have cannot
# be replaced; of several that share the places, one may be chosen.

names = np.array(pool.feature_names)
used = (pool.coefficients[:, 1:] != 0).mean(axis=0)
order = np.argsort(used)[-8:]

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.2))
left.plot(np.arange(1, len(pool) + 1), pool.objectives / pool.objectives[0], ".-")
left.set(xlabel="rank", ylabel="objective, best = 1")
right.barh(names[order], 100 * used[order])
right.set_xlabel("scores that use the condition (%)")
figure.tight_layout()
plt.show()

# %%
# Any of them makes a risk score of its own: here the best one that does without the largest radius,
# which is measured on another scale elsewhere. The certificate is about the first of the list.

unwanted = pool.feature_names.index("worst radius > 14.97")
rank = int(np.flatnonzero(pool.coefficients[:, 1 + unwanted] == 0)[0])
print(f"rank {rank}, {pool.objectives[rank] / pool.objectives[0] - 1:.1%} above the best one")
print(RiskScore.from_solution(model.solution_, TrainingData(X, y), rank=rank))
