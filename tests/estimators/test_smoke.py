"""The short subset that also runs on the oldest supported scikit-learn."""

import numpy as np
import pytest
from estimators.of_rows import of_rows
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skdp import DPLogisticRegression
from skdp.solvers import SGD

ESTIMATORS = [Estimator for _, Estimator in of_rows("classifier")]


@pytest.fixture(scope="module")
def census():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (6000, 4))
    y = np.where(X @ [2.0, -1.0, 0.5, 0.0] + 0.3 + rng.logistic(size=6000) / 4 > 0, "yes", "no")
    return X, y


@pytest.mark.parametrize("Estimator", ESTIMATORS)
@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
def test_fit_predict_and_receipt(census, Estimator, neighbors):
    X, y = census
    model = Estimator(
        epsilon=1.0,
        delta=1e-6,
        data_norm=2.0,
        classes=["no", "yes"],
        neighbors=neighbors,
        random_state=1,
    ).fit(X, y)
    assert model.score(X, y) > 0.85
    if hasattr(model, "coef_"):
        assert model.coef_.shape == (1, 4) and model.intercept_.shape == (1,)
    assert 0.99 <= model.privacy_.epsilon <= 1.0
    assert model.privacy_.seeded


def test_agrees_with_scikit_learn_as_epsilon_grows(census):
    X, y = census
    ours = DPLogisticRegression(
        epsilon=1e5, data_norm=2.0, classes=["no", "yes"], C=0.01, random_state=0, solver="gd"
    ).set_params(solver__steps=600)
    theirs = LogisticRegression(C=0.01, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(ours.fit(X, y).coef_, theirs.coef_, atol=2e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-3)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-3)


@pytest.mark.parametrize("Estimator", [E for E in ESTIMATORS if "solver" in E().get_params()])
def test_pipeline_search_and_cross_validation(census, Estimator):
    X, y = census
    model = Estimator(data_norm=2.0, classes=["no", "yes"], solver=SGD(steps=20), random_state=0)
    pipeline = make_pipeline(FunctionTransformer(), clone(model))
    assert cross_val_score(pipeline, X, y, cv=2).mean() > 0.7
    search = GridSearchCV(model, {"solver__batch_size": [100, 1000]}, cv=2).fit(X, y)
    assert search.best_estimator_.solver.batch_size in (100, 1000)
