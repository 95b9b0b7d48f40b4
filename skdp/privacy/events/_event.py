"""The base of all events, and how their numbers are declared."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from numbers import Real
from typing import Any, ClassVar

from ...exceptions import NotSupported

__all__ = ["Event", "fraction", "inverse_noise_field", "noise_field", "opaque_field"]


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


def _number(owner: str, name: str, value: Any, high: float) -> float:
    number = float(value) if isinstance(value, Real) else math.nan
    if not 0 <= number <= high:
        bound = "0 or more" if math.isinf(high) else f"between 0 and {high:g}"
        raise ValueError(f"{owner} was given {name}={value!r}; it must be {bound}.")
    return number


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
            value, high = getattr(self, f.name), f.metadata["high"]
            if isinstance(value, Iterable) and f.type not in ("float", float):
                checked: Any = tuple(_number(owner, f.name, v, high) for v in value)
            else:
                checked = _number(owner, f.name, value, high)
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
