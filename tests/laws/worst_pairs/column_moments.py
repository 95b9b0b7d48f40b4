"""A record at all upper bounds, and one at all lower ones."""

import numpy as np
from laws.vaults import vault

from skdp.mechanisms import ColumnMoments
from skdp.mechanisms._octaves import places_of

BOUNDS = np.array([3.0, 40.0])
QUESTION = ColumnMoments(multiplier=1.0, low=-BOUNDS, high=BOUNDS)


def worst_pair(relation):
    """(question, records, neighbour's records, claimed sensitivity)."""
    rows = places_of(np.array([[0.5, -7.0], BOUNDS]))  # of norm below 1: places of moderate numbers
    other = places_of(np.array([[0.5, -7.0], -BOUNDS]))
    neighbour = other if relation == "replace_one" else rows[:1]
    both = [vault(X, [1, -1][: len(X)], relation) for X in (rows, neighbour)]
    return QUESTION, *both, QUESTION.sensitivity(both[0].public)


def questions(public, rng):
    """Bounds that are wide, close, equal, huge and tiny."""
    for size in (1.0, 1e-300, 1e308, 0.0):
        low = -size * rng.uniform(0.0, 1.0, public.n_features)
        high = size * rng.uniform(0.0, 1.0, public.n_features)
        for scale in (1.0, 1e30):
            yield ColumnMoments(multiplier=1.0, low=low, high=high, scale=scale)
