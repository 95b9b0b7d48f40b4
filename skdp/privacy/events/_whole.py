"""Events on the whole data: noise of a known law, or any release of which only a bound is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ._event import Event, inverse_noise_field, noise_field, opaque_field, whole_number

__all__ = [
    "ZCDP",
    "AboveThreshold",
    "BoundedRange",
    "Gaussian",
    "GaussianAboveThreshold",
    "Laplace",
    "PureDP",
    "RenyiDP",
]


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
