"""How scores come from parameters and rows. One file per model; the gradient mechanism is written over this."""

from .linear import Linear

__all__ = ["Linear"]
