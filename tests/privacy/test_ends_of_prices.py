"""Where prices end: mixtures that are too long, windows that miss, noise without bounds, scripts that nobody prices."""

import itertools
import math
from dataclasses import dataclass, replace

import mpmath
import numpy as np
import pytest

from skdp.exceptions import NotSupported
from skdp.privacy import (
    Filter,
    Ledger,
    Spec,
    _cost_registry,
    calibrate,
    choose,
    delta,
    epsilon,
    to_dp_event,
)
from skdp.privacy._gaussian import gaussian_epsilon, gaussian_mu
from skdp.privacy._objective import pure_objective_epsilon
from skdp.privacy._pld_compose import Tail, compose
from skdp.privacy._pld_pairs import GaussianPair
from skdp.privacy._pld_plan import plan_for_delta
from skdp.privacy.curves import cost, register
from skdp.privacy.events import (
    ZCDP,
    Event,
    Gaussian,
    Laplace,
    ObjectivePerturbation,
    PoissonBundle,
    PureDP,
    PureObjectivePerturbation,
    RandomPosition,
    RenyiDP,
    WithoutReplacementGaussian,
    inverse_noise_field,
    merged,
    run_lengths,
    tally,
)
from skdp.privacy.groups import for_rows
from skdp.privacy.ledger import Scripted

SPEC = Spec(1.0, 1e-6)


def script(*events):
    return tuple((event, 1) for event in events)


@dataclass(frozen=True)
class OnlyMu(Event):
    """Of which only a mu is known."""

    mu: float = inverse_noise_field()


@dataclass(frozen=True)
class Unpriced(Event):
    """Of which nothing is known."""

    mu: float = inverse_noise_field()


@pytest.fixture
def registry(monkeypatch):
    """A registry of costs that is put back afterwards, with a mu for `OnlyMu`."""
    monkeypatch.setattr(_cost_registry, "_CURVES", dict(_cost_registry._CURVES))
    register(OnlyMu, "gdp")(lambda event, neighbors: event.mu)


class TestRenyiFilters:
    """All that a filter at one order lets pass costs no more than its promise."""

    @pytest.mark.parametrize(
        "promise, order",
        [
            *(((1.0, 1e-6), order) for order in (None, 20, 150)),
            *(((0.1, 1e-9), order) for order in (None, 400)),
            *(((3.0, 1e-3), order) for order in (None, 4, 7)),
            *(((10.0, 1e-5), order) for order in (None, 3, 20, 150)),
        ],
    )
    def test_priced_back_they_cost_the_promise(self, promise, order):
        spec = Spec(*promise)
        account = Filter(spec, "rdp", order)
        price = epsilon(account.allowance, spec.delta, accountant="rdp")
        # More digits would promise what rounding can lose.
        assert spec.epsilon * (1 - 1e-11) <= price <= spec.epsilon * (1 + 1e-14)
        back = delta(account.allowance, spec.epsilon, accountant="rdp")
        assert spec.delta * (1 - 1e-7) <= back <= spec.delta * (1 + 1e-9)

    def test_the_least_is_at_the_larger_of_two_orders_where_that_is_cheaper(self):
        near, far = RenyiDP(5.0, 0.05), RenyiDP(40.0, 0.06)

        def proved(order, divergence):
            surplus = math.log1p(-1 / order) - math.log(1e-6 * order) / (order - 1)
            return divergence + surplus

        assert epsilon(script(far), 1e-6) == pytest.approx(proved(40.0, 0.06), rel=1e-13)
        assert epsilon(script(near, far), 1e-6) == pytest.approx(proved(5.0, 0.11), rel=1e-13)

    @pytest.mark.parametrize("order", [1e18, 1e300, 1.7e308, math.inf])
    def test_orders_where_divergences_lose_their_digits_are_not_tried(self, order):
        beside = script(RenyiDP(order, 0.1), Laplace(2.0))
        assert epsilon(beside, 1e-6) >= epsilon(script(Laplace(2.0)), 1e-6) + 0.1 - 1e-9


class TestGaussianEnds:
    """Noise for the smallest promises there are."""

    @pytest.mark.parametrize("d", [1e-300, 1e-9, 1e-3, 0.5])
    def test_at_the_smallest_epsilon_delta_is_the_distance_of_two_normals(self, d):
        mu = gaussian_mu(math.ulp(0.0), d)
        with mpmath.workdps(400):
            distance = mpmath.erf(mpmath.mpf(mu) / mpmath.sqrt(8))
        assert d * (1 - 1e-9) <= float(distance) <= d


