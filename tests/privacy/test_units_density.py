"""Prices of units of several rows against exact output densities, and against the worst of maps."""

import math
from itertools import product

import numpy as np
import pytest
from units_density import (
    NOBODY,
    STEEP_HINGE,
    CappedSquaredHinge,
    cells,
    event_of,
    hockey_stick,
    log_density,
    random_unit,
    softmax_log_density,
    true_delta,
    unit,
    worlds,
)

from skdp.losses import Huber, HuberisedHinge, Logistic
from skdp.privacy._gaussian import gaussian_mu
from skdp.privacy._objective import (
    objective_delta,
    objective_rdp,
    pure_objective_epsilon,
)
from skdp.privacy.events import ObjectivePerturbation, PureObjectivePerturbation

LOSSES = [Logistic(), HuberisedHinge(0.5), CappedSquaredHinge(), Huber(1.0)]
RELATIONS = ["add_remove", "replace_one"]
ROUNDING = {1: 1 + 1e-5, 2: 1 + 1e-3}  # of the grids


def nobody(dimension):
    return np.zeros(0), np.zeros((0, dimension)), np.zeros(0)


def other_of(rng, loss, neighbors, j, dimension):
    if neighbors == "add_remove":
        return nobody(dimension)
    return random_unit(rng, int(rng.integers(0, j + 1)), dimension, loss.one_signed, True)


def found_and_claimed(rng, loss, neighbors, j, dimension):
    """One random instance: exact delta, and the price of what is known of it."""
    epsilon, sd = rng.choice([0.05, 0.5, 1.5, 4]), rng.choice([0.7, 2, 6])
    lam = rng.choice([0.1, 1, 6] if dimension == 1 else [0.6, 1, 6])
    equal = rng.random() < 0.5
    left = random_unit(rng, j, dimension, loss.one_signed, equal)
    right = other_of(rng, loss, neighbors, j, dimension)
    pull = rng.normal(0, 2 * sd, dimension)
    grid = dict(points=160_001) if dimension == 1 else dict(points=501, width=7.0)
    common = [random_unit(rng, 4, dimension, loss.one_signed, True)]
    event = event_of(loss, sd, lam, j, dimension, equal)
    exact = true_delta(loss, left, right, epsilon, pull, sd, lam, common=common, **grid)
    return exact, objective_delta(event, epsilon, neighbors)


@pytest.mark.parametrize("j", [2, 3, 10])
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_exact_delta_in_one_dimension_never_exceeds_the_price(loss, neighbors, j):
    for seed in range(5):
        rng = np.random.default_rng([seed, j])
        exact, price = found_and_claimed(rng, loss, neighbors, j, 1)
        assert exact <= price * ROUNDING[1], seed


@pytest.mark.parametrize("j", [2, 3])
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_exact_delta_in_two_dimensions_never_exceeds_the_price(loss, neighbors, j):
    for seed in range(2):
        rng = np.random.default_rng([seed, j])
        exact, price = found_and_claimed(rng, loss, neighbors, j, 2)
        assert exact <= price * ROUNDING[2], seed


def adversarial_units(loss, j):
    """Copies, opposites, kinks side by side and kinks far apart."""
    ones, spread = np.ones(j), np.linspace(-1, 1, j)
    if loss.one_signed:
        return [
            unit(ones, ones),
            unit(np.where(np.arange(j) % 2, 1.0, -1.0), ones),
            unit(np.linspace(0.3, 1, j), ones),
        ]
    return [unit(ones, 0 * ones), unit(ones, 4 * spread), unit(ones, 60 * np.sign(spread + 0.1))]


@pytest.mark.parametrize("j", [2, 10])
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_adversarial_units_never_exceed_the_price(loss, neighbors, j):
    for epsilon, r, jacobian in ((0.3, 0.15, 0.02), (1.0, 0.3, 0.1), (0.1, 1.0, 0.4)):
        sd, lam = loss.slope / r, loss.curvature / math.expm1(jacobian)
        price = objective_delta(event_of(loss, sd, lam, j, 1, True), epsilon, neighbors)
        for left in adversarial_units(loss, j):
            opposite = left[0], left[1], -left[2] if loss.one_signed else left[2] - 100
            right = NOBODY if neighbors == "add_remove" else opposite
            for pull in (-4 * sd, 0.0, 3 * sd, 40.0 + 8 * sd):
                exact = true_delta(loss, left, right, epsilon, pull, sd, lam)
                assert exact <= price * ROUNDING[1]


