"""What calibration brings: the slope of the log-odds, log-loss and ranks with it and without, on equal splits.

    SKDP_DATA=... python benchmarks/calibration.py [--tasks bank mnist] [--seeds 6]

Labels: `DPTableClassifier` as a line, curves and a network, replace-one, delta 1e-8, 80 % of the records to fit, 20 %
to score, a split and a noise for each seed. Several classes: `DPLogisticRegression` and `DPMLPClassifier` of 64 units,
delta 1e-6, on 10,000 images of digits of 14 x 14 pixels, and on 20,000 records of ten generated clusters. The slope is
that of a logistic regression of held-out labels on the score; of several classes, the one that all scores are
multiplied with for the least held-out log-loss.

Writes ``results/calibration_runs.csv``, a row for each fit, and ``results/calibration.csv``, means over seeds.
"""

import argparse
from collections import defaultdict

import numpy as np
from _protocol import write_csv
from _quick import few
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from tables import labels_of, split
from utility import DELTA

from skdp import DPLogisticRegression, DPTableClassifier, datasets
from skdp.neural_network import DPMLPClassifier

LABELS = "bank", "adult", "bike", "ipums_br"
SEVERAL = "mnist", "clusters"
EPSILONS = few((0.1, 0.4, 1.6, 6.0), (1.6, 6.0))
IMAGES, CLUSTERED = few((10_000, 20_000), (400, 400))  # to fit
WAYS = False, "auto"


def of_labels(name, seeds):
    """Rows of all fits of a table with two labels."""
    X, declared, y = labels_of(name)
    for seed in range(seeds):
        fit, test = split(name, len(X), seed)
        majority = log_loss(y[test], np.full(len(test), y[fit].mean()))
        for epsilon in EPSILONS:
            for word in ("line", "curves", "network"):
                for way in WAYS:
                    model = DPTableClassifier(
                        declared,
                        epsilon=epsilon,
                        delta=DELTA,
                        model=word,
                        unknown="zero",
                        classes=[0, 1],
                        random_state=1000 + seed,
                        calibrate=way,
                    ).fit(X.iloc[fit], y[fit])
                    scores = model.decision_function(X.iloc[test])
                    slope = LogisticRegression(C=np.inf, max_iter=1000).fit(
                        scores[:, None], y[test]
                    )
                    yield {
                        "task": name,
                        "epsilon": epsilon,
                        "model": word,
                        "calibrate": way,
                        "seed": seed,
                        "slope": round(float(slope.coef_[0, 0]), 4),
                        "log_loss": round(log_loss(y[test], model.predict_proba(X.iloc[test])), 5),
                        "ranks": round(float(roc_auc_score(y[test], scores)), 5),
                        "majority": round(majority, 5),
                    }


def records_of(name):
    """Rows of norm at most 1 and codes of ten classes, to fit and to score."""
    rng = np.random.default_rng(0)
    if name == "mnist":
        data = datasets.load_mnist()
        X = np.asarray(data.X, dtype=float).reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4))
        X, y, n = X.reshape(len(X), -1), np.asarray(data.target, dtype=int), IMAGES
        places = rng.permutation(len(y))[: n + n // 2]
        X, y = X[places], y[places]
    else:
        n, shares = CLUSTERED, np.arange(1, 11) ** -0.5
        middles = 0.6 * rng.normal(size=(10, 20))
        y = rng.choice(10, size=n + n // 2, p=shares / shares.sum())
        X = middles[y] + rng.normal(size=(len(y), 20))
        X /= 1.2 * np.linalg.norm(X, axis=1).mean()
    X = X / np.maximum(
        np.linalg.norm(X, axis=1, keepdims=True), 1.0 if name == "clusters" else 1e-9
    )
    return X[:n], y[:n], X[n:], y[n:]


def of_several(name, seeds):
    """Rows of all fits of several classes."""
    A, fitted, B, y = records_of(name)
    shares = np.bincount(fitted) / len(fitted)
    majority = -np.log(shares[y]).mean()
    faces = {"line": DPLogisticRegression(), "network": DPMLPClassifier(hidden_layer_sizes=(64,))}
    for seed in range(seeds):
        for epsilon in EPSILONS[1:]:
            for word, face in faces.items():
                for way in WAYS:
                    face.set_params(epsilon=epsilon, data_norm=1.0, classes=range(10))
                    face.set_params(calibrate=way, random_state=seed).fit(A, fitted)
                    scores = face.decision_function(B)

                    def loss(log_slope, scores=scores):
                        odds = log_softmax(np.exp(log_slope) * scores, axis=1)
                        return -odds[np.arange(len(y)), y].mean()

                    best = minimize_scalar(loss, bounds=(-4.0, 4.0), method="bounded")
                    yield {
                        "task": name,
                        "epsilon": epsilon,
                        "model": word,
                        "calibrate": way,
                        "seed": seed,
                        "slope": round(float(np.exp(best.x)), 4),
                        "log_loss": round(float(loss(0.0)), 5),
                        "ranks": round(face.score(B, y), 5),
                        "majority": round(float(majority), 5),
                    }


def summary(rows):
    """Means, and differences of ranks on equal splits with their standard errors."""
    found = defaultdict(dict)
    for row in rows:
        key = row["task"], row["model"], row["epsilon"]
        found[key].setdefault(row["seed"], {})[row["calibrate"]] = row
    for (task, word, epsilon), seeds in found.items():
        pairs = [(one[False], one["auto"]) for one in seeds.values() if len(one) == 2]
        if not pairs:
            continue
        line = {"task": task, "model": word, "epsilon": epsilon, "seeds": len(pairs)}
        for name in ("slope", "log_loss"):
            for k, how in enumerate(("plain", "calibrated")):
                line[f"{name}_{how}"] = round(float(np.mean([pair[k][name] for pair in pairs])), 4)
        less = np.array([after["ranks"] - before["ranks"] for before, after in pairs])
        error = less.std(ddof=1) / np.sqrt(len(less)) if len(less) > 1 else 0.0
        line["majority"] = round(float(np.mean([before["majority"] for before, _ in pairs])), 4)
        line["ranks_difference"] = round(float(less.mean()), 5)
        line["error"] = round(float(error), 5)
        yield line


def main():
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="*", default=few([*LABELS, *SEVERAL], ["bank", "mnist"]))
    parser.add_argument("--seeds", type=int, default=few(6, 1))
    asked, rows = parser.parse_args(), []
    for name in asked.tasks:
        for row in (of_labels if name in LABELS else of_several)(name, asked.seeds):
            rows.append(row)
        write_csv("calibration_runs", rows)
        write_csv("calibration", list(summary(rows)))
        print(*(row for row in summary(rows) if row["task"] == name), sep="\n", flush=True)


if __name__ == "__main__":
    main()
