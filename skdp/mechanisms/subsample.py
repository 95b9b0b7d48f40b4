"""A question asked of a random batch, drawn from the trusted noise source and never seen by the solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..exceptions import NotSupported
from ..privacy import events
from ._mechanism import Additive, Mechanism, freeze_fields
from ._noise import Noise
from ._public import Public
from ._records import Records

__all__ = ["PoissonBatch", "RandomBatch"]


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
