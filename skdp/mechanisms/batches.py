"""Questions asked of random batches, drawn from the trusted noise source and never seen by the solver.

`PoissonBatch` and `RandomBatch` draw one batch. `AllocatedBatch` asks the batches of an epoch; each record is in
exactly one, uniformly random.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..exceptions import NotSupported, OffScript
from ..privacy import events
from ._mechanism import Additive, Mechanism, freeze_fields
from ._noise import Noise
from ._public import Public
from ._records import Records

__all__ = ["AllocatedBatch", "PoissonBatch", "RandomBatch"]


@dataclass(frozen=True, eq=False)
class PoissonBatch(Mechanism):
    """A question asked of a batch that holds each record independently with probability `rate`.

    The batch is fresh for every question, so amplified prices add up. Its realised size stays inside.

    Parameters
    ----------
    question : Mechanism
        What is asked; it must have a price on a Poisson batch.
    rate : float
        Probability with which each record is taken.

    See Also
    --------
    RandomBatch : A batch of fixed size.
    Gradient : What is mostly asked.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import Logistic
    >>> from skdp.mechanisms import Gradient, PoissonBatch, Public
    >>> question = Gradient(at=np.zeros(2), loss=Logistic(), clip=0.5, multiplier=2.0)
    >>> public = Public(n=None, n_features=2, intercept=0.0, neighbors="add_remove")
    >>> PoissonBatch(question, rate=0.01).event(public)
    PoissonGaussian(multiplier=2.0, rate=0.01)
    """

    proof: ClassVar[str] = "poisson_batch"
    covers_units: ClassVar[bool] = True
    question: Mechanism
    rate: float

    def __post_init__(self) -> None:
        freeze_fields(self, scales=("rate",))

    def proofs(self) -> tuple[str, ...]:
        """Its own page and the question's."""
        return (self.proof, *self.question.proofs())

    def event(self, public: Public) -> events.Event:
        """The question's own price on a Poisson batch."""
        return self.question.sampled_event(public, self.rate)

    def answer(self, records: Records, noise: Noise) -> Any:
        """The answer on a fresh batch, drawn in O(batch)."""
        batch = records.take(noise.poisson_batch(len(records), self.rate))
        return self.question.answer(batch, noise)


@dataclass(frozen=True, eq=False)
class RandomBatch(Mechanism):
    """A sum asked of a uniformly random batch of fixed size, without replacement (replace-one neighbours only).

    Parameters
    ----------
    question : Additive
        A bounded sum.
    size : int
        Records in the batch.

    See Also
    --------
    PoissonBatch : Each record by a coin of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import Logistic
    >>> from skdp.mechanisms import Gradient, Public, RandomBatch
    >>> question = Gradient(at=np.zeros(2), loss=Logistic(), clip=0.5, multiplier=2.0)
    >>> public = Public(n=1000, n_features=2, intercept=0.0, neighbors="replace_one")
    >>> type(RandomBatch(question, size=10).event(public)).__name__
    'WithoutReplacementGaussian'
    """

    proof: ClassVar[str] = "random_batch"
    covers_units: ClassVar[bool] = True
    question: Additive
    size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", int(self.size))
        if not isinstance(self.question, Additive):
            raise NotSupported(
                f"{type(self.question).__name__} has no price on a batch of fixed size; ask it of a Poisson batch."
            )

    def proofs(self) -> tuple[str, ...]:
        """Its own page and the question's."""
        return (self.proof, *self.question.proofs())

    def event(self, public: Public) -> events.Event:
        """The symmetric curve of sampling without replacement."""
        if not public.replace_one or public.n is None:
            raise NotSupported(
                "a batch of fixed size shows n under neighbors='add_remove'; use sampling='poisson'."
            )
        rate = self.size / public.n
        self.question.sampled_event(public, rate)  # what has no price on a batch refuses here too
        return events.WithoutReplacementGaussian(self.question.multiplier, rate)

    def answer(self, records: Records, noise: Noise) -> Any:
        """The answer on a fresh batch; a blank vault has none to draw."""
        size = min(self.size, len(records))
        return self.question.answer(records.take(noise.subset(len(records), size)), noise)


