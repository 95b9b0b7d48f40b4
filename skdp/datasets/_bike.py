"""Bike sharing, by the hour (Fanaee-T and Gama, UCI Machine Learning Repository, CC BY 4.0)."""

from typing import Literal, overload

from ._encode import Array
from ._fetch import Folder, fetch_bike, locate, read_table
from ._table import Table

__all__ = ["load_bike"]

# The weather is published divided by its documented maximum.
BOUNDS = {name: (0.0, 1.0) for name in ("temp", "atemp", "hum", "windspeed")}
CATEGORIES = {
    "season": (1, 4),
    "yr": (0, 1),
    "mnth": (1, 12),
    "hr": (0, 23),
    "holiday": (0, 1),
    "weekday": (0, 6),
    "workingday": (0, 1),
    "weathersit": (1, 4),
}
# `casual` and `registered` sum to the target; the row's number and date are not features.
_DROPPED = ("instant", "dteday", "casual", "registered")


@overload
def load_bike(
    data_home: Folder = ..., *, download: bool = ..., return_X_y: Literal[False] = ...
) -> Table:
    """Load it as a table."""


@overload
def load_bike(
    data_home: Folder = ..., *, download: bool = ..., return_X_y: Literal[True]
) -> tuple[Array, Array]:
    """Load encoded rows and target."""


def load_bike(
    data_home: Folder = None, *, download: bool = False, return_X_y: bool = False
) -> Table | tuple[Array, Array]:
    """Load Bike sharing: how many bikes are rented in an hour?

    Parameters
    ----------
    data_home : path, optional
        Folder that holds ``bike_sharing/hour.csv.gz``; by default what SKDP_DATA names, else ``~/skdp_data``.
    download : bool, default=False
        Fetch the file from UCI when it is missing.
    return_X_y : bool, default=False
        Return encoded rows and target instead of the table.

    Returns
    -------
    Table or (ndarray, ndarray)
        17,379 rows, 12 columns; a count to regress, assumed to lie between 0 and 1000.

    See Also
    --------
    load_wine : Another number to predict.
    """
    path = locate("bike_sharing/hour.csv.gz", data_home, fetch_bike if download else None)
    columns = read_table(path, {*BOUNDS, "cnt"})
    target = columns.pop("cnt")
    table = Table(
        "bike",
        {name: column for name, column in columns.items() if name not in _DROPPED},
        target,
        bounds=BOUNDS,
        categories={c: tuple(map(str, range(a, b + 1))) for c, (a, b) in CATEGORIES.items()},
        target_bounds=(0.0, 1000.0),
        assumed=frozenset({"cnt"}),
    )
    return (table.encode(), table.target) if return_X_y else table
