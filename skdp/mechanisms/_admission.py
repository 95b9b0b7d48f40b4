"""Admission of rows to a vault, with their weights: refused before anything is spent, without a value of theirs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._public import Public
from ._units import Units, kept_lists, kept_rows

__all__ = ["Kept", "kept_by", "refuse_weights", "units_for"]

Array = np.ndarray[Any, Any]


class Kept(NamedTuple):
    """Rows that enter, how many of each unit, and where lists begin, if units hold several."""

    rows: Array
    counts: Array
    begins: Array | None = None


def units_for(
    counts: Array, weights: Array | None, public: Public, begins: Array | None = None
) -> Units | None:
    """Units of so many rows each; None where all rows count alone and in full."""
    if not public.shares:
        return None
    if begins is not None:
        return Units.of_lists(counts, begins)
    units = Units.of(counts)
    return units if weights is None else units.weighted(weights)


def refuse_weights(weights: Array | None, n: int, public: Public) -> None:
    """Refuse weights that could make a record count more than once, without showing one."""
    if (weights is not None) != public.weighted:
        raise ValueError(
            f"weighted={public.weighted} was declared; give weights, one for each row, if and only if it is True."
        )
    if weights is None:
        return
    plain = type(weights) is np.ndarray and weights.dtype == np.float64 and weights.shape == (n,)
    if not plain or not ((weights >= 0.0) & (weights <= 1.0)).all():
        raise ValueError("weights must be an array of one number in [0, 1] for each row of X.")


def kept_by(groups: Array | None, n: int, public: Public, lists: Array | None) -> Kept | None:
    """Rows that enter, and how many of each unit; None where every row is a unit."""
    if (lists is not None) != (public.lists_each > 0):
        raise ValueError(
            f"lists_each={public.lists_each} was declared; give lists, the id of each row's list, if and only if units "
            "hold several."
        )
    if groups is None:
        if public.rows > 1:
            raise ValueError(
                f"rows={public.rows} declares units of several rows; give groups, the id of each row's unit."
            )
        return None
    if lists is None:
        kept = Kept(*kept_rows(groups, n, public.rows))
    else:
        most = public.lists_each
        kept = Kept(*kept_lists(groups, lists, n, most, public.rows // most))
    if public.replace_one and len(kept.counts) != public.n:
        raise ValueError(
            f"groups does not hold the n={public.n} units that were declared; under replace_one n is their number."
        )
    return kept
