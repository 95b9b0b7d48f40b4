"""What the default fit costs beside scikit-learn's: `auto` over lbfgs, warm, in one process, on four kinds of tables.

    git worktree add ../before 76d7cb3
    python benchmarks/default_fit.py --before ../before

lbfgs takes 5 rounds on one kind and 30 on another, and `auto` asks the same whatever the rows are: a ratio says as
much of the table as of the library. Beside it stands how much quicker `auto` is than in another tree. The least of
repeated processor times, one thread. Writes results/default_fit.csv.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
from pathlib import Path

from _quick import RESULTS, few

HERE = Path(__file__).resolve().parents[1]
OUT = RESULTS / "default_fit.csv"
THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
SHAPES = few(((1_000, 10), (40_000, 100), (20_000, 500)), ((1_000, 10),))
KINDS = ("normal", "uniform", "decaying", "indicators")


def table(kind, n, d):
    """Rows of norm about 1, and labels that they tell something of."""
    import numpy as np

    rng = np.random.default_rng(0)
    w = rng.standard_normal(d)
    if kind == "normal":
        X = rng.standard_normal((n, d)) / np.sqrt(d)
        w = w / np.sqrt(d)
    elif kind == "uniform":
        X = rng.uniform(-1, 1, (n, d)) / np.sqrt(d)
        w = 100.0 * w  # hardly any doubt
    elif kind == "decaying":
        X = rng.standard_normal((n, d)) * np.geomspace(1.0, 0.05, d)
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        w = 3.0 * w
    else:
        X = (rng.random((n, d)) < rng.uniform(0.02, 0.5, d)).astype(float)
        X /= np.sqrt(X.sum(axis=1).max())
        w = 3.0 * w
    return X, (X @ w + rng.logistic(size=n) > 0).astype(int)


def fastest(fit, rows, repeats):
    """Least processor time of several fits."""
    import time

    times = []
    for _ in range(repeats):
        begun = time.process_time()
        fit(*rows)
        times.append(time.process_time() - begun)
    return min(times)


def serve():
    """One question a line: seconds of both fits."""
    import warnings

    from sklearn.linear_model import LogisticRegression

    from skdp import DPLogisticRegression

    warnings.simplefilter("ignore")
    for line in sys.stdin:
        kind, (n, d), epsilon, repeats = json.loads(line)
        rows = table(kind, n, d)
        theirs = LogisticRegression(max_iter=1000)
        ours = DPLogisticRegression(epsilon=epsilon, delta=1e-6, data_norm=1.0, classes=[0, 1])
        ours.fit(*rows)
        seconds = [fastest(model.fit, rows, repeats) for model in (theirs, ours)]
        print(json.dumps((*seconds, int(theirs.n_iter_[0]))), flush=True)


def worker(tree):
    command = [sys.executable, str(Path(__file__).resolve()), "--serve"]
    env, pipe = {**os.environ, **THREADS, "PYTHONPATH": str(tree)}, subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=env, cwd=tree)


def asked(process, question):
    process.stdin.write(json.dumps(question) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--epsilons", type=float, nargs="+", default=[1.0])
    parser.add_argument("--serve", action="store_true")
    given = parser.parse_args()
    if given.serve:
        serve()
        return
    trees = {"now": HERE, **({"before": given.before.resolve()} if given.before else {})}
    workers = {name: worker(tree) for name, tree in trees.items()}
    rows = []
    for shape in SHAPES:
        repeats = few(20 if shape[0] * shape[1] < 1e6 else 5, 1)
        for kind in KINDS:
            for epsilon in given.epsilons:
                question = kind, shape, epsilon, repeats
                found = {name: asked(process, question) for name, process in workers.items()}
                lbfgs, auto, rounds = found["now"]
                before = found["before"][1] if "before" in found else float("nan")
                rows.append(
                    {
                        **{"n": shape[0], "d": shape[1], "table": kind, "epsilon": epsilon},
                        **{"lbfgs rounds": rounds, "lbfgs ms": f"{1e3 * lbfgs:.2f}"},
                        **{"auto / lbfgs": f"{auto / lbfgs:.2f}"},
                        **{"auto before / now": f"{before / auto:.2f}"},
                    }
                )
                print(" ".join(f"{key}={value}" for key, value in rows[-1].items()), flush=True)
    OUT.parent.mkdir(exist_ok=True)
    with OUT.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    for process in workers.values():
        process.stdin.close()
        process.wait()


if __name__ == "__main__":
    main()
