"""Fits that go on from the last one: where they begin, and that one receipt counts them all."""

import copy
import json
import math
import pickle
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.sparse import csr_array
from scipy.stats import norm
from sklearn.base import clone
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    RANSACRegressor,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import skdp
from skdp import (
    BudgetExceeded,
    DPLinearRegression,
    DPLogisticRegression,
    DPPoissonRegressor,
    DPRidge,
    NotSupported,
    PrivacyWarning,
)
from skdp.fitting import starting
from skdp.fitting._payer import Uncovered
from skdp.fitting.starting import continued, priced_jointly
from skdp.model_selection import DPGridSearchCV, dp_cross_val_score
from skdp.preprocessing import BoundsScaler, DPBounds
from skdp.privacy import Ledger, Receipt, Spec, epsilon
from skdp.privacy._arithmetic import round_up
from skdp.privacy._receipts._words import UNTOLD
from skdp.privacy.events import Gaussian, PureDP
from skdp.solvers import AGD, GD, SGD, Adam

rng = np.random.default_rng(0)
X = rng.uniform(-1.0, 1.0, (1000, 3))
SCORES = X @ [3.0, -2.0, 1.0]
Y = SCORES + 10.0 + 0.1 * rng.normal(size=1000)
LABELS = (SCORES + rng.logistic(size=1000) > 0).astype(int)
GIVEN = {"y_bounds": (3.0, 17.0), "data_norm": 1.8, "warm_start": True}
FEW = GD(steps=3)


def ridge(**given):
    """A warm regressor."""
    return DPRidge(**{"solver": FEW, **GIVEN, **given})


def logistic(**given):
    """A warm classifier."""
    return DPLogisticRegression(
        **{"solver": FEW, "data_norm": 1.8, "classes": [0, 1], "warm_start": True, **given}
    )


def quiet(model, *data):
    """A fit whose lack of privacy is known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return model.fit(*data)


def delta_of(epsilon, mu):
    """Of mu-Gaussian privacy: Balle and Wang (2018), theorem 8, by scipy's normal law."""
    tail = math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    return norm.cdf(mu / 2 - epsilon / mu) - tail


def epsilon_of(mu, delta):
    """The other way round."""
    return brentq(lambda at: delta_of(at, mu) - delta, 0.0, 100.0, xtol=1e-13)


def mu_of(receipt):
    """Of Gaussians alone, whose noise is in units of how far an answer moves."""
    assert all(type(event) is Gaussian for event, _ in receipt.script)
    return math.sqrt(sum(count / event.multiplier**2 for event, count in receipt.script))


def cold(model):
    """The receipt of the same fit, made anew."""
    return clone(model).set_params(warm_start=False).fit(X, Y).privacy_


def test_two_fits_cost_what_two_gaussians_do_in_closed_form():
    model = ridge(epsilon=1.0).fit(X, Y)
    first = model.privacy_
    second = cold(model.set_params(epsilon=0.3))
    found = model.fit(X, Y).privacy_
    assert found.script == (*first.script, *second.script)
    for receipt, alone in ((first, 1.0), (second, 0.3)):
        assert receipt.epsilon == pytest.approx(alone, rel=1e-5)
    mu = math.hypot(mu_of(first), mu_of(second))
    assert found.epsilon == pytest.approx(epsilon_of(mu, 1e-6), rel=1e-6)
    assert 1.0 < found.epsilon < 1.3
    assert found.epsilon == pytest.approx(epsilon((*first.script, *second.script), 1e-6), rel=1e-12)


