"""Fits whose noise is shown: run in this process, in another, in a thread, after a fork."""

import numpy as np

from skdp import DPLogisticRegression

X = np.array([[0.5], [-0.5], [0.25], [0.1]])
Y = np.array([1, 0, 1, 0])


def model(**given):
    """A fit that is nearly all noise."""
    return DPLogisticRegression(
        epsilon=0.5, delta=1e-5, data_norm=1.0, classes=[0, 1], solver="gd", **given
    )


def noise_of(estimator):
    """Coefficients of one fit: with unseeded noise no two fits share a bit of them."""
    estimator.fit(X, Y)
    return (*estimator.coef_.ravel().tolist(), *estimator.intercept_.tolist())


def several(estimator, times=3):
    """Coefficients of a few fits."""
    return [noise_of(estimator) for _ in range(times)]
