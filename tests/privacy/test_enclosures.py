"""Enclosures hold the truth: against closed forms in forty digits, contour integrals and enumeration."""

import itertools
import math
import random

import mpmath as mp
import numpy as np
import pytest
from _truth import true_delta

from skdp.exceptions import NotSupported
from skdp.privacy import _enclose, _pld, _pld_below, delta, enclose, epsilon
from skdp.privacy._pld_plan import plan_for_epsilon
from skdp.privacy.events import (
    BestOf,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    PoissonBundle,
    PoissonGaussian,
    PoissonPure,
    PureDP,
    RandomizedResponse,
    RandomPosition,
    ShuffledEpoch,
    WithoutReplacementGaussian,
    WorstPair,
)

ADD, REPLACE = "add_remove", "replace_one"
CLOSED, CONTOUR = 1e-9, 1e-6  # relative errors of the truths


def log_uniform(draw, low, high):
    return math.exp(draw.uniform(math.log(low), math.log(high)))


def closed_script(draw):
    """Of pure steps, Laplace noise or one Gaussian, whose truth has forty digits."""
    kind = draw.randrange(5)
    if kind == 0:
        return ((Gaussian(log_uniform(draw, 0.3, 50)), draw.randrange(1, 40)),)
    if kind == 1:
        runs = ((PureDP(log_uniform(draw, 0.01, 3)), draw.randrange(1, 12)) for _ in range(2))
        return (*runs, (Gaussian(log_uniform(draw, 1, 30)), 1))
    if kind == 2:
        pure = PoissonPure(log_uniform(draw, 0.1, 6), log_uniform(draw, 1e-3, 0.9))
        return ((pure, draw.randrange(1, 30)), (PureDP(log_uniform(draw, 0.01, 1)), 3))
    if kind == 3:
        return (
            (Laplace(log_uniform(draw, 0.3, 20)), draw.randrange(1, 4)),
            (Gaussian(log_uniform(draw, 1, 30)), 1),
        )
    return ((PoissonGaussian(log_uniform(draw, 0.4, 8), log_uniform(draw, 1e-3, 0.9)), 1),)


def sampled_script(draw):
    noisy = PoissonGaussian(log_uniform(draw, 0.6, 8), log_uniform(draw, 2e-3, 0.6))
    script = ((noisy, draw.randrange(2, 300)),)
    if draw.random() < 0.3:
        script = (*script, (Gaussian(log_uniform(draw, 2, 30)), 1))
    return script


def relation(draw, script):
    sampled = any(isinstance(event, PoissonPure) for event, _ in script)
    return ADD if sampled or draw.random() < 0.5 else REPLACE


def outside(script, at, neighbors, error):
    """What an enclosure misses; empty where it holds the truth, None where the truth is out of reach."""
    found = enclose(script, delta=at, neighbors=neighbors)
    above = true_delta(script, found.high, neighbors)
    below = true_delta(script, found.low, neighbors) if found.low > 0 else mp.inf
    if above is None or below is None:
        return None
    wrong = []
    if above > at * (1 + error):
        wrong.append((script, neighbors, at, "high", found.high, float(above)))
    if below < at * (1 - error):
        wrong.append((script, neighbors, at, "low", found.low, float(below)))
    there = enclose(script, epsilon=found.high, neighbors=neighbors)
    if not there.low * (1 - error) <= above <= there.high * (1 + error):
        wrong.append((script, neighbors, at, "delta", there, float(above)))
    return wrong


def missed(make, seed, count, error):
    """What random enclosures miss, and how many truths there were."""
    draw, wrong, told = random.Random(seed), [], 0
    for _ in range(count):
        script = make(draw)
        found = outside(script, log_uniform(draw, 1e-15, 0.05), relation(draw, script), error)
        told += found is not None
        wrong += found or []
    return wrong, told


@pytest.mark.parametrize("seed", range(2))
def test_enclosures_hold_closed_truths(seed):
    wrong, told = missed(closed_script, seed, 14, CLOSED)
    assert wrong == []
    assert told > 11


