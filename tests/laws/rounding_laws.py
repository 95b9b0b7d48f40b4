"""Neighbours built to be rounded unlike each other, and sums held against exact ones.

What counts is what is handed to the noise, as doubles: its move between neighbours is at most what the noise was made
for, roundings included, and its distance to the exact sum of what single records give is at most `rounding`.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from laws.ears import hear
from laws.list_pairs import LISTED, list_pair
from laws.sensitivity_laws import MEASURED, pair_of
from laws.sparse_layouts import SPARSE, sparse_laid_out

from skdp import NotSupported
from skdp.mechanisms import Mapped, Public, Records
from skdp.mechanisms._mechanism import Release, Selection
from skdp.mechanisms.threshold import GaussianFirstDecrease, LineSearch

ASKED = [q for q in MEASURED if not issubclass(q, Release)]
POINTS = ("at", "anchor", "candidates", "x", "z", "y")
NEVER = 1e90  # a demand that no sum meets
LAYOUTS = ("C", "F", "strided", "reversed", "window")


@dataclass(frozen=True)
class Pair:
    """Two neighbouring vaults, and the row that most of their records share.

    Parameters
    ----------
    records, neighbour : Records
        The vaults.
    row : ndarray
        The common row as the mechanisms see it, the constant column included.
    """

    records: Records
    neighbour: Records
    row: Any


def laid_out(X, layout):
    """The same numbers in another order in memory, or in a sparse table."""
    if layout in SPARSE:
        return sparse_laid_out(X, layout)
    if layout == "F":
        return np.asfortranarray(X)
    if layout == "strided":
        wide = np.zeros((len(X), 2 * X.shape[1]), dtype=X.dtype)
        wide[:, ::2] = X
        return wide[:, ::2]
    if layout == "reversed":
        return np.ascontiguousarray(X[::-1])[::-1]
    if layout == "window":  # rows that start at odd places in memory
        wide = np.zeros((len(X), X.shape[1] + 1), dtype=X.dtype)
        wide[:, 1:] = X
        return wide[:, 1:]
    return np.ascontiguousarray(X)


def admitted(X, y, relation, data_norm, intercept, layout="C"):
    """A vault whose table came in this layout."""
    n = len(X) if relation == "replace_one" else None
    public = Public(n=n, n_features=X.shape[1], intercept=intercept, neighbors=relation)
    return Records.admit(laid_out(X, layout), y, public, data_norm)


def pair(rng, n=None, d=None):
    """Neighbours at random: few kinds of rows, dense or sparse, any layout, the odd record anywhere, often far away."""
    relation = ("replace_one", "add_remove")[rng.integers(2)]
    dtype = (np.float64, np.float32)[rng.integers(2)]
    n = n or int(2.0 ** rng.uniform(0, 9.3))
    d = d or int(
        (rng.integers(1, 9), rng.integers(9, 50), 2 ** rng.integers(0, 7))[rng.integers(3)]
    )
    data_norm = float(10.0 ** rng.integers(-2, 3))
    kinds = rng.normal(size=(int(rng.integers(1, 4)), d))
    kinds *= data_norm * rng.choice([0.3, 1.0, 4.0]) / np.linalg.norm(kinds, axis=1, keepdims=True)
    kinds = (kinds * (rng.random(kinds.shape) < rng.choice([0.05, 1.0]))).astype(dtype)
    X = (
        kinds[np.arange(n) % len(kinds)]
        if rng.integers(2)
        else kinds[rng.integers(len(kinds), size=n)]
    )
    y = np.ones(n) if rng.integers(2) else rng.choice([-1.0, 1.0], size=n)
    place = (0, n // 2, n - 1)[rng.integers(3)]
    intercept = float(rng.choice([0.0, 0.25, 1.0]))
    odd = [odd_record(rng, kinds[0], data_norm) for _ in range(2)]
    rest, labels = np.delete(X, place, axis=0), np.delete(y, place)
    sides = [(np.insert(rest, place, x, axis=0), np.insert(labels, place, t)) for x, t in odd]
    if relation == "add_remove" and n > 1:
        sides[1] = rest, labels
    layouts = (LAYOUTS, tuple(SPARSE))[rng.integers(2)]
    vaults = [
        admitted(x.astype(dtype), t, relation, data_norm, intercept, str(rng.choice(layouts)))
        for x, t in sides
    ]
    if relation == "replace_one" or n > 1:
        return Pair(*vaults, seen_row(kinds[0], data_norm, intercept))
    return pair(rng, n=2, d=d)


def odd_record(rng, row, data_norm):
    """A record that looks like the others, is far away, is nothing, or is nearly nothing; with either label."""
    far = 1e25 if row.dtype == np.float32 else 1e200
    top = np.abs(row).max() + np.finfo(row.dtype).tiny
    shape = row / top
    x = (row, -row, shape * far, shape * 1e-30, np.zeros_like(row), shape * data_norm)
    return x[rng.integers(len(x))], float(rng.choice([-1.0, 1.0]))


def seen_row(row, data_norm, intercept):
    """The row as a mechanism sees it."""
    row = row.astype(np.float64)
    row = row / max(np.linalg.norm(row), data_norm)
    return np.append(row, intercept) if intercept else row


def hostile_point(rng, row):
    """Parameters at which scores of the row cancel, meet a kink, or are as usual."""
    kind, size = rng.integers(4), 10.0 ** rng.uniform(-2, 18)
    across = rng.normal(size=row.shape)
    length = float(row @ row)
    if kind == 0 or not length:
        return across * 10.0 ** rng.uniform(-2, 3)
    across -= row * (row @ across) / length
    if kind == 1:
        return across * size  # scores that are all rounding
    towards = row / length * (1.0 + float(rng.integers(-8, 9)) * 2.0**-53)
    return towards + across * (size if kind == 2 else 0.0)


def asked(kind, public, rng):
    """A few questions of a kind, as its worst pair's module makes them."""
    return [q for q in pair_of(kind).questions(public, rng) if type(q) is kind]


