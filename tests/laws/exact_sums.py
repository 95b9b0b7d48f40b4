"""Computed statistics beside the exact sum, in rationals, of what single records give.

The exact step of three iterates is made from that sum, and pairs of tables are built against the kernel that sums them.
"""

import math
from fractions import Fraction

import numpy as np
from laws.ears import hear
from laws.rounding_laws import admitted

from skdp.losses import Logistic
from skdp.mechanisms import Gradient, Mapped, ModelStep, Records
from skdp.mechanisms._mechanism import Selection
from skdp.mechanisms._rows import PIECE, ROUNDINGS, UNIT
from skdp.mechanisms.threshold import GaussianFirstDecrease, LineSearch
from skdp.penalties import L1, L2, NoPenalty, ScaledPenalty


def repeated(rng, n, d, relation, dtype=np.float64, kinds=5, intercept=0.25, rows=None):
    """A vault of n records of a few kinds, each kind's own vault, and how often each is there."""
    which = rng.integers(kinds, size=n)
    rows = (rng.normal(size=(kinds, d)) if rows is None else rows).astype(dtype)
    labels = rng.choice([-1.0, 1.0], size=kinds)
    whole = admitted(rows[which], labels[which], relation, 1.0, intercept)
    alone = []
    for k in range(kinds):
        one = admitted(rows[k : k + 1], labels[k : k + 1], relation, 1.0, intercept)
        alone.append(Records(one.rows, one.y, whole.public))
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
    placed = ScaledPenalty(penalty[rng.integers(3)], 1.0, public.intercept > 0)
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
    return Records(records.rows.take(part), records.y[part], records.public)


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
        return float(np.abs(lost).max()) * public.sensitivity_factor / question.rounding(public)
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
