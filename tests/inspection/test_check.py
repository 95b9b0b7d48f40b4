"""Steps that learn from the data without a receipt are named; what reads no record is not."""

import numpy as np
import pytest
from sklearn import ensemble, feature_selection, impute, model_selection, multiclass, preprocessing
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.utils import all_estimators

import skdp
from skdp.fitting._surroundings import name_around
from skdp.inspection._rules import HOLDS, PUBLIC, REMEDIES, REPEATS, SPOILS
from skdp.preprocessing import BoundsScaler, DeclaredEncoder, TableEncoder

DP = skdp.DPLogisticRegression(data_norm=1.0, classes=[0, 1])


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
    impute.SimpleImputer(strategy="constant", add_indicator=True),
    CountVectorizer(),
    TfidfVectorizer(vocabulary=["a"]),
    FeatureUnion([("a", preprocessing.Normalizer()), ("b", PCA())]),
    LogisticRegression(),
    model_selection.GridSearchCV(DP, {"C": [1, 10]}),
    CalibratedClassifierCV(DP),
    ensemble.BaggingClassifier(DP),
    ensemble.StackingClassifier([("a", DP)]),
    ensemble.VotingClassifier([("a", DP), ("b", LogisticRegression())]),
]
FINE = [
    preprocessing.FunctionTransformer(np.log1p),
    preprocessing.Normalizer(),
    preprocessing.OneHotEncoder(categories=[["a", "b"]]),
    preprocessing.SplineTransformer(knots=np.array([[0.0], [1.0]])),
    preprocessing.PolynomialFeatures(),
    impute.SimpleImputer(strategy="constant"),
    HashingVectorizer(),
    CountVectorizer(vocabulary=["a"]),
    BoundsScaler(),
    DeclaredEncoder(),
    TableEncoder(),
    "passthrough",
    multiclass.OneVsRestClassifier(DP),
    ensemble.VotingClassifier([("a", DP), ("b", DP)]),
    ensemble.StackingClassifier([("a", DP)], final_estimator=DP),
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
        skdp.check(BoundsScaler()).summary() == "NOT PRIVATE: no step pays, so nothing is promised."
    )


def test_remainders_and_selectors_are_seen():
    part = ColumnTransformer(
        [("n", BoundsScaler(), make_column_selector(dtype_include=float))], remainder=PCA()
    )
    assert skdp.check(make_pipeline(part, DP)).named("learns") == ("PCA",)
    assert skdp.check(make_pipeline(part.set_params(remainder="passthrough"), DP)).private


def test_every_kind_that_is_named_exists():
    """A kind that scikit-learn no longer has, or that is misspelt, would never be met."""
    known = {name for name, _ in all_estimators()} | {"FrozenEstimator", "FixedThresholdClassifier"}
    known |= {"CountVectorizer", "HashingVectorizer", "TfidfVectorizer", "PatchExtractor"}
    named = {*HOLDS, *PUBLIC, *REMEDIES, *REPEATS, *SPOILS}
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
        make_pipeline(BoundsScaler(), Asks()).fit(X)[-1].around_ is None
    )  # scikit-learn's tells nothing
    assert skdp.make_pipeline(BoundsScaler(), Asks()).fit(X)[-1].around_ == ()
    with pytest.warns(skdp.PrivacyWarning, match="StandardScaler"):
        inner = skdp.make_pipeline(preprocessing.StandardScaler(), Asks())
    with pytest.warns(skdp.PrivacyWarning, match="PCA"):
        outer = skdp.make_pipeline(PCA(), inner)
    with pytest.warns(skdp.PrivacyWarning, match=r"PCA|StandardScaler"):
        assert outer.fit(X)[-1][-1].around_ == ("PCA", "StandardScaler")
