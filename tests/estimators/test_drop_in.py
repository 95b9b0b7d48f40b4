"""A script of scikit-learn's runs with our names: every public estimator in the places where they are put."""

import io
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from estimators.checked import checked
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder
from sklearn.utils import get_tags

import skdp
from skdp.solvers import GD

pytestmark = pytest.mark.filterwarnings("ignore::skdp.PrivacyWarning")
rng = np.random.default_rng(0)
N = 240
X = pd.DataFrame(rng.uniform(-1.0, 1.0, (N, 4)), columns=["age", "size", "dose", "none"])
SIGNAL = 2.0 * X["age"].to_numpy() - X["size"].to_numpy()
X["word"] = rng.choice(["a", "b"], N)
NUMBERS_IN = ["age", "size", "dose", "none"]
YES = (SIGNAL > 0.0).astype(int)
THREE = np.digitize(SIGNAL, [-0.8, 0.8])
COUNTS = np.floor(6.0 + 2.0 * SIGNAL)
GIVEN = {"data_norm": 2.0, "random_state": 0, "y_bounds": (0.0, 12.0)}
GIVEN |= {"alpha": 1e-3, "bounds": None}
# Steps are of records of the largest weight: here a tenth of that is what most weigh.
SLOW = {"DPQuantileRegressor": GD(steps=2000)}


def of_kind(kind):
    """One instance of each public classifier, or regressor, as the walk of the package finds them."""
    found = {}
    for model in checked():
        known = model.get_params()
        if kind(model) and known.get("neighbors") == "replace_one":
            model.set_params(**{name: value for name, value in GIVEN.items() if name in known})
            name = type(model).__name__
            found[name] = model.set_params(solver=SLOW[name]) if name in SLOW else model
    return found


CLASSIFIERS, REGRESSORS = of_kind(is_classifier), of_kind(is_regressor)
BOTH = CLASSIFIERS | REGRESSORS
NO_COEFFICIENTS = "MLP", "NB", "Table"
WITH_COEFFICIENTS = [name for name in BOTH if not any(part in name for part in NO_COEFFICIENTS)]


def given(name, labels=YES):
    """An unfitted estimator and its targets."""
    if name in REGRESSORS:
        return clone(REGRESSORS[name]), COUNTS
    return clone(CLASSIFIERS[name]).set_params(classes=np.unique(labels).tolist()), labels


def preparing(**dense):
    """Columns of both kinds."""
    words = OneHotEncoder(sparse_output=not dense)
    parts = [("n", MinMaxScaler((-1, 1)), ["age", "size"]), ("w", words, ["word"])]
    return ColumnTransformer(parts, sparse_threshold=0.0 if dense else 1.0)


def _columns(model, y):
    """Of mixed columns; sparse where a table may be."""
    dense = {} if get_tags(model).input_tags.sparse else {"dense": True}
    return make_pipeline(preparing(**dense), model).fit(X, y).score(X, y)


def _round_trip(model, y):
    buffer = io.BytesIO()
    joblib.dump(model.fit(X[NUMBERS_IN], y), buffer)
    buffer.seek(0)
    twins = joblib.load(buffer), pickle.loads(pickle.dumps(model))
    for twin in twins:
        np.testing.assert_array_equal(twin.predict(X[NUMBERS_IN]), model.predict(X[NUMBERS_IN]))
        assert twin.privacy_ == model.privacy_
    return twins[0].score(X[NUMBERS_IN], y)


def _frames(model, y):
    pipe = make_pipeline(preparing(dense=True).set_output(transform="pandas"), model).fit(X, y)
    assert list(pipe[-1].feature_names_in_) == ["n__age", "n__size", "w__word_a", "w__word_b"]
    return pipe.score(X, y)


def _importance(model, y):
    model.fit(X[NUMBERS_IN], y)
    found = permutation_importance(model, X[NUMBERS_IN], y, n_repeats=3, random_state=0)
    assert found.importances_mean.argmax() == 0
    assert abs(found.importances_mean[3]) < 0.1
    curve = partial_dependence(model, X[NUMBERS_IN], ["age"], grid_resolution=3).average[0]
    assert curve[0] < curve[1] < curve[2]
    return model.score(X[NUMBERS_IN], y)


def _search(model, y):
    grid = {"model__epsilon": [1e-3, 1e6]}
    grid |= {"model__data_norm": [2.0]} if hasattr(model, "data_norm") else {}
    search = GridSearchCV(Pipeline([("model", model)]), grid, cv=2).fit(X[NUMBERS_IN], y)
    assert search.best_params_["model__epsilon"] == 1e6
    return search.best_score_


