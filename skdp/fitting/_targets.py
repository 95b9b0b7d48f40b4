"""Checks of regression targets: finite, one for each row; no message shows one of them."""

import numbers
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._cells import as_numbers
from ._tables import Array, attempt, labels
from ._warning import frames_to_caller

__all__ = [
    "are_bounds",
    "are_bounds_or_several",
    "grades",
    "several_targets",
    "targets",
    "warn_of_no_scale",
]

_LARGEST, _NARROWEST = 1e30, 1e-12
_BEST = 31  # of grades, whose gains are 2^grade - 1


def targets(estimator: Any, y: ArrayLike, n: int) -> Array:
    """The target as a column of n finite doubles; parameters as of `labels`."""
    shape = attempt(lambda: np.shape(y))[0]  # type: ignore[arg-type]
    if shape is not None and len(shape) == 2 and shape[1] > 1:
        raise ValueError(
            f"{type(estimator).__name__} predicts one number, but y has {shape[1]} columns; fit one estimator for "
            "each, as scikit-learn's MultiOutputRegressor does, and share a ledger among them."
        )
    found, kind = attempt(lambda: np.asarray(y))
    if kind is None and y is not None and found.dtype.kind in "OUST":
        numbers = as_numbers(found.ravel()).reshape(found.shape)
        if np.isnan(numbers).any():
            raise ValueError(
                "y holds text, missing values or other non-numbers; a regressor needs one finite number for each "
                "record."
            )
        y = found = numbers
    if kind is None and y is not None and found.dtype.kind == "f" and not np.isfinite(found).all():
        raise ValueError("Input y contains NaN or infinity; drop such records first.")
    column = labels(estimator, y, n)
    if column.dtype.kind not in "biuf":
        raise ValueError("y holds text; a regressor needs one number for each record.")
    return as_numbers(column)


def several_targets(estimator: Any, y: ArrayLike, n: int) -> Array:
    """The targets as n finite doubles, or as a table of them with a column for each; parameters as of `targets`."""
    shape = attempt(lambda: np.shape(y))[0]  # type: ignore[arg-type]
    if shape is None or len(shape) != 2 or 0 in shape:
        return targets(estimator, y, n)
    table, kind = attempt(lambda: np.asarray(y))
    if kind is not None:
        raise ValueError(
            "y is ragged; pass a table of one finite number for each record and target."
        )
    return np.column_stack([targets(estimator, column, n) for column in table.T])


def grades(estimator: Any, y: ArrayLike, n: int) -> Array:
    """Grades of n documents, as doubles.

    Parameters
    ----------
    estimator : estimator
        Knows whether the number of records is public.
    y : array-like of shape (n_samples,)
        What the user gave.
    n : int
        Rows of X.

    Returns
    -------
    ndarray of shape (n,)
        Whole numbers from 0 to 31.
    """
    found = targets(estimator, y, n)
    if not ((found >= 0.0) & (found <= _BEST) & (np.rint(found) == found)).all():
        raise ValueError(
            f"y holds values that are not grades; pass a whole number from 0 to {_BEST}, 0 for no use, for each "
            "document."
        )
    return found


def are_bounds(value: Any) -> bool:
    """Return True if a value is a pair of numbers, the first below the second, both of a size that doubles can hold."""
    shape, kind = attempt(lambda: np.shape(value))
    if not isinstance(value, tuple | list | np.ndarray) or kind is not None or shape != (2,):
        return False
    if not all(isinstance(v, numbers.Real) and not isinstance(v, bool) for v in value):
        return False
    pair, kind = attempt(lambda: [float(v) for v in value])
    if kind is not None or not all(
        abs(v) <= _LARGEST for v in pair
    ):  # NaN is no less than anything
        return False
    return pair[1] - pair[0] > _NARROWEST * max(1e-18, *map(abs, pair))


def are_bounds_or_several(value: Any) -> bool:
    """Return True if a value is one pair of bounds, or a list of such pairs."""
    shape, kind = attempt(lambda: np.shape(value))
    if kind is not None or not isinstance(value, tuple | list | np.ndarray) or len(shape) != 2:
        return are_bounds(value)
    return shape[0] > 0 and all(map(are_bounds, value))


def warn_of_no_scale(bounds: Array) -> None:
    """Warn of a target whose scale is hidden by noise, as its privately estimated bounds show.

    Parameters
    ----------
    bounds : ndarray of shape (t, 2)
        Of each.
    """
    if (bounds[:, 0] == bounds[:, 1]).any():
        warnings.warn(
            "Noise hides the scale of a target, so the model predicts 0 for it: declare y_bounds, or use more "
            "records or a larger epsilon.",
            UserWarning,
            stacklevel=frames_to_caller(),
        )
