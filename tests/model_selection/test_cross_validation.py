"""What a cross-validated score costs, that it is the score, and what is refused."""

import itertools
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from skdp import BudgetExceeded, DPLogisticRegression, budget, total
from skdp.exceptions import NotSupported
from skdp.model_selection import KeyFold, PositionFold, dp_cross_val_score
from skdp.privacy import Ledger, epsilon
from skdp.privacy.events import tally

rng = np.random.default_rng(0)
X = rng.uniform(-0.5, 0.5, (1500, 3))
Y = (X[:, 0] + 0.2 * rng.normal(size=1500) > 0).astype(int)


def model(**given):
    return DPLogisticRegression(**{"data_norm": 1.0, "classes": [0, 1], "solver": "gd", **given})


@pytest.mark.parametrize("k, total", [(2, 1.4547), (3, 1.8138), (5, 2.3997), (10, 3.5247)])
def test_a_record_pays_for_all_fits_but_one_and_for_one_test(k, total):
    """K - 1 fits and a test at mu of (1, 1e-6) each: mu sqrt(K) in all."""
    ledger = Ledger(9.0, 1e-6, accountant="gdp")
    found = dp_cross_val_score(model(), X, Y, cv=k, ledger=ledger)
    assert found.privacy.epsilon == pytest.approx(total, abs=6e-5) and found.privacy.verify()
    assert ledger.spent == pytest.approx(total, abs=6e-5) and len(ledger.scripts) == 1
    assert {"partition", "cell_counts", "clipped_gradient"} <= set(found.privacy.proofs)


def test_parts_of_unlike_size_pay_as_the_costliest():
    ledger = Ledger(9.0, 1e-6)
    given = {"cv": 2, "ledger": ledger}
    found = dp_cross_val_score(model(solver="white-objective"), X[:1499], Y[:1499], **given)
    receipt = found.privacy
    assert receipt.epsilon == epsilon(receipt.script, 1e-6) and ledger.spent >= receipt.epsilon


@pytest.mark.parametrize("cv", [2, 3])
def test_ledger_and_receipt_cover_the_fits_of_every_part(cv):
    """Here rates go by the number of records, so that parts of unlike size ask other questions."""
    private, ledger = model(solver="rsgd-ar"), Ledger(9.0, 1e-6)
    receipt = dp_cross_val_score(private, X[:1499], Y[:1499], cv=cv, ledger=ledger).privacy
    sizes = [len(train) for train, _ in PositionFold(cv).split(X[:1499])]
    fits = [private.quote(size, 3).script for size in sizes]
    assert len({*fits}) == 2 and ledger.spent >= receipt.epsilon and receipt.verify()
    for part, script in itertools.product(range(cv), (receipt.script, ledger.scripts[0])):
        held = tally(script)
        others = tally(run for k, fit in enumerate(fits) if k != part for run in fit)
        assert all(held[event] >= count for event, count in others.items())


def test_the_costliest_part_at_one_delta_is_not_so_at_another():
    """Epsilon of what a record of each part pays: a receipt of the first alone would be too cheap for the second."""
    private = model(solver="rsgd-ar", epsilon=3.0)
    found = dp_cross_val_score(private, X[:1499], Y[:1499], cv=2)
    parts = [(*private.quote(n, 3).script, *found.privacy.script[-1:]) for n in (749, 750)]
    (large, small), (less, more) = ([epsilon(part, d) for part in parts] for d in (1e-6, 1e-9))
    assert large > small and less < more <= total(found.privacy, delta=1e-9).epsilon


def test_it_is_the_score_of_models_that_have_not_seen_the_record(monkeypatch):
    """Labels at random: a score of seen records would be far above a half."""
    seen = []
    fit = DPLogisticRegression.fit

    def noted(self, X, y):
        seen.append(len(X))
        return fit(self, X, y)

    monkeypatch.setattr(DPLogisticRegression, "fit", noted)
    found = dp_cross_val_score(model(epsilon=50.0, delta=1e-4), X, Y, cv=3, epsilon=50.0)
    assert seen == [1000, 1000, 1000]
    exact = LogisticRegression().fit(X[:1000], Y[:1000]).score(X[1000:], Y[1000:])
    assert found.value == pytest.approx(exact, abs=0.05)


