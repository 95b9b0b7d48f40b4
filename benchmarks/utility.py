"""How good private classifiers of tables are: tasks, methods, epsilons and seeds, by declared columns.

    SKDP_DATA=... python benchmarks/utility.py [--tasks bank bike] [--seeds 8]
        [--diffprivlib <python>] [--ebm <python>]

80 % of the records to fit and 20 % to score, a new split and new noise for each seed, the same for all methods; delta
1e-8. Bounds and categories are declared as `skdp.datasets` has them; heavy tails by symlog. Ours: all defaults of
`DPLogisticRegression`, replace-one, behind `DPSplineFeatures` with basis "linear", "hats" and "smooth", and "smooth"
with one declared pair. ``outpert-gd`` is that of the papers, on the linear rows. Without privacy: logistic regression
on the linear rows and on 9 hats, gradient boosting on the columns, and the majority.

diffprivlib 0.6.6 and DP-EBM of interpret-core 0.7.8 run where their own environments are given by a path of a Python.
diffprivlib promises more, a pure epsilon (delta = 0); an oracle tells its C by the test sets. DP-EBM promises less: its
neighbours add or remove a record, and it publishes the names of the categories that occur.

Writes ``results/utility_runs.csv``, a row for each fit, ``results/utility.csv`` with means, standard errors and paired
differences to "smooth", and ``results/utility.png``.
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
import pandas as pd
from _protocol import RESULTS, write_csv
from _quick import few, is_missing
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import ShuffleSplit

import skdp
from skdp import datasets
from skdp.preprocessing import DPSplineFeatures

EPSILONS, DELTA = few((0.1, 0.4, 1.6), (1.6,)), 1e-8
SCORES = ("accuracy", "auc", "log_loss", "brier", "seconds")
BASES = ("linear", "hats", "smooth")
REFERENCE = "smooth"
PAIRS = {"bank": ("day", "month"), "bike": ("hr", "workingday")}
KEYS = ("task", "method", "epsilon", "seed")


@dataclass
class Task:
    """Columns with what is declared of them, labels, and a pair that a person who knows them would declare."""

    name: str
    X: pd.DataFrame
    y: np.ndarray
    declared: dict
    splits: list = field(default_factory=list)

    def features(self, epsilon, **given):
        """The encoder of the declared columns. All values that occur are declared: there is no unknown one."""
        return DPSplineFeatures(
            self.declared, epsilon=epsilon, delta=DELTA, unknown="zero", **given
        )


def load(name, seeds):
    """A task by its name."""
    if name == "ipums_br":
        data = datasets.load_ipums_br()
        X = pd.DataFrame(data.X, columns=[f"c{j}" for j in range(data.X.shape[1])])
        declared = {}
        for column, low, high in zip(X, data.lower, data.upper):
            two = high - low == 1
            declared[column] = {"categories": [low, high]} if two else [low, high]
        y = data.target
    else:
        table = getattr(datasets, f"load_{name}")()
        table = table.drop("fnlwgt") if name == "adult" else table
        X, declared, y = pd.DataFrame(dict(table.columns)), declared_of(table), table.target
    y = np.asarray({"bike": y > np.median(y), "wine": y >= 6}.get(name, y), dtype=int)
    splits = [next(ShuffleSplit(1, test_size=0.2, random_state=s).split(X)) for s in range(seeds)]
    return Task(name, X, y, declared, splits)


def declared_of(table):
    """Adult's `?` is its documented mark of a missing field: one more category."""
    declared = table.declaration
    for name in ("workclass", "occupation", "native_country") if table.name == "adult" else ():
        declared[name]["categories"].append("?")
    return declared


def ours(task, epsilon, seed):
    """Method name to a pipeline."""

    def fit(features, **given):
        model = skdp.DPLogisticRegression(
            epsilon=epsilon, delta=DELTA, classes=[0, 1], random_state=1000 + seed, **given
        )
        return skdp.make_pipeline(features, model)

    found = {basis: fit(task.features(epsilon, basis=basis)) for basis in BASES}
    if task.name in PAIRS:
        pair = task.features(epsilon, interactions=[PAIRS[task.name]])
        found["smooth, one pair"] = fit(pair)
    published = task.features(epsilon, basis="linear")
    found["outpert-gd"] = fit(published, solver="outpert-gd")
    return found


