"""Deltas of an epoch of random allocation by quadrature and by simulation: roads that share nothing with the engine.

Without the record each batch's likelihood ratio is log-normal. Its mean over T batches, less a threshold, has a
positive part whose mean over the last normal number is closed; the other numbers are integrated by Gauss-Legendre
panels that end where the integrand has its kink, or drawn.
"""

import math

import numpy as np
from scipy.special import ndtr

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(40)


def ratio(u, s):
    """The likelihood ratio of one batch at a standard normal number."""
    return np.exp(s * u - s * s / 2)


def call(k, s):
    """Mean of the positive part of a ratio less k."""
    inside = np.maximum(k, 1e-300)
    d = -np.log(inside) / s
    return np.where(k > 0, ndtr(d + s / 2) - inside * ndtr(d - s / 2), 1.0 - k)


def put(k, s):
    """Mean of the positive part of k less a ratio."""
    inside = np.maximum(k, 1e-300)
    d = -np.log(inside) / s
    return np.where(k > 0, inside * ndtr(-d + s / 2) - ndtr(-d - s / 2), 0.0)


def swap(z, s, a):
    """Mean of the positive part of z + Y - a Y', where Y rises and Y' falls with one normal number."""
    c = 4 * a * math.exp(-s * s)
    root = np.hypot(z, math.sqrt(c))
    far = root + np.abs(z)
    y = np.where(z < 0, far / 2, c / 2 / far)
    u = np.log(y) / s + s / 2
    return ndtr(s - u) - a * ndtr(-s - u) + z * ndtr(-u)


def panels(s, kink=None):
    """Standard normal nodes and weights, in panels that end at a kink."""
    edges = np.linspace(-11.0, 11.0 + 2 * s, 40)
    if kink is not None and -11 < kink < 11 + 2 * s:
        edges = np.sort(np.append(edges, kink))
    half = np.diff(edges)[:, None] / 2
    u = (edges[:-1, None] + half * (1 + POINTS)).ravel()
    return u, (half * WEIGHTS).ravel() * np.exp(-u * u / 2) / math.sqrt(2 * math.pi)


def _last(kind, s, a):
    """Mean over the last number, of the sum so far; and the sum at which it has a kink."""
    return {
        "remove": lambda total, T: call(T * a - total, s) / T,
        "add": lambda total, T: a * put(T / a - total, s) / T,
        "replace": lambda total, T: swap(total, s, a) / T,
    }[kind]


def one_epoch(kind, z, T, epsilon):
    """Delta of one epoch of two or three batches."""
    s, a = 1 / z, math.exp(epsilon)
    last, kink = _last(kind, s, a), {"remove": T * a, "add": T / a}.get(kind)

    def value(u):
        return ratio(u, s) - (a * ratio(-u, s) if kind == "replace" else 0.0)

    def rest(total, left):
        gap = None if kink is None else kink - total
        u, w = panels(s, math.log(gap) / s + s / 2 if gap is not None and gap > 0 else None)
        if left == 1:
            return float(w @ last(total + value(u), T))
        return math.fsum(p * rest(total + v, left - 1) for p, v in zip(w, value(u)) if p > 1e-25)

    return rest(0.0, T - 1)


def two_epochs(z, epsilon):
    """Delta of removing a record from two epochs of two batches each: over the ratio of the first."""
    s = 1 / z
    u, w = panels(s)
    pairs = (ratio(u, s)[:, None] + ratio(u, s)[None, :]).ravel() / 2
    weights = np.outer(w, w).ravel()
    order = np.argsort(pairs)
    values, masses = pairs[order], weights[order]
    # a histogram of the first ratio, by its means
    starts = np.unique(
        np.searchsorted(np.cumsum(masses * (1 + values)) / 2, np.linspace(0, 1, 3000))
    )
    starts = starts[starts < len(values)]
    mass = np.add.reduceat(masses, starts)
    first = np.add.reduceat(masses * values, starts) / np.maximum(mass, 1e-300)
    total = 0.0
    for p, m in zip(mass.tolist(), first.tolist()):
        if p * max(m, 1.0) < 1e-14:
            continue
        kink = 2 * math.exp(epsilon) / m
        total += p * m * float(w @ call(kink - ratio(u, s), s)) / 2
    return total


def simulated(kind, z, T, epsilon, draws, seed=0):
    """Delta of one epoch and its standard error: the mean of the positive part of 1 - e^epsilon / ratio."""
    rng, s, a = np.random.default_rng(seed), 1 / z, math.exp(epsilon)
    found = []
    for _ in range(-(-draws * T // 2_000_000)):
        u = rng.standard_normal((max(2_000_000 // T, 1), T))
        if kind != "add":
            u[:, 0] += s
        p = ratio(u, s).sum(axis=1)
        loss = {"remove": p / T, "add": T / p}.get(kind)
        if loss is None:
            loss = p / ratio(-u, s).sum(axis=1)
        found.append(np.maximum(1 - a / loss, 0.0))
    sample = np.concatenate(found)
    return float(sample.mean()), float(sample.std() / math.sqrt(len(sample)))
