"""An extract of the Brazilian census, from IPUMS-International, as encoded with DP-AGD."""

from typing import Literal, overload

import numpy as np

from ._encode import Array
from ._fetch import Folder, locate
from ._table import Matrix

__all__ = ["load_ipums_br"]

# No documentation names the columns: their ranges are those seen, treated as public.
_RANGES = {5: (1, 2), 6: (0, 6), 7: (1, 2), 8: (1, 30), 9: (1, 27), 10: (0, 9), 11: (0, 4)} | {
    12: (10, 100),
    13: (1, 2),
    18: (1, 2),
    49: (1, 140),
    50: (1, 2),
    51: (0, 88),
}


@overload
def load_ipums_br(data_home: Folder = ..., *, return_X_y: Literal[False] = ...) -> Matrix:
    """Load it as a matrix."""


@overload
def load_ipums_br(data_home: Folder = ..., *, return_X_y: Literal[True]) -> tuple[Array, Array]:
    """Load encoded rows and target."""


def load_ipums_br(
    data_home: Folder = None, *, return_X_y: bool = False
) -> Matrix | tuple[Array, Array]:
    """Load the Brazilian census extract used in the differential-privacy literature.

    Parameters
    ----------
    data_home : path, optional
        Folder that holds ``ipums_br/ipums_br_dpagd.npz``; by default what SKDP_DATA names, else ``~/skdp_data``.
        IPUMS's terms restrict redistribution, so there is nothing to download.
    return_X_y : bool, default=False
        Return encoded rows and target instead of the matrix.

    Returns
    -------
    Matrix or (ndarray, ndarray)
        38,000 rows, 52 columns of small integers, 50.63 % positive.

    See Also
    --------
    load_adult : A census that can be downloaded.
    """
    hint = "IPUMS restricts redistribution, so get the extract from the authors of DP-AGD"
    with np.load(locate("ipums_br/ipums_br_dpagd.npz", data_home, hint=hint)) as file:
        X, y = file["X"], file["y"].astype(int)
    lower, upper = np.zeros(52), np.ones(52)
    for column, (low, high) in _RANGES.items():
        lower[column], upper[column] = low, high
    data = Matrix("ipums_br", X, y, lower, upper, ("0", "1"), assumed=True)
    return (data.encode(), data.target) if return_X_y else data
