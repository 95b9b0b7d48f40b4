"""Tables of lists for tests of the ranker."""

import numpy as np

from skdp.losses import BayesRank, ListNet
from skdp.ranking import DPRanker

TRUE = np.array([1.0, -0.5, 0.25])


def table(n=300, seed=0, most=9):
    """Documents, grades and ids of lists of unequal length, in which better scores are judged better."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, most + 1, n)
    X = rng.uniform(-0.5, 0.5, (sizes.sum(), 3))
    grades = np.digitize(X @ TRUE + 0.1 * rng.normal(size=len(X)), [0.15, 0.4])
    return X, grades, np.repeat(np.arange(n), sizes)


def ranker(**given):
    """One with small, fixed parameters."""
    usual = {"epsilon": 1.0, "delta": 1e-5, "data_norm": 1.0, "random_state": 0}
    return DPRanker(**{**usual, **given})


def reference_slopes(loss, z, y):
    """What each score of one list does to its loss, by its definition."""
    p = np.exp(z - z.max()) / np.exp(z - z.max()).sum()
    gain = 2.0**y - 1.0
    if type(loss) is ListNet:
        return p - (gain / gain.sum() if gain.any() else np.full(len(y), 1.0 / len(y)))
    if type(loss) is BayesRank:
        top = (y == y.max()) / (y == y.max()).sum()
        c = top if loss.kept else gain / max(gain.max(), 1.0)
        return -(np.diag(p) - np.outer(p, p)) @ c
    total, left = np.zeros(len(z)), sorted(range(len(y)), key=lambda i: -y[i])
    while left:
        chance = np.exp(z[left] - z[left].max())
        total[left] += chance / chance.sum()
        total[left[0]] -= 1.0
        left = left[1:]
    return total
