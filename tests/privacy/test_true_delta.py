"""The law of every engine: the true delta at the epsilon it returns is at most the delta asked for.

Truth comes from `_truth`. Relative 1e-9 is allowed for its own rounding (the contour integral of
many sampled steps keeps seven digits).
"""

import math

import pytest
from _truth import true_delta
from true_delta_grid import FAMILIES, one_laplace, one_pure, sampled, wider

from skdp.privacy import Spec, accountants, calibrate
from skdp.privacy._compose import reduced
from skdp.privacy._engines import ENGINES
from skdp.privacy.events import (
    Gaussian,
    Laplace,
    PoissonGaussian,
    PoissonPure,
    PureDP,
    WithoutReplacementGaussian,
    scaled,
)

ROUNDING = 1e-9
LOOSE = 1.01


def breaks(script, at, neighbors, found):
    """Whether a promise of (found, at) is false; None where the truth is out of reach."""
    truth = true_delta(script, found, neighbors)
    return None if truth is None else truth > at * (1 + ROUNDING)


def violations(settings, accountant="auto"):
    """Settings whose epsilon is too small, and how many were told at all."""
    wrong, told = [], 0
    for script, at, neighbors in settings:
        found = accountants.epsilon(script, at, neighbors, accountant)
        verdict = breaks(script, at, neighbors, found)
        told += verdict is not None
        if verdict:
            wrong.append((script, at, neighbors, found))
    return wrong, told


def able(settings, accountant):
    """The settings that an accountant covers."""
    if accountant == "auto":
        return settings
    engine = ENGINES[accountant]
    return [s for s in settings if engine.supports(reduced(s[0], s[2]), s[2])]


REVIEWED = [
    (((PureDP(5.0), 1),), 1e-6, "replace_one"),
    (((PureDP(8.0), 2),), 1e-6, "replace_one"),
    (((PureDP(2.0), 1),), 1e-8, "replace_one"),
    (((PureDP(0.01), 1),), 1e-12, "replace_one"),
    (((Laplace(1 / 0.001), 1),), 1e-12, "replace_one"),
    (((PoissonPure(9.0, 0.01), 1),), 1e-6, "replace_one"),
    (((PureDP(1.42), 5), (Gaussian(1e6), 1)), 1.6e-12, "replace_one"),
]


@pytest.mark.parametrize("accountant", ["auto", "pld"])
def test_what_was_understated_by_factors_of_hundreds_is_not(accountant):
    assert violations(REVIEWED, accountant) == ([], len(REVIEWED))


