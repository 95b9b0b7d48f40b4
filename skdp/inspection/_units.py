"""Coefficients in the units of the table that a pipeline takes, where its scalers say how they map a column."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..exceptions import NotSupported

__all__ = ["Coefficients", "original_units"]

Array = np.ndarray[Any, Any]


class Coefficients(NamedTuple):
    """Coefficients of a linear model, with the names of their columns.

    See Also
    --------
    original_units : Makes them.

    Examples
    --------
    >>> from skdp.inspection import Coefficients
    >>> Coefficients(["age"], [0.02], -0.1).intercept
    -0.1
    """

    names: Any
    coef: Any
    intercept: Any


def original_units(model: Any) -> Coefficients:
    """Coefficients and intercept for columns in their own units, which is free: scales are declared, or paid for.

    They give the pipeline's own scores for rows that none of its steps cuts: each number within its bounds, each row
    within its norm.

    Parameters
    ----------
    model : Pipeline or linear estimator
        Fitted. Steps before the last are `BoundsScaler` with linear scales, `DPBounds` or `DPStandardScaler`; an
        estimator that has bought bounds itself (``data_norm=None``) needs none.

    Returns
    -------
    Coefficients
        Names of the columns, ``coef`` and ``intercept`` of the shapes that the estimator's have.

    See Also
    --------
    skdp.preprocessing.BoundsScaler : Scales by declaration.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from skdp import DPRidge
    >>> from skdp.inspection import original_units
    >>> from skdp.preprocessing import BoundsScaler
    >>> years = np.random.default_rng(0).uniform(1900, 2000, (5000, 1))
    >>> scaler = BoundsScaler((1900, 2000))
    >>> ridge = DPRidge(epsilon=2.0, y_bounds=(0, 30), data_norm=1.0, random_state=0)
    >>> model = make_pipeline(scaler, ridge).fit(years, 0.2 * years[:, 0] - 375.0)
    >>> original_units(model).coef.round(2)  # a fifth of a unit each year
    array([0.2])
    """
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    steps = [step for step in steps if step is not None and step != "passthrough"]
    last = steps[-1] if steps else model
    check_is_fitted(last)
    if not hasattr(last, "coef_") or not hasattr(last, "intercept_"):
        raise NotSupported(
            f"{type(last).__name__} has no coefficients; give a linear estimator, or a pipeline that ends in one."
        )
    coef = last.coef_.toarray() if hasattr(last.coef_, "toarray") else last.coef_
    coef, intercept = np.asarray(coef, dtype=np.float64), last.intercept_
    for step in reversed(steps):
        if step is last and not hasattr(last, "bounds_"):
            continue
        slope, shift = _affine(step)
        intercept = intercept + coef @ shift
        coef = coef * slope
    first = steps[0]
    names = getattr(first, "feature_names_in_", None)
    unnamed = [f"x{j}" for j in range(coef.shape[-1])]
    return Coefficients(list(unnamed if names is None else names), coef, intercept)


def _affine(step: Any) -> tuple[Array, Array]:
    """Return slope and shift of the map of each column."""
    found = getattr(step, "_affine", None)
    if found is None:
        raise NotSupported(
            f"Nothing is known of how {type(step).__name__} maps a column; use BoundsScaler, DPBounds or "
            "DPStandardScaler before the estimator."
        )
    slope, shift = found()
    return slope, shift
