"""Certified minimisers of strongly convex objectives.

`NoisyMinimiser` adds noise to the minimiser: output perturbation. `PerturbedObjective` minimises an objective with a
random linear term: objective perturbation with tight constants.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..exceptions import NotSupported
from ..losses import Loss
from ..privacy import events
from ..privacy.events import ObjectivePerturbation, PureObjectivePerturbation
from ._bounds import (
    Convexity,
    convexity_note,
    gradient_bound,
    linear_rows,
    rebuild_penalty,
    refuse_shape,
    rule_of,
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
from ._strips import FINEST

__all__ = ["NoisyMinimiser", "PerturbedObjective"]


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


LINEAR_ROUNDING = 1e-13  # of the linear term, far above what rounding makes of it
# Deviations (scales, if pure) beyond its own length that a linear term has with probability below 1e-300.
FAR = 40.0, 1000.0
_LONGEST = 1e4  # norm of rows in other coordinates, of which certified scores keep digits
_LOUDEST = 1e30  # beyond, products with the linear term overflow
OUTPUT_SHARE = 0.02  # of the main shift (of epsilon, if pure) for the minimiser's inexactness


@dataclass(frozen=True, eq=False, kw_only=True)
class PerturbedObjective(Release):
    """Minimiser of the sum of losses + penalty + strength/2 |w - center|^2 + <b, w>, random b.

    b is drawn once; the minimiser is computed to a certificate, and noise that is far smaller than
    what b does covers what the certificate leaves open.

    Parameters
    ----------
    loss : Loss
        Smooth and convex. Without a clip its slope must be bounded.
    penalty : ScaledPenalty
        Registered and convex; what it has of strong convexity counts.
    shape : tuple of int
        Shape of the parameters.
    multiplier : float
        Standard deviation of b over the bound of one record's gradient (if pure: scale of the
        density exp(-|b|/scale) over it).
    strength : float
        Weight of half the squared norm of ALL coordinates, the intercept's among them.
    clip : float or None
        Each record's slope is capped so that its gradient has at most this norm.
    pure : bool
        Pure epsilon instead of (epsilon, delta).
    center : ndarray or None
        Public point that the strength pulls to; None for zero.
    ridge : ndarray or None
        Public weights, 0 or more, of half the square of each coordinate, alike for all outputs, beside the strength;
        the promise does not count on them.

    See Also
    --------
    NoisyMinimiser : Noise beside the minimiser.
    Mapped : In other coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.losses import Logistic
    >>> from skdp.mechanisms import Noise, PerturbedObjective, Public, Records
    >>> from skdp.penalties import NoPenalty, ScaledPenalty
    >>> X, y = np.tile([0.6, 0.8], (1000, 1)), np.repeat([1.0, -1.0], [750, 250])
    >>> public = Public(n=1000, n_features=2, intercept=0.0, neighbors="replace_one")
    >>> vault = Records.admit(X, y, public, data_norm=1.0)
    >>> question = PerturbedObjective(
    ...     loss=Logistic(), penalty=ScaledPenalty(NoPenalty(), intercept=False), shape=(2,),
    ...     multiplier=5.0, strength=1.0,
    ... )
    >>> w = question.answer(vault, Noise(seed=0))
    >>> bool(abs(w @ [0.6, 0.8] - np.log(3.0)) < 0.2)  # the log odds, but for noise and ridge
    True
    """

    proof: ClassVar[str] = "objective_perturbation"
    covers_units: ClassVar[bool] = True
    loss: Loss
    penalty: Any
    shape: tuple[int, ...]
    multiplier: float
    strength: float
    clip: float | None = None
    pure: bool = False
    center: Any = None
    ridge: Any = None

    def __post_init__(self) -> None:
        freeze_fields(self, scales=("multiplier", "strength"), flags=("pure",))
        if self.ridge is not None:
            freeze_fields(self, arrays=("ridge",))
            if self.ridge.ndim != 1 or not (self.ridge >= 0.0).all():
                raise ValueError(
                    "PerturbedObjective was given ridge weights below 0; give 0 or more."
                )
        if self.center is not None:
            freeze_fields(self, arrays=("center",))
        if self.clip is not None:
            freeze_fields(self, bounds=("clip",))
        if self.multiplier > _LOUDEST:
            raise ValueError(
                f"PerturbedObjective was given multiplier={self.multiplier:g}; it must be at most {_LOUDEST:g}."
            )
        object.__setattr__(self, "shape", tuple(int(k) for k in self.shape))
        object.__setattr__(self, "penalty", rebuild_penalty(self.penalty))

    def bound(self, public: Public) -> float:
        """Bound on the norm of one record's gradient."""
        return gradient_bound(self.loss, self.clip, public)

    def convexity(self, public: Public) -> Convexity:
        """Return the convexity by which the Jacobian is bounded."""
        return Convexity.of(self.strength, self.penalty, public)

    def notes(self, public: Public) -> tuple[str, ...]:
        """The strong convexity that was used, and what for."""
        convexity = Convexity.of(self.strength, self.penalty, public)
        curvature = float(self.loss.curvature or 0.0)
        return (convexity_note(self.strength, self.penalty, curvature, convexity),)

    def event(self, public: Public) -> events.Event:
        """Return the event of an objective perturbation; see the theorems of its proof page."""
        refuse_shape(self.shape, self.loss, public)
        if self.ridge is not None and self.ridge.shape != self.shape[:1]:
            raise ValueError(
                f"ridge of shape {self.ridge.shape} does not fit parameters of shape {self.shape}; give one "
                "weight for each row of them."
            )
        self.grid(public)  # refuses what double precision cannot certify
        kind = PureObjectivePerturbation if self.pure else ObjectivePerturbation
        shift = math.inf if self.multiplier == 0 else 1.0 / self.multiplier
        return kind(
            shift=shift,
            jacobian=float(self.loss.curvature or 0.0) * self.convexity(public).leverage(),
            rule=rule_of(self.loss, self.clip, public),
            classes=max(self.loss.outputs, 2),
            rows=public.rows,
            width=public.width if public.rows > 1 else None,
            equal_weights=public.rows > 1,  # no row weighs more than in equal shares
            output=OUTPUT_SHARE * public.sensitivity_factor * shift,
        )

    def refuse_in(self, seen: Public) -> None:
        """Coordinates that leave too few digits."""
        if seen.stretch > _LONGEST:
            raise NotSupported(
                f"coordinates that stretch rows {seen.stretch:.3g} times leave too few digits for a certified "
                f"minimiser; stay below {_LONGEST:g}."
            )

    def linear_term(self, public: Public) -> Lattice:
        """The lattice of the linear term, as fine as double precision allows."""
        scale = self.multiplier * self.bound(public) * (1.0 + 2.0**-48)
        return Lattice(math.ldexp(scale, -FINEST), FINEST, 0.0)

    def longest_linear_term(self, public: Public) -> float:
        """Bound on its norm, but for a probability below 1e-300."""
        size = math.prod(self.shape)
        typical = 2.0 * size + FAR[1] if self.pure else math.sqrt(size) + FAR[0]
        return self.linear_term(public).scale * typical

    def limits(self, public: Public) -> Limits:
        """Return the effect that rounding can have on the certificate."""
        pull = 0.0
        if self.center is not None:
            pull = self.strength * float(np.linalg.norm(self.center))
        ridge = 0.0 if self.ridge is None else float(self.ridge.max(initial=0.0))
        weights, rest = split_penalty(self.penalty, self.strength, self.shape)
        return Limits(
            public.of_rows(),
            self.loss,
            self.bound(public),
            self.convexity(public).modulus(),
            float(np.max(weights)) + ridge,
            self.longest_linear_term(public) + pull,
            float(np.linalg.norm(self.penalty.prox(np.zeros(self.shape), 1.0))),
            rest is not None,
            self.multiplier > 0.0,
        )

    def tolerance(self, public: Public) -> float:
        """Certificate that double precision reaches, beside so large a linear term and pull."""
        return self._tolerance(public, self.limits(public))

    def _tolerance(self, public: Public, limits: Limits) -> float:
        pull = 0.0 if self.center is None else self.strength * float(np.abs(self.center).max())
        linear = (self.multiplier * self.bound(public) + pull) * math.prod(self.shape)
        return max(limits.tolerance(), LINEAR_ROUNDING * linear)

    def grid(self, public: Public) -> Lattice:
        """The lattice of the answer, whose noise counts in what the certificate leaves open.

        That is for the real linear term, of which the one that is used is a rounding.
        """
        limits = self.limits(public)
        open_ = self._tolerance(public, limits) + 4.0 * UNIT * self.longest_linear_term(public)
        reach = 2.0 * open_ / limits.convexity
        per_reach = self.multiplier / (OUTPUT_SHARE * public.sensitivity_factor)
        # The answer may lie past the minimiser by what the certificate leaves open.
        furthest = limits.furthest() + reach
        return lattice(per_reach, reach, 2.0 * UNIT * furthest, math.prod(self.shape))

    def output_noise(self, public: Public) -> float:
        """Standard deviation (scale, if pure) of the noise on the minimiser; a public number."""
        return self.grid(public).scale

    def answer(self, records: Records, noise: Noise) -> Array:
        """The noisy minimiser, with noise that was settled before a record is touched."""
        public = records.public
        grid = self.grid(public)
        tilt = noise.linear_term(self.shape, self.linear_term(public), self.pure)
        if self.center is not None:
            tilt = tilt - self.strength * self.center.reshape(self.shape)
        weights, rest = split_penalty(self.penalty, self.strength, self.shape)
        if self.ridge is not None:
            weights = weights + self.ridge.reshape(weights.shape)
        rows = linear_rows(records).in_double()
        clip = (
            None
            if self.clip is None or rule_of(self.loss, self.clip, public) == "logistic"
            else self.clip
        )
        objective = Objective(rows, records.y, self.loss, weights, tilt, clip, share=records.share)
        with np.errstate(all="ignore"):
            w = minimise(objective, self.limits(public), self.tolerance(public), rest)
        release = noise.radial if self.pure else noise.gaussian
        return release(w, grid)
