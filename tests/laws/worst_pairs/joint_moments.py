"""Two rows at the bound, at the angle of which half of the squared norm is left, and targets at the bound."""

import math

from laws.vaults import vault

from skdp.mechanisms import JointMoments

QUESTION = JointMoments(multiplier=1.0)
LENGTH = 0.25**2  # that the constant column adds to every product of two rows


def worst_pair(relation):
    """(question, records, neighbour's records, claimed sensitivity)."""
    common, cosine = [[0.3, -0.1], [0.0, 0.5]], -0.5 * (1.0 + LENGTH) - LENGTH
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