def test_enclosures_hold_contour_integrals():
    wrong, told = missed(sampled_script, 100, 8, CONTOUR)
    assert wrong == []
    assert told > 4


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_many_enclosures_hold_closed_truths(seed):
    assert missed(closed_script, 1000 + seed, 50, CLOSED)[0] == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_many_enclosures_hold_contour_integrals(seed):
    assert missed(sampled_script, 2000 + seed, 25, CONTOUR)[0] == []


# Few answers, all products of them


def listed_event(draw):
    kind = draw.randrange(4)
    if kind == 0:
        return RandomizedResponse(log_uniform(draw, 0.1, 3), draw.randrange(2, 6))
    if kind == 1:
        return DiscreteLaplace(log_uniform(draw, 0.3, 5), draw.randrange(1, 4))
    if kind == 2:
        return DiscreteGaussian(log_uniform(draw, 0.4, 1.2), 1)
    laws = [[draw.random() for _ in range(3)] for _ in range(2)]
    return WorstPair(*(tuple(x / sum(law) for x in law) for law in laws))


def laws_of(event):
    """Both laws of an event, in forty digits."""
    if isinstance(event, RandomizedResponse):
        e = mp.exp(event.epsilon)
        whole = e + event.categories - 1
        law = [e / whole] + [1 / whole] * (event.categories - 1)
        return law, [law[1], law[0], *law[2:]]
    if isinstance(event, WorstPair):
        return [mp.mpf(x) for x in event.upper], [mp.mpf(x) for x in event.lower]
    reach = 60 * int(event.scale + 1) if isinstance(event, DiscreteLaplace) else 18

    def log_mass(k):
        if isinstance(event, DiscreteLaplace):
            return -abs(k) / mp.mpf(event.scale)
        return -mp.mpf(k * k) / (2 * mp.mpf(event.sd) ** 2)

    whole = mp.fsum(mp.exp(log_mass(k)) for k in range(-reach, reach + 1))
    at = range(-reach, reach + event.shift + 1)
    return tuple([mp.exp(log_mass(k - s)) / whole for k in at] for s in (event.shift, 0))


def merged(p, q):
    """Answers of equal likelihood ratio in one."""
    out = {}
    for a, b in zip(p, q):
        key = mp.nstr(mp.log(a / b), 25)
        x, y = out.get(key, (0, 0))
        out[key] = (x + a, y + b)
    return [list(law) for law in zip(*out.values())]


def enumerated(script, eps, neighbors):
    """Delta by all products of answers, of the worse direction."""
    found = []
    for swapped in (False, True) if neighbors == ADD else (False,):
        p, q = [mp.mpf(1)], [mp.mpf(1)]
        for event, count in script:
            laws = merged(*laws_of(event)[:: -1 if swapped else 1])
            for _ in range(count):
                p, q = (
                    [x * y for x, y in itertools.product(one, law)]
                    for one, law in zip((p, q), laws)
                )
                p, q = merged(p, q)
        found.append(mp.fsum(max(a - mp.exp(eps) * b, 0) for a, b in zip(p, q)))
    return max(found)


@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 40))]
)
def test_enclosures_hold_enumerated_truths(seed):
    draw = random.Random(seed)
    script = tuple((listed_event(draw), draw.randrange(1, 3)) for _ in range(draw.randrange(1, 3)))
    at = log_uniform(draw, 1e-6, 0.05)
    found = enclose(script, delta=at, neighbors=ADD)
    assert enumerated(script, found.high, ADD) <= at * (1 + 1e-12)
    assert found.low == 0 or enumerated(script, found.low, ADD) >= at * (1 - 1e-12)
    told = enclose(script, epsilon=0.3, neighbors=ADD)
    assert told.low <= enumerated(script, 0.3, ADD) * (1 + 1e-12)
    assert told.high >= enumerated(script, 0.3, ADD) * (1 - 1e-12)


# How close they are, and that nothing dearer than the price is claimed


