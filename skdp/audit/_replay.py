"""Replay with frozen answers: what is left of the data once the noisy answers are taken as given?

The protocol of Cebere, Erb, Desfontaines, Bellet and Fitzsimons, *Privacy in theory, bugs in practice: grey-box
auditing of differential privacy libraries* (Re:cord-play, arXiv 2602.17454, 2026), built anew. A run on one table keeps
every call of the noise: the exact statistic, how far it is claimed to move, the scale, the answer. A run on a neighbour
gets the same answers. A theorem about the noisy answers covers the fit if then (a) the calls are the same, with the
same public parameters, (b) the statistics move no further than is claimed, (c) nothing else that comes out differs.

Noise sources that record their calls, and that play recorded answers back.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from types import FunctionType, MethodType
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.base import clone

from ..fitting import estimator as _estimator
from ..fitting import program as _program
from ..fitting._payer import UNCOVERED
from ..mechanisms import Noise, Oracle, Public, Records
from ..mechanisms._lattice import Lattice
from ..mechanisms._mechanism import Mechanism
from ..mechanisms._oracle import Account
from ..privacy import events
from ._neighbours import Array, Data, Neighbours

__all__ = [
    "Call",
    "Diverged",
    "Playback",
    "Replayed",
    "Tape",
    "Watched",
    "fitted",
    "movements",
    "replay",
    "unpaid",
]


class Diverged(Exception):
    """The second run asks its noise for something else than the first did."""


@dataclass(frozen=True, eq=False)
class Call:
    """Recorded call of the noise source.

    Parameters
    ----------
    kind : str
        Name of the method.
    public : tuple
        Arguments that must be the same for neighbours: shapes, steps, scales, rates.
    statistic : ndarray or None
        Exact statistic; None where nothing was handed in.
    answer : object
        Noisy result.
    asked : tuple (Mechanism, Public)
        The question that was being answered, and what is public of the records.
    """

    kind: str
    public: tuple[Any, ...]
    statistic: Any
    answer: Any
    asked: tuple[Any, Any]


class Tape(Noise):
    """Noise source that draws as usual, and records every call.

    Parameters
    ----------
    seed : int or None
        As in `Noise`.
    """

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(seed)
        self.calls: list[Call] = []
        self.questions: list[Mechanism] = []
        self.asked: tuple[Any, Any] = (None, None)

    def about(self, question: Mechanism, public: Public) -> None:
        """The oracle says which question it is about to answer."""
        self.asked = (question, public)
        self.questions.append(question)

    def gaussian(self, statistic: Array, grid: Lattice) -> Array:
        """Record a call of `Noise.gaussian`."""
        return self._vector("gaussian", statistic, grid, super().gaussian)

    def radial(self, statistic: Array, grid: Lattice) -> Array:
        """Record a call of `Noise.radial`."""
        return self._vector("radial", statistic, grid, super().radial)

    def linear_term(self, shape: tuple[int, ...], grid: Lattice, pure: bool = False) -> Array:
        """Record a call of `Noise.linear_term`, which measures nothing."""
        plain = super().radial if pure else super().gaussian
        return self._call(
            "linear_term", (shape, grid, pure), None, lambda: plain(np.zeros(shape), grid)
        )

    def largest(self, scores: Array, scale: float) -> int:
        """Record a call of `Noise.largest`."""
        public, draw = (np.shape(scores), float(scale)), super().largest
        return self._call("largest", public, np.array(scores), lambda: draw(scores, scale))

    def first_above(
        self, totals: Iterable[float], demands: Array, own: Array, shared: Array
    ) -> int:
        """Record a call of `Noise.first_above`; its statistic is the list of queries that were computed."""
        asked: list[float] = []
        public = (demands, own, shared)
        answer = self._search(super().first_above, totals, asked, public)
        plain = tuple(tuple(map(float, np.ravel(part))) for part in public)
        return self._call("first_above", plain, np.array(asked), lambda: answer)

    def _search(
        self,
        search: Callable[..., int],
        totals: Iterable[float],
        asked: list[float],
        public: tuple[Array, ...],
    ) -> int | None:
        return search(_kept(totals, asked), *public)

    def poisson_batch(self, n: int, rate: float) -> Array:
        """Record a call of `Noise.poisson_batch`, without n, which is private under add_remove."""
        draw = super().poisson_batch
        return self._call("poisson_batch", (rate,), None, lambda: draw(n, rate))

    def subset(self, n: int, size: int) -> Array:
        """Record a call of `Noise.subset`."""
        draw = super().subset
        return self._call("subset", (n, size), None, lambda: draw(n, size))

    def allocation(self, n: int, batches: int) -> Array:
        """Record a call of `Noise.allocation`, without n, which is private under add_remove."""
        draw = super().allocation
        return self._call("allocation", (batches,), None, lambda: draw(n, batches))

    def permutation(self, n: int) -> Array:
        """Record a call of `Noise.permutation`."""
        draw = super().permutation
        return self._call("permutation", (n,), None, lambda: draw(n))

    def _vector(
        self, kind: str, statistic: Array, grid: Lattice, draw: Callable[[Array, Lattice], Array]
    ) -> Any:
        exact = np.array(statistic)
        return self._call(kind, (exact.shape, grid), exact, lambda: draw(statistic, grid))

    def _call(
        self, kind: str, public: tuple[Any, ...], statistic: Array | None, draw: Callable[[], Any]
    ) -> Any:
        answer = self._answer(kind, public, draw)
        self.calls.append(Call(kind, public, statistic, answer, self.asked))
        return np.copy(answer) if isinstance(answer, np.ndarray) else answer

    def _answer(self, kind: str, public: tuple[Any, ...], draw: Callable[[], Any]) -> Any:
        return draw()


class Playback(Tape):
    """Noise source that returns recorded answers for any statistic, and raises at any other call.

    Parameters
    ----------
    tape : Tape
        Of the run on the first data set.
    pair : Neighbours
        How the second data set's records stand to the first's.
    """

    def __init__(self, tape: Tape, pair: Neighbours) -> None:
        super().__init__(None)
        self._stream, self.seeded = tape._stream, tape.seeded
        self._recorded, self._pair = tape.calls, pair

    def _next(self) -> Call:
        if len(self.calls) == len(self._recorded):
            raise Diverged(f"asks its noise more than {len(self._recorded)} times")
        return self._recorded[len(self.calls)]

    def _search(
        self,
        search: Callable[..., int],
        totals: Iterable[float],
        asked: list[float],
        public: tuple[Array, ...],
    ) -> int | None:
        recorded = self._next().statistic
        count = 0 if recorded is None else recorded.size
        asked.extend(itertools.islice(totals, count))
        return None

    def _answer(self, kind: str, public: tuple[Any, ...], draw: Callable[[], Any]) -> Any:
        recorded, at = self._next(), len(self.calls)
        if (recorded.kind, recorded.public) != (kind, public):
            raise Diverged(
                f"call {at} is {kind}{public}, and was {recorded.kind}{recorded.public} before"
            )
        if kind in ("poisson_batch", "subset", "permutation"):
            return self._pair.positions(recorded.answer)
        if kind == "allocation":
            return self._pair.batches(recorded.answer)
        if kind == "linear_term":
            return recorded.answer + self._shift(recorded, at)
        return recorded.answer

    def _shift(self, recorded: Call, at: int) -> Array:
        """A tilt that keeps the minimiser: the theorem is about the density of tilts at one released point."""
        point = self._recorded[at + 1].statistic
        return self._pair.gradients(*recorded.asked, point)


class Watched(Oracle):
    """Oracle that tells a tape which question it is about to answer."""

    __slots__ = ("__tape",)

    def __init__(self, records: Records, account: Account, noise: Noise) -> None:
        super().__init__(records, account, noise)
        self.__tape = noise

    def ask(self, question: Mechanism) -> Any:
        """Ask as `Oracle.ask` does, and note the question on the tape."""
        if isinstance(self.__tape, Tape):
            self.__tape.about(question, self.public)
        return super().ask(question)


def _kept(totals: Iterable[float], asked: list[float]) -> Iterator[float]:
    """The queries, each kept as it is computed."""
    for total in totals:
        asked.append(float(total))
        yield total


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


Run = Callable[[Data, Any], Any]  # takes a table and a noise source

ROUNDING = 1e-12  # of the comparison itself
REFUSALS = ("NotSupported: ", "ValueError: ")


@dataclass(frozen=True)
class Replayed:
    """Result of a replay.

    Parameters
    ----------
    findings : tuple of str
        Differences between the runs beside the paid answers, one sentence each; empty where the claim stood.
    calls : int
        Calls of the noise that were compared.
    moved : float
        The largest movement of a statistic over its claim, roundings included in the claim.
    refused : str or None
        The error that both runs ended with.

    See Also
    --------
    replay : Run the replay.

    Examples
    --------
    >>> from skdp.audit import Replayed
    >>> bool(Replayed(findings=(), calls=3, moved=0.9, refused=None).findings)  # the claim stood
    False
    """

    findings: tuple[str, ...]
    calls: int
    moved: float
    refused: str | None


def replay(run: Run, pair: Neighbours, seed: int | None = None) -> Replayed:
    """Run on one table, run on its neighbour with the answers frozen, and compare all that was handed over or came out.

    Parameters
    ----------
    run : callable
        Takes a table (X, y) and a noise source, and returns whatever it releases; see `fitted`.
    pair : Neighbours
        See `adversarial_pairs`.
    seed : int or None
        Of the first run's noise.

    Returns
    -------
    Replayed
        The findings.

    See Also
    --------
    fitted : The run of an estimator.
    adversarial_pairs : Pairs to run on.
    audit : Finds what is wrong in the noise itself.

    Examples
    --------
    The number of records is public under one relation, and a leak under the other:

    >>> import numpy as np
    >>> from skdp.audit import adversarial_pairs, replay
    >>> def count(table, noise):
    ...     return len(table[1])
    >>> replay(count, next(adversarial_pairs("replace_one"))).findings
    ()
    >>> replay(count, next(adversarial_pairs("add_remove"))).findings
    ('outcome.result differs',)
    """
    tape = Tape(seed)
    first = _outcome(run, pair.first, tape)
    played = Playback(tape, pair)
    second = _outcome(run, pair.second, played)
    findings = [] if len(played.calls) == len(tape.calls) else [_shorter(tape, played, second)]
    findings += differences(tape.questions, played.questions, "questions") if not findings else []
    findings += differences(first, second, "outcome") if not findings else []
    if first["error"] and not first["error"].startswith(REFUSALS):
        findings.append(f"the first run ends with {first['error']}")
    moves = movements(tape.calls, played.calls)
    findings += [
        f"call {k} ({kind}) moves {ratio:.6g} of its claim"
        for k, kind, ratio in moves
        if not ratio <= 1.0
    ]
    findings += [
        f"call {k} ({call.kind}) has 1 / {unpaid(call):.6g} of the noise that was paid for"
        for k, call in enumerate(tape.calls)
        if not unpaid(call) <= 1.0 + ROUNDING
    ]
    moved = max((ratio for _, _, ratio in moves), default=0.0)
    return Replayed(tuple(findings), len(tape.calls), moved, first["error"])


def _shorter(tape: Tape, played: Tape, outcome: dict[str, Any]) -> str:
    ending = f": {outcome['error']}" if outcome["error"] else ""
    return f"{len(played.calls)} calls of the noise agree, and there were {len(tape.calls)}{ending}"


def _outcome(run: Run, table: Data, noise: Tape) -> dict[str, Any]:
    """Run, and return all that leaves the run: its result, output, warnings and error."""
    printed, result, error = io.StringIO(), None, None
    with (
        warnings.catch_warnings(record=True) as warned,
        contextlib.redirect_stdout(printed),
        patch.object(UNCOVERED, "told", True),  # that note is of earlier fits, not of these records
    ):
        warnings.simplefilter("always")
        try:
            result = run(table, noise)
        except Diverged as way:
            error = str(way)
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
    said = [f"{w.category.__name__}: {w.message}" for w in warned]
    return {"result": result, "printed": printed.getvalue(), "warned": said, "error": error}


def fitted(estimator: Any) -> Run:
    """A run for `replay`: a fit of a fresh clone, and every attribute that it leaves.

    Parameters
    ----------
    estimator : estimator
        One of this library's.

    Returns
    -------
    run : callable
        From a table and a noise source to the fitted attributes by name.

    See Also
    --------
    replay : What it is for.
    released_by : The same for `audit`.

    Examples
    --------
    >>> from skdp import DPLogisticRegression
    >>> from skdp.audit import adversarial_pairs, fitted, replay
    >>> model = DPLogisticRegression(epsilon=1.0, delta=1e-5, data_norm=1.0, classes=[0, 1])
    >>> found = replay(fitted(model), next(adversarial_pairs("replace_one")))
    >>> found.findings, found.moved <= 1.0
    ((), True)
    """

    def run(table: Data, noise: Any) -> Any:
        model = clone(estimator)
        with (
            patch.object(_estimator, "Noise", lambda seed=None: noise),
            patch.object(_program, "Oracle", Watched),
        ):
            model.fit(*table)
        return vars(model)

    return run


def differences(
    first: Any, second: Any, path: str, within: tuple[tuple[int, int], ...] = ()
) -> list[str]:
    """Return the paths at which two results differ, bit by bit, also those of private names."""
    if type(first) is not type(second):
        return [f"{path} is of type {type(first).__name__} or {type(second).__name__}"]
    pair = id(first), id(second)
    if first is second or pair in within:
        return []
    within = (*within, pair)
    if isinstance(first, np.ndarray):
        if (first.shape, first.dtype) != (second.shape, second.dtype):
            return [f"{path} differs"]
        if first.dtype.hasobject:  # whose bytes are addresses
            return differences(first.tolist(), second.tolist(), path, within)
        return [] if first.tobytes() == second.tobytes() else [f"{path} differs"]
    if isinstance(first, dict):
        if first.keys() != second.keys():
            return [f"{path} has other names: {sorted(map(str, first.keys() ^ second.keys()))}"]
        if list(first) != list(second):
            return [f"{path} has its names in another order"]
        return [d for k in first for d in differences(first[k], second[k], f"{path}.{k}", within)]
    if isinstance(first, list | tuple):
        if len(first) != len(second):
            return [f"{path} has {len(first)} or {len(second)} parts"]
        parts = enumerate(zip(first, second))
        return [d for k, (a, b) in parts for d in differences(a, b, f"{path}[{k}]", within)]
    if (held := _held(first)) is not None:
        return differences(held, _held(second), path, within)
    same = first == second or (first != first and second != second)
    return [] if same else [f"{path} differs"]


def _held(value: Any) -> dict[str, Any] | None:
    """Return what a function, a frame or another object holds; None of what is compared as a whole."""
    if isinstance(value, type):
        return None
    if isinstance(value, partial):
        return {"func": value.func, "args": value.args, "keywords": value.keywords}
    if isinstance(value, MethodType):
        return {"self": value.__self__, "function": value.__func__}
    if isinstance(value, FunctionType):
        names = ("__code__", "__defaults__", "__kwdefaults__", "__dict__")
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return {"closure": cells, **{name: getattr(value, name) for name in names}}
    if callable(getattr(value, "to_numpy", None)):
        labels = {name: list(getattr(value, name, ())) for name in ("columns", "index")}
        return {"cells": value.to_numpy(), **labels}
    return dict(vars(value)) if hasattr(value, "__dict__") else None
