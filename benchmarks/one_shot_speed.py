"""Time of one-shot fits beside scikit-learn's Newton-Cholesky, and of RSGD-AR on KDD Cup 99.

    SKDP_DATA=... python benchmarks/one_shot_speed.py [--threads 2]

Ratios of medians in one run. Writes ``results/one_shot_speed.csv``.
"""

import argparse
import os
import statistics
import sys
import time
import warnings

if "--threads" in sys.argv:  # before numpy is imported
    THREADS = sys.argv[sys.argv.index("--threads") + 1]
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = THREADS

import numpy as np
from _protocol import write_csv
from _quick import few
from sklearn.linear_model import LogisticRegression

from skdp import DPLinearSVC, DPLogisticRegression, datasets

N, D = few((40_000, 100), (600, 10))


def seconds(fit, repeat):
    """Median seconds of a call, after one that warms up."""
    fit()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        fit()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def table():
    """A logistic problem of N rows of norm 1."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D))
    X /= np.linalg.norm(X, axis=1)[:, None]
    z = 3 * X @ rng.standard_normal(D)
    return X, (rng.random(N) < 1 / (1 + np.exp(-z))).astype(int)


def newton_rows(repeat):
    """One-shot solvers on 40,000 x 100, over scikit-learn's newton-cholesky on the same table."""
    X, y = table()
    base = seconds(lambda: LogisticRegression(solver="newton-cholesky").fit(X, y), repeat)
    yield {"what": "scikit-learn newton-cholesky", "n": N, "d": D, "seconds": base, "ratio": 1.0}
    given = {"data_norm": 1.0, "classes": [0, 1]}
    for name, cls, delta in (
        ("objective-perturbation", DPLogisticRegression, 1e-6),
        ("objective-perturbation", DPLogisticRegression, 0.0),
        ("objective-perturbation", DPLinearSVC, 1e-6),
        ("amp", DPLogisticRegression, 1e-6),
        ("output-perturbation", DPLogisticRegression, 1e-6),
        ("psgd", DPLogisticRegression, 1e-6),
        ("rsgd-ar", DPLogisticRegression, 1e-6),
    ):
        model = cls(epsilon=1.0, delta=delta, solver=name, **given)
        took = seconds(lambda model=model: model.fit(X, y), repeat)
        what = f"{name}, {cls.__name__}, delta={delta:g}"
        yield {"what": what, "n": N, "d": D, "seconds": took, "ratio": took / base}


def kdd_rows(repeat):
    """RSGD-AR on the KDD Cup 99 file, and on parts of it: the cost of an epoch is linear in n."""
    data = datasets.load_kddcup99()
    X, y = data.encode(), np.asarray(data.target)
    order = np.random.default_rng(0).permutation(len(y))
    model = DPLogisticRegression(
        epsilon=1.0, delta=1e-12, solver="rsgd-ar", data_norm=1.0, classes=[0, 1]
    )
    epochs = model._plan(len(y), X.shape[1], {}).solver.epochs
    for n in (*few((50_000, 100_000, 150_000, 200_000, 250_000), ()), len(y)):
        part, labels = X[order[:n]], y[order[:n]]
        took = seconds(lambda part=part, labels=labels: model.fit(part, labels), repeat)
        per = took / epochs / n * 1e9
        yield {
            "what": "rsgd-ar on KDD Cup 99 (ratio: ns per epoch and record)",
            "n": n,
            "d": X.shape[1],
            "seconds": took,
            "ratio": per,
        }


def main(argv=None):
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--repeat", type=int, default=few(5, 1))
    parser.add_argument("--only", choices=["newton", "kdd"], default=None)
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    rows = []
    for name, measure in (("newton", newton_rows), ("kdd", kdd_rows)):
        if args.only in (None, name):
            for row in measure(args.repeat if name == "newton" else 1):
                row |= {"seconds": round(row["seconds"], 4), "ratio": round(row["ratio"], 3)}
                row["threads"] = args.threads or os.environ.get("OMP_NUM_THREADS", "all")
                print(*row.values(), flush=True)
                rows.append(row)
    if args.only is None:
        write_csv("one_shot_speed", rows)


if __name__ == "__main__":
    main()
