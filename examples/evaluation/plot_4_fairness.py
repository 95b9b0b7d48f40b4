"""
Does the model serve all groups?
================================

Noise weighs most on those who are few. `DPGroupAccuracy` measures the accuracy in each group, and
the gap between two, by one private release for all groups together.
"""

import matplotlib.pyplot as plt
import numpy as np

from skdp import DPLogisticRegression
from skdp.metrics import DPGroupAccuracy

rng = np.random.default_rng(0)
n = 24_000
group = rng.choice(["large", "middle", "small"], n, p=[0.8, 0.15, 0.05])
X = rng.uniform(-0.5, 0.5, (n, 3))
signal = np.where(group == "small", X[:, 1], X[:, 0])  # another rule holds for the few
y = (rng.random(n) < 1 / (1 + np.exp(-10 * signal))).astype(int)
model = DPLogisticRegression(epsilon=1.0, data_norm=1.0, classes=[0, 1]).fit(X[:16_000], y[:16_000])

# %%
names = ["large", "middle", "small"]
held = X[16_000:], y[16_000:], group[16_000:]
found = DPGroupAccuracy.from_estimator(model, *held, names=names, epsilon=0.5)
for name in names:
    print(name, found.accuracy(name))
print("gap", found.gap("large", "small"))

# %%
for k, name in enumerate(names):
    estimate = found.accuracy(name)
    plt.plot([k, k], [estimate.low, estimate.high], "k-")
    plt.plot(k, estimate.value, "o", ms=9)
plt.xticks(range(3), names)
plt.ylabel("accuracy, with 95 % intervals")
plt.show()
