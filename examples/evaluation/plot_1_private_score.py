"""
A score that may be published
=============================

The accuracy on held-out records is an exact function of these records. `dp_score` adds noise to it,
and its interval holds both the noise and the chance of who happened to be held out.
"""

import matplotlib.pyplot as plt
import numpy as np

from skdp import DPLogisticRegression
from skdp.datasets import make_census
from skdp.metrics import DPConfusionMatrix, dp_score

X, y = make_census(30_000, return_X_y=True)
model = DPLogisticRegression(data_norm=1.0, classes=[0, 1]).fit(X[:20_000], y[:20_000])
held = X[20_000:22_000], y[20_000:22_000]
exact = model.score(*held)

# %%
epsilons = [0.03, 0.1, 0.3, 1.0]
found = [dp_score(model, *held, epsilon=e) for e in epsilons]
for estimate in found:
    print(estimate)
middle = np.array([estimate.value for estimate in found])
ends = np.array([(estimate.low, estimate.high) for estimate in found]).T
plt.errorbar(epsilons, middle, [middle - ends[0], ends[1] - middle], fmt="o", label="private")
plt.axhline(exact, color="0.6", ls="--", label="exact (not to be published)")
plt.xscale("log")
plt.xlabel("epsilon of the score")
plt.ylabel("accuracy of 2,000 held-out records")
plt.legend()
plt.show()

# %%
# One noisy table of counts has several figures in it, for one price.

table = DPConfusionMatrix.from_estimator(model, *held, epsilon=0.5)
print("recall", table.recall(1), "precision", table.precision(1), sep="\n")
