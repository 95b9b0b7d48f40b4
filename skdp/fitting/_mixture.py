"""Mixture of two models of the same records: a second fit, and noisy counts of labels by both scores.

Both stages are asked after the solver, in the same script (docs/proofs/mixture.md). How much each score counts for
follows from the counts, so a model that tells nothing gets the weight 0, and the script is the same whatever they say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import expit

from ..entry import Array, Rows, ScorePairs
from ..exceptions import NotSupported
from ..mechanisms import CellCounts, Public, Statement, state
from ..solvers import Budget
from ._calibration import LARGEST, LINEAR, NETWORK, bin_edges, bin_means
from ._pricing import rehearse
from .plan import Plan, Purchase
from .stages import Known, Look, Stage

__all__ = ["Mixed", "ScoreGrid", "SecondFit", "weigh_scores"]

BINS = 12
STEPS, CLOSE, LONGEST = 60, 1e-9, 0.5
# What is expected of the two weights and of the shift, of both models or of one alone, and how far it is off: of tables
# and labels that no figure is reported of.
BOTH, LINEAR_ALONE, NETWORK_ALONE = (0.7, 0.45, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
SPREAD = 0.4, 0.3, 0.3
CLEAR = 1.0  # deviations of its own error that a weight must exceed, or the score is left out
STEEPEST, MOST_SHIFT = 12.0, 6.0


class Mixed(NamedTuple):
    """Factors of the scores of two models, and what is added to their sum."""

    first: float
    second: float
    shift: float


@dataclass(frozen=True)
class SecondFit(Stage):
    """Fit of another model to the same records, whose questions are a fixed script.

    Parameters
    ----------
    plan : Plan
        Of that model, without stages of its own.
    columns : int
        How many columns of the rows it sees, from the first.
    share : float
        Of the budget that all earlier stages leave.
    """

    plan: Plan
    columns: int
    share: float

    parameter: ClassVar[str] = "model"

    def state(self, plan: Plan | Purchase, noise: float) -> Statement:
        """State what its solver asks."""
        return rehearse(self.plan, self.budget(noise))

    def run(
        self, look: Look, plan: Plan | Purchase, noise: float, budget: Budget, known: Known
    ) -> Known:
        """Ask, and keep the parameters."""
        own = self.plan
        w = own.solver.solve(look(self.view(known)), own.task, self.budget(noise))
        return replace(known, beside=w)

    def budget(self, noise: float) -> Budget:
        """Return its solver's view of this share: at equal price a batch's noise is that of so many whole gradients."""
        drawn = self.plan.solver.get_params()
        several = float(drawn["rate"]) * math.sqrt(drawn["steps"])
        return self.plan.budget(noise=several * noise / math.sqrt(self.share))

    def view(self, known: Known) -> Rows:
        """Return how its solver sees the records."""
        rows = self.plan.view(known)
        assert isinstance(rows, Rows), "labels are those of rows"
        return replace(rows, first=self.columns)


@dataclass(frozen=True)
class ScoreGrid(Stage):
    """Noisy counts of labels by two scores, from which it follows what each of the two counts for.

    Parameters
    ----------
    second : SecondFit
        The stage before it, whose model has the other score.
    share : float
        Of the budget that all earlier stages leave.
    """

    second: SecondFit
    share: float = 1.0

    parameter: ClassVar[str] = "model"

    def state(self, plan: Plan | Purchase, noise: float) -> Statement:
        """State the question, at the plan's public sizes."""
        asked = state([(self._question(plan, noise), 1)], self._public(plan))
        note = "what the scores of two models count for follows from noisy counts of the labels by both"
        return Statement(asked.script, ("mixture", *asked.proofs), (note, *asked.notes))

    def run(
        self, look: Look, plan: Plan | Purchase, noise: float, budget: Budget, known: Known
    ) -> Known:
        """Ask, and post-process the answer."""
        assert isinstance(plan, Plan) and known.w is not None and known.beside is not None
        rows, asked = plan.view(known), self._question(plan, noise)
        assert isinstance(rows, Rows), "labels are those of rows"
        both, w = (rows, self.second.view(known)), (known.w, known.beside)
        units = 1.0 / LINEAR.slope, 1.0 / NETWORK.slope
        view = ScorePairs(both, self._public(plan), w, units, bin_edges(BINS))
        counts = np.asarray(look(view).ask(asked)).reshape(BINS, BINS, 2)
        found = weigh_scores(counts, asked.multiplier)
        first, second = found.first / units[0], found.second / units[1]
        return replace(known, mixed=found._replace(first=first, second=second))

    def refusal(self, wrong: str) -> NotSupported:
        """Say what to pass in its place."""
        return NotSupported(f"model='mixture' asks two models, and {wrong}; name another model.")

    def _question(self, plan: Plan | Purchase, noise: float) -> CellCounts:
        """Counts of cells: a replaced record moves a gradient by two bounds, and these by sqrt(2)."""
        moved = math.sqrt(self.share * plan.public.sensitivity_factor)
        return CellCounts(cells=2 * BINS * BINS, multiplier=noise / moved)

    def _public(self, plan: Plan | Purchase) -> Public:
        public = plan.public
        return Public(
            public.n,
            1,
            0.0,
            public.neighbors,
            target_bound=2.0 * BINS * BINS - 1.0,
            rows=public.rows,
            weighted=public.weighted,
        )


