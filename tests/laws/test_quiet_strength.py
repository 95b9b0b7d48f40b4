"""The strength that objective perturbation takes by default keeps noise on its minimiser as harmless as shrinkage."""

import pytest

from skdp import DPLogisticRegression
from skdp.losses import Logistic
from skdp.mechanisms import PerturbedObjective, Public
from skdp.penalties import L2, NoPenalty, ScaledPenalty
from skdp.privacy import noise_multiplier
from skdp.solvers import AMP, ADMMObjP, Budget, ObjectivePerturbation, Task
from skdp.solvers._one_shot import TYPICAL, leverage_for, strength_for
from skdp.solvers.amp import _published_share

RADIUS = 16.0
VAULTS = {
    "private n": Public(None, 4, 0.25, "add_remove"),
    "a million": Public(10**6, 4, 0.25, "replace_one"),
    "a thousand": Public(1000, 4, 0.25, "replace_one"),
    "no intercept": Public(None, 5, 0.0, "add_remove"),
}


def harms(strength, public, task, noise):
    """Of the noise on the minimiser, and of shrinkage, in units of the objective."""
    question = PerturbedObjective(
        loss=task.loss, penalty=task.penalty, shape=(5,), multiplier=noise, strength=strength
    )
    bend = (public.n or TYPICAL) * task.loss.curvature * public.row_bound**2
    return 0.5 * bend * question.output_noise(public) ** 2, 0.5 * strength * RADIUS**2


@pytest.mark.parametrize("vault", VAULTS)
@pytest.mark.parametrize("ridge", [0.0, 2.5])
@pytest.mark.parametrize("epsilon", [1.0, 10.0, 1e2, 1e3, 1e4])
def test_the_strength_is_the_least_that_keeps_noise_below_shrinkage(vault, ridge, epsilon):
    public = VAULTS[vault]
    penalty = ScaledPenalty(L2(ridge) if ridge else NoPenalty(), 1.0, public.intercept > 0)
    task = Task(Logistic(), penalty, (5,))
    noise = noise_multiplier(epsilon, 1e-6, neighbors=public.neighbors)
    budget = Budget(epsilon, 1e-6, noise=noise)
    leverage = leverage_for(task, public, budget, None, noise * public.row_bound, RADIUS)
    strength = strength_for(leverage, ridge, public.intercept)
    loud, shrunk = harms(strength, public, task, noise)
    assert loud <= 1.2 * shrunk
    unbothered = epsilon / (4.0 if public.replace_one else 1.25)
    if leverage < unbothered * (1 - 1e-9):  # more than privacy needs
        loud, shrunk = harms(0.7 * strength, public, task, noise)
        assert loud > shrunk


def test_the_law_can_fail():
    """At the least strength that is ever taken, noise on the minimiser of a private number of records rules."""
    task = Task(Logistic(), ScaledPenalty(NoPenalty(), 1.0, True), (5,))
    loud, shrunk = harms(1e-4, VAULTS["private n"], task, 0.025)
    assert loud > 1e4 * shrunk


def test_without_noise_no_clip_stays():
    question = DPLogisticRegression(
        epsilon=float("inf"), solver="objective-perturbation", data_norm=1.0, neighbors="add_remove"
    ).quote(None, 4)
    assert question.script[0][0].rule == "logistic", "an unclipped logistic loss"


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 10.0])
def test_the_published_share_is_as_published_where_it_was(epsilon):
    published = max(min(0.88671 + 0.0186607 / epsilon**0.372906, 0.99), 1.0 - 1.0 / epsilon + 0.001)
    assert _published_share(epsilon) == pytest.approx(
        published, abs=1e-3 if epsilon < 10 else 1e-12
    )


@pytest.mark.parametrize("epsilon", [20.0, 1e3, 1e4, 1e8])
def test_beyond_the_share_leaves_something_for_the_jacobian(epsilon):
    assert 0.9 <= epsilon * (1.0 - _published_share(epsilon)) <= 2.5


@pytest.mark.parametrize("solver", [AMP(), ADMMObjP(), ObjectivePerturbation()])
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("delta", [1e-6, 0.0])
@pytest.mark.parametrize("epsilon", [999.0, 1e3, 1001.0, 1e5, 1e8])
def test_large_epsilons_are_priced(solver, neighbors, delta, epsilon):
    model = DPLogisticRegression(
        epsilon=epsilon,
        delta=delta,
        solver=solver,
        data_norm=1.0,
        neighbors=neighbors,
        n_public=500,
    )
    assert 0.9 * epsilon <= model.quote(500, 4).epsilon <= epsilon
