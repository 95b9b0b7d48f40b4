"""Scores and predictions are finite numbers, without a word, for rows that no sum can hold."""

import numpy as np
import pytest
import scipy.sparse as sp
from estimators.of_rows import of_rows

from skdp import DPPoissonRegressor, DPRidge
from skdp.preprocessing import RowNormClipper
from skdp.ranking import DPRanker

X = np.random.default_rng(0).uniform(-1.0, 1.0, (60, 3))
Y = (X[:, 0] > 0).astype(int)
FAR = np.array([[1e308, 1e308, -1e308], [-1e308, 1e308, 1e308], [1e308, 1e308, 1e308]])
DECLARED = {"data_norm": 1.8, "y_bounds": (0.0, 1.0), "classes": [0, 1], "hidden_layer_sizes": 2}
KINDS = [*of_rows("classifier"), *of_rows("regressor")]


@pytest.mark.parametrize("kind", [kind for _, kind in KINDS], ids=[name for name, _ in KINDS])
@pytest.mark.parametrize("width", [1, 2], ids=["plain", "many"])
def test_finite_and_silent(kind, width):
    known = kind().get_params()
    given = {name: value for name, value in DECLARED.items() if name in known}
    y = Y
    if width == 2 and "classes" in known:
        y, given["classes"] = np.digitize(X[:, 0], [-0.3, 0.3]), [0, 1, 2]
    if width == 2 and "clip_predictions" in known:
        given["clip_predictions"] = False
    model = kind(random_state=0, n_public=60, **given).fit(X, y)
    for method in ("predict", "decision_function", "predict_proba"):
        if hasattr(model, method):
            found = getattr(model, method)(FAR)
            assert found.dtype.kind != "f" or np.isfinite(found).all(), method


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_counts_of_either_precision(kind):
    model = DPPoissonRegressor(
        epsilon=1e4, alpha=0.0, y_bounds=(0, 15), data_norm=1.8, random_state=0
    )
    rows = X.astype(kind)
    model.set_params(clip_predictions=False).fit(rows, np.rint(15.0 * (X[:, 0] > 0)))
    far = 1e30 * np.sign(model.coef_)[None].astype(kind)
    found = model.predict(np.vstack([far, -far]))
    assert found.dtype == kind and np.isfinite(found).all() and found[0] > 1e30 > found[1]


@pytest.mark.parametrize("layout", [sp.coo_array, sp.csr_array, sp.csc_array, sp.coo_matrix])
def test_one_sparse_row_has_one_prediction(layout):
    given = {"y_bounds": (0, 15), "data_norm": 1.8, "random_state": 0}
    for model in (
        DPPoissonRegressor(epsilon=1.0, alpha=0.0, **given),
        DPRidge(epsilon=1.0, **given),
    ):
        model.fit(X, 1.0 * Y)
        found = model.predict(layout(X[:1]))
        np.testing.assert_allclose(found, model.predict(X[:1]))
        assert found.shape == (1,)


def test_a_clipper_of_rows_of_next_to_nothing():
    rows = np.array([[1e-310, 0.0], [3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(
        RowNormClipper(1.0).fit_transform(rows), [[1e-310, 0.0], [0.6, 0.8], [0.0, 0.0]]
    )


def test_of_a_ranker():
    model = DPRanker(epsilon=1.0, data_norm=1.8, random_state=0).fit(X, Y, qid=np.arange(60) // 5)
    assert np.isfinite(model.predict(FAR)).all()
