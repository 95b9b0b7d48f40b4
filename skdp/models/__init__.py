"""Models: scores from parameters and rows. One file per model; the gradient mechanism is written over these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import Registry, attach

if TYPE_CHECKING:
    from ._activations import ACTIVATIONS
    from ._model import Model
    from .linear import Linear
    from .perceptron import Perceptron
    from .torch_module import TorchModule

__all__ = ["ACTIVATIONS", "MODELS", "Linear", "Model", "Perceptron", "TorchModule"]

MODELS: Registry[Model] = Registry(
    __name__,
    {
        "linear": "linear.Linear",
        "perceptron": "perceptron.Perceptron",
    },
)

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "ACTIVATIONS": "_activations",
            "Model": "_model",
            "TorchModule": "torch_module",
        },
        MODELS,
    )
