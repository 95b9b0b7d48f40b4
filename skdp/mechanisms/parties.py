"""Gradients of disjoint parties, each at its own parameters, for the price of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..exceptions import NotSupported
from ..losses import Loss
from ..privacy import events
from ._bounds import refuse_shape
from ._mechanism import Additive, Array, freeze_fields
from ._public import Public
from ._records import Records
from .gradient import Gradient

__all__ = ["PartyGradients"]


@dataclass(frozen=True, eq=False, kw_only=True)
class PartyGradients(Additive):
    """Noisy sums of the clipped gradients of K parties' records, each at the party's own parameters.

    Parties are consecutive blocks of positions, as equal as can be: a public partition of n public records. A record
    sits in one party, so replacing it moves one block of the answer.

    Parameters
    ----------
    at : ndarray of shape (K, ...)
        Parameters of each party.
    loss : Loss
        A registered loss.
    clip : float
        Bound on the norm of one record's gradient.

    See Also
    --------
    Gradient : Of all records together.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import Logistic
    >>> from skdp.mechanisms import Gradient, PartyGradients, Public
    >>> public = Public(n=1000, n_features=2, intercept=0.0, neighbors="replace_one")
    >>> given = {"loss": Logistic(), "clip": 0.5, "multiplier": 10.0}
    >>> five = PartyGradients(at=np.zeros((5, 2)), **given)
    >>> five.event(public) == Gradient(at=np.zeros(2), **given).event(public)  # for the price of one
    True
    """

    proof: ClassVar[str] = "party_gradients"
    covers_units: ClassVar[bool] = True
    at: Any
    loss: Loss
    clip: float

    def __post_init__(self) -> None:
        super().__post_init__()
        freeze_fields(self, bounds=("clip",), arrays=("at",))

    def bound(self, public: Public) -> float:
        """The clip: a record adds to one block only."""
        return self.clip

    def size(self, public: Public) -> int:
        """All parties' parameters, of which each record has its own scores."""
        refuse_shape(self.at.shape[1:], self.loss, public)
        return int(self.at.size)

    def sensitivity(self, public: Public) -> float:
        """Two clips where a record is replaced; positions say who is in which party, so none may come or go."""
        if not public.replace_one:
            raise NotSupported(
                "parties are positions in the data, which move under neighbors='add_remove'; use 'replace_one'."
            )
        return super().sensitivity(public)

    def sampled_event(self, public: Public, rate: float) -> events.Event:
        """Refuse a batch: there the position of a record depends on who else is in it."""
        raise NotSupported("PartyGradients has no price on a batch; ask it of all records.")

    def measure(self, records: Records) -> Array:
        """Return the clipped gradients of the parties, stacked."""
        total, n = np.zeros_like(self.at), len(records)
        if n not in (0, records.public.n):
            raise NotSupported("PartyGradients has no price on a batch; ask it of all records.")
        ends = np.arange(len(self.at) + 1) * n // len(self.at)
        for k, w in enumerate(self.at):
            part = records.take(slice(ends[k], ends[k + 1]))
            one = Gradient(at=w, loss=self.loss, clip=self.clip, multiplier=0.0)
            total[k] = one.measure(part)
        return total
