"""The table that laws over promises are run on, and its neighbours."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

RELATIONS = ("replace_one", "add_remove")
COLUMNS = 17  # more than a register of any kernel holds, and odd, as N is: where products by blocks change their order
N = 1203  # records enough that bought bounds, norms and weights lie inside their ends
FEW = 243  # records for acts of many fits
UNITS = np.resize([0.4, 3.0, 0.05], COLUMNS)  # of the columns
PERSON, LIST = 3, 8  # rows of a person, documents of a list
EPSILON = 4.0


@dataclass(frozen=True, eq=False)
class Table:
    """Rows, a number and a key for each, and what belongs together: persons, and lists of documents."""

    X: np.ndarray
    number: np.ndarray
    weight: np.ndarray
    person: np.ndarray
    document_list: np.ndarray

    @property
    def label(self) -> np.ndarray:
        return (self.number > 0.0).astype(int)

    @property
    def count(self) -> np.ndarray:
        return np.clip(np.floor(np.abs(self.number) * 4.0), 0.0, 15.0)

    @property
    def few(self) -> np.ndarray:
        """Two keys, by labels, that fall into unlike parts of three."""
        return 2 * self.label

    @property
    def words(self) -> pd.DataFrame:
        """The same rows as a frame with a column of words."""
        columns = {f"x{j}": self.X[:, j] for j in range(COLUMNS)}
        return pd.DataFrame({**columns, "word": np.where(self.X[:, 0] > 0.5, "high", "low")})

    def __len__(self) -> int:
        return len(self.number)

    def take(self, index: np.ndarray) -> Table:
        return Table(*(part[index] for part in vars(self).values()))


def table(seed: int, n: int = N, stretch: float = 1.0, shift: float = 0.0) -> Table:
    """Records drawn at random; columns have unlike scales, so that bounds and norms have something to find."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, COLUMNS)) * UNITS * stretch + shift
    noise = rng.normal(size=n) * 0.5
    number = np.clip(X[:, 0] + 0.2 * X[:, 1] - 1.2 * shift + noise + 0.3, -2.9, 2.9)
    weight = rng.uniform(0.1, 0.9, size=n)
    return Table(X, number, weight, np.arange(n) // PERSON + 7 * seed, np.arange(n) // LIST)


def far_record(given: Table, rows: slice) -> Table:
    """The same table where these rows are other ones: far, of the other label, and heavier than any."""
    X, number, weight = given.X.copy(), given.number.copy(), given.weight.copy()
    X[rows] = -100.0 * UNITS
    number[rows] = -2.9 * np.sign(number[rows] + 1e-9)
    weight[rows] = 1.0
    return replace(given, X=X, number=number, weight=weight)


def only_one_positive(given: Table, rows: slice) -> Table:
    """The same table where these rows alone are of the second class."""
    number = -np.abs(given.number) - 1e-3
    number[rows] = 0.7
    return replace(given, number=number)


def endless_record(given: Table, rows: slice) -> Table:
    """The same table where the norm of one row is beyond all doubles, and each of its entries is not."""
    X = given.X.copy()
    X[rows.start] = -1.7e308
    return replace(given, X=X)
