"""The shapes that a question may take. A mechanism is a frozen dataclass of public fields on one of these.

The author writes what is measured and how far it can move; price and noise come from one field in the base class, so
they cannot drift apart. Registering a mechanism is one line in `__init__.py`, and its `proof` names a page of
`docs/proofs/` that holds the theorem.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from ..exceptions import NotSupported
from ..losses import LOSSES, Loss
from ..privacy import events
from ._kernels import ROUNDINGS, UNIT
from ._lattice import Lattice, lattice, refuse_unless_it_fits
from ._noise import Noise
from ._public import Public
from ._records import Records

__all__ = [
    "LARGEST_BOUND",
    "LEAST_BOUND",
    "Additive",
    "Mechanism",
    "Release",
    "Selection",
    "freeze_fields",
    "poisson_gaussian",
]

Array = np.ndarray[Any, Any]

LEAST_BOUND, LARGEST_BOUND = 1e-30, 1e100
_NOTHING = 1e-150  # an epsilon at which noise drowns any score: it is then all that decides

# Thousands of equal steps ask for equal events.
_gaussian = lru_cache(maxsize=256)(events.Gaussian)
poisson_gaussian = lru_cache(maxsize=256)(events.PoissonGaussian)


def freeze_fields(
    question: Any,
    *,
    scales: tuple[str, ...] = (),
    bounds: tuple[str, ...] = (),
    arrays: tuple[str, ...] = (),
    flags: tuple[str, ...] = (),
) -> None:
    """Turn fields into plain floats and fresh float64 arrays, so that what is priced is what is answered.

    An object of the caller's that converts to one number for the price and to another for the noise, or an array
    whose operators keep their operands, would carry records out of the room.

    Parameters
    ----------
    question : Mechanism
        Whose fields are settled.
    scales : tuple of str
        Fields that are 0 or more, infinity allowed.
    bounds : tuple of str
        Fields between 1e-30 and 1e100: a bound of 0 or infinity makes clipping 0/0 for some records, and sums of
        bounds near the largest double overflow, before any noise, for some records and not for others; and below 1e-30
        numbers of single precision lose their digits.
    arrays : tuple of str
        Fields that are finite arrays: where they are not, the answer's finiteness would tell of single records.
    flags : tuple of str
        Fields that are true or false, asked once: an object may change its mind between price and answer.
    """
    for field in flags:
        object.__setattr__(question, field, bool(getattr(question, field)))
    for field in (*scales, *bounds):
        number = getattr(question, field)
        if type(number) is not float:
            number = float(number)
            object.__setattr__(question, field, number)
        if not (LEAST_BOUND <= number <= LARGEST_BOUND if field in bounds else number >= 0.0):
            demand = (
                f"between {LEAST_BOUND:g} and {LARGEST_BOUND:g}" if field in bounds else "0 or more"
            )
            raise ValueError(
                f"{type(question).__name__} was given {field}={number:g}; it must be {demand}."
            )
    for field in arrays:
        array = np.array(getattr(question, field), dtype=np.float64)
        if not math.isfinite(np.vdot(array, array)):
            raise ValueError(
                f"{type(question).__name__} was given {field} that is not finite, or too large; "
                "take smaller steps."
            )
        array.setflags(write=False)
        object.__setattr__(question, field, array)
    loss: Any = getattr(question, "loss", None)
    if type(loss) in LOSSES.values():
        object.__setattr__(question, "loss", _rebuild_loss(loss))


def _rebuild_loss(loss: Loss) -> Loss:
    """The loss with plain numbers for its fields: they meet every record, and releases are priced by them."""
    if all(type(value) in (int, float) for value in vars(loss).values()):
        return loss
    plain = {f.name: float(getattr(loss, f.name)) for f in fields(loss)}
    if "outputs" in plain:
        return type(loss)(outputs=int(plain["outputs"]))  # type: ignore[call-arg]
    return type(loss)(**plain)


class Mechanism(ABC):
    """Query that a solver may put to an oracle: its price is known beforehand, and its answer is private."""

    proof: ClassVar[str]
    covers_units: ClassVar[bool] = False
    """Whether the proof holds for units of several rows (docs/proofs/units.md); without that, no oracle sells it."""

    of_lists: ClassVar[bool] = False
    """Whether it may be asked about lists of documents: then its loss, if it has one, is a loss of lists."""

    covers_users: ClassVar[bool] = False
    """Whether the proof holds for units of several lists."""

    def proofs(self) -> tuple[str, ...]:
        """Pages of docs/proofs/ that the answer rests on."""
        return (self.proof,)

    def notes(self, public: Public) -> tuple[str, ...]:
        """Return notes for a receipt on the constants that were chosen; public numbers only."""
        return ()

    @abstractmethod
    def event(self, public: Public) -> events.Event:
        """Return the event that the answer costs."""

    @abstractmethod
    def answer(self, records: Records, noise: Noise) -> Any:
        """The private answer. Only the oracle calls this, and only after it has paid."""

    def sampled_event(self, public: Public, rate: float) -> events.Event:
        """Return the event that the answer costs on a Poisson batch; refused without a theorem for it."""
        raise NotSupported(
            f"{type(self).__name__} has no price on a Poisson batch; ask it of all records."
        )

    def refuse_in(self, seen: Public) -> None:
        """Refuse rows in coordinates of which these are the public facts; all, without a theorem for them."""
        raise NotSupported(
            f"{type(self).__name__} has no proof in other coordinates; ask it of the rows as they were given."
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Additive(Mechanism):
    """A sum over records plus Gaussian noise (proofs/gaussian_sum.md).

    The noise has standard deviation ``multiplier * bound``, where `bound` is what one record can contribute in norm.

    Parameters
    ----------
    multiplier : float
        Standard deviation of the noise over the bound of one record's contribution, under both relations.
    """

    multiplier: float

    def __post_init__(self) -> None:
        freeze_fields(self, scales=("multiplier",))

    @abstractmethod
    def measure(self, records: Records) -> Array:
        """The sum as computed."""

    @abstractmethod
    def bound(self, public: Public) -> float:
        """Bound on the norm of one record's contribution, enforced by `measure`."""

    @abstractmethod
    def size(self, public: Public) -> int:
        """Return the number of entries of the sum."""

    def sensitivity(self, public: Public) -> float:
        """Bound how far the sum moves between neighbours; overridden where less than 2 bounds can be proved.

        It is never less than the bound: noise is counted in bounds, and so are roundings (proofs/sums.md).
        """
        return public.sensitivity_factor * self.bound(public)

    def rounding(self, public: Public) -> float:
        """Bound the distance of the computed sum from the exact sum of the records' contributions, in norm."""
        return ROUNDINGS * UNIT * public.most_rows * self.bound(public)

    def grid(self, public: Public) -> Lattice:
        """The lattice of the answer and its noise: at least `multiplier` bounds after all roundings."""
        bound, reach = self.bound(public), self.sensitivity(public)
        return lattice(self.multiplier, bound, self.rounding(public), self.size(public), reach)

    def event(self, public: Public) -> events.Event:
        """Return the event of a Gaussian release."""
        refuse_unless_it_fits(self.multiplier, self.size(public))
        return _gaussian(self.multiplier * (self.bound(public) / self.sensitivity(public)))

    def sampled_event(self, public: Public, rate: float) -> events.Event:
        """Return the event of a Gaussian release on a Poisson batch: every contribution is bounded."""
        refuse_unless_it_fits(self.multiplier, self.size(public))
        return poisson_gaussian(self.multiplier, rate)

    def answer(self, records: Records, noise: Noise) -> Array:
        """The noisy sum."""
        exact = np.asarray(self.measure(records), dtype=np.float64)
        return noise.gaussian(exact, self.grid(records.public))


