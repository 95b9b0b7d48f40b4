"""Group privacy: what a script that protects one row promises to several rows at once.

A unit that is declared beforehand costs far less (docs/proofs/units.md); this is what is left for
those who did not declare one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from . import accountants
from ._arithmetic import own_arithmetic
from ._compose import reduced
from ._exact import at_least, meant, pure_price
from .curves import priced
from .events import (
    ZCDP,
    AboveThreshold,
    BoundedRange,
    Event,
    Gaussian,
    GaussianAboveThreshold,
    Laplace,
    MixtureOfGaussians,
    ObjectivePerturbation,
    PoissonGaussian,
    PureDP,
    PureObjectivePerturbation,
    Script,
    checked,
)
from .spec import Spec

__all__ = ["for_rows"]

# Their noise stands beside a sensitivity (or what has one), and k rows move k times as much.
_PLAIN = (
    Gaussian,
    Laplace,
    PureDP,
    BoundedRange,
    ZCDP,
    AboveThreshold,
    GaussianAboveThreshold,
)
_MOST_SAMPLED = 64  # rows on a Poisson sample of which every division is priced
_ROUND_OFF = 1e-15
_UNDERFLOW = 1e-300  # a tail that underflows is not a tail of zero
_HOPELESS = 1e4  # an epsilon of one row beyond which a curve is not searched
_HALVINGS = 60


@own_arithmetic
def for_rows(script: Script, spec: Spec, k: int) -> Spec:
    """Return the guarantee for any k rows that a script priced for one row gives.

    Parameters
    ----------
    script : tuple of (Event, int)
        What was released; fixed before the data was touched.
    spec : Spec
        The promise to one row; its delta and relation are kept. Under ``"add_remove"`` the answer is
        about adding or removing k rows in all, so *replacing* a person of k rows needs ``2 * k``.
        Under ``"replace_one"`` it is about replacing k rows by k others, and says nothing about a
        person who has another number of rows.
    k : int
        How many rows.

    Returns
    -------
    Spec
        The same delta and relation, with the epsilon that holds for k rows.

    See Also
    --------
    skdp.privacy.epsilon : What the script promises to one row.

    Notes
    -----
    Gaussians of total mu are exactly ``k mu``-GDP. Events whose noise stands beside a sensitivity
    are priced with k times of it. Rows that enter a Poisson sample each by itself move a Gaussian sum by
    a binomial number of contributions: `MixtureOfGaussians`. Where there is another kind of event, every
    point of the curve of one row gives ``(k eps, delta(eps) (e^(k eps) - 1)/(e^eps - 1))``, and the best
    is taken.

    Examples
    --------
    >>> from skdp.privacy import Spec, epsilon
    >>> from skdp.privacy.events import Gaussian
    >>> script, row = ((Gaussian(20.0), 1),), Spec(1.0, 1e-6)
    >>> round(for_rows(script, row, 4).epsilon, 3)
    0.834
    >>> round(epsilon(((Gaussian(5.0), 1),), 1e-6), 3)
    0.834
    >>> from skdp.privacy.events import PoissonGaussian
    >>> sampled, row = ((PoissonGaussian(1.0, 0.01), 1000),), Spec(2.13, 1e-6, "add_remove")
    >>> round(for_rows(sampled, row, 2).epsilon, 2)
    4.55
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ValueError(f"k={k!r} must be a whole number, 1 or more.")
    script = checked(script)
    price = _one_row(script, spec) if k == 1 else _several(script, spec, k)
    return replace(spec, epsilon=max(price, math.ulp(0.0)))


def _one_row(script: Script, spec: Spec) -> float:
    return accountants.epsilon(script, spec.delta, spec.neighbors)


def _several(script: Script, spec: Spec, k: int) -> float:
    """Least of what is proved for k rows."""
    prices = [_pure(script, spec, k)]
    moved = _moved_scripts(script, spec, k)
    if moved:
        prices.append(max(_one_row(each, spec) for each in moved))
        known = reduced(script, spec.neighbors)
        if all(isinstance(event, (Gaussian, PoissonGaussian)) for event in known):
            return prices[-1]
    prices.append(_over_the_curve(script, spec, k))
    return min(prices)


def _moved_scripts(script: Script, spec: Spec, k: int) -> list[Script]:
    """Scripts where every release moves as k rows move it, of which the most costly counts; none if one is not known.

    Under add/remove, rows that are removed and rows that are added make k in all: each division is another script.
    """
    sampled = any(isinstance(event, PoissonGaussian) for event, _ in script)
    if sampled and k > _MOST_SAMPLED:
        return []
    divided = sampled and spec.neighbors == "add_remove"
    out = []
    for gone in range(k, (k - 1) // 2 if divided else k - 1, -1):
        moved = [(_moved(event, k, gone, divided), count) for event, count in script]
        if any(event is None for event, _ in moved):
            return []
        out.append(tuple((event, count) for event, count in moved if event is not None))
    return out


def _moved(event: Event, k: int, gone: int, divided: bool) -> Event | None:
    """The event where what is released moves as k rows move it, ``gone`` of them one way; None if that is not known."""
    if isinstance(event, PoissonGaussian):
        back = k - gone if divided else None
        return MixtureOfGaussians.of_rows(event.multiplier, event.rate, gone, back)
    if isinstance(event, _PLAIN):
        return event.scaled((1 - _ROUND_OFF) / k)
    if isinstance(event, (ObjectivePerturbation, PureObjectivePerturbation)):
        # k units of weight 1 are one unit of weights 1/k, whose rows weigh k times as much.
        return replace(
            event,
            shift=event.shift * k,
            jacobian=event.jacobian * k,
            rows=event.rows * k,
            equal_weights=event.rows == 1,
        )
    return None


def _pure(script: Script, spec: Spec, k: int) -> float:
    """k times the sum of pure epsilons, as an exact number."""
    counts = reduced(script, spec.neighbors)
    if not all(priced(event, "pure", spec.neighbors) for event in counts):
        return math.inf
    return at_least(k * sum(pure_price(e, spec.neighbors) * n for e, n in counts.items()))


def _over_the_curve(script: Script, spec: Spec, k: int) -> float:
    """k times the least epsilon of one row whose delta, grown over k steps, is small enough."""
    if spec.delta == 0:
        return at_least(k * meant(_one_row(script, spec)))
    target = math.log(spec.delta)

    def holds(epsilon: float) -> bool:
        delta = max(accountants.delta(script, epsilon, spec.neighbors), _UNDERFLOW)
        return math.log(delta) + _log_steps(epsilon, k) <= target

    high = _one_row(script, spec)
    while high < _HOPELESS and not holds(high):
        high = 2 * high + 1e-3
    if high >= _HOPELESS:
        return math.inf
    return k * _least(holds, high) * (1 + _ROUND_OFF)


def _log_steps(epsilon: float, k: int) -> float:
    """log of (e^(k eps) - 1)/(e^eps - 1) = 1 + e^eps + ... + e^((k-1) eps), rounded up."""
    if epsilon == 0:
        return math.log(k) + _ROUND_OFF
    grown = (k - 1) * epsilon
    parts = math.log(-math.expm1(-k * epsilon)) - math.log(-math.expm1(-epsilon))
    return (grown + parts) * (1 + 4 * _ROUND_OFF)


def _least(holds: Callable[[float], bool], high: float) -> float:
    """A number that holds, with one just below that does not."""
    if holds(0.0):
        return 0.0
    low = 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
