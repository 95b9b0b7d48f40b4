"""A row with one entry at its bound, and either label."""

import numpy as np
from laws.vaults import vault

from skdp.losses import LOSSES, Logistic, Multinomial
from skdp.mechanisms import SteepestCoordinate

QUESTION = SteepestCoordinate(at=np.zeros(3), loss=Logistic(), bound=0.4, epsilon=1.0)


def worst_pair(relation):
    """(question, records, neighbour's records, claimed spread)."""
    common, labels = [[0.3, 0.2], [-0.2, 0.1]], [1, -1]
    records = vault([*common, [2.0, 0.0]], [*labels, 1], relation, data_norm=2.0)
    if relation == "replace_one":
        neighbour = vault([*common, [2.0, 0.0]], [*labels, -1], relation, data_norm=2.0)
    else:
        neighbour = vault(common, labels, relation, data_norm=2.0)
    return QUESTION, records, neighbour, QUESTION.spread(records.public)


def questions(public, rng):
    """Questions of every kind that the law is to hold for."""
    size, bound = 10.0 ** rng.uniform(-2, 3), 10.0 ** rng.uniform(-3, 2)
    for loss in (loss() for loss in LOSSES.values() if loss is not Multinomial):
        at = rng.normal(size=public.width) * size
        yield SteepestCoordinate(at=at, loss=loss, bound=bound, epsilon=1.0)
