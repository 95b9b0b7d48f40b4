"""Tables of the figures, and a place for those that have no public download.

IPUMS-US, MQ2007, Fashion-MNIST, CIFAR-10 and CreditCard are read from the folder of the data where somebody put the
file; without it figures leave them out, and say so. ``--quick`` has stand-ins of their shape for all.
"""

import os
from functools import lru_cache
from pathlib import Path

import numpy as np
from _protocol import load as load_known
from _protocol import minmax_unit_rows
from _quick import few

from skdp import datasets

__all__ = ["FILES", "folds", "images", "is_here", "table", "train_and_test"]

# Where a file is to be put, below the folder of the data.
FILES = {
    "ipums_us": "ipums_us/ipums_us_dpagd.npz",  # X and y, as ipums_br has them
    "mq2007": "mq2007/S1.txt.gz",  # to S5.txt.gz, LETOR 4.0
    "fmnist": "fmnist/fmnist.npz",  # X_train, y_train, X_test, y_test, as mnist has them
    "cifar10": "cifar10/cifar10.npz",  # the same with 3 x 32 x 32 numbers an image
    "creditcard": "creditcard/creditcard.npz",  # X and y of UCI's "default of credit card clients"
}
SPLITS = 5


def folder():
    """Return the folder of the data."""
    return Path(os.environ.get("SKDP_DATA", "data"))


def is_here(name):
    """Tell whether a table can be read: all that need no file of somebody's own can."""
    return name not in FILES or (folder() / FILES[name]).exists()


@lru_cache(maxsize=1)
def table(name):
    """Return rows of norm at most 1, and labels 0 and 1."""
    if name in FILES:
        with np.load(folder() / FILES[name]) as held:
            return minmax_unit_rows(held["X"]), held["y"].astype(int)
    if name == "kddcup99":
        known = datasets.load_kddcup99()
        return known.encode(), np.asarray(known.target)
    return load_known(name)


@lru_cache(maxsize=1)
def train_and_test(name, repetition):
    """Return rows and labels of one of five splits, 80 % to train."""
    X, y = table(name)
    order = np.random.default_rng(repetition % SPLITS).permutation(len(y))
    cut = int(0.8 * len(y))
    return X[order[:cut]], y[order[:cut]], X[order[cut:]], y[order[cut:]]


@lru_cache(maxsize=2)
def folds(name):
    """Return (training, test) of five folds of lists: four parts to train, as in the source, and one to test."""
    from sklearn.datasets import load_svmlight_file

    parts = []
    for number in range(1, 6):
        path = folder() / name / f"S{number}.txt.gz"
        X, y, qid = load_svmlight_file(str(path), n_features=46, query_id=True)
        order = np.argsort(qid, kind="stable")
        parts.append((X.toarray()[order], y[order].astype(int), qid[order]))
    found = []
    for held_out in range(few(5, 1)):
        rest = [part for number, part in enumerate(parts) if number != held_out]
        found.append(([np.concatenate(column) for column in zip(*rest)], parts[held_out]))
    return found


@lru_cache(maxsize=1)
def images(name):
    """Return train and test images as rows of numbers from 0 to 1, and labels."""
    if name == "mnist":
        data = datasets.load_mnist()
        train = data.split == "train"
        parts = data.X[train], data.target[train], data.X[~train], data.target[~train]
    else:
        with np.load(folder() / FILES[name]) as held:
            parts = tuple(held[part] for part in ("X_train", "y_train", "X_test", "y_test"))
    X, y, X_test, y_test = parts
    flat = [(x.reshape(len(x), -1) / np.float32(255)).astype(np.float32) for x in (X, X_test)]
    return flat[0], y.astype(int), flat[1], y_test.astype(int)
