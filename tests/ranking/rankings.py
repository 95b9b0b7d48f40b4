"""Tables of lists for tests of the ranker."""

import numpy as np

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