def without_privacy(task):
    """Method name to a pipeline that keeps no promise."""
    as_given = LogisticRegression(C=100.0, max_iter=2000)

    def fit(model, **given):
        return skdp.make_pipeline(task.features(1.0, **given), model)

    boosted = HistGradientBoostingClassifier(random_state=0)
    return {
        "not private: logistic": fit(as_given, basis="linear"),
        "not private: hats": fit(as_given, basis="hats", size=9),
        "not private: boosting": fit(boosted, basis="linear"),
        "majority": fit(DummyClassifier(strategy="prior"), basis="linear"),
    }


def scored(y, probability, seconds):
    """What is reported of a fit."""
    p = np.clip(np.asarray(probability, dtype=float), 1e-15, 1.0 - 1e-15)
    values = (
        np.mean((p > 0.5) == y),
        roc_auc_score(y, probability),
        -np.mean(np.log(np.where(y == 1, p, 1.0 - p))),
        np.mean((p - y) ** 2),
        seconds,
    )
    return {score: round(float(value), 6) for score, value in zip(SCORES, values)}


def own_runs(task):
    """Rows of all fits in this process."""
    for seed, (train, test) in enumerate(task.splits):
        methods = [(e, m, model) for e in EPSILONS for m, model in ours(task, e, seed).items()]
        methods += [(np.inf, m, model) for m, model in without_privacy(task).items()]
        for epsilon, method, model in methods:
            start = time.process_time()
            model.fit(task.X.iloc[train], task.y[train])
            seconds = time.process_time() - start
            probability = model.predict_proba(task.X.iloc[test])[:, 1]
            key = dict(zip(KEYS, (task.name, method, epsilon, seed)))
            yield key | scored(task.y[test], probability, seconds)


def outside_runs(task, library, python):
    """Rows of the fits of another library, in its own environment."""
    kinds = ["continuous" if isinstance(d, list) else "nominal" for d in task.declared.values()]
    bounds = [d[:2] if isinstance(d, list) else (0.0, 0.0) for d in task.declared.values()]
    columns = {
        f"column_{j}": task.X[name].to_numpy(float if kinds[j] == "continuous" else str)
        for j, name in enumerate(task.declared)
    }
    rows = task.features(1.0, basis="linear").fit_transform(task.X)
    with tempfile.TemporaryDirectory() as folder:
        given, out = Path(folder) / "task.npz", Path(folder) / "out.npz"
        np.savez(
            given,
            rows=np.asarray(rows),
            y=task.y,
            kinds=kinds,
            names=list(task.declared),
            bounds=bounds,
            delta=DELTA,
            epsilons=EPSILONS,
            train=[train for train, _ in task.splits],
            test=[test for _, test in task.splits],
            **columns,
        )
        script = Path(__file__).with_name("_outside.py")
        subprocess.run([python, script, library, given, out], check=True)
        for name, answer in np.load(out).items():
            method, epsilon, seed = name.split("|")
            key = dict(zip(KEYS, (task.name, method, float(epsilon), int(seed))))
            yield key | scored(task.y[task.splits[int(seed)][1]], answer[:-1], answer[-1])


def with_oracle(rows):
    """Of diffprivlib its default, and at each epsilon the C of the best mean AUC on the test sets."""
    mean = defaultdict(list)
    for row in rows:
        if row["method"].startswith("diffprivlib C="):
            mean[row["task"], row["epsilon"], row["method"]].append(row["auc"])
    best = {}
    for (task, epsilon, method), values in mean.items():
        known = best.get((task, epsilon), ("", -1.0))
        best[task, epsilon] = max(known, (method, float(np.mean(values))), key=lambda one: one[1])
    for row in rows:
        if not row["method"].startswith("diffprivlib C="):
            yield row
        if row["method"] == "diffprivlib C=1":
            yield row | {"method": "diffprivlib"}
        if row["method"] == best.get((row["task"], row["epsilon"]), ("", 0))[0]:
            yield row | {"method": "diffprivlib, oracle C"}


