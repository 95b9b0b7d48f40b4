"""Gaussian sums that move by a random number of contributions, against densities, coins and their integrals."""

import math
from itertools import product

import numpy as np
import pytest
from _inversion import delta_of, panels
from scipy.stats import norm

from skdp.exceptions import NotSupported
from skdp.privacy import Spec, calibrate, delta, enclose, epsilon, for_rows, groups
from skdp.privacy._moved import _farther
from skdp.privacy._pld import directions_of
from skdp.privacy.curves import cost
from skdp.privacy.events import (
    Gaussian,
    MixtureOfGaussians,
    PoissonGaussian,
    PoissonPure,
    PureDP,
    read_script,
    written_script,
)

ADD, REPLACE = "add_remove", "replace_one"
TWO = MixtureOfGaussians.of_rows(1.0, 0.01, 2)


def coins(rows, rate, x, sign):
    """Density at x (in sd of noise 1) of a sum that rows enter one by one: a sum over all ways to enter."""
    out = np.zeros(x.shape)
    for way in product((0, 1), repeat=rows):
        taken = sum(way)
        out += rate**taken * (1 - rate) ** (rows - taken) * norm.pdf(x, sign * taken)
    return out


def losses_of(rate, rows, back, z=1.0, reach=9):
    """Losses and masses where ``rows`` rows stand under P and ``back`` others under Q; z scales the line."""
    x, dx = panels(-(back / z) - reach, rows / z + reach, 60)
    x, dx = x * z, dx * z

    def density(count, sign):
        ways = [math.comb(count, j) * rate**j * (1 - rate) ** (count - j) for j in range(count + 1)]
        return sum(w * norm.pdf(x, sign * j, z) for j, w in enumerate(ways))

    p, q = density(rows, 1), density(back, -1)
    kept = p > 0
    return np.log(p[kept] / q[kept]), (p * dx)[kept]


def true_delta(z, rate, rows, back, count, eps):
    """The larger of both directions."""
    found = []
    for gone, come in {(rows, back), (back, rows)}:
        losses, masses = losses_of(rate, gone, come, z)
        if count == 1:
            found.append(float(masses @ np.maximum(-np.expm1(eps - losses), 0.0)))
        elif eps < count * losses.max():
            found.append(delta_of(losses, masses, count, eps))
    return max(found)


def test_weights_of_rows_are_those_of_coins():
    x = np.linspace(-3, 5, 9)
    event = MixtureOfGaussians.of_rows(1.0, 0.3, 3)
    found = sum(w * norm.pdf(x, m) for m, w in zip(event.moves, event.weights))
    assert found == pytest.approx(coins(3, 0.3, x, 1), rel=1e-12)
    many = MixtureOfGaussians.of_rows(1.0, 0.02, 1000)
    above = [math.fsum(many.weights[j:]) for j in (1, 20, 60)]
    exact = [
        math.fsum(math.comb(1000, i) * 0.02**i * 0.98 ** (1000 - i) for i in range(j, 200))
        for j in (1, 20, 60)
    ]
    assert all(true * (1 - 1e-15) <= f <= true * (1 + 1e-10) for f, true in zip(above, exact))
    assert sum(w > 0 for w in many.weights) < 200  # next to impossible numbers of rows are one


@pytest.mark.parametrize(
    ("z", "rate", "rows", "back"), [(1.0, 0.1, 2, 0), (0.7, 0.3, 3, 1), (2.0, 0.05, 4, 4)]
)
def test_one_step_costs_what_its_densities_say(z, rate, rows, back):
    script = ((MixtureOfGaussians.of_rows(z, rate, rows, back), 1),)
    for eps in (0.0, 0.3, 1.0, 3.0):
        true = true_delta(z, rate, rows, back, 1, eps)
        assert true * (1 - 1e-3) <= delta(script, eps, ADD) <= true * (1 + 1e-3) + 1e-12


@pytest.mark.parametrize(
    ("z", "rate", "rows", "back", "count"),
    [(1.0, 0.01, 2, 0, 400), (2.0, 0.1, 3, 3, 50), (1.5, 0.02, 5, 2, 100)],
)
def test_many_steps_lie_in_their_enclosure(z, rate, rows, back, count):
    script = ((MixtureOfGaussians.of_rows(z, rate, rows, back), count),)
    price = epsilon(script, 1e-6, ADD)
    found = enclose(script, epsilon=price, neighbors=ADD)
    true = true_delta(z, rate, rows, back, count, price)
    assert found.low * (1 - 1e-6) <= true <= found.high * (1 + 1e-6)
    assert found.width < 1e-4
    if rows == back:
        plain = ((MixtureOfGaussians.of_rows(z, rate, rows), count),)
        assert epsilon(plain, 1e-6, REPLACE) == price


