"""The area under a ROC curve, from the sizes of the classes and one rank sum."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from ..entry import Scores
from ..exceptions import NotSupported
from ..mechanisms import CellCounts, Public, RankSum
from ..mechanisms._mechanism import Mechanism
from ._figure import Facts, Figure
from ._intervals import Interval, area

__all__ = ["auc"]

_SHARE = 1.0 / math.sqrt(5.0)  # of mu for the sizes of the classes; twice that for the rank sum
_SPARE = 3.0  # standard deviations by which the larger class may be larger than it seems


def auc(facts: Facts) -> Figure:
    """Make the figure for a public number of records."""
    if facts.n is None:
        raise NotSupported(
            "scoring='roc_auc' needs a public number of records; use neighbors='replace_one'."
        )
    return _Area(facts.n, facts.level)


@dataclass(frozen=True)
class _Area(Figure):
    """Sizes first; what they say of the larger class sets the noise of the rank sum, and not its price."""

    n: int
    level: float

    name: ClassVar[str] = "roc_auc"
    needs: ClassVar[str] = "scores"

    def questions(self, scale: float) -> list[Mechanism]:
        return [_sizes(scale), _ranks(scale, float(self.n))]

    def ask(self, put: Callable[..., Any], scale: float) -> Interval:
        n, sizes = self.n, _sizes(scale)
        counts = put(sizes)
        sd = sizes.multiplier / math.sqrt(2.0)  # once the sum is put on n
        ones = float(counts[1] + (n - counts.sum()) / 2.0)
        question = _ranks(scale, max(ones, n - ones) + _SPARE * sd)
        u = float(put(question))
        noise = question.multiplier * question.bound(Public(n, 1, 0.0, "replace_one"))
        return area(u, ones, n - ones, noise, sd, self.level)

    @property
    def outcome(self) -> Scores:
        return Scores()


def _sizes(scale: float) -> CellCounts:
    return CellCounts(cells=2, multiplier=scale * math.sqrt(2.0) / _SHARE)


def _ranks(scale: float, largest: float) -> RankSum:
    return RankSum(largest=min(max(largest, 1.0), 1e100), multiplier=scale / (2.0 * _SHARE))
