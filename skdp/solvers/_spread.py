"""Error that noise causes in a whitening solver's result: by public numbers before a fit, by answers after it.

An objective with a random linear term b ends, to first order, ``H^-1 b`` away from its minimiser, H its curvature
there. H is not released, but answers tell of it: the noisy moment is that of the rows, the mean norm and the moment's
trace say how lengths of rows vary, and the parameters where scores lie (below). Before a fit rows are normal.
Labels are taken to follow the model; what a clip and a shrunk row lose of the curvature is integrated over both.
Nothing here costs anything, and nothing rests on it.

The curvature of log-odds where rows are elliptical, of what a whitening solver has bought of them.

Rows vary around their mean as ``r S^{1/2} e``: e on a sphere, alike in all directions, and r of a law that the moment
and the mean norm give. Of normal rows that is exact. Long rows have extreme scores: what shrinking takes from them is
little of the curvature along the scores, and more of that beside. Whether rows are skewed no second moment tells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.optimize import brentq, root
from scipy.special import expit, gammaincinv

from ..losses import Logistic
from ..mechanisms import Count, Mapped, Public, RowNorms, SecondMoment
from ..mechanisms._mechanism import Mechanism
from ._least_squares import denoised
from ._solver import Array, Task

__all__ = [
    "HEARD",
    "Elliptical",
    "Heard",
    "Seen",
    "bend_of",
    "counted",
    "expected",
    "over_directions",
    "typical_bend",
    "wandered",
]


Heard = Sequence[tuple[Mechanism, Any]]  # questions with their answers, in order
HEARD = (Count, SecondMoment, RowNorms, Mapped)  # kinds of questions that tell of the rows
NODES, LENGTHS = 48, 15  # of a score, and of a row's length
SIGNAL = 2.0  # deviation of the log-odds of a nominal table
_AT = (np.arange(LENGTHS) + 0.5) / LENGTHS


def expected(task: Task, public: Public) -> bool:
    """Return whether there is a formula: for logistic loss on rows that count alike."""
    return type(task.loss) is Logistic and len(task.shape) == 1 and not public.shares


@dataclass(frozen=True)
class Seen:
    """Findings about the rows, and the last query that was asked about them.

    Parameters
    ----------
    n : float
        Records.
    moment : ndarray of shape (d, d)
        Mean of ``x x'``, less its noise as far as that is known.
    typical : float
        Mean norm of whitened rows.
    asked : Mapped
        In which coordinates, and what.
    noise : float
        Standard deviation of the moment's noise on its diagonal.
    """

    n: float
    moment: Array
    typical: float
    asked: Mapped
    noise: float = 0.0

    @classmethod
    def of(cls, heard: Heard, public: Public, released: bool = False) -> Seen:
        """Collect what was heard of a fit; the moment as released, without bias, or cleaned of its noise."""
        said = {type(question): (question, answer) for question, answer in heard}
        asked = said[Mapped][0]
        assert isinstance(asked, Mapped)
        n = float(public.n if public.n is not None else max(1.0, said[Count][1]))
        question: Any = said[SecondMoment][0]
        moment, noise = (
            said[SecondMoment][1] / n,
            question.multiplier * question.bound(public) / n,
        )
        moment = moment if released else denoised(moment, noise)
        return cls(n, moment, max(float(said[RowNorms][1]) / n, 0.0), asked, noise)

    @property
    def matrix(self) -> Array:
        """Map from given rows to new ones, but for the shrinking."""
        return self.asked.coordinates.matrix / self.asked.scale


def typical_bend(
    asked: Mapped, width: int, opening: float, base_rate: float, ridge: float
) -> Array:
    """The curvature of a nominal table: in the plane of its parameters and its mean, and in any direction beside it.

    Its rows are normal and alike in all directions, and its log-odds have a deviation of `SIGNAL` around what gives
    one label the share `base_rate`; what clip and penalty make of these is where the curvature is taken. Away from even
    labels most records tell little, and those that tell most lie on one side: the constant column and the parameters
    are then no axes of it.

    Parameters
    ----------
    asked : Mapped
        What will be asked.
    width : int
        Directions.
    opening : float
        Typical norms that a row may have.
    base_rate : float
        Share of one of two labels.
    ridge : float
        Factor of half the squared norm of the new parameters, beside a mean loss.
    """
    lengths = np.sqrt(2.0 * gammaincinv(0.5 * width, _AT) / width) / opening
    nodes, weights = _nodes()
    offset, slope = _fitted(base_rate, lengths, asked, ridge * width * opening**2)
    bent = _bent(offset + slope * nodes, lengths, asked)
    beside, mixed, along = (float(weights @ (bent * nodes**k)) for k in range(3))
    plane = np.linalg.eigvalsh([[along, mixed], [mixed, beside]])
    return np.array([*(plane if width > 1 else (along, along)), beside]) / (width * opening**2)


def _offset(base_rate: float) -> float:
    """Mean of the nominal log-odds at which one label has this share."""
    if base_rate == 0.5:
        return 0.0
    nodes, weights = _nodes()
    furthest = 40.0  # log-odds: beyond it shares are 0 and 1 in double precision

    def over(offset: float) -> float:
        return float(weights @ expit(offset + SIGNAL * nodes)) - base_rate

    return float(brentq(over, -furthest, furthest))


def _fitted(base_rate: float, lengths: Array, asked: Mapped, ridge: float) -> tuple[float, float]:
    """Mean and deviation of the log-odds that a fit of a nominal table gives, on average over its lengths."""
    nodes, weights = _nodes()
    basis = np.stack([np.ones_like(nodes), nodes])
    seen = counted(lengths, asked)
    start = np.array([_offset(base_rate), SIGNAL])
    share = expit(start @ basis)[:, None]

    def pull(at: Array) -> Array:
        p = seen.told(at @ basis)
        slopes = (1.0 - share) * np.minimum(p, seen.cap) - share * np.minimum(1.0 - p, seen.cap)
        return np.asarray(basis @ (weights * (slopes @ (seen.heavy / seen.short))) + ridge * at)

    found = root(pull, start)
    return tuple(found.x if found.success else start)


def over_directions(variance: Array, width: int) -> float:
    """Deviation of a score from variances in the plane of `typical_bend`, and beside it."""
    counts = np.clip([1, width - 1, width - 2], 0, [1, 1, width])
    return math.sqrt(float(counts @ variance) / width)


@lru_cache(maxsize=1)
def _nodes() -> tuple[Array, Array]:
    """Return Gauss's nodes and weights for a standard normal variable."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    return nodes, weights / weights.sum()


