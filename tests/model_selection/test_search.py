"""Private searches: one price, known before, one model, and nothing of the others."""

import pickle
import warnings

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)

import skdp
from skdp import BudgetExceeded, DPLinearSVR, DPLogisticRegression, DPRidge
from skdp.exceptions import NotSupported
from skdp.fitting.release import Seeds
from skdp.mechanisms import Noise
from skdp.model_selection import DPGridSearchCV, DPRandomizedSearchCV, _candidates
from skdp.preprocessing import BoundsScaler, DPStandardScaler
from skdp.privacy import Ledger, Receipt, epsilon
from skdp.privacy.events import BestOf
from skdp.privacy.events._written import after_answers

rng = np.random.default_rng(0)
X = rng.uniform(-0.5, 0.5, (1500, 3))
Y = (X[:, 0] + 0.1 * rng.normal(size=1500) > 0).astype(int)
GRID = {"C": [1e-4, 0.1, 10.0]}


def model(**given):
    return DPLogisticRegression(**{"data_norm": 1.0, "classes": [0, 1], "solver": "gd", **given})


def bought(*steps, memory=None):
    """A pipeline that buys scales."""
    return make_pipeline(DPStandardScaler(epsilon=0.2), *steps, model(epsilon=1.0), memory=memory)


def quick(**given):
    """A search by a random number of runs that is over soon."""
    return DPGridSearchCV(
        model(**given), GRID, epsilon=4.0, strategy="geometric", mean_runs=3, max_runs=5
    )


@pytest.mark.parametrize("strategy", ["pilot", "geometric"])
def test_a_search_costs_what_its_quote_says_and_no_more_than_was_promised(strategy):
    search = DPGridSearchCV(model(), GRID, epsilon=2.0, strategy=strategy, max_runs=6)
    quote = search.quote(1500, 3)
    assert 1.99 < quote.epsilon <= 2.0 and quote.verify()
    ledger = Ledger(2.0, 1e-6)
    found = search.set_params(ledger=ledger).fit(X, Y)
    receipt = found.privacy_
    assert receipt.script == quote.script and receipt.epsilon == quote.epsilon
    assert ledger.scripts == (receipt.script,) and ledger.spent <= 2.0
    assert receipt.verify(found.best_estimator_) and found.best_estimator_.privacy_ is receipt
    assert "paid for within this price" in receipt.tuning
    assert Receipt.from_dict(receipt.to_dict()) == receipt
    assert skdp.total(found).receipts == (receipt,)
    assert {"selection", "clipped_gradient"} <= set(receipt.proofs)


@pytest.mark.parametrize("strategy", ["pilot", "geometric"])
def test_it_finds_the_setting_that_is_best(strategy):
    """At a promise that hides little: a tiny C is far worse than a large one.

    One search in twenty by a random number of runs tries nothing but the tiny C: the seed is one of the others.
    """
    search = DPGridSearchCV(
        model(), GRID, epsilon=100.0, strategy=strategy, default_share=0.0, random_state=0
    )
    assert search.set_params(delta=1e-4).fit(X, Y).best_params_["C"] > 1e-3
    assert search.score(X, Y) > 0.88
    assert is_classifier(search) and list(search.classes_) == [0, 1] and search.n_features_in_ == 3
    assert search.predict(X).shape == (1500,) and search.predict_proba(X).shape == (1500, 2)


def test_few_settings_are_piloted_and_many_are_drawn():
    few = DPGridSearchCV(model(), {"C": np.geomspace(1e-3, 10, 8)}).quote(1500, 3)
    many = DPGridSearchCV(model(), {"C": np.geomspace(1e-3, 10, 9)}).quote(1500, 3)
    assert not any(isinstance(event, BestOf) for event, _ in few.script)
    assert [type(event) for event, _ in many.script] == [BestOf]
    assert many.script[0][0].mean == 10 and many.script[0][0].cap == 30
    # Fits that are not Gaussian cannot be chosen by answers.
    sampled = DPGridSearchCV(model(solver="objective-perturbation"), GRID)
    assert [type(event) for event, _ in sampled.quote(1500, 3).script] == [BestOf]
    with pytest.raises(NotSupported, match="gdp"):
        sampled.set_params(strategy="pilot").quote(1500, 3)


