"""Owner, list and weight of each row: what a user passes beside X and y.

No sentence shows an id, a weight or a count: with owners the number of rows is private under both relations.
"""

from __future__ import annotations

import numbers
import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..mechanisms import number_of_units
from ._arrays import Array, attempt
from ._cells import as_cells, as_numbers, read_cell

__all__ = [
    "by_class",
    "ids_of",
    "persons_of",
    "shares_of_bound",
    "sizes_of",
    "unify_kinds",
    "units_of",
]

WHOLE = re.compile(r"[+-]?[0-9]{1,4000}")  # Python reads no longer ones
DIGITS_LOST = 2.0**53


def ids_of(groups: ArrayLike) -> Array:
    """Return ids as whole numbers and texts, each read by itself alone (`read_cell`): 1, "1", " 01" and 1.0 are one id.

    So a reader of files that makes numbers of all ids, or of none, neither joins nor parts the rows of others. A whole
    number keeps all of its digits. One of 2**53 or more that comes as a double has lost some, and is refused: beside
    one fraction a reader of files makes doubles of all ids.

    Parameters
    ----------
    groups : array-like
        What the user gave.

    Returns
    -------
    ndarray
        Of integers; or of objects, each an int or a str, or None where the id is missing.
    """
    if np.ma.is_masked(groups):  # what lies under a mask would count as an id
        raise ValueError("ids must not be masked; give one id for each row.")
    listed = isinstance(groups, list | tuple)
    given = as_cells(groups) if listed else np.asarray(groups)
    if given.dtype.kind in "iumMcV":
        return given
    found = np.empty(given.size, dtype=object)
    found[:] = [_read_id(cell) for cell in given.ravel().tolist()]
    if not set(map(type, found)) <= {int}:
        return found.reshape(given.shape)
    alike = np.asarray(found.tolist())
    return (alike if alike.dtype.kind in "iu" else found).reshape(given.shape)


def unify_kinds(ids: Array) -> Array:
    """Return ids as texts where some are texts: none of these spells a whole number.

    Parameters
    ----------
    ids : ndarray
        As `ids_of` returns them.

    Returns
    -------
    ndarray
    """
    mixed = ids.dtype.kind == "O" and set(map(type, ids.ravel())) == {int, str}
    return np.asarray([str(one) for one in ids.ravel()]).reshape(ids.shape) if mixed else ids


def _read_id(cell: Any) -> Any:
    """A whole number with all of its digits, another number or a text as text, or None."""
    if isinstance(cell, numbers.Integral) and not isinstance(cell, np.timedelta64):
        return int(cell)
    text = cell.decode(errors="replace") if isinstance(cell, bytes) else cell
    if isinstance(text, str) and WHOLE.fullmatch(text.strip()):
        return int(text)
    found = read_cell(text)
    if isinstance(found, str) or found is None:
        return found
    if abs(found) >= DIGITS_LOST and found == np.rint(found):
        raise ValueError(
            "ids hold a double of 2**53 or more, which cannot be told from its neighbours; read ids as text."
        )
    return int(found) if found == np.rint(found) else repr(found)


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
            "groups was passed, but max_rows_per_group is None; declare how many rows of a person may enter."
        )
    owners, wrong = attempt(lambda: unify_kinds(ids_of(groups)))
    if wrong is not None:
        raise ValueError(
            "groups must be an array of one id for each row of X, with ids of 2**53 or more as whole numbers or text."
        )
    return owners, number_of_units(owners, n)


# --- Lists of documents ----------------------------------------------------------------------------------------------


def sizes_of(qid: ArrayLike | None, group: ArrayLike | None, n: int) -> Array:
    """Documents of each list, in order.

    Parameters
    ----------
    qid : array-like of shape (n,) or None
        The id of each document's query; those of a query stand together.
    group : array-like of shape (n_lists,) or None
        How many documents each list has, in order, in the place of ids.
    n : int
        Documents.

    Returns
    -------
    ndarray of int
        Each 1 or more; their sum is n.
    """
    if (qid is None) == (group is None):
        raise ValueError(
            "pass qid=, the id of each document's query, or group=, how many documents each list has: one of them."
        )
    return _by_id(qid, n) if group is None else _by_size(group, n)


