"""What few scripts reach: ends of ranges, refusals, and formulas that others usually come before, against the truth."""

import json
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from skdp.exceptions import BudgetExceeded, NotSupported, OffScript
from skdp.privacy import (
    Filter,
    Ledger,
    Spec,
    calibrate,
    delta,
    epsilon,
    selection_epsilon,
    to_dp_event,
)
from skdp.privacy._exact import at_most, meant, short
from skdp.privacy._gaussian import gaussian_delta, gaussian_mu
from skdp.privacy.curves import cost
from skdp.privacy.events import (
    ZCDP,
    AboveThreshold,
    Gaussian,
    Laplace,
    ObjectivePerturbation,
    PoissonBundle,
    PoissonGaussian,
    PoissonPure,
    PureDP,
    RandomPosition,
    WithoutReplacementGaussian,
)
from skdp.privacy.ledger import Recorder, Scripted
from skdp.privacy.receipt import Receipt
from skdp.privacy.selection import (
    BinomialRuns,
    PoissonRuns,
    TruncatedNegativeBinomialRuns,
    base_curves,
    selection_delta,
)

SPEC = Spec(1.0, 1e-6)


def script(*events):
    return tuple((event, 1) for event in events)


class TestPrices:
    """Prices against closed forms."""

    def test_pure_amplification_beyond_the_doubles(self):
        event = PoissonPure(800.0, 0.25)
        truth = mpmath.log1p(0.25 * mpmath.expm1(800))
        assert epsilon(script(event), 0.0) >= truth
        assert epsilon(script(event), 0.0) == pytest.approx(float(truth), rel=1e-12)

    @pytest.mark.parametrize("rate", [0.0, 1.0])
    def test_pure_releases_to_nobody_or_everybody(self, rate):
        assert epsilon(script(PoissonPure(0.7, rate)), 0.0) == rate * 0.7

    @pytest.mark.parametrize("extra", [0.0, 0.5])
    def test_registered_profiles_are_the_closed_forms(self, extra):
        epsilons = np.array([0.0, 0.5, 2.0])
        weights, multipliers = (0.5, 0.25, 0.25), (1.0, 2.0, 5.0)
        truths = {
            Gaussian(2.0): gaussian_delta(epsilons, math.hypot(0.5, extra)),
            RandomPosition(weights, multipliers): sum(
                w * gaussian_delta(epsilons, math.hypot(1.0 / m, extra))
                for w, m in zip(weights, multipliers)
            ),
        }
        if not extra:
            truths[PureDP(1.0)] = np.maximum(0.0, (math.e - np.exp(epsilons)) / (1.0 + math.e))
        for event, truth in truths.items():
            found = cost(event, "profile", "replace_one")(event, epsilons, "replace_one", extra)
            np.testing.assert_allclose(found, truth, rtol=1e-9, atol=1e-15)

    def test_a_bundle_without_gaussian_noise_is_its_sum_of_pure_steps(self):
        bundle = PoissonBundle(math.inf, (0.2, 0.0, 0.3), 0.1)
        assert epsilon(script(bundle), 0.0) == epsilon(script(PoissonPure(0.5, 0.1)), 0.0)

    def test_a_bundle_on_everybody_or_nobody(self):
        nobody, everybody = (
            epsilon(script(PoissonBundle(4.0, (0.1,), rate)), 1e-6, "add_remove", "rdp")
            for rate in (0.0, 1.0)
        )
        whole = epsilon(script(Gaussian(4.0), PureDP(0.1)), 1e-6, "add_remove", "rdp")
        assert everybody == pytest.approx(whole, rel=1e-3) and everybody >= whole * (1 - 1e-9)
        assert 0.0 <= nobody < 0.02  # divergences of 0, but of finitely many orders

    def test_a_bundle_without_gaussian_noise_on_everybody_shows_everything(self):
        silent = PoissonBundle(0.0, (0.1,), 1.0)
        assert epsilon(script(silent), 1e-6, "add_remove", "rdp") == math.inf

    @pytest.mark.parametrize("e", [0.0, 0.5, 2.0])
    def test_profiles_of_single_releases(self, e):
        gaussian = delta(script(Gaussian(2.0)), e, accountant="profile")
        assert gaussian == pytest.approx(gaussian_delta(e, 0.5), rel=1e-9)
        pure = delta(script(PureDP(1.0)), e, accountant="profile")
        truth = max(0.0, (math.e - math.exp(e)) / (1.0 + math.e))
        assert pure == pytest.approx(truth, rel=1e-9, abs=1e-15) and pure >= truth

    @pytest.mark.parametrize("e", [0.0, 0.5, 2.0])
    def test_a_random_position_is_the_mean_over_positions(self, e):
        weights, multipliers = (0.5, 0.25, 0.25), (1.0, 2.0, 5.0)
        event = RandomPosition(weights, multipliers)
        truth = np.dot(weights, [gaussian_delta(e, 1.0 / m) for m in multipliers])
        assert delta(script(event), e, "replace_one", "profile") == pytest.approx(truth, rel=1e-9)

    def test_at_an_infinite_epsilon_nothing_is_left(self):
        sampled = script(PoissonGaussian(1.0, 0.1))
        for accountant in ("rdp", "pld"):
            assert delta(sampled, math.inf, "add_remove", accountant) == 0.0

    def test_without_noise_everything_is_shown(self):
        silent = script(PoissonGaussian(0.0, 0.5))
        assert delta(silent, 3.0, "add_remove", "pld") >= 0.5
        assert epsilon(silent, 0.0, "add_remove", "pld") == math.inf

    def test_no_delta_no_epsilon_of_unbounded_losses(self):
        assert epsilon(script(PoissonGaussian(1.0, 0.1)), 0.0, "add_remove", "pld") == math.inf

    @pytest.mark.parametrize("e, d", [(1e-6, 0.9), (1e-9, 0.3), (50.0, 1e-300), (700.0, 0.999)])
    def test_noise_of_a_gaussian_at_the_ends(self, e, d):
        mu = gaussian_mu(e, d)
        with mpmath.workdps(60):
            m, x = mpmath.mpf(mu), mpmath.mpf(e)
            truth = mpmath.ncdf(m / 2 - x / m) - mpmath.exp(x) * mpmath.ncdf(-m / 2 - x / m)
        assert float(truth) <= d * (1 + 1e-9) and float(truth) >= d * (1 - 1e-6)

    def test_laplace_without_noise_has_no_price(self):
        assert epsilon(script(Laplace(0.0)), 0.0) == math.inf