@pytest.mark.parametrize(
    "epsilon, sd, least", [(1.0, 4.2, 0.976), (0.3, 12.0, 0.96), (8.0, 0.6, 0.86)]
)
def test_a_saturated_person_comes_near_the_price(epsilon, sd, least):
    """Ten copies of a row that a far away solution gets wrong: a plain Gaussian."""
    left, lam = unit(np.ones((10, 1)), np.ones(10)), 4 / epsilon
    exact = true_delta(Logistic(), left, NOBODY, epsilon, 40.0, sd, lam)
    price = objective_delta(event_of(Logistic(), sd, lam, 10, 1), epsilon, "add_remove")
    assert least < exact / price <= 1


@pytest.mark.parametrize("j", [2, 3])
def test_a_replaced_person_comes_near_the_price_in_two_dimensions(j):
    epsilon, sd, lam, tilt = 1.0, 9.0, 8.0, 0.03
    up, down = ([[tilt, sign * math.sqrt(1 - tilt**2)]] * j for sign in (1, -1))
    left, right = unit(up, np.ones(j)), unit(down, np.ones(j))
    pull = np.array([4000.0, 0.0])
    exact = true_delta(
        Logistic(), left, right, epsilon, pull, sd, lam, points=601, width=8.0, slack=0.0
    )
    price = objective_delta(event_of(Logistic(), sd, lam, j, 2), epsilon, "replace_one")
    assert 0.96 < exact / price <= 1


# The worst of all maps b -> v that a unit allows: what the proof holds against, Jacobian apart.


def worst_map(parts, slopes, epsilon, points=300, width=9.0):
    """delta where for each b the slopes are those of the largest loss; ``parts`` are units / s."""
    moves = np.zeros((1, 2))
    for weights, vectors in parts:
        for omega, u in zip(weights, vectors):
            moves = np.concatenate([moves + omega * c * u for c in slopes])
    axis = ((np.arange(points) + 0.5) / points * 2 - 1) * width
    b = np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)
    loss = np.max([b @ v + v @ v / 2 for v in moves], axis=0)
    density = np.exp(-(b**2).sum(1) / 2)
    return float(density @ np.maximum(1 - np.exp(epsilon - loss), 0) / density.sum())


def directions(rng, j, r):
    u = rng.standard_normal((j, 2))
    if rng.random() < 0.6:
        u[:] = u[0] + 0.05 * rng.standard_normal((j, 2))
    weights = np.full(j, 1 / j) if rng.random() < 0.5 else rng.dirichlet(np.ones(j))
    return weights, r * u / np.linalg.norm(u, axis=1, keepdims=True)


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize(
    "rule, slopes", [("one_signed", (0, 1)), ("two_signed", (-1, 1))], ids=lambda v: str(v)
)
def test_the_worst_map_stays_below_the_price_and_comes_near(rule, slopes, neighbors):
    rng, shares = np.random.default_rng(3), []
    for _ in range(25):
        j, epsilon = int(rng.integers(2, 4)), float(rng.choice([0.1, 1, 4]))
        mu = gaussian_mu(epsilon, 10 ** -rng.uniform(1, 6))
        r = mu / (2 if neighbors == "replace_one" else 1)
        parts = [directions(rng, j, r)]
        if neighbors == "replace_one":
            weights, vectors = parts[0]
            parts.append((weights, vectors) if rng.random() < 0.6 else directions(rng, j, r))
        event = ObjectivePerturbation(r, 0.0, rule, rows=j, width=2)
        shares.append(
            worst_map(parts, slopes, epsilon) / objective_delta(event, epsilon, neighbors)
        )
    assert 0.95 < max(shares) <= 1


# Several classes, rounds, Renyi divergence, pure epsilon.


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_units_of_three_classes_in_one_feature(neighbors):
    sd, lam, epsilon, shares = 3.0, 4.0, 0.8, []
    event = ObjectivePerturbation(math.sqrt(2) / sd, 0.5 / lam, "multinomial", 3, rows=2, width=1)
    price = objective_delta(event, epsilon, neighbors)
    right = unit([-1.0, 0.5], [1, 2]) if neighbors == "replace_one" else NOBODY
    for left in (unit([1.0, 1.0], [0, 0]), unit([1.0, -1.0], [0, 1]), unit([1.0, 0.7], [0, 2])):
        for pull in (np.zeros(3), np.array([12.0, -12.0, 0.0])):
            w, volume = cells(3, pull, sd, lam, 61, width=5.0, slack=0.0)
            p, q = (
                np.exp(softmax_log_density(3, one, w, pull, sd, lam)) * volume
                for one in (left, right)
            )
            shares.append(hockey_stick(p, q, epsilon) / price)
    assert max(shares) <= 1
    if neighbors == "add_remove":  # opposite gradients of full norm need a second feature
        assert max(shares) > 0.2


ROUNDS = [Logistic(), CappedSquaredHinge(), Huber(1.0)]


