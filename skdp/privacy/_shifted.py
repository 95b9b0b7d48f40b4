"""A book for fits of different kinds: each script is covered by a shifted Gaussian, and triples add up.

Theorem S of docs/proofs/shifted_ledger.md: with caps on the sums of c, mu^2 and d that are fixed when the
book is opened, everything that is ever admitted has delta(epsilon) <= D + H(epsilon - C, M), whatever
was asked after which answer. Gaussians are covered exactly, by (0, mu, 0).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np

from ..exceptions import NotSupported
from . import accountants
from ._compose import exact_mu, reduced
from ._costs import pure_mu
from ._domination import covering_mu, profile_down_to
from ._exact import Counted, Exact, amount, down, exact, meant, plus, pure_price, up
from ._filter import Book, largest_share
from ._gaussian import gaussian_epsilon, gaussian_mu
from .curves import priced
from .events import Script
from .spec import Spec

__all__ = ["AnyBook", "ShiftedBook", "planned_order", "tightly_priced", "used"]

_MISSED = 0.05  # which part of delta is set aside for what no shifted Gaussian covers
_FITS = 500  # a fit that is not Gaussian takes so small a part of it, as long as half is left
_DOWN, _UP = 1 - 1e-12, 1 + 1e-12
_SHARES = (0.1, 0.16, 0.2, 0.24, 0.32, 0.5)  # of a script's own epsilon
_ORDERS = (0, 20, 50, 80, 100, 120, 140, 160, 180, 200, 250, 300, 350, 400, 500, 600, 800, 1000)
_ZERO: Exact = exact(0.0)


class Triple(NamedTuple):
    """Price of a script: shift c, mu squared, and the delta d of what is not covered."""

    shift: Exact
    square: Exact
    miss: Exact


@dataclass(frozen=True)
class ShiftedBook:
    """A promise kept in triples.

    Parameters
    ----------
    spec : Spec
        The promise, with delta > 0.
    order : int
        How many thousandths of epsilon are the cap on the sum of shifts: 0 for Gaussians and fits on
        batches, 100 to 200 where fits by objective perturbation take a large part of the budget each.
    """

    spec: Spec
    order: int = 0
    kind: str = "shifted"

    @cached_property
    def _limits(self) -> Triple:
        """C, M squared and D, each rounded down."""
        shift = meant(self.spec.epsilon) * self.order / 1000
        miss = exact(self.spec.delta) * exact(_MISSED)
        # Shifts are read as decimals, which gives away 2.3e-16 of them: delta moves by less than that.
        left = float(exact(self.spec.delta) - miss) * _DOWN - 3e-16 * float(shift)
        mu = gaussian_mu(float(meant(self.spec.epsilon) - shift) * _DOWN, max(left, 0.0))
        return Triple(shift, exact(mu * mu * _DOWN), miss)

    @cached_property
    def caps(self) -> Counted:
        """The largest totals that are let pass."""
        return down(*self._limits)

    @cached_property
    def _slope(self) -> float:
        """Exchange rate of shifts and squares: the rise of epsilon per mu squared, at the cap."""
        mu, delta = math.sqrt(float(self._limits.square)), float(self._limits.miss) / _MISSED
        low, high = mu * 0.99, mu * 1.01
        rise = gaussian_epsilon(high, delta) - gaussian_epsilon(low, delta)
        return rise / (high**2 - low**2) if mu else 1.0

    @cached_property
    def _ways(self) -> dict[tuple[Script, int], tuple[Counted, ...]]:
        return {}

    def level(self, total: Counted) -> int:
        """Return how often the remaining missed delta has been halved; each level asks a quarter as much of a fit.

        So level j lasts for 250 * 2^j fits that are not Gaussian, and there is always another one.
        """
        cap = max(self.caps[2], 1)
        return (cap // max(cap - total[2], 1)).bit_length() - 1

    def ways(self, script: Script, level: int = 0) -> tuple[Counted, ...]:
        """Prices of the script, of which any one may be charged, cheapest first; none if all are infinite."""
        if (script, level) not in self._ways:
            each = math.ldexp(float(self._limits.miss) / _FITS * _DOWN, -2 * level)
            known = _ranked(script, self.spec.neighbors, each, self._slope, bool(self.order))
            found = tuple(price for t in known if (price := up(*t)) is not None)
            self._ways[script, level] = found
        return self._ways[script, level]

    def reading(self, total: Counted, delta: float) -> float:
        """Epsilon that a total proves at delta; 0 for nothing."""
        shift, square, miss = map(amount, total)
        left = float(exact(delta) - miss) * _DOWN
        return float(shift) * _UP + gaussian_epsilon(math.sqrt(square) * _UP, left)

    def room(self, total: Counted, delta: float) -> float:
        """Epsilon of the largest Gaussian fit that is still affordable."""
        square = amount(self.caps[1] - total[1])
        return gaussian_epsilon(math.sqrt(square) * _DOWN, delta) if square > 0 else 0.0

    def share(self, total: Counted) -> float:
        """Return the share of the caps that a total takes, apart from the missed delta, which never runs out."""
        return largest_share(total[:2], self.caps)


AnyBook: TypeAlias = Book | ShiftedBook


def tightly_priced(script: Script, neighbors: str, delta: float) -> bool:
    """Return whether an accountant other than Renyi divergence prices the script."""
    return accountants.choose(script, neighbors, delta) != "rdp"


def planned_order(spec: Spec, scripts: Sequence[Script]) -> int:
    """The thousandths of epsilon with which all the scripts together take the least part of the caps."""
    middle = [ShiftedBook(spec, 150).ways(script) for script in scripts]
    if all(ways and ways[0][0] == 0 for ways in middle):
        return 0  # nothing to be gained from shifts
    orders = set(_ORDERS)
    for order in _ORDERS:
        shift = sum(ways[0][0] for ways in map(ShiftedBook(spec, order).ways, scripts) if ways)
        orders.add(min(1000, math.ceil(1000 * amount(shift) / meant(spec.epsilon))))
    return min(sorted(orders), key=lambda order: used(ShiftedBook(spec, order), scripts))


def used(book: AnyBook, scripts: Sequence[Script]) -> float:
    """Return the largest share of the caps that scripts charged one after another take."""
    total: Counted = (0,) * len(book.caps)
    for script in scripts:
        ways = _ways(book, script)
        if not ways:
            return math.inf
        total = plus(total, ways, book.caps) or tuple(map(operator.add, total, ways[0]))
    return book.share(total)


def _ways(book: AnyBook, script: Script) -> tuple[Counted, ...]:
    """Prices of a script; none where the book's currency does not know it."""
    try:
        return book.ways(script)
    except NotSupported:
        return ()


