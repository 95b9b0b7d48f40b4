"""A record that passes all of the other class, which is as large as the question says."""

from laws.vaults import vault

from skdp.mechanisms import RankSum

QUESTION = RankSum(largest=4.0, multiplier=1.0)


def worst_pair(relation):
    """(question, records, neighbour's records, claimed sensitivity); refused where n is private."""
    common, y = [[0.0], [0.1], [-0.1], [0.0]], [0, 0, 0, 0, 1]
    records = vault([*common, [-0.9]], y, relation)
    neighbour = vault([*common, [0.9]], y, relation)
    return QUESTION, records, neighbour, QUESTION.sensitivity(records.public)


def questions(public, rng):
    """Classes said to be small, large, and anything between."""
    for largest in (1.0, 1e9, float(rng.uniform(1, 2 * (public.n or 1) + 1))):
        yield RankSum(largest=largest, multiplier=1.0)
