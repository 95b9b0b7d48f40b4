"""Pure epsilon of the one-shot releases under attack: below the claim, and half the noise is caught."""

import pytest
from audit.solver_audits import EPSILON, HalfTheNoise, N, runs_of
from laws.runs import plan_for

from skdp.audit import audit, worst_case_pair
from skdp.mechanisms import Noise
from skdp.solvers import AMP, PSGD, ObjectivePerturbation, OutPertGD, OutputPerturbation

SOLVERS = [
    ObjectivePerturbation(strength=20.0),
    AMP(),
    OutputPerturbation(strength=20.0),
    OutPertGD(steps=1),
    PSGD(epochs=1),
]


def _found(solver, noise, runs):
    given = {"fit_intercept": False, "penalty": None, "n": N, "d": 1, "data_norm": 1.0}
    # The huberised hinge has its steepest slope at 0, where these fits are.
    plan = plan_for(solver, "replace_one", "huberised_hinge", EPSILON, delta=0.0, **given)
    return audit(runs_of(plan, noise), worst_case_pair(n=N), 0.0, runs).epsilon


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_pure_claim_holds_and_half_the_noise_is_caught(solver):
    honest = _found(solver, Noise, 8000)
    assert 0.3 * EPSILON < honest <= EPSILON
    assert _found(solver, HalfTheNoise, 8000) > EPSILON


def test_pure_claim_of_objective_perturbation_holds():
    assert _found(SOLVERS[0], Noise, 1000) <= EPSILON < _found(SOLVERS[0], HalfTheNoise, 1000)
