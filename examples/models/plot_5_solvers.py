"""
Solvers beside each other
=========================

``solver="auto"`` chooses by public numbers. Others are there to compare, and for cases that "auto"
does not know. All have the same promise here; what differs is how much of the signal survives.
"""

import matplotlib.pyplot as plt
import numpy as np

from skdp import DPLogisticRegression
from skdp.datasets import make_census

X, y = make_census(12_000, return_X_y=True)
X, y, X_test, y_test = X[:8000], y[:8000], X[8000:], y[8000:]
solvers = [
    "auto",
    "objective-perturbation",
    "white-gd",
    "gd",
    "newton",
    "sgd",
    "output-perturbation",
]
epsilons = [0.1, 0.4, 1.6]
width = 0.25
for k, epsilon in enumerate(epsilons):
    means = []
    for solver in solvers:
        model = DPLogisticRegression(
            epsilon=epsilon, data_norm=1.0, classes=[0, 1], solver=solver, calibrate=False
        )
        means.append(np.mean([model.fit(X, y).score(X_test, y_test) for _ in range(3)]))
    plt.barh(np.arange(len(solvers)) + k * width, means, width, label=f"epsilon = {epsilon}")
    print(f"epsilon {epsilon}:", dict(zip(solvers, np.round(means, 3).tolist())))
plt.yticks(np.arange(len(solvers)) + width, solvers)
plt.xlim(0.7, 0.9)
plt.xlabel("accuracy, mean of three fits")
plt.gca().invert_yaxis()
plt.legend()
plt.tight_layout()
plt.show()
