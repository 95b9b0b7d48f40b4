"""A penalty as a solver sees it, beside a free intercept and on coefficients of scaled rows; and the base of balls.

Penalties from names, as a user gives them and as a solver sees them.
"""

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from . import PENALTIES
from ._penalty import Array, Penalty, check_at_least
from .norms import NoPenalty

__all__ = ["Ball", "ScaledPenalty", "make", "make_scaled"]


@dataclass(frozen=True)
class Ball(Penalty):
    """A bound on a norm: 0 up to the radius, infinity beyond.

    Parameters
    ----------
    radius : float > 0
        Bound of the norm.
    """

    bounded = True
    radius: float = 1.0

    def __post_init__(self) -> None:
        check_at_least("radius", self.radius, 0.0, strictly=True)


@dataclass(frozen=True)
class ScaledPenalty(Penalty):
    """Penalty of ``w / scale`` that leaves the last coordinate (row, of a matrix) alone.

    Rows enter a solver divided by the public bound of their norm, so a solver's coefficients are
    ``scale`` times the user's, and the last of them belongs to the intercept column.

    Parameters
    ----------
    penalty : Penalty
        Penalty of the user's coefficients.
    scale : float > 0
        Bound that the rows were divided by.
    intercept : bool
        Whether the last coordinate is an intercept, which is not penalised.

    Attributes
    ----------
    convexity_of_coefficients : float
        Modulus of strong convexity on the penalised coordinates alone.
    convexity : float
        On all coordinates: never positive with a free intercept.
    largest_step : float
        Steps below this have a prox.

    See Also
    --------
    Penalty : What it wraps.

    Examples
    --------
    Rows were divided by their bound 2, so the solver's coefficients are twice the user's:

    >>> import numpy as np
    >>> from skdp.penalties import L2, ScaledPenalty
    >>> seen = ScaledPenalty(L2(strength=1.0), scale=2.0)
    >>> seen.value(np.array([4.0, 2.0, 9.0])) == L2(strength=1.0).value(np.array([2.0, 1.0]))
    True
    >>> seen.gradient(np.array([4.0, 2.0, 9.0]))  # the intercept is free
    array([1. , 0.5, 0. ])
    """

    penalty: Penalty
    scale: float = 1.0
    intercept: bool = True
    convexity_of_coefficients: float = field(init=False, repr=False, compare=False)
    convexity: float = field(init=False, repr=False, compare=False)
    largest_step: float = field(default=np.inf, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_at_least("scale", self.scale, 0.0, strictly=True)
        modulus = self.penalty.convexity / float(self.scale) ** 2
        lowest = min(modulus, 0.0) if self.intercept else modulus  # a free intercept has none
        largest = np.inf if modulus >= 0.0 else -1.0 / modulus
        derived = {
            "convexity_of_coefficients": modulus,
            "convexity": lowest,
            "largest_step": largest,
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    @property
    def smooth(self) -> bool:
        """True if ``gradient`` exists everywhere."""
        return self.penalty.smooth

    @property
    def separable(self) -> bool:
        """True if the penalty is a sum over single coefficients."""
        return self.penalty.separable

    @property
    def bounded(self) -> bool:
        """True if the set is bounded: never with a free intercept."""
        return self.penalty.bounded and not self.intercept

    def value(self, w: Array) -> float:
        """Penalty at ``w``; infinite outside a constraint."""
        return self.penalty.value(self._coefficients(w))

    def prox(self, w: Array, step: float) -> Array:
        """Minimiser over u of ``value(u) + |u - w|^2 / (2 step)``: a fresh array like ``w``."""
        scale = float(self.scale)
        # |u - w|^2/(2 step) = |u/scale - w/scale|^2/(2 step/scale^2)
        inner = self.penalty.prox(self._coefficients(w), step / scale**2)
        inner *= scale
        return self._with_intercept(inner, w[-1:])

    def gradient(self, w: Array) -> Array:
        """Gradient; only of a ``smooth`` penalty."""
        inner = self.penalty.gradient(self._coefficients(w))
        inner /= float(self.scale)
        return self._with_intercept(inner, np.zeros_like(w[-1:]))

    def vertex(self, direction: Array) -> Array:
        """Minimiser of ``<direction, u>`` over the set; only of a ``bounded`` one."""
        if self.intercept:
            raise ValueError(
                "A free intercept leaves the set unbounded, so it has no vertex; "
                "fit with fit_intercept=False and a constant feature."
            )
        return self.penalty.vertex(direction) * float(self.scale)

    def _coefficients(self, w: Array) -> Array:
        return (w[:-1] if self.intercept else w) / float(self.scale)

    def _with_intercept(self, inner: Array, last: Array) -> Array:
        return np.concatenate([inner, last]) if self.intercept else inner


def make_scaled(
    penalty: str | Penalty | None, scale: float, intercept: bool, over: float = 1.0, **given: Any
) -> ScaledPenalty:
    """`make`, as a solver sees it: on coefficients of rows that were divided by ``scale``.

    Parameters
    ----------
    penalty : str, None or Penalty
        As in `make`.
    scale : float > 0
        Bound that the rows were divided by.
    intercept : bool
        Whether the last coordinate is an intercept, which is not penalised.
    over : float > 0
        What all losses were divided by, so that the penalty is too.
    **given : float
        What else `make` takes.

    Returns
    -------
    ScaledPenalty

    See Also
    --------
    make : On the user's coefficients.

    Examples
    --------
    >>> from skdp.penalties import make_scaled
    >>> make_scaled("l2", scale=2.0, intercept=True, strength=4.0).convexity_of_coefficients
    1.0
    """
    return ScaledPenalty(_divided(make(penalty, **given), over), scale, intercept)


def _divided(penalty: Penalty, by: float) -> Penalty:
    """The penalty divided by a number; a constraint stays what it is."""
    if by == 1.0:
        return penalty
    if type(penalty) not in PENALTIES.values():
        raise ValueError(
            f"{type(penalty).__name__} is not a registered penalty, so it cannot be weighed against weighted losses; "
            "use one from skdp.penalties, or no weights."
        )
    kept = {f.name: getattr(penalty, f.name) for f in fields(penalty)}
    scaled = {name: kept[name] / by for name in ("strength", "weight") if name in kept}
    return replace(penalty, **scaled) if scaled else penalty


def make(
    penalty: str | Penalty | None,
    strength: float = 1.0,
    l1_ratio: float | None = None,
    weight: float = 1.0,
) -> Penalty:
    """Penalty that a name stands for; an instance stands for itself.

    Parameters
    ----------
    penalty : str, None or Penalty
        Name of a penalty that needs no more than a strength, or an instance of any; "auto" is named by ``l1_ratio``.
    strength : float
        Weight against the sum of the losses (1/C of scikit-learn), 0 for no penalty. An instance carries its own.
    l1_ratio : float in [0, 1], optional
        Share of L1 in the elastic net. For "auto", as in scikit-learn: 1 is L1, None or 0 is L2.
    weight : float
        Number of records, where it is public: it sets where SCAD and MCP stop to grow.

    Returns
    -------
    Penalty

    See Also
    --------
    Penalty : What an instance must be.

    Examples
    --------
    >>> from skdp.penalties import L1Ball, make
    >>> make("elasticnet", strength=2.0, l1_ratio=0.3)
    ElasticNet(strength=2.0, l1_ratio=0.3)
    >>> make(L1Ball(radius=5.0), strength=2.0)  # an instance carries its own numbers
    L1Ball(radius=5.0)
    >>> make("auto", strength=2.0), make("auto", strength=2.0, l1_ratio=1.0)
    (L2(strength=2.0), L1(strength=2.0))
    """
    if isinstance(penalty, Penalty):
        return penalty
    if penalty is None or penalty == "none":
        return NoPenalty()
    ends = penalty == "elasticnet" and l1_ratio in (
        0.0,
        1.0,
    )  # whose solvers see no corners, or no bowl
    if isinstance(penalty, str) and (penalty == "auto" or ends):
        penalty = _named_by(l1_ratio)
    kind = PENALTIES.get(penalty) if isinstance(penalty, str) else None
    takes = {field.name for field in fields(kind)} if kind else ()
    if kind is None or "strength" not in takes:
        raise ValueError(
            f"penalty={penalty!r} is not the name of a penalty with a strength; use 'l1', 'l2', "
            "'elasticnet', 'auto' or None, or an instance such as skdp.penalties.L1Ball(radius=1.0)."
        )
    if "l1_ratio" in takes and l1_ratio is None:
        raise ValueError(f"penalty={penalty!r} needs l1_ratio, got None; 0.5 is half and half.")
    if strength == 0.0:
        return NoPenalty()
    given = {"strength": strength, "l1_ratio": l1_ratio, "weight": weight}
    return kind(**{name: number for name, number in given.items() if name in takes})


def _named_by(l1_ratio: float | None) -> str:
    """Return the name of the penalty that scikit-learn means by a share of L1."""
    if l1_ratio is None or l1_ratio == 0.0:
        return "l2"
    return "l1" if l1_ratio == 1.0 else "elasticnet"
