"""Compositions that users write, with what is true of them by argument: the reference of `check` and of `total`.

Truths: "private"; "labels", which is private but for the set of labels, that scikit-learn takes from y in the clear;
"not"; and "unknown", where the model alone does not tell, for code of somebody else's decides.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import calibration, compose, ensemble, impute, model_selection, multioutput
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.feature_selection import RFE, RFECV, SelectFromModel, SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, RANSACRegressor
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)
from sklearn.random_projection import GaussianRandomProjection
from sklearn.semi_supervised import SelfTrainingClassifier

import skdp
from skdp.model_selection import DPGridSearchCV, KeyFold, PositionFold
from skdp.preprocessing import BoundsScaler, DeclaredEncoder, DPBounds

N = 240
RNG = np.random.default_rng(0)
X = RNG.uniform(-0.3, 0.3, (N, 4))
TWO = (X[:, 0] + RNG.normal(size=N) * 0.2 > 0).astype(int)
THREE = np.arange(N) % 3
MANY = np.column_stack([TWO, 1 - TWO, THREE == 0]).astype(int)
REAL = X[:, 0] + RNG.normal(size=N) / 9
REALS = np.column_stack([REAL, X[:, 1]])


def lr(**given):
    """A classifier of two labels."""
    usual = {
        "epsilon": 1.0,
        "delta": 1e-6,
        "data_norm": 1.0,
        "classes": [0, 1],
        "solver": "white-gd",
    }
    return skdp.DPLogisticRegression(**{**usual, **given})


def added(**given):
    """The same under add_remove."""
    return lr(neighbors="add_remove", n_public=N, solver="gd", **given)


def ridge(**given):
    """A regressor."""
    usual = {"epsilon": 1.0, "delta": 1e-6, "data_norm": 1.0, "y_bounds": (-1, 1), "solver": "gd"}
    return skdp.DPRidge(**{**usual, **given})


def without_noise():
    """A model whose parameters were mended after its fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return lr(epsilon=np.inf).fit(X, TWO).set_params(epsilon=1.0)


class Own(TransformerMixin, BaseEstimator):
    """Somebody's transformer."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


class OwnModel(skdp.DPLogisticRegression):
    """Somebody's subclass whose fit rescales."""

    def fit(self, X, y):
        return super().fit(X / np.abs(X).max(), y)


@dataclass(frozen=True)
class Composition:
    """A model, the target that it is fitted to (None where no fit is made here), and the truth of it."""

    name: str
    model: Any
    y: Any
    truth: str
    because: str


def columns(*transformers, **given):
    return compose.ColumnTransformer(list(transformers), **given)


