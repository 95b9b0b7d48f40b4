"""Coordinates in which no direction of the rows is longer than another, bought by one noisy second moment.

The noise of a gradient is the same in all directions, and real rows are not: along most directions they hardly vary,
and there the noise drowns what they say. Whitened rows meet it with equal lengths. The moment's own noise sets a floor
below which directions are not stretched, so that without a signal the coordinates are the given ones.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import cholesky, eigvalsh, solve_triangular

from ..exceptions import NotSupported
from ..mechanisms import Coordinates, Mapped, Public, RowNorms, SecondMoment
from ..mechanisms._mechanism import Mechanism
from ..penalties import L2, NoPenalty, ScaledPenalty
from ._least_squares import denoised
from ._one_shot import TYPICAL
from ._solver import Array, Asked, Budget, OracleLike, Solver, Task

__all__ = [
    "Whitened",
    "along_outputs",
    "buy_whitening",
    "diagonalising",
    "opening",
    "refuse_other_penalties",
    "settled",
    "share_left",
    "stand_in",
    "whitening_asked",
    "wholeness",
]

_LEAST = 1e-3  # of the largest possible eigenvalue: shorter directions are not worth stretching
_LEFT = 0.25  # of the operator norm of the moment's noise, about: what denoising leaves of it
OPEN = 0.02  # noise norm of a mean gradient, times root of the width, below which the cut opens
BIASED = 2 * OPEN  # and above which bias of cut rows is less than what noise does to their weights
_EQUAL = 1e-9  # of the largest value: others are apart by more than rounding
_MOST = 1e6  # a penalty's curvature beyond which its directions are as good as gone


def refuse_other_penalties(solver: Solver, task: Task) -> None:
    """Refuse penalties other than a ridge, which alone stays simple in other coordinates."""
    if not isinstance(task.penalty.penalty, L2 | NoPenalty):
        raise NotSupported(
            f"solver={solver.name!r} takes penalty='l2' or None, not {type(task.penalty.penalty).__name__}; use 'gd' "
            "or 'ssadmm'."
        )


def along_outputs(weights: Array, task: Task) -> Array:
    """Shape a weight for each row of the parameters so that all outputs are weighted alike."""
    return weights if len(task.shape) == 1 else weights[:, None]


def share_left(solver: Any) -> float:
    """Return the share of the budget that a solver's shares for the moment and the norms leave."""
    left = 1.0 - solver.moment_share - solver.norm_share
    if not left > 0.0:
        raise ValueError(
            f"moment_share={solver.moment_share!r} and norm_share={solver.norm_share!r} leave nothing of the budget "
            "for the fit; use for example 0.1 and 0.02."
        )
    return left


class Whitened:
    """Rows x become ``matrix @ x``, shrunk to norm at most 1; parameters u of theirs are ``matrix.T @ u`` of x.

    Parameters
    ----------
    coordinates : Coordinates
        The whitening.
    scale : float
        Norm of a row in it that is brought to 1: a typical one, or longer.
    public : Public
        Facts about the given rows.
    whole : float
        How much of the shrinking is undone in scores, see `wholeness`.
    """

    def __init__(
        self, coordinates: Coordinates, scale: float, public: Public, whole: float = 1.0
    ) -> None:
        self._coordinates, self.scale, self._whole = coordinates, scale, whole
        self.public = coordinates.seen(public)

    @property
    def matrix(self) -> Array:
        """Map from the given rows to the new ones."""
        return self._coordinates.matrix / self.scale

    def question(self, question: Mechanism) -> Mapped:
        """The question, asked of the new rows. One without a clip is for who wants no bias."""
        whole = 1.0 if getattr(question, "clip", None) is None else self._whole
        return Mapped(
            question=question, coordinates=self._coordinates, scale=self.scale, whole=whole
        )

    def back(self, u: Array) -> Array:
        """Parameters of the given rows."""
        return self.matrix.T @ u

    def ridge(self, penalty: ScaledPenalty) -> Array:
        """Weights of an L2 penalty of the given parameters, which may leave the intercept alone, on the new ones."""
        matrix = self.matrix
        acts_on = matrix[:, :-1] if penalty.intercept else matrix
        return penalty.convexity_of_coefficients * np.square(acts_on).sum(axis=1)


def _questions(solver: Any, public: Public, budget: Budget) -> tuple[float, float]:
    """Multipliers of the second moment and of the typical norm.

    A replaced record moves a gradient by two bounds, the moment by sqrt(2), the norms by one: they need less noise.
    """
    moment = budget.noise / math.sqrt(solver.moment_share * public.sensitivity_factor)
    norms = budget.noise / (math.sqrt(solver.norm_share) * public.sensitivity_factor)
    return moment, norms


def stand_in(public: Public, whole: float = 1.0) -> Whitened:
    """Coordinates of the right shape: a price is the same in all of them."""
    return Whitened(Coordinates.of_width(public.width), 1.0, public, whole)


