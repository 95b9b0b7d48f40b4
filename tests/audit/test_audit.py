"""The attack itself: it reaches what is known of simple mechanisms, and does not pass it."""

import numpy as np
import pytest

from skdp import DPLogisticRegression
from skdp.audit import audit, released_by, worst_case_pair
from skdp.audit._attack import _bound, _upper
from skdp.privacy import accountants, events
from skdp.solvers import GD

DELTA = 0.1


def _epsilon(mu):
    return accountants.epsilon(((events.Gaussian(1 / mu), 1),), DELTA, "add_remove")


@pytest.mark.parametrize("mu", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("d", [1, 3])
def test_gaussian_is_reached_and_not_passed(mu, d):
    rng = np.random.default_rng(0)
    move = np.full(d, mu / np.sqrt(d))
    found = audit(lambda sign: sign * move + rng.normal(size=d), (0.0, 1.0), DELTA, 20_000)
    assert 0.75 * _epsilon(mu) - 0.1 <= found.epsilon <= _epsilon(mu)
    assert found.refutes(found.epsilon - 1e-9) and not found.refutes(_epsilon(mu))


def test_a_change_of_scale_is_seen_by_the_quadratic_statistic():
    rng = np.random.default_rng(0)
    found = audit(lambda scale: scale * rng.normal(size=2), (1.0, 4.0), 0.0, 4000)
    assert found.statistic == "quadratic" and found.epsilon > 1.0


def test_nothing_is_found_where_there_is_nothing():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        assert audit(lambda _, rng=rng: rng.normal(size=2), (0, 1), 0.0, 400).epsilon < 0.3


def test_the_bound_holds_as_often_as_it_says():
    # The exact mechanism and threshold, so that only the binomial bounds are on trial: at confidence 0.9 the bound
    # may pass the truth in one run of ten. The truth is that of the threshold itself.
    rng = np.random.default_rng(0)
    truth = np.log((0.3 - DELTA) / 0.05)
    passed = _bound(rng.binomial(500, 0.05, 4000), rng.binomial(500, 0.3, 4000), 500, DELTA, 0.9)
    assert np.mean(passed > truth) < 0.1


def test_an_attack_that_has_learnt_by_heart_proves_nothing():
    """The whole attack holds its confidence, also where what it learns from is all chance: many numbers, few runs."""
    refuted = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        found = audit(lambda _, rng=rng: rng.normal(size=60), (0, 1), 0.0, 200, confidence=0.9)
        refuted += found.epsilon > 0.0
    assert refuted <= 12  # of 60 at one in ten: more have a probability below 1 percent


def test_binomial_bound_is_clopper_and_pearsons():
    from scipy.stats import binom

    for successes, runs in [(0, 50), (3, 50), (49, 50)]:
        bound = float(_upper(np.array(successes), runs, 0.01))
        assert binom.cdf(successes, runs, bound) == pytest.approx(0.01, rel=1e-6)
    assert _upper(np.array(50), 50, 0.01) == 1.0


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("others", ["silent", "opposed"])
def test_pairs_are_neighbours_at_the_bound(neighbors, others):
    (X, y), (X2, y2) = worst_case_pair(
        n=5, n_features=2, data_norm=3.0, neighbors=neighbors, others=others, classes=("a", "b")
    )
    assert np.linalg.norm(X, axis=1).max() == 3.0 and set(y) == {"a", "b"}
    if neighbors == "replace_one":
        assert X.shape == X2.shape and np.sum((X != X2).any(axis=1) | (y != y2)) == 1
    else:
        assert np.array_equal(X[1:], X2) and np.array_equal(y[1:], y2)


def test_an_estimator_can_be_audited_as_a_user_would():
    model = DPLogisticRegression(
        epsilon=1.0,
        delta=DELTA,
        data_norm=1.0,
        classes=[0, 1],
        solver=GD(steps=1, momentum=0.0, clip=0.1, step_size=0.01),
        fit_intercept=False,
        penalty=None,
    )
    found = audit(released_by(model), worst_case_pair(), DELTA, 6000, confidence=0.99)
    assert 0.2 < found.epsilon <= 1.0


def test_a_fixed_seed_cannot_be_audited():
    with pytest.raises(ValueError, match="random_state"):
        released_by(DPLogisticRegression(random_state=0))


@pytest.mark.parametrize("given", [{"delta": 1.0}, {"n_runs": 4}, {"confidence": 1.0}])
def test_wrong_arguments_are_refused(given):
    with pytest.raises(ValueError, match=next(iter(given))):
        audit(np.sum, (0, 1), **{"delta": 0.1, "n_runs": 100, **given})


@pytest.mark.parametrize("given", [{"neighbors": "next"}, {"others": "loud"}])
def test_wrong_pairs_are_refused(given):
    with pytest.raises(ValueError, match=next(iter(given))):
        worst_case_pair(**given)
