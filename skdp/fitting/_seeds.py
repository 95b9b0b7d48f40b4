"""What a random state may be, and the seed that it stands for."""

from __future__ import annotations

import hashlib
import numbers
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from .._fingerprint import told_apart
from ..exceptions import PrivacyWarning
from ..privacy.receipt import Receipt
from ._parameters import SeedSource
from ._tables import attempt
from ._warning import frames_to_caller

if TYPE_CHECKING:
    from ..privacy import Ledger

__all__ = ["SEEDS", "seed_of", "warn_of_seed"]


def _serves(value: Any) -> bool:
    """Whether scikit-learn's, and this library's, random states may be made of it."""
    if isinstance(value, numbers.Integral):
        return not isinstance(value, bool) and int(value) >= 0
    return attempt(lambda: check_random_state(value))[1] is None


SEEDS = (
    _serves,
    "must be a whole number of 0 or more, a RandomState, or None for noise that nobody knows",
)


def seed_of(random_state: int | SeedSource | None, earlier: Receipt | None = None) -> int | None:
    """None stays None; anything else is a fixed seed, and the receipt says so.

    Parameters
    ----------
    random_state : int, RandomState or None
        As an estimator has it.
    earlier : Receipt or None
        Of the fit at whose end this one begins. One receipt adds up both, which is true of noises that differ: so each
        fit of such a sequence has a seed of its own, that follows from this one.
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
            f"random_state={random_state!r} beside a ledger: fits that share a seed share their noise, so "
            "their costs do not add up as the ledger counts; use random_state=None.",
            PrivacyWarning,
            stacklevel=frames_to_caller(),
        )
