"""Hashes of all that a fit has left, by which a receipt knows its model.

A digest is a function of values alone: of types, shapes and bits, never of addresses, the order of a dictionary, the
layout of an array, the platform or the process. Whatever follows this rule is hashed in version 2:

* every attribute of the model that is neither private nor a parameter, and private ones that its class declares as a
  field which a fit sets (``field(init=False)``);
* its parameters, together, but for those that say how a fit is made and nothing of the model. A seed is among these:
  its hash would tell it to whoever tries all seeds;
* its class.

What is not hashed is named in `_APART`, with the form that it has where this library left it there.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
from scipy.sparse import issparse

__all__ = ["VERSION", "fingerprint", "first_fingerprint", "strangers", "told_apart"]

VERSION = "sha256/2:"  # in front of each digest; without one, it is of the first version

_DIRECT = "biufcmMSU"  # kinds of arrays whose bytes are their values
_DEEP = 50  # values within values, beyond which only names are told
_BY_TEXT = (date, timedelta, Decimal, Fraction, range)  # types whose text is their value


def fingerprint(model: Any) -> dict[str, str]:
    """SHA-256 of all that a fit has left, by the attribute's name.

    Parameters
    ----------
    model : object
        A fitted estimator.

    Returns
    -------
    dict of str to str
        Also of its ``"class"`` and, together, of its ``"parameters"``.
    """
    given = _parameters(model)
    told = {"class": _of_class(model)}
    if given is not None:
        told["parameters"] = _digest(_bound(given))
    told |= {name: _digest(value) for name, value in _left_by_fit(model).items()}
    return {name: VERSION + told[name].hex() for name in sorted(told)}


def strangers(model: Any) -> list[str]:
    """Return private attributes that nothing declares: neither a fit's, nor a setting that a clone would keep.

    Parameters
    ----------
    model : object
        A fitted estimator.
    """
    from sklearn.base import clone

    known = set(_left_by_fit(model)) | set(_parameters(model) or ())
    found = sorted(set(_bound(_state(model))) - known)
    cloned = set(vars(clone(model))) - set(_APART) if found else set()
    return [name for name in found if name not in cloned]


def first_fingerprint(model: Any) -> dict[str, str]:
    """Version 1, of floats alone, for receipts that were written with it.

    Parameters
    ----------
    model : object
        A fitted estimator.
    """
    dense = {n: v.toarray() if issparse(v) else v for n, v in _state(model).items()}
    fitted = {
        name: np.asarray(value)
        for name, value in dense.items()
        if name.endswith("_") and not name.startswith("_") and _are_floats(value)
    }
    return {name: _first_digest(name, fitted[name]) for name in sorted(fitted)}


def told_apart(receipt: Any) -> str:
    """Return the SHA-256 of a receipt's script and of its model, which no two fits share.

    Parameters
    ----------
    receipt : Receipt
        Of a model that it knows.
    """
    told = repr((receipt.script, sorted(receipt.model.items())))
    return hashlib.sha256(told.encode()).hexdigest()


def _are_floats(value: Any) -> bool:
    return isinstance(value, float) or (
        isinstance(value, np.ndarray | np.floating)
        and value.dtype.kind == "f"
        and value.dtype.itemsize <= 8
    )


def _first_digest(name: str, value: np.ndarray[Any, Any]) -> str:
    """Return the digest of a name, a shape, and the numbers as doubles of one byte order."""
    told = hashlib.sha256(f"{name}{value.shape}".encode())
    told.update(np.ascontiguousarray(value, dtype="<f8").tobytes())
    return told.hexdigest()


# ------------------------------------------------------------------------------- what belongs to a model


def _state(model: Any) -> dict[str, Any]:
    return dict(getattr(model, "__dict__", {}))


def _bound(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that a receipt binds: all but those that this library keeps apart from a model."""
    return {
        name: value
        for name, value in values.items()
        if name not in _APART or not _APART[name](value)
    }