def weigh_scores(counts: Array, noise: float) -> Mixed:
    """Return the weights of two scores and a shift, of a logistic model of the second class, shrunk by their noise.

    A quasi-likelihood as of `skdp.fitting._calibration.slope_of`. A score whose weight is not clear of its own error
    counts for nothing: of the two the second is asked first, so that ties go to the first.

    Parameters
    ----------
    counts : ndarray of shape (B, B, 2)
        Noisy ones of both classes in bins of both scores.
    noise : float
        Deviation of the noise on each.
    """
    counts, noise = np.clip(counts, -LARGEST, LARGEST), min(noise, LARGEST)
    sizes = counts.sum(axis=2)
    places = [bin_means(sizes.sum(axis=1 - axis), noise * math.sqrt(BINS)) for axis in (0, 1)]
    grid = np.meshgrid(*places, indexing="ij")
    columns = np.stack([grid[0].ravel(), grid[1].ravel(), np.ones(BINS * BINS)])
    flat = counts.reshape(-1, 2)
    found, error = _solve_weights(flat, noise, columns, BOTH)
    if found[1] <= CLEAR * error[1]:
        found, error = _solve_weights(flat, noise, columns, LINEAR_ALONE)
        return Mixed(max(found[0], CLEAR * error[0]), 0.0, found[2])
    if found[0] <= CLEAR * error[0]:
        found, _ = _solve_weights(flat, noise, columns, NETWORK_ALONE)
        return Mixed(0.0, max(found[1], CLEAR * error[1]), found[2])
    return Mixed(*found)


def _sizes_around(sizes: Array) -> Array:
    """Return about the records of each cell, by the counts of its neighbours: the noise of its own moves no weight."""
    grid = np.pad(sizes.reshape(BINS, BINS), 1)
    rows = grid[:-2] + 2.0 * grid[1:-1] + grid[2:]
    whole = rows[:, :-2] + 2.0 * rows[:, 1:-1] + rows[:, 2:]
    around = (whole - 4.0 * grid[1:-1, 1:-1]) / 12.0
    return np.asarray(np.maximum(around, 0.0)).ravel()


def _solve_weights(
    counts: Array, noise: float, columns: Array, expected: tuple[float, ...]
) -> tuple[list[float], list[float]]:
    """Weights of both scores and a shift, and the deviation of each; a score of which 0 is expected has none."""
    sizes, mean = _sizes_around(counts.sum(axis=1)), np.array(expected)
    columns = columns * np.array([[expected[0] > 0.0], [expected[1] > 0.0], [True]])
    precise = np.diag(np.array(SPREAD) ** -2.0)
    limits = np.array([STEEPEST, STEEPEST, MOST_SHIFT])
    found = mean
    for _ in range(STEPS):
        p = expit(found @ columns)
        along = p * (1.0 - p) * columns
        residuals = (1.0 - p) * counts[:, 1] - p * counts[:, 0]
        variances = noise**2 * ((1.0 - p) ** 2 + p**2) + sizes * p * (1.0 - p) + 1e-9
        told = along * (sizes / variances)
        information = (told * sizes) @ along.T + precise
        step = np.linalg.solve(information, told @ residuals - precise @ (found - mean))
        found = np.clip(found + np.clip(step, -LONGEST, LONGEST), -limits, limits)
        if np.abs(step).max() < CLOSE:
            break
    error = np.sqrt(np.diagonal(np.linalg.inv(information)))
    return found.tolist(), error.tolist()
