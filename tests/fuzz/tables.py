"""Rows of every kind, scale, type and layout, and the same rows with one record changed."""

import numpy as np
import pandas as pd

KINDS = (
    *("normal", "normal", "uniform", "duplicates", "constant", "zeros", "far", "collinear"),
    *("signs", "sparse", "mixed", "halves"),
)
CONTAINERS = (
    *("float64", "float64", "float64", "float32", "float32", "fortran", "strided", "reversed"),
    *("frame", "lists", "int64", "bool", "read only", "transposed single", "objects"),
)
LARGEST = {"float32": 3e38, "transposed single": 3e38, "int64": 9e15}


def rows(rng, n, d, kind, size):
    """n rows of d numbers, about as large as `size`."""
    X = rng.standard_normal((n, d))
    if kind == "uniform":
        X = rng.uniform(-1.0, 1.0, (n, d))
    elif kind == "duplicates":
        X = X[rng.integers(min(n, 3), size=n)]
    elif kind == "constant":
        X[:, rng.random(d) < 0.7] = 1.0
    elif kind == "zeros":
        X = X * (rng.random((n, 1)) < 0.2)
    elif kind == "far":
        X[rng.random(n) < 0.1] *= 10.0 ** rng.uniform(0, 300)
    elif kind == "collinear":
        X = X[:, :1] * rng.standard_normal(d)
    elif kind == "signs":
        X = np.sign(X)
    elif kind == "sparse":
        X = X * (rng.random((n, d)) < 0.05)
    elif kind == "halves":  # where minimisers of losses with kinks balance
        X = X[:1] * (rng.random((n, 1)) < rng.random())
    elif kind == "mixed":
        X = X * 10.0 ** rng.uniform(-300, 300, (n, 1))
    with np.errstate(all="ignore"):
        return np.clip(X * size, -1e300, 1e300)


def held(X, container):
    """The rows as a user might hand them over: always finite."""
    most = LARGEST.get(container, 1e300)
    X = np.clip(X, -most, most)
    if container in ("float32", "transposed single"):
        X = X.astype(np.float32)
    if container in ("fortran", "transposed single"):
        return np.asfortranarray(X)
    if container == "strided":
        wide = np.zeros((2 * len(X), 3 * X.shape[1]))
        wide[::2, ::3] = X
        return wide[::2, ::3]
    if container == "reversed":
        return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    if container == "frame":
        return pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])
    if container == "lists":
        return X.tolist()
    if container == "objects":
        return X.astype(object)
    if container in ("int64", "bool"):
        return X.astype(container)
    X.setflags(write=container != "read only")
    return X


def neighbour(rng, X, y, labels, relation):
    """One record replaced, or one added or removed, by something that differs much."""
    row = [np.zeros, np.ones][rng.integers(2)](X.shape[1])
    row = row * rng.choice([1.0, -1e300, 1e-300, 1e3])
    label = labels[rng.integers(len(labels))]
    place = int(rng.integers(len(X)))
    if relation == "replace_one":
        X, y = X.copy(), y.copy()
        X[place], y[place] = row, label
        return X, y
    if len(X) > 1 and rng.random() < 0.5:
        return np.delete(X, place, axis=0), np.delete(y, place)
    return np.insert(X, place, row, axis=0), np.insert(y, place, label)
