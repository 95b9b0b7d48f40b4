"""
When no range is known
======================

A bound that is read off the data is not public. With ``data_norm=None`` a fit estimates the bounds
of all columns privately, for a small part of its own epsilon.
"""

import matplotlib.pyplot as plt
import numpy as np

from skdp import DPRidge

rng = np.random.default_rng(0)
n = 10_000
X = np.column_stack([rng.uniform(18, 90, n), rng.normal(0, 0.01, n), rng.lognormal(8, 1, n)])
y = 0.05 * X[:, 0] + 100 * X[:, 1] + 0.5 * np.log(X[:, 2]) + rng.normal(0, 1, n)

# %%
# Nothing is declared: neither the columns nor the target.

model = DPRidge(epsilon=1.0, y_bounds=None).fit(X[:8000], y[:8000])
for name, (low, high) in zip(["age", "tiny", "heavy tail"], model.bounds_):
    print(f"{name:>10}: {low:g} to {high:g}")
print("R2 on records that the fit has not seen:", round(model.score(X[8000:], y[8000:]), 3))

# %%
# The bar shows how the budget was shared: the first parts paid for bounds.

from skdp.inspection import PrivacyDisplay

PrivacyDisplay.from_estimator(model)
plt.show()
