"""The noise that is drawn covers what was priced, all roundings and the lattice's own, in rationals, and no more."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from laws.rounding_laws import ASKED, asked
from laws.test_registry import EVERY
from laws.vaults import RELATIONS

from skdp import NotSupported
from skdp.losses import Logistic
from skdp.mechanisms import HiddenDescent, NoisyMinimiser, PerturbedObjective, Public, Schedule
from skdp.mechanisms._lattice import lattice
from skdp.mechanisms._mechanism import Additive, Release
from skdp.penalties import NoPenalty, ScaledPenalty

SUMS = [kind for kind in ASKED if issubclass(kind, Additive)]


def check_covers(grid, multiplier, move, rounding, size, slack=1e-6):
    """Noise of so many moves after all roundings, where a move is the exact one, and not needlessly more."""
    step, times = Fraction(grid.step), Fraction(multiplier)
    scale = step * 2**grid.bits
    root = Fraction(math.isqrt(size * 10**60) + 1, 10**30)  # of the size, from above
    after = Fraction(move) + 2 * Fraction(rounding)
    assert scale >= times * (after + root * step), "the noise is less than what is priced"
    assert Fraction(grid.reach) >= after * (1 - Fraction(1, 2**50))
    assert scale <= times * after * (1 + Fraction(slack)), "noise that nothing asks for"


@pytest.mark.parametrize("seed", range(60))
def test_the_rule_covers_units_roundings_and_steps(seed):
    rng = np.random.default_rng(seed)
    multiplier, unit = 10.0 ** rng.uniform(-3, 6), 10.0 ** rng.uniform(-30, 30)
    rounding = unit * 10.0 ** rng.uniform(-16, 1)
    size = int(10.0 ** rng.uniform(0, 5.1))
    check_covers(lattice(multiplier, unit, rounding, size), multiplier, unit, rounding, size)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", SUMS, ids=lambda kind: kind.__name__)
def test_sums_draw_what_their_price_says_after_all_roundings(kind, relation):
    rng = np.random.default_rng(1)
    for n in (1, 50, 10**6):
        public = Public(n if relation == "replace_one" else None, 3, 0.25, relation)
        for question in asked(kind, public, rng)[:3]:
            question = replace(question, multiplier=10.0 ** rng.uniform(-2, 4))
            try:
                price = question.event(public).multiplier
            except NotSupported:
                continue
            grid, move = question.grid(public), question.sensitivity(public)
            size, rounding = question.size(public), question.rounding(public)
            # Noise counts in bounds, of which a move has one or more: then it is larger than moves ask for.
            slack = 1e-6 + 2.0 * rounding / question.bound(public)
            check_covers(grid, price, move, rounding, size, slack)
            sampled = _sampled(question, public)
            if sampled:  # on a batch one contribution counts, roundings beside it
                check_covers(grid, sampled, question.bound(public), rounding, size)


def _sampled(question, public):
    try:
        return question.sampled_event(public, 0.1).multiplier
    except NotSupported:
        return None


def releases(public, multiplier, pure):
    common = {
        "loss": Logistic(),
        "penalty": ScaledPenalty(NoPenalty()),
        "shape": (4,),
        "multiplier": multiplier,
        "pure": pure,
    }
    if public.replace_one:
        plan = Schedule.constant(0.5, 3, (public.n // 2, public.n - public.n // 2))
        yield HiddenDescent(**common, schedule=plan, convexity=0.1)
    yield NoisyMinimiser(**common, strength=50.0)
    yield PerturbedObjective(**common, strength=50.0)


def test_every_release_is_among_those_below():
    kinds = {type(q) for q in releases(Public(6, 3, 0.25, "replace_one"), 1.0, False)}
    assert kinds == {kind for kind in EVERY if issubclass(kind, Release)}


@pytest.mark.parametrize("pure", [False, True])
@pytest.mark.parametrize("relation", RELATIONS)
def test_releases_draw_what_their_price_says_after_all_roundings(relation, pure):
    for multiplier in (0.1, 1.0, 30.0):
        public = Public(60 if relation == "replace_one" else None, 3, 0.25, relation)
        for question in releases(public, multiplier, pure):
            event = question.event(public)
            if isinstance(question, PerturbedObjective):
                lam, limits = question.limits(public).convexity, question.limits(public)
                priced = 1.0 / event.output
                move, reached = 2.0 * question.tolerance(public) / lam, limits.furthest()
                tilt = question.linear_term(public)
                assert tilt.scale >= question.bound(public) / event.shift
                assert not tilt.reach, "a tilt adds to nothing"
            elif isinstance(question, NoisyMinimiser):
                priced = 1.0 / event.epsilon if pure else event.multiplier
                move, reached = question.sensitivity(public), question.limits(public).furthest()
            else:
                priced = 1.0 / event.epsilon if pure else event.multiplier
                move, reached = float(question.reach(public).max()), 0.0
            grid, rounding = question.grid(public), 2.0**-53 * reached
            assert grid.scale >= priced * (move + 2.0 * rounding + 2.0 * grid.step)
            assert grid.scale <= priced * move * 1.01
