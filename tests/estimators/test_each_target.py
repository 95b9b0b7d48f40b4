"""Several targets whose penalties differ: each fit is priced as it is, and is that of its target alone."""

import math
import warnings

import numpy as np
import pytest
from laws.vaults import RELATIONS
from sklearn.linear_model import ElasticNet, Lasso, Ridge

from skdp import DPElasticNet, DPLasso, DPLinearRegression, DPRidge, NotSupported, PrivacyWarning
from skdp.audit import adversarial_pairs, fitted, replay
from skdp.exceptions import OffScript
from skdp.fitting.plan import Plan
from skdp.model_selection import DPGridSearchCV
from skdp.privacy import Ledger, epsilon
from skdp.solvers import GD

rng = np.random.default_rng(3)
N = 4000
X = rng.uniform(-1.0, 1.0, (N, 4))
TRUE = np.array([[3.0, -2.0, 1.0, 0.0], [3e5, 0.0, 0.0, -1e5], [0.0, 0.02, 0.0, 0.01]])
Y = X @ TRUE.T + [10.0, -1e6, 0.0]
Y += 0.1 * rng.normal(size=Y.shape) * [1.0, 1e5, 0.01]
BOUNDS = [(3.0, 17.0), (-2e6, 0.0), (-0.1, 0.1)]
GIVEN = {"data_norm": 2.0, "random_state": 0}
ALPHAS = [0.0, 30.0, 3000.0]
WITH_ZEROS = {
    "lasso": (DPLasso(alpha=2e-3), lambda alpha, **more: Lasso(alpha=alpha, **more)),
    "both": (
        DPElasticNet(alpha=2e-3, l1_ratio=0.7),
        lambda alpha, **more: ElasticNet(alpha=alpha, l1_ratio=0.7, **more),
    ),
}


def quiet(model, *data, **more):
    """A fit whose lack of privacy is known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return model.fit(*data, **more)


# --------------------------------------------------------------------------------- without noise


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_without_noise_it_is_scikit_learns_ridge_with_a_strength_for_each_target(
    fit_intercept, neighbors
):
    weights = rng.integers(1, 4, N).astype(float)
    theirs = Ridge(alpha=ALPHAS, fit_intercept=fit_intercept)
    theirs.fit(X, Y, sample_weight=weights)
    for alpha in (ALPHAS, tuple(ALPHAS), np.array(ALPHAS)):
        ours = DPRidge(
            epsilon=math.inf, alpha=alpha, fit_intercept=fit_intercept, neighbors=neighbors
        )
        ours.set_params(y_bounds=BOUNDS, max_sample_weight=3.0, **GIVEN)
        quiet(ours, X, Y, sample_weight=weights)
        for row, exact in zip(ours.coef_, theirs.coef_):
            np.testing.assert_allclose(row, exact, rtol=1e-6, atol=1e-8 * np.abs(exact).max())
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("solver", ["auto", "objective-perturbation", "white-objective"])
def test_one_strength_for_each_of_three_is_three_fits_by_themselves(solver):
    given = {"solver": solver, **GIVEN}
    model = quiet(DPRidge(epsilon=math.inf, alpha=ALPHAS, y_bounds=BOUNDS, **given), X, Y)
    for code, (alpha, bounds) in enumerate(zip(ALPHAS, BOUNDS)):
        alone = quiet(
            DPRidge(epsilon=math.inf, alpha=alpha, y_bounds=bounds, **given), X, Y[:, code]
        )
        np.testing.assert_allclose(model.coef_[code], alone.coef_, rtol=1e-9)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("name", WITH_ZEROS)
def test_without_noise_it_is_scikit_learns_fit_of_all_targets(name, positive):
    """In units of the targets an L1 norm is of each one's own strength: 2 % of the slopes."""
    ours, theirs = WITH_ZEROS[name]
    unit = np.array([1.0, 1e5, 0.01])
    ours = ours.set_params(epsilon=math.inf, y_bounds=BOUNDS, positive=positive, **GIVEN)
    for targets, bounds in (
        (Y, BOUNDS),
        (Y / unit, [np.divide(b, u) for b, u in zip(BOUNDS, unit)]),
    ):
        quiet(ours.set_params(y_bounds=[tuple(map(float, b)) for b in bounds]), X, targets)
        exact = theirs(2e-3, positive=positive, tol=1e-14, max_iter=100_000).fit(X, targets)
        for row, other, least in zip(ours.coef_, exact.coef_, np.abs(targets).max(axis=0)):
            np.testing.assert_allclose(row, other, rtol=1e-6, atol=1e-8 * least)
            assert (row == 0.0).tolist() == (other == 0.0).tolist()
        np.testing.assert_allclose(ours.intercept_, exact.intercept_, rtol=1e-6, atol=1e-6)
        assert ours.sparse_coef_.toarray().shape == exact.sparse_coef_.shape == (3, 4)
        assert (ours.sparse_coef_.toarray() == ours.coef_).all()


