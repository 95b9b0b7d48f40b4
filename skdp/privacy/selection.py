"""What it costs to keep the best of a random number of private runs.

A base algorithm Q draws a candidate from a fixed public distribution, fits it, and releases the
model with a PRIVATE score; it is repeated K times, K random, and only the best is released. The
number of runs, the losers and their scores stay secret. Two theorems, and the smaller result:

* Papernot and Steinke 2022, Theorems 2 and 6, from the Renyi divergence of Q;
* Koskela, Redberg and Wang 2024, from the privacy profile of Q. For a truncated negative binomial K
  the two terms of its shift bound one maximum, so the shift is (1 + eta) r with r the root of
  e^r - 1 = (1 - gamma) / gamma * delta_Q(r), less than their sum.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar

from ..exceptions import NotSupported
from . import accountants
from ._compose import reduced, total_rdp
from ._conversion import least, renyi_epsilon
from ._engines import ENGINES
from .events import Script
from .spec import check_delta, check_neighbors

__all__ = [
    "BinomialRuns",
    "PoissonRuns",
    "Runs",
    "TruncatedNegativeBinomialRuns",
    "base_curves",
    "selection_delta",
    "selection_epsilon",
]

Array = NDArray[np.float64]
Profile = Callable[[float], float]
Renyi = Callable[[Array], Array]

_ROUND_UP = 1e-12


class Runs(Protocol):
    """Law of the number of runs K."""

    @property
    def mean(self) -> float:
        """Expected number of runs."""

    def shift(self, profile: Profile) -> float:
        """Epsilon that repetition adds, from the profile of one run."""

    def renyi(self, renyi: Renyi, profile: Profile) -> Renyi | None:
        """Renyi divergence of the best of K, from that of one run."""


@dataclass(frozen=True)
class TruncatedNegativeBinomialRuns:
    """K >= 1 with generating function of order ``eta`` >= 0 and parameter ``gamma`` in (0, 1).

    eta = 0 is the logarithmic law (cheapest, heavy tail), eta = 1 the geometric one.
    """

    eta: float
    gamma: float

    def __post_init__(self) -> None:
        if not 0 <= self.eta < math.inf:
            raise ValueError(f"eta={self.eta!r} must be finite and 0 or more.")
        if not 0 < self.gamma < 1:
            raise ValueError(f"gamma={self.gamma!r} must lie in (0, 1); use with_mean.")

    @classmethod
    def with_mean(cls, eta: float, mean: float) -> TruncatedNegativeBinomialRuns:
        """The law of this order with a given expected number of runs (more than one)."""
        if not mean > 1:
            raise ValueError(f"mean={mean!r} must be more than one run.")
        log_gamma = brentq(
            lambda x: math.log(cls(eta, math.exp(x)).mean / mean),
            -math.log(mean) * 40 - 40,
            -1e-9,
            xtol=1e-15,
            rtol=1e-14,
        )
        return cls(eta, math.exp(log_gamma))

    @property
    def mean(self) -> float:
        """Expected number of runs."""
        log_gamma = math.log(self.gamma)
        if self.eta < 1e-9:
            return math.expm1(-log_gamma) / -log_gamma
        return self.eta * math.expm1(-log_gamma) / -math.expm1(self.eta * log_gamma)

    def shift(self, profile: Profile) -> float:
        """(1 + eta) r, r the root of e^r - 1 = (1 - gamma) / gamma * delta_Q(r)."""
        odds = (1 - self.gamma) / self.gamma
        if profile(0.0) <= 0:
            return 0.0
        high = math.log1p(odds)
        root = brentq(lambda r: math.expm1(r) - odds * profile(r), 0.0, high, xtol=1e-15)
        return (1 + self.eta) * root * (1 + _ROUND_UP)

    def renyi(self, renyi: Renyi, profile: Profile) -> Renyi:
        """R(a) + (1+eta)(1-1/b) R(b) + (1+eta) log(1/gamma)/b + log E[K]/(a-1), least over b."""
        log_gamma = math.log(self.gamma)
        per_run = least(lambda b: (1 - 1 / b) * renyi(b) - log_gamma / b)[0]
        fixed = (1 + self.eta) * per_run
        log_mean = math.log(self.mean)
        return lambda a: renyi(a) + fixed + log_mean / (a - 1)


@dataclass(frozen=True)
class PoissonRuns:
    """K ~ Poisson(mean); K = 0 happens and must return a default that is independent of data."""

    mean: float

    def __post_init__(self) -> None:
        if not 0 < self.mean < math.inf:
            raise ValueError(f"mean={self.mean!r} must be positive and finite.")

    def shift(self, profile: Profile) -> float:
        """m delta_Q(0): the best threshold is always zero."""
        return self.mean * profile(0.0)

    def renyi(self, renyi: Renyi, profile: Profile) -> Renyi:
        """R(a) + m d + log(m) / (a - 1), d the exact delta_Q at epsilon = log(1 + 1/(a-1))."""

        def best_of_runs(orders: Array) -> Array:
            tails = np.array([profile(float(e)) for e in np.log1p(1 / (orders - 1))])
            return renyi(orders) + self.mean * tails + math.log(self.mean) / (orders - 1)

        return best_of_runs


@dataclass(frozen=True)
class BinomialRuns:
    """K ~ Binomial(trials, probability)."""

    trials: int
    probability: float

    def __post_init__(self) -> None:
        whole = isinstance(self.trials, numbers.Integral) and not isinstance(self.trials, bool)
        if not whole or self.trials < 1:
            raise ValueError(f"trials={self.trials!r} must be a whole number, 1 or more.")
        if not 0 < self.probability < 1:
            raise ValueError(f"probability={self.probability!r} must lie in (0, 1).")

    @property
    def mean(self) -> float:
        """Expected number of runs."""
        return self.trials * self.probability

    def shift(self, profile: Profile) -> float:
        """(N-1) log(1 + p (e^e1 - 1) + p/(1-p) delta_Q(e1)), least over e1 >= 0."""
        p = self.probability

        def at(e1: float) -> float:
            extra = p * math.expm1(e1) + p / (1 - p) * profile(e1)
            return (self.trials - 1) * math.log1p(extra)

        found = minimize_scalar(at, bounds=(0.0, 2.0), method="bounded", options={"xatol": 1e-10})
        return min(at(0.0), float(found.fun))

    def renyi(self, renyi: Renyi, profile: Profile) -> None:
        """No Renyi theorem is used for this law."""
        return None


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
        The smaller of the two theorems.

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
    best = _by_profile(delta_q, delta, distribution)
    divergence = distribution.renyi(rdp, delta_q) if rdp is not None else None
    return best if divergence is None else min(best, renyi_epsilon(divergence, delta))


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
    left = epsilon - distribution.shift(delta_q)
    tail = delta_q(left) if left >= 0 else 1 - math.exp(left) * (1 - delta_q(-left))
    return min(1.0, distribution.mean * tail)


def _by_profile(profile: Profile, delta: float, runs: Runs) -> float:
    """shift + the epsilon of one run at delta / E[K]."""
    target = delta / runs.mean
    shift = runs.shift(profile)
    if profile(0.0) <= target:
        return shift
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
    return shift + min(root, high)


def base_curves(script: Script, neighbors: str = "replace_one") -> tuple[Profile, Renyi | None]:
    """Profile and Renyi divergence of one run whose releases are this script."""
    counts = reduced(script, check_neighbors(neighbors))

    def delta_q(epsilon: float) -> float:
        return accountants.delta(script, epsilon, neighbors)

    if not ENGINES["rdp"].supports(counts, neighbors):
        return delta_q, None
    return delta_q, lambda orders: total_rdp(counts, orders, neighbors)
