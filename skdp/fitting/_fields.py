"""Estimators whose parameters are fields: constructor and docstring follow from the class's declarations.

The text of a shared parameter stands once: in the docstring of the base that has it as a field, or at the field.
``help(DPRidge)`` shows all of them, each with the default of `DPRidge`. Methods of many packages take rows: what these
are is said here.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, field, fields
from functools import lru_cache
from inspect import Parameter, Signature, signature
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, dataclass_transform

if TYPE_CHECKING:
    from ._parameters import Rule

__all__ = ["FromFields", "attribute", "complete", "entries", "parameter", "rules_of", "sections"]

# How a signature and a docstring are read: what users of scikit-learn look for, then what is a class's own, then what
# privacy needs, then what is rare. Any order would do: all are keywords.
_FIRST = ["epsilon", "delta", "solver", "penalty", "loss", "alpha", "C", "l1_ratio"]
_FIRST += ["fit_intercept", "class_weight"]
_LAST = ["data_norm", "y_bounds", "classes", "neighbors", "n_public", "ledger", "accountant"]
_LAST += ["max_rows_per_group", "max_sample_weight", "clip_predictions", "warm_start"]
_LAST += ["coef_init", "intercept_init", "random_state", "verbose"]

_HEADING = re.compile(r"^(\S[^\n]*)\n-{3,}$\n?", re.MULTILINE)
_ROWS = "X : array-like of shape (n_samples, n_features)\n    Rows."
_DEFAULT = re.compile(r"(?<=, default=).*")


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


def sections(text: str) -> dict[str, str]:
    """Sections of a docstring by their headings; what stands before the first one is under "".

    Parameters
    ----------
    text : str
        A docstring in numpydoc's form.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> sections("Fits.\\n\\nNotes\\n-----\\nWell.")
    {'': 'Fits.', 'Notes': 'Well.'}
    """
    before, *rest = _HEADING.split(inspect.cleandoc(text))
    bodies = {title: body.strip("\n").rstrip() for title, body in zip(rest[::2], rest[1::2])}
    return {"": before.strip()} | bodies


def entries(section: str) -> dict[str, str]:
    """Return the entry of each name in a section; two names in one line share their entry.

    Parameters
    ----------
    section : str
        Of parameters or attributes.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> entries("a, b : int\\n    Sizes.\\nc : str")
    {'a': 'a, b : int\\n    Sizes.', 'b': 'a, b : int\\n    Sizes.', 'c': 'c : str'}
    """
    blocks = map(str.rstrip, re.split(r"^(?=\S)", section, flags=re.MULTILINE))
    return {
        name: block
        for block in blocks
        if block
        for name in re.split(r" : |\n", block)[0].split(", ")
    }


def complete(kind: type) -> None:
    """Add to a class's docstring the parameters and attributes that its bases describe.

    Into those of its methods that say nothing of X: that these are rows.

    Parameters
    ----------
    kind : type
        A class; one without a docstring, as under ``python -OO``, stays so.
    """
    for method in vars(kind).values():
        if inspect.isfunction(method) and not method.__name__.startswith("_"):
            _say_what_rows_are(method)
    own = vars(kind).get("__doc__")
    if own is None:
        return
    rest = sections(own)
    intro = rest.pop("")
    told = _told(kind, "Parameters")
    signature = inspect.signature(kind).parameters.values()
    parameters = [_with_default(told[at.name], at.default) for at in signature if at.name in told]
    rest = {
        "Parameters": "\n".join(dict.fromkeys(parameters)),
        "Attributes": "\n".join(dict.fromkeys(_told(kind, "Attributes").values())),
    } | {title: body for title, body in rest.items() if title not in ("Parameters", "Attributes")}
    kind.__doc__ = intro + "".join(_written(rest.items()))


def _told(kind: type, title: str) -> dict[str, str]:
    """Return the entries of a class and its bases under a heading; the nearest class comes first."""
    found: dict[str, str] = {}
    for base in kind.__mro__:
        for name, block in (
            *_of(base.__doc__ or "", title).items(),
            *_at_fields(base, title).items(),
        ):
            found.setdefault(name, block)
    return found


def _at_fields(kind: type, title: str) -> dict[str, str]:
    """Return the entries that stand at the fields that a class declares, where several classes share them."""
    own = vars(kind).get("__dataclass_fields__", {})
    declared = [own[name] for name in vars(kind).get("__annotations__", {}) if name in own]
    return {
        one.name: one.metadata["text"]
        for one in declared
        if one.metadata.get("text") and one.init == (title == "Parameters")
    }


@lru_cache
def _of(text: str, title: str) -> dict[str, str]:
    """Entries of a docstring under a heading; bases are asked again by all that inherit from them."""
    return entries(sections(text).get(title, ""))


def _say_what_rows_are(method: FunctionType) -> None:
    """Add a Parameters section to the docstring of a method that takes X alone and documents no parameters."""
    told = sections(method.__doc__ or "")
    if method.__doc__ and list(inspect.signature(method).parameters)[1:] == ["X"]:
        rest = {"Parameters": _ROWS} | {title: body for title, body in told.items() if title}
        method.__doc__ = told[""] + "".join(_written(rest.items()))


def _with_default(block: str, default: Any) -> str:
    """An entry with the default of whoever inherits it, written as in a signature."""
    head, *lines = block.split("\n")
    shown = f'"{default}"' if isinstance(default, str) else repr(default).replace("e-0", "e-")
    return "\n".join([_DEFAULT.sub(lambda _: shown, head), *lines])


def _written(parts: Iterable[tuple[str, str]]) -> Iterable[str]:
    """Write sections in numpydoc's form; empty ones are left out."""
    for title, body in parts:
        if body:
            yield f"\n\n{title}\n{'-' * len(title)}\n{body}"
