"""The best of a random number of runs, of which nothing else leaves (docs/proofs/selection.md)."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TypeVar

from ._strips import Bits, big

__all__ = ["best_of", "drawn"]

Result = TypeVar("Result")
_FURTHER = 64  # bits beyond those that a total needs, so that a draw is hardly ever rejected


def drawn(odds: Sequence[int], source: Bits) -> int:
    """An index with probability exactly proportional to these whole numbers."""
    total = sum(odds)
    bits = (total.bit_length() + _FURTHER + 7) // 8 * 8
    limit = (1 << bits) // total * total
    word = big(source, bits)
    while word >= limit:  # else the first ones would be likelier
        word = big(source, bits)
    return bisect_right(list(accumulate(odds)), word % total)


def best_of(
    run: Callable[[int], tuple[float, Result]],
    weights: Sequence[int],
    odds: Sequence[int],
    source: Bits,
) -> Result | None:
    """Return what the best of the first K runs released, K drawn by these odds; None if no score is a number.

    All runs that K might allow are made, whatever it is, so that their number tells nothing. K and all settings are
    drawn before the first run. Among equal scores the first wins.

    Parameters
    ----------
    run : callable
        From the index of a setting to a private score, and what is released with it. Runs must not share randomness.
    weights : sequence of int
        How likely each setting is, in proportion.
    odds : sequence of int
        How likely each number of runs is, from 1 on.
    source : Bits
        Where random bits come from.
    """
    count = 1 + drawn(odds, source)
    settings = [drawn(weights, source) for _ in odds]
    best, kept = -math.inf, None
    for number, setting in enumerate(settings):
        score, released = run(setting)
        if number < count and score > best:
            best, kept = score, released
    return kept
