"""Steps that `check` calls public: their fit leaves nothing of the records, and they map each row by itself."""

import warnings

import numpy as np
import pytest
import sklearn
from inspection.test_structures import state
from sklearn import (
    feature_extraction,
    impute,
    kernel_approximation,
    preprocessing,
    random_projection,
)
from sklearn.base import clone
from sklearn.feature_extraction import image, text

import skdp
from skdp.inspection._rules import READS_NOTHING, ROUNDS_BY_PLACE, Setting, judge_step
from skdp.utils import all_estimators

RNG = np.random.default_rng(0)
NUMBERS = RNG.uniform(0.1, 1, (40, 6))
OTHERS = np.vstack([NUMBERS[:3] / 3, [[9.0, 1, 1, 0, 0, 3]], NUMBERS[3:] / 7])  # one row more
HOLES, GAPS = NUMBERS.copy(), NUMBERS.copy()
HOLES[:, 2] = np.nan  # a column of which one record may hold the only value
GAPS[1:, 2], GAPS[0, 2] = np.nan, 5.0
WORDS, SAYINGS = ["a b", "b c d", "zorblax"] * 9, ["d", "a a a", "b"] * 9
PAIRS = np.array([["a", "x"], ["b", "y"]] * 9, dtype=object)
OTHER_PAIRS = np.array([["b", "x"], ["b", "x"]] * 9, dtype=object)
HASHED, HASHED_TOO = [{"a": 1.0}, {"b": 2.0}] * 9, [{"zorblax": 1.0}, {"a": 3.0}] * 9
IMAGES = RNG.uniform(size=(4, 8, 8))

# One step of each kind, with two tables; several where parameters tell ways apart.
STEPS = {
    "Binarizer": (preprocessing.Binarizer(threshold=0.5), NUMBERS, OTHERS),
    "CountVectorizer": (text.CountVectorizer(vocabulary=["a", "b"]), WORDS, SAYINGS),
    "FeatureHasher": (feature_extraction.FeatureHasher(8), HASHED, HASHED_TOO),
    "FunctionTransformer": (preprocessing.FunctionTransformer(np.log1p), NUMBERS, OTHERS),
    "GaussianRandomProjection": (
        random_projection.GaussianRandomProjection(4, random_state=0),
        NUMBERS,
        OTHERS,
    ),
    "HashingVectorizer": (text.HashingVectorizer(n_features=8), WORDS, SAYINGS),
    "MissingIndicator": (impute.MissingIndicator(features="all"), HOLES, GAPS),
    "Normalizer": (preprocessing.Normalizer(), NUMBERS, OTHERS),
    "OneHotEncoder": (
        preprocessing.OneHotEncoder(categories=[["a", "b"], ["x", "y"]]),
        PAIRS,
        OTHER_PAIRS,
    ),
    "OrdinalEncoder": (
        preprocessing.OrdinalEncoder(categories=[["a", "b"], ["x", "y"]]),
        PAIRS,
        OTHER_PAIRS,
    ),
    "PatchExtractor": (image.PatchExtractor(patch_size=(2, 2)), IMAGES, IMAGES / 2),
    "PolynomialCountSketch": (
        kernel_approximation.PolynomialCountSketch(n_components=5, random_state=0),
        NUMBERS,
        OTHERS,
    ),
    "PolynomialFeatures": (preprocessing.PolynomialFeatures(), NUMBERS, OTHERS),
    "RBFSampler": (
        kernel_approximation.RBFSampler(n_components=5, random_state=0),
        NUMBERS,
        OTHERS,
    ),
    "SimpleImputer": (
        impute.SimpleImputer(strategy="constant", fill_value=0.0, keep_empty_features=True),
        HOLES,
        GAPS,
    ),
    "SkewedChi2Sampler": (
        kernel_approximation.SkewedChi2Sampler(n_components=5, random_state=0),
        NUMBERS,
        OTHERS,
    ),
    "SparseRandomProjection": (
        random_projection.SparseRandomProjection(4, random_state=0),
        NUMBERS,
        OTHERS,
    ),
    "SplineTransformer": (
        preprocessing.SplineTransformer(knots=np.linspace(0, 1, 4)[:, None] * np.ones(6)),
        NUMBERS,
        OTHERS,
    ),
    "TfidfTransformer": (text.TfidfTransformer(use_idf=False), NUMBERS, OTHERS),
    "TfidfVectorizer": (
        text.TfidfVectorizer(vocabulary=["a", "b"], use_idf=False),
        WORDS,
        SAYINGS,
    ),
}
SETTING = Setting(frozenset({"replace_one"}))
BOTH = Setting(frozenset({"add_remove"}))


