"""The public lattice that a noisy answer lives on, and what rounding to it costs (docs/proofs/exact_noise.md).

Exact standard normal deviates by the thousand, from six random bytes each: the strips of `_strips`, quicker.

Of 2^16 slots most belong to a strip and a sign, never more of them than what is surely kept of that strip: where one of
them is drawn, 32 further bits are the place in the strip, and nothing is left to compare. The others, some 1.4 %, stand
for all that is left of the law: strip i with what its slots leave of its probability, and a place that is kept with
what they leave of the probability to be kept. So the law is the normal law exactly (docs/proofs/exact_noise.md).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from ..exceptions import NotSupported
from . import _strips
from ._strips import (
    FINEST,
    FIRST,
    PLACE,
    WIDTH,
    Bits,
    Deviate,
    big,
    deviate,
    exp_minus,
    long_arithmetic,
    thresholds,
)

__all__ = [
    "Lattice",
    "lattice",
    "lattice_radial",
    "many_normals",
    "on_lattice",
    "radial_on_lattice",
    "refuse_unless_it_fits",
]


Array = np.ndarray[Any, Any]

MANY = 4096  # draws from which six bytes each are quicker
SIDE = 15  # bits of a slot beside its sign
SHORT = 32  # bits of a place
FINEST_SHORT = SHORT + WIDTH - 1  # 2^-38: the finest lattice that those bits can be rounded to
MARGIN = 2.0**-40  # of the comparison in doubles, whose error stays below 2^-48

_U64, _I64 = np.uint64, np.int64


@dataclass(frozen=True)
class Slots:
    """Tables of the slots: the strip and the place that a word stands for.

    Parameters
    ----------
    counts : tuple of int
        Slots of each strip, of either sign; strips beyond have none.
    told : int
        How many slots tell a strip. Of those beyond, the last bit is the sign.
    base : ndarray of int64
        Lower end of a slot's strip, in units of 2^-39: positive strips, then negative ones; 0 for slots that are open.
    least, below : ndarray of uint64
        A word w tells strip i of what is left, if `least[i] <= w < below[i]`.
    left : ndarray of float64
        Share of each strip that its slots leave.
    """

    counts: tuple[int, ...]
    told: int
    base: Array
    least: Array
    below: Array
    left: Array


@lru_cache(maxsize=1)
def slots() -> Slots:
    """Take as many slots of each strip as are surely kept: ``exp(-t) >= 1 - t >= 1 - (2i + 1) w^2 / 2`` in strip i."""
    pairs = enumerate(pairwise(thresholds(FIRST)))
    sure = [
        (high - low - 3) * (2**15 - 2 * i - 1) >> (FIRST + 15 - SIDE) for i, (low, high) in pairs
    ]
    return of_counts(tuple(count for count in sure if count > 0))


def of_counts(counts: tuple[int, ...]) -> Slots:
    """Tables from thresholds of 128 bits that err by one unit."""
    strips = np.repeat(np.arange(len(counts), dtype=_I64), counts)
    base, told = np.zeros(1 << (SIDE + 1), dtype=_I64), 2 * len(strips)
    base[:told] = np.concatenate([strips, -1 - strips]) << _I64(SHORT)
    table, edges = thresholds(FIRST), left_below(FIRST, counts)
    some = [i for i, edge in enumerate(edges[:-1]) if edge < edges[-1] - (1 << (FIRST - 64))]
    least = [-(-(edges[i] + 2 if i else 0) >> (FIRST - 64)) for i in some]
    below = [(edges[i + 1] - 1) >> (FIRST - 64) for i in some]
    left = [(edges[i + 1] - edges[i]) / (table[i + 1] - table[i]) for i in some]
    arrays = base, np.array(least, dtype=_U64), np.array(below, dtype=_U64), np.array(left)
    for array in arrays:
        array.setflags(write=False)
    return Slots(counts, told, *arrays)


@lru_cache(maxsize=16)
def left_below(bits: int, counts: tuple[int, ...]) -> tuple[int, ...]:
    """floor(2^bits R_i) to within one unit, R_i what slots leave of the probability of all strips before the i-th."""
    taken, found = 0, []
    for i, threshold in enumerate(thresholds(bits)):
        found.append(threshold - (taken << (bits - SIDE)))
        taken += counts[i] if i < len(counts) else 0
    return tuple(found)


def many_normals(count: int, bits: int, source: Bits) -> Array:
    """`count` independent deviates times 2^bits, rounded to the nearest integer, 0 <= bits <= 53."""
    if count < MANY or bits > FINEST_SHORT:
        return _strips.lattice_normals(count, bits, source)
    known = slots()
    raw = source.bytes(6 * count)
    slot = np.frombuffer(raw, dtype=np.uint16, offset=4 * count)
    out = known.base.take(slot)
    out += np.frombuffer(raw, dtype=np.uint32, count=count)
    # The bits of a place that were never drawn are not all zero, almost surely, so that a half goes up, rightly.
    drop = _I64(FINEST_SHORT + 1 - bits)
    out += _I64(1) << (drop - _I64(1))
    out >>= drop
    open_ = np.flatnonzero(slot >= known.told)
    if open_.size:
        out[open_] = _of_the_rest(slot.take(open_).astype(_U64) - _U64(known.told), bits, source)
    return out


def _of_the_rest(index: Array, bits: int, source: Bits) -> Array:
    """Draws of what slots leave: the first that is kept, or afresh; `index` counts among the slots that are open."""
    known, count = slots(), len(index)
    fresh = np.frombuffer(source.bytes(24 * count), dtype=_U64).reshape(3, count)
    word = ((index >> _U64(1)) << _U64(64 - SIDE)) | (fresh[0] >> _U64(SIDE))
    place, coin = fresh[1] >> _U64(64 - PLACE), fresh[2]
    strip = known.least.searchsorted(word, side="right") - 1
    kept, doubtful = _kept(strip, place, coin)
    longer = word >= known.below.take(strip)
    for k in np.flatnonzero(longer | doubtful).tolist():
        if longer[k]:
            strip[k] = _strip(int(word[k]), source)
        kept[k] = _kept_exactly(
            Deviate(False, int(strip[k]), int(place[k]), PLACE), int(coin[k]), source
        )
    size = (strip << _I64(PLACE)) | place.view(_I64)
    out = _strips._rounded(size, index & _U64(1), bits)
    again = np.flatnonzero(~kept)
    if again.size:
        out[again] = many_normals(again.size, bits, source)
    return out


def _kept(strip: Array, place: Array, coin: Array) -> tuple[Array, Array]:
    """Return masks of U < (exp(-t) - c) / (1 - c) and of doubt, U given by its first 64 bits.

    c is what slots took. That is ``(1 - U) (1 - c) > 1 - exp(-t)``.
    """
    part = place.astype(np.float64) * 2.0**-PLACE
    reject = _strips._one_minus_exp(part * (strip + 0.5 * part) * 4.0**-WIDTH)
    beyond = (~coin).astype(np.float64) * 2.0**-64 * slots().left.take(strip) - reject
    return beyond > MARGIN, np.abs(beyond) <= MARGIN


def _strip(word: int, source: Bits) -> int:
    """The strip that a uniform number below what slots leave falls into; more of its bits are drawn until they tell."""
    bits, counts = 64, slots().counts
    while True:
        word, bits = (word << 64) | big(source, 64), bits + 64
        edges = left_below(bits, counts)
        i = bisect_right(edges, word) - 1
        clear_below = i == 0 or edges[i] + 2 <= word
        # Beyond the last strip of this table there are more, of a longer one.
        if clear_below and i + 2 < len(edges) and word + 1 <= edges[i + 1] - 1:
            return i


def _kept_exactly(drawn: Deviate, coin: int, source: Bits) -> bool:
    """Decide U < (exp(-t) - c) / (1 - c) in integers: intervals gain 64 bits until they part."""
    bits = 64
    while True:
        shared = max(drawn.bits, bits) + 64
        low, high = (m << (shared - drawn.bits) for m in (drawn.place, drawn.place + 1))
        across = shared + 1 + 2 * WIDTH
        nearest = low * ((drawn.strip << (shared + 1)) + low) >> across
        furthest = (high * ((drawn.strip << (shared + 1)) + high) >> across) + 1
        below, above = exp_minus(furthest, shared)[0], exp_minus(nearest, shared)[1]
        least, most = _taken(drawn.strip, shared)
        one = 1 << shared
        # U (1 - c) + c, which grows with both, against exp(-t).
        up, down = (coin + 1) << (shared - bits), coin << (shared - bits)
        if up * (one - most) + (most << shared) <= below << shared:
            return True
        if down * (one - least) + (least << shared) >= above << shared:
            return False
        coin, bits = (coin << 64) | big(source, 64), bits + 64
        drawn.refine(source, 64)


def _taken(strip: int, bits: int) -> tuple[int, int]:
    """Integers around 2^bits c, c the share of a strip that its slots take."""
    counts = slots().counts
    count = counts[strip] if strip < len(counts) else 0
    if not count:
        return 0, 0
    table = thresholds(bits)
    chance = table[strip + 1] - table[strip]
    wide = count << (2 * bits - SIDE)
    return wide // (chance + 3), wide // (chance - 3) + 1


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
