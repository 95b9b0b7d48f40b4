"""Assign each record to one of several public cells."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["cells_of"]

Array = np.ndarray[Any, Any]


def cells_of(y: Array, cells: int) -> Array:
    """The cell of each target: the nearest of 0, 1, ..., whatever it is. Of two classes, -1 is in the first.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Finite targets.
    cells : int
        How many there are.
    """
    return np.clip(np.rint(y), 0, cells - 1).astype(np.intp)
