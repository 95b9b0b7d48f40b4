"""Laplace noise on the sum over a Poisson sample, against densities and their integrals."""

import math
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from _inversion import delta_of, panels

from skdp.exceptions import NotSupported
from skdp.privacy import certificate, delta, enclose, epsilon, tradeoff
from skdp.privacy.events import Gaussian, Laplace, PoissonLaplace, PoissonPure

ADD, REPLACE = "add_remove", "replace_one"
NEIGHBORS = (ADD, REPLACE)


def noise(x):
    return np.exp(-np.abs(x)) / 2


def laws(shift, rate, neighbors, x):
    """Densities at x of the sum over the sample with one record and with the other, or without."""
    first = (1 - rate) * noise(x) + rate * noise(x - shift)
    if neighbors == ADD:
        return first, noise(x)
    return first, (1 - rate) * noise(x) + rate * noise(x + shift)


def losses_of(shift, rate, neighbors, adding):
    """Losses and masses of one step: outside of all shifts two atoms, inside a Gauss rule between the kinks."""
    ends = (-shift, 0.0, shift) if neighbors == REPLACE else (0.0, shift)
    parts = [panels(low, high, 20) for low, high in pairwise(ends)]
    x, dx = (np.concatenate(part) for part in zip(*parts))
    p, q = laws(shift, rate, neighbors, x)
    tails = laws(
        shift, rate, neighbors, np.array([ends[0], ends[-1]])
    )  # mass beyond = density there
    p, q = (np.concatenate([law * dx, tail]) for law, tail in zip((p, q), tails))
    p, q = (q, p) if adding else (p, q)
    assert p.sum() == pytest.approx(1) and q.sum() == pytest.approx(1)
    return np.log(p / q), p


def true_delta(shift, rate, neighbors, count, eps):
    """The larger of both directions."""
    sides = (False, True) if neighbors == ADD else (False,)
    found = []
    for adding in sides:
        losses, masses = losses_of(shift, rate, neighbors, adding)
        if count == 1:
            found.append(float(masses @ np.maximum(-np.expm1(eps - losses), 0.0)))
        elif eps < count * losses.max():
            found.append(delta_of(losses, masses, count, eps))
    return max(found)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize(("shift", "rate"), [(1.0, 0.01), (0.3, 0.6), (4.0, 0.05)])
def test_one_step_costs_what_its_densities_say(shift, rate, neighbors):
    script = ((PoissonLaplace(1 / shift, rate), 1),)
    top = epsilon(script, 0.0, neighbors)
    for share in (0.0, 0.2, 0.5, 0.8):
        true = true_delta(shift, rate, neighbors, 1, share * top)
        found = delta(script, share * top, neighbors)
        assert true * (1 - 3e-3) <= found <= true * (1 + 3e-3)  # one kink falls inside a panel
    assert delta(script, top * (1 - 1e-9), neighbors) > 0 == delta(script, top, neighbors)


def in_digits(shift, rate, kind):
    """Delta of two steps at any real eps, by forms that are closed for one and a quadrature between all kinks."""
    shift, rate = mp.mpf(shift), mp.mpf(rate)
    one, none, other = [(1 - rate, 0), (rate, shift)], [(1, 0)], [(1 - rate, 0), (rate, -shift)]
    p, q = {"remove": (one, none), "add": (none, other), "replace": (one, other)}[kind]
    low, high = {"remove": (0, shift), "add": (-shift, 0), "replace": (-shift, shift)}[kind]

    def density(law, x):
        return mp.fsum(w * mp.exp(-abs(x - m)) / 2 for w, m in law)

    def above(law, x):
        parts = ((w, x - m) for w, m in law)
        return mp.fsum(w * (1 - mp.exp(y) / 2 if y < 0 else mp.exp(-y) / 2) for w, y in parts)

    def loss(x):
        return mp.log(density(p, x) / density(q, x))

    ends = loss(mp.mpf(low)), loss(mp.mpf(high))

    def at(eps):
        return mp.findroot(lambda x: loss(x) - eps, (low, high), solver="illinois", verify=False)

    def delta_once(eps):
        if eps >= ends[1]:
            return mp.mpf(0)
        if eps <= ends[0]:
            return -mp.expm1(eps)
        return above(p, at(eps)) - mp.exp(eps) * above(q, at(eps))

    def delta_twice(eps):
        rare, often = 1 - above(p, mp.mpf(low)), above(p, mp.mpf(high))
        total = rare * delta_once(eps - ends[0]) + often * delta_once(eps - ends[1])
        kinks = {mp.mpf(low), mp.mpf(0), mp.mpf(high)}
        kinks |= {at(eps - end) for end in ends if ends[0] < eps - end < ends[1]}
        within = lambda x: density(p, x) * delta_once(eps - loss(x))  # noqa: E731
        return total + mp.quad(within, sorted(kinks))

    return delta_twice


