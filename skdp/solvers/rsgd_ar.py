"""RSGD-AR: shuffled passes with averaging and restarts, one release.

Chen (2020), "Adaptive and efficient optimization algorithms for differentially private machine learning", section 3.3,
algorithms 3.2 and 3.3.

Privacy: the records are put into a secret order once, so the changed record's batch is random and
the profile is the average over its position (docs/proofs/hidden_descent.md). The step restarts
with the epoch count since the last averaging (the paper's listing divides by the whole count), and
the same schedule is priced. Not adaptive; replace-one only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ._ranges import count
from .psgd import PSGD

__all__ = ["RSGDAR"]


@dataclass(frozen=True)
class RSGDAR(PSGD):
    """Permuted SGD with averaging and restarts, then noise.

    Parameters
    ----------
    epochs, batch_size, first_step, convexity, clip, radius : object
        As in `PSGD`.
    period : int
        Epochs between averaging with restart; ``epochs`` should be a multiple of it.
    """

    name: ClassVar[str] = "rsgd-ar"
    shuffle: ClassVar[bool] = True

    period: int = count(10)

    @property
    def restart(self) -> int:
        """Epochs between restarts."""
        return self.period
