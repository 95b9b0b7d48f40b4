"""The costs of all events, to read and to add to; they are registered in `_cost_registry`.

A file that prices events is named in `COST_FILES`, and this module imports it. So whoever reads the registry here
reads all of it, and nobody can take the place of a price of this package.
"""

from __future__ import annotations

from . import (
    _best_of,
    _costs,
    _discrete,
    _moved,
    _objective,
    _sampled,
    _sampled_pure,
    _threshold,
)
from ._cost_registry import COSTS, cost, currencies, priced, register, registered

__all__ = ["COSTS", "COST_FILES", "cost", "currencies", "priced", "register", "registered"]

COST_FILES = (  # whose functions `register` keeps
    _best_of,
    _costs,
    _discrete,
    _moved,
    _objective,
    _sampled,
    _sampled_pure,
    _sampled_pure,
    _threshold,
)
