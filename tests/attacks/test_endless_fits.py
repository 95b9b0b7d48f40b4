"""Minimisers end for every data set, in few rounds, or are refused for all of them by public numbers (review A3)."""

import warnings
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest

from skdp import DPLinearSVC, DPLogisticRegression, NotSupported
from skdp.losses import (
    ClippedLogistic,
    Huber,
    HuberisedHinge,
    Logistic,
    Multinomial,
    QuantileHuber,
)
from skdp.mechanisms import (
    Coordinates,
    Mapped,
    Noise,
    NoisyMinimiser,
    PerturbedObjective,
    Public,
    Records,
)
from skdp.mechanisms._bounds import split_penalty
from skdp.mechanisms._minimise import _Rounded
from skdp.mechanisms._objective import Objective
from skdp.penalties import L1, L2, ElasticNet, L1Ball, L2Ball, NoPenalty, ScaledPenalty
from skdp.solvers import OutputPerturbation

ROUNDS = 1000  # far above what is usual, which is 5 to 150, and far below for ever


class TooMany(Exception):
    """More rounds than any fit should take."""


@contextmanager
def counted(most=ROUNDS):
    """Rounds of the inner minimiser, each of which asks for the curvature once, and of what it begins with."""
    taken = [0]

    def counting(own):
        def asked(self, *given):
            taken[0] += 1
            if taken[0] > most:
                raise TooMany(f"more than {most} rounds")
            return own(self, *given)

        return asked

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Objective, "curvature", counting(Objective.curvature))
        patch.setattr(_Rounded, "_direction", counting(_Rounded._direction))
        yield taken


def ended(call):
    """Rounds that a fit took, and whether it was refused."""
    with counted() as taken, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call()
        except NotSupported:
            return taken[0], True
    return taken[0], False


def check_alike(calls, refused=None):
    """Fits on neighbouring data end alike: all with a model, or all refused before a round."""
    ends = [ended(call) for call in calls]
    assert len({stop for _, stop in ends}) == 1, "one data set has a model, its neighbour has none"
    assert not ends[0][1] or all(rounds == 0 for rounds, _ in ends)
    assert refused is None or ends[0][1] == refused
    return max(rounds for rounds, _ in ends)


# --------------------------------------------------------------------- the review's own


def support_vectors(n, k, h, **given):
    """k rows u and the rest zero."""
    X = np.zeros((n, 1))
    X[:k] = 1.0
    declared = {
        "epsilon": 1.0,
        "solver": "output-perturbation",
        "data_norm": 1.0,
        "classes": [0, 1],
    }
    model = DPLinearSVC(**{**declared, "h": h, "random_state": 0, **given}).fit(X, np.ones(n, int))
    assert np.isfinite(model.coef_).all() and np.isfinite(model.intercept_).all()


@pytest.mark.parametrize("penalty", ["l2", "l1", None])
@pytest.mark.parametrize("n, k, h", [(50_000, 12_071, 1e-5), (2000, 1442, 1e-6)])
def test_the_last_bits_of_a_corner_end_either_way(n, k, h, penalty):
    fits = [partial(support_vectors, n, k + more, h, penalty=penalty) for more in (0, 1)]
    assert check_alike(fits, refused=False) <= 400


@pytest.mark.parametrize("h", [10.0**-k for k in range(2, 13)])
@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_any_corner_ends_or_is_refused(h, penalty):
    for k in (0, 1, 499, 500, 721, 722, 1000):
        check_alike([partial(support_vectors, 1000, k + m, h, penalty=penalty) for m in (0, 1)])


@pytest.mark.parametrize("strength", [1e-30, 1e-16, 1e-12, 1e-8, 1e-4])
def test_tiny_strengths_end_or_are_refused(strength):
    X, other = np.zeros((1001, 1)), np.zeros((1001, 1))
    other[0] = 2e-7
    solver = OutputPerturbation(strength=strength)
    model = DPLogisticRegression(solver=solver, data_norm=1.0, classes=[0, 1], random_state=0)
    y = np.ones(1001, int)
    check_alike([partial(model.fit, table, y) for table in (X, other)], refused=strength < 1e-10)


