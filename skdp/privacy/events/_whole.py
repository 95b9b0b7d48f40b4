"""Events on the whole data: noise of a known law, or any release of which a bound or a worst pair is known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ._event import Event, fraction, inverse_noise_field, noise_field, opaque_field, whole_number

__all__ = [
    "ZCDP",
    "AboveThreshold",
    "BoundedRange",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Gaussian",
    "GaussianAboveThreshold",
    "Laplace",
    "PureDP",
    "RandomizedResponse",
    "RenyiDP",
    "WorstPair",
]

Array = NDArray[np.float64]

_MOST = 2**19  # answers that are enumerated
_REACH = 38.0  # sd beyond which a normal law has next to nothing


@dataclass(frozen=True)
class Gaussian(Event):
    """Gaussian noise; ``multiplier`` = sd / L2 sensitivity under the ledger's relation."""

    multiplier: float = noise_field()


@dataclass(frozen=True)
class Laplace(Event):
    """Laplace noise; ``multiplier`` = scale / L1 sensitivity under the ledger's relation."""

    multiplier: float = noise_field()


@dataclass(frozen=True)
class PureDP(Event):
    """Any epsilon-differentially private release."""

    epsilon: float = inverse_noise_field()


@dataclass(frozen=True)
class BoundedRange(Event):
    """A selection whose log probabilities move within a range ``epsilon`` (Gumbel, exponential).

    Adding Gumbel noise of scale t to scores whose changes span a range r gives epsilon = r / t
    (Dong, Durfee and Rogers 2020).
    """

    epsilon: float = inverse_noise_field()


@dataclass(frozen=True)
class ZCDP(Event):
    """Any rho-zero-concentrated differentially private release (Bun and Steinke 2016)."""

    rho: float = inverse_noise_field(2)


@dataclass(frozen=True)
class RenyiDP(Event):
    """Any release whose Renyi divergence at ONE order is bounded, such as all that a filter lets pass.

    Divergences grow with the order, so the bound holds below it too, and nothing is known beyond.
    """

    scalable: ClassVar[bool] = False
    order: float = opaque_field()
    divergence: float = opaque_field()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order <= 1:
            raise ValueError(f"RenyiDP was given order={self.order!r}; it must be above 1.")


@dataclass(frozen=True)
class AboveThreshold(Event):
    """Sparse vector technique with Laplace noise, one run until the first yes.

    Queries are scaled to unit sensitivity under the ledger's relation. The threshold has noise
    Lap(1 / threshold_epsilon), each query fresh noise Lap(1 / query_epsilon); any number of
    adaptive queries. ``threshold_epsilon = inf`` means a threshold without noise.
    """

    threshold_epsilon: float = inverse_noise_field()
    query_epsilon: float = inverse_noise_field()


@dataclass(frozen=True)
class GaussianAboveThreshold(Event):
    """The sparse vector technique with Gaussian noise and an enforced number of queries.

    Queries are scaled to unit sensitivity under the ledger's relation; the multipliers are the
    standard deviations on the threshold (0 allowed) and on each query.
    """

    threshold_multiplier: float = noise_field()
    query_multiplier: float = noise_field()
    max_queries: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        most = whole_number(type(self).__name__, "max_queries", self.max_queries)
        object.__setattr__(self, "max_queries", most)


# Events whose worst pair of laws has countably many answers: integer noise, categories, or any pair that is proved


@dataclass(frozen=True)
class _Discrete(Event):
    @property
    def noise(self) -> float:
        """A number that is 0 if everything is told, and infinite if nothing is."""
        return 1.0

    @property
    def enumerable(self) -> bool:
        """Return True: its answers are few enough to be listed."""
        return True

    def worst_pair(self, neighbors: str) -> tuple[Array, Array]:
        """Probabilities of the answers under two neighbours; what is missing to 1 tells them apart for certain."""
        raise NotImplementedError


