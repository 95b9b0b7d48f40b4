"""Division of documents into lists: by ids of queries, or by sizes, as the rankers of other packages take them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..fitting.data import Array, attempt, ids_of, unify_kinds

__all__ = ["persons_of", "sizes_of"]


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
