"""Whose each row is, and what it weighs: what a user gives beside X and y.

No sentence shows an id, a weight or a count: with owners the number of rows is private under both relations.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..mechanisms import number_of_units
from ._parameters import as_text
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


def shares_of_bound(estimator: Any, sample_weight: ArrayLike | None, n: int) -> Array | None:
    """Weights over their declared bound, in [0, 1]; None where neither was given.

    Parameters
    ----------
    estimator : estimator
        Declares the bound.
    sample_weight : array-like of shape (n,) or None
        What the user gave.
    n : int
        Rows.
    """
    bound = estimator.max_sample_weight
    if bound is None:
        if sample_weight is None:
            return None
        raise ValueError(
            "sample_weight was passed, and max_sample_weight is None; declare a bound on a row's weight that you know "
            "without looking at the data."
        )
    given = np.ones(n) if sample_weight is None else sample_weight
    found, wrong = attempt(lambda: np.asarray(given, dtype=np.float64))
    if wrong is not None or found.shape != (n,):
        raise ValueError("sample_weight must be a 1D array of one number for each row of X.")
    if not ((found >= 0.0) & (found <= bound)).all():
        raise ValueError(
            f"sample_weight holds a value that is not between 0 and max_sample_weight={as_text(bound)}; clip it, or "
            "declare a larger bound."
        )
    return np.asarray(found / float(bound))
