"""The generated sets have the shape, the balance and the difficulty they promise."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from skdp.datasets import make_census, make_sparse_classification


@pytest.fixture(scope="module")
def census():
    return make_census()


def test_census_is_a_mixed_table_of_forty_thousand(census):
    assert len(census) == 40_000
    assert len(census.bounds) >= 5 and len(census.categories) >= 5
    assert all(len(column) == 40_000 for column in census.columns.values())
    assert not census.assumed


def test_census_has_a_quarter_of_positives(census):
    assert 0.22 < census.target.mean() < 0.26


def test_census_keeps_its_declaration(census):
    for name, (low, high) in census.bounds.items():
        assert low <= census.columns[name].min() and census.columns[name].max() <= high, name
    for name, categories in census.categories.items():
        assert set(census.columns[name]) == set(categories), name


def test_census_is_as_hard_as_the_real_one(census):
    X, y, half = census.encode(), census.target, 20_000
    model = LogisticRegression(C=100, max_iter=1000).fit(X[:half], y[:half])
    assert 0.88 < roc_auc_score(y[half:], model.decision_function(X[half:])) < 0.91


def test_census_is_drawn_from_its_seed():
    first, again, other = (make_census(50, random_state=seed) for seed in (1, 1, 2))
    assert (first.encode() == again.encode()).all() and (first.target == again.target).all()
    assert (first.encode() != other.encode()).any()


def test_census_return_X_y():
    X, y = make_census(30, return_X_y=True)
    assert X.shape == (30, len(make_census(30).encoded_names)) and set(y) <= {0, 1}


@pytest.fixture(scope="module")
def sparse():
    return make_sparse_classification()


def test_sparse_shape_support_and_balance(sparse):
    X, y, support = sparse
    assert X.shape == (40_000, 100) and support.tolist() == list(range(20))
    # Four standard deviations of a fair coin over 40,000 rows.
    assert abs(y.mean() - 0.5) < 4 * 0.5 / 200


def test_sparse_covariance_is_autoregressive(sparse):
    X = sparse[0]
    expected = 0.5 ** np.abs(np.subtract.outer(np.arange(100), np.arange(100)))
    # A sample covariance has a deviation of at most sqrt(2 / n); 4,950 entries, 6 deviations.
    assert np.abs(X.T @ X / len(X) - expected).max() < 6 * np.sqrt(2 / len(X))


def test_sparse_coefficients_are_the_papers(sparse):
    X, y, support = sparse
    coef = LogisticRegression(C=np.inf, max_iter=1000).fit(X, y).coef_[0]
    top = np.argsort(-np.abs(coef))[:18]
    assert set(top) <= set(support)
    # Noise in the score shrinks a logistic model's coefficients by one common factor.
    expected = np.concatenate([np.arange(1, 11) / 2, -np.arange(1, 11) / 2])
    assert np.corrcoef(coef[:20], expected)[0, 1] > 0.999


@pytest.mark.parametrize("arguments", [{"n_relevant": 3}, {"n_relevant": 0}, {"correlation": 1.0}])
def test_sparse_refuses(arguments):
    with pytest.raises(ValueError, match="must"):
        make_sparse_classification(10, **arguments)