class TestLongMixtures:
    """Closed forms have an end, where others take over."""

    def test_as_many_kinds_of_pure_steps_are_priced_by_their_losses(self):
        sizes = [0.01 * (1 + i) for i in range(16)]  # 2^16 branches
        events = script(*map(PureDP, sizes))
        with pytest.raises(NotSupported, match="cannot compose these 16 events; use 'auto'"):
            epsilon(events, 1e-3, accountant="profile")
        signs = np.array(list(itertools.product((1.0, -1.0), repeat=16)))
        losses = signs @ sizes
        weights = np.exp((signs * sizes / 2 - np.log(2 * np.cosh(np.array(sizes) / 2))).sum(1))

        def truth(e):
            return float(weights @ -np.expm1(np.minimum(e - losses, 0.0)))

        price = epsilon(events, 1e-3)
        assert truth(price) <= 1e-3 < truth(price * (1 - 1e-3))

    def test_a_random_position_beside_a_curve_of_its_own_is_left_to_others(self):
        events = script(RandomPosition((0.5, 0.5), (3.0, 6.0)), Laplace(4.0))
        with pytest.raises(NotSupported, match="cannot compose these 2 events"):
            delta(events, 1.0, accountant="profile")
        assert choose(events) != "profile"

    def test_rounds_of_an_objective_beyond_the_doubles_are_priced_by_their_divergence(self):
        """Without curvature the loss of a round is that of a Gaussian of the shift."""
        event = ObjectivePerturbation(shift=0.01, jacobian=0.0, rounds=2000)
        assert delta(script(event), 5.0, "add_remove", "profile") == 1.0
        price = epsilon(script(event), 1e-6, "add_remove")
        assert gaussian_epsilon(0.01 * math.sqrt(2000), 1e-6) <= price < math.inf
        assert price == epsilon(script(event), 1e-6, "add_remove", "rdp")


class TestObjectives:
    """Pure objective perturbation where only a label changes."""

    def test_a_label_costs_what_its_slope_moves(self):
        """The density of the end is exp(-|gradient|/s) times a Hessian without the label."""
        x, noise, convexity = 0.8, 2.0, 0.5
        w = np.linspace(-30, 30, 2001)
        slopes = [-y * x / (1 + np.exp(y * x * w)) for y in (1, -1)]
        tops = [-np.abs(slope + convexity * w) / noise for slope in slopes]
        event = PureObjectivePerturbation(x / noise, math.inf, "label_dp")
        worst = np.abs(tops[0] - tops[1]).max()
        price = pure_objective_epsilon(event, "label")
        assert worst <= price * (1 + 1e-12) and price == pytest.approx(worst, rel=1e-9)
        twice = replace(event, rounds=2, output=0.1)
        assert pure_objective_epsilon(twice, "label") == pytest.approx(2 * (price + 0.1))

    @pytest.mark.parametrize(
        "rule, neighbors", [("label_dp", "replace_one"), ("label_dp", "add_remove")]
    )
    def test_and_nothing_is_said_of_rows(self, rule, neighbors):
        event = PureObjectivePerturbation(0.1, 0.1, rule)
        with pytest.raises(NotSupported, match="'label_dp' belongs to neighbors='label'"):
            epsilon(script(event), 0.0, neighbors)
        with pytest.raises(NotSupported, match="has no cost under neighbors='label'"):
            pure_objective_epsilon(replace(event, rule="one_signed"), "label")


class TestLossDistributions:
    """Windows that miss, and steps that cost nothing."""

    def test_a_window_that_misses_the_loss_promises_nothing(self):
        pairs = [(GaussianPair(1.0), 1)]
        plan = plan_for_delta(pairs, 1e-6, 2e-5)
        sound = compose(pairs, plan).epsilon(1e-6)
        assert sound == pytest.approx(gaussian_epsilon(1.0, 1e-6), rel=1e-4)
        missed = compose(pairs, replace(plan, below=1e4, width=1.0))  # far below all mass
        assert missed.epsilon(0.5) == math.inf
        assert missed.delta(0.0) == missed.delta(1e6) == 1.0

    def test_a_tail_of_which_nothing_is_kept_proves_nothing(self):
        nothing = np.zeros(0)
        tail = Tail(nothing, nothing, nothing, 0.0, 0.25)
        assert tail.epsilon(0.2) == tail.epsilon(0.5) == math.inf and tail.delta(3.0) == 1.0

    def test_a_pure_step_of_nothing_adds_nothing_to_a_bundle(self):
        bundle = PoissonBundle(3.0, (0.2,), 0.1)
        found = [
            epsilon(script(replace(bundle, epsilons=steps)), 1e-6, "add_remove")
            for steps in ((0.2,), (0.2, 0.0), (0.0, 0.2, 0.0))
        ]
        assert found[0] == found[1] == found[2]


