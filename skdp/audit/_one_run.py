"""A lower bound on epsilon from ONE fit, in which many canaries were hidden by coins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from ..privacy import accountants
from ..privacy.receipt import Receipt
from ._canaries import Canaries
from ._lower_bound import LowerBound
from ._one_run_bound import unlikely
from ._one_run_claim import LARGEST, claim, sampled_epsilons
from ._pairs import Array, Data

__all__ = ["OneRun", "audit_one_run"]

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
