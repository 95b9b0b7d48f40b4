"""Bounds of columns from counts of octaves: what is asked, and what follows of the answer."""

from __future__ import annotations

import math

import numpy as np

from ..mechanisms import ColumnCounts, Public
from ..mechanisms._octaves import BINS
from ._octave_rule import any_support, bounds_of, records_in, unit_of
from ._solver import Array, OracleLike

__all__ = ["buy_bounds", "counts_asked", "norm_of"]


def counts_asked(public: Public, multiplier: float) -> ColumnCounts:
    """The counts of all octaves, of a table of places.

    Parameters
    ----------
    public : Public
        Facts about that table.
    multiplier : float
        Of the noise.
    """
    return ColumnCounts(multiplier=multiplier, scale=norm_of(public.n_features))


def buy_bounds(oracle: OracleLike, question: ColumnCounts) -> tuple[Array, Array, float]:
    """Bounds of all columns, and the number of records: public, or a rough one that the counts show.

    Parameters
    ----------
    oracle : Oracle
        Answers, of a table of places.
    question : ColumnCounts
        The counts.

    Returns
    -------
    bounds : ndarray of shape (d, 2)
        Both are 0 where a column has no scale.
    units : ndarray of shape (d,)
        Of columns with a heavy tail; 0 for others.
    n : float
    """
    public = oracle.public
    counts = np.asarray(oracle.ask(question)).reshape(public.n_features, BINS)
    deviation = question.multiplier * question.bound(public)
    n = float(public.n) if public.n is not None else records_in(counts, deviation)
    bounds, units = np.zeros((len(counts), 2)), np.zeros(len(counts))
    for j in np.flatnonzero(any_support(counts, deviation)):
        bounds[j] = bounds_of(counts[j], deviation, len(counts), n)
        units[j] = unit_of(counts[j], deviation, len(counts), n)
    return bounds, units, n


def norm_of(d: int) -> float:
    """Bound on the norm of a row of places, each in (-1, 1).

    Parameters
    ----------
    d : int
        Columns.

    Returns
    -------
    float
    """
    return math.sqrt(d) * (1.0 + 1e-9)
