"""Solvers on epochs of random allocation: each batch is asked once, epochs are paid as a whole, and one pass learns."""

import pytest
from solvers.comparing import quality
from solvers.scripted import RELATIONS, Tape, check_budget

from skdp.losses import Logistic
from skdp.mechanisms import AllocatedBatch
from skdp.penalties import NoPenalty, ScaledPenalty
from skdp.privacy.events import PureDP, RandomAllocation
from skdp.solvers import SGD, SOLVERS

SAMPLING = [name for name in SOLVERS if hasattr(SOLVERS[name](), "sampling")]


def tape():
    return Tape(ScaledPenalty(NoPenalty(), 1.0, False), Logistic(), (5,))


def turns(asked):
    """Where epochs begin."""
    return [question.opens for question in asked]


@pytest.mark.parametrize("name", SAMPLING)
def test_an_epoch_begins_where_the_last_one_is_done(name):
    solver = SOLVERS[name]().with_params(sampling="allocation", rate=0.3, steps=7)
    held = tape()
    held.solve(solver)
    assert {type(q) for q in held.asked} == {AllocatedBatch} and {
        q.batches for q in held.asked
    } == {3}
    assert turns(held.asked) == [k % 3 == 0 for k in range(len(held.asked))]
    held.asked.clear()
    held.solve(solver)
    assert turns(held.asked)[0], "a second fit went on with the batches of the first"


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_one_pass_spends_its_budget(neighbors):
    receipt = check_budget(SGD(rate=0.1, steps=10, sampling="allocation"), neighbors)
    epochs = [(e, k) for e, k in receipt.script if isinstance(e, RandomAllocation)]
    assert [(e.batches, k) for e, k in epochs] == [(10, 1)]
    assert (PureDP(0.0), 9) in receipt.script and "random_allocation" in receipt.proofs


def test_an_epoch_that_is_not_finished_is_paid():
    solver = SGD(rate=0.25, steps=9, sampling="allocation")
    script = check_budget(solver, "add_remove", n_public=500).script
    assert sum(k for e, k in script if isinstance(e, RandomAllocation)) == 3


def test_one_pass_learns():
    solver = SGD(rate=0.02, steps=50, sampling="allocation")
    assert quality(solver, epsilon=2.0) > 0.8
