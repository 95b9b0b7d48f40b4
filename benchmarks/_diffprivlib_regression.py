"""R2 of diffprivlib's LinearRegression on splits that regression.py wrote: one line of seed, epsilon and R2 each.

Its promise is epsilon with delta = 0. Columns of rows of norm at most 1 are declared to lie in [-1, 1], and targets in
their bounds. For an environment of its own: diffprivlib 0.6.6 needs scikit-learn 1.5 or older.
"""

import sys
import warnings

import numpy as np
from diffprivlib.models import LinearRegression
from sklearn.metrics import r2_score

warnings.simplefilter("ignore")
given = np.load(sys.argv[1])
X, y, bounds = given["X"], given["y"], tuple(given["bounds"])
for seed in range(int(given["seeds"])):
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = np.split(order, [int(0.8 * len(y))])
    for epsilon in given["epsilons"]:
        model = LinearRegression(
            epsilon=float(epsilon), bounds_X=(-1.0, 1.0), bounds_y=bounds, random_state=seed
        )
        predicted = np.clip(model.fit(X[train], y[train]).predict(X[test]), *bounds)
        print(seed, epsilon, r2_score(y[test], predicted))
