"""A record that loses all under one model and nothing under the other, and the other way round."""

from laws.vaults import vault

from skdp.mechanisms import BestColumn

QUESTION = BestColumn(unit=2.0, epsilon=1.0)


def worst_pair(relation):
    """(question, records, neighbour's records, claimed spread)."""
    rows = [[0.1, 0.2], [0.5, 0.0]]
    neighbour = [rows[0], [0.0, 0.5]] if relation == "replace_one" else rows[:1]
    both = [vault(X, [1, -1][: len(X)], relation, data_norm=1.0) for X in (rows, neighbour)]
    return QUESTION, *both, QUESTION.spread(both[0].public)


def questions(public, rng):
    """At several units, among them one at which every entry is cut."""
    for unit in (1.0, rng.uniform(0.1, 3.0), 1e30, 1e-30):
        yield BestColumn(unit=unit, epsilon=1.0)
