"""Variance of class means around the common one, from noisy means: what decides how far they are shrunk."""

from __future__ import annotations

import numpy as np

from ._solver import Array

__all__ = ["spread_of_classes"]

ROUNDS = 20
HOPEFUL = 3.0  # deviations that are added to the common estimate: too much shrinking costs more than too little
LEAST = 1e-9  # of the variance of a column


def spread_of_classes(apart: Array, noise: Array, total: Array) -> Array:
    """Estimate the variance of the class means in each column.

    Means apart from the common one are taken for normal, with this variance and that of their noise. In units of the
    variance of its column a first estimate is common to all columns, by weights that suit it; that of a column by
    itself is drawn to it as far as its own error is larger than how columns differ (empirical Bayes, Efron and Morris
    1975). Chosen on tables and labels that no figure is reported of.

    Parameters
    ----------
    apart : ndarray of shape (K, d)
        Noisy class means apart from the common one.
    noise : ndarray of shape (K, 1) or (K, d)
        Variance of their noise.
    total : ndarray of shape (d,)
        Variances of the columns, above 0.

    Returns
    -------
    ndarray of shape (d,)
        Above 0, and no more than the variances of the columns.
    """
    squares, noise = apart**2 / total, noise / total
    unit = float(noise.min())  # weights are of noise in this unit: they neither overflow nor vanish
    found = 1.0
    for _ in range(ROUNDS):
        weights = ((found + unit) / (found + noise)) ** 2
        error = (found + unit) * np.sqrt(2.0 / weights.sum())
        found = (weights * (squares - noise)).sum() / weights.sum() + HOPEFUL * error
        found = min(max(float(found), LEAST), 1.0)
    weights = ((found + unit) / (found + noise)) ** 2
    own = (weights * (squares - noise)).sum(axis=0) / weights.sum(axis=0)
    error = (found + unit) ** 2 * 2.0 / weights.sum(axis=0)
    differ = max(float(np.average((own - found) ** 2 - error, weights=1.0 / error)), 0.0)
    drawn = found + differ / (differ + error) * (own - found)
    return np.asarray(np.clip(drawn, LEAST, 1.0) * total)
