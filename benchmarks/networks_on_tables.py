"""Where a network beats a linear and an additive model at equal epsilon, on generated tables and on Adult and Bank.

    SKDP_DATA=/path/to/data python benchmarks/networks_on_tables.py

Replace-one, delta 1e-6, one seed, all defaults of the library; 80 % of the records train, 20 % test. Generated tables
have 20 columns uniform on [-1, 1] and labels from a logistic law of scores: of a line, of a sum of bent columns, of
products of pairs, or of the distance from a point. Adult and Bank as in _protocol.py. Writes
results/networks_on_tables.csv.
"""

import csv
import os
import warnings

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
from _protocol import load
from _quick import RESULTS, few

from skdp import DPLogisticRegression
from skdp.neural_network import DPMLPClassifier

TABLE = RESULTS / "networks_on_tables.csv"
EPSILONS, DELTA, N, D = few((0.5, 2.0), (2.0,)), 1e-6, few(25_000, 600), 20
COSINES = 3  # of each column, beside itself


def line(X):
    return 6.0 * X[:, 0] - 5.0 * X[:, 1] + 3.0 * X[:, 2]


def bent(X):
    return 4.0 * np.cos(3.0 * X[:, 0]) + 5.0 * np.abs(X[:, 1]) + 4.0 * np.sin(4.0 * X[:, 2]) - 2.5


def products(X):
    return 12.0 * X[:, 0] * X[:, 1] + 9.0 * X[:, 2] * X[:, 3]


def distance(X):
    return 6.0 * (np.linalg.norm(X[:, :4] - 0.3, axis=1) - 1.3)


def generated(score):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(N, D))
    return X, (rng.logistic(size=N) < score(X)).astype(int), np.sqrt(D)


def additive(X, bound):
    """Each column beside a few cosines of it: a basis that needs no look at the data."""
    scaled = np.clip(X, -1.0, 1.0)
    waves = [np.cos(np.pi * k * (scaled + 1.0) / 2.0) for k in range(1, COSINES + 1)]
    return np.concatenate([X, *waves], axis=1), np.sqrt(bound**2 + COSINES * X.shape[1])


def tables():
    for score in (line, bent, products, distance):
        yield score.__name__, *generated(score)
    for name in ("adult", "bank"):
        X, y = load(name)
        yield name, X, y, 1.0


def models(X, bound):
    yield "linear", DPLogisticRegression, {}, X, bound
    wide, longer = additive(X, bound)
    if bound > 1.0:  # encoded tables have indicators, of which cosines say nothing
        yield "additive", DPLogisticRegression, {}, wide, longer
    yield "network", DPMLPClassifier, {"hidden_layer_sizes": (50,)}, X, bound


def main():
    with TABLE.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(("table", "epsilon", "model", "accuracy"))
        for name, X, y, bound in tables():
            order = np.random.default_rng(1).permutation(len(X))
            train, test = order[len(X) // 5 :], order[: len(X) // 5]
            for epsilon in EPSILONS:
                for kind, Estimator, given, rows, norm in models(X, bound):
                    model = Estimator(
                        epsilon=epsilon,
                        delta=DELTA,
                        data_norm=norm,
                        classes=np.unique(y),
                        random_state=0,
                        **given,
                    )
                    accuracy = round(model.fit(rows[train], y[train]).score(rows[test], y[test]), 4)
                    out.writerow((name, epsilon, kind, accuracy))
                    print(name, epsilon, kind, accuracy, flush=True)
                    file.flush()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
