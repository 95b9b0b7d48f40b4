"""Hidden descents and minimisers run twice, on neighbours and without noise: they end within what is claimed."""

import itertools

import numpy as np
import pytest
from laws.certificate_laws import LONG, SMOOTH, long, slopes_of_whole_rows, true_rows
from laws.ears import Ear
from laws.rounding_laws import admitted

from skdp import NotSupported
from skdp.losses import Huber, HuberisedHinge, Logistic
from skdp.mechanisms import HiddenDescent, NoisyMinimiser, PerturbedObjective, Schedule
from skdp.mechanisms._schedule import distances
from skdp.penalties import (
    L1,
    L2,
    Box,
    ElasticNet,
    GroupLasso,
    L1Ball,
    L2Ball,
    NoPenalty,
    ScaledPenalty,
)

PENALTIES = (NoPenalty(), L1(0.5), L2(2.0), ElasticNet(1.0, 0.5), Box(-0.3, 0.4), GroupLasso(0.5))
BALLS = (L1Ball(0.5), L2Ball(0.4))


def neighbours(rng, n, d, place, intercept, relation="replace_one"):
    """Tables in which one record is odd: the same row with the other label, an opposite one, none, one far away."""
    X = rng.normal(size=(n, d)) / np.sqrt(d)
    if rng.integers(2):
        X[:] = X[0]
    y = np.ones(n) if rng.integers(2) else rng.choice([-1.0, 1.0], size=n)
    other, labels = X.copy(), y.copy()
    labels[place] = -labels[place]
    other[place] *= rng.choice([1.0, -1.0, 0.0, 1e200])
    one = admitted(X, y, relation, 1.0, intercept)
    if relation == "replace_one":
        return one, admitted(other, labels, relation, 1.0, intercept)
    return one, admitted(np.delete(X, place, 0), np.delete(y, place), relation, 1.0, intercept)


def schedule(rng, n, beta):
    """Step sizes below and beyond 2 / beta, constant or falling, on one batch or on uneven ones, averaged or not."""
    parts = int(rng.integers(1, 4))
    cuts = np.sort(rng.choice(np.arange(1, n), size=parts - 1, replace=False))
    sizes = tuple(int(s) for s in np.diff([0, *cuts, n]))
    epochs, step = int(rng.integers(1, 12)), float(rng.choice([0.3, 1.0, 1.9, 3.0, 8.0])) / beta
    period = (None, None, 2, 3)[rng.integers(4)]
    if rng.integers(2):
        return Schedule.harmonic(step, epochs, sizes, period)
    return Schedule(np.full((epochs, len(sizes)), step), sizes, period)


def descent(rng, loss, public, n, **given):
    penalties = PENALTIES + (BALLS if loss.outputs == 1 else ())
    placed = ScaledPenalty(penalties[rng.integers(len(penalties))], 1.5, public.intercept > 0)
    beta = loss.curvature * public.row_bound**2
    clip = 10.0 ** rng.uniform(-2, 1) if loss.outputs == 1 else None
    common = {
        "schedule": schedule(rng, n, beta),
        "convexity": float(rng.choice([0.0, 0.1, 1.0]) * beta),
        "shape": (public.width,) if loss.outputs == 1 else (public.width, loss.outputs),
        "clip": clip,
        "penalty": placed,
    }
    return HiddenDescent(loss=loss, multiplier=1.0, **{**common, **given})


def end(question, records, linear=None):
    return question.answer(records, Ear(linear=linear))


def check_within(question, records, neighbour, place):
    """The two runs end within what is claimed for the batch of the record that changed; how much of it they use."""
    try:
        reach = question.reach(records.public)
    except NotSupported as refusal:
        assert "run away" in str(refusal)
        return 0.0
    batch = int(np.searchsorted(np.cumsum(question.schedule.sizes), place, side="right"))
    moved = np.linalg.norm(end(question, records) - end(question, neighbour))
    assert moved <= reach[batch], (
        f"two runs end {moved:.6g} apart where {reach[batch]:.6g} is claimed"
    )
    return float(moved / reach[batch])


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_descents_end_within_the_claim(loss):
    rng, used = np.random.default_rng(1), []
    for _ in range(120):
        n, place_at = int(rng.integers(3, 12)), rng.random()
        place, intercept = int(place_at * n), float(rng.choice([0.0, 0.25, 1.0]))
        one, other = neighbours(rng, n, int(rng.integers(1, 4)), place, intercept)
        used.append(check_within(descent(rng, loss, one.public, n), one, other, place))
    assert max(used) > 0.3, "runs that never come near the claim show little"


def expanding(steps):
    """Every step is beyond 2 / beta: two runs leave each other further behind each time, as long as slopes curve."""
    X, y = np.ones((100, 1)), np.zeros(100)
    sides = []
    for label in (1.0, -1.0):
        y[0] = label
        sides.append(admitted(X, y.copy(), "replace_one", 1.0, 0.0))
    question = HiddenDescent(
        loss=Huber(1.0),
        penalty=ScaledPenalty(NoPenalty(), 1.0, False),
        shape=(1,),
        schedule=Schedule.constant(3.0, steps, (100,)),
        convexity=0.0,
        multiplier=1.0,
    )
    return question, *sides


def test_runs_with_steps_beyond_the_curvature_leave_each_other_behind_and_stay_within_the_claim():
    question, one, other = expanding(6)
    assert check_within(question, one, other, 0) > 0.2
    held = 6 * 3.0 * 2.0 / 100  # if steps beyond 2 / beta did not expand
    assert np.linalg.norm(end(question, one) - end(question, other)) > 2.0 * held


