"""Census tables.

Adult, or census income (Becker and Kohavi, UCI Machine Learning Repository, CC BY 4.0); an extract of the Brazilian
census, from IPUMS-International, as encoded with DP-AGD; and a generated table: nobody's data, with the shape of
everybody's.
"""

from functools import partial
from typing import Literal, overload

import numpy as np
from scipy.special import expit

from ._fetch import Folder, fetch_adult, locate, read_table
from ._table import Array, Matrix, Table

__all__ = ["load_adult", "load_ipums_br", "make_census"]


Columns = dict[str, Array]

WORKCLASS = ("private", "self-employed", "company-owner", "federal", "state", "local", "unpaid")
MARITAL = ("never-married", "married", "divorced", "separated", "widowed")
OCCUPATION = (
    "manager",
    "professional",
    "technician",
    "clerk",
    "sales",
    "service",
    "household",
    "craft",
    "operator",
    "transport",
    "labourer",
    "farmer",
    "protective",
)
REGION = ("north", "north-east", "east", "south-east", "south", "south-west", "west", "capital")
HOUSING = ("owner", "mortgage", "tenant", "with-family")
SEX = ("female", "male")

# Log-odds of a high income and mean years of education, by occupation, in OCCUPATION's order.
_PAY = np.array([1.1, 0.9, 0.5, 0.0, 0.3, -1.1, -1.9, 0.1, -0.4, -0.2, -0.9, -1.0, 0.6])
_SCHOOLING = np.array([13, 15, 13, 11, 12, 10, 8, 10, 9, 10, 9, 9, 11.5])
_COMMON = np.array([12, 13, 4, 12, 11, 10, 1, 13, 6, 5, 5, 3, 2]) / 97

_BOUNDS = {
    "age": (17, 90),
    "education_years": (0, 20),
    "hours_per_week": (1, 99),
    "capital_gain": (0, 100_000),
    "capital_loss": (0, 5_000),
    "commute_minutes": (0, 180),
    "household_size": (1, 12),
}
_CATEGORIES = {
    "workclass": WORKCLASS,
    "marital": MARITAL,
    "occupation": OCCUPATION,
    "region": REGION,
    "housing": HOUSING,
    "sex": SEX,
}


@overload
def make_census(
    n_samples: int = ..., random_state: int | None = ..., *, return_X_y: Literal[False] = ...
) -> Table:
    """Generate a table."""


@overload
def make_census(
    n_samples: int = ..., random_state: int | None = ..., *, return_X_y: Literal[True]
) -> tuple[Array, Array]:
    """Generate encoded rows and target."""


def make_census(
    n_samples: int = 40_000, random_state: int | None = 0, *, return_X_y: bool = False
) -> Table | tuple[Array, Array]:
    """Generate a census-like table whose target is a high income (about 24 % of the rows).

    Parameters
    ----------
    n_samples : int, default=40000
        Number of persons.
    random_state : int or None, default=0
        Seed of the generator; None draws another table each time.
    return_X_y : bool, default=False
        Return ``(table.encode(), table.target)`` instead of the table.

    Returns
    -------
    Table or (ndarray, ndarray)
        Seven numeric and six categorical columns with declared bounds and categories. Their
        dependences (age, schooling, occupation, marriage, hours, capital gains) are invented,
        with a logistic regression's AUC near 0.9.

    See Also
    --------
    load_adult : A census of true persons.
    make_sparse_classification : To measure which features are found.

    Examples
    --------
    >>> from skdp.datasets import make_census
    >>> make_census(n_samples=1000)
    Table('census', 13 columns)
    """
    rng = np.random.default_rng(random_state)
    person = _person(rng, n_samples)
    work = _work(rng, person)
    logit = _income_logit(person, work)
    target = (rng.random(n_samples) < expit(logit)).astype(np.int64)
    columns = _columns(rng, person, work, logit)
    table = Table(
        "census",
        {name: columns[name] for name in (*_BOUNDS, *_CATEGORIES)},
        target,
        bounds=dict(_BOUNDS),
        categories=dict(_CATEGORIES),
        symlog=frozenset({"capital_gain", "capital_loss"}),
        target_names=("low", "high"),
    )
    return (table.encode(), table.target) if return_X_y else table


def _person(rng: np.random.Generator, n: int) -> Columns:
    age = np.clip(17 + 73 * rng.beta(1.4, 3.0, n), *_BOUNDS["age"]).round()
    sex = (rng.random(n) < 0.52).astype(int)
    occupation = _choose(rng, np.tile(_COMMON, (n, 1)))
    schooling = _SCHOOLING[occupation] + rng.normal(0, 2.0, n) - 1.5 * (age < 21)
    schooling = np.clip(schooling, *_BOUNDS["education_years"]).round()
    return {
        "age": age,
        "sex": sex,
        "occupation": occupation,
        "schooling": schooling,
        "marital": _choose(rng, _marital_odds(age)),
        "region": _choose(rng, np.tile([8, 12, 14, 10, 18, 9, 16, 13], (n, 1))),
    }


def _marital_odds(age: Array) -> Array:
    old = np.clip((age - 17) / 60, 0, 1)
    settled = expit((age - 26) / 4)
    return np.column_stack(
        [
            1.02 - settled + 0.06,
            settled * (1.0 - 0.3 * old),
            settled * 0.28,
            0.05 + 0.0 * age,
            0.5 * old**4,
        ]
    )


