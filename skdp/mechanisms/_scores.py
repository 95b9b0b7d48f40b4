"""Scores and slopes of records at parameters that a solver chose, refused unless each record has its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..losses import Loss
from ..models import Model
from ._kernels import UNIT
from ._records import Records
from ._rows import Array
from ._shrunk import slopes_at, values_at

__all__ = ["cap", "losses_at", "pass_forward"]


def losses_at(w: Array, records: Records, loss: Loss) -> Array:
    """Loss of each record at w, in double precision."""
    scores, _ = _forward(records.model, w, records.rows, loss)
    return values_at(loss, _left(records), scores, records.y)


def _forward(model: Model, w: Array, rows: Any, loss: Loss) -> tuple[Array, Any]:
    """Scores of shape (n,) or (n, loss.outputs), and the tape.

    With another shape the loss would broadcast targets across records: every record's slope would then depend on
    every label, and clipping records one by one would bound nothing.
    """
    scores, tape = model.forward(w, rows)
    wanted = () if loss.outputs == 1 else (loss.outputs,)
    if scores.shape[1:] != wanted:
        raise ValueError(
            f"{type(loss).__name__} needs {loss.outputs} score(s) per record, but parameters of shape {w.shape} "
            f"give {scores.shape[1:]}; use parameters of shape (width,) or (width, outputs)."
        )
    return scores, tape


def pass_forward(w: Array, records: Records, loss: Loss) -> tuple[Array, Any]:
    """Slopes in double precision, a fresh array, and the model's tape.

    Scores and the loss may be in single precision, sums are not.
    """
    scores, tape = _forward(records.model, w, records.rows, loss)
    return slopes_at(loss, _left(records), scores, records.y), tape


def _left(records: Records) -> Array | None:
    """Return the factors by which rows were scaled down, where scores are those of the whole rows."""
    left: Array | None = records.rows.shrink if records.model.of_whole_rows else None
    return left


def cap(norms: Array, bound: float, outputs: int = 1) -> Array:
    """Weights that bring contributions of these norms within the bound, also as computed; `norms` is overwritten.

    Seven roundings lie between a slope and its contribution, and the norm of K slopes is off by K/2 + 1; norms of rows
    are upper bounds as they stand. A norm that is not finite gives no weight above 0.
    """
    np.maximum(norms, bound, out=norms)
    np.divide(bound * (1.0 - (24.0 + outputs) * UNIT), norms, out=norms)
    return norms
