"""Where a private search pays and where not: a good default, a bad one, and searches, at one promise for all of it.

    SKDP_DATA=... python benchmarks/private_search.py [--data adult bank ipums_br even steep sparse] [--seeds 3]

Logistic regression by ``solver="gd"`` on 3,000 rows, C from .001 to 100, test accuracy on up to 8,000 other rows,
replace-one neighbours, delta 1e-6; a new sample and new noise for each seed. "pilot" chooses among six settings;
"geometric" among eleven and the estimator as it is, whose C is 1. Generated families differ in how fast the
spectrum falls and in how many columns count. Writes ``results/private_search.csv``.
"""

import argparse
import math
import warnings

import numpy as np
from _protocol import load, write_csv
from _quick import few

from skdp import DPLogisticRegression
from skdp.model_selection import DPGridSearchCV

EPSILONS = few((1.0, 4.0), (4.0,))
DELTA = 1e-6
ROWS, TESTED = few((3_000, 8_000), (400, 200))
GENERATED = ("even", "steep", "sparse")
FEW, MANY = 10.0 ** np.arange(-3, 3), 10.0 ** np.linspace(-3, 2, 11)


def table(name):
    """Rows of norm at most 1, and labels 0 and 1."""
    if name not in GENERATED:
        X, y = load(name)
        return X, (np.asarray(y) == np.unique(y)[1]).astype(int)
    rng = np.random.default_rng(GENERATED.index(name))
    n, d = ROWS + TESTED, 20
    X = rng.normal(size=(n, d)) * (0.7 ** np.arange(d) if name == "steep" else 1.0)
    w = rng.normal(size=d) * (rng.random(d) < 0.2 if name == "sparse" else 1.0)
    scores = X @ w / np.std(X @ w)
    y = (rng.random(n) < 1.0 / (1.0 + np.exp(-4.0 * scores - 1.0))).astype(int)
    return X / (np.linalg.norm(X, axis=1).max() * (1 + 1e-12)), y


def ways(epsilon):
    """Name to an estimator that has not been fitted."""

    def model(C):
        return DPLogisticRegression(
            epsilon=epsilon, delta=DELTA, data_norm=1.0, classes=[0, 1], solver="gd", C=C
        )

    given = {"epsilon": epsilon, "delta": DELTA}
    yield "C=1", model(1.0)
    yield "C=.01", model(0.01)
    yield "pilot", DPGridSearchCV(model(1.0), {"C": FEW}, strategy="pilot", **given)
    yield "geometric", DPGridSearchCV(model(1.0), {"C": MANY}, strategy="geometric", **given)


def accuracies(name, seed):
    """(epsilon, way, accuracy) of one sample."""
    X, y = table(name)
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = order[:ROWS], order[ROWS : ROWS + TESTED]
    for epsilon in EPSILONS:
        for way, model in ways(epsilon):
            yield (
                epsilon,
                way,
                float(np.mean(model.fit(X[train], y[train]).predict(X[test]) == y[test])),
            )


def rows(names, seeds):
    """One line for each table, epsilon and way: mean and standard error over samples."""
    for name in names:
        found = {}
        for seed in range(seeds):
            for epsilon, way, accuracy in accuracies(name, seed):
                found.setdefault((epsilon, way), []).append(accuracy)
        for (epsilon, way), values in found.items():
            error = np.std(values, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
            line = {"data": name, "epsilon": epsilon, "way": way, "seeds": len(values)}
            line |= {"accuracy": round(float(np.mean(values)), 4), "error": round(float(error), 4)}
            print(line, flush=True)
            yield line


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--data",
        nargs="+",
        default=few(["adult", "bank", "ipums_br", *GENERATED], ["bank", "even"]),
    )
    parser.add_argument("--seeds", type=int, default=few(3, 1))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    write_csv("private_search", list(rows(given.data, given.seeds)))


if __name__ == "__main__":
    main()
