"""Step sizes that a private comparison may choose from, shared by the solvers that compare."""

from __future__ import annotations

import math

import numpy as np

__all__ = ["ladder_rule", "start"]


def ladder_rule(task, public, n, noise, rounds, radius):
    """Longest step on the mean objective that is worth trying.

    The bound on the curvature counts every row as if all pointed one way; the curvature along a descent direction is
    far below it, so the ladder starts at sixteen times the inverse bound: eight times too long to be safe, which a
    comparison finds out. Shorter where noise alone would carry the iterate past ``radius``, and within the prox of a
    weakly convex penalty. ``noise`` is the standard deviation of one coordinate of one noisy mean gradient.
    """
    curvature = (task.loss.curvature or 1.0) * public.row_bound**2
    longest = min(16.0 / curvature, 0.99 * n * task.penalty.largest_step)
    wander = noise * math.sqrt(rounds * task.size)
    return min(longest, radius / wander) if wander > 0 else longest


def start(task):
    """Zero, or the point of a constraint that is nearest to it: where penalties are compared, they must be finite."""
    return task.penalty.prox(np.zeros(task.shape), 1e-9)
