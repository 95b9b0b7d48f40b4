"""Public facts of a search, and the guarantee and script of each of its fits.

Intake of records for a search: closed and checked before anything is paid, with errors that show no cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ..entry import SearchRecords, sizes_along
from ..exceptions import NotSupported
from ..fitting import PrivateEstimator
from ..fitting.release import Seeds
from ..mechanisms import Public
from ..privacy import Spec
from ..privacy.events import Script
from ._candidates import Candidates, epsilon_of, joined, last_of, paying, steps_of
from ._losses import bounds_of, public_of

__all__ = [
    "CLOSE",
    "Best",
    "Frame",
    "Widths",
    "largest",
    "marked",
    "quotes_along",
    "refuse_rest",
    "widths_of",
]


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


CLOSE = 1e-3  # how near to the promise is near enough
_TRIES = 30


class Best(NamedTuple):
    """Result of a search."""

    setting: int
    model: Any
    score: float | None


@dataclass(frozen=True, eq=False)
class Frame:
    """Public facts of a search.

    Parameters
    ----------
    candidates : Candidates
        Settings to choose from.
    scoring : str
        Name of the score that compares models.
    spec : Spec
        The promise for all of it.
    n : int or None
        Number of records, where public.
    widths : tuple of tuple of int
        Number of columns at each paying step, for each candidate.
    accountant : str
        Of the price that must not exceed the promise: ``"gdp"`` where the ledger that pays counts so.
    """

    candidates: Candidates
    scoring: str
    spec: Spec
    n: int | None
    widths: tuple[tuple[int, ...], ...]
    accountant: str = "auto"

    def promise(self, mu: float) -> Spec:
        """Return the guarantee of a single release of this mu."""
        spec = self.spec
        return Spec(epsilon_of(mu, spec.delta), spec.delta, spec.neighbors)

    def script(self, index: int, mu: float, accountant: str | None = None) -> Script:
        """Return the script of a fit of a candidate; it is kept, since a search makes the same fit again and again."""
        asked = index, mu, accountant
        if asked not in self._scripts:
            model = self.candidates.model(index, mu, accountant)
            self._scripts[asked] = self.candidates.script(model, self.n, self.widths[index])
        return self._scripts[asked]

    @cached_property
    def _scripts(self) -> dict[tuple[int, float, str | None], Script]:
        return {}

    def fitted(
        self,
        index: int,
        mu: float,
        records: SearchRecords,
        seeds: Seeds,
        accountant: str | None = None,
    ) -> Any:
        """Fit a candidate, and check that it asked what it was priced for."""
        model = self.candidates.model(index, mu, accountant)
        for _, step in paying(model):
            step.set_params(random_state=seeds.next())
        records.fit(model)
        asked = joined(step.privacy_.script for _, step in paying(model))
        if asked != self.script(index, mu, accountant):
            raise NotSupported("A fit asked questions other than those it was priced for.")
        return model

    @property
    def scored(self) -> tuple[str, float, float]:
        """Name of the score, and the bounds of the targets."""
        return self.scoring, *bounds_of(last_of(self.candidates.bare(0)))

    def public(self, columns: int = 1) -> Public:
        """Facts of a vault of losses."""
        return public_of(self.n, self.spec.neighbors, columns)


def largest(price: Callable[[float], float], promise: float, start: float) -> float:
    """Return nearly the largest budget, in mu, whose price is within the guarantee."""
    low, high, at = 0.0, math.inf, start
    for _ in range(_TRIES):
        cost = price(at)
        if cost <= promise:
            low = at
            if cost >= promise * (1 - CLOSE):
                break
        else:
            high = at
        near = at * (promise * (1 - CLOSE / 2) / cost)
        at = near if low < near < high else 2.0 * low if math.isinf(high) else 0.5 * (low + high)
    if low == 0.0:
        raise NotSupported(
            "The budget is too small for a single run of the search; use a larger epsilon or delta."
        )
    return low
