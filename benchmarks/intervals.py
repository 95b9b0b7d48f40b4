"""Coverage of confidence intervals for private coefficients, and how wide they are beside those of least squares.

    python benchmarks/intervals.py [--runs 2000] [--only 0 1 2 3 4 5]

Each run draws a new table (normal rows with correlations of a half between neighbouring columns, 2 % or so beyond the
declared norm), fits with new noise, and asks whether each interval holds its coefficient. Writes
``results/intervals.csv``.
"""

import argparse
import math
import warnings

import numpy as np
from _protocol import write_csv
from scipy.stats import chi2

from skdp import DPLinearRegression, NotSupported
from skdp.solvers import TwoPhase

# Records, columns, epsilon, relation, share of the budget for moments.
SETTINGS = (
    (2000, 3, 4.0, "replace_one", 0.3),
    (5000, 5, 1.0, "replace_one", 0.9),
    (10_000, 10, 4.0, "replace_one", 0.3),
    (10_000, 5, 1.0, "add_remove", 0.3),
    (10_000, 10, 2.0, "replace_one", 0.9),
    (20_000, 5, 0.5, "replace_one", 0.3),
)
DELTA, SPREAD = 1e-6, 0.25
LEVELS = (0.9, 0.95)


def measured(setting, runs):
    """One line: coverage at two levels, mean width over that of least squares, median ratio, refusals."""
    n, d, epsilon, neighbors, share = setting
    rng = np.random.default_rng(SETTINGS.index(setting))
    together = 0.5 ** np.abs(np.subtract.outer(range(d), range(d)))
    root = np.linalg.cholesky(together)
    w = rng.normal(size=d)
    w *= 0.35 / np.linalg.norm(root.T @ w)
    exact = SPREAD * np.sqrt(np.diagonal(np.linalg.inv(together)) / n)
    given = {
        "y_bounds": (-2.0, 2.0),
        "neighbors": neighbors,
        "solver": TwoPhase(moment_share=share),
    }
    given["data_norm"] = math.sqrt(chi2.ppf(0.98, d)) * 1.1
    held, widths, refused, ratios = {level: [] for level in LEVELS}, [], 0, []
    for run in range(runs):
        X = rng.normal(size=(n, d)) @ root.T
        y = X @ w + 0.1 + SPREAD * rng.normal(size=n)
        model = DPLinearRegression(epsilon, DELTA, random_state=run, **given).fit(X, y)
        ratios.append(model._estimated[1])
        try:
            intervals = {level: model.conf_int(level) for level in LEVELS}
        except NotSupported:
            refused += 1
            continue
        for level, ends in intervals.items():
            held[level].append((ends[:, 0] < w) & (w < ends[:, 1]))
        widths.append(np.mean(model.coef_std_ / exact))
    line = {"n": n, "columns": d, "epsilon": epsilon, "neighbors": neighbors, "moments": share}
    line |= {"runs": runs} | {
        f"held_{level}": round(float(np.mean(held[level])), 4) for level in LEVELS
    }
    line |= {"width": round(float(np.mean(widths)), 2), "refused": refused}
    return line | {"ratio": round(float(np.median(ratios)), 3)}


def main():
    """Run the settings that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--only", type=int, nargs="+", default=range(len(SETTINGS)))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = [measured(SETTINGS[index], given.runs) for index in given.only]
    write_csv("intervals", rows)
    for row in rows:
        print(*row.values(), flush=True)


if __name__ == "__main__":
    main()
