"""The base of all events, and how their numbers are declared."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from itertools import groupby
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, TypeAlias

from ...exceptions import NotSupported

__all__ = [
    "Event",
    "Script",
    "checked",
    "fraction",
    "inverse_noise_field",
    "is_whole",
    "merged",
    "noise_field",
    "opaque_field",
    "run_lengths",
    "scaled",
    "shown",
    "tally",
    "whole_number",
]


# Least and most beside 0 and inf, of numbers that grow with the noise, shrink with it, or do neither. A loss is the
# square of an inverse noise, and its variance one more square, which doubles must hold.
_ENDS = {1: (1e-50, 1e100), -1: (1e-100, 1e100), 0: (0.0, math.inf)}
_LONGEST = 10**40  # a whole number that errors write out


def noise_field(power: int = 1) -> Any:
    """Declare a field (number or tuple) that is >= 0 and grows as noise**power."""
    return field(metadata={"power": power, "high": math.inf})


def inverse_noise_field(power: int = 1) -> Any:
    """Declare a field (number or tuple) that is >= 0 and shrinks as noise**-power."""
    return noise_field(-power)


def fraction() -> Any:
    """Declare a field (number or tuple) in [0, 1] that does not depend on the noise."""
    return field(metadata={"power": 0, "high": 1.0})


def opaque_field() -> Any:
    """Declare a number that is >= 0 and of which nobody knows how it depends on the noise."""
    return field(metadata={"power": 0, "high": math.inf})


class _Range(NamedTuple):
    high: float
    least: float
    most: float


def _range_of(declared: Any) -> _Range:
    power = declared.metadata.get("power", 0)
    return _Range(declared.metadata["high"], *_ENDS[(power > 0) - (power < 0)])


def _number(owner: str, name: str, value: Any, within: _Range) -> float:
    number, (high, least, most) = _as_double(value), within
    if number is None or not 0 <= number <= high:
        bound = "0 or more" if math.isinf(high) else f"between 0 and {high:g}"
        kind = "a number, " if number is None else ""
        raise ValueError(f"{owner} was given {name}={shown(value)}; it must be {kind}{bound}.")
    if number not in (0.0, math.inf) and not least <= number <= most:
        raise ValueError(
            f"{owner} was given {name}={shown(value)}; it must be 0, inf, or between {least:g} and {most:g}."
        )
    return number


def _numbers(owner: str, name: str, value: Any, within: _Range) -> tuple[float, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise ValueError(f"{owner} was given {name}={shown(value)}; it must be a tuple of numbers.")
    return tuple(_number(owner, name, part, within) for part in value)


def _as_double(value: Any) -> float | None:
    """A real number as a double; None of what is none, and of what no double can hold."""
    value = value.item() if getattr(value, "shape", None) == () else value
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def whole_number(owner: str, name: str, value: Any, least: int = 1, most: int = 2**53) -> int:
    """The value as an int, or a refusal of what is no whole number in this range.

    Parameters
    ----------
    owner, name : str
        Of the event and its field.
    value : object
        What was given.
    least, most : int
        Ends of the range; a double counts to 2**53.
    """
    value = value.item() if getattr(value, "shape", None) == () else value
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or not least <= value <= most:
        top = "" if most == 2**53 else f" and at most {most}"
        raise ValueError(
            f"{owner} was given {name}={shown(value)}; it must be a whole number, {least} or more{top}."
        )
    return int(value)


def shown(value: Any) -> str:
    """A value as an error says it: cut where it is long."""
    if isinstance(value, Integral) and abs(int(value)) > _LONGEST:
        return f"a number of {int(value).bit_length()} bits"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _times(value: float, factor: float, power: int) -> float:
    """value * factor**power, where no noise (factor 0) turns any positive epsilon infinite."""
    if power >= 0 or value == 0:
        return value * factor**power if power >= 0 else 0.0
    return math.inf if factor == 0 else value / factor**-power


@dataclass(frozen=True)
class Event:
    """Base of all events.

    A subclass declares its numbers with `noise_field`, `inverse_noise_field` and `fraction`, which
    gives it validation and `scaled`; an event whose noise cannot be scaled sets ``scalable = False``.
    """

    scalable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        owner = type(self).__name__
        for f in fields(self):
            if "high" not in f.metadata:
                continue
            value, many = getattr(self, f.name), "tuple" in str(f.type)
            checked: Any = (_numbers if many else _number)(owner, f.name, value, _range_of(f))
            object.__setattr__(self, f.name, checked)

    def scaled(self, factor: float) -> Event:
        """Return the event of the same mechanism with its noise multiplied by ``factor``."""
        if not self.scalable:
            raise NotSupported(
                f"{type(self).__name__} has no single noise scale; calibrate it through a function "
                "from the scale to the script."
            )
        changed: dict[str, Any] = {}
        for f in fields(self):
            power = f.metadata.get("power", 0)
            value = getattr(self, f.name)
            if power and isinstance(value, tuple):
                changed[f.name] = tuple(_times(v, factor, power) for v in value)
            elif power:
                changed[f.name] = _times(value, factor, power)
        return replace(self, **changed)


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
