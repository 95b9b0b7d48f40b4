"""Intake of records for a search: closed and checked before anything is paid, with errors that show no cell."""

from __future__ import annotations

from typing import Any

from ..entry import SearchRecords, sizes_along
from ..fitting import PrivateEstimator
from ..privacy.events import Script
from ._candidates import Candidates, paying, steps_of
from ._frame import Frame

__all__ = ["Widths", "marked", "quotes_along", "refuse_rest", "widths_of"]

Widths = tuple[tuple[int, ...], ...]


def marked(model: Any) -> list[tuple[Any, bool]]:
    """Return the steps of a candidate, each with whether it pays for itself."""
    return [(step, isinstance(step, PrivateEstimator)) for _, step in steps_of(model)]


def refuse_rest(frame: Frame, records: SearchRecords) -> None:
    """Refuse records that some candidate would, before anything is paid: a run that failed on them would be kept quiet,
    and which candidates can win would tell of a record without a price.
    """
    for index in range(len(frame.candidates)):
        records.refuse(marked(frame.candidates.bare(index)), frame.public().most)


def widths_of(candidates: Candidates, records: SearchRecords) -> Widths:
    """Return the number of columns at each paying step of each candidate, by the first row."""
    models = map(candidates.bare, range(len(candidates)))
    return tuple(records.widths(marked(model)) for model in models)


def quotes_along(model: Any, X: Any) -> list[tuple[Any, Script]]:
    """Return each paying step of a pipeline with the script of its fit on a table.

    Only the first row is looked at.
    """
    steps = [step for _, step in paying(model)]
    sizes = sizes_along(marked(model), X)
    return [(step, step.quote(*size).script) for step, size in zip(steps, sizes, strict=True)]
