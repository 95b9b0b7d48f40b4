"""What receipts and fits say of the noise in a model, beside how far fits lie apart."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from skdp import DPLinearRegression, DPLogisticRegression
from skdp.mechanisms import Coordinates, Gradient, Mapped, Public
from skdp.privacy import Receipt
from skdp.solvers import WhiteGD, WhiteObjective, _spread
from skdp.solvers._spread import Seen, bend_of, wandered
from skdp.solvers.gd import heavy_ball

N, D, FITS = 4_000, 4, 40
RNG = np.random.default_rng(0)
X = (
    RNG.normal(size=(N, D))
    @ np.linalg.cholesky(0.5 ** np.abs(np.subtract.outer(*[range(D)] * 2))).T
)
SCORES = X @ [1.0, -1.0, 0.5, 0.5]
Y = (RNG.logistic(size=N) < 2.0 * SCORES / SCORES.std()).astype(int)
BOUND = 3.5


def face(**given):
    return DPLogisticRegression(2.0, **{"data_norm": BOUND, "classes": [0, 1], **given})


@cache
def fits(solver, neighbors="replace_one"):
    """Coefficients, what is said of them, and scores, of fits that differ by their noise alone."""
    given = {"solver": solver, "neighbors": neighbors, "n_public": N}
    if neighbors == "replace_one":
        given.pop("n_public")
    models = [face(random_state=seed, **given).fit(X, Y) for seed in range(FITS)]
    coef = np.array([model.coef_[0] for model in models])
    told = np.array([model.coef_noise_std_[0] for model in models])
    scores = np.array([model.decision_function(X[:300]) for model in models])
    return coef, told, scores, models[0].privacy_


def typical(values, axis=None):
    return np.sqrt(np.square(values).mean(axis=axis))


CASES = [
    ("white-objective", "replace_one"),
    ("white-gd", "replace_one"),
    ("white-gd", "add_remove"),
]


@pytest.mark.parametrize(("solver", "neighbors"), CASES)
def test_after_a_fit_its_noise_is_known_within_15_percent(solver, neighbors):
    coef, told, _, _ = fits(solver, neighbors)
    ratio = typical(told, 0) / coef.std(axis=0, ddof=1)
    assert 0.85 < typical(told) / typical(coef.std(axis=0, ddof=1)) < 1.15
    assert ratio.min() > 0.75 and ratio.max() < 1.3  # of 40 fits, each is known within an eighth
    assert (np.abs(told / told.mean(axis=0) - 1.0) < 0.5).all()


@pytest.mark.parametrize(("solver", "neighbors"), CASES)
def test_before_a_fit_it_is_known_within_a_factor_of_1_3(solver, neighbors):
    coef, _, scores, receipt = fits(solver, neighbors)
    expected = receipt.standard_error
    assert expected["unit"] == "log-odds"
    beside = 1.0 / np.sqrt(np.diagonal(np.linalg.inv(X.T @ X / N)))
    assert 1 / 1.3 < expected["score"] / typical(scores.std(axis=0, ddof=1)) < 1.3
    assert 1 / 1.3 < expected["coefficient"] / typical(beside * coef.std(axis=0, ddof=1)) < 1.3


def test_without_the_momentum_it_would_be_far_off(monkeypatch):
    _, told, _, _ = fits("white-gd")
    plain = _spread.wandered
    monkeypatch.setattr(
        "skdp.solvers.white_gd.wandered",
        lambda b, r, n, s, m, t: plain(b, r, n, s * (1 - m), 0.0, t),
    )
    wrong = face(solver="white-gd", random_state=0).fit(X, Y).coef_noise_std_[0]
    assert typical(wrong) < 0.5 * typical(told[0])


@pytest.mark.parametrize("momentum", [0.0, 0.8])
def test_the_end_of_a_heavy_ball_varies_as_is_said(momentum):
    rng, noise, steps = np.random.default_rng(1), 0.3, 40
    bends, ridge = np.array([1e-3, 0.1, 0.9, 0.1]), np.array([0.0, 0.0, 0.0, 5.0])

    def gradient(w):
        return bends[:, None] * w + noise * rng.normal(size=w.shape)

    def prox(w, step):
        return w / (1.0 + step * ridge[:, None])

    ends = heavy_ball(gradient, prox, np.zeros((4, 20_000)), steps, 0.3, momentum)
    told = wandered(bends, ridge, noise, 0.3, momentum, steps)
    assert_allclose(ends.var(axis=1), told, rtol=0.04)


@pytest.mark.parametrize("clip", [0.5, 10.0])
def test_the_curvature_is_that_of_the_rows(clip):
    """Of white rows beside a constant column, by their second derivatives one by one."""
    n, size = 20_000, 9
    rows = np.column_stack([RNG.normal(size=(n, size - 1)), np.full(n, 0.25)])
    w = np.array([1.0, 0.5, -1.0, *np.zeros(size - 4), -4.0])
    norms = np.linalg.norm(rows, axis=1)
    scale = float(norms.mean())
    question = Gradient(at=np.zeros(size), loss=face()._loss(1), clip=clip, multiplier=1.0)
    asked = Mapped(question=question, coordinates=Coordinates(np.eye(size)), scale=scale)
    public = Public(n, size - 1, 0.25, "replace_one")
    found = bend_of(Seen(n, rows.T @ rows / n, scale, asked), w, public)
    left, p = np.minimum(1.0, scale / norms), expit(rows @ w)
    seen = rows / scale * left[:, None]
    slope = np.where(RNG.uniform(size=n) < p, 1.0 - p, p)
    curved = left * slope * np.linalg.norm(seen, axis=1) <= clip
    exact = (seen * (p * (1.0 - p) * curved)[:, None]).T @ seen / n
    assert np.linalg.norm(found - exact, 2) < 0.12 * np.linalg.norm(exact, 2)
    assert np.linalg.norm(seen.T @ seen / n / 4 - exact, 2) > 0.3 * np.linalg.norm(exact, 2)


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_least_squares_are_told_in_deviations_of_residuals(epsilon):
    y = np.clip(2.0 * SCORES + RNG.normal(size=N), -12.0, 12.0)
    declared = {"data_norm": BOUND, "y_bounds": (-12.0, 12.0)}
    models = [
        DPLinearRegression(epsilon, random_state=seed, **declared).fit(X, y) for seed in range(40)
    ]
    moved = np.array([model.predict(X[:300]) for model in models]).std(axis=0, ddof=1)
    expected = models[0].privacy_.standard_error
    assert expected["unit"] == "deviations of residuals"
    assert 0.5 < expected["score"] / typical(moved) < 2.0


def test_a_quote_says_it_and_a_receipt_keeps_it():
    quoted = face().quote(N, D)
    assert quoted.standard_error == face(random_state=0).fit(X, Y).privacy_.standard_error
    assert "nominal" in str(quoted) and "log-odds" in str(quoted)
    assert Receipt.from_dict(quoted.to_dict()) == quoted
    more = face().quote(4 * N, D).standard_error
    assert more["score"] < 0.5 * quoted.standard_error["score"]


@pytest.mark.parametrize(
    "given",
    [
        {"solver": "gd"},
        {"solver": "objective-perturbation"},
        {"neighbors": "add_remove"},
        {"class_weight": {0: 1.0, 1: 2.0}},
    ],
    ids=str,
)
def test_where_public_numbers_do_not_tell_nothing_is_said(given):
    quoted = face(**given).quote(N, D)
    assert quoted.standard_error == {} and "nominal" not in str(quoted)


def test_numbers_beyond_all_measure_refuse_nothing():
    for solver in (WhiteGD(steps=10**6), WhiteGD(step_size=1e30), WhiteObjective(strength=1e25)):
        found = face(solver=solver, C=1e-20).quote(N, D).standard_error
        assert found == {} or 0.0 <= found["score"] < np.inf


@pytest.mark.parametrize(
    "given", [{"solver": "gd"}, {"solver": "auto", "class_weight": {0: 1.0, 1: 2.0}}], ids=str
)
def test_where_answers_do_not_tell_there_are_no_numbers(given):
    model = face(random_state=0, **given).fit(X, Y)
    assert model.coef_noise_std_.shape == (1, D) and np.isnan(model.coef_noise_std_).all()


def test_of_several_classes_there_are_none():
    three = np.digitize(SCORES, [-1.0, 1.0])
    model = face(classes=[0, 1, 2], random_state=0).fit(X, three)
    assert np.isnan(model.coef_noise_std_).all() and model.privacy_.standard_error == {}
