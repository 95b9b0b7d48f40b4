"""Networks on MNIST: accuracy by epsilon, beside Opacus and beside line searches, and what a step costs.

    SKDP_DATA=/path/to/data python benchmarks/networks.py all --opacus /path/to/its/python
    SKDP_DATA=/path/to/data python benchmarks/networks.py accuracy --hidden 1000 --epsilons 2
    SKDP_DATA=/path/to/data python benchmarks/networks.py search
    SKDP_DATA=/path/to/data python benchmarks/networks.py opacus --opacus /path/to/its/python
    SKDP_DATA=/path/to/data python benchmarks/networks.py steps --opacus /path/to/its/python

60,000 train images, 10,000 test images, pixels over 255, `data_norm` 10 (the published mean and deviation of a pixel,
0.1307 and 0.3081, make a mean square of 9.4^2), delta 1e-5, add/remove with `n_public` 60,000, and every default of
the library. "components" is `make_pipeline(DPPCA, DPMLPClassifier)`: epsilon in the table is that of
both together, by `skdp.total`, at most the one that was asked for; of components that were "bought" before, that of the
network alone. Opacus is asked for the same network with the same start, rate, number of steps, clip, step and epsilon,
on the same rows: 200 batches, of a 200th of the pixels and of a 20th of the components. Times are of one thread. Rows
are added to results/networks.csv.
"""

import argparse
import csv
import os
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
from _quick import RESULTS, few

import skdp
from skdp.datasets import load_mnist
from skdp.losses import Multinomial
from skdp.mechanisms import Gradient, Noise, Public, Records
from skdp.models import Perceptron
from skdp.neural_network import DPMLPClassifier
from skdp.preprocessing import DPPCA
from skdp.solvers import SGD

TABLE = RESULTS / "networks.csv"
COLUMNS = ("what", "rows", "solver", "hidden", "rate", "steps", "epsilon", "figure", "seconds")
DATA_NORM, DELTA, N = 10.0, 1e-5, few(60_000, 600)
GIVEN = {"delta": DELTA, "neighbors": "add_remove", "n_public": N}
SHARE, REST = (
    0.225,
    0.95,
)  # of epsilon for the components and for the network: together they are less than it
STEPS = few(
    (4.0, 16.0, 64.0, 256.0, 1024.0), (4.0,)
)  # of the fixed ones that a line search is held against
OPACUS = Path(__file__).with_name("_opacus_network.py")


def images():
    """Train and test: pixels between 0 and 1, in single precision, and digits."""
    data = load_mnist()
    X, train = (data.X / np.float32(255)).astype(np.float32), data.split == "train"
    return X[train], data.target[train], X[~train], data.target[~train]


