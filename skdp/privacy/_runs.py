"""Laws of the number of private runs of which the best one is kept."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ._conversion import least
from ._scipy import brentq, minimize_scalar

__all__ = [
    "BinomialRuns",
    "CappedGeometricRuns",
    "PoissonRuns",
    "Profile",
    "Renyi",
    "Runs",
    "TruncatedNegativeBinomialRuns",
    "geometric_odds",
]

Array = NDArray[np.float64]
Profile = Callable[[float], float]
Renyi = Callable[[Array], Array]

_ROUND_UP = 1e-12
_MANY = 1024  # terms from which on a sum has a closed form whose difference keeps its digits


class Runs(Protocol):
    """Law of the number of runs K."""

    @property
    def mean(self) -> float:
        """Expected number of runs."""

    def slope(self, x: Array) -> Array:
        """Derivative of the generating function E[x^K], at numbers in [0, 1]."""

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

    def slope(self, x: Array) -> Array:
        """Derivative of (y^-eta - 1) / (gamma^-eta - 1), y = 1 - (1 - gamma) x; of log y / log gamma at eta = 0."""
        log_gamma, y = math.log(self.gamma), 1.0 - (1.0 - self.gamma) * x
        scale = -log_gamma if self.eta < 1e-9 else math.expm1(-self.eta * log_gamma) / self.eta
        return np.asarray((1.0 - self.gamma) / scale * y ** -(1.0 + self.eta))

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

    def slope(self, x: Array) -> Array:
        """Derivative of exp(m (x - 1))."""
        return np.asarray(self.mean * np.exp(self.mean * (x - 1.0)))

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

    def slope(self, x: Array) -> Array:
        """Derivative of (1 - p + p x)^N."""
        p = self.probability
        return np.asarray(self.trials * p * (1.0 - p + p * x) ** (self.trials - 1))

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


def geometric_odds(m: int, cap: int) -> tuple[int, ...]:
    """Geometric probabilities of mean m, conditioned on 1, ..., cap, times a whole number: (m - 1)^(k-1) m^(cap-k)."""
    return tuple((m - 1) ** (k - 1) * m ** (cap - k) for k in range(1, cap + 1))


@dataclass(frozen=True)
class CappedGeometricRuns:
    """K geometric on 1, 2, ... with mean ``mean_uncapped``, conditioned on being at most ``cap``.

    Probabilities are ratios of whole numbers, so K can be drawn from exactly this law.
    """

    mean_uncapped: int
    cap: int

    def __post_init__(self) -> None:
        for name, least_value in (("mean_uncapped", 2), ("cap", 1)):
            value = getattr(self, name)
            if type(value) is not int or not least_value <= value <= 10**4:
                raise ValueError(
                    f"{name}={value!r} must be a whole number from {least_value} to 10000."
                )

    @cached_property
    def odds(self) -> tuple[int, ...]:
        """Whole numbers proportional to the probabilities of 1, ..., cap."""
        return geometric_odds(self.mean_uncapped, self.cap)

    @property
    def mean(self) -> float:
        """Expected number of runs."""
        return sum(k * odd for k, odd in enumerate(self.odds, 1)) / sum(self.odds)

    def slope(self, x: Array) -> Array:
        """Sum of k p_k x^(k-1): a polynomial with positive coefficients, or a closed form where they are many."""
        if self.cap > _MANY:
            return self._many(x)
        whole = sum(self.odds)
        out = np.zeros_like(x)
        for k in range(self.cap, 0, -1):
            out = out * x + k * self.odds[k - 1] / whole
        return out

    def _many(self, x: Array) -> Array:
        """Closed form, with y = x (m - 1)/m: (1 - y^c (1 + c (1 - y))) / (1 - y)^2, over m (1 - ((m - 1)/m)^c)."""
        m, c = self.mean_uncapped, self.cap
        rest = (1.0 + (m - 1) * (1.0 - x)) / m  # 1 - y, at least 1/m
        with np.errstate(divide="ignore"):
            power = np.exp(c * np.log1p(-rest))
        whole = -m * math.expm1(c * math.log1p(-1.0 / m))
        return np.asarray((1.0 - power * (1.0 + c * rest)) / rest**2 / whole)

    def shift(self, profile: Profile) -> float:
        """Return infinity: no shift bound is used for this law."""
        return math.inf

    def renyi(self, renyi: Renyi, profile: Profile) -> None:
        """No Renyi theorem is used for this law."""
        return None
