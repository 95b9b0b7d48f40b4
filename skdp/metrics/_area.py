"""The area under a ROC curve, from the sizes of the classes and one rank sum."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..exceptions import NotSupported
from ..fitting.data import Array
from ..fitting.release import Asked, release
from ..mechanisms import CellCounts, RankSum
from ..mechanisms._mechanism import Mechanism
from ..privacy import Receipt, Spec
from ._confusion import public_of
from ._intervals import Interval, area

__all__ = ["auc"]

_SHARE = 1.0 / math.sqrt(5.0)  # of mu for the sizes of the classes; twice that for the rank sum
_SPARE = 3.0  # standard deviations by which the larger class may be larger than it seems


def auc(
    held: Any, n: int, spec: Spec, level: float, given: dict[str, Any]
) -> tuple[Interval, Receipt]:
    """Sizes first; what they say of the larger class sets the noise of the rank sum, and not its price."""
    if spec.neighbors != "replace_one":
        raise NotSupported(
            "scoring='roc_auc' needs a public number of records; use neighbors='replace_one'."
        )
    public = public_of(n, spec)

    def load() -> tuple[Array, Array]:
        scores = held.scores()
        return (scores / (1.0 + np.abs(scores)))[:, None], held.codes.astype(float)

    def ask(put: Callable[[Any], Any], scale: float) -> Interval:
        counts = put(_sizes(scale))
        sd = _sizes(scale).multiplier / math.sqrt(2.0)  # once the sum is put on n
        ones = float(counts[1] + (n - counts.sum()) / 2.0)
        question = _ranks(scale, max(ones, n - ones) + _SPARE * sd)
        u = float(put(question))
        noise = question.multiplier * question.bound(public)
        return area(u, ones, n - ones, noise, sd, level)

    def questions(scale: float) -> list[Mechanism]:
        return [_sizes(scale), _ranks(scale, float(n))]

    asked = Asked(questions, ask, "roc_auc", {"n": n})
    return release(asked, spec, public, load, **given)


def _sizes(scale: float) -> CellCounts:
    return CellCounts(cells=2, multiplier=scale * math.sqrt(2.0) / _SHARE)


def _ranks(scale: float, largest: float) -> RankSum:
    return RankSum(largest=min(max(largest, 1.0), 1e100), multiplier=scale / (2.0 * _SHARE))
