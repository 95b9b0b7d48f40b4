"""Steps that learn from the data without a receipt are named; what reads no record is not."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import special
from sklearn import ensemble, feature_selection, impute, model_selection, multiclass, preprocessing
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.utils import all_estimators

import skdp
from skdp.fitting._provenance import name_around
from skdp.inspection._rules import GIVES_SPARSE, READS_NOTHING, REMEDIES, ROUNDS_BY_PLACE
from skdp.inspection._structures import SPOILS, STRUCTURES
from skdp.model_selection import PositionFold
from skdp.preprocessing import BoundsScaler, DeclaredEncoder, TableEncoder
from skdp.solvers import GD

DP = skdp.DPLogisticRegression(data_norm=1.0, classes=[0, 1])
RIDGE = skdp.DPRidge(data_norm=1.0, y_bounds=(-1, 1))


class Theirs(TransformerMixin, BaseEstimator):
    """Nobody knows what it does."""

    def fit(self, X, y=None):
        return self


def naive():
    """What users write."""
    columns = [
        ("scale", preprocessing.StandardScaler(), [0]),
        ("encode", preprocessing.OneHotEncoder(sparse_output=False), [1]),
    ]
    return make_pipeline(ColumnTransformer(columns), DP)


LEARN = [
    preprocessing.StandardScaler(),
    preprocessing.OneHotEncoder(),
    preprocessing.OneHotEncoder(categories=[["a", "b"]], min_frequency=2),
    preprocessing.SplineTransformer(),
    preprocessing.KBinsDiscretizer(),
    PCA(),
    feature_selection.SelectKBest(),
    impute.SimpleImputer(),
    impute.SimpleImputer(strategy="constant"),
    impute.SimpleImputer(strategy="constant", add_indicator=True, keep_empty_features=True),
    CountVectorizer(),
    TfidfVectorizer(vocabulary=["a"]),
    FeatureUnion([("a", preprocessing.Normalizer()), ("b", PCA())]),
    LogisticRegression(),
    model_selection.GridSearchCV(DP, {"C": [1, 10]}),
    CalibratedClassifierCV(DP),
    ensemble.BaggingClassifier(DP),
    ensemble.StackingClassifier([("a", DP)], final_estimator=DP),
    multiclass.OneVsOneClassifier(DP),
    ensemble.VotingClassifier([("a", DP), ("b", LogisticRegression())]),
]
FINE = [
    preprocessing.FunctionTransformer(np.log1p),
    preprocessing.Normalizer(),
    preprocessing.OneHotEncoder(categories=[["a", "b"]]),
    preprocessing.SplineTransformer(knots=np.array([[0.0], [1.0]])),
    preprocessing.PolynomialFeatures(),
    impute.SimpleImputer(strategy="constant", fill_value=0.0, keep_empty_features=True),
    HashingVectorizer(),
    CountVectorizer(vocabulary=["a"]),
    BoundsScaler((-1, 1)),
    DeclaredEncoder([0, 1]),
    TableEncoder((-1, 1)),
    "passthrough",
    feature_selection.SelectFromModel(DP),
    ensemble.VotingRegressor([("a", RIDGE), ("b", RIDGE)]),
    ensemble.StackingRegressor([("a", RIDGE)], final_estimator=RIDGE),
]
BY_LABEL = [  # which labels there are, scikit-learn takes from y
    skdp.DPLogisticRegression(),
    multiclass.OneVsRestClassifier(DP),
    ensemble.VotingClassifier([("a", DP), ("b", DP)]),
    ensemble.StackingClassifier([("a", DP)], final_estimator=DP, cv=PositionFold(3)),
]


@pytest.mark.parametrize("step", LEARN, ids=lambda step: type(step).__name__)
def test_what_learns_is_named(step):
    found = skdp.check(make_pipeline(step, DP))
    assert not found.private and len(found.named("learns")) == 1
    assert str(found).startswith("NOT PRIVATE") and found.named("learns")[0] in found.summary()


@pytest.mark.parametrize("step", FINE, ids=lambda step: type(step).__name__)
def test_what_reads_no_record_is_not(step):
    found = skdp.check(make_pipeline(step, DP))
    assert found.private and str(found).startswith("PRIVATE as a whole")


@pytest.mark.parametrize("step", BY_LABEL, ids=lambda step: type(step).__name__)
def test_what_takes_the_labels_from_y_says_so(step):
    found = skdp.check(step)
    assert not found.private and found.named("assumes")
    assert str(found).startswith("NOT PRIVATE where a label is rare")


VOID = [
    ({"epsilon": np.inf}, "epsilon=inf adds no noise"),
    ({"epsilon": 50.0}, "epsilon=50 protects nobody"),
    ({"delta": 0.1}, "delta=0.1 allows publishing a record"),
    ({"random_state": 0}, "random_state is fixed"),
    ({"random_state": np.random.RandomState(0)}, "random_state is fixed"),
]


@pytest.mark.parametrize(("given", "said"), VOID, ids=lambda value: str(value)[:30])
def test_parameters_that_void_the_guarantee_are_named(given, said):
    model = skdp.DPLogisticRegression(data_norm=1.0, classes=[0, 1]).set_params(**given)
    for whole in (
        model,
        make_pipeline(BoundsScaler(), model),
        multiclass.OneVsRestClassifier(model),
    ):
        found = skdp.check(whole)
        assert not found.private and found.named("void") == ("DPLogisticRegression",)
        assert said in str(found) and str(found).startswith("NOT PRIVATE as a whole: parameters")


def test_delta_is_held_against_the_number_of_records():
    model = skdp.DPRidge(data_norm=1.0, y_bounds=(-1, 1), delta=1e-4)
    assert skdp.check(model).private and skdp.check(model, n=9_999).private
    assert "delta=0.0001 is 1/n or more at n=10000" in str(skdp.check(model, n=10_000))
    for wrong in (0, 2.5, True, "9"):
        with pytest.raises(ValueError, match="whole number from 1"):
            skdp.check(model, n=wrong)


def test_a_fitted_estimator_is_judged_by_its_receipt_too():
    X = np.random.default_rng(0).uniform(-0.5, 0.5, (300, 2))
    y = (X[:, 0] > 0).astype(int)
    seeded = skdp.DPLogisticRegression(data_norm=1.0, classes=[0, 1], random_state=0).fit(X, y)
    seeded.set_params(random_state=None)
    dense = skdp.DPLogisticRegression(data_norm=1.0, classes=[0, 1], delta=9e-4).fit(X, y)
    assert "was fitted with a fixed seed" in str(skdp.check(make_pipeline(BoundsScaler(), seeded)))
    assert skdp.check(dense).private and not skdp.check(dense, n=2_000).private
    assert skdp.check(multiclass.OneVsRestClassifier(seeded)).named("void") == ()  # of a copy
    frozen = FrozenEstimator(dense.set_params(delta=0.5))
    assert skdp.check(frozen).private  # its receipt is all that counts


# What holds a model whose fit is over, so that its receipt is all that counts.
FINISHED = {
    "frozen": lambda model: FrozenEstimator(model),
    "in a pipeline": lambda model: make_pipeline(BoundsScaler((-1, 1)), FrozenEstimator(model)),
    "selects": lambda model: feature_selection.SelectFromModel(model, prefit=True),
    "in a stack": lambda model: ensemble.StackingRegressor(
        [("a", model)], final_estimator=RIDGE, cv="prefit"
    ),
}
SAID = {
    "nothing": ({}, None, ""),
    "around": ({"around": ("StandardScaler",)}, "unknown", "behind or inside steps"),
    "seed": ({"seeded": True}, "void", "was fitted with a fixed seed"),
    "epsilon": ({"epsilon": np.inf}, "void", "was fitted with epsilon=inf"),
    "delta": ({"delta": 0.5}, "void", "was fitted with delta=0.5"),
}


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("holds", FINISHED)
def test_what_the_receipt_of_a_finished_fit_says_is_passed_on(holds, said):
    X = np.random.default_rng(0).uniform(-0.5, 0.5, (300, 2))
    model = skdp.DPRidge(data_norm=1.0, y_bounds=(-1, 1)).fit(X, X[:, 0])
    given, verdict, why = SAID[said]
    model.privacy_ = replace(model.privacy_, **given)
    found = skdp.check(FINISHED[holds](model))
    assert found.private == (verdict is None) and why in str(found)
    assert verdict is None or found.named(verdict) == ("DPRidge",)


class OwnSolver:
    """Of somebody's."""


