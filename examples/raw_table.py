"""
A score from a raw table
========================

A data frame with numbers, text and gaps goes in; a sheet that a person can fill in comes out, and
predictions for raw records. The patients are made up.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from riskslim import ItemEncoder, RiskSLIMClassifier

rng = np.random.default_rng(0)
n = 1500
patients = pd.DataFrame(
    {
        "age": rng.integers(20, 95, n),
        "troponin": rng.gamma(2, 9, n).round(1),
        "ward": rng.choice(["medicine", "surgery", "emergency"], n, p=[0.5, 0.3, 0.2]),
        "smoker": rng.choice(["no", "yes"], n, p=[0.7, 0.3]),
    }
)
log_odds = (
    -3.5
    + 1.6 * (patients["age"] >= 65)
    + 1.3 * (patients["troponin"] >= 25)
    + 1.0 * (patients["ward"] == "emergency")
    + 0.8 * (patients["smoker"] == "yes")
)
died = pd.Series(rng.random(n) < 1 / (1 + np.exp(-log_odds)), name="died").astype(int)
patients.loc[rng.random(n) < 0.15, "troponin"] = np.nan  # not always measured
patients.head()

# %%
# The encoder says what may become a condition: cut-offs of one's own for age, quantiles that are
# moved to round numbers for troponin, an item for each level of text, and one for "is missing".
# The classifier takes the raw table and reads the score's points off the optimum.

encoder = ItemEncoder(
    thresholds={"age": [50, 65, 80]},
    n_thresholds=6,
    round_thresholds=True,
    missing="indicator",
)
model = RiskSLIMClassifier(items=encoder, max_size=4, time_limit=30).fit(patients, died)
score = model.risk_score_
print(score)

# %%
# The same as a picture, with the risks that were observed beside the predicted ones.

sheet = score.sheet(patients, died)
sheet.plot()
plt.show()

# %%
# The score knows the raw columns: it takes a record as it comes, and says why it has its points.

record = {"age": 71, "troponin": None, "ward": "emergency", "smoker": "no"}
print(f"risk {score.predict_proba(record)[0, 1]:.1%}")
print(score.explain(record))
