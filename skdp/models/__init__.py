"""How scores come from parameters and rows. One file per model; the gradient mechanism is written over this."""

from ._model import Model
from .linear import Linear

__all__ = ["MODELS", "Linear", "Model"]

MODELS: dict[str, type[Model]] = {
    "linear": Linear,
}
