"""
A small network on images of digits
===================================

`DPMLPClassifier` has the parameters of scikit-learn's `MLPClassifier`. The 1,797 images that come
with scikit-learn are few for a private network: noise is added once to a sum over all records, so
more records drown it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from skdp import DPLogisticRegression
from skdp.neural_network import DPMLPClassifier

X, y = load_digits(return_X_y=True)
X = X / 8 - 1  # pixels are 0 to 16: known without looking
X_train, y_train, X_test, y_test = X[:1400], y[:1400], X[1400:], y[1400:]
print("rows are at most", np.sqrt(64), "long, since each of 64 pixels is at most 1")

# %%
epsilons = [0.5, 1, 2, 4, 8]
for kind, name in ((DPLogisticRegression, "linear"), (DPMLPClassifier, "network")):
    scores = []
    for epsilon in epsilons:
        model = kind(epsilon=epsilon, delta=1e-5, data_norm=8.0, classes=range(10))
        scores.append(model.fit(X_train, y_train).score(X_test, y_test))
    plt.plot(epsilons, scores, "o-", label=name)
    print(name, np.round(scores, 3))
plt.xscale("log")
plt.xlabel("epsilon (delta = 1e-5)")
plt.ylabel("accuracy on 397 held-out images")
plt.legend()
plt.show()

# %%
# What the linear model at the largest epsilon looks for. Coefficients have been paid for, so they
# may be shown.

model = DPLogisticRegression(epsilon=8, delta=1e-5, data_norm=8.0, classes=range(10))
model.fit(X_train, y_train)
figure, axes = plt.subplots(2, 5, figsize=(7, 3), layout="constrained")
for digit, ax in enumerate(axes.flat):
    ax.imshow(model.coef_[digit].reshape(8, 8), cmap="RdBu")
    ax.set_title(digit)
    ax.axis("off")
plt.show()
