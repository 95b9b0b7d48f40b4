"""Release of one fit of an estimator, as an array."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from ._pairs import Array, Data

__all__ = ["released_by"]


def released_by(estimator: Any) -> Callable[[Data], Array]:
    """A function that fits a fresh clone on a data set and returns its coefficients, for `audit`.

    Parameters
    ----------
    estimator : estimator
        With ``random_state=None``: noise from a fixed seed would be the same in every run.

    Returns
    -------
    run : callable
        From (X, y) to a vector of coefficients and intercept.

    See Also
    --------
    audit : What it is for.
    fitted : The same for `replay`.

    Examples
    --------
    >>> from skdp import DPLogisticRegression
    >>> from skdp.audit import released_by, worst_case_pair
    >>> model = DPLogisticRegression(epsilon=1.0, delta=1e-2, data_norm=1.0, classes=[0, 1])
    >>> run = released_by(model)
    >>> first, second = worst_case_pair(n_features=2)
    >>> run(first).shape  # two coefficients and the intercept, drawn anew by each call
    (3,)
    >>> bool((run(first) == run(first)).any())
    False
    """
    if estimator.get_params().get("random_state") is not None:
        raise ValueError(
            "random_state must be None: a fixed seed draws the same noise in every run."
        )

    def run(data: Data) -> Array:
        fitted = clone(estimator).fit(*data)
        return np.concatenate([np.ravel(fitted.coef_), np.ravel(fitted.intercept_)])

    return run
