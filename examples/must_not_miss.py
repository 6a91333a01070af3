"""
A rule that must not miss
=========================

An emergency department wants to send people with head injuries home without a scan, but to miss
hardly any of those who have a bleeding. The patients are made up.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from riskslim import ItemEncoder, RiskSLIMClassifier, model_size_path

rng = np.random.default_rng(0)
n = 3000
patients = pd.DataFrame(
    {
        "age": rng.integers(16, 95, n),
        "coma scale": rng.choice([15, 14, 13], n, p=[0.85, 0.11, 0.04]),
        "vomiting": rng.binomial(3, 0.12, n),
        "fall from height": rng.integers(0, 2, n),
        "blood thinner": (rng.random(n) < 0.12).astype(int),
        "headache": (rng.random(n) < 0.5).astype(int),
    }
)
log_odds = (
    -4.6
    + 1.2 * (patients["age"] >= 65)
    + 2.0 * (patients["coma scale"] < 15)
    + 1.3 * (patients["vomiting"] >= 2)
    + 0.7 * patients["fall from height"]
    + 1.4 * patients["blood thinner"]
)
bleeding = pd.Series(rng.random(n) < 1 / (1 + np.exp(-log_odds)), name="bleeding").astype(int)
train, test, y_train, y_test = train_test_split(
    patients, bleeding, test_size=1 / 3, stratify=bleeding, random_state=0
)
print(f"{y_train.sum()} of {len(y_train)} training rows have a bleeding")

# %%
# Of all scores of at most four conditions the search takes those that find 95% of the bleedings
# from some total on, and among them one that sends most of the others home. No other score within
# these requirements sends more of them home.

encoder = ItemEncoder(thresholds={"age": [40, 65, 80]}, n_thresholds=2)
rule = RiskSLIMClassifier(items=encoder, max_size=4, max_coef=3, sensitivity=0.95).fit(
    train, y_train
)
score = rule.risk_score_
print(score)

# %%
# The score with the least loss has no such threshold: at 95% it sends fewer home.

usual = RiskSLIMClassifier(items=encoder, max_size=4, max_coef=3).fit(train, y_train).risk_score_
usual = usual.with_operating_point(train, y_train, sensitivity=0.95)
for name, one in (("rule", score), ("least loss", usual)):
    print(f"{name}: {one.operating_point.training.describe()}")

# %%
# Of other patients the rule finds fewer than of those that it was chosen on.

score = score.with_operating_point(X_test=test, y_test=y_test)
print(score.operating_point.test.describe())

# %%
# How much do more conditions buy? The best rules of one to four conditions, on the training rows
# and on folds of them.

path = model_size_path(rule, train, y_train, cv=5)
path.plot_rules()
plt.show()

# %%
# The rule without adding up:

print(score.boolean_rule())
