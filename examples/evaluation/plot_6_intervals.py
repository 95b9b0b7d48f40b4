"""
How far coefficients may be off
===============================

A private coefficient has two errors: which records were drawn, and the noise. `conf_int` covers
both, and costs nothing beyond the fit.
"""

import matplotlib.pyplot as plt
import numpy as np

from skdp import DPLinearRegression

rng = np.random.default_rng(0)
truth = np.array([3.0, -2.0, 1.0, 0.0])
X = rng.uniform(-1, 1, (8000, 4))
y = X @ truth + 10 + rng.normal(size=8000)
given = {"delta": 1e-6, "data_norm": 2.0, "y_bounds": (0, 20)}

for k, epsilon in enumerate([0.5, 1, 4]):
    model = DPLinearRegression(epsilon=epsilon, **given).fit(X, y)
    low, high = model.conf_int(0.95).T
    at = np.arange(4) + 0.2 * (k - 1)
    plt.vlines(at, low, high, lw=4, color=f"C{k}", label=f"epsilon = {epsilon}")
plt.plot(np.arange(4), truth, "kx", ms=9, label="truth")
plt.xticks(range(4), [f"x{k}" for k in range(4)])
plt.ylabel("coefficient")
plt.legend()
plt.show()