def _work(rng: np.random.Generator, person: Columns) -> Columns:
    age, n = person["age"], len(person["age"])
    working_age = np.exp(-(((age - 42) / 22) ** 2))
    hours = 22 + 17 * working_age + 3 * person["sex"] + 2.5 * (_PAY[person["occupation"]] > 0.8)
    hours = np.clip((hours + rng.normal(0, 9, n)).round(), *_BOUNDS["hours_per_week"])
    wealth = 0.25 * _PAY[person["occupation"]] + 0.012 * (age - 40) + rng.normal(0, 1, n)
    gains = (wealth > 1.55) * np.exp(8.1 + 0.75 * wealth - 0.75 + rng.normal(0, 0.8, n))
    losses = (wealth < -1.95) * np.clip(rng.normal(1850, 350, n), 200, None)
    sectors = np.column_stack(
        [
            np.full(n, 70.0),
            6 + 0.1 * (age - 17),
            2 + 2.0 * (wealth > 1),
            np.full(n, 3.0),
            np.full(n, 4.0),
            np.full(n, 6.5),
            np.full(n, 0.2),
        ]
    )
    return {
        "hours": hours,
        "gains": np.clip(gains, *_BOUNDS["capital_gain"]).round(),
        "losses": np.clip(losses, *_BOUNDS["capital_loss"]).round(),
        "workclass": _choose(rng, sectors),
    }


def _income_logit(person: Columns, work: Columns) -> Array:
    age = np.minimum(person["age"], 75)
    return (
        -3.56
        + 1.25 * _PAY[person["occupation"]]
        + 0.32 * (person["schooling"] - 11)
        + 2.3 * (person["marital"] == 1)
        + 0.075 * (age - 38)
        - 0.0021 * (age - 38) ** 2
        + 0.05 * (work["hours"] - 40)
        + 0.45 * person["sex"]
        + 0.30 * np.log1p(work["gains"] / 500)
        + 0.28 * np.log1p(work["losses"] / 500)
        + np.array([0, -0.2, 0.9, 0.6, 0.0, 0.1, -2.0])[work["workclass"]]
        + np.array([0, 0.1, -0.1, -0.1, -0.2, 0, 0.15, 0.6])[person["region"]]
    )


def _columns(rng: np.random.Generator, person: Columns, work: Columns, logit: Array) -> Columns:
    n, married = len(logit), person["marital"] == 1
    comfort = expit(logit / 2)
    renting = np.column_stack(
        [0.3 * (person["age"] > 50) + 0.1, comfort + 0.4 * married, 0.9 - 0.5 * comfort, 12 - logit]
    ) * [1, 1, 1, 0.01]
    commute = rng.gamma(2.0, 12 + 4 * (person["region"] == 7), n)
    return {
        "age": person["age"],
        "education_years": person["schooling"],
        "hours_per_week": work["hours"],
        "capital_gain": work["gains"],
        "capital_loss": work["losses"],
        "commute_minutes": np.clip(commute, *_BOUNDS["commute_minutes"]).round(),
        "household_size": np.clip(1 + married + rng.poisson(0.4 + 0.9 * married), 1, 12),
        "workclass": np.array(WORKCLASS)[work["workclass"]],
        "marital": np.array(MARITAL)[person["marital"]],
        "occupation": np.array(OCCUPATION)[person["occupation"]],
        "region": np.array(REGION)[person["region"]],
        "housing": np.array(HOUSING)[_choose(rng, renting)],
        "sex": np.array(SEX)[person["sex"]],
    }


def _choose(rng: np.random.Generator, odds: Array) -> Array:
    """Draw one index for each row, with probabilities proportional to the row's odds."""
    cumulated = np.cumsum(odds, axis=1)
    return (rng.random((len(odds), 1)) * cumulated[:, -1:] > cumulated).sum(axis=1)


# Age and hours: the extraction's conditions (older than 16, at least an hour) and the survey's
# top codes, as capital gains'. The documentation gives no range of the two others.
ADULT_BOUNDS = {
    "age": (17, 90),
    "fnlwgt": (0, 1_500_000),
    "education_num": (1, 16),
    "capital_gain": (0, 99_999),
    "capital_loss": (0, 5_000),
    "hours_per_week": (1, 99),
}
ASSUMED = frozenset({"fnlwgt", "capital_loss"})

# The documentation's lists, in its order; `?` is no category: it becomes an empty block.
ADULT_CATEGORIES = {
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
    columns = read_table(locate("adult/adult.csv.gz", data_home, fetch), ADULT_BOUNDS)
    target = (columns.pop("income") == ">50K").astype(int)
    table = Table(
        "adult",
        target=target,
        split=columns.pop("split"),
        columns=columns,
        bounds=ADULT_BOUNDS,
        categories={name: tuple(words.split()) for name, words in ADULT_CATEGORIES.items()},
        symlog=frozenset({"capital_gain", "capital_loss"}),
        target_names=("<=50K", ">50K"),
        assumed=ASSUMED,
    )
    return (table.encode(), table.target) if return_X_y else table


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
