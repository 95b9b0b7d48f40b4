"""Releases: random neighbours, what is refused, what is priced, and that hostile parts never meet records."""

import math
from dataclasses import replace

import numpy as np
import pytest
from laws.row_laws import left_of
from laws.vaults import RELATIONS, vault
from scipy import stats

from skdp import NotSupported
from skdp.losses import Hinge, Huber, HuberisedHinge, Logistic, Multinomial, Squared, SquaredHinge
from skdp.mechanisms import (
    HiddenDescent,
    Noise,
    NoisyMinimiser,
    PerturbedObjective,
    Public,
    Records,
    Schedule,
    Silence,
)
from skdp.mechanisms._bounds import Convexity
from skdp.penalties import (
    L1,
    L2,
    SCAD,
    ElasticNet,
    GroupLasso,
    L2Ball,
    NoPenalty,
    Penalty,
    ScaledPenalty,
)
from skdp.privacy._objective import ObjectivePerturbation, PureObjectivePerturbation
from skdp.privacy.events import Gaussian, PureDP, RandomPosition

LOSSES = [Logistic(), HuberisedHinge(0.5), Huber(0.3)]
PENALTIES = [NoPenalty(), L2(0.5), L1(0.3), ElasticNet(0.4, 0.5), L2Ball(0.5), GroupLasso(0.2)]


def perturbed(**given):
    fields = {"loss": Logistic(), "penalty": ScaledPenalty(NoPenalty()), "shape": (4,)}
    return PerturbedObjective(**{**fields, "multiplier": 2.0, "strength": 1.0, **given})


def minimiser(**given):
    fields = {"loss": Logistic(), "penalty": ScaledPenalty(NoPenalty()), "shape": (4,)}
    return NoisyMinimiser(**{**fields, "multiplier": 2.0, "strength": 1.0, **given})


def descent(**given):
    fields = {
        "loss": Logistic(),
        "penalty": ScaledPenalty(NoPenalty()),
        "shape": (4,),
        "convexity": 0.1,
    }
    fields |= {"schedule": Schedule.harmonic(2.0, 4, (3, 3, 2), 2), "multiplier": 2.0}
    return HiddenDescent(**{**fields, **given})


def neighbours(seed, relation, n=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 1, 3)) * 10.0 ** rng.integers(-3, 4, size=(n + 1, 1))
    y = rng.choice([-1.0, 1.0], n + 1)
    if relation == "add_remove":
        return vault(X, y, relation), vault(X[:n], y[:n], relation)
    swapped = [*range(n - 1), n]
    return vault(X[:n], y[:n], relation), vault(X[swapped], y[swapped], relation)


def moved(question, records, neighbour):
    return np.linalg.norm(
        question.answer(records, Silence()) - question.answer(neighbour, Silence())
    )


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_minimisers_of_neighbours_stay_within_the_claim(loss, penalty, relation):
    for seed in range(8):
        records, neighbour = neighbours(seed, relation)
        for clip in (None, 0.2):
            question = minimiser(
                loss=loss, penalty=ScaledPenalty(penalty), strength=0.05, clip=clip
            )
            assert moved(question, records, neighbour) <= question.sensitivity(records.public)


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_ends_of_neighbouring_descents_stay_within_the_claim(loss, penalty):
    for seed in range(8):
        records, neighbour = neighbours(seed, "replace_one")
        for clip, convexity in ((None, 0.1), (0.2, 0.0)):
            question = descent(
                loss=loss, penalty=ScaledPenalty(penalty), clip=clip, convexity=convexity
            )
            # neighbours() changes the last record, which is in the last batch
            claim = question.reach(records.public)[-1]
            assert moved(question, records, neighbour) <= claim


