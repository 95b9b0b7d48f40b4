"""Values that each parameter of an estimator may take, and the message that refuses others before data is looked at.

A sentence shows a number, a word or None as it was given, and of anything else the type only: it may be data that
took a wrong turn, as in ``DPLogisticRegression(X, y)``.
"""

import math
import numbers
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np

from .._messages import as_text
from ..entry import attempt
from ..losses import LOSSES, Loss
from ..models import ACTIVATIONS
from ..penalties import Penalty
from ..privacy.accountants import ACCOUNTANTS
from ..privacy.spec import NEIGHBORS
from ..solvers import CLASS_SOLVERS, SOLVERS, Solver
from ..solvers._solver import THEIRS

__all__ = [
    "MAX_ROWS_PER_GROUP",
    "MAX_SAMPLE_WEIGHT",
    "RULES",
    "Rule",
    "SeedSource",
    "are_bounds",
    "are_bounds_or_several",
    "is_count",
    "loss_rule",
    "one_of",
    "or_open",
    "refuse_wrong",
]

# Entries of docstrings, of parameters that classifiers and regressors share.
MAX_ROWS_PER_GROUP = """max_rows_per_group : int, default=None
    Protects persons with several rows: the most rows of one that enter a fit, which then takes ``groups``. None
    where every row is a person's only one."""
MAX_SAMPLE_WEIGHT = """max_sample_weight : float, default=None
    Public bound on what a row weighs; heavier ones count with it, and None stands for 1. Noise is made for a row of
    this weight, so weights far below it drown in noise: declare about the largest that you expect."""

MOST = 2**53  # counts up to which a double holds every whole number
LARGEST, NARROWEST = 1e30, 1e-12  # of bounds on a target


class SeedSource(Protocol):
    """Source of a seed: numpy's RandomState."""

    def randint(self, high: int, /) -> Any:
        """A whole number from 0 to below `high`."""


Test = Callable[[Any], bool]
Rule = tuple[Test, str]


