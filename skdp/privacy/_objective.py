"""What objective perturbation costs: minimise sum of losses + penalty + lam/2 |w|^2 + <b, w>.

The minimiser w and the noise b determine each other, so the loss of privacy at an outcome is
log(ratio of Jacobians) + (|b + v|^2 - |b|^2)/(2 s^2), where v is how far one record moves the
gradient. v depends on b, but the second part is convex in the coefficients of v over fixed
directions, so it is largest at a vertex, where v is fixed and the loss is that of a Gaussian
shift. Each rule below lists the vertices (proof: docs/proofs/objective_perturbation.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from skdp.exceptions import NotSupported
from skdp.privacy._gaussian import gaussian_delta
from skdp.privacy.curves import register
from skdp.privacy.events import Event, inverse_noise_field

__all__ = [
    "RULES",
    "ObjectivePerturbation",
    "PureObjectivePerturbation",
    "log_jacobian",
    "objective_delta",
    "objective_rdp",
    "pure_objective_epsilon",
]

Array = NDArray[np.float64]

RULES = ("logistic", "one_signed", "two_signed", "multinomial", "label_dp")
_CELLS = 64
_COMBINATIONS = 4000


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
        ways = np.array(list(_shares(times, kinds)), dtype=float)
        log_counts = gammaln(times + 1) + (ways * np.log(self.counts) - gammaln(ways + 1)).sum(1)
        if log_counts.max() > 700:
            return None
        squares = self.shifts**2
        if np.isfinite(squares).all():
            together = squares @ ways.T
        else:  # no noise: a vertex that no round takes adds nothing
            together = np.stack([_dot(ways, row) for row in squares])
        return Branches(np.exp(log_counts), np.sqrt(together), _dot(ways, self.offsets))

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


def _shares(total: int, kinds: int) -> Iterator[tuple[int, ...]]:
    """All ways of writing ``total`` as an ordered sum of so many whole numbers."""
    if kinds == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _shares(total - first, kinds - 1):
            yield (first, *rest)


def _dot(ways: Array, offsets: Array) -> Array:
    """ways @ offsets, where an infinite offset that is not taken counts nothing."""
    with np.errstate(invalid="ignore"):
        return np.where(ways > 0, ways * offsets, 0.0).sum(axis=1)


@dataclass(frozen=True)
class _Perturbed(Event):
    scalable: ClassVar[bool] = False  # the noise scale also decides how much convexity is added

    shift: float = inverse_noise_field()
    jacobian: float = inverse_noise_field(0)
    rule: str = "one_signed"
    classes: int = 2
    output: float = field(default=0.0, metadata={"power": -1, "high": math.inf})
    rounds: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rule not in RULES:
            raise ValueError(f"rule={self.rule!r} is unknown; use one of {', '.join(RULES)}.")
        if self.classes < 2:
            raise ValueError(f"classes={self.classes!r} must be 2 or more.")
        if self.rounds < 1:
            raise ValueError(f"rounds={self.rounds!r} must be 1 or more.")

    def repeated(self, times: int) -> Event:
        """Return the composition of so many equal releases on the same records."""
        return replace(self, rounds=self.rounds * times)


@dataclass(frozen=True)
class ObjectivePerturbation(_Perturbed):
    """The minimiser of an objective with a Gaussian linear term.

    Parameters
    ----------
    shift : float
        Bound L on the norm of one record's gradient, over the standard deviation s of the noise.
    jacobian : float
        Bound beta on the norm of one record's Hessian, over the strong convexity lam.
    rule : {"logistic", "one_signed", "two_signed", "multinomial", "label_dp"}
        What is known of one record's gradient. ``"logistic"``: the logistic loss, neither clipped
        nor capped. ``"one_signed"``: a slope of known sign times a fixed direction.
        ``"two_signed"``: a slope of either sign. ``"multinomial"``: the softmax loss of
        ``classes`` scores. ``"label_dp"``: binary logistic loss where neighbours differ in one
        label and rows are public; priced under no relation on rows, only ``neighbors="label"``.
    classes : int
        Number of classes of the multinomial rule.
    output : float
        How far the released approximation moves beside the exact minimiser, over the standard
        deviation of the output noise: 2 tau / (lam s_o) for a certificate |gradient| <= tau.
    rounds : int
        How many equal releases were made from the same records, adaptively.
    """


@dataclass(frozen=True)
class PureObjectivePerturbation(_Perturbed):
    """The minimiser of an objective with a linear term of density exp(-|b|/s).

    Fields as in `ObjectivePerturbation`, with s the scale of the noise; ``output`` is the epsilon
    of the output noise, whose density is exp(-|z| output lam / (2 tau)).
    """


def log_jacobian(event: _Perturbed) -> float:
    """Bound on the log ratio of determinants: log det(I + Hessian of one record / lam)."""
    if event.rule == "label_dp":
        return 0.0  # the Hessian does not involve the label
    if event.rule == "multinomial":
        # K - 1 eigenvalues of mean at most B^2/K, and log is concave; beta = B^2/2.
        return (event.classes - 1) * math.log1p(2 * event.jacobian / event.classes)
    return math.log1p(event.jacobian)


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
    ways = [_separate(event, neighbors == "replace_one")]
    if event.rule == "logistic":
        ways.append(_joint_logistic(event, neighbors == "replace_one"))
    return ways


def _separate(event: ObjectivePerturbation, replace_one: bool) -> Branches:
    """Jacobian and shift at their largest together (proof page, theorems 1 and 2)."""
    r, jac, rest = event.shift, log_jacobian(event), event.classes - 1
    if event.rule == "two_signed":
        return _two_signed(r, jac) if replace_one else _branches([(2, r, jac)])
    if event.rule != "multinomial":
        rest = 1
    if replace_one:
        return _branches([(rest**2, 2 * r, jac), (2 * rest, r, jac), (1, 0.0, jac)])
    return _branches([(rest, r, jac), (1, 0.0, jac)])


def _two_signed(r: float, jac: float) -> Branches:
    """The four corners are +-p and +-q with |p|^2 + |q|^2 <= (2r)^2, at an unknown angle.

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
        own = _joint_logistic_exponent(event.shift, 4 * event.jacobian)
    else:
        own = event.shift + log_jacobian(event)
    return event.rounds * (own + other + event.output)


def _joint_logistic_exponent(r: float, a: float) -> float:
    """Return the largest log1p(a t (1 - t)) + r t over 0 <= t <= 1.

    It is r, at t = 1, whenever a <= r; otherwise the root of a r t^2 + a (2 - r) t = a + r.
    """
    if a <= r:
        return r
    half = (2 - r) / 2
    root = math.sqrt(half * half + r * (1 + r / a))
    t = (1 + r / a) / (half + root)
    return math.log1p(a * t * (1 - t)) + r * t


register(ObjectivePerturbation, "profile")(objective_delta)
register(ObjectivePerturbation, "rdp")(objective_rdp)
register(PureObjectivePerturbation, "pure")(pure_objective_epsilon)