@pytest.mark.parametrize(
    ("shift", "rate", "neighbors", "eps"),
    [(2.0, 0.17, ADD, 1.1), (0.5, 0.06, ADD, 0.06), (0.25, 0.7, REPLACE, 0.2)],
)
def test_two_steps_lie_in_their_narrow_enclosure(shift, rate, neighbors, eps):
    kinds = ("remove", "add") if neighbors == ADD else ("replace",)
    found = enclose(((PoissonLaplace(1 / shift, rate), 2),), epsilon=eps, neighbors=neighbors)
    with mp.workdps(15):
        true = max(in_digits(shift, rate, kind)(mp.mpf(eps)) for kind in kinds)
    assert found.low <= true * (1 + 1e-11) and true <= found.high * (1 + 1e-11)
    assert found.width < 1e-6


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize(
    ("shift", "rate", "count"), [(1.0, 0.01, 1000), (0.5, 0.1, 100), (4.0, 0.001, 1000)]
)
def test_many_steps_lie_in_their_enclosure(shift, rate, count, neighbors):
    script = ((PoissonLaplace(1 / shift, rate), count),)
    price = epsilon(script, 1e-6, neighbors)
    found = enclose(script, epsilon=price, neighbors=neighbors)
    true = true_delta(shift, rate, neighbors, count, price)
    assert found.low * (1 - 1e-7) <= true <= found.high * (1 + 1e-7)
    assert found.width < 1e-4 and enclose(script, delta=1e-6, neighbors=neighbors).width < 2e-6


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_twins_that_forget_a_little_are_found(neighbors):
    """A price at a little less rate, a little more noise, or as if all Laplace steps were Gaussian, is exceeded."""
    shift, rate, count = 1.0, 0.05, 200
    own = PoissonLaplace(1 / shift, rate)
    for twin in (PoissonLaplace(1 / shift, rate * 0.999), PoissonLaplace(1.001 / shift, rate)):
        told = epsilon(((twin, count),), 1e-6, neighbors)
        assert true_delta(shift, rate, neighbors, count, told) > 1.001e-6
        assert told < epsilon(((own, count),), 1e-6, neighbors)
    removing = epsilon(((own, count),), 1e-6, ADD)
    assert true_delta(shift, rate, REPLACE, count, removing) > 1e-3


