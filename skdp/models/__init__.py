"""How scores come from parameters and rows. One file per model; the gradient mechanism is written over this."""

from ._activations import ACTIVATIONS
from ._model import Model
from .linear import Linear
from .perceptron import Perceptron
from .torch_module import TorchModule

__all__ = ["ACTIVATIONS", "MODELS", "Linear", "Model", "Perceptron", "TorchModule"]

MODELS: dict[str, type[Model]] = {
    "linear": Linear,
    "perceptron": Perceptron,
}
