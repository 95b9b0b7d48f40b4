"""What every utility benchmark shares: data, scaling, splits, scores, and the table they go to."""

import csv
import dataclasses
from collections import defaultdict

import numpy as np
from _quick import RESULTS, few
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import ShuffleSplit

from skdp import datasets

__all__ = [
    "RESULTS",
    "baselines",
    "evaluate",
    "load",
    "minmax_unit_rows",
    "splits",
    "summarise",
    "sweep",
    "write_csv",
]

EPSILONS = few((0.05, 0.1, 0.2, 0.4, 0.8, 1.6), (0.8,))
DELTA = 1e-8
N_SPLITS, N_SEEDS = few(5, 1), few(3, 1)
SCORES = ("accuracy", "auc", "objective")


def minmax_unit_rows(X):
    """Columns to [0, 1] by their own range, then rows longer than 1 to norm 1.

    The ranges come from the data and are treated as public: for benchmarks only.
    """
    X = np.asarray(X, dtype=np.float64)
    low, high = X.min(axis=0), X.max(axis=0)
    X = (X - low) / np.where(high > low, high - low, 1.0)
    # A little shorter than 1: a rounded norm must not pass the declared bound.
    return X / np.maximum(np.linalg.norm(X, axis=1) * (1 + 1e-15), 1.0)[:, None]


def load(name):
    """The rows and labels of "adult", "bank" or "ipums_br" under the protocol."""
    if name == "adult":
        table = datasets.load_adult()
        return minmax_unit_rows(
            dataclasses.replace(table, symlog=frozenset()).encode()
        ), table.target
    data = datasets.load_bank(encoding="dpagd") if name == "bank" else datasets.load_ipums_br()
    return minmax_unit_rows(data.X), data.target


def splits(n):
    """The five train and test index pairs for n rows."""
    return list(ShuffleSplit(N_SPLITS, test_size=0.2, random_state=0).split(np.empty(n)))


def evaluate(model, X, y, train, test):
    """Test accuracy, test AUC and mean training loss of a fitted binary classifier."""
    score = _score(model, X)
    return {
        "accuracy": float(np.mean(model.predict(X[test]) == y[test])),
        "auc": float(roc_auc_score(y[test], score[test])),
        "objective": float(log_loss(y[train], _probabilities(score[train]))),
    }


def sweep(name, methods, epsilons=EPSILONS, seeds=N_SEEDS):
    """Run methods on one data set and yield a row for each (method, epsilon, split, seed).

    Parameters
    ----------
    name : str
        The data set.
    methods : dict
        Method name to ``make(epsilon, seed) -> unfitted classifier``.
    epsilons : sequence of float
        Budgets.
    seeds : int
        Noise seeds for each split.

    Yields
    ------
    dict
        What was run and its scores.
    """
    X, y = load(name)
    for split, (train, test) in enumerate(splits(len(y))):
        for method, make in methods.items():
            for epsilon in epsilons:
                for seed in range(seeds):
                    model = make(epsilon, 1000 * split + seed).fit(X[train], y[train])
                    ran = {"data": name, "method": method, "epsilon": epsilon}
                    yield ran | {"split": split, "seed": seed} | evaluate(model, X, y, train, test)


def baselines():
    """The two methods without privacy, which take no notice of epsilon."""
    return {
        "nonprivate": lambda epsilon, seed: LogisticRegression(C=100.0, max_iter=1000),
        "majority": lambda epsilon, seed: DummyClassifier(strategy="prior"),
    }


def summarise(rows):
    """Mean and standard deviation of every score by data set, method and epsilon."""
    groups = defaultdict(list)
    for row in rows:
        groups[row["data"], row["method"], row["epsilon"]].append([row[s] for s in SCORES])
    lines = []
    for key, values in groups.items():
        line = dict(zip(("data", "method", "epsilon"), key)) | {"runs": len(values)}
        for score, mean, sd in zip(SCORES, np.mean(values, axis=0), np.std(values, axis=0)):
            line |= {score: round(float(mean), 5), f"{score}_sd": round(float(sd), 5)}
        lines.append(line)
    return lines


def write_csv(name, rows):
    """Write rows (dicts with the same keys) to ``results/<name>.csv``."""
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / f"{name}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _score(model, X):
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    probability = model.predict_proba(X)[:, 1]
    return np.log(probability) - np.log1p(-probability)


def _probabilities(score):
    # A huge private score makes a large loss, not an infinite one.
    probability = 1 / (1 + np.exp(-np.clip(score, -500, 500)))
    return np.column_stack([1 - probability, probability])
