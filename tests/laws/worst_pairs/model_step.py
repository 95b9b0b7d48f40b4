"""Without a penalty z moves as far as x; under one that holds z still, y moves by rho times as much."""

import numpy as np
from laws.vaults import vault

from skdp.losses import LOSSES, Logistic, Multinomial
from skdp.mechanisms import ModelStep
from skdp.penalties import L1, L2, L2Ball, NoPenalty, ScaledPenalty


def _step(**given):
    constants = {"loss": Logistic(), "rho": 0.5, "inverse": 0.1, "n": 3.0, "clip": 0.3}
    iterates = {
        "x": np.zeros(3),
        "z": np.zeros(3),
        "y": np.zeros(3),
        "penalty": ScaledPenalty(NoPenalty()),
    }
    return ModelStep(multiplier=1.0, **(constants | iterates | given))


QUESTION = _step()


def worst_pair(relation):
    """(question, records, neighbour's records, claimed sensitivity)."""
    common, row = [[0.2, -0.1], [0.0, 0.5]], [0.6, -0.8]
    records = vault([*common, row], [1, -1, 1], relation)
    if relation == "replace_one":
        neighbour = vault([*common, row], [1, -1, -1], relation)
    else:
        neighbour = vault(common, [1, -1], relation)
    return QUESTION, records, neighbour, QUESTION.sensitivity(records.public)


def questions(public, rng):
    """Questions of every kind that the law is to hold for."""
    size, clip = 10.0 ** rng.uniform(-2, 3), 10.0 ** rng.uniform(-3, 2)
    losses = [loss() for loss in LOSSES.values() if loss is not Multinomial]
    for penalty in (NoPenalty(), L1(size), L2(size), L2Ball(1.0)):
        x, z, y = rng.normal(size=(3, public.width)) * size
        placed = ScaledPenalty(penalty, intercept=public.intercept > 0)
        loss = losses[rng.integers(len(losses))]
        given = {"x": x, "z": z, "y": y, "loss": loss, "clip": clip, "penalty": placed}
        yield _step(rho=10.0 ** rng.uniform(-2, 2), **given)
