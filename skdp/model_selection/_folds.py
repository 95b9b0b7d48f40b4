"""Folds for which the partition theorem holds: a neighbour never changes the part of another record.

scikit-learn's own break it. Stratified folds move hundreds of records where one label is changed; `KFold` moves those
at the ends of parts where a record is added or removed, and nearly all if it shuffles.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..exceptions import NotSupported
from ..fitting.data import ids_of

__all__ = ["KeyFold", "PositionFold", "parts_of"]

Index = NDArray[np.intp]


class _Folds:
    """Methods of scikit-learn's splitters, from the part of every record."""

    relation: ClassVar[str]

    def __init__(self, n_splits: int, seed: int) -> None:
        if type(n_splits) is not int or n_splits < 2:
            raise ValueError(f"n_splits={n_splits!r} must be a whole number, 2 or more.")
        if type(seed) is not int or not 0 <= seed < 1 << 64:
            raise ValueError(f"seed={seed!r} must be a whole number from 0 to 2**64 - 1.")
        self.n_splits, self.seed = n_splits, seed

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of parts."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Index, Index]]:
        """Rows to train on and rows to test on, part by part.

        Parameters
        ----------
        X : array-like
            Only its length is read.
        y : object
            Ignored: a fold that reads labels breaks the theorem.
        groups : array-like, optional
            Keys of the records, for `KeyFold`.

        Yields
        ------
        train, test : ndarray
            Of indices.
        """
        parts = self._parts(int(np.shape(X)[0]), groups)
        for part in range(self.n_splits):
            yield np.flatnonzero(parts != part), np.flatnonzero(parts == part)

    def _parts(self, n: int, groups: Any) -> Index:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_splits={self.n_splits}, seed={self.seed})"


class PositionFold(_Folds):
    """Parts by position, for replace-one neighbours: a replaced record keeps its place.

    Positions are shuffled by a public seed and divided as evenly as can be.

    Parameters
    ----------
    n_splits : int
        Number of parts.
    seed : int
        Of the shuffle, which depends on it and on the number of records alone.

    See Also
    --------
    KeyFold : For add/remove neighbours.
    dp_cross_val_score : What it is for.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.model_selection import PositionFold
    >>> [len(test) for _, test in PositionFold(3).split(np.zeros((10, 2)))]
    [4, 3, 3]
    """

    relation: ClassVar[str] = "replace_one"

    def __init__(self, n_splits: int = 2, seed: int = 0) -> None:
        super().__init__(n_splits, seed)

    def _parts(self, n: int, groups: Any) -> Index:
        if groups is not None:
            raise NotSupported("PositionFold knows no groups; use KeyFold with keys as groups.")
        if n < self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits} is more than the {n} records; use fewer parts."
            )
        parts = np.empty(n, dtype=np.intp)
        parts[np.argsort(_mixed(n, self.seed), kind="stable")] = np.arange(n) % self.n_splits
        return parts


class KeyFold(_Folds):
    """Parts by a record's own key, for add/remove neighbours: who comes or goes moves nobody else.

    Records with equal keys, such as those of one person, are in one part.

    Parameters
    ----------
    n_splits : int
        Number of parts.
    seed : int
        Of the keyed hash (BLAKE2b).

    See Also
    --------
    PositionFold : For replace-one neighbours.
    dp_cross_val_score : What it is for.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.model_selection import KeyFold
    >>> keys = ["ann", "bob", "ann", "eve"]
    >>> train, test = next(KeyFold(2).split(np.zeros((4, 2)), groups=keys))
    >>> {keys[i] for i in train} & {keys[i] for i in test}
    set()
    """

    relation: ClassVar[str] = "add_remove"

    def __init__(self, n_splits: int = 2, seed: int = 0) -> None:
        super().__init__(n_splits, seed)

    def _parts(self, n: int, groups: Any) -> Index:
        if groups is None:
            raise ValueError(
                "KeyFold needs groups: the key of each record, such as its person's id."
            )
        keys = ids_of(groups).ravel().tolist()
        if len(keys) != n:
            raise ValueError("groups must hold one key for each record.")
        return np.array([self._part(key) for key in keys], dtype=np.intp)

    def _part(self, key: Any) -> int:
        """Return the part of a key by its type and text; keys are whole numbers or strings."""
        if type(key) not in (int, str):
            raise ValueError("Keys must be whole numbers or strings.")
        told = f"{type(key).__name__}:{key}".encode()
        mark = hashlib.blake2b(told, key=self.seed.to_bytes(8, "big"), digest_size=16).digest()
        return int.from_bytes(mark, "big") % self.n_splits


def parts_of(cv: Any, neighbors: str) -> _Folds:
    """The splitter, where the theorem holds for it under this relation."""
    if isinstance(cv, int) and not isinstance(cv, bool) and neighbors == "replace_one":
        return PositionFold(cv)
    if type(cv) in (PositionFold, KeyFold) and cv.relation == neighbors:
        return cv
    fit = "PositionFold" if neighbors == "replace_one" else "KeyFold"
    raise NotSupported(
        f"cv={cv!r} may move other records when one changes under {neighbors}; use skdp's {fit}."
    )


def _mixed(n: int, seed: int) -> NDArray[np.uint64]:
    """Numbers that look random, one a position (splitmix64, Steele, Lea and Flood 2014)."""
    z = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))
