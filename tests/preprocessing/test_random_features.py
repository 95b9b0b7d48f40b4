"""Random Fourier features: norm at most 1 for any record, a public hash, kernels in closed form, public counts."""

import math
from itertools import combinations
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from laws.map_laws import bits, check_rows_are_mapped_alone
from numpy.testing import assert_allclose, assert_array_equal
from preprocessing.mixed import DECLARATION, frame
from preprocessing.test_transformers import ROWS, by_place, exact_squared_norm, table_of

import skdp
from skdp.exceptions import NotSupported
from skdp.models._arithmetic import hash_places
from skdp.preprocessing import DPSplineFeatures, TableEncoder
from skdp.preprocessing import _random_features as room
from skdp.privacy._gaussian import gaussian_mu

OPTIONS = [
    {"random_features": count, "random_share": share, "missing": missing, "unknown": unknown}
    for count, share in ((2, 0.5), (60, 1 - 2**-40), (60, 2**-40), (60, None))
    for missing, unknown in ((0.0, "value"), ("indicator", "zero"))
]
CORNERS = np.where(np.arange(512)[:, None] >> np.arange(9) & 1, 1.0, -1.0)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@given(row=ROWS)
def test_norm_at_most_one_whatever_the_record(options, row):
    features = DPSplineFeatures(by_place(), **options, interactions=[(0, 3)])
    (found,) = features.fit_transform(table_of([row]))
    names = features.get_feature_names_out()
    assert np.isfinite(found).all() and exact_squared_norm(found) <= 1 == features.row_norm_
    assert len(found) == len(names) == len(set(names))


@pytest.mark.parametrize("share", [2**-30, 0.25, 0.5, 0.9])
def test_norm_at_most_one_at_the_corners(share):
    for count in (2, 6, 34):
        given_ = {"random_features": count, "random_share": share}
        found = DPSplineFeatures((-1, 1), **given_).fit_transform(CORNERS)
        squares = [*map(exact_squared_norm, found)]
        assert 1 - 2**-40 < min(squares) <= max(squares) <= 1


def test_no_mathematical_library_decides_the_norm(monkeypatch):
    """Of any cosines a point is put on the sphere; the twin that trusts them is noticed."""

    class Wrong:
        def __getattr__(self, name):
            return getattr(np, name)

        def cos(self, z):
            return 1.5 * np.cos(z)

    def norms():
        return [*map(exact_squared_norm, DPSplineFeatures((-1, 1), **few).fit_transform(CORNERS))]

    few = {"random_features": 10, "size": 3}
    monkeypatch.setattr(room, "np", Wrong())
    assert max(norms()) <= 1
    monkeypatch.setattr(room, "_on_sphere", lambda cosine, sine, size: (cosine * size, sine * size))
    assert max(norms()) > 1


def test_the_twin_that_forgets_the_curves_share_is_noticed(monkeypatch):
    sound = np.sqrt

    class Forgetful:
        def __getattr__(self, name):
            return getattr(np, name)

        def sqrt(self, x):
            return 1.0 if np.ndim(x) == 0 and x == 0.75 else sound(x)

    monkeypatch.setattr(room, "np", Forgetful())
    found = DPSplineFeatures((-1, 1), random_features=10).fit_transform(CORNERS)
    assert max(map(exact_squared_norm, found)) > 1.2


def test_the_hash_is_splitmix64():
    """By whole numbers of Python; the first number of seed 0 is that of the published generator."""
    mask = 2**64 - 1

    def mixed(k):
        k = (k ^ k >> 30) * 0xBF58476D1CE4E5B9 & mask
        k = (k ^ k >> 27) * 0x94D049BB133111EB & mask
        return k ^ k >> 31

    assert mixed(0x9E3779B97F4A7C15) == 0xE220A8397B1DCDAF
    for seed in (0, 1, 7):
        wanted = [
            (mixed((k + (seed << 40)) * 0x9E3779B97F4A7C15 & mask) >> 11) * 2.0**-53
            for k in range(1, 200)
        ]
        assert hash_places(199, seed).tolist() == wanted


def waves(features):
    """Cosines and sines of each wave's sum for the rows of a table, by the definition, one number at a time."""
    found = features._random()

    def of(row):
        for wave, chosen in enumerate(found.chosen):
            z = math.fsum(found.weights[at][wave, 0] * row[at] for at in chosen)
            yield from (math.cos(z), math.sin(z))

    return of


