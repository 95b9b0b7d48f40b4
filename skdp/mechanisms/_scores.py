"""Scores of records at parameters that a solver chose: refused unless each record has its own."""

from __future__ import annotations

from typing import Any

from ..losses import Loss
from ._rows import Array

__all__ = ["scores_of"]


def scores_of(model: Any, w: Array, rows: Any, loss: Loss) -> Array:
    """Scores of shape (n,) or (n, loss.outputs).

    With another shape the loss would broadcast targets across records: every record's slope would then depend on
    every label, and clipping records one by one would bound nothing.
    """
    # A loss with a corner must meet the same score wherever a record stands.
    scores: Array = model.scores(w, rows if loss.curvature is not None else rows.one_by_one())
    wanted = () if loss.outputs == 1 else (loss.outputs,)
    if scores.shape[1:] != wanted:
        raise ValueError(
            f"{type(loss).__name__} wants {loss.outputs} score(s) of a record and parameters of shape {w.shape} "
            f"give {scores.shape[1:]}; ask with parameters of shape (width,) or (width, outputs)."
        )
    return scores