def _parameters(model: Any) -> dict[str, Any] | None:
    """Return the constructor parameters of an estimator; None for anything else."""
    if isinstance(model, type) or not callable(getattr(model, "get_params", None)):
        return None
    found: dict[str, Any] = model.get_params(deep=False)
    return found


def _left_by_fit(model: Any) -> dict[str, Any]:
    declared = {f.name for f in fields(model) if not f.init} if is_dataclass(model) else set()
    given = set(_parameters(model) or ())
    return {
        name: value
        for name, value in _bound(_state(model)).items()
        if name not in given and (not name.startswith("_") or name in declared)
    }


def _is_receipt(value: Any) -> bool:
    from .privacy import Receipt

    return type(value) is Receipt


def _is_ledger(value: Any) -> bool:
    from .privacy import Ledger

    return value is None or type(value) is Ledger


def _is_sent(value: Any) -> bool:
    from .privacy.ledger import Sent

    return type(value) is Sent


def _is_random_state(value: Any) -> bool:
    """Return True if a fit takes the value as a random state, and it has no room for anything else."""
    from .fitting._seeds import SEEDS

    return SEEDS[0](value) and not hasattr(value, "__dict__")


def _is_level(value: Any) -> bool:
    return type(value) in (bool, int, float) or isinstance(value, np.bool_ | np.integer)


def _are_digests(value: Any) -> bool:
    """Return True if the value is a pair of digests: of a ledger and of a receipt."""
    return (
        type(value) is tuple
        and [type(part) for part in value] == [str, str]
        and all(_HEXADECIMAL.fullmatch(part) for part in value)
    )


def _is_class_name(value: Any) -> bool:
    return type(value) is str and value.isidentifier() and len(value) <= _LONGEST_NAME


_HEXADECIMAL = re.compile("[0-9a-f]{32}|[0-9a-f]{64}")
_LONGEST_NAME = 100
# What stands apart from a model and is not hashed, each in the one form that this library gives it: anything else
# under such a name is bound as any attribute, so that a receipt refuses it.
_APART: dict[str, Callable[[Any], bool]] = {
    "ledger": _is_ledger,  # how a fit is made, paid and shown: no part of what a model answers
    "random_state": _is_random_state,
    "verbose": _is_level,
    "privacy_": _is_receipt,  # what speaks of the fit: its receipt, who paid, what stood in front, a budget in scope
    "_paid_by": _are_digests,
    "_behind": _is_class_name,
    "_sent": _is_sent,
    "_one_of_several": lambda value: value is True,
}


# ----------------------------------------------------------------------------------- digests of values


def _node(kind: str, *parts: bytes) -> bytes:
    """Return the digest of a kind of value and its parts, whose ends are marked."""
    told = hashlib.sha256()
    for part in (kind.encode(), *parts):
        told.update(len(part).to_bytes(8, "big"))
        told.update(part)
    return told.digest()


def _of_class(value: Any) -> bytes:
    """Return the digest of a class by its name alone: a class may move to another module."""
    kind = value if isinstance(value, type) else type(value)
    return _node("class", kind.__qualname__.encode())


def _text(value: Any) -> bytes:
    return str(value).encode("utf-8", "surrogatepass")


def _digest(value: Any, within: tuple[int, ...] = ()) -> bytes:
    """Return the digest of any value; a value that holds itself is marked by how far up it is."""
    if id(value) in within:
        return _node("again", _text(within.index(id(value))))
    for is_kind, of_kind in _PLAIN:
        if is_kind(value):
            return of_kind(value)
    within = (id(value), *within)
    if isinstance(value, Mapping):
        pairs = sorted((_digest(k, within), _digest(v, within)) for k, v in value.items())
        return _node("dict", *(part for pair in pairs for part in pair))
    if isinstance(value, set | frozenset):
        return _node("set", *sorted(_digest(part, within) for part in value))
    if isinstance(value, list | tuple):
        kind = "list" if isinstance(value, list) else "tuple"
        return _node(kind, *(_digest(part, within) for part in value))
    return _of_object(value, within)


