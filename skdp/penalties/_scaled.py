"""A penalty as a solver sees it, beside a free intercept and on coefficients of scaled rows; and the base of balls."""

from dataclasses import dataclass, field

import numpy as np

from ._penalty import Array, Penalty, check_at_least

__all__ = ["Ball", "ScaledPenalty"]


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
