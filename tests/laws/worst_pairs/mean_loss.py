"""The least loss and the largest."""

from laws.vaults import vault

from skdp.mechanisms import MeanLoss

QUESTION = MeanLoss(multiplier=1.0)


def worst_pair(relation):
    """(question, records, neighbour's records, claimed sensitivity)."""
    records = vault([[0.1], [0.2]], [0.5, 1.0], relation)
    if relation == "replace_one":
        neighbour = vault([[0.1], [0.2]], [0.5, 0.0], relation)
    else:
        neighbour = vault([[0.1]], [0.5], relation)
    return QUESTION, records, neighbour, QUESTION.sensitivity(records.public)


def questions(public, rng):
    """The one question there is."""
    yield QUESTION
