"""R2 of private least squares by epsilon: real and generated tables, beside AdaSSP and no privacy.

    SKDP_DATA=... python benchmarks/regression.py [--data wine bike even skewed coded] [--seeds 40]
        [--diffprivlib /path/to/its/python] [--methods DPRidge] [--epsilons 0.1] [--save regression]

80 % of the rows to fit and 20 % to score, a new split and new noise for each seed; replace-one neighbours, delta 1e-6.
Rows and targets are bounded by public declarations; predictions of all methods are cut to the declared range. AdaSSP is
Algorithm 2 of Wang (2018), "Revisiting differentially private linear regression", with the constants that are printed
there and declared bounds. diffprivlib's LinearRegression runs in an environment of its own, see
`_diffprivlib_regression.py`. Writes ``results/<save>.csv``.
"""

import argparse
import math
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
from _protocol import write_csv
from _quick import few
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score

from skdp import DPElasticNet, DPHuberRegressor, DPLasso, DPRidge, datasets

EPSILONS = few((0.1, 0.4, 1.0, 4.0), (4.0,))
ROWS = few(20_000, 600)
DELTA = 1e-6
INTERCEPT = 0.25  # of the constant column beside rows of norm at most 1


def load(name):
    """Rows of norm at most 1, the target, and its declared bounds."""
    if name in ("wine", "bike"):
        table = getattr(datasets, f"load_{name}")()
        return table.encode(), np.asarray(table.target, dtype=float), table.target_bounds
    rng = np.random.default_rng(["even", "skewed", "coded"].index(name))
    if name == "coded":
        words = [rng.integers(0, k, ROWS)[:, None] == np.arange(k) for k in (3, 8, 20)]
        X = np.column_stack([rng.uniform(-1, 1, (ROWS, 4)), *words]) / math.sqrt(7.0)
    else:
        X = rng.normal(size=(ROWS, 10 if name == "even" else 20))
        X *= 1.0 if name == "even" else 0.75 ** np.arange(20)
        X /= 1.3 * np.linalg.norm(X, axis=1).mean()
        X /= np.maximum(np.linalg.norm(X, axis=1), 1.0)[:, None] * (1 + 1e-15)
    signal = X @ rng.normal(size=X.shape[1])
    y = 0.25 * (signal - signal.mean()) / signal.std() + 0.17 * rng.normal(size=len(X))
    return X, np.clip(y, -1.0, 1.0), (-1.0, 1.0)


class AdaSSP:
    """Noisy sufficient statistics with a ridge that follows from a noisy smallest eigenvalue (Wang 2018)."""

    def __init__(self, epsilon, bounds, seed):
        self.epsilon, self.bounds, self.rng = epsilon, bounds, np.random.default_rng(seed)

    def fit(self, X, y):
        """Replace-one neighbours: twice the noise that the paper has for a record that comes or goes."""
        low, high = self.bounds
        Z = np.column_stack([X, np.full(len(X), INTERCEPT)])
        t = np.clip(2.0 * (y - low) / (high - low) - 1.0, -1.0, 1.0)
        square, d = 1.0 + INTERCEPT**2, Z.shape[1]
        third, log6 = self.epsilon / 3.0, math.log(6.0 / DELTA)
        scale = 2.0 * math.sqrt(log6) / third
        moment, product = Z.T @ Z, Z.T @ t
        least = np.linalg.eigvalsh(moment)[0]
        least = max(least + scale * square * self.rng.normal() - 2.0 * log6 / third * square, 0.0)
        noise = np.triu(scale * square * self.rng.normal(size=(d, d)))
        noise = noise + np.triu(noise, 1).T
        ridge = math.sqrt(d * log6 * math.log(2.0 * d**2 / 0.05)) * 2.0 * square / third
        product = product + scale * math.sqrt(square) * self.rng.normal(size=d)
        matrix = moment + noise + max(0.0, ridge - least) * np.eye(d)
        self.w = np.linalg.solve(matrix, product)
        return self

    def predict(self, X):
        """On the user's scale."""
        low, high = self.bounds
        return 0.5 * (X @ self.w[:-1] + INTERCEPT * self.w[-1] + 1.0) * (high - low) + low


def methods(bounds):
    """Method name to ``make(epsilon, seed) -> unfitted regressor``."""
    given = {"delta": DELTA, "data_norm": 1.0, "y_bounds": bounds}
    half = 0.5 * (bounds[1] - bounds[0])

    def private(Estimator, **own):
        return lambda epsilon, seed: Estimator(epsilon=epsilon, random_state=seed, **given, **own)

    return {
        "nonprivate": lambda epsilon, seed: Ridge(1e-3),
        "adassp": lambda epsilon, seed: AdaSSP(epsilon, bounds, seed),
        "DPRidge": private(DPRidge, alpha=1e-3),
        "DPLasso": private(DPLasso, alpha=1e-6 * half),
        "DPElasticNet": private(DPElasticNet, alpha=1e-6),
        "DPHuberRegressor": private(DPHuberRegressor, alpha=1e-3, threshold=0.1 * half),
    }


def scores(name, seeds, wanted, epsilons):
    """R2 of every wanted method, epsilon and seed on one table."""
    X, y, bounds = load(name)
    made = {key: make for key, make in methods(bounds).items() if key in (wanted or (key,))}
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(len(y))
        train, test = np.split(order, [int(0.8 * len(y))])
        for method, make in made.items():
            for epsilon in epsilons:
                model = make(epsilon, seed).fit(X[train], y[train])
                predicted = np.clip(model.predict(X[test]), *bounds)
                yield (method, epsilon), r2_score(y[test], predicted)


def theirs(name, seeds, epsilons, python):
    """The same of diffprivlib, by the Python of its environment."""
    X, y, bounds = load(name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "splits.npz"
        np.savez(path, X=X, y=y, bounds=bounds, seeds=seeds, epsilons=epsilons)
        script = Path(__file__).with_name("_diffprivlib_regression.py")
        said = subprocess.run(
            [python, script, path], capture_output=True, text=True, check=True
        ).stdout
    for line in said.splitlines():
        _, epsilon, score = map(float, line.split())
        yield ("diffprivlib, delta = 0", epsilon), score


def summary(name, given):
    """One line for each method and epsilon: mean over seeds and its standard error."""
    found, seeds, epsilons = {}, given.seeds, given.epsilons
    lines = list(scores(name, seeds, given.methods, epsilons))
    if given.diffprivlib:
        lines += theirs(name, seeds, epsilons, given.diffprivlib)
    for key, score in lines:
        found.setdefault(key, []).append(score)
    for (method, epsilon), values in found.items():
        error = np.std(values, ddof=1) / math.sqrt(len(values))
        ran = {"data": name, "method": method, "epsilon": epsilon, "runs": len(values)}
        yield ran | {"r2": round(float(np.mean(values)), 4), "error": round(float(error), 4)}


def main():
    """Run the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = ["wine", "bike", "even", "skewed", "coded"]
    parser.add_argument("--data", nargs="+", default=names, choices=names)
    parser.add_argument("--seeds", type=int, default=few(40, 1))
    parser.add_argument("--diffprivlib", help="the Python of an environment with diffprivlib")
    parser.add_argument("--methods", nargs="+")
    parser.add_argument("--epsilons", nargs="+", type=float, default=EPSILONS)
    parser.add_argument("--save", default="regression")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = [line for name in given.data for line in summary(name, given)]
    write_csv(given.save, rows)
    for row in rows:
        print(*row.values())


if __name__ == "__main__":
    main()
