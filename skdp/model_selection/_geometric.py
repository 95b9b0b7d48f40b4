"""The best of a random number of runs, at one price for all (docs/proofs/selection.md).

Pilots, a choice and a refit (docs/proofs/selection.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..entry import SearchRecords, quietly
from ..exceptions import NotSupported
from ..fitting.release import Query, Seeds, best_trial, release
from ..mechanisms import Public
from ..privacy import Spec
from ..privacy import epsilon as price_of
from ..privacy._arithmetic import round_up
from ..privacy._compose import exact_mu, reduced
from ..privacy._gaussian import gaussian_mu
from ..privacy.events import BestOf, Gaussian, Script, merged
from ..privacy.selection import CappedGeometricRuns
from ._candidates import last_of
from ._frame import CLOSE, Best, Frame, largest
from ._losses import SCORES, Choice, LossOfRun

__all__ = ["Geometric", "Pilot"]


PILOTS, CHOICE, REFIT = 0.28, 0.02, 0.70  # of mu squared


@dataclass(frozen=True, eq=False)
class Pilot:
    """Search by a fit of each setting, a noisy choice, and a refit of the chosen one with most of the budget.

    Which refit is made is chosen by answers, so all of them have to be Gaussian: the costliest dominates the others.

    Parameters
    ----------
    frame : Frame
        What is public.
    """

    frame: Frame

    @cached_property
    def _mu(self) -> float:
        whole = gaussian_mu(self.frame.spec.epsilon, self.frame.spec.delta)
        return largest(self._price, self.frame.spec.epsilon, whole * (1 - CLOSE / 2))

    def _price(self, mu: float) -> float:
        frame, script = self.frame, self._script(mu)
        return price_of(script, frame.spec.delta, frame.spec.neighbors, frame.accountant)

    def _pilot(self, mu: float) -> float:
        return mu * math.sqrt(PILOTS / len(self.frame.candidates))

    def _refit(self, mu: float) -> float:
        return mu * math.sqrt(REFIT)

    def _choice(self, mu: float) -> tuple[Choice, Spec]:
        return Choice(len(self.frame.candidates), *self.frame.scored), self.frame.promise(
            mu * math.sqrt(CHOICE)
        )

    def _public(self) -> Public:
        return self.frame.public(len(self.frame.candidates))

    def _script(self, mu: float) -> Script:
        frame, settings = self.frame, range(len(self.frame.candidates))
        pilots = [run for i in settings for run in frame.script(i, self._pilot(mu), "gdp")]
        asked, spec = self._choice(mu)
        chosen, _ = asked.priced(spec, self._public())
        costliest = max(self._one_mu(frame.script(i, self._refit(mu), "gdp")) for i in settings)
        return merged((*pilots, *chosen, (Gaussian(1.0 / costliest), 1)))

    def proved(self) -> bool:
        """Return True if all fits are Gaussian."""
        try:
            return bool(self._mu)
        except NotSupported:
            return False

    def _one_mu(self, script: Script) -> float:
        mu = exact_mu(reduced(script, self.frame.spec.neighbors))
        if mu is None:
            raise NotSupported(
                "strategy='pilot' chooses its last fit by answers, which is proved for Gaussian noise alone; use "
                "strategy='geometric', or solver='gd'."
            )
        return mu

    @property
    def script(self) -> Script:
        """Return the script of all that the search releases, with the refit that costs most."""
        return self._script(self._mu)

    def proofs(self) -> tuple[str, ...]:
        """Pages that it rests on, beside those of the fits."""
        asked, spec = self._choice(self._mu)
        return asked.priced(spec, self._public())[1]

    def told(self) -> str:
        """Return how settings were chosen, in words."""
        return (
            f"{len(self.frame.candidates)} pilots on {PILOTS:.0%} of the promise, a noisy choice among them by the "
            f"same records on {CHOICE:.0%}, and a refit of the chosen setting on {REFIT:.0%}"
        )

    def quoted(self, index: int) -> Any:
        """A candidate as it will be fitted."""
        return self.frame.candidates.model(index, self._refit(self._mu), "gdp")

    def run(self, records: SearchRecords, seeds: Seeds) -> Best | None:
        """Fit all, choose, and fit once more."""
        frame, (asked, spec) = self.frame, self._choice(self._mu)
        pilot, refit = self._pilot(self._mu), self._refit(self._mu)

        def fitted(setting: int, mu: float) -> Any:
            return quietly(lambda: frame.fitted(setting, mu, records, seeds, "gdp"))

        pilots = [fitted(setting, pilot) for setting in range(len(frame.candidates))]
        judged = records.judged(*pilots, neighbors=frame.spec.neighbors)
        chosen, _ = release(asked, spec, self._public(), judged, random_state=seeds.next())
        model = fitted(chosen, refit)
        return None if model is None else Best(chosen, model, None)


SCORE = 0.1  # of a run's mu squared, for its score


@dataclass(frozen=True, eq=False)
class Geometric:
    """The best of K runs on drawn settings, K geometric and capped.

    Parameters
    ----------
    frame : Frame
        What is public.
    mean, cap : int
        Of K.
    """

    frame: Frame
    mean: int
    cap: int

    @cached_property
    def _mu(self) -> float:
        """Largest mu of one run that the search can pay for, its score included."""
        whole = gaussian_mu(self.frame.spec.epsilon, self.frame.spec.delta)
        return largest(self._price, self.frame.spec.epsilon, 0.7 * whole)

    def _price(self, mu: float) -> float:
        return price_of(self._script(mu), self.frame.spec.delta, self.frame.spec.neighbors)

    def _score(self, mu: float) -> tuple[Query, Spec]:
        frame = self.frame
        return LossOfRun(frame.public().n, *frame.scored), frame.promise(mu * math.sqrt(SCORE))

    def _fit(self, mu: float) -> float:
        return mu * math.sqrt(1.0 - SCORE)

    def _script(self, mu: float) -> Script:
        frame, (asked, spec) = self.frame, self._score(mu)
        score, _ = asked.priced(spec, frame.public())
        odds: dict[Script, int] = {}
        for index, weight in enumerate(frame.candidates.weights):
            run = merged((*frame.script(index, self._fit(mu)), *score))
            odds[run] = odds.get(run, 0) + weight
        whole = sum(odds.values())
        weights = tuple(weight / whole for weight in odds.values())
        return ((BestOf(tuple(odds), weights, self.mean, self.cap), 1),)

    @property
    def script(self) -> Script:
        """Return the script of all that the search releases."""
        return self._script(self._mu)

    def proofs(self) -> tuple[str, ...]:
        """Pages that it rests on, beside those of the fits."""
        asked, spec = self._score(self._mu)
        return "selection", *asked.priced(spec, self.frame.public())[1]

    def told(self) -> str:
        """Return how settings were chosen, in words."""
        return (
            f"the best of K runs by a noisy score of the same records, K secret, geometric of mean {self.mean} and at "
            f"most {self.cap}; one run costs epsilon = {round_up(self.frame.promise(self._mu).epsilon, 4)} by itself"
        )

    def quoted(self, index: int) -> Any:
        """A candidate as it will be fitted."""
        return self.frame.candidates.model(index, self._fit(self._mu))

    def run(self, records: SearchRecords, seeds: Seeds) -> Best | None:
        """Fit and score as often as the cap allows."""
        frame, mu, (asked, spec) = self.frame, self._mu, self._score(self._mu)

        def trial(index: int) -> tuple[float, Best]:
            model = frame.fitted(index, self._fit(mu), records, seeds)
            judged = records.judged(model, neighbors=frame.spec.neighbors)
            found = release(asked, spec, frame.public(), judged, random_state=seeds.next())
            score, mean = found[0]
            figure = SCORES[frame.scoring].figure(mean, last_of(model))
            return score, Best(index, model, figure)

        odds = CappedGeometricRuns(self.mean, self.cap).odds
        return best_trial(trial, frame.candidates.weights, odds, seeds)
