"""Exact output densities of objective perturbation in one, two and three dimensions, on a grid.

The minimiser w of sum of losses + lam/2 |w|^2 + <b, w> determines b, so its density under a data
set is that of b = -(gradient of the losses + lam w), times det(Hessian of the losses + lam I).
Nothing here knows a bound: `delta_between` integrates (p - e^eps p')_+ as it stands.
"""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Instance:
    """Records common to both worlds, and what each world has beside them.

    ``common``, ``left`` and ``right`` are (rows, targets); ``pull`` is a constant gradient, the
    limit of many saturated records.
    """

    loss: object
    common: tuple
    left: tuple
    right: tuple
    pull: np.ndarray = field(default_factory=lambda: np.zeros(1))
    classes: int = 1


def _sums(instance, w, rows, targets):
    """Gradient (m, p) and Hessian (m, p, p) of the losses at m parameters of p numbers."""
    m, p = w.shape
    gradient, hessian = np.zeros((m, p)), np.zeros((m, p, p))
    for x, y in zip(np.atleast_2d(rows), targets):
        if instance.classes == 1:
            z, target = w @ x, np.full(m, y)
            gradient += instance.loss.dz(z, target)[:, None] * x
            hessian += instance.loss.d2z(z, target)[:, None, None] * np.outer(x, x)
        else:
            z = np.einsum("mdk,d->mk", w.reshape(m, len(x), -1), x)
            q = np.exp(z - z.max(axis=1, keepdims=True))
            q /= q.sum(axis=1, keepdims=True)
            slope = q - np.eye(instance.classes)[y]
            inner = np.einsum("mk,kl->mkl", q, np.eye(instance.classes)) - np.einsum(
                "mk,ml->mkl", q, q
            )
            gradient += np.einsum("d,mk->mdk", x, slope).reshape(m, p)
            hessian += np.einsum("d,e,mkl->mdkel", x, x, inner).reshape(m, p, p)
    return gradient, hessian


def log_density(instance, w, extra, sd, lam, pure=False):
    """Log density at parameters w (m, p) of the world with the ``extra`` records."""
    p = w.shape[1]
    gradient, hessian = _sums(instance, w, *instance.common)
    g, h = _sums(instance, w, *extra)
    b = gradient + g + instance.pull + lam * w
    _, log_det = np.linalg.slogdet(hessian + h + lam * np.eye(p))
    if pure:
        return log_det - np.linalg.norm(b, axis=1) / sd
    square = np.einsum("mp,mp->m", b, b) / sd**2
    return log_det - square / 2 - p * np.log(sd * np.sqrt(2 * np.pi))


def grid(center, half, points):
    """Regular grid of a cube, as (points^p, p), and the volume of a cell."""
    center = np.atleast_1d(np.asarray(center, dtype=float))
    axes = [np.linspace(c - half, c + half, points) for c in center]
    cells = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(center))
    return cells, (2 * half / (points - 1)) ** len(center)


def delta_between(instance, epsilon, sd, lam, cells, volume):
    """Largest of both directions of the integral of (p - e^eps p')_+, and the smaller total mass."""
    left = log_density(instance, cells, instance.left, sd, lam)
    right = log_density(instance, cells, instance.right, sd, lam)
    p, q = np.exp(left), np.exp(right)
    forward = np.maximum(p - np.exp(epsilon) * q, 0).sum() * volume
    backward = np.maximum(q - np.exp(epsilon) * p, 0).sum() * volume
    return max(forward, backward), min(p.sum(), q.sum()) * volume


def pure_epsilon_between(instance, scale, lam, cells):
    """Largest log ratio of the two densities on the grid, for noise of density exp(-|b|/scale)."""
    left = log_density(instance, cells, instance.left, scale, lam, pure=True)
    right = log_density(instance, cells, instance.right, scale, lam, pure=True)
    return np.abs(left - right).max()
