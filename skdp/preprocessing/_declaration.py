"""Declaration of a column, read once: numbers between bounds, or one of several values.

A declaration is public, so sentences may show it; whatever could be read in two ways is refused with the column's name.

Numbers on [-1, 1], around the public midpoint of their bounds on a scale.

Declarations in files, and back to a reader: what was read, and what was probably meant.
"""

from __future__ import annotations

import csv
import json
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..fitting.data import Array, find_ambiguous

__all__ = [
    "SCALES",
    "Categories",
    "Declared",
    "Numbers",
    "did_you_mean",
    "digits",
    "of_numbers",
    "on_scale",
    "read_column",
    "read_file",
    "reading",
    "refuse_ambiguous",
    "undone",
    "unit_interval",
]


SCALES = ("linear", "log", "symlog")


def unit_interval(column: Array | ArrayLike, declared: Numbers) -> Array:
    """Numbers to [-1, 1] around the midpoint of the scaled bounds; clipped outside, NaN where missing.

    Parameters
    ----------
    column : array-like of shape (n,)
        Floats.
    declared : Numbers
        Bounds and scale.

    Returns
    -------
    ndarray of shape (n,)
    """
    # Clipped first: no scale is asked of what it is not made for, and nothing overflows.
    cells = np.clip(np.asarray(column, dtype=np.float64), declared.low, declared.high)
    middle, half = _middle_and_half(declared)
    scaled = on_scale(cells, declared.scale)
    scaled -= middle
    scaled /= half
    return np.clip(scaled, -1.0, 1.0, out=scaled)


def undone(unit: Array, declared: Numbers) -> Array:
    """Invert `unit_interval`; clipped numbers come back as the bound.

    Parameters
    ----------
    unit : ndarray of shape (n,)
        Numbers in [-1, 1].
    declared : Numbers
        Bounds and scale.

    Returns
    -------
    ndarray of shape (n,)
    """
    middle, half = _middle_and_half(declared)
    scaled = np.clip(unit, -1.0, 1.0) * half + middle
    if declared.scale == "log":
        scaled = np.exp(scaled)
    elif declared.scale == "symlog":
        scaled = np.sign(scaled) * np.expm1(np.abs(scaled))
    return np.clip(scaled, declared.low, declared.high)


def on_scale(x: ArrayLike, scale: str) -> Any:
    """Numbers on a scale: symlog is ``sign(x) * log1p(|x|)``.

    Parameters
    ----------
    x : array-like
        Numbers, positive for "log".
    scale : str
        One of `SCALES`.

    Returns
    -------
    ndarray
    """
    if scale == "linear":
        return x
    return np.log(x) if scale == "log" else np.sign(x) * np.log1p(np.abs(x))


def _middle_and_half(declared: Numbers) -> tuple[float, float]:
    low, high = (on_scale(bound, declared.scale) for bound in (declared.low, declared.high))
    # Halved first: low + high and high - low may each overflow.
    return low / 2 + high / 2, high / 2 - low / 2


def read_file(path: str | PathLike[str]) -> dict[str, Any]:
    """The declaration in a JSON or csv file: name of a column to its bounds or values.

    Parameters
    ----------
    path : path
        JSON: ``{"age": [17, 90], "sex": ["f", "m"]}``; csv: one line a column, ``age,17,90``.

    Returns
    -------
    dict
        As it stands there.
    """
    text = Path(path).read_text(encoding="utf-8-sig")
    if not text.lstrip().startswith("{"):
        lines = csv.reader(text.splitlines(), skipinitialspace=True)
        return {line[0]: _numbers_or_words(line[1:]) for line in lines if line}
    try:
        return dict(json.loads(text))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is not valid JSON: {error}.") from error


