"""Persons by groups, and weights within declared bounds: what is promised, what is refused, what is estimated."""

import inspect
import io
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skdp import DPLasso, DPLinearRegression, DPLogisticRegression, DPRidge, NotSupported
from skdp.entry._units import shares_of_bound, units_of
from skdp.privacy import Ledger
from skdp.utils import all_estimators

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 3)) / 3.0
Y = (X[:, 0] + 0.1 * rng.normal(size=400) > 0).astype(int)
PERSONS = rng.integers(1000, 1100, 400)
WEIGHTS = rng.uniform(0.0, 4.0, 400)
N = len(np.unique(PERSONS))


def model(epsilon=5.0, **given):
    declared = {"data_norm": 3.0, "classes": [0, 1], "random_state": 0}
    return DPLogisticRegression(epsilon=epsilon, delta=1e-5, **{**declared, **given})


# -------------------------------------------------------------------------------------- persons


@pytest.mark.parametrize("solver", ["auto", "gd", "sgd", "white-gd", "objective-perturbation"])
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_a_receipt_of_persons_counts_persons(solver, neighbors):
    given = {"max_rows_per_group": 5, "solver": solver, "neighbors": neighbors}
    receipt = model(**given).fit(X, Y, groups=PERSONS).privacy_
    quote = model(**given).quote(N, 3)
    assert receipt.script == quote.script and "units" in receipt.proofs
    assert receipt.unit == "person" and receipt.rows == 5
    assert "one person of at most 5 rows" in str(receipt).splitlines()[0]
    assert receipt.declared.get("n") == (N if neighbors == "replace_one" else None)


@pytest.mark.parametrize("solver", ["output-perturbation", "psgd", "outpert-gd"])
def test_what_has_no_proof_for_persons_refuses_before_it_is_paid(solver):
    ledger = Ledger(5.0, 1e-5)
    with pytest.raises(NotSupported, match="no proof for units of up to 5 rows"):
        model(max_rows_per_group=5, solver=solver, ledger=ledger, random_state=None).fit(
            X, Y, groups=PERSONS
        )
    assert ledger.spent == 0.0


def test_no_id_decides_how_others_are_read():
    near = [2**62, 2**62 + 1, 2**62 + 2, -1]  # as doubles, the first three are one
    given = SimpleNamespace(max_rows_per_group=2)
    assert units_of(given, near, 4)[1] == 4
    assert units_of(given, [*near, 2**63], 5)[1] == 5
    for other in ("text", 0.5, True):
        assert units_of(given, [*near, other], 5)[1] == 5
    with pytest.raises(ValueError, match="neither all strings nor all integers"):
        units_of(given, [*near, None], 5)


WRONG_GROUPS = {
    "missing": (PERSONS.astype(float) * np.where(np.arange(400) == 7, np.nan, 1.0)),
    "short": PERSONS[:-1],
    "two columns": np.column_stack([PERSONS, PERSONS]),
    "objects": np.array([None] + ["Alice-4711"] * 399, dtype=object),
}


@pytest.mark.parametrize("kind", WRONG_GROUPS)
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_wrong_groups_are_refused_without_an_id_or_a_count(kind, neighbors):
    with pytest.raises(ValueError) as caught:
        model(max_rows_per_group=2, neighbors=neighbors).fit(X, Y, groups=WRONG_GROUPS[kind])
    told = str(caught.value)
    assert not any(secret in told for secret in ("Alice", "400", "399", str(PERSONS[0]), str(N)))
    assert caught.value.__context__ is None


def test_groups_and_their_declaration_come_together():
    with pytest.raises(ValueError, match="declare how many rows"):
        model().fit(X, Y, groups=PERSONS)
    with pytest.raises(ValueError, match="pass groups="):
        model(max_rows_per_group=3).fit(X, Y)
    with pytest.raises(ValueError) as caught:
        model(max_rows_per_group=3).fit(X, Y[:-1], groups=PERSONS)
    assert "400" not in str(caught.value)


