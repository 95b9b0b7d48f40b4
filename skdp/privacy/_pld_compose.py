"""Compose loss distributions by one tilted Fourier transform, and read the tail off it.

The sum S of the losses is wanted where P(S > epsilon) may be 1e-15, which the transform of the plain
masses cannot resolve. So every mass is first tilted by e^{tilt * loss}, with the tilt that puts the
mean of S near the epsilon asked for (Esscher; the saddle point of the tail), transformed, raised to
its power, multiplied, transformed back and tilted back: round-off is then relative to the tail
itself. Whatever is cut, wrapped around or rounded is added on the private side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.signal import lfilter

from skdp.privacy._pld_pairs import Lattice
from skdp.privacy._pld_plan import Counted, Plan

__all__ = ["Tail", "compose"]

Array = NDArray[np.float64]

_TRUSTED = 600.0  # tilting back stays within e^+-600 of the centre
_UNIT = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Tail:
    """Upper tail of a composed loss, in units of e^log_scale.

    ``above[i]`` is P(S >= losses[i]) and ``discounted[i]`` the mean of e^{losses[i] - S} there, so
    that delta(epsilon) = above - e^{epsilon - loss} * discounted for epsilon up to that loss.
    """

    losses: Array
    above: Array
    discounted: Array
    log_scale: float
    lost: float  # probability at infinity, or above the window

    def delta(self, epsilon: float) -> float:
        """Smallest delta at epsilon; 1 where the window does not reach."""
        if epsilon < self.losses[0]:
            return 1.0
        i = int(np.searchsorted(self.losses, epsilon))
        if i == len(self.losses):
            return min(self.lost, 1.0)
        here = self.above[i] - math.exp(epsilon - self.losses[i]) * self.discounted[i]
        return min(max(here, 0.0) * math.exp(min(self.log_scale, 700.0)) + self.lost, 1.0)

    def epsilon(self, delta: float) -> float | None:
        """Smallest epsilon at delta; None if it lies below the window, infinity if above."""
        if delta <= self.lost:
            return math.inf
        target = math.exp(min(math.log(delta - self.lost) - self.log_scale, 700.0))
        enough = self.above - self.discounted <= target
        i = int(np.argmax(enough))
        if i == 0:
            return math.inf if not enough[0] else None
        return float(self.losses[i] + math.log((self.above[i] - target) / self.discounted[i]))


def _tilted(lattice: Lattice, step: float, tilt: float) -> tuple[Array, float]:
    """Masses times e^{tilt * loss}, normalised, and the log of the normaliser."""
    losses = step * np.arange(lattice.first, lattice.first + len(lattice.mass))
    with np.errstate(divide="ignore"):
        exponents = np.log(lattice.mass) + tilt * losses
    top = exponents.max()
    weights = np.exp(exponents - top)
    total = weights.sum()
    return weights / total, float(top + math.log(total))


def _spectrum(lattice: Lattice, weights: Array, size: int) -> tuple[Array, int]:
    """Fourier transform around the mean, so that powers of its phase stay accurate."""
    index = np.arange(lattice.first, lattice.first + len(weights))
    center = round(float(weights @ index))
    folded = np.bincount((index - center) % size, weights=weights, minlength=size)
    return rfft(folded), center


def _round_off(total: Array, steps: int, peak: float) -> float:
    """Bound on one composed mass's error: each power multiplies a relative error by its count."""
    size = 2 * len(total)
    unit = _UNIT * (8 + math.log2(size))
    return unit * (steps * float(np.abs(total).mean()) + math.sqrt(max(peak, 0.0)) * 1e-2)


def compose(pairs: Counted, plan: Plan) -> Tail:
    """Upper tail of the sum of the losses of all steps."""
    step, tilt = plan.step, plan.tilt
    size, total, center, mean, log_mass, log_kept, log_over = 0, 1.0, 0, 0.0, 0.0, 0.0, 0.0
    size = next_fast_len(math.ceil((plan.below + plan.above) / step) + 4, real=True)
    for pair, count in pairs:
        lattice = pair.lattice(step, plan.reach)
        weights, log_norm = _tilted(lattice, step, tilt)
        spectrum, middle = _spectrum(lattice, weights, size)
        total = total * spectrum**count
        center += count * middle
        index = np.arange(lattice.first, lattice.first + len(weights))
        mean += count * float(weights @ index)
        log_mass += count * log_norm
        log_kept += count * math.log1p(-lattice.infinite)
        log_over += count * _tilted(lattice, step, tilt + plan.rate)[1]
    composed = irfft(total, size)
    start = math.floor(mean - plan.below / step)
    composed = np.roll(composed, -((start - center) % size))
    composed = np.maximum(composed, 0.0)
    composed += _round_off(total, sum(count for _, count in pairs), composed.max())
    losses = step * np.arange(start, start + size)
    middle_loss = mean * step
    over = math.exp(min(log_over - (tilt + plan.rate) * float(losses[-1]), 0.0))
    trusted = tilt * (middle_loss - losses) <= _TRUSTED
    losses, composed = losses[trusted], composed[trusted]
    composed *= np.exp(np.maximum(-tilt * (losses - middle_loss), -_TRUSTED))
    above = np.cumsum(composed[::-1])[::-1]
    discounted = lfilter([1.0], [1.0, -math.exp(-step)], composed[::-1])[::-1]
    lost = -math.expm1(log_kept) + over
    return Tail(losses, above, discounted, log_mass - tilt * middle_loss, lost)
