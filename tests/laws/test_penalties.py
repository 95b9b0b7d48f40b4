"""Every registered penalty under every law, alone and placed beside an intercept."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from laws.examples import never_asked
from penalty_laws import EXAMPLES, LAWS, PLACED, coefficients, objective

from skdp.penalties import (
    L1,
    L2,
    MCP,
    PENALTIES,
    SCAD,
    Box,
    ElasticNet,
    GroupLasso,
    L1Ball,
    L2Ball,
    NoPenalty,
    Nuclear,
    ScaledPenalty,
    SpectralBalls,
    make,
)


def test_the_laws_ask_every_registered_penalty():
    assert never_asked(PENALTIES.values(), EXAMPLES) == []


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("penalty", EXAMPLES + PLACED, ids=repr)
def test_law(penalty, law):
    law(penalty)


@pytest.mark.parametrize("penalty", EXAMPLES + PLACED, ids=repr)
def test_is_a_value(penalty):
    """Equal, hashable and the same after a pickle."""
    copy = pickle.loads(pickle.dumps(penalty))
    assert copy == penalty
    assert hash(copy) == hash(penalty)


@pytest.mark.parametrize(
    "penalty, rho, v, z",
    [
        (SCAD(), 1.0, 2.0, 1.0),
        (SCAD(), 1.0, 3.2, 2.905882),
        (SCAD(), 2.0, 1.3, 0.8),
        (MCP(), 1.0, 2.0, 1.5),
        (MCP(), 1.0, 3.2, 3.2),
        (MCP(), 2.0, 1.3, 0.96),
    ],
)
def test_prox_of_known_points(penalty, rho, v, z):
    for sign in (1.0, -1.0):
        prox = penalty.prox(np.array([sign * v]), 1.0 / rho)
        np.testing.assert_allclose(prox, sign * z, atol=5e-7)


@pytest.mark.parametrize("penalty", [SCAD(a=3.7), MCP(gamma=3.0)], ids=repr)
def test_rho_of_the_papers_is_refused(penalty):
    """rho = .25, at which the printed formula is not the minimiser."""
    with pytest.raises(ValueError, match="got 4"):
        penalty.prox(np.ones(3), 1.0 / 0.25)


@pytest.mark.parametrize(
    "penalty, v, rival, excess",
    [(SCAD(a=3.7), 5.0, 5.0, 0.65), (MCP(gamma=3.0), 3.001, 0.0, 1.5 - 3.001**2 / 8)],
    ids=["scad", "mcp"],
)
def test_refusal_has_a_reason(penalty, v, rival, excess, monkeypatch):
    """Without the check, the answer at rho = .25 loses to a rival that is easily named."""
    monkeypatch.setattr(type(penalty), "check_step", lambda self, step: None)
    w = np.array([v])
    answer = objective(penalty, penalty.prox(w, 4.0), w, 4.0)
    assert answer - objective(penalty, np.array([rival]), w, 4.0) == pytest.approx(excess)


@pytest.mark.parametrize("penalty", [SCAD(weight=3.0), MCP(gamma=2.0)], ids=repr)
def test_largest_step_is_where_bending_outruns_the_square(penalty):
    top = penalty.largest_step
    assert np.isfinite(penalty.prox(np.ones(2), top * (1 - 1e-9))).all()
    assert np.array_equal(penalty.prox(np.ones(2), 0.0), np.ones(2))
    for step in (top, 2 * top, -1.0, np.nan):
        with pytest.raises(ValueError, match=r"take a smaller step"):
            penalty.prox(np.ones(2), step)


@pytest.mark.parametrize("kind", [SCAD, MCP])
def test_weight_is_the_textbook_penalty_of_a_mean(kind):
    """weight=n, strength=n lambda is n times the penalty of lambda."""
    w = np.linspace(-3, 3, 41)
    summed, mean = kind(strength=50 * 0.4, weight=50.0), kind(strength=0.4)
    assert summed.value(w) == pytest.approx(50 * mean.value(w))
    np.testing.assert_allclose(summed.prox(w, 0.6 / 50), mean.prox(w, 0.6))


def test_nonconvex_penalties_spare_large_coefficients():
    w = np.array([9.0])
    for penalty in (SCAD(), MCP()):
        assert penalty.prox(w, 1.0) == w
        assert penalty.value(w) == penalty.value(2 * w)


class TestMoreau:
    """w - prox of a norm is the projection on the ball of its dual norm."""

    w = np.random.default_rng(0).normal(size=(40, 6)) * 2

    def test_l1(self):
        for w in self.w:
            rest = w - L1(0.8).prox(w, 1.5)
            np.testing.assert_allclose(rest, Box(-1.2, 1.2).prox(w, 1.0), atol=1e-14)

    def test_group(self):
        for w in self.w:
            rest = w - GroupLasso(0.8, (0,) * 6).prox(w, 1.5)
            np.testing.assert_allclose(rest, L2Ball(1.2).prox(w, 1.0), atol=1e-14)

    def test_nuclear_of_a_diagonal_is_l1(self):
        for w in self.w:
            shrunk = Nuclear(0.8).prox(np.diag(w), 1.5)
            np.testing.assert_allclose(shrunk, np.diag(L1(0.8).prox(w, 1.5)), atol=1e-12)


def test_l1_ball_agrees_with_bisection():
    for w in np.random.default_rng(1).normal(size=(50, 30)):
        low, high = 0.0, np.abs(w).max()
        for _ in range(100):
            level = (low + high) / 2
            inside = np.maximum(np.abs(w) - level, 0).sum() < 2.0
            low, high = (low, level) if inside else (level, high)
        np.testing.assert_allclose(L1Ball(2.0).prox(w, 1.0), L1(level).prox(w, 1.0), atol=1e-12)


finite = st.floats(-1e6, 1e6)
vectors = arrays(np.float64, st.integers(1, 12), elements=finite)


@given(vectors, st.floats(1e-3, 1e3))
def test_projections_land_in_their_set(w, radius):
    for ball in (L1Ball(radius), L2Ball(radius), Box(-radius, radius)):
        u = ball.prox(w, 1.0)
        assert ball.value(u) == 0.0
        # the obtuse angle with the vertex that sees it best characterises a projection
        gap = ((w - u) * (ball.vertex(u - w) - u)).sum()
        assert gap <= 1e-7 * (1.0 + np.abs(w).max() ** 2)


@given(vectors, st.floats(0, 1e3), st.floats(1e-3, 10))
def test_lasso_shrinks_and_keeps_signs(w, strength, step):
    u = L1(strength).prox(w, step)
    assert (u * w >= 0).all()
    assert (np.abs(u) <= np.abs(w)).all()
    assert (u[np.abs(w) <= step * strength] == 0).all()


@given(vectors, st.floats(1e-3, 10), st.floats(0, 1))
def test_elastic_net_lies_between_lasso_and_ridge(w, step, l1_ratio):
    u = ElasticNet(1.0, l1_ratio).prox(w, step)
    step_by_step = L2(1.0 - l1_ratio).prox(L1(l1_ratio).prox(w, step), step)
    np.testing.assert_allclose(u, step_by_step, rtol=1e-12)


class TestPlaced:
    """A placed penalty is the user's penalty of the user's coefficients; the intercept is free."""

    @pytest.mark.parametrize("penalty", EXAMPLES, ids=repr)
    def test_intercept_is_free(self, penalty):
        w = coefficients(ScaledPenalty(penalty, 2.0), 1)[0]
        moved = w.copy()
        moved[-1] += 5.0
        placed = ScaledPenalty(penalty, 2.0)
        assert placed.value(w) == placed.value(moved) == penalty.value(w[:-1] / 2.0)
        np.testing.assert_array_equal(placed.prox(moved, 0.2)[-1], moved[-1])

    @pytest.mark.parametrize("penalty", EXAMPLES, ids=repr)
    def test_is_the_penalty_of_the_users_coefficients(self, penalty):
        placed = ScaledPenalty(penalty, 2.0, intercept=False)
        w = coefficients(placed, 1)[0]
        step = 0.3 * min(penalty.largest_step, 1.0)
        np.testing.assert_allclose(placed.prox(w, 4.0 * step), 2.0 * penalty.prox(w / 2.0, step))
        assert placed.largest_step == pytest.approx(4.0 * penalty.largest_step)

    def test_moduli(self):
        placed = ScaledPenalty(L2(8.0), scale=2.0, intercept=True)
        assert (placed.convexity, placed.convexity_of_coefficients) == (0.0, 2.0)
        assert ScaledPenalty(L2(8.0), scale=2.0, intercept=False).convexity == 2.0
        assert ScaledPenalty(MCP(gamma=2.0), scale=2.0).convexity == -0.125

    def test_gradient_of_the_intercept_is_zero(self):
        np.testing.assert_array_equal(
            ScaledPenalty(L2(8.0), 2.0).gradient(np.array([1.0, 3.0, 5.0])), [2.0, 6.0, 0.0]
        )

    def test_vertex_without_intercept(self):
        corner = ScaledPenalty(L1Ball(1.5), 2.0, intercept=False).vertex(np.array([0.1, -4.0]))
        np.testing.assert_array_equal(corner, [0.0, 3.0])

    def test_refuses_a_vertex_beside_an_intercept(self):
        with pytest.raises(ValueError, match="fit_intercept=False"):
            ScaledPenalty(L1Ball()).vertex(np.ones(3))

    @pytest.mark.parametrize("scale", [0.0, -1.0, np.inf, np.nan])
    def test_refuses_a_scale(self, scale):
        with pytest.raises(ValueError, match="scale must be"):
            ScaledPenalty(L2(), scale)


class TestMake:
    """From the two parameters of an estimator to a penalty."""

    @pytest.mark.parametrize(
        "name, penalty",
        [
            (None, NoPenalty()),
            ("none", NoPenalty()),
            ("l1", L1(2.0)),
            ("l2", L2(2.0)),
            ("elasticnet", ElasticNet(2.0, 0.3)),
            ("scad", SCAD(2.0)),
            ("mcp", MCP(2.0)),
            ("nuclear", Nuclear(2.0)),
            (L1Ball(7.0), L1Ball(7.0)),
        ],
    )
    def test_of(self, name, penalty):
        assert make(name, 2.0, 0.3) == penalty

    def test_weight_reaches_those_that_have_one(self):
        assert make("scad", 2.0, weight=50.0) == SCAD(2.0, weight=50.0)
        assert make("l2", 2.0, weight=50.0) == L2(2.0)

    @pytest.mark.parametrize("name", ["L2", "box", "l1_ball", 3, L2, "lasso"])
    def test_refuses_a_name(self, name):
        with pytest.raises(ValueError, match="is not the name of a penalty with a strength"):
            make(name)

    def test_refuses_no_ratio(self):
        with pytest.raises(ValueError, match="needs l1_ratio, got None"):
            make("elasticnet")


@pytest.mark.parametrize(
    "build",
    [
        lambda: L1(-1.0),
        lambda: L2(np.nan),
        lambda: ElasticNet(1.0, 1.5),
        lambda: ElasticNet(np.inf),
        lambda: SCAD(a=2.0),
        lambda: SCAD(weight=0.0),
        lambda: MCP(gamma=1.0),
        lambda: GroupLasso(groups=(0, -1)),
        lambda: GroupLasso(groups=(0, 1)).prox(np.ones(3), 1.0),
        lambda: Box(1.0, 0.0),
        lambda: Box(np.nan, 1.0),
        lambda: Box(np.inf, np.inf),
        lambda: L1Ball(0.0),
        lambda: L2Ball(np.inf),
        lambda: Nuclear().prox(np.ones(3), 1.0),
    ],
)
def test_nonsense_is_refused(build):
    with pytest.raises(ValueError, match=r"must be|give one group number|got an array"):
        build()


def test_ends_of_boxes_and_directions():
    np.testing.assert_array_equal(L2Ball().vertex(np.zeros(2)), np.zeros(2))
    assert L2Ball().prox(np.zeros(2), 1.0).tolist() == [0.0, 0.0]
    assert L1Ball().prox(np.zeros(2), 1.0).tolist() == [0.0, 0.0]
    assert GroupLasso(0.0).prox(np.zeros(2), 1.0).tolist() == [0.0, 0.0]
    assert Box(0.0, np.inf).prox(np.array([-1.0, 9.0]), 1.0).tolist() == [0.0, 9.0]


@pytest.mark.parametrize("w", [np.zeros((14, 2)), np.zeros(5)], ids=lambda w: str(w.shape))
def test_matrices_of_another_size_are_refused(w):
    penalty = SpectralBalls((1.0,), shapes=((7, 2),))
    for call in (penalty.value, lambda w: penalty.prox(w, 1.0)):
        with pytest.raises(ValueError, match="matrices of 14 parameters in all"):
            call(w)
