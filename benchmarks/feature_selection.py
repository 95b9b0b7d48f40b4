"""Which relevant features an L1-penalised private fit finds, by epsilon.

    python benchmarks/feature_selection.py [--repetitions 10] [--jobs 2]

The synthetic set of the stochastic ADMM paper (section 5.3: 40,000 rows, 20 of 100 features matter), lambda 1e-3 and
1e-4 per record, delta 1e-8, replace-one. Coverage xi_K is the share of the relevant features among the K largest
coefficients; ties, zeros above all, are broken at random. Rows are divided by sqrt(100), their root mean square norm by
construction, and scaled down where they are longer. Writes results/feature_selection.csv, and a plot where matplotlib
is installed.
"""

import argparse
import os
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from _protocol import DELTA, EPSILONS, RESULTS, write_csv
from _quick import few, is_missing
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression

from skdp import DPLogisticRegression
from skdp.datasets import make_sparse_classification
from skdp.solvers import SOLVERS

LAMBDAS = few((1e-3, 1e-4), (1e-3,))
ROWS = few(40_000, 1_000)
METHODS = ("ssadmm", "mpadmm", "sgd", "gd", "dp-admm", "admm-objp")
KEPT = (20, 25, 30, 40)
TRAIN = 0.8


def data(repetition):
    """Scaled rows, labels and relevant features; another set for each repetition, as in the paper."""
    X, y, support = make_sparse_classification(ROWS, random_state=repetition)
    X /= np.sqrt(X.shape[1])
    return X / np.maximum(np.linalg.norm(X, axis=1) * (1 + 1e-15), 1.0)[:, None], y, support


def coverage(coef, support, kept, rng):
    """Share of the relevant features among the `kept` largest coefficients."""
    order = np.lexsort((rng.random(len(coef)), -np.abs(coef)))
    return len(np.intersect1d(order[:kept], support)) / len(support)


def scores(model, X, y, support, repetition):
    """Coverages, accuracy on the last fifth of the rows, and the share of exact zeros."""
    coef, rng = model.coef_[0], np.random.default_rng(repetition)
    cut = int(TRAIN * len(y))
    found = {f"xi_{kept}": coverage(coef, support, kept, rng) for kept in KEPT}
    return found | {
        "accuracy": float(model.score(X[cut:], y[cut:])),
        "zeros": float(np.mean(coef == 0)),
    }


def run(method, lam, epsilon, repetition):
    """One private fit."""
    X, y, support = data(repetition)
    cut = int(TRAIN * len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = DPLogisticRegression(
            epsilon=epsilon,
            delta=DELTA,
            solver=method,
            penalty="l1",
            C=1.0 / (lam * cut),
            data_norm=1.0,
            classes=[0, 1],
            random_state=repetition,
        ).fit(X[:cut], y[:cut])
    ran = {"method": method, "lambda": lam, "epsilon": epsilon}
    return ran | scores(model, X, y, support, repetition)


def reference(lam, repetition):
    """The lasso without privacy."""
    X, y, support = data(repetition)
    cut = int(TRAIN * len(y))
    lasso = LogisticRegression(C=1.0 / (lam * cut), l1_ratio=1.0, solver="saga", tol=1e-3)
    model = lasso.fit(X[:cut], y[:cut])
    ran = {"method": "nonprivate", "lambda": lam, "epsilon": 0}
    return ran | scores(model, X, y, support, repetition)


def summarise(rows):
    """Means over the repetitions, and the standard deviation of the coverages."""
    keys = ("method", "lambda", "epsilon")
    lines = []
    for key in dict.fromkeys(tuple(row[k] for k in keys) for row in rows):
        group = [row for row in rows if tuple(row[k] for k in keys) == key]
        line = dict(zip(keys, key)) | {"runs": len(group)}
        for name in (n for n in group[0] if n not in keys):
            values = [row[name] for row in group]
            line[name] = round(float(np.mean(values)), 4)
            if name.startswith("xi_"):
                line[f"{name}_sd"] = round(float(np.std(values)), 4)
        lines.append(line)
    return lines


def plot(lines):
    """One row of panels for each lambda, one panel for each number of features kept."""
    if is_missing("matplotlib"):
        return
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        len(LAMBDAS), len(KEPT), figsize=(16, 8), sharey=True, squeeze=False
    )
    for row, lam in zip(axes, LAMBDAS):
        for axis, kept in zip(row, KEPT):
            for method in METHODS:
                points = sorted(
                    (line["epsilon"], line[f"xi_{kept}"])
                    for line in lines
                    if (line["method"], line["lambda"]) == (method, lam)
                )
                if points:
                    axis.plot(*zip(*points), marker="o", label=method)
            axis.set(xscale="log", xlabel="epsilon", title=f"xi_{kept}, lambda {lam:g}")
    axes[0][0].legend()
    figure.tight_layout()
    figure.savefig(RESULTS / "feature_selection.png", dpi=120)


def main():
    """Run all methods that are registered."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", nargs="*", default=[m for m in METHODS if m in SOLVERS])
    parser.add_argument("--epsilons", nargs="*", type=float, default=EPSILONS)
    parser.add_argument("--repetitions", type=int, default=few(10, 1))
    parser.add_argument("--jobs", type=int, default=few(2, 1))
    options = parser.parse_args()
    seeds = range(options.repetitions)
    tasks = [delayed(reference)(lam, seed) for lam in LAMBDAS for seed in seeds]
    tasks += [
        delayed(run)(method, lam, epsilon, seed)
        for lam in LAMBDAS
        for method in options.methods
        for epsilon in options.epsilons
        for seed in seeds
    ]
    lines = summarise(Parallel(n_jobs=options.jobs)(tasks))
    write_csv("feature_selection", lines)
    plot(lines)
    for line in lines:
        print(*line.values(), flush=True)


if __name__ == "__main__":
    main()
