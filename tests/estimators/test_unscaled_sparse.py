"""Sparse tables of which nothing is declared: a norm of rows is bought, in any unit, at the price of a dense table."""

import warnings

import numpy as np
import pytest
from laws.sparse_layouts import SPARSE, sparse_laid_out
from laws.vaults import RELATIONS
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, random_array
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize

from skdp import DPLinearSVC, DPLogisticRegression, DPRidge
from skdp.entry import ColumnPlaces, RowLengths, Table
from skdp.fitting.stages import ColumnBounds, of_whole_rows, scales_for
from skdp.inspection import original_units
from skdp.mechanisms import Public
from skdp.privacy import Ledger, Spec

RNG = np.random.default_rng(0)
N, D = 3000, 60
X = normalize(csr_array(random_array((N, D), density=0.1, rng=RNG, format="csr")))
SLOPES = RNG.normal(size=D)
Y = (X @ SLOPES > 0.0).astype(int)
GIVEN = {"epsilon": 3.0, "classes": [0, 1], "random_state": 0}
LENGTHS = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("solver", ["gd", "objective-perturbation"])
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_in_any_unit_a_fit_is_near_that_with_a_declared_norm(solver, unit, neighbors):
    given = GIVEN | {"solver": solver, "neighbors": neighbors, "C": max(1.0 / unit**2, 1.0)}
    model = DPLogisticRegression(**given).fit(X * unit, Y)
    declared = DPLogisticRegression(data_norm=unit, **given).fit(X * unit, Y)
    assert 1.0 < model.data_norm_ / unit < 1.6 and not hasattr(model, "bounds_")
    assert model.score(X * unit, Y) > declared.score(X * unit, Y) - 0.05
    assert declared.score(X * unit, Y) > 0.75
    assert_array_equal(model.predict(X * unit), model.predict((X * unit).toarray()))


def numbers_of(event):
    """What an event has of numbers."""
    return [value for value in vars(event).values() if isinstance(value, float | int)]


@pytest.mark.parametrize("model", [DPLogisticRegression(**GIVEN), DPLinearSVC(**GIVEN), DPRidge()])
def test_the_price_is_that_of_a_dense_table_as_quoted(model):
    quoted = model.quote(N, D)
    receipt = model.fit(X, Y).privacy_
    assert len(receipt.script) == len(quoted.script) and receipt.proofs == quoted.proofs
    for (event, count), (other, times) in zip(receipt.script, quoted.script, strict=True):
        assert type(event) is type(other) and count == times
        assert_allclose(numbers_of(event), numbers_of(other), rtol=1e-9)
    assert any(
        "the rows have no declared norm" in note or "rows have no" in note for note in receipt.notes
    )
    assert model.privacy_.declared["data_norm"] == "none: bought"


def test_coefficients_are_of_columns_as_they_are_without_noise():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = DPLogisticRegression(epsilon=np.inf, classes=[0, 1]).fit(X, Y)
        declared = DPLogisticRegression(epsilon=np.inf, classes=[0, 1], data_norm=model.data_norm_)
        assert_allclose(model.coef_, declared.fit(X, Y).coef_, rtol=1e-6, atol=1e-9)
    assert_allclose(original_units(model).coef, model.coef_)


@pytest.mark.parametrize("layout", [k for k in SPARSE if k != "roomy"])  # NaN behind is refused
def test_every_layout_gives_one_model(layout):
    few, labels = X[:200].toarray(), Y[:200]
    model = DPLogisticRegression(solver="gd", **GIVEN).fit(csr_array(few), labels)
    other = DPLogisticRegression(solver="gd", **GIVEN).fit(sparse_laid_out(few, layout), labels)
    assert_allclose(other.coef_, model.coef_, rtol=1e-9)
    assert other.data_norm_ == model.data_norm_


def test_a_length_is_that_of_its_own_row_wherever_it_stands():
    public = Public(n=None, n_features=1, intercept=0.0, neighbors="add_remove")
    views = (
        ColumnPlaces(public, 1.5, whole=True),
        RowLengths(public, np.array([[-2.0, 2.0]]), 1.0, whole=True),
    )
    rows, blank = X[:50], np.zeros(50)
    for view in views:
        seen = Table(rows, blank).vault(view).rows.to_dense()[:, 0]
        for kept in (np.arange(1, 50), np.r_[0:20, 21:50], RNG.permutation(50)):
            found = Table(rows[kept], blank[kept]).vault(view).rows.to_dense()[:, 0]
            assert_array_equal(found, seen[kept])
    assert_allclose(seen, LENGTHS[:50] / 2.0, rtol=1e-9)


def test_what_a_vault_would_refuse_is_refused_before_anything_is_paid():
    ledger = Ledger(4.0, 1e-5)
    model = DPLogisticRegression(ledger=ledger, **(GIVEN | {"random_state": None}))
    huge = X.copy()
    huge.data[:2] = 1.7e308
    with pytest.raises(ValueError, match="too large to be scaled; clip them first"):
        model.fit(huge, Y)
    crooked = X.copy()
    crooked.indices[0] = 10**6
    with pytest.raises(ValueError, match="malformed sparse table"):
        model.fit(crooked, Y)
    assert ledger.spent == 0.0


def test_where_noise_hides_all_lengths_rows_are_bounded_by_one():
    model = DPLogisticRegression(**(GIVEN | {"epsilon": 0.1})).fit(X[:30], Y[:30])
    assert 0.0 < model.data_norm_ <= 1.0


def test_empty_rows_and_targets_without_bounds_are_taken():
    assert np.isfinite(DPLogisticRegression(**GIVEN).fit(csr_array((50, 4)), Y[:50]).coef_).all()
    targets = 5.0 + X @ SLOPES
    model = DPRidge(epsilon=3.0, random_state=0).fit(X, targets)
    declared = DPRidge(epsilon=3.0, random_state=0, data_norm=1.0, y_bounds=(0.0, 10.0))
    assert model.score(X, targets) > declared.fit(X, targets).score(X, targets) - 0.15 > 0.3


def test_columns_of_a_dense_table_behind_a_sparse_one_have_bounds_again():
    model = DPLogisticRegression(**GIVEN).fit(X, Y)
    assert model.fit(X.toarray(), Y).bounds_.shape == (D, 2)
    assert not hasattr(model.fit(X, Y), "bounds_")


def test_what_is_bought_of_columns_alone_stays():
    stages = scales_for(
        Spec(1.0, 1e-6), Public(n=N, n_features=3, intercept=0.0, neighbors="replace_one"), False, 1
    )
    assert of_whole_rows(stages) == stages and stages == (
        ColumnBounds(stages[0].share, False, 1, stages[0].told),
    )


def test_words_and_a_default_classifier_run():
    docs, labels = ["good film", "bad film", "awful plot", "great fun"] * 200, [1, 0, 0, 1] * 200
    model = make_pipeline(TfidfVectorizer(), DPLogisticRegression(classes=[0, 1], random_state=0))
    assert model.fit(docs, labels).score(docs, labels) > 0.9
