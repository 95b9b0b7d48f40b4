"""Estimators whose parameters are fields: constructor and docstring follow from the class's declarations."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, ClassVar, Literal, dataclass_transform

from ._documented import complete

if TYPE_CHECKING:
    from ._parameters import Rule

__all__ = ["FromFields", "attribute", "parameter", "rules_of"]

# How a signature and a docstring are read: what users of scikit-learn look for, then what is a class's own, then what
# privacy needs, then what is rare. Any order would do: all are keywords.
_FIRST = ["epsilon", "delta", "solver", "penalty", "loss", "alpha", "C", "l1_ratio"]
_FIRST += ["fit_intercept", "class_weight"]
_LAST = ["data_norm", "y_bounds", "classes", "neighbors", "n_public", "ledger", "accountant"]
_LAST += ["max_rows_per_group", "max_sample_weight", "clip_predictions", "warm_start"]
_LAST += ["coef_init", "intercept_init", "random_state", "verbose"]


def parameter(default: Any, text: str | None = None, rule: Rule | None = None) -> Any:
    """Return the field of a parameter with what several classes share of it: its entry in docstrings, or its rule."""
    return field(default=default, metadata={"text": text, "rule": rule})


def attribute(text: str, *, init: Literal[False] = False) -> Any:
    """Return the field of what a fit sets, with its entry in docstrings."""
    return field(init=init, metadata={"text": text})


def rules_of(kind: Any) -> dict[str, Rule]:
    """Return the rules that stand at the fields of a class; those of the nearest base, where a default is another."""
    found: dict[str, Rule] = {}
    for base in kind.__mro__:
        for one in vars(base).get("__dataclass_fields__", {}).values():
            if one.metadata.get("rule") is not None:
                found.setdefault(one.name, one.metadata["rule"])
    return found


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field, attribute))
class FromFields:
    """Base of the estimators whose parameters are fields with defaults, as those of a dataclass.

    A subclass declares what it adds, or what has another default. All are keywords; ``field(kw_only=False)`` says
    otherwise. What a fit sets is no parameter: ``field(init=False)``. Its docstring describes its own parameters and
    attributes; those of its bases are put in. A constructor that is written by hand stays.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> class Shift(FromFields, BaseEstimator):
    ...     by: float = 1.0
    >>> class FarShift(Shift):
    ...     by: float = 100.0
    ...     twice: bool = False
    >>> FarShift(twice=True).get_params()
    {'by': 100.0, 'twice': True}
    """

    _by_hand: ClassVar[bool] = False

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        if "__init__" in vars(cls):
            cls._by_hand = True
        own = cls.__doc__
        cls.__doc__ = own or "Not one that a dataclass makes up."
        dataclass(init=not cls._by_hand, repr=False, eq=False, kw_only=True)(cls)
        if not cls._by_hand:
            _order(cls)
        cls.__doc__ = own
        _refuse_required(cls)
        complete(cls)


def _refuse_required(kind: Any) -> None:
    """Refuse a keyword without a default.

    All keywords have defaults, as in scikit-learn; a positional parameter need not, such as the estimator of a search.
    """
    for given in fields(kind):
        if given.init and given.kw_only and not kind._by_hand and given.default is MISSING:
            raise TypeError(
                f"{kind.__name__}.{given.name} has no default; give one, or field(init=False) if a fit sets it."
            )


def _order(kind: type) -> None:
    """Let a constructor show its keywords in the order of reading, without types: the docstring has them."""
    constructor: Any = vars(kind)["__init__"]
    shown = [
        one.replace(annotation=Parameter.empty)
        for one in signature(constructor).parameters.values()
    ]
    places = [one for one in shown if one.kind is not Parameter.KEYWORD_ONLY]
    words = {one.name: one for one in shown if one.kind is Parameter.KEYWORD_ONLY}
    own = [name for name in words if name not in _FIRST and name not in _LAST]
    names = [name for name in (*_FIRST, *own, *_LAST) if name in words]
    constructor.__signature__ = Signature([*places, *(words[name] for name in names)])
