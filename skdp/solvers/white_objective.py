"""Objective perturbation after private whitening.

Privacy: post-processing of one noisy second moment, one noisy sum of row norms, one randomly perturbed objective in
the coordinates that they give (docs/proofs/mapped.md), and of one noisy count where n is private. Coordinates and clip
follow from answers, prices do not: the objective's profile is composed with Gaussians.

Changes of the curvature of elliptical rows, times a vector: with the noise of a moment, and with parameters.

Noise G of the moment moves the rows' covariance, their center, line and lengths, and the scores' mean and deviation: to
first order by a linear map of G times three vectors, and of one trace. Parameters move the line and the scores. Along
these the curvature moves little with G: what is longer is further out, too, where losses bend less.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, replace
from typing import ClassVar, cast

import numpy as np

from ..mechanisms import PerturbedObjective, Public
from ..mechanisms._mechanism import Mechanism
from ..penalties import NoPenalty, ScaledPenalty
from ._one_shot import chosen_clip
from ._ranges import clip_bound, positive, share_of_budget
from ._solver import Array, Asked, Budget, OracleLike, Solver, Task, count_asked, record_count
from ._spread import (
    HEARD,
    Elliptical,
    Heard,
    Seen,
    bend_of,
    expected,
    over_directions,
    typical_bend,
)
from ._whitening import (
    buy_whitening,
    opening,
    refuse_other_penalties,
    share_left,
    stand_in,
    whitening_asked,
    wholeness,
)
from .objective_perturbation import tight

__all__ = ["WhiteObjective"]


_STEP = 1e-3  # of a squared length, for derivatives of what lengths make: they have no formula


def blurred(rows: Elliptical, v: Array) -> Array:
    """Covariance that the moment's noise gives ``bend @ v``, where no slope is clipped.

    Parameters
    ----------
    rows : Elliptical
        Of a moment as it was released.
    v : ndarray of shape (d,)
        A direction in the new coordinates.
    """
    matrix, size = rows.seen.matrix, len(v)
    held = np.stack([matrix.T @ v, matrix.T @ rows.u, rows.first], axis=1)
    moves = _with_moment(rows, v)
    vectors, trace = moves[:, :-1].reshape(size, 3, size), moves[:, -1]
    # Of a symmetric G with deviation 1 on its diagonal, 2 E[G a b' G] = (a'b) I + b a', and with traces alike.
    ends, whole = vectors @ (matrix @ held), matrix.T @ matrix
    across = vectors @ matrix
    mixed = np.einsum("jk,ckb->cjb", held.T @ held, across)
    total = across.reshape(size, -1) @ mixed.reshape(size, -1).T
    total += ends.reshape(size, -1) @ ends.transpose(0, 2, 1).reshape(size, -1).T
    with_trace = np.outer(np.einsum("ajb,bj->a", vectors, matrix @ whole @ held), trace)
    total += 2.0 * (with_trace + with_trace.T + np.square(whole).sum() * np.outer(trace, trace))
    return np.asarray(0.5 * rows.seen.noise**2 * total)


def followed(rows: Elliptical, v: Array) -> Array:
    """The derivative of ``bend @ v`` in the parameters of the new rows, where no slope is clipped.

    Parameters
    ----------
    rows, v : object
        As for `blurred`.
    """
    turn = (rows.beside - np.outer(rows.line, rows.line)) / rows.deviation
    still = np.zeros(len(v))
    means = _means(rows, np.stack([rows.center, rows.line, still, still]))
    return _turned(rows, v, means, turn)


def _with_moment(rows: Elliptical, v: Array) -> Array:
    """The derivative of ``bend @ v`` in G times v, times u, times what makes the center, and in the trace."""
    center, line, size = rows.center, rows.line, len(v)
    row, score, first = (np.eye(size, 3 * size + 1, k * size) for k in range(3))
    trace = np.eye(1, 3 * size + 1, 3 * size)[0]
    mean = rows.u @ first
    deviation = (0.5 * (rows.u @ score) - rows.mean * mean) / rows.deviation
    turn = score - rows.mean * first - np.outer(center, mean) - np.outer(line, deviation)
    square = 2.0 * (center @ first)
    means = _means(rows, np.stack([mean, deviation, square, trace - square]))
    (own, aside, cross, _), _ = means
    out = _turned(rows, v, means, turn / rows.deviation)
    out += aside * row + (own - aside) * (float(center @ v) * first + np.outer(center, v @ first))
    return out + cross * (float(line @ v) * first + np.outer(line, v @ first))


def _turned(rows: Elliptical, v: Array, means: tuple[Array, Array], turn: Array) -> Array:
    """Return the effect of the means' derivatives, and of the line's."""
    center, line = rows.center, rows.line
    near, far = float(line @ v), float(center @ v)
    (_, aside, cross, straight), by = means
    kinds = far * center, rows.beside @ v - near * line, near * center + far * line, near * line
    out = np.stack(kinds, axis=1) @ by
    out += (straight - aside) * (near * turn + np.outer(line, v @ turn))
    return np.asarray(out + cross * (far * turn + np.outer(center, v @ turn)))


def _means(rows: Elliptical, changes: Array) -> tuple[Array, Array]:
    """Four means, and how they change with the scores' mean and deviation, the center's square and the spread."""
    means, by_mean, by_deviation = rows.means()
    by_sizes = []
    for step in np.diag(np.full(2, _STEP * rows.sizes.sum())):
        other, ends = copy(rows), []
        for sign in (1.0, -1.0):
            other.lay(np.maximum(rows.sizes + sign * step, 1e-300))
            ends.append(other.means()[0])
        by_sizes.append((ends[0] - ends[1]) / (2.0 * step.sum()))
    return means, np.stack([by_mean, by_deviation, *by_sizes], axis=1) @ changes


# Of what is given back, by which a curvature of elliptical rows may be off: in simulations with uniform, exponential
# and binary columns about so much.
_UNSURE = 0.1
_ROUNDS = 3  # until the middle between minimiser and estimate stays where it is


@dataclass(frozen=True)
class Unshrunk:
    """Parameters of given rows, without a penalty.

    Parameters
    ----------
    w : ndarray of shape (d,)
        Their estimate.
    deviation : ndarray of shape (d,)
        Its standard errors: of sampling, of noise, and of what was given back.
    given_back : ndarray of shape (d,)
        What the ridge had taken.
    ratio : float
        Noise of the rows' moment over its shortest direction.
    """

    w: Array
    deviation: Array
    given_back: Array
    ratio: float


def unshrunk(seen: Seen, w: Array, public: Public, ridge: Array, noise: float) -> Unshrunk:
    """``w + H^-1 R w`` and ``K^-1 (S + noise^2 + V) K^-1``, of sampling, of the linear term and of the moment's noise.

    H is taken at the middle of minimiser and estimate, S, the covariance of slopes, at the estimate. A row of which a
    share s is left has s^2 in H and s^4 in S: Mallows' weights. V is the covariance of H v, v what is given back. K is
    H, and what H v moves with the estimate, by way of the middle.

    Parameters
    ----------
    seen : Seen
        What was bought; its moment as it was released.
    w : ndarray of shape (d,)
        The minimiser.
    public : Public
        Facts about the given rows.
    ridge : ndarray of shape (d,)
        What bends the objective beside the losses, in the new coordinates.
    noise : float
        Standard deviation of each coordinate of the linear term.
    """
    least = float(np.linalg.eigvalsh(seen.moment)[0])
    size, matrix = len(w), seen.matrix
    ratio = seen.noise * math.sqrt(2.0 * size) / least if least > 0.0 else math.inf
    pulled, moved = ridge * np.linalg.solve(matrix.T, w), np.zeros(size)
    for _ in range(_ROUNDS):
        rows = Elliptical(seen, w + 0.5 * moved, public)
        inverse = np.linalg.inv(seen.n * rows.bend())
        back = inverse @ pulled
        moved = matrix.T @ back
    slopes = Elliptical(seen, w + moved, public).slopes()
    inverse = np.linalg.inv(seen.n * (rows.bend() + 0.5 * followed(rows, back)))
    middle = seen.n * slopes + noise**2 * np.eye(size) + seen.n**2 * blurred(rows, back)
    spread = matrix.T @ (inverse @ middle @ inverse.T) @ matrix
    variance = np.diagonal(spread) + np.square(_UNSURE * moved)
    return Unshrunk(w + moved, np.sqrt(variance), moved, ratio)


_STEEPEST = (
    5e10  # a penalty's curvature, in strengths, beyond which its directions are as good as gone
)


@dataclass(frozen=True)
class WhiteObjective(Solver):
    """Minimise a randomly perturbed objective of rows whose second moment is about the same in all directions.

    Parameters
    ----------
    moment_share, norm_share : float
        Shares of the budget for the second moment and for the typical norm of a whitened row.
    clip : float or None
        Bound on the norm of one record's gradient, whitened rows having norm at most 1; None: by the noise level.
    strength : float or None
        Weight of half the squared norm of the whitened parameters; None: what privacy needs, or more where the noise
        asks for it.
    radius : float
        How far the solution may lie, for the default strength.
    """

    name: ClassVar[str] = "white-objective"
    needs: ClassVar[frozenset[str]] = frozenset({"smooth_loss"})
    tells: ClassVar[tuple[type[Mechanism], ...]] = HEARD

    moment_share: float = share_of_budget(0.1)
    norm_share: float = share_of_budget(0.02)
    clip: float | None = clip_bound(None, unbounded=True)
    strength: float | None = positive(None)
    radius: float = positive(10.0)

    def asks(self, public: Public, task: Task, budget: Budget) -> Asked:
        """A count where n is private, the coordinates, and the objective in them."""
        refuse_other_penalties(self, task)
        white = stand_in(public)
        yield from count_asked(public, budget)
        yield from whitening_asked(self, public, budget)
        yield white.question(self._objective(white.public, task, budget)), 1

    def _objective(self, public: Public, task: Task, budget: Budget) -> PerturbedObjective:
        """The question in new coordinates. Clip and strength set the price: they may depend on no answer."""
        widest = opening(public, budget)
        budget = replace(budget, noise=budget.noise / math.sqrt(share_left(self)))
        free = Task(task.loss, ScaledPenalty(NoPenalty(), 1.0, False), task.shape)
        clip = chosen_clip(self.clip, free, public, budget)
        return tight(public, free, budget, clip, self.strength, self.radius * widest, widest)

    def solve(self, oracle: OracleLike, task: Task, budget: Budget) -> Array:
        """Return the noisy minimiser, in the given coordinates."""
        white = buy_whitening(self, oracle, task, record_count(oracle, budget), budget)
        question = self._objective(stand_in(oracle.public).public, task, budget)  # as it was priced
        ridge = white.ridge(task.penalty)
        if (
            budget.private
        ):  # a refusal of what no double certifies would depend on bought coordinates
            ridge = np.minimum(ridge, _STEEPEST * question.strength)
        question = replace(question, ridge=ridge)
        return white.back(oracle.ask(white.question(question)))

    def nominal_error(
        self, public: Public, task: Task, budget: Budget, base_rate: float = 0.5
    ) -> float | None:
        """Return the error by the curvature that a nominal table would have."""
        if not expected(task, public) or public.n is None:
            return None
        white = stand_in(public, wholeness(task, public, budget))
        widest = opening(public, budget)
        asked = white.question(self._objective(white.public, task, budget))
        question = cast(PerturbedObjective, asked.question)
        own = task.penalty.convexity_of_coefficients / widest**2
        ridge = (question.strength + own) / public.n
        bend = typical_bend(asked, public.width, widest, base_rate, ridge)
        whole = public.n * (bend + ridge)
        deviation = question.multiplier * question.bound(white.public) / widest
        return over_directions((deviation / whole) ** 2, public.width)

    def spread(
        self, heard: Heard, w: Array, public: Public, task: Task, budget: Budget
    ) -> Array | None:
        """The inverse curvature, on either side of the linear term's covariance."""
        if not expected(task, public):
            return None
        seen = Seen.of(heard, public)
        question = cast(PerturbedObjective, seen.asked.question)
        whole = seen.n * bend_of(seen, w, public) + np.diag(question.strength + question.ridge)
        deviation = question.multiplier * question.bound(seen.asked.coordinates.seen(public))
        moved = deviation * np.linalg.solve(whole, seen.matrix)
        return np.asarray(moved.T @ moved)

    def unshrunk(
        self, heard: Heard, w: Array, public: Public, task: Task, budget: Budget
    ) -> Unshrunk | None:
        """Return the estimate without a penalty, where no slope is clipped: of the model's own losses."""
        if not expected(task, public):
            return None
        seen = Seen.of(heard, public, released=True)
        question = cast(PerturbedObjective, seen.asked.question)
        if question.clip is not None:
            return None
        deviation = question.multiplier * question.bound(seen.asked.coordinates.seen(public))
        return unshrunk(seen, w, public, question.strength + question.ridge, deviation)
