"""Vaults of lists: whole ones, and labels of public documents."""

from itertools import pairwise

import numpy as np
from laws.unit_laws import mixed

from skdp.mechanisms import Documents, Public, Records


def listed(lists, relation="replace_one", data_norm=1.0, most=None, dtype=np.float64):
    """A vault of whole lists, each (X, y)."""
    X, y = (np.concatenate([part[i] for part in lists]) for i in (0, 1))
    sizes = [len(labels) for _, labels in lists]
    n = len(lists) if relation == "replace_one" else None
    most = most or max(sizes)
    public = Public(n, X.shape[1], 0.0, relation, 31.0, rows=most, lists="documents")
    owners = np.repeat(np.arange(len(lists)), sizes)
    return Records.admit(X.astype(dtype), y.astype(float), public, data_norm, owners)


def labelled(X, sizes, y, data_norm=1.0):
    """A vault of the labels of public documents."""
    X = np.asarray(X, dtype=np.float64)
    shown, n = Documents.of(X, sizes, data_norm), len(sizes)
    given = {"rows": int(max(sizes)), "lists": "labels", "documents": shown}
    return Records.of_labels(
        np.asarray(y, dtype=np.float64),
        Public(n, X.shape[1], 0.0, "replace_one", 31.0, **given),
    )


def random_list(rng, d, longest=6, data_norm=1.0, equal=False):
    """Documents within, at and far beyond the bound, often all alike; labels of any kind, often all 0."""
    n = int(rng.integers(1, longest + 1))
    X = rng.normal(size=(n, d)) * data_norm * 10.0 ** rng.integers(-8, 9, size=(n, 1))
    if rng.random() < 0.3:
        X[:] = X[0]
    X[rng.random(X.shape) < 0.2] = 0.0
    return X, rng.integers(0, 5, n) * float(rng.random() < 0.8)


def owned(persons, each=2, most=6, relation="replace_one", rng=None, data_norm=1.0, shared=()):
    """A vault of persons, each several (X, y); with `rng` their lists are mixed in the table, first ones in order.

    Two persons in `shared` give their first lists the same id, as two sessions of one query have.
    """
    owner = np.repeat(np.arange(len(persons)), [len(lists) for lists in persons])
    order = np.arange(len(owner)) if rng is None else mixed(owner, rng)
    flat = [part for lists in persons for part in lists]
    X, y = (np.concatenate([flat[i][j] for i in order]) for j in (0, 1))
    sizes = np.array([len(flat[i][1]) for i in order])
    names = np.array([str(7919 * (u + 1) % 104729) for u in range(len(persons))])
    ids = 31 * np.arange(len(owner))[::-1]
    for one, other in pairwise(shared):
        ids[np.flatnonzero(owner == other)[0]] = ids[np.flatnonzero(owner == one)[0]]
    n = len(persons) if relation == "replace_one" else None
    public = Public(
        n, X.shape[1], 0.0, relation, 31.0, rows=each * most, lists="documents", lists_each=each
    )
    groups, lists = np.repeat(names[owner[order]], sizes), np.repeat(ids[order], sizes)
    return Records.admit(X, y.astype(float), public, data_norm, groups, lists=lists)