def test_groups_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        one = model(1e4, max_rows_per_group=50).set_fit_request(groups=True)
        routed = {"cv": GroupKFold(3), "params": {"groups": PERSONS}}
        assert cross_val_score(one, X, Y, **routed).mean() > 0.8
        pipe = make_pipeline(FunctionTransformer(), one)
        assert cross_val_score(pipe, X, Y, **routed).mean() > 0.8
        search = GridSearchCV(one, {"C": [0.1, 1.0]}, cv=GroupKFold(3)).fit(X, Y, groups=PERSONS)
        assert search.best_estimator_.privacy_.unit == "person"


# -------------------------------------------------------------------------------------- weights


def test_without_noise_weights_are_those_of_scikit_learn():
    weighed = {0: 2.0, 1: 0.5}
    exact = LogisticRegression(class_weight=weighed, tol=1e-12, max_iter=10_000, solver="newton-cg")
    exact.fit(X, Y, sample_weight=WEIGHTS)
    with pytest.warns(UserWarning, match="NOT private"):
        found = model(math.inf, class_weight=weighed, max_sample_weight=4.0).fit(X, Y, WEIGHTS)
    np.testing.assert_allclose(found.coef_, exact.coef_, rtol=1e-4)


def test_a_class_that_weighs_nothing_is_as_good_as_gone():
    three = np.digitize(X[:, 0], [-0.3, 0.3])
    with pytest.warns(UserWarning, match="NOT private"):
        found = model(math.inf, classes=[0, 1, 2], class_weight={1: 0}, C=0.1).fit(X, three)
        left = model(math.inf, classes=[0, 1, 2], C=0.1).fit(X[three != 1], three[three != 1])
    np.testing.assert_allclose(found.coef_, left.coef_, atol=1e-4)


def test_a_bound_that_is_declared_larger_changes_nothing_without_noise():
    with pytest.warns(UserWarning, match="NOT private"):
        one, two = (
            model(math.inf, max_sample_weight=bound).fit(X, Y, WEIGHTS) for bound in (4.0, 40.0)
        )
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-4)


# None is refused for a value, which would tell of a record: the number that it counts as, of a bound of 4.
ANY_WEIGHTS = {
    "nan": (np.nan, 0.0),
    "negative": (-8675.309, 0.0),
    "minus infinite": (-np.inf, 0.0),
    "too large": (8675.309, 4.0),
    "infinite": (np.inf, 4.0),
    "subnormal": (1e-310, 1e-310),
    "none": (None, 0.0),
    "text": ("heavy", 0.0),
    "text of a number": (" 3", 3.0),
    "huge": (10**400, 4.0),
    "list": ([1.0], 0.0),
    "complex": (1j, 0.0),
    "boolean": (True, 1.0),
}


@pytest.mark.parametrize("bound", [None, 4.0])
@pytest.mark.parametrize("kind", ANY_WEIGHTS)
def test_a_weight_is_clipped_by_itself_and_never_refused(kind, bound):
    """Whatever one record's weight is, the others count as before, to the last bit."""
    value, counts = ANY_WEIGHTS[kind]
    most = bound or 1.0
    others = np.delete(WEIGHTS, 3)
    given = [*WEIGHTS[:3].tolist(), value, *WEIGHTS[4:].tolist()]
    found = shares_of_bound(given, bound, 400)
    np.testing.assert_array_equal(np.delete(found, 3), np.minimum(others, most) / most)
    assert found[3] == min(counts, most) / most
    if isinstance(value, float):
        np.testing.assert_array_equal(shares_of_bound(np.array(given), bound, 400), found)
    model(max_sample_weight=bound).fit(X, Y, given)


def read_weights(cells):
    return pd.read_csv(io.StringIO("\n".join(("weight", *(cell or '""' for cell in cells)))))[
        "weight"
    ]


