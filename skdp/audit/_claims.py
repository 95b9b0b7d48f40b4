"""Distance between two runs' statistics, as a share of the distance that the mechanism claims."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..mechanisms import Public
from ..privacy import events
from ._pairs import Array
from ._tape import Call

__all__ = ["movements", "unpaid"]


def movements(first: list[Call], second: list[Call]) -> list[tuple[int, str, float]]:
    """The movement of every statistic over its claim, which holds all roundings.

    Parameters
    ----------
    first, second : list of Call
        Of the two runs; they are compared as far as they agree.

    Yields
    ------
    list of (int, str, float)
        Call, its kind, and movement over claim. Several Gaussian answers to one question share one claim.
    """
    found: list[tuple[int, str, float]] = []
    squares: dict[tuple[int, Any], float] = {}
    for k, (one, two) in enumerate(zip(first, second)):
        if one.kind in ("gaussian", "radial"):
            group = (id(one.asked), one.public[1])  # one asking
            squares[group] = squares.get(group, 0.0) + _square(one.statistic, two.statistic)
            ratio = _over(math.sqrt(squares[group]), one.public[1].reach)
        else:
            ratio = _OTHERS.get(one.kind, _nothing)(one, two)
        found.append((k, one.kind, ratio))
    return found


def unpaid(call: Call) -> float:
    """Noise that was paid for over noise that was added, where one answer is all that the price is for.

    Parameters
    ----------
    call : Call
        Of either run.

    Returns
    -------
    float
        At most 1, up to rounding; 0 where the price is no plain Gaussian or pure one.
    """
    if call.kind not in ("gaussian", "radial"):
        return 0.0
    question, public = call.asked
    event, (shape, grid) = question.event(public), call.public
    moves = grid.reach + math.sqrt(math.prod(shape)) * grid.step
    if call.kind == "gaussian" and type(event) is events.Gaussian:
        return _over(event.multiplier * moves, grid.scale)
    if call.kind == "radial" and type(event) is events.PureDP:
        return _over(moves, event.epsilon * grid.scale)
    return 0.0


def _square(one: Array, two: Array) -> float:
    if one.shape != two.shape or not (np.isfinite(one).all() and np.isfinite(two).all()):
        return math.inf
    return float(np.linalg.norm(one - two)) ** 2


def _over(moved: float, claimed: float) -> float:
    return 0.0 if moved == 0.0 else moved / claimed if claimed > 0.0 else math.inf


def _innermost(question: Any, public: Public) -> tuple[Any, Public]:
    """The question that measures, and what it knows: batches and coordinates are taken off."""
    while hasattr(question, "question"):
        if hasattr(question, "coordinates"):
            public = question.coordinates.seen(public)
        question = question.question
    return question, public


def _selection(one: Call, two: Call) -> float:
    """Noise of scale c / epsilon claims that differences of scores move by at most c."""
    question, _ = _innermost(*one.asked)
    return _over(float(np.ptp(one.statistic - two.statistic)), one.public[1] * question.epsilon)


def _search(one: Call, two: Call) -> float:
    question, public = _innermost(*one.asked)
    count = one.statistic.size
    if two.statistic.size != count:
        return math.inf
    claims = np.ravel(question.sensitivity(public))[:count]
    moves = np.abs(one.statistic - two.statistic)
    return max((_over(m, c) for m, c in zip(moves, claims)), default=0.0)


def _linear_term(one: Call, two: Call) -> float:
    """The tilts that lead to one released point differ by what the records' gradients there differ."""
    question, public = _innermost(*one.asked)
    moved = float(np.linalg.norm(one.answer - two.answer))
    return _over(moved, public.sensitivity_factor * question.bound(public))


def _nothing(one: Call, two: Call) -> float:
    return 0.0


_OTHERS = {"largest": _selection, "first_above": _search, "linear_term": _linear_term}
