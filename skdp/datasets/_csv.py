"""A user's own csv file and its declaration, as a table."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ._encode import Array
from ._files import read_table
from ._table import Table

__all__ = ["load_csv", "read_declaration"]


def load_csv(
    path: str | PathLike[str], *, target: str, bounds: str | PathLike[str] | dict[str, Any]
) -> Table:
    """Read a csv file whose columns were declared without looking at it.

    Parameters
    ----------
    path : path
        A csv file with a header, possibly gzipped.
    target : str
        Name of the column to predict; its classes must be declared.
    bounds : path or dict
        What is public of every column to use: ``[low, high]`` for numbers (``[low, high,
        "symlog"]`` when heavy-tailed), the list of categories for words. A JSON file holds
        ``{"age": [17, 90], "sex": ["female", "male"], ...}``; a csv file holds one line a
        column, ``age,17,90`` or ``sex,female,male``. Columns without a declaration are not used.

    Returns
    -------
    Table
        The declared columns in the order of the declaration, and the target as codes.

    See Also
    --------
    Table : What it returns.
    make_census : A table to try things on.

    Notes
    -----
    A number outside its bounds is clipped, a field that is no number becomes the midpoint, an
    undeclared category becomes an empty block: each rule looks at one record alone.

    Examples
    --------
    >>> from skdp.datasets import load_csv
    >>> table = load_csv(
    ...     "people.csv", target="income",
    ...     bounds={"age": [17, 90], "sex": ["female", "male"], "income": ["low", "high"]},
    ... )  # doctest: +SKIP
    """
    declared = dict(bounds) if isinstance(bounds, dict) else read_declaration(bounds)
    if target not in declared:
        raise ValueError(
            f"The target {target!r} has no declaration: list its classes among the bounds, as in "
            f'{{"{target}": ["no", "yes"]}}.'
        )
    classes = _names(declared.pop(target))
    if not declared:
        raise ValueError("Only the target is declared: declare the columns to predict it from.")
    ranges, categories, symlog = _sort_out(declared)
    columns = read_table(Path(path), ranges)
    _require(columns, [*declared, target])
    return Table(
        Path(path).name,
        {name: _words(columns[name]) if name in categories else columns[name] for name in declared},
        _codes(_words(columns[target]), classes, target),
        bounds=ranges,
        categories=categories,
        symlog=symlog,
        target_names=classes,
    )


def read_declaration(path: str | PathLike[str]) -> dict[str, Any]:
    """The declaration in a JSON or csv file: column name to its bounds or categories."""
    text = Path(path).read_text(encoding="utf-8-sig")
    if not text.lstrip().startswith("{"):
        lines = csv.reader(text.splitlines(), skipinitialspace=True)
        return {line[0]: _numbers_or_words(line[1:]) for line in lines if line}
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is no valid JSON: {error}.") from error


def _numbers_or_words(values: list[str]) -> list[Any]:
    try:
        return [float(value) for value in values[:2]] + values[2:] if len(values) < 4 else values
    except ValueError:
        return values


def _sort_out(
    declared: dict[str, Any],
) -> tuple[dict[str, tuple[float, float]], dict[str, tuple[str, ...]], frozenset[str]]:
    """Bounds, categories and heavy tails from one mapping."""
    ranges, categories, symlog = {}, {}, set()
    for name, values in declared.items():
        if not isinstance(values, (list, tuple)) or len(values) < 1:
            raise ValueError(
                f"Column {name!r} is declared as {values!r}: write [low, high] or the categories."
            )
        numeric = [isinstance(v, (int, float)) and not isinstance(v, bool) for v in values]
        if numeric[:2] == [True, True] and (len(values) == 2 or values[2:] == ["symlog"]):
            ranges[name] = (values[0], values[1])
            symlog |= {name} if len(values) == 3 else set()
        else:
            categories[name] = _names(values)
    return ranges, categories, frozenset(symlog)


def _names(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(
        f"{value:g}" if isinstance(value, float) else str(value).strip() for value in values
    )


def _require(columns: dict[str, Array], names: list[str]) -> None:
    absent = [name for name in names if name not in columns]
    if absent:
        raise ValueError(
            f"Column {absent[0]!r} is declared, but the file's header has {sorted(columns)}: "
            "correct one of them."
        )


def _words(column: Array) -> Array:
    return np.char.strip(column.astype(str))


def _codes(labels: Array, classes: tuple[str, ...], target: str) -> Array:
    codes = np.full(len(labels), -1)
    for code, name in enumerate(classes):
        codes[labels == name] = code
    if (codes < 0).any():
        raise ValueError(
            f"Column {target!r} holds a label other than the declared {list(classes)}: declare "
            "every class, or leave such rows out."
        )
    return codes
