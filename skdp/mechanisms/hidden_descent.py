"""Descents whose iterates never leave: only the end, plus noise, is released."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..exceptions import NotSupported
from ..losses import Loss
from ..privacy import events
from ._bounds import gradient_bound, linear_rows, rebuild_penalty, refuse_shape
from ._kernels import ROUNDINGS, UNIT
from ._lattice import Lattice, lattice
from ._mechanism import Array, Release, freeze_fields
from ._noise import Noise
from ._public import Public
from ._records import Records
from ._schedule import Schedule, distances, reached
from ._shrunk import slopes_of

__all__ = ["HiddenDescent"]

_FURTHEST = 1e100  # apart: beyond, iterates overflow for some records and not for others
BINS = 16  # of the changed record's position: keeps receipts short at a fraction of a percent


@dataclass(frozen=True, eq=False, kw_only=True)
class HiddenDescent(Release):
    """Gradient descent over fixed batches, its last iterate plus noise. Replace-one only.

    Each step is w - eta (mean gradient of the batch's losses + convexity w), then a prox step of
    the penalty divided by n, which brings no two runs further apart.

    Parameters
    ----------
    loss : Loss
        Smooth and convex, with a bounded slope or a clip.
    penalty : ScaledPenalty
        Registered and convex.
    shape : tuple of int
        Shape of the parameters.
    schedule : Schedule
        Step sizes, batches and averaging, for the descent and for its price.
    convexity : float
        Weight of half the squared norm of all coordinates, on the MEAN objective.
    multiplier : float
        Standard deviation of the noise (if pure: scale of exp(-|z|/scale)) over the largest
        distance of two neighbouring ends.
    shuffle : bool
        Whether the records are put into a secret random order once, before the first step.
    clip : float or None
        Each record's slope is capped so that its gradient has at most this norm.
    pure : bool
        Pure epsilon instead of (epsilon, delta); the order then buys nothing.

    See Also
    --------
    Schedule : Steps and batches.
    NoisyMinimiser : The end of a descent that ran to the minimum.

    Examples
    --------
    >>> from skdp.losses import Logistic
    >>> from skdp.mechanisms import HiddenDescent, Public, Schedule
    >>> from skdp.penalties import NoPenalty, ScaledPenalty
    >>> question = HiddenDescent(
    ...     loss=Logistic(), penalty=ScaledPenalty(NoPenalty(), intercept=False), shape=(2,),
    ...     schedule=Schedule.constant(1.0, epochs=1, sizes=(500, 500)), convexity=0.0, multiplier=10.0,
    ... )
    >>> public = Public(n=1000, n_features=2, intercept=0.0, neighbors="replace_one")
    >>> question.reach(public).round(6)  # one step on 500 records, 2 slopes of at most 1
    array([0.004, 0.004])
    """

    proof: ClassVar[str] = "hidden_descent"
    loss: Loss
    penalty: Any
    shape: tuple[int, ...]
    schedule: Schedule
    convexity: float
    multiplier: float
    shuffle: bool = False
    clip: float | None = None
    pure: bool = False

    def __post_init__(self) -> None:
        freeze_fields(self, scales=("multiplier", "convexity"), flags=("shuffle", "pure"))
        if self.clip is not None:
            freeze_fields(self, bounds=("clip",))
        plan = Schedule(
            np.array(self.schedule.steps, dtype=np.float64),
            tuple(int(size) for size in self.schedule.sizes),
            None if self.schedule.period is None else int(self.schedule.period),
        )
        plan.steps.setflags(write=False)
        object.__setattr__(self, "schedule", plan)
        object.__setattr__(self, "shape", tuple(int(k) for k in self.shape))
        object.__setattr__(self, "penalty", rebuild_penalty(self.penalty))

    def reach(self, public: Public) -> Array:
        """Bound the distance of two neighbouring ends, by the batch of the changed record."""
        if not public.replace_one or sum(self.schedule.sizes) != public.n:
            raise NotSupported(
                "A hidden descent has a proof for neighbors='replace_one' and batches that hold "
                f"all n={public.n} records; use 'objective-perturbation' under add_remove."
            )
        refuse_shape(self.shape, self.loss, public)
        bound = gradient_bound(self.loss, self.clip, public)
        curvature = float(self.loss.curvature or 0.0) * public.row_bound**2
        with np.errstate(over="ignore", invalid="ignore"):
            reach = distances(
                self.schedule,
                bound,
                curvature,
                self.convexity,
                public.sensitivity_factor,
                partial(self._rough, public, bound, curvature, self._start()),
            )
        if not reach.max() <= _FURTHEST:
            raise NotSupported(
                f"steps of up to {self.schedule.steps.max():g} at curvature {curvature + self.convexity:g} run away "
                "for some records, so nothing can be promised of where they end; take steps below "
                f"{2.0 / (curvature + self.convexity):g}."
            )
        return reach

    def _rough(
        self, public: Public, bound: float, curvature: float, start: float, step: float, w: float
    ) -> float:
        """Bound the distance of a computed step from the exact one: sums and scores, then the step and its prox."""
        w += start
        mean = (ROUNDINGS + 32.0) * bound + (public.width + 8.0) * curvature * w
        return UNIT * (step * (mean + 4.0 * self.convexity * w) + 16.0 * (w + step * bound))

    def _start(self) -> float:
        """Norm of the point of a constraint that is nearest to 0, by which it moves iterates at most."""
        return float(np.linalg.norm(self.penalty.prox(np.zeros(self.shape), 1.0)))

    def event(self, public: Public) -> events.Event:
        """Return the event: a Gaussian, a pure release, or a mixture over the secret position of the record."""
        reach = self.reach(public)
        grid = self._lattice(public, reach)  # refuses what double precision cannot answer
        if self.pure:
            return events.PureDP(math.inf if self.multiplier == 0 else 1.0 / self.multiplier)
        if not self.shuffle:
            return events.Gaussian(self.multiplier)
        # Roundings add the same to every distance, near or far.
        added = grid.reach - float(reach.max()) + math.sqrt(math.prod(self.shape)) * grid.step
        weights, multipliers = _grouped(reach + added, self.schedule.sizes, grid.scale)
        return events.RandomPosition(weights, multipliers)

    def grid(self, public: Public) -> Lattice:
        """The lattice of the answer, whose noise counts in how far apart two ends may lie."""
        return self._lattice(public, self.reach(public))

    def _lattice(self, public: Public, reaches: Array) -> Lattice:
        reach = float(reaches.max())
        bound = gradient_bound(self.loss, self.clip, public)
        w = reached(self.schedule, bound, self.convexity) + self._start()
        return lattice(self.multiplier, reach, 2.0 * UNIT * w, math.prod(self.shape))

    def noise_scale(self, public: Public) -> float:
        """Standard deviation of the noise, or scale of the pure one; a public number."""
        return self.grid(public).scale

    def answer(self, records: Records, noise: Noise) -> Array:
        """The noisy end, with noise that was settled before a record is touched."""
        grid = self.grid(records.public)
        records = replace(records, rows=linear_rows(records).in_double())
        shuffled = self.shuffle and len(records) > 0
        order = noise.permutation(len(records)) if shuffled else None
        with np.errstate(all="ignore"):
            w = self._descend(records, order)
        release = noise.radial if self.pure else noise.gaussian
        return release(w, grid)

    def _descend(self, records: Records, order: Array | None) -> Array:
        """Walk over batches of the records in this order: one batch at a time is copied."""
        w = np.zeros(self.shape)
        if not len(records):
            return w
        ends = np.cumsum(self.schedule.sizes)
        batches: list[Array | slice] = [
            slice(int(b - a), int(b)) for a, b in zip(self.schedule.sizes, ends)
        ]
        if order is not None:
            batches = [order[part] for part in batches]
        total, counted = np.zeros(self.shape), 0
        for steps, averaged in self.schedule.passes():
            for step, batch in zip(steps, batches):
                w = self._step(w, records.take(batch), step, int(ends[-1]))
                total, counted = total + w, counted + 1
            if averaged:
                w = total / counted
            if averaged or self.schedule.period is None:
                total, counted = np.zeros(self.shape), 0
        return w

    def _step(self, w: Array, batch: Records, step: float, n: int) -> Array:
        slopes = slopes_of(self.loss, batch.rows.shrink, batch.rows.dot(w), batch.y)
        if self.clip is not None:
            cap = self.clip / batch.rows.norms
            np.clip(slopes, -cap, cap, out=slopes)
        gradient = batch.rows.tdot(slopes) / len(batch) + self.convexity * w
        moved: Array = self.penalty.prox(w - step * gradient, step / n)
        return moved


def _grouped(
    reach: Array, sizes: tuple[int, ...], scale: float
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Share of the records at each distance, in a few bins, and the noise over that distance.

    A bin is priced at the largest distance in it.
    """
    order = np.argsort(reach)
    bins = np.array_split(order, min(BINS, len(order)))
    share = np.asarray(sizes, dtype=float) / sum(sizes)
    weights = tuple(float(share[part].sum()) for part in bins)
    with np.errstate(divide="ignore"):
        multipliers = tuple(float(scale / reach[part].max()) for part in bins)
    return weights, multipliers
