"""Noise sources that keep what they were handed, and that play recorded answers back."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..mechanisms import Noise, Oracle

__all__ = ["Call", "Diverged", "Playback", "Tape", "Watched"]


class Diverged(Exception):
    """The second run asks its noise for something else than the first did."""


@dataclass(frozen=True, eq=False)
class Call:
    """One call of the noise source.

    Parameters
    ----------
    kind : str
        Which of its methods.
    public : tuple
        What must be the same for neighbours: shapes, steps, scales, rates.
    statistic : ndarray or None
        What was measured; None where nothing was handed in.
    answer : object
        What was given back.
    asked : tuple (Mechanism, Public)
        The question that was being answered, and what is public of the records.
    """

    kind: str
    public: tuple
    statistic: Any
    answer: Any
    asked: tuple


class Tape(Noise):
    """Draws as always, and keeps every call.

    Parameters
    ----------
    seed : int or None
        As in `Noise`.
    """

    def __init__(self, seed=None):
        super().__init__(seed)
        self.calls, self.questions, self.asked = [], [], (None, None)

    def about(self, question, public):
        """The oracle says which question it is about to answer."""
        self.asked = (question, public)
        self.questions.append(question)

    def gaussian(self, statistic, grid):
        """As `Noise.gaussian`."""
        return self._vector("gaussian", statistic, grid, super().gaussian)

    def radial(self, statistic, grid):
        """As `Noise.radial`."""
        return self._vector("radial", statistic, grid, super().radial)

    def linear_term(self, shape, grid, pure=False):
        """As `Noise.linear_term`: nothing is measured."""
        plain = super().radial if pure else super().gaussian
        return self._call(
            "linear_term", (shape, grid, pure), None, lambda: plain(np.zeros(shape), grid)
        )

    def largest(self, scores, scale):
        """As `Noise.largest`."""
        public, draw = (np.shape(scores), float(scale)), super().largest
        return self._call("largest", public, np.array(scores), lambda: draw(scores, scale))

    def first_above(self, totals, *public):
        """As `Noise.first_above`: the statistic is the queries that were computed."""
        asked = []
        answer = self._search(super().first_above, totals, asked, public)
        plain = tuple(tuple(map(float, np.ravel(part))) for part in public)
        return self._call("first_above", plain, np.array(asked), lambda: answer)

    def _search(self, search, totals, asked, public):
        return search(_kept(totals, asked), *public)

    def poisson_batch(self, n, rate):
        """As `Noise.poisson_batch`: n is private under add_remove."""
        draw = super().poisson_batch
        return self._call("poisson_batch", (rate,), None, lambda: draw(n, rate))

    def subset(self, n, size):
        """As `Noise.subset`."""
        draw = super().subset
        return self._call("subset", (n, size), None, lambda: draw(n, size))

    def permutation(self, n):
        """As `Noise.permutation`."""
        draw = super().permutation
        return self._call("permutation", (n,), None, lambda: draw(n))

    def _vector(self, kind, statistic, grid, draw):
        exact = np.array(statistic)
        return self._call(kind, (exact.shape, grid), exact, lambda: draw(statistic, grid))

    def _call(self, kind, public, statistic, draw):
        answer = self._answer(kind, public, draw)
        self.calls.append(Call(kind, public, statistic, answer, self.asked))
        return np.copy(answer) if isinstance(answer, np.ndarray) else answer

    def _answer(self, kind, public, draw):
        return draw()


class Playback(Tape):
    """Gives recorded answers, whatever it is handed, and raises where it is asked for anything else.

    Parameters
    ----------
    tape : Tape
        Of the run on the first data set.
    pair : Neighbours
        How the second data set's records stand to the first's.
    """

    def __init__(self, tape, pair):
        super().__init__(None)
        self._stream, self.seeded = tape._stream, tape.seeded
        self._recorded, self._pair = tape.calls, pair

    def _next(self):
        if len(self.calls) == len(self._recorded):
            raise Diverged(f"asks its noise more than {len(self._recorded)} times")
        return self._recorded[len(self.calls)]

    def _search(self, search, totals, asked, public):
        recorded = self._next().statistic
        count = 0 if recorded is None else recorded.size
        asked.extend(itertools.islice(totals, count))

    def _answer(self, kind, public, draw):
        recorded, at = self._next(), len(self.calls)
        if (recorded.kind, recorded.public) != (kind, public):
            raise Diverged(
                f"call {at} is {kind}{public}, and was {recorded.kind}{recorded.public} before"
            )
        if kind in ("poisson_batch", "subset", "permutation"):
            return self._pair.positions(recorded.answer)
        if kind == "linear_term":
            return recorded.answer + self._shift(recorded, at)
        return recorded.answer

    def _shift(self, recorded, at):
        """A tilt that keeps the minimiser: the theorem is about the density of tilts at one released point."""
        point = self._recorded[at + 1].statistic
        return self._pair.gradients(*recorded.asked, point)


class Watched(Oracle):
    """An oracle that tells a tape what it is about to answer."""

    __slots__ = ("__tape",)

    def __init__(self, records, account, noise):
        super().__init__(records, account, noise)
        self.__tape = noise

    def ask(self, question):
        """As `Oracle.ask`."""
        if isinstance(self.__tape, Tape):
            self.__tape.about(question, self.public)
        return super().ask(question)


def _kept(totals, asked):
    """The queries, each kept as it is computed."""
    for total in totals:
        asked.append(float(total))
        yield total
