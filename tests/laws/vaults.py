"""Small vaults for the tests of mechanisms, and the stand-ins for what an oracle needs."""

import numpy as np

from skdp.mechanisms import Public, Records

RELATIONS = ("replace_one", "add_remove")


def vault(X, y, neighbors="replace_one", data_norm=1.0, intercept=0.25, dtype=np.float64):
    """Records of the rows of X, as an estimator would admit them."""
    X = np.array(X, dtype=dtype).reshape(len(y), -1)
    n = len(X) if neighbors == "replace_one" else None
    public = Public(n=n, n_features=X.shape[1], intercept=intercept, neighbors=neighbors)
    return Records.admit(X, np.array(y, dtype=np.float64), public, data_norm)


def random_vault(seed, n=30, d=3, neighbors="replace_one", **given):
    """Records drawn at random: rows within and beyond the bound."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.choice([0.1, 1.0, 30.0], size=(n, 1))
    return vault(X, rng.choice([-1.0, 1.0], size=n), neighbors, **given)


class Admitted:
    """A table whose records have been admitted already: seen as they are through any view."""

    def __init__(self, records):
        self.records = records

    def vault(self, view):
        """The records."""
        return self.records

    def check(self, view):
        """Nothing is left to check."""
