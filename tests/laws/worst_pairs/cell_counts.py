"""A record that leaves its cell for another."""

from laws.vaults import vault

from skdp.mechanisms import CellCounts

QUESTION = CellCounts(cells=2, multiplier=1.0)


def worst_pair(relation):
    """(question, records, neighbour's records, claimed sensitivity)."""
    records = vault([[0.1], [0.2]], [1, -1], relation)
    if relation == "replace_one":
        neighbour = vault([[0.1], [0.2]], [1, 1], relation)
    else:
        neighbour = vault([[0.1]], [1], relation)
    return QUESTION, records, neighbour, QUESTION.sensitivity(records.public)


def questions(public, rng):
    """Few cells and many."""
    for cells in (1, 2, 7):
        yield CellCounts(cells=cells, multiplier=1.0)
