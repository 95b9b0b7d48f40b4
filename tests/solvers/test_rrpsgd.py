"""RRPSGD: its limit, its budget, and a random round that neither chooses its price nor needs a generator."""

import numpy as np
import pytest
from scipy.stats import kstest
from solvers.comparing import check_determined_by_seed, distance_to_optimum, quality
from solvers.scripted import RELATIONS, Tape, check_budget, model

from skdp.losses import Logistic
from skdp.neural_network import DPMLPClassifier
from skdp.penalties import NoPenalty, ScaledPenalty
from skdp.solvers import RRPSGD


@pytest.mark.parametrize("stopping", ["fixed", "random"])
def test_reaches_the_optimum_without_noise(stopping):
    solver = RRPSGD(rate=1.0, steps=1500, clip=100.0, stopping=stopping)
    assert distance_to_optimum(solver, 0.1) < 1e-6


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("stopping", ["fixed", "random"])
def test_spends_its_budget_whichever_round_is_released(stopping, neighbors):
    receipt = check_budget(RRPSGD(stopping=stopping), neighbors)
    assert sum(count for event, count in receipt.script if "Poisson" in repr(event)) == 200


def _rounds(runs, steps, noise):
    """Which round's iterate was released, in runs with their own noise."""
    found = []
    for seed in range(runs):
        tape = Tape(ScaledPenalty(NoPenalty()), Logistic(), (5,), seed=seed)
        released = tape.solve(RRPSGD(steps=steps, stopping="random", rate=0.5), noise)
        iterates = [q.question.at for q in tape.asked]
        assert len(iterates) == steps
        match = [k for k in range(1, steps) if np.array_equal(iterates[k], released)]
        found.append(match[0] if match else steps)
    return np.array(found)


def test_round_is_uniform_and_all_are_run():
    steps = 20
    rounds = _rounds(200, steps, noise=3.0)
    jittered = (rounds - np.random.default_rng(0).random(len(rounds))) / steps
    assert kstest(jittered, "uniform").pvalue > 1e-3
    assert kstest(jittered**1.5, "uniform").pvalue < 1e-3, "the test above can reject"


def test_unknown_stopping_is_refused():
    with pytest.raises(ValueError, match="'fixed' or 'random'"):
        model(RRPSGD(stopping="early")).quote(600, 5)


def test_a_seed_determines_the_result():
    check_determined_by_seed(RRPSGD(steps=20))
    check_determined_by_seed(RRPSGD(steps=20, stopping="random"))


def test_learns():
    assert quality("rrpsgd", 1.0) > 0.8
    assert quality("rrpsgd", 1.0, neighbors="add_remove") > 0.8


def test_learns_a_product_which_no_line_does():
    """The source made it for objectives that are not convex."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (4000, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    network = DPMLPClassifier(
        epsilon=8.0,
        delta=1e-6,
        classes=[0, 1],
        data_norm=2.0**0.5,
        hidden_layer_sizes=(16,),
        solver=RRPSGD(steps=400, step_size=16.0),
        random_state=0,
    )
    assert network.fit(X, y).score(X, y) > 0.9