@lru_cache(maxsize=4096)
def _ranked(
    script: Script, neighbors: str, miss: float, slope: float, shifted: bool
) -> tuple[Triple, ...]:
    """The triples that cover a script, by shift + slope * mu squared."""
    mu = exact_mu(reduced(script, neighbors))
    if mu is not None:
        return (Triple(_ZERO, exact(mu * mu * _UP), _ZERO),)
    able = [*_pure(script, neighbors), _covering(script, neighbors, miss, 0.0)]
    if shifted:
        able += [_covering(script, neighbors, miss, share) for share in _SHARES]
    able = [triple for triple in able if shifted or not triple.shift]
    return tuple(sorted(able, key=lambda triple: float(triple.shift + slope * triple.square)))


@lru_cache(maxsize=1024)
def _pure(script: Script, neighbors: str) -> tuple[Triple, ...]:
    """Pure steps: a shift of epsilon, or the Gaussian that dominates randomised response."""
    counts = reduced(script, neighbors)
    if not all(priced(event, "pure", neighbors) for event in counts):
        return ()
    epsilon = sum((pure_price(event, neighbors) * k for event, k in counts.items()), _ZERO)
    if math.isinf(epsilon):
        return ()
    mu = pure_mu(float(epsilon) * _UP) * _UP
    return Triple(epsilon, _ZERO, _ZERO), Triple(_ZERO, exact(mu) * exact(mu), _ZERO)


@lru_cache(maxsize=16384)
def _covering(script: Script, neighbors: str, miss: float, share: float) -> Triple:
    """The triple whose shift is a share of the script's own epsilon at the delta that is missed."""
    profile = profile_down_to(script, neighbors, miss)
    if profile is None:
        return Triple(_ZERO, math.inf, _ZERO)
    near = int(np.count_nonzero(profile.deltas[:-1] > miss))  # about where only `miss` is left
    shift = share * float(profile.nodes[near])
    mu = covering_mu(profile, shift, miss)
    return Triple(exact(shift), exact(mu * mu * _UP), exact(miss))
