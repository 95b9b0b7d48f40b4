"""Private figure of held-out records: public numbers, questions by them, and a result from the answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from ..fitting.release import Query, release
from ..mechanisms import Public
from ..privacy import Receipt, Spec

__all__ = ["Facts", "Figure", "measure"]


class Facts(NamedTuple):
    """Public facts that a figure may use before it asks.

    Parameters
    ----------
    n : int or None
        Number of records, where it is public.
    classes : int
        Number of the model's classes, 0 for numbers.
    spec : Spec
        The promise.
    level : float
        Coverage of the interval.
    """

    n: int | None
    classes: int
    spec: Spec
    level: float


@dataclass(frozen=True)
class Figure(Query):
    """Base of the figures, which `skdp.fitting.release` asks; they see no record.

    Parameters
    ----------
    n : int or None
        Number of records, where it is public.
    """

    n: int | None

    needs: ClassVar[str] = "predicted"  # which outcomes of `Held`

    @property
    def reach(self) -> float:
        """The largest target of a record."""
        return 1.0

    @property
    def declared(self) -> dict[str, Any]:
        """The number of records, where it is public."""
        return {} if self.n is None else {"n": self.n}


def measure(figure: Figure, spec: Spec, held: Any, given: dict[str, Any]) -> tuple[Any, Receipt]:
    """Release a figure of held records, or refuse before anything is paid where the model has no such outcomes."""
    public = Public(figure.n, 1, 0.0, spec.neighbors, target_bound=figure.reach)
    held.refuse_without(figure.needs, public.most)
    return release(figure, spec, public, held, **given)
