"""Tables of which nothing is real but the declaration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit

from ..preprocessing._declaration import Declared, Numbers
from ..preprocessing._scaling import undone
from ._encode import Array

__all__ = ["cells_as_declared", "labels_by_chance"]


def cells_as_declared(columns: Sequence[Declared], n: int, seed: Sequence[int]) -> Array:
    """Cells that are drawn evenly: numbers between their bounds, on their scale, and declared values.

    Parameters
    ----------
    columns : sequence of Numbers or Categories
        What is declared of each.
    n : int
        Rows.
    seed : sequence of int
        Of the draws.

    Returns
    -------
    ndarray of object of shape (n, d)
    """
    rng = np.random.default_rng(seed)
    cells: Any = np.empty((n, len(columns)), dtype=object)
    for j, declared in enumerate(columns):
        if isinstance(declared, Numbers):
            cells[:, j] = undone(rng.uniform(-1.0, 1.0, n), declared)
        else:
            codes = rng.integers(0, len(declared.values), n)
            cells[:, j] = [declared.values[code] for code in codes]
    return np.asarray(cells)


def labels_by_chance(
    rows: Array, cut: int, signal: float, seed: Sequence[int]
) -> tuple[Array, Array]:
    """Labels whose log-odds are a random linear score of the rows, and what the score itself would say.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Encoded.
    cut : int
        Rows from which the score is scaled.
    signal : float
        Deviation of the log-odds.
    seed : sequence of int
        Of the draws.

    Returns
    -------
    labels, known : ndarray of shape (n,)
        0 and 1.
    """
    rng = np.random.default_rng(seed)
    scores = rows @ rng.normal(size=rows.shape[1])
    scores -= scores[:cut].mean()
    scores *= signal / max(float(scores[:cut].std()), np.finfo(np.float64).tiny)
    labels = rng.random(len(rows)) < expit(scores)
    return labels.astype(int), (scores > 0.0).astype(int)
