"""Memory that somebody else may write: a vault holds none, for rows are bounded once and read again."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

__all__ = ["copy_if_shared", "is_shared"]

_PARTS = ("data", "indices", "indptr", "row", "col")  # arrays of a sparse table


def is_shared(array: np.ndarray[Any, Any]) -> bool:
    """Return whether another process may write to an array's memory.

    Only memory that numpy itself has set aside, and immutable bytes, are known to be this process' alone. A map of a
    file, shared memory, a tensor or a buffer of another library may change between two reads.
    """
    while isinstance(array.base, np.ndarray):
        array = array.base
    own = array.base is None and array.flags.owndata
    return not (own or isinstance(array.base, bytes))


def copy_if_shared(X: Any) -> Any:
    """Copy an array or a sparse table whose memory others may write; return anything else as it is.

    Parameters
    ----------
    X : ndarray, sparse table or object
        What is about to be admitted.

    Returns
    -------
    object
        The same numbers, which nobody but this process can change.
    """
    if isinstance(X, np.ndarray):
        return np.array(X) if is_shared(X) else X
    if issparse(X):
        parts = (getattr(X, name, None) for name in _PARTS)
        if any(isinstance(part, np.ndarray) and is_shared(part) for part in parts):
            return X.copy()
    return X
