"""
Going on from the last fit
==========================

With ``warm_start=True`` a fit begins at the coefficients of the one before. The model then tells of
its records by both fits, and its receipt is one of all of them.
"""

import matplotlib.pyplot as plt

from skdp import DPLogisticRegression
from skdp.datasets import make_census

X, y = make_census(12_000, return_X_y=True)
model = DPLogisticRegression(
    epsilon=0.2, delta=1e-6, data_norm=1.0, classes=[0, 1], solver="gd", warm_start=True
)
spent, scores = [], []
for _ in range(6):
    model.fit(X[:9_000], y[:9_000])
    spent.append(model.privacy_.epsilon)
    scores.append(model.score(X[9_000:], y[9_000:]))
    print(f"epsilon of all fits so far {spent[-1]:.3f}, accuracy {scores[-1]:.3f}")

# %%
# What the next fit would bring the total to can be asked before it is made.

print("one more:", round(model.quote(9_000, X.shape[1]).epsilon, 3))
plt.plot(spent, scores, "o-")
plt.xlabel("epsilon of all fits so far")
plt.ylabel("accuracy")
plt.show()
