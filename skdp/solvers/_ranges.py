"""Where hyper-parameters must lie, by their names, which mean the same in every solver."""

import math
import numbers
from dataclasses import fields

__all__ = ["refuse_out_of_range"]

_COUNTS = (
    *("steps", "epochs", "rounds", "splits", "refresh", "max_rounds", "period"),
    *("generations", "batch_size", "parties"),
)
_POSITIVE = (
    *("step_size", "radius", "strength", "rho", "eta", "first_step", "cap", "bound", "reach"),
    *("mutation", "floor", "growth", "widest", "narrowest"),
)
_SHARES = ("share", "moment_share", "norm_share", "selection_share", "intercept_share")
_DECAYS = ("momentum", "clip_decay", "angle_decay")


def _number(lies):
    def test(value):
        real = isinstance(value, numbers.Real) and not isinstance(value, bool)
        return real and not math.isnan(value) and lies(value)

    return test


def _whole(lies):
    return _number(lambda v: isinstance(v, numbers.Integral) and lies(v))


def _pair_of_decays(value):
    decay = _number(lambda v: 0 <= v < 1)
    return isinstance(value, tuple | list) and len(value) == 2 and all(map(decay, value))


# name -> (test, what it must be)
RANGES = {
    **dict.fromkeys(_COUNTS, (_whole(lambda v: v >= 1), "a whole number of 1 or more, an int")),
    "candidates": (_whole(lambda v: 1 <= v <= 60), "a whole number from 1 to 60, an int"),
    **dict.fromkeys(_POSITIVE, (_number(lambda v: 0 < v < math.inf), "positive and finite")),
    "clip": (
        _number(lambda v: 1e-30 <= v <= 1e100 or v == math.inf),
        "from 1e-30 to 1e100, or inf where no clip is wanted",
    ),
    "rate": (_number(lambda v: 0 < v <= 1), "above 0 and at most 1"),
    **dict.fromkeys(_DECAYS, (_number(lambda v: 0 <= v < 1), "at least 0 and below 1")),
    **dict.fromkeys(_SHARES, (_number(lambda v: 0 < v < 1), "above 0 and below 1")),
    "decay": (_number(lambda v: 0 < v <= 1), "above 0 and at most 1"),
    **dict.fromkeys(
        ("convexity", "decrease", "prior"),
        (_number(lambda v: 0 <= v < math.inf), "0 or more, and finite"),
    ),
    "memory": (_pair_of_decays, "two numbers, each at least 0 and below 1"),
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
            raise ValueError(
                f"solver {solver.name!r} was given {field.name}={value!r}; it must be {wanted}."
            )
