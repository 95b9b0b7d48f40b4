"""Every regressor buys bounds of its targets: as accurate as declared ones, in any unit, at a price without answers."""

import warnings

import numpy as np
import pytest
from estimators.of_rows import of_rows
from laws.defaults import TRAIN, numbers
from numpy.testing import assert_allclose, assert_array_equal

from skdp import (
    DPElasticNet,
    DPHuberRegressor,
    DPLasso,
    DPLinearSVR,
    DPPoissonRegressor,
    DPQuantileRegressor,
    NotSupported,
)
from skdp.exceptions import PrivacyWarning
from skdp.neural_network import DPMLPRegressor

FACES = of_rows("regressor")
LINEAR = [kind for name, kind in FACES if "MLP" not in name]
rng = np.random.default_rng(0)
X = rng.uniform(-1.0, 1.0, (4000, 3))
MEAN = np.exp(X @ [0.8, -0.4, 0.0] + 1.0)
COUNTS = rng.poisson(MEAN).astype(float)


def loss_of(model, where):
    """Mean absolute residual of held-out records, over that of the median; of a quantile the pinball loss."""
    table = numbers(where)
    found = model.fit(table.X[:TRAIN], table.y[:TRAIN]).predict(table.X[TRAIN:])
    left, at = table.y[TRAIN:] - found, getattr(model, "quantile", 0.5)
    alone = table.y[TRAIN:] - np.quantile(table.y[:TRAIN], at)
    pinball = [np.maximum(at * part, (at - 1.0) * part).mean() for part in (left, alone)]
    return pinball[0] / pinball[1]


@pytest.mark.parametrize("epsilon", [2.0, 8.0])
@pytest.mark.parametrize("where", ["bent", "skewed"])
@pytest.mark.parametrize("Estimator", LINEAR)
def test_bought_bounds_cost_little_accuracy(Estimator, where, epsilon):
    declared = dict(numbers(where).declared)
    given = {"epsilon": epsilon, "random_state": 0}
    known = loss_of(Estimator(**given, **declared), where)
    bought = loss_of(Estimator(**given, data_norm=declared["data_norm"]), where)
    nothing = loss_of(Estimator(**given), where)
    assert known < 0.9 and max(bought, nothing) < known + 0.03


STRENGTHS = [
    DPLasso(alpha=0.01),
    DPElasticNet(alpha=0.01),
    DPQuantileRegressor(alpha=1e-3, quantile=0.9),
    DPLinearSVR(C=1.0),
    DPLinearSVR(C=1.0, loss="squared_epsilon_insensitive"),
    DPPoissonRegressor(alpha=1e-3),
]


@pytest.mark.parametrize("model", STRENGTHS, ids=str)
def test_strengths_in_units_of_the_target_need_no_declared_bounds(model):
    model.set_params(epsilon=4.0, random_state=0, data_norm=1.0)
    assert loss_of(model, "bent") < 0.8
    assert loss_of(model, "skewed") < 0.95


@pytest.mark.parametrize(("name", "kind"), FACES, ids=[name for name, _ in FACES])
def test_the_script_is_quoted_and_the_same_whatever_the_unit(name, kind):
    given = {"epsilon": 2.0, "random_state": 0, "data_norm": 2.0}
    quoted = kind(**given).quote(len(X), 3)
    for unit in (1e-7, 1e7):
        receipt = kind(**given).fit(X, COUNTS * unit).privacy_
        assert receipt.script == quoted.script and "bought_scales" in receipt.proofs
        assert receipt.declared["y_bounds"] == "none: bought" and 1.9 < receipt.epsilon <= 2.0


@pytest.mark.parametrize(("alpha", "unit"), [(0.3, 1.0), (3e4, 1e5)])
def test_a_penalty_is_on_the_users_scale_where_no_price_depends_on_it(alpha, unit):
    """Without noise it is that of declared bounds, on whatever scale."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        for kind in (DPLasso, DPElasticNet):
            model = kind(epsilon=np.inf, alpha=alpha, data_norm=2.0).fit(X, unit * MEAN)
            bounds = tuple(model.y_bounds_[0])
            declared = kind(epsilon=np.inf, alpha=alpha, data_norm=2.0, y_bounds=bounds)
            assert_allclose(
                model.coef_, declared.fit(X, unit * MEAN).coef_, rtol=1e-6, atol=1e-6 * unit
            )


def test_bounds_of_counts_begin_at_zero():
    model = DPPoissonRegressor(epsilon=4.0, data_norm=2.0, random_state=0).fit(X, COUNTS)
    assert_array_equal(model.y_bounds_, [[0.0, 16.0]])
    assert_allclose(model.coef_, [0.8, -0.4, 0.0], atol=0.15)
    below = DPPoissonRegressor(epsilon=4.0, data_norm=2.0, random_state=0)
    with pytest.warns(UserWarning, match="Noise hides the scale of a target"):
        below.fit(X, -COUNTS)
    assert below.y_bounds_[0, 0] == 0.0 and np.isfinite(below.predict(X)).all()


@pytest.mark.parametrize(("name", "kind"), FACES, ids=[name for name, _ in FACES])
@pytest.mark.parametrize(
    "targets", [np.zeros(60), np.arange(60.0), np.full(60, 1e300), -1e-300 * np.ones(60)]
)
def test_whatever_the_targets_a_paid_fit_ends_in_a_model(name, kind, targets):
    strengths = {"alpha": 0.5} if "alpha" in kind().get_params() else {}
    model = kind(epsilon=0.3, data_norm=2.0, random_state=0, **strengths)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[:60], targets)
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize(
    "model",
    [DPHuberRegressor(threshold=1.0), DPLinearSVR(margin=0.1), DPMLPRegressor(huber_threshold=2.0)],
    ids=str,
)
def test_what_makes_the_loss_in_units_of_the_target_needs_declared_bounds(model):
    for act in (lambda: model.quote(100, 3), lambda: model.fit(X, COUNTS)):
        with pytest.raises(
            NotSupported, match=r"is in units of the target, .* declare y_bounds, or leave"
        ):
            act()