def test_code_of_the_users_is_not_known():
    found = skdp.check(skdp.DPRidge(y_bounds=(0, 1), solver=OwnSolver()))
    assert found.named("unknown") == ("DPRidge",) and found.steps[0].charges
    assert "solver is code that is not of skdp" in str(found)
    assert skdp.check(skdp.DPRidge(y_bounds=(0, 1), solver=GD())).private


@pytest.mark.parametrize(
    ("function", "known"),
    [
        (np.tanh, True),
        (special.expit, True),
        (np.frompyfunc(lambda x: x, 1, 1), False),
        (lambda X: X, False),
        (np.cumsum, False),
        (np.add, False),
    ],
)
def test_functions_that_take_each_number_by_itself_are_known(function, known):
    found = skdp.check(make_pipeline(preprocessing.FunctionTransformer(function), DP))
    assert found.private is known
    assert found.named("unknown") == (() if known else ("FunctionTransformer",))


def test_no_function_is_run():
    def function(X):
        raise AssertionError

    skdp.check(make_pipeline(preprocessing.FunctionTransformer(function), DP))


def test_the_naive_pipeline():
    found = skdp.check(naive())
    assert found.named("learns") == ("StandardScaler", "OneHotEncoder")
    assert "columntransformer / scale / StandardScaler: declare bounds" in str(found)
    assert "OneHotEncoder" in found._repr_html_() and "<caption>NOT PRIVATE" in found._repr_html_()