_MOST = 2**32 - 1  # batches, of which a word chooses one

Array = np.ndarray[Any, Any]


class _Epoch:
    """Batches of an epoch, each of which is handed out once; who is in which never leaves."""

    def __init__(self, batch_of: Array, price: events.RandomAllocation) -> None:
        self.price = price
        self._order = np.argsort(batch_of, kind="stable")
        self._batches = batch_of[self._order]
        self._asked = 0
        self._lock = threading.Lock()

    def next_batch(self, price: events.RandomAllocation) -> Array:
        """Records of the next batch; refused where the epoch has none left, or was paid for at another price."""
        with self._lock:
            k = self._asked
            if price != self.price or k == price.batches:
                raise OffScript(
                    f"AllocatedBatch was asked at the price of {price} after {k} batches of {self.price}; "
                    "start a new epoch with opens=True."
                )
            self._asked += 1
        first, last = np.searchsorted(self._batches, [k, k + 1])
        return self._order[first:last]


@dataclass(frozen=True, eq=False)
class AllocatedBatch(Mechanism):
    """A sum asked of the next batch of an epoch in which each record is in exactly one batch, uniformly random.

    The first batch of an epoch pays for all of them, and draws them; an epoch that is not finished has been paid for.
    Sizes of batches are random, may be zero, and stay inside.

    Parameters
    ----------
    question : Additive
        A bounded sum.
    batches : int
        Batches of the epoch.
    opens : bool
        Whether a new epoch begins. Otherwise the vault hands out the next batch of its last epoch.

    See Also
    --------
    PoissonBatch : Each record by a coin of its own, again for each batch.
    RandomBatch : A batch of fixed size.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import Logistic
    >>> from skdp.mechanisms import AllocatedBatch, Gradient, Public
    >>> question = Gradient(at=np.zeros(2), loss=Logistic(), clip=0.5, multiplier=2.0)
    >>> public = Public(n=None, n_features=2, intercept=0.0, neighbors="add_remove")
    >>> AllocatedBatch(question, batches=100, opens=True).event(public)
    RandomAllocation(multiplier=2.0, batches=100)
    >>> AllocatedBatch(question, batches=100, opens=False).event(public)
    PureDP(epsilon=0.0)
    """

    proof: ClassVar[str] = "random_allocation"
    covers_units: ClassVar[bool] = True
    question: Additive
    batches: int
    opens: bool

    def __post_init__(self) -> None:
        freeze_fields(self, flags=("opens",))
        object.__setattr__(self, "batches", int(self.batches))
        if not 1 <= self.batches <= _MOST:
            raise ValueError(
                f"AllocatedBatch was given batches={self.batches}; it must be from 1 to {_MOST}."
            )
        if not isinstance(self.question, Additive):
            raise NotSupported(
                f"{type(self.question).__name__} has no price on an allocated batch; ask it of a Poisson batch."
            )

    def proofs(self) -> tuple[str, ...]:
        """Its own page and the question's."""
        return (self.proof, *self.question.proofs())

    def event(self, public: Public) -> events.Event:
        """The whole epoch at its first batch, and nothing at the others."""
        price = self._price(public)
        return price if self.opens else events.PureDP(0.0)

    def _price(self, public: Public) -> events.RandomAllocation:
        """The epoch's event: every contribution is bounded where a Poisson batch has a price."""
        sampled = self.question.sampled_event(public, 1.0 / self.batches)
        if not isinstance(sampled, events.PoissonGaussian):
            raise NotSupported(
                f"{type(self.question).__name__} has no price on an allocated batch; ask it of a Poisson batch."
            )
        return events.RandomAllocation(sampled.multiplier, self.batches)

    def answer(self, records: Records, noise: Noise) -> Any:
        """The answer on the next batch."""
        price = self._price(records.public)
        if self.opens:
            records.begin(_Epoch(noise.allocation(len(records), self.batches), price))
        if records.epoch is None:
            raise OffScript("AllocatedBatch was asked before an epoch; start one with opens=True.")
        return self.question.answer(records.take(records.epoch.next_batch(price)), noise)
