"""Fits of other libraries for utility.py, in an environment of their own: _outside.py <library> <task> <out>.

The task is a file of arrays that utility.py has written; what comes back are probabilities of the second class for each
test set, and processor seconds of the fits.
"""

import sys
import time
import warnings

import numpy as np

CS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)  # of diffprivlib; 1 is its default


def diffprivlib(task, epsilon, seed, train):
    """Logistic regression of diffprivlib on rows of norm 1, at each C. Its promise is a pure epsilon."""
    from diffprivlib.models import LogisticRegression

    rows, y = task["rows"], task["y"]
    for C in CS:
        model = LogisticRegression(epsilon=epsilon, data_norm=1.0, C=C, random_state=seed)
        yield f"diffprivlib C={C:g}", model, rows, y


def ebm(task, epsilon, seed, train):
    """Explainable boosting machines of interpret on the columns as they are. Their promise is for add/remove."""
    from interpret.privacy import DPExplainableBoostingClassifier

    kinds, names = task["kinds"].tolist(), task["names"].tolist()
    columns = [task[f"column_{j}"].astype(object) for j in range(len(names))]
    bounds = {j: tuple(task["bounds"][j]) for j, kind in enumerate(kinds) if kind == "continuous"}
    X = np.column_stack(columns)
    for rate in (0.01, 0.1):
        model = DPExplainableBoostingClassifier(
            feature_names=names,
            feature_types=kinds,
            privacy_bounds=bounds,
            epsilon=epsilon,
            delta=float(task["delta"]),
            learning_rate=rate,
            n_jobs=1,
            random_state=seed,
        )
        yield f"DP-EBM rate={rate:g}", model, X, task["y"]


def main(library, given, out):
    warnings.simplefilter("ignore")
    task = np.load(given)
    found = {}
    for epsilon in task["epsilons"]:
        for seed, (train, test) in enumerate(zip(task["train"], task["test"])):
            fits = {"diffprivlib": diffprivlib, "ebm": ebm}[library]
            for method, model, X, y in fits(task, float(epsilon), 1000 + seed, train):
                start = time.process_time()
                model.fit(X[train], y[train])
                seconds = time.process_time() - start
                probability = model.predict_proba(X[test])[:, 1]
                found[f"{method}|{epsilon}|{seed}"] = np.append(probability, seconds)
    np.savez(out, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
