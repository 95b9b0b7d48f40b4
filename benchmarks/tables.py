"""What the model of a table that public numbers choose brings over the additive model, on equal splits.

    SKDP_DATA=... python benchmarks/tables.py [--tasks bike wine] [--seeds 8]

`DPTableClassifier` (area under the ROC curve) and `DPTableRegressor` (R2) with words of ``model``, replace-one, delta
1e-8, 80 % of the records to fit and 20 % to score, a split and a noise for each seed. A label that is not the table's
own is one of its columns: the most frequent value against the rest. The generated table has products of bent columns,
80,000 records to fit and 20,000 to score.

Writes ``results/tables_runs.csv``, a row for each fit, and ``results/tables.csv``, means with standard errors and
differences to the additive model ("curves") on equal splits.
"""

import argparse
import time
from collections import defaultdict

import numpy as np
import pandas as pd
from _protocol import write_csv
from _quick import few
from sklearn.metrics import log_loss, r2_score, roc_auc_score
from sklearn.model_selection import ShuffleSplit
from utility import DELTA, declared_of
from utility import load as load_labels

from skdp import DPTableClassifier, DPTableRegressor, datasets

RECORDS = few(100_000, 600)  # of the generated table
# Task: epsilons, and words beside "auto" and "curves".
LABELS = {
    "bank:housing": ((1.6, 6.0), ("random_features", "network")),
    "bank": ((1.6, 6.0), ("random_features",)),
    "bank:contact": ((6.0,), ("random_features",)),
    "adult": ((1.6, 6.0), ("random_features",)),
    "adult:hours_per_week": ((6.0,), ("random_features",)),
    "adult:race": ((6.0,), ("random_features",)),
    "ipums_br": ((6.0,), ("random_features",)),
    "generated": ((0.4, 1.6), ("mixture", "network")),
}
NUMBERS = {
    "bike:numbers": ((0.4, 1.6, 6.0), ("line",)),
    "wine:numbers": ((0.4, 1.6, 6.0), ("line",)),
}


def labels_of(name):
    """Columns, declaration and labels."""
    if name == "generated":
        return generated()
    table, _, column = name.partition(":")
    task = load_labels(table, 0)
    if not column:
        return task.X, task.declared, task.y
    values = task.X[column].astype(str)
    declared = {key: value for key, value in task.declared.items() if key != column}
    most = values.value_counts().index[0]
    return task.X.drop(columns=column), declared, (values == most).to_numpy(dtype=int)


def generated(n=RECORDS, d=10):
    """Bent columns, and three products of them."""
    rng = np.random.default_rng(3)
    U = rng.uniform(-1, 1, (n, d))
    bent = np.cos(np.pi * (U + rng.uniform(-1, 1, d)))
    score = bent @ rng.normal(size=d) * 0.5
    score += 1.2 * sum(bent[:, i] * bent[:, j] for i, j in ((0, 1), (2, 3), (0, 4)))
    score = 2 * (score - score.mean()) / score.std()
    names = [f"x{j}" for j in range(d)]
    labels = (rng.logistic(size=n) < score).astype(int)
    return pd.DataFrame(U, columns=names), {name: [-1, 1] for name in names}, labels


def numbers_of(name):
    """Columns, declaration, targets and their bounds."""
    table = getattr(datasets, f"load_{name.partition(':')[0]}")()
    X, y = pd.DataFrame(dict(table.columns)), np.asarray(table.target, dtype=float)
    return X, declared_of(table), y, tuple(map(float, table.target_bounds))


def split(name, n, seed):
    """Places to fit and to score."""
    if name == "generated":
        return np.arange(n * 4 // 5), np.arange(n * 4 // 5, n)
    return next(ShuffleSplit(1, test_size=0.2, random_state=seed).split(np.zeros(n)))


def runs(name, seeds):
    """Rows of all fits of a task."""
    numbers = name in NUMBERS
    epsilons, words = (NUMBERS if numbers else LABELS)[name]
    X, declared, y, *bounds = numbers_of(name) if numbers else labels_of(name)
    kind = DPTableRegressor if numbers else DPTableClassifier
    given = {"y_bounds": bounds[0]} if numbers else {"classes": [0, 1]}
    for epsilon in few(epsilons, epsilons[-1:]):
        for seed in range(seeds):
            fit, test = split(name, len(X), seed)
            for word in ("auto", "curves", *words):
                model = kind(
                    declared,
                    epsilon=epsilon,
                    delta=DELTA,
                    model=word,
                    unknown="zero",
                    random_state=1000 + seed,
                    **given,
                )
                start = time.process_time()
                model.fit(X.iloc[fit], y[fit])
                seconds = time.process_time() - start
                rows = X.iloc[test]
                score = (
                    r2_score(y[test], model.predict(rows))
                    if numbers
                    else roc_auc_score(y[test], model.predict_proba(rows)[:, 1])
                )
                yield {
                    "task": name,
                    "score": "r2" if numbers else "auc",
                    "epsilon": epsilon,
                    "model": word,
                    "seed": seed,
                    "chosen": model.chosen_,
                    "random_features": model.encoder_.random_features_,
                    "value": round(float(score), 5),
                    "log_loss": ""
                    if numbers
                    else round(float(log_loss(y[test], model.predict_proba(rows))), 5),
                    "seconds": round(seconds, 2),
                }


def summary(rows):
    """Means, and differences to the additive model, with standard errors."""
    found = defaultdict(dict)
    for row in rows:
        key = row["task"], row["score"], row["epsilon"], row["model"], row["chosen"]
        found[key][row["seed"]] = row["value"]
    for (task, score, epsilon, word, chosen), values in found.items():
        additive = found[task, score, epsilon, "curves", "curves"]
        less = np.array([value - additive[seed] for seed, value in values.items()])
        error = less.std(ddof=1) / np.sqrt(len(less)) if len(less) > 1 else 0.0
        yield {
            "task": task,
            "score": score,
            "epsilon": epsilon,
            "model": word,
            "chosen": chosen,
            "seeds": len(less),
            "mean": round(float(np.mean([*values.values()])), 4),
            "difference": round(float(less.mean()), 4),
            "error": round(float(error), 4),
        }


def main():
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--tasks",
        nargs="*",
        default=few([*NUMBERS, *LABELS], ["wine:numbers", "bank", "generated"]),
    )
    parser.add_argument("--seeds", type=int, default=few(8, 1))
    asked, rows = parser.parse_args(), []
    for name in asked.tasks:
        rows += runs(name, asked.seeds)
        write_csv("tables_runs", rows)
        write_csv("tables", list(summary(rows)))
        print(*(row for row in summary(rows) if row["task"] == name), sep="\n", flush=True)


if __name__ == "__main__":
    main()
