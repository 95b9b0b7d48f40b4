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
    refuse_shape,
    settled_penalty,
    split_penalty,
)
from ._minimise import in_double, minimise, tolerance_for
from ._noise import Noise
from ._objective import Objective
from ._public import Public
from ._question import Array, Release, settle
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
        settle(self, scales=("multiplier",), bounds=("strength",))
        if self.clip is not None:
            settle(self, bounds=("clip",))
        object.__setattr__(self, "shape", tuple(int(k) for k in self.shape))
        object.__setattr__(self, "penalty", settled_penalty(self.penalty))

    def sensitivity(self, public: Public) -> float:
        """How far the certified minimiser can move between neighbours."""
        refuse_shape(self.shape, self.loss, public)
        bound = gradient_bound(self.loss, self.clip, public)
        modulus = Convexity.of(self.strength, self.penalty, public).modulus()
        return minimiser_distance(bound, modulus, tolerance_for(public, bound), public.swing)

    def notes(self, public: Public) -> tuple[str, ...]:
        """The strong convexity that was used, and what for."""
        convexity = Convexity.of(self.strength, self.penalty, public)
        curvature = float(self.loss.curvature or 0.0)
        return (convexity_note(self.strength, self.penalty, curvature, convexity),)

    def event(self, public: Public) -> events.Event:
        """One Gaussian, or one pure release."""
        self.sensitivity(public)
        if not self.pure:
            return events.Gaussian(self.multiplier)
        return events.PureDP(math.inf if self.multiplier == 0 else 1.0 / self.multiplier)

    def answer(self, records: Records, noise: Noise) -> Array:
        """The noisy minimiser."""
        public, draw = records.public, noise.radial if self.pure else noise.normal
        bound = gradient_bound(self.loss, self.clip, public)
        weights, rest = split_penalty(self.penalty, self.strength, self.shape)
        rows = in_double(linear_rows(records))
        objective = Objective(rows, records.y, self.loss, weights, np.zeros(self.shape), self.clip)
        with np.errstate(all="ignore"):
            w = minimise(objective, tolerance_for(public, bound), rest)
        return w + self.multiplier * self.sensitivity(public) * draw(self.shape)
