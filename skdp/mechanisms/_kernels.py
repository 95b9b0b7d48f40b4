"""Arithmetic that engines of rows share: row by row, or in pieces whose rounding is bounded (docs/proofs/sums.md).

Assign each record to one of several public cells.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "AT_ONCE",
    "PIECE",
    "PIECES",
    "ROUNDINGS",
    "UNIT",
    "add",
    "cells_of",
    "in_pieces",
    "pairwise_total",
    "row_dots",
    "row_norms",
]


Array = np.ndarray[Any, Any]

UNIT = 2.0**-53
PIECE = 256  # rows in one product
PIECES = 128  # of them in one part
ROUNDINGS = PIECE + PIECES + 64  # units that a sum may be off; 64 for all that is not the sum
AT_ONCE = PIECE + PIECES  # rows up to which one product is as good
NARROW = 32  # columns up to which numpy's own loop over a row is quicker than a call of BLAS


def add(total: Array, lost: Array, part: Array) -> None:
    """Add a part to a running total in place, and what rounding took from it to `lost` (TwoSum, Knuth 1969)."""
    before = total.copy()
    total += part
    came = total - before
    lost += (before - (total - came)) + (part - came)


def in_pieces(rows: Array, weights: Array) -> Array:
    """Rows transposed times weights: products over PIECE rows, summed."""
    whole = len(rows) // PIECE * PIECE
    if len(rows) <= AT_ONCE:
        return np.asarray(rows.T @ weights)
    stacked = rows[:whole].reshape(-1, PIECE, rows.shape[1])
    if weights.ndim == 1:
        total = np.add.reduce(weights[:whole].reshape(-1, 1, PIECE) @ stacked, axis=0)[0]
    else:
        across = weights[:whole].reshape(-1, PIECE, weights.shape[1]).transpose(0, 2, 1)
        total = np.add.reduce(across @ stacked, axis=0).T
    if whole < len(rows):
        total = total + rows[whole:].T @ weights[whole:]
    return np.asarray(total)


def pairwise_total(u: Array) -> Array:
    """Sum over records, pairwise: numpy adds so along a contiguous axis."""
    if u.ndim == 1:
        return np.asarray(np.add.reduce(u, dtype=np.float64))
    across = np.ascontiguousarray(u.T, dtype=np.float64)
    return np.asarray(np.add.reduce(across, axis=-1))


def _quick_dot() -> bool:
    """Return whether BLAS gives a row the same bits wherever it lies in memory, called row by row: OpenBLAS does."""
    if not hasattr(np, "vecdot"):
        return False
    known: Any = np.show_config(mode="dicts")
    return "openblas" in str(known["Build Dependencies"]["blas"]["name"])


_QUICK_DOT = _quick_dot()


def row_dots(x: Array, w: Array) -> Array:
    """Each row times w, by arithmetic that is the same for every row."""
    if _QUICK_DOT and x.shape[1] > NARROW:
        if w.ndim == 1:
            return np.asarray(np.vecdot(x, w))
        return np.asarray(np.vecdot(x[:, None, :], np.ascontiguousarray(w.T)))
    if w.ndim == 1:
        return np.asarray(np.einsum("ij,j->i", x, w))
    columns = [np.einsum("ij,j->i", x, np.ascontiguousarray(w[:, k])) for k in range(w.shape[1])]
    return np.stack(columns, axis=1) if columns else np.empty((len(x), 0), dtype=x.dtype)


def row_norms(block: Array) -> Array:
    """Upper bounds of norms that neither overflow nor underflow: rows are divided by their largest entry first."""
    block = block.astype(np.float64, copy=False)
    top = np.abs(block).max(axis=1, initial=0.0)
    safe = np.where(top > 0, top, 1.0)
    scaled = block / safe[:, None]
    # The root of d squares, each rounded, is off by d/2 + 4 units.
    slack = 1.0 + (block.shape[1] + 16.0) * UNIT
    with np.errstate(over="ignore"):  # Records.admit refuses what is too large
        return safe * np.sqrt(np.einsum("ij,ij->i", scaled, scaled)) * (slack * (top > 0))


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
