"""How far fits lie apart by their noise, beside what receipts expect of it and what fits say of it afterwards.

    SKDP_DATA=... python benchmarks/standard_errors.py [--fits 200]

Fits of one table that differ by noise alone: generated tables and real ones by their declarations, rows of norm at
most 1, delta 1e-6, all defaults but what the column "solver" says. The deviation of each coefficient, over fits, is
what both are divided by: "after" is `coef_noise_std_`, "nominal" the receipt's standard error of a coefficient over the
deviation that its column has beside the others, "score" that of the scores of a thousand rows. The table "rare" has 7 %
of the rarer label, which public numbers do not tell: "declared" are the same where `quote` was told the share, to two
digits. Writes ``results/standard_errors.csv``.
"""

import argparse
import os
import warnings

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
import utility
from _protocol import write_csv
from _quick import few

from skdp import DPLogisticRegression

SETTINGS = (
    ("even", 10_000, 10, 0.5, "auto", "replace_one"),
    ("correlated", 20_000, 10, 1.0, "auto", "replace_one"),
    ("falling", 10_000, 20, 4.0, "auto", "replace_one"),
    ("correlated", 20_000, 10, 1.0, "white-gd", "add_remove"),
    ("rare", 20_000, 10, 1.0, "auto", "replace_one"),
    ("indicators", 20_000, 33, 0.3, "auto", "replace_one"),
    ("collinear", 20_000, 15, 1.0, "auto", "replace_one"),
    ("turned", 20_000, 30, 0.5, "auto", "replace_one"),
    ("steep", 10_000, 10, 0.5, "auto", "replace_one"),
    ("adult", 0, 0, 1.0, "auto", "replace_one"),
    ("bank", 0, 0, 0.1, "auto", "replace_one"),
    ("bike", 0, 0, 1.0, "auto", "replace_one"),
    ("ipums_br", 0, 0, 0.2, "auto", "replace_one"),
)


def indicators(rng, n, d):
    """Every category of three columns, of falling shares, and numbers: of each block the sum is constant."""
    blocks = []
    for many in (15, 8, 5):
        shares = 1.0 / np.arange(1, many + 1)
        blocks.append(np.eye(many)[rng.choice(many, size=n, p=shares / shares.sum())])
    return np.hstack([*blocks, rng.uniform(size=(n, d - 28))])


def collinear(rng, n, d):
    """Five factors, and little beside them."""
    return rng.normal(size=(n, 5)) @ rng.normal(size=(5, d)) + 0.15 * rng.normal(size=(n, d))


def turned(rng, n, d):
    """Variances that fall faster, along no column."""
    X = rng.normal(size=(n, d)) * 0.75 ** np.arange(d)
    return X @ np.linalg.qr(rng.normal(size=(d, d)))[0]


def steep(rng, n, d):
    """Variances that fall with the square, along no column: the last are as large as the moment's noise."""
    X = rng.normal(size=(n, d)) / (1.0 + np.arange(d))
    return X @ np.linalg.qr(rng.normal(size=(d, d)))[0]


HIDDEN = {made.__name__: made for made in (indicators, collinear, turned, steep)}


def table(name, n, d):
    """Rows of norm 1 at most, and labels."""
    if not n:
        task = utility.load(name, 1)
        return np.asarray(task.features(1.0, basis="linear").fit_transform(task.X)), task.y
    rng = np.random.default_rng(0)
    X = HIDDEN[name](rng, n, d) if name in HIDDEN else rng.normal(size=(n, d))
    if name == "correlated":
        X = X @ np.linalg.cholesky(0.5 ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))).T
    if name == "falling":
        X *= 0.8 ** np.arange(d)
    score = X @ rng.normal(size=d)
    score = 2.0 * (score - score.mean()) / score.std()
    y = (rng.logistic(size=n) < score - (4.0 if name == "rare" else 0.0)).astype(int)
    return X / (1.2 * np.linalg.norm(X, axis=1).mean()), y


def fits(X, y, epsilon, solver, neighbors, times):
    """Coefficients, what is said of their noise, scores, and a receipt."""
    known = {} if neighbors == "replace_one" else {"n_public": len(X)}
    found = []
    for seed in range(times):
        model = DPLogisticRegression(
            epsilon=epsilon,
            data_norm=1.0,
            classes=[0, 1],
            solver=solver,
            neighbors=neighbors,
            random_state=seed,
            **known,
        ).fit(X, y)
        found.append((model.coef_[0], model.coef_noise_std_[0], model.decision_function(X[:1000])))
    rate = float(f"{y.mean():.2g}")
    declared = model.quote(*X.shape, base_rate=rate).standard_error
    return *map(np.array, zip(*found)), model.privacy_, declared


def beside(X):
    """The deviation of each column beside the others; of one that these tell, none."""
    values, vectors = np.linalg.eigh(np.cov(X.T))
    inverse = np.where(values > 1e-8 * values[-1], 1.0 / np.maximum(values, 1e-300), 0.0)
    return np.sqrt(1.0 / ((vectors**2) @ inverse))


def measured(name, n, d, epsilon, solver, neighbors, times):
    """A line of the table."""
    X, y = table(name, n, d)
    coef, told, scores, receipt, declared = fits(X, y, epsilon, solver, neighbors, times)
    expected = receipt.standard_error
    apart, moved = coef.std(axis=0, ddof=1), np.sqrt(scores.var(axis=0, ddof=1).mean())
    after = np.sqrt(np.square(told).mean(axis=0)) / apart
    nominal = expected["coefficient"] / beside(X) / apart
    line = {"table": name, "n": len(X), "d": X.shape[1], "epsilon": epsilon}
    line |= {"neighbors": neighbors, "solver": receipt.solver.split("(")[0], "fits": times}
    whole = np.sqrt(np.square(told).mean() / np.square(apart).mean())
    line |= {"after_in_all": whole, "nominal_score": expected["score"] / moved}
    line["declared_score"] = declared["score"] / moved
    line["declared_50"] = np.median(declared["coefficient"] / beside(X) / apart)
    for what, ratio in (("after", after), ("nominal", nominal)):
        for share in (10, 50, 90):
            line[f"{what}_{share}"] = np.percentile(ratio, share)
    return {key: round(float(v), 3) if isinstance(v, float) else v for key, v in line.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fits", type=int, default=few(200, 2))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    for setting in few(SETTINGS, SETTINGS[:1] + SETTINGS[-2:]):
        lines.append(measured(*setting, given.fits))
        print(lines[-1], flush=True)
    write_csv("standard_errors", lines)


if __name__ == "__main__":
    main()