@pytest.mark.parametrize(
    ("script", "at", "neighbors", "width"),
    [
        (((Gaussian(10.0), 100),), 1e-6, REPLACE, 1e-11),
        (((ShuffledEpoch(10.0), 100),), 1e-6, ADD, 1e-11),
        (((PureDP(0.1), 100),), 1e-6, REPLACE, 1e-9),
        (((PoissonPure(1.0, 0.01), 1000),), 1e-6, ADD, 1e-8),
        (((Laplace(10.0), 30),), 1e-6, ADD, 1e-6),
        (((PoissonGaussian(1.0, 0.01), 1000),), 1e-6, ADD, 1e-6),
        (((PoissonGaussian(1.0, 0.01), 1000),), 1e-6, REPLACE, 1e-6),
        (((PoissonGaussian(1.0, 0.01), 1),), 1e-15, ADD, 1e-6),
        (((PoissonGaussian(0.891, 0.00311), 2),), 1.19e-15, ADD, 1e-5),  # no grid for adding one
        (((PoissonGaussian(2.0, 0.1), 20), (Laplace(10.0), 1)), 1e-9, REPLACE, 2e-6),
        (((WorstPair((0.5, 0.5), (0.25, 0.75)), 10), (Laplace(3.0), 20)), 1e-6, ADD, 1e-6),
    ],
)
def test_enclosures_are_narrow(script, at, neighbors, width):
    found = enclose(script, delta=at, neighbors=neighbors)
    assert found.low < found.high <= epsilon(script, at, neighbors)
    assert found.width < width
    assert found.low in found and found.high * 1.001 not in found
    there = enclose(script, epsilon=found.high, neighbors=neighbors)
    assert there.low <= there.high <= delta(script, found.high, neighbors)


def test_ends():
    assert enclose((), delta=1e-6).high == 0
    assert enclose(Gaussian(0.0), delta=1e-6).low == math.inf
    assert enclose(Gaussian(1.0), delta=0.0).low == math.inf
    pure = enclose(((PureDP(0.1), 3),), delta=0.0)
    assert pure.low <= 0.3 <= pure.high == 0.3
    assert enclose(Gaussian(0.0), epsilon=1.0).low >= 1 - 1e-9
    assert enclose(PureDP(math.inf), epsilon=1.0).low == 1
    assert enclose(((PureDP(0.1), 3),), epsilon=1.0).high == 0
    assert enclose(((Gaussian(50.0), 1),), delta=0.4).high == 0


@pytest.mark.parametrize(
    ("event", "neighbors"),
    [
        (BestOf((((Gaussian(20.0), 1),),), (1.0,), 3), ADD),
        (PoissonBundle(1.0, (0.1,), 0.1), ADD),
        (PoissonPure(1.0, 0.1), REPLACE),
        (RandomPosition((0.5, 0.5), (1.0, 2.0)), REPLACE),
        (WithoutReplacementGaussian(1.0, 0.1), REPLACE),
        (WorstPair((0.9, 0.1), (0.5, 0.5)), REPLACE),
    ],
)
def test_what_is_known_from_above_alone_is_refused(event, neighbors):
    with pytest.raises(NotSupported, match="Only an upper bound is known for"):
        enclose(event, delta=1e-6, neighbors=neighbors)


def test_one_question_at_a_time():
    for told in ({}, {"delta": 1e-6, "epsilon": 1.0}):
        with pytest.raises(ValueError, match="one of the two"):
            enclose(Gaussian(1.0), **told)
    with pytest.raises(ValueError, match="must be between 0 and"):
        enclose(Gaussian(1.0), epsilon=-1.0)


# Sabotaged twins: each rounding direction, turned around, is found