@pytest.mark.parametrize("last", ["heavy", "", "1.0", "TRUE", "nan", "-3", "1e999"])
def test_one_word_among_weights_of_a_file_changes_no_other_weight(last):
    """A reader of files makes text of all weights beside one word."""
    others = ["0.5", "1", "0.25", " 3", "true"]
    expected = [0.5, 1.0, 0.25, 1.0, 1.0]
    given = read_weights([*others, last])
    for cells in (given, given.to_numpy(), given.astype(object).tolist(), [*others, last]):
        np.testing.assert_array_equal(shares_of_bound(cells, None, 6)[:5], expected)


def test_numbers_and_texts_of_numbers_weigh_alike():
    numbers = read_weights(["0.5", "1", "0.25"])
    assert numbers.dtype == np.float64
    words = read_weights(["0.5", "1", "heavy"])
    np.testing.assert_array_equal(
        shares_of_bound(numbers, None, 3)[:2], shares_of_bound(words, None, 3)[:2]
    )


WRONG_WEIGHTS = {  # by their form, which is public
    "short": np.ones(399),
    "square": np.ones((400, 400)),
    "table of text": np.array([["heavy"] * 2] * 400),
}


@pytest.mark.parametrize("kind", WRONG_WEIGHTS)
def test_what_is_no_list_of_weights_is_refused_without_a_value(kind):
    ledger = Ledger(5.0, 1e-5)
    with pytest.raises(ValueError) as caught:
        model(max_sample_weight=4.0, ledger=ledger, random_state=None).fit(
            X, Y, WRONG_WEIGHTS[kind]
        )
    told = str(caught.value)
    assert "399" not in told and "heavy" not in told
    assert caught.value.__context__ is None and ledger.spent == 0.0


WEIGHED = {
    name: kind
    for name, kind in all_estimators()
    if "max_sample_weight" in inspect.signature(kind).parameters
}


def weighed(name, **given):
    """An estimator of these tables, with weights that nothing is declared of, and its targets."""
    if name in REGRESSORS:
        return regressor(name, **given), COUNTS
    given |= {"classes": [0, 1], "random_state": 0} | bound(WEIGHED[name])
    return WEIGHED[name](epsilon=5.0, **given), Y


def bound(kind):
    """Bound of the rows, or the declaration of a table."""
    known = inspect.signature(kind).parameters
    return {"data_norm": 3.0} if "data_norm" in known else {"declaration": (-3.0, 3.0)}


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("name", WEIGHED)
def test_weights_without_a_bound_cost_what_no_weights_cost(name, neighbors):
    model, y = weighed(name, neighbors=neighbors)
    plain, weighted = clone(model).fit(X, y).privacy_, clone(model).fit(X, y, WEIGHTS).privacy_
    quote = model.quote(400, 3)
    assert weighted.script == plain.script == quote.script
    assert weighted.epsilon == plain.epsilon == quote.epsilon
    assert "units" in weighted.proofs and "units" not in plain.proofs
    assert weighted.declared["max_sample_weight"] == 1.0


@pytest.mark.filterwarnings("ignore:epsilon=inf")
@pytest.mark.parametrize("name", WEIGHED)
def test_weights_without_a_bound_count_with_1_at_most(name):
    """So ones are no weights, and what is above 1 is 1; of the same noise where a model is fitted step by step."""
    model, y = weighed(name)
    model.set_params(epsilon=math.inf)
    if "hidden_layer_sizes" in WEIGHED[name]._get_param_names():
        model.set_params(hidden_layer_sizes=(3,), max_iter=3)
    plain = model.fit(X, y).predict(X)
    for weights in (np.ones(400), 1.0 + WEIGHTS, np.full(400, np.inf)):
        np.testing.assert_allclose(model.fit(X, y, weights).predict(X), plain, atol=1e-4)
    light = np.where(np.arange(400) < 200, 1.0, 0.0)
    np.testing.assert_allclose(
        model.fit(X, y, light).predict(X),
        clone(model).set_params(max_sample_weight=1.0).fit(X, y, light).predict(X),
    )


