"""Wine quality (Cortez and others, UCI Machine Learning Repository, CC BY 4.0)."""

from functools import partial
from typing import Literal, overload

from ._encode import Array
from ._fetch import Folder, fetch_wine, locate, read_table
from ._table import Table

__all__ = ["load_wine"]

# The documentation gives only the scale of the quality; these ranges are round and assumed.
BOUNDS = {
    "fixed_acidity": (3, 16),
    "volatile_acidity": (0, 2),
    "citric_acid": (0, 2),
    "residual_sugar": (0, 70),
    "chlorides": (0, 1),
    "free_sulfur_dioxide": (0, 300),
    "total_sulfur_dioxide": (0, 450),
    "density": (0.98, 1.04),
    "pH": (2.5, 4.5),
    "sulphates": (0, 2),
    "alcohol": (8, 15),
}


@overload
def load_wine(
    data_home: Folder = ..., *, download: bool = ..., return_X_y: Literal[False] = ...
) -> Table:
    """Load it as a table."""


@overload
def load_wine(
    data_home: Folder = ..., *, download: bool = ..., return_X_y: Literal[True]
) -> tuple[Array, Array]:
    """Load encoded rows and target."""


def load_wine(
    data_home: Folder = None, *, download: bool = False, return_X_y: bool = False
) -> Table | tuple[Array, Array]:
    """Load Wine quality: how did experts grade a wine, from 0 to 10?

    Parameters
    ----------
    data_home : path, optional
        Folder that holds ``wine_quality/wine_quality.csv.gz``; by default what SKDP_DATA names.
    download : bool, default=False
        Fetch the red and the white file from UCI when it is missing.
    return_X_y : bool, default=False
        Return encoded rows and target instead of the table.

    Returns
    -------
    Table or (ndarray, ndarray)
        6,497 rows (1,599 red, 4,898 white), 12 columns; a target to regress.

    See Also
    --------
    load_bike : Another number to predict.
    """
    fetch = partial(fetch_wine, header=[*BOUNDS, "quality", "color"]) if download else None
    path = locate("wine_quality/wine_quality.csv.gz", data_home, fetch)
    columns = read_table(path, {*BOUNDS, "quality"})
    target = columns.pop("quality")
    table = Table(
        "wine",
        columns,
        target,
        bounds=BOUNDS,
        categories={"color": ("red", "white")},
        symlog=frozenset({"residual_sugar", "free_sulfur_dioxide", "total_sulfur_dioxide"}),
        target_bounds=(0.0, 10.0),
        assumed=frozenset(BOUNDS),
    )
    return (table.encode(), table.target) if return_X_y else table
