"""Coefficients in the units of the table: they give the pipeline's own scores."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skdp import DPLogisticRegression, DPRidge, NotSupported, PrivacyWarning
from skdp.inspection import original_units
from skdp.neural_network import DPMLPRegressor
from skdp.preprocessing import BoundsScaler, DPBounds, DPStandardScaler

rng = np.random.default_rng(0)
LOW, HIGH = np.array([1900.0, 0.0, -1e-6]), np.array([2000.0, 1e6, 1e-6])
X = rng.uniform(LOW, HIGH, (20_000, 3))
Y = 0.2 * X[:, 0] + 1e-5 * X[:, 1] - 390.0
LABELS = (np.median(Y) < Y).astype(int)
BOUNDS = BoundsScaler({j: pair for j, pair in enumerate(zip(LOW, HIGH))})
RIDGE = DPRidge(
    epsilon=4.0, y_bounds=(-20.0, 30.0), data_norm=1.8, clip_predictions=False, random_state=0
)
SVC = DPLogisticRegression(epsilon=4.0, classes=[0, 1], data_norm=1.8, random_state=0)


def within(step, table):
    """Which rows have no number beyond the bounds that a step has bought."""
    low, high = getattr(step, "bounds_", np.array([[-np.inf, np.inf]])).T
    return ((low <= table) & (table <= high)).all(axis=1)


def own(found, table):
    """Scores by coefficients in original units."""
    return table @ found.coef.T + found.intercept


@pytest.mark.parametrize(
    "steps",
    [
        (BOUNDS,),
        (DPBounds(epsilon=2.0, random_state=0),),
        (DPStandardScaler(epsilon=2.0, random_state=0),),
        ("passthrough", BOUNDS, BoundsScaler((-1, 1))),
    ],
    ids=["declared", "bought", "standardised", "two"],
)
def test_they_give_the_scores_of_rows_that_nothing_cuts(steps):
    for last, y in ((RIDGE, Y), (SVC, LABELS), (RIDGE, np.column_stack([Y, -Y]))):
        model = make_pipeline(*steps, last).fit(X, y)
        found, near = original_units(model), X[:300]
        inside = within(model[0], near)
        if isinstance(steps[0], DPStandardScaler):
            inside &= np.linalg.norm(model[0].transform(near), axis=1) < 0.999
        assert inside.sum() > 100
        scores = (model.predict if last is RIDGE else model.decision_function)(near)
        told = own(found, near).reshape(scores.shape)
        np.testing.assert_allclose(told[inside], scores[inside], rtol=1e-9, atol=1e-6)
        assert found.coef.shape == model[-1].coef_.shape


def test_of_an_estimator_that_bought_its_own_bounds():
    model = DPRidge(epsilon=8.0, y_bounds=(-20.0, 30.0), clip_predictions=False, random_state=0)
    frame = pd.DataFrame(X, columns=["year", "price", "tiny"])
    found = original_units(model.fit(frame, Y))
    assert found.names == ["year", "price", "tiny"]
    inside, scores = within(model, X[:100]), model.predict(frame[:100])
    assert inside.sum() > 80
    np.testing.assert_allclose(own(found, X[:100])[inside], scores[inside], rtol=1e-9, atol=1e-9)
    assert found.coef[0] == pytest.approx(0.2, rel=0.1)


def test_without_a_scaler_they_are_the_estimators_own():
    rows = rng.uniform(-1, 1, (500, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        ridge = DPRidge(epsilon=math.inf, y_bounds=(-3, 3), data_norm=1.5).fit(rows, rows[:, 0])
    found = original_units(ridge)
    np.testing.assert_array_equal(found.coef, ridge.coef_)
    assert found.intercept == ridge.intercept_ and found.names == ["x0", "x1"]
    svc = DPLogisticRegression(epsilon=1.0, classes=[0, 1], data_norm=1.5, random_state=0)
    sparse = svc.fit(rows, (rows[:, 0] > 0).astype(int)).sparsify()
    assert original_units(sparse).coef.shape == (1, 2)


def test_what_is_no_such_map_is_refused():
    for step, told in (
        (StandardScaler(), "Nothing is known of how StandardScaler"),
        (BoundsScaler({0: (1, 1e4, "log"), 1: (0, 1e6), 2: (-1, 1)}), "not linear"),
        (BoundsScaler((0, 1e6), missing="indicator"), "mark missing numbers"),
    ):
        model = make_pipeline(step, RIDGE).fit(np.abs(X) + 1.0, Y)
        with pytest.raises(NotSupported, match=told):
            original_units(model)
    network = DPMLPRegressor(
        epsilon=1.0, hidden_layer_sizes=2, max_iter=1, data_norm=1.0, y_bounds=(0, 1)
    )
    with pytest.raises(NotSupported, match="has no coefficients"):
        original_units(network.fit(X[:50] / HIGH, Y[:50]))
    hidden = DPRidge(epsilon=0.1, y_bounds=(-20.0, 30.0), random_state=0).fit(X[:60], Y[:60])
    with pytest.raises(NotSupported, match="only its sign is used"):
        original_units(hidden)
