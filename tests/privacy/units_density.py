"""Exact output densities of objective perturbation where a unit of several rows is protected.

A unit is (weights, rows, targets) and enters the objective with the weighted sum of its rows'
losses. As in `output_density`, the minimiser determines b, so its density is that of b times the
determinant of the Hessian; nothing here knows a bound.
"""

from dataclasses import dataclass

import numpy as np

from skdp.losses import HuberisedHinge, Logistic
from skdp.privacy.events import ObjectivePerturbation

NOBODY = (np.zeros(0), np.zeros((0, 1)), np.zeros(0))


@dataclass(frozen=True)
class CappedSquaredHinge:
    """The squared hinge whose slope a mechanism caps: L = cap, curvature 1."""

    cap: float = 0.7
    one_signed = True
    curvature = 1.0

    @property
    def slope(self):
        return self.cap

    def dz(self, z, y):
        return -y * np.clip(1 - y * z, 0, self.cap)

    def d2z(self, z, y):
        return ((1 - y * z > 0) & (1 - y * z < self.cap)).astype(float)


def unit(rows, targets, weights=None):
    """A unit of rows, one vote in all unless weights are given."""
    rows = np.atleast_2d(np.asarray(rows, float).T).T
    weights = np.full(len(rows), 1 / len(rows)) if weights is None else np.asarray(weights, float)
    return weights, rows, np.asarray(targets, float)


def log_density(loss, parts, w, pull, sd, lam, pure=False):
    """Log density at parameters w (m, d) of a world made of these units."""
    d = w.shape[1]
    gradient, hessian = pull + lam * w, np.zeros((len(w), d, d)) + lam * np.eye(d)
    for weights, rows, targets in parts:
        for omega, x, y in zip(weights, rows, targets):
            z, target = w @ x, np.full(len(w), y)
            gradient = gradient + omega * loss.dz(z.copy(), target)[:, None] * x
            hessian += omega * loss.d2z(z.copy(), target)[:, None, None] * np.outer(x, x)
    determinant = hessian[:, 0, 0] if d == 1 else np.linalg.det(hessian)
    if pure:
        return np.log(determinant) - np.linalg.norm(gradient, axis=1) / sd
    square = np.einsum("md,md->m", gradient, gradient) / sd**2
    return np.log(determinant) - square / 2 - d * np.log(sd * np.sqrt(2 * np.pi))


def softmax_log_density(classes, one, w, pull, sd, lam):
    """Log density where rows of one feature have the softmax loss of ``classes`` scores."""
    gradient, hessian = pull + lam * w, np.zeros((len(w), classes, classes)) + lam * np.eye(classes)
    for omega, x, y in zip(*one):
        chance = np.exp(w * x - (w * x).max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        gradient = gradient + omega * x * (chance - np.eye(classes)[int(y)])
        spread = chance[:, :, None] * (np.eye(classes) - chance[:, None, :])
        hessian += omega * x[0] ** 2 * spread
    square = np.einsum("md,md->m", gradient, gradient) / sd**2
    return np.log(np.linalg.det(hessian)) - square / 2 - classes * np.log(sd * np.sqrt(2 * np.pi))


def cells(dimension, pull, sd, lam, points=None, width=11.0, slack=3.0):
    """Regular grid of the parameters that a linear term reaches, and the volume of a cell."""
    points = points or (40_001 if dimension == 1 else 401)
    half = (width * sd + slack) / lam
    axes = [np.linspace(-p / lam - half, -p / lam + half, points) for p in np.atleast_1d(pull)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, dimension)
    return grid, (2 * half / (points - 1)) ** dimension


def worlds(loss, left, right, pull, sd, lam, common=(), points=None, **grid):
    """Probabilities of the cells in the world with each unit."""
    dimension = left[1].shape[1]
    pull = np.broadcast_to(np.asarray(pull, float), (dimension,))
    w, volume = cells(dimension, pull, sd, lam, points, **grid)
    return [
        np.exp(log_density(loss, [*common, one], w, pull, sd, lam)) * volume
        for one in (left, right)
    ]


def hockey_stick(p, q, epsilon):
    """Largest of both directions of sum (p - e^eps p')_+; the grid must hold the whole mass."""
    assert abs(p.sum() - 1) < 2e-3 and abs(q.sum() - 1) < 2e-3, "the grid misses mass"
    factor = np.exp(epsilon)
    return max(np.maximum(p - factor * q, 0).sum(), np.maximum(q - factor * p, 0).sum())


def true_delta(loss, left, right, epsilon, pull, sd, lam, **grid):
    """Exact delta of the pair of worlds, on a grid."""
    return hockey_stick(*worlds(loss, left, right, pull, sd, lam, **grid), epsilon)


def event_of(loss, sd, lam, rows, width, equal=False, **changed):
    """What the release of such a unit is charged as."""
    rule = "logistic" if type(loss) is Logistic else "one_signed"
    fields = dict(
        shift=loss.slope / sd,
        jacobian=loss.curvature / lam,
        rule=rule if loss.one_signed else "two_signed",
        rows=rows,
        width=width,
        equal_weights=equal,
    )
    return ObjectivePerturbation(**(fields | changed))


def random_unit(rng, j, dimension, one_signed, equal):
    """Rows in the ball, often on its rim or copies of each other, with weights that sum to 1 or .8."""
    if j == 0:
        return np.zeros(0), np.zeros((0, dimension)), np.zeros(0)
    rows = rng.standard_normal((j, dimension))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    if rng.random() < 0.4:
        rows[:] = rows[0] * rng.choice([-1, 1], (j, 1))
    if rng.random() < 0.4:
        rows *= rng.random((j, 1))
    targets = rng.choice([-1.0, 1.0], j) if one_signed else rng.normal(0, 3, j)
    weights = np.full(j, 1 / j) if equal else rng.dirichlet(np.ones(j)) * rng.choice([1.0, 0.8])
    return weights, rows, targets


STEEP_HINGE = HuberisedHinge(0.25)  # curves where a margin lies within .25 of 1


def curved_part(epsilon, sd, lam, person=None, points=200):
    """A part of delta for a person of two orthogonal rows: outcomes at which both of them curve."""
    person = unit(np.eye(2), [1.0, 1.0]) if person is None else person
    nobody = np.zeros(0), np.zeros((0, 2)), np.zeros(0)
    band, pull = STEEP_HINGE.h, np.array([-lam, -lam])
    inside = 1 + band * ((np.arange(points) + 0.5) / points * 2 - 1)
    w = np.stack(np.meshgrid(inside, inside), -1).reshape(-1, 2)
    p, q = (np.exp(log_density(STEEP_HINGE, [one], w, pull, sd, lam)) for one in (person, nobody))
    return float(np.maximum(p - np.exp(epsilon) * q, 0).sum()) * (2 * band / points) ** 2
