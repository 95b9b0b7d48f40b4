"""Parameters as scikit-learn moves them: clone, get and set, searches, pipelines, pickles."""

import inspect
import pickle

import numpy as np
import pytest
from estimators.of_rows import of_rows
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skdp import DPLogisticRegression
from skdp.exceptions import BudgetExceeded, NotSupported
from skdp.penalties import ElasticNet
from skdp.privacy import Ledger
from skdp.solvers import GD, SGD, SOLVERS

ESTIMATORS = [Estimator for _, Estimator in of_rows("classifier")]
rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(200, 3))
Y = (X[:, 0] > 0).astype(int)


def _model(Estimator=DPLogisticRegression, **given):
    return Estimator(
        **{"epsilon": 5.0, "delta": 1e-5, "data_norm": 2.0, "classes": [0, 1], **given}
    )


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_every_parameter_is_stored_as_it_was_given(Estimator):
    names = list(inspect.signature(Estimator).parameters)
    marks = {name: object() for name in names}
    model = Estimator(**marks)
    assert all(getattr(model, name) is mark for name, mark in marks.items())
    assert set(model.get_params(deep=False)) == set(names)


@pytest.mark.parametrize("name", SOLVERS)
def test_solver_parameters_round_trip(name):
    solver = SOLVERS[name]()
    assert type(solver)(**solver.get_params()) == solver
    assert hash(solver) == hash(type(solver)()) and repr(solver)
    assert clone(_model(solver=solver)).solver == solver
    assert pickle.loads(pickle.dumps(solver)) == solver
    with pytest.raises(ValueError, match="no parameter 'wings'"):
        solver.with_params(wings=2)
    with pytest.raises((AttributeError, TypeError)):
        solver.wings = 2


def test_nested_parameters_reach_the_solver_by_name_and_by_instance():
    for solver in ("sgd", SGD(steps=9)):
        model = _model(solver=solver).set_params(solver__batch_size=20, epsilon=2.0)
        assert model.solver.batch_size == 20 and model.epsilon == 2.0
    assert model.solver.steps == 9
    assert model.set_params(solver__steps=4).solver.batch_size == 20, "earlier changes are kept"
    assert model.get_params()["solver__batch_size"] == 20


def test_setting_a_solver_and_its_parameter_at_once():
    model = _model(solver="gd").set_params(solver__rate=0.5, solver=SGD(steps=3))
    assert model.solver == SGD(steps=3, rate=0.5)
    model = _model(solver="sgd").set_params(solver__steps=7, solver="gd")
    assert model.solver == GD(steps=7)


def test_nested_parameters_leave_a_shared_solver_alone():
    shared = SGD(steps=5)
    one, other = _model(solver=shared), _model(solver=shared)
    one.set_params(solver__steps=6)
    assert other.solver is shared and shared.steps == 5


def test_an_unknown_parameter_is_refused():
    with pytest.raises(ValueError, match="wings"):
        _model(solver="sgd").set_params(solver__wings=1)
    with pytest.raises(ValueError, match="wings"):
        _model().set_params(wings=1)


@pytest.mark.parametrize("Estimator", [E for E in ESTIMATORS if "solver" in E().get_params()])
def test_search_over_solver_and_own_parameters(Estimator):
    own = "C" if "C" in Estimator().get_params() else "alpha"
    grid = {"solver__batch_size": [20, 50], own: [0.1, 1.0]}
    search = GridSearchCV(_model(Estimator, solver=SGD(steps=5), random_state=0), grid, cv=2)
    search.fit(X, Y)
    assert search.best_estimator_.solver.batch_size in (20, 50)
    assert len(search.cv_results_["params"]) == 4
    assert search.best_estimator_.solver.steps == 5


def test_search_within_a_pipeline():
    pipeline = make_pipeline(FunctionTransformer(), _model(solver="sgd", random_state=0))
    grid = {"dplogisticregression__solver__steps": [3, 6]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, Y)
    assert search.best_estimator_[-1].solver.steps in (3, 6)


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_a_fitted_model_survives_a_pickle(Estimator):
    given = {"penalty": ElasticNet(1.0, 0.5)} if "penalty" in Estimator().get_params() else {}
    model = _model(Estimator, **given).fit(X, Y)
    twin = pickle.loads(pickle.dumps(model))
    assert np.array_equal(twin.decision_function(X), model.decision_function(X))
    assert twin.privacy_ == model.privacy_ and repr(twin) == repr(model)