def _bent(scores: Array, lengths: Array, asked: Mapped) -> Array:
    """Second derivative at each score, on average over labels and lengths, per squared length of a row."""
    seen, true = counted(lengths, asked), expit(scores)[:, None]
    p = seen.told(scores)
    curved = true * (1.0 - p <= seen.cap) + (1.0 - true) * (p <= seen.cap)
    return np.asarray((p * (1.0 - p) * curved) @ seen.heavy)


@dataclass(frozen=True)
class Counted:
    """Weights of rows of some lengths.

    Parameters
    ----------
    cap : ndarray of shape (k,)
        The slope from which each is clipped.
    heavy : ndarray of shape (k,)
        Its share in a mean of curvatures.
    left : ndarray of shape (k,)
        What part of it is left.
    short : ndarray of shape (k,)
        What part of its score is told.
    """

    cap: Array
    heavy: Array
    left: Array
    short: Array

    def told(self, scores: Array) -> Array:
        """Probabilities that scores of whole rows become."""
        return np.asarray(expit(scores[:, None] * self.short))


def counted(lengths: Array, asked: Mapped) -> Counted:
    """Return the weights of rows that are cut, and of scores that are scaled back, as a query asks."""
    question: Any = asked.question
    left = np.minimum(1.0, 1.0 / np.maximum(lengths, 1e-12))
    undone = left + (1.0 - asked.whole) * (1.0 - left)
    clip = math.inf if question.clip is None else question.clip
    cap = clip / np.maximum(lengths * left * undone, 1e-12)
    heavy = np.square(left * lengths) / np.square(lengths).sum()
    return Counted(cap, heavy, left, left / undone)


def wandered(
    bend: Array, ridge: Array, noise: float, step: float, momentum: float, steps: int
) -> Array:
    """Variance of the end of `heavy_ball`, along directions by themselves.

    Parameters
    ----------
    bend : ndarray of shape (d,)
        Second derivatives of the mean loss.
    ridge : ndarray of shape (d,)
        Those of the penalty, of which the prox is taken.
    noise : float
        Standard deviation of one coordinate of a mean gradient.
    step, momentum, steps : object
        Of `heavy_ball`.
    """
    long, fresh = step / (1.0 - momentum), ((1.0 - momentum) * noise) ** 2
    pull, left = (1.0 - momentum) * bend, 1.0 / (1.0 + long * ridge)

    def stepped(mean: float, both: float, at: float, one: float) -> Array:
        """Covariances of the running mean and the iterate after a step: a linear map of those before it."""
        cross = momentum * both + pull * at
        new = momentum * (momentum * mean + pull * both) + pull * cross + one * fresh
        moved = left**2 * (at - 2.0 * long * cross + long**2 * new)
        return np.stack([new, left * (cross - long * new), moved, np.full(len(bend), one)], axis=1)

    once = np.stack([stepped(*unit) for unit in np.eye(4)], axis=2)
    return np.asarray(np.linalg.matrix_power(once, steps)[:, 2, 3])


_SHAPES = math.log(0.05), math.log(1e4)  # of squared lengths: from single long rows to equal ones


def bend_of(seen: Seen, w: Array, public: Public) -> Array:
    """Mean second derivative of a record's loss in the new coordinates.

    Parameters
    ----------
    seen : Seen
        What was bought.
    w : ndarray of shape (d,)
        Parameters of the given rows.
    public : Public
        Facts about these.
    """
    return Elliptical(seen, w, public).bend()


