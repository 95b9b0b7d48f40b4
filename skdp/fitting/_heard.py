"""Answers that are kept beside a fit: they have been paid for, and what is made of them afterwards is free."""

from __future__ import annotations

from ..mechanisms._mechanism import Mechanism
from ..solvers._solver import Array, OracleLike

__all__ = ["Heard"]


class Heard:
    """Keeps what a solver is told in answer to some kinds of questions.

    Parameters
    ----------
    kind : type of Mechanism, or several
        Which questions.
    """

    def __init__(self, kind: type[Mechanism] | tuple[type[Mechanism], ...]) -> None:
        self.kind = kind
        self.answers: list[tuple[Mechanism, Array]] = []

    @classmethod
    def of(cls, kind: type[Mechanism] | tuple[type[Mechanism], ...] | None) -> Heard | None:
        """One, where there is anything to listen to."""
        return cls(kind) if kind else None

    def beside(self, oracle: OracleLike) -> OracleLike:
        """The oracle, as a solver sees it, with somebody who listens."""
        return _Listened(oracle, self)


class _Listened:
    """Hands on questions and answers."""

    def __init__(self, oracle: OracleLike, heard: Heard) -> None:
        self._oracle, self._heard = oracle, heard
        self.public = oracle.public

    def share(self, question: Mechanism) -> float:
        """As the oracle says."""
        return self._oracle.share(question)

    def ask(self, question: Mechanism) -> Array:
        """The oracle's answer."""
        answer = self._oracle.ask(question)
        if isinstance(question, self._heard.kind):
            self._heard.answers.append((question, answer.copy()))
        return answer

    def affords(self, *questions: Mechanism) -> bool:
        """As the oracle says."""
        return self._oracle.affords(*questions)