def test_features_are_cosines_and_sines_of_weighted_sums():
    U = np.random.default_rng(0).uniform(-1, 1, (50, 6))
    features = DPSplineFeatures((-1, 1), random_features=40, random_share=0.3).fit(U)
    found = features.transform(U)
    of = waves(features)
    wanted = np.array([[*of(row)] for row in U]) * math.sqrt(0.3 / 20)
    assert_allclose(found[:, -40:], wanted, rtol=0, atol=1e-14)
    alone = DPSplineFeatures((-1, 1), size=features.size_).fit_transform(U)
    assert_allclose(found[:, :-40], alone * math.sqrt(0.7), rtol=0, atol=1e-14)
    name = features.get_feature_names_out()[-1]
    chosen = features._random().chosen[-1]
    assert name == f"sin20({', '.join(f'x{at}' for at in chosen)})"


def test_weights_are_normal_by_the_public_hash():
    features = DPSplineFeatures(DECLARATION, unknown="zero", random_features=400).fit(frame())
    found = features._random()
    kinds = [1, 1, 1, 2, 3, 2]  # weights of each column
    normal = NormalDist()
    drawn = [normal.inv_cdf(u + 2.0**-54) for u in hash_places(200 * sum(kinds), 2)]
    drawn = np.reshape(drawn, (200, sum(kinds)))
    ends = np.cumsum([0, *kinds])
    for at, weights in enumerate(found.weights):
        own = drawn[:, ends[at] : ends[at + 1]] * (2.0 if at < 3 else 1.0)
        assert_allclose(weights[:, : kinds[at]], own, rtol=1e-9)
        assert at < 3 or not weights[:, kinds[at] :].any()  # what is not declared says nothing
    assert {len(set(chosen)) for chosen in found.chosen.tolist()} == {4}
    assert (np.bincount(found.chosen.ravel()) > 0.5 * 200 * 4 / 6).all()


def test_inner_products_are_those_of_the_kernel():
    """Over all choices of four columns, exp(-2 d^2) for numbers d apart, exp(-1) for two values, in the mean."""
    declared = {0: [-1, 1], 1: [-1, 1], 2: ["a", "b"], 3: ["a", "b", "c"], 4: [-1, 1]}
    count = 10_000
    X = np.array(
        [[0.1, -0.3, "a", "b", 0.9], [0.4, 0.2, "a", "c", 0.8], [0.1, -0.2, "b", "b", 0.3]],
        dtype=object,
    )
    features = DPSplineFeatures(declared, random_features=count, random_share=0.5)
    R = features.fit_transform(X)[:, -count:] * math.sqrt(2)

    def one(a, b, at):
        return math.exp(-2 * (a - b) ** 2 if at in (0, 1, 4) else -float(a != b))

    for i in range(3):
        for j in range(3):
            each = [
                math.prod(one(X[i, at], X[j, at], at) for at in four)
                for four in combinations(range(5), 4)
            ]
            assert abs(R[i] @ R[j] - np.mean(each)) < 4 / math.sqrt(count / 2)


def test_missing_cells_and_unknown_values_say_nothing():
    features = DPSplineFeatures(DECLARATION, unknown="zero", random_features=60).fit(frame())
    size = math.sqrt(0.25 / 30)
    for cells in ([None, "?", "", "?", None, "", "x"], [53.5, None, 0.1, None, None, None, "x"]):
        table = frame().iloc[:1].astype(object)
        table.iloc[0] = cells
        found = features.transform(table)[0, -60:]
        assert_allclose(found, np.tile([size, 0.0], 30), atol=1e-14)


def test_rows_are_mapped_alone_to_the_last_bit():
    rng = np.random.default_rng(0)
    rows = rng.uniform(-1.2, 1.2, (4, 7))
    features = DPSplineFeatures((-1, 1), random_features=50).fit(rows)
    check_rows_are_mapped_alone(features.transform, rows[0], rows[1:])
    # The same ones by fewer, but for their size, and by places of columns, not names.
    fewer = DPSplineFeatures((-1, 1), random_features=20).fit_transform(rows)
    some = features.transform(rows)[:, -50:-30]
    assert_allclose(some * math.sqrt(50 / 20), fewer[:, -20:], rtol=1e-15)
    by_name = {f"c{j}": (-1, 1) for j in range(7)}
    named = pd.DataFrame(rows, columns=[*by_name])
    found = DPSplineFeatures(by_name, random_features=50).fit_transform(named)
    assert bits(found) == bits(features.transform(rows))


