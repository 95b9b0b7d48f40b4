"""Slopes that stay at their cap on both sides: the minimiser is the capped gradient over the convexity."""

import numpy as np
from laws.vaults import vault

from skdp.losses import Logistic
from skdp.mechanisms import NoisyMinimiser, Silence
from skdp.penalties import NoPenalty, ScaledPenalty

QUESTION = NoisyMinimiser(
    loss=Logistic(),
    penalty=ScaledPenalty(NoPenalty(), 1.0, False),
    shape=(2,),
    multiplier=1.0,
    strength=0.01,
    clip=0.01,
)


def distance(question, records, neighbour):
    """How far the minimiser moves; silence adds no noise to it."""
    moved = question.answer(records, Silence()) - question.answer(neighbour, Silence())
    return float(np.linalg.norm(moved))


def pair(relation):
    """Rows of zeros beside one at the bound, with either label or gone."""
    common, labels, row = [[0.0, 0.0], [0.0, 0.0]], [1, -1], [6.0, -8.0]
    given = {"neighbors": relation, "data_norm": 10.0, "intercept": 0.0}
    records = vault([*common, row], [*labels, 1], **given)
    if relation == "replace_one":
        return records, vault([*common, row], [*labels, -1], **given)
    return records, vault(common, labels, **given)


def worst_pair(relation):
    """(question, records, neighbour's records, claimed sensitivity)."""
    records, neighbour = pair(relation)
    return QUESTION, records, neighbour, QUESTION.sensitivity(records.public)
