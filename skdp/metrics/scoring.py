"""Parts from which other packages build scores: outcomes of a model, and the figures made of them."""

from ..entry import Held, codes_of, of_nobody, refuse_without
from ._score import SCORINGS, scored

__all__ = ["SCORINGS", "Held", "codes_of", "of_nobody", "refuse_without", "scored"]
