"""
Many classes from few questions
===============================

`DPGaussianNB` and the solver ``"lda"`` ask for sums of each class once, at a price that does not
grow with the number of classes. Logistic regression weighs all classes against each other, and
drowns where records are few for each.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from skdp import DPGaussianNB, DPLogisticRegression

counts = [3, 10, 30, 60]
models = {
    "DPGaussianNB": lambda: DPGaussianNB(epsilon=1.0, data_norm=1.0),
    "logistic, lda": lambda: DPLogisticRegression(epsilon=1.0, data_norm=1.0, solver="lda"),
    "logistic, gd": lambda: DPLogisticRegression(epsilon=1.0, data_norm=1.0, solver="gd"),
}
scores = {name: [] for name in models}
for classes in counts:
    X, y = make_blobs(12_000, 8, centers=classes, cluster_std=2.5, random_state=0)
    X = X / 40  # far more than any point is away: public, since it is how blobs are made
    for name, make in models.items():
        model = make().set_params(classes=range(classes)).fit(X[:9000], y[:9000])
        scores[name].append(model.score(X[9000:], y[9000:]))
for name, found in scores.items():
    print(name, np.round(found, 3))
    plt.plot(counts, found, "o-", label=name)
plt.xlabel("classes")
plt.ylabel("accuracy at epsilon = 1, 9,000 records")
plt.legend()
plt.show()
