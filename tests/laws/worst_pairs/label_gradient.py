"""Two opposite documents: their vectors are opposite, and labels keep the one or the other."""

from dataclasses import replace

import numpy as np
from laws.listed import labelled, listed

from skdp.losses import BayesRank
from skdp.mechanisms import LabelGradient

QUESTION = LabelGradient(at=np.zeros(2), loss=BayesRank(), clip=0.3, paired=True, multiplier=1.0)
PAIR = [[1.0, 0.0], [-1.0, 0.0]]
OTHER = [[0.1, 0.2], [0.3, 0.4], [0.0, -0.9]]


def worst_pair(relation):
    """(question, records, neighbour's records, claimed sensitivity): labels alone, or a list more."""
    if relation == "replace_one":
        both = [labelled([*OTHER, *PAIR], [3, 2], [0, 2, 1, *last]) for last in ([0, 1], [1, 0])]
        return QUESTION, *both, QUESTION.sensitivity(both[0].public)
    lists = [(np.array(OTHER), np.array([0.0, 2.0, 1.0])), (np.array(PAIR), np.array([0.0, 1.0]))]
    both = [listed(lists[:n], relation, most=3) for n in (2, 1)]
    return QUESTION, *both, QUESTION.sensitivity(both[0].public)


def questions(public, rng):
    """At small and large parameters, by pairs and by norms."""
    for paired in (False, True):
        at = rng.normal(size=public.width) * 10.0 ** rng.integers(-2, 7)
        yield replace(QUESTION, at=at, clip=10.0 ** rng.integers(-6, 1), paired=paired)
