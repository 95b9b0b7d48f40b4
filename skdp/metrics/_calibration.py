"""Calibration curve of a classifier, from one private histogram: predicted probability against frequency."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..entry import BinAndClass, Held
from ..exceptions import NotSupported
from ..privacy import Ledger, Spec
from ..privacy.spec import check_neighbors
from ._confusion import Counting, Counts
from ._estimate import Estimate
from ._figure import measure

__all__ = ["dp_calibration_curve"]

_CLEAR = 8.0  # standard deviations of noise that a bin must hold


def dp_calibration_curve(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_bins: int = 10,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    neighbors: str = "replace_one",
    level: float = 0.95,
    ledger: Ledger | None = None,
    random_state: Any = None,
) -> list[tuple[float, float, Estimate]]:
    """Rates of the second class by the probability that a model gives it, with differential privacy.

    Equal bins of the probability; neighbours are merged, by a public rule on noisy counts, until each holds 8 standard
    deviations of the noise.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier of two classes with ``predict_proba``.
    X : array-like of shape (n_samples, n_features)
        Rows that it was not fitted on.
    y : array-like of shape (n_samples,)
        Their labels.
    n_bins : int
        Bins before merging.
    epsilon, delta, neighbors, level, ledger, random_state
        As in `dp_score`.

    Returns
    -------
    list of (float, float, Estimate)
        Ends of each bin, and the rate in it.

    See Also
    --------
    dp_score : One figure.
    """
    if type(n_bins) is not int or not 1 <= n_bins <= 1000:
        raise ValueError(f"n_bins={n_bins!r} must be a whole number from 1 to 1000.")
    held = Held.of(estimator, X, y, check_neighbors(neighbors))
    if len(held.classes) != 2:
        raise NotSupported(
            "A calibration curve needs two classes; score one class against the rest."
        )
    spec, given = Spec(epsilon, delta, neighbors), {"ledger": ledger, "random_state": random_state}
    counts: Counts
    counts, receipt = measure(_ByBin(held.public_count(), 2 * n_bins), spec, held, given)
    curve = []
    for first, last in _merged(counts, n_bins):
        bins = range(first, last)
        found = counts.rate([2 * b + 1 for b in bins], [2 * b for b in bins], level)
        name = f"rate in [{first / n_bins:.3g}, {last / n_bins:.3g}]"
        estimate = Estimate(*found, level, name, receipt)
        curve.append((first / n_bins, last / n_bins, estimate))
    return curve


@dataclass(frozen=True)
class _ByBin(Counting):
    """Cells of bin and class."""

    name: ClassVar[str] = "calibration curve"
    needs: ClassVar[str] = "probabilities"

    @property
    def outcome(self) -> BinAndClass:
        return BinAndClass(self.cells // 2)


def _merged(counts: Counts, n_bins: int) -> Iterator[tuple[int, int]]:
    """Merge bins into runs that hold enough records; the last run takes what is left over."""
    sizes = counts.cells.reshape(n_bins, 2).sum(axis=1)
    ends = [0]
    for b in range(n_bins):
        wide = np.sqrt(2.0 * (b + 1 - ends[-1]))
        if sizes[ends[-1] : b + 1].sum() >= _CLEAR * counts.sd * wide:
            ends.append(b + 1)
    ends[-1 if len(ends) > 1 else 0 :] = [n_bins] if len(ends) > 1 else [0, n_bins]
    return pairwise(ends)