class TestExactSums:
    """Fractions of what was written."""

    @pytest.mark.parametrize("value", [Fraction(1, 3), Fraction(5, 9), Fraction(1, 10)])
    def test_the_largest_double_that_means_no_more(self, value):
        found = at_most(value)
        assert meant(found) <= value < meant(math.nextafter(found, math.inf))

    def test_long_fractions_are_rounded_up_by_little(self):
        value = Fraction(1, 3**300)
        assert short(value) >= value and short(value) - value < Fraction(1, 10**119)
        assert short(value).denominator < 10**121
        assert short(Fraction(1, 3)) == Fraction(1, 3) and short(math.inf) == math.inf


class TestRefusals:
    """One sentence each, with what would work."""

    @pytest.mark.parametrize("e", [-1.0, math.nan])
    def test_epsilon_below_nothing(self, e):
        with pytest.raises(ValueError, match="must be 0 or more"):
            delta(script(Gaussian(1.0)), e)

    @pytest.mark.parametrize(
        "given",
        [{"rule": "many_signed"}, {"classes": 1}, {"rounds": 0}, {"rows": 0}, {"rows": 1.5}],
    )
    def test_objectives_that_are_none(self, given):
        ((name, value),) = given.items()
        with pytest.raises(ValueError, match=f"{name}={value!r}"):
            ObjectivePerturbation(shift=0.1, jacobian=0.01, **given)

    def test_a_promise_that_no_noise_keeps(self):
        with pytest.raises(NotSupported, match=r"No noise scale .* raise epsilon"):
            calibrate(lambda scale: script(Gaussian(scale), PureDP(2.0)), SPEC)
        with pytest.raises(NotSupported, match="give a positive delta"):
            calibrate(lambda scale: script(Gaussian(scale)), Spec(1.0, 0.0))

    def test_no_event_of_another_library_means_it(self):
        pytest.importorskip("dp_accounting")
        for event in (AboveThreshold(1.0, 1.0), ZCDP(math.inf)):
            with pytest.raises(NotSupported, match="has no event that means"):
                to_dp_event(script(event))

    def test_no_delta_for_a_private_choice(self):
        curves = base_curves(script(Gaussian(5.0)))
        with pytest.raises(NotSupported, match="delta=0"):
            selection_epsilon(*curves, 0.0, PoissonRuns(3.0))

    @pytest.mark.parametrize("accountant", ["auto", "zcdp", "rdp"])
    def test_nobody_covers_the_relation(self, accountant):
        mixed = script(Gaussian(3.0), WithoutReplacementGaussian(2.0, 0.1))
        with pytest.raises(NotSupported, match=r"cannot price .* under add_remove"):
            epsilon(mixed, 1e-6, "add_remove", accountant)


