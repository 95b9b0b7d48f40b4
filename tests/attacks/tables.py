"""Tables that differ in one record, the layouts they may come in, and how far their sums move."""

import numpy as np
import pandas as pd

from skdp.losses import (
    ClippedLogistic,
    Hinge,
    Huber,
    HuberisedHinge,
    Logistic,
    Multinomial,
    QuantileHuber,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from skdp.mechanisms import Gradient, Public, Records

LOSSES = [
    Logistic(),
    ClippedLogistic(0.4),
    Hinge(),
    HuberisedHinge(0.5),
    HuberisedHinge(1e-12),
    SquaredHinge(),
    Huber(0.5),
    Squared(),
    SquaredEpsilonInsensitive(0.2),
    QuantileHuber(0.3, 1e-9),
    Multinomial(5),
]


def strided(X):
    """Every other row and column of a larger table."""
    wide = np.zeros((2 * len(X), 2 * X.shape[1]), X.dtype)
    wide[::2, ::2] = X
    return wide[::2, ::2]


LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": strided,
    "reversed": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "upside down": lambda X: np.ascontiguousarray(X[::-1])[::-1],
    "frame": lambda X: pd.DataFrame(np.asfortranarray(X)).to_numpy(),
    "frame by columns": lambda X: pd.DataFrame({k: X[:, k] for k in range(X.shape[1])}).to_numpy(),
    "not aligned": lambda X: (
        np.frombuffer(b"\0" + X.tobytes(), np.uint8, offset=1).view(X.dtype).reshape(X.shape)
    ),
}


def admitted(X, y, neighbors="replace_one", intercept=0.0, data_norm=1.0):
    """Records as an estimator hands them over: in the layout that they came in."""
    n = len(X) if neighbors == "replace_one" else None
    public = Public(
        n=n, n_features=X.shape[1], intercept=intercept, neighbors=neighbors, target_bound=5.0
    )
    return Records.admit(X, np.asarray(y, dtype=float), public, data_norm)


def asked(at, loss, clip=1.0):
    return Gradient(at=at, loss=loss, clip=clip, multiplier=1.0)


def moved(question, records, neighbour):
    """How far the computed sum moves, over what is claimed for it, roundings included."""
    gap = np.linalg.norm(question.measure(records) - question.measure(neighbour))
    return gap / question.grid(records.public).reach