def test_receipts_grow_and_say_so():
    model, quoted = ridge(epsilon=0.5), []
    for _ in range(3):
        quoted.append(model.quote(1000, 3))
        model.fit(X, Y)
        assert model.privacy_.script == quoted[-1].script
        assert model.privacy_.epsilon == quoted[-1].epsilon
    assert quoted[0].notes == () and "begins_at" not in quoted[0].declared
    assert quoted[1].declared["begins_at"] == "an earlier fit"
    mus = [mu_of(receipt) for receipt in quoted]
    assert np.allclose(mus, mus[0] * np.sqrt([1.0, 2.0, 3.0]))
    costs = [receipt.epsilon for receipt in quoted]
    assert costs[0] == pytest.approx(0.5, rel=1e-5) and costs[0] < costs[1] < costs[2] < 1.5
    text = str(model.privacy_)
    for before in costs[:2]:
        assert (
            f"an earlier fit (epsilon = {round_up(before)}, delta = 1e-06); the guarantee covers both"
            in text
        )
    assert text.count("this fit by itself costs epsilon = 0.5") == 2
    assert f"guarantee   epsilon = {round_up(costs[2])}, " in text
    assert model.privacy_.proofs == ("clipped_gradient", "warm_start")
    whole = model.privacy_.for_rows(2).epsilon  # twice mu
    assert whole == pytest.approx(epsilon_of(2.0 * mu_of(model.privacy_), 1e-6), rel=1e-5)


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_composed_receipts_are_read_back_priced_again_and_filed(neighbors):
    model = logistic(neighbors=neighbors, solver=SGD(rate=0.1, steps=5)).fit(X, LABELS)
    model.set_params(solver=GD(steps=2), epsilon=0.5).fit(X, LABELS)
    receipt = model.privacy_
    assert receipt.complaints(model) == [] and receipt.verify(pickle.loads(pickle.dumps(model)))
    read = Receipt.from_dict(json.loads(json.dumps(receipt.to_dict())))
    assert read == receipt and read.verify(model)
    assert read.solver == f"{SGD(rate=0.1, steps=5)!r}, then {GD(steps=2)!r}"
    assert receipt.risk().epsilons[1e-6] == pytest.approx(receipt.epsilon, rel=1e-6)
    assert sum(share.share for share in receipt.breakdown()) == pytest.approx(1.0)
    asked = {"name": "a", "curators": "b", "intended_use": "c", "region": "d"}
    filed = receipt.to_registry(description="e", authors="f", **asked)
    told = filed["deployment"]["privacy_loss"]["privacy_parameters"]
    assert told["epsilon"] == receipt.epsilon
    for page in (receipt.to_model_card(), receipt._repr_html_(), receipt.statement()):
        assert page
    assert any("GD" in check.answer for check in receipt.nist_checklist())
    understated = copy.copy(receipt)
    object.__setattr__(understated, "epsilon", 0.5)
    assert "costs epsilon=" in understated.complaints()[0]


def test_a_pipeline_counts_the_sequence_once():
    model = skdp.make_pipeline(BoundsScaler((-1.0, 1.0)), ridge())
    for _ in range(2):
        model.fit(X, Y)
    found = skdp.total(model)
    assert found.receipts == (model[-1].privacy_,)
    assert found.epsilon == pytest.approx(model[-1].privacy_.epsilon, rel=1e-9)
    with pytest.raises(NotSupported, match="One of the 2 receipts belongs to a warm start"):
        skdp.total([model, DPRidge(y_bounds=(3, 17), data_norm=1.8).fit(X, Y)])


def test_a_step_that_buys_in_front_is_refused_once_the_pipeline_gets_there():
    model = skdp.make_pipeline(DPBounds(epsilon=1.0), ridge())
    with pytest.raises(NotSupported, match="warm_start=True behind DPBounds: the pipeline") as told:
        model.fit(X, Y)
    assert "privacy_" not in vars(model[-1]) and told.value.__context__ is None
    inner = skdp.make_pipeline(make_pipeline(DPBounds(epsilon=1.0)), make_pipeline(ridge()))
    with pytest.raises(NotSupported, match="behind DPBounds"):
        inner.fit(X, Y)


@pytest.mark.skipif(not hasattr(DPRidge, "set_callbacks"), reason="theirs tell of fits since 1.9")
@pytest.mark.parametrize("front", [DPBounds(epsilon=1.0), BoundsScaler((-1.0, 1.0))])
def test_in_a_pipeline_without_a_word_a_second_fit_is_refused(front):
    model = make_pipeline(front, ridge()).fit(X, Y)
    with pytest.raises(NotSupported, match=r"inside a Pipeline.* use skdp\.make_pipeline"):
        model.fit(X, Y)
    assert model[-1].fit(X, Y).privacy_.around is None  # by itself it is what its user says


class OwnFit(Pipeline):
    """A pipeline that scikit-learn's callbacks do not see, as other libraries have them."""

    def fit(self, X, y=None):
        for _, step in self.steps[:-1]:
            X = step.fit(X, y).transform(X)
        self.steps[-1][1].fit(X, y)
        return self


