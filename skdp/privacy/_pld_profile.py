"""Delta at many epsilons, where one composition of loss distributions speaks for several.

A tail is a bound at every epsilon of its window, tight near the one that it was planned for. So one is composed
where the last one's tight range ends, and each epsilon is given the least that any of them says.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exceptions import NotSupported
from . import _pld
from ._pld_plan import Counted
from .events import Script

__all__ = ["profile"]

Array = NDArray[np.float64]

_NEAR = 0.3  # of a tail's window below the epsilon that it was planned for, where it is tight too


def profile(
    script: Script, epsilons: Array, neighbors: str, *, accuracy: float = _pld.ACCURACY
) -> Array:
    """Delta at each epsilon, never below the truth.

    Parameters
    ----------
    script : tuple of (Event, int)
        The run-length coded events.
    epsilons : ndarray
        Rising, from 0 on.
    neighbors : {"replace_one", "add_remove"}
        The relation.
    accuracy : float
        As in `skdp.privacy._pld.delta`, at some of the epsilons, and about as good between them.
    """
    counts = _pld.live(script, neighbors)
    if not _pld.composed(counts):
        return np.array([_pld.delta(script, float(e), neighbors) for e in epsilons])
    worst = np.zeros(len(epsilons))
    for pairs in _pld.directions_of(counts, neighbors):
        open_ = _unsettled(pairs, epsilons, worst)
        worst[open_] = np.maximum(worst[open_], _of(pairs, epsilons[open_], accuracy))
    return worst


def _unsettled(pairs: Counted, epsilons: Array, worst: Array) -> Any:
    """Return a mask of the epsilons at which a direction may be worse than the delta known so far."""
    bounded, mu = _pld.parted(pairs)
    if mu is None:
        return np.ones(len(epsilons), bool)
    known = zip(epsilons, worst)
    return np.array([_pld.delta_at_most(bounded, mu, float(e)) > least for e, least in known])


def _of(pairs: Counted, epsilons: Array, accuracy: float) -> Array:
    """Delta of one direction at rising epsilons."""
    least = np.where(epsilons < _pld.largest_loss(pairs), 1.0, 0.0)
    refused, settled = None, math.inf
    for epsilon in epsilons[least > 0][::-1]:
        if epsilon > settled:
            continue
        try:
            for tail in _pld.tails_at(pairs, float(epsilon), accuracy):
                np.minimum(least, [tail.delta(float(e)) for e in epsilons], out=least)
                if len(tail.losses):
                    settled = float(epsilon - _NEAR * (epsilon - tail.losses[0]))
        except NotSupported as error:  # no grid for this epsilon, but maybe for others
            refused = error
    if refused is not None and (least == 1.0).all():
        raise refused
    return least