@pytest.mark.parametrize("name", WITH_ZEROS)
def test_a_table_of_one_target_has_scikit_learns_shapes(name):
    ours, theirs = WITH_ZEROS[name]
    ours.set_params(epsilon=4.0, y_bounds=BOUNDS[0], positive=False, **GIVEN)
    for y in (Y[:, 0], Y[:, :1]):
        exact, found = theirs(2e-3).fit(X, y), ours.fit(X, y)
        for attribute in ("coef_", "intercept_"):
            assert np.shape(getattr(found, attribute)) == np.shape(getattr(exact, attribute))
        assert found.predict(X).shape == exact.predict(X).shape


# --------------------------------------------------------------------------------- the price


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("solver", ["auto", "gd", "white-objective", "objective-perturbation"])
def test_each_is_priced_as_it_is(solver, neighbors):
    """Of a perturbed objective the price depends on the strength."""
    given = {"y_bounds": BOUNDS, "neighbors": neighbors, "n_public": N, "solver": solver, **GIVEN}
    model = DPRidge(epsilon=2.0, alpha=ALPHAS, **given)
    receipt = model.fit(X, Y).privacy_
    assert receipt.script == model.quote(N, 4).script
    spent = epsilon(receipt.script, receipt.delta, neighbors=neighbors)
    assert spent <= 2.0 * (1 + 1e-9) and spent == pytest.approx(2.0, rel=1e-3)
    if solver == "objective-perturbation":
        assert len(receipt.script) == 3 and {count for _, count in receipt.script} == {1}
    assert model.score(X, Y) > 0.5
    steeper = DPRidge(epsilon=2.0, alpha=[0.0, 30.0, 1e7], **given).fit(X, Y)
    assert np.abs(steeper.coef_[2]).max() < 0.25 * TRUE[2].max()
    assert np.abs(steeper.coef_[0] - TRUE[0]).max() < 0.5
    ledger = Ledger(2.0, 1e-6, neighbors)
    model.set_params(ledger=ledger, random_state=None).fit(X, Y)
    assert len(ledger) == 1 and 0.0 < ledger.spent <= 2.0


def test_one_that_is_priced_for_all_is_refused(monkeypatch):
    """The account holds every fit to its own script, whatever the plan says."""
    given = {"y_bounds": BOUNDS, "solver": "objective-perturbation", **GIVEN}
    model = DPRidge(epsilon=2.0, alpha=[0.0, 40.0, 4000.0], **given)  # that no test has priced
    monkeypatch.setattr(Plan, "tasks", lambda plan: [(plan.task, plan.fits)])
    with pytest.raises(OffScript, match="asked where the script has"):
        model.fit(X, Y)


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("name", WITH_ZEROS)
def test_lassos_of_all_targets_are_one_price_and_one_charge(name, neighbors):
    model = WITH_ZEROS[name][0].set_params(epsilon=4.0, positive=False, y_bounds=BOUNDS, **GIVEN)
    model.set_params(neighbors=neighbors, n_public=N)
    receipt = model.fit(X, Y).privacy_
    assert receipt.script == model.quote(N, 4).script and receipt.declared["n_targets"] == 3
    assert epsilon(receipt.script, 1e-6, neighbors=neighbors) <= 4.0 * (1 + 1e-9)
    assert model.score(X, Y) > 0.9 and (model.coef_[TRUE == 0.0] == 0.0).mean() > 0.7
    model.set_params(neighbors="replace_one", n_public=None)


