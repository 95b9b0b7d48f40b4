"""Private least squares: bounds are declared, fits tend to scikit-learn's, and nothing else is told."""

import inspect
import math
import warnings
from functools import partial

import numpy as np
import pytest
from entry.test_no_cell_is_shown import told
from estimators.least_squares import FAMILIES, declared, distance
from estimators.malformed import CELLS_SHOWN, COUNT_SHOWN, GOOD_X, columns, tables
from estimators.of_rows import of_rows
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    QuantileRegressor,
    Ridge,
)
from sklearn.model_selection import cross_val_score
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skdp import (
    DPElasticNet,
    DPHuberRegressor,
    DPLasso,
    DPLinearRegression,
    DPLinearSVR,
    DPLogisticRegression,
    DPQuantileRegressor,
    DPRidge,
    NotSupported,
    PrivacyWarning,
)
from skdp.neural_network import DPMLPRegressor
from skdp.privacy import Ledger
from skdp.solvers import GD, TwoPhase
from skdp.solvers.two_phase import sparse_solution

RELATIONS = ("replace_one", "add_remove")
OF_COUNTS = "DPPoissonRegressor"  # whose bounds start at 0: see test_glm_regressors.py
REGRESSORS = [kind for name, kind in of_rows("regressor") if name != OF_COUNTS]
rng = np.random.default_rng(0)
X = rng.uniform(-1.0, 1.0, (2000, 3))
Y = X @ [3.0, -2.0, 1.0] + 10.0 + 0.1 * rng.normal(size=2000)
GIVEN = {"y_bounds": (3.0, 17.0), "data_norm": math.sqrt(3.0), "random_state": 0}


def quiet(model, X, y):
    """A fit whose lack of privacy is known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return model.fit(X, y)


# --------------------------------------------------------------------------------- agreement


TIGHT = {"tol": 1e-14, "max_iter": 10**6}


def pairs(alpha, fit_intercept):
    """Ours, without its epsilon, and scikit-learn's."""
    if isinstance(alpha, tuple):
        given = {"alpha": alpha[1], "fit_intercept": fit_intercept}
        if alpha[0] == 1.0:
            return DPLasso(**given), Lasso(**given, **TIGHT)
        given["l1_ratio"] = alpha[0]
        return DPElasticNet(**given), ElasticNet(**given, **TIGHT)
    if alpha is None:
        given = {"fit_intercept": fit_intercept}
        return DPLinearRegression(**given), LinearRegression(**given)
    given = {"alpha": alpha, "fit_intercept": fit_intercept}
    return DPRidge(**given), Ridge(**given, solver="cholesky")


PENALTIES = [None, 0.0, 0.01, 1.0, 100.0]
PENALTIES += [
    (1.0, 0.001),
    (1.0, 0.1),
    (1.0, 1.0),
    (0.5, 0.01),
    (0.9, 0.3),
    (0.1, 3.0),
    (0.0, 0.01),
]


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_without_noise_it_is_scikit_learns_fit(neighbors):
    found = []
    for data in FAMILIES.values():
        for alpha in PENALTIES:
            for fit_intercept in (True, False):
                ours, theirs = pairs(alpha, fit_intercept)
                ours.set_params(epsilon=np.inf, neighbors=neighbors, **declared(*data))
                if isinstance(alpha, tuple):
                    ours.set_params(n_public=len(data[1]))
                found.append(distance(quiet(ours, *data), theirs.fit(*data)))
    assert np.median(found) <= 1e-9 and max(found) <= 1e-6


