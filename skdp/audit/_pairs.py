"""Neighbouring data sets on which binary linear models show the most of one record."""

from typing import Any

import numpy as np

__all__ = ["Array", "Data", "worst_case_pair"]

Array = np.ndarray[Any, Any]
Data = tuple[Array, Array]  # rows and labels


def worst_case_pair(
    *,
    n: int = 4,
    n_features: int = 1,
    data_norm: float = 1.0,
    neighbors: str = "replace_one",
    others: str = "silent",
    classes: tuple[Any, Any] = (0, 1),
) -> tuple[Data, Data]:
    """Make two data sets that differ in one record at the bound of the rows.

    Parameters
    ----------
    n : int
        Records of the first data set.
    n_features : int
        Columns; the changed record lies along the first.
    data_norm : float
        Norm of the changed record's row.
    neighbors : {"replace_one", "add_remove"}
        Whether its label is flipped, or the record is left out of the second data set.
    others : {"silent", "opposed"}
        Rows of the other records: zeros, which keep out of the way, or the same row as the changed record's with the
        label against it, the worst case of batches of fixed size.
    classes : tuple of two labels
        Labels.

    Returns
    -------
    pair : tuple of two (X, y)
        The data sets.

    See Also
    --------
    audit : What it is for.
    adversarial_pairs : Many pairs, for replays.

    Examples
    --------
    >>> from skdp.audit import worst_case_pair
    >>> (X, y), (X_other, y_other) = worst_case_pair(n=3, data_norm=2.0)
    >>> X.ravel().tolist(), y.tolist(), y_other.tolist()  # one label is flipped
    ([2.0, 0.0, 0.0], [1, 1, 0], [0, 1, 0])
    """
    if neighbors not in ("replace_one", "add_remove"):
        raise ValueError(
            f"neighbors={neighbors!r} is not known; use 'replace_one' or 'add_remove'."
        )
    if others not in ("silent", "opposed"):
        raise ValueError(f"others={others!r} is not known; use 'silent' or 'opposed'.")
    row = np.zeros(n_features)
    row[0] = data_norm
    X = np.zeros((n, n_features)) if others == "silent" else np.tile(row, (n, 1))
    X[0] = row
    codes = np.arange(n) % 2 if others == "silent" else np.zeros(n, dtype=int)
    codes[0] = 1
    y = np.asarray(classes)[codes]
    if neighbors == "add_remove":
        return (X, y), (X[1:], y[1:])
    flipped = codes.copy()
    flipped[0] = 0
    return (X, y), (X, np.asarray(classes)[flipped])
