"""Price of keeping the best of a random number of private runs.

A base algorithm Q draws a candidate from a fixed public distribution, fits it, and releases the
model with a PRIVATE score; it is repeated K times, K random, and only the best is released. The
number of runs, the losers and their scores stay secret. Three theorems, and the smallest result:

* that of docs/proofs/selection.md, from the trade-off curve and the profile of Q;
* Papernot and Steinke 2022, Theorems 2 and 6, from the Renyi divergence of Q;
* Koskela, Redberg and Wang 2024, from the privacy profile of Q. For a truncated negative binomial K
  the two terms of its shift bound one maximum, so the shift is (1 + eta) r with r the root of
  e^r - 1 = (1 - gamma) / gamma * delta_Q(r), less than their sum.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..exceptions import NotSupported
from . import accountants
from ._arithmetic import own_arithmetic
from ._best_of import BestOfCurve, Curve
from ._compose import reduced, total_rdp
from ._conversion import renyi_epsilon
from ._engines import ENGINES
from ._runs import (
    BinomialRuns,
    CappedGeometricRuns,
    PoissonRuns,
    Profile,
    Renyi,
    Runs,
    TruncatedNegativeBinomialRuns,
)
from ._scipy import brentq
from .events import Script
from .spec import check_delta, check_neighbors

__all__ = [
    "BinomialRuns",
    "CappedGeometricRuns",
    "PoissonRuns",
    "Runs",
    "TruncatedNegativeBinomialRuns",
    "base_curves",
    "selection_delta",
    "selection_epsilon",
]

Array = NDArray[np.float64]


@own_arithmetic
def selection_epsilon(
    delta_q: Profile, rdp: Renyi | None, delta: float, distribution: Runs
) -> float:
    """Epsilon, at delta, of releasing the best of a random number of runs.

    Parameters
    ----------
    delta_q : callable
        Privacy profile of one run at epsilon >= 0: delta, the larger of both directions.
    rdp : callable or None
        Renyi divergence of one run at an array of orders, if known.
    delta : float
        In (0, 1).
    distribution : TruncatedNegativeBinomialRuns, PoissonRuns or BinomialRuns
        Law of the number of runs.

    Returns
    -------
    float
        The smallest of the three theorems.

    See Also
    --------
    selection_delta : The other way round.

    Examples
    --------
    >>> from skdp.privacy import selection_epsilon
    >>> from skdp.privacy.events import Gaussian
    >>> from skdp.privacy.selection import TruncatedNegativeBinomialRuns, base_curves
    >>> one_run = base_curves(((Gaussian(10.0), 1),))
    >>> one_of_ten = TruncatedNegativeBinomialRuns.with_mean(0.0, 10)
    >>> cost = selection_epsilon(*one_run, 1e-6, one_of_ten)
    >>> from skdp.privacy import epsilon
    >>> 1.0 < cost / epsilon(((Gaussian(10.0), 1),), 1e-6) < 2.0  # ten runs published: 3.4
    True
    """
    if check_delta(delta) == 0:
        raise NotSupported("delta=0 is not priced for private selection; give a positive delta.")
    curve = BestOfCurve(Curve(delta_q), distribution)
    best = min(_inverse(curve, delta), _by_shift(delta_q, delta, distribution))
    divergence = distribution.renyi(rdp, delta_q) if rdp is not None else None
    return best if divergence is None else min(best, renyi_epsilon(divergence, delta))


@own_arithmetic
def selection_delta(delta_q: Profile, epsilon: float, distribution: Runs) -> float:
    """Delta, at epsilon, of releasing the best of a random number of runs (by the profile).

    See Also
    --------
    selection_epsilon : The other way round.

    Examples
    --------
    >>> from skdp.privacy import selection_delta
    >>> from skdp.privacy.events import Gaussian
    >>> from skdp.privacy.selection import PoissonRuns, base_curves
    >>> one_run, _ = base_curves(((Gaussian(10.0), 1),))
    >>> selection_delta(one_run, 2.0, PoissonRuns(5.0)) < 1e-6
    True
    """
    curve = BestOfCurve(Curve(delta_q), distribution)
    return min(curve(epsilon), _delta_by_shift(delta_q, epsilon, distribution))


def _delta_by_shift(delta_q: Profile, epsilon: float, distribution: Runs) -> float:
    left = epsilon - distribution.shift(delta_q)
    if math.isinf(left):
        return 1.0
    tail = delta_q(left) if left >= 0 else 1 - math.exp(left) * (1 - delta_q(-left))
    return min(1.0, distribution.mean * tail)


def _by_shift(profile: Profile, delta: float, runs: Runs) -> float:
    """shift + the epsilon of one run at delta / E[K]."""
    target = delta / runs.mean
    shift = runs.shift(profile)
    return shift + _inverse(profile, target) if shift < math.inf else shift


def _inverse(profile: Profile, target: float) -> float:
    """Epsilon at which the profile has come down to the target, on the private side."""
    if profile(0.0) <= target:
        return 0.0
    high = 1.0
    while profile(high) > target:
        high *= 2
        if high > 1e9:
            return math.inf

    def excess(e: float) -> float:
        return math.log(max(profile(e), 1e-320) / target)

    root = brentq(excess, 0.0, high, xtol=1e-14, rtol=1e-14, maxiter=500)
    step = 1e-13 * max(root, 1e-3)
    while root < high and profile(root) > target:
        root, step = root + step, 2 * step
    return min(root, high)


def base_curves(script: Script, neighbors: str = "replace_one") -> tuple[Profile, Renyi | None]:
    """Profile and Renyi divergence of one run whose releases are this script."""
    counts = reduced(script, check_neighbors(neighbors))

    def delta_q(epsilon: float) -> float:
        return accountants.delta(script, epsilon, neighbors)

    if not ENGINES["rdp"].supports(counts, neighbors):
        return delta_q, None
    return delta_q, own_arithmetic(lambda orders: total_rdp(counts, orders, neighbors))
