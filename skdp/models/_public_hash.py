"""Public numbers that look random: a hash of their places, the same on every machine."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["hash_places"]

Array = np.ndarray[Any, Any]


def hash_places(count: int, seed: int) -> Array:
    """Return numbers spread over [0, 1), by splitmix64 (Steele, Lea and Flood 2014).

    Parameters
    ----------
    count : int
        How many.
    seed : int
        Names a sequence; a longer one of the same seed begins alike.

    Returns
    -------
    ndarray of shape (count,)
    """
    step = 0x9E3779B97F4A7C15
    k = np.arange(1, count + 1, dtype=np.uint64) + np.uint64((seed << 40) % 2**64)
    k *= np.uint64(step)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        k = (k ^ (k >> np.uint64(shift))) * np.uint64(factor)
    k ^= k >> np.uint64(31)
    spread: Array = (k >> np.uint64(11)) * 2.0**-53
    return spread
