"""Generated families of tables, and how much better than a constant a fit predicts that was told nothing but bounds."""

import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np
from sklearn.metrics import roc_auc_score

from skdp import NotSupported, PrivacyWarning
from skdp.utils import all_estimators

EPSILONS = (0.5, 2.0, 8.0)
TRAIN, TEST, COLUMNS = 8000, 4000, 6
LEAST = 0.03
OWN = (
    "gd",
    "objective-perturbation",
    "sgd",
    "two-phase",
    "white-gd",
    "white-objective",
)
PUBLIC = {"delta": 1e-6, "random_state": 0}


@dataclass(frozen=True)
class Family:
    """A table, and what may be declared of it.

    Parameters
    ----------
    X, y : ndarray
        Records, of which the last 4,000 are held out.
    declared : dict
        Parameters of an estimator: bounds and classes, and nothing else.
    """

    X: np.ndarray
    y: np.ndarray
    declared: dict


def _columns(rng):
    """Columns of length at most 1 together."""
    return rng.uniform(-1.0, 1.0, (TRAIN + TEST, COLUMNS)) / np.sqrt(COLUMNS)


def _bent(rng):
    X = _columns(rng)
    z = X * np.sqrt(COLUMNS)
    return X, np.tanh(3.0 * z[:, 0]) + np.maximum(z[:, 1], 0.0) * 2.0 - z[:, 2] ** 2 - z[:, 3]


def _products(rng):
    X = _columns(rng)
    z = X * np.sqrt(COLUMNS)
    return X, z[:, 0] - z[:, 1] + z[:, 2] * z[:, 3] + 0.5 * z[:, 4]


def _heavy(rng):
    """Columns without a mean, in units far apart, of which the logarithm tells."""
    X = rng.standard_cauchy((TRAIN + TEST, COLUMNS)) * 10.0 ** np.arange(COLUMNS)
    told = np.sign(X) * np.log1p(np.abs(X))
    return X, (told / told.std(axis=0)) @ [1.0, -1.0, 1.0, 0.5, 0.0, 0.0]


def _labels(rng, score, share):
    """The largest of scores beside noise, as many as are wanted."""
    found = score / score.std() + 0.5 * rng.logistic(size=len(score))
    return (found > np.quantile(found, 1.0 - share)).astype(int)


def _clusters(rng):
    middles = rng.normal(size=(8, COLUMNS))
    y = rng.integers(0, 8, TRAIN + TEST)
    X = middles[y] + 0.5 * rng.normal(size=(len(y), COLUMNS))
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True) / 4.0, 1.0) / 4.0, y


@cache
def classes(name):
    """A table whose targets are classes."""
    rng = np.random.default_rng(0)
    if name == "many classes":
        X, y = _clusters(rng)
        return Family(X, y, {"data_norm": 1.0, "classes": list(range(8))})
    X, score = {"bent": _bent, "products": _products, "heavy tails": _heavy, "rare": _bent}[name](
        rng
    )
    declared = {} if name == "heavy tails" else {"data_norm": 1.0}
    y = _labels(rng, score, 0.04 if name == "rare" else 0.4)
    return Family(X, y, declared | {"classes": [0, 1]})


@cache
def numbers(name):
    """A table whose targets are numbers: of skewed noise near an end of their range, or in a small part of it.

    Of heavy tails nothing is declared.
    """
    rng = np.random.default_rng(1)
    X, score = {"bent": _bent, "products": _products, "heavy tails": _heavy, "skewed": _bent}[name](
        rng
    )
    score = score / score.std()
    if name == "skewed":
        y = np.exp(0.5 * score) + rng.exponential(0.5, len(score))
        return Family(X, np.clip(y, 0.0, 20.0), {"data_norm": 1.0, "y_bounds": (0.0, 20.0)})
    y = np.clip(400.0 + 60.0 * (score + 0.5 * rng.normal(size=len(score))), 0.0, 1000.0)
    declared = {"data_norm": 1.0, "y_bounds": (0.0, 1000.0)}
    return Family(X, y, {} if name == "heavy tails" else declared)


CLASSES = ("bent", "products", "heavy tails", "rare", "many classes")
NUMBERS = ("bent", "products", "heavy tails", "skewed")


def cases():
    """Every public estimator that predicts, with the families that it is tried on."""
    kinds = {"classifier": CLASSES, "regressor": NUMBERS}
    return [
        (Estimator, where)
        for kind, families in kinds.items()
        for _, Estimator in all_estimators(kind)
        # Neither modules of PyTorch nor declarations of raw tables have a default.
        if not {"module", "declaration"} & set(Estimator().get_params())
        for where in families
    ]


def family_of(Estimator, where):
    """The table by that name, of the targets that the estimator predicts."""
    return (classes if hasattr(Estimator(), "classes") else numbers)(where)


def gain(Estimator, where, **given):
    """Share of a constant's loss that a fit saves: 1 for the truth, 0 for the constant.

    Of two classes a constant ranks half of the pairs wrongly, of several it is the most frequent; of numbers it is the
    mean, or the median for estimators of one.

    Parameters
    ----------
    Estimator : type
        Made with what is declared of the table, and with what is `given`.
    where : str
        Name of the family.
    """
    table = family_of(Estimator, where)
    X, y = table.X[:TRAIN], table.y[:TRAIN]
    X_test, y_test = table.X[TRAIN:], table.y[TRAIN:]
    model = Estimator(**PUBLIC, **table.declared, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        model.fit(X, y)
    if "classes" in table.declared:
        if len(table.declared["classes"]) == 2:
            return 2.0 * roc_auc_score(y_test, model.decision_function(X_test)) - 1.0
        most = np.bincount(y).argmax()
        return 1.0 - np.mean(model.predict(X_test) != y_test) / np.mean(y_test != most)
    left = y_test - model.predict(X_test)
    if {"quantile", "margin"} & set(model.get_params()):
        return 1.0 - np.abs(left).mean() / np.abs(y_test - np.median(y)).mean()
    return 1.0 - np.mean(left**2) / np.mean((y_test - y.mean()) ** 2)


def by_solver(Estimator, where, **given):
    """What each solver gains that the estimator takes, of those that "auto" may stand for and of batches."""
    found = {}
    for name in OWN:
        try:
            found[name] = gain(Estimator, where, solver=name, **given)
        except NotSupported:
            continue
    return found


def check_beats_the_constant(gains):
    """Each gain is well above 0, at every epsilon.

    Parameters
    ----------
    gains : dict
        Epsilon -> gain of the default.
    """
    assert min(gains.values()) > LEAST, f"no better than a constant: {gains}"


def check_near_the_best(default, others, share):
    """The default's gain is so much of that of the best of its own solvers."""
    best = max(others, key=others.get)
    assert default >= share * others[best], f"far below {best}: {default:.3f}, {others[best]:.3f}"