def reading(columns: Iterable[tuple[object, object]]) -> str:
    """Return the reading of declarations as text, one line a column.

    Parameters
    ----------
    columns : iterable of (name, Numbers or Categories)
        Columns, in the order of the table.

    Returns
    -------
    str
    """
    told = [(str(name), str(declared)) for name, declared in columns]
    widest = max((len(name) for name, _ in told), default=0)
    return "\n".join(f"{name:<{widest}}  {declared}" for name, declared in told)


def did_you_mean(word: object, known: Iterable[object]) -> str:
    """Return the end of a message that suggests the word that was probably meant, or nothing.

    Parameters
    ----------
    word : object
        What was not found.
    known : iterable
        What there is.

    Returns
    -------
    str
    """
    plain = {str(name).strip().casefold(): str(name) for name in known}
    close = get_close_matches(str(word).strip().casefold(), plain, n=1, cutoff=0.75)
    return f" (did you mean {plain[close[0]]!r}?)" if close else ""


def digits(value: Any) -> bool:
    """Return True if a value is a finite number, or the text of one.

    Parameters
    ----------
    value : object
        Of a declaration.

    Returns
    -------
    bool
    """
    if not isinstance(value, str):
        return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
    try:
        return bool(np.isfinite(float(value)))
    except ValueError:
        return False


def _numbers_or_words(values: list[str]) -> list[Any]:
    """Read the values of a line of a csv, in which numbers have no quotes."""
    scaled = len(values) == 3 and not digits(values[2])
    if (len(values) == 2 or scaled) and all(map(digits, values[:2])):
        return [float(value) for value in values[:2]] + values[2:]
    return values


@dataclass(frozen=True)
class Numbers:
    """Numbers between public bounds, on one of the `SCALES`."""

    low: float
    high: float
    scale: str = "linear"

    def __str__(self) -> str:
        return f"numbers from {self.low:g} to {self.high:g}, {self.scale}"


@dataclass(frozen=True)
class Categories:
    """Declared values of a column, which are text or numbers."""

    values: tuple[Any, ...]

    def __str__(self) -> str:
        shown = ", ".join(map(repr, self.values[:12]))
        return (
            f"one of {len(self.values)} values: {shown}{', ...' if len(self.values) > 12 else ''}"
        )


Declared = Numbers | Categories


def read_column(name: object, declared: Any) -> Declared:
    """A column's declaration: ``[low, high]``, ``[low, high, scale]`` or its values.

    Parameters
    ----------
    name : object
        Name or place of the column, for the sentence that refuses.
    declared : sequence or dict
        A dict says which is meant: ``{"bounds": [0, 9], "scale": "log"}`` or ``{"categories": ["17", "90"]}``.

    Returns
    -------
    Numbers or Categories
    """
    if isinstance(declared, Numbers | Categories):
        return declared
    if isinstance(declared, Mapping):
        return _of_mapping(name, declared)
    values = _listed(name, declared)
    if len(values) == 1:
        raise ValueError(
            f"{_said(name, declared)}: a single value says nothing{_semicolon(values)}."
        )
    *first, rest = values[0], values[1], values[2:]
    bounds = len(values) == 2 or (len(values) == 3 and not digits(rest[0]))
    if bounds and all(map(_number, first)):
        return of_numbers(name, *values)
    if bounds and all(map(digits, first)):
        raise ValueError(
            f"{_said(name, declared)}, which may be bounds in quotes: write [low, high] without quotes for bounds, or "
            '{"categories": [...]} for values.'
        )
    return _of_values(name, values)