def test_what_is_not_known_is_named_as_unknown():
    for step in (Theirs(), type("PCA", (PCA,), {"__module__": "theirs"})()):
        found = skdp.check(make_pipeline(step, DP))
        assert found.named("unknown") == (type(step).__name__,) and not found.private
        assert found.summary().startswith("NOT KNOWN to be private")
    assert (
        skdp.check(BoundsScaler((-1, 1))).summary()
        == "NOT PRIVATE: no step charges a budget, so there is no guarantee."
    )


def test_remainders_and_selectors_are_seen():
    part = ColumnTransformer(
        [("n", BoundsScaler((-1, 1)), make_column_selector("x.*"))], remainder=PCA()
    )
    assert skdp.check(make_pipeline(part, DP)).named("learns") == ("PCA",)
    assert skdp.check(make_pipeline(part.set_params(remainder="passthrough"), DP)).private


@pytest.mark.parametrize(
    "columns",
    [make_column_selector(dtype_include=float), lambda X: [0]],
    ids=["by type", "by code"],
)
def test_columns_that_cells_may_pick_are_not_known(columns):
    """A type is inferred from all cells of a column: one word in a file turns numbers into text."""
    model = make_pipeline(ColumnTransformer([("n", BoundsScaler(), columns)]), DP)
    assert skdp.check(model).named("unknown") == ("ColumnTransformer",)


def test_every_kind_that_is_named_exists():
    """A kind that scikit-learn no longer has, or that is misspelt, would never be met."""
    known = {name for name, _ in all_estimators()} | {"FrozenEstimator", "FixedThresholdClassifier"}
    known |= {"CountVectorizer", "HashingVectorizer", "TfidfVectorizer", "PatchExtractor"}
    named = {*READS_NOTHING, *ROUNDS_BY_PLACE, *GIVES_SPARSE, *REMEDIES, *STRUCTURES, *SPOILS}
    assert {name for name in named - known if "Halving" not in name} == set()


class Asks(BaseEstimator):
    """Says what it is called from."""

    def fit(self, X, y=None):
        self.around_ = name_around(type(self).__name__)
        return self


def test_surroundings_of_a_fit():
    X = np.arange(6.0).reshape(3, 2)
    assert Asks().fit(X).around_ is None
    assert (
        make_pipeline(BoundsScaler((-1, 1)), Asks()).fit(X)[-1].around_ is None
    )  # scikit-learn's tells nothing
    assert skdp.make_pipeline(BoundsScaler((-1, 1)), Asks()).fit(X)[-1].around_ == ()
    with pytest.warns(skdp.PrivacyWarning, match="StandardScaler"):
        inner = skdp.make_pipeline(preprocessing.StandardScaler(), Asks())
    with pytest.warns(skdp.PrivacyWarning, match="PCA"):
        outer = skdp.make_pipeline(PCA(), inner)
    with pytest.warns(skdp.PrivacyWarning, match=r"PCA|StandardScaler"):
        assert outer.fit(X)[-1][-1].around_ == ("PCA", "StandardScaler")
