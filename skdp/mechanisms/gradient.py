"""Clipped gradients and their relatives.

* `Gradient`: what most solvers ask.
* `GradientDifference`: the change between two points, the query of variance reduction on its batches.
* `ModelStep`: a full-batch step of linearised ADMM with noise on all three of its iterates.
* `PartyGradients`: gradients of disjoint parties, each at its own parameters, for the price of one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..exceptions import NotSupported
from ..losses import Loss
from ..privacy import events
from ._bounds import (
    cap,
    linear_rows,
    pass_forward,
    rebuild_penalty,
    refuse_shape,
    refuse_unless_linear,
)
from ._kernels import ROUNDINGS, UNIT
from ._mapped import FLOOR
from ._mechanism import Additive, Array, freeze_fields
from ._public import Public
from ._records import Records

__all__ = ["Gradient", "GradientDifference", "ModelStep", "PartyGradients"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Gradient(Additive):
    """Sum over records of their gradients of the loss, each clipped to norm `clip`, plus Gaussian noise.

    For a linear model a record's gradient is its slope times its row: clipping rescales the slope, and no array of
    n rows of d numbers is built. The sum is never divided by a realised batch size.

    Parameters
    ----------
    at : ndarray
        Parameters at which the gradient is taken.
    loss : Loss
        A registered loss. Its declared constants are not trusted: the clip holds for any slope.
    clip : float
        Bound on the norm of one record's gradient.

    See Also
    --------
    GradientDifference : Near an anchor, with less noise.
    PoissonBatch : Asks it of a batch.
    Mapped : Asks it in other coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import Logistic
    >>> from skdp.mechanisms import Gradient, Public
    >>> question = Gradient(at=np.zeros(2), loss=Logistic(), clip=0.5, multiplier=10.0)
    >>> public = Public(n=1000, n_features=2, intercept=0.0, neighbors="replace_one")
    >>> question.sensitivity(public)  # one clipped gradient less, another more
    1.0
    >>> question.event(public)
    Gaussian(multiplier=5.0)
    """

    proof: ClassVar[str] = "clipped_gradient"
    covers_units: ClassVar[bool] = True
    at: Any
    loss: Loss
    clip: float

    def __post_init__(self) -> None:
        freeze_fields(self, scales=("multiplier",), bounds=("clip",), arrays=("at",))

    def bound(self, public: Public) -> float:
        """The clip."""
        return self.clip

    def size(self, public: Public) -> int:
        """Return the number of parameters; refuse a shape in which records share scores."""
        refuse_shape(self.at.shape, self.loss, public)
        return int(self.at.size)

    def rounding(self, public: Public) -> float:
        """Bound the rounding of the sum; mapped rows are summed as stored, which may be longer."""
        if not public.stretch:
            return super().rounding(public)
        steepest = math.inf if self.loss.slope is None else self.loss.slope
        longest = max(self.clip, public.stretch * min(steepest, self.clip / FLOOR))
        return (ROUNDINGS + public.depth) * UNIT * public.most_rows * longest

    def refuse_in(self, seen: Public) -> None:
        """Refuse nothing: new rows of neighbours differ in one record too, and each gradient is clipped there."""

    def measure(self, records: Records) -> Array:
        """Sum of the clipped gradients."""
        if not len(records):
            return np.zeros(self.at.shape)
        return records.sum(self._clipped)

    def _clipped(self, records: Records) -> Array:
        # A record whose pass overflows must neither warn nor spoil the sum: either would show that it is there.
        with np.errstate(all="ignore"):
            total, weights = self._weighted(records)
            if not math.isfinite(np.vdot(total, total)):
                total, _ = self._weighted(records.of_rows(np.flatnonzero(weights > 0.0)))
        return total

    def _weighted(self, records: Records) -> tuple[Array, Array]:
        """Sum of gradients, each times the weight that brings it within the clip; and the weights."""
        model = records.model
        slopes, tape = pass_forward(self.at, records, self.loss)
        # Rows are clipped, not the unit: an average of clipped gradients is one of a convex function.
        weights = records.shared(cap(model.norms(tape, slopes), self.clip, self.loss.outputs))
        return model.pullback(tape, slopes, weights), weights


@dataclass(frozen=True, eq=False, kw_only=True)
class GradientDifference(Additive):
    """Sum over records of clipped gradient at `at` minus clipped gradient at `anchor`, clipped again, plus noise.

    For a smooth loss the difference of a record is at most its curvature times the distance of the two points, so near
    the anchor a small `reach` cuts nothing off and needs little noise.

    Parameters
    ----------
    at, anchor : ndarray
        The two points.
    loss : Loss
        A registered loss. Its declared constants are not trusted: `reach` is enforced.
    clip : float
        Bound on the norm of one record's gradient at either point, as in `Gradient`.
    reach : float
        Bound on the norm of one record's difference.

    See Also
    --------
    Gradient : At the anchor.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import Logistic
    >>> from skdp.mechanisms import GradientDifference, Public
    >>> step = np.array([0.04, 0.03])  # a logistic gradient moves by no more than 0.25 * 0.05
    >>> question = GradientDifference(
    ...     at=step, anchor=np.zeros(2), loss=Logistic(), clip=1.0, reach=0.0125, multiplier=10.0
    ... )
    >>> question.bound(Public(n=1000, n_features=2, intercept=0.0, neighbors="replace_one"))
    0.0125
    """

    proof: ClassVar[str] = "gradient_difference"
    covers_units: ClassVar[bool] = True
    at: Any
    anchor: Any
    loss: Loss
    clip: float
    reach: float

    def __post_init__(self) -> None:
        super().__post_init__()
        freeze_fields(self, bounds=("clip", "reach"), arrays=("at", "anchor"))

    def bound(self, public: Public) -> float:
        """The reach."""
        return self.reach

    def size(self, public: Public) -> int:
        """Return the number of parameters; refuse a shape in which records share scores."""
        refuse_unless_linear(public)
        refuse_shape(self.at.shape, self.loss, public)
        refuse_shape(self.anchor.shape, self.loss, public)
        return int(self.at.size)

    def measure(self, records: Records) -> Array:
        """Sum of the clipped differences."""
        if not len(records):
            return np.zeros(self.at.shape)
        return records.sum(self._clipped)

    def _clipped(self, records: Records) -> Array:
        rows = linear_rows(records)  # along which a record's gradient lies, at either point
        with np.errstate(all="ignore"):
            slopes = self._slopes(records, self.at) - self._slopes(records, self.anchor)
            # A record whose score overflows contributes nothing; see Gradient.
            slopes[~np.isfinite(slopes)] = 0.0
            weights = cap(records.model.norms(rows, slopes), self.reach, self.loss.outputs)
            return records.model.pullback(rows, slopes, records.shared(weights))

    def _slopes(self, records: Records, w: Array) -> Array:
        """Slopes at w, each scaled so that its gradient's norm is at most the clip."""
        slopes, rows = pass_forward(w, records, self.loss)
        weights = cap(records.model.norms(rows, slopes), self.clip, self.loss.outputs)
        slopes *= weights if slopes.ndim == 1 else weights[:, None]
        return slopes


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
