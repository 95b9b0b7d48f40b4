"""Blocks of equal steps: truths between the bounds at every level, prices of very many steps, twins that are found."""

import math
from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
from _truth import true_delta

from skdp.privacy import _pld, _pld_compose, _pld_tilted, delta, enclose, epsilon
from skdp.privacy._gaussian import gaussian_epsilon
from skdp.privacy._pld_below import below
from skdp.privacy._pld_compose import compose
from skdp.privacy._pld_plan import BLOCK, divisions, plan_for_epsilon
from skdp.privacy.events import Gaussian, Laplace, PoissonGaussian, PureDP, RandomizedResponse

ADD, REPLACE = "add_remove", "replace_one"
SCRIPTS = {
    "pure": (((PureDP(0.02), 5000),), 3.0),
    "sampled": (((PoissonGaussian(1.0, 0.02), 4500),), 5.0),
    "beside a Gaussian": (((PureDP(0.05), 300), (Gaussian(3.0), 1)), 2.0),
}


def forced(name, levels, coarser=1.0, **changed):
    """Pairs, and a plan with so many levels of blocks."""
    script, at = SCRIPTS[name]
    pairs = _pld.directions_of(_pld.live(script, ADD), ADD)[0]
    plan = plan_for_epsilon(pairs, at, 1e-5)
    step = plan.step * math.sqrt(divisions(pairs, plan.levels) / divisions(pairs, levels))
    return pairs, replace(plan, levels=levels, step=coarser * step, **changed), at


TRUTHS = {name: float(true_delta(script, at, ADD)) for name, (script, at) in SCRIPTS.items()}


@pytest.mark.parametrize("levels", [0, 1, 2])
@pytest.mark.parametrize("name", SCRIPTS)
def test_truths_are_between_the_bounds(name, levels):
    pairs, plan, at = forced(name, levels)
    high, low = compose(pairs, plan).delta(at), below(pairs, plan).delta(at)
    assert low <= TRUTHS[name] * (1 + 1e-6) and TRUTHS[name] * (1 - 1e-6) <= high
    assert high < TRUTHS[name] * (1 + 5e-4) and low > TRUTHS[name] * (1 - 5e-4)


@pytest.mark.parametrize("coarser", [3.0, 10.0])
@pytest.mark.parametrize("name", SCRIPTS)
def test_coarse_grids_of_blocks_are_no_less_safe(name, coarser):
    pairs, plan, at = forced(name, 2, coarser)
    assert compose(pairs, plan).delta(at) >= TRUTHS[name] * (1 - 1e-6)
    assert below(pairs, plan).delta(at) <= TRUTHS[name] * (1 + 1e-6)


@pytest.mark.parametrize(
    ("event", "mu"),
    [
        (PureDP(1e-5), 1.0),
        (Laplace(1e5), 1.0),
        (RandomizedResponse(1e-5, 5), math.sqrt(2 / 5)),
        (PoissonGaussian(100.0, 1e-3), 1.0),
    ],
)
def test_very_many_small_steps_cost_what_their_limit_costs(event, mu):
    """The central limit theorem holds to 1e-5 here; on one grid the price was 4 to 27 % above it."""
    limit = gaussian_epsilon(mu, 1e-6)
    price = epsilon(((event, 10**10),), 1e-6, ADD)
    assert limit * (1 - 2e-5) < price < limit * (1 + 1e-4)


def test_blocks_and_what_is_left_are_all_steps():
    for count in (1, 63, 64, 65, 4095, 4096, 300_000):
        pairs = _pld.directions_of(_pld.live(((PureDP(0.001), count),), ADD), ADD)[0]
        plan = plan_for_epsilon(pairs, 0.5, 1e-2)
        ratio = divisions(pairs, plan.levels) / divisions(pairs, 3)
        plan = replace(plan, levels=3, step=plan.step * math.sqrt(ratio))
        found = _pld_compose.steps_of(pairs[0][0], count, plan)
        mean = sum(one.count * one.mean for one in found) * plan.step
        high = 1 / (1 + math.exp(-0.001 * (1 + 2 * plan.tilt)))  # of the tilted law
        assert mean == pytest.approx(count * 0.001 * (2 * high - 1), rel=1e-2)
        assert len(found) <= 4 and sum(one.count for one in found) <= max(count / 50, 130)


