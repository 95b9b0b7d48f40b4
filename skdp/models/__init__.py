"""Models: scores from parameters and rows. One file per model; the gradient mechanism is written over these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import Registry, attach

if TYPE_CHECKING:
    from .linear import Linear, Model
    from .perceptron import ACTIVATIONS, Perceptron
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
            "ACTIVATIONS": "perceptron",
            "Model": "linear",
            "TorchModule": "torch_module",
        },
        MODELS,
    )
