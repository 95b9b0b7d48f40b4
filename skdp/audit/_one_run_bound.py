"""Bound on right guesses of independent coins that went through a private mechanism.

m coins S are tossed; coin i decides which of two neighbouring forms record i takes. A guesser sees the release, guesses
r of the coins and abstains from the others. p_c is the probability that c guesses are right. Take one coin: the event
"it was guessed, rightly, and c guesses are right" turns, where that coin alone is turned, into "it was guessed,
wrongly, and c - 1 are right". Summed over coins, and averaged over tosses, for every set T of counts

    sum over T of c p_c / m  <=  g( sum over T of (r - c + 1) p_(c-1) / m ),                                      (*)

g(x) the largest probability that privacy allows an event whose probability on a neighbour is x; g is concave, so
averages may go inside. This is the argument of Mahloujifar, Melis and Chaudhuri, *Auditing f-differential privacy in
one run* (2024), and sharpens Steinke, Nasr and Jagielski, *Privacy auditing with one (1) training run* (NeurIPS 2023).
Both functions below bound sum of p_c, c >= correct, from (*) alone; docs/audit.md has the proofs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from ._pairs import Array

__all__ = ["likeliest", "likeliest_at", "unlikely"]

ROUNDING = 1e-9  # relative: far above what logarithms of factorials lose
GRID = 64


def likeliest(
    correct: int, guesses: int, canaries: int, epsilons: ArrayLike, deltas: ArrayLike
) -> float:
    """Largest probability of so many right guesses under a privacy profile.

    Parameters
    ----------
    correct, guesses, canaries : int
        How many guesses were right, made, and possible; the number of guesses must not depend on the coins.
    epsilons, deltas : array-like
        Points of the profile: the mechanism is (epsilon, delta)-private at each of them.

    Returns
    -------
    float
        Bound on the probability, over coins and mechanism; 1 where nothing can be said.

    See Also
    --------
    audit_one_run : What it judges.

    Examples
    --------
    >>> from skdp.audit import likeliest
    >>> round(likeliest(3, 3, 3, [0.0], [0.0]), 6)  # three coins that nothing tells of
    0.125
    """
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        if unlikely(middle, correct, guesses, canaries, epsilons, deltas):
            high = middle
        else:
            low = middle
    return high


def unlikely(
    tail: float, correct: int, guesses: int, canaries: int, epsilons: ArrayLike, deltas: ArrayLike
) -> bool:
    """Return True if so many right guesses have a probability of at most `tail`, by either of two arguments."""
    epsilons, deltas = np.atleast_1d(epsilons).astype(float), np.atleast_1d(deltas).astype(float)
    if len(epsilons) > 1 and not _possible(tail, correct, guesses, canaries, epsilons, deltas):
        return True
    return any(
        likeliest_at(correct, guesses, canaries, e, d) <= tail for e, d in zip(epsilons, deltas)
    )


def likeliest_at(correct: int, guesses: int, canaries: int, epsilon: float, delta: float) -> float:
    """Return the largest probability for one (epsilon, delta): exact, a mechanism and a guesser that reach it exist.

    With b_c = binomial(r, c) exp(epsilon c), B_c the sum of b from c on, and F = B_correct / B_0, every u from F to 1
    gives a bound: linear programming duality, for (*) over all T and g(x) = exp(epsilon) x + delta.
    """
    counts = np.arange(guesses + 1)
    logs = gammaln(guesses + 1) - gammaln(counts + 1) - gammaln(guesses - counts + 1)
    logs = logs + epsilon * counts
    tails = np.logaddexp.accumulate(logs[::-1])[::-1]
    fair = float(np.exp(tails[correct] - tails[0]))
    if delta == 0.0 or correct == 0:
        return min(fair * (1.0 + ROUNDING), 1.0)
    multipliers = np.append(np.geomspace(max(fair, 1e-9), 1.0, GRID), fair)[:, None]
    c = counts[1:]
    # What a unit of delta, spent at c, adds to the tail beyond what the multiplier has counted already.
    beyond = np.exp(tails[np.maximum(c, correct)] - tails[c]) - multipliers
    weight = np.exp(np.minimum(tails[c] - logs[c], 700.0)) / c
    gained = np.where(beyond > 0.0, beyond * weight, 0.0).max(axis=1)
    bound = float((multipliers[:, 0] + canaries * delta * gained).min())
    return min(bound * (1.0 + ROUNDING), 1.0)


def _possible(
    tail: float, correct: int, guesses: int, canaries: int, epsilons: Array, deltas: Array
) -> bool:
    """Return True if `correct` or more right guesses may have this probability, by (*) for T = {c, c + 1, ...}.

    reach is the least probability of c or more, above the sum of those of c + 1, c + 2, ... or more: both only grow
    with what they start from, so if they pass 1 the tail is impossible.
    """
    reach, above = tail / (1.0 + ROUNDING), 0.0
    growth, shrink = np.exp(np.minimum(epsilons, 700.0)), np.exp(-epsilons)
    for c in range(correct, 0, -1):
        power = (c * reach + above) / canaries
        alarms = max(
            0.0,
            float((shrink * (power - deltas)).max()),
            float((1.0 - deltas - growth * (1.0 - power)).max()),
        )
        needed = (canaries * alarms + reach + above) / (guesses - c + 1)
        above += reach
        reach = max(reach, needed)
        if reach > 1.0:
            return False
    return True