def write(**row):
    """Add a row, and show it."""
    fresh = not TABLE.exists()
    with TABLE.open("a", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        if fresh:
            table.writeheader()
        table.writerow(row)
    print(", ".join(f"{name} {value}" for name, value in row.items()), flush=True)


def network(epsilon, hidden, seed=0, data_norm=DATA_NORM, **given):
    """A network for digits."""
    return DPMLPClassifier(
        epsilon=epsilon, classes=range(10), hidden_layer_sizes=hidden, data_norm=data_norm, random_state=seed,
        **GIVEN, **given,
    )  # fmt: skip


def model_of(rows, epsilon, hidden, seed=0, **given):
    """A network of pixels, of components, or of those that it buys itself."""
    if rows != "components":
        return network(epsilon, hidden, seed, DATA_NORM if rows == "pixels" else 1.0, **given)
    components = DPPCA(epsilon=SHARE * epsilon, data_norm=DATA_NORM, random_state=seed, **GIVEN)
    return skdp.make_pipeline(components, network(REST * epsilon, hidden, seed, None, **given))


def told(model):
    """Rate, number of steps and the rest, as a receipt has them."""
    receipt = model.privacy_ if hasattr(model, "privacy_") else model[-1].privacy_
    parts = (
        part.split("=") for part in receipt.solver[:-1].split("(")[1].split(", ") if "=" in part
    )
    return dict(parts)


def fit(what, rows, name, epsilon, hidden, digits, seed=0, **given):
    """One fit: its row, and the model."""
    X, y, X_test, y_test = digits
    model = model_of(rows, epsilon, hidden, seed, **given)
    start = time.process_time()
    model.fit(X, y)
    seconds = round(time.process_time() - start, 1)
    paid, parts = skdp.total(model).epsilon if rows == "components" else epsilon, told(model)
    assert paid <= epsilon * (1.0 + 1e-9), paid
    accuracy, count = model.score(X_test, y_test), parts.get("steps", parts.get("splits"))
    write(what=what, rows=rows, solver=name, hidden=hidden, rate=round(float(parts["rate"]), 4), steps=count,
          epsilon=round(paid, 3), figure=round(accuracy, 4), seconds=seconds)  # fmt: skip
    return model, accuracy


def accuracy(hidden, epsilons, solvers, seeds=1):
    """Test accuracy of a fit for each solver, kind of rows and epsilon."""
    digits = images()
    for epsilon in epsilons:
        for name in solvers:
            for rows in ("components", "pixels"):
                for seed in range(seeds if rows == "components" and name == "auto" else 1):
                    fit("test accuracy", rows, name, epsilon, hidden, digits, seed, solver=name)


def search(hidden, epsilon=2.0):
    """Line searches beside five fixed steps, of components that are bought once: each for all of epsilon, and a fifth.

    A fifth in mu squared: whoever tries five steps to take the best pays for all.
    """
    X, y, X_test, y_test = images()
    bought = DPPCA(epsilon=SHARE * epsilon, data_norm=DATA_NORM, random_state=0, **GIVEN).fit(X)
    digits = bought.transform(X), y, bought.transform(X_test), y_test
    for name in ("blsgd", "blsgd-ac"):
        fit("line search", "bought", name, REST * epsilon, hidden, digits, solver=name)
    for share in (1.0, 5.0**-0.5):
        for step in STEPS:
            fit("fixed step", "bought", f"sgd of step {step:g}", share * REST * epsilon, hidden, digits, solver="sgd",
                learning_rate_init=step)  # fmt: skip


def beside_opacus(hidden, opacus, kinds, epsilon=2.0):
    """The same network by Opacus: of the rows, start, batches, clip and step of ours, and at its epsilon."""
    digits = images()
    for rows in kinds:
        rate, step = (1 / 200, 16.0) if rows == "pixels" else (1 / 20, 64.0)
        solver = SGD(rate=rate, steps=200, step_size=step, clip=1.0)
        model, ours = fit("beside Opacus", rows, "sgd", epsilon, hidden, digits, solver=solver)
        theirs, noise, seconds = by_opacus(model, solver, digits, opacus)
        last = model if rows == "pixels" else model[-1]
        write(what="beside Opacus", rows=rows, solver="Opacus", hidden=hidden, rate=rate, steps=200,
              epsilon=round(last.epsilon, 3), figure=round(theirs, 4), seconds=round(seconds, 1))  # fmt: skip
        print(f"difference {ours - theirs:.4f}, noise {noise:.4f} of Opacus")


def by_opacus(model, solver, digits, opacus):
    """Test accuracy, noise and processor seconds of Opacus on what the network of a model was fitted on."""
    X, y, X_test, y_test = digits
    last = model if hasattr(model, "coefs_") else model[-1]
    tables = [X, X_test] if last is model else [model[0].transform(rows) for rows in (X, X_test)]
    norm = DATA_NORM if last is model else 1.0
    rows, test = (bounded(table, norm) for table in tables)
    public = Public(N, rows.shape[1] - 1, 0.25, "add_remove", 9.0, model=last._made_of.model(last))
    net = public.model
    first, final = net.matrices(net.start(public, 10), rows.shape[1], True)
    share = net.shares()[0]
    settings = [
        solver.rate,
        solver.steps,
        solver.step_size,
        solver.clip,
        share,
        0.25,
        last.epsilon,
        DELTA,
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.npz"
        np.savez(path, rows=rows, y=y.astype(np.int64), settings=np.array(settings, dtype=np.float64),
                 first=first.astype(np.float32), last=final.astype(np.float32))  # fmt: skip
        noise, seconds = map(float, asked_of(opacus, "fit", path))
        found = np.load(path)
        said = np.maximum(test @ found["first"], 0.0) * share
        scores = said @ found["last"][:-1] + 0.25 * found["last"][-1]
    return float((scores.argmax(axis=1) == y_test).mean()), noise, seconds


def bounded(X, norm):
    """Rows as a vault has them, with their constant column, in single precision."""
    beyond = np.maximum(np.linalg.norm(X, axis=1) / norm, 1.0)[:, None]
    return np.hstack([X / norm / beyond, 0.25 / beyond]).astype(np.float32)


def asked_of(opacus, *arguments):
    """What the script for Opacus prints last."""
    given = [str(argument) for argument in arguments]
    answer = subprocess.run([opacus, OPACUS, *given], check=True, capture_output=True, text=True)
    return answer.stdout.split()


def plain_step(X, codes, matrices):
    """What a step costs without privacy: two products with each matrix, and the gradient of the mean."""
    (W, V), n = matrices, len(X)
    hidden = np.maximum(X @ W, 0.0)
    scores = hidden @ V
    slopes = np.exp(scores - scores.max(axis=1, keepdims=True))
    slopes /= slopes.sum(axis=1, keepdims=True)
    slopes[np.arange(n), codes] -= 1.0
    back = (slopes @ V.T) * (hidden > 0.0)
    W -= 0.1 / n * (X.T @ back)
    V -= 0.1 / n * (hidden.T @ slopes)


def step_of(question, records, noise):
    """One step along an answer."""
    return lambda: question.at - 0.1 * question.answer(records, noise)


def seconds_of(steps, times=15):
    """Median processor time of each, taken in turns."""
    taken = {name: [] for name in steps}
    for _ in range(times + 1):
        for name, step in steps.items():
            start = time.process_time()
            step()
            taken[name].append(time.process_time() - start)
    return {name: float(np.median(each[1:])) for name, each in taken.items()}


def steps(hidden, opacus):
    """A step of ours, without and with noise, beside one of plain products in the same precision."""
    X, y, *_ = images()
    rng = np.random.default_rng(0)
    for rate in (1 / 200, 1 / 20):
        batch = rng.permutation(N)[: round(rate * N)]
        rows, codes = X[batch].astype(np.float64) / DATA_NORM, y[batch]
        matrices = [rng.normal(size=shape) for shape in ((784, hidden), (hidden, 10))]
        public = Public(N, 784, 0.25, "add_remove", 9.0, model=Perceptron((hidden,)))
        records = Records.admit(X[batch], y[batch].astype(float), public, DATA_NORM)
        at, noise = public.model.start(public, 10), Noise()
        asked = [Gradient(at=at, loss=Multinomial(10), clip=1.0, multiplier=m) for m in (0.0, 1.0)]
        taken = seconds_of({
            "plain": lambda rows=rows, m=matrices, codes=codes: plain_step(rows, codes, m),
            "ours without noise": step_of(asked[0], records, noise),
            "ours": step_of(asked[1], records, noise),
        })  # fmt: skip
        if (
            opacus and rate < 0.01
        ):  # it keeps a gradient for each record: 9.5 gigabytes on the larger batch
            taken["Opacus, single precision"] = float(
                asked_of(opacus, "step", hidden, len(batch))[-1]
            )
        for name, each in taken.items():
            write(what="step over a plain one", rows="pixels", solver=name, hidden=hidden, rate=round(rate, 4),
                  steps="", epsilon="", figure=round(each / taken["plain"], 2), seconds=round(each, 4))  # fmt: skip


def everything(opacus):
    """All rows of results/networks.csv, with the widths that they have there."""
    wide, middle, narrow = few((1000, 300, 100), (4, 4, 4))
    steps(wide, opacus)
    accuracy(wide, [2.0], ["auto"], seeds=few(3, 1))
    accuracy(middle, few([0.5, 1.0, 8.0], [8.0]), ["auto"])
    search(narrow)
    if opacus:
        beside_opacus(middle, opacus, ["components", "pixels"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    whats = ["all", "accuracy", "search", "opacus", "steps"]
    parser.add_argument("what", choices=whats, **few({}, {"nargs": "?", "default": "all"}))
    parser.add_argument("--hidden", type=int, default=1000)
    parser.add_argument("--epsilons", type=float, nargs="+", default=[2.0])
    parser.add_argument("--solvers", nargs="+", default=["auto"])
    parser.add_argument("--seeds", type=int, default=1, help="fits of components by default")
    parser.add_argument("--rows", nargs="+", default=["components", "pixels"], help="beside Opacus")
    parser.add_argument("--opacus", help="the Python of an environment with torch and opacus")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.what == "all":
        everything(asked.opacus)
    elif asked.what == "steps":
        steps(asked.hidden, asked.opacus)
    elif asked.what == "search":
        search(asked.hidden)
    elif asked.what == "opacus":
        beside_opacus(asked.hidden, asked.opacus, asked.rows)
    else:
        accuracy(asked.hidden, asked.epsilons, asked.solvers, asked.seeds)