@pytest.mark.parametrize("norm", [1.0, 10.0, 100.0, 1000.0])
def test_price_does_not_depend_on_the_unit_of_the_rows(norm):
    """Rows and bound in another unit are the same problem: curvature goes with the square."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.choice([-1.0, 1.0], 20)
    one, other = vault(X, y), vault(X * norm, y, data_norm=norm)
    assert perturbed().event(one.public) == perturbed().event(other.public)
    np.testing.assert_allclose(
        perturbed().answer(one, Noise(1)), perturbed().answer(other, Noise(1)), rtol=1e-6, atol=1e-6
    )


# What the price is made of.


def public(relation="replace_one", n=50):
    return Public(n=n, n_features=3, intercept=0.25, neighbors=relation)


def test_event_of_objective_perturbation():
    event = perturbed(strength=2.0).event(public())
    leverage = 1 / 2.0 + 0.25**2 / 2.0
    assert event == ObjectivePerturbation(0.5, event.jacobian, "logistic", output=0.02)
    assert event.jacobian == pytest.approx(0.25 * leverage)
    pure = perturbed(strength=2.0, pure=True).event(public("add_remove"))
    assert isinstance(pure, PureObjectivePerturbation) and pure.output == 0.01


@pytest.mark.parametrize(
    "given, rule",
    [
        ({"clip": 0.5}, "one_signed"),
        ({"clip": 2.0}, "logistic"),
        ({"loss": HuberisedHinge(0.5)}, "one_signed"),
        ({"loss": Huber(0.5)}, "two_signed"),
        ({"loss": Squared(), "clip": 1.0}, "two_signed"),
        ({"loss": SquaredHinge(), "clip": 1.0}, "one_signed"),
        ({"loss": Multinomial(3), "shape": (4, 3)}, "multinomial"),
    ],
)
def test_rule_follows_from_the_loss_and_the_clip(given, rule):
    assert perturbed(**given).event(public()).rule == rule


def test_leverage_counts_the_users_ridge_where_it_acts():
    """x' Lambda^-1 x, by brute force over rows of norm 1 beside the constant column."""
    found = Convexity.of(0.5, ScaledPenalty(L2(3.0)), public()).leverage()
    angles = np.random.default_rng(0).normal(size=(1000, 3))
    rows = np.c_[angles / np.linalg.norm(angles, axis=1)[:, None], np.full(1000, 0.25)]
    brute = (rows**2 / np.array([3.5, 3.5, 3.5, 0.5])).sum(axis=1).max()
    assert found == pytest.approx(brute)
    assert Convexity.of(0.5, ScaledPenalty(L2(3.0)), public()).modulus() == 0.5
    assert Convexity.of(0.5, ScaledPenalty(ElasticNet(4.0, 0.5)), public()).features == 2.5


def test_events_of_the_others():
    assert minimiser().event(public()) == Gaussian(2.0)
    assert minimiser(pure=True).event(public()) == PureDP(0.5)
    eight = public(n=8)
    assert descent().event(eight) == Gaussian(2.0)
    mixture = descent(shuffle=True).event(eight)
    assert isinstance(mixture, RandomPosition)
    reach = descent().reach(eight)
    order = np.argsort(reach)
    assert mixture.multipliers == pytest.approx(2.0 * reach.max() / reach[order])
    assert mixture.weights == pytest.approx(np.array([3 / 8, 3 / 8, 2 / 8])[order])


def test_positions_in_bins_are_priced_at_the_largest_distance():
    question = descent(schedule=Schedule.constant(1.0, 2, (1,) * 40), shuffle=True)
    forty = public(n=40)
    event, reach = question.event(forty), question.reach(forty)
    assert len(event.weights) == 16 and sum(event.weights) == pytest.approx(1.0)
    for limit in np.quantile(reach, [0.0, 0.3, 0.7, 1.0]):
        noisier = 2.0 * reach.max() / limit * (1 + 1e-12)
        claimed = sum(w for w, m in zip(event.weights, event.multipliers) if m <= noisier)
        assert claimed >= np.mean(reach >= limit) - 1e-12


@pytest.mark.parametrize("pure", [False, True])
def test_noise_of_the_minimiser_has_the_size_that_was_paid_for(pure):
    records = vault([[0.5, 0.1, 0.2]], [1])
    question = minimiser(pure=pure)
    exact = replace(question, multiplier=0.0).answer(records, Noise(0))
    noise = Noise(3)
    draws = np.array([question.answer(records, noise) for _ in range(1500)]) - exact
    size = 2.0 * question.sensitivity(records.public)
    radius = np.linalg.norm(draws, axis=1) / size
    law = stats.gamma(4) if pure else stats.chi(4)
    assert stats.kstest(radius, law.cdf).pvalue > 1e-4
    for wrong in (2 / 3, 3 / 2):
        assert stats.kstest(radius * wrong, law.cdf).pvalue < 1e-6


def test_tilt_has_the_size_that_was_paid_for():
    """Without records the minimiser is minus the tilt over the strength."""
    empty = Records.blank(public("add_remove"))
    question = perturbed(strength=3.0, multiplier=5.0)
    noise = Noise(4)
    draws = np.array([question.answer(empty, noise) for _ in range(1500)])
    size = 5.0 * question.bound(empty.public) / 3.0
    radius = np.linalg.norm(draws, axis=1) / size
    assert stats.kstest(radius, stats.chi(4).cdf).pvalue > 1e-4
    assert stats.kstest(radius * 1.2, stats.chi(4).cdf).pvalue < 1e-6


def test_output_noise_covers_twice_the_certificate():
    question, facts = perturbed(strength=3.0), public()
    reach = 2 * question.tolerance(facts) / 3.0
    claimed = question.event(facts).output
    assert 0.999 * claimed <= reach / question.output_noise(facts) <= claimed


# What is refused, and what never comes near the records.


