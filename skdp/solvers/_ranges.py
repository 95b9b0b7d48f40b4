"""Hyper-parameters with their ranges beside them: ``steps: int = count(200)``.

Bounds are generous, and such that no product of a few of them leaves the doubles in the middle of a run. A default of
None stands for "chosen from public numbers" and is always allowed.
"""

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

from ..exceptions import NotSupported

__all__ = [
    "Range",
    "batch",
    "clip_bound",
    "count",
    "decay_factor",
    "decay_of_steps",
    "flag",
    "nonnegative",
    "one_of",
    "pair_of_decays",
    "plain",
    "positive",
    "range_of",
    "refuse_out_of_range",
    "sampling_rate",
    "share_of_budget",
    "share_of_itself",
]

_MOST = 10**7  # rounds, which take minutes even without records
_RECORDS = 10**9  # of a batch
_LEAST, _LARGEST = 1e-30, 1e30  # of a size
_EDGE = 1e-9  # how near a share may come to nothing or all


@dataclass(frozen=True)
class Range:
    """Range of a hyper-parameter.

    Parameters
    ----------
    holds : callable
        Whether a value lies there; it must never raise.
    wanted : str
        The end of the sentence "it must be ...".
    """

    holds: Callable[[Any], bool]
    wanted: str


def _field(default: Any, holds: Callable[[Any], bool], wanted: str) -> Any:
    return field(default=default, metadata={"range": Range(holds, wanted)})


def _number(low: float, high: float, *others: float) -> Callable[[Any], bool]:
    """Return a test for numbers from low to high, or one of the others."""

    def holds(value: Any) -> bool:
        real = isinstance(value, numbers.Real) and not isinstance(value, bool)
        return real and bool(low <= value <= high or value in others)

    return holds


_decay = _number(0, 1 - _EDGE)


def count(default: int | None, most: int = _MOST) -> Any:
    """Declare a whole number of 1 or more."""
    lies = _number(1, most)
    told = f"{most:g}" if most > 10**4 else f"{most}"
    return _field(
        default,
        lambda value: isinstance(value, numbers.Integral) and lies(value),
        f"an int from 1 to {told}",
    )


def batch(default: int | None = None) -> Any:
    """Declare a number of records in a batch."""
    return count(default, _RECORDS)


def positive(default: float | None) -> Any:
    """Declare a size above 0."""
    return _field(default, _number(_LEAST, _LARGEST), f"positive: from {_LEAST:g} to {_LARGEST:g}")


def nonnegative(default: float | None) -> Any:
    """Declare a size that may be 0."""
    wanted = f"0, or positive: from {_LEAST:g} to {_LARGEST:g}"
    return _field(default, _number(_LEAST, _LARGEST, 0), wanted)


def clip_bound(default: float | None = None, unbounded: bool = False) -> Any:
    """Declare a bound on one record's gradient; infinite only where a loss's own bound then counts."""
    if unbounded:
        wanted = f"from {_LEAST:g} to {_LARGEST:g}, or inf where no clip is wanted"
        return _field(default, _number(_LEAST, _LARGEST, math.inf), wanted)
    return _field(default, _number(_LEAST, _LARGEST), f"from {_LEAST:g} to {_LARGEST:g}")


def sampling_rate(default: float) -> Any:
    """Declare a probability with which a record enters a batch."""
    return _field(default, _number(_EDGE, 1), f"a share of the records, from {_EDGE:g} to 1")


def share_of_budget(default: float | None) -> Any:
    """Declare a share strictly between nothing and all."""
    wanted = f"above 0 and below 1, by {_EDGE:g} or more"
    return _field(default, _number(_EDGE, 1 - _EDGE), wanted)


def decay_factor(default: float) -> Any:
    """Declare the weight of the past in a running mean."""
    return _field(default, _decay, f"at least 0, and below 1 by {_EDGE:g} or more")


def decay_of_steps(default: float) -> Any:
    """Declare a ratio of neighbouring steps, well below 1: with the most candidates no step is 0."""
    return _field(default, _number(1e-4, 0.999), "a ratio from 0.0001 to 0.999")


def share_of_itself(default: float) -> Any:
    """Declare a factor by which something shrinks from a round to the next."""
    return _field(default, _number(_EDGE, 1), f"from {_EDGE:g} to 1")


def pair_of_decays(default: tuple[float, float]) -> Any:
    """Declare two weights of the past."""

    def holds(value: Any) -> bool:
        return isinstance(value, tuple | list) and len(value) == 2 and all(map(_decay, value))

    wanted = f"two numbers, each at least 0, and below 1 by {_EDGE:g} or more"
    return _field(default, holds, wanted)


def flag(default: bool) -> Any:
    """Declare a choice between yes and no."""
    return _field(default, lambda value: isinstance(value, bool), "True or False")


def one_of(default: str, *others: str) -> Any:
    """Declare a choice among names."""
    names = (default, *others)
    told = " or ".join([", ".join(map(repr, names[:-1])), repr(names[-1])])
    return _field(default, lambda value: isinstance(value, str) and value in names, told)


def range_of(solver: Any, name: str) -> Range | None:
    """The range of a hyper-parameter of a solver or of its class; None where none was declared."""
    return next(f.metadata.get("range") for f in fields(solver) if f.name == name)


def refuse_out_of_range(solver: Any) -> None:
    """Refuse a hyper-parameter outside its range, before anything is priced or touched.

    Parameters
    ----------
    solver : Solver
        Whose fields are read; None is allowed where it is the default.
    """
    for parameter in fields(solver):
        value, lies = getattr(solver, parameter.name), parameter.metadata.get("range")
        if lies is None or (value is None and parameter.default is None):
            continue
        if not lies.holds(value):
            raise NotSupported(
                f"solver {solver.name!r} was given {parameter.name}={_shown(value)}; it must be {lies.wanted}."
            )


def plain(solver: Any) -> Any:
    """The solver with Python's own numbers: fractions have no arrays, and numpy's short ones overflow in products.

    Parameters
    ----------
    solver : Solver
        Whose fields are read; the same one where nothing changes.
    """
    given = {f.name: getattr(solver, f.name) for f in fields(solver)}
    changes = {name: _plain(value) for name, value in given.items() if _plain(value) is not value}
    return replace(solver, **changes) if changes else solver


def _plain(value: Any) -> Any:
    if type(value) in (bool, int, float) or not isinstance(value, numbers.Real):
        return value
    try:
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    except (OverflowError, ValueError):  # too large for a double: its range refuses it
        return value


def _shown(value: Any) -> str:
    """A value in a sentence, which a number of a thousand digits or a table would leave."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**30:
        return f"{'-' if value < 0 else ''}1e+{int(math.log10(abs(value)))} or so"
    told = repr(value)
    return told if len(told) <= 60 and told.isprintable() else f"<{type(value).__name__}>"
