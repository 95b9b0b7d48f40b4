"""What receipts and fits say of the noise in a model, beside how far fits lie apart."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from skdp import DPLinearRegression, DPLinearSVC, DPLogisticRegression
from skdp.mechanisms import Coordinates, Gradient, Mapped, Public
from skdp.privacy import Receipt
from skdp.solvers import WhiteGD, WhiteObjective, _spread
from skdp.solvers._least_squares import denoised
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
    """Scores as the solver leaves them: the figures say nothing of calibration, which multiplies by a noisy slope."""
    usual = {"epsilon": 2.0, "data_norm": BOUND, "classes": [0, 1], "calibrate": False}
    return DPLogisticRegression(**{**usual, **given})


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
    assert np.linalg.norm(found - exact, 2) < 0.04 * np.linalg.norm(exact, 2)
    assert np.linalg.norm(seen.T @ seen / n / 4 - exact, 2) > 0.3 * np.linalg.norm(exact, 2)


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_least_squares_are_told_in_deviations_of_residuals(epsilon):
    y = np.clip(2.0 * SCORES + RNG.normal(size=N), -12.0, 12.0)
    declared = {"data_norm": BOUND, "y_bounds": (-12.0, 12.0)}
    models = [
        DPLinearRegression(epsilon=epsilon, random_state=seed, **declared).fit(X, y)
        for seed in range(40)
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


def rare_table(share):
    """Normal rows whose labels follow log-odds of deviation 2 and of the mean that gives about this share."""
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(20_000, 10))
    score = rows @ rng.normal(size=10)
    score *= 2.0 / score.std()
    y = (rng.logistic(size=len(rows)) < score + _spread._offset(share)).astype(int)
    return rows / (1.2 * np.linalg.norm(rows, axis=1).mean()), y


@pytest.mark.parametrize("solver", ["white-objective", "white-gd"])
@pytest.mark.parametrize("share", [0.07, 0.8])
def test_of_labels_whose_share_is_declared_it_is_known_as_well(share, solver):
    rows, y = rare_table(share)
    model = face(epsilon=1.0, data_norm=1.0, solver=solver)
    scores = np.array(
        [model.set_params(random_state=s).fit(rows, y).decision_function(rows) for s in range(25)]
    )
    moved = typical(scores.std(axis=0, ddof=1))
    assert abs(y.mean() - share) < 0.01
    assert 1 / 1.3 < model.quote(*rows.shape, base_rate=share).standard_error["score"] / moved < 1.3
    if share == 0.07:  # and it must be declared
        assert model.quote(*rows.shape).standard_error["score"] / moved < 0.55


def test_a_declared_share_enters_no_price_and_stands_on_the_quote():
    plain, told = face().quote(N, D), face().quote(N, D, base_rate=0.07)
    assert told.script == plain.script and told.epsilon == plain.epsilon
    assert told.standard_error["base_rate"] == 0.07 and "7 of 100 labels" in str(told)
    assert "base_rate" not in plain.standard_error and "of 100 labels" not in str(plain)
    assert Receipt.from_dict(told.to_dict()) == told
    half = face().quote(N, D, base_rate=0.5).standard_error
    assert {name: half[name] for name in plain.standard_error} == plain.standard_error


@pytest.mark.parametrize("solver", ["white-objective", "white-gd"])
def test_whichever_label_is_the_rare_one(solver):
    one, other = (face(solver=solver).quote(N, D, base_rate=r) for r in (0.03, 0.97))
    assert_allclose(one.standard_error["score"], other.standard_error["score"], rtol=1e-6)


@pytest.mark.parametrize("wrong", [0, 1, -0.1, 1.5, "half", float("nan"), None], ids=str)
def test_a_share_that_is_none_is_refused(wrong):
    if wrong is None:  # not said
        assert face().quote(N, D, base_rate=wrong) == face().quote(N, D)
        return
    with pytest.raises(ValueError, match=r"base_rate=.* between 0 and 1"):
        face().quote(N, D, base_rate=wrong)


@pytest.mark.parametrize(
    "model",
    [
        face(classes=[0, 1, 2]),
        face(classes=[0, 1, 2], multi_class="ovr"),
        DPLinearRegression(y_bounds=(0.0, 1.0), data_norm=BOUND),
        DPLinearSVC(data_norm=BOUND, classes=[0, 1]),
    ],
    ids=str,
)
def test_where_there_are_no_two_log_odds_no_share_is_taken(model):
    with pytest.raises(ValueError, match=r"base_rate=0.1 is for two labels"):
        model.quote(N, D, base_rate=0.1)


@pytest.mark.parametrize("rate", [1e-9, 0.07, 0.5, 0.999])
@pytest.mark.parametrize("solver", ["white-objective", "white-gd"])
def test_the_least_share_and_the_fewest_columns_have_a_figure(rate, solver):
    for given in ({"fit_intercept": False}, {}):
        told = face(solver=solver, **given).quote(N, 1, base_rate=rate).standard_error
        assert 0.0 < told["score"] < np.inf


@pytest.mark.parametrize("clip", [0.4, 10.0])
@pytest.mark.parametrize("ridge", [1e-4, 0.05])
def test_a_nominal_fit_is_that_of_the_clipped_losses(clip, ridge):
    """Of rows of one length beside a table of a million, by its own minimiser."""
    rng = np.random.default_rng(5)
    z = rng.normal(size=1_000_000)
    y = rng.logistic(size=len(z)) < _spread._offset(0.1) + _spread.SIGNAL * z
    question = Gradient(at=np.zeros(2), loss=face()._loss(1), clip=clip, multiplier=1.0)
    asked = Mapped(question=question, coordinates=Coordinates(np.eye(2)), scale=1.0)
    offset, slope = _spread._fitted(0.1, np.full(15, 0.9), asked, ridge)
    p = expit(offset + slope * z)
    pull = np.where(y, -np.minimum(1.0 - p, clip / 0.9), np.minimum(p, clip / 0.9))
    assert abs(pull.mean() + ridge * offset) < 2e-3
    assert abs((pull * z).mean() + ridge * slope) < 2e-3
    assert clip > 1.0 or abs(slope - _spread.SIGNAL) > 0.01


def test_directions_that_indicators_leave_empty_are_seen():
    """A moment with an empty direction and one that is long, as noise hides them: both come out."""
    size, rng = 60, np.random.default_rng(2)
    empty = np.r_[np.ones(20), np.zeros(40)] / np.sqrt(20.0)
    long = np.r_[np.zeros(20), np.ones(40)] / np.sqrt(40.0)
    true = np.eye(size) - np.outer(empty, empty) + 3.0 * np.outer(long, long)
    drawn = rng.normal(size=(size, size))
    noise = 0.03 * (drawn + drawn.T) / np.sqrt(4.0)
    noise[np.diag_indices(size)] = 0.03 * np.diagonal(drawn)
    found = denoised(true + noise, 0.03)
    assert np.linalg.eigvalsh(found)[0] > -1e-12
    assert empty @ found @ empty < 0.1 and abs(long @ found @ long - 4.0) < 0.2
    assert np.linalg.norm(found - true) < 0.5 * np.linalg.norm(noise)
    bulk = denoised(np.eye(size) + 3.0 * noise, 0.09)  # nothing but noise around even directions
    assert np.abs(bulk - np.diag(np.diagonal(bulk))).max() < 1e-12
