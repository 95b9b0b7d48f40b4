"""Neighbours built to be rounded unlike each other, and sums held against exact ones.

What counts is what is handed to the noise, as doubles: its move between neighbours is at most what the noise was made
for, roundings included, and its distance to the exact sum of what single records give is at most `rounding`.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from laws.ears import hear
from laws.sensitivity_laws import MEASURED, pair_of

from skdp import NotSupported
from skdp.losses import Logistic
from skdp.mechanisms import Gradient, Mapped, ModelStep, Public, Records
from skdp.mechanisms._question import Release, Selection
from skdp.mechanisms._rows import PIECE, ROUNDINGS, UNIT
from skdp.mechanisms.threshold import GaussianFirstDecrease, LineSearch
from skdp.penalties import L1, L2, NoPenalty, Placed

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
    """The same numbers in another order in memory."""
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
    """Neighbours at random: few kinds of rows, any layout, the odd record anywhere, and often far away."""
    relation = ("replace_one", "add_remove")[rng.integers(2)]
    dtype = (np.float64, np.float32)[rng.integers(2)]
    n = n or int(2.0 ** rng.uniform(0, 9.3))
    d = d or int(
        (rng.integers(1, 9), rng.integers(9, 50), 2 ** rng.integers(0, 7))[rng.integers(3)]
    )
    data_norm = float(10.0 ** rng.integers(-2, 3))
    kinds = rng.normal(size=(int(rng.integers(1, 4)), d))
    kinds *= data_norm * rng.choice([0.3, 1.0, 4.0]) / np.linalg.norm(kinds, axis=1, keepdims=True)
    kinds = kinds.astype(dtype)
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
    vaults = [
        admitted(x.astype(dtype), t, relation, data_norm, intercept, str(rng.choice(LAYOUTS)))
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
    """Parameters at which scores of the row cancel, meet a corner, or are as usual."""
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
        both = pair(rng, **given)
        for kind in kinds:
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


# ------------------------------------------------------------------------------------ exact sums


def repeated(rng, n, d, relation, dtype=np.float64, kinds=5, intercept=0.25):
    """A vault of n records of a few kinds, each kind's own vault, and how often each is there."""
    which = rng.integers(kinds, size=n)
    rows = rng.normal(size=(kinds, d)).astype(dtype)
    labels = rng.choice([-1.0, 1.0], size=kinds)
    whole = admitted(rows[which], labels[which], relation, 1.0, intercept)
    alone = []
    for k in range(kinds):
        one = admitted(rows[k : k + 1], labels[k : k + 1], relation, 1.0, intercept)
        alone.append(Records(one.rows, one.y, whole.public, one.model))
    return whole, alone, np.bincount(which, minlength=kinds)


def exact_sum(question, alone, counts):
    """Sum of what the kinds contribute by themselves, in rationals, as an array of fractions."""
    total = None
    for records, count in zip(alone, counts):
        given = np.ravel(_statistic(question, records))
        terms = np.array([Fraction(float(v)) * int(count) for v in given], dtype=object)
        total = terms if total is None else total + terms
    return total


def party_off_by(question, whole):
    """The same for parties, each of which is a gradient of its own block of positions."""
    computed, n, k = _statistic(question, whole), len(whole), len(question.at)
    lost = []
    for party, w in enumerate(question.at):
        start, end = party * n // k, (party + 1) * n // k
        one = Gradient(at=w, loss=question.loss, clip=question.clip, multiplier=1.0)
        each = [_statistic(one, _only(whole, i)) for i in range(start, end)]
        exact = [sum((Fraction(float(v)) for v in column), Fraction(0)) for column in zip(*each)]
        exact = exact or [Fraction(0)] * len(w)
        lost += [float(Fraction(float(c)) - e) for c, e in zip(computed[party], exact)]
    return float(np.linalg.norm(lost)) / question.rounding(whole.public)


def step_question(rng, public):
    """A step whose prox is arithmetic that rationals can follow, from iterates of all sizes."""
    x, z, y = rng.normal(size=(3, public.width)) * 10.0 ** rng.uniform(-6, 12, (3, 1))
    penalty = (NoPenalty(), L1(float(rng.uniform(0.1, 9.0))), L2(float(rng.uniform(0.1, 9.0))))
    rho, inverse, n = 10.0 ** rng.uniform(-3, 3, 3)
    placed = Placed(penalty[rng.integers(3)], 1.0, public.intercept > 0)
    given = {"x": x, "z": z, "y": y, "loss": Logistic(), "penalty": placed, "multiplier": 1.0}
    return ModelStep(**given, clip=10.0 ** rng.uniform(-3, 1), rho=rho, inverse=inverse, n=n)