@pytest.mark.parametrize(("rows", "back"), [(30, 0), (0, 30), (25, 5), (3, 3)])
@pytest.mark.parametrize(("z", "rate"), [(5.0, 0.005), (0.5, 0.3), (200.0, 0.9)])
def test_a_loss_is_found_again_however_unlikely_far_moves_are(rows, back, z, rate):
    event = MixtureOfGaussians.of_rows(z, rate, rows, back)
    pair = directions_of({event: 1}, ADD)[0][0][0]
    low, high = pair.ends(9.0, -math.inf)
    wanted = np.linspace(low, high, 5000)
    points = pair.at(wanted)
    assert (np.diff(points) > 0).all()
    assert pair.loss(points) == pytest.approx(wanted, abs=1e-13 * (1 + high - low), rel=1e-13)


@pytest.mark.parametrize(("rows", "back"), [(2, 0), (2, 2)])
def test_no_vectors_of_two_rows_cost_more(rows, back):
    """Contributions of norm at most C in the plane, at any angles, against the pair on a line."""
    z, rate = 1.0, 0.2
    rng = np.random.default_rng(3)
    grid = np.linspace(-7, 7, 281)
    points = np.stack(np.meshgrid(grid, grid), axis=-1)
    area = (grid[1] - grid[0]) ** 2

    def density(vectors):
        out = np.zeros(points.shape[:2])
        for way in product((0, 1), repeat=len(vectors)):
            chance = math.prod(rate if bit else 1 - rate for bit in way)
            mean = sum((bit * v for bit, v in zip(way, vectors)), np.zeros(2))
            square = ((points - mean) ** 2).sum(axis=-1)
            out += chance * np.exp(-square / 2 / z**2) / (2 * math.pi * z**2)
        return out

    def drawn(count):
        angles, lengths = rng.uniform(0, 2 * math.pi, count), rng.choice([1.0, 1.0, 0.6], count)
        return np.stack([np.cos(angles), np.sin(angles)], axis=1) * lengths[:, None]

    event = ((MixtureOfGaussians.of_rows(z, rate, rows, back), 1),)
    at = (0.0, 0.3, 1.0)
    told = [delta(event, eps, ADD) for eps in at]
    shown = 0.0
    straight = np.array([[1.0, 0.0]] * 2)
    for one, other in [
        (straight[:rows], -straight[:back]),
        *((drawn(rows), drawn(back)) for _ in range(12)),
    ]:
        p, q = density(one), density(other)
        for eps, most in zip(at, told):
            for a, b in ((p, q), (q, p)):
                true = float(np.maximum(a - math.exp(eps) * b, 0).sum() * area)
                assert true <= most * (1 + 1e-3)
                shown = max(shown, true / most)
    assert shown > 0.995


@pytest.mark.parametrize("neighbors", [ADD, REPLACE])
def test_rows_that_nobody_declared_cost_what_their_divisions_do(neighbors):
    script = ((PoissonGaussian(1.0, 0.05), 100), (Gaussian(40.0), 2))
    told = for_rows(script, Spec(1.0, 1e-6, neighbors), 2).epsilon
    whole = (Gaussian(20.0), 2)
    if neighbors == REPLACE:
        moved = [((MixtureOfGaussians.of_rows(1.0, 0.05, 2), 100), whole)]
    else:
        pairs = ((2, 0), (1, 1))
        moved = [((MixtureOfGaussians.of_rows(1.0, 0.05, a, b), 100), whole) for a, b in pairs]
    assert told == max(epsilon(each, 1e-6, neighbors) for each in moved)
    one, chain = epsilon(script, 1e-6, neighbors), []
    for eps in np.linspace(one, 2 * one, 8):
        grown = delta(script, eps, neighbors) * (1 + math.exp(eps))
        chain += [2 * eps] if grown <= 1e-6 else []
    assert one < told < min(chain)  # two steps from neighbour to neighbour


def test_more_rows_than_are_divided_are_priced_by_a_chain(monkeypatch):
    script, spec = ((PoissonGaussian(2.0, 0.05), 5),), Spec(1.0, 1e-6, ADD)
    divided = for_rows(script, spec, 3).epsilon
    monkeypatch.setattr(groups, "_MOST_SAMPLED", 2)
    assert divided < for_rows(script, spec, 3).epsilon < math.inf


def test_twins_that_take_two_rows_for_less_are_found():
    """As one row, as one row at twice the rate, and as rows that enter and leave in pairs."""
    own = epsilon(((TWO, 300),), 1e-6, ADD)
    twins = (
        PoissonGaussian(1.0, 0.01),
        PoissonGaussian(1.0, 0.02),
        MixtureOfGaussians.of_rows(1.0, 0.01 * 0.999, 2),
    )
    for twin in twins:
        told = epsilon(((twin, 300),), 1e-6, ADD)
        assert told < own and true_delta(1.0, 0.01, 2, 0, 300, told) > 1.001e-6
    price = epsilon(((TWO, 300),), 1e-6, ADD)
    assert true_delta(1.0, 0.01, 2, 2, 300, price) > 1e-4  # two rows replaced by two others


