"""Starting point of a search: near the minimiser for some of the records, or for a loss with blunter corners.

A search ends by its certificate, which is asked of all records, from wherever it began (docs/proofs/sums.md): nothing
here carries a promise. It takes fewer rounds from here than from zero.
"""

from __future__ import annotations

import numpy as np

from ._directions import LEAST, PER_COLUMN
from ._limits import Limits, norm
from ._narrowing import has_corners, narrowed
from ._objective import DENSE_WIDTH, FEW_COLUMNS, Array, Objective

__all__ = ["beginning", "some_of"]

ROUNDS = 12
NEAR = 1e-3  # of the first gradient: what is left is less than what some records know of all
FEWEST = 8  # times the records that are enough: with fewer a round on all is cheap
PASSES = (1.0, 0.5, 0.25, 0.125)  # parts of a step that are tried


def beginning(objective: Objective, limits: Limits) -> Array:
    """A point within the reach of minimisers: zero, where some of the records would save nothing."""
    w = np.zeros_like(objective.linear)
    if has_corners(objective):
        near = narrowed(objective)
        return near if norm(near) <= limits.furthest() else w
    some = max(PER_COLUMN * objective.rows.width, LEAST)
    one_score = w.ndim == 1 and FEW_COLUMNS < len(w) <= DENSE_WIDTH
    if not one_score or len(objective.rows) < FEWEST * some:
        return w
    near = _descended(some_of(objective, some), w)
    return near if norm(near) <= limits.furthest() else w


def some_of(objective: Objective, some: int) -> Objective:
    """The objective of records at equal distances, about so many: each counts as those beside it do together."""
    n = len(objective.rows)
    index = np.arange(0, n, n // some)
    part = len(index) / n
    return Objective(
        objective.rows.take(index),
        objective.y.take(index),
        objective.loss,
        objective.strength * part,
        objective.linear * part,
        objective.clip,
        None if objective.share is None else objective.share.take(index),
    )


def _descended(objective: Objective, w: Array) -> Array:
    """A few Newton steps, as long as the gradient shrinks."""
    z = objective.rows.dot(w)
    g = objective.gradient(w, objective.slopes(z))
    enough = NEAR * norm(g)
    for _ in range(ROUNDS):
        if not norm(g) > enough:
            break
        p = objective.direction(w, z, g, 0.1)
        q, before = objective.rows.dot(p), norm(g)
        for t in PASSES:
            ahead = objective.gradient(w - t * p, objective.slopes(z - t * q))
            if norm(ahead) < before:
                w, z, g = w - t * p, z - t * q, ahead
                break
        else:
            break
    return w
