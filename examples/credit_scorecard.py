"""
A credit scorecard
==================

The same scores in the form that lenders use: points for every band of every variable, more points
for less risk, and a scale on which a fixed number of points doubles the odds. The applicants are
made up.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from riskslim import ItemEncoder, RiskSLIMClassifier
from riskslim.metrics import auc, reliability_curve
from riskslim.plots import plot_reliability

rng = np.random.default_rng(7)
n = 4000
applicants = pd.DataFrame(
    {
        "months_employed": rng.gamma(1.5, 30, n).round(),
        "utilisation": (100 * rng.beta(1.2, 2, n)).round(),
        "late_payments": rng.poisson(0.5, n),
        "home": rng.choice(["owner", "tenant", "other"], n, p=[0.4, 0.5, 0.1]),
    }
)
log_odds = (
    -3.2
    + 1.1 * (applicants["months_employed"] < 12)
    + 0.9 * (applicants["utilisation"] >= 50)
    + 0.9 * (applicants["utilisation"] >= 80)
    + 0.8 * applicants["late_payments"].clip(upper=2)
    + 0.5 * (applicants["home"] != "owner")
)
default = pd.Series(rng.random(n) < 1 / (1 + np.exp(-log_odds)), name="default").astype(int)
train, test = np.arange(n) < 3000, np.arange(n) >= 3000

# %%
# A whole unit of log-odds for each point is coarse for credit. ``scale="free"`` lets the search
# choose what one point is worth, together with the points, and proves the optimum over both.
# ``monotone`` keeps what everybody expects: more late payments never lower the risk.

model = RiskSLIMClassifier(
    items=ItemEncoder(
        thresholds={
            "months_employed": [12, 36],
            "utilisation": [30, 50, 80],
            "late_payments": [1, 2],
        }
    ),
    max_size=6,
    scale="free",
    monotone={"late_payments": "+", "utilisation": "+", "months_employed": "-"},
    time_limit=30,
).fit(applicants[train], default[train])
score = model.risk_score_
print(model.certificate_)

# %%
# The scorecard: 600 points stand for odds of 50 to 1 of being repaid, and 20 more double them.

card = score.scorecard(applicants[train], default[train], base_points=600, base_odds=50, pdo=20)
print(card)

# %%
# On applicants that were not used.

risks = model.predict_proba(applicants[test])[:, 1]
print(f"AUC on {test.sum()} other applicants: {auc(default[test], risks):.3f}")
plot_reliability(reliability_curve(default[test], risks))
plt.show()
