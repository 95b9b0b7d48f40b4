"""A record alone in the smallest batch, whose slope stays at its cap whatever came before."""

from laws.worst_pairs import noisy_minimiser

from skdp.losses import Logistic
from skdp.mechanisms import HiddenDescent, Schedule
from skdp.penalties import NoPenalty, ScaledPenalty

QUESTION = HiddenDescent(
    loss=Logistic(),
    penalty=ScaledPenalty(NoPenalty(), 1.0, False),
    shape=(2,),
    schedule=Schedule.harmonic(2.0, 6, (2, 1), period=3),
    convexity=0.0,
    multiplier=1.0,
    clip=0.01,
)

distance = noisy_minimiser.distance


def worst_pair(relation):
    """(question, records, neighbour's records, largest claimed distance); refused where batches shift."""
    records, neighbour = noisy_minimiser.pair(relation)
    return QUESTION, records, neighbour, float(QUESTION.reach(records.public).max())
