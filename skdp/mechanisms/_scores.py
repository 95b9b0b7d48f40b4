"""Scores and slopes of records at parameters that a solver chose, refused unless each record has its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..losses import Loss
from ._kernels import UNIT
from ._records import Records
from ._rows import Array

__all__ = ["cap", "scores_of", "slopes_of"]


def scores_of(model: Any, w: Array, rows: Any, loss: Loss) -> Array:
    """Scores of shape (n,) or (n, loss.outputs).

    With another shape the loss would broadcast targets across records: every record's slope would then depend on
    every label, and clipping records one by one would bound nothing.
    """
    scores: Array = model.scores(w, rows)
    wanted = () if loss.outputs == 1 else (loss.outputs,)
    if scores.shape[1:] != wanted:
        raise ValueError(
            f"{type(loss).__name__} wants {loss.outputs} score(s) of a record and parameters of shape {w.shape} "
            f"give {scores.shape[1:]}; ask with parameters of shape (width,) or (width, outputs)."
        )
    return scores


def slopes_of(model: Any, w: Array, records: Records, loss: Loss) -> Array:
    """Slopes in double precision, a fresh array: scores and the loss may be in single precision, sums are not."""
    slopes = loss.dz(scores_of(model, w, records.rows, loss), records.y)
    return np.asarray(slopes, dtype=np.float64, order="C")


def cap(slopes: Array, norms: Array, bound: float) -> None:
    """Scale slopes in place so that contributions of these norms stay within the bound, also as computed.

    `norms` is overwritten. Seven roundings lie between a slope and its contribution, and the norm of K slopes is off by
    K/2 + 1; norms of rows are upper bounds as they stand.
    """
    outputs = 1 if slopes.ndim == 1 else slopes.shape[1]
    np.maximum(norms, bound, out=norms)
    np.divide(bound * (1.0 - (24.0 + outputs) * UNIT), norms, out=norms)
    slopes *= norms if slopes.ndim == 1 else norms[:, None]