def long_end(question, records):
    """The same descent in longer numbers, without a penalty."""
    bounded, w = records.rows.in_double(), long(np.zeros(question.shape))
    rows = true_rows(bounded)
    ends, total, counted = np.cumsum(question.schedule.sizes), long(np.zeros(question.shape)), 0
    for steps, averaged in question.schedule.passes():
        for step, size, last in zip(steps, question.schedule.sizes, ends):
            part = slice(last - size, last)
            x, y = rows[part], records.y[part]
            pulls = slopes_of_whole_rows(bounded.take(part), question.loss, x @ w, y)
            gradient = x.T @ pulls / size + long(question.convexity) * w
            w = w - long(step) * gradient
            total, counted = total + w, counted + 1
        if averaged:
            w = total / counted
        if averaged or question.schedule.period is None:
            total, counted = long(np.zeros(question.shape)), 0
    return w


@pytest.mark.skipif(np.finfo(LONG).eps > 1e-18, reason="long double is no longer than double here")
@pytest.mark.parametrize("loss", [q for q in SMOOTH if q.slope is not None], ids=repr)
def test_computed_runs_stray_from_real_ones_by_less_than_the_claim_leaves_for_it(loss):
    rng, worst = np.random.default_rng(4), 0.0
    for _ in range(20):
        n, intercept = int(rng.integers(3, 40)), float(rng.choice([0.0, 1.0]))
        one, _ = neighbours(rng, n, 3, 0, intercept)
        free = ScaledPenalty(NoPenalty(), 1.0, one.public.intercept > 0)
        question = descent(rng, loss, one.public, n, penalty=free, clip=None)
        strayed = float(
            np.sqrt(np.square(long(end(question, one)) - long_end(question, one)).sum())
        )
        bound = loss.slope * one.public.row_bound
        beta = loss.curvature * one.public.row_bound**2
        exact = distances(question.schedule, bound, beta, question.convexity, 2.0)
        left = float((question.reach(one.public) - exact).min())
        assert 2.0 * strayed <= left
        worst = max(worst, 2.0 * strayed / left)
    assert worst > 1e-4, "room that nothing needs"


@pytest.mark.parametrize("intercept", [0.25, 1.0, 30.0])
def test_convexity_brings_runs_together_on_the_intercept_too(intercept):
    """Zero rows beside a constant column: the intercept is all that moves, and its slopes stay at their cap."""
    X, y = np.zeros((5, 2)), np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    one, other = (
        admitted(X, np.where(np.arange(5) == 4, label, y), "replace_one", 1.0, intercept)
        for label in (1.0, -1.0)
    )
    beta = 0.25 * one.public.row_bound**2
    question = HiddenDescent(
        loss=Logistic(),
        penalty=ScaledPenalty(L2(1.0)),
        shape=(3,),
        schedule=Schedule.constant(0.5 / beta, 60, (5,)),
        convexity=beta,
        multiplier=1.0,
        clip=1e-3 * intercept,
    )
    assert check_within(question, one, other, 4) > 0.9


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
@pytest.mark.parametrize("kind", [NoisyMinimiser, PerturbedObjective], ids=lambda k: k.__name__)
def test_minimisers_lie_within_the_claim(kind, loss, relation):
    """Under one linear term, the minimisers of a perturbed objective are those of another common term."""
    rng, used = np.random.default_rng(2), []
    for intercept, penalty in itertools.product((0.0, 0.25, 1.0), PENALTIES[:4]):
        n = int(rng.integers(2, 9))
        one, other = neighbours(rng, n, 2, int(rng.integers(n)), intercept, relation)
        width = one.public.width
        strength = 50.0 if relation == "add_remove" else float(rng.choice([0.1, 1.0, 10.0]))
        clip = 0.3 if loss.slope is None else None
        question = kind(
            loss=loss,
            penalty=ScaledPenalty(penalty, 1.5, intercept > 0),
            shape=(width,) if loss.outputs == 1 else (width, loss.outputs),
            multiplier=1.0,
            strength=strength,
            clip=clip,
        )
        try:
            question.event(one.public)
        except NotSupported:
            continue
        used.append(_share(question, one, other))
    assert len(used) >= 6 and max(used) <= 1.0


def _share(question, one, other):
    bare = question
    if isinstance(question, PerturbedObjective):
        fields = {k: getattr(question, k) for k in ("loss", "penalty", "shape", "strength", "clip")}
        bare = NoisyMinimiser(**fields, multiplier=1.0)
    claim = bare.sensitivity(one.public)
    if bare is not question:  # its own certificate, which may be wider
        lam = question.limits(one.public).convexity
        claim += 2.0 * question.tolerance(one.public) / lam
    return float(np.linalg.norm(end(question, one) - end(question, other)) / claim)


def test_a_capped_hinge_moves_its_minimiser_by_nearly_the_claim():
    one, other = (
        admitted(np.array([[1.0], [1.0]]), np.array([1.0, label]), "replace_one", 1.0, 0.0)
        for label in (1.0, -1.0)
    )
    question = NoisyMinimiser(
        loss=HuberisedHinge(0.5),
        penalty=ScaledPenalty(NoPenalty(), 1.0, False),
        shape=(1,),
        multiplier=1.0,
        strength=10.0,
    )
    assert 0.9 < _share(question, one, other) <= 1.0