def rows_of(step, X):
    """What comes out of a copy, as dense rows, without a warning."""
    copy = clone(step)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = copy.fit(X).transform(X)
    return copy, np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)


def test_every_public_kind_has_a_step():
    assert set(STEPS) == set(READS_NOTHING)


@pytest.mark.parametrize("kind", STEPS)
def test_fit_leaves_nothing_of_the_records(kind):
    step, one, other = STEPS[kind]
    assert judge_step(step, SETTING)[0] == "public"
    assert state(rows_of(step, one)[0]) == state(rows_of(step, other)[0])


LEAVES = [
    (impute.SimpleImputer(strategy="constant", fill_value=0.0), (1, 8)),  # which columns are empty
    (preprocessing.StandardScaler(with_mean=False, with_std=False), (1, 0)),  # counts of values
]


@pytest.mark.parametrize(("step", "since"), LEAVES, ids=lambda value: type(value).__name__)
def test_the_law_sees_what_was_once_called_public(step, since):
    assert judge_step(step, SETTING)[0] == "learns"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same = state(clone(step).fit(HOLES)) == state(clone(step).fit(GAPS))
    assert not same or tuple(map(int, sklearn.__version__.split(".")[:2])) < since


@pytest.mark.parametrize("kind", [k for k, (_, one, _) in STEPS.items() if one is NUMBERS])
def test_public_steps_map_each_row_by_itself(kind):
    """Under add_remove to the last bit, wherever a row stands; those that do not are not called public there."""
    step, row = STEPS[kind][0], RNG.uniform(0.1, 1, (1, 16))
    if kind == "SplineTransformer":
        step = clone(step).set_params(knots=np.linspace(0, 1, 4)[:, None] * np.ones(16))
    first = rows_of(step, np.repeat(row, 2, axis=0))[1][0]  # splines want two rows
    counts = (*range(2, 34), 100, 101, 1001)
    same = all((rows_of(step, np.repeat(row, n, axis=0))[1] == first).all() for n in counts)
    assert same or kind in ROUNDS_BY_PLACE
    assert (judge_step(step, BOTH)[0] == "public") == (kind not in ROUNDS_BY_PLACE)


DECLARED = {
    "BoundsScaler": ({"bounds": (-1, 1)}, NUMBERS, OTHERS),
    "DPSplineFeatures": (
        {"declaration": {i: [-1, 1] for i in range(6)}, "random_features": 4},
        NUMBERS,
        OTHERS,
    ),
    "DeclaredEncoder": ({"categories": {0: ["a", "b"], 1: ["x", "y"]}}, PAIRS, OTHER_PAIRS),
    "RowNormClipper": ({}, NUMBERS, OTHERS),
    "TableEncoder": ({"declaration": {i: [-1, 1] for i in range(6)}}, NUMBERS, OTHERS),
}


@pytest.mark.parametrize("name", [n for n, kind in all_estimators() if not hasattr(kind, "quote")])
def test_our_own_steps_without_a_price_leave_nothing_either(name):
    given, one, other = DECLARED[name]
    step = dict(all_estimators())[name](**given)
    assert skdp.check(step).steps[0].verdict == "public"
    assert state(clone(step).fit(one)) == state(clone(step).fit(other))
