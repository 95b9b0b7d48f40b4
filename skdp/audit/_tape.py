"""Noise sources that record their calls, and that play recorded answers back."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..mechanisms import Noise, Oracle, Public, Records
from ..mechanisms._lattice import Lattice
from ..mechanisms._mechanism import Mechanism
from ..mechanisms._oracle import Account
from ._neighbours import Array, Neighbours

__all__ = ["Call", "Diverged", "Playback", "Tape", "Watched"]


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
