"""Many classes within one promise: multinomial in one release, one fit a class against the rest, and diffprivlib's.

    python benchmarks/many_classes.py [--data digits census] [--seeds 8] [--diffprivlib /path/to/its/python]

`digits` are scikit-learn's 1,797 pictures of 64 numbers from 0 to 16, divided by 128, so that rows have norm at most 1.
`census` are 20,000 generated persons, whose ten classes are drawn from a multinomial model of their encoded rows with
random coefficients. 80 % of the rows to fit and 20 % to score, a new split and new noise for each seed; epsilon 1 for
all classes together, delta 1e-6, replace-one neighbours, no penalty. diffprivlib's LogisticRegression divides its
epsilon by the classes itself, and runs in an environment of its own. Writes ``results/many_classes.csv``.
"""

import argparse
import math
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from _quick import few

CLASSES, EPSILON, DELTA = 10, 1.0, 1e-6
THEIRS = "diffprivlib, delta = 0"


def load(name):
    """Rows of norm at most 1, and codes of ten classes."""
    if name == "digits":
        from sklearn.datasets import load_digits

        X, y = load_digits(return_X_y=True)
        return X / 128.0, y
    from skdp.datasets import make_census

    X, _ = make_census(few(20_000, 600), return_X_y=True)
    rng = np.random.default_rng(0)
    scores = (X - X.mean(axis=0)) @ rng.normal(size=(X.shape[1], CLASSES))
    return X, (3.0 * scores / scores.std() + rng.gumbel(size=scores.shape)).argmax(axis=1)


def methods():
    """Method name to ``make(seed) -> unfitted classifier``."""
    from sklearn.dummy import DummyClassifier
    from sklearn.linear_model import LogisticRegression

    from skdp import DPLogisticRegression

    def private(**own):
        given = {"data_norm": 1.0, "classes": list(range(CLASSES)), "penalty": None, **own}
        return lambda seed: DPLogisticRegression(
            epsilon=EPSILON, delta=DELTA, random_state=seed, **given
        )

    return {
        "nonprivate": lambda seed: LogisticRegression(C=1e3, max_iter=2000),
        "most frequent": lambda seed: DummyClassifier(),
        "multinomial": private(),
        "multinomial, gd": private(solver="gd"),
        "one against the rest": private(multi_class="ovr"),
        "one against the rest, gd": private(multi_class="ovr", solver="gd"),
    }


def theirs():
    """The same in an environment that has diffprivlib."""
    from diffprivlib.models import LogisticRegression

    return {
        THEIRS: lambda seed: LogisticRegression(epsilon=EPSILON, data_norm=1.0, random_state=seed)
    }


def accuracies(X, y, seeds, made):
    """Method and test accuracy, for each method and seed."""
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(len(y))
        train, test = np.split(order, [int(0.8 * len(y))])
        for method, make in made.items():
            model = make(seed).fit(X[train], y[train])
            yield method, float((model.predict(X[test]) == y[test]).mean())


def elsewhere(X, y, seeds, python):
    """diffprivlib's accuracies, by the Python of its environment."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npz"
        np.savez(path, X=X, y=y, seeds=seeds)
        command = [python, __file__, "--table", path]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for line in said.splitlines():
        yield THEIRS, float(line)


def summary(name, given):
    """One line a method: mean accuracy over seeds, and its standard error."""
    X, y = load(name)
    found = {}
    lines = list(accuracies(X, y, given.seeds, methods()))
    if given.diffprivlib:
        lines += elsewhere(X, y, given.seeds, given.diffprivlib)
    for method, accuracy in lines:
        found.setdefault(method, []).append(accuracy)
    for method, values in found.items():
        error = np.std(values, ddof=1) / math.sqrt(len(values))
        ran = {"data": name, "method": method, "runs": len(values)}
        yield ran | {"accuracy": round(float(np.mean(values)), 4), "error": round(float(error), 4)}


def main():
    """Run the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = ["digits", "census"]
    parser.add_argument("--data", nargs="+", default=few(names, names[1:]), choices=names)
    parser.add_argument("--seeds", type=int, default=few(8, 1))
    parser.add_argument("--diffprivlib", help="the Python of an environment with diffprivlib")
    parser.add_argument("--table", help="for that environment: what to fit")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.table:
        table = np.load(given.table)
        for _, accuracy in accuracies(table["X"], table["y"], int(table["seeds"]), theirs()):
            print(accuracy)
        return
    from _protocol import write_csv

    rows = [line for name in given.data for line in summary(name, given)]
    write_csv("many_classes", rows)
    for row in rows:
        print(*row.values())


if __name__ == "__main__":
    sys.exit(main())
