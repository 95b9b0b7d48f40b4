"""The inner optimiser meets its certificate, on every kind of objective that a mechanism hands it."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from laws.row_laws import left_of, stored_fractions
from sklearn.linear_model import LogisticRegression

from skdp.exceptions import NotSupported
from skdp.losses import ClippedLogistic, Huber, HuberisedHinge, Logistic, Multinomial
from skdp.mechanisms import _minimise
from skdp.mechanisms._limits import Limits
from skdp.mechanisms._minimise import beginning
from skdp.mechanisms._minimise import minimise as certified
from skdp.mechanisms._objective import Objective
from skdp.mechanisms._public import Public
from skdp.mechanisms._rows import DenseRows
from skdp.penalties import L1, ElasticNet, L1Ball, L2Ball, ScaledPenalty

TOLERANCE = 1e-8


def problem(n=400, d=7, loss=None, strength=2.0, clip=None, noise=3.0, seed=0, dtype=float):
    loss = loss or Logistic()
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).astype(dtype)
    rows = DenseRows.bounded(X, 2.0, 0.25).in_double()
    outputs = loss.outputs
    if outputs > 1:
        y = rng.integers(0, outputs, n)
    elif loss.kind == "regression":
        y = rng.uniform(-1, 1, n)
    else:
        y = rng.choice([-1.0, 1.0], n)
    shape = (d + 1,) if outputs == 1 else (d + 1, outputs)
    return Objective(rows, y, loss, strength, noise * rng.standard_normal(shape), clip)


def limits_of(objective):
    """The objective in public numbers, as a mechanism would state them."""
    rows, loss = objective.rows, objective.loss
    size = rows.width - (rows.intercept > 0)
    target = 1.0 if loss.kind != "multiclass" else float(loss.outputs)
    public = Public(len(rows), size, rows.intercept, "replace_one", target)
    own = np.inf if loss.slope is None else loss.slope * public.row_bound
    bound = own if objective.clip is None else min(own, objective.clip)
    least, most = np.min(objective.strength), np.max(objective.strength)
    linear = np.linalg.norm(objective.linear)
    return Limits(public, loss, bound, float(least), float(most), float(linear))


def minimise(objective, tolerance, penalty=None):
    limits = replace(limits_of(objective), split=penalty is not None)
    return certified(objective, limits, tolerance, penalty)


def explicit_gradient(objective, w):
    """Record by record, in extended precision, with each gradient clipped as a vector."""
    total = np.asarray(objective.linear + objective.strength * w, dtype=np.longdouble)
    dense = np.eye(objective.rows.width)
    rows = np.column_stack([objective.rows.dot(e) for e in dense])
    for x, y, left in zip(rows, objective.y, left_of(objective.rows)):
        slope = left * objective.loss.dz(np.array([x @ w / left]), np.array([y]))[0]
        if isinstance(objective.loss, Huber):  # whose targets are scaled with their rows
            slope = objective.loss.dz(np.array([x @ w]), np.array([left * y]))[0]
        gradient = np.multiply.outer(x, slope)
        norm = np.linalg.norm(gradient)
        if objective.clip is not None and norm > objective.clip:
            gradient = gradient * (objective.clip / norm)
        total = total + gradient
    return total.astype(float)


CASES = {
    "logistic": dict(),
    "logistic capped": dict(clip=0.3),
    "hinge capped": dict(loss=HuberisedHinge(0.5), clip=0.4),
    "clipped logistic": dict(loss=ClippedLogistic(0.4)),
    "huber": dict(loss=Huber(0.5)),
    "multinomial": dict(loss=Multinomial(4)),
    "hardly convex": dict(strength=1e-6, noise=1e-3),
    "all noise": dict(noise=1e4),
    "float32 rows": dict(dtype=np.float32),
    "one row": dict(n=1),
    "coordinates differ": dict(strength=np.array([1.0] * 7 + [30.0])),
}


@pytest.mark.parametrize("case", CASES)
def test_certificate_holds_when_recomputed_record_by_record(case):
    objective = problem(**CASES[case])
    w = minimise(objective, TOLERANCE)
    assert np.linalg.norm(explicit_gradient(objective, w)) <= TOLERANCE * 1.01


@pytest.mark.parametrize("case", ["logistic capped", "multinomial", "logistic"])
def test_implicit_curvature_meets_the_same_certificate(case, monkeypatch):
    monkeypatch.setattr("skdp.mechanisms._objective.DENSE_WIDTH", 3)
    objective = problem(**CASES[case])
    w = minimise(objective, TOLERANCE)
    assert np.linalg.norm(explicit_gradient(objective, w)) <= TOLERANCE * 1.01


def test_agrees_with_scikit_learn_where_there_is_no_noise():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((500, 6)), rng.choice([-1.0, 1.0], 500)
    rows = DenseRows.bounded(X, 100.0, 0.0).in_double()
    w = minimise(Objective(rows, y, Logistic(), 0.5, np.zeros(6)), 1e-10)
    theirs = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-12, max_iter=1000)
    theirs.fit(rows.dot(np.eye(6)), y)
    np.testing.assert_allclose(w, theirs.coef_[0], atol=1e-7)


@pytest.mark.parametrize(
    "penalty",
    [L1(5.0), L1(1e3), ElasticNet(4.0, 0.5), L2Ball(0.2), L1Ball(0.3)],
    ids=lambda p: type(p).__name__,
)
@pytest.mark.parametrize("case", ["logistic", "hinge capped", "multinomial"])
def test_composite_minimiser_is_a_fixed_point_of_a_prox_step(penalty, case):
    objective, placed = problem(**CASES[case]), ScaledPenalty(penalty)
    w = minimise(objective, TOLERANCE, placed)
    step = 1e-3
    moved = placed.prox(w - step * explicit_gradient(objective, w), step)
    assert np.linalg.norm(moved - w) <= 3 * step * TOLERANCE + 1e-14


def test_l1_sets_coefficients_to_zero_and_leaves_the_intercept():
    w = minimise(problem(), TOLERANCE, ScaledPenalty(L1(1e3)))
    assert (w[:-1] == 0).all() and w[-1] != 0


def test_a_wrong_gradient_does_not_pass():
    """The twin forgets the cap: the explicit certificate rejects it."""
    capped, uncapped = problem(clip=0.3), problem(clip=None)
    w = minimise(uncapped, TOLERANCE)
    assert np.linalg.norm(explicit_gradient(capped, w)) > 1


def test_careful_gradient_is_the_gradient():
    objective = problem(n=9000, clip=0.3)
    w = np.linspace(-1, 1, 8)
    plain = objective.gradient(w, objective.slopes(objective.rows.dot(w)))
    np.testing.assert_allclose(objective.careful_gradient(w), plain, rtol=1e-11)


def test_float32_rows_stay_within_the_bound_once_doubled():
    rng = np.random.default_rng(5)
    X = (rng.standard_normal((5000, 9)) * 10).astype(np.float32)
    rows = DenseRows.bounded(X, 1.0, 0.25).in_double()
    entries = rows.dot(np.eye(10))
    assert entries.dtype == np.float64
    assert np.linalg.norm(entries, axis=1).max() <= np.hypot(1.0, 0.25)


def private(n_public=None):
    return Public(n=n_public, n_features=5, intercept=0.25, neighbors="add_remove")


def test_tolerance_reads_public_numbers_and_not_n_where_n_is_private():
    known = Public(n=40_000, n_features=5, intercept=0.25, neighbors="replace_one")
    assert Limits(known, Logistic(), 1.0, 50.0, 50.0).tolerance() == pytest.approx(5e-8, rel=0.02)
    hidden = Limits(private(), Logistic(), 2.0, 5000.0, 5000.0).tolerance()
    assert hidden >= 2.02e-6 and hidden == Limits(private(), Logistic(), 2.0, 5e3, 5e3).tolerance()


def test_tolerance_can_be_met_by_many_records():
    objective = problem(n=300_000, d=3, strength=0.1)
    limits = limits_of(objective)
    w = minimise(objective, limits.tolerance())
    assert np.linalg.norm(objective.careful_gradient(w)) <= limits.tolerance()


@pytest.mark.parametrize("loss, strength", [(HuberisedHinge(1e-12), 1.0), (Logistic(), 1e-16)])
def test_what_double_precision_cannot_certify_is_refused_by_public_numbers(loss, strength):
    public = Public(n=50_000, n_features=5, intercept=0.25, neighbors="replace_one")
    with pytest.raises(NotSupported, match="double precision"):
        Limits(public, loss, 1.0, strength, strength).tolerance()
    Limits(public, HuberisedHinge(1e-3), 1.0, 1.0, 1.0).tolerance()


@pytest.mark.parametrize("sharp", [0.0, 1e9])
def test_bounds_on_rounding_hold_against_exact_rationals(sharp):
    """Scores that cancel at large parameters, and slopes that turn within a thousandth of a score."""
    rng = np.random.default_rng(2)
    objective = problem(n=60, d=7, loss=HuberisedHinge(1e-3), noise=0.1)
    limits = limits_of(objective)
    for scale in (1e-3, 1.0, 1e4):
        w = rng.standard_normal(8) * scale + sharp * np.array([1.0, -1, 0, 0, 0, 0, 0, 0])
        exact = exact_gradient(objective, w)
        size, pull = np.linalg.norm(w), objective.pull(w)
        slopes = objective.slopes(objective.rows.dot(w))
        bound = limits.quick(objective.rows, slopes, w, pull)
        assert distance(objective.gradient(w, slopes), exact) <= bound
        assert distance(objective.careful_gradient(w), exact) <= limits.careful(size, pull)


def distance(computed, exact):
    return math.sqrt(sum(float(Fraction(float(a)) - b) ** 2 for a, b in zip(computed, exact)))


def exact_gradient(objective, w):
    """In rationals, of a loss whose slope is made of sums, products and comparisons."""
    rows, h, strength = objective.rows, Fraction(objective.loss.h), Fraction(objective.strength)
    w = [Fraction(v) for v in w.tolist()]
    total = [Fraction(b) + strength * v for b, v in zip(objective.linear.tolist(), w)]
    left = [Fraction(s) for s in left_of(rows).tolist()]
    for row, y, s in zip(stored_fractions(rows), objective.y.tolist(), left):
        margin = Fraction(y) * sum(a * v for a, v in zip(row, w)) / s
        slope = Fraction(y) * s * min(max((margin - 1 - h) / (2 * h), Fraction(-1)), Fraction(0))
        total = [t + slope * a for t, a in zip(total, row)]
    return total


class TestBeginnings:
    """Some of the records say where to begin; where that is changes nothing that is promised."""

    def test_many_records_begin_near_the_end(self):
        objective = problem(n=40_000, d=60, strength=50.0)
        told = objective.rows.dot(np.linspace(-1.0, 1.0, 61)) > 0.0
        objective = replace(objective, y=np.where(told, 1.0, -1.0))
        limits = limits_of(objective)
        begun = np.linalg.norm(explicit_gradient(objective, beginning(objective, limits)))
        assert begun < 0.1 * np.linalg.norm(explicit_gradient(objective, np.zeros(61)))
        w = certified(objective, limits, TOLERANCE)
        assert np.linalg.norm(explicit_gradient(objective, w)) <= TOLERANCE

    def test_few_records_columns_or_several_scores_begin_at_zero(self):
        for given in (
            {"n": 4000, "d": 60},
            {"n": 40_000},
            {"n": 40_000, "d": 60, "loss": Multinomial(3)},
        ):
            objective = problem(**given)
            assert not beginning(objective, limits_of(objective)).any()

    @pytest.mark.parametrize("wild", [1e100, np.nan, 3.0])
    def test_a_beginning_that_leads_nowhere_only_delays(self, wild, monkeypatch):
        objective = problem(n=33_000, d=60, strength=50.0)
        limits = limits_of(objective)
        monkeypatch.setattr(_minimise, "_descended", lambda some, w: w + wild)
        start = beginning(objective, limits)
        assert np.linalg.norm(start) <= limits.furthest()
        w = certified(objective, limits, TOLERANCE)
        assert np.linalg.norm(explicit_gradient(objective, w)) <= TOLERANCE

    def test_a_direction_that_leads_upwards_ends_the_guess(self, monkeypatch):
        objective = problem(n=33_000, d=60, strength=50.0)
        monkeypatch.setattr(Objective, "direction", lambda self, w, z, g, accuracy: -g)
        assert not beginning(objective, limits_of(objective)).any()

    def test_a_guess_takes_a_few_rounds_at_most(self, monkeypatch):
        objective = problem(n=40_000, d=60, strength=50.0)
        limits, far = limits_of(objective), np.zeros(61)
        monkeypatch.setattr(_minimise, "ROUNDS", 0)
        assert not beginning(objective, limits).any()
        monkeypatch.setattr(_minimise, "ROUNDS", 1)
        some = _minimise.some_of(objective, 4096)
        once = np.linalg.norm(explicit_gradient(some, beginning(objective, limits)))
        assert once < 0.5 * np.linalg.norm(explicit_gradient(some, far))

    def test_shares_go_with_their_records(self):
        objective = replace(problem(n=40_000, d=60), share=np.linspace(0.0, 1.0, 40_000))
        some = _minimise.some_of(objective, 4096)
        index = np.round(some.share * 39_999).astype(int)
        assert (some.y == objective.y[index]).all() and len(index) >= 4096
