"""Attacks on every registered solver: none finds more than was claimed, and half of the noise is found out.

Few runs here; ``-m slow`` makes a hundred thousand of each and prints what the attacks reach.
"""

import pytest
from audit.solver_audits import (
    DELTA,
    EPSILON,
    HalfTheNoise,
    N,
    delta_of,
    pair_for,
    plan_of,
    runs_of,
    solver_for,
)
from laws.vaults import RELATIONS

from skdp import NotSupported
from skdp.audit import audit, worst_case_pair
from skdp.solvers import GD, SGD, SOLVERS

# Half of the noise is caught within a thousand runs or two; the others' attacks are left to the slow runs.
QUICKLY_CAUGHT = [
    ("gd", "add_remove", 1200),
    ("sgd", "replace_one", 1200),
    ("mpadmm", "replace_one", 1200),
    ("rrpsgd", "replace_one", 1200),
    ("outpert-gd", "replace_one", 1000),
    ("output-perturbation", "replace_one", 1200),
    ("psgd", "replace_one", 1000),
    ("privgene", "add_remove", 6000),
]


def check_claim(plan, n_runs, **noise):
    """No attack refutes the epsilon that the plan is priced for."""
    name = plan.solver.name
    pair = pair_for(name, plan.spec.neighbors)
    found = audit(runs_of(plan, **noise), pair, delta_of(name), n_runs)
    assert not found.refutes(EPSILON), f"claimed {EPSILON}, found {found}"
    return found


def _plan(name, relation):
    try:
        return plan_of(solver_for(name), relation)
    except NotSupported as refusal:
        assert len(str(refusal)) > 20
        return None


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", SOLVERS)
def test_no_attack_refutes_the_claim(name, relation):
    plan = _plan(name, relation)
    if plan is not None:
        check_claim(plan, 120)


@pytest.mark.parametrize("name, relation, n_runs", QUICKLY_CAUGHT)
def test_half_of_the_noise_is_caught(name, relation, n_runs):
    plan = _plan(name, relation)
    check_claim(plan, n_runs)
    with pytest.raises(AssertionError, match="claimed"):
        check_claim(plan, n_runs, noise=HalfTheNoise)


def test_batches_of_fixed_size_on_the_pair_that_is_worst_for_them():
    solver = SGD(
        steps=1, rate=0.5, clip=0.1, step_size=0.01, averaging=False, sampling="without_replacement"
    )
    plan = plan_of(solver, "replace_one")
    opposed = worst_case_pair(n=N, others="opposed")
    assert not audit(runs_of(plan), opposed, DELTA, 1600).refutes(EPSILON)
    found = audit(runs_of(plan, HalfTheNoise), opposed, DELTA, 1600)
    assert found.refutes(EPSILON), f"the attack should catch half of the noise, found {found}"


@pytest.mark.parametrize("relation", RELATIONS)
def test_one_pass_over_batches_of_random_allocation(relation):
    solver = SGD(
        steps=2, rate=0.5, clip=0.1, step_size=0.01, averaging=False, sampling="allocation"
    )
    plan = plan_of(solver, relation)
    check_claim(plan, 1600)
    with pytest.raises(AssertionError, match="claimed"):
        check_claim(plan, 1600, noise=HalfTheNoise)


def test_a_bought_count_and_an_intercept_are_covered():
    for relation in RELATIONS:
        plan = plan_of(
            GD(steps=2, momentum=0.0), relation, n_public=None, fit_intercept=True, penalty="l2"
        )
        check_claim(plan, 800)


@pytest.mark.slow
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", SOLVERS)
def test_many_runs(name, relation, capsys):
    plan = _plan(name, relation)
    if plan is None:
        return
    n_runs = 100_000 if name not in COSTLY else 10_000
    sound = check_claim(plan, n_runs)
    half = audit(runs_of(plan, HalfTheNoise), pair_for(name, relation), delta_of(name), 10_000)
    with capsys.disabled():
        print(
            f"\n{name} {relation}: {sound.epsilon:.3f} of {EPSILON}, half the noise {half.epsilon:.3f}"
        )
    assert half.refutes(EPSILON), "the attack should have caught half of the noise"


# Several milliseconds a run.
COSTLY = {"agd", "blgd", "blsgd", "blsgd-ac", "frank-wolfe", "admm-objp"}
