"""Levels of intervals, and how noisy moments may be for an interval to hold its level."""

import numpy as np
from scipy.special import ndtri

from ..fitting.data import as_text

__all__ = ["NONE", "ROUGH", "quantile"]

# Noise of the rows' moment over its shortest direction, from which intervals are said to be rough, and refused: in
# simulations nominal 95 % covered 94 to 98 % below the first, and 84 to 90 % beyond the second.
ROUGH, NONE = 0.5, 1.0


def quantile(level: float) -> float:
    """Return how many standard errors an interval reaches to either side; refuse what is not a level."""
    if not isinstance(level, float | np.floating) or not 0.0 < level < 1.0:
        raise ValueError(
            f"level={as_text(level)} must be a number between 0 and 1; the usual is 0.95."
        )
    return float(ndtri(0.5 + 0.5 * level))