def plain(question):
    """The same question with nothing that stops it early, and no public number added to its sums."""
    if isinstance(question, LineSearch):
        return replace(question, demands=np.full(len(question.demands), NEVER))
    return replace(question, offsets=0.0) if hasattr(question, "offsets") else question


def hostile(question, pair_, rng):
    """The same question at hostile points, with nothing that stops it early."""
    if isinstance(question, Mapped):
        row = question.coordinates.matrix @ pair_.row / question.scale
        inner = replace(question.question, at=hostile_point(rng, row))
        return replace(question, question=inner)
    changed = {}
    for name in POINTS:
        points = getattr(question, name, None)
        if isinstance(points, np.ndarray) and points.shape[-1:] == pair_.row.shape:
            flat = [hostile_point(rng, pair_.row) for _ in range(points.size // len(pair_.row))]
            changed[name] = np.array(flat).reshape(points.shape)
    question = replace(question, **changed)
    return plain(question) if isinstance(question, LineSearch) else question


def ratio(question, pair_):
    """How far what meets the noise moves, over what the noise was made for."""
    one, other = (hear(question, side) for side in (pair_.records, pair_.neighbour))
    if isinstance(question, GaussianFirstDecrease):
        queries = [h for h in zip(one, other) if h[0].statistic.any() or h[1].statistic.any()]
        move = [float((a.statistic - b.statistic)[0]) for a, b in queries]
        return math.hypot(*move) / question.grids(pair_.records.public)[0].reach if move else 0.0
    (a,), (b,) = one, other
    assert np.isfinite(a.statistic).all() and np.isfinite(b.statistic).all()
    move = a.statistic - b.statistic
    if isinstance(question, Selection):
        return float(np.ptp(move)) / (a.scale * question.epsilon)
    if isinstance(question, LineSearch):
        return float(np.max(np.abs(move) / (a.scale[0] * question.query_epsilon)))
    return float(np.linalg.norm(move)) / a.scale.reach


def worst_ratios(rng, pairs, per_kind=1, kinds=ASKED, **given):
    """Worst ratio and number of pairs by mechanism, over hostile questions about hostile neighbours."""
    worst = {kind.__name__: (0.0, 0) for kind in kinds}
    while sum(count for _, count in worst.values()) < pairs:
        rows = pair(rng, **given)
        for kind in kinds:
            both = Pair(*list_pair(rng, kind, **given)) if kind in LISTED else rows
            for question in _some(kind, both, rng, per_kind):
                try:
                    question.event(both.records.public)
                except NotSupported:
                    continue
                found, count = worst[kind.__name__]
                worst[kind.__name__] = max(found, ratio(question, both)), count + 1
    return worst


def _some(kind, both, rng, count):
    questions = asked(kind, both.records.public, rng)
    chosen = [questions[k] for k in rng.integers(len(questions), size=count)]
    return [hostile(question, both, rng) for question in chosen]
