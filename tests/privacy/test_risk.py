"""Risks against closed forms in forty digits, against dp-accounting, and never below a real attack."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import norm

from skdp.privacy import Spec, breakdown, delta, epsilon, risk, tradeoff
from skdp.privacy._gaussian import gaussian_mu
from skdp.privacy._risk import PROTECTS_NOBODY, risk_of_pair, share_caught
from skdp.privacy.events import (
    AboveThreshold,
    Gaussian,
    Laplace,
    ObjectivePerturbation,
    PoissonGaussian,
    PureDP,
)


def normal_risks(mu):
    """Power, advantage and Bayes risks of N(mu, 1) against N(0, 1), in forty digits."""
    with mp.workdps(40):
        mu = mp.mpf(mu)
        inverse = lambda p: mp.sqrt(2) * mp.erfinv(2 * mp.mpf(p) - 1)  # noqa: E731
        power = {a: mp.ncdf(inverse(mp.mpf(repr(a))) + mu) for a in (0.01, 0.05, 0.1)}
        bayes = {}
        for p in (0.5, 0.1):
            q = mp.mpf(repr(p))
            t = mp.log((1 - q) / q) / mu + mu / 2
            bayes[p] = (1 - q) * mp.ncdf(-t) + q * mp.ncdf(t - mu)
        return power, 2 * mp.ncdf(mu / 2) - 1, bayes


@pytest.mark.parametrize("mu", [1e-3, 0.02754465, 0.23670438, 0.83785876, 3.0, 9.0])
def test_gaussians_in_closed_form(mu):
    found = risk(((Gaussian(2 / mu), 3), (Gaussian(2 / mu), 1)))
    power, advantage, bayes = normal_risks(found.mu)
    assert found.exact and found.mu == pytest.approx(mu, rel=1e-12)
    for a in power:
        assert found.power[a] == pytest.approx(float(power[a]), rel=1e-11)
    assert found.advantage == pytest.approx(float(advantage), rel=1e-11)
    for p in bayes:
        assert found.bayes_risk[p] == pytest.approx(float(bayes[p]), rel=1e-11)


def test_the_table_of_the_literature_at_one():
    """mu of (1, 1e-6): power, advantage, Bayes accuracy and the generic odds."""
    found = risk(((Gaussian(1 / 0.23670438), 1),))
    assert [round(p, 6) for p in found.power.values()] == [0.018325, 0.079543, 0.148047]
    assert round(found.advantage, 6) == 0.094211 and round(1 - found.bayes_risk[0.5], 6) == 0.547106
    assert math.log(found.odds) == pytest.approx(0.65627, abs=2e-5)


def test_the_bayes_risk_is_half_of_what_the_advantage_leaves():
    for script in (((Gaussian(3.0), 1),), ((PureDP(0.7), 2),), ((Laplace(2.0), 1),)):
        found = risk(script)
        assert found.bayes_risk[0.5] == pytest.approx((1 - found.advantage) / 2, rel=1e-9)


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_sampled_gaussians_as_dp_accounting_sees_them(neighbors):
    accounting = pytest.importorskip("dp_accounting")
    from dp_accounting.pld import PLDAccountant

    from skdp.privacy import to_dp_event

    script = ((PoissonGaussian(2.0, 0.02), 500),)
    relation = {
        "replace_one": accounting.NeighboringRelation.REPLACE_ONE,
        "add_remove": accounting.NeighboringRelation.ADD_OR_REMOVE_ONE,
    }[neighbors]
    theirs = PLDAccountant(relation).compose(to_dp_event(script, neighbors))
    found = risk(script, neighbors)
    assert found.advantage == pytest.approx(theirs.get_delta(0.0), rel=2e-3)
    assert 2 * 0.1 * (1 - theirs.get_delta(math.log(9.0))) / 2 <= found.bayes_risk[0.1] * (1 + 1e-3)
    for a, power in found.power.items():
        es = np.linspace(0, 3, 301)
        region = [
            min(d + math.exp(e) * a, 1 - math.exp(-e) * (1 - d - a))
            for e, d in zip(es, map(theirs.get_delta, es))
        ]
        assert power == pytest.approx(min(region), rel=2e-3)


def test_sampled_gaussians_to_five_digits():
    """dp-accounting with losses on a grid of 2e-5 (connect-the-dots, which errs upwards), at 2001 epsilons."""
    found = risk(((PoissonGaussian(2.0, 0.02), 500),))
    assert found.advantage == pytest.approx(0.17727792, rel=2e-5)
    for power, truth in zip(found.power.values(), (0.03018799, 0.11571868, 0.20230740)):
        assert truth * (1 - 1e-5) <= power <= truth * (1 + 1e-4)


OTHERS = [
    ((PureDP(0.5), 3),),
    ((AboveThreshold(0.1, 0.2), 1), (Gaussian(20.0), 5)),
    ((ObjectivePerturbation(0.2, 0.05), 1), (Gaussian(20.0), 1)),
]


@pytest.mark.parametrize("script", OTHERS)
def test_others_lie_between_their_curve_and_their_pair(script):
    found, pair = risk(script), risk_of_pair(Spec(epsilon(script, 1e-6), 1e-6))
    curve = 1 - tradeoff(script, list(found.power))
    for (a, power), best in zip(found.power.items(), curve):
        assert best * (1 - 1e-3) <= power <= pair.power[a] * (1 + 1e-9)
    assert found.advantage <= min(delta(script, 0.0), pair.advantage) + 1e-12


def test_randomised_response_is_met_exactly():
    found, p = risk(((PureDP(1.0), 1),)), 1 / (1 + math.exp(-1))
    assert found.advantage == pytest.approx(2 * p - 1) and found.power[0.1] == pytest.approx(
        0.1 * math.e
    )
    assert found.bayes_risk[0.1] == pytest.approx(0.1) and found.odds == pytest.approx(math.e)


def test_the_odds_hold_for_a_loss_that_is_known():
    """The chance that the loss of a Gaussian exceeds what is said is at most 1 in 100."""
    for mu in (0.1, 0.5, 2.0):
        t = math.log(risk(((Gaussian(1 / mu), 1),)).odds)
        assert float(1 - mp.ncdf(t / mu - mu / 2)) <= 0.01


def test_ends():
    nothing, all_of_it = risk(()), risk(((Gaussian(0.0), 1),))
    assert nothing.mu == 0 and nothing.advantage == 0 and nothing.odds == 1.0
    assert (
        all_of_it.advantage == 1.0 and all_of_it.power[0.01] == 1.0 and math.isinf(all_of_it.odds)
    )
    assert risk_of_pair(Spec(math.inf, 0.1)).advantage == 1.0


class TestBreakdown:
    """Which event costs what."""

    def test_gaussians_share_by_precision(self):
        parts = breakdown(((Gaussian(10.0), 3), (Gaussian(5.0), 2), (Gaussian(10.0), 1)), 1e-6)
        assert [part.count for part in parts] == [2, 4]
        assert [part.share for part in parts] == pytest.approx([2 / 3, 1 / 3])

    @pytest.mark.parametrize(
        "script", [*OTHERS, ((PoissonGaussian(2.0, 0.02), 50), (PureDP(0.1), 1))]
    )
    def test_parts_are_priced_alone_and_left_out(self, script):
        parts = breakdown(script, 1e-6)
        assert sum(part.share for part in parts) == pytest.approx(1.0)
        whole = epsilon(script, 1e-6)
        for part in parts:
            rest = tuple(run for run in script if run[0] != part.event)
            assert part.alone == epsilon(((part.event, part.count),), 1e-6)
            assert part.without == epsilon(rest, 1e-6) <= whole and part.alone <= whole

    def test_no_noise_takes_all(self):
        first, second = breakdown(((Gaussian(0.0), 1), (Gaussian(5.0), 1)), 1e-6)
        assert (first.share, second.share) == (1.0, 0.0) and first.event.multiplier == 0.0

    def test_nothing_has_no_parts(self):
        assert breakdown((), 1e-6) == ()


def test_the_share_that_the_best_attack_finds():
    """At pure epsilon by randomised response, at delta > 0 by one Gaussian; without privacy everybody."""
    assert share_caught(Spec(math.inf, 0.0, "replace_one")) == 1.0
    for loss in (0.1, 1.0, 3.0, 5.0):
        cut = math.exp(-loss)
        truth = min(0.05 / cut, 1.0 - 0.95 * cut)
        assert share_caught(Spec(loss, 0.0, "replace_one")) == pytest.approx(truth, rel=1e-12)
        found = share_caught(Spec(loss, 1e-6, "replace_one"))
        mu = gaussian_mu(loss, 1e-6)
        assert found == pytest.approx(1.0 - norm.cdf(norm.isf(0.05) - mu), rel=1e-9)
    assert share_caught(Spec(25.0, 1e-6, "replace_one")) < PROTECTS_NOBODY
    assert share_caught(Spec(26.5, 1e-6, "replace_one")) > PROTECTS_NOBODY
