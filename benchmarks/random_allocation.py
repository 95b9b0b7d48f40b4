"""One pass over the data by random allocation, by Poisson batches, and by shuffled disjoint batches.

    python benchmarks/random_allocation.py

Logistic regression by `sgd` on the protocol's three tables, batches of 100, one pass, add/remove, delta 1e-8. The three
differ in the price of a pass alone, but for a shuffled one, whose batches are those of random allocation at the noise
that a shuffled epoch asks for. Writes results/random_allocation.csv and prints the table of docs/choose_a_solver.md.
"""

import argparse
import statistics
import warnings

from _protocol import DELTA, evaluate, load, splits, write_csv
from _quick import few

from skdp import DPLogisticRegression
from skdp.privacy import Spec, calibrate, epsilon
from skdp.privacy.events import RandomAllocation, ShuffledEpoch
from skdp.solvers import SGD

TABLES = few(("adult", "bank", "ipums_br"), ("bank",))
EPSILONS = few((0.1, 0.4, 1.6), (1.6,))
BATCH = 100


def shuffled_at(target, batches):
    """The epsilon at which random allocation has the noise that a shuffled epoch of this epsilon needs."""
    scale, _ = calibrate(lambda s: ((ShuffledEpoch(s), 1),), Spec(target, DELTA, "add_remove"))
    return epsilon(((RandomAllocation(scale, batches), 1),), DELTA, "add_remove")


def model(sampling, target, n, seed):
    """One pass of SGD, not fitted."""
    batches = round(n / BATCH)
    if sampling == "shuffled":
        sampling, target = "allocation", shuffled_at(target, batches)
    solver = SGD(batch_size=BATCH, steps=batches, sampling=sampling)
    return DPLogisticRegression(
        epsilon=target,
        delta=DELTA,
        neighbors="add_remove",
        data_norm=1.0,
        classes=[0, 1],
        n_public=n,
        solver=solver,
        random_state=seed,
    )


def main(seeds):
    rows = []
    for name in TABLES:
        X, y = load(name)
        y = (y == y.max()).astype(int)
        for split, (train, test) in enumerate(splits(len(y))[:2]):
            for target in EPSILONS:
                for sampling in ("allocation", "poisson", "shuffled"):
                    for seed in range(seeds):
                        fitted = model(sampling, target, len(train), 100 * split + seed)
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore")
                            fitted.fit(X[train], y[train])
                        ran = {"data": name, "method": sampling, "epsilon": target}
                        noise = fitted.privacy_.script[0][0].multiplier
                        found = evaluate(fitted, X, y, train, test)
                        rows.append(
                            ran | {"split": split, "seed": seed, "multiplier": noise} | found
                        )
    write_csv("random_allocation", rows)
    show(rows)


def show(rows):
    print("| table | epsilon | sampling | noise multiplier | accuracy | AUC |")
    print("| --- | --- | --- | --- | --- | --- |")
    kinds = dict.fromkeys((r["data"], r["epsilon"], r["method"]) for r in rows)
    for kind in kinds:
        mine = [r for r in rows if (r["data"], r["epsilon"], r["method"]) == kind]
        mean = {k: statistics.mean(r[k] for r in mine) for k in ("multiplier", "accuracy", "auc")}
        told = f"{mean['multiplier']:.3f} | {100 * mean['accuracy']:.2f} | {mean['auc']:.4f}"
        print(f"| {kind[0]} | {kind[1]:g} | {kind[2]} | {told} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=few(5, 1))
    main(parser.parse_args().seeds)