def _real(value: Any) -> float:
    """Return the value as a double; NaN, which lies in no range, for a non-number or one too large for a double."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except (OverflowError, ValueError):
        return math.nan


def _between(low: float, high: float, *others: float) -> Test:
    """Return a test: is a value a number from low to high, or one of the others?"""

    def lies(value: Any) -> bool:
        return low <= _real(value) <= high or any(_real(value) == other for other in others)

    return lies


def is_count(value: Any) -> bool:
    """Return True if a value is a whole number from 1 to 2**53."""
    return isinstance(value, numbers.Integral) and not _flag(value) and 1 <= int(value) <= MOST


def _width(value: Any) -> bool:
    return is_count(value) and int(value) <= 10**6


def _listing(value: Any) -> bool:
    return isinstance(value, list | tuple)


def one_of(kinds: type | tuple[type, ...], *words: str) -> Test:
    """Return a test: is a value an instance of the kinds, or one of the words?"""

    def lies(value: Any) -> bool:
        return isinstance(value, kinds) or (isinstance(value, str) and value in words)

    return lies


def _finite(value: Any) -> bool:
    """Return True if a value is a number, or an array of numbers, all of them finite."""
    if isinstance(value, str | bytes | dict | set):
        return False
    found, wrong = attempt(lambda: np.asarray(value))
    return wrong is None and found.dtype.kind in "iuf" and bool(np.isfinite(found).all())


def _or_none(lies: Test) -> Test:
    return lambda value: value is None or lies(value)


def _flag(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _level(value: Any) -> bool:
    return _flag(value) or (isinstance(value, numbers.Integral) and int(value) >= 0)


def _by_label(value: Any) -> bool:
    if isinstance(value, str):
        return value == "balanced"
    return isinstance(value, dict) and all(map(_between(1e-30, 1e30, 0.0), value.values()))


def _listed(words: Iterable[str]) -> str:
    return ", ".join(map(repr, words))


# name -> (test, what it must be, with the remedy). Bounds are generous, and such that no product or quotient of two of
# them leaves the doubles.
def _is_ledger(value: Any) -> bool:
    from ..privacy import Ledger

    return isinstance(value, Ledger)


def are_bounds(value: Any) -> bool:
    """Return True if a value is a pair of numbers, the first below the second, both of a size that doubles can hold."""
    shape, kind = attempt(lambda: np.shape(value))
    if not isinstance(value, tuple | list | np.ndarray) or kind is not None or shape != (2,):
        return False
    if not all(isinstance(v, numbers.Real) and not isinstance(v, bool) for v in value):
        return False
    pair, kind = attempt(lambda: [float(v) for v in value])
    if kind is not None or not all(abs(v) <= LARGEST for v in pair):  # NaN is no less than anything
        return False
    return pair[1] - pair[0] > NARROWEST * max(1e-18, *map(abs, pair))


def are_bounds_or_several(value: Any) -> bool:
    """Return True if a value is one pair of bounds, or a list of such pairs."""
    shape, kind = attempt(lambda: np.shape(value))
    if kind is not None or not isinstance(value, tuple | list | np.ndarray) or len(shape) != 2:
        return are_bounds(value)
    return shape[0] > 0 and all(map(are_bounds, value))


RULES: dict[str, Rule] = {
    "epsilon": (
        lambda value: _real(value) > 0 and _between(0.0, 1e15, math.inf)(value),
        "must be a positive number of at most 1e15; use float('inf') for no privacy",
    ),
    "delta": (
        lambda value: _real(value) < 1 and _between(1e-300, 1.0, 0.0)(value),
        "must be 0 or lie in [1e-300, 1); choose it well below 1/n, for example 1e-6",
    ),
    "data_norm": (
        _or_none(_between(1e-30, 1e30)),
        "must be a number between 1e-30 and 1e30: declare a bound on the norm of a row that you know without looking "
        "at the data (rows beyond it are scaled down); with columns scaled to [-1, 1] by public bounds, "
        "sqrt(n_features) always holds; None estimates bounds privately",
    ),
    "C": (
        _between(1e-100, 1e100, math.inf),
        "must be a number between 1e-100 and 1e100, or inf for no penalty: it is the inverse strength of the penalty, "
        "as in scikit-learn",
    ),
    "l1_ratio": (
        _or_none(_between(0.0, 1.0)),
        "must lie in [0, 1], or be None; 0.5 is half and half",
    ),
    "coef_init": (
        _or_none(_finite),
        "must be an array of finite numbers, as many as coef_ has: public coefficients to begin at, or None",
    ),
    "intercept_init": (
        _or_none(_finite),
        "must be finite numbers, as many as intercept_ has: a public intercept to begin at, or None",
    ),
    "warm_start": (_flag, "must be True or False"),
    "fit_intercept": (_flag, "must be True or False"),
    "positive": (_flag, "must be True or False"),
    "neighbors": (
        one_of((), *NEIGHBORS),
        "is not a relation; use 'replace_one' (n is public) or 'add_remove' (n is private)",
    ),
    "n_public": (
        _or_none(_between(1, MOST)),
        "must be a number from 1 to 2**53: declare a rough count, or None to estimate it privately",
    ),
    "solver": (
        one_of(Solver, "auto", *SOLVERS, *CLASS_SOLVERS, *THEIRS),
        f"is not known; use one of {_listed(['auto', *sorted([*SOLVERS, *CLASS_SOLVERS])])} or an instance from "
        "skdp.solvers",
    ),
    "penalty": (
        _or_none(one_of((Penalty, str))),
        "is not a penalty; use 'auto', 'l1', 'l2', 'elasticnet', None or an instance from skdp.penalties",
    ),
    "alpha": (
        _between(1e-100, 1e100, 0.0),
        "must be 0, or a number between 1e-100 and 1e100: it is the strength of the penalty, as in scikit-learn",
    ),
    "margin": (
        _or_none(_between(1e-30, 1e30, 0.0)),
        "must be 0, or a number between 1e-30 and 1e30, in units of the target, or None for 0",
    ),
    "threshold": (
        _or_none(_between(1e-30, 1e30)),
        "must be a number between 1e-30 and 1e30, in units of the target, or None for one by the residuals",
    ),
    "smoothing": (
        _or_none(_between(5e-3, 1.0)),
        "must be a number between 0.005 and 1: how far a corner is rounded, in halves of the declared range; None "
        "follows the noise",
    ),
    "quantile": (
        lambda value: 0.0 < _real(value) < 1.0,
        "must lie between 0 and 1; the median is 0.5",
    ),
    "y_bounds": (
        are_bounds,
        "must be two numbers of size up to 1e30, (low, high) with low < high: declare bounds on the target that you "
        "know without looking at the data (targets beyond them are cut)",
    ),
    "hidden_layer_sizes": (
        lambda value: (
            _width(value) or (_listing(value) and len(value) > 0 and all(map(_width, value)))
        ),
        "must be a number of units from 1 to 1e6, or a tuple of one or more such numbers, one for each hidden layer",
    ),
    "activation": (
        one_of((), *ACTIVATIONS),
        f"is not known; use one of {_listed(ACTIVATIONS)}",
    ),
    "batch_size": (
        _or_none(is_count),
        "must be a whole number from 1 to 2**53: the records that are expected in a batch, or None for the solver's "
        "own rate",
    ),
    "max_iter": (
        _or_none(lambda value: is_count(value) and int(value) <= 1e6),
        "must be a whole number from 1 to 1e6: the epochs, all of which are made, or None for the solver's own steps",
    ),
    "learning_rate_init": (
        _or_none(_between(1e-30, 1e30)),
        "must be a number between 1e-30 and 1e30, or None for a step that noise allows",
    ),
    "huber_threshold": (
        _or_none(_between(1e-30, 1e30)),
        "must be a number between 1e-30 and 1e30, in units of the target, or None for squares everywhere",
    ),
    "clip_predictions": (_flag, "must be True or False"),
    "h": (_between(1e-30, 1e30), "must be a number between 1e-30 and 1e30; the usual is 0.5"),
    "max_rows_per_group": (
        _or_none(is_count),
        "must be a whole number from 1 to 2**53: the most rows of one person that enter a fit, or None where every row "
        "is a person's only one",
    ),
    "max_sample_weight": (
        _or_none(_between(1e-30, 1e30)),
        "must be a number between 1e-30 and 1e30: the largest weight that a row counts with, or None for 1",
    ),
    "class_weight": (
        _or_none(_by_label),
        "must be a dict of label: weight, each weight 0 or a number between 1e-30 and 1e30, or 'balanced', which "
        "estimates the counts of the classes privately, or None",
    ),
    "calibrate": (
        lambda value: _flag(value) or one_of((), "auto")(value),
        "must be True, False or 'auto', which calibrates where public numbers say that it helps",
    ),
    "multi_class": (
        one_of((), "multinomial", "ovr", "auto"),
        "is not known; use 'multinomial', one fit of all classes, or 'ovr', one fit for each class against the rest",
    ),
    "accountant": (one_of((), *ACCOUNTANTS), f"is unknown; use one of {_listed(ACCOUNTANTS)}"),
    "ledger": (
        _or_none(_is_ledger),
        "must be a skdp.privacy.Ledger, or None for a fit that shares no budget",
    ),
    "verbose": (
        _level,
        "must be 0 for no output, 1 for the receipt, or 2 for a progress bar as well",
    ),
    # Not of the estimator, but of its quote:
    "n": (is_count, "must be a whole number from 1 to 2**53: the records that a fit would see"),
    "n_classes": (
        lambda value: is_count(value) and int(value) >= 2,
        "must be a whole number from 2 to 2**53: the classes that a fit would see",
    ),
    "base_rate": (
        lambda value: 0.0 < _real(value) < 1.0,
        "must be a number between 0 and 1: the share of one of two labels, as far as it is public",
    ),
    "n_features": (
        is_count,
        "must be a whole number from 1 to 2**53: the columns that a fit would see",
    ),
}


def or_open(rule: Rule) -> Rule:
    """The rule of a strength that may be left to the scale of the rows."""
    lies, told = rule
    return _or_none(lies), f"{told}; or None for one that follows the scale of the rows"


def loss_rule() -> Rule:
    """Return the rule of ``loss`` for two classes: a known name, or an instance with one score."""
    names = tuple(name for name, kind in LOSSES.items() if kind.kind == "binary")
    return (
        lambda value: one_of((), *names)(value) or (isinstance(value, Loss) and value.outputs == 1),
        f"is not known; use {_listed(names)} or an instance of one score from skdp.losses",
    )


def refuse_wrong(given: dict[str, Any], rules: dict[str, Rule] = RULES) -> None:
    """Refuse the first value that breaks the rule of its parameter, in one sentence.

    Parameters
    ----------
    given : dict
        Parameters by name; those without a rule are let through.
    rules : dict
        name -> (test, what it must be).

    Examples
    --------
    >>> refuse_wrong({"C": 0.5, "fit_intercept": "no"})
    Traceback (most recent call last):
    ...
    ValueError: fit_intercept='no' must be True or False.
    """
    for name, value in given.items():
        if name in rules and not rules[name][0](value):
            raise ValueError(f"{name}={as_text(value)} {rules[name][1]}.")
