"""Generated tables with a number to predict, declared bounds and all: three families that noise finds unlike."""

import numpy as np


def even(n=3000, d=5):
    """Columns alike."""
    rng = np.random.default_rng(0)
    return _with_target(rng.normal(size=(n, d)), rng)


def skewed(n=3000, d=4):
    """Columns of unlike lengths that go together."""
    rng = np.random.default_rng(1)
    mixed = np.diag(0.6 ** np.arange(d)) + 0.2 * np.eye(d, k=1)
    return _with_target(rng.normal(size=(n, d)) @ mixed, rng)


def coded(n=3000):
    """Two numbers, and a word of five as four zeros and ones."""
    rng = np.random.default_rng(2)
    words = rng.integers(0, 5, n)[:, None] == np.arange(4)
    return _with_target(np.column_stack([rng.uniform(-1, 1, (n, 2)), words]), rng)


def _with_target(X, rng):
    w = rng.normal(size=X.shape[1])
    return X, 7.0 + 3.0 * (X @ w) + rng.normal(size=len(X))


def declared(X, y):
    """Bounds that hold for all records."""
    longest = float(np.linalg.norm(X, axis=1).max())
    return {"data_norm": longest, "y_bounds": (float(y.min()) - 1.0, float(y.max()) + 1.0)}


def distance(model, exact):
    """How far all fitted numbers lie from scikit-learn's, relative to their length."""
    ours, theirs = (np.append(m.coef_, m.intercept_) for m in (model, exact))
    return np.linalg.norm(ours - theirs) / np.linalg.norm(theirs)


FAMILIES = {"even": even(), "skewed": skewed(), "coded": coded()}
