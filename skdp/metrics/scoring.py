"""Parts from which other packages build scores: the figures made of outcomes."""

from ._score import SCORINGS, scored

__all__ = ["SCORINGS", "scored"]
