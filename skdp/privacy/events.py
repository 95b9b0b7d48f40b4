"""What a release costs, and nothing about how it was made.

An event is a frozen record of public numbers whose meaning never changes; the theorems that turn
it into a cost are in `curves`. A script lists events in order, run-length coded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from itertools import groupby
from typing import Any, ClassVar, TypeAlias

from skdp.exceptions import NotSupported

__all__ = [
    "ZCDP",
    "AboveThreshold",
    "BoundedRange",
    "Event",
    "Gaussian",
    "GaussianAboveThreshold",
    "Laplace",
    "PoissonBundle",
    "PoissonGaussian",
    "PoissonPure",
    "PureDP",
    "RandomPosition",
    "RenyiDP",
    "Script",
    "ShuffledEpoch",
    "WithoutReplacementGaussian",
    "checked",
    "fraction",
    "inverse_noise_field",
    "noise_field",
    "opaque_field",
    "run_lengths",
    "scaled",
    "tally",
]


def noise_field(power: int = 1) -> Any:
    """Declare a field (number or tuple) that is >= 0 and grows as noise**power."""
    return field(metadata={"power": power, "high": math.inf})


def inverse_noise_field(power: int = 1) -> Any:
    """Declare a field (number or tuple) that is >= 0 and shrinks as noise**-power."""
    return noise_field(-power)


def fraction() -> Any:
    """Declare a field (number or tuple) in [0, 1] that does not depend on the noise."""
    return field(metadata={"power": 0, "high": 1.0})


def opaque_field() -> Any:
    """Declare a number that is >= 0 and of which nobody knows how it hangs on the noise."""
    return field(metadata={"power": 0, "high": math.inf})


def _number(owner: str, name: str, value: Any, high: float) -> float:
    number = float(value)
    if not 0 <= number <= high:
        bound = "0 or more" if math.isinf(high) else f"between 0 and {high:g}"
        raise ValueError(f"{owner} was given {name}={value!r}; it must be {bound}.")
    return number


def _times(value: float, factor: float, power: int) -> float:
    """value * factor**power, where no noise (factor 0) turns any positive epsilon infinite."""
    if power >= 0 or value == 0:
        return value * factor**power if power >= 0 else 0.0
    return math.inf if factor == 0 else value / factor**-power


@dataclass(frozen=True)
class Event:
    """Base of all events.

    A subclass declares its numbers with `noise`, `inverse_noise` and `fraction`, which gives it
    validation and `scaled`; an event whose noise cannot be scaled sets ``scalable = False``.
    """

    scalable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        owner = type(self).__name__
        for f in fields(self):
            if "high" not in f.metadata:
                continue
            value, high = getattr(self, f.name), f.metadata["high"]
            if isinstance(value, Iterable):
                checked: Any = tuple(_number(owner, f.name, v, high) for v in value)
            else:
                checked = _number(owner, f.name, value, high)
            object.__setattr__(self, f.name, checked)

    def scaled(self, factor: float) -> Event:
        """Return the event of the same mechanism with its noise multiplied by ``factor``."""
        if not self.scalable:
            raise NotSupported(
                f"{type(self).__name__} has no single noise scale; calibrate it through a function "
                "from the scale to the script."
            )
        changed: dict[str, Any] = {}
        for f in fields(self):
            power = f.metadata.get("power", 0)
            value = getattr(self, f.name)
            if power and isinstance(value, tuple):
                changed[f.name] = tuple(_times(v, factor, power) for v in value)
            elif power:
                changed[f.name] = _times(value, factor, power)
        return replace(self, **changed)


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
    """One run of the sparse vector technique until the first yes, with Laplace noise.

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
        if isinstance(self.max_queries, bool) or int(self.max_queries) != self.max_queries:
            raise ValueError(f"max_queries={self.max_queries!r} must be a whole number.")
        if self.max_queries < 1:
            raise ValueError(f"max_queries={self.max_queries!r} must be 1 or more.")
        object.__setattr__(self, "max_queries", int(self.max_queries))


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
    """One pass over disjoint batches: parallel composition, so ONE Gaussian, never Poisson.

    ``multiplier`` = sd / L2 sensitivity of one batch sum under the ledger's relation.
    """

    multiplier: float = noise_field()


Script: TypeAlias = tuple[tuple[Event, int], ...]


def run_lengths(events: Iterable[Event]) -> Script:
    """Code a sequence of events as a script of (event, repetitions)."""
    return tuple((event, sum(1 for _ in run)) for event, run in groupby(events))


def scaled(script: Script, factor: float) -> Script:
    """Return the script with the noise of every event multiplied by ``factor``."""
    return tuple((event.scaled(factor), count) for event, count in script)


def checked(script: Iterable[Any]) -> Script:
    """The script as a tuple of (event, repetitions), whatever sequences it was written with."""
    try:
        runs = tuple((event, count) for event, count in script)
    except (TypeError, ValueError):
        runs = ((None, 0),)
    for event, _ in runs:
        if not isinstance(event, Event):
            raise ValueError(
                f"script={script!r} is not a sequence of (event, repetitions); write for example "
                "((Gaussian(20.0), 3),)."
            )
    return runs


def tally(script: Script) -> dict[Event, int]:
    """Count equal events: the order of a script fixed beforehand does not change its cost."""
    counts: dict[Event, int] = {}
    for event, count in script:
        if isinstance(count, bool) or int(count) != count or count < 0:
            raise ValueError(f"{event} is repeated {count!r} times; give a whole number.")
        if count:
            counts[event] = counts.get(event, 0) + int(count)
    return counts