def test_who_comes_or_goes():
    given = {"cv": KeyFold(2), "groups": np.arange(1500), "scoring": "balanced_accuracy"}
    private = model(neighbors="add_remove", n_public=1500)
    found = dp_cross_val_score(private, X, Y, **given)
    assert found.privacy.verify() and found.privacy.neighbors == "add_remove"
    assert 0.6 < found.value < 1.0


@pytest.mark.parametrize("scoring", ["roc_auc", "log_loss", "brier_score"])
def test_other_figures(scoring):
    found = dp_cross_val_score(model(), X, Y, scoring=scoring, cv=PositionFold(2, seed=3))
    assert found.low < found.value < found.high and found.privacy.verify()


@pytest.mark.parametrize("own", [True, False])
def test_a_budget_in_scope_pays_once_for_all_or_leaves_it_to_the_ledger(own):
    ledger = Ledger(9.0, 1e-6)
    with budget(9.0, 1e-6) as around:
        found = dp_cross_val_score(model(), X, Y, cv=2, ledger=ledger if own else None)
    payer, other = (ledger, around) if own else (around, ledger)
    assert len(payer) == 1 and not len(other) and payer.spent >= found.privacy.epsilon
    with budget(9.0, 1e-6) as around:  # nobody stays out of scope
        model().fit(X, Y)
    assert len(around) == 1


def test_a_ledger_that_cannot_pay_for_all_pays_for_nothing(monkeypatch):
    monkeypatch.setattr(DPLogisticRegression, "fit", lambda *_: pytest.fail("records were touched"))
    ledger = Ledger(1.2, 1e-6)  # enough for the fits of two parts, and not for the score besides
    with pytest.raises(BudgetExceeded):
        dp_cross_val_score(model(), X, Y, ledger=ledger)
    assert ledger.spent == 0.0


@pytest.mark.parametrize(
    "estimator, said",
    [
        (LogisticRegression(), "is not a private classifier"),
        (model(classes=None), "declare classes"),
        (model(random_state=0), "same noise"),
        (model(solver="agd"), "not fixed beforehand"),
    ],
)
def test_what_the_theorem_does_not_cover_is_refused(estimator, said):
    with pytest.raises(NotSupported, match=said):
        dp_cross_val_score(estimator, X, Y)


def test_labels_that_are_none_are_refused_without_being_shown():
    with pytest.raises(ValueError, match="not among the model's classes") as refusal:
        dp_cross_val_score(model(), X, np.where(np.arange(1500) == 7, 77, Y))
    assert "77" not in str(refusal.value) and refusal.value.__context__ is None


@pytest.mark.parametrize("scoring", ["accuracy", "log_loss"])
def test_one_key_for_all_records_raises_nothing_that_would_tell(scoring):
    private = model(neighbors="add_remove", n_public=1500)
    given = {"cv": KeyFold(2), "groups": np.zeros(1500, dtype=int), "scoring": scoring}
    assert np.isfinite(dp_cross_val_score(private, X, Y, **given).value)


@pytest.mark.parametrize("relation", ["replace_one", "add_remove"])
def test_what_a_fit_raises_and_warns_after_it_was_paid_for_is_not_told(monkeypatch, relation):
    def fails(self, X, y):
        warnings.warn(f"row {X[0]}", UserWarning, stacklevel=1)
        raise RuntimeError(f"row {X[0]}")

    monkeypatch.setattr(DPLogisticRegression, "fit", fails)
    cv = PositionFold(2) if relation == "replace_one" else KeyFold(2)
    groups = None if relation == "replace_one" else np.arange(1500)
    ledger = Ledger(9.0, 1e-6, relation)
    private = model(neighbors=relation, n_public=1500)
    found = dp_cross_val_score(private, X, Y, cv=cv, groups=groups, ledger=ledger)
    # Nobody said anything of any record: the first class, as often as it is there.
    assert found.value == pytest.approx(np.mean(Y == 0), abs=0.05) and len(ledger) == 1