def test_the_shares_of_a_pilot_are_those_of_the_theory():
    receipt = DPGridSearchCV(model(), GRID, epsilon=1.0).quote(1500, 3)
    refit = receipt.script[-1][0].multiplier ** -2
    fits = sum(
        count * event.multiplier**-2
        for event, count in receipt.script
        if hasattr(event, "multiplier")
    )
    assert refit / fits == pytest.approx(0.70 / 0.98, rel=1e-3)


def test_nothing_of_the_losers_leaves():
    search = quick().fit(X, Y)
    kept = set(vars(search)) - set(search.get_params(deep=False))
    assert kept == {"best_estimator_", "best_params_", "best_score_", "privacy_"}
    assert np.isfinite(search.best_score_) and search.best_estimator_.random_state is None


def test_as_many_fits_whatever_is_drawn(monkeypatch):
    made = []
    fit = DPLogisticRegression.fit
    monkeypatch.setattr(
        DPLogisticRegression, "fit", lambda self, *given: made.append(1) or fit(self, *given)
    )
    for _ in range(4):
        quick().fit(X, Y)
    assert len(made) == 20


def test_what_a_run_raises_and_warns_stays_inside(monkeypatch):
    """Every other fit fails with a text that shows a record; the search goes on and says nothing."""
    fit, calls = DPLogisticRegression.fit, []

    def breaks(self, X, y):
        calls.append(1)
        warnings.warn(f"row {X[0]}", UserWarning, stacklevel=1)
        if len(calls) % 2:
            raise ValueError(f"row {X[0]}")
        return fit(self, X, y)

    monkeypatch.setattr(DPLogisticRegression, "fit", breaks)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            try:
                quick().fit(X, Y)
            except ValueError as refusal:
                assert str(refusal).startswith("The search ended without a model")
                assert refusal.__context__ is None


def test_all_runs_that_fail_are_one_public_outcome(monkeypatch):
    def fails(self, X, y):
        raise RuntimeError(f"row {X[0]}")

    monkeypatch.setattr(DPLogisticRegression, "fit", fails)
    for search in (quick(), DPGridSearchCV(model(), GRID)):
        ledger = Ledger(4.0, 1e-6)
        with pytest.raises(ValueError, match="ended without a model, but its cost") as refusal:
            search.set_params(ledger=ledger).fit(X, Y)
        assert len(ledger) == 1 and refusal.value.__context__ is None


def test_a_ledger_that_cannot_pay_refuses_before_the_first_fit(monkeypatch):
    monkeypatch.setattr(DPLogisticRegression, "fit", lambda *_: pytest.fail("records were touched"))
    ledger = Ledger(1.0, 1e-6)
    with pytest.raises(BudgetExceeded):
        quick().set_params(ledger=ledger).fit(X, Y)
    assert len(ledger) == 0


def test_a_budget_in_scope_pays_once():
    with skdp.budget(6.0, 1e-6) as ledger:
        quick().fit(X, Y)
        assert len(ledger) == 1
        DPGridSearchCV(model(), GRID, epsilon=1.0).fit(X, Y)
        assert len(ledger) == 2


def test_a_pilot_costs_any_ledger_what_it_promises():
    ledger = Ledger(1.0, 1e-6, accountant="gdp")
    DPGridSearchCV(model(), GRID, epsilon=1.0, ledger=ledger).fit(X, Y)
    assert 0.98 < ledger.spent <= 1.0  # charged by mu squared, and told at a better price