WEIGHING = {
    "bagging": BaggingClassifier(model(), n_estimators=2, random_state=0),
    "bagging of all": BaggingClassifier(model(), n_estimators=2, bootstrap=False, random_state=0),
    "boosting": AdaBoostClassifier(model(), n_estimators=2, random_state=0),
}


@pytest.mark.filterwarnings("ignore:random_state:skdp.PrivacyWarning")
@pytest.mark.parametrize("name", WEIGHING)
def test_meta_estimators_that_weigh_run(name):
    assert set(WEIGHING[name].fit(X, Y).predict(X)) <= {0, 1}


def test_routed_weights_run():
    with sklearn.config_context(enable_metadata_routing=True):
        one = model(1e3).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        found = cross_val_score(one, X, Y, params={"sample_weight": WEIGHTS / 4.0}, cv=3)
        assert found.shape == (3,) and (found > 0.5).all()
        scored = GridSearchCV(
            one, {"C": [1.0]}, scoring=get_scorer("accuracy").set_score_request(sample_weight=True)
        )
        assert scored.fit(X, Y, sample_weight=WEIGHTS).best_score_ > 0.5


@pytest.mark.parametrize("solver", ["output-perturbation", "psgd", "outpert-gd"])
def test_what_has_no_proof_for_weights_refuses(solver):
    with pytest.raises(NotSupported, match="no proof for weighted records"):
        model(max_sample_weight=4.0, solver=solver).fit(X, Y, WEIGHTS)


# ------------------------------------------------------------------------- numbers to predict

WHOLE = np.random.default_rng(1).integers(0, 5, 400).astype(float)
COUNTS = np.clip(np.floor(4.0 + 6.0 * X[:, 0] - 3.0 * X[:, 1] + np.abs(X[:, 2])), 0.0, 12.0)
REGRESSORS = dict(all_estimators("regressor"))
LINEAR = [name for name, kind in REGRESSORS.items() if kind.__module__.startswith("skdp.linear")]
TO_THE_MEAN = ("DPElasticNet", "DPLasso", "DPPoissonRegressor", "DPQuantileRegressor")


def regressor(name, epsilon=5.0, **given):
    declared = bound(REGRESSORS[name]) | {"y_bounds": (0.0, 12.0)}
    declared |= {"random_state": 0, "n_public": 400}
    if "alpha" in REGRESSORS[name]().get_params():
        declared["alpha"] = 0.001
    return REGRESSORS[name](epsilon=epsilon, delta=1e-5, **{**declared, **given})


@pytest.mark.filterwarnings("ignore:epsilon=inf")
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", LINEAR)
def test_without_noise_a_weight_is_a_row_so_many_times(name, fit_intercept):
    """To the 1e-4 that agreement is held to elsewhere; weights against a mean of losses have a mean of 1 themselves."""
    if name == "DPPoissonRegressor" and not fit_intercept:
        pytest.skip("its unit of counts is in the intercept")
    weights = WHOLE / WHOLE.mean() if name in TO_THE_MEAN else WHOLE
    given = {"epsilon": math.inf, "fit_intercept": fit_intercept}
    heaviest = float(weights.max())
    one, other = (
        regressor(name, **given, max_sample_weight=bound).fit(X, COUNTS, weights)
        for bound in (heaviest, 10.0 * heaviest)
    )
    times = WHOLE.astype(int)
    exact = regressor(name, **given).fit(np.repeat(X, times, axis=0), np.repeat(COUNTS, times))
    wanted = np.append(exact.coef_, exact.intercept_)
    for found in (one, other):
        found = np.append(found.coef_, found.intercept_)
        assert np.linalg.norm(found - wanted) < 1e-4 * np.linalg.norm(wanted)
    plain = regressor(name, **given).fit(X, COUNTS)
    found = np.append(plain.coef_, plain.intercept_)
    assert np.linalg.norm(found - wanted) > 1e-2 * np.linalg.norm(wanted), "weights have no effect"