# Twins


def high_of(name="pure"):
    pairs, plan, at = forced(name, 2)
    return compose(pairs, plan).delta(at)


@pytest.mark.parametrize("width", [-25.0, -15.0, 5.0])
def test_what_is_outside_of_a_window_is_at_infinity_or_left_out(width, monkeypatch):
    """One block of pure steps by its binomial law; windows of a few sd up to all."""
    monkeypatch.setattr(_pld_compose, "_NEARLY_ALL", width)
    pairs, plan, _ = forced("pure", 1)
    pair, eps, fine = pairs[0][0], 0.02, 0.02 / 40
    plan = replace(plan, step=8 * fine, reach=8.0)
    one = _pld_tilted.tilted(pair, 1, replace(plan, step=fine))
    yes = 1 / (1 + math.exp(-eps))
    law = {40 * (2 * k - 64): math.comb(64, k) * yes**k * (1 - yes) ** (64 - k) for k in range(65)}
    for lower in (False, True):
        found = _pld_compose._block(one, fine, plan, lower)
        places = np.arange(found.first, found.first + len(found.weights))
        back = np.exp(found.log_norm - plan.tilt * fine * (places - found.anchor))
        masses = dict(zip(places.tolist(), (found.weights * back).tolist()))
        above = math.fsum(p for at, p in law.items() if at > places[-1])
        # a pure step has both its losses on this grid, but for the last digit
        if lower:
            assert all(masses.get(at, 0.0) <= p * (1 + 1e-9) for at, p in law.items())
        else:
            assert -math.expm1(found.log_kept) >= above * (1 - 1e-9)
            assert sum(masses.values()) >= (1 - above) * (1 - 1e-12)
    assert (above > 0) == (width < 0)


def test_a_twin_that_divides_downwards_is_found(monkeypatch):
    assert high_of() >= TRUTHS["pure"]
    monkeypatch.setattr(_pld_compose, "_SHARE", -1e-2)
    assert high_of() < TRUTHS["pure"]


def test_a_twin_that_counts_one_level_is_found(monkeypatch):
    from skdp.privacy import _pld_below

    pairs, plan, at = forced("pure", 2, 20.0)
    assert below(pairs, plan).delta(at) <= TRUTHS["pure"]
    monkeypatch.setattr(
        _pld_below, "divisions", lambda pairs, levels: pairs[0][1] / BLOCK**levels / 4
    )
    assert below(pairs, plan).delta(at) > TRUTHS["pure"]


def test_round_off_is_dominated():
    """Sums of masses from any point upwards are above those in forty digits, at less cost than raising each mass."""
    law = _pld_tilted.Tilted(np.array([0.3, 0.0, 0.7]), -1, 5000, 0, 0.0, 0.0, 0.0)
    size, start = 4096, 2000 - 2048
    found = _pld_tilted.dominating([law], start, size, 1e-3)
    places = np.arange(start, start + size)
    with mp.workdps(40):
        exact = [mp.mpf(0)] * size
        for k in range(5001):
            place = (2 * k - 5000 - start) % size
            exact[place] += mp.binomial(5000, k) * mp.mpf(0.7) ** k * mp.mpf(0.3) ** (5000 - k)
        back = [mp.exp(-mp.mpf(1e-3) * i) for i in places.tolist()]

        def tails(masses):
            sums, total = [], mp.mpf(0)
            for mass, weight in zip(reversed([*masses]), reversed(back)):
                total += (
                    mp.mpf(float(mass)) * weight if not isinstance(mass, mp.mpf) else mass * weight
                )
                sums.append(total)
            return sums

        true = tails(exact)
        assert all(a >= b for a, b in zip(tails(found), true))
    raised = _pld_tilted.add_up([law], start, size)
    assert 1 < found.sum() < 1 + (raised.sum() - 1) / 2


@pytest.mark.slow
def test_enclosures_of_many_steps_are_narrow():
    script = ((PoissonGaussian(1.0, 1e-3), 10**6),)
    found = enclose(script, delta=1e-6, neighbors=ADD)
    assert found.low < found.high <= epsilon(script, 1e-6, ADD)
    assert found.width < 5e-5
    assert delta(script, found.high, ADD) >= 1e-6 * (1 - 1e-2)
