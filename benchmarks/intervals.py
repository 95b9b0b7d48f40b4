"""Coverage of confidence intervals for private coefficients, and how wide they are beside those of least squares.

    python benchmarks/intervals.py [--logistic] [--runs 2000] [--only 0 1 2]
    SKDP_DATA=... python benchmarks/intervals.py --real [--runs 300]

Each run draws a new table (normal rows with correlations of a half between neighbouring columns, 2 % or so beyond the
declared norm), fits with new noise, and asks whether each interval holds its coefficient. Writes
``results/intervals.csv``. With ``--logistic`` the same of a logistic model, and columns of other laws besides: writes
``results/logistic_intervals.csv``.

With ``--real`` each run draws as many rows as a real table has, with replacement, and asks for the coefficients of the
ridge regression of the whole table that ``conf_int(of="ridge")`` speaks of. Writes ``results/real_intervals.csv``.
"""

import argparse
import math
import warnings

import numpy as np
import pandas as pd
from _protocol import write_csv
from _quick import few
from scipy.stats import chi2

from skdp import DPLinearRegression, DPLogisticRegression, NotSupported, datasets
from skdp.preprocessing import TableEncoder
from skdp.solvers import TwoPhase, WhiteObjective

# Records, columns, epsilon, relation, share of the budget for moments.
SETTINGS = (
    (2000, 3, 4.0, "replace_one", 0.3),
    (5000, 5, 1.0, "replace_one", 0.9),
    (10_000, 10, 4.0, "replace_one", 0.3),
    (10_000, 5, 1.0, "add_remove", 0.3),
    (10_000, 10, 2.0, "replace_one", 0.9),
    (20_000, 5, 0.5, "replace_one", 0.3),
)
# Records, columns, epsilon, relation, law of the columns, offset of the log-odds (None: no intercept), their deviation.
LOGISTIC = (
    (10_000, 3, 4.0, "replace_one", "normal", 0.3, 1.5),
    (20_000, 5, 1.0, "replace_one", "normal", 0.3, 1.5),
    (50_000, 10, 1.0, "replace_one", "normal", 0.3, 1.5),
    (20_000, 5, 2.0, "replace_one", "uniform", 1.5, 1.5),
    (20_000, 6, 1.0, "replace_one", "binary", 0.3, 1.5),
    (20_000, 5, 1.0, "add_remove", "exponential", 0.3, 1.5),
    (20_000, 5, 1.0, "replace_one", "exponential", 0.3, 1.5),
    (30_000, 4, 2.0, "replace_one", "lognormal", 0.3, 1.5),
    (20_000, 3, 1.0, "add_remove", "lognormal", 0.3, 1.0),
    (60_000, 8, 0.5, "add_remove", "mixed", -0.5, 1.0),
    (50_000, 12, 2.0, "replace_one", "mixed", None, 2.0),
    (30_000, 6, 1.0, "add_remove", "heavy", 0.5, 1.5),
    (20_000, 5, 1.0, "replace_one", "normal", 3.8, 1.5),
    (20_000, 3, 4.0, "replace_one", "uniform", 0.3, 3.0),
    (10_000, 2, 0.5, "replace_one", "binary", 0.3, 1.0),
)
# Table and epsilon.
REAL = (
    ("wine", 1.0),
    ("wine", 4.0),
    ("bike", 1.0),
    ("bike", 4.0),
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
        model = DPLinearRegression(epsilon=epsilon, delta=DELTA, random_state=run, **given).fit(
            X, y
        )
        ratios.append(model._estimated[0][2])
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


def drawn(rng, n, d, law):
    """Rows, most of them of norm 1 at most."""
    if law == "uniform":
        return rng.uniform(-1.0, 1.0, (n, d)) / math.sqrt(d)
    if law == "binary":
        return (rng.uniform(size=(n, d)) < np.linspace(0.1, 0.5, d)) / math.sqrt(d)
    if law == "exponential":
        return np.minimum(rng.exponential(0.25, (n, d)), 1.0) / math.sqrt(d)
    if law == "lognormal":
        return np.minimum(0.26 * np.exp(0.8 * rng.normal(size=(n, d))), 1.0) / math.sqrt(d)
    if law == "heavy":
        return rng.standard_t(4, (n, d)) / (2.5 * math.sqrt(d))
    root = np.linalg.cholesky(0.5 ** np.abs(np.subtract.outer(range(d), range(d))))
    rows = rng.normal(size=(n, d)) @ root.T
    if law == "mixed":  # one after the other: normal, of two values, lognormal, uniform
        rows[:, 0::4] /= 2.5
        rows[:, 1::4] = rows[:, 1::4] > 0.8
        rows[:, 2::4] = np.minimum(0.3 * np.exp(0.7 * rows[:, 2::4]), 1.0)
        rows[:, 3::4] = rng.uniform(-1.0, 1.0, (n, len(range(3, d, 4))))
        return rows / math.sqrt(d)
    return rows / (1.5 * math.sqrt(d))


def logistic(setting, runs):
    """The same of a logistic model; width beside that without privacy."""
    n, d, epsilon, neighbors, law, offset, deviation = setting
    rng = np.random.default_rng(LOGISTIC.index(setting))
    w, many = rng.normal(size=d), drawn(rng, 100_000, d, law)
    w *= deviation / (many @ w).std()
    intercept = offset is not None
    offset = offset + float((many @ w).mean()) if intercept else 0.0
    Z = np.column_stack([many, np.ones(len(many))]) if intercept else many
    p = 1.0 / (1.0 + np.exp(offset - many @ w))
    told = (Z * (p * (1.0 - p))[:, None]).T @ Z / len(Z)
    exact = np.sqrt(np.diagonal(np.linalg.inv(told))[:d] / n)
    held, widths, refused, back = {level: [] for level in LEVELS}, [], 0, []
    for run in range(runs):
        X = drawn(rng, n, d, law)
        y = (rng.logistic(size=n) < X @ w - offset).astype(int)
        model = DPLogisticRegression(
            epsilon=epsilon,
            delta=DELTA,
            data_norm=1.0,
            classes=[0, 1],
            neighbors=neighbors,
            solver=WhiteObjective(clip=1.0),
            fit_intercept=intercept,
            random_state=run,
        ).fit(X, y)
        back.append(model._estimated[2])
        try:
            intervals = {level: model.conf_int(level)[0] for level in LEVELS}
        except NotSupported:
            refused += 1
            continue
        for level, ends in intervals.items():
            held[level].append((ends[:, 0] < w) & (w < ends[:, 1]))
        widths.append(np.mean(model.coef_std_[0] / exact))
    line = {"n": n, "columns": d, "epsilon": epsilon, "neighbors": neighbors, "law": law}
    line |= {"offset": setting[5], "deviation": deviation}
    line |= {"runs": runs} | {
        f"held_{level}": round(float(np.mean(held[level])), 4) for level in LEVELS
    }
    line |= {"width": round(float(np.mean(widths)), 2), "refused": refused}
    return line | {"given_back": round(float(np.median(back)), 2)}


def real(setting, runs):
    """One line: coverage of all coefficients, and of the tenths of them that are held least and most."""
    name, epsilon = setting
    table = getattr(datasets, f"load_{name}")()
    encoder = TableEncoder(table.declaration, unknown="zero")
    X = np.asarray(encoder.fit_transform(pd.DataFrame(dict(table.columns))), dtype=float)
    y, bounds = np.asarray(table.target, dtype=float), table.target_bounds
    rng, n, hits, errors = np.random.default_rng(7), len(X), [], []
    Z = np.column_stack([X, np.full(n, 0.25)])
    for seed in range(runs):
        drawn = rng.integers(0, n, n)
        declared = {"data_norm": 1.0, "y_bounds": bounds, "delta": DELTA, "random_state": seed}
        model = DPLinearRegression(epsilon=epsilon, **declared).fit(X[drawn], y[drawn])
        ridge = model.interval_alpha_ * np.eye(Z.shape[1])
        w = np.linalg.solve(Z.T @ Z + ridge, Z.T @ (y - np.mean(bounds)))[:-1]
        ends = [model.conf_int(level, of="ridge").T for level in LEVELS]
        hits.append([(low < w) & (w < high) for low, high in ends])
        errors.append((ends[1][1] - ends[1][0]) / (2.0 * 1.959964))
    held = np.mean(hits, axis=0)
    clear = np.abs(w) > 1.959964 * np.mean(errors, axis=0)
    return {
        "table": name,
        "n": n,
        "d": X.shape[1],
        "epsilon": epsilon,
        "runs": runs,
        "alpha": round(model.interval_alpha_, 1),
        **{f"held_{level}": round(100 * each.mean(), 1) for level, each in zip(LEVELS, held)},
        "least_0.95": round(100 * np.quantile(held[1], 0.1), 1),
        "most_0.95": round(100 * np.quantile(held[1], 0.9), 1),
        "clear_of_0": round(100 * clear.mean()),
    }


def main():
    """Run the settings that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=few(2000, 2))
    parser.add_argument("--only", type=int, nargs="+", default=few(None, [0]))
    parser.add_argument("--logistic", action="store_true")
    parser.add_argument("--real", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    of_one, settings, name = measured, SETTINGS, "intervals"
    if given.logistic or given.real:
        kinds = (logistic, LOGISTIC, "logistic_intervals"), (real, REAL, "real_intervals")
        of_one, settings, name = kinds[given.real]
    only = range(len(settings)) if given.only is None else given.only
    rows = [of_one(settings[index], given.runs) for index in only]
    write_csv(name, rows)
    for row in rows:
        print(*row.values(), flush=True)


if __name__ == "__main__":
    main()