@pytest.mark.filterwarnings("ignore:epsilon=inf")
def test_without_noise_weighted_regressors_are_those_of_scikit_learn():
    given = {"data_norm": 3.0, "y_bounds": (0.0, 12.0), "max_sample_weight": 10.0}
    even = WEIGHTS / WEIGHTS.mean()
    for ours, theirs, weights in (
        (DPRidge(epsilon=math.inf, alpha=30.0), Ridge(30.0), WEIGHTS),
        (DPLinearRegression(epsilon=math.inf), LinearRegression(), WEIGHTS),
        (DPLasso(epsilon=math.inf, alpha=0.1), Lasso(0.1, tol=1e-13), even),
    ):
        found = ours.set_params(**given).fit(X, COUNTS, weights)
        np.testing.assert_allclose(found.coef_, theirs.fit(X, COUNTS, weights).coef_, atol=1e-9)
        assert found.intercept_ == pytest.approx(theirs.intercept_, rel=1e-9)


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_protect_persons_and_take_weights(name, neighbors):
    given = {"max_rows_per_group": 5, "max_sample_weight": 4.0, "neighbors": neighbors}
    model = regressor(name, **given).fit(X, COUNTS, WEIGHTS, groups=PERSONS)
    receipt, quote = model.privacy_, regressor(name, **given).quote(N, 3)
    assert receipt.script == quote.script and "units" in receipt.proofs
    assert receipt.unit == "person" and receipt.rows == 5
    assert receipt.declared.get("n") == {"replace_one": N, "add_remove": 400}[neighbors]
    assert receipt.declared["max_sample_weight"] == 4.0
    with pytest.raises(ValueError, match="is None; declare"):
        regressor(name).fit(X, COUNTS, groups=PERSONS)


@pytest.mark.filterwarnings("ignore:epsilon=inf")
def test_a_person_whose_rows_repeat_counts_as_one_row():
    """Persons of one to three equal rows: without noise the fit is that of the persons."""
    times = 1 + np.arange(400) % 3
    owners = np.repeat(np.arange(400), times)
    persons = regressor("DPRidge", math.inf, max_rows_per_group=3)
    persons.fit(np.repeat(X, times, axis=0), np.repeat(COUNTS, times), groups=owners)
    alone = regressor("DPRidge", math.inf).fit(X, COUNTS)
    np.testing.assert_allclose(persons.coef_, alone.coef_, rtol=1e-9)


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_light_rows_do_not_make_residuals_look_small(neighbors):
    """Weights of a tenth of their bound: clips follow from what the rows weigh, not from how many there are."""
    rng = np.random.default_rng(2)
    rows = rng.uniform(-1.0, 1.0, (20_000, 3))
    y = rows @ [3.0, -2.0, 1.0] + 10.0 + rng.normal(size=20_000)
    given = {"data_norm": 1.8, "y_bounds": (0.0, 20.0), "random_state": 0, "neighbors": neighbors}
    light = DPLinearRegression(epsilon=1.0, max_sample_weight=10.0, **given).fit(
        rows, y, np.ones(20_000)
    )
    assert np.abs(light.coef_ - [3.0, -2.0, 1.0]).max() < 0.4


def test_masked_ids_are_refused():
    """What lies under a mask may differ from row to row of one person."""
    X, groups = np.zeros((6, 2)), np.arange(6) // 2
    model = DPLogisticRegression(epsilon=1.0, data_norm=1.0, classes=[0, 1], max_rows_per_group=2)
    with pytest.raises(ValueError) as refusal:
        model.fit(X, np.arange(6) % 2, groups=np.ma.masked_array(groups, mask=groups == 1))
    assert str(refusal.value).endswith(".") and not hasattr(model, "coef_")