def step_off_by(question, whole, alone, counts):
    """How far x, z and y after the step are from the step in rationals, on the exact sum of gradients."""
    gradient = Gradient(at=question.x, loss=question.loss, clip=question.clip, multiplier=1.0)
    computed, total = _statistic(question, whole), exact_sum(gradient, alone, counts)
    rho, inverse, n = (Fraction(v) for v in (question.rho, question.inverse, question.n))
    lost = []
    for j, g in enumerate(total):
        x, z, y = (Fraction(float(v[j])) for v in (question.x, question.z, question.y))
        x = (rho * z - y + inverse * x - g / n) / (rho + inverse)
        free = question.penalty.intercept and j == len(total) - 1
        z = _prox(None if free else question.penalty.penalty, x + y / rho, 1 / (rho * n))
        exact = (x, z, y + rho * (x - z))
        lost += [float(Fraction(float(c)) - e) for c, e in zip(computed[:, j], exact)]
    return float(np.linalg.norm(lost)) / question.rounding(whole.public)


def _prox(penalty, v, step):
    if isinstance(penalty, L1):
        cut = Fraction(penalty.strength) * step
        return max(abs(v) - cut, Fraction(0)) * (1 if v > 0 else -1)
    return v / (1 + Fraction(penalty.strength) * step) if isinstance(penalty, L2) else v


def _only(records, i):
    part = slice(i, i + 1)
    return Records(records.rows.take(part), records.y[part], records.public, records.model)


def _statistic(question, records):
    heard = [h.statistic for h in hear(question, records)]
    if isinstance(question, GaussianFirstDecrease):
        return np.concatenate(heard[1:])
    return heard[0]


def off_by(question, whole, alone, counts):
    """How far the computed statistic is from the exact one, over what `rounding` says; statistics that are sums."""
    computed = np.ravel(_statistic(question, whole))
    exact = exact_sum(question, alone, counts)
    lost = np.array([float(Fraction(float(c)) - e) for c, e in zip(computed, exact)])
    public = whole.public
    if isinstance(question, Mapped):
        return float(np.linalg.norm(lost)) / question.question.rounding(question._seen(public))
    if isinstance(question, Selection):
        return float(np.abs(lost).max()) / question.rounding(public)
    if isinstance(question, GaussianFirstDecrease):
        return float(np.abs(lost).max()) * public.swing / question.rounding(public)
    if isinstance(question, LineSearch):
        return float(np.max(np.abs(lost) / question.bounds)) / question.rounding(public)
    return float(np.linalg.norm(lost)) / (question.rounding(public) or 1e-300)


def near_ties(rng, n, d, period):
    """Rows in groups whose partial sums lie halfway between two doubles: moved up by one, they round the other way."""
    v = rng.uniform(0.5, 1.0, (period, d))
    top = 2.0**-52 * 2.0 ** math.floor(math.log2(PIECE * 0.7))
    total = v.sum(axis=0)
    v[-1] += np.round(total / top - 0.5) * top + top / 2 - total
    return np.tile(np.clip(v, 0.1, 1.2), (n // period + 2, 1))


def unlike_roundings(question, rng, n, d, period):
    """How far two sums differ beyond the first record, which one of them lacks, over what was allowed for."""
    X = near_ties(rng, n, d, period)[: n + 1]
    whole = admitted(X, np.ones(len(X)), "add_remove", 4.0, 0.0)
    less = admitted(X[1:], np.ones(len(X) - 1), "add_remove", 4.0, 0.0)
    first = admitted(X[:1], np.ones(1), "add_remove", 4.0, 0.0)
    sums = [
        [Fraction(float(v)) for v in np.ravel(_statistic(question, r))]
        for r in (whole, less, first)
    ]
    beyond = [float(a - b - g) for a, b, g in zip(*sums)]
    return float(np.linalg.norm(beyond)) / (
        2.0 * ROUNDINGS * UNIT * n * question.bound(whole.public)
    )


def check_contributions(question, records, bound):
    """No record contributes more than the bound, its norm taken in longer numbers from the doubles that are added."""
    for k in range(len(records)):
        given = np.asarray(_statistic(question, _only(records, k)), dtype=np.longdouble)
        assert np.sqrt(np.square(given).sum()) <= bound, "a record contributes more than its bound"
