"""One record more."""

from laws.vaults import vault

from skdp.mechanisms import Count


def worst_pair(relation):
    """(question, records, neighbour's records, claimed sensitivity); refused where n is public."""
    question = Count(multiplier=1.0)
    records = vault([[0.1], [0.2]], [1, -1], relation)
    neighbour = vault([[0.1]], [1], relation)
    return question, records, neighbour, question.sensitivity(records.public)


def questions(public, rng):
    """The one question there is."""
    yield Count(multiplier=1.0)
