"""Scores and predictions are finite numbers, without a word, for rows that no sum can hold."""

import numpy as np
import pytest

from skdp.ranking import DPRanker
from skdp.utils import all_estimators

X = np.random.default_rng(0).uniform(-1.0, 1.0, (60, 3))
Y = (X[:, 0] > 0).astype(int)
FAR = np.array([[1e308, 1e308, -1e308], [-1e308, 1e308, 1e308], [1e308, 1e308, 1e308]])
DECLARED = {"data_norm": 1.8, "y_bounds": (0.0, 1.0), "classes": [0, 1], "hidden_layer_sizes": 2}
KINDS = [*all_estimators("classifier"), *all_estimators("regressor")]


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


def test_of_a_ranker():
    model = DPRanker(1.0, data_norm=1.8, random_state=0).fit(X, Y, qid=np.arange(60) // 5)
    assert np.isfinite(model.predict(FAR)).all()
