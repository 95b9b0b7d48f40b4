"""Tables of the UCI Machine Learning Repository (CC BY 4.0).

Bank marketing (Moro, Cortez and Rita), bike sharing by the hour (Fanaee-T and Gama), wine quality (Cortez and others),
and KDD Cup 1999 (network intrusions, the ten per cent file).
"""

from functools import partial
from typing import Literal, overload

import numpy as np

from ._fetch import Folder, fetch_bank, fetch_bike, fetch_kddcup99, fetch_wine, locate, read_table
from ._table import Array, Matrix, Table

__all__ = ["load_bank", "load_bike", "load_kddcup99", "load_wine"]


# The documentation lists the categories and says "numeric" for the rest.
BANK_BOUNDS = {
    "age": (18, 100),
    "balance": (-10_000, 110_000),
    "day": (1, 31),
    "duration": (0, 5_000),
    "campaign": (1, 64),
    "pdays": (-1, 900),
    "previous": (0, 300),
}
BANK_CATEGORIES = {
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
    columns = read_table(path, BANK_BOUNDS)
    target = (columns.pop("y") == "yes").astype(int)
    return Table(
        "bank",
        columns,
        target,
        bounds=BANK_BOUNDS,
        categories={name: tuple(words.split()) for name, words in BANK_CATEGORIES.items()},
        symlog=frozenset({"balance", "duration", "campaign", "pdays", "previous"}),
        target_names=("no", "yes"),
        assumed=frozenset(BANK_BOUNDS) - {"day"},
    )


def _dpagd(data_home: Folder) -> Matrix:
    hint = "it is the encoding published with DP-AGD, put it there by hand"
    with np.load(locate("bank/bank_dpagd.npz", data_home, hint=hint)) as file:
        X, y = file["X"], file["y"].astype(int)
    lower, upper = np.zeros(32), np.ones(32)
    # Columns 0 age, 18 balance, 23 = 30 * month + day, 24 to 28 the campaign's history.
    for column, name in ((0, "age"), (18, "balance"), (24, "duration"), (25, "campaign")):
        lower[column], upper[column] = BANK_BOUNDS[name]
    lower[23], upper[23], upper[27], upper[28] = 31, 391, 900, 300
    return Matrix("bank_dpagd", X, y, lower, upper, ("no", "yes"), assumed=True)


# The weather is published divided by its documented maximum.
BIKE_BOUNDS = {name: (0.0, 1.0) for name in ("temp", "atemp", "hum", "windspeed")}
BIKE_CATEGORIES = {
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
    columns = read_table(path, {*BIKE_BOUNDS, "cnt"})
    target = columns.pop("cnt")
    table = Table(
        "bike",
        {name: column for name, column in columns.items() if name not in _DROPPED},
        target,
        bounds=BIKE_BOUNDS,
        categories={c: tuple(map(str, range(a, b + 1))) for c, (a, b) in BIKE_CATEGORIES.items()},
        target_bounds=(0.0, 1000.0),
        assumed=frozenset({"cnt"}),
    )
    return (table.encode(), table.target) if return_X_y else table


# The documentation gives only the scale of the quality; these ranges are round and assumed.
WINE_BOUNDS = {
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
    fetch = partial(fetch_wine, header=[*WINE_BOUNDS, "quality", "color"]) if download else None
    path = locate("wine_quality/wine_quality.csv.gz", data_home, fetch)
    columns = read_table(path, {*WINE_BOUNDS, "quality"})
    target = columns.pop("quality")
    table = Table(
        "wine",
        columns,
        target,
        bounds=WINE_BOUNDS,
        categories={"color": ("red", "white")},
        symlog=frozenset({"residual_sugar", "free_sulfur_dioxide", "total_sulfur_dioxide"}),
        target_bounds=(0.0, 10.0),
        assumed=frozenset(WINE_BOUNDS),
    )
    return (table.encode(), table.target) if return_X_y else table


_COLUMNS = (
    "duration protocol_type service flag src_bytes dst_bytes land wrong_fragment urgent hot "
    "num_failed_logins logged_in num_compromised root_shell su_attempted num_root "
    "num_file_creations num_shells num_access_files num_outbound_cmds is_host_login "
    "is_guest_login count srv_count serror_rate srv_serror_rate rerror_rate srv_rerror_rate "
    "same_srv_rate diff_srv_rate srv_diff_host_rate dst_host_count dst_host_srv_count "
    "dst_host_same_srv_rate dst_host_diff_srv_rate dst_host_same_src_port_rate "
    "dst_host_srv_diff_host_rate dst_host_serror_rate dst_host_srv_serror_rate "
    "dst_host_rerror_rate dst_host_srv_rerror_rate label"
)
KDD_HEADER = tuple(_COLUMNS.split())

KDD_CATEGORIES = {
    "protocol_type": "icmp tcp udp",
    # The 70 services of the full file, of which this part holds 66.
    "service": (
        "IRC X11 Z39_50 aol auth bgp courier csnet_ns ctf daytime discard domain domain_u echo "
        "eco_i ecr_i efs exec finger ftp ftp_data gopher harvest hostnames http http_2784 "
        "http_443 http_8001 imap4 iso_tsap klogin kshell ldap link login mtp name netbios_dgm "
        "netbios_ns netbios_ssn netstat nnsp nntp ntp_u other pm_dump pop_2 pop_3 printer "
        "private red_i remote_job rje shell smtp sql_net ssh sunrpc supdup systat telnet tftp_u "
        "tim_i time urh_i urp_i uucp uucp_path vmnet whois"
    ),
    "flag": "OTH REJ RSTO RSTOS0 RSTR S0 S1 S2 S3 SF SH",
}

_LABELS = (
    "back buffer_overflow ftp_write guess_passwd imap ipsweep land loadmodule multihop neptune "
    "nmap normal perl phf pod portsweep rootkit satan smurf spy teardrop warezclient warezmaster"
)
LABELS = tuple(_LABELS.split())

_COUNTS = {"count": 511, "srv_count": 511, "dst_host_count": 255, "dst_host_srv_count": 255}
# The documentation calls these continuous and gives no range.
_ASSUMED = {
    "duration": 60_000,
    "src_bytes": 1e9,
    "dst_bytes": 1e9,
    "wrong_fragment": 3,
    "urgent": 10,
    "hot": 100,
    "num_failed_logins": 10,
    "num_compromised": 10_000,
    "su_attempted": 2,
    "num_root": 10_000,
    "num_file_creations": 100,
    "num_shells": 10,
    "num_access_files": 10,
    "num_outbound_cmds": 10,
}
KDD_BOUNDS = {
    name: (0, _ASSUMED.get(name, _COUNTS.get(name, 1)))
    for name in KDD_HEADER
    if name not in KDD_CATEGORIES and name != "label"
}


@overload
def load_kddcup99(
    data_home: Folder = ...,
    *,
    binary: bool = ...,
    download: bool = ...,
    return_X_y: Literal[False] = ...,
) -> Table:
    """Load it as a table."""


@overload
def load_kddcup99(
    data_home: Folder = ..., *, binary: bool = ..., download: bool = ..., return_X_y: Literal[True]
) -> tuple[Array, Array]:
    """Load encoded rows and target."""


def load_kddcup99(
    data_home: Folder = None,
    *,
    binary: bool = True,
    download: bool = False,
    return_X_y: bool = False,
) -> Table | tuple[Array, Array]:
    """Load KDD Cup 1999: is a connection an attack?

    Parameters
    ----------
    data_home : path, optional
        Folder that holds ``kddcup99/kddcup99_10_percent.csv.gz``; by default what SKDP_DATA names.
    binary : bool, default=True
        Attack (1) or normal (0); False keeps the 23 labels.
    download : bool, default=False
        Fetch the file from the UCI KDD archive when it is missing.
    return_X_y : bool, default=False
        Return encoded rows (float32) and target instead of the table.

    Returns
    -------
    Table or (ndarray, ndarray)
        494,021 rows, 41 columns, 80.31 % attacks; most rows are duplicates, as in the source.

    See Also
    --------
    load_adult : A smaller table.
    """
    fetch = partial(fetch_kddcup99, header=KDD_HEADER) if download else None
    path = locate("kddcup99/kddcup99_10_percent.csv.gz", data_home, fetch)
    columns = read_table(path, KDD_BOUNDS)
    label = columns.pop("label")
    names = ("normal", "attack") if binary else LABELS
    target = (label != "normal").astype(int) if binary else np.searchsorted(names, label)
    table = Table(
        "kddcup99",
        columns,
        target,
        bounds=KDD_BOUNDS,
        categories={name: tuple(words.split()) for name, words in KDD_CATEGORIES.items()},
        symlog=frozenset(_ASSUMED),
        target_names=names,
        assumed=frozenset(_ASSUMED),
    )
    return (table.encode(np.float32), table.target) if return_X_y else table