class TestAccounts:
    """Recorders, scripts, filters and ledgers at their ends."""

    def test_a_rehearsal_affords_everything_and_writes_no_empty_run(self):
        account = Recorder()
        account.charge(Gaussian(1.0), 0)
        assert account.affords(PureDP(1e9)) and account.share(PureDP(1.0)) == 0.0
        assert account.script == ()

    def test_a_script_ends(self):
        account = Scripted(Spec(5.0, 1e-6), script(Gaussian(5.0)))
        assert account.affords(Gaussian(5.0)) and account.share(Gaussian(5.0)) == 0.0  # it is paid
        account.charge(Gaussian(5.0))
        with pytest.raises(OffScript, match="after the end of the script"):
            account.charge(Gaussian(5.0))

    @pytest.mark.parametrize("kind", ["pure", "zcdp", "gdp", "rdp"])
    def test_what_a_filter_lets_pass_keeps_its_promise(self, kind):
        spec = Spec(1.0, 0.0) if kind == "pure" else SPEC
        account = Filter(spec, kind, 20) if kind == "rdp" else Filter(spec, kind)
        price = epsilon(account.allowance, spec.delta)
        assert 0.5 < price <= 1.0

    def test_prices_of_laplace_noise_add_up_exactly(self):
        account = Filter(Spec(1.0, 0.0), "pure")
        assert account.cost(script(Laplace(0.0))) == math.inf
        for _ in range(10):
            account.charge(Laplace(10.0))
        assert account.unspent == 0.0

    def test_nothing_asked_nothing_written(self):
        account = Filter(SPEC, "zcdp")
        account.charge_all(())
        assert account.script == () and account.spent == 0.0

    def test_a_ledger_refuses_what_nobody_prices(self):
        ledger = Ledger(1.0, 1e-6, "add_remove")
        unpriced = script(WithoutReplacementGaussian(50.0, 0.1))
        with pytest.raises((NotSupported, BudgetExceeded)):
            ledger.reserve(unpriced)
        assert ledger.scripts == () and ledger.spent == 0.0


class TestSelection:
    """Laws of the number of runs at their ends."""

    def test_a_run_that_shows_nothing_costs_nothing(self):
        nothing = base_curves(())[0]
        law = TruncatedNegativeBinomialRuns.with_mean(1.0, 5.0)
        assert nothing(0.0) == 0.0 and law.shift(nothing) == 0.0
        assert selection_epsilon(nothing, None, 1e-6, law) == 0.0

    def test_a_run_that_may_show_all_has_no_price(self):
        law = PoissonRuns(3.0)
        assert selection_epsilon(lambda e: 0.5, None, 1e-6, law) == math.inf

    def test_a_fixed_number_of_trials_is_priced_by_the_profile_alone(self):
        profile, renyi = base_curves(script(Gaussian(8.0)))
        law = BinomialRuns(5, 0.5)
        assert law.renyi(renyi, profile) is None
        price = selection_epsilon(profile, renyi, 1e-6, law)
        assert price == selection_epsilon(profile, None, 1e-6, law)
        assert selection_delta(profile, price, law) <= 1e-6 * (1 + 1e-6)


class TestReceipts:
    """What is printed and what is kept of a fit."""

    def receipt(self, **given):
        events = ((Gaussian(9.0), 2), (PureDP(0.1), 1))
        fields = {"declared": {"classes": [0, 1]}, "proofs": ("sums", "count"), **given}
        return Receipt(0.5, 1e-6, "replace_one", "rdp", events, "GD(<b>)", **fields)

    def test_every_fact_has_a_line(self):
        lines = self.receipt(seeded=True, unspent=0.125, notes=("a note",)).lines()
        assert lines[0] == ("guarantee", "epsilon = 0.5, delta = 1e-06, replace_one")
        assert ("released", "2 x Gaussian(multiplier=9.0)") in lines
        assert ("unspent", "0.125") in lines and ("note", "a note") in lines
        assert ("public", "classes = [0, 1]") in lines and ("proofs", "sums, count") in lines
        assert dict(lines)["seed"].startswith("FIXED")

    def test_an_unseeded_fit_has_no_such_line(self):
        named = {what for what, _ in self.receipt().lines()}
        assert not named & {"seed", "unspent", "note"}

    def test_no_privacy_is_said_first(self):
        lines = Receipt(math.inf, 0.0, "replace_one", "none", (), "GD()").lines()
        assert lines[0] == ("guarantee", "NONE: epsilon is infinite, no noise was added")

    def test_it_can_be_written_as_json(self):
        kept = json.loads(json.dumps(self.receipt().to_dict()))
        assert kept["script"] == [
            {"event": "Gaussian", "count": 2, "multiplier": 9.0},
            {"event": "PureDP", "count": 1, "epsilon": 0.1},
        ]
        assert kept["epsilon"] == 0.5 and kept["proofs"] == ["sums", "count"]

    def test_what_others_wrote_is_escaped_in_a_notebook(self):
        shown = self.receipt()._repr_html_()
        assert "GD(&lt;b&gt;)" in shown and "<b>" not in shown

    def test_it_prints_as_its_lines(self):
        assert str(self.receipt()).splitlines()[2].split() == ["accountant", "rdp"]

    def test_a_sceptic_can_price_it_elsewhere(self):
        pytest.importorskip("dp_accounting")
        gaussians = Receipt(0.5, 1e-6, "add_remove", "gdp", ((Gaussian(9.0), 2),), "GD()")
        assert gaussians.to_dp_event().events[0].count == 2