def test_pipelines_of_steps_that_pay_or_read_nothing():
    declared = make_pipeline(BoundsScaler((-0.5, 0.5)), model(data_norm=2.0))
    grid = {"dplogisticregression__C": [0.1, 1.0]}
    found = DPGridSearchCV(declared, grid, epsilon=2.0).fit(X, Y)
    assert found.best_estimator_[-1].privacy_ is found.privacy_
    search = DPGridSearchCV(bought(PolynomialFeatures(2)), grid, strategy="geometric", max_runs=4)
    assert search.fit(X, Y).privacy_.epsilon <= 1.2  # of both steps
    assert {"column_counts", "clipped_gradient"} <= set(search.privacy_.proofs)
    assert len(skdp.total(search).receipts) == 1
    ((script,), *_) = (search.privacy_.script[0][0].scripts,)
    assert epsilon(script, 1e-6) < 2.0 and skdp.check(search).private


def test_regressors():
    y = X @ [1.0, -0.5, 0.2]
    ridge = DPRidge(data_norm=1.0, y_bounds=(-1.0, 1.0))
    search = DPGridSearchCV(ridge, {"alpha": [0.1, 1.0, 1e6]}, epsilon=20.0, delta=1e-4)
    assert is_regressor(search) and search.fit(X, y).best_params_["alpha"] < 1e6
    assert search.score(X, y) > 0.5
    search.set_params(strategy="geometric", max_runs=4).fit(X, y)
    assert -1.0 < search.best_score_ <= 0.0


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "neg_brier_score"])
def test_scores_are_near_the_exact_ones(scoring):
    search = DPGridSearchCV(
        model(),
        {"C": [1.0]},
        epsilon=60.0,
        delta=1e-4,
        strategy="geometric",
        scoring=scoring,
        max_runs=2,
    ).fit(X, Y)
    p = search.predict_proba(X)[np.arange(len(Y)), Y]
    exact = {
        "accuracy": (p > 0.5).mean(),
        "neg_log_loss": np.log(p).mean(),
        "neg_brier_score": -((1 - p) ** 2).mean(),
    }
    assert search.best_score_ == pytest.approx(exact[scoring], abs=0.02)


def test_who_comes_or_goes():
    private = model(neighbors="add_remove", n_public=1500)
    search = DPGridSearchCV(private, {"C": [0.1, 10.0]}, epsilon=3.0).fit(X[:400], Y[:400])
    assert search.privacy_.neighbors == "add_remove" and search.privacy_.verify()
    search.set_params(strategy="geometric", max_runs=3).fit(X[:400], Y[:400])
    assert 0.0 <= search.best_score_ <= 1.0
    with pytest.raises(ValueError, match="differs from the ledger's"):
        search.set_params(ledger=Ledger(9.0, 1e-6)).fit(X[:400], Y[:400])


def test_settings_that_are_drawn_are_public_and_the_same_for_a_seed():
    search = DPRandomizedSearchCV(
        model(), {"C": loguniform(1e-3, 10)}, n_iter=12, epsilon=4.0, max_runs=3, random_state=0
    )
    first, second = (clone(search).fit(X, Y) for _ in range(2))
    assert first.best_params_ == second.best_params_ and first.privacy_.seeded
    assert np.array_equal(first.best_estimator_.coef_, second.best_estimator_.coef_)


def noises(monkeypatch, search):
    """Seeds of all noise of a search, in order."""
    seen, sound = [], Noise.__init__

    def noted(self, seed=None):
        seen.append(seed)
        sound(self, seed)

    with monkeypatch.context() as patched:
        patched.setattr(Noise, "__init__", noted)
        clone(search).set_params(random_state=0).fit(X[:400], Y[:400])
    return seen


@pytest.mark.parametrize("strategy", ["pilot", "geometric"])
def test_no_two_parts_of_a_seeded_search_have_the_same_noise(strategy, monkeypatch):
    """One price adds up all parts, as if each had noise of its own."""
    search = quick().set_params(strategy=strategy)
    found = noises(monkeypatch, search)
    assert len(set(found)) == len(found) > 4 and None not in found
    monkeypatch.setattr(Seeds, "next", lambda self: 7)
    found = noises(monkeypatch, search)
    assert len(set(found)) < len(found)


