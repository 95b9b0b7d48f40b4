"""
Replaced, or added and removed
==============================

Two data sets are neighbours if one record is *replaced*, or if one is *added or removed*. The
second promise also hides how many records there are. Figures under the two are not comparable.
"""

import matplotlib.pyplot as plt
import numpy as np

from skdp import DPLogisticRegression
from skdp.datasets import make_census

X, y = make_census(12_000, return_X_y=True)
X_test, y_test = X[9_000:], y[9_000:]
epsilons = [0.1, 0.3, 1, 3]
for neighbors in ("replace_one", "add_remove"):
    scores = []
    for epsilon in epsilons:
        model = DPLogisticRegression(
            epsilon=epsilon, data_norm=1.0, classes=[0, 1], neighbors=neighbors, n_public=9_000
        )
        scores.append([model.fit(X[:9_000], y[:9_000]).score(X_test, y_test) for _ in range(4)])
    plt.errorbar(epsilons, np.mean(scores, 1), np.std(scores, 1), fmt="o-", label=neighbors)
plt.xscale("log")
plt.xlabel("epsilon under that relation")
plt.ylabel("accuracy")
plt.legend()
plt.show()

# %%
# A replacement is a removal and an addition: who has a promise under add/remove has one of twice
# the epsilon under replacement. There is no way back.

under = model.privacy_
print(f"{under.neighbors}: epsilon {under.epsilon:.3f}, delta {under.delta:g}")
factor = 1 + np.exp(under.epsilon)
print(f"replace_one: epsilon at most {2 * under.epsilon:.3f}, delta {factor * under.delta:.2g}")