@pytest.mark.parametrize("make", [perturbed, minimiser, descent])
def test_losses_without_a_bound_are_refused_unless_clipped(make):
    eight = public(n=8)
    for loss in (Squared(), SquaredHinge()):
        with pytest.raises(NotSupported, match="clip"):
            make(loss=loss).event(eight)
        make(loss=loss, clip=1.0).event(eight)
    with pytest.raises(NotSupported, match="smooth"):
        make(loss=Hinge()).event(eight)
    with pytest.raises(NotSupported, match="clip=None"):
        make(loss=Multinomial(3), shape=(4, 3), clip=0.5).event(eight)


@pytest.mark.parametrize("make", [perturbed, minimiser, descent])
def test_penalties_must_be_registered_and_convex(make):
    class Mine(Penalty):
        def prox(self, w, step):
            return w

    with pytest.raises(NotSupported, match="not convex"):
        make(penalty=ScaledPenalty(SCAD(1.0)))
    with pytest.raises(NotSupported, match="registered"):
        make(penalty=ScaledPenalty(Mine()))
    with pytest.raises(NotSupported, match="registered"):
        make(penalty=L2(1.0))
    patched = L2(1.0)
    object.__setattr__(patched, "prox", lambda w, step: w)
    with pytest.raises(NotSupported, match="registered"):
        make(penalty=ScaledPenalty(patched))


class Spy(np.ndarray):
    """An array whose operators keep what they are applied to."""

    seen: list = []  # noqa: RUF012

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        Spy.seen.append(inputs)
        return getattr(ufunc, method)(*[np.asarray(x) for x in inputs], **options)


@pytest.mark.parametrize("make", [perturbed, minimiser, descent])
def test_a_penalty_that_spies_never_meets_the_exact_minimiser(make):
    strength = np.array(0.3).view(Spy)
    L1(strength).prox(np.ones(3), 1.0)
    assert Spy.seen, "the spy is able to see what it shrinks"
    Spy.seen.clear()
    records, _ = neighbours(0, "replace_one")
    make(penalty=ScaledPenalty(L1(strength))).answer(records, Noise(0))
    assert not Spy.seen


def test_descents_are_refused_where_batches_would_shift():
    with pytest.raises(NotSupported, match="neighbors="):
        descent().event(public("add_remove", n=8))
    with pytest.raises(NotSupported, match="all n=9"):
        descent().event(public(n=9))


def test_records_far_beyond_the_bound_do_not_spoil_the_answer():
    rows = np.array([[1e308, -1e308, 1e308], [0.5, 0.1, 0.2]])
    for make in (perturbed, minimiser):
        assert np.isfinite(make().answer(vault(rows, [1, -1]), Noise(0))).all()
    two = descent(schedule=Schedule.constant(1.0, 3, (1, 1)))
    assert np.isfinite(two.answer(vault(rows, [1, -1]), Noise(0))).all()


@pytest.mark.parametrize("labels", [[1, 1, 1, 1, 1, 1, 1, 1], [-1, 1, 1, 1, 1, 1, 1, 1]])
def test_one_class_alone_changes_nothing_in_the_price(labels):
    """A class that is rare or absent: the intercept is penalised enough to stay bounded."""
    records = vault(np.full((8, 3), 0.1), labels)
    for make in (perturbed, minimiser, descent):
        w = make(pure=True).answer(records, Silence())
        assert np.isfinite(w).all() and np.abs(w).max() < 10


def test_shuffling_is_of_records_and_not_of_time():
    """The secret order changes the end, and silence gives the order as it came."""
    records, _ = neighbours(2, "replace_one")
    question = descent(shuffle=True, multiplier=0.0)
    one, other = (question.answer(records, Noise(seed)) for seed in (1, 2))
    assert not np.allclose(one, other, atol=1e-9)
    plain = descent(multiplier=0.0).answer(records, Noise(1))
    np.testing.assert_array_equal(question.answer(records, Silence()), plain)


def test_sums_of_capped_slopes_are_what_the_descent_follows():
    """One step from zero on one batch is minus the step times the mean of the clipped gradients."""
    records, _ = neighbours(3, "replace_one")
    question = descent(
        schedule=Schedule.constant(0.7, 1, (8,)), clip=0.2, convexity=0.0, multiplier=0.0
    )
    rows = records.rows.dot(np.eye(4))
    gradients = -0.5 * (left_of(records.rows) * records.y)[:, None] * rows
    norms = np.linalg.norm(gradients, axis=1)[:, None]
    clipped = gradients * np.minimum(1.0, 0.2 / norms)
    np.testing.assert_allclose(
        question.answer(records, Silence()), -0.7 * clipped.mean(axis=0), atol=1e-12
    )
    assert math.isfinite(question.noise_scale(records.public))
