"""Neighbours among vaults of lists: one list, or its labels, replaced by its like, its opposite, or one from afar."""

import numpy as np
from laws.listed import labelled, listed, random_list

from skdp.mechanisms import LabelGradient, ListGradient, ListTargets

__all__ = ["LISTED", "list_pair"]

LISTED = (ListGradient, LabelGradient, ListTargets)  # rows by themselves tell these nothing


def list_pair(rng, kind, n=None, d=None):
    """Two vaults, and a document of the list in which they differ."""
    d = d or int(rng.integers(1, 20))
    count = min(n or int(2.0 ** rng.uniform(0, 7)), 5000)
    data_norm = float(10.0 ** rng.integers(-2, 3))
    alike = [random_list(rng, d, data_norm=data_norm) for _ in range(int(rng.integers(1, 4)))]
    lists = [alike[k] for k in rng.integers(len(alike), size=count)]
    place = (0, count // 2, count - 1)[rng.integers(3)]
    X, _ = lists[place] if rng.integers(2) else _apart(rng, d, data_norm)
    sides = [[*lists[:place], (X, y), *lists[place + 1 :]] for y in _opposite_labels(rng, len(X))]
    seen = X[0] / max(np.linalg.norm(X[0]), data_norm)
    if kind is not ListGradient:
        return *(_of_labels(side, data_norm) for side in sides), seen
    relation = ("replace_one", "add_remove")[rng.integers(2)] if count > 1 else "replace_one"
    if relation == "add_remove":
        sides[1] = [*lists[:place], *lists[place + 1 :]]
    elif rng.integers(2):
        sides[1][place] = random_list(rng, d, data_norm=data_norm)
    most = max(len(y) for side in sides for _, y in side)
    dtype = (np.float64, np.float32)[rng.integers(2)]
    with np.errstate(
        over="ignore"
    ):  # far documents overflow single precision, and are cut to what it holds
        vaults = [
            listed([(_held(X, dtype), y) for X, y in side], relation, data_norm, most, dtype)
            for side in sides
        ]
    return *vaults, seen


def _held(X, dtype):
    most = np.finfo(dtype).max / 1e6
    return np.clip(X, -most, most)


def _of_labels(lists, data_norm):
    X, y = (np.concatenate([part[i] for part in lists]) for i in (0, 1))
    return labelled(X, [len(labels) for _, labels in lists], y, data_norm)


def _apart(rng, d, data_norm):
    """Two documents that are as far from each other as any."""
    x = rng.normal(size=d)
    x *= data_norm * (1.0, 1e3)[rng.integers(2)] / np.linalg.norm(x)
    return np.array([x, -x]), None


def _opposite_labels(rng, count):
    """The first document alone, and the last alone; or any two."""
    if rng.integers(2):
        return np.eye(count)[0], np.eye(count)[-1]
    return rng.integers(0, 5, (2, count)).astype(float)
