"""The certified minimiser of a strongly convex objective, plus noise: output perturbation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..losses import Loss
from ..privacy import events
from ._bounds import (
    Convexity,
    convexity_note,
    gradient_bound,
    linear_rows,
    rebuild_penalty,
    refuse_shape,
    split_penalty,
)
from ._kernels import UNIT
from ._lattice import Lattice, lattice
from ._limits import Limits
from ._mechanism import Array, Release, freeze_fields
from ._minimise import minimise
from ._noise import Noise
from ._objective import Objective
from ._public import Public
from ._records import Records
from ._schedule import minimiser_distance

__all__ = ["NoisyMinimiser"]


@dataclass(frozen=True, eq=False, kw_only=True)
class NoisyMinimiser(Release):
    """Minimiser of the sum of losses + penalty + strength/2 |w|^2, plus noise.

    Parameters
    ----------
    loss, penalty, shape, strength, clip : object
        As in `PerturbedObjective`.
    multiplier : float
        Standard deviation of the noise (if pure: scale of the density exp(-|z|/scale)) over how
        far the certified minimiser can move.
    pure : bool
        Pure epsilon instead of (epsilon, delta).

    See Also
    --------
    PerturbedObjective : Noise inside the objective.
    HiddenDescent : Noise at the end of a descent.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import Logistic
    >>> from skdp.mechanisms import NoisyMinimiser, Public
    >>> from skdp.penalties import NoPenalty, ScaledPenalty
    >>> question = NoisyMinimiser(
    ...     loss=Logistic(), penalty=ScaledPenalty(NoPenalty(), intercept=False), shape=(2,),
    ...     multiplier=10.0, strength=4.0,
    ... )
    >>> public = Public(n=1000, n_features=2, intercept=0.0, neighbors="replace_one")
    >>> 0.5 <= question.sensitivity(public) < 0.5001  # 2 slopes of at most 1, over the strength
    True
    """

    proof: ClassVar[str] = "output_perturbation"
    loss: Loss
    penalty: Any
    shape: tuple[int, ...]
    multiplier: float
    strength: float
    clip: float | None = None
    pure: bool = False

    def __post_init__(self) -> None:
        freeze_fields(self, scales=("multiplier",), bounds=("strength",), flags=("pure",))
        if self.clip is not None:
            freeze_fields(self, bounds=("clip",))
        object.__setattr__(self, "shape", tuple(int(k) for k in self.shape))
        object.__setattr__(self, "penalty", rebuild_penalty(self.penalty))

    def sensitivity(self, public: Public) -> float:
        """Bound how far the certified minimiser can move between neighbours."""
        refuse_shape(self.shape, self.loss, public)
        bound = gradient_bound(self.loss, self.clip, public)
        limits = self.limits(public)
        tolerance = limits.tolerance()
        return minimiser_distance(bound, limits.convexity, tolerance, public.sensitivity_factor)

    def limits(self, public: Public) -> Limits:
        """Return the effect that rounding can have on the certificate."""
        weights, rest = split_penalty(self.penalty, self.strength, self.shape)
        return Limits(
            public,
            self.loss,
            gradient_bound(self.loss, self.clip, public),
            Convexity.of(self.strength, self.penalty, public).modulus(),
            float(np.max(weights)),
            start=float(np.linalg.norm(self.penalty.prox(np.zeros(self.shape), 1.0))),
            split=rest is not None,
            promised=self.multiplier > 0.0,
        )

    def grid(self, public: Public) -> Lattice:
        """The lattice of the answer, whose noise counts in how far the minimiser can move."""
        distance = self.sensitivity(public)
        # The answer may lie past the minimiser by what its certificate leaves open, which is part of the distance.
        rounding = 2.0 * UNIT * (self.limits(public).furthest() + distance)
        return lattice(self.multiplier, distance, rounding, math.prod(self.shape))

    def notes(self, public: Public) -> tuple[str, ...]:
        """The strong convexity that was used, and what for."""
        convexity = Convexity.of(self.strength, self.penalty, public)
        curvature = float(self.loss.curvature or 0.0)
        return (convexity_note(self.strength, self.penalty, curvature, convexity),)

    def event(self, public: Public) -> events.Event:
        """Return the event: a Gaussian release, or a pure one."""
        self.grid(public)
        if not self.pure:
            return events.Gaussian(self.multiplier)
        return events.PureDP(math.inf if self.multiplier == 0 else 1.0 / self.multiplier)

    def answer(self, records: Records, noise: Noise) -> Array:
        """The noisy minimiser, with noise that was settled before a record is touched."""
        public = records.public
        grid = self.grid(public)
        weights, rest = split_penalty(self.penalty, self.strength, self.shape)
        rows = linear_rows(records).in_double()
        objective = Objective(rows, records.y, self.loss, weights, np.zeros(self.shape), self.clip)
        limits = self.limits(public)
        with np.errstate(all="ignore"):
            w = minimise(objective, limits, limits.tolerance(), rest)
        release = noise.radial if self.pure else noise.gaussian
        return release(w, grid)