@pytest.mark.parametrize("accountant", ["auto", "pld", "profile", "rdp", "gdp", "zcdp", "pure"])
@pytest.mark.parametrize("family", [one_pure, one_laplace], ids=lambda f: f.__name__)
def test_one_release_at_every_delta(family, accountant):
    settings = able(family(), accountant)
    assert violations(settings, accountant) == ([], len(settings)) and len(settings) == 192


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__)
def test_a_slice_of_every_family(family):
    settings, many = family(), 8 if family is sampled else 24
    for accountant in ("auto", "profile", "rdp", "gdp", "pure", *(("pld",) * (many > 8))):
        some = able(settings, accountant)[:: max(len(settings) // many, 1)]
        wrong, told = violations(some, accountant)
        assert not wrong and told >= 0.7 * len(some)


@pytest.mark.parametrize(
    "twin",
    [lambda e: e * 0.9999, lambda e: e - 1e-7 * min(e, 1.0)],
    ids=["a ten-thousandth less", "an edge that is not proved"],
)
def test_the_law_sees_an_epsilon_that_is_too_small(twin):
    for script, at, neighbors in REVIEWED:
        found = accountants.epsilon(script, at, neighbors)
        assert breaks(script, at, neighbors, twin(found)) == (found > 0)


def test_pure_scripts_are_priced_to_the_last_digit():
    """Closed forms are exact: a millionth less of epsilon breaks the promise."""
    for script, at, neighbors in FAMILIES[1]()[::9]:
        found = accountants.epsilon(script, at, neighbors)
        assert found == 0 or breaks(script, at, neighbors, found * (1 - 1e-6))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__)
def test_delta_is_never_below_the_truth(family):
    settings = family()
    for script, at, neighbors in settings[:: max(len(settings) // 12, 1)]:
        eps = 1.01 * accountants.epsilon(script, at, neighbors)
        truth = true_delta(script, eps, neighbors)
        found = accountants.delta(script, eps, neighbors)
        assert truth is None or found >= truth * (1 - ROUNDING) or truth < 1e-300  # underflow


SCALED = [
    (((PureDP(1.0), 1),), "replace_one"),
    (((PureDP(1.0), 3), (PureDP(0.3), 2)), "replace_one"),
    (((Laplace(1.0), 1),), "add_remove"),
    (((Laplace(1.0), 3),), "add_remove"),
    (((PoissonPure(1.0, 0.05), 4),), "replace_one"),
    (((PureDP(1.0), 2), (Gaussian(1e5), 1)), "replace_one"),
    (((PoissonGaussian(1.0, 0.02), 1),), "add_remove"),
    (((WithoutReplacementGaussian(1.0, 0.02), 1),), "replace_one"),
]


@pytest.mark.parametrize("at", [1e-12, 1e-6, 1e-2])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 9.0])
@pytest.mark.parametrize(("script", "neighbors"), SCALED, ids=repr)
def test_calibrated_noise_keeps_the_true_promise(script, neighbors, epsilon, at):
    scale, _ = calibrate(lambda s: scaled(script, s), Spec(epsilon, at, neighbors))
    assert not breaks(scaled(script, scale), at, neighbors, epsilon)
    assert breaks(scaled(script, scale * 0.99), at, neighbors, epsilon)


@pytest.mark.slow
def test_more_than_five_thousand_settings_keep_the_true_delta():
    settings = [s for family in FAMILIES for s in family()] + list(wider())
    wrong, told = violations(settings)
    print(f"{len(settings)} settings, {told} with a known truth, {len(wrong)} below it")
    assert not wrong and told >= 5000


@pytest.mark.slow
@pytest.mark.parametrize("accountant", ["pld", "profile", "rdp", "gdp", "zcdp", "pure"])
def test_every_engine_keeps_the_true_delta(accountant):
    settings = [s for family in FAMILIES for s in family()][::3] + list(wider())[::2]
    wrong, told = violations(able(settings, accountant), accountant)
    print(f"{accountant}: {told} told, {len(wrong)} below the truth")
    assert not wrong and told >= 500


@pytest.mark.slow
def test_distributions_of_pure_scripts_are_tight():
    """The engine with a grid, where closed forms can judge it: 1 % at worst, median 2e-5."""
    slack = []
    for script, at, neighbors in FAMILIES[1]()[::4]:
        exact = accountants.epsilon(script, at, neighbors, "profile")
        if exact > 0:
            slack.append(accountants.epsilon(script, at, neighbors, "pld") / exact - 1)
    slack.sort()
    print(f"slack: median {slack[len(slack) // 2]:.2g}, worst {slack[-1]:.2g}")
    assert slack[len(slack) // 2] <= 2e-5 and slack[-1] <= LOOSE - 1 and math.isfinite(slack[-1])


@pytest.mark.parametrize("accountant", ["profile", "pure", "pld"])
def test_rounding_is_upwards_beside_the_largest_loss(accountant):
    """There delta is as small as the rounding of a sum of epsilons."""
    for e in (0.1, 0.3, 0.7, 1.1, 2.3):
        for count in (1, 3, 7, 11):
            script = ((PureDP(e), count),)
            for gap in (0.0, 1e-15, 1e-14, 1e-13):
                eps = count * e * (1 - gap)
                found = accountants.delta(script, eps, accountant=accountant)
                assert found >= true_delta(script, eps) * (1 - ROUNDING)
