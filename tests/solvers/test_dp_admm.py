"""DP-ADMM: consensus without noise, one Gaussian a round for all parties, and parties that are fixed positions."""

import numpy as np
import pytest
from laws.vaults import vault
from solvers.comparing import check_determined_by_seed, distance_to_optimum, problem, quality
from solvers.scripted import Tape, check_budget, model, unnoised, unrest

from skdp import NotSupported
from skdp.losses import Logistic, Multinomial
from skdp.mechanisms import Gradient, PartyGradients, PoissonBatch, RandomBatch
from skdp.penalties import L2, SCAD, ElasticNet, ScaledPenalty
from skdp.privacy import events
from skdp.solvers import DPADMM

N = 600


@pytest.mark.parametrize("parties", [1, 2, 7])
def test_reaches_the_optimum_of_all_records_without_noise(parties):
    assert distance_to_optimum(DPADMM(parties=parties, steps=1500, clip=100.0), 0.1) < 1e-5


@pytest.mark.parametrize("penalty", [ElasticNet(10.0, 1.0), SCAD(strength=60.0, weight=N)])
def test_rests_at_a_stationary_point(penalty):
    data = problem(N)
    fitted = unnoised(DPADMM(steps=1500, clip=100.0), data, penalty=penalty)
    assert unrest(fitted, data, penalty) < 1e-6


@pytest.mark.parametrize("parties", [1, 2, 10])
def test_all_parties_together_cost_one_gaussian_a_round(parties):
    receipt = check_budget(DPADMM(parties=parties, steps=30), "replace_one")
    ((event, count),) = receipt.script
    assert isinstance(event, events.Gaussian) and count == 30
    alone = check_budget(DPADMM(parties=1, steps=30), "replace_one").script
    assert receipt.script == alone


def test_parties_are_refused_where_positions_move():
    for n_public in (None, N):
        with pytest.raises(NotSupported, match="by position"):
            model("dp-admm", neighbors="add_remove", n_public=n_public).quote(N, 5)


def test_no_party_at_all_is_refused():
    with pytest.raises(ValueError, match="an int from 1 to 10000"):
        model(DPADMM(parties=0)).quote(N, 5)


def _question(parties=3, **given):
    at = np.random.default_rng(0).normal(size=(parties, 5))
    return PartyGradients(at=at, loss=Logistic(), clip=1.0, **({"multiplier": 1.0} | given))


def test_parties_partition_the_records_as_equally_as_can_be():
    tape, question = Tape(ScaledPenalty(L2(1.0)), Logistic(), (5,)), _question(7)
    whole = Gradient(at=question.at[0], loss=Logistic(), clip=1.0, multiplier=0.0)
    same = PartyGradients(
        at=np.tile(question.at[0], (7, 1)), loss=Logistic(), clip=1.0, multiplier=0
    )
    parts = same.measure(tape.records)
    np.testing.assert_allclose(parts.sum(axis=0), whole.measure(tape.records), atol=1e-12)
    first = whole.measure(tape.records.take(slice(0, 60 // 7)))
    np.testing.assert_allclose(parts[0], first, atol=1e-12)


def test_parties_of_a_batch_have_no_price():
    """In a batch of its neighbours' choosing a record's absence moves the others to other parties."""
    tape = Tape(ScaledPenalty(L2(1.0)), Logistic(), (5,))
    with pytest.raises(NotSupported, match="no price on a batch"):
        tape.ask(PoissonBatch(_question(), 0.5))
    with pytest.raises(NotSupported, match="no price on a batch"):
        tape.ask(RandomBatch(_question(), 30))


def test_a_shifted_record_would_move_more_than_is_claimed():
    """The broken twin of the refusal: parties by position in a batch, as if it were all there is."""
    rows = [[0.0, 1.0]] * 3 + [[0.0, -1.0]] * 3
    labels = [1, 1, 1, 1, 1, 1]
    question = PartyGradients(at=np.zeros((2, 2)), loss=Logistic(), clip=0.4, multiplier=1.0)
    with_it, without = (
        question.measure(vault(rows[k:], labels[k:], "replace_one", intercept=0.0)) for k in (0, 2)
    )
    assert np.linalg.norm(with_it - without) > 2 * 0.4


def test_many_outputs():
    tape = Tape(ScaledPenalty(L2(1.0)), Multinomial(outputs=3), (5, 3))
    w = tape.solve(DPADMM(parties=3, steps=2000, clip=100.0))
    gradient = Gradient(at=w, loss=tape.task.loss, clip=100.0, multiplier=0.0).measure(tape.records)
    np.testing.assert_allclose(gradient + tape.task.penalty.gradient(w), 0.0, atol=1e-4)


def test_released_coefficients_are_sparse():
    fitted = model("dp-admm", 2.0, penalty="l1", C=1e-3).fit(*problem(3000))
    assert np.count_nonzero(fitted.coef_ == 0) >= 3


def test_a_seed_determines_the_result():
    check_determined_by_seed(DPADMM(steps=20))


def test_learns():
    assert quality("dp-admm", 1.0) > 0.8
