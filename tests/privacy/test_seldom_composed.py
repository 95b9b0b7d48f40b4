"""Accounts of what is seldom composed: profiles without a grid, laws without a theorem, scopes inside scopes."""

import math

import numpy as np
import pytest

from skdp.exceptions import BudgetExceeded, NotSupported
from skdp.privacy import Ledger, Spec, _pld, accountants, delta, profile
from skdp.privacy import _pld as profiles
from skdp.privacy._best_of import _at, _lower_hull, _of_event
from skdp.privacy._filter import Book
from skdp.privacy._gaussian import gaussian_delta
from skdp.privacy._receipts._words import label
from skdp.privacy._shifted import used
from skdp.privacy.events import BestOf, Gaussian, PoissonGaussian, PureDP, RenyiDP
from skdp.privacy.events._written import read_script, written_script
from skdp.privacy.ledger import _budget as budgets
from skdp.privacy.ledger._store import Repeats, Store
from skdp.privacy.selection import CappedGeometricRuns, PoissonRuns, selection_delta

BATCHES = ((PoissonGaussian(2.0, 0.01), 50),)
BEST = BestOf((((Gaussian(4.0), 1),), ((PureDP(0.2), 2),)), (0.5, 0.5), 3, 5)
LAW = CappedGeometricRuns(3, 5)


class TestProfiles:
    def test_of_what_is_not_composed_is_asked_one_by_one(self):
        script = ((Gaussian(2.0), 3),)
        found = profiles.profile(script, np.array([0.0, 1.0]), "replace_one")
        assert found.tolist() == [_pld.delta(script, e, "replace_one") for e in (0.0, 1.0)]

    def test_a_grid_that_is_missing_at_some_epsilons_is_missed_there_alone(self, monkeypatch):
        epsilons, planned = np.linspace(0.0, 2.0, 7), _pld.tails_at
        whole = profiles.profile(BATCHES, epsilons, "replace_one")

        def few(pairs, epsilon, accuracy):
            if epsilon > 1.0:
                raise NotSupported("no grid")
            return planned(pairs, epsilon, accuracy)

        monkeypatch.setattr(_pld, "tails_at", few)
        found = profiles.profile(BATCHES, epsilons, "replace_one")
        assert (
            (found >= whole * (1 - 1e-4)).all() and (found[-1] > whole[-1]) and (found < 1.0).any()
        )

    def test_no_grid_at_all_is_a_refusal(self, monkeypatch):
        def none(pairs, epsilon, accuracy):
            raise NotSupported("no grid")

        monkeypatch.setattr(_pld, "tails_at", none)
        with pytest.raises(NotSupported, match="no grid"):
            profiles.profile(BATCHES, np.array([0.5]), "replace_one")

    def test_epsilons_below_zero_are_refused(self):
        with pytest.raises(ValueError, match=r"must be 0 or more"):
            profile(((PureDP(1.0), 1),), [0.5, -0.5])

    def test_an_engine_that_refuses_leaves_the_word_to_the_next(self, monkeypatch):
        script = ((RenyiDP(8.0, 0.05), 1), (PoissonGaussian(2.0, 0.01), 10))
        found = accountants.profile(script, [0.5, 1.0])
        assert found.tolist() == [delta(script, e) for e in (0.5, 1.0)]

    def test_no_engine_left_is_a_refusal(self, monkeypatch):
        def refuses(self, counts, epsilons, neighbors):
            raise NotSupported("none of it")

        for engine in accountants.ENGINES.values():
            monkeypatch.setattr(type(engine), "profile", refuses)
        with pytest.raises(NotSupported, match="none of it"):
            accountants.profile(BATCHES, [0.5])


class TestBestOf:
    def test_a_hull_skips_points_that_do_not_go_on(self):
        xs, ys = _lower_hull(np.array([1.0, 1.0, 2.0]), np.array([1.0, 1.5, 3.0]))
        assert xs.tolist() == [0.0, 1.0, 2.0] and ys.tolist() == [0.0, 1.0, 3.0]

    def test_beside_a_gaussian_of_no_noise_everything_is_told(self):
        script = ((BEST, 1), (Gaussian(0.0), 1))
        assert delta(script, 3.0) == 1.0

    def test_negative_epsilons_follow_from_positive_ones(self):
        curve = _of_event(BEST, "replace_one")
        assert _at(curve, -0.5) == pytest.approx(1 - math.exp(-0.5) * (1 - curve(0.5)))

    def test_a_receipt_spells_what_its_runs_are_made_of(self):
        assert label(BEST).startswith("BestOf(scripts=[")
        assert " or [" in label(BEST)
        assert "0.5, 0.5" in label(BEST)

    def test_it_is_written_and_read_back(self):
        assert read_script(written_script(((BEST, 2),))) == ((BEST, 2),)

    @pytest.mark.parametrize("given", [(1, 5), (3, 0), (3.0, 5), (3, 10**4 + 1)])
    def test_a_law_of_whole_numbers_within_reason(self, given):
        with pytest.raises(ValueError, match="must be a whole number from"):
            CappedGeometricRuns(*given)

    def test_for_laws_without_other_theorems_the_curve_stands_alone(self):
        def run(epsilon):
            return float(gaussian_delta(epsilon, 0.25))

        assert LAW.shift(run) == math.inf and LAW.renyi(lambda a: a, run) is None
        assert 0 < selection_delta(run, 0.5, LAW) < 1
        assert selection_delta(run, 0.1, PoissonRuns(4.0)) < 1


class TestLedgers:
    def test_a_book_whose_currency_does_not_know_a_script_is_used_up_by_it(self):
        assert (
            used(Book(Spec(1.0, 0.0, "replace_one"), "pure"), [((Gaussian(1.0), 1),)]) == math.inf
        )

    def test_what_can_change_in_place_is_checked_each_time(self):
        runs, repeats = [(PureDP(0.1), 1)], Repeats()
        first = repeats.checked(runs)
        runs[0] = (PureDP(0.2), 1)
        assert first != repeats.checked(runs)

    def test_fits_that_are_paid_for_as_a_whole_are_not_charged_again(self):
        with budgets.budget(1.0, 1e-6) as ledger:
            assert budgets.in_scope() is not None
            with budgets.paid():
                scope = budgets.in_scope()
            assert scope is None or scope.ledger is None
        assert len(ledger) == 0

    @pytest.mark.parametrize("given", [(1.0, 1e-6), (1.0, 0.0)])
    def test_what_is_coming_is_refused_before_the_first(self, given):
        ledger = Ledger(*given)
        coming = [(((PureDP(0.4), 1),), 2)]
        ledger.announce(coming)
        with pytest.raises(
            BudgetExceeded, match=r"4 fits are coming, which cost .* nothing was charged"
        ):
            ledger.announce(coming * 2)
        assert ledger.spent == 0.0

    def test_a_ledger_that_was_told_how_many_asks_at_the_first(self):
        ledger = Ledger(1.0, 0.0, fits=4)
        ledger.announce([(((PureDP(0.4), 1),), 4)])
        with pytest.raises(BudgetExceeded):
            ledger.reserve(((PureDP(0.4), 1),))

    def test_a_handle_of_an_older_day_knows_its_ledger_by_its_file(self, tmp_path):
        ledger = Ledger(1.0, 0.0, path=tmp_path / "ledger.db")
        store = ledger._store
        handle = store.handle()
        header = {k: v for k, v in handle.header.items() if k != "id"}
        assert store.is_that_of(handle._replace(header=header))
        assert not Store(header).is_that_of(handle._replace(header=header))
