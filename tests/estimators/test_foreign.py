"""What a script for scikit-learn passes is taken with one warning, or refused with the reason."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from skdp import DPLinearSVC, DPLogisticRegression, DPQuantileRegressor, DPRidge
from skdp.fitting.auto import is_auto
from skdp.fitting.estimator import IGNORED, REFUSED
from skdp.neural_network import DPMLPClassifier
from skdp.preprocessing import DPBounds
from skdp.ranking import DPRanker
from skdp.solvers import GD
from skdp.solvers._solver import THEIRS

LINEAR = REFUSED.keys() - {"warm_start", "multi_class"}
CASES = [(kind, name) for kind in (DPLogisticRegression, DPLinearSVC) for name in sorted(LINEAR)]
CASES += [(DPLinearSVC, "multi_class")]
CASES += [(kind, "warm_start") for kind in (DPMLPClassifier, DPRanker, DPBounds)]
TAKEN = [(kind, name) for kind in (DPLogisticRegression, DPRidge) for name in sorted(IGNORED)]
TAKEN += [(DPMLPClassifier, "tol"), (DPRanker, "n_jobs"), (DPBounds, "copy_X")]
rng = np.random.default_rng(0)
X = rng.uniform(-1.0, 1.0, (200, 3))
Y = (X[:, 0] > 0).astype(int)
GIVEN = {"data_norm": 2.0, "classes": [0, 1], "random_state": 0}


@pytest.mark.parametrize(("Estimator", "name"), CASES)
def test_a_parameter_that_would_change_the_fit_is_refused_with_the_reason(Estimator, name):
    told = f"{Estimator.__name__} has no parameter '{name}': .{{20,}}[.]$"
    with pytest.raises(TypeError, match=told):
        Estimator(**{name: 1})
    with pytest.raises(TypeError, match=told):
        Estimator().set_params(**{name: 1})


@pytest.mark.parametrize(("Estimator", "name"), TAKEN)
def test_a_parameter_without_effect_is_taken_with_a_warning_and_not_kept(Estimator, name):
    told = f"^{Estimator.__name__}: {name}=1 has no effect: .{{15,}}[.]$"
    with pytest.warns(UserWarning, match=told):
        model = Estimator(**{name: 1})
    with pytest.warns(UserWarning, match=told):
        model.set_params(**{name: 1})
    assert name not in model.get_params() and name not in vars(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert clone(model).get_params() == Estimator().get_params()


def test_several_are_one_warning_that_shows_no_data_and_points_to_the_caller():
    with pytest.warns(UserWarning) as told:
        DPLogisticRegression(max_iter=1000, tol=1e-3, n_jobs=X, C=2.0)
    (one,) = told
    text = str(one.message)
    assert "max_iter=1000 and tol=0.001 have no effect: " in text
    assert "n_jobs=<ndarray> has no effect: " in text and one.filename == __file__


@pytest.mark.parametrize(
    ("Estimator", "given"),
    [
        (DPMLPClassifier, {"early_stopping": False}),
        (DPBounds, {"warm_start": False}),
        (DPLinearSVC, {"multi_class": "ovr"}),
    ],
)
def test_a_value_that_asks_for_what_is_done_anyway_needs_no_word(Estimator, given):
    Estimator(**given).set_params(**given)


def test_a_network_knows_its_epochs():
    assert DPMLPClassifier(max_iter=7).max_iter == 7
    assert DPMLPClassifier().set_params(max_iter=7).max_iter == 7


def test_other_names_are_pythons_to_refuse_and_signatures_stay():
    with pytest.raises(TypeError, match=r"argument 'epsilom'; did you mean 'epsilon'"):
        DPLogisticRegression(epsilom=1.0)
    with pytest.raises(
        TypeError, match=r"unexpected keyword argument 'eps'; did you mean 'epsilon'\?"
    ):
        DPLogisticRegression(eps=1.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_itr'"):
        DPLogisticRegression(max_itr=10)
    names = set(inspect.signature(DPLogisticRegression).parameters)
    assert "epsilon" in names
    assert not (LINEAR | IGNORED.keys()) & names


# ------------------------------------------------------------------------------------ scikit-learn's solvers


@pytest.mark.parametrize("name", sorted(THEIRS))
def test_a_name_of_scikit_learns_solvers_means_auto_with_one_warning(name):
    model = DPLogisticRegression(solver=name, **GIVEN)
    with pytest.warns(
        UserWarning, match=f"solver='{name}' is one of scikit-learn's, and means 'auto'"
    ) as told:
        model.fit(X, Y)
    assert len([one for one in told if "scikit-learn's" in str(one.message)]) == 1
    assert model.solver == name == clone(model).solver == model.get_params()["solver"]
    auto = DPLogisticRegression(**GIVEN).fit(X, Y)
    np.testing.assert_array_equal(model.coef_, auto.coef_)
    assert model.privacy_.script == auto.privacy_.script


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (DPLinearSVC(loss="hinge", **GIVEN), "liblinear"),  # whose corner "auto" rounds
        (DPLogisticRegression(class_weight="balanced", coef_init=[0.0] * 3, **GIVEN), "saga"),
        (DPQuantileRegressor(data_norm=2.0, y_bounds=(0.0, 1.0), random_state=0), "highs"),
        (DPMLPClassifier(hidden_layer_sizes=3, max_iter=2, **GIVEN), "lbfgs"),
    ],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_whatever_follows_from_auto_follows_from_such_a_name(model, name):
    auto = clone(model).fit(X, Y)
    with pytest.warns(UserWarning, match="means 'auto'"):
        found = clone(model).set_params(solver=name).fit(X, Y)
    np.testing.assert_array_equal(found.predict(X), auto.predict(X))
    assert found.privacy_.script == auto.privacy_.script


def test_no_solver_of_ours_has_such_a_name_and_parameters_of_one_need_a_name_of_ours():
    from skdp.solvers import CLASS_SOLVERS, LIST_SOLVERS, SOLVERS

    assert not THEIRS & {*SOLVERS, *CLASS_SOLVERS, *LIST_SOLVERS}
    assert is_auto("auto") and not any(map(is_auto, (*SOLVERS, GD(), None)))
    with pytest.raises(ValueError, match="solver='lbfgs' is chosen at fit; name a solver"):
        DPLogisticRegression(solver="lbfgs").set_params(solver__steps=3)
    with pytest.raises(ValueError, match="is not known"):
        DPLogisticRegression(solver="lbfg", **GIVEN).fit(X, Y)


@pytest.mark.filterwarnings("ignore:solver=:UserWarning", "ignore:DPLogistic:UserWarning")
def test_a_search_over_such_parameters_runs():
    grid = {"solver": ["lbfgs", "liblinear"], "max_iter": [100, 200]}
    search = GridSearchCV(DPLogisticRegression(**GIVEN), grid, cv=2, error_score="raise")
    assert search.fit(X, Y).best_params_["solver"] in ("lbfgs", "liblinear")


def test_multi_class_auto_is_the_default():
    labels = np.digitize(X[:, 0], [-0.3, 0.3])
    given = GIVEN | {"classes": [0, 1, 2]}
    found = DPLogisticRegression(multi_class="auto", **given).fit(X, labels)
    usual = DPLogisticRegression(**given).fit(X, labels)
    np.testing.assert_array_equal(found.predict_proba(X), usual.predict_proba(X))
    np.testing.assert_array_equal(found.predict_log_proba(X), usual.predict_log_proba(X))
    assert found.privacy_.script == usual.privacy_.script


def test_a_solver_by_name_shows_its_parameters():
    model = DPLogisticRegression(solver="gd")
    assert model.get_params()["solver__steps"] == GD().steps
    assert "solver__steps" not in model.get_params(deep=False)
    assert not any(key.startswith("solver__") for key in DPLogisticRegression().get_params())


def test_parameters_go_round():
    for solver in ("auto", "lbfgs", "gd", GD(steps=7)):
        model = DPLogisticRegression(solver=solver)
        given = model.get_params()
        assert model.set_params(**given).get_params() == given and model.solver == solver
        assert clone(model).get_params() == given
    assert DPLogisticRegression(solver="gd").set_params(solver__steps=9).solver == GD(steps=9)
    assert DPLogisticRegression().set_params(solver="gd", solver__steps=9).solver == GD(steps=9)