def test_what_a_pipeline_that_nobody_sees_has_bought_is_said_to_be_missing():
    """No refusal can meet it. The receipt is of the sequence alone, and says so; no sum is made; a ledger has all."""
    ledger = Ledger(9.0, 1e-5)
    model = OwnFit([("a", DPBounds(epsilon=1.0, ledger=ledger)), ("b", ridge(ledger=ledger))])
    receipt = model.fit(X, Y).fit(X, Y)[-1].privacy_
    assert receipt.around is None and UNTOLD in str(receipt)
    assert any("the cost of steps in front of either is not counted" in n for n in receipt.notes)
    with pytest.raises(NotSupported, match="share a ledger"):
        skdp.total(model)
    whole = epsilon(sum(ledger.scripts, ()), 1e-6, "replace_one")
    assert (
        len(ledger) == 4 and whole > 1.3 * receipt.epsilon and ledger.spent > 1.2 * receipt.epsilon
    )


def test_what_was_around_an_earlier_fit_stays_on_the_receipt():
    with pytest.warns(PrivacyWarning, match="learns from the data"):
        inner = skdp.make_pipeline(StandardScaler(), ridge()).fit(X, Y)[-1]
    assert inner.fit(X, Y).privacy_.around == ("StandardScaler",)
    assert str(inner.privacy_).startswith("NOT PRIVATE as a whole")


def test_what_an_earlier_fit_took_as_public_stays_on_the_receipt():
    model = logistic(classes=None)
    with pytest.warns(PrivacyWarning, match="takes the set of labels"):
        model.fit(X, LABELS)
    model.set_params(classes=[0, 1], data_norm=1.75).fit(X[:500], LABELS[:500])
    declared = model.privacy_.declared
    assert declared["n"] == 500 and declared["earlier_n"] == [1000]
    assert declared["earlier_classes"] == ["taken from y"] and declared["classes"] == "declared"
    declared = model.fit(X[:200], LABELS[:200]).privacy_.declared
    assert declared["earlier_n"] == [1000, 500] and declared["earlier_data_norm"] == [1.8]
    stated = model.privacy_.stating(tuning="by hand")
    model.privacy_ = stated
    assert model.fit(X, LABELS).privacy_.tuning == "by hand, then not known"


def test_a_seed_stays_on_the_receipt():
    model = ridge(random_state=0).fit(X, Y)
    model.set_params(random_state=None).fit(X, Y)
    assert model.privacy_.seeded and "FIXED" in str(model.privacy_)
    assert not ridge().fit(X, Y).fit(X, Y).privacy_.seeded


def test_a_solver_whose_name_ends_like_the_last_ones_is_named_too():
    """Of WhiteGD and GD the text of one may end like that of the other."""
    first = ridge().fit(X, Y).privacy_
    before = replace(first, solver=f"White{first.solver}")
    assert continued(before, first, "auto").solver == f"White{first.solver}, then {first.solver}"
    assert continued(first, first, "auto").solver == first.solver


# Where it begins.

EXACT = {
    "least squares": (
        partial(DPLinearRegression, y_bounds=(3, 17)),
        LinearRegression(),
        Y,
        1e-12,
    ),
    "several targets": (
        partial(DPLinearRegression, y_bounds=[(3, 17), (-34, -6)]),
        LinearRegression(),
        np.column_stack([Y, -2.0 * Y]),
        1e-12,
    ),
    "counts": (
        partial(DPPoissonRegressor, alpha=0.0, y_bounds=(0, 15)),
        PoissonRegressor(alpha=0.0, tol=1e-12, max_iter=1000),
        np.minimum(rng.poisson(np.exp(X @ [1.0, -0.5, 0.0] + 0.5)), 15),
        1e-8,
    ),
    "two classes": (
        partial(DPLogisticRegression, C=1.0, classes=[0, 1]),
        LogisticRegression(tol=1e-12, max_iter=10_000),
        LABELS,
        1e-5,
    ),
    "three classes": (
        partial(DPLogisticRegression, C=1.0, classes=[0, 1, 2]),
        LogisticRegression(tol=1e-12, max_iter=10_000),
        np.digitize(SCORES + rng.logistic(size=1000), [-1.0, 1.0]),
        1e-5,
    ),
}


