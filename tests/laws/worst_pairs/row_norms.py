"""A row whose image is beyond the cap, beside one without an image."""

import numpy as np
from laws.vaults import vault

from skdp.mechanisms import Coordinates, RowNorms

QUESTION = RowNorms(
    coordinates=Coordinates(np.array([[5.0, 0.0, 0.0], [0.0, 1.0, 0.0]])), cap=2.0, multiplier=1.0
)


def worst_pair(relation):
    """(question, records, neighbour's records, claimed sensitivity)."""
    common = [[0.0, 0.3]]
    records = vault([*common, [1.0, 0.0]], [1, -1], relation)
    if relation == "replace_one":
        neighbour = vault([*common, [0.0, 0.0]], [1, -1], relation)
    else:
        neighbour = vault(common, [1], relation)
    return QUESTION, records, neighbour, QUESTION.sensitivity(records.public)


def questions(public, rng):
    """Maps of every kind that the law is to hold for, ill-conditioned ones too."""
    for k in (1, public.width, 5):
        matrix = rng.normal(size=(k, public.width)) * 10.0 ** rng.uniform(-4, 4, (k, 1))
        cap = 10.0 ** rng.uniform(-3, 3)
        yield RowNorms(coordinates=Coordinates(matrix), cap=cap, multiplier=1.0)
