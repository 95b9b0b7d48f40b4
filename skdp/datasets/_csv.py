"""A user's own csv file and its declaration, as a table."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..fitting.data import codes
from ..preprocessing._declaration import (
    SCALES,
    Categories,
    Numbers,
    did_you_mean,
    read_column,
    read_file,
    refuse_ambiguous,
)
from ._fetch import read_table
from ._table import Array, Table

__all__ = ["load_csv"]


def load_csv(
    path: str | PathLike[str],
    *,
    target: str,
    bounds: str | PathLike[str] | dict[str, Any],
    drop_unlabelled: bool = False,
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
        "symlog"]`` or ``"log"`` when heavy-tailed), the list of categories for words. A JSON file holds
        ``{"age": [17, 90], "sex": ["female", "male"], ...}``; a csv file holds one line a
        column, ``age,17,90`` or ``sex,female,male``. Columns without a declaration are not used.
    drop_unlabelled : bool
        Leave out rows whose target is no declared class. The number of rows that are left is then
        private: fit with ``neighbors="add_remove"`` alone.

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
    declared = dict(bounds) if isinstance(bounds, dict) else read_file(bounds)
    if target not in declared:
        raise ValueError(
            f"The target {target!r} has no declaration: list its classes among the bounds, as in "
            f'{{"{target}": ["no", "yes"]}}{did_you_mean(target, declared)}.'
        )
    classes = _names(declared.pop(target))
    refuse_ambiguous(target, classes)
    if not declared:
        raise ValueError("Only the target is declared: declare the columns to predict it from.")
    ranges, categories, scaled = _sort_out(declared)
    columns = read_table(Path(path), ranges)
    _require(columns, [*declared, target])
    labels = codes(columns[target], classes)
    kept = labels < len(classes)
    if not (drop_unlabelled or kept.all()):
        raise ValueError(
            f"Column {target!r} holds a label other than the declared {list(classes)}: declare "
            "every class, with one more for all other labels: rows left out would show in their number, but "
            "under add_remove, where drop_unlabelled=True leaves them out."
        )
    used = {name: columns[name][kept] for name in declared}
    return Table(
        Path(path).name,
        {name: _words(cells) if name in categories else cells for name, cells in used.items()},
        labels[kept],
        bounds=ranges,
        categories=categories,
        symlog=scaled["symlog"],
        log=scaled["log"],
        target_names=classes,
    )


def _sort_out(
    declared: dict[str, Any],
) -> tuple[dict[str, tuple[float, float]], dict[str, tuple[str, ...]], dict[str, frozenset[str]]]:
    """Bounds, categories and scales from one mapping."""
    read = {name: read_column(name, values) for name, values in declared.items()}
    numbers = {name: one for name, one in read.items() if isinstance(one, Numbers)}
    ranges = {name: (one.low, one.high) for name, one in numbers.items()}
    values = {name: _names(one.values) for name, one in read.items() if isinstance(one, Categories)}
    scaled = {
        scale: frozenset(name for name, one in numbers.items() if one.scale == scale)
        for scale in SCALES
    }
    return ranges, values, scaled


def _names(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(_name(value) for value in values)


def _name(value: Any) -> str:
    short = f"{value:g}" if isinstance(value, float) else str(value).strip()
    # Six digits may be those of another value.
    return short if not isinstance(value, float) or float(short) == value else repr(float(value))


def _require(columns: dict[str, Array], names: list[str]) -> None:
    absent = [name for name in names if name not in columns]
    if absent:
        raise ValueError(
            f"Column {absent[0]!r} is declared, but the file's header has {sorted(columns)}: "
            f"correct one of them{did_you_mean(absent[0], columns)}."
        )


def _words(column: Array) -> Array:
    return np.char.strip(column.astype(str))
