"""Parameters of scikit-learn's that are none here: which are taken without effect, and why others are refused."""

import difflib
import functools
import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .._messages import as_text, frames_to_caller

__all__ = ["refuse_positions", "take_foreign", "taking_foreign"]

# What comes first in the constructor of an estimator of scikit-learn's.
_FIRST = "alpha", "hidden_layer_sizes", "n_components"

_STEPS = (
    "how long a fit runs is fixed beforehand, since what depends on the data would leak (name a solver and set "
    "solver__steps)"
)
_TABLE = "the table is read in place and never written to"
# Nothing that a user relies on follows from these: a script that sets them runs, and is told what is true here.
IGNORED = {
    "max_iter": _STEPS,
    "tol": _STEPS,
    "n_jobs": "a fit runs on one thread, so that its result does not depend on their number",
    "shuffle": "batches are drawn anew at every step",
    "dual": "each solver has one formulation",
    "intercept_scaling": "the intercept is free of the penalty whatever its scale",
    "copy_X": _TABLE,
    "precompute": "the solver pays for products of the table",
    "selection": "there are no coordinates to go through",
    "cache_size": "no kernel is kept",
    "probability": "predict_proba needs no second fit",
}
# These would change what is fitted.
REFUSED = {
    "early_stopping": "looking at held-out records costs as much as an answer does; set max_iter instead",
    "warm_start": "only linear estimators begin where an earlier fit ended; set max_iter instead",
    "learning_rate": "a solver has a schedule of its own; set solver__schedule instead",
    "multi_class": "DPLogisticRegression alone has a choice of it; leave it out",
}


def take_foreign(kind: type, given: Mapping[str, Any], own: Iterable[str]) -> dict[str, Any]:
    """Return what is given without parameters of scikit-learn's that have no effect here, with one warning of these.

    Those that would change what is fitted are refused, unless they ask for what the estimator does anyway.

    Parameters
    ----------
    kind : type
        The estimator.
    given : mapping
        Values that the user gave, by name.
    own : iterable of str
        Names that the estimator has.
    """
    known = set(own)
    foreign = {name: value for name, value in given.items() if name not in known}
    for name in foreign.keys() & REFUSED:
        if not _is_so(kind, name, foreign[name]):
            raise TypeError(f"{kind.__name__} has no parameter {name!r}: {REFUSED[name]}.")
    without = {name: value for name, value in foreign.items() if name in IGNORED}
    if without:
        warnings.warn(_without_effect(kind, without), UserWarning, stacklevel=frames_to_caller())
    return {k: value for k, value in given.items() if k not in foreign or not _is_taken(k)}


def _is_taken(name: str) -> bool:
    return name in IGNORED or name in REFUSED


def _is_so(kind: type, name: str, value: Any) -> bool:
    """Return True if a value is what the estimator has always; False where it says nothing of it."""
    always = getattr(kind, name, False)
    return type(value) is type(always) and isinstance(value, bool | str) and value == always


def _without_effect(kind: type, given: Mapping[str, Any]) -> str:
    """Return the sentence of parameters without effect: those with one reason together."""
    reasons: dict[str, list[str]] = {}
    for name, value in given.items():
        reasons.setdefault(IGNORED[name], []).append(f"{name}={as_text(value)}")
    told = (
        f"{' and '.join(named)} {'has' if len(named) == 1 else 'have'} no effect: {reason}"
        for reason, named in reasons.items()
    )
    return f"{kind.__name__}: {'; '.join(told)}."


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


def _refuse_misspelt(kind: type, given: Iterable[str], own: Sequence[str]) -> None:
    """Name the parameter that an unknown one resembles; where none does, Python refuses it."""
    for name in given:
        near = [] if name in own else difflib.get_close_matches(name, own, 1)
        if near:
            raise TypeError(
                f"{kind.__name__} got an unexpected keyword argument {name!r}; did you mean {near[0]!r}?"
            )


def taking_foreign(init: Callable[..., None]) -> Callable[..., None]:
    """A constructor with the same signature that takes parameters of scikit-learn's, or says why it does not.

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
        given = take_foreign(type(self), given, names)
        if keywords:
            refuse_positions(type(self), args, names)
            _refuse_misspelt(type(self), given, names)
        init(self, *args, **given)

    return __init__
