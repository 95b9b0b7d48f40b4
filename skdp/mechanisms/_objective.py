"""The perturbed objective as an inner optimiser sees it: gradient, curvature, and lines through it.

J(w) = sum of losses(rows w, y) + |w|^2_strength / 2 + <linear, w>, each record's slope capped so
that its gradient has norm at most ``clip``. Capping the slope of a convex function of the score
keeps it convex with a continuous derivative (Song, Steinke, Thakkar and Thakurta 2021), but has no
formula for the value, so everything here works from derivatives alone.

Directions for a Newton step over many columns, from products with the rows instead of their whole second moment.

A direction only proposes a step: whether it is taken is proved from derivatives (docs/proofs/sums.md), so nothing here
carries a promise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigvalsh

from . import _twofold
from ._engine import Rows
from ._shrunk import curvatures_of, slopes_of, whole_scores

__all__ = ["Curvature", "Objective", "SampledCurvature", "conjugate_gradients", "solver_of"]


Array = np.ndarray[Any, Any]

PER_COLUMN = 8  # records for each column that know the curvature up to a small factor
LEAST = 4096
LONG = 1 << 15  # rows in a part of a product, beside which what is done once for a part is little
MOST_SAMPLED = 30  # products for one direction


class SampledCurvature:
    """Products with the curvature, and conjugate gradients that know the curvature of some records.

    Parameters
    ----------
    rows : Rows
        Bounded rows.
    strength : float or ndarray
        Weight of half the squared norm, for all coordinates or one by one.
    solver : callable
        From a positive definite matrix to its inverse as a function; `_objective` has one.

    Notes
    -----
    Records are taken at equal distances, so that a sorted table does no harm; where they tell too little of the others,
    directions take more products, and the next iterate asks all records.
    """

    def __init__(
        self, rows: Rows, strength: Any, solver: Callable[[Array], Callable[[Array], Array]]
    ) -> None:
        self._rows, self._strength, self._solver = rows.rough(), strength, solver
        self._precondition: Callable[[Array], Array] | None = None
        self._sampled = False

    def direction(self, weights: Array, g: Array, accuracy: float) -> Array:
        """Solve curvature p = g approximately for p, where records' losses have these second derivatives."""
        if self._precondition is None:
            self._learn(weights)
        assert self._precondition is not None

        def times(v: Array) -> Array:
            total = self._strength * v
            for part in self._rows.chunks(LONG):  # so that rows are fetched once
                rows = self._rows.take(part)
                total += rows.tdot(weights[part] * rows.dot(v))
            return np.asarray(total)

        p, products = conjugate_gradients(times, self._precondition, g, accuracy, MOST_SAMPLED)
        if products > MOST_SAMPLED // 2:
            self._precondition = None
        return p

    def _learn(self, weights: Array) -> None:
        """The curvature of a sample at first, of all records where that was not enough."""
        rows, n = self._rows, len(weights)
        some = max(PER_COLUMN * rows.width, LEAST)
        if not self._sampled and n >= 2 * some:
            index = np.arange(0, n, n // some)
            matrix = rows.take(index).gram(weights[index])
            matrix *= n / len(index)
        else:
            matrix = rows.gram(weights)
        self._sampled = True
        matrix[np.diag_indices_from(matrix)] += self._strength
        self._precondition = self._solver(matrix)


def conjugate_gradients(
    times: Callable[[Array], Array],
    precondition: Callable[[Array], Array],
    g: Array,
    accuracy: float,
    most: int,
) -> tuple[Array, int]:
    """A direction whose product is g but for ``accuracy`` times its norm, and how many products that took.

    Parameters
    ----------
    times : callable
        Product with a positive definite matrix.
    precondition : callable
        About its inverse.
    g : ndarray
        Right side.
    accuracy : float
        Norm of what is left, in norms of g.
    most : int
        Products after which what there is is returned: it goes down as well.
    """
    x, r = np.zeros_like(g), g.copy()
    p = s = precondition(r)
    energy, goal = float(np.vdot(r, s)), accuracy * float(np.linalg.norm(g))
    for products in range(most):
        if not (np.linalg.norm(r) > goal and energy > 0.0):
            return x, products
        product = times(p)
        step = energy / max(float(np.vdot(p, product)), 1e-300)
        x, r = x + step * p, r - step * product
        s = precondition(r)
        fresh = float(np.vdot(r, s))
        p, energy = s + (fresh / energy) * p, fresh
    return x, most


FEW_COLUMNS = 48  # up to which a second moment of all rows costs no more than a few products
DENSE_WIDTH = 2000  # above, a Cholesky factor costs more than the products it saves
MOST = 1000  # products for one direction


class Curvature(Protocol):
    """A positive definite second derivative."""

    def times(self, v: Array) -> Array:
        """Product with a direction."""

    def solve(self, g: Array) -> Array:
        """Direction whose product is about g."""

    def largest(self) -> float:
        """Upper bound on the largest eigenvalue, or an estimate of it with a margin."""


@dataclass(frozen=True, eq=False)
class Objective:
    """Strongly convex objective over bounded rows.

    Parameters
    ----------
    rows : Rows
        Bounded rows in double precision (see `in_double`).
    y : ndarray
        Targets.
    loss : Loss
        Convex, with a curvature.
    strength : float or ndarray
        Weight of half the squared norm, for all coordinates or one by one.
    linear : ndarray
        The linear term; its shape is that of the parameters.
    clip : float or None
        Bound on one row's gradient; one score per row only.
    share : ndarray of shape (n,) or None
        What each row's loss weighs, in [0, 1]: rows are capped one by one, and then averaged. None: 1.
    """

    rows: Rows
    y: Array
    loss: Any
    strength: Any
    linear: Array
    clip: float | None = None
    share: Array | None = None
    known: list[SampledCurvature] = field(default_factory=list, init=False)

    def slopes(self, z: Array) -> Array:
        """Derivative of each record's loss in its score, capped."""
        slopes = slopes_of(self.loss, self.rows.shrink, z, self.y)
        if self.clip is not None:
            cap = self.clip / self.rows.norms
            np.clip(slopes, -cap, cap, out=slopes)
        return self.shared(slopes)

    def shared(self, values: Array) -> Array:
        """Multiply values of rows by the rows' weights, in place."""
        if self.share is not None:
            values *= self.share if values.ndim == 1 else self.share[:, None]
        return values

    def weights(self, z: Array) -> Array:
        """Second derivative of each record's loss: zero where the slope is capped."""
        weights = curvatures_of(self.loss, self.rows.shrink, z, self.y)
        if self.clip is not None:
            slopes = slopes_of(self.loss, self.rows.shrink, z, self.y)
            weights[np.abs(slopes) * self.rows.norms > self.clip] = 0.0
        return self.shared(weights)

    def pull(self, w: Array) -> float:
        """Size of what does not depend on records: the strength's part of the gradient, and the linear term."""
        return float(np.linalg.norm(self.strength * w) + np.linalg.norm(self.linear))

    def gradient(self, w: Array, slopes: Array) -> Array:
        """Gradient at w, where records have these slopes."""
        return np.asarray(self.rows.tdot(slopes) + self.strength * w + self.linear)

    def careful_gradient(self, w: Array) -> Array:
        """Return the gradient in twofold precision: products with rows, and the sum over records."""
        slopes = self.slopes(self.rows.careful_dot(w, np.zeros_like(w)))
        total, lost = self.rows.careful_tdot(slopes)
        total, first = _twofold.two_sum(total, self.linear)
        pull, second = _twofold.times(np.asarray(self.strength, dtype=np.float64) + 0.0 * w, w)
        total, third = _twofold.two_sum(total, pull)
        return np.asarray(total + (lost + first + second + third))

    def along(self, w: Array, z: Array, p: Array) -> Callable[[float], float]:
        """Return the derivative of J along w + t p; no product with the rows is needed for it."""
        q = self.rows.dot(p)
        at_start = float(np.vdot(self.strength * w + self.linear, p))
        growth = float(np.vdot(self.strength * p, p))
        return lambda t: float(np.vdot(self.slopes(z + t * q), q)) + at_start + t * growth

    def direction(self, w: Array, z: Array, g: Array, accuracy: float) -> Array:
        """Solve curvature p = g approximately for p at w, where records have scores z."""
        if w.ndim > 1 or not FEW_COLUMNS < len(w) <= DENSE_WIDTH:
            return self.curvature(w, z, accuracy).solve(g)
        if not self.known:
            self.known.append(SampledCurvature(self.rows, self.strength, solver_of))
        return self.known[0].direction(self.weights(z), g, accuracy)

    def curvature(self, w: Array, z: Array, accuracy: float) -> Curvature:
        """Curvature at w, factored where that is cheaper than products."""
        if w.ndim == 1 and len(w) <= DENSE_WIDTH:
            matrix = self.rows.gram(self.weights(z))
            matrix[np.diag_indices_from(matrix)] += self.strength
            return DenseCurvature(matrix)
        return ImplicitCurvature(self, z, w.shape, accuracy)


class DenseCurvature:
    """A matrix and its Cholesky factor."""

    def __init__(self, matrix: Array) -> None:
        self.matrix = matrix

    def times(self, v: Array) -> Array:
        """Product with a direction."""
        return self.matrix @ v

    def solve(self, g: Array) -> Array:
        """Direction whose product is g."""
        return solver_of(self.matrix)(g)

    def largest(self) -> float:
        """Largest eigenvalue; of a large matrix its bound by the largest absolute row sum."""
        if len(self.matrix) > 500:
            return float(np.abs(self.matrix).sum(axis=1).max())
        return float(eigvalsh(self.matrix, check_finite=False)[-1]) * (1 + 1e-9)


class ImplicitCurvature:
    """Products with the curvature, and conjugate gradients; no matrix of all parameters.

    With several scores per record and not too many columns, one Cholesky factor of the mean
    curvature over the scores preconditions all of them.
    """

    def __init__(self, objective: Objective, z: Array, shape: tuple[int, ...], accuracy: float):
        self.objective, self.z, self.accuracy = objective, z, accuracy
        self.shrink = objective.rows.shrink
        self.shape = shape
        self.bend = self._bend()
        self.precondition = self._preconditioner()

    def _bend(self) -> Callable[[Array], Array]:
        """Second derivatives in the scores times a direction in the scores."""
        if self.z.ndim == 1:
            return self.objective.weights(self.z).__mul__
        z, y = whole_scores(self.shrink, self.z), self.objective.y
        product = self.objective.loss.d2z_product(z, y)
        return lambda s: self.objective.shared(product(s))

    def times(self, v: Array) -> Array:
        """Product with a direction."""
        rows = self.objective.rows
        return rows.tdot(self.bend(rows.dot(v))) + self.objective.strength * v

    def _preconditioner(self) -> Callable[[Array], Array]:
        if self.z.ndim == 1 or self.shape[0] > DENSE_WIDTH:
            return lambda g: g
        p = self.objective.loss.predict(whole_scores(self.shrink, self.z))
        mean = self.objective.shared((p * (1.0 - p)).mean(axis=1))
        matrix = self.objective.rows.gram(mean)
        matrix[np.diag_indices_from(matrix)] += np.min(self.objective.strength)
        return solver_of(matrix)

    def solve(self, g: Array) -> Array:
        """Preconditioned conjugate gradients until the residual is ``accuracy`` times |g|."""
        return conjugate_gradients(self.times, self.precondition, g, self.accuracy, MOST)[0]

    def largest(self) -> float:
        """Estimate by power iterations, with a margin of a tenth."""
        # Equal entries would stay where they are: no direction common to all classes is curved.
        v = self.objective.linear + np.cos(np.arange(math.prod(self.shape))).reshape(self.shape)
        for _ in range(30):
            v = self.times(v / np.linalg.norm(v))
        return 1.1 * float(np.linalg.norm(v))


def solver_of(matrix: Array) -> Callable[[Array], Array]:
    """Cholesky, with the diagonal raised by rounding's own size if it is needed."""
    ridge, scale = 0.0, float(np.abs(matrix.diagonal()).max())
    if not math.isfinite(scale):  # no direction then, and a gradient step instead
        return np.zeros_like
    while True:
        try:
            factor = cho_factor(matrix + ridge * np.eye(len(matrix)), check_finite=False)
            return lambda g: cho_solve(factor, g, check_finite=False)
        except LinAlgError:
            ridge = max(10 * ridge, scale * len(matrix) * math.ulp(1.0))
