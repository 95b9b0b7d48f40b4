"""Hashes of fitted numbers, by which a receipt knows its model."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from scipy.sparse import issparse

__all__ = ["fingerprint", "told_apart"]


def fingerprint(model: Any) -> dict[str, str]:
    """SHA-256 of every array or number of floats that a fit has stored, by the attribute's name.

    Parameters
    ----------
    model : object
        A fitted estimator.

    Returns
    -------
    dict of str to str
        Attributes whose name ends in an underscore and does not begin with one.
    """
    fitted = {
        name: np.asarray(value)
        for name, value in map(_dense, vars(model).items())
        if name.endswith("_") and not name.startswith("_") and _numbers(value)
    }
    return {name: _digest(name, fitted[name]) for name in sorted(fitted)}


def told_apart(receipt: Any) -> str:
    """SHA-256 of what was asked and of the model that came of it: no two fits have the same.

    Parameters
    ----------
    receipt : Receipt
        Of a model that it knows.
    """
    told = repr((receipt.script, sorted(receipt.model.items())))
    return hashlib.sha256(told.encode()).hexdigest()


def _dense(named: tuple[str, Any]) -> tuple[str, Any]:
    """The same numbers, where they have been made a sparse array afterwards."""
    name, value = named
    return name, value.toarray() if issparse(value) else value


def _numbers(value: Any) -> bool:
    return isinstance(value, float) or (
        isinstance(value, np.ndarray | np.floating)
        and value.dtype.kind == "f"
        and value.dtype.itemsize <= 8
    )


def _digest(name: str, value: np.ndarray[Any, Any]) -> str:
    """Of name, shape and the numbers as doubles of one byte order."""
    told = hashlib.sha256(f"{name}{value.shape}".encode())
    told.update(np.ascontiguousarray(value, dtype="<f8").tobytes())
    return told.hexdigest()
