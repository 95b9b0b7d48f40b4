"""Random states that an estimator takes, and the seed that each stands for."""

from __future__ import annotations

import hashlib
import numbers
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from .._fingerprint import told_apart
from .._messages import frames_to_caller
from ..entry import attempt
from ..exceptions import PrivacyWarning
from ..privacy.receipt import Receipt
from ._parameters import SeedSource

if TYPE_CHECKING:
    from ..privacy import Ledger

__all__ = ["SEEDS", "seed_of", "warn_of_seed"]


def _serves(value: Any) -> bool:
    """Return True if scikit-learn and this library can both make a random state of the value."""
    if isinstance(value, numbers.Integral):
        return not isinstance(value, bool) and int(value) >= 0
    return attempt(lambda: check_random_state(value))[1] is None


SEEDS = (
    _serves,
    "must be a whole number of 0 or more, a RandomState, or None for noise that nobody knows",
)


def seed_of(random_state: int | SeedSource | None, earlier: Receipt | None = None) -> int | None:
    """Return the seed of a random state; None stays None, and the receipt says that any other seed is fixed.

    Parameters
    ----------
    random_state : int, RandomState or None
        As an estimator has it.
    earlier : Receipt or None
        Receipt of the fit that this one continues. One receipt adds up both costs, which needs independent noise: so
        each fit of the sequence gets a seed of its own, derived from this one.
    """
    if random_state is None:
        return None
    seed = _whole(random_state)
    if earlier is None:
        return seed
    told = hashlib.sha256(f"{seed} {told_apart(earlier)}".encode())
    return int.from_bytes(told.digest()[:16])


def _whole(random_state: Any) -> int:
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def warn_of_seed(ledger: Ledger | None, random_state: int | SeedSource | None) -> None:
    """Warn of a seed beside a shared budget."""
    if ledger is not None and random_state is not None:
        warnings.warn(
            f"random_state={random_state!r} with a ledger: fits that share a seed share their noise, so their costs "
            "do not add up as the ledger counts; use random_state=None.",
            PrivacyWarning,
            stacklevel=frames_to_caller(),
        )
