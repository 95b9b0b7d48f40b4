"""Activations of hidden units, entry by entry, with their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["ACTIVATIONS", "Activation"]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Activation:
    """A function of single scores.

    Parameters
    ----------
    gain : float
        By which what is said is scaled up, so that its squares are about as large as those of the scores.
    says : callable
        What is said of the scores, which may be written into.
    steepness : callable
        Its derivative, of what is said.
    """

    gain: float
    says: Callable[[Array], Array]
    steepness: Callable[[Array], Array]

    def __call__(self, scores: Array) -> tuple[Array, Array]:
        """Return the activation and its derivative."""
        said = self.says(scores)
        return said, self.steepness(said)


def _relu(scores: Array) -> Array:
    return np.maximum(scores, 0.0, out=scores)  # NaN stays NaN


def _tanh(scores: Array) -> Array:
    return np.tanh(scores, out=scores)


def _logistic(scores: Array) -> Array:
    scores *= 0.5
    said = np.tanh(scores, out=scores)
    said += 1.0
    said *= 0.5
    return said


ACTIVATIONS = {
    "relu": Activation(float(np.sqrt(2.0)), _relu, lambda said: (said > 0.0).astype(np.float64)),
    "tanh": Activation(1.0, _tanh, lambda said: 1.0 - said * said),
    "logistic": Activation(2.0, _logistic, lambda said: said * (1.0 - said)),
    "identity": Activation(1.0, lambda scores: scores, lambda said: np.ones_like(said)),
}