def _of_array(value: Any) -> bytes:
    """Kind of numbers, shape and values: layout and byte order do not count, nor that it is a map of a file."""
    array = np.asarray(value)
    plain = isinstance(value, np.generic) or type(value) in (np.ndarray, np.memmap)
    kind = b"" if plain else _of_class(value)
    shape = _text(array.shape)
    if array.dtype.names:
        parts = [_digest(name) + _of_array(array[name]) for name in array.dtype.names]
        return _node("records", kind, shape, *parts)
    if array.dtype.kind in _DIRECT:
        little = array.dtype.newbyteorder("<")
        told = np.ascontiguousarray(array.astype(little, copy=False)).tobytes()
        return _node("array", kind, little.str.encode(), shape, told)
    values = [_digest(part) for part in array.ravel().tolist()]
    return _node("array", kind, array.dtype.kind.encode(), shape, *values)


def _of_sparse(value: Any) -> bytes:
    """Return the digest of the dense array, since an estimator may be made sparse afterwards."""
    return _of_array(value.toarray())


def _of_tensor(value: Any) -> bytes:
    """Return the digest of a PyTorch tensor; floats of any precision count as doubles, beside their precision."""
    plain = value.detach().cpu()
    exact = plain.double() if plain.is_floating_point() else plain
    return _node("tensor", _text(value.dtype), _of_array(exact.numpy()))


def _of_module(value: Any, within: tuple[int, ...]) -> bytes:
    """Return the digest of a PyTorch module: settings of each module inside, weights and buffers."""
    parts = []
    for name, inner in value.named_modules():
        settings = {n: v for n, v in vars(inner).items() if not n.startswith("_")}
        parts += [_digest(name), _of_class(inner), _digest(settings, within)]
    for name, tensor in (*value.named_parameters(), *value.named_buffers()):
        parts += [_digest(name), _digest(tensor, within)]
    return _node("module", *parts)


def _of_object(value: Any, within: tuple[int, ...]) -> bytes:
    """Return the digest of an object's class and of what it holds.

    A function, or an object that shows nothing, is known by its name.
    """
    if isinstance(value, ModuleType) or len(within) > _DEEP:
        return _node("name", _of_class(value), _text(getattr(value, "__name__", "")))
    if isinstance(value, partial):
        return _node("partial", _digest((value.func, value.args, value.keywords), within))
    if callable(getattr(value, "named_modules", None)):
        return _of_module(value, within)
    if callable(getattr(value, "to_numpy", None)):
        names = [list(getattr(value, name, ())) for name in ("columns", "index")]
        return _node("table", _of_class(value), _of_array(value.to_numpy()), _digest(names, within))
    slots = {
        name: getattr(value, name)
        for kind in type(value).__mro__
        for name in _as_names(vars(kind).get("__slots__", ()))
        if hasattr(value, name)
    }
    named = _text(getattr(value, "__qualname__", ""))
    held = _bound({**_state(value), **slots})
    return _node("object", _of_class(value), named, _digest(held, within))


def _as_names(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


_PLAIN: tuple[tuple[Any, Any], ...] = (
    (lambda v: v is None, lambda v: _node("none")),
    (lambda v: isinstance(v, np.ndarray | np.generic), _of_array),
    (lambda v: isinstance(v, bool), lambda v: _node("bool", _text(int(v)))),
    (lambda v: isinstance(v, int), lambda v: _node("int", hex(v).encode())),
    (lambda v: isinstance(v, float), lambda v: _node("float", struct.pack(">d", v))),
    (lambda v: isinstance(v, complex), lambda v: _of_array(np.asarray(v))),
    (lambda v: isinstance(v, str), lambda v: _node("str", _text(v))),
    (lambda v: isinstance(v, bytes | bytearray), lambda v: _node("bytes", bytes(v))),
    (lambda v: isinstance(v, _BY_TEXT), lambda v: _node("text", _of_class(v), _text(v))),
    (lambda v: isinstance(v, type), _of_class),
    (issparse, _of_sparse),
    (lambda v: callable(getattr(v, "detach", None)), _of_tensor),
)