def _all():
    yield "epsilon=inf", lr(epsilon=np.inf), None, "not", "there is no noise"
    yield "epsilon=100", lr(epsilon=100.0), None, "not", "odds may grow by exp(100)"
    yield "a seed", lr(random_state=0), None, "not", "the noise is known"
    yield (
        "a seed in front",
        make_pipeline(DPBounds(epsilon=0.1, random_state=0), lr()),
        None,
        "not",
        "likewise",
    )
    yield "delta=.1", lr(delta=0.1), None, "not", "a tenth of the records may be published"
    yield "classes=None", lr(classes=None), TWO, "labels", "classes_ is the set of labels"
    yield "bare", lr(), TWO, "private", "its receipt"
    yield "bare, add_remove", added(), TWO, "private", "its receipt"
    yield "regressor", ridge(), REAL, "private", "its receipt"
    yield "subclass", OwnModel(), None, "unknown", "its fit divides by the largest entry"
    yield (
        "private search",
        DPGridSearchCV(lr(solver="gd"), {"C": [0.1, 1.0]}),
        TWO,
        "private",
        "one receipt",
    )

    yield "scaler", make_pipeline(StandardScaler(), lr()), None, "not", "means and deviations"
    yield "PCA", make_pipeline(PCA(2), lr()), None, "not", "directions"
    yield "best columns", make_pipeline(SelectKBest(k=2), lr()), None, "not", "scores of columns"
    yield "mean imputer", make_pipeline(impute.SimpleImputer(), lr()), None, "not", "means"
    yield (
        "constant imputer",
        make_pipeline(impute.SimpleImputer(strategy="constant"), lr()),
        None,
        "not",
        "drops columns without a value",
    )
    yield (
        "constant imputer that keeps",
        make_pipeline(
            impute.SimpleImputer(strategy="constant", fill_value=0.0, keep_empty_features=True),
            lr(),
        ),
        TWO,
        "private",
        "a constant",
    )
    yield (
        "imputer by private fits",
        make_pipeline(impute.IterativeImputer(ridge()), lr()),
        None,
        "not",
        "begins at means",
    )
    yield "vocabulary", make_pipeline(CountVectorizer(), lr()), None, "not", "words of records"
    yield (
        "tf-idf",
        make_pipeline(TfidfVectorizer(vocabulary=["a"]), lr()),
        None,
        "not",
        "counts of documents",
    )
    yield (
        "hashed words",
        make_pipeline(HashingVectorizer(), lr()),
        None,
        "private",
        "a hash of each text",
    )
    yield (
        "one's own words",
        make_pipeline(HashingVectorizer(tokenizer=str.split), lr()),
        None,
        "unknown",
        "a function",
    )
    yield "categories", make_pipeline(OneHotEncoder(), lr()), None, "not", "values of records"
    yield (
        "declared categories",
        make_pipeline(DeclaredEncoder({0: ["a", "b"]}), lr()),
        None,
        "private",
        "declared",
    )
    yield (
        "splines at quantiles",
        make_pipeline(SplineTransformer(knots="quantile"), lr()),
        None,
        "not",
        "quantiles",
    )
    yield "polynomials", make_pipeline(PolynomialFeatures(2), lr()), TWO, "private", "of each row"
    yield "rows of norm 1", make_pipeline(Normalizer(), lr()), TWO, "private", "each row by itself"
    yield (
        "logarithm",
        make_pipeline(FunctionTransformer(np.log1p), lr()),
        TWO,
        "private",
        "each number by itself",
    )
    yield (
        "by the largest",
        make_pipeline(FunctionTransformer(lambda X: X / X.max()), lr()),
        TWO,
        "unknown",
        "reads all rows",
    )
    yield (
        "twice",
        make_pipeline(FunctionTransformer(lambda X: 2 * X), lr()),
        TWO,
        "unknown",
        "reads one row at a time",
    )
    yield (
        "a function with options",
        make_pipeline(FunctionTransformer(np.add.reduce), lr()),
        None,
        "unknown",
        "sums over rows",
    )
    yield (
        "projection",
        make_pipeline(GaussianRandomProjection(2), lr()),
        TWO,
        "private",
        "rows stand where they stood",
    )
    yield (
        "projection, add_remove",
        make_pipeline(GaussianRandomProjection(2), added()),
        TWO,
        "not",
        "rows that move are rounded anew",
    )
    yield "somebody's step", make_pipeline(Own(), lr()), TWO, "unknown", "its fit"
    yield (
        "frozen public scaler",
        make_pipeline(FrozenEstimator(StandardScaler().fit(X[:9])), lr()),
        TWO,
        "unknown",
        "whose records these were",
    )
    yield (
        "frozen bounds",
        make_pipeline(FrozenEstimator(BoundsScaler((-1, 1)).fit(X)), lr()),
        TWO,
        "private",
        "fits nothing",
    )
    yield (
        "frozen private model",
        FrozenEstimator(lr().fit(X, TWO)),
        TWO,
        "private",
        "fits nothing, and has a receipt",
    )
    yield "frozen model without noise", FrozenEstimator(without_noise()), TWO, "not", "its receipt"
    yield (
        "bought bounds",
        make_pipeline(DPBounds(epsilon=0.1), lr()),
        TWO,
        "private",
        "both have receipts",
    )
    yield (
        "cache",
        make_pipeline(BoundsScaler((-1, 1)), lr(), memory="cache"),
        None,
        "not",
        "a hit tells that tables are equal",
    )

    one_hot = OneHotEncoder(categories=[["a", "b"]], handle_unknown="ignore")
    scale = ("scale", BoundsScaler((-1, 1)), [0, 1])
    yield "columns by name", make_pipeline(columns(scale), lr()), TWO, "private", "public columns"
    yield (
        "sparse by density",
        make_pipeline(columns(scale, ("e", one_hot, [2])), lr()),
        None,
        "not",
        "sparse_output_ counts zeros",
    )
    yield (
        "dense",
        make_pipeline(columns(scale, ("e", one_hot, [2]), sparse_threshold=0), lr()),
        None,
        "private",
        "dense always",
    )
    yield (
        "columns by type",
        make_pipeline(
            columns(
                ("s", BoundsScaler((-1, 1)), compose.make_column_selector(dtype_include=float))
            ),
            lr(),
        ),
        None,
        "unknown",
        "types that were inferred from cells tell of cells",
    )
    yield (
        "remainder",
        make_pipeline(columns(scale, remainder=PCA()), lr()),
        None,
        "not",
        "directions",
    )
    yield (
        "union",
        make_pipeline(FeatureUnion([("a", Normalizer()), ("b", PCA())]), lr()),
        None,
        "not",
        "directions",
    )
    yield (
        "sound union",
        make_pipeline(FeatureUnion([("a", Normalizer()), ("b", DPBounds(epsilon=0.1))]), lr()),
        TWO,
        "private",
        "a receipt",
    )

    yield "one-vs-rest", OneVsRestClassifier(lr()), THREE, "labels", "one fit a label"
    yield "one-vs-one", OneVsOneClassifier(lr()), THREE, "not", "n of each fit is a count of labels"
    yield (
        "one-vs-one, add_remove",
        OneVsOneClassifier(added()),
        THREE,
        "labels",
        "a record joins the fits of its label's pairs",
    )
    yield (
        "output codes",
        OutputCodeClassifier(lr(classes=[-1, 1]), random_state=0),
        THREE,
        "labels",
        "codes of labels",
    )
    yield (
        "several outputs",
        multioutput.MultiOutputClassifier(lr()),
        MANY,
        "private",
        "one fit a column",
    )
    yield (
        "several targets",
        multioutput.MultiOutputRegressor(ridge()),
        REALS,
        "private",
        "one fit a column",
    )
    yield (
        "chain",
        multioutput.ClassifierChain(lr()),
        MANY,
        "private",
        "later fits see a record's own labels",
    )
    yield (
        "chain over stratified folds",
        multioutput.ClassifierChain(lr(), cv=3),
        MANY,
        "not",
        "a label moves others",
    )
    yield (
        "chain over positions",
        multioutput.ClassifierChain(lr(), cv=PositionFold(3)),
        MANY,
        "labels",
        "folds by position",
    )
    yield (
        "chain of regressors",
        multioutput.RegressorChain(ridge(), cv=3),
        REALS,
        "private",
        "KFold goes by position",
    )
    yield (
        "voting",
        ensemble.VotingClassifier([("a", lr()), ("b", lr())]),
        TWO,
        "labels",
        "it encodes labels",
    )
    yield (
        "voting with a public model",
        ensemble.VotingClassifier([("a", lr()), ("b", LogisticRegression())]),
        TWO,
        "not",
        "a plain fit",
    )
    yield (
        "voting of regressors",
        ensemble.VotingRegressor([("a", ridge()), ("b", ridge())]),
        REAL,
        "private",
        "two fits",
    )
    yield "stack", ensemble.StackingClassifier([("a", lr())], lr()), TWO, "not", "stratified folds"
    yield (
        "stack with a plain last fit",
        ensemble.StackingClassifier([("a", lr())]),
        TWO,
        "not",
        "a plain fit",
    )
    yield (
        "stack over positions",
        ensemble.StackingClassifier([("a", lr())], lr(), cv=PositionFold(3)),
        TWO,
        "labels",
        "folds by position",
    )
    yield (
        "stack over keys",
        ensemble.StackingClassifier([("a", lr())], lr(), cv=KeyFold(3)),
        None,
        "not",
        "no keys come to it, under a relation that is not theirs",
    )
    yield (
        "stack of regressors",
        ensemble.StackingRegressor([("a", ridge())], ridge()),
        REAL,
        "private",
        "KFold goes by position",
    )
    yield (
        "stack of regressors, add_remove",
        ensemble.StackingRegressor(
            [("a", ridge(neighbors="add_remove", n_public=N))],
            ridge(neighbors="add_remove", n_public=N),
        ),
        REAL,
        "not",
        "KFold moves others",
    )
    yield (
        "stack of what is fitted",
        ensemble.StackingRegressor([("a", ridge())], ridge(), cv="prefit"),
        REAL,
        "private",
        "two receipts",
    )
    yield (
        "stack, one left out",
        ensemble.StackingRegressor([("a", ridge())], ridge(), cv=model_selection.LeaveOneOut()),
        None,
        "private",
        "folds by position",
    )
    yield "elimination", RFE(lr(), n_features_to_select=1), TWO, "private", "columns go by answers"
    yield "elimination by scores", RFECV(lr(), cv=3), TWO, "not", "scores in the clear"
    yield (
        "selection by a private model",
        make_pipeline(SelectFromModel(lr()), lr()),
        TWO,
        "private",
        "columns go by answers",
    )
    yield (
        "selection by a function",
        SelectFromModel(lr(), importance_getter=lambda m: m.coef_),
        TWO,
        "unknown",
        "a function",
    )
    yield (
        "fixed threshold",
        model_selection.FixedThresholdClassifier(lr(), threshold=0.3),
        TWO,
        "private",
        "public threshold",
    )
    yield (
        "tuned threshold",
        model_selection.TunedThresholdClassifierCV(lr(), cv=3),
        TWO,
        "not",
        "scores in the clear",
    )
    yield (
        "calibration",
        calibration.CalibratedClassifierCV(lr(), cv=3),
        TWO,
        "not",
        "labels in the clear",
    )
    yield (
        "grid search",
        model_selection.GridSearchCV(lr(), {"C": [0.1, 1.0]}, cv=2),
        TWO,
        "not",
        "scores in the clear",
    )
    yield (
        "random search",
        model_selection.RandomizedSearchCV(lr(), {"C": [0.1, 1.0]}, n_iter=1, cv=2),
        TWO,
        "not",
        "likewise",
    )
    yield (
        "bagging",
        ensemble.BaggingRegressor(ridge(max_sample_weight=9.0), n_estimators=2),
        None,
        "not",
        "a record enters k times",
    )
    yield (
        "boosting",
        ensemble.AdaBoostClassifier(lr(max_sample_weight=1.0)),
        None,
        "not",
        "weights by errors",
    )
    yield "self-training", SelfTrainingClassifier(lr()), None, "not", "labels by guesses"
    yield (
        "consensus",
        RANSACRegressor(ridge(), min_samples=20, max_trials=2),
        None,
        "not",
        "rows by errors",
    )
    yield "plain model", LogisticRegressionCV(), None, "not", "no noise at all"
    yield (
        "targets by their mean",
        compose.TransformedTargetRegressor(ridge(), transformer=StandardScaler()),
        None,
        "not",
        "means",
    )
    yield (
        "targets as they are",
        compose.TransformedTargetRegressor(ridge()),
        REAL,
        "private",
        "nothing is done",
    )
    yield (
        "targets by logarithm",
        compose.TransformedTargetRegressor(
            ridge(), func=np.tanh, inverse_func=np.arctanh, check_inverse=False
        ),
        REAL,
        "private",
        "each number by itself",
    )
    yield (
        "targets with a test",
        compose.TransformedTargetRegressor(ridge(), func=np.tanh, inverse_func=np.sinh),
        REAL,
        "not",
        "whether it warns depends on targets",
    )
    yield (
        "nested",
        make_pipeline(
            Normalizer(),
            multioutput.MultiOutputRegressor(make_pipeline(DPBounds(epsilon=0.1), ridge())),
        ),
        REALS,
        "private",
        "four receipts",
    )


COMPOSITIONS = [Composition(*row) for row in _all()]
