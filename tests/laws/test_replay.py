"""Record the answers, run the solver again on a stub that has no data: the same parameters, bit for bit."""

from dataclasses import replace

import numpy as np
import pytest
from laws.runs import LOSSES, check_all_is_paid, check_replay, plan_for, records_for, run, short
from laws.vaults import RELATIONS

from skdp import NotSupported
from skdp.solvers import BLGD, SOLVERS


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", SOLVERS)
def test_result_is_a_function_of_the_answers(name, relation, loss):
    try:
        plan = plan_for(short(name), relation, loss)
    except NotSupported as refusal:
        # Refused before any data, in one sentence that names the relation or the remedy.
        assert str(refusal).count(". ") <= 1 and len(str(refusal)) > 20
        return
    w, _ = check_replay(plan, records_for(plan))
    assert w.shape == plan.task.shape and np.isfinite(w).all()


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", SOLVERS)
def test_all_that_is_asked_stays_paid(name, relation):
    """In the order in which it was asked; a script is asked to its end."""
    try:
        plan = plan_for(short(name), relation)
    except NotSupported:
        return
    check_all_is_paid(plan, records_for(plan))


class Refunding(BLGD):
    """Takes back what a search cost that has found nothing."""

    def solve(self, oracle, task, budget):
        w = super().solve(oracle, task, budget)
        del oracle._Oracle__account._log[-1:]
        return w


def test_a_solver_that_takes_a_charge_back_is_found():
    plan = plan_for(short("blgd"), "replace_one")
    with pytest.raises(AssertionError):
        check_all_is_paid(replace(plan, solver=Refunding(max_rounds=40)), records_for(plan))


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_fits_under_some_relation(name):
    fitted = 0
    for relation in RELATIONS:
        for loss in LOSSES:
            try:
                plan_for(short(name), relation, loss)
            except NotSupported:
                continue
            fitted += 1
    assert fitted, f"{name} was refused everywhere, so that no law was held against it"


@pytest.mark.parametrize("name", SOLVERS)
def test_another_seed_gives_another_result(name):
    for relation in RELATIONS:
        try:
            plan = plan_for(short(name), relation)
        except NotSupported:
            continue
        records = records_for(plan)
        one, other, same = (run(plan, records, seed)[0] for seed in (1, 2, 1))
        assert not np.array_equal(one, other) and np.array_equal(one, same)
        return


@pytest.mark.parametrize("name", SOLVERS)
def test_a_step_and_a_clip_of_the_users_own_are_taken(name):
    solver = short(name, clip=0.3, step_size=0.05)
    plan = plan_for(solver, "replace_one")
    w, _ = check_replay(plan, records_for(plan))
    assert np.isfinite(w).all()
