"""Bound the norms of rows in other coordinates, for any engine."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.blas import dtrmm

from ._kernels import PIECE, UNIT

__all__ = ["image_norms"]

Array = np.ndarray[Any, Any]

AT_ONCE = 3 << 17  # numbers of a block of rows: they stay near a core
FACTORED = 8  # rows for each of the matrix's from which a triangle of it saves more than it costs


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
    factor = None
    if in_place and len(rows) >= FACTORED * len(matrix) and matrix.shape[0] == matrix.shape[1] > 1:
        factor, lost, longer = triangle(matrix)
        slack, grown = slack + lost, grown * longer
    size = max(PIECE, AT_ONCE // max(rows.width, 1))
    for start in range(0, len(rows), size):
        part = slice(start, start + size)
        block = rows.take(part)
        plain = block.to_dense()
        if factor is not None:  # half of the work
            image = dtrmm(1.0, factor, plain.T, overwrite_b=True).T
        elif in_place:
            image = plain @ matrix.T
        else:
            image = (plain[:, None, :] @ matrix.T)[:, 0]
        norms[part] = np.sqrt(np.einsum("ij,ij->i", image, image)) * grown + slack * block.norms
    return norms


def triangle(matrix: Array) -> tuple[Array | None, float, float]:
    """R with ``|A x| <= grown |R x| + slack |x|`` for all x, and the two numbers; None where no triangle is that near.

    With Q as computed beside R: A x = Q R x + (A - Q R) x, and Q is no longer than the root of 1 + |Q'Q - I|. Both
    remainders are measured, with the rounding of that measure on top (docs/proofs/mapped.md).
    """
    k = len(matrix)
    q, r = np.linalg.qr(matrix)
    size = float(np.linalg.norm(matrix) + np.linalg.norm(q) * np.linalg.norm(r))
    slack = float(np.linalg.norm(matrix - q @ r)) + (k + 4.0) * UNIT * size
    stretch = float(np.linalg.norm(q.T @ q - np.eye(k))) + (k + 4.0) * UNIT * (
        k + float(np.linalg.norm(q)) ** 2
    )
    if not (slack + stretch < np.inf and stretch < 1e-6):
        return None, 0.0, 1.0
    return np.asfortranarray(r), (1.0 + 1e-6) * slack, 1.0 + stretch