@pytest.mark.parametrize("shape", [(10, 5), (5, 12), (20, 20), (30, 100)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_without_noise_tables_of_any_shape_have_ridges_fit(shape, fit_intercept):
    draws = np.random.default_rng(sum(shape))
    rows, y = draws.normal(size=shape), draws.normal(size=shape[0]) + 3.0
    given = declared(rows, y) | {"fit_intercept": fit_intercept}
    for alpha in (1e-3, 0.1, 1.0, 20.0, 150.0):
        exact = Ridge(alpha, fit_intercept=fit_intercept, solver="svd").fit(rows, y)
        assert distance(quiet(DPRidge(epsilon=np.inf, alpha=alpha, **given), rows, y), exact) < 1e-9
    # Of many exact fits, the shortest beside the intercept, as the limit of ridges has it.
    centred = rows - rows.mean(axis=0) if fit_intercept else rows
    least = np.linalg.pinv(centred) @ (y - y.mean() * fit_intercept)
    for alpha in (0.0, 1e-17):
        found = quiet(DPRidge(epsilon=np.inf, alpha=alpha, **given), rows, y)
        np.testing.assert_allclose(found.coef_, least, atol=1e-9)
        assert found.intercept_ == pytest.approx(
            (y - rows @ least).mean() * fit_intercept, abs=1e-9
        )


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("alpha", [None, 1.0, (1.0, 0.1), (0.5, 0.01)])
def test_it_comes_nearer_at_each_larger_epsilon(family, alpha):
    data = FAMILIES[family]
    ours, theirs = pairs(alpha, True)
    theirs.fit(*data)
    found = []
    for epsilon in (1e2, 1e4, 1e6, 1e8):
        ours.set_params(epsilon=epsilon, **declared(*data))
        fits = [ours.set_params(random_state=seed).fit(*data) for seed in range(5)]
        found.append(np.median([distance(fit, theirs) for fit in fits]))
    assert sorted(found, reverse=True) == found and found[-1] < 1e-2 * found[0], found


def test_a_penalty_is_not_ignored_at_a_finite_epsilon():
    lengths = [
        np.linalg.norm(DPRidge(epsilon=4.0, alpha=alpha, **GIVEN).fit(X, Y).coef_)
        for alpha in (0.0, 300.0, 3e4)
    ]
    exact = [np.linalg.norm(Ridge(alpha).fit(X, Y).coef_) for alpha in (1e-9, 300.0, 3e4)]
    np.testing.assert_allclose(lengths, exact, rtol=0.2)


# --------------------------------------------------------------------------------- targets


@pytest.mark.parametrize("Estimator", REGRESSORS)
def test_declared_bounds_are_never_the_datas(Estimator):
    model = Estimator(epsilon=1.0, **GIVEN).fit(X, Y)
    assert model.privacy_.declared["y_bounds"] == [3.0, 17.0]


WRONG = [3.0, "ab", (1.0,), (0.0, 1.0, 2.0), (1.0, 1.0), (2.0, 1.0), (0.0, math.nan)]
WRONG += [(-math.inf, math.inf), (0.0, 1e31), {0.0, 1.0}, [[0.0], [1.0]], ("0", "1"), (False, True)]
WRONG += [(0.0, 10**400), np.zeros((2, 2)), (1.0, 1.0 + 1e-15), (0.0, 1e-40)]


@pytest.mark.parametrize("bounds", WRONG, ids=repr)
def test_wrong_bounds_are_refused_before_data_is_looked_at(bounds):
    for Estimator in (DPRidge, DPLasso):
        with pytest.raises(ValueError, match="y_bounds=") as refusal:
            Estimator(y_bounds=bounds, data_norm=1.0).fit(None, None)
        assert str(refusal.value).endswith(".") and refusal.value.__context__ is None


@pytest.mark.parametrize(
    "bounds", [(0, 1), [np.float32(-3), 5], np.array([-1.0, 1e30]), (-1e-17, 0)]
)
def test_right_bounds_are_taken(bounds):
    DPRidge(y_bounds=bounds, data_norm=1.0)._check_parameters()


@pytest.mark.parametrize("given", [{"alpha": -1.0}, {"alpha": "1"}, {"clip_predictions": "yes"}])
def test_wrong_parameters_are_refused(given):
    with pytest.raises(ValueError, match=f"{next(iter(given))}="):
        DPRidge(**GIVEN, **given).quote(100, 2)


def test_targets_beyond_their_bounds_count_as_cut():
    far = np.where(Y > 12.0, 1e200, Y)
    one, other = (
        DPRidge(epsilon=1.0, **{**GIVEN, "y_bounds": (3.0, 12.0)}).fit(X, y)
        for y in (far, np.minimum(far, 12))
    )
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_predictions_are_cut_unless_asked_for_as_they_are():
    model = DPRidge(epsilon=10.0, **GIVEN).fit(X, Y)
    far = 50.0 * X[:20]
    plain = model.set_params(clip_predictions=False).predict(far)
    cut = model.set_params(clip_predictions=True).predict(far)
    assert plain.max() > 17.0 and cut.max() == 17.0 and cut.min() == 3.0
    np.testing.assert_allclose(plain, far @ model.coef_ + model.intercept_)
    np.testing.assert_array_equal(cut, np.clip(plain, 3.0, 17.0))


def test_units_of_the_target_change_nothing_but_units():
    one = DPRidge(epsilon=1.0, **GIVEN).fit(X, Y)
    scaled = DPRidge(epsilon=1.0, **{**GIVEN, "y_bounds": (-4.0, 24.0)}).fit(X, 2.0 * Y - 10.0)
    np.testing.assert_allclose(scaled.coef_, 2.0 * one.coef_, rtol=1e-9)
    assert scaled.intercept_ == pytest.approx(2.0 * one.intercept_ - 10.0, rel=1e-9)


def test_without_an_intercept_nothing_is_taken_from_targets():
    model = DPLinearRegression(epsilon=np.inf, fit_intercept=False, **GIVEN)
    with pytest.warns(PrivacyWarning, match="NOT private"):
        model.fit(X, Y)
    assert model.intercept_ == 0.0
    np.testing.assert_allclose(
        model.coef_, LinearRegression(fit_intercept=False).fit(X, Y).coef_, rtol=1e-6
    )


def test_several_targets_are_refused_with_what_to_do_instead():
    two = np.column_stack([Y, Y])
    with pytest.raises(ValueError, match="MultiOutputRegressor"):
        DPHuberRegressor(**GIVEN).fit(X, two)
    ledger = Ledger(2.0, 2e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        many = MultiOutputRegressor(
            DPHuberRegressor(epsilon=0.5, delta=1e-7, ledger=ledger, **GIVEN)
        ).fit(X, two)
    assert many.predict(X).shape == two.shape


# --------------------------------------------------------------------------------- as any estimator


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("Estimator", REGRESSORS)
def test_it_is_useful_and_says_what_it_costs(Estimator, neighbors):
    model = Estimator(epsilon=1.0, neighbors=neighbors, n_public=len(Y), **GIVEN)
    if "alpha" in model.get_params():
        model.set_params(alpha=1e-3)
    quote = model.quote(len(Y), X.shape[1])
    receipt = model.fit(X, Y).privacy_
    assert receipt.epsilon <= 1.0 and quote.script == receipt.script
    assert model.score(X, Y) > 0.9
    if Estimator not in (DPMLPRegressor, DPQuantileRegressor, DPLinearSVR):
        assert {"joint_moments", "mapped", "objective_perturbation"} <= set(receipt.proofs)


def test_it_goes_where_scikit_learns_goes():
    pipe = make_pipeline(FunctionTransformer(), DPRidge(epsilon=8.0, **GIVEN))
    assert cross_val_score(pipe, X, Y, cv=3).min() > 0.9
    assert DPRidge(epsilon=8.0, **GIVEN).fit(X.astype(np.float32), Y).score(X, Y) > 0.9
    assert DPRidge(epsilon=8.0, **GIVEN).fit(X.tolist(), list(Y)).coef_.shape == (3,)


def test_auto_is_two_phases_where_it_is_proved_best_and_something_else_elsewhere():
    def chosen(width=3, Estimator=DPRidge, **given):
        return Estimator(**{**GIVEN, **given}).quote(1000, width).solver

    assert chosen().startswith("TwoPhase")
    assert chosen(neighbors="add_remove").startswith("TwoPhase")
    assert chosen(delta=0.0).startswith("ObjectivePerturbation")
    assert chosen(width=1500).startswith("GD")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        assert chosen(ledger=Ledger(2.0, 1e-5)).startswith("TwoPhase")
        assert chosen(ledger=Ledger(2.0, 1e-5, accountant="gdp")).startswith("WhiteGD")


def test_pure_epsilon_has_a_fit():
    model = DPRidge(epsilon=20.0, delta=0.0, **GIVEN).fit(X, Y)
    assert model.privacy_.delta == 0.0 and model.score(X, Y) > 0.9


def test_the_solver_says_what_it_cannot_do():
    with pytest.raises(NotSupported, match="the squared or Huber's loss of a regression"):
        DPLogisticRegression(data_norm=1.0, solver="two-phase").quote(100, 3)


def test_general_solvers_fit_too():
    assert DPRidge(epsilon=50.0, solver=GD(steps=500), **GIVEN).fit(X, Y).score(X, Y) > 0.9
    one, other = (
        DPRidge(epsilon=1.0, solver=solver, **GIVEN).fit(X, Y).coef_
        for solver in (TwoPhase(), TwoPhase(threshold=3.0))
    )
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_no_cell_is_shown(neighbors):
    given = {"epsilon": 1.0, "data_norm": 1.0, "y_bounds": (0.0, 1.0), "neighbors": neighbors}
    target = np.linspace(0.0, 1.0, len(GOOD_X))
    fitted = DPRidge(**given, random_state=0).fit(GOOD_X, target)
    calls = {f"X: {name}": (bad, target) for name, bad in tables()}
    calls |= {f"y: {name}": (GOOD_X, bad) for name, bad in columns()}
    refused = 0
    for name, (rows, y) in calls.items():
        for method in (DPRidge(**given, solver=GD(steps=1)).fit, fitted.score):
            error, words = told(partial(method, rows, y))
            refused += error is not None
            assert not CELLS_SHOWN.search(words), name
            assert neighbors == "replace_one" or not COUNT_SHOWN.search(words), name
            assert error is None or error.__context__ is None, name
    assert refused > 1000


@pytest.mark.parametrize("Estimator", REGRESSORS)
def test_every_parameter_has_a_line_in_the_docstring(Estimator):
    told_of = inspect.getdoc(Estimator)
    for name in inspect.signature(Estimator).parameters:
        assert name in told_of


# --------------------------------------------------------------------------------- zeros


def test_coefficients_that_are_nothing_come_out_as_nothing():
    rng = np.random.default_rng(5)
    rows = rng.uniform(-1.0, 1.0, (16_000, 30)) / math.sqrt(30)
    y = rows[:, :3] @ [4.0, -4.0, 4.0] + 0.2 * rng.normal(size=16_000)
    given = {"y_bounds": (-3.0, 3.0), "data_norm": 1.0, "random_state": 0}
    found = DPLasso(epsilon=0.4, alpha=1e-3, **given).fit(rows, y).coef_
    dense = DPRidge(epsilon=0.4, **given).fit(rows, y).coef_
    assert (found[:3] != 0).all() and (found[3:] == 0).sum() >= 18 and (dense != 0).all()
    truth = np.append([4.0, -4.0, 4.0], np.zeros(27))
    assert np.linalg.norm(found - truth) < np.linalg.norm(dense - truth)


def test_a_mean_of_a_private_number_of_records_needs_a_rough_count():
    with pytest.raises(NotSupported, match=r"alpha=0.1 of DPLasso .* n_public"):
        DPLasso(alpha=0.1, neighbors="add_remove", **GIVEN).quote(None, 3)


def test_no_ratio_is_refused():
    with pytest.raises(ValueError, match="l1_ratio=None"):
        DPElasticNet(l1_ratio=None, **GIVEN).quote(100, 3)


@pytest.mark.parametrize("seed", range(5))
def test_a_sparse_solution_meets_its_conditions(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(6, 8))  # of less than full rank
    curvature, center = root.T @ root, rng.normal(size=8)
    weights = rng.uniform(0.0, 4.0, 8) * (rng.random(8) > 0.2)
    w = sparse_solution(curvature, center, weights)
    pull = curvature @ (center - w)
    assert (np.abs(pull) <= weights + 1e-6).all()
    zero = w == 0.0
    np.testing.assert_allclose(pull[~zero], (weights * np.sign(w))[~zero], atol=1e-6)


# --------------------------------------------------------------------------------- other losses


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("family", FAMILIES)
def test_without_noise_it_is_hubers_fit_at_the_unit_that_scikit_learn_estimates(
    family, fit_intercept
):
    rows, y = FAMILIES[family]
    y = y + 10.0 * (np.random.default_rng(3).random(len(y)) < 0.05)  # some far ones
    given = {"fit_intercept": fit_intercept}
    exact = HuberRegressor(**given, alpha=0.01, tol=1e-13, max_iter=100_000).fit(rows, y)
    ours = DPHuberRegressor(
        epsilon=np.inf,
        alpha=0.01 * exact.scale_,
        threshold=1.35 * exact.scale_,
        **given,
        **declared(rows, y),
    )
    assert distance(quiet(ours, rows, y), exact) < 1e-5  # theirs is as near as its own solver comes


def test_hubers_threshold_is_not_ignored():
    y = Y + np.where(np.arange(len(Y)) % 10 == 0, 5.0, 0.0)
    low, high = (
        DPHuberRegressor(epsilon=8.0, threshold=t, **{**GIVEN, "y_bounds": (3.0, 22.0)})
        .fit(X, y)
        .intercept_
        for t in (0.2, 20.0)
    )
    assert low < 10.2 and high > 10.35


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_quantiles_are_near_scikit_learns_without_noise_and_of_use_with_it(quantile):
    rng = np.random.default_rng(4)
    y = Y + rng.exponential(size=len(Y))
    exact = QuantileRegressor(quantile=quantile, alpha=0.0).fit(X, y)
    given = {**GIVEN, "y_bounds": (3.0, 22.0), "quantile": quantile}
    assert distance(quiet(DPQuantileRegressor(epsilon=np.inf, **given), X, y), exact) < 0.03
    below = (y < DPQuantileRegressor(epsilon=4.0, **given).fit(X, y).predict(X)).mean()
    assert abs(below - quantile) < 0.1


def test_a_penalty_on_quantiles_makes_zeros():
    model = DPQuantileRegressor(epsilon=np.inf, alpha=1.0, **GIVEN)
    assert np.abs(quiet(model, X, Y).coef_).max() < 0.3


@pytest.mark.parametrize(
    ("Estimator", "given"),
    [(DPHuberRegressor, {"threshold": 0.0}), (DPQuantileRegressor, {"quantile": 1.0})],
)
def test_wrong_numbers_of_a_loss_are_refused(Estimator, given):
    with pytest.raises(ValueError, match=f"{next(iter(given))}="):
        Estimator(**GIVEN, **given).quote(100, 2)
