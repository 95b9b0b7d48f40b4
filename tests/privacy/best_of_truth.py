"""The best of K runs by enumeration: laws of discrete runs whose outcomes are in the order of their scores."""

import math

import numpy as np


def generating_function(odds):
    """phi(x) = E[x^K] for K = 1, 2, ... with these odds."""
    chances = np.asarray(odds, float) / float(sum(odds))

    def phi(x):
        return sum(p * np.asarray(x, float) ** k for k, p in enumerate(chances, 1))

    return phi


def winner(phi, masses):
    """Law of the best outcome; masses are in the order of scores, the worst first."""
    edges = np.minimum(np.concatenate([[0.0], np.cumsum(masses)]), 1.0)
    return np.diff(phi(edges))


def hockey_stick(p, q, epsilon):
    """Delta at epsilon of a pair of discrete laws, the larger of both directions."""
    grown = math.exp(epsilon)
    return max(float(np.maximum(a - grown * b, 0.0).sum()) for a, b in ((p, q), (q, p)))


def random_pair(rng, epsilon):
    """Laws of a few outcomes whose ratios lie within e^-epsilon and e^epsilon, and reach both often."""
    while True:
        q = rng.dirichlet(np.full(int(rng.integers(2, 6)), 0.7))
        tilt = rng.choice([-epsilon, 0.0, epsilon, rng.uniform(-epsilon, epsilon)], len(q))
        low, high = (q * np.exp(s * epsilon) for s in (-1, 1))
        p = np.clip(q * np.exp(tilt), low, high)
        room = np.where(p.sum() > 1, p - low, high - p)
        if room.sum() > abs(p.sum() - 1):
            return p - (p.sum() - 1) * room / room.sum(), q


def attack(phi, mu, cut, cells=20_000):
    """A Gaussian run whose score puts all below a cut first, and then goes by likelihood: laws of the winner."""
    from scipy.special import ndtr

    edges = np.linspace(-9.0, 9.0 + mu, cells + 1)
    order = np.argsort(edges[:-1] < cut, kind="stable")  # what lies below the cut scores best
    laws = []
    for mean in (mu, 0.0):
        masses = np.diff(ndtr(edges - mean))
        laws.append(winner(phi, (masses / masses.sum())[order]))
    return laws