def of_numbers(name: object, low: Any, high: Any, scale: Any = "linear") -> Numbers:
    """Bounds that a column may have.

    Parameters
    ----------
    name : object
        The column.
    low, high : float
        Finite, in this order.
    scale : str
        One of `SCALES`.

    Returns
    -------
    Numbers
    """
    if scale not in SCALES:
        raise ValueError(
            f"Column {name!r} has the scale {scale!r}; use one of {', '.join(map(repr, SCALES))}"
            f"{did_you_mean(scale, SCALES)}."
        )
    low, high = float(low), float(high)
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        remedy = f" (did you mean [{high:g}, {low:g}]?)" if low > high else ""
        raise ValueError(
            f"Column {name!r} has the bounds ({low:g}, {high:g}), which must be finite with low < high{remedy}."
        )
    if scale == "log" and low <= 0:
        raise ValueError(
            f"Column {name!r} has the bounds ({low:g}, {high:g}) on the scale 'log', which needs low > 0: use 'symlog'."
        )
    if not on_scale(high, scale) / 2 - on_scale(low, scale) / 2 >= np.finfo(float).tiny:
        raise ValueError(
            f"Column {name!r} has bounds closer than a double can divide; change its unit."
        )
    return Numbers(low, high, scale)


def _of_mapping(name: object, declared: Mapping[str, Any]) -> Declared:
    if set(declared) == {"categories"}:
        return _of_values(name, _listed(name, declared["categories"]))
    if "bounds" in declared and set(declared) <= {"bounds", "scale"}:
        bounds = _listed(name, declared["bounds"])
        if len(bounds) == 2 and all(map(_number, bounds)):
            low, high = bounds
            return of_numbers(name, low, high, declared.get("scale", "linear"))
    raise ValueError(
        f'{_said(name, dict(declared))}: write {{"bounds": [low, high]}} or {{"categories": [...]}}.'
    )


def _of_values(name: object, values: Sequence[Any]) -> Categories:
    """Values that can be told apart, all text or all numbers."""
    plain = [value.strip() if isinstance(value, str) else value for value in values]
    if any(isinstance(value, list | tuple) for value in plain):
        raise ValueError(
            f"{_said(name, list(values))}, a list of lists: declare each column by its name, as in "
            "{'x0': [17, 90], 'x1': [0, 50]}."
        )
    kinds = {isinstance(value, str) for value in plain}
    if len(kinds) != 1 or not all(isinstance(v, str | numbers.Real | np.bool_) for v in plain):
        raise ValueError(
            f"{_said(name, list(values))}, a mix of text and numbers: write [low, high], [low, high, 'symlog'] or "
            "values of one kind."
        )
    refuse_ambiguous(name, plain)
    if len(plain) < 2:
        raise ValueError(
            f"{_said(name, list(values))}: a single value says nothing{_semicolon(plain)}."
        )
    return Categories(tuple(plain))


def refuse_ambiguous(name: object, values: Sequence[Any]) -> None:
    """Refuse values that no cell can be told by: spellings of missing cells, and two that read alike.

    Parameters
    ----------
    name : object
        The column, for the sentence that refuses.
    values : sequence
        Its declared categories.
    """
    found = find_ambiguous(values)
    if len(found) == 1:
        told = "NaN" if found[0] != found[0] else repr(found[0])
        raise ValueError(
            f"Column {name!r} declares {told}, which is read as a missing cell: a missing value needs no declaration; "
            "spell a value otherwise."
        )
    if found:
        # Twice the same value would be two ones in a block, and a norm beyond the theorem's.
        raise ValueError(
            f"Column {name!r} declares a category twice: {found[0]!r} and {found[1]!r} are the same cell."
        )


def _listed(name: object, declared: Any) -> list[Any]:
    """The items of a list, tuple or array; text and whatever else has none."""
    if isinstance(declared, list | tuple | np.ndarray) and np.ndim(np.empty(len(declared))) == 1:
        values = declared.tolist() if isinstance(declared, np.ndarray) else list(declared)
        if values:
            return values
    raise ValueError(f"{_said(name, declared)}: write [low, high] or the categories.")


def _said(name: object, declared: Any) -> str:
    text = repr(declared)
    return f"Column {name!r} is declared as {text if len(text) <= 80 else text[:77] + '...'}"


def _semicolon(values: Sequence[Any]) -> str:
    inside = any(isinstance(value, str) and ";" in value for value in values)
    return " (did you mean ',' where it has ';'?)" if inside else ""


def _number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
