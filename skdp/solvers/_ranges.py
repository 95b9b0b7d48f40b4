"""Where hyper-parameters must lie, by their names, which mean the same in every solver."""

import math
import numbers
from dataclasses import fields

__all__ = ["refuse_out_of_range"]

_COUNTS = (
    *("steps", "epochs", "rounds", "splits", "refresh", "max_rounds", "candidates", "period"),
    *("generations", "batch_size", "parties"),
)
_POSITIVE = ("clip", "step_size", "radius", "strength", "rho", "eta", "first_step", "cap", "bound")

# name -> (test, what it must be)
RANGES = {
    **dict.fromkeys(
        _COUNTS, (lambda v: v >= 1 and float(v).is_integer(), "a whole number of 1 or more")
    ),
    **dict.fromkeys(_POSITIVE, (lambda v: v > 0, "positive")),
    "rate": (lambda v: 0 < v <= 1, "above 0 and at most 1"),
    "momentum": (lambda v: 0 <= v < 1, "at least 0 and below 1"),
    **dict.fromkeys(("moment_share", "norm_share"), (lambda v: 0 < v < 1, "above 0 and below 1")),
    "convexity": (lambda v: v >= 0, "0 or more"),
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
        number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        if not number or math.isnan(value) or not lies(value):
            raise ValueError(
                f"solver {solver.name!r} was given {field.name}={value!r}; it must be {wanted}."
            )
