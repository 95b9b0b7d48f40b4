"""Calibration of scores: noisy counts of labels by the score, from which the slope of the log-odds follows.

The stage is asked after the solver, in the same script (docs/proofs/calibration.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import expit

from ..entry import Array, Rows, ScoreCells
from ..exceptions import NotSupported
from ..mechanisms import CellCounts, Public, Statement, state
from ..privacy._gaussian import gaussian_mu
from ..solvers import Budget
from .plan import Plan, Purchase
from .stages import Known, Look, Stage

__all__ = [
    "CALIBRATE",
    "LINEAR",
    "NETWORK",
    "Expected",
    "ScoreBins",
    "Slope",
    "is_worth_it",
    "slope_of",
]

CALIBRATE = """calibrate : bool or "auto", default="auto"
    Whether scores are multiplied by a slope, and shifted, so that probabilities match frequencies: noise makes scores
    of linear models too small or too large, and those of networks too large. Noisy counts of the labels by the score
    pay for it, with 3 % of the budget in mu squared. "auto" does so where public numbers say that it helps."""

SHARE = 0.03  # of the budget in mu squared; with 5 % log-loss was the same within .0005
WORTH = 1000.0  # records times mu, from which on no mean log-loss of a linear model rose by more than .0012
QUIET = 2.0  # mu beyond which noise hardly moves a fit: coefficients are then those of the problem as it is stated
# Edges of bins, in expected units of log-odds: wider where scores are rare.
BINS, REACH, BENT = 16, 6.0, 2.0
POINTS = 8  # at which a bin's probability is averaged
STEPS, CLOSE, LONGEST = 60, 1e-9, 0.5
LARGEST = 1e15  # of a count
FURTHEST, MOST_SHIFT = 2.5, 6.0  # of the logarithm of the slope, and of the shift


class Slope(NamedTuple):
    """Factor of scores, what is added to them, and how far noise moved the logarithm of the factor, in deviations."""

    factor: float
    shift: float
    spread: float


class Expected(NamedTuple):
    """Slope before anything is asked, and how far it is off: by tables and labels that no figure is reported of."""

    slope: float
    spread: float  # of the logarithm
    shift: float  # deviation of the shift


LINEAR = Expected(1.0, 0.3, 0.2)
NETWORK = Expected(0.5, 0.6, 0.3)


def is_worth_it(plan: Plan, expected: Expected) -> bool:
    """Return True if public numbers say that calibration helps: it needs one fit, a Gaussian's price, and records."""
    spec, n = plan.spec, plan.public.n
    if not spec.private or spec.delta == 0.0 or plan.adaptive or plan.fits > 1:
        return False
    if expected is NETWORK:
        return True
    if n is None or n * QUIET < WORTH:
        return False
    return WORTH / n <= gaussian_mu(spec.epsilon, spec.delta) <= QUIET


@dataclass(frozen=True)
class ScoreBins(Stage):
    """Noisy counts of labels by the score, from which a slope and a shift of the scores follow.

    Parameters
    ----------
    share : float
        Of the budget that all earlier stages leave.
    classes : int
        How many there are: of more than two, the two largest scores are compared.
    expected : Expected
        Slope before anything is asked.
    shifted : bool
        Whether there is an intercept to shift.
    """

    classes: int
    expected: Expected
    shifted: bool = True
    share: float = SHARE

    parameter: ClassVar[str] = "calibrate"

    def refusal(self, wrong: str) -> NotSupported:
        """Say what to pass in its place."""
        return NotSupported(
            f"calibrate=True counts labels by the score privately, and {wrong}; leave calibrate='auto', or set False."
        )

    def refuse(self, plan: Plan | Purchase) -> None:
        """Refuse several fits besides."""
        super().refuse(plan)
        if plan.fits > 1:
            raise self.refusal("each of several fits would need a slope of its own")

    def state(self, plan: Plan | Purchase, noise: float) -> Statement:
        """State the question, at the plan's public sizes."""
        asked = state([(self._question(plan, noise), 1)], self._public(plan))
        note = (
            "scores are calibrated by noisy counts of the labels in bins of the score, for "
            f"{self.share:.2g} of the budget in mu squared"
        )
        return Statement(asked.script, ("calibration", *asked.proofs), (note, *asked.notes))

    def run(
        self, look: Look, plan: Plan | Purchase, noise: float, budget: Budget, known: Known
    ) -> Known:
        """Ask, and post-process the answer."""
        assert isinstance(plan, Plan) and known.w is not None, "scores need a solver"
        unit, asked = 1.0 / self.expected.slope, self._question(plan, noise)
        rows = plan.view(known)
        assert isinstance(rows, Rows), "labels are those of rows"
        view = ScoreCells(rows, self._public(plan), known.w, unit, self._edges())
        counts = np.asarray(look(view).ask(asked))[: 2 * self._bins()].reshape(-1, 2)
        found = slope_of(counts, asked.multiplier, self._places(), self._prior())
        slope = found._replace(factor=self.expected.slope * found.factor)
        return replace(known, slope=slope)

    def _prior(self) -> Expected:
        """Return what is expected of scores in units of the bins."""
        shift = self.expected.shift if self.shifted and self.classes == 2 else 0.0
        return self.expected._replace(slope=1.0, shift=shift)

    def _bins(self) -> int:
        return len(self._edges()) + 1

    def _edges(self) -> tuple[float, ...]:
        """Return the edges between bins: of both signs, or of differences that are 0 or more."""
        return bin_edges(BINS, self.classes == 2)

    def _places(self) -> Array:
        """Return the ends of all bins; the outer ones are closed where hardly a score is left."""
        return bin_ends(self._edges(), self.classes == 2)

    def _question(self, plan: Plan | Purchase, noise: float) -> CellCounts:
        """Counts of cells: a replaced record moves a gradient by two bounds, and these by sqrt(2)."""
        moved = math.sqrt(self.share * plan.public.sensitivity_factor)
        cells = 2 * self._bins() + (self.classes > 2)
        return CellCounts(cells=cells, multiplier=noise / moved)

    def _public(self, plan: Plan | Purchase) -> Public:
        public = plan.public
        return Public(
            public.n,
            1,
            0.0,
            public.neighbors,
            target_bound=2.0 * self._bins() + 1.0,
            rows=public.rows,
            weighted=public.weighted,
        )