def test_none_by_default_and_none_that_a_record_decides():
    plain, off = TableEncoder(DECLARATION), DPSplineFeatures(DECLARATION, basis="linear")
    assert off.fit(frame()).random_features_ == 0
    assert_array_equal(off.transform(frame()), plain.fit_transform(frame()))
    X = frame()
    one = DPSplineFeatures(DECLARATION, random_features=20).fit(X)
    other = DPSplineFeatures(DECLARATION, random_features=20).fit(X.iloc[::-1])
    assert_array_equal(one.transform(X), other.transform(X))


@pytest.mark.parametrize(
    "task, each, least", [("classification", 50, 20_000), ("regression", 30, 3_000)]
)
@pytest.mark.parametrize("n, epsilon", [(3_000, 0.5), (14_000, 0.5), (14_000, 6.0), (80_000, 1.6)])
def test_count_by_the_public_rule(task, each, least, n, epsilon):
    X = np.zeros((n, 2))
    strength = n * gaussian_mu(epsilon, 1e-8)
    promise = {"epsilon": epsilon, "delta": 1e-8}
    features = DPSplineFeatures((-1, 1), random_features=task, **promise).fit(X)
    beside = 2 * features.size_
    wanted = min(strength / each, 999 - beside) if strength >= least else 0
    assert features.random_features_ % 2 == 0 and 0 <= wanted - features.random_features_ < 2
    assert features.random_share_ == (0.5 if strength >= 50_000 else 0.25)
    assert len(features.get_feature_names_out()) == beside + features.random_features_ < 1000
    private = {"neighbors": "add_remove", "random_features": task, **promise}
    assert DPSplineFeatures((-1, 1), **private).fit(X).random_features_ == 0
    known = DPSplineFeatures((-1, 1), **private, n_public=n).fit(X)
    assert known.random_features_ == features.random_features_


def test_wrong_options_are_refused():
    for wrong in (-2, 3, 2.5, True, 10_002, "classifier", None):
        with pytest.raises(ValueError, match="random_features="):
            DPSplineFeatures((-1, 1), random_features=wrong).fit([[0.0]])
    for wrong in (0, 1.0, -0.5, True, "half", math.nan):
        with pytest.raises(ValueError, match="random_share="):
            DPSplineFeatures((-1, 1), random_share=wrong).fit([[0.0]])
    with pytest.raises(NotSupported, match="give their number"):
        DPSplineFeatures((-1, 1), delta=0.0, size=3, random_features="regression").fit([[0.0]])
    some = DPSplineFeatures((-1, 1), delta=0.0, size=3, random_features=8).fit([[0.0]])
    assert some.random_features_ == 8


def products(n=20_000):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n, 4))
    return X, X[:, 0] * X[:, 1] + 0.3 * X[:, 2]


def fitted(last, **given_):
    return skdp.make_pipeline(DPSplineFeatures((-1, 1), epsilon=2.0, **given_), last)


def test_random_features_see_products_that_curves_do_not():
    X, z = products()
    front, back = slice(0, 16_000), slice(16_000, None)
    ends = {"three": np.digitize(z, [-0.15, 0.15]), "two": (z > 0).astype(int)}
    for y in ends.values():
        fit = skdp.DPLogisticRegression(epsilon=2.0, classes=np.unique(y), random_state=0)
        curves = fitted(fit).fit(X[front], y[front]).score(X[back], y[back])
        both = fitted(fit, random_features=100).fit(X[front], y[front]).score(X[back], y[back])
        assert both > curves + 0.1
    fit = skdp.DPLinearRegression(epsilon=2.0, y_bounds=(-1.3, 1.3), random_state=0)
    curves = fitted(fit).fit(X[front], z[front]).score(X[back], z[back])
    both = fitted(fit, random_features="regression").fit(X[front], z[front])
    assert both[0].random_features_ > 100 and both.score(X[back], z[back]) > curves + 0.3
