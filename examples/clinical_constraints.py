"""
Constraints by clinical knowledge
=================================

What is known before there are data is stated, not hoped for: which way a measurement points, which
conditions exclude each other, what the guideline wants at least. The proof holds for all scores
that meet these requirements. The patients are made up, and unlike most: in this sample, higher
blood pressure seems to protect.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from riskslim import (
    ItemEncoder,
    RiskSLIMClassifier,
    at_most,
    if_then,
    minimum_points,
    monotone,
    variable,
)

rng = np.random.default_rng(3)
n = 600
patients = pd.DataFrame(
    {
        "age": rng.integers(30, 90, n),
        "systolic": rng.normal(140, 20, n).round(),
        "diabetes": rng.integers(0, 2, n),
        "prior_stroke": rng.integers(0, 2, n) * rng.integers(0, 2, n),
    }
)
log_odds = (
    -2.2
    + 1.2 * (patients["age"] >= 70)
    - 0.6 * (patients["systolic"] >= 150)
    + 0.5 * patients["diabetes"]
    + 1.2 * patients["prior_stroke"]
)
stroke = pd.Series(rng.random(n) < 1 / (1 + np.exp(-log_odds)), name="stroke").astype(int)
encoder = ItemEncoder(thresholds={"age": [50, 60, 70, 80], "systolic": [130, 150, 170]})


def fitted(*constraints):
    """The best score of at most five items that meets the constraints."""
    model = RiskSLIMClassifier(items=encoder, max_size=5, constraints=constraints, time_limit=30)
    return model.fit(patients, stroke)


free = fitted()
print(free.risk_score_)

# %%
# Fewer points for a high pressure would not be accepted. The requirements as they would be said:

known = fitted(
    monotone(variable("age"), "+"),
    monotone(variable("systolic"), "+"),
    at_most(2, variable("age")),
    minimum_points("prior_stroke", 1),
    if_then("diabetes", variable("age"), name="diabetes counts beside age"),
)
print(known.risk_score_)

# %%
# Both scores are proven to be the best of their kind, so the price of the requirements is known.

objectives = [model.certificate_.objective for model in (free, known)]
print(f"objective {objectives[0]:.4f} without, {objectives[1]:.4f} with the requirements")
for requirement in known.risk_score_.requirements:
    print("-", requirement)

# %%

figure, axes = plt.subplots(figsize=(6, 2.4))
axes.barh(["with requirements", "without"], objectives[::-1], color=["#2a6f97", "#a9c5d6"])
axes.set_xlim(0.95 * min(objectives), 1.02 * max(objectives))
axes.set_xlabel("objective (average logistic loss, ridge penalty and a small price per item)")
figure.tight_layout()
plt.show()