class TestNobody:
    """Events that no accountant prices, alone or together."""

    def test_an_event_that_was_never_registered(self):
        with pytest.raises(NotSupported, match="Unpriced has no registered cost; register one"):
            cost(Unpriced(1.0), "pure", "replace_one")

    @pytest.mark.parametrize("accountant", ["auto", "profile", "rdp"])
    def test_a_cost_that_refuses_says_why_in_its_own_words(self, accountant):
        event = ObjectivePerturbation(0.1, 0.1, "label_dp")
        with pytest.raises(NotSupported, match="'label_dp' belongs to neighbors='label'"):
            epsilon(script(event), 1e-6, "add_remove", accountant)

    def test_another_events_pure_price_is_rounded_up(self, registry):
        register(OnlyMu, "pure")(lambda event, neighbors: event.mu / 3)
        price = epsilon(((OnlyMu(1.0), 3),), 0.0)
        assert 1.0 <= price <= 1.0 + 1e-14

    def test_two_events_without_a_common_currency(self, registry):
        both = script(OnlyMu(0.1), RenyiDP(8.0, 0.1))
        said = "No accountant composes OnlyMu, RenyiDP under replace_one; release them in separate"
        with pytest.raises(NotSupported, match=said):
            epsilon(both, 1e-6)
        assert epsilon(both[:1], 1e-6) == gaussian_epsilon(0.1, 1e-6)

    @pytest.mark.parametrize("accountant", ["auto", "rdp"])
    def test_the_one_that_is_to_blame_is_named(self, accountant):
        mixed = script(PureDP(0.1), WithoutReplacementGaussian(2.0, 0.1))
        said = "cannot price WithoutReplacementGaussian under add_remove; use the other neighbour"
        with pytest.raises(NotSupported, match=said):
            epsilon(mixed, 1e-6, "add_remove", accountant)

    def test_what_cannot_be_priced_costs_everything_where_nothing_is_promised(self):
        ledger = Ledger(math.inf, 1e-6, "add_remove")
        ledger.reserve(script(WithoutReplacementGaussian(50.0, 0.1)))
        assert ledger.spent == math.inf and len(ledger.scripts) == 1


class TestScripts:
    """Runs of events, and a search for noise that a script rounds."""

    def test_neighbours_are_joined_and_empty_runs_left_out(self):
        a, b = Gaussian(2.0), PureDP(0.1)
        assert run_lengths([a, a, b, a]) == ((a, 2), (b, 1), (a, 1))
        assert merged([(a, 2), (b, 0), (a, 1), (b, 3), (b, 1)]) == ((a, 3), (b, 4))
        assert tally(((a, 2), (b, 0), (a, 1))) == {a: 3}

    @pytest.mark.parametrize("count", [-1, 1.5, True])
    def test_parts_of_an_event_are_not_counted(self, count):
        with pytest.raises(ValueError, match="give a whole number"):
            tally(((Gaussian(2.0), count),))

    def test_noise_that_is_rounded_down_is_searched_for(self):
        """Tenths below the exact scale break the promise, so the next tenth is found."""
        exact = 1 / gaussian_mu(1.0, 1e-6)
        scale, found = calibrate(lambda s: script(Gaussian(math.floor(10 * s) / 10)), SPEC)
        ((event, _),) = found
        assert event.multiplier == math.ceil(10 * exact) / 10
        assert event.multiplier <= scale <= event.multiplier * (1 + 1e-6)

    def test_a_script_without_a_promise_has_no_price(self):
        account = Scripted(Spec(math.inf, 1e-6), script(Gaussian(0.0)))
        assert account.cost == math.inf
        account.charge(Gaussian(0.0))
        assert account.complete


class TestFirstScripts:
    """The order of a ledger that opens with a script which says nothing of orders."""

    def test_a_first_script_that_costs_nothing_leaves_the_order_to_the_promise(self):
        ledger = Ledger(1.0, 1e-6, accountant="rdp")
        ledger.reserve(script(Gaussian(math.inf)))
        assert ledger.spent == 0.0 and ledger.renyi_order == Filter(SPEC, "rdp").order
        ledger.reserve(script(Gaussian(20.0)))
        assert 0.0 < ledger.spent < 1.0


class TestOthersWords:
    """Scripts in the words of dp-accounting."""

    def test_what_is_translated_keeps_its_number(self):
        google = pytest.importorskip("dp_accounting")
        (part,) = to_dp_event(script(ZCDP(0.25))).events
        assert part.event == google.ZCDpEvent(0.25)
        (part,) = to_dp_event(script(WithoutReplacementGaussian(3.0, 1.0))).events
        assert part.event == google.GaussianDpEvent(3.0)  # a whole sample: C over sd, as they count


def test_rows_that_are_hidden_by_delta_alone_cost_the_smallest_number():
    """Three rows move a Gaussian of mu 1e-9 and a coin of 1e-12 by less than delta in total variation."""
    events, spec = script(Gaussian(1e9), PureDP(1e-12)), Spec(1.0, 1e-3)
    assert 3 * (delta(events, 0.0)) < spec.delta
    assert for_rows(events, spec, 3).epsilon == math.ulp(0.0)
