"""Products with matrices whose bits belong to single records, and sums over records whose rounding is bounded.

A product of many records with a matrix, as BLAS makes it, rounds a record by where it stands. Here its answers are
rounded further, to a grid of the record's own, on which they are the exact answers: where rounding leaves open which
point of the grid is nearest, exact sums decide (docs/proofs/networks.md).

Public numbers that look random: a hash of their places, the same on every machine.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["hash_places", "lengths", "products", "sum_of_outer"]


Array = np.ndarray[Any, Any]

UNIT = 2.0**-53
NARROW = 32  # terms up to which numpy's own loop over a record is quick enough
OPEN = 2.0**-12  # share of a grid's spacing that rounding may take from an answer
FURTHEST = (
    2.0**500
)  # beyond it an answer counts as overflowed: it could, in another order of its sum
LEAST = 2.0**-500
PIECE = 256  # records in one product of a sum
AT_ONCE = 384  # up to which one is as good
IN_CACHE = 1 << 16  # numbers that are looked at together


def lengths(a: Array) -> Array:
    """Upper bounds on the norms of rows, infinite or NaN where a square overflows."""
    return _raised(np.einsum("ij,ij->i", a, a), a.shape[1])


def _raised(squares: Array, terms: int) -> Array:
    """Roots of sums of squares, above what rounding took from them: a unit a term, and 1e-308 where they underflow."""
    bounds: Array = (np.sqrt(squares) + 1e-150) * (1.0 + (terms + 16.0) * UNIT)
    return bounds


def products(a: Array, w: Array) -> Array:
    """Each row of `a` times `w`: a function of that row and of `w`, to the last bit; NaN where it is far too long.

    Parameters
    ----------
    a : ndarray of shape (n, d)
        Rows, of doubles.
    w : ndarray of shape (d, k)
        The matrix.

    Returns
    -------
    ndarray of shape (n, k)
        Of more than a few terms, exact products rounded to the row's grid, which is ``2^-39 d |row| |w|`` wide or less.
    """
    longest = _raised(np.einsum("ij,ij->j", w, w), len(w)).max(initial=0.0)
    reach = lengths(a) * float(longest)
    far = ~(reach <= FURTHEST)
    if len(w) <= NARROW:
        found = np.einsum("ij,jk->ik", a, w)
    else:
        if far.any():
            a = np.where(far[:, None], 0.0, a)
        found = _on_grid(a, w, np.where(far, 1.0, np.maximum(reach, LEAST)))
    found[far] = np.nan
    return found


def _on_grid(a: Array, w: Array, reach: Array) -> Array:
    """Products rounded to powers of two above ``error / OPEN``, of which no order of summation is further off."""
    error = (len(w) + 8.0) * UNIT * reach
    grid = np.ldexp(1.0, np.frexp(error / OPEN)[1])
    found = a @ w
    size = max(1, IN_CACHE // w.shape[1])
    rounded, untold = np.empty((min(size, len(a)), w.shape[1])), [np.empty(0, dtype=np.intp)]
    for start in range(0, len(a), size):
        part = slice(start, start + size)
        block = found[part]
        nearest = rounded[: len(block)]
        # Beside a number that large, doubles are whole multiples of the grid.
        large = 1.5 * 2.0**52 * grid[part, None]
        np.add(block, large, out=nearest)
        nearest -= large
        block -= nearest
        np.abs(block, out=block)
        open_ = np.flatnonzero(block >= (0.5 - OPEN) * grid[part, None])
        untold.append(open_ + start * w.shape[1])
        block[:] = nearest
    entries = np.concatenate(untold)
    if entries.size:
        found.ravel()[entries] = _nearest(a, w, grid, entries)
    return found


def _nearest(a: Array, w: Array, grid: Array, entries: Array) -> Array:
    """Single products at the points of the grid that are nearest to them."""
    found = np.empty(len(entries))
    i, k = np.divmod(entries, w.shape[1])
    columns = w.T
    at_once = max(1, IN_CACHE // len(w))
    for start in range(0, len(entries), at_once):
        part = slice(start, start + at_once)
        x, v, own = a.take(i[part], axis=0), columns[k[part]], grid[i[part]]
        near = np.add.reduce(np.multiply(x, v, order="C"), axis=1) / own
        nearest = np.rint(near)
        # Sums in pairs are nearer: off by sixteen of eight places each, and one for each doubling.
        closer = min(OPEN, 128.0 / (len(w) + 8.0) * OPEN)
        open_ = np.flatnonzero(np.abs(near - nearest) >= 0.5 - closer)
        below = np.floor(near[open_])
        nearest[open_] = below + _is_above(x[open_], v[open_], (below + 0.5) * own[open_])
        found[part] = nearest * own
    return found


def _is_above(x: Array, v: Array, middle: Array) -> Array:
    """Return for each product of rows 1.0 where it is above a midpoint of its grid, else 0.0.

    Numbers are cut into slices of so few bits that their products are summed without rounding (Ozaki, Ogita, Oishi and
    Rump 2012); what is left of two slices is known to far more digits than matter.
    """
    bits = (52 - x.shape[1].bit_length()) // 2
    (x1, x2, x3), (v1, v2, v3) = _slices(x, bits), _slices(v, bits)
    pairs = (x1, v1), (x1, v2), (x2, v1), (x2, v2), (x1, v3), (x2 + x3, v3), (x3, v1 + v2)
    terms = [np.einsum("ij,ij->i", one, other) for one, other in pairs]
    size = 2.0**-100 * x.shape[1] ** 3 * np.abs(x).max(axis=1) * np.abs(v).max(axis=1)
    above = np.empty(len(x))
    for j, parts in enumerate(zip(*(t.tolist() for t in (*terms, -middle)), strict=True)):
        gap: Any = math.fsum(parts)
        if not abs(gap) > size[j]:
            exact = (Fraction(p) * Fraction(q) for p, q in zip(x[j], v[j], strict=True))
            gap = sum(exact, -Fraction(float(middle[j])))
        above[j] = gap > 0
    return above


def _slices(a: Array, bits: int) -> tuple[Array, Array, Array]:
    """Three parts of each row: so many leading bits below its largest entry, so many more, and the rest."""
    parts = []
    for _ in range(2):
        top = np.ldexp(1.5, np.frexp(np.abs(a).max(axis=1, keepdims=True))[1] + 52 - bits)
        parts.append((a + top) - top)
        a = a - parts[-1]
    return parts[0], parts[1], a


def sum_of_outer(a: Array, d: Array, out: Array) -> None:
    """Sum over records of the outer products of their rows of `a` and `d`, written into `out`."""
    size = len(a) if len(a) <= AT_ONCE else PIECE
    np.matmul(a[:size].T, d[:size], out=out)
    part = np.empty(out.shape if size < len(a) else (0, 0))
    for start in range(size, len(a), PIECE):
        np.matmul(a[start : start + PIECE].T, d[start : start + PIECE], out=part)
        out += part


def hash_places(count: int, seed: int) -> Array:
    """Return numbers spread over [0, 1), by splitmix64 (Steele, Lea and Flood 2014).

    Parameters
    ----------
    count : int
        How many.
    seed : int
        Names a sequence; a longer one of the same seed begins alike.

    Returns
    -------
    ndarray of shape (count,)
    """
    step = 0x9E3779B97F4A7C15
    k = np.arange(1, count + 1, dtype=np.uint64) + np.uint64((seed << 40) % 2**64)
    k *= np.uint64(step)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        k = (k ^ (k >> np.uint64(shift))) * np.uint64(factor)
    k ^= k >> np.uint64(31)
    spread: Array = (k >> np.uint64(11)) * 2.0**-53
    return spread
