"""Every registered loss under every law, and beside scikit-learn where that has the same formula."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws.examples import examples, has_defaults, never_asked
from loss_laws import EXAMPLES, LAWS
from scipy.special import huber, log_softmax
from sklearn.metrics import hinge_loss, log_loss, mean_pinball_loss, mean_squared_error

from skdp.losses import (
    LOSSES,
    ClippedLogistic,
    Hinge,
    Huber,
    HuberisedHinge,
    Logistic,
    Multinomial,
    QuantileHuber,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)


def test_the_laws_ask_every_registered_loss():
    assert never_asked(LOSSES.values(), EXAMPLES) == []


def test_a_kind_without_defaults_and_without_a_variant_is_never_asked():
    class Needs(Logistic):
        def __init__(self, width):
            self.width = width

    asked = examples([Logistic, Needs], [Logistic()])
    assert asked == [Logistic()] and not has_defaults(Needs)
    assert never_asked([Logistic, Needs], asked) == ["Needs"]
    assert never_asked([Logistic, Needs], examples([Logistic, Needs], [Needs(3)])) == []


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("loss", EXAMPLES, ids=repr)
def test_law(loss, law):
    law(loss)


@pytest.mark.parametrize("loss", EXAMPLES, ids=repr)
def test_is_a_value(loss):
    """Equal, hashable and the same after a pickle."""
    copy = pickle.loads(pickle.dumps(loss))
    assert copy == loss
    assert hash(copy) == hash(loss)


@pytest.fixture
def binary():
    random = np.random.default_rng(7)
    return random.normal(size=500) * 3, np.where(random.random(500) < 0.4, 1.0, -1.0)


def test_logistic_is_log_loss(binary):
    z, y = binary
    assert Logistic().value(z, y).mean() == pytest.approx(log_loss(y, Logistic().predict(z)))


def test_hinge_is_hinge_loss(binary):
    z, y = binary
    assert Hinge().value(z, y).mean() == pytest.approx(hinge_loss(y, z))
    assert HuberisedHinge(h=1e-9).value(z, y).mean() == pytest.approx(hinge_loss(y, z))


def test_squared_hinge_is_the_square(binary):
    z, y = binary
    np.testing.assert_allclose(SquaredHinge().value(z, y), Hinge().value(z, y) ** 2)


def test_multinomial_is_log_loss():
    random = np.random.default_rng(3)
    z, y = random.normal(size=(300, 4)) * 2, random.integers(4, size=300)
    loss = Multinomial(outputs=4)
    assert loss.value(z, y).mean() == pytest.approx(log_loss(y, loss.predict(z)))
    np.testing.assert_allclose(np.log(loss.predict(z)), log_softmax(z, axis=1))


def test_two_classes_are_the_logistic_loss(binary):
    z, y = binary
    two = Multinomial(outputs=2)
    scores = np.stack([np.zeros_like(z), z], axis=1)
    np.testing.assert_allclose(two.value(scores, (y > 0).astype(int)), Logistic().value(z, y))


def test_regression_losses_have_their_textbook_values(binary):
    z, _ = binary
    y = np.roll(z, 1)
    assert 2 * Squared().value(z, y).mean() == pytest.approx(mean_squared_error(y, z))
    np.testing.assert_allclose(Huber(delta=0.7).value(z, y), huber(0.7, z - y))
    pinball = mean_pinball_loss(y, z, alpha=0.3)
    assert QuantileHuber(tau=0.3, k=1e-9).value(z, y).mean() == pytest.approx(pinball)


def test_what_exceeds_a_margin_is_squared_and_not_halved(binary):
    """As in liblinear: Fan and others 2008, L2-loss support vector regression (Ho and Lin 2012)."""
    z, _ = binary
    y = np.roll(z, 1)
    beyond = np.maximum(np.abs(z - y) - 0.4, 0.0)
    loss = SquaredEpsilonInsensitive(0.4)
    np.testing.assert_allclose(loss.value(z, y), beyond**2, atol=1e-14)
    np.testing.assert_allclose(
        SquaredEpsilonInsensitive(0.0).value(z, y), 2 * Squared().value(z, y)
    )


def test_published_constants():
    quantile = QuantileHuber(tau=0.3, k=0.2)
    assert (quantile.slope, quantile.curvature) == pytest.approx((0.7, 5.0))
    assert HuberisedHinge(h=0.5).curvature == 1.0
    assert ClippedLogistic(cap=0.2).curvature == pytest.approx(0.16)
    assert ClippedLogistic(cap=0.8).curvature == 0.25


def test_slope_at_the_origin_is_the_cap(binary):
    """What capping buys: signal at w = 0 over the largest slope doubles to 1 at cap 1/2."""
    for loss, share in ((Logistic(), 0.5), (ClippedLogistic(0.5), 1.0), (HuberisedHinge(), 1.0)):
        assert -loss.dz(np.zeros(1), np.ones(1))[0] / loss.slope == share


def test_capping_is_clipping(binary):
    """The capped loss has the clipped slopes of the logistic loss, and its values where uncapped."""
    z, y = binary
    clipped = np.clip(Logistic().dz(z, y), -0.3, 0.3)
    np.testing.assert_allclose(ClippedLogistic(0.3).dz(z, y), clipped)
    inside = np.abs(clipped) < 0.3
    np.testing.assert_allclose(
        ClippedLogistic(0.3).value(z, y)[inside], Logistic().value(z, y)[inside]
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: ClippedLogistic(cap=0.0),
        lambda: ClippedLogistic(cap=1.5),
        lambda: ClippedLogistic(cap=np.nan),
        lambda: HuberisedHinge(h=0.0),
        lambda: HuberisedHinge(h=np.inf),
        lambda: Huber(delta=-1.0),
        lambda: Huber(delta=np.nan),
        lambda: SquaredEpsilonInsensitive(width=-0.1),
        lambda: SquaredEpsilonInsensitive(width=np.nan),
        lambda: QuantileHuber(tau=1.0),
        lambda: QuantileHuber(k=0.0),
        lambda: Multinomial(outputs=1),
        lambda: Multinomial(outputs=2.5),
    ],
)
def test_nonsense_is_refused_with_its_value(make):
    with pytest.raises(ValueError, match="got "):
        make()


@given(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), st.sampled_from(EXAMPLES))
def test_slope_times_distance_bounds_the_change(a, b, loss):
    """Lipschitz between any two scores, by the declared slope."""
    if loss.slope is None or loss.kind == "multiclass":
        return
    for y in (-1.0, 1.0):
        one, other = loss.value(np.array([a, b]), np.array([y, y]))
        assert abs(one - other) <= loss.slope * abs(a - b) * (1 + 1e-9) + 1e-9


@given(st.lists(st.floats(-500, 500), min_size=3, max_size=3), st.integers(0, 2), st.floats(-9, 9))
def test_multinomial_ignores_a_common_shift(z, y, shift):
    loss, z = Multinomial(outputs=3), np.array([z])
    np.testing.assert_allclose(loss.value(z, [y]), loss.value(z + shift, [y]), atol=1e-9)
    np.testing.assert_allclose(loss.dz(z, [y]), loss.dz(z + shift, [y]), atol=1e-9)
