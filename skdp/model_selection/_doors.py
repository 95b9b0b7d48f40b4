"""Intake of records for a search: checked before anything is paid, with errors that show no cell."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from ..entry import targets
from ..fitting import PrivateEstimator
from ..fitting.data import any_table, attempt, table
from ..mechanisms._shared_memory import copy_if_shared
from ..metrics.scoring import codes_of
from ..privacy.events import Script
from ._candidates import Candidates, paying, steps_of
from ._frame import Frame, Table

__all__ = ["Widths", "admitted", "quotes_along", "refuse_rest", "widths_of"]

Widths = tuple[tuple[int, ...], ...]


def admitted(model: Any, X: Any, y: Any) -> Table:
    """Return rows and targets that a candidate can be fitted on, or refuse as its own fit would."""
    X, y = map(copy_if_shared, (X, y))  # every run reads them anew
    steps = steps_of(model)
    last = clone(steps[-1][1])
    rows: Any = (
        table(last, X, reset=True)
        if len(steps) == 1
        else any_table(clone(steps[0][1]), X, reset=True)
    )
    through, paid = _through(model, rows)
    if len(paid) == 1 and len(steps) > 1:  # else numbers are missing until scales are bought
        table(last, through, reset=True)
    n = int(rows.shape[0])
    if not isinstance(X, np.ndarray) and not hasattr(X, "columns"):
        X = rows.tocsr() if issparse(rows) else rows  # of others no rows could be taken
    if not hasattr(last, "classes"):
        found = targets(last, y, n)
        return Table(X, found, found)
    classes = np.unique(np.asarray(last.classes))
    return Table(X, y, codes_of(y, classes, n, last.neighbors))


def refuse_rest(frame: Frame, records: Table) -> None:
    """Refuse records that some candidate would, before anything is paid: a run that failed on them would be kept quiet,
    and which candidates can win would tell of a record without a price.
    """
    if len(records.codes) > frame.public().most:
        raise ValueError(
            f"X has more than {frame.public().most} rows, and rounding has no bound for so many where their number is "
            "private; use fewer, or neighbors='replace_one'."
        )
    for index in range(len(frame.candidates)):
        admitted(frame.candidates.bare(index), records.X, records.y)


def widths_of(candidates: Candidates, X: Any) -> Widths:
    """Return the number of columns at each paying step of each candidate, by the first row."""
    first = getattr(X, "iloc", X)[:1]
    return tuple(_through(candidates.bare(i), first)[1] for i in range(len(candidates)))


def quotes_along(model: Any, X: Any) -> list[tuple[Any, Script]]:
    """Return each paying step of a pipeline with the script of its fit on a table.

    Only the first row is looked at.
    """
    first, n = getattr(X, "iloc", X)[:1], int(X.shape[0])
    steps = [step for _, step in paying(model)]
    return [
        (step, step.quote(n if step.neighbors == "replace_one" else None, width).script)
        for step, width in zip(steps, _through(model, first)[1], strict=True)
    ]


def _through(model: Any, rows: Any) -> tuple[Any, tuple[int, ...]]:
    """Rows as they come to the last step, but for scales that are bought, which keep the number of columns."""
    widths = []
    for _, step in steps_of(model):
        if isinstance(step, PrivateEstimator):
            widths.append(int(rows.shape[1]))
        else:
            rows = _transformed(clone(step), rows)
    return rows, tuple(widths)


def _transformed(step: Any, rows: Any) -> Any:
    """Return rows as transformed by a step that reads no record in fit.

    Errors of scikit-learn's steps are replaced, since they would show a row.
    """
    if type(step).__module__.split(".")[0] == "skdp":
        return step.fit(rows).transform(rows)
    found, kind = attempt(lambda: step.fit(rows).transform(rows))
    if kind is not None:
        raise kind(f"{type(step).__name__} cannot take these rows; look at them without this step.")
    return found