def _by_id(qid: Any, n: int) -> Array:
    ids, wrong = attempt(lambda: unify_kinds(ids_of(qid)))
    if wrong is not None or ids.shape != (n,) or ids.dtype.kind not in "biuSUO":
        raise ValueError(
            "qid must be a 1D array of one id, a whole number or a string, for each document."
        )
    if ids.dtype.kind == "O" and not _of_one_kind(ids):
        raise ValueError("qid holds missing values or ids of several kinds; use one kind.")
    starts = np.flatnonzero(np.append(True, ids[1:] != ids[:-1])) if n else np.empty(0, np.intp)
    if len(np.unique(ids)) < len(starts):
        raise ValueError("documents of a query must stand together; sort X, y and qid by qid.")
    return np.diff(np.append(starts, n))


def _of_one_kind(ids: Array) -> bool:
    return any(all(type(one) is kind for one in ids) for kind in (str, int))


def _by_size(group: Any, n: int) -> Array:
    sizes, wrong = attempt(lambda: np.asarray(group))
    if wrong is not None or sizes.ndim != 1 or sizes.dtype.kind not in "iu":
        raise ValueError("group must be a 1D array of whole numbers: documents of each list.")
    if (sizes < 1).any() or sizes.sum() != n:
        raise ValueError(
            "group must hold numbers of 1 or more whose sum is the number of documents in X."
        )
    return sizes.astype(np.intp)


def persons_of(groups: Any, sizes: Array) -> Array:
    """The id of each document's person, of ids of documents or of lists; refused where a list is of several persons.

    Parameters
    ----------
    groups : array-like of shape (n,) or (n_lists,)
        What the user gave.
    sizes : ndarray of shape (n_lists,)
        Documents of each list.

    Returns
    -------
    ndarray of shape (n,)
    """
    ids, wrong = attempt(lambda: unify_kinds(ids_of(groups)))
    if wrong is not None or ids.ndim != 1 or len(ids) not in (len(sizes), sizes.sum()):
        raise ValueError(
            "groups must be a 1D array of one id of a person for each document or list."
        )
    if len(ids) == len(sizes):
        return np.repeat(ids, sizes)
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    # A missing id is unlike itself: it is refused as such where persons are counted.
    alike, wrong = attempt(lambda: bool(np.all((ids == ids[first]) | (ids != ids))))
    if wrong is not None or not alike:
        raise ValueError(
            "groups assigns documents of one list to several persons; a list must belong to one."
        )
    return ids


# --- Weights ---------------------------------------------------------------------------------------------------------


def by_class(class_weight: dict[Any, float] | None, classes: Array) -> Array:
    """Return the weight of each class, in the order of the classes; 1 where the user gives none."""
    given, known = class_weight or {}, classes.tolist()
    if any(label not in known for label in given):
        raise ValueError(
            "class_weight holds a label that is not among the classes; weigh labels from classes=."
        )
    weights = np.array([float(given.get(label, 1.0)) for label in known])
    if not weights.any():
        raise ValueError("class_weight gives every class a weight of 0; give one of them more.")
    return weights


def shares_of_bound(sample_weight: ArrayLike | None, bound: float | None, n: int) -> Array | None:
    """Weights over their bound, in [0, 1]; None where neither was given.

    No value is refused, since a refusal would tell of a record: a weight is clipped to its bound as a row is to its
    norm, and what is negative or no number counts as 0. Text that spells a number is that number, as in a table:
    beside one word a reader of files makes text of all weights.

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
    found = np.ones(n) if sample_weight is None else _weights_as_numbers(sample_weight)
    if found is None or found.shape != (n,):
        raise ValueError("sample_weight must be a 1D array of one number for each row of X.")
    most = 1.0 if bound is None else float(bound)
    return np.asarray(np.clip(np.nan_to_num(found, posinf=most), 0.0, most) / most)


def _weights_as_numbers(given: ArrayLike) -> Array | None:
    """Return weights as doubles, each cell read by itself (`as_numbers`); None for what is not a list of cells."""
    if np.ma.isMaskedArray(given):  # what lies under a mask weighs nothing
        given = np.ma.filled(given.astype(np.float64), 0.0)
    cells, wrong = attempt(lambda: as_cells(given))
    shown = getattr(given, "ndim", 1), getattr(cells, "ndim", 0)
    if wrong is not None or shown != (1, 1) or cells.dtype.kind not in "biufO":
        return None
    return as_numbers(cells)
