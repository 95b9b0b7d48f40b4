"""A row at the bound, and one orthogonal to it once the constant column is counted."""

import math

from laws.vaults import vault

from skdp.mechanisms import SecondMoment

QUESTION = SecondMoment(multiplier=1.0)


def worst_pair(relation):
    """(question, records, neighbour's records, claimed sensitivity)."""
    common, cosine = [[0.3, -0.1], [0.0, 0.5]], -(0.25**2)
    opposite = [cosine, math.sqrt(1.0 - cosine**2)]
    records = vault([*common, [1.0, 0.0]], [1, -1, 1], relation)
    if relation == "replace_one":
        neighbour = vault([*common, opposite], [1, -1, 1], relation)
    else:
        neighbour = vault(common, [1, -1], relation)
    return QUESTION, records, neighbour, QUESTION.sensitivity(records.public)


def questions(public, rng):
    """The one question there is."""
    yield QUESTION