@pytest.mark.parametrize(("made", "exact", "y", "near"), EXACT.values(), ids=[*EXACT])
def test_without_noise_a_minimiser_is_stayed_at(made, exact, y, near):
    """The first fit finds it, by whatever suits; a few steps from there end where scikit-learn does."""
    exact = exact.fit(X, y)
    model = quiet(
        made(epsilon=math.inf, data_norm=1.8, solver=GD(steps=4000), warm_start=True), X, y
    )
    again = quiet(model.set_params(solver=GD(steps=2)), X, y)
    np.testing.assert_allclose(again.coef_, exact.coef_, atol=near)
    np.testing.assert_allclose(again.intercept_, exact.intercept_, atol=near)
    assert again.privacy_.epsilon == math.inf and again.privacy_.verify(again)
    assert "NONE: epsilon is infinite" in str(again.privacy_)


def still(**given):
    """One step so short that it stays where it begins."""
    return {"epsilon": math.inf, "solver": GD(steps=1, step_size=1e-30, momentum=0.0), **given}


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("bounds", [(3.0, 17.0), (-1e3, 5e3), [(3.0, 17.0), (-1.0, 40.0)]])
def test_the_way_of_coefficients_to_a_start_and_back_is_exact_up_to_rounding(bounds, intercept):
    y = np.column_stack([Y, 2.0 * Y]) if isinstance(bounds, list) else Y
    model = ridge(y_bounds=bounds, fit_intercept=intercept).fit(X, y)
    kept = model.coef_.copy(), model.intercept_
    again = quiet(model.set_params(**still()), X, y)
    np.testing.assert_allclose(again.coef_, kept[0], rtol=1e-13)
    np.testing.assert_allclose(again.intercept_, kept[1], rtol=1e-13, atol=1e-12)
    model.set_params(data_norm=1e3)  # coefficients are of rows as they are, whatever bounds them
    if not isinstance(bounds, list):
        model.set_params(y_bounds=(-50.0, 51.0) if intercept else bounds)
    np.testing.assert_allclose(quiet(model, X, y).coef_, kept[0], rtol=1e-12)


