"""The exact counter of a ledger rounds prices up and budgets down, by whole units of 1e-60."""

from fractions import Fraction

import numpy as np

from skdp.privacy._exact import amount, down, up


def fractions():
    """Amounts that lie nearer to the unit below, nearer to the one above, in the middle, and on it."""
    rng = np.random.default_rng(3)
    unit = Fraction(1, 10**60)
    for _ in range(200):
        base = Fraction(int(rng.integers(0, 2**60)), int(rng.integers(1, 2**60)))
        yield base
        for part in (Fraction(1, 10**9), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3)):
            yield (base // unit + part) * unit
        yield base // unit * unit


def test_a_price_is_never_counted_below_itself_nor_a_budget_above():
    for value in fractions():
        (price,), (budget,) = up(value), down(value)
        assert amount(price) >= value >= amount(budget)
        assert amount(price) - value < Fraction(1, 10**60) > value - amount(budget)
        assert price - budget == (value != amount(budget))


def test_prices_below_a_unit_are_never_free():
    tiny = Fraction(1, 10**75)
    assert up(tiny) == (1,) and down(tiny) == (0,)
    total = sum(up(tiny)[0] for _ in range(1000))
    assert amount(total) >= 1000 * tiny
