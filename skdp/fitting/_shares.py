"""Whose each row is, and what it weighs: what a user gives beside X and y.

No sentence shows an id, a weight or a count: with owners the number of rows is private under both relations.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..mechanisms import number_of_units
from ._tables import Array, attempt

__all__ = [
    "by_class",
    "declared_of_rows",
    "heaviest_class",
    "ids_of",
    "shares_of_bound",
    "units_of",
]


def by_class(class_weight: dict[Any, float] | None, classes: Array) -> Array:
    """What each class weighs, in the order of the classes; 1 where the user says nothing of it."""
    given, known = class_weight or {}, classes.tolist()
    if any(label not in known for label in given):
        raise ValueError(
            "class_weight holds a label that is not among the classes; weigh labels from classes=."
        )
    weights = np.array([float(given.get(label, 1.0)) for label in known])
    if not weights.any():
        raise ValueError("class_weight gives every class a weight of 0; give one of them more.")
    return weights


def heaviest_class(class_weight: dict[Any, float] | None, classes: Array | None) -> float:
    """Largest weight of a class; where none are declared, there may be one that the user says nothing of."""
    if classes is not None:
        return float(by_class(class_weight, classes).max())
    return max([1.0, *map(float, (class_weight or {}).values())])


def declared_of_rows(estimator: Any) -> dict[str, Any]:
    """What an estimator declares of rows' owners and weights, for its receipt."""
    names = "max_rows_per_group", "max_sample_weight", "class_weight"
    declared = {name: getattr(estimator, name, None) for name in names}
    return {name: value for name, value in declared.items() if value is not None}


def ids_of(groups: ArrayLike) -> Array:
    """An array of ids of which none decides how another one is read.

    Of a list numpy makes what holds all of it: one text turns numbers into texts, and one number beyond the integers
    of 64 bits turns large ones into equal doubles.

    Parameters
    ----------
    groups : array-like
        What the user gave.
    """
    if np.ma.is_masked(groups):  # what lies under a mask would count as an id
        raise ValueError("ids must not be masked; give one id for each row.")
    if not isinstance(groups, list | tuple):
        return np.asarray(groups)
    given = [_plain(one) for one in groups]
    found, kinds = np.empty(len(given), dtype=object), set(map(type, given))
    found[:] = given
    alike = found if len(kinds) > 1 else np.asarray(given)
    return found if kinds == {int} and alike.dtype.kind not in "iu" else alike


def _plain(one: Any) -> Any:
    """A number or a text of numpy's as one of Python's."""
    kinds = (np.integer, int), (np.floating, float), (np.str_, str)
    return next((plain(one) for known, plain in kinds if isinstance(one, known)), one)


def units_of(estimator: Any, groups: ArrayLike | None, n: int) -> tuple[Array | None, int]:
    """The id of each row's owner, or None where every row is its own, and the number of owners.

    Parameters
    ----------
    estimator : estimator
        Declares how many rows of an owner enter.
    groups : array-like of shape (n,) or None
        What the user gave.
    n : int
        Rows.
    """
    most = estimator.max_rows_per_group
    if groups is None:
        if most is None:
            return None, n
        raise ValueError(
            f"max_rows_per_group={most} protects persons; pass groups=, the id of each row's person, to fit (in a "
            "pipeline or a search: set_fit_request(groups=True))."
        )
    if most is None:
        raise ValueError(
            "groups was passed, and max_rows_per_group is None; declare how many rows of a person may enter."
        )
    owners, wrong = attempt(lambda: ids_of(groups))
    if wrong is not None:
        raise ValueError("groups must be an array of one id for each row of X; give one.")
    return owners, number_of_units(owners, n)


def shares_of_bound(sample_weight: ArrayLike | None, bound: float | None, n: int) -> Array | None:
    """Weights over their bound, in [0, 1]; None where neither was given.

    No value is refused, since a refusal would tell of a record: a weight is clipped to its bound as a row is to its
    norm, and what is negative or no number counts as 0.

    Parameters
    ----------
    sample_weight : array-like of shape (n,) or None
        What the user gave.
    bound : float or None
        The largest weight that counts; None stands for 1.
    n : int
        Rows.
    """
    if sample_weight is None and bound is None:
        return None
    found = np.ones(n) if sample_weight is None else _numbers(sample_weight)
    if found is None or found.shape != (n,):
        raise ValueError("sample_weight must be a 1D array of one number for each row of X.")
    most = 1.0 if bound is None else float(bound)
    return np.asarray(np.clip(np.nan_to_num(found, posinf=most), 0.0, most) / most)


def _numbers(given: ArrayLike) -> Array | None:
    """Weights as doubles, cell by cell where their type is that of none of them; None for what is no list of cells."""
    found, wrong = attempt(
        lambda: np.asarray(given, dtype=None if hasattr(given, "dtype") else object)
    )
    if wrong is not None or found.ndim != 1 or found.dtype.kind not in "biufO":
        return None
    if found.dtype.kind == "O":
        return np.array([_as_double(one) for one in found], dtype=np.float64)
    return np.ma.filled(np.ma.asarray(given, dtype=np.float64), 0.0)


def _as_double(one: Any) -> float:
    """A number as a double; NaN for anything else."""
    if isinstance(one, str | bytes):
        return math.nan
    found, wrong = attempt(lambda: float(one))
    return math.nan if wrong is not None else found
