"""The seam of searches: runs that are paid for as a whole, of which the best one leaves and nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..entry import quietly
from ..mechanisms import Noise, best_of
from ._seeds import seed_of

__all__ = ["Seeds", "best_trial"]

Result = TypeVar("Result")
_BYTES = 4


class Seeds:
    """Seeds for the parts of a search: None for all, or of a search that is seeded one after the other.

    Parameters
    ----------
    random_state : int, RandomState or None
        The search's.
    """

    def __init__(self, random_state: Any) -> None:
        self.noise = Noise(seed_of(random_state))

    def next(self) -> int | None:
        """A seed that no other part has."""
        if not self.noise.seeded:
            return None
        return int.from_bytes(self.noise.bytes(_BYTES), "little") >> 1


def best_trial(
    run: Callable[[int], tuple[float, Result]],
    weights: Sequence[int],
    odds: Sequence[int],
    seeds: Seeds,
) -> Result | None:
    """Return the release of the best run (see `skdp.mechanisms.best_of`); a run that fails loses against any other.

    Parameters
    ----------
    run : callable
        From the index of a setting to its private score, and what is released with it.
    weights, odds : sequence of int
        Of settings, and of how many runs count.
    seeds : Seeds
        Of the search.
    """

    def safe(setting: int) -> tuple[float, Result | None]:
        found = quietly(lambda: run(setting))
        return (-math.inf, None) if found is None else found

    return best_of(safe, weights, odds, seeds.noise)
