"""Shapes and constants by which a release would answer more than it is priced for."""

import threading
import time
from fractions import Fraction

import numpy as np
import pytest
from laws.row_laws import stored_fractions
from laws.vaults import vault

from skdp.losses import ClippedLogistic, Huber, HuberisedHinge, Logistic, Multinomial, QuantileHuber
from skdp.mechanisms import (
    Gradient,
    HiddenDescent,
    ModelStep,
    Noise,
    NoisyMinimiser,
    Oracle,
    PerturbedObjective,
    Schedule,
)
from skdp.mechanisms._bounds import Convexity, split_penalty
from skdp.mechanisms._objective import Objective
from skdp.penalties import L2, NoPenalty, ScaledPenalty
from skdp.privacy.ledger import Recorder

N = 6
KINDS = ("descent", "minimiser", "objective")


def release(kind, **given):
    fields = {
        "loss": Logistic(),
        "penalty": ScaledPenalty(NoPenalty()),
        "shape": (4,),
        "multiplier": 1.0,
    }
    if kind == "descent":
        schedule = Schedule.constant(0.5, 3, (N,))
        return HiddenDescent(**{**fields, "schedule": schedule, "convexity": 0.1, **given})
    kinds = {"minimiser": NoisyMinimiser, "objective": PerturbedObjective}
    return kinds[kind](**{**fields, "strength": 1.0, **given})


def records():
    rng = np.random.default_rng(0)
    return vault(rng.normal(size=(N, 3)), rng.choice([-1.0, 1.0], N))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(4, 1), (4, N), (1, 4), (3,), (5,), ()])
def test_a_shape_that_mixes_records_is_refused_before_it_is_paid_for(kind, shape):
    # (4, 1) made a descent answer N columns, one a record's label, under the same noise.
    account = Recorder()
    with pytest.raises(ValueError, match="shape"):
        Oracle(records(), account, Noise(0)).ask(release(kind, shape=shape))
    assert not account.script


