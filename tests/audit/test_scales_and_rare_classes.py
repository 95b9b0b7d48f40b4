"""Where two published libraries break their pure epsilon: rows longer than 1, one-sided labels, a free intercept."""

import numpy as np
import pytest
from audit.solver_audits import EPSILON, plan_of
from numpy.testing import assert_allclose

from skdp import DPLogisticRegression
from skdp.audit import audit
from skdp.fitting import prepare
from skdp.mechanisms import Noise, Oracle, Records
from skdp.privacy.ledger import Recorder
from skdp.solvers import ObjectivePerturbation

NORMS = [1.0, 10.0, 100.0, 1000.0]
N = 12


def _fitted(solver, delta, norm, declared):
    rng = np.random.default_rng(0)
    X = rng.uniform(-0.5, 0.5, (300, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=300) > 0).astype(int)
    model = DPLogisticRegression(
        epsilon=1.0,
        delta=delta,
        solver=solver,
        penalty=None,
        data_norm=declared,
        classes=[0, 1],
        random_state=0,
    )
    return model.fit(norm * X, y)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("solver", ["objective-perturbation", "output-perturbation", "amp"])
def test_curvature_scales_with_the_square_of_the_bound(solver, delta):
    # Rows and bound times r is the same problem in other units: the same price, noise and convexity must serve it.
    unit = _fitted(solver, delta, 1.0, 1.0)
    for norm in NORMS[1:]:
        scaled = _fitted(solver, delta, norm, norm)
        assert_allclose(norm * scaled.coef_, unit.coef_, rtol=1e-6, atol=1e-9)
        assert scaled.privacy_.script == unit.privacy_.script
        assert scaled.privacy_.notes == unit.privacy_.notes
    assert not np.allclose(_fitted(solver, delta, 1.0, 10.0).coef_, unit.coef_, rtol=1e-2)


class SilentIntercept(Noise):
    """The published fault: the intercept is left out of the noise."""

    def radial(self, statistic, grid):
        noisy = super().radial(statistic, grid)
        noisy[-1] = statistic[-1]
        return noisy


def _intercepts(noise_source):
    """One fit of the intercept alone: rows of zeros, an unpenalised intercept, pure epsilon."""
    plan = plan_of(
        ObjectivePerturbation(), "replace_one", delta=0.0, n=N, fit_intercept=True, penalty=None
    )
    budget = plan.budget(noise=prepare(plan).budget.noise)
    seeds = iter(range(10**9))

    def run(y):
        records = Records.admit(np.zeros((N, 1)), y, plan.public, 1.0)
        oracle = Oracle(records, Recorder(), noise_source(next(seeds)))
        return plan.solver.solve(oracle, plan.task, budget)[-1:]

    return run


def test_a_class_of_one_record_and_a_free_intercept_keep_pure_epsilon():
    none = -np.ones(N)
    one = none.copy()
    one[0] = 1.0
    assert audit(_intercepts(Noise), (none, one), 0.0, 3000).epsilon <= EPSILON
    assert audit(_intercepts(SilentIntercept), (none, one), 0.0, 600).epsilon > EPSILON
