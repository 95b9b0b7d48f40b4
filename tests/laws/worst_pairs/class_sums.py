"""A row and its opposite, in one class; one that comes."""

from laws.vaults import vault

from skdp.mechanisms import ClassSums

QUESTION = ClassSums(classes=3, squares=0.4, counts=0.9, multiplier=1.0)


def worst_pair(relation):
    """(question, records, neighbour's records, claimed sensitivity)."""
    if relation == "replace_one":  # without a constant column, which no replacement turns
        both = [vault([[0.0, 0.3], x], [1, 1], relation, intercept=0.0) for x in ([1, 0], [-1, 0])]
    else:
        both = [
            vault([[0.0, 0.3], [1, 0]][:n], [1, -1][:n], relation, intercept=0.0) for n in (2, 1)
        ]
    return QUESTION, *both, QUESTION.sensitivity(both[0].public)


def questions(public, rng):
    """Weights that are free and weights that are not, caps that cut and caps that do not."""
    for cap in (1.0, 0.5, 1e-3, 30.0):
        for squares in (0.0, 0.5, 1.6, 20.0):
            given = {"counts": float(rng.choice([0.0, 0.7, 3.0])), "squares": squares, "cap": cap}
            yield ClassSums(classes=int(rng.integers(2, 5)), multiplier=1.0, **given)
