"""Private figures tend to scikit-learn's, cost what they say, and tell nothing besides."""

from itertools import pairwise

import numpy as np
import pytest
from laws.true_figures import true_figures
from sklearn import metrics
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

from skdp import BudgetExceeded, DPLinearRegression, NotSupported, PrivacyWarning, budget
from skdp.metrics import DPConfusionMatrix, DPGroupAccuracy, dp_calibration_curve, dp_score
from skdp.metrics._score import SCORINGS
from skdp.privacy import NEIGHBORS, Ledger

rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 3))
Y = np.where(X[:, 0] + 0.5 * rng.normal(size=3000) > 0.4, "yes", "no")
MODEL = LogisticRegression().fit(X[:1000], Y[:1000])
HELD = X[1000:], Y[1000:]
P = MODEL.predict_proba(HELD[0])[:, 1]
TRUTH = {
    "balanced_accuracy": metrics.balanced_accuracy_score(HELD[1], MODEL.predict(HELD[0])),
    "roc_auc": metrics.roc_auc_score(HELD[1], P),
    "log_loss": metrics.log_loss(HELD[1], P),
    "brier_score": metrics.brier_score_loss(HELD[1], P, pos_label="yes"),
}
TOLD = HELD[1], MODEL.predict(HELD[0]), P
TRUTH |= {name: truth(*TOLD) for name, truth in true_figures(SCORINGS).items()}
LOOSE = {"epsilon": 1e4, "delta": 1e-4}
THREE = np.random.default_rng(1).integers(3, size=3000)
OF_THREE = LogisticRegression().fit(X[:1000], THREE[:1000])


def test_every_scoring_has_a_truth():
    assert set(SCORINGS) == set(TRUTH)


@pytest.mark.parametrize("scoring", TRUTH)
def test_with_little_noise_it_is_scikit_learns(scoring):
    found = dp_score(MODEL, *HELD, scoring=scoring, **LOOSE)
    assert found.value == pytest.approx(TRUTH[scoring], abs=2e-3) and float(found) == found.value
    assert found.low < TRUTH[scoring] < found.high


@pytest.mark.parametrize("scoring", sorted(set(TRUTH) - {"roc_auc"}))
def test_where_n_is_private_too(scoring):
    found = dp_score(MODEL, *HELD, scoring=scoring, neighbors="add_remove", **LOOSE)
    assert found.value == pytest.approx(TRUTH[scoring], abs=2e-3)
    assert "n" not in found.privacy.declared


@pytest.mark.parametrize("scoring", TRUTH)
def test_a_higher_level_makes_a_wider_interval(scoring):
    levels = ("level", 0.5), ("level", 0.99)
    found = [dp_score(MODEL, *HELD, scoring=scoring, **LOOSE, **dict([one])) for one in levels]
    narrow, wide = (one.high - one.low for one in found)
    assert 1.5 * narrow < wide


@pytest.mark.parametrize("one, other", [NEIGHBORS, NEIGHBORS[::-1]])
def test_a_ledger_of_the_other_relation_is_refused(one, other):
    # A replaced record moves two cells: under replace-one the noise that hides who comes or goes is too little.
    ledger = Ledger(1.0, 1e-6, one)
    for score in (dp_score, DPConfusionMatrix.from_estimator, dp_calibration_curve):
        with pytest.raises(ValueError, match="differs from the ledger's"):
            score(MODEL, *HELD, neighbors=other, ledger=ledger)
    assert ledger.spent == 0.0


def test_a_budget_in_scope_pays():
    with budget(1.0, 1e-6) as ledger:
        dp_score(MODEL, *HELD, epsilon=0.5)
        assert len(ledger) == 1
        with pytest.raises(BudgetExceeded):
            dp_score(MODEL, *HELD, epsilon=0.9)


@pytest.mark.parametrize("scoring", TRUTH)
def test_it_costs_what_is_asked_and_the_ledger_pays_first(scoring):
    ledger = Ledger(1.0, 1e-6, accountant="gdp")
    found = dp_score(MODEL, *HELD, scoring=scoring, epsilon=0.5, ledger=ledger)
    receipt = found.privacy
    assert 0.4999 <= receipt.epsilon <= 0.5 and receipt.verify()
    assert ledger.spent == pytest.approx(receipt.epsilon) and receipt.ledger["spent_before"] == 0.0
    with pytest.raises(BudgetExceeded):
        dp_score(MODEL, *HELD, scoring=scoring, epsilon=0.9, ledger=ledger)