@pytest.mark.parametrize("loss", ROUNDS, ids=repr)
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_two_rounds_that_keep_other_rows_of_a_unit(loss, neighbors):
    """All pairs of outcomes; the rows of the second round are not those of the first."""
    sd, lam = 3.0, 2.0
    kept = unit([1.0, 0.8], [1.0, 1.0]), unit([1.0, -0.6], [1.0, 1.0])
    others = unit([1.0, 1.0], [-1.0, -1.0]), unit([0.9], [-1.0])
    price = event_of(loss, sd, lam, 2, 1).repeated(2)
    for pull in (-6.0, 0.0, 20.0):
        pairs = [
            worlds(loss, a, b if neighbors == "replace_one" else NOBODY, pull, sd, lam, points=2401)
            for a, b in zip(kept, others)
        ]
        both = np.multiply.outer(pairs[0][0], pairs[1][0])
        other = np.multiply.outer(pairs[0][1], pairs[1][1])
        for epsilon in (0.2, 0.7, 1.5):
            exact = hockey_stick(both, other, epsilon)
            assert exact <= objective_delta(price, epsilon, neighbors) * ROUNDING[1]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_renyi_cost_of_units_by_brute_force(loss, neighbors):
    orders, sd, lam = np.array([1.2, 2.0, 5.0, 12.0]), 3.0, 2.0
    claimed = objective_rdp(event_of(loss, sd, lam, 3, 1), orders, neighbors)
    left = unit([1.0, 0.9, 1.0], [1.0, 1.0, 1.0])
    right = unit([1.0, 1.0], [-1.0, -1.0]) if neighbors == "replace_one" else NOBODY
    for pull in (-6.0, 0.0, 6.0, 20.0):
        p, q = worlds(loss, left, right, pull, sd, lam, width=9.0)
        for a, bound in zip(orders, claimed):
            both = np.sum((p / q) ** a * q), np.sum((q / p) ** a * p)
            assert math.log(max(both)) / (a - 1) <= bound * ROUNDING[1]


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("loss", [Logistic(), STEEP_HINGE], ids=repr)
def test_pure_epsilon_of_units_bounds_the_log_ratio_in_two_dimensions(loss, neighbors):
    scale, lam, worst = 20.0, loss.curvature / 4, 0.0
    rule = "logistic" if type(loss) is Logistic else "one_signed"
    event = PureObjectivePerturbation(1 / scale, 4.0, rule, rows=2, width=2)
    price = pure_objective_epsilon(event, neighbors)
    left = unit(np.eye(2), [1.0, 1.0])
    right = unit(0.01 * np.eye(2), [1.0, 1.0]) if neighbors == "replace_one" else nobody(2)
    axis = np.linspace(-3, 3, 121)
    w = np.array(list(product(axis, axis)))
    for pull in (np.zeros(2), np.array([8.0, 8.0]), np.array([-8.0, 2.0])):
        p, q = (log_density(loss, [one], w, pull, scale, lam, pure=True) for one in (left, right))
        worst = max(worst, np.abs(p - q).max())
    assert 0.9 * price < worst <= price


@pytest.mark.slow
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_search_for_the_worst_unit_finds_none_above_the_price(loss, neighbors):
    """Random steps uphill in rows, targets, weights and pull."""
    rng, shares = np.random.default_rng(11), []
    epsilon, sd, lam, j = 0.5, 4 * loss.slope, loss.curvature / math.expm1(0.05), 3
    price = objective_delta(event_of(loss, sd, lam, j, 1), epsilon, neighbors)

    def share(state):
        x, y, omega, pull = state
        units = [
            (np.abs(omega[i]) / np.abs(omega[i]).sum(), np.clip(x[i], -1, 1)[:, None], y[i])
            for i in (0, 1)
        ]
        right = units[1] if neighbors == "replace_one" else NOBODY
        return true_delta(loss, units[0], right, epsilon, pull, sd, lam, points=8001) / price

    for _ in range(4):
        y = np.sign(rng.standard_normal((2, j))) * (1 if loss.one_signed else 60)
        state = rng.uniform(-1, 1, (2, j)), y, rng.random((2, j)) + 0.1, rng.normal(0, 3 * sd)
        best = share(state)
        for step in range(150):
            size = 0.5 * 0.98**step
            x, _, omega, pull = state
            new = (
                x + size * rng.standard_normal((2, j)),
                y,
                omega + size * rng.standard_normal((2, j)) + 1e-6,
                pull + size * 6 * sd * rng.standard_normal(),
            )
            if (value := share(new)) > best:
                state, best = new, value
        shares.append(best)
    assert max(shares) <= ROUNDING[1]
    assert max(shares) > (0.04 if neighbors == "replace_one" else 0.25)
