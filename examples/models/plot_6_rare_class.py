"""
A rare class
============

With one positive in thirty, the most accurate model may never say yes. ``class_weight="balanced"``
pays for a private count of the classes, a fiftieth of the budget, and weighs them by it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import balanced_accuracy_score

from skdp import DPLogisticRegression

rng = np.random.default_rng(0)
X = rng.uniform(-0.5, 0.5, (30_000, 4))
y = (rng.random(len(X)) < 1 / (1 + np.exp(-6 * X[:, 0] - 4 * X[:, 1] + 5))).astype(int)
print("positives:", round(y.mean(), 3))
train, test = slice(20_000), slice(20_000, None)

epsilons = [0.1, 0.3, 1, 3]
for weight in (None, "balanced"):
    scores = []
    for epsilon in epsilons:
        model = DPLogisticRegression(
            epsilon=epsilon, data_norm=1.0, classes=[0, 1], class_weight=weight
        ).fit(X[train], y[train])
        scores.append(balanced_accuracy_score(y[test], model.predict(X[test])))
    plt.plot(epsilons, scores, "o-", label=f"class_weight={weight!r}")
plt.xscale("log")
plt.xlabel("epsilon (delta = 1e-6)")
plt.ylabel("balanced accuracy")
plt.legend()
plt.show()
