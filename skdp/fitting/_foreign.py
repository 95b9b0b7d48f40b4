"""Parameters of scikit-learn's estimators that have no meaning here: why, and what to use instead."""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .._messages import as_text

__all__ = ["refuse_foreign", "refuse_positions", "refusing_foreign"]

# What comes first in the constructor of an estimator of scikit-learn's.
_FIRST = "alpha", "hidden_layer_sizes", "n_components"

_STEPS = "a solver's work is fixed before it runs, since what depends on the data would leak; set solver__steps instead"
FOREIGN = {
    "max_iter": _STEPS,
    "tol": _STEPS,
    "n_jobs": "a fit runs on one thread, so that its result does not depend on their number; fit several models in "
    "threads instead",
    "early_stopping": "looking at held-out records costs as much as an answer does; set max_iter instead",
    "warm_start": "only linear estimators begin where an earlier fit ended; set max_iter instead",
    "shuffle": "batches are drawn anew at every step; leave it out",
    "learning_rate": "a solver has a schedule of its own; set solver__schedule instead",
    "dual": "each solver has one formulation; choose a solver instead",
    "intercept_scaling": "the intercept is free of the penalty whatever its scale; leave it out",
    "copy_X": "the table is never written to; leave it out",
    "precompute": "the solver pays for products of the table; leave it out",
    "selection": "there are no coordinates to go through; leave it out",
    "probability": "predict_proba needs no second fit; leave it out",
}


def refuse_foreign(kind: type, given: Iterable[str], own: Iterable[str]) -> None:
    """Say why a parameter of scikit-learn's is none here.

    Parameters
    ----------
    kind : type
        The estimator.
    given : iterable of str
        Names that the user gave.
    own : iterable of str
        Names that the estimator has.
    """
    for name in given:
        if name in FOREIGN and name not in own:
            raise TypeError(f"{kind.__name__} has no parameter {name!r}: {FOREIGN[name]}.")


def refuse_positions(kind: type, given: Sequence[Any], own: Iterable[str]) -> None:
    """Say that parameters go by name: the first one is another in scikit-learn's estimators than it would be here.

    Parameters
    ----------
    kind : type
        The estimator.
    given : sequence
        Values without a name.
    own : iterable of str
        Names that the estimator has.
    """
    if not given:
        return
    known = set(own)
    names = [name for name in ("epsilon", *_FIRST) if name in known]
    written = " or ".join(f"{kind.__name__}({name}=...)" for name in names)
    raise TypeError(
        f"{kind.__name__} takes keyword arguments only, got {as_text(given[0])} without a name; write {written}."
    )


def refusing_foreign(init: Callable[..., None]) -> Callable[..., None]:
    """A constructor with the same signature that says so of the names that it is given.

    Parameters
    ----------
    init : callable
        An estimator's ``__init__``.

    Returns
    -------
    callable
    """
    _, *own = inspect.signature(init).parameters.values()
    names = [parameter.name for parameter in own]
    keywords = all(parameter.kind is parameter.KEYWORD_ONLY for parameter in own)

    @functools.wraps(init)
    def __init__(self: Any, *args: Any, **given: Any) -> None:
        refuse_foreign(type(self), given, names)
        if keywords:
            refuse_positions(type(self), args, names)
        init(self, *args, **given)

    return __init__
