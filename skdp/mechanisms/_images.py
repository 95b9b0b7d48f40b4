"""How long rows are in other coordinates, whatever engine holds them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._kernels import PIECE, UNIT

__all__ = ["image_norms"]

Array = np.ndarray[Any, Any]

AT_ONCE = 3 << 17  # numbers of a block of rows: they stay near a core


def image_norms(rows: Any, matrix: Array, in_place: bool) -> Array:
    """Bound on the norm of every row's image: its norm as computed, and what rounding may have taken from it.

    Parameters
    ----------
    rows : Table
        Rows of the vault.
    matrix : ndarray of shape (k, width)
        What maps them.
    in_place : bool
        Whether every record of a neighbour stands where it stood. If not, each row is mapped by itself: a product with
        a block of rows rounds a row by where it stands.
    """
    norms = np.empty(len(rows))
    slack = 8.0 * (rows.width + 4.0) * UNIT * float(np.linalg.norm(matrix))
    grown = 1.0 + (len(matrix) + 16.0) * UNIT
    size = max(PIECE, AT_ONCE // max(rows.width, 1))
    for start in range(0, len(rows), size):
        part = slice(start, start + size)
        block = rows.take(part)
        plain = block.to_dense()
        image = plain @ matrix.T if in_place else (plain[:, None, :] @ matrix.T)[:, 0]
        norms[part] = np.sqrt(np.einsum("ij,ij->i", image, image)) * grown + slack * block.norms
    return norms
