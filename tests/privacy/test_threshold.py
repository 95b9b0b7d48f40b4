"""The sparse vector technique: the bound against exact runs, dense grids, and known falsehoods."""

import math

import numpy as np
import pytest
from scipy.stats import laplace, norm

from skdp.privacy import accountants
from skdp.privacy._threshold import _log_coin, _log_worst_coin
from skdp.privacy.curves import cost
from skdp.privacy.events import AboveThreshold, GaussianAboveThreshold, PureDP


def renyi(event, order):
    return cost(event, "rdp", "add_remove")(event, np.array([float(order)]), "add_remove")[0]


def run_divergence(order, levels, shifts, threshold, query):
    """Exact Renyi divergence of one run, levels and shifts in blocks of (value, repetitions)."""
    z = np.linspace(-60, 60, 24001) * max(threshold.std(), query.std() / 4)
    law = threshold.pdf(z) / threshold.pdf(z).sum()
    stay = [np.ones_like(z), np.ones_like(z)]
    outcomes = []
    for (level, count), shift in zip(levels, shifts):
        go = [query.cdf(z - level), query.cdf(z - level - shift)]
        for _ in range(count):
            outcomes.append([(law * s * (1 - g)).sum() for s, g in zip(stay, go)])
            stay = [s * g for s, g in zip(stay, go)]
    outcomes.append([(law * s).sum() for s in stay])
    p, q = np.array(outcomes).T
    keep = (p > 1e-300) & (q > 1e-300)
    both = [np.log(np.sum(a[keep] ** order * b[keep] ** (1 - order))) for a, b in ((p, q), (q, p))]
    return max(both) / (order - 1)


def worst_found(order, e1, e2, seed, trials=40):
    rng = np.random.default_rng(seed)
    threshold, query = laplace(scale=1 / e1), laplace(scale=1 / e2)
    worst = 0.0
    for _ in range(trials):
        blocks = rng.integers(1, 5)
        levels = [(rng.uniform(-4, 1) / e2, int(rng.integers(1, 40))) for _ in range(blocks)]
        shifts = rng.choice([-1.0, 1.0], size=blocks)
        worst = max(worst, run_divergence(order, levels, shifts, threshold, query))
    return worst


@pytest.mark.parametrize(("e1", "e2", "order"), [(0.5, 0.25, 8), (2.0, 1.0, 2), (0.1, 0.05, 8)])
def test_exact_runs_stay_below_the_bound_and_show_that_it_is_not_loose(e1, e2, order):
    bound = renyi(AboveThreshold(e1, e2), order)
    found = worst_found(order, e1, e2, seed=order)
    assert 0.1 * bound < found <= bound  # a tenth of the bound would be refuted


@pytest.mark.parametrize("e2", [0.0025, 0.05, 0.6])
@pytest.mark.parametrize("order", [1.5, 2.0, 8.0, 32.0])
def test_the_worst_coin_of_a_dense_grid(order, e2):
    """Dense over the whole line, where the search looks only between 0 and t."""
    for t in (e2, -e2, 2 * e2):
        ours = _log_worst_coin(np.array([order]), np.array([t]))[0]
        c = np.concatenate([np.linspace(-6, 6, 200001), np.linspace(min(0, t), max(0, t), 20001)])
        dense = _log_coin(np.array([[order]]), c[None, :], np.array([[t]])).max()
        if math.isinf(ours):
            assert dense > 5 or math.isinf(dense)
        else:
            assert dense <= ours * (1 + 1e-6) + 1e-13 and ours <= dense * (1 + 1e-4) + 1e-12


