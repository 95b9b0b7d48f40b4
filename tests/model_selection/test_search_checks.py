"""scikit-learn's own checks on the two searches, over regressors: their labels need not be declared."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from skdp import DPRidge
from skdp.model_selection import DPGridSearchCV, DPRandomizedSearchCV

MODEL = DPRidge(data_norm=10.0, y_bounds=(-30.0, 30.0))
ALPHAS = {"alpha": [0.1, 1.0]}
# So loose that noise fails no check.
LOOSE = {"epsilon": 1e6, "strategy": "pilot"}
SEARCHES = [
    DPGridSearchCV(MODEL, ALPHAS, **LOOSE),
    DPRandomizedSearchCV(MODEL, ALPHAS, n_iter=2, **LOOSE),
]


@pytest.mark.filterwarnings("ignore::skdp.PrivacyWarning")
@parametrize_with_checks(SEARCHES)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dok", "lil", "dia", "bsr", "list"])
def test_every_form_of_a_table_is_searched(form):
    X = np.random.default_rng(0).integers(0, 2, (60, 3)) / 2.0
    given = X.tolist() if form == "list" else sparse.csr_array(X).asformat(form)
    found = clone(SEARCHES[0]).fit(given, X[:, 0])
    assert np.isfinite(found.predict(given)).all() and found.n_features_in_ == 3