@dataclass(frozen=True, eq=False, kw_only=True)
class Selection(Mechanism):
    """The index of the largest score under Gumbel noise: the exponential mechanism (proofs/selection.md).

    Parameters
    ----------
    epsilon : float
        The bounded range b: the log-probability ratio of any two outcomes moves by at most b between neighbours.
    """

    epsilon: float

    def __post_init__(self) -> None:
        freeze_fields(self, scales=("epsilon",))

    @abstractmethod
    def measure(self, records: Records) -> Array:
        """The exact scores, one per candidate."""

    @abstractmethod
    def spread(self, public: Public) -> float:
        """Bound how far the difference of two scores moves between neighbours; `measure` enforces it."""

    @abstractmethod
    def rounding(self, public: Public) -> float:
        """Bound the distance of a computed score from the exact sum of the records' contributions."""

    def event(self, public: Public) -> events.Event:
        """Return the event of a bounded-range selection."""
        self.scale(public)  # refuses shapes that mix records
        return events.BoundedRange(self.epsilon)

    def sampled_event(self, public: Public, rate: float) -> events.Event:
        """Return the event on a Poisson batch: a b-bounded-range answer is b-DP, and pure privacy is amplified."""
        self.scale(public)
        return events.PoissonPure(self.epsilon, rate)

    def answer(self, records: Records, noise: Noise) -> int:
        """The index of the noisy maximum."""
        scores = np.asarray(self.measure(records), dtype=np.float64)
        if self.epsilon <= _NOTHING:  # the scores do not matter
            return noise.largest(np.zeros(scores.shape), 1.0)
        return noise.largest(scores, self.scale(records.public))

    def scale(self, public: Public) -> float:
        """Scale of the Gumbel noise, a public number."""
        moves = self.spread(public) + 4.0 * self.rounding(public)
        return moves / max(self.epsilon, _NOTHING) * (1.0 + 4.0 * UNIT)


class Release(Mechanism):
    """A result that is private only as a whole: its loop runs inside `answer` and only the end leaves."""
