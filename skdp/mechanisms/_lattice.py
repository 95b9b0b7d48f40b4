"""The public lattice that a noisy answer lives on, and what rounding to it costs (docs/proofs/exact_noise.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from functools import lru_cache
from typing import Any

import numpy as np

from ..exceptions import NotSupported
from ._decimals import long_arithmetic
from ._slots import many_normals
from ._strips import FINEST, Bits, big, deviate

__all__ = [
    "Lattice",
    "lattice",
    "lattice_radial",
    "on_lattice",
    "radial_on_lattice",
    "refuse_unless_it_fits",
]


_BITS = 128  # drawn at a time
_DIGITS = 60  # beyond those that the bits fill
_HALF = Decimal("0.5")


def lattice_radial(size: int, bits: int, source: Bits) -> list[int]:
    """round(2^bits Y) in `size` coordinates, Y of density proportional to exp(-|y|)."""
    normals = [deviate(source) for _ in range(size)]
    uniforms, known = [0] * size, 0
    deepest = max(normal.bits for normal in normals)
    for normal in normals:
        normal.refine(source, deepest - normal.bits)
    while True:
        for normal in normals:
            normal.refine(source, _BITS)
        uniforms = [(u << _BITS) | big(source, _BITS) for u in uniforms]
        known += _BITS
        if min(uniforms) == 0:
            continue
        sizes = [normal.size()[0] for normal in normals]
        rounded = _rounded(sizes, uniforms, known, bits)
        if rounded is not None:
            return [-z if n.negative else z for z, n in zip(rounded, normals)]


def _rounded(sizes: list[int], uniforms: list[int], known: int, bits: int) -> list[int] | None:
    """Nearest integers of the absolute coordinates, or None where the bits do not tell."""
    with long_arithmetic(_DIGITS + known):
        slack = Decimal(1).scaleb(-known - _DIGITS // 2)  # far above all roundings of Decimal
        # -ln of a product of uniforms is their Gamma(d) radius.
        nearest = max(_radius([u + 1 for u in uniforms], known) - slack, Decimal(0))
        furthest = _radius(uniforms, known) + slack
        shortest = Decimal(sum(m * m for m in sizes)).sqrt()
        longest = Decimal(sum((m + 1) * (m + 1) for m in sizes)).sqrt()
        if not shortest:
            return None
        least = nearest / longest * 2**bits * (1 - slack)
        most = furthest / shortest * 2**bits * (1 + slack)
        low = [_nearest(least * m) for m in sizes]
        high = [_nearest(most * (m + 1)) for m in sizes]
    return low if low == high else None


def _radius(uniforms: list[int], known: int) -> Decimal:
    product = Decimal(1)
    for uniform in uniforms:
        product *= uniform
    return known * len(uniforms) * Decimal(2).ln() - product.ln()


def _nearest(value: Decimal) -> int:
    return int((value + _HALF).to_integral_value(rounding=ROUND_FLOOR))


Array = np.ndarray[Any, Any]

BOX = (
    2.0**61
)  # answers end there, in steps of the lattice: integers of 64 bits hold them with their noise
IN_CACHE = 1 << 16  # numbers that are answered together
COARSEST = 8  # bits of the noise below its deviation
FINE = 21  # bits beyond what the number of coordinates asks for: noise grows by less than 5e-7
_ROUND_UP = 1.0 + 2.0**-48
_SILENT = 1e-100  # multipliers below, 0 apart, are refused
_SMALLEST, _LARGEST = 1e-250, 1e250  # steps and deviations that stay normal doubles in all products


@dataclass(frozen=True)
class Lattice:
    """Multiples of a public step, and noise of ``2^bits`` steps.

    Parameters
    ----------
    step : float
        Distance of neighbouring points; 0 for no noise.
    bits : int
        Deviation (scale, if pure) of the noise: ``2^bits`` steps.
    reach : float
        How far the computed statistic may move between neighbours: what was claimed, and all roundings.
    """

    step: float
    bits: int
    reach: float

    @property
    def scale(self) -> float:
        """Deviation of the noise, a public number."""
        return math.ldexp(self.step, self.bits)


@lru_cache(maxsize=256)
def lattice(
    multiplier: float, unit: float, rounding: float, size: int, reach: float | None = None
) -> Lattice:
    """Noise of at least `multiplier` units, after all that rounding can add to the unit.

    Parameters
    ----------
    multiplier : float
        Priced deviation of the noise over the unit.
    unit : float
        What the price counts in: a record's bound, or how far the statistic moves.
    rounding : float
        How far a computed statistic may be from what the theorem speaks of, in norm.
    size : int
        Coordinates.
    reach : float or None
        Movement between neighbours without roundings, at least the unit; None for the unit.

    Returns
    -------
    Lattice
        With ``scale >= multiplier (unit + 2 rounding + sqrt(size) step)``.
    """
    claimed = (unit if reach is None else reach) + 2.0 * rounding
    if multiplier == 0.0:
        return Lattice(0.0, 0, claimed)
    refuse_unless_it_fits(multiplier, size)
    spread = multiplier * math.sqrt(size)
    widest = max(multiplier, 2.0**-20) * math.sqrt(size)
    bits = min(max(FINE + math.ceil(math.log2(widest)), COARSEST), FINEST)
    scale = multiplier * (unit + 2.0 * rounding) * _ROUND_UP / (1.0 - math.ldexp(spread, -bits))
    if not _SMALLEST <= scale <= _LARGEST:
        raise NotSupported(
            f"noise of deviation {scale:.3g} leaves the range of double precision; choose an epsilon or a bound "
            "nearer to 1."
        )
    return Lattice(math.ldexp(scale, -bits), bits, claimed)


def refuse_unless_it_fits(multiplier: float, size: int) -> None:
    """Refuse noise that no lattice of double precision holds; `lattice` says more, and costs more."""
    if not multiplier * math.sqrt(size) <= 2.0 ** (FINEST - 1):
        raise NotSupported(
            f"noise of {multiplier:.3g} units on {size} numbers is too large for double precision; raise epsilon or "
            "delta."
        )
    if 0.0 < multiplier < _SILENT:
        raise NotSupported(
            f"noise of {multiplier:.3g} units is too small for double precision; lower epsilon, or use epsilon=inf."
        )


def on_lattice(statistic: Array, grid: Lattice, source: Bits) -> Array:
    """The statistic rounded to the lattice, plus Gaussian noise rounded to it, as doubles."""
    if np.size(statistic) <= IN_CACHE:
        return _noisy(np.asarray(statistic), grid, source)
    exact = np.ascontiguousarray(statistic).reshape(-1)
    answer = np.empty(exact.size)
    for start in range(0, exact.size, IN_CACHE):
        part = slice(start, start + IN_CACHE)
        answer[part] = _noisy(exact[part], grid, source)
    return answer.reshape(np.shape(statistic))


def _noisy(statistic: Array, grid: Lattice, source: Bits) -> Array:
    steps = _steps(statistic, grid.step)
    steps += many_normals(steps.size, grid.bits, source).reshape(steps.shape)
    return np.asarray(steps * grid.step)


def radial_on_lattice(statistic: Array, grid: Lattice, source: Bits) -> Array:
    """Round a statistic to the lattice and add noise of density proportional to exp(-|z| / scale)."""
    steps = _steps(statistic, grid.step)
    noise = lattice_radial(steps.size, grid.bits, source)
    total = [int(k) + z for k, z in zip(steps.ravel(), noise)]
    return np.array([float(k) for k in total]).reshape(steps.shape) * grid.step


def _steps(statistic: Array, step: float) -> Array:
    """The nearest points of the lattice as integers, inside the box."""
    with np.errstate(over="ignore"):
        steps = np.asarray(statistic / step)
    np.fmin(steps, BOX, out=steps)
    np.fmax(steps, -BOX, out=steps)
    np.rint(steps, out=steps)
    return steps.astype(np.int64)