PLACES = {
    "alone": lambda model, y: model.fit(X[NUMBERS_IN], y).score(X[NUMBERS_IN], y),
    "columns": _columns,
    "frames": _frames,
    "cross-validation": lambda model, y: cross_val_score(model, X[NUMBERS_IN], y, cv=3).mean(),
    "search": _search,
    "files": _round_trip,
    "importance": _importance,
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", BOTH)
def test_where_scikit_learns_estimators_go_ours_go(name, place):
    assert PLACES[place](*given(name)) > 0.8


@pytest.mark.parametrize("name", WITH_COEFFICIENTS)
def test_columns_are_selected_by_coefficients(name):
    model, y = given(name)
    selected = SelectFromModel(model, threshold="mean").fit(X[NUMBERS_IN], y)
    assert (
        "age" in selected.get_feature_names_out() and "none" not in selected.get_feature_names_out()
    )
    selected.set_output(transform="pandas")
    assert "age" in selected.transform(X[NUMBERS_IN]).columns
    kept = RFE(clone(model), n_features_to_select=2).fit(X[NUMBERS_IN], y).get_feature_names_out()
    assert set(kept) == {"age", "size"}


OF_CLASSIFIERS = {
    "calibrated": lambda model: CalibratedClassifierCV(model, cv=3),
    "calibrated at once": lambda model: CalibratedClassifierCV(model, cv=3, ensemble=False),
    "voting": lambda model: VotingClassifier([("ours", model), ("theirs", LogisticRegression())]),
    "bagging": lambda model: BaggingClassifier(model, 3, random_state=0),
    "against the rest": lambda model: OneVsRestClassifier(model.set_params(classes=[0, 1])),
}


@pytest.mark.parametrize("labels", [YES, THREE], ids=["two", "three"])
@pytest.mark.parametrize("made", OF_CLASSIFIERS)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_are_parts_of_others(name, made, labels):
    model, y = given(name, labels)
    whole = OF_CLASSIFIERS[made](model).fit(X[NUMBERS_IN], y)
    assert whole.score(X[NUMBERS_IN], y) > 0.8
    if hasattr(whole, "predict_proba"):
        np.testing.assert_allclose(whole.predict_proba(X[NUMBERS_IN]).sum(axis=1), 1.0)


OF_REGRESSORS = {
    "voting": lambda model: VotingRegressor([("ours", model), ("theirs", Ridge())]),
    "bagging": lambda model: BaggingRegressor(model, 3, random_state=0),
    "several": lambda model: MultiOutputRegressor(model),
    "transformed": lambda model: TransformedTargetRegressor(
        model, func=np.negative, inverse_func=np.negative
    ),
}


@pytest.mark.parametrize("made", OF_REGRESSORS)
@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_are_parts_of_others(name, made):
    model, y = given(name)
    if made == "transformed" and "Poisson" in name:
        pytest.skip("counts are not negative")
    if made == "transformed":
        model.set_params(y_bounds=(-12.0, 0.0))
    y = np.column_stack([y, y]) if made == "several" else y
    assert OF_REGRESSORS[made](model).fit(X[NUMBERS_IN], y).score(X[NUMBERS_IN], y) > 0.8


@pytest.mark.parametrize("name", BOTH)
def test_a_stack_is_paid_for_by_one_budget(name):
    model, y = given(name)
    epsilon = 1e3 if "MLP" in name else 1e5
    model.set_params(epsilon=epsilon, random_state=None)
    kind, last = (
        (StackingClassifier, "DPLogisticRegression")
        if name in CLASSIFIERS
        else (StackingRegressor, "DPRidge")
    )
    # The last one's rows are the parts' predictions, as long as these are.
    last = given(last)[0].set_params(data_norm=20.0, random_state=None)
    with skdp.budget(1e7, 1e-3) as ledger:
        whole = kind([("one", model), ("other", clone(model))], last, cv=2).fit(X[NUMBERS_IN], y)
    assert whole.score(X[NUMBERS_IN], y) > 0.8
    assert len(ledger) == 7, "two parts in two folds each, both parts and the last"


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("kind", [VotingClassifier, StackingClassifier])
def test_declared_words_beside_codes_are_refused_with_what_to_declare(name, kind):
    """Both of scikit-learn's hand on codes in place of labels: which code is whose they know alone."""
    model, _ = given(name)
    words = np.where(YES, "yes", "no")
    whole = kind([("ours", model.set_params(classes=["no", "yes"]))])
    with pytest.raises(ValueError, match=r"hands on codes .* declare classes=\[0, 1\]"):
        whole.fit(X[NUMBERS_IN], words)
    model.set_params(classes=[0, 1])
    assert set(kind([("ours", model)]).fit(X[NUMBERS_IN], words).predict(X[NUMBERS_IN])) == {
        "no",
        "yes",
    }
