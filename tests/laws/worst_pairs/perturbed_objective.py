"""As for the minimiser; what moves is the gradient, read off from the minimiser times the convexity."""

from laws.worst_pairs import noisy_minimiser

from skdp.losses import Logistic
from skdp.mechanisms import PerturbedObjective
from skdp.penalties import NoPenalty, ScaledPenalty

QUESTION = PerturbedObjective(
    loss=Logistic(),
    penalty=ScaledPenalty(NoPenalty(), 1.0, False),
    shape=(2,),
    multiplier=1.0,
    strength=1.0,  # of ten times as many rows, rounding is ten times as large
    clip=0.01,
)


def distance(question, records, neighbour):
    """How far the tilt that belongs to one minimiser moves."""
    return question.strength * noisy_minimiser.distance(question, records, neighbour)


def worst_pair(relation):
    """(question, records, neighbour's records, claimed move of the gradient)."""
    records, neighbour = noisy_minimiser.pair(relation)
    claim = records.public.sensitivity_factor * QUESTION.bound(records.public)
    return QUESTION, records, neighbour, claim