def summarise(rows):
    """Means with standard errors, and differences to `REFERENCE` on the same split with theirs."""
    by = {tuple(row[key] for key in KEYS): row for row in rows}
    groups = defaultdict(list)
    for task, method, epsilon, seed in by:
        groups[task, method, epsilon].append(seed)
    for (task, method, epsilon), seeds in sorted(groups.items()):
        line = {"task": task, "method": method, "epsilon": epsilon, "runs": len(seeds)}
        for score in SCORES:
            values = np.array([by[task, method, epsilon, s][score] for s in seeds])
            line |= {score: round(values.mean(), 5), f"{score}_se": _error(values)}
        beside = [by.get((task, REFERENCE, epsilon, s)) for s in seeds]
        for score in ("auc", "log_loss", "brier"):
            if all(beside):
                ours = np.array([row[score] for row in beside])
                apart = np.array([by[task, method, epsilon, s][score] for s in seeds]) - ours
                line |= {
                    f"{score}_less_ours": round(apart.mean(), 5),
                    f"{score}_apart_se": _error(apart),
                }
            else:
                line |= {f"{score}_less_ours": "", f"{score}_apart_se": ""}
        yield line


def _error(values):
    """Standard error of a mean; it is of splits and noises."""
    return round(values.std(ddof=1) / len(values) ** 0.5, 5) if len(values) > 1 else ""


def plot(lines):
    """AUC and log-loss by epsilon, a column for each task."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    tasks = list(dict.fromkeys(line["task"] for line in lines))
    methods = sorted({line["method"] for line in lines})
    colours = {method: pyplot.get_cmap("tab20")(k) for k, method in enumerate(methods)}
    figure, axes = pyplot.subplots(2, len(tasks), figsize=(3.4 * len(tasks), 7), squeeze=False)
    for at, task in enumerate(tasks):
        for ax, score, most in zip(axes[:, at], ("auc", "log_loss"), (1.0, 1.0)):
            for method in methods:
                of = [line for line in lines if (line["task"], line["method"]) == (task, method)]
                _draw(ax, of, score, {"label": method, "color": colours[method]})
            ax.set(xscale="log", xlabel="epsilon", ylabel=score, title=task)
            ax.set_ylim(top=most)
    known = {}
    for ax in axes[0]:
        known |= dict(zip(*reversed(ax.get_legend_handles_labels())))
    figure.legend(known.values(), known, loc="lower center", ncols=5, frameon=False)
    figure.tight_layout(rect=(0, 0.1, 1, 1))
    figure.savefig(RESULTS / "utility.png", dpi=90)


def _draw(ax, lines, score, style):
    """A curve with its errors, or a level where there is no epsilon."""
    if lines and lines[0]["epsilon"] == np.inf:
        ax.axhline(lines[0][score], linestyle=":", **style)
    elif lines:
        x, y, error = ([line[key] for line in lines] for key in ("epsilon", score, f"{score}_se"))
        error = [each or 0.0 for each in error]  # of one seed there is none
        ax.errorbar(x, y, yerr=error, marker="o", capsize=2, **style)


def kept(path):
    """Rows of earlier runs."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        read = list(csv.DictReader(file))
    kinds = {"task": str, "method": str, "seed": int}
    return [{k: kinds.get(k, float)(v) for k, v in row.items()} for row in read]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--tasks", nargs="*", default=few(["adult", "bank", "ipums_br", "bike", "wine"], ["bank"])
    )
    parser.add_argument("--seeds", type=int, default=few(8, 1))
    parser.add_argument("--diffprivlib", metavar="PYTHON", help="has diffprivlib")
    parser.add_argument("--ebm", metavar="PYTHON", help="has interpret-core")
    parser.add_argument("--only", choices=["ours", "outside"], help="leave what was run before")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    path = RESULTS / "utility_runs.csv"
    rows = {tuple(row[key] for key in KEYS): row for row in kept(path)}
    for name in given.tasks:
        task = load(name, given.seeds)
        found = [] if given.only == "outside" else list(own_runs(task))
        for library in ("diffprivlib", "ebm"):
            python = getattr(given, library)
            if python and given.only != "ours":
                found += outside_runs(task, library, python)
        rows |= {tuple(row[key] for key in KEYS): row for row in found}
        write_csv("utility_runs", list(rows.values()))
        print(name, len(found), file=sys.stderr, flush=True)
    lines = list(summarise(list(with_oracle(list(rows.values())))))
    write_csv("utility", lines)
    if not is_missing("matplotlib"):
        plot(lines)


if __name__ == "__main__":
    main()
