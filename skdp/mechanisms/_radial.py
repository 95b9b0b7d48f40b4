"""Exact noise of pure releases: a Gamma(d) radius times a uniform direction, rounded to a lattice.

Once a fit, so in long arithmetic: all inputs are bit strings, what they leave open is an interval, and while the
rounding of a coordinate is open more bits are drawn. No draw is thrown away, so the law is that of the real vector.
"""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal

from ._decimals import long_arithmetic
from ._strips import Bits, big, deviate

__all__ = ["lattice_radial"]

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
