"""How far a minimiser may lie, against minimisers in one dimension, where all records pull one way."""

import math

import pytest
from scipy.optimize import brentq

from skdp.losses import Logistic, Squared
from skdp.mechanisms import Public
from skdp.mechanisms._limits import Limits

LOGISTIC = Logistic()


def limits(strength, linear=0.0, start=0.0, n=1000, loss=LOGISTIC, bound=1.0):
    public = Public(n=n, n_features=1, intercept=0.0, neighbors="replace_one", target_bound=1.0)
    return Limits(public, loss, bound, strength, strength, linear, start)


def minimiser(n, strength, linear):
    """Root of strength w = linear + n / (1 + e^w)."""
    top = (n + linear) / strength * (1 + 1e-9)

    def slope(w):
        return strength * w - linear - n / (1.0 + math.exp(min(w, 700.0)))

    return brentq(slope, 0.0, top, xtol=1e-300, rtol=1e-14)


@pytest.mark.parametrize("linear", [0.0, 1.0, 1e6, 1e20])
@pytest.mark.parametrize("strength", [1e-6, 1e-2, 1.0, 1e4, 1e12, 1e45])
def test_no_minimiser_lies_beyond(strength, linear):
    """And where the strength outweighs all records the bound is as small as the minimiser, but for a factor of 8."""
    n = 1000
    found, furthest = minimiser(n, strength, linear), limits(strength, linear, n=n).furthest()
    assert found <= furthest
    assert strength < 4 * n or furthest <= 8 * found


@pytest.mark.parametrize("start", [0.5, 3.0])
@pytest.mark.parametrize("strength", [1e-3, 1.0, 1e3, 1e9])
def test_a_start_at_the_end_of_a_set_counts(strength, start):
    """All records and the strength pull back to zero, where the set does not reach."""
    given = limits(strength, start=start, loss=Squared(), bound=2.0)
    assert start <= given.furthest()
    if strength >= 1e3:  # all that is left of the start: twice the gradient over the convexity
        assert given.furthest() <= 3.1 * start + 4.0 * 1000 / strength + 2.0


def test_a_bound_by_height_alone_would_be_far_too_large():
    """At strength 1e45 a height allows 1e-20, and the minimiser is at 1e-42: noise would follow the former."""
    height = math.sqrt(2.0 * 1000 * math.log(2.0) / 1e45)
    assert limits(1e45).furthest() < 1e-15 * height
