"""Private figures tend to scikit-learn's, cost what they say, and tell nothing besides."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from skdp import BudgetExceeded, NotSupported, PrivacyWarning
from skdp.metrics import DPConfusionMatrix, dp_calibration_curve, dp_score
from skdp.metrics._score import SCORINGS
from skdp.privacy import Ledger

rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 3))
Y = np.where(X[:, 0] + 0.5 * rng.normal(size=3000) > 0.4, "yes", "no")
MODEL = LogisticRegression().fit(X[:1000], Y[:1000])
HELD = X[1000:], Y[1000:]
P = MODEL.predict_proba(HELD[0])[:, 1]
TRUTH = {
    "accuracy": MODEL.score(*HELD),
    "balanced_accuracy": metrics.balanced_accuracy_score(HELD[1], MODEL.predict(HELD[0])),
    "roc_auc": metrics.roc_auc_score(HELD[1], P),
    "log_loss": metrics.log_loss(HELD[1], P),
    "brier_score": metrics.brier_score_loss(HELD[1], P, pos_label="yes"),
}
LOOSE = {"epsilon": 1e4, "delta": 1e-2}
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

    with pytest.raises(ValueError, match="failed on these rows") as refusal:
        dp_score(Loud().fit(X, Y), *HELD)
    assert refusal.value.__context__ is None and "[" not in str(refusal.value)
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