def test_a_quote_knows_how_many_targets_have_a_strength():
    given = {"y_bounds": BOUNDS[0], **GIVEN}
    several = DPRidge(epsilon=2.0, alpha=[1.0, 2.0], **given).quote(N, 4)
    one = DPRidge(epsilon=2.0, alpha=[1.0], **given).quote(N, 4)
    fits = [sum(count for _, count in receipt.script) for receipt in (several, one)]
    assert fits[0] == 2 * fits[1]
    assert one.script == DPRidge(epsilon=2.0, **given).quote(N, 4).script


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_with_bounds_that_are_bought(neighbors):
    given = {"alpha": [1.0, 1e7, 1.0], "neighbors": neighbors, "n_public": N, "random_state": 0}
    for more in ({}, {"data_norm": 2.0}, {"y_bounds": BOUNDS}):
        model = DPRidge(epsilon=8.0, **given, **more).fit(X, Y)
        assert model.privacy_.script == model.quote(N, 4).script or more == {}
        assert model.score(X[:, :], Y) > 0.5
        assert np.abs(model.coef_[1]).max() < 0.01 * np.abs(Y[:, 1]).max()

    lasso = DPLasso(epsilon=8.0, random_state=0, alpha=[1e-4, 1e7, 1e-4], data_norm=2.0)
    lasso.set_params(neighbors=neighbors, n_public=N).fit(X, Y)
    assert lasso.y_bounds_.shape == (Y.shape[1], 2)
    assert (lasso.coef_[1] == 0.0).all() and (lasso.coef_[[0, 2]] != 0.0).any()


# --------------------------------------------------------------------------------- refused

WRONG = {
    "two for three": ({"alpha": [1.0, 2.0]}, Y, "penalties do not correspond: 2 != 3"),
    "three for one": ({"alpha": ALPHAS, "y_bounds": BOUNDS[0]}, Y[:, 0], "correspond: 3 != 1"),
    "three for two": ({"alpha": ALPHAS, "y_bounds": BOUNDS[0]}, Y[:, :2], "correspond: 3 != 2"),
    "bounds of two": ({"alpha": ALPHAS, "y_bounds": BOUNDS[:2]}, Y, "correspond: 3 != 2"),
    "below 0": ({"alpha": [1.0, -1.0, 1.0]}, Y, "alpha=<list> must be 0"),
    "none": ({"alpha": []}, Y, "alpha=<list> must be 0"),
    "a table": ({"alpha": np.ones((3, 1))}, Y, "alpha=<ndarray> must be 0"),
    "text": ({"alpha": ["1", "2", "3"]}, Y, "list of such numbers for several targets"),
    "missing": ({"alpha": [1.0, math.nan, 1.0]}, Y, "alpha=<list> must be 0"),
}


@pytest.mark.parametrize("Estimator", [DPRidge, DPLasso, DPElasticNet])
@pytest.mark.parametrize(("given", "y", "told"), WRONG.values(), ids=[*WRONG])
def test_what_is_wrong_is_told_before_anything_is_paid(given, y, told, Estimator):
    ledger = Ledger(4.0, 1e-5)
    with pytest.raises(ValueError, match=told) as refusal:
        Estimator(ledger=ledger, data_norm=2.0, **{"y_bounds": BOUNDS, **given}).fit(X, y)
    assert str(refusal.value).endswith(".") and refusal.value.__context__ is None
    assert ledger.spent == 0.0


def test_who_scores_one_target_takes_one_strength():
    for grid in ({"alpha": [[1.0, 2.0], [3.0, 4.0]]}, {"alpha": [1.0, [1.0, 2.0]]}):
        search = DPGridSearchCV(DPRidge(data_norm=2.0, y_bounds=BOUNDS[0]), grid, epsilon=1.0)
        with pytest.raises(NotSupported, match="give one number"):
            search.fit(X, Y[:, 0])


def test_no_strength_is_none_for_all():
    model = DPLinearRegression(epsilon=4.0, y_bounds=BOUNDS, **GIVEN).fit(X, Y)
    assert model.quote(N, 4).script == model.privacy_.script


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("Estimator", [DPRidge, DPLasso])
def test_nothing_but_the_answers_tells_of_a_record(Estimator, relation):
    bounds = [(-2.0, 2.0), (-30.0, 5.0)]
    model = Estimator(epsilon=1.0, alpha=[0.0, 0.3], y_bounds=bounds, data_norm=2.0, n_public=60)
    model.set_params(solver=GD(steps=3), neighbors=relation)
    replays = []
    for k, pair in enumerate([*adversarial_pairs(relation, 60, 3)][::5]):
        several = [
            (rows, np.column_stack([np.sign(y), 1e9 * np.asarray(y, dtype=float)]))
            for rows, y in (pair.first, pair.second)
        ]
        pair = type(pair)(**{**vars(pair), "first": several[0], "second": several[1]})
        replays.append(replay(fitted(model), pair, k))
    assert [found.findings for found in replays if found.findings] == []
    assert len(replays) > 5 and max(found.moved for found in replays) > 0.2
