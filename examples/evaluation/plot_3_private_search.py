"""
A search for hyper-parameters that is paid for
==============================================

Which setting wins depends on the records, so the choice tells of them. `DPGridSearchCV` puts all
fits and the choice under one promise and hands out one model.
"""

import matplotlib.pyplot as plt
import numpy as np

from skdp import DPLogisticRegression
from skdp.datasets import make_census
from skdp.model_selection import DPGridSearchCV

X, y = make_census(12_000, return_X_y=True)
X, y, X_test, y_test = X[:9000], y[:9000], X[9000:], y[9000:]
model = DPLogisticRegression(epsilon=1.0, data_norm=1.0, classes=[0, 1], solver="gd")
grid = {"C": [0.001, 0.01, 0.1, 1, 10, 100]}
search = DPGridSearchCV(model, grid)
print("epsilon of everything, before it begins:", search.quote(*X.shape).epsilon)

# %%
search.fit(X, y)
print(search.best_params_, search.privacy_.tuning)

# %%
# Beside it, what each setting reaches with the whole epsilon to itself. Whoever looks at this curve
# to choose has paid six times.

alone = []
for C in grid["C"]:
    fitted = [model.set_params(C=C).fit(X, y).score(X_test, y_test) for _ in range(3)]
    alone.append(np.mean(fitted))
plt.semilogx(grid["C"], alone, "o-", label="one setting, whole epsilon")
plt.axhline(search.score(X_test, y_test), color="tab:red", label="private search, same epsilon")
plt.xlabel("C")
plt.ylabel("accuracy")
plt.legend()
plt.show()
