"""A lower bound on epsilon from ONE fit, in which many canaries were hidden by coins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, ndtr

from ..privacy import accountants
from ..privacy.receipt import Receipt
from ._attack import Canaries, LowerBound
from ._neighbours import Array, Data

__all__ = [
    "LARGEST",
    "OneRun",
    "audit_one_run",
    "claim",
    "gaussian_profile",
    "likeliest",
    "likeliest_at",
    "sampled_epsilons",
    "unlikely",
]


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


LARGEST = 64.0
POINTS = 48


def sampled_epsilons(around: float) -> Array:
    """Return the epsilons at which profiles are sampled: from 0 to well beyond the claim."""
    return np.linspace(0.0, min(2.0 * around + 4.0, 2.0 * LARGEST), POINTS)


@cache
def claim(epsilon: float, delta: float, curve: str) -> tuple[Array, Array]:
    """Points of the profile that the claim stands for."""
    if curve == "any":
        return np.array([epsilon]), np.array([delta])
    low, high = 0.0, 50.0  # of mu: the Gaussian's delta at epsilon grows with it
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if gaussian_profile(epsilon, middle) <= delta else (low, middle)
    epsilons = sampled_epsilons(epsilon)
    return epsilons, gaussian_profile(epsilons, high)


def gaussian_profile(epsilon: Any, mu: float) -> Any:
    """Profile of a Gaussian of noise 1 / mu over its sensitivity (Balle and Wang 2018)."""
    delta = ndtr(mu / 2 - epsilon / mu) - np.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)
    return np.maximum(delta, 0.0)


PARTS = (1, 2, 8, 32)  # guess the surest of so many canaries; the confidence is shared among them
CURVES = ("any", "gaussian")


@dataclass(frozen=True)
class OneRun(LowerBound):
    """Result of an audit with one fit: a lower bound on epsilon, and the tallies behind it.

    Parameters
    ----------
    epsilon, delta : float
        Lower bound on epsilon at this delta: any smaller claim is false, at the stated confidence.
    confidence : float
        Probability, over the coins and the one fit, with which the bound holds.
    neighbors : {"replace_one", "add_remove"}
        Neighbour relation of the claims that it tests.
    n_canaries : int
        Coins that were tossed.
    tallies : tuple of (int, int)
        (guesses, right ones), for each number of guesses that was tried; each has its share of 1 - confidence.
    curve : {"any", "gaussian"}
        Whether the bound holds for all (epsilon, delta)-private mechanisms, or for those whose whole profile is that of
        a Gaussian.

    See Also
    --------
    audit_one_run : Run the audit.

    Examples
    --------
    >>> from skdp.audit import OneRun
    >>> found = OneRun(0.8, 1e-5, 0.95, "replace_one", 1000, ((1000, 700),), "any")
    >>> found.refutes(0.5), found.refutes(1.0)
    (True, False)
    """

    neighbors: str
    n_canaries: int
    tallies: tuple[tuple[int, int], ...]
    curve: str

    def refutes_receipt(self, receipt: Receipt) -> bool:
        """Return True if the whole privacy profile of a receipt's script is refuted, at the same confidence.

        This is a stronger claim than its one epsilon, and easier to refute.

        Parameters
        ----------
        receipt : Receipt
            ``model.privacy_``, or what ``model.quote`` returns.

        Returns
        -------
        bool
            True where more was given away than the script allows.
        """
        if receipt.neighbors != self.neighbors:
            raise ValueError(
                f"the canaries test neighbors={self.neighbors!r}, but the receipt states {receipt.neighbors!r}; "
                "insert canaries for the receipt's relation."
            )
        epsilons = sampled_epsilons(receipt.epsilon)
        deltas = accountants.profile(receipt.script, epsilons, receipt.neighbors)
        return self._refuted(epsilons, deltas)

    def _refuted(self, epsilons: Array, deltas: Array) -> bool:
        """Return True if one of the tallies is less likely under the profile than its share of the confidence."""
        share = (1.0 - self.confidence) / len(self.tallies)
        return any(
            unlikely(share, right, guesses, self.n_canaries, epsilons, deltas)
            for guesses, right in self.tallies
        )


def audit_one_run(
    run: Callable[[Data], ArrayLike],
    canaries: Canaries,
    delta: float,
    confidence: float = 0.95,
    guesses: int | tuple[int, ...] | None = None,
    curve: str = "any",
) -> OneRun:
    """Lower bound on epsilon from one fit.

    The fit is run once. The surest canaries are guessed, True where their score is large and False where it is small;
    the others are left. A claim is refuted where so many right guesses would be too unlikely under it. If the fit is
    (epsilon, delta)-private under the canaries' relation, then with probability `confidence` or more, over coins and
    fit, the bound is at most epsilon, whatever the scores are (docs/audit.md).

    Parameters
    ----------
    run : callable
        Takes (X, y), draws its own fresh randomness and returns coefficients, see `released_by`.
    canaries : Canaries
        See `linear_canaries`.
    delta : float
        The delta of the claim; above about 1 / n_canaries little can be refuted.
    confidence : float
        Probability with which the bound holds.
    guesses : int, tuple of int or None
        How many canaries to guess, chosen beforehand; several share the confidence. None for all, a half, an eighth
        and a thirty-second of them.
    curve : {"any", "gaussian"}
        "gaussian" gives more, where the mechanism's profile is known to be a Gaussian's.

    Returns
    -------
    OneRun
        The bound, and what it rests on.

    See Also
    --------
    linear_canaries : Makes the canaries.
    audit : Tighter, with thousands of runs.
    likeliest : The bound behind it.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.audit import audit_one_run, linear_canaries
    >>> rng, canaries = np.random.default_rng(0), linear_canaries(2000, seed=1)
    >>> def slopes(data):  # the noisy sum of rows times signs: sensitivity 2, noise 0.5
    ...     X, y = data
    ...     return X.T @ (2.0 * y - 1.0) + 0.5 * rng.normal(size=X.shape[1])
    >>> found = audit_one_run(slopes, canaries, delta=1e-5)
    >>> found.refutes(3.0), found.refutes(22.0)
    (True, False)
    """
    m = len(canaries.coins)
    if not 0.0 <= delta < 1.0 or not 0.0 < confidence < 1.0:
        raise ValueError(f"delta={delta!r} and confidence={confidence!r} must lie between 0 and 1.")
    if curve not in CURVES:
        raise ValueError(f"curve={curve!r} is not known; use one of {CURVES}.")
    tried = tuple(max(m // k, 1) for k in PARTS) if guesses is None else np.atleast_1d(guesses)
    if not all(0 < r <= m for r in tried):
        raise ValueError(f"guesses={guesses!r} must lie between 1 and the {m} canaries.")
    scores = canaries.scores(run(canaries.data))
    tallies = tuple((int(r), _right(scores, canaries.coins, int(r))) for r in tried)
    found = OneRun(0.0, delta, confidence, canaries.neighbors, m, tallies, curve)
    return replace(found, epsilon=_largest_refuted(found))


def _right(scores: Array, coins: Array, guesses: int) -> int:
    """Right guesses, of those furthest from the middle: whom to guess, and how, is a function of the release."""
    away = scores - 0.5 * np.quantile(scores, [0.25, 0.75]).sum()
    surest = np.argsort(-np.abs(away), kind="stable")[:guesses]
    return int(((away > 0.0) == coins)[surest].sum())


def _largest_refuted(found: OneRun) -> float:
    """Bisection on the claim; a larger claim allows more."""
    if not found._refuted(*claim(0.0, found.delta, found.curve)):
        return 0.0
    low, high = 0.0, LARGEST
    while high - low > 1e-4 * (1.0 + low):
        middle = 0.5 * (low + high)
        if found._refuted(*claim(middle, found.delta, found.curve)):
            low = middle
        else:
            high = middle
    return low