def test_nothing_is_asked_of_the_model_before_it_is_paid():
    class Watched(LogisticRegression):
        def predict(self, X):
            pytest.fail("records were touched")

    model = Watched().fit(X[:1000], Y[:1000])
    with pytest.raises(BudgetExceeded):
        dp_score(model, *HELD, ledger=Ledger(0.1, 1e-6))


def test_under_add_remove_records_are_shown_alone():
    shapes = set()

    class Watched(LogisticRegression):
        def predict(self, X):
            shapes.add(X.shape)
            return super().predict(X)

    model = Watched().fit(X[:1000], Y[:1000])
    dp_score(model, *HELD, neighbors="add_remove")
    assert shapes == {(1, 3)}


def test_a_model_that_fails_or_warns_tells_nothing():
    class Loud(LogisticRegression):
        def predict(self, X):
            raise KeyError(f"the record {X[0]}")

    class Louder(LogisticRegression):
        def predict(self, X):
            import warnings

            warnings.warn(f"the record {X[0]}", stacklevel=1)
            return super().predict(X)

    # It has been paid for: that a model fails would tell of a row. All count as of the first class.
    found = dp_score(Loud().fit(X, Y), *HELD, **LOOSE)
    assert found.value == pytest.approx((HELD[1] == "no").mean(), abs=1e-3)
    dp_score(Louder().fit(X, Y), *HELD)


def test_probabilities_that_are_none_count_as_the_worst():
    class Torn(LogisticRegression):
        def predict_proba(self, X):
            return np.full((len(X), 2), np.nan)

    found = dp_score(Torn().fit(X, Y), *HELD, scoring="brier_score", **LOOSE)
    assert found.value == pytest.approx((HELD[1] == "yes").mean(), abs=1e-3)


class TestConfusion:
    """Counts, and the rates made of them."""

    @pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
    def test_with_little_noise_it_is_scikit_learns(self, neighbors):
        found = DPConfusionMatrix.from_estimator(
            OF_THREE, X[1000:], THREE[1000:], neighbors=neighbors, **LOOSE
        )
        told = OF_THREE.predict(X[1000:])
        truth = metrics.confusion_matrix(THREE[1000:], told)
        assert np.abs(found.matrix - truth).max() < 0.5
        assert found.accuracy().value == pytest.approx(
            metrics.accuracy_score(THREE[1000:], told), abs=1e-3
        )
        recalls = metrics.recall_score(THREE[1000:], told, average=None)
        precisions = metrics.precision_score(THREE[1000:], told, average=None, zero_division=0)
        for label in range(3):
            assert found.recall(label).value == pytest.approx(recalls[label], abs=2e-3)
            if truth[:, label].sum() > 50:
                assert found.precision(label).value == pytest.approx(precisions[label], abs=2e-2)
        assert found.balanced_accuracy().value == pytest.approx(recalls.mean(), abs=2e-3)

    def test_counts_are_put_on_n_and_are_one_release(self):
        found = DPConfusionMatrix.from_estimator(MODEL, *HELD, epsilon=0.2)
        assert found.matrix.sum() == pytest.approx(2000) and len(found.privacy.script) == 1

    def test_a_label_that_is_none(self):
        with pytest.raises(ValueError, match="label='maybe'"):
            DPConfusionMatrix.from_estimator(MODEL, *HELD).recall("maybe")


class TestCalibration:
    """Rates by probability."""

    def test_with_little_noise_it_is_the_rate_in_each_bin(self):
        hit = HELD[1] == "yes"
        for low, high, rate in dp_calibration_curve(MODEL, *HELD, n_bins=5, **LOOSE):
            inside = (low <= P) & ((high > P) | (high == 1.0))
            assert rate.value == pytest.approx(hit[inside].mean(), abs=1e-2)

    def test_bins_with_little_in_them_are_merged(self):
        curve = dp_calibration_curve(MODEL, *HELD, n_bins=50, epsilon=0.1)
        assert 1 <= len(curve) < 30
        assert curve[0][0] == 0.0 and curve[-1][1] == 1.0
        assert all(one[1] == other[0] for one, other in pairwise(curve))


