"""Full-batch step of linearised ADMM with noise on all three of its iterates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..exceptions import NotSupported
from ..losses import Loss
from ..privacy import events
from ._bounds import rebuild_penalty, refuse_shape
from ._kernels import UNIT
from ._mechanism import Additive, Array, freeze_fields
from ._public import Public
from ._records import Records
from .gradient import Gradient

__all__ = ["ModelStep"]


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelStep(Additive):
    """The iterates x, z, y of ADMM after one step on the clipped gradient of all records, stacked, plus noise.

    Noise on x alone says as much for less, since z and y follow from x (`Gradient`): this is the mechanism of the
    paper, with the step size that its sensitivity left out, and the three priced together.

    Parameters
    ----------
    x, z, y : ndarray
        The iterates before the step: public, or noisy answers.
    loss : Loss
        A registered loss.
    penalty : ScaledPenalty
        A registered convex penalty, on the scale of the sum.
    clip : float
        Bound on the norm of one record's gradient.
    rho, inverse : float
        Penalty of the splitting, and one over the step size, on the scale of the mean.
    n : float
        What the sum of gradients is divided by: a public constant or a noisy answer.

    See Also
    --------
    Gradient : Noise on x alone says as much for less.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import Logistic
    >>> from skdp.mechanisms import ModelStep, Noise, Public, Records
    >>> from skdp.penalties import NoPenalty, ScaledPenalty
    >>> step = ModelStep(
    ...     x=np.zeros(2), z=np.zeros(2), y=np.zeros(2), loss=Logistic(), clip=0.5, rho=0.5,
    ...     penalty=ScaledPenalty(NoPenalty(), intercept=False), inverse=0.5, n=100, multiplier=10.0,
    ... )
    >>> public = Public(n=100, n_features=2, intercept=0.0, neighbors="replace_one")
    >>> step.size(public), round(step.bound(public), 6)  # 0.5/100, on x and z
    (6, 0.007071)
    """

    proof: ClassVar[str] = "model_step"
    x: Any
    z: Any
    y: Any
    loss: Loss
    penalty: Any
    clip: float
    rho: float
    inverse: float
    n: float

    def __post_init__(self) -> None:
        super().__post_init__()
        freeze_fields(self, bounds=("clip", "rho", "inverse", "n"), arrays=("x", "z", "y"))
        # Broadcasting would repeat what a record moves, beyond the bound.
        if not self.x.shape == self.z.shape == self.y.shape:
            raise ValueError(
                f"ModelStep was given x, z and y of shapes {self.x.shape}, {self.z.shape} and {self.y.shape}; "
                "give all three the shape of the parameters."
            )
        object.__setattr__(self, "penalty", rebuild_penalty(self.penalty))

    def bound(self, public: Public) -> float:
        """Bound the effect of a gradient of norm clip on x, times that of x on all three."""
        reach = self.clip / (self.n * (self.rho + self.inverse))
        return reach * math.sqrt(1.0 + max(1.0, self.rho**2))

    def size(self, public: Public) -> int:
        """Three iterates, of which each record has its own scores."""
        refuse_shape(self.x.shape, self.loss, public)
        return 3 * int(self.x.size)

    def rounding(self, public: Public) -> float:
        """Bound the rounding of the sum and of the steps made of it: a few units of each number that is added."""
        x, z, y = (float(np.linalg.norm(v)) for v in (self.x, self.z, self.y))
        total = self.rho + self.inverse
        furthest = (self.rho * z + y + self.inverse * x) / total + public.most * self.bound(public)
        steps = (1.0 + self.rho) * (furthest + y / self.rho + furthest) + y + z
        return super().rounding(public) + 32.0 * UNIT * steps

    def event(self, public: Public) -> events.Event:
        """Return the event of a Gaussian release; refused where the bound, a quotient, leaves the doubles."""
        self.grid(public)
        return super().event(public)

    def sampled_event(self, public: Public, rate: float) -> events.Event:
        """Refuse a batch: the iterates are not a sum over records."""
        raise NotSupported("ModelStep has no price on a batch; ask it of all records.")

    def measure(self, records: Records) -> Array:
        """x, z and y after the step."""
        question = Gradient(at=self.x, loss=self.loss, clip=self.clip, multiplier=0.0)
        pull = self.rho * self.z - self.y + self.inverse * self.x
        x = (pull - question.measure(records) / self.n) / (self.rho + self.inverse)
        z = self.penalty.prox(x + self.y / self.rho, 1.0 / (self.rho * self.n))
        return np.stack([x, z, self.y + self.rho * (x - z)])