@dataclass(frozen=True)
class DiscreteGaussian(_Discrete):
    """A whole number plus discrete Gaussian noise (Canonne, Kamath and Steinke 2020).

    ``sd`` is the parameter sigma of masses in proportion to exp(-k^2 / (2 sigma^2)). The number moves by at most
    ``shift``, a whole number, under the ledger's relation.
    """

    sd: float = noise_field()
    shift: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "shift", whole_number("DiscreteGaussian", "shift", self.shift))

    @property
    def noise(self) -> float:
        """The parameter."""
        return self.sd

    @property
    def enumerable(self) -> bool:
        """Return True if sd and shift are small."""
        return 2 * _REACH * self.sd + self.shift < _MOST

    def worst_pair(self, neighbors: str) -> tuple[Array, Array]:
        """The noise around ``shift`` and around 0: a half-line tells them apart best, and more the farther they are."""
        last = math.ceil(_REACH * self.sd)
        k = np.arange(-last, last + self.shift + 1, dtype=float)
        logs = -((k[:, None] - np.array([self.shift, 0.0])) ** 2) / (2 * self.sd**2)
        center = np.arange(-last, last + 1) ** 2 / (2 * self.sd**2)
        laws = np.exp(logs) / math.fsum(np.exp(-center))
        return laws[:, 0], laws[:, 1]


@dataclass(frozen=True)
class DiscreteLaplace(_Discrete):
    """A whole number plus discrete Laplace noise of masses in proportion to exp(-|k| / scale), also called geometric.

    The number moves by at most ``shift``, a whole number, under the ledger's relation.
    """

    scale: float = noise_field()
    shift: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "shift", whole_number("DiscreteLaplace", "shift", self.shift))

    @property
    def noise(self) -> float:
        """The scale."""
        return self.scale

    @property
    def enumerable(self) -> bool:
        """Return True if shift is small."""
        return self.shift < _MOST

    def worst_pair(self, neighbors: str) -> tuple[Array, Array]:
        """The noise around ``shift`` and around 0; on either side of both, answers tell equally much."""
        ratio = math.exp(-1 / self.scale)
        inner = np.arange(1, self.shift, dtype=float)
        near = -math.expm1(-1 / self.scale) / (1 + ratio) * np.exp(-inner / self.scale)
        far = math.exp(-self.shift / self.scale) / (1 + ratio)
        law = np.concatenate([[1 / (1 + ratio)], near, [far]])
        return law, law[::-1]


@dataclass(frozen=True)
class RandomizedResponse(_Discrete):
    """One of ``categories`` answers, the true one e^epsilon times as likely as each other (Warner 1965)."""

    epsilon: float = inverse_noise_field()
    categories: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        count = whole_number("RandomizedResponse", "categories", self.categories, least=2)
        object.__setattr__(self, "categories", count)

    @property
    def noise(self) -> float:
        """1 / epsilon."""
        return math.inf if self.epsilon == 0 else 1 / self.epsilon

    def worst_pair(self, neighbors: str) -> tuple[Array, Array]:
        """Two true answers, and all others as one."""
        odds = math.exp(-self.epsilon)
        whole = 1 + (self.categories - 1) * odds
        law = np.array([1.0, odds, (self.categories - 2) * odds]) / whole
        return law, law[[1, 0, 2]]


