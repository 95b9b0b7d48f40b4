"""Two opposite candidates far apart, and a record at the bound with either label."""

import numpy as np
from laws.vaults import vault

from skdp.losses import LOSSES, Logistic, Multinomial
from skdp.mechanisms import BestCandidate

QUESTION = BestCandidate(
    candidates=np.array([[5.0, 0.0], [-5.0, 0.0]]), loss=Logistic(), cap=0.4, epsilon=1.0
)


def worst_pair(relation):
    """(question, records, neighbour's records, claimed spread)."""
    common, labels = [[0.3], [-0.2]], [1, -1]
    records = vault([*common, [2.0]], [*labels, 1], relation, data_norm=2.0)
    if relation == "replace_one":
        neighbour = vault([*common, [2.0]], [*labels, -1], relation, data_norm=2.0)
    else:
        neighbour = vault(common, labels, relation, data_norm=2.0)
    return QUESTION, records, neighbour, QUESTION.spread(records.public)


def questions(public, rng):
    """Questions of every kind that the law is to hold for."""
    size, cap = 10.0 ** rng.uniform(-2, 3), 10.0 ** rng.uniform(-3, 2)
    losses = [loss() for loss in LOSSES.values() if loss is not Multinomial]
    for loss in losses:
        candidates = rng.normal(size=(4, public.width)) * size
        offsets = rng.normal(size=4)
        yield BestCandidate(candidates=candidates, offsets=offsets, loss=loss, cap=cap, epsilon=1.0)