class Elliptical:
    """Rows in new coordinates, and their scores.

    Parameters
    ----------
    seen, w, public : object
        As for `bend_of`.

    Attributes
    ----------
    center, beside : ndarray
        Mean of the rows, and covariance.
    line : ndarray of shape (d,)
        Covariance with the score, over its deviation.
    mean, deviation : float
        Of scores.
    """

    def __init__(self, seen: Seen, w: Array, public: Public) -> None:
        self.seen, matrix = seen, seen.matrix
        mapped = matrix @ seen.moment @ matrix.T
        self.first = np.zeros(len(w))  # what the moment makes the center of
        if public.intercept:
            self.first[-1] = 1.0 / public.intercept
        self.center = matrix @ seen.moment @ self.first
        self.u = np.linalg.solve(matrix.T, w)
        self.beside = mapped - np.outer(self.center, self.center)
        along = self.beside @ self.u
        self.mean = float(self.center @ self.u)
        self.deviation = math.sqrt(max(float(self.u @ along), 1e-12))
        self.line = along / self.deviation
        self._directions = max(len(w) - (public.intercept > 0.0), 1)
        square, spread = float(self.center @ self.center), float(np.trace(self.beside))
        self.sizes = np.array([square, max(spread, 1e-300)])
        self.lay(self.sizes)

    def lay(self, sizes: Array) -> None:
        """Rows at the nodes of a height along the line, and of lengths of this squared center and this spread."""
        height, self._nodes = _sphere(self._directions)
        square, spread = map(float, sizes)
        radii = _squared_radii(square, spread, self.seen.typical / self.seen.asked.scale)
        self._counted = counted(np.sqrt(square + spread * radii), self.seen.asked)
        self.at = height[:, None] * np.sqrt(radii)
        self._aside = np.outer(self._directions - height**2, radii) / max(self._directions - 1, 1)

    def bend(self) -> Array:
        """Mean second derivative of a record's loss."""
        scores = self.mean + self.deviation * self.at
        true, p = expit(scores), expit(scores * self._counted.short)
        cap = self._counted.cap
        curved = true * (1.0 - p <= cap) + (1.0 - true) * (p <= cap)
        return self._moment(p * (1.0 - p) * curved * self._counted.left**2)

    def slopes(self) -> Array:
        """Mean square of a record's gradient, where no slope is clipped."""
        return self._moment(self._unclipped()[0] * (self._counted.left / self._counted.short) ** 2)

    def means(self) -> tuple[Array, Array, Array]:
        """Return the means that make a curvature without clips, and their derivatives by the scores' two moments."""
        bent, change = self._unclipped()
        return self._means(bent), self._means(change), self._means(change * self.at)

    def _unclipped(self) -> tuple[Array, Array]:
        """Second and third derivatives of losses of whole scores."""
        p = expit(self.mean + self.deviation * self.at)
        bent = p * (1.0 - p) * self._counted.left**2
        return bent, bent * (1.0 - 2.0 * p)

    def _means(self, values: Array) -> Array:
        """Return means of values: with the center's square, beside the line, with both, with the line's square."""
        parts = np.stack([np.ones_like(values), self._aside, self.at, self.at**2])
        return np.asarray((parts * values).mean(axis=2) @ self._nodes)

    def _moment(self, values: Array) -> Array:
        """Mean of rows' squares times values."""
        own, aside, cross, square = self._means(values)
        both, straight = np.outer(self.center, self.line), np.outer(self.line, self.line)
        out = own * np.outer(self.center, self.center) + aside * (self.beside - straight)
        return np.asarray(out + cross * (both + both.T) + square * straight)


@lru_cache(maxsize=64)
def _sphere(size: int) -> tuple[Array, Array]:
    """Gauss's nodes and weights of one coordinate of what is uniform on a sphere of radius ``sqrt(size)``."""
    n = np.arange(2.0, NODES)
    steps = n * (n + size - 3.0) / ((2.0 * n + size - 2.0) * (2.0 * n + size - 4.0))
    steps = np.concatenate([[1.0 / size], steps])
    nodes, vectors = eigh_tridiagonal(np.zeros(NODES), np.sqrt(steps))
    return nodes * math.sqrt(size), vectors[0] ** 2


@lru_cache(maxsize=64)
def _squared_radii(center: float, spread: float, mean: float) -> Array:
    """Quantiles of a gamma law of mean 1, of which the mean norm of rows with this center and spread is `mean`."""

    def of(shape: float) -> Array:
        drawn = gammaincinv(math.exp(shape), _AT)
        return np.asarray(drawn / drawn.mean())

    def over(shape: float) -> float:
        return float(np.sqrt(center + spread * of(shape)).mean()) - mean

    least, most = _SHAPES
    # Where noise makes the mean none of these rows': their nearest, and so where numbers are beyond double precision.
    if not over(least) < 0.0:
        return of(least)
    return of(float(brentq(over, least, most, xtol=1e-9)) if over(most) > 0.0 else most)
