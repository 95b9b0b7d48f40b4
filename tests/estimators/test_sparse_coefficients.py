"""Coefficients kept without their zeros: predictions, files and receipts are the same."""

import copy
import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Lasso

from skdp import DPElasticNet, DPLasso, DPLinearSVC, DPLogisticRegression
from skdp.utils import all_estimators

rng = np.random.default_rng(0)
X = rng.uniform(-1.0, 1.0, (600, 5))
SIGNAL = 2.0 * X[:, 0] - X[:, 1]
GIVEN = {"epsilon": 50.0, "data_norm": 3.0, "random_state": 0}
CLASSIFIERS = [kind for _, kind in all_estimators("classifier") if hasattr(kind, "sparsify")]


def test_linear_classifiers_are_the_ones_that_can():
    assert [DPLinearSVC, DPLogisticRegression] == CLASSIFIERS


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("Classifier", CLASSIFIERS)
def test_nothing_else_changes(Classifier, classes):
    y = np.digitize(SIGNAL, np.linspace(-1.0, 1.0, classes + 1)[1:-1])
    model = Classifier(**GIVEN, classes=list(range(classes))).fit(X, y)
    dense, scores = model.coef_.copy(), model.decision_function(X)
    fitted = copy.deepcopy(model)
    assert model.sparsify() is model and issparse(model.coef_)
    for rows in (X, csr_array(X)):
        found = model.decision_function(rows)
        assert found.shape == scores.shape and type(found) is np.ndarray
        np.testing.assert_allclose(found, scores, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(model.predict(rows), fitted.predict(rows))
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.predict(X), fitted.predict(X))
    assert model.privacy_.verify(model) == fitted.privacy_.verify(fitted)
    assert model.densify() is model and type(model.coef_) is np.ndarray
    np.testing.assert_array_equal(model.densify().coef_, dense)
    assert type(model.sparsify().fit(X, y).coef_) is np.ndarray


def test_what_is_not_fitted_has_none():
    for method in ("sparsify", "densify"):
        with pytest.raises(NotFittedError):
            getattr(DPLogisticRegression(**GIVEN), method)()
    assert not hasattr(DPLasso(), "sparse_coef_")


@pytest.mark.parametrize("Regressor", [DPLasso, DPElasticNet])
def test_zeros_are_left_out(Regressor):
    model = Regressor(**GIVEN, alpha=0.05, y_bounds=(-4.0, 4.0)).fit(X, SIGNAL)
    found, theirs = model.sparse_coef_, Lasso(0.05).fit(X, SIGNAL).sparse_coef_
    assert found.shape == theirs.shape and found.nnz == np.count_nonzero(model.coef_) < 5
    np.testing.assert_array_equal(found.toarray()[0], model.coef_)
