"""Scripts: events in order, run-length coded, so that a million equal steps are one entry."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any, TypeAlias

from ._event import Event, shown

__all__ = ["Script", "checked", "is_whole", "merged", "run_lengths", "scaled", "tally"]

Script: TypeAlias = tuple[tuple[Event, int], ...]

_MOST = 2**53  # repetitions


def run_lengths(events: Iterable[Event]) -> Script:
    """Code a sequence of events as a script of (event, repetitions)."""
    return tuple((event, sum(1 for _ in run)) for event, run in groupby(events))


def merged(runs: Iterable[tuple[Event, int]]) -> Script:
    """The script of runs in order, equal neighbours joined and empty ones left out."""
    script: list[tuple[Event, int]] = []
    for event, count in runs:
        if script and count > 0 and script[-1][0] == event:
            script[-1] = (event, script[-1][1] + count)
        elif count > 0:
            script.append((event, count))
    return tuple(script)


def scaled(script: Script, factor: float) -> Script:
    """Return the script with the noise of every event multiplied by ``factor``."""
    return tuple((event.scaled(factor), count) for event, count in script)


def checked(script: Iterable[Any]) -> Script:
    """The script as a tuple of (event, repetitions), whatever sequences it was written with."""
    try:
        runs = tuple((event, count) for event, count in script)
    except (TypeError, ValueError):
        runs = ((None, 0),)
    for event, _ in runs:
        if not isinstance(event, Event):
            raise ValueError(
                f"script={shown(script)} is not a sequence of (event, repetitions); write for example "
                "((Gaussian(20.0), 3),)."
            )
    return runs


def is_whole(count: Any) -> bool:
    """Return whether a value is a whole number; infinity, NaN and truth values are not."""
    try:
        return not isinstance(count, bool) and int(count) == count
    except (OverflowError, TypeError, ValueError):
        return False


def tally(script: Script) -> dict[Event, int]:
    """Count equal events: the order of a script fixed beforehand does not change its cost."""
    counts: dict[Event, int] = {}
    for event, count in script:
        if not is_whole(count) or count < 0:
            raise ValueError(f"{event} is repeated {count!r} times; give a whole number.")
        if count > _MOST:
            raise ValueError(
                f"{event} is repeated more than 2**53 times, which doubles cannot count; ask less often."
            )
        if count:
            counts[event] = counts.get(event, 0) + int(count)
    return counts
