"""Gradient descents, full-batch and on batches: what their penalties make of the result."""

import warnings

import numpy as np
import pytest
from solvers.comparing import model, problem

from skdp import PrivacyWarning
from skdp.penalties import L1

DESCENTS = ("gd", "sgd", "svrg", "rrpsgd")


@pytest.mark.parametrize("neighbors", ["replace_one", "add_remove"])
@pytest.mark.parametrize("data_norm", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("penalty", ["scad", "mcp"])
@pytest.mark.parametrize("solver", DESCENTS)
def test_default_steps_are_within_the_prox_of_a_penalty_that_is_not_convex(
    solver, penalty, data_norm, neighbors
):
    X, y = problem(400)
    for epsilon in (1.0, np.inf):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)
            fitted = model(
                solver, epsilon, penalty=penalty, data_norm=data_norm, neighbors=neighbors
            ).fit(data_norm * X, y)
        assert np.isfinite(fitted.coef_).all()


def test_averaged_batches_give_zeros_that_are_zeros():
    X, y = problem(600, 12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        averaged, full = (
            model(solver, np.inf, penalty=L1(40.0)).fit(X, y).coef_[0] for solver in ("sgd", "gd")
        )
    assert (full == 0.0).sum() >= 5
    assert (averaged == 0.0).sum() >= (full == 0.0).sum() - 2
    np.testing.assert_allclose(averaged, full, atol=0.1)