# --------------------------------------------------------------------- what a search found


def released(X, y, intercept, kind=NoisyMinimiser, **given):
    """The answer of a release on its own records."""
    n, d = X.shape
    public = Public(n=n, n_features=d, intercept=intercept, neighbors="replace_one")
    records = Records.admit(X, y, public, 1.0)
    fields = {"penalty": ScaledPenalty(NoPenalty()), "shape": (public.width,), "multiplier": 20.0}
    question = kind(**{**fields, **given})
    question.event(public)
    assert np.isfinite(question.answer(records, Noise(0))).all()


def pair_of_groups(n, d, k):
    X = np.zeros((n, d))
    X[:, 0] = -0.4
    X[:k, 0] = 1.0
    return X


def repeated(n, groups, d, seed=0):
    rows = np.random.default_rng(seed).normal(size=(groups, d))
    return np.resize(np.repeat(rows, 1 + n // groups, axis=0), (n, d))


FOUND = {
    "a step of 1e7 beside a corner of 1e-8": lambda y: released(
        np.ones((1, 1)),
        np.array([y]),
        0.0,
        loss=QuantileHuber(0.156, 6.5e-8),
        penalty=ScaledPenalty(L1(1.8e-4)),
        strength=2.5e-8,
    ),
    "short rows, clipped": lambda y: released(
        np.array([[1e-3], [1.0], [900.0], [0.4]]) * y,
        np.array([0.3, -0.7, 0.1, 0.9]),
        0.25,
        loss=QuantileHuber(0.9, 2.1e-5),
        clip=0.0051,
        strength=1.8e-8,
    ),
    "two groups in a ball": lambda y: released(
        pair_of_groups(366, 1, 150 + round(y)),
        np.where(np.arange(366) % 3, 1.0, -1.0),
        0.0,
        loss=HuberisedHinge(2.9e-4),
        penalty=ScaledPenalty(L1Ball(29.9)),
        strength=2.5e-8,
    ),
    "two groups under L1": lambda y: released(
        pair_of_groups(689, 3, 300 + round(y)),
        np.where(np.arange(689) % 3, 1.0, -1.0),
        0.25,
        loss=HuberisedHinge(7e-5),
        penalty=ScaledPenalty(L1(1957.0)),
        strength=8.4e-7,
    ),
    "a penalty that leaves the last feature alone": lambda y: released(
        np.random.default_rng(6 + (y > 0)).normal(size=(3, 8)),
        np.array([0.5, 0.9, -0.7]),
        0.0,
        loss=Huber(5.2e-4),
        penalty=ScaledPenalty(L2(377.0), intercept=True),
        strength=6.8e-6,
        clip=2.9e-4,
    ),
    "the flat part of a hinge": lambda y: released(
        repeated(179, 17, 3),
        np.where(np.arange(179) == 0, y, 1.0),
        1.0,
        loss=HuberisedHinge(0.0273),
        penalty=ScaledPenalty(L2Ball(0.0123355), intercept=True),
        strength=4.15e-8,
        clip=0.3317,
    ),
}


@pytest.mark.parametrize("intercept", [0.0, 0.25])
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("kind", [NoisyMinimiser, PerturbedObjective])
def test_steepness_bounds_the_curvature_of_the_whole(kind, free, intercept):
    public = Public(n=9, n_features=3, intercept=intercept, neighbors="replace_one")
    rows = Records.admit(repeated(9, 2, 3) * 9.0, np.ones(9), public, 1.0).rows.to_dense()
    for penalty in (NoPenalty(), L2(377.0), L2(1e-3)):
        placed = ScaledPenalty(penalty, intercept=free)
        question = kind(
            loss=Logistic(), penalty=placed, shape=(public.width,), multiplier=1.0, strength=1e-3
        )
        weights = split_penalty(placed, 1e-3, (public.width,))[0]
        largest = np.linalg.eigvalsh(rows.T @ rows / 4 + np.diag(weights))[-1]
        assert question.limits(public).steepness() >= largest


@pytest.mark.parametrize("name", FOUND)
def test_instances_that_a_search_found_end(name):
    for y in (1.0, -1.0):
        assert ended(partial(FOUND[name], y))[0] <= 400


# ---------------------------------------------------------------------------- a search


def random_loss(rng):
    tiny = 10.0 ** -rng.uniform(0, 7)
    return [
        HuberisedHinge(tiny),
        QuantileHuber(float(rng.uniform(0.05, 0.95)), tiny),
        Huber(tiny),
        Logistic(),
        ClippedLogistic(tiny**0.25),
        Multinomial(3),
    ][rng.integers(6)]


def random_table(rng, n, d):
    kind = rng.integers(5)
    if kind == 0:
        return pair_of_groups(n, d, int(rng.integers(n + 1)))
    if kind == 1:
        return rng.choice([-1.0, 0.0, 1.0], size=(n, d))
    if kind == 2:
        return repeated(n, max(n // 11, 1), d, int(rng.integers(99)))
    return rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-12, 3, size=(n, 1) if kind == 3 else 1)


def random_penalty(rng):
    size = 10.0 ** rng.uniform(-4, 3)
    return [NoPenalty(), L1(size), ElasticNet(size, 0.5), L1Ball(size), L2Ball(size)][
        rng.integers(5)
    ]


def random_release(seed):
    """A release and its records, or a refusal."""
    rng = np.random.default_rng(seed)
    loss, n, d = random_loss(rng), int(10.0 ** rng.uniform(0, 3)), int(rng.choice([1, 1, 2, 3, 6]))
    X, intercept = random_table(rng, n, d), float(rng.choice([0.0, 0.25, 1.0]))
    y = rng.choice([-1.0, 1.0], n) if rng.integers(2) else np.ones(n)
    if loss.outputs > 1:
        y = rng.integers(0, 3, n).astype(float)
    relation = rng.choice(["replace_one", "add_remove"])
    public = Public(
        n=n if relation == "replace_one" else None,
        n_features=d,
        intercept=intercept,
        neighbors=relation,
        target_bound=3.0,
    )
    records = Records.admit(X, y, public, 10.0 ** rng.uniform(-2, 2))
    clip = None if loss.outputs > 1 or rng.integers(2) else 10.0 ** rng.uniform(-4, 0)
    mapped = loss.outputs == 1 and not rng.integers(5)
    width = d if mapped else public.width
    kind = PerturbedObjective if mapped or rng.integers(2) else NoisyMinimiser
    question = kind(
        loss=loss,
        penalty=ScaledPenalty(random_penalty(rng), intercept=not mapped),
        shape=(width,) if loss.outputs == 1 else (width, loss.outputs),
        multiplier=10.0 ** rng.uniform(-1, 4),
        strength=10.0 ** rng.uniform(-8, 3),
        clip=clip,
    )
    if mapped:
        matrix = rng.normal(size=(d, public.width)) * 10.0 ** rng.uniform(-2, 2)
        question = Mapped(question=question, coordinates=Coordinates(matrix))
    return question, records, public


def search(seeds):
    """Most rounds that any of these releases took, and how many were made."""
    worst, made = 0, 0
    for seed in seeds:
        question, records, public = random_release(seed)
        with np.errstate(all="ignore"):
            try:
                question.event(public)
            except NotSupported:
                continue
            with counted() as taken:
                answer = question.answer(records, Noise(seed))
            assert np.isfinite(answer).all(), seed
        worst, made = max(worst, taken[0]), made + 1
    return worst, made


def test_random_releases_end():
    worst, made = search(range(40))
    assert worst <= ROUNDS and made >= 15


@pytest.mark.slow
def test_many_random_releases_end():
    worst, made = search(range(1000, 2000))
    assert worst <= ROUNDS and made >= 400


def test_the_watchdog_barks():
    with pytest.raises(TooMany), counted(most=2):
        support_vectors(2000, 1442, 1e-6)
