"""
Is there another score as good?
===============================

One optimum hides how many scores are nearly as good. A search can list all sets of items that have
one, and prove that none is missing. Then people choose among them: by what is cheap to measure, or
by what they understand.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import riskslim
from riskslim import ItemEncoder, RiskSLIMClassifier

X, benign = load_breast_cancer(return_X_y=True, as_frame=True)
X, y = X.filter(regex="^worst"), (1 - benign).rename("malignancy")
data = riskslim.read(X, y, items=ItemEncoder(n_thresholds=3, threshold_digits=2))

# %%
# All sets of at most three conditions whose best score is within 5% of the best one, and what it
# costs to do without each condition and each variable of the best.

model = RiskSLIMClassifier(max_size=3, time_limit=60)
found = model.alternatives(data, within=0.05, prices="used")
print(found)

# %%
# How far each set is above the best, and which variables the sets have. One that nearly all of them
# have is hard to replace; of several that share the places, one may be chosen.

ranks = range(len(found))
variable = dict(zip(found.solution.feature_names, found.variables, strict=True))
asked = [{variable[name] for name in found.items(rank)} for rank in ranks]
shares = {name: sum(name in one for one in asked) / len(found) for name in set().union(*asked)}
names = sorted(shares, key=shares.get)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.2))
left.plot(ranks, [100 * found.share(rank) for rank in ranks], ".-")
left.set(xlabel="rank", ylabel="above the best objective (%)")
right.barh(names, [100 * shares[name] for name in names])
right.set_xlabel("sets that ask for the variable (%)")
figure.tight_layout()
plt.show()

# %%
# Do the scores agree on a patient? Measured on the rows, each by all of them.

choice = found.compare(data)
print(choice.found.agreement[0].explain())

# %%
# One of them makes the risk score: here the best that does without concave points, of all
# measurements the one that costs most to do without.

smaller = choice.without("worst concave points")
score = smaller.chosen()
print(f"{len(smaller)} of {len(found)} sets do without concave points")
print(score)
