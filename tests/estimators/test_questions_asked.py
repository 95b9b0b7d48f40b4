"""``n_iter_`` counts the questions of the solver: those of the receipt, less those that buy bounds and weights."""

import numpy as np
import pytest

from skdp import DPLinearSVR, DPLogisticRegression, DPRidge
from skdp.solvers import AGD, GD, SGD

rng = np.random.default_rng(0)
X = rng.uniform(-1.0, 1.0, (300, 3))
Y = np.digitize(X[:, 0], [-0.3, 0.3])
GIVEN = {"epsilon": 3.0, "data_norm": 2.0, "random_state": 0}


def questions(model):
    """As many as a receipt lists."""
    return sum(count for _, count in model.privacy_.script)


@pytest.mark.parametrize(
    "model",
    [
        DPLogisticRegression(classes=[0, 1, 2], solver=GD(steps=7), **GIVEN),
        DPLogisticRegression(classes=[0, 1, 2], solver=GD(steps=7), multi_class="ovr", **GIVEN),
        DPLogisticRegression(classes=[0, 1, 2], **GIVEN),
        DPLogisticRegression(classes=[0, 1, 2], solver=AGD(), multi_class="ovr", **GIVEN),
        DPLinearSVR(y_bounds=(0.0, 2.0), solver=SGD(steps=9), **GIVEN),
        DPRidge(y_bounds=[(0.0, 2.0)] * 2, **GIVEN),
    ],
    ids=["steps", "each class", "auto", "a filter", "batches", "several targets"],
)
def test_every_question_of_the_receipt_counts_once(model):
    several = isinstance(model, DPRidge)
    model.fit(X, np.column_stack([Y, Y]) if several else Y)
    np.testing.assert_array_equal(model.n_iter_, [questions(model)])


@pytest.mark.parametrize(
    ("model", "before"),
    [
        (
            DPLogisticRegression(
                classes=[0, 1, 2], class_weight="balanced", solver=GD(steps=7), **GIVEN
            ),
            1,
        ),
        (DPLogisticRegression(classes=[0, 1, 2], solver=GD(steps=7)), 2),
        (DPRidge(data_norm=2.0, solver=GD(steps=7)), 1),
    ],
    ids=["weights", "rows", "targets"],
)
def test_what_buys_weights_and_bounds_is_none_of_the_solvers(model, before):
    model.fit(X, Y)
    assert model.n_iter_[0] == 7 == questions(model) - before


def test_a_minimiser_asks_once_however_long_it_works():
    for n in (300, 200):
        model = DPLogisticRegression(classes=[0, 1], solver="objective-perturbation", **GIVEN)
        np.testing.assert_array_equal(model.fit(X[:n], Y[:n] > 0).n_iter_, [1])
