"""
One person with many rows
=========================

Differential privacy protects the unit that you name. By default that is a row. Who has ten rows in
a table is then protected much less than the receipt of a row says. ``max_rows_per_group`` makes the
person the unit.
"""

import matplotlib.pyplot as plt
import numpy as np

from skdp import DPLogisticRegression

rng = np.random.default_rng(0)
n = 20_000
person = rng.integers(0, 4_000, n)
X = rng.uniform(-0.5, 0.5, (n, 4))
y = (rng.random(n) < 1 / (1 + np.exp(-8 * X[:, 0] + 4 * X[:, 1]))).astype(int)
X_test, y_test = X[16_000:], y[16_000:]
given = {"epsilon": 1.0, "delta": 1e-6, "data_norm": 1.0, "classes": [0, 1]}

# %%
# The promise to a row says what it is worth to somebody with several rows:

row = DPLogisticRegression(**given).fit(X[:16_000], y[:16_000])
for k in (1, 2, 5, 10):
    print(f"a person with {k:2d} rows: epsilon = {row.privacy_.for_rows(k).epsilon:.2f}")

# %%
# The promise to a person. Rows of one person beyond the limit are left out, by a rule that looks at
# no other person. ``fit`` needs to know whose row each one is.

limits, scores = [1, 2, 3, 5, 8, 12], []
for limit in limits:
    model = DPLogisticRegression(**given, max_rows_per_group=limit)
    fits = (model.fit(X[:16_000], y[:16_000], groups=person[:16_000]) for _ in range(4))
    scores.append([fit.score(X_test, y_test) for fit in fits])
print(model.privacy_)

# %%
# A low limit throws rows away, and a high one needs more noise.

plt.axhline(row.score(X_test, y_test), color="0.6", ls="--", label="promise to a row")
plt.errorbar(limits, np.mean(scores, 1), np.std(scores, 1), fmt="o-", label="promise to a person")
plt.xlabel("rows of one person that are used at most")
plt.ylabel("accuracy")
plt.legend()
plt.show()
