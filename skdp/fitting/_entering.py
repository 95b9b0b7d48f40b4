"""Number of scores and weight of each row in a fit. Estimators override what they know more of."""

from collections.abc import Iterator
from typing import Any

from numpy.typing import ArrayLike

from ..solvers import Solver
from ._shares import shares_of_bound
from ._tables import Array

__all__ = ["Entering"]


class Entering:
    """Mixin of the private estimators: a record has one score and a weight of 1, unless an estimator says otherwise."""

    solver: str | Solver
    data_norm: float | None
    max_rows_per_group: int | None = None
    max_sample_weight: float | None = None

    def _doubts(self) -> Iterator[str]:
        """Yield the warnings of a fit that follow from its parameters alone."""
        yield from ()

    def _outputs(self, n_classes: int | None = None) -> int:
        """Scores of one record, for so many classes or as far as parameters tell."""
        return 1

    def _outputs_of(self, targets: Array, stored: dict[str, Any]) -> int:
        """Scores of one record, of these targets."""
        classes = stored.get("classes_")
        return self._outputs(None if classes is None else len(classes))

    def _one_by_one(self) -> bool:
        """Return True if several scores are fitted one by one."""
        return False

    def _columns(self, fits: int) -> int:
        """Columns of targets, where each of so many fits has one of its own."""
        return 1

    def _heaviest(self) -> float:
        """Bound on what a row weighs."""
        return 1.0 if self.max_sample_weight is None else float(self.max_sample_weight)

    def _weighted(self) -> bool:
        """Return True if rows have weights of their own."""
        return self.max_sample_weight is not None

    def _weights(
        self, targets: Array, stored: dict[str, Any], sample_weight: ArrayLike | None
    ) -> Array | None:
        """Return the weight of each row as a share of the largest one, in [0, 1]; None where all weigh the same."""
        return shares_of_bound(sample_weight, self.max_sample_weight, len(targets))
