"""`to_sklearn` gives plain estimators of scikit-learn's that predict as private ones do, and hold nothing else."""

import pickle

import numpy as np
import pandas as pd
import pytest
from estimators.of_rows import of_rows
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skdp import DPLinearSVC, DPLogisticRegression, DPPoissonRegressor, DPRidge, NotSupported

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.uniform(-1.0, 1.0, (3000, 3)), columns=["a", "b", "c"])
Y = X.to_numpy() @ [3.0, -2.0, 1.0] + 10.0
THREE = np.digitize(Y, [9.0, 11.0])
GIVEN = {"epsilon": 4.0, "random_state": 0}
WITHOUT = "MLP", "Poisson", "NB"
REGRESSORS = [
    kind for name, kind in of_rows("regressor") if not any(part in name for part in WITHOUT)
]
FITTED = {"classes_", "coef_", "feature_names_in_", "intercept_", "n_features_in_", "n_iter_"}


def check_plain(plain, model):
    """It is scikit-learn's own, with public attributes alone, and survives a file."""
    assert type(plain).__module__.startswith("sklearn.")
    assert type(model).__name__ == "DP" + type(plain).__name__
    left = vars(plain).keys() - vars(clone(plain)).keys()
    assert left <= FITTED and {"coef_", "intercept_"} <= left
    assert pickle.loads(pickle.dumps(plain)).coef_.tolist() == plain.coef_.tolist()
    assert list(plain.feature_names_in_) == list(X.columns)


@pytest.mark.parametrize("data_norm", [2.0, None])
@pytest.mark.parametrize("Estimator", REGRESSORS)
def test_a_plain_regressor_predicts_the_same_but_for_clipping(Estimator, data_norm):
    model = Estimator(y_bounds=(0.0, 20.0), data_norm=data_norm, **GIVEN).fit(X, Y)
    plain = model.to_sklearn()
    check_plain(plain, model)
    low, high = (-1.0, 1.0) if data_norm else model.bounds_.T
    inside = X[((low <= X) & (high >= X)).all(axis=1)]
    found = model.set_params(clip_predictions=False).predict(inside)
    assert len(inside) > 1000
    assert_allclose(plain.predict(inside), found, rtol=1e-9)


@pytest.mark.parametrize("labels", [THREE, np.where(THREE == 1, "in", "out")], ids=["three", "two"])
@pytest.mark.parametrize("Estimator", [DPLogisticRegression, DPLinearSVC])
def test_a_plain_classifier_predicts_the_same(Estimator, labels):
    model = Estimator(data_norm=2.0, classes=np.unique(labels), **GIVEN).fit(X, labels)
    plain = model.to_sklearn()
    check_plain(plain, model)
    assert_array_equal(plain.predict(X), model.predict(X))
    assert_allclose(plain.decision_function(X), model.decision_function(X), rtol=1e-9, atol=1e-12)
    if Estimator is DPLogisticRegression:
        assert_allclose(plain.predict_proba(X), model.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_sparse_coefficients_several_targets_and_no_intercept():
    model = DPLogisticRegression(data_norm=2.0, classes=[0, 1, 2], **GIVEN).fit(X, THREE).sparsify()
    assert isinstance(model.to_sklearn().coef_, np.ndarray)
    two = DPRidge(data_norm=2.0, y_bounds=[(0.0, 20.0), (-20.0, 0.0)], fit_intercept=False, **GIVEN)
    two.fit(X, np.column_stack([Y, -Y]))
    plain = two.to_sklearn()
    assert not plain.fit_intercept
    assert_allclose(plain.predict(X), two.set_params(clip_predictions=False).predict(X), rtol=1e-9)


def test_a_sparse_table_whose_norm_was_bought():
    rows = csr_array(X.to_numpy())
    model = DPLogisticRegression(classes=[0, 1, 2], **GIVEN).fit(rows, THREE)
    assert_array_equal(model.to_sklearn().predict(rows), model.predict(rows))


def test_the_plain_one_shares_no_memory_with_the_private_one():
    model = DPRidge(data_norm=2.0, y_bounds=(0.0, 20.0), **GIVEN).fit(X, Y)
    before = model.coef_.copy()
    plain = model.to_sklearn()
    plain.coef_ *= 2.0
    assert_array_equal(model.coef_, before)
    model.privacy_.verify(model)


def test_what_has_no_plain_counterpart_says_so():
    with pytest.raises(NotFittedError):
        DPRidge().to_sklearn()
    model = DPPoissonRegressor(data_norm=2.0, y_bounds=(0.0, 20.0), **GIVEN).fit(X, np.floor(Y))
    with pytest.raises(NotSupported, match="DPPoissonRegressor has no plain counterpart"):
        model.to_sklearn()
    given = GIVEN | {"classes": [0, 1, 2], "multi_class": "ovr", "data_norm": 2.0}
    with pytest.raises(NotSupported, match="use multi_class='multinomial'"):
        DPLogisticRegression(**given).fit(X, THREE).to_sklearn()
    hidden = X.assign(b=0.0)
    with pytest.raises(NotSupported, match="only its sign is used"):
        DPRidge(y_bounds=(0.0, 20.0), **GIVEN).fit(hidden.iloc[:40], Y[:40]).to_sklearn()
