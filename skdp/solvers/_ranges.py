"""Where hyper-parameters must lie, by their names, which mean the same in every solver.

Bounds are generous, and such that no product of a few of them leaves the doubles in the middle of a run.
"""

import math
import numbers
from dataclasses import fields, replace

from ..exceptions import NotSupported

__all__ = ["plain", "refuse_out_of_range"]

_COUNTS = (
    *("steps", "epochs", "rounds", "splits", "refresh", "max_rounds", "period"),
    "generations",
)
_POSITIVE = (
    *("step_size", "radius", "strength", "rho", "eta", "first_step", "cap", "bound", "reach"),
    *("mutation", "floor", "growth", "widest", "narrowest", "clip"),
)
_SHARES = ("share", "moment_share", "norm_share", "selection_share", "intercept_share")
_DECAYS = ("momentum", "clip_decay", "angle_decay")
_MOST = 10**7  # rounds, which take minutes even on a blank vault
_RECORDS = 10**9  # of a batch
_LEAST, _LARGEST = 1e-30, 1e30  # of a size
_EDGE = 1e-9  # how near a share may come to nothing or all


def _number(low, high, *others):
    """Whether a value is a number from low to high, or one of the others."""

    def test(value):
        real = isinstance(value, numbers.Real) and not isinstance(value, bool)
        return real and (low <= value <= high or value in others)

    return test


def _whole(low, high):
    lies = _number(low, high)
    return lambda value: isinstance(value, numbers.Integral) and lies(value)


_decay = _number(0, 1 - _EDGE)


def _pair_of_decays(value):
    return isinstance(value, tuple | list) and len(value) == 2 and all(map(_decay, value))


# name -> (test, what it must be)
RANGES = {
    **dict.fromkeys(
        _COUNTS, (_whole(1, _MOST), f"a whole number of 1 or more, at most {_MOST:g}, an int")
    ),
    "batch_size": (
        _whole(1, _RECORDS),
        f"a whole number of 1 or more, at most {_RECORDS:g}, an int",
    ),
    "parties": (_whole(1, 10**4), "a whole number of 1 or more, at most 10000, an int"),
    "candidates": (_whole(1, 60), "a whole number from 1 to 60, an int"),
    **dict.fromkeys(
        _POSITIVE, (_number(_LEAST, _LARGEST), f"positive: from {_LEAST:g} to {_LARGEST:g}")
    ),
    "clip": (
        _number(_LEAST, _LARGEST, math.inf),
        f"from {_LEAST:g} to {_LARGEST:g}, or inf where no clip is wanted",
    ),
    "rate": (_number(_EDGE, 1), f"a share of the records, from {_EDGE:g} to 1"),
    **dict.fromkeys(_DECAYS, (_decay, f"at least 0, and below 1 by {_EDGE:g} or more")),
    **dict.fromkeys(
        _SHARES, (_number(_EDGE, 1 - _EDGE), f"above 0 and below 1, by {_EDGE:g} or more")
    ),
    "decay": (_number(_EDGE, 1), f"from {_EDGE:g} to 1"),
    **dict.fromkeys(
        ("convexity", "decrease", "prior"),
        (_number(_LEAST, _LARGEST, 0), f"0, or positive: from {_LEAST:g} to {_LARGEST:g}"),
    ),
    "memory": (_pair_of_decays, f"two numbers, each at least 0, and below 1 by {_EDGE:g} or more"),
    "search_noise": (lambda value: value in ("laplace", "gaussian"), "'laplace' or 'gaussian'"),
    "averaging": (lambda value: isinstance(value, bool), "True or False"),
}


def refuse_out_of_range(solver):
    """Refuse a hyper-parameter outside its range, before anything is priced or touched.

    Parameters
    ----------
    solver : Solver
        Whose fields are read; None is allowed where it is the default.
    """
    for field in fields(solver):
        value = getattr(solver, field.name)
        if field.name not in RANGES or (value is None and field.default is None):
            continue
        lies, wanted = RANGES[field.name]
        if not lies(value):
            raise NotSupported(
                f"solver {solver.name!r} was given {field.name}={_shown(value)}; it must be {wanted}."
            )


def plain(solver):
    """The solver with Python's own numbers: fractions have no arrays, and numpy's short ones overflow in products.

    Parameters
    ----------
    solver : Solver
        Whose fields are read; the same one where nothing changes.
    """
    given = {field.name: getattr(solver, field.name) for field in fields(solver)}
    changes = {name: _plain(value) for name, value in given.items() if _plain(value) is not value}
    return replace(solver, **changes) if changes else solver


def _plain(value):
    if type(value) in (bool, int, float) or not isinstance(value, numbers.Real):
        return value
    try:
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    except (OverflowError, ValueError):  # too large for a double: its range refuses it
        return value


def _shown(value):
    """A value in a sentence, which a number of a thousand digits or a table would leave."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**30:
        return f"{'-' if value < 0 else ''}1e+{int(math.log10(abs(value)))} or so"
    told = repr(value)
    return told if len(told) <= 60 and told.isprintable() else f"<{type(value).__name__}>"
