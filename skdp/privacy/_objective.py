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
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..exceptions import NotSupported
from ._arithmetic import divisions
from ._cost_registry import register
from ._gaussian import gaussian_delta
from ._scipy import erfcx, gammaln, logsumexp
from .events import ObjectivePerturbation, PureObjectivePerturbation

__all__ = [
    "AveragedBranches",
    "Branches",
    "least_tangent",
    "log_jacobian",
    "objective_delta",
    "objective_rdp",
    "pure_objective_epsilon",
]


_COMBINATIONS = 4000
_NEWTON, _CLOSE = 12, 1e-7  # most steps, and the relative step after which the rest is rounding
_FAR = 40.0  # deviations at which a normal tail is 0 in double precision
_FAINT, _LOUD = 1e-150, 1e150  # shifts beyond are priced as these: nothing, and delta 1
_ROUND_OFF = 4e-15  # of a mean excess, by 1 + z^2; found: 6e-16


@dataclass(frozen=True)
class Branches:
    """delta(eps) <= largest, over rows of ``shifts``, of sum of counts * H(eps - offset, shift)."""

    counts: Array
    shifts: Array
    offsets: Array

    def repeated(self, times: int) -> Branches | None:
        """Return the branches of so many rounds: each round has its vertex, and shifts add in squares.

        The records, hence the rows of ``shifts``, are the same in all rounds. None if too many.
        """
        kinds = len(self.counts)
        if math.comb(times + kinds - 1, kinds - 1) > _COMBINATIONS:
            return None
        ways = np.array(list(divisions(times, kinds)), dtype=float)
        log_counts = gammaln(times + 1) + (ways * np.log(self.counts) - gammaln(ways + 1)).sum(1)
        if log_counts.max() > 700:
            return None
        squares = self.shifts**2
        if np.isfinite(squares).all():
            together = squares @ ways.T
        else:  # no noise: a vertex that no round takes adds nothing
            together = np.stack([_dot(ways, row) for row in squares])
        return type(self)(np.exp(log_counts), np.sqrt(together), _dot(ways, self.offsets))

    def rdp(self, orders: Array, extra_mu: float) -> Array:
        """Renyi divergence of order a: E exp((a-1) max) is at most the sum over branches."""
        a = orders[:, None, None]
        squares = self.shifts**2 + extra_mu**2
        exponents = (a - 1) * self.offsets + a * (a - 1) * squares / 2 + np.log(self.counts)
        return (logsumexp(exponents, axis=-1) / (orders[:, None] - 1)).max(axis=-1)

    def delta(self, epsilon: Array, extra_mu: float) -> Array:
        """Sum of the branches, each composed with a Gaussian of ``extra_mu``."""
        shifts = np.hypot(self.shifts, extra_mu)
        tails = gaussian_delta(epsilon[..., None, None] - self.offsets, shifts)
        return (tails @ self.counts).max(axis=-1)


class AveragedBranches(Branches):
    """Branches of each row of a unit, whose loss is at most a weighted average of its rows'."""

    def repeated(self, times: int) -> Branches | None:
        """Return the branches of so many rounds, in which a unit may show different rows.

        So a row of ``shifts`` may be another one in each round: each branch takes its largest.
        """
        return super(AveragedBranches, self.worst()).repeated(times)

    def worst(self) -> AveragedBranches:
        """Return branches with a single row of shifts, the largest of all rows in each place."""
        return AveragedBranches(self.counts, self.shifts.max(axis=0)[None, :], self.offsets)

    def delta(self, epsilon: Array, extra_mu: float) -> Array:
        """Theorem U: the best tangent, one for all branches."""
        shifts = np.hypot(self.shifts, extra_mu)
        return least_tangent(epsilon, self.counts, shifts, self.offsets)


def least_tangent(epsilon: Array, counts: Array, shifts: Array, offsets: Array) -> Array:
    """Least over tau >= 0 of the sum of counts * Psi_tau(epsilon - offset, shift), by Newton.

    Psi_tau(e, m) = exp(-tau) E (X - a)_+ with X ~ N(m^2/2, m^2) and a = e + tau + 1 - exp(tau). With
    u = exp(tau) - 1 the sum is stationary where u is the mean excess of the branches above a; u
    minus the mean excess rises, so that there is one minimum. Every tau is valid, so a step that
    is too short loses a little and never lies. The angle (row of ``shifts``) is the worst at each.
    """
    left = epsilon[..., None, None] - offsets
    m = np.clip(shifts, _FAINT, _LOUD)
    u = np.zeros_like(epsilon)
    best = np.full_like(epsilon, np.inf)
    for _ in range(_NEWTON):
        tangent = np.log1p(u) - u
        excess, tail, density = _worst(_above(left + tangent[..., None, None], m) @ counts)
        best = np.fmin(best, excess / (1 + u))
        with np.errstate(all="ignore"):
            mean = excess / tail
            step = (u - mean) / (1 - (1 - mean * density / tail) * u / (1 + u))
        step = np.where(
            np.isfinite(step), step, 0.0
        )  # where all branches underflow, or none has noise
        if (np.abs(step) <= _CLOSE * u).all():
            break
        u = np.maximum(u - step, 0.0)
    return best


def _worst(sums: Array) -> Array:
    """Pick from each array of sums the row of shifts at which the first array is largest."""
    if sums.shape[-1] == 1:
        return sums[..., 0]
    return np.take_along_axis(sums, sums[:1].argmax(axis=-1)[..., None], axis=-1)[..., 0]


def _above(a: Array, m: Array) -> Array:
    """E (X - a)_+, P(X > a) and the density at a of X ~ N(m^2/2, m^2); the first rounded up."""
    mean = m * m / 2
    with np.errstate(over="ignore"):
        z = np.clip((a - mean) / m, -_FAR, _FAR)
    x = np.abs(z)
    normal = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    mills = math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2))
    beyond = normal * np.maximum(1 - x * mills, 0.0) * (1 + _ROUND_OFF * (1 + x * x))
    excess = m * beyond + np.maximum(mean - a, 0.0) * (1 + _ROUND_OFF)
    tail = normal * mills
    return np.stack([excess, np.where(z < 0, 1 - tail, tail), normal / m])


def _dot(ways: Array, offsets: Array) -> Array:
    """ways @ offsets, where an infinite offset that is not taken counts nothing."""
    with np.errstate(invalid="ignore"):
        return np.where(ways > 0, ways * offsets, 0.0).sum(axis=1)


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
