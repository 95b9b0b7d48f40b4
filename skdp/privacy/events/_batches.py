"""Events on batches: sampled, drawn without replacement, shuffled, or at a secret position."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ._event import (
    Event,
    fraction,
    inverse_noise_field,
    noise_field,
    opaque_field,
    shown,
    whole_number,
)

__all__ = [
    "MixtureOfGaussians",
    "PoissonBundle",
    "PoissonGaussian",
    "PoissonLaplace",
    "PoissonPure",
    "RandomAllocation",
    "RandomPosition",
    "ShuffledEpoch",
    "WithoutReplacementGaussian",
]

_MOST_ROWS = 1000
_FAINT = 1e-60  # probabilities of so many rows and more, or so few and fewer, in one


def binomial(rows: int, rate: float, length: int) -> tuple[float, ...]:
    """Probabilities that 0, 1, ... rows are taken; rounding, and what is next to impossible, only adds rows."""
    chances = [0.0] * length
    if rate in (0.0, 1.0) or rows == 0:
        chances[rows if rate == 1 else 0] = 1.0
        return tuple(chances)
    left, top = 1.0, rows
    for j in range(rows, 0, -1):
        ways = (rows + 1, -(j + 1), -(rows - j + 1))
        logs = [math.copysign(math.lgamma(abs(k)), k) for k in ways]
        logs += [j * math.log(rate), (rows - j) * math.log1p(-rate)]
        round_off = 1e-15 * (10 + math.fsum(map(abs, logs)))
        taken = min(math.exp(math.fsum(logs)) * (1 + round_off), left)
        left -= taken
        top = top if chances[top] + taken < _FAINT else j
        chances[top] += taken
    chances[0] = left
    return tuple(chances)


@dataclass(frozen=True)
class PoissonGaussian(Event):
    """Gaussian noise on the sum over a fresh Poisson sample.

    ``multiplier`` = sd of the noise on the sum / bound C of ONE record's contribution, under both
    relations (replacing a record costs more, and the curves know).
    """

    multiplier: float = noise_field()
    rate: float = fraction()


@dataclass(frozen=True)
class PoissonLaplace(Event):
    """Laplace noise on the sum over a fresh Poisson sample.

    ``multiplier`` = scale of the noise on each coordinate / bound C of the L1 norm of ONE record's contribution, under
    both relations.
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
class MixtureOfGaussians(Event):
    """Gaussian noise on a sum that moves by a random vector: what several rows of one unit on a Poisson sample are.

    Parameters
    ----------
    multiplier : float
        sd of the noise on the sum / bound C of one contribution.
    moves, weights : tuple of float
        With the unit, the sum moves by a vector whose norm is at most ``moves[i]`` times C with probability
        ``weights[i]``.
    back : tuple of float, default=()
        Probabilities of the same moves for what stands in the unit's place under the neighbour, drawn by itself.
        Without them it does not move under ``"add_remove"``, and moves with ``weights`` under ``"replace_one"``, where
        either of the two may be the unit in each step: both move as far as the one that moves farther.

    Examples
    --------
    >>> from skdp.privacy import epsilon
    >>> from skdp.privacy.events import MixtureOfGaussians, PoissonGaussian
    >>> row, two_rows = PoissonGaussian(1.0, 0.01), MixtureOfGaussians.of_rows(1.0, 0.01, rows=2)
    >>> [round(epsilon(((e, 1000),), 1e-6, "add_remove"), 2) for e in (row, two_rows)]
    [2.12, 4.55]
    """

    multiplier: float = noise_field()
    moves: tuple[float, ...] = opaque_field()
    weights: tuple[float, ...] = fraction()
    back: tuple[float, ...] = field(default=(), metadata={"power": 0, "high": 1.0})

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("weights", "back"):
            given = getattr(self, name)
            if name == "back" and not given:
                continue
            if len(given) != len(self.moves):
                raise ValueError(
                    f"MixtureOfGaussians was given {len(given)} {name} and {len(self.moves)} moves; "
                    "give one of each per move."
                )
            if abs(math.fsum(given) - 1) > 1e-9:
                raise ValueError(
                    f"MixtureOfGaussians {name} sum to {math.fsum(given)!r}; they must sum to 1."
                )
        if not all(map(math.isfinite, self.moves)):
            raise ValueError(f"MixtureOfGaussians moves={shown(self.moves)} must be finite.")

    @classmethod
    def of_rows(
        cls, multiplier: float, rate: float, rows: int, back: int | None = None
    ) -> MixtureOfGaussians:
        """Return the event of a unit whose rows enter the sample each by itself, and each contribute at most C.

        Parameters
        ----------
        multiplier, rate : float
            Those of `PoissonGaussian`.
        rows : int
            Rows of the unit.
        back : int, optional
            Rows of what stands in its place under the neighbour.
        """
        rows = whole_number("MixtureOfGaussians", "rows", rows, 0, _MOST_ROWS)
        other = whole_number("MixtureOfGaussians", "back", back or 0, 0, _MOST_ROWS)
        moves = tuple(float(j) for j in range(max(rows, other) + 1))
        weights, others = (binomial(k, rate, len(moves)) for k in (rows, other))
        return cls(multiplier, moves, weights, () if back is None else others)


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
