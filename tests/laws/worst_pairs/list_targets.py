"""The two documents that are furthest apart: labels put all weight on the one or on the other."""

from laws.listed import labelled

from skdp.mechanisms import ListTargets, Public

QUESTION = ListTargets(multiplier=1.0)
DOCUMENTS = [[0.1, 0.2], [0.3, 0.4], [0.0, -0.9], [0.6, 0.8], [-0.6, -0.8], [0.0, 0.1]]


def worst_pair(relation):
    """(question, records, neighbour's records, claimed sensitivity)."""
    both = [labelled(DOCUMENTS, [2, 4], [0, 2, *y]) for y in ([0, 1, 0, 0], [0, 0, 1, 0])]
    if relation == "add_remove":
        QUESTION.event(Public(None, 2, 0.0, relation))  # refused
    return QUESTION, *both, QUESTION.sensitivity(both[0].public)


def questions(public, rng):
    """The one question there is."""
    yield QUESTION
