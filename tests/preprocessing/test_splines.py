"""Functions of numbers and declared pairs: norms by theorem, hats as in scikit-learn, sizes by the public rule."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from preprocessing.mixed import DECLARATION, frame
from preprocessing.test_transformers import ROWS, by_place, exact_squared_norm, table_of
from sklearn.preprocessing import SplineTransformer

import skdp
from skdp.preprocessing import DPSplineFeatures, TableEncoder
from skdp.preprocessing import table_encoder as room
from skdp.preprocessing.dp_spline_features import KNOTS, LINE, _hats, _spectral
from skdp.privacy._gaussian import gaussian_mu

PAIRS = [(0, 3), (1, 2), (3, 4)]
OPTIONS = [
    {"basis": basis, "size": size, "missing": missing, "interactions": pairs}
    for basis, size in (("smooth", 3), ("smooth", 13), ("hats", 2), ("hats", 9), ("linear", None))
    for missing in (0.0, "indicator")
    for pairs in ((), PAIRS)
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@given(row=ROWS)
def test_norm_at_most_one_whatever_the_record(options, row):
    features = DPSplineFeatures(by_place(), **options)
    (found,) = features.fit_transform(table_of([row]))
    names = features.get_feature_names_out()
    assert np.isfinite(found).all() and exact_squared_norm(found) <= 1 == features.row_norm_
    assert len(found) == len(names) == len(set(names))


def test_smooth_rows_are_as_long_as_the_theorem_lets_them():
    u = np.linspace(-1, 1, 997)[:, None]
    for size in range(2, 14):
        found = DPSplineFeatures((-1, 1), size=size).fit_transform(u)
        squares = [exact_squared_norm(row) for row in found]
        assert 1 - Fraction(2) ** -40 < min(squares) <= max(squares) <= 1
    # Before it is put on the sphere the curve of 3 dimensions comes no nearer to 0 than .46.
    curve = _hats(u[:, 0], KNOTS) @ _spectral(3)
    assert 0.45 < np.linalg.norm(curve, axis=1).min() < 0.47


def test_all_dimensions_have_the_inner_products_of_the_kernel():
    knots, centred = np.linspace(-1, 1, KNOTS), np.eye(KNOTS) - 1 / KNOTS
    frames = [centred @ _hats(knots, level) / 2 for level in (3, 5, 9, 17)]
    kernel = (1 - LINE) * sum(f @ f.T for f in frames) + LINE * np.outer(knots, knots)
    whole = _spectral(KNOTS)
    assert_allclose(whole @ whole.T, kernel / np.diag(kernel).max(), atol=1e-12)
    assert abs(np.corrcoef(_spectral(3)[:, 0], knots)[0, 1]) > 0.98  # the line comes first


@pytest.mark.parametrize("size", [2, 3, 5, 9])
def test_hats_are_those_of_scikit_learn(size):
    u = np.random.default_rng(0).uniform(-1.2, 1.2, (500, 1))
    theirs = SplineTransformer(
        degree=1, knots=np.linspace(-1, 1, size)[:, None], extrapolation="constant"
    )
    ours = DPSplineFeatures((-1, 1), basis="hats", size=size).fit_transform(u)
    assert_allclose(ours, theirs.fit_transform(u), atol=1e-13)


@pytest.mark.parametrize(
    ("n", "epsilon", "size"), [(36_000, 0.1, 3), (36_000, 0.4, 4), (36_000, 1.6, 13), (100, 1.6, 3)]
)
def test_size_by_the_public_rule(n, epsilon, size):
    X = np.zeros((n, 2))
    smooth = DPSplineFeatures((-1, 1), epsilon=epsilon, delta=1e-8).fit(X)
    assert smooth.size_ == size
    private = {"neighbors": "add_remove", "epsilon": epsilon, "delta": 1e-8}
    assert DPSplineFeatures((-1, 1), **private).fit(X).size_ == 3
    assert DPSplineFeatures((-1, 1), **private, n_public=n).fit(X).size_ == size
    hats = DPSplineFeatures((-1, 1), basis="hats", epsilon=epsilon, delta=1e-8)
    strength = n * gaussian_mu(epsilon, 1e-8)
    assert hats.fit(X).size_ == max(k for k in (1, 3, 5, 9) if strength >= 50 * (k - 1) * 2)
    assert DPSplineFeatures((-1, 1), epsilon=np.inf).fit(X).size_ == 13


def test_pairs_are_products_of_blocks():
    pairs = [("sex", "age"), ("zone", "member")]
    plain = TableEncoder(DECLARATION, missing="indicator")
    paired = TableEncoder(DECLARATION, missing="indicator", interactions=pairs)
    X = pd.DataFrame(plain.fit_transform(frame()), columns=plain.get_feature_names_out())
    both = pd.DataFrame(paired.fit_transform(frame()), columns=paired.get_feature_names_out())
    squares = [1, 1, 1, 2 / 3, 3 / 4, 2 / 3]
    X *= np.sqrt(sum(squares))
    both *= np.sqrt(sum(squares) + 2 / 3 * 1 + 3 / 4 * 2 / 3)
    assert_allclose(both[[*X]], X, atol=1e-12)
    made = [name for name in both if " * " in name]
    assert len(made) == 2 * 2 + 3 * 2
    for name in made:
        one, other = name.split(" * ")
        assert_allclose(both[name], X[one] * X[other], atol=1e-12)


def test_wrong_pairs_and_options_are_refused():
    for pairs, why in [
        ([("sex", "Age")], r"'Age', which is not declared \(did you mean 'age'\?\)"),
        ([("sex", "sex")], "with itself"),
        (["sex"], "write pairs"),
        ([("a", "b", "c")], "write pairs"),
    ]:
        with pytest.raises(ValueError, match=why):
            TableEncoder(DECLARATION, interactions=pairs).fit(frame())
    for wrong in ({"basis": "hat"}, {"size": 0}, {"size": 2.5}, {"size": 14}):
        ((name, value),) = wrong.items()
        with pytest.raises(ValueError, match=f"{name}={value!r}"):
            DPSplineFeatures((-1, 1), **wrong).fit([[0.0]])
    with pytest.raises(ValueError, match="give size="):
        DPSplineFeatures((-1, 1), delta=0.0).fit([[0.0]])


def test_the_twin_that_forgets_the_pairs_norm_is_noticed(monkeypatch):
    sound = room.root
    monkeypatch.setattr(
        room, "root", lambda squares, dtype: sound(squares[: len(DECLARATION)], dtype)
    )
    encoder = TableEncoder(DECLARATION, contrasts="one-hot", interactions=[("sex", "age")])
    assert max(map(exact_squared_norm, encoder.fit_transform(frame()))) > 1


def score(encoder, X, y):
    """Accuracy of a private model on a fifth that is held out."""
    model = skdp.make_pipeline(
        encoder, skdp.DPLogisticRegression(epsilon=1.0, classes=[0, 1], random_state=0)
    )
    cut = len(X) * 4 // 5
    return model.fit(X[:cut], y[:cut]).score(X[cut:], y[cut:])


def test_curves_and_pairs_see_what_a_line_does_not():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (20_000, 3))
    bump = (np.abs(X[:, 0]) + 0.3 * X[:, 1] < 0.5).astype(int)
    line = score(TableEncoder((-1, 1)), X, bump)
    for basis in ("smooth", "hats"):
        assert score(DPSplineFeatures((-1, 1), basis=basis), X, bump) > line + 0.25
    corner = (X[:, 0] * X[:, 1] > 0).astype(int)
    assert score(DPSplineFeatures((-1, 1)), X, corner) < 0.6
    assert score(DPSplineFeatures((-1, 1), interactions=[(0, 1)]), X, corner) > 0.85
