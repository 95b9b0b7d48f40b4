"""Networks on MNIST: accuracy by epsilon, and what a step costs.

    SKDP_DATA=/path/to/data python benchmarks/networks.py accuracy --hidden 1000 --epsilons 2
    SKDP_DATA=/path/to/data python benchmarks/networks.py steps
    SKDP_DATA=/path/to/data python benchmarks/networks.py steps --opacus /path/to/its/python

60,000 train images, 10,000 test images, pixels over 255, `data_norm` 10 (the published mean and deviation of a pixel,
0.1307 and 0.3081, make a mean square of 9.4^2), delta 1e-5, add/remove with `n_public` 60,000, one seed, and every
default of the library: none was chosen on these images. Opacus is asked for the same network, rate, number of steps,
clip and epsilon, with the step that is told. Times are of one thread. Rows are added to results/networks.csv.
"""

import argparse
import csv
import os
import subprocess
import time
import warnings
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np

from skdp.datasets import load_mnist
from skdp.losses import Multinomial
from skdp.mechanisms import Gradient, Noise, Public, Records
from skdp.models import Perceptron
from skdp.neural_network import DPMLPClassifier
from skdp.solvers import BLSGD

RESULTS = Path(__file__).parent / "results" / "networks.csv"
COLUMNS = ("what", "solver", "hidden", "rate", "steps", "epsilon", "figure", "seconds")
DATA_NORM, DELTA, N = 10.0, 1e-5, 60_000
SOLVERS = {"auto": "auto", "adam": "adam", "blsgd": BLSGD(rate=0.05, splits=100, step_size=64.0)}


def images():
    """Train and test: pixels between 0 and 1, in single precision, and digits."""
    data = load_mnist()
    X, train = (data.X / np.float32(255)).astype(np.float32), data.split == "train"
    return X[train], data.target[train], X[~train], data.target[~train]


def write(**row):
    """Add a row, and show it."""
    fresh = not RESULTS.exists()
    with RESULTS.open("a", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        if fresh:
            table.writeheader()
        table.writerow(row)
    print(", ".join(f"{name} {value}" for name, value in row.items()), flush=True)


def accuracy(hidden, epsilons, solvers, **given):
    """Test accuracy of a fit for each solver and epsilon."""
    X, y, X_test, y_test = images()
    for epsilon in epsilons:
        for name in solvers:
            model = DPMLPClassifier(
                epsilon, DELTA, solver=SOLVERS.get(name, name), hidden_layer_sizes=hidden, data_norm=DATA_NORM,
                classes=range(10), neighbors="add_remove", n_public=N, random_state=0, **given,
            )  # fmt: skip
            start = time.process_time()
            model.fit(X, y)
            seconds = round(time.process_time() - start, 1)
            told = dict(
                part.split("=")
                for part in model.privacy_.solver[:-1].split("(")[1].split(", ")
                if "=" in part
            )
            steps = told.get("steps", told.get("splits"))
            figure = round(model.score(X_test, y_test), 4)
            write(what="test accuracy", solver=name, hidden=hidden, rate=told["rate"], steps=steps, epsilon=epsilon,
                  figure=figure, seconds=seconds)  # fmt: skip


def seconds_of(step, times=9):
    """Median processor time of a call."""
    step()
    taken = []
    for _ in range(times):
        start = time.process_time()
        step()
        taken.append(time.process_time() - start)
    return float(np.median(taken))


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


def steps(hidden, opacus):
    """A step of ours, without and with noise, beside one of plain products in the same precision."""
    X, y, *_ = images()
    rng = np.random.default_rng(0)
    for rate in (1 / 200, 1 / 20):
        batch = rng.permutation(N)[: round(rate * N)]
        rows = X[batch].astype(np.float64) / DATA_NORM
        matrices = [rng.normal(size=shape) for shape in ((784, hidden), (hidden, 10))]
        plain = seconds_of(lambda rows=rows, m=matrices, codes=y[batch]: plain_step(rows, codes, m))
        public = Public(N, 784, 0.25, "add_remove", 9.0, model=Perceptron((hidden,)))
        records = Records.admit(X[batch], y[batch].astype(float), public, DATA_NORM)
        at, noise = public.model.start(public, 10), Noise()
        asked = [Gradient(at=at, loss=Multinomial(10), clip=1.0, multiplier=m) for m in (0.0, 1.0)]
        clipped, noisy = (seconds_of(step_of(question, records, noise)) for question in asked)
        for name, taken in (("plain", plain), ("ours without noise", clipped), ("ours", noisy)):
            write(what="step over a plain one", solver=name, hidden=hidden, rate=round(rate, 4), steps="", epsilon="",
                  figure=round(taken / plain, 2), seconds=round(taken, 4))  # fmt: skip
        if opacus:
            told = subprocess.run(
                [opacus, Path(__file__).with_name("_opacus_network.py"), str(hidden), str(len(batch))],
                check=True, capture_output=True, text=True,
            )  # fmt: skip
            taken = float(told.stdout.split()[-1])
            write(what="step over a plain one", solver="opacus, single precision", hidden=hidden, rate=round(rate, 4),
                  steps="", epsilon="", figure=round(taken / plain, 2), seconds=round(taken, 4))  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["accuracy", "steps"])
    parser.add_argument("--hidden", type=int, default=1000)
    parser.add_argument("--epsilons", type=float, nargs="+", default=[0.5, 1.0, 2.0, 8.0])
    parser.add_argument("--solvers", nargs="+", default=list(SOLVERS))
    parser.add_argument("--batch-size", type=int)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--opacus", help="the Python of an environment with torch and opacus")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.what == "steps":
        steps(asked.hidden, asked.opacus)
    else:
        accuracy(
            asked.hidden,
            asked.epsilons,
            asked.solvers,
            batch_size=asked.batch_size,
            max_iter=asked.epochs,
        )
