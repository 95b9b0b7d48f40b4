"""The currencies of filters: one class says what a promise allows, what events cost, what a total proves.

Only currencies with a proof for prices that depend on answers: zCDP (sum of rho; Whitehouse et al.
2023), Gaussian DP (sum of mu^2; Smith and Thakurta 2022, Koskela, Tobaben and Honkela 2022), Renyi
at ONE order fixed beforehand (Feldman and Zrnic 2021), and sums of pure epsilons (Rogers et al.
2016). A currency holds no state: totals are kept by `Filter` and `Ledger`, as exact numbers. A new
one is a file with a class and a line of `CURRENCIES`.
"""

from __future__ import annotations

from ...exceptions import NotSupported
from ._currency import (
    NOTHING,
    Currency,
    GaussianPrivacy,
    PurePrivacy,
    RenyiPrivacy,
    ZeroConcentrated,
)

__all__ = [
    "CURRENCIES",
    "FILTERS",
    "NOTHING",
    "Currency",
    "GaussianPrivacy",
    "PurePrivacy",
    "RenyiPrivacy",
    "ZeroConcentrated",
    "currency_named",
]

CURRENCIES: dict[str, Currency] = {
    currency.name: currency
    for currency in (ZeroConcentrated(), GaussianPrivacy(), RenyiPrivacy(), PurePrivacy())
}
FILTERS = tuple(CURRENCIES)

_NOT_A_FILTER = {
    "pld": "kind='pld' is not a filter: stopping when the privacy loss composed so far reaches the "
    "target has no proof when later prices depend on earlier answers; use 'zcdp', 'gdp' or 'rdp'."
}


def currency_named(kind: str) -> Currency:
    """The registered currency of that name, or a refusal that lists them."""
    if kind not in CURRENCIES:
        unknown = f"kind={kind!r} is unknown; use one of {FILTERS}."
        raise NotSupported(_NOT_A_FILTER.get(kind, unknown))
    return CURRENCIES[kind]