def test_noise_for_two_rows_is_found():
    def script(scale):
        return ((MixtureOfGaussians.of_rows(scale, 0.02, 2), 200),)

    _, found = calibrate(script, Spec(2.0, 1e-6, ADD))
    price = epsilon(found, 1e-6, ADD)
    assert 2.0 * (1 - 1e-4) < price <= 2.0


@pytest.mark.parametrize("neighbors", [ADD, REPLACE])
def test_divergences_are_the_integrals_of_both_laws(neighbors):
    event, orders = MixtureOfGaussians.of_rows(1.5, 0.1, 3), np.array([1.5, 2.0, 4.0, 12.0])
    known = []
    for rows, back in {(3, 0), (0, 3)} if neighbors == ADD else {(3, 3)}:
        losses, masses = losses_of(0.1, rows, back, 1.5, 28)
        known.append(np.log(np.exp(np.multiply.outer(orders - 1, losses)) @ masses) / (orders - 1))
    found = cost(event, "rdp", neighbors)(event, orders, neighbors)
    assert found == pytest.approx(np.max(known, axis=0), rel=1e-9)


@pytest.mark.parametrize("neighbors", [ADD, REPLACE])
def test_ends_are_events_that_are_known(neighbors):
    times = 2.0 if neighbors == REPLACE else 1.0

    def price(event, count=3):
        return epsilon(((event, count),), 1e-6, neighbors)

    one = MixtureOfGaussians(4.0, (2.0, 0.0), (0.1, 0.9))
    assert price(one) == price(PoissonGaussian(2.0, 0.1))
    assert price(MixtureOfGaussians.of_rows(8.0, 1.0, 2)) == price(Gaussian(4.0 / times))
    assert (
        price(MixtureOfGaussians.of_rows(8.0, 0.0, 2))
        == 0
        == price(MixtureOfGaussians.of_rows(8.0, 0.3, 0))
    )
    assert price(MixtureOfGaussians.of_rows(0.0, 0.1, 2)) == math.inf
    assert price(MixtureOfGaussians.of_rows(math.inf, 0.1, 2)) == 0
    sure = MixtureOfGaussians(3.0, (1.0, 2.0), (0.5, 0.5))  # moves for certain, who knows how far
    assert price(Gaussian(3.0 / times)) < price(sure) < price(Gaussian(1.5 / times))
    beside = ((TWO, 20), (PureDP(0.1), 2), (PoissonPure(0.3, 0.1), 5))
    assert read_script(written_script(beside)) == beside
    assert epsilon(((TWO, 20),), 1e-6, neighbors) < epsilon(beside, 1e-6, neighbors)


def test_replaced_rows_of_other_numbers_move_as_far_as_the_more_of_them():
    """The steps of a script may point both ways, so each is priced as 3 rows in the place of 3."""
    apart = (MixtureOfGaussians.of_rows(3.0, 0.1, 1, 3), MixtureOfGaussians.of_rows(3.0, 0.1, 3, 1))
    told = epsilon(((apart[0], 5), (apart[1], 5)), 1e-6, REPLACE)
    three = ((MixtureOfGaussians.of_rows(3.0, 0.1, 3), 10),)
    assert told == pytest.approx(epsilon(three, 1e-6, REPLACE))
    assert told == pytest.approx(epsilon(((apart[0], 10),), 1e-6, REPLACE))
    assert told > epsilon(((apart[0], 10),), 1e-6, ADD)
    tails = _farther((0.5, 0.5, 0.0), (0.7, 0.1, 0.2))
    assert tails == pytest.approx((0.5, 0.3, 0.2))
    with pytest.raises(NotSupported, match="Only an upper bound"):
        enclose(apart[0], delta=1e-6, neighbors=REPLACE)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: MixtureOfGaussians(1.0, (0.0, 1.0), (1.0,)), "1 weights and 2 moves"),
        (lambda: MixtureOfGaussians(1.0, (0.0, 1.0), (0.5, 0.4)), r"sum to 0\.9; they must sum"),
        (lambda: MixtureOfGaussians(1.0, (0.0, 1.0), (0.5, 0.5), (1.0,)), "1 back and 2 moves"),
        (lambda: MixtureOfGaussians(1.0, (0.0, math.inf), (0.5, 0.5)), "must be finite"),
        (lambda: MixtureOfGaussians.of_rows(1.0, 0.1, 1001), "rows=1001.*at most 1000"),
    ],
)
def test_impossible_moves_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()
