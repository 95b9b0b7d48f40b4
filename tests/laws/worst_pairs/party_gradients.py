"""A record at the bound whose slope is clipped, and the same row with the other label, in the same party."""

import numpy as np
from laws.vaults import vault

from skdp.losses import LOSSES, Logistic, Multinomial
from skdp.mechanisms import PartyGradients

QUESTION = PartyGradients(at=np.zeros((2, 3)), loss=Logistic(), clip=0.3, multiplier=1.0)


def worst_pair(relation):
    """(question, records, neighbour's records, claimed sensitivity); refused where positions move."""
    rows = [[0.2, -0.1], [0.0, 0.5], [0.6, -0.8]]
    records = vault(rows, [1, -1, 1], relation)
    claim = QUESTION.sensitivity(records.public)
    return QUESTION, records, vault(rows, [1, -1, -1], relation), claim


def questions(public, rng):
    """Questions of every kind that the law is to hold for."""
    size, clip = 10.0 ** rng.uniform(-2, 3), 10.0 ** rng.uniform(-3, 2)
    for loss in [loss() for loss in LOSSES.values() if loss is not Multinomial]:
        at = rng.normal(size=(rng.integers(1, 4), public.width)) * size
        yield PartyGradients(at=at, loss=loss, clip=clip, multiplier=1.0)
