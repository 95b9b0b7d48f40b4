"""A record at the bound whose loss one step lowers, and another raises, by more than is counted."""

import numpy as np
from laws.vaults import vault

from skdp.losses import LOSSES, Logistic, Multinomial
from skdp.mechanisms import FirstDecrease, GaussianFirstDecrease

STEPS = {
    "at": np.zeros(2),
    "candidates": np.array([[5.0, 0.0], [2.5, 0.0]]),
    "demands": np.array([1.0, 0.2]),
    "bounds": np.array([0.5, 0.3]),
    "loss": Logistic(),
}
QUESTION = FirstDecrease(**STEPS, threshold_epsilon=1.0, query_epsilon=1.0)


def distance(question, records, neighbour):
    """Largest move of a query, in what it is claimed to move."""
    before, after = (np.array(list(question.measure(side))) for side in (records, neighbour))
    return float((np.abs(before - after) / question.sensitivity(records.public)).max())


def worst_pair(relation):
    """(question, records, neighbour's records, what queries are scaled to)."""
    common, labels = [[0.3], [-0.2]], [1, -1]
    records = vault([*common, [2.0]], [*labels, 1], relation, data_norm=2.0)
    if relation == "replace_one":
        neighbour = vault([*common, [2.0]], [*labels, -1], relation, data_norm=2.0)
    else:
        neighbour = vault(common, labels, relation, data_norm=2.0)
    return QUESTION, records, neighbour, 1.0


def questions(public, rng):
    """Questions of every kind that the law is to hold for."""
    size = 10.0 ** rng.uniform(-2, 3)
    losses = [loss() for loss in LOSSES.values() if loss is not Multinomial]
    for loss in losses:
        given = {
            "at": rng.normal(size=public.width) * size,
            "candidates": rng.normal(size=(4, public.width)) * size,
            "demands": rng.normal(size=4),
            "bounds": 10.0 ** rng.uniform(-3, 2, size=4),
            "loss": loss,
        }
        yield FirstDecrease(**given, threshold_epsilon=1.0, query_epsilon=1.0)
        yield GaussianFirstDecrease(**given, threshold_multiplier=1.0, query_multiplier=1.0)
