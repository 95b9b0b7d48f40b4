"""Post-processing of noisy moments: a spectrum, a first fit, and its error.

Nothing here carries a promise: it is made of answers. All of it vanishes with the noise: without any, the spectrum is
that of the data, and the first fit is that of least squares and the user's penalty.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ._solver import Array

__all__ = ["FirstFit", "Noises", "cleaned", "denoised", "first_fit", "shrunk"]


def denoised(moment: Array, noise: float) -> Array:
    """The diagonal as it is, and beside it what stands out of the noise on either side, less what that adds to it.

    A column's own length is known far better than how columns go together. Where these are measured from, no bulk of
    directions is taken for signal because it is long, and directions that columns of indicators leave empty are found
    below the bulk as others are above it.
    """
    own = np.diag(np.maximum(np.diagonal(moment), 0.0))
    values, vectors = np.linalg.eigh(moment - own)
    sizes, edge = np.abs(values), noise * math.sqrt(2.0 * len(values))
    left = np.sqrt(np.maximum(sizes**2 - edge**2, 0.0))
    kept = np.where(sizes > edge, 0.5 * np.copysign(sizes + left, values), 0.0)
    together = (vectors * kept) @ vectors.T
    beside = np.diag(np.maximum(np.diagonal(moment - together), 0.0))
    values, vectors = np.linalg.eigh(together + beside)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


# Spreads that coefficients of bounded rows may have, for targets in [-1, 1], and the prior's two deviations around 1.
_SPREADS = np.geomspace(0.02, 30.0, 25)
_PRIOR = -((np.log(_SPREADS) / 2.0) ** 2) / 2.0
_FREE = 2.0  # deviation of the intercept, which centres targets: it is not one of many alike
# Variances of what the first fit leaves, in those that are expected: a third of a residual's, or ten times what its own
# doubt says of its errors where that is less.
_LEFT = np.geomspace(0.01, 10.0, 25)
_PRIOR_LEFT = -((np.log(_LEFT) / 2.0) ** 2) / 2.0
_THIRD, _DOUBTED = 0.3, 10.0
_LEAST = 1e-13  # of the longest direction: shorter ones are rounding
_ROUNDING = 2.0**-52
_TOLD = 1e-20  # of the largest square: variances below tell spreads no better
_LEAST_VARIANCE = 1e-3  # of residuals, for targets in [-1, 1]
# How far from one spectrum to the other: of three generated tables and eight columns of two real ones, which no figure
# is reported of, R2 rises by .005 on average at epsilon 0.1, and by .003 at 0.2.
_FROM_DIAGONAL = 0.25


@dataclass(frozen=True)
class Noises:
    """Standard deviations of the noise of moments.

    Parameters
    ----------
    rows, products : float
        On the diagonal of the rows' moment (off it by sqrt(2) less), and on each product with the target.
    """

    rows: float
    products: float

    def at(self, square: float) -> float:
        """Variance of the noise of ``product - moment w`` in each coordinate, where |w|^2 is this."""
        return self.products**2 + 0.5 * self.rows**2 * square


def cleaned(moment: Array, noise: float) -> Array:
    """The positive semidefinite matrix that a symmetric one with noise stands for.

    Eigenvalues beyond the edge of the noise's own spectrum are moved back by what noise adds to them; of the others
    only the sum is known, so they share it (Wigner's semicircle; Benaych-Georges and Nadakuditi 2011). A part is the
    same measured from the diagonal, which keeps each column's length and leaves empty directions empty.

    Parameters
    ----------
    moment : ndarray of shape (d, d)
        The noisy matrix.
    noise : float
        Standard deviation on its diagonal; off it, less by sqrt(2).
    """
    size = len(moment)
    values, vectors = np.linalg.eigh(moment)
    edge = noise * math.sqrt(2.0 * size)
    seen = values > edge
    kept = np.where(seen, values, 0.0)
    kept = 0.5 * (kept + np.sqrt(np.maximum(kept**2 - edge**2, 0.0)))
    hidden = size - int(seen.sum())
    if hidden:
        least = noise * math.sqrt(size) / hidden
        each = (float(np.trace(moment)) - float(kept.sum())) / hidden
        kept[~seen] = min(max(each, least), max(0.5 * edge, least))
    shared = (vectors * kept) @ vectors.T
    return np.asarray(shared + _FROM_DIAGONAL * (denoised(moment, noise) - shared))


@dataclass(frozen=True)
class FirstFit:
    """Coefficients from moments alone.

    Parameters
    ----------
    w : ndarray of shape (d,)
        The coefficients.
    residual : float
        Variance of a residual, that of the coefficients' own errors included.
    error : float
        What the noise of moments adds to it: mean square of the errors of predictions.
    """

    w: Array
    residual: float
    error: float


@dataclass(frozen=True)
class _Shrinkage:
    """Means and variances of coefficients that are normal around 0, given noisy products with the target.

    Products are ``moment w`` and noise. Spreads of all coefficients but the intercept are one number, the likeliest of
    a few; the products then have the covariance ``spread^2 F F' + variance I``, F the features' columns, and beside it
    the square of the intercept's column, which Sherman and Morrison's formula adds.
    """

    moment: Array
    products: Array
    noises: Noises
    free: bool

    @cached_property
    def _parts(self) -> tuple[Array, Array, Array]:
        """Squared singular values of F; products and the intercept's column in its left vectors."""
        features = self.moment[:, :-1] if self.free else self.moment
        left, values, _ = np.linalg.svd(features)
        squares = np.zeros(len(left))
        squares[: len(values)] = values**2
        column = _FREE * self.moment[:, -1] if self.free else np.zeros(len(left))
        return squares, left.T @ self.products, left.T @ column

    def fitted(self) -> tuple[Array, float]:
        """Coefficients, and the sum of their errors' variances as the moment weighs them."""
        square = error = 0.0
        w = np.zeros_like(self.products)
        for _ in range(4):  # the noise depends on the coefficients' length, and these on the noise
            variance = self.noises.at(square)
            prior = np.full(len(w), self._likeliest(variance))
            if self.free:
                prior[-1] = _FREE
            left, values, right = np.linalg.svd(self.moment * prior)
            values[values < len(w) * _ROUNDING * values[0]] = 0.0
            if variance == 0.0 and self.free and not values[-1]:
                return _of_least_norm(self.moment, self.products), 0.0
            right = right * prior
            total = values**2 + variance + (_LEAST * values[0]) ** 2 + 1e-300
            w = (values / total * (left.T @ self.products)) @ right
            doubt = right.T * (variance / total) @ right
            square = float(w @ w + np.trace(doubt))
            error = float(np.sum(self.moment * doubt))
        return w, error

    def _likeliest(self, variance: float) -> float:
        """The spread that explains the products best."""
        squares, seen, column = self._parts
        variance = variance + (_TOLD * squares.max(initial=0.0)) + 1e-300
        total = np.square(_SPREADS[:, None]) * squares + variance
        more = 1.0 + (column**2 / total).sum(axis=1)
        explained = (seen**2 / total).sum(axis=1) - (seen * column / total).sum(axis=1) ** 2 / more
        fit = -0.5 * (np.log(total).sum(axis=1) + np.log(more) + explained) + _PRIOR
        return float(_SPREADS[fit.argmax()])


def _of_least_norm(moment: Array, products: Array) -> Array:
    """Return the shortest exact fit beside a free intercept, where moments without noise leave several."""
    column, size = moment[:-1, -1], float(moment[-1, -1])
    centred = moment[:-1, :-1] - np.outer(column, column) / size
    values, vectors = np.linalg.eigh(centred)
    told = values > 4.0 * len(moment) * _ROUNDING * float(np.trace(moment))
    along = vectors.T @ (products[:-1] - column * (products[-1] / size))
    w = vectors[:, told] @ (along[told] / values[told])
    return np.append(w, (products[-1] - column @ w) / size)


def first_fit(moments: Array, noises: Noises, n: float, ridge: Array, free: bool) -> FirstFit:
    """Coefficients from noisy moments of rows beside targets.

    Parameters
    ----------
    moments : ndarray of shape (d + 1, d + 1)
        Targets last; the rows' part is cleaned.
    noises : Noises
        Of rows' moment and products.
    n : float
        Number of records.
    ridge : ndarray of shape (d,)
        The user's own weights of half of the squared coefficients.
    free : bool
        Whether the last column is the intercept's.

    Returns
    -------
    FirstFit
    """
    moment, products, square = moments[:-1, :-1], moments[:-1, -1], float(moments[-1, -1])
    w, error = _Shrinkage(moment, products, noises, free).fitted()
    penalised = moment + np.diag(ridge)
    seen = ridge.max(initial=0.0) > len(ridge) * _ROUNDING * float(np.trace(moment))
    w = np.linalg.lstsq(penalised, moment @ w, rcond=None)[0] if seen else w
    left = (square - 2.0 * float(products @ w) + float(w @ moment @ w)) / n
    left = min(max(left, _LEAST_VARIANCE), max(square / n, _LEAST_VARIANCE))
    # Noise may leave next to nothing, but what the fit's own errors add to a residual is known apart from it.
    return FirstFit(w, min(left + error / n, 1.0), error / n)


def shrunk(found: Array, noise: float, first: FirstFit) -> tuple[Array, float]:
    """Shrink estimates of what the first fit leaves, given their noise; return them and their variance.

    They are normal around 0, of the likeliest variance; that is about a third of a residual's, and falls with the
    errors of the first fit, so that estimates with more noise than these have no say.

    Parameters
    ----------
    found : ndarray of shape (d,)
        Estimates, in coordinates in which all directions of rows are alike.
    noise : float
        Their variance.
    first : FirstFit
        What they are to mend.
    """
    if noise == 0.0:
        return found, 0.0
    expected = min(_THIRD * first.residual, _DOUBTED * first.error)
    spreads = expected * _LEFT
    total = spreads[:, None] + noise
    fit = -0.5 * (np.log(total) + found**2 / total).sum(axis=1) + _PRIOR_LEFT
    variance = float(spreads[fit.argmax()])
    kept = variance / (variance + noise)
    return found * kept, noise * kept