def whitening_asked(solver: Any, public: Public, budget: Budget) -> Asked:
    """Yield the queries of `buy_whitening`."""
    moment, norms = _questions(solver, public, budget)
    anywhere = Coordinates.of_width(public.width)
    yield SecondMoment(multiplier=moment), 1
    yield RowNorms(coordinates=anywhere, cap=1.0, multiplier=norms), 1


def buy_whitening(
    solver: Any, oracle: OracleLike, task: Task, n: float, budget: Budget
) -> Whitened:
    """Buy coordinates for two shares of the budget.

    Parameters
    ----------
    solver : Solver
        Its `moment_share` and `norm_share`.
    oracle : Oracle
        Answers.
    task : Task
        Its penalty's curvature counts beside the rows'.
    n : float
        Number of records, public or bought.
    budget : Budget
        Its noise is that of one gradient of the whole budget.
    """
    public = oracle.public
    bound, size = public.row_bound, public.width
    noise, norms = _questions(solver, public, budget)
    each = noise * bound**2 / n  # deviation of the moment's noise on its diagonal
    moment = denoised(oracle.ask(SecondMoment(multiplier=noise)) / n, each)
    penalised = np.eye(size)
    if task.penalty.intercept:
        penalised[-1, -1] = 0.0
    own = max(task.penalty.convexity_of_coefficients, 0.0) / (task.curvature * n)
    floor = _LEFT * each * math.sqrt(2.0 * size) + _LEAST * bound**2
    moment += floor * np.eye(size)
    matrix, stretch = diagonalising(moment + min(own, _MOST) * penalised, penalised, floor)
    coordinates = Coordinates(matrix)
    longest = bound * stretch
    cap = min(longest, 2.0 * math.sqrt(size))
    typical = oracle.ask(RowNorms(coordinates=coordinates, cap=cap, multiplier=norms)) / n
    scale = max(float(typical), 0.25 * cap) * opening(public, budget)
    return Whitened(coordinates, min(scale, longest), public, wholeness(task, public, budget))


def _level(public: Public, budget: Budget) -> float:
    """Noise norm of a mean gradient of clip 1, times root of the width: a public number."""
    return budget.noise * public.width / (public.n or TYPICAL)


def wholeness(task: Task, public: Public, budget: Budget) -> float:
    """Return the part of the shrinking of cut rows that is undone in their scores: all of it as the noise falls.

    The loss of a whole row weighs what is left of it squared, so that parameters have no bias; that of what is left
    weighs it once, which says more of rare values, and makes parameters too large, as the noise's pull makes them too
    small. A target to predict is that of the whole row: its score must be, too. Chosen on generated tables, and on
    other labels than those that figures are reported of.
    """
    if task.loss.kind == "regression":
        return 1.0
    return 1.0 / (1.0 + _level(public, budget) / BIASED)


def opening(public: Public, budget: Budget) -> float:
    """Return the cut of whitened rows in typical norms: 1 at high noise, without end as it falls.

    A cut at the typical norm bends every other row, which is less than noise does to a direction while that is above
    OPEN; a cut this many times longer lets as much more noise in, and rows of no more than a few typical norms need
    little of it. A public number: a price rests on it.
    """
    return max(1.0, (OPEN / max(_level(public, budget), 1e-60)) ** (1 / 6))


def diagonalising(moment: Array, penalised: Array, floor: float) -> tuple[Array, float]:
    """A with A moment A' = I, which whitens, and A penalised A' diagonal, so that an L2 penalty stays a sum.

    No eigenvalue is below the floor but by rounding. Beside it, by how much A stretches at most.
    """
    least = float(eigvalsh(moment, subset_by_index=(0, 0))[0])
    factor = cholesky(moment, lower=True)
    half = solve_triangular(factor, penalised, lower=True)
    turned = settled(*np.linalg.eigh(solve_triangular(factor, half.T, lower=True)))
    return solve_triangular(factor, turned, lower=True, trans="T").T, max(least, floor) ** -0.5


def settled(values: Array, vectors: Array) -> Array:
    """Eigenvectors that the last bit of a moment does not turn: of equal values, those nearest to fixed directions.

    Where a floor makes values equal, any basis of their space is as good, and which one comes out would differ between
    a sparse table and the same dense one, or between two machines: with one seed the noise lies another way.
    """
    size = len(values)
    places = np.arange(1.0, size + 1.0)
    directions = np.modf(43758.5453 * np.sin(12.9898 * places[:, None] + 78.233 * places))[0]
    ends = np.flatnonzero(np.diff(values) > _EQUAL * np.abs(values).max(initial=0.0)) + 1
    # Of a value of its own only the sign is open.
    out = vectors * np.where(np.einsum("ij,ij->j", vectors, directions) < 0.0, -1.0, 1.0)
    starts, stops = np.array([0, *ends]), np.array([*ends, size])
    several = stops - starts > 1
    for part in map(slice, starts[several], stops[several]):
        basis = vectors[:, part]
        nearest, sizes = np.linalg.qr(basis @ (basis.T @ directions[:, part]))
        out[:, part] = nearest * np.where(np.diagonal(sizes) < 0.0, -1.0, 1.0)
    return out