def bin_edges(bins: int, signed: bool = True) -> tuple[float, ...]:
    """Return the edges between bins of scores: of both signs, or from 0 on."""
    count = bins - 1
    along = np.linspace(-1.0, 1.0, count) if signed else np.arange(1, count) / (count - 1)
    return tuple(REACH * np.sinh(BENT * along) / math.sinh(BENT))


def bin_ends(edges: tuple[float, ...], signed: bool = True) -> Array:
    """Return the ends of all bins; the outer ones are closed where hardly a score is left."""
    known = np.array(edges)
    low = known[0] - 1.5 * (known[1] - known[0]) if signed else 0.0
    return np.concatenate([[low], known, [known[-1] + 1.5 * (known[-1] - known[-2])]])


def bin_means(sizes: Array, noise: float) -> Array:
    """Return about the mean score of each bin of both signs, from noisy counts of records."""
    ends = bin_ends(bin_edges(len(sizes)))
    points, weights = _points(np.maximum(_smoothed(sizes, noise), 0.0), ends, noise)
    return np.asarray((points * weights).sum(axis=1))


def slope_of(counts: Array, noise: float, places: Array, expected: Expected) -> Slope:
    """Return the slope and the shift of a logistic model of the second class, shrunk by their own noise.

    A quasi-likelihood: residuals of bins count by how much they tell beside the noise of their counts and sampling, and
    what is expected counts as one more observation.

    Parameters
    ----------
    counts : ndarray of shape (B, 2)
        Noisy ones of both classes in bins of the score.
    noise : float
        Deviation of the noise on each.
    places : ndarray of shape (B + 1,)
        Ends of the bins.
    expected : Expected
        Of slope and shift; a shift of deviation 0 stays 0.
    """
    counts, noise = np.clip(counts, -LARGEST, LARGEST), min(noise, LARGEST)
    sizes = np.maximum(_smoothed(counts.sum(axis=1), noise), 0.0)
    points, weights = _points(sizes, places, noise)
    precise = np.array([expected.spread, max(expected.shift, 1e-6)]) ** -2.0
    found = np.zeros(2)  # logarithm of the slope over the expected one, and shift
    for _ in range(STEPS):
        inner = expected.slope * math.exp(found[0]) * points
        odds = expit(inner + found[1])
        p, bent = (weights * odds).sum(axis=1), weights * odds * (1.0 - odds)
        along = np.stack([(bent * inner).sum(axis=1), bent.sum(axis=1)])
        residuals = (1.0 - p) * counts[:, 1] - p * counts[:, 0]
        variances = noise**2 * ((1.0 - p) ** 2 + p**2) + sizes * p * (1.0 - p) + 1e-9
        told = along * (sizes / variances)
        information = (told * sizes) @ along.T + np.diag(precise)
        step = np.linalg.solve(information, told @ residuals - precise * found)
        step = np.clip(step, -LONGEST, LONGEST)
        limits = np.array([FURTHEST, MOST_SHIFT])
        found = np.clip(found + step, -limits, limits)
        if np.abs(step).max() < CLOSE:
            break
    moved = np.linalg.solve(information, told * noise * np.hypot(1.0 - p, p))[0]
    shift = float(found[1]) if expected.shift else 0.0
    return Slope(expected.slope * math.exp(found[0]), shift, float(np.sqrt(moved @ moved)))


def _smoothed(sizes: Array, noise: float) -> Array:
    """Return counts of bins, moved towards the mean of three as far as noise explains the distance."""
    ends = np.concatenate([sizes[:1], sizes, sizes[-1:]])
    apart = 0.25 * ends[:-2] + 0.25 * ends[2:] - 0.5 * sizes
    return np.asarray(sizes + apart * noise**2 / (noise**2 + apart**2 + 1e-9))


def _points(sizes: Array, places: Array, noise: float) -> tuple[Array, Array]:
    """Return points in each bin and their weights, by a density that grows or falls as the neighbours say."""
    wide, middle = np.diff(places), 0.5 * (places[1:] + places[:-1])
    density = sizes / wide
    growth = np.gradient(density, middle) / (density + 2.0 * noise / wide + 1e-9)
    growth = np.clip(growth, -3.0 / wide, 3.0 / wide)[:, None]
    within = wide[:, None] * ((np.arange(POINTS) + 0.5) / POINTS - 0.5)
    weights = np.exp(growth * within)
    return middle[:, None] + within, weights / weights.sum(axis=1, keepdims=True)
