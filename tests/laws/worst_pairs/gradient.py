"""A record at the bound whose slope is clipped, and the same row with the other label."""

import numpy as np
from laws.vaults import vault

from skdp.losses import LOSSES, Logistic, Multinomial
from skdp.mechanisms import Gradient

QUESTION = Gradient(at=np.zeros(3), loss=Logistic(), clip=0.3, multiplier=1.0)


def worst_pair(relation):
    """(question, records, neighbour's records, claimed sensitivity)."""
    common, row = [[0.2, -0.1], [0.0, 0.5]], [6.0, -8.0]
    given = {"neighbors": relation, "data_norm": 10.0}
    records = vault([*common, row], [1, -1, 1], **given)
    if relation == "replace_one":
        neighbour = vault([*common, row], [1, -1, -1], **given)
    else:
        neighbour = vault(common, [1, -1], **given)
    return QUESTION, records, neighbour, QUESTION.sensitivity(records.public)


def questions(public, rng):
    """Questions of every kind that the law is to hold for."""
    size, clip = 10.0 ** rng.uniform(-2, 3), 10.0 ** rng.uniform(-3, 2)
    losses = [loss() for loss in LOSSES.values() if loss is not Multinomial]
    for loss in losses:
        at = rng.normal(size=public.width) * size
        yield Gradient(at=at, loss=loss, clip=clip, multiplier=1.0)
