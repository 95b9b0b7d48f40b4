"""Zeros in coefficients that are known up to noise: a penalised quadratic, solved to the last digits."""

from __future__ import annotations

import numpy as np

from ._solver import Array

__all__ = ["sparse_solution"]

_SWEEPS = 2000
_BETWEEN = 5  # sweeps after which signs are tried
_ROUNDING = 1e-9  # of a weight, by which a condition may miss


def sparse_solution(
    curvature: Array, center: Array, weights: Array, positive: Array | None = None
) -> Array:
    """Minimiser of ``(w - center)' curvature (w - center) / 2 + sum of weights |w|``.

    Coordinates are minimised over one after the other (Friedman, Hastie and Tibshirani 2010); every few sweeps the
    signs that stand are taken for the final ones, for which a linear system has the answer, and its conditions tell.

    Parameters
    ----------
    curvature : ndarray of shape (d, d)
        Symmetric and positive semidefinite.
    center : ndarray of shape (d,)
        Minimiser of the quadratic alone.
    weights : ndarray of shape (d,)
        0 or more.
    positive : ndarray of bool of shape (d,) or None
        Coordinates that may not be negative.
    """
    target = curvature @ center
    diagonal = np.diagonal(curvature)
    positive = np.zeros(len(center), dtype=bool) if positive is None else positive
    w = np.where(positive, np.maximum(center, 0.0), center)
    pull = target - curvature @ w  # minus the gradient of the quadratic
    for sweep in range(_SWEEPS):
        for j in np.flatnonzero(diagonal > 0.0):
            whole = pull[j] + diagonal[j] * w[j]
            new = np.sign(whole) * max(abs(whole) - weights[j], 0.0) / diagonal[j]
            new = max(new, 0.0) if positive[j] else new
            if new != w[j]:
                pull += curvature[j] * (w[j] - new)
                w[j] = new
        if sweep % _BETWEEN == 0:
            found = _with_signs(curvature, target, (weights, positive), np.sign(w))
            if found is not None:
                return found
    return w


def _with_signs(
    curvature: Array, target: Array, known: tuple[Array, Array], signs: Array
) -> Array | None:
    """The minimiser if it has these signs, else None."""
    weights, positive = known
    kept = np.flatnonzero(signs)
    w = np.zeros_like(target)
    try:
        inner = curvature[np.ix_(kept, kept)]
        w[kept] = np.linalg.solve(inner, target[kept] - weights[kept] * signs[kept])
    except np.linalg.LinAlgError:
        return None
    pull = target - curvature @ w
    slack = np.where(positive, pull, np.abs(pull)) - weights * (1.0 + _ROUNDING)
    scale = _ROUNDING * float(np.abs(target).max(initial=0.0))
    held = (w[kept] * signs[kept] > 0.0) | ((weights[kept] == 0.0) & ~positive[kept])
    fits = bool(held.all()) and bool((np.delete(slack, kept) <= scale).all())
    return w if fits and np.isfinite(w).all() else None
