"""Price of objective perturbation: minimise sum of losses + penalty + lam/2 |w|^2 + <b, w>.

The minimiser w and the noise b determine each other, so the loss of privacy at an outcome is
log(ratio of Jacobians) + (|b + v|^2 - |b|^2)/(2 s^2), where v is how far one record moves the
gradient. v depends on b, but the second part is convex in the coefficients of v over fixed
directions, so it is largest at a vertex, where v is fixed and the loss is that of a Gaussian
shift. Each rule below lists the vertices (proof: docs/proofs/objective_perturbation.md). A unit
of several rows enters with a weighted average of their losses (proof: docs/proofs/units.md).
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..exceptions import NotSupported
from ._cost_registry import register
from ._objective_branches import AveragedBranches, Branches
from .events import ObjectivePerturbation, PureObjectivePerturbation

__all__ = [
    "log_jacobian",
    "objective_delta",
    "objective_rdp",
    "pure_objective_epsilon",
]

Array = NDArray[np.float64]
Perturbed: TypeAlias = "ObjectivePerturbation | PureObjectivePerturbation"

_CELLS = 64
_MOST_CUBED = 8  # rows of a unit up to which the sum over all vertices can be the smaller price


def log_jacobian(event: Perturbed) -> float:
    """Bound on the log ratio of determinants: log det(I + Hessian of one unit / lam).

    The trace of a unit's Hessian is at most that of one row's, and log is concave: the bound is
    that of so many equal eigenvalues as the rank allows.
    """
    if event.rule == "label_dp":
        return 0.0  # the Hessian does not involve the label
    rank = _rank(event)
    if event.rule == "multinomial":
        # K - 1 eigenvalues of mean at most B^2/K for each; beta = B^2/2.
        return rank * (event.classes - 1) * math.log1p(2 * event.jacobian / event.classes / rank)
    return rank * math.log1p(event.jacobian / rank)


def _rank(event: Perturbed) -> int:
    """Largest rank of the rows of one unit."""
    return event.rows if event.width is None else min(event.rows, event.width)


def objective_delta(
    event: ObjectivePerturbation, epsilon: Any, neighbors: str, extra_mu: float = 0.0
) -> Any:
    """Privacy profile of objective perturbation.

    Parameters
    ----------
    event : ObjectivePerturbation
        What was released.
    epsilon : float or array
        Any real numbers.
    neighbors : {"replace_one", "add_remove", "label"}
        The relation; ``"label"`` belongs to the rule ``"label_dp"`` and to no other.
    extra_mu : float
        A Gaussian release (sensitivity / sd) composed with it, before or after, adaptively.

    Returns
    -------
    float or array
        Upper bound on delta, at most 1.
    """
    eps = np.asarray(epsilon, dtype=float)
    extra = math.hypot(event.output * math.sqrt(event.rounds), extra_mu)
    ways = _ways(event, neighbors)
    if event.rounds > 1:
        ways = [many for way in ways if (many := way.repeated(event.rounds)) is not None]
    bounds = [np.ones_like(eps), *(way.delta(eps, extra) for way in ways)]
    return np.min(bounds, axis=0)[()]


def objective_rdp(event: ObjectivePerturbation, orders: Any, neighbors: str) -> Array:
    """Renyi divergence of objective perturbation; loose for a few rounds, for any number of them."""
    a = np.atleast_1d(np.asarray(orders, dtype=float))
    with np.errstate(over="ignore", invalid="ignore"):
        bounds = [way.rdp(a, event.output) for way in _ways(event, neighbors)]
    return event.rounds * np.nan_to_num(np.min(bounds, axis=0), nan=math.inf, posinf=math.inf)


def _ways(event: ObjectivePerturbation, neighbors: str) -> list[Branches]:
    """Return all proofs that apply; the smallest bound holds."""
    if (event.rule == "label_dp") != (neighbors == "label"):
        raise NotSupported(
            f"rule={event.rule!r} has no cost under neighbors={neighbors!r}; the rule 'label_dp' "
            "belongs to neighbors='label', where only a label changes, and to nothing else."
        )
    if event.rule == "label_dp":
        return [_branches([(1, event.shift, 0.0)])]
    replace_one = neighbors == "replace_one"
    ways = [_separate(event, replace_one)]
    if event.rule == "logistic":
        ways.append(_joint_logistic(event, replace_one))
    if event.rows > 1:
        ways = [AveragedBranches(way.counts, way.shifts, way.offsets) for way in ways]
        if event.equal_weights and event.rows <= _MOST_CUBED and not _of_either_sign(event):
            ways.append(_cube(event, replace_one))
    return ways


def _of_either_sign(event: Perturbed) -> bool:
    return event.rule in ("two_signed", "two_signed_anywhere")


def _separate(event: ObjectivePerturbation, replace_one: bool) -> Branches:
    """Jacobian and shift at their largest together (proof page, theorems 1 and 2)."""
    r, jac, rest = event.shift, log_jacobian(event), event.classes - 1
    if _of_either_sign(event) and not replace_one:
        return _branches([(2, r, jac)])
    if event.rule == "two_signed":
        return _two_signed(r, jac)
    if event.rule == "two_signed_anywhere":
        return _branches([(2, 2 * r, jac), (2, math.sqrt(2) * r, jac)])
    if event.rule != "multinomial":
        rest = 1
    if replace_one:
        return _branches([(rest**2, 2 * r, jac), (2 * rest, r, jac), (1, 0.0, jac)])
    return _branches([(rest, r, jac), (1, 0.0, jac)])


def _two_signed(r: float, jac: float) -> Branches:
    """The four vertices are +-p and +-q with |p|^2 + |q|^2 <= (2r)^2, at an unknown angle.

    Each angle of a cell is at most its left end in the cosine and its right end in the sine.
    """
    angles = np.linspace(0.0, math.pi / 4, _CELLS + 1)
    shifts = 2 * r * np.stack([np.cos(angles[:-1]), np.sin(angles[1:])], axis=1)
    return Branches(np.array([2.0, 2.0]), shifts, np.array([jac, jac]))


def _joint_logistic(event: ObjectivePerturbation, replace_one: bool) -> Branches:
    """Gradient and curvature of the logistic loss are not largest together (theorem 3).

    A gradient of norm c = t B has curvature at most c (B - c), so t (1 - t) B^2/lam + t q is at
    most the larger of B^2/lam and q.
    """
    r, a = event.shift, 4 * event.jacobian
    if replace_one:
        return _branches([(1, 2 * r, 0.0), (1, r, 0.0), (1, r, a), (1, 0.0, a)])
    return _branches([(1, r, 0.0), (1, 0.0, a)])


def _cube(event: ObjectivePerturbation, replace_one: bool) -> Branches:
    """All vertices of all rows of a unit at once: i rows of k at full slope move at most r i/k.

    Rows with another weight than their number's inverse have other vertices.
    """
    jac, rest = log_jacobian(event), event.classes - 1 if event.rule == "multinomial" else 1
    moving = 2 * event.rows if replace_one else event.rows
    return _branches(
        [
            (math.comb(moving, i) * rest**i, _share(event.shift, i, event.rows), jac)
            for i in range(moving + 1)
        ]
    )


def _share(shift: float, part: int, whole: int) -> float:
    return shift * part / whole if part else 0.0  # without noise the shift is infinite


def _branches(rows: list[tuple[int, float, float]]) -> Branches:
    counts, shifts, offsets = np.array(rows, dtype=float).T
    return Branches(counts, shifts[None, :], offsets)


def pure_objective_epsilon(event: PureObjectivePerturbation, neighbors: str) -> float:
    """Epsilon of objective perturbation with noise of density exp(-|b|/s) (theorem 4)."""
    if (event.rule == "label_dp") != (neighbors == "label"):
        raise NotSupported(
            f"rule={event.rule!r} has no cost under neighbors={neighbors!r}; the rule 'label_dp' "
            "belongs to neighbors='label', where only a label changes, and to nothing else."
        )
    other = event.shift if neighbors == "replace_one" else 0.0
    if event.rule == "logistic":
        own = _joint_logistic_exponent(event.shift, 4 * event.jacobian, _rank(event))
    else:
        own = event.shift + log_jacobian(event)
    return event.rounds * (own + other + event.output)


def _joint_logistic_exponent(r: float, a: float, rank: int) -> float:
    """Return the largest m log1p(a t (1 - t) / m) + r t over 0 <= t <= 1, with m the rank.

    It is r, at t = 1, whenever a <= r; otherwise the root of (a r/m) t^2 + a (2 - r/m) t = a + r.
    """
    if a <= r:
        return r
    half = (2 - r / rank) / 2
    root = math.sqrt(half * half + r / rank * (1 + r / a))
    t = (1 + r / a) / (half + root)
    return rank * math.log1p(a / rank * t * (1 - t)) + r * t


register(ObjectivePerturbation, "profile")(objective_delta)
register(ObjectivePerturbation, "rdp")(objective_rdp)
register(PureObjectivePerturbation, "pure")(pure_objective_epsilon)
