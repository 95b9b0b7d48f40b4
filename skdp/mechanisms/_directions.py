"""Directions for a Newton step over many columns, from products with the rows instead of their whole second moment.

A direction only proposes a step: whether it is taken is proved from derivatives (docs/proofs/sums.md), so nothing here
carries a promise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ._engine import Rows

__all__ = ["SampledCurvature", "conjugate_gradients"]

Array = np.ndarray[Any, Any]

PER_COLUMN = 8  # records for each column that know the curvature up to a small factor
LEAST = 4096
MOST = 30  # products for one direction


class Curved(Protocol):
    """Protocol of an objective that a direction needs: its rows, its records' weights and its strength."""

    @property
    def rows(self) -> Rows:
        """Bounded rows."""

    @property
    def strength(self) -> Any:
        """Weight of half the squared norm, for all coordinates or one by one."""

    def weights(self, z: Array) -> Array:
        """Second derivative of each record's loss."""


class SampledCurvature:
    """Products with the curvature, and conjugate gradients that know the curvature of some records.

    Parameters
    ----------
    objective : Objective
        Rows, weights and strength.
    solver : callable
        From a positive definite matrix to its inverse as a function; `_objective` has one.

    Notes
    -----
    Records are taken at equal distances, so that a sorted table does no harm; where they tell too little of the others,
    directions take more products, and the next iterate asks all records.
    """

    def __init__(self, objective: Curved, solver: Callable[[Array], Callable[[Array], Array]]):
        self._objective, self._solver = objective, solver
        self._rows = objective.rows.rough()
        self._precondition: Callable[[Array], Array] | None = None
        self._sampled = False

    def direction(self, z: Array, g: Array, accuracy: float) -> Array:
        """Solve curvature p = g approximately for p, where records have scores z."""
        weights = self._objective.weights(z)
        if self._precondition is None:
            self._learn(weights)
        assert self._precondition is not None

        def times(v: Array) -> Array:
            inner = weights * self._rows.dot(v)
            return np.asarray(self._rows.tdot(inner) + self._objective.strength * v)

        p, products = conjugate_gradients(times, self._precondition, g, accuracy, MOST)
        if products > MOST // 2:
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
        matrix[np.diag_indices_from(matrix)] += self._objective.strength
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
