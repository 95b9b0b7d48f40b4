"""A record that leaves its octave in every column."""

from laws.vaults import vault

from skdp.mechanisms import ColumnCounts

QUESTION = ColumnCounts(multiplier=1.0, scale=1.5)


def worst_pair(relation):
    """(question, records, neighbour's records, claimed sensitivity)."""
    rows = [[0.1, -0.2, 0.3], [0.5, 0.4, -0.6]]
    neighbour = [rows[0], [-0.5, 0.1, 0.2]] if relation == "replace_one" else rows[:1]
    both = [vault(X, [1, -1][: len(X)], relation) for X in (rows, neighbour)]
    return QUESTION, *both, QUESTION.sensitivity(both[0].public)


def questions(public, rng):
    """At several scales, among them one at which every entry is cut."""
    for scale in (1.0, rng.uniform(0.1, 3.0), 1e30, 1e-30):
        yield ColumnCounts(multiplier=1.0, scale=scale)