@pytest.mark.parametrize(
    ("e1", "e2", "order"), [(0.5, 0.25, 8.0), (0.1, 0.4, 3.0), (2.0, 1.0, 20.0)]
)
def test_the_best_share_of_a_dense_grid(e1, e2, order):
    """Threshold and coin priced apart at every share and both shifts, written out here again."""
    bounds = []
    for share in np.linspace(0.0, 1.0, 801):
        coin = 0.0
        for t in (e2 * (share + 1), e2 * (share - 1)):
            c = np.linspace(-1.1 * abs(t), 1.1 * abs(t), 2001)[None, :]
            coin = max(coin, _log_coin(np.array([[order]]), c, np.array([[t]])).max())
        up, down = (order - 1) * share * e1, -order * share * e1
        moment = order * math.exp(up) + (order - 1) * math.exp(down)
        bounds.append((math.log(moment / (2 * order - 1)) + coin) / (order - 1))
    pure = cost(PureDP(e1 + 2 * e2), "rdp", "add_remove")
    bounds.append(pure(PureDP(e1 + 2 * e2), np.array([order]), "add_remove")[0])
    assert renyi(AboveThreshold(e1, e2), order) == pytest.approx(min(bounds), rel=3e-3)


def test_the_condition_on_the_tail_alone_does_not_make_the_coin_finite():
    """a (1 - e^-e2) < 1 holds, and still a coin between 0 and t has an infinite ratio."""
    order, e2 = 3.0, 0.3
    assert order * -math.expm1(-e2) < 1
    assert _log_worst_coin(np.array([order]), np.array([-e2]))[0] == math.inf
    assert renyi(AboveThreshold(math.inf, e2), order) == math.inf
    assert math.isfinite(renyi(AboveThreshold(0.3, e2), order))


def test_without_threshold_noise_there_is_no_pure_bound():
    free = AboveThreshold(math.inf, 0.25)
    assert accountants.epsilon(((free, 1),), 0.0) == math.inf
    assert renyi(free, 8) == math.inf
    assert math.isfinite(renyi(free, 1.5))
    assert accountants.epsilon(((AboveThreshold(0.5, 0.25), 1),), 0.0) == 1.0


def test_never_above_the_pure_cost_and_a_quarter_of_it_when_small():
    event = AboveThreshold(0.005, 0.0025)
    assert renyi(event, 2) < 0.26 * 0.01**2
    for order in (1.1, 3, 50, 1000):
        assert renyi(AboveThreshold(0.5, 0.25), order) <= 1.0


def test_gaussian_version_grows_with_the_number_of_queries():
    """The per-outcome formula alone (6 here) is false: four blocks of 100 queries reach 6.09."""
    threshold, query = norm(scale=math.sqrt(0.5)), norm(scale=1.0)
    levels = [(-level, 100) for level in (-0.852, -3.367, -0.572, -2.749)]
    blocks = [(-v, k) for v, k in levels]
    z = np.linspace(-6, 6, 4801)
    law = threshold.pdf(z) / threshold.pdf(z).sum()
    found = []
    for sign in (1, -1):
        stay, total, parts = [np.ones_like(z)] * 2, 0.0, []
        for (level, count), shift in zip(blocks, (-1, 1, -1, 1)):
            go = [query.cdf(z - sign * level), query.cdf(z - sign * level - shift)]
            for _ in range(count):
                parts.append([(law * s * (1 - g)).sum() for s, g in zip(stay, go)])
                stay = [s * g for s, g in zip(stay, go)]
        parts.append([(law * s).sum() for s in stay])
        p, q = np.array(parts).T
        keep = (p > 1e-300) & (q > 1e-300)
        total = max(np.log(np.sum(p[keep] ** 2 / q[keep])), np.log(np.sum(q[keep] ** 2 / p[keep])))
        found.append(total)
    event = GaussianAboveThreshold(math.sqrt(0.5), 1.0, 400)
    assert renyi(event, 2) > max(found)
    assert max(found) > 6


def test_gaussian_version_takes_the_smaller_proved_route():
    few = GaussianAboveThreshold(math.sqrt(0.5), 1.0, 6)
    assert renyi(few, 2) == pytest.approx(6.0)
    assert renyi(GaussianAboveThreshold(0.0, 1.0, 6), 2) == pytest.approx(6.0)
    many = GaussianAboveThreshold(math.sqrt(0.5), 1.0, 400)
    assert renyi(many, 2) == pytest.approx(6.0 + math.log(401))
    assert accountants.epsilon(((few, 1),), 1e-6) <= accountants.epsilon(
        ((few, 1),), 1e-6, accountant="gdp"
    )