@dataclass(frozen=True)
class WorstPair(_Discrete):
    """Any release with a proof that two discrete laws dominate it.

    You owe the proof. Let P be the law with a record and Q the law without it. For every t and set S of answers,
    P(S) - e^t Q(S) must be at most what it is for ``upper`` and ``lower`` at the best set, and Q(S) - e^t P(S) at most
    what it is for ``lower`` and ``upper``. Under replace-one either neighbour may be P: the larger of both is charged.

    Parameters
    ----------
    upper, lower : tuple of float
        Probabilities of the same answers under both laws. What is missing to 1, beyond 4e-15 for rounding, counts as an
        answer that the other law never gives.

    Examples
    --------
    >>> from skdp.privacy import epsilon
    >>> from skdp.privacy.events import WorstPair
    >>> coin = WorstPair((0.6, 0.4), (0.4, 0.6))
    >>> round(epsilon(((coin, 1),), 0.0), 6)
    0.405465
    """

    scalable: ClassVar[bool] = False
    upper: tuple[float, ...] = fraction()
    lower: tuple[float, ...] = fraction()

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.upper) != len(self.lower) or not self.upper:
            raise ValueError(
                f"WorstPair was given {len(self.upper)} and {len(self.lower)} probabilities; "
                "give one of each per answer."
            )
        for name in ("upper", "lower"):
            total = math.fsum(getattr(self, name))
            if total > 1 + 1e-9:
                raise ValueError(f"WorstPair {name} sums to {total!r}; it must be at most 1.")

    def worst_pair(self, neighbors: str) -> tuple[Array, Array]:
        """Both laws."""
        return np.array(self.upper), np.array(self.lower)

    @classmethod
    def from_log_densities(cls, upper: Sequence[float], lower: Sequence[float]) -> WorstPair:
        """The pair of two laws on a common lattice, by logarithms of masses that need not be normalised.

        You owe the proof that what the lattice leaves out has no mass.
        """
        laws = []
        for given in (upper, lower):
            logs = np.asarray(given, float)
            masses = np.exp(logs - logs.max())
            laws.append(tuple((masses / math.fsum(masses)).tolist()))
        return cls(*laws)

    @classmethod
    def from_tradeoff(cls, alphas: Sequence[float], betas: Sequence[float]) -> WorstPair:
        """The pair whose trade-off curve is the broken line through these points.

        You owe the proof that the line lies nowhere above the type II error of any test: chords lie above a curve,
        its tangents do not. ``alphas`` rise from 0, ``betas`` fall to 0, and the line is convex.
        """
        a, b = np.asarray(alphas, float), np.asarray(betas, float)
        rises, falls = np.diff(a), -np.diff(b)
        sound = len(a) == len(b) >= 2 and a[0] == 0 and a[-1] <= 1 and b[0] <= 1 and b[-1] == 0
        if not sound or not (rises > 0).all() or not (falls >= 0).all():
            raise ValueError(
                "alphas must rise from 0 to at most 1 and betas fall from at most 1 to 0."
            )
        if (np.diff(falls / rises) > 1e-12).any():
            raise ValueError("The line through alphas and betas must be convex.")
        return cls(tuple(falls.tolist()), tuple(rises.tolist()))

    @classmethod
    def from_profile(cls, epsilons: Sequence[float], deltas: Sequence[float]) -> WorstPair:
        """The symmetric pair whose profile has these chords in e^epsilon.

        You owe the proof that delta is no larger than these at these epsilons, in both directions. ``epsilons`` rise
        from 0; beyond the last, delta stays what it is there.
        """
        e, d = np.asarray(epsilons, float), np.asarray(deltas, float)
        if len(e) != len(d) or len(e) < 2 or e[0] != 0 or not (np.diff(e) > 0).all():
            raise ValueError("epsilons must rise from 0, and there must be a delta for each.")
        slopes = np.append(-np.diff(d) / np.diff(np.exp(e)), 0.0)
        down = -np.diff(slopes)
        if (slopes < 0).any() or (down < -1e-12).any() or not 0 <= d[-1] <= d[0] <= 1:
            raise ValueError("deltas must fall, and be convex in e^epsilon.")
        down = np.maximum(down, 0.0)
        up = down * np.exp(e[1:])
        zero = 1.0 - math.fsum(up) - math.fsum(down) - float(d[-1])
        if zero < -1e-9:
            raise ValueError("No pair has these deltas in both directions; lower the first ones.")
        middle = [max(zero, 0.0)]
        upper = [*up[::-1].tolist(), *middle, *down.tolist()]
        return cls(tuple(upper), tuple(reversed(upper)))
