"""Few sampled steps, accuracies and inverses of loss distributions.

The truth of one step is a closed form, of two its integral over the first one's noise, of more a contour integral.
"""

import math

import numpy as np
import pytest
from _contour import Step, exact_delta, single_delta
from scipy.special import ndtr

from skdp.privacy import accountants
from skdp.privacy._pld import ACCURACY, delta, epsilon
from skdp.privacy.events import (
    Gaussian,
    Laplace,
    PoissonGaussian,
    PoissonPure,
    PureDP,
    WithoutReplacementGaussian,
)

ADD, REPLACE = "add_remove", "replace_one"
FEW = [(1.6534, 0.03256, 8.73e-8), (1.0, 0.01, 1e-6), (3.0, 0.2, 1e-9), (0.7, 0.004, 1e-5)]


def point_where(z, q, removing, target):
    """Points at which the loss of one step is `target`, and which side of them loses more."""
    bent = target if removing else -target
    with np.errstate(divide="ignore", invalid="ignore"):
        x = z**2 * np.log((np.exp(bent) - (1 - q)) / q) + 0.5
    return np.where(np.exp(bent) > 1 - q, x, -np.inf)


def one(z, q, removing, eps):
    """Hockey stick of one step under add/remove at an array of any real epsilons, by its best half-line."""
    x = point_where(z, q, removing, eps)
    mixture = (1 - q) * ndtr(-x / z) + q * ndtr((1 - x) / z)
    noise = ndtr(-x / z)
    if removing:
        return mixture - np.exp(eps) * noise
    return (1 - noise) - np.exp(eps) * (1 - mixture)


def several(z, q, removing, steps, eps):
    """Hockey stick of a few steps: mean over the noise of all but the last."""
    if steps == 1:
        return one(z, q, removing, eps)
    x = np.linspace(-14 * z - 1, 14 * z + 2, 8001)
    centred, moved = (
        np.exp(-0.5 * ((x - m) / z) ** 2) / z / math.sqrt(2 * math.pi) for m in (0, 1)
    )
    mixture = (1 - q) * centred + q * moved
    loss = np.log1p(q * np.expm1((2 * x - 1) / (2 * z**2)))
    law, loss = (mixture, loss) if removing else (centred, -loss)
    left = np.subtract.outer(eps, loss)
    return (several(z, q, removing, steps - 1, left) * law).sum(axis=-1) * (x[1] - x[0])


def truth(z, q, steps, eps):
    if steps <= 2:
        return max(float(several(z, q, side, steps, np.array(eps))) for side in (True, False))
    return exact_delta(
        [(Step("remove", z, q), steps)], eps
    )  # adding a record loses less than this epsilon


@pytest.mark.parametrize("kind", ["remove", "add"])
def test_the_truth_is_the_same_by_another_way(kind):
    step, removing, eps = Step(kind, 1.5, 0.2), kind == "remove", np.array(0.2)
    assert one(1.5, 0.2, removing, eps) == pytest.approx(single_delta(step, 0.2))
    there = exact_delta([(step, 2)], 0.2)
    assert several(1.5, 0.2, removing, 2, eps) == pytest.approx(there, rel=1e-6)


@pytest.mark.parametrize("steps", [1, 2, 7, 20])
@pytest.mark.parametrize(("z", "q", "at"), FEW)
def test_few_steps_are_priced_to_one_in_a_hundred_thousand(z, q, at, steps):
    found = epsilon(((PoissonGaussian(z, q), steps),), at, ADD)
    assert truth(z, q, steps, found) <= at * (1 + 1e-7)
    assert truth(z, q, steps, found * (1 - 1e-5)) > at


@pytest.mark.parametrize("steps", [1, 4])
def test_few_steps_under_replace_one(steps):
    found = epsilon(((PoissonGaussian(1.5, 0.05), steps),), 1e-7, REPLACE)
    step = Step("replace", 1.5, 0.05)
    true = (
        (lambda e: single_delta(step, e))
        if steps == 1
        else (lambda e: exact_delta([(step, steps)], e))
    )
    assert true(found) <= 1e-7 * (1 + 1e-7) and true(found * (1 - 1e-5)) > 1e-7


SCRIPTS = [
    (((PoissonGaussian(1.6534, 0.03256), 2),), ADD),
    (((PoissonGaussian(1.0, 0.01), 300),), ADD),
    (((PoissonGaussian(1.0, 0.01), 300), (Gaussian(9.0), 2)), REPLACE),
    (((WithoutReplacementGaussian(4.0, 0.05), 60),), REPLACE),
    (((PoissonPure(0.5, 0.05), 40), (Laplace(20.0), 3), (Gaussian(12.0), 1)), ADD),
    (((Laplace(8.0), 12), (PureDP(0.05), 7)), REPLACE),
]


@pytest.mark.parametrize(("script", "neighbors"), SCRIPTS)
def test_delta_at_the_epsilon_of_a_delta_is_that_delta(script, neighbors):
    for at in (1e-2, 3.3e-5, 1e-9, 7e-13):
        found = epsilon(script, at, neighbors)
        if found not in (
            0.0,
            epsilon(script, 0.0, neighbors),
        ):  # where delta is smaller, or nothing
            assert at * (1 - 1e-9) <= delta(script, found, neighbors) <= at
        assert (
            accountants.delta(script, accountants.epsilon(script, at, neighbors), neighbors) <= at
        )


@pytest.mark.parametrize(("script", "neighbors"), SCRIPTS)
def test_more_accuracy_is_never_worse(script, neighbors):
    asked = [ACCURACY / share for share in (1, 3, 10, 50, 100)]
    prices = [epsilon(script, 1e-8, neighbors, accuracy=one) for one in asked]
    assert prices == sorted(prices, reverse=True)
    assert prices[-1] >= prices[0] * (1 - 3 * ACCURACY)
    deltas = [delta(script, 0.3, neighbors, accuracy=one) for one in asked]
    assert deltas == sorted(deltas, reverse=True)


def test_a_delta_a_little_below_that_at_zero_is_found():
    """From an epsilon of 0 steps have a length, too."""
    script = ((PoissonGaussian(5.0, 0.01), 20),)
    whole = delta(script, 0.0, "replace_one")
    found = epsilon(script, whole * (1 - 1e-12), "replace_one")
    assert 0.0 <= found < 1e-3 and delta(script, found, "replace_one") <= whole
