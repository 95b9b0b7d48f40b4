"""Regression targets: finite, one for each row, and on [-1, 1] between bounds; no message shows one of them.

Classes that labels are coded by: two or more, each told from the others in any file.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from .._messages import as_text, frames_to_caller
from ..exceptions import PrivacyWarning
from ._arrays import Array, attempt, known_labels, labels
from ._cells import as_numbers, find_ambiguous

__all__ = [
    "are_text",
    "classes_of_targets",
    "coded",
    "grades",
    "middle_and_half",
    "onto_unit",
    "read_classes",
    "read_targets",
    "refuse_unfit",
    "targets",
    "told",
]


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


def read_targets(estimator: Any, y: ArrayLike, n: int, several: bool) -> Array:
    """Targets of n records, as finite doubles; those of several only where there may be any.

    Parameters
    ----------
    estimator : estimator
        Knows whether the number of records is public.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        What the user gave.
    n : int
        Rows of X.
    several : bool
        Whether targets may be the columns of a table.

    Returns
    -------
    ndarray of shape (n,) or (n, t)
    """
    if issparse(y):
        raise ValueError("y is sparse; pass y.toarray().")
    return (several_targets if several else targets)(estimator, y, n)


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


def middle_and_half(bounds: ArrayLike, centred: bool) -> tuple[Any, Any]:
    """The midpoint of a pair of bounds, and half of their distance; or 0, and how far they lie from it.

    Parameters
    ----------
    bounds : pair of float, or array-like of shape (t, 2)
        Of one target, or of each.
    centred : bool
        Whether the midpoint is taken from targets.

    Returns
    -------
    middle, half : float, or ndarray of shape (t,)
    """
    low, high = np.asarray(bounds, dtype=np.float64).T
    half = 0.5 * high - 0.5 * low if centred else np.maximum(np.abs(low), np.abs(high))
    middle, half = low + half if centred else 0.0 * low, np.nextafter(half, math.inf)
    return (middle, half) if half.ndim else (float(middle), float(half))


def onto_unit(found: Array, bounds: ArrayLike, centred: bool) -> Array:
    """Targets on [-1, 1]; parameters as of `middle_and_half`.

    Parameters
    ----------
    found : ndarray of shape (n,) or (n, t)
        Finite; those beyond the bounds are cut to them.
    bounds, centred
        As of `middle_and_half`.

    Returns
    -------
    ndarray
        Of the same shape.
    """
    middle, half = middle_and_half(bounds, centred)
    # Cut first: a difference of two doubles may overflow.
    low, high = np.asarray(bounds, dtype=np.float64).T
    return np.asarray(np.clip((np.clip(found, low, high) - middle) / half, -1.0, 1.0))


def classes_of_targets(y: Array) -> Array:
    """Take the classes from labels, and warn that this makes them public.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels.
    """
    if y.dtype.kind == "f" and not (y == np.trunc(y)).all():
        raise ValueError("Unknown label type: continuous; declare classes=, or round y to labels.")
    classes = np.unique(y)
    warnings.warn(
        "classes=None takes the set of labels from y and makes it public; declare classes= to keep it private.",
        PrivacyWarning,
        stacklevel=frames_to_caller(),
    )
    return classes


def read_classes(given: Any, name: str) -> Array:
    """Return a user's declared classes, sorted, or refuse them.

    Parameters
    ----------
    given : object
        What the user declared.
    name : str
        Of the estimator.

    Returns
    -------
    ndarray
        Two or more numbers or strings.
    """
    found, kind = attempt(lambda: np.asarray(given))
    listed = isinstance(given, list | tuple)
    # Of a mix of text and numbers numpy makes text.
    mixed = listed and len({isinstance(label, str) for label in given}) > 1
    if mixed or kind is not None or found.ndim != 1 or known_labels(found)[1] is not None:
        short = listed and len(given) <= 3
        shown = f"[{', '.join(map(as_text, given))}]" if short else as_text(given)
        raise ValueError(f"classes={shown} must be a list of numbers, or of strings, two or more.")
    return refuse_unfit(np.unique(found), name, declared=True)


def refuse_unfit(classes: Array, name: str, declared: bool = False) -> Array:
    """Return classes that labels can be coded by, or refuse them.

    Parameters
    ----------
    classes : ndarray
        Sorted, all different.
    name : str
        Of the estimator.
    declared : bool, default=False
        Whether a user declared them: a sentence may then show them.
    """
    if len(classes) < 2:
        raise ValueError(
            f"{name} needs two classes or more, got {len(classes)} class; declare them in classes=."
        )
    alike = find_ambiguous(classes.tolist())
    if alike:
        shown = " and ".join(map(as_text, alike)) if declared else "labels"
        why = "are the same label" if len(alike) > 1 else "is read as a missing cell"
        raise ValueError(f"classes holds {shown}, which {why} in a file; spell labels otherwise.")
    return classes


def told(classes: Array) -> str:
    """The classes, where they are few: more may be a column of data that took a wrong turn."""
    return f"classes={classes.tolist()}" if len(classes) <= 3 else f"the {len(classes)} classes"


def coded(classes: Array, y: Array) -> str:
    """Return what to declare where text labels were declared and integer codes came."""
    if not are_text(classes) or y.dtype.kind not in "iu":
        return ""
    codes = "[0, 1]" if len(classes) == 2 else f"list(range({len(classes)}))"
    return f" (a meta-estimator such as VotingClassifier hands on codes of labels: declare classes={codes})"


def are_text(found: Array) -> bool:
    """Return True if labels are text, which has no order among numbers."""
    return found.dtype.kind in "UOT"