NUMBERS = X[:, 0] + 0.5 * rng.normal(size=3000)
OF_NUMBERS = LinearRegression().fit(X[:1000], NUMBERS[:1000])
BOUNDS = (-3.0, 2.5)


class TestR2:
    """Of a regressor."""

    @staticmethod
    def score(**given):
        given = {"scoring": "r2", "y_bounds": BOUNDS} | given
        return dp_score(OF_NUMBERS, X[1000:], NUMBERS[1000:], **given)

    def test_with_little_noise_it_is_scikit_learns_of_cut_numbers(self):
        told = OF_NUMBERS.predict(X[1000:]).clip(*BOUNDS)
        truth = metrics.r2_score(NUMBERS[1000:].clip(*BOUNDS), told)
        found = self.score(**LOOSE)
        assert found.value == pytest.approx(truth, abs=2e-3) and found.low < truth < found.high

    def test_at_epsilon_infinite_it_is_so_to_the_last_digits(self):
        told = OF_NUMBERS.predict(X[1000:]).clip(*BOUNDS)
        truth = metrics.r2_score(NUMBERS[1000:].clip(*BOUNDS), told)
        with pytest.warns(PrivacyWarning, match="NOT private"):
            assert self.score(epsilon=np.inf).value == pytest.approx(truth, abs=1e-8)

    def test_of_a_useless_model_it_may_be_far_below_0(self):
        wrong = LinearRegression().fit(X[:1000], 2.0 - 3.0 * NUMBERS[:1000])
        told, y = wrong.predict(X[1000:]).clip(*BOUNDS), NUMBERS[1000:].clip(*BOUNDS)
        found = dp_score(wrong, X[1000:], y, scoring="r2", y_bounds=BOUNDS, **LOOSE)
        assert found.value == pytest.approx(metrics.r2_score(y, told), abs=0.1) and found.value < -3

    def test_where_noise_drowns_the_targets_nothing_is_said(self):
        found = dp_score(
            OF_NUMBERS, X[:20], NUMBERS[:20], scoring="r2", y_bounds=BOUNDS, epsilon=0.01
        )
        assert (found.low, found.high) == (-np.inf, 1.0) and found.low <= found.value <= 1.0

    def test_it_costs_what_is_asked_and_the_ledger_pays_first(self):
        ledger = Ledger(1.0, 1e-6, accountant="gdp")
        receipt = self.score(epsilon=0.5, ledger=ledger).privacy
        assert 0.4999 <= receipt.epsilon <= 0.5 and receipt.verify()
        assert ledger.spent == pytest.approx(receipt.epsilon) and receipt.proofs[0] == "mean_loss"
        with pytest.raises(BudgetExceeded):
            self.score(epsilon=0.9, ledger=ledger)

    def test_bounds_are_those_of_the_estimator_or_have_to_be_given(self):
        model = DPLinearRegression(y_bounds=BOUNDS, data_norm=6.0).fit(X[:1000], NUMBERS[:1000])
        for one in (model, make_pipeline(FunctionTransformer(), model)):
            found = dp_score(one, X[1000:], NUMBERS[1000:], scoring="r2")
            assert found.privacy.declared["y_bounds"] == list(BOUNDS)
        with pytest.raises(ValueError, match=r"y_bounds=None must be a pair.*never those of the"):
            self.score(y_bounds=None)

    @pytest.mark.parametrize("bounds", [(-1e30, 1e30), (0.0, 1e-20), (-5, 7)])
    def test_whatever_the_bounds_nothing_overflows(self, bounds):
        found = self.score(y_bounds=bounds)
        assert found.low <= found.value <= found.high <= 1.0

    def test_what_has_no_proof_or_no_meaning_is_refused(self):
        with pytest.raises(NotSupported, match="public number of records"):
            self.score(neighbors="add_remove")
        with pytest.raises(NotSupported, match="not a regressor"):
            dp_score(MODEL, *HELD, scoring="r2", y_bounds=BOUNDS)
        with pytest.raises(NotSupported, match="no classes_"):
            dp_score(OF_NUMBERS, X, NUMBERS)
        with pytest.raises(ValueError, match="level=2"):
            self.score(level=2)


GROUPS = np.where(X[:, 1] > 0.3, "north", "south")
NAMES = ["south", "north", "west"]


