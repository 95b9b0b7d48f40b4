"""KDD Cup 1999, network intrusions (UCI, CC BY 4.0): the ten per cent file."""

from functools import partial
from typing import Literal, overload

import numpy as np

from ._encode import Array
from ._fetch import Folder, fetch_kddcup99, locate, read_table
from ._table import Table

__all__ = ["load_kddcup99"]

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
HEADER = tuple(_COLUMNS.split())

CATEGORIES = {
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
BOUNDS = {
    name: (0, _ASSUMED.get(name, _COUNTS.get(name, 1)))
    for name in HEADER
    if name not in CATEGORIES and name != "label"
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
    fetch = partial(fetch_kddcup99, header=HEADER) if download else None
    path = locate("kddcup99/kddcup99_10_percent.csv.gz", data_home, fetch)
    columns = read_table(path, BOUNDS)
    label = columns.pop("label")
    names = ("normal", "attack") if binary else LABELS
    target = (label != "normal").astype(int) if binary else np.searchsorted(names, label)
    table = Table(
        "kddcup99",
        columns,
        target,
        bounds=BOUNDS,
        categories={name: tuple(words.split()) for name, words in CATEGORIES.items()},
        symlog=frozenset(_ASSUMED),
        target_names=names,
        assumed=frozenset(_ASSUMED),
    )
    return (table.encode(np.float32), table.target) if return_X_y else table
