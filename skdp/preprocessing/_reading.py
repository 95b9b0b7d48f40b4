"""Declarations in files, and back to a reader: what was read, and what was probably meant."""

from __future__ import annotations

import csv
import json
import numbers
from collections.abc import Iterable
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["did_you_mean", "digits", "read_file", "reading"]


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
