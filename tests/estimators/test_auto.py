"""What solver="auto" stands for: a choice by the promise and by public sizes, and never by data."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from skdp import DPLinearSVC, DPLogisticRegression
from skdp.losses import Hinge, Huber, HuberisedHinge, QuantileHuber
from skdp.penalties import Box
from skdp.privacy import Ledger

rng = np.random.default_rng(0)
X = rng.uniform(-0.5, 0.5, (4000, 3))
Y = (X[:, 0] > 0).astype(int)


def choose_solver(Estimator=DPLogisticRegression, n=50_000, d=20, **given):
    """Name of the solver that a fit on so large a table would use."""
    given = {"epsilon": 1.0, "delta": 1e-6, "data_norm": 1.0, "classes": [0, 1], **given}
    return Estimator(**given)._plan(n, d, {}).solver.name


def test_a_quiet_promise_gets_the_tilted_objective_and_a_loud_one_gradients():
    assert (
        choose_solver()
        == choose_solver(DPLinearSVC)
        == choose_solver(penalty=None)
        == "white-objective"
    )
    assert choose_solver(n=500) == choose_solver(epsilon=0.001) == "white-gd"


@pytest.mark.parametrize(
    "given",
    [
        {"neighbors": "add_remove"},
        {"neighbors": "add_remove", "n_public": 50_000},
        {"ledger": Ledger(3.0, 1e-5, accountant="gdp")},
        {"accountant": "gdp"},
    ],
)
def test_what_only_gaussians_can_serve_gets_gradients(given):
    assert choose_solver(**given) == "white-gd"


@pytest.mark.parametrize("accountant", ["auto", "shifted", "rdp"])
def test_a_ledger_that_can_hold_it_changes_nothing(accountant):
    ledger = Ledger(20.0, 1e-5, accountant=accountant)
    for given in ({}, {"penalty": "l1"}, {"n": 500}, {"epsilon": 0.001}):
        assert choose_solver(ledger=ledger, **given) == choose_solver(**given)
    model = DPLogisticRegression(epsilon=1.0, data_norm=1.0, classes=[0, 1], ledger=ledger)
    alone = clone(model).set_params(ledger=None).fit(X, Y).privacy_
    assert model.fit(X, Y).privacy_.solver == alone.solver and 0.0 < ledger.spent <= 20.0


def test_a_loss_with_slopes_of_both_signs_gets_gradients_unless_it_is_quiet_or_of_least_squares():
    assert choose_solver(DPLinearSVC, loss=QuantileHuber(0.7), n=2000) == "white-gd"
    assert choose_solver(DPLinearSVC, loss=QuantileHuber(0.7)) == "white-objective"
    given = {"loss": QuantileHuber(0.7), "penalty": "l1"}
    assert choose_solver(DPLinearSVC, **given, n=2000) == "gd"
    assert choose_solver(DPLinearSVC, **given) == "objective-perturbation"
    assert choose_solver(DPLinearSVC, loss=Huber(1.0)) == "two-phase"


def test_what_cannot_be_whitened_is_not():
    assert choose_solver(penalty="l1") == choose_solver(penalty=Box(-1.0, 1.0))
    assert choose_solver(penalty="l1") == "objective-perturbation"
    assert choose_solver(penalty="l1", n=500) == choose_solver(penalty="scad") == "gd"
    assert choose_solver(n=5000, d=5000) == choose_solver(penalty="l1", n=5000, d=5000) == "gd"
    for given in ({}, {"penalty": "l1"}):
        assert choose_solver(d=5000, **given) == "objective-perturbation"
    assert choose_solver(DPLinearSVC, d=5000, loss=QuantileHuber(0.7)) == "gd"
    assert choose_solver(penalty="l1", ledger=Ledger(3.0, 1e-5, accountant="gdp")) == "gd"
    assert choose_solver(DPLinearSVC, loss=Hinge()) == "gd"


def test_a_named_hinge_is_rounded_where_that_is_hidden_and_itself_where_it_is_loud():
    def loss(**given):
        model = DPLinearSVC(
            **{"epsilon": 1.0, **given}, loss="hinge", data_norm=1.0, classes=[0, 1]
        )
        return model._plan(50_000, 20, {}).task.loss

    assert choose_solver(DPLinearSVC, loss="hinge") == "white-objective"
    assert choose_solver(DPLinearSVC, loss="hinge", n=500) == "gd"
    assert type(loss()) is HuberisedHinge and loss().h <= 0.5
    assert type(loss(epsilon=0.001)) is type(loss(solver="gd")) is Hinge


def test_pure_epsilon_is_kept_pure():
    model = DPLogisticRegression(epsilon=1.0, delta=0.0, data_norm=1.0, classes=[0, 1])
    receipt = model.fit(X, Y).privacy_
    assert receipt.delta == 0.0 and 0.99 <= receipt.epsilon <= 1.0


def test_the_choice_does_not_look_at_the_data():
    model = DPLogisticRegression(epsilon=1.0, delta=1e-6, data_norm=1.0, classes=[0, 1])
    names = {
        clone(model).fit(rows, labels).privacy_.solver
        for rows, labels in ((X, Y), (0.0 * X, Y), (X[::-1], 1 - Y))
    }
    assert names == {model.quote(*X.shape).solver}


def test_no_noise_is_the_end_of_low_noise():
    for epsilon in (1e8, np.inf):
        for given in ({}, {"neighbors": "add_remove"}, {"penalty": None}):
            assert choose_solver(epsilon=epsilon, **given) == "white-objective"
        assert choose_solver(epsilon=epsilon, penalty="l1") == "objective-perturbation"


def test_parameters_of_a_solver_need_a_named_one():
    model = DPLogisticRegression(epsilon=1.0, delta=1e-6, data_norm=1.0, classes=[0, 1])
    with pytest.raises(ValueError, match="name a solver"):
        model.set_params(solver__steps=3)
    assert model.solver == "auto"


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_a_search_with_the_defaults_shares_a_ledger(neighbors):
    ledger = Ledger(20.0, 1e-5, neighbors=neighbors)
    model = DPLogisticRegression(
        epsilon=1.0, delta=1e-6, data_norm=1.0, classes=[0, 1], ledger=ledger, neighbors=neighbors
    )
    search = GridSearchCV(model, {"C": [1.0, 100.0]}, cv=3).fit(X, Y)
    assert len(ledger.scripts) == 7 and search.best_score_ > 0.9
