"""
Regression: least squares, quantiles and counts
===============================================

Seven of scikit-learn's linear regressors have a private twin. Targets are cut to bounds that you
declare.
"""

import matplotlib.pyplot as plt
import numpy as np

from skdp import DPPoissonRegressor, DPQuantileRegressor, DPRidge

rng = np.random.default_rng(0)
x = rng.uniform(-1, 1, (8000, 1))
y = 10 + 5 * x[:, 0] + rng.normal(size=8000) * (1 + 1.5 * (x[:, 0] + 1))
given = {"epsilon": 1.0, "delta": 1e-6, "data_norm": 1.0}
line = np.linspace(-1, 1, 50)[:, None]

plt.plot(x[:800], y[:800], ".", color="0.8", ms=3)
plt.plot(line, DPRidge(**given, y_bounds=(-10, 30)).fit(x, y).predict(line), label="mean")
for q in (0.1, 0.9):
    model = DPQuantileRegressor(**given, y_bounds=(-10, 30), quantile=q).fit(x, y)
    plt.plot(line, model.predict(line), "--", label=f"quantile {q}")
plt.legend()
plt.title("a number, and how much it varies")
plt.show()

# %%
# Counts: the number of events in a day.

counts = rng.poisson(np.exp(1 + 1.2 * x[:, 0]))
model = DPPoissonRegressor(**given, y_bounds=(0, 30)).fit(x, counts)
plt.plot(x[:800], counts[:800], ".", color="0.8", ms=3)
plt.plot(line, np.exp(1 + 1.2 * line), color="0.5", label="truth")
plt.plot(line, model.predict(line), label="DPPoissonRegressor")
plt.legend()
plt.title("a count")
plt.show()
