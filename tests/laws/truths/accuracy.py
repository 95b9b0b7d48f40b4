"""Share of right predictions, in the clear."""

import numpy as np


def truth(labels, predictions, probabilities):
    """Without noise."""
    return float(np.mean(labels == predictions))
