"""The convolutional network of Chen (2020, section 5.6.7) on MNIST, as a module of PyTorch.

    SKDP_DATA=/path/to/data python benchmarks/torch_cnn.py

Two convolutions of 6 and 16 channels, each before a pool of 2, and dense layers of 256 and 128: 102,550 weights with
windows of 5, which the source leaves open. Pixels in [-1, 1], 60,000 train images, add/remove with `n_public` 60,000.

"source" has what the source says of DP-SGD: batches of a 200th, clip 3, step 0.2, L2 of 0.001 beside the mean, and
delta 1e-8. It prints neither an epsilon nor a number of steps: ours are given. "library" has all defaults of the
library for as many epochs, at the delta of networks.py. Rows are added to results/networks.csv; they need the extra
``skdp[torch]``.
"""

import argparse
import time
import warnings

import numpy as np
from _quick import few, is_missing
from networks import COLUMNS, N, images, write  # sets the number of BLAS threads

from skdp.solvers import SGD

EPOCHS = few(4, 1)
CORNERS = 28.0  # norm of an image whose pixels are all -1 or 1
GIVEN = {"neighbors": "add_remove", "n_public": N, "data_norm": CORNERS, "input_shape": (1, 28, 28)}


def network():
    """Of the source, with PyTorch's own weights of seed 0 to begin with."""
    import torch
    from torch import nn

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layers = [nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2)]
        layers += [nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()]
        for before, after in ((256, 256), (256, 128)):
            layers += [nn.Linear(before, after), nn.ReLU()]
        return nn.Sequential(*layers, nn.Linear(128, 10))


def settings(name, epochs):
    """Delta and what else a fit is given."""
    if name == "library":
        return 1e-5, {"max_iter": epochs}
    solver = SGD(rate=1 / 200, steps=200 * epochs, clip=3.0, step_size=0.2, averaging=False)
    return 1e-8, {"solver": solver, "alpha": 0.001 * N}


def fit(name, epsilon, epochs):
    """One fit, its test accuracy and its time."""
    from skdp.neural_network import DPTorchClassifier

    X, y, X_test, y_test = images()
    delta, given = settings(name, epochs)
    model = DPTorchClassifier(
        epsilon=epsilon,
        delta=delta,
        module=network(),
        classes=range(10),
        random_state=0,
        **GIVEN,
        **given,
    )
    start = time.process_time()
    model.fit(2.0 * X - 1.0, y)
    seconds = round(time.process_time() - start, 1)
    scored = round(float(np.mean(model.predict(2.0 * X_test - 1.0) == y_test)), 4)
    told = dict(part.split("=") for part in model.privacy_.solver[:-1].split("(", 1)[1].split(", "))
    row = (
        "convolutions",
        f"pixels, delta {delta:g}",
        name,
        model.n_weights_,
        round(float(told["rate"]), 4),
    )
    write(**dict(zip(COLUMNS, (*row, told["steps"], epsilon, scored, seconds))))


def main():
    """Fit what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", nargs="+", default=["library", "source"])
    parser.add_argument("--epsilons", type=float, nargs="+", default=[2.0])
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if is_missing("torch"):
        return
    for name in asked.names:
        for epsilon in asked.epsilons:
            fit(name, epsilon, asked.epochs)


if __name__ == "__main__":
    main()
