"""A row whose image is beyond the bound, at a clipped slope, and the same row with the other label."""

from dataclasses import replace

import numpy as np
from laws.vaults import vault

from skdp.losses import LOSSES, Logistic, Multinomial
from skdp.mechanisms import Coordinates, Gradient, Mapped, Noise

QUESTION = Mapped(
    question=Gradient(at=np.zeros(2), loss=Logistic(), clip=0.1, multiplier=1.0),
    coordinates=Coordinates(np.array([[5.0, 1.0, 0.5], [-2.0, 1.0, 0.0]])),
    scale=1.5,
)


def distance(question, records, neighbour):
    """How far the exact answers lie apart."""
    exact = replace(question, question=replace(question.question, multiplier=0.0))
    one, other = (exact.answer(vault, Noise(0)) for vault in (records, neighbour))
    return float(np.linalg.norm(one - other))


def worst_pair(relation):
    """(question, records, neighbour's records, claimed sensitivity)."""
    common, row = [[0.2, -0.1]], [0.8, 0.6]
    records = vault([*common, row], [1, 1], relation)
    if relation == "replace_one":
        neighbour = vault([*common, row], [1, -1], relation)
    else:
        neighbour = vault(common, [1], relation)
    seen = QUESTION.coordinates.seen(records.public)
    return QUESTION, records, neighbour, QUESTION.question.sensitivity(seen)


def questions(public, rng):
    """Maps of every kind that the law is to hold for: short and long images, ill-conditioned and rank-deficient."""
    size, clip = 10.0 ** rng.uniform(-2, 3), 10.0 ** rng.uniform(-3, 2)
    for loss in [loss() for loss in LOSSES.values() if loss is not Multinomial]:
        k = int(rng.integers(1, public.width + 2))
        matrix = rng.normal(size=(k, public.width)) * 10.0 ** rng.uniform(-4, 4, (k, 1))
        at = rng.normal(size=k) * size
        yield Mapped(
            question=Gradient(at=at, loss=loss, clip=clip, multiplier=1.0),
            coordinates=Coordinates(matrix),
            scale=10.0 ** rng.uniform(-3, 3),
            whole=float(rng.choice([0.0, 0.3, 1.0])),
        )
