"""Adult, or census income (Becker and Kohavi, UCI Machine Learning Repository, CC BY 4.0)."""

from functools import partial
from typing import Literal, overload

from ._encode import Array
from ._fetch import Folder, fetch_adult, locate, read_table
from ._table import Table

__all__ = ["load_adult"]

# Age and hours: the extraction's conditions (older than 16, at least an hour) and the survey's
# top codes, as capital gains'. The documentation gives no range of the two others.
BOUNDS = {
    "age": (17, 90),
    "fnlwgt": (0, 1_500_000),
    "education_num": (1, 16),
    "capital_gain": (0, 99_999),
    "capital_loss": (0, 5_000),
    "hours_per_week": (1, 99),
}
ASSUMED = frozenset({"fnlwgt", "capital_loss"})

# The documentation's lists, in its order; `?` is no category: it becomes an empty block.
CATEGORIES = {
    "workclass": (
        "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay "
        "Never-worked"
    ),
    "education": (
        "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th "
        "Masters 1st-4th 10th Doctorate 5th-6th Preschool"
    ),
    "marital_status": (
        "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent "
        "Married-AF-spouse"
    ),
    "occupation": (
        "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty "
        "Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing Transport-moving "
        "Priv-house-serv Protective-serv Armed-Forces"
    ),
    "relationship": "Wife Own-child Husband Not-in-family Other-relative Unmarried",
    "race": "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black",
    "sex": "Female Male",
    "native_country": (
        "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) "
        "India Japan Greece South China Cuba Iran Honduras Philippines Italy Poland Jamaica "
        "Vietnam Mexico Portugal Ireland France Dominican-Republic Laos Ecuador Taiwan Haiti "
        "Columbia Hungary Guatemala Nicaragua Scotland Thailand Yugoslavia El-Salvador "
        "Trinadad&Tobago Peru Hong Holand-Netherlands"
    ),
}
_COLUMNS = (
    "age workclass fnlwgt education education_num marital_status occupation relationship race sex "
    "capital_gain capital_loss hours_per_week native_country income split"
)
HEADER = tuple(_COLUMNS.split())


@overload
def load_adult(
    data_home: Folder = ..., *, download: bool = ..., return_X_y: Literal[False] = ...
) -> Table:
    """Load it as a table."""


@overload
def load_adult(
    data_home: Folder = ..., *, download: bool = ..., return_X_y: Literal[True]
) -> tuple[Array, Array]:
    """Load encoded rows and target."""


def load_adult(
    data_home: Folder = None, *, download: bool = False, return_X_y: bool = False
) -> Table | tuple[Array, Array]:
    """Load Adult: does a person earn more than 50 000 dollars a year?

    Parameters
    ----------
    data_home : path, optional
        Folder that holds ``adult/adult.csv.gz``; by default what SKDP_DATA names, else ``~/skdp_data``.
    download : bool, default=False
        Fetch the file from UCI when it is missing.
    return_X_y : bool, default=False
        Return ``(table.encode(), table.target)`` instead of the table.

    Returns
    -------
    Table or (ndarray, ndarray)
        48,842 rows, 14 columns (105 encoded), 23.93 % positive; ``table.split`` tells the
        source's train and test rows.

    See Also
    --------
    make_census : A generated table of the same kind, without download.
    """
    fetch = partial(fetch_adult, header=HEADER) if download else None
    columns = read_table(locate("adult/adult.csv.gz", data_home, fetch), BOUNDS)
    target = (columns.pop("income") == ">50K").astype(int)
    table = Table(
        "adult",
        target=target,
        split=columns.pop("split"),
        columns=columns,
        bounds=BOUNDS,
        categories={name: tuple(words.split()) for name, words in CATEGORIES.items()},
        symlog=frozenset({"capital_gain", "capital_loss"}),
        target_names=("<=50K", ">50K"),
        assumed=ASSUMED,
    )
    return (table.encode(), table.target) if return_X_y else table