@pytest.mark.parametrize("kind", ["float32", "sparse", "multinomial", "ovr"])
def test_the_way_is_as_exact_for_all_that_coefficients_are_kept_in(kind):
    y, given = LABELS, {}
    if kind in ("multinomial", "ovr"):
        y = np.digitize(SCORES, [-1.0, 1.0])
        given = {"classes": [0, 1, 2], "multi_class": kind}
    model = logistic(**given).fit(X.astype(np.float32) if kind == "float32" else X, y)
    if kind == "sparse":
        model.sparsify()
        assert isinstance(model.coef_, csr_array)
    kept = model.coef_.toarray() if kind == "sparse" else model.coef_.copy()
    assert kept.dtype == (np.float32 if kind == "float32" else np.float64)
    free = model.intercept_.copy()
    again = quiet(model.set_params(**still()), X, y)
    np.testing.assert_allclose(again.coef_, kept, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(again.intercept_, free, rtol=1e-13, atol=1e-15)


def test_a_regressor_on_single_precision_goes_on():
    model = ridge().fit(X.astype(np.float32), Y)
    assert model.intercept_.dtype == np.float32 and "intercept_" in model.privacy_.model
    assert model.fit(X.astype(np.float32), Y).privacy_.epsilon > 1.2
    model.intercept_ = np.float32(model.intercept_ + 1.0)
    with pytest.raises(NotSupported, match="not the ones that the receipt in privacy_ covers"):
        model.fit(X, Y)


# Adam's own step is made to cross the whole range in so few, whatever the gradient: it leaves any start.
@pytest.mark.parametrize(
    "solver", [GD(steps=3), SGD(steps=3), Adam(steps=3, step_size=0.01)], ids=["gd", "sgd", "adam"]
)
def test_few_steps_from_the_last_fit_get_further_than_from_nothing(solver):
    model = ridge(epsilon=1.0, solver="auto", random_state=0).fit(X, Y)
    assert model.privacy_.solver.startswith("TwoPhase")
    model.set_params(solver=solver, random_state=1).fit(X, Y)
    alone = ridge(epsilon=1.0, solver=solver, random_state=1).fit(X, Y)
    assert model.score(X, Y) > alone.score(X, Y) + 0.05


def test_auto_goes_by_steps_from_the_second_fit_on():
    model = ridge(solver="auto")
    assert model.quote(1000, 3).solver.startswith("TwoPhase")
    model.fit(X, Y)
    assert ", then GD(" in model.quote(1000, 3).solver
    assert ", then GD(" in model.fit(X, Y).privacy_.solver
    assert ", then" not in clone(model).fit(X, Y).privacy_.solver
    assert ", then" not in model.set_params(warm_start=False).fit(X, Y).privacy_.solver


def test_public_coefficients_are_for_the_first_fit():
    public = LinearRegression().fit(X, Y)
    model = ridge(coef_init=public.coef_, intercept_init=public.intercept_).fit(X, Y)
    assert model.privacy_.declared["begins_at"] == "declared"
    moved = model.coef_.copy()
    again = quiet(model.set_params(**still()), X, Y)
    np.testing.assert_allclose(again.coef_, moved, rtol=1e-13)
    assert again.privacy_.declared["earlier_begins_at"] == ["declared"]


# Prices that rest on more than Gaussians.


def test_slopes_of_either_sign_are_priced_at_any_angle_in_a_sequence():
    """The second fit, and its rows, may have been chosen after the first's answers."""
    given = {"y_bounds": (3.0, 17.0), "data_norm": 1.8, "solver": "objective-perturbation"}
    model = DPRidge(epsilon=1.0, **given, warm_start=True).fit(X, Y)
    assert {event.rule for event, _ in model.privacy_.script} == {"two_signed"}
    alone = epsilon(model.privacy_.script, 1e-6)
    model.set_params(solver=FEW, epsilon=0.01).fit(X, Y)
    rules = {getattr(event, "rule", None) for event, _ in model.privacy_.script}
    assert rules == {"two_signed_anywhere", None}
    assert model.privacy_.epsilon >= alone and model.privacy_.verify(model)


def test_another_delta_is_that_of_the_whole():
    model = ridge(delta=1e-4).fit(X, Y)
    first = mu_of(model.privacy_)
    model.set_params(delta=1e-8).fit(X, Y)
    second = math.sqrt(mu_of(model.privacy_) ** 2 - first**2)
    assert model.privacy_.delta == 1e-8
    whole = epsilon_of(math.hypot(first, second), 1e-8)
    assert model.privacy_.epsilon == pytest.approx(whole, rel=1e-6)


def test_a_delta_at_which_the_earlier_fit_has_no_price_is_refused():
    earlier, pure = ridge().fit(X, Y).privacy_, ((PureDP(1.0), 1),)
    with pytest.raises(
        NotSupported, match="delta=0 leaves the earlier fit of a warm start without"
    ):
        priced_jointly(earlier, pure, Spec(1.0, 0.0), "auto")
    assert 1.0 < priced_jointly(earlier, pure, Spec(1.0, 1e-6), "auto")[0] < 2.1


def test_a_named_theorem_prices_the_whole():
    model = ridge(accountant="zcdp").fit(X, Y).fit(X, Y)
    assert model.privacy_.accountant == "zcdp"
    assert model.privacy_.epsilon == pytest.approx(
        epsilon(model.privacy_.script, 1e-6, "replace_one", "zcdp")
    )


# What has no proof.


REFUSED = {
    "relation": (
        {"neighbors": "add_remove"},
        "neighbors='add_remove' after a fit with 'replace_one'",
    ),
    "unit": (
        {"max_rows_per_group": 1},
        "a guarantee for a person of at most 1 rows after one for a row",
    ),
    "delta": ({"delta": 0.0, "solver": "objective-perturbation"}, "takes no starting point"),
    "adaptive": (
        {"solver": AGD()},
        "needs prices that are fixed in advance, but those of solver='agd'",
    ),
    "no steps": (
        {"solver": "two-phase"},
        "coef_init, intercept_init and warm_start have no effect",
    ),
    "bought rows": ({"data_norm": None}, "data_norm=None estimates the scale"),
    "bought targets": ({"y_bounds": None}, "y_bounds=None estimates the scale"),
    "outputs": (
        {"y_bounds": [(3, 17), (3, 17)]},
        "3 columns and 2 outputs, where the earlier fit had 3",
    ),
}


@pytest.mark.parametrize(("given", "told"), REFUSED.values(), ids=[*REFUSED])
def test_what_makes_no_sequence_is_refused_before_it_is_paid(given, told):
    people = np.arange(1000) if "max_rows_per_group" in given else None
    ledger = Ledger(5.0, 1e-5, given.get("neighbors", "replace_one"))
    model = ridge().fit(X, Y)
    model.set_params(ledger=ledger, **given)
    y = np.column_stack([Y, Y]) if "outputs" in told else Y
    before = dict(vars(model))
    with pytest.raises(NotSupported, match=told) as refusal:
        model.fit(X, y, groups=people)
    assert str(refusal.value).endswith(".") and refusal.value.__context__ is None
    assert len(ledger) == 0 and vars(model) == before


def test_another_table_is_refused():
    model = logistic().fit(X, LABELS)
    with pytest.raises(NotSupported, match="2 columns and 1 outputs, where the earlier fit had 3"):
        model.fit(X[:, :2], LABELS)
    with pytest.raises(NotSupported, match="4 columns and 1 outputs, where the earlier fit had 3"):
        model.quote(1000, 4)
    with pytest.raises(NotSupported, match="2 classes that are not the 2 of the earlier fit"):
        model.set_params(classes=[1, 2]).fit(X, LABELS + 1)
    with pytest.raises(NotSupported, match="3 classes that are not the 2"):
        model.set_params(classes=[0, 1, 2]).fit(X, LABELS)


def test_a_fit_that_is_not_private_is_no_start_of_one_that_is():
    model = quiet(ridge(epsilon=math.inf), X, Y)
    with pytest.raises(NotSupported, match="epsilon=1 after a fit with epsilon=inf, which is not"):
        model.set_params(epsilon=1.0).fit(X, Y)
    model = ridge().fit(X, Y)
    assert quiet(model.set_params(epsilon=math.inf), X, Y).privacy_.epsilon == math.inf


def test_pure_privacy_of_the_whole_needs_pure_parts():
    model = ridge(delta=0.0, solver="objective-perturbation").fit(X, Y)
    model.set_params(delta=1e-6, solver=FEW).fit(X, Y)
    assert 1.0 < model.privacy_.epsilon < 2.0


def by_hand(model):
    model.coef_ = LinearRegression().fit(X, Y).coef_


def shifted(model):
    model.intercept_ = model.intercept_ + 1e-9


def without_receipt(model):
    del model.privacy_


def without_coefficients(model):
    del model.coef_


def of_another(model):
    model.privacy_ = ridge().fit(X, Y).privacy_


@pytest.mark.parametrize(
    "change", [by_hand, shifted, without_receipt, without_coefficients, of_another]
)
def test_coefficients_that_the_receipt_does_not_speak_of_are_refused(change):
    model = ridge().fit(X, Y)
    change(model)
    for asked in (lambda: model.fit(X, Y), lambda: model.quote(1000, 3)):
        with pytest.raises(
            NotSupported, match="these are not the ones that the receipt in privacy_ covers"
        ):
            asked()


def test_coefficients_that_were_never_fitted_are_refused():
    model = ridge()
    model.coef_, model.intercept_ = np.ones(3), 0.0
    with pytest.raises(NotSupported, match="not the ones that the receipt in privacy_ covers"):
        model.fit(X, Y)


def test_an_earlier_fit_by_answers_is_refused():
    model = ridge(solver=AGD(), warm_start=False).fit(X, Y)
    assert model.privacy_.unspent is not None
    model.set_params(warm_start=True, solver=FEW)
    with pytest.raises(
        NotSupported, match=r"a fit by AGD\(.*questions depended on earlier answers"
    ):
        model.fit(X, Y)


@pytest.mark.parametrize("name", ["data_norm", "y_bounds"])
def test_an_earlier_fit_on_a_bought_scale_is_refused(name):
    model = DPRidge(**{"data_norm": 1.8, "y_bounds": (3, 17), name: None}).fit(X, Y)
    model.set_params(warm_start=True, data_norm=1.8, y_bounds=(3, 17))
    with pytest.raises(NotSupported, match=f"begins at a fit with {name}=None, whose"):
        model.fit(X, Y)
    with pytest.raises(NotSupported, match="estimates the scale"):
        ridge(**{name: None}).fit(X, Y)


def test_a_pickled_model_goes_on():
    model = pickle.loads(pickle.dumps(ridge().fit(X, Y)))
    assert model.fit(X, Y).privacy_.epsilon > 1.2
    assert copy.deepcopy(model).fit(X, Y).privacy_.epsilon > model.privacy_.epsilon


def test_what_has_failed_changes_nothing():
    model = ridge(ledger=Ledger(1.1, 1e-5)).fit(X, Y)
    before = dict(vars(model))
    with pytest.raises(BudgetExceeded):
        model.fit(X, Y)
    assert vars(model) == before and model.privacy_.epsilon == pytest.approx(1.0, rel=1e-5)


# Ledgers, and whoever fits many times.


def test_a_ledger_is_charged_for_what_each_fit_adds(tmp_path):
    for given in ({}, {"path": tmp_path / "ledger"}):
        ledger = Ledger(5.0, 1e-5, **given)
        model = ridge(ledger=ledger).fit(X, Y)
        first = model.privacy_.script
        model = pickle.loads(pickle.dumps(model)).fit(X, Y)
        assert ledger.scripts == (first, first)
        assert model.privacy_.ledger["spent_before"] > 0.5
        assert model.privacy_.ledger["spent_after"] == ledger.spent
        model.set_params(ledger=Ledger(5.0, 1e-5, **given)).fit(X, Y)
        assert len(model.ledger.scripts) == (3 if given else 1)  # a path names the same ledger


def test_a_ledger_that_has_not_paid_for_the_earlier_fit_pays_for_all():
    ledger = Ledger(5.0, 1e-5)
    model = ridge().fit(X, Y)
    model.set_params(ledger=ledger).fit(X, Y)
    assert ledger.scripts == (model.privacy_.script,)
    other = Ledger(5.0, 1e-5)
    model.set_params(ledger=other).fit(X, Y)
    assert other.scripts == (model.privacy_.script,)
    model.fit(X, Y)
    assert len(other) == 2 and other.scripts[1] != model.privacy_.script
    small = Ledger(1.2, 1e-5)
    with pytest.raises(BudgetExceeded):
        ridge().fit(X, Y).fit(X, Y).set_params(ledger=small, epsilon=0.1).fit(X, Y)
    assert len(small) == 0
    model.set_params(warm_start=False).fit(X, Y)
    model.set_params(warm_start=True).fit(X, Y)
    assert other.scripts[-1] == model.privacy_.script


def test_a_budget_pays_for_what_is_fitted_inside_and_what_that_begins_at():
    model = ridge()
    with skdp.budget(5.0, 1e-5) as first:
        model.fit(X, Y).fit(X, Y)
    assert [sum(n for _, n in script) for script in first.scripts] == [3, 3]
    with skdp.budget(5.0, 1e-5) as second:
        model.fit(X, Y).fit(X, Y)
    assert [sum(n for _, n in script) for script in second.scripts] == [9, 3]


def test_parts_of_one_ledger_are_charged_each_for_its_own_fit():
    parts = Ledger(3.0, 1e-5).partition(2)
    model = ridge(ledger=parts[0]).fit(X[:500], Y[:500])
    model.set_params(ledger=parts[1]).fit(X[500:], Y[500:])
    assert parts[0].spent == pytest.approx(parts[1].spent)


def test_no_note_of_a_second_fit_where_the_receipt_counts_it(monkeypatch):
    monkeypatch.setattr("skdp.fitting.estimator.UNCOVERED", Uncovered())
    model = ridge().fit(X, Y).fit(X, Y)
    with pytest.warns(PrivacyWarning, match="second fit without a ledger"):
        model.set_params(warm_start=False).fit(X, Y)


def test_searches_and_cross_validation_begin_anew():
    model = logistic(solver=GD(steps=1)).fit(X, LABELS)
    apart = logistic(solver=GD(steps=1), warm_start=False)
    search = DPGridSearchCV(model, {"C": [0.1, 1.0]})
    assert (
        search.fit(X, LABELS).privacy_.script
        == DPGridSearchCV(apart, {"C": [0.1, 1.0]}).fit(X, LABELS).privacy_.script
    )
    found = dp_cross_val_score(model, X, LABELS).privacy
    assert found.script == dp_cross_val_score(apart, X, LABELS).privacy.script
    best = search.best_estimator_
    whole = best.fit(X, LABELS).privacy_
    assert whole.script[: len(search.privacy_.script) - 1] == search.privacy_.script[:-1]
    assert whole.epsilon > search.privacy_.epsilon and whole.verify(best)
    assert "pilots" in whole.tuning
    behind = make_pipeline(DPBounds(epsilon=1.0), logistic())
    with pytest.raises(NotSupported, match="warm_start=True of DPLogisticRegression has no proof"):
        DPGridSearchCV(behind, {"dplogisticregression__C": [0.1, 1.0]}).fit(X, LABELS)


def test_what_fits_the_same_estimator_again_and_again_has_a_receipt_of_all():
    model = RANSACRegressor(
        ridge(epsilon=0.1, solver=GD(steps=1)), min_samples=500, max_trials=3, random_state=0
    ).fit(X, Y)
    receipt = model.estimator_.privacy_
    assert sum(count for _, count in receipt.script) > 1
    assert receipt.epsilon > 0.11 and receipt.verify(model.estimator_)


# What an attack on all this has found.


@pytest.mark.parametrize("seed", [0, 7])
def test_fits_of_a_sequence_do_not_share_the_noise_of_one_seed(seed):
    """With the same noise, one step from another would leave a difference that is free of it."""
    given = {"epsilon": 0.1, "alpha": 0.0, "fit_intercept": False, "y_bounds": (-17.0, 17.0)}
    step = GD(steps=1, momentum=0.0, step_size=1e-2)
    kept = []
    for _ in range(2):
        model = ridge(**given, solver=step, random_state=seed)
        first = model.fit(X, Y).coef_.copy()
        second = model.fit(X, Y).coef_ - first
        kept.append((first, second, model.fit(X, Y).coef_ - second - first))
    np.testing.assert_array_equal(*kept)  # as often as it is done
    first, second, third = kept[0]
    least = 0.05 * np.abs(first).max()
    for one, other in ((first, second), (second, third), (first, third)):
        assert np.abs(one - other).max() > least


class ShowsOthers(DPRidge):
    """Where it says that its coefficients are is not where its fit has left them."""

    shown = None

    @property
    def coef_(self):
        return vars(self)["coef_"] if self.shown is None else self.shown

    @coef_.setter
    def coef_(self, found):
        vars(self)["coef_"] = found


def test_a_fit_begins_at_what_was_hashed():
    given = {"data_norm": 1.8, "y_bounds": (3.0, 17.0), "solver": FEW, "warm_start": True}
    model = ShowsOthers(epsilon=1.0, **given).fit(X, Y)
    kept = vars(model)["coef_"].copy()
    model.shown = np.full(3, 1e6)
    model = quiet(model.set_params(**still()), X, Y)
    np.testing.assert_allclose(vars(model)["coef_"], kept, rtol=1e-13)


def test_what_is_written_after_the_hash_is_not_where_a_fit_begins(monkeypatch):
    """As another thread could."""
    model = ridge().fit(X, Y)
    kept, asked = model.coef_.copy(), starting.fingerprint

    def written(found):
        told = asked(found)
        model.coef_[:] = 1e6
        return told

    monkeypatch.setattr(starting, "fingerprint", written)
    model = quiet(model.set_params(**still()), X, Y)
    np.testing.assert_allclose(model.coef_, kept, rtol=1e-13)


def test_a_ledger_that_has_paid_for_one_model_has_not_paid_for_another():
    ledger = Ledger(20.0, 1e-5)
    model, other = ridge(ledger=ledger).fit(X, Y), ridge().fit(X, Y)
    for name in ("coef_", "intercept_", "privacy_"):
        setattr(model, name, getattr(other, name))
    assert model.fit(X, Y).privacy_.script == ledger.scripts[1]


def test_a_fit_outside_of_a_pipeline_does_not_go_on_with_one_inside():
    """The first one's coefficients tell of scales that were bought, and its receipt does not."""
    pipe = skdp.make_pipeline(DPBounds(epsilon=2.0), logistic(warm_start=False)).fit(X, LABELS)
    alone = copy.deepcopy(pipe[-1]).set_params(warm_start=True)
    with pytest.raises(NotSupported, match="begins at a fit behind DPBounds, which paid for"):
        alone.fit(X, LABELS)
    assert alone.set_params(warm_start=False).fit(X, LABELS).privacy_.epsilon <= 1.0
    assert alone.set_params(warm_start=True).fit(X, LABELS).privacy_.epsilon > 1.2
    pipe = make_pipeline(BoundsScaler((-1, 1)), logistic()).fit(X, LABELS)
    assert pipe[-1].fit(X, LABELS).privacy_.epsilon > 1.2
