"""Events on batches: sampled, drawn without replacement, shuffled, or at a secret position."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ._event import Event, fraction, inverse_noise_field, noise_field, whole_number

__all__ = [
    "PoissonBundle",
    "PoissonGaussian",
    "PoissonPure",
    "RandomAllocation",
    "RandomPosition",
    "ShuffledEpoch",
    "WithoutReplacementGaussian",
]


@dataclass(frozen=True)
class PoissonGaussian(Event):
    """Gaussian noise on the sum over a fresh Poisson sample.

    ``multiplier`` = sd of the noise on the sum / bound C of ONE record's contribution, under both
    relations (replacing a record costs more, and the curves know).
    """

    multiplier: float = noise_field()
    rate: float = fraction()


@dataclass(frozen=True)
class PoissonPure(Event):
    """A pure epsilon release on a fresh Poisson sample.

    ``epsilon`` is the cost on the sample, under the larger of replacing and adding or removing.
    """

    epsilon: float = inverse_noise_field()
    rate: float = fraction()


@dataclass(frozen=True)
class PoissonBundle(Event):
    """Several releases from the SAME Poisson sample, composed first and amplified together.

    ``multiplier`` is that of all Gaussian steps combined (sd / C, inf for none), ``epsilons`` are
    the pure steps. Declared before the sample is drawn; a step not used has still been paid.
    """

    multiplier: float = noise_field()
    epsilons: tuple[float, ...] = inverse_noise_field()
    rate: float = fraction()


@dataclass(frozen=True)
class WithoutReplacementGaussian(Event):
    """Gaussian noise on the sum over a fresh batch of fixed size drawn without replacement.

    ``multiplier`` = sd of the noise on the sum / bound C of one record's contribution, ``rate`` =
    batch size / n. Replace-one only: under add/remove the batch size would tell n.
    """

    multiplier: float = noise_field()
    rate: float = fraction()


@dataclass(frozen=True)
class RandomAllocation(Event):
    """One epoch of Gaussian sums over batches, where each record is in exactly one, uniformly random.

    ``multiplier`` = sd of the noise on a sum / bound C of ONE record's contribution, under both relations; ``batches``
    sums are released, and each may depend on those before it. The next epoch draws its batches anew.
    """

    multiplier: float = noise_field()
    batches: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(
            self, "batches", whole_number("RandomAllocation", "batches", self.batches)
        )


@dataclass(frozen=True)
class RandomPosition(Event):
    """A final Gaussian release whose sensitivity depends on a secret uniform position.

    With probability ``weights[j]`` the changed record sits where the multiplier (sd over
    sensitivity) is ``multipliers[j]``; the permutation is drawn once and never leaves.
    """

    weights: tuple[float, ...] = fraction()
    multipliers: tuple[float, ...] = noise_field()

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.weights) != len(self.multipliers) or not self.weights:
            raise ValueError(
                f"RandomPosition was given {len(self.weights)} weights and "
                f"{len(self.multipliers)} multipliers; give one of each per position."
            )
        if abs(math.fsum(self.weights) - 1) > 1e-9:
            raise ValueError(
                f"RandomPosition weights sum to {math.fsum(self.weights)!r}; they must sum to 1."
            )


@dataclass(frozen=True)
class ShuffledEpoch(Event):
    """Pass over disjoint batches: parallel composition, so a single Gaussian, never Poisson.

    ``multiplier`` = sd / L2 sensitivity of one batch sum under the ledger's relation.
    """

    multiplier: float = noise_field()