def few_cells(script, at, neighbors=ADD, accuracy=3e-2, **changed):
    """A lower bound on a coarse grid, where what is wrong shows, and the truth beside it."""
    pairs = _pld.directions_of(_pld.live(script, neighbors), neighbors)[0]
    plan = plan_for_epsilon(pairs, at, accuracy)
    coarse = math.sqrt(8 * accuracy * at / (sum(k for _, k in pairs) * (plan.tilt + 1)))
    plan = _pld_below.replace(plan, **{"step": max(plan.step, coarse), **changed})
    return _pld_below.below(pairs, plan).delta(at), float(true_delta(script, at, neighbors))


GAUSSIAN = ((Gaussian(2.0), 1),)
ONCE = ((PoissonGaussian(1.0, 0.1), 1),)
COARSE = [
    (script, at, {"step": step})
    for script in (GAUSSIAN, ONCE, ((Laplace(1.0), 2), (Gaussian(3.0), 1)))
    for at in (0.3, 0.7, 1.3)
    for step in (0.05, 0.3)
]


def exceeded(cases=COARSE):
    """How many lower bounds are above the truth."""
    found = [few_cells(script, at, **changed) for script, at, changed in cases]
    return sum(low > truth * (1 + 1e-9) for low, truth in found)


def test_coarse_grids_stay_below():
    assert exceeded() == 0


def without_excess(sigma):
    nodes = np.arange(-8.0, 9.0)
    return nodes * sigma, (nodes == 0).astype(float), 0.0


def test_a_twin_that_forgets_what_the_grid_adds(monkeypatch):
    monkeypatch.setattr(_pld_below, "_hats", without_excess)
    assert exceeded() > 5


def test_a_twin_that_thinks_it_adds_a_third(monkeypatch):
    hats = _pld_below._hats
    monkeypatch.setattr(_pld_below, "_hats", lambda sigma: hats(0.33 * sigma))
    assert exceeded() > 0


def test_a_twin_that_keeps_what_was_raised(monkeypatch):
    cases = [
        (((Laplace(1.0), 1), (Gaussian(1.0), 1)), at, {"floor": floor})
        for at in (0.3, 0.9)
        for floor in (-0.4, 0.2)
    ]
    assert exceeded(cases) == 0
    monkeypatch.setattr(_pld_below._Inner, "lattice", lambda self, *grid: self.pair.lattice(*grid))
    assert exceeded(cases) > 0


def test_a_twin_that_counts_what_wraps_around(monkeypatch):
    window = {"tilt": 0.5, "below": 0.3, "rate": 20.0, "step": 2e-3}
    cases = [
        (((Laplace(1.0), 2),), at, {"width": width, "target": at - 0.1, **window})
        for at in (0.3, 1.0)
        for width in (2.2, 3.0)
    ]
    assert exceeded(cases) == 0
    monkeypatch.setattr(_pld_below.Below, "wrapped", lambda self, epsilon: 0.0)
    assert exceeded(cases) > 0


def test_a_twin_whose_masses_are_rounded_up(monkeypatch):
    fine = [(GAUSSIAN, 0.7, {"step": 1e-4}), (ONCE, 0.7, {"step": 1e-4})]
    assert exceeded(fine) == 0
    monkeypatch.setattr(_pld_below, "_MASS", -1e-3)
    assert exceeded(fine) > 0


def test_a_twin_whose_losses_are_rounded_up(monkeypatch):
    fine = [(GAUSSIAN, 0.7, {"step": 1e-4}), (ONCE, 0.7, {"step": 1e-4})]
    monkeypatch.setattr(_pld_below, "_LOSS", -1e-3)
    assert exceeded(fine) > 0


def test_a_twin_of_the_closed_form(monkeypatch):
    counts = {PureDP(0.3): 10, Gaussian(3.0): 1}
    truth = float(true_delta(tuple(counts.items()), 1.5, REPLACE))
    assert 1 - 1e-7 < _enclose._closed_form(counts, REPLACE)(1.5) / truth < 1
    for name in ("_CLOSED", "_BRANCH", "_OFFSET"):
        with monkeypatch.context() as patch:
            patch.setattr(_enclose, name, -1e-4)
            assert _enclose._closed_form(counts, REPLACE)(1.5) > truth * (1 + 1e-5), name
