"""Accuracy per epsilon of every solver that learns from noisy gradients and comparisons.

    SKDP_DATA=/path/to/data python benchmarks/gradient_solvers.py [--data bank] [--repetitions 10] [--jobs 2]

The protocol of `_protocol.py` (replace-one, delta 1e-8), lambda 1e-3 and 1e-4 per record, in two groups as the papers
compare them: with an L1 penalty (logistic and huberised SVM), and with an L2 penalty (logistic, some of SVM). Brings
results/gradient_solvers.csv up to date (what is run again is replaced, the rest stays), and draws a plot for each data
set where matplotlib is installed.
"""

import argparse
import csv
import itertools
import os
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

from _protocol import (
    EPSILONS,
    N_SPLITS,
    RESULTS,
    baselines,
    evaluate,
    load,
    splits,
    summarise,
    write_csv,
)
from _quick import few, is_missing
from joblib import Parallel, delayed

from skdp import DPLinearSVC, DPLogisticRegression
from skdp.penalties import L1Ball
from skdp.solvers import SOLVERS

DATA = few(("bank", "ipums_br", "adult"), ("bank",))
LOSSES = ("logistic", "svm")
LAMBDAS = few((1e-3, 1e-4), (1e-3,))
L1_SOLVERS = ("ssadmm", "sgd", "dp-admm", "admm-objp", "mpadmm", "gd")
L2_SOLVERS = (
    *("gd", "sgd", "adam", "agd", "blgd", "blsgd", "blsgd-ac", "newton", "ssadmm", "mpadmm"),
    *("svrg", "rrpsgd", "privgene", "dp-admm", "white-gd", "white-objective"),
)
L2_SVM = ("sgd", "agd", "blsgd", "blgd")
RADIUS = 10.0  # of the L1 ball for Frank-Wolfe: public, the same for all data


def makers(lam, wanted, losses=LOSSES):
    """Method name -> make(epsilon, n), for all registered solvers of both groups and these losses."""
    found = {}
    for penalty, group in (("l1", L1_SOLVERS), ("l2", L2_SOLVERS)):
        for name in group:
            if name in SOLVERS and (not wanted or name in wanted):
                found[f"{penalty}/logistic/{name}"] = _maker(
                    DPLogisticRegression, name, penalty, lam
                )
                if penalty == "l1" or name in L2_SVM:
                    found[f"{penalty}/svm/{name}"] = _maker(DPLinearSVC, name, penalty, lam)
    if "frank-wolfe" in SOLVERS and (not wanted or "frank-wolfe" in wanted):
        found["l1/logistic/frank-wolfe"] = _maker(
            DPLogisticRegression, "frank-wolfe", L1Ball(RADIUS), lam
        )
    return {name: make for name, make in found.items() if name.split("/")[1] in losses}


def _maker(Estimator, solver, penalty, lam):
    def make(epsilon, n):
        return Estimator(
            epsilon=epsilon,
            delta=1e-8,
            solver=solver,
            penalty=penalty,
            C=1 / (lam * n),
            data_norm=1.0,
            classes=[0, 1],
        )

    return make


def one(name, lam, method, make, epsilon, repetition, data):
    X, y = data
    train, test = splits(len(y))[repetition % N_SPLITS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = (
            make(epsilon, len(train)).set_params(random_state=repetition).fit(X[train], y[train])
        )
    ran = {"data": name, "method": f"{method}@{lam:g}", "epsilon": epsilon}
    return ran | evaluate(model, X, y, train, test)


def reference(name, data):
    X, y = data
    rows = []
    for method, make in baselines().items():
        for train, test in splits(len(y)):
            model = make(None, None).fit(X[train], y[train])
            rows.append(
                {"data": name, "method": method, "epsilon": 0} | evaluate(model, X, y, train, test)
            )
    return rows


def plot(lines, name):
    if is_missing("matplotlib"):
        return
    import matplotlib.pyplot as plt

    methods = sorted({line["method"] for line in lines if "/" in line["method"]})
    groups = sorted({_group(method) for method in methods})
    figure, axes = plt.subplots(2, (len(groups) + 1) // 2, figsize=(18, 11), squeeze=False)
    for axis, group in zip(axes.flat, groups):
        styles = itertools.cycle(("o-", "s--", "^:"))
        for method in (m for m in methods if _group(m) == group):
            points = [(x["epsilon"], x["accuracy"]) for x in lines if x["method"] == method]
            label = method.rsplit("/", 1)[1].split("@")[0]
            axis.plot(*zip(*sorted(points)), next(styles), markersize=4, label=label)
        for line in lines:
            if line["method"] in ("nonprivate", "majority"):
                axis.axhline(line["accuracy"], color="grey", linestyle=":")
        axis.set(xscale="log", xlabel="epsilon", title=f"{name}: {group}", ylabel="test accuracy")
        axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(RESULTS / f"gradient_solvers_{name}.png", dpi=80)


def _group(method):
    """Penalty, loss and lambda of a method's name."""
    kind, _, rest = method.rpartition("/")
    return f"{kind}, lambda {rest.split('@')[1]}"


def known(name):
    """Rows of an earlier run, by what they measure."""
    target = RESULTS / f"{name}.csv"
    if not target.exists():
        return {}
    with target.open(newline="") as file:
        rows = [
            {k: v if k in ("data", "method") else float(v) for k, v in row.items()}
            for row in csv.DictReader(file)
        ]
    return {_key(row): row | {"runs": int(row["runs"])} for row in rows}


def _key(line):
    return line["data"], line["method"], float(line["epsilon"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="*", default=DATA)
    parser.add_argument("--solvers", nargs="*", default=())
    parser.add_argument("--losses", nargs="*", default=LOSSES)
    parser.add_argument("--lambdas", nargs="*", type=float, default=LAMBDAS)
    parser.add_argument("--epsilons", nargs="*", type=float, default=EPSILONS)
    parser.add_argument("--repetitions", type=int, default=few(10, 1))
    parser.add_argument("--jobs", type=int, default=few(2, 1))
    parser.add_argument("--output", default="gradient_solvers")
    options = parser.parse_args()
    lines = known(options.output)
    for name in options.data:
        data = load(name)
        tasks = [
            delayed(one)(name, lam, method, make, epsilon, repetition, data)
            for lam in options.lambdas
            for method, make in makers(lam, options.solvers, options.losses).items()
            for epsilon in options.epsilons
            for repetition in range(options.repetitions)
        ]
        rows = Parallel(n_jobs=options.jobs, prefer="threads" if options.jobs == 1 else None)(tasks)
        summary = summarise(reference(name, data) + rows)
        lines |= {_key(line): line for line in summary}
        write_csv(options.output, [lines[key] for key in sorted(lines)])
        plot([line for key, line in lines.items() if key[0] == name], name)
        for line in summary:
            print(
                line["data"],
                line["method"],
                line["epsilon"],
                line["accuracy"],
                line["auc"],
                flush=True,
            )


if __name__ == "__main__":
    main()