@pytest.mark.parametrize("kind", KINDS)
def test_the_shape_of_the_parameters_is_answered(kind):
    for loss, shape in ((Logistic(), (4,)), (Multinomial(2), (4, 2))):
        vault_ = vault(np.full((N, 3), 0.2), [0.0, 1.0] * (N // 2))
        question = release(kind, loss=loss, shape=shape)
        assert Oracle(vault_, Recorder(), Noise(0)).ask(question).shape == shape


@pytest.mark.parametrize("odd", ["x", "z", "y"])
def test_iterates_of_different_shapes_are_refused(odd):
    # z of shape (5, 4) gave five copies of x, each with noise of its own.
    iterates = {name: np.zeros((5, 4) if name == odd else 4) for name in "xzy"}
    constants = {"clip": 1.0, "rho": 1.0, "inverse": 1.0, "n": N, "multiplier": 1.0}
    with pytest.raises(ValueError, match="shape"):
        ModelStep(loss=Logistic(), penalty=ScaledPenalty(NoPenalty()), **iterates, **constants)


class Spy(np.ndarray):
    """A number whose operators keep what they are applied to."""

    seen: list = []  # noqa: RUF012

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        inputs = [np.asarray(x) for x in inputs]
        Spy.seen.extend(x for x in inputs if x.size > 1)
        options["out"] = tuple(np.asarray(x) for x in options.get("out", ())) or None
        result = getattr(ufunc, method)(*inputs, **options)
        return result if np.ndim(result) else np.asarray(result).view(Spy)


SPYING = [
    lambda spy: Huber(spy),
    lambda spy: HuberisedHinge(spy),
    lambda spy: ClippedLogistic(spy),
    lambda spy: QuantileHuber(0.5, spy),
]


@pytest.mark.parametrize("make", SPYING)
def test_a_constant_of_a_loss_that_spies_never_meets_a_record(make):
    loss = make(np.array(0.3).view(Spy))
    Spy.seen.clear()
    loss.dz(np.zeros(N), np.ones(N))
    assert Spy.seen, "the spy is able to see what it is applied to"
    Spy.seen.clear()
    oracle = Oracle(records(), Recorder(), Noise(0))
    oracle.ask(Gradient(at=np.zeros(4), loss=loss, clip=1.0, multiplier=1.0))
    for kind in KINDS:
        oracle.ask(release(kind, loss=loss))
    assert not Spy.seen


@pytest.mark.parametrize("clip", [1e308, 1e101, 1e-101, 5e-324])
def test_a_bound_whose_sums_leave_the_doubles_is_refused(clip):
    # With clip=1e308 two records' gradients overflowed before the noise, or cancelled: P(inf) was 1 or .07.
    with pytest.raises(ValueError, match="clip"):
        Gradient(at=np.zeros(4), loss=Logistic(), clip=clip, multiplier=1.0)
    with pytest.raises(ValueError, match="clip"):
        release("minimiser", clip=clip)


class TwoFaced(float):
    """Harmless where it is priced as a float, another number in arithmetic on arrays."""

    def __float__(self):
        return 0.01


def test_a_loss_is_priced_by_the_constant_that_it_is_answered_with():
    question = release("minimiser", loss=Huber(TwoFaced(1.0)))
    assert type(question.loss.delta) is float
    slope = np.abs(question.loss.dz(np.array([-9.0, 9.0]), np.zeros(2))).max()
    assert slope == question.loss.slope


def test_a_coefficient_that_the_penalty_leaves_alone_counts_without_its_convexity():
    placed = ScaledPenalty(L2(3.0), intercept=True)
    for intercept in (0.0, 0.25):
        public = vault(np.zeros((1, 3)), [1.0], intercept=intercept).public
        weights, _ = split_penalty(placed, 0.5, (public.width,))
        convexity = Convexity.of(0.5, placed, public)
        assert convexity.modulus() == weights.min()
        assert convexity.leverage() >= (np.eye(3, public.width) ** 2 / weights).sum(axis=1).max()


def test_norms_bound_the_rows_that_releases_use_in_double_precision():
    X = np.random.default_rng(1).normal(size=(500, 3)).astype(np.float32)
    single = vault(X, np.ones(500), data_norm=1.7, dtype=np.float32).rows
    rows = single.in_double()
    squares = [sum(v * v for v in row) for row in stored_fractions(rows)]
    assert all(a <= Fraction(bound) ** 2 for a, bound in zip(squares, rows.norms.tolist()))
    tight = np.sqrt([float(square) for square in squares])
    assert (tight >= rows.norms * (1 - 1e-12)).all(), "bounds as loose as this cost noise"


@pytest.mark.parametrize("linear", [0.0, 1.0])
def test_the_curvature_of_classes_is_found_also_beside_no_noise(linear):
    # From equal entries power iterations found the strength alone, and proximal steps never ended.
    rows, y = records().rows, np.zeros(N)
    objective = Objective(rows, y, Multinomial(3), 1e-3, np.full((4, 3), linear))
    found = objective.curvature(np.zeros((4, 3)), np.zeros((N, 3)), 0.1).largest()
    assert found >= np.linalg.eigvalsh(rows.gram(np.ones(N)))[-1] / 3.0 + 1e-3


class Slow:
    """An account that notices whether two charges overlap."""

    def __init__(self):
        self.inside, self.most, self.charged = 0, 0, 0

    def charge(self, event):
        self.inside += 1
        self.most = max(self.most, self.inside)
        time.sleep(0.005)
        self.inside -= 1
        self.charged += 1


def test_threads_of_a_solver_pay_one_after_the_other():
    # Four threads had 401 answers of a script of 400, and 313 where a filter affords 311.
    account = Slow()
    oracle = Oracle(records(), account, Noise())
    question = Gradient(at=np.zeros(4), loss=Logistic(), clip=1.0, multiplier=1.0)
    threads = [threading.Thread(target=oracle.ask, args=(question,)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert account.charged == 6 and account.most == 1
