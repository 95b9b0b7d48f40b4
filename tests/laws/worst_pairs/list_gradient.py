"""Two opposite documents, of which the other one is judged the better: opposite gradients beyond the clip."""

import numpy as np
from laws.listed import listed

from skdp.losses import LIST_LOSSES, BayesRank, ListNet
from skdp.mechanisms import ListGradient

QUESTION = ListGradient(at=np.zeros(2), loss=ListNet(), clip=0.3, multiplier=1.0)
PAIR = np.array([[1.0, 0.0], [-1.0, 0.0]])
OTHER = np.array([[0.1, 0.2], [0.3, 0.4], [0.0, -0.9]]), np.array([0.0, 2.0, 1.0])


def worst_pair(relation):
    """(question, records, neighbour's records, claimed sensitivity)."""
    records = listed([OTHER, (PAIR, np.array([0.0, 1.0]))], relation, most=3)
    changed = [OTHER, (PAIR, np.array([1.0, 0.0]))][: 2 if relation == "replace_one" else 1]
    neighbour = listed(changed, relation, most=3)
    return QUESTION, records, neighbour, QUESTION.sensitivity(records.public)


def questions(public, rng):
    """All losses, at small and large parameters."""
    for loss in [*(loss() for loss in LIST_LOSSES.values()), BayesRank(kept=False)]:
        at = rng.normal(size=public.width) * 10.0 ** rng.integers(-2, 7)
        yield ListGradient(at=at, loss=loss, clip=10.0 ** rng.integers(-6, 3), multiplier=1.0)