class TestGroups:
    """Accuracy by declared group."""

    @staticmethod
    def counted(**given):
        given = {"names": NAMES} | given
        return DPGroupAccuracy.from_estimator(MODEL, *HELD, GROUPS[1000:], **given)

    @pytest.mark.parametrize("neighbors", NEIGHBORS)
    def test_with_little_noise_it_is_that_of_each_group(self, neighbors):
        found = self.counted(neighbors=neighbors, **LOOSE)
        right = MODEL.predict(HELD[0]) == HELD[1]
        truth = {name: right[GROUPS[1000:] == name].mean() for name in NAMES[:2]}
        for name, true in truth.items():
            assert found.accuracy(name).value == pytest.approx(true, abs=1e-3)
            assert found.sizes[name] == pytest.approx((GROUPS[1000:] == name).sum(), abs=1.0)
        gap = found.gap("south", "north")
        assert gap.value == pytest.approx(truth["south"] - truth["north"], abs=2e-3)
        assert (
            gap.low < gap.value < gap.high
            and gap.name == "accuracy of 'south' less that of 'north'"
        )

    def test_all_groups_are_one_release_and_a_group_of_nobody_has_no_figure(self):
        ledger = Ledger(1.0, 1e-6, accountant="gdp")
        found = self.counted(epsilon=0.5, ledger=ledger)
        assert len(ledger) == 1 and len(found.privacy.script) == 1 and found.privacy.verify()
        assert ledger.spent == pytest.approx(found.privacy.epsilon)
        west = found.accuracy("west")
        assert (west.low, west.high) == (0.0, 1.0)
        assert found.gap("west", "south").high - found.gap("west", "south").low > 0.9

    def test_a_gap_the_other_way_is_the_same(self):
        found = self.counted()
        one, other = found.gap("south", "north"), found.gap("north", "south")
        assert (one.value, one.low, one.high) == pytest.approx(
            (-other.value, -other.high, -other.low)
        )

    def test_a_group_that_was_not_declared_is_refused_before_it_is_paid_and_not_shown(self):
        ledger = Ledger(1.0, 1e-6)
        with pytest.raises(ValueError, match=r"not among names=\[.*'south'") as refusal:
            self.counted(names=["south", "west"], ledger=ledger)
        assert "north" not in str(refusal.value) and len(ledger) == 0

    @pytest.mark.parametrize("names", [[], ["a", "a"], [1, None], [["a"], ["b"]]])
    def test_names_that_are_none(self, names):
        with pytest.raises(ValueError, match="names="):
            self.counted(names=names)

    def test_a_name_that_is_none_of_them(self):
        with pytest.raises(ValueError, match="'east' is not among the groups"):
            self.counted().accuracy("east")


@pytest.mark.parametrize(
    "given, said",
    [
        ({"scoring": "f1"}, "scoring='f1'"),
        ({"level": 1.0}, "level=1.0"),
        ({"neighbors": "none"}, "neighbors='none'"),
        ({"epsilon": -1.0}, "epsilon=-1.0"),
    ],
)
def test_wrong_parameters_are_named(given, said):
    with pytest.raises(ValueError, match=said):
        dp_score(MODEL, *HELD, **given)


def test_what_has_no_proof_or_no_meaning_is_refused():
    with pytest.raises(NotSupported, match="public number of records"):
        dp_score(MODEL, *HELD, scoring="roc_auc", neighbors="add_remove")
    with pytest.raises(NotSupported, match="two classes"):
        dp_score(OF_THREE, X, THREE, scoring="roc_auc")
    with pytest.raises(NotSupported, match="no predict_proba"):
        dp_score(LinearSVC().fit(X, Y), *HELD, scoring="log_loss")
    with pytest.raises(ValueError, match="not among the model's classes"):
        dp_score(MODEL, X, np.where(np.arange(3000) == 5, "maybe", Y))


def test_no_promise_is_warned_of_and_a_seed_is_told():
    with pytest.warns(PrivacyWarning, match="NOT private"):
        found = dp_score(MODEL, *HELD, epsilon=np.inf)
    assert found.value == pytest.approx(TRUTH["accuracy"], abs=1e-9)
    one, two = (dp_score(MODEL, *HELD, random_state=3) for _ in range(2))
    assert one.value == two.value and one.privacy.seeded
