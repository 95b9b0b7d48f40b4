"""Bank marketing (Moro, Cortez and Rita, UCI Machine Learning Repository, CC BY 4.0)."""

from typing import Literal, overload

import numpy as np

from ._encode import Array
from ._fetch import Folder, fetch_bank, locate, read_table
from ._table import Matrix, Table

__all__ = ["load_bank"]

# The documentation lists the categories and says "numeric" for the rest.
BOUNDS = {
    "age": (18, 100),
    "balance": (-10_000, 110_000),
    "day": (1, 31),
    "duration": (0, 5_000),
    "campaign": (1, 64),
    "pdays": (-1, 900),
    "previous": (0, 300),
}
CATEGORIES = {
    "job": (
        "admin. unknown unemployed management housemaid entrepreneur student blue-collar "
        "self-employed retired technician services"
    ),
    "marital": "married divorced single",
    "education": "unknown secondary primary tertiary",
    "default": "yes no",
    "housing": "yes no",
    "loan": "yes no",
    "contact": "unknown telephone cellular",
    "month": "jan feb mar apr may jun jul aug sep oct nov dec",
    "poutcome": "unknown other failure success",
}


@overload
def load_bank(
    data_home: Folder = ...,
    *,
    encoding: Literal["raw"] = ...,
    download: bool = ...,
    return_X_y: Literal[False] = ...,
) -> Table:
    """Load it as a table."""


@overload
def load_bank(
    data_home: Folder = ...,
    *,
    encoding: Literal["dpagd"],
    download: bool = ...,
    return_X_y: Literal[False] = ...,
) -> Matrix:
    """Load the published encoding as a matrix."""


@overload
def load_bank(
    data_home: Folder = ..., *, encoding: str = ..., download: bool = ..., return_X_y: Literal[True]
) -> tuple[Array, Array]:
    """Load encoded rows and target."""


def load_bank(
    data_home: Folder = None,
    *,
    encoding: str = "raw",
    download: bool = False,
    return_X_y: bool = False,
) -> Table | Matrix | tuple[Array, Array]:
    """Load Bank marketing: does a client subscribe to a deposit?

    Parameters
    ----------
    data_home : path, optional
        Folder that holds ``bank/bank.csv.gz``; by default what SKDP_DATA names, else ``~/skdp_data``.
    encoding : {"raw", "dpagd"}, default="raw"
        ``"dpagd"`` is the 32-column encoding of Lee and Kifer (2018), from
        ``bank/bank_dpagd.npz``, which no public source offers for download.
    download : bool, default=False
        Fetch the raw file from UCI when it is missing.
    return_X_y : bool, default=False
        Return encoded rows and target instead of the table.

    Returns
    -------
    Table, Matrix or (ndarray, ndarray)
        45,211 rows, 11.70 % positive. ``duration`` is known only after the call:
        ``table.drop("duration")`` for a realistic model.

    See Also
    --------
    load_adult : Another table with categories.
    """
    if encoding not in ("raw", "dpagd"):
        raise ValueError(f"encoding must be 'raw' or 'dpagd', got {encoding!r}.")
    data = _raw(data_home, download) if encoding == "raw" else _dpagd(data_home)
    return (data.encode(), data.target) if return_X_y else data


def _raw(data_home: Folder, download: bool) -> Table:
    path = locate("bank/bank.csv.gz", data_home, fetch_bank if download else None)
    columns = read_table(path, BOUNDS)
    target = (columns.pop("y") == "yes").astype(int)
    return Table(
        "bank",
        columns,
        target,
        bounds=BOUNDS,
        categories={name: tuple(words.split()) for name, words in CATEGORIES.items()},
        symlog=frozenset({"balance", "duration", "campaign", "pdays", "previous"}),
        target_names=("no", "yes"),
        assumed=frozenset(BOUNDS) - {"day"},
    )


def _dpagd(data_home: Folder) -> Matrix:
    hint = "it is the encoding published with DP-AGD, put it there by hand"
    with np.load(locate("bank/bank_dpagd.npz", data_home, hint=hint)) as file:
        X, y = file["X"], file["y"].astype(int)
    lower, upper = np.zeros(32), np.ones(32)
    # Columns 0 age, 18 balance, 23 = 30 * month + day, 24 to 28 the campaign's history.
    for column, name in ((0, "age"), (18, "balance"), (24, "duration"), (25, "campaign")):
        lower[column], upper[column] = BOUNDS[name]
    lower[23], upper[23], upper[27], upper[28] = 31, 391, 900, 300
    return Matrix("bank_dpagd", X, y, lower, upper, ("no", "yes"), assumed=True)
