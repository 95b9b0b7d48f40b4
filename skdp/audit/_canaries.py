"""Canaries: records that take one of two forms, each by a coin of its own, and may show which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._neighbours import Array, Data

__all__ = ["Canaries", "linear_canaries"]


@dataclass(frozen=True, eq=False)
class Canaries:
    """A data set with canaries in it, and the coins that decided their form.

    Parameters
    ----------
    data : tuple (X, y)
        What is fitted.
    rows : ndarray of shape (m, n_features)
        Rows of the canaries.
    coins : ndarray of shape (m,) of bool
        True for the form that pulls the coefficients along the row. Only the judge may look at them.
    neighbors : {"replace_one", "add_remove"}
        The relation in which turning a coin gives a neighbour.

    See Also
    --------
    linear_canaries : Makes them.
    audit_one_run : Judges by them.

    Examples
    --------
    >>> from skdp.audit import linear_canaries
    >>> canaries = linear_canaries(4, seed=0)
    >>> (canaries.scores([3.0, -1.0, 2.0, -2.0]) > 0).tolist()  # guesses of the coins
    [True, False, True, False]
    """

    data: Data
    rows: Array
    coins: Array
    neighbors: str

    def scores(self, coefficients: ArrayLike) -> Array:
        """Margin of each canary for the form that pulls along its row.

        Parameters
        ----------
        coefficients : ndarray
            What was released, the features' coefficients first.

        Returns
        -------
        ndarray of shape (m,)
            Larger where the coin was more likely True.
        """
        return self.rows @ np.ravel(coefficients)[: self.rows.shape[1]]


def linear_canaries(
    n_canaries: int,
    *,
    data_norm: float = 1.0,
    neighbors: str = "replace_one",
    beside: tuple[ArrayLike, ArrayLike] | None = None,
    directions: str = "own",
    classes: tuple[Any, Any] = (0, 1),
    seed: int | None = None,
) -> Canaries:
    """Make canaries for linear models: rows at the bound, in directions that no other record uses.

    Under ``replace_one`` the coin is the label, so that both forms are there and n is fixed. Under ``add_remove`` a
    canary has the second label and is there or not; declare ``n_public``, or let the fit buy the count.

    Parameters
    ----------
    n_canaries : int
        m. The more, the tighter the bound; 1000 or more for epsilon near 1.
    data_norm : float
        Norm of the rows: the bound that the estimator declares.
    neighbors : {"replace_one", "add_remove"}
        The relation that is audited.
    beside : tuple (X, y) or None
        Other records, which stay as they are; labels from `classes`.
    directions : {"own", "random"}
        A new column for each canary, along which no other record lies, or random directions in the columns of
        `beside`: no wider table, but canaries that get in each other's way as their number nears the columns'.
    classes : tuple of two labels
        Labels.
    seed : int or None
        Of coins and directions; None for fresh ones. Nobody who could change the fit may know it.

    Returns
    -------
    Canaries
        What to fit, and what to judge the guesses by.

    See Also
    --------
    audit_one_run : What they are for.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.audit import linear_canaries
    >>> canaries = linear_canaries(3, data_norm=2.0, seed=0)
    >>> X, y = canaries.data
    >>> X.tolist()
    [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]
    >>> bool(np.all(y == canaries.coins))  # under replace_one the coin is the label
    True
    """
    if neighbors not in ("replace_one", "add_remove"):
        raise ValueError(
            f"neighbors={neighbors!r} is not known; use 'replace_one' or 'add_remove'."
        )
    rng = np.random.default_rng(seed)
    X, rows = _scaled(n_canaries, beside, directions, rng)
    rows = data_norm * rows
    coins = rng.random(n_canaries) < 0.5
    labels = np.asarray(classes)
    own = labels[coins.astype(int)]
    if neighbors == "add_remove":
        rows_there, own = rows[coins], own[coins]
    else:
        rows_there = rows
    y = own if beside is None else np.concatenate([own, beside[1]])
    return Canaries((np.vstack([rows_there, X]), y), rows, coins, neighbors)


def _scaled(
    n_canaries: int,
    beside: tuple[ArrayLike, ArrayLike] | None,
    directions: str,
    rng: np.random.Generator,
) -> tuple[Array, Array]:
    """The other records' rows, widened where needed, and rows of norm 1 for the canaries."""
    X = np.zeros((0, 0)) if beside is None else np.asarray(beside[0], dtype=np.float64)
    if directions == "own":
        X = np.hstack([np.zeros((len(X), n_canaries)), X])
        return X, np.eye(n_canaries, X.shape[1])
    if directions != "random" or not X.shape[1]:
        raise ValueError(
            f"directions={directions!r} must be 'own', or 'random' among the columns of `beside`."
        )
    rows = rng.normal(size=(n_canaries, X.shape[1]))
    return X, rows / np.linalg.norm(rows, axis=1)[:, None]