def test_it_is_an_estimator_as_others_are():
    search = clone(quick())
    assert not hasattr(search, "n_features_in_") and hasattr(search, "predict_proba")
    with pytest.raises(NotFittedError):
        search.predict(X)
    search.set_params(estimator__C=2.0).fit(X, Y)
    again = pickle.loads(pickle.dumps(search))
    assert np.array_equal(again.predict(X), search.predict(X)) and "DPGridSearchCV" in repr(search)


def watched():
    """A pipeline with a callback, as scikit-learn 1.9 keeps it."""
    line = make_pipeline(FunctionTransformer(), model())
    line._skl_callbacks = [object()]
    return line


class Foreign(BaseEstimator):
    """Somebody else's transformer."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


@pytest.mark.parametrize(
    "search, said",
    [
        (DPGridSearchCV(LogisticRegression(), GRID), "is not a private estimator"),
        (DPGridSearchCV(model(classes=None), GRID), "declare classes"),
        (DPGridSearchCV(model(random_state=0), GRID), "same noise"),
        (DPGridSearchCV(model(ledger=Ledger(1.0, 1e-6)), GRID), "ledger of its own"),
        (DPGridSearchCV(model(solver="agd"), GRID), "not fixed beforehand"),
        (DPGridSearchCV(model(), {"epsilon": [1.0, 2.0]}), "set by the search"),
        (DPGridSearchCV(model(), GRID, delta=0.0), "delta > 0"),
        (DPGridSearchCV(model(), GRID, epsilon=np.inf), "finite epsilon"),
        (DPGridSearchCV(model(), GRID, delta=0.2), "delta=0.2 is more than one part"),
        (DPGridSearchCV(model(), GRID, scoring="roc_auc"), "no private form"),
        (DPGridSearchCV(model(max_sample_weight=2.0), GRID), "weights"),
        (DPGridSearchCV(model(max_rows_per_group=2), GRID), "several rows of a person"),
        (DPGridSearchCV(make_pipeline(StandardScaler(), model()), {}), "NOT PRIVATE"),
        (DPGridSearchCV(make_pipeline(Foreign(), model()), {}), "NOT KNOWN"),
        (DPGridSearchCV(model(), GRID, strategy="best"), "strategy='best'"),
        (DPGridSearchCV(model(), GRID, mean_runs=1), "mean_uncapped=1"),
        (DPGridSearchCV(model(), GRID, default_share=1.0), "default_share=1.0"),
        (DPGridSearchCV(model(), {"C": [-1.0]}), "C=-1.0"),
        (DPGridSearchCV(model(), {"classes": [[0, 1], [0, 1, 2]]}), "a fact of the records"),
        (DPGridSearchCV(bought(memory="cache"), {}), "runs must not share any"),
        (DPGridSearchCV(bought(FunctionTransformer(np.log)), {}), "may refuse a row"),
        (DPGridSearchCV(model(verbose=2), GRID), "verbose=2 .* which settings are drawn"),
        (DPGridSearchCV(model(), {"verbose": [0, 1]}), "verbose=1 .* which settings are drawn"),
        (DPGridSearchCV(make_pipeline(model(), verbose=True), {}), "verbose=True .* are drawn"),
        (DPGridSearchCV(watched(), {}), "a callback of Pipeline would show"),
    ],
)
def test_what_has_no_price_is_refused_before_anything_is_paid(search, said, monkeypatch):
    monkeypatch.setattr(DPLogisticRegression, "fit", lambda *_: pytest.fail("records were touched"))
    with pytest.raises((NotSupported, ValueError), match=said):
        search.fit(X, Y)
    with pytest.raises((NotSupported, ValueError), match=said):
        search.quote(1500, 3)


@pytest.mark.parametrize("wrong", [np.where(np.arange(1500) == 7, 77, Y), Y[:-1]])
def test_labels_that_are_none_are_refused_without_being_shown(wrong):
    ledger = Ledger(9.0, 1e-6)
    with pytest.raises(ValueError) as refusal:
        quick().set_params(ledger=ledger).fit(X, wrong)
    assert "77" not in str(refusal.value) and len(ledger) == 0


@pytest.mark.parametrize("strategy", ["pilot", "geometric"])
def test_a_record_that_one_candidate_would_refuse_is_refused_for_all(strategy):
    """Runs of that candidate failed quietly: it could win without the record, and never with it."""
    few, all_ = [["a", "b"]], [["a", "b", "c"]]
    cells = np.where(Y[:, None] > 0, "a", "b").astype(object)
    encoder = OneHotEncoder(categories=all_, sparse_output=False)
    ledger = Ledger(9.0, 1e-6)
    search = DPGridSearchCV(
        make_pipeline(encoder, model()),
        {"onehotencoder__categories": [all_, few]},
        epsilon=2.0,
        strategy=strategy,
        max_runs=3,
        ledger=ledger,
    )
    search.fit(cells, Y)
    cells[7] = "c"
    with pytest.raises(ValueError, match="OneHotEncoder cannot take these rows"):
        search.fit(cells, Y)
    assert len(ledger) == 1


def rules_of(script):
    """Of perturbed objectives, those of runs among them."""
    for event, _ in script:
        if isinstance(event, BestOf):
            yield from (rule for run in event.scripts for rule in rules_of(run))
        elif hasattr(event, "rule"):
            yield event.rule


def test_where_a_step_buys_what_rows_are_no_angle_between_them_is_fixed():
    model = DPLinearSVR(y_bounds=(-1, 1), solver="objective-perturbation")
    one = DPLinearSVR(y_bounds=(-1, 1), data_norm=1.0, solver="objective-perturbation")
    bought_first = make_pipeline(
        DPStandardScaler(epsilon=0.5), clone(model).set_params(epsilon=1.5)
    )
    searches = [
        DPGridSearchCV(bought_first, {"dplinearsvr__C": [1.0, 0.1]}, epsilon=2.0),
        DPGridSearchCV(one, {"C": [1.0, 0.1]}, epsilon=2.0),
    ]
    quotes = [search.quote(3000, 3) for search in searches]
    assert set(rules_of(quotes[0].script)) == {"two_signed_anywhere"}
    assert set(rules_of(quotes[1].script)) == {"two_signed"}
    assert all(1.99 < quote.epsilon <= 2.0 and quote.verify() for quote in quotes)
    # A search behind another fit is one whose rows that may have chosen.
    assert set(rules_of(after_answers(quotes[1].script))) == {"two_signed_anywhere"}
    searches[0].set_params(epsilon=None, estimator__dplinearsvr__epsilon=19.5, max_runs=2)
    searches[0].fit(X, X[:, 0])
    assert set(rules_of(searches[0].privacy_.script)) == {"two_signed_anywhere"}


def rules_behind_a_step(**given):
    """Rules of a search's fits behind a step that buys scales: their rows are its answers, whatever they declare."""
    last = DPLinearSVR(y_bounds=(-1, 1), solver="objective-perturbation", **given)
    steps = make_pipeline(DPStandardScaler(), last)
    candidates = _candidates.Candidates.of(steps, [{}], 0.0, 1e-6)
    return set(rules_of(candidates.script(candidates.model(0, 0.5), 3000, (3, 3))))


@pytest.mark.parametrize("given", [{}, {"data_norm": 1.0}], ids=["bought", "declared"])
def test_no_declared_norm_fixes_an_angle_behind_a_step_that_buys(given, monkeypatch):
    assert rules_behind_a_step(**given) == {"two_signed_anywhere"}
    monkeypatch.setattr(_candidates, "after_answers", lambda script: script)
    assert (rules_behind_a_step(**given) == {"two_signed"}) == bool(given)


def test_what_is_public_of_some_settings_only_is_said_to_differ():
    given = {"coef_init": [None, [[1.0, 2.0, 3.0]]]}
    facts = DPGridSearchCV(model(), given, epsilon=2.0).quote(1500, 3).declared
    assert facts["begins_at"] == "by setting" and facts["n"] == 1500