def test_clones_share_the_ledger_and_pay_together():
    ledger = Ledger(6.0, 1e-5)
    model = _model(ledger=ledger, epsilon=2.0)
    twin = clone(model)
    assert twin.ledger is ledger
    model.fit(X, Y)
    after_one = ledger.spent
    twin.fit(X, Y)
    assert after_one <= 2.0 < ledger.spent


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("solver", ["agd", "blgd", "blsgd"])
def test_adaptive_fits_share_a_ledger_and_are_charged_what_they_were_promised(solver, neighbors):
    ledger = Ledger(3.0, 1e-5, neighbors=neighbors, accountant="rdp")
    for spent in (1, 2):
        _model(ledger=ledger, epsilon=1.0, solver=solver, neighbors=neighbors).fit(X, Y)
        assert len(ledger.scripts) == spent
    # Two promises of 1 compose to less than 2, and something is left.
    assert 1.0 < ledger.spent < 2.0 and ledger.remaining > 1.0
    with pytest.raises(BudgetExceeded):
        _model(ledger=ledger, epsilon=2.9, solver=solver, neighbors=neighbors).fit(X, Y)


def test_a_first_adaptive_fit_settles_the_order_and_later_ones_follow():
    ledger = Ledger(1.0, 1e-5)
    fitted = _model(ledger=ledger, epsilon=0.3, delta=1e-6, solver="blgd").fit(X, Y)
    ((allowance, _),) = ledger.scripts[0]
    assert ledger.renyi_order <= allowance.order
    assert fitted.privacy_.epsilon == 0.3 and ledger.spent <= 1.0
    _model(ledger=ledger, epsilon=0.2, delta=1e-6, solver="gd").fit(X, Y)
    _model(ledger=ledger, epsilon=0.2, delta=1e-6, solver="blsgd").fit(X, Y)
    assert ledger.scripts[2][0][0].order == ledger.renyi_order


def test_a_shared_order_is_not_taken_where_it_would_waste_the_promise():
    ledger = Ledger(4.0, 1e-6, accountant="rdp")
    _model(ledger=ledger, epsilon=2.0, delta=1e-6, solver="blgd").fit(X, Y)
    # At the ledger's order, an epsilon of 0.945 would be all surplus: thirteen times the noise.
    small = {"epsilon": 0.945, "delta": 1e-6, "solver": "blgd"}
    quoted = _model(ledger=ledger, **small).quote(*X.shape)
    alone = _model(**small).quote(*X.shape)
    assert quoted.script == alone.script
    _model(ledger=ledger, **small).fit(X, Y)
    assert ledger.scripts[1][0][0].order > ledger.renyi_order


@pytest.mark.parametrize("epsilon", [8.0, np.inf])
@pytest.mark.filterwarnings("ignore::skdp.PrivacyWarning")
def test_a_first_adaptive_fit_that_asks_too_much_is_refused_as_any_other(epsilon):
    ledger = Ledger(0.1, 1e-6)
    with pytest.raises(BudgetExceeded):
        _model(ledger=ledger, epsilon=epsilon, delta=1e-6, solver="blgd").fit(X, Y)
    assert ledger.spent == 0.0


def test_a_renyi_allowance_is_admitted_after_a_gaussian_fit():
    ledger = Ledger(3.0, 1e-5)
    for solver in ("gd", "blgd", "sgd", "agd"):
        _model(ledger=ledger, epsilon=0.5, solver=solver).fit(X, Y)
    assert len(ledger.scripts) == 4 and ledger.spent <= 3.0


def test_books_in_gaussian_dp_alone_refuse_a_renyi_allowance_and_say_what_would_work():
    ledger = Ledger(3.0, 1e-5, accountant="gdp")
    _model(ledger=ledger, epsilon=1.0, solver="gd").fit(X, Y)
    with pytest.raises(NotSupported, match="accountant='rdp'"):
        _model(ledger=ledger, epsilon=1.0, solver="blgd").fit(X, Y)
    assert len(ledger.scripts) == 1


def test_a_search_pays_for_every_fit():
    ledger = Ledger(50.0, 1e-5)
    model = _model(ledger=ledger, epsilon=1.0, solver="gd")
    GridSearchCV(model, {"C": [0.1, 1.0]}, cv=2).fit(X, Y)
    assert len(ledger.scripts) == 5


def test_fitting_leaves_the_parameters_alone():
    model = _model(solver="sgd")
    before = model.get_params()
    model.fit(X, Y)
    assert model.get_params() == before