@pytest.mark.parametrize(
    ("script", "neighbors", "price"),
    [  # by the loss distribution of dp-accounting at an interval of 1e-4, which cannot be below the truth
        (((PoissonLaplace(1.0, 0.01), 1000),), ADD, 1.2866),
        (((PoissonLaplace(0.5, 0.01), 500),), ADD, 2.1173),
        (((PoissonLaplace(0.25, 0.001), 1000),), ADD, 0.9071),
    ],
)
def test_it_costs_less_than_a_pure_step_and_no_more_than_elsewhere(script, neighbors, price):
    ((event, count),) = script
    found = epsilon(script, 1e-6, neighbors)
    assert price * (1 - 1e-3) < found <= price
    pure = ((PoissonPure(1 / event.multiplier, event.rate), count),)
    assert found < 0.9 * epsilon(pure, 1e-6, neighbors)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_both_masses_are_kept_on_every_grid(neighbors):
    from skdp.privacy._pld import directions_of

    for shift, rate in ((1.0, 0.3), (1e-7, 0.01), (40.0, 0.2), (0.5, 1 - 1e-9)):
        for ((pair, _),) in directions_of({PoissonLaplace(1 / shift, rate): 1}, neighbors):
            top = pair.largest_loss
            for step in (max(top, 1.0) / 999.5, min(3 * top, 1.0)):
                grid = pair.lattice(step, 9.0, -math.inf)
                losses = step * np.arange(grid.first, grid.first + len(grid.mass))
                assert grid.mass.sum() == pytest.approx(1, abs=1e-12) and grid.mass.min() >= 0
                assert grid.mass @ np.exp(-losses) == pytest.approx(1, abs=1e-12)
                raised = pair.lattice(step, 9.0, 0.3 * top)
                assert raised.mass.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_divergences_are_the_integrals_of_both_laws(neighbors):
    from skdp.privacy.curves import cost

    event, orders = PoissonLaplace(0.5, 0.07), np.array([1.5, 2.0, 4.0, 17.0])
    losses, masses = losses_of(2.0, 0.07, neighbors, False)
    true = np.log(np.exp(np.multiply.outer(orders - 1, losses)) @ masses) / (orders - 1)
    assert cost(event, "rdp", neighbors)(event, orders, neighbors) == pytest.approx(true, rel=1e-9)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_the_ends_are_samples_of_all_and_of_nobody(neighbors):
    times = 2.0 if neighbors == REPLACE else 1.0
    everybody = epsilon(((PoissonLaplace(3.0, 1.0), 4),), 1e-6, neighbors)
    assert everybody == epsilon(((Laplace(3.0 / times), 4),), 1e-6, neighbors)
    assert epsilon(((PoissonLaplace(3.0, 0.0), 4), (Gaussian(9.0), 1)), 1e-6, neighbors) == epsilon(
        ((Gaussian(9.0), 1),), 1e-6, neighbors
    )
    assert epsilon(((PoissonLaplace(0.0, 0.1), 1),), 1e-6, neighbors) == math.inf
    faint = epsilon(((PoissonLaplace(1 / 300.0, 0.1), 1),), 1e-6, neighbors)  # by its largest loss
    assert faint == pytest.approx(times * 300 + math.log(0.1), rel=1e-3)
    assert tradeoff(((PoissonLaplace(1.0, 0.1), 3),), [0.1], neighbors)[0] < 0.9


def test_a_certificate_refuses_what_the_checker_does_not_know():
    with pytest.raises(NotSupported, match="it knows no PoissonLaplace"):
        certificate(PoissonLaplace(1.0, 0.1), delta=1e-6, neighbors=ADD)


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("rate", [0.0, 0.01, 0.9, 1.0])
@pytest.mark.parametrize("shift", [0.0, 1e-6, 0.5, 4.0, 800.0])
def test_epsilon_without_delta_is_the_largest_loss(shift, rate, neighbors):
    """Of a removal, log(1 - q + q e^a); of a replacement, less log(1 - q + q e^-a) besides."""
    multiplier = 1 / shift if shift else math.inf
    with mp.workdps(60):
        a, q = mp.mpf(1) / multiplier if shift else mp.mpf(0), mp.mpf(rate)
        true = mp.log(1 - q + q * mp.exp(a))
        if neighbors == "replace_one":
            true -= mp.log(1 - q + q * mp.exp(-a))
    found = epsilon(((PoissonLaplace(multiplier, rate), 1),), 0.0, neighbors)
    most = 2 * shift if shift > 700 else float(true) * (1 + 1e-12)
    assert float(true) <= found <= most
