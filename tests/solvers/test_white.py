"""Solvers in whitened coordinates: their limit, their budget, what whitening is for, and what it leaves alone."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from solvers.comparing import check_determined_by_seed, distance_to_optimum, problem, quality
from solvers.scripted import RELATIONS, check_budget, model

from skdp import DPLinearSVC, DPLinearSVR, DPQuantileRegressor, NotSupported, PrivacyWarning
from skdp.losses import Huber, Logistic
from skdp.mechanisms import Public
from skdp.penalties import Box, NoPenalty, ScaledPenalty
from skdp.privacy.events import Gaussian
from skdp.solvers import Budget, Task, WhiteGD, WhiteObjective, _whitening
from skdp.solvers._whitening import diagonalising, wholeness

BOTH = ("white-gd", "white-objective")


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("solver", BOTH)
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 8.0])
def test_spends_its_budget(solver, neighbors, epsilon):
    receipt = check_budget(solver, neighbors, epsilon=epsilon)
    assert {"second_moment", "row_norms", "mapped"} <= set(receipt.proofs)


@pytest.mark.parametrize("solver", BOTH)
def test_a_seed_determines_the_result(solver):
    check_determined_by_seed(solver)


@pytest.mark.parametrize("C", [0.02, 1.0, 10.0])
@pytest.mark.parametrize("solver", [WhiteGD(steps=6000, clip=100.0), WhiteObjective(clip=100.0)])
def test_reaches_the_optimum_without_noise(solver, C):
    assert distance_to_optimum(solver, C) < 2e-4


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("solver", BOTH)
def test_learns(solver, neighbors):
    assert quality(solver, 1.0, neighbors=neighbors) > 0.83


def uneven(n=20_000):
    """Labels that depend on what varies least: one long direction of no use, and short ones that tell."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6)) * [1.0, 0.05, 0.05, 0.05, 0.05, 0.05] / 3.0
    X /= np.maximum(np.linalg.norm(X, axis=1), 1.0)[:, None] * (1 + 1e-12)
    return X, (X[:, 1:].sum(axis=1) + 0.01 * rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize("solver", BOTH)
def test_whitening_finds_what_the_longest_direction_hides(solver):
    X, y = uneven()
    scores = [
        np.mean([model(s, 0.3, C=1e3, random_state=k).fit(X, y).score(X, y) for k in range(5)])
        for s in ("gd", solver)
    ]
    assert scores[1] > scores[0] + 0.02


@pytest.mark.parametrize("intercept", [False, True])
def test_coordinates_whiten_and_keep_an_l2_penalty_diagonal(intercept):
    rng = np.random.default_rng(0)
    root = rng.normal(size=(5, 5)) * [1.0, 0.1, 1.0, 0.01, 1.0]
    moment, penalised = root.T @ root + 1e-6 * np.eye(5), np.eye(5)
    penalised[-1, -1] = float(not intercept)
    matrix, stretch = diagonalising(moment, penalised, 1e-9)
    assert stretch == pytest.approx(np.linalg.norm(matrix, 2))
    np.testing.assert_allclose(matrix @ moment @ matrix.T, np.eye(5), atol=1e-9)
    inner = matrix @ penalised @ matrix.T
    np.testing.assert_allclose(inner, np.diag(np.diag(inner)), atol=1e-9 * np.abs(inner).max())


@pytest.mark.parametrize("solver", BOTH)
def test_an_intercept_is_not_penalised(solver):
    X = problem(600)[0]
    y = (X[:, 0] > -0.9).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        settings = {"steps": 6000, "clip": 100.0} if solver == "white-gd" else {"clip": 100.0}
        fitted = model(solver, np.inf, C=1e-3).set_params(
            solver={"white-gd": WhiteGD, "white-objective": WhiteObjective}[solver](**settings)
        )
        fitted.fit(X, y)
    theirs = LogisticRegression(C=1e-3, tol=1e-12, max_iter=10_000).fit(X, y)
    assert abs(theirs.intercept_[0]) > 1.0
    assert fitted.intercept_[0] == pytest.approx(theirs.intercept_[0], abs=1e-3)


def test_what_is_bought_costs_its_share():
    shares = WhiteGD(moment_share=0.3, norm_share=0.1, steps=7)
    receipt = model(shares).quote(2000, 4)
    spent = [(event, count) for event, count in receipt.script if isinstance(event, Gaussian)]
    precision = np.array([count * event.multiplier**-2 for event, count in spent])
    np.testing.assert_allclose(precision / precision.sum(), [0.3, 0.1, 0.6], rtol=1e-9)


def test_prices_do_not_hang_on_a_bought_count():
    small, large = (
        model("white-objective", neighbors="add_remove").quote(n, 4).script for n in (100, 10**6)
    )
    assert small == large


def test_refusals():
    for solver in BOTH:
        with pytest.raises(NotSupported, match="takes penalty='l2' or None, not L1"):
            model(solver, penalty="l1").quote(600, 5)
        with pytest.raises(NotSupported, match="not Box"):
            model(solver, penalty=Box(-1.0, 1.0)).quote(600, 5)
        with pytest.raises(NotSupported, match="a smooth loss"):
            DPLinearSVC(epsilon=1.0, delta=1e-6, solver=solver, loss="hinge", data_norm=1.0).quote(
                600, 5
            )
    with pytest.raises(ValueError, match="leave nothing"):
        model(WhiteGD(moment_share=0.6, norm_share=0.4)).quote(600, 5)
    with pytest.raises(ValueError, match=r"moment_share=0\.0; it must be above 0"):
        model(WhiteObjective(moment_share=0.0)).quote(600, 5)


@pytest.mark.parametrize("solver", BOTH)
def test_svm_learns(solver):
    X, y = problem(20_000, 8)
    fitted = DPLinearSVC(
        epsilon=1.0, delta=1e-6, solver=solver, data_norm=1.0, classes=[0, 1], random_state=0
    )
    assert fitted.fit(X, y).score(X, y) > 0.83


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("solver", BOTH)
def test_extreme_penalties_and_bounds_are_finite(solver, neighbors):
    X, y = problem(200)
    for C in (1e-8, 1e8):
        for data_norm in (1e-8, 1.0, 1e8):
            for epsilon in (1e-3, 20.0):
                fitted = model(solver, epsilon, C=C, data_norm=data_norm, neighbors=neighbors)
                assert np.isfinite(fitted.fit(X, y).coef_).all()


@pytest.mark.parametrize("solver", BOTH)
def test_single_precision_and_tiny_tables(solver):
    X, y = problem(400)
    assert np.isfinite(model(solver).fit(X.astype(np.float32), y).coef_).all()
    for n in (1, 2, 5):
        assert np.isfinite(model(solver).fit(X[:n], y[:n]).coef_).all()
    assert np.isfinite(model(solver).fit(0.0 * X, y).coef_).all()


@pytest.mark.parametrize("intercept", [True, False])
def test_the_last_bit_of_a_moment_turns_no_coordinates(intercept):
    """Directions below the floor are all alike: without a rule for them, rounding would choose among their bases."""
    rng = np.random.default_rng(0)
    values = np.maximum(np.sort(rng.normal(size=30)), 0.0) + 0.05
    basis = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    moment = (basis * values) @ basis.T
    near = moment * (1.0 + 1e-15 * rng.normal(size=moment.shape))
    penalised = np.eye(30)
    if intercept:
        penalised[-1, -1] = 0.0
    found, other = (diagonalising(0.5 * (m + m.T), penalised, 0.05)[0] for m in (moment, near))
    np.testing.assert_allclose(found, other, atol=1e-10)
    np.testing.assert_allclose(found @ moment @ found.T, np.eye(30), atol=1e-10)
    rest = found @ penalised @ found.T
    np.testing.assert_allclose(rest, np.diag(np.diagonal(rest)), atol=1e-9)
    free = np.linalg.eigh(moment)[1], np.linalg.eigh(near)[1]
    assert np.abs(free[0] - free[1]).max() > 0.01, "nothing turns here"


def test_scores_of_cut_rows_are_undone_as_the_noise_falls():
    def whole(loss, n, noise):
        public = Public(n=n, n_features=20, intercept=0.25, neighbors="replace_one")
        task = Task(loss, ScaledPenalty(NoPenalty(), 1.0, True), (21,))
        return wholeness(task, public, Budget(1.0, 1e-6, noise))

    levels = [whole(Logistic(), 10_000, noise) for noise in (1e4, 100.0, 5.0, 0.5, 0.0)]
    assert levels == sorted(levels) and 0.0 < levels[0] < 1e-2 and levels[-1] == 1.0
    assert whole(Logistic(), 10**8, 5.0) > 0.999
    assert whole(Huber(1.0), 10_000, 100.0) == 1.0  # its targets are those of whole rows


@pytest.mark.parametrize("solver", [WhiteGD(), WhiteObjective()], ids=lambda s: s.name)
def test_rare_values_say_more_at_high_noise_where_less_is_undone(solver, monkeypatch):
    rng = np.random.default_rng(0)
    n, rare = 20_000, rng.random((20_000, 12)) < np.geomspace(0.02, 0.3, 12)
    X = rare / np.sqrt(12.0)
    scores = 2.0 * rare @ np.where(np.arange(12) % 2, 1.0, -1.0)
    y = (scores + rng.logistic(size=n) > 0).astype(int)

    def fitted(seed):
        return model(solver, epsilon=0.1, random_state=seed).fit(X, y).decision_function(X)

    def area(z):
        return roc_auc_score(y, z)

    ours = [area(fitted(seed)) for seed in range(5)]
    monkeypatch.setattr(_whitening, "wholeness", lambda *given: 1.0)
    whole = [area(fitted(seed)) for seed in range(5)]
    assert np.mean(ours) > np.mean(whole)


def skewed():
    """Targets that one column moves and that lie near the lower end of their range."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (12_000, 8)) / np.sqrt(8.0)
    return X, np.clip(3.0 + 2.0 * X[:, 0] + rng.exponential(1.0, len(X)), 0.0, 20.0)


@pytest.mark.parametrize(
    ("Estimator", "given"),
    [
        (DPQuantileRegressor, {}),
        (DPQuantileRegressor, {"quantile": 0.1}),
        (DPQuantileRegressor, {"smoothing": 0.2}),
        (DPLinearSVR, {}),
    ],
)
@pytest.mark.parametrize("epsilon", [1.0, 4.0, np.inf])
def test_steps_by_the_noise_reach_what_lies_far_from_the_middle_of_the_range(
    Estimator, given, epsilon
):
    X, y = skewed()
    tau = given.get("quantile", 0.5)
    fit = Estimator(
        epsilon=epsilon, solver="white-gd", data_norm=1.0, y_bounds=(0, 20), random_state=0, **given
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        fit.fit(X[:8000], y[:8000])
    left = y[8000:] - fit.predict(X[8000:])
    of_constant = y[8000:] - np.quantile(y[:8000], tau)
    losses = [np.maximum(tau * r, (tau - 1.0) * r).mean() for r in (left, of_constant)]
    assert losses[0] < 0.95 * losses[1]
